// SPDX-License-Identifier: GPL-2.0
/* Setup of a network namespace: its default settings. */
#include "netns.h"

unsigned int smc_net_id __ro_after_init;

static int __net_init smc_net_init(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	smc_compat_no_hs_ctrl(net);
	sn->net = net;
	sn->enable = 1;
	sn->loopback_pairing = 1;
	sn->wmem = 256 << 10;
	sn->rmem = 256 << 10;
	sn->rmem_max = 1 << 20;
	sn->autocorking_size = 64 << 10;
	sn->autosmc_retry = 60;
	sn->smcr_max_conns = 255;
	sn->smcr_max_links = 2;
	sn->smcr_max_lgrs = 1024;
	sn->smcr_max_lgrs_per_peer = 64;
	sn->smcr_max_send_wr = 64;
	sn->smcr_max_recv_wr = 512;
	sn->smcr_testlink_time = 30;
	sn->lgr_idle_time = 600;
	return 0;
}

struct pernet_operations smc_net_ops = {
	.init	= smc_net_init,
	.id	= &smc_net_id,
	.size	= sizeof(struct smc_net),
};
