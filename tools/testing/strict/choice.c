// SPDX-License-Identifier: GPL-2.0
/*
 * What the device decides by itself.
 *
 * The numbers are the kernel's, so they follow from the seed of a run (vm/run --seed). With
 * freedom=0 nothing is decided: everything happens at once and in order.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/random.h>
#include "strict.h"

static bool freedom = true;
module_param(freedom, bool, 0600);
MODULE_PARM_DESC(freedom, "do what a device may do; otherwise everything happens at once");

/* These end connections, so nothing may expect them unless it has set them. */
static unsigned int fatal;
module_param(fatal, uint, 0600);
MODULE_PARM_DESC(fatal, "a queue pair fails in one of N runs of its queues; 0: never");

static unsigned int events;
module_param(events, uint, 0600);
MODULE_PARM_DESC(events, "an event of the port, without a change, in one of N runs; 0: never");

static unsigned int fail;
module_param(fail, uint, 0600);
MODULE_PARM_DESC(fail, "one of N objects cannot be created; 0: none");

static bool lenient;
module_param(lenient, bool, 0600);
MODULE_PARM_DESC(lenient, "bear what the kernel's own SMC does");

static bool once_in(unsigned int n)
{
	return n && !get_random_u32_below(n);
}

bool strict_fatal(void)
{
	return once_in(READ_ONCE(fatal));
}

bool strict_port_event(void)
{
	return once_in(READ_ONCE(events));
}

bool strict_fails(void)
{
	return once_in(READ_ONCE(fail));
}

bool strict_lenient(void)
{
	return READ_ONCE(lenient);
}

/* A command of the consumer takes its time. */
void strict_dawdle(void)
{
	might_sleep();
	if (strict_choose(8))
		msleep(strict_below(30));
}

/* Fills memory with random bytes; without freedom with zeros. */
void strict_garbage(void *p, size_t n)
{
	if (READ_ONCE(freedom))
		get_random_bytes(p, n);
	else
		memset(p, 0, n);
}

/* True once in @one_of times. */
bool strict_choose(unsigned int one_of)
{
	return READ_ONCE(freedom) && !get_random_u32_below(one_of);
}

/* A number below @limit, or 0 without freedom. */
u32 strict_below(u32 limit)
{
	return READ_ONCE(freedom) && limit ? get_random_u32_below(limit) : 0;
}
