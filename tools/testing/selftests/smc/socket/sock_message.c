// SPDX-License-Identifier: GPL-2.0
/* The send and receive calls with their flags and vectors. */
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/uio.h>

#include "role.h"
#include "slow.h"

static void iovecs_server(void)
{
	static char a[10], b[1], c[5000], d[300];
	struct iovec iov[] = {
		{ a, sizeof(a) }, { NULL, 0 }, { b, sizeof(b) }, { c, sizeof(c) },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 4 };
	struct iovec rest = { d, sizeof(d) };
	int fd = pair();

	R(recvmsg(fd, &msg, MSG_WAITALL));
	rec("flags %d, namelen %d, controllen %zu", msg.msg_flags,
	    (int)msg.msg_namelen, msg.msg_controllen);
	verify(a, 10, 0);
	verify(b, 1, 10);
	verify(c, 5000, 11);
	barrier("first");
	await_inq(fd, 300);
	R(readv(fd, &rest, 1));
	verify(d, 300, 5011);
	barrier("second");
	await_inq(fd, 26);
	iov[0].iov_len = 3;
	R(readv(fd, iov, 4));
	verify(a, 3, 5311);
	verify(b, 1, 5314);
	verify(c, 22, 5315);
	barrier("done");
}

static void iovecs_client(void)
{
	static char data[5400];
	struct iovec iov[] = {
		{ data, 1 }, { data + 1, 5000 }, { NULL, 0 }, { data + 5001, 10 },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 4 };
	int fd = pair();

	fill(data, sizeof(data), 0);
	R(sendmsg(fd, &msg, 0));
	barrier("first");
	iov[0] = (struct iovec){ data + 5011, 300 };
	R(writev(fd, iov, 1));
	barrier("second");
	iov[0] = (struct iovec){ data + 5311, 20 };
	iov[1] = (struct iovec){ data + 5331, 6 };
	R(writev(fd, iov, 2));
	msg.msg_iovlen = 5000;
	R(sendmsg(fd, &msg, 0));
	barrier("done");
}

static void mmsg_server(void)
{
	static char bufs[4][100];
	struct iovec iov[4];
	struct mmsghdr v[4];
	int fd = pair();

	memset(v, 0, sizeof(v));
	for (int i = 0; i < 4; i++) {
		iov[i] = (struct iovec){ bufs[i], 100 };
		v[i].msg_hdr.msg_iov = &iov[i];
		v[i].msg_hdr.msg_iovlen = 1;
	}
	barrier("sent");
	await_inq(fd, 350);
	R(recvmmsg(fd, v, 4, MSG_DONTWAIT, NULL));
	for (int i = 0; i < 4; i++)
		rec("message %d: %u", i, v[i].msg_len);
	verify(bufs[0], 100, 0);
	verify(bufs[3], 50, 300);
	R(recvmmsg(fd, v, 4, MSG_DONTWAIT, NULL));
	barrier("done");
}

static void mmsg_client(void)
{
	static char data[350];
	struct iovec iov[3] = { { data, 50 }, { data + 50, 1 }, { data + 51, 299 } };
	struct mmsghdr v[3];
	int fd = pair();

	fill(data, sizeof(data), 0);
	memset(v, 0, sizeof(v));
	for (int i = 0; i < 3; i++) {
		v[i].msg_hdr.msg_iov = &iov[i];
		v[i].msg_hdr.msg_iovlen = 1;
	}
	R(sendmmsg(fd, v, 3, 0));
	for (int i = 0; i < 3; i++)
		rec("message %d: %u", i, v[i].msg_len);
	barrier("sent");
	barrier("done");
}

/* MSG_PEEK for more bytes than are there must neither block nor return bytes twice. */
static void peek_server(void)
{
	char buf[200];
	int fd = pair();

	barrier("sent");
	await_inq(fd, 100);
	R(recv(fd, buf, 10, MSG_PEEK));
	verify(buf, 10, 0);
	R(recv(fd, buf, 200, MSG_PEEK));
	verify(buf, 100, 0);
	R(recv(fd, buf, 200, MSG_PEEK | MSG_DONTWAIT));
	verify(buf, 100, 0);
	R(recv(fd, buf, 30, 0));
	verify(buf, 30, 0);
	R(recv(fd, buf, 200, MSG_PEEK));
	verify(buf, 70, 30);
	R(recv(fd, buf, 0, MSG_PEEK));
	R(recv(fd, buf, 200, 0));
	verify(buf, 70, 30);
	R(recv(fd, buf, 200, MSG_PEEK | MSG_DONTWAIT));
	barrier("empty");
	R(recv(fd, buf, 20, MSG_PEEK | MSG_WAITALL));
	verify(buf, 20, 100);
	recv_bytes(fd, 100, 20, 20);
	barrier("end");
	await_mask(fd, POLLRDHUP);
	R(recv(fd, buf, 20, MSG_PEEK));
}

static void peek_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 100, 37);
	barrier("sent");
	barrier("empty");
	send_bytes(fd, 100, 20, 20);
	barrier("end");
	close(fd);
}

/* As above, across the end of a small buffer, peeking piece by piece. */
static void peek_wrap_server(void)
{
	static char buf[8192];
	int fd = pair();
	uint64_t pos = 0;

	for (int i = 0; i < 200; i++) {
		size_t n = 100 + i * 37 % 3000;

		await_inq(fd, n);
		CHECK(recv(fd, buf, sizeof(buf), MSG_PEEK) == (ssize_t)n);
		verify(buf, n, pos);
		recv_bytes(fd, pos, n, n / 2 + 1);
		pos += n;
		barrier("next");
	}
	rec("%llu bytes", (unsigned long long)pos);
}

static void peek_wrap_client(void)
{
	int fd = pair();
	uint64_t pos = 0;

	for (int i = 0; i < 200; i++) {
		size_t n = 100 + i * 37 % 3000;

		send_bytes(fd, pos, n, n);
		pos += n;
		barrier("next");
	}
	rec("%llu bytes", (unsigned long long)pos);
}

static void waitall_server(void)
{
	char buf[100];
	int fd = pair();

	barrier("ten");
	await_inq(fd, 10);
	R(recv(fd, buf, 100, MSG_WAITALL | MSG_DONTWAIT));
	barrier("piecewise");
	R(recv(fd, buf, 100, MSG_WAITALL));
	verify(buf, 100, 10);
	barrier("end");
	R(recv(fd, buf, 100, MSG_WAITALL));
	verify(buf, 30, 110);
	R(recv(fd, buf, 100, MSG_WAITALL));
}

static void waitall_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 10, 10);
	barrier("ten");
	barrier("piecewise");
	for (int i = 0; i < 10; i++)
		send_bytes(fd, 10 + i * 10, 10, 10);
	barrier("end");
	send_bytes(fd, 110, 30, 30);
	close(fd);
}

/* As with TCP, MSG_TRUNC on a stream discards the bytes. */
static void trunc_server(void)
{
	char buf[100];
	int fd = pair();

	barrier("sent");
	await_inq(fd, 100);
	memset(buf, 'z', sizeof(buf));
	R(recv(fd, buf, 40, MSG_TRUNC));
	for (int i = 0; i < 100; i++)
		CHECK(buf[i] == 'z');
	R(recv(fd, NULL, 10, MSG_TRUNC));
	R(recv(fd, buf, 20, 0));
	verify(buf, 20, 50);
	R(recv(fd, buf, 100, MSG_TRUNC | MSG_PEEK));
	R(recv(fd, buf, 100, MSG_TRUNC | MSG_DONTWAIT));
	R(recv(fd, buf, 100, MSG_TRUNC | MSG_DONTWAIT));
	barrier("done");
}

static void trunc_client(void)
{
	int fd = pair();

	send_bytes(fd, 0, 100, 100);
	barrier("sent");
	barrier("done");
}

static void dontwait_server(void)
{
	char buf[10];
	int fd = pair();

	R(recv(fd, buf, 10, MSG_DONTWAIT));
	set_nonblock(fd, true);
	R(recv(fd, buf, 10, 0));
	R(read(fd, buf, 10));
	R(recv(fd, buf, 10, MSG_WAITALL));
	barrier("empty");
	await_inq(fd, 5);
	R(recv(fd, buf, 10, 0));
	verify(buf, 5, 0);
	barrier("end");
	await_mask(fd, POLLRDHUP);
	R(recv(fd, buf, 10, 0));
}

static void dontwait_client(void)
{
	int fd = pair();

	barrier("empty");
	send_bytes(fd, 0, 5, 5);
	barrier("end");
	close(fd);
}

static void zero_length_server(void)
{
	struct msghdr msg = { 0 };
	char buf[10];
	int fd = pair();

	/* a blocking recv() of 0 bytes would wait for a byte, with TCP too */
	R(recv(fd, buf, 0, MSG_DONTWAIT));
	R(read(fd, buf, 0));
	barrier("zero");
	R(recv(fd, buf, 10, MSG_DONTWAIT));
	rec("poll %s", mask_name(poll_mask(fd, POLLIN | POLLOUT | POLLRDHUP)));
	barrier("looked");
	barrier("one");
	await_inq(fd, 1);
	R(recv(fd, buf, 0, 0));
	R(recvmsg(fd, &msg, MSG_DONTWAIT));
	R(recv(fd, buf, 10, 0));
	barrier("done");
}

static void zero_length_client(void)
{
	struct msghdr msg = { 0 };
	int fd = pair();

	R(send(fd, NULL, 0, 0));
	R(send(fd, "", 0, 0));
	R(write(fd, "", 0));
	R(sendmsg(fd, &msg, 0));
	barrier("zero");
	barrier("looked");
	R(send(fd, "x", 1, 0));
	barrier("one");
	barrier("done");
}

static void *recv_nothing(struct worker *w)
{
	char c;

	w->ret = recv(w->fd, &c, 0, 0);
	return NULL;
}

/* A recv() of no bytes that has waited returns 0, whatever has woken it. */
static void zero_waits_server(void)
{
	static const char *const steps[] = { "signal", "reset" };
	int fd = pair();
	char c;

	on_signal(SIGUSR1, 0);
	for (int i = 0; i < 2; i++) {
		struct worker w = { .run = recv_nothing, .fd = fd };

		worker_start(&w);
		await_blocked(getpid(), w.tid);
		if (!i)
			pthread_kill(w.thread, SIGUSR1);
		barrier(steps[i]);
		worker_join(&w);
		rec("%s: recv %ld", steps[i], w.ret);
	}
	R(recv(fd, &c, 1, 0));
}

static void zero_waits_client(void)
{
	int fd = pair();

	barrier("signal");
	barrier("reset");
	reset(fd);
}

/* Corked data still arrives, at the latest when the cork is removed. */
static void cork_server(void)
{
	int fd = pair();

	barrier("corked");
	recv_bytes(fd, 0, 30, 30);
	barrier("more");
	recv_bytes(fd, 30, 30, 30);
	barrier("nodelay");
	recv_bytes(fd, 60, 30, 30);
	barrier("close");
	recv_bytes(fd, 90, 10, 10);
	rec("end at %d", (int)recv_to_end(fd, 100));
}

static void cork_client(void)
{
	char buf[100];
	int fd = pair();

	fill(buf, 100, 0);
	R(get_int(fd, IPPROTO_TCP, TCP_CORK));
	R(set_int(fd, IPPROTO_TCP, TCP_CORK, 1));
	R(get_int(fd, IPPROTO_TCP, TCP_CORK));
	R(send(fd, buf, 10, 0));
	R(send(fd, buf + 10, 20, 0));
	R(set_int(fd, IPPROTO_TCP, TCP_CORK, 0));
	barrier("corked");
	barrier("more");
	R(send(fd, buf + 30, 10, MSG_MORE));
	R(send(fd, buf + 40, 10, MSG_MORE));
	R(send(fd, buf + 50, 10, 0));
	barrier("nodelay");
	R(get_int(fd, IPPROTO_TCP, TCP_NODELAY));
	R(send(fd, buf + 60, 30, MSG_MORE));
	R(set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1));
	R(get_int(fd, IPPROTO_TCP, TCP_NODELAY));
	barrier("close");
	R(send(fd, buf + 90, 10, MSG_MORE));
	R(close(fd));
}

static bool nothing_there(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

/* A cork holds data back for a fifth of a second at most. If the check comes too late, repeat
 * it.
 */
static void cork_holds_server(void)
{
	bool held = false;
	int fd = pair();
	char c;

	/* It is sent after 200 ms. */
	set_timeo(fd, SO_RCVTIMEO, slow(3000));
	while (!held) {
		barrier("sent");
		held = nothing_there(fd);
		CHECK(recv(fd, &c, 1, 0) == 1);
		ctl_put(held);
	}
}

static void cork_holds_client(void)
{
	int fd = pair();

	X(set_int(fd, IPPROTO_TCP, TCP_CORK, 1));
	do {
		CHECK(send(fd, "x", 1, 0) == 1);
		barrier("sent");
	} while (!ctl_get());
}

/* Corked, with more data than fits into all buffers: neither side hangs. */
static void cork_big_server(void)
{
	recv_bytes(pair(), 0, 1 << 20, 10000);
	barrier("done");
}

static void cork_big_client(void)
{
	int fd = pair();

	X(set_int(fd, IPPROTO_TCP, TCP_CORK, 1));
	send_bytes(fd, 0, 1 << 20, 300000);
	X(set_int(fd, IPPROTO_TCP, TCP_CORK, 0));
	barrier("done");
}

static void sendto_server(void)
{
	struct addr a = { .len = sizeof(a.ss) };
	char buf[10];
	int fd = pair();

	memset(&a.ss, 7, sizeof(a.ss));
	R(recvfrom(fd, buf, 3, MSG_WAITALL, &a.sa, &a.len));
	rec("address of %d bytes, family %d", (int)a.len, a.sa.sa_family);
	barrier("done");
}

/* A stream socket ignores the destination address and returns what TCP returns. */
static void sendto_client(void)
{
	struct addr a = loopback(1);
	int fd = pair();

	R(sendto(fd, "a", 1, 0, &a.sa, a.len));
	R(sendto(fd, "b", 1, 0, NULL, 0));
	R(sendto(fd, "c", 1, 0, &a.sa, 3));
	barrier("done");
}

static void cmsg_server(void)
{
	char ctl[64] = "", c;
	struct iovec iov = { &c, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
			      .msg_control = ctl, .msg_controllen = sizeof(ctl) };
	int fd = pair();

	R(recvmsg(fd, &msg, 0));
	rec("%zu bytes of control", msg.msg_controllen);
	barrier("done");
}

static void cmsg_client(void)
{
	char ctl[CMSG_SPACE(sizeof(int))] = "";
	struct iovec iov = { "x", 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1,
			      .msg_control = ctl, .msg_controllen = sizeof(ctl) };
	struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);
	int fd = pair();

	cm->cmsg_len = CMSG_LEN(sizeof(int));
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = 0x7fff;
	R(sendmsg(fd, &msg, 0));
	msg.msg_control = NULL;
	msg.msg_controllen = 0;
	R(sendmsg(fd, &msg, 0));
	barrier("done");
}

static void odd_flags_server(void)
{
	char c;
	int fd = pair();

	R(recv(fd, &c, 1, MSG_ERRQUEUE));
	R(recv(fd, &c, 1, MSG_OOB));
	R(recv(fd, &c, 1, MSG_CMSG_CLOEXEC));
	barrier("done");
}

static void odd_flags_client(void)
{
	int fd = pair();

	R(send(fd, "x", 1, MSG_EOR | MSG_CONFIRM | MSG_DONTROUTE));
	barrier("done");
}

/* A connection that exists is not opened again, whatever the address says. */
static void fastopen_connected_server(void)
{
	int fd = pair();
	struct addr a = name_of(fd);

	R(sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, &a.sa, a.len));
	R(send(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL));
	barrier("done");
	rec("end at %d", (int)recv_to_end(fd, 0));
}

static void fastopen_connected_client(void)
{
	int fd = pair();
	struct addr a = name_of(fd);

	R(sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, &a.sa, a.len));
	R(sendto(fd, "x", 1, MSG_FASTOPEN | MSG_DONTWAIT, &a.sa, 1));
	R(send(fd, "x", 1, MSG_FASTOPEN | MSG_MORE));
	R(send(fd, "x", 1, MSG_FASTOPEN | MSG_ZEROCOPY));
	a.sa.sa_family = AF_UNSPEC;
	R(sendto(fd, "x", 1, MSG_FASTOPEN, &a.sa, a.len));
	send_bytes(fd, 0, 1, 1);
	barrier("done");
	R(shutdown(fd, SHUT_WR));
	R(send(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL));
}

/*
 * What MSG_MORE or TCP_CORK has held back reaches a peer that has closed, which resets. If the
 * machine was so slow that it has been sent before that, both sides try again: the peer's stream
 * does not end then, its close() resets at once.
 */
static void held_server(void)
{
	bool held = false;

	while (!held) {
		int fd = pair();

		barrier("held");
		X(close(fd));
		held = ctl_get();
	}
	barrier("done");
}

static int hold(bool cork)
{
	char c;
	int fd;

	for (;;) {
		fd = pair();
		X(set_int(fd, IPPROTO_TCP, TCP_CORK, cork));
		CHECK(send(fd, "held", 4, cork ? 0 : MSG_MORE) == 4);
		barrier("held");
		await_mask(fd, POLLRDHUP);
		if (!recv(fd, &c, 1, 0))
			break;
		ctl_put(false);
		close(fd);
	}
	ctl_put(true);
	return fd;
}

static void held_lost(int fd)
{
	char c;

	rec("poll %s", mask_name(await_mask(fd, POLLERR)));
	R(send(fd, "x", 1, MSG_NOSIGNAL));
	R(send(fd, "x", 1, MSG_NOSIGNAL));
	R(recv(fd, &c, 1, 0));
	barrier("done");
}

static void more_lost_client(void)
{
	held_lost(hold(false));
}

static void cork_nodelay_server(void)
{
	int fd = pair();

	barrier("corked");
	recv_bytes(fd, 0, 14, 14);
	barrier("done");
}

/* TCP_NODELAY sends what is held back, and the cork stays. */
static void cork_nodelay_client(void)
{
	int fd = pair();

	R(set_int(fd, IPPROTO_TCP, TCP_CORK, 1));
	send_bytes(fd, 0, 10, 10);
	R(ask(fd, SIOCOUTQNSD));
	R(set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1));
	R(ask(fd, SIOCOUTQNSD));
	send_bytes(fd, 10, 4, 4);
	R(ask(fd, SIOCOUTQNSD));
	barrier("corked");
	barrier("done");
}

static void cork_lost_client(void)
{
	held_lost(hold(true));
}

static void uncork_lost_client(void)
{
	int fd = hold(true);

	R(set_int(fd, IPPROTO_TCP, TCP_CORK, 0));
	rec("poll %s", mask_name(await_mask(fd, POLLERR)));
	R(get_int(fd, SOL_SOCKET, SO_ERROR));
	barrier("done");
}

const struct test_case message_cases[] = {
	CASE(iovecs, 0, "sendmsg, recvmsg, readv and writev with odd vectors"),
	CASE(mmsg, 0, "sendmmsg and recvmmsg"),
	CASE(peek, 0, "MSG_PEEK, also for more bytes than are there"),
	CASE(peek_wrap, 0, "MSG_PEEK at every position of the ring"),
	CASE(waitall, 0, "MSG_WAITALL: complete, cut short by the end, non-blocking"),
	CASE(trunc, 0, "MSG_TRUNC discards the bytes"),
	CASE(dontwait, 0, "MSG_DONTWAIT and O_NONBLOCK"),
	CASE(zero_length, 0, "send and receive with length zero"),
	CASE(zero_waits, 0, "a receive with length zero waits, and is woken"),
	CASE(cork, 0, "TCP_CORK, MSG_MORE, TCP_NODELAY"),
	CASE(cork_holds, 0, "a corked byte is sent after a delay, without another call"),
	CASE(cork_nodelay, F_ONE, "TCP_NODELAY sends what a cork has held back"),
	CASE(cork_big, 0, "more corked data than the buffers hold"),
	CASE(sendto, 0, "sendto() and recvfrom() ignore addresses as TCP does"),
	CASE(cmsg, 0, "sendmsg() and recvmsg() with control messages"),
	CASE(odd_flags, 0, "flags without meaning for a stream"),
	CASE(fastopen_connected, 0, "MSG_FASTOPEN on a connection"),
	{ "more_lost", held_server, more_lost_client, 0,
	  "the peer closes before it gets what MSG_MORE holds back" },
	{ "cork_lost", held_server, cork_lost_client, 0,
	  "the peer closes before it gets what TCP_CORK holds back" },
	{ "uncork_lost", held_server, uncork_lost_client, 0,
	  "the peer closes before the socket is uncorked" },
	{ 0 }
};
