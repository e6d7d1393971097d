// SPDX-License-Identifier: GPL-2.0
/* Sets up the memory limits of namespaces and of the host. */
#include <linux/mm.h>
#include "../netns.h"
#include "limit.h"
#include "pool.h"

static unsigned long part_of_memory(unsigned int part)
{
	return max_t(unsigned long, (totalram_pages() << PAGE_SHIFT) / part, 16ul << 20);
}

static int __net_init smc_mem_net_init(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	/* An eighth of the host's memory, like z/OS's limit on the memory that SMC may fix. */
	sn->mem_max = part_of_memory(8);
	sn->smcr_buf_type = SMC_MEM_MIXED;
	sn->mem_limit = smc_mem_limit_new(sn->mem_max, net->user_ns != &init_user_ns);
	return sn->mem_limit ? 0 : -ENOMEM;
}

static void __net_exit smc_mem_net_exit(struct net *net)
{
	smc_mem_limit_put(smc_net(net)->mem_limit);
}

struct pernet_operations smc_mem_net_ops = {
	.init	= smc_mem_net_init,
	.exit	= smc_mem_net_exit,
};

/**
 * smc_mem_init() - set the memory limit of all namespaces together
 */
void __init smc_mem_init(void)
{
	smc_host_mem_max = part_of_memory(4);
}
