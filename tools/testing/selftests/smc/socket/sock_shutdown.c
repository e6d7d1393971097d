// SPDX-License-Identifier: GPL-2.0
/* shutdown(): half-closed connections, in both directions and orders. */
#include <fcntl.h>
#include <netinet/tcp.h>

#include "role.h"

/* Data still flows to the side that called shutdown() first. */
static void half_close_server(void)
{
	int fd = pair();

	rec("end at %d", (int)recv_to_end(fd, 0));
	send_bytes(fd, 0, 300000, 50000);
	R(shutdown(fd, SHUT_WR));
	rec("poll %s", mask_name(await_mask(fd, POLLHUP)));
}

static void half_close_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 200000, 70000);
	R(shutdown(fd, SHUT_WR));
	R(send(fd, "x", 1, MSG_NOSIGNAL));
	rec("end at %d", (int)recv_to_end(fd, 0));
	rec("poll %s", mask_name(await_mask(fd, POLLHUP)));
	/* 0 or ENOTCONN, depending on TCP's state by now */
	shutdown(fd, SHUT_WR);
	shutdown(fd, SHUT_RD);
	rec("poll %s", mask_name(await_mask(fd, POLLHUP)));
}

static int tcp_state(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	X(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len));
	return info.tcpi_state;
}

/* A program may look at TCP's state to see whether its peer is still there. */
static void half_close_shown_server(void)
{
	int fd = pair();

	barrier("shut");
	await_mask(fd, POLLRDHUP);
	rec("state %d", tcp_state(fd));
	barrier("seen");
}

static void half_close_shown_client(void)
{
	int fd = pair();

	R(shutdown(fd, SHUT_WR));
	barrier("shut");
	AWAIT(tcp_state(fd) == TCP_FIN_WAIT2);
	barrier("seen");
}

static void half_close_back_server(void)
{
	int fd = pair();

	send_bytes(fd, 0, 200000, 70000);
	R(shutdown(fd, SHUT_WR));
	rec("end at %d", (int)recv_to_end(fd, 0));
}

static void half_close_back_client(void)
{
	int fd = pair();

	rec("end at %d", (int)recv_to_end(fd, 0));
	for (int i = 0; i < 10; i++)
		send_bytes(fd, i * 1000, 1000, 1000);
	R(shutdown(fd, SHUT_WR));
}

/* Everything written before shutdown() arrives, however much it is. */
static void shutdown_flushes_server(void)
{
	int fd = pair();

	barrier("shut");
	rec("end at %d", (int)(recv_to_end(fd, 0) == (uint64_t)ctl_get()));
}

static void shutdown_flushes_client(void)
{
	int fd = pair();
	size_t total = fill_up(fd);

	R(shutdown(fd, SHUT_WR));
	R(send(fd, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT));
	barrier("shut");
	ctl_put(total);
	rec("end at %d", (int)recv_to_end(fd, 0));
}

static void *send_until_error(struct worker *w)
{
	static char buf[65536];

	do
		w->ret = send(w->fd, buf, sizeof(buf), MSG_NOSIGNAL);
	while (w->ret > 0);
	w->err = errno;
	return NULL;
}

static void *recv_one(struct worker *w)
{
	char c;

	w->ret = recv(w->fd, &c, 1, 0);
	w->err = errno;
	return NULL;
}

/* A thread that sleeps in recv() is woken by a shutdown() of its own socket. */
static void shut_sleeping_reader(int fd)
{
	struct worker rx = { .run = recv_one, .fd = fd };

	worker_start(&rx);
	await_blocked(getpid(), rx.tid);
	R(shutdown(fd, SHUT_RD));
	worker_join(&rx);
	rec("recv %ld", rx.ret);
}

/* Threads that sleep in send() and recv() are woken by a shutdown() of their own socket. */
static void shutdown_wakes_server(void)
{
	struct worker tx = { .run = send_until_error };
	int fd = pair();

	shut_sleeping_reader(fd);
	tx.fd = fd;
	fill_up(fd);
	worker_start(&tx);
	await_blocked(getpid(), tx.tid);
	R(shutdown(fd, SHUT_WR));
	worker_join(&tx);
	rec("send %ld %s", tx.ret, err_name(tx.err));
	barrier("done");
}

static void shutdown_wakes_client(void)
{
	pair();
	barrier("done");
}

/* After SHUT_RD recv() returns the end; data that still arrives can be read, as with TCP. */
static void shutdown_rd_server(void)
{
	char buf[10];
	int fd = pair();

	R(shutdown(fd, SHUT_RD));
	R(recv(fd, buf, 10, 0));
	barrier("shut");
	barrier("sent");
	await_inq(fd, 5);
	R(recv(fd, buf, 10, 0));
	R(recv(fd, buf, 10, 0));
	R(send(fd, "back", 4, 0));
	barrier("done");
}

static void shutdown_rd_client(void)
{
	char buf[10];
	int fd = pair();

	barrier("shut");
	R(send(fd, "later", 5, MSG_NOSIGNAL));
	barrier("sent");
	R(recv(fd, buf, 4, MSG_WAITALL));
	rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLOUT | POLLRDHUP)));
	barrier("done");
}

/* Data that is unread at SHUT_RD is not lost. */
static void shutdown_rd_unread_server(void)
{
	int fd = pair();

	barrier("sent");
	await_inq(fd, 100);
	R(shutdown(fd, SHUT_RD));
	recv_bytes(fd, 0, 100, 100);
	rec("end at %d", (int)recv_to_end(fd, 100));
	barrier("done");
}

static void shutdown_rd_unread_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 100, 100);
	barrier("sent");
	barrier("done");
}

static void shutdown_rdwr_server(void)
{
	char c;
	int fd = pair();

	barrier("sent");
	R(shutdown(fd, SHUT_RDWR));
	R(send(fd, "x", 1, MSG_NOSIGNAL));
	R(recv(fd, &c, 1, 0));
	R(shutdown(fd, SHUT_RDWR));
	barrier("shut");
	rec("poll %s", mask_name(await_mask(fd, POLLHUP)));
}

static void shutdown_rdwr_client(void)
{
	int fd = pair();

	barrier("sent");
	barrier("shut");
	rec("end at %d", (int)recv_to_end(fd, 0));
	R(shutdown(fd, SHUT_RDWR));
	rec("poll %s", mask_name(await_mask(fd, POLLHUP)));
	shutdown(fd, SHUT_RDWR);	/* 0 or ENOTCONN, as above */
	rec("poll %s", mask_name(await_mask(fd, POLLHUP)));
}

/* As after SHUT_RDWR, data that arrive afterwards reset the connection. */
static void shut_in_turn(int first, int second)
{
	int fd = pair();
	char c;

	R(shutdown(fd, first));
	R(shutdown(fd, second));
	barrier("shut");
	rec("poll %s", mask_name(await_mask(fd, POLLERR)));
	R(recv(fd, &c, 1, 0));
	barrier("reset");
	close(fd);
}

static void shutdown_in_turn_server(void)
{
	shut_in_turn(SHUT_RD, SHUT_WR);
	shut_in_turn(SHUT_WR, SHUT_RD);
}

static void shutdown_in_turn_client(void)
{
	for (int i = 0; i < 2; i++) {
		int fd = pair();

		barrier("shut");
		rec("end at %d", (int)recv_to_end(fd, 0));
		send_bytes(fd, 0, 1000, 1000);
		rec("poll %s", mask_name(await_mask(fd, POLLERR)));
		R(send(fd, "x", 1, MSG_NOSIGNAL));
		barrier("reset");
		close(fd);
	}
}

static void at_once(int fd)
{
	barrier("now");
	X(shutdown(fd, SHUT_WR));
	CHECK(recv_to_end(fd, 0) == 0);
	await_mask(fd, POLLHUP);
	close(fd);
}

static void shutdown_both_at_once_server(void)
{
	int l = serve();

	for (int i = 0; i < 20; i++)
		at_once(accept_one(l));
}

static void shutdown_both_at_once_client(void)
{
	int port = ctl_get();

	for (int i = 0; i < 20; i++)
		at_once(connect_to(port, 0));
}

/* A writer without MSG_NOSIGNAL gets SIGPIPE; every writer gets EPIPE. */
static void sigpipe_server(void)
{
	int fd = pair();

	barrier("closed");
	X(close(fd));
	barrier("continue");
	barrier("done");
}

static void sigpipe_client(void)
{
	int fd = pair();

	on_signal(SIGPIPE, 0);
	R(shutdown(fd, SHUT_WR));
	R(send(fd, "x", 1, MSG_NOSIGNAL));
	rec("%d signals", (int)signals_seen);
	R(send(fd, "x", 1, 0));
	rec("%d signals", (int)signals_seen);
	R(write(fd, "x", 1));
	rec("%d signals", (int)signals_seen);
	R(send(fd, "x", 0, 0));
	rec("%d signals", (int)signals_seen);
	barrier("closed");
	barrier("continue");
	barrier("done");
}

/* Writing to a peer that has closed: a reset, then EPIPE. */
static void write_to_closed_server(void)
{
	int fd = pair();

	X(close(fd));
	barrier("closed");
	barrier("done");
}

static void write_to_closed_client(void)
{
	int fd = pair();
	char c;

	on_signal(SIGPIPE, 0);
	barrier("closed");
	await_mask(fd, POLLRDHUP);
	rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLOUT | POLLRDHUP)));
	R(send(fd, "", 0, 0));
	R(send(fd, "x", 1, 0));
	rec("poll %s", mask_name(await_mask(fd, POLLHUP)));
	R(send(fd, "x", 1, 0));
	rec("%d signals", (int)signals_seen);
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	R(send(fd, "x", 1, 0));
	R(recv(fd, &c, 1, 0));
	rec("%d signals", (int)signals_seen);
	barrier("done");
}

/* The peer closed in good order before it reset the connection: recv() sees the end first. */
static void end_before_reset_client(void)
{
	int fd = pair();
	char c;

	barrier("closed");
	await_mask(fd, POLLRDHUP);
	R(send(fd, "x", 1, MSG_NOSIGNAL));
	rec("poll %s", mask_name(await_mask(fd, POLLHUP)));
	R(recv(fd, &c, 1, 0));
	R(recv(fd, &c, 1, 0));
	R(send(fd, "x", 1, MSG_NOSIGNAL));
	R(recv(fd, &c, 1, 0));
	barrier("done");
}

/* A client that offers SMC and says nothing; TCP does not know this option. */
static void silent_client(void)
{
	int fd = make_socket(0), on = 1;
	struct addr a = loopback(ctl_get());

	if (me.var->smc)
		X(setsockopt(fd, SOL_SMC, SMC_TEST_RAW_CLC, &on, sizeof(on)));
	X(connect(fd, &a.sa, a.len));
	barrier("done");
}

static int accept_silent(void)
{
	return X(accept(serve(), NULL, NULL));
}

/* shutdown() does not wait for a handshake, and its effects show at once. */
static void shutdown_silent_server(void)
{
	int fd = accept_silent();
	char c;

	R(shutdown(fd, SHUT_WR));
	R(send(fd, "x", 1, MSG_NOSIGNAL));
	R(send(fd, "x", 0, MSG_NOSIGNAL));
	R(recv(fd, &c, 1, MSG_DONTWAIT));
	rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLOUT | POLLRDHUP)));
	R(shutdown(fd, SHUT_RD));
	R(recv(fd, &c, 1, 0));
	rec("poll %s", mask_name(await_mask(fd, POLLHUP)));
	R(shutdown(fd, SHUT_RDWR));
	barrier("done");
}

static void shutdown_silent_wakes_server(void)
{
	int fd = accept_silent();

	shut_sleeping_reader(fd);
	rec("poll %s", mask_name(poll_mask(fd, POLLRDHUP)));
	barrier("done");
}

static void shutdown_bad_how(void)
{
	int fd = listen_on(2);

	R(shutdown(fd, -1));
	R(shutdown(fd, 3));
	R(shutdown(fd, 4));
	R(shutdown(-1, SHUT_WR));
	R(shutdown(0, SHUT_WR));
}

const struct test_case shutdown_cases[] = {
	CASE(half_close, 0, "data flows back after SHUT_WR"),
	CASE(half_close_shown, 0, "TCP_INFO shows a half-closed connection"),
	CASE(half_close_back, 0, "data flows to the server after its SHUT_WR"),
	CASE(shutdown_flushes, 0, "SHUT_WR with full buffers loses nothing"),
	CASE(shutdown_wakes, 0, "shutdown() wakes threads that sleep in calls on the socket"),
	CASE(shutdown_rd, 0, "SHUT_RD, then more data arrives"),
	CASE(shutdown_rd_unread, 0, "SHUT_RD keeps unread data"),
	CASE(shutdown_rdwr, 0, "SHUT_RDWR"),
	CASE(shutdown_in_turn, 0, "SHUT_RD and SHUT_WR, in both orders, then data arrives"),
	CASE(shutdown_both_at_once, 0, "both ends shut down at the same time"),
	CASE(sigpipe, 0, "writing after SHUT_WR: SIGPIPE, EPIPE, MSG_NOSIGNAL"),
	CASE(write_to_closed, 0, "writing to a peer that closed"),
	{ "end_before_reset", write_to_closed_server, end_before_reset_client, 0,
	  "the end of the stream, then a reset" },
	{ "shutdown_silent", shutdown_silent_server, silent_client, F_HERE,
	  "shutdown() while the peer says nothing" },
	{ "shutdown_silent_wakes", shutdown_silent_wakes_server, silent_client, F_HERE,
	  "shutdown() wakes a receiver while the peer says nothing" },
	SOLO(shutdown_bad_how, 0, "shutdown() with bad arguments"),
	{ 0 }
};
