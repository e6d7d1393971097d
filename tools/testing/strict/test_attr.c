// SPDX-License-Identifier: GPL-2.0
/* Values of modify_qp that no queue pair may have. */
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

#define UNCONNECTED	{ .unconnected = true }

const struct test_case test_attr_cases[] = {
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
