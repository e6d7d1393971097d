// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a program in a cgroup of its own. Either a BPF program, attached for as long, converts its
 * sockets to SMC sockets, or the cgroup is exempt from the switch.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_convert.h"
#include "convert_program.h"
#include "convert_switch.h"

/* Finds the cgroup of this process, below which a new one is created. */
static bool own_cgroup(char *path, size_t room)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	char own[PATH_MAX] = "";
	struct mntent *mount;
	FILE *file;

	while (mounts && (mount = getmntent(mounts)) && strcmp(mount->mnt_type, "cgroup2"))
		;
	if (!mounts || !mount) {
		if (mounts)
			endmntent(mounts);
		return false;
	}
	snprintf(path, room, "%s", mount->mnt_dir);
	endmntent(mounts);
	file = fopen("/proc/self/cgroup", "r");
	while (file && fgets(own, sizeof(own), file) && strncmp(own, "0::/", 4))
		own[0] = '\0';
	if (file)
		fclose(file);
	own[strcspn(own, "\n")] = '\0';
	if (strlen(own) > 4 && strlen(path) + strlen(own) < room) {
		strcat(path, own + 3);
		if (access(path, X_OK))
			path[strlen(path) - strlen(own + 3)] = '\0';
	}
	return true;
}

static int make_cgroup(struct conversion *c)
{
	char own[PATH_MAX - 32];
	struct stat st;

	memset(c, 0, sizeof(*c));
	c->link = -1;
	if (!own_cgroup(own, sizeof(own))) {
		snprintf(c->error, sizeof(c->error),
			 "no cgroup2 file system is mounted: mount -t cgroup2 none /sys/fs/cgroup");
		return -1;
	}
	snprintf(c->path, sizeof(c->path), "%s/smc_run-%d", own, getpid());
	if (mkdir(c->path, 0755) || stat(c->path, &st)) {
		snprintf(c->error, sizeof(c->error), "cannot make the cgroup %.120s: %s", c->path,
			 strerror(errno));
		c->path[0] = '\0';
		return -1;
	}
	c->cgroup = st.st_ino;
	return 0;
}

/**
 * convert_begin() - create a cgroup whose sockets are converted
 * @c: receives the cgroup
 * @mptcp: convert MPTCP sockets, too
 *
 * Return: 0, or -1 with c->error; nothing is left behind then.
 */
int convert_begin(struct conversion *c, bool mptcp)
{
	struct convert_scope scope = { .mptcp = mptcp };
	bool blind;

	if (make_cgroup(c))
		return -1;
	scope.cgroup = c->cgroup;
	c->link = convert_attach(&scope, &blind, c->error, sizeof(c->error));
	if (c->link >= 0)
		return 0;
	rmdir(c->path);
	return -1;
}

/**
 * exempt_begin() - create a cgroup whose sockets the switch does not convert
 * @c: receives the cgroup
 *
 * Return: 0, or -1 with c->error; nothing is left behind then.
 */
int exempt_begin(struct conversion *c)
{
	struct convert_switch s;
	int rc;

	if (make_cgroup(c))
		return -1;
	rc = switch_open(&s);
	if (!rc)
		rc = switch_exempt(&s, c->cgroup);
	switch_close(&s);
	c->exempt = !rc;
	if (!rc)
		return 0;
	memcpy(c->error, s.error, sizeof(c->error));
	rmdir(c->path);
	return -1;
}

/**
 * convert_enter() - move this process into the cgroup
 * @c: the conversion
 *
 * Return: 0, or -1 with c->error.
 */
int convert_enter(struct conversion *c)
{
	char procs[PATH_MAX + 16];
	int fd;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", c->path);
	fd = open(procs, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1) {
		snprintf(c->error, sizeof(c->error), "cannot enter the cgroup: %s",
			 strerror(errno));
		return -1;
	}
	close(fd);
	return 0;
}

/* Removes the cgroup, and those that the program has made below it. */
static void remove_cgroup(const struct conversion *c)
{
	char *const roots[] = { (char *)c->path, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	while (tree && (entry = fts_read(tree)))
		if (entry->fts_info == FTS_DP)
			rmdir(entry->fts_path);
	if (tree)
		fts_close(tree);
}

/**
 * convert_end() - undo everything, once all processes of the cgroup have ended
 * @c: the conversion
 */
void convert_end(struct conversion *c)
{
	struct convert_switch s;

	if (c->link >= 0)
		close(c->link);
	if (c->exempt) {
		if (!switch_open(&s))
			switch_exempt_end(&s, c->cgroup);
		switch_close(&s);
	}
	remove_cgroup(c);
}
