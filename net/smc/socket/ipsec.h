/* SPDX-License-Identifier: GPL-2.0 */
/*
 * IPsec: data that a policy protects must not bypass TCP.
 *
 * The check is made for each connection. A client checks when TCP has chosen addresses, ports and
 * route, but has not built the SYN yet. A server checks each SYN that carries the option, before it
 * builds the SYN-ACK. In the common case, without any policy, nothing is looked up.
 */
#ifndef SMC_IPSEC_H
#define SMC_IPSEC_H

#include <net/sock.h>
#include <net/xfrm.h>

struct dst_entry;
struct sk_buff;

/**
 * smc_ipsec_any() - could any IPsec policy apply to connections of this socket?
 * @sk: the socket
 *
 * Return: true if a policy could apply.
 */
static inline bool smc_ipsec_any(const struct sock *sk)
{
#ifdef CONFIG_XFRM
	const struct net *net = sock_net(sk);

	return rcu_access_pointer(sk->sk_policy[XFRM_POLICY_OUT]) ||
	       READ_ONCE(net->xfrm.policy_count[XFRM_POLICY_OUT]) ||
	       READ_ONCE(net->xfrm.policy_count[XFRM_POLICY_IN]);
#else
	return false;
#endif
}

/**
 * smc_ipsec_policies() - has the socket policies of its own, whatever they say?
 * @sk: the socket
 *
 * Return: true if so.
 */
static inline bool smc_ipsec_policies(const struct sock *sk)
{
#ifdef CONFIG_XFRM
	return rcu_access_pointer(sk->sk_policy[XFRM_POLICY_IN]) ||
	       rcu_access_pointer(sk->sk_policy[XFRM_POLICY_OUT]);
#else
	return false;
#endif
}

bool smc_ipsec_own(const struct sock *sk);
bool smc_ipsec_dst(const struct dst_entry *dst);
bool smc_ipsec_syn(const struct sock *listener, struct sk_buff *syn);
bool smc_ipsec_to_mapped(const struct sock *sk, const struct sockaddr_unsized *addr, int len);

#endif
