// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_MD5SIG keys that are set late (L8 of the audit). Traffic that a key protects must never use
 * SMC. Once SMC has been offered, setting a key fails; a connection that begins at the same time
 * becomes TCP; a child that inherits a key declines.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/smc_reason.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest.h"
#include "klog_result.h"
#include "role.h"
#include "raw_peer.h"
#include "task_state.h"
#include "trap.h"

static struct smc_sock_info_u info_of(int fd)
{
	struct smc_sock_info_u info = { .mode = MODE_TCP };
	socklen_t len = sizeof(info);

	getsockopt(fd, SOL_SMC, SMC_SOCK_INFO, &info, &len);
	return info;
}

/* Sets a key for the other end, which is on loopback. Returns 0 or the errno. */
static int set_key(int fd, bool ipv6)
{
	struct tcp_md5sig md5 = { .tcpm_keylen = 6, .tcpm_key = "secret" };

	if (ipv6) {
		struct sockaddr_in6 a = { .sin6_family = AF_INET6,
					  .sin6_addr = IN6ADDR_LOOPBACK_INIT };

		memcpy(&md5.tcpm_addr, &a, sizeof(a));
	} else {
		struct sockaddr_in a = { .sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

		memcpy(&md5.tcpm_addr, &a, sizeof(a));
	}
	return setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &md5, sizeof(md5)) < 0 ? errno : 0;
}

static bool talks(int c, int s)
{
	char buf[4];

	return send(c, "ping", 4, MSG_NOSIGNAL) == 4 && wait_mask(s, POLLIN, WAIT_MS) & POLLIN &&
	       recv(s, buf, 4, MSG_DONTWAIT) == 4 && !memcmp(buf, "ping", 4);
}

/* ---- on a connection ---- */

static bool refused_when_up(bool ipv6)
{
	struct sockaddr_in6 a = { .sin6_family = ipv6 ? AF_INET6 : AF_INET };
	socklen_t len = ipv6 ? sizeof(a) : sizeof(struct sockaddr_in);
	int l = socket(a.sin6_family, SOCK_STREAM, IPPROTO_SMC), c, s, none = 0;
	bool ok;

	if (ipv6)
		a.sin6_addr = in6addr_loopback;
	else
		((struct sockaddr_in *)&a)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	c = socket(a.sin6_family, SOCK_STREAM, IPPROTO_SMC);
	if (bind(l, (void *)&a, len) < 0 || listen(l, 4) < 0 ||
	    getsockname(l, (void *)&a, &len) < 0 || connect(c, (void *)&a, len) < 0)
		give_up("cannot connect");
	s = accept_in_time(l);
	ok = info_of(c).mode == MODE_SMCD && set_key(c, ipv6) == EISCONN &&
	     set_key(s, ipv6) == EISCONN && talks(c, s) && talks(s, c);
	/* A key is allowed again after a disconnect. */
	a.sin6_family = AF_UNSPEC;
	ok = ok && !connect(c, (void *)&a, sizeof(a)) && !set_key(c, ipv6) &&
	     /* TCP itself still refuses an invalid key. */
	     setsockopt(c, IPPROTO_TCP, TCP_MD5SIG, &none, sizeof(none)) < 0 && errno == EINVAL;
	close(c);
	close(s);
	close(l);
	return ok;
}

/* The TCP connection is established, and the Proposal has been sent. */
static bool refused_in_handshake(void)
{
	int port, l = raw_listen(&port), c = victim_connect(port), s = accept_in_time(l);
	struct message m;
	bool ok = get_message(s, &m, WAIT_MS) == GOT_PROPOSAL && set_key(c, false) == EISCONN;

	close(c);
	close(s);
	close(l);
	return ok;
}

/* The SYN gets no answer: the queue is full. */
static bool refused_while_connecting(void)
{
	enum { MANY = 8 };
	int port, l = raw_listen(&port), c[MANY], connecting = 0;
	struct tcp_info info;
	bool ok = true;

	listen(l, 0);
	for (int i = 0; i < MANY; i++) {
		socklen_t len = sizeof(info);

		c[i] = victim_connect(port);
		if (getsockopt(c[i], IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
			give_up("TCP_INFO");
		connecting += info.tcpi_state == TCP_SYN_SENT;
		ok = ok && set_key(c[i], false) == EISCONN;
	}
	for (int i = 0; i < MANY; i++)
		close(c[i]);
	close(l);
	return ok && connecting;
}

/* ---- at the same time as connect() ---- */

struct call {
	pthread_t thread;
	int fd, port;
	int result;		/* 0 or an errno */
	pid_t tid;
};

static void *call_connect(void *arg)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct call *c = arg;

	a.sin_port = htons(c->port);
	__atomic_store_n(&c->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	c->result = connect(c->fd, (void *)&a, sizeof(a)) < 0 ? errno : 0;
	return NULL;
}

static void *call_set_key(void *arg)
{
	struct call *c = arg;

	__atomic_store_n(&c->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	c->result = set_key(c->fd, false);
	return NULL;
}

/* Holds the socket's lock until the page is supplied. */
static void *call_hold(void *arg)
{
	struct call *c = arg;

	setsockopt(c->fd, IPPROTO_IP, 4 /* IP_OPTIONS */, trap_page(), 4);
	return NULL;
}

static void begin(struct call *c, void *(*call)(void *), int fd, int port)
{
	*c = (struct call){ .fd = fd, .port = port };
	if (pthread_create(&c->thread, NULL, call, c))
		give_up("pthread_create");
}

static bool waits(const struct call *c)
{
	pid_t tid = __atomic_load_n(&c->tid, __ATOMIC_ACQUIRE);

	return tid && task_state(getpid(), tid) == WAITS_FOR_LOCK;
}

/* Both threads wait for the lock of one socket, in this order. */
static bool either(int l, int port, bool key_first)
{
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SMC), s;
	struct call holder, connecting, setting, *first, *second;
	struct smc_sock_info_u info = { };
	bool ok;

	first = key_first ? &setting : &connecting;
	second = key_first ? &connecting : &setting;
	trap_again();
	begin(&holder, call_hold, fd, 0);
	trap_await(1);
	begin(first, key_first ? call_set_key : call_connect, fd, port);
	AWAIT(waits(first));
	begin(second, key_first ? call_connect : call_set_key, fd, port);
	AWAIT(waits(second));
	trap_open();
	pthread_join(holder.thread, NULL);
	pthread_join(setting.thread, NULL);
	/* The listener has no key and does not answer a signed SYN. */
	if (!setting.result) {
		AWAIT((info = info_of(fd)).mode != MODE_UNDECIDED);
		shutdown(fd, SHUT_RDWR);
	}
	pthread_join(connecting.thread, NULL);
	if (!setting.result) {
		/* It may even be connected: the SYN was sent before the key was set. */
		ok = info.mode == MODE_TCP && info.reason == SMC_REASON_SIGNED;
	} else {
		info = info_of(fd);
		s = accept_in_time(l);
		ok = setting.result == EISCONN && !connecting.result && info.mode == MODE_SMCD &&
		     talks(fd, s);
		close(s);
	}
	if (!ok)
		ksft_print_msg("connect() %d, setsockopt() %d, mode %u, reason %x\n",
			       connecting.result, setting.result, info.mode, info.reason);
	close(fd);
	return ok;
}

/* ---- a child that inherits one ---- */

static void record_proposal(struct message *proposal)
{
	int port, l = raw_listen(&port), c = victim_connect(port), s = accept_in_time(l);

	if (get_message(s, proposal, WAIT_MS) != GOT_PROPOSAL)
		give_up("no Proposal");
	close(c);
	close(s);
	close(l);
}

/* The listener gets the key after it has answered the SYN, and before the child exists. */
static bool child_declines(void)
{
	int port, l = victim_listen(&port), c, s, defer = 600;
	struct message proposal, m;
	struct smc_sock_info_u info;
	bool ok;

	record_proposal(&proposal);
	if (setsockopt(l, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof(defer)) < 0)
		give_up("TCP_DEFER_ACCEPT");
	c = raw_connect(port);
	if (set_key(l, false) || set_key(c, false))
		give_up("TCP_MD5SIG");
	put_bytes(c, proposal.b, proposal.len);
	ok = get_message(c, &m, WAIT_MS) == GOT_DECLINE;
	/* A Decline is no data. */
	defer = 0;
	if (setsockopt(l, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof(defer)) < 0)
		give_up("TCP_DEFER_ACCEPT");
	s = accept_in_time(l);
	info = info_of(s);
	ok = ok && info.mode == MODE_TCP && info.reason == SMC_REASON_SIGNED && talks(c, s);
	close(c);
	close(s);
	close(l);
	return ok;
}

int main(void)
{
	int l, port;

	ksft_print_header();
	if (!raw_available())
		ksft_exit_skip("no test build of smc.ko is loaded\n");
	if (!trap_set())
		ksft_exit_skip("no userfaultfd\n");
	ksft_set_plan(7);
	klog_open();
	l = victim_listen(&port);
	klog_result(refused_when_up(false),
		    "a key for an established SMC connection fails with EISCONN");
	klog_result(refused_when_up(true),
		    "a key for an established SMC connection over IPv6 fails with EISCONN");
	klog_result(refused_in_handshake(), "a key set during the handshake");
	klog_result(refused_while_connecting(), "a key set while the SYN waits for an answer");
	klog_result(either(l, port, false), "connect() comes just before the key");
	klog_result(either(l, port, true), "the key comes just before connect()");
	klog_result(child_declines(), "a child that inherits a key declines");
	close(l);
	ksft_finished();
}
