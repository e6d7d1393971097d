// SPDX-License-Identifier: GPL-2.0
/* Work requests: what the consumer posts, and the memory that they name. */
#include <linux/crc32.h>
#include <linux/slab.h>
#include "packet.h"

/* ---- memory ---------------------------------------------------------------------------- */

/* The region of an element, or NULL if the consumer may not use it so. */
static struct strict_mr *sge_mr(struct strict_dev *dev, struct strict_qp *qp,
				const struct ib_sge *sge, int access)
{
	struct strict_mr *mr = access & IB_ACCESS_LOCAL_WRITE ? strict_receive_mr(dev, qp, sge->lkey) :
			       strict_local_mr(dev, qp, sge->lkey);

	return mr && strict_mr_allows(mr, sge->addr, sge->length, access) ? mr : NULL;
}

/*
 * Reads a part of the data of a work request. Returns false if its memory is not registered, or not
 * mapped.
 */
bool strict_gather(struct strict_dev *dev, struct strict_qp *qp, const struct strict_swqe *wqe,
		   u32 offset, void *to, u32 length)
{
	int i;

	lockdep_assert_held(&dev->lock);
	if (wqe->flags & IB_SEND_INLINE) {
		memcpy(to, wqe->inline_data + offset, length);
		return true;
	}
	for (i = 0; i < wqe->n_sge && length; i++) {
		const struct ib_sge *sge = &wqe->sge[i];
		struct strict_mr *mr;
		u32 n;

		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		mr = sge_mr(dev, qp, sge, 0);
		if (!mr)
			return false;
		n = min(length, sge->length - offset);
		if (!strict_mr_copy(dev, mr, sge->addr + offset, to, n, false))
			return false;
		offset = 0;
		to += n;
		length -= n;
	}
	return !length;
}

/* Has the peer invalidated a region that the work request uses? The consumer is not to blame. */
bool strict_revoked(struct strict_dev *dev, const struct strict_swqe *wqe)
{
	const struct strict_mr *mr;
	int i;

	for (i = 0; i < wqe->n_sge; i++) {
		mr = strict_lkey_mr(dev, wqe->sge[i].lkey);
		if (mr && mr->revoked)
			return true;
	}
	return false;
}

static bool in_elements(struct strict_dev *dev, const struct ib_sge *sge, int n, u64 first,
			u64 last)
{
	const struct strict_mr *mr;
	int i;

	for (i = 0; i < n; i++) {
		mr = strict_lkey_mr(dev, sge[i].lkey);
		if (mr && strict_mr_allows(mr, sge[i].addr, sge[i].length, 0) &&
		    strict_mr_touches(mr, sge[i].addr, sge[i].length, first, last))
			return true;
	}
	return false;
}

/* Does a work request that is not complete name memory at these addresses of the device? */
bool strict_in_use(struct strict_dev *dev, u64 first, u64 last)
{
	struct strict_swqe *swqe;
	struct strict_rwqe *rwqe;
	struct strict_qp *qp;

	lockdep_assert_held(&dev->lock);
	list_for_each_entry(qp, &dev->qps, list) {
		list_for_each_entry(swqe, &qp->sq, list)
			if (!(swqe->flags & IB_SEND_INLINE) &&
			    in_elements(dev, swqe->sge, swqe->n_sge, first, last))
				return true;
		list_for_each_entry(rwqe, &qp->rq, list)
			if (in_elements(dev, rwqe->sge, rwqe->n_sge, first, last))
				return true;
	}
	return false;
}

u32 strict_sum(const void *data, u32 length)
{
	return crc32_le(~0, data, length);
}

/* Remembers what each packet has to contain. */
static int take_sums(struct strict_dev *dev, struct strict_qp *qp, struct strict_swqe *wqe)
{
	u32 mtu = ib_mtu_enum_to_int(qp->attr.path_mtu), n, length;
	u8 *data = kmalloc(mtu, GFP_ATOMIC);

	wqe->sums = kmalloc_array(wqe->n_packets, sizeof(*wqe->sums), GFP_ATOMIC);
	if (!data || !wqe->sums) {
		kfree(data);
		return -ENOMEM;
	}
	for (n = 0; n < wqe->n_packets; n++) {
		length = min(mtu, wqe->length - n * mtu);
		strict_gather(dev, qp, wqe, n * mtu, data, length);
		wqe->sums[n] = strict_sum(data, length);
	}
	kfree(data);
	return 0;
}

static void use_regions(struct strict_dev *dev, struct strict_qp *qp, const struct ib_sge *sge,
			int n, int by)
{
	struct strict_mr *mr;
	int i;

	for (i = 0; i < n; i++) {
		mr = strict_lkey_mr(dev, sge[i].lkey);
		if (mr)
			mr->users += by;
	}
}

void strict_free_swqe(struct strict_dev *dev, struct strict_qp *qp, struct strict_swqe *wqe)
{
	struct strict_mr *mr = wqe->reg_key ? strict_lkey_mr(dev, wqe->reg_key) : NULL;

	lockdep_assert_held(&dev->lock);
	if (!(wqe->flags & IB_SEND_INLINE))
		use_regions(dev, qp, wqe->sge, wqe->n_sge, -1);
	/* If it was flushed, the region has not become valid. */
	if (mr) {
		mr->users--;
		mr->posted = NULL;
	}
	list_del(&wqe->list);
	qp->sq_left--;
	kfree(wqe->sums);
	kfree(wqe);
}

void strict_free_rwqe(struct strict_dev *dev, struct strict_qp *qp, struct strict_rwqe *wqe)
{
	lockdep_assert_held(&dev->lock);
	use_regions(dev, qp, wqe->sge, wqe->n_sge, -1);
	list_del(&wqe->list);
	qp->rq_left--;
	kfree(wqe);
}

/* ---- send ------------------------------------------------------------------------------ */

static bool has_data(enum ib_wr_opcode opcode)
{
	return opcode != IB_WR_REG_MR && opcode != IB_WR_LOCAL_INV;
}

static void check_element(struct strict_dev *dev, struct strict_qp *qp, struct strict_swqe *wqe,
			  const struct ib_sge *sge)
{
	const struct strict_mr *mr = sge_mr(dev, qp, sge, 0);

	if (!mr && !strict_revoked(dev, wqe))
		strict_complain(dev, "send from memory that key %#x does not cover", sge->lkey);
	if (mr && !strict_mr_mapped(dev, mr, sge->addr, sge->length, false))
		strict_complain(dev, "send of %u bytes at %#llx, which are not mapped so", sge->length,
				sge->addr);
}

static int take_elements(struct strict_dev *dev, struct strict_qp *qp, struct strict_swqe *wqe,
			 const struct ib_send_wr *wr)
{
	int i;

	if (wr->num_sge > qp->init.cap.max_send_sge) {
		strict_complain(dev, "send with %d elements, of %u at most", wr->num_sge,
				qp->init.cap.max_send_sge);
		return -EINVAL;
	}
	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (wr->send_flags & IB_SEND_INLINE) {
			if ((u64)wqe->length + sge->length > qp->init.cap.max_inline_data) {
				strict_complain(dev, "more than %u bytes inline",
						qp->init.cap.max_inline_data);
				return -EINVAL;
			}
			memcpy(wqe->inline_data + wqe->length, (void *)(uintptr_t)sge->addr, sge->length);
		}
		if ((u64)wqe->length + sge->length > STRICT_MESSAGE) {
			strict_complain(dev, "a message above %u bytes", STRICT_MESSAGE);
			return -EINVAL;
		}
		wqe->sge[i] = *sge;
		wqe->n_sge++;
		wqe->length += sge->length;
		/* Without bytes, nobody looks at the key. */
		if (sge->length && !(wr->send_flags & IB_SEND_INLINE))
			check_element(dev, qp, wqe, sge);
	}
	return 0;
}

/* The pages at the ends may be mapped in parts. */
static void check_pages(struct strict_dev *dev, const struct strict_mr *mr, bool write)
{
	struct strict_mr will = *mr;

	will.iova = mr->ib.iova;
	if (mr->n_pages && mr->ib.length <= (u64)mr->n_pages * mr->ib.page_size - mr->offset &&
	    !strict_mr_mapped(dev, &will, will.iova, mr->ib.length, write))
		strict_complain(dev, "key %#x is registered for memory that is not mapped so", mr->rkey);
}

/* What makes a region valid, and the values with which it will be. */
static void take_registration(struct strict_dev *dev, struct strict_qp *qp, struct strict_swqe *wqe,
			      const struct ib_reg_wr *reg)
{
	struct strict_mr *mr = to_mr(reg->mr);

	if (mr->valid || mr->posted)
		strict_complain(dev, "key %#x is registered twice", reg->key);
	if (reg->key != mr->rkey || mr->ib.pd != qp->ib.pd || !mr->n_pages)
		strict_complain(dev, "key %#x: another key, protection domain, or no pages", reg->key);
	if (reg->access & IB_ACCESS_REMOTE_WRITE && !(reg->access & IB_ACCESS_LOCAL_WRITE))
		strict_complain(dev, "key %#x: writes of the peer without writes of its own", reg->key);
	if ((mr->ib.iova & (mr->ib.page_size - 1)) != mr->offset)
		strict_complain(dev, "key %#x: the address %#llx has another offset in its page",
				reg->key, mr->ib.iova);
	if (!mr->ib.length || mr->ib.iova + mr->ib.length - 1 < mr->ib.iova)
		strict_complain(dev, "key %#x: %#llx bytes from %#llx", reg->key, mr->ib.length,
				mr->ib.iova);
	check_pages(dev, mr, reg->access & IB_ACCESS_REMOTE_WRITE);
	wqe->reg_key = mr->lkey;
	mr->posted = qp;
	mr->users++;
	mr->access = reg->access;
	mr->iova = mr->ib.iova;
	mr->length = mr->ib.length;
}

static void check_invalidation(struct strict_dev *dev, struct strict_qp *qp, u32 rkey)
{
	const struct strict_mr *mr = strict_rkey_mr(dev, rkey);

	if (!mr || mr->ib.pd != qp->ib.pd || !(mr->valid || mr->revoked || mr->posted == qp))
		strict_complain(dev, "key %#x, which is not valid, is invalidated", rkey);
}

static int take_opcode(struct strict_dev *dev, struct strict_qp *qp, struct strict_swqe *wqe,
		       const struct ib_send_wr *wr)
{
	int flags = IB_SEND_FENCE | IB_SEND_SIGNALED;

	if (has_data(wr->opcode))
		flags |= IB_SEND_SOLICITED | IB_SEND_INLINE;
	if (wr->send_flags & ~flags) {
		strict_complain(dev, "opcode %d with flags %#x", wr->opcode, wr->send_flags);
		return -EINVAL;
	}
	switch (wr->opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wqe->remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
		break;
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
		break;
	case IB_WR_LOCAL_INV:
		check_invalidation(dev, qp, wr->ex.invalidate_rkey);
		break;
	case IB_WR_REG_MR:
		take_registration(dev, qp, wqe, container_of(wr, struct ib_reg_wr, wr));
		break;
	default:
		strict_complain(dev, "opcode %d is not supported", wr->opcode);
		return -EINVAL;
	}
	return 0;
}

static int post_send(struct strict_dev *dev, struct strict_qp *qp, const struct ib_send_wr *wr)
{
	struct strict_swqe *wqe;
	u32 mtu = ib_mtu_enum_to_int(qp->attr.path_mtu);
	int rc;

	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD && qp->state != IB_QPS_SQE &&
	    qp->state != IB_QPS_ERR) {
		strict_complain(dev, "send to queue pair %u in state %d", qp->ib.qp_num, qp->state);
		return -EINVAL;
	}
	if (qp->sq_used == qp->init.cap.max_send_wr) {
		strict_complain(dev, "queue pair %u: its send queue of %u is full", qp->ib.qp_num,
				qp->init.cap.max_send_wr);
		return -ENOMEM;
	}
	wqe = kzalloc(sizeof(*wqe), GFP_ATOMIC);
	if (!wqe)
		return -ENOMEM;
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags;
	wqe->ex.imm = wr->ex.imm_data;
	rc = take_opcode(dev, qp, wqe, wr);
	if (!rc && has_data(wr->opcode))
		rc = take_elements(dev, qp, wqe, wr);
	if (!rc && has_data(wr->opcode) && qp->state != IB_QPS_ERR) {
		wqe->n_packets = max(1U, DIV_ROUND_UP(wqe->length, mtu));
		rc = take_sums(dev, qp, wqe);
	}
	if (rc) {
		kfree(wqe->sums);
		kfree(wqe);
		return rc;
	}
	wqe->first_psn = qp->next_psn;
	qp->next_psn = psn_add(qp->next_psn, wqe->n_packets);
	if (!(wqe->flags & IB_SEND_INLINE))
		use_regions(dev, qp, wqe->sge, wqe->n_sge, 1);
	list_add_tail(&wqe->list, &qp->sq);
	qp->sq_left++;
	qp->sq_used++;
	return 0;
}

int strict_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	struct strict_dev *dev = to_dev(ibqp->device);
	unsigned long flags;
	int rc = 0;

	spin_lock_irqsave(&dev->lock, flags);
	for (; wr; wr = wr->next) {
		rc = post_send(dev, to_qp(ibqp), wr);
		if (rc) {
			*bad = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&dev->lock, flags);
	strict_wake(dev);
	return rc;
}

/* ---- receive --------------------------------------------------------------------------- */

static int post_recv(struct strict_dev *dev, struct strict_qp *qp, const struct ib_recv_wr *wr)
{
	const struct strict_mr *mr;
	struct strict_rwqe *wqe;
	int i;

	if (qp->state == IB_QPS_RESET) {
		strict_complain(dev, "receive buffer for queue pair %u, which is reset", qp->ib.qp_num);
		return -EINVAL;
	}
	if (wr->num_sge > qp->init.cap.max_recv_sge) {
		strict_complain(dev, "receive buffer of %d elements, of %u at most", wr->num_sge,
				qp->init.cap.max_recv_sge);
		return -EINVAL;
	}
	if (qp->rq_used == qp->init.cap.max_recv_wr) {
		strict_complain(dev, "queue pair %u: its receive queue of %u is full", qp->ib.qp_num,
				qp->init.cap.max_recv_wr);
		return -ENOMEM;
	}
	wqe = kzalloc(sizeof(*wqe), GFP_ATOMIC);
	if (!wqe)
		return -ENOMEM;
	wqe->wr_id = wr->wr_id;
	wqe->n_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++) {
		wqe->sge[i] = wr->sg_list[i];
		if (!wqe->sge[i].length)
			continue;
		mr = sge_mr(dev, qp, &wqe->sge[i], IB_ACCESS_LOCAL_WRITE);
		if (!mr)
			strict_complain(dev, "receive into memory that key %#x does not cover",
					wqe->sge[i].lkey);
		else if (!strict_mr_mapped(dev, mr, wqe->sge[i].addr, wqe->sge[i].length, true))
			strict_complain(dev, "receive of %u bytes to %#llx, which are not mapped so",
					wqe->sge[i].length, wqe->sge[i].addr);
	}
	use_regions(dev, qp, wqe->sge, wqe->n_sge, 1);
	list_add_tail(&wqe->list, &qp->rq);
	qp->rq_left++;
	qp->rq_used++;
	return 0;
}

int strict_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct strict_dev *dev = to_dev(ibqp->device);
	unsigned long flags;
	int rc = 0;

	spin_lock_irqsave(&dev->lock, flags);
	for (; wr; wr = wr->next) {
		rc = post_recv(dev, to_qp(ibqp), wr);
		if (rc) {
			*bad = wr;
			break;
		}
	}
	spin_unlock_irqrestore(&dev->lock, flags);
	strict_wake(dev);
	return rc;
}
