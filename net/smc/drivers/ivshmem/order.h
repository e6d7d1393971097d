/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Access to words that several kernels share.
 *
 * smp_mb(), cmpxchg(), set_bit() and the like only order the CPUs of one kernel: a kernel with a
 * single CPU reduces them to compiler barriers, and patches out its lock prefixes.  Here the other
 * side is another kernel on another CPU.  So this file uses virt_*() and the compiler's atomics,
 * which always act on the hardware.
 *
 * All words are little-endian.  Read each word only once: a peer may change it at any time.
 */
#ifndef SMC_IVSHMEM_ORDER_H
#define SMC_IVSHMEM_ORDER_H

#include "../../wire/wire.h"

#ifdef __KERNEL__
#include <asm/barrier.h>
#include <linux/atomic.h>

#define ivs_mb()		virt_mb()		/* its callers say what it orders */
#define ivs_read(p)		virt_load_acquire(p)	/* pairs with ivs_write() */
#define ivs_write(p, v)		virt_store_release(p, v)	/* pairs with ivs_read() */
#else
#define ivs_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define ivs_read(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define ivs_write(p, v)		__atomic_store_n(p, v, __ATOMIC_RELEASE)
#ifndef __force
#define __force
#endif
#define le32_to_cpu(x)		le32toh(x)
#define le64_to_cpu(x)		le64toh(x)
#define cpu_to_le32(x)		htole32(x)
#define cpu_to_le64(x)		htole64(x)
#endif

static inline u64 ivs_load(const __le64 *p)
{
	return le64_to_cpu(ivs_read(p));
}

static inline u32 ivs_load32(const __le32 *p)
{
	return le32_to_cpu(ivs_read(p));
}

/* A reader that sees the new value also sees all earlier writes. */
static inline void ivs_store(__le64 *p, u64 value)
{
	ivs_write(p, cpu_to_le64(value));
}

static inline void ivs_store32(__le32 *p, u32 value)
{
	ivs_write(p, cpu_to_le32(value));
}

/* Returns the previous value, which is @old if the exchange has taken place. */
static inline u64 ivs_cmpxchg(__le64 *p, u64 old, u64 new)
{
	u64 seen = (__force u64)cpu_to_le64(old);

	__atomic_compare_exchange_n((__force u64 *)p, &seen, (__force u64)cpu_to_le64(new), false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return le64_to_cpu((__force __le64)seen);
}

static inline u64 ivs_xchg(__le64 *p, u64 value)
{
	return le64_to_cpu((__force __le64)__atomic_exchange_n((__force u64 *)p,
			   (__force u64)cpu_to_le64(value), __ATOMIC_SEQ_CST));
}

static inline void ivs_or(__le64 *p, u64 bits)
{
	__atomic_fetch_or((__force u64 *)p, (__force u64)cpu_to_le64(bits), __ATOMIC_SEQ_CST);
}

static inline void ivs_and(__le64 *p, u64 bits)
{
	__atomic_fetch_and((__force u64 *)p, (__force u64)cpu_to_le64(bits), __ATOMIC_SEQ_CST);
}

#endif /* SMC_IVSHMEM_ORDER_H */
