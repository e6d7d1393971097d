// SPDX-License-Identifier: GPL-2.0
/*
 * For tests: a User Mode Linux kernel has a file of the host as its region, iomem=ism,FILE on the
 * command line, and a pipe for each doorbell.  An eventfd would not do: it raises no SIGIO, by
 * which such a kernel gets its interrupts.  Guests whose runs follow from a seed ring over their
 * cable instead, see tools/testing/vm/seed/cable.c.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <asm/seed.h>
#include <irq_kern.h>
#include <irq_user.h>
#include <os.h>
#include "../uml_plugged.h"
#include "shm.h"

static int doorbell[2] = { -1, -1 };
static int n_doorbell;
module_param_array(doorbell, int, &n_doorbell, 0444);
MODULE_PARM_DESC(doorbell, "file descriptors of our doorbell and of the peer's");

static ushort peer;
module_param(peer, ushort, 0444);
MODULE_PARM_DESC(peer, "our peer id");

static struct ivs_dev *ivs_uml;
static int uml_irq;

/* There are at most two guests, so every peer id but our own is the other guest's. */
static void uml_ring(struct ivs_dev *d, u16 to)
{
	/* If the pipe is full, the doorbell is ringing already. */
	if (!seed_cable_ring() && doorbell[1] >= 0)
		os_write_file(doorbell[1], "", 1);
}

static void uml_free(struct ivs_dev *d)
{
	kvfree(d);
}

static const struct ivs_bus uml_bus = {
	.ring	= uml_ring,
	.free	= uml_free,
};

static irqreturn_t uml_interrupt(int irq, void *arg)
{
	char bells[64];
	int n;

	do {
		n = os_read_file(doorbell[0], bells, sizeof(bells));
	} while (n == sizeof(bells) || n == -EINTR);
	ivs_interrupt(arg);
	return IRQ_HANDLED;
}

static void ring_over_cable(void *arg)
{
	ivs_interrupt(arg);
}

static int listen_to_bell(void)
{
	seed_cable_on_ring(ring_over_cable, ivs_uml);
	if (doorbell[0] < 0)
		return 0;
	uml_irq = um_request_irq(UM_IRQ_ALLOC, doorbell[0], IRQ_READ, uml_interrupt, 0,
				 "smc_ism_ivshmem", ivs_uml);
	return uml_irq < 0 ? uml_irq : 0;
}

static void unplug(void)
{
	ivs_leave(ivs_uml);
	seed_cable_on_ring(NULL, NULL);
	if (uml_irq > 0)
		um_free_irq(uml_irq, ivs_uml);
	ivs_stop(ivs_uml);
	ivs_uml = NULL;
}

static int plug(void *mem, unsigned long len)
{
	int rc;

	ivs_uml = kvzalloc(sizeof(*ivs_uml), GFP_KERNEL);
	if (!ivs_uml)
		return -ENOMEM;
	ivs_uml->ism.name = "ivshmem";
	rc = ivs_start(ivs_uml, &uml_bus, mem, len, peer);
	if (rc) {
		kvfree(ivs_uml);
		ivs_uml = NULL;
		return rc;
	}
	rc = listen_to_bell();
	if (rc)
		unplug();
	return rc;
}

int ivs_uml_init(void)
{
	return uml_plug(true);
}

void ivs_uml_exit(void)
{
	uml_plug(false);
}
