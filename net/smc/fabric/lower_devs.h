/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netdevs that the packets of a connection pass through.  A fabric finds its devices by these
 * netdevs and by the PNET table.  Netdevs are used under RCU; outside the RCU section they need a
 * reference.
 */
#ifndef SMC_FABRIC_LOWER_DEVS_H
#define SMC_FABRIC_LOWER_DEVS_H

#include "../config/pnet.h"

/* The VLAN of untagged packets, with the same value as in the RDMA core. */
#define SMC_NO_VLAN		0xffff

#define SMC_MAX_LOWER_DEVS	32

/**
 * struct smc_lower_devs - netdevs that the packets of a connection pass through
 * @top: the netdev of the route
 * @n: number of entries in @at
 * @at: @top and the netdevs below it, nearest first.  @top is missing if it is a VLAN device with
 *	another tag than 802.1Q, which RoCE cannot produce
 *
 * @at[].vlan is the VLAN tag that packets carry when they reach that netdev, or SMC_NO_VLAN.
 * Only valid in the RCU section that filled it.
 */
struct smc_lower_devs {
	struct net_device *top;
	unsigned int n;
	struct {
		struct net_device *dev;
		u16 vlan;
	} at[SMC_MAX_LOWER_DEVS];
};

int smc_lower_devs_find(const struct smc_lower_devs *c, const struct net_device *dev);
void smc_lower_devs_follow(struct smc_lower_devs *c, struct net_device *dev);
enum smc_pnet_verdict smc_lower_devs_pnet(const struct smc_lower_devs *c,
					  const struct smc_pnet_port *port, u16 *vlan);

#endif
