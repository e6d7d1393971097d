// SPDX-License-Identifier: GPL-2.0
/* Both ends of a connection, as filter rules see them. */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/tcp.h>
#include "policy.h"

static struct smc_ip ip_v4(__be32 address)
{
	return smc_ip_v4(be32_to_cpu(address));
}

static struct smc_ip ip_v6(const struct in6_addr *address)
{
	return smc_ip_v6(address->s6_addr);
}

/**
 * smc_flow_of_sock() - describe a connection whose addresses TCP knows
 * @sk: the socket, about to send its SYN or later
 * @flow: receives the description
 * @in: the connection was made to a listener here
 */
void smc_flow_of_sock(const struct sock *sk, struct smc_flow *flow, bool in)
{
	flow->in = in;
	flow->any_port = false;
	flow->port[SMC_LOCAL] = be16_to_cpu(inet_sk(sk)->inet_sport);
	flow->port[SMC_REMOTE] = be16_to_cpu(sk->sk_dport);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		flow->ip[SMC_LOCAL] = ip_v6(&inet6_sk(sk)->saddr);
		flow->ip[SMC_REMOTE] = ip_v6(&sk->sk_v6_daddr);
		return;
	}
#endif
	flow->ip[SMC_LOCAL] = ip_v4(inet_sk(sk)->inet_saddr);
	flow->ip[SMC_REMOTE] = ip_v4(sk->sk_daddr);
}

/**
 * smc_flow_of_syn() - describe the connection that a SYN requests
 * @syn: the SYN, as TCP has received it
 * @flow: receives the description
 */
void smc_flow_of_syn(const struct sk_buff *syn, struct smc_flow *flow)
{
	const struct tcphdr *th = tcp_hdr(syn);

	flow->in = true;
	flow->any_port = false;
	flow->port[SMC_LOCAL] = be16_to_cpu(th->dest);
	flow->port[SMC_REMOTE] = be16_to_cpu(th->source);
#if IS_ENABLED(CONFIG_IPV6)
	if (syn->protocol == htons(ETH_P_IPV6)) {
		flow->ip[SMC_LOCAL] = ip_v6(&ipv6_hdr(syn)->daddr);
		flow->ip[SMC_REMOTE] = ip_v6(&ipv6_hdr(syn)->saddr);
		return;
	}
#endif
	flow->ip[SMC_LOCAL] = ip_v4(ip_hdr(syn)->daddr);
	flow->ip[SMC_REMOTE] = ip_v4(ip_hdr(syn)->saddr);
}

/**
 * smc_flow_destination() - get the destination of a connect() call
 * @sk: the socket
 * @addr: the argument of connect()
 * @len: length of @addr
 * @ip: receives the address
 * @port: receives the port
 *
 * Return: false if TCP will refuse the destination.
 */
bool smc_flow_destination(const struct sock *sk, const struct sockaddr_unsized *addr, int len,
			  struct smc_ip *ip, u16 *port)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *sin = (const struct sockaddr_in *)addr;

	if (addr->sa_family != sk->sk_family)
		return false;
	if (sk->sk_family == AF_INET6 && len >= SIN6_LEN_RFC2133) {
		*ip = ip_v6(&sin6->sin6_addr);
		*port = be16_to_cpu(sin6->sin6_port);
		return true;
	}
	if (sk->sk_family == AF_INET && len >= (int)sizeof(*sin)) {
		*ip = ip_v4(sin->sin_addr.s_addr);
		*port = be16_to_cpu(sin->sin_port);
		return true;
	}
	return false;
}

/**
 * smc_mapped_destination() - will an IPv6 socket connect over IPv4?
 * @sk: the socket, before it connects
 * @addr: the destination
 * @len: length of @addr
 * @daddr: receives the IPv4 address
 *
 * For a socket that is bound to an IPv4-mapped address, :: means ::ffff:127.0.0.1.
 *
 * Return: true if so.
 */
bool smc_mapped_destination(const struct sock *sk, const struct sockaddr_unsized *addr, int len,
			    __be32 *daddr)
{
#if IS_ENABLED(CONFIG_IPV6)
	const struct in6_addr *to = &((const struct sockaddr_in6 *)addr)->sin6_addr;

	if (sk->sk_family != AF_INET6 || len < SIN6_LEN_RFC2133 || addr->sa_family != AF_INET6)
		return false;
	if (ipv6_addr_v4mapped(to)) {
		*daddr = to->s6_addr32[3];
		return true;
	}
	*daddr = htonl(INADDR_LOOPBACK);
	return ipv6_addr_any(to) && ipv6_addr_v4mapped(&sk->sk_v6_rcv_saddr);
#else
	*daddr = 0;
	return false;
#endif
}

/**
 * smc_flow_to_mapped() - describe an IPv6 socket's connection over IPv4
 * @sk: the socket, before it connects
 * @addr: the destination
 * @len: length of @addr
 * @flow: receives the description
 *
 * TCP does not call us when it has chosen the local end of such a connection. The address is
 * therefore taken from the route; the port is unknown unless the socket is bound.
 *
 * Return: true if the connection will be over IPv4 and there is a route.
 */
bool smc_flow_to_mapped(const struct sock *sk, const struct sockaddr_unsized *addr, int len,
			struct smc_flow *flow)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	struct flowi4 fl4;
	struct rtable *rt;
	__be32 daddr;

	if (!smc_mapped_destination(sk, addr, len, &daddr))
		return false;
	flowi4_init_output(&fl4, sk->sk_bound_dev_if, sk->sk_mark,
			   RT_TOS(READ_ONCE(inet_sk(sk)->tos)),
			   sock_flag(sk, SOCK_LOCALROUTE) ? RT_SCOPE_LINK :
							    RT_SCOPE_UNIVERSE,
			   IPPROTO_TCP, inet_sk_flowi_flags(sk),
			   daddr, inet_sk(sk)->inet_saddr,
			   sin6->sin6_port, inet_sk(sk)->inet_sport, sk->sk_uid);
	rt = __ip_route_output_key(sock_net(sk), &fl4);
	if (IS_ERR(rt))
		return false;
	ip_rt_put(rt);
	flow->in = false;
	flow->any_port = !inet_sk(sk)->inet_sport;
	flow->port[SMC_LOCAL] = be16_to_cpu(inet_sk(sk)->inet_sport);
	flow->port[SMC_REMOTE] = be16_to_cpu(sin6->sin6_port);
	flow->ip[SMC_LOCAL] = ip_v4(fl4.saddr);
	flow->ip[SMC_REMOTE] = ip_v4(fl4.daddr);
	return true;
}
