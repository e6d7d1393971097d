// SPDX-License-Identifier: GPL-2.0
/*
 * Sleeping on a socket for one kind of event.  Senders and receivers share the
 * socket's wait queue; the key of a wake-up tells which of them is meant.
 */
#include <linux/sched/signal.h>
#include "conn.h"

static int wake_if_meant(struct wait_queue_entry *entry, unsigned int mode,
			 int sync, void *key)
{
	struct smc_wait *w = container_of(entry, struct smc_wait, entry);

	if (key && !(key_to_poll(key) & (w->mask | EPOLLERR | EPOLLHUP)))
		return 0;
	return default_wake_function(entry, mode, sync, key);
}

/**
 * smc_wait_begin() - start to listen; look at the condition afterwards
 * @w: on the stack of the caller
 * @sk: a socket with a file
 * @mask: EPOLLIN for a receiver, EPOLLOUT for a sender, both for either
 *
 * The caller then loops: set_current_state(TASK_INTERRUPTIBLE), look, schedule.
 */
void smc_wait_begin(struct smc_wait *w, struct sock *sk, __poll_t mask)
{
	init_waitqueue_func_entry(&w->entry, wake_if_meant);
	w->entry.private = current;
	w->mask = mask;
	add_wait_queue(sk_sleep(sk), &w->entry);
}

void smc_wait_end(struct smc_wait *w, struct sock *sk)
{
	__set_current_state(TASK_RUNNING);
	remove_wait_queue(sk_sleep(sk), &w->entry);
}
