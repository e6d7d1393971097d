// SPDX-License-Identifier: GPL-2.0
/* The nursery of a listener; see nursery.h. */
#include <linux/slab.h>
#include "../smc.h"
#include "nursery.h"

static void nursery_put(struct smc_nursery *n)
{
	if (refcount_dec_and_test(&n->ref))
		kfree_rcu(n, rcu);
}

/**
 * smc_nursery_open() - a socket begins to listen
 * @listener: the socket, locked
 *
 * Return: 0 or -ENOMEM.
 */
int smc_nursery_open(struct sock *listener)
{
	struct smc_sock *smc = smc_sk(listener);
	struct smc_nursery *n;

	n = rcu_dereference_protected(smc->children, 1);
	if (n && !n->closed)
		return 0;
	smc_nursery_drop(listener);
	n = kzalloc(sizeof(*n), GFP_KERNEL);
	if (!n)
		return -ENOMEM;
	refcount_set(&n->ref, 1);
	init_waitqueue_head(&n->left);
	rcu_assign_pointer(smc->children, n);
	return 0;
}

/**
 * smc_nursery_close() - a listener ends: wait until nobody owns a child
 * @listener: the socket, locked
 *
 * The lock of the listener may be held while waiting: those inside want the lock
 * of a child only, and do not sleep for a peer.
 *
 * Context: process, may sleep.
 */
void smc_nursery_close(struct sock *listener)
{
	struct smc_sock *smc = smc_sk(listener);
	struct smc_nursery *n = rcu_dereference_protected(smc->children, 1);

	if (!n)
		return;
	WRITE_ONCE(n->closed, true);
	/* Pairs with the barrier in smc_nursery_enter(). */
	smp_mb();
	wait_event(n->left, !atomic_read(&n->inside));
	/* It stays: a child that is being born right now must find it closed. */
}

/**
 * smc_nursery_drop() - a socket is no listener any more
 * @listener: the socket
 *
 * Context: any.
 */
void smc_nursery_drop(struct sock *listener)
{
	struct smc_nursery *n;

	n = unrcu_pointer(xchg(&smc_sk(listener)->children, NULL));
	if (n)
		nursery_put(n);
}

/**
 * smc_nursery_join() - a child is born
 * @child: the child
 * @listener: its listener, which may be closing right now
 *
 * Context: bottom half.
 */
void smc_nursery_join(struct sock *child, const struct sock *listener)
{
	struct smc_nursery *n;

	rcu_read_lock();
	n = rcu_dereference(smc_sk(listener)->children);
	if (n && refcount_inc_not_zero(&n->ref))
		rcu_assign_pointer(smc_sk(child)->nursery, n);
	rcu_read_unlock();
}

/**
 * smc_nursery_leave() - a child has been accepted, or is destroyed
 * @child: the child
 *
 * Context: any.
 */
void smc_nursery_leave(struct sock *child)
{
	struct smc_nursery *n;

	n = unrcu_pointer(xchg(&smc_sk(child)->nursery, NULL));
	if (n)
		nursery_put(n);
}

/**
 * smc_nursery_closed() - has the listener of a child ended?
 * @child: a child that is being accepted
 */
bool smc_nursery_closed(struct sock *child)
{
	struct smc_nursery *n;
	bool closed;

	rcu_read_lock();
	n = rcu_dereference(smc_sk(child)->nursery);
	closed = n && READ_ONCE(n->closed);
	rcu_read_unlock();
	return closed;
}

/**
 * smc_nursery_enter() - about to work on a socket that may be a child
 * @sk: the socket
 * @n: receives what smc_nursery_exit() wants, NULL for a socket with a file
 *
 * Context: process.
 * Return: false if its listener is destroying it.
 */
bool smc_nursery_enter(struct sock *sk, struct smc_nursery **n)
{
	bool open = true;

	rcu_read_lock();
	*n = rcu_dereference(smc_sk(sk)->nursery);
	if (*n && !refcount_inc_not_zero(&(*n)->ref))
		*n = NULL;
	rcu_read_unlock();
	if (!*n)
		return true;
	atomic_inc(&(*n)->inside);
	/* Pairs with the barrier in smc_nursery_close(). */
	smp_mb__after_atomic();
	if (READ_ONCE((*n)->closed)) {
		/* An accepted child is no concern of its listener any more. */
		open = rcu_access_pointer(smc_sk(sk)->nursery) != *n;
		smc_nursery_exit(*n);
		*n = NULL;
	}
	return open;
}

/**
 * smc_nursery_exit() - the work on the child is done
 * @n: from smc_nursery_enter()
 */
void smc_nursery_exit(struct smc_nursery *n)
{
	if (!n)
		return;
	if (atomic_dec_and_test(&n->inside))
		wake_up_all(&n->left);
	nursery_put(n);
}
