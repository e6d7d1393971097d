// SPDX-License-Identifier: GPL-2.0
/* The LLC engine: CONFIRM RKEY, by which the peer learns of our RMBs (RFC 7609, 3.5.5.2.1). */
#include "../../../smc.h"
#include "lgr.h"
#include "../link/link.h"
#include "llc_msg.h"

/* How often, and at what interval, a peer that is busy with another exchange is asked again. */
#define RKEY_RETRIES	20
#define RKEY_RETRY_TIME	(HZ / 10)

/**
 * smc_llc_wake_rkey_waiters() - wake all connections that wait for an RMB to be confirmed
 * @lgr: the link group
 *
 * Context: any but hard interrupts.
 */
void smc_llc_wake_rkey_waiters(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_lgr_conn *lconn;

	for (;;) {
		spin_lock_bh(&llc->lock);
		lconn = list_first_entry_or_null(&llc->waiters, struct smc_lgr_conn,
						 rkey_wait);
		if (lconn)
			list_del_init(&lconn->rkey_wait);
		spin_unlock_bh(&llc->lock);
		if (!lconn)
			return;
		smc_conn_notify(&lconn->msg.conn);
		smc_conn_put(&lconn->msg.conn);
	}
}

/**
 * smc_llc_begin_confirm_rkey() - make sure that the peer knows an RMB
 * @lgr: the link group; its setup_lock is held
 * @rmb: the RMB
 * @lconn: the connection that will use the RMB, and is notified of the outcome
 *
 * A peer that has refused the RMB is asked again for the next connection: "the next natural
 * stimulus" (RFC 7609, A.3.5).
 *
 * Return: 0 if the peer knows the RMB; -EAGAIN if the peer is being told; -EACCES if it has
 * refused; -ENOLINK if the engine has stopped.
 */
int smc_llc_begin_confirm_rkey(struct smc_lgr *lgr, struct smc_rmb *rmb,
			       struct smc_lgr_conn *lconn)
{
	struct smc_llc *llc = &lgr->llc;
	int err = -EAGAIN;

	spin_lock_bh(&llc->lock);
	if (!lconn->rkey_asked) {
		lconn->rkey_asked = true;
		lconn->refusals = rmb->refusals;
	}
	if (rmb->confirmed) {
		err = 0;
	} else if (llc->stopped) {
		err = -ENOLINK;
	} else if (rmb->refusals != lconn->refusals) {
		err = -EACCES;
	} else {
		if (list_empty(&rmb->list) && llc->rmb != rmb)
			list_add_tail(&rmb->list, &llc->rkeys);
		if (list_empty(&lconn->rkey_wait)) {
			smc_conn_get(&lconn->msg.conn);
			list_add_tail(&lconn->rkey_wait, &llc->waiters);
		}
		__smc_llc_kick(lgr, 0);
	}
	spin_unlock_bh(&llc->lock);
	return err;
}

/**
 * smc_llc_rkey_settled() - is it certain whether the peer knows an RMB?
 * @rmb: the RMB, which no connection uses
 *
 * It is not while the peer is being asked, nor if an answer was lost with its link and the peer has
 * refused the RMB since then, perhaps because it had accepted it before. DELETE RKEY would not
 * help, as such a peer need not know the keys on newer links.
 *
 * Context: any but hard interrupts.
 * Return: true if so.
 */
bool smc_llc_rkey_settled(const struct smc_rmb *rmb)
{
	struct smc_llc *llc = &rmb->lgr->llc;
	bool settled;

	spin_lock_bh(&llc->lock);
	settled = rmb->confirmed ||
		  (list_empty(&rmb->list) && llc->rmb != rmb && !rmb->unanswered);
	spin_unlock_bh(&llc->lock);
	return settled;
}

/**
 * smc_llc_unwait() - stop waiting for an RMB to be confirmed
 * @lconn: the connection
 */
void smc_llc_unwait(struct smc_lgr_conn *lconn)
{
	struct smc_llc *llc = &lconn->lgr->llc;
	bool waited;

	spin_lock_bh(&llc->lock);
	waited = !list_empty(&lconn->rkey_wait);
	list_del_init(&lconn->rkey_wait);
	spin_unlock_bh(&llc->lock);
	if (waited)
		smc_conn_put(&lconn->msg.conn);
}

/* Fill in an RMB's keys and addresses on all links, for a message over @link. */
static int __rmb_on_links(struct smc_lgr *lgr, const struct smc_rmb *rmb,
			  const struct smc_link *link, struct smc_llc_confirm_rkey *m)
{
	const struct ib_mr *mr = smc_mem_mr(rmb, link);
	struct smc_llc_link_rtoken *other;
	const struct smc_link *l;

	lockdep_assert_held(&lgr->setup_lock);
	if (!mr)
		return -ENOLINK;
	m->rkey = mr->rkey;
	m->addr = mr->iova;
	smc_lgr_for_each_link(lgr, l) {
		mr = smc_mem_mr(rmb, l);
		if (l == link || READ_ONCE(l->state) != SMC_LINK_ACTIVE || !mr ||
		    m->n_total == ARRAY_SIZE(m->others))
			continue;
		other = &m->others[m->n_total++];
		other->link = l->number;
		other->rkey = mr->rkey;
		other->addr = mr->iova;
	}
	return smc_mem_valid(rmb, link) ? 0 : -EAGAIN;
}

static int rmb_on_links(struct smc_lgr *lgr, const struct smc_rmb *rmb,
			const struct smc_link *link, struct smc_llc_confirm_rkey *m)
{
	int rc;

	mutex_lock(&lgr->setup_lock);
	rc = __rmb_on_links(lgr, rmb, link, m);
	mutex_unlock(&lgr->setup_lock);
	return rc;
}

/**
 * smc_llc_rkey_put_off() - put the RMB that is being confirmed back to the head of the queue
 * @lgr: the link group
 *
 * The peer is asked again later, with the keys on the links that there are then.
 *
 * Context: the engine's work.
 */
void smc_llc_rkey_put_off(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;

	spin_lock_bh(&llc->lock);
	list_add(&llc->rmb->list, &llc->rkeys);
	llc->rmb = NULL;
	spin_unlock_bh(&llc->lock);
	llc->wait = SMC_LLC_IDLE;
}

/**
 * smc_llc_next_rkey() - send CONFIRM RKEY for the next RMB, if there is one
 * @lgr: the link group, whose engine waits for nothing
 *
 * Context: the engine's work.
 */
void smc_llc_next_rkey(struct smc_lgr *lgr)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_CONFIRM_RKEY,
		.v2 = smc_lgr_is_v2(lgr),
	};
	struct smc_link *link = smc_lgr_working_link(lgr);
	struct smc_llc *llc = &lgr->llc;
	int rc;

	/* Without a link the group ends, which wakes the waiters. */
	if (!link)
		return;
	spin_lock_bh(&llc->lock);
	llc->rkey_link = link;
	llc->rkey_uid = link->uid;
	llc->rmb = list_first_entry_or_null(&llc->rkeys, struct smc_rmb, list);
	if (llc->rmb)
		list_del_init(&llc->rmb->list);
	spin_unlock_bh(&llc->lock);
	if (!llc->rmb)
		return;
	rc = rmb_on_links(lgr, llc->rmb, link, &m.confirm_rkey);
	if (rc == -EAGAIN) {
		/* smc_llc_sent() is called when the last region is valid. */
		smc_llc_rkey_put_off(lgr);
		return;
	}
	/* A link that is down has no region; treat that like a missing answer. */
	llc->rmb->unanswered++;
	llc->rkey_doubt = false;
	if (!rc)
		smc_llc_send_or_down(link, &m);
	llc->rkey = m.confirm_rkey.rkey;
	smc_llc_await(lgr, SMC_LLC_W_CONFIRM_RKEY_RSP);
}

/**
 * smc_llc_rkey_delay() - how long must we wait before we ask the peer again?
 * @llc: the engine
 *
 * A peer that puts us off neither says for how long, nor tells us when it is ready.
 *
 * Context: the engine's work.
 * Return: time in jiffies, 0 if the peer has not put us off.
 */
unsigned long smc_llc_rkey_delay(struct smc_llc *llc)
{
	unsigned long now = jiffies;

	if (llc->rkey_again && time_before(now, llc->rkey_again))
		return llc->rkey_again - now;
	llc->rkey_again = 0;
	return 0;
}

/**
 * smc_llc_is_late_rkey() - is this the answer to a request that we repeat?
 * @lgr: the link group
 * @link: the link that it came over
 *
 * We repeat a request when a link comes or goes meanwhile.  Answers over one link arrive in order,
 * so the late one is the first.
 *
 * Context: the engine's work.
 * Return: true if so; that answer is no longer expected then.
 */
bool smc_llc_is_late_rkey(struct smc_lgr *lgr, const struct smc_link *link)
{
	struct smc_llc *llc = &lgr->llc;
	unsigned int *late = &llc->rkeys_late[smc_lgr_link_index(lgr, link)];

	if (!*late)
		return false;
	--*late;
	if (link == llc->rkey_link)
		llc->rkey_doubt = true;
	return true;
}

/**
 * smc_llc_rkey_answered() - process the peer's answer to our CONFIRM RKEY
 * @lgr: the link group
 * @yes: the peer has accepted the RMB
 * @retry: if not: because another change of the group is in progress, so ask again
 *
 * Context: the engine's work.
 */
void smc_llc_rkey_answered(struct smc_lgr *lgr, bool yes, bool retry)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_rmb *rmb = llc->rmb;

	spin_lock_bh(&llc->lock);
	llc->rmb = NULL;
	rmb->unanswered--;
	if (!yes && retry && rmb->retries++ < RKEY_RETRIES) {
		list_add(&rmb->list, &llc->rkeys);
		llc->rkey_again = (jiffies + RKEY_RETRY_TIME) | 1;
	} else {
		rmb->retries = 0;
		rmb->refusals += !yes;
		smc_mem_confirmed(rmb, yes);
	}
	spin_unlock_bh(&llc->lock);
	llc->wait = SMC_LLC_IDLE;
	smc_llc_wake_rkey_waiters(lgr);
}
