// SPDX-License-Identifier: GPL-2.0
/*
 * DMBs.  Their memory is the device's, which frees it when a DMB or the device goes; but a socket
 * may read from it for longer.  So we take a reference to the memory, and use no device whose
 * memory has none.
 */
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "dism.h"

/* The memory as something with references, or NULL if it is not. */
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
 * A device that does not give a DMB back does not free it, either, so its last write hits nobody
 * else's memory.
 */
static void __make_unknown(struct dism_dev *d, struct dism_dmb *own)
{
	struct dibs_dmb copy = own->dibs;

	lockdep_assert_held(&d->lock);
	if (!own->known)
		return;
	own->known = false;
	/* It clears the address. */
	if (d->dibs->ops->unregister_dmb(d->dibs, &copy))
		dev_warn_ratelimited(&d->dibs->dev, "does not give back a DMB\n");
	xa_erase(&d->dmbs, own->dibs.idx);
}

/**
 * dism_register_dmb() - smc_ism_ops.register_dmb
 * @dev: the device
 * @dmb: the DMB
 * @peer: who may write into it
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int dism_register_dmb(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb,
		      const struct smc_ism_gid *peer)
{
	struct dism_dmb *own = kzalloc(sizeof(*own), GFP_KERNEL);
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
	/* The peer is not told of it before we return. */
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
	/* Nothing puts it into the list any more; it may be in there. */
	flush_work(&d->tell);
	folio_put(virt_to_folio(own->dibs.cpu_addr));
	kfree(own);
}

/**
 * dism_close_dmbs() - the device goes; connections may hold their DMBs for longer
 * @d: the device, unregistered from SMC-D; it is not called any more from here on
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
	/* No move is under way. */
	synchronize_rcu();
}

/**
 * dism_move() - smc_ism_ops.move
 * @dev: the device
 * @token: the peer's DMB
 * @offset: where in it
 * @data: the bytes to write
 * @len: their number
 * @signal: tell the peer
 *
 * Context: any but hard interrupts.
 * Return: 0, or a negative errno if a part was not written.
 */
int dism_move(struct smc_ism_dev *dev, u64 token, u32 offset, const void *data, u32 len,
	      bool signal)
{
	struct dism_dev *d = to_dism(dev);
	int rc = -ENODEV;

	/* Loopback-ism takes a lock that a softirq of ours must not find taken. */
	local_bh_disable();
	/* The end of the device waits for this. */
	rcu_read_lock();
	if (!READ_ONCE(d->closed))
		rc = dism_errno(d->dibs->ops->move_data(d->dibs, token, 0, signal, offset,
							(void *)data, len));
	rcu_read_unlock();
	local_bh_enable();
	return rc;
}
