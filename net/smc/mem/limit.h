/* SPDX-License-Identifier: GPL-2.0 */
/* How much memory the buffers of a namespace and of the host may take. */
#ifndef SMC_MEM_LIMIT_H
#define SMC_MEM_LIMIT_H

#include <linux/atomic.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/**
 * struct smc_mem_limit - limit on the memory of the buffers of a namespace
 * @ref:	one reference for the namespace, and one for each of its pools
 * @bytes:	memory of all buffers, in bytes
 * @max:	maximum of @bytes: net.smc.mem_max
 * @guest:	any user can create a namespace like this one
 * @relief_work: queued when memory is refused, or NULL; it lives as long as the namespace, while
 *	another namespace may still grow an element that is charged to this limit
 */
struct smc_mem_limit {
	refcount_t		ref;
	atomic64_t		bytes;
	u64			max;
	bool			guest;
	struct work_struct __rcu *relief_work;
};

extern unsigned long smc_host_mem_max;

struct smc_mem_limit *smc_mem_limit_new(u64 max, bool guest);
void smc_mem_limit_put(struct smc_mem_limit *limit);
void smc_mem_limit_set(struct smc_mem_limit *limit, u64 bytes);
u64 smc_mem_limit_used(const struct smc_mem_limit *limit);
u64 smc_host_mem_used(void);

bool smc_mem_reserve(struct smc_mem_limit *limit, u64 bytes);
void smc_mem_unreserve(struct smc_mem_limit *limit, u64 bytes);
void smc_mem_relieve(const struct smc_mem_limit *limit);
int smc_mem_largest_code(const struct smc_mem_limit *limit);

/* net.c */
extern struct pernet_operations smc_mem_net_ops;
void smc_mem_init(void);

#endif
