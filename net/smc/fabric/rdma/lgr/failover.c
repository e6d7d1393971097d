// SPDX-License-Identifier: GPL-2.0
/*
 * The loss of a link: its connections move to another link, and the group lives on (RFC 7609, 2.3
 * and 4.6).
 *
 * A link that is down is drained first.  After that its completion handler does not run any more,
 * no write of the peer arrives over it, and none of ours is in progress.  Only then do connections
 * leave it.  Otherwise a late write could overwrite data that has arrived over another link.
 *
 * A device may fail to flush a link in time.  Then connections that used the link are reset, and
 * the memory of all connections is kept until the queue pair is gone, see smc_lgr_keep_conn().
 */
#include <net/net_namespace.h>
#include "../../../netns.h"
#include "../../../smc.h"
#include "lgr.h"

/* Is the link down, and has failover not handled that yet? The engine may be reusing its slot. */
static bool is_lost(struct smc_lgr *lgr, const struct smc_link *link)
{
	bool lost;

	spin_lock_bh(&lgr->lock);
	lost = link->path.dev && READ_ONCE(link->state) == SMC_LINK_DOWN && !link->drained;
	spin_unlock_bh(&lgr->lock);
	return lost;
}

/* A link that is being added is the engine's, which gives it up when it finds it down. */
static bool is_ours(struct smc_lgr *lgr, const struct smc_link *link)
{
	if (smp_load_acquire(&lgr->llc.add_link) != link)
		return true;
	smc_llc_kick(lgr);
	return false;
}

static bool has_conns(struct smc_lgr *lgr, const struct smc_link *link)
{
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);
	bool has;

	spin_lock_bh(&lgrs->lock);
	has = lgr->n_on_link[smc_lgr_link_index(lgr, link)];
	spin_unlock_bh(&lgrs->lock);
	return has;
}

/* Connections that join later see for themselves that the link is down, see __get_rmbe(). */
static void move_conns(struct smc_lgr *lgr, struct smc_link_move *move)
{
	struct smc_lgr_conn *lconn;
	unsigned long token = 0;

	mutex_lock(&lgr->setup_lock);
	while ((lconn = smc_lgr_next_conn(lgr, &token))) {
		if (!move->flushed)
			smc_lgr_keep_conn(lconn, move->from);
		lconn->move(lconn, move);
		smc_conn_put(&lconn->msg.conn);
	}
	mutex_unlock(&lgr->setup_lock);
}

/* A link that has never been active has no connections, so it needs no other link. */
static void lose_link(struct smc_lgr *lgr, struct smc_link *link)
{
	struct smc_link_move move = { .from = link, .to = smc_lgr_best_link(lgr) };

	if (!move.to && has_conns(lgr, link)) {
		/*
		 * If a link is being made, failover runs again when that comes up or fails. If its
		 * messages went over the lost link, it fails now, not after their time has passed.
		 */
		if (!smc_lgr_other_link(lgr, link))
			smc_lgr_end(lgr, SMC_REASON_INTERNAL);
		else
			smc_llc_kick(lgr);
		return;
	}
	smc_link_stop(link, jiffies + SMC_LINK_STOP_TIME);
	move.flushed = smc_link_drain(link, jiffies + SMC_LINK_DRAIN_TIME);
	smc_llc_link_lost(lgr, link);
	move_conns(lgr, &move);
	smc_lgr_report_moved(lgr, &move);
	smc_lgr_release_link(lgr, link);
}

static void failover_work(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(work, struct smc_lgr, failover_work);
	struct smc_link *link;

	smc_lgr_for_each_link(lgr, link) {
		/* The end of the group handles the other links, and waits for this work item. */
		if (READ_ONCE(lgr->state) == SMC_LGR_ENDING)
			break;
		if (is_lost(lgr, link) && is_ours(lgr, link))
			lose_link(lgr, link);
	}
	smc_lgr_put(lgr);
}

static void __queue_failover(struct smc_lgr *lgr)
{
	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	if (lgr->state == SMC_LGR_ENDING)
		return;
	smc_lgr_get(lgr);
	if (!queue_work(smc_end_wq, &lgr->failover_work))
		refcount_dec(&lgr->ref);
}

/**
 * smc_lgr_failover() - move connections away from links that are down
 * @lgr: the link group
 *
 * Context: any but hard interrupts.
 */
void smc_lgr_failover(struct smc_lgr *lgr)
{
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);

	spin_lock_bh(&lgrs->lock);
	__queue_failover(lgr);
	spin_unlock_bh(&lgrs->lock);
}

/**
 * smc_lgr_stop_failover() - stop failover when the group ends
 * @lgr: the link group, marked as ending
 *
 * Context: process, waits for devices for a limited time.
 */
void smc_lgr_stop_failover(struct smc_lgr *lgr)
{
	if (cancel_work_sync(&lgr->failover_work))
		smc_lgr_put(lgr);
}

/**
 * smc_lgr_link_down() - smc_link_ops.down
 * @link: the link
 * @caller: code address that noticed the failure, for the trace
 *
 * Ends the group if this was the last link or the link of a first contact; otherwise starts
 * failover.
 */
void smc_lgr_link_down(struct smc_link *link, void *caller)
{
	struct smc_lgr *lgr = smc_link_lgr(link);
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);

	smc_lgr_report_down(lgr, link, caller);
	spin_lock_bh(&lgrs->lock);
	if ((lgr->state == SMC_LGR_NEW && link == smc_lgr_first_link(lgr)) ||
	    !smc_lgr_other_link(lgr, link))
		__smc_lgr_end(lgr, SMC_REASON_INTERNAL);
	else
		__queue_failover(lgr);
	spin_unlock_bh(&lgrs->lock);
}

/**
 * smc_lgr_failover_init() - initialise failover
 * @lgr: a new link group
 */
void smc_lgr_failover_init(struct smc_lgr *lgr)
{
	INIT_WORK(&lgr->failover_work, failover_work);
}
