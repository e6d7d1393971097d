// SPDX-License-Identifier: GPL-2.0
/*
 * Short connections while links are lost: at that time handshakes, new RMBs with their CONFIRM
 * RKEY, closes and aborts are in progress. Each connection must be established, as SMC-R or as TCP,
 * and must end as its header says.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "xfer_live.h"

#define BYTES_MOST	(96u << 10)
#define CHUNK		8000
#define BACKLOG		256

enum way {
	WAY_CLOSE,	/* data there and back, the client closes */
	WAY_HALF,	/* the client sends everything and shuts down, then the server does */
	WAY_ABORT,	/* the client aborts after half of the answer */
	WAY_UNREAD,	/* the client closes with the other half unread */
	WAYS,
	WAY_LAST,	/* no more connections for this thread */
};

struct header {
	uint64_t seed;
	uint32_t bytes, way;
};

static int listener = -1;

/* Another element size usually requires another RMB. */
static void draw_buffer(int fd, uint64_t *state)
{
	int size = 8192 << draw(state) % 6;

	X(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)));
}

static void expect_end(int fd)
{
	char c;

	if (X(recv(fd, &c, 1, 0)))
		die("more bytes than the stream had");
}

static void abort_connection(int fd)
{
	struct linger now = { .l_onoff = 1 };

	X(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)));
}

static void one_as_client(struct live *l, const struct header *h, uint64_t *state)
{
	struct sockaddr_storage ss;
	socklen_t len = peer_address(&ss);
	int fd = make_socket();

	draw_buffer(fd, state);
	X(connect(fd, (void *)&ss, len));
	send_all(fd, h, sizeof(*h));
	if (h->way == WAY_LAST) {
		expect_end(fd);
	} else {
		bool half = h->way == WAY_ABORT || h->way == WAY_UNREAD;
		/* Receive some of any answer: then the server has read everything. */
		size_t wanted = half ? (h->bytes + 1) / 2 : h->bytes;

		send_stream(fd, h->seed, 0, h->bytes, CHUNK);
		if (h->way == WAY_HALF)
			X(shutdown(fd, SHUT_WR));
		recv_stream(fd, h->seed + 1, 0, wanted, CHUNK);
		if (h->way == WAY_HALF)
			expect_end(fd);
		if (h->way == WAY_ABORT)
			abort_connection(fd);
	}
	close(fd);
	progress(l, h->bytes);
}

static void *churn_client(void *arg)
{
	struct live *l = arg;
	uint64_t state = opt.seed + 7000003 * (l->index + 1);
	struct header h = { 0 };

	while (!enough) {
		h.seed = draw(&state);
		h.bytes = draw_size(&state, BYTES_MOST);
		h.way = draw(&state) % WAYS;
		one_as_client(l, &h, &state);
	}
	h = (struct header){ .way = WAY_LAST };
	one_as_client(l, &h, &state);
	return NULL;
}

/* The client takes only part of the answer. After that it sends no more data. */
static void answer_in_vain(int fd, const struct header *h)
{
	char *buf = buffer(h->bytes), c;
	ssize_t n = 0;

	fill(buf, h->bytes, h->seed + 1, 0);
	for (size_t done = 0; done < h->bytes && n >= 0; done += n)
		n = send(fd, buf + done, h->bytes - done, MSG_NOSIGNAL);
	free(buf);
	if (n >= 0)
		n = recv(fd, &c, 1, 0);
	if (n > 0 || (n < 0 && errno != ECONNRESET && errno != EPIPE))
		die("send or recv on a connection that the client left returned %zd", n);
	if (!n && h->way == WAY_ABORT)
		die("end of file although the client aborted");
}

/* Returns false after the last one for this thread. */
static bool one_as_server(struct live *l)
{
	int fd = X(accept(listener, NULL, NULL));
	struct header h;

	recv_all(fd, &h, sizeof(h));
	if (h.bytes > BYTES_MOST || h.way > WAY_LAST)
		die("a wrong header: %u bytes, way %u", h.bytes, h.way);
	if (h.way == WAY_LAST) {
		close(fd);
		return false;
	}
	recv_stream(fd, h.seed, 0, h.bytes, CHUNK);
	if (h.way == WAY_HALF)
		expect_end(fd);
	if (h.way == WAY_ABORT || h.way == WAY_UNREAD)
		answer_in_vain(fd, &h);
	else
		send_stream(fd, h.seed + 1, 0, h.bytes, CHUNK);
	if (h.way == WAY_CLOSE)
		expect_end(fd);
	close(fd);
	progress(l, h.bytes);
	return true;
}

static void *churn_server(void *arg)
{
	struct live *l = arg;
	uint64_t state = opt.seed + 9000011 * (l->index + 1);

	do
		draw_buffer(listener, &state);
	while (one_as_server(l));
	return NULL;
}

void failover_churn(void)
{
	static const struct load client = { "churn", NULL, churn_client, 8, true },
		server = { "churn", NULL, churn_server, 8, true };

	if (opt.server)
		listener = listen_on(BACKLOG);
	else
		hear_port();
	for (int i = 0; i < opt.threads; i++)
		start(opt.server ? &server : &client);
	obey();
}
