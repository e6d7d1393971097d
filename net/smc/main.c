// SPDX-License-Identifier: GPL-2.0
/* The module: registers everything in order, and unregisters it. */
#include <linux/module.h>
#include "admin/genl.h"
#include "admin/sysctl.h"
#include "config/eid.h"
#include "config/pnet.h"
#include "conn/napi.h"
#include "coverage.h"
#include "events.h"
#include "fabric/fabric.h"
#include "fabric/rdma/rdma.h"
#include "fabric/smcd/smcd.h"
#include "handshake/handshake.h"
#include "lock_class.h"
#include "mem/limit.h"
#include "netns.h"
#include "policy/policy.h"
#include "socket/socket.h"
#include "stats.h"

struct workqueue_struct *smc_wq;
struct workqueue_struct *smc_hs_wq;
struct workqueue_struct *smc_close_wq;
struct workqueue_struct *smc_link_wq;
struct workqueue_struct *smc_end_wq;

/* Separate queues, because much work of one kind must not keep the others from running. */
static const struct {
	struct workqueue_struct **wq;
	const char *name;
} smc_queues[] = {
	{ &smc_wq, "smc" },
	{ &smc_hs_wq, "smc_hs" },
	{ &smc_close_wq, "smc_close" },
	{ &smc_link_wq, "smc_link" },
	{ &smc_end_wq, "smc_end" },
};

static void free_queues(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(smc_queues); i++)
		if (*smc_queues[i].wq)
			destroy_workqueue(*smc_queues[i].wq);
}

static int __init make_queues(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(smc_queues); i++) {
		*smc_queues[i].wq = alloc_workqueue("%s", WQ_UNBOUND, WQ_MAX_ACTIVE,
						    smc_queues[i].name);
		if (!*smc_queues[i].wq) {
			free_queues();
			return -ENOMEM;
		}
	}
	return 0;
}

/*
 * The per-namespace state, set up in this order and torn down in reverse order. smc_net_ops sets up
 * struct smc_net, which all the others use. Fabrics register their own operations after these, so
 * their state is torn down before the memory that it uses.
 */
static struct pernet_operations *const smc_pernet[] = {
	&smc_net_ops,
	&smc_stats_net_ops,
	&smc_events_net_ops,
	&smc_registry_net_ops,
	&smc_mem_net_ops,
	&smc_pnet_net_ops,
	&smc_steer_net_ops,
	&smc_sysctl_net_ops,
};

static void smc_netns_exit(unsigned int n)
{
	while (n--)
		unregister_pernet_subsys(smc_pernet[n]);
}

static int __init smc_netns_init(void)
{
	unsigned int i;
	int rc;

	for (i = 0; i < ARRAY_SIZE(smc_pernet); i++) {
		rc = register_pernet_subsys(smc_pernet[i]);
		if (rc) {
			smc_netns_exit(i);
			return rc;
		}
	}
	return 0;
}

static int __init init_parts(void)
{
	int rc;

	smc_lock_order();
	rc = make_queues();
	if (rc)
		return rc;
	smc_eid_init();
	smc_mem_init();
	smc_wait_init();
	rc = smc_netns_init();
	if (rc)
		goto err_wq;
	rc = smc_hs_init();
	if (rc)
		goto err_netns;
	rc = smc_loopback_init();
	if (rc)
		goto err_hs;
	rc = smcd_init();
	if (rc)
		goto err_loopback;
	rc = smc_rdma_init();
	if (rc)
		goto err_smcd;
	rc = smc_family_init();
	if (rc)
		goto err_rdma;
	/* Users may send requests from here on, so everything that these read must be in place. */
	rc = smc_genl_init();
	if (rc)
		goto err_family;
	rc = smc_genl_pnet_init();
	if (rc)
		goto err_genl;
	rc = smc_napi_init();
	if (rc)
		goto err_genl_pnet;
	/* Last, because sockets that exist by then would make a rollback impossible. */
	rc = smc_family_open();
	if (rc)
		goto err_napi;
	smc_coverage_init();
	return 0;

err_napi:
	smc_napi_exit();
err_genl_pnet:
	smc_genl_pnet_exit();
err_genl:
	smc_genl_exit();
err_family:
	smc_family_exit();
err_rdma:
	smc_rdma_exit();
err_smcd:
	smcd_exit();
err_loopback:
	smc_loopback_exit();
err_hs:
	smc_hs_exit();
err_netns:
	smc_netns_exit(ARRAY_SIZE(smc_pernet));
err_wq:
	free_queues();
	return rc;
}

static int __init smc_init(void)
{
	int rc = smc_family_claim();

	if (rc)
		return rc;
	rc = init_parts();
	if (rc)
		smc_family_unclaim();
	return rc;
}

static void __exit smc_exit(void)
{
	smc_coverage_exit();
	smc_genl_pnet_exit();
	smc_genl_exit();
	smc_family_close();
	smc_family_unclaim();
	smc_family_exit();
	/* Wait for timers and callbacks that may have dropped a last reference. */
	synchronize_rcu();
	smc_napi_exit();
	flush_workqueue(smc_hs_wq);
	flush_workqueue(smc_close_wq);
	flush_workqueue(smc_wq);
	flush_workqueue(smc_link_wq);
	smc_rdma_exit();
	smcd_exit();
	smc_loopback_exit();
	smc_netns_exit(ARRAY_SIZE(smc_pernet));
	free_queues();
	smc_hs_exit();
	rcu_barrier();
}

module_init(smc_init);
module_exit(smc_exit);

MODULE_DESCRIPTION("Shared Memory Communications sockets (AF_SMC)");
MODULE_AUTHOR("The AF_SMC authors");
MODULE_VERSION(SMC_VERSION);
MODULE_LICENSE("GPL");
MODULE_ALIAS_NETPROTO(PF_SMC);
MODULE_ALIAS_GENL_FAMILY(SMC_GENL_FAMILY_NAME);
MODULE_ALIAS_GENL_FAMILY(SMCR_GENL_FAMILY_NAME);
MODULE_ALIAS("net-pf-2-proto-256-type-1");
MODULE_ALIAS("net-pf-10-proto-256-type-1");
