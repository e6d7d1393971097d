// SPDX-License-Identifier: GPL-2.0
/* A link group as an object: references, its connections, and those that wait for it. */
#include "../../../netns.h"
#include "lgr.h"

/* Valid while the group has connections or @end_work has not finished. */
struct smc_lgrs *smc_lgrs_of(const struct smc_lgr *lgr)
{
	return lgr->sn->lgrs;
}

void smc_lgr_get(struct smc_lgr *lgr)
{
	refcount_inc(&lgr->ref);
}

/* The last reference frees the memory.  The links were released when the group ended. */
void smc_lgr_put(struct smc_lgr *lgr)
{
	if (!refcount_dec_and_test(&lgr->ref))
		return;
	xa_destroy(&lgr->conns);
	kvfree(lgr);
}

/**
 * smc_lgr_wake_waiters() - wake all that wait for the outcome of a first contact
 * @lgr: the link group
 *
 * Context: any but hard interrupts.
 */
void smc_lgr_wake_waiters(struct smc_lgr *lgr)
{
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);
	struct smc_lgr_conn *lconn;

	for (;;) {
		spin_lock_bh(&lgrs->lock);
		lconn = list_first_entry_or_null(&lgr->waiters, struct smc_lgr_conn, wait);
		if (lconn)
			list_del_init(&lconn->wait);
		spin_unlock_bh(&lgrs->lock);
		if (!lconn)
			return;
		smc_conn_notify(&lconn->msg.conn);
		smc_conn_put(&lconn->msg.conn);
	}
}

/**
 * smc_lgr_await() - notify a connection of the outcome of its own first contact
 * @lconn: the connection
 *
 * Return: true if it will be notified, false if the outcome is known already.
 */
bool smc_lgr_await(struct smc_lgr_conn *lconn)
{
	struct smc_lgrs *lgrs = lconn->sn->lgrs;
	bool wait;

	spin_lock_bh(&lgrs->lock);
	wait = lconn->lgr->state == SMC_LGR_NEW;
	if (wait && list_empty(&lconn->wait)) {
		smc_conn_get(&lconn->msg.conn);
		list_add_tail(&lconn->wait, &lconn->lgr->waiters);
	}
	spin_unlock_bh(&lgrs->lock);
	return wait;
}

/**
 * smc_lgr_unwait() - stop waiting for a first contact
 * @lconn: the connection
 */
void smc_lgr_unwait(struct smc_lgr_conn *lconn)
{
	struct smc_lgrs *lgrs = lconn->sn->lgrs;
	bool waited;

	spin_lock_bh(&lgrs->lock);
	waited = !list_empty(&lconn->wait);
	list_del_init(&lconn->wait);
	spin_unlock_bh(&lgrs->lock);
	if (waited)
		smc_conn_put(&lconn->msg.conn);
}

/**
 * smc_lgr_next_conn() - iterate over the connections of a group
 * @lgr: the link group
 * @token: 0 to start; then the alert token of the connection returned last
 *
 * Context: any but hard interrupts.
 * Return: the connection, referenced, or NULL at the end.
 */
struct smc_lgr_conn *smc_lgr_next_conn(struct smc_lgr *lgr, unsigned long *token)
{
	struct smc_lgr_conn *lconn;

	rcu_read_lock();
	do {
		++*token;
		lconn = xa_find(&lgr->conns, token, U32_MAX, XA_PRESENT);
	} while (lconn && !refcount_inc_not_zero(&lconn->msg.conn.ref));
	rcu_read_unlock();
	return lconn;
}

/**
 * smc_lgr_find_conn() - find the connection that a CDC message is for
 * @lgr: the link group that the message came over
 * @token: alert token in the message
 *
 * Return: the connection with a reference, or NULL.
 */
struct smc_lgr_conn *smc_lgr_find_conn(struct smc_lgr *lgr, u32 token)
{
	struct smc_lgr_conn *lconn;

	rcu_read_lock();
	lconn = xa_load(&lgr->conns, token);
	if (lconn && !refcount_inc_not_zero(&lconn->msg.conn.ref))
		lconn = NULL;
	rcu_read_unlock();
	return lconn;
}

/**
 * __smc_lgr_hoards() - does the peer leave so many connections unclosed that none should join?
 * @lgr: the link group; its smc_lgrs.lock is held
 *
 * Return: true if a quarter of the connections that the group may have is abandoned.
 */
bool __smc_lgr_hoards(const struct smc_lgr *lgr)
{
	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	return lgr->n_abandoned >= DIV_ROUND_UP(lgr->max_conns, 4u);
}
