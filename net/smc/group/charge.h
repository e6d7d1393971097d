/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is charged for memory: the memory cgroup of the socket it is for.
 *
 * A handshake is run by whoever comes by, its peer or a worker included.  What is allocated
 * for a connection is charged to the cgroup of the socket all the same, that of a child to the
 * cgroup of its listener.  Root pays where a socket has no cgroup of its own.
 */
#ifndef SMC_CHARGE_H
#define SMC_CHARGE_H

#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <net/sock.h>

/* Rather fail than have the OOM killer of a cgroup do away with somebody. */
#define SMC_GFP_CHARGED		(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL)

/**
 * smc_charge_get() - who pays for what a socket needs
 * @sk: the socket, or the listener of a child
 *
 * Context: any.
 * Return: the cgroup for set_active_memcg(), referenced, or NULL without cgroups.
 */
static inline struct mem_cgroup *smc_charge_get(const struct sock *sk)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg;

	if (mem_cgroup_disabled())
		return NULL;
	rcu_read_lock();
	/* The socket holds it; the first task is always in the root of all groups. */
	memcg = sk->sk_memcg ?: mem_cgroup_from_task(&init_task);
	if (memcg)
		css_get(&memcg->css);
	rcu_read_unlock();
	return memcg;
#else
	return NULL;
#endif
}

/**
 * smc_charge_margin() - how much the cgroup that pays just now may still take
 *
 * Context: process.
 * Return: bytes, without what could be reclaimed.
 */
static inline u64 smc_charge_margin(void)
{
	u64 margin = U64_MAX;
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg = current->active_memcg;
	unsigned long used, max;

	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		used = page_counter_read(&memcg->memory);
		max = READ_ONCE(memcg->memory.max);
		margin = min(margin, (u64)(max > used ? max - used : 0) << PAGE_SHIFT);
	}
#endif
	return margin;
}

static inline void smc_charge_put(struct mem_cgroup *memcg)
{
	mem_cgroup_put(memcg);
}

#endif
