// SPDX-License-Identifier: GPL-2.0
/*
 * The route of a TCP connection, and the subnet rule of version 1: the outgoing interfaces of
 * both ends must be in the same IPv4 subnet or share an IPv6 prefix (RFC 7609, 3.5.1.2).  The
 * addresses of the connection itself do not decide: a virtual address that is configured on
 * another interface, as on the servers behind a load balancer, is in none of these subnets.
 *
 * No function here needs the socket lock: the addresses of a connection do not change, the route
 * is referenced, and its netdev is used under RCU.
 */
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/route.h>
#include "../wire/clc.h"
#include "route.h"

/**
 * smc_route_local() - the local address of a connection
 * @sk: a connected or connecting TCP socket
 * @addr: receives the address; IPv4 mapped into IPv6
 *
 * Context: any.
 */
void smc_route_local(const struct sock *sk, struct in6_addr *addr)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6 && !ipv6_addr_v4mapped(&sk->sk_v6_daddr)) {
		*addr = sk->sk_v6_rcv_saddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(inet_sk(sk)->inet_saddr, addr);
}

/**
 * smc_route_remote() - the peer address of a connection
 * @sk: a connected or connecting TCP socket
 * @addr: receives the address; IPv4 mapped into IPv6
 *
 * Context: any.
 */
void smc_route_remote(const struct sock *sk, struct in6_addr *addr)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		*addr = sk->sk_v6_daddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(inet_sk(sk)->inet_daddr, addr);
}

static struct dst_entry *route4(struct sock *sk)
{
	const struct inet_sock *inet = inet_sk(sk);
	struct flowi4 fl4;
	struct rtable *rt;

	rt = ip_route_output_ports(sock_net(sk), &fl4, sk, inet->inet_daddr,
				   inet->inet_saddr, inet->inet_dport,
				   inet->inet_sport, IPPROTO_TCP, 0,
				   sk->sk_bound_dev_if);
	return IS_ERR(rt) ? NULL : &rt->dst;
}

static struct dst_entry *route6(struct sock *sk)
{
	struct dst_entry *dst = NULL;
#if IS_ENABLED(CONFIG_IPV6)
	struct flowi6 fl6 = {
		.flowi6_oif	= sk->sk_bound_dev_if,
		.flowi6_mark	= READ_ONCE(sk->sk_mark),
		.flowi6_uid	= sk->sk_uid,
		.flowi6_proto	= IPPROTO_TCP,
		.daddr		= sk->sk_v6_daddr,
		.saddr		= sk->sk_v6_rcv_saddr,
		.fl6_dport	= inet_sk(sk)->inet_dport,
		.fl6_sport	= inet_sk(sk)->inet_sport,
	};

	security_sk_classify_flow(sk, flowi6_to_flowi_common(&fl6));
	dst = ip6_dst_lookup_flow(sock_net(sk), sk, &fl6, NULL);
#endif
	return IS_ERR(dst) ? NULL : dst;
}

/**
 * smc_route_get() - look up the route of a connection
 * @sk: a connected or connecting TCP socket
 *
 * Context: process or bottom half, the socket need not be locked.
 * Return: the route, to be released with dst_release(), or NULL if there is none.
 * Get its netdev with dst_dev_rcu(): any other access races with unregistration of the netdev.
 */
struct dst_entry *smc_route_get(struct sock *sk)
{
	/* TCP caches its route, but drops it at times. */
	struct dst_entry *dst = sk_dst_get(sk);
	struct in6_addr local;

	if (dst)
		return dst;
	smc_route_local(sk, &local);
	return ipv6_addr_v4mapped(&local) ? route4(sk) : route6(sk);
}

/* A single address, such as a virtual one, is not a subnet that peers can share. */
static bool is_subnet(const struct in_ifaddr *ifa)
{
	return ifa->ifa_prefixlen < 32 && ifa->ifa_scope != RT_SCOPE_HOST;
}

/* The subnet of the interface that contains the local address, else its first subnet. */
static const struct in_ifaddr *subnet4(const struct net_device *ndev, __be32 local)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa, *first = NULL;

	if (!in_dev)
		return NULL;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (!is_subnet(ifa))
			continue;
		if (inet_ifa_match(local, ifa))
			return ifa;
		first = first ?: ifa;
	}
	return first;
}

static bool offer4(const struct net_device *ndev, __be32 local,
		   struct smc_clc_proposal *p)
{
	const struct in_ifaddr *ifa = subnet4(ndev, local);

	if (!ifa)
		return false;
	/* RFC 7609 calls this field a mask, but existing hosts send the network address. */
	p->ipv4_mask = ifa->ifa_address & ifa->ifa_mask;
	p->ipv4_prefix_len = ifa->ifa_prefixlen;
	p->has_prefix = true;
	return true;
}

#if IS_ENABLED(CONFIG_IPV6)
/* Link-local prefixes are the same on all links, so they prove nothing. */
static bool is_prefix(const struct inet6_ifaddr *ifa)
{
	return !(ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL);
}

static bool have_prefix6(const struct smc_clc_proposal *p, const struct in6_addr *addr,
			 u32 len)
{
	unsigned int i;

	for (i = 0; i < p->n_ipv6; i++)
		if (p->ipv6[i].len == len &&
		    ipv6_prefix_equal((const struct in6_addr *)p->ipv6[i].addr, addr,
				      len))
			return true;
	return false;
}

static bool offer6(const struct net_device *ndev, struct smc_clc_proposal *p)
{
	struct inet6_dev *idev = __in6_dev_get(ndev);
	struct inet6_ifaddr *ifa;
	struct in6_addr prefix;

	if (!idev)
		return false;
	read_lock_bh(&idev->lock);
	list_for_each_entry(ifa, &idev->addr_list, if_list) {
		if (p->n_ipv6 == SMC_CLC_MAX_IPV6_PREFIXES)
			break;
		if (!is_prefix(ifa) || have_prefix6(p, &ifa->addr, ifa->prefix_len))
			continue;
		ipv6_addr_prefix(&prefix, &ifa->addr, ifa->prefix_len);
		memcpy(p->ipv6[p->n_ipv6].addr, &prefix, sizeof(prefix));
		p->ipv6[p->n_ipv6++].len = ifa->prefix_len;
	}
	read_unlock_bh(&idev->lock);
	p->has_prefix = p->n_ipv6 != 0;
	return p->has_prefix;
}

static bool in_subnets6(const struct net_device *ndev, const struct smc_clc_proposal *p)
{
	struct inet6_dev *idev = __in6_dev_get(ndev);
	struct inet6_ifaddr *ifa;
	bool found = false;

	if (!idev)
		return false;
	read_lock_bh(&idev->lock);
	list_for_each_entry(ifa, &idev->addr_list, if_list) {
		found = is_prefix(ifa) &&
			have_prefix6(p, &ifa->addr, ifa->prefix_len);
		if (found)
			break;
	}
	read_unlock_bh(&idev->lock);
	return found;
}
#else
static bool offer6(const struct net_device *ndev, struct smc_clc_proposal *p)
{
	return false;
}

static bool in_subnets6(const struct net_device *ndev, const struct smc_clc_proposal *p)
{
	return false;
}
#endif

/**
 * smc_route_offer_subnets() - client: put the subnets of the interface into a Proposal
 * @sk: the connection
 * @p: the Proposal; has_prefix, ipv4_mask, ipv4_prefix_len, n_ipv6 and ipv6 are set
 *
 * Context: process or bottom half.
 * Return: 0, or -EADDRNOTAVAIL if the netdev of the connection has no usable subnet and version 1
 * cannot be offered.
 */
int smc_route_offer_subnets(struct sock *sk, struct smc_clc_proposal *p)
{
	struct dst_entry *dst = smc_route_get(sk);
	struct in6_addr local;
	bool found;

	p->has_prefix = false;
	p->ipv4_mask = 0;
	p->ipv4_prefix_len = 0;
	p->n_ipv6 = 0;
	if (!dst)
		return -EADDRNOTAVAIL;
	smc_route_local(sk, &local);
	rcu_read_lock();
	if (ipv6_addr_v4mapped(&local))
		found = offer4(dst_dev_rcu(dst), local.s6_addr32[3], p);
	else
		found = offer6(dst_dev_rcu(dst), p);
	rcu_read_unlock();
	dst_release(dst);
	return found ? 0 : -EADDRNOTAVAIL;
}

/*
 * Is the client in this subnet?  A client that follows RFC 7609 literally sends the mask instead
 * of the network address; in that case, look at the client's own address.
 */
static bool same_subnet4(const struct in_ifaddr *ifa, __be32 remote,
			 const struct smc_clc_proposal *p)
{
	if (!is_subnet(ifa) || p->ipv4_prefix_len != ifa->ifa_prefixlen)
		return false;
	if (p->ipv4_mask == ifa->ifa_mask)
		return inet_ifa_match(remote, ifa);
	return p->ipv4_mask == (ifa->ifa_address & ifa->ifa_mask);
}

static bool in_subnets4(const struct net_device *ndev, __be32 remote,
			const struct smc_clc_proposal *p)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (same_subnet4(ifa, remote, p))
			return true;
	return false;
}

/**
 * smc_route_in_subnets() - server: is our interface in one of the client's subnets?
 * @sk: the connection
 * @p: the client's Proposal
 *
 * Context: process or bottom half.
 *
 * Return: true if it is.
 */
bool smc_route_in_subnets(struct sock *sk, const struct smc_clc_proposal *p)
{
	struct dst_entry *dst;
	struct in6_addr local;
	bool in;

	if (!p->has_prefix)
		return false;
	dst = smc_route_get(sk);
	if (!dst)
		return false;
	smc_route_local(sk, &local);
	rcu_read_lock();
	if (ipv6_addr_v4mapped(&local))
		in = in_subnets4(dst_dev_rcu(dst), inet_sk(sk)->inet_daddr, p);
	else
		in = in_subnets6(dst_dev_rcu(dst), p);
	rcu_read_unlock();
	dst_release(dst);
	return in;
}
