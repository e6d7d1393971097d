// SPDX-License-Identifier: GPL-2.0
/* Cases: urgent data. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "xfer.h"

static volatile sig_atomic_t urgent_signals;

static void got_signal(int sig)
{
	urgent_signals++;
}

/* Deliver SIGURG to this process from now on. */
static void want_sigurg(int fd)
{
	struct sigaction sa = { .sa_handler = got_signal, .sa_flags = SA_RESTART };

	X(sigaction(SIGURG, &sa, NULL));
	X(fcntl(fd, F_SETOWN, getpid()));
}

static int at_mark(int fd)
{
	int n = -1;

	X(ioctl(fd, SIOCATMARK, &n));
	return n;
}

static void await_urgent(int fd, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	int n;

	/* SIGURG may interrupt poll(), to which SA_RESTART does not apply. */
	do
		n = poll(&pfd, 1, 20000);
	while (n < 0 && errno == EINTR);
	if (!X(n))
		die("no urgent data for 20 s");
}

/* Receives all bytes up to the mark, or all of @want. */
static void expect_text(int fd, const char *want)
{
	char got[64] = "";
	size_t len = 0;
	ssize_t n;

	while (len < strlen(want) || !*want) {
		n = X(recv(fd, got + len, sizeof(got) - 1 - len, 0));
		if (!n)
			break;
		len += n;
	}
	if (strcmp(got, want))
		die("\"%s\" came instead of \"%s\"", got, want);
}

static void expect_urgent(int fd, char want)
{
	char got = 0;

	await_urgent(fd, POLLPRI);
	if (X(recv(fd, &got, 1, MSG_OOB)) != 1 || got != want)
		die("the urgent byte is '%c' instead of '%c'", got, want);
}

static void send_urgent(int fd, const char *text)
{
	ssize_t n = send(fd, text, strlen(text), MSG_OOB | MSG_NOSIGNAL);

	if (n != (ssize_t)strlen(text))
		die("send of urgent \"%s\" returned %zd", text, n);
}

/* With the kernel's own module, the mark is not checked. */
static void check_mark(int fd, int want)
{
	if (opt.strict && at_mark(fd) != want)
		die(want ? "not at the mark" : "still at the mark");
}

/* Out of band: before data and behind it. */
static void urgent_server(void)
{
	int fd = open_pair();

	want_sigurg(fd);
	meet("ready");
	for (int i = 0; i < opt.count; i++) {
		expect_urgent(fd, 'U');
		expect_text(fd, "abc");
		check_mark(fd, 1);
		expect_text(fd, "defg");
		check_mark(fd, 0);
		meet("read");
	}
	if (urgent_signals < opt.count)
		die("%d SIGURG signals", urgent_signals);
	meet("end");
	close(fd);
}

static void urgent_client(void)
{
	int fd = open_pair();

	meet("ready");
	for (int i = 0; i < opt.count; i++) {
		send_all(fd, "ab", 2);
		send_urgent(fd, "cU");
		send_all(fd, "de", 2);
		send_all(fd, "fg", 2);
		meet("read");
	}
	meet("end");
	close(fd);
}

/*
 * The urgent byte is reported first: data behind it may arrive only after the receiver has noticed
 * the urgent byte, even if it only waits for that. The kernel's own module does not provide this.
 */
static void urgent_first_server(void)
{
	int fd = open_pair();

	meet("ready");
	for (int i = 0; i < opt.count; i++) {
		if (i % 2)
			expect_urgent(fd, 'V');
		await_urgent(fd, POLLIN);
		expect_text(fd, "hi");
		meet("read");
	}
	meet("end");
	close(fd);
}

static void urgent_first_client(void)
{
	int fd = open_pair();

	meet("ready");
	for (int i = 0; i < opt.count; i++) {
		send_urgent(fd, "V");
		send_all(fd, "hi", 2);
		meet("read");
	}
	meet("end");
	close(fd);
}

/* Nobody reads the urgent bytes: they are missing in the stream, or are in it with SO_OOBINLINE. */
static void urgent_unread_server(void)
{
	int fd = open_pair(), on = 1;

	meet("ready");
	await_urgent(fd, POLLIN);
	expect_text(fd, "abcdefg");
	X(setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on)));
	meet("in line");
	expect_text(fd, "abcUdefgV");
	meet("end");
	close(fd);
}

static void urgent_unread_client(void)
{
	int fd = open_pair();

	meet("ready");
	send_urgent(fd, "abcU");
	send_urgent(fd, "defgV");
	meet("in line");
	send_urgent(fd, "abcU");
	send_urgent(fd, "defgV");
	meet("end");
	close(fd);
}

static void *send_full(void *arg)
{
	send_urgent(*(int *)arg, "xyzU");
	send_all(*(int *)arg, "end", 3);
	return NULL;
}

/* With a full window: first the notification, then the data, then the end of the stream. */
static void urgent_full_server(void)
{
	int fd = open_pair();
	uint64_t total;

	want_sigurg(fd);
	meet("full");
	total = hear_number();
	while (opt.strict && !urgent_signals)
		usleep(1000);
	recv_stream(fd, opt.seed, 0, total, 30000);
	expect_urgent(fd, 'U');
	expect_text(fd, "xyz");
	expect_text(fd, "end");
	expect_text(fd, "");
	meet("end");
	close(fd);
}

static void urgent_full_client(void)
{
	int fd = open_pair();
	pthread_t thread;
	uint64_t total = 0;
	ssize_t n;
	char *buf = buffer(30000);

	for (;;) {
		fill(buf, 30000, opt.seed, total);
		n = send(fd, buf, 30000, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			break;
		total += X(n);
	}
	meet("full");
	X(-pthread_create(&thread, NULL, send_full, &fd));
	tell_number(total);
	X(-pthread_join(thread, NULL));
	X(shutdown(fd, SHUT_WR));
	meet("end");
	free(buf);
	close(fd);
}

/* The peer closes before it has read the urgent byte, so the data behind that are held back. */
static void urgent_left_server(void)
{
	int fd = open_pair();
	char c;

	want_sigurg(fd);
	meet("ready");
	meet("sent");
	/* Not poll(), which takes the byte out of the way of the data behind it. */
	while (opt.strict && !urgent_signals)
		usleep(1000);
	X(shutdown(fd, SHUT_RDWR));
	while (recv(fd, &c, 1, 0) > 0)
		;
	meet("shut down");
	close(fd);
	meet("closed");
}

/*
 * This end must be told that they are lost. Over SMC-D nothing may follow the peer's "closed", so
 * there it learns that only from TCP, up to a minute later: the end is all that counts.
 */
static void urgent_left_client(void)
{
	int fd = open_pair();
	struct pollfd p = { .fd = fd };

	meet("ready");
	send_urgent(fd, "U");
	send_all(fd, "lost", 4);
	meet("sent");
	meet("shut down");
	if (opt.strict && opt.expect == EXPECT_SMCR && X(poll(&p, 1, 20000)) != 1)
		die("no error within 20 s, but data were lost");
	close(fd);
	meet("closed");
}

#define NR_SMALL	400

/* Data before an urgent byte arrive even if the connection is aborted before they are sent. */
static void urgent_abort_server(void)
{
	int fd = open_pair();

	meet("unread");
	for (int i = 0; i < NR_SMALL; i++)
		send_all(fd, "0123456789", 10);
	send_urgent(fd, "U");
	send_all(fd, "held back", 9);
	close(fd);
	meet("end");
}

static void urgent_abort_client(void)
{
	int fd = open_pair();
	size_t total = 0;
	char buf[1000];
	ssize_t n;

	send_all(fd, "unread", 6);
	meet("unread");
	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
		total += n;
	if (opt.strict && (n != -1 || errno != ECONNRESET || total < 10 * NR_SMALL))
		die("%zu bytes, then recv() returned %zd, errno %d", total, n, errno);
	meet("end");
	close(fd);
}

const struct test_case urgent_cases[] = {
	{ "urgent", urgent_server, urgent_client, "urgent bytes among others" },
	{ "urgent_first", urgent_first_server, urgent_first_client,
	  "urgent bytes in front of everything else" },
	{ "urgent_unread", urgent_unread_server, urgent_unread_client,
	  "urgent bytes that are not read out of band, or inline" },
	{ "urgent_full", urgent_full_server, urgent_full_client,
	  "an urgent byte across a full window" },
	{ "urgent_left", urgent_left_server, urgent_left_client,
	  "close() in front of an urgent byte with data behind it" },
	{ "urgent_abort", urgent_abort_server, urgent_abort_client,
	  "an abort behind much data and an urgent byte" },
	{ 0 }
};
