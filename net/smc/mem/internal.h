/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by pool.c and rmbe.c. */
#ifndef SMC_MEM_INTERNAL_H
#define SMC_MEM_INTERNAL_H

#include <linux/atomic.h>
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
 * @list:	in the pool's list while free
 * @how:	SMC_RMBE_*, of its user
 */
struct smc_rmbe {
	struct smc_buf		*buf;
	struct list_head	list;
	u8			how;
};

/**
 * struct smc_buf - an RMB or DMB
 * @pool:	where its elements go when they are free
 * @mem:	its memory
 * @priv:	the fabric's data; set and cleared by its smc_buf_ops
 * @all:	in the list of all registered buffers of the pools
 * @last:	its elements are taken after all others
 * @doomed:	its element is not taken again, see smc_buf_doom()
 * @retired:	it is in no list of its pool any more, see smc_pools_retire(); under the pool's lock
 * @n_rmbes:	number of its elements
 * @n_free:	how many of them are free; under the pool's lock
 * @list:	in the pool's list of idle buffers while wholly free
 * @rmbes:	its elements
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
 * struct smc_pool - all buffers whose elements have one size
 * @lock:	protects the lists and counters
 * @free:	free elements, the one used last first: its memory is warm
 * @idle:	buffers without users, to be freed after some seconds
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
 * struct smc_pools - the pools of a namespace or a link group
 * @ref:	one for the owner, one for each buffer: a connection whose
 *		peer lives in another namespace may outlive its own
 * @closed:	the owner has gone; nothing is kept in reserve
 * @limit:	the limit that their memory is charged to
 * @ops:	of the owner
 * @owner:	for @ops; not used once closed
 * @reg_lock:	one call of @ops at a time; protects @sealed
 * @sealed:	nothing is registered with a device any more.  This comes before @closed: no
 *		buffer may be freed until all are unregistered
 * @lock:	protects @all and @n_bufs
 * @all:	all buffers that are registered
 * @n_bufs:	their number
 * @bytes:	memory of all buffers
 * @reap:	frees idle buffers, as that may sleep
 * @pool:	one for each size
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
	struct list_head	all;
	unsigned int		n_bufs;
	atomic64_t		bytes;
	struct delayed_work	reap;
	struct smc_pool		pool[SMC_SIZE_CODE_LIMIT + 1];
};

struct smc_buf *smc_buf_new(struct smc_pool *pool);
void smc_pools_reap(struct smc_pools *pools, bool later);

#endif
