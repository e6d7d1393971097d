// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink: the EIDs of this host. An EID is accepted with or without a terminating 0 and padding
 * blanks; it is always sent with both.
 */
#include "../config/eid.h"
#include "genl.h"

/* The length of an EID without terminator and padding. */
static int trimmed_len(const struct nlattr *attr)
{
	const u8 *text = nla_data(attr);
	int len = nla_len(attr);

	while (len && !text[len - 1])
		len--;
	while (len && text[len - 1] == ' ')
		len--;
	return len;
}

/* Report which rule an EID breaks. */
static void say_what_is_wrong(const struct nlattr *attr, int len,
			      struct netlink_ext_ack *extack)
{
	const char *text = nla_data(attr);

	if (!len)
		NL_SET_ERR_MSG_ATTR(extack, attr, "an EID has at least one character");
	else if (len > SMC_EID_LEN)
		NL_SET_ERR_MSG_ATTR(extack, attr, "an EID has at most 32 characters");
	else if (text[0] == '-' || text[0] == '.')
		NL_SET_ERR_MSG_ATTR(extack, attr, "an EID begins with a letter or a digit");
	else if (strnstr(text, "..", len))
		NL_SET_ERR_MSG_ATTR(extack, attr, "an EID must not contain two dots in a row");
	else
		NL_SET_ERR_MSG_ATTR(extack, attr, "an EID consists of A-Z, 0-9, '-' and '.'");
}

/**
 * smc_genl_check_eid() - policy of SMC_NLA_EID_TABLE_ENTRY
 * @attr: the attribute
 * @extack: receives the error message
 *
 * Return: 0; -ERANGE if the EID is too long; -EINVAL if it is otherwise invalid.
 */
int smc_genl_check_eid(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	int len = trimmed_len(attr);
	u8 eid[SMC_EID_LEN];

	if (!smc_eid_from_string(nla_data(attr), len, eid))
		return 0;
	say_what_is_wrong(attr, len, extack);
	return len > SMC_EID_LEN ? -ERANGE : -EINVAL;
}

/**
 * smc_genl_dump_ueid() - SMC_NETLINK_DUMP_UEID: a message for each user EID
 * @skb: buffer for the messages
 * @cb: args[0] is the number of EIDs that have been sent
 *
 * Return: skb->len.
 */
int smc_genl_dump_ueid(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_eids eids;
	void *hdr;

	smc_eids_copy(&eids);
	/* If the EIDs change before the dump is complete, the dump is marked as inconsistent. */
	cb->seq = eids.seq;
	for (; cb->args[0] < eids.n; cb->args[0]++) {
		hdr = smc_genl_begin(skb, cb, SMC_NETLINK_DUMP_UEID);
		if (!hdr)
			break;
		if (smc_genl_put_padded(skb, SMC_NLA_EID_TABLE_ENTRY,
					eids.ueid[cb->args[0]], SMC_EID_LEN)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		smc_genl_end(skb, hdr);
	}
	return skb->len;
}

/* Get the EID of a request; the policy has checked that it is valid. */
static int eid_of(struct genl_info *info, u8 *eid)
{
	const struct nlattr *attr = info->attrs[SMC_NLA_EID_TABLE_ENTRY];

	if (!attr) {
		GENL_SET_ERR_MSG(info, "the EID is missing (SMC_NLA_EID_TABLE_ENTRY)");
		return -EINVAL;
	}
	return smc_eid_from_string(nla_data(attr), trimmed_len(attr), eid);
}

/**
 * smc_genl_add_ueid() - SMC_NETLINK_ADD_UEID
 * @skb: the request
 * @info: the request, parsed
 *
 * Return: 0, -EEXIST, or, as tools expect, -ERANGE if there is no room; or an error of the
 * attribute.
 */
int smc_genl_add_ueid(struct sk_buff *skb, struct genl_info *info)
{
	u8 eid[SMC_EID_LEN];
	int rc = eid_of(info, eid);

	if (!rc)
		rc = smc_ueid_add(eid);
	if (rc == -EEXIST) {
		GENL_SET_ERR_MSG(info, "this user EID exists already");
	} else if (rc == -ENOSPC) {
		GENL_SET_ERR_MSG(info, "there can be at most 8 user EIDs: remove one first");
		BUILD_BUG_ON(SMC_CLC_MAX_EIDS != 8);
		rc = -ERANGE;
	}
	return rc;
}

/**
 * smc_genl_remove_ueid() - SMC_NETLINK_REMOVE_UEID; existing connections are not affected
 * @skb: the request
 * @info: the request, parsed
 *
 * Return: 0, -ENOENT, or an error of the attribute.
 */
int smc_genl_remove_ueid(struct sk_buff *skb, struct genl_info *info)
{
	u8 eid[SMC_EID_LEN];
	int rc = eid_of(info, eid);

	if (!rc)
		rc = smc_ueid_remove(eid);
	if (rc == -ENOENT)
		GENL_SET_ERR_MSG(info, "there is no such user EID");
	return rc;
}

int smc_genl_flush_ueid(struct sk_buff *skb, struct genl_info *info)
{
	smc_ueid_flush();
	return 0;
}

static int fill_seid(struct sk_buff *skb, const struct net *net)
{
	struct smc_eids eids;

	smc_eids_copy(&eids);
	return smc_genl_put_padded(skb, SMC_NLA_SEID_ENTRY, eids.seid, SMC_EID_LEN) ||
	       nla_put_u8(skb, SMC_NLA_SEID_ENABLED, eids.has_seid);
}

/**
 * smc_genl_dump_seid() - SMC_NETLINK_DUMP_SEID: the system EID, in use or not
 * @skb: buffer for the message
 * @cb: the dump
 *
 * Return: the value for .dumpit.
 */
int smc_genl_dump_seid(struct sk_buff *skb, struct netlink_callback *cb)
{
	return smc_genl_dump_one(skb, cb, SMC_NETLINK_DUMP_SEID, fill_seid);
}

int smc_genl_enable_seid(struct sk_buff *skb, struct genl_info *info)
{
	smc_seid_enable(true);
	return 0;
}

int smc_genl_disable_seid(struct sk_buff *skb, struct genl_info *info)
{
	smc_seid_enable(false);
	return 0;
}
