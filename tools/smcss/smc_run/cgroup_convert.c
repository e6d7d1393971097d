// SPDX-License-Identifier: GPL-2.0
/*
 * Conversion without a preload: a BPF program at update_socket_protocol(), which kernels have
 * from 6.6 on for this purpose, asks for IPPROTO_SMC where a process of one cgroup asks for TCP.
 * Static programs and those that do not use the C library are reached as well.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <mntent.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_convert.h"
#include "smc_socket.h"

#define HOOK		"update_socket_protocol"
/* A cgroup this far below the root is still found. */
#define MAX_LEVELS	16
#define TYPE_MASK	0xf	/* of socket()'s type: the bits that are not flags */

struct program {
	struct bpf_insn insns[128];
	int count;
	int to_end[8 + MAX_LEVELS];	/* jumps to be told where that is */
	int jumps;
};

static void add(struct program *p, int code, int dst, int src, int off, int imm)
{
	p->insns[p->count++] = (struct bpf_insn){
		.code = code, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm,
	};
}

/* The @n-th argument of the hook into register 2. */
static void load_argument(struct program *p, int n)
{
	add(p, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_2, BPF_REG_6, 8 * n, 0);
}

/* To the end, where nothing is changed. */
static void leave_unless(struct program *p, int value)
{
	p->to_end[p->jumps++] = p->count;
	add(p, BPF_JMP32 | BPF_JNE | BPF_K, BPF_REG_2, 0, 0, value);
}

static void skip_if(struct program *p, int value)
{
	add(p, BPF_JMP32 | BPF_JEQ | BPF_K, BPF_REG_2, 0, 1, value);
}

static void return_value(struct program *p, int value)
{
	add(p, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, value);
	add(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Is one of the process's cgroups, from the root down, @id? Then convert. */
static void convert_in(struct program *p, uint64_t id)
{
	int level;

	add(p, BPF_LD | BPF_DW | BPF_IMM, BPF_REG_7, 0, 0, (uint32_t)id);
	add(p, 0, 0, 0, 0, id >> 32);
	for (level = 0; level < MAX_LEVELS; level++) {
		add(p, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, level);
		add(p, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_current_ancestor_cgroup_id);
		/* this jump, the rest of the levels, and return 0 */
		add(p, BPF_JMP | BPF_JEQ | BPF_X, BPF_REG_0, BPF_REG_7,
		    3 * (MAX_LEVELS - 1 - level) + 2, 0);
	}
}

/* Of what a program of this kind returns, 0 says: go on, and ask the kernel's own function. */
static void write_program(struct program *p, uint64_t cgroup, bool mptcp)
{
	int i;

	memset(p, 0, sizeof(*p));
	add(p, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_1, 0, 0);
	load_argument(p, 0);
	skip_if(p, AF_INET);
	leave_unless(p, AF_INET6);
	load_argument(p, 1);
	add(p, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_2, 0, 0, TYPE_MASK);
	leave_unless(p, SOCK_STREAM);
	load_argument(p, 2);
	skip_if(p, 0);
	if (mptcp)
		skip_if(p, IPPROTO_MPTCP);
	leave_unless(p, IPPROTO_TCP);
	convert_in(p, cgroup);
	for (i = 0; i < p->jumps; i++)
		p->insns[p->to_end[i]].off = p->count - p->to_end[i] - 1;
	return_value(p, 0);
	return_value(p, IPPROTO_SMC);
}

/* Where this process's own cgroup is; a new one goes below it. */
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

static int make_cgroup(struct conversion *c, uint64_t *id)
{
	char own[PATH_MAX - 32];
	struct stat st;

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
	*id = st.st_ino;
	return 0;
}

static int attach(struct conversion *c, uint64_t cgroup, bool mptcp)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_MODIFY_RETURN);
	struct program p;
	int id, fd;

	id = libbpf_find_vmlinux_btf_id(HOOK, BPF_MODIFY_RETURN);
	if (id <= 0) {
		snprintf(c->error, sizeof(c->error),
			 "this kernel has no " HOOK "() for BPF (Linux 6.6 has it): leave --cgroup out");
		return -1;
	}
	write_program(&p, cgroup, mptcp);
	opts.attach_btf_id = id;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "smc_convert", "GPL", p.insns, p.count, &opts);
	c->link = fd < 0 ? -1 : bpf_raw_tracepoint_open(NULL, fd);
	if (c->link < 0)
		snprintf(c->error, sizeof(c->error), "the kernel does not take the BPF program: %s%s",
			 strerror(errno), errno != EPERM ? "" : geteuid() ? " (it requires root)" :
			 " (a container or the kernel's lockdown forbids it)");
	if (fd >= 0)
		close(fd);
	return c->link < 0 ? -1 : 0;
}

/**
 * convert_begin() - make a cgroup whose sockets are converted
 * @c: receives it
 * @mptcp: those of MPTCP too
 *
 * Return: 0, or -1 with c->error, and nothing left behind.
 */
int convert_begin(struct conversion *c, bool mptcp)
{
	uint64_t cgroup;

	memset(c, 0, sizeof(*c));
	c->link = -1;
	libbpf_set_print(NULL);
	if (make_cgroup(c, &cgroup))
		return -1;
	if (attach(c, cgroup, mptcp)) {
		rmdir(c->path);
		return -1;
	}
	return 0;
}

/**
 * convert_enter() - from here on this process is one of those
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

/* Until the last process has left, also one in the background. */
static void await_empty(const struct conversion *c)
{
	char events[PATH_MAX + 16], text[256];
	struct pollfd pfd = { .events = POLLPRI };
	ssize_t n;

	snprintf(events, sizeof(events), "%s/cgroup.events", c->path);
	pfd.fd = open(events, O_RDONLY | O_CLOEXEC);
	if (pfd.fd < 0)
		return;
	for (;;) {
		n = pread(pfd.fd, text, sizeof(text) - 1, 0);
		if (n <= 0)
			break;
		text[n] = '\0';
		if (!strstr(text, "populated 1") || (poll(&pfd, 1, -1) < 0 && errno != EINTR))
			break;
	}
	close(pfd.fd);
}

/**
 * convert_end() - when all processes have ended, take everything back
 * @c: the conversion
 */
void convert_end(struct conversion *c)
{
	await_empty(c);
	close(c->link);
	rmdir(c->path);
}
