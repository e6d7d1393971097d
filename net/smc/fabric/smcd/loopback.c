// SPDX-License-Identifier: GPL-2.0
/*
 * The loopback fabric: SMC-Dv2.1 within one kernel, across network namespaces.
 *
 * Both ends of a connection can access each other.  A sender copies directly into the peer's
 * element, moves the peer's cursor and wakes its reader, without messages or work items.
 *
 * Each connection gets a new random token for its element.  The server's token is in a table from
 * its Accept until the client takes it.  It can be taken only once, so neither guessing nor
 * replaying a token gives access to memory.
 *
 * References: once attached, each end holds the other one. When an end is detached, it parts from
 * its peer: it takes the peer's locks and the peer's pointer to it, so that the peer neither writes
 * into its element nor keeps it. If a lock is taken, the peer is in the middle of a copy, and parts
 * at the end of this copy. So an element is not reused while the other end may still write into it,
 * and is never kept by the other end.
 */
#include <linux/hashtable.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include <linux/utsname.h>
#include <linux/uuid.h>
#include "../../config/eid.h"
#include "../../lock_class.h"
#include "../../mem/charge.h"
#include "../../mem/pool.h"
#include "../../mem/rmbe.h"
#include "../../netns.h"
#include "../../smc.h"
#include "../../sock_info.h"
#include "../../test_hold.h"
#include "../fabric.h"
#include "../show.h"
#include "dev.h"
#include "lgr.h"
#include "smcd.h"

#define LO_NAME		"loopback-ism"

static const struct smc_pnet_port lo_port = { .dev = LO_NAME, .port = 1 };
#define LO_CHID		SMC_CHID_LOOPBACK
#define LO_DMBE_IDX	0	/* counted from zero; a DMB has a single element here */
#define LO_HASH_BITS	10
/* Enough for most connections; grow.c enlarges the elements of the others. */
#define LO_FIRST_SIZE	SMC_CLC_SIZE_MIN
#define LO_GROUP	SMC_LOOPBACK_NUMBER

/**
 * struct lo_conn - one end of a connection within this kernel
 * @conn:	the connection
 * @peer:	the other end, referenced; set once, under the lock of the bucket or before either
 *		end is visible. Taken away by detach, or by the peer's detach, which holds both
 *		locks of @conn. RCU for readers without one of these locks
 * @sn:		namespace of the socket, valid as long as there is a socket
 * @token:	names the element of this end
 * @peer_token:	names the peer's element; set with @peer, and stays
 * @link_id:	number of the connection, for display
 * @server:	this end has sent the Accept
 * @node:	entry in the table of tokens until the client takes it
 * @part_work:	parts from the peer if this end was detached in a bottom half
 * @rcu:	callbacks of TCP read the connection under RCU
 */
struct lo_conn {
	struct smc_conn		conn;
	struct lo_conn __rcu	*peer;
	struct smc_net		*sn;
	u64			token;
	u64			peer_token;
	u32			link_id;
	bool			server;
	struct hlist_node	node;
	struct work_struct	part_work;
	struct rcu_head		rcu;
};

static struct lo_bucket {
	spinlock_t		lock;	/* protects the list and lo_conn.peer */
	struct hlist_head	offered;
} lo_table[1 << LO_HASH_BITS];

static struct kmem_cache *lo_cache;
static u64 lo_gid, lo_gid_ext;
static atomic_t lo_link_id;

/*
 * For tests: if false, sockets of this kernel use the same fabrics as sockets of two hosts would,
 * such as RDMA devices that reach each other.  Existing connections are not affected.
 */
static bool loopback = true;
module_param(loopback, bool, 0600);
MODULE_PARM_DESC(loopback, "connections within this host may use SMC-D");

static struct lo_conn *to_lo(struct smc_conn *c)
{
	return container_of(c, struct lo_conn, conn);
}

static struct lo_bucket *lo_bucket(u64 token)
{
	return &lo_table[hash_64(token, LO_HASH_BITS)];
}

static bool lo_usable(struct smc_fabric *f, const struct smc_net *sn)
{
	return READ_ONCE(loopback);
}

static void lo_offer(struct smc_fabric *f, struct sock *sk,
		     struct smc_clc_proposal *p)
{
	const struct smc_clc_ism_gid gid = {
		.gid = lo_gid, .gid_ext = lo_gid_ext, .chid = LO_CHID, .extended = true,
	};

	smcd_offer_gid(p, &gid);
}

static bool lo_gid_offered(const struct smc_clc_proposal *p)
{
	unsigned int i;

	for (i = 0; i < p->n_gids; i++)
		if (p->gids[i].extended && p->gids[i].chid == LO_CHID &&
		    p->gids[i].gid == lo_gid && p->gids[i].gid_ext == lo_gid_ext)
			return true;
	return false;
}

static enum smc_reason choose_v2(const struct smc_clc_proposal *p,
				 struct smc_negotiated *neg)
{
	if (!p->release || !(p->features & SMC_CLC_FEAT_EMULATED_ISM) ||
	    !lo_gid_offered(p))
		return SMC_REASON_NO_COMMON_DEVICE;
	if (!smc_eids_common(p, true, neg->eid))
		return SMC_REASON_NO_COMMON_EID;
	neg->version = SMC_CLC_V2;
	neg->release = 1;
	neg->features = SMC_CLC_FEAT_EMULATED_ISM;
	return SMC_REASON_NONE;
}

static enum smc_reason lo_choose(struct smc_fabric *f, struct sock *sk,
				 const struct smc_clc_proposal *p,
				 struct smc_negotiated *neg)
{
	if (!p->smcd_v2)
		return SMC_REASON_NO_COMMON_MODE;
	neg->why[SMC_OFFER_DV2] = choose_v2(p, neg);
	return neg->why[SMC_OFFER_DV2];
}

static enum smc_reason lo_accepts(struct smc_fabric *f, struct sock *sk,
				  const struct smc_clc_accept *a,
				  struct smc_negotiated *neg)
{
	if (!a->smcd || a->version != SMC_CLC_V2 || a->chid != LO_CHID)
		return SMC_REASON_NO_COMMON_DEVICE;
	if (a->gid != lo_gid || a->gid_ext != lo_gid_ext)
		return SMC_REASON_NO_COMMON_DEVICE;
	if (!smc_eid_ours(a->eid))
		return SMC_REASON_NO_COMMON_EID;
	if (a->has_fce && a->release != 1)
		return SMC_REASON_PEER_RELEASE;
	neg->version = SMC_CLC_V2;
	neg->release = 1;
	neg->features = SMC_CLC_FEAT_EMULATED_ISM;
	memcpy(neg->eid, a->eid, SMC_EID_LEN);
	return SMC_REASON_NONE;
}

static void lo_forget(struct smc_negotiated *neg)
{
}

/* Create one end, not yet known to its peer.  Returns NULL without memory. */
static struct lo_conn *lo_new(struct smc_fabric *f, struct smc_net *sn,
			      const struct smc_wanted *want, bool server, bool atomic)
{
	u32 rcvbuf = want->rcvbuf_most ? LO_FIRST_SIZE : want->rcvbuf;
	struct smc_rmbe *rmbe;
	struct lo_conn *lo;

	rmbe = atomic ? smc_rmbe_get_free(sn->pools, rcvbuf) : smc_rmbe_get(sn->pools, rcvbuf);
	if (!rmbe)
		return NULL;
	lo = kmem_cache_zalloc(lo_cache, atomic ? GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN :
						  SMC_GFP_CHARGED);
	if (!lo) {
		smc_rmbe_put(rmbe);
		return NULL;
	}
	smc_conn_init(&lo->conn, f->ops->conn, rmbe);
	if (want->rcvbuf_most)
		smc_conn_may_grow(&lo->conn, want->rcvbuf, want->rcvbuf_most);
	lo->conn.payer = smc_charge_hold_active();
	lo->sn = sn;
	lo->link_id = atomic_inc_return(&lo_link_id);
	/* Of a pair, this is only a name, which no peer ever presents. */
	lo->token = lo->link_id;
	lo->server = server;
	atomic_inc(&sn->n_smcd);
	return lo;
}

static struct smc_conn *lo_conn_new(struct smc_fabric *f, struct sock *sk,
				    struct smc_negotiated *neg,
				    const struct smc_wanted *want)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	struct lo_conn *lo = lo_new(f, sn, want, neg->server, false);

	if (!lo)
		return ERR_PTR(-ENOMEM);
	lo->token = get_random_u64();
	if (atomic_read(&sn->n_smcd) == 1 && neg->server)
		neg->first_contact = true;
	return &lo->conn;
}

/* A peer that has not attached holds nothing of ours, and there is no link group. */
static void lo_refused(struct smc_conn *c, bool out_of_sync)
{
}

/* The Accept tells the client the server's token, so the token enters the table here. */
static void lo_describe(struct smc_conn *c, struct smc_clc_accept *a)
{
	struct lo_conn *lo = to_lo(c);
	struct lo_bucket *b = lo_bucket(lo->token);

	a->smcd = true;
	a->gid = lo_gid;
	a->gid_ext = lo_gid_ext;
	a->chid = LO_CHID;
	a->token = lo->token;
	a->dmbe_idx = LO_DMBE_IDX;
	a->dmbe_size = smc_clc_size_from_bytes(c->rx_size);
	a->link_id = lo->link_id;
	if (!lo->server)
		return;
	spin_lock_bh(&b->lock);
	hlist_add_head(&lo->node, &b->offered);
	spin_unlock_bh(&b->lock);
}

static void lo_join(struct lo_conn *a, struct lo_conn *b)
{
	smc_conn_get(&b->conn);
	a->conn.tx_buf = b->conn.rx_buf;
	a->conn.tx_size = b->conn.rx_size;
	a->conn.peer_size = b->conn.rx_size;
	a->conn.tx_grows = b->conn.rx_sure;
	a->peer_token = b->token;
	rcu_assign_pointer(a->peer, b);
}

static struct lo_conn *__lo_find(struct lo_bucket *b, u64 token)
{
	struct lo_conn *lo;

	lockdep_assert_held(&b->lock);
	hlist_for_each_entry(lo, &b->offered, node)
		if (lo->token == token)
			return lo;
	return NULL;
}

/* Client: take the server's end that the Accept names out of the table. */
static enum smc_reason lo_take(struct lo_conn *lo, const struct smc_clc_accept *a)
{
	struct lo_bucket *b = lo_bucket(a->token);
	struct lo_conn *srv;

	spin_lock_bh(&b->lock);
	srv = __lo_find(b, a->token);
	if (srv && srv->conn.rx_size == smc_clc_size_to_bytes(a->dmbe_size) &&
	    a->dmbe_idx == LO_DMBE_IDX) {
		hlist_del_init(&srv->node);
		lo_join(lo, srv);
		lo_join(srv, lo);
	} else {
		srv = NULL;
	}
	spin_unlock_bh(&b->lock);
	return srv ? SMC_REASON_NONE : SMC_REASON_BAD_TOKEN;
}

/*
 * Server: check that the Confirm comes from the client that has taken our end. The client may have
 * closed already, and parted from us.
 */
static enum smc_reason lo_verify(struct lo_conn *lo, const struct smc_clc_accept *a)
{
	struct lo_bucket *b = lo_bucket(lo->token);
	bool ok;

	if (!a->smcd || a->chid != LO_CHID || a->gid != lo_gid ||
	    a->gid_ext != lo_gid_ext || a->dmbe_idx != LO_DMBE_IDX ||
	    (a->has_fce && a->release != 1))
		return SMC_REASON_BAD_CONFIRM;
	spin_lock_bh(&b->lock);
	/* tx_size is 0 until a client has taken our end. */
	ok = lo->peer_token == a->token &&
	     lo->conn.tx_size == smc_clc_size_to_bytes(a->dmbe_size);
	spin_unlock_bh(&b->lock);
	return ok ? SMC_REASON_NONE : SMC_REASON_BAD_TOKEN;
}

static enum smc_reason lo_attach(struct smc_conn *c, struct smc_negotiated *neg,
				 const struct smc_clc_accept *a)
{
	struct lo_conn *lo = to_lo(c);

	return lo->server ? lo_verify(lo, a) : lo_take(lo, a);
}

/*
 * The other end, or NULL if it has ended and parted from this one. The caller holds tx_lock or
 * rx_lock.
 */
static struct smc_conn *lo_peer(struct smc_conn *c)
{
	struct lo_conn *peer;

	peer = rcu_dereference_protected(to_lo(c)->peer, lockdep_is_held(&c->tx_lock) ||
					 lockdep_is_held(&c->rx_lock));
	return peer ? &peer->conn : NULL;
}

static void move_prod(struct smc_conn *c, struct smc_conn *peer)
{
	smc_count_set_release(&peer->rx_prod, c->tx_prod);
	smc_conn_readable(peer);
}

/* Not inline, because it would cost lo_commit() a stack frame. */
static noinline void commit_odd(struct smc_conn *c, struct smc_conn *peer)
{
	if (READ_ONCE(peer->rx_unwanted)) {
		smc_conn_refuse(peer);
		/* Once it has been detached, it can tell us nothing any more. */
		smc_conn_peer_event(c, SMC_EV_PEER_ABORT);
		return;
	}
	if (READ_ONCE(peer->stamps))
		smc_stamps_arrived(peer, c->tx_prod);
	move_prod(c, peer);
}

static void lo_commit(struct smc_conn *c)
{
	struct smc_conn *peer = lo_peer(c);

	if (unlikely(!peer))
		return;
	/* Not READ_ONCE(), which the compiler does not fold into the comparison. */
	if (unlikely(data_race(peer->rx_odd)))
		commit_odd(c, peer);
	else
		move_prod(c, peer);
}

static void lo_consumed(struct smc_conn *c)
{
	struct smc_conn *peer = lo_peer(c);

	if (unlikely(!peer))
		return;
	smc_count_set_release(&peer->tx_cons, c->rx_cons);
	/* Pairs with smc_conn_ask_for_room().  model/window.pml: look for a blocked sender. */
	smp_mb();
	if (READ_ONCE(peer->tx_blocked))
		smc_conn_writable(peer);
}

/* The element of a peer that has ended does not grow: nobody will read it. */
static bool lo_grow(struct smc_conn *c)
{
	struct smc_conn *peer = lo_peer(c);

	return peer && !smc_conn_peer_gone(c) && smc_conn_grow(c, peer);
}

static void lo_may_grow(struct smc_conn *c)
{
	struct lo_conn *peer;

	rcu_read_lock();
	peer = rcu_dereference(to_lo(c)->peer);
	if (peer)
		smc_conn_retry_grow(&peer->conn);
	rcu_read_unlock();
}

#ifdef CONFIG_SMC_TEST
/* For tests: the peer knows of an urgent byte, but the byte has not arrived. */
static bool hold_urgent;
module_param(hold_urgent, bool, 0600);
MODULE_PARM_DESC(hold_urgent, "announce urgent bytes, and send them when this is cleared");
#endif

static void lo_urgent(struct smc_conn *c, enum smc_urgent_event news)
{
	struct smc_conn *peer;

	/* Senders do not wait until the peer has read an urgent byte. */
	if (news == SMC_URGENT_TAKEN)
		return;
	peer = lo_peer(c);
	if (!peer)
		return;
	if (news != SMC_URGENT_HERE) {
		smc_conn_urgent_pending(peer, news == SMC_URGENT_COMING);
		return;
	}
	smc_conn_urgent(peer, c->tx_urg);
	smc_test_hold(&hold_urgent);
	lo_commit(c);
}

static void lo_signal(struct smc_conn *c, enum smc_conn_flag flag)
{
	static const enum smc_conn_event event[] = {
		[SMC_FLAG_DONE]	  = SMC_EV_PEER_DONE,
		[SMC_FLAG_CLOSED] = SMC_EV_PEER_CLOSE,
		[SMC_FLAG_ABORT]  = SMC_EV_PEER_ABORT,
	};
	struct lo_conn *peer;

	rcu_read_lock();
	peer = rcu_dereference(to_lo(c)->peer);
	if (peer)
		smc_conn_peer_event(&peer->conn, event[flag]);
	rcu_read_unlock();
}

/* ---- the end ---- */

/* Under tx_lock nothing is copied into the peer's element, and later senders see its end. */
static void drop_peer_rmbe(struct lo_conn *lo)
{
	struct lo_conn *peer;

	lockdep_assert_held(&lo->conn.tx_lock);
	rcu_read_lock();
	/* If our end is detached at the same time, it may drop the last reference to the peer. */
	peer = rcu_dereference(lo->peer);
	if (peer && refcount_inc_not_zero(&peer->conn.ref)) {
		lo->conn.tx_buf = NULL;
		smc_conn_drop_rmbe(&peer->conn);
		smc_conn_put(&peer->conn);
	}
	rcu_read_unlock();
}

/*
 * Has the peer, which has been detached, left data unread? They have arrived after its close() had
 * looked for unread data, and before it refused any. If we had ended our stream, a TCP connection
 * would be in TIME_WAIT.
 */
static bool data_is_lost(struct lo_conn *lo)
{
	struct lo_conn *peer;
	bool lost;

	lockdep_assert_held(&lo->conn.tx_lock);
	rcu_read_lock();
	/* As in drop_peer_rmbe(). */
	peer = rcu_dereference(lo->peer);
	lost = peer && smc_conn_unread(&peer->conn) &&
	       !smc_conn_signaled(&peer->conn, SMC_FLAG_ABORT) &&
	       !smc_conn_signaled(&lo->conn, SMC_FLAG_DONE);
	rcu_read_unlock();
	return lost;
}

/*
 * Take from @lo its peer, which has been detached. The caller has a reference to @lo. Under both
 * locks no copy is in progress, and later ones find that the peer is gone: smc_conn.rx_flags says
 * so since before this call. The element, which is most of the memory, does not wait for a reader.
 */
static void part_from_peer(struct lo_conn *lo)
{
	struct smc_conn *c = &lo->conn;
	struct lo_conn *peer;
	bool lost;

	if (!smc_conn_trylock(&c->tx_lock, &c->tx_owed, SMC_OWED_PART))
		return;
	lost = data_is_lost(lo);
	if (smc_conn_trylock(&c->rx_lock, &c->rx_owed, SMC_OWED_PART)) {
		peer = unrcu_pointer(xchg(&lo->peer, NULL));
		smc_conn_rx_unlock(c);
		if (peer)
			smc_conn_put(&peer->conn);
	} else {
		drop_peer_rmbe(lo);
	}
	smc_conn_tx_unlock(c);
	if (unlikely(lost))
		smc_conn_peer_event(c, SMC_EV_PEER_ABORT);
}

static void lo_part(struct smc_conn *c)
{
	part_from_peer(to_lo(c));
}

static void part_work(struct work_struct *work)
{
	struct lo_conn *lo = container_of(work, struct lo_conn, part_work);

	part_from_peer(lo);
	smc_conn_put(&lo->conn);
}

static void lo_detach(struct smc_conn *c)
{
	struct lo_conn *lo = to_lo(c), *peer;
	struct lo_bucket *b = lo_bucket(lo->token);

	spin_lock_bh(&b->lock);
	if (!hlist_unhashed(&lo->node))
		hlist_del_init(&lo->node);
	spin_unlock_bh(&b->lock);
	atomic_dec(&lo->sn->n_smcd);
	lo->sn = NULL;
	/* No peer can be added any more.  If it is parting from us, it has our reference. */
	peer = unrcu_pointer(xchg(&lo->peer, NULL));
	if (!peer)
		return;
	/* The client may have taken our end after our handshake failed: tell it. */
	if (!smc_conn_peer_gone(&peer->conn))
		smc_conn_peer_event(&peer->conn, SMC_EV_PEER_ABORT);
	if (!in_interrupt()) {
		part_from_peer(peer);
		smc_conn_put(&peer->conn);
	} else {
		/*
		 * Only process context may try a mutex, and not with the spinlock of a socket, as
		 * when a listener closes its children. The work item gets our reference.
		 */
		INIT_WORK(&peer->part_work, part_work);
		queue_work(smc_wq, &peer->part_work);
	}
}

/* @reason: receives why there is no memory, if this may sleep. */
static struct lo_conn *lo_new_end(struct smc_fabric *f, struct smc_pair_end *e, bool server,
				  bool atomic, int *reason)
{
	struct mem_cgroup *old = set_active_memcg(e->memcg);
	struct lo_conn *lo = lo_new(f, smc_net(sock_net(e->sk)), &e->want, server, atomic);

	e->fails = !lo;
	if (!lo && !atomic)
		*reason = smc_rmbe_refusal();
	set_active_memcg(old);
	if (lo)
		lo->conn.version = SMC_CLC_V2;
	return lo;
}

static int lo_pair(struct smc_fabric *f, struct smc_pair_end *client,
		   struct smc_pair_end *server, bool atomic)
{
	struct lo_conn *c, *s;
	int rc = -EAGAIN;

	/* Both ends have the EIDs of this host: any EID is a common one. */
	if (!smc_eids_any())
		return SMC_REASON_NO_COMMON_EID;
	/* As in CLC, a server without memory declines before the client allocates any. */
	s = lo_new_end(f, server, true, atomic, &rc);
	c = s ? lo_new_end(f, client, false, atomic, &rc) : NULL;
	if (!c) {
		if (s) {
			lo_detach(&s->conn);
			smc_conn_put(&s->conn);
		}
		return rc;
	}
	lo_join(c, s);
	lo_join(s, c);
	client->conn = &c->conn;
	server->conn = &s->conn;
	return 0;
}

static void lo_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(lo_cache, container_of(rcu, struct lo_conn, rcu));
}

static void lo_free(struct smc_conn *c)
{
	smc_conn_destroy(c);
	call_rcu(&to_lo(c)->rcu, lo_free_rcu);
}

static void lo_show(struct smc_conn *c, struct smc_sock_info *info)
{
	const struct lo_conn *lo = to_lo(c);

	info->linkid = LO_GROUP;
	info->my_gid = lo_gid;
	info->peer_gid = lo_gid;
	info->token = lo->token;
	info->peer_token = READ_ONCE(lo->peer_token);
}

/* The EID that a new connection would get. */
static void show_eid(u8 *eid)
{
	struct smc_eids own;

	smc_eids_copy(&own);
	memcpy(eid, own.n ? own.ueid[0] : own.seid, SMC_EID_LEN);
}

/*
 * Loopback has no link groups.  Show what all connections of the namespace have in common as
 * one group.
 */
static int lo_groups(struct smc_fabric *f, struct smc_net *sn, struct smc_walk *w)
{
	struct smc_group_info info = {
		.id		= LO_GROUP,
		.version	= SMC_CLC_V2,
		.release	= 1,
		.peer_os	= SMC_CLC_OS_LINUX,
		.n_conns	= atomic_read(&sn->n_smcd),
		.gid		= lo_gid,
		.gid_ext	= lo_gid_ext,
		.peer_gid	= lo_gid,
		.peer_gid_ext	= lo_gid_ext,
		.chid		= LO_CHID,
	};
	int rc;

	/* The same listing also contains the link groups of ISM devices. */
	w->seq = smcd_lgrs_seq(sn);
	if (w->after || !info.n_conns)
		return 0;
	show_eid(info.eid);
	strscpy(info.peer_host, init_utsname()->nodename, sizeof(info.peer_host));
	info.rx_bytes = smc_pools_bytes(sn->pools);
	smc_pnet_of_port(sn, &lo_port, info.pnetid);
	rc = w->group(&info, w);
	if (!rc)
		w->after = info.id;
	return rc;
}

/* What is published has been copied into the peer's element before. */
static u64 lo_arrived(struct smc_conn *c)
{
	return smc_count_read(&c->tx_prod);
}

/* Both ends see the cursor in memory: no update is needed. */
static void lo_request_update(struct smc_conn *c)
{
}

/* Both ends share a kernel: there is nothing to probe. */
static void lo_keepalive(struct smc_conn *c, unsigned int seconds)
{
}

static int lo_devices(struct smc_fabric *f, struct smc_net *sn, struct smc_walk *w)
{
	struct smc_dev_info info = {
		.number		= SMC_LOOPBACK_NUMBER,
		.name		= LO_NAME,
		.n_users	= !!atomic_read(&sn->n_smcd),
		/* An answer has no other attribute for the name. */
		.is_pci		= true,
		.pci_chid	= LO_CHID,
		.pci_id		= LO_NAME,
		.n_ports	= 1,
	};
	int rc;

	w->seq = smcd_devs_seq();
	if (w->after)
		return 0;
	info.ports[0].active = true;
	info.ports[0].by_user = smc_pnet_of_port(sn, &lo_port, info.ports[0].pnetid);
	rc = w->dev(&info, w);
	if (!rc)
		w->after = info.number;
	return rc;
}

static int __net_init lo_net_init(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	sn->pools = smc_pools_new(sn->mem_limit, &smc_own_buf_ops, NULL);
	return sn->pools ? 0 : -ENOMEM;
}

static void __net_exit lo_net_exit(struct net *net)
{
	smc_pools_close(smc_net(net)->pools);
}

static struct pernet_operations lo_net_ops = {
	.init	= lo_net_init,
	.exit	= lo_net_exit,
};

static const struct smc_conn_ops lo_conn_ops = {
	.name		= LO_NAME,
	.diag_mode	= SMC_DIAG_MODE_SMCD,
	.fin_in_order	= true,
	.commit		= lo_commit,
	.consumed	= lo_consumed,
	.grow		= lo_grow,
	.may_grow	= lo_may_grow,
	.part		= lo_part,
	.urgent		= lo_urgent,
	.arrived	= lo_arrived,
	.request_update	= lo_request_update,
	.keepalive	= lo_keepalive,
	.signal		= lo_signal,
	.detach		= lo_detach,
	.free		= lo_free,
	.show		= lo_show,
};

static const struct smc_fabric_ops lo_ops = {
	.conn		= &lo_conn_ops,
	.usable		= lo_usable,
	.offer		= lo_offer,
	.choose		= lo_choose,
	.accepts	= lo_accepts,
	.forget		= lo_forget,
	.conn_new	= lo_conn_new,
	.describe	= lo_describe,
	.attach		= lo_attach,
	.refused	= lo_refused,
	.pair		= lo_pair,
	.groups		= lo_groups,
	.devices	= lo_devices,
};

static struct smc_fabric lo_fabric = { .ops = &lo_ops };

/**
 * smc_loopback_init() - create the loopback fabric
 *
 * Return: 0 or a negative errno.
 */
int __init smc_loopback_init(void)
{
	uuid_t uuid;
	int i, rc;

	for (i = 0; i < ARRAY_SIZE(lo_table); i++) {
		smc_spin_lock_init(&lo_table[i].lock, SMC_LOCK_LO_BUCKET);
		INIT_HLIST_HEAD(&lo_table[i].offered);
	}
	uuid_gen(&uuid);
	lo_gid = get_unaligned_be64(uuid.b);
	lo_gid_ext = get_unaligned_be64(uuid.b + sizeof(lo_gid));
	lo_cache = KMEM_CACHE(lo_conn, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	if (!lo_cache)
		return -ENOMEM;
	rc = register_pernet_subsys(&lo_net_ops);
	if (rc)
		goto err_cache;
	rc = smc_fabric_register(&lo_fabric);
	if (!rc)
		return 0;
	unregister_pernet_subsys(&lo_net_ops);
err_cache:
	kmem_cache_destroy(lo_cache);
	return rc;
}

void smc_loopback_exit(void)
{
	smc_fabric_unregister(&lo_fabric);
	unregister_pernet_subsys(&lo_net_ops);
	rcu_barrier();
	kmem_cache_destroy(lo_cache);
}
