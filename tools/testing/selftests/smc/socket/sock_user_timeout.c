// SPDX-License-Identifier: GPL-2.0
/* TCP_USER_TIMEOUT, while the peer does not read. */
#include <linux/tcp.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "role.h"

static void say(const char *stage, int fd)
{
	rec("%s: %s", stage, mask_name(poll_mask(fd, POLLIN | POLLOUT | POLLRDHUP)));
}

enum user_timeout {
	BEFORE_CONNECT,		/* and poll() waits */
	WHILE_SEND_WAITS,	/* set by another task: a blocking send() waits already */
	WHILE_NOBODY_WAITS,
	NR_USER_TIMEOUTS
};

static void set_user_timeout(int fd, int ms)
{
	R(set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, ms));
}

/* For a connection whose data have been acknowledged */
static void hurry(int fd)
{
	set_user_timeout(fd, 600);
}

/* For one whose data move: TCP may need a second to send again what a busy host has lost. */
static void hurry_early(int fd)
{
	set_user_timeout(fd, 4000);
}

static void user_timeout_server(void)
{
	for (int i = 0; i < NR_USER_TIMEOUTS; i++) {
		int fd = pair();

		barrier("timed out");
		close(fd);
	}
}

/* Another task sets the option as soon as send() sleeps. */
static void send_and_set(int fd)
{
	pid_t parent = getpid(), child = X(fork());

	if (!child) {
		await_blocked(parent, parent);
		hurry(fd);
		_exit(0);
	}
	R(send(fd, "x", 1, 0));
	X(waitpid(child, NULL, 0));
}

static void user_timeout_client(void)
{
	struct pollfd p = { .events = POLLOUT };

	for (int i = 0; i < NR_USER_TIMEOUTS; i++) {
		int fd = pair_with(i == BEFORE_CONNECT ? hurry_early : NULL);

		fill_up(fd);
		if (i == WHILE_SEND_WAITS)
			send_and_set(fd);
		if (i == WHILE_NOBODY_WAITS)
			hurry(fd);
		p.fd = fd;
		R(poll(&p, 1, -1));
		say("timed out", fd);
		R(get_int(fd, SOL_SOCKET, SO_ERROR));
		R(send(fd, "x", 1, MSG_NOSIGNAL));
		barrier("timed out");
		close(fd);
	}
}

/* While there is room, unread data ends nothing. The same connection times out later. */
static void user_timeout_read_server(void)
{
	size_t total;
	int fd = pair();

	barrier("full");
	total = ctl_get();
	recv_bytes(fd, 0, total, 8000);
	barrier("writable");
	barrier("waited");
	recv_bytes(fd, total, 10, 10);
	ping_pong(fd);
	barrier("timed out");
}

static void user_timeout_read_client(void)
{
	size_t total;
	int fd = pair();

	set_user_timeout(fd, 1000000);
	total = fill_up(fd);
	say("full", fd);
	barrier("full");
	ctl_put(total);
	await_mask(fd, POLLOUT);
	barrier("writable");
	hurry(fd);
	/* It does not matter either that nothing has been sent since there was no room. */
	usleep(1000000);
	say("not timed out", fd);
	send_bytes(fd, total, 10, 10);
	usleep(1000000);
	say("not timed out", fd);
	barrier("waited");
	ping_pong(fd);
	set_user_timeout(fd, 1000000);
	fill_up(fd);
	hurry(fd);
	await_mask(fd, POLLERR);
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	barrier("timed out");
}

/* The timeout begins again with the first refusal after there was room. */
static void user_timeout_again_server(void)
{
	char buf[10];
	int fd = pair();

	barrier("full");
	X(recv(fd, buf, sizeof(buf), MSG_WAITALL));
	barrier("timed out");
}

static void user_timeout_again_client(void)
{
	int fd = pair();
	double since;
	bool room;

	fill_up(fd);
	set_user_timeout(fd, 1500);
	barrier("full");
	usleep(700000);
	/* TCP's window is still closed. Between machines it may open late, which proves nothing. */
	room = send(fd, "0123456789", 10, MSG_DONTWAIT | MSG_NOSIGNAL) > 0 &&
	       smc_mode(fd) != MODE_TCP;
	CHECK(room || smc_mode(fd) == MODE_TCP || me.rdma);
	if (room) {
		usleep(2000000);
		fill_up(fd);
	}
	since = clock_seconds();
	await_mask(fd, POLLERR);
	CHECK(!room || clock_seconds() - since >= 1.4);
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	barrier("timed out");
}

#define TICK_MS		10	/* of HZ=100; with another one nothing meets, and nothing fails */
#define WATCHED		8

/* As the kernel's timers, so that what is due at that tick as well runs at the same time. */
static void sleep_ticks(int idle, int n)
{
	char c;

	set_timeo(idle, SO_RCVTIMEO, n * TICK_MS);
	CHECK(recv(idle, &c, 1, 0) < 0 && errno == EAGAIN);
}

/* The option is cleared, and set again when the timer looks, 200 ms after it was started. */
static void user_timeout_tick_server(void)
{
	int l = serve();

	for (int i = 0; i < WATCHED; i++)
		accept_one(l);
	barrier("timed out");
}

static void user_timeout_tick_client(void)
{
	int port = ctl_get(), fd[WATCHED], idle[2];

	X(socketpair(AF_UNIX, SOCK_STREAM, 0, idle));
	for (int i = 0; i < WATCHED; i++) {
		fd[i] = connect_to(port, 0);
		fill_up(fd[i]);
	}
	for (int i = 0; i < WATCHED; i++)
		set_user_timeout(fd[i], 1000000);
	sleep_ticks(idle[0], 19);
	for (int i = 0; i < WATCHED; i++)
		set_user_timeout(fd[i], 0);
	sleep_ticks(idle[0], 1);
	for (int i = 0; i < WATCHED; i++)
		hurry(fd[i]);
	for (int i = 0; i < WATCHED; i++)
		await_mask(fd[i], POLLERR);
	barrier("timed out");
}

/* Most of the buffer is full, but no sender has been refused. */
static void small_buffer(int fd)
{
	if (me.is_server)
		R(set_int(fd, SOL_SOCKET, SO_RCVBUF, 65536));
	else
		hurry_early(fd);
}

static void user_timeout_unread_server(void)
{
	int fd = pair_with(small_buffer);

	barrier("waited");
	recv_bytes(fd, 0, 50000, 1000);
	ping_pong(fd);
	barrier("closing");
	X(shutdown(fd, SHUT_RDWR));
	close(fd);
	barrier("closed");
}

static void user_timeout_unread_client(void)
{
	int fd = pair_with(small_buffer);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	send_bytes(fd, 0, 50000, 1000);
	R(poll(&p, 1, 5000));
	barrier("waited");
	ping_pong(fd);
	barrier("closing");
	barrier("closed");
	await_mask(fd, POLLRDHUP);
	say("closed", fd);
}

const struct test_case user_timeout_cases[] = {
	CASE(user_timeout, 0, "TCP_USER_TIMEOUT ends a connection whose peer does not read"),
	CASE(user_timeout_again, 0, "TCP_USER_TIMEOUT begins anew after there was room"),
	CASE(user_timeout_tick, 0, "TCP_USER_TIMEOUT is set again when the timer looks"),
	CASE(user_timeout_unread, 0, "TCP_USER_TIMEOUT, and room for what is sent"),
	CASE(user_timeout_read, 0, "TCP_USER_TIMEOUT does not end one whose peer reads"),
	{ 0 }
};
