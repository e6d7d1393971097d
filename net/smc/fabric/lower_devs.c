// SPDX-License-Identifier: GPL-2.0
/* Follow the stack of netdevs from the one in the route down to the hardware. */
#include <linux/if_vlan.h>
#include <net/rtnetlink.h>
#include "lower_devs.h"

static bool is_kind(const struct net_device *dev, const char *kind)
{
	return dev->rtnl_link_ops && !strcmp(dev->rtnl_link_ops->kind, kind);
}

/*
 * A hardware netdev with a lower device (netvsc over a VF, for example) sends its packets through
 * that passed-through function.  DSA ports are the exception: they add a switch tag.
 */
static bool is_paravirtual(const struct net_device *dev)
{
	return netif_is_failover(dev) || (dev->dev.parent && !is_kind(dev, "dsa"));
}

/*
 * Does a packet leave by a lower device unchanged except for a VLAN tag?  Not with tunnels and
 * encryption, which have lower devices, too.
 */
static bool is_stacked(const struct net_device *dev)
{
	return is_vlan_dev(dev) || netif_is_bridge_master(dev) ||
	       netif_is_lag_master(dev) || netif_is_macvlan(dev) ||
	       is_kind(dev, "ipvlan") || is_kind(dev, "ipvtap") ||
	       is_paravirtual(dev);
}

/**
 * smc_lower_devs_find() - find a netdev in the list
 * @c: the netdevs
 * @dev: the netdev to look for
 *
 * Context: the RCU section that filled @c.
 * Return: the index of @dev in @c->at, or -1.
 */
int smc_lower_devs_find(const struct smc_lower_devs *c, const struct net_device *dev)
{
	unsigned int i;

	for (i = 0; i < c->n; i++)
		if (c->at[i].dev == dev)
			return i;
	return -1;
}

static void add(struct smc_lower_devs *c, struct net_device *dev, u16 vlan)
{
	if (c->n == SMC_MAX_LOWER_DEVS || smc_lower_devs_find(c, dev) >= 0)
		return;
	if (is_vlan_dev(dev)) {
		/* RDMA and ISM devices support a single VLAN tag, and 802.1Q only. */
		if (vlan != SMC_NO_VLAN ||
		    vlan_dev_vlan_proto(dev) != htons(ETH_P_8021Q))
			return;
		vlan = vlan_dev_vlan_id(dev);
	}
	c->at[c->n].dev = dev;
	c->at[c->n++].vlan = vlan;
}

/*
 * veth and similar pairs lead into another namespace.  Continue only if the other end is a port of
 * a bridge.  Otherwise its packets are routed there, and where they go is unknown.
 */
static void add_peer(struct smc_lower_devs *c, struct net_device *dev, u16 vlan)
{
	struct net_device *peer = dev->netdev_ops->ndo_get_peer_dev(dev);

	if (!peer)
		return;
	peer = netdev_master_upper_dev_get_rcu(peer);
	if (peer && netif_is_bridge_master(peer))
		add(c, peer, vlan);
}

static void add_lower(struct smc_lower_devs *c, struct net_device *dev, u16 vlan)
{
	struct list_head *iter = &dev->adj_list.lower;
	struct net_device *lower;

	while ((lower = netdev_next_lower_dev_rcu(dev, &iter))) {
		/* Skip the ports of local containers and guests: they lead to no hardware. */
		if (netif_is_bridge_master(dev) && !is_stacked(lower))
			continue;
		add(c, lower, vlan);
	}
}

/**
 * smc_lower_devs_follow() - find all netdevs that packets may pass through
 * @c: receives them
 * @dev: the netdev of the route
 *
 * Context: under RCU.
 */
void smc_lower_devs_follow(struct smc_lower_devs *c, struct net_device *dev)
{
	unsigned int i;

	c->top = dev;
	c->n = 0;
	add(c, dev, SMC_NO_VLAN);
	for (i = 0; i < c->n; i++) {
		dev = c->at[i].dev;
		if (dev->netdev_ops && dev->netdev_ops->ndo_get_peer_dev)
			add_peer(c, dev, c->at[i].vlan);
		else if (is_stacked(dev))
			add_lower(c, dev, c->at[i].vlan);
	}
}

/**
 * smc_lower_devs_pnet() - compare the PNETIDs of these netdevs with that of a device's port
 * @c: the netdevs
 * @port: the port
 * @vlan: receives the VLAN tag of packets at the netdev that decides; may be NULL
 *
 * The PNET table can say that the port serves connections of one of these netdevs although no path
 * leads from one to the other, or that it does not serve them although a path exists.  The
 * nearest netdev with an entry decides.
 *
 * Context: the RCU section that filled @c.
 * Return: the verdict; SMC_PNET_UNKNOWN if no netdev has an entry.
 */
enum smc_pnet_verdict smc_lower_devs_pnet(const struct smc_lower_devs *c,
					  const struct smc_pnet_port *port, u16 *vlan)
{
	enum smc_pnet_verdict verdict = SMC_PNET_UNKNOWN;
	unsigned int i;

	for (i = 0; i < c->n && verdict == SMC_PNET_UNKNOWN; i++) {
		verdict = smc_pnet_compare(c->at[i].dev, port);
		if (vlan)
			*vlan = c->at[i].vlan;
	}
	return verdict;
}
