/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pending children of a listener: those that accept() has not returned yet.
 *
 * When a listener closes, TCP destroys such children and takes for granted that nothing
 * holds their lock.  So work on one, as that of its handshake, is enclosed in
 * smc_pending_enter() and smc_pending_exit().  smc_pending_close() waits for work in
 * progress and refuses any more.  Tasks inside never wait for each other.
 */
#ifndef SMC_PENDING_H
#define SMC_PENDING_H

#include <linux/refcount.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>

struct sock;

/**
 * struct smc_pending_children - children of one listener
 * @ref:	one for the listener, one for each child
 * @inside:	tasks at work on a child right now
 * @closed:	the listener has ended
 * @left:	smc_pending_close() waits here
 * @rcu:	a child reads its pointer under RCU
 */
struct smc_pending_children {
	refcount_t		ref;
	atomic_t		inside;
	bool			closed;
	wait_queue_head_t	left;
	struct rcu_head		rcu;
};

int smc_pending_open(struct sock *listener);
void smc_pending_close(struct sock *listener);
void smc_pending_drop(struct sock *listener);
void smc_pending_add(struct sock *child, const struct sock *listener);
void smc_pending_remove(struct sock *child);
bool smc_pending_closed(struct sock *child);
bool smc_pending_enter(struct sock *sk, struct smc_pending_children **n);
void smc_pending_exit(struct smc_pending_children *n);

#endif
