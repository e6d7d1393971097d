/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which memory cgroup is charged: that of the socket that the memory is for.
 *
 * A handshake may run in any task, such as the peer's or a worker. Nevertheless, what is allocated
 * for a connection is charged to the cgroup of its socket; for a child, to the cgroup of its
 * listener. If a socket has no cgroup, the root cgroup is charged.
 */
#ifndef SMC_MEM_CHARGE_H
#define SMC_MEM_CHARGE_H

#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <net/sock.h>
#include "../smc.h"

/**
 * smc_charge_get() - the cgroup that is charged for a socket
 * @sk: the socket, or the listener of a child
 *
 * Context: any.
 * Return: the cgroup for set_active_memcg(), with a reference, or NULL without cgroups.
 */
static inline struct mem_cgroup *smc_charge_get(const struct sock *sk)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg;

	if (mem_cgroup_disabled())
		return NULL;
	rcu_read_lock();
	/* The socket holds its cgroup; init_task is always in the root cgroup. */
	memcg = sk->sk_memcg ?: mem_cgroup_from_task(&init_task);
	if (memcg)
		css_get(&memcg->css);
	rcu_read_unlock();
	return memcg;
#else
	return NULL;
#endif
}

/* The cgroup that set_active_memcg() has set for allocations with __GFP_ACCOUNT, or NULL. */
static inline struct mem_cgroup *smc_charge_active(void)
{
#ifdef CONFIG_MEMCG
	return in_task() ? current->active_memcg : this_cpu_read(int_active_memcg);
#else
	return NULL;
#endif
}

/* The same, with a reference. */
static inline struct mem_cgroup *smc_charge_hold_active(void)
{
	struct mem_cgroup *memcg = smc_charge_active();

#ifdef CONFIG_MEMCG
	if (memcg)
		css_get(&memcg->css);
#endif
	return memcg;
}

#ifdef CONFIG_MEMCG
/* Page cache that can be reclaimed from a cgroup, not counting its children. */
static inline u64 smc_charge_cache(struct mem_cgroup *memcg)
{
	unsigned long pages = 0;
	struct lruvec *lruvec;
	int node, zone;

	for_each_online_node(node) {
		lruvec = mem_cgroup_lruvec(memcg, NODE_DATA(node));
		for (zone = 0; zone < MAX_NR_ZONES; zone++)
			pages += mem_cgroup_get_zone_lru_size(lruvec, LRU_INACTIVE_FILE, zone) +
				 mem_cgroup_get_zone_lru_size(lruvec, LRU_ACTIVE_FILE, zone);
	}
	/* Count half of it: some is dirty, or mapped by running programs. */
	return (u64)pages << PAGE_SHIFT >> 1;
}
#endif

/**
 * smc_charge_fits() - does an allocation fit into the cgroup that is charged now?
 * @bytes: size of the allocation
 *
 * This only checks. A failing attempt to allocate would reach memory.max for a moment, in which a
 * page fault of another thread, or an allocation by TCP, would invoke the OOM killer. Above
 * memory.high the kernel puts the allocating task to sleep, which may be a worker that others need.
 *
 * Context: process.
 * Return: true if the allocation fits, after page cache has been reclaimed.
 */
static inline bool smc_charge_fits(u64 bytes)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg = current->active_memcg;
	unsigned long used, limit;
	u64 cache = 0;

	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		used = page_counter_read(&memcg->memory);
		limit = min(READ_ONCE(memcg->memory.max), READ_ONCE(memcg->memory.high));
		/* The children's page cache can be reclaimed for the parent's limit, too. */
		cache += smc_charge_cache(memcg);
		if (((u64)(limit > used ? limit - used : 0) << PAGE_SHIFT) + cache < bytes)
			return false;
	}
#endif
	return true;
}

static inline void smc_charge_put(struct mem_cgroup *memcg)
{
	mem_cgroup_put(memcg);
}

#endif
