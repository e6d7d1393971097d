// SPDX-License-Identifier: GPL-2.0
/*
 * Sleeping on a socket for one kind of event.  Senders and receivers share the
 * socket's wait queue; the key of a wake-up tells which of them is meant.
 */
#include <linux/sched/signal.h>
#include "conn.h"

/*
 * Whoever wakes us takes us off the queue, so that what follows before we run finds
 * nobody to wake.
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
 * Return: what is left of @timeo.
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
