// SPDX-License-Identifier: GPL-2.0
/*
 * How much memory buffers may take: the limits of a namespace and of the host.  That a memory
 * cgroup has its say as well is in charge.h.
 */
#include <linux/minmax.h>
#include <linux/slab.h>
#include "../smc.h"
#include "limit.h"
#include "rmbe.h"

/* 64 KiB: the largest element once half of the permitted memory is in use. */
#define SIZE_CODE_MODEST	2

/* Memory of the buffers of all namespaces together. */
static atomic64_t host_bytes;

/* net.smc.mem_max_host */
unsigned long smc_host_mem_max __read_mostly;

/**
 * smc_mem_limit_new() - the limit of a new namespace
 * @max: bytes
 * @guest: the namespace is not one of the host's own user namespace
 *
 * Return: the limit with one reference, or NULL.
 */
struct smc_mem_limit *smc_mem_limit_new(u64 max, bool guest)
{
	struct smc_mem_limit *limit = kzalloc(sizeof(*limit), GFP_KERNEL);

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
 * smc_mem_limit_set() - cap the memory of all buffers
 * @limit: the limit
 * @bytes: the cap; what is in use beyond it stays until it is free
 */
void smc_mem_limit_set(struct smc_mem_limit *limit, u64 bytes)
{
	WRITE_ONCE(limit->max, bytes);
}

u64 smc_mem_limit_used(const struct smc_mem_limit *limit)
{
	return atomic64_read(&limit->bytes);
}

/* Of all namespaces together */
u64 smc_host_mem_used(void)
{
	return atomic64_read(&host_bytes);
}

/* The last quarter is not for namespaces that any user can make. */
static u64 host_limit(const struct smc_mem_limit *limit)
{
	u64 max = READ_ONCE(smc_host_mem_max);

	return limit->guest ? max / 4 * 3 : max;
}

/**
 * smc_mem_unreserve() - undo smc_mem_reserve(), the memory is free
 * @limit: the limit
 * @bytes: how much
 *
 * Context: any.
 */
void smc_mem_unreserve(struct smc_mem_limit *limit, u64 bytes)
{
	atomic64_sub(bytes, &limit->bytes);
	atomic64_sub(bytes, &host_bytes);
}

/**
 * smc_mem_reserve() - may a buffer take so much?
 * @limit: the limit
 * @bytes: how much
 *
 * Called before memory is allocated, as many tasks may do so at the same time.
 *
 * Context: any.
 * Return: true if so, and it is counted.
 */
bool smc_mem_reserve(struct smc_mem_limit *limit, u64 bytes)
{
	u64 used = atomic64_add_return(bytes, &limit->bytes);
	u64 of_host = atomic64_add_return(bytes, &host_bytes);
	struct work_struct *relief;

	if (used <= READ_ONCE(limit->max) && of_host <= host_limit(limit))
		return true;
	smc_mem_unreserve(limit, bytes);
	relief = READ_ONCE(limit->relief_work);
	if (relief)
		queue_work(smc_wq, relief);
	return false;
}

static int largest_of(u64 used, u64 max)
{
	if (used > max / 4 * 3)
		return 0;
	return used > max / 2 ? SIZE_CODE_MODEST : SMC_SIZE_CODE_LIMIT;
}

/**
 * smc_mem_largest_code() - the largest size of element for which a new buffer is made
 * @limit: the limit
 *
 * It shrinks as the limits are approached, as many connections with small elements are better
 * than few with large ones.
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
