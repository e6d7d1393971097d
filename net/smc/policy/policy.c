// SPDX-License-Identifier: GPL-2.0
/* The steering state of a namespace, created and freed with it. */
#include "policy.h"

static unsigned int smc_steer_id __ro_after_init;

static int __net_init smc_steer_net_init(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	sn->steer = net_generic(net, smc_steer_id);
	smc_filter_init(&sn->steer->filter);
	smc_autocache_init(&sn->steer->autocache);
	smc_autosmc_init(&sn->steer->autosmc);
	return 0;
}

static void __net_exit smc_steer_net_exit(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	smc_filter_flush(sn);
	smc_autocache_exit(&sn->steer->autocache);
	smc_autosmc_flush(sn);
}

struct pernet_operations smc_steer_net_ops = {
	.init	= smc_steer_net_init,
	.exit	= smc_steer_net_exit,
	.id	= &smc_steer_id,
	.size	= sizeof(struct smc_steer),
};
