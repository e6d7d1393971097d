// SPDX-License-Identifier: GPL-2.0
/*
 * How much memory buffers may take: the limits of a namespace and of the host. charge.h deals with
 * memory cgroups, which limit it as well.
 */
#include <linux/minmax.h>
#include <linux/slab.h>
#include "../smc.h"
#include "limit.h"
#include "rmbe.h"

/* 64 KiB: the largest new element once half of the permitted memory is in use. */
#define SIZE_CODE_MODEST	2

/* Memory of the buffers of all namespaces. */
static atomic64_t host_bytes;

/* net.smc.mem_max_host */
unsigned long smc_host_mem_max __read_mostly;

/**
 * smc_mem_limit_new() - create the limit of a new namespace
 * @max: limit in bytes
 * @guest: the namespace belongs to a user namespace other than the initial one
 *
 * Return: the limit with one reference, or NULL.
 */
struct smc_mem_limit *smc_mem_limit_new(u64 max, bool guest)
{
	struct smc_mem_limit *limit = kzalloc(sizeof(*limit), SMC_GFP_CHARGED);

	if (!limit)
		return NULL;
	refcount_set(&limit->ref, 1);
	limit->max = max;
	limit->guest = guest;
	return limit;
}

void smc_mem_limit_put(struct smc_mem_limit *limit)
{
	if (refcount_dec_and_test(&limit->ref))
		kfree(limit);
}

/**
 * smc_mem_limit_set() - change the limit on the memory of all buffers
 * @limit: the limit
 * @bytes: new limit in bytes; memory already in use beyond it stays allocated until it is freed
 */
void smc_mem_limit_set(struct smc_mem_limit *limit, u64 bytes)
{
	WRITE_ONCE(limit->max, bytes);
}

u64 smc_mem_limit_used(const struct smc_mem_limit *limit)
{
	return atomic64_read(&limit->bytes);
}

/* Memory used by the buffers of all namespaces. */
u64 smc_host_mem_used(void)
{
	return atomic64_read(&host_bytes);
}

/* The last quarter is off limits for namespaces that any user can create. */
static u64 host_limit(const struct smc_mem_limit *limit)
{
	u64 max = READ_ONCE(smc_host_mem_max);

	return limit->guest ? max / 4 * 3 : max;
}

/**
 * smc_mem_unreserve() - undo smc_mem_reserve() after the memory has been freed
 * @limit: the limit
 * @bytes: number of bytes
 *
 * Context: any.
 */
void smc_mem_unreserve(struct smc_mem_limit *limit, u64 bytes)
{
	atomic64_sub(bytes, &limit->bytes);
	atomic64_sub(bytes, &host_bytes);
}

/**
 * smc_mem_relieve() - a connection is refused a buffer: have unused ones freed
 * @limit: the limit of the namespace
 *
 * Context: any.
 */
void smc_mem_relieve(const struct smc_mem_limit *limit)
{
	struct work_struct *relief;

	rcu_read_lock();
	relief = rcu_dereference(limit->relief_work);
	if (relief)
		queue_work(smc_wq, relief);
	rcu_read_unlock();
}

/**
 * smc_mem_reserve() - try to reserve memory for a buffer
 * @limit: the limit
 * @bytes: number of bytes
 *
 * Call this before the allocation, because many tasks may allocate at the same time.
 *
 * Context: any.
 * Return: true if the memory is reserved, false if it exceeds a limit.
 */
bool smc_mem_reserve(struct smc_mem_limit *limit, u64 bytes)
{
	u64 used = atomic64_add_return(bytes, &limit->bytes);
	u64 of_host = atomic64_add_return(bytes, &host_bytes);

	if (used <= READ_ONCE(limit->max) && of_host <= host_limit(limit))
		return true;
	smc_mem_unreserve(limit, bytes);
	smc_mem_relieve(limit);
	return false;
}

static int largest_of(u64 used, u64 max)
{
	if (used > max / 4 * 3)
		return 0;
	return used > max / 2 ? SIZE_CODE_MODEST : SMC_SIZE_CODE_LIMIT;
}

/**
 * smc_mem_largest_code() - largest element size for which a new buffer may be allocated
 * @limit: the limit
 *
 * The size shrinks as usage approaches the limits, because many connections with small elements are
 * better than few with large ones.
 *
 * Return: the size in compressed notation.
 */
int smc_mem_largest_code(const struct smc_mem_limit *limit)
{
	u64 max = READ_ONCE(limit->max);
	u64 used = smc_mem_limit_used(limit);

	return min(largest_of(used, max),
		   largest_of(smc_host_mem_used(), host_limit(limit)));
}
