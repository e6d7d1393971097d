/* SPDX-License-Identifier: GPL-2.0 */
/* Byte counts that one task moves and others read without its lock. */
#ifndef _SMC_CONN_COUNT_H
#define _SMC_CONN_COUNT_H

#include <linux/atomic.h>
#include <linux/types.h>

/*
 * A count has 64 bits on every machine; it never wraps, so two counts can be compared. On a 32-bit
 * machine a plain access would read or write it in two halves. While the count passes a multiple of
 * 4 GiB, a reader could then see neither the old nor the new value, and sleep for nothing or refuse
 * a peer's cursor. There, atomic64_t does whatever the machine requires, in the worst case a lock.
 * Counts are declared as aligned_u64, which has the alignment of atomic64_t.
 *
 * The task that moves a count holds a lock against other writers, so it may read the count with a
 * plain access.
 */
#ifdef CONFIG_64BIT
#define smc_count_read(p)		READ_ONCE(*(p))
#define smc_count_read_acquire(p)	smp_load_acquire(p)
#define smc_count_set(p, count)		WRITE_ONCE(*(p), count)
#define smc_count_set_release(p, count)	smp_store_release(p, count)
#else
static inline u64 smc_count_read(const u64 *p)
{
	return atomic64_read((const atomic64_t *)p);
}

static inline u64 smc_count_read_acquire(const u64 *p)
{
	return atomic64_read_acquire((const atomic64_t *)p);
}

static inline void smc_count_set(u64 *p, u64 count)
{
	atomic64_set((atomic64_t *)p, count);
}

static inline void smc_count_set_release(u64 *p, u64 count)
{
	atomic64_set_release((atomic64_t *)p, count);
}
#endif

#endif
