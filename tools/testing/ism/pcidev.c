// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of virtio_pcidev. The first queue has the accesses of the guest, the second one has
 * buffers for interrupts.
 *
 * This program never sends calls for the first queue: the guest polls it whenever it waits for an
 * answer, and is not protected against a call that interrupts it while it adds to the queue.
 */
#include <linux/pci_regs.h>
#include <linux/virtio_pcidev.h>
#include "pcidev.h"

#define COMMANDS	0
#define INTERRUPTS	1

#define MSI		0x40
#define BARS		6

static const u32 bar_sizes[BARS] = {
	[ISM_BAR_MOVE] = ISM_WINDOW_BYTES,
	[ISM_BAR_COMMAND] = 4096,
};

static void put(struct pcidev *p, unsigned int offset, u32 value, unsigned int len)
{
	memcpy(p->config + offset, &value, len);
}

/* Returns the doubleword at an offset of configuration space. */
u32 pcidev_config(const struct pcidev *p, unsigned int offset)
{
	u32 value;

	memcpy(&value, p->config + offset, sizeof(value));
	return value;
}

void pcidev_reset(struct pcidev *p)
{
	memset(p->config, 0, sizeof(p->config));
	put(p, PCI_VENDOR_ID, ISM_PCI_VENDOR, 2);
	put(p, PCI_DEVICE_ID, ISM_PCI_DEVICE, 2);
	put(p, PCI_STATUS, PCI_STATUS_CAP_LIST, 2);
	put(p, PCI_CLASS_DEVICE, 0x0280, 2);	/* network controller, other */
	put(p, PCI_INTERRUPT_PIN, 1, 1);
	put(p, PCI_CAPABILITY_LIST, MSI, 1);
	put(p, MSI + PCI_CAP_LIST_ID, PCI_CAP_ID_MSI, 1);
	/* No mask bits: the guest's interrupt handler would write them, see above. */
	put(p, MSI + PCI_MSI_FLAGS, PCI_MSI_FLAGS_64BIT, 2);
	p->dead = false;
	p->interrupt = false;
}

bool pcidev_is_master(const struct pcidev *p)
{
	return pcidev_config(p, PCI_COMMAND) & PCI_COMMAND_MASTER;
}

/* Returns guest memory for DMA; NULL if the function is no bus master, or there is no memory. */
void *pcidev_dma(const struct pcidev *p, u64 addr, u64 len)
{
	return pcidev_is_master(p) ? vhost_memory(&p->vhost, addr, len) : NULL;
}

/* ---- configuration space ---- */

static u8 writable(unsigned int offset)
{
	unsigned int bar = (offset - PCI_BASE_ADDRESS_0) / 4;

	if (offset >= PCI_BASE_ADDRESS_0 && bar < BARS && bar_sizes[bar])
		return ~(bar_sizes[bar] - 1) >> offset % 4 * 8;
	switch (offset) {
	case PCI_COMMAND:
		return PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
	case PCI_COMMAND + 1:
		return PCI_COMMAND_INTX_DISABLE >> 8;
	case MSI + PCI_MSI_FLAGS:
		return PCI_MSI_FLAGS_ENABLE;
	case PCI_INTERRUPT_LINE:
	case MSI + PCI_MSI_ADDRESS_LO ... MSI + PCI_MSI_DATA_64 + 1:
	case PCIDEV_FAULT ... PCIDEV_FAULT + 3:
		return 0xff;
	}
	return 0;
}

static void write_config(struct pcidev *p, u64 addr, const u8 *data, size_t len)
{
	size_t i;

	for (i = 0; i < len && addr + i < PCIDEV_CONFIG; i++) {
		u8 mask = writable(addr + i);

		p->config[addr + i] = (p->config[addr + i] & ~mask) | (data[i] & mask);
	}
	p->ops->configured(p->function);
}

static void read_config(const struct pcidev *p, u64 addr, u8 *data, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		data[i] = addr + i < PCIDEV_CONFIG ? p->config[addr + i] : 0;
}

/* ---- queues ---- */

/* Returns the length of the answer in bytes. */
static size_t carry_out(struct pcidev *p, const struct vhost_chain *chain)
{
	const struct virtio_pcidev_msg *m = (const struct virtio_pcidev_msg *)chain->out;
	size_t len = chain->out_len - sizeof(*m);

	if (chain->in)
		memset(chain->in, 0xff, chain->in_len);
	if (chain->out_len < sizeof(*m))
		return 0;
	if (m->size < len)
		len = m->size;
	switch (m->op) {
	case VIRTIO_PCIDEV_OP_CFG_WRITE:
		write_config(p, m->addr, m->data, len);
		break;
	case VIRTIO_PCIDEV_OP_MMIO_WRITE:
		if (!p->dead)
			p->ops->write(p->function, m->bar, m->addr, m->data, len);
		break;
	case VIRTIO_PCIDEV_OP_CFG_READ:
	case VIRTIO_PCIDEV_OP_MMIO_READ:
		if (p->dead || !chain->in || m->size > chain->in_len)
			break;
		if (m->op == VIRTIO_PCIDEV_OP_CFG_READ)
			read_config(p, m->addr, chain->in, m->size);
		else
			p->ops->read(p->function, m->bar, m->addr, chain->in, m->size);
		break;
	}
	return chain->in_len;
}

static void send_interrupt(struct pcidev *p)
{
	u16 flags = pcidev_config(p, MSI + PCI_MSI_FLAGS);
	struct virtio_pcidev_msg *m;
	struct vhost_chain chain;
	u32 data;

	if (!(flags & PCI_MSI_FLAGS_ENABLE) || p->dead) {
		p->interrupt = false;
		return;
	}
	if (!vhost_take(&p->vhost, INTERRUPTS, &chain))
		return;
	data = (u16)pcidev_config(p, MSI + PCI_MSI_DATA_64);
	m = (struct virtio_pcidev_msg *)chain.in;
	if (chain.in_len >= sizeof(*m) + sizeof(data)) {
		*m = (struct virtio_pcidev_msg){
			.op = VIRTIO_PCIDEV_OP_MSI, .size = sizeof(data),
			.addr = pcidev_config(p, MSI + PCI_MSI_ADDRESS_LO),
		};
		memcpy(m->data, &data, sizeof(data));
		vhost_give_back(&p->vhost, INTERRUPTS, &chain, sizeof(*m) + sizeof(data));
		p->interrupt = false;
	} else {
		vhost_give_back(&p->vhost, INTERRUPTS, &chain, 0);
	}
	vhost_call(&p->vhost, INTERRUPTS);
}

/* Carries out all requests of the guest. */
void pcidev_serve(struct pcidev *p)
{
	struct vhost_chain chain;

	while (vhost_take(&p->vhost, COMMANDS, &chain))
		vhost_give_back(&p->vhost, COMMANDS, &chain, carry_out(p, &chain));
	if (p->interrupt)
		send_interrupt(p);
}

/* Interrupts that are raised before the guest has room for the message are merged into one. */
void pcidev_interrupt(struct pcidev *p)
{
	p->interrupt = true;
	send_interrupt(p);
}
