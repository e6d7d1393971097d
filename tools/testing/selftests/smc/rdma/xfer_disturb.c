// SPDX-License-Identifier: GPL-2.0
/*
 * Cases: a connection loses its device or link, or loses packets.  Either every byte arrives, or
 * both sides get an error within a limited time. There is never a wrong byte or an early end of the
 * stream.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "slow.h"
#include "xfer.h"

#define BOUND		slow(30)	/* seconds within which a side gets an error */
#define FLOWING		300000		/* bytes after which a transfer is in full swing */
#define CHUNK		20000

/* One direction, as seen by this role.  @most: bytes to send; 0: until enough is set. */
struct flow {
	pthread_t thread;
	int fd, err;
	uint64_t seed, bytes, most;
	uint64_t last;		/* when the last data arrived */
	bool over;
};

static atomic_bool enough;
static bool scribbled;	/* the data is being overwritten: anything may arrive */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;

static void bound(int fd)
{
	struct timeval tv = { .tv_sec = BOUND };

	X(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
	X(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)));
}

/* The errors that a broken connection may return. */
static int broken(const char *call, int err)
{
	if (err != ECONNRESET && err != EPIPE && err != ETIMEDOUT && err != ECONNABORTED)
		die("%s: %s", call,
		    err == EAGAIN ? "timed out" : err_name(err));
	return err;
}

static void *send_flow(void *arg)
{
	struct flow *f = arg;
	char buf[CHUNK];

	while (!atomic_load(&enough) && (!f->most || f->bytes < f->most)) {
		ssize_t n;

		fill(buf, sizeof(buf), f->seed, f->bytes);
		n = send(f->fd, buf, sizeof(buf), MSG_NOSIGNAL);
		if (n < 0) {
			f->err = broken("send", errno);
			return NULL;
		}
		f->bytes += n;
	}
	if (shutdown(f->fd, SHUT_WR) && errno != ENOTCONN)
		die("shutdown");
	return NULL;
}

static void *recv_flow(void *arg)
{
	struct flow *f = arg;
	char buf[CHUNK];
	ssize_t n;

	while ((n = recv(f->fd, buf, sizeof(buf), 0)) > 0) {
		if (!scribbled)
			verify(buf, n, f->seed, f->bytes);
		pthread_mutex_lock(&lock);
		f->last = now_ns();
		f->bytes += n;
		pthread_cond_signal(&moved);
		pthread_mutex_unlock(&lock);
	}
	if (n < 0)
		f->err = broken("recv", errno);
	pthread_mutex_lock(&lock);
	f->over = true;
	pthread_cond_signal(&moved);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void start_flows(int fd, struct flow *tx, struct flow *rx, uint64_t bytes)
{
	*tx = (struct flow) { .fd = fd, .seed = 2 * opt.seed + opt.server, .most = bytes };
	*rx = (struct flow) { .fd = fd, .seed = 2 * opt.seed + !opt.server };
	atomic_store(&enough, false);
	bound(fd);
	X(-pthread_create(&tx->thread, NULL, send_flow, tx));
	X(-pthread_create(&rx->thread, NULL, recv_flow, rx));
}

/* Returns whether everything arrived.  If not, there must have been an error, not an end of the
 * stream.
 */
static bool end_flows(struct flow *tx, struct flow *rx)
{
	uint64_t sent;

	X(-pthread_join(tx->thread, NULL));
	X(-pthread_join(rx->thread, NULL));
	close(tx->fd);
	tell_number(tx->bytes);
	sent = hear_number();
	/* As with TCP, only one of the pending calls gets the error of a reset. */
	if (scribbled)
		return false;
	if (rx->bytes > sent || (!rx->err && !tx->err && rx->bytes != sent))
		die("%llu bytes came before the end of the stream instead of %llu",
		    (unsigned long long)rx->bytes, (unsigned long long)sent);
	return rx->bytes == sent && !rx->err && !tx->err;
}

/* Wait until the transfer is in full swing. */
static void await_flow(struct flow *rx)
{
	pthread_mutex_lock(&lock);
	while (rx->bytes < FLOWING && !rx->over)
		pthread_cond_wait(&moved, &lock);
	pthread_mutex_unlock(&lock);
}

/* The driver disturbs a machine in the middle of a transfer, and undoes that later. */
static bool is_whole_after(void)
{
	struct flow tx, rx;
	uint64_t start;
	bool whole;

	start_flows(open_pair(), &tx, &rx, 0);
	await_flow(&rx);
	meet("flowing");
	look("disturb");
	start = now_ns();
	meet("disturbed");
	atomic_store(&enough, true);
	whole = end_flows(&tx, &rx);
	note("%s after %.2f s: sent %llu, send: %s; received %llu, recv: %s",
	     whole ? "complete" : "ended", (now_ns() - start) / 1e9, (unsigned long long)tx.bytes,
	     tx.err ? err_name(tx.err) : "no error", (unsigned long long)rx.bytes,
	     rx.err ? err_name(rx.err) : "no error");
	meet("over");
	look("restore");
	meet("restored");
	close(open_pair());
	meet("end");
	return whole;
}

static void disturbed(void)
{
	is_whole_after();
}

/* The disturbance must end the connection. */
static void broken_off(void)
{
	if (is_whole_after())
		die("the connection goes on");
}

/* The disturbance must not affect the connection. */
static void undisturbed(void)
{
	if (!is_whole_after())
		die("the connection did not survive");
}

/* Data and control words may contain anything: the connection continues or ends, nothing else. */
static void be_scribbled(void)
{
	scribbled = true;
	is_whole_after();
}

/* ---- the client's machine dies, and another one takes its place ---- */

#define FLOWS	2		/* connections with data both ways */
#define SOON	slow(15)	/* seconds after the last byte within which all must end */

/* The result on an idle connection when the peer's machine has died. */
static void await_end(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	char c;

	if (!X(poll(&pfd, 1, opt.timeout * 1000)))
		die("an idle connection does not end");
	if (recv(fd, &c, 1, 0) != -1)
		die("an idle connection has not ended with an error");
	note("an idle connection: poll 0x%x, %s", pfd.revents, err_name(broken("recv", errno)));
}

static void see_the_end(struct flow *tx, struct flow *rx, int idle)
{
	uint64_t last = 0;
	double seconds;
	int i;

	await_end(idle);
	for (i = 0; i < FLOWS; i++) {
		X(-pthread_join(tx[i].thread, NULL));
		X(-pthread_join(rx[i].thread, NULL));
		note("a connection: sent %llu, %s; received %llu, %s",
		     (unsigned long long)tx[i].bytes, tx[i].err ? err_name(tx[i].err) : "no error",
		     (unsigned long long)rx[i].bytes, rx[i].err ? err_name(rx[i].err) : "no error");
		if (!tx[i].err && !rx[i].err)
			die("a connection has not ended with an error");
		last = rx[i].last > last ? rx[i].last : last;
		close(tx[i].fd);
	}
	close(idle);
	seconds = (now_ns() - last) / 1e9;
	note("all had ended %.1f s after the last byte", seconds);
	if (seconds > SOON)
		die("the connections ended too late");
}

static void dies(void)
{
	struct flow tx[FLOWS], rx[FLOWS];
	int i, idle = open_pair();

	for (i = 0; i < FLOWS; i++) {
		opt.seed++;
		start_flows(open_pair(), &tx[i], &rx[i], 0);
	}
	for (i = 0; i < FLOWS; i++)
		await_flow(&rx[i]);
	meet("flowing");
	if (opt.server) {
		see_the_end(tx, rx, idle);
		return;
	}
	look("dies");	/* the machine is gone: does not return */
	die("the machine is still running");
}

/* ---- packet loss ---- */

static int try_connect(void)
{
	struct sockaddr_storage ss;
	socklen_t len = peer_address(&ss);
	int fd = make_socket();

	bound(fd);
	if (!connect(fd, (void *)&ss, len)) {
		tell("connected");
		return fd;
	}
	note("connect: %s", err_name(broken("connect", errno)));
	close(fd);
	tell("refused");
	return -1;
}

static int try_accept(int lfd)
{
	struct pollfd pfd = { .fd = lfd, .events = POLLIN };
	char line[64];

	hear(line, sizeof(line));
	/* A child that was reset is not in the queue; the client will notice. */
	if (strcmp(line, "connected") || !X(poll(&pfd, 1, slow(2000))))
		return -1;
	return accept_one(lfd);
}

/* opt.count connections, one after the other, with opt.bytes in each direction. */
static void lossy(void)
{
	int lfd = -1, fd, done = 0, smcr = 0;
	struct flow tx, rx;

	look("disturb");
	meet("disturbed");
	if (opt.server)
		lfd = listen_on(16);
	else
		hear_port();
	for (int i = 0; i < opt.count; i++) {
		fd = opt.server ? try_accept(lfd) : try_connect();
		/* The connection may exist on one side only. */
		tell(fd >= 0 ? "here" : "gone");
		if (!heard("here") && fd >= 0) {
			close(fd);
			fd = -1;
		}
		if (fd < 0)
			continue;
		opt.seed++;
		smcr += element_size(fd) > 0;
		start_flows(fd, &tx, &rx, opt.bytes);
		done += end_flows(&tx, &rx);
	}
	note("%d of %ld connections carried everything, %d were SMC-R", done, opt.count, smcr);
	meet("over");
	look("restore");
	meet("restored");
	close(lfd);
	close(open_pair());
	meet("end");
}

const struct test_case disturb_cases[] = {
	{ "disturbed", disturbed, disturbed,
	  "a device, port or address goes away in a transfer" },
	{ "scribbled", be_scribbled, be_scribbled,
	  "data and control words are overwritten with random values" },
	{ "dies", dies, dies, "the client's machine dies during transfers" },
	{ "broken_off", broken_off, broken_off, "a disturbance that ends the connection" },
	{ "undisturbed", undisturbed, undisturbed,
	  "a disturbance that the connection must survive" },
	{ "lossy", lossy, lossy, "connections while packets are lost" },
	{ 0 }
};
