// SPDX-License-Identifier: GPL-2.0
/* connect(): blocking, not blocking, refused, interrupted, timed out, undone. */
#include <fcntl.h>
#include <linux/smc_reason.h>
#include <sys/un.h>

#include "loopback_up.h"
#include "role.h"

static void connect_blocking_server(void)
{
	int fd = pair();
	struct addr me_ = name_of(fd), p = { .len = sizeof(p.ss) };

	rec("name %s", addr_kind(&me_));
	R(getpeername(fd, &p.sa, &p.len));
	rec("peer %s", addr_kind(&p));
	ctl_put(addr_port(&p));
	ctl_put(addr_port(&me_));
	ping_pong(fd);
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
}

static void connect_blocking_client(void)
{
	int fd = pair();
	struct addr me_ = name_of(fd), p = { .len = sizeof(p.ss) };

	rec("name %s", addr_kind(&me_));
	R(getpeername(fd, &p.sa, &p.len));
	rec("peer %s", addr_kind(&p));
	CHECK(ctl_get() == addr_port(&me_));
	CHECK(ctl_get() == addr_port(&p));
	rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLOUT | POLLRDHUP)));
	ping_pong(fd);
	R(connect(fd, &p.sa, p.len));
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
}

static void connect_nonblock_server(void)
{
	int l = serve(), fd = accept_one(l);

	ping_pong(fd);
	barrier("done");
}

static void connect_nonblock_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(SOCK_NONBLOCK);

	R(connect(fd, &a.sa, a.len));
	rec("poll %s", mask_name(await_mask(fd, POLLOUT)));
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	R(connect(fd, &a.sa, a.len));
	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	set_nonblock(fd, false);
	ping_pong(fd);
	barrier("done");
}

/* A socket that was shut down stays so. */
static void shutdown_connect_server(void)
{
	int l = serve();

	for (int how = SHUT_RD; how <= SHUT_RDWR; how++) {
		int fd = X(accept(l, NULL, NULL));

		barrier("shown");
		close(fd);
	}
}

static void shutdown_connect_client(void)
{
	struct addr a = loopback(ctl_get());
	char c;

	for (int how = SHUT_RD; how <= SHUT_RDWR; how++) {
		int fd = make_socket(SOCK_NONBLOCK);

		R(shutdown(fd, how));
		R(connect(fd, &a.sa, a.len));
		CHECK(me.any_mode || !me.var->smc || smc_reason(fd) == SMC_REASON_SHUT_DOWN);
		rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLRDHUP)));
		R(recv(fd, &c, 1, 0));
		barrier("shown");
		close(fd);
	}
}

/* Data that is sent as soon as poll() allows it arrives, and the peer can answer it. */
static void connect_nonblock_send_server(void)
{
	int fd = accept_one(serve());

	recv_bytes(fd, 0, 1000, 1000);
	send_bytes(fd, 0, 1000, 1000);
}

static void connect_nonblock_send_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(SOCK_NONBLOCK);
	char buf[1000];

	fill(buf, sizeof(buf), 0);
	R(connect(fd, &a.sa, a.len));
	await_mask(fd, POLLOUT);
	R(send(fd, buf, sizeof(buf), 0));
	await_mask(fd, POLLIN);
	set_nonblock(fd, false);
	recv_bytes(fd, 0, 1000, 1000);
}

/* The server accepts only after the client has written: the client need not wait for accept(). */
static void connect_nonblock_alone_server(void)
{
	int l = serve(), fd;

	barrier("written");
	fd = accept_one(l);
	recv_bytes(fd, 0, 1000, 1000);
	barrier("read");
}

static void connect_nonblock_alone_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(SOCK_NONBLOCK);
	char buf[1000];

	fill(buf, sizeof(buf), 0);
	R(connect(fd, &a.sa, a.len));
	rec("poll %s", mask_name(await_mask(fd, POLLOUT)));
	check_mode(fd);
	R(send(fd, buf, sizeof(buf), 0));
	barrier("written");
	barrier("read");
}

/* A blocking send() during a non-blocking connect() waits until connect() has finished. */
static void connect_then_block_server(void)
{
	int fd = accept_one(serve());

	recv_bytes(fd, 0, 100, 100);
	barrier("done");
}

static void connect_then_block_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(SOCK_NONBLOCK);
	char buf[100];

	fill(buf, sizeof(buf), 0);
	X(connect(fd, &a.sa, a.len) < 0 && errno != EINPROGRESS ? -1 : 0);
	set_nonblock(fd, false);
	R(send(fd, buf, sizeof(buf), 0));
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	check_mode(fd);
	barrier("done");
}

/* A listener with a full queue answers no SYN, like a peer that does not exist. */
static int full_listener(struct addr *a)
{
	int l = make_kind(&me.var->server, SOCK_CLOEXEC);
	int filler = make_tcp(SOCK_CLOEXEC);

	*a = loopback(0);
	X(bind(l, &a->sa, a->len));
	X(listen(l, 0));
	*a = name_of(l);
	X(connect(filler, &a->sa, a->len));
	return l;
}

static void connect_already(void)
{
	struct addr a, p = { .len = sizeof(p.ss) };
	int fd, l = full_listener(&a);
	char c;

	fd = make_socket(SOCK_NONBLOCK);
	R(connect(fd, &a.sa, a.len));
	R(connect(fd, &a.sa, a.len));
	rec("poll %s", mask_name(poll_mask(fd, ~0u)));
	R(recv(fd, &c, 1, 0));
	R(send(fd, &c, 1, MSG_NOSIGNAL));
	R(getpeername(fd, &p.sa, &p.len));
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	R(listen(fd, 1));
	R(bind(fd, &a.sa, a.len));
	R(shutdown(fd, SHUT_WR));
	rec("poll %s", mask_name(poll_mask(fd, ~0u)));
	R(close(fd));
	close(l);
}

static void connect_timeo(void)
{
	struct addr a;
	int fd, l = full_listener(&a);
	char c;

	fd = make_socket(0);
	set_timeo(fd, SO_SNDTIMEO, 50);
	set_timeo(fd, SO_RCVTIMEO, 50);
	R(connect(fd, &a.sa, a.len));
	R(connect(fd, &a.sa, a.len));
	R(send(fd, "x", 1, MSG_NOSIGNAL));
	R(recv(fd, &c, 1, 0));
	R(recv(fd, &c, 1, MSG_PEEK));
	/* This waits, too, and then is content with nothing. */
	R(recv(fd, &c, 0, 0));
	R(recv(fd, &c, 0, MSG_DONTWAIT));
	/* Nobody waits for an urgent byte. */
	R(recv(fd, &c, 1, MSG_OOB));
	rec("poll %s", mask_name(poll_mask(fd, ~0u)));
	R(close(fd));
	close(l);
}

static int closed_port(void)
{
	int fd = make_tcp(0);
	struct addr a = loopback(0);

	X(bind(fd, &a.sa, a.len));
	a = name_of(fd);
	close(fd);
	return addr_port(&a);
}

static void connect_refused_server(void)
{
	int fd = accept_one(serve());

	ping_pong(fd);
	fd = accept_one(serve());
	ping_pong(fd);
}

/* Refused; then the same socket connects to a server that answers. */
static void connect_refused_client(void)
{
	struct addr bad = loopback(closed_port()), good = loopback(ctl_get());
	int fd = make_socket(0);
	char c;

	R(connect(fd, &bad.sa, bad.len));
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	rec("poll %s", mask_name(poll_mask(fd, ~0u)));
	R(recv(fd, &c, 1, 0));
	R(send(fd, "x", 1, MSG_NOSIGNAL));
	R(connect(fd, &good.sa, good.len));
	check_mode(fd);
	ping_pong(fd);
	close(fd);

	good = loopback(ctl_get());
	fd = make_socket(SOCK_NONBLOCK);
	R(connect(fd, &bad.sa, bad.len));
	rec("poll %s", mask_name(await_mask(fd, POLLERR)));
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	rec("poll %s", mask_name(poll_mask(fd, ~0u)));
	/* the first call learns that the attempt has ended, the second starts a new one */
	R(connect(fd, &good.sa, good.len));
	R(connect(fd, &good.sa, good.len));
	await_mask(fd, POLLOUT);
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	check_mode(fd);
	set_nonblock(fd, false);
	ping_pong(fd);
}

static void connect_refused_late(void)
{
	struct addr bad = loopback(closed_port());
	int fd = make_socket(SOCK_NONBLOCK);
	char c;

	/* the error is reported once, to whichever call comes first */
	R(connect(fd, &bad.sa, bad.len));
	await_mask(fd, POLLERR);
	R(connect(fd, &bad.sa, bad.len));
	R(recv(fd, &c, 1, 0));
	close(fd);

	fd = make_socket(SOCK_NONBLOCK);
	R(connect(fd, &bad.sa, bad.len));
	await_mask(fd, POLLERR);
	R(recv(fd, &c, 1, 0));
	R(recv(fd, &c, 1, 0));
	R(send(fd, &c, 1, MSG_NOSIGNAL));
}

static volatile bool main_goes;

static void *interrupt_main(struct worker *w)
{
	AWAIT(main_goes);
	await_blocked(getpid(), getpid());
	X(kill(getpid(), SIGUSR1));
	return NULL;
}

/* EINTR; the connect continues and succeeds once the queue has room. */
static void connect_interrupted(void)
{
	struct worker w = { .run = interrupt_main };
	struct addr a;
	int fd, l = full_listener(&a), c;

	on_signal(SIGUSR1, 0);
	fd = make_socket(0);
	worker_start(&w);
	main_goes = true;
	R(connect(fd, &a.sa, a.len));
	rec("%d signals", (int)signals_seen);
	worker_join(&w);
	rec("poll %s", mask_name(poll_mask(fd, ~0u)));

	close(X(accept(l, NULL, NULL)));
	/* now the listener answers the retransmitted SYN */
	rec("poll %s", mask_name(await_mask(fd, POLLOUT)));
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	R(connect(fd, &a.sa, a.len));
	R(connect(fd, &a.sa, a.len));
	c = X(accept(l, NULL, NULL));
	X(send(fd, "x", 1, 0));
	recv(c, &a, 1, MSG_WAITALL);
	check_mode(fd);
}

static void connect_interrupted_restart(void)
{
	struct worker w = { .run = interrupt_main };
	struct addr a;
	int fd, l = full_listener(&a);

	on_signal(SIGUSR1, SA_RESTART);
	fd = make_socket(0);
	set_timeo(fd, SO_SNDTIMEO, 60000);
	worker_start(&w);
	main_goes = true;
	R(connect(fd, &a.sa, a.len));
	worker_join(&w);
	rec("%d signals", (int)signals_seen);
	close(l);
}

static void *block_in_connect(struct worker *w)
{
	struct addr *a = w->data;

	w->ret = connect(w->fd, &a->sa, a->len);
	w->err = errno;
	return NULL;
}

/* One thread sleeps in connect() while another cancels it, in each of two ways. */
static void connect_cancelled(void)
{
	struct sockaddr unspec = { .sa_family = AF_UNSPEC };
	struct addr a;
	int l = full_listener(&a);

	for (int way = 0; way < 2; way++) {
		struct worker w = { .run = block_in_connect, .data = &a };

		w.fd = make_socket(0);
		worker_start(&w);
		await_blocked(getpid(), w.tid);
		if (way)
			R(connect(w.fd, &unspec, sizeof(unspec)));
		else
			R(shutdown(w.fd, SHUT_RDWR));
		worker_join(&w);
		rec("connect %ld %s", w.ret, err_name(w.err));
		rec("poll %s", mask_name(poll_mask(w.fd, ~0u)));
		R(get_int(w.fd, SOL_SOCKET, SO_ERROR));
		close(w.fd);
	}
	close(l);
}

/* Two threads sleep in connect(): whoever is the second one to see the connection has it, too. */
static void connect_twice(void)
{
	struct addr a;
	int l = full_listener(&a), fd = make_socket(0);
	struct worker w[2];

	for (int i = 0; i < 2; i++) {
		w[i] = (struct worker){ .run = block_in_connect, .fd = fd, .data = &a };
		worker_start(&w[i]);
		await_blocked(getpid(), w[i].tid);
	}
	close(X(accept(l, NULL, NULL)));
	/* Now the listener answers the repeated SYN. */
	for (int i = 0; i < 2; i++) {
		worker_join(&w[i]);
		rec("connect %ld %s", w[i].ret, w[i].ret ? err_name(w[i].err) : "");
	}
	check_mode(fd);
	R(connect(fd, &a.sa, a.len));
	close(fd);
	close(l);
}

/* The handshake of a child may still run. */
static void connect_child_server(void)
{
	int l = serve(), fd = X(accept(l, NULL, NULL));
	struct addr a = name_of(l);

	R(connect(fd, &a.sa, a.len));
	set_nonblock(fd, true);
	R(connect(fd, &a.sa, a.len));
	set_nonblock(fd, false);
	ping_pong(fd);
}

static void connect_child_client(void)
{
	ping_pong(connect_to(ctl_get(), 0));
}

/* What a program sees that uses a socket without a second connect(), and then connects again. */
static void connect_late_server(void)
{
	int l = serve(), fd = X(accept(l, NULL, NULL));

	barrier("up");
	X(shutdown(fd, SHUT_WR));
	/* Over SMC-R, a reset of TCP can overtake the end of the stream. */
	barrier("ended");
	reset(fd);
	barrier("reset");
	fd = X(accept(l, NULL, NULL));
	barrier("shut");
	close(fd);
}

static void connect_late_client(void)
{
	struct addr a = loopback(ctl_get());
	int fd = make_socket(SOCK_NONBLOCK);

	CHECK(!connect(fd, &a.sa, a.len) || errno == EINPROGRESS);
	await_mask(fd, POLLOUT);
	check_mode(fd);
	barrier("up");
	await_mask(fd, POLLRDHUP);
	barrier("ended");
	barrier("reset");
	await_mask(fd, POLLERR);
	R(connect(fd, &a.sa, a.len));
	close(fd);

	fd = make_socket(SOCK_NONBLOCK);
	CHECK(!connect(fd, &a.sa, a.len) || errno == EINPROGRESS);
	await_mask(fd, POLLOUT);
	R(shutdown(fd, SHUT_WR));
	R(connect(fd, &a.sa, a.len));
	barrier("shut");
}

static void connect_to_self(void)
{
	struct addr a = loopback(0);
	int fd = make_socket(0);
	char buf[5] = "";

	X(bind(fd, &a.sa, a.len));
	a = name_of(fd);
	R(connect(fd, &a.sa, a.len));
	R(send(fd, "self", 4, 0));
	R(recv(fd, buf, 4, MSG_WAITALL));
	rec("\"%s\"", buf);
	R(shutdown(fd, SHUT_WR));
	R(recv(fd, buf, 4, 0));
	rec("poll %s", mask_name(await_mask(fd, POLLHUP)));
	R(close(fd));
}

static int bound(const struct kind *kind, struct addr *a)
{
	int fd = make_kind(kind, SOCK_NONBLOCK);

	*a = loopback(0);
	X(bind(fd, &a->sa, a->len));
	*a = name_of(fd);
	return fd;
}

/* A simultaneous open: neither end listens. Both SYNs are lost, and one of them is sent again. */
static void connect_crossed(void)
{
	struct addr a[2];
	int fd[2] = { bound(&me.kind, &a[0]), bound(&me.var->server, &a[1]) };
	char buf[5] = "";

	CHECK(loopback_drops(true));
	for (int i = 0; i < 2; i++)
		R(connect(fd[i], &a[!i].sa, a[!i].len));
	CHECK(loopback_drops(false));
	for (int i = 0; i < 2; i++) {
		rec("poll %s", mask_name(await_mask(fd[i], POLLOUT)));
		set_nonblock(fd[i], false);
		R(send(fd[i], i ? "pong" : "ping", 4, 0));
	}
	for (int i = 0; i < 2; i++) {
		R(recv(fd[i], buf, 4, MSG_WAITALL));
		rec("\"%s\"", buf);
		R(shutdown(fd[i], SHUT_WR));
	}
	for (int i = 0; i < 2; i++) {
		R(recv(fd[i], buf, 4, 0));
		R(close(fd[i]));
	}
}

static void connect_bad_address(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "x" };
	struct addr a = loopback(9), other = a;
	int fd = make_socket(0);

	R(connect(fd, (struct sockaddr *)&un, sizeof(un)));
	R(connect(fd, &a.sa, 0));
	R(connect(fd, &a.sa, 1));
	R(connect(fd, &a.sa, 8));
	R(connect(fd, NULL, a.len));
	R(connect(fd, &a.sa, 4000));
	other.sa.sa_family = me.var->ipv6 ? 99 : AF_INET6;
	R(connect(fd, &other.sa, other.len));
	a = loopback(0);
	R(connect(fd, &a.sa, a.len));
	a = loopback(9);
	a.sa.sa_family = AF_UNSPEC;
	R(connect(fd, &a.sa, a.len));
}

/* The namespace of a case has only lo. */
static void connect_unreachable(void)
{
	struct addr a = loopback(9);
	int fd = make_socket(0);

	if (me.var->ipv6)
		a.in6.sin6_addr.s6_addr[0] = 0x20;
	else
		a.in.sin_addr.s_addr = htonl(0xc0000201);
	R(connect(fd, &a.sa, a.len));
	set_nonblock(fd, true);
	R(connect(fd, &a.sa, a.len));
	rec("poll %s", mask_name(poll_mask(fd, ~0u)));
	if (!me.var->ipv6) {
		a.in.sin_addr.s_addr = htonl(0xffffffff);
		R(connect(fd, &a.sa, a.len));
		a.in.sin_addr.s_addr = htonl(0xe0000001);
		R(connect(fd, &a.sa, a.len));
	}
}

static void connect_bound_server(void)
{
	int l = serve(), fd;
	struct addr p = { .len = sizeof(p.ss) };

	fd = X(accept(l, &p.sa, &p.len));
	CHECK(ctl_get() == addr_port(&p));
	ping_pong(fd);
}

static void connect_bound_client(void)
{
	struct addr a = loopback(ctl_get()), b = loopback(0);
	int fd = make_socket(0);

	X(bind(fd, &b.sa, b.len));
	b = name_of(fd);
	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	a = name_of(fd);
	CHECK(addr_port(&a) == addr_port(&b));
	ctl_put(addr_port(&b));
	ping_pong(fd);
}

/* connect(AF_UNSPEC) resets the connection; the socket can be used again. */
static void disconnect_server(void)
{
	int l = serve(), fd = accept_one(l);
	char c;

	ping_pong(fd);
	rec("poll %s", mask_name(await_mask(fd, POLLHUP)));
	R(recv(fd, &c, 1, 0));
	R(recv(fd, &c, 1, 0));
	close(fd);
	fd = accept_one(l);
	ping_pong(fd);
}

static void disconnect_client(void)
{
	struct addr a = loopback(ctl_get()), u = a, p = { .len = sizeof(p.ss) };
	int fd = make_socket(0);
	char c;

	u.sa.sa_family = AF_UNSPEC;
	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	ping_pong(fd);
	R(connect(fd, &u.sa, u.len));
	R(getpeername(fd, &p.sa, &p.len));
	R(recv(fd, &c, 1, 0));
	R(send(fd, &c, 1, MSG_NOSIGNAL));
	rec("poll %s", mask_name(poll_mask(fd, ~0u)));
	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	ping_pong(fd);
}

/* Connected again, the socket meets a peer that is plain TCP. */
static void disconnect_to_tcp_server(void)
{
	int l = serve();
	char c;

	for (int i = 0; i < 20; i++) {
		int fd = accept_one(l);

		barrier("connected");
		await_mask(fd, POLLHUP);
		CHECK(recv(fd, &c, 1, 0) < 0 && errno == ECONNRESET);
		close(fd);
	}
}

static void disconnect_to_tcp_client(void)
{
	struct addr a = loopback(ctl_get()), u = a, t;
	int l = listen_tcp(5, &t);

	u.sa.sa_family = AF_UNSPEC;
	for (int i = 0; i < 20; i++) {
		int fd = connect_to(addr_port(&a), 0), s;

		barrier("connected");
		/* the corked data is lost with the connection */
		if (i & 1)
			X(send(fd, "c", 1, MSG_MORE));
		X(connect(fd, &u.sa, u.len));
		X(connect(fd, &t.sa, t.len));
		s = X(accept(l, NULL, NULL));
		ping_pong_local(fd, s);
		CHECK(me.any_mode || smc_mode(fd) == MODE_TCP);
		close(s);
		close(fd);
	}
}

/* Corked, reset by the peer, and connected again before any call returned the error. */
static void reset_again_server(void)
{
	int l = serve();

	for (int i = 0; i < 6; i++) {
		int fd = accept_one(l);

		barrier("corked");
		reset(fd);
		barrier("reset");
		fd = accept_one(l);
		ping_pong(fd);
		rec("end at %d", (int)recv_to_end(fd, 1));
		close(fd);
	}
}

static void reset_again_client(void)
{
	struct addr a = loopback(ctl_get());

	for (int i = 0; i < 6; i++) {
		int fd = make_socket(SOCK_NONBLOCK);

		R(connect(fd, &a.sa, a.len));
		await_mask(fd, POLLOUT);
		check_mode(fd);
		R(send(fd, "abc", 3, MSG_MORE));
		barrier("corked");
		barrier("reset");
		await_mask(fd, POLLHUP);
		if (i & 1)
			R(send(fd, "d", 1, MSG_MORE | MSG_NOSIGNAL));
		if (i & 2)
			R(get_int(fd, SOL_SOCKET, SO_ERROR));
		/* the first call learns that the attempt has ended, the second starts a new one */
		R(connect(fd, &a.sa, a.len));
		R(connect(fd, &a.sa, a.len));
		await_mask(fd, POLLOUT);
		R(get_int(fd, SOL_SOCKET, SO_ERROR));
		check_mode(fd);
		set_nonblock(fd, false);
		ping_pong(fd);
		R(close(fd));
	}
}

static void connect_close_loop_server(void)
{
	int l = serve(), fd;
	char c;

	for (int i = 0; i < 100; i++) {
		fd = X(accept(l, NULL, NULL));
		CHECK(recv(fd, &c, 1, 0) == (i & 1));
		close(fd);
	}
}

static void connect_close_loop_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < 100; i++) {
		int fd = connect_to(port, 0);

		if (i & 1)
			CHECK(send(fd, "x", 1, 0) == 1);
		close(fd);
	}
}

/*
 * The application gives up while the handshake is running. The handshake may end well after the
 * close, so an empty accept queue proves nothing. Only the connection that was not given up sends a
 * byte.
 */
static void connect_abandoned_server(void)
{
	int l = serve(), fd;
	ssize_t n;
	char c;

	barrier("gone");
	for (;;) {
		fd = X(accept(l, NULL, NULL));
		n = recv(fd, &c, 1, 0);
		if (n > 0)
			break;
		CHECK(n == 0 || errno == ECONNRESET);
		close(fd);
	}
	check_mode(fd);
	CHECK(c == 'p');
	CHECK(send(fd, "p", 1, MSG_NOSIGNAL) == 1);
}

static void connect_abandoned_client(void)
{
	struct addr a = loopback(ctl_get());

	for (int i = 0; i < 50; i++) {
		int fd = make_socket(SOCK_NONBLOCK);

		if (i % 3 == 1) {
			struct linger l = { 1, 0 };

			setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
		}
		connect(fd, &a.sa, a.len);
		if (i % 3 == 2)
			shutdown(fd, SHUT_RDWR);
		close(fd);
	}
	barrier("gone");
	ping_pong(connect_to(addr_port(&a), 0));
}

const struct test_case connect_cases[] = {
	CASE(connect_blocking, 0, "addresses of both ends, then EISCONN"),
	CASE(connect_nonblock, 0, "non-blocking: EINPROGRESS, poll, SO_ERROR, 0, EISCONN"),
	CASE(shutdown_connect, 0, "shutdown() before connect()"),
	CASE(connect_nonblock_send, 0, "send() as soon as poll() reports room"),
	CASE(connect_nonblock_alone, 0, "a non-blocking connect completes before accept()"),
	CASE(connect_then_block, 0, "a blocking send() waits for a non-blocking connect"),
	SOLO(connect_already, 0, "every call during a non-blocking connect"),
	SOLO(connect_timeo, 0, "SO_SNDTIMEO and SO_RCVTIMEO during a connect that hangs"),
	CASE(connect_refused, 0, "ECONNREFUSED, then a connect that succeeds"),
	SOLO(connect_refused_late, 0, "which call reports that a non-blocking connect failed"),
	SOLO(connect_interrupted, 0, "EINTR, and the connect continues"),
	SOLO(connect_interrupted_restart, 0, "a signal during connect(), with SA_RESTART and SO_SNDTIMEO"),
	SOLO(connect_cancelled, 0, "another thread cancels a blocking connect"),
	SOLO(connect_twice, 0, "two threads sleep in connect() of one socket"),
	CASE(connect_child, 0, "connect() of an accepted socket"),
	CASE(connect_late, 0, "the second connect() after a reset, and after SHUT_WR"),
	SOLO(connect_to_self, 0, "a socket connected to itself"),
	SOLO(connect_crossed, F_ROOT | F_HERE, "two sockets connect to each other at the same time"),
	SOLO(connect_bad_address, 0, "connect() to every kind of bad address"),
	SOLO(connect_unreachable, F_ROOT, "connect() without a route, to broadcast, to multicast"),
	CASE(connect_bound, F_HERE, "connect() from a local port chosen by bind()"),
	CASE(disconnect, 0, "connect(AF_UNSPEC), then connect again"),
	CASE(disconnect_to_tcp, 0, "disconnect, then connect to plain TCP"),
	CASE(reset_again, 0, "corked data, a reset by the peer, then connect again"),
	CASE(connect_close_loop, 0, "100 short connections"),
	CASE(connect_abandoned, 0, "close() during the handshake"),
	{ 0 }
};
