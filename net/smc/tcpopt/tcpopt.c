// SPDX-License-Identifier: GPL-2.0
/* Selects how the option is exchanged, and implements the way that requires no kernel support. */
#include <linux/module.h>
#include <linux/smc.h>
#include <net/inet_connection_sock.h>
#include "ways.h"

static char *tcp_option;
module_param(tcp_option, charp, 0444);
MODULE_PARM_DESC(tcp_option, "How TCP option 254 gets onto the wire: hooks, netfilter or none");

const struct smc_tcpopt *smc_tcpopt __ro_after_init;

static int no_init(const struct smc_tcpopt_owner *owner)
{
	return 0;
}

static void no_exit(void)
{
}

static void no_adapt(struct inet_connection_sock_af_ops *ops, int family)
{
}

static void no_change(struct sock *sk)
{
}

static void no_idle(struct net *net)
{
}

static bool no_way(const struct net *net)
{
	return false;
}

static bool no_answer(const struct sock *sk)
{
	return false;
}

static int no_conn_request(struct sock *listener, struct sk_buff *syn,
			   int (*tcp)(struct sock *sk, struct sk_buff *skb))
{
	return tcp(listener, syn);
}

static void no_ignore(struct request_sock *req)
{
}

static bool no_request(const struct sock *listener, const struct sock *child,
		       const struct request_sock *req)
{
	return false;
}

static const struct smc_tcpopt smc_tcpopt_none = {
	.name		= "none",
	.number		= SMC_TCP_OPTION_BY_NONE,
	.init		= no_init,
	.exit		= no_exit,
	.adapt		= no_adapt,
	.born		= no_change,
	.idle		= no_idle,
	.works		= no_way,
	.in_place	= no_way,
	.offer		= no_change,
	.connecting	= no_change,
	.answered	= no_answer,
	.listen		= no_change,
	.conn_request	= no_conn_request,
	.ignore		= no_ignore,
	.requested	= no_request,
	.clear		= no_change,
};

/* The ways that this kernel supports, the preferred one first. */
static const struct smc_tcpopt *const ways[] = {
#ifdef SMC_HAVE_TCP_HOOKS
	&smc_tcpopt_hooks,
#endif
#ifdef CONFIG_NETFILTER
	&smc_tcpopt_netfilter,
#endif
	&smc_tcpopt_none,
};

static const struct smc_tcpopt * __init way_named(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(ways[i]->name, name))
			return ways[i];
	return NULL;
}

/**
 * smc_tcpopt_init() - select the way to exchange the option, before any SMC socket is created
 * @owner: callbacks about sockets
 *
 * Context: process.
 * Return: 0 or a negative errno; -EINVAL if this kernel does not support the requested way.
 */
int __init smc_tcpopt_init(const struct smc_tcpopt_owner *owner)
{
	const struct smc_tcpopt *way = tcp_option ? way_named(tcp_option) : ways[0];
	int rc;

	if (!way) {
		pr_err("smc: tcp_option=%s is not available here; the default is %s\n",
		       tcp_option, ways[0]->name);
		return -EINVAL;
	}
	/* Show the selected way in sysfs. */
	tcp_option = (char *)way->name;
	rc = way->init(owner);
	if (!rc)
		smc_tcpopt = way;
	return rc;
}

/**
 * smc_tcpopt_exit() - undo smc_tcpopt_init(); no SMC socket may exist any more
 *
 * Context: process.
 */
void smc_tcpopt_exit(void)
{
	smc_tcpopt->exit();
}
