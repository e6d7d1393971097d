// SPDX-License-Identifier: GPL-2.0
/*
 * Cases: connections that survive the loss of links. The driver decides what is lost, and when. It
 * sends commands to standard input:
 *
 *   move BYTES SECONDS	each connection moves this many bytes more, or fails after that time;
 *			the answer is "@moved MS", the longest time that one of them was stalled
 *   stop		nothing more is begun; "@stopped BYTES" when every byte has arrived and each
 *			stream ends where its sender ended it
 *   doom		from now on connections may be reset; "@doomed"
 *   ended SECONDS	waits until every call on every connection has failed, as the last link is
 *			lost; "@ended MS" since doom. Then "quit" ends the role
 *
 * Wrong bytes, a reset, an early end of the stream, and TCP instead of SMC-R end the role.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "xfer_live.h"

#define CHUNK_MOST	(128u << 10)	/* bytes in a call */
#define MESSAGE_MOST	(32u << 10)	/* bytes of a message that gets an answer */
#define MESSAGES_SHARE	16		/* these move only this share of the bytes */
#define FIRST_HALF	300001		/* bytes before a half-close */
#define MAX_CONNS	256
#define EMPTY_EACH	(32u << 10)	/* received bytes from one empty_quarantine() to the next */

static struct live lives[MAX_CONNS];
static int lives_count;
static _Atomic uint64_t doomed;		/* time of doom, ns */
static _Atomic uint64_t last_end;	/* time when a connection ended after that, ns */
atomic_bool enough;

static uint64_t seed_of(const struct live *l, bool from_server)
{
	return opt.seed + 2 * l->index + from_server;
}

/*
 * Let KASAN free memory. It does so only in an allocation that may sleep, which neither soft-RoCE
 * nor send() and recv() make. The packets of many connections would use up the machine's memory.
 */
static void empty_quarantine(void)
{
	struct stat st;

	X(stat("/", &st));
}

void progress(struct live *l, size_t bytes)
{
	uint64_t now = now_ns(), still = now - l->last;

	if (still > l->longest)
		l->longest = still;
	l->last = now;
	if (l->moved / EMPTY_EACH != (l->moved + bytes) / EMPTY_EACH)
		empty_quarantine();
	l->moved += bytes;
}

/*
 * A call has failed, or the stream has ended: the thread ends, if that was expected. As with TCP,
 * only one call on a connection gets the error; later recv() returns 0 and send() fails with EPIPE.
 * After the end of the peer's stream EPIPE is the error.
 */
static void call_failed(struct live *l, ssize_t ret)
{
	if (!doomed || (ret < 0 && errno != ECONNRESET && errno != EPIPE && errno != ETIMEDOUT))
		return;
	if (ret < 0 && (errno != EPIPE || l->ended))
		l->reset = true;
	last_end = now_ns();
	pthread_exit(NULL);
}

static void send_part(struct live *l, char *buf, size_t size, int flags)
{
	ssize_t n;

	fill(buf, size, seed_of(l, opt.server), l->sent);
	for (size_t done = 0; done < size; done += n) {
		n = send(l->fd, buf + done, size - done, flags | MSG_NOSIGNAL);
		if (n <= 0)
			call_failed(l, n);
		if (n <= 0)
			die("%s, connection %d: send returned %zd after %llu bytes", l->load->name,
			    l->index, n, (unsigned long long)l->sent);
		l->sent += n;
	}
}

/* One call. False at the end of the stream. */
static bool recv_part(struct live *l, char *buf, size_t most)
{
	ssize_t n = recv(l->fd, buf, most, 0);

	if (n < 0 || (!n && doomed))
		call_failed(l, n);
	if (n < 0)
		die("%s, connection %d: recv returned %zd after %llu bytes", l->load->name,
		    l->index, n, (unsigned long long)l->received);
	verify(buf, n, seed_of(l, !opt.server), l->received);
	l->received += n;
	if (!n)
		l->ended = true;
	progress(l, n);
	return n;
}

/* Returns false if the stream ends before the message. */
static bool recv_message(struct live *l, char *buf, size_t size)
{
	uint64_t begun = l->received, end = begun + size;

	while (l->received < end) {
		if (recv_part(l, buf, end - l->received))
			continue;
		if (l->received == begun)
			return false;
		die("%s, connection %d: the stream ends within a message, after %llu bytes",
		    l->load->name, l->index, (unsigned long long)l->received);
	}
	return true;
}

/* ---- bulk: both directions, full rings ---- */

static void *bulk_writes(void *arg)
{
	struct live *l = arg;
	uint64_t state = opt.seed + 1000003 * (2 * l->index + opt.server);
	char *buf = buffer(CHUNK_MOST);

	while (!enough)
		send_part(l, buf, draw_size(&state, CHUNK_MOST), 0);
	X(shutdown(l->fd, SHUT_WR));
	free(buf);
	return NULL;
}

static void *bulk_reads(void *arg)
{
	struct live *l = arg;
	uint64_t state = opt.seed + 2000003 * (2 * l->index + opt.server);
	char *buf = buffer(CHUNK_MOST);

	while (recv_part(l, buf, draw_size(&state, CHUNK_MOST)))
		;
	free(buf);
	return NULL;
}

/* ---- messages that get an answer; the last byte may be urgent ---- */

static void send_message(struct live *l, char *buf, size_t size, bool urgent)
{
	send_part(l, buf, urgent ? size - 1 : size, 0);
	if (urgent)
		send_part(l, buf, 1, MSG_OOB);
}

static void recv_urgent(struct live *l)
{
	struct pollfd pfd = { .fd = l->fd, .events = POLLPRI };
	char byte;

	X(poll(&pfd, 1, -1));
	if (X(recv(l->fd, &byte, 1, MSG_OOB)) != 1)
		die("connection %d: no urgent byte", l->index);
	verify(&byte, 1, seed_of(l, !opt.server), l->received);
	l->received++;
	progress(l, 1);
}

static bool recv_whole(struct live *l, char *buf, size_t size, bool urgent)
{
	if (!recv_message(l, buf, urgent ? size - 1 : size))
		return false;
	if (urgent)
		recv_urgent(l);
	return true;
}

/* The kernel's own module does not deliver an urgent byte before everything else. */
static size_t message_size(uint64_t *state)
{
	return 1 + draw_size(state, MESSAGE_MOST);
}

static void ask_and_answer(struct live *l, bool urgent)
{
	uint64_t state = opt.seed + 3000017 * l->index;
	char *buf = buffer(MESSAGE_MOST + 1);

	for (;;) {
		size_t there = message_size(&state), back = message_size(&state);

		if (opt.server) {
			if (!recv_whole(l, buf, there, urgent))
				break;
			send_message(l, buf, back, urgent);
		} else {
			if (enough)
				break;
			send_message(l, buf, there, urgent);
			if (!recv_whole(l, buf, back, urgent))
				die("connection %d: end of file instead of an answer", l->index);
		}
	}
	X(shutdown(l->fd, SHUT_WR));
	if (!opt.server && recv_part(l, buf, 1))
		die("connection %d: more bytes than the answers", l->index);
	free(buf);
}

static void *ping_pong(void *arg)
{
	ask_and_answer(arg, false);
	return NULL;
}

static void *urgent(void *arg)
{
	ask_and_answer(arg, true);
	return NULL;
}

/* ---- half-close: the client has sent everything, the server continues ---- */

static void *half_close(void *arg)
{
	struct live *l = arg;
	char *buf = buffer(CHUNK_MOST);
	uint64_t state = opt.seed + l->index;

	if (opt.server) {
		while (recv_part(l, buf, CHUNK_MOST))
			;
		while (!enough) {
			size_t size = draw_size(&state, CHUNK_MOST);

			send_part(l, buf, size, 0);
			progress(l, size);
		}
		X(shutdown(l->fd, SHUT_WR));
	} else {
		while (l->sent < FIRST_HALF)
			send_part(l, buf, draw_size(&state, CHUNK_MOST), 0);
		X(shutdown(l->fd, SHUT_WR));
		while (recv_part(l, buf, CHUNK_MOST))
			;
	}
	free(buf);
	return NULL;
}

/* ---- all connections ---- */

static const struct load bulk_load = { "bulk", bulk_writes, bulk_reads, 1 },
	ping_pong_load = { "ping-pong", NULL, ping_pong, MESSAGES_SHARE },
	urgent_load = { "urgent", NULL, urgent, MESSAGES_SHARE },
	half_close_load = { "half-close", NULL, half_close, 1 };

void start(const struct load *load)
{
	struct live *l = &lives[lives_count];

	CHECK(lives_count < MAX_CONNS);
	l->load = load;
	l->fd = load->short_lived ? -1 : open_pair();
	l->index = lives_count++;
}

static void run_threads(void)
{
	for (struct live *l = lives; l < lives + lives_count; l++) {
		l->last = now_ns();
		X(-pthread_create(&l->reader, NULL, l->load->reads, l));
		if (l->load->writes)
			X(-pthread_create(&l->writer, NULL, l->load->writes, l));
	}
}

static void tell_progress(void)
{
	for (struct live *l = lives; l < lives + lives_count; l++)
		note("%s, connection %d: sent %llu, received %llu bytes, last %.1f s ago",
		     l->load->name, l->index, (unsigned long long)l->sent,
		     (unsigned long long)l->received, (now_ns() - l->last) / 1e9);
}

static void check_all_modes(void)
{
	int fds[MAX_CONNS], count = 0;

	for (int i = 0; i < lives_count; i++)
		if (!lives[i].load->short_lived)
			fds[count++] = lives[i].fd;
	check_modes(fds, count);
}

static void await_bytes(uint64_t bytes, int seconds)
{
	uint64_t goal[MAX_CONNS], until = now_ns() + seconds * 1000000000ull, longest = 0;

	/* The total stays about the same with ten connections and with two hundred. */
	bytes /= 1 + lives_count / 10;
	for (int i = 0; i < lives_count; i++)
		goal[i] = lives[i].moved + bytes / lives[i].load->share;
	for (int i = 0; i < lives_count; i++) {
		while (lives[i].moved < goal[i]) {
			if (now_ns() > until) {
				tell_progress();
				note_sockets();
				errno = 0;
				die("%s, connection %d stands still", lives[i].load->name, i);
			}
			usleep(500);
		}
	}
	check_all_modes();
	for (int i = 0; i < lives_count; i++) {
		uint64_t l = atomic_exchange(&lives[i].longest, 0);

		longest = l > longest ? l : longest;
	}
	note("@moved %llu", (unsigned long long)longest / 1000000);
}

static void stop(void)
{
	uint64_t total = 0;

	enough = true;
	for (struct live *l = lives; l < lives + lives_count; l++) {
		X(-pthread_join(l->reader, NULL));
		if (l->load->writes)
			X(-pthread_join(l->writer, NULL));
		tell_number(l->sent);
	}
	for (struct live *l = lives; l < lives + lives_count; l++) {
		uint64_t theirs = hear_number();

		if (!l->load->short_lived && theirs != l->received)
			die("connection %d: %llu bytes instead of %llu", l->index,
			    (unsigned long long)l->received, (unsigned long long)theirs);
		total += l->received + l->sent;
		close(l->fd);
	}
	meet("end");
	note("@stopped %llu", (unsigned long long)total);
}

static void await_thread(pthread_t thread, const struct timespec *until, const struct live *l)
{
	if (pthread_timedjoin_np(thread, NULL, until)) {
		tell_progress();
		note_sockets();
		errno = 0;
		die("%s, connection %d: no error although both links are lost", l->load->name,
		    l->index);
	}
}

static void await_ends(int seconds)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += seconds;
	for (struct live *l = lives; l < lives + lives_count; l++) {
		await_thread(l->reader, &until, l);
		if (l->load->writes)
			await_thread(l->writer, &until, l);
		if (!l->reset)
			die("%s, connection %d: its last link is lost, but no call failed",
			    l->load->name, l->index);
	}
	note("@ended %llu", (unsigned long long)(last_end - doomed) / 1000000);
}

void obey(void)
{
	char line[64];
	unsigned long long bytes;
	int seconds;

	at_timeout(tell_progress);
	meet("start");
	run_threads();
	note("@started");
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "move %llu %d", &bytes, &seconds) == 2) {
			await_bytes(bytes, seconds);
		} else if (!strcmp(line, "doom\n")) {
			doomed = now_ns();
			note("@doomed");
		} else if (sscanf(line, "ended %d", &seconds) == 1) {
			await_ends(seconds);
		} else if (!strcmp(line, "stop\n")) {
			stop();
			return;
		} else if (!strcmp(line, "quit\n")) {
			return;
		}
	}
	die("the driver has gone");
}

static void several(const struct load *load)
{
	for (int i = 0; i < opt.threads; i++)
		start(load);
	obey();
}

static void failover_bulk(void)
{
	several(&bulk_load);
}

static void failover_ping_pong(void)
{
	several(&ping_pong_load);
}

static void failover_urgent(void)
{
	several(&urgent_load);
}

static void failover_half_close(void)
{
	several(&half_close_load);
}

static void failover_mixed(void)
{
	start(&bulk_load);
	start(&ping_pong_load);
	start(&urgent_load);
	start(&half_close_load);
	obey();
}

/* opt.threads is the number of connections; a few of them have full rings. */
static void failover_many(void)
{
	for (int i = 0; i < opt.threads; i++)
		start(i % 50 == 1 ? &bulk_load : i % 50 == 2 ? &half_close_load :
		      i % 2 ? &urgent_load : &ping_pong_load);
	obey();
}

const struct test_case failover_cases[] = {
	{ "failover_bulk", failover_bulk, failover_bulk,
	  "full rings in both directions, until the driver stops them" },
	{ "failover_ping_pong", failover_ping_pong, failover_ping_pong, "messages that are answered" },
	{ "failover_urgent", failover_urgent, failover_urgent,
	  "messages that are answered, with an urgent last byte" },
	{ "failover_half_close", failover_half_close, failover_half_close,
	  "the client has shut down its sending side, the server continues" },
	{ "failover_mixed", failover_mixed, failover_mixed, "one connection of each kind" },
	{ "failover_many", failover_many, failover_many, "many connections of each kind at once" },
	{ "failover_churn", failover_churn, failover_churn, "short connections, one after the other" },
	{ 0 }
};
