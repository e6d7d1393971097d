// SPDX-License-Identifier: GPL-2.0
/*
 * Damage of every kind to LLC messages. Each has a buffer of its exact size, so
 * that ASan detects every read beyond it.
 */
#include <stdlib.h>

#include "golden_llc.h"
#include "golden_llc_spec.h"
#include "llc_codec.h"
#include "tap.h"

/* Decode a copy of exactly @len bytes; fail unless all invariants hold. */
static int judge(const u8 *bytes, size_t len)
{
	const char *complaint;
	u8 *exact;
	int rc;

	exact = malloc(len ? len : 1);
	if (len)
		memcpy(exact, bytes, len);
	complaint = llc_check(exact, len, &rc);
	CHECK(!complaint, "%s (%zu bytes)", complaint, len);
	CHECK(rc == llc_expect(exact, len), "%d, expected %d (type %02x)", rc,
	      llc_expect(exact, len), len ? exact[0] : 0);
	free(exact);
	return rc;
}

static void set_len(u8 *buf, size_t len)
{
	buf[1] = len;
	buf[2] = len >> 8;
}

/* Cut at every length: unchanged, and with a matching length field */
static void truncated(const struct golden *g)
{
	u8 buf[SMC_LLC_V2_FULL_LEN];
	size_t len;
	int rc;

	memcpy(buf, g->bytes, g->len);
	for (len = 0; len < g->len; len++)
		CHECK(judge(buf, len) == -EPROTO, "%zu", len);
	for (len = 4; len < g->len; len++) {
		set_len(buf, len);
		rc = judge(buf, len);
		CHECK(!g->tight || rc == -EPROTO, "%zu: %d", len, rc);
	}
	tap_case("truncated %s", g->name);
}

/* Longer: always wrong without a matching length field; with one, correct only for types of
 * variable length
 */
static void extended(const struct golden *g)
{
	bool v1 = g->bytes[0] < 0x10;
	u8 buf[SMC_LLC_V2_MAX_LEN + 2];
	size_t len;

	memset(buf, 0xee, sizeof(buf));
	memcpy(buf, g->bytes, g->len);
	for (len = g->len + 1; len <= sizeof(buf);
	     len += len < 600 ? 1 : len < 8100 ? 97 : 1) {
		memcpy(buf, g->bytes, 4);
		CHECK(judge(buf, len) == -EPROTO, "%zu", len);
		set_len(buf, len);
		if (v1)
			buf[2] = g->bytes[2];
		if (judge(buf, len) == 0)
			CHECK(!v1 && len <= SMC_LLC_V2_MAX_LEN, "%zu", len);
	}
	tap_case("extended %s", g->name);
}

/* Every byte set to every value */
static void mutated(const struct golden *g)
{
	unsigned int value, n[4] = { 0 };
	u8 buf[SMC_LLC_V2_FULL_LEN];
	size_t i;
	int rc;

	memcpy(buf, g->bytes, g->len);
	for (i = 0; i < g->len; i++) {
		for (value = 0; value < 256; value++) {
			if (value == g->bytes[i])
				continue;
			buf[i] = value;
			rc = judge(buf, g->len);
			n[!rc ? 0 : rc == -EPROTO ? 1 : rc == -ENOMSG ? 2 : 3]++;
		}
		buf[i] = g->bytes[i];
	}
	tap_case("mutated %s: %u harmless, %u malformed, %u to be ignored, %u unknown",
		 g->name, n[0], n[1], n[2], n[3]);
}

/* All values of the two bytes of the length */
static void lengths(void)
{
	u8 buf[SMC_LLC_V2_FULL_LEN];
	const struct golden *g;
	unsigned int i, v;

	for (i = 0; i < n_golden_llc; i++) {
		g = &golden_llc[i];
		memcpy(buf, g->bytes, g->len);
		for (v = 0; v < 65536; v = next_of(v)) {
			set_len(buf, v);
			judge(buf, g->len);
		}
	}
	tap_case("every length value in every message");
}

/* All types with all flags */
static void types(void)
{
	unsigned int type, flags, known = 0, ignored = 0;
	u8 buf[SMC_WR_MSG_LEN] = { 0 };
	int rc;

	set_len(buf, sizeof(buf));
	buf[30] = 1;			/* a correct MTU in versions 1 and 2 */
	buf[32] = 1;
	buf[24] = 1;			/* one GID */
	for (type = 0; type < 256; type++) {
		buf[0] = type;
		for (flags = 0; flags < 256; flags++) {
			buf[3] = flags;
			rc = judge(buf, sizeof(buf));
			CHECK((rc == -ENOMSG) == (type >> 6 == 2), "%02x: %d",
			      type, rc);
			ignored += rc == -ENOMSG && !flags;
			known += !rc && !(flags & 0x7f);
		}
	}
	CHECK(ignored == 64, "%u", ignored);
	/* 8 types in version 1, 7 in version 2; an Add Link of version 2 needs 72 bytes */
	CHECK(known == 2 * 8 + 2 * 7 - 2, "%u", known);
	tap_case("every type with every combination of flags");
}

/*
 * Counts beyond what a message contains (the class of CVE-2026-80986): with
 * every length up to what the largest count requires, and a bit more.
 */
static void counts(const char *name, const u8 *start, size_t start_len,
		   unsigned int at, unsigned int at_hi, unsigned int base,
		   unsigned int each, unsigned int most)
{
	u8 buf[SMC_LLC_V2_MAX_LEN] = { 0 };
	unsigned int n, len, good = 0, need;
	int rc;

	memcpy(buf, start, start_len < base ? start_len : base);
	for (n = 0; n < (at_hi ? 65536 : 256); n += n < 300 ? 1 : 251) {
		buf[at] = n;
		if (at_hi)
			buf[at_hi] = n >> 8;
		need = base + each * n;
		for (len = 44; len < base + each * (most + 3);
		     len += len + 40 < need || len > need + 40 ? 33 : 1) {
			set_len(buf, len);
			rc = judge(buf, len);
			/* 256, 512, ... are 1, 2, ... in the other byte order */
			if (n > most && (n & 255 || n >> 8 > most))
				CHECK(rc == -EPROTO, "%u in %u", n, len);
			else if (n <= most && n)
				CHECK(rc == (len < need ? -EPROTO : 0),
				      "%u in %u: %d", n, len, rc);
			good += !rc;
		}
	}
	CHECK(good, "none parses");
	tap_case("every count of %s, %u of them valid", name, good);
}

static void all_counts(void)
{
	static const u8 request[8] = { 0x29 };
	u8 add_link[72];

	memcpy(add_link, spec_llc_v2_add_link_reply, sizeof(add_link));
	counts("RTokens, reply", add_link, 72, 70, 71, 72, 16, 255);
	add_link[3] = 0;
	counts("RTokens, request", add_link, 72, 70, 71, 72, 16, 255);
	counts("RKeys to be deleted", request, 8, 4, 0, 8, 4, 255);
	counts("GIDs", spec_llc_v2_req_add_link, 60, 24, 0, 28, 16, 8);
}

/* The counts in small messages */
static void small_counts(void)
{
	static const struct {
		const u8 *bytes;
		unsigned int at, most;
	} t[] = {
		{ spec_llc_v1_add_link_cont, 5, 255 },
		{ spec_llc_v1_confirm_rkey, 4, 7 },
		{ spec_llc_v1_confirm_rkey_cont, 4, 7 },
		{ spec_llc_v2_confirm_rkey, 4, 2 },
		{ spec_llc_v1_delete_rkey, 4, 8 },
		{ spec_llc_v2_delete_rkey_reply, 5, 255 },
	};
	u8 buf[SMC_WR_MSG_LEN];
	unsigned int i, n;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		memcpy(buf, t[i].bytes, sizeof(buf));
		for (n = 0; n < 256; n++) {
			buf[t[i].at] = n;
			CHECK(judge(buf, sizeof(buf)) ==
			      (n <= t[i].most ? 0 : -EPROTO), "%u: %u", i, n);
		}
	}
	tap_case("every count in messages of 44 bytes");
}

static void mtu(void)
{
	static const u8 *const bytes[] = {
		spec_llc_v1_add_link, spec_llc_v2_add_link_reply,
	};
	static const size_t len[] = { 44, 104 }, at[] = { 30, 32 };
	struct smc_llc_msg m;
	unsigned int i, v;
	u8 buf[104];

	for (i = 0; i < 2; i++) {
		memcpy(buf, bytes[i], len[i]);
		for (v = 0; v < 16; v++) {
			buf[at[i]] = v;
			CHECK(judge(buf, len[i]) ==
			      (v >= 1 && v <= 5 ? 0 : -EOPNOTSUPP), "%u", v);
			smc_llc_decode(buf, len[i], &m);
			CHECK(m.type == SMC_LLC_ADD_LINK &&
			      m.add_link.link == 2 &&
			      m.add_link.qpn == 0x654321, "too little decoded for an answer");
		}
		/* the upper half is reserved */
		buf[at[i]] = 0xf1;
		CHECK(judge(buf, len[i]) == 0, "reserved bits");
	}
	tap_case("every MTU code of Add Link");
}

/* A small generator; the seed is fixed. */
static void noise(void)
{
	static const u8 types[] = {
		0x01, 0x02, 0x03, 0x04, 0x06, 0x07, 0x08, 0x09,
		0x21, 0x22, 0x24, 0x25, 0x26, 0x27, 0x29,
	};
	unsigned int i, k, good = 0;
	u8 buf[700];
	size_t len;

	srand(42);
	for (i = 0; i < 300000; i++) {
		len = i % 3 ? 44 : 44 + rand() % (sizeof(buf) - 44);
		for (k = 0; k < len; k++)
			buf[k] = rand() >> 7;
		buf[0] = types[rand() % sizeof(types)];
		if (i & 1)
			buf[4] %= 9;
		set_len(buf, len);
		good += !judge(buf, len);
	}
	CHECK(good > 1000, "%u", good);
	tap_case("random messages, %u of 300000 parse", good);
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < n_golden_llc; i++) {
		truncated(&golden_llc[i]);
		extended(&golden_llc[i]);
		mutated(&golden_llc[i]);
	}
	lengths();
	types();
	all_counts();
	small_counts();
	mtu();
	noise();
	return tap_done();
}
