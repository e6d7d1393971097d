// SPDX-License-Identifier: GPL-2.0
/*
 * Elements of buffers, one for each connection. A free element is found at the head of a list, so
 * the cost does not grow with the number of connections, and the lock is held only for the list
 * operation.
 */
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include "../trace.h"
#include "../wire/clc.h"
#include "internal.h"
#include "limit.h"

static struct smc_rmbe *__pool_take(struct smc_pool *pool)
{
	struct smc_rmbe *rmbe;

	lockdep_assert_held(&pool->lock);
	rmbe = list_first_entry_or_null(&pool->free, struct smc_rmbe, list);
	if (!rmbe)
		return NULL;
	list_del_init(&rmbe->list);
	if (rmbe->buf->n_free-- == rmbe->buf->n_rmbes) {
		list_del(&rmbe->buf->list);
		atomic_inc(&pool->account->n_busy);
	}
	return rmbe;
}

static struct smc_rmbe *get_free(struct smc_pools *pools, int code)
{
	struct smc_rmbe *rmbe = NULL;
	struct smc_account *account;
	struct smc_pool *pool;

	rcu_read_lock();
	account = smc_account_find(pools);
	if (account) {
		pool = &account->pool[code];
		spin_lock_bh(&pool->lock);
		rmbe = __pool_take(pool);
		spin_unlock_bh(&pool->lock);
	}
	rcu_read_unlock();
	if (rmbe)
		rmbe->how = SMC_RMBE_REUSED;
	return rmbe;
}

static struct smc_rmbe *pool_get_new(struct smc_pool *pool)
{
	struct smc_buf *buf = smc_buf_new(pool);
	struct smc_rmbe *rmbe;
	unsigned int i;

	if (!buf)
		return NULL;
	spin_lock_bh(&pool->lock);
	for (i = 0; i < buf->n_rmbes; i++)
		list_add_tail(&buf->rmbes[i].list, &pool->free);
	list_add(&buf->list, &pool->idle);
	rmbe = __pool_take(pool);
	spin_unlock_bh(&pool->lock);
	if (rmbe)
		rmbe->how = SMC_RMBE_FRESH;
	return rmbe;
}

static struct smc_rmbe *get_new(struct smc_pools *pools, int code)
{
	struct smc_account *account = smc_account_get(pools);
	struct smc_rmbe *rmbe;

	if (!account)
		return NULL;
	rmbe = pool_get_new(&account->pool[code]);
	smc_account_put(account);
	return rmbe;
}

/**
 * smc_rmbe_put() - release an element that neither side uses any more
 * @rmbe: the element
 *
 * A receive element is released with the last reference to its connection, see smc_conn_destroy().
 * The peer's part of these references is dropped by part_from_peer() over loopback, otherwise by
 * smc_msg_leave_if_ended().
 *
 * All idle buffers but one are freed after some seconds, and that one after some seconds in which
 * its account has no connection. For buffers registered with a device, the owner decides.
 *
 * Context: any.
 */
void smc_rmbe_put(struct smc_rmbe *rmbe)
{
	struct smc_buf *buf = rmbe->buf;
	struct smc_pool *pool = buf->pool;
	struct smc_account *account = pool->account;
	struct smc_pools *pools = account->pools;
	bool unused;

	spin_lock_bh(&pool->lock);
	if (likely(!buf->doomed && !READ_ONCE(buf->last)))
		list_add(&rmbe->list, &pool->free);
	else if (!buf->doomed)
		list_add_tail(&rmbe->list, &pool->free);
	if (++buf->n_free == buf->n_rmbes) {
		list_add(&buf->list, &pool->idle);
		WRITE_ONCE(account->idle_since, jiffies);
		unused = atomic_dec_and_test(&account->n_busy);
		if (unlikely(READ_ONCE(pools->closed) || (buf->doomed && !pools->ops->reg)))
			smc_pools_reap(pools, false);
		else if (!pools->ops->reg && (unused || !list_is_singular(&pool->idle)))
			smc_pools_reap(pools, true);
	}
	spin_unlock_bh(&pool->lock);
}

/**
 * smc_rmbe_get() - take an element for a new connection
 * @pools: pools to take the element from, out of a buffer that the active cgroup pays for
 * @bytes: requested size; the element may be smaller if memory is short, or larger because sizes
 *	are powers of two
 *
 * Context: process, may sleep.
 * Return: the element, or NULL if there is no memory or a limit is reached.
 */
struct smc_rmbe *smc_rmbe_get(struct smc_pools *pools, u32 bytes)
{
	int wanted = smc_clc_size_from_bytes(bytes);
	struct smc_rmbe *rmbe = NULL;
	int code;

	for (code = min_t(int, wanted, pools->ops->max_code); code >= 0 && !rmbe; code--) {
		rmbe = get_free(pools, code);
		if (!rmbe && code <= smc_mem_largest_code(pools->limit))
			rmbe = get_new(pools, code);
	}
	if (!rmbe)
		trace_smc_buf_failed(pools, bytes, 1, smc_mem_limit_used(pools->limit),
				     pools->limit->max);
	else if (rmbe->buf->pool->size_code < wanted)
		rmbe->how |= SMC_RMBE_SMALLER;
	return rmbe;
}

/**
 * smc_rmbe_fit() - give back an element that is too large, and take one of the requested size
 * @pools: pools of the element
 * @rmbe: the element, not in use yet; NULL: take one, as smc_rmbe_get()
 * @bytes: requested size, as for smc_rmbe_get()
 *
 * If memory is too short for that, the caller keeps its element.
 *
 * Context: process, may sleep.
 * Return: the element that the caller has now, or NULL if it has none.
 */
struct smc_rmbe *smc_rmbe_fit(struct smc_pools *pools, struct smc_rmbe *rmbe, u32 bytes)
{
	int wanted = smc_clc_size_from_bytes(bytes);
	struct smc_rmbe *other;

	if (rmbe && rmbe->buf->pool->size_code <= wanted)
		return rmbe;
	other = smc_rmbe_get(pools, bytes);
	if (!rmbe || !other)
		return rmbe ?: other;
	if (other->buf->pool->size_code < wanted)
		swap(rmbe, other);
	smc_rmbe_put(rmbe);
	return other;
}

/**
 * smc_rmbe_get_free() - take a free element of an existing buffer
 * @pools: pools to take the element from, out of a buffer that the active cgroup pays for
 * @bytes: minimum size
 *
 * Context: any.
 * Return: the element, or NULL, in which case smc_rmbe_get() may succeed.
 */
struct smc_rmbe *smc_rmbe_get_free(struct smc_pools *pools, u32 bytes)
{
	int code = smc_clc_size_from_bytes(bytes);

	return code <= pools->ops->max_code ? get_free(pools, code) : NULL;
}

/* SMC_RMBE_*: how the element was obtained. */
u8 smc_rmbe_how(const struct smc_rmbe *rmbe)
{
	return rmbe->how;
}

void *smc_rmbe_data(const struct smc_rmbe *rmbe)
{
	const struct smc_buf *buf = rmbe->buf;
	size_t idx = rmbe - buf->rmbes;

	return buf->mem + idx * smc_clc_size_to_bytes(buf->pool->size_code);
}

u32 smc_rmbe_size(const struct smc_rmbe *rmbe)
{
	return smc_clc_size_to_bytes(rmbe->buf->pool->size_code);
}

struct smc_pools *smc_rmbe_pools(const struct smc_rmbe *rmbe)
{
	return smc_buf_pools(rmbe->buf);
}

struct smc_buf *smc_rmbe_buf(const struct smc_rmbe *rmbe)
{
	return rmbe->buf;
}

/* Index of the element in its buffer, starting at 0. */
unsigned int smc_rmbe_index(const struct smc_rmbe *rmbe)
{
	return rmbe - rmbe->buf->rmbes;
}
