// SPDX-License-Identifier: GPL-2.0
/* Events of a device: writes to our DMBs, and peers that have ended. */
#include <linux/rcupdate.h>
#include <linux/unaligned.h>
#include "../ism_pci/format.h"
#include "dism.h"

/**
 * dism_gid_to_uuid() - convert a GID to the format of dibs
 * @gid: the GID
 * @uuid: receives the result
 */
void dism_gid_to_uuid(const struct smc_ism_gid *gid, uuid_t *uuid)
{
	put_unaligned_be64(gid->id, uuid->b);
	put_unaligned_be64(gid->ext, uuid->b + 8);
}

/**
 * dism_uuid_to_gid() - convert a GID from the format of dibs
 * @uuid: the GID; a GID of 64 bits is followed by zeros
 * @gid: receives the result
 */
void dism_uuid_to_gid(const uuid_t *uuid, struct smc_ism_gid *gid)
{
	gid->id = get_unaligned_be64(uuid->b);
	gid->ext = get_unaligned_be64(uuid->b + 8);
}

/**
 * dism_handle_irq() - dibs_client_ops.handle_irq: a DMB was written to
 * @dibs: the device
 * @index: index of the DMB
 * @mask: elements of the DMB that were written to; each DMB has one
 *
 * Context: any, including hard interrupts, under a lock of dibs that a move takes.
 */
void dism_handle_irq(struct dibs_dev *dibs, unsigned int index, u16 mask)
{
	struct dism_dev *d = dibs_get_priv(dibs, &dism_client);
	struct dism_dmb *own;

	if (!d)
		return;
	rcu_read_lock();
	own = xa_load(&d->dmbs, index);
	if (own && !test_and_set_bit(0, &own->flags)) {
		llist_add(&own->node, &d->signaled);
		queue_work(system_bh_wq, &d->tell);
	}
	rcu_read_unlock();
}

static void tell_work(struct work_struct *work)
{
	struct dism_dev *d = container_of(work, struct dism_dev, tell);
	struct dism_dmb *own, *next;

	llist_for_each_entry_safe(own, next, llist_del_all(&d->signaled), node) {
		/* Clear the bit first, so a write from here on queues the DMB again. */
		clear_bit(0, &own->flags);
		smp_mb__after_atomic();
		smc_ism_signaled(own->dmb);
	}
}

/**
 * dism_handle_event() - dibs_client_ops.handle_event: an event of a peer
 * @dibs: the device
 * @event: the event
 *
 * If the end of a peer is lost because the queue is full, the next move to that peer fails.
 *
 * Context: any, including hard interrupts, under a lock of dibs.
 */
void dism_handle_event(struct dibs_dev *dibs, const struct dibs_event *event)
{
	struct dism_dev *d = dibs_get_priv(dibs, &dism_client);

	if (!d || !kfifo_put(&d->events, *event))
		return;
	queue_work(dism_wq, &d->take);
}

/* Answer a peer that tests whether we are alive.  If this fails, the peer considers us dead. */
static void answer_test(struct dism_dev *d, const uuid_t *peer, u64 info)
{
	if (!info)
		return;
	mutex_lock(&d->lock);
	if (!d->closed && d->dibs->ops->signal_event)
		d->dibs->ops->signal_event(d->dibs, peer, 1, ISM_CODE_TEST, info);
	mutex_unlock(&d->lock);
}

static void take_event(struct dism_dev *d, const struct dibs_event *event)
{
	struct smc_ism_gid peer;

	if (uuid_is_null(&event->gid))
		return;
	dism_uuid_to_gid(&event->gid, &peer);
	if (event->type == DIBS_DEV_EVENT ||
	    (event->type == DIBS_SW_EVENT && event->subtype == ISM_CODE_SHUTDOWN))
		smc_ism_gid_gone(&d->dev, &peer);
	else if (event->type == DIBS_SW_EVENT && event->subtype == ISM_CODE_TEST)
		answer_test(d, &event->gid, ism_test_answer(event->data));
}

static void take_work(struct work_struct *work)
{
	struct dism_dev *d = container_of(work, struct dism_dev, take);
	struct dibs_event event;

	while (kfifo_get(&d->events, &event))
		take_event(d, &event);
}

/**
 * dism_events_init() - initialise the event handling of a device
 * @d: the device
 */
void dism_events_init(struct dism_dev *d)
{
	init_llist_head(&d->signaled);
	INIT_KFIFO(d->events);
	INIT_WORK(&d->tell, tell_work);
	INIT_WORK(&d->take, take_work);
}

/**
 * dism_events_exit() - stop the event handling of a device
 * @d: the device, for which dibs does not call us any more
 *
 * Context: process, may sleep.
 */
void dism_events_exit(struct dism_dev *d)
{
	cancel_work_sync(&d->take);
	flush_work(&d->tell);
}
