// SPDX-License-Identifier: GPL-2.0
/* The LLC engine: actions for messages of the peer. */
#include "../../../netns.h"
#include "../../../wire/clc.h"
#include "lgr.h"
#include "../link/link.h"
#include "llc_msg.h"

static void protocol_violation(struct smc_link *link)
{
	smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
}

static void activate_lgr(struct smc_lgr *lgr)
{
	lgr->llc.wait = SMC_LLC_IDLE;
	smc_lgr_activate(lgr);
}

/* Before version 2.1 the smaller of both sides' numbers applies. */
static void settle_max_links(struct smc_lgr *lgr, const struct smc_llc_confirm_link *m)
{
	if (!lgr->release)
		lgr->max_links = min_t(u8, lgr->max_links, max_t(u8, m->max_links, 1));
}

/* The client's side of the first contact. */
SMC_LLC_TAKES(confirm_link_req)
{
	if (!smc_llc_confirm_link_matches(lgr, link, &m->confirm_link)) {
		/* C.7.1: a Decline ends the first contact. */
		smc_lgr_end(lgr, SMC_REASON_PROTOCOL);
		return;
	}
	link->number = m->confirm_link.link;
	link->peer_uid = m->confirm_link.link_uid;
	settle_max_links(lgr, &m->confirm_link);
	if (smc_llc_send_confirm_link(lgr, link, true))
		smc_lgr_end(lgr, SMC_REASON_NO_COMMON_DEVICE);
	else
		smc_llc_await(lgr, SMC_LLC_W_CONFIRM_SENT);
}

/**
 * smc_llc_confirmed() - client: continue after its reply to CONFIRM LINK has arrived
 * @lgr: the link group
 *
 * Context: the engine's work.
 */
void smc_llc_confirmed(struct smc_lgr *lgr)
{
	if (lgr->max_links > 1)
		smc_llc_await(lgr, SMC_LLC_W_ADD_LINK_REQ);
	else
		activate_lgr(lgr);
}

SMC_LLC_TAKES(confirm_link_rsp)
{
	if (m->confirm_link.link != link->number ||
	    !smc_llc_confirm_link_matches(lgr, link, &m->confirm_link)) {
		protocol_violation(link);
		return;
	}
	link->peer_uid = m->confirm_link.link_uid;
	settle_max_links(lgr, &m->confirm_link);
	if (lgr->max_links > 1)
		smc_llc_add_link(lgr, link);
	else
		activate_lgr(lgr);
}

/* End the group, because the peer deletes it or its last link. */
static void delete_group(struct smc_lgr *lgr, struct smc_link *link, struct smc_llc_msg *m)
{
	/* A server still sends a DELETE LINK of its own, see smc_llc_stop(). */
	lgr->delete_seen = !lgr->server;
	if (!lgr->server && !m->delete_link.all) {
		m->reply = true;
		smc_llc_send_or_down(link, m);
	}
	lgr->end_reason = m->delete_link.reason;
	smc_lgr_end(lgr, SMC_REASON_OUT_OF_SYNC);
}

/* A client replies; a server sends a DELETE LINK of its own, as for any lost link. */
SMC_LLC_TAKES(delete_link_req)
{
	struct smc_link *gone = smc_lgr_link_by_number(lgr, m->delete_link.link);

	if (m->delete_link.all || (gone && !smc_lgr_other_link(lgr, gone))) {
		delete_group(lgr, link, m);
		return;
	}
	if (gone) {
		gone->peer_knows = !lgr->server;
		smc_link_down(gone, m->delete_link.reason);
		/* The peer may have answered our ADD LINK with this. */
		if (gone == lgr->llc.add_link)
			smc_llc_add_failed(lgr);
		if (lgr->server)
			return;
	} else {
		/* Timing window (C.7.1): our own DELETE LINK of the same link is the answer. */
		if (lgr->server && smc_llc_is_lost(&lgr->llc, m->delete_link.link))
			return;
		smc_llc_loss_known(&lgr->llc, m->delete_link.link);
		m->delete_link.reason = SMC_LLC_DEL_NO_LINK;
	}
	m->reply = true;
	link = link == gone ? smc_lgr_working_link(lgr) : link;
	if (link)
		smc_llc_send_or_down(link, m);
}

/* A reply about a link that is gone already.  We may have told the peer more than once. */
SMC_LLC_TAKES(delete_link_late)
{
	smc_llc_loss_known(&lgr->llc, m->delete_link.link);
	if (!test_bit(m->delete_link.link, lgr->llc.deletes))
		protocol_violation(link);
}

/*
 * Store the keys of an RMB on links other than the one that the message came over.  The peer may
 * not know yet that a link is down, and a CLC message may still name that link and its key.
 */
static void take_others(struct smc_lgr *lgr, int rtoken, const struct smc_llc_link_rtoken *others,
			unsigned int n)
{
	struct smc_link *link;
	unsigned int i;

	for (i = 0; i < n; i++) {
		link = smc_lgr_link_ever(lgr, others[i].link);
		if (link)
			smc_rtoken_set(lgr, rtoken, smc_lgr_link_index(lgr, link), others[i].rkey,
				       others[i].addr);
	}
}

/*
 * Returns the number of an RMB that the peer tells us of, new or known.  If our answer was lost
 * with its link, the peer tells us again over another link, for which we may know no key.
 */
static int take_rkey(struct smc_lgr *lgr, const struct smc_link *link,
		     const struct smc_llc_confirm_rkey *rkey)
{
	unsigned int idx = smc_lgr_link_index(lgr, link), i;
	const struct smc_link *other;
	int rtoken;

	for (i = 0; i < rkey->n_others; i++) {
		other = smc_lgr_link_by_number(lgr, rkey->others[i].link);
		rtoken = other ? smc_rtoken_find_key(lgr, smc_lgr_link_index(lgr, other),
						     rkey->others[i].rkey) : -ENOENT;
		if (rtoken >= 0) {
			smc_rtoken_set(lgr, rtoken, idx, rkey->rkey, rkey->addr);
			return rtoken;
		}
	}
	return smc_rtoken_add(lgr, idx, rkey->rkey, rkey->addr);
}

/* "Treat as if detected failure of the link(s) for which no RKey was provided" (C.7.1). */
static void fail_keyless_links(struct smc_lgr *lgr, int rtoken)
{
	struct smc_link *link;
	u32 rkey;
	u64 addr;

	smc_lgr_for_each_link(lgr, link)
		if (READ_ONCE(link->state) == SMC_LINK_ACTIVE &&
		    smc_rtoken_get(lgr, rtoken, smc_lgr_link_index(lgr, link), &rkey, &addr))
			smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
}

SMC_LLC_TAKES(confirm_rkey_req)
{
	struct smc_llc_confirm_rkey *rkey = &m->confirm_rkey;
	int rtoken = -EBUSY;

	lgr->llc.rkeys_left = rkey->n_total - rkey->n_others;
	m->reply = true;
	if (lgr->server && lgr->llc.add_link) {
		/* The peer must repeat this with a key for the new link (3.5.5.3.1). */
		m->negative = true;
		rkey->retry = true;
	} else {
		rtoken = take_rkey(lgr, link, rkey);
		m->negative = rtoken < 0;
		if (rtoken >= 0)
			take_others(lgr, rtoken, rkey->others, rkey->n_others);
	}
	smc_llc_send_or_down(link, m);
	if (rtoken >= 0)
		fail_keyless_links(lgr, rtoken);
}

SMC_LLC_TAKES(confirm_rkey_rsp)
{
	if (smc_llc_is_late_rkey(lgr, link))
		return;
	if (m->confirm_rkey.rkey == lgr->llc.rkey)
		smc_llc_rkey_answered(lgr, !m->negative, m->confirm_rkey.retry);
	else
		protocol_violation(link);
}

SMC_LLC_TAKES(rkey_late)
{
	if (!smc_llc_is_late_rkey(lgr, link))
		protocol_violation(link);
}

/* RKeys on links that we do not have: only the number of those that follow matters. */
SMC_LLC_TAKES(confirm_rkey_cont)
{
	const struct smc_llc_confirm_rkey_cont *cont = &m->confirm_rkey_cont;

	if (!lgr->llc.rkeys_left || cont->n_left != lgr->llc.rkeys_left) {
		protocol_violation(link);
		return;
	}
	lgr->llc.rkeys_left -= cont->n_others;
	m->reply = true;
	smc_llc_send_or_down(link, m);
}

/* Delete the keys in the request, and reply with those that we do not know. */
SMC_LLC_TAKES(delete_rkey_req)
{
	struct smc_llc_w_rkey unknown[SMC_LLC_V2_FAILED_RKEYS] = {};
	struct smc_llc_delete_rkey *d = &m->delete_rkey;
	unsigned int i, n = 0;
	int rtoken;
	u32 rkey;

	for (i = 0; i < d->n_rkeys; i++) {
		rkey = smc_llc_get_rkey(&d->rkeys[i]);
		rtoken = smc_rtoken_del(lgr, smc_lgr_link_index(lgr, link), rkey);
		if (rtoken >= 0) {
			/* Connections that still use it must not write there. */
			smc_lgr_abort_rmb(lgr, rtoken);
			continue;
		}
		if (n < ARRAY_SIZE(unknown))
			smc_llc_set_rkey(&unknown[n], rkey);
		if (!m->v2)
			d->error_mask |= 0x80 >> i;
		n++;
	}
	m->reply = true;
	m->negative = n;
	if (m->v2) {
		d->n_failed = n;
		d->rkeys = unknown;
	}
	smc_llc_send_or_down(link, m);
}
