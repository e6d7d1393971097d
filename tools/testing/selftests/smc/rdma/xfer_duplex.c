// SPDX-License-Identifier: GPL-2.0
/*
 * Cases: both directions of a connection at once with full rings, and readers that pause.
 *
 * In every round each role sends an amount that the other one knows, mostly more than fits into the
 * rings, and starts the next round after it has received all of this one. So no later message makes
 * up for the last window update of a round: if that is lost, the sender waits for ever. The seed
 * determines what the readers do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "parameter.h"
#include "xfer.h"

#define ROUND_MOST	(256u << 10)	/* bytes in each direction in a round */
#define CALL_MOST	(96u << 10)	/* bytes in a call */
#define STOP_MOST	3000		/* us that a reader pauses */
#define MAX_CONNS	8

struct duplex {
	int fd, index;
	pthread_t sender, reader;
	pthread_barrier_t round;
	const char *doing[2];		/* sender and reader, for the watchdog */
	size_t at[2];
	int rounds;
};

static struct duplex conns[MAX_CONNS];

/* Number of bytes of a round in one direction; both roles compute the same. */
static size_t round_size(const struct duplex *d, int round, bool from_server)
{
	uint64_t state = opt.seed * 7919 + d->index * 131071 + 2ull * round + from_server;

	return draw(&state) % 3 ? 1 + draw(&state) % ROUND_MOST : draw_size(&state, ROUND_MOST);
}

static uint64_t stream_seed(const struct duplex *d, bool from_server)
{
	return opt.seed + 2 * d->index + from_server;
}

/* One call, which may send only part, or may first wait with poll(). */
static size_t send_some(int fd, const char *buf, size_t len, bool use_poll)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	ssize_t n = send(fd, buf, len, MSG_NOSIGNAL | (use_poll ? MSG_DONTWAIT : 0));

	if (n > 0)
		return n;
	if (!use_poll || errno != EAGAIN)
		die("send returned %zd", n);
	X(poll(&pfd, 1, -1));
	return 0;
}

static void *send_rounds(void *arg)
{
	struct duplex *d = arg;
	uint64_t state = opt.seed + 1000003 * (2 * d->index + opt.server), pos = 0;
	char *buf = buffer(ROUND_MOST);

	for (int round = 0; round < opt.count; round++) {
		size_t size = round_size(d, round, opt.server), sent = 0;
		bool use_poll = draw(&state) % 4 == 0;

		fill(buf, size, stream_seed(d, opt.server), pos);
		d->doing[0] = use_poll ? "sends with poll()" : "sends";
		while (sent < size) {
			size_t part = draw_size(&state, CALL_MOST);

			d->at[0] = sent;
			sent += send_some(d->fd, buf + sent,
					  part < size - sent ? part : size - sent, use_poll);
		}
		pos += size;
		d->doing[0] = "has sent, waits for the reader";
		pthread_barrier_wait(&d->round);
	}
	free(buf);
	return NULL;
}

static void stop_now_and_then(uint64_t *state)
{
	if (draw(state) % 4 == 0)
		usleep(draw_size(state, STOP_MOST));
}

static void *recv_rounds(void *arg)
{
	struct duplex *d = arg;
	uint64_t state = opt.seed + 2000003 * (2 * d->index + opt.server), pos = 0;
	char *buf = buffer(CALL_MOST);

	for (int round = 0; round < opt.count; round++) {
		size_t left = round_size(d, round, !opt.server);

		d->doing[1] = "receives";
		while (left) {
			size_t part = draw_size(&state, CALL_MOST);
			ssize_t n;

			stop_now_and_then(&state);
			d->at[1] = left;
			n = recv(d->fd, buf, part < left ? part : left, 0);
			if (n <= 0)
				die("recv returned %zd", n);
			verify(buf, n, stream_seed(d, !opt.server), pos);
			pos += n;
			left -= n;
		}
		d->doing[1] = "has received, waits for the sender";
		pthread_barrier_wait(&d->round);
		d->rounds++;
	}
	free(buf);
	return NULL;
}

/* For the watchdog: the progress of each thread. */
static void tell_progress(void)
{
	for (int i = 0; i < MAX_CONNS && conns[i].doing[0]; i++) {
		const struct duplex *d = &conns[i];

		note("connection %d, round %d of %ld: the sender %s, %zu of %zu bytes; "
		     "the reader %s, %zu of %zu bytes left", i, d->rounds, opt.count, d->doing[0],
		     d->at[0], round_size(d, d->rounds, opt.server), d->doing[1], d->at[1],
		     round_size(d, d->rounds, !opt.server));
	}
}

static void duplex(void)
{
	int n = opt.threads < 1 ? 1 : opt.threads > MAX_CONNS ? MAX_CONNS : opt.threads;
	uint64_t start;

	for (int i = 0; i < n; i++) {
		conns[i].fd = open_pair();
		conns[i].index = i;
		pthread_barrier_init(&conns[i].round, NULL, 2);
	}
	at_timeout(tell_progress);
	meet("start");
	start = now_ns();
	for (int i = 0; i < n; i++) {
		conns[i].doing[0] = conns[i].doing[1] = "starts";
		X(-pthread_create(&conns[i].sender, NULL, send_rounds, &conns[i]));
		X(-pthread_create(&conns[i].reader, NULL, recv_rounds, &conns[i]));
	}
	for (int i = 0; i < n; i++) {
		X(-pthread_join(conns[i].sender, NULL));
		X(-pthread_join(conns[i].reader, NULL));
	}
	if (!opt.server)
		note("%ld rounds on %d connections in %.1f s", opt.count, n,
	     (now_ns() - start) / 1e9);
	meet("ran");
	for (int i = 0; i < n; i++)
		close(conns[i].fd);
	meet("end");
}

/* ---- reading while a message is being posted ---- */

#define DELAY_US	200000

static void set_delay(int us)
{
	if (!put_parameter("cdc_delay_us", us))
		die("cannot set the parameter cdc_delay_us: is it a test build?");
}

static int readable(int fd)
{
	int n = 0;

	X(ioctl(fd, FIONREAD, &n));
	return n;
}

static void *send_byte(void *arg)
{
	send_all(*(int *)arg, "x", 1);
	return NULL;
}

/*
 * The peer waits for room. Our post of a byte has already read the consumer cursor, and is delayed.
 * Now one call reads everything there is: the peer must get that update all the same.
 */
static void read_during_post(int fd, char *buf, uint64_t *pos, size_t len)
{
	pthread_t thread;
	int n = -1;

	while (n <= 0 || n != readable(fd)) {
		n = readable(fd);
		usleep(200000);
	}
	set_delay(DELAY_US);
	X(-pthread_create(&thread, NULL, send_byte, &fd));
	usleep(DELAY_US / 4);
	n = X(recv(fd, buf, len, 0));
	X(-pthread_join(thread, NULL));
	set_delay(0);
	verify(buf, n, opt.seed, *pos);
	*pos += n;
}

#define UPDATES	5

static void window_update(void)
{
	size_t len = 1u << 20;
	char *buf = buffer(len), in[UPDATES];
	uint64_t pos = 0;
	int fd;

	/* With the smallest rings, each read call causes one update. */
	opt.rcvbuf = opt.sndbuf = 4096;
	fd = open_pair();
	if (opt.server) {
		note("the element has %d bytes", element_size(fd));
		for (int i = 0; i < UPDATES; i++)
			read_during_post(fd, buf, &pos, len);
		recv_stream(fd, opt.seed, pos, len - pos, 65536);
	} else {
		send_stream(fd, opt.seed, 0, len, len);
		recv_all(fd, in, sizeof(in));
	}
	free(buf);
	meet("sent");
	close(fd);
	meet("end");
}

const struct test_case duplex_cases[] = {
	{ "window_update", window_update, window_update,
	  "a cursor update for data read during a post reaches the peer" },
	{ "duplex", duplex, duplex, "rounds with both rings full and readers that pause" },
	{ 0 }
};
