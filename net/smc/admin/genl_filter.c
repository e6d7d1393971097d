// SPDX-License-Identifier: GPL-2.0
/* Netlink: the filter rules of a namespace. */
#include "../policy/policy.h"
#include "genl.h"

#define ADDR_POLICY	NLA_POLICY_VALIDATE_FN(NLA_BINARY, check_addr)

static int check_addr(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	if (nla_len(attr) == sizeof(struct in_addr) || nla_len(attr) == sizeof(struct in6_addr))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "an address has 4 or 16 bytes");
	return -EINVAL;
}

/* Attributes of a new rule; the kernel assigns its ID. */
static const struct nla_policy rule_policy[] = {
	[SMC_NLA_FILTER_ACTION]		= { .type = NLA_U8 },
	[SMC_NLA_FILTER_DIRECTION]	= { .type = NLA_U8 },
	[SMC_NLA_FILTER_FAMILY]		= { .type = NLA_U8 },
	[SMC_NLA_FILTER_LOCAL_ADDR]	= ADDR_POLICY,
	[SMC_NLA_FILTER_LOCAL_PREFIX]	= { .type = NLA_U8 },
	[SMC_NLA_FILTER_LOCAL_PORT]	= { .type = NLA_U16 },
	[SMC_NLA_FILTER_LOCAL_PORT_LAST] = { .type = NLA_U16 },
	[SMC_NLA_FILTER_REMOTE_ADDR]	= ADDR_POLICY,
	[SMC_NLA_FILTER_REMOTE_PREFIX]	= { .type = NLA_U8 },
	[SMC_NLA_FILTER_REMOTE_PORT]	= { .type = NLA_U16 },
	[SMC_NLA_FILTER_REMOTE_PORT_LAST] = { .type = NLA_U16 },
	[SMC_NLA_FILTER_BEFORE]		= { .type = NLA_U32 },
};

#define RULE_MAX	(ARRAY_SIZE(rule_policy) - 1)

/* Identifies an existing rule by its ID alone, so no other attribute is allowed. */
static const struct nla_policy id_policy[] = {
	[SMC_NLA_FILTER_ID]		= { .type = NLA_U32 },
};

#define ID_MAX		(ARRAY_SIZE(id_policy) - 1)

const struct nla_policy smc_genl_add_filter_policy[SMC_GEN_FILTER + 1] = {
	[SMC_GEN_FILTER] = NLA_POLICY_NESTED(rule_policy),
};

const struct nla_policy smc_genl_del_filter_policy[SMC_GEN_FILTER + 1] = {
	[SMC_GEN_FILTER] = NLA_POLICY_NESTED(id_policy),
};

/* Offsets of the attributes of one end, which are in the same order for both ends. */
enum { ADDR, PREFIX, PORT, PORT_LAST };

static int first_attr(enum smc_rule_end end)
{
	BUILD_BUG_ON(SMC_NLA_FILTER_REMOTE_PORT_LAST - SMC_NLA_FILTER_REMOTE_ADDR != PORT_LAST ||
		     SMC_NLA_FILTER_LOCAL_PORT_LAST - SMC_NLA_FILTER_LOCAL_ADDR != PORT_LAST);
	return end == SMC_LOCAL ? SMC_NLA_FILTER_LOCAL_ADDR : SMC_NLA_FILTER_REMOTE_ADDR;
}

/* ---- reading ---------------------------------------------------------------- */

static int put_addr(struct sk_buff *skb, int first, const struct smc_rule_side *side)
{
	u8 bits = side->prefix - (smc_ip_is_v4(&side->ip) ? SMC_IPV4_BITS : 0);

	if (!side->prefix)
		return 0;
	return smc_genl_put_ip(skb, first + ADDR, &side->ip) ||
	       nla_put_u8(skb, first + PREFIX, bits);
}

static int put_side(struct sk_buff *skb, int first, const struct smc_rule_side *side)
{
	if (put_addr(skb, first, side))
		return -EMSGSIZE;
	if (!side->first && side->last == U16_MAX)
		return 0;
	return nla_put_u16(skb, first + PORT, side->first) ||
	       nla_put_u16(skb, first + PORT_LAST, side->last);
}

static int fill_rule(struct sk_buff *skb, const void *info)
{
	const struct smc_filter_entry *e = info;
	const struct smc_rule *r = &e->rule;
	u8 family = r->families == SMC_FAMILY_V4 ? AF_INET : AF_INET6;

	return nla_put_u32(skb, SMC_NLA_FILTER_ID, e->id) ||
	       nla_put_u8(skb, SMC_NLA_FILTER_ACTION,
			  r->exclude ? SMC_FILTER_EXCLUDE : SMC_FILTER_PERMIT) ||
	       nla_put_u8(skb, SMC_NLA_FILTER_DIRECTION, r->dirs) ||
	       (r->families != SMC_FAMILY_BOTH &&
		nla_put_u8(skb, SMC_NLA_FILTER_FAMILY, family)) ||
	       put_side(skb, first_attr(SMC_LOCAL), &r->ends[SMC_LOCAL]) ||
	       put_side(skb, first_attr(SMC_REMOTE), &r->ends[SMC_REMOTE]) ||
	       nla_put_u64_64bit(skb, SMC_NLA_FILTER_HITS, e->hits, SMC_NLA_FILTER_PAD);
}

/**
 * smc_genl_get_filter() - SMC_NETLINK_GET_FILTER: a message for each rule, in order
 * @skb: buffer for the messages
 * @cb: args[0] is the number of rules that have been sent
 *
 * Return: skb->len.
 */
int smc_genl_get_filter(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct smc_net *sn = smc_net(sock_net(skb->sk));
	struct smc_filter_entry e;

	BUILD_BUG_ON((int)SMC_FILTER_IN != (int)SMC_DIR_IN ||
		     (int)SMC_FILTER_OUT != (int)SMC_DIR_OUT ||
		     (int)SMC_FILTER_BOTH != (int)SMC_DIR_BOTH);
	for (; smc_filter_nth(sn, cb->args[0], &e, &cb->seq); cb->args[0]++) {
		if (smc_genl_put_nest(skb, cb, SMC_NETLINK_GET_FILTER, SMC_GEN_FILTER, fill_rule,
				      &e))
			break;
	}
	return skb->len;
}

/* ---- changing --------------------------------------------------------------- */

/* Removing a rule needs memory, too. */
#define NO_MEMORY	"there is not enough memory to compile the rules; nothing has changed"

/* Parse the nested attributes of a request; reports an error if they are missing. */
static int rule_attrs(struct genl_info *info, struct nlattr **attrs, int max,
		      const struct nla_policy *policy)
{
	const struct nlattr *nest = info->attrs[SMC_GEN_FILTER];

	if (!nest) {
		GENL_SET_ERR_MSG(info, "the rule is missing (SMC_GEN_FILTER)");
		return -EINVAL;
	}
	return nla_parse_nested(attrs, max, nest, policy, info->extack);
}

static int take_addr(struct smc_rule_side *side, const struct nlattr *addr,
		     const struct nlattr *prefix, struct genl_info *info)
{
	unsigned int bits, most;

	if (!addr) {
		if (!prefix)
			return 0;
		NL_SET_ERR_MSG_ATTR(info->extack, prefix, "a prefix requires an address");
		return -EINVAL;
	}
	most = 8 * nla_len(addr);
	bits = prefix ? nla_get_u8(prefix) : most;
	if (bits > most) {
		NL_SET_ERR_MSG_ATTR(info->extack, prefix,
				    "a prefix has at most 128 bits, for IPv4 at most 32");
		return -EINVAL;
	}
	if (most == 32) {
		side->ip = smc_ip_v4(be32_to_cpu(nla_get_be32(addr)));
		side->prefix = SMC_IPV4_BITS + bits;
	} else {
		side->ip = smc_ip_v6(nla_data(addr));
		side->prefix = bits;
	}
	return 0;
}

static int take_ports(struct smc_rule_side *side, const struct nlattr *first,
		      const struct nlattr *last, struct genl_info *info)
{
	if (last && !first) {
		NL_SET_ERR_MSG_ATTR(info->extack, last, "a range of ports requires its first port");
		return -EINVAL;
	}
	side->first = first ? nla_get_u16(first) : 0;
	side->last = last ? nla_get_u16(last) : first ? side->first : U16_MAX;
	return 0;
}

static int take_side(struct smc_rule *rule, enum smc_rule_end end, struct nlattr **attrs,
		     struct genl_info *info)
{
	struct smc_rule_side *side = &rule->ends[end];
	int first = first_attr(end), rc;

	rc = take_addr(side, attrs[first + ADDR], attrs[first + PREFIX], info);
	if (!rc && attrs[first + ADDR])
		/* ::/0 matches only IPv6, although no bits are left to compare. */
		rule->families &= nla_len(attrs[first + ADDR]) == 4 ? SMC_FAMILY_V4 :
								      SMC_FAMILY_V6;
	if (smc_ip_is_v4(&side->ip) && nla_len(attrs[first + ADDR]) != 4) {
		GENL_SET_ERR_MSG(info, "an IPv4 address must have 4 bytes, not be mapped into IPv6");
		rc = -EINVAL;
	}
	return rc ?: take_ports(side, attrs[first + PORT], attrs[first + PORT_LAST], info);
}

static int say_what_is_wrong(enum smc_rule_error error, struct genl_info *info)
{
	switch (error) {
	case SMC_RULE_OK:
		return 0;
	case SMC_RULE_DIRECTION:
		GENL_SET_ERR_MSG(info, "the direction must be in, out or both");
		break;
	case SMC_RULE_FAMILY:
	case SMC_RULE_FAMILIES_DIFFER:
		GENL_SET_ERR_MSG(info, "local address, remote address and family must be all IPv4 or all IPv6");
		break;
	case SMC_RULE_PREFIX:
		GENL_SET_ERR_MSG(info, "a prefix has at most 128 bits, for IPv4 at most 32");
		break;
	case SMC_RULE_HOST_BITS:
		GENL_SET_ERR_MSG(info, "the address has bits set beyond its prefix");
		break;
	case SMC_RULE_PORTS:
		GENL_SET_ERR_MSG(info, "a range of ports ends before it begins");
		break;
	}
	return -EINVAL;
}

static int take_family(struct smc_rule *rule, const struct nlattr *attr,
		       struct genl_info *info)
{
	rule->families = SMC_FAMILY_BOTH;
	if (!attr)
		return 0;
	switch (nla_get_u8(attr)) {
	case AF_INET:
		rule->families = SMC_FAMILY_V4;
		return 0;
	case AF_INET6:
		rule->families = SMC_FAMILY_V6;
		return 0;
	default:
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "the family must be AF_INET or AF_INET6");
		return -EINVAL;
	}
}

static int take_rule(struct smc_rule *rule, struct nlattr **attrs, struct genl_info *info)
{
	const struct nlattr *action = attrs[SMC_NLA_FILTER_ACTION];
	const struct nlattr *dir = attrs[SMC_NLA_FILTER_DIRECTION];
	int rc;

	if (!action) {
		GENL_SET_ERR_MSG(info, "the action is missing (SMC_NLA_FILTER_ACTION)");
		return -EINVAL;
	}
	if (nla_get_u8(action) != SMC_FILTER_PERMIT && nla_get_u8(action) != SMC_FILTER_EXCLUDE) {
		NL_SET_ERR_MSG_ATTR(info->extack, action,
				    "the action must be 1 (permit) or 2 (exclude)");
		return -ERANGE;
	}
	rule->exclude = nla_get_u8(action) == SMC_FILTER_EXCLUDE;
	rule->dirs = dir ? nla_get_u8(dir) : SMC_DIR_BOTH;
	rc = take_family(rule, attrs[SMC_NLA_FILTER_FAMILY], info);
	rc = rc ?: take_side(rule, SMC_LOCAL, attrs, info);
	rc = rc ?: take_side(rule, SMC_REMOTE, attrs, info);
	return rc ?: say_what_is_wrong(smc_rule_check(rule), info);
}

/**
 * smc_genl_add_filter() - SMC_NETLINK_ADD_FILTER
 * @skb: the request
 * @info: the request, parsed
 *
 * Return: 0, -ENOENT, -EEXIST, -ENOSPC, -ENOMEM, or an error of the attributes.
 */
int smc_genl_add_filter(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attrs[RULE_MAX + 1];
	struct smc_rule rule = { };
	u32 before;
	int rc = rule_attrs(info, attrs, RULE_MAX, rule_policy);

	rc = rc ?: take_rule(&rule, attrs, info);
	if (rc)
		return rc;
	before = attrs[SMC_NLA_FILTER_BEFORE] ? nla_get_u32(attrs[SMC_NLA_FILTER_BEFORE]) : 0;
	rc = smc_filter_add(smc_net(genl_info_net(info)), &rule, before);
	if (rc == -ENOENT)
		GENL_SET_ERR_MSG(info, "there is no rule with this ID to insert the new one before");
	else if (rc == -EEXIST)
		GENL_SET_ERR_MSG(info, "this rule exists already");
	else if (rc == -ENOSPC)
		GENL_SET_ERR_MSG(info, "there can be at most 2048 rules: remove one first");
	else if (rc == -ENOMEM)
		GENL_SET_ERR_MSG(info, NO_MEMORY);
	BUILD_BUG_ON(SMC_RULES_MAX != 2048);
	return rc;
}

/**
 * smc_genl_del_filter() - SMC_NETLINK_DEL_FILTER; existing connections are not affected
 * @skb: the request
 * @info: the request, parsed
 *
 * Return: 0, -ENOENT, -EINVAL, -ENOMEM, or an error of the attributes.
 */
int smc_genl_del_filter(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attrs[ID_MAX + 1];
	int rc = rule_attrs(info, attrs, ID_MAX, id_policy);

	if (rc)
		return rc;
	if (!attrs[SMC_NLA_FILTER_ID]) {
		GENL_SET_ERR_MSG(info, "the ID of the rule is missing (SMC_NLA_FILTER_ID)");
		return -EINVAL;
	}
	rc = smc_filter_del(smc_net(genl_info_net(info)), nla_get_u32(attrs[SMC_NLA_FILTER_ID]));
	if (rc == -ENOENT)
		GENL_SET_ERR_MSG(info, "there is no rule with this ID");
	else if (rc == -ENOMEM)
		GENL_SET_ERR_MSG(info, NO_MEMORY);
	return rc;
}

int smc_genl_flush_filter(struct sk_buff *skb, struct genl_info *info)
{
	smc_filter_flush(smc_net(genl_info_net(info)));
	return 0;
}
