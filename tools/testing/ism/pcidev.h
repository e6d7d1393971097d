/* SPDX-License-Identifier: GPL-2.0 */
/* A PCI function on the bus of UML's virt-pci: configuration space, BARs, one MSI. */
#ifndef ISM_MODEL_PCIDEV_H
#define ISM_MODEL_PCIDEV_H

#include "vhost.h"

#define PCIDEV_CONFIG	256

/* The register in configuration space that selects the model's faults, see function.h. */
#define PCIDEV_FAULT	0x80

/**
 * struct pcidev_ops - the operations of a function
 * @read:	read from a BAR; all bits of the buffer are set before the call
 * @write:	write to a BAR
 * @configured:	configuration space has been written to
 */
struct pcidev_ops {
	void (*read)(void *function, unsigned int bar, u64 addr, u8 *data, size_t len);
	void (*write)(void *function, unsigned int bar, u64 addr, const u8 *data, size_t len);
	void (*configured)(void *function);
};

/**
 * struct pcidev - a PCI function
 * @vhost:	the guest to which it belongs
 * @ops:	the operations of the function
 * @function:	argument of the operations
 * @config:	its configuration space
 * @dead:	all reads return set bits
 * @interrupt:	raised, but the guest had no room for the message
 */
struct pcidev {
	struct vhost		vhost;
	const struct pcidev_ops	*ops;
	void			*function;
	u8			config[PCIDEV_CONFIG];
	bool			dead;
	bool			interrupt;
};

void pcidev_reset(struct pcidev *p);
void pcidev_serve(struct pcidev *p);
void pcidev_interrupt(struct pcidev *p);
u32 pcidev_config(const struct pcidev *p, unsigned int offset);
bool pcidev_is_master(const struct pcidev *p);
void *pcidev_dma(const struct pcidev *p, u64 addr, u64 len);

#endif /* ISM_MODEL_PCIDEV_H */
