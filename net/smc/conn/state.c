// SPDX-License-Identifier: GPL-2.0
/* States of an SMC connection (RFC 7609, 4.8): the table of transitions. */
#include "state.h"

static int after_close(enum smc_conn_state wait, int other_closed)
{
	return other_closed ? SMC_CONN_CLOSED : wait;
}

static int next_active(enum smc_conn_event event)
{
	switch (event) {
	case SMC_EV_DONE:
	case SMC_EV_CLOSE:
		return SMC_CONN_PEERCLOSEWAIT1;
	case SMC_EV_PEER_DONE:
	case SMC_EV_PEER_CLOSE:
		return SMC_CONN_APPCLOSEWAIT1;
	default:
		return -1;
	}
}

/* Transitions of the side that closed first: 3A to 3D. */
static int next_peerclosewait(enum smc_conn_state state, enum smc_conn_event event,
			      int other_closed)
{
	switch (event) {
	case SMC_EV_DONE:
	case SMC_EV_CLOSE:
		return state;
	case SMC_EV_PEER_DONE:
		return SMC_CONN_PEERCLOSEWAIT2;
	case SMC_EV_PEER_CLOSE:
		return after_close(SMC_CONN_APPFINCLOSEWAIT, other_closed);
	default:
		return -1;
	}
}

/* Transitions of the side that was told of the peer's close: 4A to 4D. */
static int next_appclosewait(enum smc_conn_state state, enum smc_conn_event event,
			     int other_closed)
{
	switch (event) {
	case SMC_EV_DONE:
		return SMC_CONN_APPCLOSEWAIT2;
	case SMC_EV_CLOSE:
		return after_close(SMC_CONN_PEERFINCLOSEWAIT, other_closed);
	case SMC_EV_PEER_DONE:
	case SMC_EV_PEER_CLOSE:
		return state;
	default:
		return -1;
	}
}

static int next_abort(enum smc_conn_state state, enum smc_conn_event event)
{
	switch (state) {
	case SMC_CONN_CLOSED:
		return state;
	case SMC_CONN_INIT:
		return SMC_CONN_CLOSED;
	case SMC_CONN_PEERABORTWAIT:
		return event == SMC_EV_PEER_ABORT ? SMC_CONN_CLOSED : state;
	case SMC_CONN_PROCESSABORT:
		return event == SMC_EV_ABORT ? SMC_CONN_CLOSED : state;
	default:
		return event == SMC_EV_ABORT ? SMC_CONN_PEERABORTWAIT :
					       SMC_CONN_PROCESSABORT;
	}
}

int smc_state_next(enum smc_conn_state state, enum smc_conn_event event,
		   int other_closed)
{
	if (event == SMC_EV_ABORT || event == SMC_EV_PEER_ABORT)
		return next_abort(state, event);
	/*
	 * The peer may already have written and closed, or aborted, before our side's handshake
	 * worker got to run.
	 */
	if (event == SMC_EV_ESTABLISHED)
		return state == SMC_CONN_INIT ? SMC_CONN_ACTIVE : state;

	switch (state) {
	case SMC_CONN_INIT:
		return event == SMC_EV_CLOSE ? SMC_CONN_CLOSED : next_active(event);
	case SMC_CONN_ACTIVE:
		return next_active(event);
	case SMC_CONN_PEERCLOSEWAIT1:
	case SMC_CONN_PEERCLOSEWAIT2:
		return next_peerclosewait(state, event, other_closed);
	case SMC_CONN_APPCLOSEWAIT1:
	case SMC_CONN_APPCLOSEWAIT2:
		return next_appclosewait(state, event, other_closed);
	case SMC_CONN_APPFINCLOSEWAIT:
		if (event == SMC_EV_CLOSE)
			return SMC_CONN_CLOSED;
		return event == SMC_EV_DONE ? (int)state : -1;
	case SMC_CONN_PEERFINCLOSEWAIT:
		if (event == SMC_EV_PEER_CLOSE)
			return SMC_CONN_CLOSED;
		return state;
	case SMC_CONN_PEERABORTWAIT:
	case SMC_CONN_PROCESSABORT:
		if (event == SMC_EV_CLOSE && state == SMC_CONN_PROCESSABORT)
			return SMC_CONN_CLOSED;
		if (event == SMC_EV_PEER_CLOSE && state == SMC_CONN_PEERABORTWAIT)
			return SMC_CONN_CLOSED;
		return state;
	case SMC_CONN_CLOSED:
		return state;
	}
	return -1;
}

const char *smc_state_name(enum smc_conn_state state)
{
	switch (state) {
	case SMC_CONN_ACTIVE:		return "ACTIVE";
	case SMC_CONN_INIT:		return "INIT";
	case SMC_CONN_CLOSED:		return "CLOSED";
	case SMC_CONN_PEERCLOSEWAIT1:	return "PEERCLOSEWAIT1";
	case SMC_CONN_PEERCLOSEWAIT2:	return "PEERCLOSEWAIT2";
	case SMC_CONN_APPFINCLOSEWAIT:	return "APPFINCLOSEWAIT";
	case SMC_CONN_APPCLOSEWAIT1:	return "APPCLOSEWAIT1";
	case SMC_CONN_APPCLOSEWAIT2:	return "APPCLOSEWAIT2";
	case SMC_CONN_PEERFINCLOSEWAIT:	return "PEERFINCLOSEWAIT";
	case SMC_CONN_PEERABORTWAIT:	return "PEERABORTWAIT";
	case SMC_CONN_PROCESSABORT:	return "PROCESSABORT";
	}
	return "UNKNOWN";
}
