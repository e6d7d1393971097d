// SPDX-License-Identifier: GPL-2.0
/*
 * Many peers at once, each with its own identity, link group, RMB and connection.  What a link
 * group costs does not depend on the number of others.  bench/peers.sh runs this in deterministic
 * mode, where a nanosecond is an instruction.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/meminfo.h"
#include "rogue.h"

#define PEERS	64u
#define WINDOW	8u		/* peers in an average */

static long used_kib(void)
{
	return meminfo_kib("MemTotal") - meminfo_kib("MemAvailable");
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void report(const uint64_t *ns, long before, long half, long after)
{
	uint64_t early = (ns[WINDOW] - ns[0]) / WINDOW;
	uint64_t late = (ns[PEERS] - ns[PEERS - WINDOW]) / WINDOW;

	printf("# {\"peers\": %u, \"setup_ns_early\": %llu, \"setup_ns_late\": %llu, "
	       "\"kib_first_half\": %ld, \"kib_second_half\": %ld}\n", PEERS,
	       (unsigned long long)early, (unsigned long long)late, half - before, after - half);
}

/* On a busy host the setup takes longer than the victim waits before it tests its links. */
static void answer_all(struct conn **c, unsigned int n)
{
	bystander_turn();
	for (unsigned int i = 0; i < n; i++)
		llc_serve(c[i]->l);
}

static void many_peers(enum role role)
{
	long per_peer = set_sysctl("smcr_max_lgrs_per_peer", 4 * PEERS);
	long before = used_kib(), half = 0, after;
	struct conn *c[PEERS];
	uint64_t ns[PEERS + 1];
	bool ok = true;

	for (unsigned int i = 0; i < PEERS; i++) {
		if (i == PEERS / 2)
			half = used_kib();
		ns[i] = now_ns();
		c[i] = conn_begin(role, V21, AT_UP, NULL);
		answer_all(c, i + 1);
	}
	ns[PEERS] = now_ns();
	after = used_kib();
	for (unsigned int i = 0; ok && i < PEERS; i++) {
		for (unsigned int j = 0; ok && role == CLIENT && j < i; j++)
			ok = c[j]->peer.qpn != c[i]->peer.qpn ||
			     BAD("peers %u and %u share a link group", j, i);
		ok = ok && conn_echo(c[i]);
	}
	report(ns, before, half, after);
	for (unsigned int i = 0; i < PEERS; i++)
		conn_end(c[i]);
	set_sysctl("smcr_max_lgrs_per_peer", per_peer);
	verdict(ok, "%u peers at once, %s", PEERS,
		role == CLIENT ? "as clients" : "as servers");
}

void cases_many(void)
{
	TRY(many_peers(CLIENT), "");
	TRY(many_peers(SERVER), "");
}
