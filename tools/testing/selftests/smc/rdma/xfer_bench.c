// SPDX-License-Identifier: GPL-2.0
/* The time that an operation takes. The client prints one line of JSON. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "xfer.h"

/*
 * The nops are markers for the QEMU plugin of ../bench, which counts the instructions of a machine
 * from the first marker to the second.  It knows only the markers of x86-64.
 */
#ifdef __x86_64__
#define MARK(number)	asm volatile("nopl " number "(%%rax)" ::: "memory")
#else
#define MARK(number)	do { } while (0)
#endif

static uint64_t mark_begin(void)
{
	MARK("0x534d4301");
	return now_ns();
}

static uint64_t mark_end(uint64_t start)
{
	uint64_t ns = now_ns() - start;

	MARK("0x534d4302");
	return ns;
}

static void report(const char *name, long count, uint64_t ns)
{
	if (!opt.server)
		note("{\"bench\": \"%s%s\", \"size\": %d, \"count\": %ld, \"ns_per_op\": %.0f}",
		     name, opt.kind == KIND_TCP ? "_tcp" : "", opt.size, count, (double)ns / count);
}

static void bounce(int fd, char *buf, long count)
{
	for (long i = 0; i < count; i++) {
		if (!opt.server)
			send_all(fd, buf, opt.size);
		recv_all(fd, buf, opt.size);
		if (opt.server)
			send_all(fd, buf, opt.size);
	}
}

static void ping_pong(void)
{
	char *buf = calloc(1, opt.size);
	int fd = open_pair();
	uint64_t start;

	bounce(fd, buf, opt.count / 10 + 1);
	start = mark_begin();
	bounce(fd, buf, opt.count);
	report("ping_pong", opt.count, mark_end(start));
	close(fd);
	free(buf);
	meet("end");
}

/* ns per write; the clock stops when the server has read everything */
static void stream_some(int fd, char *buf, long count)
{
	size_t left = count * opt.size;
	char c = 'e';

	if (!opt.server) {
		for (long i = 0; i < count; i++)
			send_all(fd, buf, opt.size);
		recv_all(fd, &c, 1);
		return;
	}
	while (left) {
		ssize_t n = X(recv(fd, buf, opt.size, 0));

		if (!n)
			die("the client closed");
		left -= n;
	}
	send_all(fd, &c, 1);
}

static void stream(void)
{
	char *buf = calloc(1, opt.size);
	int fd = open_pair();
	uint64_t start;

	stream_some(fd, buf, opt.count / 10 + 1);
	start = mark_begin();
	stream_some(fd, buf, opt.count);
	report("stream", opt.count, mark_end(start));
	close(fd);
	free(buf);
	meet("end");
}

/* The server closes after the client: no byte of data. */
static void connect_some(int lfd, long count)
{
	char c;

	for (long i = 0; i < count; i++) {
		int fd = opt.server ? accept_one(lfd) : connect_out();

		if (opt.server)
			X(recv(fd, &c, 1, 0));
		close(fd);
	}
}

static void connect_close(void)
{
	int lfd = -1;
	uint64_t start;

	close(open_pair());	/* the first connection also pays for the link group */
	if (opt.server)
		lfd = listen_on(16);
	else
		hear_port();
	connect_some(lfd, opt.count / 10 + 1);
	start = mark_begin();
	connect_some(lfd, opt.count);
	report("connect_close", opt.count, mark_end(start));
	close(lfd);
	meet("end");
}

struct bouncer {
	pthread_t thread;
	int fd;
	char *buf;
};

static void *bounce_thread(void *arg)
{
	struct bouncer *b = arg;

	bounce(b->fd, b->buf, opt.count);
	return NULL;
}

/* opt.threads connections at once; ns per round trip of all of them together */
static void parallel(void)
{
	struct bouncer *b = calloc(opt.threads, sizeof(*b));
	uint64_t start;

	for (int i = 0; i < opt.threads; i++) {
		b[i].fd = open_pair();
		b[i].buf = calloc(1, opt.size);
	}
	meet("start");
	start = mark_begin();
	for (int i = 0; i < opt.threads; i++)
		X(-pthread_create(&b[i].thread, NULL, bounce_thread, &b[i]));
	for (int i = 0; i < opt.threads; i++)
		X(-pthread_join(b[i].thread, NULL));
	report("parallel", opt.count * opt.threads, mark_end(start));
	for (int i = 0; i < opt.threads; i++)
		close(b[i].fd);
	meet("end");
}

static void *stream_thread(void *arg)
{
	struct bouncer *b = arg;

	stream_some(b->fd, b->buf, opt.count);
	return NULL;
}

/* opt.threads streams at once over all links of a group; ns per write of all of them together */
static void streams(void)
{
	struct bouncer *b = calloc(opt.threads, sizeof(*b));
	int first = open_pair();
	uint64_t start;

	look("links");		/* connections are spread over the links that exist */
	meet("links");
	for (int i = 0; i < opt.threads; i++) {
		b[i].fd = open_pair();
		b[i].buf = calloc(1, opt.size);
	}
	look("spread");
	meet("start");
	start = mark_begin();
	for (int i = 0; i < opt.threads; i++)
		X(-pthread_create(&b[i].thread, NULL, stream_thread, &b[i]));
	for (int i = 0; i < opt.threads; i++)
		X(-pthread_join(b[i].thread, NULL));
	report("streams", opt.count * opt.threads, mark_end(start));
	for (int i = 0; i < opt.threads; i++)
		close(b[i].fd);
	close(first);
	meet("end");
}

const struct test_case bench_cases[] = {
	{ "ping_pong", ping_pong, ping_pong, "round trips of one size" },
	{ "stream", stream, stream, "writes of one size" },
	{ "connect_close", connect_close, connect_close, "connections without data" },
	{ "streams", streams, streams, "streams at once, over all links" },
	{ "parallel", parallel, parallel, "round trips on many connections at once" },
	{ 0 }
};
