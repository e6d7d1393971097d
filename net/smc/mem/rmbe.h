/* SPDX-License-Identifier: GPL-2.0 */
/* Elements: RMBEs and DMBEs, each of which serves one connection, and send rings. */
#ifndef SMC_MEM_RMBE_H
#define SMC_MEM_RMBE_H

#include <linux/smc_reason.h>
#include <linux/types.h>

struct smc_buf;
struct smc_pools;
struct smc_rmbe;

/* Largest element that a socket may request: 16 KiB << 9. */
#define SMC_SIZE_CODE_LIMIT	9

/* How an element was obtained. */
#define SMC_RMBE_FRESH		1	/* from a new buffer */
#define SMC_RMBE_REUSED		2	/* from an existing buffer */
#define SMC_RMBE_SMALLER	4	/* smaller than requested */

struct smc_rmbe *smc_rmbe_get(struct smc_pools *pools, u32 bytes);
struct smc_rmbe *smc_rmbe_fit(struct smc_pools *pools, struct smc_rmbe *rmbe, u32 bytes);
struct smc_rmbe *smc_rmbe_get_free(struct smc_pools *pools, u32 bytes);
enum smc_reason smc_rmbe_refusal(void);
void smc_rmbe_put(struct smc_rmbe *rmbe);
void *smc_rmbe_data(const struct smc_rmbe *rmbe);
u8 smc_rmbe_how(const struct smc_rmbe *rmbe);
u32 smc_rmbe_size(const struct smc_rmbe *rmbe);
unsigned int smc_rmbe_index(const struct smc_rmbe *rmbe);
struct smc_pools *smc_rmbe_pools(const struct smc_rmbe *rmbe);
struct smc_buf *smc_rmbe_buf(const struct smc_rmbe *rmbe);

#endif
