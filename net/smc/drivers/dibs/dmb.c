// SPDX-License-Identifier: GPL-2.0
/*
 * DMBs.  The device allocates their memory, and frees it when the DMB is unregistered or the device
 * goes away.  A socket may still read from it after that.  So we hold a reference to the memory,
 * and refuse devices whose memory has no reference count.
 */
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "dism.h"

/* Returns the folio of the memory, or NULL if it is not a folio that can be referenced. */
static struct folio *folio_of(const struct dibs_dmb *dmb)
{
	struct folio *folio;

	if (!virt_addr_valid(dmb->cpu_addr))
		return NULL;
	folio = virt_to_folio(dmb->cpu_addr);
	if (folio_test_slab(folio) || folio_address(folio) != dmb->cpu_addr ||
	    folio_size(folio) < dmb->dmb_len)
		return NULL;
	return folio;
}

static int __make_known(struct dism_dev *d, struct dism_dmb *own)
{
	struct folio *folio;
	int rc;

	lockdep_assert_held(&d->lock);
	if (d->closed)
		return -ENODEV;
	rc = dism_errno(d->dibs->ops->register_dmb(d->dibs, &own->dibs, &dism_client));
	if (rc)
		return rc;
	folio = folio_of(&own->dibs);
	rc = folio ? xa_err(xa_store(&d->dmbs, own->dibs.idx, own, GFP_KERNEL)) : -EOPNOTSUPP;
	if (rc) {
		d->dibs->ops->unregister_dmb(d->dibs, &own->dibs);
		return rc;
	}
	folio_get(folio);
	own->known = true;
	return 0;
}

/*
 * A device that fails to unregister a DMB does not free its memory, either.  So a late write hits
 * no memory that has a new user.
 */
static void __make_unknown(struct dism_dev *d, struct dism_dmb *own)
{
	struct dibs_dmb copy = own->dibs;

	lockdep_assert_held(&d->lock);
	if (!own->known)
		return;
	own->known = false;
	/* Pass a copy: the device clears the address. */
	if (d->dibs->ops->unregister_dmb(d->dibs, &copy))
		dev_warn_ratelimited(&d->dibs->dev, "does not release a DMB\n");
	xa_erase(&d->dmbs, own->dibs.idx);
}

/**
 * dism_register_dmb() - smc_ism_ops.register_dmb
 * @dev: the device
 * @dmb: the DMB
 * @peer: the only peer that may write into it
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int dism_register_dmb(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb,
		      const struct smc_ism_gid *peer)
{
	struct dism_dmb *own = kzalloc(sizeof(*own), SMC_ISM_GFP);
	struct dism_dev *d = to_dism(dev);
	int rc;

	if (!own)
		return -ENOMEM;
	own->dmb = dmb;
	own->dibs.dmb_len = dmb->size;
	own->dibs.vlan_valid = smc_ism_is_vlan(dmb->vlan);
	own->dibs.vlan_id = smc_ism_is_vlan(dmb->vlan) ? dmb->vlan : 0;
	dism_gid_to_uuid(peer, &own->dibs.rgid);
	dmb->priv = own;
	mutex_lock(&d->lock);
	rc = __make_known(d, own);
	mutex_unlock(&d->lock);
	if (rc) {
		kfree(own);
		return rc;
	}
	/* The peer does not know the DMB before we return. */
	memset(own->dibs.cpu_addr, 0, dmb->size);
	dmb->mem = own->dibs.cpu_addr;
	dmb->token = own->dibs.dmb_tok;
	return 0;
}

/**
 * dism_unregister_dmb() - smc_ism_ops.unregister_dmb
 * @dev: the device
 * @dmb: the DMB
 *
 * Context: process, may sleep.
 */
void dism_unregister_dmb(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb)
{
	struct dism_dev *d = to_dism(dev);
	struct dism_dmb *own = dmb->priv;

	mutex_lock(&d->lock);
	__make_unknown(d, own);
	mutex_unlock(&d->lock);
	/* The DMB cannot be queued any more, but may still be in the list. */
	flush_work(&d->tell);
	folio_put(virt_to_folio(own->dibs.cpu_addr));
	kfree(own);
}

/**
 * dism_close_dmbs() - unregister all DMBs from the device; connections may still use the memory
 * @d: the device, unregistered from SMC-D; after this it is not called any more
 *
 * Context: process, may sleep.
 */
void dism_close_dmbs(struct dism_dev *d)
{
	struct dism_dmb *own;
	unsigned long index;

	mutex_lock(&d->lock);
	WRITE_ONCE(d->closed, true);
	xa_for_each(&d->dmbs, index, own)
		__make_unknown(d, own);
	mutex_unlock(&d->lock);
	/* Wait for moves that have not seen @closed. */
	synchronize_rcu();
}

/**
 * dism_move() - smc_ism_ops.move
 * @dev: the device
 * @token: token of the peer's DMB
 * @offset: offset in the DMB
 * @data: the bytes to write
 * @len: number of bytes
 * @signal: signal the peer
 *
 * Context: any but hard interrupts.
 * Return: 0, or a negative errno if not all bytes were written.
 */
int dism_move(struct smc_ism_dev *dev, u64 token, u32 offset, const void *data, u32 len,
	      bool signal)
{
	struct dism_dev *d = to_dism(dev);
	int rc = -ENODEV;

	/* Loopback-ism takes a lock that our softirqs take as well. */
	local_bh_disable();
	/* dism_close_dmbs() waits for the end of this section. */
	rcu_read_lock();
	if (!READ_ONCE(d->closed))
		rc = dism_errno(d->dibs->ops->move_data(d->dibs, token, 0, signal, offset,
							(void *)data, len));
	rcu_read_unlock();
	local_bh_enable();
	return rc;
}
