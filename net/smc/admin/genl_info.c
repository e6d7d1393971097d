// SPDX-License-Identifier: GPL-2.0
/* Netlink: the capabilities of this host, and the limit on handshakes. */
#include <linux/utsname.h>
#include <linux/smc_diag.h>
#include "../config/eid.h"
#include "../fabric/fabric.h"
#include "../handshake/handshake.h"
#include "../mem/limit.h"
#include "../netns.h"
#include "../tcpopt/tcpopt.h"
#include "genl.h"

static int put_memory(struct sk_buff *skb, const struct smc_net *sn)
{
	return nla_put_u64_64bit(skb, SMC_NLA_SYS_MEM_USED, smc_mem_limit_used(sn->mem_limit),
				 SMC_NLA_SYS_PAD) ||
	       nla_put_u64_64bit(skb, SMC_NLA_SYS_MEM_LIMIT, READ_ONCE(sn->mem_max),
				 SMC_NLA_SYS_PAD) ||
	       nla_put_u64_64bit(skb, SMC_NLA_SYS_HOST_MEM_USED, smc_host_mem_used(),
				 SMC_NLA_SYS_PAD) ||
	       nla_put_u64_64bit(skb, SMC_NLA_SYS_HOST_MEM_LIMIT,
				 READ_ONCE(smc_host_mem_max), SMC_NLA_SYS_PAD);
}

static int put_tcp_option(struct sk_buff *skb, const struct net *net)
{
	return nla_put_u8(skb, SMC_NLA_SYS_TCP_OPTION, smc_tcpopt->number) ||
	       nla_put_u8(skb, SMC_NLA_SYS_TCP_OPTION_IN_PLACE, smc_tcpopt->in_place(net));
}

static int put_sys_info(struct sk_buff *skb, const struct net *net)
{
	const char *host = init_utsname()->nodename;
	bool ismv2 = smc_fabric_exists(SMC_DIAG_MODE_SMCD);
	bool smcr = smc_fabric_exists(SMC_DIAG_MODE_SMCR);
	struct smc_eids eids;

	smc_eids_copy(&eids);
	if (nla_put_u8(skb, SMC_NLA_SYS_VER, SMC_CLC_V2) ||
	    nla_put_u8(skb, SMC_NLA_SYS_REL, SMC_CLC_RELEASE) ||
	    nla_put_u8(skb, SMC_NLA_SYS_IS_ISM_V2, ismv2) ||
	    nla_put_u8(skb, SMC_NLA_SYS_IS_SMCR_V2, smcr) ||
	    smc_genl_put_padded(skb, SMC_NLA_SYS_LOCAL_HOST, host,
				strnlen(host, __NEW_UTS_LEN)) ||
	    put_memory(skb, smc_net(net)) ||
	    nla_put_string(skb, SMC_NLA_SYS_MODULE_VERSION, SMC_VERSION) ||
	    put_tcp_option(skb, net))
		return -EMSGSIZE;
	return smc_genl_put_padded(skb, SMC_NLA_SYS_SEID, eids.seid, SMC_EID_LEN);
}

static int fill_sys_info(struct sk_buff *skb, const struct net *net)
{
	struct nlattr *nest = nla_nest_start(skb, SMC_GEN_SYS_INFO);

	if (!nest || put_sys_info(skb, net))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * smc_genl_get_sys_info() - SMC_NETLINK_GET_SYS_INFO
 * @skb: buffer for the message
 * @cb: the dump
 *
 * Return: the value for .dumpit.
 */
int smc_genl_get_sys_info(struct sk_buff *skb, struct netlink_callback *cb)
{
	return smc_genl_dump_one(skb, cb, SMC_NETLINK_GET_SYS_INFO, fill_sys_info);
}

static int fill_hs_limitation(struct sk_buff *skb, const struct net *net)
{
	const struct smc_net *sn = smc_net(net);

	return nla_put_u8(skb, SMC_NLA_HS_LIMITATION_ENABLED, READ_ONCE(sn->limit_hs)) ||
	       nla_put_u32(skb, SMC_NLA_HS_LIMITATION_PENDING,
			   atomic_read(&sn->n_handshakes)) ||
	       nla_put_u32(skb, SMC_NLA_HS_LIMITATION_THRESHOLD,
			   smc_hs_threshold());
}

/**
 * smc_genl_dump_hs_limitation() - SMC_NETLINK_DUMP_HS_LIMITATION
 * @skb: buffer for the message
 * @cb: the dump
 *
 * Return: the value for .dumpit.
 */
int smc_genl_dump_hs_limitation(struct sk_buff *skb, struct netlink_callback *cb)
{
	return smc_genl_dump_one(skb, cb, SMC_NETLINK_DUMP_HS_LIMITATION,
				 fill_hs_limitation);
}

int smc_genl_enable_hs_limitation(struct sk_buff *skb, struct genl_info *info)
{
	WRITE_ONCE(smc_net(genl_info_net(info))->limit_hs, 1);
	return 0;
}

int smc_genl_disable_hs_limitation(struct sk_buff *skb, struct genl_info *info)
{
	WRITE_ONCE(smc_net(genl_info_net(info))->limit_hs, 0);
	return 0;
}
