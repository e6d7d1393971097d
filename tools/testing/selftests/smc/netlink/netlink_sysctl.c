// SPDX-License-Identifier: GPL-2.0
/* smc_netlink_test: the effects of settings in net.smc. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netlink_test.h"

#define DIRECTORY	"/proc/sys/net/smc"

/* 0 or errno */
static int set(const char *name, const char *value)
{
	char path[100];
	int fd, error = 0;

	snprintf(path, sizeof(path), DIRECTORY "/%s", name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return errno;
	if (write(fd, value, strlen(value)) < 0)
		error = errno;
	close(fd);
	return error;
}

static int set_number(const char *name, long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", value);
	return set(name, text);
}

static long get(const char *name)
{
	char path[100], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), DIRECTORY "/%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		give_up("cannot read %s", path);
	close(fd);
	return atol(text);
}

/* A setting in one namespace does not affect another one. */
static bool has_standard(void)
{
	if (unshare(CLONE_NEWNET) < 0)
		return BAD("unshare: %s", strerror(errno));
	return get("smcr_testlink_time") == 30 || BAD("it was inherited from the parent namespace");
}

bool sysctl_namespace(void)
{
	long before = get("smcr_testlink_time");
	bool ok;

	if (set_number("smcr_testlink_time", 7))
		return BAD("cannot set it");
	ok = in_child(has_standard);
	return !set_number("smcr_testlink_time", before) && ok;
}

/* Is a byte sent with MSG_MORE held back? The timer of corks may expire before the check. */
static bool held_back(struct link l)
{
	char c;
	int n = 0;

	for (int i = 0; i < 20 && !n; i++) {
		if (send(l.client, "x", 1, MSG_MORE | MSG_NOSIGNAL) != 1)
			give_up("cannot send");
		n += recv(l.server, &c, 1, MSG_DONTWAIT) < 0;
		if (send(l.client, "y", 1, MSG_NOSIGNAL) != 1 ||
		    recv(l.server, &c, 1, 0) != 1 || (n && recv(l.server, &c, 1, 0) != 1))
			give_up("cannot send and receive");
	}
	return n;
}

bool sysctl_autocorking(void)
{
	long before = get("autocorking_size");
	struct link l = connected();
	bool ok = is_mode(l, SMC_DIAG_MODE_SMCD);

	if (ok && (set_number("autocorking_size", 65536) || !held_back(l)))
		ok = BAD("MSG_MORE does not hold data back");
	if (ok && (set_number("autocorking_size", 0) || held_back(l)))
		ok = BAD("MSG_MORE holds data back although it is 0");
	disconnected(l);
	return !set_number("autocorking_size", before) && ok;
}
