// SPDX-License-Identifier: GPL-2.0
/*
 * Exchanges in a group of two links: DELETE LINK, RKeys on several links, and messages that cross
 * (RFC 7609, 3.5.5.2, 3.5.5.3 and C.7.1).
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parameter.h"
#include "rogue.h"

static const char * const nth[] = { "second", "first" };

/* Two links with a connection each. */
struct busy {
	struct duo d;
	struct conn *c2;
};

static struct busy begin(enum role role)
{
	struct busy b = { .d = two_links(role) };

	b.c2 = conn_over(b.d.second);
	return b;
}

static void end(struct busy b)
{
	conn_end(b.c2);
	conn_end(b.d.c);
}

static bool both_echo(struct busy b)
{
	return conn_echo(b.d.c) && conn_echo(b.c2);
}

static bool both_go_on_over(struct busy b, struct link *l)
{
	conn_move(b.d.c, l);
	conn_move(b.c2, l);
	return both_echo(b) && group_silent(l);
}

/* ---- DELETE LINK ---- */

static void put_delete(struct link *over, uint8_t number, bool orderly, uint32_t reason)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_DELETE_LINK,
		.delete_link = { .link = number, .orderly = orderly, .reason = reason },
	};

	llc_put(over, &m);
}

/* A server's request gets a reply; a client's request is answered by a request. */
static bool deleted(struct link *good, uint8_t number, uint32_t reason)
{
	struct smc_llc_msg m;

	if (!good->server)
		return group_deletes(good, number);
	return group_expect(good, SMC_LLC_DELETE_LINK, true, &m) &&
	       ((m.delete_link.link == number && m.delete_link.reason == reason) ||
		BAD("a reply for link %u, reason %08x", m.delete_link.link,
		    m.delete_link.reason));
}

static void delete_one(enum role role, bool first, bool orderly, bool over_itself)
{
	const uint32_t reason = orderly ? SMC_LLC_DEL_OPERATOR : SMC_LLC_DEL_LOST_PATH;
	struct busy b = begin(role);
	struct link *bad = first ? b.d.first : b.d.second;
	struct link *good = first ? b.d.second : b.d.first;
	bool ok = both_echo(b);

	put_delete(over_itself ? bad : good, bad->number, orderly, reason);
	ok = ok && deleted(good, bad->number, reason) && both_go_on_over(b, good);
	end(b);
	verdict(ok, "exchanges, %s: DELETE LINK of the %s link, %sorderly, over %s",
		role_name[role], nth[first], orderly ? "" : "dis",
		over_itself ? "itself" : "the other");
}

static void delete_unknown(enum role role)
{
	struct busy b = begin(role);
	struct smc_llc_msg m;
	bool ok;

	put_delete(b.d.second, 77, true, SMC_LLC_DEL_OPERATOR);
	ok = group_expect(b.d.first, SMC_LLC_DELETE_LINK, true, &m) == b.d.second &&
	     m.delete_link.link == 77 && m.delete_link.reason == SMC_LLC_DEL_NO_LINK &&
	     both_echo(b) && group_silent(b.d.first);
	end(b);
	verdict(ok, "exchanges, %s: DELETE LINK of an unknown link", role_name[role]);
}

static void delete_each(enum role role, bool first)
{
	struct busy b = begin(role);
	struct link *one = first ? b.d.first : b.d.second;
	struct link *other = first ? b.d.second : b.d.first;
	bool ok;

	put_delete(other, one->number, true, SMC_LLC_DEL_OPERATOR);
	ok = deleted(other, one->number, SMC_LLC_DEL_OPERATOR) && both_go_on_over(b, other);
	put_delete(other, other->number, true, SMC_LLC_DEL_OPERATOR);
	ok = ok && victim_is_told(b.d.c->s, true) && victim_is_told(b.c2->s, true);
	end(b);
	verdict(ok, "exchanges, %s: DELETE LINK of the %s link, then of the other",
		role_name[role], nth[first]);
}

static void delete_all(enum role role, bool over_first)
{
	struct busy b = begin(role);
	struct smc_llc_msg m = {
		.type = SMC_LLC_DELETE_LINK,
		.delete_link = { .all = true, .reason = SMC_LLC_DEL_OPERATOR },
	};
	bool ok = both_echo(b);

	llc_put(over_first ? b.d.first : b.d.second, &m);
	ok = ok && victim_is_told(b.d.c->s, true) && victim_is_told(b.c2->s, true);
	end(b);
	verdict(ok, "exchanges, %s: DELETE LINK of all over the %s link", role_name[role],
		nth[over_first]);
}

/* ---- RKeys ---- */

static struct smc_llc_msg confirm_rkey(void)
{
	return (struct smc_llc_msg) {
		.type = SMC_LLC_CONFIRM_RKEY,
		.confirm_rkey = { .rkey = 0x12345678, .addr = 0x1000000 },
	};
}

static void add_other(struct smc_llc_msg *m, uint8_t number)
{
	m->confirm_rkey.others[m->confirm_rkey.n_total++] = (struct smc_llc_link_rtoken) {
		.link = number, .rkey = 0x1234567a, .addr = 0x2000000 };
}

static bool rkey_taken(struct link *over, struct smc_llc_msg *m)
{
	struct smc_llc_msg got;

	llc_put(over, m);
	return (group_expect(over, SMC_LLC_CONFIRM_RKEY, true, &got) == over ||
		BAD("an answer over the other link")) &&
	       ((!got.negative && got.confirm_rkey.rkey == m->confirm_rkey.rkey) ||
		BAD("a refusal"));
}

static void rkey_of_both(enum role role, bool over_first, bool stranger)
{
	struct busy b = begin(role);
	struct link *over = over_first ? b.d.first : b.d.second;
	struct link *other = over_first ? b.d.second : b.d.first;
	struct smc_llc_msg m = confirm_rkey();
	bool ok;

	if (stranger)
		add_other(&m, 77);
	add_other(&m, other->number);
	ok = rkey_taken(over, &m) && both_echo(b) && group_silent(over);
	end(b);
	verdict(ok, "exchanges, %s: CONFIRM RKEY of both links%s over the %s", role_name[role],
		stranger ? " and an unknown one" : "", nth[over_first]);
}

/* "Treat as if detected failure of the link(s) for which no RKey was provided". */
static void rkey_missing(enum role role, bool over_first, bool stranger)
{
	struct busy b = begin(role);
	struct link *over = over_first ? b.d.first : b.d.second;
	struct link *other = over_first ? b.d.second : b.d.first;
	struct smc_llc_msg m = confirm_rkey();
	bool ok;

	if (stranger)
		add_other(&m, 77);
	ok = rkey_taken(over, &m) && group_deletes(over, other->number) &&
	     both_go_on_over(b, over);
	end(b);
	verdict(ok, "exchanges, %s: CONFIRM RKEY over the %s link without a key of the other%s",
		role_name[role], nth[over_first], stranger ? ", but with one of a third" : "");
}

static void delete_rkey(enum role role, bool over_first, bool right)
{
	struct busy b = begin(role);
	struct link *over = over_first ? b.d.first : b.d.second;
	struct link *other = over_first ? b.d.second : b.d.first;
	struct smc_llc_w_rkey rkey;
	struct smc_llc_msg m = {
		.type = SMC_LLC_DELETE_RKEY, .delete_rkey = { .count = 1, .rkeys = &rkey },
	};
	bool ok = both_echo(b);

	/* Two devices may use the same number for a key. */
	smc_llc_set_rkey(&rkey, right ? over->rmb_mr->rkey : other->rmb_mr->rkey ^ 0x10000);
	llc_put(over, &m);
	ok = ok && group_expect(over, SMC_LLC_DELETE_RKEY, true, &m) &&
	     (m.negative == !right || BAD("a %s reply", right ? "negative" : "positive"));
	if (right)
		ok = ok && victim_is_told(b.d.c->s, true) && victim_is_told(b.c2->s, true);
	else
		ok = ok && both_echo(b);
	ok = ok && group_settled(over) && group_settled(other);
	end(b);
	verdict(ok, "exchanges, %s: DELETE RKEY over the %s link, %s", role_name[role],
		nth[over_first], right ? "of an RMB in use" : "of an unknown RMB");
}

/* Waits until the parameter hold_move has stopped a connection. */
static bool move_stopped(void)
{
	long until = now_ms() + WAIT_MS, value = 0;

	while (get_parameter("hold_move", &value) && value != 2 && now_ms() < until)
		usleep(2000);
	return value == 2 || BAD("no connection moves");
}

/*
 * We give up our RMB while the victim moves a connection to the link that has brought the message:
 * it must not write there any more.
 */
static void rmb_goes(void)
{
	struct duo d = two_links(SERVER);
	struct smc_llc_w_rkey rkey;
	struct smc_llc_msg m;
	bool ok = conn_echo(d.c);
	struct census both;

	census_take(&both);
	set_parameter("hold_move", 1);
	put_delete(d.second, d.first->number, false, SMC_LLC_DEL_LOST_PATH);
	ok = ok && group_expect(d.second, SMC_LLC_DELETE_LINK, true, &m) && move_stopped();
	smc_llc_set_rkey(&rkey, d.second->rmb_mr->rkey);
	m = (struct smc_llc_msg) {
		.type = SMC_LLC_DELETE_RKEY, .delete_rkey = { .count = 1, .rkeys = &rkey },
	};
	llc_put(d.second, &m);
	ok = ok && victim_is_told(d.c->s, true) &&
	     group_expect(d.second, SMC_LLC_DELETE_RKEY, true, &m);
	set_parameter("hold_move", 0);
	/* The victim releases the link after the move. */
	ok = ok && census_qps(both.qp - 1) && group_settled(d.second) &&
	     (!d.c->n_validated || BAD("the victim continues over the other link"));
	conn_end(d.c);
	verdict(ok, "exchanges, server: DELETE RKEY while the connection moves");
}

/* A further contact with an element so large that it requires an RMB of its own. */
static struct conn *with_new_rmb(struct conn *first, struct smc_llc_msg *m, struct link **over)
{
	long old = set_sysctl("rmem", 524288);
	struct conn *c;

	group_wants_rkeys(first->l);
	c = conn_more(first, first->l->server ? AT_CLC : AT_TCP, NULL);
	if (!first->l->server)
		clc_propose(c, NULL);
	*over = group_expect(first->l, SMC_LLC_CONFIRM_RKEY, false, m);
	set_sysctl("rmem", old);
	if (!*over)
		give_up("no CONFIRM RKEY: %s", why);
	m->reply = true;
	return c;
}

static bool up_after_yes(struct conn *c, struct link *over, struct smc_llc_msg *m)
{
	m->reply = true;
	llc_put(over, m);
	told_rmb(over, &m->confirm_rkey);
	return clc_peer(c) && (c->l->server || (clc_confirm(c, NULL), true)) && conn_echo(c);
}

static bool names_other(const struct smc_llc_msg *m, const struct link *other)
{
	return (m->confirm_rkey.n_total == 1 && m->confirm_rkey.others[0].link == other->number) ||
	       BAD("CONFIRM RKEY with keys of %u other links, the first for link %u",
		   m->confirm_rkey.n_total, m->confirm_rkey.others[0].link);
}

static struct link *other_than(struct duo d, struct link *l)
{
	return l == d.first ? d.second : d.first;
}

/* The victim sends its RMB's keys for both links, and both are correct. */
static void victims_rkey(enum role role)
{
	struct duo d = two_links(role);
	struct smc_llc_msg m;
	struct link *over, *good;
	struct conn *c = with_new_rmb(d.c, &m, &over);
	bool ok = names_other(&m, other_than(d, over)) && up_after_yes(c, over, &m);

	good = other_than(d, c->l);
	put_delete(good, c->l->number, true, SMC_LLC_DEL_OPERATOR);
	ok = ok && deleted(good, c->l->number, SMC_LLC_DEL_OPERATOR);
	conn_move(c, good);
	conn_move(d.c, good);
	ok = ok && conn_echo(c) && conn_echo(d.c);
	conn_end(c);
	conn_end(d.c);
	verdict(ok, "exchanges, %s: CONFIRM RKEY of the victim for both links", role_name[role]);
}

/* Without an answer the link that it came over has failed, and the victim repeats it over the other
 * one.
 */
static void victims_rkey_unanswered(enum role role)
{
	struct duo d = two_links(role);
	struct smc_llc_msg m;
	struct link *over, *good;
	long old = set_timeout_ms(slow(120000));
	struct conn *c = with_new_rmb(d.c, &m, &over);
	bool ok;

	good = other_than(d, over);
	conn_move(d.c, good);
	ok = group_deletes(good, over->number) && conn_echo(d.c) &&
	     group_expect(good, SMC_LLC_CONFIRM_RKEY, false, &m) == good &&
	     (m.confirm_rkey.n_total == 0 || BAD("it has the key of a link that is gone"));
	m.reply = true;
	c->l = good;
	ok = ok && up_after_yes(c, good, &m) && conn_echo(d.c);
	conn_end(c);
	conn_end(d.c);
	set_timeout_ms(old);
	verdict(ok, "exchanges, %s: CONFIRM RKEY of the victim, not answered", role_name[role]);
}

/* ---- collisions (3.5.5.3) ---- */

/* A group in which the first attempt to add a second link has failed. */
static struct conn *single(enum role role)
{
	struct conn *c = conn_one_link(role);
	struct link *half = half_new(c->l, &dev2);
	uint8_t b[SMC_LLC_V2_MAX_LEN];
	struct smc_llc_msg m;
	size_t len;

	half_tell(half, c->l, &m);
	m.negative = role == CLIENT;
	len = llc_bytes(c->l, &m, b);
	if (role == SERVER)
		b[offsetof(struct smc_llc_w_add_link_base, mtu)] = 0;
	link_send(c->l, b, len);
	if (role == SERVER && (!group_expect(c->l, SMC_LLC_ADD_LINK, true, &m) || !m.negative))
		give_up("ADD LINK without an MTU: %s", why);
	if (!conn_echo(c))
		give_up("%s", why);
	return c;
}

/* A client's CONFIRM RKEY while the server adds a link: it has to retry later, with the new link's
 * key.
 */
static void rkey_while_adding(void)
{
	struct smc_llc_msg m = confirm_rkey(), got;
	struct duo d;
	bool ok = half_way(&d, conn_one_link(CLIENT), true);

	llc_put(d.first, &m);
	ok = ok && group_expect(d.first, SMC_LLC_CONFIRM_LINK, false, &got) == d.second &&
	     group_expect(d.first, SMC_LLC_CONFIRM_RKEY, true, &got) &&
	     ((got.negative && got.confirm_rkey.retry) || BAD("no negative reply, or no C flag"));
	llc_confirm_link(d.second, &got, true);
	llc_put(d.second, &got);
	ok = ok && group_settled(d.second);
	add_other(&m, d.second->number);
	ok = ok && rkey_taken(d.first, &m) && conn_echo(d.c) && group_silent(d.first);
	conn_end(d.c);
	verdict(ok, "exchanges, as client: CONFIRM RKEY while a link is added");
}

/* A server's ADD LINK crosses with its client's CONFIRM RKEY, which is refused and retried. */
static void add_while_rkey(void)
{
	struct duo d = { .c = single(SERVER) };
	struct smc_llc_msg m, add;
	struct link *over;
	struct conn *c;
	bool ok;

	d.first = d.c->l;
	c = with_new_rmb(d.c, &m, &over);
	d.second = half_new(d.first, &dev2);
	half_tell(d.second, d.first, &add);
	llc_put(d.first, &add);
	m.negative = m.confirm_rkey.retry = true;
	llc_put(over, &m);
	ok = group_expect(d.first, SMC_LLC_ADD_LINK, true, &add) &&
	     half_take(d.second, d.first, &add) && link_connect(d.second);
	llc_confirm_link(d.second, &add, false);
	llc_put(d.second, &add);
	ok = ok && group_expect(d.first, SMC_LLC_CONFIRM_LINK, true, &add) == d.second;
	over = group_expect(d.first, SMC_LLC_CONFIRM_RKEY, false, &m);
	ok = ok && over && names_other(&m, other_than(d, over)) && up_after_yes(c, over, &m) &&
	     conn_echo(d.c) && group_silent(d.first);
	conn_end(c);
	conn_end(d.c);
	verdict(ok, "exchanges, as server: ADD LINK crosses with CONFIRM RKEY");
}

/* REQUEST ADD LINK while the server's CONFIRM RKEY is pending: the request has to wait. */
static void request_while_rkey(void)
{
	struct duo d = { .c = single(CLIENT) };
	struct smc_llc_msg m, add;
	struct link *over;
	struct conn *c;
	bool ok;

	d.first = d.c->l;
	c = with_new_rmb(d.c, &m, &over);
	group_wants_adds(d.first, true);
	ask_for_link(d.first, dev2.gid);
	ok = up_after_yes(c, over, &m);
	d.second = half_new(d.first, &dev2);
	ok = ok && group_expect(d.first, SMC_LLC_ADD_LINK, false, &add) &&
	     half_take(d.second, d.first, &add) && link_connect(d.second);
	half_tell(d.second, d.first, &add);
	llc_put(d.first, &add);
	ok = ok && half_confirm(d.second) && conn_echo(c) && conn_echo(d.c);
	conn_end(c);
	conn_end(d.c);
	verdict(ok, "exchanges, as client: REQUEST ADD LINK crosses with CONFIRM RKEY");
}

/* A client's DELETE LINK crosses with the server's CONFIRM RKEY. */
static void delete_while_rkey(bool same)
{
	struct duo d = two_links(CLIENT);
	struct smc_llc_msg m;
	struct link *over, *bad, *good;
	struct conn *c = with_new_rmb(d.c, &m, &over);
	bool ok;

	bad = same ? over : other_than(d, over);
	good = other_than(d, bad);
	put_delete(good, bad->number, true, SMC_LLC_DEL_OPERATOR);
	llc_put(over, &m);
	told_rmb(over, &m.confirm_rkey);
	ok = group_deletes(good, bad->number);
	/* The answer may have been lost with the link. */
	while (ok && same && !wait_mask(c->s.raw, POLLIN, 10))
		if (!group_silent(good)) {
			ok = group_expect(good, SMC_LLC_CONFIRM_RKEY, false, &m);
			m.reply = true;
			llc_put(good, &m);
			break;
		}
	c->l = good;
	ok = ok && clc_peer(c) && (clc_confirm(c, NULL), conn_echo(c));
	conn_move(d.c, good);
	ok = ok && conn_echo(d.c);
	conn_end(c);
	conn_end(d.c);
	verdict(ok, "exchanges, as client: DELETE LINK of %s link crosses with CONFIRM RKEY",
		same ? "its" : "the other");
}

/* DELETE LINK is processed once the new link has been added, and the connection moves to that. */
static void delete_while_adding(bool orderly)
{
	struct duo d;
	bool ok = half_way(&d, conn_one_link(CLIENT), true);

	put_delete(d.first, d.first->number, orderly,
		   orderly ? SMC_LLC_DEL_OPERATOR : SMC_LLC_DEL_LOST_PATH);
	ok = ok && half_confirm(d.second) && group_deletes(d.second, d.first->number);
	conn_move(d.c, d.second);
	ok = ok && conn_echo(d.c);
	conn_end(d.c);
	verdict(ok, "exchanges, as client: DELETE LINK of the first link, %sorderly, while another "
		"is added", orderly ? "" : "dis");
}

static void delete_all_while_adding(enum role role)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_DELETE_LINK,
		.delete_link = { .all = true, .reason = SMC_LLC_DEL_OPERATOR },
	};
	struct duo d;
	bool ok = half_way(&d, conn_one_link(role), true);

	llc_put(d.first, &m);
	ok = ok && victim_is_told(d.c->s, true);
	conn_end(d.c);
	verdict(ok, "exchanges, %s: DELETE LINK of all while a link is added", role_name[role]);
}

static void test_while_adding(enum role role)
{
	struct smc_llc_msg m = { .type = SMC_LLC_TEST_LINK }, confirm;
	struct duo d;
	bool ok = half_way(&d, conn_one_link(role), true);

	if (role == CLIENT)
		ok = ok && group_expect(d.first, SMC_LLC_CONFIRM_LINK, false, &confirm);
	llc_put(d.first, &m);
	ok = ok && group_expect(d.first, SMC_LLC_TEST_LINK, true, &m) == d.first;
	llc_confirm_link(d.second, &confirm, role == CLIENT);
	llc_put(d.second, &confirm);
	ok = ok && (role == CLIENT ||
		    group_expect(d.first, SMC_LLC_CONFIRM_LINK, true, &confirm) == d.second) &&
	     group_settled(d.second) && conn_echo(d.c);
	conn_end(d.c);
	verdict(ok, "exchanges, %s: TEST LINK while a link is added", role_name[role]);
}

/* The first connection is up; another one begins while a link is added. */
static void contact_while_adding(enum role role)
{
	struct duo d;
	struct conn *c;
	bool ok = half_way(&d, conn_one_link(role), true);

	c = conn_over(d.first);
	ok = ok && conn_echo(c) && half_confirm(d.second) && conn_echo(c) && conn_echo(d.c);
	conn_end(c);
	conn_end(d.c);
	verdict(ok, "exchanges, %s: a further contact while a link is added", role_name[role]);
}

/* ---- a port of the victim goes down ---- */

static void port_down(void)
{
	run("ip link set veth2 down");
}

static void port_up(void)
{
	run("$SMC_ROOT/tools/testing/vm/rxe_switch again 2");
	run("until grep -q ACTIVE /sys/class/infiniband/rxe2/ports/1/state; do sleep 0.05; done");
}

/*
 * The victim's port goes down while it waits for the ADD LINK reply.  In a first contact it needs
 * the reply all the same. Later the link is given up at once, and a late reply is ignored.
 */
static void late_reply(bool is_first, bool negative)
{
	struct duo d = { .c = is_first ? conn_one_link(CLIENT) : single(CLIENT) };
	struct smc_llc_msg m, add = d.c->l->offer.m;
	bool ok = true;

	d.first = d.c->l;
	group_wants_adds(d.first, true);
	if (!is_first)
		ok = group_expect(d.first, SMC_LLC_ADD_LINK, false, &add);
	d.second = half_new(d.first, &dev2);
	ok = ok && half_take(d.second, d.first, &add) && link_connect(d.second);
	half_tell(d.second, d.first, &m);
	m.negative = negative;
	port_down();
	ok = ok && (is_first || group_deletes(d.first, d.second->number));
	llc_put(d.first, &m);
	ok = ok && (!is_first || negative || group_deletes(d.first, d.second->number));
	ok = ok && conn_echo(d.c) && group_settled(d.first) && conn_echo(d.c);
	group_wants_adds(d.first, false);
	conn_end(d.c);
	port_up();
	verdict(ok, "exchanges, as client: %s ADD LINK reply after the port went down%s",
		negative ? "a negative" : "a positive", is_first ? ", in the first contact" : "");
}

/* Before that, the victim may delete another link whose setup the loss of the port has ended. */
static bool deletes_at_last(struct link *l, uint8_t number)
{
	struct smc_llc_msg m;
	struct link *over;

	do {
		over = group_expect(l, SMC_LLC_DELETE_LINK, false, &m);
		if (!over)
			return false;
		if (m.delete_link.all || m.delete_link.link > number)
			return BAD("DELETE LINK of link %u, not %u", m.delete_link.link, number);
		m.reply = true;
		llc_put(over, &m);
	} while (m.delete_link.link != number);
	return true;
}

/*
 * The victim has only one port and offers that again. If our reply also names the same port, the
 * result would be a parallel link.
 */
static void parallel(void)
{
	struct smc_llc_msg m;
	struct duo d = { .c = single(CLIENT) };
	bool ok;

	d.first = d.c->l;
	port_down();
	ok = group_settled(d.first);
	group_wants_adds(d.first, true);
	ask_for_link(d.first, dev2.gid);
	d.second = half_new(d.first, &dev);
	ok = ok && group_expect(d.first, SMC_LLC_ADD_LINK, false, &m) &&
	     half_take(d.second, d.first, &m) && link_connect(d.second) &&
	     (!memcmp(d.second->peer_gid, d.first->peer_gid, 16) || BAD("from another port"));
	half_tell(d.second, d.first, &m);
	llc_put(d.first, &m);
	group_wants_adds(d.first, false);
	/* The victim deletes it without sending CONFIRM LINK. */
	ok = ok && deletes_at_last(d.first, d.second->number) && conn_echo(d.c) &&
	     group_silent(d.first);
	conn_end(d.c);
	port_up();
	verdict(ok, "exchanges, as client: ADD LINK reply that makes a parallel link");
}

/* The other port is reported before the reply that makes an asymmetric link, which then is given
 * up.
 */
static void request_before_reply(void)
{
	struct smc_llc_msg m, add;
	struct duo d = { .c = single(CLIENT) };
	long since;
	bool ok;

	d.first = d.c->l;
	group_wants_adds(d.first, true);
	ok = group_expect(d.first, SMC_LLC_ADD_LINK, false, &add);
	d.second = half_new(d.first, &dev);
	ok = ok && half_take(d.second, d.first, &add);
	ask_for_link(d.first, dev2.gid);
	ok = ok && group_settled(d.first);
	half_tell(d.second, d.first, &m);
	llc_put(d.first, &m);
	since = now_ms();
	ok = ok && group_deletes(d.first, d.second->number) && conn_echo(d.c);
	/* Virtual time: waiting for CONFIRM LINK would take five seconds. */
	ok = ok && (now_ms() - since < 4000 || BAD("only after %ld ms", now_ms() - since));
	group_wants_adds(d.first, false);
	conn_end(d.c);
	verdict(ok, "exchanges, as client: REQUEST ADD LINK before the reply for an asymmetric link");
}

static void port_lost(enum role role)
{
	struct busy b = begin(role);
	bool ok = both_echo(b);

	port_down();
	ok = ok && group_deletes(b.d.first, b.d.second->number) &&
	     both_go_on_over(b, b.d.first);
	end(b);
	port_up();
	verdict(ok, "exchanges, %s: the victim loses the port of the second link",
		role_name[role]);
}

/* The victim tests the link that DELETE LINK was sent over (C.7), and repeats DELETE LINK. */
static void loss_unanswered(enum role role, bool dead)
{
	struct busy b = begin(role);
	struct smc_llc_msg m;
	bool ok = both_echo(b);

	port_down();
	ok = ok && group_expect(b.d.first, SMC_LLC_DELETE_LINK, false, &m) == b.d.first &&
	     both_go_on_over(b, b.d.first);
	if (dead)
		ok = ok && group_muted(b.d.first, false) && victim_is_told(b.d.c->s, true) &&
		     victim_is_told(b.c2->s, true);
	else
		ok = ok && group_deletes(b.d.first, b.d.second->number) &&
		     both_go_on_over(b, b.d.first);
	end(b);
	port_up();
	verdict(ok, "exchanges, %s: the victim's DELETE LINK is not answered%s", role_name[role],
		dead ? ", nor is TEST LINK" : "");
}

/*
 * Both sides lose the link and report it.  A server ignores the client's report about a link that
 * it is already cleaning up (C.7.1), and its own message counts as the answer.
 */
static void losses_cross(enum role role)
{
	struct busy b = begin(role);
	struct link *l = b.d.first;
	struct smc_llc_msg m;
	bool ok = both_echo(b);

	port_down();
	ok = ok && group_expect(l, SMC_LLC_DELETE_LINK, false, &m) == l;
	put_delete(l, b.d.second->number, true, SMC_LLC_DEL_LOST_PATH);
	if (role == CLIENT) {
		ok = ok && group_settled(l) && group_silent(l);
		m.reply = true;
		llc_put(l, &m);
	} else {
		ok = ok && group_expect(l, SMC_LLC_DELETE_LINK, true, &m) &&
		     (m.delete_link.reason == SMC_LLC_DEL_NO_LINK ||
		      BAD("reason %08x", m.delete_link.reason));
	}
	/* Longer than the time limit for an answer. */
	usleep(6000000);
	ok = ok && both_go_on_over(b, l);
	end(b);
	port_up();
	verdict(ok, "exchanges, %s: DELETE LINK crosses with that of the victim", role_name[role]);
}

/* When its port comes back, a server adds a link, and a client reports the port. */
static void port_back(enum role role)
{
	struct busy b = begin(role);
	struct link *third;
	struct smc_llc_msg m;
	bool ok = both_echo(b);

	port_down();
	ok = ok && group_deletes(b.d.first, b.d.second->number);
	group_wants_adds(b.d.first, true);
	link_break(b.d.second);
	port_up();
	ok = ok && group_expect(b.d.first, role == CLIENT ? SMC_LLC_ADD_LINK :
				SMC_LLC_REQ_ADD_LINK, false, &m);
	third = half_new(b.d.first, &dev2);
	if (role == CLIENT)
		ok = ok && half_take(third, b.d.first, &m) && link_connect(third);
	half_tell(third, b.d.first, &m);
	llc_put(b.d.first, &m);
	if (role == SERVER)
		ok = ok && group_expect(b.d.first, SMC_LLC_ADD_LINK, true, &m) &&
		     half_take(third, b.d.first, &m) && link_connect(third);
	ok = ok && half_confirm(third) && conn_echo(b.d.c);
	end(b);
	verdict(ok, "exchanges, %s: the victim's port comes back", role_name[role]);
}

/*
 * An added device already has a port that is up and has GIDs, so no event reports the port.  The
 * victim's next regular attempt is half a minute away by then.
 */
static void device_back(enum role role)
{
	struct busy b = begin(role);
	struct link *l = b.d.first;
	struct smc_llc_msg m;
	long since;
	bool ok = both_echo(b);

	run("rdma link delete rxe2");
	ok = ok && group_deletes(l, b.d.second->number) && both_go_on_over(b, l);
	for (int i = 0; i < 40 && ok; i++) {
		usleep(1000000);
		ok = both_echo(b);
		bystander_turn();
	}
	group_wants_adds(l, true);
	since = now_ms();
	run("$SMC_ROOT/tools/testing/vm/rxe veth2 rxe2");
	census_open("rxe2");
	ok = ok && group_expect(l, role == CLIENT ? SMC_LLC_ADD_LINK : SMC_LLC_REQ_ADD_LINK, false,
				&m) &&
	     (now_ms() - since < 5000 || BAD("only after %ld ms", now_ms() - since));
	group_wants_adds(l, false);
	end(b);
	verdict(ok, "exchanges, %s: the victim's device comes back", role_name[role]);
}

void cases_exchanges(void)
{
	for (enum role r = CLIENT; r <= SERVER; r++) {
		for (int i = 0; i < 8; i++)
			TRY(delete_one(r, i & 1, i & 2, i & 4), "");
		TRY(delete_unknown(r), "");
		for (int first = 0; first < 2; first++) {
			TRY(delete_each(r, first), "");
			TRY(delete_all(r, first), "");
			TRY(rkey_of_both(r, first, false), "");
			TRY(rkey_of_both(r, first, true), "");
			TRY(rkey_missing(r, first, false), "");
			TRY(rkey_missing(r, first, true), "");
			TRY(delete_rkey(r, first, true), "");
			TRY(delete_rkey(r, first, false), "");
		}
		TRY(victims_rkey(r), "");
		TRY(victims_rkey_unanswered(r), "");
		TRY(delete_all_while_adding(r), "");
		TRY(test_while_adding(r), "");
		TRY(contact_while_adding(r), "");
	}
	TRY(rmb_goes(), "");
	TRY(rkey_while_adding(), "");
	TRY(add_while_rkey(), "");
	TRY(request_while_rkey(), "");
	TRY(delete_while_rkey(false), "");
	TRY(delete_while_rkey(true), "");
	TRY(delete_while_adding(true), "");
	TRY(delete_while_adding(false), "");
	TRY(parallel(), "");
	TRY(request_before_reply(), "");
	for (int i = 0; i < 4; i++)
		TRY(late_reply(i & 1, i & 2), "");
	for (enum role r = CLIENT; r <= SERVER; r++) {
		TRY(port_lost(r), "");
		TRY(loss_unanswered(r, true), "");
		TRY(loss_unanswered(r, false), "");
		TRY(losses_cross(r), "");
		TRY(port_back(r), "");
		TRY(device_back(r), "");
	}
}
