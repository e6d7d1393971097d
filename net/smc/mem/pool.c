// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers: allocated when all elements of a pool are in use. Buffers without users are kept for
 * some time, one of each size longer. The limits and the memory cgroup are checked before memory is
 * allocated.
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

/* Target size of a buffer, which has at least one and at most BUF_MAX_RMBES elements. */
#define BUF_BYTES	(512u << 10)
#define BUF_MAX_RMBES	32u
/* Memory that must remain available in the cgroup after a new buffer has been allocated. */
#define CGROUP_ROOM	(2u << 20)
/* How long idle buffers, and all buffers of an idle account, are kept for new connections. */
#define KEEP_TIME	(5 * HZ)

/**
 * smc_pools_put() - drop a reference
 * @pools: the pools, after smc_pools_shut() if a buffer was ever taken from them
 *
 * Context: any.
 */
void smc_pools_put(struct smc_pools *pools)
{
	if (!refcount_dec_and_test(&pools->ref))
		return;
	smc_mem_limit_put(pools->limit);
	kfree(pools);
}

static void __buf_unlist(struct smc_buf *buf)
{
	struct smc_pools *pools = smc_buf_pools(buf);

	lockdep_assert_held(&pools->lock);
	list_del_init(&buf->all);
	pools->n_bufs--;
}

static void buf_unlist(struct smc_buf *buf)
{
	struct smc_pools *pools = smc_buf_pools(buf);

	if (list_empty(&buf->all))
		return;
	spin_lock_bh(&pools->lock);
	__buf_unlist(buf);
	spin_unlock_bh(&pools->lock);
}

static void buf_free(struct smc_buf *buf)
{
	struct smc_account *account = buf->pool->account;
	struct smc_pools *pools = account->pools;

	if (pools->ops->reg)
		buf_unlist(buf);
	WARN_ON_ONCE(pools->ops->reg && buf->priv);
	trace_smc_buf_free(pools, smc_buf_bytes(buf), buf->n_rmbes,
			   smc_mem_limit_used(pools->limit), pools->limit->max);
	smc_mem_unreserve(pools->limit, smc_buf_bytes(buf));
	atomic64_sub(smc_buf_bytes(buf), &pools->bytes);
	pools->ops->free(buf->mem, smc_buf_bytes(buf), buf->priv);
	kfree(buf);
	smc_account_put(account);
	smc_pools_put(pools);
}

static void __take_out(struct smc_buf *buf)
{
	unsigned int i;

	lockdep_assert_held(&buf->pool->lock);
	for (i = 0; i < buf->n_rmbes; i++)
		list_del(&buf->rmbes[i].list);
	list_del_init(&buf->list);
}

/* Take buffers without users out of a pool: all of them, or all but one. */
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

static void account_reap(struct smc_account *account, bool all, struct list_head *gone)
{
	struct smc_pool *pool;
	int i;

	for (i = 0; i <= SMC_SIZE_CODE_LIMIT; i++) {
		pool = &account->pool[i];
		spin_lock_bh(&pool->lock);
		__pool_reap(pool, all, gone);
		spin_unlock_bh(&pool->lock);
	}
}

/* Returns when to call this again, as an account keeps its buffers for some time, or a maximum. */
static unsigned long reap(struct smc_pools *pools)
{
	unsigned long again = MAX_JIFFY_OFFSET, kept = 0;
	bool closed = READ_ONCE(pools->closed);
	struct smc_account *account;
	struct smc_buf *buf, *next;
	LIST_HEAD(gone);
	int i;

	rcu_read_lock();
	hash_for_each_rcu(pools->accounts, i, account, node) {
		if (!closed)
			kept = smc_account_kept(account, KEEP_TIME);
		account_reap(account, !kept, &gone);
		if (kept)
			again = min(again, kept);
	}
	rcu_read_unlock();
	list_for_each_entry_safe(buf, next, &gone, list)
		buf_free(buf);
	return again;
}

/*
 * If the work item is pending, do its work now, so that no timer is left behind.  If it is running,
 * it has a reference, and this does not wait for it.
 */
static void reap_pending(struct smc_pools *pools)
{
	if (!cancel_delayed_work(&pools->reap))
		return;
	reap(pools);
	smc_pools_put(pools);
}

static void reap_work(struct work_struct *work)
{
	struct smc_pools *pools = container_of(work, struct smc_pools, reap.work);
	unsigned long again = reap(pools);

	if (again < MAX_JIFFY_OFFSET) {
		refcount_inc(&pools->ref);
		if (!queue_delayed_work(smc_wq, &pools->reap, again))
			smc_pools_put(pools);
		/* smc_pools_shut() may not have seen this timer.  Pairs with the barrier there. */
		smp_mb();
		if (READ_ONCE(pools->closed))
			reap_pending(pools);
	}
	smc_pools_put(pools);
}

/**
 * smc_pools_reap() - free buffers without users
 * @pools: the pools
 * @later: first keep them for some seconds, for new connections
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
	/* The work was pending already and holds a reference. */
	smc_pools_put(pools);
}

/**
 * smc_pools_new() - create the empty pools of a new namespace or link group
 * @limit: the limit to which the memory is charged
 * @ops: how to allocate and register buffers
 * @owner: argument of @ops
 *
 * Return: the pools, or NULL.
 */
struct smc_pools *smc_pools_new(struct smc_mem_limit *limit, const struct smc_buf_ops *ops,
				void *owner)
{
	struct smc_pools *pools = kzalloc(sizeof(*pools), SMC_GFP_CHARGED);

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
	hash_init(pools->accounts);
	return pools;
}

static void unregister_all(struct smc_pools *pools)
{
	struct smc_buf *buf;
	void *priv;

	mutex_lock(&pools->reg_lock);
	pools->sealed = true;
	/* Sealed: no buffer is added any more. None is removed before @closed is set. */
	list_for_each_entry(buf, &pools->all, all) {
		priv = buf->priv;
		WRITE_ONCE(buf->priv, NULL);
		if (priv)
			pools->ops->unreg(pools->owner, priv);
	}
	mutex_unlock(&pools->reg_lock);
}

/* The reaper frees other buffers at the same time, so only walk the list under the lock. */
static struct smc_buf *unlist_retired(struct smc_pools *pools)
{
	struct smc_buf *buf, *found = NULL;

	spin_lock_bh(&pools->lock);
	list_for_each_entry(buf, &pools->all, all) {
		if (buf->retired) {
			__buf_unlist(buf);
			found = buf;
			break;
		}
	}
	spin_unlock_bh(&pools->lock);
	return found;
}

/* Free buffers that were retired, but whose owner ended before it called smc_buf_retired(). */
static void free_retired(struct smc_pools *pools)
{
	struct smc_buf *buf;

	while ((buf = unlist_retired(pools)))
		buf_free(buf);
}

/**
 * smc_pools_shut() - keep no buffers in reserve any more; elements in use stay valid
 * @pools: the pools
 *
 * Afterwards no buffer is registered with a device by smc_buf_ops.reg.  As long as the owner and
 * its reference exist, elements can still be taken; without smc_buf_ops.reg this may succeed, and
 * the buffer is freed with its last element.
 *
 * Context: process, may sleep.
 */
void smc_pools_shut(struct smc_pools *pools)
{
	if (pools->ops->reg)
		unregister_all(pools);
	WRITE_ONCE(pools->closed, true);
	/* Not from the work item: its queue may be full of callers of this function. */
	reap(pools);
	/*
	 * smc_rmbe_put() may have started the timer before @closed was set. It held the lock of a
	 * pool, which reap() has taken since then. Pairs with the barrier in reap_work().
	 */
	smp_mb();
	reap_pending(pools);
	free_retired(pools);
}

/**
 * smc_pools_close() - the owner ends; elements in use stay valid
 * @pools: the pools
 *
 * Does what smc_pools_shut() does, and drops the owner's reference.
 *
 * Context: process, may sleep; the owner takes no element any more.
 */
void smc_pools_close(struct smc_pools *pools)
{
	smc_pools_shut(pools);
	smc_pools_put(pools);
}

/**
 * smc_pools_any() - does a function return true for any registered buffer?
 * @pools: the pools
 * @fn: called with smc_buf_priv() of each buffer; may sleep
 * @arg: argument of @fn
 *
 * Context: process, may sleep.  No buffer is registered or unregistered meanwhile.
 * Return: true if @fn returned true for a buffer.
 */
bool smc_pools_any(struct smc_pools *pools, bool (*fn)(void *priv, void *arg), void *arg)
{
	struct smc_buf *buf;
	bool found = false;

	mutex_lock(&pools->reg_lock);
	/* Buffers are added under the lock, and none is removed before @closed is set. */
	list_for_each_entry(buf, &pools->all, all) {
		found = buf->priv && fn(buf->priv, arg);
		if (found)
			break;
	}
	mutex_unlock(&pools->reg_lock);
	return found;
}

/* Take out the buffer that has been idle for longest, unless one is kept and this is the last. */
static struct smc_buf *pool_retire(struct smc_pool *pool, bool keep_one,
				   bool (*may)(const void *priv))
{
	struct smc_buf *buf, *found = NULL;

	spin_lock_bh(&pool->lock);
	list_for_each_entry_reverse(buf, &pool->idle, list) {
		if (keep_one && !buf->doomed && list_is_first(&buf->list, &pool->idle))
			break;
		if (!may || may(buf->priv)) {
			found = buf;
			break;
		}
	}
	if (found) {
		__take_out(found);
		found->retired = true;
	}
	spin_unlock_bh(&pool->lock);
	return found;
}

/*
 * If no account has a connection: the last one that had.  It keeps one buffer of each size, as the
 * next connection is likely to be for the same cgroup.  The owner ends if none comes.
 */
static const struct smc_account *latest_account(struct smc_pools *pools)
{
	struct smc_account *account, *latest = NULL;
	int i;

	hash_for_each_rcu(pools->accounts, i, account, node) {
		if (smc_account_kept(account, 0))
			return NULL;
		if (!latest || time_after(READ_ONCE(account->idle_since),
					  READ_ONCE(latest->idle_since)))
			latest = account;
	}
	return latest;
}

static struct smc_buf *account_retire(struct smc_account *account, bool keep_one,
				      bool (*may)(const void *priv))
{
	struct smc_buf *buf = NULL;
	int i;

	for (i = 0; i <= SMC_SIZE_CODE_LIMIT && !buf; i++)
		buf = pool_retire(&account->pool[i], keep_one, may);
	return buf;
}

/**
 * smc_pools_retire() - permanently take a registered buffer that has no users
 * @pools: the pools, which are not closed
 * @may: may this buffer be taken? Called with its smc_buf_priv() under a spinlock. NULL: any buffer
 * @keep: how long an account without connections keeps one buffer of each size, in jiffies. An
 *	account with connections always keeps it
 * @again: set to true if there is an account without connections, so that this should be called
 *	again later; otherwise unchanged
 *
 * The caller makes the device and the peer forget the buffer and then calls smc_buf_retired(),
 * unless smc_pools_close() is called before that.
 *
 * Context: process.
 * Return: smc_buf_priv() of the buffer, or NULL.
 */
void *smc_pools_retire(struct smc_pools *pools, bool (*may)(const void *priv),
		       unsigned long keep, bool *again)
{
	const struct smc_account *latest;
	struct smc_account *account;
	struct smc_buf *buf = NULL;
	unsigned long kept;
	int i;

	rcu_read_lock();
	latest = latest_account(pools);
	hash_for_each_rcu(pools->accounts, i, account, node) {
		kept = smc_account_kept(account, keep);
		buf = account_retire(account, kept || account == latest, may);
		if (buf)
			break;
		if (kept < MAX_JIFFY_OFFSET)
			*again = true;
	}
	rcu_read_unlock();
	return buf ? buf->priv : NULL;
}

/**
 * smc_buf_retired() - free a retired buffer, once neither device nor peer knows it any more
 * @buf: a buffer from smc_pools_retire(), whose pools are not closed; smc_buf_ops.unreg is called
 *	for it
 *
 * Context: process, may sleep.
 */
void smc_buf_retired(struct smc_buf *buf)
{
	struct smc_pools *pools = smc_buf_pools(buf);
	void *priv = buf->priv;

	mutex_lock(&pools->reg_lock);
	WRITE_ONCE(buf->priv, NULL);
	buf_unlist(buf);
	mutex_unlock(&pools->reg_lock);
	pools->ops->unreg(pools->owner, priv);
	buf_free(buf);
}

/* Memory of all buffers, including idle ones. */
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

/**
 * smc_mem_alloc() - allocate memory for a buffer
 * @mem: kind of memory
 * @bytes: size
 * @gfp: allocation flags, as passed to smc_buf_ops.alloc, with or without __GFP_ZERO
 *
 * Context: process, may sleep.
 * Return: the memory, for smc_mem_free(), or NULL.
 */
void *smc_mem_alloc(enum smc_mem mem, size_t bytes, gfp_t gfp)
{
	void *p = NULL;

	if (mem != SMC_MEM_VIRTUAL)
		p = smc_alloc_piece(bytes, gfp);
	if (!p && mem != SMC_MEM_CONTIGUOUS)
		p = __vmalloc(bytes, gfp);
	return p;
}

/* Undo smc_mem_alloc(); usable as smc_buf_ops.free. */
void smc_mem_free(void *mem, size_t bytes, void *priv)
{
	kvfree(mem);
}

static unsigned int own_rmbes(void *owner, u32 size, unsigned int failed)
{
	return failed ? 0 : smc_mem_rmbes(size);
}

/* Not zeroed: only this kernel writes, and a reader never sees more than was written for it. */
static void *own_alloc(void *owner, size_t bytes, gfp_t gfp, void **priv)
{
	return smc_mem_alloc(SMC_MEM_MIXED, bytes, gfp);
}

/* For buffers that only this kernel reads or writes; they need no owner. */
const struct smc_buf_ops smc_own_buf_ops = {
	.max_code	= SMC_SIZE_CODE_LIMIT,
	.rmbes		= own_rmbes,
	.alloc		= own_alloc,
	.free		= smc_mem_free,
};

/* Allocate a buffer and its memory; the caller has reserved the memory. */
static struct smc_buf *buf_alloc(const struct smc_account *account, unsigned int n, u32 size)
{
	const struct smc_pools *pools = account->pools;
	gfp_t gfp = SMC_GFP_CHARGED;
	struct smc_buf *buf;

	/* Without an active cgroup, that of the current task would be charged. */
	if (!account->memcg)
		gfp &= ~__GFP_ACCOUNT;
	/*
	 * In a full cgroup, the program's next page fault or TCP's next allocation would invoke the
	 * OOM killer. So leave some room for them.
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

/**
 * smc_rmbe_refusal() - why has smc_rmbe_get() failed?
 *
 * Context: process; the same cgroup is active.
 * Return: SMC_REASON_NO_MEMORY if the cgroup has no room for a usual buffer of small elements.
 * Otherwise SMC_REASON_NO_BUFFER: a limit of SMC or of the device, or the host's memory.
 */
enum smc_reason smc_rmbe_refusal(void)
{
	return smc_charge_fits(BUF_BYTES + CGROUP_ROOM) ? SMC_REASON_NO_BUFFER :
							  SMC_REASON_NO_MEMORY;
}

/* Create a buffer with @n elements, or return NULL. */
static struct smc_buf *buf_new_of(struct smc_pool *pool, unsigned int n)
{
	u32 size = smc_clc_size_to_bytes(pool->size_code);
	struct smc_pools *pools = pool->account->pools;
	u64 bytes = (u64)n * size;
	struct smc_buf *buf;
	unsigned int i;

	if (pools->ops->max_bufs && READ_ONCE(pools->n_bufs) >= pools->ops->max_bufs) {
		/* Many may be idle, in as many accounts. */
		smc_mem_relieve(pools->limit);
		return NULL;
	}
	if (!smc_mem_reserve(pools->limit, bytes))
		return NULL;
	buf = buf_alloc(pool->account, n, size);
	if (!buf) {
		smc_mem_unreserve(pools->limit, bytes);
		smc_mem_relieve(pools->limit);
		return NULL;
	}
	INIT_LIST_HEAD(&buf->all);
	buf->pool = pool;
	buf->n_rmbes = n;
	buf->n_free = n;
	for (i = 0; i < n; i++)
		buf->rmbes[i].buf = buf;
	refcount_inc(&pools->ref);
	smc_account_hold(pool->account);
	atomic64_add(bytes, &pools->bytes);
	trace_smc_buf_new(pools, bytes, n, smc_mem_limit_used(pools->limit),
			  pools->limit->max);
	return pools->ops->reg ? register_buf(pools, buf) : buf;
}

/**
 * smc_mem_rmbes() - the usual number of elements in a buffer
 * @size: size of an element in bytes
 *
 * Return: the number, at least 1.
 */
unsigned int smc_mem_rmbes(u32 size)
{
	return clamp(BUF_BYTES / size, 1u, BUF_MAX_RMBES);
}

/**
 * smc_buf_new() - create a buffer for a pool that has no free element
 * @pool: the pool, of the account of the active cgroup
 *
 * Context: process, may sleep.
 * Return: the buffer, not yet in the pool's lists, or NULL.
 */
struct smc_buf *smc_buf_new(struct smc_pool *pool)
{
	u32 size = smc_clc_size_to_bytes(pool->size_code);
	struct smc_pools *pools = pool->account->pools;
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
 * smc_buf_last() - set whether other buffers are preferred to this one
 * @buf: the buffer
 * @last: take elements that are freed from now on only after those of other buffers
 */
void smc_buf_last(struct smc_buf *buf, bool last)
{
	WRITE_ONCE(buf->last, last);
}

/**
 * smc_buf_doom() - do not reuse the elements of a buffer
 * @buf: a buffer; the caller uses one of its elements
 *
 * When its last element is released, the buffer is freed, or smc_pools_retire() takes it.
 *
 * Context: any.
 */
void smc_buf_doom(struct smc_buf *buf)
{
	struct smc_pool *pool = buf->pool;
	unsigned int i;

	spin_lock_bh(&pool->lock);
	buf->doomed = true;
	/* An element in use is in no list. */
	for (i = 0; i < buf->n_rmbes; i++)
		list_del_init(&buf->rmbes[i].list);
	spin_unlock_bh(&pool->lock);
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
 * The value that smc_buf_ops.reg returned, or NULL after the owner of the pools is gone; without
 * smc_buf_ops.reg, the value that smc_buf_ops.alloc stored.
 */
void *smc_buf_priv(const struct smc_buf *buf)
{
	return READ_ONCE(buf->priv);
}
