// SPDX-License-Identifier: GPL-2.0
/*
 * The scheduler's WF_SYNC: the waker is about to sleep itself, so the sleeper may run on the
 * same processor.
 *
 * A connection wakes its one receiver without a wait queue (smc_slot_wake()), and calls
 * default_wake_function() for that, which takes the flag.  Its value is private to
 * kernel/sched/.  But each wake function of a wait queue gets it as an argument, so one
 * synchronous wake-up of a wait queue of our own tells it.  It is asked for once, when the
 * module is loaded.
 */
#include <linux/sched.h>
#include <linux/wait.h>
#include "conn.h"

int smc_wake_sync __ro_after_init;

static int learn_sync(struct wait_queue_entry *entry, unsigned int mode,
		      int sync, void *key)
{
	smc_wake_sync = sync;
	return 0;
}

/**
 * smc_wait_init() - learn the flag of a synchronous wake-up
 */
void __init smc_wait_init(void)
{
	DECLARE_WAIT_QUEUE_HEAD_ONSTACK(head);
	struct wait_queue_entry entry;

	init_waitqueue_func_entry(&entry, learn_sync);
	add_wait_queue(&head, &entry);
	__wake_up_sync_key(&head, TASK_NORMAL, NULL);
	remove_wait_queue(&head, &entry);
}
