/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive buffers: an RMB or DMB is one piece of memory split into elements of
 * one size, each of which serves one connection (RFC 7609, 2.1 and 4.2).
 */
#ifndef SMC_BUF_H
#define SMC_BUF_H

#include <linux/types.h>

struct smc_elem;
struct smc_pools;

/* Largest element a socket may ask for: 16 KiB << 9. */
#define SMC_SIZE_CODE_LIMIT	9

struct smc_pools *smc_pools_new(void);
void smc_pools_close(struct smc_pools *pools);
u64 smc_pools_bytes(const struct smc_pools *pools);
void smc_pools_set_limit(struct smc_pools *pools, u64 bytes);

struct smc_elem *smc_elem_get(struct smc_pools *pools, u32 bytes);
void smc_elem_put(struct smc_elem *elem);
void *smc_elem_data(const struct smc_elem *elem);
u32 smc_elem_size(const struct smc_elem *elem);

#endif
