/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CLC handshake of one socket (RFC 7609, 3.5 and appendix C): a state machine
 * driven by what happens to the TCP connection, never by a thread that waits.
 *
 *	client:  CONNECT --TCP up, send Proposal--> ACCEPT --> PREPARE
 *		 --send Confirm--> FINISH --> (UP)
 *	server:  PROPOSAL --> PREPARE --send Accept--> CONFIRM --> FINISH --> (UP)
 *
 * In PREPARE and FINISH the fabric may have something to do that takes time.
 *
 * Every step may end in a Decline, sent or received, and the socket is TCP; or
 * in a violation of the protocol or a timeout, and the connection is reset.
 */
#ifndef SMC_HANDSHAKE_H
#define SMC_HANDSHAKE_H

#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include "../fabric/fabric.h"
#include "../smc.h"
#include "../trace.h"

enum smc_hs_step {
	SMC_HS_CONNECT,
	SMC_HS_ACCEPT,
	SMC_HS_PROPOSAL,
	SMC_HS_PREPARE,
	SMC_HS_CONFIRM,
	SMC_HS_FINISH,
};

enum smc_hs_flag {
	SMC_HS_PENDING,		/* something happened since the last run */
	SMC_HS_LATE,		/* half of the time is over: nothing more is promised */
	SMC_HS_TIMEOUT,		/* all of it is */
	SMC_HS_DEAD,		/* the socket has gone */
	SMC_HS_COLLECTED,	/* in the list of a collector */
	SMC_HS_LEFT,		/* to the acceptor, or to the timer */
	SMC_HS_COUNTED,		/* in smc_net.n_handshakes */
	SMC_HS_RESET,		/* to be ended by a reset, in a context of its own */
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
 * struct smc_handshake - a handshake in progress
 * @sk:		the socket, referenced
 * @ref:	one for smc_sock.hs, one each for a pending work, the timer and a
 *		driver
 * @lock:	whoever drives the state machine holds it
 * @step:	what is awaited
 * @flags:	enum smc_hs_flag, atomic
 * @drivers:	system calls that wait for the outcome and run the machine
 *		themselves, which spares a switch to the worker
 * @work:	runs the machine when there is no driver
 * @timer:	RFC 7609, C.5; earlier, if something was left to an acceptor who does not come
 * @patience:	until when a peer that was promised nothing is kept waiting, in jiffies
 * @deadline:	when the handshake must be over, in jiffies
 * @borrowed:	who runs the machine holds the socket's lock all the time; under @lock
 * @reset_work:	resets, where whoever runs the machine must not wait
 * @reset_reason: with SMC_HS_RESET: why; under @lock
 * @reset_err:	with SMC_HS_RESET: errno for the application, positive; under @lock
 * @unaccepted:	whoever runs the machine has @child_lock, and the child no file; under @lock
 * @child_lock:	keeps accept() from giving a child a file; inside @lock, outside lock_sock
 * @memcg:	what is allocated meanwhile is charged to it, referenced
 * @conn:	the connection that is being made
 * @neg:	what was agreed upon
 * @hdr:	header of the message that is being received
 * @have:	bytes of it in @buf
 * @pending:	in the list of a collector
 * @area:	room for messages; last, and not initialised
 */
struct smc_handshake {
	struct sock		*sk;
	refcount_t		ref;
	struct mutex		lock;
	enum smc_hs_step	step;
	unsigned long		flags;
	atomic_t		drivers;
	struct work_struct	work;
	struct timer_list	timer;
	unsigned long		patience;
	unsigned long		deadline;
	bool			borrowed;
	bool			unaccepted;
	struct mutex		child_lock;
	struct work_struct	reset_work;
	enum smc_reason		reset_reason;
	int			reset_err;
	struct mem_cgroup	*memcg;
	struct smc_conn		*conn;
	struct smc_negotiated	neg;
	struct smc_clc_hdr	hdr;
	unsigned int		have;
	struct llist_node	pending;
	struct smc_clc_area	area;
};

/* handshake.c */
int smc_hs_init(void);
void smc_hs_exit(void);
struct smc_handshake *smc_hs_new(struct sock *sk, const struct sock *payer,
				 enum smc_hs_step step, gfp_t gfp);
void smc_hs_start(struct smc_handshake *hs);
bool smc_hs_begin(struct smc_handshake *hs);
void smc_hs_kill(struct sock *sk);
void smc_hs_event(struct sock *sk);
struct smc_handshake *smc_hs_drive(struct sock *sk);
bool smc_hs_driven(const struct sock *sk);
void smc_hs_drive_end(struct smc_handshake *hs);
int smc_hs_wait(struct sock *sk, long timeo);
bool smc_hs_lock_sock(struct smc_handshake *hs);
void smc_hs_release_sock(struct smc_handshake *hs);
void smc_hs_accepted(struct sock *sk);
struct smc_handshake *smc_hs_lock_child(struct sock *sk);
void smc_hs_unlock_child(struct smc_handshake *hs);

/* ways to end it; the machine's lock is held */
void smc_hs_end_up(struct smc_handshake *hs);
void smc_hs_end_tcp(struct smc_handshake *hs, enum smc_reason reason,
		    u32 peer_diagnosis);
void smc_hs_end_reset(struct smc_handshake *hs, enum smc_reason reason, int err);
void smc_hs_end_decline(struct smc_handshake *hs, enum smc_reason reason);
void smc_hs_end_new(struct smc_handshake *hs);

bool smc_hs_expect(struct smc_handshake *hs, enum smc_clc_type type);
bool smc_hs_prepared(struct smc_handshake *hs, const struct smc_clc_accept *a);

/* clc_io.c: messages over the TCP connection */
int smc_clc_send(struct smc_handshake *hs, const u8 *buf, int len);
int smc_clc_recv(struct smc_handshake *hs);

/* client.c, server.c: what to do in a step; true if the machine may go on */
bool smc_client_connected(struct smc_handshake *hs);
bool smc_client_propose(struct smc_handshake *hs);
bool smc_client_accept(struct smc_handshake *hs);
bool smc_client_prepare(struct smc_handshake *hs);
bool smc_server_proposal(struct smc_handshake *hs);
bool smc_server_prepare(struct smc_handshake *hs);
bool smc_server_confirm(struct smc_handshake *hs);

/* describe.c: what we say of ourselves in every message */
void smc_hs_peer_id(const struct net *net, u8 *peer_id);
void smc_hs_describe(struct smc_handshake *hs, struct smc_clc_accept *a);
int smc_hs_send_accept(struct smc_handshake *hs);
struct smc_conn *smc_hs_conn_new(struct smc_handshake *hs);

/* The Accept is out: does the client still expect that we might decline? */
static inline bool smc_hs_late_decline(const struct smc_handshake *hs)
{
	return hs->neg.first_contact && hs->neg.fabric->ops->late_decline;
}

/* The one place where the step of a handshake changes; its lock is held. */
static inline void smc_hs_set_step(struct smc_handshake *hs, enum smc_hs_step step)
{
	trace_smc_handshake(hs->sk, hs->step, step, hs->neg.server);
	hs->step = step;
}

#endif
