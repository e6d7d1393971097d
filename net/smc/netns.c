// SPDX-License-Identifier: GPL-2.0
/* Network namespaces come and go. */
#include <linux/mm.h>
#include "fabric/rdma/rdma.h"
#include "group/buf.h"
#include "netns.h"
#include "stats.h"

unsigned int smc_net_id __ro_after_init;

static unsigned long part_of_memory(unsigned int part)
{
	return max_t(unsigned long, (totalram_pages() << PAGE_SHIFT) / part, 16ul << 20);
}

static int __net_init smc_net_init(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	int rc = -ENOMEM;

	sn->net = net;
	sn->enable = 1;
	sn->wmem = 256 << 10;
	sn->rmem = 256 << 10;
	smc_pnet_init(sn);
	smc_steer_init(sn);
	spin_lock_init(&sn->lgrs.lock);
	INIT_LIST_HEAD(&sn->lgrs.list);
	sn->lgrs.seq = 1;
	sn->autocorking_size = 64 << 10;
	sn->smcr_buf_type = SMC_MEM_MIXED;
	sn->smcr_max_conns = 255;
	sn->smcr_max_links = 2;
	sn->smcr_max_lgrs = 1024;
	sn->smcr_max_lgrs_per_peer = 64;
	sn->smcr_max_send_wr = 64;
	sn->smcr_max_recv_wr = 512;
	sn->smcr_testlink_time = 30;
	sn->lgr_idle_time = 600;
	/* An eighth of the memory, as z/OS caps what SMC may fix. */
	sn->mem_max = part_of_memory(8);
	sn->stats = alloc_percpu(struct smc_stats);
	if (!sn->stats)
		return -ENOMEM;
	sn->budget = smc_budget_new(sn->mem_max, net->user_ns != &init_user_ns);
	if (!sn->budget)
		goto err_stats;
	sn->pools = smc_pools_new(sn->budget, SMC_MEM_MIXED, NULL, NULL);
	rc = sn->pools ? smc_sysctl_init(sn) : -ENOMEM;
	if (!rc)
		return 0;
	if (sn->pools)
		smc_pools_close(sn->pools);
	smc_budget_put(sn->budget);
err_stats:
	free_percpu(sn->stats);
	return rc;
}

static void __net_exit smc_net_exit(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	smc_sysctl_exit(sn);
	smc_rdma_net_exit(sn);
	smc_pnet_exit(sn);
	smc_steer_exit(sn);
	smc_pools_close(sn->pools);
	smc_budget_put(sn->budget);
	free_percpu(sn->stats);
}

static struct pernet_operations smc_net_ops = {
	.init	= smc_net_init,
	.exit	= smc_net_exit,
	.id	= &smc_net_id,
	.size	= sizeof(struct smc_net),
};

int __init smc_netns_init(void)
{
	smc_host_mem_max = part_of_memory(4);
	return register_pernet_subsys(&smc_net_ops);
}

void smc_netns_exit(void)
{
	unregister_pernet_subsys(&smc_net_ops);
}
