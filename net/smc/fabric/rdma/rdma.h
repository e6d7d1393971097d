/* SPDX-License-Identifier: GPL-2.0 */
/* The RDMA fabric: SMC-R. */
#ifndef SMC_RDMA_H
#define SMC_RDMA_H

#include <linux/etherdevice.h>

#if IS_ENABLED(CONFIG_INFINIBAND)
int smc_rdma_init(void);
void smc_rdma_exit(void);
void smc_rdma_peer_mac(u8 *mac);
#else
static inline int smc_rdma_init(void)
{
	return 0;
}

static inline void smc_rdma_exit(void)
{
}

static inline void smc_rdma_peer_mac(u8 *mac)
{
	eth_random_addr(mac);
}
#endif

#endif
