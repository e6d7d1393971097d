// SPDX-License-Identifier: GPL-2.0
/* Signals during blocking calls: EINTR, SA_RESTART, partial counts. */
#include <fcntl.h>

#include "role.h"

static char big[8 << 20];

static void *recv_10(struct worker *w)
{
	char buf[10];

	w->ret = recv(w->fd, buf, sizeof(buf), (int)w->len);
	w->err = errno;
	return NULL;
}

static void *send_big(struct worker *w)
{
	w->ret = send(w->fd, big, sizeof(big), MSG_NOSIGNAL);
	w->err = errno;
	return NULL;
}

static void *accept_thread(struct worker *w)
{
	w->ret = accept(w->fd, NULL, NULL);
	w->err = errno;
	return NULL;
}

/* Wait until the call sleeps, then interrupt it. */
static void interrupt(struct worker *w)
{
	worker_start(w);
	await_blocked(getpid(), w->tid);
	CHECK(!pthread_kill(w->thread, SIGUSR1));
}

static void say(const char *what, struct worker *w)
{
	worker_join(w);
	rec("%s: %ld %s, %d signals", what, w->ret, w->ret < 0 ? err_name(w->err) : "",
	    (int)signals_seen);
	signals_seen = 0;
}

static void recv_eintr_server(void)
{
	struct worker w = { .run = recv_10 };
	int fd = pair();

	w.fd = fd;
	on_signal(SIGUSR1, 0);
	interrupt(&w);
	say("recv", &w);
	w.len = MSG_PEEK;
	interrupt(&w);
	say("peek", &w);
	w.len = MSG_WAITALL;
	barrier("four");
	await_inq(fd, 4);
	interrupt(&w);
	say("part of MSG_WAITALL", &w);
	w.len = 0;
	on_signal(SIGUSR1, SA_RESTART);
	interrupt(&w);
	AWAIT(signals_seen);
	await_blocked(getpid(), w.tid);
	barrier("restarted");
	say("SA_RESTART", &w);
	set_timeo(fd, SO_RCVTIMEO, 10000);
	interrupt(&w);
	say("SA_RESTART with SO_RCVTIMEO", &w);
	barrier("done");
}

static void recv_eintr_client(void)
{
	int fd = pair();

	barrier("four");
	send_bytes(fd, 0, 4, 4);
	barrier("restarted");
	send_bytes(fd, 4, 5, 5);
	barrier("done");
}

static void send_eintr_server(void)
{
	int fd = pair();

	barrier("done");
	/* no more data than the counts returned */
	rec("complete %d", recv_to_end(fd, 0) == (uint64_t)ctl_get());
}

static void send_eintr_client(void)
{
	struct worker w = { .run = send_big };
	int fd = pair();
	size_t total;

	w.fd = fd;
	fill(big, sizeof(big), 0);
	on_signal(SIGUSR1, 0);
	interrupt(&w);
	worker_join(&w);
	rec("part of a send: %d", w.ret > 0 && w.ret < (long)sizeof(big));
	total = w.ret;
	/* now nothing more fits */
	for (;;) {
		ssize_t n;

		fill(big, 65536, total);
		n = send(fd, big, 65536, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0)
			break;
		total += n;
	}
	/* some of it may still fit if a late acknowledgement made room */
	do {
		fill(big, sizeof(big), total);
		interrupt(&w);
		worker_join(&w);
		CHECK(w.ret < (long)sizeof(big));
		total += w.ret > 0 ? w.ret : 0;
	} while (w.ret > 0);
	rec("send: %s", err_name(w.err));
	barrier("done");
	ctl_put(total);
	close(fd);
}

static void send_restart_server(void)
{
	int fd = pair();

	barrier("interrupted");
	recv_bytes(fd, 0, sizeof(big), 100000);
	barrier("done");
}

/* SA_RESTART does not apply once something was sent: send() returns a count, as with TCP. */
static void send_restart_client(void)
{
	struct worker w = { .run = send_big };
	int fd = pair();

	w.fd = fd;
	fill(big, sizeof(big), 0);
	on_signal(SIGUSR1, SA_RESTART);
	interrupt(&w);
	worker_join(&w);
	rec("part of a send: %d", w.ret > 0 && w.ret < (long)sizeof(big));
	barrier("interrupted");
	for (size_t at = w.ret; at < sizeof(big); )
		at += X(send(fd, big + at, sizeof(big) - at, MSG_NOSIGNAL));
	barrier("done");
}

static void accept_eintr(void)
{
	struct worker w = { .run = accept_thread };
	int l = listen_on(4), c;
	struct addr a = name_of(l);

	w.fd = l;
	on_signal(SIGUSR1, 0);
	interrupt(&w);
	say("accept", &w);
	on_signal(SIGUSR1, SA_RESTART);
	interrupt(&w);
	AWAIT(signals_seen);
	await_blocked(getpid(), w.tid);
	c = make_kind(&me.var->client, 0);
	R(connect(c, &a.sa, a.len));
	worker_join(&w);
	rec("accepted %d", w.ret >= 0);
	ping_pong_local(c, w.ret);
}

/* A pending signal that is blocked changes nothing: still EAGAIN. */
static void pending_signal_server(void)
{
	sigset_t set;
	char c;
	int fd = pair();

	on_signal(SIGUSR1, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	X(raise(SIGUSR1));
	R(recv(fd, &c, 1, MSG_DONTWAIT));
	barrier("empty");
	R(recv(fd, &c, 1, 0));
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	rec("%d signals", (int)signals_seen);
	barrier("done");
}

static void pending_signal_client(void)
{
	int fd = pair();

	barrier("empty");
	send_bytes(fd, 0, 1, 1);
	barrier("done");
}

struct storm {
	pthread_t target;
	volatile bool stop;
};

static void *storm_thread(struct worker *w)
{
	struct storm *s = w->data;

	while (!s->stop) {
		pthread_kill(s->target, SIGUSR1);
		usleep(200);
	}
	return NULL;
}

static void storm_around(void (*work)(int fd), int fd)
{
	struct storm s = { .target = pthread_self() };
	struct worker w = { .run = storm_thread, .data = &s };

	on_signal(SIGUSR1, SA_RESTART);
	signals_seen = 0;
	worker_start(&w);
	AWAIT(signals_seen);
	work(fd);
	s.stop = true;
	worker_join(&w);
}

#define STORM (2u << 20)

static void recv_all_eintr(int fd)
{
	static char buf[70000];
	uint64_t pos = 0;

	/* EAGAIN only with MSG_DONTWAIT, EINTR only without, whatever signals are on their way */
	while (pos < STORM) {
		ssize_t n = recv(fd, buf, sizeof(buf), pos & 1 ? MSG_DONTWAIT : 0);

		if (n < 0) {
			CHECK(pos & 1 ? errno == EAGAIN : errno == EINTR);
			if (pos & 1)
				await_mask(fd, POLLIN);
			continue;
		}
		CHECK(n > 0);
		verify(buf, n, pos);
		pos += n;
	}
}

static void send_all_eintr(int fd)
{
	uint64_t pos = 0;

	fill(big, STORM, 0);
	while (pos < STORM) {
		size_t n = STORM - pos < 300007 ? STORM - pos : 300007;
		ssize_t sent = send(fd, big + pos, n, MSG_NOSIGNAL);

		CHECK(sent > 0 || (sent < 0 && errno == EINTR));
		if (sent > 0)
			pos += sent;
	}
}

/* Signals arrive all the time, in both roles; every byte is transferred once. */
static void signal_storm_server(void)
{
	int fd = pair();

	storm_around(recv_all_eintr, fd);
	barrier("half");
	storm_around(send_all_eintr, fd);
	barrier("done");
}

static void signal_storm_client(void)
{
	int fd = pair();

	storm_around(send_all_eintr, fd);
	barrier("half");
	storm_around(recv_all_eintr, fd);
	barrier("done");
}

const struct test_case signal_cases[] = {
	CASE(recv_eintr, 0, "a signal interrupts a receive"),
	CASE(send_eintr, 0, "a signal interrupts a send, which returns what it sent"),
	CASE(send_restart, 0, "SA_RESTART does not restart a partial send"),
	SOLO(accept_eintr, 0, "a signal interrupts accept()"),
	CASE(pending_signal, 0, "non-blocking reads while a blocked signal is pending"),
	CASE(signal_storm, 0, "a signal every 200 us, yet every byte arrives once"),
	{ 0 }
};
