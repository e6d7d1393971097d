/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link groups: the links, RMBs and connections that two peers share (RFC 7609, 2.2).
 *
 * A link group is in its namespace's list from its creation until it begins to end; it is held by
 * the list, by each of its connections and by its work.  Its end begins with a work item that takes
 * the links down and tells all connections, in a time that is bounded; after that the namespace is
 * not needed any more.  Then each link gives its device back, in a work item of its own, which may
 * take as long as the device does.  The memory goes with the last connection.
 */
#ifndef SMC_RDMA_LGR_H
#define SMC_RDMA_LGR_H

#include <linux/hashtable.h>
#include <linux/refcount.h>
#include <linux/xarray.h>
#include "../../../wire/clc.h"
#include "../../fabric.h"
#include "../../msg/msg.h"
#include "../link/link.h"
#include "llc.h"
#include "mem.h"

struct smc_net;

#define SMC_LGR_MAX_CONNS	255
#define SMC_LGR_MIN_CONNS	16
/* RMBs that a peer may have. */
#define SMC_LGR_RTOKENS		255

/**
 * struct smc_tcp_peer - the other end of a TCP connection
 * @addr:	its address; IPv4 mapped into IPv6
 * @ifindex:	the interface that the socket is bound to, where alone its address is valid
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
 * @links:	links for which the peer has told these, as bits
 * @used:	is there one
 */
struct smc_rtoken {
	u32	rkey[SMC_LGR_LINKS];
	u64	addr[SMC_LGR_LINKS];
	u8	links;
	bool	used;
};

/**
 * struct smc_lgr - a link group
 * @ref:	references
 * @list:	in smc_net.lgrs, under its lock, until it ends
 * @sn:		the namespace; it waits for @end_work, and may then be gone
 * @state:	enum smc_lgr_state, under smc_lgrs.lock
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
 * @peer_gids:	GIDs of a client of version 2, as its first Confirm lists them; under smc_lgrs.lock
 * @n_peer_gids: their number
 * @eid:	of version 2: the common EID
 * @vlan_id:	0xffff without one
 * @max_conns:	connections, as settled
 * @max_links:	links, as settled
 * @peer_os:	SMC_CLC_OS_*
 * @hostname:	of the peer
 * @dev_name:	of the first link's device, while connections hold the group
 * @fail:	enum smc_reason: why the first contact failed
 * @committed:	too late to fall back to TCP (RFC 7609, C.2), if our CONFIRM LINK has arrived
 * @network:	where the links are; the same for all connections of a server
 * @links:	places for links, with a path as long as they are used; the first link is made with
 *		the group.  Only lgr/ looks into this array
 * @n_on_link:	connections that write over each of them, under smc_lgrs.lock
 * @last_number:	of a link, for the server; only the engine's work changes it
 * @n_releases:	links that have yet to give their device back, buffers that a device has yet to
 *		forget, and one until the end of the group
 * @n_forget:	buffers that the device of each link has yet to forget
 * @end_reason:	the reason in our DELETE LINK, SMC_LLC_DEL_*; 0 for SMC_LLC_DEL_PROGRAM
 * @buf_type:	enum smc_mem of our memory
 * @rmbs:	our RMBs
 * @txbufs:	our send rings
 * @conns:	connections by alert token; the lookup takes its reference under RCU
 * @by_peer_rmbe: connections by the peer's element that they write to; for readers as
 *		@conns, otherwise under smc_lgrs.lock
 * @last_token:	the last one given
 * @lock:	protects @rtokens and the use of smc_link.path
 * @rtokens:	RMBs of the peer
 * @setup_lock:	held while links and memory are made and used; nobody waits for a peer under it
 * @dead:	links and memory are going or gone, and nobody but @end_work may look at
 *		them; set under @setup_lock
 * @big_endian:	the peer writes LLC's numbers as the paper says, see wire/llc.h
 * @keepalive:	a connection has asked for link tests at times of its own, once
 * @delete_seen: the peer knows that the group ends
 * @doubted:	the peer says that it has no such group, and its link is being tested; under
 *		@llc.lock
 * @llc:	the LLC engine
 * @idle_work:	ends the group when it had no connections for a while
 * @close_work:	abandons connections that their peer does not close
 * @retire_work: takes buffers that nobody uses
 * @failover_work: takes connections from links that are down, and ends these
 * @end_work:	the end, as far as others wait for it
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
	u8			peer_gids[SMC_CLC_MAX_GID_LIST][16];
	u8			n_peer_gids;
	u8			eid[SMC_EID_LEN];
	u16			vlan_id;
	u8			max_conns;
	u8			max_links;
	u8			peer_os;
	char			hostname[SMC_CLC_HOSTNAME_LEN + 1];
	char			dev_name[IB_DEVICE_NAME_MAX];
	u32			fail;
	bool			committed;
	struct smc_rdma_network	network;
	struct smc_link		links[SMC_LGR_LINKS];
	unsigned int		n_on_link[SMC_LGR_LINKS];
	u8			last_number;
	atomic_t		n_releases;
	atomic_t		n_forget[SMC_LGR_LINKS];
	u32			end_reason;
	u8			buf_type;
	struct smc_pools	*rmbs;
	struct smc_pools	*txbufs;
	struct xarray		conns;
	DECLARE_HASHTABLE(by_peer_rmbe, 5);
	u32			last_token;
	spinlock_t		lock;
	struct smc_rtoken	rtokens[SMC_LGR_RTOKENS];
	struct mutex		setup_lock;
	bool			dead;
	bool			keepalive;
	bool			delete_seen;
	bool			doubted;
	bool			big_endian;
	struct smc_llc		llc;
	struct delayed_work	idle_work;
	struct delayed_work	close_work;
	struct delayed_work	retire_work;
	struct work_struct	failover_work;
	struct work_struct	end_work;
};

/**
 * struct smc_link_move - where connections of a link go
 * @from:	the link, drained
 * @to:		an active one; NULL if @from has no connections
 * @flushed:	the device of @from has confirmed that nothing of ours is under way
 * @n_moved:	connections that write over @to now; smc_lgr_conn.move counts them
 * @n_reset:	those that could not go there, the same
 */
struct smc_link_move {
	struct smc_link	*from;
	struct smc_link	*to;
	bool		flushed;
	unsigned int	n_moved;
	unsigned int	n_reset;
};

/*
 * The rule of smc_lgr_conn.sender.link.  It is set when the connection enters the group, before
 * anybody else knows the connection.  After that only the group may replace it, under
 * smc_lgr.setup_lock and the tx_lock of the link that the connection leaves.  So whoever holds one
 * of the two locks may use it, see smc_link_lock().  Without a lock it is read once, with
 * READ_ONCE().
 *
 * The rule of smc_lgr_conn.rx_link.  Messages of one link are taken one after the other, by the
 * completion handler of the link; two links have two handlers, which may run at once.  A connection
 * takes messages of one link only.  So what only its messages change needs no lock: the cursors
 * that the peer moves, and fields of struct rdma_conn that say so.  It is replaced when the
 * handler of that link is known to have run for the last time, see smc_link_drain().  Then it is
 * SMC_RX_MOVING for as long as somebody else does what the handler would, and SMC_RX_ANY until the
 * first message over another link.  All changes but the first are made under smc_lgr.lock.
 */
#define SMC_RX_ANY	((struct smc_link *)1)
#define SMC_RX_MOVING	((struct smc_link *)2)

/**
 * struct smc_lgr_conn - a connection of a link group
 * @msg:	the connection, and what its ends tell each other; its last reference frees it, an
 *		RCU grace period later
 * @cut_off:	the connection has no link any more, or no element at the peer.  Called with a
 *		reference, in any context but hard interrupts
 * @move:	a link is down, over which the connection may send or receive: use another one.
 *		Called with a reference, under smc_lgr.setup_lock
 * @sn:		the namespace of its socket, for as long as it has one
 * @lgr:	its link group, referenced; NULL before smc_lgr_join() or smc_lgr_create()
 * @sender:	its place in the send queue of the link that it writes over, see the rule above
 * @rx_link:	the link whose messages it takes, see the rule above; NULL before it has an element
 * @counted:	it counts in @lgr->n_conns or, if @abandoned, in @lgr->n_abandoned; under
 *		smc_lgrs.lock
 * @abandoned:	the peer had its time to close; under the same
 * @rkey_asked:	the peer was asked to take the RMB, or is being asked; with @refusals and
 *		@rkey_wait under @lgr->llc.lock
 * @rtoken:	the peer's RMB: a number in @lgr->rtokens, the same on all links
 * @peer_idx:	index of our element there
 * @refusals:	smc_rmb.refusals when it began to wait
 * @closing:	when the socket was done with it, before the peer, in jiffies, and not 0; under
 *		smc_lgrs.lock
 * @keepalive:	seconds of silence until the link is tested for this connection, 0: as
 *		for all
 * @token:	our alert token
 * @wait:	in the waiters of a group whose first contact is under way
 * @rkey_wait:	in @lgr->llc.waiters
 * @rmbe_node:	in @lgr->by_peer_rmbe
 */
struct smc_lgr_conn {
	struct smc_msg_conn	msg;
	void			(*cut_off)(struct smc_lgr_conn *lconn);
	void			(*move)(struct smc_lgr_conn *lconn, struct smc_link_move *move);
	struct smc_net		*sn;
	struct smc_lgr		*lgr;
	struct smc_link_sender	sender;
	struct smc_link		*rx_link;
	bool			counted;
	bool			abandoned;
	bool			rkey_asked;
	u8			rtoken;
	u8			peer_idx;
	unsigned int		refusals;
	unsigned long		closing;
	unsigned int		keepalive;
	u32			token;
	struct list_head	wait;
	struct list_head	rkey_wait;
	struct hlist_node	rmbe_node;
};

static inline struct smc_lgr_conn *to_lgr_conn(struct smc_conn *c)
{
	return container_of(c, struct smc_lgr_conn, msg.conn);
}

#define smc_lgr_for_each_link(lgr, link) \
	for ((link) = (lgr)->links; (link) < (lgr)->links + SMC_LGR_LINKS; (link)++)

/* The index of a link in arrays of RTokens, memory regions and pictures. */
static inline unsigned int smc_lgr_link_index(const struct smc_lgr *lgr,
					      const struct smc_link *link)
{
	return link - lgr->links;
}

static inline bool smc_lgr_is_v2(const struct smc_lgr *lgr)
{
	return lgr->version > SMC_CLC_V1;
}

/* Is it one of the group's, and not down? */
static inline bool smc_lgr_link_alive(const struct smc_link *link)
{
	return READ_ONCE(link->path.dev) && smc_link_alive(link);
}

/* The link of the first contact, which exists from then to the end of the group. */
static inline struct smc_link *smc_lgr_first_link(struct smc_lgr *lgr)
{
	return &lgr->links[0];
}

static inline struct smc_lgr *smc_link_lgr(const struct smc_link *link)
{
	return link->owner;
}

/**
 * struct smc_lgrs - link groups of a namespace
 * @lock:	protects the list, and state and number of connections of each group;
 *		any context
 * @list:	those that have not begun to end
 * @closed:	the namespace goes
 * @seq:	counts changes of the list, never 0
 * @n:		how many there are, including those whose @end_work has yet to run
 * @relief_work: ends one of them when memory was refused
 */
struct smc_lgrs {
	spinlock_t		lock;
	struct list_head	list;
	bool			closed;
	unsigned int		seq;
	atomic_t		n;
	struct work_struct	relief_work;
};

/* Identifies a link group to a handshake. */
struct smc_lgr_key {
	bool			server;
	u8			version;
	u8			release;
	const u8		*peer_id;
	const u8		*eid;
	const u8		*peer_mac;
	const u8		*peer_gid;
	const struct smc_tcp_peer *tcp_peer;
	const struct smc_rdma_network *network;
	u32			peer_qpn;	/* client only */
	u16			vlan_id;
	u8			max_conns;
	u8			max_links;
};

int smc_lgr_join(struct smc_lgr_conn *lconn, struct smc_net *sn,
		 const struct smc_lgr_key *key);
int smc_lgr_create(struct smc_lgr_conn *lconn, struct smc_net *sn,
		   const struct smc_lgr_key *key, const struct smc_rdma_path *path);
void smc_lgr_leave(struct smc_lgr_conn *lconn);
void smc_lgr_set_link(struct smc_lgr_conn *lconn, struct smc_link *link);
void smc_lgr_await_close(struct smc_lgr_conn *lconn);
struct smc_lgrs *smc_lgrs_of(const struct smc_lgr *lgr);
void smc_lgr_get(struct smc_lgr *lgr);
void smc_lgr_put(struct smc_lgr *lgr);
void smc_lgr_set_peer_gids(struct smc_lgr *lgr, const struct smc_clc_accept *a);
void smc_lgr_activate(struct smc_lgr *lgr);
struct smc_link *smc_lgr_best_link(struct smc_lgr *lgr);
int smc_lgr_next_hop(struct smc_lgr_conn *lconn);
void smc_lgr_hop_changed(struct smc_link *link);
void smc_lgr_wake_waiters(struct smc_lgr *lgr);
bool smc_lgr_await(struct smc_lgr_conn *lconn);
void smc_lgr_unwait(struct smc_lgr_conn *lconn);
struct smc_lgr_conn *smc_lgr_next_conn(struct smc_lgr *lgr, unsigned long *token);
struct smc_lgr_conn *smc_lgr_find_conn(struct smc_lgr *lgr, u32 token);

/* links.c */
struct smc_link *smc_lgr_working_link(struct smc_lgr *lgr);
struct smc_link *smc_lgr_other_link(struct smc_lgr *lgr, const struct smc_link *link);
struct smc_link *smc_lgr_link_by_number(struct smc_lgr *lgr, u8 number);
u8 smc_lgr_next_number(struct smc_lgr *lgr);
struct smc_link_attr smc_lgr_link_attr(const struct smc_lgr *lgr, u8 number);
struct smc_link *smc_lgr_make_link(struct smc_lgr *lgr, const struct smc_rdma_path *path,
				   u8 number);
int smc_lgr_get_path(struct smc_lgr *lgr, const struct smc_link *link,
		     struct smc_rdma_path *path);
int smc_lgr_connect_link(struct smc_lgr *lgr, struct smc_link *link);
void smc_lgr_link_up(struct smc_lgr *lgr, struct smc_link *link);

/* new_path.c */
int smc_lgr_new_path(struct smc_lgr *lgr, struct smc_link *over, const union ib_gid *peer_gid,
		     struct smc_rdma_path *path);
bool smc_lgr_is_asymmetric(struct smc_lgr *lgr, const struct smc_link *link);
bool smc_lgr_is_parallel(struct smc_lgr *lgr, const struct smc_link *link);
void smc_lgr_replace_asymmetric(struct smc_lgr *lgr, const struct smc_link *new);

/* report.c */
enum smc_group_type smc_lgr_type(struct smc_lgr *lgr);
void __smc_lgr_report_new(struct smc_lgr *lgr);
void smc_lgr_report_up(struct smc_lgr *lgr, const struct smc_link *link);
void smc_lgr_report_down(struct smc_lgr *lgr, const struct smc_link *link, void *caller);
void smc_lgr_report_moved(struct smc_lgr *lgr, const struct smc_link_move *move);
void __smc_lgr_report_end(struct smc_lgr *lgr, enum smc_reason reason);

/* failover.c */
void smc_lgr_failover_init(struct smc_lgr *lgr);
void smc_lgr_failover(struct smc_lgr *lgr);
void smc_lgr_stop_failover(struct smc_lgr *lgr);
void smc_lgr_link_down(struct smc_link *link, void *caller);

/* end.c */
void smc_lgr_end_init(struct smc_lgr *lgr);
void __smc_lgr_end(struct smc_lgr *lgr, enum smc_reason reason);
void __smc_lgrs_changed(struct smc_lgrs *lgrs);
void smc_lgr_end(struct smc_lgr *lgr, enum smc_reason reason);
void smc_lgrs_end_all(struct smc_net *sn);
void smc_lgr_release_link(struct smc_lgr *lgr, struct smc_link *link);
void smc_lgr_released(struct smc_lgr *lgr);
void smc_lgr_port_changed(struct smc_rdma_dev *dev, u8 port);
void smc_lgr_dev_removed(struct smc_rdma_dev *dev);

/* retire.c */
void smc_lgr_retire_init(struct smc_lgr *lgr);
void __smc_lgr_retire(struct smc_lgr *lgr, bool now);
void smc_lgr_stop_retiring(struct smc_lgr *lgr);
bool smc_lgr_forget(struct smc_rmb *rmb);
void smc_lgr_await_forgotten(struct smc_lgr *lgr, const struct smc_link *link);

/* peer_rmbe.c */
void smc_lgr_claim_rmbe(struct smc_lgr_conn *lconn);
void smc_lgr_abort_rmb(struct smc_lgr *lgr, unsigned int rtoken);
bool smc_lgr_rmb_used(struct smc_lgr *lgr, unsigned int rtoken);

/* rtoken.c */
int smc_rtoken_add(struct smc_lgr *lgr, unsigned int link, u32 rkey, u64 addr);
void smc_rtoken_set(struct smc_lgr *lgr, unsigned int i, unsigned int link, u32 rkey, u64 addr);
void smc_rtoken_set_same(struct smc_lgr *lgr, unsigned int known, u32 ref_rkey, unsigned int added,
			 u32 rkey, u64 addr);
void smc_rtoken_drop_link(struct smc_lgr *lgr, unsigned int link);
int smc_rtoken_find(struct smc_lgr *lgr, unsigned int link, u32 rkey, u64 addr);
int smc_rtoken_find_key(struct smc_lgr *lgr, unsigned int link, u32 rkey);
int smc_rtoken_get(struct smc_lgr *lgr, unsigned int i, unsigned int link, u32 *rkey, u64 *addr);
int smc_rtoken_del(struct smc_lgr *lgr, unsigned int link, u32 rkey);

extern struct pernet_operations smc_lgr_net_ops;

#endif
