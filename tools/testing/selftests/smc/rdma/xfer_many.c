// SPDX-License-Identifier: GPL-2.0
/* Cases: many connections, at once or one after the other. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "xfer.h"

/* ---- opt.count at once ---- */

struct share {
	pthread_t thread;
	int *fds;
	int first, count;
};

/* How much connection @i carries each way: 1 B to 100 KiB, more than an element holds. */
static size_t amount(int i)
{
	uint64_t state = opt.seed + i;

	return draw_size(&state, 100 << 10);
}

/* The client sends first, so the two sides may work through their connections in any order. */
static void *exchange(void *arg)
{
	struct share *s = arg;

	for (int i = s->first; i < s->first + s->count; i++) {
		if (opt.server)
			recv_stream(s->fds[i], opt.seed + i, 0, amount(i), 5000);
		send_stream(s->fds[i], opt.seed + i, 0, amount(i), 7777);
		if (!opt.server)
			recv_stream(s->fds[i], opt.seed + i, 0, amount(i), 9999);
	}
	return NULL;
}

static void in_threads(void *(*run)(void *), int *fds)
{
	struct share shares[8];
	int n = opt.threads < 1 ? 1 : opt.threads > 8 ? 8 : opt.threads;

	for (int i = 0; i < n; i++) {
		shares[i].fds = fds;
		shares[i].first = i * opt.count / n;
		shares[i].count = (i + 1) * opt.count / n - shares[i].first;
		X(-pthread_create(&shares[i].thread, NULL, run, &shares[i]));
	}
	for (int i = 0; i < n; i++)
		X(-pthread_join(shares[i].thread, NULL));
}

static void *connect_share(void *arg)
{
	struct share *s = arg;

	for (int i = s->first; i < s->first + s->count; i++) {
		uint32_t number = htonl(i);

		s->fds[i] = connect_out();
		send_all(s->fds[i], &number, sizeof(number));
	}
	return NULL;
}

static void accept_all(int *fds)
{
	int lfd = listen_on(opt.count);
	uint32_t number;

	for (int i = 0; i < opt.count; i++)
		fds[i] = -1;
	for (int i = 0; i < opt.count; i++) {
		int fd = accept_one(lfd);

		recv_all(fd, &number, sizeof(number));
		number = ntohl(number);
		if (number >= (unsigned long)opt.count || fds[number] >= 0)
			die("connection %u came twice or never", number);
		fds[number] = fd;
	}
	close(lfd);
}

static void at_once(void)
{
	int *fds = buffer(opt.count * sizeof(*fds));
	uint64_t start;

	if (opt.server) {
		accept_all(fds);
	} else {
		hear_port();
		start = now_ns();
		in_threads(connect_share, fds);
		note("%ld connections in %.1f s", opt.count, (now_ns() - start) / 1e9);
	}
	meet("connected");
	in_threads(exchange, fds);
	meet("exchanged");
	check_modes(fds, opt.count);
	look("open");
	meet("looked");
	for (int i = 0; i < opt.count; i++)
		X(close(fds[i]));
	free(fds);
	meet("closed");
}

/* ---- opt.count after each other ---- */

struct churn {
	pthread_t thread;
	int lfd;
	int count;
};

/* Odd connections are closed by the server first. */
static void *churn_client(void *arg)
{
	struct churn *c = arg;
	char out[64], in[64];

	for (int i = 0; i < c->count; i++) {
		int fd = connect_out();

		memset(out, i, sizeof(out));
		send_all(fd, out, sizeof(out));
		recv_all(fd, in, sizeof(in));
		if (memcmp(in, out, sizeof(in)))
			die("the echo differs");
		/* Each look is a dump of all sockets. */
		if (i % 16 == 0)
			check_modes(&fd, 1);
		if (i % 2 && recv(fd, in, 1, 0) != 0)
			die("no end of the stream");
		X(close(fd));
	}
	return NULL;
}

static void *churn_server(void *arg)
{
	struct churn *c = arg;
	char buf[64], more;

	for (int i = 0; i < c->count; i++) {
		int fd = accept_one(c->lfd);

		recv_all(fd, buf, sizeof(buf));
		send_all(fd, buf, sizeof(buf));
		if (buf[0] % 2 == 0 && recv(fd, &more, 1, 0) != 0)
			die("no end of the stream");
		X(close(fd));
	}
	return NULL;
}

static void churn(void)
{
	struct churn c[8];
	int n = opt.threads < 1 ? 1 : opt.threads > 8 ? 8 : opt.threads;
	int lfd = -1;
	uint64_t start;

	if (opt.server)
		lfd = listen_on(64);
	else
		hear_port();
	start = now_ns();
	for (int i = 0; i < n; i++) {
		c[i].lfd = lfd;
		c[i].count = (i + 1) * opt.count / n - i * opt.count / n;
		X(-pthread_create(&c[i].thread, NULL, opt.server ? churn_server : churn_client,
				  &c[i]));
	}
	for (int i = 0; i < n; i++)
		X(-pthread_join(c[i].thread, NULL));
	if (!opt.server)
		note("%ld connections in %.1f s", opt.count, (now_ns() - start) / 1e9);
	meet("churned");
	close(lfd);
	/* and the next one is what it should be */
	close(open_pair());
	meet("end");
}

const struct test_case many_cases[] = {
	{ "at_once", at_once, at_once, "many connections open, data on each" },
	{ "churn", churn, churn, "many short connections, echo of 64 B on each" },
	{ 0 }
};
