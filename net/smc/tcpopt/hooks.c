// SPDX-License-Identifier: GPL-2.0
/*
 * The option as exchanged by TCP itself, which has hooks for SMC in kernels with CONFIG_SMC.
 *
 *	tcp_have_smc		static key: enables the other hooks
 *	syn_smc			on a connecting socket: the SYN carries the option; TCP clears it
 *				if the SYN-ACK does not.  On a listener: it answers the option.
 *				Children inherit the flag, and TCP clears it in a child whose SYN
 *				was not answered with the option
 *	smc_hs_congested	on a listener: called for each SYN with the option
 *	smc_ok			on a request: the SYN had the option and the listener accepted it.
 *				On a client: the peer's SYN or SYN-ACK had it
 */
#include <linux/smc.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "ways.h"

#ifdef SMC_HAVE_TCP_HOOKS

static bool (*hooks_refuse)(const struct sock *listener);

static int hooks_init(const struct smc_tcpopt_owner *owner)
{
	hooks_refuse = owner->refuses;
	static_branch_enable(&tcp_have_smc);
	return 0;
}

static void hooks_exit(void)
{
	static_branch_disable(&tcp_have_smc);
}

static void hooks_adapt(struct inet_connection_sock_af_ops *ops, int family)
{
}

/* TCP reads the pointer twice, so it is set when a socket is created and never cleared. */
static void hooks_born(struct sock *sk)
{
	tcp_sk(sk)->smc_hs_congested = hooks_refuse;
}

static void hooks_idle(struct net *net)
{
}

static bool hooks_work(const struct net *net)
{
	return true;
}

static void hooks_offer(struct sock *sk)
{
	tcp_sk(sk)->syn_smc = true;
}

static void hooks_connecting(struct sock *sk)
{
}

static bool hooks_answered(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	/*
	 * In a simultaneous open the peer's SYN comes without an ACK. TCP does not clear syn_smc
	 * then, but knows whether that SYN had the option.
	 *
	 * Without the lock, a disconnect() may be clearing them, or a connect() setting them again.
	 */
	return data_race(tp->syn_smc && tp->rx_opt.smc_ok);
}

static int hooks_conn_request(struct sock *listener, struct sk_buff *syn,
			      int (*tcp)(struct sock *sk, struct sk_buff *skb))
{
	return tcp(listener, syn);
}

static void hooks_ignore(struct request_sock *req)
{
	inet_rsk(req)->smc_ok = 0;
}

static bool hooks_requested(const struct sock *listener, const struct sock *child,
			    const struct request_sock *req)
{
	/* It was a plain TCP listener's, whose SYN-ACK had no option, and migrates to this one. */
	if (req->rsk_listener != listener)
		return false;
	return tcp_sk(child)->syn_smc;
}

static void hooks_clear(struct sock *sk)
{
	tcp_sk(sk)->syn_smc = false;
}

const struct smc_tcpopt smc_tcpopt_hooks = {
	.name		= "hooks",
	.number		= SMC_TCP_OPTION_BY_HOOKS,
	.init		= hooks_init,
	.exit		= hooks_exit,
	.adapt		= hooks_adapt,
	.born		= hooks_born,
	.idle		= hooks_idle,
	.works		= hooks_work,
	.in_place	= hooks_work,
	.offer		= hooks_offer,
	.connecting	= hooks_connecting,
	.answered	= hooks_answered,
	.listen		= hooks_offer,
	.conn_request	= hooks_conn_request,
	.ignore		= hooks_ignore,
	.requested	= hooks_requested,
	.clear		= hooks_clear,
};

#endif
