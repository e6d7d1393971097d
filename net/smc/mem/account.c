// SPDX-License-Identifier: GPL-2.0
/*
 * Accounts: the buffers of a namespace or link group, sorted by the memory cgroup that pays for
 * them. A connection gets only elements that its own cgroup pays for. So no cgroup can use memory
 * that is charged to another one, or keep it: one element in use keeps a buffer of 32.
 *
 * Without CONFIG_MEMCG, or if memory cgroups are disabled, there is one account.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include "../lock_class.h"
#include "../smc.h"
#include "charge.h"
#include "internal.h"

/**
 * smc_account_find() - find the account of the cgroup that is charged now
 * @pools: the pools
 *
 * Context: any, under RCU.
 * Return: the account, which may just be losing its last buffer, or NULL.
 */
struct smc_account *smc_account_find(struct smc_pools *pools)
{
	const struct mem_cgroup *memcg = smc_charge_active();
	struct smc_account *account;

	hash_for_each_possible_rcu(pools->accounts, account, node, (unsigned long)memcg,
				   lockdep_is_held(&pools->lock))
		if (account->memcg == memcg)
			return account;
	return NULL;
}

static struct smc_account *account_new(struct smc_pools *pools)
{
	struct smc_account *account = kzalloc(sizeof(*account), SMC_GFP_CHARGED);
	int i;

	if (!account)
		return NULL;
	account->pools = pools;
	account->memcg = smc_charge_hold_active();
	account->idle_since = jiffies;
	for (i = 0; i <= SMC_SIZE_CODE_LIMIT; i++) {
		struct smc_pool *pool = &account->pool[i];

		smc_spin_lock_init(&pool->lock, SMC_LOCK_POOL);
		INIT_LIST_HEAD(&pool->free);
		INIT_LIST_HEAD(&pool->idle);
		pool->account = account;
		pool->size_code = i;
	}
	return account;
}

static void account_free(struct smc_account *account)
{
	smc_charge_put(account->memcg);
	kfree_rcu(account, rcu);
}

/* Another task may have created the account meanwhile: then return that one. */
static struct smc_account *__account_add(struct smc_account *new)
{
	struct smc_account *account = smc_account_find(new->pools);

	lockdep_assert_held(&new->pools->lock);
	if (!account) {
		hash_add_rcu(new->pools->accounts, &new->node, (unsigned long)new->memcg);
		account = new;
	}
	account->users++;
	return account;
}

/**
 * smc_account_get() - find or create the account of the cgroup that is charged now
 * @pools: the pools
 *
 * Context: process, may sleep.
 * Return: the account, for smc_account_put(), or NULL if there is no memory.
 */
struct smc_account *smc_account_get(struct smc_pools *pools)
{
	struct smc_account *account, *new;

	spin_lock_bh(&pools->lock);
	account = smc_account_find(pools);
	if (account)
		account->users++;
	spin_unlock_bh(&pools->lock);
	if (account)
		return account;
	new = account_new(pools);
	if (!new)
		return NULL;
	spin_lock_bh(&pools->lock);
	account = __account_add(new);
	spin_unlock_bh(&pools->lock);
	if (account != new)
		account_free(new);
	return account;
}

/**
 * smc_account_hold() - let another user keep an account
 * @account: the account; the caller is a user of it
 */
void smc_account_hold(struct smc_account *account)
{
	spin_lock_bh(&account->pools->lock);
	account->users++;
	spin_unlock_bh(&account->pools->lock);
}

/**
 * smc_account_put() - end the use of an account, which the last user frees
 * @account: the account
 *
 * Context: any but hard interrupts.
 */
void smc_account_put(struct smc_account *account)
{
	struct smc_pools *pools = account->pools;
	bool last;

	spin_lock_bh(&pools->lock);
	last = !--account->users;
	if (last)
		hash_del_rcu(&account->node);
	spin_unlock_bh(&pools->lock);
	if (last)
		account_free(account);
}

/**
 * smc_account_kept() - how much longer does an account without connections keep its buffers?
 * @account: the account
 * @keep: how long it keeps them in all
 *
 * Context: any.
 * Return: the rest of that time; 0 if it is over; MAX_JIFFY_OFFSET if an element is in use.
 */
unsigned long smc_account_kept(const struct smc_account *account, unsigned long keep)
{
	unsigned long idle;

	/* Pairs with the full barrier in smc_rmbe_put(), which sets idle_since before. */
	if (atomic_read_acquire(&account->n_busy))
		return MAX_JIFFY_OFFSET;
	idle = jiffies - READ_ONCE(account->idle_since);
	return idle < keep ? keep - idle : 0;
}
