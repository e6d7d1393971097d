// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: the counters of a namespace, in the order that Linux has always used.
 */
#include <linux/slab.h>
#include "../socket/socket.h"
#include "../stats.h"
#include "genl.h"

static int put(struct sk_buff *skb, int type, u64 value)
{
	BUILD_BUG_ON(SMC_NLA_STATS_PAD || SMC_NLA_STATS_T_PAD || SMC_NLA_STATS_RMB_PAD ||
		     SMC_NLA_STATS_PLOAD_PAD || SMC_NLA_FBACK_STATS_PAD);
	return nla_put_u64_64bit(skb, type, value, 0);
}

static int put_sizes(struct sk_buff *skb, int type, const u64 *sizes)
{
	struct nlattr *nest = nla_nest_start(skb, type);
	int i, rc = nest ? 0 : -EMSGSIZE;

	BUILD_BUG_ON(SMC_NLA_STATS_PLOAD_MAX != SMC_STATS_SIZES);
	for (i = 0; !rc && i < SMC_STATS_SIZES; i++)
		rc = put(skb, SMC_NLA_STATS_PLOAD_8K + i, sizes[i]);
	if (!rc)
		nla_nest_end(skb, nest);
	return rc;
}

static int put_bufs(struct sk_buff *skb, int type, const struct smc_stats_dir *d)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest ||
	    put(skb, SMC_NLA_STATS_RMB_REUSE_CNT, d->reused) ||
	    put(skb, SMC_NLA_STATS_RMB_SIZE_SM_PEER_CNT, d->small_peer) ||
	    put(skb, SMC_NLA_STATS_RMB_SIZE_SM_CNT, d->small) ||
	    put(skb, SMC_NLA_STATS_RMB_FULL_PEER_CNT, d->full_peer) ||
	    put(skb, SMC_NLA_STATS_RMB_FULL_CNT, d->full) ||
	    put(skb, SMC_NLA_STATS_RMB_ALLOC_CNT, d->fresh) ||
	    put(skb, SMC_NLA_STATS_RMB_DGRADE_CNT, d->downgraded))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static u64 all_calls(const struct smc_stats_dir *d)
{
	u64 n = 0;
	int i;

	for (i = 0; i < SMC_STATS_SIZES; i++)
		n += d->calls[i];
	return n;
}

/* CPUs are read one after the other, so the sum may be negative for a moment. */
static u64 in_use(const struct smc_stats_dir *d)
{
	return max_t(s64, d->in_use, 0);
}

static int put_tech(struct sk_buff *skb, int type, const struct smc_stats_tech *t)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest ||
	    put_bufs(skb, SMC_NLA_STATS_T_TX_RMB_STATS, &t->tx) ||
	    put_bufs(skb, SMC_NLA_STATS_T_RX_RMB_STATS, &t->rx) ||
	    put_sizes(skb, SMC_NLA_STATS_T_TXPLOAD_SIZE, t->tx.calls) ||
	    put_sizes(skb, SMC_NLA_STATS_T_RXPLOAD_SIZE, t->rx.calls) ||
	    put_sizes(skb, SMC_NLA_STATS_T_TX_RMB_SIZE, t->tx.bufs) ||
	    put_sizes(skb, SMC_NLA_STATS_T_RX_RMB_SIZE, t->rx.bufs) ||
	    put(skb, SMC_NLA_STATS_T_CLNT_V1_SUCC, t->conns[0][0]) ||
	    put(skb, SMC_NLA_STATS_T_CLNT_V2_SUCC, t->conns[0][1]) ||
	    put(skb, SMC_NLA_STATS_T_SRV_V1_SUCC, t->conns[1][0]) ||
	    put(skb, SMC_NLA_STATS_T_SRV_V2_SUCC, t->conns[1][1]) ||
	    put(skb, SMC_NLA_STATS_T_RX_BYTES, t->rx.bytes) ||
	    put(skb, SMC_NLA_STATS_T_TX_BYTES, t->tx.bytes) ||
	    nla_put_uint(skb, SMC_NLA_STATS_T_RX_RMB_USAGE, in_use(&t->rx)) ||
	    nla_put_uint(skb, SMC_NLA_STATS_T_TX_RMB_USAGE, in_use(&t->tx)) ||
	    put(skb, SMC_NLA_STATS_T_RX_CNT, all_calls(&t->rx)) ||
	    put(skb, SMC_NLA_STATS_T_TX_CNT, all_calls(&t->tx)) ||
	    /* Always 0: sendfile() and splice() are counted as send and receive calls. */
	    put(skb, SMC_NLA_STATS_T_SENDPAGE_CNT, 0) ||
	    put(skb, SMC_NLA_STATS_T_CORK_CNT, t->corks) ||
	    put(skb, SMC_NLA_STATS_T_NDLY_CNT, t->nodelays) ||
	    put(skb, SMC_NLA_STATS_T_SPLICE_CNT, 0) ||
	    put(skb, SMC_NLA_STATS_T_URG_DATA_CNT, t->urgents))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int fill_stats(struct sk_buff *skb, const void *info)
{
	const struct smc_stats *s = info;
	const struct smc_stats_tech *d = &s->tech[smc_stats_tech(SMC_DIAG_MODE_SMCD)];
	const struct smc_stats_tech *r = &s->tech[smc_stats_tech(SMC_DIAG_MODE_SMCR)];

	return put_tech(skb, SMC_NLA_STATS_SMCD_TECH, d) ||
	       put_tech(skb, SMC_NLA_STATS_SMCR_TECH, r) ||
	       put(skb, SMC_NLA_STATS_CLNT_HS_ERR_CNT, s->errors[0]) ||
	       put(skb, SMC_NLA_STATS_SRV_HS_ERR_CNT, s->errors[1]) ||
	       put(skb, SMC_NLA_STATS_LINKS_UP, s->links_up) ||
	       put(skb, SMC_NLA_STATS_LINKS_DOWN, s->links_down) ||
	       put(skb, SMC_NLA_STATS_CLNT_PAIRED, s->paired[0]) ||
	       put(skb, SMC_NLA_STATS_SRV_PAIRED, s->paired[1]) ||
	       put(skb, SMC_NLA_STATS_CONNS_MOVED, s->conns_moved) ||
	       put(skb, SMC_NLA_STATS_BYTES_AGAIN, s->bytes_again);
}

static struct smc_stats *counters_of(struct net *net)
{
	struct smc_stats *sum = kmalloc(sizeof(*sum), GFP_KERNEL);

	if (sum) {
		smc_registry_flush(net);
		smc_stats_sum(net, sum);
	}
	return sum;
}

/**
 * smc_genl_get_stats() - SMC_NETLINK_GET_STATS
 * @skb: buffer for the message
 * @cb: args[0] is nonzero once the message has been sent
 *
 * Return: skb->len, -ENOMEM or -EMSGSIZE.
 */
int smc_genl_get_stats(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_stats *sum;
	int rc;

	if (cb->args[0])
		return skb->len;
	sum = counters_of(sock_net(skb->sk));
	if (!sum)
		return -ENOMEM;
	rc = smc_genl_put_nest(skb, cb, SMC_NETLINK_GET_STATS, SMC_GEN_STATS, fill_stats, sum);
	kfree(sum);
	if (rc)
		return rc;
	cb->args[0] = 1;
	return skb->len;
}

static u64 all_fallbacks(const struct smc_stats *s, bool server)
{
	u64 n = 0;
	int i;

	for (i = 0; i < SMC_NR_REASONS; i++)
		n += s->fallbacks[server][i];
	return n;
}

/* One reason of one role. @first: also send the sums of both roles. */
struct fallback {
	const struct smc_stats	*s;
	bool			server;
	unsigned int		reason;
	bool			first;
};

static int fill_fallback(struct sk_buff *skb, const void *info)
{
	const struct fallback *f = info;
	u64 n = f->s->fallbacks[f->server][f->reason];

	if (nla_put_u8(skb, SMC_NLA_FBACK_STATS_TYPE, f->server))
		return -EMSGSIZE;
	if (f->first &&
	    (put(skb, SMC_NLA_FBACK_STATS_SRV_CNT, all_fallbacks(f->s, true)) ||
	     put(skb, SMC_NLA_FBACK_STATS_CLNT_CNT, all_fallbacks(f->s, false))))
		return -EMSGSIZE;
	return nla_put_u32(skb, SMC_NLA_FBACK_STATS_RSN_CODE, smc_stats_reason(f->reason)) ||
	       /* This attribute has always had 16 bits. */
	       nla_put_u16(skb, SMC_NLA_FBACK_STATS_RSN_CNT, min_t(u64, n, U16_MAX)) ||
	       put(skb, SMC_NLA_FBACK_STATS_RSN_CNT64, n) ||
	       nla_put_string(skb, SMC_NLA_FBACK_STATS_RSN_TEXT, smc_stats_words(f->reason));
}

/**
 * smc_genl_get_fback_stats() - SMC_NETLINK_GET_FBACK_STATS: a message for each role
 * and reason that has occurred
 * @skb: buffer for the messages
 * @cb: args[0] is the position; args[1] is nonzero once the sums have been sent
 *
 * Return: skb->len or -ENOMEM.
 */
int smc_genl_get_fback_stats(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_stats *sum = counters_of(sock_net(skb->sk));
	struct fallback f = { .s = sum };

	if (!sum)
		return -ENOMEM;
	for (; cb->args[0] < 2 * SMC_NR_REASONS; cb->args[0]++) {
		f.server = cb->args[0] < SMC_NR_REASONS;
		f.reason = cb->args[0] % SMC_NR_REASONS;
		f.first = !cb->args[1];
		if (!sum->fallbacks[f.server][f.reason])
			continue;
		if (smc_genl_put_nest(skb, cb, SMC_NETLINK_GET_FBACK_STATS,
				      SMC_GEN_FBACK_STATS, fill_fallback, &f))
			break;
		cb->args[1] = 1;
	}
	kfree(sum);
	return skb->len;
}
