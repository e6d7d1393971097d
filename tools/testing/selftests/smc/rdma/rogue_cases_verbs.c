// SPDX-License-Identifier: GPL-2.0
/*
 * Every kind of work request that a queue pair can post, in every state of a link.
 *
 * A message of LLC or CDC is a send.  Writes, with or without immediate data, are allowed inside
 * the RMB.  Anything else is an error of the protocol, or one that the victim's device notices; in
 * either case the link goes down, and nothing else happens.
 *
 * Soft-RoCE supports all these kinds.  Memory windows and the extended atomics are left out: they
 * act on the sender's side, or need a device that has them.
 */
#include <stdio.h>
#include <string.h>

#include "rogue.h"

/* Where the request points in the victim's memory. */
enum where { INSIDE, OUTSIDE, NOWHERE };

static const char * const where_name[] = { " inside of the RMB", " behind the RMB", "" };

/**
 * struct kind - a work request
 * @fatal:	it takes the link down
 * @len:	bytes
 */
struct kind {
	const char *what;
	enum ibv_wr_opcode opcode;
	enum where where;
	bool fatal;
	size_t len;
};

#define WRITE_IMM(len)	{ "a write of " #len " bytes with immediate data",		\
			  IBV_WR_RDMA_WRITE_WITH_IMM, INSIDE, false, len }

static const struct kind kinds[] = {
	{ "a send", IBV_WR_SEND, NOWHERE, false, MSG_LEN },
	{ "a send with immediate data", IBV_WR_SEND_WITH_IMM, NOWHERE, false, MSG_LEN },
	{ "a write", IBV_WR_RDMA_WRITE, INSIDE, false, 100 },
	WRITE_IMM(0), WRITE_IMM(1), WRITE_IMM(44), WRITE_IMM(64), WRITE_IMM(65), WRITE_IMM(100),
	WRITE_IMM(8192), WRITE_IMM(8193), WRITE_IMM(12000),
	/* Without data no key is needed. */
	{ "a write of 0 bytes with immediate data", IBV_WR_RDMA_WRITE_WITH_IMM, OUTSIDE, false, 0 },

	{ "a send with invalidate", IBV_WR_SEND_WITH_INV, INSIDE, true, MSG_LEN },
	{ "a send with invalidate", IBV_WR_SEND_WITH_INV, OUTSIDE, true, MSG_LEN },
	{ "a write", IBV_WR_RDMA_WRITE, OUTSIDE, true, 100 },
	{ "a write of 1 byte with immediate data", IBV_WR_RDMA_WRITE_WITH_IMM, OUTSIDE, true, 1 },
	{ "a write of 8193 bytes with immediate data",
	  IBV_WR_RDMA_WRITE_WITH_IMM, OUTSIDE, true, 8193 },
	{ "a read", IBV_WR_RDMA_READ, INSIDE, true, 100 },
	{ "a read", IBV_WR_RDMA_READ, OUTSIDE, true, 100 },
	{ "a compare and swap", IBV_WR_ATOMIC_CMP_AND_SWP, INSIDE, true, 8 },
	{ "a compare and swap", IBV_WR_ATOMIC_CMP_AND_SWP, OUTSIDE, true, 8 },
	{ "a fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD, INSIDE, true, 8 },
	{ "a fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD, OUTSIDE, true, 8 },
};

#define N_KINDS		(sizeof(kinds) / sizeof(kinds[0]))

/* One RMB has at most this many elements. */
#define MAX_ELEMS	32

/* Sends carry a TEST LINK, whose answer shows that the victim has processed it. */
static void post_kind(struct link *l, const struct conn *c, uint32_t rkey, uint64_t element,
		      const struct kind *k)
{
	struct smc_llc_msg m = { .type = SMC_LLC_TEST_LINK, .test_link.data = "kinds of request" };
	static uint8_t b[16384];
	uint64_t addr = element + c->peer_size - k->len;

	memset(b, 0, sizeof(b));
	if (k->where == NOWHERE || k->opcode == IBV_WR_SEND_WITH_INV)
		llc_bytes(l, &m, b);
	if (k->where == OUTSIDE && k->opcode == IBV_WR_SEND_WITH_INV)
		rkey ^= 0x100;
	else if (k->where == OUTSIDE)
		addr = element + MAX_ELEMS * c->peer_size;
	link_request(l, k->opcode, b, k->len, addr, rkey);
}

static bool accepted(struct link *l, const struct kind *k)
{
	struct smc_llc_msg m;

	if (k->where != NOWHERE)
		return link_flush(l, WAIT_MS) || BAD("%s fails: %s", k->what, link_state(l));
	return (l->group ? group_expect(l, SMC_LLC_TEST_LINK, true, &m) == l :
			   llc_expect(l, SMC_LLC_TEST_LINK, true, &m)) ||
	       BAD("%s has no effect", k->what);
}

static bool all_accepted(struct link *l, const struct conn *c, uint32_t rkey, uint64_t element)
{
	bool ok = true;

	for (size_t i = 0; ok && i < N_KINDS; i++) {
		if (kinds[i].fatal)
			continue;
		post_kind(l, c, rkey, element, &kinds[i]);
		ok = accepted(l, &kinds[i]);
	}
	return ok;
}

/* ---- a link and its connection ---- */

enum state {
	UNCONFIRMED,	/* CONFIRM LINK, or its reply, is expected */
	UNFINISHED,	/* ADD LINK, or its reply, is expected */
	IN_USE,
	UNUSED,		/* the only connection has ended */
};

static const char * const state_name[] = {
	"before CONFIRM LINK", "before ADD LINK", "with a connection", "without a connection",
};

static const enum stage stage_of[] = { AT_LINK, AT_ADD_LINK, AT_UP, AT_UP };

static const enum flavour flavour_of[][2] = {
	{ V21, V1 }, { V20, V1 }, { V21, V1 }, { V21, V1 },
};

static struct conn *begin(enum role role, enum flavour flavour, enum state state)
{
	struct conn *c = conn_begin(role, flavour, stage_of[state], NULL);

	/* Until the victim knows that the connection is up, it may decline instead. */
	if (state >= IN_USE && !conn_echo(c))
		give_up("%s", why);
	if (state != UNUSED)
		return c;
	conn_say(c, SMC_CDC_SEND_DONE | SMC_CDC_CLOSED);
	conn_close(c);
	if (!conn_flags(c, SMC_CDC_CLOSED | SMC_CDC_ABORT))
		give_up("%s", why);
	return c;
}

static bool is_down(const struct conn *c, enum role role, enum state state, uint64_t qps)
{
	/*
	 * It is too late for a Decline once our device has acknowledged the victim's CONFIRM LINK
	 * or its reply. The victim may notice the fault first.
	 */
	switch (state) {
	case UNCONFIRMED:
		return judge(c->s, role == SERVER ? GOT_DECLINE : GOT_RESET | GOT_DECLINE, false,
			     NULL);
	case UNFINISHED:
		return judge(c->s, GOT_RESET | GOT_DECLINE, false, NULL);
	case IN_USE:
		return victim_is_told(c->s, true);
	case UNUSED:
		break;
	}
	return census_qps(qps);
}

static bool goes_on(struct conn *c, enum state state)
{
	struct conn *more;
	bool ok;

	if (state != UNUSED)
		return conn_goes_on(c, stage_of[state]);
	more = conn_more(c, AT_UP, NULL);
	ok = conn_echo(more);
	conn_end(more);
	return ok;
}

static void harmless(enum role role, enum flavour flavour, enum state state)
{
	struct conn *c = begin(role, flavour, state);
	bool ok = all_accepted(c->l, c, c->peer.rkey, c->peer_addr) && goes_on(c, state);

	conn_end(c);
	verdict(ok, "verbs, %s, v%d, %s: all that is allowed", role_name[role],
		flavour == V1 ? 1 : 2, state_name[state]);
}

static void fatal(enum role role, enum flavour flavour, enum state state, const struct kind *k)
{
	struct census before;
	struct conn *c;
	bool ok;

	census_take(&before);
	c = begin(role, flavour, state);
	post_kind(c->l, c, c->peer.rkey, c->peer_addr, k);
	ok = is_down(c, role, state, before.qp);
	conn_end(c);
	verdict(ok, "verbs, %s, v%d, %s: %s%s", role_name[role], flavour == V1 ? 1 : 2,
		state_name[state], k->what, where_name[k->where]);
}

static void all_kinds(enum role role, enum flavour flavour, enum state state)
{
	TRY(harmless(role, flavour, state), state_name[state]);
	for (size_t i = 0; i < N_KINDS; i++)
		if (kinds[i].fatal)
			TRY(fatal(role, flavour, state, &kinds[i]), kinds[i].what);
}

/* More than there are receive buffers: each takes one, which must be posted again. */
static void many(enum role role, enum flavour flavour)
{
	static const struct kind k = WRITE_IMM(65);
	struct conn *c = conn_begin(role, flavour, AT_UP, NULL);
	bool ok;

	for (int i = 0; i < 2000; i++)
		post_kind(c->l, c, c->peer.rkey, c->peer_addr, &k);
	ok = link_flush(c->l, WAIT_MS) && conn_echo(c);
	conn_end(c);
	verdict(ok, "verbs, %s, v%d: 2000 writes with immediate data in a row", role_name[role],
		flavour == V1 ? 1 : 2);
}

void cases_verbs(void)
{
	for (enum role r = CLIENT; r <= SERVER; r++)
		for (int v = 0; v < 2; v++) {
			for (enum state s = UNCONFIRMED; s <= UNUSED; s++)
				all_kinds(r, flavour_of[s][v], s);
			TRY(many(r, flavour_of[IN_USE][v]), "");
		}
}

/* ---- a second link is being added ---- */

/* Both ends of the new link are connected, and CONFIRM LINK is expected over it. */
static struct duo half(enum role role)
{
	struct smc_llc_msg m;
	struct duo d;

	if (!half_way(&d, conn_one_link(role), true))
		give_up("%s", why);
	if (role == CLIENT && group_expect(d.first, SMC_LLC_CONFIRM_LINK, false, &m) != d.second)
		give_up("CONFIRM LINK: %s", why);
	return d;
}

static void second_allowed(enum role role, bool over_new)
{
	struct duo d = half(role);
	struct link *l = over_new ? d.second : d.first;
	const struct their_rmb *rmb = link_rmb(l, d.c->name);
	uint64_t element = d.c->peer_addr - d.c->peer.rmb_addr + rmb->addr;
	struct smc_llc_msg m;
	bool ok = all_accepted(l, d.c, rmb->rkey, element);

	llc_confirm_link(d.second, &m, role == CLIENT);
	llc_put(d.second, &m);
	if (role == SERVER)
		ok = ok && group_expect(d.first, SMC_LLC_CONFIRM_LINK, true, &m) == d.second;
	ok = ok && group_settled(d.second) && both_work(d);
	conn_end(d.c);
	verdict(ok, "verbs, %s, the %s link while a second one is added: all that is allowed",
		role_name[role], over_new ? "new" : "first");
}

/* The new link is given up; without the first one, the group ends. */
static void second_fatal(enum role role, bool over_new, const struct kind *k)
{
	struct duo d = half(role);
	struct link *l = over_new ? d.second : d.first;
	const struct their_rmb *rmb = link_rmb(l, d.c->name);
	uint64_t element = d.c->peer_addr - d.c->peer.rmb_addr + rmb->addr;
	bool ok;

	post_kind(l, d.c, rmb->rkey, element, k);
	if (over_new)
		ok = group_deletes(d.first, d.second->number) && conn_echo(d.c);
	else
		ok = victim_is_told(d.c->s, true);
	conn_end(d.c);
	verdict(ok, "verbs, %s, the %s link while a second one is added: %s%s", role_name[role],
		over_new ? "new" : "first", k->what, where_name[k->where]);
}

void cases_verbs2(void)
{
	for (enum role r = CLIENT; r <= SERVER; r++)
		for (int over_new = 0; over_new < 2; over_new++) {
			TRY(second_allowed(r, over_new), "");
			for (size_t i = 0; i < N_KINDS; i++)
				if (kinds[i].fatal)
					TRY(second_fatal(r, over_new, &kinds[i]), kinds[i].what);
		}
}
