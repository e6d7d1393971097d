// SPDX-License-Identifier: GPL-2.0
/* accept(): flags, early, late, refused, called by many processes. */
#include <fcntl.h>
#include <netinet/tcp.h>

#include "role.h"

static void accept_flags_server(void)
{
	int l = serve(), fd;

	set_nonblock(l, true);
	await_mask(l, POLLIN);
	fd = RFD(accept(l, NULL, NULL));
	R(fcntl(fd, F_GETFL) & O_NONBLOCK);
	R(fcntl(fd, F_GETFD));
	ping_pong(fd);
	await_mask(l, POLLIN);
	fd = RFD(accept4(l, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
	R(fcntl(fd, F_GETFL) & O_NONBLOCK);
	R(fcntl(fd, F_GETFD));
	R(recv(fd, &l, 1, 0));
	set_nonblock(fd, false);
	barrier("tried");
	ping_pong(fd);
	R(accept4(l, NULL, NULL, 0x8));
	R(accept(l, NULL, NULL));
}

static void accept_flags_client(void)
{
	int port = ctl_get();

	ping_pong(connect_to(port, 0));
	port = connect_to(port, 0);
	barrier("tried");
	ping_pong(port);
}

static void accept_nonblock_server(void)
{
	int l = serve(), fd;

	set_nonblock(l, true);
	R(accept(l, NULL, NULL));
	rec("poll %s", mask_name(poll_mask(l, POLLIN | POLLOUT | POLLRDHUP)));
	barrier("no client yet");
	rec("poll %s", mask_name(await_mask(l, POLLIN)));
	fd = RFD(accept(l, NULL, NULL));
	rec("poll %s", mask_name(poll_mask(l, POLLIN | POLLOUT | POLLRDHUP)));
	ping_pong(fd);
	R(accept(l, NULL, NULL));
}

static void accept_nonblock_client(void)
{
	int port = ctl_get();

	barrier("no client yet");
	ping_pong(connect_to(port, 0));
}

static void accept_address_server(void)
{
	struct addr a = { .len = sizeof(a.ss) }, n;
	int l = serve(), fd;

	memset(&a.ss, 0xee, sizeof(a.ss));
	fd = RFD(accept(l, &a.sa, &a.len));
	rec("%s", addr_kind(&a));
	CHECK(addr_port(&a) == ctl_get());
	n = name_of(fd);
	rec("%s", addr_kind(&n));
	ping_pong(fd);
	/* a short address buffer is filled completely; the length returned is the full one */
	memset(&a.ss, 0xee, sizeof(a.ss));
	a.len = 3;
	fd = RFD(accept(l, &a.sa, &a.len));
	rec("length %d, fourth byte %x", (int)a.len, ((unsigned char *)&a.ss)[3]);
	ping_pong(fd);
	fd = RFD(accept(l, (struct sockaddr *)16, &a.len));
	barrier("fault");
	a.len = -1;
	R(accept(l, &a.sa, &a.len));
	barrier("negative");
}

static void accept_address_client(void)
{
	int port = ctl_get(), fd = connect_to(port, 0);
	struct addr n = name_of(fd);

	ctl_put(addr_port(&n));
	ping_pong(fd);
	ping_pong(connect_to(port, 0));
	fd = make_socket(0);
	n = loopback(port);
	X(connect(fd, &n.sa, n.len));
	barrier("fault");
	X(connect(make_socket(0), &n.sa, n.len));
	barrier("negative");
}

/* The client writes and closes before the server accepts. */
static void accept_after_close_server(void)
{
	int l = serve(), fd;

	barrier("gone");
	fd = RFD(accept(l, NULL, NULL));
	rec("end at %d", (int)recv_to_end(fd, 0));
	rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLOUT | POLLRDHUP)));
	R(send(fd, "x", 1, MSG_NOSIGNAL));
}

static void accept_after_close_client(void)
{
	int fd = connect_to(ctl_get(), 0);

	send_bytes(fd, 0, 5000, 5000);
	R(close(fd));
	barrier("gone");
}

static void accept_after_reset_server(void)
{
	int l = serve(), fd;
	char c;

	/* A reset may overtake the last segment of TCP's handshake on another processor. */
	await_mask(l, POLLIN);
	barrier("connected");
	barrier("gone");
	fd = RFD(accept(l, NULL, NULL));
	rec("poll %s", mask_name(await_mask(fd, POLLHUP)));
	R(recv(fd, &c, 1, 0));
	R(recv(fd, &c, 1, 0));
	R(send(fd, "x", 1, MSG_NOSIGNAL));
}

static void accept_after_reset_client(void)
{
	struct linger l = { 1, 0 };
	int fd = connect_to(ctl_get(), 0);

	barrier("connected");
	X(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
	R(close(fd));
	barrier("gone");
}

/* A client may send a lot of data before it is accepted. */
static void accept_late_server(void)
{
	int l = serve(), fd[20];

	barrier("sent");
	for (int i = 0; i < 20; i++) {
		fd[i] = accept_one(l);
		recv_bytes(fd[i], i * 1000, 1000, 100);
	}
	for (int i = 0; i < 20; i++)
		send_bytes(fd[i], i, 10, 10);
	barrier("done");
}

static void accept_late_client(void)
{
	int port = ctl_get(), fd[20];

	for (int i = 0; i < 20; i++) {
		fd[i] = connect_to(port, 0);
		send_bytes(fd[i], i * 1000, 1000, 1000);
	}
	barrier("sent");
	for (int i = 0; i < 20; i++)
		recv_bytes(fd[i], i, 10, 10);
	barrier("done");
}

/* 64 non-blocking connects at once: all are served. */
static void accept_many_server(void)
{
	int l = serve(), fd[64];

	for (int i = 0; i < 64; i++) {
		fd[i] = accept_one(l);
		recv_bytes(fd[i], 0, 10, 10);
		send_bytes(fd[i], 10, 10, 10);
		X(shutdown(fd[i], SHUT_WR));
	}
	/* The order of accept() need not be the order in which the client closes. */
	for (int i = 0; i < 64; i++) {
		CHECK(recv_to_end(fd[i], 10) == 10);
		close(fd[i]);
	}
}

static void accept_many_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd[64];

	for (int i = 0; i < 64; i++) {
		fd[i] = make_socket(SOCK_NONBLOCK);
		CHECK(connect(fd[i], &a.sa, a.len) < 0 && errno == EINPROGRESS);
	}
	for (int i = 0; i < 64; i++) {
		await_mask(fd[i], POLLOUT);
		set_nonblock(fd[i], false);
		send_bytes(fd[i], 0, 10, 10);
	}
	for (int i = 0; i < 64; i++) {
		check_mode(fd[i]);
		CHECK(recv_to_end(fd[i], 10) == 20);
		close(fd[i]);
	}
}

static void accept_timeo_server(void)
{
	int l = serve(), fd;

	set_timeo(l, SO_RCVTIMEO, 30);
	R(accept(l, NULL, NULL));
	barrier("timed out");
	barrier("connected");
	fd = RFD(accept(l, NULL, NULL));
	/* The child has the listener's limit, and the peer may be slower. */
	set_timeo(fd, SO_RCVTIMEO, 0);
	ping_pong(fd);
}

static void accept_timeo_client(void)
{
	int port = ctl_get(), fd;

	barrier("timed out");
	fd = connect_to(port, 0);
	barrier("connected");
	ping_pong(fd);
}

/* What a child inherits from its listener. */
static void prepare_listener(int fd)
{
	struct linger l = { 1, 7 };

	X(set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1));
	X(set_int(fd, SOL_SOCKET, SO_RCVBUF, 30000));
	X(set_int(fd, SOL_SOCKET, SO_SNDBUF, 40000));
	X(set_int(fd, SOL_SOCKET, SO_RCVLOWAT, 5));
	X(set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1));
	X(set_int(fd, SOL_SOCKET, SO_PRIORITY, 3));
	X(set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1));
	X(set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, 77));
	X(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
}

static void accept_inherits_server(void)
{
	int fd = pair_with(prepare_listener);
	struct linger l;
	socklen_t len = sizeof(l);

	R(get_int(fd, SOL_SOCKET, SO_KEEPALIVE));
	R(get_int(fd, SOL_SOCKET, SO_RCVBUF));
	R(get_int(fd, SOL_SOCKET, SO_SNDBUF));
	R(get_int(fd, SOL_SOCKET, SO_RCVLOWAT));
	R(get_int(fd, SOL_SOCKET, SO_REUSEADDR));
	R(get_int(fd, SOL_SOCKET, SO_PRIORITY));
	R(get_int(fd, SOL_SOCKET, SO_ACCEPTCONN));
	R(get_int(fd, SOL_SOCKET, SO_TYPE));
	R(get_int(fd, SOL_SOCKET, SO_DOMAIN));
	R(get_int(fd, IPPROTO_TCP, TCP_NODELAY));
	R(get_int(fd, IPPROTO_TCP, TCP_KEEPIDLE));
	R(getsockopt(fd, SOL_SOCKET, SO_LINGER, &l, &len));
	rec("linger %d %d", l.l_onoff, l.l_linger);
	barrier("looked");
}

static void accept_inherits_client(void)
{
	pair();
	barrier("looked");
}

static void *accept_thread(struct worker *w)
{
	char c;

	for (;;) {
		int fd = accept(w->fd, NULL, NULL);

		if (fd < 0)
			break;
		if (recv(fd, &c, 1, 0) == 1 && send(fd, &c, 1, 0) == 1)
			w->ret++;
		close(fd);
	}
	w->err = errno;
	return NULL;
}

/* Each connection is accepted once, however many processes wait for it. */
static void accept_threads_server(void)
{
	struct worker w[8];
	int l = serve();
	long sum = 0;

	memset(w, 0, sizeof(w));
	for (int i = 0; i < 8; i++) {
		w[i].run = accept_thread;
		w[i].fd = l;
		worker_start(&w[i]);
	}
	barrier("all served");
	X(shutdown(l, SHUT_RDWR));
	for (int i = 0; i < 8; i++) {
		worker_join(&w[i]);
		sum += w[i].ret;
		CHECK(w[i].err == EINVAL);
	}
	rec("%ld served", sum);
}

static void accept_threads_client(void)
{
	int port = ctl_get();
	char c;

	for (int i = 0; i < 80; i++) {
		int fd = connect_to(port, 0);

		CHECK(send(fd, "x", 1, 0) == 1);
		CHECK(recv(fd, &c, 1, 0) == 1);
		close(fd);
	}
	barrier("all served");
}

/* Non-blocking I/O right after accept(), in whatever state the child is. */
static void accept_then_poll_server(void)
{
	int l = serve(), n = 0;

	for (int i = 0; i < 20; i++) {
		int fd = X(accept4(l, NULL, NULL, SOCK_NONBLOCK));
		char buf[100];
		ssize_t k;

		for (n = 0; n < 100; n += k) {
			k = recv(fd, buf, sizeof(buf), 0);
			if (k < 0) {
				CHECK(errno == EAGAIN);
				await_mask(fd, POLLIN);
				k = 0;
				continue;
			}
			CHECK(k);
			verify(buf, k, n);
		}
		await_mask(fd, POLLOUT);
		CHECK(send(fd, buf, 1, 0) == 1);
		close(fd);
	}
	rec("%d bytes", n);
}

static void accept_then_poll_client(void)
{
	int port = ctl_get();
	char c;

	for (int i = 0; i < 20; i++) {
		int fd = connect_to(port, 0);

		send_bytes(fd, 0, 100, 30);
		CHECK(recv(fd, &c, 1, 0) == 1);
		close(fd);
	}
}

/* The server sends first, as soon as accept() returns. */
static void accept_server_first_server(void)
{
	int l = serve();

	for (int i = 0; i < 20; i++) {
		int fd = X(accept(l, NULL, NULL));

		send_bytes(fd, i, 3000, 3000);
		close(fd);
	}
}

static void accept_server_first_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < 20; i++) {
		int fd = connect_to(port, 0);

		CHECK(recv_to_end(fd, i) == i + 3000u);
		close(fd);
	}
}

/* accept() usually returns during the handshake, so the shutdown is done at its end. */
static void shutdown_early_server(void)
{
	int l = serve(), ended = 0;

	for (int i = 0; i < many(20); i++) {
		int fd = X(accept(l, NULL, NULL));

		CHECK(!shutdown(fd, SHUT_WR));
		CHECK(send(fd, "x", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE);
		ended += recv_to_end(fd, 0) == 1000;
		close(fd);
	}
	rec("all: %d", ended == many(20));
}

static void shutdown_early_client(void)
{
	int port = ctl_get(), ended = 0;

	for (int i = 0; i < many(20); i++) {
		int fd = connect_to(port, 0);

		ended += recv_to_end(fd, 0) == 0;
		send_bytes(fd, 0, 1000, 1000);
		close(fd);
	}
	rec("all: %d", ended == many(20));
}

/* ---- TCP_DEFER_ACCEPT ---- */

static int defer_on(int seconds)
{
	int l = listen_on(10);
	struct addr a = name_of(l);

	R(set_int(l, IPPROTO_TCP, TCP_DEFER_ACCEPT, seconds));
	set_nonblock(l, true);
	ctl_put(addr_port(&a));
	return l;
}

/* The client sends once connect() returns, perhaps before the server's handshake has ended. */
static void defer_early_server(void)
{
	int l = defer_on(3000);

	set_nonblock(l, false);
	for (int i = 0; i < many(20); i++) {
		int fd = X(accept(l, NULL, NULL));

		recv_bytes(fd, i, 1, 1);
		send_bytes(fd, i, 1, 1);
		close(fd);
	}
}

static void defer_early_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < many(20); i++) {
		int fd = connect_any(port);

		send_bytes(fd, i, 1, 1);
		recv_bytes(fd, i, 1, 1);
		check_mode(fd);
		close(fd);
	}
}

/* Only a client that has sent something is there, whatever order they came in. */
static void defer_server(void)
{
	int l = defer_on(3000), fd;
	char buf[10];

	barrier("connected");
	rec("poll %s", mask_name(poll_mask(l, POLLIN)));
	R(accept(l, NULL, NULL));
	barrier("nothing");
	rec("poll %s", mask_name(await_mask(l, POLLIN)));
	fd = X(accept(l, NULL, NULL));
	check_mode(fd);
	R(recv(fd, buf, 10, MSG_DONTWAIT));
	rec("%c", buf[0]);
	rec("poll %s", mask_name(poll_mask(l, POLLIN)));
	R(accept(l, NULL, NULL));
	barrier("first");
	close(fd);
	await_mask(l, POLLIN);
	fd = X(accept(l, NULL, NULL));
	R(recv(fd, buf, 10, MSG_DONTWAIT));
	barrier("done");
}

static void defer_client(void)
{
	int port = ctl_get(), a = connect_to(port, 0), b = connect_to(port, 0);

	barrier("connected");
	barrier("nothing");
	R(send(b, "b", 1, 0));
	barrier("first");
	R(close(a));
	barrier("done");
}

static void *accept_it(struct worker *w)
{
	char buf[10];
	int fd = X(accept(w->fd, NULL, NULL));

	w->ret = recv(fd, buf, 10, MSG_DONTWAIT);
	return NULL;
}

/* Tasks that sleep in accept() and in epoll_wait() are woken by the data. */
static void defer_sleep_server(void)
{
	struct worker w = { .run = accept_it };
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int l = defer_on(3000), ep = X(epoll_create1(0));

	X(epoll_ctl(ep, EPOLL_CTL_ADD, l, &ev));
	barrier("connected");
	R(epoll_wait(ep, &ev, 1, 0));
	barrier("epoll");
	R(epoll_wait(ep, &ev, 1, -1));
	X(accept(l, NULL, NULL));
	set_nonblock(l, false);
	w.fd = l;
	worker_start(&w);
	await_blocked(getpid(), w.tid);
	barrier("accept");
	worker_join(&w);
	rec("recv %ld", w.ret);
	barrier("done");
}

static void defer_sleep_client(void)
{
	int port = ctl_get(), a = connect_to(port, 0), b = connect_to(port, 0);

	barrier("connected");
	barrier("epoll");
	send_bytes(b, 0, 5, 5);
	barrier("accept");
	send_bytes(a, 0, 5, 5);
	barrier("done");
}

/* After the time, the client is accepted without data. */
static void defer_timeout_server(void)
{
	int l = defer_on(1), fd;
	char c;

	barrier("connected");
	rec("poll %s", mask_name(await_mask(l, POLLIN)));
	fd = X(accept(l, NULL, NULL));
	check_mode(fd);
	R(recv(fd, &c, 1, MSG_DONTWAIT));
	barrier("accepted");
	recv_bytes(fd, 0, 5, 5);
	/* Without the option, they are accepted at once. */
	R(set_int(l, IPPROTO_TCP, TCP_DEFER_ACCEPT, 0));
	barrier("off");
	await_mask(l, POLLIN);
	X(accept(l, NULL, NULL));
	barrier("done");
}

static void defer_timeout_client(void)
{
	int port = ctl_get(), fd = connect_to(port, 0);

	barrier("connected");
	barrier("accepted");
	send_bytes(fd, 0, 5, 5);
	barrier("off");
	connect_to(port, 0);
	barrier("done");
}

const struct test_case accept_cases[] = {
	CASE(accept_flags, 0, "accept4 flags, nothing inherited from the listener"),
	CASE(accept_nonblock, 0, "accept() without a connection fails with EAGAIN"),
	CASE(accept_address, 0, "the peer's address, with short and with bad buffers"),
	CASE(accept_after_close, 0, "accept a client that has written and closed"),
	CASE(accept_after_reset, 0, "accept a connection that the client has reset"),
	CASE(accept_late, 0, "data that arrives before accept()"),
	CASE(accept_many, 0, "64 connects at once"),
	CASE(accept_timeo, 0, "SO_RCVTIMEO ends an accept"),
	CASE(accept_inherits, 0, "options that a child inherits from its listener"),
	CASE(accept_threads, 0, "eight threads accept from one listener"),
	CASE(accept_then_poll, 0, "non-blocking reads right after accept"),
	CASE(accept_server_first, 0, "the server writes first"),
	CASE(shutdown_early, 0, "shutdown() right after accept()"),
	CASE(defer, 0, "TCP_DEFER_ACCEPT: only clients that have sent something"),
	CASE(defer_early, 0, "TCP_DEFER_ACCEPT: data as soon as connect() returns"),
	CASE(defer_sleep, 0, "TCP_DEFER_ACCEPT wakes accept() and epoll when data arrives"),
	CASE(defer_timeout, 0, "TCP_DEFER_ACCEPT accepts a silent client after the time"),
	{ 0 }
};
