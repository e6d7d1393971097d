// SPDX-License-Identifier: GPL-2.0
/*
 * A BPF program ends sockets (bpf_sock_destroy()): a connection ends as if it had been reset, and a
 * listener stops listening.
 */
#include <arpa/inet.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest.h"
#include "klog_result.h"
#include "slow.h"
#include "sock_mode.h"

#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif

#define N(array)	((int)(sizeof(array) / sizeof((array)[0])))
#define LOAD(size, dst, src, offset) \
	{ .code = BPF_LDX | BPF_MEM | (size), .dst_reg = (dst), .src_reg = (src), .off = (offset) }
#define MOVE(dst, src) \
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (dst), .src_reg = (src) }
#define SET(dst, value) \
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (dst), .imm = (value) }
/* skip this many instructions unless the register has the value */
#define UNLESS(reg, value, skipped) \
	{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = (reg), .imm = (value), .off = (skipped) }
#define IF_NULL(reg, skipped) \
	{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = (reg), .off = (skipped) }
#define CALL(kind, function) \
	{ .code = BPF_JMP | BPF_CALL, .src_reg = (kind), .imm = (function) }

/* Offsets in struct bpf_iter__tcp, struct bpf_iter_meta and struct sock_common. */
enum { META = 0, SK_COMMON = 8, SEQ = 0, SKC_NUM = 14, SKC_STATE = 18 };

static int bpf_sock_destroy, bpf_iter_tcp;	/* their numbers in the kernel's BTF */

static bool find_functions(void)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (!btf)
		return false;
	bpf_sock_destroy = btf__find_by_name_kind(btf, "bpf_sock_destroy", BTF_KIND_FUNC);
	bpf_iter_tcp = btf__find_by_name_kind(btf, "bpf_iter_tcp", BTF_KIND_FUNC);
	btf__free(btf);
	return bpf_sock_destroy > 0 && bpf_iter_tcp > 0;
}

static int bpf(int cmd, union bpf_attr *attr)
{
	int rc = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	if (rc < 0)
		ksft_exit_fail_msg("bpf(%d): %s\n", cmd, strerror(errno));
	return rc;
}

/* Ends the sockets with this local port and state, and records the result for each of them. */
static int load(int port, int state)
{
	const struct bpf_insn insns[] = {
		MOVE(BPF_REG_6, BPF_REG_1),
		LOAD(BPF_DW, BPF_REG_7, BPF_REG_6, SK_COMMON),
		IF_NULL(BPF_REG_7, 13),
		LOAD(BPF_H, BPF_REG_1, BPF_REG_7, SKC_NUM),
		UNLESS(BPF_REG_1, port, 11),
		LOAD(BPF_B, BPF_REG_1, BPF_REG_7, SKC_STATE),
		UNLESS(BPF_REG_1, state, 9),
		MOVE(BPF_REG_1, BPF_REG_7),
		CALL(BPF_PSEUDO_KFUNC_CALL, bpf_sock_destroy),
		{ .code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .src_reg = BPF_REG_0,
		  .off = -4 },
		LOAD(BPF_DW, BPF_REG_1, BPF_REG_6, META),
		LOAD(BPF_DW, BPF_REG_1, BPF_REG_1, SEQ),
		MOVE(BPF_REG_2, BPF_REG_10),
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -4 },
		SET(BPF_REG_3, 4),
		CALL(0, BPF_FUNC_seq_write),
		SET(BPF_REG_0, 0),
		{ .code = BPF_JMP | BPF_EXIT },
	};
	static char log[65536];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACING,
		.expected_attach_type = BPF_TRACE_ITER,
		.attach_btf_id = bpf_iter_tcp,
		.insns = (uintptr_t)insns,
		.insn_cnt = N(insns),
		.license = (uintptr_t)"GPL",
		.log_level = 1,
		.log_buf = (uintptr_t)log,
		.log_size = sizeof(log),
	};
	int fd;

	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		ksft_exit_fail_msg("the program: %s\n%s\n", strerror(errno), log);
	return fd;
}

/* The result for the one socket with this port and state; 1 if there is not exactly one. */
static int destroy(int port, int state)
{
	union bpf_attr link = { .link_create = { .prog_fd = load(port, state),
						 .attach_type = BPF_TRACE_ITER } };
	union bpf_attr iter = { .iter_create.link_fd = bpf(BPF_LINK_CREATE, &link) };
	int fd = bpf(BPF_ITER_CREATE, &iter), answers[64], total = 0, n;

	while ((n = read(fd, (char *)answers + total, sizeof(answers) - total)) > 0)
		total += n;
	close(fd);
	close(iter.iter_create.link_fd);
	close(link.link_create.prog_fd);
	return total == sizeof(int) ? answers[0] : 1;
}

static int port_of(int fd)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	getsockname(fd, (struct sockaddr *)&a, &len);
	return ntohs(a.sin_port);
}

static int make(int protocol)
{
	struct timeval patience = { .tv_sec = slow(20) };
	int fd = socket(AF_INET, SOCK_STREAM, protocol);

	if (fd < 0)
		ksft_exit_fail_msg("socket: %s\n", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

static int make_listener(int protocol)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = make(protocol);

	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 8))
		ksft_exit_fail_msg("listen: %s\n", strerror(errno));
	return fd;
}

/* Opens a connection through @l and returns both ends; checks whether it carries data. */
static bool connect_through(int l, int protocol, int end[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port_of(l)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char c;

	end[0] = make(protocol);
	if (connect(end[0], (struct sockaddr *)&a, sizeof(a)))
		return false;
	end[1] = accept(l, NULL, NULL);
	return end[1] >= 0 && send(end[0], "x", 1, 0) == 1 && recv(end[1], &c, 1, 0) == 1;
}

static void listener(int protocol, const char *name)
{
	int l = make_listener(protocol);
	int got = destroy(port_of(l), TCP_LISTEN);
	bool ended = accept(l, NULL, NULL) < 0 && errno == EINVAL;

	if (got || !ended)
		ksft_print_msg("answer %d, %s\n", got,
			       ended ? "the listener ended" : "the listener still listens");
	klog_result(!got && ended, name);
	close(l);
}

static void connection(int protocol, const char *name)
{
	int l = make_listener(protocol), end[2] = { -1, -1 }, got;
	bool ok = connect_through(l, protocol, end);
	char c;

	ok = ok && mode_of(end[0]) == (protocol == IPPROTO_SMC ? MODE_SMCD : MODE_TCP);
	got = destroy(port_of(end[0]), TCP_ESTABLISHED);
	ok = ok && got == 0;
	ok = ok && recv(end[0], &c, 1, 0) < 0 && errno == ECONNABORTED;
	ok = ok && recv(end[1], &c, 1, 0) < 0 && errno == ECONNRESET;
	if (!ok)
		ksft_print_msg("bpf_sock_destroy() returned %d, the last error is %s\n", got,
			       strerror(errno));
	klog_result(ok, name);
	close(end[0]);
	close(end[1]);
	close(l);
}

int main(void)
{
	bool there;

	ksft_print_header();
	ksft_set_plan(4);
	klog_open();
	there = find_functions();
	if (!there) {
		for (int i = 0; i < 4; i++)
			ksft_test_result_skip("bpf: this kernel has no bpf_sock_destroy\n");
		ksft_finished();
	}
	listener(IPPROTO_TCP, "bpf: bpf_sock_destroy() ends a TCP listener");
	listener(IPPROTO_SMC, "bpf: bpf_sock_destroy() ends an SMC listener");
	connection(IPPROTO_TCP, "bpf: bpf_sock_destroy() aborts a TCP connection");
	connection(IPPROTO_SMC, "bpf: bpf_sock_destroy() aborts an SMC connection");
	ksft_finished();
}
