/* SPDX-License-Identifier: GPL-2.0 */
/* A connection over SMC-R from its handshake to its end. */
#ifndef SMC_RDMA_CONN_H
#define SMC_RDMA_CONN_H

#include "../../../wire/cdc.h"
#include "../lgr/lgr.h"

/* smc_link_sender.force_update, beside SMC_MSG_FORCE_UPDATE and SMC_MSG_REQUEST_UPDATE */
#define RDMA_VALIDATE		0x04	/* another link: ask how much the peer has (4.6.1) */
#define RDMA_REPLAY		0x08	/* then send the data that it may lack (4.6.2) */

/**
 * struct rdma_on_link - values of a post that depend on the link
 * @lkey:	key of our send ring, and
 * @dma:	its address, for the device
 * @rkey:	RKey of the peer's RMB
 * @addr:	address of our element in it
 *
 * smc_cdc_fill() reads it with every message, so it is kept here rather than looked up.  It is a
 * copy of what smc_lgr_conn.rtoken and rdma_conn.tx_ring mean on the link of smc_lgr_conn.sender,
 * and is made anew whenever that link is another one: under the rule of that field, and before the
 * first post over it.
 */
struct rdma_on_link {
	u32	lkey;
	u32	rkey;
	u64	dma;
	u64	addr;
};

/**
 * struct rdma_told - our end of the link, and our element, as Accept or Confirm name them
 * @gid:	our GID, and
 * @mac:	the MAC address
 * @mtu:	of the path
 * @psn:	of the queue pair
 * @qpn:	its number
 * @direct:	the peer is in our subnet
 * @rkey:	RKey of our RMB there
 * @rmb_addr:	its address
 *
 * A copy: the connection may go to another link before the message is sent.
 */
struct rdma_told {
	u8	gid[16];
	u8	mac[ETH_ALEN];
	u8	mtu;
	bool	direct;
	u32	psn;
	u32	qpn;
	u32	rkey;
	u64	rmb_addr;
};

/**
 * struct rdma_held - messages over another link, from before the one in use was drained
 * @link:	that link
 * @validates:	a failover validation has come, for
 * @validated:	this sequence number
 * @has_msg:	a message has come
 * @msg:	the newest one
 */
struct rdma_held {
	struct smc_link		*link;
	bool			validates;
	bool			has_msg;
	u16			validated;
	struct smc_cdc_msg	msg;
};

/**
 * struct rdma_conn - a connection over SMC-R
 * @base:	what its link group knows of it.  The say lock of its smc_msg_conn is the tx_lock of
 *		the link of @base.sender
 * @server:	this end has sent the Accept
 * @first:	its first contact has made the link group
 * @tx_ring:	our send ring
 * @on_link:	for posts over the link of @base.sender
 * @peer_token:	the peer's alert token
 * @rcvbuf:	size of element that is wanted
 * @sndbuf:	size of send ring that is wanted
 * @seqno:	of the last CDC message posted; under that lock
 * @peer_seqno:	of the peer's last one; only its messages change it
 * @held:	messages over a link that the connection does not take messages of yet; under
 *		smc_lgr.lock
 * @told:	for our Accept or Confirm
 * @rcu:	frees it when no lookup by token can find it any more
 */
struct rdma_conn {
	struct smc_lgr_conn	base;
	bool			server;
	bool			first;
	struct smc_rmbe		*tx_ring;
	struct rdma_on_link	on_link;
	u32			peer_token;
	u32			rcvbuf;
	u32			sndbuf;
	u16			seqno;
	u16			peer_seqno;
	struct rdma_held	held;
	struct rdma_told	told;
	struct rcu_head		rcu;
};

static inline struct rdma_conn *to_rdma(struct smc_conn *c)
{
	return container_of(c, struct rdma_conn, base.msg.conn);
}

/* Has the peer's device everything that the connection will ever say?  Without a lock. */
static inline bool rdma_conn_all_acked(const struct rdma_conn *rconn)
{
	return smc_msg_end_said(&rconn->base.msg) &&
	       READ_ONCE(rconn->base.sender.acked) == READ_ONCE(rconn->seqno);
}

static inline struct rdma_conn *to_rdma_conn(struct smc_lgr_conn *lconn)
{
	return container_of(lconn, struct rdma_conn, base);
}

/**
 * struct rdma_negotiated - smc_negotiated.priv: where to, and from which device
 * @path:	our end; the handshake holds no reference to its device
 * @network:	where that is
 * @peer_id:	identity of the peer
 * @peer_mac:	MAC address of its RNIC
 * @peer_gid:	GID of it
 * @peer_qpn:	client: its queue pair
 * @tcp_peer:	the other end of the TCP connection
 */
struct rdma_negotiated {
	struct smc_rdma_path	path;
	struct smc_rdma_network	network;
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
int smc_rdma_finish(struct smc_conn *c, bool *committed);
void smc_rdma_refused(struct smc_conn *c, bool out_of_sync);
void smc_rdma_detach(struct smc_conn *c);
void smc_rdma_conn_free(struct smc_conn *c);
int smc_rdma_on_link(struct rdma_conn *rconn, const struct smc_link *link,
		     struct rdma_on_link *on);

/* move.c */
void smc_rdma_move(struct smc_lgr_conn *lconn, struct smc_link_move *move);

/* cdc.c */
extern const struct smc_msg_ops smc_cdc_ops;
void smc_cdc_commit(struct smc_conn *c);
void smc_cdc_cut_off(struct smc_lgr_conn *lconn);
void smc_cdc_get(struct smc_link_sender *sender);
void smc_cdc_put(struct smc_link_sender *sender);
bool smc_cdc_fill(struct smc_link_sender *sender, struct smc_link_post *post);
void smc_cdc_leave_rx_link(struct rdma_conn *rconn);
void smc_cdc_rx(struct smc_link *link, const u8 *buf, size_t len);

#endif
