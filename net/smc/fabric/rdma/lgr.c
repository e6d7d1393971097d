// SPDX-License-Identifier: GPL-2.0
/* Life of a link group. */
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include "../../netns.h"
#include "../../smc.h"
#include "../../stats.h"
#include "../../wire/eid.h"
#include "lgr.h"

static atomic_t smc_lgr_id;

static struct smc_lgrs *lgrs_of(const struct smc_lgr *lgr)
{
	return &lgr->sn->lgrs;
}

void smc_lgr_get(struct smc_lgr *lgr)
{
	refcount_inc(&lgr->ref);
}

/* The links were released by the end, the memory goes with the last element. */
void smc_lgr_put(struct smc_lgr *lgr)
{
	if (!refcount_dec_and_test(&lgr->ref))
		return;
	xa_destroy(&lgr->conns);
	kvfree(lgr);
}

/* Whoever waits for the outcome of a first contact looks again. */
static void wake_waiters(struct smc_lgr *lgr)
{
	struct smc_lgrs *lgrs = lgrs_of(lgr);
	struct rdma_conn *rc;

	for (;;) {
		spin_lock_bh(&lgrs->lock);
		rc = list_first_entry_or_null(&lgr->waiters, struct rdma_conn, wait);
		if (rc)
			list_del_init(&rc->wait);
		spin_unlock_bh(&lgrs->lock);
		if (!rc)
			return;
		smc_conn_notify(&rc->conn);
		smc_conn_put(&rc->conn);
	}
}

/**
 * smc_lgr_await() - a connection wants to be told of the outcome of its own first
 * contact
 * @rc: the connection
 *
 * Return: false if that is known already.
 */
bool smc_lgr_await(struct rdma_conn *rc)
{
	struct smc_lgrs *lgrs = &rc->sn->lgrs;
	bool wait;

	spin_lock_bh(&lgrs->lock);
	wait = rc->lgr->state == SMC_LGR_NEW;
	if (wait && list_empty(&rc->wait)) {
		smc_conn_get(&rc->conn);
		list_add_tail(&rc->wait, &rc->lgr->waiters);
	}
	spin_unlock_bh(&lgrs->lock);
	return wait;
}

/**
 * smc_lgr_unwait() - a connection gives up waiting for a first contact
 * @rc: the connection
 */
void smc_lgr_unwait(struct rdma_conn *rc)
{
	struct smc_lgrs *lgrs = &rc->sn->lgrs;
	bool waited;

	spin_lock_bh(&lgrs->lock);
	waited = !list_empty(&rc->wait);
	list_del_init(&rc->wait);
	spin_unlock_bh(&lgrs->lock);
	if (waited)
		smc_conn_put(&rc->conn);
}

static void end_conns(struct smc_lgr *lgr)
{
	struct rdma_conn *rc;
	unsigned long token = 0;

	for (;;) {
		rcu_read_lock();
		rc = xa_find(&lgr->conns, &token, U32_MAX, XA_PRESENT);
		if (rc && !refcount_inc_not_zero(&rc->conn.ref)) {
			rcu_read_unlock();
			token++;
			continue;
		}
		rcu_read_unlock();
		if (!rc)
			return;
		smc_cdc_cut_off(rc);
		smc_conn_notify(&rc->conn);
		smc_conn_put(&rc->conn);
		token++;
	}
}

static void lgr_end_work(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(work, struct smc_lgr, end_work);
	unsigned int i;

	if (cancel_delayed_work_sync(&lgr->idle_work))
		smc_lgr_put(lgr);
	if (cancel_delayed_work_sync(&lgr->close_work))
		smc_lgr_put(lgr);
	smc_llc_stop(lgr);
	/* Whoever has @life may wait for what this completes. */
	for (i = 0; i < SMC_LGR_LINKS; i++)
		smc_link_stop(&lgr->links[i]);
	mutex_lock(&lgr->life);
	WRITE_ONCE(lgr->over, true);
	mutex_unlock(&lgr->life);
	/* From here on links and memory are this work's alone. */
	for (i = 0; i < SMC_LGR_LINKS; i++)
		smc_link_drain(&lgr->links[i]);
	/*
	 * Nothing comes from the peer any more, nothing goes to it.  What the device still does
	 * with the queue pair is nothing that an application should wait for.
	 */
	end_conns(lgr);
	wake_waiters(lgr);
	for (i = 0; i < SMC_LGR_LINKS; i++)
		smc_link_destroy(&lgr->links[i]);
	if (lgr->rmbs)
		smc_pools_close(lgr->rmbs);
	if (lgr->txbufs)
		smc_pools_close(lgr->txbufs);
	for (i = 0; i < SMC_LGR_LINKS; i++)
		smc_link_release(&lgr->links[i]);
	if (atomic_dec_and_test(&lgr->sn->n_lgrs))
		wake_up_var(&lgr->sn->n_lgrs);
	smc_lgr_put(lgr);
}

static void __list_changed(struct smc_lgrs *lgrs)
{
	lockdep_assert_held(&lgrs->lock);
	lgrs->seq = smc_next_seq(lgrs->seq);
}

/* Returns true to the one who is to queue the work, with the list's reference. */
static bool __begin_end(struct smc_lgr *lgr, enum smc_reason reason)
{
	lockdep_assert_held(&lgrs_of(lgr)->lock);
	if (lgr->state == SMC_LGR_ENDING)
		return false;
	if (!lgr->fail)
		lgr->fail = reason;
	WRITE_ONCE(lgr->state, SMC_LGR_ENDING);
	list_del_init(&lgr->list);
	__list_changed(lgrs_of(lgr));
	return true;
}

/**
 * smc_lgr_end() - no new connections, and the end of all that there are
 * @lgr: the link group
 * @reason: why, for connections whose handshake it ends
 *
 * Context: any but hard interrupts.
 */
void smc_lgr_end(struct smc_lgr *lgr, enum smc_reason reason)
{
	struct smc_lgrs *lgrs = lgrs_of(lgr);
	bool first;

	spin_lock_bh(&lgrs->lock);
	first = __begin_end(lgr, reason);
	spin_unlock_bh(&lgrs->lock);
	if (first)
		queue_work(smc_wq, &lgr->end_work);
}

/* Nobody has used it for a while: say goodbye (RFC 7609, 3.5.4). */
static void lgr_idle_work(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(work, struct smc_lgr, idle_work.work);
	struct smc_lgrs *lgrs = lgrs_of(lgr);
	bool first;

	spin_lock_bh(&lgrs->lock);
	first = !lgr->n_conns && __begin_end(lgr, SMC_REASON_NONE);
	spin_unlock_bh(&lgrs->lock);
	if (first)
		queue_work(smc_wq, &lgr->end_work);
	smc_lgr_put(lgr);
}

static void __start_idle(struct smc_lgr *lgr)
{
	/* The client gives the server, whose right it is, time to be first. */
	unsigned long time = READ_ONCE(lgr->sn->lgr_idle_time) * HZ +
			     (lgr->server ? 0 : 2 * HZ);

	lockdep_assert_held(&lgrs_of(lgr)->lock);
	if (lgr->state != SMC_LGR_ACTIVE)
		return;
	smc_lgr_get(lgr);
	if (mod_delayed_work(smc_wq, &lgr->idle_work, time))
		refcount_dec(&lgr->ref);
}

/* As long as TCP keeps a connection that only the peer has not closed (FIN_WAIT2). */
static unsigned long close_time(const struct smc_lgr *lgr)
{
	return READ_ONCE(lgr->sn->net->ipv4.sysctl_tcp_fin_timeout);
}

static void __start_close(struct smc_lgr *lgr, unsigned long time)
{
	lockdep_assert_held(&lgrs_of(lgr)->lock);
	if (lgr->state != SMC_LGR_ACTIVE)
		return;
	smc_lgr_get(lgr);
	if (!queue_delayed_work(smc_wq, &lgr->close_work, time))
		refcount_dec(&lgr->ref);
}

/**
 * smc_lgr_await_close() - the socket is done with a connection, its peer is not
 * @rc: the connection
 *
 * The peer has a while (RFC 7609, 4.8.1 and 4.8.2, 1B).  After that the connection no longer
 * keeps the group from being idle.  Its element is not reused: the peer may still write there,
 * until it says that it does not, or has no link any more.
 *
 * Context: any but hard interrupts.
 */
void smc_lgr_await_close(struct rdma_conn *rc)
{
	struct smc_lgrs *lgrs = lgrs_of(rc->lgr);

	spin_lock_bh(&lgrs->lock);
	rc->closing = jiffies ?: 1;
	__start_close(rc->lgr, close_time(rc->lgr));
	spin_unlock_bh(&lgrs->lock);
}

/* Returns the time until the next connection is overdue, 0 if there is none. */
static long __abandon_overdue(struct smc_lgr *lgr, unsigned int *n)
{
	unsigned long time = close_time(lgr), token;
	struct rdma_conn *rc;
	long left, next = 0;

	lockdep_assert_held(&lgrs_of(lgr)->lock);
	/* Whoever leaves takes the lock before it is freed. */
	xa_for_each(&lgr->conns, token, rc) {
		if (!rc->closing || rc->abandoned)
			continue;
		left = rc->closing + time - jiffies;
		if (left > 0) {
			next = next ? min(next, left) : left;
			continue;
		}
		rc->abandoned = true;
		lgr->n_abandoned++;
		lgr->n_conns--;
		++*n;
	}
	return next;
}

static void lgr_close_work(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(work, struct smc_lgr, close_work.work);
	struct smc_lgrs *lgrs = lgrs_of(lgr);
	unsigned int n = 0;
	long next;

	spin_lock_bh(&lgrs->lock);
	next = __abandon_overdue(lgr, &n);
	if (next)
		__start_close(lgr, next);
	if (n && !lgr->n_conns)
		__start_idle(lgr);
	spin_unlock_bh(&lgrs->lock);
	/* Has the peer forgotten one connection, or is it gone? */
	if (n)
		smc_llc_test_now(lgr, false);
	smc_lgr_put(lgr);
}

/**
 * smc_lgr_activate() - the first contact has ended well
 * @lgr: the link group
 */
void smc_lgr_activate(struct smc_lgr *lgr)
{
	struct smc_lgrs *lgrs = lgrs_of(lgr);

	spin_lock_bh(&lgrs->lock);
	if (lgr->state == SMC_LGR_NEW) {
		WRITE_ONCE(lgr->state, SMC_LGR_ACTIVE);
		lgr->links[0].state = SMC_LINK_ACTIVE;
		this_cpu_inc(lgr->sn->stats->links_up);
		if (!lgr->n_conns)
			__start_idle(lgr);
	}
	spin_unlock_bh(&lgrs->lock);
	wake_waiters(lgr);
	smc_llc_start_tests(lgr);
}

static bool same_tcp_peer(const struct smc_lgr *lgr, const struct smc_lgr_key *key)
{
	return ipv6_addr_equal(&lgr->tcp_peer.addr, &key->tcp_peer->addr) &&
	       lgr->tcp_peer.ifindex == key->tcp_peer->ifindex;
}

static bool key_fits(const struct smc_lgr *lgr, const struct smc_lgr_key *key)
{
	const struct smc_link *link = &lgr->links[0];

	if (lgr->server != key->server || lgr->version != key->version ||
	    memcmp(lgr->peer_id, key->peer_id, sizeof(lgr->peer_id)))
		return false;
	/* A Proposal of version 2 need not tell the MAC address. */
	if ((!is_zero_ether_addr(key->peer_mac) &&
	     !is_zero_ether_addr(link->peer_mac) &&
	     !ether_addr_equal_unaligned(link->peer_mac, key->peer_mac)) ||
	    memcmp(link->peer_gid.raw, key->peer_gid, sizeof(link->peer_gid)))
		return false;
	/* All of the above is no secret; where the Proposal came from was proven by TCP. */
	if (key->server && !same_tcp_peer(lgr, key))
		return false;
	if (lgr->version == SMC_CLC_V1)
		return lgr->vlan_id == key->vlan_id;
	return key->server ? smc_eid_equal(lgr->eid, key->eid) &&
			     lgr->release == key->release : true;
}

/* The server puts a connection where there is room, the client where it is told. */
static bool __takes(const struct smc_lgr *lgr, const struct smc_lgr_key *key)
{
	if (!key_fits(lgr, key))
		return false;
	if (!key->server)
		return lgr->links[0].peer_qpn == key->peer_qpn;
	/* Of a first contact the outcome is awaited, unless many wait already. */
	return lgr->n_conns + lgr->n_abandoned < lgr->max_conns && !READ_ONCE(lgr->doubted);
}

static int __enter(struct smc_lgr *lgr, struct rdma_conn *rc)
{
	int err;

	lockdep_assert_held(&lgrs_of(lgr)->lock);
	err = xa_alloc_cyclic_bh(&lgr->conns, &rc->token, rc,
				 XA_LIMIT(1, U32_MAX), &lgr->last_token,
				 GFP_ATOMIC);
	if (err < 0)
		return err;
	lgr->n_conns++;
	rc->counted = true;
	smc_lgr_get(lgr);
	rc->lgr = lgr;
	rc->link = &lgr->links[0];
	return 0;
}

/**
 * smc_lgr_join() - a link group that takes a connection
 * @rc: the connection, without a link group
 * @sn: its namespace
 * @key: what is wanted
 *
 * Return: 0; -EAGAIN if a first contact is under way, of whose outcome @rc is told;
 * -ENOENT if there is none; -ENOMEM.
 */
int smc_lgr_join(struct rdma_conn *rc, struct smc_net *sn,
		 const struct smc_lgr_key *key)
{
	struct smc_lgr *lgr, *young = NULL;
	int err = -ENOENT;

	spin_lock_bh(&sn->lgrs.lock);
	list_for_each_entry(lgr, &sn->lgrs.list, list) {
		if (!__takes(lgr, key))
			continue;
		if (lgr->state == SMC_LGR_ACTIVE) {
			err = __enter(lgr, rc);
			break;
		}
		if (lgr->state == SMC_LGR_NEW)
			young = lgr;
	}
	if (err == -ENOENT && young) {
		err = -EAGAIN;
		if (list_empty(&rc->wait)) {
			smc_conn_get(&rc->conn);
			list_add_tail(&rc->wait, &young->waiters);
		}
	}
	spin_unlock_bh(&sn->lgrs.lock);
	return err;
}

static struct smc_lgr *lgr_alloc(struct smc_net *sn, const struct smc_lgr_key *key,
				 const struct smc_rdma_path *path)
{
	struct smc_lgr *lgr = kvzalloc(sizeof(*lgr), GFP_KERNEL_ACCOUNT);
	unsigned int i;

	if (!lgr)
		return NULL;
	refcount_set(&lgr->ref, 1);
	INIT_LIST_HEAD(&lgr->list);
	INIT_LIST_HEAD(&lgr->waiters);
	lgr->sn = sn;
	lgr->state = SMC_LGR_NEW;
	lgr->id = atomic_inc_return(&smc_lgr_id);
	lgr->server = key->server;
	lgr->version = key->version;
	lgr->release = key->release;
	memcpy(lgr->peer_id, key->peer_id, sizeof(lgr->peer_id));
	lgr->tcp_peer = *key->tcp_peer;
	if (key->eid)
		memcpy(lgr->eid, key->eid, SMC_EID_LEN);
	lgr->vlan_id = key->vlan_id;
	lgr->buf_type = READ_ONCE(sn->smcr_buf_type);
	lgr->max_conns = key->max_conns;
	lgr->max_links = key->max_links;
	strscpy(lgr->dev_name, path->dev->ibdev->name, sizeof(lgr->dev_name));
	memcpy(lgr->links[0].peer_mac, key->peer_mac, ETH_ALEN);
	memcpy(lgr->links[0].peer_gid.raw, key->peer_gid, 16);
	lgr->links[0].peer_qpn = key->peer_qpn;
	xa_init_flags(&lgr->conns, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	hash_init(lgr->writers);
	spin_lock_init(&lgr->lock);
	mutex_init(&lgr->life);
	for (i = 0; i < SMC_LGR_LINKS; i++)
		smc_link_init(&lgr->links[i]);
	smc_rdma_path_copy(&lgr->links[0].path, path);
	INIT_DELAYED_WORK(&lgr->idle_work, lgr_idle_work);
	INIT_DELAYED_WORK(&lgr->close_work, lgr_close_work);
	INIT_WORK(&lgr->end_work, lgr_end_work);
	smc_llc_init(lgr);
	return lgr;
}

/* Everything that takes time; whoever wants the same peer waits meanwhile. */
static int build(struct smc_lgr *lgr)
{
	int rc = -ENODEV;

	mutex_lock(&lgr->life);
	if (!lgr->over)
		rc = smc_link_create(&lgr->links[0], lgr, 1);
	if (!rc) {
		lgr->rmbs = smc_pools_new(lgr->sn->budget, lgr->buf_type,
					  &smc_rmb_ops, lgr);
		lgr->txbufs = smc_pools_new(lgr->sn->budget, lgr->buf_type,
					    &smc_txbuf_ops, lgr);
		rc = lgr->rmbs && lgr->txbufs ? 0 : -ENOMEM;
	}
	mutex_unlock(&lgr->life);
	return rc;
}

/*
 * Whoever reaches a listener can have a group made for the price of a Proposal.  So there is
 * a limit, for each peer and for all, and a server keeps three quarters of it for groups whose
 * link was confirmed.
 */
static bool __may_create(struct smc_net *sn, const struct smc_lgr_key *key)
{
	unsigned int peer_max = READ_ONCE(sn->smcr_max_lgrs_per_peer);
	unsigned int max = READ_ONCE(sn->smcr_max_lgrs);
	unsigned int n_peer = 0, n_new = 0, n_peer_new = 0;
	const struct smc_lgr *lgr;
	bool new, peer;

	lockdep_assert_held(&sn->lgrs.lock);
	list_for_each_entry(lgr, &sn->lgrs.list, list) {
		new = lgr->server && lgr->state == SMC_LGR_NEW;
		peer = same_tcp_peer(lgr, key);
		n_new += new;
		n_peer += peer;
		n_peer_new += new && peer;
	}
	if (atomic_read(&sn->n_lgrs) >= max || n_peer >= peer_max)
		return false;
	return !key->server || (n_new < DIV_ROUND_UP(max, 4) &&
				n_peer_new < DIV_ROUND_UP(peer_max, 4));
}

/**
 * smc_lgr_create() - a new link group for a first contact
 * @rc: its first connection
 * @sn: the namespace
 * @key: the peer, and what was settled
 * @path: our end of the first link
 *
 * Context: process, may sleep.
 * Return: 0; -EAGAIN if somebody else was faster, try to join; -EDQUOT if there are as many
 * groups as there may be; else a negative errno.
 */
int smc_lgr_create(struct rdma_conn *rc, struct smc_net *sn,
		   const struct smc_lgr_key *key, const struct smc_rdma_path *path)
{
	struct smc_lgr *lgr = lgr_alloc(sn, key, path), *other;
	int err;

	if (!lgr)
		return -ENOMEM;
	spin_lock_bh(&sn->lgrs.lock);
	list_for_each_entry(other, &sn->lgrs.list, list)
		if (key->server && other->state != SMC_LGR_ENDING &&
		    __takes(other, key))
			break;
	/* Who removes the device looks for groups under this lock. */
	if (sn->lgrs.closed || smc_rdma_dev_gone(path->dev))
		err = -ENODEV;
	else if (!list_entry_is_head(other, &sn->lgrs.list, list))
		err = -EAGAIN;
	else if (!__may_create(sn, key))
		err = -EDQUOT;
	else
		err = __enter(lgr, rc);
	if (!err) {
		list_add(&lgr->list, &sn->lgrs.list);
		__list_changed(&sn->lgrs);
		atomic_inc(&sn->n_lgrs);
	}
	spin_unlock_bh(&sn->lgrs.lock);
	if (err) {
		smc_rdma_path_put(&lgr->links[0].path);
		smc_lgr_put(lgr);
		return err;
	}
	err = build(lgr);
	if (err)
		smc_lgr_end(lgr, SMC_REASON_NO_DEVICE);
	return err;
}

/**
 * smc_lgr_leave() - a connection has ended on both sides
 * @rc: the connection; it keeps its reference to the group until it is freed
 *
 * Context: any but hard interrupts.
 */
void smc_lgr_leave(struct rdma_conn *rc)
{
	struct smc_lgr *lgr = rc->lgr;
	struct smc_lgrs *lgrs = lgrs_of(lgr);

	spin_lock_bh(&lgrs->lock);
	if (rc->counted) {
		rc->counted = false;
		xa_erase_bh(&lgr->conns, rc->token);
		hash_del_rcu(&rc->writer);
		if (rc->abandoned)
			lgr->n_abandoned--;
		else if (!--lgr->n_conns)
			__start_idle(lgr);
	}
	spin_unlock_bh(&lgrs->lock);
}

/**
 * smc_lgr_find_conn() - the connection that a CDC message is for
 * @lgr: the link group it came over
 * @token: its alert token
 *
 * Return: the connection with a reference, or NULL.
 */
struct rdma_conn *smc_lgr_find_conn(struct smc_lgr *lgr, u32 token)
{
	struct rdma_conn *rc;

	rcu_read_lock();
	rc = xa_load(&lgr->conns, token);
	if (rc && !refcount_inc_not_zero(&rc->conn.ref))
		rc = NULL;
	rcu_read_unlock();
	return rc;
}

/* Bucket of an element of the peer's. */
static u32 rmbe_key(u32 rkey, u8 idx)
{
	return rkey << 8 | idx;
}

static void cut_off_if_alive(struct rdma_conn *rc)
{
	if (!refcount_inc_not_zero(&rc->conn.ref))
		return;
	smc_cdc_cut_off(rc);
	smc_conn_put(&rc->conn);
}

/**
 * smc_lgr_claim_rmbe() - the peer gives an element to a connection
 * @rc: the connection, with @peer_rkey and @peer_idx
 *
 * Whoever still used it has lost it, and must not write there (RFC 7609, 4.4.2).
 *
 * Context: process, under @lgr->life.
 */
void smc_lgr_claim_rmbe(struct rdma_conn *rc)
{
	u32 key = rmbe_key(rc->peer_rkey, rc->peer_idx);
	struct smc_lgr *lgr = rc->lgr;
	struct smc_lgrs *lgrs = lgrs_of(lgr);
	struct rdma_conn *old;

	lockdep_assert_held(&lgr->life);
	rcu_read_lock();
	hash_for_each_possible_rcu(lgr->writers, old, writer, key)
		if (old->peer_rkey == rc->peer_rkey && old->peer_idx == rc->peer_idx)
			cut_off_if_alive(old);
	rcu_read_unlock();
	spin_lock_bh(&lgrs->lock);
	if (rc->counted)
		hash_add_rcu(lgr->writers, &rc->writer, key);
	spin_unlock_bh(&lgrs->lock);
}

/**
 * smc_lgr_abort_rmb() - the peer gives up an RMB
 * @lgr: the link group
 * @rkey: of the peer's RMB
 *
 * Connections that it has not closed before have lost their elements.  A write would be
 * refused, and break the link for all others.
 */
void smc_lgr_abort_rmb(struct smc_lgr *lgr, u32 rkey)
{
	struct rdma_conn *rc;
	int bucket;

	rcu_read_lock();
	hash_for_each_rcu(lgr->writers, bucket, rc, writer)
		if (rc->peer_rkey == rkey && !smc_conn_peer_gone(&rc->conn))
			cut_off_if_alive(rc);
	rcu_read_unlock();
}

/* Which groups are to end. */
struct victims {
	struct smc_rdma_dev	*dev;
	bool			(*chosen)(const struct smc_lgr *lgr,
					  const struct victims *v);
};

static bool any_lgr(const struct smc_lgr *lgr, const struct victims *v)
{
	return true;
}

static bool on_device(const struct smc_lgr *lgr, const struct victims *v)
{
	return lgr->links[0].path.dev == v->dev;
}

static bool lost_path(const struct smc_lgr *lgr, const struct victims *v)
{
	return on_device(lgr, v) && !smc_rdma_path_alive(&lgr->links[0].path);
}

static void end_those(struct smc_net *sn, const struct victims *v)
{
	struct smc_lgr *lgr, *found;

	do {
		found = NULL;
		spin_lock_bh(&sn->lgrs.lock);
		list_for_each_entry(lgr, &sn->lgrs.list, list) {
			if (!v->chosen(lgr, v))
				continue;
			smc_lgr_get(lgr);
			found = lgr;
			break;
		}
		spin_unlock_bh(&sn->lgrs.lock);
		if (found) {
			smc_lgr_end(found, SMC_REASON_NO_DEVICE);
			smc_lgr_put(found);
		}
	} while (found);
}

static void end_everywhere(const struct victims *v)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
		end_those(smc_net(net), v);
	up_read(&net_rwsem);
}

/**
 * smc_lgr_end_all() - the namespace goes
 * @sn: the namespace; it has no sockets any more
 *
 * Context: process, waits until all link groups have ended.
 */
void smc_lgr_end_all(struct smc_net *sn)
{
	spin_lock_bh(&sn->lgrs.lock);
	sn->lgrs.closed = true;
	spin_unlock_bh(&sn->lgrs.lock);
	end_those(sn, &(struct victims) { .chosen = any_lgr });
	wait_var_event(&sn->n_lgrs, !atomic_read(&sn->n_lgrs));
}

/**
 * smc_lgr_port_down() - something happened to a port or to its GIDs
 * @dev: the device
 * @port: its port
 */
void smc_lgr_port_down(struct smc_rdma_dev *dev, u8 port)
{
	end_everywhere(&(struct victims) { .dev = dev, .chosen = lost_path });
}

/**
 * smc_lgr_dev_removed() - a device goes
 * @dev: the device, marked as gone; its remove waits for the references
 */
void smc_lgr_dev_removed(struct smc_rdma_dev *dev)
{
	end_everywhere(&(struct victims) { .dev = dev, .chosen = on_device });
}
