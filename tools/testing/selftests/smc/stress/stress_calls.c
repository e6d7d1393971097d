// SPDX-License-Identifier: GPL-2.0
/* The calls that create, connect, use and end sockets. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <linux/sockios.h>
#include <unistd.h>

#include "random.h"
#include "stress_stall.h"
#include "stress.h"

uint32_t rnd(struct player *p)
{
	return random_next(&p->random);
}

uint32_t below(struct player *p, uint32_t n)
{
	return random_below(&p->random, n);
}

bool one_in(struct player *p, uint32_t n)
{
	return !below(p, n);
}

/* Usually the slot that all threads of a process currently use. */
int any_slot(struct player *p)
{
	if (one_in(p, 32))
		shared.hot = below(p, SLOTS);
	return SLOT_BASE + (one_in(p, 3) ? below(p, SLOTS) : shared.hot);
}

/* A slot with a listener, or any slot. */
static int listening_slot(struct player *p)
{
	int slot = any_slot(p), yes = 0;
	socklen_t len = sizeof(yes);

	for (int i = 0; i < SLOTS; i++, slot = SLOT_BASE + (slot - SLOT_BASE + 1) % SLOTS)
		if (!getsockopt(slot, SOL_SOCKET, SO_ACCEPTCONN, &yes, &len) && yes)
			break;
	return slot;
}

/* Usually a port with a listener. */
static int random_port(struct player *p)
{
	struct sockaddr_in6 in6 = { .sin6_port = 0 };	/* same port offset as in IPv4 */
	socklen_t len = sizeof(in6);

	if (!one_in(p, 4))
		getsockname(listening_slot(p), (void *)&in6, &len);
	return ntohs(in6.sin6_port) ?: FIRST_PORT + (int)below(p, PORTS);
}

/* Memory to send from or receive into; access to some of it takes a while. */
char *random_buf(struct player *p, size_t *len)
{
	static const size_t sizes[] = { 0, 1, 1, 17, 17, 100, 1000, 4096 };

	if (p->stall && one_in(p, 16)) {
		stall_forget(p->stall);
		*len = 1 + below(p, STALL_SIZE);
		return p->stall;
	}
	*len = one_in(p, 32) ? BUF_SIZE : sizes[below(p, sizeof(sizes) / sizeof(sizes[0]))];
	return p->buf;
}

void random_addr(struct player *p, int fd, struct sockaddr_storage *ss, socklen_t *len)
{
	int domain = AF_INET, port = random_port(p);
	struct sockaddr_in6 *in6 = (void *)ss;
	struct sockaddr_in *in = (void *)ss;
	uint32_t v4 = htonl(opt.addr);
	struct sockaddr_storage name;
	socklen_t size = sizeof(name);

	/* SO_DOMAIN of an AF_SMC socket is AF_SMC; the family of its address is the one
	 * required.
	 */
	if (!getsockname(fd, (void *)&name, &size))
		domain = name.ss_family;
	memset(ss, 0, sizeof(*ss));
	if (domain == AF_INET6) {
		*len = sizeof(*in6);
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		if (opt.addr == INADDR_LOOPBACK && one_in(p, 2)) {
			in6->sin6_addr = in6addr_loopback;
			return;
		}
		in6->sin6_addr.s6_addr[10] = in6->sin6_addr.s6_addr[11] = 0xff;
		memcpy(in6->sin6_addr.s6_addr + 12, &v4, 4);
		return;
	}
	*len = sizeof(*in);
	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	in->sin_addr.s_addr = v4;
}

static void wildcard_sometimes(struct player *p, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *in6 = (void *)ss;
	struct sockaddr_in *in = (void *)ss;

	if (!one_in(p, 3))
		return;
	if (ss->ss_family == AF_INET6)
		in6->sin6_addr = in6addr_any;
	else
		in->sin_addr.s_addr = INADDR_ANY;
}

/* ---- creation ---- */

static int new_socket(struct player *p)
{
	static const struct { int family, protocol; } kinds[] = {
		{ AF_INET, IPPROTO_SMC }, { AF_INET, IPPROTO_SMC }, { AF_INET, IPPROTO_SMC },
		{ AF_INET6, IPPROTO_SMC }, { AF_INET6, IPPROTO_SMC },
		{ AF_SMC, 0 }, { AF_SMC, 1 },
		{ AF_INET, IPPROTO_TCP }, { AF_INET6, IPPROTO_TCP },
	};
	int which = below(p, sizeof(kinds) / sizeof(kinds[0])), one = 1, fd;
	int family = kinds[which].family, protocol = kinds[which].protocol;

	if (opt.tcp) {
		if (family == AF_SMC)
			family = protocol ? AF_INET6 : AF_INET;
		protocol = IPPROTO_TCP;
	}
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | (one_in(p, 6) ? 0 : SOCK_NONBLOCK),
		    protocol);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (one_in(p, 4))
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
	return fd;
}

/* Moves a descriptor to a slot, and replaces the old one. */
static long settle(int fd, int slot)
{
	long rc = dup2(fd, slot);

	close(fd);
	return rc;
}

static long call_make(struct player *p, int slot)
{
	int fd = new_socket(p);

	return fd < 0 ? -1 : settle(fd, slot);
}

/* A socket, and an address to which it can bind or connect. */
static int new_socket_and_addr(struct player *p, struct sockaddr_storage *ss, socklen_t *len)
{
	int fd = new_socket(p);

	if (fd >= 0)
		random_addr(p, fd, ss, len);
	return fd;
}

static long call_make_listener(struct player *p, int slot)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int fd = new_socket_and_addr(p, &ss, &len);

	if (fd < 0)
		return -1;
	((struct sockaddr_in *)&ss)->sin_port = htons(FIRST_PORT + below(p, PORTS));
	wildcard_sometimes(p, &ss);
	if (!bind(fd, (void *)&ss, len))
		listen(fd, 1 + below(p, 5));
	return settle(fd, slot);
}

static long call_make_client(struct player *p, int slot)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int fd = new_socket_and_addr(p, &ss, &len);

	if (fd < 0)
		return -1;
	connect(fd, (void *)&ss, len);
	return settle(fd, slot);
}

/*
 * Opens a connection outside of the slots: inside, few would get through a handshake undisturbed.
 * Then it moves both ends to two slots, where all threads can use them.
 */
static long call_make_pair(struct player *p, int slot)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(opt.addr) };
	int kind = opt.tcp ? IPPROTO_TCP : IPPROTO_SMC, l, c, child = -1;
	struct timeval second = { .tv_sec = 1 };
	socklen_t len = sizeof(a);

	l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, kind);
	c = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, kind);
	setsockopt(l, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	setsockopt(c, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
	if (!bind(l, (void *)&a, len) && !listen(l, 1) && !getsockname(l, (void *)&a, &len) &&
	    !connect(c, (void *)&a, len))
		child = accept4(l, NULL, NULL, SOCK_CLOEXEC);
	close(l);
	if (child < 0) {
		close(c);
		return -1;
	}
	count_smc(child);
	settle(c, slot);
	return settle(child, any_slot(p));
}

static long call_bind(struct player *p, int fd)
{
	struct sockaddr_storage ss;
	socklen_t len;

	random_addr(p, fd, &ss, &len);
	wildcard_sometimes(p, &ss);
	return bind(fd, (void *)&ss, len);
}

static long call_listen(struct player *p, int fd)
{
	return listen(fd, below(p, 6));
}

static long call_connect(struct player *p, int fd)
{
	struct sockaddr_storage ss;
	socklen_t len;

	random_addr(p, fd, &ss, &len);
	return connect(fd, (void *)&ss, len);
}

static long call_disconnect(struct player *p, int fd)
{
	struct sockaddr sa = { .sa_family = AF_UNSPEC };

	return connect(fd, &sa, sizeof(sa));
}

static long call_accept(struct player *p, int fd)
{
	int listener = one_in(p, 3) ? fd : listening_slot(p);
	int flags = SOCK_CLOEXEC | (one_in(p, 6) ? 0 : SOCK_NONBLOCK);
	int child = accept4(listener, NULL, NULL, flags);
	char c;

	if (child < 0)
		return -1;
	count_smc(child);
	if (one_in(p, 2))
		return settle(child, any_slot(p));
	if (send(child, p->buf, 1 + below(p, 500), MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
		recv(child, &c, 1, one_in(p, 6) ? 0 : MSG_DONTWAIT);
	return close(child);
}

/* ---- data ---- */

static int random_flags(struct player *p)
{
	int flags = MSG_NOSIGNAL;

	if (!one_in(p, 6))
		flags |= MSG_DONTWAIT;
	if (one_in(p, 8))
		flags |= MSG_MORE;
	if (one_in(p, 8))
		flags |= MSG_OOB;
	if (one_in(p, 8))
		flags |= MSG_ZEROCOPY;
	return flags;
}

static long call_fastopen(struct player *p, int fd)
{
	struct sockaddr_storage ss;
	socklen_t len, size;
	size_t n;
	char *buf = random_buf(p, &n);

	random_addr(p, fd, &ss, &len);
	size = len;
	if (one_in(p, 2)) {
		ss.ss_family = AF_UNSPEC;
		size = sizeof(struct sockaddr);
	}
	return sendto(fd, buf, n, random_flags(p) | MSG_FASTOPEN, (void *)&ss, size);
}

static long call_send(struct player *p, int fd)
{
	size_t n;
	char *buf = random_buf(p, &n);

	return send(fd, buf, n, random_flags(p));
}

static long call_sendmsg(struct player *p, int fd)
{
	struct iovec iov[3];
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 1 + below(p, 3) };

	for (size_t i = 0; i < m.msg_iovlen; i++)
		iov[i].iov_base = random_buf(p, &iov[i].iov_len);
	return sendmsg(fd, &m, random_flags(p));
}

static long call_recv(struct player *p, int fd)
{
	int flags = one_in(p, 6) ? 0 : MSG_DONTWAIT;
	size_t n;
	char *buf = random_buf(p, &n);

	if (one_in(p, 8))
		flags |= MSG_PEEK;
	if (one_in(p, 16))
		flags |= MSG_TRUNC;
	if (one_in(p, 16))
		flags |= MSG_WAITALL;
	if (one_in(p, 12))
		flags |= MSG_OOB;
	count_smc(fd);
	return recv(fd, buf, n, flags);
}

static long call_recv_errqueue(struct player *p, int fd)
{
	char control[256];
	struct msghdr m = { .msg_control = control, .msg_controllen = sizeof(control) };

	return recvmsg(fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT);
}

static void drain_pipe(struct player *p)
{
	while (read(p->pipe[0], p->buf, 8192) > 0)
		;
}

static long call_splice_in(struct player *p, int fd)
{
	long n = splice(fd, NULL, p->pipe[1], NULL, 1 + below(p, 6000),
			one_in(p, 6) ? SPLICE_F_MOVE : SPLICE_F_NONBLOCK);

	drain_pipe(p);
	return n;
}

static long call_splice_out(struct player *p, int fd)
{
	long n = write(p->pipe[1], p->buf, 1 + below(p, 6000));

	if (n > 0)
		n = splice(p->pipe[0], NULL, fd, NULL, n, one_in(p, 6) ? SPLICE_F_MORE :
			   SPLICE_F_NONBLOCK);
	drain_pipe(p);
	return n;
}

static long call_sendfile(struct player *p, int fd)
{
	off_t at = below(p, 4096);

	return sendfile(fd, shared.file, &at, 1 + below(p, 10000));
}

/* ---- looking ---- */

static long call_poll(struct player *p, int fd)
{
	struct pollfd pfd[2] = { { fd, POLLIN | POLLOUT | POLLPRI, 0 },
				 { any_slot(p), POLLIN | POLLRDHUP, 0 } };

	return poll(pfd, 1 + below(p, 2), below(p, 3));
}

static long call_epoll(struct player *p, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP, .data.fd = fd };

	if (one_in(p, 2))
		ev.events |= EPOLLET;
	if (one_in(p, 4))
		return epoll_ctl(p->epoll, EPOLL_CTL_DEL, fd, &ev);
	if (one_in(p, 4))
		return epoll_wait(p->epoll, &ev, 1, below(p, 3));
	return epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &ev);
}

static long call_ioctl(struct player *p, int fd)
{
	static const unsigned long commands[] = {
		FIONREAD, SIOCOUTQ, SIOCOUTQNSD, SIOCATMARK, FIONBIO,
	};
	int value = below(p, 2);

	return ioctl(fd, commands[below(p, sizeof(commands) / sizeof(commands[0]))], &value);
}

static long call_names(struct player *p, int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	return one_in(p, 2) ? getsockname(fd, (void *)&ss, &len) :
			      getpeername(fd, (void *)&ss, &len);
}

/* ---- ending ---- */

static long call_shutdown(struct player *p, int fd)
{
	return shutdown(fd, below(p, 3));
}

static long call_close(struct player *p, int fd)
{
	return close(fd);
}

/* Passes a socket to another process, or receives one into a slot. */
static long call_pass(struct player *p, int fd)
{
	union { char b[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control;
	char c = 0;
	struct iovec iov = { &c, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.b,
			    .msg_controllen = sizeof(control.b) };
	struct cmsghdr *cmsg = &control.align;
	int got;

	if (one_in(p, 2)) {
		*cmsg = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
					  .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
		return sendmsg(shared.pass, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	if (recvmsg(shared.take, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
		return -1;
	if (!CMSG_FIRSTHDR(&m))
		return -1;
	memcpy(&got, CMSG_DATA(cmsg), sizeof(got));
	return settle(got, fd);
}

/* ---- choice ---- */

static const struct call calls[] = {
	{ "socket, dup2", 10, call_make },
	{ "socket, bind, listen, dup2", 8, call_make_listener },
	{ "socket, connect, dup2", 8, call_make_client },
	{ "a connection into two slots", 8, call_make_pair },
	{ "bind", 6, call_bind },
	{ "listen", 14, call_listen },
	{ "connect", 10, call_connect },
	{ "connect(AF_UNSPEC)", 10, call_disconnect },
	{ "accept4", 16, call_accept },
	{ "sendto(MSG_FASTOPEN)", 12, call_fastopen },
	{ "send", 10, call_send },
	{ "sendmsg", 4, call_sendmsg },
	{ "recv", 10, call_recv },
	{ "recvmsg(MSG_ERRQUEUE)", 2, call_recv_errqueue },
	{ "splice from a socket", 2, call_splice_in },
	{ "splice to a socket", 2, call_splice_out },
	{ "sendfile", 2, call_sendfile },
	{ "poll", 3, call_poll },
	{ "epoll", 4, call_epoll },
	{ "ioctl", 3, call_ioctl },
	{ "getsockname, getpeername", 2, call_names },
	{ "shutdown", 6, call_shutdown },
	{ "close", 3, call_close },
	{ "SCM_RIGHTS", 4, call_pass },
	{ NULL, 0, NULL }
};

static const struct call *pick(const struct call *list, unsigned int *at)
{
	for (; list->name; list++) {
		if (*at < list->weight)
			return list;
		*at -= list->weight;
	}
	return NULL;
}

static unsigned int sum(const struct call *list)
{
	unsigned int all = 0;

	for (; list->name; list++)
		all += list->weight;
	return all;
}

void stress_one(struct player *p)
{
	unsigned int at = below(p, sum(calls) + sum(stress_option_calls));
	const struct call *c = pick(calls, &at) ?: pick(stress_option_calls, &at);

	p->place->call = c->name;
	p->place->calls++;
	if (c->run(p, any_slot(p)) < 0)
		board->failed++;
	else
		board->succeeded++;
}
