// SPDX-License-Identifier: GPL-2.0
/* The LLC engine: what each message of the peer does. */
#include "../../../netns.h"
#include "../../../wire/clc.h"
#include "lgr.h"
#include "../link/link.h"
#include "llc_msg.h"

/*
 * What the incumbent says of its cache; it takes a link whose other end says 0 down
 * again, and declines.
 */
#define CACHE_SIZE	3
/* The number of the second link, which is offered and never made. */
#define SECOND_LINK	2

static bool lgr_is_v2(const struct smc_lgr *lgr)
{
	return lgr->version > SMC_CLC_V1;
}

static void protocol_violation(struct smc_link *link)
{
	smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
}

static void send_or_fail(struct smc_link *link, const struct smc_llc_msg *m)
{
	if (smc_llc_send(link, m))
		smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
}

/**
 * smc_llc_send_confirm_link() - confirm the first link
 * @lgr: the link group
 * @link: its first link
 * @reply: the client's reply rather than the server's request
 *
 * Return: 0 or a negative errno.
 */
int smc_llc_send_confirm_link(struct smc_lgr *lgr, struct smc_link *link, bool reply)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_CONFIRM_LINK,
		.v2 = lgr_is_v2(lgr),
		.reply = reply,
		.confirm_link = {
			.qpn = link->qp->qp_num,
			.link = link->number,
			.link_uid = link->uid,
			.cache_size = CACHE_SIZE,
			.max_links = lgr->max_links,
			.max_conns = lgr->release ? lgr->max_conns : 0,
		},
	};
	int rc;

	memcpy(m.confirm_link.mac, link->path.mac, ETH_ALEN);
	memcpy(m.confirm_link.gid, link->path.gid.raw, 16);
	/* From here on, unless it turns out that it could not be delivered. */
	WRITE_ONCE(lgr->committed, true);
	rc = smc_llc_send(link, &m);
	if (rc)
		WRITE_ONCE(lgr->committed, false);
	lgr->llc.confirm_end = smc_link_sent(link);
	return rc;
}

static void activate_lgr(struct smc_lgr *lgr)
{
	lgr->llc.wait = SMC_LLC_IDLE;
	smc_lgr_activate(lgr);
}

/* Before 2.1 the smaller of the two numbers counts. */
static void settle_max_links(struct smc_lgr *lgr, const struct smc_llc_confirm_link *m)
{
	if (!lgr->release)
		lgr->max_links = min_t(u8, lgr->max_links, max_t(u8, m->max_links, 1));
}

/* Does the message describe the peer's end of the link as CLC did? */
static bool confirm_link_matches(const struct smc_lgr *lgr, const struct smc_link *link,
				 const struct smc_llc_confirm_link *m)
{
	union ib_gid gid;

	smc_rdma_gid_from_wire(&gid, m->gid);
	if (m->qpn != link->peer_qpn || memcmp(m->mac, link->peer_mac, ETH_ALEN) ||
	    memcmp(gid.raw, link->peer_gid.raw, 16))
		return false;
	/* Version 2.1: what was settled is repeated, not negotiated. */
	return !lgr->release || (m->max_links == lgr->max_links &&
				 m->max_conns == lgr->max_conns);
}

/* The client's view of the first contact. */
SMC_LLC_TAKES(confirm_link_req)
{
	if (!confirm_link_matches(lgr, link, &m->confirm_link)) {
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
 * smc_llc_confirmed() - client: the reply to CONFIRM LINK has arrived
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

/*
 * The RFC requires an attempt at a second link.  We have no second device, so the
 * client refuses unless it has one; if it has, it is told that the link is not
 * needed after all.
 */
static void offer_second_link(struct smc_lgr *lgr, struct smc_link *link)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_ADD_LINK,
		.v2 = lgr_is_v2(lgr),
		.add_link = {
			.qpn = link->qp->qp_num,
			.link = SECOND_LINK,
			.mtu = link->path.mtu,
			.psn = link->psn,
			.direct = link->hop.direct,
		},
	};

	memcpy(m.add_link.mac, link->path.mac, ETH_ALEN);
	memcpy(m.add_link.gid, link->path.gid.raw, 16);
	send_or_fail(link, &m);
	WRITE_ONCE(lgr->llc.add_end, smc_link_sent(link));
	smc_llc_await(lgr, SMC_LLC_W_ADD_LINK_RSP);
}

SMC_LLC_TAKES(confirm_link_rsp)
{
	if (m->confirm_link.link != link->number ||
	    !confirm_link_matches(lgr, link, &m->confirm_link)) {
		protocol_violation(link);
		return;
	}
	link->peer_uid = m->confirm_link.link_uid;
	settle_max_links(lgr, &m->confirm_link);
	if (lgr->max_links > 1)
		offer_second_link(lgr, link);
	else
		activate_lgr(lgr);
}

/* The server asks for a second link; we have no other device for it. */
SMC_LLC_TAKES(add_link_req)
{
	bool first = lgr->llc.wait == SMC_LLC_W_ADD_LINK_REQ ||
		     lgr->llc.wait == SMC_LLC_W_CONFIRM_SENT;

	m->add_link.reason = smc_clc_mtu_valid(m->add_link.mtu) ?
			     SMC_LLC_REJ_NO_ALT_PATH : SMC_LLC_REJ_MTU;
	m->reply = true;
	m->negative = true;
	send_or_fail(link, m);
	/* It would not ask had our CONFIRM LINK not arrived. */
	if (first)
		activate_lgr(lgr);
}

/* In version 2 there is another message for it. */
SMC_LLC_TAKES(add_link_wish)
{
	if (m->v2)
		protocol_violation(link);
}

SMC_LLC_TAKES(add_link_rsp)
{
	struct smc_llc_msg del = {
		.type = SMC_LLC_DELETE_LINK,
		.v2 = lgr_is_v2(lgr),
		.delete_link = {
			.link = SECOND_LINK,
			.orderly = true,
			.reason = SMC_LLC_DEL_PROGRAM,
		},
	};

	if (m->negative) {
		activate_lgr(lgr);
		return;
	}
	send_or_fail(link, &del);
	smc_llc_await(lgr, SMC_LLC_W_DELETE_LINK_RSP);
}

/* The incumbent says no once more when its attempt fails later. */
SMC_LLC_TAKES(add_link_late)
{
	if (!m->negative)
		protocol_violation(link);
}

SMC_LLC_TAKES(delete_link_req)
{
	if (m->delete_link.all || m->delete_link.link == link->number) {
		/* Our only link: the group ends.  To a client the server says so. */
		lgr->delete_seen = !lgr->server;
		if (!lgr->server && !m->delete_link.all) {
			m->reply = true;
			send_or_fail(link, m);
		}
		lgr->end_reason = m->delete_link.reason;
		smc_lgr_end(lgr, SMC_REASON_OUT_OF_SYNC);
		return;
	}
	m->reply = true;
	m->delete_link.reason = SMC_LLC_DEL_NO_LINK;
	send_or_fail(link, m);
}

SMC_LLC_TAKES(delete_link_rsp)
{
	if (m->delete_link.link == SECOND_LINK)
		activate_lgr(lgr);
	else
		protocol_violation(link);
}

SMC_LLC_TAKES(confirm_rkey_req)
{
	const struct smc_llc_confirm_rkey *rkey = &m->confirm_rkey;

	lgr->llc.rkeys_left = rkey->n_total - rkey->n_others;
	m->negative = smc_rtoken_add(lgr, smc_lgr_link_index(lgr, link), rkey->rkey,
				     rkey->addr) < 0;
	m->reply = true;
	send_or_fail(link, m);
}

SMC_LLC_TAKES(confirm_rkey_rsp)
{
	if (m->confirm_rkey.rkey == lgr->llc.rkey)
		smc_llc_rkey_answered(lgr, !m->negative, m->confirm_rkey.retry);
	else
		protocol_violation(link);
}

/* Links that we do not have: there is nothing to be remembered but how many follow. */
SMC_LLC_TAKES(confirm_rkey_cont)
{
	const struct smc_llc_confirm_rkey_cont *cont = &m->confirm_rkey_cont;

	if (!lgr->llc.rkeys_left || cont->n_left != lgr->llc.rkeys_left) {
		protocol_violation(link);
		return;
	}
	lgr->llc.rkeys_left -= cont->n_others;
	m->reply = true;
	send_or_fail(link, m);
}

/* The keys of the request, and a reply that names those we do not know. */
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
	send_or_fail(link, m);
}

SMC_LLC_TAKES(req_add_link)
{
	m->reply = true;
	m->req_add_link.n_gids = 0;
	send_or_fail(link, m);
}
