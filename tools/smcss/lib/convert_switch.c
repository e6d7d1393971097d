// SPDX-License-Identifier: GPL-2.0
/*
 * One program serves all network namespaces. The program and the two maps that it reads are pinned
 * in the BPF file system:
 *
 *	/sys/fs/bpf/smc/link		keeps the program attached
 *	/sys/fs/bpf/smc/namespaces	cookie of a network namespace -> flags
 *	/sys/fs/bpf/smc/tcp_cgroups	ID of a cgroup
 *
 * A lock on /sys/fs/bpf keeps tools from creating or removing them concurrently. The cookie of a
 * namespace that has ended is never reused.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "convert_program.h"
#include "convert_switch.h"
#include "netns.h"

#define BPFFS		"/sys/fs/bpf"
#define BPFFS_MAGIC	0xcafe4a11
#define LINK		SWITCH_DIRECTORY "/link"
#define NAMESPACES	SWITCH_DIRECTORY "/namespaces"
#define TCP_CGROUPS	SWITCH_DIRECTORY "/tcp_cgroups"
#define MAX_NAMESPACES	65536
#define MAX_CGROUPS	4096

static int fail(struct convert_switch *s, const char *what, int error)
{
	snprintf(s->error, sizeof(s->error), "%s: %s%s", what, strerror(error),
		 error != EPERM && error != EACCES ? "" : geteuid() ? " (it requires root)" :
		 " (a container or the kernel's lockdown forbids it)");
	return -1;
}

static bool is_bpffs(void)
{
	struct statfs fs;

	return !statfs(BPFFS, &fs) && (unsigned int)fs.f_type == BPFFS_MAGIC;
}

/* Returns -1 without a message if the object does not exist. */
static int open_pinned(struct convert_switch *s, const char *path)
{
	int fd = bpf_obj_get(path);

	if (fd < 0 && errno != ENOENT)
		fail(s, path, errno);
	return fd;
}

int switch_open(struct convert_switch *s)
{
	memset(s, 0, sizeof(*s));
	s->namespaces = s->tcp_cgroups = s->lock = -1;
	if (geteuid()) {
		snprintf(s->error, sizeof(s->error), "only root can use the switch: become root");
		return -1;
	}
	if (!is_bpffs()) {
		snprintf(s->error, sizeof(s->error),
			 "the BPF file system is not mounted here: mount -t bpf none " BPFFS);
		return -1;
	}
	s->lock = open(BPFFS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->lock < 0 || flock(s->lock, LOCK_EX))
		return fail(s, BPFFS, errno);
	s->namespaces = open_pinned(s, NAMESPACES);
	s->tcp_cgroups = open_pinned(s, TCP_CGROUPS);
	return *s->error ? -1 : 0;
}

static bool is_empty(int map)
{
	uint64_t key;

	return map < 0 || bpf_map_get_next_key(map, NULL, &key);
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void switch_close(struct convert_switch *s)
{
	if (s->lock >= 0 && !*s->error && is_empty(s->namespaces)) {
		unlink(LINK);
		unlink(NAMESPACES);
		/* Keep the exemptions of running programs, as the switch may be turned on again. */
		if (is_empty(s->tcp_cgroups))
			unlink(TCP_CGROUPS);
		rmdir(SWITCH_DIRECTORY);
	}
	close_one(&s->namespaces);
	close_one(&s->tcp_cgroups);
	close_one(&s->lock);
}

static int this_namespace(struct convert_switch *s, uint64_t *cookie)
{
	int rc = netns_cookie(cookie);

	if (rc)
		fail(s, "cannot identify this network namespace", errno);
	return rc;
}

static int need_map(struct convert_switch *s, int *map, const char *path, const char *name,
		    int entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);

	if (*map >= 0)
		return 0;
	if (mkdir(SWITCH_DIRECTORY, 0700) && errno != EEXIST)
		return fail(s, SWITCH_DIRECTORY, errno);
	*map = bpf_map_create(BPF_MAP_TYPE_HASH, name, sizeof(uint64_t), sizeof(uint32_t), entries,
			      &opts);
	if (*map < 0)
		return fail(s, "cannot create a BPF map", errno);
	return bpf_obj_pin(*map, path) ? fail(s, path, errno) : 0;
}

static int need_maps(struct convert_switch *s)
{
	if (need_map(s, &s->namespaces, NAMESPACES, "smc_namespaces", MAX_NAMESPACES))
		return -1;
	return need_map(s, &s->tcp_cgroups, TCP_CGROUPS, "smc_tcp_cgroups", MAX_CGROUPS);
}

static int need_program(struct convert_switch *s, bool *blind)
{
	struct convert_scope scope = {
		.namespaces = s->namespaces, .tcp_cgroups = s->tcp_cgroups,
	};
	int link = open_pinned(s, LINK), rc = 0;

	*blind = false;
	if (link < 0) {
		link = *s->error ? -1 : convert_attach(&scope, blind, s->error, sizeof(s->error));
		rc = link < 0 ? -1 : bpf_obj_pin(link, LINK) ? fail(s, LINK, errno) : 0;
	}
	close_one(&link);
	return rc;
}

int switch_get(struct convert_switch *s, bool *on, uint32_t *flags)
{
	uint64_t cookie;

	*flags = 0;
	if (this_namespace(s, &cookie))
		return -1;
	*on = s->namespaces >= 0 && !bpf_map_lookup_elem(s->namespaces, &cookie, flags);
	return 0;
}

/* switch_close() removes what a failed attempt leaves behind, unless others need it. */
static int undo(struct convert_switch *s)
{
	char error[sizeof(s->error)];

	memcpy(error, s->error, sizeof(error));
	s->error[0] = '\0';
	switch_close(s);
	memcpy(s->error, error, sizeof(error));
	return -1;
}

int switch_on(struct convert_switch *s, uint32_t flags, bool *blind)
{
	uint64_t cookie;

	if (this_namespace(s, &cookie))
		return -1;
	if (need_maps(s) || need_program(s, blind))
		return undo(s);
	if (!bpf_map_update_elem(s->namespaces, &cookie, &flags, BPF_ANY))
		return 0;
	if (errno == E2BIG)
		snprintf(s->error, sizeof(s->error),
			 "the switch has no room for another network namespace, as it still lists namespaces that no longer exist: use 'off all', then 'on' in each one that needs it");
	else
		fail(s, NAMESPACES, errno);
	return undo(s);
}

int switch_off(struct convert_switch *s)
{
	uint64_t cookie;

	if (this_namespace(s, &cookie))
		return -1;
	if (s->namespaces >= 0 && bpf_map_delete_elem(s->namespaces, &cookie) && errno != ENOENT)
		return fail(s, NAMESPACES, errno);
	return 0;
}

int switch_off_all(struct convert_switch *s)
{
	uint64_t cookie;

	while (s->namespaces >= 0 && !bpf_map_get_next_key(s->namespaces, NULL, &cookie))
		if (bpf_map_delete_elem(s->namespaces, &cookie))
			return fail(s, NAMESPACES, errno);
	return 0;
}

int switch_exempt(struct convert_switch *s, uint64_t cgroup)
{
	uint32_t nothing = 0;

	if (need_map(s, &s->tcp_cgroups, TCP_CGROUPS, "smc_tcp_cgroups", MAX_CGROUPS))
		return undo(s);
	if (bpf_map_update_elem(s->tcp_cgroups, &cgroup, &nothing, BPF_ANY)) {
		fail(s, TCP_CGROUPS, errno);
		return undo(s);
	}
	return 0;
}

void switch_exempt_end(struct convert_switch *s, uint64_t cgroup)
{
	if (s->tcp_cgroups >= 0)
		bpf_map_delete_elem(s->tcp_cgroups, &cgroup);
}
