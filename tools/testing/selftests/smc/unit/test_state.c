// SPDX-License-Identifier: GPL-2.0
/*
 * States of a connection: the transitions of RFC 7609, 4.8, written from the text and its numbers
 * (1 to 4D, abnormal 1A to 2B), not from the code.
 */
#include "../../../../../net/smc/conn/state.h"
#include "tap.h"

#define S(name)		SMC_CONN_##name
#define E(name)		SMC_EV_##name
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *rfc;
	enum smc_conn_state from;
	enum smc_conn_event event;
	int other_closed;
	int to;
} steps[] = {
	{ "2",  S(INIT), E(ESTABLISHED), 0, S(ACTIVE) },
	{ "3A", S(ACTIVE), E(DONE), 0, S(PEERCLOSEWAIT1) },
	{ "3A", S(ACTIVE), E(CLOSE), 0, S(PEERCLOSEWAIT1) },
	{ "3B", S(PEERCLOSEWAIT1), E(PEER_DONE), 0, S(PEERCLOSEWAIT2) },
	{ "3B", S(PEERCLOSEWAIT1), E(PEER_DONE), 1, S(PEERCLOSEWAIT2) },
	{ "3C", S(PEERCLOSEWAIT1), E(PEER_CLOSE), 1, S(CLOSED) },
	{ "3C", S(PEERCLOSEWAIT2), E(PEER_CLOSE), 1, S(CLOSED) },
	{ "3C", S(PEERCLOSEWAIT1), E(PEER_CLOSE), 0, S(APPFINCLOSEWAIT) },
	{ "3C", S(PEERCLOSEWAIT2), E(PEER_CLOSE), 0, S(APPFINCLOSEWAIT) },
	{ "3D", S(APPFINCLOSEWAIT), E(CLOSE), 1, S(CLOSED) },
	{ "3: close after shutdown", S(PEERCLOSEWAIT1), E(CLOSE), 0, S(PEERCLOSEWAIT1) },
	{ "3: close after shutdown", S(PEERCLOSEWAIT2), E(CLOSE), 0, S(PEERCLOSEWAIT2) },
	{ "4A", S(ACTIVE), E(PEER_DONE), 0, S(APPCLOSEWAIT1) },
	{ "4A", S(ACTIVE), E(PEER_CLOSE), 0, S(APPCLOSEWAIT1) },
	{ "4B", S(APPCLOSEWAIT1), E(DONE), 0, S(APPCLOSEWAIT2) },
	{ "4C", S(APPCLOSEWAIT1), E(CLOSE), 1, S(CLOSED) },
	{ "4C", S(APPCLOSEWAIT2), E(CLOSE), 1, S(CLOSED) },
	{ "4C", S(APPCLOSEWAIT1), E(CLOSE), 0, S(PEERFINCLOSEWAIT) },
	{ "4C", S(APPCLOSEWAIT2), E(CLOSE), 0, S(PEERFINCLOSEWAIT) },
	{ "4D", S(PEERFINCLOSEWAIT), E(PEER_CLOSE), 1, S(CLOSED) },
	{ "4: peer done, then closed", S(APPCLOSEWAIT1), E(PEER_CLOSE), 0, S(APPCLOSEWAIT1) },
	{ "4: peer done, then closed", S(APPCLOSEWAIT2), E(PEER_CLOSE), 0, S(APPCLOSEWAIT2) },
	{ "1A", S(ACTIVE), E(ABORT), 0, S(PEERABORTWAIT) },
	{ "1A", S(PEERCLOSEWAIT1), E(ABORT), 0, S(PEERABORTWAIT) },
	{ "1A", S(PEERCLOSEWAIT2), E(ABORT), 0, S(PEERABORTWAIT) },
	{ "1A", S(APPCLOSEWAIT1), E(ABORT), 0, S(PEERABORTWAIT) },
	{ "1A", S(APPCLOSEWAIT2), E(ABORT), 0, S(PEERABORTWAIT) },
	{ "1B", S(PEERABORTWAIT), E(PEER_ABORT), 1, S(CLOSED) },
	{ "2A", S(ACTIVE), E(PEER_ABORT), 0, S(PROCESSABORT) },
	{ "2A", S(PEERCLOSEWAIT1), E(PEER_ABORT), 0, S(PROCESSABORT) },
	{ "2A", S(APPCLOSEWAIT1), E(PEER_ABORT), 0, S(PROCESSABORT) },
	{ "2B", S(PROCESSABORT), E(ABORT), 1, S(CLOSED) },
	{ "2B", S(PROCESSABORT), E(CLOSE), 1, S(CLOSED) },
	{ "before the Confirm came", S(INIT), E(PEER_CLOSE), 0, S(APPCLOSEWAIT1) },
	{ "before the Confirm came", S(APPCLOSEWAIT1), E(ESTABLISHED), 1, S(APPCLOSEWAIT1) },
	{ "without a handshake", S(INIT), E(CLOSE), 0, S(CLOSED) },
	{ "without a handshake", S(INIT), E(ABORT), 0, S(CLOSED) },
	{ "without a handshake", S(INIT), E(PEER_ABORT), 0, S(CLOSED) },
};

static const enum smc_conn_state all_states[] = {
	S(ACTIVE), S(INIT), S(CLOSED), S(PEERCLOSEWAIT1), S(PEERCLOSEWAIT2),
	S(APPFINCLOSEWAIT), S(APPCLOSEWAIT1), S(APPCLOSEWAIT2),
	S(PEERFINCLOSEWAIT), S(PEERABORTWAIT), S(PROCESSABORT),
};

static bool known(int state)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_states); i++)
		if ((int)all_states[i] == state)
			return true;
	return false;
}

static void test_steps(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		int to = smc_state_next(steps[i].from, steps[i].event,
					steps[i].other_closed);

		CHECK(to == steps[i].to, "step %s, row %zu: %s", steps[i].rfc, i,
		      to < 0 ? "violation" : smc_state_name(to));
	}
	tap_case("every step of RFC 7609, 4.8");
}

static void test_own_events(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_states); i++)
		for (int ev = 0; ev < SMC_EV_PEER_DONE; ev++)
			for (int closed = 0; closed < 2; closed++) {
				int to = smc_state_next(all_states[i], ev, closed);

				CHECK(known(to), "state %d event %d",
				      all_states[i], ev);
			}
	tap_case("no local event is a violation in any state");
}

static void test_closed_is_final(void)
{
	for (int ev = 0; ev < SMC_NR_EVENTS; ev++)
		for (int closed = 0; closed < 2; closed++)
			CHECK(smc_state_next(S(CLOSED), ev, closed) == S(CLOSED),
			      "event %d", ev);
	tap_case("no event leaves CLOSED");
}

static void test_violations(void)
{
	CHECK(smc_state_next(S(APPFINCLOSEWAIT), E(PEER_DONE), 0) < 0, "done");
	CHECK(smc_state_next(S(APPFINCLOSEWAIT), E(PEER_CLOSE), 0) < 0, "closed");
	tap_case("a message after the peer's close is a violation");
}

/* Events that change nothing: repeated, late, or implied by an earlier one. */
static const struct {
	enum smc_conn_state state;
	enum smc_conn_event event;
} stays[] = {
	{ S(PEERCLOSEWAIT1), E(DONE) },
	{ S(PEERCLOSEWAIT2), E(DONE) },
	{ S(PEERCLOSEWAIT1), E(CLOSE) },
	{ S(PEERCLOSEWAIT2), E(CLOSE) },
	{ S(APPCLOSEWAIT2), E(DONE) },
	{ S(APPCLOSEWAIT1), E(PEER_DONE) },
	{ S(APPCLOSEWAIT2), E(PEER_DONE) },
	{ S(APPFINCLOSEWAIT), E(DONE) },
	{ S(PEERFINCLOSEWAIT), E(DONE) },
	{ S(PEERFINCLOSEWAIT), E(CLOSE) },
	{ S(PEERFINCLOSEWAIT), E(PEER_DONE) },
	{ S(PEERABORTWAIT), E(DONE) },
	{ S(PEERABORTWAIT), E(CLOSE) },
	{ S(PEERABORTWAIT), E(ABORT) },
	{ S(PEERABORTWAIT), E(PEER_DONE) },
	{ S(PROCESSABORT), E(DONE) },
	{ S(PROCESSABORT), E(PEER_DONE) },
	{ S(PROCESSABORT), E(PEER_CLOSE) },
	{ S(PROCESSABORT), E(PEER_ABORT) },
};

static void test_stays(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(stays); i++)
		for (int closed = 0; closed < 2; closed++)
			CHECK(smc_state_next(stays[i].state, stays[i].event, closed) ==
			      (int)stays[i].state, "row %zu", i);
	for (i = 0; i < ARRAY_SIZE(all_states); i++)
		CHECK(smc_state_next(all_states[i], E(ESTABLISHED), 0) ==
		      (int)(all_states[i] == S(INIT) ? S(ACTIVE) : all_states[i]),
		      "established in state %d", all_states[i]);
	tap_case("events that change nothing");
}

static void test_aborts(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_states); i++) {
		enum smc_conn_state from = all_states[i];

		if (from == S(INIT) || from == S(CLOSED) || from == S(PEERABORTWAIT) ||
		    from == S(PROCESSABORT))
			continue;
		CHECK(smc_state_next(from, E(ABORT), 0) == S(PEERABORTWAIT), "%d", from);
		CHECK(smc_state_next(from, E(PEER_ABORT), 0) == S(PROCESSABORT), "%d", from);
	}
	CHECK(smc_state_next(S(PEERABORTWAIT), E(PEER_CLOSE), 1) == S(CLOSED),
	      "close instead of abort");
	tap_case("either side may abort in every open state");
}

static void test_names(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_states); i++)
		for (size_t k = i + 1; k < ARRAY_SIZE(all_states); k++)
			CHECK(smc_state_name(all_states[i]) !=
			      smc_state_name(all_states[k]), "%zu %zu", i, k);
	tap_case("every state has a distinct name");
}

int main(void)
{
	test_steps();
	test_own_events();
	test_closed_is_final();
	test_violations();
	test_stays();
	test_aborts();
	test_names();
	return tap_done();
}
