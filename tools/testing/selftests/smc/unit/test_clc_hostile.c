// SPDX-License-Identifier: GPL-2.0
/*
 * Damage of every kind. Each message has a buffer of its exact size, so that
 * ASan detects every read beyond it.
 */
#include <stdlib.h>

#include "clc.h"
#include "codec.h"
#include "golden.h"
#include "golden_spec.h"
#include "tap.h"

/* Decode a copy of exactly @len bytes; fail unless all invariants hold. */
static int judge(enum smc_clc_type type, const u8 *bytes, size_t len)
{
	const char *complaint;
	u8 *exact;
	int rc;

	exact = malloc(len ? len : 1);
	if (len)
		memcpy(exact, bytes, len);
	complaint = codec_check(type, exact, len, &rc);
	CHECK(!complaint, "%s (%zu bytes)", complaint, len);
	free(exact);
	return rc;
}

static void put16(u8 *b, unsigned int v)
{
	b[0] = v >> 8;
	b[1] = v;
}

static unsigned int get16(const u8 *b)
{
	return b[0] << 8 | b[1];
}

/* Returns where the IP area at @pos ends; 0 if it is not legal there. */
static unsigned int ip_end(const u8 *b, unsigned int pos, unsigned int end)
{
	unsigned int i;

	if (pos + 8 > end || b[pos + 4] > 32 || b[pos + 7] > 8 ||
	    pos + 8 + 17 * b[pos + 7] > end)
		return 0;
	for (i = 0; i < b[pos + 7]; i++)
		if (b[pos + 8 + 17 * i + 16] > 128)
			return 0;
	return pos + 8 + 17 * b[pos + 7];
}

/* Are the GID entries from @pos on legal: emulated CHIDs come in pairs? */
static bool gids_legal(const u8 *b, unsigned int pos, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (b[pos + 10 * i + 8] != 0xff)
			continue;
		i++;
		if (i == n || b[pos + 10 * i + 8] != 0xff ||
		    b[pos + 10 * i + 9] != b[pos + 10 * i - 1])
			return false;
	}
	return true;
}

/*
 * A second opinion on a Proposal with a correct header and eye catchers, from
 * the tables in plain numbers instead of structs.
 */
static bool proposal_legal(const u8 *b, unsigned int len)
{
	unsigned int end = len - 4, next, pos, offer1 = b[7] & 3;
	unsigned int offer2 = b[7] >> 4 >= 2 ? b[7] >> 2 & 3 : 2;
	bool d2 = offer2 == 1 || offer2 == 3;

	next = b[7] >> 4 >= 2 ? 80 : offer1 & 1 ? 48 : 40;
	if (offer1 != 2 && (get16(b + 38) || offer1 != 1)) {
		pos = 40 + get16(b + 38);
		if (pos < next)
			return false;
		next = ip_end(b, pos, end);
		if (!next || (b[7] >> 4 == 1 && next != end))
			return false;
	}
	if (d2 && b[48] == 0xff && memcmp(b + 40, "\0\0\0\0\0\0\0", 8))
		return false;
	if (offer2 == 2)
		return true;

	pos = 52 + get16(b + 50);
	if (pos < next || pos + 40 > end || b[pos] > 8 ||
	    pos + 40 + 32 * b[pos] > end)
		return false;
	if (!d2)
		return true;
	next = pos + 40 + 32 * b[pos];
	if (!get16(b + pos + 6))
		return !b[pos + 1] && !(b[pos + 3] & 1);
	end -= 48 + 10 * b[pos + 1];
	if (b[pos + 1] > 8 || pos + 8 + get16(b + pos + 6) < next ||
	    pos + 8 + get16(b + pos + 6) > end)
		return false;
	return gids_legal(b, pos + 8 + get16(b + pos + 6) + 48, b[pos + 1]);
}

/* Cut at every length: unchanged, and with a matching length field and eye catcher */
static void truncated(const struct golden *g)
{
	enum smc_clc_type type = codec_type(g->bytes);
	u8 buf[SMC_CLC_MAX_LEN];
	size_t len;
	int rc;

	for (len = 0; len < g->len; len++)
		CHECK(judge(type, g->bytes, len) == -EPROTO, "%zu", len);

	for (len = SMC_CLC_HDR_LEN + SMC_CLC_EYE_LEN; len < g->len; len++) {
		memcpy(buf, g->bytes, len - SMC_CLC_EYE_LEN);
		memcpy(buf + len - SMC_CLC_EYE_LEN, g->bytes, SMC_CLC_EYE_LEN);
		put16(buf + 5, len);
		rc = judge(type, buf, len);
		CHECK(!g->tight || rc == -EPROTO, "%zu: %d", len, rc);
	}
	tap_case("truncated %s", g->name);
}

/* Every byte set to every value, with its own decoder and with every other one */
static void mutated(const struct golden *g)
{
	unsigned int type, value, n[3] = { 0 };
	u8 buf[SMC_CLC_MAX_LEN];
	size_t i;
	int rc;

	memcpy(buf, g->bytes, g->len);
	for (i = 0; i < g->len; i++) {
		for (value = 0; value < 256; value++) {
			if (value == g->bytes[i])
				continue;
			buf[i] = value;
			rc = judge(codec_type(g->bytes), buf, g->len);
			n[!rc ? 0 : rc == -EPROTO ? 1 : 2]++;
			/* every change of eye catchers, type or length is an error */
			if (i < 7 || i >= g->len - SMC_CLC_EYE_LEN)
				CHECK(rc == -EPROTO || i == 4,
				      "byte %zu = %02x: %d", i, value, rc);
			else if (g->bytes[4] == SMC_CLC_PROPOSAL && buf[7] > 15)
				CHECK(i == 7 ||
				      rc == (proposal_legal(buf, g->len) ?
					     0 : -EPROTO),
				      "byte %zu = %02x: %d", i, value, rc);
		}
		buf[i] = g->bytes[i];
	}
	for (type = 0; type < 256; type++) {
		buf[4] = type;
		for (value = SMC_CLC_PROPOSAL; value <= SMC_CLC_DECLINE;
		     value += value == SMC_CLC_ACCEPT ? 2 : 1) {
			rc = judge(value, buf, g->len);
			if (type != value && !(value == SMC_CLC_ACCEPT &&
					       type == SMC_CLC_CONFIRM))
				CHECK(rc == -EPROTO, "type %u as %u", type,
				      value);
		}
	}
	tap_case("mutated %s: %u harmless, %u malformed, %u unknown", g->name,
		 n[0], n[1], n[2]);
}

/* Every value of an offset */
static void sweep(const char *name, const u8 *bytes, size_t len, size_t at)
{
	unsigned int v, good = 0;
	u8 buf[SMC_CLC_MAX_LEN];
	int rc;

	memcpy(buf, bytes, len);
	for (v = 0; v < 65536; v = next_of(v)) {
		put16(buf + at, v);
		rc = judge(SMC_CLC_PROPOSAL, buf, len);
		CHECK(rc == (proposal_legal(buf, len) ? 0 : -EPROTO),
		      "%s = %u: %d", name, v, rc);
		good += !rc;
	}
	CHECK(good, "not even the right value parses");
	tap_case("all values of %s, %u parse", name, good);
}

static void lengths(const struct golden *g)
{
	u8 buf[SMC_CLC_MAX_LEN];
	unsigned int v;
	int rc;

	memcpy(buf, g->bytes, g->len);
	for (v = 0; v < 65536; v = next_of(v)) {
		put16(buf + 5, v);
		rc = judge(codec_type(buf), buf, g->len);
		CHECK(rc == (v == g->len ? 0 : -EPROTO), "%s: %u: %d", g->name,
		      v, rc);
	}
}

static void offsets(void)
{
	unsigned int i;

	for (i = 0; i < n_golden; i++)
		lengths(&golden[i]);
	tap_case("all values of the length field");
	sweep("the offset of the IP area (v1)", spec_r1_proposal_ipv6,
	      sizeof(spec_r1_proposal_ipv6), 38);
	sweep("the offset of the IP area (v1, SMC-D only)", spec_d1_proposal,
	      sizeof(spec_d1_proposal), 38);
	sweep("the offset of the IP area (v2)", spec_all20_proposal,
	      sizeof(spec_all20_proposal), 38);
	sweep("the offset of the v2 extension", spec_all20_proposal,
	      sizeof(spec_all20_proposal), 50);
	sweep("the offset of the v2 extension (no v1)", spec_both21_proposal,
	      sizeof(spec_both21_proposal), 50);
	sweep("the offset of the SMC-Dv2 extension", spec_all20_proposal,
	      sizeof(spec_all20_proposal), 111);
	sweep("the offset of the SMC-Dv2 extension (growth)", spec_both21_proposal,
	      sizeof(spec_both21_proposal), 86);
}

/* All combinations of the three offsets of a Proposal, in coarse steps */
static void offset_combinations(void)
{
	static const unsigned int v[] = {
		0, 1, 7, 8, 39, 40, 41, 52, 53, 54, 95, 96, 97, 200, 220, 224,
		225, 226, 240, 277, 281, 32767, 32768, 65483, 65484, 65534,
		65535,
	};
	const unsigned int n = sizeof(v) / sizeof(*v);
	u8 buf[sizeof(spec_all20_proposal)];
	unsigned int i, j, k;
	int rc;

	memcpy(buf, spec_all20_proposal, sizeof(buf));
	for (i = 0; i < n; i++) {
		for (j = 0; j < n; j++) {
			for (k = 0; k < n; k++) {
				put16(buf + 38, v[i]);
				put16(buf + 50, v[j]);
				put16(buf + 111, v[k]);
				rc = judge(SMC_CLC_PROPOSAL, buf, sizeof(buf));
				CHECK(rc == (proposal_legal(buf, sizeof(buf)) ?
					     0 : -EPROTO),
				      "%u %u %u: %d", v[i], v[j], v[k], rc);
			}
		}
	}
	tap_case("combinations of the offsets of a Proposal");
}

/* There may be gaps between areas, but their order is fixed. */
static void gaps(void)
{
	size_t len = sizeof(spec_all20_proposal);
	struct smc_clc_proposal want, got;
	static const size_t cut[] = { 80, 105, 209, 277 };
	static const size_t field[] = { 38, 50, 111 };
	static const unsigned int off[] = { 40, 53, 96 };
	u8 buf[SMC_CLC_MAX_LEN];
	unsigned int i, gap, at;

	CHECK(!smc_clc_decode_proposal(spec_all20_proposal, len, &want), "ok");
	for (i = 0; i < 4; i++) {
		for (gap = 1; gap <= SMC_CLC_MAX_LEN - len; gap++) {
			memset(buf, 0xee, sizeof(buf));
			memcpy(buf, spec_all20_proposal, cut[i]);
			memcpy(buf + cut[i] + gap, spec_all20_proposal + cut[i],
			       len - cut[i]);
			put16(buf + 5, len + gap);
			/* a gap before the field itself moves the field: 105 < 111 */
			if (i < 3) {
				at = field[i];
				put16(buf + at, off[i] + gap);
			}
			if (i == 0)
				put16(buf + 50, 53 + gap);
			CHECK(!judge(SMC_CLC_PROPOSAL, buf, len + gap),
			      "gap of %u at %zu", gap, cut[i]);
			smc_clc_decode_proposal(buf, len + gap, &got);
			CHECK(!memcmp(&want, &got, sizeof(got)), "content");
		}
		put16(buf + 5, len + gap);
		CHECK(judge(SMC_CLC_PROPOSAL, buf, len + gap - 1) == -EPROTO,
		      "gap at the end");
	}
	tap_case("gaps before every area of a Proposal and at its end");
}

struct change {
	const char *what;
	size_t at;
	unsigned int first, last;
	int rc;
};

#define CHANGE(what, at, first, last, rc) { what, at, first, last, rc }

static void change(const char *name, const u8 *bytes, size_t len,
		   const struct change *c, unsigned int n)
{
	u8 buf[SMC_CLC_MAX_LEN];
	unsigned int v;
	int rc;

	memcpy(buf, bytes, len);
	for (; n; n--, c++) {
		for (v = c->first; v <= c->last; v++) {
			buf[c->at] = v;
			rc = judge(codec_type(bytes), buf, len);
			CHECK(rc == c->rc, "%s = %u: %d, not %d", c->what, v, rc,
			      c->rc);
		}
		buf[c->at] = bytes[c->at];
	}
	tap_case("counts, limits and enumerations of %s", name);
}

#define CHANGES(bytes, ...)						\
	do {								\
		static const struct change c[] = { __VA_ARGS__ };	\
									\
		change(#bytes, bytes, sizeof(bytes), c,			\
		       sizeof(c) / sizeof(*c));				\
	} while (0)

static void proposal_values(void)
{
	CHANGES(spec_all20_proposal,
		CHANGE("version 0", 7, 0x0f, 0x0f, -EOPNOTSUPP),
		CHANGE("IPv4 prefix length", 84, 0, 32, 0),
		CHANGE("IPv4 prefix length", 84, 33, 255, -EPROTO),
		CHANGE("IPv6 prefixes, fewer", 87, 0, 0, 0),
		CHANGE("IPv6 prefixes, more", 87, 2, 255, -EPROTO),
		CHANGE("IPv6 prefix length", 104, 0, 128, 0),
		CHANGE("IPv6 prefix length", 104, 129, 255, -EPROTO),
		CHANGE("EIDs, fewer", 105, 0, 1, 0),
		CHANGE("EIDs, more", 105, 3, 255, -EPROTO),
		CHANGE("GIDs, fewer", 106, 0, 1, 0),
		CHANGE("GIDs, more", 106, 3, 255, -EPROTO),
		CHANGE("emulated CHID alone", 265, 0xff, 0xff, -EPROTO),
		CHANGE("emulated CHID alone at the end", 275, 0xff, 0xff,
		       -EPROTO),
		CHANGE("emulated CHID of the associated device", 48, 0xff, 0xff,
		       -EPROTO));
	CHANGES(spec_both21_proposal,
		CHANGE("CHID of the second half", 219, 0, 0xfe, -EPROTO),
		CHANGE("connections per link group", 104, 0, 255, 0),
		CHANGE("links per link group", 105, 0, 255, 0),
		CHANGE("four entries", 81, 4, 4, -EPROTO),
		CHANGE("three entries", 81, 0, 0, 0),
		CHANGE("a third", 81, 2, 3, 0),
		CHANGE("one entry", 81, 1, 1, -EPROTO));
	CHANGES(spec_r1_proposal_ipv4,
		CHANGE("version 0", 7, 0, 0x0f, -EOPNOTSUPP),
		CHANGE("prefixes", 47, 1, 255, -EPROTO));
	CHANGES(spec_r1_proposal_ipv6,
		CHANGE("fewer prefixes: the rest belongs to no area", 47, 0, 1,
		       -EPROTO));
}

static void accept_values(void)
{
	CHANGES(spec_r1_accept,
		CHANGE("MTU", 50, 0x50, 0x50, -EOPNOTSUPP),
		CHANGE("MTU", 50, 0x51, 0x55, 0),
		CHANGE("MTU", 50, 0x56, 0x5f, -EOPNOTSUPP),
		CHANGE("version 0", 7, 0x08, 0x08, -EOPNOTSUPP),
		CHANGE("version 2 in the length of v1", 7, 0x28, 0x28, -EPROTO),
		CHANGE("version 3 and later", 7, 0x30, 0xff, -EOPNOTSUPP),
		/* not a first contact: these bits are ignored */
		CHANGE("flags of version 1", 7, 0x10, 0x1f, 0));
	CHANGES(spec_r1_confirm,
		CHANGE("the caller checks the MTU", 50, 0, 255, 0));
	CHANGES(spec_d20_accept_first,
		CHANGE("size", 25, 0, 255, 0),
		CHANGE("OS", 75, 0, 0, 0),
		CHANGE("release 1 in the length of release 0", 75, 0x11, 0x1f,
		       -EPROTO));
	CHANGES(spec_r21_accept_first,
		CHANGE("connections per link group", 140, 0, 15, -EOPNOTSUPP),
		CHANGE("connections per link group", 140, 16, 255, 0),
		CHANGE("links per link group", 141, 0, 0, -EOPNOTSUPP),
		CHANGE("links per link group", 141, 1, 2, 0),
		CHANGE("links per link group", 141, 3, 255, -EOPNOTSUPP),
		CHANGE("MTU", 50, 0x36, 0x3f, -EOPNOTSUPP),
		CHANGE("later releases", 105, 0xf1, 0xff, 0),
		CHANGE("release 0", 105, 0xf0, 0xf0, 0));
	CHANGES(spec_r20_confirm_first,
		CHANGE("no GID", 156, 0, 0, -EPROTO),
		CHANGE("GIDs, more", 156, 4, 255, -EPROTO));
	CHANGES(spec_v2_decline,
		CHANGE("version", 7, 0, 255, 0));
}

/* Makes a golden message with @n instead of the count at @count, and inserts the missing entries at
 * @at.
 */
static int counted(const u8 *bytes, size_t len, size_t count, unsigned int n, size_t at,
		   size_t size)
{
	size_t more = (n - bytes[count]) * size;
	u8 *buf = calloc(1, len + more);
	int rc;

	memcpy(buf, bytes, at);
	memcpy(buf + at + more, bytes + at, len - at);
	buf[count] = n;
	put16(buf + 5, len + more);
	/* the EIDs come before the extension for SMC-D */
	if (size == SMC_EID_LEN)
		put16(buf + 111, get16(bytes + 111) + more);
	rc = judge(codec_type(bytes), buf, len + more);
	free(buf);
	return rc;
}

#define COUNTED(bytes, count, n, at, size, wanted)					\
	CHECK(counted(bytes, sizeof(bytes), count, n, at, size) == (wanted), "%s: %d", #bytes, n)

/* One more than the struct has room for, and the message contains all of them. */
static void too_many(void)
{
	size_t gids = sizeof(spec_r20_confirm_first) - SMC_CLC_EYE_LEN;

	COUNTED(spec_all20_proposal, 105, SMC_CLC_MAX_EIDS, 145, SMC_EID_LEN, 0);
	COUNTED(spec_all20_proposal, 105, SMC_CLC_MAX_EIDS + 1, 145, SMC_EID_LEN, -EPROTO);
	tap_case("a Proposal with one EID too many");
	COUNTED(spec_all20_proposal, 106, SMC_CLC_MAX_GIDS, 257, 10, 0);
	COUNTED(spec_all20_proposal, 106, SMC_CLC_MAX_GIDS + 1, 257, 10, -EPROTO);
	tap_case("a Proposal with one GID too many");
	COUNTED(spec_r20_confirm_first, 156, SMC_CLC_MAX_GID_LIST, gids, 16, 0);
	COUNTED(spec_r20_confirm_first, 156, SMC_CLC_MAX_GID_LIST + 1, gids,
		16, -EPROTO);
	tap_case("a Confirm with one GID too many");
}

/* Later versions and releases of a Proposal are decoded as the latest ones we know. */
static void later(void)
{
	size_t len = sizeof(spec_both21_proposal);
	struct smc_clc_proposal want, got;
	u8 buf[sizeof(spec_both21_proposal)];
	unsigned int v;

	CHECK(!smc_clc_decode_proposal(spec_both21_proposal, len, &want), "ok");
	memcpy(buf, spec_both21_proposal, len);
	for (v = 3; v < 16; v++) {
		buf[7] = v << 4 | 0x0e;
		CHECK(!smc_clc_decode_proposal(buf, len, &got), "version %u", v);
		CHECK(!memcmp(&want, &got, sizeof(got)), "version %u", v);
		/* the release of a later version has no meaning for us */
		buf[83] = 0;
		CHECK(!smc_clc_decode_proposal(buf, len, &got), "version %u", v);
		CHECK(!memcmp(&want, &got, sizeof(got)), "version %u.0", v);
		buf[83] = 0x10;
	}
	buf[7] = 0x2e;
	for (v = 2; v < 16; v++) {
		buf[83] = v << 4;
		put16(buf + 106, 0xbeee);	/* feature bits of v2.x */
		CHECK(!smc_clc_decode_proposal(buf, len, &got), "release %u", v);
		CHECK(!memcmp(&want, &got, sizeof(got)), "release %u", v);
	}
	tap_case("later versions and releases of a Proposal");
}

/* Extensions of a later release are skipped; without the F bit they are ignored. */
static void longer(const char *name, const u8 *bytes, size_t len, bool first)
{
	struct smc_clc_accept want, got;
	u8 buf[SMC_CLC_MAX_LEN];
	size_t n;

	CHECK(!smc_clc_decode_accept(bytes, len, &want), "%s", name);
	CHECK(want.first_contact == first, "%s", name);
	for (n = len; n <= sizeof(buf); n++) {
		memset(buf, 0xee, sizeof(buf));
		memcpy(buf, bytes, len - SMC_CLC_EYE_LEN);
		memcpy(buf + n - SMC_CLC_EYE_LEN, bytes, SMC_CLC_EYE_LEN);
		put16(buf + 5, n);
		CHECK(judge(SMC_CLC_ACCEPT, buf, n) == 0, "%s: %zu", name, n);
		smc_clc_decode_accept(buf, n, &got);
		CHECK(!memcmp(&want, &got, sizeof(got)), "%s: %zu", name, n);
	}
	tap_case("longer extensions of %s", name);
}

static void too_long(void)
{
	u8 buf[SMC_CLC_MAX_LEN + 1];
	unsigned int i;
	size_t n;

	for (i = 0; i < n_golden; i++) {
		n = golden[i].len;
		memcpy(buf, golden[i].bytes, n);
		memcpy(buf + n, golden[i].bytes, SMC_CLC_EYE_LEN);
		/* more bytes than the header announces */
		CHECK(judge(codec_type(buf), buf, n + 1) == -EPROTO, "%s",
		      golden[i].name);
		put16(buf + 5, sizeof(buf));
		memcpy(buf + sizeof(buf) - SMC_CLC_EYE_LEN, golden[i].bytes,
		       SMC_CLC_EYE_LEN);
		CHECK(judge(codec_type(buf), buf, sizeof(buf)) == -EPROTO, "%s",
		      golden[i].name);
	}
	tap_case("messages longer than their header says, or than the maximum");
}

/* Version 1 messages have one length. */
static void exact_lengths(void)
{
	u8 buf[SMC_CLC_MAX_LEN] = { 0 };
	size_t n;

	for (n = 69; n <= sizeof(buf); n++) {
		memcpy(buf, spec_r1_accept, 64);
		put16(buf + 5, n);
		memcpy(buf + n - SMC_CLC_EYE_LEN, buf, SMC_CLC_EYE_LEN);
		CHECK(judge(SMC_CLC_ACCEPT, buf, n) == -EPROTO, "R %zu", n);
		memset(buf, 0, sizeof(buf));
		memcpy(buf, spec_d1_accept, 44);
		put16(buf + 5, n);
		memcpy(buf + n - SMC_CLC_EYE_LEN, buf, SMC_CLC_EYE_LEN);
		CHECK(judge(SMC_CLC_ACCEPT, buf, n) == -EPROTO, "D %zu", n);
		memset(buf, 0, sizeof(buf));
	}
	tap_case("Accepts of version 1 have one length");
}

struct range {
	size_t from, to;
};

/* Reserved bytes filled with ones do not change the meaning */
static void reserved(const char *name, const u8 *bytes, size_t len,
		     const struct range *r, unsigned int n)
{
	u8 buf[SMC_CLC_MAX_LEN];
	union {
		struct smc_clc_proposal p;
		struct smc_clc_accept a;
		struct smc_clc_decline d;
	} want, got;

	memset(&want, 0, sizeof(want));
	memset(&got, 0, sizeof(got));
	memcpy(buf, bytes, len);
	for (; n; n--, r++)
		memset(buf + r->from, 0xff, r->to - r->from);
	switch (codec_type(bytes)) {
	case SMC_CLC_PROPOSAL:
		CHECK(!smc_clc_decode_proposal(bytes, len, &want.p), "1");
		CHECK(!smc_clc_decode_proposal(buf, len, &got.p), "2");
		break;
	case SMC_CLC_DECLINE:
		CHECK(!smc_clc_decode_decline(bytes, len, &want.d), "1");
		CHECK(!smc_clc_decode_decline(buf, len, &got.d), "2");
		break;
	default:
		CHECK(!smc_clc_decode_accept(bytes, len, &want.a), "1");
		CHECK(!smc_clc_decode_accept(buf, len, &got.a), "2");
		break;
	}
	CHECK(!memcmp(&want, &got, sizeof(want)), "a reserved field changes the result");
	tap_case("reserved fields of %s", name);
}

#define RESERVED(bytes, ...)						\
	do {								\
		static const struct range r[] = { __VA_ARGS__ };	\
									\
		reserved(#bytes, bytes, sizeof(bytes), r,		\
			 sizeof(r) / sizeof(*r));			\
	} while (0)

static void all_reserved(void)
{
	RESERVED(spec_r1_proposal_ipv4, { 45, 47 });
	RESERVED(spec_d1_proposal, { 16, 38 }, { 48, 80 }, { 85, 87 });
	/* release 0: no vendor options, limits and features */
	RESERVED(spec_all20_proposal, { 52, 80 }, { 85, 87 }, { 107, 108 },
		 { 109, 111 }, { 129, 145 }, { 241, 257 });
	/* version 1 not offered: no GID for it, no IP area */
	RESERVED(spec_both21_proposal, { 16, 32 }, { 38, 40 }, { 60, 80 },
		 { 82, 83 }, { 84, 86 }, { 108, 120 }, { 152, 200 });
	RESERVED(spec_r1_accept, { 51, 52 }, { 60, 61 });
	RESERVED(spec_d1_accept, { 26, 28 }, { 32, 44 });
	RESERVED(spec_d20_accept_first, { 26, 28 }, { 66, 75 }, { 76, 78 });
	RESERVED(spec_d21_confirm_first, { 26, 28 }, { 74, 75 }, { 76, 78 },
		 { 110, 112 }, { 118, 126 });
	RESERVED(spec_r21_accept_first, { 51, 52 }, { 60, 61 }, { 96, 104 },
		 { 106, 108 }, { 148, 156 });
	RESERVED(spec_r20_confirm_first, { 96, 104 }, { 106, 108 },
		 { 140, 156 }, { 157, 160 });
	RESERVED(spec_v2_decline, { 21, 24 });
}

/* Which names are kept */
static void hostnames(void)
{
	struct smc_clc_accept a;
	u8 buf[sizeof(spec_d21_confirm_first)];
	unsigned int c;
	char want[2];

	memcpy(buf, spec_d21_confirm_first, sizeof(buf));
	for (c = 0; c < 256; c++) {
		memset(buf + 78, ' ', 32);
		buf[78] = c;
		CHECK(!smc_clc_decode_accept(buf, sizeof(buf), &a), "%u", c);
		want[0] = c > ' ' && c <= '~' ? c : 0;
		want[1] = 0;
		CHECK(!strcmp(a.hostname, want), "%02x", c);
	}
	memset(buf + 78, 'x', 32);
	CHECK(!smc_clc_decode_accept(buf, sizeof(buf), &a), "full");
	CHECK(strlen(a.hostname) == 32, "full");
	buf[78 + 31] = 7;
	CHECK(!smc_clc_decode_accept(buf, sizeof(buf), &a), "last byte");
	CHECK(!*a.hostname, "last byte is not printable");
	buf[78 + 4] = ' ';
	CHECK(!smc_clc_decode_accept(buf, sizeof(buf), &a), "blank");
	CHECK(!strcmp(a.hostname, "xxxx"), "a blank ends the host name");
	tap_case("host names in a first contact extension");
}

/* After -EOPNOTSUPP the caller must know how many bytes to drain. */
static void drain(void)
{
	u8 buf[sizeof(spec_r21_accept_first)];
	struct smc_clc_hdr hdr;

	memcpy(buf, spec_r21_accept_first, sizeof(buf));
	buf[7] = 0x38;
	CHECK(smc_clc_decode_hdr(buf, 8, &hdr) == -EOPNOTSUPP, "version 3");
	CHECK(hdr.type == SMC_CLC_ACCEPT && hdr.len == sizeof(buf) &&
	      hdr.version == 3 && hdr.flags_raw == 0x38 && !hdr.smcd, "filled");
	CHECK(judge(SMC_CLC_ACCEPT, buf, sizeof(buf)) == -EOPNOTSUPP, "whole");
	buf[sizeof(buf) - 1] ^= 1;
	CHECK(judge(SMC_CLC_ACCEPT, buf, sizeof(buf)) == -EPROTO,
	      "malformed takes precedence over unknown");
	tap_case("the length of a message of an unknown version is known");
}

/* Lengths between the short and the long Decline have no reason codes. */
static void decline_lengths(void)
{
	struct smc_clc_decline d;
	u8 buf[SMC_CLC_MAX_LEN];
	unsigned int n;

	for (n = 28; n <= sizeof(buf); n++) {
		memset(buf, 0xff, sizeof(buf));
		memcpy(buf, spec_v2_decline, 24);
		put16(buf + 5, n);
		memcpy(buf + n - SMC_CLC_EYE_LEN, buf, SMC_CLC_EYE_LEN);
		CHECK(!judge(SMC_CLC_DECLINE, buf, n), "%u", n);
		smc_clc_decode_decline(buf, n, &d);
		CHECK(d.has_types == (n >= 44), "%u", n);
		CHECK(d.rc_rv1 == (n >= 44 ? ~0u : 0), "%u: %x", n, d.rc_rv1);
	}
	tap_case("Declines of every length");
}

static int hdr_expected(unsigned int type, unsigned int version, bool smcd,
			unsigned int len)
{
	unsigned int min, max = SMC_CLC_MAX_LEN;
	bool known = true;

	if (type == SMC_CLC_PROPOSAL) {
		min = version >= 2 ? 84 : 52;
		known = version > 0;
		if (smcd)
			return -EPROTO;
	} else if (type == SMC_CLC_ACCEPT || type == SMC_CLC_CONFIRM) {
		min = smcd ? 36 : 68;
		if (version == 1)
			max = smcd ? 48 : 68;
		if (version == 2)
			min = smcd ? 78 : 108;
		known = version == 1 || version == 2;
	} else if (type == SMC_CLC_DECLINE) {
		min = 28;
		if (version == 1)
			max = 44;
	} else {
		return -EPROTO;
	}
	if (len < min || len > max)
		return -EPROTO;
	return known ? 0 : -EOPNOTSUPP;
}

/* Only the header: all types, versions, eye catchers and lengths */
static void headers(void)
{
	u8 buf[SMC_CLC_HDR_LEN] = { EYE_R };
	unsigned int type, version, len, smcd;
	struct smc_clc_hdr hdr;
	int rc;

	for (smcd = 0; smcd < 2; smcd++) {
		buf[3] = smcd ? 0xc4 : 0xd9;
		for (type = 0; type < 256; type++) {
			buf[4] = type;
			for (version = 0; version < 16; version++) {
				buf[7] = version << 4;
				for (len = 0; len < 1100; len++) {
					put16(buf + 5, len);
					rc = smc_clc_decode_hdr(buf, 8, &hdr);
					CHECK(rc == hdr_expected(type, version,
								 smcd, len),
					      "%u %u %u %u: %d", smcd, type,
					      version, len, rc);
				}
			}
		}
	}
	for (len = 0; len < 8; len++)
		CHECK(smc_clc_decode_hdr(buf, len, &hdr) == -EPROTO, "%u", len);
	tap_case("headers of every type, version and length");
}

/* A Proposal of version 2 that offers nothing is short, but must have the base. */
static void empty_proposal(void)
{
	u8 buf[SMC_CLC_MAX_LEN];
	unsigned int n;

	for (n = 12; n <= sizeof(buf); n++) {
		memset(buf, 0xff, sizeof(buf));
		memcpy(buf, spec_both21_proposal, SMC_CLC_HDR_LEN);
		put16(buf + 5, n);
		buf[7] = 0x2a;
		memcpy(buf + n - SMC_CLC_EYE_LEN, buf, SMC_CLC_EYE_LEN);
		CHECK(judge(SMC_CLC_PROPOSAL, buf, n) == (n < 84 ? -EPROTO : 0),
		      "%u", n);
	}
	tap_case("a Proposal that offers nothing");
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < n_golden; i++)
		truncated(&golden[i]);
	for (i = 0; i < n_golden; i++)
		mutated(&golden[i]);
	headers();
	empty_proposal();
	decline_lengths();
	offsets();
	offset_combinations();
	gaps();
	proposal_values();
	accept_values();
	too_many();
	later();
	longer("spec_d21_confirm_first", spec_d21_confirm_first,
	       sizeof(spec_d21_confirm_first), true);
	longer("spec_r21_accept_first", spec_r21_accept_first,
	       sizeof(spec_r21_accept_first), true);
	too_long();
	exact_lengths();
	all_reserved();
	hostnames();
	drain();
	return tap_done();
}
