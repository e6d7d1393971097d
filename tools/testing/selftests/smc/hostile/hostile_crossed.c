// SPDX-License-Identifier: GPL-2.0
/*
 * A simultaneous open: no end is the server. The victim sends nothing before its peer has, and
 * declines the Proposal of a peer that is an ordinary client.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest.h"
#include "netlink_client.h"
#include "scene.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static struct message decline = { .len = 28, .b = {
	0xe2, 0xd4, 0xc3, 0xd9, CLC_DECLINE, 0, 28, 0x10,
	1, 2, 3, 4, 5, 6, 7, 8, 0x03, 0x01, 0, 0, 0, 0, 0, 0,
	0xe2, 0xd4, 0xc3, 0xd9,
} };

static struct scene as_crossed(void)
{
	struct scene s = { 0 };

	raw_crossed(&s.raw, &s.victim);
	return s;
}

/* The victim has sent nothing, and both ends are TCP. */
static bool is_tcp(struct scene s)
{
	return !wait_mask(s.raw, POLLIN, 0) ? talks_tcp(s) : BAD("the victim speaks first");
}

static bool nothing_sent(struct scene s)
{
	return !wait_mask(s.raw, POLLIN, 1000) || BAD("the victim speaks first");
}

static bool silent_peer(struct scene s)
{
	/* talks_tcp() begins with data of the peer. */
	wait_mask(s.victim, POLLOUT, WAIT_MS);
	return is_tcp(s) && victim_says(s, SMC_REASON_BOTH_CLIENTS);
}

static bool data_first(struct scene s)
{
	return nothing_sent(s) && is_tcp(s) && victim_says(s, SMC_REASON_BOTH_CLIENTS);
}

/* Sends the message as it is, and in two pieces. */
static bool declined(struct scene s, const struct message *m, unsigned int first)
{
	put_bytes(s.raw, m->b, first);
	if (first < m->len && !nothing_sent(s))
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
	put_bytes(s.raw, decline.b, decline.len);
	put_bytes(s.raw, "data behind", 11);
	return victim_reads(s, "data behind") && is_tcp(s) &&
	       victim_says(s, SMC_REASON_BOTH_CLIENTS);
}

/* What can be no first message of a client belongs to the application. */
static bool reads_all(struct scene s, const struct message *m, size_t len)
{
	uint8_t buf[sizeof(m->b)];

	put_bytes(s.raw, m->b, len);
	for (size_t n = 0; n < len; ) {
		ssize_t k = wait_mask(s.victim, POLLIN, WAIT_MS) ?
			    recv(s.victim, buf + n, len - n, MSG_DONTWAIT) : 0;

		if (k < 0 && errno == EAGAIN)
			continue;
		if (k <= 0)
			return BAD("the victim reads %zu of %zu bytes", n, len);
		n += k;
	}
	return (!memcmp(buf, m->b, len) || BAD("the victim reads other bytes")) && is_tcp(s);
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
