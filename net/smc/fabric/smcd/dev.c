// SPDX-License-Identifier: GPL-2.0
/* The ISM devices of this host.  They come and go; connections hold references to them. */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include "../../config/eid.h"
#include "../../lock_class.h"
#include "../../smc.h"
#include "dev.h"

LIST_HEAD(smc_ism_devs);
static DEFINE_MUTEX(ism_devs_lock);	/* serializes writers of the list and of the two below */
static u32 ism_last_number = SMC_LOOPBACK_NUMBER;
static unsigned int ism_seq = 1;

static bool ops_complete(const struct smc_ism_ops *ops)
{
	if (!ops->query_gid || !ops->register_dmb || !ops->unregister_dmb || !ops->release)
		return false;
	return smc_ism_is_mapped(ops) ? ops->unmap && ops->signal : !!ops->move;
}

/* SMC-Dv1 messages have no room for an extended GID. */
static bool versions_valid(const struct smc_ism_dev *dev)
{
	if (dev->v1)
		return !smcd_dev_emulated(dev) && dev->ops->vlan_add && dev->ops->vlan_del;
	return !dev->no_v2;
}

/* The first registered device that has a system EID determines it. */
static void __choose_seid(void)
{
	const struct smc_ism_dev *dev;

	lockdep_assert_held(&ism_devs_lock);
	list_for_each_entry(dev, &smc_ism_devs, list) {
		if (dev->seid) {
			smc_seid_set(dev->seid);
			return;
		}
	}
	smc_seid_set(NULL);
}

/* Strip blanks, and clear a PNETID that is not valid. */
static void tidy_pnetid(struct smc_ism_dev *dev)
{
	char pnetid[SMC_PNETID_LEN + 1] = "";

	dev->pnetid[SMC_ISM_PNETID_LEN] = 0;
	smc_pnetid_parse(dev->pnetid, strlen(dev->pnetid), pnetid);
	strscpy(dev->pnetid, pnetid, sizeof(dev->pnetid));
}

/**
 * smc_ism_register() - register a device
 * @dev: the device, initialised by its driver
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL if a function or attribute is missing or invalid; -EEXIST if there is a device
 * with the same CHID and GID.
 */
int smc_ism_register(struct smc_ism_dev *dev)
{
	const struct smc_ism_dev *other;
	int rc = 0;

	if (WARN_ON_ONCE(!ops_complete(dev->ops) || !dev->name || !versions_valid(dev)) ||
	    dev->chid == SMC_CHID_LOOPBACK || (dev->seid && !smc_eid_valid(dev->seid)))
		return -EINVAL;
	tidy_pnetid(dev);
	mutex_lock(&ism_devs_lock);
	list_for_each_entry(other, &smc_ism_devs, list)
		if (other->chid == dev->chid && smc_ism_gid_equal(&other->gid, &dev->gid))
			rc = -EEXIST;
	if (!rc) {
		refcount_set(&dev->ref, 1);
		atomic_set(&dev->n_lgrs, 0);
		smc_spin_lock_init(&dev->conns_lock, SMC_LOCK_ISM_CONNS);
		INIT_LIST_HEAD(&dev->conns);
		smc_mutex_init(&dev->vlan_lock, SMC_LOCK_ISM_VLANS);
		dev->n_vlans = 0;
		dev->gone = false;
		dev->number = ++ism_last_number;
		list_add_tail_rcu(&dev->list, &smc_ism_devs);
		WRITE_ONCE(ism_seq, smc_next_seq(ism_seq));
		__choose_seid();
	}
	mutex_unlock(&ism_devs_lock);
	if (!rc)
		pr_info("smc: ISM device %s, CHID %04x\n", dev->name, dev->chid);
	return rc;
}
EXPORT_SYMBOL_GPL(smc_ism_register);

/**
 * smc_ism_put() - drop the driver's reference
 * @dev: the device, unregistered; @dev->ops->release is called when its last user is gone
 *
 * Context: any.
 */
void smc_ism_put(struct smc_ism_dev *dev)
{
	if (refcount_dec_and_test(&dev->ref))
		dev->ops->release(dev);
}
EXPORT_SYMBOL_GPL(smc_ism_put);

/**
 * smcd_dev_remove() - take a device off the list
 * @dev: the device
 *
 * Context: process, may sleep.
 */
void smcd_dev_remove(struct smc_ism_dev *dev)
{
	mutex_lock(&ism_devs_lock);
	WRITE_ONCE(dev->gone, true);
	list_del_rcu(&dev->list);
	WRITE_ONCE(ism_seq, smc_next_seq(ism_seq));
	__choose_seid();
	mutex_unlock(&ism_devs_lock);
	/* Afterwards each walk that found the device has a reference, or has skipped it. */
	synchronize_rcu();
}

/* Changes whenever the list of devices changes; never 0. */
unsigned int smcd_devs_seq(void)
{
	return READ_ONCE(ism_seq);
}

/**
 * smcd_dev_tryget() - get references to a device and its driver
 * @dev: the device, found in the list under RCU
 *
 * Context: any.
 * Return: false if the device or its driver is about to go.
 */
bool smcd_dev_tryget(struct smc_ism_dev *dev)
{
	if (!try_module_get(dev->ops->owner))
		return false;
	if (refcount_inc_not_zero(&dev->ref))
		return true;
	module_put(dev->ops->owner);
	return false;
}

/**
 * smcd_dev_put() - undo smcd_dev_tryget()
 * @dev: the device
 *
 * Context: any.
 */
void smcd_dev_put(struct smc_ism_dev *dev)
{
	struct module *owner = dev->ops->owner;

	smc_ism_put(dev);
	module_put(owner);
}

/**
 * smcd_dev_next() - iterate over the devices
 * @after: number of the previous device, 0 for the first call
 *
 * Context: any.
 * Return: the device, referenced, or NULL at the end.
 */
struct smc_ism_dev *smcd_dev_next(u32 after)
{
	struct smc_ism_dev *dev, *next = NULL;

	rcu_read_lock();
	/* The list is in ascending order of numbers. */
	list_for_each_entry_rcu(dev, &smc_ism_devs, list) {
		if (dev->number > after && smcd_dev_tryget(dev)) {
			next = dev;
			break;
		}
	}
	rcu_read_unlock();
	return next;
}
