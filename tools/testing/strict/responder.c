// SPDX-License-Identifier: GPL-2.0
/*
 * The side of a queue pair that receives.
 *
 * What a packet says is judged when it arrives, in order. Its data wait in strict_qp.arrived, and
 * are placed in pieces, in any order, as late as the completion of a later receive allows.
 */
#include <linux/slab.h>
#include "packet.h"

/* Of each arrived packet */
struct cb {
	struct strict_rwqe	*wqe;		/* of SEND and of immediate data */
	u32			at;		/* where in the message */
	u32			left;		/* WRITE: so many bytes are not placed yet */
};

static struct cb *cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct cb) > sizeof(skb->cb));
	return (struct cb *)skb->cb;
}

static struct strict_hdr *hdr_of(struct sk_buff *skb)
{
	return (struct strict_hdr *)skb->data;
}

static void *data_of(struct sk_buff *skb)
{
	return skb->data + sizeof(struct strict_hdr);
}

static void answer(struct strict_dev *dev, struct strict_qp *qp, u8 op, u8 why)
{
	struct strict_hdr hdr = {
		.op	= op,
		.why	= why,
		.qpn	= cpu_to_be32(qp->attr.dest_qp_num),
		.from	= cpu_to_be32(qp->ib.qp_num),
		.psn	= cpu_to_be32(qp->expected_psn),
	};
	struct sk_buff *skb = strict_packet(dev, qp, &hdr, 0, NULL);

	qp->answered = qp->expected_psn;
	if (skb)
		skb_queue_tail(&dev->tx, skb);
}

/* The queue pair has met an error of its peer, and fails. */
static void refuse(struct strict_dev *dev, struct strict_qp *qp, u8 why)
{
	answer(dev, qp, STRICT_NAK, why);
	if (why == STRICT_NAK_ACCESS)
		strict_event(qp, IB_EVENT_QP_ACCESS_ERR);
	else if (!qp->wrong)	/* Otherwise a completion tells. */
		strict_event(qp, IB_EVENT_QP_REQ_ERR);
	strict_qp_error(dev, qp);
}

/* ---- what arrives ---------------------------------------------------------------------- */

static void complain_unmapped(struct strict_dev *dev, const struct strict_mr *mr)
{
	strict_complain(dev, "the peer writes with key %#x, whose memory is not mapped", mr->rkey);
}

static bool may_write(struct strict_dev *dev, struct strict_qp *qp, const struct strict_hdr *hdr)
{
	struct strict_mr *mr;
	u32 length = be32_to_cpu(hdr->length);

	if (!length)
		return true;
	if (!(qp->attr.qp_access_flags & IB_ACCESS_REMOTE_WRITE))
		return false;
	mr = strict_remote_mr(dev, qp, be32_to_cpu(hdr->rkey));
	if (!mr || !strict_mr_allows(mr, be64_to_cpu(hdr->addr), length, IB_ACCESS_REMOTE_WRITE))
		return false;
	if (strict_mr_mapped(dev, mr, be64_to_cpu(hdr->addr), length, true))
		return true;
	complain_unmapped(dev, mr);
	return false;
}

/* Takes the next receive buffer off the queue, which still counts it. */
static struct strict_rwqe *take_buffer(struct strict_qp *qp)
{
	struct strict_rwqe *wqe = list_first_entry_or_null(&qp->rq, struct strict_rwqe, list);

	if (wqe)
		list_del_init(&wqe->list);
	return wqe;
}

/*
 * Returns the element of a receive buffer for the byte at @at of its message, and makes @at the
 * offset in that element; NULL if the buffer is shorter.
 */
static const struct ib_sge *element_at(const struct strict_rwqe *wqe, u32 *at)
{
	int i;

	for (i = 0; i < wqe->n_sge; i++) {
		if (*at < wqe->sge[i].length)
			return &wqe->sge[i];
		*at -= wqe->sge[i].length;
	}
	return NULL;
}

/* Can @length bytes at @at of the message in progress be received? */
static enum ib_wc_status may_receive(struct strict_dev *dev, struct strict_qp *qp, u32 at,
				     u32 length)
{
	while (length) {
		u32 offset = at, n;
		const struct ib_sge *sge = element_at(qp->receiving, &offset);
		struct strict_mr *mr;

		if (!sge)
			return IB_WC_LOC_LEN_ERR;
		n = min(length, sge->length - offset);
		mr = strict_receive_mr(dev, qp, sge->lkey);
		if (!mr || !strict_mr_allows(mr, sge->addr + offset, n, IB_ACCESS_LOCAL_WRITE))
			return IB_WC_LOC_PROT_ERR;
		if (!strict_mr_mapped(dev, mr, sge->addr + offset, n, true)) {
			strict_complain(dev, "a receive buffer is no longer mapped");
			return IB_WC_LOC_PROT_ERR;
		}
		length -= n;
		at += n;
	}
	return IB_WC_SUCCESS;
}

static void place_write(struct strict_dev *dev, struct strict_qp *qp, struct sk_buff *skb);

/* The peer invalidates a region with a SEND. What it has written there before is placed first. */
static bool invalidate(struct strict_dev *dev, struct strict_qp *qp, const struct strict_hdr *hdr)
{
	struct strict_mr *mr = strict_remote_mr(dev, qp, be32_to_cpu(hdr->ex));
	struct sk_buff *skb;

	if (!mr || mr->all)
		return false;
	skb_queue_walk(&qp->arrived, skb)
		if (hdr_of(skb)->op == STRICT_WRITE && hdr_of(skb)->rkey == hdr->ex)
			place_write(dev, qp, skb);
	mr->valid = false;
	mr->revoked = true;
	return true;
}

static u8 accept_send(struct strict_dev *dev, struct strict_qp *qp, struct sk_buff *skb)
{
	const struct strict_hdr *hdr = hdr_of(skb);

	if (hdr->flags & STRICT_FIRST) {
		qp->receiving = take_buffer(qp);
		if (!qp->receiving)
			return STRICT_NAK_RNR;
		qp->received = 0;
	}
	if (!qp->receiving)
		return STRICT_NAK_OPERATION;
	qp->wrong = may_receive(dev, qp, qp->received, be32_to_cpu(hdr->length));
	/* The buffer is the last one that has been taken: end_arrived() completes it. */
	if (qp->wrong)
		return STRICT_NAK_OPERATION;
	if (hdr->flags & STRICT_INV && !invalidate(dev, qp, hdr))
		return STRICT_NAK_ACCESS;
	cb(skb)->wqe = qp->receiving;
	if (hdr->flags & STRICT_LAST)
		qp->receiving = NULL;
	return 0;
}

static u8 accept_write(struct strict_dev *dev, struct strict_qp *qp, struct sk_buff *skb)
{
	const struct strict_hdr *hdr = hdr_of(skb);

	if (!may_write(dev, qp, hdr)) {
		if (strict_is_dead(dev, qp, be32_to_cpu(hdr->rkey)))
			strict_complain(dev, "the peer writes with key %#x, which is no longer valid",
					be32_to_cpu(hdr->rkey));
		return STRICT_NAK_ACCESS;
	}
	if (hdr->flags & STRICT_FIRST)
		qp->received = 0;
	if (!(hdr->flags & STRICT_IMM))
		return 0;
	cb(skb)->wqe = take_buffer(qp);
	return cb(skb)->wqe ? 0 : STRICT_NAK_RNR;
}

/* Returns 0, or the reason to refuse the packet. */
static u8 accept(struct strict_dev *dev, struct strict_qp *qp, struct sk_buff *skb)
{
	u8 why;

	*cb(skb) = (struct cb) {};
	why = hdr_of(skb)->op == STRICT_SEND ? accept_send(dev, qp, skb) : accept_write(dev, qp, skb);
	if (!why) {
		cb(skb)->at = qp->received;
		cb(skb)->left = be32_to_cpu(hdr_of(skb)->length);
		qp->received += be32_to_cpu(hdr_of(skb)->length);
	}
	return why;
}

/* A packet of the peer's requester; consumes @skb. */
void strict_responder_rx(struct strict_dev *dev, struct strict_qp *qp, struct sk_buff *skb)
{
	s32 cmp = psn_cmp(be32_to_cpu(hdr_of(skb)->psn), qp->expected_psn);
	u8 why;

	if (qp->state != IB_QPS_RTR && qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD)
		goto drop;
	if (cmp < 0) {
		qp->ack_due = true;
		goto drop;
	}
	if (cmp > 0) {
		if (!qp->nak_sent)
			answer(dev, qp, STRICT_NAK, STRICT_NAK_SEQUENCE);
		qp->nak_sent = true;
		goto drop;
	}
	why = accept(dev, qp, skb);
	if (why == STRICT_NAK_RNR) {
		answer(dev, qp, STRICT_NAK, why);
		goto drop;
	}
	if (why) {
		refuse(dev, qp, why);
		goto drop;
	}
	/* A packet that has arrived before may differ: it was dropped above. */
	if (strict_sum(data_of(skb), be32_to_cpu(hdr_of(skb)->length)) != be32_to_cpu(hdr_of(skb)->sum))
		strict_complain(dev, "queue pair %u: data changed before they arrived", qp->ib.qp_num);
	/* A packet has come before the consumer has made the queue pair ready to send. */
	if (qp->state == IB_QPS_RTR && !qp->established)
		strict_event(qp, IB_EVENT_COMM_EST);
	qp->established = true;
	qp->nak_sent = false;
	qp->expected_psn = psn_add(qp->expected_psn, 1);
	qp->ack_due = true;
	__skb_queue_tail(&qp->arrived, skb);
	return;
drop:
	kfree_skb(skb);
}

/* ---- what is placed -------------------------------------------------------------------- */

static void write_piece(struct strict_dev *dev, struct strict_qp *qp, struct sk_buff *skb,
			u32 from, u32 to)
{
	const struct strict_hdr *hdr = hdr_of(skb);
	struct strict_mr *mr = strict_remote_mr(dev, qp, be32_to_cpu(hdr->rkey));

	/* The region may have been invalidated since. */
	if (mr && from < to && !strict_mr_copy(dev, mr, be64_to_cpu(hdr->addr) + from,
					       data_of(skb) + from, to - from, true))
		complain_unmapped(dev, mr);
}

/* Places the end of what is left, or all. */
static void place_piece(struct strict_dev *dev, struct strict_qp *qp, struct sk_buff *skb)
{
	u32 cut = strict_below(cb(skb)->left);

	write_piece(dev, qp, skb, cut, cb(skb)->left);
	cb(skb)->left = cut;
}

static void place_write(struct strict_dev *dev, struct strict_qp *qp, struct sk_buff *skb)
{
	place_piece(dev, qp, skb);
	write_piece(dev, qp, skb, 0, cb(skb)->left);
	cb(skb)->left = 0;
}

/* Whether there is room was checked on arrival. */
static void place_send(struct strict_dev *dev, struct strict_qp *qp, struct sk_buff *skb)
{
	u32 at = cb(skb)->at, left = be32_to_cpu(hdr_of(skb)->length);
	void *data = data_of(skb);

	while (left) {
		u32 offset = at, n;
		const struct ib_sge *sge = element_at(cb(skb)->wqe, &offset);
		struct strict_mr *mr;

		n = min(left, sge->length - offset);
		mr = strict_receive_mr(dev, qp, sge->lkey);
		if (!mr) {
			strict_complain(dev, "key %#x of a receive buffer has become invalid", sge->lkey);
			return;
		}
		if (!strict_mr_copy(dev, mr, sge->addr + offset, data, n, true)) {
			strict_complain(dev, "a receive buffer is no longer mapped");
			return;
		}
		data += n;
		left -= n;
		at += n;
	}
}

static void complete_receive(struct strict_dev *dev, struct strict_qp *qp, struct sk_buff *skb)
{
	const struct strict_hdr *hdr = hdr_of(skb);
	struct strict_rwqe *wqe = cb(skb)->wqe;
	struct ib_wc wc = {
		.wr_id	  = wqe->wr_id,
		.status	  = IB_WC_SUCCESS,
		.opcode	  = hdr->op == STRICT_WRITE ? IB_WC_RECV_RDMA_WITH_IMM : IB_WC_RECV,
		.byte_len = cb(skb)->at + be32_to_cpu(hdr->length),
		.qp	  = &qp->ib,
		.src_qp	  = qp->attr.dest_qp_num,
		.port_num = 1,
	};

	if (hdr->flags & STRICT_IMM) {
		wc.wc_flags = IB_WC_WITH_IMM;
		wc.ex.imm_data = hdr->ex;
	} else if (hdr->flags & STRICT_INV) {
		wc.wc_flags = IB_WC_WITH_INVALIDATE;
		wc.ex.invalidate_rkey = be32_to_cpu(hdr->ex);
	}
	strict_complete_recv(dev, qp, &wc, hdr->flags & STRICT_SOLICITED);
	strict_free_rwqe(dev, qp, wqe);
}

static bool overlap(const struct strict_hdr *a, const struct strict_hdr *b)
{
	u64 at_a = be64_to_cpu(a->addr), at_b = be64_to_cpu(b->addr);

	return a->rkey == b->rkey && at_a < at_b + be32_to_cpu(b->length) &&
	       at_b < at_a + be32_to_cpu(a->length);
}

/* Of two writes to the same bytes the later one wins. */
static struct sk_buff *first_overlapping(struct strict_qp *qp, struct sk_buff *skb)
{
	struct sk_buff *first = NULL, *earlier;

	while (first != skb) {
		skb = first ?: skb;
		skb_queue_walk(&qp->arrived, earlier)
			if (earlier == skb || overlap(hdr_of(earlier), hdr_of(skb)))
				break;
		first = earlier;
	}
	return skb;
}

/* Any of the writes that arrived before @end, or NULL. */
static struct sk_buff *pick_write(struct strict_qp *qp, struct sk_buff *end)
{
	unsigned int n = 0, i;
	struct sk_buff *skb;

	skb_queue_walk(&qp->arrived, skb) {
		if (skb == end)
			break;
		n++;
	}
	if (!n)
		return NULL;
	i = strict_below(n);
	skb_queue_walk(&qp->arrived, skb)
		if (!i--)
			break;
	return first_overlapping(qp, skb);
}

/* Places all writes that arrived before @end, in any order, unless they overlap. */
static void place_writes(struct strict_dev *dev, struct strict_qp *qp, struct sk_buff *end)
{
	struct sk_buff *pick;

	while ((pick = pick_write(qp, end))) {
		place_write(dev, qp, pick);
		__skb_unlink(pick, &qp->arrived);
		kfree_skb(pick);
	}
}

static struct sk_buff *first_receive(struct strict_qp *qp)
{
	struct sk_buff *skb;

	skb_queue_walk(&qp->arrived, skb)
		if (cb(skb)->wqe)
			return skb;
	return NULL;
}

/* Places everything up to the first packet that fills a receive buffer. */
static void receive(struct strict_dev *dev, struct strict_qp *qp, struct sk_buff *skb)
{
	const struct strict_hdr *hdr = hdr_of(skb);

	place_writes(dev, qp, skb);
	if (hdr->op == STRICT_WRITE)
		place_write(dev, qp, skb);
	else
		place_send(dev, qp, skb);
	if (hdr->flags & STRICT_LAST)
		complete_receive(dev, qp, skb);
	__skb_unlink(skb, &qp->arrived);
	kfree_skb(skb);
}

/* ---- the end --------------------------------------------------------------------------- */

/* Drops what has arrived, and frees the buffers that were taken for it, without completions. */
void strict_forget_arrived(struct strict_dev *dev, struct strict_qp *qp)
{
	struct strict_rwqe *freed = NULL;
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&qp->arrived))) {
		struct strict_rwqe *wqe = cb(skb)->wqe;

		/* The packets of one message follow one another. */
		if (wqe && wqe != freed && wqe != qp->receiving) {
			strict_free_rwqe(dev, qp, wqe);
			freed = wqe;
		}
		kfree_skb(skb);
	}
	if (qp->receiving)
		strict_free_rwqe(dev, qp, qp->receiving);
	qp->receiving = NULL;
	qp->wrong = 0;
}

static void flush_buffer(struct strict_dev *dev, struct strict_qp *qp, struct strict_rwqe *wqe,
			 enum ib_wc_status status)
{
	struct ib_wc wc = {
		.wr_id	= wqe->wr_id,
		.status	= status,
		.opcode	= IB_WC_RECV,
		.qp	= &qp->ib,
	};

	strict_complete_recv(dev, qp, &wc, false);
	strict_free_rwqe(dev, qp, wqe);
}

/* Has the peer been told that the packet has arrived? */
static bool is_answered(const struct strict_qp *qp, struct sk_buff *skb)
{
	return psn_cmp(be32_to_cpu(hdr_of(skb)->psn), qp->answered) < 0;
}

/*
 * Acknowledged data are placed and complete, because the peer does not send them again. Only a
 * disorderly failure of a device would lose them (RFC 7609, 4.6.1). Of the rest, data are placed or
 * not, and what would have completed is flushed. The buffer of a message in progress is that of the
 * last packets in strict_qp.arrived, or qp->receiving.
 */
static void end_arrived(struct strict_dev *dev, struct strict_qp *qp)
{
	struct strict_rwqe *flushed = NULL;
	struct sk_buff *skb;

	while ((skb = first_receive(qp)) && is_answered(qp, skb))
		receive(dev, qp, skb);
	while ((skb = __skb_dequeue(&qp->arrived))) {
		struct strict_rwqe *wqe = cb(skb)->wqe;

		if (hdr_of(skb)->op == STRICT_WRITE && (is_answered(qp, skb) || !strict_choose(2)))
			place_write(dev, qp, skb);
		/* What a flushed buffer contains is undefined. */
		if (hdr_of(skb)->op == STRICT_SEND && strict_choose(2))
			place_send(dev, qp, skb);
		if (wqe && wqe != flushed && wqe != qp->receiving)
			flush_buffer(dev, qp, wqe, IB_WC_WR_FLUSH_ERR);
		if (wqe != qp->receiving)
			flushed = wqe;
		kfree_skb(skb);
	}
	if (qp->receiving)
		flush_buffer(dev, qp, qp->receiving, qp->wrong ?: IB_WC_WR_FLUSH_ERR);
	qp->receiving = NULL;
	qp->wrong = 0;
}

static bool flush(struct strict_dev *dev, struct strict_qp *qp)
{
	unsigned int left;

	end_arrived(dev, qp);
	/* All that are counted are on the list now. */
	left = strict_below(qp->rq_left + 1);
	while (qp->rq_left > left)
		flush_buffer(dev, qp, list_first_entry(&qp->rq, struct strict_rwqe, list),
			     IB_WC_WR_FLUSH_ERR);
	return qp->rq_left;
}

/* Nobody may rely on writes that no completion follows, but they may come, or parts of them. */
static void place_early(struct strict_dev *dev, struct strict_qp *qp)
{
	struct sk_buff *pick;

	switch (strict_below(3)) {
	case 0:
		place_writes(dev, qp, NULL);
		break;
	case 1:
		pick = pick_write(qp, NULL);
		if (pick)
			place_piece(dev, qp, pick);
		break;
	}
}

/* Places, completes and acknowledges. Returns whether there is more to do. */
bool strict_run_responder(struct strict_dev *dev, struct strict_qp *qp)
{
	struct sk_buff *skb;

	lockdep_assert_held(&dev->lock);
	if (qp->state == IB_QPS_ERR)
		return flush(dev, qp);
	while (qp->state != IB_QPS_ERR && (skb = first_receive(qp))) {
		if (strict_choose(4))
			break;
		receive(dev, qp, skb);
	}
	if (qp->state != IB_QPS_ERR && !first_receive(qp))
		place_early(dev, qp);
	if (qp->ack_due && !strict_choose(3)) {
		qp->ack_due = false;
		answer(dev, qp, STRICT_ACK, 0);
	}
	return qp->ack_due || qp->state == IB_QPS_ERR || first_receive(qp);
}
