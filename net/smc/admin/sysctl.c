// SPDX-License-Identifier: GPL-2.0
/* net.smc.*, per network namespace. */
#include <linux/slab.h>
#include <linux/sysctl.h>
#include "../mem/limit.h"
#include "../mem/rmbe.h"
#include "../netns.h"
#include "../policy/policy.h"
#include "../smc.h"
#include "../wire/clc.h"
#include "sysctl.h"

static int buf_min = SMC_CLC_SIZE_MIN;
static int buf_max = SMC_CLC_SIZE_MIN << SMC_SIZE_CODE_LIMIT;

static int conns_min = 16, conns_max = 255;
static int lgrs_max = 65536;
static int wr_min = 4, wr_max = 16384;
static int time_max = 86400;	/* a day, in seconds */

static int do_mem_max(smc_ctl_table *ctl, int write, void *buffer, size_t *lenp,
		      loff_t *ppos)
{
	struct smc_net *sn = container_of(ctl->data, struct smc_net, mem_max);
	int rc = proc_doulongvec_minmax(ctl, write, buffer, lenp, ppos);

	if (!rc && write)
		smc_mem_limit_set(sn->mem_limit, READ_ONCE(sn->mem_max));
	return rc;
}

static int do_autosmc(smc_ctl_table *ctl, int write, void *buffer, size_t *lenp,
		      loff_t *ppos)
{
	struct smc_net *sn = container_of(ctl->data, struct smc_net, autosmc);
	int rc = proc_dointvec_minmax(ctl, write, buffer, lenp, ppos);

	if (!rc && write)
		smc_steer_switch(sn, SMC_STEER_AUTOSMC, READ_ONCE(sn->autosmc));
	return rc;
}

#define MEM_MAX_ENTRY	2
#define MAX_LGRS_ENTRY	3

static const struct ctl_table smc_table[] = {
	{
		.procname	= "wmem",
		.data		= (void *)offsetof(struct smc_net, wmem),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &buf_min,
		.extra2		= &buf_max,
	},
	{
		.procname	= "rmem",
		.data		= (void *)offsetof(struct smc_net, rmem),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= &buf_min,
		.extra2		= &buf_max,
	},
	[MEM_MAX_ENTRY] = {
		.procname	= "mem_max",
		.data		= (void *)offsetof(struct smc_net, mem_max),
		.maxlen		= sizeof(unsigned long),
		.mode		= 0644,
		.proc_handler	= do_mem_max,
	},
	[MAX_LGRS_ENTRY] = {
		.procname	= "smcr_max_lgrs",
		.data		= (void *)offsetof(struct smc_net, smcr_max_lgrs),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ONE,
		.extra2		= &lgrs_max,
	},
	{
		.procname	= "limit_smc_hs",
		.data		= (void *)offsetof(struct smc_net, limit_hs),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
#define INT_ENTRY(name, member, min, max)				\
	{								\
		.procname	= name,					\
		.data		= (void *)offsetof(struct smc_net, member), \
		.maxlen		= sizeof(int),				\
		.mode		= 0644,					\
		.proc_handler	= proc_dointvec_minmax,			\
		.extra1		= min,					\
		.extra2		= max,					\
	}
	{
		.procname	= "autosmc",
		.data		= (void *)offsetof(struct smc_net, autosmc),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= do_autosmc,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_TWO,
	},
	INT_ENTRY("autosmc_retry_time", autosmc_retry, SYSCTL_ONE, &time_max),
	INT_ENTRY("autocache_time", autocache_time, SYSCTL_ZERO, &time_max),
	INT_ENTRY("autocorking_size", autocorking_size, SYSCTL_ZERO, SYSCTL_INT_MAX),
	INT_ENTRY("rmem_max", rmem_max, &buf_min, &buf_max),
	INT_ENTRY("smcr_buf_type", smcr_buf_type, SYSCTL_ZERO, SYSCTL_TWO),
	INT_ENTRY("smcr_max_conns_per_lgr", smcr_max_conns, &conns_min, &conns_max),
	INT_ENTRY("smcr_max_links_per_lgr", smcr_max_links, SYSCTL_ONE, SYSCTL_TWO),
	INT_ENTRY("smcr_max_lgrs_per_peer", smcr_max_lgrs_per_peer, SYSCTL_ONE, &lgrs_max),
	INT_ENTRY("smcr_max_send_wr", smcr_max_send_wr, &wr_min, &wr_max),
	INT_ENTRY("smcr_max_recv_wr", smcr_max_recv_wr, &wr_min, &wr_max),
	INT_ENTRY("smcr_testlink_time", smcr_testlink_time, SYSCTL_ZERO, &time_max),
	INT_ENTRY("lgr_idle_time", lgr_idle_time, SYSCTL_ZERO, &time_max),
	INT_ENTRY("loopback_pairing", loopback_pairing, SYSCTL_ZERO, SYSCTL_ONE),
	{
		.procname	= "enable",
		.data		= (void *)offsetof(struct smc_net, enable),
		.maxlen		= sizeof(int),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
	/* This must be the last entry, because only the initial namespace has it. */
	{
		.procname	= "mem_max_host",
		.data		= &smc_host_mem_max,
		.maxlen		= sizeof(unsigned long),
		.mode		= 0644,
		.proc_handler	= proc_doulongvec_minmax,
	},
};

static int __net_init smc_sysctl_net_init(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	size_t n = ARRAY_SIZE(smc_table) - !net_eq(net, &init_net), i;
	struct ctl_table *table;

	/* One extra entry: before 6.6, an empty entry ends a table. */
	table = kcalloc(ARRAY_SIZE(smc_table) + 1, sizeof(*table), SMC_GFP_CHARGED);
	if (!table)
		return -ENOMEM;
	memcpy(table, smc_table, n * sizeof(*table));
	for (i = 0; i < ARRAY_SIZE(smc_table) - 1; i++)
		table[i].data = (char *)sn + (uintptr_t)table[i].data;
	/* The limits protect the host, so root of another user namespace must not change them. */
	if (net->user_ns != &init_user_ns) {
		table[MEM_MAX_ENTRY].mode = 0444;
		table[MAX_LGRS_ENTRY].mode = 0444;
	}
	sn->sysctl = register_net_sysctl_sz(net, "net/smc", table, n);
	if (!sn->sysctl) {
		kfree(table);
		return -ENOMEM;
	}
	sn->sysctl_table = table;
	return 0;
}

static void __net_exit smc_sysctl_net_exit(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	unregister_net_sysctl_table(sn->sysctl);
	kfree(sn->sysctl_table);
}

struct pernet_operations smc_sysctl_net_ops = {
	.init	= smc_sysctl_net_init,
	.exit	= smc_sysctl_net_exit,
};
