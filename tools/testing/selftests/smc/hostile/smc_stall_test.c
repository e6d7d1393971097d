// SPDX-License-Identifier: GPL-2.0
/*
 * Silent peers must not affect others: 100 handshakes stall, in both roles, while another client
 * connects and is served. A listener that is closed ends its children, whatever each of them is
 * waiting for. And a client may close while it waits for TCP. What outlives its file is limited in
 * number, and the limit is shared.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest.h"
#include "klog_result.h"
#include "loopback_up.h"
#include "pairing.h"
#include "role.h"
#include "raw_peer.h"

#define STALLED 100
#define ROUNDS 10
#define EACH 3			/* children in each stage */
#define NO_END_MS 200		/* of virtual time: no end has been sent */

/* What a child waits for when its listener is closed. */
enum stage {
	AWAITS_PROPOSAL,
	AWAITS_ITS_REST,
	AWAITS_CONFIRM,
	AWAITS_ACCEPT,		/* it is SMC, and its client has written */
	AWAITS_DATA,		/* in the SYN queue: a deferred accept */
	STAGES
};

static bool still_undecided(const int *fds)
{
	char c;

	for (int i = 0; i < STALLED; i++) {
		if (mode_of(fds[i]) != MODE_UNDECIDED)
			return false;
		if (recv(fds[i], &c, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN)
			return false;
	}
	return true;
}

/* Checks a connection, given by both ends, which must be SMC. */
static bool talk(int c, int s)
{
	char buf[4] = "";
	bool ok;

	ok = send(c, "ping", 4, MSG_NOSIGNAL) == 4;
	ok = ok && wait_mask(s, POLLIN, WAIT_MS) && recv(s, buf, 4, 0) == 4;
	ok = ok && send(s, buf, 4, MSG_NOSIGNAL) == 4;
	ok = ok && wait_mask(c, POLLIN, WAIT_MS) && recv(c, buf, 4, 0) == 4;
	return ok && mode_of(c) == MODE_SMCD && mode_of(s) == MODE_SMCD;
}

/* Makes one connection through @l. A pair would not need the workers that others may block. */
static bool served(int l, int port)
{
	bool ok = set_pairing(false);
	int c = victim_connect(port), s;

	s = accept_in_time(l);
	wait_mask(c, POLLOUT, WAIT_MS);
	ok = talk(c, s) && ok;
	close(c);
	close(s);
	return set_pairing(true) && ok;
}

/*
 * TCP reports data only once SO_RCVLOWAT bytes have arrived, but messages of CLC are shorter. The
 * timeout of handshakes is ten minutes here, so one that waits for it does not end in time.
 */
static bool served_despite_rcvlowat(int l, int port)
{
	static const struct { int server, client; } lowat[] = {
		{ 60000, 1 }, { 1, 60000 }, { 60000, 60000 }, { 1, 1 },
	};
	bool ok = set_pairing(false);

	for (int i = 0; ok && i < 4; i++) {
		int c, s;

		setsockopt(l, SOL_SOCKET, SO_RCVLOWAT, &lowat[i].server, sizeof(int));
		c = victim_connect(port);
		setsockopt(c, SOL_SOCKET, SO_RCVLOWAT, &lowat[i].client, sizeof(int));
		s = accept_in_time(l);
		ok = wait_mask(c, POLLOUT, WAIT_MS) & POLLOUT && mode_of(c) == MODE_SMCD;
		close(c);
		close(s);
	}
	return set_pairing(true) && ok;
}

/*
 * Data that is never a Proposal does not postpone the timeout, although TCP reports every byte.
 * It does so because an urgent byte keeps the handshake from taking any of them.
 */
static bool ends_despite_rcvlowat(int l, int port)
{
	const int limit = 8000;		/* at least 16 s, and less than the window */
	int one = 1, low = 2, sent, c, s;

	setsockopt(l, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low));
	c = raw_connect(port);
	setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	s = accept_in_time(l);
	send(c, "x", 1, MSG_OOB | MSG_NOSIGNAL);
	for (sent = 0; sent < limit && !wait_mask(c, POLLHUP, 2); sent++)
		send(c, "x", 1, MSG_NOSIGNAL);
	low = 1;
	setsockopt(l, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low));
	close(c);
	close(s);
	return sent < limit;
}

/* All of them end after the timeout: the raw side sees a reset. */
static bool all_end(const int *raw, const int *victim)
{
	struct message m;
	char c;

	for (int i = 0; i < STALLED; i++) {
		if (get_message(raw[i], &m, WAIT_MS) != GOT_RESET)
			return false;
		if (!wait_mask(victim[i], POLLIN, WAIT_MS) ||
		    recv(victim[i], &c, 1, MSG_DONTWAIT) > 0)
			return false;
	}
	return true;
}

static void close_all(const int *a, const int *b)
{
	for (int i = 0; i < STALLED; i++) {
		close(a[i]);
		close(b[i]);
	}
}

/* ---- a listener that is closed ---- */

/* Returns how many children wait for accept(); the kernel reports this in a field meant for
 * something else.
 */
static int queued(int l)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	if (getsockopt(l, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		give_up("TCP_INFO of a listener");
	return info.tcpi_unacked;
}

/* Records the Proposal of a genuine client, so that other clients can send it. */
static void record_proposal(struct message *m)
{
	int port, l = raw_listen(&port), c = victim_connect(port), s = accept_in_time(l);

	if (get_message(s, m, WAIT_MS) != GOT_PROPOSAL)
		give_up("no Proposal");
	close(s);
	close(c);
	close(l);
}

/* Connects a client whose child gets as far as @stage. */
static int begin(enum stage stage, int port, const struct message *proposal)
{
	struct message m;
	int fd;

	if (stage == AWAITS_ACCEPT) {
		fd = victim_connect(port);
		wait_mask(fd, POLLOUT, WAIT_MS);
		if (mode_of(fd) != MODE_SMCD || send(fd, "ping", 4, MSG_NOSIGNAL) != 4)
			give_up("a genuine client is not served");
		return fd;
	}
	fd = raw_connect(port);
	if (stage == AWAITS_ITS_REST)
		put_bytes(fd, proposal->b, proposal->len / 2);
	if (stage == AWAITS_CONFIRM) {
		put_bytes(fd, proposal->b, proposal->len);
		if (get_message(fd, &m, WAIT_MS) != GOT_ACCEPT)
			give_up("no Accept");
	}
	return fd;
}

/* The client is told that its child's listener has gone. */
static bool is_reset(enum stage stage, int fd)
{
	struct message m;
	char c;

	if (stage == AWAITS_ACCEPT)
		return wait_mask(fd, POLLIN, WAIT_MS) & POLLHUP && recv(fd, &c, 1, 0) < 0 &&
		       errno == ECONNRESET;
	/* A client in the SYN queue is told only after it has sent something. */
	if (stage == AWAITS_DATA)
		put_bytes(fd, "x", 1);
	return get_message(fd, &m, WAIT_MS) == GOT_RESET;
}

/* Accepted connections stay; all others end; the next listener can use the port at once. */
static bool listener_goes(const struct message *proposal, bool shut_down)
{
	int port, l = victim_listen(&port), fd[STAGES][EACH], c, s, defer = 600;
	bool ok = true;

	c = victim_connect(port);
	s = accept_in_time(l);
	wait_mask(c, POLLOUT, WAIT_MS);
	for (int stage = 0; stage < STAGES; stage++) {
		if (stage == AWAITS_DATA &&
		    setsockopt(l, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof(defer)) < 0)
			give_up("TCP_DEFER_ACCEPT");
		for (int i = 0; i < EACH; i++)
			fd[stage][i] = begin(stage, port, proposal);
		while (queued(l) < (stage == AWAITS_DATA ? stage : stage + 1) * EACH)
			usleep(1000);
	}
	if (queued(l) != AWAITS_DATA * EACH)
		give_up("%d children wait for accept()", queued(l));
	if (shut_down)
		shutdown(l, SHUT_RDWR);
	close(l);
	for (int stage = 0; stage < STAGES; stage++)
		for (int i = 0; i < EACH; i++) {
			if (!is_reset(stage, fd[stage][i])) {
				ksft_print_msg("stage %d, child %d is not reset\n", stage, i);
				ok = false;
			}
			close(fd[stage][i]);
		}
	ok = ok && talk(c, s);
	close(c);
	close(s);
	return ok;
}

static void listener_gone(int l, int port)
{
	struct message proposal;
	bool ok = true;

	record_proposal(&proposal);
	for (int i = 0; i < ROUNDS; i++)
		ok = listener_goes(&proposal, i & 1) && ok;
	klog_result(ok, "closing a listener resets its children in every stage");
	klog_result(served(l, port), "closing a listener does not affect other listeners");
}

/* ---- shutdown() during a handshake ---- */

/* A Decline of version 1: "do not retry". */
static const uint8_t decline[28] = {
	0xe2, 0xd4, 0xc3, 0xd9, CLC_DECLINE, 0, 28, 0x10,
	[16] = 0x03, 0x03, [24] = 0xe2, 0xd4, 0xc3, 0xd9,
};

/* Shuts down a child whose client has yet to speak, and lets the client decline. */
static bool shut_then_declined(int l, int port, int how)
{
	int c = raw_connect(port), s = accept_in_time(l), end;
	struct message m;
	char buf[8];
	bool ok;

	ok = !shutdown(s, how) && mode_of(s) == MODE_UNDECIDED;
	ok = ok && get_message(c, &m, slow(NO_END_MS)) == GOT_NOTHING;
	put_bytes(c, decline, sizeof(decline));
	/* The FIN comes once the handshake has ended. */
	ok = ok && get_message(c, &m, WAIT_MS) == GOT_END && mode_of(s) == MODE_TCP;
	if (how == SHUT_WR) {
		put_bytes(c, "late", 4);
		ok = ok && wait_mask(s, POLLIN, WAIT_MS) && recv(s, buf, sizeof(buf), 0) == 4;
	}
	shutdown(c, SHUT_WR);
	end = recv(s, buf, sizeof(buf), 0);
	ok = ok && !end && send(s, "x", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE;
	close(c);
	close(s);
	return ok;
}

/* ---- the end of a handshake ---- */

/*
 * The outcome and its wake-up come together: whoever has seen that the connection is up gets no
 * edge for that afterwards.
 */
static bool no_late_edge(int l, int port)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int c, s, ep = epoll_create1(EPOLL_CLOEXEC);
	bool ok = set_pairing(false);

	set_parameter("hold_settled", 1);
	c = victim_connect(port);
	s = accept_in_time(l);
	while (mode_of(c) != MODE_SMCD || mode_of(s) != MODE_SMCD)
		usleep(1000);
	ok = ok && !epoll_ctl(ep, EPOLL_CTL_ADD, s, &ev) && send(c, "x", 1, MSG_NOSIGNAL) == 1;
	ok = ok && epoll_wait(ep, &ev, 1, WAIT_MS) == 1 && epoll_wait(ep, &ev, 1, 0) == 0;
	set_parameter("hold_settled", 0);
	ok = ok && epoll_wait(ep, &ev, 1, slow(NO_END_MS)) == 0;
	close(ep);
	close(c);
	close(s);
	return set_pairing(true) && ok;
}

/* ---- a client that is closed while TCP connects ---- */

static int tcp_state(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
		give_up("TCP_INFO");
	return info.tcpi_state;
}

static void *close_it(void *arg)
{
	close(*(int *)arg);
	return NULL;
}

/*
 * A full queue drops the SYN.  TCP repeats it after a second. By then close() has begun and there
 * is room, so the answer arrives at a socket that is being closed.
 */
static bool closed_while_connecting(void)
{
	int port, l = raw_listen(&port), first, c;
	pthread_t thread;

	listen(l, 0);
	first = victim_connect(port);
	c = victim_connect(port);
	if (tcp_state(c) != TCP_SYN_SENT)
		give_up("the SYN was not dropped");
	set_parameter("close_delay_ms", slow(4000));
	if (pthread_create(&thread, NULL, close_it, &c))
		give_up("pthread_create");
	close(accept_in_time(l));
	close(accept_in_time(l));
	pthread_join(thread, NULL);
	set_parameter("close_delay_ms", 0);
	close(first);
	close(l);
	return true;
}

/* ---- sockets that outlive their files ---- */

#define MAX_ORPHANS	16

/* Someone with as many such sockets as possible. */
struct holder {
	pid_t pid;
	int count, leave;
};

/*
 * Closes clients whose servers do not answer, until one of them ends TCP at once, because there is
 * no room for it. Returns how many have outlived their files; @raw are their servers.
 */
static int hold_orphans(int *raw)
{
	int port, l = raw_listen(&port), n = 0, c, s;
	enum reaction end = GOT_NOTHING;
	struct message m;

	while (end == GOT_NOTHING && n <= MAX_ORPHANS) {
		c = victim_connect(port);
		s = accept_in_time(l);
		if (get_message(s, &m, WAIT_MS) != GOT_PROPOSAL)
			give_up("no Proposal");
		close(c);
		end = get_message(s, &m, slow(NO_END_MS));
		if (end == GOT_NOTHING)
			raw[n++] = s;
		else
			close(s);
	}
	close(l);
	return n;
}

static void play_holder(uid_t uid, bool guest, int result, int leave)
{
	int raw[MAX_ORPHANS + 1], n;
	struct message m;
	char c;

	if (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
		give_up("cannot become user %d", (int)uid);
	if (guest && (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0 || !loopback_up()))
		give_up("cannot create namespaces");
	n = hold_orphans(raw);
	if (write(result, &n, sizeof(n)) != sizeof(n) || read(leave, &c, 1) != 1)
		give_up("a pipe");
	/* They no longer count when TCP ends. */
	for (int i = 0; i < n; i++) {
		shutdown(raw[i], SHUT_WR);
		if (get_message(raw[i], &m, WAIT_MS) != GOT_END)
			give_up("a socket without a file does not end");
	}
	_exit(0);
}

static struct holder holder_begin(uid_t uid, bool guest)
{
	struct holder h = { 0 };
	int result[2], leave[2];

	if (pipe2(result, O_CLOEXEC) < 0 || pipe2(leave, O_CLOEXEC) < 0)
		give_up("pipe");
	fflush(stdout);
	h.pid = fork();
	if (!h.pid) {
		close(leave[1]);
		play_holder(uid, guest, result[1], leave[0]);
	}
	close(result[1]);
	close(leave[0]);
	if (read(result[0], &h.count, sizeof(h.count)) != sizeof(h.count))
		give_up("user %d has not counted", (int)uid);
	close(result[0]);
	h.leave = leave[1];
	return h;
}

static bool holder_end(struct holder *h)
{
	int status;

	/* Other children have this end of the pipe, too. */
	if (write(h->leave, "", 1) != 1)
		give_up("a pipe");
	close(h->leave);
	return waitpid(h->pid, &status, 0) == h->pid && !status;
}

/* Each of them, in turn, gets as many as it may have. */
struct share {
	uid_t uid;
	bool guest;
	int count;
};

static bool shared(const struct share *shares, int n)
{
	struct holder holders[8];
	bool ok = true;

	for (int i = 0; i < n; i++) {
		holders[i] = holder_begin(shares[i].uid, shares[i].guest);
		if (holders[i].count != shares[i].count) {
			ksft_print_msg("%s of user %d: %d, not %d\n",
				       shares[i].guest ? "namespace" : "sockets",
				       (int)shares[i].uid, holders[i].count, shares[i].count);
			ok = false;
		}
	}
	for (int i = 0; i < n; i++)
		ok = holder_end(&holders[i]) && ok;
	return ok;
}

/* A socket may outlive its file if its user has fewer of them than are still free. */
static void orphans_shared(void)
{
	static const struct share users[] = {
		{ 1000, false, 8 }, { 1001, false, 4 }, { 0, false, 2 },
	};
	/* Namespaces that any user can create leave a quarter of 16 free. */
	static const struct share namespaces[] = {
		{ 1000, true, 6 }, { 1000, true, 0 }, { 1001, true, 3 }, { 0, false, 4 },
	};

	set_parameter("max_orphans", MAX_ORPHANS);
	klog_result(shared(users, 3), "a user's sockets without a file leave room for others");
	klog_result(shared(namespaces, 4), "so do those of a user's namespaces");
	set_parameter("max_orphans", 16384);
}

int main(void)
{
	struct rlimit nofile = { 4096, 4096 };
	int raw[STALLED], victim[STALLED], l, port, rl, rport;
	struct message m;
	long old;
	bool ok;

	ksft_print_header();
	if (!raw_available())
		ksft_exit_skip("no test build of smc.ko is loaded\n");
	ksft_set_plan(19);
	klog_open();
	setrlimit(RLIMIT_NOFILE, &nofile);
	l = victim_listen(&port);
	rl = raw_listen(&rport);
	old = set_timeout_ms(600000);

	/* Clients that never send a Proposal. */
	for (int i = 0; i < STALLED; i++)
		raw[i] = raw_connect(port);
	for (int i = 0; i < STALLED; i++)
		victim[i] = accept_in_time(l);
	klog_result(still_undecided(victim),
		    "100 silent clients are accepted, and remain undecided");
	ok = true;
	for (int i = 0; i < 5; i++)
		ok = ok && served(l, port);
	klog_result(ok, "other clients are served beside 100 silent clients");
	klog_result(still_undecided(victim), "the 100 clients are still undecided");
	close_all(raw, victim);

	/* Servers that never answer the Proposal. */
	for (int i = 0; i < STALLED; i++)
		victim[i] = victim_connect(rport);
	ok = true;
	for (int i = 0; i < STALLED; i++) {
		raw[i] = accept_in_time(rl);
		ok = ok && get_message(raw[i], &m, WAIT_MS) == GOT_PROPOSAL;
	}
	klog_result(ok && still_undecided(victim), "100 clients wait for silent servers");
	ok = true;
	for (int i = 0; i < 5; i++)
		ok = ok && served(l, port);
	klog_result(ok && still_undecided(victim),
		    "other clients are served beside 100 silent servers");
	close_all(raw, victim);
	klog_result(served(l, port),
		    "closing 100 stalled handshakes does not affect other clients");
	klog_result(served_despite_rcvlowat(l, port), "SO_RCVLOWAT does not delay a handshake");

	klog_result(shut_then_declined(l, port, SHUT_WR),
		    "shutdown(SHUT_WR) is done after a handshake that ends with TCP");
	klog_result(shut_then_declined(l, port, SHUT_RDWR), "so is shutdown(SHUT_RDWR)");
	klog_result(no_late_edge(l, port), "the end of a handshake is no edge for epoll later");
	listener_gone(l, port);
	orphans_shared();

	/* After the timeout they end. */
	/* All of them have to be accepted before that. */
	set_timeout_ms(slow(500));
	for (int i = 0; i < STALLED; i++)
		raw[i] = raw_connect(port);
	for (int i = 0; i < STALLED; i++)
		victim[i] = accept_in_time(l);
	klog_result(all_end(raw, victim), "silent clients are reset after the timeout");
	klog_result(ends_despite_rcvlowat(l, port), "so is a client that sends without end");
	close_all(raw, victim);
	for (int i = 0; i < STALLED; i++)
		victim[i] = victim_connect(rport);
	for (int i = 0; i < STALLED; i++) {
		raw[i] = accept_in_time(rl);
		if (get_message(raw[i], &m, WAIT_MS) != GOT_PROPOSAL)
			give_up("a client sent no Proposal");
	}
	klog_result(all_end(raw, victim), "silent servers are reset after the timeout");
	close_all(raw, victim);
	set_timeout_ms(old);

	klog_result(closed_while_connecting(), "close() while TCP is still connecting");
	klog_result(served(l, port), "other clients are served after the late connect");
	ksft_finished();
}
