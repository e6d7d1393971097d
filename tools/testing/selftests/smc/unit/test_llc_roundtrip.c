// SPDX-License-Identifier: GPL-2.0
/*
 * Random legal content of LLC messages has an encoding, which decodes to the
 * same content. Illegal content has none. SEED=number in the environment
 * repeats a run; without it the seed is fixed.
 */
#include <stdlib.h>

#include "clc.h"
#include "llc_codec.h"
#include "tap.h"

#define ROUNDS	20000

static u64 state;
static struct smc_llc_w_rtoken rtokens[SMC_LLC_MAX_RTOKENS];
static struct smc_llc_w_rkey rkeys[SMC_LLC_MAX_RKEYS];

static u64 rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* 0 to n - 1 */
static unsigned int below(unsigned int n)
{
	return (rnd() >> 11) % n;
}

static bool coin(void)
{
	return below(2);
}

static void bytes(void *p, size_t len)
{
	u8 *b = p;

	while (len--)
		*b++ = rnd() >> 24;
}

#define BYTES(field) bytes(field, sizeof(field))

static unsigned int min(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static void random_add_link(struct smc_llc_msg *m)
{
	struct smc_llc_add_link *a = &m->add_link;
	struct smc_llc_rtoken r;
	unsigned int i;

	BYTES(a->mac);
	BYTES(a->gid);
	a->qpn = below(1 << 24);
	a->psn = below(1 << 24);
	a->link = rnd();
	a->mtu = 1 + below(5);
	if (m->negative) {
		a->mtu = below(16);
		a->reason = below(16);
		return;
	}
	if (!m->v2)
		return;
	a->direct = coin();
	if (!m->reply)
		BYTES(a->client_gid);
	a->n_rtokens = coin() ? below(256) : below(3);
	for (i = 0; i < a->n_rtokens; i++) {
		r = (struct smc_llc_rtoken){ rnd(), rnd(), rnd() };
		smc_llc_set_rtoken(&rtokens[i], &r);
	}
	if (a->n_rtokens)
		a->rtokens = rtokens;
}

static void random_others(struct smc_llc_link_rtoken *others, unsigned int n)
{
	while (n--)
		*others++ = (struct smc_llc_link_rtoken){ rnd(), rnd(), rnd() };
}

static void random_confirm_rkey(struct smc_llc_msg *m)
{
	struct smc_llc_confirm_rkey *c = &m->confirm_rkey;

	c->retry = m->negative && coin();
	c->rkey = rnd();
	c->addr = rnd();
	c->n_total = below(m->v2 ? 3 : 8);
	c->n_others = min(c->n_total, 2);
	random_others(c->others, c->n_others);
}

static void random_delete_rkey(struct smc_llc_msg *m)
{
	struct smc_llc_delete_rkey *d = &m->delete_rkey;
	unsigned int i;

	d->count = m->v2 ? below(256) : below(9);
	d->n_rkeys = d->count;
	if (m->v2 && m->reply) {
		d->n_failed = m->negative ? below(256) : 0;
		d->n_rkeys = min(d->n_failed, 8);
	} else if (m->negative) {
		d->error_mask = rnd();
	}
	for (i = 0; i < d->n_rkeys; i++)
		smc_llc_set_rkey(&rkeys[i], rnd());
	if (d->n_rkeys)
		d->rkeys = rkeys;
}

static void random_small(struct smc_llc_msg *m)
{
	struct smc_llc_confirm_link *c = &m->confirm_link;
	unsigned int i;

	switch (m->type) {
	case SMC_LLC_CONFIRM_LINK:
		BYTES(c->mac);
		BYTES(c->gid);
		c->qpn = below(1 << 24);
		c->link = rnd();
		c->link_uid = rnd();
		c->max_links = rnd();
		if (m->v2) {
			c->max_conns = rnd();
			c->cache_size = below(16);
		}
		break;
	case SMC_LLC_ADD_LINK_CONT:
		m->add_link_cont.link = rnd();
		m->add_link_cont.n_left = coin() ? below(4) : rnd();
		m->add_link_cont.n_rtokens = min(m->add_link_cont.n_left, 2);
		for (i = 0; i < m->add_link_cont.n_rtokens; i++)
			m->add_link_cont.rtokens[i] =
				(struct smc_llc_rtoken){ rnd(), rnd(), rnd() };
		break;
	case SMC_LLC_DELETE_LINK:
		m->delete_link.all = coin();
		m->delete_link.orderly = coin();
		m->delete_link.link = m->delete_link.all ? 0 : rnd();
		m->delete_link.reason = rnd();
		break;
	case SMC_LLC_REQ_ADD_LINK:
		if (m->negative)
			m->req_add_link.reason = below(16);
		if (m->reply)
			break;
		m->req_add_link.n_gids = 1 + below(8);
		bytes(m->req_add_link.gids, 16 * m->req_add_link.n_gids);
		break;
	case SMC_LLC_CONFIRM_RKEY_CONT:
		m->confirm_rkey_cont.n_left = below(8);
		m->confirm_rkey_cont.n_others =
			min(m->confirm_rkey_cont.n_left, 3);
		random_others(m->confirm_rkey_cont.others,
			      m->confirm_rkey_cont.n_others);
		break;
	case SMC_LLC_TEST_LINK:
		BYTES(m->test_link.data);
		break;
	}
}

static void random_msg(struct smc_llc_msg *m, u8 type, bool v2)
{
	memset(m, 0, sizeof(*m));
	m->type = type;
	m->v2 = v2;
	m->big_endian = v2 && coin();
	m->reply = coin();
	m->negative = m->reply && smc_llc_neg_flag(type) && coin();
	if (type == SMC_LLC_ADD_LINK)
		random_add_link(m);
	else if (type == SMC_LLC_CONFIRM_RKEY)
		random_confirm_rkey(m);
	else if (type == SMC_LLC_DELETE_RKEY)
		random_delete_rkey(m);
	else
		random_small(m);
}

/* The length according to the tables, in numbers */
static size_t right_len(const struct smc_llc_msg *m)
{
	if (!m->v2)
		return 44;
	if (m->type == SMC_LLC_ADD_LINK && !m->negative)
		return 72 + 16 * m->add_link.n_rtokens;
	if (m->type == SMC_LLC_REQ_ADD_LINK && !m->reply)
		return 28 + 16 * m->req_add_link.n_gids;
	if (m->type == SMC_LLC_DELETE_RKEY && !m->reply &&
	    m->delete_rkey.count > 9)
		return 8 + 4 * m->delete_rkey.count;
	return 44;
}

static void roundtrip(u8 type, bool v2)
{
	struct smc_llc_msg m, got;
	unsigned int i, longest = 0;
	size_t len;
	u8 *buf;
	int n;

	for (i = 0; i < ROUNDS; i++) {
		random_msg(&m, type, v2);
		len = right_len(&m);
		buf = malloc(len);
		n = smc_llc_encode(&m, buf, len);
		CHECK(n == (int)len, "%d, not %zu", n, len);
		if (n == (int)len) {
			CHECK(buf[0] == (v2 ? 0x20 : 0) + type, "type");
			CHECK(!smc_llc_decode(buf, len, &got), "does not decode");
			/* 257 is the same in both byte orders */
			if (buf[1] == buf[2])
				got.big_endian = m.big_endian;
			CHECK(llc_equal(&m, &got), "not the same");
			CHECK(!llc_check(buf, len, NULL), "%s",
			      llc_check(buf, len, NULL));
		}
		CHECK(smc_llc_encode(&m, buf, len - 1) == -EMSGSIZE, "size");
		free(buf);
		longest = len > longest ? len : longest;
	}
	tap_case("%s of version %u, up to %u bytes", smc_llc_type_name(type),
		 1 + v2, longest);
}

static void longest(void)
{
	static u8 buf[SMC_LLC_V2_FULL_LEN];
	struct smc_llc_msg m = { .type = SMC_LLC_ADD_LINK, .v2 = true }, got;

	memset(rtokens, 0xa5, sizeof(rtokens));
	m.add_link.mtu = 1;
	m.add_link.n_rtokens = 255;
	m.add_link.rtokens = rtokens;
	CHECK(smc_llc_encode(&m, buf, sizeof(buf)) == 4152, "Add Link");
	CHECK(buf[1] == 0x38 && buf[2] == 0x10, "length");
	CHECK(buf[70] == 0xff && buf[71] == 0, "count");
	CHECK(!smc_llc_decode(buf, 4152, &got) && llc_equal(&m, &got), "back");
	m.big_endian = true;
	CHECK(smc_llc_encode(&m, buf, sizeof(buf)) == 4152, "Add Link");
	CHECK(buf[1] == 0x10 && buf[2] == 0x38, "length");
	CHECK(buf[70] == 0 && buf[71] == 0xff, "count");
	CHECK(!smc_llc_decode(buf, 4152, &got) && llc_equal(&m, &got), "back");

	memset(&m, 0, sizeof(m));
	m.type = SMC_LLC_DELETE_RKEY;
	m.v2 = true;
	m.delete_rkey.count = 255;
	m.delete_rkey.rkeys = rkeys;
	CHECK(smc_llc_encode(&m, buf, sizeof(buf)) == 1028, "Delete RKey");
	tap_case("the longest messages");
}

#define ILLEGAL(what, ...)						\
	do {								\
		const struct smc_llc_msg m = { __VA_ARGS__ };		\
									\
		memset(buf, 0x77, sizeof(buf));				\
		CHECK(smc_llc_encode(&m, buf, sizeof(buf)) == -EINVAL,	\
		      what);						\
		CHECK(buf[0] == 0x77 && !memcmp(buf, buf + 1,		\
		      sizeof(buf) - 1), what ": written");		\
	} while (0)

static void illegal(void)
{
	static u8 buf[SMC_LLC_V2_FULL_LEN];

	ILLEGAL("type 0", .type = 0);
	ILLEGAL("type 10", .type = 10);
	ILLEGAL("Request Add Link v1", .type = SMC_LLC_REQ_ADD_LINK,
		.req_add_link.n_gids = 1);
	ILLEGAL("Add Link Cont. v2", .type = SMC_LLC_ADD_LINK_CONT, .v2 = true);
	ILLEGAL("Confirm RKey Cont. v2", .type = SMC_LLC_CONFIRM_RKEY_CONT,
		.v2 = true);
	ILLEGAL("negative request", .type = SMC_LLC_DELETE_RKEY,
		.negative = true);
	ILLEGAL("negative Test Link", .type = SMC_LLC_TEST_LINK,
		.reply = true, .negative = true);
	ILLEGAL("qpn", .type = SMC_LLC_CONFIRM_LINK,
		.confirm_link.qpn = 1 << 24);
	ILLEGAL("cache", .type = SMC_LLC_CONFIRM_LINK, .v2 = true,
		.confirm_link.cache_size = 16);
	ILLEGAL("Add Link qpn", .type = SMC_LLC_ADD_LINK,
		.add_link = { .mtu = 1, .qpn = 1 << 24 });
	ILLEGAL("Add Link psn", .type = SMC_LLC_ADD_LINK,
		.add_link = { .mtu = 1, .psn = 1 << 24 });
	ILLEGAL("mtu 0", .type = SMC_LLC_ADD_LINK);
	ILLEGAL("mtu 6", .type = SMC_LLC_ADD_LINK, .v2 = true,
		.add_link.mtu = 6);
	ILLEGAL("no RTokens", .type = SMC_LLC_ADD_LINK, .v2 = true,
		.add_link = { .mtu = 1, .n_rtokens = 1 });
	ILLEGAL("reason", .type = SMC_LLC_ADD_LINK, .reply = true,
		.negative = true, .add_link.reason = 16);
	ILLEGAL("refused mtu 16", .type = SMC_LLC_ADD_LINK, .reply = true,
		.negative = true, .add_link.mtu = 16);
	ILLEGAL("reason of Request Add Link", .type = SMC_LLC_REQ_ADD_LINK,
		.v2 = true, .reply = true, .negative = true,
		.req_add_link.reason = 16);
	ILLEGAL("no GID", .type = SMC_LLC_REQ_ADD_LINK, .v2 = true);
	ILLEGAL("9 GIDs", .type = SMC_LLC_REQ_ADD_LINK, .v2 = true,
		.req_add_link.n_gids = 9);
	ILLEGAL("3 others v2", .type = SMC_LLC_CONFIRM_RKEY, .v2 = true,
		.confirm_rkey.n_total = 3);
	ILLEGAL("8 others v1", .type = SMC_LLC_CONFIRM_RKEY,
		.confirm_rkey.n_total = 8);
	ILLEGAL("8 others left", .type = SMC_LLC_CONFIRM_RKEY_CONT,
		.confirm_rkey_cont.n_left = 8);
	ILLEGAL("9 RKeys v1", .type = SMC_LLC_DELETE_RKEY,
		.delete_rkey = { .count = 9, .rkeys = rkeys });
	ILLEGAL("no RKeys", .type = SMC_LLC_DELETE_RKEY, .v2 = true,
		.delete_rkey.count = 1);
	tap_case("messages without a legal encoding");
}

/* Are the bytes from @from to the end of a message of 44 bytes zero? */
static bool zero_from(const u8 *buf, unsigned int from)
{
	while (from < SMC_WR_MSG_LEN && !buf[from])
		from++;
	return from == SMC_WR_MSG_LEN;
}

/* A message whose unused fields contain whatever was in memory */
static struct smc_llc_msg dirty(u8 type, bool v2, bool reply)
{
	struct smc_llc_msg m;

	memset(&m, 0xff, sizeof(m));
	m.type = type;
	m.v2 = v2;
	m.reply = reply;
	m.negative = false;
	m.big_endian = false;
	return m;
}

/* Fields that do not belong to a message must not leak into it. */
static void unused(void)
{
	struct smc_llc_msg m;
	u8 buf[SMC_LLC_V2_FULL_LEN];

	m = dirty(SMC_LLC_ADD_LINK_CONT, false, false);
	m.add_link_cont.n_left = 1;
	CHECK(smc_llc_encode(&m, buf, 44) == 44 && zero_from(buf, 24), "Cont.");
	m = dirty(SMC_LLC_CONFIRM_RKEY, true, true);
	m.confirm_rkey.retry = true;
	m.confirm_rkey.n_total = 1;
	CHECK(smc_llc_encode(&m, buf, 44) == 44 && zero_from(buf, 30) &&
	      buf[3] == 0x80, "Confirm RKey");
	m = dirty(SMC_LLC_CONFIRM_RKEY_CONT, false, false);
	m.confirm_rkey_cont.n_left = 1;
	CHECK(smc_llc_encode(&m, buf, 44) == 44 && zero_from(buf, 18),
	      "Confirm RKey Cont.");
	m = dirty(SMC_LLC_CONFIRM_LINK, false, false);
	m.confirm_link.qpn = 1;
	m.confirm_link.cache_size = 0;
	CHECK(smc_llc_encode(&m, buf, 44) == 44 && zero_from(buf, 35) &&
	      !buf[3], "Confirm Link");
	m = dirty(SMC_LLC_ADD_LINK, false, true);
	m.add_link.qpn = 1;
	m.add_link.psn = 1;
	m.add_link.mtu = 1;
	m.add_link.direct = true;
	CHECK(smc_llc_encode(&m, buf, 44) == 44 && zero_from(buf, 34) &&
	      !buf[2] && buf[3] == 0x80, "Add Link v1");
	m.v2 = true;
	m.add_link.n_rtokens = 0;
	CHECK(smc_llc_encode(&m, buf, 72) == 72 && zero_from(buf, 36) &&
	      buf[3] == 0x80 && buf[44] == 0x80, "Add Link v2");
	memset(buf, 0, 44);
	CHECK(!memcmp(buf, buf + 45, 27), "Add Link v2, second half");
	m = dirty(SMC_LLC_DELETE_LINK, true, false);
	m.delete_link.all = true;
	m.delete_link.orderly = false;
	m.delete_link.reason = 0;
	CHECK(smc_llc_encode(&m, buf, 44) == 44 && zero_from(buf, 4),
	      "Delete Link");
	m = dirty(SMC_LLC_DELETE_RKEY, true, true);
	CHECK(smc_llc_encode(&m, buf, 44) == 44 && zero_from(buf, 5),
	      "Delete RKey");
	m = dirty(SMC_LLC_DELETE_RKEY, true, true);
	m.negative = true;
	m.delete_rkey.n_failed = 7;
	m.delete_rkey.rkeys = rkeys;
	memset(rkeys, 0xff, sizeof(rkeys));
	CHECK(smc_llc_encode(&m, buf, 44) == 44 && buf[35] == 0xff &&
	      zero_from(buf, 36), "Delete RKey, seven failed");
	tap_case("unused fields do not leak");
}

static void names(void)
{
	CHECK(!strcmp(smc_llc_type_name(SMC_LLC_CONFIRM_LINK), "CONFIRM LINK"),
	      "name");
	CHECK(!strcmp(smc_llc_type_name(SMC_LLC_DELETE_RKEY), "DELETE RKEY"),
	      "name");
	CHECK(!strcmp(smc_llc_type_name(0), "unknown"), "0");
	CHECK(!strcmp(smc_llc_type_name(10), "unknown"), "10");
	CHECK(!strcmp(smc_llc_type_name(255), "unknown"), "255");
	tap_case("names of LLC messages");
}

int main(void)
{
	const char *seed = getenv("SEED");
	u8 type;

	state = seed ? strtoull(seed, NULL, 0) : 0x5eed0badcafe;
	if (!state)
		state = 1;
	printf("# SEED=%llu\n", (unsigned long long)state);
	for (type = 1; type <= SMC_LLC_TYPE_MAX; type++) {
		if (smc_llc_type_known(type, false))
			roundtrip(type, false);
		if (smc_llc_type_known(type, true))
			roundtrip(type, true);
	}
	longest();
	illegal();
	unused();
	names();
	return tap_done();
}
