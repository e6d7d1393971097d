// SPDX-License-Identifier: GPL-2.0
/*
 * A second link: how it is added, confirmed and deleted, and what can go wrong (RFC 7609, 3.5.5,
 * C.7.1 and C.8).  Whatever goes wrong, the first link keeps working, unless that is what has
 * failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rogue.h"

#define ROLE(r)		(1 << (r))
#define BOTH		(ROLE(CLIENT) | ROLE(SERVER))

/* The victim's ADD LINK is long if it has more than three RMBs. */
#define RMBS_LONG	5

/* The expected reaction. */
enum outcome {
	ADDED,		/* the link works */
	REFUSED,	/* a negative reply; nothing fails */
	GIVEN_UP,	/* DELETE LINK of the new link; nothing else fails */
	DOWN,		/* the only link fails */
};

/* ---- ADD LINK and its reply ---- */

typedef void change(struct smc_llc_add_link *a);

static void as_is(struct smc_llc_add_link *a)
{
}

static void qpn_0(struct smc_llc_add_link *a)
{
	a->qpn = 0;
}

static void qpn_1(struct smc_llc_add_link *a)
{
	a->qpn = 1;
}

static void qpn_other(struct smc_llc_add_link *a)
{
	a->qpn ^= 0x800;
}

static void mac_0(struct smc_llc_add_link *a)
{
	memset(a->mac, 0, 6);
}

static void mac_multicast(struct smc_llc_add_link *a)
{
	a->mac[0] |= 1;
}

static void gid_0(struct smc_llc_add_link *a)
{
	memset(a->gid, 0, 16);
}

static void gid_far(struct smc_llc_add_link *a)
{
	memcpy(a->gid + 12, "\x0a\x09\x09\x09", 4);	/* no route to it */
}

static void gid_nobody(struct smc_llc_add_link *a)
{
	memcpy(a->gid + 12, "\x0a\x01\x00\x63", 4);	/* no such host in our subnet */
}

static void gid_v6(struct smc_llc_add_link *a)
{
	memcpy(a->gid, dev2.gid6, 16);
}

/* The encoder cannot produce these; see put_half(). */
static void mtu_0(struct smc_llc_add_link *a)
{
}

static void mtu_6(struct smc_llc_add_link *a)
{
}

static void mtu_5(struct smc_llc_add_link *a)
{
	a->mtu = 5;
}

static void psn_other(struct smc_llc_add_link *a)
{
	a->psn ^= 0x400000;
}

static void number_0(struct smc_llc_add_link *a)
{
	a->link = 0;
}

static void number_1(struct smc_llc_add_link *a)
{
	a->link = 1;
}

static void number_other(struct smc_llc_add_link *a)
{
	a->link += 5;
}

static void number_255(struct smc_llc_add_link *a)
{
	a->link = 255;
}

static struct smc_llc_w_rtoken rtokens[SMC_LLC_MAX_RTOKENS];

static void rtokens_none(struct smc_llc_add_link *a)
{
	a->n_rtokens = 0;
}

static void rtokens_unknown(struct smc_llc_add_link *a)
{
	rtokens[0] = a->rtokens[0];
	rtokens[0].ref_rkey ^= htobe32(0x100);
	a->rtokens = rtokens;
}

/* The correct RToken comes last. */
static void rtokens_255(struct smc_llc_add_link *a)
{
	for (unsigned int i = 0; i < SMC_LLC_MAX_RTOKENS; i++) {
		rtokens[i] = a->rtokens[0];
		if (i < SMC_LLC_MAX_RTOKENS - 1)
			rtokens[i].ref_rkey ^= htobe32(0x10000 + i);
	}
	a->rtokens = rtokens;
	a->n_rtokens = SMC_LLC_MAX_RTOKENS;
}

/* Two RTokens for one RMB: the last one counts. */
static void rtokens_twice(struct smc_llc_add_link *a)
{
	rtokens[0] = rtokens[1] = a->rtokens[0];
	rtokens[0].rkey ^= htobe32(0x100);
	rtokens[0].addr = 0;
	a->rtokens = rtokens;
	a->n_rtokens = 2;
}

static const struct half {
	change *change;
	const char *what;
	unsigned int roles;
	enum outcome outcome;
	uint8_t reason;
} halves[] = {
	{ as_is, "as specified", BOTH, ADDED },
	{ mtu_5, "MTU 4096", BOTH, ADDED },
	{ number_255, "link number 255", ROLE(SERVER), ADDED },
	{ rtokens_255, "255 RTokens", BOTH, ADDED },
	{ rtokens_twice, "two RTokens for one RMB", BOTH, ADDED },
	{ qpn_other, "another QP number", BOTH, GIVEN_UP },
	{ psn_other, "another PSN", BOTH, GIVEN_UP },
	{ gid_nobody, "a GID that no host has", BOTH, GIVEN_UP },
	{ qpn_0, "QP number 0", ROLE(SERVER), REFUSED, SMC_LLC_REJ_NO_ALT_PATH },
	{ qpn_1, "QP number 1", ROLE(SERVER), REFUSED, SMC_LLC_REJ_NO_ALT_PATH },
	{ mac_0, "no MAC address", ROLE(SERVER), REFUSED, SMC_LLC_REJ_NO_ALT_PATH },
	{ mac_multicast, "a multicast MAC address", ROLE(SERVER), REFUSED,
	  SMC_LLC_REJ_NO_ALT_PATH },
	{ gid_0, "no GID", ROLE(SERVER), REFUSED, SMC_LLC_REJ_NO_ALT_PATH },
	{ gid_far, "a GID without a route", ROLE(SERVER), REFUSED,
	  SMC_LLC_REJ_NO_ALT_PATH },
	{ gid_v6, "a GID of the other IP version", ROLE(SERVER), REFUSED,
	  SMC_LLC_REJ_NO_ALT_PATH },
	{ mtu_0, "MTU 0", ROLE(SERVER), REFUSED, SMC_LLC_REJ_MTU },
	{ mtu_6, "MTU 6", ROLE(SERVER), REFUSED, SMC_LLC_REJ_MTU },
	{ number_0, "link number 0", ROLE(SERVER), REFUSED, SMC_LLC_REJ_NO_ALT_PATH },
	{ number_1, "the number of the first link", ROLE(SERVER), REFUSED,
	  SMC_LLC_REJ_NO_ALT_PATH },
	/* a reply cannot be refused; an unreachable GID is not a protocol error */
	{ gid_0, "no GID", ROLE(CLIENT), GIVEN_UP },
	{ gid_far, "a GID without a route", ROLE(CLIENT), GIVEN_UP },
	{ gid_v6, "a GID of the other IP version", ROLE(CLIENT), GIVEN_UP },
	{ qpn_0, "QP number 0", ROLE(CLIENT), DOWN },
	{ mac_multicast, "a multicast MAC address", ROLE(CLIENT), DOWN },
	{ mtu_0, "MTU 0", ROLE(CLIENT), DOWN },
	{ number_other, "another link number", ROLE(CLIENT), DOWN },
	{ number_1, "the number of the first link", ROLE(CLIENT), DOWN },
};

static void put_half(struct link *over, const struct half *h, const struct smc_llc_msg *m)
{
	uint8_t b[SMC_LLC_V2_MAX_LEN];
	size_t len = llc_bytes(over, m, b);

	if (h->change == mtu_0 || h->change == mtu_6)
		b[offsetof(struct smc_llc_w_add_link_base, mtu)] = h->change == mtu_0 ? 0 : 6;
	link_send(over, b, len);
}

/* We have sent our half; check the victim's reaction. */
static bool half_follows(struct duo d, const struct half *h, const struct smc_llc_msg *told)
{
	struct link *l = d.second;
	struct smc_llc_msg m;

	if (h->outcome == DOWN)
		return victim_is_told(d.c->s, true);
	if (l->server) {
		l->number = told->add_link.link;
		if (!group_expect(d.first, SMC_LLC_ADD_LINK, true, &m))
			return false;
		if (h->outcome == REFUSED)
			return ((m.negative && m.add_link.reason == h->reason) ||
				BAD("%s reply, reason %u", m.negative ? "negative" : "positive",
				    m.add_link.reason)) && conn_echo(d.c);
		if (!half_take(l, d.first, &m) || !half_connect(l))
			return false;
	}
	if (h->outcome == ADDED)
		return half_confirm(l) && both_work(d);
	/* With a wrong PSN of ours, only our own messages are lost. */
	if (!l->server && h->change == psn_other &&
	    !group_expect(d.first, SMC_LLC_CONFIRM_LINK, false, &m))
		return false;
	llc_confirm_link(l, &m, !l->server);
	llc_put(l, &m);
	return group_deletes(d.first, l->number) && conn_echo(d.c);
}

static void say_half(const struct half *h, enum role role)
{
	struct duo d = { .c = conn_one_link(role) };
	struct smc_llc_msg m;
	bool ok = true;

	d.first = d.c->l;
	d.second = half_new(d.first, &dev2);
	if (role == CLIENT)
		ok = half_take(d.second, d.first, &d.first->offer.m) && half_connect(d.second);
	half_tell(d.second, d.first, &m);
	h->change(&m.add_link);
	put_half(d.first, h, &m);
	ok = ok && half_follows(d, h, &m);
	conn_end(d.c);
	verdict(ok, "links, %s: ADD LINK%s, %s", role_name[role],
		role == CLIENT ? " reply" : "", h->what);
}

static void run_halves(void)
{
	for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++)
		for (enum role r = CLIENT; r <= SERVER; r++)
			if (halves[i].roles & ROLE(r))
				TRY(say_half(&halves[i], r), halves[i].what);
}

/*
 * Our RMB has no key on the new link, so nothing can be written to it over that.  When the first
 * link is lost, the connections of the RMB are reset; the group continues.
 */
static void keyless(enum role role, change *change, const char *what)
{
	struct duo d = { .c = conn_one_link(role) };
	struct smc_llc_msg m, del = { .type = SMC_LLC_DELETE_LINK };
	bool ok = true;

	d.first = d.c->l;
	d.second = half_new(d.first, &dev2);
	if (role == CLIENT)
		ok = half_take(d.second, d.first, &d.first->offer.m) && half_connect(d.second);
	half_tell(d.second, d.first, &m);
	change(&m.add_link);
	llc_put(d.first, &m);
	if (role == SERVER)
		ok = group_expect(d.first, SMC_LLC_ADD_LINK, true, &m) &&
		     half_take(d.second, d.first, &m) && half_connect(d.second);
	ok = ok && half_confirm(d.second) && conn_echo(d.c);
	del.delete_link.link = 1;
	del.delete_link.reason = SMC_LLC_DEL_LOST_PATH;
	llc_put(d.second, &del);
	ok = ok && (role == SERVER ? !!group_expect(d.second, SMC_LLC_DELETE_LINK, true, &m) :
				     group_deletes(d.second, 1)) &&
	     victim_is_told(d.c->s, true) && group_settled(d.second);
	conn_end(d.c);
	verdict(ok, "links, %s: ADD LINK%s with %s", role_name[role],
		role == CLIENT ? " reply" : "", what);
}

/* One side has only one port: the link is asymmetric. */
static void asymmetric(enum role role)
{
	struct duo d = { .c = conn_one_link(role) };
	struct smc_llc_msg m;
	bool ok = true;

	d.first = d.c->l;
	d.second = half_new(d.first, &dev);
	if (role == CLIENT)
		ok = half_take(d.second, d.first, &d.first->offer.m) && half_connect(d.second);
	half_tell(d.second, d.first, &m);
	llc_put(d.first, &m);
	ok = ok && half_follows(d, &(struct half) { .outcome = ADDED }, &m);
	conn_end(d.c);
	verdict(ok, "links, %s: an asymmetric link", role_name[role]);
}

/* ---- a client refuses, and is asked again ---- */

static void refused(uint8_t reason)
{
	struct duo d = { .c = conn_one_link(CLIENT) };
	struct smc_llc_msg m;
	bool ok;

	d.first = d.c->l;
	d.second = half_new(d.first, &dev2);
	group_wants_adds(d.first, true);
	half_tell(d.second, d.first, &m);
	m.negative = true;
	m.add_link.reason = reason;
	llc_put(d.first, &m);
	/* The server tries again (C.8). */
	ok = conn_echo(d.c) && link_accept(d.second, d.first) && both_work(d);
	conn_end(d.c);
	verdict(ok, "links, as client: ADD LINK is refused with reason %u, then retried", reason);
}

static void requested(void)
{
	struct duo d = { .c = conn_one_link(CLIENT) };
	struct smc_llc_msg m;
	bool ok;

	d.first = d.c->l;
	d.second = half_new(d.first, &dev2);
	half_tell(d.second, d.first, &m);
	m.negative = true;
	llc_put(d.first, &m);
	ok = group_settled(d.first);
	group_wants_adds(d.first, true);
	ask_for_link(d.first, dev2.gid);
	ok = ok && link_accept(d.second, d.first) && both_work(d);
	conn_end(d.c);
	verdict(ok, "links, as client: REQUEST ADD LINK");
}

/* The request crosses with ADD LINK, which then is the answer (3.5.5.3.1). */
static void request_crosses(void)
{
	struct duo d = { .c = conn_one_link(CLIENT) };
	struct smc_llc_msg m;
	bool ok;

	d.first = d.c->l;
	d.second = half_new(d.first, &dev2);
	ask_for_link(d.first, dev2.gid);
	ok = half_take(d.second, d.first, &d.first->offer.m) && half_connect(d.second);
	half_tell(d.second, d.first, &m);
	llc_put(d.first, &m);
	ok = ok && half_confirm(d.second) && both_work(d);
	conn_end(d.c);
	verdict(ok, "links, as client: REQUEST ADD LINK crosses with ADD LINK");
}

/* The setup of an asymmetric link ends at once in favour of a symmetric one. */
static void request_instead(void)
{
	struct duo d = { .c = conn_one_link(CLIENT) };
	struct link *lame = half_new(d.c->l, &dev);
	struct smc_llc_msg m;
	long since;
	bool ok;

	d.first = d.c->l;
	ok = half_take(lame, d.first, &d.first->offer.m);
	half_tell(lame, d.first, &m);
	llc_put(d.first, &m);
	ok = ok && group_settled(d.first);
	group_wants_adds(d.first, true);
	d.second = half_new(d.first, &dev2);
	since = now_ms();
	ask_for_link(d.first, dev2.gid);
	ok = ok && group_deletes(d.first, lame->number) && link_accept(d.second, d.first) &&
	     both_work(d);
	/* Virtual time: waiting for CONFIRM LINK would take five seconds. */
	ok = ok && (now_ms() - since < 4000 || BAD("only after %ld ms", now_ms() - since));
	conn_end(d.c);
	verdict(ok, "links, as client: REQUEST ADD LINK ends the setup of an asymmetric link");
}

/* ---- missing messages ---- */

enum missing { NO_ADD_REPLY, NO_CONFIRM, NO_QUEUE_PAIR };

static const char * const missing_name[] = {
	"ADD LINK is not answered", "CONFIRM LINK is not sent", "the queue pair is not connected",
};

/* The new link is given up, and the first one keeps working; data flows meanwhile. */
static void nothing_comes(enum role role, enum missing missing)
{
	struct duo d;
	struct smc_llc_msg m;
	bool ok = half_way(&d, conn_one_link(role), missing == NO_CONFIRM);

	if (role == CLIENT && missing == NO_CONFIRM)
		ok = ok && group_expect(d.first, SMC_LLC_CONFIRM_LINK, false, &m) == d.second;
	ok = ok && conn_echo(d.c) && group_deletes(d.first, d.second->number) && conn_echo(d.c);
	conn_end(d.c);
	verdict(ok, "links, %s: %s", role_name[role], missing_name[missing]);
}

/*
 * After the first contact, in which the link was refused, the victim has sent another ADD LINK over
 * the only link.
 */
static bool asked_again(struct conn *c)
{
	struct smc_llc_msg m;

	half_tell(half_new(c->l, &dev2), c->l, &m);
	m.negative = true;
	llc_put(c->l, &m);
	group_wants_adds(c->l, true);
	return group_expect(c->l, SMC_LLC_ADD_LINK, false, &m) && conn_echo(c);
}

static void add_link_unanswered(void)
{
	struct conn *c = conn_one_link(CLIENT);
	bool ok = asked_again(c) && victim_is_told(c->s, true);

	conn_end(c);
	verdict(ok, "links, as client: after the first contact, %s", missing_name[NO_ADD_REPLY]);
}

/*
 * The only link that works is lost while the victim waits for the answer to an ADD LINK that it has
 * sent over that link. The answer cannot come any more, so the victim does not wait for it.
 */
static void lost_during_add(void)
{
	static const uint8_t rubbish[MSG_LEN] = { SMC_CDC_TYPE };
	struct conn *c = conn_one_link(CLIENT);
	bool ok = asked_again(c);

	set_parameter("llc_patience", 100);
	link_send(c->l, rubbish, sizeof(rubbish));
	ok = ok && victim_is_told(c->s, true);
	set_parameter("llc_patience", 1);
	conn_end(c);
	verdict(ok, "links, as client: the link is lost that carries an ADD LINK");
}

/* ---- CONFIRM LINK over the new link ---- */

typedef void confirm_change(struct smc_llc_msg *m);

static void c_qpn(struct smc_llc_msg *m)
{
	m->confirm_link.qpn ^= 1;
}

static void c_gid(struct smc_llc_msg *m)
{
	m->confirm_link.gid[15] ^= 1;
}

static void c_mac(struct smc_llc_msg *m)
{
	m->confirm_link.mac[5] ^= 1;
}

static void c_number(struct smc_llc_msg *m)
{
	m->confirm_link.link ^= 4;
}

static void c_first(struct smc_llc_msg *m)
{
	m->confirm_link.link = 1;
}

static void c_max_links(struct smc_llc_msg *m)
{
	m->confirm_link.max_links = 1;
}

static void c_max_conns(struct smc_llc_msg *m)
{
	m->confirm_link.max_conns++;
}

static void c_other_role(struct smc_llc_msg *m)
{
	m->reply = !m->reply;
}

static void c_test_reply(struct smc_llc_msg *m)
{
	memset(m, 0, sizeof(*m));
	m->type = SMC_LLC_TEST_LINK;
	m->reply = true;
}

static const struct {
	confirm_change *change;
	const char *what;
} confirms[] = {
	{ c_qpn, "another QP number" }, { c_gid, "another GID" }, { c_mac, "another MAC address" },
	{ c_number, "another link number" }, { c_first, "the number of the first link" },
	{ c_max_links, "other max links" }, { c_max_conns, "other max connections" },
	{ c_other_role, "of the other role" }, { c_test_reply, "a TEST LINK reply instead" },
};

static void confirm_wrong(enum role role, confirm_change *change, const char *what)
{
	struct duo d;
	struct smc_llc_msg m;
	bool ok = half_way(&d, conn_one_link(role), true);

	if (role == CLIENT)
		ok = ok && group_expect(d.first, SMC_LLC_CONFIRM_LINK, false, &m) == d.second;
	llc_confirm_link(d.second, &m, role == CLIENT);
	change(&m);
	llc_put(d.second, &m);
	ok = ok && group_deletes(d.first, d.second->number) && conn_echo(d.c);
	conn_end(d.c);
	verdict(ok, "links, %s: CONFIRM LINK, %s", role_name[role], what);
}

/* CONFIRM LINK comes over the first link, which then is out of sync. */
static void confirm_elsewhere(enum role role)
{
	struct duo d;
	struct smc_llc_msg m;
	bool ok = half_way(&d, conn_one_link(role), true);

	if (role == CLIENT)
		ok = ok && group_expect(d.first, SMC_LLC_CONFIRM_LINK, false, &m) == d.second;
	llc_confirm_link(d.second, &m, role == CLIENT);
	llc_put(d.first, &m);
	ok = ok && victim_is_told(d.c->s, true);
	conn_end(d.c);
	verdict(ok, "links, %s: CONFIRM LINK over the first link", role_name[role]);
}

/* ---- invalid messages over one of two links: that one fails ---- */

static void say(enum role role, bool over_first, confirm_change *make, const char *what)
{
	struct duo d = two_links(role);
	struct link *bad = over_first ? d.first : d.second;
	struct link *good = over_first ? d.second : d.first;
	struct conn *c2 = conn_over(d.second);
	struct smc_llc_msg m;
	bool ok = conn_echo(d.c) && conn_echo(c2);

	llc_confirm_link(bad, &m, role == CLIENT);
	make(&m);
	llc_put(bad, &m);
	ok = ok && group_deletes(good, bad->number);
	conn_move(d.c, good);
	conn_move(c2, good);
	ok = ok && conn_echo(d.c) && conn_echo(c2);
	conn_end(c2);
	conn_end(d.c);
	verdict(ok, "links, %s, over the %s link of two: %s", role_name[role],
		over_first ? "first" : "second", what);
}

static void delete_reply(struct smc_llc_msg *m)
{
	memset(m, 0, sizeof(*m));
	m->type = SMC_LLC_DELETE_LINK;
	m->reply = true;
	m->delete_link.link = 2;
}

static void rkey_reply(struct smc_llc_msg *m)
{
	memset(m, 0, sizeof(*m));
	m->type = SMC_LLC_CONFIRM_RKEY;
	m->reply = true;
}

static void same_confirm(struct smc_llc_msg *m)
{
}

static const struct {
	confirm_change *make;
	const char *what;
} stray[] = {
	{ same_confirm, "CONFIRM LINK again" }, { c_other_role, "CONFIRM LINK, other role" },
	{ delete_reply, "an unsolicited DELETE LINK reply" },
	{ rkey_reply, "an unsolicited CONFIRM RKEY reply" },
	{ c_test_reply, "an unsolicited TEST LINK reply" },
};

/* ---- TEST LINK ---- */

/* Both links are tested if nothing arrives over them. */
static void tested(enum role role, bool first_is_bad, bool wrong)
{
	long old = set_sysctl("smcr_testlink_time", 1);
	struct duo d = two_links(role);
	struct link *bad = first_is_bad ? d.first : d.second;
	struct link *good = first_is_bad ? d.second : d.first;
	bool ok;

	ok = conn_echo(d.c) && group_muted(bad, wrong);
	set_sysctl("smcr_testlink_time", old);
	/* The bystander's link may have been tested as well. */
	bystander_turn();
	ok = ok && group_deletes(good, bad->number);
	conn_move(d.c, good);
	ok = ok && conn_echo(d.c);
	conn_end(d.c);
	verdict(ok, "links, %s: TEST LINK over the %s link is answered %s", role_name[role],
		first_is_bad ? "first" : "second", wrong ? "wrongly" : "never");
}

static void test_answered(enum role role)
{
	struct duo d = two_links(role);
	struct smc_llc_msg m = { .type = SMC_LLC_TEST_LINK };
	bool ok = true;

	for (struct link *l = d.first; l; l = l->next) {
		llc_put(l, &m);
		m.reply = false;
		ok = ok && (group_expect(l, SMC_LLC_TEST_LINK, true, &m) == l ||
			    BAD("an answer over the other link"));
		m.reply = false;
	}
	ok = ok && conn_echo(d.c);
	conn_end(d.c);
	verdict(ok, "links, %s: TEST LINK over each link", role_name[role]);
}

/* ---- the link that carries ADD LINK ---- */

/* A group with a single link, although both sides have a second device. */
static struct conn *one_of_two(enum role role)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_DELETE_LINK, .delete_link.reason = SMC_LLC_DEL_LOST_PATH,
	};
	struct duo d;

	if (role == CLIENT) {
		d.c = conn_one_link(CLIENT);
		llc_add(d.c->l);
		group_wants_adds(d.c->l, false);
		return d.c;
	}
	d = two_links(SERVER);
	m.delete_link.link = d.second->number;
	llc_put(d.first, &m);
	if (!group_expect(d.first, SMC_LLC_DELETE_LINK, true, &m))
		give_up("the second link: %s", why);
	return d.c;
}

/* Aborts the connection from our side, and closes the victim's socket: the victim forgets it. */
static bool aborted(struct conn *c)
{
	conn_say(c, SMC_CDC_ABORT);
	if (!conn_flags(c, SMC_CDC_ABORT))
		return false;
	conn_close(c);
	return true;
}

/* The victim has so many RMBs that its ADD LINK is long, and no connections. */
static bool has_only_rmbs(struct conn *first)
{
	struct conn *c;
	bool ok = true;
	long old;

	for (unsigned int i = 1; i < RMBS_LONG; i++) {
		old = set_sysctl("rmem", ELEM_SIZE << i);
		c = conn_more(first, AT_UP, NULL);
		set_sysctl("rmem", old);
		ok = ok && conn_echo(c) && aborted(c);
		conn_end(c);
	}
	return ok && aborted(first) && group_settled(first->l) &&
	       (first->l->n_theirs == RMBS_LONG ||
		BAD("the victim has %u RMBs", first->l->n_theirs));
}

static void make_it_add(struct link *first)
{
	struct link *l;
	struct smc_llc_msg m;

	if (!first->server) {
		ask_for_link(first, dev2.gid);
		return;
	}
	l = half_new(first, &dev2);
	l->number = 3;
	half_tell(l, first, &m);
	llc_put(first, &m);
}

/*
 * The victim is about to send a long ADD LINK over the only link when that is lost, and its device
 * released.
 */
static void lost_before_add(enum role role)
{
	static const uint8_t rubbish[MSG_LEN] = { SMC_CDC_TYPE };
	long old = set_sysctl("rmem", ELEM_SIZE);
	struct conn *c = one_of_two(role);
	struct census before;
	bool ok;

	set_sysctl("rmem", old);
	ok = has_only_rmbs(c);
	census_take(&before);
	set_parameter("hold_long_msg", 1);
	make_it_add(c->l);
	ok = ok && census_qps(before.qp + 1);
	link_send(c->l, rubbish, sizeof(rubbish));
	ok = ok && census_qps(before.qp);
	set_parameter("hold_long_msg", 0);
	conn_end(c);
	verdict(ok, "links, %s: the link is lost before a long ADD LINK is sent over it",
		role_name[role]);
}

void cases_links(void)
{
	run_halves();
	for (enum role r = CLIENT; r <= SERVER; r++) {
		TRY(asymmetric(r), "");
		TRY(keyless(r, rtokens_none, "no RToken"), "none");
		TRY(keyless(r, rtokens_unknown, "an RToken of an unknown RMB"), "unknown");
		TRY(nothing_comes(r, NO_CONFIRM), "");
		TRY(nothing_comes(r, NO_QUEUE_PAIR), "");
		for (size_t i = 0; i < sizeof(confirms) / sizeof(confirms[0]); i++)
			TRY(confirm_wrong(r, confirms[i].change, confirms[i].what),
			    confirms[i].what);
		TRY(confirm_elsewhere(r), "");
		for (size_t i = 0; i < sizeof(stray) / sizeof(stray[0]); i++)
			for (int first = 0; first < 2; first++)
				TRY(say(r, first, stray[i].make, stray[i].what), stray[i].what);
		TRY(test_answered(r), "");
		TRY(lost_before_add(r), "");
		for (int first = 0; first < 2; first++)
			for (int wrong = 0; wrong < 2; wrong++)
				TRY(tested(r, first, wrong), "");
	}
	for (uint8_t reason = 0; reason < 16; reason += 3)
		TRY(refused(reason), "");
	TRY(add_link_unanswered(), "");
	TRY(lost_during_add(), "");
	TRY(requested(), "");
	TRY(request_crosses(), "");
	TRY(request_instead(), "");
}
