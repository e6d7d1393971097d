// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family SMC_PNETID: the PNET table of a namespace.
 *
 * An entry has either a netdev or a port of a device. A missing name is sent as "n/a" and a missing
 * port as 255, as Linux always did.
 */
#include <linux/capability.h>
#include "../fabric/show.h"
#include "../netns.h"
#include "genl.h"
#include "../config/pnet.h"

#define NOT_THERE	"n/a"
#define NO_PORT		0xff

static int check_pnetid(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	char id[SMC_PNETID_LEN + 1];

	if (smc_pnetid_parse(nla_data(attr), nla_len(attr), id))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr,
			    "a PNETID has 1 to 16 characters of A-Z and 0-9");
	return -EINVAL;
}

/* The length of a text without its terminator. */
static int text_len(const struct nlattr *attr)
{
	return strnlen(nla_data(attr), nla_len(attr));
}

static int check_eth(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	int len = text_len(attr);
	char name[IFNAMSIZ];

	if (!len || len >= IFNAMSIZ) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "a netdev's name has 1 to 15 characters");
		return -EINVAL;
	}
	nla_strscpy(name, attr, sizeof(name));
	if (dev_valid_name(name))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "a netdev's name must not contain blanks, '/' or ':'");
	return -EINVAL;
}

static int check_dev(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	int len = text_len(attr);

	if (len && len < IB_DEVICE_NAME_MAX)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "a device's name has 1 to 63 characters");
	return -EINVAL;
}

static const struct nla_policy pnet_policy[] = {
	[SMC_PNETID_NAME]	= NLA_POLICY_VALIDATE_FN(NLA_STRING, check_pnetid),
	[SMC_PNETID_ETHNAME]	= NLA_POLICY_VALIDATE_FN(NLA_STRING, check_eth),
	[SMC_PNETID_IBNAME]	= NLA_POLICY_VALIDATE_FN(NLA_STRING, check_dev),
	[SMC_PNETID_IBPORT]	= { .type = NLA_U8 },	/* check_port() */
};

static struct genl_family pnet_family;

/* ---- reading ---------------------------------------------------------------- */

static int put_entry(struct sk_buff *skb, const struct smc_pnet_entry *e)
{
	bool eth = !e->port;

	return nla_put_string(skb, SMC_PNETID_NAME, e->id) ||
	       nla_put_string(skb, SMC_PNETID_ETHNAME, eth ? e->name : NOT_THERE) ||
	       nla_put_string(skb, SMC_PNETID_IBNAME, eth ? NOT_THERE : e->name) ||
	       nla_put_u8(skb, SMC_PNETID_IBPORT, eth ? NO_PORT : e->port);
}

/* Returns 0, or -EMSGSIZE, in which case @skb is unchanged. */
static int put_message(struct sk_buff *skb, u32 portid, u32 seq,
		       struct netlink_callback *cb, const struct smc_pnet_entry *e)
{
	void *hdr = genlmsg_put(skb, portid, seq, &pnet_family, NLM_F_MULTI,
				SMC_PNETID_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (cb)
		genl_dump_check_consistent(cb, hdr);
	if (put_entry(skb, e)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* cb->args[0] is the number of the entry that was sent last. */
static int dump_pnet(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_net *sn = smc_net(sock_net(skb->sk));
	struct smc_pnet_entry e = { .number = cb->args[0] };

	while (smc_pnet_next(sn, NULL, &e, &cb->seq)) {
		if (put_message(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				cb, &e))
			break;
		cb->args[0] = e.number;
	}
	return skb->len;
}

/* NLA_POLICY_RANGE() would not report the range, and a numeric type cannot have a function. */
static int check_port(struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[SMC_PNETID_IBPORT];

	BUILD_BUG_ON(SMC_SHOW_PORTS != 2);
	if (!attr || (nla_get_u8(attr) >= 1 && nla_get_u8(attr) <= SMC_SHOW_PORTS))
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "the port of a device must be 1 or 2");
	return -ERANGE;
}

/* Get the PNETID of a request, whose attributes the policy has checked. */
static int wanted_id(struct genl_info *info, char *id)
{
	const struct nlattr *attr = info->attrs[SMC_PNETID_NAME];
	int rc = check_port(info);

	if (rc)
		return rc;
	if (!attr) {
		GENL_SET_ERR_MSG(info, "the PNETID is missing (SMC_PNETID_NAME)");
		return -EINVAL;
	}
	return smc_pnetid_parse(nla_data(attr), nla_len(attr), id) ? 0 : -EINVAL;
}

/* Send one message for each entry of a network; an empty answer is not an error. */
static int get_pnet(struct sk_buff *skb, struct genl_info *info)
{
	struct smc_net *sn = smc_net(genl_info_net(info));
	struct smc_pnet_entry e = { };
	char id[SMC_PNETID_LEN + 1];
	struct sk_buff *reply;
	unsigned int seq;
	int rc = wanted_id(info, id);

	while (!rc && smc_pnet_next(sn, id, &e, &seq)) {
		reply = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
		if (!reply)
			return -ENOMEM;
		rc = put_message(reply, info->snd_portid, info->snd_seq, NULL, &e);
		if (rc)
			nlmsg_free(reply);
		else
			rc = genlmsg_reply(reply, info);
	}
	return rc;
}

/* ---- changing --------------------------------------------------------------- */

/* RDMA and ISM devices may reach networks that this namespace cannot. */
static bool may_name_devices(struct sk_buff *skb, struct genl_info *info)
{
	if (netlink_capable(skb, CAP_NET_ADMIN))
		return true;
	GENL_SET_ERR_MSG(info, "RDMA and ISM devices belong to the host: this needs CAP_NET_ADMIN there");
	return false;
}

/* Get the netdev, the port, or both that a request names; returns how many. */
static unsigned int named(struct genl_info *info, struct smc_pnet_entry *e)
{
	const struct nlattr *eth = info->attrs[SMC_PNETID_ETHNAME];
	const struct nlattr *dev = info->attrs[SMC_PNETID_IBNAME];
	const struct nlattr *port = info->attrs[SMC_PNETID_IBPORT];
	unsigned int n = 0;

	if (eth)
		nla_strscpy(e[n++].name, eth, sizeof(e->name));
	if (!dev)
		return n;
	nla_strscpy(e[n].name, dev, sizeof(e->name));
	e[n].port = port ? nla_get_u8(port) : 1;
	return n + 1;
}

static int add_pnet(struct sk_buff *skb, struct genl_info *info)
{
	struct smc_pnet_entry e[SMC_PNET_AT_ONCE] = { };
	bool dev = info->attrs[SMC_PNETID_IBNAME];
	int rc = wanted_id(info, e[0].id);
	unsigned int n;

	if (rc)
		return rc;
	if (!smc_genl_may_change(skb, info) || (dev && !may_name_devices(skb, info)))
		return -EPERM;
	if (info->attrs[SMC_PNETID_IBPORT] && !dev) {
		GENL_SET_ERR_MSG(info, "a port requires a device (SMC_PNETID_IBNAME)");
		return -EINVAL;
	}
	memcpy(e[1].id, e[0].id, sizeof(e[0].id));
	n = named(info, e);
	if (!n) {
		GENL_SET_ERR_MSG(info, "a PNETID requires a netdev (SMC_PNETID_ETHNAME) or a device (SMC_PNETID_IBNAME)");
		return -EINVAL;
	}
	rc = smc_pnet_add(smc_net(genl_info_net(info)), e, n);
	if (rc == -EEXIST && n > 1)
		GENL_SET_ERR_MSG(info, "the netdev or the port already has a PNETID");
	else if (rc == -EEXIST && dev)
		GENL_SET_ERR_MSG(info, "this port of the device already has a PNETID");
	else if (rc == -EEXIST)
		GENL_SET_ERR_MSG(info, "this netdev already has a PNETID");
	else if (rc == -ENOSPC)
		GENL_SET_ERR_MSG(info, "the table is full: it has 1024 entries");
	BUILD_BUG_ON(SMC_PNET_MAX != 1024);
	return rc;
}

static int del_pnet(struct sk_buff *skb, struct genl_info *info)
{
	char id[SMC_PNETID_LEN + 1];
	int rc = wanted_id(info, id);

	if (rc)
		return rc;
	if (!smc_genl_may_change(skb, info))
		return -EPERM;
	rc = smc_pnet_remove(smc_net(genl_info_net(info)), id);
	if (rc)
		GENL_SET_ERR_MSG(info, "there is no such PNETID");
	return rc;
}

static int flush_pnet(struct sk_buff *skb, struct genl_info *info)
{
	int rc = check_port(info);

	if (rc)
		return rc;
	if (!smc_genl_may_change(skb, info))
		return -EPERM;
	smc_pnet_flush(smc_net(genl_info_net(info)));
	return 0;
}

static const struct genl_ops pnet_ops[] = {
	{ .cmd = SMC_PNETID_GET,	.doit = get_pnet, .dumpit = dump_pnet, },
	{ .cmd = SMC_PNETID_ADD,	.doit = add_pnet, },
	{ .cmd = SMC_PNETID_DEL,	.doit = del_pnet, },
	{ .cmd = SMC_PNETID_FLUSH,	.doit = flush_pnet, },
};

static struct genl_family pnet_family __ro_after_init = {
	.name		= SMCR_GENL_FAMILY_NAME,
	.version	= SMCR_GENL_FAMILY_VERSION,
	.maxattr	= ARRAY_SIZE(pnet_policy) - 1,
	.policy		= pnet_policy,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.ops		= pnet_ops,
	.n_ops		= ARRAY_SIZE(pnet_ops),
	/* Installed tools may leave garbage in reserved fields. */
	.resv_start_op	= SMC_PNETID_FLUSH + 1,
};

/**
 * smc_genl_pnet_init() - register the netlink family
 *
 * Return: 0 or a negative errno.
 */
int __init smc_genl_pnet_init(void)
{
	return genl_register_family(&pnet_family);
}

void smc_genl_pnet_exit(void)
{
	genl_unregister_family(&pnet_family);
}
