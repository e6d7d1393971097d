/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netdevs that a connection's packets pass through.  By these, and by the PNET table, a fabric
 * finds its devices.  Netdevs are looked at under RCU and never leave the section without a
 * reference.
 */
#ifndef SMC_FABRIC_LOWER_DEVS_H
#define SMC_FABRIC_LOWER_DEVS_H

#include "../config/pnet.h"

/* As in the RDMA core's answers: packets without a tag. */
#define SMC_NO_VLAN		0xffff

#define SMC_MAX_LOWER_DEVS	32

/**
 * struct smc_lower_devs - netdevs that a connection's packets pass through
 * @top: the route's own
 * @n: how many
 * @at: @top, then what is below it, by distance; not @top if a packet gets more there
 *	than RoCE could do
 *
 * vlan is the VLAN tag that packets have got on their way there, or SMC_NO_VLAN.  Only valid in the
 * RCU section where it was made.
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
