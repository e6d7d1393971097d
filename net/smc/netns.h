/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of a network namespace: its identity, its settings, and a pointer for each
 * subsystem that has state there.
 *
 * This header includes no other header of the module, so every file may include it. Each subsystem
 * sets up and tears down its state in its own pernet_operations; main.c lists them in order.
 */
#ifndef SMC_NETNS_H
#define SMC_NETNS_H

#include <linux/atomic.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

struct ctl_table;
struct ctl_table_header;
struct smc_events;
struct smc_lgrs;
struct smc_mem_limit;
struct smc_pnet_table;
struct smc_pools;
struct smc_registry;
struct smc_stats;
struct smc_steer;
struct smc_tcpopt_net;

/**
 * struct smc_net - SMC in one network namespace
 * @net:	the namespace
 * @has_peer_id: @peer_id has been generated and does not change any more
 * @peer_id:	identity of this TCP/IP stack (RFC 7609, A.2.1)
 * @stats:	counters, see stats.h
 * @events:	events that have not been published yet
 * @registry:	SMC sockets, one list per CPU
 * @mem_limit:	accounts the memory of all buffers, capped by @mem_max
 * @pools:	elements of the loopback fabric
 * @lgrs:	SMC-R link groups
 * @pnet:	which netdevs and device ports belong to one network
 * @steer:	which connections may use SMC
 * @tcpopt:	the hook for the TCP option, if one is in use
 * @steer_on:	enum smc_steer_bit: which parts of @steer are in use
 * @n_smcd:	number of SMC-D connections: the first one is a first contact
 * @n_handshakes: CLC handshakes in progress
 * @n_orphans:	sockets without a file; under orphans_lock
 * @enable:	net.smc.enable
 * @loopback_pairing: net.smc.loopback_pairing
 * @wmem:	net.smc.wmem: send buffer in bytes, unless the socket sets one
 * @rmem:	net.smc.rmem: receive element in bytes, unless the socket sets one
 * @rmem_max:	net.smc.rmem_max: largest element over loopback in bytes
 * @mem_max:	net.smc.mem_max: limit on the memory of all buffers in bytes
 * @autocorking_size: net.smc.autocorking_size: bytes that MSG_MORE may hold back
 * @limit_hs:	net.smc.limit_smc_hs: fall back to TCP above smc_hs_threshold() handshakes
 * @autosmc:	net.smc.autosmc, enum smc_autosmc_mode
 * @autosmc_retry: net.smc.autosmc_retry_time: in seconds
 * @autocache_time: net.smc.autocache_time: how long a destination is remembered, in seconds; 0
 *		disables the cache
 * @smcr_buf_type: net.smc.smcr_buf_type: enum smc_mem for the buffers of link groups
 * @smcr_max_conns: net.smc.smcr_max_conns_per_lgr
 * @smcr_max_links: net.smc.smcr_max_links_per_lgr
 * @smcr_max_lgrs: net.smc.smcr_max_lgrs: maximum number of link groups, including those that are
 *		ending
 * @smcr_max_lgrs_per_peer: net.smc.smcr_max_lgrs_per_peer: the same per peer address
 * @smcr_max_send_wr: net.smc.smcr_max_send_wr: length of a link's send queue
 * @smcr_max_recv_wr: net.smc.smcr_max_recv_wr: number of a link's receive buffers
 * @smcr_testlink_time: net.smc.smcr_testlink_time: a link is tested after the peer has been silent
 *		for this many seconds; 0 for never
 * @lgr_idle_time: net.smc.lgr_idle_time: how long a link group without connections is kept, in
 *		seconds
 * @sysctl:	the sysctls of this namespace
 * @sysctl_table: their table, whose entries point to the settings above
 */
struct smc_net {
	struct net		*net;
	bool			has_peer_id;
	u8			peer_id[8];

	struct smc_stats __percpu *stats;
	struct smc_events	*events;
	struct smc_registry __percpu *registry;
	struct smc_mem_limit	*mem_limit;
	struct smc_pools	*pools;
	struct smc_lgrs		*lgrs;
	struct smc_pnet_table	*pnet;
	struct smc_steer	*steer;
	struct smc_tcpopt_net	*tcpopt;
	unsigned long		steer_on;

	atomic_t		n_smcd;
	atomic_t		n_handshakes;
	unsigned int		n_orphans;

	int			enable;
	int			loopback_pairing;
	int			wmem;
	int			rmem;
	int			rmem_max;
	unsigned long		mem_max;
	int			autocorking_size;
	int			limit_hs;
	int			autosmc;
	int			autosmc_retry;
	int			autocache_time;
	int			smcr_buf_type;
	int			smcr_max_conns;
	int			smcr_max_links;
	int			smcr_max_lgrs;
	int			smcr_max_lgrs_per_peer;
	int			smcr_max_send_wr;
	int			smcr_max_recv_wr;
	int			smcr_testlink_time;
	int			lgr_idle_time;
	struct ctl_table_header	*sysctl;
	struct ctl_table	*sysctl_table;
};

extern unsigned int smc_net_id;
extern struct pernet_operations smc_net_ops;

static inline struct smc_net *smc_net(const struct net *net)
{
	return net_generic(net, smc_net_id);
}

#endif
