// SPDX-License-Identifier: GPL-2.0
/*
 * smc_run: run a program with its TCP sockets turned into SMC sockets.
 *
 * Adds libsmc-preload.so to LD_PRELOAD. Before that it reports what would prevent conversion: a
 * kernel without SMC, a static program, or one that gets privileges.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/smc.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup_convert.h"
#include "cgroup_run.h"
#include "complain.h"
#include "convert_program.h"
#include "netns.h"
#include "smc_socket.h"
#include "unreachable.h"
#include "which_module.h"

#ifndef LIBDIR
#define LIBDIR "/usr/local/lib"
#endif
#define LIBRARY "libsmc-preload.so"

/* exit codes: 1 as in smc-tools, the others as in env(1) */
enum { EXIT_WRONG = 1, EXIT_SETUP = 125, EXIT_NO_EXEC = 126, EXIT_NOT_FOUND = 127 };

static const char usage_text[] =
	"Usage: smc_run [-d] [-r SIZE] [-t SIZE] PROGRAM [ARGUMENT]...\n"
	"       smc_run --cgroup PROGRAM [ARGUMENT]...\n"
	"       smc_run --tcp PROGRAM [ARGUMENT]...\n"
	"Run PROGRAM with its TCP sockets turned into SMC sockets.\n"
	"\n"
	"  -d        say on standard error what becomes of each socket\n"
	"  -r SIZE   receive buffer, in bytes or with k or m (SO_RCVBUF)\n"
	"  -t SIZE   transmit buffer (SO_SNDBUF)\n"
	"  --cgroup  convert in the kernel, by BPF (Linux 6.6 and newer, as root): also programs\n"
	"            that are linked statically, and Go\n"
	"  --tcp     leave its sockets alone, even if the switch is on ('smcd convert') or the library is\n"
	"            preloaded\n"
	"  --keep-mptcp      leave MPTCP sockets alone; otherwise they are converted too\n"
	"  -N, --net NETNS   in another network namespace, by name, path or process (as root)\n"
	"  -h, --help        this text\n"
	"  -v, --version     version\n"
	"\n"
	"A connection that cannot use SMC is TCP; 'smcss -a' says which and why.\n";

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("smc_run: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}

static bool kernel_has_smc(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SMC);

	if (fd < 0)
		fd = socket(AF_SMC, SOCK_STREAM, SMCPROTO_SMC);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static void modprobe(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		if (null >= 0)
			dup2(null, STDERR_FILENO);
		execlp("modprobe", "modprobe", "smc", (char *)NULL);
		execl("/sbin/modprobe", "modprobe", "smc", (char *)NULL);
		_exit(1);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* A kernel update may silently bring back the kernel's own module, which has fewer features. */
static void check_module(void)
{
	if (module_is_kernels())
		say("note: the kernel's own module is loaded ('smcr info'); on most kernels it has no SMC within the host");
}

static void check_kernel(void)
{
	if (kernel_has_smc()) {
		check_module();
		return;
	}
	if (geteuid() == 0) {
		modprobe();
		if (kernel_has_smc()) {
			check_module();
			return;
		}
		say("this kernel has no SMC even after 'modprobe smc': connections will be TCP");
	} else {
		say("SMC is not loaded: connections will be TCP (as root: modprobe smc)");
	}
}

/*
 * Raises the limit for a buffer size if necessary: the kernel silently caps SO_RCVBUF and SO_SNDBUF
 * at a limit that applies to all sockets of the host, and can be raised in its namespace only.
 */
static void check_limit(const char *path, int size)
{
	FILE *f = fopen(path, "r");
	int limit = 0;

	if (!f)
		return;		/* we are not in the host's namespace, which shows the limit */
	if (fscanf(f, "%d", &limit) != 1)
		limit = size;
	fclose(f);
	if (limit >= size)
		return;
	f = fopen(path, "w");
	if (!f || fprintf(f, "%d\n", size) < 0 || fflush(f))
		say("the kernel will cap the size at %d: %s (as root, smc_run raises this limit, but not inside a container)",
		    limit, path);
	if (f)
		fclose(f);
}

static void set_buffer(const char *variable, const char *text, const char *limit_path)
{
	int size = smc_parse_size(text);

	if (size < 0) {
		say("'%s' is not a size: give a number of bytes, or one with k or m, as in 512k", text);
		exit(EXIT_WRONG);
	}
	check_limit(limit_path, size);
	setenv(variable, text, 1);
}

static bool library_at(char *path, size_t room, const char *dir, const char *rest)
{
	int len = snprintf(path, room, "%s%s/%s", dir, rest, LIBRARY);

	return len > 0 && (size_t)len < room && access(path, R_OK) == 0;
}

/* Looks next to smc_run (build tree), in ../lib from there, and where it is installed. */
static void find_library(char *path, size_t room)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (len > 0) {
		self[len] = '\0';
		slash = strrchr(self, '/');
		if (slash)
			*slash = '\0';
		if (library_at(path, room, self, "") ||
		    library_at(path, room, self, "/../lib"))
			goto found;
	}
	if (library_at(path, room, LIBDIR, ""))
		goto found;
	say("cannot find %s, neither beside smc_run nor in %s: 'make tools' builds it, 'make install' installs it",
	    LIBRARY, LIBDIR);
	exit(EXIT_SETUP);
found:
	if (strpbrk(path, " :")) {
		say("the path of the library, %s, contains a space or a colon, so LD_PRELOAD cannot name it",
		    path);
		exit(EXIT_SETUP);
	}
}

static void set_preload(void)
{
	char path[PATH_MAX + 64];
	const char *others = getenv("LD_PRELOAD");
	char *value;

	find_library(path, sizeof(path));
	if (others && strstr(others, LIBRARY))
		return;		/* smc_run was started by smc_run */
	/* append it: the library of a sanitizer must be first */
	if (others && *others) {
		if (asprintf(&value, "%s:%s", others, path) < 0) {
			say("out of memory");
			exit(EXIT_SETUP);
		}
		setenv("LD_PRELOAD", value, 1);
		free(value);
	} else {
		setenv("LD_PRELOAD", path, 1);
	}
}

static void check_program(const char *name)
{
	char path[PATH_MAX];
	const char *why = unreachable(name, path);

	if (why)
		say("%s %s: its connections will be TCP (as root, use --cgroup)", path, why);
}

static int run_program(char **argv)
{
	execvp(argv[0], argv);
	say("cannot run '%s': %s", argv[0], strerror(errno));
	return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NO_EXEC;
}

static int enter_and_run(struct conversion *conversion, char **argv)
{
	if (!convert_enter(conversion))
		return run_program(argv);
	say("%s", conversion->error);
	return EXIT_SETUP;
}

/* Runs the program in the cgroup, and waits until all processes there have ended. */
static int run_there(struct conversion *conversion, char **argv)
{
	int status = cgroup_run(conversion, enter_and_run, argv);

	if (status < 0) {
		say("%s", conversion->error);
		status = EXIT_SETUP;
	}
	convert_end(conversion);
	return status;
}

/* The variables that take the place of -d, -r and -t are for the preloaded library. */
static void note_ignored(void)
{
	static const char * const names[] = { "SMC_DEBUG", "SMC_RCVBUF", "SMC_SNDBUF" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (getenv(names[i]))
			say("note: the variable %s has no effect with --cgroup", names[i]);
}

static int run_in_cgroup(char **argv, bool mptcp)
{
	struct conversion conversion;

	note_ignored();
	check_kernel();
	if (!convert_begin(&conversion, mptcp))
		return run_there(&conversion, argv);
	say("%s", conversion.error);
	return EXIT_SETUP;
}

/* Does the kernel convert sockets? Bypasses the C library and preloaded libraries. */
static bool sockets_are_converted(void)
{
	int fd = syscall(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
	int value;
	socklen_t len = sizeof(value);
	bool smc;

	if (fd < 0)
		return false;
	smc = !getsockopt(fd, SOL_SMC, SMC_LIMIT_HS, &value, &len);
	close(fd);
	return smc;
}

/* Removes our library from LD_PRELOAD, and keeps all others. */
static void drop_preload(void)
{
	const char *others = getenv("LD_PRELOAD");
	char *old = others ? strdup(others) : NULL;
	char *rest = others ? calloc(1, strlen(others) + 1) : NULL;
	char *name, *base, *state;

	if (!others)
		return;
	if (!old || !rest) {
		say("out of memory");
		exit(EXIT_SETUP);
	}
	for (name = strtok_r(old, ": ", &state); name; name = strtok_r(NULL, ": ", &state)) {
		base = strrchr(name, '/');
		if (strcmp(base ? base + 1 : name, LIBRARY) == 0)
			continue;
		if (*rest)
			strcat(rest, ":");
		strcat(rest, name);
	}
	if (*rest)
		setenv("LD_PRELOAD", rest, 1);
	else
		unsetenv("LD_PRELOAD");
	free(old);
	free(rest);
}

/* Keeps the program's sockets TCP: no preload, and exempt from the switch, even if set later. */
static int run_as_tcp(char **argv)
{
	struct conversion conversion;

	drop_preload();
	if (convert_unsupported())
		return run_program(argv);
	if (geteuid() == 0) {
		if (!exempt_begin(&conversion))
			return run_there(&conversion, argv);
		if (sockets_are_converted()) {
			say("the switch is on ('smcd convert'), and the program cannot be exempted: %s",
			    conversion.error);
			return EXIT_SETUP;
		}
	} else if (sockets_are_converted()) {
		say("the switch is on ('smcd convert'), and only root can exempt a program: its sockets will be SMC sockets");
	}
	return run_program(argv);
}

struct options {
	bool cgroup;
	bool tcp;
	bool keep_mptcp;
	bool debug;
	const char *rcvbuf;
	const char *sndbuf;
	const char *net;
};

static void take_option(struct options *o, int option)
{
	switch (option) {
	case 'c':
		o->cgroup = true;
		break;
	case 'T':
		o->tcp = true;
		break;
	case 'k':
		o->keep_mptcp = true;
		break;
	case 'd':
		o->debug = true;
		break;
	case 'r':
		o->rcvbuf = optarg;
		break;
	case 't':
		o->sndbuf = optarg;
		break;
	case 'N':
		o->net = optarg;
		break;
	case 'h':
	case 'v':
	case 'V':
		other_option(option, usage_text);
	default:
		fputs(usage_text, stderr);
		exit(EXIT_WRONG);
	}
}

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option names[] = {
		{ "cgroup", no_argument, NULL, 'c' },
		{ "tcp", no_argument, NULL, 'T' },
		{ "keep-mptcp", no_argument, NULL, 'k' },
		{ "net", required_argument, NULL, 'N' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ }
	};
	int option;

	/* '+': options after the program's name belong to the program */
	while ((option = getopt_long(argc, argv, "+dhr:t:N:vV", names, NULL)) != -1)
		take_option(o, option);
}

static bool may_be_combined(const struct options *o)
{
	bool preload = o->debug || o->rcvbuf || o->sndbuf;

	if (o->cgroup && preload)
		say("-d, -r and -t cannot be combined with --cgroup");
	else if (o->tcp && (o->cgroup || preload || o->keep_mptcp))
		say("--cgroup, --keep-mptcp, -d, -r and -t cannot be combined with --tcp");
	else
		return true;
	return false;
}

static bool is_set(const char *variable)
{
	const char *text = getenv(variable);

	return text && *text && strcmp(text, "0");
}

/*
 * Limits are raised before the namespace is entered, which may not let us do so, but after it was
 * found: a mistake in its name leaves the host as it is.
 */
static void prepare(const struct options *o)
{
	int net = o->net ? netns_open(o->net) : -1;

	if (o->net && net < 0)
		exit(EXIT_SETUP);
	if (o->rcvbuf)
		set_buffer("SMC_RCVBUF", o->rcvbuf, "/proc/sys/net/core/rmem_max");
	if (o->sndbuf)
		set_buffer("SMC_SNDBUF", o->sndbuf, "/proc/sys/net/core/wmem_max");
	if (o->debug)
		setenv("SMC_DEBUG", "1", 1);
	if (o->keep_mptcp)
		setenv("SMC_KEEP_MPTCP", "1", 1);
	if (o->net && netns_join(net, o->net))
		exit(EXIT_SETUP);
}

int main(int argc, char **argv)
{
	struct options options = { };

	parse_options(argc, argv, &options);
	if (optind == argc) {
		say("no program was given");
		fputs(usage_text, stderr);
		return EXIT_WRONG;
	}
	if (!may_be_combined(&options))
		return EXIT_WRONG;
	prepare(&options);
	if (options.cgroup)
		return run_in_cgroup(argv + optind, !is_set("SMC_KEEP_MPTCP"));
	if (options.tcp)
		return run_as_tcp(argv + optind);
	check_program(argv[optind]);
	check_kernel();		/* may run modprobe, which must not get our preload library */
	set_preload();
	return run_program(argv + optind);
}
