/* SPDX-License-Identifier: GPL-2.0 */
/* The RDMA fabric: SMC-R. */
#ifndef SMC_RDMA_H
#define SMC_RDMA_H

#if IS_ENABLED(CONFIG_INFINIBAND)
int smc_rdma_init(void);
void smc_rdma_exit(void);
#else
static inline int smc_rdma_init(void)
{
	return 0;
}

static inline void smc_rdma_exit(void)
{
}
#endif

#endif
