// SPDX-License-Identifier: GPL-2.0
/* The LLC engine: DELETE RKEY, by which the peer forgets our RMBs (RFC 7609, 3.5.5.2.2). */
#include "../../../smc.h"
#include "lgr.h"
#include "../link/link.h"
#include "llc_msg.h"

/* RMBs of one message, as many as version 1 has room for. */
#define DELETE_RKEYS	8

/**
 * smc_llc_delete_rkey() - have the peer forget an RMB
 * @rmb: the RMB, which no connection can find any more
 *
 * smc_lgr_forget() follows.
 *
 * Context: process.
 */
void smc_llc_delete_rkey(struct smc_rmb *rmb)
{
	struct smc_llc *llc = &rmb->lgr->llc;

	spin_lock_bh(&llc->lock);
	list_add_tail(&rmb->list, &llc->unused);
	__smc_llc_kick(rmb->lgr, 0);
	spin_unlock_bh(&llc->lock);
}

/* The RKeys of some of them on @link; the number. */
static unsigned int __take_rkeys(struct smc_lgr *lgr, const struct smc_link *link,
				 struct smc_llc_w_rkey *rkeys)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_rmb *rmb, *next;
	const struct ib_mr *mr;
	unsigned int n = 0;

	lockdep_assert_held(&lgr->setup_lock);
	spin_lock_bh(&llc->lock);
	list_for_each_entry_safe(rmb, next, &llc->unused, list) {
		mr = smc_mem_mr(rmb, link);
		/* Without a region there the link is about to go; another one will do. */
		if (!mr)
			continue;
		smc_llc_set_rkey(&rkeys[n], mr->rkey);
		list_move_tail(&rmb->list, &llc->deleting);
		if (++n == DELETE_RKEYS)
			break;
	}
	spin_unlock_bh(&llc->lock);
	return n;
}

/**
 * smc_llc_next_unused() - have the peer forget RMBs, if there are some
 * @lgr: the link group; nothing is awaited
 *
 * Context: the engine's work.
 */
void smc_llc_next_unused(struct smc_lgr *lgr)
{
	struct smc_llc_w_rkey rkeys[DELETE_RKEYS] = {};
	struct smc_llc_msg m = {
		.type = SMC_LLC_DELETE_RKEY,
		.v2 = smc_lgr_is_v2(lgr),
		.delete_rkey.rkeys = rkeys,
	};
	struct smc_link *link = smc_lgr_working_link(lgr);
	struct smc_llc *llc = &lgr->llc;

	if (!link || list_empty_careful(&llc->unused))
		return;
	mutex_lock(&lgr->setup_lock);
	m.delete_rkey.count = __take_rkeys(lgr, link, rkeys);
	mutex_unlock(&lgr->setup_lock);
	if (!m.delete_rkey.count)
		return;
	llc->rkey_link = link;
	llc->rkey_uid = link->uid;
	smc_llc_send_or_down(link, &m);
	smc_llc_await(lgr, SMC_LLC_W_DELETE_RKEY_RSP);
}

/**
 * smc_llc_unused_put_off() - the peer is asked again, as it may not have heard
 * @lgr: the link group
 *
 * Context: the engine's work.
 */
void smc_llc_unused_put_off(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;

	spin_lock_bh(&llc->lock);
	list_splice_init(&llc->deleting, &llc->unused);
	spin_unlock_bh(&llc->lock);
	llc->wait = SMC_LLC_IDLE;
}

static struct smc_rmb *next_deleted(struct smc_llc *llc)
{
	struct smc_rmb *rmb;

	spin_lock_bh(&llc->lock);
	rmb = list_first_entry_or_null(&llc->deleting, struct smc_rmb, list);
	if (rmb)
		list_del_init(&rmb->list);
	spin_unlock_bh(&llc->lock);
	return rmb;
}

/* The peer writes to none of them.  Those that it says it does not know, it has forgotten before. */
SMC_LLC_TAKES(delete_rkey_rsp)
{
	struct smc_rmb *rmb;

	if (smc_llc_is_late_rkey(lgr, link))
		return;
	lgr->llc.wait = SMC_LLC_IDLE;
	mutex_lock(&lgr->setup_lock);
	while (!lgr->dead && (rmb = next_deleted(&lgr->llc)))
		smc_lgr_forget(rmb);
	mutex_unlock(&lgr->setup_lock);
}
