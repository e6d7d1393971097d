// SPDX-License-Identifier: GPL-2.0
/* Netlink: events, sent to a multicast group. */
#include <linux/smc_diag.h>
#include <linux/smc_reason.h>
#include "../events.h"
#include "../stats.h"
#include "genl.h"

static int put_group(struct sk_buff *skb, const struct smc_event *e)
{
	if (nla_put_u32(skb, SMC_NLA_EVENT_LGR, e->lgr) ||
	    nla_put_u8(skb, SMC_NLA_EVENT_TECH, e->tech) ||
	    nla_put_u32(skb, SMC_NLA_EVENT_CONNS, e->conns) ||
	    nla_put_string(skb, SMC_NLA_EVENT_DEV, e->dev))
		return -EMSGSIZE;
	if (e->tech == SMC_DIAG_MODE_SMCR &&
	    nla_put_u8(skb, SMC_NLA_EVENT_LGR_TYPE, e->group_type))
		return -EMSGSIZE;
	if (e->link && (nla_put_u8(skb, SMC_NLA_EVENT_LINK, e->link) ||
			nla_put_u8(skb, SMC_NLA_EVENT_PORT, e->port)))
		return -EMSGSIZE;
	return 0;
}

static int put_ends(struct sk_buff *skb, const struct smc_event *e)
{
	size_t len = e->family == AF_INET6 ? sizeof(e->local) : sizeof(__be32);

	if (nla_put(skb, SMC_NLA_EVENT_LOCAL_ADDR, len, e->local) ||
	    nla_put_u16(skb, SMC_NLA_EVENT_LOCAL_PORT, e->local_port) ||
	    nla_put(skb, SMC_NLA_EVENT_REMOTE_ADDR, len, e->remote) ||
	    nla_put_u16(skb, SMC_NLA_EVENT_REMOTE_PORT, e->remote_port))
		return -EMSGSIZE;
	return 0;
}

static int put_reason(struct sk_buff *skb, const struct smc_event *e)
{
	if (!e->reason)
		return 0;
	if (nla_put_u32(skb, SMC_NLA_EVENT_REASON, e->reason) ||
	    nla_put_string(skb, SMC_NLA_EVENT_REASON_TEXT, smc_stats_reason_words(e->reason)))
		return -EMSGSIZE;
	return e->diagnosis ? nla_put_u32(skb, SMC_NLA_EVENT_DIAGNOSIS, e->diagnosis) : 0;
}

static int fill(struct sk_buff *skb, const struct smc_event *e)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_EVENT);

	if (!nest ||
	    nla_put_u8(skb, SMC_NLA_EVENT_TYPE, e->type) ||
	    nla_put_u64_64bit(skb, SMC_NLA_EVENT_TIME, e->when, SMC_NLA_EVENT_PAD) ||
	    nla_put_u8(skb, SMC_NLA_EVENT_ROLE, e->server) ||
	    (e->lgr && put_group(skb, e)) ||
	    (e->family && put_ends(skb, e)) ||
	    put_reason(skb, e))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static void publish(struct net *net, const struct smc_event *e)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr = skb ? smc_genl_put(skb, SMC_NETLINK_EVENT) : NULL;

	if (!hdr || fill(skb, e)) {
		nlmsg_free(skb);
		smc_genl_lost(net);
		return;
	}
	smc_genl_end(skb, hdr);
	smc_genl_multicast(net, skb);
}

static const struct smc_event_publisher publisher = {
	.wanted		= smc_genl_listened,
	.publish	= publish,
	.lost		= smc_genl_lost,
};

/**
 * smc_genl_event_init() - start to publish events; the family must be registered
 */
void smc_genl_event_init(void)
{
	smc_events_set_publisher(&publisher);
}

/**
 * smc_genl_event_exit() - stop publishing events; the family must still be registered
 */
void smc_genl_event_exit(void)
{
	smc_events_set_publisher(NULL);
}
