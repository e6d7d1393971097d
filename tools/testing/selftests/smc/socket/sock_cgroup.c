// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs of a cgroup that see packets (cgroup_skb) or what TCP does (sock_ops). While one
 * filters, counts or watches packets, the connection is TCP.
 */
#include <linux/smc_reason.h>
#include <linux/tcp.h>
#include <stddef.h>

#include "bpf_insns.h"
#include "role.h"

static void check_why(int fd, bool ours, unsigned int reason)
{
	if (me.any_mode || me.kind.protocol == IPPROTO_TCP)
		return;
	AWAIT(smc_mode(fd) != MODE_UNDECIDED);
	CHECK(smc_mode(fd) == MODE_TCP);
	if (ours && smc_reason(fd) != reason)
		die("the reason is 0x%08x", smc_reason(fd));
}

/* ---- cgroup_skb ---- */

static void detach(int cgroup, int type)
{
	union bpf_attr attr = { .target_fd = cgroup, .attach_type = type };

	X(bpf_call(BPF_PROG_DETACH, &attr));
}

static void pass_all(int cgroup, int type)
{
	bpf_load_attach(cgroup, BPF_PROG_TYPE_CGROUP_SKB, type,
			(const struct bpf_insn[]){ SET(0, 1), EXIT }, 2);
}

/* Drops what goes to this port (egress), or comes from it (ingress). */
static void drop_port(int cgroup, int type, int port)
{
	int at = (me.var->ipv6 ? 40 : 20) + (type == BPF_CGROUP_INET_EGRESS ? 2 : 0);
	const struct bpf_insn insns[] = {
		STORE(10, -4, 0),
		SET(2, at), MOVE(3, 10), ADD(3, -4), SET(4, 2), CALL(BPF_FUNC_skb_load_bytes),
		LOAD_HALF(2, 10, -4), SET(0, 1), UNLESS(2, htons(port), 1), SET(0, 0), EXIT,
	};

	bpf_load_attach(cgroup, BPF_PROG_TYPE_CGROUP_SKB, type, insns, 11);
}

/*
 * What one end does while the other has no program: a connection without one, which stays what it
 * is when the program comes; one with it; and one after it has gone.
 */
static void with_program_server(bool ours, int type)
{
	int cgroup = ours ? own_cgroup() : -1, l = serve(), first, fd;

	first = accept_one(l);
	if (ours)
		pass_all(cgroup, type);
	barrier("attached");
	ping_pong(first);
	check_mode(first);
	fd = X(accept(l, NULL, NULL));
	check_why(fd, ours, SMC_REASON_CGROUP_BPF);
	ping_pong(fd);
	if (ours)
		detach(cgroup, type);
	barrier("detached");
	ping_pong(accept_one(l));
	barrier("done");
}

static void with_program_client(bool ours, int type)
{
	int cgroup = ours ? own_cgroup() : -1, port = ctl_get(), first = connect_to(port, 0), fd;

	if (ours)
		pass_all(cgroup, type);
	barrier("attached");
	ping_pong(first);
	check_mode(first);
	fd = connect_any(port);
	check_why(fd, ours, SMC_REASON_CGROUP_BPF);
	ping_pong(fd);
	if (ours)
		detach(cgroup, type);
	barrier("detached");
	ping_pong(connect_to(port, 0));
	barrier("done");
}

static void egress_server(void)
{
	with_program_server(false, 0);
}

static void egress_client(void)
{
	with_program_client(true, BPF_CGROUP_INET_EGRESS);
}

static void ingress_server(void)
{
	with_program_server(true, BPF_CGROUP_INET_INGRESS);
}

static void ingress_client(void)
{
	with_program_client(false, 0);
}

/* As IPAddressDeny= does it. */
static void denied_server(void)
{
	int cgroup = own_cgroup(), l = serve();

	drop_port(cgroup, BPF_CGROUP_INET_INGRESS, ctl_get());
	barrier("set");
	barrier("refused");
	ping_pong(X(accept(l, NULL, NULL)));
	rec("another one %s", mask_name(poll_mask(l, POLLIN)));
	barrier("done");
}

static int bound(void)
{
	struct addr a = loopback(0);
	int fd = make_socket(0);

	X(bind(fd, &a.sa, a.len));
	X(set_int(fd, IPPROTO_TCP, TCP_SYNCNT, 1));
	return fd;
}

static void denied_client(void)
{
	int cgroup = own_cgroup(), port = ctl_get(), from_here = bound(), fd;
	struct addr a = loopback(port), here = name_of(from_here);

	ctl_put(addr_port(&here));
	barrier("set");
	/* The server's program drops it. */
	R(connect(from_here, &a.sa, a.len));
	/* This program drops it. */
	drop_port(cgroup, BPF_CGROUP_INET_EGRESS, port);
	fd = bound();
	R(connect(fd, &a.sa, a.len));
	detach(cgroup, BPF_CGROUP_INET_EGRESS);
	barrier("refused");
	ping_pong(connect_any(port));
	barrier("done");
}

/* ---- sock_ops ---- */

static void sock_ops(int cgroup, const struct bpf_insn *insns, int n)
{
	bpf_load_attach(cgroup, BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS, insns, n);
}

/* Sets an option of the socket when the connection is established. */
static void set_when_established(int cgroup, int level, int opt, int value)
{
	const struct bpf_insn insns[] = {
		LOAD_WORD(2, 1, offsetof(struct bpf_sock_ops, op)),
		IF(2, BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB, 1),
		UNLESS(2, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB, 7),
		STORE(10, -4, value),
		SET(2, level), SET(3, opt), MOVE(4, 10), ADD(4, -4), SET(5, 4),
		CALL(BPF_FUNC_setsockopt),
		SET(0, 1), EXIT,
	};

	sock_ops(cgroup, insns, 12);
}

/* Asks for further calls when the connection is established. */
static void watch_when_established(int cgroup, int flags)
{
	const struct bpf_insn insns[] = {
		LOAD_WORD(2, 1, offsetof(struct bpf_sock_ops, op)),
		IF(2, BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB, 1),
		UNLESS(2, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB, 2),
		SET(2, flags), CALL(BPF_FUNC_sock_ops_cb_flags_set),
		SET(0, 1), EXIT,
	};

	sock_ops(cgroup, insns, 7);
}

static void established(int cgroup, int round)
{
	switch (round) {
	case 0:		/* what SMC does not care about */
		set_when_established(cgroup, SOL_SOCKET, SO_PRIORITY, 3);
		break;
	case 1:
		watch_when_established(cgroup, BPF_SOCK_OPS_STATE_CB_FLAG);
		break;
	case 2:
		set_when_established(cgroup, SOL_SOCKET, SO_MAX_PACING_RATE, 10000000);
		break;
	case 3:
		watch_when_established(cgroup, BPF_SOCK_OPS_RTT_CB_FLAG);
	}
}

enum { ROUNDS = 4 };

/* The program runs after the SYN, so a plain peer is why the connection is TCP. */
static void check_round(int fd, int round, bool ours)
{
	if (round < 2)
		check_mode(fd);
	else
		check_why(fd, ours && me.var->smc, round == 2 ? SMC_REASON_PACKET_OPTION : SMC_REASON_CGROUP_BPF);
	if (ours && !round)
		R(get_int(fd, SOL_SOCKET, SO_PRIORITY));
	ping_pong(fd);
}

static void sock_ops_server(bool ours)
{
	int cgroup = ours ? own_cgroup() : -1, l = serve();

	for (int i = 0; i < ROUNDS; i++) {
		int fd;

		if (ours)
			established(cgroup, i);
		barrier("attached");
		fd = X(accept(l, NULL, NULL));
		check_round(fd, i, ours);
		barrier("next");
		close(fd);
	}
}

static void sock_ops_client(bool ours)
{
	int cgroup = ours ? own_cgroup() : -1, port = ctl_get();

	for (int i = 0; i < ROUNDS; i++) {
		int fd;

		if (ours)
			established(cgroup, i);
		barrier("attached");
		fd = connect_any(port);
		check_round(fd, i, ours);
		barrier("next");
		close(fd);
	}
}

static void active_established_server(void)
{
	sock_ops_server(false);
}

static void active_established_client(void)
{
	sock_ops_client(true);
}

static void passive_established_server(void)
{
	sock_ops_server(true);
}

static void passive_established_client(void)
{
	sock_ops_client(false);
}

/* ---- how often TCP calls a program ---- */

enum { OPS = 16 };

static void count_ops(int cgroup, int map)
{
	const struct bpf_insn insns[] = {
		LOAD_WORD(2, 1, offsetof(struct bpf_sock_ops, op)),
		STORE_WORD(10, 2, -4),
		{ BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map }, { },
		MOVE(2, 10), ADD(2, -4), CALL(BPF_FUNC_map_lookup_elem),
		IF(0, 0, 2),
		SET(1, 1),
		{ BPF_STX | BPF_ATOMIC | BPF_W, 0, 1, 0, BPF_ADD },
		SET(0, 1), EXIT,
	};

	sock_ops(cgroup, insns, 12);
}

static int calls(int map, uint32_t op)
{
	uint32_t value = 0;
	union bpf_attr attr = {
		.map_fd = map, .key = (uintptr_t)&op, .value = (uintptr_t)&value,
	};

	X(bpf_call(BPF_MAP_LOOKUP_ELEM, &attr));
	return value;
}

static void rec_calls(int map)
{
	rec("connect %d, active %d, passive %d, listen %d", calls(map, BPF_SOCK_OPS_TCP_CONNECT_CB),
	    calls(map, BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB),
	    calls(map, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB), calls(map, BPF_SOCK_OPS_TCP_LISTEN_CB));
}

static void sock_ops_called_server(void)
{
	int cgroup = own_cgroup(), map = bpf_map(BPF_MAP_TYPE_ARRAY, OPS), l, fd;

	count_ops(cgroup, map);
	l = serve();
	fd = accept_one(l);
	ping_pong(fd);
	rec_calls(map);
	barrier("done");
}

static void sock_ops_called_client(void)
{
	int cgroup = own_cgroup(), map = bpf_map(BPF_MAP_TYPE_ARRAY, OPS), fd;

	count_ops(cgroup, map);
	fd = connect_to(ctl_get(), 0);
	ping_pong(fd);
	rec_calls(map);
	barrier("done");
}

const struct test_case cgroup_cases[] = {
	CASE(egress, F_ROOT | F_HERE, "BPF_CGROUP_INET_EGRESS keeps a client on TCP"),
	CASE(ingress, F_ROOT | F_HERE, "BPF_CGROUP_INET_INGRESS keeps a server on TCP"),
	CASE(denied, F_ROOT | F_HERE, "programs that drop a peer's packets keep it out"),
	CASE(active_established, F_ROOT | F_HERE, "a sock_ops program of the client sets options"),
	CASE(passive_established, F_ROOT | F_HERE, "a sock_ops program of the server sets options"),
	CASE(sock_ops_called, F_ROOT | F_HERE, "what TCP tells a sock_ops program"),
	{ 0 }
};
