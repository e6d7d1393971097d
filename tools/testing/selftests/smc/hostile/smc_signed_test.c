// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_MD5SIG keys (L8 of the audit) and packet filters that are set late. Traffic that a key
 * protects, or that a filter is to see, must never use SMC. Once SMC has been offered, setting one
 * fails; a connection that begins at the same time becomes TCP; a child that inherits one declines.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
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
#include "sol_socket.h"
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

/* A filter that lets everything pass */
static int set_filter(int fd, bool ipv6)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, -1) };
	struct sock_fprog prog = { 1, code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog)) < 0 ? errno : 0;
}

/* What is set late */
struct late {
	const char *name;
	int (*set)(int fd, bool ipv6);
	int refusal;
	unsigned int reason;
	bool agreed;		/* both ends must set it, or they do not understand each other */
};

static const struct late key = { "a key", set_key, EISCONN, SMC_REASON_SIGNED, true };

static bool talks(int c, int s)
{
	char buf[4];

	return send(c, "ping", 4, MSG_NOSIGNAL) == 4 && wait_mask(s, POLLIN, WAIT_MS) & POLLIN &&
	       recv(s, buf, 4, MSG_DONTWAIT) == 4 && !memcmp(buf, "ping", 4);
}

/* ---- on a connection ---- */

static bool refused_when_up(const struct late *late, bool ipv6)
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
	ok = info_of(c).mode == MODE_SMCD && late->set(c, ipv6) == late->refusal &&
	     late->set(s, ipv6) == late->refusal && talks(c, s) && talks(s, c);
	/* It is allowed again after a disconnect. */
	a.sin6_family = AF_UNSPEC;
	ok = ok && !connect(c, (void *)&a, sizeof(a)) && !late->set(c, ipv6) &&
	     /* TCP itself still refuses an invalid key. */
	     setsockopt(c, IPPROTO_TCP, TCP_MD5SIG, &none, sizeof(none)) < 0 && errno == EINVAL;
	close(c);
	close(s);
	close(l);
	return ok;
}

/* The TCP connection is established, and the Proposal has been sent. */
static bool refused_in_handshake(const struct late *late)
{
	int port, l = raw_listen(&port), c = victim_connect(port), s = accept_in_time(l);
	struct message m;
	bool ok = get_message(s, &m, WAIT_MS) == GOT_PROPOSAL &&
		  late->set(c, false) == late->refusal;

	close(c);
	close(s);
	close(l);
	return ok;
}

/* The SYN gets no answer: the queue is full. */
static bool refused_while_connecting(const struct late *late)
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
		ok = ok && late->set(c[i], false) == late->refusal;
	}
	for (int i = 0; i < MANY; i++)
		close(c[i]);
	close(l);
	return ok && connecting;
}

/* ---- at the same time as connect() ---- */

struct call {
	pthread_t thread;
	const struct late *late;
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

static void *call_set(void *arg)
{
	struct call *c = arg;

	__atomic_store_n(&c->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	c->result = c->late->set(c->fd, false);
	return NULL;
}

/* Holds the socket's lock until the page is supplied. */
static void *call_hold(void *arg)
{
	struct call *c = arg;

	trap_hold(c->fd);
	return NULL;
}

static void begin(struct call *c, void *(*call)(void *), const struct late *late, int fd, int port)
{
	*c = (struct call){ .late = late, .fd = fd, .port = port };
	if (pthread_create(&c->thread, NULL, call, c))
		give_up("pthread_create");
}

static bool waits(const struct call *c)
{
	pid_t tid = __atomic_load_n(&c->tid, __ATOMIC_ACQUIRE);

	return tid && task_state(getpid(), tid) == WAITS_FOR_LOCK;
}

/* Both threads wait for the lock of one socket, in this order. */
static bool either(const struct late *late, int l, int port, bool option_first)
{
	int fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SMC), s;
	struct call holder, connecting, setting, *first, *second;
	struct smc_sock_info_u info = { };
	bool ok;

	first = option_first ? &setting : &connecting;
	second = option_first ? &connecting : &setting;
	trap_again();
	begin(&holder, call_hold, NULL, fd, 0);
	trap_await(1);
	begin(first, option_first ? call_set : call_connect, late, fd, port);
	AWAIT(waits(first));
	begin(second, option_first ? call_connect : call_set, late, fd, port);
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
		ok = info.mode == MODE_TCP && info.reason == late->reason;
		if (!late->agreed)
			close(accept_in_time(l));
	} else {
		info = info_of(fd);
		s = accept_in_time(l);
		ok = setting.result == late->refusal && !connecting.result && info.mode == MODE_SMCD &&
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

/* The listener gets it after it has answered the SYN, and before the child exists. */
static bool child_declines(const struct late *late)
{
	int port, l = victim_listen(&port), c, s, defer = 600;
	struct message proposal, m;
	struct smc_sock_info_u info;
	bool ok;

	record_proposal(&proposal);
	if (setsockopt(l, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof(defer)) < 0)
		give_up("TCP_DEFER_ACCEPT");
	c = raw_connect(port);
	if (late->set(l, false) || (late->agreed && late->set(c, false)))
		give_up("%s", late->name);
	put_bytes(c, proposal.b, proposal.len);
	ok = get_message(c, &m, WAIT_MS) == GOT_DECLINE;
	/* A Decline is no data. */
	defer = 0;
	if (setsockopt(l, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof(defer)) < 0)
		give_up("TCP_DEFER_ACCEPT");
	s = accept_in_time(l);
	info = info_of(s);
	ok = ok && info.mode == MODE_TCP && info.reason == late->reason && talks(c, s);
	close(c);
	close(s);
	close(l);
	return ok;
}

/* @what names the option at "%s". */
static void judge(bool ok, const char *what, const struct late *late)
{
	char name[100];

	snprintf(name, sizeof(name), what, late->name);
	klog_result(ok, name);
}

static void test(const struct late *late, int l, int port)
{
	judge(refused_when_up(late, false), "%s for an established SMC connection fails", late);
	judge(refused_when_up(late, true),
	      "%s for an established SMC connection over IPv6 fails", late);
	judge(refused_in_handshake(late), "%s set during the handshake", late);
	judge(refused_while_connecting(late), "%s set while the SYN waits for an answer", late);
	judge(either(late, l, port, false), "connect() comes just before %s", late);
	judge(either(late, l, port, true), "%s comes just before connect()", late);
	judge(child_declines(late), "a child that inherits %s declines", late);
}

int main(void)
{
	const struct late filter = {
		"a filter", set_filter, late_filter_errno(), SMC_REASON_PACKET_OPTION, false
	};
	int l, port;

	ksft_print_header();
	if (!raw_available())
		ksft_exit_skip("no test build of smc.ko is loaded\n");
	if (!trap_set())
		ksft_exit_skip("no userfaultfd\n");
	ksft_set_plan(14);
	klog_open();
	l = victim_listen(&port);
	test(&key, l, port);
	test(&filter, l, port);
	close(l);
	ksft_finished();
}
