// SPDX-License-Identifier: GPL-2.0
/* The calls that transfer data, and those that wait for data. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "call_fuzz.h"

static int send_flags(uint32_t number)
{
	static const int flags[] = {
		0, 0, MSG_MORE, MSG_OOB, MSG_ZEROCOPY, MSG_EOR, MSG_CONFIRM, MSG_DONTROUTE,
	};

	int all = MSG_NOSIGNAL | ITEM(flags, number) | (number & 8 ? 0 : MSG_DONTWAIT) |
		  (number & 0x70 ? 0 : ITEM(flags, number >> 8));

	return setting.prompt ? all & ~MSG_MORE : all;
}

static int receive_flags(uint32_t number)
{
	static const int flags[] = {
		0, 0, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, MSG_OOB, MSG_PEEK | MSG_OOB, MSG_ERRQUEUE,
	};

	return ITEM(flags, number) | (number & 8 ? 0 : MSG_DONTWAIT) |
	       (number & 0x70 ? 0 : ITEM(flags, number >> 8));
}

static long run_send(const struct step *s)
{
	size_t n;
	char *b = make_buffer(s->arg[0], &n);

	return send(slot_fd(s->slot), b, n, send_flags(s->arg[1]));
}

/*
 * SMC forgets an urgent byte that a socket refuses because it has been shut down. TCP remembers the
 * byte, but a program cannot read it.
 */
static void forget_urgent(int fd, int flags)
{
	struct pollfd p = { .fd = fd };

	if (setting.compared && flags & MSG_OOB && errno == EINVAL && poll(&p, 1, 0) == 1 &&
	    p.revents & POLLHUP)
		errno = ENOTCONN;
}

static long run_receive(const struct step *s)
{
	size_t n;
	char *b = make_buffer(s->arg[0], &n);
	long rc;

	count_smc(slot_fd(s->slot));
	rc = recv(slot_fd(s->slot), b, n, receive_flags(s->arg[1]));
	if (rc < 0)
		forget_urgent(slot_fd(s->slot), receive_flags(s->arg[1]));
	/* MSG_TRUNC may return more than there is room for, and writes nothing. */
	if (!(receive_flags(s->arg[1]) & MSG_TRUNC))
		note_bytes(b, rc);
	return rc;
}

/* Reads until nothing more comes, which opens the peer's window. */
static long run_drain(const struct step *s)
{
	long n, sum = 0;

	do {
		n = recv(slot_fd(s->slot), buf, BUF_SIZE, MSG_DONTWAIT);
		note_bytes(buf, n);
		sum += n > 0 ? n : 0;
	} while (n > 0 && sum < 4 << 20);
	return n < 0 ? n : sum;
}

static long run_fill(const struct step *s)
{
	long n, sum = 0;

	do {
		n = send(slot_fd(s->slot), buf, BUF_SIZE, MSG_DONTWAIT | MSG_NOSIGNAL);
		sum += n > 0 ? n : 0;
	} while (n > 0 && sum < 4 << 20);
	return n < 0 ? n : sum;
}

static long run_fastopen(const struct step *s)
{
	struct sockaddr_storage ss;
	int fd = slot_fd(s->slot);
	socklen_t len = make_address(s->arg[2], fd, &ss);
	size_t n;
	char *b = make_buffer(s->arg[0], &n);

	if (!(s->arg[3] & 7))
		ss.ss_family = AF_UNSPEC;
	return sendto(fd, b, n, send_flags(s->arg[1]) | (s->arg[3] & 8 ? MSG_FASTOPEN : 0),
		      (void *)&ss, len);
}

/* Control messages: some that TCP supports, some that it does not, and malformed ones. */
static size_t make_control(uint32_t number, char *control)
{
	static const struct { int level, type, len; } kinds[] = {
		{ SOL_SOCKET, SCM_RIGHTS, 4 }, { SOL_SOCKET, SO_MARK, 4 }, { SOL_IP, 2, 4 },
		{ SOL_SOCKET, SCM_TIMESTAMPING, 4 }, { 286, 1, 4 }, { SOL_IPV6, 50, 20 },
	};
	struct cmsghdr *c = (void *)control;

	memset(control, 0, 64);
	c->cmsg_level = ITEM(kinds, number).level;
	c->cmsg_type = ITEM(kinds, number).type;
	c->cmsg_len = CMSG_LEN(ITEM(kinds, number).len) + (number & 64 ? number >> 8 & 255 : 0);
	return number & 128 ? CMSG_SPACE(ITEM(kinds, number).len) : number >> 16 & 63;
}

static long run_sendmsg(const struct step *s)
{
	char control[64] __attribute__((aligned(8)));
	struct iovec iov[3];
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = s->arg[2] % 4 };

	for (int i = 0; i < 3; i++)
		iov[i].iov_base = make_buffer(s->arg[0] >> 4 * i, &iov[i].iov_len);
	if (!(s->arg[3] & 3)) {
		m.msg_controllen = make_control(s->arg[3] >> 2, control);
		m.msg_control = control;
	}
	return sendmsg(slot_fd(s->slot), &m, send_flags(s->arg[1]));
}

/* Not the values, some of which are times. */
static void note_control(struct msghdr *m)
{
	note(m->msg_controllen);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		note(c->cmsg_level);
		note(c->cmsg_type);
		note(c->cmsg_len);
	}
}

static long run_recvmsg(const struct step *s)
{
	char control[256];
	struct sockaddr_storage name;
	struct iovec iov[3];
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = s->arg[2] % 4, .msg_control = control,
			    .msg_controllen = s->arg[3] & 1 ? sizeof(control) : s->arg[3] % 64,
			    .msg_name = s->arg[3] & 2 ? &name : NULL, .msg_namelen = sizeof(name) };
	long rc;

	for (int i = 0; i < 3; i++)
		iov[i].iov_base = make_buffer(s->arg[0] >> 4 * i, &iov[i].iov_len);
	rc = recvmsg(slot_fd(s->slot), &m, receive_flags(s->arg[1]));
	if (rc < 0) {
		forget_urgent(slot_fd(s->slot), receive_flags(s->arg[1]));
	} else {
		note(m.msg_flags);
		note(m.msg_namelen);
		note_control(&m);
	}
	return rc;
}

static long run_batch(const struct step *s)
{
	struct mmsghdr m[4] = { 0 };
	struct iovec iov[4];
	struct timespec soon = { 0, 1000000 };
	int flags = send_flags(s->arg[1]), n, cork = 0;

	/* To a peer that has closed TCP sends none of it yet; SMC fails after the first message. */
	if (setting.compared) {
		flags &= ~MSG_MORE;
		setsockopt(slot_fd(s->slot), IPPROTO_TCP, TCP_CORK, &cork, sizeof(cork));
	}
	for (int i = 0; i < 4; i++) {
		iov[i].iov_base = make_buffer(s->arg[0] >> 4 * i, &iov[i].iov_len);
		m[i].msg_hdr.msg_iov = &iov[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	if (s->arg[2] & 1)
		return sendmmsg(slot_fd(s->slot), m, 4, flags);
	n = recvmmsg(slot_fd(s->slot), m, 4, receive_flags(s->arg[1]), &soon);
	if (n < 0)
		forget_urgent(slot_fd(s->slot), receive_flags(s->arg[1]));
	for (int i = 0; i < n; i++) {
		note(m[i].msg_len);
		note(m[i].msg_hdr.msg_flags);
	}
	return n;
}

static void empty_pipe(void)
{
	long n;

	while ((n = read(pipe_fd[0], buf, 8192)) > 0)
		note_bytes(buf, n);
}

/* All that is sent in a compared program must fit into the buffers. */
static size_t limited(size_t n)
{
	return setting.compared ? n % 1000 : n;
}

static unsigned int splice_flags(uint32_t number)
{
	return number & (setting.prompt ? 7 & ~SPLICE_F_MORE : 7);
}

static long run_splice_in(const struct step *s)
{
	long n = splice(slot_fd(s->slot), NULL, pipe_fd[1], NULL, 1 + s->arg[0] % 70000,
			splice_flags(s->arg[1]));

	empty_pipe();
	return n;
}

static long run_splice_out(const struct step *s)
{
	long n = write(pipe_fd[1], buf, 1 + limited(s->arg[0] % 60000));

	if (n > 0)
		n = splice(pipe_fd[0], NULL, slot_fd(s->slot), NULL, n, splice_flags(s->arg[1]));
	empty_pipe();
	return n;
}

static long run_sendfile(const struct step *s)
{
	off_t at = s->arg[0] % 4096;

	return sendfile(slot_fd(s->slot), setting.file, &at, 1 + limited(s->arg[1] % 100000));
}

/* The area into which TCP_ZEROCOPY_RECEIVE would map the data. */
static long run_mmap(const struct step *s)
{
	struct { uint64_t address; uint32_t length, skip, inq, error; uint64_t more[4]; } zc = {
		.length = s->arg[0] % 70000,
	};
	void *m = mmap(NULL, 1 << 16, PROT_READ, MAP_SHARED, slot_fd(s->slot), 0);
	socklen_t len = s->arg[1] & 3 ? sizeof(zc) : s->arg[1];
	long rc;

	zc.address = m == MAP_FAILED ? (uintptr_t)buf : (uintptr_t)m;
	rc = getsockopt(slot_fd(s->slot), IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &zc, &len);
	if (m != MAP_FAILED)
		munmap(m, 1 << 16);
	return rc;
}

static long run_poll(const struct step *s)
{
	struct pollfd p[2] = { { slot_fd(s->slot), s->arg[0], 0 },
			       { slot_fd(s->other), POLLIN | POLLRDHUP | POLLPRI, 0 } };

	int n = poll(p, 1 + s->arg[1] % 2, s->arg[2] % 20);

	note(shown_events(p[0].revents));
	note(shown_events(p[1].revents));
	return n;
}

static long run_epoll(const struct step *s)
{
	struct epoll_event ev = { .events = s->arg[1] & 1 ? s->arg[1] : EPOLLIN | EPOLLOUT | EPOLLET };
	static const int ops[] = { EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD };

	int n;

	if (!(s->arg[0] & 3)) {
		n = epoll_wait(epoll_fd, &ev, 1, s->arg[2] % 10);
		note(n > 0 ? shown_events(ev.events) : 0);
		return n;
	}
	return epoll_ctl(epoll_fd, ITEM(ops, s->arg[0]), slot_fd(s->slot), &ev);
}

const struct call data_calls[] = {
	{ "send", 12, run_send },
	{ "recv", 12, run_receive },
	{ "drain", 5, run_drain },
	{ "fill", 4, run_fill },
	{ "sendto", 4, run_fastopen },
	{ "sendmsg", 5, run_sendmsg },
	{ "recvmsg", 5, run_recvmsg },
	{ "mmsg", 2, run_batch },
	{ "splice_in", 4, run_splice_in },
	{ "splice_out", 4, run_splice_out },
	{ "sendfile", 3, run_sendfile },
	{ "mmap", 1, run_mmap },
	{ "poll", 5, run_poll },
	{ "epoll", 5, run_epoll },
	{ NULL, 0, NULL }
};
