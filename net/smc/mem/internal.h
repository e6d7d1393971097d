/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by account.c, pool.c and rmbe.c. */
#ifndef SMC_MEM_INTERNAL_H
#define SMC_MEM_INTERNAL_H

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "pool.h"
#include "rmbe.h"

/**
 * struct smc_rmbe - an element of a buffer
 * @buf:	the buffer
 * @list:	in the pool's list of free elements while free
 * @how:	SMC_RMBE_*: how the current user obtained the element
 */
struct smc_rmbe {
	struct smc_buf		*buf;
	struct list_head	list;
	u8			how;
};

/**
 * struct smc_buf - an RMB or DMB
 * @pool:	the pool to which free elements return
 * @mem:	memory of the buffer
 * @priv:	the fabric's data, set and cleared by its smc_buf_ops
 * @all:	entry in the list of all registered buffers of the pools
 * @last:	elements of this buffer are taken only after those of others
 * @doomed:	no element is reused, see smc_buf_doom(); under the pool's lock
 * @retired:	the buffer is in no list of its pool any more, see smc_pools_retire(); under the
 *		pool's lock
 * @n_rmbes:	number of elements
 * @n_free:	number of free elements; under the pool's lock
 * @list:	entry in the pool's list of idle buffers while all elements are free
 * @rmbes:	the elements
 */
struct smc_buf {
	struct smc_pool		*pool;
	u8			*mem;
	void			*priv;
	struct list_head	all;
	bool			last;
	bool			doomed;
	bool			retired;
	unsigned int		n_rmbes;
	unsigned int		n_free;
	struct list_head	list;
	struct smc_rmbe		rmbes[];
};

/**
 * struct smc_pool - all buffers of an account with elements of one size
 * @lock:	protects the lists and counters
 * @free:	free elements, the most recently used first, because its memory is still cached
 * @idle:	buffers without users; unless registered with a device, all but one are freed after
 *		some seconds
 * @account:	the account to which this pool belongs
 * @size_code:	size of the elements in compressed notation
 */
struct smc_pool {
	spinlock_t		lock;
	struct list_head	free;
	struct list_head	idle;
	struct smc_account	*account;
	u8			size_code;
};

/**
 * struct smc_account - the buffers that one memory cgroup pays for
 * @pools:	the pools to which the account belongs
 * @memcg:	the cgroup, referenced, or NULL if none is charged
 * @node:	entry in the hash table of the pools, until it has no users
 * @users:	number of buffers, and of tasks that create one; under smc_pools.lock
 * @n_busy:	number of buffers that have elements in use
 * @idle_since:	when a buffer last became idle, in jiffies
 * @rcu:	smc_account_find() walks the hash table under RCU
 * @pool:	one pool for each size
 */
struct smc_account {
	struct smc_pools	*pools;
	struct mem_cgroup	*memcg;
	struct hlist_node	node;
	unsigned int		users;
	atomic_t		n_busy;
	unsigned long		idle_since;
	struct rcu_head		rcu;
	struct smc_pool		pool[SMC_SIZE_CODE_LIMIT + 1];
};

/* An account has a buffer, so the limits on memory permit two accounts for each MiB. */
#define SMC_ACCOUNT_BITS	(IS_ENABLED(CONFIG_MEMCG) ? 6 : 1)

/**
 * struct smc_pools - the pools of a namespace or a link group
 * @ref:	one for the owner and one for each buffer: a connection whose peer is in another
 *		namespace may outlive its own namespace
 * @closed:	the owner ends or is gone; nothing is kept in reserve
 * @limit:	the limit to which the memory is charged
 * @ops:	operations of the owner
 * @owner:	argument of @ops; not used after smc_pools_close()
 * @reg_lock:	serializes registration and unregistration; protects @sealed
 * @sealed:	no more buffers are registered with a device. Set before @closed, because no buffer
 *		may be freed until all buffers are unregistered
 * @lock:	protects @accounts, smc_account.users, @all and @n_bufs
 * @accounts:	hash table of the accounts, by their cgroup. RCU for readers
 * @all:	list of all registered buffers
 * @n_bufs:	number of buffers in @all
 * @bytes:	memory of all buffers, in bytes
 * @reap:	frees idle buffers, which may sleep
 */
struct smc_pools {
	refcount_t		ref;
	bool			closed;
	struct smc_mem_limit	*limit;
	const struct smc_buf_ops *ops;
	void			*owner;
	struct mutex		reg_lock;
	bool			sealed;
	spinlock_t		lock;
	DECLARE_HASHTABLE(accounts, SMC_ACCOUNT_BITS);
	struct list_head	all;
	unsigned int		n_bufs;
	atomic64_t		bytes;
	struct delayed_work	reap;
};

static inline struct smc_pools *smc_buf_pools(const struct smc_buf *buf)
{
	return buf->pool->account->pools;
}

/* account.c */
struct smc_account *smc_account_find(struct smc_pools *pools);
struct smc_account *smc_account_get(struct smc_pools *pools);
void smc_account_hold(struct smc_account *account);
void smc_account_put(struct smc_account *account);
unsigned long smc_account_kept(const struct smc_account *account, unsigned long keep);

struct smc_buf *smc_buf_new(struct smc_pool *pool);
void smc_pools_reap(struct smc_pools *pools, bool later);

#endif
