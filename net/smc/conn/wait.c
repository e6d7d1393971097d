// SPDX-License-Identifier: GPL-2.0
/*
 * Sleeping on a socket for one kind of event.
 *
 * Senders and receivers share the socket's wait queue; the key of a wake-up tells
 * which of them is meant.  The usual case, one receiver that nobody polls for,
 * has a place of its own in the connection: a queue of one costs half the
 * instructions of a wait queue on the way that decides about latency.
 */
#include <linux/sched/signal.h>
#include "conn.h"

/*
 * The waker takes the sleeper off the queue, so later wake-ups, before the sleeper runs, find the
 * queue empty.
 */
static int wake_if_meant(struct wait_queue_entry *entry, unsigned int mode,
			 int sync, void *key)
{
	struct smc_wait *w = container_of(entry, struct smc_wait, entry);
	int woken;

	if (key && !(key_to_poll(key) & (w->mask | EPOLLERR | EPOLLHUP)))
		return 0;
	woken = default_wake_function(entry, mode, sync, key);
	if (woken)
		list_del_init_careful(&entry->entry);
	return woken;
}

/**
 * smc_wait_begin() - prepare to sleep
 * @w: on the stack of the caller
 * @mask: EPOLLIN for a receiver, EPOLLOUT for a sender, both for either
 *
 * The caller then loops: smc_wait_arm(), look at the condition, smc_wait_sleep().
 */
void smc_wait_begin(struct smc_wait *w, __poll_t mask)
{
	init_waitqueue_func_entry(&w->entry, wake_if_meant);
	INIT_LIST_HEAD(&w->entry.entry);
	w->entry.private = current;
	w->mask = mask;
}

/**
 * smc_wait_arm() - from here on a wake-up is not lost
 * @w: the waiter
 * @sk: a socket with a file
 */
void smc_wait_arm(struct smc_wait *w, struct sock *sk)
{
	prepare_to_wait(sk_sleep(sk), &w->entry, TASK_INTERRUPTIBLE);
}

/**
 * smc_wait_sleep() - sleep until woken or until the time is over
 * @timeo: in jiffies
 *
 * Return: the rest of @timeo.
 */
long smc_wait_sleep(long timeo)
{
	if (timeo == MAX_SCHEDULE_TIMEOUT) {
		schedule();
		return timeo;
	}
	return schedule_timeout(timeo);
}

void smc_wait_end(struct smc_wait *w, struct sock *sk)
{
	finish_wait(sk_sleep(sk), &w->entry);
}

/**
 * smc_slot_take() - be the one receiver of a connection
 * @c: the connection
 * @w: from smc_wait_begin()
 *
 * The caller has set its task state before: a waker clears the slot, so a wake-up that finds the
 * caller still running would be lost, and every later one with it.  The cmpxchg() orders both
 * before the caller's look at the condition.  model/reader.pml: take the place.
 *
 * Return: false if somebody else is, and the wait queue must do.
 */
bool smc_slot_take(struct smc_conn *c, struct smc_wait *w)
{
	return !READ_ONCE(c->rx_waiter) && !cmpxchg(&c->rx_waiter, NULL, w);
}

/**
 * smc_slot_leave() - undo smc_slot_take()
 * @c: the connection
 * @w: the waiter
 */
void smc_slot_leave(struct smc_conn *c, struct smc_wait *w)
{
	/* Pairs with the release of a waker, which does not use @w after it. */
	if (smp_load_acquire(&c->rx_waiter) != w)
		return;
	/* A waker may be using @w just now.  model/reader.pml: leave the place. */
	spin_lock_bh(&c->wait_lock);
	if (c->rx_waiter == w)
		c->rx_waiter = NULL;
	spin_unlock_bh(&c->wait_lock);
}

/**
 * smc_slot_wake() - wake the one receiver, if it sleeps
 * @c: the connection
 *
 * Context: any.  A full barrier lies between the caller's news and this, see smc_conn_readable().
 */
void smc_slot_wake(struct smc_conn *c)
{
	struct smc_wait *w;

	if (!READ_ONCE(c->rx_waiter))
		return;
	spin_lock_bh(&c->wait_lock);
	w = c->rx_waiter;
	if (w) {
		default_wake_function(&w->entry, TASK_INTERRUPTIBLE, smc_wake_sync,
				      NULL);
		/* From here on @w may be gone.  model/reader.pml: let go. */
		smp_store_release(&c->rx_waiter, NULL);
	}
	spin_unlock_bh(&c->wait_lock);
}
