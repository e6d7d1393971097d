// SPDX-License-Identifier: GPL-2.0
/*
 * Owners that stall: more sockets than a workqueue runs items at once, each of them in a system
 * call that holds a lock of the socket while it reads memory that is never supplied (userfaultfd).
 * This must affect only these sockets: meanwhile other corks are released, handshakes run, and
 * dumps and namespaces end (B2, B3 of the audit). Nor must a driver that holds RTNL stall them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/smc_reason.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include "kselftest.h"
#include "klog_result.h"
#include "pairing.h"
#include "role.h"
#include "raw_peer.h"
#include "task_state.h"
#include "trap.h"

#define OWNERS	600		/* a workqueue runs 512 at once */

struct owner {
	pthread_t thread;
	int fd, peer;
};

static struct owner senders[OWNERS], setters[OWNERS];

static void *sender(void *fd)
{
	send(*(int *)fd, trap_page(), 1, MSG_NOSIGNAL);
	return NULL;
}

/* ---- what must still work ---- */

static bool arrives(int fd, const char *text)
{
	char buf[16] = "";

	return wait_mask(fd, POLLIN, WAIT_MS) & POLLIN &&
	       recv(fd, buf, sizeof(buf), MSG_DONTWAIT) == (ssize_t)strlen(text) &&
	       !strcmp(buf, text);
}

static void connection(int l, int port, int *c, int *s)
{
	*c = victim_connect(port);
	*s = accept_in_time(l);
	if (!(wait_mask(*c, POLLOUT, WAIT_MS) & POLLOUT))
		give_up("a connect() does not end");
}

static bool served(int l, int port)
{
	bool ok = set_pairing(false);
	int c, s;

	connection(l, port, &c, &s);
	ok = send(c, "ping", 4, MSG_NOSIGNAL) == 4 && arrives(s, "ping") && ok &&
	     mode_of(c) == MODE_SMCD && mode_of(s) == MODE_SMCD;
	close(c);
	close(s);
	return set_pairing(true) && ok;
}

/* Done by the worker alone: the child has not been accepted yet. */
static bool answered(int l, int port, const struct message *proposal)
{
	int c = raw_connect(port), s;
	struct message m;
	bool ok;

	put_bytes(c, proposal->b, proposal->len);
	ok = get_message(c, &m, WAIT_MS) == GOT_ACCEPT;
	s = accept_in_time(l);
	close(c);
	close(s);
	return ok;
}

/* A dump that hangs cannot be killed either, so a child process makes it. */
static bool ends(bool (*what)(void))
{
	int done[2];
	char c = 0;
	pid_t pid;

	if (pipe2(done, O_CLOEXEC) < 0)
		give_up("pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		c = what();
		_exit(write(done[1], &c, 1) != 1);
	}
	close(done[1]);
	if (!wait_mask(done[0], POLLIN, WAIT_MS) || read(done[0], &c, 1) != 1)
		c = 0;
	else
		waitpid(pid, NULL, 0);
	close(done[0]);
	return c;
}

/* All of them are listed. */
static bool dump(void)
{
	struct {
		struct nlmsghdr nlh;
		uint8_t req[64];	/* struct smc_diag_req */
	} req = {
		.nlh = { .nlmsg_len = sizeof(req), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.req = { AF_SMC, 0, 0xff },
	};
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG), n = 0;
	static char buf[64 << 10];

	if (fd < 0 || send(fd, &req, sizeof(req), 0) < 0)
		return false;
	for (;;) {
		int len = recv(fd, buf, sizeof(buf), 0);
		struct nlmsghdr *h = (void *)buf;

		if (len <= 0)
			return false;
		for (; NLMSG_OK(h, (unsigned int)len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_type == NLMSG_DONE)
				return n >= 3 * OWNERS;
			n += h->nlmsg_type == SOCK_DIAG_BY_FAMILY;
		}
	}
}

/*
 * Namespaces are destroyed one after the other: the second one's veth is removed after the first
 * one has ended.
 */
static bool namespace_goes(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		char cmd[120];

		snprintf(cmd, sizeof(cmd), "ip link add v0 type veth peer name v1 netns %d",
			 getppid());
		_exit(unshare(CLONE_NEWNET) < 0 || system(cmd));
	}
	if (waitpid(pid, &status, 0) != pid || status)
		return false;
	for (int i = 0; i < WAIT_MS / 10; i++) {
		if (!if_nametoindex("v1"))
			return true;
		usleep(10000);
	}
	return false;
}

/* ---- the owners ---- */

static void setup(int l, int port, int rl, int rport, struct message *proposal)
{
	for (int i = 0; i < OWNERS; i++) {
		struct owner *o = &senders[i];

		connection(l, port, &o->fd, &o->peer);
	}
	for (int i = 0; i < OWNERS; i++) {
		struct owner *o = &setters[i];

		o->fd = victim_connect(rport);
		o->peer = accept_in_time(rl);
		if (get_message(o->peer, proposal, WAIT_MS) != GOT_PROPOSAL)
			give_up("no Proposal");
	}
}

/* Each socket has work for the worker: a cork, or a message of the handshake. */
static void stall_all(void)
{
	for (int i = 0; i < OWNERS; i++) {
		if (send(senders[i].fd, "x", 1, MSG_MORE | MSG_NOSIGNAL) != 1)
			give_up("send");
		senders[i].thread = trap_thread(sender, &senders[i].fd);
		setters[i].thread = trap_owner(&setters[i].fd);
	}
	trap_await(2 * OWNERS);
	for (int i = 0; i < OWNERS; i++)
		put_bytes(setters[i].peer, "\xe2", 1);
}

/* After the owner has finished, corked data arrives, and the handshake ends, since its bytes were
 * not CLC.
 */
static bool all_go_on(void)
{
	bool ok = true;
	struct message m;
	char buf[3];
	int n;

	for (int i = 0; i < OWNERS; i++) {
		pthread_join(senders[i].thread, NULL);
		pthread_join(setters[i].thread, NULL);
	}
	for (int i = 0; i < OWNERS; i++) {
		for (n = 0; n < 2 && wait_mask(senders[i].peer, POLLIN, WAIT_MS); n++)
			if (recv(senders[i].peer, buf, 1, MSG_DONTWAIT) != 1 || buf[0] != "x"[n])
				ok = false;
		ok = ok && n == 2;
		put_bytes(setters[i].peer, "12345678", 8);
		ok = ok && get_message(setters[i].peer, &m, WAIT_MS) == GOT_RESET;
	}
	return ok;
}

/* ---- two calls on one socket, in an order that the trap decides ---- */

struct meeting {
	int fd, port;
	volatile pid_t connects, calls;
	bool sends;
	char c;
	ssize_t rc;
	int err;
};

static void *meets_connect(void *arg)
{
	struct meeting *m = arg;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(m->port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	m->connects = gettid();
	if (connect(m->fd, (void *)&a, sizeof(a)) < 0)
		give_up("connect");
	return NULL;
}

static void *meets_call(void *arg)
{
	struct meeting *m = arg;

	m->calls = gettid();
	m->rc = m->sends ? send(m->fd, "x", 1, MSG_NOSIGNAL) : recv(m->fd, &m->c, 1, 0);
	m->err = errno;
	return NULL;
}

static void await_state(volatile pid_t *tid, char state)
{
	AWAIT(*tid && task_state(getpid(), *tid) == state);
}

/*
 * A send() or recv() that came while the socket was unconnected gets the lock after connect(), when
 * the socket is SMC. It fails as over TCP, or its byte goes through SMC.
 */
static bool meet(int fd, int l, int port, bool sends)
{
	struct meeting m = { .fd = fd, .port = port, .sends = sends };
	pthread_t owner, connects, calls;
	struct timeval limit = { .tv_sec = WAIT_MS / 1000 };
	bool ok;
	int s;

	setsockopt(m.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	trap_again();
	owner = trap_owner(&m.fd);
	trap_await(1);
	connects = trap_thread(meets_connect, &m);
	await_state(&m.connects, WAITS_FOR_LOCK);
	calls = trap_thread(meets_call, &m);
	await_state(&m.calls, WAITS_FOR_LOCK);
	trap_open();
	pthread_join(owner, NULL);
	pthread_join(connects, NULL);
	s = accept_in_time(l);
	ok = mode_of(m.fd) == MODE_SMCD;
	if (!sends)
		ok = send(s, "y", 1, MSG_NOSIGNAL) == 1 && ok;
	pthread_join(calls, NULL);
	if (m.rc < 0)
		ok = ok && m.err == (sends ? EPIPE : ENOTCONN);
	else
		ok = ok && m.rc == 1 && (sends ? arrives(s, "x") : m.c == 'y');
	close(m.fd);
	close(s);
	return ok;
}

static int new_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, IPPROTO_SMC);
}

/* A socket whose first attempt to connect has failed, as plain TCP. */
static int failed_socket(void)
{
	struct sockaddr_in nowhere = { .sin_family = AF_INET, .sin_port = htons(1),
				       .sin_addr.s_addr = htonl(INADDR_BROADCAST) };
	int fd = new_socket();

	if (sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (void *)&nowhere, sizeof(nowhere)) >= 0)
		give_up("sendto() to a broadcast address succeeds");
	return fd;
}

static void *peeker(void *fd)
{
	recv(*(int *)fd, trap_page(), 1, MSG_PEEK);
	return NULL;
}

static volatile pid_t big_sender_tid;

static void *big_sender(void *fd)
{
	static char data[200000];

	big_sender_tid = gettid();
	send(*(int *)fd, data, sizeof(data), MSG_NOSIGNAL);
	return NULL;
}

/*
 * The element cannot grow while its receiver is in recv(). Afterwards poll() has to report data,
 * although SO_RCVLOWAT asks for more than the element holds, because the sender waits.
 */
static bool low_water(int l, int port)
{
	static char data[200000];
	int c, s, lowat = 100000;
	pthread_t peeks, sends;
	ssize_t n = 0, got = 0;

	connection(l, port, &c, &s);
	if (setsockopt(s, SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof(lowat)) < 0 ||
	    send(c, "x", 1, MSG_NOSIGNAL) != 1)
		give_up("send");
	trap_again();
	peeks = trap_thread(peeker, &s);
	trap_await(1);
	fcntl(c, F_SETFL, 0);
	sends = trap_thread(big_sender, &c);
	/* The sender sleeps once it has filled the element. */
	await_state(&big_sender_tid, SLEEPS);
	trap_open();
	pthread_join(peeks, NULL);
	while (got < (ssize_t)sizeof(data) + 1 && n >= 0) {
		if (!(wait_mask(s, POLLIN, WAIT_MS) & POLLIN))
			break;
		n = recv(s, data, sizeof(data), MSG_DONTWAIT);
		got += n;
		lowat = 1;
		setsockopt(s, SOL_SOCKET, SO_RCVLOWAT, &lowat, sizeof(lowat));
	}
	close(s);
	pthread_join(sends, NULL);
	close(c);
	return got == sizeof(data) + 1;
}

static void *urgent_sender(void *fd)
{
	send(*(int *)fd, "2", 1, MSG_OOB | MSG_NOSIGNAL);
	return NULL;
}

static bool urgent_is(int fd, char want)
{
	char c = 0;

	return recv(fd, &c, 1, MSG_OOB | MSG_PEEK) == 1 && c == want;
}

/*
 * The peer's second urgent byte is announced, but has not arrived. It replaces the first, which is
 * the only byte in the element, so there is nothing to read.
 */
static bool urgent_replaced(int l, int port)
{
	const int any = POLLIN | POLLPRI;
	pthread_t sends;
	int c, s;
	bool ok;

	connection(l, port, &c, &s);
	if (send(c, "1", 1, MSG_OOB | MSG_NOSIGNAL) != 1 ||
	    !(wait_mask(s, POLLPRI, WAIT_MS) & POLLPRI))
		give_up("an urgent byte does not arrive");
	set_parameter("hold_urgent", 1);
	sends = trap_thread(urgent_sender, &c);
	AWAIT(urgent_is(s, '2'));
	ok = wait_mask(s, any, 0) == POLLPRI;
	set_parameter("hold_urgent", 0);
	pthread_join(sends, NULL);
	ok = ok && wait_mask(s, any, 0) == POLLPRI && urgent_is(s, '2');
	close(c);
	close(s);
	return ok;
}

/* ---- what must not depend on who holds a lock of a connection ---- */

static char big[64 << 10];

struct call {
	int fd;
	volatile pid_t tid;
	volatile ssize_t rc;
	pthread_t thread;
};

static void *sends_big(void *arg)
{
	struct call *call = arg;

	call->tid = gettid();
	call->rc = send(call->fd, big, sizeof(big), MSG_NOSIGNAL);
	return NULL;
}

static void *sends_page(void *arg)
{
	struct call *call = arg;

	call->rc = send(call->fd, trap_page(), 100, MSG_NOSIGNAL);
	return NULL;
}

static void *receives_byte(void *arg)
{
	struct call *call = arg;

	call->rc = recv(call->fd, trap_page(), 1, 0);
	return NULL;
}

static void *awaits_room(void *arg)
{
	struct call *call = arg;

	call->tid = gettid();
	/* Without a limit: poll() looks once more when its time is up. */
	call->rc = wait_mask(call->fd, POLLOUT, -1);
	return NULL;
}

static void begin(struct call *call, int fd, void *(*run)(void *arg))
{
	*call = (struct call) { .fd = fd, .rc = -1 };
	call->thread = trap_thread(run, call);
}

/* Does the call end in time? If not, @other is closed, which ends it. */
static bool ends_by_itself(struct call *call, int other)
{
	struct timespec limit;
	bool ok;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += WAIT_MS / 1000;
	ok = !pthread_timedjoin_np(call->thread, NULL, &limit);
	if (!ok) {
		shutdown(other, SHUT_RDWR);
		pthread_join(call->thread, NULL);
	}
	return ok;
}

/*
 * The receiver is in recv() for one byte, in a page fault, while the peer sends more than the
 * element holds at first. Afterwards the receiver reads no more, so it is the element that must
 * grow.
 */
static void receiver_busy(int l, int port, int *c, int *s, struct call *receiver)
{
	connection(l, port, c, s);
	if (send(*c, "x", 1, MSG_NOSIGNAL) != 1)
		give_up("send");
	trap_again();
	begin(receiver, *s, receives_byte);
	trap_await(1);
}

static bool grows_later(int l, int port)
{
	struct call receiver, sender;
	int c, s;
	bool ok;

	receiver_busy(l, port, &c, &s, &receiver);
	fcntl(c, F_SETFL, 0);
	begin(&sender, c, sends_big);
	await_state(&sender.tid, SLEEPS);
	trap_open();
	pthread_join(receiver.thread, NULL);
	ok = ends_by_itself(&sender, s) && sender.rc == sizeof(big) && receiver.rc == 1;
	close(c);
	close(s);
	return ok;
}

/* As grows_later(), with a sender that waits in poll(). */
static bool grows_for_poll(int l, int port)
{
	struct call receiver, poller;
	ssize_t sent = 0, n;
	int c, s;
	bool ok;

	receiver_busy(l, port, &c, &s, &receiver);
	while ((n = send(c, big, sizeof(big) - sent, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0)
		sent += n;
	begin(&poller, c, awaits_room);
	await_state(&poller.tid, SLEEPS);
	trap_open();
	pthread_join(receiver.thread, NULL);
	ok = ends_by_itself(&poller, s) && sent < (ssize_t)sizeof(big);
	while (sent < (ssize_t)sizeof(big) && wait_mask(c, POLLOUT, WAIT_MS) & POLLOUT) {
		n = send(c, big, sizeof(big) - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n <= 0)
			break;
		sent += n;
	}
	close(c);
	close(s);
	return ok && sent == sizeof(big);
}

/* One thread is in send() while another one waits for room, which only a larger element has. */
static bool room_beside_sender(int l, int port)
{
	const int most = 13 << 10;	/* of 16 KiB */
	struct call sender, poller;
	int c, s;
	bool ok;

	connection(l, port, &c, &s);
	if (send(c, big, most, MSG_NOSIGNAL) != most)
		give_up("send");
	trap_again();
	begin(&sender, c, sends_page);
	trap_await(1);
	begin(&poller, c, awaits_room);
	await_state(&poller.tid, SLEEPS);
	trap_open();
	ok = ends_by_itself(&poller, s) && poller.rc & POLLOUT;
	pthread_join(sender.thread, NULL);
	close(c);
	close(s);
	return ok && sender.rc == 100;
}

static int close_both(int fd)
{
	return shutdown(fd, SHUT_RDWR);
}

/* Data that arrive after the receiver has closed reset the connection, also if a send() was on. */
static bool refused(int l, int port, int (*end)(int fd))
{
	socklen_t len = sizeof(int);
	struct call sender;
	int c, s, err = 0;
	bool ok;

	connection(l, port, &c, &s);
	trap_again();
	begin(&sender, c, sends_page);
	trap_await(1);
	end(s);
	trap_open();
	pthread_join(sender.thread, NULL);
	ok = sender.rc == 100 && wait_mask(c, 0, WAIT_MS) & POLLERR &&
	     !getsockopt(c, SOL_SOCKET, SO_ERROR, &err, &len) && err == EPIPE;
	if (!ok)
		ksft_print_msg("send: %zd, poll: %#x, SO_ERROR: %d\n", sender.rc,
			       wait_mask(c, 0, 0), err);
	if (end == close_both) {
		ok = ok && wait_mask(s, 0, WAIT_MS) & POLLERR && recv(s, &err, 1, 0) < 0 &&
		     errno == ECONNRESET;
		close(s);
	}
	close(c);
	return ok;
}

/*
 * A Proposal that arrives in time after a simultaneous open is declined, although a call owns the
 * socket until the time is up. (Without TCP's hooks the victim is TCP at once.)
 */
static bool crossed_while_owned(const struct message *proposal)
{
	pthread_t owner;
	struct message m;
	int raw, victim;
	bool ok;

	crossed_open(true, &raw, &victim);
	if (wait_mask(victim, POLLOUT, 0)) {
		ok = reason_of(victim) == SMC_REASON_PEER_NO_OPTION;
	} else {
		trap_again();
		owner = trap_owner(&victim);
		trap_await(1);
		put_bytes(raw, proposal->b, proposal->len);
		sleep(2);
		trap_open();
		pthread_join(owner, NULL);
		ok = get_message(raw, &m, WAIT_MS) == GOT_DECLINE;
	}
	close(raw);
	close(victim);
	return ok;
}

#define SMC_TEST_ECHO	0x201
#define IDLE_SWITCHES	2000	/* in half a second; a work item that repeats makes far more */

static long context_switches(void)
{
	char line[200];
	long n = -1;
	FILE *file = fopen("/proc/stat", "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "ctxt %ld", &n) == 1)
			break;
	fclose(file);
	return n;
}

/* A reader in the kernel finds that a program is in recv(). It waits, and then goes on. */
static bool reader_waits(int l, int port)
{
	struct call receiver;
	int c, s, on = 1;
	long before;
	bool ok;

	receiver_busy(l, port, &c, &s, &receiver);
	if (setsockopt(s, SOL_SMC, SMC_TEST_ECHO, &on, sizeof(on)) < 0)
		give_up("SMC_TEST_ECHO");
	before = context_switches();
	usleep(500000);
	ok = context_switches() - before < IDLE_SWITCHES;
	if (!ok)
		ksft_print_msg("%ld context switches\n", context_switches() - before);
	trap_open();
	pthread_join(receiver.thread, NULL);
	ok = ok && receiver.rc == 1 && send(c, "ping", 4, MSG_NOSIGNAL) == 4 && arrives(c, "ping");
	close(c);
	close(s);
	return ok;
}

#define COPIES	8
#define IDLE_TIME	11	/* seconds after which an idle buffer has been freed */
#define KEPT		2	/* idle buffers of the right size that may be left */

static long memory_used(void)
{
	char cmd[300];
	long bytes;
	FILE *said;

	snprintf(cmd, sizeof(cmd), "%s/build/tools/smcd -j info | grep -o '\"memory_used\":[ 0-9]*' |"
		 " grep -o '[0-9]*$'", getenv("SMC_ROOT") ?: ".");
	said = popen(cmd, "r");
	if (!said || fscanf(said, "%ld", &bytes) != 1)
		give_up("smcd info");
	pclose(said);
	return bytes;
}

/*
 * As memory_used(), once nothing is idle any more. What earlier cases have used would be used
 * again, or be freed meanwhile.
 */
static long memory_in_use(void)
{
	long used = memory_used(), before;

	do {
		before = used;
		sleep(IDLE_TIME);
		used = memory_used();
	} while (used < before);
	return used;
}

/* Idle buffers are freed after IDLE_TIME, and one of each size stays. */
static bool freed(long before)
{
	for (int i = 0; i < slow(100) && memory_used() - before > 1 << 20; i++)
		usleep(200000);
	return memory_used() - before <= 1 << 20;
}

/*
 * The receiver closes while senders copy into its elements. Later connections must not get these
 * elements before the copies have ended; then nothing keeps the elements.
 */
static bool closed_in_copy(int l, int port, long before)
{
	int c[COPIES], s[COPIES], nc[COPIES], ns[COPIES], large = 200000;
	struct call sender[COPIES];
	bool ok = true;
	char buf[101];

	setsockopt(l, SOL_SOCKET, SO_RCVBUF, &large, sizeof(large));
	trap_again();
	for (int i = 0; i < COPIES; i++) {
		connection(l, port, &c[i], &s[i]);
		begin(&sender[i], c[i], sends_page);
	}
	trap_await(COPIES);
	for (int i = 0; i < COPIES; i++)
		close(s[i]);
	memset(big, 'n', sizeof(big));
	for (int i = 0; i < COPIES; i++) {
		connection(l, port, &nc[i], &ns[i]);
		ok = ok && send(nc[i], big, 100, MSG_NOSIGNAL) == 100;
	}
	ok = ok && memory_used() - before >= (2 * COPIES - KEPT) * (256 << 10);
	trap_open();
	for (int i = 0; i < COPIES; i++) {
		pthread_join(sender[i].thread, NULL);
		ok = ok && wait_mask(ns[i], POLLIN, WAIT_MS) & POLLIN &&
		     recv(ns[i], buf, sizeof(buf), 0) == 100 && !memcmp(buf, big, 100);
		close(ns[i]);
	}
	ok = ok && freed(before);
	for (int i = 0; i < COPIES; i++) {
		close(c[i]);
		close(nc[i]);
	}
	return ok;
}

/* The peer of a connection that is closed is in recv(), and does not touch the closed element. */
static bool closed_in_recv(int l, int port, long before)
{
	int c[COPIES], s[COPIES];
	struct call receiver[COPIES];
	bool ok;

	/* What the previous case has used would be used again. */
	ok = freed(before);
	trap_again();
	for (int i = 0; i < COPIES; i++) {
		connection(l, port, &c[i], &s[i]);
		if (send(s[i], "x", 1, MSG_NOSIGNAL) != 1)
			give_up("send");
		begin(&receiver[i], c[i], receives_byte);
	}
	trap_await(COPIES);
	ok = ok && memory_used() - before >= (COPIES - KEPT) * (256 << 10);
	for (int i = 0; i < COPIES; i++)
		close(s[i]);
	ok = ok && freed(before);
	trap_open();
	for (int i = 0; i < COPIES; i++) {
		pthread_join(receiver[i].thread, NULL);
		ok = ok && receiver[i].rc == 1;
		close(c[i]);
	}
	return ok;
}

/*
 * Members of a multicast group are closed during their handshakes, which end while another task
 * holds RTNL. To leave the group takes RTNL, so that must have happened in close().
 */
static bool members_end(int l, int port, int rl, int rport)
{
	struct group_req group = { .gr_interface = 1 };
	struct sockaddr_in *in = (void *)&group.gr_group;
	static int raw[OWNERS];
	struct message m;
	bool ok = true;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(0xef010203);
	for (int i = 0; i < OWNERS; i++) {
		int c = victim_connect(rport);

		raw[i] = accept_in_time(rl);
		if (get_message(raw[i], &m, WAIT_MS) != GOT_PROPOSAL)
			give_up("no Proposal");
		if (setsockopt(c, IPPROTO_IP, MCAST_JOIN_GROUP, &group, sizeof(group)) < 0)
			give_up("MCAST_JOIN_GROUP");
		close(c);
	}
	set_parameter("hold_rtnl", 1);
	/* The end of the stream ends a handshake, and then the socket has nothing to wait for. */
	for (int i = 0; i < OWNERS; i++)
		shutdown(raw[i], SHUT_WR);
	for (int i = 0; ok && i < OWNERS; i++)
		ok = get_message(raw[i], &m, WAIT_MS) == GOT_END;
	ok = served(l, port) && ok;
	set_parameter("hold_rtnl", 0);
	for (int i = 0; i < OWNERS; i++)
		close(raw[i]);
	return ok;
}

int main(void)
{
	struct rlimit nofile = { 8192, 8192 };
	int l, port, rl, rport, c, s, small = 16 << 10;
	struct message proposal;
	long old, used;
	bool ok;

	ksft_print_header();
	if (!raw_available())
		ksft_exit_skip("no test build of smc.ko is loaded\n");
	if (!trap_set())
		ksft_exit_skip("no userfaultfd\n");
	ksft_set_plan(21);
	klog_open();
	setrlimit(RLIMIT_NOFILE, &nofile);
	old = set_timeout_ms(600000);
	l = victim_listen(&port);
	setsockopt(l, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	rl = raw_listen(&rport);
	setup(l, port, rl, rport, &proposal);
	connection(l, port, &c, &s);
	stall_all();

	/* This cork is due after those of the others. */
	ok = send(c, "x", 1, MSG_MORE | MSG_NOSIGNAL) == 1 && arrives(s, "x");
	klog_result(ok, "corked data is sent while other sockets' owners stall");
	ok = answered(l, port, &proposal) && served(l, port);
	klog_result(ok, "handshakes complete while other sockets' owners stall");
	klog_result(ends(dump), "a sock_diag dump with stalled owners shows all sockets and ends");
	ok = namespace_goes() && namespace_goes();
	klog_result(ok, "namespaces end while sockets' owners stall elsewhere");
	trap_open();
	klog_result(all_go_on(), "the stalled calls continue where they stopped");
	klog_result(served(l, port), "a connection works after the stalled calls have ended");
	/* SO_RCVBUF would keep elements from growing. */
	l = victim_listen(&port);
	klog_result(meet(new_socket(), l, port, true),
		    "send() that overlaps connect() loses no byte");
	klog_result(meet(new_socket(), l, port, false),
		    "recv() that overlaps connect() misses no byte");
	klog_result(meet(failed_socket(), l, port, false),
		    "recv() that overlaps connect() after MSG_FASTOPEN misses no byte");
	klog_result(low_water(l, port), "SO_RCVLOWAT does not stop a connection whose receiver was busy");
	klog_result(urgent_replaced(l, port),
		    "poll() reports no data when an urgent byte is replaced before it arrives");
	klog_result(grows_later(l, port), "send() goes on when a busy receiver is done, without a read");
	klog_result(grows_for_poll(l, port), "so does a sender that waits in poll()");
	klog_result(room_beside_sender(l, port),
		    "poll() reports room when a thread that held the ring is done");
	klog_result(reader_waits(l, port), "a reader in the kernel waits for a program's recv()");
	klog_result(members_end(l, port, rl, rport),
		    "handshakes and sockets of multicast members end while RTNL is held");
	klog_result(refused(l, port, close), "close() refuses the data of a send() in progress");
	klog_result(refused(l, port, close_both), "so does shutdown() of both directions");
	klog_result(crossed_while_owned(&proposal),
		    "a Proposal is declined although the socket is owned meanwhile");
	used = memory_in_use();
	klog_result(closed_in_copy(l, port, used),
		    "an element is neither reused during a copy into it, nor kept after it");
	klog_result(closed_in_recv(l, port, used), "a peer in recv() does not keep a closed element");
	set_timeout_ms(old);
	ksft_finished();
}
