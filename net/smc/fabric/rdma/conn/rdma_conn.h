/* SPDX-License-Identifier: GPL-2.0 */
/* A connection over SMC-R from its handshake to its end. */
#ifndef SMC_RDMA_CONN_H
#define SMC_RDMA_CONN_H

#include "../../../wire/cdc.h"
#include "../lgr/lgr.h"

enum rdma_conn_bit {
	RDMA_CONN_DETACHED,	/* the socket is done with it */
	RDMA_CONN_TOLD,		/* server: the Accept names our element, the client may write */
	RDMA_CONN_PEER_ENDED,	/* the peer has said that it writes no more, or never will */
	RDMA_CONN_CUT_OFF,	/* the peer cannot reach its element any more */
	RDMA_CONN_LEFT,		/* it has left the link group */
};

/* smc_link_sender.force_update */
#define RDMA_FORCE_UPDATE	0x01	/* what has been consumed, or is urgent */
#define RDMA_REQUEST_UPDATE	0x02	/* that we ask for the peer's cursor */
#define RDMA_VALIDATE		0x04	/* another link: what must the peer have? (4.6.1) */
#define RDMA_REPLAY		0x08	/* what it may not have, once it was told that (4.6.2) */

/* rdma_conn.peer_waits */
#define RDMA_PEER_BLOCKED	0x01	/* for room */
#define RDMA_PEER_URGENT	0x02	/* for its urgent byte to be consumed */

/**
 * struct rdma_on_link - what a post needs that another link has another value for
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
 * struct rdma_held - what has come over another link before the one in use was drained
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
 * @base:	what its link group knows of it
 * @server:	this end has sent the Accept
 * @first:	its first contact has made the link group
 * @attached:	the peer's part is known
 * @tx_disabled: nothing is posted any more; under tx_lock
 * @tx_ring:	our send ring
 * @on_link:	for posts over the link of @base.sender
 * @peer_token:	the peer's alert token
 * @peer_size:	size of our element at the peer, at least conn.tx_size
 * @rcvbuf:	size of element that is wanted
 * @sndbuf:	size of send ring that is wanted
 * @sent_prod:	producer cursor as posted; under the tx_lock of that link, like the fields below
 *		that say nothing else
 * @sent_cons:	consumer cursor as posted
 * @sent_prod_at: @sent_prod as it travels
 * @sent_cons_at: @sent_cons as it travels
 * @sent_flags:	flags of the connection as posted
 * @seqno:	of the last CDC message posted
 * @peer_seqno:	of the peer's last one; only its messages change it
 * @heard_prod:	its producer cursor there; only its messages change it
 * @heard_cons:	its consumer cursor, the same
 * @urg_advertised: count behind the last urgent byte posted; nothing follows it until it
 *		has been consumed
 * @urg_coming:	an urgent byte waits for room
 * @peer_waits:	RDMA_PEER_*: updates that the peer waits for; only its messages change it
 * @peer_urg:	count behind its last urgent byte; only its messages change it
 * @cons_advertised: @sent_cons, for the receiver's eyes
 * @held:	messages over a link that the connection does not take messages of yet; under
 *		smc_lgr.lock
 * @bits:	enum rdma_conn_bit
 * @told:	for our Accept or Confirm
 * @rcu:	frees it when no lookup by token can find it any more
 */
struct rdma_conn {
	struct smc_lgr_conn	base;
	bool			server;
	bool			first;
	bool			attached;
	bool			tx_disabled;
	struct smc_rmbe		*tx_ring;
	struct rdma_on_link	on_link;
	u32			peer_token;
	u32			peer_size;
	u32			rcvbuf;
	u32			sndbuf;

	u64			sent_prod;
	u64			sent_cons;
	struct smc_wire_cursor	sent_prod_at;
	struct smc_wire_cursor	sent_cons_at;
	u8			sent_flags;
	u16			seqno;
	u16			peer_seqno;
	struct smc_wire_cursor	heard_prod;
	struct smc_wire_cursor	heard_cons;
	u64			urg_advertised;
	bool			urg_coming;
	u8			peer_waits;
	u64			peer_urg;
	u64			cons_advertised;
	unsigned long		bits;
	struct rdma_held	held;
	struct rdma_told	told;
	struct rcu_head		rcu;
};

static inline struct rdma_conn *to_rdma(struct smc_conn *c)
{
	return container_of(c, struct rdma_conn, base.conn);
}

/* Has the peer's device everything that the connection will ever say?  Without a lock. */
static inline bool rdma_conn_all_acked(const struct rdma_conn *rconn)
{
	return READ_ONCE(rconn->sent_flags) & (SMC_CDC_CLOSED | SMC_CDC_ABORT) &&
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
void smc_cdc_commit(struct smc_conn *c);
void smc_cdc_consumed(struct smc_conn *c);
void smc_cdc_request_update(struct smc_conn *c);
void smc_cdc_urgent(struct smc_conn *c, enum smc_urgent_event news);
void smc_cdc_signal(struct smc_conn *c, enum smc_conn_flag flag);
void smc_cdc_detach(struct smc_conn *c);
void smc_cdc_cut_off(struct smc_lgr_conn *lconn);
void smc_cdc_get(struct smc_link_sender *sender);
void smc_cdc_put(struct smc_link_sender *sender);
bool smc_cdc_fill(struct smc_link_sender *sender, struct smc_link_post *post);
void smc_cdc_leave_rx_link(struct rdma_conn *rconn);
void smc_cdc_rx(struct smc_link *link, const u8 *buf, size_t len);

#endif
