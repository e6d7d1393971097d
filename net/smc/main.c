// SPDX-License-Identifier: GPL-2.0
/* The module: registration of everything, in order, and its undoing. */
#include <linux/module.h>
#include "admin/eid.h"
#include "admin/genl.h"
#include "fabric/fabric.h"
#include "fabric/rdma/rdma.h"
#include "handshake/handshake.h"
#include "netns.h"
#include "socket/socket.h"

struct workqueue_struct *smc_wq;

static int __init smc_init(void)
{
	int rc;

	/* Who waits for the lock of one socket keeps nobody else from running. */
	smc_wq = alloc_workqueue("smc", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!smc_wq)
		return -ENOMEM;
	smc_eid_init();
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
	rc = smc_rdma_init();
	if (rc)
		goto err_loopback;
	rc = smc_family_init();
	if (rc)
		goto err_rdma;
	rc = smc_genl_init();
	if (rc)
		goto err_family;
	rc = smc_genl_pnet_init();
	if (rc)
		goto err_genl;
	return 0;

err_genl:
	smc_genl_exit();
err_family:
	smc_family_exit();
err_rdma:
	smc_rdma_exit();
err_loopback:
	smc_loopback_exit();
err_hs:
	smc_hs_exit();
err_netns:
	smc_netns_exit();
err_wq:
	destroy_workqueue(smc_wq);
	return rc;
}

static void __exit smc_exit(void)
{
	smc_genl_pnet_exit();
	smc_genl_exit();
	smc_family_exit();
	/* Timers and callbacks that dropped the last reference have returned. */
	synchronize_rcu();
	flush_workqueue(smc_wq);
	smc_rdma_exit();
	smc_loopback_exit();
	smc_netns_exit();
	destroy_workqueue(smc_wq);
	smc_hs_exit();
	rcu_barrier();
}

module_init(smc_init);
module_exit(smc_exit);

MODULE_DESCRIPTION("Shared Memory Communications sockets (AF_SMC)");
MODULE_LICENSE("GPL");
MODULE_ALIAS_NETPROTO(PF_SMC);
MODULE_ALIAS_GENL_FAMILY(SMC_GENL_FAMILY_NAME);
MODULE_ALIAS_GENL_FAMILY(SMCR_GENL_FAMILY_NAME);
MODULE_ALIAS("net-pf-2-proto-256-type-1");
MODULE_ALIAS("net-pf-10-proto-256-type-1");
