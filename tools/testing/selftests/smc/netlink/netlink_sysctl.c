// SPDX-License-Identifier: GPL-2.0
/* smc_netlink_test: net.smc.*, as Documentation/sysctl.md has it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netlink_test.h"

#define DIRECTORY	"/proc/sys/net/smc"

static const struct {
	const char *name;
	long standard, min, max;
} table[] = {
	{ "autocache_time", 0, 0, 86400 },
	{ "autosmc", 0, 0, 2 },
	{ "autosmc_retry_time", 60, 1, 86400 },
	{ "autocorking_size", 65536, 0, INT_MAX },
	{ "enable", 1, 0, 1 },
	{ "lgr_idle_time", 600, 0, 86400 },
	{ "limit_smc_hs", 0, 0, 1 },
	{ "loopback_pairing", 1, 0, 1 },
	{ "rmem", 262144, 16384, 8388608 },
	{ "smcr_buf_type", 2, 0, 2 },
	{ "smcr_max_conns_per_lgr", 255, 16, 255 },
	{ "smcr_max_lgrs", 1024, 1, 65536 },
	{ "smcr_max_lgrs_per_peer", 64, 1, 65536 },
	{ "smcr_max_links_per_lgr", 2, 1, 2 },
	{ "smcr_max_recv_wr", 512, 4, 16384 },
	{ "smcr_max_send_wr", 64, 4, 16384 },
	{ "smcr_testlink_time", 30, 0, 86400 },
	{ "wmem", 262144, 16384, 8388608 },
};

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

static bool ranges_of(size_t i)
{
	const char *name = table[i].name;
	const long good[] = { table[i].min, table[i].max, table[i].standard };
	const long bad[] = { table[i].min - 1, table[i].max + 1, LONG_MAX };

	if (get(name) != table[i].standard)
		return BAD("%s begins with %ld", name, get(name));
	for (size_t j = 0; j < ARRAY_SIZE(bad); j++)
		if (set_number(name, bad[j]) != EINVAL || get(name) != table[i].standard)
			return BAD("%s takes %ld", name, bad[j]);
	if (set(name, "x") != EINVAL)
		return BAD("%s takes a letter", name);
	for (size_t j = 0; j < ARRAY_SIZE(good); j++)
		if (set_number(name, good[j]) || get(name) != good[j])
			return BAD("%s does not take %ld", name, good[j]);
	return true;
}

/* The suite may have set some in the namespace of the guest: look in a fresh one. */
static bool all_ranges(void)
{
	size_t there = 0;
	struct dirent *e;
	DIR *dir;

	if (unshare(CLONE_NEWNET) < 0)
		return BAD("unshare: %s", strerror(errno));
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!ranges_of(i))
			return false;
	if (get("mem_max") < 16 << 20)
		return BAD("mem_max begins with %ld", get("mem_max"));
	dir = opendir(DIRECTORY);
	while (dir && (e = readdir(dir)))
		there += e->d_name[0] != '.';
	closedir(dir);
	return there == ARRAY_SIZE(table) + 1 || BAD("%zu sysctls, not %zu", there,
						     ARRAY_SIZE(table) + 1);
}

bool sysctl_ranges(void)
{
	return in_child(all_ranges);
}

/* What one namespace sets is not what another one has. */
static bool has_standard(void)
{
	if (unshare(CLONE_NEWNET) < 0)
		return BAD("unshare: %s", strerror(errno));
	return get("smcr_testlink_time") == 30 || BAD("it has the value of its parent");
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

/* Is a byte sent with MSG_MORE held back? The timer of corks may be faster than we are. */
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
			give_up("cannot exchange");
	}
	return n;
}

bool sysctl_autocorking(void)
{
	long before = get("autocorking_size");
	struct link l = connected();
	bool ok = is_mode(l, SMC_DIAG_MODE_SMCD);

	if (ok && (set_number("autocorking_size", 65536) || !held_back(l)))
		ok = BAD("MSG_MORE holds nothing back");
	if (ok && (set_number("autocorking_size", 0) || held_back(l)))
		ok = BAD("MSG_MORE holds back with 0");
	disconnected(l);
	return !set_number("autocorking_size", before) && ok;
}
