/* SPDX-License-Identifier: GPL-2.0 */
/* What each network namespace has of its own. */
#ifndef SMC_NETNS_H
#define SMC_NETNS_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include "admin/pnet.h"
#include "steer/steer.h"
#include "wire/clc.h"

struct smc_budget;
struct smc_pools;
struct smc_stats;
struct ctl_table_header;

#define SMC_MAX_EIDS	SMC_CLC_MAX_EIDS

/**
 * struct smc_lgrs - link groups of a namespace
 * @lock:	protects the list, and state and number of connections of each group;
 *		any context
 * @list:	those that have not begun to end
 * @closed:	the namespace goes
 * @seq:	counts changes of the list, never 0
 */
struct smc_lgrs {
	spinlock_t		lock;
	struct list_head	list;
	bool			closed;
	unsigned int		seq;
};

/**
 * struct smc_net - SMC in one network namespace
 * @net:	the namespace
 * @has_peer_id: @peer_id is set, and stays
 * @peer_id:	identity of this TCP/IP stack (RFC 7609, A.2.1)
 * @stats:	counters, see stats.h
 * @budget:	memory of all buffers, capped by @mem_max
 * @pools:	elements of fabrics inside this kernel
 * @n_smcd:	SMC-D connections: the first is a first contact
 * @n_handshakes: CLC handshakes in progress
 * @limit_hs:	net.smc.limit_smc_hs: beyond smc_hs_threshold() of them, TCP
 * @lgrs:	SMC-R link groups
 * @n_lgrs:	their number, with those that are ending
 * @smcr_max_conns: net.smc.smcr_max_conns_per_lgr
 * @smcr_max_links: net.smc.smcr_max_links_per_lgr
 * @smcr_max_lgrs: net.smc.smcr_max_lgrs: link groups, with those that are ending
 * @smcr_max_lgrs_per_peer: net.smc.smcr_max_lgrs_per_peer: those with one address
 * @smcr_max_send_wr: net.smc.smcr_max_send_wr: posts that a link can have under way
 * @smcr_max_recv_wr: net.smc.smcr_max_recv_wr: receive buffers of a link
 * @smcr_testlink_time: net.smc.smcr_testlink_time: seconds without a word from the
 *		peer until a link is tested; 0 for never
 * @lgr_idle_time: net.smc.lgr_idle_time: seconds that a link group without
 *		connections is kept
 * @autocorking_size: net.smc.autocorking_size: bytes that MSG_MORE may hold back
 * @smcr_buf_type: net.smc.smcr_buf_type: enum smc_mem of link groups
 * @wmem:	net.smc.wmem: send buffer in bytes where the socket sets none
 * @rmem:	net.smc.rmem: receive element in bytes where the socket sets none
 * @enable:	net.smc.enable
 * @steer:	which connections may use SMC
 * @pnet:	which netdevs and ports are on one network
 * @mem_max:	net.smc.mem_max: cap on the memory of all buffers in bytes
 */
struct smc_net {
	struct net		*net;
	bool			has_peer_id;
	u8			peer_id[8];
	struct smc_stats __percpu *stats;
	struct smc_budget	*budget;
	struct smc_pools	*pools;
	atomic_t		n_smcd;
	struct smc_lgrs		lgrs;
	atomic_t		n_lgrs;
	int			smcr_max_conns;
	int			smcr_max_links;
	int			smcr_max_lgrs;
	int			smcr_max_lgrs_per_peer;
	int			smcr_max_send_wr;
	int			smcr_max_recv_wr;
	int			smcr_testlink_time;
	int			lgr_idle_time;
	atomic_t		n_handshakes;
	int			limit_hs;
	int			autocorking_size;
	int			smcr_buf_type;
	int			wmem;
	int			rmem;
	int			enable;
	struct smc_steer	steer;
	struct smc_pnet_table	pnet;
	unsigned long		mem_max;
	struct ctl_table_header	*sysctl;
	struct ctl_table	*sysctl_table;
};

extern unsigned int smc_net_id;

static inline struct smc_net *smc_net(const struct net *net)
{
	return net_generic(net, smc_net_id);
}

/* So many handshakes in progress are congestion: the workers cannot keep up. */
static inline unsigned int smc_hs_threshold(void)
{
	return num_online_cpus() * 16;
}

/**
 * smc_hs_congested() - shall new connections become TCP for now?
 * @sn: the namespace
 * @limited: the socket wants the limit, whatever the namespace says
 */
static inline bool smc_hs_congested(const struct smc_net *sn, bool limited)
{
	return (limited || READ_ONCE(sn->limit_hs)) &&
	       atomic_read(&sn->n_handshakes) > smc_hs_threshold();
}

int smc_netns_init(void);
void smc_netns_exit(void);

/* admin/sysctl.c */
int smc_sysctl_init(struct smc_net *sn);
void smc_sysctl_exit(struct smc_net *sn);

#endif
