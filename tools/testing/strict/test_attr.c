// SPDX-License-Identifier: GPL-2.0
/* Values of modify_qp that no queue pair may have. */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include "test.h"

/* Connects an end as far as @state, where @change spoils the values. */
static const char *modify(struct test_rig *rig, enum ib_qp_state state,
			  void (*change)(struct ib_qp_attr *attr))
{
	struct ib_qp_attr attr;
	enum ib_qp_state s;
	int mask;

	for (s = IB_QPS_INIT; s < state; s++)
		if (test_modify(rig, &rig->a, s))
			return "the right values are refused";
	test_attr(rig, &rig->b, state, &attr, &mask);
	change(&attr);
	return ib_modify_qp(rig->a.qp, &attr, mask) ? NULL : "it was accepted";
}

#define ATTR_CASE(name, state, statement) \
static void change_##name(struct ib_qp_attr *attr) \
{ \
	statement; \
} \
static const char *attr_##name(struct test_rig *rig) \
{ \
	return modify(rig, IB_QPS_##state, change_##name); \
}

ATTR_CASE(pkey, INIT, attr->pkey_index = 1)
ATTR_CASE(mtu_low, RTR, attr->path_mtu = 0)
ATTR_CASE(mtu_high, RTR, attr->path_mtu = IB_MTU_4096)
ATTR_CASE(qpn, RTR, attr->dest_qp_num = 1)
ATTR_CASE(qpn_multicast, RTR, attr->dest_qp_num = 0xffffff)
ATTR_CASE(rnr_timer, RTR, attr->min_rnr_timer = 32)
ATTR_CASE(dest_reads, RTR, attr->max_dest_rd_atomic = 2)
ATTR_CASE(hop_limit, RTR, attr->ah_attr.grh.hop_limit = 0)
ATTR_CASE(no_mac, RTR, eth_zero_addr(attr->ah_attr.roce.dmac))
ATTR_CASE(no_gid, RTR, memset(&attr->ah_attr.grh.dgid, 0, 16))
ATTR_CASE(service_level, RTR, attr->ah_attr.sl = 8)
ATTR_CASE(timeout, RTS, attr->timeout = 32)
ATTR_CASE(retries, RTS, attr->retry_cnt = 8)
ATTR_CASE(rnr_retries, RTS, attr->rnr_retry = 8)
ATTR_CASE(reads, RTS, attr->max_rd_atomic = 2)

/* A message comes before this end may send. */
static const char *established(struct test_rig *rig)
{
	if (test_modify(rig, &rig->a, IB_QPS_INIT) || test_modify(rig, &rig->b, IB_QPS_INIT) ||
	    test_modify(rig, &rig->a, IB_QPS_RTR) || test_modify(rig, &rig->b, IB_QPS_RTR) ||
	    test_modify(rig, &rig->a, IB_QPS_RTS))
		return "the right values are refused";
	if (test_recv(rig, &rig->b, 1, 10) || test_send(rig, &rig->a, 2, 10, IB_SEND_SIGNALED) ||
	    !test_await(&rig->b, 1, IB_WC_SUCCESS) || !test_await(&rig->a, 2, IB_WC_SUCCESS))
		return "no message";
	return test_bit(IB_EVENT_COMM_EST, &rig->b.qp_events) ? NULL : "no event";
}

static const char *current_state(struct test_rig *rig)
{
	struct ib_qp_attr attr;
	int mask;

	test_attr(rig, &rig->b, IB_QPS_RTS, &attr, &mask);
	attr.cur_qp_state = IB_QPS_SQD;
	return ib_modify_qp(rig->a.qp, &attr, IB_QP_STATE | IB_QP_CUR_STATE) ? NULL : "it was accepted";
}

static const char *query(struct test_rig *rig)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	if (ib_query_qp(rig->a.qp, &attr, IB_QP_AV | IB_QP_STATE, &init))
		return "it fails";
	return attr.qp_state != IB_QPS_RTS || attr.ah_attr.grh.sgid_attr ||
	       attr.dest_qp_num != rig->b.qp->qp_num ? "wrong values" : NULL;
}

/* The frames of another device with the same numbers of queue pairs are not ours. */
static const char *other_device(struct test_rig *rig)
{
	struct ib_qp_attr attr;
	struct ib_wc wc;
	int mask;

	if (test_modify(rig, &rig->a, IB_QPS_INIT) || test_modify(rig, &rig->b, IB_QPS_INIT) ||
	    test_modify(rig, &rig->a, IB_QPS_RTR) || test_modify(rig, &rig->a, IB_QPS_RTS))
		return "the right values are refused";
	test_attr(rig, &rig->a, IB_QPS_RTR, &attr, &mask);
	attr.ah_attr.roce.dmac[5] ^= 1;
	if (ib_modify_qp(rig->b.qp, &attr, mask) || test_recv(rig, &rig->b, 1, 10) ||
	    test_send(rig, &rig->a, 2, 10, 0))
		return "posts fail";
	if (!test_await(&rig->a, 2, IB_WC_RETRY_EXC_ERR))
		return "it was acknowledged";
	msleep(500);
	return ib_poll_cq(rig->b.cq, 1, &wc) ? "it was received" : NULL;
}

#define UNCONNECTED	{ .unconnected = true }

const struct test_case test_attr_cases[] = {
	{ "established", established, NULL, UNCONNECTED },
	{ "current_state", current_state, "to 3, mask" },
	{ "query", query },
	{ "other_device", other_device, NULL, UNCONNECTED },
	{ "pkey", attr_pkey, "P_Key index", UNCONNECTED },
	{ "mtu_low", attr_mtu_low, "path MTU", UNCONNECTED },
	{ "mtu_high", attr_mtu_high, "path MTU", UNCONNECTED },
	{ "qpn", attr_qpn, "is reserved", UNCONNECTED },
	{ "qpn_multicast", attr_qpn_multicast, "is reserved", UNCONNECTED },
	{ "rnr_timer", attr_rnr_timer, "RNR timer", UNCONNECTED },
	{ "dest_reads", attr_dest_reads, "reads of the peer", UNCONNECTED },
	{ "hop_limit", attr_hop_limit, "hop limit 0", UNCONNECTED },
	{ "no_mac", attr_no_mac, "00:00:00:00:00:00", UNCONNECTED },
	{ "no_gid", attr_no_gid, "a wrong GID", UNCONNECTED },
	{ "service_level", attr_service_level, "service level", UNCONNECTED },
	{ "timeout", attr_timeout, "timeout", UNCONNECTED },
	{ "retries", attr_retries, "retries", UNCONNECTED },
	{ "rnr_retries", attr_rnr_retries, "RNR retries", UNCONNECTED },
	{ "reads", attr_reads, "outstanding reads", UNCONNECTED },
	{}
};
