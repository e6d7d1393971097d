// SPDX-License-Identifier: GPL-2.0
/* Check kernel messages since the last check (/dev/kmsg); complaints.h lists the bad ones. */
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "klog.h"

#define COMPLAINT(regex)	"|" regex
#define HEALTHY(regex)
static const char bad[] =
#include "complaints.h"
;
#undef COMPLAINT
#undef HEALTHY
#define COMPLAINT(regex)
#define HEALTHY(regex)	"|" regex
static const char fine[] =
#include "complaints.h"
;

static regex_t is_bad, is_fine;
static int kmsg = -1;

bool klog_open(void)
{
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg < 0)
		return false;
	/* Skip the leading bar. */
	if (regcomp(&is_bad, bad + 1, REG_EXTENDED | REG_NOSUB) ||
	    regcomp(&is_fine, fine + 1, REG_EXTENDED | REG_NOSUB))
		abort();
	lseek(kmsg, 0, SEEK_END);
	return true;
}

/* Returns the next line, or NULL. */
static const char *next_line(void)
{
	static char buf[8192];
	char *text;
	ssize_t n;

	if (kmsg < 0)
		return NULL;
	do
		n = read(kmsg, buf, sizeof(buf) - 1);
	while (n < 0 && errno == EPIPE);	/* overwritten before we could read it */
	if (n <= 0)
		return NULL;
	buf[n] = 0;
	text = strchr(buf, ';');
	text = text ? text + 1 : buf;
	text[strcspn(text, "\n")] = 0;
	return text;
}

int klog_check(char *first, size_t len)
{
	const char *text;
	int found = 0;

	while ((text = next_line())) {
		if (regexec(&is_bad, text, 0, NULL, 0) || !regexec(&is_fine, text, 0, NULL, 0))
			continue;
		if (!found++)
			snprintf(first, len, "%s", text);
	}
	return found;
}

int klog_said(const char *expected, char *first, size_t len)
{
	regex_t is_expected;
	const char *text;
	int found = 0;

	if (regcomp(&is_expected, expected, REG_EXTENDED | REG_NOSUB))
		abort();
	while ((text = next_line()))
		if (regexec(&is_expected, text, 0, NULL, 0) && !found++)
			snprintf(first, len, "%s", text);
	regfree(&is_expected);
	return found;
}
