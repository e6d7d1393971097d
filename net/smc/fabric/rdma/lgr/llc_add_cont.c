// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC engine: RTokens of a new link in version 1, whose ADD LINK has no room for them (RFC
 * 7609, A.3.3).  They travel over the same link as ADD LINK, two at a time.
 *
 *	server						client
 *	ADD LINK CONTINUATION, two RTokens ->
 *				   <- reply, two RTokens
 *	repeated until both sides have sent all of theirs
 */
#include "../../../smc.h"
#include "lgr.h"
#include "../link/link.h"
#include "llc_msg.h"

/* Value of smc_llc.rtokens_left before the peer has begun. */
#define NOT_BEGUN	(-1)

/**
 * smc_llc_cont_begin() - start a new link, for which neither side has sent an RToken
 * @llc: the engine
 *
 * Context: the engine's work.
 */
void smc_llc_cont_begin(struct smc_llc *llc)
{
	llc->rtokens_told = 0;
	llc->rtokens_left = NOT_BEGUN;
}

/* Send our next RTokens.  Returns 0 or a negative errno. */
static int tell_rtokens(struct smc_lgr *lgr, bool reply)
{
	struct smc_llc_w_rtoken rtokens[SMC_LLC_CONT_RTOKENS];
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_msg m = {
		.type = SMC_LLC_ADD_LINK_CONT,
		.reply = reply,
		.add_link_cont.link = llc->add_link->number,
	};
	struct smc_llc_add_link_cont *cont = &m.add_link_cont;
	unsigned int i, n;

	mutex_lock(&lgr->setup_lock);
	cont->n_left = smc_mem_rtokens(lgr, llc->add_over, llc->add_link, llc->rtokens_told,
				       rtokens, ARRAY_SIZE(rtokens));
	mutex_unlock(&lgr->setup_lock);
	n = min_t(unsigned int, cont->n_left, ARRAY_SIZE(rtokens));
	for (i = 0; i < n; i++)
		cont->rtokens[i] = smc_llc_get_rtoken(&rtokens[i]);
	llc->rtokens_told += n;
	llc->rtokens_more = cont->n_left > n;
	return smc_llc_send(llc->add_over, &m);
}

/* Store the peer's RTokens.  Returns false if they are not as many as it has announced. */
static bool take_rtokens(struct smc_lgr *lgr, const struct smc_link *over,
			 const struct smc_llc_add_link_cont *cont)
{
	struct smc_llc *llc = &lgr->llc;
	const struct smc_llc_rtoken *t;
	unsigned int i;

	if (over != llc->add_over || cont->link != llc->add_link->number ||
	    (llc->rtokens_left != NOT_BEGUN && llc->rtokens_left != cont->n_left))
		return false;
	for (i = 0; i < cont->n_rtokens; i++) {
		t = &cont->rtokens[i];
		smc_rtoken_set_same(lgr, smc_lgr_link_index(lgr, over), t->ref_rkey,
				    smc_lgr_link_index(lgr, llc->add_link), t->rkey, t->addr);
	}
	llc->rtokens_left = cont->n_left - cont->n_rtokens;
	return true;
}

/* "Treat as if detected link outage" (C.7.1). */
static void outage(struct smc_lgr *lgr, struct smc_link *over, u32 reason)
{
	smc_llc_add_failed(lgr);
	smc_link_down(over, reason);
}

static bool all_told(const struct smc_llc *llc)
{
	return !llc->rtokens_left && !llc->rtokens_more;
}

/**
 * smc_llc_cont_ask() - server: send its next RTokens, to which the client replies with its own
 * @lgr: the link group
 *
 * Context: the engine's work.
 */
void smc_llc_cont_ask(struct smc_lgr *lgr)
{
	if (tell_rtokens(lgr, false))
		outage(lgr, lgr->llc.add_over, SMC_LLC_DEL_LOST_PATH);
	else
		smc_llc_await(lgr, SMC_LLC_W_ADD_CONT_RSP);
}

SMC_LLC_TAKES(add_link_cont_rsp)
{
	if (!take_rtokens(lgr, link, &m->add_link_cont))
		outage(lgr, link, SMC_LLC_DEL_PROTOCOL);
	else if (all_told(&lgr->llc))
		smc_llc_add_connect(lgr);
	else
		smc_llc_cont_ask(lgr);
}

SMC_LLC_TAKES(add_link_cont_req)
{
	if (!take_rtokens(lgr, link, &m->add_link_cont))
		outage(lgr, link, SMC_LLC_DEL_PROTOCOL);
	else if (tell_rtokens(lgr, true))
		outage(lgr, link, SMC_LLC_DEL_LOST_PATH);
	else
		smc_llc_await(lgr, all_told(&lgr->llc) ? SMC_LLC_W_CONFIRM2_REQ :
							 SMC_LLC_W_ADD_CONT_REQ);
}

/* A message about a link that has been given up meanwhile, as our DELETE LINK has told the peer. */
SMC_LLC_TAKES(add_link_cont_late)
{
	if (!smc_llc_add_is_late(lgr, m->add_link_cont.link))
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
}
