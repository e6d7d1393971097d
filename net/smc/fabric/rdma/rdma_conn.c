// SPDX-License-Identifier: GPL-2.0
/* A connection over SMC-R from its handshake to its end. */
#include <linux/etherdevice.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include "../../group/charge.h"
#include "../../netns.h"
#include "../fabric.h"
#include "lgr.h"
#include "rdma_conn.h"

/* Links of a group whose version says nothing about them. */
#define DEFAULT_LINKS	2

/**
 * smc_rdma_conn_new() - smc_fabric_ops.conn_new
 * @f: the fabric
 * @sk: the socket
 * @neg: what was negotiated
 * @want: buffer sizes
 *
 * Link group and element come in smc_rdma_prepare().
 */
struct smc_conn *smc_rdma_conn_new(struct smc_fabric *f, struct sock *sk,
				   struct smc_negotiated *neg,
				   const struct smc_wanted *want)
{
	struct rdma_conn *rc = kzalloc(sizeof(*rc), SMC_GFP_CHARGED);

	if (!rc)
		return ERR_PTR(-ENOMEM);
	smc_conn_init(&rc->conn, f, NULL);
	rc->sn = smc_net(sock_net(sk));
	rc->server = neg->server;
	rc->rcvbuf = want->rcvbuf;
	rc->sndbuf = want->sndbuf;
	INIT_LIST_HEAD(&rc->wait);
	INIT_LIST_HEAD(&rc->rkey_wait);
	INIT_LIST_HEAD(&rc->pend);
	return &rc->conn;
}

static enum smc_reason group_reason(int err)
{
	switch (err) {
	case -ENOMEM:
		return SMC_REASON_NO_MEMORY;
	case -EACCES:
		return SMC_REASON_NO_BUFFER;
	case -EDQUOT:
		return SMC_REASON_MAX_CONNS;
	default:
		return SMC_REASON_NO_DEVICE;
	}
}

/* Find the link group, or make one.  0, -EAGAIN, or a reason. */
static int get_group(struct rdma_conn *rc, struct smc_negotiated *neg)
{
	const struct rdma_found *found = neg->priv;
	const struct smc_lgr_key key = {
		.server		= neg->server,
		.version	= neg->version,
		.release	= neg->release,
		.peer_id	= found->peer_id,
		.eid		= neg->eid,
		.peer_mac	= found->peer_mac,
		.peer_gid	= found->peer_gid.raw,
		.peer_qpn	= found->peer_qpn,
		.tcp_peer	= &found->tcp_peer,
		.vlan_id	= found->path.vlan_id,
		.max_conns	= neg->max_conns ?: SMC_LGR_MAX_CONNS,
		.max_links	= neg->max_links ?: DEFAULT_LINKS,
	};
	int err = -ENOENT;

	if (neg->server || !neg->first_contact)
		err = smc_lgr_join(rc, rc->sn, &key);
	if (err == -ENOENT && !neg->server && !neg->first_contact)
		return SMC_REASON_OUT_OF_SYNC;
	if (err == -ENOENT) {
		err = smc_lgr_create(rc, rc->sn, &key, &found->path);
		if (!err) {
			rc->first = true;
			neg->first_contact = true;
		} else if (err == -EAGAIN) {
			/* Somebody else was faster. */
			err = smc_lgr_join(rc, rc->sn, &key);
		}
	}
	return err && err != -EAGAIN ? (int)group_reason(err) : err;
}

/* An element of an RMB that the device, and the peer, know.  0, -EAGAIN or errno. */
static int __get_rmbe(struct rdma_conn *rc)
{
	struct smc_conn *c = &rc->conn;
	struct smc_elem *elem;
	struct smc_rmb *rmb;
	int err = 0;

	lockdep_assert_held(&rc->lgr->life);
	if (rc->lgr->over)
		return -ENODEV;
	if (!c->elem) {
		elem = smc_elem_get(rc->lgr->rmbs, rc->rcvbuf);
		if (!elem)
			return -EACCES;
		smc_conn_set_elem(c, elem);
	}
	rmb = smc_elem_rmb(c->elem);
	if (!rmb)
		return -ENODEV;
	rc->qpn = rc->link->qp->qp_num;
	rc->rkey = rmb->mr->rkey;
	rc->rmb_addr = rmb->mr->iova;
	if (rc->first) {
		/* Its key travels in our Accept or Confirm. */
		smc_mem_confirmed(rmb, true);
		return 0;
	}
	err = smc_mem_register(rmb);
	return err ?: smc_llc_confirm_rkey(rc->lgr, rmb, rc);
}

/**
 * smc_rdma_prepare() - smc_fabric_ops.prepare
 * @c: the connection
 * @neg: what was negotiated
 * @a: the Accept on the client
 */
int smc_rdma_prepare(struct smc_conn *c, struct smc_negotiated *neg,
		     const struct smc_clc_accept *a)
{
	struct rdma_conn *rc = to_rdma(c);
	struct rdma_found *found = neg->priv;
	int err;

	if (!rc->lgr) {
		err = get_group(rc, neg);
		if (err)
			return err;
		/* The link has its own reference; the peer may take its time, the device not. */
		smc_rdma_path_put(&found->path);
	}
	mutex_lock(&rc->lgr->life);
	err = __get_rmbe(rc);
	mutex_unlock(&rc->lgr->life);
	return err && err != -EAGAIN ? (int)group_reason(err) : err;
}

/* The Proposal of the incumbent, version 2, has zeros for its peer ID. */
static bool same_peer(const struct smc_lgr *lgr, const u8 *peer_id)
{
	return !memchr_inv(lgr->peer_id, 0, sizeof(lgr->peer_id)) ||
	       !memcmp(peer_id, lgr->peer_id, sizeof(lgr->peer_id));
}

/* The peer's end of a new link. */
static enum smc_reason __connect(struct rdma_conn *rc, const struct smc_clc_accept *a)
{
	struct smc_link *link = rc->link;
	struct smc_lgr *lgr = rc->lgr;
	union ib_gid gid;

	smc_rdma_gid_from_wire(&gid, a->roce_gid);
	/* The client has named its RNIC in the Proposal, if not by its MAC address. */
	if (is_zero_ether_addr(link->peer_mac)) {
		ether_addr_copy(link->peer_mac, a->mac);
		if (smc_link_next_hop(link))
			return SMC_REASON_NO_DEVICE;
	}
	if (memcmp(gid.raw, link->peer_gid.raw, sizeof(gid)) ||
	    memcmp(a->mac, link->peer_mac, ETH_ALEN) || !same_peer(lgr, a->peer_id))
		return SMC_REASON_BAD_CONFIRM;
	/* No queue pair has a number that is reserved, no RNIC a group's address. */
	if (a->qpn < 2 || a->qpn == 0xffffff ||
	    !is_valid_ether_addr(a->mac))
		return SMC_REASON_BAD_CONFIRM;
	link->peer_qpn = a->qpn;
	link->peer_psn = a->psn;
	link->peer_mtu = a->mtu;
	if (!smc_clc_mtu_valid(a->mtu))
		return SMC_REASON_UNKNOWN_ENUM;
	lgr->peer_os = a->os_type;
	strscpy(lgr->hostname, a->hostname, sizeof(lgr->hostname));
	if (smc_link_connect(link) || smc_mem_register(smc_elem_rmb(rc->conn.elem)))
		return SMC_REASON_NO_DEVICE;
	return SMC_REASON_NONE;
}

/* On a subsequent contact the peer must mean the link that exists. */
static bool same_link(const struct smc_link *link, const struct smc_clc_accept *a)
{
	union ib_gid gid;

	smc_rdma_gid_from_wire(&gid, a->roce_gid);
	return a->qpn == link->peer_qpn && !memcmp(a->mac, link->peer_mac, ETH_ALEN) &&
	       !memcmp(gid.raw, link->peer_gid.raw, sizeof(gid));
}

/* Our send ring: no larger than the peer's element, so that both wrap together. */
static int __get_ring(struct rdma_conn *rc)
{
	u32 size = min_t(u32, smc_clc_size_to_bytes(smc_clc_size_from_bytes(rc->sndbuf)),
			 rc->peer_size);
	struct smc_conn *c = &rc->conn;
	struct smc_rmb *mem;

	rc->tx_elem = smc_elem_get(rc->lgr->txbufs, size);
	if (!rc->tx_elem)
		return -ENOMEM;
	mem = smc_elem_rmb(rc->tx_elem);
	if (!mem || smc_mem_register(mem))
		return -ENODEV;
	c->tx_size = smc_elem_size(rc->tx_elem);
	c->tx_how = smc_elem_how(rc->tx_elem);
	c->peer_size = rc->peer_size;
	c->dev = rc->lgr->dev_name;
	rc->tx_lkey = mem->mr->lkey;
	rc->tx_dma = mem->mr->iova + (u64)smc_elem_index(rc->tx_elem) * c->tx_size;
	c->tx_buf = smc_elem_data(rc->tx_elem);
	return 0;
}

static enum smc_reason __attach(struct rdma_conn *rc, const struct smc_clc_accept *a)
{
	struct smc_lgr *lgr = rc->lgr;
	enum smc_reason reason = SMC_REASON_NONE;
	u64 end;

	lockdep_assert_held(&lgr->life);
	if (lgr->over || a->smcd)
		return lgr->fail ?: SMC_REASON_OUT_OF_SYNC;
	if (rc->first)
		reason = __connect(rc, a);
	else if (!same_link(rc->link, a))
		reason = SMC_REASON_OUT_OF_SYNC;
	else if (!smc_rtoken_known(lgr, 0, a->rkey, a->rmb_addr))
		reason = SMC_REASON_BAD_TOKEN;
	if (reason)
		return reason;
	rc->peer_size = smc_clc_size_to_bytes(a->rmbe_size);
	rc->peer_token = a->alert_token;
	rc->peer_rkey = a->rkey;
	rc->peer_idx = a->rmbe_idx;
	if (!a->rmbe_idx ||
	    check_add_overflow(a->rmb_addr, (u64)a->rmbe_idx * rc->peer_size, &end))
		return SMC_REASON_BAD_TOKEN;
	rc->peer_addr = end - rc->peer_size;
	if (__get_ring(rc))
		return SMC_REASON_NO_BUFFER;
	if (rc->first && smc_rtoken_add(lgr, 0, a->rkey, a->rmb_addr))
		return SMC_REASON_BAD_TOKEN;
	smc_lgr_claim_rmbe(rc);
	/* The receive path looks at it without a lock. */
	smp_store_release(&rc->attached, true);
	return SMC_REASON_NONE;
}

/**
 * smc_rdma_attach() - smc_fabric_ops.attach
 * @c: the connection
 * @neg: what was negotiated
 * @a: the Accept on the client, the Confirm on the server
 */
enum smc_reason smc_rdma_attach(struct smc_conn *c, struct smc_negotiated *neg,
				const struct smc_clc_accept *a)
{
	struct rdma_conn *rc = to_rdma(c);
	enum smc_reason reason;

	if (rc->server)
		set_bit(RDMA_CONN_CONFIRMED, &rc->bits);
	mutex_lock(&rc->lgr->life);
	reason = __attach(rc, a);
	mutex_unlock(&rc->lgr->life);
	if (!reason && rc->first)
		smc_llc_first_contact(rc->lgr);
	return reason;
}

/**
 * smc_rdma_finish() - smc_fabric_ops.finish: is the link of a first contact confirmed?
 * @c: the connection
 * @late: receives whether it is too late to fall back (RFC 7609, C.2 and C.3)
 */
int smc_rdma_finish(struct smc_conn *c, bool *late)
{
	struct rdma_conn *rc = to_rdma(c);
	struct smc_lgr *lgr = rc->lgr;

	if (rc->first && smc_lgr_await(rc)) {
		*late = smc_llc_no_return(lgr);
		return smc_llc_up_for_peer(lgr) ? -EINPROGRESS : -EAGAIN;
	}
	if (READ_ONCE(lgr->state) == SMC_LGR_ACTIVE)
		return 0;
	*late = !rc->first || smc_llc_no_fallback(lgr);
	return lgr->fail ?: SMC_REASON_INTERNAL;
}

/**
 * smc_rdma_desync() - smc_fabric_ops.desync (RFC 7609, C.4)
 * @c: the connection
 *
 * A Decline is no proof: the link itself says whether the peer still has its group.
 */
void smc_rdma_desync(struct smc_conn *c)
{
	struct rdma_conn *rc = to_rdma(c);

	if (rc->first)
		smc_lgr_end(rc->lgr, SMC_REASON_OUT_OF_SYNC);
	else if (rc->lgr)
		smc_llc_test_now(rc->lgr, true);
}

/**
 * smc_rdma_detach() - smc_fabric_ops.detach
 * @c: the connection
 */
void smc_rdma_detach(struct smc_conn *c)
{
	struct rdma_conn *rc = to_rdma(c);

	smc_lgr_unwait(rc);
	if (rc->lgr)
		smc_llc_unwait(rc);
	/* Without the connection that makes it there will be no link group. */
	if (rc->first && READ_ONCE(rc->lgr->state) == SMC_LGR_NEW)
		smc_lgr_end(rc->lgr, SMC_REASON_INTERNAL);
	smc_cdc_detach(c);
}

static void conn_free_rcu(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct rdma_conn, rcu));
}

/**
 * smc_rdma_conn_free() - smc_fabric_ops.free
 * @c: the connection
 */
void smc_rdma_conn_free(struct smc_conn *c)
{
	struct rdma_conn *rc = to_rdma(c);

	if (rc->tx_elem)
		smc_elem_put(rc->tx_elem);
	smc_conn_destroy(c);
	if (rc->lgr)
		smc_lgr_put(rc->lgr);
	call_rcu(&rc->rcu, conn_free_rcu);
}
