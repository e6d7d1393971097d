/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of handshake/. Each file calls only those below it, except that run.c calls
 * pair.c: a handshake that ends leaves the table there, or refuses the client that it has claimed.
 *
 *	client.c, server.c		the steps of each role
 *	engine.c			the state machine, its work item, what both roles share
 *	end.c				declines, errors, and how the socket is told of the verdict
 *	clc_io.c			transport of messages over TCP
 *	pair.c				connections within this kernel, without messages
 *	describe.c			what messages say of this end
 *	run.c				the object, its timer, its verdict, its socket's lock
 */
#ifndef SMC_HANDSHAKE_INTERNAL_H
#define SMC_HANDSHAKE_INTERNAL_H

#include <linux/refcount.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <net/tcp.h>
#include "../fabric/fabric.h"
#include "../smc.h"
#include "../trace.h"
#include "handshake.h"

enum smc_hs_step {
	SMC_HS_CONNECT,
	SMC_HS_ACCEPT,
	SMC_HS_PROPOSAL,
	SMC_HS_PREPARE,
	SMC_HS_CONFIRM,
	SMC_HS_FINISH,
	SMC_HS_CROSSED,		/* client: after a simultaneous open */
	SMC_HS_NR_STEPS
};

/**
 * struct smc_hs_role - client or server
 * @first:	the first step
 * @server:	true for the server
 * @steps:	action of each step; returns true if the state machine may go on
 */
struct smc_hs_role {
	enum smc_hs_step	first;
	bool			server;
	bool (*steps[SMC_HS_NR_STEPS])(struct smc_handshake *hs);
};

enum smc_hs_flag {
	SMC_HS_LATE,		/* half of the time is over: make no more promises */
	SMC_HS_TIMEOUT,		/* all of the time is over */
	SMC_HS_DEAD,		/* detached from its socket */
	SMC_HS_BEGUN,		/* CLC has begun: counted in n_handshakes, and has a deadline */
	SMC_HS_AGAIN,		/* run the state machine when the timer next expires */
	SMC_HS_CROSSED_SYNS,	/* client: no SYN-ACK was accepted (simultaneous open) */
	SMC_HS_NEAR,		/* client: a listener in this kernel has seen the SYN */
	SMC_HS_AWAIT,		/* client: a child may claim it until the timer expires */
	SMC_HS_CLAIMED,		/* client: a child has claimed it and will decide; never cleared */
	SMC_HS_DECIDED,		/* client: the child has decided; never cleared */
	SMC_HS_PROPOSED,	/* client: TCP has the Proposal, and no answer has been taken */
	SMC_HS_ACCEPTED,	/* client: the Accept has been taken, and nothing was sent since */
};

/* How the handshake ends, once that is known. */
enum smc_hs_verdict {
	SMC_HS_OPEN,
	SMC_HS_IS_UP,
	SMC_HS_IS_TCP,
	SMC_HS_IS_RESET,
};

/**
 * struct smc_clc_area - a message, decoded and encoded
 * @proposal:	decoded Proposal, or one to be encoded
 * @accept:	the same for an Accept or Confirm
 * @decline:	the same for a Decline
 * @buf:	the encoded message
 */
struct smc_clc_area {
	union {
		struct smc_clc_proposal	proposal;
		struct smc_clc_accept	accept;
		struct smc_clc_decline	decline;
	};
	u8 buf[SMC_CLC_MAX_LEN];
};

/**
 * struct smc_pair - a client's entry in the table of pair.c
 * @node:	in the table while a child may claim the client
 * @client_isn:	initial sequence number of the client
 * @server_isn:	initial sequence number of its peer; valid with SMC_HS_AWAIT
 * @possible:	the kernel chose @client_isn, so the client can be paired
 * @registered:	the client is or was in the table
 * @reason:	with SMC_HS_DECIDED and without a connection: why the client stays TCP
 * @client_fails: the reason is that the client's end could not be created, not that the child
 *		declines
 * @client:	for a child: handshake of the client that it has claimed, with a reference
 */
struct smc_pair {
	struct hlist_node	node;
	u32			client_isn;
	u32			server_isn;
	bool			possible;
	bool			registered;
	enum smc_reason		reason;
	bool			client_fails;
	struct smc_handshake	*client;
};

/**
 * struct smc_handshake - a handshake in progress
 * @sk:		the socket, with a reference
 * @ops:	how to report to the socket
 * @role:	client or server
 * @ref:	one reference for smc_sock.hs, and one each for the pending work, the timer and a
 *		child that has claimed the client
 * @flags:	enum smc_hs_flag, atomic
 * @work:	runs the state machine. Only the work item accesses the fields below, except @conn
 *		and @pair of a client that waits for a child
 * @timer:	timeout of RFC 7609, C.5; expires earlier for SMC_HS_AGAIN and SMC_HS_AWAIT
 * @soft_deadline: how long a peer may be kept waiting to which nothing has been promised, in
 *		jiffies
 * @deadline:	when the handshake must have ended, in jiffies
 * @memcg:	memory cgroup charged for allocations of the handshake, with a reference
 * @step:	the next step
 * @verdict:	how the handshake ends; if set, @reason, @err and @diagnosis have the arguments
 * @reason:	enum smc_reason for the socket
 * @err:	errno for the application, positive
 * @diagnosis:	the diagnosis in the peer's Decline, or 0
 * @conn:	the connection that is being set up
 * @pair:	see pair.h
 * @neg:	the result of the negotiation
 * @hdr:	header of the message that is being received
 * @have:	number of bytes of the message received so far in @area.buf
 * @looks:	number of looks for the message without a report from TCP, up to a limit
 * @to_send:	number of bytes in @area.buf that TCP has yet to take; they must be sent before the
 *		next step
 * @sent:	number of bytes of the message that TCP has taken already
 * @area:	buffer for messages; the last member, because it is not initialised
 */
struct smc_handshake {
	struct sock		*sk;
	const struct smc_hs_owner_ops *ops;
	const struct smc_hs_role *role;
	refcount_t		ref;
	unsigned long		flags;
	struct work_struct	work;
	struct timer_list	timer;
	unsigned long		soft_deadline;
	unsigned long		deadline;
	struct mem_cgroup	*memcg;
	enum smc_hs_step	step;
	enum smc_hs_verdict	verdict;
	enum smc_reason		reason;
	int			err;
	u32			diagnosis;
	struct smc_conn		*conn;
	struct smc_pair		pair;
	struct smc_negotiated	neg;
	struct smc_clc_hdr	hdr;
	unsigned int		have;
	int			looks;
	unsigned int		to_send;
	unsigned int		sent;
	struct smc_clc_area	area;
};

/* run.c */
struct smc_handshake *smc_hs_alloc(const struct sock *payer, gfp_t gfp);
void smc_hs_put(struct smc_handshake *hs);
void smc_hs_put_later(struct smc_handshake *hs);
void smc_hs_kick(struct smc_handshake *hs);
void smc_hs_kick_at(struct smc_handshake *hs, unsigned long when);
void smc_hs_unlink(struct sock *sk);
void smc_hs_end_up(struct smc_handshake *hs);
void smc_hs_end_tcp(struct smc_handshake *hs, enum smc_reason reason, u32 peer_diagnosis);
void smc_hs_end_reset(struct smc_handshake *hs, enum smc_reason reason, int err);
bool smc_hs_lock(struct smc_handshake *hs) __acquires(&hs->sk->sk_lock.slock);
void smc_hs_unlock(struct smc_handshake *hs) __releases(&hs->sk->sk_lock.slock);

/* clc_io.c: messages over the TCP connection */
void smc_clc_send(struct smc_handshake *hs, int len);
bool smc_clc_flush(struct smc_handshake *hs);
void smc_clc_send_last(struct smc_handshake *hs, const u8 *buf, int len);
int smc_clc_ahead(struct smc_handshake *hs);
bool smc_clc_accept_waits(const struct smc_handshake *hs);
int smc_clc_recv(struct smc_handshake *hs);

/* describe.c: the description of this end in every message */
void smc_hs_peer_id(const struct net *net, u8 *peer_id);
void smc_hs_describe(struct smc_handshake *hs, struct smc_clc_accept *a);
void smc_hs_wanted(const struct sock *sk, struct smc_wanted *want);

/* end.c */
void smc_hs_end_decline(struct smc_handshake *hs, enum smc_reason reason);
void smc_hs_end_declined(struct smc_handshake *hs);
void smc_hs_end_bad(struct smc_handshake *hs, int rc);
void smc_hs_settle(struct smc_handshake *hs);

/* engine.c */
void smc_hs_send_accept(struct smc_handshake *hs);
enum smc_reason smc_hs_conn_new(struct smc_handshake *hs);
bool smc_hs_expect(struct smc_handshake *hs, enum smc_clc_type type);
bool smc_hs_prepared(struct smc_handshake *hs, const struct smc_clc_accept *a);
bool smc_hs_finish(struct smc_handshake *hs);

/* The Accept was sent: does the client still expect that we might decline? */
static inline bool smc_hs_late_decline(const struct smc_handshake *hs)
{
	return hs->neg.first_contact && hs->neg.fabric->ops->late_decline;
}

/*
 * The handshake ends. If TCP has not taken the whole Accept, or the whole Confirm, the peer never
 * learns of our end, and will not use it.
 */
static inline void smc_hs_forget_unsent(struct smc_handshake *hs)
{
	bool described = hs->step == SMC_HS_CONFIRM || hs->step == SMC_HS_FINISH;

	if (described && hs->verdict == SMC_HS_OPEN && hs->to_send)
		hs->neg.fabric->ops->refused(hs->conn, false);
}

/* The stream has ended without a reset. */
static inline bool smc_hs_tcp_ended_well(const struct smc_handshake *hs)
{
	return !READ_ONCE(hs->sk->sk_err) && READ_ONCE(hs->sk->sk_state) != TCP_CLOSE;
}

/* The only function that changes the step of a handshake. */
static inline void smc_hs_set_step(struct smc_handshake *hs, enum smc_hs_step step)
{
	trace_smc_handshake(hs->sk, hs->step, step, hs->neg.server);
	hs->step = step;
}

#endif
