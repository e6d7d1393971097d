/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Translates a count of bytes into a position in the ring.
 *
 * A ring can have any size, because an element of an ISM device has control data in front of it,
 * and a division for each copy would be slow. So each count that copies use has a "lap" beside it:
 * the count at which some lap of the ring began. The difference of count and lap is the position,
 * provided that the copy ends before the end of the ring, which is the usual case. Any other copy
 * takes a slow path, which divides and moves the lap up to the count.
 *
 * Also used by tests in user space.
 */
#ifndef SMC_CONN_RING_H
#define SMC_CONN_RING_H

#include "../wire/wire.h"

#ifdef __KERNEL__
#include <linux/math64.h>
#else
static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *rem)
{
	*rem = dividend % divisor;
	return dividend / divisor;
}
#endif

/**
 * smc_ring_at() - the position of any byte, for slow paths
 * @count: number of bytes before this byte; the first lap began at count 0
 * @size: size of the ring
 *
 * Return: offset from the start of the ring in bytes.
 */
static inline u32 smc_ring_at(u64 count, u32 size)
{
	u32 pos;

	div_u64_rem(count, size, &pos);
	return pos;
}

#endif
