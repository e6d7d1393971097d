/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of handshake/.  Each calls only those below it, except that run.c calls the
 * engine from the work item:
 *
 *	pair.c				connections within this kernel, without messages
 *	client.c, server.c		the steps of each role
 *	engine.c			the machine, and checks of both roles
 *	end.c				all ways to end
 *	describe.c, clc_io.c		messages: their content, their way over TCP
 *	run.c				the object, its queue, its timer, its socket's lock
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
	SMC_HS_NR_STEPS
};

/**
 * struct smc_hs_role - client or server
 * @first:	the first step
 * @server:	it answers
 * @steps:	the action of each step; returns true if the machine may go on
 */
struct smc_hs_role {
	enum smc_hs_step	first;
	bool			server;
	bool (*steps[SMC_HS_NR_STEPS])(struct smc_handshake *hs);
};

enum smc_hs_flag {
	SMC_HS_LATE,		/* half of the time is over: nothing more is promised */
	SMC_HS_TIMEOUT,		/* all of it is */
	SMC_HS_DEAD,		/* it is no longer its socket's */
	SMC_HS_BEGUN,		/* CLC has begun: it counts, and must end in time */
	SMC_HS_AGAIN,		/* the next expiry of the timer runs it once more */
	SMC_HS_NEAR,		/* client: a listener of this kernel has seen the SYN */
	SMC_HS_AWAIT,		/* client: a child may claim it, until the timer expires */
	SMC_HS_CLAIMED,		/* client: a child has, and decides for it; never cleared */
	SMC_HS_DECIDED,		/* client: it has decided; never cleared */
};

/* How it ends, once that is known */
enum smc_hs_verdict {
	SMC_HS_OPEN,
	SMC_HS_IS_UP,
	SMC_HS_IS_TCP,
	SMC_HS_IS_RESET,
};

/**
 * struct smc_clc_area - a message, decoded and as it travels
 * @proposal:	decoded, or to be encoded
 * @accept:	an Accept or Confirm
 * @decline:	a Decline
 * @buf:	its bytes
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
 * struct smc_pair - a client's place in the table of pair.c
 * @node:	in the table, while a child may claim it
 * @client_isn:	its initial sequence number
 * @server_isn:	that of its peer, with SMC_HS_AWAIT
 * @possible:	the kernel chose @client_isn, and there may be a pair
 * @registered:	it is in the table, or was
 * @reason:	with SMC_HS_DECIDED and without a connection: why it stays TCP
 * @client:	of a child: the client's handshake, referenced, that it has claimed
 */
struct smc_pair {
	struct hlist_node	node;
	u32			client_isn;
	u32			server_isn;
	bool			possible;
	bool			registered;
	enum smc_reason		reason;
	struct smc_handshake	*client;
};

/**
 * struct smc_handshake - a handshake in progress
 * @sk:		the socket, referenced
 * @ops:	calls to the socket
 * @role:	client or server
 * @ref:	one for smc_sock.hs, one each for the pending work, the timer and a child that
 *		has claimed it
 * @flags:	enum smc_hs_flag, atomic
 * @work:	runs the machine.  The fields below are the work's alone, except @conn and @pair of
 *		a client that waits for a child
 * @timer:	RFC 7609, C.5; earlier for SMC_HS_AGAIN and SMC_HS_AWAIT
 * @soft_deadline: until when a peer that was promised nothing is kept waiting, in jiffies
 * @deadline:	when the handshake must be over, in jiffies
 * @memcg:	charged with what is allocated meanwhile, referenced
 * @step:	the step that is awaited
 * @verdict:	how it ends; then @reason, @err and @diagnosis have the arguments
 * @reason:	enum smc_reason for the socket
 * @err:	errno for the application, positive
 * @diagnosis:	the diagnosis in the peer's Decline, or 0
 * @conn:	the connection that is being made
 * @pair:	see pair.h
 * @neg:	the result of the negotiation
 * @hdr:	header of the message that is being received
 * @have:	bytes of it in @area.buf
 * @to_send:	bytes in @area.buf that TCP has yet to take; nothing else happens before
 * @sent:	bytes before them that it has taken
 * @area:	room for messages; last, and not initialised
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
	unsigned int		to_send;
	unsigned int		sent;
	struct smc_clc_area	area;
};

/* run.c */
void smc_hs_put(struct smc_handshake *hs);
void smc_hs_put_later(struct smc_handshake *hs);
void smc_hs_kick(struct smc_handshake *hs);
void smc_hs_kick_at(struct smc_handshake *hs, unsigned long when);
void smc_hs_unlink(struct sock *sk);
bool smc_hs_lock(struct smc_handshake *hs) __acquires(&hs->sk->sk_lock.slock);
void smc_hs_unlock(struct smc_handshake *hs) __releases(&hs->sk->sk_lock.slock);

/* clc_io.c: messages over the TCP connection */
void smc_clc_send(struct smc_handshake *hs, int len);
bool smc_clc_flush(struct smc_handshake *hs);
int smc_clc_recv(struct smc_handshake *hs);

/* describe.c: the description of this end in every message */
void smc_hs_peer_id(const struct net *net, u8 *peer_id);
void smc_hs_describe(struct smc_handshake *hs, struct smc_clc_accept *a);
void smc_hs_send_accept(struct smc_handshake *hs);
void smc_hs_wanted(const struct sock *sk, struct smc_wanted *want);
struct smc_conn *smc_hs_conn_new(struct smc_handshake *hs);

/* end.c */
void smc_hs_end_up(struct smc_handshake *hs);
void smc_hs_end_tcp(struct smc_handshake *hs, enum smc_reason reason, u32 peer_diagnosis);
void smc_hs_end_reset(struct smc_handshake *hs, enum smc_reason reason, int err);
void smc_hs_end_decline(struct smc_handshake *hs, enum smc_reason reason);
void smc_hs_end_declined(struct smc_handshake *hs);
void smc_hs_end_bad(struct smc_handshake *hs, int rc);
void smc_hs_settle(struct smc_handshake *hs);

/* engine.c */
void smc_hs_run(struct smc_handshake *hs);
bool smc_hs_expect(struct smc_handshake *hs, enum smc_clc_type type);
bool smc_hs_prepared(struct smc_handshake *hs, const struct smc_clc_accept *a);
bool smc_hs_finish(struct smc_handshake *hs);

/* The Accept is out: does the client still expect that we might decline? */
static inline bool smc_hs_late_decline(const struct smc_handshake *hs)
{
	return hs->neg.first_contact && hs->neg.fabric->ops->late_decline;
}

/* The stream has ended, and was not reset. */
static inline bool smc_hs_tcp_ended_well(const struct smc_handshake *hs)
{
	return !READ_ONCE(hs->sk->sk_err) && READ_ONCE(hs->sk->sk_state) != TCP_CLOSE;
}

/* The one place where the step of a handshake changes. */
static inline void smc_hs_set_step(struct smc_handshake *hs, enum smc_hs_step step)
{
	trace_smc_handshake(hs->sk, hs->step, step, hs->neg.server);
	hs->step = step;
}

#endif
