// SPDX-License-Identifier: GPL-2.0
/*
 * RFC 7609, C.7 as tables: the action for each message, the sides that may send it, and when; and
 * the action if an expected message does not arrive.
 *
 * "Treat as if the link had gone down" means: the link's connections move to another link, and the
 * loss of the last link ends the group and its connections.  Connections that have not finished
 * their first contact decline or are reset, as C.2 and C.3 require, see smc_rdma_finish().
 */
#include <linux/moduleparam.h>
#include "lgr.h"
#include "../link/link.h"
#include "llc_msg.h"

#ifdef CONFIG_SMC_TEST
/* For tests: wait longer, to show that something does not end by a timeout. */
static unsigned int llc_patience = 1;
module_param(llc_patience, uint, 0600);
MODULE_PARM_DESC(llc_patience, "factor for the time that LLC waits for a message");
#define patience()	READ_ONCE(llc_patience)
#else
#define patience()	1
#endif

/* The sides that may send a message. */
#define SERVER		BIT(0)
#define CLIENT		BIT(1)
#define BOTH		(SERVER | CLIENT)

/* When it may arrive.  A link is confirmed when it is neither new nor being confirmed. */
#define WHEN(wait)	BIT(SMC_LLC_##wait)
#define ANY		(BIT(SMC_LLC_NR_WAITS) - 1)
#define CONFIRMED	(ANY & ~(WHEN(NEW) | WHEN(W_CONFIRM_REQ) | WHEN(W_CONFIRM_RSP)))

#define REQUEST		false
#define REPLY		true

/**
 * struct llc_rule - the action for a message
 * @type:	SMC_LLC_*
 * @reply:	REQUEST or REPLY
 * @from:	the sides that may send it
 * @when:	bitmap of the enum smc_llc_wait during which it may arrive
 * @take:	the action
 */
struct llc_rule {
	u8	type;
	bool	reply;
	u8	from;
	u16	when;
	void	(*take)(struct smc_lgr *lgr, struct smc_link *link,
			struct smc_llc_msg *m);
};

/*
 * The first rule that matches applies.  A message that matches none is unambiguously incorrect or
 * out of sync, and the link goes down.  Not in the table, because smc_llc_rx() handles them:
 * messages that cannot be decoded (the link goes down), unknown optional messages (discarded), and
 * TEST LINK (answered without the queue).
 */
static const struct llc_rule llc_rules[] = {
	/* incorrect link information: Decline, or the link goes down */
	{ SMC_LLC_CONFIRM_LINK, REQUEST, SERVER, WHEN(W_CONFIRM_REQ),
	  smc_llc_take_confirm_link_req },
	{ SMC_LLC_CONFIRM_LINK, REPLY, CLIENT, WHEN(W_CONFIRM_RSP),
	  smc_llc_take_confirm_link_rsp },
	/* the same over a link that is being added */
	{ SMC_LLC_CONFIRM_LINK, REQUEST, SERVER, WHEN(W_CONFIRM2_REQ),
	  smc_llc_take_confirm_added_req },
	{ SMC_LLC_CONFIRM_LINK, REPLY, CLIENT, WHEN(W_CONFIRM2_RSP),
	  smc_llc_take_confirm_added_rsp },
	/* unknown MTU: negative reply, reason 2 */
	{ SMC_LLC_ADD_LINK, REQUEST, SERVER, CONFIRMED,
	  smc_llc_take_add_link_req },
	/* version 1: the client has another device; its message is informational (3.5.5.3) */
	{ SMC_LLC_ADD_LINK, REQUEST, CLIENT, CONFIRMED,
	  smc_llc_take_add_link_wish },
	{ SMC_LLC_ADD_LINK, REPLY, CLIENT, WHEN(W_ADD_LINK_RSP),
	  smc_llc_take_add_link_rsp },
	{ SMC_LLC_ADD_LINK, REPLY, CLIENT, CONFIRMED,
	  smc_llc_take_add_link_late },
	/* RTokens that do not fit what the first of these messages announced: the link goes down */
	{ SMC_LLC_ADD_LINK_CONT, REQUEST, SERVER, WHEN(W_ADD_CONT_REQ),
	  smc_llc_take_add_link_cont_req },
	{ SMC_LLC_ADD_LINK_CONT, REPLY, CLIENT, WHEN(W_ADD_CONT_RSP),
	  smc_llc_take_add_link_cont_rsp },
	{ SMC_LLC_ADD_LINK_CONT, REQUEST, SERVER, CONFIRMED,
	  smc_llc_take_add_link_cont_late },
	{ SMC_LLC_ADD_LINK_CONT, REPLY, CLIENT, CONFIRMED,
	  smc_llc_take_add_link_cont_late },
	/* unknown link: reply with that reason */
	{ SMC_LLC_DELETE_LINK, REQUEST, BOTH, ANY,
	  smc_llc_take_delete_link_req },
	{ SMC_LLC_DELETE_LINK, REPLY, CLIENT, WHEN(W_DELETE_LINK_RSP),
	  smc_llc_take_delete_link_rsp },
	{ SMC_LLC_DELETE_LINK, REPLY, BOTH, CONFIRMED,
	  smc_llc_take_delete_link_late },
	{ SMC_LLC_REQ_ADD_LINK, REQUEST, CLIENT, CONFIRMED,
	  smc_llc_take_req_add_link },
	/* the server has no use for the device that we have announced */
	{ SMC_LLC_REQ_ADD_LINK, REPLY, SERVER, CONFIRMED,
	  smc_llc_take_req_add_link_rsp },
	{ SMC_LLC_CONFIRM_RKEY, REQUEST, BOTH, CONFIRMED,
	  smc_llc_take_confirm_rkey_req },
	{ SMC_LLC_CONFIRM_RKEY, REPLY, BOTH, WHEN(W_CONFIRM_RKEY_RSP),
	  smc_llc_take_confirm_rkey_rsp },
	{ SMC_LLC_CONFIRM_RKEY, REPLY, BOTH, CONFIRMED,
	  smc_llc_take_rkey_late },
	{ SMC_LLC_CONFIRM_RKEY_CONT, REQUEST, BOTH, CONFIRMED,
	  smc_llc_take_confirm_rkey_cont },
	/* unknown RKey: negative reply */
	{ SMC_LLC_DELETE_RKEY, REQUEST, BOTH, CONFIRMED,
	  smc_llc_take_delete_rkey_req },
	{ SMC_LLC_DELETE_RKEY, REPLY, BOTH, WHEN(W_DELETE_RKEY_RSP),
	  smc_llc_take_delete_rkey_rsp },
	{ SMC_LLC_DELETE_RKEY, REPLY, BOTH, CONFIRMED,
	  smc_llc_take_rkey_late },
};

/**
 * smc_llc_dispatch() - process a message by the rules
 * @lgr: the link group
 * @link: the link that it came over
 * @buf: the message, which smc_llc_rx() has decoded before
 * @len: its length
 *
 * Context: the engine's work.
 */
void smc_llc_dispatch(struct smc_lgr *lgr, struct smc_link *link, const u8 *buf,
		      size_t len)
{
	u8 from = lgr->server ? CLIENT : SERVER;
	const struct llc_rule *rule;
	struct smc_llc_msg m;
	unsigned int i;

	/* The rule itself handles -EOPNOTSUPP, which stands for an unknown MTU. */
	smc_llc_decode(buf, len, &m);
	for (i = 0; i < ARRAY_SIZE(llc_rules); i++) {
		rule = &llc_rules[i];
		if (rule->type == m.type && rule->reply == m.reply &&
		    rule->from & from && rule->when & BIT(lgr->llc.wait)) {
			rule->take(lgr, link, &m);
			return;
		}
	}
	smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
}

/*
 * The peer is at fault: a peer that merely cannot send would have declined by now.  Reset
 * the TCP connection.
 */
static void reset_first_contact(struct smc_lgr *lgr)
{
	lgr->committed = true;
	smc_lgr_end(lgr, SMC_REASON_TIMEOUT);
}

static void add_link_unanswered(struct smc_lgr *lgr)
{
	enum smc_lgr_state state = READ_ONCE(lgr->state);
	struct smc_link *over = lgr->llc.add_over;

	if (state == SMC_LGR_NEW) {
		reset_first_contact(lgr);
		return;
	}
	/* Something else ends the group. If the link was only offered, @over is NULL. */
	if (state == SMC_LGR_ENDING)
		return;
	smc_llc_add_failed(lgr);
	smc_link_down(over, SMC_LLC_DEL_LOST_PATH);
}

/*
 * Treat as a failure of the link over which the peer was asked. But what we took for the late
 * answer to an interrupted request may have been the answer to this one: other implementations
 * drop a request that arrives during another exchange. Then ask once more.
 */
static void rkey_unanswered(struct smc_llc *llc)
{
	if (!llc->rkey_doubt)
		smc_link_down(llc->rkey_link, SMC_LLC_DEL_LOST_PATH);
}

static void rkey_link_failed(struct smc_lgr *lgr)
{
	/* If another link is left, the peer is asked again over that one. */
	smc_llc_rkey_put_off(lgr);
	rkey_unanswered(&lgr->llc);
}

static void unused_link_failed(struct smc_lgr *lgr)
{
	smc_llc_unused_put_off(lgr);
	rkey_unanswered(&lgr->llc);
}

/*
 * Timeout during a first contact.  It gives the peer time to find, after seven tries of 1.07 s (see
 * ready_to_send()), that it cannot send, and TCP time to retransmit the peer's Decline twice.
 */
#define FIRST_TIME	(9 * HZ)

/**
 * struct llc_timeout - the action if a message does not arrive
 * @time:	how long we wait for the message
 * @pop:	the action after that
 */
struct llc_timeout {
	unsigned long	time;
	void		(*pop)(struct smc_lgr *lgr);
};

static const struct llc_timeout llc_timeouts[SMC_LLC_NR_WAITS] = {
	/* the server's CONFIRM LINK; C.7, before C.7.1 */
	[SMC_LLC_W_CONFIRM_REQ]		= { FIRST_TIME, reset_first_contact },
	/* delivery of our reply; the device gives up after 7.5 s */
	[SMC_LLC_W_CONFIRM_SENT]	= { FIRST_TIME, reset_first_contact },
	/* CONFIRM LINK from server (first contact, first link) */
	[SMC_LLC_W_CONFIRM_RSP]		= { FIRST_TIME, reset_first_contact },
	/* CONFIRM LINK reply from client (first contact) */
	[SMC_LLC_W_ADD_LINK_REQ]	= { FIRST_TIME, reset_first_contact },
	/* ADD LINK from server (first contact) */
	[SMC_LLC_W_ADD_LINK_RSP]	= { FIRST_TIME, add_link_unanswered },
	/* ADD LINK reply, or ADD LINK CONTINUATION, from either: as ADD LINK from server */
	[SMC_LLC_W_ADD_CONT_REQ]	= { SMC_LLC_WAIT_TIME, add_link_unanswered },
	[SMC_LLC_W_ADD_CONT_RSP]	= { SMC_LLC_WAIT_TIME, add_link_unanswered },
	/* CONFIRM LINK over a further link, either side, and the next hop that it requires */
	[SMC_LLC_W_ADD_LINK_HOP]	= { SMC_LLC_WAIT_TIME, smc_llc_no_half },
	[SMC_LLC_W_CONFIRM2_REQ]	= { SMC_LLC_WAIT_TIME, smc_llc_add_failed },
	[SMC_LLC_W_CONFIRM2_RSP]	= { SMC_LLC_WAIT_TIME, smc_llc_add_failed },
	/* DELETE LINK from server (scope: single link) for a second link that was only offered */
	[SMC_LLC_W_DELETE_LINK_RSP]	= { FIRST_TIME, reset_first_contact },
	/* CONFIRM RKEY from either; TEST LINK is the same, see test_link() */
	[SMC_LLC_W_CONFIRM_RKEY_RSP]	= { SMC_LLC_WAIT_TIME, rkey_link_failed },
	/* DELETE RKEY from either: the same */
	[SMC_LLC_W_DELETE_RKEY_RSP]	= { SMC_LLC_WAIT_TIME, unused_link_failed },
};

/**
 * smc_llc_left() - how much longer does the engine wait for a message?
 * @lgr: the link group
 *
 * If the time is over, this handles the timeout.
 *
 * Context: the engine's work.
 * Return: time in jiffies, 0 if the engine waits for nothing.
 */
unsigned long smc_llc_left(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	const struct llc_timeout *t = &llc_timeouts[llc->wait];
	unsigned long deadline = llc->since + t->time * patience(), now = jiffies;

	if (!t->time)
		return 0;
	if (time_before(now, deadline))
		return deadline - now;
	llc->wait = SMC_LLC_IDLE;
	t->pop(lgr);
	return 0;
}
