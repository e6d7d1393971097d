// SPDX-License-Identifier: GPL-2.0
/*
 * Find the first hop from our end of a link: is the peer in our subnet, and which
 * destination MAC address do frames to it carry?  Nothing sleeps until a gateway has
 * been resolved: the caller is notified of neighbour table changes and looks again.
 */
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include <net/route.h>
#include "../../../smc.h"
#include "dev.h"

/* Hops that wait for a neighbour.  The lock is held while their callbacks run. */
static LIST_HEAD(hops);
static DEFINE_MUTEX(hops_lock);

static void tell_hops(struct work_struct *work)
{
	struct smc_rdma_hop *hop;
	LIST_HEAD(waiting);

	mutex_lock(&hops_lock);
	list_splice_init(&hops, &waiting);
	while (!list_empty(&waiting)) {
		hop = list_first_entry(&waiting, struct smc_rdma_hop, list);
		list_del_init(&hop->list);
		hop->changed(hop);
	}
	mutex_unlock(&hops_lock);
}

static DECLARE_WORK(hops_work, tell_hops);

/* May be called under the locks of the neighbour table. */
static int neigh_event(struct notifier_block *nb, unsigned long event, void *data)
{
	/* Pairs with await_neigh(): either we see the hop, or it sees the neighbour's new state. */
	smp_mb();
	if (event == NETEVENT_NEIGH_UPDATE && !list_empty(&hops))
		queue_work(smc_link_wq, &hops_work);
	return NOTIFY_DONE;
}

static struct notifier_block neigh_notifier = { .notifier_call = neigh_event };

int smc_rdma_next_hop_init(void)
{
	return register_netevent_notifier(&neigh_notifier);
}

void smc_rdma_next_hop_exit(void)
{
	unregister_netevent_notifier(&neigh_notifier);
	cancel_work_sync(&hops_work);
}

/**
 * smc_rdma_hop_init() - initialise the hop to a peer
 * @hop: the hop, zeroed
 * @changed: becomes smc_rdma_hop.changed; must not call into this file
 */
void smc_rdma_hop_init(struct smc_rdma_hop *hop, void (*changed)(struct smc_rdma_hop *hop))
{
	INIT_LIST_HEAD(&hop->list);
	hop->changed = changed;
}

/**
 * smc_rdma_hop_forget() - stop waiting for a neighbour
 * @hop: an initialised hop; its smc_rdma_hop.changed is not called any more
 *
 * Context: process, may sleep, but does not wait for the network.
 */
void smc_rdma_hop_forget(struct smc_rdma_hop *hop)
{
	mutex_lock(&hops_lock);
	list_del_init(&hop->list);
	mutex_unlock(&hops_lock);
}

static void await_neigh(struct smc_rdma_hop *hop)
{
	mutex_lock(&hops_lock);
	if (list_empty(&hop->list))
		list_add(&hop->list, &hops);
	mutex_unlock(&hops_lock);
	/* Pairs with the barrier in neigh_event(). */
	smp_mb();
}

/* Check a neighbour.  Resolution is triggered only once: a silent neighbour has failed. */
static int look_at_neigh(struct smc_rdma_hop *hop, struct neighbour *n)
{
	u8 state;

	if (!hop->asked)
		neigh_event_send(n, NULL);
	hop->asked = true;
	state = READ_ONCE(n->nud_state);
	if (state & NUD_INCOMPLETE && !READ_ONCE(n->dead))
		return -EAGAIN;
	if (!(state & NUD_VALID) || n->dev->addr_len != ETH_ALEN)
		return -EHOSTUNREACH;
	neigh_ha_snapshot(hop->mac, n, n->dev);
	return is_valid_ether_addr(hop->mac) ? 0 : -EHOSTUNREACH;
}

/* Resolve the MAC address of the next hop of @dst towards @peer_gid. */
static int resolve_neigh(struct smc_rdma_hop *hop, struct dst_entry *dst,
			 const union ib_gid *peer_gid)
{
	const struct in6_addr *addr = smc_rdma_gid_addr(peer_gid);
	struct neighbour *n;
	int rc;

	if (ipv6_addr_v4mapped(addr))
		n = dst_neigh_lookup(dst, &addr->s6_addr32[3]);
	else
		n = dst_neigh_lookup(dst, addr);

	if (!n)
		return -EHOSTUNREACH;
	await_neigh(hop);
	rc = look_at_neigh(hop, n);
	neigh_release(n);
	if (rc != -EAGAIN)
		smc_rdma_hop_forget(hop);
	return rc;
}

static bool leaves_by(const struct dst_entry *dst, const struct net_device *ndev)
{
	bool by;

	rcu_read_lock();
	by = dst_dev_rcu(dst) == ndev;
	rcu_read_unlock();
	return by;
}

static bool onlink4(const struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev;
	const struct in_ifaddr *ifa;
	bool onlink = false;

	rcu_read_lock();
	in_dev = __in_dev_get_rcu(ndev);
	if (in_dev)
		in_dev_for_each_ifa_rcu(ifa, in_dev)
			onlink |= inet_ifa_match(addr, ifa);
	rcu_read_unlock();
	return onlink;
}

/*
 * RoCE packets leave by the netdev of their GID, even if the best route does not.  An
 * IPv4 lookup that is bound to a netdev never fails, because it takes every address for
 * a neighbour, so start with an unbound lookup.
 */
static struct rtable *rtable_by(struct net_device *ndev, __be32 daddr, __be32 saddr)
{
	struct flowi4 fl4 = {
		.daddr		= daddr,
		.saddr		= saddr,
		.flowi4_proto	= IPPROTO_UDP,
		.fl4_dport	= htons(ROCE_V2_UDP_DPORT),
	};
	struct rtable *rt = ip_route_output_key(dev_net(ndev), &fl4);

	if (!IS_ERR(rt)) {
		if (rt->rt_type == RTN_LOCAL || leaves_by(&rt->dst, ndev))
			return rt;
		ip_rt_put(rt);
	}
	fl4.daddr = daddr;
	fl4.saddr = saddr;
	fl4.flowi4_oif = ndev->ifindex;
	rt = ip_route_output_key(dev_net(ndev), &fl4);
	if (IS_ERR(rt) || rt->rt_uses_gateway || onlink4(ndev, daddr))
		return rt;
	ip_rt_put(rt);
	return ERR_PTR(-EHOSTUNREACH);
}

static struct dst_entry *route4(struct net_device *ndev, __be32 daddr, __be32 saddr,
				bool *direct)
{
	struct rtable *rt;

	if (ipv4_is_zeronet(daddr) || ipv4_is_loopback(daddr))
		return NULL;
	rt = rtable_by(ndev, daddr, saddr);
	if (IS_ERR(rt))
		return NULL;
	/* rt_gw_family does not tell: it is also set if the gateway is @daddr itself. */
	*direct = !rt->rt_uses_gateway;
	/* Reject broadcast addresses and the like. */
	if (rt->rt_type == RTN_UNICAST || rt->rt_type == RTN_LOCAL)
		return &rt->dst;
	ip_rt_put(rt);
	return NULL;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct rt6_info *rt6_by(struct net_device *ndev, const struct in6_addr *daddr,
			       const struct in6_addr *saddr)
{
	struct flowi6 fl6 = {
		.flowi6_oif	= ndev->ifindex,
		.flowi6_proto	= IPPROTO_UDP,
		.daddr		= *daddr,
		.saddr		= *saddr,
		.fl6_dport	= htons(ROCE_V2_UDP_DPORT),
	};
	struct dst_entry *dst;
	struct rt6_info *rt;

	dst = ip6_dst_lookup_flow(dev_net(ndev), NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return ERR_CAST(dst);
	rt = (struct rt6_info *)dst;
	if ((rt->rt6i_flags & RTF_LOCAL) || leaves_by(dst, ndev))
		return rt;
	dst_release(dst);
	return ERR_PTR(-EHOSTUNREACH);
}
#endif

static struct dst_entry *route6(struct net_device *ndev, const struct in6_addr *daddr,
				const struct in6_addr *saddr, bool *direct)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct rt6_info *rt;

	if (!(ipv6_addr_type(daddr) & IPV6_ADDR_UNICAST) ||
	    (ipv6_addr_type(daddr) & (IPV6_ADDR_LOOPBACK | IPV6_ADDR_LINKLOCAL)))
		return NULL;
	rt = rt6_by(ndev, daddr, saddr);
	if (IS_ERR(rt))
		return NULL;
	*direct = !(rt->rt6i_flags & RTF_GATEWAY);
	if (!(rt->rt6i_flags & (RTF_REJECT | RTF_ANYCAST)))
		return &rt->dst;
	dst_release(&rt->dst);
#endif
	return NULL;
}

/* The route from our GID to the peer's through @ndev, the netdev of ours, referenced; or NULL. */
static struct dst_entry *route_by(struct net_device *ndev, const union ib_gid *gid,
				  const union ib_gid *peer_gid, bool *direct)
{
	const struct in6_addr *saddr = smc_rdma_gid_addr(gid);
	const struct in6_addr *daddr = smc_rdma_gid_addr(peer_gid);
	struct dst_entry *dst;

	if (ipv6_addr_v4mapped(saddr) != ipv6_addr_v4mapped(daddr))
		return NULL;
	if (ipv6_addr_v4mapped(saddr))
		dst = route4(ndev, daddr->s6_addr32[3], saddr->s6_addr32[3], direct);
	else
		dst = route6(ndev, daddr, saddr, direct);
	/* RDMA would bypass an IPsec policy, or the encapsulation of the route. */
	if (!dst || (!dst_xfrm(dst) && !dst->lwtstate))
		return dst;
	dst_release(dst);
	return NULL;
}

/**
 * smc_rdma_hop_mtu() - can a link lead from a GID to the peer's GID?
 * @ndev: the netdev of the GID
 * @gid: a RoCEv2 GID of ours
 * @peer_gid: GID of the peer, from smc_rdma_gid_from_wire()
 *
 * Follows the same routes as smc_rdma_hop_find(), but resolves no neighbour.
 *
 * Context: any but hard interrupt; under RCU, or with a reference to @ndev.
 * Return: MTU of the route in bytes, or 0 if no route leads there through @ndev.
 */
unsigned int smc_rdma_hop_mtu(struct net_device *ndev, const union ib_gid *gid,
			      const union ib_gid *peer_gid)
{
	struct dst_entry *dst;
	unsigned int mtu;
	bool direct;

	dst = route_by(ndev, gid, peer_gid, &direct);
	if (!dst)
		return 0;
	mtu = dst_mtu(dst);
	dst_release(dst);
	return mtu;
}

/**
 * smc_rdma_hop_find() - find the destination MAC address of frames to the peer's GID
 * @hop: receives the answer
 * @path: our end
 * @peer_gid: GID of the peer, from smc_rdma_gid_from_wire()
 *
 * Routes are looked up in the namespace of our GID's netdev, which for a container may
 * differ from the namespace of the socket.  A path of version 1 is always direct.
 *
 * Context: process, may sleep, but does not wait for the network.  The caller has exclusive use
 * of @hop; after -EAGAIN it must call smc_rdma_hop_forget() before it frees @hop.
 * Return: 0 on success; -EAGAIN if the gateway has not answered yet, in which case
 * smc_rdma_hop.changed is called when the neighbour table changes; -EHOSTUNREACH if there is no
 * route, the gateway does not answer, or the peer's GID is not a host address; -ENODEV if our
 * GID is gone.
 */
int smc_rdma_hop_find(struct smc_rdma_hop *hop, const struct smc_rdma_path *path,
		      const union ib_gid *peer_gid)
{
	netdevice_tracker tracker;
	struct net_device *ndev;
	struct dst_entry *dst;
	int rc;

	hop->direct = true;
	if (smc_rdma_path_v1(path))
		return 0;
	ndev = smc_rdma_path_netdev(path, &tracker);
	if (!ndev)
		return -ENODEV;
	dst = route_by(ndev, &path->gid, peer_gid, &hop->direct);
	if (!dst)
		rc = -EHOSTUNREACH;
	else
		rc = hop->direct ? 0 : resolve_neigh(hop, dst, peer_gid);
	dst_release(dst);
	netdev_put(ndev, &tracker);
	return rc;
}
