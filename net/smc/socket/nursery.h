/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The nursery of a listener: children that nobody has accepted yet.
 *
 * TCP takes for granted that nobody owns the lock of such a child, for it
 * destroys them when the listener closes.  Whoever works on one - the worker of
 * its handshake, a dump - enters the nursery first; closing it waits until they
 * have left and lets nobody in any more.  Readers never wait for each other.
 */
#ifndef SMC_NURSERY_H
#define SMC_NURSERY_H

#include <linux/refcount.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>

struct sock;

/**
 * struct smc_nursery - children of one listener
 * @ref:	one for the listener, one for each child
 * @inside:	who works on a child right now
 * @closed:	the listener has ended
 * @left:	the closer waits here
 * @rcu:	a child looks at its nursery under RCU
 */
struct smc_nursery {
	refcount_t		ref;
	atomic_t		inside;
	bool			closed;
	wait_queue_head_t	left;
	struct rcu_head		rcu;
};

int smc_nursery_open(struct sock *listener);
void smc_nursery_close(struct sock *listener);
void smc_nursery_drop(struct sock *listener);
void smc_nursery_join(struct sock *child, const struct sock *listener);
void smc_nursery_leave(struct sock *child);
bool smc_nursery_closed(struct sock *child);
bool smc_nursery_enter(struct sock *sk, struct smc_nursery **n);
void smc_nursery_exit(struct smc_nursery *n);

#endif
