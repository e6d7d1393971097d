// SPDX-License-Identifier: GPL-2.0
/*
 * What the device decides by itself.
 *
 * The numbers are the kernel's, so they follow from the seed of a run (vm/run --seed). With
 * freedom=0 nothing is decided: everything happens at once and in order.
 */
#include <linux/module.h>
#include <linux/random.h>
#include "strict.h"

static bool freedom = true;
module_param(freedom, bool, 0600);
MODULE_PARM_DESC(freedom, "do what a device may do; otherwise everything happens at once");

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
