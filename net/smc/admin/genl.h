/* SPDX-License-Identifier: GPL-2.0 */
/* The generic netlink family SMC_GEN_NETLINK; see Documentation/netlink.md. */
#ifndef SMC_ADMIN_GENL_H
#define SMC_ADMIN_GENL_H

#include <linux/smc.h>
#include <net/genetlink.h>
#include "../policy/rules.h"

int smc_genl_init(void);
void smc_genl_exit(void);
int smc_genl_pnet_init(void);
void smc_genl_pnet_exit(void);
bool smc_genl_may_change(struct sk_buff *skb, struct genl_info *info);

/* genl_event.c */
void smc_genl_event_init(void);
void smc_genl_event_exit(void);

/* For events. */
bool smc_genl_listened(struct net *net);
void *smc_genl_put(struct sk_buff *skb, u8 cmd);
void smc_genl_multicast(struct net *net, struct sk_buff *skb);
void smc_genl_lost(struct net *net);

/* For dumps. */
void *smc_genl_begin(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);
void smc_genl_end(struct sk_buff *skb, void *hdr);
int smc_genl_put_nest(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd, int nest,
		      int (*fill)(struct sk_buff *skb, const void *info), const void *info);
int smc_genl_put_ip(struct sk_buff *skb, int attr, const struct smc_ip *ip);
int smc_genl_dump_one(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
		      int (*fill)(struct sk_buff *skb, const struct net *net));
int smc_genl_put_padded(struct sk_buff *skb, int attr, const u8 *text, size_t len);

/* genl_eid.c */
int smc_genl_check_eid(const struct nlattr *attr, struct netlink_ext_ack *extack);
int smc_genl_dump_ueid(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_add_ueid(struct sk_buff *skb, struct genl_info *info);
int smc_genl_remove_ueid(struct sk_buff *skb, struct genl_info *info);
int smc_genl_flush_ueid(struct sk_buff *skb, struct genl_info *info);
int smc_genl_dump_seid(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_enable_seid(struct sk_buff *skb, struct genl_info *info);
int smc_genl_disable_seid(struct sk_buff *skb, struct genl_info *info);

/* genl_show.c */
int smc_genl_get_lgr_smcr(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_get_link_smcr(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_get_lgr_smcd(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_get_dev_smcd(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_get_dev_smcr(struct sk_buff *skb, struct netlink_callback *cb);

/* genl_stats.c */
int smc_genl_get_stats(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_get_fback_stats(struct sk_buff *skb, struct netlink_callback *cb);

/* genl_filter.c */
extern const struct nla_policy smc_genl_add_filter_policy[SMC_GEN_FILTER + 1];
extern const struct nla_policy smc_genl_del_filter_policy[SMC_GEN_FILTER + 1];
int smc_genl_get_filter(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_add_filter(struct sk_buff *skb, struct genl_info *info);
int smc_genl_del_filter(struct sk_buff *skb, struct genl_info *info);
int smc_genl_flush_filter(struct sk_buff *skb, struct genl_info *info);

/* genl_auto.c */
int smc_genl_get_autocache(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_flush_autocache(struct sk_buff *skb, struct genl_info *info);
int smc_genl_get_autosmc(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_flush_autosmc(struct sk_buff *skb, struct genl_info *info);

/* genl_info.c */
int smc_genl_get_sys_info(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_dump_hs_limitation(struct sk_buff *skb, struct netlink_callback *cb);
int smc_genl_enable_hs_limitation(struct sk_buff *skb, struct genl_info *info);
int smc_genl_disable_hs_limitation(struct sk_buff *skb, struct genl_info *info);

#endif
