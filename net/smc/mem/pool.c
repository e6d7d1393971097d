// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers: made when the elements of a pool are all in use, kept for some time, or for as long
 * as their owner, when they are free.  The limits are asked before memory is allocated, and so
 * is the memory cgroup.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "../lock_class.h"
#include "../smc.h"
#include "../trace.h"
#include "../wire/clc.h"
#include "charge.h"
#include "internal.h"
#include "limit.h"

/* Size of a buffer, which has at least one element and at most BUF_MAX_RMBES. */
#define BUF_BYTES	(512u << 10)
#define BUF_MAX_RMBES	32u
/* Memory that a new buffer must leave free in its cgroup */
#define CGROUP_ROOM	(2u << 20)
/* How long an idle buffer is kept for new connections. */
#define KEEP_TIME	(5 * HZ)

static void pools_put(struct smc_pools *pools)
{
	if (!refcount_dec_and_test(&pools->ref))
		return;
	smc_mem_limit_put(pools->limit);
	kfree(pools);
}

static void buf_unlist(struct smc_buf *buf)
{
	struct smc_pools *pools = buf->pool->pools;

	if (list_empty(&buf->all))
		return;
	spin_lock_bh(&pools->lock);
	list_del_init(&buf->all);
	pools->n_bufs--;
	spin_unlock_bh(&pools->lock);
}

static void buf_free(struct smc_buf *buf)
{
	struct smc_pools *pools = buf->pool->pools;

	if (pools->ops->reg)
		buf_unlist(buf);
	WARN_ON_ONCE(pools->ops->reg && buf->priv);
	trace_smc_buf_free(pools, smc_buf_bytes(buf), buf->n_rmbes,
			   smc_mem_limit_used(pools->limit), pools->limit->max);
	smc_mem_unreserve(pools->limit, smc_buf_bytes(buf));
	atomic64_sub(smc_buf_bytes(buf), &pools->bytes);
	pools->ops->free(buf->mem, smc_buf_bytes(buf), buf->priv);
	kfree(buf);
	pools_put(pools);
}

static void __take_out(struct smc_buf *buf)
{
	unsigned int i;

	lockdep_assert_held(&buf->pool->lock);
	for (i = 0; i < buf->n_rmbes; i++)
		list_del(&buf->rmbes[i].list);
	list_del_init(&buf->list);
}

/* Take buffers without users out of a pool; all but one, or all. */
static void __pool_reap(struct smc_pool *pool, bool all, struct list_head *gone)
{
	struct smc_buf *buf, *next;

	lockdep_assert_held(&pool->lock);
	list_for_each_entry_safe(buf, next, &pool->idle, list) {
		if (!all && !buf->doomed && list_is_singular(&pool->idle))
			break;
		__take_out(buf);
		list_add(&buf->list, gone);
	}
}

static void reap(struct smc_pools *pools)
{
	bool all = READ_ONCE(pools->closed);
	struct smc_buf *buf, *next;
	LIST_HEAD(gone);
	int i;

	for (i = 0; i <= SMC_SIZE_CODE_LIMIT; i++) {
		spin_lock_bh(&pools->pool[i].lock);
		__pool_reap(&pools->pool[i], all, &gone);
		spin_unlock_bh(&pools->pool[i].lock);
	}
	list_for_each_entry_safe(buf, next, &gone, list)
		buf_free(buf);
}

static void reap_work(struct work_struct *work)
{
	struct smc_pools *pools = container_of(work, struct smc_pools, reap.work);

	reap(pools);
	pools_put(pools);
}

/**
 * smc_pools_reap() - free buffers without users
 * @pools: the pools
 * @later: keep them for some seconds, for new connections
 *
 * Context: any.
 */
void smc_pools_reap(struct smc_pools *pools, bool later)
{
	unsigned long delay = later ? KEEP_TIME : 0;

	if (delay && delayed_work_pending(&pools->reap))
		return;
	refcount_inc(&pools->ref);
	if (!mod_delayed_work(smc_wq, &pools->reap, delay))
		return;
	/* It was pending, with a reference of its own. */
	pools_put(pools);
}

/**
 * smc_pools_new() - the empty pools of a new namespace or link group
 * @limit: the limit that their memory is charged to
 * @ops: how buffers are allocated and registered
 * @owner: handed to @ops
 *
 * Return: the pools or NULL.
 */
struct smc_pools *smc_pools_new(struct smc_mem_limit *limit, const struct smc_buf_ops *ops,
				void *owner)
{
	struct smc_pools *pools = kzalloc(sizeof(*pools), GFP_KERNEL);
	int i;

	if (!pools)
		return NULL;
	refcount_set(&pools->ref, 1);
	refcount_inc(&limit->ref);
	pools->limit = limit;
	pools->ops = ops;
	pools->owner = owner;
	smc_mutex_init(&pools->reg_lock, SMC_LOCK_POOLS_REG);
	smc_spin_lock_init(&pools->lock, SMC_LOCK_POOLS);
	INIT_LIST_HEAD(&pools->all);
	INIT_DELAYED_WORK(&pools->reap, reap_work);
	for (i = 0; i <= SMC_SIZE_CODE_LIMIT; i++) {
		struct smc_pool *pool = &pools->pool[i];

		smc_spin_lock_init(&pool->lock, SMC_LOCK_POOL);
		INIT_LIST_HEAD(&pool->free);
		INIT_LIST_HEAD(&pool->idle);
		pool->pools = pools;
		pool->size_code = i;
	}
	return pools;
}

static void unregister_all(struct smc_pools *pools)
{
	struct smc_buf *buf;
	void *priv;

	mutex_lock(&pools->reg_lock);
	pools->sealed = true;
	/* Nothing is added any more, and nothing taken off before @closed is set. */
	list_for_each_entry(buf, &pools->all, all) {
		priv = buf->priv;
		WRITE_ONCE(buf->priv, NULL);
		if (priv)
			pools->ops->unreg(pools->owner, priv);
	}
	mutex_unlock(&pools->reg_lock);
}

/* Those whose owner has ended before it was done with them. */
static void free_retired(struct smc_pools *pools)
{
	struct smc_buf *buf, *next;

	list_for_each_entry_safe(buf, next, &pools->all, all)
		if (buf->retired)
			buf_free(buf);
}

/**
 * smc_pools_close() - the owner ends; elements still in use live on
 * @pools: the pools
 *
 * Afterwards they are not registered with any device.
 *
 * Context: process, may sleep; no elements are taken any more.
 */
void smc_pools_close(struct smc_pools *pools)
{
	if (pools->ops->reg)
		unregister_all(pools);
	WRITE_ONCE(pools->closed, true);
	/* Not by the work: the caller may be one of many that fill its queue. */
	if (cancel_delayed_work_sync(&pools->reap))
		pools_put(pools);
	reap(pools);
	free_retired(pools);
	pools_put(pools);
}

/**
 * smc_pools_any() - is there a registered buffer for which a function says yes?
 * @pools: the pools
 * @fn: the function; gets smc_buf_priv() of one buffer after the other, and may sleep
 * @arg: for @fn
 *
 * Context: process, may sleep.  No buffer is registered or unregistered meanwhile.
 * Return: true if there is.
 */
bool smc_pools_any(struct smc_pools *pools, bool (*fn)(void *priv, void *arg), void *arg)
{
	struct smc_buf *buf;
	bool found = false;

	mutex_lock(&pools->reg_lock);
	/* Nothing is taken off before @closed is set, and buffers are added under the lock. */
	list_for_each_entry(buf, &pools->all, all) {
		found = buf->priv && fn(buf->priv, arg);
		if (found)
			break;
	}
	mutex_unlock(&pools->reg_lock);
	return found;
}

/* The one without users for longest, if there is another one. */
static struct smc_buf *pool_retire(struct smc_pool *pool, bool (*may)(const void *priv))
{
	struct smc_buf *buf, *found = NULL;

	spin_lock_bh(&pool->lock);
	if (!list_empty(&pool->idle) && !list_is_singular(&pool->idle)) {
		buf = list_last_entry(&pool->idle, struct smc_buf, list);
		if (!may || may(buf->priv))
			found = buf;
	}
	if (found) {
		__take_out(found);
		found->retired = true;
	}
	spin_unlock_bh(&pool->lock);
	return found;
}

/**
 * smc_pools_retire() - take a registered buffer without users, for good
 * @pools: the pools, open
 * @may: may it be this one?  Gets its smc_buf_priv(); called under a spinlock.  NULL: any may
 *
 * Of each size one is left.  The caller makes device and peer forget the buffer, and then calls
 * smc_buf_retired(), or smc_pools_close() comes before that.
 *
 * Context: process.
 * Return: its smc_buf_priv(), or NULL.
 */
void *smc_pools_retire(struct smc_pools *pools, bool (*may)(const void *priv))
{
	struct smc_buf *buf = NULL;
	int i;

	for (i = 0; i <= SMC_SIZE_CODE_LIMIT && !buf; i++)
		buf = pool_retire(&pools->pool[i], may);
	return buf ? buf->priv : NULL;
}

/**
 * smc_buf_retired() - nobody knows the buffer any more
 * @buf: from smc_pools_retire(), whose pools are open; smc_buf_ops.unreg is called for it
 *
 * Context: process, may sleep.
 */
void smc_buf_retired(struct smc_buf *buf)
{
	struct smc_pools *pools = buf->pool->pools;
	void *priv = buf->priv;

	mutex_lock(&pools->reg_lock);
	WRITE_ONCE(buf->priv, NULL);
	buf_unlist(buf);
	mutex_unlock(&pools->reg_lock);
	pools->ops->unreg(pools->owner, priv);
	buf_free(buf);
}

/* Memory of all buffers, including those in reserve. */
u64 smc_pools_bytes(const struct smc_pools *pools)
{
	return atomic64_read(&pools->bytes);
}

/* Returns the buffer, or frees it and returns NULL. */
static struct smc_buf *register_buf(struct smc_pools *pools, struct smc_buf *buf)
{
	void *priv = NULL;

	mutex_lock(&pools->reg_lock);
	if (!pools->sealed)
		priv = pools->ops->reg(pools->owner, buf);
	if (priv) {
		buf->priv = priv;
		spin_lock_bh(&pools->lock);
		list_add(&buf->all, &pools->all);
		pools->n_bufs++;
		spin_unlock_bh(&pools->lock);
	}
	mutex_unlock(&pools->reg_lock);
	if (priv)
		return buf;
	buf_free(buf);
	return NULL;
}

/* One piece, if it is available without much reclaim. */
static void *piece_alloc(size_t bytes, gfp_t gfp)
{
	/* kmalloc() would complain about more than this. */
	if (bytes > KMALLOC_MAX_SIZE)
		return NULL;
	gfp &= ~__GFP_RETRY_MAYFAIL;
	return kmalloc(bytes, gfp | __GFP_NORETRY);
}

/**
 * smc_mem_alloc() - memory for a buffer
 * @mem: of what kind
 * @bytes: how much
 * @gfp: flags of smc_buf_ops.alloc, with __GFP_ZERO or without
 *
 * Context: process, may sleep.
 * Return: the memory, for smc_mem_free(), or NULL.
 */
void *smc_mem_alloc(enum smc_mem mem, size_t bytes, gfp_t gfp)
{
	void *p = NULL;

	if (mem != SMC_MEM_VIRTUAL)
		p = piece_alloc(bytes, gfp);
	if (!p && mem != SMC_MEM_CONTIGUOUS)
		p = __vmalloc(bytes, gfp);
	return p;
}

/* Undo smc_mem_alloc(), as a smc_buf_ops.free. */
void smc_mem_free(void *mem, size_t bytes, void *priv)
{
	kvfree(mem);
}

static unsigned int own_rmbes(void *owner, u32 size, unsigned int failed)
{
	return failed ? 0 : smc_mem_rmbes(size);
}

/* Not zeroed: this kernel writes, and no reader gets past what was written for it. */
static void *own_alloc(void *owner, size_t bytes, gfp_t gfp, void **priv)
{
	return smc_mem_alloc(SMC_MEM_MIXED, bytes, gfp);
}

/* Buffers that nobody but this kernel reads or writes; they need no owner. */
const struct smc_buf_ops smc_own_buf_ops = {
	.max_code	= SMC_SIZE_CODE_LIMIT,
	.rmbes		= own_rmbes,
	.alloc		= own_alloc,
	.free		= smc_mem_free,
};

/* The buffer and its memory, for which there is a reservation. */
static struct smc_buf *buf_alloc(const struct smc_pools *pools, unsigned int n, u32 size)
{
	gfp_t gfp = SMC_GFP_CHARGED | __GFP_NOWARN;
	struct smc_buf *buf;

	/*
	 * In a full cgroup the program's next page fault, or TCP's next allocation, would invoke
	 * the OOM killer.  So some room is left for them.
	 */
	if (!smc_charge_fits((u64)n * size + CGROUP_ROOM))
		return NULL;
	buf = kzalloc(struct_size(buf, rmbes, n), gfp);
	if (!buf)
		return NULL;
	buf->mem = pools->ops->alloc(pools->owner, (size_t)n * size, gfp, &buf->priv);
	if (buf->mem)
		return buf;
	kfree(buf);
	return NULL;
}

/* A buffer of @n elements, or NULL. */
static struct smc_buf *buf_new_of(struct smc_pool *pool, unsigned int n)
{
	u32 size = smc_clc_size_to_bytes(pool->size_code);
	struct smc_pools *pools = pool->pools;
	u64 bytes = (u64)n * size;
	struct smc_buf *buf;
	unsigned int i;

	if (pools->ops->max_bufs && READ_ONCE(pools->n_bufs) >= pools->ops->max_bufs)
		return NULL;
	if (!smc_mem_reserve(pools->limit, bytes))
		return NULL;
	buf = buf_alloc(pools, n, size);
	if (!buf) {
		smc_mem_unreserve(pools->limit, bytes);
		return NULL;
	}
	INIT_LIST_HEAD(&buf->all);
	buf->pool = pool;
	buf->n_rmbes = n;
	buf->n_free = n;
	for (i = 0; i < n; i++)
		buf->rmbes[i].buf = buf;
	refcount_inc(&pools->ref);
	atomic64_add(bytes, &pools->bytes);
	trace_smc_buf_new(pools, bytes, n, smc_mem_limit_used(pools->limit),
			  pools->limit->max);
	return pools->ops->reg ? register_buf(pools, buf) : buf;
}

/**
 * smc_mem_rmbes() - the usual number of elements in a buffer
 * @size: of each of them, bytes
 *
 * Return: the number, 1 at least.
 */
unsigned int smc_mem_rmbes(u32 size)
{
	return clamp(BUF_BYTES / size, 1u, BUF_MAX_RMBES);
}

/**
 * smc_buf_new() - make a buffer for a pool that has no free element
 * @pool: the pool
 *
 * Context: process, may sleep.
 * Return: the buffer, which is not in the lists of the pool yet, or NULL.
 */
struct smc_buf *smc_buf_new(struct smc_pool *pool)
{
	u32 size = smc_clc_size_to_bytes(pool->size_code);
	struct smc_pools *pools = pool->pools;
	struct smc_buf *buf = NULL;
	unsigned int n = 0;

	do {
		n = pools->ops->rmbes(pools->owner, size, n);
		if (n)
			buf = buf_new_of(pool, n);
	} while (n && !buf);
	return buf;
}

/**
 * smc_buf_last() - prefer other buffers to this one, or no longer
 * @buf: the buffer
 * @last: elements freed from now on are taken after those of other buffers
 */
void smc_buf_last(struct smc_buf *buf, bool last)
{
	WRITE_ONCE(buf->last, last);
}

/**
 * smc_buf_doom() - the element of a buffer is not used again
 * @buf: a buffer of one element, which the caller uses; it is freed together with that
 *
 * Context: any.
 */
void smc_buf_doom(struct smc_buf *buf)
{
	if (!WARN_ON_ONCE(buf->n_rmbes != 1))
		WRITE_ONCE(buf->doomed, true);
}

void *smc_buf_mem(const struct smc_buf *buf)
{
	return buf->mem;
}

size_t smc_buf_bytes(const struct smc_buf *buf)
{
	return (size_t)buf->n_rmbes * smc_clc_size_to_bytes(buf->pool->size_code);
}

/*
 * The value that smc_buf_ops.reg has returned, NULL once the owner of the pools has gone; or the
 * value that smc_buf_ops.alloc has set.
 */
void *smc_buf_priv(const struct smc_buf *buf)
{
	return READ_ONCE(buf->priv);
}
