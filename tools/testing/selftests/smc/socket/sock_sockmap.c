// SPDX-License-Identifier: GPL-2.0
/*
 * Sockmaps replace the proto of a socket. They refuse a socket that is SMC or may become SMC, and
 * support one that is plain TCP in full. So no program of a sockmap (BPF_SK_SKB_STREAM_PARSER,
 * BPF_SK_SKB_STREAM_VERDICT, BPF_SK_SKB_VERDICT, BPF_SK_MSG_VERDICT) ever sees a connection that is
 * SMC.
 */
#include <linux/kcm.h>
#include <sys/ioctl.h>

#include "role.h"

static int take_out(int map, uint32_t key)
{
	union bpf_attr attr = { .map_fd = map, .key = (uintptr_t)&key };

	return bpf_call(BPF_MAP_DELETE_ELEM, &attr);
}

/* A BPF program that passes everything, through the queue that the map gives a socket. */
static void attach_pass(int map)
{
	bpf_attach(map, bpf_returns(BPF_PROG_TYPE_SK_SKB, SK_PASS), BPF_SK_SKB_STREAM_VERDICT);
}

/* Both kinds of map, and what they return for a socket that they do not hold. */
static void refused_by_maps(int fd)
{
	int maps[] = { bpf_map(BPF_MAP_TYPE_SOCKMAP, 4), bpf_map(BPF_MAP_TYPE_SOCKHASH, 4) };

	for (int i = 0; i < 2; i++) {
		CHECK(bpf_map_put(maps[i], i, fd) < 0);
		/* The socket is in use by SMC, or not in a state for maps. */
		CHECK(errno == EOPNOTSUPP || errno == EBUSY);
		CHECK(take_out(maps[i], i) < 0);
		close(maps[i]);
	}
}

static bool may_be_smc(int fd)
{
	return me.kind.protocol != IPPROTO_TCP && smc_mode(fd) != MODE_TCP;
}

static void sockmap_refuses_server(void)
{
	int l = serve(), fd;

	refused_by_maps(make_socket(0));
	if (me.kind.protocol != IPPROTO_TCP)
		refused_by_maps(l);
	fd = accept_one(l);
	if (may_be_smc(fd))
		refused_by_maps(fd);
	ping_pong(fd);
	barrier("done");
}

static void sockmap_refuses_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(0);

	refused_by_maps(fd);
	X(connect(fd, &a.sa, a.len));
	check_mode(fd);
	if (may_be_smc(fd))
		refused_by_maps(fd);
	ping_pong(fd);
	barrier("done");
}

/* The peer has offered SMC but does not continue the handshake. */
static void sockmap_handshake_server(void)
{
	struct addr a = loopback(0);
	int l = make_socket(0), fd, tmp;

	X(bind(l, &a.sa, a.len));
	if (me.var->smc)
		X(set_int(l, SOL_SMC, SMC_TEST_RAW_CLC, 1));
	X(listen(l, 5));
	tell_port(l);
	fd = X(accept(l, NULL, NULL));
	barrier("tried");
	tmp = recv(fd, &a, sizeof(a), me.var->smc ? 0 : MSG_DONTWAIT);
	CHECK(!me.var->smc || tmp > 0);
	close(fd);
	barrier("done");
}

static void sockmap_handshake_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(SOCK_NONBLOCK);

	CHECK(!connect(fd, &a.sa, a.len) || errno == EINPROGRESS);
	if (me.var->smc) {
		CHECK(smc_mode(fd) == MODE_UNDECIDED);
		refused_by_maps(fd);
		CHECK(smc_mode(fd) == MODE_UNDECIDED);
	}
	barrier("tried");
	barrier("done");
	await_mask(fd, POLLIN);
}

/* A blocking socket in a map returns EAGAIN if another reader takes the data. */
static void recv_patiently(int fd, uint64_t pos, size_t len)
{
	char buf[9000];
	size_t got = 0;
	ssize_t n;

	while (got < len) {
		await_mask(fd, POLLIN);
		n = recv(fd, buf, sizeof(buf), 0);
		CHECK(n > 0 || errno == EAGAIN);
		if (n <= 0)
			continue;
		verify(buf, n, pos + got);
		got += n;
	}
}

/* Data in the SYN makes it plain TCP, in all variants. */
static void through_map(int fd)
{
	int map = bpf_map(BPF_MAP_TYPE_SOCKMAP, 4), hash = bpf_map(BPF_MAP_TYPE_SOCKHASH, 4);

	attach_pass(map);
	R(bpf_map_put(map, 1, fd));
	R(bpf_map_put(hash, 7, fd));
	barrier("in the map");
	if (me.is_server) {
		recv_patiently(fd, 10, 100000);
		send_bytes(fd, 0, 100000, 9000);
	} else {
		send_bytes(fd, 10, 100000, 9000);
		recv_patiently(fd, 0, 100000);
	}
	R(take_out(hash, 7));
	R(take_out(map, 1));
	R(take_out(map, 1));
	barrier("out of it");
	ping_pong(fd);
	close(map);
	close(hash);
}

static void sockmap_fallback_server(void)
{
	int l = serve(), fd = accept_fallback(l);

	through_map(fd);
	barrier("disconnected");
	close(fd);
	fd = accept_one(l);
	ping_pong(fd);
	barrier("end");
}

static void sockmap_fallback_client(void)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fd = make_socket(0), port = ctl_get(), hash;
	struct addr a = loopback(port);

	connect_fallback(fd, port);
	through_map(fd);
	hash = bpf_map(BPF_MAP_TYPE_SOCKHASH, 4);
	R(bpf_map_put(hash, 7, fd));
	R(connect(fd, &none, sizeof(none)));
	barrier("disconnected");
	/* While the socket is in the map it is TCP, and cannot be an SMC listener. */
	if (me.kind.protocol != IPPROTO_TCP && !me.any_mode)
		CHECK(listen(fd, 1) < 0 && errno == EINVAL);
	R(take_out(hash, 7));
	X(connect(fd, &a.sa, a.len));
	check_mode(fd);
	ping_pong(fd);
	barrier("end");
}

/* The kernel connection multiplexor (KCM) reads TCP's own queue. */
static int attach_kcm(int fd)
{
	struct kcm_attach info = {
		.fd = fd,
		.bpf_fd = bpf_returns(BPF_PROG_TYPE_SOCKET_FILTER, 1),
	};
	int kcm = socket(AF_KCM, SOCK_DGRAM, KCMPROTO_CONNECTED), rc;

	/* Not every kernel has KCM. */
	if (kcm < 0)
		return -1;
	rc = ioctl(kcm, SIOCKCMATTACH, &info) < 0 ? errno : 0;
	close(kcm);
	close(info.bpf_fd);
	return rc;
}

static void kcm_server(void)
{
	int l = serve(), fd = accept_one(l), rc;

	barrier("connected");
	ping_pong(fd);
	rc = attach_kcm(fd);
	if (me.var->smc && !me.any_mode)
		CHECK(rc == -1 || rc == EALREADY);
	else
		CHECK(rc == -1 || rc == 0);
	if (me.var->smc && !me.any_mode)
		ping_pong(fd);
	barrier("done");
}

static void kcm_client(void)
{
	int fd = connect_to(ctl_get(), 0);

	barrier("connected");
	ping_pong(fd);
	if (me.var->smc && !me.any_mode)
		ping_pong(fd);
	barrier("done");
}

const struct test_case sockmap_cases[] = {
	CASE(sockmap_refuses, F_ROOT, "a sockmap refuses a connection that may be SMC"),
	CASE(sockmap_handshake, F_ROOT, "a sockmap refuses a connection during the handshake"),
	CASE(sockmap_fallback, F_ROOT, "a sockmap accepts a connection that is plain TCP"),
	CASE(kcm, F_ROOT, "KCM refuses a connection that may be SMC"),
	{ 0 }
};
