/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The handshake of one socket: with CLC messages (RFC 7609, 3.5 and appendix C), or, for
 * connections within this kernel, without them (pair.h).
 *
 *	client:  CONNECT --TCP up, send Proposal--> ACCEPT --> PREPARE
 *		 --send Confirm--> FINISH --> (UP)
 *	client, after a simultaneous open:
 *		 CONNECT --TCP up--> CROSSED --Proposal received, send Decline--> (TCP)
 *	server:  PROPOSAL --> PREPARE --send Accept--> CONFIRM --> FINISH --> (UP)
 *
 * The fabric may need time in PREPARE and FINISH.
 *
 * Each step may end in a Decline, sent or received; the socket then becomes TCP. A violation of the
 * protocol or a timeout resets the connection.
 *
 * The state machine runs only in its own work item. Any event of the TCP connection or of the
 * fabric queues that work item. It never sleeps to wait for a peer or for a lock that a program
 * holds: a step that needs the socket takes its spin lock and proceeds only if no system call owns
 * the socket. If one does, the work is queued again when the owner releases the lock.
 *
 * This header is the interface for the socket layer; internal.h is shared by the files of this
 * folder.
 */
#ifndef SMC_HANDSHAKE_H
#define SMC_HANDSHAKE_H

#include <linux/cpumask.h>
#include <linux/types.h>
#include "../netns.h"
#include "../smc.h"

struct smc_hs_role;

/**
 * struct smc_hs_owner_ops - how a handshake reports to its socket
 * @unpaired:	client: TCP is up, and there is no pair: start CLC, or stay TCP
 * @misses_events: does TCP no longer report that data has arrived? Not locked
 * @excludes:	the other end is about to be told that this one agrees; returns SMC_REASON_NONE, or
 *		why this end must be TCP. Not locked
 * @up:		both sides agree; takes over the reference to the connection
 * @tcp:	the connection stays TCP, with the reason, and the diagnosis of the peer's Decline
 *		or 0
 * @reset:	reset the TCP connection, with the reason, and the errno for the application,
 *		positive
 * @done:	the handshake has been detached from the socket: wake those who wait for it. Locked,
 *		because a wake-up that comes later is an edge for an epoll that has seen the outcome
 * @close:	the file is closed, so the rest must be closed, too; may sleep. Not locked
 *
 * All calls except @misses_events, @excludes and @close are made with the socket's spin lock held,
 * while no system call owns the socket.
 */
struct smc_hs_owner_ops {
	void (*unpaired)(struct sock *sk);
	bool (*misses_events)(const struct sock *sk);
	enum smc_reason (*excludes)(const struct sock *sk);
	void (*up)(struct sock *sk, struct smc_conn *c);
	void (*tcp)(struct sock *sk, enum smc_reason reason, u32 peer_diagnosis);
	void (*reset)(struct sock *sk, enum smc_reason reason, int err);
	void (*done)(struct sock *sk);
	void (*close)(struct sock *sk);
};

/* client.c, server.c */
extern const struct smc_hs_role smc_hs_client;
extern const struct smc_hs_role smc_hs_server;

/* run.c */
int smc_hs_init(void);
void smc_hs_exit(void);
void smc_hs_begin(struct sock *sk, bool crossed);
void smc_hs_event(struct sock *sk);
void smc_hs_detach(struct sock *sk);

/* end.c */
void smc_hs_withdraw(struct sock *sk);

/* engine.c */
struct smc_handshake *smc_hs_new(struct sock *sk, const struct sock *payer,
				 const struct smc_hs_role *role,
				 const struct smc_hs_owner_ops *ops, gfp_t gfp);

/* Beyond this many handshakes in progress the workers cannot keep up. */
static inline unsigned int smc_hs_threshold(void)
{
	return num_online_cpus() * 16;
}

/**
 * smc_hs_congested() - should new connections become TCP for now?
 * @sn: the namespace
 * @limited: the socket requests the limit, whatever the namespace's setting is
 *
 * Return: true if so.
 */
static inline bool smc_hs_congested(const struct smc_net *sn, bool limited)
{
	return (limited || READ_ONCE(sn->limit_hs)) &&
	       atomic_read(&sn->n_handshakes) > smc_hs_threshold();
}

#endif
