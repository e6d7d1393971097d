// SPDX-License-Identifier: GPL-2.0
/*
 * Answers that do not come (RFC 7609, C.7.1), and messages that cannot be delivered (C.2). All
 * cases wait at the same time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rogue.h"

enum outcome { RESET, DECLINED, DOWN };

struct waiting {
	struct conn *c, *more;
	const char *what;
	enum outcome outcome;
	bool ok;
	char why[sizeof(why)];
};

static struct waiting all[32];
static unsigned int n_all;

static struct waiting *wait_for(struct conn *c, enum outcome outcome, const char *what)
{
	struct waiting *w = &all[n_all++];

	w->c = c;
	w->outcome = outcome;
	w->what = what;
	return w;
}

/* ---- the victim tests an idle link ---- */

static struct conn *tested(struct smc_llc_msg *m)
{
	long old = set_sysctl("smcr_testlink_time", 1);
	struct conn *c = conn_begin(SERVER, V21, AT_UP, NULL);

	if (!llc_expect(c->l, SMC_LLC_TEST_LINK, false, m))
		give_up("no TEST LINK: %s", why);
	set_sysctl("smcr_testlink_time", old);
	/* The bystander's link may have been tested as well. */
	bystander_turn();
	m->reply = true;
	return c;
}

static void test_link_right(void)
{
	struct smc_llc_msg m;
	struct conn *c = tested(&m);
	bool ok;

	llc_put(c->l, &m);
	ok = conn_echo(c);
	conn_end(c);
	verdict(ok, "llc: TEST LINK of the victim, answered");
}

static void test_link_wrong(unsigned int byte)
{
	struct smc_llc_msg m;
	struct conn *c = tested(&m);
	bool ok;

	m.test_link.data[byte]++;
	llc_put(c->l, &m);
	ok = victim_is_told(c->s, true);
	conn_end(c);
	verdict(ok, "llc: TEST LINK of the victim, answered with another byte %u", byte);
}

/* ---- the victim announces a new RMB ---- */

/* A further contact with an element so large that it requires an RMB of its own. */
static struct conn *with_new_rmb(struct conn *first, struct smc_llc_msg *m)
{
	long old = set_sysctl("rmem", 524288);
	struct conn *c = conn_more(first, first->l->server ? AT_CLC : AT_TCP, NULL);

	if (!first->l->server)
		clc_propose(c, NULL);
	if (!llc_expect(first->l, SMC_LLC_CONFIRM_RKEY, false, m))
		give_up("no CONFIRM RKEY: %s", why);
	if (!addr_is_harmless(m->confirm_rkey.addr))
		give_up("%s", why);
	set_sysctl("rmem", old);
	m->reply = true;
	return c;
}

enum answer { YES, CROSSED, NO, NO_RETRY, OTHER_KEY, TWICE };

static const char * const answer_name[] = {
	"answered", "answered after a CONFIRM RKEY of ours", "refused", "refused, to be retried",
	"answered for another RKey", "answered twice",
};

static bool up(struct conn *c)
{
	return clc_peer(c) && (c->l->server || (clc_confirm(c, NULL), true)) && conn_echo(c);
}

static bool up_after_yes(struct conn *c, struct smc_llc_msg *m)
{
	m->reply = true;
	llc_put(c->l, m);
	return up(c);
}

/* The next connection makes the victim announce the RMB again (B8). */
static bool asked_again(struct conn *first)
{
	struct smc_llc_msg m;
	struct conn *c = with_new_rmb(first, &m);
	bool ok = up_after_yes(c, &m);

	conn_end(c);
	return ok;
}

/* Our request is pending when the victim's arrives: we answer it all the same (RFC 7609, A.3.5). */
static bool cross(struct link *l)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_CONFIRM_RKEY,
		.confirm_rkey = { .rkey = 0x12345678, .addr = 0x1000000 },
	};

	llc_put(l, &m);
	return llc_expect(l, SMC_LLC_CONFIRM_RKEY, true, &m) &&
	       ((!m.negative && m.confirm_rkey.rkey == 0x12345678) || BAD("a refusal"));
}

static void confirm_rkey(enum role role, enum answer answer)
{
	struct conn *first = conn_begin(role, V21, AT_UP, NULL), *c;
	struct smc_llc_msg m;
	bool ok = true;
	uint32_t rkey;

	c = with_new_rmb(first, &m);
	rkey = m.confirm_rkey.rkey;
	ok = answer != CROSSED || cross(first->l);
	m.negative = answer == NO || answer == NO_RETRY;
	m.confirm_rkey.retry = answer == NO_RETRY;
	m.confirm_rkey.rkey ^= answer == OTHER_KEY;
	llc_put(first->l, &m);
	if (answer == TWICE)
		llc_put(first->l, &m);
	switch (answer) {
	case YES:
	case CROSSED:
		ok = ok && up(c) && conn_echo(first);
		break;
	case NO:
		ok = judge(c->s, GOT_DECLINE, false, NULL) && conn_echo(first) &&
		     asked_again(first);
		break;
	case NO_RETRY:
		ok = llc_expect(first->l, SMC_LLC_CONFIRM_RKEY, false, &m) &&
		     (m.confirm_rkey.rkey == rkey || BAD("another RKey")) && up_after_yes(c, &m);
		break;
	case OTHER_KEY:
		ok = judge(c->s, GOT_DECLINE, false, NULL) && victim_is_told(first->s, true);
		break;
	case TWICE:
		ok = victim_is_told(first->s, true);
	}
	conn_end(c);
	conn_end(first);
	verdict(ok, "llc, %s: CONFIRM RKEY of the victim, %s",
		role == CLIENT ? "as client" : "as server", answer_name[answer]);
}

static void rkey_silent(enum role role, const char *what)
{
	struct conn *first = conn_begin(role, V21, AT_UP, NULL);
	struct smc_llc_msg m;

	wait_for(first, DOWN, what)->more = with_new_rmb(first, &m);
}

/* ---- nothing comes ---- */

static void silent(enum role role, enum flavour flavour, enum stage stage, const char *what)
{
	wait_for(conn_begin(role, flavour, stage, NULL), RESET, what);
}

/*
 * The time for the handshake, 13 s, ends in the same tick as that for ADD LINK, so the group ends
 * while its engine handles the timeout. The ADD LINK only offers what the victim does not have.
 */
static void ends_together(unsigned int ms)
{
	long old = set_timeout_ms(slow(13000));
	struct conn *c = conn_begin(CLIENT, V20, AT_CLC, NULL);
	struct smc_llc_msg m;

	set_timeout_ms(old);
	usleep(slow(ms) * 1000);
	clc_confirm(c, NULL);
	if (!llc_expect(c->l, SMC_LLC_CONFIRM_LINK, false, &m) || !llc_confirm(c->l))
		give_up("%s", why);
	wait_for(c, RESET, "ADD LINK is not answered until the handshake ends");
}

static void no_delete_reply(void)
{
	struct conn *c = conn_begin(CLIENT, V20, AT_ADD_LINK, NULL);
	struct smc_llc_msg m;

	llc_add_link(c->l, &m);
	m.reply = true;
	llc_put(c->l, &m);
	if (!llc_expect(c->l, SMC_LLC_DELETE_LINK, false, &m))
		give_up("%s", why);
	wait_for(c, RESET, "DELETE LINK of the second link is not answered");
}

static void no_test_reply(void)
{
	struct smc_llc_msg m;

	wait_for(tested(&m), DOWN, "TEST LINK is not answered");
}

/* ---- nothing can be delivered ---- */

static void deaf_server(void)
{
	struct smc_llc_msg m;
	struct conn *c;

	link_deaf = true;
	c = conn_begin(SERVER, V21, AT_LINK, NULL);
	link_deaf = false;
	llc_confirm_link(c->l, &m, false);
	llc_put(c->l, &m);
	wait_for(c, DECLINED, "the CONFIRM LINK reply cannot be delivered (figure 42)");
}

static void deaf_client(void)
{
	struct conn *c = conn_begin(CLIENT, V21, AT_CLC, NULL);

	link_deaf = true;
	clc_confirm(c, NULL);
	link_deaf = false;
	wait_for(c, DECLINED, "CONFIRM LINK cannot be delivered");
}

static void broken(enum role role, enum flavour flavour, enum stage stage, const char *what)
{
	struct conn *c = conn_begin(role, flavour, stage, NULL);

	link_break(c->l);
	wait_for(c, RESET, what);
}

static void broken_after_confirm(void)
{
	struct conn *c = conn_begin(CLIENT, V20, AT_LINK, NULL);
	struct smc_llc_msg m;

	llc_confirm_link(c->l, &m, true);
	llc_put(c->l, &m);
	link_flush(c->l, WAIT_MS);
	link_break(c->l);
	wait_for(c, RESET, "ADD LINK cannot be delivered");
}

static void broken_up(enum role role, const char *what)
{
	struct conn *c = conn_begin(role, V21, AT_UP, NULL);

	if (!conn_echo(c))
		give_up("%s", why);
	link_break(c->l);
	if (send(c->s.victim, "hello", 5, MSG_NOSIGNAL) != 5)
		give_up("send");
	wait_for(c, DOWN, what);
}

static bool waited(struct waiting *w)
{
	switch (w->outcome) {
	case RESET:
		return judge(w->c->s, GOT_RESET, false, NULL);
	case DECLINED:
		return judge(w->c->s, GOT_DECLINE, false, NULL);
	case DOWN:
		return (!w->more || judge(w->more->s, GOT_DECLINE, false, NULL)) &&
		       victim_is_told(w->c->s, true);
	}
	return false;
}

/* If one case gives up, those that are already waiting fail with it. */
#define START(call)	TRY(call, (n_all = 0, "and all cases that were waiting"))

void cases_time(void)
{
	/* No handshake may time out before all of them have been checked. */
	long old = set_timeout_ms(slow(120000));

	TRY(test_link_right(), "");
	TRY(test_link_wrong(0), "");
	TRY(test_link_wrong(15), "");
	for (enum role r = CLIENT; r <= SERVER; r++)
		for (enum answer a = YES; a <= TWICE; a++)
			TRY(confirm_rkey(r, a), answer_name[a]);

	START(silent(SERVER, V21, AT_LINK, "CONFIRM LINK does not arrive"));
	START(silent(CLIENT, V21, AT_LINK, "CONFIRM LINK is not answered"));
	START(silent(SERVER, V20, AT_ADD_LINK, "ADD LINK does not arrive"));
	START(silent(CLIENT, V20, AT_ADD_LINK, "ADD LINK is not answered"));
	for (unsigned int ms = 3700; ms <= 4300; ms += 200)
		START(ends_together(ms));
	START(no_delete_reply());
	START(rkey_silent(CLIENT, "CONFIRM RKEY of a server is not answered"));
	START(rkey_silent(SERVER, "CONFIRM RKEY of a client is not answered"));
	START(no_test_reply());
	START(deaf_server());
	START(deaf_client());
	START(broken(SERVER, V21, AT_LINK, "the queue pair is gone before CONFIRM LINK"));
	START(broken(CLIENT, V21, AT_LINK, "the queue pair is gone before the CONFIRM LINK reply"));
	START(broken(SERVER, V20, AT_ADD_LINK, "the queue pair is gone before ADD LINK"));
	START(broken_after_confirm());
	START(broken_up(SERVER, "the queue pair of a server is gone"));
	START(broken_up(CLIENT, "the queue pair of a client is gone"));

	for (unsigned int i = 0; i < n_all; i++) {
		all[i].ok = waited(&all[i]);
		memcpy(all[i].why, why, sizeof(why));
	}
	for (unsigned int i = 0; i < n_all; i++) {
		if (all[i].more)
			conn_end(all[i].more);
		conn_end(all[i].c);
	}
	for (unsigned int i = 0; i < n_all; i++) {
		memcpy(why, all[i].why, sizeof(why));
		verdict(all[i].ok, "time: %s", all[i].what);
	}
	set_timeout_ms(old);
}
