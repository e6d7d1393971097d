// SPDX-License-Identifier: GPL-2.0
/* Which of the peer's elements each connection of a link group writes to. */
#include "../../../netns.h"
#include "lgr.h"

/* Hash key of an element of the peer. */
static u32 rmbe_key(u8 rtoken, u8 idx)
{
	return rtoken << 8 | idx;
}

static void cut_off_if_alive(struct smc_lgr_conn *lconn)
{
	if (!refcount_inc_not_zero(&lconn->msg.conn.ref))
		return;
	lconn->cut_off(lconn);
	smc_conn_put(&lconn->msg.conn);
}

/**
 * smc_lgr_claim_rmbe() - record the peer's element that a connection writes to
 * @lconn: the connection, with @rtoken and @peer_idx set
 *
 * A connection that still used the element has lost it, and must not write there (RFC 7609, 4.4.2).
 *
 * From here on smc_lgr_abort_rmb() finds the connection.  What the connection looks up in the
 * RToken afterwards therefore belongs to this RMB, or to none.
 *
 * Context: process, under @lgr->setup_lock.
 */
void smc_lgr_claim_rmbe(struct smc_lgr_conn *lconn)
{
	u32 key = rmbe_key(lconn->rtoken, lconn->peer_idx);
	struct smc_lgr *lgr = lconn->lgr;
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);
	struct smc_lgr_conn *old;

	lockdep_assert_held(&lgr->setup_lock);
	rcu_read_lock();
	hash_for_each_possible_rcu(lgr->by_peer_rmbe, old, rmbe_node, key)
		if (old->rtoken == lconn->rtoken && old->peer_idx == lconn->peer_idx)
			cut_off_if_alive(old);
	rcu_read_unlock();
	spin_lock_bh(&lgrs->lock);
	if (lconn->counted)
		hash_add_rcu(lgr->by_peer_rmbe, &lconn->rmbe_node, key);
	spin_unlock_bh(&lgrs->lock);
}

/* Forget who writes to an RMB's elements, because its number may become another RMB's. */
static void disown_rmbes(struct smc_lgr *lgr, unsigned int rtoken)
{
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);
	struct smc_lgr_conn *lconn;
	struct hlist_node *next;
	int bucket;

	spin_lock_bh(&lgrs->lock);
	hash_for_each_safe(lgr->by_peer_rmbe, bucket, next, lconn, rmbe_node)
		if (lconn->rtoken == rtoken)
			hash_del_rcu(&lconn->rmbe_node);
	spin_unlock_bh(&lgrs->lock);
}

/**
 * smc_lgr_rmb_used() - does a connection write to an RMB of the peer?
 * @lgr: the link group
 * @rtoken: number of the RMB
 *
 * Context: process, under @lgr->setup_lock, so no connection begins to use the RMB meanwhile.
 * Return: true if a connection does.
 */
bool smc_lgr_rmb_used(struct smc_lgr *lgr, unsigned int rtoken)
{
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);
	struct smc_lgr_conn *lconn;
	bool used = false;
	int bucket;

	lockdep_assert_held(&lgr->setup_lock);
	spin_lock_bh(&lgrs->lock);
	hash_for_each(lgr->by_peer_rmbe, bucket, lconn, rmbe_node)
		used |= lconn->rtoken == rtoken;
	spin_unlock_bh(&lgrs->lock);
	return used;
}

/**
 * smc_lgr_abort_rmb() - cut off the connections that write to an RMB that the peer gives up
 * @lgr: the link group
 * @rtoken: the number that the RMB had, see smc_rtoken_del()
 *
 * A connection that has not told the peer of its own end, after which it writes nothing more, has
 * lost its element.  The device would refuse a write to it, which would break the link for all
 * other connections.  One that has, and waits for the peer's end, waits in vain: the peer gives up
 * an RMB when no connection uses it.
 *
 * Context: the engine's work.
 */
void smc_lgr_abort_rmb(struct smc_lgr *lgr, unsigned int rtoken)
{
	struct smc_lgr_conn *lconn;
	int bucket;

	rcu_read_lock();
	hash_for_each_rcu(lgr->by_peer_rmbe, bucket, lconn, rmbe_node)
		if (lconn->rtoken == rtoken &&
		    (!smc_msg_end_said(&lconn->msg) || smc_msg_peer_open(&lconn->msg)))
			cut_off_if_alive(lconn);
	rcu_read_unlock();
	disown_rmbes(lgr, rtoken);
}
