// SPDX-License-Identifier: GPL-2.0
/* A connection over an ISM device: its handshake and its end. */
#include <linux/module.h>
#include <linux/slab.h>
#include "../../lock_class.h"
#include "../../mem/charge.h"
#include "../../mem/pool.h"
#include "../../mem/rmbe.h"
#include "../../netns.h"
#include "../../smc.h"
#include "../../wire/control.h"
#include "conn.h"
#include "dev.h"

static atomic_t smcd_link_id;

/* The peer did not close in time. */
static void close_work(struct work_struct *work)
{
	struct smcd_conn *dconn = container_of(work, struct smcd_conn, close_work.work);

	smcd_cut_off(dconn);
	smc_conn_put(&dconn->msg.conn);
}

/*
 * No peer knows the element yet: clear the control data of its last connection.  Returns false if
 * the element has gone away with its device.
 */
static bool clear_dmb(struct smcd_conn *dconn, struct smc_ism_dmb *dmb)
{
	struct smc_ism_dev *dev = dconn->lgr->dev;
	bool there;

	if (!dev->windowed) {
		memset(dmb->mem, 0, SMC_CONTROL_LEN);
		return true;
	}
	/* smcd_conns_lose() takes the lock later, and finds us in the list, or we see @gone. */
	spin_lock_bh(&dev->conns_lock);
	there = !READ_ONCE(dev->gone);
	if (there) {
		memset(dmb->mem, 0, SMC_CONTROL_LEN);
		list_add(&dconn->in_dev, &dev->conns);
	}
	spin_unlock_bh(&dev->conns_lock);
	return there;
}

static bool use_dmb(struct smcd_conn *dconn, struct smc_rmbe *rmbe)
{
	struct smc_ism_dmb *dmb = smc_buf_priv(smc_rmbe_buf(rmbe));
	struct smc_ism_dev *dev = dconn->lgr->dev;
	struct smc_conn *c = &dconn->msg.conn;

	if (!clear_dmb(dconn, dmb))
		return false;
	dconn->dmb = dmb;
	if (dev->ops->lend_dmb)
		dev->ops->lend_dmb(dev, dconn->dmb);
	smc_conn_set_rmbe(c, rmbe);
	c->rx_buf += SMC_CONTROL_LEN;
	c->rx_size -= SMC_CONTROL_LEN;
	rcu_assign_pointer(dconn->dmb->conn, dconn);
	return true;
}

/* Get an element for the peer to write to. */
static bool has_element(struct smcd_conn *dconn, u32 bytes)
{
	struct smc_rmbe *rmbe = smc_rmbe_get(dconn->lgr->dmbs, bytes);

	if (!rmbe)
		return false;
	if (use_dmb(dconn, rmbe))
		return true;
	smc_rmbe_put(rmbe);
	return false;
}

/*
 * Copying device: after its Accept a server cannot fall back to TCP any more, so it must not lack a
 * send ring then. A client gets one when it knows how large the peer's element is.
 */
static bool has_ring(struct smcd_conn *dconn)
{
	if (!dconn->server || smc_ism_is_mapped(dconn->lgr->dev->ops))
		return true;
	dconn->ring = smc_rmbe_get(dconn->lgr->rings, dconn->sndbuf);
	return dconn->ring;
}

/**
 * smcd_conn_new() - smc_fabric_ops.conn_new
 * @f: the fabric
 * @sk: the socket
 * @neg: the result of the negotiation
 * @want: the buffer sizes that the socket asks for
 *
 * Return: the connection, in a link group and with an element, or ERR_PTR.
 */
struct smc_conn *smcd_conn_new(struct smc_fabric *f, struct sock *sk, struct smc_negotiated *neg,
			       const struct smc_wanted *want)
{
	struct smcd_conn *dconn = kzalloc(sizeof(*dconn), SMC_GFP_CHARGED);
	struct smc_net *sn = smc_net(sock_net(sk));
	bool created;
	int rc;

	if (!dconn)
		return ERR_PTR(-ENOMEM);
	smc_conn_init(&dconn->msg.conn, f->ops->conn, NULL);
	smc_spin_lock_init(&dconn->say_lock, SMC_LOCK_SMCD_SAY);
	smc_spin_lock_init(&dconn->hear_lock, SMC_LOCK_SMCD_HEAR);
	INIT_LIST_HEAD(&dconn->in_lgr);
	INIT_LIST_HEAD(&dconn->in_dev);
	INIT_DELAYED_WORK(&dconn->close_work, close_work);
	dconn->msg.ops = &smcd_msg_ops;
	dconn->sn = sn;
	dconn->server = neg->server;
	dconn->sndbuf = want->sndbuf;
	dconn->link_id = atomic_inc_return(&smcd_link_id);
	rc = smcd_lgr_enter(dconn, sn, neg, &created);
	if (rc) {
		kfree(dconn);
		return ERR_PTR(rc);
	}
	/* Cannot fail: the handshake holds a reference to the driver. */
	__module_get(dconn->lgr->dev->ops->owner);
	dconn->msg.conn.dev = dconn->lgr->dev->name;
	/* Possibly only one side has forgotten the other, so the server decides. */
	if (created && neg->server)
		neg->first_contact = true;
	if (has_ring(dconn) && has_element(dconn, want->rcvbuf))
		return &dconn->msg.conn;
	rc = READ_ONCE(dconn->lgr->dev->gone) ? -ENODEV : -ENOMEM;
	smcd_detach(&dconn->msg.conn);
	smc_conn_put(&dconn->msg.conn);
	return ERR_PTR(rc);
}

/**
 * smcd_describe() - smc_fabric_ops.describe
 * @c: the connection
 * @a: receives our part of the Accept or Confirm
 */
void smcd_describe(struct smc_conn *c, struct smc_clc_accept *a)
{
	struct smcd_conn *dconn = to_smcd(c);
	const struct smc_ism_dev *dev = dconn->lgr->dev;

	a->smcd = true;
	a->gid = dev->gid.id;
	a->gid_ext = dev->gid.ext;
	a->chid = dev->chid;
	a->token = dconn->dmb->token;
	a->dmbe_idx = SMCD_DMBE_IDX;
	a->dmbe_size = smc_clc_size_from_bytes(dconn->dmb->size);
	a->link_id = dconn->link_id;
	if (dconn->server)
		set_bit(SMC_MSG_TOLD, &dconn->msg.bits);
}

static bool describes_peer(const struct smcd_lgr *lgr, const struct smc_clc_accept *a)
{
	const struct smc_ism_gid gid = { .id = a->gid, .ext = a->gid_ext };

	return a->smcd && (a->version == SMC_CLC_V1 || a->chid == lgr->dev->chid) &&
	       smc_ism_gid_equal(&gid, &lgr->peer) && a->dmbe_idx == SMCD_DMBE_IDX &&
	       smc_clc_size_to_bytes(a->dmbe_size) <= smc_clc_size_to_bytes(lgr->dev->max_code);
}

/* Mapped device: we write directly into the peer's element. */
static enum smc_reason map_peer(struct smcd_conn *dconn, u32 bytes)
{
	struct smc_conn *c = &dconn->msg.conn;
	struct smcd_lgr *lgr = dconn->lgr;
	void *mem;

	mem = lgr->dev->ops->map(lgr->dev, &lgr->peer, dconn->peer_token, bytes);
	if (IS_ERR(mem))
		return SMC_REASON_BAD_TOKEN;
	dconn->peer_mem = mem;
	c->tx_size = c->peer_size;
	c->tx_buf = mem + SMC_CONTROL_LEN;
	return SMC_REASON_NONE;
}

/* Copying device: get a send ring, no larger than the peer's element, for the device to read. */
static enum smc_reason get_ring(struct smcd_conn *dconn, u32 bytes)
{
	struct smc_conn *c = &dconn->msg.conn;

	dconn->ring = smc_rmbe_fit(dconn->lgr->rings, dconn->ring, min(dconn->sndbuf, bytes));
	if (!dconn->ring)
		return smc_rmbe_refusal();
	c->tx_size = min(smc_rmbe_size(dconn->ring), c->peer_size);
	c->tx_how = smc_rmbe_how(dconn->ring);
	c->tx_buf = smc_rmbe_data(dconn->ring);
	return SMC_REASON_NONE;
}

/**
 * smcd_attach() - smc_fabric_ops.attach
 * @c: the connection
 * @neg: the result of the negotiation
 * @a: the Accept on the client, the Confirm on the server
 *
 * Return: SMC_REASON_NONE, or the reason to decline.
 */
enum smc_reason smcd_attach(struct smc_conn *c, struct smc_negotiated *neg,
			    const struct smc_clc_accept *a)
{
	struct smcd_conn *dconn = to_smcd(c);
	struct smcd_lgr *lgr = dconn->lgr;
	u32 bytes = smc_clc_size_to_bytes(a->dmbe_size);
	enum smc_reason reason;

	if (!describes_peer(lgr, a))
		return dconn->server ? SMC_REASON_BAD_CONFIRM : SMC_REASON_BAD_TOKEN;
	dconn->peer_token = a->token;
	c->peer_size = bytes - SMC_CONTROL_LEN;
	reason = smc_ism_is_mapped(lgr->dev->ops) ? map_peer(dconn, bytes) :
						    get_ring(dconn, bytes);
	if (reason)
		return reason;
	smcd_lgr_set_peer(lgr, a);
	/* smcd_say() and smc_msg_heard() read this without a lock. */
	smp_store_release(&dconn->msg.attached, true);
	/* Pairs with the barrier in smc_msg_signal(): we see the flag, or it sees @attached. */
	smp_mb();
	smc_msg_commit(c);
	/* The client may have written data and closed before we read its Confirm. */
	smcd_hear(dconn);
	return SMC_REASON_NONE;
}

/*
 * The handshake has failed, and the peer may never have existed: do not keep the element for it,
 * unless it has attached the element. Then it says a last word.
 */
static void take_back(struct smcd_conn *dconn)
{
	struct smc_ism_dev *dev = dconn->lgr->dev;

	if (dev->revokes || !dconn->dmb ||
	    (dev->ops->withdraw_dmb && dev->ops->withdraw_dmb(dev, dconn->dmb))) {
		dconn->withdrawn = true;
		set_bit(SMC_MSG_PEER_ENDED, &dconn->msg.bits);
	}
}

/**
 * smcd_refused() - smc_fabric_ops.refused
 * @c: the connection
 * @out_of_sync: unused, as peers do not share the state of SMC-D link groups
 */
void smcd_refused(struct smc_conn *c, bool out_of_sync)
{
	take_back(to_smcd(c));
}

/**
 * smcd_detach() - smc_conn_ops.detach
 * @c: the connection
 */
void smcd_detach(struct smc_conn *c)
{
	struct smcd_conn *dconn = to_smcd(c);

	/* The handshake has failed, perhaps after the peer's element was attached. */
	if (!READ_ONCE(c->tx_flags))
		smc_conn_abort(c);
	if (!READ_ONCE(dconn->msg.attached))
		take_back(dconn);
	smc_msg_detach(c);
}

/**
 * smcd_cut_off() - end a connection whose peer is gone, silent or out of reach
 * @dconn: the connection, referenced
 *
 * The peer may not be gone, but silent: its element gets our last word, as ever, and it may yet say
 * its own.
 *
 * Context: any but hard interrupts.
 */
void smcd_cut_off(struct smcd_conn *dconn)
{
	if (!smc_conn_peer_ended(&dconn->msg.conn))
		smc_conn_peer_event(&dconn->msg.conn, SMC_EV_PEER_ABORT);
	smc_conn_abort(&dconn->msg.conn);
	smc_msg_cut_off(&dconn->msg);
}

/*
 * The DMB is about to become memory of something else, and so is the peer's if it is mapped. A
 * handshake that has just mapped it, or a sender that owes the last word, must not write there.
 */
static void lose_dmb(struct smcd_conn *dconn)
{
	spin_lock_bh(&dconn->say_lock);
	dconn->msg.tx_disabled = true;
	spin_unlock_bh(&dconn->say_lock);
	spin_lock_bh(&dconn->hear_lock);
	dconn->dmb_lost = true;
	smc_conn_lose_unread(&dconn->msg.conn);
	spin_unlock_bh(&dconn->hear_lock);
}

/* Take the next connection off the list.  Returns it referenced, or NULL. */
static struct smcd_conn *take_conn(struct smc_ism_dev *dev)
{
	struct smcd_conn *dconn = NULL, *next;

	spin_lock_bh(&dev->conns_lock);
	while (!dconn && !list_empty(&dev->conns)) {
		next = list_first_entry(&dev->conns, struct smcd_conn, in_dev);
		list_del_init(&next->in_dev);
		if (refcount_inc_not_zero(&next->msg.conn.ref))
			dconn = next;
	}
	spin_unlock_bh(&dev->conns_lock);
	return dconn;
}

/**
 * smcd_conns_lose() - the DMBs of a device with a window go away
 * @dev: the device, gone; its connections are cut off
 *
 * The list also has connections that were cut off earlier, whose sockets have yet to read.
 *
 * Context: process, does not wait.
 */
void smcd_conns_lose(struct smc_ism_dev *dev)
{
	struct smcd_conn *dconn;

	while ((dconn = take_conn(dev))) {
		lose_dmb(dconn);
		smc_conn_put(&dconn->msg.conn);
	}
}

static void leave_list(struct smcd_conn *dconn)
{
	struct smc_ism_dev *dev = dconn->lgr->dev;

	if (!dev->windowed)
		return;
	spin_lock_bh(&dev->conns_lock);
	list_del_init(&dconn->in_dev);
	spin_unlock_bh(&dev->conns_lock);
}

/*
 * Who may get the memory of our DMB next? Another connection, after the peer's last word. Otherwise
 * nobody may, and the device keeps it from others until the peer has let go. A DMB that was taken
 * back from a handshake is not lent again, either: its token would become valid again for a peer
 * that is late.
 */
static void leave_dmb(struct smcd_conn *dconn)
{
	const struct smc_ism_dev *dev = dconn->lgr->dev;

	RCU_INIT_POINTER(dconn->dmb->conn, NULL);
	dconn->dmb->in_doubt = smc_msg_peer_open(&dconn->msg);
	if (dconn->dmb->in_doubt || dconn->withdrawn || dev->revokes)
		smc_buf_doom(smc_rmbe_buf(dconn->msg.conn.rmbe));
}

static void free_rcu(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct smcd_conn, rcu));
}

/**
 * smcd_free() - smc_conn_ops.free
 * @c: the connection
 */
void smcd_free(struct smc_conn *c)
{
	struct smcd_conn *dconn = to_smcd(c);
	struct smc_ism_dev *dev = dconn->lgr->dev;
	struct module *owner = dev->ops->owner;

	leave_list(dconn);
	if (dconn->dmb)
		leave_dmb(dconn);
	/* Whatever maps an element says a last word. */
	if (WARN_ON_ONCE(dconn->peer_mem))
		dev->ops->unmap(dev, dconn->peer_mem);
	if (dconn->ring)
		smc_rmbe_put(dconn->ring);
	smc_conn_destroy(c);
	smcd_lgr_put(dconn->lgr);
	module_put(owner);
	call_rcu(&dconn->rcu, free_rcu);
}
