/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ISM devices of the kernel's own drivers (dibs, since Linux 6.18): IBM's function on s390, and
 * loopback-ism.
 *
 * Locks, outermost first; tools/testing/house/locks.py holds the list against the source.
 *
 *  (dibs holds its own mutex when it calls add_dev and del_dev)
 *  dism_devs_lock		(mutex) the list of devices
 *  dism_dev.lock		(mutex) which DMBs the device knows; all calls to it but moves
 *
 * References: add_dev creates one; when the last user of the device drops it, dism_dev.end frees
 * it.  By then nobody calls the dibs device any more: all callers check dism_dev.closed first,
 * under dism_dev.lock or, for a move, under RCU.
 */
#ifndef SMC_DISM_H
#define SMC_DISM_H

#include <linux/dibs.h>
#include <linux/kfifo.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include "../../fabric/smcd/ism.h"

/* Maximum of pending events; any more are lost, as they are in the function itself. */
#define DISM_EVENTS	64

/**
 * struct dism_dev - a device of dibs
 * @dev:	the device as SMC-D sees it
 * @list:	entry in the list of devices
 * @dibs:	the device as dibs sees it, referenced
 * @seid:	system EID, if the device has one
 * @closed:	make no more calls to the device
 * @registered:	registered with SMC-D
 * @lock:	see above
 * @dmbs:	maps the index of a DMB to its struct dism_dmb
 * @signaled:	DMBs that were signalled but not reported to SMC-D yet
 * @tell:	reports them in a softirq, because dibs may call us in a hard interrupt and holds a
 *		lock that a move takes
 * @events:	events of peers
 * @take:	processes @events
 * @online:	registers the device with SMC-D
 * @end:	frees the device
 */
struct dism_dev {
	struct smc_ism_dev	dev;
	struct list_head	list;
	struct dibs_dev		*dibs;
	u8			seid[32];
	bool			closed;
	bool			registered;
	struct mutex		lock;
	struct xarray		dmbs;
	struct llist_head	signaled;
	struct work_struct	tell;
	DECLARE_KFIFO(events, struct dibs_event, DISM_EVENTS);
	struct work_struct	take;
	struct delayed_work	online;
	struct work_struct	end;
};

static inline struct dism_dev *to_dism(struct smc_ism_dev *dev)
{
	return container_of(dev, struct dism_dev, dev);
}

extern struct dibs_client dism_client;
extern struct workqueue_struct *dism_wq;

/* dmb.c */
int dism_register_dmb(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb,
		      const struct smc_ism_gid *peer);
void dism_unregister_dmb(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb);
int dism_move(struct smc_ism_dev *dev, u64 token, u32 offset, const void *data, u32 len,
	      bool signal);
void dism_close_dmbs(struct dism_dev *d);

/* A device may return a positive error code of its own. */
static inline int dism_errno(int rc)
{
	return rc > 0 ? -EIO : rc;
}

/* event.c */
void dism_gid_to_uuid(const struct smc_ism_gid *gid, uuid_t *uuid);
void dism_uuid_to_gid(const uuid_t *uuid, struct smc_ism_gid *gid);
void dism_handle_irq(struct dibs_dev *dibs, unsigned int index, u16 mask);
void dism_handle_event(struct dibs_dev *dibs, const struct dibs_event *event);
void dism_events_init(struct dism_dev *d);
void dism_events_exit(struct dism_dev *d);

/**
 * struct dism_dmb - private data of a DMB (smc_ism_dmb.priv)
 * @dibs:	the DMB as dibs sees it
 * @dmb:	the DMB as SMC-D sees it
 * @known:	registered with the device; under dism_dev.lock
 * @flags:	bit 0: queued in dism_dev.signaled
 * @node:	entry in dism_dev.signaled
 */
struct dism_dmb {
	struct dibs_dmb		dibs;
	struct smc_ism_dmb	*dmb;
	bool			known;
	unsigned long		flags;
	struct llist_node	node;
};

#endif
