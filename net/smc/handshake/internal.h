/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of handshake/ share.  Each calls only those below it:
 *
 *	run.c				who runs the machine, and when
 *	client.c, server.c		the steps of each role
 *	engine.c			the machine, and what both roles ask
 *	end.c				all ways to end
 *	pair.c				connections within this kernel, without messages
 *	describe.c, clc_io.c		messages: their content, their way over TCP
 *	event.c, lock.c, lend.c		what makes it run; how a run gets its locks; TCP's send
 *	handshake.c			the object
 */
#ifndef SMC_HANDSHAKE_INTERNAL_H
#define SMC_HANDSHAKE_INTERNAL_H

#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
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
	SMC_HS_PAIR,
	SMC_HS_NR_STEPS
};

/**
 * struct smc_hs_role - client or server
 * @first:	the first step
 * @server:	it answers
 * @steps:	what to do in each step; returns true if the machine may go on
 */
struct smc_hs_role {
	enum smc_hs_step	first;
	bool			server;
	bool (*steps[SMC_HS_NR_STEPS])(struct smc_handshake *hs);
};

enum smc_hs_flag {
	SMC_HS_EVENT,		/* something happened since the last run */
	SMC_HS_LATE,		/* half of the time is over: nothing more is promised */
	SMC_HS_TIMEOUT,		/* all of it is */
	SMC_HS_DEAD,		/* it is no longer its socket's */
	SMC_HS_LISTED,		/* on a deferred list */
	SMC_HS_FOR_ACCEPT,	/* left to accept(); the timer takes over if it does not come */
	SMC_HS_COUNTED,		/* in smc_net.n_handshakes */
	SMC_HS_RESET,		/* to be ended by a reset, in a context of its own */
	SMC_HS_NEAR,		/* client: a listener of this kernel has seen the SYN */
	SMC_HS_AWAIT,		/* client: a child may claim it, until the timer expires */
	SMC_HS_CLAIMED,		/* client: a child has, and decides for it; never cleared */
	SMC_HS_DECIDED,		/* client: it has decided; never cleared */
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
 * @ops:	what to tell it
 * @role:	client or server
 * @ref:	one for smc_sock.hs, one each for a pending work, the timer, a deferred list and
 *		a runner
 * @lock:	held while the state machine runs
 * @step:	what is awaited
 * @flags:	enum smc_hs_flag, atomic
 * @runners:	system calls that wait for the outcome and run the machine themselves, which
 *		saves a switch to the worker
 * @work:	runs the machine when there is no runner
 * @timer:	RFC 7609, C.5; earlier if a run was left to accept()
 * @soft_deadline: until when a peer that was promised nothing is kept waiting, in jiffies
 * @deadline:	when the handshake must be over, in jiffies
 * @sk_locked:	the runner holds the socket's lock throughout; under @lock
 * @child_locked: the runner holds @child_lock, so the child gets no file; under @lock
 * @child_lock:	keeps accept() from giving a child a file; inside @lock, outside lock_sock
 * @reset_work:	resets, where the task that runs the machine must not wait
 * @reset_reason: with SMC_HS_RESET: why; under @lock
 * @reset_err:	with SMC_HS_RESET: errno for the application, positive; under @lock
 * @memcg:	charged with what is allocated meanwhile, referenced
 * @conn:	the connection that is being made
 * @pair:	see pair.h
 * @neg:	what was agreed upon
 * @hdr:	header of the message that is being received
 * @have:	bytes of it in @area.buf
 * @deferred_node: on a deferred list
 * @area:	room for messages; last, and not initialised
 */
struct smc_handshake {
	struct sock		*sk;
	const struct smc_hs_ops	*ops;
	const struct smc_hs_role *role;
	refcount_t		ref;
	struct mutex		lock;
	enum smc_hs_step	step;
	unsigned long		flags;
	atomic_t		runners;
	struct work_struct	work;
	struct timer_list	timer;
	unsigned long		soft_deadline;
	unsigned long		deadline;
	bool			sk_locked;
	bool			child_locked;
	struct mutex		child_lock;
	struct work_struct	reset_work;
	enum smc_reason		reset_reason;
	int			reset_err;
	struct mem_cgroup	*memcg;
	struct smc_conn		*conn;
	struct smc_pair		pair;
	struct smc_negotiated	neg;
	struct smc_clc_hdr	hdr;
	unsigned int		have;
	struct llist_node	deferred_node;
	struct smc_clc_area	area;
};

/**
 * struct smc_hs_deferred - handshakes that the task which runs one makes runnable
 * @task:	that task
 * @nonblock:	it does not wait for the outcome of its own handshake
 * @list:	those that it runs after its own
 *
 * A message sent over loopback arrives in the context of its sender, before the send returns.
 * The sender then runs the peer's handshake itself, which saves two switches to the worker for
 * each message.  A bottom half that interrupts the task may add to the list.
 */
struct smc_hs_deferred {
	struct task_struct	*task;
	bool			nonblock;
	struct llist_head	list;
};

DECLARE_PER_CPU(struct smc_hs_deferred, smc_hs_deferred);

/* handshake.c */
struct smc_handshake *smc_hs_alloc(const struct sock *payer, gfp_t gfp);
struct smc_handshake *smc_hs_get(struct sock *sk);
void smc_hs_put(struct smc_handshake *hs);
void smc_hs_put_later(struct smc_handshake *hs);
struct smc_handshake *smc_hs_unlink(struct sock *sk);

/* event.c */
void smc_hs_kick(struct smc_handshake *hs);
void smc_hs_timer(struct timer_list *t);

/* lock.c: the machine's lock is held */
bool smc_hs_lock_sock(struct smc_handshake *hs);
void smc_hs_release_sock(struct smc_handshake *hs);
bool smc_hs_trylock_run(struct smc_handshake *hs, bool defer);
void smc_hs_unlock_run(struct smc_handshake *hs);
void smc_hs_unlock_sock(struct smc_handshake *hs);

/* lend.c */
bool smc_lend_socket(struct sock *sk);
void smc_take_socket_back(struct sock *sk);

/* clc_io.c: messages over the TCP connection */
int smc_clc_send(struct smc_handshake *hs, const u8 *buf, int len);
int smc_clc_recv(struct smc_handshake *hs);

/* describe.c: what we say of ourselves in every message */
void smc_hs_peer_id(const struct net *net, u8 *peer_id);
void smc_hs_describe(struct smc_handshake *hs, struct smc_clc_accept *a);
int smc_hs_send_accept(struct smc_handshake *hs);
void smc_hs_wanted(const struct sock *sk, struct smc_wanted *want);
struct smc_conn *smc_hs_conn_new(struct smc_handshake *hs);

/* end.c: the machine's lock is held */
void smc_hs_end_up(struct smc_handshake *hs);
void smc_hs_end_tcp(struct smc_handshake *hs, enum smc_reason reason, u32 peer_diagnosis);
void smc_hs_end_reset(struct smc_handshake *hs, enum smc_reason reason, int err);
void smc_hs_end_decline(struct smc_handshake *hs, enum smc_reason reason);
void smc_hs_end_new(struct smc_handshake *hs);
void smc_hs_end_declined(struct smc_handshake *hs);
void smc_hs_end_bad(struct smc_handshake *hs, int rc);

/* engine.c */
void __smc_hs_run(struct smc_handshake *hs);
bool smc_hs_expect(struct smc_handshake *hs, enum smc_clc_type type);
bool smc_hs_prepared(struct smc_handshake *hs, const struct smc_clc_accept *a);
bool smc_hs_finish(struct smc_handshake *hs);

/* May the next step wait for a device?  accept() is not to wait for one. */
static inline bool smc_hs_may_wait(const struct smc_handshake *hs)
{
	return hs->neg.fabric && hs->neg.fabric->ops->waits;
}

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

/* The one place where the step of a handshake changes; its lock is held. */
static inline void smc_hs_set_step(struct smc_handshake *hs, enum smc_hs_step step)
{
	trace_smc_handshake(hs->sk, hs->step, step, hs->neg.server);
	hs->step = step;
}

#endif
