// SPDX-License-Identifier: GPL-2.0
/* Our DMBs, which the function writes into for peers, and moves into the DMBs of peers. */
#include <linux/dma-mapping.h>
#include <linux/slab.h>
#include "ism_pci.h"

/**
 * struct ism_dmb - private data of a DMB (smc_ism_dmb.priv)
 * @addr:	DMA address
 * @index:	index of its state bit
 * @known:	registered with the function, and @addr is mapped; under ism_pci.dmb_lock
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

/* From here on the DMB may be signalled. */
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

/*
 * Map memory that the function may write to at any time.  The CPU must see the writes without a
 * sync, so a mapping that needs one (swiotlb) is refused.
 */
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

/* Fails after ism_dmbs_exit(), which would not unmap the DMB any more. */
static int make_known(struct ism_pci *ism, struct smc_ism_dmb *dmb, u64 peer)
{
	struct ism_dmb *own = dmb->priv;
	struct ism_register_dmb request = {
		.len = cpu_to_be32(dmb->size), .index = cpu_to_be32(own->index),
		/* Without a VLAN, only the peer's GID restricts access to the DMB. */
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
 * Make the function stop writing into a DMB.  A function that does not confirm this is lost, as it
 * might write at any time; a lost function cannot write, because it is no longer a bus master.
 */
static void __make_unknown(struct ism_pci *ism, struct smc_ism_dmb *dmb)
{
	struct ism_dmb *own = dmb->priv;

	lockdep_assert_held(&ism->dmb_lock);
	if (!own->known)
		return;
	if (ism_tell(ism, ISM_UNREGISTER_DMB, dmb->token) == -EIO)
		ism_lose(ism, "it does not release a DMB");
	__unshare_dmb(ism, dmb);
}

/**
 * ism_register_dmb() - smc_ism_ops.register_dmb
 * @dev: the device
 * @dmb: the DMB
 * @peer: the only peer that may write into it
 *
 * The memory is not allocated from the PCI device, which may be gone before the last socket closes.
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int ism_register_dmb(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb,
		     const struct smc_ism_gid *peer)
{
	struct ism_dmb *own = kzalloc(sizeof(*own), SMC_ISM_GFP);
	struct ism_pci *ism = to_ism(dev);
	int rc = -ENOMEM;

	if (!own)
		return rc;
	dmb->priv = own;
	dmb->mem = kzalloc(dmb->size, GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY);
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
 * ism_dmbs_exit() - unregister all DMBs from the function; connections may still use the memory
 * @ism: the function, unregistered from SMC-D; no more DMBs can be registered with it
 *
 * Context: process, may sleep.
 */
void ism_dmbs_exit(struct ism_pci *ism)
{
	unsigned int index;

	mutex_lock(&ism->dmb_lock);
	ism->closed = true;
	/* The table is stable: changing it requires both dmb_lock and table_lock. */
	for_each_set_bit(index, ism->used, ISM_SBA_DMBS)
		__make_unknown(ism, ism->dmbs[index]);
	mutex_unlock(&ism->dmb_lock);
}

/**
 * ism_move() - smc_ism_ops.move
 * @dev: the device
 * @token: token of the peer's DMB
 * @offset: offset in the DMB
 * @data: the bytes to write
 * @len: number of bytes
 * @signal: signal the peer after the last byte
 *
 * Context: any but hard interrupts.
 * Return: 0, or a negative errno if not all bytes were written.
 */
int ism_move(struct smc_ism_dev *dev, u64 token, u32 offset, const void *data, u32 len,
	     bool signal)
{
	struct ism_pci *ism = to_ism(dev);
	int rc = 0;
	u32 n;

	if (offset > ISM_MOVE_MAX_OFFSET || len > ISM_MOVE_MAX_OFFSET - offset)
		return -EINVAL;
	/* seal() waits for the end of this section. */
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
