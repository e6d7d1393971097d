// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family SMC_GEN_NETLINK: its operations, and the permissions for changes.
 * Reading is always a dump, and changing always a "do", so permissions are checked in one place,
 * before any "do".
 *
 * Numbers, names and formats of values are those of linux/smc.h, including the blanks that pad an
 * EID, because installed tools expect them.
 */
#include <linux/capability.h>
#include <linux/netlink.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>
#include "../wire/clc_format.h"
#include "genl.h"

static const struct nla_policy smc_genl_policy[] = {
	[SMC_NLA_EID_TABLE_ENTRY] = NLA_POLICY_VALIDATE_FN(NLA_STRING,
							   smc_genl_check_eid),
};

/* For commands without attributes: the first type is unsupported, all others are unknown. */
static const struct nla_policy no_attributes[] = { { }, { } };

/* A command that linux/smc.h does not have has its own policy. */
#define ADDED(command, attribute, attrs)				\
	.cmd = command, .policy = attrs, .maxattr = attribute
#define ADDED_BARE(command)	ADDED(command, 1, no_attributes)

static const struct genl_ops smc_genl_ops[] = {
	{ .cmd = SMC_NETLINK_GET_SYS_INFO,	.dumpit = smc_genl_get_sys_info, },
	{ .cmd = SMC_NETLINK_GET_LGR_SMCR,	.dumpit = smc_genl_get_lgr_smcr, },
	{ .cmd = SMC_NETLINK_GET_LINK_SMCR,	.dumpit = smc_genl_get_link_smcr, },
	{ .cmd = SMC_NETLINK_GET_LGR_SMCD,	.dumpit = smc_genl_get_lgr_smcd, },
	{ .cmd = SMC_NETLINK_GET_DEV_SMCD,	.dumpit = smc_genl_get_dev_smcd, },
	{ .cmd = SMC_NETLINK_GET_DEV_SMCR,	.dumpit = smc_genl_get_dev_smcr, },
	{ .cmd = SMC_NETLINK_GET_STATS,		.dumpit = smc_genl_get_stats, },
	{ .cmd = SMC_NETLINK_GET_FBACK_STATS,	.dumpit = smc_genl_get_fback_stats, },
	{ .cmd = SMC_NETLINK_DUMP_UEID,		.dumpit = smc_genl_dump_ueid, },
	{ .cmd = SMC_NETLINK_ADD_UEID,		.doit = smc_genl_add_ueid, },
	{ .cmd = SMC_NETLINK_REMOVE_UEID,	.doit = smc_genl_remove_ueid, },
	{ .cmd = SMC_NETLINK_FLUSH_UEID,	.doit = smc_genl_flush_ueid, },
	{ .cmd = SMC_NETLINK_DUMP_SEID,		.dumpit = smc_genl_dump_seid, },
	{ .cmd = SMC_NETLINK_ENABLE_SEID,	.doit = smc_genl_enable_seid, },
	{ .cmd = SMC_NETLINK_DISABLE_SEID,	.doit = smc_genl_disable_seid, },
	{ .cmd = SMC_NETLINK_DUMP_HS_LIMITATION,
	  .dumpit = smc_genl_dump_hs_limitation, },
	{ .cmd = SMC_NETLINK_ENABLE_HS_LIMITATION,
	  .doit = smc_genl_enable_hs_limitation, },
	{ .cmd = SMC_NETLINK_DISABLE_HS_LIMITATION,
	  .doit = smc_genl_disable_hs_limitation, },
	{ ADDED_BARE(SMC_NETLINK_GET_FILTER), .dumpit = smc_genl_get_filter, },
	{ ADDED(SMC_NETLINK_ADD_FILTER, SMC_GEN_FILTER, smc_genl_add_filter_policy),
	  .doit = smc_genl_add_filter, },
	{ ADDED(SMC_NETLINK_DEL_FILTER, SMC_GEN_FILTER, smc_genl_del_filter_policy),
	  .doit = smc_genl_del_filter, },
	{ ADDED_BARE(SMC_NETLINK_FLUSH_FILTER), .doit = smc_genl_flush_filter, },
	{ ADDED_BARE(SMC_NETLINK_GET_AUTOCACHE), .dumpit = smc_genl_get_autocache, },
	{ ADDED_BARE(SMC_NETLINK_FLUSH_AUTOCACHE), .doit = smc_genl_flush_autocache, },
	{ ADDED_BARE(SMC_NETLINK_GET_AUTOSMC), .dumpit = smc_genl_get_autosmc, },
	{ ADDED_BARE(SMC_NETLINK_FLUSH_AUTOSMC), .doit = smc_genl_flush_autosmc, },
};

/* Does a command change EIDs, which belong to the host, rather than to a network namespace? */
static bool of_host(u8 cmd)
{
	switch (cmd) {
	case SMC_NETLINK_ENABLE_HS_LIMITATION:
	case SMC_NETLINK_DISABLE_HS_LIMITATION:
	case SMC_NETLINK_ADD_FILTER:
	case SMC_NETLINK_DEL_FILTER:
	case SMC_NETLINK_FLUSH_FILTER:
	case SMC_NETLINK_FLUSH_AUTOCACHE:
	case SMC_NETLINK_FLUSH_AUTOSMC:
		return false;
	default:
		return true;
	}
}

/**
 * smc_genl_may_change() - check for CAP_NET_ADMIN in the namespace, and report its absence
 * @skb: the request
 * @info: the request, parsed; receives the error message
 *
 * Return: true if the sender may change something.
 */
bool smc_genl_may_change(struct sk_buff *skb, struct genl_info *info)
{
	if (netlink_ns_capable(skb, genl_info_net(info)->user_ns, CAP_NET_ADMIN))
		return true;
	GENL_SET_ERR_MSG(info, "this needs CAP_NET_ADMIN in the network namespace");
	return false;
}

/*
 * Called before every "do". The flags GENL_ADMIN_PERM and GENL_UNS_ADMIN_PERM would refuse without
 * a message. CAP_NET_ADMIN in a container applies to the container's own namespace, and must not
 * allow changes of what all namespaces share.
 */
static int smc_genl_pre_doit(smc_genl_pre_doit_ops *ops, struct sk_buff *skb,
			     struct genl_info *info)
{
	if (!of_host(info->genlhdr->cmd))
		return smc_genl_may_change(skb, info) ? 0 : -EPERM;
	if (!netlink_capable(skb, CAP_NET_ADMIN)) {
		GENL_SET_ERR_MSG(info, "EIDs belong to the host: this needs CAP_NET_ADMIN there");
		return -EPERM;
	}
	if (!net_eq(genl_info_net(info), &init_net)) {
		GENL_SET_ERR_MSG(info, "EIDs belong to the host: change them in its initial network namespace");
		return -EPERM;
	}
	return 0;
}

enum { SMC_GENL_EVENTS };

static const struct genl_multicast_group smc_genl_groups[] = {
	[SMC_GENL_EVENTS] = { .name = SMC_GENL_EVENTS_NAME, },
};

static struct genl_family smc_genl_family __ro_after_init = {
	.name		= SMC_GENL_FAMILY_NAME,
	.version	= SMC_GENL_FAMILY_VERSION,
	.maxattr	= ARRAY_SIZE(smc_genl_policy) - 1,
	.policy		= smc_genl_policy,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.pre_doit	= smc_genl_pre_doit,
	.ops		= smc_genl_ops,
	.n_ops		= ARRAY_SIZE(smc_genl_ops),
	.mcgrps		= smc_genl_groups,
	.n_mcgrps	= ARRAY_SIZE(smc_genl_groups),
	/* Installed tools may leave garbage in reserved fields. */
	.resv_start_op	= SMC_NETLINK_DISABLE_HS_LIMITATION + 1,
};

/**
 * smc_genl_begin() - begin a message of a dump
 * @skb: buffer for the message
 * @cb: the dump; cb->seq is the sequence number of the state it shows, or 0 if there is none
 * @cmd: the command, SMC_NETLINK_*
 *
 * Return: the header for smc_genl_end(), or NULL if the buffer is full.
 */
void *smc_genl_begin(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				cb->nlh->nlmsg_seq, &smc_genl_family,
				NLM_F_MULTI, cmd);

	if (hdr && cb->seq)
		genl_dump_check_consistent(cb, hdr);
	return hdr;
}

void smc_genl_end(struct sk_buff *skb, void *hdr)
{
	genlmsg_end(skb, hdr);
}

/**
 * smc_genl_listened() - does anybody listen for events?
 * @net: the namespace
 *
 * Context: any but hard interrupts.
 * Return: true if there are listeners.
 */
bool smc_genl_listened(struct net *net)
{
	return genl_has_listeners(&smc_genl_family, net, SMC_GENL_EVENTS);
}

/**
 * smc_genl_put() - begin an unsolicited message
 * @skb: buffer for the message
 * @cmd: the command, SMC_NETLINK_*
 *
 * Return: the header for smc_genl_end(), or NULL if the buffer is full.
 */
void *smc_genl_put(struct sk_buff *skb, u8 cmd)
{
	return genlmsg_put(skb, 0, 0, &smc_genl_family, 0, cmd);
}

/**
 * smc_genl_multicast() - send a message to all listeners for events
 * @net: the namespace
 * @skb: the message, which is consumed
 *
 * A listener whose receive buffer is full gets ENOBUFS instead.
 *
 * Context: process, may sleep.
 */
void smc_genl_multicast(struct net *net, struct sk_buff *skb)
{
	genlmsg_multicast_netns(&smc_genl_family, net, skb, 0, SMC_GENL_EVENTS, GFP_KERNEL);
}

/**
 * smc_genl_lost() - report ENOBUFS to all listeners, because an event was lost
 * @net: the namespace
 *
 * Context: process, may sleep.
 */
void smc_genl_lost(struct net *net)
{
	genl_set_err(&smc_genl_family, net, 0, SMC_GENL_EVENTS, -ENOBUFS);
}

/**
 * smc_genl_put_nest() - add a message with a single nested attribute to a dump
 * @skb: buffer for the message
 * @cb: the dump
 * @cmd: the command, SMC_NETLINK_*
 * @nest: type of the nested attribute
 * @fill: fills the nested attribute from @info; returns nonzero if there is not enough room
 * @info: the object to be shown
 *
 * Return: 0, or -EMSGSIZE, in which case @skb is unchanged.
 */
int smc_genl_put_nest(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd, int nest,
		      int (*fill)(struct sk_buff *skb, const void *info), const void *info)
{
	void *hdr = smc_genl_begin(skb, cb, cmd);
	struct nlattr *outer;

	if (!hdr)
		return -EMSGSIZE;
	outer = nla_nest_start(skb, nest);
	if (!outer || fill(skb, info)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, outer);
	smc_genl_end(skb, hdr);
	return 0;
}

/**
 * smc_genl_put_ip() - add an address in network byte order, 4 or 16 bytes long
 * @skb: buffer for the attribute
 * @attr: type of the attribute
 * @ip: the address
 *
 * Return: 0 or -EMSGSIZE.
 */
int smc_genl_put_ip(struct sk_buff *skb, int attr, const struct smc_ip *ip)
{
	__be64 v6[2] = { cpu_to_be64(ip->hi), cpu_to_be64(ip->lo) };

	if (smc_ip_is_v4(ip))
		return nla_put_be32(skb, attr, cpu_to_be32((u32)ip->lo));
	return nla_put(skb, attr, sizeof(v6), v6);
}

/**
 * smc_genl_dump_one() - a dump that consists of a single message
 * @skb: buffer for the message
 * @cb: the dump; uses args[0]
 * @cmd: the command, SMC_NETLINK_*
 * @fill: adds the attributes; returns nonzero if there is not enough room
 *
 * Return: the value for .dumpit.
 */
int smc_genl_dump_one(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
		      int (*fill)(struct sk_buff *skb, const struct net *net))
{
	void *hdr;

	if (cb->args[0])
		return skb->len;
	hdr = smc_genl_begin(skb, cb, cmd);
	if (!hdr)
		return -EMSGSIZE;
	if (fill(skb, sock_net(skb->sk))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	smc_genl_end(skb, hdr);
	cb->args[0] = 1;
	return skb->len;
}

/**
 * smc_genl_put_padded() - add a text padded with blanks to 32 characters, as Linux does
 * @skb: buffer for the attribute
 * @attr: type of the attribute
 * @text: the text
 * @len: length of @text; at most SMC_MAX_EID_LEN bytes are used
 *
 * Return: 0 or -EMSGSIZE.
 */
int smc_genl_put_padded(struct sk_buff *skb, int attr, const u8 *text, size_t len)
{
	char padded[SMC_MAX_EID_LEN + 1];

	BUILD_BUG_ON(SMC_MAX_EID_LEN != SMC_EID_LEN ||
		     SMC_MAX_EID_LEN != SMC_MAX_HOSTNAME_LEN);
	memset(padded, ' ', SMC_MAX_EID_LEN);
	memcpy(padded, text, min_t(size_t, len, SMC_MAX_EID_LEN));
	padded[SMC_MAX_EID_LEN] = 0;
	return nla_put_string(skb, attr, padded);
}

/**
 * smc_genl_init() - register the netlink family
 *
 * Return: 0 or a negative errno.
 */
int __init smc_genl_init(void)
{
	int rc = genl_register_family(&smc_genl_family);

	if (!rc)
		smc_genl_event_init();
	return rc;
}

void smc_genl_exit(void)
{
	smc_genl_event_exit();
	genl_unregister_family(&smc_genl_family);
}
