// SPDX-License-Identifier: GPL-2.0
/* A connection over SMC-R from its handshake to its end. */
#include <linux/etherdevice.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include "../../../mem/charge.h"
#include "../../../netns.h"
#include "../../fabric.h"
#include "../lgr/lgr.h"
#include "rdma_conn.h"

/* Number of links of a group if the version does not negotiate it. */
#define DEFAULT_LINKS	2

/**
 * smc_rdma_conn_new() - smc_fabric_ops.conn_new
 * @f: the fabric
 * @sk: the socket
 * @neg: the result of the negotiation
 * @want: buffer sizes
 *
 * smc_rdma_prepare() adds link group and element.
 *
 * Return: the connection, or ERR_PTR(-ENOMEM).
 */
struct smc_conn *smc_rdma_conn_new(struct smc_fabric *f, struct sock *sk,
				   struct smc_negotiated *neg,
				   const struct smc_wanted *want)
{
	struct rdma_conn *rconn = kzalloc(sizeof(*rconn), SMC_GFP_CHARGED);

	if (!rconn)
		return ERR_PTR(-ENOMEM);
	smc_conn_init(&rconn->base.msg.conn, f->ops->conn, NULL);
	rconn->base.msg.ops = &smc_cdc_ops;
	rconn->base.cut_off = smc_cdc_cut_off;
	rconn->base.move = smc_rdma_move;
	rconn->base.sn = smc_net(sock_net(sk));
	rconn->server = neg->server;
	rconn->rcvbuf = want->rcvbuf;
	rconn->sndbuf = want->sndbuf;
	INIT_LIST_HEAD(&rconn->base.wait);
	INIT_LIST_HEAD(&rconn->base.rkey_wait);
	INIT_LIST_HEAD(&rconn->base.kept);
	INIT_LIST_HEAD(&rconn->base.sender.pend);
	return &rconn->base.msg.conn;
}

static enum smc_reason group_reason(int err)
{
	switch (err) {
	case -ENOMEM:
		return SMC_REASON_NO_MEMORY;
	case -EACCES:
		return smc_rmbe_refusal();
	case -EDQUOT:
		return SMC_REASON_MAX_CONNS;
	default:
		return SMC_REASON_NO_DEVICE;
	}
}

/* Create a link group.  Returns 0, -EAGAIN if another task was faster, or a negative errno. */
static int create_group(struct rdma_conn *rconn, struct smc_negotiated *neg,
			const struct smc_lgr_key *key)
{
	struct rdma_negotiated *rneg = neg->priv;
	int err;

	err = smc_rdma_path_hold(&rneg->path);
	if (err)
		return err;
	/* The link gets a reference of its own. */
	err = smc_lgr_create(&rconn->base, rconn->base.sn, key, &rneg->path);
	smc_rdma_path_put(&rneg->path);
	if (!err) {
		rconn->first = true;
		neg->first_contact = true;
	}
	return err;
}

/* Find or create the link group.  Returns 0, -EAGAIN, or a reason. */
static int get_group(struct rdma_conn *rconn, struct smc_negotiated *neg)
{
	const struct rdma_negotiated *rneg = neg->priv;
	const struct smc_lgr_key key = {
		.server		= neg->server,
		.version	= neg->version,
		.release	= neg->release,
		.peer_id	= rneg->peer_id,
		.eid		= neg->eid,
		.peer_mac	= rneg->peer_mac,
		.peer_gid	= rneg->peer_gid.raw,
		.peer_qpn	= rneg->peer_qpn,
		.tcp_peer	= &rneg->tcp_peer,
		.network	= &rneg->network,
		.vlan_id	= rneg->path.vlan_id,
		.max_conns	= neg->max_conns ?: SMC_LGR_MAX_CONNS,
		.max_links	= neg->max_links ?: DEFAULT_LINKS,
	};
	int err = -ENOENT;

	if (neg->server || !neg->first_contact)
		err = smc_lgr_join(&rconn->base, rconn->base.sn, &key);
	if (err == -ENOENT && !neg->server && !neg->first_contact)
		return SMC_REASON_OUT_OF_SYNC;
	if (err == -ENOENT) {
		err = create_group(rconn, neg, &key);
		if (err == -EAGAIN)
			err = smc_lgr_join(&rconn->base, rconn->base.sn, &key);
		/* The peer's groups may accept no new connections because of abandoned ones. */
		if (err == -EDQUOT)
			smc_lgr_relieve_peer(rconn->base.sn, &key);
	}
	return err && err != -EAGAIN ? (int)group_reason(err) : err;
}

static void __set_told(struct rdma_conn *rconn, const struct smc_link *link,
		       const struct ib_mr *mr)
{
	struct rdma_told *told = &rconn->told;

	lockdep_assert_held(&rconn->base.lgr->setup_lock);
	memcpy(told->gid, link->path.gid.raw, sizeof(told->gid));
	ether_addr_copy(told->mac, link->path.mac);
	told->mtu = link->path.mtu;
	told->direct = link->hop.direct;
	told->psn = link->psn;
	told->qpn = link->qp->qp_num;
	told->rkey = mr->rkey;
	told->rmb_addr = mr->iova;
}

/*
 * The connection's link may be down, and failover may not have come to the connection yet.  Nothing
 * was sent over the link, so take another one now.  Returns NULL if no link works.
 */
static struct smc_link *__take_working_link(struct rdma_conn *rconn)
{
	struct smc_link *link = rconn->base.sender.link;

	lockdep_assert_held(&rconn->base.lgr->setup_lock);
	if (rconn->first || smc_link_works(link))
		return link;
	link = smc_lgr_working_link(rconn->base.lgr);
	if (link)
		smc_lgr_set_link(&rconn->base, link);
	return link;
}

/*
 * After its Accept a server cannot fall back to TCP any more, so it must not lack a send ring then.
 * A client gets one when it knows how large the peer's element is.
 */
static bool __has_ring(struct rdma_conn *rconn)
{
	lockdep_assert_held(&rconn->base.lgr->setup_lock);
	if (rconn->server && !rconn->tx_ring)
		rconn->tx_ring = smc_rmbe_get(rconn->base.lgr->txbufs, rconn->sndbuf);
	return !rconn->server || rconn->tx_ring;
}

/* Get an element of an RMB that device and peer know.  Returns 0, -EAGAIN or another errno. */
static int __get_rmbe(struct rdma_conn *rconn)
{
	struct smc_conn *c = &rconn->base.msg.conn;
	const struct ib_mr *mr;
	struct smc_link *link;
	struct smc_rmbe *rmbe;
	struct smc_rmb *rmb;
	int err = 0;

	lockdep_assert_held(&rconn->base.lgr->setup_lock);
	if (rconn->base.lgr->dead)
		return -ENODEV;
	link = __take_working_link(rconn);
	if (!link)
		return -ENODEV;
	if (!c->rmbe) {
		rmbe = smc_rmbe_get(rconn->base.lgr->rmbs, rconn->rcvbuf);
		if (!rmbe)
			return -EACCES;
		smc_conn_set_rmbe(c, rmbe);
		/* From here on the receive path takes messages. */
		smp_store_release(&rconn->base.rx_link, link);
	}
	if (!__has_ring(rconn))
		return -EACCES;
	rmb = smc_rmbe_rmb(c->rmbe);
	if (!rmb)
		return -ENODEV;
	mr = smc_mem_mr(rmb, link);
	if (!mr)
		return -ENODEV;
	__set_told(rconn, link, mr);
	if (rconn->first) {
		/* The RMB's key travels in our Accept or Confirm. */
		smc_mem_confirmed(rmb, true);
		return 0;
	}
	err = smc_mem_register(rmb);
	return err ?: smc_llc_begin_confirm_rkey(rconn->base.lgr, rmb, &rconn->base);
}

/**
 * smc_rdma_prepare() - smc_fabric_ops.prepare
 * @c: the connection
 * @neg: the result of the negotiation
 * @a: the Accept on the client
 *
 * Return: 0 on success, -EAGAIN while the connection has to wait, or a reason to decline.
 */
int smc_rdma_prepare(struct smc_conn *c, struct smc_negotiated *neg,
		     const struct smc_clc_accept *a)
{
	struct rdma_conn *rconn = to_rdma(c);
	int err;

	if (!rconn->base.lgr) {
		err = get_group(rconn, neg);
		if (err)
			return err;
	}
	if (rconn->first) {
		err = smc_lgr_next_hop(&rconn->base);
		if (err)
			return err == -EAGAIN ? err : (int)group_reason(err);
	}
	mutex_lock(&rconn->base.lgr->setup_lock);
	err = __get_rmbe(rconn);
	mutex_unlock(&rconn->base.lgr->setup_lock);
	return err && err != -EAGAIN ? (int)group_reason(err) : err;
}

/* The incumbent's Proposal of version 2 has a peer ID of zeros. */
static bool same_peer(const struct smc_lgr *lgr, const u8 *peer_id)
{
	return !memchr_inv(lgr->peer_id, 0, sizeof(lgr->peer_id)) ||
	       !memcmp(peer_id, lgr->peer_id, sizeof(lgr->peer_id));
}

/* Store the peer's end of a new link, and connect the link. */
static enum smc_reason __connect(struct rdma_conn *rconn, const struct smc_clc_accept *a)
{
	struct smc_link *link = rconn->base.sender.link;
	struct smc_lgr *lgr = rconn->base.lgr;
	union ib_gid gid;

	lockdep_assert_held(&lgr->setup_lock);
	smc_rdma_gid_from_wire(&gid, a->roce_gid);
	/* The client's Proposal has named its RNIC, but need not have given the MAC address. */
	if (is_zero_ether_addr(link->peer_mac))
		ether_addr_copy(link->peer_mac, a->mac);
	if (memcmp(gid.raw, link->peer_gid.raw, sizeof(gid)) ||
	    memcmp(a->mac, link->peer_mac, ETH_ALEN) || !same_peer(lgr, a->peer_id))
		return SMC_REASON_BAD_CONFIRM;
	if (!smc_link_peer_valid(a->qpn, a->mac))
		return SMC_REASON_BAD_CONFIRM;
	link->peer_qpn = a->qpn;
	link->peer_psn = a->psn;
	link->peer_mtu = a->mtu;
	if (!smc_clc_mtu_valid(a->mtu))
		return SMC_REASON_UNKNOWN_ENUM;
	lgr->peer_os = a->os_type;
	strscpy(lgr->hostname, a->hostname, sizeof(lgr->hostname));
	smc_lgr_set_peer_gids(lgr, a);
	if (smc_link_connect(link) || smc_mem_register(smc_rmbe_rmb(rconn->base.msg.conn.rmbe)))
		return SMC_REASON_NO_DEVICE;
	return SMC_REASON_NONE;
}

/* A subsequent contact must name a link of the group, which may be down by now. */
static struct smc_link *__link_of(struct smc_lgr *lgr, const struct smc_clc_accept *a)
{
	union ib_gid gid;

	lockdep_assert_held(&lgr->setup_lock);
	smc_rdma_gid_from_wire(&gid, a->roce_gid);
	return __smc_lgr_named_link(lgr, a->mac, gid.raw, &a->qpn);
}

/* Get our send ring.  The peer's element is not smaller, so it wraps only where the ring does. */
static int __get_ring(struct rdma_conn *rconn)
{
	struct smc_conn *c = &rconn->base.msg.conn;
	struct smc_rmb *mem;

	lockdep_assert_held(&rconn->base.lgr->setup_lock);
	rconn->tx_ring = smc_rmbe_fit(rconn->base.lgr->txbufs, rconn->tx_ring,
				      min(rconn->sndbuf, c->peer_size));
	if (!rconn->tx_ring)
		return -ENOMEM;
	mem = smc_rmbe_rmb(rconn->tx_ring);
	if (!mem || smc_mem_register(mem))
		return -ENODEV;
	c->tx_size = min(smc_rmbe_size(rconn->tx_ring), c->peer_size);
	c->tx_how = smc_rmbe_how(rconn->tx_ring);
	c->dev = rconn->base.lgr->dev_name;
	c->tx_buf = smc_rmbe_data(rconn->tx_ring);
	return 0;
}

/* Find the peer's RMB.  A first contact's CLC announces it; otherwise LLC has done so before. */
static int __get_rtoken(struct rdma_conn *rconn, const struct smc_link *named,
			const struct smc_clc_accept *a)
{
	struct smc_lgr *lgr = rconn->base.lgr;
	unsigned int link = smc_lgr_link_index(lgr, named);

	lockdep_assert_held(&lgr->setup_lock);
	return rconn->first ? smc_rtoken_add(lgr, link, a->rkey, a->rmb_addr) :
			      smc_rtoken_find(lgr, link, a->rkey, a->rmb_addr);
}

/**
 * smc_rdma_on_link() - get keys and addresses for posts over a link
 * @rconn: the connection, which has a send ring and knows the peer's element
 * @link: the link
 * @on: receives keys and addresses
 *
 * Context: process, under smc_lgr.setup_lock.
 * Return: 0 on success, a negative errno if our ring or the peer's RMB has no key on this link.
 */
int smc_rdma_on_link(struct rdma_conn *rconn, const struct smc_link *link,
		     struct rdma_on_link *on)
{
	const struct ib_mr *mr = smc_mem_mr(smc_rmbe_rmb(rconn->tx_ring), link);
	const struct smc_conn *c = &rconn->base.msg.conn;
	u64 rmb, end;
	int rc;

	lockdep_assert_held(&rconn->base.lgr->setup_lock);
	if (!mr)
		return -ENODEV;
	rc = smc_rtoken_get(rconn->base.lgr, rconn->base.rtoken,
			    smc_lgr_link_index(rconn->base.lgr, link), &on->rkey, &rmb);
	if (rc)
		return rc;
	if (check_add_overflow(rmb, (u64)rconn->base.peer_idx * c->peer_size, &end))
		return -EOVERFLOW;
	on->addr = end - c->peer_size;
	on->lkey = mr->lkey;
	on->dma = mr->iova + (u64)smc_rmbe_index(rconn->tx_ring) *
			      smc_rmbe_size(rconn->tx_ring);
	return 0;
}

static enum smc_reason __attach(struct rdma_conn *rconn, const struct smc_clc_accept *a)
{
	struct smc_lgr *lgr = rconn->base.lgr;
	struct smc_link *named = rconn->base.sender.link;
	enum smc_reason reason = SMC_REASON_NONE;
	int rtoken;

	lockdep_assert_held(&lgr->setup_lock);
	if (lgr->dead || a->smcd)
		return lgr->fail ?: SMC_REASON_OUT_OF_SYNC;
	if (rconn->first)
		reason = __connect(rconn, a);
	else
		named = __link_of(lgr, a);
	if (reason || !named)
		return reason ?: SMC_REASON_OUT_OF_SYNC;
	rtoken = __get_rtoken(rconn, named, a);
	if (rtoken < 0 || !a->rmbe_idx)
		return SMC_REASON_BAD_TOKEN;
	rconn->base.rtoken = rtoken;
	rconn->base.msg.conn.peer_size = smc_clc_size_to_bytes(a->rmbe_size);
	rconn->peer_token = a->alert_token;
	rconn->base.peer_idx = a->rmbe_idx;
	if (__get_ring(rconn))
		return smc_rmbe_refusal();
	smc_lgr_claim_rmbe(&rconn->base);
	/* A new ring has no key on a link that is down. */
	__take_working_link(rconn);
	if (smc_rdma_on_link(rconn, rconn->base.sender.link, &rconn->on_link))
		return SMC_REASON_BAD_TOKEN;
	/* The receive path reads this without a lock. */
	smp_store_release(&rconn->base.msg.attached, true);
	return SMC_REASON_NONE;
}

/**
 * smc_rdma_attach() - smc_fabric_ops.attach
 * @c: the connection
 * @neg: the result of the negotiation
 * @a: the Accept on the client, the Confirm on the server
 *
 * Return: SMC_REASON_NONE, or the reason to decline.
 */
enum smc_reason smc_rdma_attach(struct smc_conn *c, struct smc_negotiated *neg,
				const struct smc_clc_accept *a)
{
	struct rdma_conn *rconn = to_rdma(c);
	enum smc_reason reason;

	mutex_lock(&rconn->base.lgr->setup_lock);
	reason = __attach(rconn, a);
	mutex_unlock(&rconn->base.lgr->setup_lock);
	if (reason)
		return reason;
	/*
	 * The client may have aborted before we read its Confirm, and waits for our answer.  Pairs
	 * with the barrier in smc_msg_signal(): we see the flag, or it sees @attached.
	 */
	smp_mb();
	smc_cdc_commit(c);
	if (rconn->first)
		smc_llc_first_contact(rconn->base.lgr);
	return SMC_REASON_NONE;
}

/**
 * smc_rdma_finish() - smc_fabric_ops.finish: is the link of a first contact confirmed?
 * @c: the connection
 * @committed: receives whether it is too late to fall back (RFC 7609, C.2 and C.3)
 *
 * Return: 0, -EAGAIN, -EINPROGRESS or a reason, see smc_fabric_ops.finish.
 */
int smc_rdma_finish(struct smc_conn *c, bool *committed)
{
	struct rdma_conn *rconn = to_rdma(c);
	struct smc_lgr *lgr = rconn->base.lgr;

	if (rconn->first && smc_lgr_await(&rconn->base)) {
		*committed = smc_llc_no_return(lgr);
		return smc_llc_up_for_peer(lgr) ? -EINPROGRESS : -EAGAIN;
	}
	if (READ_ONCE(lgr->state) == SMC_LGR_ACTIVE)
		return 0;
	*committed = !rconn->first || smc_llc_no_fallback(lgr);
	return lgr->fail ?: SMC_REASON_INTERNAL;
}

/**
 * smc_rdma_refused() - smc_fabric_ops.refused
 * @c: the connection
 * @out_of_sync: the peer says that it does not have our link group (RFC 7609, C.4)
 *
 * A Decline proves nothing; a test of the links shows whether the peer still has the group.
 */
void smc_rdma_refused(struct smc_conn *c, bool out_of_sync)
{
	struct rdma_conn *rconn = to_rdma(c);

	set_bit(SMC_MSG_PEER_ENDED, &rconn->base.msg.bits);
	if (!out_of_sync)
		return;
	if (rconn->first)
		smc_lgr_end(rconn->base.lgr, SMC_REASON_OUT_OF_SYNC);
	else if (rconn->base.lgr)
		smc_llc_test_now(rconn->base.lgr, true);
}

/*
 * The handshake of a server has failed after its Accept. The client may write into the element
 * until it lets go, but nothing was ever posted from the ring.
 */
static void drop_unused_ring(struct rdma_conn *rconn)
{
	if (rconn->base.msg.attached || !rconn->tx_ring)
		return;
	smc_rmbe_put(rconn->tx_ring);
	rconn->tx_ring = NULL;
	smc_lgr_retire(rconn->base.lgr);
}

/**
 * smc_rdma_detach() - smc_conn_ops.detach
 * @c: the connection
 */
void smc_rdma_detach(struct smc_conn *c)
{
	struct rdma_conn *rconn = to_rdma(c);

	smc_lgr_unwait(&rconn->base);
	if (rconn->base.lgr)
		smc_llc_unwait(&rconn->base);
	/* Only the connection of the first contact can complete the link group. */
	if (rconn->first && READ_ONCE(rconn->base.lgr->state) == SMC_LGR_NEW)
		smc_lgr_end(rconn->base.lgr, SMC_REASON_INTERNAL);
	drop_unused_ring(rconn);
	smc_msg_detach(c);
}

static void conn_free_rcu(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct rdma_conn, rcu));
}

/**
 * smc_rdma_conn_free() - smc_conn_ops.free
 * @c: the connection
 */
void smc_rdma_conn_free(struct smc_conn *c)
{
	struct rdma_conn *rconn = to_rdma(c);

	if (rconn->tx_ring)
		smc_rmbe_put(rconn->tx_ring);
	smc_conn_destroy(c);
	if (rconn->base.lgr)
		smc_lgr_put(rconn->base.lgr);
	call_rcu(&rconn->rcu, conn_free_rcu);
}
