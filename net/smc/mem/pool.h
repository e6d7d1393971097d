/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive buffers: an RMB or DMB is one piece of memory, divided into elements of one size, each of
 * which serves one connection (RFC 7609, 2.1 and 4.2).
 */
#ifndef SMC_MEM_POOL_H
#define SMC_MEM_POOL_H

#include <linux/types.h>

struct smc_buf;
struct smc_mem_limit;
struct smc_pools;

/* Kinds of memory for buffers; the numbers are those of net.smc.smcr_buf_type. */
enum smc_mem {
	SMC_MEM_CONTIGUOUS,	/* one physically contiguous piece */
	SMC_MEM_VIRTUAL,	/* single pages */
	SMC_MEM_MIXED,		/* one piece if available, otherwise single pages */
};

/**
 * struct smc_buf_ops - how the owner of pools allocates and registers their buffers
 * @max_bufs:	maximum number of buffers; 0 for as many as the limits permit
 * @max_code:	largest element size, in compressed notation; at most SMC_SIZE_CODE_LIMIT
 * @rmbes:	returns the number of elements of @size bytes in a new buffer. @failed is 0, or the
 *		number for which there was no memory; returning 0 gives up
 * @alloc:	allocates the memory of a buffer. The memory must be zeroed if a peer may announce
 *		data that it has not written. Without @reg, the callback may set the last argument,
 *		which becomes smc_buf_priv()
 * @free:	undoes @alloc; the owner may be gone. The last argument is the value that @alloc has
 *		set
 * @reg:	registers a new buffer with a device; returns the value for smc_buf_priv(), or NULL
 *		if the buffer cannot be used. Registered buffers are kept until their owner takes
 *		them, see smc_pools_retire(). If @reg is NULL, there is no device, and idle buffers
 *		are freed after some seconds, all but one of an account that has connections
 * @unreg:	undoes @reg; the memory stays allocated
 *
 * Context: process, may sleep.
 */
struct smc_buf_ops {
	unsigned int max_bufs;
	u8 max_code;
	unsigned int (*rmbes)(void *owner, u32 size, unsigned int failed);
	void *(*alloc)(void *owner, size_t bytes, gfp_t gfp, void **priv);
	void (*free)(void *mem, size_t bytes, void *priv);
	void *(*reg)(void *owner, struct smc_buf *buf);
	void (*unreg)(void *owner, void *priv);
};

struct smc_pools *smc_pools_new(struct smc_mem_limit *limit, const struct smc_buf_ops *ops,
				void *owner);
void smc_pools_shut(struct smc_pools *pools);
void smc_pools_put(struct smc_pools *pools);
void smc_pools_close(struct smc_pools *pools);
u64 smc_pools_bytes(const struct smc_pools *pools);
bool smc_pools_any(struct smc_pools *pools, bool (*fn)(void *priv, void *arg), void *arg);
void *smc_pools_retire(struct smc_pools *pools, bool (*may)(const void *priv),
		       unsigned long keep, bool *again);
void smc_buf_retired(struct smc_buf *buf);

extern const struct smc_buf_ops smc_own_buf_ops;

/* Implementations for smc_buf_ops. */
unsigned int smc_mem_rmbes(u32 size);
void *smc_mem_alloc(enum smc_mem mem, size_t bytes, gfp_t gfp);
void smc_mem_free(void *mem, size_t bytes, void *priv);

void smc_buf_last(struct smc_buf *buf, bool last);
void smc_buf_doom(struct smc_buf *buf);
void *smc_buf_mem(const struct smc_buf *buf);
size_t smc_buf_bytes(const struct smc_buf *buf);
void *smc_buf_priv(const struct smc_buf *buf);

#endif
