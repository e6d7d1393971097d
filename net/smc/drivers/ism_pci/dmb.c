// SPDX-License-Identifier: GPL-2.0
/* DMBs: memory of ours that the function writes into for peers, and moves into theirs. */
#include <linux/dma-mapping.h>
#include <linux/slab.h>
#include "ism_pci.h"

/**
 * struct ism_dmb - smc_ism_dmb.priv
 * @addr:	address for the function
 * @index:	of its state bit
 * @known:	the function knows it, and @addr is mapped; under ism_pci.dmb_lock
 */
struct ism_dmb {
	dma_addr_t	addr;
	unsigned int	index;
	bool		known;
};

static void __set_entry(struct ism_pci *ism, unsigned int index, struct smc_ism_dmb *dmb)
{
	lockdep_assert_held(&ism->dmb_lock);
	spin_lock_bh(&ism->table_lock);
	ism->dmbs[index] = dmb;
	spin_unlock_bh(&ism->table_lock);
	__assign_bit(index, ism->used, !!dmb);
}

/* From here on it may be signalled. */
static int take_index(struct ism_pci *ism, struct smc_ism_dmb *dmb)
{
	struct ism_dmb *own = dmb->priv;
	int rc = -ENOSPC;

	mutex_lock(&ism->dmb_lock);
	own->index = find_next_zero_bit(ism->used, ISM_SBA_DMBS, ISM_SBA_FIRST);
	if (own->index < ISM_SBA_DMBS) {
		__set_entry(ism, own->index, dmb);
		rc = 0;
	}
	mutex_unlock(&ism->dmb_lock);
	return rc;
}

static void free_index(struct ism_pci *ism, unsigned int index)
{
	mutex_lock(&ism->dmb_lock);
	__set_entry(ism, index, NULL);
	mutex_unlock(&ism->dmb_lock);
}

/* Memory that the function may write into whenever it likes, and that we see at once. */
static int share_dmb(struct ism_pci *ism, struct smc_ism_dmb *dmb)
{
	struct ism_dmb *own = dmb->priv;
	struct device *dev = &ism->pdev->dev;

	own->addr = dma_map_single(dev, dmb->mem, dmb->size, DMA_FROM_DEVICE);
	if (dma_mapping_error(dev, own->addr))
		return -ENOMEM;
	if (!dma_need_sync(dev, own->addr))
		return 0;
	dma_unmap_single(dev, own->addr, dmb->size, DMA_FROM_DEVICE);
	return -ENOMEM;
}

static void __unshare_dmb(struct ism_pci *ism, struct smc_ism_dmb *dmb)
{
	struct ism_dmb *own = dmb->priv;

	lockdep_assert_held(&ism->dmb_lock);
	dma_unmap_single(&ism->pdev->dev, own->addr, dmb->size, DMA_FROM_DEVICE);
	own->known = false;
}

/* Not after ism_dmbs_exit(), which would not have unmapped it. */
static int make_known(struct ism_pci *ism, struct smc_ism_dmb *dmb, u64 peer)
{
	struct ism_dmb *own = dmb->priv;
	struct ism_register_dmb request = {
		.len = cpu_to_be32(dmb->size), .index = cpu_to_be32(own->index),
		/* Otherwise the DMB is restricted by its peer only. */
		.vlan_valid = cpu_to_be32(smc_ism_is_vlan(dmb->vlan)),
		.vlan = cpu_to_be32(smc_ism_is_vlan(dmb->vlan) ? dmb->vlan : 0),
		.peer = cpu_to_be64(peer),
	};
	struct ism_one answer;
	int rc = -ENODEV;

	mutex_lock(&ism->dmb_lock);
	if (!ism->closed)
		rc = share_dmb(ism, dmb);
	if (!rc) {
		own->known = true;
		request.addr = cpu_to_be64(own->addr);
		rc = ism_command(ism, ISM_REGISTER_DMB, &request, sizeof(request), &answer,
				 sizeof(answer));
		if (rc)
			__unshare_dmb(ism, dmb);
	}
	mutex_unlock(&ism->dmb_lock);
	if (!rc)
		dmb->token = be64_to_cpu(answer.value);
	return rc;
}

/*
 * The function stops writing there.  If it does not confirm that, it is lost: its last write could
 * come at any time.  A function that is lost writes nothing.
 */
static void __make_unknown(struct ism_pci *ism, struct smc_ism_dmb *dmb)
{
	struct ism_dmb *own = dmb->priv;

	lockdep_assert_held(&ism->dmb_lock);
	if (!own->known)
		return;
	if (ism_tell(ism, ISM_UNREGISTER_DMB, dmb->token) == -EIO)
		ism_lose(ism, "it does not give back a DMB");
	__unshare_dmb(ism, dmb);
}

/**
 * ism_register_dmb() - smc_ism_ops.register_dmb
 * @dev: the device
 * @dmb: the DMB
 * @peer: the peer that may write into it
 *
 * Its memory does not belong to the PCI function, which may be gone before the last socket closes.
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int ism_register_dmb(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb,
		     const struct smc_ism_gid *peer)
{
	struct ism_dmb *own = kzalloc(sizeof(*own), GFP_KERNEL);
	struct ism_pci *ism = to_ism(dev);
	int rc = -ENOMEM;

	if (!own)
		return rc;
	dmb->priv = own;
	dmb->mem = kzalloc(dmb->size, GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY);
	if (!dmb->mem)
		goto err_own;
	rc = take_index(ism, dmb);
	if (rc)
		goto err_mem;
	rc = make_known(ism, dmb, peer->id);
	if (!rc)
		return 0;
	free_index(ism, own->index);
err_mem:
	kfree(dmb->mem);
err_own:
	kfree(own);
	return rc;
}

/**
 * ism_unregister_dmb() - smc_ism_ops.unregister_dmb
 * @dev: the device
 * @dmb: the DMB
 *
 * Context: process, may sleep.
 */
void ism_unregister_dmb(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb)
{
	struct ism_pci *ism = to_ism(dev);
	struct ism_dmb *own = dmb->priv;

	mutex_lock(&ism->dmb_lock);
	__make_unknown(ism, dmb);
	__set_entry(ism, own->index, NULL);
	mutex_unlock(&ism->dmb_lock);
	kfree(dmb->mem);
	kfree(own);
}

/**
 * ism_dmbs_exit() - the function goes; connections may hold their DMBs for longer
 * @ism: the function, unregistered from SMC-D; from here on no DMB is made known to it
 *
 * Context: process, may sleep.
 */
void ism_dmbs_exit(struct ism_pci *ism)
{
	unsigned int index;

	mutex_lock(&ism->dmb_lock);
	ism->closed = true;
	/* Nobody changes the table meanwhile, as that takes both locks. */
	for_each_set_bit(index, ism->used, ISM_SBA_DMBS)
		__make_unknown(ism, ism->dmbs[index]);
	mutex_unlock(&ism->dmb_lock);
}

/**
 * ism_move() - smc_ism_ops.move
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
int ism_move(struct smc_ism_dev *dev, u64 token, u32 offset, const void *data, u32 len,
	     bool signal)
{
	struct ism_pci *ism = to_ism(dev);
	int rc = 0;
	u32 n;

	if (offset > ISM_MOVE_MAX_OFFSET || len > ISM_MOVE_MAX_OFFSET - offset)
		return -EINVAL;
	/* The end of the function waits for this. */
	rcu_read_lock();
	for (; len && !rc; offset += n, data += n, len -= n) {
		n = min_t(u32, len, ISM_MOVE_PAGE - offset % ISM_MOVE_PAGE);
		rc = ism_gone(ism) ? -ENODEV :
		     ism->access->move(ism, ism_move_target(token, 0, offset, signal && n == len),
				       data, n);
	}
	rcu_read_unlock();
	if (rc == -ENODEV)
		ism_lose(ism, "it does not move data");
	return rc;
}
