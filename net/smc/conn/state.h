/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States of an SMC connection (RFC 7609, 4.8) as a table without side effects. Also compiles in
 * user space, where every transition is tested.
 */
#ifndef SMC_CONN_STATE_H
#define SMC_CONN_STATE_H

/* The numbers are those that sock_diag shows. */
enum smc_conn_state {
	SMC_CONN_ACTIVE			= 1,
	SMC_CONN_INIT			= 2,
	SMC_CONN_CLOSED			= 7,
	SMC_CONN_PEERCLOSEWAIT1		= 20,
	SMC_CONN_PEERCLOSEWAIT2		= 21,
	SMC_CONN_APPFINCLOSEWAIT	= 24,
	SMC_CONN_APPCLOSEWAIT1		= 22,
	SMC_CONN_APPCLOSEWAIT2		= 23,
	SMC_CONN_PEERFINCLOSEWAIT	= 25,
	SMC_CONN_PEERABORTWAIT		= 26,
	SMC_CONN_PROCESSABORT		= 27,
};

enum smc_conn_event {
	SMC_EV_ESTABLISHED,	/* the handshake has succeeded */
	SMC_EV_DONE,		/* we will write no more: shutdown(SHUT_WR) */
	SMC_EV_CLOSE,		/* we will neither write nor read: close() */
	SMC_EV_ABORT,		/* we give up: reset */
	SMC_EV_PEER_DONE,	/* the same events, reported by the peer */
	SMC_EV_PEER_CLOSE,
	SMC_EV_PEER_ABORT,
	SMC_NR_EVENTS
};

/**
 * smc_state_next() - the state after an event (RFC 7609, 4.8.1 and 4.8.2)
 * @state:	the state before
 * @event:	the event
 * @other_closed: the other side has closed completely: for one of our own events, the peer; for one
 *		of the peer's events, we
 *
 * Return: the new state; @state itself if the event changes nothing; -1 if the event violates the
 * protocol.
 */
int smc_state_next(enum smc_conn_state state, enum smc_conn_event event,
		   int other_closed);

const char *smc_state_name(enum smc_conn_state state);

#endif
