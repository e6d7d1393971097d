// SPDX-License-Identifier: GPL-2.0
/*
 * Sleeping on a socket until a certain event.
 *
 * Senders and receivers share the socket's wait queue; the key of a wake-up tells which of them it
 * is for. The usual case, a single receiver and nobody polling, uses a slot in the connection
 * instead: on this latency-critical path the slot costs half the instructions of a wait queue.
 */
#include <linux/sched/signal.h>
#include "conn.h"

/*
 * The waker removes the sleeper from the queue, so wake-ups that come before the sleeper runs find
 * the queue empty.
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
 * @w: the waiter, on the caller's stack
 * @mask: EPOLLIN for a receiver, EPOLLOUT for a sender, both for either; EPOLLMSG for data below
 *	SO_RCVLOWAT, too
 *
 * The caller then loops: smc_wait_arm(), check the condition, smc_wait_sleep().
 */
void smc_wait_begin(struct smc_wait *w, __poll_t mask)
{
	init_waitqueue_func_entry(&w->entry, wake_if_meant);
	INIT_LIST_HEAD(&w->entry.entry);
	w->entry.private = current;
	w->mask = mask;
}

/**
 * smc_wait_arm() - from here on, no wake-up is lost
 * @w: the waiter
 * @sk: a socket with a file
 */
void smc_wait_arm(struct smc_wait *w, struct sock *sk)
{
	prepare_to_wait(sk_sleep(sk), &w->entry, TASK_INTERRUPTIBLE);
}

/**
 * smc_wait_sleep() - sleep until woken or until the timeout expires
 * @timeo: timeout in jiffies
 *
 * Return: the time left of @timeo.
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
 * smc_slot_take() - become the connection's only receiver
 * @c: the connection
 * @w: from smc_wait_begin()
 *
 * The caller must set its task state first. A waker clears the slot, so if it found the caller
 * still running, that wake-up and all later ones would be lost. The cmpxchg() orders the task state
 * and the slot before the caller's check of the condition. model/reader.pml: take the place.
 *
 * Return: false if another receiver has the slot; the caller must then use the wait queue.
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
	/* Pairs with the release by the waker, which does not use @w afterwards. */
	if (smp_load_acquire(&c->rx_waiter) != w)
		return;
	/* A waker may be using @w right now. model/reader.pml: leave the place. */
	spin_lock_bh(&c->wait_lock);
	if (c->rx_waiter == w)
		c->rx_waiter = NULL;
	spin_unlock_bh(&c->wait_lock);
}

/**
 * smc_slot_wake() - wake the receiver in the slot, if there is one
 * @c: the connection
 *
 * Context: any. A full barrier separates the caller's update from this call, see
 * smc_conn_readable().
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
		/* After this, @w may no longer exist. model/reader.pml: let go. */
		smp_store_release(&c->rx_waiter, NULL);
	}
	spin_unlock_bh(&c->wait_lock);
}
