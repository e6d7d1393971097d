// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC engine: tell the peer that a link is lost (RFC 7609, 3.5.5.1.4 and C.7).
 *
 *	client						server
 *	has lost a link
 *	DELETE LINK, over another link ->
 *				   <- DELETE LINK of the same link, as if the server had lost it
 *	reply ->
 *
 * If both lose the link at the same time, their requests cross, and the server's request is the
 * answer to the client's.
 */
#include "../../../smc.h"
#include "lgr.h"
#include "../link/link.h"
#include "llc_msg.h"

/* How often we repeat DELETE LINK to a peer that answers TEST LINK only. */
#define MAX_TELLS	4

/* Find the entry of the link with this number, or a free entry for number 0; NULL if none. */
static struct smc_llc_loss *__find(struct smc_llc *llc, u8 number)
{
	unsigned int i;

	lockdep_assert_held(&llc->lock);
	for (i = 0; i < ARRAY_SIZE(llc->losses); i++)
		if (llc->losses[i].number == number)
			return &llc->losses[i];
	return NULL;
}

/**
 * smc_llc_link_lost() - handle the loss of a link while another one is left
 * @lgr: the link group
 * @link: the link, drained
 *
 * Tells the peer, unless the peer has told us, and tries to get another link instead.
 *
 * Context: any but hard interrupts.
 */
void smc_llc_link_lost(struct smc_lgr *lgr, struct smc_link *link)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_loss *loss;

	spin_lock_bh(&llc->lock);
	/* If the table is full of unanswered losses, the peer must notice this one by itself. */
	loss = link->peer_knows ? NULL : __find(llc, 0);
	if (loss) {
		WRITE_ONCE(loss->number, link->number);
		loss->reason = link->down_reason;
	}
	/* A link that never came up is retried after a while, see smc_llc_add_failed(). */
	llc->add_wanted |= link->confirmed;
	__smc_llc_kick(lgr, 0);
	spin_unlock_bh(&llc->lock);
}

/**
 * smc_llc_is_lost() - will the peer be told, or has it been told, that a link is lost?
 * @llc: the engine
 * @number: number of the link
 *
 * Return: true if so.
 */
bool smc_llc_is_lost(struct smc_llc *llc, u8 number)
{
	bool lost;

	spin_lock_bh(&llc->lock);
	lost = number && __find(llc, number);
	spin_unlock_bh(&llc->lock);
	return lost;
}

/**
 * smc_llc_loss_known() - forget a loss, as the peer says that the link is gone or unknown
 * @llc: the engine
 * @number: number of the link
 *
 * Context: the engine's work.
 */
void smc_llc_loss_known(struct smc_llc *llc, u8 number)
{
	struct smc_llc_loss *loss = NULL;

	spin_lock_bh(&llc->lock);
	if (number)
		loss = __find(llc, number);
	if (loss)
		*loss = (struct smc_llc_loss) {};
	spin_unlock_bh(&llc->lock);
}

/* The link over which the peer was told, or NULL if that link is gone. */
static struct smc_link *told_over(struct smc_lgr *lgr, const struct smc_llc_loss *loss)
{
	struct smc_link *link;

	smc_lgr_for_each_link(lgr, link)
		if (smc_llc_same_link(link, loss->over))
			return link;
	return NULL;
}

static void tell(struct smc_lgr *lgr, struct smc_link *over, const struct smc_llc_loss *loss)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_DELETE_LINK,
		.v2 = smc_lgr_is_v2(lgr),
		.delete_link = {
			.orderly = true,
			.link	 = loss->number,
			.reason	 = loss->reason,
		},
	};

	__set_bit(loss->number, lgr->llc.deletes);
	smc_llc_send_or_down(over, &m);
}

/*
 * C.7 declares the link unusable that an unanswered DELETE LINK was sent over.  But that link
 * carries data, and other implementations drop a message that arrives during another exchange.
 * Instead, test the link and tell the peer again.
 */
static unsigned long tell_or_wait(struct smc_lgr *lgr, struct smc_llc_loss *loss)
{
	struct smc_link *over = told_over(lgr, loss);
	unsigned long now = jiffies;
	struct smc_llc_loss lost;

	if (over && time_before(now, loss->deadline))
		return loss->deadline - now;
	if (over) {
		loss->unanswered++;
		smc_llc_test_now(lgr, false);
	}
	over = smc_lgr_working_link(lgr);
	spin_lock_bh(&lgr->llc.lock);
	lost = *loss;
	spin_unlock_bh(&lgr->llc.lock);
	if (!over)
		return 0;
	if (loss->unanswered == MAX_TELLS) {
		smc_llc_loss_known(&lgr->llc, lost.number);
		return 0;
	}
	loss->over = over->uid;
	loss->deadline = jiffies + SMC_LLC_WAIT_TIME;
	tell(lgr, over, &lost);
	return SMC_LLC_WAIT_TIME;
}

/**
 * smc_llc_tell_losses() - tell the peer about lost links
 * @lgr: the link group
 *
 * Context: the engine's work; nothing else changes existing entries.  A new entry kicks the engine.
 * Return: jiffies until it must be called again; 0 for never.
 */
unsigned long smc_llc_tell_losses(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	unsigned long again = 0;
	unsigned int i;

	if (READ_ONCE(lgr->state) != SMC_LGR_ACTIVE)
		return 0;
	for (i = 0; i < ARRAY_SIZE(llc->losses); i++)
		if (READ_ONCE(llc->losses[i].number))
			again = min_not_zero(again, tell_or_wait(lgr, &llc->losses[i]));
	return again;
}
