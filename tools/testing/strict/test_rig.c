// SPDX-License-Identifier: GPL-2.0
/* Two connected queue pairs, and short forms of what consumers do with them. */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include "test.h"

static void cq_done(struct ib_cq *cq, void *context)
{
	struct test_end *end = context;

	WRITE_ONCE(end->n_events, end->n_events + 1);
}

static void cq_event(struct ib_event *event, void *context)
{
	struct test_end *end = context;

	set_bit(event->event, &end->cq_events);
}

static void qp_event(struct ib_event *event, void *context)
{
	struct test_end *end = context;

	set_bit(event->event, &end->qp_events);
}

static int find_gid(struct test_rig *rig)
{
	const struct ib_gid_attr *attr;
	int rc = -ENOENT;

	for (rig->gid_index = 0; rc && rig->gid_index < 16; rig->gid_index++) {
		attr = rdma_get_gid_attr(rig->ibdev, 1, rig->gid_index);
		if (IS_ERR(attr))
			continue;
		rig->gid = attr->gid;
		rc = rdma_read_gid_l2_fields(attr, NULL, rig->mac);
		rdma_put_gid_attr(attr);
	}
	rig->gid_index--;
	return rc;
}

void test_attr(struct test_rig *rig, struct test_end *to, enum ib_qp_state state,
	       struct ib_qp_attr *attr, int *mask)
{
	*attr = (struct ib_qp_attr) {
		.qp_state	 = state,
		.port_num	 = 1,
		.qp_access_flags = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
		.path_mtu	 = IB_MTU_1024,
		.dest_qp_num	 = to->qp->qp_num,
		.timeout	 = 14,
		.retry_cnt	 = 6,
		.rnr_retry	 = 7,
		.min_rnr_timer	 = 8,
	};
	attr->ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(&attr->ah_attr, 1);
	rdma_ah_set_grh(&attr->ah_attr, &rig->gid, 0, rig->gid_index, 1, 0);
	ether_addr_copy(attr->ah_attr.roce.dmac, rig->mac);
	*mask = IB_QP_STATE;
	if (state == IB_QPS_INIT)
		*mask |= IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS;
	if (state == IB_QPS_RTR)
		*mask |= IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			 IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	if (state == IB_QPS_RTS)
		*mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
			 IB_QP_MAX_QP_RD_ATOMIC;
}

int test_modify(struct test_rig *rig, struct test_end *end, enum ib_qp_state state)
{
	struct ib_qp_attr attr;
	int mask;

	test_attr(rig, end == &rig->a ? &rig->b : &rig->a, state, &attr, &mask);
	return ib_modify_qp(end->qp, &attr, mask);
}

static int make_end(struct test_rig *rig, struct test_end *end, const struct test_options *options)
{
	struct ib_cq_init_attr cq = { .cqe = options->n_cqe ?: 64 };
	struct ib_qp_init_attr init = {
		.event_handler = qp_event,
		.qp_context    = end,
		.sq_sig_type   = IB_SIGNAL_REQ_WR,
		.qp_type       = IB_QPT_RC,
		.cap = {
			.max_send_wr	 = options->n_send ?: 16,
			.max_recv_wr	 = options->n_recv ?: 16,
			.max_send_sge	 = 2,
			.max_recv_sge	 = 1,
			.max_inline_data = 32,
		},
	};

	end->mem = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(TEST_MEMORY));
	if (!end->mem)
		return -ENOMEM;
	sg_init_one(&end->sg, end->mem, TEST_MEMORY);
	if (ib_dma_map_sg(rig->ibdev, &end->sg, 1, DMA_BIDIRECTIONAL) != 1)
		return -EIO;
	end->dma = sg_dma_address(&end->sg);
	end->cq = ib_create_cq(rig->ibdev, cq_done, cq_event, end, &cq);
	if (IS_ERR(end->cq))
		return PTR_ERR(end->cq);
	init.send_cq = end->cq;
	init.recv_cq = end->cq;
	end->qp = ib_create_qp(rig->pd, &init);
	if (IS_ERR(end->qp))
		return PTR_ERR(end->qp);
	end->mr = ib_alloc_mr(rig->pd, IB_MR_TYPE_MEM_REG, 8);
	if (IS_ERR(end->mr))
		return PTR_ERR(end->mr);
	return ib_map_mr_sg(end->mr, &end->sg, 1, NULL, PAGE_SIZE) == 1 ? 0 : -EIO;
}

int test_begin(struct test_rig *rig, struct ib_device *ibdev, const struct test_options *options)
{
	enum ib_qp_state state;
	int rc;

	*rig = (struct test_rig) { .ibdev = ibdev };
	rc = find_gid(rig);
	if (rc)
		return rc;
	rig->pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(rig->pd))
		return PTR_ERR(rig->pd);
	rc = make_end(rig, &rig->a, options) ?: make_end(rig, &rig->b, options);
	for (state = IB_QPS_INIT; !rc && state <= IB_QPS_RTS && !options->unconnected; state++)
		rc = test_modify(rig, &rig->a, state) ?: test_modify(rig, &rig->b, state);
	return rc;
}

static void free_end(struct test_rig *rig, struct test_end *end)
{
	if (!IS_ERR_OR_NULL(end->qp))
		ib_destroy_qp(end->qp);
	if (!IS_ERR_OR_NULL(end->mr))
		ib_dereg_mr(end->mr);
	if (!IS_ERR_OR_NULL(end->cq))
		ib_destroy_cq(end->cq);
	if (end->dma)
		ib_dma_unmap_sg(rig->ibdev, &end->sg, 1, DMA_BIDIRECTIONAL);
	free_pages((unsigned long)end->mem, get_order(TEST_MEMORY));
}

void test_end(struct test_rig *rig)
{
	free_end(rig, &rig->a);
	free_end(rig, &rig->b);
	if (!IS_ERR_OR_NULL(rig->pd))
		ib_dealloc_pd(rig->pd);
}

bool test_poll(struct test_end *end, struct ib_wc *wc)
{
	int i;

	for (i = 0; i < 200; i++) {
		if (ib_poll_cq(end->cq, 1, wc) == 1)
			return true;
		msleep(20);
	}
	return false;
}

bool test_await(struct test_end *end, u64 id, enum ib_wc_status status)
{
	struct ib_wc wc;

	if (!test_poll(end, &wc) || wc.wr_id != id)
		return false;
	/* The refusal may get lost, and the peer then says nothing any more. */
	if (wc.status == IB_WC_RETRY_EXC_ERR &&
	    (status == IB_WC_REM_ACCESS_ERR || status == IB_WC_REM_INV_REQ_ERR))
		return true;
	return wc.status == status;
}

/* Posts REG_MR and waits for its completion. */
int test_register(struct test_rig *rig, struct test_end *end, int access)
{
	struct ib_reg_wr wr = {
		.wr.opcode     = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.wr_id      = 77,
		.mr	       = end->mr,
		.key	       = end->mr->rkey,
		.access	       = access,
	};

	return ib_post_send(end->qp, &wr.wr, NULL) ?: test_await(end, 77, IB_WC_SUCCESS) ? 0 : -EIO;
}

/* Receives into the second half of the memory. */
int test_recv(struct test_rig *rig, struct test_end *end, u64 id, u32 length)
{
	struct ib_sge sge = {
		.addr	= end->dma + TEST_MEMORY / 2,
		.length = length,
		.lkey	= rig->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(end->qp, &wr, NULL);
}

/*
 * Posts @wr for data from the beginning of the memory; @wr->remote_addr is an offset in the region
 * of the other end.
 */
int test_post(struct test_rig *rig, struct test_end *end, struct ib_rdma_wr *wr, u32 length)
{
	const struct test_end *to = end == &rig->a ? &rig->b : &rig->a;
	/* Inline data are read by the CPU. */
	struct ib_sge sge = {
		.addr	= wr->wr.send_flags & IB_SEND_INLINE ? (uintptr_t)end->mem : end->dma,
		.length	= length,
		.lkey	= rig->pd->local_dma_lkey,
	};

	wr->wr.sg_list = &sge;
	wr->wr.num_sge = 1;
	wr->remote_addr += to->mr->iova;
	wr->rkey = to->mr->rkey;
	return ib_post_send(end->qp, &wr->wr, NULL);
}

int test_send(struct test_rig *rig, struct test_end *end, u64 id, u32 length, int flags)
{
	struct ib_rdma_wr wr = {
		.wr.opcode     = IB_WR_SEND,
		.wr.wr_id      = id,
		.wr.send_flags = flags,
	};

	return test_post(rig, end, &wr, length);
}

/* Writes to @at in the region of the other end. */
int test_write(struct test_rig *rig, struct test_end *end, u64 id, u32 at, u32 length, int flags)
{
	struct ib_rdma_wr wr = {
		.wr.opcode     = IB_WR_RDMA_WRITE,
		.wr.wr_id      = id,
		.wr.send_flags = flags,
		.remote_addr   = at,
	};

	return test_post(rig, end, &wr, length);
}
