// SPDX-License-Identifier: GPL-2.0
/*
 * The content of golden LLC messages, field by field; our encoder must write
 * the same bytes.
 */
#include "golden_llc.h"
#include "golden_llc_capture.h"
#include "golden_llc_spec.h"
#include "llc_codec.h"
#include "tap.h"

/* 10.0.@c.@d as an IPv4-mapped GID */
#define V4GID(c, d) { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, c, d }
#define DOCGID(d) { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, d }
#define LLGID(a, b, c) \
	{ 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, a, b, c }
#define MAC(a, b, c) { 0x02, 0, 0, a, b, c }

/* The array outside of the message has already been compared. */
static bool same(const struct smc_llc_msg *m, const struct smc_llc_msg *want)
{
	struct smc_llc_msg w;

	memcpy(&w, want, sizeof(w));
	if (w.type == SMC_LLC_DELETE_RKEY)
		w.delete_rkey.n_rkeys = 0;
	if (w.type == SMC_LLC_ADD_LINK)
		w.add_link.n_rtokens = 0;
	return !memcmp(m, &w, sizeof(w));
}

static void expect(const u8 *buf, size_t len, const struct smc_llc_msg *want)
{
	struct smc_llc_msg m;
	int rc;

	memset(&m, 0x5a, sizeof(m));
	rc = smc_llc_decode(buf, len, &m);
	CHECK(!rc, "%d", rc);
	CHECK(m.type == want->type, "type %d", m.type);
	CHECK(m.v2 == want->v2, "version");
	CHECK(m.reply == want->reply && m.negative == want->negative, "flags");
	/* In the tables, RKeys begin at byte 8 and RTokens at byte 72. */
	if (want->type == SMC_LLC_DELETE_RKEY) {
		CHECK(m.delete_rkey.rkeys == (want->delete_rkey.n_rkeys ?
		      (const void *)(buf + 8) : NULL), "RKeys elsewhere");
		m.delete_rkey.rkeys = NULL;
		m.delete_rkey.n_rkeys -= want->delete_rkey.n_rkeys;
	} else if (want->type == SMC_LLC_ADD_LINK) {
		CHECK(m.add_link.rtokens == (want->add_link.n_rtokens ?
		      (const void *)(buf + 72) : NULL), "RTokens elsewhere");
		m.add_link.rtokens = NULL;
		m.add_link.n_rtokens -= want->add_link.n_rtokens;
	}
	CHECK(same(&m, want), "a field differs");
}

/* Static, so the padding is zero and the comparison is valid. */
#define DECODE(bytes, ...)						\
	do {								\
		static const struct smc_llc_msg want = { __VA_ARGS__ };	\
									\
		expect(bytes, sizeof(bytes), &want);			\
		tap_case("decode " #bytes);				\
	} while (0)

static void confirm_link(void)
{
	DECODE(cap_llc_confirm_link, .type = SMC_LLC_CONFIRM_LINK, .v2 = true,
	       .confirm_link = { .mac = { 0x52, 0x54, 0, 0, 0, 1 },
				 .gid = V4GID(0, 1), .qpn = 0x11, .link = 1,
				 .link_uid = 0x101, .max_links = 2,
				 .max_conns = 255, .cache_size = 3 });
	DECODE(cap_llc_confirm_link_reply, .type = SMC_LLC_CONFIRM_LINK,
	       .v2 = true, .reply = true,
	       .confirm_link = { .mac = { 0x52, 0x54, 0, 0, 0, 2 },
				 .gid = V4GID(0, 2), .qpn = 0x11, .link = 1,
				 .link_uid = 0x101, .max_links = 2,
				 .max_conns = 255, .cache_size = 3 });
	DECODE(spec_llc_v1_confirm_link, .type = SMC_LLC_CONFIRM_LINK,
	       .confirm_link = { .mac = MAC(0x11, 0x22, 0x33),
				 .gid = LLGID(0x11, 0x22, 0x33),
				 .qpn = 0x123456, .link = 7,
				 .link_uid = 0xa1b2c3d4, .max_links = 8 });
	DECODE(spec_llc_v2_confirm_link, .type = SMC_LLC_CONFIRM_LINK,
	       .v2 = true, .reply = true, .big_endian = true,
	       .confirm_link = { .mac = MAC(0x11, 0x22, 0x33),
				 .gid = DOCGID(1), .qpn = 0x123456, .link = 1,
				 .link_uid = 0xa1b2c3d4, .max_links = 1,
				 .max_conns = 16, .cache_size = 10 });
}

static void add_link(void)
{
	DECODE(cap_llc_add_link, .type = SMC_LLC_ADD_LINK, .v2 = true,
	       .add_link = { .mac = { 0x52, 0x54, 0, 0, 0, 1 },
			     .gid = V4GID(0, 1), .qpn = 0x12, .link = 2,
			     .mtu = 3, .psn = 0x303f18, .direct = true,
			     .client_gid = V4GID(0, 1), .n_rtokens = 1 });
	DECODE(cap_llc_add_link_reject, .type = SMC_LLC_ADD_LINK, .v2 = true,
	       .reply = true, .negative = true,
	       .add_link = { .mac = { 0x52, 0x54, 0, 0, 0, 1 },
			     .gid = V4GID(0, 1), .qpn = 0x12, .link = 2,
			     .mtu = 3, .psn = 0x303f18 });
	DECODE(cap_llc_add_link_reply, .type = SMC_LLC_ADD_LINK, .v2 = true,
	       .reply = true,
	       .add_link = { .mac = { 0x52, 0x54, 0, 0x12, 0x34, 0x12 },
			     .gid = V4GID(1, 2), .qpn = 0x11, .link = 2,
			     .mtu = 3, .psn = 0xa3c7d2, .direct = true,
			     .n_rtokens = 1 });
	DECODE(spec_llc_v1_add_link, .type = SMC_LLC_ADD_LINK,
	       .add_link = { .mac = MAC(0x44, 0x55, 0x66),
			     .gid = LLGID(0x44, 0x55, 0x66), .qpn = 0x654321,
			     .link = 2, .mtu = 5, .psn = 0xabcdef });
	DECODE(spec_llc_v1_add_link_reject, .type = SMC_LLC_ADD_LINK,
	       .reply = true, .negative = true,
	       .add_link = { .mac = MAC(0x44, 0x55, 0x66),
			     .gid = LLGID(0x44, 0x55, 0x66), .qpn = 0x654321,
			     .link = 2, .psn = 0xabcdef,
			     .reason = SMC_LLC_REJ_NO_ALT_PATH });
	DECODE(spec_llc_v2_add_link_reply, .type = SMC_LLC_ADD_LINK, .v2 = true,
	       .reply = true, .big_endian = true,
	       .add_link = { .mac = MAC(0x44, 0x55, 0x66),
			     .gid = { 0x20, 0x01, 0x0d, 0xb8, [15] = 2 },
			     .qpn = 0x654321, .link = 2, .mtu = 3,
			     .psn = 0xabcdef, .direct = true, .n_rtokens = 2 });
}

/* 20 RTokens, more than 255 bytes: the captured message with all its entries */
static void add_link_large(void)
{
	const u8 *entry = cap_llc_add_link_20 + 72;
	struct smc_llc_rtoken r;
	struct smc_llc_msg m;

	CHECK(!smc_llc_decode(cap_llc_add_link_20, sizeof(cap_llc_add_link_20),
			      &m), "does not decode");
	CHECK(m.add_link.n_rtokens == 20, "%u", m.add_link.n_rtokens);
	CHECK(m.add_link.rtokens == (const void *)entry, "not decoded in place");
	CHECK(m.add_link.link == 4 && m.add_link.psn == 0xc83f07, "base");
	r = smc_llc_get_rtoken(&m.add_link.rtokens[0]);
	CHECK(r.ref_rkey == 0x1612 && r.rkey == 0x2db7 &&
	      r.addr == 0xff42c24686720000, "first RToken");
	r = smc_llc_get_rtoken(&m.add_link.rtokens[19]);
	CHECK(r.ref_rkey == 0x037c && r.rkey == 0x400a &&
	      r.addr == 0xff42c24685280000, "last RToken");
	tap_case("decode cap_llc_add_link_20");

	DECODE(spec_llc_v1_add_link_cont, .type = SMC_LLC_ADD_LINK_CONT,
	       .add_link_cont = { .link = 2, .n_left = 3, .n_rtokens = 2,
		       .rtokens = {
			       { 0x11121314, 0x21222324, 0x3132333435363738 },
			       { 0x41424344, 0x51525354, 0x6162636465666768 },
		       } });
	DECODE(spec_llc_v1_add_link_cont_empty, .type = SMC_LLC_ADD_LINK_CONT,
	       .reply = true, .add_link_cont.link = 2);
	DECODE(cap_llc_req_add_link, .type = SMC_LLC_REQ_ADD_LINK, .v2 = true,
	       .req_add_link = { .n_gids = 2,
				 .gids = { V4GID(1, 2), V4GID(0, 2) } });
	DECODE(spec_llc_v2_req_add_link, .type = SMC_LLC_REQ_ADD_LINK,
	       .v2 = true, .req_add_link = { .n_gids = 2,
				 .gids = { DOCGID(1), DOCGID(9) } });
	DECODE(spec_llc_v2_req_add_link_reply, .type = SMC_LLC_REQ_ADD_LINK,
	       .v2 = true, .reply = true);
}

static void delete_link(void)
{
	DECODE(cap_llc_delete_link, .type = SMC_LLC_DELETE_LINK, .v2 = true,
	       .delete_link = { .all = true,
				.reason = SMC_LLC_DEL_OPERATOR });
	DECODE(cap_llc_delete_link_server, .type = SMC_LLC_DELETE_LINK,
	       .v2 = true, .delete_link = { .all = true, .orderly = true,
				.reason = SMC_LLC_DEL_OPERATOR });
	DECODE(cap_llc_delete_link_1, .type = SMC_LLC_DELETE_LINK, .v2 = true,
	       .delete_link = { .orderly = true, .link = 1,
				.reason = SMC_LLC_DEL_LOST_PATH });
	DECODE(cap_llc_delete_link_unknown, .type = SMC_LLC_DELETE_LINK,
	       .v2 = true, .reply = true,
	       .delete_link = { .orderly = true, .link = 1,
				.reason = SMC_LLC_DEL_NO_LINK });
	DECODE(spec_llc_v1_delete_link, .type = SMC_LLC_DELETE_LINK,
	       .delete_link = { .orderly = true, .link = 3,
				.reason = SMC_LLC_DEL_ASYMMETRIC });
	DECODE(spec_llc_v1_delete_link_reply, .type = SMC_LLC_DELETE_LINK,
	       .reply = true, .delete_link = { .link = 9,
				.reason = SMC_LLC_DEL_NO_LINK });
}

static void confirm_rkey(void)
{
	DECODE(cap_llc_confirm_rkey, .type = SMC_LLC_CONFIRM_RKEY, .v2 = true,
	       .confirm_rkey = { .rkey = 0x38e, .addr = 0xff11000007070000 });
	DECODE(cap_llc_confirm_rkey_reply, .type = SMC_LLC_CONFIRM_RKEY,
	       .v2 = true, .reply = true,
	       .confirm_rkey = { .rkey = 0x38e, .addr = 0xff11000007070000 });
	DECODE(cap_llc_confirm_rkey_2, .type = SMC_LLC_CONFIRM_RKEY, .v2 = true,
	       .confirm_rkey = { .rkey = 0x432, .addr = 0xff42c24686470000,
		       .n_total = 1, .n_others = 1,
		       .others = { { 1, 0x49a, 0xff42c24686470000 } } });
	DECODE(spec_llc_v2_confirm_rkey, .type = SMC_LLC_CONFIRM_RKEY,
	       .v2 = true,
	       .confirm_rkey = { .rkey = 0x11121314, .addr = 0x2122232425262728,
		       .n_total = 1, .n_others = 1,
		       .others = { { 2, 0x31323334, 0x4142434445464748 } } });
	DECODE(spec_llc_v1_confirm_rkey, .type = SMC_LLC_CONFIRM_RKEY,
	       .confirm_rkey = { .rkey = 0x11121314, .addr = 0x2122232425262728,
		       .n_total = 4, .n_others = 2,
		       .others = { { 2, 0x31323334, 0x4142434445464748 },
				   { 3, 0x51525354, 0x6162636465666768 } } });
	DECODE(spec_llc_v1_confirm_rkey_retry, .type = SMC_LLC_CONFIRM_RKEY,
	       .reply = true, .negative = true,
	       .confirm_rkey = { .retry = true, .rkey = 0x11121314,
				 .addr = 0x2122232425262728 });
	DECODE(spec_llc_v1_confirm_rkey_cont, .type = SMC_LLC_CONFIRM_RKEY_CONT,
	       .confirm_rkey_cont = { .n_left = 2, .n_others = 2,
		       .others = { { 4, 0x71727374, 0x8182838485868788 },
				   { 5, 0x91929394, 0xa1a2a3a4a5a6a7a8 } } });
}

static void delete_rkey(void)
{
	DECODE(cap_llc_delete_rkey, .type = SMC_LLC_DELETE_RKEY, .v2 = true,
	       .delete_rkey = { .count = 1, .n_rkeys = 1 });
	DECODE(cap_llc_delete_rkey_reply, .type = SMC_LLC_DELETE_RKEY,
	       .v2 = true, .reply = true, .delete_rkey.count = 1);
	DECODE(spec_llc_v1_delete_rkey, .type = SMC_LLC_DELETE_RKEY,
	       .delete_rkey = { .count = 8, .n_rkeys = 8 });
	DECODE(spec_llc_v1_delete_rkey_reply, .type = SMC_LLC_DELETE_RKEY,
	       .reply = true, .negative = true,
	       .delete_rkey = { .count = 4, .error_mask = 0x50, .n_rkeys = 4 });
	DECODE(spec_llc_v2_delete_rkey, .type = SMC_LLC_DELETE_RKEY, .v2 = true,
	       .delete_rkey = { .count = 11, .n_rkeys = 11 });
	DECODE(spec_llc_v2_delete_rkey_reply, .type = SMC_LLC_DELETE_RKEY,
	       .v2 = true, .reply = true, .negative = true,
	       .delete_rkey = { .count = 11, .n_failed = 10, .n_rkeys = 8 });
}

#define COUNTED { 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7,	\
		  0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff }

static void rkeys_in_place(void)
{
	struct smc_llc_msg m;

	smc_llc_decode(cap_llc_delete_rkey, sizeof(cap_llc_delete_rkey), &m);
	CHECK(smc_llc_get_rkey(&m.delete_rkey.rkeys[0]) == 0x38e, "captured");
	smc_llc_decode(spec_llc_v2_delete_rkey,
		       sizeof(spec_llc_v2_delete_rkey), &m);
	CHECK(smc_llc_get_rkey(&m.delete_rkey.rkeys[10]) == 0x10b, "eleventh");
	tap_case("RKeys of Delete RKey");
}

static void test_link(void)
{
	DECODE(cap_llc_test_link, .type = SMC_LLC_TEST_LINK, .v2 = true);
	DECODE(cap_llc_test_link_reply, .type = SMC_LLC_TEST_LINK, .v2 = true,
	       .reply = true);
	DECODE(spec_llc_v1_test_link, .type = SMC_LLC_TEST_LINK,
	       .test_link.data = COUNTED);
	DECODE(spec_llc_v2_test_link_reply, .type = SMC_LLC_TEST_LINK,
	       .v2 = true, .reply = true, .test_link.data = COUNTED);
}

/* Our encoder writes the same bytes as others. */
static void encode(const struct golden *g)
{
	u8 buf[SMC_LLC_V2_FULL_LEN + 1];
	struct smc_llc_msg m;
	int n;

	CHECK(!smc_llc_decode(g->bytes, g->len, &m), "does not decode");
	memset(buf, 0x77, sizeof(buf));
	CHECK(smc_llc_encode(&m, buf, g->len - 1) == -EMSGSIZE, "too small");
	CHECK(buf[0] == 0x77 && buf[43] == 0x77, "wrote despite the error");
	n = smc_llc_encode(&m, buf, g->len);
	CHECK(n == (int)g->len, "%d", n);
	CHECK(!g->canonical || !memcmp(buf, g->bytes, g->len), "other bytes");
	CHECK(buf[g->len] == 0x77, "wrote too much");
	tap_case("encode %s", g->name);
}

int main(void)
{
	unsigned int i;

	confirm_link();
	add_link();
	add_link_large();
	delete_link();
	confirm_rkey();
	delete_rkey();
	rkeys_in_place();
	test_link();
	for (i = 0; i < n_golden_llc; i++)
		encode(&golden_llc[i]);
	return tap_done();
}
