/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link groups: the links, RMBs and connections that two peers share (RFC 7609, 2.2).
 *
 * A link group is in its namespace's list from its creation until it begins to end.  The list, each
 * connection and each pending work item hold a reference.  The end begins with a work item that
 * takes the links down and notifies all connections, in bounded time; after that the group does not
 * need the namespace any more.  Each link then returns its device in a work item of its own, which
 * takes as long as the device does.  The last reference frees the memory.
 *
 * Each file of this folder calls only those below it, except that llc_add_cont.c resumes llc_add.c:
 * in version 1 the exchange about a new link goes back and forth between the two.
 *
 *	lgr.c					a group is created, joined and left
 *	end.c					a group ends
 *	llc.c, llc_rules.c, llc_msg.c		the LLC engine, and what it does with each message
 *	llc_add.c, llc_add_cont.c		another link is added
 *	retire.c, llc_unused.c, llc_rkey.c	buffers are announced to the peer and given up
 *	new_link.c, failover.c, llc_loss.c	a link comes up or is lost
 *	active.c, ending.c, release.c		changes of state that any of the above may start
 *	llc_confirm.c, llc_send.c, mem.c	messages and memory
 *	new_path.c, report.c, rtoken.c		what is known of links, ports and the peer's RMBs
 *	links.c, peer_rmbe.c, group.c
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
/* The largest number of RMBs that a peer may have. */
#define SMC_LGR_RTOKENS		255

/**
 * struct smc_tcp_peer - the other end of a TCP connection
 * @addr:	its address; IPv4 mapped into IPv6
 * @ifindex:	the interface that the socket is bound to, on which alone @addr is valid
 */
struct smc_tcp_peer {
	struct in6_addr	addr;
	int		ifindex;
};

enum smc_lgr_state {
	SMC_LGR_NEW,		/* the first contact is in progress */
	SMC_LGR_ACTIVE,
	SMC_LGR_ENDING,
};

/**
 * struct smc_rtoken - an RMB of the peer
 * @rkey:	its RKey on each link
 * @addr:	its address on each link
 * @links:	bitmap of the links for which the peer has sent RKey and address
 * @used:	the entry is in use
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
 * @list:	entry in smc_net.lgrs, under its lock, until the group begins to end
 * @peer_node:	entry in smc_lgrs.by_peer, as long as @list is one
 * @sn:		the namespace; waits for @end_work, and may be gone after that
 * @state:	enum smc_lgr_state, under smc_lgrs.lock
 * @n_conns:	number of connections that keep the group from being idle, under smc_lgrs.lock
 * @n_abandoned: number of connections that only the peer has not closed, under smc_lgrs.lock;
 *		@max_conns limits the sum of @n_conns and @n_abandoned
 * @waiters:	connections that wait for the first contact, under smc_lgrs.lock
 * @id:		number for display
 * @server:	our role
 * @version:	SMC version
 * @release:	release of SMC version 2
 * @peer_id:	identity of the peer
 * @tcp_peer:	the other end of the first contact's TCP connection
 * @peer_gids:	GIDs of a client of version 2, from its first Confirm; under smc_lgrs.lock
 * @n_peer_gids: number of @peer_gids
 * @eid:	version 2: the common EID
 * @vlan_id:	VLAN ID, 0xffff if untagged
 * @max_conns:	maximum number of connections, as negotiated
 * @max_links:	maximum number of links, as negotiated
 * @peer_os:	SMC_CLC_OS_* of the peer
 * @hostname:	host name of the peer
 * @dev_name:	name of the first link's device, valid while connections hold the group
 * @fail:	enum smc_reason: why the first contact failed
 * @committed:	our CONFIRM LINK was sent, and it is too late to fall back to TCP (RFC 7609, C.2),
 *		unless that message turns out not to have arrived
 * @network:	network of the links; in a server's group, also of all connections
 * @links:	slots for links; a slot is in use while it has a path.  The first link is made with
 *		the group.  Only lgr/ accesses this array
 * @n_up:	number of links so far, without those that never came up
 * @up_at:	for each slot, the value of @n_up when its last link came up, or 0
 * @n_on_link:	for each link, number of connections that write over it, under smc_lgrs.lock
 * @last_number: server: number of the newest link; changed by the task that creates the group,
 *		then by the engine's work only
 * @n_releases:	number of links that have not returned their device, plus number of buffers that a
 *		device has not deregistered, plus one until the group has ended
 * @n_uses:	for each link, number of work items that still use its device: its release, which
 *		counts from the beginning, and buffers to deregister.  The last one returns the link
 * @unflushed:	bitmap of links that have not been flushed, and for which @kept is kept; under
 *		@setup_lock
 * @retire_again: connections were kept when buffers without users were last looked for; under
 *		@setup_lock
 * @kept:	smc_lgr_conn.kept: connections whose memory such a link may still access,
 *		referenced; under @setup_lock
 * @end_reason:	the reason in our DELETE LINK, SMC_LLC_DEL_*; 0 stands for SMC_LLC_DEL_PROGRAM
 * @buf_type:	enum smc_mem of our memory
 * @rmbs:	our RMBs
 * @txbufs:	our send rings
 * @conns:	connections by alert token; readers take a reference under RCU
 * @by_peer_rmbe: connections by the peer's element that they write to; readers use RCU as for
 *		@conns, or smc_lgrs.lock; changed under smc_lgrs.lock
 * @last_token:	the alert token assigned last
 * @lock:	protects @rtokens and smc_link.path
 * @rtokens:	RMBs of the peer
 * @setup_lock:	held while links and memory are created and used, but never while waiting for a peer
 * @dead:	links and memory are being freed or are gone, and only @end_work may access them;
 *		set under @setup_lock
 * @big_endian:	the peer encodes LLC numbers as IBM's paper says, see wire/llc.h
 * @keepalive:	a connection has set smc_lgr_conn.keepalive at least once
 * @delete_seen: the peer knows that the group ends
 * @doubted:	the peer says that it has no such group, and the links are being tested; under
 *		@llc.lock
 * @llc:	the LLC engine
 * @idle_work:	ends the group when it has had no connections for a while
 * @close_work:	abandons connections that the peer does not close
 * @retire_work: removes buffers without users
 * @retire_now:	an allocation was refused, so @retire_work keeps no buffers for some time; under
 *		smc_lgrs.lock
 * @give_up:	@retire_work gives up abandoned connections; under smc_lgrs.lock
 * @places:	beside @give_up: the peer can have no other group; under smc_lgrs.lock
 * @relieved:	value of smc_lgrs.n_reliefs when @give_up was last set, 0: never
 * @spare_mark:	number of the current smc_lgr_give_up(); under @setup_lock
 * @failover_work: moves connections away from links that are down, and releases these links
 * @end_work:	the part of the end that others wait for
 */
struct smc_lgr {
	refcount_t		ref;
	struct list_head	list;
	struct hlist_node	peer_node;
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
	atomic_t		n_up;
	u32			up_at[SMC_LGR_LINKS];
	unsigned int		n_on_link[SMC_LGR_LINKS];
	u8			last_number;
	atomic_t		n_releases;
	atomic_t		n_uses[SMC_LGR_LINKS];
	unsigned long		unflushed;
	bool			retire_again;
	struct list_head	kept;
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
	bool			retire_now;
	bool			give_up;
	bool			places;
	u64			relieved;
	unsigned int		spare_mark;
	struct work_struct	failover_work;
	struct work_struct	end_work;
};

/**
 * struct smc_link_move - move of connections from a link that is down to another one
 * @from:	the link that they leave, drained
 * @to:		an active link; NULL if @from has no connections
 * @flushed:	the device of @from has confirmed that none of our posts is in progress, and none
 *		of the peer's writes
 * @n_moved:	number of connections that write over @to now, counted by smc_lgr_conn.move
 * @n_reset:	number of connections that cannot go on, counted by smc_lgr_conn.move
 */
struct smc_link_move {
	struct smc_link	*from;
	struct smc_link	*to;
	bool		flushed;
	unsigned int	n_moved;
	unsigned int	n_reset;
};

/*
 * Rules for smc_lgr_conn.sender.link.  It is set when the connection enters the group, before the
 * connection is published.  After that only the group may replace it, under smc_lgr.setup_lock and
 * the tx_lock of the link that the connection leaves.  A task that holds either of these locks may
 * therefore use it, see smc_link_lock().  Without a lock it must be read once, with READ_ONCE().
 *
 * Rules for smc_lgr_conn.rx_link.  The completion handler of a link processes the link's messages
 * one after the other; the handlers of two links may run at once.  A connection takes messages of
 * one link only.  State that is changed only by its messages therefore needs no lock: the cursors
 * that the peer moves, and the members of struct rdma_conn that say so.  rx_link is replaced after
 * the handler of the old link has run for the last time, see smc_link_drain().  It is then
 * SMC_RX_MOVING while another context does the handler's work.  After that it is the link that the
 * newest message came over, or SMC_RX_ANY until the first message over another link.  All changes
 * but the first are made under smc_lgr.lock.
 */
#define SMC_RX_ANY	((struct smc_link *)1)
#define SMC_RX_MOVING	((struct smc_link *)2)

/**
 * struct smc_lgr_conn - a connection of a link group
 * @msg:	the connection and its exchange of messages with the peer; the last reference frees
 *		it after an RCU grace period
 * @cut_off:	tells the connection that it has lost its link, or its element at the peer.  Called
 *		with a reference, in any context but hard interrupts
 * @move:	tells the connection to use another link, because a link over which it may send or
 *		receive is down.  Called with a reference, under smc_lgr.setup_lock
 * @sn:		the namespace of its socket, while it has a socket
 * @lgr:	its link group, referenced; NULL before smc_lgr_join() or smc_lgr_create()
 * @sender:	its place in the send queue of the link that it writes over, see the rules above
 * @rx_link:	the link whose messages it takes, see the rules above; NULL before it has an element
 * @counted:	it is counted in @lgr->n_conns or, if @abandoned, in @lgr->n_abandoned; under
 *		smc_lgrs.lock
 * @abandoned:	the peer has not closed it in time; under smc_lgrs.lock
 * @rkey_asked:	the peer has been asked, or is being asked, to accept the RMB; with @refusals and
 *		@rkey_wait under @lgr->llc.lock
 * @rtoken:	index of the peer's RMB in @lgr->rtokens, the same on all links
 * @peer_idx:	index, from 1, of the element in that RMB that the connection writes to
 * @refusals:	smc_rmb.refusals when the connection began to wait
 * @closing:	time in jiffies, never 0, when the socket was done with the connection but the peer
 *		was not; 0 before; under smc_lgrs.lock
 * @keepalive:	seconds of silence until the link is tested for this connection, 0 to use the
 *		namespace's time
 * @token:	our alert token
 * @wait:	entry in the waiters of a group whose first contact is in progress
 * @rkey_wait:	entry in @lgr->llc.waiters
 * @rmbe_node:	entry in @lgr->by_peer_rmbe
 * @kept:	entry in @lgr->kept
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
	struct list_head	kept;
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

/* Is the slot of this link in use, and the link not down? */
static inline bool smc_lgr_link_alive(const struct smc_link *link)
{
	return READ_ONCE(link->path.dev) && smc_link_alive(link);
}

/* The link of the first contact; once that link is lost, another one may take the slot. */
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
 * @lock:	protects the lists, and state and number of connections of each group;
 *		any context
 * @list:	link groups that have not begun to end
 * @by_peer:	the same, hashed by the peer's ID, so that a handshake looks at those of one peer
 * @closed:	the namespace is being removed
 * @seq:	sequence number that changes with the list, never 0
 * @n:		number of groups, including those whose @end_work has not finished
 * @relief_work: frees memory after an allocation has been refused
 * @n_reliefs:	how often a group was told to give up abandoned connections
 */
struct smc_lgrs {
	spinlock_t		lock;
	struct list_head	list;
	DECLARE_HASHTABLE(by_peer, 8);
	bool			closed;
	unsigned int		seq;
	atomic_t		n;
	struct work_struct	relief_work;
	u64			n_reliefs;
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

/* lgr.c */
int smc_lgr_join(struct smc_lgr_conn *lconn, struct smc_net *sn,
		 const struct smc_lgr_key *key);
int smc_lgr_create(struct smc_lgr_conn *lconn, struct smc_net *sn,
		   const struct smc_lgr_key *key, const struct smc_rdma_path *path);
void smc_lgr_leave(struct smc_lgr_conn *lconn);
void smc_lgr_relieve_peer(struct smc_net *sn, const struct smc_lgr_key *key);
void smc_lgr_set_link(struct smc_lgr_conn *lconn, struct smc_link *link);
void smc_lgr_set_peer_gids(struct smc_lgr *lgr, const struct smc_clc_accept *a);
struct smc_link *__smc_lgr_named_link(struct smc_lgr *lgr, const u8 *mac, const u8 *gid,
				      const u32 *qpn);
int smc_lgr_next_hop(struct smc_lgr_conn *lconn);
void smc_lgr_hop_changed(struct smc_link *link);

/* group.c */
struct smc_lgrs *smc_lgrs_of(const struct smc_lgr *lgr);
bool __smc_lgr_hoards(const struct smc_lgr *lgr);
void smc_lgr_get(struct smc_lgr *lgr);
void smc_lgr_put(struct smc_lgr *lgr);
void smc_lgr_wake_waiters(struct smc_lgr *lgr);
bool smc_lgr_await(struct smc_lgr_conn *lconn);
void smc_lgr_unwait(struct smc_lgr_conn *lconn);
struct smc_lgr_conn *smc_lgr_next_conn(struct smc_lgr *lgr, unsigned long *token);
struct smc_lgr_conn *smc_lgr_find_conn(struct smc_lgr *lgr, u32 token);

/* active.c */
void smc_lgr_active_init(struct smc_lgr *lgr);
void smc_lgr_activate(struct smc_lgr *lgr);
void __smc_lgr_start_idle(struct smc_lgr *lgr);
void smc_lgr_await_close(struct smc_lgr_conn *lconn);
void smc_lgr_give_up(struct smc_lgr *lgr, bool places);

/* links.c */
struct smc_link *__smc_lgr_best_link(struct smc_lgr *lgr);
struct smc_link *smc_lgr_best_link(struct smc_lgr *lgr);
struct smc_link *smc_lgr_working_link(struct smc_lgr *lgr);
struct smc_link *smc_lgr_other_link(struct smc_lgr *lgr, const struct smc_link *link);
struct smc_link *smc_lgr_link_by_number(struct smc_lgr *lgr, u8 number);
struct smc_link *smc_lgr_link_ever(struct smc_lgr *lgr, u8 number);
u8 smc_lgr_next_number(struct smc_lgr *lgr);
struct smc_link_attr smc_lgr_link_attr(const struct smc_lgr *lgr, u8 number);
int smc_lgr_get_path(struct smc_lgr *lgr, const struct smc_link *link,
		     struct smc_rdma_path *path);

/* new_link.c */
struct smc_link *smc_lgr_make_link(struct smc_lgr *lgr, const struct smc_rdma_path *path,
				   u8 number);
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
void smc_lgr_report_given_up(const struct smc_lgr *lgr, unsigned int n);

/* failover.c */
void smc_lgr_failover_init(struct smc_lgr *lgr);
void smc_lgr_failover(struct smc_lgr *lgr);
void smc_lgr_stop_failover(struct smc_lgr *lgr);
void smc_lgr_link_down(struct smc_link *link, void *caller);

/* ending.c */
void __smc_lgrs_changed(struct smc_lgrs *lgrs);
void __smc_lgr_end(struct smc_lgr *lgr, enum smc_reason reason);
void smc_lgr_end(struct smc_lgr *lgr, enum smc_reason reason);

/* release.c */
void smc_lgr_release_init(struct smc_lgr *lgr);
void smc_lgr_released(struct smc_lgr *lgr);
bool smc_lgr_forget(struct smc_rmb *rmb);
void smc_lgr_keep_conn(struct smc_lgr_conn *lconn, const struct smc_link *link);
void smc_lgr_release_link(struct smc_lgr *lgr, struct smc_link *link);

/* end.c */
void smc_lgr_end_init(struct smc_lgr *lgr);
void smc_lgrs_end_all(struct smc_net *sn);
void smc_lgr_port_changed(struct smc_rdma_dev *dev, u8 port);
void smc_lgr_dev_removed(struct smc_rdma_dev *dev);

/* retire.c */
void smc_lgr_retire_init(struct smc_lgr *lgr);
void __smc_lgr_retire(struct smc_lgr *lgr, bool now);
void smc_lgr_retire(struct smc_lgr *lgr);
void smc_lgr_stop_retiring(struct smc_lgr *lgr);

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
