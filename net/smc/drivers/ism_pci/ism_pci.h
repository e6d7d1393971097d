/* SPDX-License-Identifier: GPL-2.0 */
/*
 * IBM's ISM function, as the files of its driver share it.
 *
 * Locks, outermost first; tools/testing/house/locks.py holds the list against the source.
 *
 *  ism_pci.dmb_lock		(mutex) which of our DMBs the function knows, and which indices are
 *				taken
 *  ism_pci.command_lock	(mutex) the command area: one command at a time, from the request to
 *				the end of its answer
 *  ism_pci.table_lock		(spinlock) the table of our DMBs; smc_ism_signaled() is called under
 *				it, so no DMB ends meanwhile
 *  window_lock			(spinlock) all access to a function whose registers are in memory; a
 *				leaf
 *
 * References: the PCI device has one from its probe to its remove, which SMC-D takes over; the last
 * user of the device has ism_pci.end free it.  What is beyond that is not reached by then: commands
 * and moves look at ISM_GONE first, and the remove waits for those that have looked before.
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
 * struct ism_access - how the function is reached: s390 has instructions of its own for this
 * @init:	0 or a negative errno
 * @exit:	undo that
 * @write:	to the command area.  0 or a negative errno.  May sleep; the rest need not.
 * @read:	from the command area.  0 or a negative errno.
 * @move:	write to a peer's DMB, all of it within one page of the target.  0; -ENODEV: the
 *		function is not there; another negative errno.  Any context but hard interrupts.
 * @chid:	channel of the function
 * @seid:	system EID of the machine, 32 bytes
 * @pnetid:	physical network of the function, SMC_ISM_PNETID_LEN characters; blank without one
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
#define ISM_GONE	0	/* no command and no move any more */

/**
 * struct ism_pci - a function
 * @dev:	as SMC-D knows it
 * @pdev:	the PCI function, referenced
 * @access:	how to reach it
 * @bars:	for @access
 * @flags:	ISM_GONE
 * @registered:	with SMC-D; of @offline alone, once it is set
 * @offline:	takes it from SMC-D
 * @end:	frees it, since a PCI function is not given back in every context
 * @command_lock: one command at a time
 * @sba:	state bits, and
 * @sba_addr:	their address for the function
 * @ieq:	event queue, and
 * @ieq_addr:	its address for the function
 * @event:	entry of the queue that is looked at next; of @events alone
 * @signals:	state bits are taken and reported here
 * @events:	events are taken here
 * @dmb_lock:	protects the two members that follow, and ism_dmb.known
 * @closed:	no DMB is made known to the function any more
 * @used:	indices that are taken
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
