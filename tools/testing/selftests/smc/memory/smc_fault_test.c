// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations fail: the first one of a call, the second one, and so on until the call succeeds
 * (/proc/thread-self/fail-nth), for every call in the life of a connection; then at random in
 * everything the test and the workers do. The only results may be an errno or a fallback, and a
 * later connection must be SMC.
 *
 *   smc_fault_test [--rdma]
 *
 * --rdma: over SMC-R, between the two devices of vm/rxe_pair. In this case the random failures hit
 * allocations by the module, or on its behalf, in any context.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "kselftest.h"
#include "klog_result.h"
#include "role.h"
#include "put_file.h"
#include "raw_peer.h"
#include "slow.h"

#define DEBUGFS		"/sys/kernel/debug/"
#define MAX_NTH		400
#define STR2(x)		#x
#define STR(x)		STR2(x)

static char why[300];

static void result(bool ok, const char *name)
{
	if (!ok && why[0])
		ksft_print_msg("%s\n", why);
	why[0] = 0;
	klog_result(ok, name);
}

/* ---- fail the n-th allocation of this thread ---- */

static int nth_fd = -1;

static void arm(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	if (pwrite(nth_fd, text, len, 0) != len)
		give_up("fail-nth");
}

/* Returns whether the failure has happened. */
static bool disarm(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		give_up("fail-nth");
	arm(0);
	return atoi(text) == 0;
}

/* ---- the calls ---- */

static int l, port;			/* a listener without failures */
static in_addr_t host = INADDR_LOOPBACK;
static bool rdma;

struct state {
	int c, s;
	struct sockaddr_in a;
};

static int patience = 20;		/* seconds that a call may block, times SMC_SLOW */

static int tame(int fd)
{
	struct timeval tv = { slow(patience), 0 };

	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	}
	return fd;
}

static int new_socket(void)
{
	return tame(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SMC));
}

static bool connected(struct state *st)
{
	st->c = new_socket();
	st->a = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port),
				      .sin_addr.s_addr = htonl(host) };
	if (st->c < 0 || connect(st->c, (void *)&st->a, sizeof(st->a)) < 0)
		return false;
	st->s = tame(accept4(l, NULL, NULL, SOCK_CLOEXEC));
	return st->s >= 0;
}

static char data[200000];

static int call_socket(struct state *st)
{
	st->c = new_socket();
	return st->c < 0 ? -1 : 0;
}

static int call_af_smc(struct state *st)
{
	st->c = socket(AF_SMC, SOCK_STREAM | SOCK_CLOEXEC, 1);
	return st->c < 0 ? -1 : 0;
}

static int call_listen(struct state *st)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	if (bind(st->c, (void *)&a, sizeof(a)) < 0)
		return -1;
	return listen(st->c, 5);
}

static int call_connect(struct state *st)
{
	return connect(st->c, (void *)&st->a, sizeof(st->a));
}

static int call_accept(struct state *st)
{
	st->s = tame(accept4(l, NULL, NULL, SOCK_CLOEXEC));
	return st->s < 0 ? -1 : 0;
}

static int call_send(struct state *st)
{
	return send(st->c, data, sizeof(data), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1 : 0;
}

static int call_recv(struct state *st)
{
	return recv(st->s, data, 100, 0) < 0 ? -1 : 0;
}

static int call_sendfile(struct state *st)
{
	struct iovec iov[3] = { { data, 1 }, { data, 5000 }, { data, 70 } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 3 };

	return sendmsg(st->c, &m, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

static int call_options(struct state *st)
{
	int v = 100000, ep;
	struct epoll_event ev = { .events = EPOLLIN };

	if (setsockopt(st->c, SOL_SOCKET, SO_SNDBUF, &v, sizeof(v)) < 0 ||
	    setsockopt(st->c, SOL_SOCKET, SO_RCVBUF, &v, sizeof(v)) < 0)
		return -1;
	ep = epoll_create1(EPOLL_CLOEXEC);
	if (ep < 0)
		return -1;
	v = epoll_ctl(ep, EPOLL_CTL_ADD, st->c, &ev);
	close(ep);
	return v;
}

static int call_shutdown(struct state *st)
{
	return shutdown(st->c, SHUT_WR);
}

static int call_close(struct state *st)
{
	int rc = close(st->c);

	st->c = -1;
	return rc;
}

static int call_disconnect(struct state *st)
{
	struct sockaddr a = { .sa_family = AF_UNSPEC };

	return connect(st->c, &a, sizeof(a));
}

/* What must exist before the call. */
enum before { NOTHING, SOCKET, PENDING, CONNECTED, UNREAD };

static const struct {
	const char *name;
	enum before before;
	int (*call)(struct state *st);
} calls[] = {
	{ "socket(AF_INET)", NOTHING, call_socket },
	{ "socket(AF_SMC)", NOTHING, call_af_smc },
	{ "bind and listen", SOCKET, call_listen },
	{ "connect", SOCKET, call_connect },
	{ "accept", PENDING, call_accept },
	{ "send", CONNECTED, call_send },
	{ "sendmsg", CONNECTED, call_sendfile },
	{ "recv", UNREAD, call_recv },
	{ "options and epoll", CONNECTED, call_options },
	{ "shutdown", CONNECTED, call_shutdown },
	{ "close", CONNECTED, call_close },
	{ "close with unread data", UNREAD, call_close },
	{ "disconnect", CONNECTED, call_disconnect },
};

static bool prepare(struct state *st, enum before before)
{
	st->c = st->s = -1;
	st->a = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port),
				      .sin_addr.s_addr = htonl(host) };
	switch (before) {
	case NOTHING:
		return true;
	case SOCKET:
		st->c = new_socket();
		return st->c >= 0;
	case PENDING:
		st->c = new_socket();
		return st->c >= 0 && !connect(st->c, (void *)&st->a, sizeof(st->a));
	case CONNECTED:
		return connected(st);
	case UNREAD:
		return connected(st) && send(st->c, data, 1000, 0) == 1000 &&
		       send(st->s, data, 1000, 0) == 1000;
	}
	return false;
}

/* Removes what a failed call left in the queue of the listener. */
static void drain(void)
{
	int fd;

	fcntl(l, F_SETFL, O_NONBLOCK);
	while ((fd = accept4(l, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		close(fd);
	fcntl(l, F_SETFL, 0);
}

static bool healthy(void)
{
	struct state st;
	char buf[8];
	bool ok;

	drain();
	ok = connected(&st) && send(st.c, "healthy?", 8, 0) == 8 &&
	     recv(st.s, buf, 8, MSG_WAITALL) == 8 && send(st.s, buf, 8, 0) == 8 &&
	     recv(st.c, buf, 8, MSG_WAITALL) == 8;
	if (!ok)
		snprintf(why, sizeof(why), "a connection after the failures fails: %s",
			 strerror(errno));
	if (ok && mode_of(st.c) != (rdma ? MODE_SMCR : MODE_SMCD)) {
		snprintf(why, sizeof(why), "a connection after the failures falls back");
		ok = false;
	}
	close(st.c);
	close(st.s);
	return ok;
}

static bool fine_errno(int err)
{
	return err == ENOMEM || err == ENOBUFS || err == ECONNRESET || err == EPIPE ||
	       err == ECONNABORTED || err == EAGAIN || err == ENFILE ||
	       err == ETIMEDOUT || err == ECONNREFUSED || err == EINPROGRESS ||
	       err == EADDRINUSE;	/* bind() of TCP returns this if there is no memory */
}

static int n_failed;			/* number of allocations in all calls */

static bool fail_each(int which)
{
	struct state st;
	int n, rc, err = 0, failures = 0;
	bool used, ok = true;

	for (n = 1; ok && n <= MAX_NTH; n++) {
		if (!prepare(&st, calls[which].before)) {
			snprintf(why, sizeof(why), "cannot prepare round %d: %s", n,
				 strerror(errno));
			return false;
		}
		errno = 0;
		arm(n);
		rc = calls[which].call(&st);
		err = errno;
		used = disarm();
		if (rc < 0) {
			failures++;
			ok = fine_errno(err);
			if (!ok)
				snprintf(why, sizeof(why),
					 "allocation %d failed: unexpected errno %s", n,
					 strerror(err));
		}
		close(st.c);
		close(st.s);
		if (!used)
			break;
		drain();
	}
	ksft_print_msg("%s: %d allocations failed, and %d calls\n", calls[which].name,
		       n - 1, failures);
	n_failed += n - 1;
	return ok && healthy();
}

/* ---- at random ---- */

static void afflict_workers(const char *value)
{
	char path[300], comm[32];
	struct dirent *d;
	DIR *dir = opendir("/proc");
	int fd, n;

	while (dir && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", d->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		n = read(fd, comm, sizeof(comm) - 1);
		close(fd);
		if (n <= 0 || (strncmp(comm, "kworker", 7) && strncmp(comm, "ksoftirqd", 9)))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/make-it-fail", d->d_name);
		put_file(path, value);
	}
	if (dir)
		closedir(dir);
}

/* Connections that may fail in any way, but must end. */
static void traffic(int rounds)
{
	struct state st;

	for (int i = 0; i < rounds; i++) {
		st.c = st.s = -1;
		if (connected(&st)) {
			call_send(&st);
			call_recv(&st);
			if (i & 1)
				shutdown(st.c, SHUT_WR);
		}
		close(st.c);
		close(st.s);
		drain();
	}
}

/* Returns how many of this many failures are still to come. */
#define MANY	1000000

static int left(const char *what)
{
	char path[128];
	int n = -1;
	FILE *f;

	snprintf(path, sizeof(path), DEBUGFS "%s/times", what);
	f = fopen(path, "r");
	if (!f)
		return MANY;
	if (fscanf(f, "%d", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

/* Start a process that makes connections when a byte of the pipe @go arrives. */
static pid_t fork_traffic(const int *go, int rounds)
{
	pid_t pid = fork();
	char c;

	if (pid < 0)
		give_up("fork");
	if (pid)
		return pid;
	alarm(slow(300));
	/* do not wait for what a failed allocation has lost */
	patience = 1;
	tame(l);
	if (read(go[0], &c, 1) != 1)
		_exit(1);
	put_file("/proc/self/make-it-fail", "1");
	traffic(rounds);
	_exit(0);
}

static bool at_random(const char *probability, int rounds)
{
	int status = -1, n, go[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		give_up("pipe");
	pid = fork_traffic(go, rounds);
	/* Allocations in softirq belong to no task. */
	fault_knob("task-filter", rdma ? "N" : "Y");
	fault_knob("interval", "1");
	fault_knob("times", STR(MANY));
	fault_knob("probability", probability);
	afflict_workers("1");
	if (write(go[1], "", 1) != 1)
		give_up("pipe");
	close(go[0]);
	close(go[1]);
	waitpid(pid, &status, 0);
	afflict_workers("0");
	fault_knob("probability", "0");
	n = 2 * MANY - left("failslab") - left("fail_page_alloc");
	fault_knob("times", "-1");
	tame(l);
	ksft_print_msg("%d allocations failed\n", n);
	if (n < 1) {
		snprintf(why, sizeof(why), "no allocation failed");
		return false;
	}
	if (status) {
		snprintf(why, sizeof(why), "the traffic ended with status %x", status);
		return false;
	}
	return healthy();
}

int main(int argc, char **argv)
{
	const int n_calls = sizeof(calls) / sizeof(calls[0]);

	ksft_print_header();
	put_file("/proc/thread-self/fail-nth", "0");
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0 || !fault_available())
		ksft_exit_skip("this kernel has no fault injection\n");
	ksft_set_plan(n_calls + 4);
	klog_open();
	if (!fault_open())
		ksft_exit_fail_msg("cannot find tcp_send_fin in /proc/kallsyms\n");
	rdma = argc > 1 && !strcmp(argv[1], "--rdma");
	if (rdma) {
		host = 0x0a010002;
		raw_hosts(0x0a010001, host);
	}
	l = tame(victim_listen(&port));
	result(healthy(), "a connection without failing allocations");
	for (int i = 0; i < n_calls; i++)
		result(fail_each(i), calls[i].name);
	result(n_failed >= n_calls, "enough allocations failed");
	if (rdma && !fault_only_ours())
		ksft_exit_fail_msg("cannot find the module in /proc/kallsyms\n");
	result(at_random("1", 100), "one of 100 allocations fails");
	result(at_random("10", 25), "one of ten allocations fails");
	ksft_finished();
}
