/* SPDX-License-Identifier: GPL-2.0 */
/* A connection over SMC-R from its handshake to its end. */
#ifndef SMC_RDMA_CONN_H
#define SMC_RDMA_CONN_H

#include "lgr.h"

/**
 * struct rdma_found - smc_negotiated.priv: where to, and from which device
 * @path:	our end
 * @peer_id:	identity of the peer
 * @peer_mac:	MAC address of its RNIC
 * @peer_gid:	GID of it
 * @peer_qpn:	client: its queue pair
 * @tcp_peer:	the other end of the TCP connection
 */
struct rdma_found {
	struct smc_rdma_path	path;
	u8			peer_id[8];
	u8			peer_mac[ETH_ALEN];
	union ib_gid		peer_gid;
	u32			peer_qpn;
	struct smc_tcp_peer	tcp_peer;
};

struct smc_conn *smc_rdma_conn_new(struct smc_fabric *f, struct sock *sk,
				   struct smc_negotiated *neg,
				   const struct smc_wanted *want);
int smc_rdma_prepare(struct smc_conn *c, struct smc_negotiated *neg,
		     const struct smc_clc_accept *a);
enum smc_reason smc_rdma_attach(struct smc_conn *c, struct smc_negotiated *neg,
				const struct smc_clc_accept *a);
int smc_rdma_finish(struct smc_conn *c, bool *late);
void smc_rdma_desync(struct smc_conn *c);
void smc_rdma_detach(struct smc_conn *c);
void smc_rdma_conn_free(struct smc_conn *c);

#endif
