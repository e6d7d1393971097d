// SPDX-License-Identifier: GPL-2.0
/* poll() and select() at every stage of a connection. */
#include <fcntl.h>
#include <sys/select.h>

#include "role.h"

#define ALL	(POLLIN | POLLPRI | POLLOUT | POLLRDHUP | POLLRDNORM | POLLWRNORM)

static void say(const char *stage, int fd)
{
	unsigned int m = poll_mask(fd, ALL);

	rec("%s: %s%s%s", stage, mask_name(m), m & POLLRDNORM ? " rdnorm" : "",
	    m & POLLWRNORM ? " wrnorm" : "");
}

static void poll_stages_server(void)
{
	int l, fd, port;
	struct addr a;
	char buf[100];

	fd = make_socket(0);
	say("new", fd);
	l = listen_on(5);
	say("listening", l);
	a = name_of(l);
	port = addr_port(&a);
	ctl_put(port);
	await_mask(l, POLLIN);
	say("a connection arrived", l);
	fd = accept_one(l);
	say("accepted all", l);
	await_mask(fd, POLLOUT);
	say("established", fd);
	barrier("quiet");
	await_inq(fd, 10);
	say("data", fd);
	R(recv(fd, buf, 4, 0));
	say("some data", fd);
	R(recv(fd, buf, 6, 0));
	say("no data", fd);
	barrier("read");
	await_mask(fd, POLLRDHUP);
	say("peer shut down", fd);
	R(recv(fd, buf, 6, 0));
	say("end read", fd);
	R(shutdown(fd, SHUT_WR));
	await_mask(fd, POLLHUP);
	say("both shut down", fd);
	barrier("ended");
}

static void poll_stages_client(void)
{
	int fd = connect_to(ctl_get(), 0);
	char buf[10];

	say("established", fd);
	barrier("quiet");
	send_bytes(fd, 0, 10, 10);
	barrier("read");
	R(shutdown(fd, SHUT_WR));
	await_mask(fd, POLLHUP);
	say("both shut down", fd);
	R(recv(fd, buf, 6, 0));
	say("end read", fd);
	barrier("ended");
}

/* A writer can write before the reader has read the last byte. */
static void poll_full_server(void)
{
	size_t total, most;
	int fd = pair();

	barrier("full");
	total = ctl_get();
	most = total - total / 8;
	recv_bytes(fd, 0, most, 8000);
	barrier("writable");
	recv_bytes(fd, most, total - most, 8000);
}

static void poll_full_client(void)
{
	int fd = pair();
	size_t total = fill_up(fd);

	say("full", fd);
	barrier("full");
	ctl_put(total);
	await_mask(fd, POLLOUT);
	say("drained", fd);
	barrier("writable");
}

static void poll_shut_rd_server(void)
{
	int fd = pair();
	char buf[10];

	R(shutdown(fd, SHUT_RD));
	say("own receive side shut down", fd);
	R(recv(fd, buf, 10, 0));
	R(shutdown(fd, SHUT_WR));
	say("both own directions shut down", fd);
	barrier("shut");
	barrier("done");
}

static void poll_shut_rd_client(void)
{
	int fd = pair();

	barrier("shut");
	await_mask(fd, POLLRDHUP);
	say("the peer has shut down", fd);
	barrier("done");
}

static void poll_reset_server(void)
{
	int fd = pair();
	char c;

	barrier("reset");
	await_mask(fd, POLLERR);
	say("reset", fd);
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	say("SO_ERROR read", fd);
	R(recv(fd, &c, 1, 0));
	R(send(fd, &c, 1, MSG_NOSIGNAL));
	say("after the failed calls", fd);
}

static void poll_reset_client(void)
{
	int fd = pair();

	reset(fd);
	barrier("reset");
}

struct waiter {
	unsigned int events;
	unsigned int got;
};

static void *poll_thread(struct worker *w)
{
	struct waiter *x = w->data;
	struct pollfd p = { .fd = w->fd, .events = x->events };

	w->ret = poll(&p, 1, -1);
	x->got = p.revents;
	return NULL;
}

/* A sleeping poll() is woken by the events it requested. */
static void wait_for(int fd, const char *what, unsigned int events)
{
	struct waiter x = { .events = events };
	struct worker w = { .run = poll_thread, .fd = fd, .data = &x };

	worker_start(&w);
	await_blocked(getpid(), w.tid);
	barrier(what);
	worker_join(&w);
	rec("%s: woken %ld, %s", what, w.ret, mask_name(x.got));
}

static void poll_wakes_server(void)
{
	int l = listen_on(5), fd;
	struct addr a = name_of(l);
	size_t total;

	ctl_put(addr_port(&a));
	wait_for(l, "connect", POLLIN);
	fd = accept_one(l);
	wait_for(fd, "data", POLLIN);
	recv_bytes(fd, 0, 1, 1);
	total = fill_up(fd);
	ctl_put(total);
	wait_for(fd, "room", POLLOUT);
	wait_for(fd, "end", POLLRDHUP);
	wait_for(fd, "reset", 0);
}

static void poll_wakes_client(void)
{
	struct linger l = { 1, 0 };
	int port = ctl_get(), fd;

	barrier("connect");
	fd = connect_to(port, 0);
	barrier("data");
	send_bytes(fd, 0, 1, 1);
	port = ctl_get();
	barrier("room");
	recv_bytes(fd, 0, port, 10000);
	barrier("end");
	X(shutdown(fd, SHUT_WR));
	X(setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
	barrier("reset");
	close(fd);
}

static void select_server(void)
{
	int fd = pair();
	fd_set r, w, x;
	struct timeval tv;

	for (int i = 0; i < 3; i++) {
		FD_ZERO(&r);
		FD_ZERO(&w);
		FD_ZERO(&x);
		FD_SET(fd, &r);
		FD_SET(fd, &w);
		FD_SET(fd, &x);
		tv = (struct timeval){ 0, 0 };
		R(select(fd + 1, &r, &w, &x, &tv));
		rec("%d %d %d", FD_ISSET(fd, &r), FD_ISSET(fd, &w), FD_ISSET(fd, &x));
		barrier("next");
		if (i == 0)
			await_inq(fd, 1);
		if (i == 1)
			await_mask(fd, POLLRDHUP);
	}
	FD_ZERO(&r);
	FD_SET(fd, &r);
	R(select(fd + 1, &r, NULL, NULL, NULL));
}

static void select_client(void)
{
	int fd = pair();

	barrier("next");
	send_bytes(fd, 0, 1, 1);
	barrier("next");
	close(fd);
	barrier("next");
}

static void *recv_thread(struct worker *w)
{
	char c;

	w->ret = recv(w->fd, &c, 1, 0);
	w->err = errno;
	return NULL;
}

/* A reader that sleeps in recv() and a poller are both woken. */
static void poll_and_recv_server(void)
{
	struct waiter x = { .events = POLLIN };
	struct worker p = { .run = poll_thread, .data = &x };
	struct worker r = { .run = recv_thread };
	int fd = pair();

	p.fd = r.fd = fd;
	worker_start(&p);
	worker_start(&r);
	await_blocked(getpid(), p.tid);
	await_blocked(getpid(), r.tid);
	barrier("both threads wait");
	worker_join(&r);
	rec("recv %ld", r.ret);
	barrier("again");
	worker_join(&p);
	rec("poll %ld %s", p.ret, mask_name(x.got & POLLIN));
	barrier("done");
}

static void poll_and_recv_client(void)
{
	int fd = pair();

	barrier("both threads wait");
	send_bytes(fd, 0, 1, 1);
	barrier("again");
	send_bytes(fd, 1, 1, 1);
	barrier("done");
}

const struct test_case poll_cases[] = {
	CASE(poll_stages, 0, "the poll mask in every state of a connection"),
	CASE(poll_full, 0, "POLLOUT disappears when the buffer is full and returns"),
	CASE(poll_shut_rd, 0, "the poll mask after a shutdown of the own socket"),
	CASE(poll_reset, 0, "the poll mask after a reset"),
	CASE(poll_wakes, 0, "events wake a sleeping poll()"),
	CASE(select, 0, "select"),
	CASE(poll_and_recv, 0, "data wakes both poll() and recv()"),
	{ 0 }
};
