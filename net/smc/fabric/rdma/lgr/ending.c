// SPDX-License-Identifier: GPL-2.0
/* A link group begins to end: from here on nothing finds it; end.c does the rest. */
#include "../../../netns.h"
#include "../../../smc.h"
#include "lgr.h"

/**
 * __smc_lgrs_changed() - change the sequence number when a link group is added or removed
 * @lgrs: link groups of a namespace, with the lock held
 */
void __smc_lgrs_changed(struct smc_lgrs *lgrs)
{
	lockdep_assert_held(&lgrs->lock);
	lgrs->seq = smc_next_seq(lgrs->seq);
}

/**
 * __smc_lgr_end() - smc_lgr_end() with smc_lgrs.lock held
 * @lgr: the link group
 * @reason: reason for connections whose handshake this ends
 *
 * Context: any but hard interrupts.
 */
void __smc_lgr_end(struct smc_lgr *lgr, enum smc_reason reason)
{
	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	if (lgr->state == SMC_LGR_ENDING)
		return;
	__smc_lgr_report_end(lgr, reason);
	if (!lgr->fail)
		lgr->fail = reason;
	WRITE_ONCE(lgr->state, SMC_LGR_ENDING);
	list_del_init(&lgr->list);
	hash_del(&lgr->peer_node);
	__smc_lgrs_changed(smc_lgrs_of(lgr));
	/* The work takes over the reference of the list. */
	queue_work(smc_end_wq, &lgr->end_work);
}

/**
 * smc_lgr_end() - end a link group and all its connections
 * @lgr: the link group, which takes no new connections from now on
 * @reason: reason for connections whose handshake this ends
 *
 * Context: any but hard interrupts.
 */
void smc_lgr_end(struct smc_lgr *lgr, enum smc_reason reason)
{
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);

	spin_lock_bh(&lgrs->lock);
	__smc_lgr_end(lgr, reason);
	spin_unlock_bh(&lgrs->lock);
}
