// SPDX-License-Identifier: GPL-2.0
/*
 * Two tasks that meet at a certain moment, and afterwards do nothing that would mend a wake-up that
 * was lost. A plain run seldom meets that moment; the workloads "busy" and "early" of
 * tools/testing/seeds do.
 */
#include <linux/netlink.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/resource.h>

#include "role.h"

/* ---- room ---- */

#define ROOM_MOST	(13 << 10)	/* of 16 KiB: less than a quarter is left */

/* One thread is in send() while another one waits for room, which only a larger buffer has. */
static void room_busy_server(void)
{
	int l = serve();

	for (int i = 0; i < many(30); i++) {
		int fd = accept_one(l);

		barrier("there is room");
		close(fd);
	}
}

static void *await_room(struct worker *w)
{
	struct pollfd p = { .fd = w->fd, .events = POLLOUT };

	X(poll(&p, 1, -1));
	return NULL;
}

static void room_busy_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < many(30); i++) {
		struct worker w = { .run = await_room, .fd = connect_to(port, 0) };

		send_bytes(w.fd, 0, ROOM_MOST, ROOM_MOST);
		worker_start(&w);
		send_bytes(w.fd, ROOM_MOST, 100, 100);
		/* The peer does not read, and this end does not send again. */
		worker_join(&w);
		barrier("there is room");
		close(w.fd);
	}
}

/* The receiver is in recv() when the buffer should grow, and reads no more afterwards. */
static void growing_busy_server(void)
{
	int l = serve();

	for (int i = 0; i < many(30); i++) {
		int fd = accept_one(l);

		barrier("now");
		recv_bytes(fd, 0, 1, 1);
		barrier("sent");
		close(fd);
	}
}

static void growing_busy_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < many(30); i++) {
		int fd = connect_to(port, 0);

		send_bytes(fd, 0, 1, 1);
		barrier("now");
		send_bytes(fd, 1, 100000, 100000);
		barrier("sent");
		close(fd);
	}
}

static void buffers_16k(int fd)
{
	X(set_int(fd, SOL_SOCKET, SO_RCVBUF, 16384));
	X(set_int(fd, SOL_SOCKET, SO_SNDBUF, 16384));
}

/* A sender goes on when half of the buffer is free, even if the peer does not read on. */
static void half_read_server(void)
{
	int fd = pair_with(buffers_16k);

	recv_bytes(fd, 0, 8192, 8192);
	barrier("half is read");
	barrier("sent");
	recv_bytes(fd, 8192, 12288, 12288);
	barrier("done");
}

static void half_read_client(void)
{
	int fd = pair_with(buffers_16k);

	send_bytes(fd, 0, 8192, 8192);
	barrier("half is read");
	send_bytes(fd, 8192, 12288, 12288);
	barrier("sent");
	barrier("done");
}

/*
 * A thread sleeps in send() because four laps have not been read yet. Then they have, poll() of
 * another thread enlarges the buffer, and the peer does not read on.
 */
static void grown_by_poll(void)
{
	int l = listen_on(5), c, s;
	struct addr a = name_of(l);
	struct worker w = { .run = worker_send, .len = 64 << 10, .chunk = 64 << 10 };
	static char buf[64 << 10];
	size_t left, n;

	if (!me.var->smc)
		return;
	c = connect_to(addr_port(&a), 0);
	s = accept_one(l);
	for (left = 4 * fill_up(c) - 10; left; left -= n) {
		n = X(recv(s, buf, left < sizeof(buf) ? left : sizeof(buf), MSG_DONTWAIT));
		send_bytes(c, 0, n, n);
	}
	w.fd = c;
	worker_start(&w);
	await_blocked(getpid(), w.tid);
	CHECK(recv(s, buf, 10, 0) == 10);
	CHECK(poll_mask(c, POLLOUT) & POLLOUT);
	worker_join(&w);
}

/* ---- data ---- */

static volatile bool woken_enough;

static void *wake_in_vain(struct worker *w)
{
	while (!woken_enough) {
		X(set_int(w->fd, SOL_SOCKET, SO_RCVLOWAT, 1));
		usleep(10);
	}
	return NULL;
}

/* A receiver is woken over and over, also while it goes to sleep. */
static void vain_wakes_server(void)
{
	struct worker w = { .run = wake_in_vain, .fd = pair() };

	worker_start(&w);
	for (int i = 0; i < many(200); i++) {
		recv_bytes(w.fd, i, 1, 1);
		send_bytes(w.fd, i, 1, 1);
	}
	woken_enough = true;
	worker_join(&w);
	barrier("done");
}

static void vain_wakes_client(void)
{
	int fd = pair();

	for (int i = 0; i < many(200); i++) {
		send_bytes(fd, i, 1, 1);
		recv_bytes(fd, i, 1, 1);
	}
	barrier("done");
}

/* poll() begins at any moment of the handshake, and the only byte may have come before that. */
static void poll_early_server(void)
{
	struct pollfd p = { .events = POLLIN };
	int l = serve();

	for (int i = 0; i < many(40); i++) {
		p.fd = X(accept(l, NULL, NULL));
		X(poll(&p, 1, -1));
		recv_bytes(p.fd, 0, 1, 1);
		send_bytes(p.fd, 0, 1, 1);
		close(p.fd);
	}
}

static void poll_early_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < many(40); i++) {
		int fd = connect_any(port);

		send_bytes(fd, 0, 1, 1);
		recv_bytes(fd, 0, 1, 1);
		check_mode(fd);
		close(fd);
	}
}

/* ---- the end of the stream ---- */

/* The end comes after what MSG_MORE has held back. */
static void shutdown_corked_server(void)
{
	int l = serve();

	for (int i = 0; i < many(20); i++) {
		int fd = accept_one(l);

		CHECK(recv_to_end(fd, 0) == 10);
		close(fd);
	}
}

static void shutdown_corked_client(void)
{
	int port = ctl_get();
	char buf[10], c;

	fill(buf, sizeof(buf), 0);
	for (int i = 0; i < many(20); i++) {
		int fd = connect_to(port, 0);

		CHECK(send(fd, buf, sizeof(buf), MSG_MORE) == sizeof(buf));
		X(shutdown(fd, SHUT_WR));
		CHECK(!recv(fd, &c, 1, 0));
		close(fd);
	}
}

/* One end looks for data all the time; the last byte and the end come at once. */
static void end_at_once_server(void)
{
	int l = serve();
	ssize_t n;
	char c;

	for (int i = 0; i < many(30); i++) {
		int fd = accept_one(l);

		barrier("now");
		while ((n = recv(fd, &c, 1, MSG_DONTWAIT)) < 0 && errno == EAGAIN)
			sched_yield();
		CHECK(n == 1);
		close(fd);
	}
}

static void end_at_once_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < many(30); i++) {
		int fd = connect_to(port, 0);

		barrier("now");
		send_bytes(fd, 0, 1, 1);
		X(shutdown(fd, SHUT_WR));
		close(fd);
	}
}

/* One end reads while the other one closes. */
static void close_read_server(void)
{
	int l = serve();

	for (int i = 0; i < many(100); i++) {
		int fd = accept_one(l);

		barrier("now");
		recv_bytes(fd, 0, 1, 1);
		close(fd);
	}
}

static void close_read_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < many(100); i++) {
		int fd = connect_to(port, 0);

		send_bytes(fd, 0, 1, 1);
		barrier("now");
		close(fd);
	}
}

static pthread_barrier_t both_here;

static void *shut_wr(struct worker *w)
{
	pthread_barrier_wait(&both_here);
	shutdown(w->fd, SHUT_WR);
	return NULL;
}

/* Two threads end a connection at once. The peer, which has ended its stream, sees no reset. */
static void shut_twice_server(void)
{
	int l = serve();

	CHECK(!pthread_barrier_init(&both_here, NULL, 2));
	for (int i = 0; i < many(30); i++) {
		struct worker w = { .run = shut_wr, .fd = accept_one(l) };

		CHECK(recv_to_end(w.fd, 0) == 0);
		worker_start(&w);
		pthread_barrier_wait(&both_here);
		shutdown(w.fd, SHUT_RDWR);
		worker_join(&w);
		close(w.fd);
	}
}

/* Over RDMA, TCP's FIN waits for close(). */
static bool is_over(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	if (poll_mask(fd, POLLIN) & POLLHUP && me.rdma)
		return true;
	X(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len));
	return info.tcpi_state == TCP_CLOSE;
}

static void shut_twice_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < many(30); i++) {
		int fd = connect_to(port, 0);

		X(shutdown(fd, SHUT_WR));
		while (!is_over(fd))
			usleep(100);
		CHECK(!get_int(fd, SOL_SOCKET, SO_ERROR) && recv_to_end(fd, 0) == 0);
		close(fd);
	}
}

/* ---- connect(AF_UNSPEC) ---- */

static void *end_both(struct worker *w)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	const int *ends = w->data;

	connect(ends[0], &none, sizeof(none));
	close(ends[1]);
	return NULL;
}

/* Both ends go while the option starts its timer. */
static void user_timeout_ends(void)
{
	int l = listen_on(5);
	struct addr a = name_of(l);

	for (int i = 0; i < many(10); i++) {
		int ends[2];
		struct worker w = { .run = end_both, .data = ends };

		ends[0] = connect_any(addr_port(&a));
		ends[1] = X(accept(l, NULL, NULL));
		if (me.var->smc)
			check_mode(ends[0]);
		fill_up(ends[0]);
		worker_start(&w);
		set_int(ends[0], IPPROTO_TCP, TCP_USER_TIMEOUT, 1000);
		worker_join(&w);
		close(ends[0]);
	}
}

/*
 * One end shuts down writing at any moment after TCP's SYN. Then either connect() fails, because
 * there was no connection yet, or the other direction carries its data.
 */
static void shutdown_midway_server(void)
{
	int l = serve(), more;

	do {
		int fd = X(accept(l, NULL, NULL));
		char c = 0;

		more = recv(fd, &c, 1, 0) == 0 || c != 'Q';
		send(fd, "0123456789", 10, MSG_NOSIGNAL);
		close(fd);
	} while (more);
}

static void *shut_midway(struct worker *w)
{
	w->ret = shutdown(w->fd, SHUT_WR);
	return NULL;
}

static void shutdown_midway_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd;

	for (int i = 0; i < many(50); i++) {
		struct worker w = { .run = shut_midway };
		char c[10];
		int rc;

		w.fd = make_socket(0);
		worker_start(&w);
		rc = connect(w.fd, &a.sa, a.len);
		CHECK(!rc || errno == ECONNABORTED || errno == EPIPE);
		worker_join(&w);
		if (!rc && !w.ret)
			CHECK(recv(w.fd, c, 10, MSG_WAITALL) == 10 && recv(w.fd, c, 1, 0) == 0);
		close(w.fd);
	}
	fd = connect_to(addr_port(&a), 0);
	X(send(fd, "Q", 1, 0));
	close(fd);
}

/* Disconnected during the handshake, whose worker may be anywhere. Then the peer is plain TCP. */
static void disconnect_midway_server(void)
{
	int l = serve(), fd = -1;
	char c;

	/* The worker answers. accept() is only for the client that stays. */
	do {
		close(fd);
		fd = X(accept(l, NULL, NULL));
	} while (recv(fd, &c, 1, 0) != 1);
	barrier("done");
	close(fd);
	close(l);
}

static void disconnect_midway_client(void)
{
	struct addr a = loopback(ctl_get()), none = a, t;
	int l = listen_tcp(5, &t), fd;

	none.sa.sa_family = AF_UNSPEC;
	for (int i = 0; i < many(50); i++) {
		int s;

		fd = make_socket(SOCK_NONBLOCK);
		CHECK(!connect(fd, &a.sa, a.len) || errno == EINPROGRESS);
		if (i % 3 == 1)
			sched_yield();
		else if (i % 3 == 2)
			usleep(1);
		X(connect(fd, &none.sa, none.len));
		set_nonblock(fd, false);
		X(connect(fd, &t.sa, t.len));
		s = X(accept(l, NULL, NULL));
		send_bytes(s, 0, 2000, 2000);
		send_bytes(fd, 0, 2000, 2000);
		/* The worker may go on now. */
		usleep(5000);
		X(shutdown(s, SHUT_WR));
		X(shutdown(fd, SHUT_WR));
		CHECK(recv_to_end(fd, 0) == 2000 && recv_to_end(s, 0) == 2000);
		close(s);
		close(fd);
	}
	fd = connect_to(addr_port(&a), 0);
	X(send(fd, "x", 1, 0));
	barrier("done");
	close(fd);
}

/* ---- a dump ---- */

#define TAIL	600

static int tail[TAIL];
static volatile bool dumping;
static volatile int n_closed;

/* Closes a socket whenever it gets the processor, in the order of a dump. */
static void *close_in_order(struct worker *w)
{
	while (!dumping)
		sched_yield();
	for (; n_closed < TAIL; n_closed++) {
		close(tail[TAIL - 1 - n_closed]);
		sched_yield();
	}
	return NULL;
}

/* Returns the number of sockets in the first message. */
static int dump_sockets(void)
{
	struct {
		struct nlmsghdr h;
		struct smc_diag_req r;
	} q = { .h = { sizeof(q), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 1, 0 },
		.r.diag_family = AF_SMC };
	int fd = X(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)), first = 0;
	static char buf[1 << 16];

	X(send(fd, &q, sizeof(q), 0));
	for (int n = 0;; n++) {
		int len = X(recv(fd, buf, sizeof(buf), 0));
		struct nlmsghdr *h = (void *)buf;

		for (; NLMSG_OK(h, (unsigned int)len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY) {
				close(fd);
				return first;
			}
			first += !n;
		}
	}
}

/* A dump stops at a socket that is being closed, because its message is full. */
static void dump_closing(void)
{
	struct rlimit files = { 4096, 4096 };
	struct worker w = { .run = close_in_order };
	int newer[500], fits;

	X(setrlimit(RLIMIT_NOFILE, &files));
	for (int i = 0; i < TAIL; i++)
		tail[i] = make_socket(0);
	for (int i = 0; i < 500; i++)
		newer[i] = make_socket(0);
	fits = dump_sockets();
	CHECK(fits || !me.var->smc);
	/* Those that are left fill one message. TCP sockets are not in the dump. */
	for (int i = 0; fits && i < 500 - fits; i++)
		close(newer[i]);
	worker_start(&w);
	dumping = true;
	while (n_closed < TAIL) {
		dump_sockets();
		sched_yield();
	}
	worker_join(&w);
}

const struct test_case moment_cases[] = {
	CASE(room_busy, 0, "poll() reports room while another thread sends"),
	CASE(growing_busy, 0, "more data than the initial buffer holds, while the peer reads"),
	CASE(half_read, 0, "a sender goes on when half of a full buffer has been read"),
	SOLO(grown_by_poll, F_HERE, "send() goes on when another thread's poll() enlarges the buffer"),
	CASE(vain_wakes, 0, "a receiver that is woken although nothing has arrived"),
	CASE(poll_early, 0, "poll() for data during the handshake"),
	CASE(shutdown_corked, 0, "SHUT_WR sends corked data before the end of the stream"),
	CASE(end_at_once, 0, "the last byte and the end come while the peer looks for data"),
	CASE(close_read, 0, "close() while the peer reads"),
	CASE(shut_twice, 0, "two threads shut down one end"),
	SOLO(user_timeout_ends, F_HERE, "TCP_USER_TIMEOUT while the connection ends at both ends"),
	CASE(shutdown_midway, F_HERE, "SHUT_WR during the handshake"),
	CASE(disconnect_midway, F_HERE, "disconnect during the handshake, then connect to plain TCP"),
	SOLO(dump_closing, F_ROOT | F_HERE, "a dump that stops at a socket that is being closed"),
	{ 0 }
};
