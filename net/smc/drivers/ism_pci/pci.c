// SPDX-License-Identifier: GPL-2.0
/* IBM's ISM function as a PCI device: probe, remove, loss, and registration with SMC-D. */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "ism_pci.h"

/* A DMB is physically contiguous and does not cross a boundary of this size. */
#define ISM_DMB_MAX	SZ_1M
#define ISM_MAX_CODE	6	/* 16 KiB << 6 */

struct workqueue_struct *ism_wq;
static atomic_t ism_all;
static DECLARE_WAIT_QUEUE_HEAD(ism_freed);

static int ism_query_gid(struct smc_ism_dev *dev, const struct smc_ism_gid *peer, u16 vlan)
{
	struct ism_query_gid request = {
		.gid = cpu_to_be64(peer->id), .vlan_valid = cpu_to_be32(vlan != SMC_ISM_NO_VLAN),
		.vlan = cpu_to_be32(vlan != SMC_ISM_NO_VLAN ? vlan : 0),
	};
	struct ism_head answer;

	if (peer->ext)
		return -ENODEV;
	return ism_command(to_ism(dev), ISM_QUERY_GID, &request, sizeof(request), &answer,
			   sizeof(answer));
}

static int ism_vlan_add(struct smc_ism_dev *dev, u16 vlan)
{
	return ism_tell(to_ism(dev), ISM_ADD_VLAN, vlan);
}

static void ism_vlan_del(struct smc_ism_dev *dev, u16 vlan)
{
	ism_tell(to_ism(dev), ISM_DELETE_VLAN, vlan);
}

/* ---- lifetime ---- */

static struct ism_pci *ism_of(struct work_struct *offline)
{
	return container_of(offline, struct ism_pci, offline);
}

/* Only this work unregisters the device, as both a loss and a remove may request it. */
static void offline_work(struct work_struct *work)
{
	struct ism_pci *ism = ism_of(work);

	if (!READ_ONCE(ism->registered))
		return;
	WRITE_ONCE(ism->registered, false);
	smc_ism_unregister(&ism->dev);
}

/**
 * ism_lose() - stop using a function that misbehaves
 * @ism: the function
 * @why: the reason, for the log
 *
 * Its connections end.  It stays bound to the driver, without effect, until it is bound anew.
 *
 * Context: any but hard interrupts.
 */
void ism_lose(struct ism_pci *ism, const char *why)
{
	if (test_and_set_bit(ISM_GONE, &ism->flags))
		return;
	/* Its DMBs are about to be freed: it must not write to them any more. */
	pci_clear_master(ism->pdev);
	pci_err(ism->pdev, "lost: %s\n", why);
	queue_work(ism_wq, &ism->offline);
}

/* After this no command or move is running, and none can start. */
static void seal(struct ism_pci *ism)
{
	set_bit(ISM_GONE, &ism->flags);
	mutex_lock(&ism->command_lock);
	mutex_unlock(&ism->command_lock);
	synchronize_rcu();
	cancel_work_sync(&ism->offline);
}

static void ism_free(struct ism_pci *ism)
{
	pci_dev_put(ism->pdev);
	kfree(ism);
	if (atomic_dec_and_test(&ism_all))
		wake_up_all(&ism_freed);
}

static void end_work(struct work_struct *work)
{
	ism_free(container_of(work, struct ism_pci, end));
}

/* The last connection that used the device is gone. */
static void ism_release(struct smc_ism_dev *dev)
{
	queue_work(ism_wq, &to_ism(dev)->end);
}

static const struct smc_ism_ops ism_ops = {
	.owner		= THIS_MODULE,
	.query_gid	= ism_query_gid,
	.vlan_add	= ism_vlan_add,
	.vlan_del	= ism_vlan_del,
	.register_dmb	= ism_register_dmb,
	.unregister_dmb	= ism_unregister_dmb,
	.move		= ism_move,
	.release	= ism_release,
};

static struct ism_pci *ism_alloc(struct pci_dev *pdev)
{
	struct ism_pci *ism = kzalloc(sizeof(*ism), GFP_KERNEL);

	if (!ism)
		return NULL;
	ism->pdev = pci_dev_get(pdev);
	ism->access = &ism_access;
	mutex_init(&ism->command_lock);
	mutex_init(&ism->dmb_lock);
	spin_lock_init(&ism->table_lock);
	INIT_WORK(&ism->offline, offline_work);
	INIT_WORK(&ism->end, end_work);
	atomic_inc(&ism_all);
	return ism;
}

/* ---- the PCI function ---- */

static int enable(struct pci_dev *pdev)
{
	int rc = pci_enable_device_mem(pdev);

	if (rc)
		return rc;
	rc = pci_request_mem_regions(pdev, "smc_ism_pci");
	if (rc)
		goto err_disable;
	rc = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (rc)
		goto err_regions;
	dma_set_max_seg_size(&pdev->dev, ISM_DMB_MAX);
	dma_set_seg_boundary(&pdev->dev, ISM_DMB_MAX - 1);
	pci_set_master(pdev);
	return 0;

err_regions:
	pci_release_mem_regions(pdev);
err_disable:
	pci_disable_device(pdev);
	return rc;
}

static void disable(struct pci_dev *pdev)
{
	pci_clear_master(pdev);
	pci_release_mem_regions(pdev);
	pci_disable_device(pdev);
}

static int identify(struct ism_pci *ism)
{
	struct smc_ism_dev *dev = &ism->dev;
	int rc = ism_ask(ism, ISM_READ_GID, &dev->gid.id);

	if (rc)
		return rc;
	/* Only a function that supports SMC-Dv2 accepts this VLAN. */
	rc = ism_tell(ism, ISM_ADD_VLAN, SMC_ISM_ANY_VLAN);
	dev->no_v2 = rc == -EIO;
	if (rc && !dev->no_v2)
		return rc;
	dev->v1 = true;
	dev->revokes = true;
	dev->ops = &ism_ops;
	dev->name = pci_name(ism->pdev);
	dev->parent = &ism->pdev->dev;
	dev->chid = ism->access->chid(ism);
	dev->max_code = ISM_MAX_CODE;
	ism->access->seid(ism, ism->seid);
	dev->seid = dev->no_v2 ? NULL : ism->seid;
	ism->access->pnetid(ism, dev->pnetid);
	return 0;
}

static void unidentify(struct ism_pci *ism)
{
	if (!ism->dev.no_v2)
		ism_tell(ism, ISM_DELETE_VLAN, SMC_ISM_ANY_VLAN);
}

static int go_online(struct ism_pci *ism)
{
	int rc = smc_ism_register(&ism->dev);

	if (rc)
		return rc;
	WRITE_ONCE(ism->registered, true);
	/* If it was lost meanwhile, either we see ISM_GONE, or the work sees @registered. */
	smp_mb();
	if (ism_gone(ism))
		queue_work(ism_wq, &ism->offline);
	return 0;
}

static int start(struct ism_pci *ism)
{
	int rc = ism_events_init(ism);

	if (rc)
		return rc;
	rc = identify(ism);
	if (rc)
		goto err_events;
	rc = go_online(ism);
	if (!rc)
		return 0;
	unidentify(ism);
err_events:
	ism_events_exit(ism);
	return rc;
}

static int ism_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct ism_pci *ism = ism_alloc(pdev);
	int rc = -ENOMEM;

	if (!ism)
		return rc;
	rc = enable(pdev);
	if (rc)
		goto err_ism;
	rc = ism->access->init(ism);
	if (rc)
		goto err_enable;
	rc = start(ism);
	if (rc)
		goto err_access;
	pci_set_drvdata(pdev, ism);
	return 0;

err_access:
	seal(ism);
	ism->access->exit(ism);
err_enable:
	disable(pdev);
err_ism:
	ism_free(ism);
	return rc;
}

/* Sockets may still hold connections and thereby the device, but cannot reach the function. */
static void ism_remove(struct pci_dev *pdev)
{
	struct ism_pci *ism = pci_get_drvdata(pdev);

	queue_work(ism_wq, &ism->offline);
	flush_work(&ism->offline);
	ism_dmbs_exit(ism);
	unidentify(ism);
	ism_events_exit(ism);
	seal(ism);
	ism->access->exit(ism);
	disable(pdev);
	smc_ism_put(&ism->dev);
}

static const struct pci_device_id ism_ids[] = {
	{ PCI_DEVICE(ISM_PCI_VENDOR, ISM_PCI_DEVICE) },
	{}
};
MODULE_DEVICE_TABLE(pci, ism_ids);

static struct pci_driver ism_driver = {
	.name		= "smc_ism_pci",
	.id_table	= ism_ids,
	.probe		= ism_probe,
	.remove		= ism_remove,
};

static int __init ism_module_init(void)
{
	int rc;

	/* WQ_MEM_RECLAIM: the loss of a function must be handled even when memory is short. */
	ism_wq = alloc_workqueue("smc_ism_pci", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!ism_wq)
		return -ENOMEM;
	rc = pci_register_driver(&ism_driver);
	if (rc)
		destroy_workqueue(ism_wq);
	return rc;
}

/*
 * Connections pin the module, so there are none.  Buffers and link groups may still hold a removed
 * device; SMC-D frees them without waiting for peers.
 */
static void __exit ism_module_exit(void)
{
	pci_unregister_driver(&ism_driver);
	wait_event(ism_freed, !atomic_read(&ism_all));
	destroy_workqueue(ism_wq);
	/* Wait for callers that have not returned from ism_release() yet. */
	synchronize_rcu_tasks();
}

module_init(ism_module_init);
module_exit(ism_module_exit);
MODULE_DESCRIPTION("SMC-D over IBM's ISM function");
MODULE_AUTHOR("The AF_SMC authors");
MODULE_VERSION(SMC_VERSION);
MODULE_LICENSE("GPL");
