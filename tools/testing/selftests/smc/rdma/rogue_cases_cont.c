// SPDX-License-Identifier: GPL-2.0
/*
 * A second link in version 1: after ADD LINK, its RTokens follow in ADD LINK CONTINUATION, two in
 * each message (RFC 7609, A.3.3 and C.7.1).
 */
#include <stdio.h>
#include <string.h>

#include "rogue.h"

/* How many RTokens each side still has to send. */
struct talk {
	struct duo d;
	unsigned int left, theirs_left;
};

/* ADD LINK has been answered, and the queue pairs are connected. */
static bool half_added(struct talk *t, enum role role, unsigned int n_rtokens)
{
	*t = (struct talk) { .left = n_rtokens, .theirs_left = 1 };
	return half_way(&t->d, conn_begin(role, V1, AT_ADD_LINK, NULL), true);
}

/* We have one RMB. Its RToken comes last, after RTokens of RMBs that do not exist. */
static struct smc_llc_rtoken our_rtoken(const struct talk *t, unsigned int left)
{
	return (struct smc_llc_rtoken) {
		.ref_rkey = t->d.first->rmb_mr->rkey ^ (left > 1 ? 0x10000 + left : 0),
		.rkey = t->d.second->rmb_mr->rkey,
		.addr = (uintptr_t)t->d.second->rmb,
	};
}

static void next_rtokens(const struct talk *t, struct smc_llc_msg *m)
{
	struct smc_llc_add_link_cont *cont = &m->add_link_cont;

	memset(m, 0, sizeof(*m));
	m->type = SMC_LLC_ADD_LINK_CONT;
	m->reply = !t->d.second->server;
	cont->link = t->d.second->number;
	cont->n_left = t->left;
	for (unsigned int i = 0; i < 2 && i < t->left; i++)
		cont->rtokens[i] = our_rtoken(t, t->left - i);
}

static void tell(struct talk *t)
{
	struct smc_llc_msg m;

	next_rtokens(t, &m);
	llc_put(t->d.first, &m);
	t->left -= t->left < 2 ? t->left : 2;
}

static bool hear(struct talk *t)
{
	struct smc_llc_add_link_cont *cont;
	struct smc_llc_msg m;
	struct link *over;

	over = group_expect(t->d.first, SMC_LLC_ADD_LINK_CONT, t->d.second->server, &m);
	if (!over)
		return false;
	cont = &m.add_link_cont;
	if (over != t->d.first || cont->link != t->d.second->number ||
	    cont->n_left != t->theirs_left)
		return BAD("RTokens for link %u, %u of %u left, came over link %u", cont->link,
			   cont->n_left, t->theirs_left, over->number);
	for (unsigned int i = 0; i < cont->n_rtokens; i++)
		half_rtoken(t->d.second, t->d.first, &cont->rtokens[i]);
	t->theirs_left -= cont->n_rtokens;
	return true;
}

static bool exchange(struct talk *t)
{
	bool server = t->d.second->server, ok = true;

	do {
		if (server)
			tell(t);
		ok = hear(t);
		if (!server)
			tell(t);
	} while (ok && (t->left || t->theirs_left));
	return ok;
}

static void added(enum role role, unsigned int n_rtokens)
{
	struct talk t;
	bool ok = half_added(&t, role, n_rtokens) && exchange(&t) && half_confirm(t.d.second) &&
		  both_work(t.d);

	conn_end(t.d.c);
	verdict(ok, "cont, %s: %u RTokens by ADD LINK CONTINUATION", role_name[role], n_rtokens);
}

/* ---- invalid messages: the link that they come over fails, and it is the only one ---- */

typedef void change(struct smc_llc_msg *m);

static void other_link(struct smc_llc_msg *m)
{
	m->add_link_cont.link++;
}

static void first_link(struct smc_llc_msg *m)
{
	m->add_link_cont.link = 1;
}

static void other_role(struct smc_llc_msg *m)
{
	m->reply = !m->reply;
}

static void more(struct smc_llc_msg *m)
{
	m->add_link_cont.n_left++;
}

static void none(struct smc_llc_msg *m)
{
	m->add_link_cont.n_left = 0;
}

static void instead_of(struct smc_llc_msg *m)
{
	memset(m, 0, sizeof(*m));
	m->type = SMC_LLC_TEST_LINK;
	m->reply = true;
}

static const struct wrong {
	change *change;
	const char *what;
	unsigned int after;	/* number of correct messages before */
} wrongs[] = {
	{ other_link, "of another link" },
	{ first_link, "of the first link" },
	{ other_role, "of the other role" },
	{ instead_of, "a TEST LINK reply instead" },
	{ other_link, "of another link, later", 1 },
	{ more, "more RTokens than were announced", 1 },
	{ none, "fewer RTokens than were announced", 1 },
};

static void told_wrong(enum role role, const struct wrong *w)
{
	struct smc_llc_msg m;
	struct talk t;
	bool ok = half_added(&t, role, 5);

	for (unsigned int i = 0; ok && i < w->after; i++) {
		if (role == CLIENT)
			ok = hear(&t);
		tell(&t);
		if (role == SERVER)
			ok = hear(&t);
	}
	if (role == CLIENT)
		ok = ok && hear(&t);
	next_rtokens(&t, &m);
	w->change(&m);
	llc_put(t.d.first, &m);
	ok = ok && victim_is_told(t.d.c->s, true);
	conn_end(t.d.c);
	verdict(ok, "cont, %s: ADD LINK CONTINUATION, %s", role_name[role], w->what);
}

/* "Treat the same as ADD LINK timer failure" (C.7). */
static void not_told(enum role role)
{
	struct talk t;
	bool ok = half_added(&t, role, 1);

	if (role == CLIENT)
		ok = ok && hear(&t);
	ok = ok && conn_echo(t.d.c) && victim_is_told(t.d.c->s, true);
	conn_end(t.d.c);
	verdict(ok, "cont, %s: ADD LINK CONTINUATION does not arrive", role_name[role]);
}

/* The link is deleted during the exchange. A continuation that crosses with DELETE LINK is no
 * error.
 */
static void deleted_meanwhile(enum role role)
{
	struct smc_llc_msg m, del = { .type = SMC_LLC_DELETE_LINK };
	struct talk t;
	bool ok = half_added(&t, role, 1);

	if (role == CLIENT)
		ok = ok && hear(&t);
	del.delete_link.link = t.d.second->number;
	del.delete_link.reason = SMC_LLC_DEL_LOST_PATH;
	llc_put(t.d.first, &del);
	tell(&t);
	ok = ok && (role == SERVER ? !!group_expect(t.d.first, SMC_LLC_DELETE_LINK, true, &m) :
				     group_deletes(t.d.first, t.d.second->number)) &&
	     group_settled(t.d.first) && conn_echo(t.d.c);
	conn_end(t.d.c);
	verdict(ok, "cont, %s: the link is deleted before ADD LINK CONTINUATION", role_name[role]);
}

/* ---- the client's ADD LINK ---- */

static void put_wish(const struct duo *d)
{
	struct smc_llc_msg m;

	half_tell(d->second, d->first, &m);
	m.reply = false;
	m.add_link.link = 0;
	llc_put(d->first, &m);
}

/* It only asks for a link; the server answers with its own ADD LINK. */
static void wish(void)
{
	struct talk t = { .left = 1, .theirs_left = 1 };
	struct smc_llc_msg m;
	struct link *l;
	bool ok;

	t.d.c = conn_begin(CLIENT, V1, AT_ADD_LINK, NULL);
	t.d.first = t.d.c->l;
	t.d.second = l = half_new(t.d.first, &dev2);
	half_tell(l, t.d.first, &m);
	m.negative = true;
	m.add_link.reason = SMC_LLC_REJ_NO_ALT_PATH;
	llc_put(t.d.first, &m);
	ok = group_settled(t.d.first);
	group_wants_adds(t.d.first, true);
	put_wish(&t.d);
	ok = ok && group_expect(t.d.first, SMC_LLC_ADD_LINK, false, &m) &&
	     half_take(l, t.d.first, &m) && link_connect(l);
	half_tell(l, t.d.first, &m);
	llc_put(t.d.first, &m);
	ok = ok && exchange(&t) && half_confirm(l) && both_work(t.d);
	conn_end(t.d.c);
	verdict(ok, "cont, as client: ADD LINK requests a link");
}

/* The request does not end a link if the server needs no further one. */
static void wish_in_vain(void)
{
	struct talk t;
	bool ok = half_added(&t, CLIENT, 1) && exchange(&t) && half_confirm(t.d.second);

	put_wish(&t.d);
	ok = ok && group_settled(t.d.first) && both_work(t.d);
	conn_end(t.d.c);
	verdict(ok, "cont, as client: ADD LINK requests one link too many");
}

void cases_cont(void)
{
	static const unsigned int numbers[] = { 1, 2, 3, 4, 5, 255 };

	for (enum role r = CLIENT; r <= SERVER; r++) {
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			TRY(added(r, numbers[i]), "");
		for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++)
			TRY(told_wrong(r, &wrongs[i]), wrongs[i].what);
		TRY(not_told(r), "");
		TRY(deleted_meanwhile(r), "");
	}
	TRY(wish(), "");
	TRY(wish_in_vain(), "");
}
