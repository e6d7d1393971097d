/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive buffers: an RMB or DMB is one piece of memory split into elements of
 * one size, each of which serves one connection (RFC 7609, 2.1 and 4.2).
 */
#ifndef SMC_BUF_H
#define SMC_BUF_H

#include <linux/types.h>

struct smc_budget;
struct smc_buf;
struct smc_elem;
struct smc_pools;

/* Largest element a socket may ask for: 16 KiB << 9. */
#define SMC_SIZE_CODE_LIMIT	9

/* What buffers are made of; the numbers of net.smc.smcr_buf_type. */
enum smc_mem {
	SMC_MEM_CONTIGUOUS,	/* one piece of physical memory */
	SMC_MEM_VIRTUAL,	/* single pages */
	SMC_MEM_MIXED,		/* one piece if it can be had */
};

/* How an element was found. */
#define SMC_ELEM_FRESH		1	/* a buffer was made for it */
#define SMC_ELEM_REUSED		2	/* there was one */
#define SMC_ELEM_SMALLER	4	/* than what was wanted */

/**
 * struct smc_buf_ops - how a buffer is made known to a device
 * @max_bufs:	no more buffers than this
 * @reg:	a new buffer: returns what smc_buf_priv() shall be, or NULL if it
 *		cannot be used.  Process context.
 * @unreg:	undo that; the memory lives on.  Process context.
 */
struct smc_buf_ops {
	unsigned int max_bufs;
	void *(*reg)(void *owner, struct smc_buf *buf);
	void (*unreg)(void *owner, void *priv);
};

struct smc_budget *smc_budget_new(u64 limit, bool guest);
void smc_budget_put(struct smc_budget *budget);
void smc_budget_limit(struct smc_budget *budget, u64 bytes);
u64 smc_budget_used(const struct smc_budget *budget);
u64 smc_host_mem_used(void);
extern unsigned long smc_host_mem_max;

struct smc_pools *smc_pools_new(struct smc_budget *budget, enum smc_mem mem,
				const struct smc_buf_ops *ops, void *owner);
void smc_pools_close(struct smc_pools *pools);
u64 smc_pools_bytes(const struct smc_pools *pools);

struct smc_elem *smc_elem_get(struct smc_pools *pools, u32 bytes);
void smc_elem_put(struct smc_elem *elem);
void *smc_elem_data(const struct smc_elem *elem);
u8 smc_elem_how(const struct smc_elem *elem);
u32 smc_elem_size(const struct smc_elem *elem);
unsigned int smc_elem_index(const struct smc_elem *elem);
struct smc_buf *smc_elem_buf(const struct smc_elem *elem);

void smc_buf_last(struct smc_buf *buf, bool last);
void *smc_buf_mem(const struct smc_buf *buf);
size_t smc_buf_bytes(const struct smc_buf *buf);
void *smc_buf_priv(const struct smc_buf *buf);

#endif
