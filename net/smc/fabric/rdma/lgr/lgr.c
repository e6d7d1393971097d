// SPDX-License-Identifier: GPL-2.0
/* Creation of link groups, and the connections that join and leave them. */
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include "../../../lock_class.h"
#include "../../../mem/limit.h"
#include "../../../netns.h"
#include "../../../smc.h"
#include "../../../stats.h"
#include "../../../wire/eid.h"
#include "lgr.h"

static atomic_t smc_lgr_id;

/**
 * smc_lgr_set_peer_gids() - store the GID list of a client
 * @lgr: the link group of a server, during the first contact
 * @a: the Confirm
 */
void smc_lgr_set_peer_gids(struct smc_lgr *lgr, const struct smc_clc_accept *a)
{
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);
	unsigned int i;

	spin_lock_bh(&lgrs->lock);
	for (i = 0; i < a->n_gid_list; i++)
		smc_rdma_gid_from_wire((union ib_gid *)lgr->peer_gids[i], a->gid_list[i]);
	lgr->n_peer_gids = a->n_gid_list;
	spin_unlock_bh(&lgrs->lock);
}

static bool same_tcp_peer(const struct smc_lgr *lgr, const struct smc_lgr_key *key)
{
	return ipv6_addr_equal(&lgr->tcp_peer.addr, &key->tcp_peer->addr) &&
	       lgr->tcp_peer.ifindex == key->tcp_peer->ifindex;
}

/*
 * Data must take the network of the connection, so a connection over another network requires other
 * links.  Subnets need no check: version 1 has compared those of this connection with the peer's.
 */
static bool same_network(const struct smc_rdma_network *a, const struct smc_rdma_network *b)
{
	return a->net_cookie == b->net_cookie && a->vlan_id == b->vlan_id &&
	       !strcmp(a->pnetid, b->pnetid);
}

static bool key_fits(const struct smc_lgr *lgr, const struct smc_lgr_key *key)
{
	if (lgr->server != key->server || lgr->version != key->version ||
	    memcmp(lgr->peer_id, key->peer_id, sizeof(lgr->peer_id)))
		return false;
	/* None of the above is secret; only the TCP handshake proves where the Proposal is from. */
	if (key->server && !same_tcp_peer(lgr, key))
		return false;
	if (key->server && !same_network(&lgr->network, key->network))
		return false;
	if (lgr->version == SMC_CLC_V1)
		return lgr->vlan_id == key->vlan_id;
	return key->server ? smc_eid_equal(lgr->eid, key->eid) &&
			     lgr->release == key->release : true;
}

/* Is this the peer's end of a link?  @qpn is NULL if a Proposal names the end. */
static bool is_peer_end(const struct smc_link *link, const u8 *mac, const u8 *gid,
			const u32 *qpn)
{
	/* A Proposal of version 2 may leave out the MAC address. */
	bool any_mac = !qpn && (is_zero_ether_addr(mac) || is_zero_ether_addr(link->peer_mac));

	return !memcmp(link->peer_gid.raw, gid, sizeof(link->peer_gid)) &&
	       (!qpn || link->peer_qpn == *qpn) &&
	       (any_mac || ether_addr_equal_unaligned(link->peer_mac, mac));
}

/**
 * __smc_lgr_named_link() - find the link that the peer names in a CLC message
 * @lgr: the link group; the caller holds its setup_lock or smc_lgrs.lock
 * @mac: MAC address of the peer's end
 * @gid: GID of the peer's end, in our byte order
 * @qpn: number of the peer's queue pair; NULL if the message is a Proposal
 *
 * Prefer a live link, because a device that came back may have given the numbers of a link that is
 * down to a new one.
 *
 * Return: the link, which may be down and may have returned its device; or NULL.
 */
struct smc_link *__smc_lgr_named_link(struct smc_lgr *lgr, const u8 *mac, const u8 *gid,
				      const u32 *qpn)
{
	/* The link of a new group is being made; others of its connections wait for it. */
	bool new = READ_ONCE(lgr->state) == SMC_LGR_NEW;
	struct smc_link *link, *down = NULL;

	lockdep_assert(lockdep_is_held(&lgr->setup_lock) ||
		       lockdep_is_held(&smc_lgrs_of(lgr)->lock));
	smc_lgr_for_each_link(lgr, link) {
		if (!smc_link_exists(link) && !(new && link->path.dev))
			continue;
		if (!is_peer_end(link, mac, gid, qpn))
			continue;
		if (READ_ONCE(link->state) != SMC_LINK_DOWN)
			return link;
		if (!down || READ_ONCE(link->path.dev))
			down = link;
	}
	return down;
}

/*
 * Has the client listed this GID?  It may have no link, because its port has lost the link and is
 * not back yet.
 */
static bool __is_peer_gid(const struct smc_lgr *lgr, const u8 *gid)
{
	unsigned int i;

	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	for (i = 0; i < lgr->n_peer_gids; i++)
		if (!memcmp(lgr->peer_gids[i], gid, sizeof(lgr->peer_gids[i])))
			return true;
	return false;
}

/*
 * The link that takes a connection, or NULL.  The client uses the link that the server names.  The
 * server chooses any link, provided that the client names one of its own ports, because the
 * client's TCP connections come from any of its addresses.
 */
static struct smc_link *__link_for(struct smc_lgr *lgr, const struct smc_lgr_key *key)
{
	struct smc_link *named;

	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	/* A server adds no connection to a group that is full, hoarded or doubted. */
	if (!key_fits(lgr, key) ||
	    (key->server && (lgr->n_conns + lgr->n_abandoned >= lgr->max_conns ||
			     __smc_lgr_hoards(lgr) || READ_ONCE(lgr->doubted))))
		return NULL;
	named = __smc_lgr_named_link(lgr, key->peer_mac, key->peer_gid,
				     key->server ? NULL : &key->peer_qpn);
	/* The place of a link that has returned its device may be taken by another link. */
	if (named && !READ_ONCE(named->path.dev))
		named = NULL;
	if (!key->server || lgr->state != SMC_LGR_ACTIVE)
		return named;
	return named || __is_peer_gid(lgr, key->peer_gid) ? __smc_lgr_best_link(lgr) : NULL;
}

static int __enter(struct smc_lgr *lgr, struct smc_link *link, struct smc_lgr_conn *lconn)
{
	int err;

	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	err = xa_alloc_cyclic_bh(&lgr->conns, &lconn->token, lconn,
				 XA_LIMIT(1, U32_MAX), &lgr->last_token,
				 GFP_ATOMIC);
	if (err < 0)
		return err;
	lgr->n_conns++;
	lconn->counted = true;
	smc_lgr_get(lgr);
	lconn->lgr = lgr;
	lconn->sender.link = link;
	lgr->n_on_link[smc_lgr_link_index(lgr, link)]++;
	return 0;
}

/**
 * smc_lgr_set_link() - make a connection write over another link
 * @lconn: the connection
 * @link: the link
 *
 * Context: process, under smc_lgr.setup_lock; no post over the old link completes any more.
 */
void smc_lgr_set_link(struct smc_lgr_conn *lconn, struct smc_link *link)
{
	struct smc_lgr *lgr = lconn->lgr;
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);
	struct smc_link *from;

	lockdep_assert_held(&lgr->setup_lock);
	spin_lock_bh(&lgrs->lock);
	if (lconn->counted) {
		lgr->n_on_link[smc_lgr_link_index(lgr, lconn->sender.link)]--;
		lgr->n_on_link[smc_lgr_link_index(lgr, link)]++;
	}
	from = smc_link_lock(&lconn->sender);
	WRITE_ONCE(lconn->sender.link, link);
	smc_link_unlock(from);
	spin_unlock_bh(&lgrs->lock);
}

static u64 peer_hash(const u8 *peer_id)
{
	u64 id;

	memcpy(&id, peer_id, sizeof(id));
	return id;
}

/**
 * smc_lgr_join() - find a link group for a connection, and let it join
 * @lconn: the connection, without a link group
 * @sn: its namespace
 * @key: identifies the group
 *
 * Return: 0 on success; -EAGAIN if a first contact is in progress, of whose outcome @lconn is
 * notified; -ENOENT if there is no such group; -ENOMEM.
 */
int smc_lgr_join(struct smc_lgr_conn *lconn, struct smc_net *sn,
		 const struct smc_lgr_key *key)
{
	struct smc_lgr *lgr, *young = NULL;
	struct smc_link *link;
	int err = -ENOENT;

	spin_lock_bh(&sn->lgrs->lock);
	hash_for_each_possible(sn->lgrs->by_peer, lgr, peer_node, peer_hash(key->peer_id)) {
		link = __link_for(lgr, key);
		if (!link)
			continue;
		if (lgr->state == SMC_LGR_ACTIVE) {
			err = __enter(lgr, link, lconn);
			break;
		}
		if (lgr->state == SMC_LGR_NEW)
			young = lgr;
	}
	if (err == -ENOENT && young) {
		err = -EAGAIN;
		if (list_empty(&lconn->wait)) {
			smc_conn_get(&lconn->msg.conn);
			list_add_tail(&lconn->wait, &young->waiters);
		}
	}
	spin_unlock_bh(&sn->lgrs->lock);
	return err;
}

static struct smc_lgr *lgr_alloc(struct smc_net *sn, const struct smc_lgr_key *key,
				 const struct smc_rdma_path *path)
{
	struct smc_lgr *lgr = smc_alloc_array(1, sizeof(*lgr));
	struct smc_link *link;

	if (!lgr)
		return NULL;
	refcount_set(&lgr->ref, 1);
	INIT_LIST_HEAD(&lgr->list);
	INIT_HLIST_NODE(&lgr->peer_node);
	INIT_LIST_HEAD(&lgr->waiters);
	lgr->sn = sn;
	lgr->state = SMC_LGR_NEW;
	lgr->id = atomic_inc_return(&smc_lgr_id);
	lgr->server = key->server;
	lgr->version = key->version;
	lgr->release = key->release;
	memcpy(lgr->peer_id, key->peer_id, sizeof(lgr->peer_id));
	lgr->tcp_peer = *key->tcp_peer;
	lgr->network = *key->network;
	if (key->eid)
		memcpy(lgr->eid, key->eid, SMC_EID_LEN);
	lgr->vlan_id = key->vlan_id;
	lgr->buf_type = READ_ONCE(sn->smcr_buf_type);
	lgr->max_conns = key->max_conns;
	lgr->max_links = key->max_links;
	strscpy(lgr->dev_name, path->dev->ibdev->name, sizeof(lgr->dev_name));
	xa_init_flags(&lgr->conns, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	hash_init(lgr->by_peer_rmbe);
	smc_spin_lock_init(&lgr->lock, SMC_LOCK_LGR);
	smc_mutex_init(&lgr->setup_lock, SMC_LOCK_LGR_SETUP);
	smc_lgr_for_each_link(lgr, link)
		smc_link_init(link, lgr);
	link = smc_lgr_first_link(lgr);
	lgr->up_at[smc_lgr_link_index(lgr, link)] = atomic_inc_return(&lgr->n_up);
	smc_rdma_path_copy(&link->path, path);
	memcpy(link->peer_mac, key->peer_mac, ETH_ALEN);
	memcpy(link->peer_gid.raw, key->peer_gid, 16);
	link->peer_qpn = key->peer_qpn;
	smc_lgr_active_init(lgr);
	smc_lgr_end_init(lgr);
	smc_lgr_release_init(lgr);
	smc_lgr_failover_init(lgr);
	smc_lgr_retire_init(lgr);
	smc_llc_init(lgr);
	return lgr;
}

/* The slow part of making a group; other connections to the same peer wait meanwhile. */
static int lgr_build(struct smc_lgr *lgr)
{
	const struct smc_link_attr attr = smc_lgr_link_attr(lgr, smc_lgr_next_number(lgr));
	int rc = -ENODEV;

	mutex_lock(&lgr->setup_lock);
	if (!lgr->dead)
		rc = smc_link_create(smc_lgr_first_link(lgr), &attr);
	if (!rc) {
		lgr->rmbs = smc_pools_new(lgr->sn->mem_limit, &smc_rmb_ops, lgr);
		lgr->txbufs = smc_pools_new(lgr->sn->mem_limit, &smc_txbuf_ops, lgr);
		rc = lgr->rmbs && lgr->txbufs ? 0 : -ENOMEM;
	}
	mutex_unlock(&lgr->setup_lock);
	return rc;
}

/*
 * Any client that reaches a listener can make the server create a group for the cost of a Proposal.
 * The number of groups is therefore limited, for each peer and in total, and a server keeps three
 * quarters of either limit for groups whose link has been confirmed.  Links that have not returned
 * the device yet count as well, whatever namespace they are from: a stuck device must not be given
 * more and more.
 */
static bool __may_create(struct smc_net *sn, const struct smc_lgr_key *key,
			 const struct smc_rdma_dev *dev)
{
	unsigned int n = atomic_read(&sn->lgrs->n) + atomic_read(&dev->n_releases);
	unsigned int peer_max = READ_ONCE(sn->smcr_max_lgrs_per_peer);
	unsigned int max = READ_ONCE(sn->smcr_max_lgrs);
	unsigned int n_peer = 0, n_new = 0, n_peer_new = 0;
	const struct smc_lgr *lgr;
	bool new, peer;

	lockdep_assert_held(&sn->lgrs->lock);
	list_for_each_entry(lgr, &sn->lgrs->list, list) {
		new = lgr->server && lgr->state == SMC_LGR_NEW;
		peer = same_tcp_peer(lgr, key);
		n_new += new;
		n_peer += peer;
		n_peer_new += new && peer;
	}
	if (n >= max || n_peer >= peer_max)
		return false;
	return !key->server || (n_new < DIV_ROUND_UP(max, 4) &&
				n_peer_new < DIV_ROUND_UP(peer_max, 4));
}

/**
 * smc_lgr_create() - create a link group for a first contact
 * @lconn: the group's first connection
 * @sn: the namespace
 * @key: the peer, and what was negotiated
 * @path: our end of the first link
 *
 * Context: process, may sleep.
 * Return: 0 on success; -EAGAIN if another task has created the group first, and the caller should
 * join it; -EDQUOT if the limit of groups is reached; or another negative errno.
 */
int smc_lgr_create(struct smc_lgr_conn *lconn, struct smc_net *sn,
		   const struct smc_lgr_key *key, const struct smc_rdma_path *path)
{
	struct smc_lgr *lgr = lgr_alloc(sn, key, path), *other;
	int err;

	if (!lgr)
		return -ENOMEM;
	spin_lock_bh(&sn->lgrs->lock);
	hash_for_each_possible(sn->lgrs->by_peer, other, peer_node, peer_hash(key->peer_id))
		if (key->server && other->state != SMC_LGR_ENDING &&
		    __link_for(other, key))
			break;
	/*
	 * Device removal and port events look for groups under this lock. The path may have been
	 * found long ago, before the handshake waited for another first contact.
	 */
	if (sn->lgrs->closed || !smc_rdma_path_alive(path))
		err = -ENODEV;
	else if (other)
		err = -EAGAIN;
	else if (!__may_create(sn, key, path->dev))
		err = -EDQUOT;
	else
		err = __enter(lgr, smc_lgr_first_link(lgr), lconn);
	if (!err) {
		list_add(&lgr->list, &sn->lgrs->list);
		hash_add(sn->lgrs->by_peer, &lgr->peer_node, peer_hash(lgr->peer_id));
		__smc_lgrs_changed(sn->lgrs);
		atomic_inc(&sn->lgrs->n);
	}
	spin_unlock_bh(&sn->lgrs->lock);
	if (err) {
		smc_rdma_path_put(&smc_lgr_first_link(lgr)->path);
		smc_lgr_put(lgr);
		return err;
	}
	err = lgr_build(lgr);
	if (err)
		smc_lgr_end(lgr, SMC_REASON_NO_DEVICE);
	return err;
}

static int find_next_hop(struct smc_lgr *lgr)
{
	int rc = -ENODEV;

	mutex_lock(&lgr->setup_lock);
	if (!lgr->dead)
		rc = smc_link_next_hop(smc_lgr_first_link(lgr));
	mutex_unlock(&lgr->setup_lock);
	return rc;
}

/**
 * smc_lgr_next_hop() - find the first hop of frames on the link of a first contact
 * @lconn: the connection of the first contact
 *
 * Context: process, may sleep, but does not wait for the network.
 * Return: 0 on success; -EAGAIN if a gateway has not answered yet, in which case @lconn is notified
 * when it has; or another negative errno, and the group ends.
 */
int smc_lgr_next_hop(struct smc_lgr_conn *lconn)
{
	struct smc_lgr *lgr = lconn->lgr;
	int rc = find_next_hop(lgr);

	/* The gateway may have answered before @lconn was among the waiters. */
	if (rc == -EAGAIN)
		rc = smc_lgr_await(lconn) ? find_next_hop(lgr) : -ENODEV;
	if (rc && rc != -EAGAIN)
		smc_lgr_end(lgr, SMC_REASON_NO_DEVICE);
	return rc;
}

/**
 * smc_lgr_hop_changed() - smc_link_ops.hop_changed: a neighbour may have been resolved
 * @link: the link of a first contact, or one that is being added
 */
void smc_lgr_hop_changed(struct smc_link *link)
{
	smc_llc_kick(smc_link_lgr(link));
	smc_lgr_wake_waiters(smc_link_lgr(link));
}

/**
 * smc_lgr_leave() - remove a connection that has ended on both sides
 * @lconn: the connection; it keeps its reference to the group until it is freed
 *
 * Context: any but hard interrupts.
 */
void smc_lgr_leave(struct smc_lgr_conn *lconn)
{
	struct smc_lgr *lgr = lconn->lgr;
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);

	spin_lock_bh(&lgrs->lock);
	if (lconn->counted) {
		lconn->counted = false;
		lgr->n_on_link[smc_lgr_link_index(lgr, READ_ONCE(lconn->sender.link))]--;
		xa_erase_bh(&lgr->conns, lconn->token);
		hash_del_rcu(&lconn->rmbe_node);
		if (lconn->abandoned)
			lgr->n_abandoned--;
		else if (!--lgr->n_conns)
			__smc_lgr_start_idle(lgr);
		__smc_lgr_retire(lgr, false);
	}
	spin_unlock_bh(&lgrs->lock);
}

/*
 * Which of two groups, or of a group and none, gives up its abandoned connections first?  Their
 * turn comes before their number: a group may have nothing to free.
 */
static bool __is_worse(const struct smc_lgr *lgr, const struct smc_lgr *than)
{
	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	if (!lgr->n_abandoned || !than)
		return lgr->n_abandoned;
	if (lgr->relieved != than->relieved)
		return lgr->relieved < than->relieved;
	return lgr->n_abandoned > than->n_abandoned;
}

static void __relieve(struct smc_lgr *lgr, bool places)
{
	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	lgr->relieved = ++smc_lgrs_of(lgr)->n_reliefs;
	lgr->give_up = true;
	lgr->places |= places;
	__smc_lgr_retire(lgr, true);
}

/*
 * An allocation has been refused.  Retire buffers without users at once.  Let one group give up its
 * abandoned connections, so that their memory is freed before the group ends.
 */
static void relief_work(struct work_struct *work)
{
	struct smc_lgrs *lgrs = container_of(work, struct smc_lgrs, relief_work);
	struct smc_lgr *lgr, *worst = NULL;

	spin_lock_bh(&lgrs->lock);
	list_for_each_entry(lgr, &lgrs->list, list) {
		__smc_lgr_retire(lgr, true);
		if (__is_worse(lgr, worst))
			worst = lgr;
	}
	if (worst)
		__relieve(worst, false);
	spin_unlock_bh(&lgrs->lock);
}

/**
 * smc_lgr_relieve_peer() - a peer can have no further group: give up what it has not closed
 * @sn: the namespace
 * @key: identifies the peer's groups, which may accept no connections for that reason
 *
 * Context: any but hard interrupts.
 */
void smc_lgr_relieve_peer(struct smc_net *sn, const struct smc_lgr_key *key)
{
	struct smc_lgr *lgr;

	spin_lock_bh(&sn->lgrs->lock);
	hash_for_each_possible(sn->lgrs->by_peer, lgr, peer_node, peer_hash(key->peer_id))
		if (lgr->n_abandoned && key_fits(lgr, key))
			__relieve(lgr, true);
	spin_unlock_bh(&sn->lgrs->lock);
}

static unsigned int smc_lgrs_id __ro_after_init;

static int __net_init smc_lgr_net_init(struct net *net)
{
	struct smc_lgrs *lgrs = net_generic(net, smc_lgrs_id);

	smc_spin_lock_init(&lgrs->lock, SMC_LOCK_LGRS);
	INIT_LIST_HEAD(&lgrs->list);
	hash_init(lgrs->by_peer);
	INIT_WORK(&lgrs->relief_work, relief_work);
	lgrs->seq = 1;
	smc_net(net)->lgrs = lgrs;
	rcu_assign_pointer(smc_net(net)->mem_limit->relief_work, &lgrs->relief_work);
	return 0;
}

/*
 * Called when the namespace has no sockets any more but those of the kernel.  Before it gets to
 * smc_lgr_net_exit(), the namespace waits for its netdevs and RDMA devices to go, which wait for
 * link groups, but do not find those of a namespace that is ending.  It also waits for RCU, so
 * relief_work is not queued afterwards.
 */
static void __net_exit smc_lgr_net_pre_exit(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	spin_lock_bh(&sn->lgrs->lock);
	sn->lgrs->closed = true;
	spin_unlock_bh(&sn->lgrs->lock);
	RCU_INIT_POINTER(sn->mem_limit->relief_work, NULL);
	smc_lgrs_end_all(sn);
}

/* Called when the namespace has no sockets any more; waits until all its link groups have ended. */
static void __net_exit smc_lgr_net_exit(struct net *net)
{
	struct smc_net *sn = smc_net(net);

	cancel_work_sync(&sn->lgrs->relief_work);
	wait_var_event(&sn->lgrs->n, !atomic_read(&sn->lgrs->n));
}

struct pernet_operations smc_lgr_net_ops = {
	.init	= smc_lgr_net_init,
	.pre_exit = smc_lgr_net_pre_exit,
	.exit	= smc_lgr_net_exit,
	.id	= &smc_lgrs_id,
	.size	= sizeof(struct smc_lgrs),
};
