// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs that see or decide what a socket does: of a cgroup, of a group of listeners, of a
 * network namespace. They are called as over TCP. What sees the packets of a device, sees those of
 * the handshake.
 */
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <linux/membarrier.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "bpf_insns.h"
#include "role.h"

#define N(array)	((int)(sizeof(array) / sizeof((array)[0])))

/* The first element of a map. */
static uint32_t get(int map)
{
	uint32_t key = 0, value;
	union bpf_attr attr = {
		.map_fd = map, .key = (uintptr_t)&key, .value = (uintptr_t)&value,
	};

	X(bpf_call(BPF_MAP_LOOKUP_ELEM, &attr));
	return value;
}

/* ---- programs of a cgroup ---- */

/* Counts its calls in the first element of @map, and allows everything. */
static void count_calls(int cgroup, int attach_type, int map)
{
	const struct bpf_insn insns[] = {
		STORE(10, -4, 0), MOVE(2, 10), ADD(2, -4), MAP_FD(1, map),
		CALL(BPF_FUNC_map_lookup_elem), IF(0, 0, 2), SET(1, 1), ADD_WORD(0, 1, 0),
		SET(0, 1), EXIT,
	};

	bpf_load_attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCK, attach_type, insns, N(insns));
}

/* Denies port 1236 once it has been chosen. */
static void deny_port(int cgroup)
{
	const size_t at = offsetof(struct bpf_sock, src_port);
	const struct bpf_insn insns[] = {
		LOAD_WORD(2, 1, at), SET(0, 1), UNLESS(2, 1236, 1), SET(0, 0), EXIT,
	};

	bpf_load_attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCK,
			me.var->ipv6 ? BPF_CGROUP_INET6_POST_BIND : BPF_CGROUP_INET4_POST_BIND,
			insns, N(insns));
}

/* Denies setting, or reading, TCP_CORK. */
static void deny_cork(int cgroup, int attach_type)
{
	const struct bpf_insn insns[] = {
		LOAD_WORD(2, 1, offsetof(struct bpf_sockopt, optname)), SET(0, 1),
		UNLESS(2, TCP_CORK, 1), SET(0, 0), EXIT,
	};

	bpf_load_attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCKOPT, attach_type, insns, N(insns));
}

/* Shows another port. */
static void show_port(int cgroup, int attach_type, int port)
{
	const struct bpf_insn insns[] = {
		SET(2, htons(port)), STORE_WORD(1, 2, offsetof(struct bpf_sock_addr, user_port)),
		SET(0, 1), EXIT,
	};

	bpf_load_attach(cgroup, BPF_PROG_TYPE_CGROUP_SOCK_ADDR, attach_type, insns, N(insns));
}

static void cgroup_rest_server(void)
{
	int l = serve();

	ping_pong(accept_one(l));
	barrier("done");
}

static void cgroup_rest_client(void)
{
	bool v6 = me.var->ipv6;
	int port = ctl_get(), cgroup = own_cgroup(), fd;
	int made = bpf_map(BPF_MAP_TYPE_ARRAY, 1), ended = bpf_map(BPF_MAP_TYPE_ARRAY, 1);
	struct addr bad = loopback(1236), near, far;

	count_calls(cgroup, BPF_CGROUP_INET_SOCK_CREATE, made);
	count_calls(cgroup, BPF_CGROUP_INET_SOCK_RELEASE, ended);
	deny_port(cgroup);
	deny_cork(cgroup, BPF_CGROUP_SETSOCKOPT);
	deny_cork(cgroup, BPF_CGROUP_GETSOCKOPT);
	show_port(cgroup, v6 ? BPF_CGROUP_INET6_GETSOCKNAME : BPF_CGROUP_INET4_GETSOCKNAME, 4321);
	show_port(cgroup, v6 ? BPF_CGROUP_INET6_GETPEERNAME : BPF_CGROUP_INET4_GETPEERNAME, 1234);
	fd = make_socket(0);
	R(bind(fd, &bad.sa, bad.len));
	close(fd);
	fd = connect_to(port, 0);
	R(set_int(fd, IPPROTO_TCP, TCP_CORK, 1));
	R(get_int(fd, IPPROTO_TCP, TCP_CORK));
	R(set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1));
	R(get_int(fd, IPPROTO_TCP, TCP_NODELAY));
	near.len = sizeof(near.ss);
	far.len = sizeof(far.ss);
	X(getsockname(fd, &near.sa, &near.len));
	X(getpeername(fd, &far.sa, &far.len));
	rec("ports %d and %d", addr_port(&near), addr_port(&far));
	ping_pong(fd);
	barrier("done");
	close(fd);
	rec("%u made, %u ended", get(made), get(ended));
}

/* ---- a program chooses among listeners that share a port ---- */

static void select_reuseport_server(void)
{
	int map = bpf_map(BPF_MAP_TYPE_REUSEPORT_SOCKARRAY, 2), l[2], prog, refused = 0, fd;
	const struct bpf_insn insns[] = {
		STORE(10, -4, 1), MOVE(3, 10), ADD(3, -4), MAP_FD(2, map), SET(4, 0),
		CALL(BPF_FUNC_sk_select_reuseport), SET(0, SK_PASS), EXIT,
	};
	struct addr a = loopback(0);

	for (int i = 0; i < 2; i++) {
		uint64_t value;

		l[i] = make_socket(0);
		X(set_int(l[i], SOL_SOCKET, SO_REUSEPORT, 1));
		X(bind(l[i], &a.sa, a.len));
		X(listen(l[i], 10));
		a = name_of(l[i]);
		value = l[i];
		refused += bpf_map_put(map, i, value) < 0;
	}
	rec("%d refused", refused);
	prog = bpf_program(BPF_PROG_TYPE_SK_REUSEPORT, BPF_SK_REUSEPORT_SELECT, insns, N(insns));
	R(setsockopt(l[0], SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF, &prog, sizeof(prog)));
	ctl_put(addr_port(&a));
	barrier("connected");
	await_mask(l[1], POLLIN);
	rec("first %s", mask_name(poll_mask(l[0], POLLIN)));
	fd = X(accept(l[1], NULL, NULL));
	ping_pong(fd);
	check_mode(fd);
	barrier("done");
}

static void select_reuseport_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(0);

	X(connect(fd, &a.sa, a.len));
	barrier("connected");
	ping_pong(fd);
	check_mode(fd);
	barrier("done");
}

/* ---- a listener is closed, and its connections go to another one of the group ---- */

static int shared_listener(int protocol, struct addr *a)
{
	int l = X(socket(me.var->ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM, protocol));

	X(set_int(l, SOL_SOCKET, SO_REUSEPORT, 1));
	X(bind(l, &a->sa, a->len));
	X(listen(l, 10));
	*a = name_of(l);
	return l;
}

static void set_tcp(const char *name, int value)
{
	char path[100];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/tcp_%s", name);
	file = fopen(path, "w");
	CHECK(file);
	fprintf(file, "%d", value);
	CHECK(!fclose(file));
}

static bool is_smc(void)
{
	return me.kind.protocol != IPPROTO_TCP;
}

/*
 * By a program; by the setting of the namespace; children of SYN cookies, whose requests have no
 * reference to the listener; a child whose data had to be waited for (TCP_DEFER_ACCEPT), and which
 * gets more before it is accepted; to a listener that cannot have an SMC child.
 */
enum { BY_PROGRAM, BY_SETTING, COOKIES, DEFERRED, TO_TCP, ROUNDS };

static int children(int round)
{
	return round == DEFERRED ? 1 : 2;
}

/* A cookie does not record that the SYN had the option, so such a connection may be TCP. */
static void check_child(int fd, int round)
{
	if (round != COOKIES)
		check_mode(fd);
}

static void migrate_server(int round)
{
	int prog = bpf_program(BPF_PROG_TYPE_SK_REUSEPORT, BPF_SK_REUSEPORT_SELECT_OR_MIGRATE,
			       (struct bpf_insn[]){ SET(0, SK_PASS), EXIT }, 2);
	int protocol = is_smc() ? IPPROTO_SMC : IPPROTO_TCP, l, other, fds[2];
	struct addr a = loopback(0);

	l = shared_listener(protocol, &a);
	if (round != BY_SETTING)
		X(setsockopt(l, SOL_SOCKET, SO_ATTACH_REUSEPORT_EBPF, &prog, sizeof(prog)));
	if (round == DEFERRED)
		X(set_int(l, IPPROTO_TCP, TCP_DEFER_ACCEPT, 10));
	ctl_put(addr_port(&a));
	barrier("connected");
	await_mask(l, POLLIN);
	other = shared_listener(round == TO_TCP ? IPPROTO_TCP : protocol, &a);
	close(l);
	/* Waits for a grace period, after which nothing may refer to the former listener. */
	X(syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0));
	if (round == TO_TCP) {
		barrier("closed");
	} else {
		barrier("moved");
		barrier("sent");
		for (int i = 0; i < children(round); i++)
			fds[i] = X(accept(other, NULL, NULL));
		barrier("closed");
		for (int i = 0; i < children(round); i++) {
			if (round == DEFERRED)
				recv_bytes(fds[i], 0, 2, 2);
			check_child(fds[i], round);
			ping_pong(fds[i]);
		}
		rec("poll %s", mask_name(poll_mask(other, POLLIN)));
	}
	close(other);
	close(prog);
}

static void migrate_client(int round)
{
	struct addr a = loopback(ctl_get());
	int fds[2];

	for (int i = 0; i < children(round); i++) {
		fds[i] = make_socket(0);
		X(connect(fds[i], &a.sa, a.len));
		if (round == DEFERRED)
			send_bytes(fds[i], 0, 1, 1);
		check_child(fds[i], round);
	}
	barrier("connected");
	if (round != TO_TCP) {
		barrier("moved");
		if (round == DEFERRED)
			send_bytes(fds[0], 1, 1, 1);
		barrier("sent");
	}
	barrier("closed");
	for (int i = 0; i < children(round); i++) {
		if (round != TO_TCP)
			ping_pong(fds[i]);
		else if (me.var->smc)
			await_mask(fds[i], POLLHUP);
		close(fds[i]);
	}
}

static void migrate_reuseport(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		if (me.is_server) {
			set_tcp("migrate_req", round == BY_SETTING);
			set_tcp("syncookies", round == COOKIES ? 2 : 1);
			migrate_server(round);
			continue;
		}
		migrate_client(round);
	}
}

/* A request to a listener of plain TCP, which answered without the option, goes to another one. */
static void migrate_request_server(void)
{
	struct addr a = loopback(0);
	int l = shared_listener(IPPROTO_TCP, &a), other, fd;

	set_tcp("migrate_req", 1);
	/* Until there is data, no child comes of the request. */
	X(set_int(l, IPPROTO_TCP, TCP_DEFER_ACCEPT, 10));
	ctl_put(addr_port(&a));
	barrier("connected");
	other = shared_listener(is_smc() ? IPPROTO_SMC : IPPROTO_TCP, &a);
	close(l);
	barrier("closed");
	fd = X(accept(other, NULL, NULL));
	recv_bytes(fd, 0, 10, 10);
	send_bytes(fd, 0, 10, 10);
	CHECK(!is_smc() || smc_mode(fd) == MODE_TCP);
	barrier("done");
	set_tcp("migrate_req", 0);
}

static void migrate_request_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(0);

	X(connect(fd, &a.sa, a.len));
	barrier("connected");
	barrier("closed");
	send_bytes(fd, 0, 10, 10);
	recv_bytes(fd, 0, 10, 10);
	barrier("done");
}

/* ---- a program of the namespace decides which listener gets a SYN ---- */

static void lookup_dropped_server(void)
{
	int l = listen_on(5), prog, link;
	struct addr a = name_of(l);
	const struct bpf_insn insns[] = {
		LOAD_WORD(2, 1, offsetof(struct bpf_sk_lookup, local_port)), SET(0, SK_PASS),
		UNLESS(2, addr_port(&a), 1), SET(0, SK_DROP), EXIT,
	};
	union bpf_attr attr = { 0 };

	prog = bpf_program(BPF_PROG_TYPE_SK_LOOKUP, BPF_SK_LOOKUP, insns, N(insns));
	attr.link_create.prog_fd = prog;
	attr.link_create.target_fd = X(open("/proc/self/ns/net", O_RDONLY));
	attr.link_create.attach_type = BPF_SK_LOOKUP;
	link = R(bpf_call(BPF_LINK_CREATE, &attr) >= 0) ? 1 : 0;
	CHECK(link);
	ctl_put(addr_port(&a));
	barrier("refused");
	rec("poll %s", mask_name(poll_mask(l, POLLIN)));
	barrier("done");
}

static void lookup_dropped_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(0);

	R(connect(fd, &a.sa, a.len));
	barrier("refused");
	barrier("done");
}

/*
 * ---- what sees packets ----
 *
 * A packet socket sees what the programs of a device see (BPF_XDP, BPF_XDP_DEVMAP, BPF_XDP_CPUMAP,
 * BPF_TCX_INGRESS, BPF_TCX_EGRESS, BPF_NETKIT_PRIMARY, BPF_NETKIT_PEER, BPF_FLOW_DISSECTOR), rules
 * of netfilter (BPF_NETFILTER), and tc, for which the cgroup controllers net_cls and net_prio label
 * packets.
 */
#define VOLUME	100000

static int packet_socket(void)
{
	struct sockaddr_ll lo = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int fd = X(socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK, 0));

	lo.sll_ifindex = X(if_nametoindex("lo"));
	X(set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20));
	X(bind(fd, (void *)&lo, sizeof(lo)));
	return fd;
}

/* The bytes of TCP's data in a packet from or to this port. */
static size_t payload(const char *packet, size_t len, int port)
{
	const struct iphdr *v4 = (const void *)packet;
	size_t header = v4->version == 4 ? v4->ihl * 4 : sizeof(struct ip6_hdr);
	const struct tcphdr *tcp = (const void *)(packet + header);

	if (len < header + sizeof(*tcp) || (ntohs(tcp->source) != port && ntohs(tcp->dest) != port))
		return 0;
	return len - header - tcp->doff * 4;
}

static size_t seen(int fd, int port)
{
	static char packet[70000];
	size_t total = 0;
	ssize_t n;

	while ((n = recv(fd, packet, sizeof(packet), 0)) > 0)
		total += payload(packet, n, port);
	return total;
}

static void packets_seen_server(void)
{
	int l = serve(), fd = accept_one(l);

	ping_pong(fd);
	recv_bytes(fd, 0, VOLUME, VOLUME);
	barrier("received");
	barrier("done");
}

static void packets_seen_client(void)
{
	int port = ctl_get(), packets = packet_socket(), fd = connect_to(port, 0);
	size_t bytes;

	ping_pong(fd);
	seen(packets, port);
	send_bytes(fd, 0, VOLUME, VOLUME);
	barrier("received");
	bytes = seen(packets, port);
	CHECK(smc_mode(fd) == MODE_TCP ? bytes >= VOLUME : !bytes);
	barrier("done");
}

const struct test_case hooks_cases[] = {
	CASE(cgroup_rest, F_ROOT | F_HERE, "the other BPF programs of a cgroup"),
	CASE(select_reuseport, F_ROOT | F_HERE, "a BPF program chooses among listeners"),
	BOTH(migrate_reuseport, F_ROOT | F_HERE, "a closed listener's connections go to another one"),
	CASE(migrate_request, F_ROOT | F_HERE, "a request goes from a TCP listener to another one"),
	CASE(lookup_dropped, F_ROOT | F_HERE, "BPF_SK_LOOKUP drops a SYN"),
	CASE(packets_seen, F_ROOT | F_HERE, "no packet has the data of an SMC connection"),
	{ 0 }
};
