// SPDX-License-Identifier: GPL-2.0
/*
 * Find our end of a further link to a peer.  No TCP connection's route leads to it, so
 * all ports of this host are candidates.  Documentation/rdma.md has the rules.
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/rculist.h>
#include <net/addrconf.h>
#include "../../../netns.h"
#include "gid.h"

/* ---- the network ------------------------------------------------------------- */

/*
 * Read the PNETID from the nearest entry of the table: the entry of the port, of the GID's
 * netdev, or of the netdev below a VLAN; under RCU.
 */
static void read_pnetid(const struct smc_rdma_dev *dev, u32 port, const struct net_device *ndev,
			char *id)
{
	const struct smc_pnet_port named = smc_rdma_pnet_port(dev, port);
	const struct net *net = dev_net(ndev);

	if (smc_pnet_of_port(smc_net(net), &named, id) ||
	    smc_pnet_of_netdev(ndev, id) || !is_vlan_dev(ndev))
		return;
	ndev = vlan_dev_real_dev(ndev);
	/* Entries of different namespaces' tables must not be combined. */
	if (net_eq(dev_net(ndev), net))
		smc_pnet_of_netdev(ndev, id);
}

static void add_subnet(struct smc_rdma_network *network, const struct in6_addr *addr,
		       unsigned int len)
{
	struct smc_rdma_subnet *subnet = &network->subnets[network->n_subnets];

	/* A /128 is a single address, not a subnet that two netdevs share. */
	if (network->n_subnets == SMC_RDMA_SUBNETS || len >= 128)
		return;
	ipv6_addr_prefix(&subnet->prefix, addr, len);
	subnet->len = len;
	network->n_subnets++;
}

/* Skip link-local subnets: they exist on every network and identify none. */
static void read_subnets4(struct smc_rdma_network *network, const struct net_device *ndev)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;
	struct in6_addr addr;

	if (!in_dev)
		return;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (ipv4_is_linklocal_169(ifa->ifa_address))
			continue;
		ipv6_addr_set_v4mapped(ifa->ifa_address, &addr);
		add_subnet(network, &addr, 96 + ifa->ifa_prefixlen);
	}
}

static void read_subnets6(struct smc_rdma_network *network, const struct net_device *ndev)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct inet6_dev *idev = __in6_dev_get(ndev);
	const struct inet6_ifaddr *ifa;

	if (!idev)
		return;
	read_lock_bh(&idev->lock);
	list_for_each_entry(ifa, &idev->addr_list, if_list)
		if (!(ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL))
			add_subnet(network, &ifa->addr, ifa->prefix_len);
	read_unlock_bh(&idev->lock);
#endif
}

/* Under RCU. */
static void read_network(struct smc_rdma_network *network, const struct smc_rdma_dev *dev, u32 port,
			 const struct net_device *ndev, u16 vlan, bool v2)
{
	memset(network, 0, sizeof(*network));
	network->net_cookie = dev_net(ndev)->net_cookie;
	network->v2 = v2;
	network->vlan_id = v2 ? SMC_NO_VLAN : vlan;
	read_pnetid(dev, port, ndev, network->pnetid);
	if (v2 || *network->pnetid)
		return;
	read_subnets4(network, ndev);
	read_subnets6(network, ndev);
}

/**
 * smc_rdma_path_network() - record the network of a path
 * @path: the first path of a link group, with its device
 * @network: receives the properties that further paths of the group must share
 *
 * Later changes of the PNET table or of addresses do not affect the recorded network: like a
 * connection, a link group stays where it is.
 *
 * Context: process.
 * Return: 0 on success, -ENODEV if the GID of @path is gone.
 */
int smc_rdma_path_network(const struct smc_rdma_path *path, struct smc_rdma_network *network)
{
	netdevice_tracker tracker;
	struct net_device *ndev = smc_rdma_path_netdev(path, &tracker);

	if (!ndev)
		return -ENODEV;
	rcu_read_lock();
	read_network(network, path->dev, path->port, ndev, path->vlan_id,
		     !smc_rdma_path_v1(path));
	rcu_read_unlock();
	netdev_put(ndev, &tracker);
	return 0;
}

static bool common_subnet(const struct smc_rdma_network *a, const struct smc_rdma_network *b)
{
	unsigned int i, j;

	for (i = 0; i < a->n_subnets; i++)
		for (j = 0; j < b->n_subnets; j++)
			if (a->subnets[i].len == b->subnets[j].len &&
			    ipv6_addr_equal(&a->subnets[i].prefix, &b->subnets[j].prefix))
				return true;
	return false;
}

/*
 * Version 2 looks up the route to the peer.  Version 1 is not routed, and must know that both
 * netdevs are in one LAN.
 */
static bool same_network(const struct smc_rdma_network *a, const struct smc_rdma_network *b)
{
	if (a->net_cookie != b->net_cookie || a->vlan_id != b->vlan_id ||
	    strcmp(a->pnetid, b->pnetid))
		return false;
	return a->v2 || *a->pnetid || common_subnet(a, b);
}

/* ---- the ports of this host -------------------------------------------------- */

/**
 * struct second_query - requirements on the path
 * @network:	network that the path must belong to
 * @first:	path of another link; its device may be gone
 * @net:	namespace that must have access to the device
 * @peer_gid:	GID of the peer, or NULL if it is not known
 */
struct second_query {
	const struct smc_rdma_network	*network;
	const struct smc_rdma_path	*first;
	struct net			*net;
	const union ib_gid		*peer_gid;
};

static bool is_allowed(const struct second_query *q, const struct smc_rdma_gid *gid)
{
	struct smc_rdma_network network;

	if (!(READ_ONCE(gid->ndev->flags) & IFF_UP) ||
	    !memcmp(&gid->attr->gid, &q->first->gid, sizeof(q->first->gid)))
		return false;
	read_network(&network, gid->dev, gid->port, gid->ndev, gid->vlan, q->network->v2);
	return same_network(q->network, &network);
}

/* Store this GID in @path if it outranks @rank.  Returns the rank of the GID in @path. */
static unsigned int consider_gid(const struct second_query *q, const struct smc_rdma_gid *gid,
				 unsigned int rank, struct smc_rdma_path *path)
{
	const union ib_gid *near = q->peer_gid ?: &q->first->gid;
	bool v2 = q->network->v2;
	unsigned int mine, mtu = 0;

	mine = smc_rdma_gid_rank(gid, v2, smc_rdma_gid_addr(near));
	if (mine <= rank || !is_allowed(q, gid))
		return rank;
	if (v2 && q->peer_gid) {
		mtu = smc_rdma_hop_mtu(gid->ndev, &gid->attr->gid, q->peer_gid);
		if (!mtu)
			return rank;
	}
	smc_rdma_gid_to_path(gid, path);
	if (mtu)
		path->mtu = min(path->mtu, smc_rdma_mtu(gid->dev, mtu));
	return mine;
}

/* Find the best GID of a port, without a device reference; under RCU.  Returns its rank or 0. */
static unsigned int path_at(const struct second_query *q, struct smc_rdma_dev *dev, u32 port,
			    struct smc_rdma_path *path)
{
	struct smc_rdma_gid gid;
	unsigned int rank = 0;
	int i;

	if (dev->id == q->first->dev_id && port == q->first->port)
		return 0;
	if (!rdma_dev_access_netns(dev->ibdev, q->net) || !smc_rdma_port_usable(dev, port) ||
	    (!q->network->v2 && !smc_rdma_port_has_v1(dev, port)))
		return 0;
	for (i = 0; i < smc_rdma_gid_count(dev, port) && rank < SMC_RDMA_GID_BEST; i++) {
		if (!smc_rdma_gid_get(&gid, dev, port, i))
			continue;
		rank = consider_gid(q, &gid, rank, path);
		smc_rdma_gid_put(&gid);
	}
	return rank;
}

/* Prefer another device: another port of the same one is likely to fail with the first path. */
static unsigned int port_rank(const struct second_query *q, const struct smc_rdma_dev *dev,
			      unsigned int gid_rank)
{
	if (gid_rank && dev->id != q->first->dev_id)
		return gid_rank + SMC_RDMA_GID_BEST;
	return gid_rank;
}

/**
 * smc_rdma_path_second() - find our end of a further link to a peer
 * @network: network of the link group
 * @first: path of another link of the group; its device may be gone
 * @net: namespace of the link group
 * @peer_gid: GID that the link is to lead to, from smc_rdma_gid_from_wire(), or NULL if it
 *	is not known yet; ignored for version 1
 * @taken: returns true if another link of the group uses the port; may be NULL
 * @arg: argument for @taken
 * @path: receives our end; release it with smc_rdma_path_put()
 *
 * Prefers another device to another port of the same device.  Never chooses the port of
 * @first, as the caller decides whether to make an asymmetric link.  See
 * Documentation/rdma.md.
 *
 * Context: process; @taken is called under RCU.
 * Return: 0 on success, -ENOENT if there is no such path.
 */
int smc_rdma_path_second(const struct smc_rdma_network *network,
			 const struct smc_rdma_path *first, struct net *net,
			 const union ib_gid *peer_gid,
			 bool (*taken)(const struct smc_rdma_dev *dev, u8 port, void *arg),
			 void *arg, struct smc_rdma_path *path)
{
	const struct second_query q = { network, first, net, peer_gid };
	struct smc_rdma_path found = { };
	unsigned int rank, best = 0;
	struct smc_rdma_dev *dev;
	u32 port;

	memset(path, 0, sizeof(*path));
	rcu_read_lock();
	list_for_each_entry_rcu(dev, &smc_rdma_devs, list) {
		rdma_for_each_port(dev->ibdev, port) {
			if (taken && taken(dev, port, arg))
				continue;
			rank = port_rank(&q, dev, path_at(&q, dev, port, &found));
			if (rank <= best)
				continue;
			best = rank;
			*path = found;
		}
	}
	/* A device whose removal has begun cannot be used. */
	if (path->dev && !smc_rdma_dev_tryget(path->dev))
		path->dev = NULL;
	rcu_read_unlock();
	return path->dev ? 0 : -ENOENT;
}

/* Add one GID for each port of the device of @q->first (@own), or of all others; under RCU. */
static unsigned int add_gids(const struct second_query *q, bool own, u8 (*gids)[16],
			     unsigned int n, unsigned int max)
{
	struct smc_rdma_path found;
	struct smc_rdma_dev *dev;
	u32 port;

	list_for_each_entry_rcu(dev, &smc_rdma_devs, list) {
		if ((dev->id == q->first->dev_id) != own)
			continue;
		rdma_for_each_port(dev->ibdev, port) {
			if (n == max)
				return n;
			if (path_at(q, dev, port, &found))
				memcpy(gids[n++], &found.gid, sizeof(found.gid));
		}
	}
	return n;
}

/**
 * smc_rdma_path_gids() - list RoCEv2 GIDs of this host for a client's GID list
 * @path: path of the link being made, whose GID comes first
 * @net: namespace of the socket
 * @gids: receives up to @max GIDs; those of other devices come before those of
 *	other ports of the same device
 * @max: at least 1
 *
 * Lists one GID per port: the one that smc_rdma_path_second() would choose there for a peer
 * whose GID is not known.
 *
 * Context: process.
 * Return: number of GIDs, at least 1.
 */
unsigned int smc_rdma_path_gids(const struct smc_rdma_path *path, struct net *net,
				u8 (*gids)[16], unsigned int max)
{
	struct smc_rdma_network network;
	const struct second_query q = { &network, path, net };
	unsigned int n = 1;

	memcpy(gids[0], &path->gid, sizeof(path->gid));
	if (smc_rdma_path_network(path, &network))
		return n;
	rcu_read_lock();
	n = add_gids(&q, false, gids, n, max);
	n = add_gids(&q, true, gids, n, max);
	rcu_read_unlock();
	return n;
}
