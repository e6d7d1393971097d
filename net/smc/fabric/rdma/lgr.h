/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link groups: what two peers share, links, RMBs and connections (RFC 7609, 2.2).
 *
 * A link group is in its namespace's list from its creation until it begins to
 * end; it is held by the list, by each of its connections and by its work.  Its end
 * is one work item, which takes the links down, tells all connections and gives
 * the devices back; the memory goes with the last connection.
 */
#ifndef SMC_RDMA_LGR_H
#define SMC_RDMA_LGR_H

#include <linux/hashtable.h>
#include <linux/refcount.h>
#include <linux/xarray.h>
#include "../../conn/conn.h"
#include "../fabric.h"
#include "link.h"
#include "llc.h"
#include "mem.h"

struct smc_net;

#define SMC_LGR_LINKS		2
#define SMC_LGR_MAX_CONNS	255
#define SMC_LGR_MIN_CONNS	16
/* RMBs that a peer may have. */
#define SMC_LGR_RTOKENS		255

/**
 * struct smc_tcp_peer - the other end of a TCP connection
 * @addr:	its address; IPv4 mapped into IPv6
 * @ifindex:	what the socket is bound to: an address means nothing elsewhere
 */
struct smc_tcp_peer {
	struct in6_addr	addr;
	int		ifindex;
};

enum smc_lgr_state {
	SMC_LGR_NEW,		/* the first contact is under way */
	SMC_LGR_ACTIVE,
	SMC_LGR_ENDING,
};

/**
 * struct smc_rtoken - an RMB of the peer
 * @rkey:	its RKey on each link
 * @addr:	its address on each link
 * @used:	is there one
 */
struct smc_rtoken {
	u32	rkey[SMC_LGR_LINKS];
	u64	addr[SMC_LGR_LINKS];
	bool	used;
};

/**
 * struct smc_lgr - a link group
 * @ref:	references
 * @list:	in smc_net.lgrs, under its lock, until it ends
 * @sn:		the namespace; it waits for the end
 * @state:	enum smc_lgr_state, under smc_net.lgrs.lock
 * @n_conns:	connections that keep the group, under the same
 * @n_abandoned: connections that only their peer keeps, under the same; with @n_conns they
 *		count against @max_conns
 * @waiters:	connections that wait for the first contact, under the same
 * @id:		number, for humans
 * @server:	our role
 * @version:	SMC version
 * @release:	of version 2
 * @peer_id:	identity of the peer
 * @tcp_peer:	the other end of the TCP connection that has made the group
 * @eid:	of version 2: the common EID
 * @vlan_id:	0xffff without one
 * @max_conns:	connections, as settled
 * @max_links:	links, as settled
 * @peer_os:	SMC_CLC_OS_*
 * @hostname:	of the peer
 * @dev_name:	of the first link's device, while connections hold the group
 * @fail:	enum smc_reason: why the first contact failed
 * @late:	too late to fall back to TCP (RFC 7609, C.2), if our CONFIRM LINK has arrived
 * @links:	the links; the first one is made with the group
 * @buf_type:	enum smc_mem of our memory
 * @rmbs:	our RMBs
 * @txbufs:	our send rings
 * @conns:	connections by alert token; the lookup takes its reference under RCU
 * @writers:	connections by the peer's element that they write to; for readers as
 *		@conns, otherwise under smc_net.lgrs.lock
 * @last_token:	the last one given
 * @lock:	protects @rtokens
 * @rtokens:	RMBs of the peer
 * @life:	held while links and memory are made and used; a registration may wait for
 *		the device under it, but not for ever, see smc_link_reg_mr()
 * @over:	links and memory are going or gone, and nobody but @end_work may look at
 *		them; set under @life
 * @big_endian:	the peer writes LLC's numbers as the paper says, see wire/llc.h
 * @keepalive:	a connection has asked for link tests at times of its own, once
 * @silent:	the peer knows that the group ends
 * @doubted:	the peer says that it has no such group, and its link is being tested; under
 *		@llc.lock
 * @llc:	the LLC engine
 * @idle_work:	ends the group when it had no connections for a while
 * @close_work:	abandons connections that their peer does not close
 * @end_work:	the end
 */
struct smc_lgr {
	refcount_t		ref;
	struct list_head	list;
	struct smc_net		*sn;
	u8			state;
	unsigned int		n_conns;
	unsigned int		n_abandoned;
	struct list_head	waiters;
	u32			id;
	bool			server;
	u8			version;
	u8			release;
	u8			peer_id[8];
	struct smc_tcp_peer	tcp_peer;
	u8			eid[SMC_EID_LEN];
	u16			vlan_id;
	u8			max_conns;
	u8			max_links;
	u8			peer_os;
	char			hostname[SMC_CLC_HOSTNAME_LEN + 1];
	char			dev_name[IB_DEVICE_NAME_MAX];
	u32			fail;
	bool			late;
	struct smc_link		links[SMC_LGR_LINKS];
	u8			buf_type;
	struct smc_pools	*rmbs;
	struct smc_pools	*txbufs;
	struct xarray		conns;
	DECLARE_HASHTABLE(writers, 5);
	u32			last_token;
	spinlock_t		lock;
	struct smc_rtoken	rtokens[SMC_LGR_RTOKENS];
	struct mutex		life;
	bool			over;
	bool			keepalive;
	bool			silent;
	bool			doubted;
	bool			big_endian;
	struct smc_llc		llc;
	struct delayed_work	idle_work;
	struct delayed_work	close_work;
	struct work_struct	end_work;
};

enum rdma_conn_bit {
	RDMA_CONN_DETACHED,	/* the socket is done with it */
	RDMA_CONN_CONFIRMED,	/* server: the Confirm has come, and data may come behind it */
	RDMA_CONN_PEER_ENDED,	/* the peer has said that it writes no more */
	RDMA_CONN_CUT_OFF,	/* the peer cannot reach its element any more */
	RDMA_CONN_LEFT,		/* it has left the link group */
};

/* rdma_conn.say: why a message is worth while though nothing else has changed */
#define RDMA_SAY_CURSOR		0x01	/* what has been consumed, or is urgent */
#define RDMA_SAY_ASK		0x02	/* that we ask for the peer's cursor */

/* rdma_conn.peer_waits */
#define RDMA_PEER_BLOCKED	0x01	/* for room */
#define RDMA_PEER_URGENT	0x02	/* for its urgent byte to be consumed */

/**
 * struct rdma_conn - a connection over SMC-R
 * @conn:	the connection
 * @sn:		the namespace of its socket, for as long as it has one
 * @lgr:	its link group, referenced; NULL before prepare
 * @link:	the link it writes over
 * @server:	this end has sent the Accept
 * @first:	its first contact has made the link group
 * @attached:	the peer's part is known
 * @mute:	nothing is posted any more; under tx_lock
 * @counted:	it counts in @lgr->n_conns or, if @abandoned, in @lgr->n_abandoned; under
 *		smc_net.lgrs.lock
 * @abandoned:	the peer had its time to close; under the same
 * @closing:	when the socket was done with it, before the peer, in jiffies, and not 0; the same
 * @keepalive:	seconds of silence until the link is tested for this connection, 0: as
 *		for all
 * @wait:	in the waiters of a group whose first contact is under way
 * @rkey_wait:	in @lgr->llc.waiters; with the next two under its lock
 * @rkey_asked:	the peer was asked to take the RMB, or is being asked
 * @refusals:	smc_rmb.refusals when it began to wait
 * @writer:	in @lgr->writers
 * @token:	our alert token
 * @tx_elem:	our send ring
 * @tx_lkey:	its key, and
 * @tx_dma:	its address, for the device
 * @peer_token:	the peer's alert token
 * @peer_rkey:	RKey of the peer's RMB
 * @peer_idx:	index of our element there
 * @peer_addr:	address of that element
 * @peer_size:	its size, at least conn.tx_size
 * @rcvbuf:	size of element that is wanted
 * @sndbuf:	size of send ring that is wanted
 * @pend:	in @link->tx_pending; with the fields below under tx_lock
 * @sent_prod:	producer cursor as posted
 * @sent_cons:	consumer cursor as posted
 * @sent_flags:	flags of the connection as posted
 * @say:	RDMA_SAY_*, to be said with the next post
 * @seqno:	of the last CDC message posted
 * @peer_seqno:	of the peer's last one; only its completion looks at it
 * @urg_told:	count behind the last urgent byte posted; nothing follows it until it
 *		has been consumed
 * @urg_coming:	an urgent byte waits for room
 * @peer_waits:	RDMA_PEER_*: what the peer wants to be told of
 * @peer_urg:	count behind its last urgent byte
 * @cons_told:	@sent_cons, for the receiver's eyes
 * @bits:	enum rdma_conn_bit
 * @qpn:	our queue pair
 * @rkey:	RKey of our RMB
 * @rmb_addr:	its address
 * @rcu:	lookups by token run under RCU
 */
struct rdma_conn {
	struct smc_conn		conn;
	struct smc_net		*sn;
	struct smc_lgr		*lgr;
	struct smc_link		*link;
	bool			server;
	bool			first;
	bool			attached;
	bool			mute;
	bool			counted;
	bool			abandoned;
	unsigned long		closing;
	unsigned int		keepalive;
	struct list_head	wait;
	struct list_head	rkey_wait;
	bool			rkey_asked;
	unsigned int		refusals;
	struct hlist_node	writer;
	u32			token;
	struct smc_elem		*tx_elem;
	u32			tx_lkey;
	u64			tx_dma;
	u32			peer_token;
	u32			peer_rkey;
	u8			peer_idx;
	u64			peer_addr;
	u32			peer_size;
	u32			rcvbuf;
	u32			sndbuf;

	struct list_head	pend;
	u64			sent_prod;
	u64			sent_cons;
	u8			sent_flags;
	u8			say;
	u16			seqno;
	u16			peer_seqno;
	u64			urg_told;
	bool			urg_coming;
	u8			peer_waits;
	u64			peer_urg;
	u64			cons_told;
	unsigned long		bits;
	u32			qpn;
	u32			rkey;
	u64			rmb_addr;
	struct rcu_head		rcu;
};

static inline struct rdma_conn *to_rdma(struct smc_conn *c)
{
	return container_of(c, struct rdma_conn, conn);
}

/* What identifies a link group to a handshake. */
struct smc_lgr_key {
	bool			server;
	u8			version;
	u8			release;
	const u8		*peer_id;
	const u8		*eid;
	const u8		*peer_mac;
	const u8		*peer_gid;
	const struct smc_tcp_peer *tcp_peer;
	u32			peer_qpn;	/* client only */
	u16			vlan_id;
	u8			max_conns;
	u8			max_links;
};

int smc_lgr_join(struct rdma_conn *rc, struct smc_net *sn,
		 const struct smc_lgr_key *key);
int smc_lgr_create(struct rdma_conn *rc, struct smc_net *sn,
		   const struct smc_lgr_key *key, const struct smc_rdma_path *path);
void smc_lgr_leave(struct rdma_conn *rc);
void smc_lgr_await_close(struct rdma_conn *rc);
void smc_lgr_get(struct smc_lgr *lgr);
void smc_lgr_put(struct smc_lgr *lgr);
void smc_lgr_activate(struct smc_lgr *lgr);
void smc_lgr_end(struct smc_lgr *lgr, enum smc_reason reason);
bool smc_lgr_await(struct rdma_conn *rc);
void smc_lgr_unwait(struct rdma_conn *rc);
struct rdma_conn *smc_lgr_find_conn(struct smc_lgr *lgr, u32 token);
void smc_lgr_claim_rmbe(struct rdma_conn *rc);
void smc_lgr_abort_rmb(struct smc_lgr *lgr, u32 rkey);

int smc_rtoken_add(struct smc_lgr *lgr, unsigned int link, u32 rkey, u64 addr);
bool smc_rtoken_known(struct smc_lgr *lgr, unsigned int link, u32 rkey, u64 addr);
int smc_rtoken_del(struct smc_lgr *lgr, unsigned int link, u32 rkey);

void smc_lgr_port_down(struct smc_rdma_dev *dev, u8 port);
void smc_lgr_dev_removed(struct smc_rdma_dev *dev);
void smc_lgr_end_all(struct smc_net *sn);

/* cdc.c */
void smc_cdc_commit(struct smc_conn *c);
void smc_cdc_consumed(struct smc_conn *c);
void smc_cdc_ask(struct smc_conn *c);
void smc_cdc_urgent(struct smc_conn *c, enum smc_urgent_news news);
void smc_cdc_signal(struct smc_conn *c, enum smc_conn_flag flag);
void smc_cdc_detach(struct smc_conn *c);
void smc_cdc_cut_off(struct rdma_conn *rc);

#endif
