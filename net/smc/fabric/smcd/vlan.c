// SPDX-License-Identifier: GPL-2.0
/*
 * The VLANs that ISM devices have joined, for SMC-Dv1.  A peer's query for our GID names the VLAN,
 * so the device must have joined it before a Proposal is sent.  The device stays in the VLAN until
 * it needs the room for another one.
 */
#include "dev.h"
#include "vlan.h"

static int __find(const struct smc_ism_dev *dev, u16 vlan)
{
	unsigned int i;

	lockdep_assert_held(&dev->vlan_lock);
	for (i = 0; i < dev->n_vlans; i++)
		if (dev->vlans[i].id == vlan)
			return i;
	return -ENOENT;
}

/* Close the gap, to keep the VLANs in order of their last use. */
static void __remove(struct smc_ism_dev *dev, unsigned int i)
{
	lockdep_assert_held(&dev->vlan_lock);
	dev->n_vlans--;
	memmove(&dev->vlans[i], &dev->vlans[i + 1], (dev->n_vlans - i) * sizeof(dev->vlans[i]));
}

/* Leave the VLAN whose last use is the longest ago, unless link groups need it. */
static int __make_room(struct smc_ism_dev *dev)
{
	unsigned int i;

	lockdep_assert_held(&dev->vlan_lock);
	if (dev->n_vlans < SMC_ISM_VLANS)
		return 0;
	for (i = 0; i < dev->n_vlans; i++) {
		if (dev->vlans[i].n_lgrs)
			continue;
		dev->ops->vlan_del(dev, dev->vlans[i].id);
		__remove(dev, i);
		return 0;
	}
	return -ENOSPC;
}

static int __join(struct smc_ism_dev *dev, u16 vlan)
{
	struct smc_ism_vlan entry = { .id = vlan };
	int i, rc;

	lockdep_assert_held(&dev->vlan_lock);
	i = __find(dev, vlan);
	if (i >= 0) {
		entry = dev->vlans[i];
		__remove(dev, i);
	} else {
		rc = __make_room(dev);
		if (!rc)
			rc = READ_ONCE(dev->gone) ? -ENODEV : dev->ops->vlan_add(dev, vlan);
		if (rc)
			return rc;
	}
	dev->vlans[dev->n_vlans++] = entry;
	return 0;
}

/**
 * smcd_vlan_join() - make a device join a VLAN
 * @dev: the device
 * @vlan: the VLAN, SMC_ISM_NO_VLAN or SMC_ISM_ANY_VLAN
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int smcd_vlan_join(struct smc_ism_dev *dev, u16 vlan)
{
	int rc = 0;

	if (smc_ism_is_vlan(vlan)) {
		mutex_lock(&dev->vlan_lock);
		rc = __join(dev, vlan);
		mutex_unlock(&dev->vlan_lock);
	}
	return rc;
}

/**
 * smcd_vlan_hold() - make a device join a VLAN and stay there
 * @dev: the device
 * @vlan: the VLAN, SMC_ISM_NO_VLAN or SMC_ISM_ANY_VLAN
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int smcd_vlan_hold(struct smc_ism_dev *dev, u16 vlan)
{
	int rc = 0;

	if (smc_ism_is_vlan(vlan)) {
		mutex_lock(&dev->vlan_lock);
		rc = __join(dev, vlan);
		if (!rc)
			dev->vlans[dev->n_vlans - 1].n_lgrs++;
		mutex_unlock(&dev->vlan_lock);
	}
	return rc;
}

/**
 * smcd_vlan_release() - undo smcd_vlan_hold()
 * @dev: the device
 * @vlan: the VLAN, SMC_ISM_NO_VLAN or SMC_ISM_ANY_VLAN
 *
 * Context: process, may sleep.
 */
void smcd_vlan_release(struct smc_ism_dev *dev, u16 vlan)
{
	int i;

	if (!smc_ism_is_vlan(vlan))
		return;
	mutex_lock(&dev->vlan_lock);
	i = __find(dev, vlan);
	/* If the device is gone, it has left all VLANs. */
	if (i >= 0)
		dev->vlans[i].n_lgrs--;
	mutex_unlock(&dev->vlan_lock);
}

/**
 * smcd_vlans_leave() - leave all VLANs of a device that goes away
 * @dev: the device, marked as gone
 *
 * Context: process, may sleep.
 */
void smcd_vlans_leave(struct smc_ism_dev *dev)
{
	mutex_lock(&dev->vlan_lock);
	while (dev->n_vlans)
		dev->ops->vlan_del(dev, dev->vlans[--dev->n_vlans].id);
	mutex_unlock(&dev->vlan_lock);
}
