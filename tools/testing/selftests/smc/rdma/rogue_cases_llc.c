// SPDX-License-Identifier: GPL-2.0
/* LLC messages that are malformed, out of order, or invalid (RFC 7609, C.7.1). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rogue.h"

static const char * const flavour_name[] = { "v2.1", "v2.0", "v2.1, two links", "v1" };
static const char * const stage_name[] = {
	"before CLC", "in CLC", "before CONFIRM LINK", "before ADD LINK", "in an active group",
};

/* The expected reaction to a message. */
enum outcome {
	FINE,		/* nothing; nothing fails */
	ANSWER,		/* a reply of the same type; nothing fails */
	REFUSAL,	/* a negative reply; nothing fails */
	DOWN,		/* the link fails: its connections are reset, or decline */
	DECLINED,	/* the first contact fails, the connection is TCP */
	RESET,		/* the first contact fails, too late for TCP */
};

/* ---- messages ---- */

typedef void maker(struct link *l, struct smc_llc_msg *m);

static void confirm_link(struct link *l, struct smc_llc_msg *m)
{
	llc_confirm_link(l, m, !l->server);
}

static void confirm_link_other(struct link *l, struct smc_llc_msg *m)
{
	llc_confirm_link(l, m, l->server);
}

static void wrong_qpn(struct link *l, struct smc_llc_msg *m)
{
	confirm_link(l, m);
	m->confirm_link.qpn ^= 1;
}

static void wrong_gid(struct link *l, struct smc_llc_msg *m)
{
	confirm_link(l, m);
	m->confirm_link.gid[15] ^= 1;
}

static void wrong_mac(struct link *l, struct smc_llc_msg *m)
{
	confirm_link(l, m);
	m->confirm_link.mac[5] ^= 1;
}

static void wrong_link(struct link *l, struct smc_llc_msg *m)
{
	confirm_link(l, m);
	m->confirm_link.link ^= 3;
}

static void wrong_max_links(struct link *l, struct smc_llc_msg *m)
{
	confirm_link(l, m);
	m->confirm_link.max_links ^= 3;
}

static void wrong_max_conns(struct link *l, struct smc_llc_msg *m)
{
	confirm_link(l, m);
	m->confirm_link.max_conns++;
}

static void add_link(struct link *l, struct smc_llc_msg *m)
{
	llc_add_link(l, m);
}

static void add_link_yes(struct link *l, struct smc_llc_msg *m)
{
	llc_add_link(l, m);
	m->reply = true;
}

static void add_link_no(struct link *l, struct smc_llc_msg *m)
{
	add_link_yes(l, m);
	m->negative = true;
	m->add_link.reason = SMC_LLC_REJ_NO_ALT_PATH;
}

static void add_link_no_0(struct link *l, struct smc_llc_msg *m)
{
	add_link_no(l, m);
	m->add_link.reason = 0;
}

static void add_link_no_15(struct link *l, struct smc_llc_msg *m)
{
	add_link_no(l, m);
	m->add_link.reason = 15;
}

static void add_link_cont(struct link *l, struct smc_llc_msg *m)
{
	m->type = SMC_LLC_ADD_LINK_CONT;
	m->reply = !l->server;
	m->add_link_cont.link = 2;
}

static void delete_all(struct link *l, struct smc_llc_msg *m)
{
	m->type = SMC_LLC_DELETE_LINK;
	m->delete_link.all = true;
	m->delete_link.reason = SMC_LLC_DEL_OPERATOR;
}

static void delete_one(struct link *l, struct smc_llc_msg *m)
{
	m->type = SMC_LLC_DELETE_LINK;
	m->delete_link.link = l->number;
	m->delete_link.reason = SMC_LLC_DEL_LOST_PATH;
}

static void delete_odd(struct link *l, struct smc_llc_msg *m)
{
	delete_one(l, m);
	m->delete_link.reason = 0xffffffff;
}

static void delete_unknown(struct link *l, struct smc_llc_msg *m)
{
	delete_one(l, m);
	m->delete_link.link = 77;
}

static void delete_reply(struct link *l, struct smc_llc_msg *m)
{
	delete_one(l, m);
	m->reply = true;
}

static void req_add_link(struct link *l, struct smc_llc_msg *m)
{
	m->type = SMC_LLC_REQ_ADD_LINK;
	m->req_add_link.n_gids = 1;
	memcpy(m->req_add_link.gids[0], dev.gid, 16);
}

static void req_add_link_reply(struct link *l, struct smc_llc_msg *m)
{
	m->type = SMC_LLC_REQ_ADD_LINK;
	m->reply = true;
}

static void confirm_rkey(struct link *l, struct smc_llc_msg *m)
{
	m->type = SMC_LLC_CONFIRM_RKEY;
	m->confirm_rkey.rkey = 0x12345678;
	m->confirm_rkey.addr = 0x1000000;
}

static void confirm_rkey_again(struct link *l, struct smc_llc_msg *m)
{
	confirm_rkey(l, m);
	m->confirm_rkey.rkey = l->rmb_mr->rkey;
	m->confirm_rkey.addr = (uintptr_t)l->rmb;
}

static void confirm_rkey_others(struct link *l, struct smc_llc_msg *m)
{
	confirm_rkey(l, m);
	m->confirm_rkey.n_total = 2;
	m->confirm_rkey.others[0].link = 2;
	m->confirm_rkey.others[1].link = 9;
}

static void confirm_rkey_reply(struct link *l, struct smc_llc_msg *m)
{
	confirm_rkey(l, m);
	m->reply = true;
}

static void confirm_rkey_no(struct link *l, struct smc_llc_msg *m)
{
	confirm_rkey_reply(l, m);
	m->negative = true;
}

static void confirm_rkey_cont(struct link *l, struct smc_llc_msg *m)
{
	m->type = SMC_LLC_CONFIRM_RKEY_CONT;
	m->confirm_rkey_cont.n_left = 1;
	m->confirm_rkey_cont.others[0].link = 3;
}

static void confirm_rkey_cont_reply(struct link *l, struct smc_llc_msg *m)
{
	confirm_rkey_cont(l, m);
	m->reply = true;
}

static struct smc_llc_w_rkey rkeys[SMC_LLC_MAX_RKEYS];

static void delete_rkeys(struct smc_llc_msg *m, unsigned int n)
{
	m->type = SMC_LLC_DELETE_RKEY;
	m->delete_rkey.count = n;
	m->delete_rkey.rkeys = rkeys;
	for (unsigned int i = 0; i < n; i++)
		smc_llc_set_rkey(&rkeys[i], 0xdead0000 + i);
}

static void delete_rkey_unknown(struct link *l, struct smc_llc_msg *m)
{
	delete_rkeys(m, 1);
}

static void delete_rkey_none(struct link *l, struct smc_llc_msg *m)
{
	delete_rkeys(m, 0);
}

static void delete_rkey_eight(struct link *l, struct smc_llc_msg *m)
{
	delete_rkeys(m, 8);
}

static void delete_rkey_all(struct link *l, struct smc_llc_msg *m)
{
	delete_rkeys(m, 255);
}

static void delete_rkey_reply(struct link *l, struct smc_llc_msg *m)
{
	delete_rkeys(m, 1);
	m->reply = true;
}

static void test_link(struct link *l, struct smc_llc_msg *m)
{
	m->type = SMC_LLC_TEST_LINK;
	memcpy(m->test_link.data, "sixteen bytes of", 16);
}

static void test_link_reply(struct link *l, struct smc_llc_msg *m)
{
	test_link(l, m);
	m->reply = true;
}

/* ---- the table: valid messages, and the reaction to them ---- */

#define ROLE(r)		(1 << (r))
#define BOTH		(ROLE(CLIENT) | ROLE(SERVER))
#define V(f)		(1 << (f))
#define V2S		V(V21)

/*
 * How the victim must react to which message, when, and from whom.  As client we talk to a server
 * whose CONFIRM LINK has already been delivered: it does not decline any more (C.2).
 */
static const struct said {
	maker *make;
	const char *what;
	unsigned int roles, flavours;
	enum stage at;
	enum outcome outcome;
} said[] = {
	/* while CONFIRM LINK of a first contact is expected */
	{ wrong_qpn, "CONFIRM LINK with another QP number", ROLE(SERVER), V2S, AT_LINK, DECLINED },
	{ wrong_gid, "CONFIRM LINK with another GID", ROLE(SERVER), V2S, AT_LINK, DECLINED },
	{ wrong_mac, "CONFIRM LINK with another MAC address",
	  ROLE(SERVER), V2S, AT_LINK, DECLINED },
	{ wrong_max_links, "CONFIRM LINK with other max links",
	  ROLE(SERVER), V2S, AT_LINK, DECLINED },
	{ wrong_max_conns, "CONFIRM LINK with other max connections",
	  ROLE(SERVER), V2S, AT_LINK, DECLINED },
	{ confirm_link_other, "a CONFIRM LINK reply instead of the request",
	  ROLE(SERVER), V2S, AT_LINK, DECLINED },
	{ wrong_qpn, "CONFIRM LINK reply with another QP number",
	  ROLE(CLIENT), V2S, AT_LINK, RESET },
	{ wrong_gid, "CONFIRM LINK reply with another GID", ROLE(CLIENT), V2S, AT_LINK, RESET },
	{ wrong_mac, "CONFIRM LINK reply with another MAC address",
	  ROLE(CLIENT), V2S, AT_LINK, RESET },
	{ wrong_link, "CONFIRM LINK reply with another link number",
	  ROLE(CLIENT), V2S, AT_LINK, RESET },
	{ wrong_max_links, "CONFIRM LINK reply with other max links",
	  ROLE(CLIENT), V2S, AT_LINK, RESET },
	{ wrong_max_conns, "CONFIRM LINK reply with other max connections",
	  ROLE(CLIENT), V2S, AT_LINK, RESET },
	{ confirm_link_other, "a CONFIRM LINK request instead of the reply",
	  ROLE(CLIENT), V2S, AT_LINK, RESET },
	{ add_link, "ADD LINK too early", ROLE(SERVER), V2S, AT_LINK, DECLINED },
	{ add_link_no, "ADD LINK reply too early", ROLE(CLIENT), V(V20), AT_LINK, RESET },
	{ delete_all, "DELETE LINK of all", ROLE(SERVER), V2S, AT_LINK, DECLINED },
	{ delete_one, "DELETE LINK of this link", ROLE(SERVER), V2S, AT_LINK, DECLINED },
	{ delete_all, "DELETE LINK of all", ROLE(CLIENT), V2S, AT_LINK, RESET },
	{ delete_one, "DELETE LINK of this link", ROLE(CLIENT), V2S, AT_LINK, RESET },
	{ confirm_rkey, "CONFIRM RKEY too early", ROLE(SERVER), V2S, AT_LINK, DECLINED },
	{ confirm_rkey, "CONFIRM RKEY too early", ROLE(CLIENT), V2S, AT_LINK, RESET },
	{ confirm_rkey_reply, "CONFIRM RKEY reply", ROLE(SERVER), V2S, AT_LINK, DECLINED },
	{ confirm_rkey_reply, "CONFIRM RKEY reply", ROLE(CLIENT), V2S, AT_LINK, RESET },
	{ delete_rkey_unknown, "DELETE RKEY too early", ROLE(SERVER), V2S, AT_LINK, DECLINED },
	{ delete_rkey_unknown, "DELETE RKEY too early", ROLE(CLIENT), V2S, AT_LINK, RESET },
	{ req_add_link, "REQUEST ADD LINK too early", ROLE(CLIENT), V2S, AT_LINK, RESET },
	{ test_link_reply, "an unsolicited TEST LINK reply",
	  ROLE(SERVER), V2S, AT_LINK, DECLINED },
	{ test_link_reply, "an unsolicited TEST LINK reply", ROLE(CLIENT), V2S, AT_LINK, RESET },
	{ test_link, "TEST LINK", BOTH, V2S, AT_LINK, ANSWER },

	/* while a second link is to be offered: too late for TCP */
	{ confirm_link, "CONFIRM LINK again", BOTH, V(V20), AT_ADD_LINK, RESET },
	{ delete_all, "DELETE LINK of all", BOTH, V(V20), AT_ADD_LINK, RESET },
	{ delete_one, "DELETE LINK of this link", BOTH, V(V20), AT_ADD_LINK, RESET },
	{ confirm_rkey_reply, "CONFIRM RKEY reply", BOTH, V(V20), AT_ADD_LINK, RESET },
	{ add_link_yes, "an ADD LINK reply of the server",
	  ROLE(SERVER), V(V20), AT_ADD_LINK, RESET },
	{ add_link, "an ADD LINK request of the client", ROLE(CLIENT), V(V20), AT_ADD_LINK, RESET },
	{ test_link, "TEST LINK", BOTH, V(V20), AT_ADD_LINK, ANSWER },

	/* an active group */
	{ confirm_link, "CONFIRM LINK again", BOTH, V2S, AT_UP, DOWN },
	{ confirm_link_other, "CONFIRM LINK of the other role", BOTH, V2S, AT_UP, DOWN },
	{ add_link, "ADD LINK",
	  ROLE(SERVER), V(V21) | V(V20) | V(V21_TWO) | V(V1), AT_UP, REFUSAL },
	{ add_link, "ADD LINK", ROLE(CLIENT), V2S, AT_UP, DOWN },
	{ add_link, "ADD LINK of a client that requests a link", ROLE(CLIENT), V(V1), AT_UP, FINE },
	{ add_link_no, "a late negative ADD LINK reply", ROLE(CLIENT), V2S, AT_UP, FINE },
	{ add_link_yes, "an unsolicited ADD LINK reply", BOTH, V2S, AT_UP, DOWN },
	{ add_link_no, "a negative ADD LINK reply of the server", ROLE(SERVER), V2S, AT_UP, DOWN },
	{ add_link_cont, "ADD LINK CONTINUATION without ADD LINK", BOTH, V(V1), AT_UP, DOWN },
	{ delete_all, "DELETE LINK of all", BOTH, V2S, AT_UP, DOWN },
	{ delete_one, "DELETE LINK of the only link", BOTH, V2S, AT_UP, DOWN },
	{ delete_odd, "DELETE LINK with an unknown reason", BOTH, V2S, AT_UP, DOWN },
	{ delete_unknown, "DELETE LINK of an unknown link", BOTH, V2S | V(V1), AT_UP, ANSWER },
	{ delete_reply, "an unsolicited DELETE LINK reply", BOTH, V2S, AT_UP, DOWN },
	{ req_add_link, "REQUEST ADD LINK", ROLE(CLIENT), V2S, AT_UP, ANSWER },
	{ req_add_link, "REQUEST ADD LINK of a server", ROLE(SERVER), V2S, AT_UP, DOWN },
	{ req_add_link_reply, "REQUEST ADD LINK reply", BOTH, V2S, AT_UP, DOWN },
	{ confirm_rkey, "CONFIRM RKEY", BOTH, V2S | V(V1), AT_UP, ANSWER },
	{ confirm_rkey_again, "CONFIRM RKEY of a known RMB", BOTH, V2S, AT_UP, ANSWER },
	{ confirm_rkey_others, "CONFIRM RKEY with unknown links",
	  BOTH, V2S, AT_UP, ANSWER },
	{ confirm_rkey_reply, "an unsolicited CONFIRM RKEY reply", BOTH, V2S, AT_UP, DOWN },
	{ confirm_rkey_no, "an unsolicited negative CONFIRM RKEY reply", BOTH, V2S, AT_UP, DOWN },
	{ confirm_rkey_cont, "CONFIRM RKEY CONTINUATION without CONFIRM RKEY",
	  BOTH, V(V1), AT_UP, DOWN },
	{ confirm_rkey_cont_reply, "CONFIRM RKEY CONTINUATION reply", BOTH, V(V1), AT_UP, DOWN },
	{ delete_rkey_unknown, "DELETE RKEY of an unknown RMB", BOTH, V2S | V(V1), AT_UP, REFUSAL },
	{ delete_rkey_none, "DELETE RKEY of no RMB", BOTH, V2S, AT_UP, ANSWER },
	{ delete_rkey_eight, "DELETE RKEY of 8 unknown RMBs", BOTH, V2S | V(V1), AT_UP, REFUSAL },
	{ delete_rkey_all, "DELETE RKEY of 255 unknown RMBs", BOTH, V2S, AT_UP, REFUSAL },
	{ delete_rkey_reply, "an unsolicited DELETE RKEY reply", BOTH, V2S | V(V1), AT_UP, DOWN },
	{ test_link, "TEST LINK", BOTH, V2S | V(V1), AT_UP, ANSWER },
	{ test_link_reply, "an unsolicited TEST LINK reply", BOTH, V2S, AT_UP, DOWN },
};

/* ---- checks ---- */

/* The reply repeats the fields of the request. */
static bool answers(struct link *l, const struct smc_llc_msg *m, bool negative)
{
	struct smc_llc_msg got;

	if (!llc_expect(l, m->type, true, &got))
		return false;
	if (got.negative != negative)
		return BAD("a %s reply", negative ? "positive" : "negative");
	if (m->type == SMC_LLC_TEST_LINK && memcmp(&got.test_link, &m->test_link, 16))
		return BAD("the reply has other data");
	if (m->type == SMC_LLC_CONFIRM_RKEY && got.confirm_rkey.rkey != m->confirm_rkey.rkey)
		return BAD("a reply for another RKey");
	if (m->type == SMC_LLC_DELETE_LINK && got.delete_link.reason != SMC_LLC_DEL_NO_LINK)
		return BAD("reason %08x", got.delete_link.reason);
	if (m->type == SMC_LLC_DELETE_RKEY && negative && l->version > SMC_CLC_V1 &&
	    got.delete_rkey.n_failed != m->delete_rkey.count)
		return BAD("%u failures", got.delete_rkey.n_failed);
	if (m->type == SMC_LLC_DELETE_RKEY && negative && l->version == SMC_CLC_V1 &&
	    got.delete_rkey.error_mask != (uint8_t)(0xff << (8 - m->delete_rkey.count)))
		return BAD("error mask %02x", got.delete_rkey.error_mask);
	return true;
}

static bool follows(struct conn *c, enum stage at, enum outcome outcome,
		    const struct smc_llc_msg *m)
{
	switch (outcome) {
	case FINE:
		return conn_goes_on(c, at);
	case ANSWER:
	case REFUSAL:
		return answers(c->l, m, outcome == REFUSAL) && conn_goes_on(c, at);
	case DOWN:
		return victim_is_told(c->s, true);
	case DECLINED:
		return judge(c->s, GOT_DECLINE, false, NULL);
	case RESET:
		return judge(c->s, GOT_RESET, false, NULL);
	}
	return false;
}

static void say(const struct said *s, enum role role, enum flavour flavour)
{
	struct conn *c = conn_begin(role, flavour, s->at, NULL);
	struct smc_llc_msg m = { 0 };
	bool ok;

	s->make(c->l, &m);
	llc_put(c->l, &m);
	ok = follows(c, s->at, s->outcome, &m);
	conn_end(c);
	verdict(ok, "llc, %s, %s, %s: %s", flavour_name[flavour], role_name[role],
		stage_name[s->at], s->what);
}

static void run_said(void)
{
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		for (enum flavour f = V21; f <= V1; f++)
			for (enum role r = CLIENT; r <= SERVER; r++)
				if (said[i].roles & ROLE(r) && said[i].flavours & V(f))
					TRY(say(&said[i], r, f), said[i].what);
}

/* ---- replies to the victim's requests at the end of a first contact ---- */

static void reply_to_add_link(maker *make, const char *what, bool no)
{
	struct conn *c = conn_begin(CLIENT, V20, AT_ADD_LINK, NULL);
	struct smc_llc_msg m = { 0 };
	bool ok = true;

	make(c->l, &m);
	llc_put(c->l, &m);
	if (!no) {
		/* The victim has no second device and deletes the link. */
		ok = llc_expect(c->l, SMC_LLC_DELETE_LINK, false, &m) &&
		     (m.delete_link.link == 2 || BAD("of link %u", m.delete_link.link));
		m.reply = true;
		llc_put(c->l, &m);
	}
	ok = ok && conn_echo(c);
	conn_end(c);
	verdict(ok, "llc, v2.0, as client, before ADD LINK: %s", what);
}

static void bad_mtu(enum role role, enum stage at, uint8_t mtu)
{
	struct conn *c = conn_begin(role, V20, at, NULL);
	struct smc_llc_msg m, got;
	uint8_t b[SMC_LLC_V2_MAX_LEN];
	size_t len;
	bool ok;

	llc_add_link(c->l, &m);
	len = llc_bytes(c->l, &m, b);
	b[offsetof(struct smc_llc_w_add_link_base, mtu)] = mtu;
	link_send(c->l, b, len);
	ok = llc_expect(c->l, SMC_LLC_ADD_LINK, true, &got) &&
	     ((got.negative && got.add_link.reason == SMC_LLC_REJ_MTU) ||
	      BAD("%s reply, reason %u", got.negative ? "negative" : "positive",
		  got.add_link.reason)) && conn_echo(c);
	conn_end(c);
	verdict(ok, "llc, v2.0, as server, %s: ADD LINK with MTU %u", stage_name[at], mtu);
}

/* ---- bytes that are not a message ---- */

static const struct {
	maker *make;
	const char *what;
} genuine[] = {
	{ confirm_link, "CONFIRM LINK" }, { confirm_link_other, "CONFIRM LINK, other role" },
	{ add_link, "ADD LINK" },
	{ add_link_yes, "ADD LINK reply" },
	{ add_link_no, "negative ADD LINK reply" },
	{ delete_unknown, "DELETE LINK" }, { delete_reply, "DELETE LINK reply" },
	{ req_add_link, "REQUEST ADD LINK" }, { req_add_link_reply, "REQUEST ADD LINK reply" },
	{ confirm_rkey, "CONFIRM RKEY" }, { confirm_rkey_reply, "CONFIRM RKEY reply" },
	{ delete_rkey_eight, "DELETE RKEY" }, { delete_rkey_reply, "DELETE RKEY reply" },
	{ test_link, "TEST LINK" }, { test_link_reply, "TEST LINK reply" },
};

struct bytes {
	const char *what;
	int len;		/* bytes sent, relative to the real length; 0x8000: absolute */
	int said;		/* the value of the length field, in the same way */
};

#define ABS	0x8000

static const struct bytes lengths[] = {
	{ "one byte too short", -1, 0 },
	{ "one byte too short, with that length", -1, -1 },
	{ "one byte too long", 1, 0 },
	{ "of 4 bytes", ABS | 4, ABS | 4 },
	{ "of 1 byte", ABS | 1, 0 },
	{ "with length field 0", 0, ABS },
	{ "with a length field one too small", 0, -1 },
	{ "with length field 8191", 0, ABS | 8191 },
};

static int length(int spec, size_t genuine_len)
{
	return spec & ABS && spec > 0 ? spec & ~ABS : (int)genuine_len + spec;
}

static bool no_message(const uint8_t *b, size_t len, enum role role, enum flavour flavour,
		       enum stage at, enum outcome outcome)
{
	struct conn *c = conn_begin(role, flavour, at, NULL);
	bool ok;

	link_send(c->l, b, len);
	ok = follows(c, at, outcome, NULL);
	conn_end(c);
	return ok;
}

static void run_lengths(void)
{
	static uint8_t b[2 * SMC_LLC_V2_MAX_LEN];

	for (size_t i = 0; i < sizeof(genuine) / sizeof(genuine[0]); i++)
		for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
			enum role role = (i + k) % 2 ? CLIENT : SERVER;
			struct conn *c = conn_begin(role, V21, AT_UP, NULL);
			struct smc_llc_msg m = { 0 };
			size_t len;
			int say;
			bool ok;

			memset(b, 0, sizeof(b));
			genuine[i].make(c->l, &m);
			len = llc_bytes(c->l, &m, b);
			say = length(lengths[k].said, len);
			b[1] = say;
			b[2] = say >> 8;
			link_send(c->l, b, length(lengths[k].len, len));
			ok = follows(c, AT_UP, DOWN, NULL);
			conn_end(c);
			verdict(ok, "llc, %s: %s, %s", role_name[role], genuine[i].what,
				lengths[k].what);
		}
}

/* Counts that exceed the space. */
static const struct {
	maker *make;
	const char *what;
	unsigned int off, n;
	uint8_t value[2];
} counts[] = {
	{ add_link, "ADD LINK with 1 RToken in the space of none", 70, 2, { 1, 0 } },
	{ add_link, "ADD LINK with 256 RTokens", 70, 2, { 1, 1 } },
	{ add_link, "ADD LINK with 255 RTokens in the space of none", 70, 2, { 0, 255 } },
	{ req_add_link, "REQUEST ADD LINK without a GID", 24, 1, { 0 } },
	{ req_add_link, "REQUEST ADD LINK with 2 GIDs in the space of 1", 24, 1, { 2 } },
	{ req_add_link, "REQUEST ADD LINK with 9 GIDs", 24, 1, { 9 } },
	{ req_add_link, "REQUEST ADD LINK with 255 GIDs", 24, 1, { 255 } },
	{ confirm_rkey, "CONFIRM RKEY with 3 other links", 4, 1, { 3 } },
	{ confirm_rkey, "CONFIRM RKEY with 255 other links", 4, 1, { 255 } },
	{ delete_rkey_unknown, "DELETE RKEY of 10 RMBs in 44 bytes", 4, 1, { 10 } },
	{ delete_rkey_unknown, "DELETE RKEY of 255 RMBs in 44 bytes", 4, 1, { 255 } },
};

static void run_counts(void)
{
	uint8_t b[SMC_LLC_V2_MAX_LEN];

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct conn *c = conn_begin(i % 2 ? CLIENT : SERVER, V21, AT_UP, NULL);
		struct smc_llc_msg m = { 0 };
		size_t len;
		bool ok;

		counts[i].make(c->l, &m);
		len = llc_bytes(c->l, &m, b);
		memcpy(b + counts[i].off, counts[i].value, counts[i].n);
		link_send(c->l, b, len);
		ok = follows(c, AT_UP, DOWN, NULL);
		conn_end(c);
		verdict(ok, "llc: %s", counts[i].what);
	}
}

/* Does version 2 have this message? */
static bool known_type(uint8_t type)
{
	return (type & 0xf0) == 0x20 && smc_llc_type_known(type & 15, true);
}

static void run_types(void)
{
	uint8_t b[MSG_LEN] = { [1] = MSG_LEN };
	struct conn *c = conn_begin(CLIENT, V21, AT_UP, NULL);
	bool ok = true;

	for (b[0] = 0x80; b[0] < 0xc0; b[0]++)
		link_send(c->l, b, sizeof(b));
	ok = conn_echo(c);
	conn_end(c);
	verdict(ok, "llc: types 80 to bf, which may be discarded");
	for (unsigned int type = 0; type < 256; type += type == 0x7f ? 0x41 : 1) {
		b[0] = type;
		if (!known_type(type) && type != SMC_CDC_TYPE)
			verdict(no_message(b, sizeof(b), type % 2, V21, AT_UP, DOWN),
				"llc: the unknown type %02x", type);
	}
	b[0] = 0x3f;
	verdict(no_message(b, sizeof(b), SERVER, V21, AT_LINK, DECLINED),
		"llc, as server, before CONFIRM LINK: an unknown type");
	verdict(no_message(b, sizeof(b), CLIENT, V21, AT_LINK, RESET),
		"llc, as client, before CONFIRM LINK: an unknown type");
	verdict(no_message(b, sizeof(b), SERVER, V20, AT_ADD_LINK, RESET),
		"llc, as server, before ADD LINK: an unknown type");
	verdict(no_message(b, sizeof(b), CLIENT, V20, AT_ADD_LINK, RESET),
		"llc, as client, before ADD LINK: an unknown type");
	b[0] = 0x80;
	verdict(no_message(b, sizeof(b), SERVER, V21, AT_LINK, FINE),
		"llc, as server, before CONFIRM LINK: a type that may be discarded");
	verdict(no_message(b, sizeof(b), CLIENT, V21, AT_LINK, FINE),
		"llc, as client, before CONFIRM LINK: a type that may be discarded");
	b[0] = 0x07;
	verdict(no_message(b, sizeof(b), SERVER, V21, AT_UP, DOWN),
		"llc: a message of version 1 in a group of version 2");
	b[0] = 0x27;
	verdict(no_message(b, sizeof(b), SERVER, V1, AT_UP, DOWN),
		"llc: a message of version 2 in a group of version 1");
}

/* ---- many messages ---- */

static void many_rkeys(enum role role)
{
	struct conn *c = conn_begin(role, V21, AT_UP, NULL);
	unsigned int refused = 0;
	bool ok = true;

	for (unsigned int i = 0; ok && i < 260; i++) {
		struct smc_llc_msg m = { 0 }, got;

		confirm_rkey(c->l, &m);
		m.confirm_rkey.rkey = 0x70000000 + i;
		llc_put(c->l, &m);
		ok = llc_expect(c->l, SMC_LLC_CONFIRM_RKEY, true, &got);
		refused += got.negative;
	}
	/* The handshake has already announced one of the 255. */
	ok = ok && (refused == 260 - 254 || BAD("%u of 260 RMBs refused", refused)) && conn_echo(c);
	conn_end(c);
	verdict(ok, "llc, %s: CONFIRM RKEY of 260 RMBs", role_name[role]);
}

/*
 * Faster than the victim can process: either it answers and the connection continues, or it takes
 * the link down and the application gets an error.
 */
static void flood(maker *make, const char *what)
{
	struct conn *c = conn_begin(CLIENT, V21, AT_UP, NULL);
	struct smc_llc_msg m = { 0 };
	struct msg *got;
	bool ok;

	make(c->l, &m);
	for (unsigned int i = 0; i < 600; i++) {
		llc_put(c->l, &m);
		while (c->l->in_head != c->l->in_tail && (got = link_recv(c->l, 0)))
			free(got);
	}
	ok = (link_flush(c->l, WAIT_MS) && conn_echo(c)) || victim_is_told(c->s, false);
	conn_end(c);
	verdict(ok, "llc: 600 times %s in a row", what);
}

/* Seven other links: two in the first message, three in the next one, two in the last. */
static void rkey_conts(enum role role, uint8_t second, enum outcome outcome)
{
	struct conn *c = conn_begin(role, V1, AT_UP, NULL);
	struct smc_llc_msg m = { 0 }, cont = { .type = SMC_LLC_CONFIRM_RKEY_CONT };
	bool ok;

	confirm_rkey(c->l, &m);
	m.confirm_rkey.n_total = 7;
	llc_put(c->l, &m);
	ok = answers(c->l, &m, false);
	cont.confirm_rkey_cont.n_left = second;
	llc_put(c->l, &cont);
	if (outcome == ANSWER) {
		ok = ok && answers(c->l, &cont, false);
		cont.confirm_rkey_cont.n_left = 2;
		llc_put(c->l, &cont);
	}
	ok = ok && follows(c, AT_UP, outcome, &cont);
	conn_end(c);
	verdict(ok, "llc, v1, %s: CONFIRM RKEY of 8 links, %s", role_name[role],
		outcome == ANSWER ? "in three messages" : "one missing in the second message");
}

static void delete_in_use(enum role role)
{
	struct conn *c = conn_begin(role, V21, AT_UP, NULL);
	struct smc_llc_msg m = { 0 };
	bool ok = conn_echo(c);

	delete_rkeys(&m, 1);
	smc_llc_set_rkey(&rkeys[0], c->l->rmb_mr->rkey);
	llc_put(c->l, &m);
	ok = ok && answers(c->l, &m, false) && victim_is_told(c->s, true);
	conn_end(c);
	verdict(ok, "llc, %s: DELETE RKEY of an RMB in use", role_name[role]);
}

void cases_llc(void)
{
	run_said();
	TRY(reply_to_add_link(add_link_yes, "a positive ADD LINK reply", false), "");
	TRY(reply_to_add_link(add_link_no_0, "a negative ADD LINK reply, reason 0", true), "");
	TRY(reply_to_add_link(add_link_no_15, "a negative ADD LINK reply, reason 15", true), "");
	TRY(bad_mtu(SERVER, AT_ADD_LINK, 0), "");
	TRY(bad_mtu(SERVER, AT_ADD_LINK, 6), "");
	TRY(bad_mtu(SERVER, AT_UP, 15), "");
	TRY(run_counts(), "");
	for (enum role r = CLIENT; r <= SERVER; r++) {
		TRY(many_rkeys(r), "");
		TRY(delete_in_use(r), "");
		TRY(rkey_conts(r, 5, ANSWER), "");
		TRY(rkey_conts(r, 4, DOWN), "");
	}
	TRY(run_lengths(), "");
	TRY(run_types(), "");
	TRY(flood(test_link, "TEST LINK"), "");
	TRY(flood(confirm_rkey, "CONFIRM RKEY"), "");
	TRY(flood(delete_rkey_unknown, "DELETE RKEY"), "");
}
