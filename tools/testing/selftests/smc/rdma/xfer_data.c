// SPDX-License-Identifier: GPL-2.0
/* Cases: much data over one connection. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "xfer.h"

#define BIGGEST		(4u << 20)	/* size of a message, in transfer */

/* One direction of a connection, as this role sees it. */
struct stream {
	int fd;
	uint64_t seed;			/* of the bytes */
	uint64_t state;			/* of the sizes and offsets */
	uint64_t pos, end;
	struct sha256 sha;
	char *buf;
	size_t off, size, done;		/* the current message */
};

static void stream_init(struct stream *s, int fd, bool from_server)
{
	memset(s, 0, sizeof(*s));
	s->fd = fd;
	s->seed = 2 * opt.seed + from_server;
	s->state = 1000 * opt.seed + 2 * opt.server + from_server;
	s->end = opt.bytes;
	s->buf = buffer(BIGGEST + 4096);
	sha256_init(&s->sha);
}

/* Message sizes of all magnitudes, at any offset in a page, mostly an odd one. */
static void next_message(struct stream *s)
{
	s->size = draw_size(&s->state, BIGGEST);
	if (s->size > s->end - s->pos)
		s->size = s->end - s->pos;
	s->off = draw(&s->state) % 4096 | 1;
	s->done = 0;
}

static void prepare_message(struct stream *s)
{
	next_message(s);
	fill(s->buf + s->off, s->size, s->seed, s->pos);
	sha256_update(&s->sha, s->buf + s->off, s->size);
}

static void *send_messages(void *arg)
{
	struct stream *s = arg;

	while (s->pos < s->end) {
		prepare_message(s);
		send_all(s->fd, s->buf + s->off, s->size);
		s->pos += s->size;
	}
	X(shutdown(s->fd, SHUT_WR));
	return NULL;
}

static void got_bytes(struct stream *s, const char *data, ssize_t n)
{
	verify(data, n, s->seed, s->pos);
	sha256_update(&s->sha, data, n);
	s->pos += n;
}

static void *recv_messages(void *arg)
{
	struct stream *s = arg;

	for (;;) {
		size_t size = draw_size(&s->state, BIGGEST);
		size_t off = draw(&s->state) % 4096 | 1;
		/* MSG_WAITALL now and then: one call over many window updates */
		int flags = draw(&s->state) % 4 ? 0 : MSG_WAITALL;
		ssize_t n = recv(s->fd, s->buf + off, size, flags);

		if (n < 0)
			die("recv after %llu bytes", (unsigned long long)s->pos);
		if (!n)
			return NULL;
		got_bytes(s, s->buf + off, n);
	}
}

/* Each role must receive exactly what the other one sent. */
static void compare(struct stream *tx, struct stream *rx)
{
	char mine[65], theirs[256];

	if (rx->pos != rx->end)
		die("%llu bytes came instead of %llu", (unsigned long long)rx->pos,
		    (unsigned long long)rx->end);
	sha256_text(&tx->sha, mine);
	tell("%s", mine);
	hear(theirs, sizeof(theirs));
	sha256_text(&rx->sha, mine);
	if (strcmp(mine, theirs))
		die("SHA-256 of the received data is %s, of the sent data %s", mine, theirs);
	if (opt.server)
		note("%ld bytes each way, SHA-256 %.16s...", opt.bytes, mine);
}

static void finish(struct stream *tx, struct stream *rx, uint64_t start)
{
	double seconds = (now_ns() - start) / 1e9;

	compare(tx, rx);
	if (!opt.server)
		note("%.1f s, %.1f MB/s in both directions together", seconds,
		     2 * opt.bytes / seconds / 1e6);
	close(tx->fd);
	free(tx->buf);
	free(rx->buf);
	meet("end");
}

/* Both directions at once, one thread for each. */
static void transfer(void)
{
	struct stream tx, rx;
	pthread_t thread;
	uint64_t start;
	int fd;

	fd = open_pair();
	stream_init(&tx, fd, opt.server);
	stream_init(&rx, fd, !opt.server);
	look("open");
	meet("start");
	start = now_ns();
	X(-pthread_create(&thread, NULL, send_messages, &tx));
	recv_messages(&rx);
	X(-pthread_join(thread, NULL));
	finish(&tx, &rx, start);
}

/* One direction after the other, so each has the wire to itself. */
static void one_way(void)
{
	struct stream tx, rx;
	uint64_t start;
	int fd;

	fd = open_pair();
	stream_init(&tx, fd, opt.server);
	stream_init(&rx, fd, !opt.server);
	meet("start");
	start = now_ns();
	if (opt.server) {
		recv_messages(&rx);
		send_messages(&tx);
	} else {
		send_messages(&tx);
		recv_messages(&rx);
	}
	finish(&tx, &rx, start);
}

/* Non-blocking: both directions from one loop around poll(). */
static bool poll_send(struct stream *s)
{
	ssize_t n;

	if (s->done == s->size) {
		s->pos += s->size;
		if (s->pos == s->end) {
			X(shutdown(s->fd, SHUT_WR));
			return false;
		}
		prepare_message(s);
	}
	n = send(s->fd, s->buf + s->off + s->done, s->size - s->done, MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN)
		die("send after %llu bytes", (unsigned long long)s->pos);
	if (n > 0)
		s->done += n;
	return true;
}

static bool poll_recv(struct stream *s)
{
	size_t size = draw_size(&s->state, BIGGEST);
	ssize_t n = recv(s->fd, s->buf + 1, size, 0);

	if (n < 0 && errno != EAGAIN)
		die("recv after %llu bytes", (unsigned long long)s->pos);
	if (n > 0)
		got_bytes(s, s->buf + 1, n);
	return n != 0;
}

static void transfer_poll(void)
{
	bool sending = true, receiving = true;
	struct stream tx, rx;
	struct pollfd pfd;
	uint64_t start;
	int fd;

	fd = open_pair();
	set_nonblock(fd);
	stream_init(&tx, fd, opt.server);
	stream_init(&rx, fd, !opt.server);
	meet("start");
	start = now_ns();
	pfd.fd = fd;
	while (sending || receiving) {
		pfd.events = (sending ? POLLOUT : 0) | (receiving ? POLLIN : 0);
		if (X(poll(&pfd, 1, 20000)) == 0)
			die("poll reports nothing to %s%s for 20 s, sent %llu, received %llu",
			    sending ? "send " : "", receiving ? "receive" : "",
			    (unsigned long long)tx.pos, (unsigned long long)rx.pos);
		if (receiving && (pfd.revents & (POLLIN | POLLERR | POLLHUP)))
			receiving = poll_recv(&rx);
		if (sending && (pfd.revents & (POLLOUT | POLLERR | POLLHUP)))
			sending = poll_send(&tx);
	}
	finish(&tx, &rx, start);
}

/* ---- a reader that takes a byte at a time ---- */

/* The client has more to send than all rings hold; the server reads slowly. */
static void by_bytes(void)
{
	uint64_t pos = 0;
	int fd = open_pair();
	char c;

	meet("start");
	if (!opt.server) {
		send_stream(fd, 1, 0, opt.bytes, 65536);
	} else {
		for (; pos < (uint64_t)opt.bytes; pos++) {
			recv_all(fd, &c, 1);
			verify(&c, 1, 1, pos);
		}
	}
	meet("read");
	close(fd);
	meet("end");
}

/* ---- sizes around the size of the element ---- */

static const int per_cent[] = { 12, 25, 45, 50, 55, 75, 85, 90, 95, 100, 105, 150, 200 };
#define POINTS	(int)(sizeof(per_cent) / sizeof(per_cent[0]))

/* Client to server: opt.bytes in writes and reads of these sizes; MB/s. */
static double sweep_point(int fd, size_t send_size, size_t recv_size)
{
	size_t chunk = opt.server ? recv_size : send_size;
	char *buf = buffer(chunk);
	uint64_t start;
	long left;
	char c;

	memset(buf, 'x', chunk);
	meet("point");
	start = now_ns();
	for (left = opt.bytes; left > 0;) {
		size_t part = (long)chunk < left ? chunk : (size_t)left;
		ssize_t n = opt.server ? X(recv(fd, buf, part, 0)) :
					 X(send(fd, buf, part, MSG_NOSIGNAL));
		if (!n)
			die("the peer closed");
		if (opt.server && (buf[0] != 'x' || buf[n - 1] != 'x'))
			die("0x%02x and 0x%02x came instead of 'x'", buf[0], buf[n - 1]);
		left -= n;
	}
	if (opt.server)
		send_all(fd, "y", 1);
	else
		recv_all(fd, &c, 1);
	if (!opt.server && c != 'y')
		die("0x%02x came instead of 'y'", c);
	free(buf);
	return opt.bytes * 1e3 / (now_ns() - start);
}

static void sweep(void)
{
	double rate, best[2] = { 0 }, worst[2] = { 1e9, 1e9 };
	int fd = open_pair(), element;

	/* both use the server's element, which is where the data arrives */
	if (opt.server) {
		element = element_size(fd);
		if (!element)
			element = 65536;
		tell_number(element);
	} else {
		element = hear_number();
	}
	sweep_point(fd, element, element);	/* warm-up */
	for (int vary = 0; vary < 2; vary++) {
		for (int i = 0; i < POINTS; i++) {
			size_t size = (size_t)element * per_cent[i] / 100;

			rate = vary ? sweep_point(fd, 65536, size) : sweep_point(fd, size, 65536);
			if (!opt.server)
				note("{\"sweep\": \"%s\", \"per_cent\": %d, \"element\": %d, \"mb_s\": %.2f}",
				     vary ? "recv" : "send", per_cent[i], element, rate);
			best[vary] = rate > best[vary] ? rate : best[vary];
			worst[vary] = rate < worst[vary] ? rate : worst[vary];
		}
		if (!opt.server)
			note("sweep of %s sizes around %d bytes: worst %.1f MB/s is %.0f %% of the best",
			     vary ? "recv" : "send", element, worst[vary],
			     100 * worst[vary] / best[vary]);
	}
	close(fd);
	meet("end");
}

#define BOTH(n, f, text)	{ n, f, f, text }

const struct test_case data_cases[] = {
	BOTH("transfer", transfer, "bytes each way at once, messages of 1 B to 4 MiB, SHA-256"),
	BOTH("one_way", one_way, "one direction after the other"),
	BOTH("transfer_poll", transfer_poll, "one direction after the other, non-blocking"),
	BOTH("by_bytes", by_bytes, "the server reads byte by byte"),
	BOTH("sweep", sweep, "throughput at message and recv sizes around the element size"),
	{ 0 }
};
