// SPDX-License-Identifier: GPL-2.0
/*
 * A simultaneous open: no end is the server. The victim sends nothing before its peer has, and
 * declines the Proposal of a peer that is an ordinary client.
 */
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest.h"
#include "netlink_client.h"
#include "scene.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static struct scene as_crossed(void)
{
	struct scene s = { 0 };

	crossed_open(true, &s.raw, &s.victim);
	return s;
}

static bool nothing_sent(struct scene s, int ms)
{
	return !wait_mask(s.raw, POLLIN, ms) || BAD("the victim speaks first");
}

/* The victim has sent nothing, and both ends are TCP. */
static bool is_tcp(struct scene s)
{
	return nothing_sent(s, 0) && talks_tcp(s);
}

static bool silent_peer(struct scene s)
{
	/* talks_tcp() begins with data of the peer. */
	wait_mask(s.victim, POLLOUT, WAIT_MS);
	return is_tcp(s) && victim_says(s, SMC_REASON_BOTH_CLIENTS);
}

static bool data_first(struct scene s)
{
	return nothing_sent(s, 1000) && is_tcp(s) && victim_says(s, SMC_REASON_BOTH_CLIENTS);
}

/* Sends the first bytes of a message, then the rest. The victim waits a second for a header. */
static bool declined(struct scene s, const struct message *m, unsigned int first)
{
	put_bytes(s.raw, m->b, first);
	if (first < m->len && !nothing_sent(s, 100))
		return false;
	put_bytes(s.raw, m->b + first, m->len - first);
	return judge(s, GOT_DECLINE, false, NULL) && victim_says(s, SMC_REASON_BOTH_CLIENTS);
}

static bool proposal_at_once(struct scene s)
{
	return declined(s, &proposal, proposal.len);
}

static bool proposal_in_pieces(struct scene s)
{
	return declined(s, &proposal, 5);
}

static bool proposal_after_its_header(struct scene s)
{
	return declined(s, &proposal, 8);
}

static bool later_proposal(struct scene s)
{
	struct message m = proposal;

	m.b[7] = (m.b[7] & 0x0f) | 0x70;
	return declined(s, &m, m.len);
}

static bool proposal_and_end(struct scene s)
{
	struct message m;

	put_bytes(s.raw, proposal.b, proposal.len);
	shutdown(s.raw, SHUT_WR);
	return (get_message(s.raw, &m, WAIT_MS) == GOT_DECLINE || BAD("no Decline")) &&
	       victim_is_told(s, false);
}

static bool half_a_proposal(struct scene s)
{
	put_bytes(s.raw, proposal.b, 20);
	shutdown(s.raw, SHUT_WR);
	return judge(s, GOT_RESET, false, NULL);
}

static bool decline_and_data(struct scene s)
{
	put_bytes(s.raw, decline_v1.b, decline_v1.len);
	put_bytes(s.raw, "data behind", 11);
	return victim_reads(s, "data behind") && is_tcp(s) &&
	       victim_says(s, SMC_REASON_BOTH_CLIENTS);
}

/* What cannot be the first message of a client belongs to the application. */
static bool reads_all(struct scene s, const struct message *m, size_t len)
{
	put_bytes(s.raw, m->b, len);
	return victim_reads_bytes(s, m->b, len) && is_tcp(s);
}

static bool accept_first(struct scene s)
{
	return reads_all(s, &accept_, accept_.len);
}

static bool half_a_header(struct scene s)
{
	return reads_all(s, &proposal, 7);
}

static bool victim_closes(struct scene s)
{
	struct message m;

	shutdown(s.victim, SHUT_WR);
	put_bytes(s.raw, proposal.b, proposal.len);
	return get_message(s.raw, &m, WAIT_MS) == GOT_DECLINE || BAD("no Decline");
}

static const struct {
	bool (*check)(struct scene s);
	const char *what;
} cases[] = {
	{ silent_peer, "nothing" },
	{ data_first, "data" },
	{ proposal_at_once, "a Proposal" },
	{ proposal_in_pieces, "a Proposal, its header in two pieces" },
	{ proposal_after_its_header, "a Proposal, its header first" },
	{ later_proposal, "a Proposal of a later version" },
	{ proposal_and_end, "a Proposal and the end of the stream" },
	{ half_a_proposal, "half a Proposal and the end of the stream" },
	{ decline_and_data, "a Decline and data" },
	{ accept_first, "an Accept" },
	{ half_a_header, "seven bytes of a Proposal" },
	{ victim_closes, "a Proposal after shutdown() of the victim" },
};

int crossed_plan(void)
{
	return COUNT(cases);
}

void crossed(void)
{
	char name[100];

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct scene s = as_crossed();
		struct diag d;

		snprintf(name, sizeof(name), "simultaneous open: %s", cases[i].what);
		/* Without TCP's hooks a SYN-ACK of a simultaneous open has no option. */
		if (diag_of(s.victim, &d) && d.reason == SMC_REASON_PEER_NO_OPTION)
			ksft_test_result_skip("%s\n", name);
		else
			result(cases[i].check(s), name);
		end_scene(s);
	}
}
