// SPDX-License-Identifier: GPL-2.0
/* Netlink: the state of autocache and autosmc. */
#include "../policy/policy.h"
#include "genl.h"

static int fill_destination(struct sk_buff *skb, const void *info)
{
	const struct smc_autocache_entry *e = info;

	return smc_genl_put_ip(skb, SMC_NLA_AUTOCACHE_ADDR, &e->ip) ||
	       nla_put_u16(skb, SMC_NLA_AUTOCACHE_PORT, e->port) ||
	       nla_put_u32(skb, SMC_NLA_AUTOCACHE_REASON, e->reason) ||
	       nla_put_u32(skb, SMC_NLA_AUTOCACHE_DIAGNOSIS, e->diagnosis) ||
	       nla_put_u32(skb, SMC_NLA_AUTOCACHE_LEFT, e->left) ||
	       nla_put_u32(skb, SMC_NLA_AUTOCACHE_HITS, e->hits);
}

/**
 * smc_genl_get_autocache() - SMC_NETLINK_GET_AUTOCACHE: a message for each destination
 * @skb: buffer for the messages
 * @cb: args[0] is the number of slots that have been visited
 *
 * Return: skb->len.
 */
int smc_genl_get_autocache(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_net *sn = smc_net(sock_net(skb->sk));
	struct smc_autocache_entry e;

	for (; cb->args[0] < SMC_AUTOCACHE_SLOTS; cb->args[0]++) {
		if (!smc_autocache_nth(sn, cb->args[0], &e, &cb->seq))
			continue;
		if (smc_genl_put_nest(skb, cb, SMC_NETLINK_GET_AUTOCACHE, SMC_GEN_AUTOCACHE,
				      fill_destination, &e))
			break;
	}
	return skb->len;
}

int smc_genl_flush_autocache(struct sk_buff *skb, struct genl_info *info)
{
	smc_autocache_flush(smc_net(genl_info_net(info)));
	return 0;
}

static int fill_listener(struct sk_buff *skb, const void *info)
{
	const struct smc_autosmc_entry *e = info;
	const struct smc_ewma *p = &e->picture;
	u32 worth = (u32)p->worth * 100 / SMC_EWMA_EVEN;

	return (!e->any && smc_genl_put_ip(skb, SMC_NLA_AUTOSMC_ADDR, &e->ip)) ||
	       nla_put_u16(skb, SMC_NLA_AUTOSMC_PORT, e->port) ||
	       nla_put_u8(skb, SMC_NLA_AUTOSMC_VERDICT, p->verdict) ||
	       nla_put_u32(skb, SMC_NLA_AUTOSMC_WORTH, worth) ||
	       nla_put_u32(skb, SMC_NLA_AUTOSMC_RETRY, e->retry) ||
	       nla_put_u64_64bit(skb, SMC_NLA_AUTOSMC_CONNS, p->conns, SMC_NLA_AUTOSMC_PAD) ||
	       nla_put_u64_64bit(skb, SMC_NLA_AUTOSMC_MESSAGES, p->messages,
				 SMC_NLA_AUTOSMC_PAD) ||
	       nla_put_u64_64bit(skb, SMC_NLA_AUTOSMC_BYTES, p->bytes, SMC_NLA_AUTOSMC_PAD) ||
	       nla_put_u64_64bit(skb, SMC_NLA_AUTOSMC_MS, p->ms, SMC_NLA_AUTOSMC_PAD);
}

/**
 * smc_genl_get_autosmc() - SMC_NETLINK_GET_AUTOSMC: a message for each listener that has
 * had connections
 * @skb: buffer for the messages
 * @cb: args[0] is the bucket, args[1] the number of its listeners that have been sent
 *
 * Return: skb->len.
 */
int smc_genl_get_autosmc(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_net *sn = smc_net(sock_net(skb->sk));
	struct smc_autosmc_entry e;

	for (; cb->args[0] < SMC_AUTOSMC_BUCKETS; cb->args[0]++, cb->args[1] = 0)
		for (; smc_autosmc_nth(sn, cb->args[0], cb->args[1], &e, &cb->seq); cb->args[1]++)
			if (smc_genl_put_nest(skb, cb, SMC_NETLINK_GET_AUTOSMC, SMC_GEN_AUTOSMC,
					      fill_listener, &e))
				return skb->len;
	return skb->len;
}

int smc_genl_flush_autosmc(struct sk_buff *skb, struct genl_info *info)
{
	smc_autosmc_flush(smc_net(genl_info_net(info)));
	return 0;
}
