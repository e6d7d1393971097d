// SPDX-License-Identifier: GPL-2.0
/* GIDs of a port, and their ranking for a link. */
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "gid.h"

static bool v1_over_rocev2;
module_param(v1_over_rocev2, bool, 0600);
MODULE_PARM_DESC(v1_over_rocev2, "Debugging only: SMC-Rv1 may use link-local RoCEv2 GIDs (default off)");

/* A path stores the index in one byte; no port in practice has more GIDs than that. */
int smc_rdma_gid_count(const struct smc_rdma_dev *dev, u32 port)
{
	return min(dev->ibdev->port_data[port].immutable.gid_tbl_len, 256);
}

/**
 * smc_rdma_gid_get() - read an entry of a GID table
 * @gid: receives the entry; release it with smc_rdma_gid_put()
 * @dev: the device
 * @port: its port
 * @index: less than smc_rdma_gid_count()
 *
 * Context: RCU read-side section.
 * Return: true on success, false if the entry is empty or has no netdev.
 */
bool smc_rdma_gid_get(struct smc_rdma_gid *gid, struct smc_rdma_dev *dev, u32 port, int index)
{
	gid->dev = dev;
	gid->port = port;
	gid->attr = rdma_get_gid_attr(dev->ibdev, port, index);
	if (IS_ERR(gid->attr))
		return false;
	gid->ndev = rdma_read_gid_attr_ndev_rcu(gid->attr);
	if (!IS_ERR(gid->ndev) && !rdma_read_gid_l2_fields(gid->attr, &gid->vlan, gid->mac))
		return true;
	rdma_put_gid_attr(gid->attr);
	return false;
}

void smc_rdma_gid_put(const struct smc_rdma_gid *gid)
{
	rdma_put_gid_attr(gid->attr);
}

/* Are @own, an address of @ndev, and @other in one subnet?  Under RCU. */
static bool same_subnet4(const struct net_device *ndev, __be32 own, __be32 other)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (ifa->ifa_local == own && inet_ifa_match(other, ifa))
			return true;
	return false;
}

static bool same_subnet6(const struct net_device *ndev, const struct in6_addr *own,
			 const struct in6_addr *other)
{
	bool same = false;
#if IS_ENABLED(CONFIG_IPV6)
	struct inet6_dev *idev = __in6_dev_get(ndev);
	struct inet6_ifaddr *ifa;

	if (!idev)
		return false;
	read_lock_bh(&idev->lock);
	list_for_each_entry(ifa, &idev->addr_list, if_list) {
		same = ipv6_addr_equal(&ifa->addr, own) &&
		       ipv6_prefix_equal(own, other, ifa->prefix_len);
		if (same)
			break;
	}
	read_unlock_bh(&idev->lock);
#endif
	return same;
}

static bool same_subnet(const struct net_device *ndev, const struct in6_addr *own,
			const struct in6_addr *other)
{
	if (ipv6_addr_v4mapped(own))
		return same_subnet4(ndev, own->s6_addr32[3], other->s6_addr32[3]);
	return same_subnet6(ndev, own, other);
}

/* Is this a routable RoCEv2 GID of the same IP version as @near? */
static bool is_routable(const struct smc_rdma_gid *gid, const struct in6_addr *near)
{
	const union ib_gid *addr = &gid->attr->gid;

	return gid->attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
	       !smc_rdma_gid_link_local(addr) &&
	       ipv6_addr_v4mapped(smc_rdma_gid_addr(addr)) == ipv6_addr_v4mapped(near);
}

static unsigned int rank_v1(const struct ib_gid_attr *attr)
{
	if (smc_rdma_gid_link_local(&attr->gid) &&
	    (attr->gid_type == IB_GID_TYPE_ROCE || v1_over_rocev2))
		return SMC_RDMA_GID_BEST;
	return attr->gid_type == IB_GID_TYPE_ROCE;
}

/**
 * smc_rdma_gid_rank() - rank a GID by how well it suits a link
 * @gid: the GID
 * @v2: true for version 2
 * @near: for version 2: an address that the GID should equal, or share a subnet with;
 *	IPv4 mapped into IPv6
 *
 * Context: RCU read-side section.
 * Return: 0 if the GID cannot be used, otherwise 1 to SMC_RDMA_GID_BEST.
 */
unsigned int smc_rdma_gid_rank(const struct smc_rdma_gid *gid, bool v2,
			       const struct in6_addr *near)
{
	const struct in6_addr *addr = smc_rdma_gid_addr(&gid->attr->gid);

	if (!v2)
		return rank_v1(gid->attr);
	if (!is_routable(gid, near))
		return 0;
	if (ipv6_addr_equal(addr, near))
		return SMC_RDMA_GID_BEST;
	return same_subnet(gid->ndev, addr, near) ? 2 : 1;
}

/* Spares a futile search of the whole table, which costs more than a handshake. */
bool smc_rdma_port_has_v1(const struct smc_rdma_dev *dev, u32 port)
{
	return v1_over_rocev2 || rdma_protocol_roce_eth_encap(dev->ibdev, port);
}

/**
 * smc_rdma_mtu() - the largest payload of a RoCE packet
 * @dev: the device
 * @mtu: MTU of a netdev or of a route, bytes
 *
 * ib_query_port() would report the MTU of device and netdev, but drivers query the hardware
 * for it, and some write to the kernel log.
 *
 * Return: enum ib_mtu.
 */
u8 smc_rdma_mtu(const struct smc_rdma_dev *dev, unsigned int mtu)
{
	/* The MTU of a loopback route may exceed the int that iboe_get_mtu() takes. */
	return clamp_t(u8, iboe_get_mtu(min(mtu, 65535u)), IB_MTU_256, dev->max_mtu);
}

/* Fill in a path, without a reference to its device. */
void smc_rdma_gid_to_path(const struct smc_rdma_gid *gid, struct smc_rdma_path *path)
{
	path->dev = gid->dev;
	path->dev_id = gid->dev->id;
	path->port = gid->port;
	path->sgid_index = gid->attr->index;
	path->gid_type = gid->attr->gid_type;
	path->gid = gid->attr->gid;
	ether_addr_copy(path->mac, gid->mac);
	path->vlan_id = gid->vlan;
	path->mtu = smc_rdma_mtu(gid->dev, READ_ONCE(gid->ndev->mtu));
}
