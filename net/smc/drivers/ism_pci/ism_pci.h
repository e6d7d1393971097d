/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of the driver of IBM's ISM function share.
 *
 * Locks, outermost first; tools/testing/house/locks.py holds the list against the source.
 *
 *  ism_pci.dmb_lock		(mutex) which of our DMBs the function knows, and which indices are
 *				in use
 *  ism_pci.command_lock	(mutex) the command area: one command at a time, from the request to
 *				the end of its answer
 *  ism_pci.table_lock		(spinlock) the table of our DMBs; held while smc_ism_signaled() is
 *				called, so the DMB stays
 *  window_lock			(spinlock) all access to a function whose registers are in memory; a
 *				leaf
 *
 * References: probe creates one, which remove hands over to SMC-D.  When the last user of the
 * device drops it, ism_pci.end frees struct ism_pci.  By then nobody accesses the hardware:
 * commands and moves check ISM_GONE first, and remove waits for those that checked earlier.
 */
#ifndef SMC_ISM_PCI_H
#define SMC_ISM_PCI_H

#include <linux/bitmap.h>
#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "../../fabric/smcd/ism.h"
#include "format.h"

struct ism_pci;

/**
 * struct ism_access - access to the function, which takes special instructions on s390
 * @init:	returns 0 or a negative errno
 * @exit:	undo @init
 * @write:	write to the command area.  Returns 0 or a negative errno.
 * @read:	read from the command area.  Returns 0 or a negative errno.
 * @move:	write to a peer's DMB, within one page of the target.  Returns 0; -ENODEV: the
 *		function is not there; or another negative errno.  Any context but hard interrupts.
 * @chid:	returns the channel of the function
 * @seid:	get the system EID of the machine, 32 bytes
 * @pnetid:	get the PNETID of the function, SMC_ISM_PNETID_LEN characters; blank if it has none
 *
 * All but @move: process context.  @write may sleep.
 */
struct ism_access {
	int (*init)(struct ism_pci *ism);
	void (*exit)(struct ism_pci *ism);
	int (*write)(struct ism_pci *ism, u32 offset, const void *data, u32 len);
	int (*read)(struct ism_pci *ism, u32 offset, void *data, u32 len);
	int (*move)(struct ism_pci *ism, u64 target, const void *data, u32 len);
	u16 (*chid)(struct ism_pci *ism);
	void (*seid)(struct ism_pci *ism, u8 *seid);
	void (*pnetid)(struct ism_pci *ism, char *pnetid);
};

/* ism_pci.flags */
#define ISM_GONE	0	/* no more commands or moves */

/**
 * struct ism_pci - an ISM function
 * @dev:	the device as registered with SMC-D
 * @pdev:	the PCI function, referenced
 * @access:	how to access the function
 * @bars:	for @access
 * @flags:	ISM_GONE
 * @registered:	registered with SMC-D; after registration only @offline clears it
 * @offline:	unregisters it from SMC-D
 * @end:	frees it, as pci_dev_put() needs process context
 * @command_lock: one command at a time
 * @sba:	state bit area
 * @sba_addr:	DMA address of @sba
 * @ieq:	event queue
 * @ieq_addr:	DMA address of @ieq
 * @event:	next entry of the queue to read; only used by @events
 * @signals:	processes the state bits
 * @events:	processes the event queue
 * @dmb_lock:	protects @closed, @used and ism_dmb.known
 * @closed:	no more DMBs may be registered with the function
 * @used:	indices in use
 * @table_lock:	protects @dmbs
 * @dmbs:	our DMBs by index
 * @seid:	system EID
 */
struct ism_pci {
	struct smc_ism_dev	dev;
	struct pci_dev		*pdev;
	const struct ism_access	*access;
	void __iomem		*bars[ISM_BAR_COMMAND + 1];
	unsigned long		flags;
	bool			registered;
	struct work_struct	offline;
	struct work_struct	end;

	struct mutex		command_lock;

	struct ism_sba		*sba;
	dma_addr_t		sba_addr;
	struct ism_ieq		*ieq;
	dma_addr_t		ieq_addr;
	unsigned int		event;
	struct tasklet_struct	signals;
	struct work_struct	events;

	struct mutex		dmb_lock;
	bool			closed;
	DECLARE_BITMAP(used, ISM_SBA_DMBS);

	spinlock_t		table_lock;
	struct smc_ism_dmb	*dmbs[ISM_SBA_DMBS];

	u8			seid[32];
};

static inline struct ism_pci *to_ism(struct smc_ism_dev *dev)
{
	return container_of(dev, struct ism_pci, dev);
}

static inline bool ism_gone(const struct ism_pci *ism)
{
	return test_bit(ISM_GONE, &ism->flags);
}

/* command.c */
int ism_command(struct ism_pci *ism, enum ism_command command, void *request, u32 len,
		void *answer, u32 answer_len);
int ism_tell(struct ism_pci *ism, enum ism_command command, u64 value);
int ism_ask(struct ism_pci *ism, enum ism_command command, u64 *value);

/* dmb.c */
int ism_register_dmb(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb,
		     const struct smc_ism_gid *peer);
void ism_unregister_dmb(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb);
void ism_dmbs_exit(struct ism_pci *ism);
int ism_move(struct smc_ism_dev *dev, u64 token, u32 offset, const void *data, u32 len,
	     bool signal);

/* event.c */
int ism_events_init(struct ism_pci *ism);
void ism_events_exit(struct ism_pci *ism);

/* pci.c */
extern struct workqueue_struct *ism_wq;
void ism_lose(struct ism_pci *ism, const char *why);

/* access_mmio.c, or access_zpci.c on s390 */
extern const struct ism_access ism_access;

#endif /* SMC_ISM_PCI_H */
