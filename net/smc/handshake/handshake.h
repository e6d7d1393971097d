/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CLC handshake of one socket (RFC 7609, 3.5 and appendix C): a state machine driven by
 * what happens to the TCP connection.  No task sleeps for it, except one that asked to wait.
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
 * struct smc_hs_ops - the socket that has a handshake
 * @begin:	CLC begins; the socket is locked
 * @up:		both sides agree; takes over the reference to the connection; locked
 * @tcp:	the connection stays TCP, with the reason and the diagnosis of the peer's
 *		Decline or 0; locked
 * @renew:	TCP could not connect, and the socket may try again; locked
 * @reset:	reset the TCP connection, unless it is another one by now; with the reason and
 *		the errno for the application, positive.  Not locked.  Returns true, and the
 *		socket locked, if the handshake is still its own
 * @done:	the handshake has left the socket.  @closing: its file has gone as well, and
 *		what remains is to be closed; only then does it take the lock
 */
struct smc_hs_ops {
	void (*begin)(struct sock *sk);
	void (*up)(struct sock *sk, struct smc_conn *c);
	void (*tcp)(struct sock *sk, enum smc_reason reason, u32 peer_diagnosis);
	void (*renew)(struct sock *sk);
	bool (*reset)(struct sock *sk, const struct smc_handshake *hs, enum smc_reason reason,
		      int err);
	void (*done)(struct sock *sk, bool closing);
};

/* client.c, server.c */
extern const struct smc_hs_role smc_hs_client;
extern const struct smc_hs_role smc_hs_server;

/* handshake.c: its birth and its end */
int smc_hs_init(void);
void smc_hs_exit(void);
void smc_hs_start(struct smc_handshake *hs);
void smc_hs_detach(struct sock *sk);

/* event.c, run.c: who runs it, and when */
void smc_hs_event(struct sock *sk);
struct smc_handshake *smc_hs_new(struct sock *sk, const struct sock *payer,
				 const struct smc_hs_role *role,
				 const struct smc_hs_ops *ops, gfp_t gfp);
void smc_hs_may_pair(struct smc_handshake *hs);
void smc_hs_claims(struct smc_handshake *hs, struct smc_handshake *client);
struct smc_handshake *smc_hs_runner_get(struct sock *sk);
bool smc_hs_has_runner(const struct sock *sk);
void smc_hs_runner_put(struct smc_handshake *hs);
int smc_hs_wait(struct smc_handshake *hs, long timeo);
void smc_hs_accepted(struct sock *sk);

/* lock.c */
struct smc_handshake *smc_hs_lock_child(struct sock *sk);
void smc_hs_unlock_child(struct smc_handshake *hs);

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
