// SPDX-License-Identifier: GPL-2.0
/* Counters from the kernel, and their differences. */
#include <string.h>

#include "genl.h"
#include "stats.h"

#define SIZE(bound, member, index) \
	NUMBER(SMC_NLA_STATS_PLOAD_##bound, struct stats, counters.member[index])

#define SIZES(name, member) \
static const struct field name[] = { \
	SIZE(8K, member, 0), SIZE(16K, member, 1), SIZE(32K, member, 2), \
	SIZE(64K, member, 3), SIZE(128K, member, 4), SIZE(256K, member, 5), \
	SIZE(512K, member, 6), SIZE(1024K, member, 7), SIZE(G_1024K, member, 8), \
	{ } \
}

#define RMB(what, member) \
	NUMBER(SMC_NLA_STATS_RMB_##what##_CNT, struct stats, counters.member)

#define RMBS(name, way) \
static const struct field name[] = { \
	RMB(SIZE_SM_PEER, way.rmb.too_small_peer), RMB(SIZE_SM, way.rmb.too_small), \
	RMB(FULL_PEER, way.rmb.full_peer), RMB(FULL, way.rmb.full), \
	RMB(REUSE, way.rmb.reused), RMB(ALLOC, way.rmb.allocated), \
	RMB(DGRADE, way.rmb.downgraded), \
	{ } \
}

SIZES(tx_buffers, tx.buffers);
SIZES(rx_buffers, rx.buffers);
SIZES(tx_requests, tx.requests);
SIZES(rx_requests, rx.requests);
RMBS(tx_rmb, tx);
RMBS(rx_rmb, rx);

#define COUNT(what, member) NUMBER(SMC_NLA_STATS_T_##what, struct stats, counters.member)

static const struct field tech_fields[] = {
	NEST(SMC_NLA_STATS_T_TX_RMB_SIZE, tx_buffers),
	NEST(SMC_NLA_STATS_T_RX_RMB_SIZE, rx_buffers),
	NEST(SMC_NLA_STATS_T_TXPLOAD_SIZE, tx_requests),
	NEST(SMC_NLA_STATS_T_RXPLOAD_SIZE, rx_requests),
	NEST(SMC_NLA_STATS_T_TX_RMB_STATS, tx_rmb),
	NEST(SMC_NLA_STATS_T_RX_RMB_STATS, rx_rmb),
	COUNT(CLNT_V1_SUCC, client_v1),
	COUNT(CLNT_V2_SUCC, client_v2),
	COUNT(SRV_V1_SUCC, server_v1),
	COUNT(SRV_V2_SUCC, server_v2),
	COUNT(SENDPAGE_CNT, sendpage),
	COUNT(SPLICE_CNT, splice),
	COUNT(CORK_CNT, cork),
	COUNT(NDLY_CNT, nodelay),
	COUNT(URG_DATA_CNT, urgent),
	COUNT(RX_BYTES, rx.bytes),
	COUNT(TX_BYTES, tx.bytes),
	COUNT(RX_CNT, rx.count),
	COUNT(TX_CNT, tx.count),
	NUMBER(SMC_NLA_STATS_T_RX_RMB_USAGE, struct stats, rx_usage),
	NUMBER(SMC_NLA_STATS_T_TX_RMB_USAGE, struct stats, tx_usage),
	{ }
};

#define STATS_FIELDS(name, which) \
static const struct field name[] = { \
	NEST(SMC_NLA_STATS_##which##_TECH, tech_fields), \
	NUMBER(SMC_NLA_STATS_CLNT_HS_ERR_CNT, struct stats, counters.client_errors), \
	NUMBER(SMC_NLA_STATS_SRV_HS_ERR_CNT, struct stats, counters.server_errors), \
	{ } \
}

/* The kernel's own module does not count links, moves and pairs. */
static const struct field added_fields[] = {
	NUMBER(SMC_NLA_STATS_LINKS_UP, struct stats, counters.links_up),
	NUMBER(SMC_NLA_STATS_LINKS_DOWN, struct stats, counters.links_down),
	FLAG(SMC_NLA_STATS_LINKS_UP, struct stats, has_links),
	NUMBER(SMC_NLA_STATS_CONNS_MOVED, struct stats, counters.conns_moved),
	NUMBER(SMC_NLA_STATS_BYTES_AGAIN, struct stats, counters.bytes_again),
	FLAG(SMC_NLA_STATS_CONNS_MOVED, struct stats, has_moves),
	NUMBER(SMC_NLA_STATS_CLNT_PAIRED, struct stats, counters.client_paired),
	NUMBER(SMC_NLA_STATS_SRV_PAIRED, struct stats, counters.server_paired),
	FLAG(SMC_NLA_STATS_CLNT_PAIRED, struct stats, has_pairs),
	{ }
};

STATS_FIELDS(smcd_fields, SMCD);
STATS_FIELDS(smcr_fields, SMCR);

/* Only the first message has the totals. */
static const struct field total_fields[] = {
	NUMBER(SMC_NLA_FBACK_STATS_SRV_CNT, struct stats, counters.server_fallbacks),
	NUMBER(SMC_NLA_FBACK_STATS_CLNT_CNT, struct stats, counters.client_fallbacks),
	{ }
};

struct fallback_message {
	struct fallback_count fallback;
	uint64_t count64;
	bool has_count64;
};

static const struct field fallback_fields[] = {
	NUMBER(SMC_NLA_FBACK_STATS_TYPE, struct fallback_message, fallback.is_server),
	NUMBER(SMC_NLA_FBACK_STATS_RSN_CODE, struct fallback_message, fallback.reason),
	NUMBER(SMC_NLA_FBACK_STATS_RSN_CNT, struct fallback_message, fallback.count),
	NUMBER(SMC_NLA_FBACK_STATS_RSN_CNT64, struct fallback_message, count64),
	FLAG(SMC_NLA_FBACK_STATS_RSN_CNT64, struct fallback_message, has_count64),
	{ }
};

static void take_fallback(struct nlattr *nla, struct fallback_count *fallback)
{
	struct fallback_message message = { };

	decode(fallback_fields, nla_data(nla), nla_len(nla), &message);
	*fallback = message.fallback;
	fallback->narrow = !message.has_count64;
	if (message.has_count64)
		fallback->count = message.count64;
}

void stats_init(struct stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->fallbacks = (struct array)ARRAY_OF(struct fallback_count);
}

void stats_free(struct stats *stats)
{
	array_free(&stats->fallbacks);
}

struct reader {
	const struct field *fields;
	struct stats *stats;
};

static void take(struct nlattr *nla, void *arg)
{
	const struct reader *reader = arg;

	if (nla_type(nla) == SMC_GEN_STATS) {
		decode(reader->fields, nla_data(nla), nla_len(nla), reader->stats);
		decode(added_fields, nla_data(nla), nla_len(nla), reader->stats);
	} else if (nla_type(nla) == SMC_GEN_FBACK_STATS) {
		decode(total_fields, nla_data(nla), nla_len(nla), reader->stats);
		take_fallback(nla, array_add(&reader->stats->fallbacks));
	}
}

static void restart(void *arg)
{
	((const struct reader *)arg)->stats->fallbacks.count = 0;
}

int stats_read(struct genl *genl, enum smc_kind kind, struct stats *stats)
{
	struct reader state = { kind == SMC_D ? smcd_fields : smcr_fields, stats };
	struct genl_reader reader = { .take = take, .restart = restart, .arg = &state };
	int error = genl_dump(genl, SMC_NETLINK_GET_STATS, &reader);

	return error ? error : genl_dump(genl, SMC_NETLINK_GET_FBACK_STATS, &reader);
}

static bool same_fallback(const struct fallback_count *one, const struct fallback_count *other)
{
	return one->is_server == other->is_server && one->reason == other->reason;
}

/* Is a reason's count below that of @before? */
static bool fallbacks_fell(const struct array *now, const struct array *before)
{
	size_t i, b;

	for (i = 0; i < now->count; i++) {
		const struct fallback_count *f = array_item(now, i);

		for (b = 0; b < before->count; b++) {
			const struct fallback_count *old = array_item(before, b);

			if (!f->narrow && same_fallback(f, old) && f->count < old->count)
				return true;
		}
	}
	return false;
}

static void subtract_fallback(struct fallback_count *now, const struct fallback_count *old)
{
	if (!same_fallback(now, old))
		return;
	now->count -= old->count;
	if (now->narrow)	/* a 16-bit counter wraps: correct up to 65535 more */
		now->count &= 0xffff;
}

static void subtract_fallbacks(struct array *now, const struct array *before)
{
	struct fallback_count *list = now->items;
	size_t i, b, count = 0;

	for (i = 0; i < now->count; i++) {
		for (b = 0; b < before->count; b++)
			subtract_fallback(&list[i], array_item(before, b));
		if (list[i].count)
			list[count++] = list[i];
	}
	now->count = count;
}

bool stats_subtract(struct stats *now, const struct stats *before)
{
	const uint64_t *old = (const uint64_t *)&before->counters;
	uint64_t *new = (uint64_t *)&now->counters;
	size_t i;

	for (i = 0; i < COUNTERS; i++)
		if (new[i] < old[i])
			return false;
	if (fallbacks_fell(&now->fallbacks, &before->fallbacks))
		return false;
	for (i = 0; i < COUNTERS; i++)
		new[i] -= old[i];
	subtract_fallbacks(&now->fallbacks, &before->fallbacks);
	return true;
}
