// SPDX-License-Identifier: GPL-2.0
/*
 * A silent peer costs nobody else anything: 100 handshakes that do not move, in
 * both roles, and beside them somebody who connects and is served.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest.h"
#include "klog.h"
#include "lib.h"
#include "raw.h"

#define STALLED 100

static int mode_of(int fd)
{
	struct smc_sock_info_u info;
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_SMC, SMC_SOCK_INFO, &info, &len) < 0)
		return MODE_TCP;
	return info.mode;
}

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

static void result(bool ok, const char *name)
{
	char bug[512];
	int n = klog_check(bug, sizeof(bug));

	if (n) {
		ksft_print_msg("kernel log: %d bad lines, first: %s\n", n, bug);
		ok = false;
	}
	ksft_test_result(ok, "%s\n", name);
	fflush(stdout);
}

/* One connection through @l, in blocking calls, and it has to be SMC. */
static bool served(int l, int port)
{
	int c = victim_connect(port), s;
	char buf[4] = "";
	bool ok;

	s = accept_in_time(l);
	wait_mask(c, POLLOUT, WAIT_MS);
	ok = send(c, "ping", 4, MSG_NOSIGNAL) == 4;
	ok = ok && wait_mask(s, POLLIN, WAIT_MS) && recv(s, buf, 4, 0) == 4;
	ok = ok && send(s, buf, 4, MSG_NOSIGNAL) == 4;
	ok = ok && wait_mask(c, POLLIN, WAIT_MS) && recv(c, buf, 4, 0) == 4;
	ok = ok && mode_of(c) != MODE_TCP && mode_of(s) != MODE_TCP;
	close(c);
	close(s);
	return ok;
}

/* They all end when their time is over: the raw side sees a reset. */
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
	ksft_set_plan(8);
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
	result(still_undecided(victim), "100 silent clients are accepted and undecided");
	ok = true;
	for (int i = 0; i < 5; i++)
		ok = ok && served(l, port);
	result(ok, "others are served beside 100 silent clients");
	result(still_undecided(victim), "the 100 clients are still undecided");
	close_all(raw, victim);

	/* Servers that never answer the Proposal. */
	for (int i = 0; i < STALLED; i++)
		victim[i] = victim_connect(rport);
	ok = true;
	for (int i = 0; i < STALLED; i++) {
		raw[i] = accept_in_time(rl);
		ok = ok && get_message(raw[i], &m, WAIT_MS) == GOT_PROPOSAL;
	}
	result(ok && still_undecided(victim), "100 clients wait for silent servers");
	ok = true;
	for (int i = 0; i < 5; i++)
		ok = ok && served(l, port);
	result(ok && still_undecided(victim), "others are served beside 100 silent servers");
	close_all(raw, victim);
	result(served(l, port), "closing them in the middle harms nobody");

	/* And when the time is over, it is over. */
	set_timeout_ms(500);
	for (int i = 0; i < STALLED; i++)
		raw[i] = raw_connect(port);
	for (int i = 0; i < STALLED; i++)
		victim[i] = accept_in_time(l);
	result(all_end(raw, victim), "silent clients are reset after the timeout");
	close_all(raw, victim);
	for (int i = 0; i < STALLED; i++)
		victim[i] = victim_connect(rport);
	for (int i = 0; i < STALLED; i++) {
		raw[i] = accept_in_time(rl);
		if (get_message(raw[i], &m, WAIT_MS) != GOT_PROPOSAL)
			ksft_print_msg("client %d sent no Proposal\n", i);
	}
	result(all_end(raw, victim), "silent servers are reset after the timeout");
	close_all(raw, victim);
	set_timeout_ms(old);
	ksft_finished();
}
