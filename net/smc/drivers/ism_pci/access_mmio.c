// SPDX-License-Identifier: GPL-2.0
/*
 * Access to a model of IBM's function, on machines whose PCI devices have memory-mapped registers.
 * As with the real function, BAR 2 is the command area.  The address of a move is too wide for a
 * mapped BAR, so BAR 0 has a window for moves: the driver writes target and data, then the length,
 * which starts the move.  Reading the length returns the result.
 *
 * A User Mode Linux kernel accesses its PCI devices through a single buffer without a lock, and
 * moves also run in softirqs.  So one lock serializes all access to all functions.
 */
#include <linux/io.h>
#include <linux/spinlock.h>
#include "ism_pci.h"

static DEFINE_SPINLOCK(window_lock);

static void mmio_exit(struct ism_pci *ism)
{
	if (ism->bars[ISM_BAR_MOVE])
		pci_iounmap(ism->pdev, ism->bars[ISM_BAR_MOVE]);
	if (ism->bars[ISM_BAR_COMMAND])
		pci_iounmap(ism->pdev, ism->bars[ISM_BAR_COMMAND]);
}

static int mmio_init(struct ism_pci *ism)
{
	if (pci_resource_len(ism->pdev, ISM_BAR_MOVE) < ISM_WINDOW_BYTES ||
	    pci_resource_len(ism->pdev, ISM_BAR_COMMAND) < ISM_MAX_LEN)
		return -ENODEV;
	ism->bars[ISM_BAR_MOVE] = pci_iomap(ism->pdev, ISM_BAR_MOVE, 0);
	ism->bars[ISM_BAR_COMMAND] = pci_iomap(ism->pdev, ISM_BAR_COMMAND, 0);
	if (ism->bars[ISM_BAR_MOVE] && ism->bars[ISM_BAR_COMMAND])
		return 0;
	mmio_exit(ism);
	return -ENOMEM;
}

static int mmio_write(struct ism_pci *ism, u32 offset, const void *data, u32 len)
{
	spin_lock_bh(&window_lock);
	memcpy_toio(ism->bars[ISM_BAR_COMMAND] + offset, data, len);
	spin_unlock_bh(&window_lock);
	return 0;
}

static int mmio_read(struct ism_pci *ism, u32 offset, void *data, u32 len)
{
	spin_lock_bh(&window_lock);
	memcpy_fromio(data, ism->bars[ISM_BAR_COMMAND] + offset, len);
	spin_unlock_bh(&window_lock);
	return 0;
}

static int mmio_move(struct ism_pci *ism, u64 target, const void *data, u32 len)
{
	void __iomem *window = ism->bars[ISM_BAR_MOVE];
	const __be64 word = cpu_to_be64(target);
	u32 result;

	spin_lock_bh(&window_lock);
	memcpy_toio(window + ISM_WINDOW_TARGET, &word, sizeof(word));
	memcpy_toio(window + ISM_WINDOW_DATA, data, len);
	iowrite32be(len, window + ISM_WINDOW_LEN);
	result = ioread32be(window + ISM_WINDOW_LEN);
	spin_unlock_bh(&window_lock);
	/* A PCI read without a device returns all ones. */
	if (result == U32_MAX)
		return -ENODEV;
	return result ? -EIO : 0;
}

static u16 mmio_chid(struct ism_pci *ism)
{
	u32 chid;

	spin_lock_bh(&window_lock);
	chid = ioread32be(ism->bars[ISM_BAR_MOVE] + ISM_WINDOW_CHID);
	spin_unlock_bh(&window_lock);
	return chid;
}

static void mmio_seid(struct ism_pci *ism, u8 *seid)
{
	memcpy(seid, ISM_SEID "MODEL000", sizeof(ism->seid));
}

static void mmio_pnetid(struct ism_pci *ism, char *pnetid)
{
	spin_lock_bh(&window_lock);
	memcpy_fromio(pnetid, ism->bars[ISM_BAR_MOVE] + ISM_WINDOW_PNETID, SMC_ISM_PNETID_LEN);
	spin_unlock_bh(&window_lock);
}

const struct ism_access ism_access = {
	.init	= mmio_init,
	.exit	= mmio_exit,
	.write	= mmio_write,
	.read	= mmio_read,
	.move	= mmio_move,
	.chid	= mmio_chid,
	.seid	= mmio_seid,
	.pnetid	= mmio_pnetid,
};
