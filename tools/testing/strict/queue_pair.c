// SPDX-License-Identifier: GPL-2.0
/* Queue pairs and their states. */
#include <linux/slab.h>
#include "packet.h"

static int check_init(struct strict_dev *dev, struct ib_qp_init_attr *init)
{
	const struct ib_device_attr *attrs = &dev->ib.attrs;

	if (init->qp_type != IB_QPT_RC || init->srq)
		return -EOPNOTSUPP;
	/* That is how a consumer learns whether there is inline data. Some devices give less. */
	if (init->cap.max_inline_data > dev->max_inline) {
		if (!strict_choose(2))
			return -EINVAL;
		init->cap.max_inline_data = dev->max_inline;
	}
	if (init->cap.max_send_wr > attrs->max_qp_wr || init->cap.max_recv_wr > attrs->max_qp_wr ||
	    init->cap.max_send_sge > attrs->max_send_sge ||
	    init->cap.max_recv_sge > attrs->max_recv_sge) {
		strict_complain(dev, "a queue pair beyond the limits of the device");
		return -EINVAL;
	}
	return 0;
}

/* The number of a queue pair that was just destroyed, or any other. */
static u32 take_qpn(struct strict_dev *dev)
{
	u32 qpn = strict_choose(2) ? dev->free_qpns[strict_below(STRICT_FREED)] : 0;

	while (qpn < 2 || strict_find_qp(dev, qpn)) {
		dev->next_qpn = (dev->next_qpn + 1 + strict_below(1000)) % 0xffffff;
		qpn = dev->next_qpn;
	}
	return qpn;
}

int strict_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct strict_dev *dev = to_dev(ibqp->device);
	struct strict_qp *qp = to_qp(ibqp);
	int rc = check_init(dev, init);

	strict_dawdle();
	if (rc)
		return rc;
	if (strict_fails() || !strict_take_one(&dev->n_qps, dev->limits.max_qp))
		return -ENOMEM;
	qp->init = *init;
	qp->state = IB_QPS_RESET;
	INIT_LIST_HEAD(&qp->sq);
	INIT_LIST_HEAD(&qp->rq);
	skb_queue_head_init(&qp->arrived);
	spin_lock_irq(&dev->lock);
	ibqp->qp_num = take_qpn(dev);
	list_add_tail(&qp->list, &dev->qps);
	spin_unlock_irq(&dev->lock);
	return 0;
}

/* Frees the remaining work requests, without a completion. */
static void forget_work(struct strict_dev *dev, struct strict_qp *qp)
{
	struct strict_swqe *swqe, *s;
	struct strict_rwqe *rwqe, *r;

	strict_forget_arrived(dev, qp);
	list_for_each_entry_safe(swqe, s, &qp->sq, list)
		strict_free_swqe(dev, qp, swqe);
	list_for_each_entry_safe(rwqe, r, &qp->rq, list)
		strict_free_rwqe(dev, qp, rwqe);
	strict_forget_completions(dev, qp);
}

int strict_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct strict_dev *dev = to_dev(ibqp->device);
	struct strict_qp *qp = to_qp(ibqp);

	strict_dawdle();
	spin_lock_irq(&dev->lock);
	list_del(&qp->list);
	dev->free_qpns[strict_below(STRICT_FREED)] = ibqp->qp_num;
	forget_work(dev, qp);
	if (strict_choose(2))
		strict_drop_completions(dev, qp);
	spin_unlock_irq(&dev->lock);
	/* The engine may have given up the lock while it was at this queue pair. */
	flush_delayed_work(&dev->engine);
	atomic_dec(&dev->n_qps);
	return 0;
}

/* Has the engine report an event. */
void strict_event(struct strict_qp *qp, enum ib_event_type event)
{
	qp->events |= BIT(event);
}

/* From now on nothing is sent or accepted. The engine completes the rest. */
void strict_qp_error(struct strict_dev *dev, struct strict_qp *qp)
{
	lockdep_assert_held(&dev->lock);
	qp->state = IB_QPS_ERR;
	qp->deadline = 0;
	qp->ack_due = false;
	/* Data that have arrived may still be placed; that is the responder's business. */
	strict_wake(dev);
}

/* As new, but for its number and its queues. */
static void reset(struct strict_dev *dev, struct strict_qp *qp)
{
	forget_work(dev, qp);
	strict_drop_completions(dev, qp);
	memset(&qp->attr, 0, sizeof(qp->attr));
	memset(&qp->gid, 0, sizeof(qp->gid));
	qp->no_gid = false;
	qp->retries = 0;
	qp->rnr_retries = 0;
	qp->deadline = 0;
	qp->rnr_until = 0;
	qp->received = 0;
	qp->ack_due = false;
	qp->nak_sent = false;
	qp->established = false;
	qp->events = 0;
}

static void take_attr(struct strict_dev *dev, struct strict_qp *qp, const struct ib_qp_attr *attr,
		      int mask)
{
	if (mask & IB_QP_AV) {
		qp->attr.ah_attr = attr->ah_attr;
		qp->gid = attr->ah_attr.grh.sgid_attr->gid;
		strict_gids_changed(dev);
		/* The core's reference to it ends with the call. */
		qp->attr.ah_attr.grh.sgid_attr = NULL;
	}
	if (mask & IB_QP_PATH_MTU)
		qp->attr.path_mtu = attr->path_mtu;
	if (mask & IB_QP_DEST_QPN)
		qp->attr.dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_ACCESS_FLAGS)
		qp->attr.qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_PORT)
		qp->attr.port_num = attr->port_num;
	if (mask & IB_QP_TIMEOUT)
		qp->attr.timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		qp->attr.retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		qp->attr.rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		qp->attr.min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_RQ_PSN) {
		qp->expected_psn = attr->rq_psn & 0xffffff;
		qp->answered = qp->expected_psn;
	}
	if (mask & IB_QP_SQ_PSN) {
		qp->next_psn = attr->sq_psn & 0xffffff;
		qp->send_psn = qp->next_psn;
		qp->acked_psn = qp->next_psn;
	}
}

int strict_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct strict_dev *dev = to_dev(ibqp->device);
	struct strict_qp *qp = to_qp(ibqp);
	enum ib_qp_state to;
	int rc = 0;

	strict_dawdle();
	if (!strict_attr_valid(dev, attr, mask))
		return -EINVAL;
	spin_lock_irq(&dev->lock);
	to = mask & IB_QP_STATE ? attr->qp_state : qp->state;
	if (!ib_modify_qp_is_ok(qp->state, to, ibqp->qp_type, mask) ||
	    (mask & IB_QP_CUR_STATE && attr->cur_qp_state != qp->state)) {
		/*
		 * It may have failed by itself meanwhile. The kernel's own SMC ends one that it has
		 * not used in this way.
		 */
		if (qp->state != IB_QPS_ERR &&
		    !(strict_lenient() && qp->state == IB_QPS_RESET && to == IB_QPS_ERR))
			strict_complain(dev, "queue pair %u: state %d to %d, mask %#x", ibqp->qp_num,
					qp->state, to, mask);
		rc = -EINVAL;
		goto out;
	}
	take_attr(dev, qp, attr, mask);
	if (to != qp->state)
		qp->attr.en_sqd_async_notify = mask & IB_QP_EN_SQD_ASYNC_NOTIFY &&
					       attr->en_sqd_async_notify;
	if (to == IB_QPS_RESET)
		reset(dev, qp);
	if (to == IB_QPS_ERR)
		strict_qp_error(dev, qp);
	qp->state = to;
out:
	spin_unlock_irq(&dev->lock);
	strict_wake(dev);
	return rc;
}

int strict_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init)
{
	struct strict_dev *dev = to_dev(ibqp->device);
	struct strict_qp *qp = to_qp(ibqp);

	might_sleep();
	spin_lock_irq(&dev->lock);
	*attr = qp->attr;
	attr->qp_state = qp->state;
	attr->cur_qp_state = qp->state;
	attr->rq_psn = qp->expected_psn;
	attr->sq_psn = qp->next_psn;
	attr->sq_draining = qp->state == IB_QPS_SQD && strict_draining(qp);
	attr->cap = qp->init.cap;
	*init = qp->init;
	spin_unlock_irq(&dev->lock);
	return 0;
}
