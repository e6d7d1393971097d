/* SPDX-License-Identifier: GPL-2.0 */
/* A connection over SMC-R from its handshake to its end. */
#ifndef SMC_RDMA_CONN_H
#define SMC_RDMA_CONN_H

#include "../../../wire/cdc.h"
#include "../lgr/lgr.h"

/* smc_link_sender.force_update, beside SMC_MSG_FORCE_UPDATE and SMC_MSG_REQUEST_UPDATE */
#define RDMA_VALIDATE		0x04	/* new link: tell the peer what it must have (4.6.1) */
#define RDMA_REPLAY		0x08	/* then write the data again that it may lack (4.6.2) */

/**
 * struct rdma_on_link - values for posts that depend on the link
 * @lkey:	local key of our send ring
 * @dma:	address of our send ring, for the device
 * @rkey:	RKey of the peer's RMB
 * @addr:	address of the peer's element in that RMB
 *
 * smc_cdc_fill() reads these with every message, so they are kept here rather than looked up.  They
 * are what smc_lgr_conn.rtoken and rdma_conn.tx_ring mean on the link of smc_lgr_conn.sender, and
 * are set again whenever that link changes: under the rules of that field, and before the first
 * post over the new link.
 */
struct rdma_on_link {
	u32	lkey;
	u32	rkey;
	u64	dma;
	u64	addr;
};

/**
 * struct rdma_told - our end of the link and our element, for Accept or Confirm
 * @gid:	our GID
 * @mac:	our MAC address
 * @mtu:	MTU of our path
 * @psn:	initial packet sequence number of our queue pair
 * @qpn:	number of our queue pair
 * @direct:	the peer is in our subnet
 * @rkey:	RKey of our RMB on this link
 * @rmb_addr:	address of our RMB on this link
 *
 * A copy, because the connection may move to another link before the message is sent.
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
 * struct rdma_held - messages that came over another link before the one in use was drained
 * @link:	the link that the newest message came over; NULL if there is none, or it is drained
 * @left:	links by index that the peer has left for @link and that are not drained yet: what
 *		arrives over them, or writes late, comes before @msg
 * @validates:	a failover validation has arrived
 * @validated:	sequence number in the failover validation
 * @has_msg:	a message has arrived
 * @earlier:	connection flags of messages older than @msg
 * @msg:	the newest message
 */
struct rdma_held {
	struct smc_link		*link;
	unsigned long		left;
	bool			validates;
	bool			has_msg;
	u8			earlier;
	u16			validated;
	struct smc_cdc_msg	msg;
};

/**
 * struct rdma_conn - a connection over SMC-R
 * @base:	the part that its link group knows.  The say lock of its smc_msg_conn is the tx_lock
 *		of the link of @base.sender
 * @server:	this end has sent the Accept
 * @first:	the first contact of this connection has made the link group
 * @severed:	smc_cdc_cut_off() has been called: nothing is sent any more, over whatever link;
 *		under the say lock
 * @end_waits:	our CLOSED or ABORT waits until all posts are acknowledged; changed under the say
 *		lock
 * @stamps_wait: time stamps may wait until posts are acknowledged; set under the say lock
 * @tx_ring:	our send ring
 * @on_link:	keys and addresses for posts over the link of @base.sender
 * @arrived:	the count that was known to have arrived when all posts were acknowledged; under the
 *		say lock
 * @peer_token:	the peer's alert token
 * @rcvbuf:	requested size of the element
 * @sndbuf:	requested size of the send ring
 * @seqno:	sequence number of the last CDC message posted; under the say lock
 * @asked:	@seqno after the last request for an update; under the say lock
 * @peer_seqno:	sequence number of the peer's last CDC message; only messages of the peer change it
 * @held:	messages over a link from which the connection does not take messages yet; under
 *		smc_lgr.lock
 * @told:	our end, for our Accept or Confirm
 * @rcu:	frees the connection when no lookup by token can find it any more
 */
struct rdma_conn {
	struct smc_lgr_conn	base;
	bool			server;
	bool			first;
	bool			severed;
	bool			end_waits;
	bool			stamps_wait;
	struct smc_rmbe		*tx_ring;
	struct rdma_on_link	on_link;
	aligned_u64		arrived;
	u32			peer_token;
	u32			rcvbuf;
	u32			sndbuf;
	u16			seqno;
	u16			asked;
	u16			peer_seqno;
	struct rdma_held	held;
	struct rdma_told	told;
	struct rcu_head		rcu;
};

static inline struct rdma_conn *to_rdma(struct smc_conn *c)
{
	return container_of(c, struct rdma_conn, base.msg.conn);
}

/* Has the peer's device acknowledged everything that was posted?  Without a lock. */
static inline bool rdma_conn_acked(const struct rdma_conn *rconn)
{
	return READ_ONCE(rconn->base.sender.acked) == READ_ONCE(rconn->seqno);
}

/* Has the peer's device acknowledged everything that we will ever send?  Without a lock. */
static inline bool rdma_conn_all_acked(const struct rdma_conn *rconn)
{
	return smc_msg_end_said(&rconn->base.msg) && rdma_conn_acked(rconn);
}

static inline struct rdma_conn *to_rdma_conn(struct smc_lgr_conn *lconn)
{
	return container_of(lconn, struct rdma_conn, base);
}

/**
 * struct rdma_negotiated - smc_negotiated.priv: the peer, and our device
 * @path:	our end; the handshake holds no reference to its device
 * @network:	network of @path
 * @peer_id:	identity of the peer
 * @peer_mac:	MAC address of the peer's RNIC
 * @peer_gid:	GID of the peer's RNIC
 * @peer_qpn:	client: number of the peer's queue pair
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
u64 smc_cdc_data_arrived(struct smc_conn *c);
void smc_cdc_request_update(struct smc_conn *c);
void smc_cdc_cut_off(struct smc_lgr_conn *lconn);
void smc_cdc_get(struct smc_link_sender *sender);
void smc_cdc_put(struct smc_link_sender *sender);
bool smc_cdc_fill(struct smc_link_sender *sender, struct smc_link_post *post);
bool smc_cdc_link_drained(struct rdma_conn *rconn, const struct smc_link *link);
void smc_cdc_rx(struct smc_link *link, const u8 *buf, size_t len);

#endif
