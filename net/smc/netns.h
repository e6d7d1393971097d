/* SPDX-License-Identifier: GPL-2.0 */
/* What each network namespace has of its own. */
#ifndef SMC_NETNS_H
#define SMC_NETNS_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include "wire/clc.h"

struct smc_budget;
struct smc_pools;
struct ctl_table_header;

#define SMC_MAX_EIDS	SMC_CLC_MAX_EIDS

/**
 * struct smc_net - SMC in one network namespace
 * @net:	the namespace
 * @budget:	memory of all buffers, capped by @mem_max
 * @pools:	elements of fabrics inside this kernel
 * @n_smcd:	SMC-D connections: the first is a first contact
 * @wmem:	net.smc.wmem: send buffer in bytes where the socket sets none
 * @rmem:	net.smc.rmem: receive element in bytes where the socket sets none
 * @enable:	net.smc.enable
 * @mem_max:	net.smc.mem_max: cap on the memory of all buffers in bytes
 */
struct smc_net {
	struct net		*net;
	struct smc_budget	*budget;
	struct smc_pools	*pools;
	atomic_t		n_smcd;
	int			wmem;
	int			rmem;
	int			enable;
	unsigned long		mem_max;
	struct ctl_table_header	*sysctl;
	struct ctl_table	*sysctl_table;
};

extern unsigned int smc_net_id;

static inline struct smc_net *smc_net(const struct net *net)
{
	return net_generic(net, smc_net_id);
}

int smc_netns_init(void);
void smc_netns_exit(void);

/* admin/sysctl.c */
int smc_sysctl_init(struct smc_net *sn);
void smc_sysctl_exit(struct smc_net *sn);

#endif
