/* SPDX-License-Identifier: GPL-2.0 */
/* Counts of bytes that one task moves and others look at without its lock. */
#ifndef _SMC_CONN_COUNT_H
#define _SMC_CONN_COUNT_H

#include <linux/atomic.h>
#include <linux/types.h>

/*
 * A count has 64 bits on every machine: it never wraps, so two of them can be compared.  A machine
 * of 32 bits would read and write it in two halves: a reader could see neither the old count nor
 * the new one while it passes a multiple of 4 GiB, and then sleep, or refuse a peer's cursor.
 * There, atomic64_t does whatever the machine needs, down to a lock.  Counts are declared as
 * aligned_u64, which has the alignment of atomic64_t.
 *
 * The task that moves a count holds a lock against others that move it, and may read it plainly.
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
