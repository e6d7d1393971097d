/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The engine's view of the parts of the module that are not simulated: namespaces, connections,
 * statistics, tracepoints. It is included before everything else and replaces their headers.
 */
#ifndef LLCSIM_MODULE_H
#define LLCSIM_MODULE_H

#define SMC_NETNS_H
#define SMC_H
#define SMC_STATS_H
#define SMC_TRACE_H
#define SMC_CONN_H
#define SMC_FABRIC_H
#define SMC_FABRIC_MSG_H
#define SMC_LOCK_CLASS_H
#define SMC_FABRIC_LOWER_DEVS_H

#include "kernel.h"
#include <linux/smc_reason.h>

/* ---- netns.h ---- */

struct smc_stats {
	unsigned long links_up, links_down;
};

struct smc_lgrs;
struct smc_mem_limit;

struct smc_net {
	struct net		*net;
	struct smc_stats	*stats;
	struct smc_lgrs		*lgrs;
	struct smc_mem_limit	*mem_limit;
	int			smcr_max_links;
	int			smcr_testlink_time;
	int			smcr_max_send_wr;
	int			smcr_max_recv_wr;
};

static inline struct smc_net *smc_net(const struct net *net)
{
	return net->sn;
}

/* ---- smc.h, lock_class.h ---- */

static inline unsigned int smc_next_seq(unsigned int seq)
{
	return seq + 1 ?: 1;
}

#define smc_spin_lock_init(l, class)	((l)->held = false)
#define smc_mutex_init(l, class)	((l)->held = false)

/* ---- conn.h, msg.h ---- */

struct smc_conn {
	refcount_t	ref;
};

struct smc_msg_conn {
	struct smc_conn	conn;
};

void smc_conn_get(struct smc_conn *c);
void smc_conn_put(struct smc_conn *c);
void smc_conn_notify(struct smc_conn *c);

/* ---- pnet.h ---- */

#define SMC_PNETID_LEN	16
#define SMC_NO_VLAN	0xffff

/* ---- trace.h ---- */

void trace_smc_llc_sent(const void *link, const u8 *buf, int len, int rc);
#define trace_smc_llc_received(link, buf, len, rc) ((void)(rc))
#define trace_smcr_link_down(...) do { } while (0)

#endif
