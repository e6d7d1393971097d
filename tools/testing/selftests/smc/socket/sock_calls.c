// SPDX-License-Identifier: GPL-2.0
/*
 * All commands of fcntl(), all ioctls of sockets, all flags and all control messages: over SMC they
 * return what they return over TCP.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "role.h"

#define N(array)	(sizeof(array) / sizeof((array)[0]))

/* The headers of this machine may be older than the kernel. */
#ifndef F_GETOWNER_UIDS
#define F_GETOWNER_UIDS	17
#endif
#ifndef F_DUPFD_QUERY
#define F_DUPFD_QUERY	1027
#endif
#ifndef F_CREATED_QUERY
#define F_CREATED_QUERY	1028
#endif
#ifndef SIOCGSKNS
#define SIOCGSKNS	0x894c
#endif
#ifndef SCM_SECURITY
#define SCM_SECURITY	3
#endif
#ifndef SCM_PIDFD
#define SCM_PIDFD	4
#endif
#ifndef SCM_TXTIME
#define SCM_TXTIME	61
#endif
#ifndef SCM_DEVMEM_DMABUF
#define SCM_DEVMEM_DMABUF 79
#endif
#ifndef SCM_TS_OPT_ID
#define SCM_TS_OPT_ID	81
#endif
/* Of level SOL_SOCKET, like the options of the same numbers */
#define SCM_MARK	36
#define SCM_PRIORITY	12
#define SCM_DONTNEED	80

/* ---- fcntl() ---- */

/* Commands for files and pipes are in between; a socket refuses them. */
static void each_fcntl(int fd)
{
	static const struct { int first, last; } ranges[] = { { 0, 17 }, { 36, 38 }, { 1024, 1045 } };
	long space[16], rc;

	for (size_t i = 0; i < N(ranges); i++) {
		for (int cmd = ranges[i].first; cmd <= ranges[i].last; cmd++) {
			if (cmd == F_SETFL || cmd == F_SETOWN || cmd == F_GETOWN)
				continue;
			memset(space, 0, sizeof(space));
			rc = fcntl(fd, cmd, cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC ? 100L : (long)space);
			rec("fcntl %d %s", cmd, rc < 0 ? err_name(errno) : "ok");
			if (rc >= 100 && rc < 1000 && (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC))
				close(rc);
		}
	}
}

static void fcntl_all(void)
{
	struct f_owner_ex owner = { F_OWNER_TID, this_tid() }, is = { 0 };
	uid_t uids[2] = { 1, 1 };
	int fd = pair(), copy;

	each_fcntl(fd);
	copy = X(fcntl(fd, F_DUPFD, 0));
	R(fcntl(copy, F_GETFD));
	R(fcntl(copy, F_SETFD, FD_CLOEXEC));
	R(fcntl(copy, F_GETFD));
	R(fcntl(fd, F_DUPFD_QUERY, copy));
	R(fcntl(fd, F_DUPFD_QUERY, me.ctl));
	R(fcntl(fd, F_CREATED_QUERY, 0));
	R(fcntl(fd, F_SETFL, O_NONBLOCK | O_APPEND));
	R(fcntl(fd, F_GETFL));
	R(fcntl(fd, F_SETFL, 0));
	R(fcntl(fd, F_GETFL));
	R(fcntl(fd, F_SETSIG, SIGUSR1));
	R(fcntl(fd, F_GETSIG) == SIGUSR1);
	R(fcntl(fd, F_SETSIG, 1000));
	R(fcntl(fd, F_SETOWN_EX, &owner));
	R(fcntl(fd, F_GETOWN_EX, &is));
	CHECK(is.type == F_OWNER_TID && is.pid == this_tid());
	R(fcntl(fd, F_GETOWNER_UIDS, uids));
	rec("uids %d %d", uids[0], uids[1]);
	R(fcntl(fd, F_SETOWN, 0));
	R(fcntl(fd, F_GETOWN));
	close(copy);
	barrier("tried");
	ping_pong(fd);
	barrier("done");
}

/* ---- ioctl() ---- */

static ino_t inode(int fd)
{
	struct stat st;

	X(fstat(fd, &st));
	return st.st_ino;
}

static void namespace_of(int fd)
{
	int ns = R(ioctl(fd, SIOCGSKNS) >= 0) ? ioctl(fd, SIOCGSKNS) : -1;
	int own = X(open("/proc/self/ns/net", O_RDONLY));

	if (ns >= 0)
		rec("%s namespace", inode(ns) == inode(own) ? "this" : "another");
	close(ns);
	close(own);
}

static void owner_of(int fd)
{
	int pid = getpid(), on = 1, is = 0;

	R(ioctl(fd, FIOSETOWN, &pid));
	R(ioctl(fd, FIOGETOWN, &is));
	CHECK(is == pid);
	pid = -pid;
	R(ioctl(fd, SIOCSPGRP, &pid));
	is = 0;
	R(ioctl(fd, SIOCGPGRP, &is) < 0 ? is : 0);
	pid = 0;
	R(ioctl(fd, FIOSETOWN, &pid));
	R(ioctl(fd, FIOASYNC, &on));
	R(fcntl(fd, F_GETFL) & O_ASYNC);
	on = 0;
	R(ioctl(fd, FIOASYNC, &on));
	R(fcntl(fd, F_GETFL) & O_ASYNC);
	R(ioctl(fd, FIOCLEX));
	R(fcntl(fd, F_GETFD));
	R(ioctl(fd, FIONCLEX));
	R(ioctl(fd, FIOQSIZE, &is));
}

static void ioctl_all(void)
{
	char space[256];
	int fd = pair();
	struct timeval tv;
	struct timespec ts;

	owner_of(fd);
	namespace_of(fd);
	ping_pong(fd);
	R(ioctl(fd, SIOCGSTAMP_OLD, &tv));
	R(ioctl(fd, SIOCGSTAMP_OLD, NULL));
	R(ioctl(fd, SIOCGSTAMPNS_OLD, &ts));
	/* SIOCPROTOPRIVATE and SIOCDEVPRIVATE */
	for (int cmd = 0x89e0; cmd < 0x8a00; cmd++) {
		memset(space, 0, sizeof(space));
		rec("ioctl %x %s", cmd, ioctl(fd, cmd, space) < 0 ? err_name(errno) : "ok");
	}
	barrier("tried");
	ping_pong(fd);
	barrier("done");
}

/* ---- flags ---- */

/*
 * Bits that the calls interpret; that have no effect on a stream (MSG_DONTROUTE, MSG_EOR,
 * MSG_CONFIRM) or on calls for one message (MSG_WAITFORONE, MSG_BATCH); that are the kernel's own
 * (MSG_SYN, MSG_FIN, MSG_RST); and unused ones.
 */
static void flags_all_server(void)
{
	int fd = pair(), held = 0;
	char c;

	send_bytes(fd, 0, 100, 100);
	barrier("sent");
	barrier("received");
	for (int bit = 0; bit < 32; bit++) {
		ssize_t n = send(fd, "x", 1, 1u << bit | MSG_NOSIGNAL | MSG_DONTWAIT);

		if (1u << bit == MSG_OOB)
			continue;
		rec("send with bit %d: %s", bit, n < 0 ? err_name(errno) : "ok");
		held += n > 0;
	}
	ctl_put(held);
	barrier("done");
	R(recv(fd, &c, 1, 0));
}

static void flags_all_client(void)
{
	char buf[40];
	int fd = pair(), held, n;

	barrier("sent");
	await_inq(fd, 100);
	for (int bit = 0; bit < 32; bit++) {
		n = recv(fd, buf, 2, 1u << bit | MSG_DONTWAIT);
		rec("receive with bit %d: %s %d", bit, n < 0 ? err_name(errno) : "ok", n);
	}
	R(ask(fd, SIOCINQ));
	while (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
	barrier("received");
	/* The urgent byte is not part of the stream. */
	held = ctl_get();
	for (int got = 0; got < held; got += n)
		n = X(recv(fd, buf, 1, 0));
	R(recv(fd, buf, 1, MSG_DONTWAIT));
	barrier("done");
	close(fd);
}

/* ---- control messages of sendmsg() ---- */

static const struct { int level, type; } messages[] = {
	{ SOL_SOCKET, SCM_RIGHTS }, { SOL_SOCKET, SCM_CREDENTIALS }, { SOL_SOCKET, SCM_SECURITY },
	{ SOL_SOCKET, SCM_PIDFD }, { SOL_SOCKET, SCM_TIMESTAMP }, { SOL_SOCKET, SCM_TIMESTAMPNS },
	{ SOL_SOCKET, SCM_TIMESTAMPING }, { SOL_SOCKET, SCM_TIMESTAMPING_OPT_STATS },
	{ SOL_SOCKET, SCM_TIMESTAMPING_PKTINFO }, { SOL_SOCKET, SCM_TXTIME },
	{ SOL_SOCKET, SCM_DEVMEM_DMABUF }, { SOL_SOCKET, SCM_TS_OPT_ID }, { SOL_SOCKET, SCM_MARK }, { SOL_SOCKET, SCM_PRIORITY },
	{ SOL_SOCKET, SCM_DONTNEED }, { SOL_SOCKET, 200 }, { IPPROTO_TCP, TCP_CM_INQ },
	{ IPPROTO_IP, IP_TTL }, { IPPROTO_IP, IP_PKTINFO }, { IPPROTO_IPV6, IPV6_HOPLIMIT },
	{ SOL_SMC, SMC_SOCK_INFO }, { 77, 1 },
};

/* Control data of @len bytes that are all 0; -1 stands for a header that is cut short. */
static ssize_t send_with(int fd, int level, int type, int len)
{
	char ctl[CMSG_SPACE(64)] = "";
	struct iovec iov = { "x", 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = ctl,
			      .msg_controllen = len < 0 ? sizeof(struct cmsghdr) - 1 : CMSG_SPACE(len) };
	struct cmsghdr *cm = (void *)ctl;

	cm->cmsg_len = CMSG_LEN(len);
	cm->cmsg_level = level;
	cm->cmsg_type = type;
	return sendmsg(fd, &msg, MSG_DONTWAIT);
}

static void cmsg_all_client(void)
{
	static const int lens[] = { 0, 1, 4, 8, 12, 64, -1 };
	int fd = pair();

	for (size_t i = 0; i < N(messages); i++) {
		for (size_t j = 0; j < N(lens); j++) {
			ssize_t n = send_with(fd, messages[i].level, messages[i].type, lens[j]);

			rec("%d/%d, %d bytes: %s", messages[i].level, messages[i].type, lens[j],
			    n < 0 ? err_name(errno) : "ok");
		}
	}
	R(shutdown(fd, SHUT_WR));
	barrier("done");
}

static void cmsg_all_server(void)
{
	char ctl[256], buf[200];
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fd = pair();
	size_t total = 0;
	ssize_t n;

	do {
		msg.msg_control = ctl;
		msg.msg_controllen = sizeof(ctl);
		n = X(recvmsg(fd, &msg, 0));
		CHECK(!msg.msg_controllen && !(msg.msg_flags & MSG_CTRUNC));
		total += n;
	} while (n);
	rec("%zu bytes", total);
	barrier("done");
}

const struct test_case calls_cases[] = {
	BOTH(fcntl_all, F_HERE, "all commands of fcntl()"),
	BOTH(ioctl_all, F_ROOT | F_HERE, "all ioctls of sockets"),
	CASE(flags_all, 0, "all bits of the flags of send() and recv()"),
	CASE(cmsg_all, 0, "all control messages of sendmsg()"),
	{ 0 }
};
