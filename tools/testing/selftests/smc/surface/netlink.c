// SPDX-License-Identifier: GPL-2.0
/* The generic netlink families of SMC: commands, and the attributes allowed in requests. */
#include <errno.h>
#include <linux/smc.h>
#include <sys/socket.h>

#include "surface.h"

#define POLICY(list)	((const struct surface_policy){ list, sizeof(list) / sizeof((list)[0]) })
#define NUMBER(kind, n, least, most, good, error, ...)					\
	{ .number = n, .name = #n, .type = kind, .min = least, .max = most, .value = good,	\
	  .beyond = error, ## __VA_ARGS__ }
#define TEXT(n, most, text, too_long, is_empty, ...)					\
	{ .number = n, .name = #n, .type = ATTR_TEXT, .min = 1, .max = most, .good = text,	\
	  .beyond = too_long, .empty = is_empty, ## __VA_ARGS__ }
#define ADDRESS(n)	{ .number = n, .name = #n, .type = ATTR_ADDRESS, .value = 0x0a090807 }

#define NO_LETTERS	" \t\n\x1b\x7f\x80\xff/_:;'\"\\"

/* ---- SMC_GEN_NETLINK ---- */

static const struct surface_attr eid[] = {
	TEXT(SMC_NLA_EID_TABLE_ENTRY, SMC_MAX_EID_LEN, "INPUT.EID-1", ERANGE, EINVAL, .never = NO_LETTERS),
};

/* The values of this rule make the ports and prefixes of any request consistent. */
static const struct surface_attr rule[] = {
	NUMBER(ATTR_U8, SMC_NLA_FILTER_ACTION, SMC_FILTER_PERMIT, SMC_FILTER_EXCLUDE,
	       SMC_FILTER_EXCLUDE, ERANGE),
	NUMBER(ATTR_U8, SMC_NLA_FILTER_DIRECTION, SMC_FILTER_IN, SMC_FILTER_BOTH, SMC_FILTER_OUT,
	       EINVAL),
	NUMBER(ATTR_U8, SMC_NLA_FILTER_FAMILY, AF_INET, AF_INET, AF_INET, EINVAL),
	ADDRESS(SMC_NLA_FILTER_LOCAL_ADDR),
	NUMBER(ATTR_U8, SMC_NLA_FILTER_LOCAL_PREFIX, 32, 32, 32, EINVAL,
	       .needs = SMC_NLA_FILTER_LOCAL_ADDR),
	NUMBER(ATTR_U16, SMC_NLA_FILTER_LOCAL_PORT, 0, 0xffff, 1, 0),
	NUMBER(ATTR_U16, SMC_NLA_FILTER_LOCAL_PORT_LAST, 1, 0xffff, 2, EINVAL,
	       .needs = SMC_NLA_FILTER_LOCAL_PORT),
	ADDRESS(SMC_NLA_FILTER_REMOTE_ADDR),
	NUMBER(ATTR_U8, SMC_NLA_FILTER_REMOTE_PREFIX, 32, 32, 32, EINVAL,
	       .needs = SMC_NLA_FILTER_REMOTE_ADDR),
	NUMBER(ATTR_U16, SMC_NLA_FILTER_REMOTE_PORT, 0, 0xffff, 1, 0),
	NUMBER(ATTR_U16, SMC_NLA_FILTER_REMOTE_PORT_LAST, 1, 0xffff, 2, EINVAL,
	       .needs = SMC_NLA_FILTER_REMOTE_PORT),
	NUMBER(ATTR_U32, SMC_NLA_FILTER_BEFORE, 0, 0, 0, ENOENT),
};

static const struct surface_attr id[] = {
	NUMBER(ATTR_U32, SMC_NLA_FILTER_ID, 0, 0xffffffff, 1, 0),
};

static const struct surface_policy eid_policy = POLICY(eid), rule_policy = POLICY(rule);
static const struct surface_policy id_policy = POLICY(id), no_policy;

#define FILTER(policy)	{ .number = SMC_GEN_FILTER, .name = "SMC_GEN_FILTER",			\
			  .type = ATTR_NEST, .nest = policy }

static const struct surface_attr add_filter[] = { FILTER(&rule_policy) };
static const struct surface_attr del_filter[] = { FILTER(&id_policy) };
static const struct surface_policy add_policy = POLICY(add_filter);
static const struct surface_policy del_policy = POLICY(del_filter);

#define CMD(n)			.number = SMC_NETLINK_##n, .name = #n
#define DUMP(n, attrs, ...)	{ CMD(n), .how = CMD_DUMP, .policy = attrs, ## __VA_ARGS__ }
#define DO(n, rights, attrs, ...) { CMD(n), .how = CMD_DO, .right = rights, .policy = attrs,	\
				    ## __VA_ARGS__ }

static const struct surface_command smc_commands[] = {
	DUMP(GET_SYS_INFO, &eid_policy),
	DUMP(GET_LGR_SMCR, &eid_policy),
	DUMP(GET_LINK_SMCR, &eid_policy),
	DUMP(GET_LGR_SMCD, &eid_policy),
	DUMP(GET_DEV_SMCD, &eid_policy),
	DUMP(GET_DEV_SMCR, &eid_policy),
	DUMP(GET_STATS, &eid_policy),
	DUMP(GET_FBACK_STATS, &eid_policy),
	DUMP(DUMP_UEID, &eid_policy),
	DO(ADD_UEID, RIGHT_HOST, &eid_policy, .mandatory = { SMC_NLA_EID_TABLE_ENTRY }),
	DO(REMOVE_UEID, RIGHT_HOST, &eid_policy, .mandatory = { SMC_NLA_EID_TABLE_ENTRY }),
	DO(FLUSH_UEID, RIGHT_HOST, &eid_policy),
	DUMP(DUMP_SEID, &eid_policy),
	DO(ENABLE_SEID, RIGHT_HOST, &eid_policy),
	DO(DISABLE_SEID, RIGHT_HOST, &eid_policy),
	DUMP(DUMP_HS_LIMITATION, &eid_policy),
	DO(ENABLE_HS_LIMITATION, RIGHT_NETNS, &eid_policy),
	DO(DISABLE_HS_LIMITATION, RIGHT_NETNS, &eid_policy),
	DUMP(GET_FILTER, &no_policy, .strict = true),
	DO(ADD_FILTER, RIGHT_NETNS, &add_policy, .mandatory = { SMC_GEN_FILTER },
	   .in_nest = { SMC_NLA_FILTER_ACTION }, .strict = true),
	DO(DEL_FILTER, RIGHT_NETNS, &del_policy, .mandatory = { SMC_GEN_FILTER },
	   .in_nest = { SMC_NLA_FILTER_ID }, .strict = true),
	DO(FLUSH_FILTER, RIGHT_NETNS, &no_policy, .strict = true),
	DUMP(GET_AUTOCACHE, &no_policy, .strict = true),
	DO(FLUSH_AUTOCACHE, RIGHT_NETNS, &no_policy, .strict = true),
	DUMP(GET_AUTOSMC, &no_policy, .strict = true),
	DO(FLUSH_AUTOSMC, RIGHT_NETNS, &no_policy, .strict = true),
};

/* ---- SMC_PNETID ---- */

static const struct surface_attr pnet[] = {
	TEXT(SMC_PNETID_NAME, 16, "INPUTNET", EINVAL, EINVAL, .never = NO_LETTERS),
	TEXT(SMC_PNETID_ETHNAME, 15, "input0", EINVAL, EINVAL, .never = " \t\n/:"),
	TEXT(SMC_PNETID_IBNAME, 63, "input_0", EINVAL, EINVAL, .of_host = true),
	NUMBER(ATTR_U8, SMC_PNETID_IBPORT, 1, 2, 1, ERANGE, .needs = SMC_PNETID_IBNAME, .of_host = true),
};

static const struct surface_policy pnet_policy = POLICY(pnet);

#define PNET(n, kind, rights, ...)							\
	{ .number = SMC_PNETID_##n, .name = "PNETID_" #n, .how = kind, .right = rights,	\
	  .policy = &pnet_policy, ## __VA_ARGS__ }

static const struct surface_command pnet_commands[] = {
	PNET(GET, CMD_DO | CMD_DUMP, RIGHT_NONE, .mandatory = { SMC_PNETID_NAME }),
	PNET(ADD, CMD_DO, RIGHT_DEVICES, .mandatory = { SMC_PNETID_NAME, SMC_PNETID_ETHNAME }),
	PNET(DEL, CMD_DO, RIGHT_NETNS, .mandatory = { SMC_PNETID_NAME }),
	PNET(FLUSH, CMD_DO, RIGHT_NETNS),
};

/* ---- both ---- */

#define COUNT(list)	(sizeof(list) / sizeof((list)[0]))

const struct surface_family surface_families[] = {
	{ SMC_GENL_FAMILY_NAME, SMC_NLA_EID_TABLE_MAX, smc_commands, COUNT(smc_commands) },
	{ SMCR_GENL_FAMILY_NAME, SMC_PNETID_MAX, pnet_commands, COUNT(pnet_commands) },
};

const size_t surface_n_families = COUNT(surface_families);
