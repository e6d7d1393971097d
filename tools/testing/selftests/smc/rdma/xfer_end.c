// SPDX-License-Identifier: GPL-2.0
/* Cases: how a connection ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slow.h"
#include "xfer.h"

#define SOON	slow(10) /* seconds within which a side notices the other's action */

static void set_timeout(int fd, int seconds)
{
	struct timeval tv = { .tv_sec = seconds };

	X(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	X(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)));
}

static void expect_end(int fd)
{
	char c;

	if (X(recv(fd, &c, 1, 0)) != 0)
		die("a byte instead of the end of the stream");
}

/* ---- half-close ---- */

static void close_half_second(int fd)
{
	recv_stream(fd, 1, 0, 300001, 65536);
	expect_end(fd);
	meet("half closed");
	/* the other direction is still open, for more than fits into any buffer */
	send_stream(fd, 2, 0, 700001, 30000);
	close(fd);
}

static void half_close(bool first)
{
	int fd = open_pair();

	if (first) {
		/* wait until the peer has seen the end, before data flows the other way */
		send_stream(fd, 1, 0, 300001, 30000);
		X(shutdown(fd, SHUT_WR));
		if (send(fd, "x", 1, MSG_NOSIGNAL) != -1 || errno != EPIPE)
			die("send after SHUT_WR does not fail with EPIPE");
		meet("half closed");
		recv_stream(fd, 2, 0, 700001, 65536);
		expect_end(fd);
		expect_end(fd);
		close(fd);
	} else {
		close_half_second(fd);
	}
	meet("end");
}

static void half_close_client(void)
{
	half_close(!opt.server);
}

static void half_close_server(void)
{
	half_close(opt.server);
}

/* ---- a short connection, to be captured ---- */

/* A first contact and a subsequent one, data in both directions, both kinds of close. */
static void session(void)
{
	int fd = open_pair(), second;
	char c = 'p';

	if (opt.server) {
		recv_stream(fd, 1, 0, 20000, 20000);
		send_stream(fd, 2, 0, 20000, 20000);
	} else {
		send_stream(fd, 1, 0, 20000, 20000);
		recv_stream(fd, 2, 0, 20000, 20000);
	}
	second = open_pair();
	for (int i = 0; i < 5; i++) {
		if (!opt.server)
			send_all(second, &c, 1);
		recv_all(second, &c, 1);
		if (opt.server)
			send_all(second, &c, 1);
	}
	meet("exchanged");
	look("open");
	meet("looked");
	/* the client closes the first, the server the second */
	for (int i = 0; i < 2; i++) {
		if (opt.server == (i == 0))
			expect_end(i ? second : fd);
		close(i ? second : fd);
	}
	meet("end");
}

/* ---- close with unread data ---- */

static void close_unread(bool closer)
{
	int fd = open_pair(), waiting = 0;
	char buf[100];
	ssize_t n;

	set_timeout(fd, SOON);
	if (closer) {
		recv_all(fd, buf, sizeof(buf));
		X(ioctl(fd, FIONREAD, &waiting));
		if (!waiting)
			die("no data is left unread");
		close(fd);
		meet("closed");
	} else {
		send_stream(fd, 1, 0, 30000, 30000);
		meet("closed");
		/* as with TCP: the unread data is lost, and the sender gets an error */
		n = recv(fd, buf, sizeof(buf), 0);
		note("after the peer closed with unread data, recv returned %zd%s%s", n,
		     n < 0 ? " " : "", n < 0 ? err_name(errno) : "");
		if (n > 0 || (n < 0 && errno == EAGAIN))
			die("this side never learned of the close");
		if (opt.strict && (n != -1 || errno != ECONNRESET))
			die("TCP would have returned ECONNRESET");
		n = send(fd, buf, 1, MSG_NOSIGNAL);
		note("and send %zd%s%s", n, n < 0 ? " " : "", n < 0 ? err_name(errno) : "");
		close(fd);
	}
	meet("end");
	close(open_pair());
	meet("another");
}

static void close_unread_client(void)
{
	close_unread(!opt.server);
}

static void close_unread_server(void)
{
	close_unread(opt.server);
}

/* ---- a peer that is killed ---- */

/* Sends without end, reads nothing. */
static void flood(int fd)
{
	static char buf[10000];

	for (;;)
		if (send(fd, buf, sizeof(buf), MSG_NOSIGNAL) <= 0)
			_exit(0);
}

/* The process that holds the connection is killed while it sends and receives. */
static void be_killed(int fd)
{
	pid_t pid = X(fork());

	if (!pid)
		flood(fd);
	close(fd);
	meet("flooding");
	X(kill(pid, SIGKILL));
	X(waitpid(pid, NULL, 0));
}

static void survive(int fd)
{
	static char buf[65536];
	uint64_t start, bytes = 0;
	ssize_t n;

	set_timeout(fd, SOON);
	recv_all(fd, buf, sizeof(buf));		/* the peer has begun to send */
	meet("flooding");
	start = now_ns();
	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
		bytes += n;
	note("recv returned %zd%s%s, %llu bytes and %.2f s after the kill", n, n < 0 ? " " : "",
	     n < 0 ? err_name(errno) : "", (unsigned long long)bytes, (now_ns() - start) / 1e9);
	if (n < 0 && errno == EAGAIN)
		die("this side never learned of the kill");
	/* sending must soon fail, too */
	start = now_ns();
	while ((n = send(fd, buf, sizeof(buf), MSG_NOSIGNAL)) > 0)
		if (now_ns() - start > SOON * 1000000000ull)
			die("send still succeeds");
	note("send returned %zd %s", n, err_name(errno));
	if (errno == EAGAIN)
		die("this side never learned of the kill");
	close(fd);
}

static void kill_one(bool dies)
{
	int bystander = open_pair();
	int fd = open_pair();

	if (dies)
		be_killed(fd);
	else
		survive(fd);
	meet("killed");
	/* the other connection of the link group is not affected, and new ones can be opened */
	if (opt.server) {
		recv_stream(bystander, 3, 0, 200000, 20000);
		send_stream(bystander, 4, 0, 200000, 20000);
	} else {
		send_stream(bystander, 3, 0, 200000, 20000);
		recv_stream(bystander, 4, 0, 200000, 20000);
	}
	close(bystander);
	close(open_pair());
	meet("end");
}

static void kill_client(void)
{
	kill_one(!opt.server);
}

static void kill_server(void)
{
	kill_one(opt.server);
}

/* ---- a peer whose machine is lost ---- */

/*
 * Three connections. They are idle, except for the third one if there are threads: that has more to
 * send than fits. At look() the client's driver turns its machine off.
 */
static void power_off_client(void)
{
	int fds[3];

	for (int i = 0; i < 3; i++)
		fds[i] = open_pair();
	check_modes(fds, 3);
	meet("armed");
	look("off");		/* the machine is gone: does not return */
	die("the machine is still running");
}

static void *blocked_send(void *arg)
{
	static char buf[100000];
	int fd = *(int *)arg;

	while (send(fd, buf, sizeof(buf), MSG_NOSIGNAL) > 0)
		;
	note("blocked send: %s", err_name(errno));
	return NULL;
}

static void power_off_server(void)
{
	struct pollfd pfd[3];
	uint64_t start;
	pthread_t thread;
	int fds[3], gone = 0;

	for (int i = 0; i < 3; i++) {
		fds[i] = open_pair();
		pfd[i].fd = fds[i];
		pfd[i].events = POLLIN;
	}
	check_modes(fds, 3);
	meet("armed");
	start = now_ns();
	if (opt.threads)
		X(-pthread_create(&thread, NULL, blocked_send, &fds[2]));
	while (gone < 3) {
		if (X(poll(pfd, 3, opt.timeout * 1000)) == 0)
			die("%d of 3 connections never ended", 3 - gone);
		for (int i = 0; i < 3; i++) {
			char c;
			ssize_t n;

			if (pfd[i].fd < 0 || !pfd[i].revents)
				continue;
			n = recv(fds[i], &c, 1, MSG_DONTWAIT);
			if (n < 0 && errno == EAGAIN)
				continue;
			note("connection %d (%s) ended after %.1f s: poll 0x%x, recv %zd %s", i,
			     i == 2 && opt.threads ? "sending" : "idle", (now_ns() - start) / 1e9,
			     pfd[i].revents, n, n < 0 ? err_name(errno) : "");
			pfd[i].fd = -1;
			gone++;
		}
	}
	if (opt.threads)
		X(-pthread_join(thread, NULL));
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

const struct test_case end_cases[] = {
	{ "half_close_client", half_close_client, half_close_client,
	  "the client shuts down its sending side" },
	{ "half_close_server", half_close_server, half_close_server,
	  "the server shuts down its sending side" },
	{ "session", session, session, "two short connections, for a capture" },
	{ "close_unread_client", close_unread_client, close_unread_client,
	  "the client closes with unread data" },
	{ "close_unread_server", close_unread_server, close_unread_server,
	  "the server closes with unread data" },
	{ "kill_client", kill_client, kill_client, "the client is killed" },
	{ "kill_server", kill_server, kill_server, "the server is killed" },
	{ "power_off", power_off_server, power_off_client, "the client's machine is turned off" },
	{ 0 }
};
