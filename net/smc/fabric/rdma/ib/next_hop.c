// SPDX-License-Identifier: GPL-2.0
/*
 * From our end of a link to the peer: is it in our subnet, and which MAC address
 * does a frame to it carry?
 */
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/neighbour.h>
#include <net/netevent.h>
#include <net/route.h>
#include "dev.h"

static DECLARE_WAIT_QUEUE_HEAD(neigh_changed);

static int neigh_event(struct notifier_block *nb, unsigned long event, void *data)
{
	if (event == NETEVENT_NEIGH_UPDATE && wq_has_sleeper(&neigh_changed))
		wake_up_all(&neigh_changed);
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
}

static bool neigh_settled(const struct neighbour *n)
{
	return READ_ONCE(n->dead) ||
	       (READ_ONCE(n->nud_state) & (NUD_VALID | NUD_FAILED));
}

/* The MAC address of the next hop of @dst towards @addr. */
static int resolve_neigh(struct dst_entry *dst, const void *addr, u8 *mac)
{
	struct neighbour *n = dst_neigh_lookup(dst, addr);
	int rc = -EHOSTUNREACH;

	if (!n)
		return rc;
	neigh_event_send(n, NULL);
	wait_event_killable_timeout(neigh_changed, neigh_settled(n), 2 * HZ);
	if (n->dev->addr_len == ETH_ALEN &&
	    (READ_ONCE(n->nud_state) & NUD_VALID)) {
		neigh_ha_snapshot(mac, n, n->dev);
		rc = is_valid_ether_addr(mac) ? 0 : -EHOSTUNREACH;
	}
	neigh_release(n);
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
 * RoCE leaves by the netdev of its GID, whatever other way there may be.  A lookup
 * that is bound to a netdev does not fail in IPv4, it takes everybody for a
 * neighbour; so ask without, first.
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

static int next_hop4(struct net_device *ndev, __be32 daddr, __be32 saddr,
		     u8 *dmac, bool *direct)
{
	struct rtable *rt;
	int rc = -EHOSTUNREACH;

	if (ipv4_is_zeronet(daddr) || ipv4_is_loopback(daddr))
		return rc;
	rt = rtable_by(ndev, daddr, saddr);
	if (IS_ERR(rt))
		return rc;
	/* Not to a broadcast address, nor encrypted. */
	if ((rt->rt_type == RTN_UNICAST || rt->rt_type == RTN_LOCAL) &&
	    !dst_xfrm(&rt->dst)) {
		/* rt_gw_family would also be set where the gateway is @daddr. */
		*direct = !rt->rt_uses_gateway;
		rc = *direct ? 0 : resolve_neigh(&rt->dst, &daddr, dmac);
	}
	ip_rt_put(rt);
	return rc;
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

	dst = ipv6_stub->ipv6_dst_lookup_flow(dev_net(ndev), NULL, &fl6, NULL);
	if (IS_ERR(dst))
		return ERR_CAST(dst);
	rt = (struct rt6_info *)dst;
	if ((rt->rt6i_flags & RTF_LOCAL) || leaves_by(dst, ndev))
		return rt;
	dst_release(dst);
	return ERR_PTR(-EHOSTUNREACH);
}
#endif

static int next_hop6(struct net_device *ndev, const struct in6_addr *daddr,
		     const struct in6_addr *saddr, u8 *dmac, bool *direct)
{
	int rc = -EHOSTUNREACH;
#if IS_ENABLED(CONFIG_IPV6)
	struct rt6_info *rt;

	if (!(ipv6_addr_type(daddr) & IPV6_ADDR_UNICAST) ||
	    (ipv6_addr_type(daddr) & (IPV6_ADDR_LOOPBACK | IPV6_ADDR_LINKLOCAL)))
		return rc;
	rt = rt6_by(ndev, daddr, saddr);
	if (IS_ERR(rt))
		return rc;
	if (!(rt->rt6i_flags & (RTF_REJECT | RTF_ANYCAST)) && !dst_xfrm(&rt->dst)) {
		*direct = !(rt->rt6i_flags & RTF_GATEWAY);
		rc = *direct ? 0 : resolve_neigh(&rt->dst, daddr, dmac);
	}
	dst_release(&rt->dst);
#endif
	return rc;
}

int smc_rdma_path_next_hop(const struct smc_rdma_path *path,
			   const union ib_gid *peer_gid, const u8 *peer_mac,
			   u8 *dmac, bool *direct)
{
	const struct in6_addr *saddr = smc_rdma_gid_addr(&path->gid);
	const struct in6_addr *daddr = smc_rdma_gid_addr(peer_gid);
	netdevice_tracker tracker;
	struct net_device *ndev;
	int rc = -EHOSTUNREACH;

	*direct = true;
	if (path->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
	    !smc_rdma_gid_link_local(&path->gid)) {
		if (ipv6_addr_v4mapped(saddr) != ipv6_addr_v4mapped(daddr))
			return rc;
		ndev = smc_rdma_path_netdev(path, &tracker);
		if (!ndev)
			return -ENODEV;
		if (ipv6_addr_v4mapped(saddr))
			rc = next_hop4(ndev, daddr->s6_addr32[3],
				       saddr->s6_addr32[3], dmac, direct);
		else
			rc = next_hop6(ndev, daddr, saddr, dmac, direct);
		netdev_put(ndev, &tracker);
		if (rc || !*direct)
			return rc;
	}
	if (!is_valid_ether_addr(peer_mac))
		return -EHOSTUNREACH;
	ether_addr_copy(dmac, peer_mac);
	return 0;
}
