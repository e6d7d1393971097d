// SPDX-License-Identifier: GPL-2.0
/*
 * The LLC engine: add a link to a group (RFC 7609, 3.5.1.6, 3.5.5.1.1 and 3.5.5.2.3).
 *
 *	server						client
 *	makes its half
 *	ADD LINK, its RTokens, over an existing link ->
 *							makes its half, connects it
 *				   <- reply, its RTokens
 *	connects its half; in version 1 after llc_add_cont.c
 *	CONFIRM LINK over the new link ->
 *				   <- reply
 *
 * The server begins.  Data transfer goes on.  If the exchange fails, only the new link is lost.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include "../../../netns.h"
#include "../../../smc.h"
#include "../../../wire/clc.h"
#include "lgr.h"
#include "../link/link.h"
#include "llc_msg.h"

/* Number of a second link that is offered but never made. */
#define NO_LINK		2

/* ---- our half ---- */

/* The shortest and the longest delay between two tries. */
#define AGAIN_FIRST	(HZ / 4)
#define AGAIN_LAST	(64 * HZ)

/* Try again by timer: an event reports a new port, but not a new route to the peer. */
static void again_later(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;

	llc->add_delay = clamp(2 * llc->add_delay, (unsigned long)AGAIN_FIRST,
			       (unsigned long)AGAIN_LAST);
	llc->add_at = (jiffies + llc->add_delay) | 1;
}

/* Prepare the engine for another link; the exchange takes place over @over. */
static void new_link(struct smc_lgr *lgr, struct smc_link *over, struct smc_link *link)
{
	struct smc_llc *llc = &lgr->llc;

	spin_lock_bh(&llc->lock);
	llc->tests[smc_lgr_link_index(lgr, link)] = (struct smc_llc_test) {};
	llc->port_came = false;
	spin_unlock_bh(&llc->lock);
	llc->add_over = over;
	llc->add_over_uid = over->uid;
	llc->add_uid = link->uid;
	llc->rkeys_late[smc_lgr_link_index(lgr, link)] = 0;
	smc_llc_cont_begin(llc);
	/* Link numbers wrap, so forget what is recorded of an earlier link with this number. */
	__clear_bit(link->number, llc->adds_late);
	__clear_bit(link->number, llc->deletes);
	smc_llc_loss_known(llc, link->number);
}

static struct smc_link *make_link(struct smc_lgr *lgr, struct smc_link *over, u8 number,
				  const union ib_gid *peer_gid)
{
	struct smc_rdma_path path;
	struct smc_link *link;
	int rc;

	rc = smc_lgr_new_path(lgr, over, peer_gid, &path);
	if (rc) {
		if (rc != -EALREADY)
			again_later(lgr);
		return NULL;
	}
	link = smc_lgr_make_link(lgr, &path, number);
	smc_rdma_path_put(&path);
	if (link)
		new_link(lgr, over, link);
	else
		again_later(lgr);
	return link;
}

/* ---- the messages ---- */

static int send_add_link(struct smc_lgr *lgr, struct smc_link *over, struct smc_link *link,
			 bool reply)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_ADD_LINK,
		.v2 = smc_lgr_is_v2(lgr),
		.reply = reply,
		.add_link = {
			.qpn	= link->qp->qp_num,
			.link	= link->number,
			.mtu	= link->path.mtu,
			.psn	= link->psn,
			.direct	= reply ? link->hop.direct : over->hop.direct,
		},
	};
	struct smc_llc_w_rtoken *rtokens;
	int rc;

	memcpy(m.add_link.mac, link->path.mac, ETH_ALEN);
	memcpy(m.add_link.gid, link->path.gid.raw, 16);
	if (!m.v2)
		return smc_llc_send(over, &m);
	rtokens = smc_alloc_array(SMC_LGR_RTOKENS, sizeof(*rtokens));
	if (!rtokens)
		return -ENOMEM;
	mutex_lock(&lgr->setup_lock);
	m.add_link.n_rtokens = smc_mem_rtokens(lgr, over, link, 0, rtokens, SMC_LGR_RTOKENS);
	mutex_unlock(&lgr->setup_lock);
	m.add_link.rtokens = rtokens;
	rc = smc_llc_send_long(over, &m);
	kvfree(rtokens);
	return rc;
}

/* Is this a temporary failure to send?  Then the link works, and a later try may succeed. */
static bool not_now(int rc)
{
	return rc == -EBUSY || rc == -ENOMEM;
}

/* Store the peer's half of a link.  Returns false if its values are invalid. */
static bool take_half(struct smc_lgr *lgr, struct smc_link *over, struct smc_link *link,
		      const struct smc_llc_add_link *add)
{
	unsigned int known = smc_lgr_link_index(lgr, over), added = smc_lgr_link_index(lgr, link);
	struct smc_llc_rtoken t;
	int n;

	if (!smc_link_peer_valid(add->qpn, add->mac) || !smc_clc_mtu_valid(add->mtu))
		return false;
	link->peer_qpn = add->qpn;
	link->peer_psn = add->psn;
	link->peer_mtu = add->mtu;
	ether_addr_copy(link->peer_mac, add->mac);
	smc_rdma_gid_from_wire(&link->peer_gid, add->gid);
	for (n = 0; n < add->n_rtokens; n++) {
		t = smc_llc_get_rtoken(&add->rtokens[n]);
		smc_rtoken_set_same(lgr, known, t.ref_rkey, added, t.rkey, t.addr);
	}
	return true;
}

/* The RFC requires an attempt at a second link, but we have no device for one. */
static int offer_nothing(struct smc_lgr *lgr, struct smc_link *over)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_ADD_LINK,
		.v2 = smc_lgr_is_v2(lgr),
		.add_link = {
			.qpn = over->qp->qp_num,
			.link = NO_LINK,
			.mtu = over->path.mtu,
			.psn = over->psn,
			.direct = over->hop.direct,
		},
	};

	memcpy(m.add_link.mac, over->path.mac, ETH_ALEN);
	memcpy(m.add_link.gid, over->path.gid.raw, 16);
	return smc_llc_send(over, &m);
}

static void lost_link(struct smc_link *link)
{
	smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
}

/* ---- another try ---- */

/* Read and clear a flag that llc->lock protects: add_wanted or port_came. */
static bool take_flag(struct smc_llc *llc, bool *flag)
{
	bool set;

	spin_lock_bh(&llc->lock);
	set = *flag;
	*flag = false;
	spin_unlock_bh(&llc->lock);
	return set;
}

static bool is_wanted(struct smc_llc *llc)
{
	bool wanted = take_flag(llc, &llc->add_wanted);

	if (wanted)
		llc->add_delay = 0;
	return wanted || (llc->add_at && !time_before(jiffies, llc->add_at));
}

/* Send the server's ADD LINK in an active group.  Returns false if there is no path. */
static bool ask_for_link(struct smc_lgr *lgr, struct smc_link *over, const union ib_gid *peer_gid)
{
	struct smc_link *link = make_link(lgr, over, smc_lgr_next_number(lgr), peer_gid);
	int rc;

	if (!link)
		return false;
	rc = send_add_link(lgr, over, link, false);
	if (!rc) {
		smc_llc_await(lgr, SMC_LLC_W_ADD_LINK_RSP);
		return true;
	}
	/* The peer has not heard of this link, and need not hear of its loss. */
	link->peer_knows = true;
	smc_llc_add_failed(lgr);
	if (!not_now(rc))
		lost_link(over);
	return true;
}

static int send_request(struct smc_lgr *lgr, struct smc_link *over,
			const struct smc_rdma_path *path)
{
	struct smc_llc_msg m = { .type = SMC_LLC_REQ_ADD_LINK, .v2 = true };
	int rc;

	m.req_add_link.n_gids = 2;
	memcpy(m.req_add_link.gids[0], over->path.gid.raw, 16);
	memcpy(m.req_add_link.gids[1], path->gid.raw, 16);
	rc = smc_llc_send_long(over, &m);
	lgr->llc.add_asked |= !rc;
	return rc;
}

/* Version 1: ADD LINK names the new port.  There is no queue pair yet for the other fields. */
static int send_v1_wish(struct smc_link *over, const struct smc_rdma_path *path)
{
	struct smc_llc_msg m = { .type = SMC_LLC_ADD_LINK, .add_link.mtu = path->mtu };

	memcpy(m.add_link.mac, path->mac, ETH_ALEN);
	memcpy(m.add_link.gid, path->gid.raw, 16);
	return smc_llc_send(over, &m);
}

/*
 * Has the last request not been delivered yet?  Another one would only wait behind it.  On a path
 * that comes back it would even do harm: each post makes soft-RoCE wait anew before it retransmits.
 */
static bool wish_under_way(const struct smc_lgr *lgr, const struct smc_link *over)
{
	return lgr->llc.wish_uid == over->uid && !smc_llc_delivered(over, lgr->llc.wish_end);
}

static int send_wish(struct smc_lgr *lgr, struct smc_link *over, const struct smc_rdma_path *path)
{
	int rc = smc_lgr_is_v2(lgr) ? send_request(lgr, over, path) : send_v1_wish(over, path);

	if (!rc) {
		lgr->llc.wish_uid = over->uid;
		lgr->llc.wish_end = smc_link_sent(over);
	}
	return rc;
}

/* Client: tell the server of another device, if there is one; does not wait for an answer. */
static void tell_server(struct smc_lgr *lgr, struct smc_link *over)
{
	struct smc_rdma_path path;
	int rc;

	if (wish_under_way(lgr, over)) {
		again_later(lgr);
		return;
	}
	rc = smc_lgr_new_path(lgr, over, NULL, &path);
	/* Repeat this later: the server need not answer, and may have no port yet. */
	if (rc != -EALREADY)
		again_later(lgr);
	if (rc)
		return;
	rc = send_wish(lgr, over, &path);
	smc_rdma_path_put(&path);
	if (rc && !not_now(rc))
		lost_link(over);
}

static void try_again(struct smc_lgr *lgr)
{
	struct smc_link *over = smc_lgr_working_link(lgr);

	if (over && lgr->server)
		ask_for_link(lgr, over, NULL);
	else if (over)
		tell_server(lgr, over);
}

/**
 * smc_llc_add_again() - try to get a second link (RFC 7609, C.8 and 3.5.5.1.2)
 * @lgr: the link group, whose engine waits for nothing
 *
 * Context: the engine's work.
 * Return: jiffies until it must be called again; 0 for never.
 */
unsigned long smc_llc_add_again(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;

	if (is_wanted(llc)) {
		llc->add_at = 0;
		try_again(lgr);
	}
	return llc->add_at ? max_t(long, llc->add_at - jiffies, 1) : 0;
}

/* ---- the server ---- */

/**
 * smc_llc_add_link() - send the server's ADD LINK of the first contact
 * @lgr: the link group
 * @over: its first link, confirmed
 *
 * Context: the engine's work.
 */
void smc_llc_add_link(struct smc_lgr *lgr, struct smc_link *over)
{
	struct smc_link *link = make_link(lgr, over, smc_lgr_next_number(lgr), NULL);

	if (link ? send_add_link(lgr, over, link, false) : offer_nothing(lgr, over)) {
		lost_link(over);
		return;
	}
	WRITE_ONCE(lgr->llc.add_end, smc_link_sent(over));
	smc_llc_await(lgr, SMC_LLC_W_ADD_LINK_RSP);
}

/* Delete the link that we only offered: the client has a second device, but we have none. */
static void take_back(struct smc_lgr *lgr, struct smc_link *over)
{
	struct smc_llc_msg del = {
		.type = SMC_LLC_DELETE_LINK,
		.v2 = smc_lgr_is_v2(lgr),
		.delete_link = {
			.link = NO_LINK,
			.orderly = true,
			.reason = SMC_LLC_DEL_PROGRAM,
		},
	};

	if (smc_llc_send(over, &del))
		lost_link(over);
	smc_llc_await(lgr, SMC_LLC_W_DELETE_LINK_RSP);
}

/* End the first contact; the rest of the exchange concerns the new link only. */
static void first_contact_over(struct smc_lgr *lgr)
{
	lgr->llc.wait = SMC_LLC_IDLE;
	if (READ_ONCE(lgr->state) == SMC_LGR_NEW)
		smc_lgr_activate(lgr);
}

/**
 * smc_llc_no_half() - give up our half of the new link
 * @lgr: the link group
 *
 * A client has not answered the server's ADD LINK yet, and refuses it now.
 *
 * Context: the engine's work.
 */
void smc_llc_no_half(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_link *link = llc->add_link, *over = llc->add_over;
	struct smc_llc_msg m = {
		.type = SMC_LLC_ADD_LINK,
		.v2 = smc_lgr_is_v2(lgr),
		.reply = true,
		.negative = true,
		.add_link = {
			.qpn	= link->qp->qp_num,
			.link	= link->number,
			.mtu	= link->path.mtu,
			.psn	= link->psn,
			.reason	= SMC_LLC_REJ_NO_ALT_PATH,
		},
	};

	if (!lgr->server && smc_llc_same_link(over, llc->add_over_uid)) {
		memcpy(m.add_link.mac, link->path.mac, ETH_ALEN);
		memcpy(m.add_link.gid, link->path.gid.raw, 16);
		link->peer_knows = true;
		smc_llc_send_or_down(over, &m);
	}
	smc_llc_add_failed(lgr);
}

/* Does the peer still owe us its half, or its RTokens for the new link? */
static bool awaits_half(const struct smc_llc *llc)
{
	return llc->wait == SMC_LLC_W_ADD_LINK_RSP || llc->wait == SMC_LLC_W_ADD_CONT_REQ ||
	       llc->wait == SMC_LLC_W_ADD_CONT_RSP;
}

/*
 * Can the exchange go on?  Once both halves are known, it continues over the new link, which may be
 * the only link left.
 */
static bool add_can_go_on(struct smc_lgr *lgr)
{
	const struct smc_llc *llc = &lgr->llc;

	if (!smc_llc_same_link(llc->add_link, llc->add_uid))
		return false;
	if (awaits_half(llc) || (llc->wait == SMC_LLC_W_ADD_LINK_HOP && !lgr->server))
		return smc_llc_same_link(llc->add_over, llc->add_over_uid);
	return true;
}

/* The message that the peer owes us, once it knows that our half is connected. */
static enum smc_llc_wait next_wait(const struct smc_lgr *lgr)
{
	if (lgr->server)
		return SMC_LLC_W_CONFIRM2_RSP;
	return smc_lgr_is_v2(lgr) ? SMC_LLC_W_CONFIRM2_REQ : SMC_LLC_W_ADD_CONT_REQ;
}

/**
 * smc_llc_add_connect() - connect our half of the new link, and tell the peer
 * @lgr: the link group
 *
 * Context: the engine's work.
 */
void smc_llc_add_connect(struct smc_lgr *lgr)
{
	struct smc_link *link = lgr->llc.add_link;
	int rc = -ENOLINK;

	if (add_can_go_on(lgr))
		rc = smc_link_next_hop(link);
	if (rc == -EAGAIN) {
		/* Do not restart the timeout at each event. */
		if (lgr->llc.wait != SMC_LLC_W_ADD_LINK_HOP)
			smc_llc_await(lgr, SMC_LLC_W_ADD_LINK_HOP);
		return;
	}
	if (!rc)
		rc = smc_lgr_connect_link(lgr, link);
	if (!rc && lgr->server)
		rc = smc_llc_send_confirm_link(lgr, link, false);
	else if (!rc)
		rc = send_add_link(lgr, lgr->llc.add_over, link, true);
	if (rc)
		smc_llc_no_half(lgr);
	else
		smc_llc_await(lgr, next_wait(lgr));
}

/*
 * An asymmetric link may have no path at all, for example if each port has a cable of its own.
 * Only silence shows that.  Give up the link when a better one may be possible, unless it is the
 * only one.
 */
static bool gives_way(struct smc_lgr *lgr)
{
	const struct smc_llc *llc = &lgr->llc;

	return (llc->wait == SMC_LLC_W_CONFIRM2_RSP || llc->wait == SMC_LLC_W_CONFIRM2_REQ) &&
	       smc_llc_same_link(llc->add_over, llc->add_over_uid) &&
	       smc_lgr_is_asymmetric(lgr, llc->add_link);
}

/**
 * smc_llc_add_goes_on() - go on after a gateway has answered, a link is lost, or a port has come
 * @lgr: the link group
 *
 * Context: the engine's work.
 */
void smc_llc_add_goes_on(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;

	if (llc->wait == SMC_LLC_W_ADD_LINK_HOP)
		smc_llc_add_connect(lgr);
	else if (llc->add_link && (!add_can_go_on(lgr) ||
				   (gives_way(lgr) && take_flag(llc, &llc->port_came))))
		smc_llc_add_failed(lgr);
}

/**
 * smc_llc_add_failed() - give up the new link
 * @lgr: the link group
 *
 * The peer is told of it as of any other lost link.
 *
 * Context: the engine's work.
 */
void smc_llc_add_failed(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_link *link = llc->add_link;

	if (link && awaits_half(llc))
		__set_bit(link->number, llc->adds_late);
	smp_store_release(&llc->add_link, NULL);
	again_later(lgr);
	first_contact_over(lgr);
	if (!link)
		return;
	if (smc_link_alive(link))
		lost_link(link);
	else
		smc_lgr_failover(lgr);
}

/**
 * smc_llc_add_is_late() - is a message about a link that we have given up meanwhile?
 * @lgr: the link group
 * @number: number of the link in the message
 *
 * If so, our DELETE LINK has told the peer.
 *
 * Context: the engine's work.
 * Return: true if so; no other message about this link is expected then.
 */
bool smc_llc_add_is_late(struct smc_lgr *lgr, u8 number)
{
	return __test_and_clear_bit(number, lgr->llc.adds_late);
}

SMC_LLC_TAKES(add_link_rsp)
{
	struct smc_link *added = lgr->llc.add_link;

	if (added && m->add_link.link != added->number &&
	    smc_llc_add_is_late(lgr, m->add_link.link))
		return;
	if (!added && !m->negative) {
		take_back(lgr, link);
		return;
	}
	first_contact_over(lgr);
	if (!added)
		return;
	if (m->negative) {
		/* The peer has no such link, and need not be told of its loss. */
		added->peer_knows = true;
		smc_llc_add_failed(lgr);
	} else if (m->add_link.link != added->number ||
		   !take_half(lgr, link, added, &m->add_link)) {
		smc_llc_add_failed(lgr);
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
	} else if (smc_lgr_is_parallel(lgr, added)) {
		/* Parallel links are refused by DELETE LINK over an existing link (C.7.1). */
		smc_llc_add_failed(lgr);
	} else if (m->v2) {
		smc_llc_add_connect(lgr);
	} else {
		smc_llc_cont_ask(lgr);
	}
}

SMC_LLC_TAKES(delete_link_rsp)
{
	if (m->delete_link.link == NO_LINK)
		first_contact_over(lgr);
	else
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
}

/* The incumbent refuses once more if its own attempt fails later. */
SMC_LLC_TAKES(add_link_late)
{
	if (!smc_llc_add_is_late(lgr, m->add_link.link) && !m->negative)
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
}

/*
 * The client has another device.  Answer with ADD LINK, after the exchange that is in progress, if
 * any.  Returns false if there is no path.
 */
static bool client_has(struct smc_lgr *lgr, struct smc_link *over, const u8 *wire_gid)
{
	union ib_gid gid;

	if (lgr->llc.wait != SMC_LLC_IDLE) {
		smc_llc_more_links(lgr);
		return true;
	}
	smc_rdma_gid_from_wire(&gid, wire_gid);
	return ask_for_link(lgr, over, &gid);
}

/* The GID of the client's new device comes last in the message. */
SMC_LLC_TAKES(req_add_link)
{
	struct smc_llc_req_add_link *req = &m->req_add_link;

	if (client_has(lgr, link, req->gids[max_t(u8, req->n_gids, 1) - 1]))
		return;
	m->reply = true;
	req->n_gids = 0;
	if (smc_llc_send(link, m))
		lost_link(link);
}

/* ---- the client ---- */

/* The reason to refuse the server's ADD LINK, or 0. */
static u8 refusal(struct smc_lgr *lgr, const struct smc_llc_msg *m)
{
	if (!smc_clc_mtu_valid(m->add_link.mtu))
		return SMC_LLC_REJ_MTU;
	if (!m->add_link.link || smc_lgr_link_by_number(lgr, m->add_link.link))
		return SMC_LLC_REJ_NO_ALT_PATH;
	return 0;
}

static void refuse(struct smc_link *over, struct smc_llc_msg *m, u8 reason)
{
	m->add_link.reason = reason;
	m->reply = true;
	m->negative = true;
	if (smc_llc_send(over, m))
		lost_link(over);
}

/*
 * ADD LINK of the server interrupts our exchange about RMBs: the server refuses our request, or has
 * accepted it over another link.  Ask again, and ignore that answer (3.5.5.3.3).
 */
static void put_rkeys_off(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;

	if (llc->wait != SMC_LLC_W_CONFIRM_RKEY_RSP && llc->wait != SMC_LLC_W_DELETE_RKEY_RSP)
		return;
	llc->rkeys_late[smc_lgr_link_index(lgr, llc->rkey_link)]++;
	if (llc->wait == SMC_LLC_W_CONFIRM_RKEY_RSP)
		smc_llc_rkey_put_off(lgr);
	else
		smc_llc_unused_put_off(lgr);
}

/* The server sends this only when our CONFIRM LINK has arrived, even if we do not know that yet. */
SMC_LLC_TAKES(add_link_req)
{
	bool first = lgr->llc.wait == SMC_LLC_W_ADD_LINK_REQ ||
		     lgr->llc.wait == SMC_LLC_W_CONFIRM_SENT;
	u8 reason = refusal(lgr, m);
	struct smc_link *added = NULL;
	union ib_gid gid;

	smc_rdma_gid_from_wire(&gid, m->add_link.gid);
	put_rkeys_off(lgr);
	if (!reason && (first || lgr->llc.wait == SMC_LLC_IDLE))
		added = make_link(lgr, link, m->add_link.link, &gid);
	if (first)
		first_contact_over(lgr);
	if (!added) {
		refuse(link, m, reason ?: SMC_LLC_REJ_NO_ALT_PATH);
	} else if (!take_half(lgr, link, added, &m->add_link)) {
		added->peer_knows = true;
		smc_llc_add_failed(lgr);
		refuse(link, m, SMC_LLC_REJ_NO_ALT_PATH);
	} else {
		smc_llc_add_connect(lgr);
	}
}

/* Most servers answer with ADD LINK; a server that cannot may send this reply. */
SMC_LLC_TAKES(req_add_link_rsp)
{
	if (!lgr->llc.add_asked)
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
}

/* Version 2 has REQUEST ADD LINK instead.  Version 1 does not answer if there is no path. */
SMC_LLC_TAKES(add_link_wish)
{
	if (m->v2)
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
	else
		client_has(lgr, link, m->add_link.gid);
}

/* ---- CONFIRM LINK over the new link ---- */

static void added(struct smc_lgr *lgr)
{
	struct smc_link *link = lgr->llc.add_link;

	smp_store_release(&lgr->llc.add_link, NULL);
	lgr->llc.add_delay = 0;
	lgr->llc.wait = SMC_LLC_IDLE;
	smc_lgr_link_up(lgr, link);
	/* If the link went down just before it was activated, nothing else tries again. */
	if (!link->confirmed)
		again_later(lgr);
	smc_lgr_replace_asymmetric(lgr, link);
}

/* Does the message confirm the new link?  If not, take down the link that it came over. */
static bool confirms_added(struct smc_lgr *lgr, struct smc_link *link,
			   const struct smc_llc_confirm_link *m)
{
	if (link != lgr->llc.add_link || m->link != link->number ||
	    !smc_llc_confirm_link_matches(lgr, link, m)) {
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
		return false;
	}
	link->peer_uid = m->link_uid;
	return true;
}

SMC_LLC_TAKES(confirm_added_req)
{
	if (!confirms_added(lgr, link, &m->confirm_link))
		return;
	if (smc_llc_send_confirm_link(lgr, link, true))
		smc_llc_add_failed(lgr);
	else
		added(lgr);
}

SMC_LLC_TAKES(confirm_added_rsp)
{
	if (confirms_added(lgr, link, &m->confirm_link))
		added(lgr);
}
