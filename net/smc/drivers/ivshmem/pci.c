// SPDX-License-Identifier: GPL-2.0
/*
 * The PCI device ivshmem-doorbell of QEMU, which provides the region and the doorbell.
 */
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include "shm.h"

#define PCI_VENDOR_IVSHMEM	0x1af4
#define PCI_DEVICE_IVSHMEM	0x1110
#define IVSHMEM_REVISION	1
#define BAR_REGISTERS		0
#define BAR_MEMORY		2
#define REG_POSITION		0x08
#define REG_DOORBELL		0x0c
#define VECTOR			0	/* for all peers; other vectors are not used */

/**
 * struct ivs_pci - an ivshmem device
 * @dev:	the device as the rest of the driver sees it
 * @pdev:	the PCI device, referenced
 * @regs:	its registers
 * @claim:	keeps the driver from being bound again while the region is mapped
 * @mem:	the region
 */
struct ivs_pci {
	struct ivs_dev	dev;
	struct pci_dev	*pdev;
	void __iomem	*regs;
	struct resource	*claim;
	void		*mem;
};

static struct ivs_pci *to_pci(struct ivs_dev *d)
{
	return container_of(d, struct ivs_pci, dev);
}

static void pci_ring(struct ivs_dev *d, u16 peer)
{
	/* A single write of 32 bits.  writel() orders it after earlier writes to memory. */
	writel((u32)peer << 16 | VECTOR, to_pci(d)->regs + REG_DOORBELL);
}

static void unmap(struct ivs_pci *p)
{
	if (p->mem)
		memunmap(p->mem);
	if (p->regs)
		pci_iounmap(p->pdev, p->regs);
	/*
	 * Last: peers take back what they have lent us when they see another instance. If the
	 * device was unplugged, the PCI core has taken its BAR out of the tree of resources, with
	 * our claim below it. Then another device may have claimed the same address, so release
	 * this claim, not that address.
	 */
	release_resource(p->claim);
	kfree(p->claim);
	pci_dev_put(p->pdev);
	kvfree(p);
}

static void pci_free(struct ivs_dev *d)
{
	unmap(to_pci(d));
}

static const struct ivs_bus pci_bus = {
	.ring	= pci_ring,
	.free	= pci_free,
};

static irqreturn_t pci_interrupt(int irq, void *arg)
{
	ivs_interrupt(arg);
	return IRQ_HANDLED;
}

/* Set up what must stay until the last user is gone, possibly after the removal of the device. */
static struct ivs_pci *map(struct pci_dev *pdev)
{
	struct ivs_pci *p = kvzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	p->claim = request_mem_region(pci_resource_start(pdev, BAR_MEMORY),
				      pci_resource_len(pdev, BAR_MEMORY), "smc_ism_ivshmem");
	if (!p->claim) {
		kvfree(p);
		return NULL;
	}
	p->pdev = pci_dev_get(pdev);
	p->regs = pci_iomap(pdev, BAR_REGISTERS, 0);
	/* The BAR is memory: map it cacheable. */
	p->mem = memremap(pci_resource_start(pdev, BAR_MEMORY),
			  pci_resource_len(pdev, BAR_MEMORY), MEMREMAP_WB);
	if (!p->regs || !p->mem) {
		unmap(p);
		return NULL;
	}
	p->dev.ism.name = pci_name(pdev);
	p->dev.ism.parent = &pdev->dev;
	return p;
}

static int start(struct pci_dev *pdev)
{
	struct ivs_pci *p = map(pdev);
	int rc;

	if (!p)
		return -ENOMEM;
	pci_set_drvdata(pdev, p);
	rc = ivs_start(&p->dev, &pci_bus, p->mem, pci_resource_len(pdev, BAR_MEMORY),
		       readl(p->regs + REG_POSITION));
	if (rc) {
		unmap(p);
		return rc;
	}
	/* A doorbell that rang before this is made up for by the next heartbeat. */
	rc = request_irq(pci_irq_vector(pdev, VECTOR), pci_interrupt, 0, "smc_ism_ivshmem",
			 &p->dev);
	if (rc) {
		ivs_leave(&p->dev);
		ivs_stop(&p->dev);
	}
	return rc;
}

static int ivs_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int rc;

	if (pdev->revision != IVSHMEM_REVISION) {
		pci_err(pdev, "revision %u of ivshmem is not supported\n", pdev->revision);
		return -ENODEV;
	}
	rc = pci_enable_device(pdev);
	if (rc)
		return rc;
	pci_set_master(pdev);
	rc = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX);
	if (rc < 0) {
		pci_err(pdev, "no MSI-X: QEMU's ivshmem-doorbell is required, not ivshmem-plain\n");
		rc = -ENODEV;
		goto out_disable;
	}
	rc = start(pdev);
	if (!rc)
		return 0;
	pci_free_irq_vectors(pdev);
out_disable:
	pci_disable_device(pdev);
	return rc;
}

static void ivs_remove(struct pci_dev *pdev)
{
	struct ivs_pci *p = pci_get_drvdata(pdev);

	ivs_leave(&p->dev);
	free_irq(pci_irq_vector(pdev, VECTOR), &p->dev);
	pci_free_irq_vectors(pdev);
	/* This ends interrupts and DMA.  The BAR stays accessible for the remaining users. */
	pci_disable_device(pdev);
	ivs_stop(&p->dev);
}

static const struct pci_device_id ivs_ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_IVSHMEM, PCI_DEVICE_IVSHMEM) },
	{}
};
MODULE_DEVICE_TABLE(pci, ivs_ids);

static struct pci_driver ivs_driver = {
	.name		= "smc_ism_ivshmem",
	.id_table	= ivs_ids,
	.probe		= ivs_probe,
	.remove		= ivs_remove,
};

int ivs_pci_init(void)
{
	return pci_register_driver(&ivs_driver);
}

void ivs_pci_exit(void)
{
	pci_unregister_driver(&ivs_driver);
}
