// SPDX-License-Identifier: GPL-2.0
/* The LLC engine: what each message of the peer does. */
#include "../../netns.h"
#include "lgr.h"
#include "link.h"
#include "llc_msg.h"

/*
 * What the incumbent says of its cache; it takes a link whose other end says 0 down
 * again, and declines.
 */
#define CACHE_SIZE	3
/* The number of the second link, which is offered and never made. */
#define SECOND_LINK	2

static bool v2(const struct smc_lgr *lgr)
{
	return lgr->version > SMC_CLC_V1;
}

static void violation(struct smc_link *link)
{
	smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
}

static void send_or_fail(struct smc_link *link, const struct smc_llc_msg *m)
{
	if (smc_link_send(link, m))
		smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
}

/**
 * smc_llc_send_confirm_link() - confirm the first link
 * @lgr: the link group
 * @reply: the client's reply rather than the server's request
 *
 * Return: 0 or a negative errno.
 */
int smc_llc_send_confirm_link(struct smc_lgr *lgr, bool reply)
{
	struct smc_link *link = &lgr->links[0];
	struct smc_llc_msg m = {
		.type = SMC_LLC_CONFIRM_LINK,
		.v2 = v2(lgr),
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

	memcpy(m.confirm_link.mac, link->path.mac, ETH_ALEN);
	memcpy(m.confirm_link.gid, link->path.gid.raw, 16);
	return smc_link_send(link, &m);
}

/* Does the message describe the peer's end of the link as CLC did? */
static bool confirms(const struct smc_lgr *lgr, const struct smc_link *link,
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
static void confirm_link_req(struct smc_lgr *lgr, struct smc_link *link,
			     const struct smc_llc_confirm_link *m)
{
	if (lgr->server || lgr->llc.wait != SMC_LLC_W_CONFIRM_REQ) {
		violation(link);
		return;
	}
	if (!confirms(lgr, link, m)) {
		/* C.7.1: a Decline ends the first contact. */
		smc_lgr_end(lgr, SMC_REASON_PROTOCOL);
		return;
	}
	link->number = m->link;
	link->peer_uid = m->link_uid;
	if (!lgr->release)
		lgr->max_links = min_t(u8, lgr->max_links, max_t(u8, m->max_links, 1));
	if (smc_llc_send_confirm_link(lgr, true)) {
		smc_lgr_end(lgr, SMC_REASON_NO_COMMON_DEVICE);
		return;
	}
	lgr->late = true;
	if (lgr->max_links > 1) {
		smc_llc_await(lgr, SMC_LLC_W_ADD_LINK_REQ);
		return;
	}
	lgr->llc.wait = SMC_LLC_IDLE;
	smc_lgr_activate(lgr);
}

/*
 * The RFC wants a second link to be tried.  We have no second device, so that the
 * client refuses unless it has one; if it has, it is told that the link is not
 * wanted after all.
 */
static void offer_second_link(struct smc_lgr *lgr, struct smc_link *link)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_ADD_LINK,
		.v2 = v2(lgr),
		.add_link = {
			.qpn = link->qp->qp_num,
			.link = SECOND_LINK,
			.mtu = link->path.mtu,
			.psn = link->psn,
			.direct = link->direct,
		},
	};

	memcpy(m.add_link.mac, link->path.mac, ETH_ALEN);
	memcpy(m.add_link.gid, link->path.gid.raw, 16);
	send_or_fail(link, &m);
	smc_llc_await(lgr, SMC_LLC_W_ADD_LINK_RSP);
}

static void confirm_link_rsp(struct smc_lgr *lgr, struct smc_link *link,
			     const struct smc_llc_confirm_link *m)
{
	if (lgr->llc.wait != SMC_LLC_W_CONFIRM_RSP ||
	    m->link != link->number || !confirms(lgr, link, m)) {
		lgr->late = true;
		violation(link);
		return;
	}
	link->peer_uid = m->link_uid;
	lgr->late = true;
	if (!lgr->release)
		lgr->max_links = min_t(u8, lgr->max_links, max_t(u8, m->max_links, 1));
	if (lgr->max_links > 1) {
		offer_second_link(lgr, link);
		return;
	}
	lgr->llc.wait = SMC_LLC_IDLE;
	smc_lgr_activate(lgr);
}

/* The server wants a second link; we have no other device for it. */
static void add_link_req(struct smc_lgr *lgr, struct smc_link *link,
			 struct smc_llc_msg *m, bool bad_mtu)
{
	/* From a client of version 1 it says that there is another device. */
	if (lgr->server)
		return;
	m->reply = true;
	m->negative = true;
	m->add_link.reason = bad_mtu ? SMC_LLC_REJ_MTU : SMC_LLC_REJ_NO_ALT_PATH;
	send_or_fail(link, m);
	if (lgr->llc.wait != SMC_LLC_W_ADD_LINK_REQ)
		return;
	lgr->llc.wait = SMC_LLC_IDLE;
	smc_lgr_activate(lgr);
}

static void add_link_rsp(struct smc_lgr *lgr, struct smc_link *link,
			 const struct smc_llc_msg *m)
{
	struct smc_llc_msg del = {
		.type = SMC_LLC_DELETE_LINK,
		.v2 = v2(lgr),
		.delete_link = {
			.link = SECOND_LINK,
			.orderly = true,
			.reason = SMC_LLC_DEL_PROGRAM,
		},
	};

	if (lgr->llc.wait != SMC_LLC_W_ADD_LINK_RSP) {
		/* The incumbent says no once more when its attempt fails later. */
		if (!m->negative)
			violation(link);
		return;
	}
	if (!m->negative) {
		send_or_fail(link, &del);
		smc_llc_await(lgr, SMC_LLC_W_DELETE_LINK_RSP);
		return;
	}
	lgr->llc.wait = SMC_LLC_IDLE;
	smc_lgr_activate(lgr);
}

static void delete_link_req(struct smc_lgr *lgr, struct smc_link *link,
			    struct smc_llc_msg *m)
{
	if (m->delete_link.all || m->delete_link.link == link->number) {
		/* Our only link: the group ends.  To a client the server says so. */
		lgr->silent = !lgr->server;
		if (!lgr->server && !m->delete_link.all) {
			m->reply = true;
			send_or_fail(link, m);
		}
		link->down_reason = m->delete_link.reason;
		smc_lgr_end(lgr, SMC_REASON_OUT_OF_SYNC);
		return;
	}
	m->reply = true;
	m->delete_link.reason = SMC_LLC_DEL_NO_LINK;
	send_or_fail(link, m);
}

static void delete_link_rsp(struct smc_lgr *lgr)
{
	if (lgr->llc.wait != SMC_LLC_W_DELETE_LINK_RSP)
		return;
	lgr->llc.wait = SMC_LLC_IDLE;
	smc_lgr_activate(lgr);
}

static void confirm_rkey_req(struct smc_lgr *lgr, struct smc_link *link,
			     struct smc_llc_msg *m)
{
	const struct smc_llc_confirm_rkey *rkey = &m->confirm_rkey;

	m->negative = smc_rtoken_add(lgr, link - lgr->links, rkey->rkey, rkey->addr);
	m->reply = true;
	send_or_fail(link, m);
}

static void confirm_rkey_rsp(struct smc_lgr *lgr, struct smc_link *link,
			     const struct smc_llc_msg *m)
{
	if (lgr->llc.wait != SMC_LLC_W_CONFIRM_RKEY_RSP ||
	    m->confirm_rkey.rkey != lgr->llc.rmb->mr->rkey) {
		violation(link);
		return;
	}
	smc_llc_rkey_answered(lgr, !m->negative);
}

/* The keys of the request, and a reply that names those we do not know. */
static void delete_rkey_req(struct smc_lgr *lgr, struct smc_link *link,
			    struct smc_llc_msg *m)
{
	struct smc_llc_w_rkey unknown[8] = {};
	struct smc_llc_delete_rkey *d = &m->delete_rkey;
	unsigned int i, n = 0;
	u32 rkey;

	for (i = 0; i < d->n_rkeys; i++) {
		rkey = smc_llc_get_rkey(&d->rkeys[i]);
		if (!smc_rtoken_del(lgr, link - lgr->links, rkey))
			continue;
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

static void confirm_rkey_cont(struct smc_link *link, struct smc_llc_msg *m)
{
	/* Links that we do not have: there is nothing to be remembered. */
	m->reply = true;
	send_or_fail(link, m);
}

static void req_add_link(struct smc_lgr *lgr, struct smc_link *link,
			 struct smc_llc_msg *m)
{
	if (!lgr->server || m->reply) {
		violation(link);
		return;
	}
	m->reply = true;
	m->req_add_link.n_gids = 0;
	send_or_fail(link, m);
}

static void take_request(struct smc_lgr *lgr, struct smc_link *link,
			 struct smc_llc_msg *m, bool bad_enum)
{
	switch (m->type) {
	case SMC_LLC_CONFIRM_LINK:
		return confirm_link_req(lgr, link, &m->confirm_link);
	case SMC_LLC_ADD_LINK:
		return add_link_req(lgr, link, m, bad_enum);
	case SMC_LLC_DELETE_LINK:
		return delete_link_req(lgr, link, m);
	case SMC_LLC_REQ_ADD_LINK:
		return req_add_link(lgr, link, m);
	case SMC_LLC_CONFIRM_RKEY:
		return confirm_rkey_req(lgr, link, m);
	case SMC_LLC_CONFIRM_RKEY_CONT:
		return confirm_rkey_cont(link, m);
	case SMC_LLC_DELETE_RKEY:
		return delete_rkey_req(lgr, link, m);
	default:
		return violation(link);
	}
}

static void take_reply(struct smc_lgr *lgr, struct smc_link *link,
		       struct smc_llc_msg *m)
{
	switch (m->type) {
	case SMC_LLC_CONFIRM_LINK:
		return confirm_link_rsp(lgr, link, &m->confirm_link);
	case SMC_LLC_ADD_LINK:
		return add_link_rsp(lgr, link, m);
	case SMC_LLC_DELETE_LINK:
		return delete_link_rsp(lgr);
	case SMC_LLC_CONFIRM_RKEY:
		return confirm_rkey_rsp(lgr, link, m);
	default:
		/* We send no request of another kind. */
		return violation(link);
	}
}

/**
 * smc_llc_take() - judge a message
 * @lgr: the link group
 * @link: over which it came
 * @buf: the message, which has been decoded once without complaint
 * @len: its length
 *
 * Context: the engine's work.
 */
void smc_llc_take(struct smc_lgr *lgr, struct smc_link *link, const u8 *buf,
		  size_t len)
{
	struct smc_llc_msg m;
	int rc = smc_llc_decode(buf, len, &m);

	if (m.reply)
		take_reply(lgr, link, &m);
	else
		take_request(lgr, link, &m, rc == -EOPNOTSUPP);
}
