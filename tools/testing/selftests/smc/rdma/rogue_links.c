// SPDX-License-Identifier: GPL-2.0
/* Groups of several links: how the rogue adds one, and which messages come over any of them. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rogue.h"

#define MAX_KEPT	64

/**
 * struct group - what a group of several links has beyond its first link
 * @wants_adds:	the case handles ADD LINK and REQUEST ADD LINK of the victim
 * @wants_rkeys: the case handles CONFIRM RKEY of the victim
 * @mute:	TEST LINK over this link is not answered
 * @wrong:	or it is answered with other data
 * @n_muted:	how often that happened
 * @kept:	ring of the victim's LLC messages that are not yet processed
 */
struct group {
	bool wants_adds, wants_rkeys;
	const struct link *mute;
	bool wrong;
	unsigned int n_muted;
	struct {
		struct msg *m;
		struct link *over;
	} kept[MAX_KEPT];
	unsigned int head, tail;
};

static struct group *group_of(struct link *l)
{
	struct link *first = l->first;

	if (!first->group)
		first->group = calloc(1, sizeof(*first->group));
	if (!first->group)
		give_up("memory");
	for (l = first->next; l; l = l->next)
		l->group = first->group;
	return first->group;
}

void group_free(struct link *first)
{
	struct group *g = first->group;

	while (g && g->head != g->tail)
		free(g->kept[g->head++ % MAX_KEPT].m);
	free(g);
}

void group_wants_adds(struct link *l, bool wants)
{
	group_of(l)->wants_adds = wants;
}

/* ---- messages of the victim ---- */

static struct msg *recv_any(struct link *l, int ms, struct link **over)
{
	long until = now_ms() + ms, left;

	do {
		struct pollfd p[8];
		struct msg *got;
		unsigned int n = 0;

		for (*over = l->first; *over; *over = (*over)->next) {
			got = link_recv(*over, 0);
			if (got)
				return got;
			p[n++] = (struct pollfd) { (*over)->channel->fd, POLLIN };
		}
		left = until - now_ms();
		if (left > 0)
			poll(p, n, left);
	} while (left > 0);
	return NULL;
}

static void refuse(struct link *over, struct smc_llc_msg *m)
{
	m->reply = m->negative = true;
	m->add_link.reason = SMC_LLC_REJ_NO_ALT_PATH;
	llc_put(over, m);
}

/* Can the message be handled without the case? */
static bool served(struct group *g, struct link *over, struct smc_llc_msg *m)
{
	if (m->reply)
		return false;
	if (m->type == SMC_LLC_TEST_LINK) {
		m->reply = true;
		m->test_link.data[7] += over == g->mute && g->wrong;
		g->n_muted += over == g->mute;
		if (over != g->mute || g->wrong)
			llc_put(over, m);
		return true;
	}
	if (m->type == SMC_LLC_CONFIRM_RKEY && !g->wants_rkeys) {
		told_rmb(over, &m->confirm_rkey);
		m->reply = true;
		llc_put(over, m);
		return true;
	}
	if (g->wants_adds || (m->type != SMC_LLC_ADD_LINK && m->type != SMC_LLC_REQ_ADD_LINK))
		return false;
	if (m->type == SMC_LLC_ADD_LINK)
		refuse(over, m);
	return true;
}

bool group_take(struct link *l, int ms)
{
	struct group *g = group_of(l);
	struct smc_llc_msg m;
	struct link *over;
	struct msg *got = recv_any(l, ms, &over);
	int rc;

	if (!got)
		return BAD("no message arrives over any link");
	if (smc_is_cdc(got->b[0])) {
		cdc_take(over, got);
		free(got);
		return true;
	}
	rc = smc_llc_decode(got->b, got->len, &m);
	if (rc && rc != -EOPNOTSUPP)
		give_up("the victim sent an invalid LLC message, type %02x", got->b[0]);
	if (served(g, over, &m)) {
		free(got);
		return true;
	}
	if (g->tail - g->head == MAX_KEPT)
		give_up("the victim sends more than we can store");
	g->kept[g->tail % MAX_KEPT].m = got;
	g->kept[g->tail++ % MAX_KEPT].over = over;
	return true;
}

void group_wants_rkeys(struct link *l)
{
	group_of(l)->wants_rkeys = true;
}

bool group_muted(struct link *l, bool wrong)
{
	struct group *g = group_of(l);

	g->mute = l;
	g->wrong = wrong;
	while (!g->n_muted)
		if (!group_take(l, WAIT_MS))
			return BAD("no TEST LINK arrives over link %u", l->number);
	return true;
}

/* Has this message come?  If so, fills @m with the first of its kind. */
static struct link *find_kept(struct group *g, uint8_t type, bool reply, struct smc_llc_msg *m)
{
	static struct msg *got;		/* @m may point into it */
	struct link *over;

	for (unsigned int i = g->head; i != g->tail; i++) {
		smc_llc_decode(g->kept[i % MAX_KEPT].m->b, g->kept[i % MAX_KEPT].m->len, m);
		if (m->type != type || m->reply != reply)
			continue;
		free(got);
		got = g->kept[i % MAX_KEPT].m;
		over = g->kept[i % MAX_KEPT].over;
		for (; i != g->head; i--)
			g->kept[i % MAX_KEPT] = g->kept[(i - 1) % MAX_KEPT];
		g->head++;
		return over;
	}
	return NULL;
}

/* Messages over two links have no common order, so search all that have come. */
struct link *group_expect(struct link *l, uint8_t type, bool reply, struct smc_llc_msg *m)
{
	struct group *g = group_of(l);
	long until = now_ms() + WAIT_MS;
	struct link *over;

	while (!(over = find_kept(g, type, reply, m)))
		/* Messages that are handled here may come any number of times. */
		if (!group_take(l, WAIT_MS) || now_ms() > until) {
			(void)BAD("no %s%s arrives, %u other messages; %s", smc_llc_type_name(type),
				  reply ? " reply" : "", g->tail - g->head, link_state(l));
			break;
		}
	return over;
}

bool group_silent(struct link *l)
{
	struct group *g = group_of(l);
	unsigned int n = 0;

	while (n++ < MAX_KEPT && group_take(l, 0))
		;
	why[0] = 0;
	return g->head == g->tail ||
	       BAD("the victim sends another message, type %02x, flags %02x",
		   g->kept[g->head % MAX_KEPT].m->b[0], g->kept[g->head % MAX_KEPT].m->b[3]);
}

/* The victim processes one message after the other, and this one has no effect. */
bool group_settled(struct link *l)
{
	struct smc_llc_msg m = { .type = SMC_LLC_DELETE_RKEY };

	llc_put(l, &m);
	return group_expect(l, SMC_LLC_DELETE_RKEY, true, &m);
}

/* A client's request gets a reply; to a client the server answers by a request. */
bool group_deletes(struct link *l, uint8_t number)
{
	struct smc_llc_msg m;
	struct link *over = group_expect(l, SMC_LLC_DELETE_LINK, false, &m);

	if (!over)
		return false;
	if (m.delete_link.all || m.delete_link.link != number)
		return BAD("DELETE LINK of %s %u instead of %u",
			   m.delete_link.all ? "all, not" : "link", m.delete_link.link, number);
	m.reply = !l->server;
	llc_put(over, &m);
	return !l->server || group_expect(l, SMC_LLC_DELETE_LINK, true, &m);
}

/* ---- our half of a link and the victim's ---- */

struct link *half_new(struct link *first, struct rogue_dev *d)
{
	struct link *l = link_new_of(first, d);

	group_of(l);
	return l;
}

void half_tell(const struct link *l, const struct link *over, struct smc_llc_msg *m)
{
	static struct smc_llc_w_rtoken rtokens[SMC_LLC_MAX_RTOKENS];
	struct smc_llc_add_link *a = &m->add_link;
	struct smc_llc_rtoken t = {
		.ref_rkey = over->rmb_mr->rkey, .rkey = l->rmb_mr->rkey,
		.addr = (uintptr_t)l->rmb,
	};

	memset(m, 0, sizeof(*m));
	m->type = SMC_LLC_ADD_LINK;
	m->reply = !l->server;
	memcpy(a->mac, l->dev->mac, 6);
	memcpy(a->gid, link_gid(l), 16);
	a->qpn = l->qp->qp_num;
	a->link = l->number;
	a->mtu = SMC_CLC_MTU_256 + 2;
	a->psn = l->psn;
	if (l->version == SMC_CLC_V1)
		return;
	a->direct = true;
	a->n_rtokens = 1;
	a->rtokens = rtokens;
	smc_llc_set_rtoken(&rtokens[0], &t);
}

void half_rtoken(struct link *l, const struct link *over, const struct smc_llc_rtoken *t)
{
	for (unsigned int k = 0; k < over->n_theirs; k++)
		if (over->theirs[k].rkey == t->ref_rkey && l->n_theirs < 8)
			l->theirs[l->n_theirs++] = (struct their_rmb) {
				over->theirs[k].name, t->rkey, t->addr };
}

bool half_take(struct link *l, const struct link *over, const struct smc_llc_msg *m)
{
	const struct smc_llc_add_link *a = &m->add_link;

	if (m->negative)
		return BAD("the victim refuses the link, reason %u", a->reason);
	if (m->reply && a->link != l->number)
		return BAD("a reply for link %u", a->link);
	l->number = a->link;
	l->peer_qpn = a->qpn;
	l->peer_psn = a->psn;
	l->peer_mtu = a->mtu;
	memcpy(l->peer_gid, a->gid, 16);
	memcpy(l->peer_mac, a->mac, 6);
	for (unsigned int i = 0; i < a->n_rtokens; i++) {
		struct smc_llc_rtoken t = smc_llc_get_rtoken(&a->rtokens[i]);

		half_rtoken(l, over, &t);
		if (!addr_is_harmless(t.addr))
			return false;
	}
	return l->n_theirs || l->version == SMC_CLC_V1 ||
	       BAD("the victim announces no key of its RMB");
}

static bool confirms(const struct link *l, const struct smc_llc_confirm_link *c)
{
	return (c->qpn == l->peer_qpn && c->link == l->number &&
		!memcmp(c->gid, l->peer_gid, 16) && !memcmp(c->mac, l->peer_mac, 6)) ||
	       BAD("CONFIRM LINK describes another link");
}

bool half_confirm(struct link *l)
{
	struct smc_llc_msg m;
	struct link *over;

	if (l->server) {
		llc_confirm_link(l, &m, false);
		llc_put(l, &m);
	}
	over = group_expect(l, SMC_LLC_CONFIRM_LINK, l->server, &m);
	if (!over)
		return false;
	if (over != l)
		return BAD("CONFIRM LINK over the wrong link");
	if (!confirms(l, &m.confirm_link))
		return false;
	if (!l->server) {
		llc_confirm_link(l, &m, true);
		llc_put(l, &m);
	}
	return group_settled(l);
}

bool half_connect(struct link *l)
{
	return link_connect(l) || BAD("the queue pair does not connect");
}

bool link_add(struct link *l, struct link *over)
{
	struct smc_llc_msg m;

	half_tell(l, over, &m);
	llc_put(over, &m);
	return group_expect(over, SMC_LLC_ADD_LINK, true, &m) && half_take(l, over, &m) &&
	       half_connect(l) && half_confirm(l);
}

/* Answers an ADD LINK of the victim's. */
static bool take_add(struct link *l, struct link *over, struct smc_llc_msg *m)
{
	if (!half_take(l, over, m) || !half_connect(l))
		return false;
	half_tell(l, over, m);
	llc_put(over, m);
	return half_confirm(l);
}

bool link_accept(struct link *l, struct link *over)
{
	struct smc_llc_msg m;

	return group_expect(over, SMC_LLC_ADD_LINK, false, &m) && take_add(l, over, &m);
}

struct link *link_second(struct conn *c)
{
	struct link *l = half_new(c->l, &dev2);

	if (l->server ? !link_add(l, c->l) : !take_add(l, c->l, &c->l->offer.m))
		give_up("the second link: %s", why);
	return l;
}

struct conn *conn_one_link(enum role role)
{
	return conn_begin(role, V21_TWO, AT_ADD_LINK, NULL);
}

struct duo two_links(enum role role)
{
	struct duo d = { .c = conn_one_link(role) };

	d.first = d.c->l;
	d.second = link_second(d.c);
	return d;
}

/* The GID of the existing link comes first. */
void ask_for_link(struct link *first, const uint8_t *gid)
{
	struct smc_llc_msg m = { .type = SMC_LLC_REQ_ADD_LINK, .req_add_link.n_gids = 2 };

	memcpy(m.req_add_link.gids[0], dev.gid, 16);
	memcpy(m.req_add_link.gids[1], gid, 16);
	llc_put(first, &m);
}

/* A connection that begins over the new link works, and so does the existing one. */
bool both_work(struct duo d)
{
	struct conn *more = conn_over(d.second);
	bool ok = conn_echo(more) && conn_echo(d.c) && group_silent(d.first);

	conn_end(more);
	return ok;
}

bool half_way(struct duo *d, struct conn *c, bool connected)
{
	struct smc_llc_msg m;
	bool ok = true;

	*d = (struct duo) { c, c->l, half_new(c->l, &dev2) };
	if (!d->first->server)
		ok = half_take(d->second, d->first, &d->first->offer.m);
	half_tell(d->second, d->first, &m);
	llc_put(d->first, &m);
	if (d->first->server)
		ok = group_expect(d->first, SMC_LLC_ADD_LINK, true, &m) &&
		     half_take(d->second, d->first, &m);
	return ok && (!connected || half_connect(d->second));
}

void told_rmb(struct link *over, const struct smc_llc_confirm_rkey *m)
{
	uint32_t name = m->rkey;

	for (unsigned int i = 0; i < m->n_others; i++)
		if (m->others[i].link == over->first->number)
			name = m->others[i].rkey;
	for (struct link *l = over->first; l; l = l->next) {
		struct their_rmb rmb = { .name = name };

		if (l == over)
			rmb = (struct their_rmb) { name, m->rkey, m->addr };
		for (unsigned int i = 0; i < m->n_others; i++)
			if (m->others[i].link == l->number)
				rmb = (struct their_rmb) { name, m->others[i].rkey,
							   m->others[i].addr };
		if (rmb.rkey && l->n_theirs < 8)
			l->theirs[l->n_theirs++] = rmb;
	}
}

/* ---- connections on them ---- */

const struct their_rmb *link_rmb(const struct link *l, uint32_t name)
{
	for (unsigned int i = 0; i < l->n_theirs; i++)
		if (l->theirs[i].name == name)
			return &l->theirs[i];
	give_up("the victim's RMB has no key on link %u", l->number);
}

void conn_move(struct conn *c, struct link *to)
{
	const struct their_rmb *rmb = link_rmb(to, c->name);

	c->l = to;
	c->peer.rkey = rmb->rkey;
	c->peer_addr = rmb->addr + (uint64_t)(c->peer.rmbe_idx - 1) * c->peer_size;
}

void cdc_validate(struct conn *c, uint16_t seqno)
{
	struct smc_cdc_msg m = {
		.alert_token = c->peer.alert_token, .seqno = seqno,
		.prod_flags = SMC_CDC_FAILOVER,
	};

	cdc_send(c, &m);
}
