// SPDX-License-Identifier: GPL-2.0
/* Checks whether an IPsec policy covers a connection; see ipsec.h. */
#include <linux/security.h>
#include <linux/tcp.h>
#include <net/dst.h>
#include <net/inet_sock.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/tcp.h>
#include "../policy/policy.h"
#include "ipsec.h"

/**
 * smc_ipsec_own() - does the socket have a policy of its own that protects or forbids anything?
 * @sk: the socket
 *
 * What the policy's selector says does not matter. A policy that exempts the socket, as those of
 * key daemons do, is left to xfrm_lookup().
 *
 * Return: true if so.
 */
bool smc_ipsec_own(const struct sock *sk)
{
	bool own = false;
#ifdef CONFIG_XFRM
	const struct xfrm_policy *policy;
	int dir;

	if (likely(!smc_ipsec_policies(sk)))
		return false;
	rcu_read_lock();
	for (dir = XFRM_POLICY_IN; dir <= XFRM_POLICY_OUT; dir++) {
		policy = rcu_dereference(sk->sk_policy[dir]);
		own |= policy && (policy->action != XFRM_POLICY_ALLOW || policy->xfrm_nr);
	}
	rcu_read_unlock();
#endif
	return own;
}

/**
 * smc_ipsec_dst() - does IPsec transform what TCP sends on this route?
 * @dst: the route of a connection, or NULL
 *
 * While a policy still waits for its keys, xfrm returns a route that discards or queues packets.
 *
 * Return: true if IPsec does so.
 */
bool smc_ipsec_dst(const struct dst_entry *dst)
{
	return dst && (dst_xfrm(dst) || dst->flags & DST_XFRM_QUEUE ||
		       dst->output == dst_discard_out);
}

/* Consumes @dst, which is the route of @fl without IPsec. */
static bool transforms(const struct sock *sk, struct dst_entry *dst,
		       const struct flowi *fl)
{
	bool covered;

	dst = xfrm_lookup(sock_net(sk), dst, fl, sk, 0);
	/* There is a policy, but it has no keys yet or forbids the connection. */
	if (IS_ERR(dst))
		return true;
	covered = smc_ipsec_dst(dst);
	dst_release(dst);
	return covered;
}

static bool covers_v4(const struct sock *sk, int oif, u32 mark, __be32 daddr,
		      __be32 saddr, __be16 dport, __be16 sport)
{
	struct flowi4 fl4;
	struct rtable *rt;

	flowi4_init_output(&fl4, oif, mark, RT_TOS(READ_ONCE(inet_sk(sk)->tos)),
			   sock_flag(sk, SOCK_LOCALROUTE) ? RT_SCOPE_LINK :
							    RT_SCOPE_UNIVERSE,
			   IPPROTO_TCP, inet_sk_flowi_flags(sk), daddr, saddr,
			   dport, sport, sk->sk_uid);
	security_sk_classify_flow((struct sock *)sk, flowi4_to_flowi_common(&fl4));
	rt = __ip_route_output_key(sock_net(sk), &fl4);
	/* Without a route no connection can be set up. */
	return !IS_ERR(rt) && transforms(sk, &rt->dst, flowi4_to_flowi(&fl4));
}

#if IS_ENABLED(CONFIG_IPV6)
static bool covers_v6(const struct sock *sk, int oif, u32 mark,
		      const struct in6_addr *daddr, const struct in6_addr *saddr,
		      __be16 dport, __be16 sport)
{
	struct flowi6 fl6 = {
		.flowi6_oif	= oif,
		.flowi6_mark	= mark,
		.flowi6_proto	= IPPROTO_TCP,
		.flowi6_uid	= sk->sk_uid,
		.daddr		= *daddr,
		.saddr		= *saddr,
		.fl6_dport	= dport,
		.fl6_sport	= sport,
	};
	struct dst_entry *dst;

	security_sk_classify_flow((struct sock *)sk, flowi6_to_flowi_common(&fl6));
	if (ip6_dst_lookup(sock_net(sk), (struct sock *)sk, &dst, &fl6))
		return false;
	return transforms(sk, dst, flowi6_to_flowi(&fl6));
}
#endif

/**
 * smc_ipsec_syn() - does a policy cover the connection that a SYN requests?
 * @listener: the listener that received the SYN
 * @syn: the SYN, as TCP has received it
 *
 * Context: bottom half.
 *
 * Return: true if a policy covers the connection.
 */
bool smc_ipsec_syn(const struct sock *listener, struct sk_buff *syn)
{
	int iif = inet_request_bound_dev_if(listener, syn);
	u32 mark = inet_request_mark(listener, syn);
	const struct tcphdr *th = tcp_hdr(syn);

	if (!smc_ipsec_any(listener))
		return false;
	/* A SYN that arrived protected must be answered protected. */
	if (secpath_exists(syn))
		return true;
#if IS_ENABLED(CONFIG_IPV6)
	if (syn->protocol == htons(ETH_P_IPV6)) {
		/* A link-local address requires the interface. */
		if (!iif && ipv6_addr_type(&ipv6_hdr(syn)->saddr) & IPV6_ADDR_LINKLOCAL)
			iif = tcp_v6_iif(syn);
		return covers_v6(listener, iif, mark, &ipv6_hdr(syn)->saddr,
				 &ipv6_hdr(syn)->daddr, th->source, th->dest);
	}
#endif
	return covers_v4(listener, iif, mark, ip_hdr(syn)->saddr,
			 ip_hdr(syn)->daddr, th->source, th->dest);
}

/**
 * smc_ipsec_to_mapped() - does a policy cover an IPv6 socket's connection over IPv4?
 * @sk: the socket, before it connects
 * @addr: destination address
 * @len: length of @addr
 *
 * For such a connection, TCP replaces our icsk_af_ops by its own, so smc_rebuild_header() would not
 * be called. This check therefore comes before the source port is chosen, unless the socket is
 * bound.
 *
 * Return: true if the connection will be over IPv4 and a policy covers it.
 */
bool smc_ipsec_to_mapped(const struct sock *sk, const struct sockaddr_unsized *addr, int len)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	__be32 daddr;

	return smc_mapped_destination(sk, addr, len, &daddr) &&
	       covers_v4(sk, sk->sk_bound_dev_if, sk->sk_mark, daddr, inet_sk(sk)->inet_saddr,
			 sin6->sin6_port, inet_sk(sk)->inet_sport);
}
