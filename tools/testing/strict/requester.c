// SPDX-License-Identifier: GPL-2.0
/* The side of a queue pair that sends: packets, acknowledgments, repetitions. */
#include <linux/slab.h>
#include "packet.h"

/* The time until packets are sent again, in jiffies: 4.096 us << timeout. */
static unsigned long ack_timeout(const struct strict_qp *qp)
{
	return max(1UL, usecs_to_jiffies((4096ULL << min_t(u8, qp->attr.timeout, 22)) / 1000));
}

static enum ib_wc_opcode wc_opcode(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return IB_WC_RDMA_WRITE;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	case IB_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	default:
		return IB_WC_SEND;
	}
}

/* Completes the first work request of the send queue. */
static void finish(struct strict_dev *dev, struct strict_qp *qp, struct strict_swqe *wqe,
		     enum ib_wc_status status)
{
	struct ib_wc wc = {
		.wr_id	= wqe->wr_id,
		.status	= status,
		.opcode	= wc_opcode(wqe->opcode),
		.qp	= &qp->ib,
	};

	qp->sq_silent++;
	if (status != IB_WC_SUCCESS || wqe->flags & IB_SEND_SIGNALED ||
	    qp->init.sq_sig_type == IB_SIGNAL_ALL_WR)
		strict_complete_send(dev, qp, &wc);
	strict_free_swqe(dev, qp, wqe);
}

/* The work request fails, and with it the queue pair. */
static void fail(struct strict_dev *dev, struct strict_qp *qp, struct strict_swqe *wqe,
		 enum ib_wc_status status)
{
	finish(dev, qp, wqe, status);
	strict_qp_error(dev, qp);
}

static void run_local(struct strict_dev *dev, struct strict_swqe *wqe)
{
	struct strict_mr *mr = wqe->reg_key ? strict_lkey_mr(dev, wqe->reg_key) :
			       strict_rkey_mr(dev, wqe->ex.inv_key);

	if (!mr)
		return;
	if (wqe->opcode == IB_WR_LOCAL_INV)
		strict_key_dies(dev, mr);
	mr->valid = wqe->opcode == IB_WR_REG_MR;
	mr->revoked = false;
	mr->posted = NULL;
}

static bool is_local(const struct strict_swqe *wqe)
{
	return wqe->opcode == IB_WR_REG_MR || wqe->opcode == IB_WR_LOCAL_INV;
}

static u8 last_flags(const struct strict_swqe *wqe)
{
	u8 flags = STRICT_LAST;

	if (wqe->opcode == IB_WR_SEND_WITH_IMM || wqe->opcode == IB_WR_RDMA_WRITE_WITH_IMM)
		flags |= STRICT_IMM;
	if (wqe->opcode == IB_WR_SEND_WITH_INV)
		flags |= STRICT_INV;
	if (wqe->flags & IB_SEND_SOLICITED)
		flags |= STRICT_SOLICITED;
	return flags;
}

/* Sends one packet of a work request. Returns false if its memory is not there. */
static bool send_packet(struct strict_dev *dev, struct strict_qp *qp, struct strict_swqe *wqe, u32 n)
{
	u32 mtu = ib_mtu_enum_to_int(qp->attr.path_mtu), offset = n * mtu;
	bool write = wqe->opcode == IB_WR_RDMA_WRITE || wqe->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
	struct strict_hdr hdr = {
		.op	= write ? STRICT_WRITE : STRICT_SEND,
		.qpn	= cpu_to_be32(qp->attr.dest_qp_num),
		.from	= cpu_to_be32(qp->ib.qp_num),
		.psn	= cpu_to_be32(psn_add(wqe->first_psn, n)),
		.length	= cpu_to_be32(min(mtu, wqe->length - offset)),
		.rkey	= cpu_to_be32(wqe->rkey),
		.addr	= cpu_to_be64(wqe->remote_addr + offset),
		.sum	= cpu_to_be32(wqe->sums[n]),
		.ex	= wqe->opcode == IB_WR_SEND_WITH_INV ? cpu_to_be32(wqe->ex.inv_key) : wqe->ex.imm,
	};
	struct sk_buff *skb;
	void *data;

	if (!n)
		hdr.flags |= STRICT_FIRST;
	if (n == wqe->n_packets - 1)
		hdr.flags |= last_flags(wqe);
	skb = strict_packet(dev, qp, &hdr, be32_to_cpu(hdr.length), &data);
	if (!skb)
		return true;	/* as if it had been lost */
	if (!strict_gather(dev, qp, wqe, offset, data, be32_to_cpu(hdr.length))) {
		kfree_skb(skb);
		return false;
	}
	skb_queue_tail(&dev->tx, skb);
	return true;
}

/* Completes, in order, what is done. */
static void complete_done(struct strict_dev *dev, struct strict_qp *qp)
{
	struct strict_swqe *wqe;

	while ((wqe = list_first_entry_or_null(&qp->sq, struct strict_swqe, list))) {
		if (wqe->state != STRICT_DONE)
			return;
		finish(dev, qp, wqe, IB_WC_SUCCESS);
	}
}

/* Sends what may be sent of one work request. Returns false if the queue can go no further. */
static bool send_some(struct strict_dev *dev, struct strict_qp *qp, struct strict_swqe *wqe)
{
	u32 n = (qp->send_psn - wqe->first_psn) & 0xffffff;

	for (; n < wqe->n_packets; n++) {
		if (!send_packet(dev, qp, wqe, n)) {
			/* Earlier ones complete first; an acknowledgment brings us here again. */
			complete_done(dev, qp);
			if (!list_is_first(&wqe->list, &qp->sq))
				return false;
			if (!strict_revoked(dev, wqe))
				strict_complain(dev, "queue pair %u sends memory that is %s",
						qp->ib.qp_num, "not registered, or not mapped");
			fail(dev, qp, wqe, IB_WC_LOC_PROT_ERR);
			return false;
		}
		qp->send_psn = psn_add(qp->send_psn, 1);
	}
	if (!qp->deadline)
		qp->deadline = (jiffies + ack_timeout(qp)) | 1;
	return true;
}

/*
 * With a fence, a local operation waits for everything before it. Other work requests would wait
 * for reads, which this device does not have.
 */
static bool passes_fence(struct strict_dev *dev, struct strict_qp *qp, struct strict_swqe *wqe)
{
	if (!(wqe->flags & IB_SEND_FENCE))
		return true;
	complete_done(dev, qp);
	return list_is_first(&wqe->list, &qp->sq);
}

/* Returns whether there is more to do at once. */
static bool run_queue(struct strict_dev *dev, struct strict_qp *qp)
{
	struct strict_swqe *wqe, *next;
	bool more = false;

	list_for_each_entry_safe(wqe, next, &qp->sq, list) {
		if (wqe->state == STRICT_DONE)
			continue;
		/* Its send queue drains: what is not begun has to wait. */
		if (qp->state == IB_QPS_SQD && wqe->state == STRICT_POSTED)
			break;
		if (is_local(wqe)) {
			if (!passes_fence(dev, qp, wqe))
				break;
			/* Nobody may rely on it until it is complete, but for what is behind it. */
			more = strict_choose(2);
			if (more)
				break;
			run_local(dev, wqe);
			wqe->state = STRICT_DONE;
			continue;
		}
		if (psn_cmp(qp->send_psn, psn_add(wqe->first_psn, wqe->n_packets)) < 0 &&
		    !send_some(dev, qp, wqe))
			return false;
		wqe->state = STRICT_SENT;
	}
	complete_done(dev, qp);
	return more;
}

static bool sends(const struct strict_qp *qp)
{
	return qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD;
}

/* Everything before @psn has arrived. */
void strict_acked(struct strict_dev *dev, struct strict_qp *qp, u32 psn)
{
	struct strict_swqe *wqe;

	if (!sends(qp) || psn_cmp(psn, qp->acked_psn) <= 0 || psn_cmp(psn, qp->next_psn) > 0)
		return;
	qp->acked_psn = psn;
	if (psn_cmp(qp->send_psn, psn) < 0)
		qp->send_psn = psn;
	qp->retries = 0;
	qp->rnr_retries = 0;
	list_for_each_entry(wqe, &qp->sq, list)
		if (wqe->state == STRICT_SENT &&
		    psn_cmp(psn_add(wqe->first_psn, wqe->n_packets), psn) <= 0)
			wqe->state = STRICT_DONE;
	qp->deadline = psn == qp->send_psn ? 0 : (jiffies + ack_timeout(qp)) | 1;
	complete_done(dev, qp);
}

static struct strict_swqe *oldest_sent(struct strict_qp *qp)
{
	struct strict_swqe *wqe;

	list_for_each_entry(wqe, &qp->sq, list)
		if (wqe->state == STRICT_SENT)
			return wqe;
	return NULL;
}

/* Is something begun that is not complete? */
bool strict_draining(struct strict_qp *qp)
{
	return oldest_sent(qp);
}

static void fail_oldest(struct strict_dev *dev, struct strict_qp *qp, enum ib_wc_status status)
{
	struct strict_swqe *wqe = oldest_sent(qp);

	if (!wqe)
		return;
	/* The earlier ones have succeeded. */
	complete_done(dev, qp);
	fail(dev, qp, wqe, status);
}

/* The peer has refused the packet @psn. */
void strict_refused(struct strict_dev *dev, struct strict_qp *qp, u32 psn, u8 why)
{
	/* It may be late, or of an earlier queue pair with the number of the peer's. */
	if (!sends(qp) || psn_cmp(psn, qp->acked_psn) < 0 || psn_cmp(psn, qp->next_psn) > 0)
		return;
	strict_acked(dev, qp, psn);
	switch (why) {
	case STRICT_NAK_SEQUENCE:
		qp->send_psn = qp->acked_psn;
		break;
	case STRICT_NAK_RNR:
		if (qp->attr.rnr_retry != 7 && qp->rnr_retries++ == qp->attr.rnr_retry) {
			fail_oldest(dev, qp, IB_WC_RNR_RETRY_EXC_ERR);
			return;
		}
		qp->send_psn = qp->acked_psn;
		qp->rnr_until = (jiffies + 1 + strict_below(3)) | 1;
		/* The peer has answered: the time for an acknowledgment begins anew. */
		qp->retries = 0;
		qp->deadline = 0;
		break;
	case STRICT_NAK_ACCESS:
		fail_oldest(dev, qp, IB_WC_REM_ACCESS_ERR);
		break;
	default:
		fail_oldest(dev, qp, IB_WC_REM_INV_REQ_ERR);
	}
}

static void flush(struct strict_dev *dev, struct strict_qp *qp)
{
	unsigned int left = strict_below(qp->sq_left + 1);

	while (qp->sq_left > left)
		finish(dev, qp, list_first_entry(&qp->sq, struct strict_swqe, list),
		       IB_WC_WR_FLUSH_ERR);
}

static void sooner(unsigned long *next, unsigned long when)
{
	if (time_before(when, *next))
		*next = when;
}

/*
 * Runs a send queue. Returns whether there is more to do at once; otherwise @next becomes sooner if
 * something is to be done at a certain time.
 */
bool strict_run_requester(struct strict_dev *dev, struct strict_qp *qp, unsigned long *next)
{
	bool more;

	lockdep_assert_held(&dev->lock);
	if (qp->state == IB_QPS_ERR) {
		flush(dev, qp);
		return !list_empty(&qp->sq);
	}
	if (!sends(qp))
		return false;
	if (qp->rnr_until) {
		if (time_before(jiffies, qp->rnr_until)) {
			sooner(next, qp->rnr_until);
			return false;
		}
		qp->rnr_until = 0;
	}
	if (qp->deadline && !time_before(jiffies, qp->deadline)) {
		qp->deadline = 0;
		qp->send_psn = qp->acked_psn;
		if (qp->retries++ == qp->attr.retry_cnt) {
			fail_oldest(dev, qp, IB_WC_RETRY_EXC_ERR);
			return true;
		}
	}
	more = run_queue(dev, qp);
	if (qp->state == IB_QPS_SQD && qp->attr.en_sqd_async_notify && !strict_draining(qp)) {
		qp->attr.en_sqd_async_notify = 0;
		strict_event(qp, IB_EVENT_SQ_DRAINED);
	}
	if (qp->deadline)
		sooner(next, qp->deadline);
	return more;
}
