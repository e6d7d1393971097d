// SPDX-License-Identifier: GPL-2.0
/*
 * smc_input_test: net.smc. Invalid numbers are also written to a setting of the kernel's own that
 * the same kernel functions parse: ours must accept exactly as much.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input.h"

/* An int and an unsigned long without limits, parsed by the functions that parse ours. */
#define KIN_INT		"/proc/sys/net/ipv4/tcp_max_syn_backlog"
#define KIN_ULONG	"/proc/sys/vm/user_reserve_kbytes"
#define LONG_TEXT	(5 << 20)	/* more than the kernel allocates */

struct written {
	ssize_t n;
	int error;
};

static struct written put(const char *path, const char *text, size_t len, off_t at)
{
	struct written w = { .n = -1 };
	int fd = open(path, O_WRONLY);

	if (fd < 0) {
		w.error = errno;
		return w;
	}
	w.n = pwrite(fd, text, len, at);
	w.error = w.n < 0 ? errno : 0;
	close(fd);
	return w;
}

static void get(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, text, room - 1);

	text[n > 0 ? n : 0] = 0;
	if (n <= 0)
		wrong("cannot read %s: %s", path, error_name(errno));
	close(fd);
}

static const char *path_of(const struct surface_sysctl *s)
{
	static char path[100];

	snprintf(path, sizeof(path), SURFACE_SYSCTL_DIR "/%s", s->name);
	return path;
}

static bool unchanged(const struct surface_sysctl *s, const char *before, const char *what)
{
	char now[64];

	get(path_of(s), now, sizeof(now));
	if (strcmp(now, before))
		wrong("%s: writing '%.30s' changed it to %s", s->name, what, now);
	return !strcmp(now, before);
}

static void refused(const struct surface_sysctl *s, const char *text, const char *before)
{
	struct written w = put(path_of(s), text, strlen(text), 0);

	if (w.error != EINVAL)
		wrong("%s: '%s' is %s", s->name, text, error_name(w.error));
	unchanged(s, before, text);
}

/* Numbers out of range. */
static void numbers(const struct surface_sysctl *s, const char *before)
{
	static const char * const never[] = {
		"-9223372036854775808", "18446744073709551616", "99999999999999999999999999999999",
	};
	char text[32];

	for (size_t i = 0; i < ARRAY(never); i++)
		refused(s, never[i], before);
	snprintf(text, sizeof(text), "%ld", s->min - 1);
	refused(s, text, before);
	if (s->flags & SYSCTL_ULONG)
		return;
	snprintf(text, sizeof(text), "%ld", (long)s->max + 1);
	refused(s, text, before);
	refused(s, "2147483648", before);
	refused(s, "4294967297", before);
	refused(s, "-2147483649", before);
}

/* Our setting must accept, refuse or partly read this text exactly as the kernel's own does. */
static void like_kin(const struct surface_sysctl *s, const char *text, size_t len, off_t at)
{
	const char *kin = s->flags & SYSCTL_ULONG ? KIN_ULONG : KIN_INT;
	char before[64], kins[64];
	struct written theirs, ours;

	get(path_of(s), before, sizeof(before));
	get(kin, kins, sizeof(kins));
	theirs = put(kin, text, len, at);
	ours = put(path_of(s), text, len, at);
	if (ours.n != theirs.n || ours.error != theirs.error)
		wrong("%s: writing '%.30s', %zu bytes at %ld: %zd %s, kernel's own: %zd %s",
		      s->name, text, len, (long)at, ours.n, error_name(ours.error), theirs.n,
		      error_name(theirs.error));
	if (theirs.n <= 0)
		unchanged(s, before, text);
	if (put(path_of(s), before, strlen(before), 0).error ||
	    put(kin, kins, strlen(kins), 0).error)
		wrong("%s: the old value cannot be restored", s->name);
}

/* A text in which # stands for a number that this setting accepts. */
static void like_kin_with(const struct surface_sysctl *s, const char *form)
{
	char text[64];
	size_t n = 0;

	for (; *form; form++)
		if (*form == '#')
			n += snprintf(text + n, sizeof(text) - n, "%ld", s->min);
		else
			text[n++] = *form;
	like_kin(s, text, n, 0);
}

static void texts(const struct surface_sysctl *s)
{
	static const char * const forms[] = {
		"", "\n", " ", "\t\n", "x", "-", "+", "--#", "+#", "0x", "0xg", "08", "#x", "#-", "#.0",
		"#e2", ",", "#,#", "\xff", "one", "nan", "-x", " -", "# #", "# x", " #", "#\n", "#\n#",
	};
	static const size_t lengths[] = { 22, 4096, 100000, LONG_TEXT };
	char *text = malloc(LONG_TEXT);

	for (size_t i = 0; i < ARRAY(forms); i++)
		like_kin_with(s, forms[i]);
	like_kin(s, "\0001", 2, 0);
	like_kin(s, "9", 1, 1);
	like_kin(s, "9", 1, 100000);
	like_kin(s, NULL, 1, 0);
	for (size_t i = 0; i < ARRAY(lengths); i++) {
		memset(text, '9', lengths[i]);
		like_kin(s, text, lengths[i], 0);
		memset(text, ' ', lengths[i]);
		like_kin(s, text, lengths[i], 0);
	}
	free(text);
}

/* A valid value must be accepted, or the rest would prove nothing. */
static void limits(const struct surface_sysctl *s)
{
	unsigned long good[] = { s->min, s->max, 0 };
	char text[32], now[64];

	if (s->standard >= 0) {
		get(path_of(s), now, sizeof(now));
		if (atol(now) != s->standard)
			wrong("%s is %s initially", s->name, now);
	}
	for (size_t i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "%lu\n", good[i]);
		if (put(path_of(s), text, strlen(text), 0).error)
			wrong("%s refuses %s", s->name, text);
		get(path_of(s), now, sizeof(now));
		if (strcmp(text, now))
			wrong("%s is %s, not %s", s->name, now, text);
	}
}

static void one_setting(const void *arg)
{
	const struct surface_sysctl *s = arg;
	char before[64];

	/* In a fresh namespace, because the suite may have changed some settings of ours. */
	if (!(s->flags & SYSCTL_FIRST))
		become(ELSEWHERE);
	get(path_of(s), before, sizeof(before));
	limits(s);
	if (put(path_of(s), before, strlen(before), 0).error)
		wrong("%s: the old value cannot be restored", s->name);
	numbers(s, before);
	texts(s);
	unchanged(s, before, "all of these values");
}

static void setting(const void *arg)
{
	in_child(one_setting, arg);
}

/* ---- all settings ---- */

struct as {
	enum actor actor;
};

static bool may_write(const struct surface_sysctl *s, enum actor actor)
{
	return actor == ELSEWHERE || (actor == CONTAINED && !(s->flags & SYSCTL_OF_HOST));
}

static void each_as(const void *arg)
{
	const struct as *as = arg;
	bool elsewhere = as->actor == CONTAINED || as->actor == ELSEWHERE;

	become(as->actor);
	for (size_t i = 0; i < surface_n_sysctls; i++) {
		const struct surface_sysctl *s = &surface_sysctls[i];
		int expected = may_write(s, as->actor) ? 0 : EACCES, error;
		char before[64];

		if (elsewhere && s->flags & SYSCTL_FIRST) {
			if (!access(path_of(s), F_OK))
				wrong("%s exists in this namespace", s->name);
			continue;
		}
		get(path_of(s), before, sizeof(before));
		error = put(path_of(s), before, strlen(before), 0).error;
		if (error != expected)
			wrong("%s: as %s %s", s->name, actor_names[as->actor], error_name(error));
		unchanged(s, before, before);
	}
}

static void rights(const void *arg)
{
	for (enum actor actor = 0; actor < ACTORS; actor++)
		in_child(each_as, &(struct as){ actor });
}

/* The table must have every setting that exists. */
static void complete(const void *arg)
{
	DIR *dir = opendir(SURFACE_SYSCTL_DIR);
	size_t n = 0;

	for (struct dirent *e; dir && (e = readdir(dir)); ) {
		size_t i = 0;

		if (e->d_name[0] == '.')
			continue;
		while (i < surface_n_sysctls && strcmp(surface_sysctls[i].name, e->d_name))
			i++;
		if (i == surface_n_sysctls)
			wrong("%s is not in the table", e->d_name);
		n++;
	}
	if (dir)
		closedir(dir);
	if (n != surface_n_sysctls)
		wrong("%zu settings, %zu in the table", n, surface_n_sysctls);
}

void input_sysctls(void)
{
	char name[100];

	play("sysctl complete", complete, NULL);
	play("sysctl rights", rights, NULL);
	for (size_t i = 0; i < surface_n_sysctls; i++) {
		snprintf(name, sizeof(name), "sysctl %s", surface_sysctls[i].name);
		play(name, setting, &surface_sysctls[i]);
	}
}
