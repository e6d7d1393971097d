// SPDX-License-Identifier: GPL-2.0
/* setsockopt() and getsockopt(): a value that was set is read back and takes effect. */
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <sys/ioctl.h>
#include <sys/time.h>

#include "role.h"

/* All options with a value of one int: before, set, and after. */
static const struct {
	int level, opt, value;
	const char *name;
} ints[] = {
#define I(l, o, v) { l, o, v, #o }
	I(SOL_SOCKET, SO_KEEPALIVE, 1), I(SOL_SOCKET, SO_REUSEADDR, 1),
	I(SOL_SOCKET, SO_REUSEPORT, 1), I(SOL_SOCKET, SO_RCVLOWAT, 100),
	I(SOL_SOCKET, SO_SNDLOWAT, 100), I(SOL_SOCKET, SO_PRIORITY, 4),
	I(SOL_SOCKET, SO_OOBINLINE, 1), I(SOL_SOCKET, SO_DONTROUTE, 1),
	I(SOL_SOCKET, SO_BROADCAST, 1), I(SOL_SOCKET, SO_TIMESTAMP, 1),
	I(SOL_SOCKET, SO_TYPE, 1), I(SOL_SOCKET, SO_ERROR, 1),
	I(SOL_SOCKET, SO_DOMAIN, 1), I(SOL_SOCKET, SO_ACCEPTCONN, 1),
	I(SOL_SOCKET, SO_NO_CHECK, 1), I(SOL_SOCKET, SO_MARK, 7),
	I(SOL_SOCKET, SO_BUSY_POLL, 10),
	I(SOL_SOCKET, SO_PEEK_OFF, 3), I(SOL_SOCKET, 9999, 1),
	I(IPPROTO_TCP, TCP_NODELAY, 1), I(IPPROTO_TCP, TCP_CORK, 1),
	I(IPPROTO_TCP, TCP_KEEPIDLE, 33),
	I(IPPROTO_TCP, TCP_KEEPINTVL, 44), I(IPPROTO_TCP, TCP_KEEPCNT, 5),
	I(IPPROTO_TCP, TCP_SYNCNT, 3), I(IPPROTO_TCP, TCP_DEFER_ACCEPT, 3),
	I(IPPROTO_TCP, TCP_USER_TIMEOUT, 9000),
	I(IPPROTO_TCP, TCP_LINGER2, 30), I(IPPROTO_TCP, TCP_NODELAY, 0),
	I(IPPROTO_TCP, TCP_NOTSENT_LOWAT, 5),
	I(IPPROTO_TCP, 9999, 1), I(IPPROTO_TCP, TCP_KEEPIDLE, 0),
	I(IPPROTO_TCP, TCP_KEEPCNT, 1000),
	I(IPPROTO_IP, IP_TOS, 8), I(IPPROTO_IP, IP_TTL, 33),
	I(IPPROTO_IP, IP_TTL, 300), I(IPPROTO_IP, IP_MTU_DISCOVER, 1),
	I(IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1), I(IPPROTO_IP, IP_FREEBIND, 1),
	I(IPPROTO_IP, 9999, 1),
	I(IPPROTO_IPV6, IPV6_V6ONLY, 1), I(IPPROTO_IPV6, IPV6_TCLASS, 4),
	I(IPPROTO_IPV6, IPV6_UNICAST_HOPS, 9), I(IPPROTO_UDP, 1, 1),
	I(9999, 1, 1),
#undef I
};

/* On an SMC connection they fail: sock_packets.c. */
static bool too_late(int level, int opt)
{
	return level == SOL_SOCKET && (opt == SO_DONTROUTE || opt == SO_MARK);
}

static void set_and_get(int fd, bool connected)
{
	for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++) {
		int before, ret, err;

		if (connected && too_late(ints[i].level, ints[i].opt))
			continue;
		errno = 0;
		before = get_int(fd, ints[i].level, ints[i].opt);
		err = errno;
		ret = set_int(fd, ints[i].level, ints[i].opt, ints[i].value);
		rec("%d/%s: %d %s, set %d %s, %d", ints[i].level, ints[i].name,
		    before, before < 0 ? err_name(err) : "", ret,
		    ret < 0 ? err_name(errno) : "",
		    get_int(fd, ints[i].level, ints[i].opt));
	}
	X(set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 1));
	X(set_int(fd, IPPROTO_TCP, TCP_CORK, 0));
}

static void options_new(void)
{
	set_and_get(make_socket(0), false);
}

static void options_connected_server(void)
{
	int fd = pair();

	set_and_get(fd, true);
	ping_pong(fd);
	barrier("done");
}

static void options_connected_client(void)
{
	int fd = pair();

	set_and_get(fd, true);
	ping_pong(fd);
	barrier("done");
}

static void protocol_option(void)
{
	int p = get_int(make_socket(0), SOL_SOCKET, SO_PROTOCOL);

	CHECK(p == IPPROTO_TCP || (me.kind.protocol != IPPROTO_TCP && p == IPPROTO_SMC));
	R(get_int(make_socket(0), SOL_SOCKET, SO_DOMAIN));
}

static void buffer_sizes(void)
{
	static const int sizes[] = { 0, 1, 1000, 4096, 10000, 65536, 100000, -1 };
	int fd = make_socket(0);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int ret = set_int(fd, SOL_SOCKET, SO_SNDBUF, sizes[i]);

		rec("SO_SNDBUF %d: %d %d", sizes[i], ret,
		    get_int(fd, SOL_SOCKET, SO_SNDBUF));
		ret = set_int(fd, SOL_SOCKET, SO_RCVBUF, sizes[i]);
		rec("SO_RCVBUF %d: %d %d", sizes[i], ret,
		    get_int(fd, SOL_SOCKET, SO_RCVBUF));
	}
	R(set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, 3 << 20));
	R(get_int(fd, SOL_SOCKET, SO_RCVBUF));
	R(set_int(fd, SOL_SOCKET, SO_SNDBUFFORCE, 3 << 20));
	R(get_int(fd, SOL_SOCKET, SO_SNDBUF));
}

static void buf_32k(int fd)
{
	X(set_int(fd, SOL_SOCKET, SO_RCVBUF, 32768));
	X(set_int(fd, SOL_SOCKET, SO_SNDBUF, 32768));
}

/* The buffers hold at most what was requested, and are large enough. */
static void buffers_bound_server(void)
{
	int fd = pair_with(buf_32k);
	size_t total;

	barrier("full");
	total = ctl_get();
	R(get_int(fd, SOL_SOCKET, SO_RCVBUF));
	recv_bytes(fd, 0, total, 4000);
	barrier("done");
}

static void buffers_bound_client(void)
{
	int fd = pair_with(buf_32k);
	size_t total = fill_up(fd);

	R(get_int(fd, SOL_SOCKET, SO_SNDBUF));
	if (total < 16384 || total > (1 << 20))
		die("%zu bytes fit into two buffers of 32 KiB", total);
	barrier("full");
	ctl_put(total);
	barrier("done");
}

/* Changed on an open connection: nothing breaks and nothing is lost. */
static void buffers_changed_server(void)
{
	int fd = pair();

	barrier("sent");
	R(set_int(fd, SOL_SOCKET, SO_RCVBUF, 100000));
	R(get_int(fd, SOL_SOCKET, SO_RCVBUF));
	recv_bytes(fd, 0, 10000, 999);
	R(set_int(fd, SOL_SOCKET, SO_RCVBUF, 2000));
	recv_bytes(fd, 10000, 60000, 20000);
	barrier("done");
}

static void buffers_changed_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 10000, 10000);
	barrier("sent");
	R(set_int(fd, SOL_SOCKET, SO_SNDBUF, 2000));
	send_bytes(fd, 10000, 20000, 20000);
	R(set_int(fd, SOL_SOCKET, SO_SNDBUF, 200000));
	R(get_int(fd, SOL_SOCKET, SO_SNDBUF));
	send_bytes(fd, 30000, 40000, 40000);
	barrier("done");
}

static void *recv_50(struct worker *w)
{
	char buf[50];

	w->ret = recv(w->fd, buf, sizeof(buf), 0);
	return NULL;
}

static void rcvlowat_server(void)
{
	struct worker w = { .run = recv_50 };
	char buf[100];
	int fd = pair();

	R(set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 20));
	R(get_int(fd, SOL_SOCKET, SO_RCVLOWAT));
	w.fd = fd;
	worker_start(&w);
	await_blocked(getpid(), w.tid);
	barrier("ten");
	barrier("sent");
	rec("poll %s", mask_name(poll_mask(fd, POLLIN)));
	barrier("twenty");
	worker_join(&w);
	rec("woken with %ld bytes", w.ret);
	barrier("five");
	await_inq(fd, 5);
	rec("poll %s", mask_name(poll_mask(fd, POLLIN)));
	R(recv(fd, buf, 100, MSG_DONTWAIT));
	barrier("end");
	rec("poll %s", mask_name(await_mask(fd, POLLIN)));
	R(set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 0));
	R(get_int(fd, SOL_SOCKET, SO_RCVLOWAT));
	R(set_int(fd, SOL_SOCKET, SO_RCVLOWAT, -1));
	R(recv(fd, buf, 100, 0));
}

static void rcvlowat_client(void)
{
	int fd = pair(), n = -1;

	barrier("ten");
	send_bytes(fd, 0, 10, 10);
	/* the sleeper may take the ten bytes or leave them */
	AWAIT(X(ioctl(fd, SIOCOUTQNSD, &n)) == 0 && n == 0);
	barrier("sent");
	barrier("twenty");
	send_bytes(fd, 10, 10, 10);
	barrier("five");
	send_bytes(fd, 20, 5, 5);
	barrier("end");
	shutdown(fd, SHUT_WR);
	recv_to_end(fd, 0);
}

static void *poll_in(struct worker *w)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };

	w->ret = poll(&p, 1, -1) == 1 ? p.revents : -1;
	return NULL;
}

static void rcvbuf_32k(int fd)
{
	X(set_int(fd, SOL_SOCKET, SO_RCVBUF, 32768));
}

/* Changed while another thread polls; then to more than fits. */
static void rcvlowat_set_server(void)
{
	struct worker w = { .run = poll_in };
	int fd = pair_with(rcvbuf_32k), all;

	R(set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 20));
	barrier("ten");
	await_inq(fd, 10);
	w.fd = fd;
	worker_start(&w);
	await_blocked(getpid(), w.tid);
	R(set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 10));
	worker_join(&w);
	rec("woken with %s", mask_name(w.ret));
	recv_bytes(fd, 0, 10, 10);
	R(set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 1 << 30));
	R(get_int(fd, SOL_SOCKET, SO_RCVLOWAT));
	rec("poll %s", mask_name(poll_mask(fd, POLLIN)));
	worker_start(&w);
	await_blocked(getpid(), w.tid);
	barrier("full");
	worker_join(&w);
	rec("woken with %s", mask_name(w.ret));
	all = ctl_get();
	recv_bytes(fd, 10, all, 5000);
	barrier("done");
}

static void rcvlowat_set_client(void)
{
	int fd = pair_with(rcvbuf_32k);
	char buf[4096];
	size_t all = 0;
	ssize_t n;

	barrier("ten");
	send_bytes(fd, 0, 10, 10);
	barrier("full");
	set_nonblock(fd, true);
	do {
		fill(buf, sizeof(buf), 10 + all);
		n = send(fd, buf, sizeof(buf), MSG_NOSIGNAL);
		all += n > 0 ? n : 0;
	} while (n > 0);
	ctl_put(all);
	barrier("done");
}

static void sndbuf_16k(int fd)
{
	X(set_int(fd, SOL_SOCKET, SO_SNDBUF, 16384));
}

/* More than the buffer of the sender, who has to wait until the data has been read. */
static void rcvlowat_ring_server(void)
{
	char buf[4096];
	int fd = pair_with(sndbuf_16k);
	ssize_t n, all = 0;

	R(set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 100000));
	barrier("low water");
	do {
		await_mask(fd, POLLIN);
		n = recv(fd, buf, sizeof(buf), 0);
		all += n > 0 ? n : 0;
	} while (n > 0);
	rec("%zd bytes", all);
}

static void rcvlowat_ring_client(void)
{
	int fd = pair_with(sndbuf_16k);

	barrier("low water");
	send_bytes(fd, 0, 200000, 50000);
	shutdown(fd, SHUT_WR);
	recv_to_end(fd, 0);
}

/* An urgent byte in front of the data that is awaited. */
static void rcvlowat_urgent_server(void)
{
	int fd = pair();

	R(set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 1000));
	barrier("low water");
	rec("poll %s", mask_name(await_mask(fd, POLLIN)));
	recv_bytes(fd, 0, 50, 50);
	barrier("read");
	recv_to_end(fd, 50);
}

static void rcvlowat_urgent_client(void)
{
	int fd = pair();

	barrier("low water");
	send_bytes(fd, 0, 50, 50);
	R(send(fd, "U", 1, MSG_OOB));
	send_bytes(fd, 50, 2000, 2000);
	barrier("read");
	shutdown(fd, SHUT_WR);
	recv_to_end(fd, 0);
}

static void timeouts_server(void)
{
	struct timeval tv;
	socklen_t len = sizeof(tv);
	char buf[100];
	int fd = pair();

	set_timeo(fd, SO_RCVTIMEO, 1500);
	R(getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, &len));
	rec("%ld.%06ld", (long)tv.tv_sec, (long)tv.tv_usec);
	set_timeo(fd, SO_RCVTIMEO, 40);
	R(recv(fd, buf, 100, 0));
	R(recv(fd, buf, 100, MSG_PEEK));
	barrier("ten");
	await_inq(fd, 10);
	R(recv(fd, buf, 100, MSG_WAITALL));
	R(recv(fd, buf, 100, MSG_WAITALL));
	tv = (struct timeval){ 0, 2000000 };
	R(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	barrier("full");
	barrier("done");
}

static void timeouts_client(void)
{
	int fd = pair();
	char *big = calloc(1, BUFSIZ);

	barrier("ten");
	send_bytes(fd, 0, 10, 10);
	barrier("full");
	fill_up(fd);
	set_timeo(fd, SO_SNDTIMEO, 40);
	/* the peer reads nothing: fill what room is left until send() fails */
	while (send(fd, big, BUFSIZ, 0) > 0)
		;
	rec("send: %s", err_name(errno));
	barrier("done");
}

static void linger_values(void)
{
	struct linger l = { 0, 0 };
	socklen_t len = sizeof(l);
	int fd = make_socket(0);

	R(getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len));
	rec("%d %d", l.l_onoff, l.l_linger);
	l = (struct linger){ 5, 17 };
	R(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
	R(getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len));
	rec("%d %d", l.l_onoff, l.l_linger);
	l = (struct linger){ 0, 17 };
	R(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
	R(getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len));
	rec("%d %d", l.l_onoff, l.l_linger);
}

static const char *tcp_state(int fd)
{
	static const char * const names[] = {
		"?", "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1",
		"FIN_WAIT2", "TIME_WAIT", "CLOSE", "CLOSE_WAIT", "LAST_ACK",
		"LISTEN", "CLOSING", "NEW_SYN_RECV",
	};
	struct tcp_info ti;
	socklen_t len = sizeof(ti);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &ti, &len) < 0)
		return err_name(errno);
	return ti.tcpi_state < 13 ? names[ti.tcpi_state] : "??";
}

/* Counters of bytes in both directions; glibc's structure ends before these fields. */
static void rec_bytes(int fd)
{
	enum { BYTES_RECEIVED = 128, BYTES_SENT = 200 };
	char info[256] = "";
	socklen_t len = sizeof(info);
	uint64_t in, out;

	X(getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len));
	memcpy(&in, info + BYTES_RECEIVED, sizeof(in));
	memcpy(&out, info + BYTES_SENT, sizeof(out));
	rec("%d bytes in, %d out", (int)in, (int)out);
	len = 5;
	memset(info, 0xaa, sizeof(info));
	R(getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len));
	rec("length %d, behind it %s", (int)len, info[5] == (char)0xaa ? "nothing" : "something");
}

static void tcp_info_server(void)
{
	int l = listen_on(5), fd;
	struct addr a = name_of(l);

	rec("%s", tcp_state(l));
	ctl_put(addr_port(&a));
	fd = accept_one(l);
	ping_pong(fd);
	rec("%s", tcp_state(fd));
	rec_bytes(fd);
	barrier("looked");
	await_mask(fd, POLLRDHUP);
	barrier("shut down");
}

static void tcp_info_client(void)
{
	int fd = make_socket(0), port = ctl_get();
	struct addr a = loopback(port);

	rec("%s", tcp_state(fd));
	X(connect(fd, &a.sa, a.len));
	rec("%s", tcp_state(fd));
	ping_pong(fd);
	rec_bytes(fd);
	barrier("looked");
	R(shutdown(fd, SHUT_WR));
	barrier("shut down");
}

/* The options that only SMC has: level SOL_SMC. */
static void smc_info_server(void)
{
	int fd = pair();

	ping_pong(fd);
	barrier("done");
}

static void smc_info_client(void)
{
	struct smc_sock_info_u info;
	socklen_t len = sizeof(info);
	int fd = make_socket(0), mode;

	if (me.kind.protocol != IPPROTO_TCP && !me.any_mode) {
		CHECK(!getsockopt(fd, SOL_SMC, SMC_SOCK_INFO, &info, &len));
		CHECK(info.mode == MODE_UNDECIDED);
	}
	close(fd);
	fd = pair();
	mode = smc_mode(fd);
	if (mode != MODE_TCP && !me.any_mode) {
		len = 4;
		CHECK(!getsockopt(fd, SOL_SMC, SMC_SOCK_INFO, &info, &len) || errno == EINVAL);
		len = sizeof(info);
		CHECK(getsockopt(fd, SOL_SMC, SMC_SOCK_INFO, NULL, &len) < 0 &&
		      errno == EFAULT);
		CHECK(getsockopt(fd, SOL_SMC, 0x7777, &info, &len) < 0 &&
		      errno == ENOPROTOOPT);
	}
	ping_pong(fd);
	barrier("done");
}

/* Data in the SYN makes the connection plain TCP, and the data arrives. */
static void fastopen_server(void)
{
	int l = make_socket(0), fd;
	struct addr a = loopback(0);

	X(bind(l, &a.sa, a.len));
	R(set_int(l, IPPROTO_TCP, TCP_FASTOPEN, 5));
	X(listen(l, 5));
	a = name_of(l);
	ctl_put(addr_port(&a));
	for (int i = 0; i < 3; i++) {
		fd = X(accept(l, NULL, NULL));
		recv_bytes(fd, 0, 100, 100);
		send_bytes(fd, 0, 100, 100);
		rec("end at %d", (int)recv_to_end(fd, 100));
		close(fd);
	}
}

static void fastopen_client(void)
{
	struct addr a = loopback(ctl_get());
	char buf[100];

	fill(buf, 100, 0);
	for (int i = 0; i < 3; i++) {
		int fd = make_socket(0);

		if (i < 2) {
			R(sendto(fd, buf, 100, MSG_FASTOPEN, &a.sa, a.len));
		} else {
			R(set_int(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1));
			R(connect(fd, &a.sa, a.len));
			R(send(fd, buf, 100, 0));
		}
		recv_bytes(fd, 0, 100, 100);
		R(shutdown(fd, SHUT_WR));
		R(recv(fd, buf, 100, 0));
		close(fd);
	}
}

static void allow_fastopen(void)
{
	/* for clients and servers, without a cookie */
	int fd = X(open("/proc/sys/net/ipv4/tcp_fastopen", O_WRONLY));

	CHECK(write(fd, "519", 3) == 3);
	close(fd);
}

/* A child that a SYN with data creates is plain TCP, and all of the data arrives. */
static void fastopen_child_server(void)
{
	struct addr a = loopback(0);
	int l = make_socket(0);

	allow_fastopen();
	X(bind(l, &a.sa, a.len));
	X(set_int(l, IPPROTO_TCP, TCP_FASTOPEN, 5));
	X(listen(l, 5));
	a = name_of(l);
	ctl_put(addr_port(&a));
	for (int i = 0; i < 4; i++) {
		struct tcp_info info;
		socklen_t len = sizeof(info);
		int fd = X(accept(l, NULL, NULL));

		X(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len));
		CHECK(!(info.tcpi_options & TCPI_OPT_SYN_DATA) == (i == 3));
		CHECK(me.any_mode || i == 3 || smc_mode(fd) == MODE_TCP);
		recv_bytes(fd, 0, 3000, 500);
		send_bytes(fd, 0, 3000, 3000);
		rec("end at %d", (int)recv_to_end(fd, 3000));
		/* without data in the SYN the same listener speaks SMC */
		if (i == 3)
			check_mode(fd);
		close(fd);
	}
}

static void fastopen_child_client(void)
{
	struct addr a = loopback(ctl_get());
	char buf[3000];

	fill(buf, sizeof(buf), 0);
	for (int i = 0; i < 4; i++) {
		int fd = make_socket(0);

		if (i == 0) {
			R(sendto(fd, buf, 100, MSG_FASTOPEN, &a.sa, a.len));
			send_bytes(fd, 100, 2900, 2900);
		} else if (i == 1) {
			R(sendto(fd, buf, 3000, MSG_FASTOPEN, &a.sa, a.len));
		} else if (i == 2) {
			R(set_int(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1));
			R(connect(fd, &a.sa, a.len));
			R(send(fd, buf, 3000, 0));
		} else {
			R(connect(fd, &a.sa, a.len));
			R(send(fd, buf, 3000, 0));
		}
		CHECK(me.any_mode || i == 3 || smc_mode(fd) == MODE_TCP);
		recv_bytes(fd, 0, 3000, 3000);
		R(shutdown(fd, SHUT_WR));
		R(recv(fd, buf, 100, 0));
		fill(buf, sizeof(buf), 0);
		close(fd);
	}
}

/* ---- keepalive, which tests the link if there is one ---- */

#define LINK_TIME	"/proc/sys/net/smc/smcr_testlink_time"

static void set_link_time(const char *seconds)
{
	int fd = X(open(LINK_TIME, O_WRONLY));

	X(write(fd, seconds, strlen(seconds)));
	close(fd);
}

static long packets_sent(void)
{
	FILE *f = fopen("/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts", "r");
	long n;

	CHECK(f && fscanf(f, "%ld", &n) == 1);
	fclose(f);
	return n;
}

static void alive(int fd)
{
	R(set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1));
	R(set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, 1));
	R(set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1));
}

static void keepalive_server(void)
{
	int fd = pair_with(alive);

	R(get_int(fd, SOL_SOCKET, SO_KEEPALIVE));
	R(get_int(fd, IPPROTO_TCP, TCP_KEEPIDLE));
	barrier("tested");
	ping_pong(fd);
}

static void keepalive_client(void)
{
	bool link = me.rdma && !me.ism && me.var->smc;
	long before;
	int fd;

	/* The link is tested only for a socket that asks for it. */
	if (link)
		set_link_time("0");
	fd = pair_with(alive);
	R(set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, 2));
	/* Count tests and their answers. */
	before = link ? packets_sent() : 0;
	AWAIT(!link || packets_sent() > before + 4);
	if (link)
		set_link_time("30");
	barrier("tested");
	ping_pong(fd);
}

const struct test_case sockopt_cases[] = {
	SOLO(options_new, 0, "50 options on a new socket"),
	CASE(options_connected, 0, "50 options on a connection"),
	SOLO(protocol_option, 0, "SO_PROTOCOL and SO_DOMAIN"),
	SOLO(buffer_sizes, 0, "SO_SNDBUF and SO_RCVBUF, set and read"),
	CASE(buffers_bound, 0, "SO_SNDBUF and SO_RCVBUF bound the data in flight"),
	CASE(buffers_changed, 0, "SO_SNDBUF and SO_RCVBUF changed on a connection"),
	CASE(rcvlowat, 0, "SO_RCVLOWAT for recv and poll"),
	/* TCP needs a minute between machines to send a whole buffer through a window of one
	 * segment.
	 */
	CASE(rcvlowat_ring, 0, "SO_RCVLOWAT above the buffer of the sender"),
	CASE(rcvlowat_urgent, 0, "SO_RCVLOWAT and an urgent byte in front of the data"),
	CASE(rcvlowat_set, F_ONE, "SO_RCVLOWAT set during poll(), and to more than fits"),
	CASE(timeouts, 0, "SO_RCVTIMEO and SO_SNDTIMEO"),
	CASE(keepalive, F_ROOT, "SO_KEEPALIVE, and the link tests that it causes"),
	SOLO(linger_values, 0, "SO_LINGER, set and read"),
	CASE(tcp_info, 0, "the state that TCP_INFO reports"),
	CASE(smc_info, 0, "the options of level SOL_SMC"),
	CASE(fastopen, 0, "data in the SYN, to a server without TCP_FASTOPEN"),
	/* A first SYN has data only if its sender knows that the server accepts them. */
	CASE(fastopen_child, F_ROOT | F_ONE, "data in the SYN, to a server with TCP_FASTOPEN"),
	{ 0 }
};
