// SPDX-License-Identifier: GPL-2.0
/* Listeners: backlog, wake-up, close with children, shared ports, address families. */
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "role.h"

/* Number of connects that succeed before the queue is full. */
static void backlog_count(void)
{
	struct addr a = loopback(0);
	int l = make_kind(&me.var->server, 0), fd[8], done = 0;

	X(bind(l, &a.sa, a.len));
	R(listen(l, 2));
	a = name_of(l);
	for (int i = 0; i < 3; i++) {
		fd[i] = make_socket(0);
		R(connect(fd[i], &a.sa, a.len));
	}
	fd[3] = make_socket(SOCK_NONBLOCK);
	R(connect(fd[3], &a.sa, a.len));
	rec("poll %s", mask_name(poll_mask(fd[3], POLLOUT)));
	set_nonblock(l, true);
	for (int i = 0; i < 3; i++, done++)
		ping_pong_local(fd[i], X(accept(l, NULL, NULL)));
	rec("%d accepted", done);
	close(fd[3]);
}

static void *block_in_accept(struct worker *w)
{
	w->ret = accept(w->fd, NULL, NULL);
	w->err = errno;
	return NULL;
}

static void listen_shutdown(void)
{
	struct worker w = { .run = block_in_accept };
	int l = listen_on(5);
	struct addr a = name_of(l);

	w.fd = l;
	worker_start(&w);
	await_blocked(getpid(), w.tid);
	R(shutdown(l, SHUT_RD));
	worker_join(&w);
	rec("accept: %ld %s", w.ret, err_name(w.err));
	rec("poll %s", mask_name(poll_mask(l, ~0u)));
	R(accept(l, NULL, NULL));
	R(connect(make_socket(0), &a.sa, a.len));
	R(listen(l, 5));
	a = name_of(l);
	R(shutdown(l, SHUT_RDWR));
	R(shutdown(l, SHUT_RDWR));
	R(close(l));
}

static void listen_again_server(void)
{
	int l = listen_on(5), fd;
	struct addr a;

	R(shutdown(l, SHUT_RDWR));
	R(listen(l, 5));
	a = name_of(l);		/* the kernel chose the port, and chooses a new one */
	ctl_put(addr_port(&a));
	fd = accept_one(l);
	ping_pong(fd);
	barrier("done");
}

static void listen_again_client(void)
{
	int fd = connect_to(ctl_get(), 0);

	ping_pong(fd);
	barrier("done");
}

/* Closing a listener resets the children that were not accepted. */
static void listen_close_server(void)
{
	int l = serve();

	barrier("connected");
	R(close(l));
	barrier("closed");
}

static void listen_close_client(void)
{
	int port = ctl_get(), fd[3];
	struct addr a = loopback(port);
	char c;

	for (int i = 0; i < 3; i++)
		fd[i] = connect_to(port, 0);
	send_bytes(fd[1], 0, 1000, 1000);
	X(shutdown(fd[2], SHUT_WR));
	barrier("connected");
	barrier("closed");
	for (int i = 0; i < 3; i++) {
		rec("poll %d %s", i, mask_name(await_mask(fd[i], POLLHUP)));
		R(recv(fd[i], &c, 1, 0));
		R(recv(fd[i], &c, 1, 0));
		R(send(fd[i], &c, 1, MSG_NOSIGNAL));
	}
	R(connect(make_socket(0), &a.sa, a.len));
}

/* As above, while the handshakes are running, in every stage. */
static void listen_close_race_server(void)
{
	int l = listen_on(100), next;

	for (int i = 0; i < 30; i++) {
		struct addr a = name_of(l);

		ctl_put(addr_port(&a));
		/* While both listeners exist their ports differ, so the old port later has no
		 * listener.
		 */
		next = listen_on(100);
		if (i % 3 == 0)
			await_mask(l, POLLIN);
		if (i % 3 == 1)
			sched_yield();
		X(close(l));
		l = next;
		barrier("round");
	}
}

static bool ended(int fd)
{
	unsigned int m = poll_mask(fd, POLLOUT);

	if (m & POLLOUT && !(m & POLLHUP))
		send(fd, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	return m & POLLHUP;
}

static void listen_close_race_client(void)
{
	for (int i = 0; i < 30; i++) {
		struct addr a = loopback(ctl_get());
		int fd = make_socket(0), fd2 = make_socket(SOCK_NONBLOCK);
		ssize_t n;
		char c;

		connect(fd2, &a.sa, a.len);
		if (connect(fd, &a.sa, a.len) < 0) {
			CHECK(errno == ECONNREFUSED || errno == ECONNRESET);
		} else {
			/*
			 * TCP may lose the reset of a child that was not queued
			 * yet; sending something makes TCP send it again
			 */
			send(fd, "x", 1, MSG_NOSIGNAL);
			n = recv(fd, &c, 1, 0);
			CHECK(n <= 0);
		}
		AWAIT(ended(fd2));
		close(fd);
		close(fd2);
		barrier("round");
	}
}

static void reuseport_server(void)
{
	struct addr a = loopback(0);
	int l[2], n[2] = { 0, 0 };

	for (int i = 0; i < 2; i++) {
		l[i] = make_socket(SOCK_NONBLOCK);
		X(set_int(l[i], SOL_SOCKET, SO_REUSEPORT, 1));
		R(bind(l[i], &a.sa, a.len));
		R(listen(l[i], 128));
		a = name_of(l[i]);
	}
	ctl_put(addr_port(&a));
	while (n[0] + n[1] < 64) {
		for (int i = 0; i < 2; i++) {
			int fd = accept(l[i], NULL, NULL);

			if (fd < 0)
				continue;
			n[i]++;
			recv_bytes(fd, 0, 1, 1);
			send_bytes(fd, 0, 1, 1);
			close(fd);
		}
	}
	/* with 64 connects, one listener gets none with a probability of 1 to 2^63 */
	rec("both serve: %d", n[0] && n[1]);
}

static void reuseport_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < 64; i++) {
		int fd = connect_to(port, 0);

		send_bytes(fd, 0, 1, 1);
		recv_bytes(fd, 0, 1, 1);
		close(fd);
	}
}

static void dual_stack_server(void)
{
	struct addr a = wildcard(0), p = { .len = sizeof(p.ss) };
	int l = make_socket(0), fd;

	R(get_int(l, IPPROTO_IPV6, IPV6_V6ONLY));
	X(set_int(l, IPPROTO_IPV6, IPV6_V6ONLY, 0));
	X(bind(l, &a.sa, a.len));
	X(listen(l, 5));
	a = name_of(l);
	ctl_put(addr_port(&a));
	for (int i = 0; i < 3; i++) {
		p.len = sizeof(p.ss);
		fd = RFD(accept(l, &p.sa, &p.len));
		rec("from %s", addr_kind(&p));
		p = name_of(fd);
		rec("at %s", addr_kind(&p));
		check_mode(fd);
		ping_pong(fd);
		close(fd);
	}
}

static struct addr loopback4(int port, bool mapped)
{
	struct addr a;

	memset(&a, 0, sizeof(a));
	if (mapped) {
		a.in6.sin6_family = AF_INET6;
		a.in6.sin6_port = htons(port);
		a.in6.sin6_addr.s6_addr[10] = 0xff;
		a.in6.sin6_addr.s6_addr[11] = 0xff;
		a.in6.sin6_addr.s6_addr[12] = 127;
		a.in6.sin6_addr.s6_addr[15] = 1;
		a.len = sizeof(a.in6);
	} else {
		a.in.sin_family = AF_INET;
		a.in.sin_port = htons(port);
		a.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		a.len = sizeof(a.in);
	}
	return a;
}

/* The IPv4 socket of the same protocol as this role's IPv6 one. */
static int make_v4(void)
{
	struct kind k = me.kind;

	if (k.family == AF_SMC)
		k.protocol = 0;
	else
		k.family = AF_INET;
	return make_kind(&k, 0);
}

static void dual_stack_client(void)
{
	int port = ctl_get(), fd;
	struct addr a = loopback4(port, false), m = loopback4(port, true), n;

	fd = connect_to(port, 0);
	ping_pong(fd);
	fd = make_v4();
	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	ping_pong(fd);
	fd = make_socket(0);
	R(connect(fd, &m.sa, m.len));
	check_mode(fd);
	n = name_of(fd);
	rec("name %s", addr_kind(&n));
	ping_pong(fd);
}

/* An IPv6 socket connects to an IPv4 listener by a mapped address. */
static void v4mapped_server(void)
{
	struct addr a = loopback4(0, true), p = { .len = sizeof(p.ss) };
	int l = make_socket(0), fd;

	R(bind(l, &a.sa, a.len));
	R(listen(l, 5));
	a = name_of(l);
	rec("at %s", addr_kind(&a));
	ctl_put(addr_port(&a));
	fd = RFD(accept(l, &p.sa, &p.len));
	rec("from %s", addr_kind(&p));
	check_mode(fd);
	ping_pong(fd);
	close(l);
	l = make_v4();
	a = loopback4(0, false);
	X(bind(l, &a.sa, a.len));
	X(listen(l, 5));
	a = name_of(l);
	ctl_put(addr_port(&a));
	p.len = sizeof(p.ss);
	fd = RFD(accept(l, &p.sa, &p.len));
	rec("from %s", addr_kind(&p));
	ping_pong(fd);
}

static void v4mapped_client(void)
{
	struct addr a = loopback4(ctl_get(), false);
	int fd = make_v4();

	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	ping_pong(fd);
	a = loopback4(ctl_get(), true);
	fd = make_socket(0);
	R(connect(fd, &a.sa, a.len));
	check_mode(fd);
	ping_pong(fd);
}

static void v6only_server(void)
{
	struct addr a = wildcard(0), b;
	int l = make_socket(0), l4 = make_v4();

	R(set_int(l, IPPROTO_IPV6, IPV6_V6ONLY, 1));
	X(bind(l, &a.sa, a.len));
	R(set_int(l, IPPROTO_IPV6, IPV6_V6ONLY, 0));
	X(listen(l, 5));
	a = name_of(l);
	/* the port is free for IPv4, for one socket */
	b = loopback4(addr_port(&a), false);
	ctl_put(addr_port(&a));
	barrier("refused");
	R(bind(l4, &b.sa, b.len));
	R(listen(l4, 5));
	barrier("listening");
	ping_pong(accept_one(l4));
	ping_pong(accept_one(l));
}

static void v6only_client(void)
{
	int port = ctl_get(), fd = make_v4();
	struct addr a = loopback4(port, false), m = loopback4(port, true);

	R(connect(fd, &a.sa, a.len));
	R(connect(make_socket(0), &m.sa, m.len));
	fd = make_socket(0);
	R(set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1));
	R(connect(fd, &m.sa, m.len));
	barrier("refused");
	barrier("listening");
	fd = make_v4();
	R(connect(fd, &a.sa, a.len));
	ping_pong(fd);
	ping_pong(connect_to(port, 0));
}

#define MANY	200

/* A server with one process for each client, as old daemons are written. */
static void many_clients_server(void)
{
	int l = serve(), n = many(MANY), status;

	for (int i = 0; i < n; i++) {
		int fd = X(accept(l, NULL, NULL));
		pid_t pid = X(fork());

		if (!pid) {
			close(l);
			recv_bytes(fd, 0, 2000, 700);
			send_bytes(fd, 7, 2000, 2000);
			_exit(recv_to_end(fd, 2000) != 2000);
		}
		close(fd);
	}
	barrier("all served");
	for (int i = 0; i < n; i++) {
		X(wait(&status));
		CHECK(!status);
	}
}

static void many_clients_client(void)
{
	struct addr a = loopback(ctl_get());
	int n = many(MANY);
	static int fd[MANY];

	for (int i = 0; i < n; i++) {
		fd[i] = make_socket(SOCK_NONBLOCK);
		CHECK(connect(fd[i], &a.sa, a.len) < 0 && errno == EINPROGRESS);
	}
	for (int i = 0; i < n; i++) {
		await_mask(fd[i], POLLOUT);
		set_nonblock(fd[i], false);
		send_bytes(fd[i], 0, 2000, 2000);
	}
	for (int i = 0; i < n; i++) {
		check_mode(fd[i]);
		recv_bytes(fd[i], 7, 2000, 2000);
		close(fd[i]);
	}
	barrier("all served");
}

/* ---- a thousand connections at once, each end with one epoll ---- */

/* The number of connections. Buffers are small: two thousand of the default size take half a
 * GiB.
 */
#define THOUSAND	1000

/* Fewer with soft-RoCE, which takes milliseconds for each. */
static int thousand(void)
{
	return many(me.rdma ? THOUSAND / 5 : THOUSAND);
}

static void small_buffers(int fd)
{
	X(set_int(fd, SOL_SOCKET, SO_RCVBUF, 16384));
}

static int many_files(void)
{
	struct rlimit files = { 4096, 4096 };

	X(setrlimit(RLIMIT_NOFILE, &files));
	return X(epoll_create1(0));
}

static void watch(int ep, int op, int fd, unsigned int events)
{
	struct epoll_event e = { .events = events, .data.fd = fd };

	X(epoll_ctl(ep, op, fd, &e));
}

/* Echoes what a client sends; returns false when the client has closed. */
static bool echo(int fd)
{
	long number;
	ssize_t n = recv(fd, &number, sizeof(number), MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return true;
	if (!n)
		return false;
	CHECK(n == sizeof(number));
	check_mode(fd);
	CHECK(send(fd, &number, sizeof(number), MSG_NOSIGNAL) == sizeof(number));
	return true;
}

static void thousand_connects_server(void)
{
	int l = make_socket(SOCK_NONBLOCK), ep = many_files(), n = thousand(), left = n;
	struct addr a = loopback(0);
	struct epoll_event e[64];

	small_buffers(l);
	X(bind(l, &a.sa, a.len));
	X(listen(l, 2 * THOUSAND));
	a = name_of(l);
	ctl_put(addr_port(&a));
	barrier("all connects have begun");
	watch(ep, EPOLL_CTL_ADD, l, EPOLLIN);
	while (left) {
		int k = X(epoll_wait(ep, e, 64, -1));

		while (k--) {
			int fd = e[k].data.fd;

			if (fd == l) {
				while ((fd = accept4(l, NULL, NULL, SOCK_NONBLOCK)) >= 0)
					watch(ep, EPOLL_CTL_ADD, fd, EPOLLIN);
				CHECK(errno == EAGAIN);
			} else if (!echo(fd)) {
				close(fd);
				left--;
			}
		}
	}
	rec("%d served", n);
}

static void thousand_connects_client(void)
{
	struct addr a = loopback(ctl_get());
	int ep = many_files(), n = thousand(), left = n;
	static int fd[THOUSAND];
	struct epoll_event e[64];

	for (long i = 0; i < n; i++) {
		fd[i] = make_socket(SOCK_NONBLOCK);
		small_buffers(fd[i]);
		CHECK(connect(fd[i], &a.sa, a.len) < 0 && errno == EINPROGRESS);
		watch(ep, EPOLL_CTL_ADD, fd[i], EPOLLOUT);
	}
	barrier("all connects have begun");
	while (left) {
		int k = X(epoll_wait(ep, e, 64, -1));

		while (k--) {
			long number = e[k].data.fd, back;

			CHECK(!(e[k].events & (EPOLLERR | EPOLLHUP)));
			if (e[k].events & EPOLLOUT) {
				check_mode(number);
				CHECK(send(number, &number, sizeof(number), MSG_NOSIGNAL) ==
				      sizeof(number));
				watch(ep, EPOLL_CTL_MOD, number, EPOLLIN);
			} else {
				CHECK(recv(number, &back, sizeof(back), 0) == sizeof(back));
				CHECK(back == number);
				watch(ep, EPOLL_CTL_DEL, number, 0);
				left--;
			}
		}
	}
	/* All connections are open at the same time. */
	for (int i = 0; i < n; i++)
		close(fd[i]);
	rec("%d clients were served", n);
}

const struct test_case listen_cases[] = {
	SOLO(backlog_count, 0, "the backlog limits the number of queued connections"),
	SOLO(listen_shutdown, 0, "shutdown() wakes accept(), which returns EINVAL"),
	CASE(listen_again, 0, "listen() after shutdown()"),
	CASE(listen_close, 0, "closing a listener resets children not yet accepted"),
	CASE(listen_close_race, 0, "closing a listener resets children in the handshake"),
	CASE(reuseport, 0, "two listeners on one port"),
	CASE(dual_stack, F_V6, "one listener for IPv6, IPv4 and IPv4-mapped addresses"),
	CASE(v4mapped, F_V6, "IPv4-mapped addresses at either end"),
	CASE(v6only, F_V6, "IPV6_V6ONLY"),
	CASE(many_clients, F_SLOW, "a server with one process for each of many clients"),
	CASE(thousand_connects, F_V4 | F_SLOW, "1000 non-blocking connects at once"),
	{ 0 }
};
