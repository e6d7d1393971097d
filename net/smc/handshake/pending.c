// SPDX-License-Identifier: GPL-2.0
/* The pending children of a listener; see pending.h. */
#include <linux/slab.h>
#include "../smc.h"
#include "pending.h"

static void pending_put(struct smc_pending_children *n)
{
	if (refcount_dec_and_test(&n->ref))
		kfree_rcu(n, rcu);
}

/**
 * smc_pending_open() - a socket begins to listen
 * @listener: the socket, locked
 *
 * Return: 0 or -ENOMEM.
 */
int smc_pending_open(struct sock *listener)
{
	struct smc_sock *smc = smc_sk(listener);
	struct smc_pending_children *n;

	n = rcu_dereference_protected(smc->children, 1);
	if (n && !n->closed)
		return 0;
	smc_pending_drop(listener);
	n = kzalloc(sizeof(*n), GFP_KERNEL);
	if (!n)
		return -ENOMEM;
	refcount_set(&n->ref, 1);
	init_waitqueue_head(&n->left);
	rcu_assign_pointer(smc->children, n);
	return 0;
}

/**
 * smc_pending_close() - a listener ends: wait until no task owns a child
 * @listener: the socket, locked
 *
 * The lock of the listener may be held while waiting: tasks inside take only the lock of a
 * child, and do not sleep for a peer.
 *
 * Context: process, may sleep.
 */
void smc_pending_close(struct sock *listener)
{
	struct smc_sock *smc = smc_sk(listener);
	struct smc_pending_children *n = rcu_dereference_protected(smc->children, 1);

	if (!n)
		return;
	WRITE_ONCE(n->closed, true);
	/* Pairs with the barrier in smc_pending_enter(). */
	smp_mb();
	wait_event(n->left, !atomic_read(&n->inside));
	/* It stays: a child that is being born right now must find it closed. */
}

/**
 * smc_pending_drop() - a socket is not a listener any more
 * @listener: the socket
 *
 * Context: any.
 */
void smc_pending_drop(struct sock *listener)
{
	struct smc_pending_children *n;

	n = unrcu_pointer(xchg(&smc_sk(listener)->children, NULL));
	if (n)
		pending_put(n);
}

/**
 * smc_pending_add() - a child is born
 * @child: the child
 * @listener: its listener, which may be closing right now
 *
 * Context: bottom half.
 */
void smc_pending_add(struct sock *child, const struct sock *listener)
{
	struct smc_pending_children *n;

	rcu_read_lock();
	n = rcu_dereference(smc_sk(listener)->children);
	if (n && refcount_inc_not_zero(&n->ref))
		rcu_assign_pointer(smc_sk(child)->pending_in, n);
	rcu_read_unlock();
}

/**
 * smc_pending_remove() - a child has been accepted, or is destroyed
 * @child: the child
 *
 * Context: any.
 */
void smc_pending_remove(struct sock *child)
{
	struct smc_pending_children *n;

	n = unrcu_pointer(xchg(&smc_sk(child)->pending_in, NULL));
	if (n)
		pending_put(n);
}

/**
 * smc_pending_closed() - has the listener of a child ended?
 * @child: a child that is being accepted
 *
 * Return: true if it has.
 */
bool smc_pending_closed(struct sock *child)
{
	struct smc_pending_children *n;
	bool closed;

	rcu_read_lock();
	n = rcu_dereference(smc_sk(child)->pending_in);
	closed = n && READ_ONCE(n->closed);
	rcu_read_unlock();
	return closed;
}

/**
 * smc_pending_enter() - about to work on a socket that may be a child
 * @sk: the socket
 * @n: receives the argument of smc_pending_exit(), NULL for a socket with a file
 *
 * Context: process.
 * Return: false if its listener is destroying it.
 */
bool smc_pending_enter(struct sock *sk, struct smc_pending_children **n)
{
	bool open = true;

	rcu_read_lock();
	*n = rcu_dereference(smc_sk(sk)->pending_in);
	if (*n && !refcount_inc_not_zero(&(*n)->ref))
		*n = NULL;
	rcu_read_unlock();
	if (!*n)
		return true;
	atomic_inc(&(*n)->inside);
	/* Pairs with the barrier in smc_pending_close(). */
	smp_mb__after_atomic();
	if (READ_ONCE((*n)->closed)) {
		/* Once accepted, a child does not depend on its listener. */
		open = rcu_access_pointer(smc_sk(sk)->pending_in) != *n;
		smc_pending_exit(*n);
		*n = NULL;
	}
	return open;
}

/**
 * smc_pending_exit() - the work on the child is done
 * @n: from smc_pending_enter()
 */
void smc_pending_exit(struct smc_pending_children *n)
{
	if (!n)
		return;
	if (atomic_dec_and_test(&n->inside))
		wake_up_all(&n->left);
	pending_put(n);
}
