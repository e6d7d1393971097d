// SPDX-License-Identifier: GPL-2.0
/* SMC-D link groups: the connections to one peer over one device. */
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/smc_diag.h>
#include "../../events.h"
#include "../../lock_class.h"
#include "../../mem/charge.h"
#include "../../mem/pool.h"
#include "../../mem/rmbe.h"
#include "../../netns.h"
#include "../../smc.h"
#include "../show.h"
#include "conn.h"
#include "dev.h"
#include "lgr.h"
#include "vlan.h"

/**
 * struct smcd_lgrs - the SMC-D link groups of a namespace
 * @ref:	reference count: held by the namespace and by each group
 * @lock:	protects the list, and some members of struct smcd_lgr
 * @list:	groups that have not ended, in order of creation
 * @closed:	the namespace is going away
 * @seq:	changes with the list, never 0
 * @n:		number of groups whose end_work has not finished
 */
struct smcd_lgrs {
	refcount_t		ref;
	spinlock_t		lock;
	struct list_head	list;
	bool			closed;
	unsigned int		seq;
	atomic_t		n;
};

static unsigned int smcd_lgrs_id __ro_after_init;
static atomic_t smcd_lgr_number = ATOMIC_INIT(SMC_LOOPBACK_NUMBER);

static struct smcd_lgrs *lgrs_of(const struct smc_net *sn)
{
	return *(struct smcd_lgrs **)net_generic(sn->net, smcd_lgrs_id);
}

static void lgrs_put(struct smcd_lgrs *lgrs)
{
	if (refcount_dec_and_test(&lgrs->ref))
		kfree(lgrs);
}

/* ---- memory ---- */

/* The device signals a DMB, not an element, so a DMB has only one element. */
static unsigned int dmb_rmbes(void *owner, u32 size, unsigned int failed)
{
	const struct smcd_lgr *lgr = owner;

	return !failed && size <= smc_clc_size_to_bytes(lgr->dev->max_code);
}

static void *dmb_alloc(void *owner, size_t bytes, gfp_t gfp, void **priv)
{
	struct smcd_lgr *lgr = owner;
	struct smc_ism_dev *dev = lgr->dev;
	struct smc_ism_dmb *dmb = kzalloc(sizeof(*dmb), gfp);

	if (!dmb)
		return NULL;
	dmb->dev = dev;
	dmb->size = bytes;
	dmb->vlan = lgr->vlan;
	if (READ_ONCE(dev->gone) || dev->ops->register_dmb(dev, dmb, &lgr->peer)) {
		kfree(dmb);
		return NULL;
	}
	/* The buffer may outlive the link group, but needs the device. */
	refcount_inc(&dev->ref);
	*priv = dmb;
	return dmb->mem;
}

static void dmb_free(void *mem, size_t bytes, void *priv)
{
	struct smc_ism_dmb *dmb = priv;
	struct smc_ism_dev *dev = dmb->dev;

	dev->ops->unregister_dmb(dev, dmb);
	kfree(dmb);
	smc_ism_put(dev);
}

static const struct smc_buf_ops dmb_ops = {
	.max_code	= SMC_SIZE_CODE_LIMIT,
	.rmbes		= dmb_rmbes,
	.alloc		= dmb_alloc,
	.free		= dmb_free,
};

/* ---- lifetime ---- */

static void lgr_get(struct smcd_lgr *lgr)
{
	refcount_inc(&lgr->ref);
}

static void put_pools(struct smcd_lgr *lgr)
{
	if (lgr->dmbs)
		smc_pools_put(lgr->dmbs);
	if (lgr->rings)
		smc_pools_put(lgr->rings);
}

/**
 * smcd_lgr_put() - drop a reference
 * @lgr: the link group
 *
 * Context: any.
 */
void smcd_lgr_put(struct smcd_lgr *lgr)
{
	if (!refcount_dec_and_test(&lgr->ref))
		return;
	put_pools(lgr);
	smc_ism_put(lgr->dev);
	lgrs_put(lgr->lgrs);
	kfree(lgr);
}

static void __post(const struct smcd_lgr *lgr, u8 type)
{
	struct smc_event *e;

	lockdep_assert_held(&lgr->lgrs->lock);
	e = smc_event_new(lgr->sn->net, type);
	if (!e)
		return;
	e->tech = SMC_DIAG_MODE_SMCD;
	e->lgr = lgr->id;
	e->server = lgr->server;
	e->conns = lgr->n_conns;
	strscpy(e->dev, lgr->dev->name, sizeof(e->dev));
	smc_event_post(lgr->sn->net, e);
}

static void __end(struct smcd_lgr *lgr)
{
	struct smcd_lgrs *lgrs = lgr->lgrs;

	lockdep_assert_held(&lgrs->lock);
	if (lgr->ended)
		return;
	lgr->ended = true;
	__post(lgr, SMC_EVENT_LGR_END);
	list_del_init(&lgr->list);
	lgrs->seq = smc_next_seq(lgrs->seq);
	/* The work takes over the reference of the list. */
	queue_work(smc_end_wq, &lgr->end_work);
}

static void __start_idle(struct smcd_lgr *lgr)
{
	unsigned long delay = (unsigned long)READ_ONCE(lgr->sn->lgr_idle_time) * HZ;

	lockdep_assert_held(&lgr->lgrs->lock);
	lgr_get(lgr);
	if (mod_delayed_work(smc_link_wq, &lgr->idle_work, delay))
		refcount_dec(&lgr->ref);
}

static void idle_work(struct work_struct *work)
{
	struct smcd_lgr *lgr = container_of(work, struct smcd_lgr, idle_work.work);

	spin_lock_bh(&lgr->lgrs->lock);
	if (!lgr->n_conns)
		__end(lgr);
	spin_unlock_bh(&lgr->lgrs->lock);
	smcd_lgr_put(lgr);
}

/* Take the next connection off the list.  Returns it referenced, or NULL. */
static struct smcd_conn *take_conn(struct smcd_lgr *lgr)
{
	struct smcd_conn *dconn = NULL, *next;

	spin_lock_bh(&lgr->lgrs->lock);
	while (!dconn && !list_empty(&lgr->conns)) {
		next = list_first_entry(&lgr->conns, struct smcd_conn, in_lgr);
		list_del_init(&next->in_lgr);
		lgr->n_conns--;
		if (refcount_inc_not_zero(&next->msg.conn.ref))
			dconn = next;
	}
	spin_unlock_bh(&lgr->lgrs->lock);
	return dconn;
}

/* Cut off all connections.  The memory of each is freed with its last reference. */
static void end_work(struct work_struct *work)
{
	struct smcd_lgr *lgr = container_of(work, struct smcd_lgr, end_work);
	struct smcd_lgrs *lgrs = lgr->lgrs;
	struct smcd_conn *dconn;

	if (cancel_delayed_work_sync(&lgr->idle_work))
		smcd_lgr_put(lgr);
	while ((dconn = take_conn(lgr))) {
		smcd_cut_off(dconn);
		smc_conn_put(&dconn->msg.conn);
	}
	/* A handshake that is not over yet may still take elements: the group keeps the pools. */
	smc_pools_shut(lgr->dmbs);
	smc_pools_shut(lgr->rings);
	smcd_vlan_release(lgr->dev, lgr->vlan);
	if (atomic_dec_and_test(&lgr->dev->n_lgrs))
		wake_up_var(&lgr->dev->n_lgrs);
	/* At zero the namespace may go; our reference to @lgrs keeps the counter valid. */
	if (atomic_dec_and_test(&lgrs->n))
		wake_up_var(&lgrs->n);
	smcd_lgr_put(lgr);
}

static struct smcd_lgr *lgr_alloc(struct smc_net *sn, const struct smc_negotiated *neg)
{
	const struct smcd_negotiated *dneg = neg->priv;
	struct smcd_lgr *lgr = kzalloc(sizeof(*lgr), SMC_GFP_CHARGED);
	int rc = -ENOMEM;

	if (!lgr)
		return ERR_PTR(rc);
	lgr->dmbs = smc_pools_new(sn->mem_limit, &dmb_ops, lgr);
	lgr->rings = smc_pools_new(sn->mem_limit, &smc_own_buf_ops, NULL);
	if (lgr->dmbs && lgr->rings)
		rc = smcd_vlan_hold(dneg->dev, dneg->vlan);
	if (rc) {
		put_pools(lgr);
		kfree(lgr);
		return ERR_PTR(rc);
	}
	refcount_set(&lgr->ref, 1);
	INIT_LIST_HEAD(&lgr->conns);
	lgr->sn = sn;
	lgr->lgrs = lgrs_of(sn);
	refcount_inc(&lgr->lgrs->ref);
	lgr->dev = dneg->dev;
	refcount_inc(&lgr->dev->ref);
	lgr->peer = dneg->peer;
	lgr->vlan = dneg->vlan;
	lgr->id = atomic_inc_return(&smcd_lgr_number);
	lgr->server = neg->server;
	lgr->version = neg->version;
	lgr->release = neg->release;
	memcpy(lgr->eid, neg->eid, SMC_EID_LEN);
	INIT_DELAYED_WORK(&lgr->idle_work, idle_work);
	INIT_WORK(&lgr->end_work, end_work);
	return lgr;
}

/* Free a group that was never in the list. */
static void lgr_free(struct smcd_lgr *lgr)
{
	smcd_vlan_release(lgr->dev, lgr->vlan);
	smcd_lgr_put(lgr);
}

static struct smcd_lgr *__find(struct smcd_lgrs *lgrs, const struct smcd_negotiated *dneg)
{
	struct smcd_lgr *lgr;

	lockdep_assert_held(&lgrs->lock);
	list_for_each_entry(lgr, &lgrs->list, list)
		if (lgr->dev == dneg->dev && lgr->vlan == dneg->vlan &&
		    smc_ism_gid_equal(&lgr->peer, &dneg->peer))
			return lgr;
	return NULL;
}

static void __enter(struct smcd_lgr *lgr, struct smcd_conn *dconn)
{
	lockdep_assert_held(&lgr->lgrs->lock);
	lgr_get(lgr);
	dconn->lgr = lgr;
	list_add_tail(&dconn->in_lgr, &lgr->conns);
	lgr->n_conns++;
}

/* smcd_lgrs_end_on() takes this lock after marking the device: no group may be added later. */
static bool __may_enter(const struct smcd_lgrs *lgrs, const struct smc_ism_dev *dev)
{
	lockdep_assert_held(&lgrs->lock);
	return !lgrs->closed && !READ_ONCE(dev->gone);
}

/* Enter an existing group.  Returns 0, -ENOENT or -ENODEV. */
static int enter_existing(struct smcd_lgrs *lgrs, struct smcd_conn *dconn,
			  const struct smcd_negotiated *dneg)
{
	struct smcd_lgr *lgr;
	int rc = -ENODEV;

	spin_lock_bh(&lgrs->lock);
	if (__may_enter(lgrs, dneg->dev)) {
		lgr = __find(lgrs, dneg);
		rc = lgr ? 0 : -ENOENT;
		if (lgr)
			__enter(lgr, dconn);
	}
	spin_unlock_bh(&lgrs->lock);
	return rc;
}

/* Enter a new group.  Returns 0, -EEXIST if there is one by now, or -ENODEV. */
static int enter_new(struct smcd_lgrs *lgrs, struct smcd_conn *dconn, struct smcd_lgr *new)
{
	const struct smcd_negotiated wanted = {
		.dev = new->dev, .peer = new->peer, .vlan = new->vlan,
	};
	int rc = -ENODEV;

	spin_lock_bh(&lgrs->lock);
	if (__may_enter(lgrs, new->dev))
		rc = __find(lgrs, &wanted) ? -EEXIST : 0;
	if (!rc) {
		/* The initial reference belongs to the list. */
		list_add_tail(&new->list, &lgrs->list);
		lgrs->seq = smc_next_seq(lgrs->seq);
		atomic_inc(&lgrs->n);
		atomic_inc(&new->dev->n_lgrs);
		__enter(new, dconn);
		__post(new, SMC_EVENT_LGR_NEW);
	}
	spin_unlock_bh(&lgrs->lock);
	return rc;
}

/**
 * smcd_lgr_enter() - add a connection to its link group, which is created if necessary
 * @dconn: the connection, in no link group yet
 * @sn: its namespace
 * @neg: the result of the negotiation
 * @created: receives whether the group was created
 *
 * Context: process, may sleep.
 * Return: 0, -ENOMEM, or another negative errno if the device is gone or cannot join the VLAN.
 */
int smcd_lgr_enter(struct smcd_conn *dconn, struct smc_net *sn, const struct smc_negotiated *neg,
		   bool *created)
{
	struct smcd_lgrs *lgrs = lgrs_of(sn);
	struct smcd_lgr *new;
	int rc;

	*created = false;
	do {
		rc = enter_existing(lgrs, dconn, neg->priv);
		if (rc != -ENOENT)
			return rc;
		new = lgr_alloc(sn, neg);
		if (IS_ERR(new))
			return PTR_ERR(new);
		rc = enter_new(lgrs, dconn, new);
		*created = !rc;
		if (rc)
			lgr_free(new);
	} while (rc == -EEXIST);
	return rc;
}

/**
 * smcd_lgr_leave() - remove a connection that has ended on both sides or was cut off
 * @dconn: the connection; it keeps its reference to the group until it is freed
 *
 * Context: any but hard interrupts.
 */
void smcd_lgr_leave(struct smcd_conn *dconn)
{
	struct smcd_lgr *lgr = dconn->lgr;

	spin_lock_bh(&lgr->lgrs->lock);
	if (!list_empty(&dconn->in_lgr)) {
		list_del_init(&dconn->in_lgr);
		if (!--lgr->n_conns && !lgr->ended)
			__start_idle(lgr);
	}
	spin_unlock_bh(&lgr->lgrs->lock);
}

/**
 * smcd_lgr_set_peer() - store what the first contact extension says about the peer
 * @lgr: the link group
 * @a: Accept or Confirm
 */
void smcd_lgr_set_peer(struct smcd_lgr *lgr, const struct smc_clc_accept *a)
{
	struct smcd_lgrs *lgrs = lgr->lgrs;

	if (!a->has_fce)
		return;
	spin_lock_bh(&lgrs->lock);
	lgr->peer_os = a->os_type;
	strscpy(lgr->hostname, a->hostname, sizeof(lgr->hostname));
	spin_unlock_bh(&lgrs->lock);
}

/* The connections of the group are about to be reset; @peer_gone: otherwise its device is gone. */
static void __report(const struct smcd_lgr *lgr, bool peer_gone)
{
	lockdep_assert_held(&lgr->lgrs->lock);
	if (!lgr->ended && lgr->n_conns)
		pr_info_ratelimited("smc: link group %08x: %s %s is gone; connections reset: %u\n",
				    lgr->id, peer_gone ? "the peer on" : "device", lgr->dev->name,
				    lgr->n_conns);
}

static void end_in(struct smc_net *sn, const struct smc_ism_dev *dev,
		   const struct smc_ism_gid *peer)
{
	struct smcd_lgrs *lgrs = lgrs_of(sn);
	struct smcd_lgr *lgr, *next;

	spin_lock_bh(&lgrs->lock);
	list_for_each_entry_safe(lgr, next, &lgrs->list, list) {
		if ((dev && lgr->dev != dev) || (peer && !smc_ism_gid_equal(&lgr->peer, peer)))
			continue;
		/* The end of a namespace is not reported. */
		if (dev)
			__report(lgr, peer);
		__end(lgr);
	}
	spin_unlock_bh(&lgrs->lock);
}

/**
 * smcd_lgrs_end_on() - end link groups whose device or peer is gone
 * @dev: the device
 * @peer: GID of the peer; NULL for all peers of the device
 *
 * Context: process, may sleep.
 */
void smcd_lgrs_end_on(const struct smc_ism_dev *dev, const struct smc_ism_gid *peer)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
		end_in(smc_net(net), dev, peer);
	up_read(&net_rwsem);
}

/* ---- display ---- */

/* Changes whenever the list of link groups of a namespace changes; never 0. */
unsigned int smcd_lgrs_seq(const struct smc_net *sn)
{
	return READ_ONCE(lgrs_of(sn)->seq);
}

static void __show(struct smc_net *sn, const struct smcd_lgr *lgr, struct smc_group_info *info)
{
	const struct smc_pnet_port port = smcd_pnet_port(lgr->dev);

	lockdep_assert_held(&lgr->lgrs->lock);
	info->id = lgr->id;
	info->server = lgr->server;
	info->version = lgr->version;
	info->release = lgr->release;
	info->peer_os = lgr->peer_os;
	memcpy(info->eid, lgr->eid, SMC_EID_LEN);
	strscpy(info->peer_host, lgr->hostname, sizeof(info->peer_host));
	if (smc_ism_is_vlan(lgr->vlan))
		info->vlan_id = lgr->vlan;
	info->n_conns = lgr->n_conns;
	info->gid = lgr->dev->gid.id;
	info->gid_ext = lgr->dev->gid.ext;
	info->peer_gid = lgr->peer.id;
	info->peer_gid_ext = lgr->peer.ext;
	info->chid = lgr->dev->chid;
	info->rx_bytes = smc_pools_bytes(lgr->dmbs);
	info->tx_bytes = smc_pools_bytes(lgr->rings);
	smc_pnet_of_port(sn, &port, info->pnetid);
}

static bool show_next(struct smc_net *sn, u32 after, struct smc_group_info *info,
		      unsigned int *seq)
{
	struct smcd_lgrs *lgrs = lgrs_of(sn);
	struct smcd_lgr *lgr, *next = NULL;

	memset(info, 0, sizeof(*info));
	spin_lock_bh(&lgrs->lock);
	*seq = lgrs->seq;
	list_for_each_entry(lgr, &lgrs->list, list)
		if (lgr->id > after && (!next || lgr->id < next->id))
			next = lgr;
	if (next)
		__show(sn, next, info);
	spin_unlock_bh(&lgrs->lock);
	return next;
}

/**
 * smcd_groups() - smc_fabric_ops.groups
 * @f: the fabric
 * @sn: the namespace
 * @w: callbacks and state of the walk
 *
 * Return: the nonzero value of @w->group that ended the walk, or 0 at the end.
 */
int smcd_groups(struct smc_fabric *f, struct smc_net *sn, struct smc_walk *w)
{
	struct smc_group_info info;
	int rc = 0;

	while (!rc && show_next(sn, w->after, &info, &w->seq)) {
		rc = w->group(&info, w);
		if (!rc)
			w->after = info.id;
	}
	return rc;
}

/* ---- namespaces ---- */

static int __net_init smcd_net_init(struct net *net)
{
	struct smcd_lgrs **place = net_generic(net, smcd_lgrs_id), *lgrs;

	lgrs = kzalloc(sizeof(*lgrs), SMC_GFP_CHARGED);
	if (!lgrs)
		return -ENOMEM;
	*place = lgrs;
	refcount_set(&lgrs->ref, 1);
	smc_spin_lock_init(&lgrs->lock, SMC_LOCK_SMCD_LGRS);
	INIT_LIST_HEAD(&lgrs->list);
	lgrs->seq = 1;
	return 0;
}

/* The namespace has no sockets any more; wait until its link groups have ended. */
static void __net_exit smcd_net_exit(struct net *net)
{
	struct smcd_lgrs *lgrs = lgrs_of(smc_net(net));

	spin_lock_bh(&lgrs->lock);
	lgrs->closed = true;
	spin_unlock_bh(&lgrs->lock);
	end_in(smc_net(net), NULL, NULL);
	wait_var_event(&lgrs->n, !atomic_read(&lgrs->n));
	lgrs_put(lgrs);
}

struct pernet_operations smcd_net_ops = {
	.init	= smcd_net_init,
	.exit	= smcd_net_exit,
	.id	= &smcd_lgrs_id,
	.size	= sizeof(struct smcd_lgrs *),
};
