/* SPDX-License-Identifier: GPL-2.0 */
/* Link groups and devices for netlink and sock_diag. */
#ifndef SMC_RDMA_SHOW_H
#define SMC_RDMA_SHOW_H

struct smc_fabric;
struct smc_net;
struct smc_walk;

int smc_rdma_groups(struct smc_fabric *f, struct smc_net *sn, struct smc_walk *w);
int smc_rdma_devices(struct smc_fabric *f, struct smc_net *sn, struct smc_walk *w);

#endif
