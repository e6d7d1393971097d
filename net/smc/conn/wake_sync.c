// SPDX-License-Identifier: GPL-2.0
/*
 * The scheduler's WF_SYNC flag: the waker is about to sleep itself, so the sleeper may run on the
 * same CPU.
 *
 * A connection wakes its only receiver without a wait queue (smc_slot_wake()). To do so, it calls
 * default_wake_function(), which takes the flag as an argument. The value of the flag is private to
 * kernel/sched/, but every wake function of a wait queue receives it. So one synchronous wake-up of
 * a private wait queue reveals the value. This is done once, when the module is loaded.
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
