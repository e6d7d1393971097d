/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The handshake of one socket: with CLC messages (RFC 7609, 3.5 and appendix C), or, within this
 * kernel, without (pair.h).
 *
 *	client:  CONNECT --TCP up, send Proposal--> ACCEPT --> PREPARE
 *		 --send Confirm--> FINISH --> (UP)
 *	server:  PROPOSAL --> PREPARE --send Accept--> CONFIRM --> FINISH --> (UP)
 *
 * In PREPARE and FINISH the fabric may need time.
 *
 * Each step may end in a Decline, sent or received: the socket becomes TCP.  A violation of
 * the protocol and a timeout reset the connection.
 *
 * The state machine runs in a work item of its own and nowhere else.  Whatever happens to the TCP
 * connection or to the fabric queues that work.  It sleeps for no peer, and it waits for no user's
 * lock: a step that needs the socket holds its spin lock, while nobody owns the socket.  If
 * somebody does, the work is queued again when the owner gives the lock back.
 *
 * This is what the socket uses; internal.h has what the files of this folder share.
 */
#ifndef SMC_HANDSHAKE_H
#define SMC_HANDSHAKE_H

#include <linux/cpumask.h>
#include <linux/types.h>
#include "../netns.h"
#include "../smc.h"

struct smc_hs_role;

/**
 * struct smc_hs_owner_ops - the socket that has a handshake
 * @unpaired:	a client: TCP is up, and there is no pair: begin with CLC, or stay TCP
 * @excludes:	a server: a Proposal has come; SMC_REASON_NONE, or why it is declined.  Not locked
 * @up:		both sides agree; takes over the reference to the connection
 * @tcp:	the connection stays TCP, with the reason and the diagnosis of the peer's
 *		Decline or 0
 * @reset:	reset the TCP connection, with the reason and the errno for the application,
 *		positive
 * @done:	the handshake has left the socket.  @closing: its file has gone as well, and
 *		what remains is to be closed; only then it may sleep.  Not locked
 *
 * But for @excludes and @done, the spin lock of the socket is held, and nobody owns the socket.
 */
struct smc_hs_owner_ops {
	void (*unpaired)(struct sock *sk);
	enum smc_reason (*excludes)(const struct sock *sk);
	void (*up)(struct sock *sk, struct smc_conn *c);
	void (*tcp)(struct sock *sk, enum smc_reason reason, u32 peer_diagnosis);
	void (*reset)(struct sock *sk, enum smc_reason reason, int err);
	void (*done)(struct sock *sk, bool closing);
};

/* client.c, server.c */
extern const struct smc_hs_role smc_hs_client;
extern const struct smc_hs_role smc_hs_server;

/* run.c */
int smc_hs_init(void);
void smc_hs_exit(void);
struct smc_handshake *smc_hs_new(struct sock *sk, const struct sock *payer,
				 const struct smc_hs_role *role,
				 const struct smc_hs_owner_ops *ops, gfp_t gfp);
void smc_hs_begin(struct sock *sk);
void smc_hs_event(struct sock *sk);
void smc_hs_detach(struct sock *sk);

/* Beyond this many handshakes in progress the workers cannot keep up. */
static inline unsigned int smc_hs_threshold(void)
{
	return num_online_cpus() * 16;
}

/**
 * smc_hs_congested() - shall new connections become TCP for now?
 * @sn: the namespace
 * @limited: the socket asks for the limit, whatever the namespace says
 *
 * Return: true if so.
 */
static inline bool smc_hs_congested(const struct smc_net *sn, bool limited)
{
	return (limited || READ_ONCE(sn->limit_hs)) &&
	       atomic_read(&sn->n_handshakes) > smc_hs_threshold();
}

#endif
