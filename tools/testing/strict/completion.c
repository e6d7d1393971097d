// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues.
 *
 * A completion is hidden until the engine publishes it: one by one, in batches, late. The event
 * comes in an interrupt, in a softirq or in a work item.
 */
#include <linux/slab.h>
#include "strict.h"

static void raise_event(struct strict_cq *cq)
{
	if (!READ_ONCE(cq->gone))
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static void event_irq(struct irq_work *work)
{
	raise_event(container_of(work, struct strict_cq, irq));
}

static void event_tasklet(struct tasklet_struct *tasklet)
{
	raise_event(container_of(tasklet, struct strict_cq, tasklet));
}

int strict_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	struct strict_dev *dev = to_dev(ibcq->device);
	struct strict_cq *cq = to_cq(ibcq);

	might_sleep();
	if (attr->cqe > dev->ib.attrs.max_cqe) {
		strict_complain(dev, "a completion queue of %u, of %u at most", attr->cqe,
				dev->ib.attrs.max_cqe);
		return -EINVAL;
	}
	ibcq->cqe = attr->cqe;
	cq->ring = kvcalloc(attr->cqe, sizeof(*cq->ring), GFP_KERNEL);
	if (!cq->ring)
		return -ENOMEM;
	cq->irq = IRQ_WORK_INIT_HARD(event_irq);
	tasklet_setup(&cq->tasklet, event_tasklet);
	spin_lock_irq(&dev->lock);
	list_add_tail(&cq->list, &dev->cqs);
	spin_unlock_irq(&dev->lock);
	return 0;
}

int strict_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct strict_dev *dev = to_dev(ibcq->device);
	struct strict_cq *cq = to_cq(ibcq);

	might_sleep();
	spin_lock_irq(&dev->lock);
	WRITE_ONCE(cq->gone, true);
	list_del(&cq->list);
	spin_unlock_irq(&dev->lock);
	irq_work_sync(&cq->irq);
	tasklet_kill(&cq->tasklet);
	/* The engine may be calling the handler. */
	flush_delayed_work(&dev->engine);
	kvfree(cq->ring);
	return 0;
}

int strict_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct strict_dev *dev = to_dev(ibcq->device);
	struct strict_cq *cq = to_cq(ibcq);
	unsigned long flags;
	int i = 0;

	/* A device may return fewer than there are. */
	if (n > 1)
		n -= strict_below(n);
	spin_lock_irqsave(&dev->lock, flags);
	while (i < n && cq->head != cq->shown)
		wc[i++] = cq->ring[cq->head++ % cq->ib.cqe].wc;
	spin_unlock_irqrestore(&dev->lock, flags);
	return i;
}

int strict_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags notify)
{
	struct strict_dev *dev = to_dev(ibcq->device);
	struct strict_cq *cq = to_cq(ibcq);
	unsigned long flags;
	int missed;

	spin_lock_irqsave(&dev->lock, flags);
	cq->armed = true;
	cq->armed_solicited = (notify & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED;
	missed = (notify & IB_CQ_REPORT_MISSED_EVENTS) && cq->head != cq->shown;
	spin_unlock_irqrestore(&dev->lock, flags);
	return missed;
}

void strict_complete(struct strict_dev *dev, struct strict_cq *cq, const struct ib_wc *wc,
		     bool solicited)
{
	struct strict_cqe *cqe;

	lockdep_assert_held(&dev->lock);
	if (cq->tail - cq->head == cq->ib.cqe) {
		strict_complain(dev, "a completion queue of %d is full", cq->ib.cqe);
		return;
	}
	cqe = &cq->ring[cq->tail++ % cq->ib.cqe];
	cqe->wc = *wc;
	cqe->solicited = solicited || wc->status != IB_WC_SUCCESS;
}

/*
 * Shows some completions of one queue: none, a part of any size, or all. Returns whether there are
 * more. Each run of the engine leaves half of them on average, so that hundreds, as of a queue pair
 * that is flushed, take few runs more than one: consumers wait for that for a limited time.
 */
static bool publish(struct strict_cq *cq)
{
	unsigned int until = cq->tail - strict_below(cq->tail - cq->shown + 1);

	while (cq->shown != until) {
		struct strict_cqe *cqe = &cq->ring[cq->shown % cq->ib.cqe];

		cq->shown++;
		if (cq->armed && (!cq->armed_solicited || cqe->solicited)) {
			cq->armed = false;
			cq->event = true;
		}
	}
	return cq->shown != cq->tail;
}

/*
 * Shows completions, and reports them. The lock is given up for that; so a queue is looked up again
 * after each event. Returns whether the engine has to come back.
 */
bool strict_publish(struct strict_dev *dev)
{
	struct strict_cq *cq;
	bool more = false;

	lockdep_assert_held(&dev->lock);
	list_for_each_entry(cq, &dev->cqs, list)
		more |= publish(cq);
again:
	list_for_each_entry(cq, &dev->cqs, list) {
		if (!cq->event)
			continue;
		if (strict_choose(8)) {		/* An event may be late. */
			more = true;
			continue;
		}
		cq->event = false;
		switch (strict_below(3)) {
		case 0:
			irq_work_queue(&cq->irq);
			break;
		case 1:
			tasklet_schedule(&cq->tasklet);
			break;
		default:
			spin_unlock_irq(&dev->lock);
			raise_event(cq);
			spin_lock_irq(&dev->lock);
			goto again;
		}
	}
	return more;
}
