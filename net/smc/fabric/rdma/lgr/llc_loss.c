// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC engine: how the peer learns of a link that is lost (RFC 7609, 3.5.5.1.4 and C.7).
 *
 *	client						server
 *	has lost a link
 *	DELETE LINK, over another one ->
 *				   <- DELETE LINK of the same link, as if the server had lost it
 *	reply ->
 *
 * Both may have lost it at the same time.  Then these requests cross, and that of the server is the
 * answer to that of the client.
 */
#include "../../../smc.h"
#include "lgr.h"
#include "../link/link.h"
#include "llc_msg.h"

/* A peer that answers TEST LINK, but not DELETE LINK, is told so often. */
#define MAX_TELLS	4

/* The entry of the link with this number, or a free one for number 0; NULL if there is none. */
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
 * smc_llc_link_lost() - a link is down, and another one is left
 * @lgr: the link group
 * @link: the link, drained
 *
 * The peer is told, unless it has told us.  The server tries to have another link instead.
 *
 * Context: any but hard interrupts.
 */
void smc_llc_link_lost(struct smc_lgr *lgr, struct smc_link *link)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_loss *loss;

	spin_lock_bh(&llc->lock);
	/* With so many that the peer has not answered it finds this one for itself. */
	loss = link->peer_knows ? NULL : __find(llc, 0);
	if (loss) {
		WRITE_ONCE(loss->number, link->number);
		loss->reason = link->down_reason;
	}
	/* One that came to nothing is tried again after a while, see smc_llc_add_failed(). */
	llc->add_wanted |= link->confirmed;
	__smc_llc_kick(lgr, 0);
	spin_unlock_bh(&llc->lock);
}

/**
 * smc_llc_is_lost() - is a link just being lost, so that the peer will be told, or has been?
 * @llc: the engine
 * @number: of the link
 *
 * Return: true if it is.
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
 * smc_llc_loss_known() - the peer has said that a link is gone, or that it has none of this number
 * @llc: the engine
 * @number: of the link
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

/* The link over which the peer was told, if that is still there. */
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
 * If DELETE LINK is not answered, C.7 declares the link that it was sent over unusable as well.
 * But that link carries data, and other implementations drop a message that comes during another
 * exchange.  So the link is tested, and the peer is told again.
 */
static unsigned long tell_or_wait(struct smc_lgr *lgr, struct smc_llc_loss *loss)
{
	struct smc_link *over = told_over(lgr, loss);
	struct smc_llc_loss lost;

	if (over && time_before(jiffies, loss->deadline))
		return loss->deadline - jiffies;
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
 * smc_llc_tell_losses() - tell the peer of links that are lost
 * @lgr: the link group
 *
 * Context: the engine's work, which alone changes losses that there are.  A new one kicks it.
 * Return: when to look again, in jiffies; 0 for never.
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
