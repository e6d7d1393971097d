// SPDX-License-Identifier: GPL-2.0
/*
 * From a TCP connection to our end of a link: the RDMA port that its packets go
 * through, and a GID there.  Documentation/rdma.md has the rules.
 *
 * Netdevs are looked at under RCU and never leave the section without a reference.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <net/addrconf.h>
#include <net/rtnetlink.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "../../../config/pnet.h"
#include "route.h"
#include "dev.h"

#define NO_VLAN		0xffff
#define MAX_LOWER_DEVS	32

static bool v1_over_rocev2;
module_param(v1_over_rocev2, bool, 0600);
MODULE_PARM_DESC(v1_over_rocev2, "Debugging only: SMC-Rv1 may use link-local RoCEv2 GIDs (default off)");

/* ---- from the route's netdev down ------------------------------------------ */

/**
 * struct lower_devs - netdevs that a connection's packets pass through
 * @top: the route's own
 * @n: how many
 * @at: @top, then what is below it, by distance; not @top if a packet gets more there
 *	than RoCE could do
 *
 * vlan is the VLAN tag that packets have got on their way there.  Only valid in the
 * RCU section where it was made.
 */
struct lower_devs {
	struct net_device *top;
	unsigned int n;
	struct {
		struct net_device *dev;
		u16 vlan;
	} at[MAX_LOWER_DEVS];
};

static bool is_kind(const struct net_device *dev, const char *kind)
{
	return dev->rtnl_link_ops && !strcmp(dev->rtnl_link_ops->kind, kind);
}

/*
 * A netdev of hardware with another one below it has given its work to a function
 * that is passed through.  Only the ports of a switch put tags of their own before
 * packets.
 */
static bool is_paravirtual(const struct net_device *dev)
{
	return netif_is_failover(dev) || (dev->dev.parent && !is_kind(dev, "dsa"));
}

/*
 * Does a packet leave by a lower device just as it is, but for a VLAN tag?  Not so
 * with tunnels and encryption, which have lower devices too.
 */
static bool is_stacked(const struct net_device *dev)
{
	return is_vlan_dev(dev) || netif_is_bridge_master(dev) ||
	       netif_is_lag_master(dev) || netif_is_macvlan(dev) ||
	       is_kind(dev, "ipvlan") || is_kind(dev, "ipvtap") ||
	       is_paravirtual(dev);
}

static int lower_devs_find(const struct lower_devs *c, const struct net_device *dev)
{
	unsigned int i;

	for (i = 0; i < c->n; i++)
		if (c->at[i].dev == dev)
			return i;
	return -1;
}

static void lower_devs_add(struct lower_devs *c, struct net_device *dev, u16 vlan)
{
	if (c->n == MAX_LOWER_DEVS || lower_devs_find(c, dev) >= 0)
		return;
	if (is_vlan_dev(dev)) {
		/* A GID has room for one VLAN, and for 802.1Q only. */
		if (vlan != NO_VLAN ||
		    vlan_dev_vlan_proto(dev) != htons(ETH_P_8021Q))
			return;
		vlan = vlan_dev_vlan_id(dev);
	}
	c->at[c->n].dev = dev;
	c->at[c->n++].vlan = vlan;
}

/*
 * A pair like veth leads to another namespace.  From its other end on we follow a
 * bridge; where that end has addresses of its own packets are routed, and who knows
 * whereto.
 */
static void lower_devs_add_peer(struct lower_devs *c, struct net_device *dev, u16 vlan)
{
	struct net_device *peer = dev->netdev_ops->ndo_get_peer_dev(dev);

	if (!peer)
		return;
	peer = netdev_master_upper_dev_get_rcu(peer);
	if (peer && netif_is_bridge_master(peer))
		lower_devs_add(c, peer, vlan);
}

static void lower_devs_add_lower(struct lower_devs *c, struct net_device *dev, u16 vlan)
{
	struct list_head *iter = &dev->adj_list.lower;
	struct net_device *lower;

	while ((lower = netdev_next_lower_dev_rcu(dev, &iter))) {
		/* The ports to containers and guests of this host lead nowhere. */
		if (netif_is_bridge_master(dev) && !is_stacked(lower))
			continue;
		lower_devs_add(c, lower, vlan);
	}
}

/* Everything below @dev that may have an RDMA port; under RCU. */
static void lower_devs_follow(struct lower_devs *c, struct net_device *dev)
{
	unsigned int i;

	c->top = dev;
	c->n = 0;
	lower_devs_add(c, dev, NO_VLAN);
	for (i = 0; i < c->n; i++) {
		dev = c->at[i].dev;
		if (dev->netdev_ops && dev->netdev_ops->ndo_get_peer_dev)
			lower_devs_add_peer(c, dev, c->at[i].vlan);
		else if (is_stacked(dev))
			lower_devs_add_lower(c, dev, c->at[i].vlan);
	}
}

/*
 * Has the administrator said (PNET table) that this port serves connections of one
 * of these netdevs, although no path leads from one to the other, or that it does not,
 * although one does?  The nearest netdev with an entry decides; under RCU.
 */
static enum smc_pnet_verdict smc_rdma_pnet_match(const struct lower_devs *c,
						 const struct smc_rdma_dev *dev,
						 u32 port)
{
	enum smc_pnet_verdict verdict = SMC_PNET_UNKNOWN;
	unsigned int i;

	for (i = 0; i < c->n && verdict == SMC_PNET_UNKNOWN; i++)
		verdict = smc_pnet_compare(c->at[i].dev, dev->ibdev->name,
					   smc_rdma_dev_pci(dev), port);
	return verdict;
}

/* ---- choice of a GID ------------------------------------------------------- */

/**
 * struct gid_query - what the GID is for
 * @v2: version 2
 * @local: the connection's local address, IPv4 mapped into IPv6
 * @net: namespace of the socket
 * @lower_devs: where its packets go
 * @by_pnet: the PNET table, not a path, leads to the port that is looked at
 * @device_seen: a port carries the connection, with whatever GIDs
 * @rank: how well the best one so far fits, 0: there is none
 * @mtu: MTU of that one's netdev
 */
struct gid_query {
	bool			v2;
	struct in6_addr		local;
	struct net		*net;
	struct lower_devs	lower_devs;
	bool			by_pnet;
	bool			device_seen;
	unsigned int		rank;
	unsigned int		mtu;
};

/* Are both addresses in one subnet of the netdev that has @own?  Under RCU. */
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

/* A GID that routers know, of the IP version of @addr. */
static bool is_routable(const struct ib_gid_attr *attr, const struct in6_addr *addr)
{
	return attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
	       !smc_rdma_gid_link_local(&attr->gid) &&
	       ipv6_addr_v4mapped(smc_rdma_gid_addr(&attr->gid)) == ipv6_addr_v4mapped(addr);
}

#define RANK(fits, distance)	((fits) * 2 * MAX_LOWER_DEVS - (distance))
#define FITS_BEST		3
#define BEST			RANK(FITS_BEST, 0)

/* 0: of no use; better ones have more, up to FITS_BEST. */
static unsigned int gid_rank(const struct gid_query *w, const struct ib_gid_attr *attr,
			     const struct net_device *ndev)
{
	const struct in6_addr *addr = smc_rdma_gid_addr(&attr->gid);

	if (!w->v2) {
		if (smc_rdma_gid_link_local(&attr->gid) &&
		    (attr->gid_type == IB_GID_TYPE_ROCE || v1_over_rocev2))
			return FITS_BEST;
		return attr->gid_type == IB_GID_TYPE_ROCE;
	}
	if (!is_routable(attr, &w->local))
		return 0;
	if (ipv6_addr_equal(addr, &w->local))
		return FITS_BEST;
	return same_subnet(ndev, addr, &w->local) ? 2 : 1;
}

/* Take this GID if it is better than the one in @path; under RCU. */
static void consider_gid(struct gid_query *w, struct smc_rdma_path *path,
			 struct smc_rdma_dev *dev, u32 port,
			 const struct ib_gid_attr *attr)
{
	struct net_device *ndev = rdma_read_gid_attr_ndev_rcu(attr);
	unsigned int rank, distance = MAX_LOWER_DEVS;
	u16 vlan;
	u8 mac[ETH_ALEN];
	int found;

	if (IS_ERR(ndev) || rdma_read_gid_l2_fields(attr, &vlan, mac))
		return;
	found = lower_devs_find(&w->lower_devs, ndev);
	if (found >= 0) {
		distance = found;
		/* What went out with a tag does so over RDMA too. */
		if (w->lower_devs.at[found].vlan != NO_VLAN &&
		    w->lower_devs.at[found].vlan != vlan)
			return;
	} else if (!w->by_pnet) {
		return;
	}
	rank = gid_rank(w, attr, ndev);
	if (!rank)
		return;
	/* Among those that fit as well the nearest. */
	rank = RANK(rank, distance);
	if (rank <= w->rank)
		return;
	w->rank = rank;
	path->dev = dev;
	path->port = port;
	path->sgid_index = attr->index;
	path->gid_type = attr->gid_type;
	path->gid = attr->gid;
	ether_addr_copy(path->mac, mac);
	path->vlan_id = vlan;
	w->mtu = READ_ONCE(ndev->mtu);
}

/* The index has one byte in a path; nobody has that many addresses. */
static int gid_count(const struct smc_rdma_dev *dev, u32 port)
{
	return min(dev->ibdev->port_data[port].immutable.gid_tbl_len, 256);
}

/*
 * Does this port carry the connection?  The first GID of a port is made from the MAC
 * address of its netdev, or of the bond above.  (The RDMA core has GIDs for whatever
 * else is above that netdev, tunnels included.)
 */
static bool port_carries(struct gid_query *w, const struct smc_rdma_dev *dev, u32 port)
{
	const struct ib_gid_attr *attr;
	struct net_device *ndev;
	bool carries;

	switch (smc_rdma_pnet_match(&w->lower_devs, dev, port)) {
	case SMC_PNET_SAME:
		w->by_pnet = true;
		return true;
	case SMC_PNET_OTHER:
		return false;
	case SMC_PNET_UNKNOWN:
		break;
	}
	w->by_pnet = false;
	attr = rdma_get_gid_attr(dev->ibdev, port, 0);
	if (IS_ERR(attr))
		return false;
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	carries = !IS_ERR(ndev) && lower_devs_find(&w->lower_devs, ndev) >= 0;
	rdma_put_gid_attr(attr);
	return carries;
}

static void consider_port(struct gid_query *w, struct smc_rdma_path *path,
			  struct smc_rdma_dev *dev, u32 port)
{
	const struct ib_gid_attr *attr;
	int i;

	if (!smc_rdma_port_usable(dev, port) || !port_carries(w, dev, port))
		return;
	w->device_seen = true;
	/* Looking through a whole table of GIDs costs more than a handshake does. */
	if (!w->v2 && !v1_over_rocev2 && !rdma_protocol_roce_eth_encap(dev->ibdev, port))
		return;
	for (i = 0; i < gid_count(dev, port) && w->rank < BEST; i++) {
		attr = rdma_get_gid_attr(dev->ibdev, port, i);
		if (IS_ERR(attr))
			continue;
		consider_gid(w, path, dev, port, attr);
		rdma_put_gid_attr(attr);
	}
}

/* The best GID of all devices, with a reference to its device; under RCU. */
static int choose_gid(struct gid_query *w, struct smc_rdma_path *path)
{
	struct smc_rdma_dev *dev;
	u32 port;

	list_for_each_entry_rcu(dev, &smc_rdma_devs, list) {
		if (!rdma_dev_access_netns(dev->ibdev, w->net))
			continue;
		rdma_for_each_port(dev->ibdev, port)
			consider_port(w, path, dev, port);
	}
	if (!w->rank)
		return w->device_seen ? -EADDRNOTAVAIL : -ENODEV;
	if (!smc_rdma_dev_tryget(path->dev)) {
		path->dev = NULL;
		return -ENODEV;
	}
	path->dev_id = path->dev->id;
	return 0;
}

/* ---- a path: found, kept, still good? --------------------------------------- */

/*
 * What fits into a packet: by what the device can, by the MTU of the GID's netdev and
 * by that of the TCP connection's route, which may know of a narrower place on the
 * way.  ib_query_port() would tell the first two, but drivers ask hardware, and some
 * write into the kernel log.
 */
static u8 path_mtu(const struct smc_rdma_dev *dev, unsigned int netdev_mtu,
		   unsigned int route_mtu)
{
	/* A route over loopback may have more than an int of the RDMA core. */
	unsigned int mtu = min3(netdev_mtu, route_mtu, 65535u);

	return clamp_t(u8, iboe_get_mtu(mtu), IB_MTU_256, dev->max_mtu);
}

int smc_rdma_path_find(struct sock *sk, bool v2, struct smc_rdma_path *path)
{
	struct gid_query w = { .v2 = v2, .net = sock_net(sk) };
	struct dst_entry *dst;
	int rc;

	memset(path, 0, sizeof(*path));
	smc_route_local(sk, &w.local);
	dst = smc_route_get(sk);
	if (!dst)
		return -ENODEV;
	rcu_read_lock();
	lower_devs_follow(&w.lower_devs, dst_dev_rcu(dst));
	rc = choose_gid(&w, path);
	rcu_read_unlock();
	if (!rc)
		path->mtu = path_mtu(path->dev, w.mtu, dst_mtu(dst));
	dst_release(dst);
	return rc;
}

void smc_rdma_path_put(struct smc_rdma_path *path)
{
	if (path->dev)
		smc_rdma_dev_put(path->dev);
	path->dev = NULL;
}

/**
 * smc_rdma_path_hold() - a reference to the device again
 * @path: our end, after smc_rdma_path_put()
 *
 * Whoever has to wait for a peer or for a program holds no device meanwhile: its removal waits
 * for all references.
 *
 * Context: any but hard interrupts.
 * Return: 0, or -ENODEV if the device is gone.
 */
int smc_rdma_path_hold(struct smc_rdma_path *path)
{
	struct smc_rdma_dev *dev;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &smc_rdma_devs, list)
		if (dev->id == path->dev_id && smc_rdma_dev_tryget(dev))
			path->dev = dev;
	rcu_read_unlock();
	return path->dev ? 0 : -ENODEV;
}

void smc_rdma_path_copy(struct smc_rdma_path *to, const struct smc_rdma_path *from)
{
	*to = *from;
	if (to->dev)
		smc_rdma_dev_get(to->dev);
}

/* The GID of @path while it is still where it was, else an ERR_PTR. */
static const struct ib_gid_attr *path_gid_attr(const struct smc_rdma_path *path)
{
	const struct ib_gid_attr *attr;

	attr = rdma_get_gid_attr(path->dev->ibdev, path->port, path->sgid_index);
	if (IS_ERR(attr))
		return attr;
	if (attr->gid_type == path->gid_type &&
	    !memcmp(&attr->gid, &path->gid, sizeof(path->gid)))
		return attr;
	rdma_put_gid_attr(attr);
	return ERR_PTR(-ENODEV);
}

bool smc_rdma_path_alive(const struct smc_rdma_path *path)
{
	const struct ib_gid_attr *attr;
	u8 mac[ETH_ALEN];
	bool alive;

	if (smc_rdma_dev_gone(path->dev) ||
	    !smc_rdma_port_usable(path->dev, path->port))
		return false;
	attr = path_gid_attr(path);
	if (IS_ERR(attr))
		return false;
	alive = !rdma_read_gid_l2_fields(attr, NULL, mac) &&
		ether_addr_equal(mac, path->mac);
	rdma_put_gid_attr(attr);
	return alive;
}

/* The netdev of our GID, referenced. */
struct net_device *smc_rdma_path_netdev(const struct smc_rdma_path *path,
					netdevice_tracker *tracker)
{
	const struct ib_gid_attr *attr = path_gid_attr(path);
	struct net_device *ndev;

	if (IS_ERR(attr))
		return NULL;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (IS_ERR(ndev))
		ndev = NULL;
	netdev_hold(ndev, tracker, GFP_ATOMIC);
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return ndev;
}

/* ---- the GIDs of this host --------------------------------------------------- */

/* The first GID of a port that could be an alternative to @path; under RCU. */
static bool alternative_at(const struct smc_rdma_path *path,
			   const struct net *where, struct smc_rdma_dev *dev,
			   u32 port, u8 *gid)
{
	const struct ib_gid_attr *attr;
	struct net_device *ndev;
	bool found = false;
	int i;

	for (i = 0; i < gid_count(dev, port) && !found; i++) {
		attr = rdma_get_gid_attr(dev->ibdev, port, i);
		if (IS_ERR(attr))
			continue;
		ndev = rdma_read_gid_attr_ndev_rcu(attr);
		found = !IS_ERR(ndev) && net_eq(dev_net(ndev), where) &&
			(ndev->flags & IFF_UP) &&
			is_routable(attr, smc_rdma_gid_addr(&path->gid)) &&
			memcmp(&attr->gid, &path->gid, sizeof(attr->gid));
		if (found)
			memcpy(gid, &attr->gid, sizeof(attr->gid));
		rdma_put_gid_attr(attr);
	}
	return found;
}

/* Those of the device of @path, or those of all others; under RCU. */
static unsigned int alternative_gids(const struct smc_rdma_path *path, struct net *net,
				     const struct net *where, bool own,
				     u8 (*gids)[16], unsigned int n, unsigned int max)
{
	struct smc_rdma_dev *dev;
	u32 port;

	list_for_each_entry_rcu(dev, &smc_rdma_devs, list) {
		if ((dev == path->dev) != own ||
		    !rdma_dev_access_netns(dev->ibdev, net))
			continue;
		rdma_for_each_port(dev->ibdev, port) {
			if (n == max)
				return n;
			if (dev == path->dev && port == path->port)
				continue;
			if (smc_rdma_port_usable(dev, port) &&
			    alternative_at(path, where, dev, port, gids[n]))
				n++;
		}
	}
	return n;
}

unsigned int smc_rdma_path_gids(const struct smc_rdma_path *path, struct net *net,
				u8 (*gids)[16], unsigned int max)
{
	netdevice_tracker tracker;
	struct net_device *ndev;
	unsigned int n = 1;

	memcpy(gids[0], &path->gid, sizeof(path->gid));
	ndev = smc_rdma_path_netdev(path, &tracker);
	if (!ndev)
		return n;
	rcu_read_lock();
	n = alternative_gids(path, net, dev_net(ndev), false, gids, n, max);
	n = alternative_gids(path, net, dev_net(ndev), true, gids, n, max);
	rcu_read_unlock();
	netdev_put(ndev, &tracker);
	return n;
}
