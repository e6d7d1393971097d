// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "complain.h"
#include "smc_socket.h"

static const char *about_file;
static unsigned int about_line;

void complain_about(const char *file, unsigned int line)
{
	about_file = file;
	about_line = line;
}

static void say(const char *format, va_list args)
{
	fflush(stdout);		/* keeps the order if both streams go to the same terminal */
	fprintf(stderr, "%s: ", program_invocation_short_name);
	if (about_file)
		fprintf(stderr, "%s:%u: ", about_file, about_line);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void need_descriptors(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_RDONLY);
}

int complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return EXIT_REFUSED;
}

void usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	fprintf(stderr, "'%s --help' shows how it is used\n", program_invocation_short_name);
	exit(EXIT_USAGE);
}

void other_option(int option, const char *usage_text)
{
	switch (option) {
	case 'h':
		fputs(usage_text, stdout);
		exit(finish_output(0));
	case 'v':
	case 'V':
		printf("%s %s\n", program_invocation_short_name, SMC_TOOLS_VERSION);
		exit(finish_output(0));
	}
	fputs(usage_text, stderr);
	exit(EXIT_USAGE);
}

void no_memory(void)
{
	complain("out of memory");
	exit(EXIT_REFUSED);
}

int finish_output(int status)
{
	if (fflush(stdout) || ferror(stdout))
		return complain("cannot write the output");
	return status;
}
