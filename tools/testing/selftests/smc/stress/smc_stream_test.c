// SPDX-License-Identifier: GPL-2.0
/*
 * Connections whose every byte and every end is checked. Two threads at each end write and read in
 * ways that follow from a seed; a third one gets in their way. Rules, which hold for TCP as well:
 *
 *  - what is read is what was written, in order;
 *  - if both ends read until the end, nothing fails, and everything arrives;
 *  - the end of a stream comes after all of its data, however early the other end leaves;
 *  - an end that leaves data unread resets the connection, and the other end is told;
 *  - every call returns.
 *
 * Run by tools/testing/seeds. Arguments:
 *
 *   -s SEED  -n CONNECTIONS
 *   -a ADDR  instead of 127.0.0.1
 *   -C       negotiate over the wire, although both ends are in one kernel
 *   -T       plain TCP instead of SMC, for comparison
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "kselftest.h"
#include "pairing.h"
#include "random.h"
#include "role.h"
#include "slow.h"

#define LATE		slow(600)	/* seconds of virtual time until a call is said to hang */
#define CHUNK		70000
#define NOT_YET		-1		/* a stream has not ended */

/* One direction of a connection. */
struct stream {
	const char	*name;
	uint32_t	salt;		/* the streams have different bytes */
	uint32_t	total;		/* the writer has so much */
	uint32_t	leaves_at;	/* the reader reads no more than that; 0: until the end */
	bool		shuts;		/* the writer calls shutdown() */
	bool		cut;		/* another thread does, perhaps in the middle of a send() */
	uint32_t	written;
	uint32_t	read;
	int		write_error;
	int		read_error;	/* 0: the end of the stream; NOT_YET: the reader has left */
	bool		wrong;		/* a wrong byte was read */
};

/* One end of a connection, with its threads. */
struct end {
	const char	*name;
	int		fd;
	struct stream	*out;
	struct stream	*in;
	uint64_t	random[3];	/* of the writer, the reader and the thread between them */
	const char	*call[3];	/* what they are doing */
	struct end	*other;
	pthread_t	thread;
	int		error;		/* a call of another thread has taken it from the reader */
	bool		smc;
	bool		closed;
	bool		silent;		/* its lost data were never reported */
};

struct link {
	struct stream	stream[2];
	struct end	end[2];		/* the client and the server */
	uint64_t	random;
};

static struct {
	uint64_t seed;
	int connections;
	struct in_addr addr;
	bool negotiate;
	bool tcp;
	int smc;			/* so many connections were */
} opt = { .connections = 4 };

static bool absurd;			/* a count was negative, or more than all streams have */

static pthread_mutex_t closing = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_closed = PTHREAD_COND_INITIALIZER;

static bool one_in(uint64_t *random, uint32_t n)
{
	return !random_below(random, n);
}

static char byte_at(const struct stream *s, uint32_t pos)
{
	return pos * 7 + (pos >> 8) * 13 + s->salt;
}

/* ---- the writer ---- */

static void set(int fd, int option, int value)
{
	setsockopt(fd, IPPROTO_TCP, option, &value, sizeof(value));
}

static void wait_for(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	poll(&p, 1, -1);
}

static ssize_t write_some(struct end *e, char *buf)
{
	struct stream *s = e->out;
	uint32_t len = 1 + random_below(&e->random[0], s->total / 4 + 1);
	int flags = MSG_NOSIGNAL;
	ssize_t n;

	if (len > s->total - s->written)
		len = s->total - s->written;
	if (len > CHUNK)
		len = CHUNK;
	for (uint32_t i = 0; i < len; i++)
		buf[i] = byte_at(s, s->written + i);
	switch (random_below(&e->random[0], 8)) {
	case 0:
		set(e->fd, TCP_CORK, 1);
		break;
	case 1:
		set(e->fd, TCP_CORK, 0);
		break;
	case 2:
	case 3:
		flags |= MSG_MORE;
		break;
	case 4:
		flags |= MSG_DONTWAIT;
		break;
	}
	e->call[0] = "send";
	n = send(e->fd, buf, len, flags);
	if (n < 0 && errno == EAGAIN) {
		e->call[0] = "poll for room";
		wait_for(e->fd, POLLOUT);
		return 0;
	}
	return n;
}

static void *write_all(void *arg)
{
	struct end *e = arg;
	struct stream *s = e->out;
	char *buf = malloc(CHUNK);
	ssize_t n = 0;

	while (s->written < s->total && n >= 0) {
		n = write_some(e, buf);
		if (n > 0)
			s->written += n;
	}
	if (n < 0)
		s->write_error = e->error = errno;
	e->call[0] = "shutdown";
	if (s->shuts)
		shutdown(e->fd, SHUT_WR);
	e->call[0] = "end";
	free(buf);
	return NULL;
}

/* ---- the reader ---- */

static void wait_for_edge(int fd)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET | EPOLLRDHUP };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
	epoll_wait(ep, &ev, 1, -1);
	close(ep);
}

static ssize_t read_some(struct end *e, char *buf, uint32_t most)
{
	uint32_t len = 1 + random_below(&e->random[1], one_in(&e->random[1], 3) ? 64 : CHUNK);
	int flags = 0;
	ssize_t n;

	if (len > most)
		len = most;
	switch (random_below(&e->random[1], 8)) {
	case 0:
		flags = MSG_WAITALL;
		break;
	case 1:
		e->call[1] = "recv to peek";
		n = recv(e->fd, buf, len, MSG_PEEK);
		if (n < 0)
			return n;
		break;
	case 2:
	case 3:
		flags = MSG_DONTWAIT;
		e->call[1] = "poll for data";
		wait_for(e->fd, POLLIN | (one_in(&e->random[1], 2) ? POLLRDHUP : 0));
		break;
	case 4:
		flags = MSG_DONTWAIT;
		e->call[1] = "epoll";
		wait_for_edge(e->fd);
		break;
	case 5:
		/* Often finds nothing, and once finds the end. */
		flags = MSG_DONTWAIT;
		break;
	}
	e->call[1] = "recv";
	return recv(e->fd, buf, len, flags);
}

static void read_all(struct end *e)
{
	struct stream *s = e->in;
	char *buf = malloc(CHUNK);
	ssize_t n;

	s->read_error = NOT_YET;
	while (!s->leaves_at || s->read < s->leaves_at) {
		n = read_some(e, buf, s->leaves_at ? s->leaves_at - s->read : CHUNK);
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n <= 0) {
			s->read_error = n ? errno : 0;
			break;
		}
		for (ssize_t i = 0; i < n; i++)
			s->wrong |= buf[i] != byte_at(s, s->read + i);
		s->read += n;
	}
	e->call[1] = "end";
	free(buf);
}

/* ---- what gets in their way ---- */

/* Returns the result of a call that may take the error of the socket. */
static ssize_t disturb_once(int fd, uint64_t *random)
{
	char buf[512];
	int value = 0;
	struct tcp_info info;
	socklen_t len = sizeof(info);
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT };

	switch (random_below(random, 9)) {
	case 0:
		return recv(fd, buf, sizeof(buf), MSG_PEEK | MSG_DONTWAIT);
	case 1:
		ioctl(fd, SIOCINQ, &value);
		break;
	case 2:
		ioctl(fd, one_in(random, 2) ? SIOCOUTQ : SIOCOUTQNSD, &value);
		absurd |= value < 0 || value > 1 << 20;
		break;
	case 3:
		getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
		break;
	case 4:
		set(fd, TCP_NODELAY, one_in(random, 2));
		break;
	case 5:
		set(fd, TCP_CORK, 0);
		break;
	case 6:
		return recv(fd, buf, 0, MSG_DONTWAIT);
	case 7:
		poll(&p, 1, 0);
		break;
	case 8:
		/* The default. Receivers are woken although nothing has arrived. */
		value = 1;
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &value, sizeof(value));
		break;
	}
	return 0;
}

static void *disturb(void *arg)
{
	struct end *e = arg;
	struct timespec nap = { 0 };

	for (int i = random_below(&e->random[2], 12); i > 0; i--) {
		if (disturb_once(e->fd, &e->random[2]) < 0 && errno != EAGAIN)
			e->error = errno;
		nap.tv_nsec = 1000 << random_below(&e->random[2], 12);
		nanosleep(&nap, NULL);
	}
	if (e->out->cut)
		shutdown(e->fd, SHUT_WR);
	return NULL;
}

/* ---- one end ---- */

/* The end that reads until the other one has left waits for its close(), and for the reset. */
static void await_report(struct end *e)
{
	struct stream *s = e->out;
	struct pollfd p = { .fd = e->fd };
	socklen_t len = sizeof(int);
	int err = 0;

	if (e->in->leaves_at || s->shuts || !s->leaves_at)
		return;
	e->call[1] = "wait for the other end's close";
	pthread_mutex_lock(&closing);
	while (!e->other->closed)
		pthread_cond_wait(&has_closed, &closing);
	pthread_mutex_unlock(&closing);
	if (e->error || e->in->read_error || s->written == s->read)
		return;
	/* Over a network the reset takes its time. */
	poll(&p, 1, 5000);
	getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &err, &len);
	e->silent = !err && !(p.revents & POLLERR);
}

static void *run_end(void *arg)
{
	struct end *e = arg;
	pthread_t writer, disturber;

	pthread_create(&writer, NULL, write_all, e);
	pthread_create(&disturber, NULL, disturb, e);
	read_all(e);
	pthread_join(writer, NULL);
	pthread_join(disturber, NULL);
	await_report(e);
	e->smc = mode_is_smc(e->fd);
	e->call[1] = "close";
	close(e->fd);
	pthread_mutex_lock(&closing);
	e->closed = true;
	pthread_cond_broadcast(&has_closed);
	pthread_mutex_unlock(&closing);
	return NULL;
}

static int new_socket(void)
{
	int fd = socket(opt.tcp ? AF_INET : AF_SMC, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		ksft_exit_fail_msg("socket: %s\n", strerror(errno));
	return fd;
}

/* The threads of a client may begin while it is still connecting. */
static int connect_client(struct end *e, const struct sockaddr_in *to)
{
	int fd = new_socket(), way = random_below(&e->random[0], 3), rc;

	if (way)
		fcntl(fd, F_SETFL, O_NONBLOCK);
	e->call[0] = "connect";
	rc = connect(fd, (const void *)to, sizeof(*to));
	if (rc && errno != EINPROGRESS)
		ksft_exit_fail_msg("connect: %s\n", strerror(errno));
	if (way == 2)
		wait_for(fd, POLLOUT);
	if (way)
		fcntl(fd, F_SETFL, 0);
	return fd;
}

/* ---- a connection ---- */

static uint32_t draw_size(uint64_t *random)
{
	static const uint32_t most[] = { 1, 100, 3000, 40000, 300000 };

	return 1 + random_below(random, most[random_below(random, 5)]);
}

static void draw(struct link *l)
{
	static const char *const names[] = { "client", "server" };

	for (int i = 0; i < 2; i++) {
		struct stream *s = &l->stream[i];
		struct end *e = &l->end[i];

		s->name = i ? "server to client" : "client to server";
		s->salt = random_next(&l->random);
		s->total = draw_size(&l->random);
		if (one_in(&l->random, 5))
			s->leaves_at = 1 + random_below(&l->random, s->total);
		s->shuts = one_in(&l->random, 2);
		s->cut = s->shuts && one_in(&l->random, 3);
		e->name = names[i];
		e->out = s;
		e->in = &l->stream[!i];
		e->other = &l->end[!i];
		for (int j = 0; j < 3; j++) {
			e->random[j] = random_next(&l->random);
			e->call[j] = "start";
		}
	}
	/* Otherwise each writer would wait for the other reader, or each reader for close(). */
	if (l->stream[0].leaves_at)
		l->stream[1].leaves_at = 0;
	if (!l->stream[0].leaves_at && !l->stream[1].leaves_at &&
	    !l->stream[0].shuts && !l->stream[1].shuts)
		l->stream[one_in(&l->random, 2)].shuts = true;
}

static int new_listener(uint64_t *random, struct sockaddr_in *at)
{
	socklen_t len = sizeof(*at);
	int l = new_socket();

	*at = (struct sockaddr_in) { .sin_family = AF_INET, .sin_addr = opt.addr };
	if (one_in(random, 3))
		set(l, TCP_DEFER_ACCEPT, 1);
	if (bind(l, (void *)at, len) || listen(l, 4) || getsockname(l, (void *)at, &len))
		ksft_exit_fail_msg("listen: %s\n", strerror(errno));
	return l;
}

static void play(struct link *l)
{
	struct sockaddr_in at;
	int listener;

	draw(l);
	listener = new_listener(&l->random, &at);
	l->end[0].fd = connect_client(&l->end[0], &at);
	pthread_create(&l->end[0].thread, NULL, run_end, &l->end[0]);
	l->end[1].call[0] = "accept";
	l->end[1].fd = accept(listener, NULL, NULL);
	if (l->end[1].fd < 0)
		ksft_exit_fail_msg("accept: %s\n", strerror(errno));
	pthread_create(&l->end[1].thread, NULL, run_end, &l->end[1]);
	for (int i = 0; i < 2; i++)
		pthread_join(l->end[i].thread, NULL);
	close(listener);
}

/* ---- the verdict ---- */

static bool broken(const struct stream *s, const char *what)
{
	ksft_print_msg("%s: %s: %u written of %u (error %d), %u read%s (error %d)\n", s->name, what,
		       s->written, s->total, s->write_error, s->read,
		       s->leaves_at ? ", then the reader leaves" : "", s->read_error);
	return false;
}

/*
 * @back: the stream in the other direction; its reader and the writer of @s are one end
 * @error: of another call at the end of the reader of @s, which gets the end of the stream then
 */
static bool judge(const struct stream *s, const struct stream *back, int error)
{
	if (s->wrong)
		return broken(s, "wrong bytes");
	if (s->read_error == 0 && s->read != s->written && !(error && back->leaves_at))
		return broken(s, "the end came too early");
	if (s->read_error > 0 && (s->read_error != ECONNRESET || !back->leaves_at))
		return broken(s, "recv() failed");
	if (s->write_error && !s->leaves_at && !(s->cut && s->write_error == EPIPE))
		return broken(s, "send() failed");
	if (s->write_error && s->write_error != EPIPE && s->write_error != ECONNRESET)
		return broken(s, "send() failed with another error");
	return true;
}

static bool check(const struct link *l)
{
	bool ok = judge(&l->stream[0], &l->stream[1], l->end[1].error);

	ok &= judge(&l->stream[1], &l->stream[0], l->end[0].error);
	if (absurd)
		ok = broken(&l->stream[0], "a wrong count of bytes that were not sent");
	for (int i = 0; i < 2; i++)
		if (l->end[i].silent)
			ok = broken(&l->stream[i], "data were lost silently");
	return ok;
}

static struct link *now;

static void show_hang(int sig)
{
	for (int i = 0; i < 2; i++)
		printf("# %s: writer: %s, reader: %s\n", now->end[i].name,
		       now->end[i].call[0], now->end[i].call[1]);
	for (int i = 0; i < 2; i++)
		broken(&now->stream[i], "hangs");
	printf("not ok 1 - every call returns\n");
	fflush(stdout);
	_exit(1);
}

static void parse(int argc, char **argv)
{
	int c;

	opt.addr.s_addr = htonl(INADDR_LOOPBACK);
	while ((c = getopt(argc, argv, "s:n:a:CT")) > 0) {
		switch (c) {
		case 's': opt.seed = strtoull(optarg, NULL, 0); break;
		case 'n': opt.connections = atoi(optarg); break;
		case 'a': inet_aton(optarg, &opt.addr); break;
		case 'C': opt.negotiate = true; break;
		case 'T': opt.tcp = true; break;
		default: ksft_exit_fail_msg("usage: see the head of smc_stream_test.c\n");
		}
	}
}

int main(int argc, char **argv)
{
	uint64_t random;
	bool ok = true;

	parse(argc, argv);
	random = opt.seed;
	if (opt.negotiate && !set_pairing(false))
		ksft_exit_fail_msg("loopback_pairing: %s\n", strerror(errno));
	signal(SIGALRM, show_hang);
	ksft_print_header();
	ksft_set_plan(2);
	for (int i = 0; ok && i < opt.connections; i++) {
		struct link l = { .random = random_next(&random) };

		now = &l;
		alarm(LATE);
		play(&l);
		ok = check(&l);
		opt.smc += l.end[1].smc;
	}
	if (opt.negotiate)
		set_pairing(true);
	ksft_test_result(ok, "every byte and every end is right\n");
	ksft_test_result(opt.tcp || opt.smc, "%d of %d connections were SMC\n", opt.smc,
			 opt.connections);
	ksft_finished();
}
