// SPDX-License-Identifier: GPL-2.0
/* A consumer that asks for as much as the device says it has, and for more. */
#include "test.h"

#define MANY	64

static struct ib_qp *make_qp(struct test_rig *rig, u32 send, u32 inline_data)
{
	struct ib_qp_init_attr init = {
		.send_cq     = rig->a.cq,
		.recv_cq     = rig->a.cq,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type     = IB_QPT_RC,
		.cap = {
			.max_send_wr	 = send,
			.max_recv_wr	 = 1,
			.max_send_sge	 = 1,
			.max_recv_sge	 = 1,
			.max_inline_data = inline_data,
		},
	};

	return ib_create_qp(rig->pd, &init);
}

static const char *wide_queue(struct test_rig *rig)
{
	return IS_ERR(make_qp(rig, rig->ibdev->attrs.max_qp_wr + 1, 0)) ? NULL : "it was accepted";
}

/* A device without so much inline data refuses it, or gives less. */
static const char *inline_data(struct test_rig *rig)
{
	struct ib_qp *qp = make_qp(rig, 1, 4096);
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	const char *wrong = NULL;

	if (IS_ERR(qp))
		return PTR_ERR(qp) == -EINVAL ? NULL : "another error";
	if (ib_query_qp(qp, &attr, IB_QP_CAP, &init) || init.cap.max_inline_data > 64)
		wrong = "4096 bytes are accepted";
	ib_destroy_qp(qp);
	return wrong;
}

/* Few enough for a test only with a parameter of the device: max_qp=8. */
static const char *queue_pairs(struct test_rig *rig)
{
	int most = rig->ibdev->attrs.max_qp, n;
	struct ib_qp *qps[MANY];

	if (most > MANY)
		return NULL;
	for (n = 0; n < most; n++) {
		qps[n] = make_qp(rig, 1, 0);
		if (IS_ERR(qps[n]))
			break;
	}
	most -= n;
	while (n--)
		ib_destroy_qp(qps[n]);
	/* The rig has two. */
	return most == 2 ? NULL : "not as many as the device says";
}

/* Likewise max_mr=8. */
static const char *regions(struct test_rig *rig)
{
	int most = rig->ibdev->attrs.max_mr, n;
	struct ib_mr *mrs[MANY];

	if (most > MANY)
		return NULL;
	for (n = 0; n < most; n++) {
		mrs[n] = ib_alloc_mr(rig->pd, IB_MR_TYPE_MEM_REG, 1);
		if (IS_ERR(mrs[n]))
			break;
	}
	most -= n;
	while (n--)
		ib_dereg_mr(mrs[n]);
	/* The rig has two, and its protection domain one, unless the device has a key for all. */
	return most == 3 - !!rig->ibdev->local_dma_lkey ? NULL : "not as many as the device says";
}

static const char *long_region(struct test_rig *rig)
{
	u32 n = rig->ibdev->attrs.max_fast_reg_page_list_len + 1;
	struct ib_mr *mr = ib_alloc_mr(rig->pd, IB_MR_TYPE_MEM_REG, n);

	return IS_ERR(mr) ? NULL : "it was accepted";
}

static const char *wrong_vector(struct test_rig *rig)
{
	struct ib_cq_init_attr attr = { .cqe = 4, .comp_vector = rig->ibdev->num_comp_vectors };
	struct ib_cq *cq = ib_create_cq(rig->ibdev, NULL, NULL, NULL, &attr);

	return IS_ERR(cq) ? NULL : "it was accepted";
}

/* Only for local memory: as a remote key it is that of nothing. */
static const char *dma_key_remote(struct test_rig *rig)
{
	struct ib_rdma_wr wr = {
		.wr.opcode     = IB_WR_RDMA_WRITE,
		.wr.wr_id      = 1,
		.wr.send_flags = IB_SEND_SIGNALED,
		.rkey	       = rig->pd->local_dma_lkey,
		.remote_addr   = rig->b.dma,
	};
	struct ib_sge sge = { .addr = rig->a.dma, .length = 8, .lkey = rig->pd->local_dma_lkey };

	wr.wr.sg_list = &sge;
	wr.wr.num_sge = 1;
	if (ib_post_send(rig->a.qp, &wr.wr, NULL))
		return "the post fails";
	return test_await(&rig->a, 1, IB_WC_REM_ACCESS_ERR) ? NULL : "no error";
}

const struct test_case test_limit_cases[] = {
	{ "wide_queue", wide_queue, "beyond the limits" },
	{ "inline_data", inline_data },
	{ "queue_pairs", queue_pairs },
	{ "regions", regions },
	{ "long_region", long_region, "pages, of" },
	{ "wrong_vector", wrong_vector, "completion vector" },
	{ "dma_key_remote", dma_key_remote },
	{}
};
