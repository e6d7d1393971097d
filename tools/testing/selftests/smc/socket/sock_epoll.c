// SPDX-License-Identifier: GPL-2.0
/* epoll: level- and edge-triggered, one shot, exclusive; exact sequences of events. */
#include <fcntl.h>

#include "role.h"

static int ep_add(int ep, int fd, unsigned int events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
}

static int ep_mod(int ep, int fd, unsigned int events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return epoll_ctl(ep, EPOLL_CTL_MOD, fd, &ev);
}

/* An epoll instance that watches one socket. */
static int watch(int fd, unsigned int events)
{
	int ep = X(epoll_create1(0));

	R(ep_add(ep, fd, events));
	return ep;
}

/* The events that are pending now. */
static void now(int ep, const char *what)
{
	struct epoll_event ev[4];
	int n = X(epoll_wait(ep, ev, 4, 0));

	if (n)
		rec("%s: %d event, %s", what, n, mask_name(ev[0].events));
	else
		rec("%s: nothing", what);
}

/* Wait for the next event. */
static void next(int ep, const char *what)
{
	struct epoll_event ev[4];
	int n = X(epoll_wait(ep, ev, 4, -1));

	rec("%s: %d event, %s", what, n, mask_name(ev[0].events));
}

static void epoll_level_server(void)
{
	int fd = pair(), ep = watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP);
	char buf[10];

	now(ep, "quiet");
	now(ep, "still quiet");
	barrier("send");
	await_inq(fd, 4);
	next(ep, "data");	/* SIOCINQ may already count what epoll is about to report */
	now(ep, "data is still there");
	R(recv(fd, buf, 2, 0));
	now(ep, "half of the data is left");
	R(recv(fd, buf, 2, 0));
	now(ep, "read");
	R(ep_mod(ep, fd, EPOLLIN));
	now(ep, "watched for IN only");
	barrier("end");
	await_mask(fd, POLLRDHUP);
	next(ep, "end");
	R(ep_mod(ep, fd, EPOLLIN | EPOLLRDHUP));
	now(ep, "end with RDHUP");
	R(ep_mod(ep, fd, 0));
	now(ep, "watched for nothing");
	R(shutdown(fd, SHUT_WR));
	await_mask(fd, POLLHUP);
	next(ep, "HUP although not requested");
}

static void epoll_level_client(void)
{
	int fd = pair();

	barrier("send");
	send_bytes(fd, 0, 4, 4);
	barrier("end");
	close(fd);
}

/* The exact events that an edge-triggered reader sees. */
static void epoll_edge_server(void)
{
	int ep = X(epoll_create1(0)), fd = pair();
	char buf[100];

	set_nonblock(fd, true);
	R(ep_add(ep, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET));
	now(ep, "added");
	now(ep, "reported once");
	barrier("first");
	next(ep, "data");
	now(ep, "reported once");
	R(recv(fd, buf, 2, 0));
	now(ep, "a partial read raises no event");
	barrier("second");
	next(ep, "more data");
	await_inq(fd, 6);
	now(ep, "reported once");
	R(recv(fd, buf, 100, 0));
	R(recv(fd, buf, 100, 0));
	now(ep, "drained");
	barrier("third");
	next(ep, "data after EAGAIN");
	now(ep, "reported once");
	R(recv(fd, buf, 100, 0));
	R(ep_mod(ep, fd, EPOLLIN | EPOLLET));
	now(ep, "rearmed while empty");
	barrier("fourth");
	next(ep, "data");
	R(ep_mod(ep, fd, EPOLLIN | EPOLLET));
	next(ep, "rearmed while data is there");
	R(recv(fd, buf, 100, 0));
	R(ep_mod(ep, fd, EPOLLIN | EPOLLRDHUP | EPOLLET));
	now(ep, "rearmed with RDHUP");
	barrier("end");
	/* TCP reports the end once or twice, depending on how its two wake-ups fall */
	next(ep, "end");
	R(recv(fd, buf, 100, 0));
}

static void epoll_edge_client(void)
{
	int fd = pair();

	barrier("first");
	send_bytes(fd, 0, 4, 4);
	barrier("second");
	send_bytes(fd, 4, 4, 4);
	barrier("third");
	send_bytes(fd, 8, 4, 4);
	barrier("fourth");
	send_bytes(fd, 12, 4, 4);
	barrier("end");
	X(shutdown(fd, SHUT_WR));
	recv_to_end(fd, 0);
}

/* Every message raises an edge, whether the one before was read or not. */
static void epoll_edge_each_server(void)
{
	int fd = pair(), ep = watch(fd, EPOLLIN | EPOLLET);

	now(ep, "added");
	for (int i = 1; i <= 10; i++) {
		barrier("send");
		next(ep, "data");
		await_inq(fd, i);
		now(ep, "reported once");
		barrier("seen");
	}
	recv_bytes(fd, 0, 10, 10);
}

static void epoll_edge_each_client(void)
{
	int fd = pair();

	for (int i = 0; i < 10; i++) {
		barrier("send");
		send_bytes(fd, i, 1, 1);
		barrier("seen");
	}
	recv_to_end(fd, 0);
}

static void epoll_edge_out_server(void)
{
	int fd = pair();

	for (int i = 0; i < 3; i++) {
		barrier("full");
		recv_bytes(fd, 0, ctl_get(), 10000);
		barrier("read");
	}
	barrier("done");
}

/* EPOLLOUT is reported once after every EAGAIN. */
static void epoll_edge_out_client(void)
{
	int fd = pair(), ep = watch(fd, EPOLLOUT | EPOLLET);

	now(ep, "added");
	now(ep, "reported once");
	for (int i = 0; i < 3; i++) {
		size_t total = fill_up(fd);

		now(ep, "full");
		barrier("full");
		ctl_put(total);
		next(ep, "room");
		barrier("read");
	}
	barrier("done");
}

static void epoll_oneshot_server(void)
{
	int fd = pair(), ep = watch(fd, EPOLLIN | EPOLLONESHOT);

	barrier("first");
	next(ep, "data");
	now(ep, "disarmed");
	barrier("second");
	await_inq(fd, 2);
	now(ep, "still disarmed");
	R(ep_mod(ep, fd, EPOLLIN | EPOLLONESHOT));
	next(ep, "rearmed");
	now(ep, "disarmed");
	recv_bytes(fd, 0, 2, 2);
	R(ep_mod(ep, fd, EPOLLIN | EPOLLONESHOT));
	now(ep, "rearmed, nothing there");
	barrier("third");
	next(ep, "data");
	barrier("reset");
	await_mask(fd, POLLERR);
	now(ep, "disarmed, and reset");
	R(ep_mod(ep, fd, EPOLLIN | EPOLLONESHOT));
	next(ep, "rearmed after the reset");
}

static void epoll_oneshot_client(void)
{
	int fd = pair();

	barrier("first");
	send_bytes(fd, 0, 1, 1);
	barrier("second");
	send_bytes(fd, 1, 1, 1);
	barrier("third");
	send_bytes(fd, 2, 1, 1);
	barrier("reset");
	reset(fd);
}

/* Added before connect(): the watch works whether the socket becomes SMC or TCP. */
static void epoll_connect_server(void)
{
	int l = serve();

	ping_pong(accept_one(l));
	ping_pong(accept_one(l));
}

static void epoll_connect_client(void)
{
	struct addr a = loopback(ctl_get());
	char c;

	for (int i = 0; i < 2; i++) {
		int fd = make_socket(SOCK_NONBLOCK);
		int ep = watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | (i ? EPOLLET : 0));

		now(ep, "not connected");
		R(connect(fd, &a.sa, a.len));
		for (;;) {
			struct epoll_event ev;

			X(epoll_wait(ep, &ev, 1, -1));
			if (ev.events & (EPOLLHUP | EPOLLERR))
				continue;
			rec("connected: %s", mask_name(ev.events));
			break;
		}
		R(get_int(fd, SOL_SOCKET, SO_ERROR));
		check_mode(fd);
		CHECK(send(fd, "p", 1, 0) == 1);
		for (;;) {
			struct epoll_event ev;

			X(epoll_wait(ep, &ev, 1, -1));
			if (ev.events & EPOLLIN)
				break;
		}
		R(recv(fd, &c, 1, 0));
		R(close(fd));
		now(ep, "closed");
		close(ep);
	}
}

static void epoll_refused(void)
{
	struct addr a = loopback(0);
	int ep = X(epoll_create1(0)), fd = make_tcp(0);

	X(bind(fd, &a.sa, a.len));
	a = name_of(fd);
	close(fd);
	fd = make_socket(SOCK_NONBLOCK);
	R(connect(fd, &a.sa, a.len));
	R(ep_add(ep, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET));
	await_mask(fd, POLLERR);
	next(ep, "refused");
	now(ep, "reported once");
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
}

static void epoll_masks_server(void)
{
	int fd = pair(), ep = watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI);
	char c;

	now(ep, "established");
	R(shutdown(fd, SHUT_WR));
	now(ep, "has written everything");
	barrier("half");
	await_mask(fd, POLLIN);
	now(ep, "data in the half-closed connection");
	recv_bytes(fd, 0, 1, 1);
	barrier("other half");
	await_mask(fd, POLLHUP);
	now(ep, "both directions shut down");
	R(recv(fd, &c, 1, 0));
	now(ep, "end read");
	R(ep_add(ep, fd, EPOLLIN));
	R(epoll_ctl(ep, EPOLL_CTL_DEL, fd, NULL));
	R(epoll_ctl(ep, EPOLL_CTL_DEL, fd, NULL));
	now(ep, "removed");
}

static void epoll_masks_client(void)
{
	int fd = pair(), ep = watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI);
	char c;

	barrier("half");
	await_mask(fd, POLLRDHUP);
	now(ep, "the peer has written everything");
	R(recv(fd, &c, 1, 0));
	now(ep, "end read");
	send_bytes(fd, 0, 1, 1);
	barrier("other half");
	R(shutdown(fd, SHUT_WR));
	await_mask(fd, POLLHUP);
	now(ep, "both directions shut down");
}

static void *wait_thread(struct worker *w)
{
	struct epoll_event ev;

	w->ret = epoll_wait(w->fd, &ev, 1, -1);
	return NULL;
}

/* EPOLLEXCLUSIVE on a listener: at least one waiter wakes, and no connection is lost. */
static void epoll_exclusive_server(void)
{
	struct worker w[4];
	int ep[4], l = listen_on(50);
	struct addr a = name_of(l);
	long woken = 0;

	memset(w, 0, sizeof(w));
	for (int i = 0; i < 4; i++) {
		ep[i] = watch(l, EPOLLIN | EPOLLEXCLUSIVE);
		w[i].run = wait_thread;
		w[i].fd = ep[i];
		worker_start(&w[i]);
	}
	R(ep_mod(ep[0], l, EPOLLIN | EPOLLEXCLUSIVE));
	for (int i = 0; i < 4; i++)
		await_blocked(getpid(), w[i].tid);
	ctl_put(addr_port(&a));
	for (int i = 0; i < 4; i++) {
		worker_join(&w[i]);
		woken += w[i].ret;
	}
	rec("%ld events for four waiters", woken);
	for (int i = 0; i < 4; i++)
		ping_pong(accept_one(l));
	barrier("done");
}

static void epoll_exclusive_client(void)
{
	int port = ctl_get(), fd[4];

	for (int i = 0; i < 4; i++)
		fd[i] = connect_to(port, 0);
	for (int i = 0; i < 4; i++)
		ping_pong(fd[i]);
	barrier("done");
}

/* The usual event loop, edge-triggered, over many connections. */
#define CONNS	16
#define EACH	60000

static void epoll_loop_server(void)
{
	struct { int fd; uint64_t in; } c[CONNS];
	int ep = X(epoll_create1(0)), l = serve(), ended = 0, n = 0;
	static char buf[5000];

	set_nonblock(l, true);
	X(ep_add(ep, l, EPOLLIN | EPOLLET));
	while (ended < CONNS) {
		struct epoll_event ev[8];
		int k = X(epoll_wait(ep, ev, 8, -1));

		for (int i = 0; i < k; i++) {
			int fd = ev[i].data.fd, j;

			if (fd == l) {
				while ((fd = accept4(l, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
					c[n].fd = fd;
					c[n++].in = 0;
					X(ep_add(ep, fd, EPOLLIN | EPOLLRDHUP | EPOLLET));
				}
				continue;
			}
			for (j = 0; c[j].fd != fd; j++)
				;
			for (;;) {
				ssize_t r = recv(fd, buf, sizeof(buf), 0);

				if (r < 0) {
					CHECK(errno == EAGAIN);
					break;
				}
				if (!r) {
					CHECK(c[j].in == EACH);
					ended++;
					close(fd);
					c[j].fd = -1;
					break;
				}
				verify(buf, r, c[j].in);
				c[j].in += r;
			}
		}
	}
	rec("%d connections served", ended);
	barrier("served");
}

static void epoll_loop_client(void)
{
	int port = ctl_get(), fd[CONNS];

	for (int i = 0; i < CONNS; i++)
		fd[i] = connect_to(port, 0);
	for (uint64_t at = 0; at < EACH; at += 1500)
		for (int i = 0; i < CONNS; i++)
			send_bytes(fd[i], at, 1500, 20 + i * 100);
	for (int i = 0; i < CONNS; i++)
		close(fd[i]);
	barrier("served");
}

const struct test_case epoll_cases[] = {
	CASE(epoll_level, 0, "level-triggered events during the life of a connection"),
	CASE(epoll_edge, 0, "the exact events of an edge-triggered reader"),
	CASE(epoll_edge_each, 0, "one edge for each message"),
	CASE(epoll_edge_out, 0, "one EPOLLOUT for each EAGAIN"),
	CASE(epoll_oneshot, 0, "EPOLLONESHOT"),
	CASE(epoll_connect, 0, "a socket added before connect()"),
	SOLO(epoll_refused, 0, "a socket whose connect is refused"),
	CASE(epoll_masks, 0, "masks of half-closed connections"),
	CASE(epoll_exclusive, 0, "EPOLLEXCLUSIVE on a listener"),
	CASE(epoll_loop, 0, "an edge-triggered server of 16 connections"),
	{ 0 }
};
