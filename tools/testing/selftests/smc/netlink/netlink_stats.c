// SPDX-License-Identifier: GPL-2.0
/* smc_netlink_test: counters. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netlink_test.h"

/* The SMC-D counters that a test checks. */
struct stats {
	uint64_t tx_bytes, rx_bytes, tx_calls, rx_calls;
	uint64_t tx_sizes[9], rx_sizes[9], rx_bufs[9];
	uint64_t clients, servers, nodelay, cork;
	uint64_t tx_full, tx_full_peer, tx_small, rx_full, rx_small, found;
	uint64_t client_errors, server_errors, moved, again;
	unsigned int in_use;
};

static uint64_t number(const uint8_t *attrs, size_t len, uint16_t type)
{
	uint64_t value = 0;
	size_t n;
	const uint8_t *data = find_attr(attrs, len, type, &n);

	if (!data || n != sizeof(value))
		give_up("counter %u is missing or does not have eight bytes", type);
	memcpy(&value, data, n);
	return value;
}

static void sizes(const uint8_t *attrs, size_t len, uint16_t type, uint64_t to[9])
{
	size_t n;
	const uint8_t *nest = find_attr(attrs, len, type, &n);

	for (int i = 0; i < 9; i++)
		to[i] = number(nest, n, SMC_NLA_STATS_PLOAD_8K + i);
}

static bool get_stats(struct stats *s)
{
	const uint8_t *top, *d, *bufs;
	size_t len, n, m;

	top = only_nest(SMC_NETLINK_GET_STATS, SMC_GEN_STATS, &len);
	if (!top)
		return false;
	if (!find_attr(top, len, SMC_NLA_STATS_SMCR_TECH, &n))
		return BAD("no counters of SMC-R");
	s->client_errors = number(top, len, SMC_NLA_STATS_CLNT_HS_ERR_CNT);
	s->server_errors = number(top, len, SMC_NLA_STATS_SRV_HS_ERR_CNT);
	s->moved = number(top, len, SMC_NLA_STATS_CONNS_MOVED);
	s->again = number(top, len, SMC_NLA_STATS_BYTES_AGAIN);
	d = find_attr(top, len, SMC_NLA_STATS_SMCD_TECH, &n);
	if (!d)
		return BAD("no counters of SMC-D");
	s->tx_bytes = number(d, n, SMC_NLA_STATS_T_TX_BYTES);
	s->rx_bytes = number(d, n, SMC_NLA_STATS_T_RX_BYTES);
	s->tx_calls = number(d, n, SMC_NLA_STATS_T_TX_CNT);
	s->rx_calls = number(d, n, SMC_NLA_STATS_T_RX_CNT);
	s->clients = number(d, n, SMC_NLA_STATS_T_CLNT_V2_SUCC);
	s->servers = number(d, n, SMC_NLA_STATS_T_SRV_V2_SUCC);
	s->nodelay = number(d, n, SMC_NLA_STATS_T_NDLY_CNT);
	s->cork = number(d, n, SMC_NLA_STATS_T_CORK_CNT);
	sizes(d, n, SMC_NLA_STATS_T_TXPLOAD_SIZE, s->tx_sizes);
	sizes(d, n, SMC_NLA_STATS_T_RXPLOAD_SIZE, s->rx_sizes);
	sizes(d, n, SMC_NLA_STATS_T_RX_RMB_SIZE, s->rx_bufs);
	if (!has_u32(d, n, SMC_NLA_STATS_T_RX_RMB_USAGE, &s->in_use))
		return BAD("no counter of buffers in use");
	bufs = find_attr(d, n, SMC_NLA_STATS_T_TX_RMB_STATS, &m);
	s->tx_full = number(bufs, m, SMC_NLA_STATS_RMB_FULL_CNT);
	s->tx_full_peer = number(bufs, m, SMC_NLA_STATS_RMB_FULL_PEER_CNT);
	s->tx_small = number(bufs, m, SMC_NLA_STATS_RMB_SIZE_SM_CNT);
	bufs = find_attr(d, n, SMC_NLA_STATS_T_RX_RMB_STATS, &m);
	s->rx_full = number(bufs, m, SMC_NLA_STATS_RMB_FULL_CNT);
	s->rx_small = number(bufs, m, SMC_NLA_STATS_RMB_SIZE_SM_CNT);
	s->found = number(bufs, m, SMC_NLA_STATS_RMB_REUSE_CNT) +
		   number(bufs, m, SMC_NLA_STATS_RMB_ALLOC_CNT);
	return true;
}

#define GREW(a, b, member, by)						\
	((b).member - (a).member == (by) ||				\
	 BAD(#member " grew by %llu, not %llu",				\
	     (unsigned long long)((b).member - (a).member), (unsigned long long)(by)))

/* Sends this much in one call, and receives it in one. */
static bool pass(int from, int to, size_t len)
{
	static char room[1 << 20];
	size_t got = 0;

	if (send(from, room, len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len)
		return BAD("cannot send %zu bytes at once", len);
	while (got < len) {
		ssize_t n = recv(to, room, len - got, MSG_WAITALL);

		if (n <= 0)
			return BAD("cannot receive");
		got += n;
	}
	return true;
}

bool stats_of_data(void)
{
	struct stats a, b, c, d;
	struct link l;
	bool ok;

	if (!get_stats(&a))
		return false;
	l = connected();
	ok = is_mode(l, SMC_DIAG_MODE_SMCD) && get_stats(&b);
	/* is_mode() has sent a byte each way */
	ok = ok && GREW(a, b, clients, 1) && GREW(a, b, servers, 1) && GREW(a, b, found, 2) &&
	     GREW(a, b, tx_bytes, 2) && GREW(a, b, rx_bytes, 2) && GREW(a, b, tx_calls, 2) &&
	     GREW(a, b, rx_calls, 2) && GREW(a, b, in_use, 2 * 16384) &&
	     GREW(a, b, rx_bufs[1], 2);
	for (int i = 0; ok && i < 10; i++)
		ok = pass(l.client, l.server, 100);
	ok = ok && pass(l.server, l.client, 8192) && pass(l.server, l.client, 8193) &&
	     pass(l.client, l.server, 16384) && pass(l.client, l.server, 65536) && get_stats(&c);
	ok = ok && GREW(b, c, tx_sizes[0], 11) && GREW(b, c, tx_sizes[1], 2) &&
	     GREW(b, c, tx_sizes[3], 1) && GREW(b, c, tx_calls, 14) &&
	     GREW(b, c, tx_bytes, 1000 + 8192 + 8193 + 16384 + 65536) &&
	     GREW(b, c, rx_bytes, c.tx_bytes - b.tx_bytes) && GREW(b, c, rx_calls, 14) &&
	     GREW(b, c, rx_sizes[0], 11) && GREW(b, c, rx_sizes[3], 1) &&
	     GREW(b, c, in_use, 262144 - 16384) && GREW(b, c, rx_bufs[5], 1);
	disconnected(l);
	/* closing changes no count, and frees what was in use */
	ok = ok && get_stats(&d) && GREW(c, d, tx_bytes, 0) && GREW(c, d, rx_calls, 0) &&
	     GREW(c, d, clients, 0);
	for (int i = 0; ok && i < slow(1000) && d.in_use != a.in_use; i++) {
		usleep(10000);
		ok = get_stats(&d);
	}
	return ok && GREW(a, d, in_use, 0);
}

bool stats_of_buffers(void)
{
	static char room[1 << 20];
	struct stats a, b;
	ssize_t sent = 0, n;
	struct link l;
	int on = 1, off = 0;
	bool ok;

	l = connected();
	ok = is_mode(l, SMC_DIAG_MODE_SMCD) && get_stats(&a);
	setsockopt(l.client, SOL_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(l.client, SOL_TCP, TCP_CORK, &on, sizeof(on));
	setsockopt(l.client, SOL_TCP, TCP_CORK, &off, sizeof(off));
	while ((n = send(l.client, room, sizeof(room), MSG_DONTWAIT | MSG_NOSIGNAL)) > 0)
		sent += n;
	if (sent < 262144)
		ok = BAD("only %zd bytes fit", sent);
	/* less than what is there, from a full ring */
	if (recv(l.server, room, 100, 0) != 100)
		ok = BAD("cannot receive 100 bytes");
	ok = ok && get_stats(&b) && GREW(a, b, nodelay, 1) && GREW(a, b, cork, 1) &&
	     GREW(a, b, tx_small, 2) && GREW(a, b, tx_full, 2) && GREW(a, b, tx_full_peer, 2) &&
	     GREW(a, b, rx_full, 1) && GREW(a, b, rx_small, 1);
	disconnected(l);
	return ok;
}

/* How often this role (0 client, 1 server) has had a reason; also the sums. */
struct fallbacks {
	uint64_t clients, servers, count;
};

static bool get_fallbacks(unsigned int role, unsigned int reason, struct fallbacks *f)
{
	memset(f, 0, sizeof(*f));
	genl_dump(&genl, SMC_NETLINK_GET_FBACK_STATS, NULL, &ans);
	if (!done())
		return false;
	for (size_t i = 0; i < ans.count; i++) {
		unsigned int type, code;
		uint16_t few;
		size_t n, m;
		const uint8_t *nest = find_attr(ans.msg[i].attrs, ans.msg[i].len,
						SMC_GEN_FBACK_STATS, &n), *data;

		if (!nest || !has_u8(nest, n, SMC_NLA_FBACK_STATS_TYPE, &type) ||
		    !has_u32(nest, n, SMC_NLA_FBACK_STATS_RSN_CODE, &code))
			return BAD("message %zu", i);
		if (!i) {
			f->clients = number(nest, n, SMC_NLA_FBACK_STATS_CLNT_CNT);
			f->servers = number(nest, n, SMC_NLA_FBACK_STATS_SRV_CNT);
		}
		data = find_attr(nest, n, SMC_NLA_FBACK_STATS_RSN_CNT, &m);
		if (type > 1 || !data || m != sizeof(few))
			return BAD("reason %08x", code);
		memcpy(&few, data, m);
		if (type != role || code != reason)
			continue;
		f->count = number(nest, n, SMC_NLA_FBACK_STATS_RSN_CNT64);
		if (f->count != few)
			return BAD("the short counter is %u, the long one %llu", few,
				   (unsigned long long)f->count);
	}
	return true;
}

bool stats_of_fallbacks(void)
{
	struct fallbacks s1, c1, s2, c2;
	bool ok;

	if (!get_fallbacks(1, SMC_REASON_NO_COMMON_EID, &s1) ||
	    !get_fallbacks(0, SMC_REASON_PEER_DECLINED, &c1) ||
	    !do_cmd(SMC_NETLINK_DISABLE_SEID))
		return false;
	ok = connects_as(SMC_DIAG_MODE_FALLBACK_TCP) && connects_as(SMC_DIAG_MODE_FALLBACK_TCP);
	return do_cmd(SMC_NETLINK_ENABLE_SEID) && ok &&
	       get_fallbacks(1, SMC_REASON_NO_COMMON_EID, &s2) &&
	       get_fallbacks(0, SMC_REASON_PEER_DECLINED, &c2) &&
	       GREW(s1, s2, count, 2) && GREW(c1, c2, count, 2) &&
	       GREW(s1, s2, servers, 2) && GREW(s1, s2, clients, 2);
}

/* Invalid messages reset the connection, at either end. */
/* The reset is sent before it is counted. */
static bool counted_errors(const struct stats *before)
{
	struct stats a = *before, b;
	int i;

	for (i = 0; i < WAIT_MS / 10; i++) {
		if (!get_stats(&b))
			return false;
		if (b.server_errors != a.server_errors && b.client_errors != a.client_errors)
			break;
		usleep(10000);
	}
	return GREW(a, b, server_errors, 1) && GREW(a, b, client_errors, 1);
}

bool stats_of_errors(void)
{
	struct message m;
	struct stats a;
	int port, lfd, fd, child;

	if (!get_stats(&a))
		return false;
	lfd = victim_listen(&port);
	fd = raw_connect(port);
	put_bytes(fd, "no message at all, and more than a header", 40);
	if (!(get_message(fd, &m, WAIT_MS) & (GOT_RESET | GOT_END)))
		return BAD("the server does not end the connection");
	close(fd);
	close(lfd);
	lfd = raw_listen(&port);
	fd = victim_connect(port);
	child = accept_in_time(lfd);
	if (get_message(child, &m, WAIT_MS) != GOT_PROPOSAL)
		return BAD("the client sent no Proposal");
	put_bytes(child, "no message at all, and more than a header", 40);
	if (!(get_message(child, &m, WAIT_MS) & (GOT_RESET | GOT_END)))
		return BAD("the client does not end the connection");
	close(child);
	close(fd);
	close(lfd);
	return counted_errors(&a);
}

static bool none_here(void)
{
	struct fallbacks f;
	struct stats s;

	if (unshare(CLONE_NEWNET) < 0)
		return BAD("unshare: %s", strerror(errno));
	return reopen() && get_stats(&s) &&
	       (!(s.tx_bytes | s.rx_bytes | s.clients | s.server_errors) ||
		BAD("counters of another namespace")) &&
	       get_fallbacks(0, 0, &f) && (!ans.count || BAD("fallbacks of another namespace"));
}

bool stats_of_namespace(void)
{
	return connects_as(SMC_DIAG_MODE_SMCD) && in_child(none_here);
}

static void *connect_often(void *arg)
{
	while (!stop_changing) {
		struct link l = connected();

		if (!pass(l.client, l.server, 300) || !pass(l.server, l.client, 20000))
			*(bool *)arg = false;
		disconnected(l);
	}
	return NULL;
}

/* Whenever counters are read, none decreases, and nothing is counted twice. */
bool stats_while_changing(void)
{
	static struct answer spare;
	struct stats first, before, now;
	bool ok, passed = true;
	pthread_t thread;

	if (!get_stats(&first))
		return false;
	before = first;
	stop_changing = false;
	if (pthread_create(&thread, NULL, connect_often, &passed))
		give_up("cannot start a thread");
	ok = true;
	for (int i = 0; ok && i < 500; i++) {
		ok = get_stats(&now);
		if (ok && (now.tx_bytes < before.tx_bytes || now.rx_bytes < before.rx_bytes ||
			   now.tx_calls < before.tx_calls || now.clients < before.clients ||
			   now.tx_bytes - first.tx_bytes >
			   (now.clients - first.clients) * 20300))
			ok = BAD("a counter is wrong after %d reads", i);
		before = now;
		genl_dump(&genl, SMC_NETLINK_GET_LGR_SMCD, NULL, &spare);
		genl_dump(&genl, SMC_NETLINK_GET_FBACK_STATS, NULL, &spare);
		if (spare.error)
			ok = BAD("a dump failed");
	}
	stop_changing = true;
	pthread_join(thread, NULL);
	ok = ok && (passed || BAD("a connection failed")) && get_stats(&now);
	return ok && GREW(first, now, tx_bytes, (now.clients - first.clients) * 20300) &&
	       GREW(first, now, rx_bytes, (now.clients - first.clients) * 20300) &&
	       (now.clients > first.clients || BAD("no connection was made"));
}
