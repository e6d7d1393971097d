// SPDX-License-Identifier: GPL-2.0
/*
 * Pools of elements, one per size and namespace.  A free element is found by
 * taking the head of a list, so the cost does not grow with the number of
 * connections; the lock is held for that and nothing else.
 */
#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include "../smc.h"
#include "../trace.h"
#include "../wire/clc.h"
#include "buf.h"
#include "charge.h"

/* A buffer is this large, but of one element at least, of so many at most. */
#define BUF_BYTES	(512u << 10)
/* What a buffer must leave to the rest of a cgroup */
#define CGROUP_ROOM	(2u << 20)
#define BUF_MAX_ELEMS	32u
/* 64 KiB: the largest element once half of the permitted memory is in use. */
#define SMC_SIZE_CODE_MODEST	2
/* So long it is kept for connections to come. */
#define KEEP_TIME	(5 * HZ)

struct smc_buf;

/**
 * struct smc_elem - an element of a buffer
 * @buf:	the buffer
 * @list:	in the pool's list while free
 * @how:	SMC_ELEM_*, of its user
 */
struct smc_elem {
	struct smc_buf		*buf;
	struct list_head	list;
	u8			how;
};

/**
 * struct smc_buf - an RMB or DMB
 * @pool:	where its elements go when they are free
 * @mem:	its memory
 * @priv:	what the fabric knows of it; set and cleared by its smc_buf_ops
 * @all:	in the list of all buffers of the pools, if those have smc_buf_ops
 * @last:	its elements are taken after all others
 * @n_elems:	number of its elements
 * @n_free:	how many of them are free; under the pool's lock
 * @list:	in the pool's list of idle buffers while wholly free
 * @elems:	its elements
 */
struct smc_buf {
	struct smc_pool		*pool;
	u8			*mem;
	void			*priv;
	struct list_head	all;
	bool			last;
	unsigned int		n_elems;
	unsigned int		n_free;
	struct list_head	list;
	struct smc_elem		elems[];
};

/**
 * struct smc_pool - all buffers whose elements have one size
 * @lock:	protects the lists and counters
 * @free:	free elements, the one used last first: its memory is warm
 * @idle:	buffers without users, to be freed after KEEP_TIME
 * @pools:	all pools of the namespace
 * @size_code:	size of the elements, in compressed notation
 */
struct smc_pool {
	spinlock_t		lock;
	struct list_head	free;
	struct list_head	idle;
	struct smc_pools	*pools;
	u8			size_code;
};

/**
 * struct smc_budget - how much memory the buffers of a namespace may take
 * @ref:	one for the namespace, one for each of its pools
 * @bytes:	memory of all buffers
 * @limit:	no more than this: net.smc.mem_max
 * @guest:	anybody can make a namespace like this one
 */
struct smc_budget {
	refcount_t		ref;
	atomic64_t		bytes;
	u64			limit;
	bool			guest;
};

/* The budget of the host, of which those of its namespaces are parts. */
static atomic64_t host_bytes;

/* net.smc.mem_max_host */
unsigned long smc_host_mem_max __read_mostly;

/**
 * struct smc_pools - the pools of a namespace or a link group
 * @ref:	one for the owner, one for each buffer: a connection whose
 *		peer lives in another namespace may outlive its own
 * @closed:	the owner is gone, keep nothing in reserve
 * @budget:	what their memory is charged to
 * @mem:	what buffers are made of
 * @ops:	makes buffers known to a device, or NULL
 * @owner:	for @ops; not looked at once closed
 * @reg_lock:	one call of @ops at a time; protects @sealed
 * @sealed:	nothing is made known to a device any more.  Not yet @closed: until all
 *		is unregistered no buffer may go
 * @lock:	protects @all and @n_bufs
 * @all:	all buffers, for @ops
 * @n_bufs:	their number
 * @bytes:	memory of all buffers
 * @reap:	frees idle buffers, as that may sleep
 * @pool:	one for each size
 */
struct smc_pools {
	refcount_t		ref;
	bool			closed;
	struct smc_budget	*budget;
	enum smc_mem		mem;
	const struct smc_buf_ops *ops;
	void			*owner;
	struct mutex		reg_lock;
	bool			sealed;
	spinlock_t		lock;
	struct list_head	all;
	unsigned int		n_bufs;
	atomic64_t		bytes;
	struct delayed_work	reap;
	struct smc_pool		pool[SMC_SIZE_CODE_LIMIT + 1];
};

static unsigned int elems_per_buf(u8 size_code)
{
	return clamp(BUF_BYTES / smc_clc_size_to_bytes(size_code), 1u,
		     BUF_MAX_ELEMS);
}

/**
 * smc_budget_new() - the budget of a new namespace
 * @limit: bytes
 * @guest: the namespace is not one of the host's own user namespace
 */
struct smc_budget *smc_budget_new(u64 limit, bool guest)
{
	struct smc_budget *budget = kzalloc(sizeof(*budget), GFP_KERNEL);

	if (!budget)
		return NULL;
	refcount_set(&budget->ref, 1);
	budget->limit = limit;
	budget->guest = guest;
	return budget;
}

void smc_budget_put(struct smc_budget *budget)
{
	if (refcount_dec_and_test(&budget->ref))
		kfree(budget);
}

/**
 * smc_budget_limit() - cap the memory of all buffers
 * @budget: the budget
 * @bytes: the cap; what is beyond it already stays until it is free
 */
void smc_budget_limit(struct smc_budget *budget, u64 bytes)
{
	WRITE_ONCE(budget->limit, bytes);
}

u64 smc_budget_used(const struct smc_budget *budget)
{
	return atomic64_read(&budget->bytes);
}

/* Of all namespaces */
u64 smc_host_mem_used(void)
{
	return atomic64_read(&host_bytes);
}

/* The last quarter is kept for those whom the administrator has made. */
static u64 host_limit(const struct smc_budget *budget)
{
	u64 limit = READ_ONCE(smc_host_mem_max);

	return budget->guest ? limit / 4 * 3 : limit;
}

static void give_back(struct smc_budget *budget, u64 bytes)
{
	atomic64_sub(bytes, &budget->bytes);
	atomic64_sub(bytes, &host_bytes);
}

/* Before it is allocated: many may do so at the same time. */
static bool reserve(struct smc_budget *budget, u64 bytes)
{
	u64 used = atomic64_add_return(bytes, &budget->bytes);
	u64 of_host = atomic64_add_return(bytes, &host_bytes);

	if (used <= READ_ONCE(budget->limit) && of_host <= host_limit(budget))
		return true;
	give_back(budget, bytes);
	return false;
}

static void pools_put(struct smc_pools *pools)
{
	if (!refcount_dec_and_test(&pools->ref))
		return;
	smc_budget_put(pools->budget);
	kfree(pools);
}

static void buf_unlist(struct smc_buf *buf)
{
	struct smc_pools *pools = buf->pool->pools;

	if (list_empty(&buf->all))
		return;
	spin_lock_bh(&pools->lock);
	list_del(&buf->all);
	pools->n_bufs--;
	spin_unlock_bh(&pools->lock);
}

static void buf_free(struct smc_buf *buf)
{
	struct smc_pools *pools = buf->pool->pools;

	if (pools->ops)
		buf_unlist(buf);
	WARN_ON_ONCE(buf->priv);
	trace_smc_buf_free(pools, smc_buf_bytes(buf), buf->n_elems,
			   smc_budget_used(pools->budget), pools->budget->limit);
	give_back(pools->budget, smc_buf_bytes(buf));
	atomic64_sub(smc_buf_bytes(buf), &pools->bytes);
	kvfree(buf->mem);
	kfree(buf);
	pools_put(pools);
}

/* Take buffers without users out of a pool; all but one, or all. */
static void __pool_reap(struct smc_pool *pool, bool all, struct list_head *gone)
{
	struct smc_buf *buf, *next;
	unsigned int i;

	lockdep_assert_held(&pool->lock);
	list_for_each_entry_safe(buf, next, &pool->idle, list) {
		if (!all && list_is_singular(&pool->idle))
			break;
		for (i = 0; i < buf->n_elems; i++)
			list_del(&buf->elems[i].list);
		list_move(&buf->list, gone);
	}
}

static void pools_reap(struct work_struct *work)
{
	struct smc_pools *pools = container_of(work, struct smc_pools, reap.work);
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
	pools_put(pools);
}

static void schedule_reap(struct smc_pools *pools, unsigned long delay)
{
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
 * @budget: what their memory is charged to
 * @mem: what it is made of
 * @ops: how buffers are made known to a device, or NULL
 * @owner: handed to @ops
 *
 * Return: the pools or NULL.
 */
struct smc_pools *smc_pools_new(struct smc_budget *budget, enum smc_mem mem,
				const struct smc_buf_ops *ops, void *owner)
{
	struct smc_pools *pools = kzalloc(sizeof(*pools), GFP_KERNEL);
	int i;

	if (!pools)
		return NULL;
	refcount_set(&pools->ref, 1);
	refcount_inc(&budget->ref);
	pools->budget = budget;
	pools->mem = mem;
	pools->ops = ops;
	pools->owner = owner;
	mutex_init(&pools->reg_lock);
	spin_lock_init(&pools->lock);
	INIT_LIST_HEAD(&pools->all);
	INIT_DELAYED_WORK(&pools->reap, pools_reap);
	for (i = 0; i <= SMC_SIZE_CODE_LIMIT; i++) {
		struct smc_pool *pool = &pools->pool[i];

		spin_lock_init(&pool->lock);
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

/**
 * smc_pools_close() - the owner ends; elements still in use live on
 * @pools: the pools
 *
 * No device knows of them any more afterwards.
 *
 * Context: process, may sleep; nobody takes elements any more.
 */
void smc_pools_close(struct smc_pools *pools)
{
	if (pools->ops)
		unregister_all(pools);
	WRITE_ONCE(pools->closed, true);
	schedule_reap(pools, 0);
	flush_delayed_work(&pools->reap);
	pools_put(pools);
}

/* Memory of all buffers, with those that are in reserve. */
u64 smc_pools_bytes(const struct smc_pools *pools)
{
	return atomic64_read(&pools->bytes);
}

/* Returns the buffer, or NULL after having freed it. */
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

/* One piece, if there is one at hand. */
static void *piece_alloc(size_t bytes, gfp_t gfp)
{
	/* More than the largest it would complain about. */
	if (bytes > KMALLOC_MAX_SIZE)
		return NULL;
	gfp &= ~__GFP_RETRY_MAYFAIL;
	return kmalloc(bytes, gfp | __GFP_NORETRY);
}

static void *mem_alloc(enum smc_mem mem, size_t bytes, gfp_t gfp)
{
	void *p = NULL;

	if (mem != SMC_MEM_VIRTUAL)
		p = piece_alloc(bytes, gfp);
	if (!p && mem != SMC_MEM_CONTIGUOUS)
		p = __vmalloc(bytes, gfp);
	return p;
}

/* The buffer and its memory, which has been reserved. */
static struct smc_buf *buf_alloc(const struct smc_pools *pools, unsigned int n, u32 size)
{
	gfp_t gfp = SMC_GFP_CHARGED | __GFP_NOWARN;
	struct smc_buf *buf;

	/*
	 * At the brim it is the program's next page, or TCP's next byte, that calls the OOM killer
	 * of the cgroup.  So some room is left to them.
	 */
	if (!smc_charge_fits((u64)n * size + CGROUP_ROOM))
		return NULL;
	buf = kzalloc(struct_size(buf, elems, n), gfp);
	if (!buf)
		return NULL;
	/*
	 * Not zeroed where we write ourselves: no reader gets past what was written
	 * for it.  A device's peer may announce what it has not written.
	 */
	if (pools->ops)
		gfp |= __GFP_ZERO;
	buf->mem = mem_alloc(pools->mem, (size_t)n * size, gfp);
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

	if (pools->ops && READ_ONCE(pools->n_bufs) >= pools->ops->max_bufs)
		return NULL;
	if (!reserve(pools->budget, bytes))
		return NULL;
	buf = buf_alloc(pools, n, size);
	if (!buf) {
		give_back(pools->budget, bytes);
		return NULL;
	}
	INIT_LIST_HEAD(&buf->all);
	buf->pool = pool;
	buf->n_elems = n;
	buf->n_free = n;
	for (i = 0; i < n; i++)
		buf->elems[i].buf = buf;
	refcount_inc(&pools->ref);
	atomic64_add(bytes, &pools->bytes);
	trace_smc_buf_new(pools, bytes, n, smc_budget_used(pools->budget),
			  pools->budget->limit);
	return pools->ops ? register_buf(pools, buf) : buf;
}

/* Where memory is in pieces, a buffer of one element may still be had. */
static struct smc_buf *buf_new(struct smc_pool *pool)
{
	unsigned int n = elems_per_buf(pool->size_code);
	struct smc_buf *buf = buf_new_of(pool, n);

	if (!buf && n > 1 && pool->pools->mem == SMC_MEM_CONTIGUOUS)
		buf = buf_new_of(pool, 1);
	return buf;
}

static struct smc_elem *__pool_take(struct smc_pool *pool)
{
	struct smc_elem *elem;

	lockdep_assert_held(&pool->lock);
	elem = list_first_entry_or_null(&pool->free, struct smc_elem, list);
	if (!elem)
		return NULL;
	list_del(&elem->list);
	if (elem->buf->n_free-- == elem->buf->n_elems)
		list_del(&elem->buf->list);
	return elem;
}

static struct smc_elem *pool_get_free(struct smc_pool *pool)
{
	struct smc_elem *elem;

	spin_lock_bh(&pool->lock);
	elem = __pool_take(pool);
	spin_unlock_bh(&pool->lock);
	if (elem)
		elem->how = SMC_ELEM_REUSED;
	return elem;
}

static struct smc_elem *pool_get_new(struct smc_pool *pool)
{
	struct smc_buf *buf = buf_new(pool);
	struct smc_elem *elem;
	unsigned int i;

	if (!buf)
		return NULL;
	spin_lock_bh(&pool->lock);
	for (i = 0; i < buf->n_elems; i++)
		list_add_tail(&buf->elems[i].list, &pool->free);
	list_add(&buf->list, &pool->idle);
	elem = __pool_take(pool);
	spin_unlock_bh(&pool->lock);
	if (elem)
		elem->how = SMC_ELEM_FRESH;
	return elem;
}

/**
 * smc_elem_put() - both sides are done with an element
 * @elem: the element
 *
 * Buffers that are free as a whole are given back after some seconds, all but one.
 *
 * Context: any.
 */
void smc_elem_put(struct smc_elem *elem)
{
	struct smc_buf *buf = elem->buf;
	struct smc_pool *pool = buf->pool;
	struct smc_pools *pools = pool->pools;

	spin_lock_bh(&pool->lock);
	if (unlikely(READ_ONCE(buf->last)))
		list_add_tail(&elem->list, &pool->free);
	else
		list_add(&elem->list, &pool->free);
	if (++buf->n_free == buf->n_elems) {
		list_add(&buf->list, &pool->idle);
		/* What a device knows of is kept as long as its owner. */
		if (unlikely(READ_ONCE(pools->closed)))
			schedule_reap(pools, 0);
		else if (!pools->ops && !list_is_singular(&pool->idle))
			schedule_reap(pools, KEEP_TIME);
	}
	spin_unlock_bh(&pool->lock);
}

static int largest_of(u64 used, u64 limit)
{
	if (used > limit / 4 * 3)
		return 0;
	return used > limit / 2 ? SMC_SIZE_CODE_MODEST : SMC_SIZE_CODE_LIMIT;
}

/*
 * Many connections with small elements are better than few with large ones: the largest
 * for which a buffer is still made.
 */
static int largest_code(const struct smc_pools *pools)
{
	u64 limit = READ_ONCE(pools->budget->limit);
	u64 used = smc_budget_used(pools->budget);

	return min(largest_of(used, limit),
		   largest_of(smc_host_mem_used(), host_limit(pools->budget)));
}

/**
 * smc_elem_get() - an element for a new connection
 * @pools: of the namespace of its socket
 * @bytes: its size; it may be smaller when memory is short, larger when no power
 *	of two fits
 *
 * Context: process, may sleep.
 * Return: the element, or NULL without memory or at the cap.
 */
struct smc_elem *smc_elem_get(struct smc_pools *pools, u32 bytes)
{
	int wanted = smc_clc_size_from_bytes(bytes);
	struct smc_elem *elem = NULL;
	int code;

	for (code = min(wanted, SMC_SIZE_CODE_LIMIT); code >= 0 && !elem; code--) {
		elem = pool_get_free(&pools->pool[code]);
		if (!elem && code <= largest_code(pools))
			elem = pool_get_new(&pools->pool[code]);
	}
	if (!elem)
		trace_smc_buf_failed(pools, bytes, 1, smc_budget_used(pools->budget),
				     pools->budget->limit);
	else if (elem->buf->pool->size_code < wanted)
		elem->how |= SMC_ELEM_SMALLER;
	return elem;
}

/* SMC_ELEM_*: how it was found when smc_elem_get() found it. */
u8 smc_elem_how(const struct smc_elem *elem)
{
	return elem->how;
}

void *smc_elem_data(const struct smc_elem *elem)
{
	const struct smc_buf *buf = elem->buf;
	size_t idx = elem - buf->elems;

	return buf->mem + idx * smc_clc_size_to_bytes(buf->pool->size_code);
}

u32 smc_elem_size(const struct smc_elem *elem)
{
	return smc_clc_size_to_bytes(elem->buf->pool->size_code);
}

struct smc_buf *smc_elem_buf(const struct smc_elem *elem)
{
	return elem->buf;
}

/* Its place in its buffer, from 0. */
unsigned int smc_elem_index(const struct smc_elem *elem)
{
	return elem - elem->buf->elems;
}

/**
 * smc_buf_last() - shall other buffers be preferred?
 * @buf: the buffer
 * @last: elements that come free from now on are taken after those of other buffers
 */
void smc_buf_last(struct smc_buf *buf, bool last)
{
	WRITE_ONCE(buf->last, last);
}

void *smc_buf_mem(const struct smc_buf *buf)
{
	return buf->mem;
}

size_t smc_buf_bytes(const struct smc_buf *buf)
{
	return (size_t)buf->n_elems * smc_clc_size_to_bytes(buf->pool->size_code);
}

/* What smc_buf_ops.reg has returned; NULL once the owner of the pools is gone. */
void *smc_buf_priv(const struct smc_buf *buf)
{
	return READ_ONCE(buf->priv);
}
