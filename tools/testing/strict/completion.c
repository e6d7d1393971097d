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
	if (!attr->cqe || attr->cqe > dev->ib.attrs.max_cqe) {
		strict_complain(dev, "a completion queue of %u, of %u at most", attr->cqe,
				dev->ib.attrs.max_cqe);
		return -EINVAL;
	}
	if (attr->comp_vector >= dev->ib.num_comp_vectors) {
		strict_complain(dev, "completion vector %u, of %d", attr->comp_vector,
				dev->ib.num_comp_vectors);
		return -EINVAL;
	}
	strict_dawdle();
	if (strict_fails())
		return -ENOMEM;
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

static struct strict_cqe *cqe_at(struct strict_cq *cq, unsigned int i)
{
	return &cq->ring[i % cq->ib.cqe];
}

/*
 * Only by polling a completion does the consumer learn that its work request, and the earlier ones
 * without completions, have left the queue.
 */
static void free_slots(const struct strict_cqe *cqe)
{
	if (!cqe->qp)
		return;
	if (cqe->send)
		cqe->qp->sq_used -= cqe->slots;
	else
		cqe->qp->rq_used -= cqe->slots;
}

/* Forgets whose the completions are; they can still be polled. */
static void disown(struct strict_cq *cq, const struct strict_qp *qp)
{
	unsigned int i;

	for (i = cq->head; i != cq->tail; i++)
		if (cqe_at(cq, i)->qp == qp)
			cqe_at(cq, i)->qp = NULL;
}

static void drop(struct strict_cq *cq, const struct strict_qp *qp)
{
	unsigned int i, kept = cq->head, shown = cq->shown;

	for (i = cq->head; i != cq->tail; i++) {
		if (i == shown)
			cq->shown = kept;
		if (cqe_at(cq, i)->wc.qp != &qp->ib)
			*cqe_at(cq, kept++) = *cqe_at(cq, i);
	}
	if (shown == cq->tail)
		cq->shown = kept;
	cq->tail = kept;
}

/* The consumer does not see them any more, as with drivers that clean their queues. */
void strict_drop_completions(struct strict_dev *dev, struct strict_qp *qp)
{
	lockdep_assert_held(&dev->lock);
	drop(to_cq(qp->ib.send_cq), qp);
	drop(to_cq(qp->ib.recv_cq), qp);
}

/* The queue pair is reset, or will be gone. */
void strict_forget_completions(struct strict_dev *dev, struct strict_qp *qp)
{
	lockdep_assert_held(&dev->lock);
	disown(to_cq(qp->ib.send_cq), qp);
	disown(to_cq(qp->ib.recv_cq), qp);
	qp->sq_used = 0;
	qp->sq_silent = 0;
	qp->rq_used = 0;
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
	while (i < n && cq->head != cq->shown) {
		struct strict_cqe *cqe = cqe_at(cq, cq->head++);

		wc[i++] = cqe->wc;
		free_slots(cqe);
	}
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
	/* A request for any completion stays one until its event. */
	cq->armed_solicited = (!cq->armed || cq->armed_solicited) &&
			      (notify & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED;
	cq->armed = true;
	missed = (notify & IB_CQ_REPORT_MISSED_EVENTS) && cq->head != cq->shown;
	spin_unlock_irqrestore(&dev->lock, flags);
	return missed;
}

/* All queue pairs of the queue fail with it. */
static void overflow(struct strict_dev *dev, struct strict_cq *cq)
{
	struct strict_qp *qp;

	if (cq->overflow)
		return;
	strict_complain(dev, "a completion queue of %d is full", cq->ib.cqe);
	cq->overflow = true;
	cq->error_event = true;
	list_for_each_entry(qp, &dev->qps, list) {
		if (qp->state == IB_QPS_RESET ||
		    (to_cq(qp->ib.send_cq) != cq && to_cq(qp->ib.recv_cq) != cq))
			continue;
		strict_event(qp, IB_EVENT_QP_FATAL);
		strict_qp_error(dev, qp);
	}
}

/*
 * What a completion does not define is random: of one with an error everything but the first four
 * fields, and otherwise what belongs to other kinds of completions.
 */
static void fill_undefined(struct ib_wc *wc, bool send)
{
	struct ib_wc garbage;

	strict_garbage(&garbage, sizeof(garbage));
	garbage.wr_id = wc->wr_id;
	garbage.status = wc->status;
	garbage.qp = wc->qp;
	if (wc->status == IB_WC_SUCCESS) {
		garbage.opcode = wc->opcode;
		garbage.wc_flags = wc->wc_flags;
		if (!send)
			garbage.byte_len = wc->byte_len;
		if (wc->wc_flags)
			garbage.ex = wc->ex;
	}
	*wc = garbage;
}

static void complete_work(struct strict_dev *dev, struct strict_cq *cq, struct strict_cqe *cqe)
{
	lockdep_assert_held(&dev->lock);
	if (cq->overflow || cq->tail - cq->head == cq->ib.cqe) {
		overflow(dev, cq);
		return;
	}
	fill_undefined(&cqe->wc, cqe->send);
	*cqe_at(cq, cq->tail++) = *cqe;
}

void strict_complete_send(struct strict_dev *dev, struct strict_qp *qp, const struct ib_wc *wc)
{
	struct strict_cqe cqe = {
		.wc	   = *wc,
		.solicited = wc->status != IB_WC_SUCCESS,
		.send	   = true,
		.qp	   = qp,
		.slots	   = qp->sq_silent,
	};

	qp->sq_silent = 0;
	complete_work(dev, to_cq(qp->ib.send_cq), &cqe);
}

void strict_complete_recv(struct strict_dev *dev, struct strict_qp *qp, const struct ib_wc *wc,
			  bool solicited)
{
	struct strict_cqe cqe = {
		.wc	   = *wc,
		.solicited = solicited || wc->status != IB_WC_SUCCESS,
		.qp	   = qp,
		.slots	   = 1,
	};

	complete_work(dev, to_cq(qp->ib.recv_cq), &cqe);
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
		const struct strict_cqe *cqe = cqe_at(cq, cq->shown++);

		if (cq->armed && (!cq->armed_solicited || cqe->solicited)) {
			cq->armed = false;
			cq->event = true;
		}
	}
	/* An event says that there were completions; they may have been polled meanwhile. */
	if (cq->armed && strict_choose(64)) {
		cq->armed = false;
		cq->event = true;
	}
	return cq->shown != cq->tail;
}

/* Reports queues that have overflowed. The lock is given up for that. */
void strict_report_cqs(struct strict_dev *dev)
{
	struct ib_event event = { .device = &dev->ib, .event = IB_EVENT_CQ_ERR };
	struct strict_cq *cq;

	lockdep_assert_held(&dev->lock);
again:
	list_for_each_entry(cq, &dev->cqs, list) {
		if (!cq->error_event)
			continue;
		cq->error_event = false;
		if (!cq->ib.event_handler)
			continue;
		event.element.cq = &cq->ib;
		/* strict_destroy_cq() waits for the engine. */
		spin_unlock_irq(&dev->lock);
		cq->ib.event_handler(&event, cq->ib.cq_context);
		spin_lock_irq(&dev->lock);
		goto again;
	}
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
