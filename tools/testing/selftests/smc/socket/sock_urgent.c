// SPDX-License-Identifier: GPL-2.0
/* Urgent data: MSG_OOB, SO_OOBINLINE, SIOCATMARK, SIGURG, POLLPRI. */
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/select.h>

#include "role.h"

/* The result of recv() as text, up to 99 bytes. */
static void read_text(int fd, int flags)
{
	char buf[100] = "";
	ssize_t n = recv(fd, buf, sizeof(buf) - 1, flags);

	if (n < 0)
		rec("read: %s", err_name(errno));
	else
		rec("read \"%s\"", buf);
}

static void read_urgent(int fd, int flags)
{
	char c = 0;
	ssize_t n = recv(fd, &c, 1, MSG_OOB | flags);

	if (n < 0)
		rec("urgent: %s", err_name(errno));
	else
		rec("urgent %c, %zd", c ? c : '0', n);
}

/*
 * SMC announces an urgent byte a moment before the @before bytes in front of it arrive. With TCP
 * both arrive together.
 */
static void await_urgent(int fd, char want, int before)
{
	char c = 0;

	AWAIT(recv(fd, &c, 1, MSG_OOB | MSG_PEEK) == 1 && c == want);
	await_inq(fd, before);
}

/* All state that can be queried without reading. */
static void say_state(int fd)
{
	rec("mark %d, to read %d, poll %s", ask(fd, SIOCATMARK), ask(fd, SIOCINQ),
	    mask_name(poll_mask(fd, POLLIN | POLLPRI | POLLRDHUP)));
}

static void splice_text(int fd, const int *p)
{
	char buf[100] = "";
	ssize_t n = R(splice(fd, NULL, p[1], NULL, sizeof(buf) - 1, 0));

	if (n > 0)
		X(read(p[0], buf, n));
	rec("spliced \"%s\"", buf);
}

/* splice() stops at an urgent byte and does not wait there, whether it has been read or not. */
static void urgent_splice_server(void)
{
	int fd = pair(), p[2];

	X(pipe(p));
	barrier("sent");
	await_urgent(fd, 'u', 3);
	splice_text(fd, p);
	splice_text(fd, p);
	set_nonblock(fd, true);
	splice_text(fd, p);
	set_nonblock(fd, false);
	await_mask(fd, POLLIN);
	say_state(fd);
	read_urgent(fd, 0);
	splice_text(fd, p);
	say_state(fd);
	read_text(fd, 0);
	/* At the end of the stream it does not wait either. */
	barrier("again");
	await_mask(fd, POLLRDHUP);
	AWAIT(ask(fd, SIOCATMARK) == 1);
	set_nonblock(fd, true);
	splice_text(fd, p);
	barrier("done");
}

static void urgent_splice_client(void)
{
	int fd = pair();

	X(send(fd, "abc", 3, 0));
	X(send(fd, "u", 1, MSG_OOB));
	X(send(fd, "def", 3, 0));
	barrier("sent");
	barrier("again");
	X(send(fd, "v", 1, MSG_OOB));
	X(shutdown(fd, SHUT_WR));
	barrier("done");
}

/* Sends so much behind an urgent byte that the initial buffer of the connection is replaced. */
static void urgent_growing_server(void)
{
	int fd = pair();

	barrier("sent");
	await_urgent(fd, 'u', 5000);
	recv_bytes(fd, 0, 5000, 5000);
	R(ask(fd, SIOCATMARK));
	read_urgent(fd, 0);
	recv_bytes(fd, 5000, 100000, 7001);
	barrier("read");
	ping_pong(fd);
}

static void urgent_growing_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 5000, 5000);
	R(send(fd, "u", 1, MSG_OOB));
	send_bytes(fd, 5000, 100000, 50000);
	barrier("sent");
	barrier("read");
	ping_pong(fd);
}

/* One urgent byte in the stream: the mark, POLLPRI and MSG_OOB; reads stop at the mark. */
static void urgent_server(void)
{
	int fd = pair();

	R(ask(fd, SIOCATMARK));
	read_urgent(fd, 0);
	barrier("ready");
	barrier("sent");
	await_inq(fd, 3);	/* SIOCINQ counts up to the mark */
	await_mask(fd, POLLPRI);
	say_state(fd);
	read_urgent(fd, MSG_PEEK);
	read_urgent(fd, 0);
	read_urgent(fd, 0);
	read_text(fd, 0);
	R(ask(fd, SIOCATMARK));
	await_mask(fd, POLLIN);	/* SIOCINQ says 0 at the mark */
	say_state(fd);
	read_text(fd, 0);
	say_state(fd);
	barrier("read");
	ping_pong(fd);
}

static void urgent_client(void)
{
	int fd = pair();

	barrier("ready");
	R(send(fd, "abc", 3, 0));
	R(send(fd, "U", 1, MSG_OOB));
	R(send(fd, "def", 3, 0));
	barrier("sent");
	barrier("read");
	ping_pong(fd);
}

static void urgent_inline_server(void)
{
	char buf[100] = "", c = 0;
	int fd = pair();

	X(set_int(fd, SOL_SOCKET, SO_OOBINLINE, 1));
	on_signal(SIGURG, 0);
	R(fcntl(fd, F_SETOWN, getpid()));
	barrier("ready");
	barrier("sent");
	await_inq(fd, 3);
	AWAIT(signals_seen);
	R(recv(fd, &c, 1, MSG_OOB));
	read_text(fd, 0);
	R(ask(fd, SIOCATMARK));
	R(recv(fd, buf, 4, MSG_WAITALL));
	rec("\"%s\"", buf);
	say_state(fd);
	barrier("read");
	ping_pong(fd);
}

/* If the urgent byte is not read out of band, it is gone, and so is the mark. */
static void urgent_ignored_server(void)
{
	char buf[10] = "";
	int fd = pair();

	barrier("sent");
	await_urgent(fd, 'U', 5);
	R(recv(fd, buf, 5, 0));
	rec("\"%s\"", buf);
	R(ask(fd, SIOCATMARK));
	await_mask(fd, POLLIN);
	R(recv(fd, buf, 3, MSG_WAITALL));
	rec("\"%s\"", buf);
	read_urgent(fd, 0);
	say_state(fd);
	barrier("read");
	/* Only an urgent byte: there is nothing to read in band. */
	await_urgent(fd, 'V', 0);
	say_state(fd);
	read_text(fd, MSG_DONTWAIT);
	say_state(fd);
	read_urgent(fd, 0);
	barrier("alone");
	/* Many bytes, of which the last one is urgent. MSG_WAITALL stops at the mark. */
	await_urgent(fd, '!', 5);
	memset(buf, 0, sizeof(buf));
	R(recv(fd, buf, 9, MSG_WAITALL));
	rec("\"%s\"", buf);
	read_urgent(fd, MSG_TRUNC);
	barrier("many");
	ping_pong(fd);
}

static void urgent_ignored_client(void)
{
	int fd = pair();

	R(send(fd, "ab", 2, 0));
	R(send(fd, "cdeU", 4, MSG_OOB));
	R(send(fd, "fgh", 3, 0));
	barrier("sent");
	barrier("read");
	R(send(fd, "V", 1, MSG_OOB));
	barrier("alone");
	R(send(fd, "hello!", 6, MSG_OOB | MSG_DONTWAIT | MSG_MORE));
	barrier("many");
	ping_pong(fd);
}

/* A newer urgent byte replaces one that has not been reached. */
static void urgent_replaced_server(void)
{
	int fd = pair();

	barrier("sent");
	await_urgent(fd, '2', 5);
	say_state(fd);
	read_text(fd, 0);
	await_mask(fd, POLLIN);	/* Nagle may hold back "ef" */
	say_state(fd);
	read_urgent(fd, 0);
	read_text(fd, 0);
	barrier("read");
	/* The reader is at the mark of the byte that is replaced: it is skipped. */
	await_urgent(fd, '3', 2);
	read_text(fd, 0);
	R(ask(fd, SIOCATMARK));
	barrier("at the mark");
	await_urgent(fd, '4', 2);
	say_state(fd);
	read_text(fd, 0);
	say_state(fd);
	barrier("again");
	/* Two of them in a row. */
	await_urgent(fd, '5', 0);
	say_state(fd);
	barrier("in a row");
	await_urgent(fd, '6', 0);
	await_mask(fd, POLLIN);
	say_state(fd);
	read_text(fd, 0);
	say_state(fd);
	barrier("done");
	ping_pong(fd);
}

static void urgent_replaced_client(void)
{
	int fd = pair();

	R(send(fd, "ab", 2, 0));
	R(send(fd, "1", 1, MSG_OOB));
	R(send(fd, "cd", 2, 0));
	R(send(fd, "2", 1, MSG_OOB));
	R(send(fd, "ef", 2, 0));
	barrier("sent");
	barrier("read");
	R(send(fd, "gh3", 3, MSG_OOB));
	barrier("at the mark");
	R(send(fd, "ij4", 3, MSG_OOB));
	barrier("again");
	R(send(fd, "5", 1, MSG_OOB));
	barrier("in a row");
	R(send(fd, "6", 1, MSG_OOB));
	R(send(fd, "kl", 2, 0));
	barrier("done");
	ping_pong(fd);
}

/* Peeking stops at the mark, continues behind it, and changes nothing. */
static void urgent_peek_server(void)
{
	char buf[10];
	int fd = pair();

	barrier("sent");
	await_urgent(fd, 'U', 3);
	read_text(fd, MSG_PEEK);
	R(recv(fd, buf, 2, MSG_PEEK));
	say_state(fd);
	read_text(fd, 0);
	await_mask(fd, POLLIN);
	read_text(fd, MSG_PEEK);
	say_state(fd);
	R(recv(fd, NULL, 1, MSG_TRUNC));
	read_text(fd, 0);
	barrier("read");
	ping_pong(fd);
}

static void urgent_peek_client(void)
{
	int fd = pair();

	R(send(fd, "abcU", 4, MSG_OOB));
	R(send(fd, "def", 3, 0));
	barrier("sent");
	barrier("read");
	ping_pong(fd);
}

/* A recv() of 0 bytes neither reads an urgent byte nor passes it. */
static void urgent_zero_server(void)
{
	char buf[10];
	int fd = pair();

	barrier("sent");
	await_urgent(fd, 'U', 0);
	R(recv(fd, buf, 0, MSG_DONTWAIT));
	R(recv(fd, buf, 0, MSG_DONTWAIT | MSG_PEEK));
	say_state(fd);
	read_urgent(fd, 0);
	barrier("read");
	ping_pong(fd);
}

static void urgent_zero_client(void)
{
	int fd = pair();

	R(send(fd, "U", 1, MSG_OOB));
	barrier("sent");
	barrier("read");
	ping_pong(fd);
}

/* SIGURG, select() and epoll report the byte; reading it ends the report. */
static void urgent_told_server(void)
{
	struct epoll_event ev = { .events = EPOLLPRI };
	struct timeval now = { 0 };
	int fd = pair(), ep = X(epoll_create1(0));
	fd_set except;

	X(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	on_signal(SIGURG, SA_RESTART);
	R(fcntl(fd, F_SETOWN, getpid()));
	for (int i = 0; i < 3; i++) {
		signals_seen = 0;
		barrier("ready");
		/* The signal may come first and interrupt the call. */
		while (epoll_wait(ep, &ev, 1, 10000) < 0)
			CHECK(errno == EINTR);
		AWAIT(signals_seen);
		rec("%d signals", (int)signals_seen);
		FD_ZERO(&except);
		FD_SET(fd, &except);
		R(select(fd + 1, NULL, NULL, &except, NULL));
		read_urgent(fd, 0);
		R(epoll_wait(ep, &ev, 1, 0));
		FD_SET(fd, &except);
		R(select(fd + 1, NULL, NULL, &except, &now));
	}
	barrier("done");
	ping_pong(fd);
}

static void urgent_told_client(void)
{
	int fd = pair();

	for (int i = 0; i < 3; i++) {
		barrier("ready");
		R(send(fd, "U", 1, MSG_OOB));
	}
	barrier("done");
	ping_pong(fd);
}

static void *send_urgent(struct worker *w)
{
	w->ret = send(w->fd, "xyzU", 4, MSG_OOB);
	return NULL;
}

/* The window is full: the urgent byte follows what is already there. */
static void urgent_full_server(void)
{
	static char buf[70000];
	size_t total, got = 0;
	int fd = pair();

	on_signal(SIGURG, SA_RESTART);
	X(fcntl(fd, F_SETOWN, getpid()));
	barrier("full");
	total = ctl_get();
	while (got < total) {
		size_t want = total - got < sizeof(buf) ? total - got : sizeof(buf);
		ssize_t n = X(recv(fd, buf, want, 0));

		CHECK(n > 0);
		verify(buf, n, got);
		got += n;
	}
	AWAIT(signals_seen);
	await_urgent(fd, 'U', 3);
	say_state(fd);
	read_text(fd, 0);
	/* Not POLLIN: at the mark, TCP sets it too, until it has announced a larger window. */
	rec("mark %d, to read %d, poll %s", ask(fd, SIOCATMARK), ask(fd, SIOCINQ),
	    mask_name(poll_mask(fd, POLLPRI | POLLRDHUP)));
	read_urgent(fd, 0);
	/* TCP may signal one byte up to five times. */
	if (smc_mode(fd) != MODE_TCP)
		CHECK(signals_seen == 1);
	barrier("read");
	ping_pong(fd);
}

static void urgent_full_client(void)
{
	struct worker w = { .run = send_urgent };
	int fd = pair();
	size_t total = fill_up(fd);

	barrier("full");
	w.fd = fd;
	worker_start(&w);
	ctl_put(total);
	worker_join(&w);
	rec("sent %ld", w.ret);
	barrier("read");
	ping_pong(fd);
}

#define URGENT_BIG	(8 << 20)

/* More data than any buffer holds; the last byte is urgent. */
static void urgent_big_server(void)
{
	int fd = pair();

	X(set_int(fd, SOL_SOCKET, SO_OOBINLINE, 1));
	barrier("ready");
	recv_bytes(fd, 0, URGENT_BIG, 70000);
	barrier("read");
	ping_pong(fd);
}

static void urgent_big_client(void)
{
	static char buf[URGENT_BIG];
	int fd = pair();

	fill(buf, sizeof(buf), 0);
	barrier("ready");
	R(send(fd, buf, sizeof(buf), MSG_OOB));
	barrier("read");
	ping_pong(fd);
}

/* The end of the stream behind an urgent byte; urgent sends that fail. */
static void urgent_end_server(void)
{
	int fd = pair();

	barrier("sent");
	await_mask(fd, POLLRDHUP);
	await_urgent(fd, 'U', 0);
	say_state(fd);
	read_text(fd, 0);
	read_urgent(fd, 0);
	read_text(fd, 0);
	read_text(fd, 0);
	read_urgent(fd, 0);
	rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLPRI | POLLRDHUP)));
	barrier("read");
}

static void urgent_end_client(void)
{
	int fd = pair();

	R(send(fd, NULL, 0, MSG_OOB));
	R(send(fd, (void *)16, 2, MSG_OOB));
	R(send(fd, "abcU", 4, MSG_OOB));
	R(shutdown(fd, SHUT_WR));
	R(send(fd, "V", 1, MSG_OOB | MSG_NOSIGNAL));
	barrier("sent");
	barrier("read");
}

static void urgent_states(void)
{
	int fd = make_socket(0), l = listen_on(1);

	read_urgent(fd, 0);
	read_urgent(l, 0);
	R(send(fd, "U", 1, MSG_OOB | MSG_NOSIGNAL));
	R(send(l, "U", 1, MSG_OOB | MSG_NOSIGNAL));
}

#define ROUNDS	300

/* Urgent bytes among others, each behind a different amount of data. */
static size_t many_bytes(int round)
{
	return 1 + round * 61 % 9000;
}

static void urgent_many_server(void)
{
	uint64_t pos = 0;
	int fd = pair();

	for (int i = 0; i < ROUNDS; i++) {
		size_t n = many_bytes(i);
		char c = 0;

		recv_bytes(fd, pos, n, i % 3 ? n : n / 2 + 1);
		pos += n;
		await_mask(fd, POLLPRI);
		CHECK(X(ask(fd, SIOCATMARK)) == 1);
		CHECK(X(recv(fd, &c, 1, MSG_OOB)) == 1 && c == 'A' + i % 26);
		send_bytes(fd, i, 1, 1);
	}
	rec("%llu bytes", (unsigned long long)pos);
	barrier("done");
}

static void urgent_many_client(void)
{
	uint64_t pos = 0;
	int fd = pair();

	for (int i = 0; i < ROUNDS; i++) {
		size_t n = many_bytes(i);
		char c = 'A' + i % 26;

		send_bytes(fd, pos, n, n);
		pos += n;
		CHECK(X(send(fd, &c, 1, MSG_OOB)) == 1);
		recv_bytes(fd, i, 1, 1);
	}
	barrier("done");
}

/* A call that fails marks no byte of an earlier one, which a cork holds back. */
static void urgent_fault_server(void)
{
	char buf[4];
	int fd = pair();

	R(recv(fd, buf, 3, MSG_WAITALL));
	R(ask(fd, SIOCATMARK));
	barrier("done");
}

static void urgent_fault_client(void)
{
	int fd = pair();

	R(set_int(fd, IPPROTO_TCP, TCP_CORK, 1));
	R(send(fd, "abc", 3, 0));
	R(send(fd, (void *)16, 1, MSG_OOB));
	R(set_int(fd, IPPROTO_TCP, TCP_CORK, 0));
	barrier("done");
}

const struct test_case urgent_cases[] = {
	CASE(urgent, 0, "MSG_OOB, SIOCATMARK, POLLPRI"),
	{ "urgent_inline", urgent_inline_server, urgent_client, 0,
	  "SO_OOBINLINE and SIGURG" },
	CASE(urgent_ignored, 0, "unread urgent bytes, alone and behind other data"),
	/* On SMC-R the newer byte waits (RFC 7609, 4.7.5): it does not overtake. */
	CASE(urgent_replaced, F_HERE, "an urgent byte is replaced by the next one"),
	CASE(urgent_peek, 0, "MSG_PEEK and MSG_TRUNC around the urgent mark"),
	CASE(urgent_zero, 0, "recv() of 0 bytes at the urgent mark"),
	CASE(urgent_told, 0, "SIGURG, select() and epoll report an urgent byte"),
	CASE(urgent_full, 0, "an urgent byte when the window is full"),
	CASE(urgent_growing, F_HERE, "an urgent byte with more behind it than the buffer holds"),
	CASE(urgent_big, 0, "one urgent send of more than the buffers hold"),
	CASE(urgent_splice, 0, "splice() of data with an urgent byte"),
	CASE(urgent_fault, 0, "an urgent send that fails, behind corked data"),
	CASE(urgent_end, 0, "an urgent byte at the end of the stream; invalid urgent sends"),
	SOLO(urgent_states, 0, "urgent reads and writes on new and listening sockets"),
	/* Between machines, each round may take a delayed acknowledgment of TCP. */
	CASE(urgent_many, F_SLOW, "300 urgent bytes among other data"),
	{ 0 }
};
