/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where in its ring a byte is.
 *
 * A ring has any size: an element of an ISM device has control data in front of it.  To divide for
 * each copy takes long.  So each count that bytes are copied by has a lap beside it: the count at
 * which some lap of the ring began.  Their difference is the position as long as that lap lasts,
 * which is what a copy usually finds.  One that does not end in front of the end of the ring
 * goes a slow way, which divides and takes the lap to where the count is.
 *
 * Also for tests in user space.
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
 * smc_ring_at() - the position of any byte, for slow ways
 * @count: bytes before it since the connection began, when the first lap began
 * @size: of the ring
 *
 * Return: bytes from the beginning of the ring.
 */
static inline u32 smc_ring_at(u64 count, u32 size)
{
	u32 pos;

	div_u64_rem(count, size, &pos);
	return pos;
}

#endif
