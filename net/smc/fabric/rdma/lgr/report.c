// SPDX-License-Identifier: GPL-2.0
/*
 * Reports about changes of a group's links: counters, tracepoints, and a line in the kernel log for
 * each change in how many losses of links the group can survive.
 *
 * A group that begins with one link, or ends without connections, is not logged.
 */
#include <linux/printk.h>
#include <linux/smc_diag.h>
#include "../../../events.h"
#include "../../../netns.h"
#include "../../../stats.h"
#include "../../../trace.h"
#include "../../show.h"
#include "lgr.h"

/* Names of a link for a report; a copy, because the link may end meanwhile. */
struct link_name {
	u8	number;
	u8	port;
	char	dev[IB_DEVICE_NAME_MAX];
};

static void name_link(struct smc_lgr *lgr, const struct smc_link *link, struct link_name *name)
{
	name->number = link->number;
	spin_lock_bh(&lgr->lock);
	name->port = link->path.port;
	strscpy(name->dev, link->path.dev ? link->path.dev->ibdev->name : "a removed device",
		sizeof(name->dev));
	spin_unlock_bh(&lgr->lock);
}

static enum smc_group_type pair_type(const struct smc_link *a, const struct smc_link *b)
{
	if (smc_link_same_port(a, b))
		return SMC_GROUP_ASYMMETRIC_LOCAL;
	return smc_link_same_peer_port(a, b) ? SMC_GROUP_ASYMMETRIC_PEER : SMC_GROUP_SYMMETRIC;
}

/* While a third link replaces an asymmetric one, two of the three are symmetric. */
static enum smc_group_type __type(struct smc_lgr *lgr)
{
	enum smc_group_type type = SMC_GROUP_NONE, pair;
	struct smc_link *a, *b;

	lockdep_assert_held(&lgr->lock);
	smc_lgr_for_each_link(lgr, a) {
		if (READ_ONCE(a->state) != SMC_LINK_ACTIVE)
			continue;
		if (type == SMC_GROUP_NONE)
			type = SMC_GROUP_SINGLE;
		for (b = lgr->links; b < a; b++) {
			if (READ_ONCE(b->state) != SMC_LINK_ACTIVE)
				continue;
			pair = pair_type(a, b);
			if (type != SMC_GROUP_SYMMETRIC)
				type = pair;
		}
	}
	return type;
}

/**
 * smc_lgr_type() - which ports do the active links connect?  (RFC 7609, 2.2.1)
 * @lgr: the link group
 *
 * Context: any but hard interrupts.
 * Return: the type, which may change at any time.
 */
enum smc_group_type smc_lgr_type(struct smc_lgr *lgr)
{
	enum smc_group_type type;

	spin_lock_bh(&lgr->lock);
	type = __type(lgr);
	spin_unlock_bh(&lgr->lock);
	return type;
}

static const char *type_words(enum smc_group_type type)
{
	static const char *const words[] = {
		[SMC_GROUP_NONE]	     = "no link is active",
		[SMC_GROUP_SINGLE]	     = "single",
		[SMC_GROUP_SYMMETRIC]	     = "symmetric",
		[SMC_GROUP_ASYMMETRIC_PEER]  = "asymmetric, the peer has one port",
		[SMC_GROUP_ASYMMETRIC_LOCAL] = "asymmetric, this host has one port",
	};

	return words[type];
}

static const char *down_words(u32 reason)
{
	switch (reason) {
	case SMC_LLC_DEL_LOST_PATH:
		return "port or path lost";
	case SMC_LLC_DEL_OPERATOR:
		return "ended by the peer's operator";
	case SMC_LLC_DEL_PROGRAM:
		return "ended by the peer's program";
	case SMC_LLC_DEL_PROTOCOL:
		return "protocol violation";
	case SMC_LLC_DEL_ASYMMETRIC:
		return "another link has taken its place";
	default:
		return "unknown to the peer";
	}
}

/* Returns NULL if nobody listens or the queue is full. */
static struct smc_event *new_event(struct smc_lgr *lgr, u8 type, u8 group_type)
{
	struct smc_event *e = smc_event_new(lgr->sn->net, type);

	if (!e)
		return NULL;
	e->tech = SMC_DIAG_MODE_SMCR;
	e->lgr = lgr->id;
	e->server = lgr->server;
	e->group_type = group_type;
	e->conns = READ_ONCE(lgr->n_conns);
	return e;
}

static void post_link(struct smc_lgr *lgr, u8 type, u8 group_type, const struct link_name *name)
{
	struct smc_event *e = new_event(lgr, type, group_type);

	BUILD_BUG_ON(SMC_EVENT_DEV != IB_DEVICE_NAME_MAX);
	if (!e)
		return;
	e->link = name->number;
	e->port = name->port;
	strscpy(e->dev, name->dev, sizeof(e->dev));
	smc_event_post(lgr->sn->net, e);
}

static void post_group(struct smc_lgr *lgr, u8 type, enum smc_reason reason)
{
	struct smc_event *e = new_event(lgr, type, smc_lgr_type(lgr));

	if (!e)
		return;
	e->reason = reason;
	strscpy(e->dev, lgr->dev_name, sizeof(e->dev));
	smc_event_post(lgr->sn->net, e);
}

/**
 * __smc_lgr_report_new() - report a successful first contact
 * @lgr: the link group, whose first link is active; smc_lgrs.lock is held
 *
 * Context: any but hard interrupts.
 */
void __smc_lgr_report_new(struct smc_lgr *lgr)
{
	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	post_group(lgr, SMC_EVENT_LGR_NEW, SMC_REASON_NONE);
	smc_lgr_report_up(lgr, smc_lgr_first_link(lgr));
}

/**
 * smc_lgr_report_up() - report a link that can carry connections now
 * @lgr: the link group
 * @link: the link, which may have gone down again
 *
 * Context: any but hard interrupts.
 */
void smc_lgr_report_up(struct smc_lgr *lgr, const struct smc_link *link)
{
	enum smc_group_type type = smc_lgr_type(lgr);
	struct link_name name;

	if (!link->confirmed)
		return;
	name_link(lgr, link, &name);
	this_cpu_inc(lgr->sn->stats->links_up);
	trace_smcr_link_up(lgr, link, lgr->sn->net, type, name.dev);
	post_link(lgr, SMC_EVENT_LINK_UP, type, &name);
	if (link->number > 1)
		pr_info_ratelimited("smc: link group %08x: link %u on %s port %u is up: %s\n",
				    lgr->id, name.number, name.dev, name.port, type_words(type));
}

/**
 * smc_lgr_report_down() - report a link that no longer works
 * @lgr: the link group
 * @link: the link
 * @caller: code address that noticed the failure
 *
 * It is not known yet what becomes of its connections.
 *
 * Context: any but hard interrupts.
 */
void smc_lgr_report_down(struct smc_lgr *lgr, const struct smc_link *link, void *caller)
{
	struct link_name name;

	name_link(lgr, link, &name);
	this_cpu_inc(lgr->sn->stats->links_down);
	trace_smcr_link_down(lgr, link, lgr->sn->net, SMC_LINK_DOWN, name.dev, caller);
	post_link(lgr, SMC_EVENT_LINK_DOWN, smc_lgr_type(lgr), &name);
}

/**
 * smc_lgr_report_moved() - report that the connections of a link that is down have left it
 * @lgr: the link group
 * @move: the two links, and how many connections
 *
 * Context: process.
 */
void smc_lgr_report_moved(struct smc_lgr *lgr, const struct smc_link_move *move)
{
	struct link_name from, to;

	/* A link that never came up is tried again and again, so do not log it. */
	if (!move->from->confirmed)
		return;
	name_link(lgr, move->from, &from);
	if (!move->n_moved && !move->n_reset) {
		pr_info_ratelimited("smc: link group %08x: link %u on %s port %u is down (%s); no connection used it\n",
				    lgr->id, from.number, from.dev, from.port,
				    down_words(move->from->down_reason));
		return;
	}
	if (!move->to) {
		pr_info_ratelimited("smc: link group %08x: link %u on %s port %u is down (%s); connections reset: %u\n",
				    lgr->id, from.number, from.dev, from.port,
				    down_words(move->from->down_reason), move->n_reset);
		return;
	}
	name_link(lgr, move->to, &to);
	pr_info_ratelimited("smc: link group %08x: link %u on %s port %u is down (%s); connections moved to link %u on %s port %u: %u, reset: %u\n",
			    lgr->id, from.number, from.dev, from.port,
			    down_words(move->from->down_reason),
			    to.number, to.dev, to.port, move->n_moved, move->n_reset);
}

/* The link whose loss ends the group; failover has not handled the loss yet. */
static const struct smc_link *last_link(struct smc_lgr *lgr, enum smc_reason reason)
{
	struct smc_link *link;

	smc_lgr_for_each_link(lgr, link)
		if (READ_ONCE(link->path.dev) && READ_ONCE(link->state) == SMC_LINK_DOWN &&
		    link->confirmed && !link->drained)
			return link;
	return reason == SMC_REASON_NO_DEVICE ? smc_lgr_other_link(lgr, NULL) : NULL;
}

static const char *end_words(enum smc_reason reason)
{
	return reason == SMC_REASON_OUT_OF_SYNC ? "ended by the peer" : "ended";
}

/**
 * smc_lgr_report_given_up() - report that connections were given up because memory is short
 * @lgr: the link group
 * @n: number of connections
 */
void smc_lgr_report_given_up(const struct smc_lgr *lgr, unsigned int n)
{
	pr_info_ratelimited("smc: link group %08x: memory is short; connections given up that the peer has not closed: %u\n",
			    lgr->id, n);
}

/**
 * __smc_lgr_report_end() - report the end of a group
 * @lgr: the link group, not yet marked as ending; smc_lgrs.lock is held
 * @reason: why
 *
 * Context: any but hard interrupts.
 */
void __smc_lgr_report_end(struct smc_lgr *lgr, enum smc_reason reason)
{
	const struct smc_link *last = last_link(lgr, reason);
	struct link_name name;

	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	/* A first contact reports its own failure; the end of a namespace is not reported. */
	if (lgr->state != SMC_LGR_ACTIVE || smc_lgrs_of(lgr)->closed)
		return;
	post_group(lgr, SMC_EVENT_LGR_END, reason);
	if (!lgr->n_conns)
		return;
	if (!last || reason == SMC_REASON_OUT_OF_SYNC) {
		pr_info_ratelimited("smc: link group %08x: %s; connections reset: %u\n", lgr->id,
				    end_words(reason), lgr->n_conns);
		return;
	}
	name_link(lgr, last, &name);
	pr_info_ratelimited("smc: link group %08x: the last link, %u on %s port %u, is down (%s); the group ends, connections reset: %u\n",
			    lgr->id, name.number, name.dev, name.port,
			    down_words(last->down_reason ?: SMC_LLC_DEL_LOST_PATH), lgr->n_conns);
}
