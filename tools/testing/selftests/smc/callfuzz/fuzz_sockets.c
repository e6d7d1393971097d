// SPDX-License-Identifier: GPL-2.0
/* The calls that create, connect and end sockets. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <linux/genetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <time.h>
#include <unistd.h>

#include "surface.h"
#include "call_fuzz.h"
#include "loopback_up.h"

#define SOL_SMC		286
#define SMC_TEST_ECHO	0x201
#define LONGEST		1000	/* of the buffers of a compared call: all that is sent must fit */

struct setting setting = { .addr = INADDR_LOOPBACK, .first_port = 20000 };
__thread char *buf;
__thread int pipe_fd[2], epoll_fd;

long into_slot(int fd, unsigned int slot)
{
	long rc;

	if (fd < 0)
		return -1;
	rc = dup2(fd, slot_fd(slot));
	close(fd);
	return rc;
}

/* Creates a socket that can be SMC, or a plain TCP socket. */
int make_socket(uint32_t kind, int flags)
{
	bool tcp = kind % 8 == 7;
	const struct surface_socket *s =
		&surface_sockets[(tcp ? kind >> 3 : kind) % surface_n_sockets];
	struct timeval patience = { .tv_usec = 700000 };
	int prompt = setting.prompt, fd;

	tcp |= setting.tcp;
	fd = socket(tcp ? s->ip : s->family, SOCK_STREAM | SOCK_CLOEXEC | flags,
		    tcp ? IPPROTO_TCP : s->protocol);
	if (setting.compared) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &prompt, sizeof(prompt));
	}
	return fd;
}

static int port_of(int fd)
{
	struct sockaddr_in6 in6 = { .sin6_port = 0 };	/* same port offset as in IPv4 */
	socklen_t len = sizeof(in6);

	getsockname(fd, (void *)&in6, &len);
	return ntohs(in6.sin6_port);
}

static in_addr_t address_of_ipv4(uint32_t number)
{
	switch (number % 16) {
	case 0: return INADDR_ANY;
	case 1: return INADDR_LOOPBACK + 1;
	case 2: return 0x0a0a0a0a;		/* no route */
	case 3: return 0xe0000001;		/* a multicast group */
	default: return setting.addr;
	}
}

/* Mostly of the socket's family; with the port of a slot's listener, or a fixed one. */
socklen_t make_address(uint32_t number, int fd, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *in6 = (void *)ss;
	struct sockaddr_in *in = (void *)ss;
	uint32_t v4 = htonl(address_of_ipv4(number >> 8));
	int port = number & 16 ? setting.first_port + (int)(number % PORTS) : port_of(slot_fd(number));
	struct sockaddr_storage name = { .ss_family = AF_INET };
	socklen_t len = sizeof(name);

	getsockname(fd, (void *)&name, &len);
	memset(ss, 0, sizeof(*ss));
	if (number >> 20 & 1 && !(number >> 21 & 7))
		name.ss_family = number >> 24;
	if (name.ss_family != AF_INET6) {
		in->sin_family = name.ss_family == AF_UNSPEC ? AF_INET : name.ss_family;
		in->sin_port = htons(port);
		in->sin_addr.s_addr = v4;
		return sizeof(*in);
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	if (number >> 16 & 1 && setting.addr == INADDR_LOOPBACK) {
		in6->sin6_addr = number >> 8 & 15 ? in6addr_loopback : in6addr_any;
	} else {
		in6->sin6_addr.s6_addr[10] = in6->sin6_addr.s6_addr[11] = 0xff;
		memcpy(in6->sin6_addr.s6_addr + 12, &v4, 4);
	}
	return sizeof(*in6);
}

/* Memory to send from or receive into: fully mapped, partly mapped, or unmapped. */
char *make_buffer(uint32_t number, size_t *len)
{
	static const size_t sizes[] = {
		1, 17, 100, 1000, 4096, 16384, 16385, 65536, 3, 8, 0, BUF_SIZE, 1, 17, 2000, 40000,
	};
	uint32_t how = number >> 8 & 31;

	*len = ITEM(sizes, number);
	if (setting.compared) {
		if (*len > LONGEST)
			*len = LONGEST - *len % 7;
		for (size_t i = 0; i < *len; i++)
			buf[i] = number + i;
		return buf;
	}
	if (how == 0)
		return buf + BUF_SIZE - *len / 2;	/* beyond this, access faults */
	if (how == 1)
		return NULL;
	return how == 2 ? buf + BUF_SIZE - *len : buf;
}

/* ---- creation ---- */

static long run_socket(const struct step *s)
{
	return into_slot(make_socket(s->arg[0], s->arg[1] & 3 ? SOCK_NONBLOCK : 0), s->slot);
}

static void prepare(int fd, uint32_t options)
{
	if (setting.compared)
		options = 0;
	struct timeval second = { .tv_sec = 1 };
	int one = 1, small = 16384;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
	if (options & 1)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	if (options & 2)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
}

static int make_listener(uint32_t kind, uint32_t options, struct sockaddr_storage *ss,
			 socklen_t *len)
{
	int fd = make_socket(kind, 0);

	if (fd < 0)
		return -1;
	prepare(fd, options);
	make_address(0x400, fd, ss);
	((struct sockaddr_in *)ss)->sin_port = 0;
	*len = sizeof(*ss);
	if (bind(fd, (void *)ss, ss->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
		 sizeof(struct sockaddr_in6)) || listen(fd, 4) || getsockname(fd, (void *)ss, len)) {
		close(fd);
		return -1;
	}
	return fd;
}

static long run_listener(const struct step *s)
{
	struct sockaddr_storage ss;
	socklen_t len;

	return into_slot(make_listener(s->arg[0], s->arg[1], &ss, &len), s->slot);
}

/* A listener, its client and the child; usually client and listener are of one kind. */
static bool make_pair(const struct step *s, int *client, int *child)
{
	uint32_t kind = s->arg[0];
	struct sockaddr_storage ss;
	socklen_t len;
	int l;

	l = make_listener(kind, s->arg[1], &ss, &len);
	if (l < 0)
		return false;
	*client = make_socket(s->arg[2] & 15 ? kind : s->arg[3], 0);
	*child = -1;
	prepare(*client, s->arg[1] >> 2);
	if (!connect(*client, (void *)&ss, len))
		*child = accept4(l, NULL, NULL, SOCK_CLOEXEC);
	close(l);
	if (*child < 0) {
		close(*client);
		return false;
	}
	count_smc(*child);
	return true;
}

static long run_pair(const struct step *s)
{
	int client, child;

	if (!make_pair(s, &client, &child))
		return -1;
	into_slot(client, s->slot);
	return into_slot(child, s->other);
}

/* With TCP_REPAIR a client closes without a packet, which only keepalive can notice. */
static void keep_alive(int fd)
{
	int one = 1, idle = 5;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &one, sizeof(one));
}

/*
 * A connection with an echo server in the kernel at the other end. It ends with the stream, and
 * nothing else can access it. It cannot begin before the handshake is complete.
 */
static long run_echo(const struct step *s)
{
	const struct timespec moment = { 0, 1000000 };
	int client, child, on = 1;

	if (!make_pair(s, &client, &child))
		return -1;
	keep_alive(child);
	for (int i = 0; i < 10; i++) {
		if (!setsockopt(child, SOL_SMC, SMC_TEST_ECHO, &on, sizeof(on)) ||
		    errno != EBUSY)
			break;
		nanosleep(&moment, NULL);
	}
	close(child);
	return into_slot(client, s->slot);
}

static long run_bind(const struct step *s)
{
	struct sockaddr_storage ss;
	int fd = slot_fd(s->slot);
	socklen_t len = make_address(s->arg[0], fd, &ss);

	return bind(fd, (void *)&ss, s->arg[1] & 15 ? len : s->arg[2] % (len + 8));
}

static long run_listen(const struct step *s)
{
	return listen(slot_fd(s->slot), s->arg[0] & 1 ? 4 : s->arg[1]);
}

static long run_connect(const struct step *s)
{
	struct sockaddr_storage ss;
	int fd = slot_fd(s->slot);
	socklen_t len = make_address(s->arg[0], fd, &ss);

	return connect(fd, (void *)&ss, s->arg[1] & 15 ? len : s->arg[2] % (len + 8));
}

static bool is_any_v6(const struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET6 &&
	       IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)ss)->sin6_addr);
}

static long run_connect_to(const struct step *s)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getsockname(slot_fd(s->other), (void *)&ss, &len))
		return -1;
	/*
	 * The name of a socket that was disconnected from an IPv4 address, and has listened. TCP
	 * sends its SYN to [::1] over IPv4, and never gets an answer.
	 */
	if (setting.compared && is_any_v6(&ss))
		return -1;
	return connect(slot_fd(s->slot), (void *)&ss, len);
}

static long run_disconnect(const struct step *s)
{
	struct sockaddr sa = { .sa_family = AF_UNSPEC };

	return connect(slot_fd(s->slot), &sa, sizeof(sa));
}

static long run_accept(const struct step *s)
{
	struct sockaddr_storage ss;
	socklen_t len = s->arg[1] & 7 ? sizeof(ss) : s->arg[1];
	int fd = accept4(slot_fd(s->slot), s->arg[2] & 1 ? (void *)&ss : NULL, &len,
			 SOCK_CLOEXEC | (s->arg[0] & 1 ? SOCK_NONBLOCK : 0));

	if (fd >= 0) {
		count_smc(fd);
		note(s->arg[2] & 1 && len >= sizeof(ss.ss_family) ? ss.ss_family : 0);
		note(len);
	}
	return into_slot(fd, s->other);
}

/* ---- duplicates, names, flags ---- */

static long run_dup(const struct step *s)
{
	return dup2(slot_fd(s->slot), slot_fd(s->other));
}

static long run_names(const struct step *s)
{
	struct sockaddr_storage ss;
	socklen_t len = s->arg[1] & 3 ? sizeof(ss) : s->arg[2];

	long rc;

	memset(&ss, 0, sizeof(ss));
	if (s->arg[0] & 1)
		rc = getsockname(slot_fd(s->slot), (void *)&ss, &len);
	else
		rc = getpeername(slot_fd(s->slot), (void *)&ss, &len);
	note(len);
	note(ss.ss_family);
	return rc;
}

static long run_fcntl(const struct step *s)
{
	static const int flags[] = { 0, O_NONBLOCK, O_ASYNC, O_NONBLOCK | O_ASYNC };
	int fd = slot_fd(s->slot);

	switch (s->arg[0] % 3) {
	case 0: return fcntl(fd, F_SETFL, ITEM(flags, s->arg[1]));
	case 1: return fcntl(fd, F_SETOWN, s->arg[1] & 1 ? getpid() : 0);
	default: return fcntl(fd, F_GETFL);
	}
}

/* In this state, SIOCOUTQ is about the distance to the next connection's sequence numbers. */
static bool is_closed(int fd)
{
	struct tcp_info info = { };
	socklen_t len = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) || info.tcpi_state == TCP_CLOSE;
}

static long run_ioctl(const struct step *s)
{
	static const unsigned long commands[] = {
		FIONREAD, SIOCOUTQ, SIOCOUTQNSD, SIOCATMARK, FIONBIO, SIOCINQ, FIOASYNC,
		SIOCGSTAMP_OLD, SIOCGIFCONF, SIOCGPGRP, 0x89ff, SIOCETHTOOL,
	};
	enum { SIZES = 6 };	/* the first ones write a number */
	unsigned int command = s->arg[0] % ARRAY_SIZE(commands);
	int fd = slot_fd(s->slot);
	char *where = s->arg[2] & 7 ? buf : buf + BUF_SIZE - (s->arg[2] >> 3 & 3);
	long rc;

	if (where == buf)
		memset(buf, s->arg[1] & 1, 64);
	rc = ioctl(fd, commands[command], where);
	if (!rc && where == buf && command < SIZES && !(setting.compared && is_closed(fd)))
		note(*(int *)buf);
	return rc;
}

/* ---- namespaces and time ---- */

/* The thread enters a namespace of its own, or returns; its sockets stay in theirs. */
static long run_namespace(const struct step *s)
{
	long rc;

	if (s->arg[0] & 1 || setting.devices)
		return setns(setting.home, CLONE_NEWNET);
	rc = unshare(CLONE_NEWNET);
	if (!rc && s->arg[1] & 3)
		loopback_up();
	return rc;
}

/* Lets pending works and timers run before the next step. */
static long run_nap(const struct step *s)
{
	static const long us[] = { 1, 100, 1000, 10000, 50000, 1000, 250000 };
	struct timespec ts = { 0, ITEM(us, s->arg[0]) * 1000 };

	return s->arg[1] & 3 ? nanosleep(&ts, NULL) : sched_yield();
}

/* ---- ending ---- */

static long run_shutdown(const struct step *s)
{
	return shutdown(slot_fd(s->slot), s->arg[0] & 7 ? s->arg[0] % 3 : s->arg[1]);
}

static long run_close(const struct step *s)
{
	return close(slot_fd(s->slot));
}

static long run_reset(const struct step *s)
{
	struct linger l = { 1, s->arg[0] & 1 ? s->arg[1] % 3 : 0 };

	setsockopt(slot_fd(s->slot), SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	return close(slot_fd(s->slot));
}

const struct call socket_calls[] = {
	{ "socket", 8, run_socket },
	{ "listener", 6, run_listener },
	{ "pair", 10, run_pair },
	{ "echo", 2, run_echo },
	{ "bind", 6, run_bind },
	{ "listen", 8, run_listen },
	{ "connect", 8, run_connect },
	{ "connect_to", 10, run_connect_to },
	{ "disconnect", 6, run_disconnect },
	{ "accept", 14, run_accept },
	{ "dup", 2, run_dup },
	{ "names", 2, run_names },
	{ "fcntl", 3, run_fcntl },
	{ "ioctl", 5, run_ioctl },
	{ "namespace", 2, run_namespace },
	{ "nap", 10, run_nap },
	{ "shutdown", 8, run_shutdown },
	{ "close", 6, run_close },
	{ "reset", 4, run_reset },
	{ NULL, 0, NULL }
};
