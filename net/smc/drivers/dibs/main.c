// SPDX-License-Identifier: GPL-2.0
/*
 * The module smc_ism_dibs: a client of dibs that offers its devices to SMC-D.
 *
 * dibs announces a device before it forwards interrupts to us, so the device is registered with
 * SMC-D a moment later.  A client must unregister all its DMBs before it goes, and those of a
 * device before that device goes.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/wait.h>
#if IS_ENABLED(CONFIG_S390)
#include <linux/pci.h>
#include <asm/pci.h>
#include <asm/processor.h>
#endif
#include "../ism_pci/format.h"
#include "dism.h"

#define DISM_MAX_CODE	6		/* 16 KiB << 6 */
/* dibs names loopback-ism by the CHID that our own loopback has, so it gets another one here. */
#define DISM_LOOPBACK_CHID	0xfffe

/* Off by default: our own loopback is faster and reaches the same peers. */
static bool loopback;
module_param(loopback, bool, 0444);
MODULE_PARM_DESC(loopback, "Use loopback-ism, too");

struct workqueue_struct *dism_wq;
static DEFINE_MUTEX(dism_devs_lock);
static LIST_HEAD(dism_devs);
static bool leaving;
static atomic_t dism_all;
static DECLARE_WAIT_QUEUE_HEAD(dism_freed);

/* ---- operations for SMC-D ---- */

/* Returns the dibs device, which stays until dism_unlock(), or NULL if it is closed. */
static struct dibs_dev *dism_lock(struct dism_dev *d)
{
	mutex_lock(&d->lock);
	return d->closed ? NULL : d->dibs;
}

static int dism_unlock(struct dism_dev *d, int rc)
{
	mutex_unlock(&d->lock);
	return dism_errno(rc);
}

static int dism_query_gid(struct smc_ism_dev *dev, const struct smc_ism_gid *peer, u16 vlan)
{
	struct dism_dev *d = to_dism(dev);
	struct dibs_dev *dibs = dism_lock(d);
	bool tagged = vlan != SMC_ISM_NO_VLAN;
	int rc = -ENODEV;
	uuid_t uuid;

	dism_gid_to_uuid(peer, &uuid);
	if (dibs)
		rc = dibs->ops->query_remote_gid(dibs, &uuid, tagged, tagged ? vlan : 0);
	return dism_unlock(d, rc);
}

static int dism_vlan_add(struct smc_ism_dev *dev, u16 vlan)
{
	struct dism_dev *d = to_dism(dev);
	struct dibs_dev *dibs = dism_lock(d);

	return dism_unlock(d, dibs ? dibs->ops->add_vlan_id(dibs, vlan) : -ENODEV);
}

static void dism_vlan_del(struct smc_ism_dev *dev, u16 vlan)
{
	struct dism_dev *d = to_dism(dev);
	struct dibs_dev *dibs = dism_lock(d);

	if (dibs)
		dibs->ops->del_vlan_id(dibs, vlan);
	dism_unlock(d, 0);
}

static void end_work(struct work_struct *work)
{
	struct dism_dev *d = container_of(work, struct dism_dev, end);

	xa_destroy(&d->dmbs);
	put_device(&d->dibs->dev);
	kfree(d);
	if (atomic_dec_and_test(&dism_all))
		wake_up_all(&dism_freed);
}

/* The last connection that used the device is gone. */
static void dism_release(struct smc_ism_dev *dev)
{
	queue_work(dism_wq, &to_dism(dev)->end);
}

static const struct smc_ism_ops dism_ops = {
	.owner		= THIS_MODULE,
	.query_gid	= dism_query_gid,
	.vlan_add	= dism_vlan_add,
	.vlan_del	= dism_vlan_del,
	.register_dmb	= dism_register_dmb,
	.unregister_dmb	= dism_unregister_dmb,
	.move		= dism_move,
	.release	= dism_release,
};

/* ---- identification ---- */

/* dibs provides neither system EID nor PNETID: get them from the CPU and the PCI function. */
static void identify_s390(struct dism_dev *d)
{
#if IS_ENABLED(CONFIG_S390)
	struct zpci_dev *zdev;
	struct cpuid id;

	get_cpu_id(&id);
	ism_seid(d->seid, id.ident, id.machine);
	if (!d->dibs->dev.parent || !dev_is_pci(d->dibs->dev.parent))
		return;
	zdev = to_zpci(to_pci_dev(d->dibs->dev.parent));
	if (zdev->util_str_avail)
		ism_pnetid(d->dev.pnetid, zdev->util_str);
#endif
}

static bool identify(struct dism_dev *d)
{
	const struct dibs_dev_ops *ops = d->dibs->ops;
	struct smc_ism_dev *dev = &d->dev;
	u16 fabric = ops->get_fabric_id(d->dibs);

	if (fabric == DIBS_LOOPBACK_FABRIC && !loopback)
		return false;
	dev->ops = &dism_ops;
	dev->name = dev_name(&d->dibs->dev);
	dev->parent = &d->dibs->dev;
	dev->revokes = true;
	dev->self = fabric == DIBS_LOOPBACK_FABRIC;
	dev->chid = fabric == DIBS_LOOPBACK_FABRIC ? DISM_LOOPBACK_CHID : fabric;
	dev->max_code = DISM_MAX_CODE;
	dism_uuid_to_gid(&d->dibs->gid, &dev->gid);
	/* SMC-Dv1 has no room for extended GIDs, and needs VLANs. */
	dev->v1 = !dev->gid.ext && ops->add_vlan_id && ops->del_vlan_id;
	if (dev->v1) {
		identify_s390(d);
		/* Only a function that supports SMC-Dv2 accepts this VLAN. */
		dev->no_v2 = dism_vlan_add(dev, SMC_ISM_ANY_VLAN);
		if (IS_ENABLED(CONFIG_S390) && !dev->no_v2)
			dev->seid = d->seid;
	}
	return true;
}

/* Does dibs forward interrupts to us? */
static bool forwards(struct dism_dev *d)
{
	bool yes;

	spin_lock_irq(&d->dibs->lock);
	yes = d->dibs->subs[dism_client.id] == &dism_client;
	spin_unlock_irq(&d->dibs->lock);
	return yes;
}

/* dibs starts to forward interrupts right after add_dev, but does not notify us: poll for it. */
static void online_work(struct work_struct *work)
{
	struct dism_dev *d = container_of(to_delayed_work(work), struct dism_dev, online);

	if (!forwards(d)) {
		queue_delayed_work(dism_wq, &d->online, 1);
		return;
	}
	if (smc_ism_register(&d->dev))
		dev_warn(&d->dibs->dev, "cannot be used for SMC-D\n");
	else
		d->registered = true;
}

/* ---- lifetime ---- */

/* Unregister a device from SMC-D, and make no more calls to dibs for it. */
static void __close(struct dism_dev *d)
{
	lockdep_assert_held(&dism_devs_lock);
	cancel_delayed_work_sync(&d->online);
	if (d->registered)
		smc_ism_unregister(&d->dev);
	d->registered = false;
	if (d->dev.v1 && !d->dev.no_v2)
		dism_vlan_del(&d->dev, SMC_ISM_ANY_VLAN);
	dism_close_dmbs(d);
}

static void dism_add(struct dibs_dev *dibs)
{
	struct dism_dev *d = kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return;
	d->dibs = dibs;
	mutex_init(&d->lock);
	xa_init(&d->dmbs);
	dism_events_init(d);
	INIT_DELAYED_WORK(&d->online, online_work);
	INIT_WORK(&d->end, end_work);
	refcount_set(&d->dev.ref, 1);
	mutex_lock(&dism_devs_lock);
	if (leaving || !identify(d)) {
		mutex_unlock(&dism_devs_lock);
		kfree(d);
		return;
	}
	get_device(&dibs->dev);
	atomic_inc(&dism_all);
	list_add_tail(&d->list, &dism_devs);
	dibs_set_priv(dibs, &dism_client, d);
	queue_delayed_work(dism_wq, &d->online, 0);
	mutex_unlock(&dism_devs_lock);
}

static void dism_del(struct dibs_dev *dibs)
{
	struct dism_dev *d = dibs_get_priv(dibs, &dism_client);

	if (!d)
		return;
	mutex_lock(&dism_devs_lock);
	__close(d);
	list_del(&d->list);
	mutex_unlock(&dism_devs_lock);
	dibs_set_priv(dibs, &dism_client, NULL);
	dism_events_exit(d);
	smc_ism_put(&d->dev);
}

static const struct dibs_client_ops client_ops = {
	.add_dev	= dism_add,
	.del_dev	= dism_del,
	.handle_irq	= dism_handle_irq,
	.handle_event	= dism_handle_event,
};

struct dibs_client dism_client = {
	.name	= "smc_ism_dibs",
	.ops	= &client_ops,
};

static int __init dism_module_init(void)
{
	int rc;

	/* WQ_MEM_RECLAIM: the end of a peer must be handled even when memory is short. */
	dism_wq = alloc_workqueue("smc_ism_dibs", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!dism_wq)
		return -ENOMEM;
	rc = dibs_register_client(&dism_client);
	if (rc)
		destroy_workqueue(dism_wq);
	return rc;
}

/* Connections pin the module, so there are none.  Link groups end without waiting for peers. */
static void __exit dism_module_exit(void)
{
	struct dism_dev *d;

	mutex_lock(&dism_devs_lock);
	leaving = true;
	list_for_each_entry(d, &dism_devs, list)
		__close(d);
	mutex_unlock(&dism_devs_lock);
	dibs_unregister_client(&dism_client);
	wait_event(dism_freed, !atomic_read(&dism_all));
	destroy_workqueue(dism_wq);
	/* Wait for callers that have not returned from dism_release() yet. */
	synchronize_rcu_tasks();
}

module_init(dism_module_init);
module_exit(dism_module_exit);
MODULE_DESCRIPTION("SMC-D over devices of dibs: loopback-ism, IBM's ISM function");
MODULE_AUTHOR("The AF_SMC authors");
MODULE_VERSION(SMC_VERSION);
MODULE_LICENSE("GPL");
