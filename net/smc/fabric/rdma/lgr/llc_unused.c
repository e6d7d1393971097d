// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC engine: buffers without users.  DELETE RKEY makes the peer forget our RMBs (RFC 7609,
 * 3.5.5.2.2), then the devices deregister the buffers.
 */
#include "../../../smc.h"
#include "lgr.h"
#include "../link/link.h"
#include "llc_msg.h"

/* RMBs in one message: as many as version 1 has room for. */
#define DELETE_RKEYS	8

static void add_to(struct smc_lgr *lgr, struct list_head *list, struct smc_rmb *rmb)
{
	struct smc_llc *llc = &lgr->llc;

	spin_lock_bh(&llc->lock);
	list_add_tail(&rmb->list, list);
	__smc_llc_kick(lgr, 0);
	spin_unlock_bh(&llc->lock);
}

/**
 * smc_llc_delete_rkey() - have the peer forget an RMB
 * @rmb: the RMB, which no connection can find any more
 *
 * smc_llc_forget() follows.
 *
 * Context: process.
 */
void smc_llc_delete_rkey(struct smc_rmb *rmb)
{
	add_to(rmb->lgr, &rmb->lgr->llc.unused, rmb);
}

/**
 * smc_llc_forget_soon() - have the devices deregister a buffer that the peer does not know
 * @rmb: the buffer, with smc_rmb.forgotten set, which no connection can find any more
 *
 * smc_llc_forget() follows.
 *
 * Context: process.
 */
void smc_llc_forget_soon(struct smc_rmb *rmb)
{
	add_to(rmb->lgr, &rmb->lgr->llc.forgotten, rmb);
}

/* Take up to DELETE_RKEYS unused RMBs, and store their RKeys on @link.  Returns how many. */
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
		/* A link without a region is about to go; ask over another link then. */
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
 * smc_llc_next_unused() - send DELETE RKEY for unused RMBs, if there are any
 * @lgr: the link group, whose engine waits for nothing
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
	llc->rkey_doubt = false;
	smc_llc_send_or_down(link, &m);
	smc_llc_await(lgr, SMC_LLC_W_DELETE_RKEY_RSP);
}

static void move_all(struct smc_llc *llc, struct list_head *from, struct list_head *to)
{
	spin_lock_bh(&llc->lock);
	list_splice_init(from, to);
	spin_unlock_bh(&llc->lock);
}

/**
 * smc_llc_unused_put_off() - ask the peer again, as it may not have received the request
 * @lgr: the link group
 *
 * Context: the engine's work.
 */
void smc_llc_unused_put_off(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;

	move_all(llc, &llc->deleting, &llc->unused);
	llc->wait = SMC_LLC_IDLE;
}

/* Returns false if a device is not ready, or if the group ends, which frees the buffer. */
static bool forget(struct smc_rmb *rmb)
{
	struct smc_lgr *lgr = rmb->lgr;
	bool done = false;

	mutex_lock(&lgr->setup_lock);
	rmb->forgotten = true;
	if (!lgr->dead)
		done = smc_lgr_forget(rmb);
	mutex_unlock(&lgr->setup_lock);
	return done;
}

/**
 * smc_llc_forget() - have the devices deregister what the peer has forgotten
 * @lgr: the link group
 *
 * Context: the engine's work.
 */
void smc_llc_forget(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_rmb *rmb, *next;
	LIST_HEAD(forgotten);

	move_all(llc, &llc->forgotten, &forgotten);
	list_for_each_entry_safe(rmb, next, &forgotten, list) {
		list_del_init(&rmb->list);
		if (forget(rmb))
			continue;
		spin_lock_bh(&llc->lock);
		list_add_tail(&rmb->list, &llc->forgotten);
		spin_unlock_bh(&llc->lock);
	}
}

/* The peer writes to none of the RMBs any more; those that it does not know it forgot before. */
SMC_LLC_TAKES(delete_rkey_rsp)
{
	struct smc_llc *llc = &lgr->llc;

	if (smc_llc_is_late_rkey(lgr, link))
		return;
	move_all(llc, &llc->deleting, &llc->forgotten);
	llc->wait = SMC_LLC_IDLE;
}
