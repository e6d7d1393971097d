// SPDX-License-Identifier: GPL-2.0
/* Work queues and completion queues. */
#include <linux/delay.h>
#include "test.h"

static const char *message(struct test_rig *rig)
{
	memset(rig->a.mem, 'x', 3000);
	if (test_recv(rig, &rig->b, 1, 3000) || test_send(rig, &rig->a, 2, 3000, IB_SEND_SIGNALED))
		return "posts fail";
	if (!test_await(&rig->b, 1, IB_WC_SUCCESS) || !test_await(&rig->a, 2, IB_WC_SUCCESS))
		return "no completions";
	return memcmp(rig->b.mem + TEST_MEMORY / 2, rig->a.mem, 3000) ? "other data" : NULL;
}

static const char *write(struct test_rig *rig)
{
	memset(rig->a.mem, 'x', 5000);
	if (test_register(rig, &rig->b, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE) ||
	    test_recv(rig, &rig->b, 1, 10) || test_write(rig, &rig->a, 2, 100, 5000, 0) ||
	    test_send(rig, &rig->a, 3, 10, IB_SEND_SIGNALED))
		return "posts fail";
	if (!test_await(&rig->b, 1, IB_WC_SUCCESS) || !test_await(&rig->a, 3, IB_WC_SUCCESS))
		return "no completions";
	return memcmp(rig->b.mem + 100, rig->a.mem, 5000) ? "other data" : NULL;
}

/* As many as the queue takes, and no completion is polled. */
static const char *send_too_many(struct test_rig *rig)
{
	int i;

	for (i = 0; i < 4; i++)
		if (test_write(rig, &rig->a, i, 0, 0, i == 3 ? IB_SEND_SIGNALED : 0))
			return "the queue is full too early";
	msleep(500);
	return test_write(rig, &rig->a, 4, 0, 0, 0) ? NULL : "one too many";
}

/* The device is done with all, but only one completion tells so: two are free. */
static const char *poll_one(struct test_rig *rig)
{
	int i;

	for (i = 0; i < 4; i++)
		if (test_write(rig, &rig->a, i, 0, 0, i == 1 ? IB_SEND_SIGNALED : 0))
			return "the queue is full too early";
	if (!test_await(&rig->a, 1, IB_WC_SUCCESS))
		return "no completion";
	msleep(500);
	if (test_write(rig, &rig->a, 4, 0, 0, 0) || test_write(rig, &rig->a, 5, 0, 0, 0))
		return "the queue is full too early";
	return test_write(rig, &rig->a, 6, 0, 0, 0) ? NULL : "one too many";
}

/* Round and round, with a completion for every other one. */
static const char *poll_all(struct test_rig *rig)
{
	int i;

	for (i = 0; i < 40; i += 2) {
		if (test_recv(rig, &rig->b, i, 10) || test_send(rig, &rig->a, i, 10, 0) ||
		    test_write(rig, &rig->a, i + 1, 0, 0, IB_SEND_SIGNALED))
			return "posts fail";
		if (!test_await(&rig->a, i + 1, IB_WC_SUCCESS) ||
		    !test_await(&rig->b, i, IB_WC_SUCCESS))
			return "no completions";
	}
	return NULL;
}

static const char *receive_too_many(struct test_rig *rig)
{
	int i;

	for (i = 0; i < 2; i++)
		if (test_recv(rig, &rig->b, i, 10) || test_send(rig, &rig->a, i, 10, IB_SEND_SIGNALED))
			return "posts fail";
	if (!test_await(&rig->b, 0, IB_WC_SUCCESS) || !test_await(&rig->a, 0, IB_WC_SUCCESS) ||
	    !test_await(&rig->a, 1, IB_WC_SUCCESS))
		return "no completions";
	if (test_recv(rig, &rig->b, 2, 10))
		return "the queue is full too early";
	return test_recv(rig, &rig->b, 3, 10) ? NULL : "one too many";
}

/* A queue pair that is reset has no completions, and all slots. */
static const char *reset(struct test_rig *rig)
{
	struct ib_wc wc;
	int i;

	for (i = 0; i < 4; i++)
		if (test_write(rig, &rig->a, i, 0, 0, IB_SEND_SIGNALED))
			return "posts fail";
	if (!test_await(&rig->a, 0, IB_WC_SUCCESS) || test_modify(rig, &rig->a, IB_QPS_RESET) ||
	    test_modify(rig, &rig->b, IB_QPS_RESET))
		return "it cannot be reset";
	if (ib_poll_cq(rig->a.cq, 1, &wc))
		return "completions of the past";
	for (i = IB_QPS_INIT; i <= IB_QPS_RTS; i++)
		if (test_modify(rig, &rig->a, i) || test_modify(rig, &rig->b, i))
			return "it cannot be connected again";
	return send_too_many(rig);
}

/* In SQD, what is begun ends, and the rest waits. */
static const char *drain(struct test_rig *rig)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ib_wc wc;

	if (test_send(rig, &rig->a, 1, 10, IB_SEND_SIGNALED))
		return "posts fail";
	/* The peer has no buffer. */
	msleep(200);
	if (ib_modify_qp(rig->a.qp, &attr, IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY) ||
	    test_send(rig, &rig->a, 2, 10, IB_SEND_SIGNALED))
		return "no SQD";
	msleep(200);
	if (test_bit(IB_EVENT_SQ_DRAINED, &rig->a.qp_events))
		return "the event comes too early";
	if (test_recv(rig, &rig->b, 1, 10) || test_recv(rig, &rig->b, 2, 10) ||
	    !test_await(&rig->a, 1, IB_WC_SUCCESS) || !test_await(&rig->b, 1, IB_WC_SUCCESS))
		return "what was begun does not end";
	msleep(500);
	if (!test_bit(IB_EVENT_SQ_DRAINED, &rig->a.qp_events))
		return "no event";
	if (ib_poll_cq(rig->a.cq, 1, &wc))
		return "it does not wait";
	attr.qp_state = IB_QPS_RTS;
	if (ib_modify_qp(rig->a.qp, &attr, IB_QP_STATE) || !test_await(&rig->a, 2, IB_WC_SUCCESS) ||
	    !test_await(&rig->b, 2, IB_WC_SUCCESS))
		return "it does not go on";
	return NULL;
}

/* Sends from a region and invalidates it. The peer's buffer comes late, so the data go twice. */
static const char *invalidate_behind(struct test_rig *rig, int flags, enum ib_wc_status status)
{
	struct ib_sge sge = { .length = 10, .lkey = rig->a.mr->lkey };
	struct ib_send_wr invalidation = {
		.wr_id		    = 2,
		.opcode		    = IB_WR_LOCAL_INV,
		.send_flags	    = IB_SEND_SIGNALED | flags,
		.ex.invalidate_rkey = rig->a.mr->rkey,
	};
	struct ib_send_wr wr = {
		.wr_id	    = 1,
		.next	    = &invalidation,
		.opcode	    = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list    = &sge,
		.num_sge    = 1,
	};

	if (test_register(rig, &rig->a, IB_ACCESS_LOCAL_WRITE))
		return "it cannot be registered";
	sge.addr = rig->a.mr->iova;
	if (ib_post_send(rig->a.qp, &wr, NULL))
		return "posts fail";
	msleep(200);
	if (test_recv(rig, &rig->b, 1, 10) || !test_await(&rig->a, 1, status) ||
	    !test_await(&rig->a, 2, status ? IB_WC_WR_FLUSH_ERR : IB_WC_SUCCESS))
		return "another status";
	return NULL;
}

static const char *fence(struct test_rig *rig)
{
	return invalidate_behind(rig, IB_SEND_FENCE, IB_WC_SUCCESS);
}

static const char *no_fence(struct test_rig *rig)
{
	return invalidate_behind(rig, 0, IB_WC_LOC_PROT_ERR);
}

static const char *long_message(struct test_rig *rig)
{
	if (test_recv(rig, &rig->b, 1, 2000) || test_send(rig, &rig->a, 2, 3000, 0))
		return "posts fail";
	if (!test_await(&rig->b, 1, IB_WC_LOC_LEN_ERR))
		return "the receiver has no error";
	return test_await(&rig->a, 2, IB_WC_REM_INV_REQ_ERR) ? NULL : "the sender has no error";
}

static const char *dereg_in_use(struct test_rig *rig)
{
	struct ib_sge sge = { .addr = rig->a.mr->iova, .length = 10, .lkey = rig->a.mr->lkey };
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };
	int rc;

	rc = test_register(rig, &rig->a, IB_ACCESS_LOCAL_WRITE);
	sge.addr = rig->a.mr->iova;
	rc = rc ?: ib_post_recv(rig->a.qp, &wr, NULL) ?: ib_dereg_mr(rig->a.mr);
	rig->a.mr = NULL;
	return rc ? "posts fail" : NULL;
}

static const char *send_unconnected(struct test_rig *rig)
{
	return test_send(rig, &rig->a, 1, 1, 0) ? NULL : "it was accepted";
}

static const char *data_change(struct test_rig *rig)
{
	if (test_recv(rig, &rig->b, 1, 100) || test_send(rig, &rig->a, 2, 100, IB_SEND_SIGNALED))
		return "posts fail";
	rig->a.mem[50]++;
	return test_await(&rig->b, 1, IB_WC_SUCCESS) ? NULL : "no completion";
}

static const char *wrong_key(struct test_rig *rig)
{
	struct ib_sge sge = { .addr = rig->a.dma, .length = 1, .lkey = rig->pd->local_dma_lkey ^ 1 };
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1 };

	if (ib_post_send(rig->a.qp, &wr, NULL))
		return "the post fails";
	return test_await(&rig->a, 0, IB_WC_LOC_PROT_ERR) ? NULL : "no error";
}

/* A request for any completion is not weakened by one for solicited ones. */
static const char *solicited(struct test_rig *rig)
{
	if (ib_req_notify_cq(rig->b.cq, IB_CQ_NEXT_COMP) < 0 ||
	    ib_req_notify_cq(rig->b.cq, IB_CQ_SOLICITED) < 0)
		return "requests fail";
	if (test_recv(rig, &rig->b, 1, 10) || test_send(rig, &rig->a, 2, 10, 0))
		return "posts fail";
	msleep(1000);
	return rig->b.n_events ? NULL : "no event";
}

static const char *overflow(struct test_rig *rig)
{
	int i;

	for (i = 0; i < 4; i++)
		if (test_write(rig, &rig->a, i, 0, 0, IB_SEND_SIGNALED))
			return "posts fail";
	msleep(2000);
	if (!test_bit(IB_EVENT_CQ_ERR, &rig->a.cq_events))
		return "no event of the completion queue";
	if (!test_bit(IB_EVENT_QP_FATAL, &rig->a.qp_events))
		return "no event of the queue pair";
	for (i = 0; i < 3; i++)
		if (!test_await(&rig->a, i, IB_WC_SUCCESS))
			return "earlier completions were lost";
	return rig->b.qp_events ? "the peer has failed, too" : NULL;
}

/* Only four fields of a completion with an error are defined. */
static const char *undefined(struct test_rig *rig)
{
	struct ib_wc wc[2] = {};
	int i;

	for (i = 0; i < 2; i++)
		if (test_recv(rig, &rig->a, i, 10))
			return "posts fail";
	if (test_modify(rig, &rig->a, IB_QPS_ERR))
		return "no error state";
	for (i = 0; i < 2; i++)
		if (!test_poll(&rig->a, &wc[i]) || wc[i].wr_id != i ||
		    wc[i].status != IB_WC_WR_FLUSH_ERR || wc[i].qp != rig->a.qp)
			return "the defined fields differ";
	return wc[0].opcode == wc[1].opcode || wc[0].byte_len == wc[1].byte_len ? "nothing is random" :
									      NULL;
}

static const char *inline_registration(struct test_rig *rig)
{
	struct ib_reg_wr wr = {
		.wr.opcode     = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_INLINE,
		.mr	       = rig->a.mr,
		.key	       = rig->a.mr->rkey,
	};

	return ib_post_send(rig->a.qp, &wr.wr, NULL) ? NULL : "it was accepted";
}

static const char *unknown_flag(struct test_rig *rig)
{
	return test_send(rig, &rig->a, 1, 1, IB_SEND_IP_CSUM) ? NULL : "it was accepted";
}

static const char *huge_message(struct test_rig *rig)
{
	struct ib_sge sge[2] = {
		{ .length = 1 << 30, .addr = 4096, .lkey = rig->pd->local_dma_lkey },
		{ .length = 1, .addr = 4096, .lkey = rig->pd->local_dma_lkey },
	};
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = sge, .num_sge = 2 };

	return ib_post_send(rig->a.qp, &wr, NULL) ? NULL : "it was accepted";
}

/* An element of no bytes needs no key. */
static const char *empty_element(struct test_rig *rig)
{
	struct ib_sge sge[2] = { {}, { .length = 100, .addr = rig->a.dma,
				       .lkey = rig->pd->local_dma_lkey } };
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = sge, .num_sge = 2 };

	if (test_recv(rig, &rig->b, 1, 100) || ib_post_send(rig->a.qp, &wr, NULL))
		return "posts fail";
	return test_await(&rig->b, 1, IB_WC_SUCCESS) ? NULL : "no completion";
}

static const char *no_completion_queue(struct test_rig *rig)
{
	struct ib_cq_init_attr attr = {};

	return IS_ERR(ib_create_cq(rig->ibdev, NULL, NULL, NULL, &attr)) ? NULL : "it was accepted";
}

static const char *inline_wrap(struct test_rig *rig)
{
	struct ib_sge sge[2] = {
		{ .length = 16, .addr = (uintptr_t)rig->a.mem },
		{ .length = -8, .addr = (uintptr_t)rig->a.mem },
	};
	struct ib_send_wr wr = {
		.opcode	    = IB_WR_SEND,
		.send_flags = IB_SEND_INLINE,
		.sg_list    = sge,
		.num_sge    = 2,
	};

	return ib_post_send(rig->a.qp, &wr, NULL) ? NULL : "it was accepted";
}

const struct test_case test_queue_cases[] = {
	{ "message", message },
	{ "write", write },
	{ "send_too_many", send_too_many, "its send queue of 4 is full", { .n_send = 4 } },
	{ "poll_one", poll_one, "its send queue of 4 is full", { .n_send = 4 } },
	{ "poll_all", poll_all, NULL, { .n_send = 2, .n_recv = 1, .n_cqe = 3 } },
	{ "receive_too_many", receive_too_many, "its receive queue of 2 is full", { .n_recv = 2 } },
	{ "reset", reset, "its send queue of 4 is full", { .n_send = 4 } },
	{ "drain", drain },
	{ "fence", fence },
	{ "no_fence", no_fence, "sends memory that is not registered" },
	{ "solicited", solicited },
	{ "overflow", overflow, "a completion queue of 3 is full", { .n_cqe = 3 } },
	{ "long_message", long_message },
	{ "dereg_in_use", dereg_in_use, "is deregistered; 1 work requests" },
	{ "send_unconnected", send_unconnected, "in state 0", { .unconnected = true } },
	{ "data_change", data_change, "data changed before they arrived" },
	{ "wrong_key", wrong_key, "does not cover" },
	{ "undefined", undefined },
	{ "inline_registration", inline_registration, "with flags" },
	{ "unknown_flag", unknown_flag, "with flags" },
	{ "huge_message", huge_message, "a message above" },
	{ "empty_element", empty_element },
	{ "no_completion_queue", no_completion_queue, "a completion queue of 0" },
	{ "inline_wrap", inline_wrap, "bytes inline" },
	{}
};
