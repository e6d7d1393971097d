// SPDX-License-Identifier: GPL-2.0
/* What is written to memory, and may it be? */
#include "test.h"

#define REMOTE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

/* A write with immediate data, or a SEND with a key to invalidate. */
static int post_ex(struct test_rig *rig, enum ib_wr_opcode opcode, u64 id, u32 length, u32 ex)
{
	struct ib_rdma_wr wr = {
		.wr.opcode     = opcode,
		.wr.wr_id      = id,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.ex	       = { .invalidate_rkey = ex },
	};

	return test_post(rig, &rig->a, &wr, length);
}

/* The later of two writes to the same bytes wins. */
static const char *overlap(struct test_rig *rig)
{
	int i;

	if (test_register(rig, &rig->b, REMOTE) || test_recv(rig, &rig->b, 8, 10))
		return "posts fail";
	for (i = 0; i < 8; i++) {
		memset(rig->a.mem, 'a' + i, 32);
		if (test_write(rig, &rig->a, i, i * 8, 32, IB_SEND_INLINE))
			return "posts fail";
	}
	if (test_send(rig, &rig->a, 8, 10, 0) || !test_await(&rig->b, 8, IB_WC_SUCCESS))
		return "no completion";
	for (i = 0; i < 8 * 8 + 24; i++)
		if (rig->b.mem[i] != 'a' + min(7, i / 8))
			return "an earlier write has won";
	return NULL;
}

static const char *invalidate(struct test_rig *rig)
{
	u32 key = rig->b.mr->rkey;
	struct ib_wc wc;

	memset(rig->a.mem, 'x', 2000);
	if (test_register(rig, &rig->b, REMOTE) || test_recv(rig, &rig->b, 1, 10) ||
	    test_write(rig, &rig->a, 2, 0, 2000, 0) ||
	    post_ex(rig, IB_WR_SEND_WITH_INV, 3, 10, key) ||
	    test_write(rig, &rig->a, 4, 0, 2000, 0))
		return "posts fail";
	if (!test_poll(&rig->b, &wc) || wc.status != IB_WC_SUCCESS ||
	    wc.wc_flags != IB_WC_WITH_INVALIDATE || wc.ex.invalidate_rkey != key)
		return "no key in the completion";
	if (memcmp(rig->a.mem, rig->b.mem, 2000))
		return "the data before it are missing";
	if (!test_await(&rig->a, 3, IB_WC_SUCCESS) || !test_await(&rig->a, 4, IB_WC_REM_ACCESS_ERR))
		return "the key is still valid";
	return test_bit(IB_EVENT_QP_ACCESS_ERR, &rig->b.qp_events) ? NULL : "no event";
}

static const char *invalidate_unknown(struct test_rig *rig)
{
	if (test_recv(rig, &rig->b, 1, 10) ||
	    post_ex(rig, IB_WR_SEND_WITH_INV, 3, 10, rig->b.mr->rkey))
		return "posts fail";
	return test_await(&rig->a, 3, IB_WC_REM_ACCESS_ERR) ? NULL : "no error";
}

/* The region that the peer has invalidated is used: the consumer cannot know yet. */
static const char *use_invalidated(struct test_rig *rig)
{
	struct ib_sge sge = { .length = 10 };
	struct ib_send_wr wr = { .wr_id = 2, .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1 };

	if (test_register(rig, &rig->b, REMOTE) || test_recv(rig, &rig->b, 1, 10) ||
	    post_ex(rig, IB_WR_SEND_WITH_INV, 3, 10, rig->b.mr->rkey) ||
	    !test_await(&rig->b, 1, IB_WC_SUCCESS))
		return "it is not invalidated";
	sge.addr = rig->b.mr->iova;
	sge.lkey = rig->b.mr->lkey;
	if (ib_post_send(rig->b.qp, &wr, NULL))
		return "the post fails";
	return test_await(&rig->b, 2, IB_WC_LOC_PROT_ERR) ? NULL : "no error";
}

static const char *immediate(struct test_rig *rig)
{
	struct ib_wc wc;

	if (test_register(rig, &rig->b, REMOTE) || test_recv(rig, &rig->b, 1, 10) ||
	    post_ex(rig, IB_WR_RDMA_WRITE_WITH_IMM, 2, 3000, 4711) || !test_poll(&rig->b, &wc))
		return "no completion";
	if (wc.opcode != IB_WC_RECV_RDMA_WITH_IMM || wc.wc_flags != IB_WC_WITH_IMM ||
	    (__force u32)wc.ex.imm_data != 4711)
		return "no immediate data";
	return wc.byte_len == 3000 ? NULL : "the length is not that of the write";
}

static const char *other_key(struct test_rig *rig)
{
	struct ib_sge sge = { .length = 1 };
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1 };

	if (test_register(rig, &rig->a, REMOTE))
		return "it cannot be registered";
	sge.addr = rig->a.mr->iova;
	sge.lkey = rig->a.mr->rkey;
	return ib_post_send(rig->a.qp, &wr, NULL) ? "the post fails" : NULL;
}

static const char *other_rkey(struct test_rig *rig)
{
	if (test_register(rig, &rig->b, REMOTE))
		return "it cannot be registered";
	swap(rig->b.mr->rkey, rig->b.mr->lkey);
	if (test_write(rig, &rig->a, 1, 0, 10, 0))
		return "the post fails";
	return test_await(&rig->a, 1, IB_WC_REM_ACCESS_ERR) ? NULL : "the local key is good, too";
}

/* Keys and numbers of queue pairs come back, each while it is nobody else's. */
static const char *reuse(struct test_rig *rig)
{
	u32 lkey = rig->a.mr->lkey, rkey = rig->a.mr->rkey, qpn = rig->a.qp->qp_num;
	bool key_came = false, qpn_came = false;
	struct test_rig other = {};
	int i;

	ib_dereg_mr(rig->a.mr);
	rig->a.mr = NULL;
	ib_destroy_qp(rig->a.qp);
	rig->a.qp = NULL;
	for (i = 0; i < 100 && !(key_came && qpn_came); i++) {
		if (test_begin(&other, rig->ibdev, &(struct test_options) {}))
			return "no queue pairs";
		key_came |= other.a.mr->lkey == lkey || other.a.mr->rkey == lkey ||
			    other.a.mr->lkey == rkey || other.a.mr->rkey == rkey;
		qpn_came |= other.a.qp->qp_num == qpn;
		qpn = other.b.qp->qp_num;
		lkey = other.b.mr->lkey;
		if (other.a.qp->qp_num == qpn || other.a.mr->lkey == lkey ||
		    other.a.mr->lkey == other.a.mr->rkey)
			return "one number twice";
		test_end(&other);
	}
	return key_came && qpn_came ? NULL : "nothing is used again";
}

/* One end writes with the key of the other one, whose region is deregistered before. */
static const char *write_to_gone(struct test_rig *rig, enum ib_wc_status status)
{
	struct ib_mr *mr = rig->b.mr, copy = *mr;

	ib_dereg_mr(mr);
	rig->b.mr = &copy;
	if (test_write(rig, &rig->a, 1, 0, 10, 0))
		return "the post fails";
	rig->b.mr = NULL;
	return test_await(&rig->a, 1, status) ? NULL : "no error";
}

static const char *dead_key(struct test_rig *rig)
{
	if (test_register(rig, &rig->b, REMOTE))
		return "it cannot be registered";
	return write_to_gone(rig, IB_WC_REM_ACCESS_ERR);
}

static int post_invalidation(struct test_end *end, u32 key)
{
	struct ib_send_wr wr = {
		.opcode		    = IB_WR_LOCAL_INV,
		.wr_id		    = 5,
		.send_flags	    = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = key,
	};

	return ib_post_send(end->qp, &wr, NULL);
}

static const char *invalidated_key(struct test_rig *rig)
{
	if (test_register(rig, &rig->b, REMOTE) ||
	    post_invalidation(&rig->b, rig->b.mr->rkey) || !test_await(&rig->b, 5, IB_WC_SUCCESS) ||
	    test_write(rig, &rig->a, 1, 0, 10, 0))
		return "posts fail";
	return test_await(&rig->a, 1, IB_WC_REM_ACCESS_ERR) ? NULL : "no error";
}

static const char *invalidate_nothing(struct test_rig *rig)
{
	return post_invalidation(&rig->a, rig->a.mr->rkey) ? "the post fails" : NULL;
}

/* What is deregistered when the queue pair has stopped is not dead, but gone. */
static const char *dereg_stopped(struct test_rig *rig)
{
	if (test_register(rig, &rig->b, REMOTE) || test_modify(rig, &rig->b, IB_QPS_ERR) ||
	    test_modify(rig, &rig->a, IB_QPS_ERR))
		return "it cannot be registered";
	return write_to_gone(rig, IB_WC_WR_FLUSH_ERR);
}

static const char *wrong_offset(struct test_rig *rig)
{
	rig->a.mr->iova += 8;
	return test_register(rig, &rig->a, REMOTE) ? "it cannot be registered" : NULL;
}

static const char *wrapping_address(struct test_rig *rig)
{
	rig->a.mr->iova = -PAGE_SIZE + offset_in_page(rig->a.mr->iova);
	return test_register(rig, &rig->a, REMOTE) ? "it cannot be registered" : NULL;
}

static const char *odd_page_size(struct test_rig *rig)
{
	return ib_map_mr_sg(rig->a.mr, &rig->a.sg, 1, NULL, 2 * PAGE_SIZE) < 0 ? NULL : "accepted";
}

static struct ib_sge in_region(const struct test_end *end)
{
	return (struct ib_sge) { .addr = end->mr->iova, .length = 10, .lkey = end->mr->lkey };
}

static struct ib_reg_wr registration(const struct test_end *end)
{
	return (struct ib_reg_wr) {
		.wr.opcode = IB_WR_REG_MR,
		.mr	   = end->mr,
		.key	   = end->mr->rkey,
		.access	   = REMOTE,
	};
}

/* Only behind the registration, on the same queue pair, may a region be used. */
static const char *use_early(struct test_rig *rig)
{
	struct ib_sge sge = in_region(&rig->a);
	struct ib_send_wr send = { .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1 };
	struct ib_reg_wr reg = registration(&rig->a);

	reg.wr.next = &send;
	if (test_recv(rig, &rig->b, 1, 10) || ib_post_send(rig->a.qp, &reg.wr, NULL) ||
	    !test_await(&rig->b, 1, IB_WC_SUCCESS))
		return "it cannot be used behind its registration";
	return NULL;
}

static const char *use_early_elsewhere(struct test_rig *rig)
{
	struct ib_sge sge = in_region(&rig->a);
	struct ib_send_wr send = { .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1 };
	struct ib_reg_wr reg = registration(&rig->a);

	if (ib_post_send(rig->a.qp, &reg.wr, NULL) || ib_post_send(rig->b.qp, &send, NULL))
		return "posts fail";
	return NULL;
}

static const char *receive_early(struct test_rig *rig)
{
	struct ib_sge sge = in_region(&rig->a);
	struct ib_recv_wr recv = { .sg_list = &sge, .num_sge = 1 };
	struct ib_reg_wr reg = registration(&rig->a);

	if (ib_post_send(rig->a.qp, &reg.wr, NULL) || ib_post_recv(rig->a.qp, &recv, NULL))
		return "posts fail";
	return NULL;
}

const struct test_case test_memory_cases[] = {
	{ "overlap", overlap },
	{ "invalidate", invalidate },
	{ "invalidate_unknown", invalidate_unknown },
	{ "use_invalidated", use_invalidated },
	{ "immediate", immediate },
	{ "other_key", other_key, "does not cover" },
	{ "other_rkey", other_rkey },
	{ "reuse", reuse },
	{ "dead_key", dead_key, "which is no longer valid" },
	{ "invalidated_key", invalidated_key, "which is no longer valid" },
	{ "invalidate_nothing", invalidate_nothing, "which is not valid, is invalidated" },
	{ "dereg_stopped", dereg_stopped },
	{ "wrong_offset", wrong_offset, "has another offset in its page" },
	{ "wrapping_address", wrapping_address, "bytes from" },
	{ "odd_page_size", odd_page_size, "pages of" },
	{ "use_early", use_early },
	{ "use_early_elsewhere", use_early_elsewhere, "does not cover" },
	{ "receive_early", receive_early, "does not cover" },
	{}
};
