// SPDX-License-Identifier: GPL-2.0
/* CDC messages and the arithmetic of cursors. */
#include <stdlib.h>

#include "golden_llc.h"
#include "golden_llc_capture.h"
#include "golden_llc_spec.h"
#include "llc_codec.h"
#include "tap.h"

#define KIB	1024u
#define MIB	(1024u * KIB)

static u64 state = 0x5eed0badcafe;

static u64 rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 5;
}

/* --- messages --- */

#define DECODE(bytes, ...)						\
	do {								\
		static const struct smc_cdc_msg want = { __VA_ARGS__ };	\
		struct smc_cdc_msg m;					\
									\
		memset(&m, 0x5a, sizeof(m));				\
		CHECK(!smc_cdc_decode(bytes, sizeof(bytes), &m), "rc");	\
		CHECK(m.seqno == want.seqno &&				\
		      m.alert_token == want.alert_token, "name");	\
		CHECK(m.prod.wrap == want.prod.wrap &&			\
		      m.prod.count == want.prod.count, "producer");	\
		CHECK(m.cons.wrap == want.cons.wrap &&			\
		      m.cons.count == want.cons.count, "consumer");	\
		CHECK(m.prod_flags == want.prod_flags &&		\
		      m.conn_flags == want.conn_flags, "flags");	\
		tap_case("decode " #bytes);				\
	} while (0)

static void decode(void)
{
	DECODE(cap_cdc_data, .seqno = 1, .alert_token = 1,
	       .prod = { 0, 20000 });
	DECODE(cap_cdc_done, .seqno = 2, .alert_token = 1,
	       .prod = { 0, 20000 }, .conn_flags = SMC_CDC_SEND_DONE);
	DECODE(cap_cdc_done_closed, .seqno = 3, .alert_token = 1,
	       .prod = { 0, 20000 }, .cons = { 0, 20000 },
	       .conn_flags = SMC_CDC_SEND_DONE | SMC_CDC_CLOSED);
	DECODE(cap_cdc_pingpong, .seqno = 2, .alert_token = 2,
	       .prod = { 0, 200 }, .cons = { 0, 100 });
	DECODE(cap_cdc_closed, .seqno = 7, .alert_token = 2,
	       .prod = { 0, 600 }, .cons = { 0, 600 },
	       .conn_flags = SMC_CDC_CLOSED);
	DECODE(spec_cdc, .seqno = 0x1234, .alert_token = 0xa1b2c3d4,
	       .prod = { 0xfffe, 0x12345 }, .cons = { 0xfffd, 0xfedcb },
	       .prod_flags = SMC_CDC_WRITE_BLOCKED | SMC_CDC_URG_PENDING |
			     SMC_CDC_URG_PRESENT | SMC_CDC_UPDATE_REQ,
	       .conn_flags = SMC_CDC_SEND_DONE | SMC_CDC_CLOSED |
			     SMC_CDC_ABORT);
	DECODE(spec_cdc_failover, .seqno = 0xffff, .alert_token = 0xa1b2c3d4,
	       .prod_flags = SMC_CDC_FAILOVER);
}

static void encode(const struct golden *g)
{
	struct smc_cdc_msg m;
	u8 buf[SMC_WR_MSG_LEN];

	CHECK(!smc_cdc_decode(g->bytes, g->len, &m), "does not decode");
	memset(buf, 0x77, sizeof(buf));
	smc_cdc_encode(&m, buf);
	CHECK(!memcmp(buf, g->bytes, sizeof(buf)), "other bytes");
	tap_case("encode %s", g->name);
}

static int judge(const u8 *bytes, size_t len)
{
	const char *complaint;
	u8 *exact;
	int rc;

	exact = malloc(len ? len : 1);
	if (len)
		memcpy(exact, bytes, len);
	complaint = cdc_check(exact, len, &rc);
	CHECK(!complaint, "%s (%zu bytes)", complaint, len);
	free(exact);
	return rc;
}

static void damaged(const struct golden *g)
{
	unsigned int value;
	u8 buf[200] = { 0 };
	size_t i;

	memcpy(buf, g->bytes, g->len);
	for (i = 0; i <= sizeof(buf); i++)
		CHECK(judge(buf, i) == (i == 44 ? 0 : -EPROTO), "%zu", i);
	for (i = 0; i < 44; i++) {
		for (value = 0; value < 256; value++) {
			buf[i] = value;
			CHECK(judge(buf, 44) == (i < 2 && value != g->bytes[i] ?
						 -EPROTO : 0), "%zu", i);
		}
		buf[i] = g->bytes[i];
	}
	tap_case("damaged %s", g->name);
}

/* Reserved bits, and bits without a meaning yet, must not get through. */
static void reserved(void)
{
	struct smc_cdc_msg m;
	u8 buf[SMC_WR_MSG_LEN], out[SMC_WR_MSG_LEN];

	memset(buf, 0xff, sizeof(buf));
	buf[0] = 0xfe;
	buf[1] = 44;
	buf[24] = 0xf7;
	CHECK(!smc_cdc_decode(buf, sizeof(buf), &m), "decode");
	CHECK(m.prod_flags == 0xf0 && m.conn_flags == 0xe0, "flags");
	m.prod_flags |= 0x07;
	m.conn_flags |= 0x1f;
	smc_cdc_encode(&m, out);
	CHECK(out[24] == 0xf0 && out[25] == 0xe0 && !out[26] && !out[43] &&
	      !out[8] && !out[17], "reserved");
	tap_case("reserved bits are dropped");
}

static void which(void)
{
	unsigned int i;

	for (i = 0; i < 256; i++)
		CHECK(smc_is_cdc(i) == (i >= 0xc0), "%02x", i);
	for (i = 0; i < n_golden_llc; i++)
		CHECK(!smc_is_cdc(golden_llc[i].bytes[0]), "LLC");
	tap_case("CDC and LLC messages are told apart");
}

static void sequence(void)
{
	unsigned int last, ahead;

	for (last = 0; last < 65536; last += 13 * EVERY)
		for (ahead = 0; ahead < 65536; ahead++)
			CHECK(smc_cdc_newer(last + ahead, last) ==
			      (ahead >= 1 && ahead <= 0x7fff), "%u %u", last,
			      ahead);
	CHECK(smc_cdc_newer(1, 0), "the first one");
	CHECK(smc_cdc_newer(0, 65535), "wrap");
	CHECK(!smc_cdc_newer(65535, 0), "back across the wrap");
	tap_case("comparison of sequence numbers");
}

/* --- cursors --- */

/* Step by step, as in the specification */
struct slow {
	u32 count;
	u16 wrap;
};

static void slow_advance(struct slow *s, u32 size, u64 by)
{
	while (by >= size - s->count) {
		by -= size - s->count;
		s->count = 0;
		s->wrap++;
	}
	s->count += by;
}

/* The definition, which requires a division */
static struct smc_wire_cursor cursor_at(u64 count, u32 size)
{
	return (struct smc_wire_cursor) { count / size, count % size };
}

static bool same(struct smc_wire_cursor a, struct smc_wire_cursor b)
{
	return a.wrap == b.wrap && a.count == b.count;
}

static bool advance(u64 *count, u32 size, u32 wrap, u32 off, u64 max)
{
	struct smc_wire_cursor last = cursor_at(*count, size), was = last;
	struct smc_wire_cursor w = { wrap, off };
	int rc = smc_cursor_advance(count, &last, size, &w, max);

	CHECK(rc == 0 || rc == -EPROTO, "%d", rc);
	CHECK(same(last, rc ? was : w), "the cursor that belongs to the count");
	return !rc;
}

/* A connection with many wraps, in steps of all magnitudes */
static void walk(u32 size)
{
	u64 sent = 0, seen = 0, was, step, target = 3ull * 65536 * size;
	unsigned int i, wraps = 0;
	struct smc_wire_cursor w = { 0 }, last = { 0 };
	struct slow s = { 0 };

	for (i = 0; sent < target && i < 3000000; i++) {
		step = i % 3 == 0 ? size : rnd() % (size + 1ull);
		if (i % 17 == 0)
			step = rnd() % 3;
		sent += step;
		slow_advance(&s, size, step);
		smc_cursor_step(&w, size, step);
		CHECK(w.wrap == s.wrap && w.count == s.count,
		      "%u:%u, not %u:%u", w.wrap, w.count, s.wrap, s.count);

		was = seen;
		if (step)
			CHECK(smc_cursor_advance(&seen, &last, size, &w, step - 1) ==
			      -EPROTO && seen == was, "one byte too many");
		CHECK(!smc_cursor_advance(&seen, &last, size, &w, step), "refused");
		CHECK(seen == sent, "%llu, not %llu", (unsigned long long)seen,
		      (unsigned long long)sent);
		CHECK(!smc_cursor_advance(&seen, &last, size, &w, 0) && seen == sent,
		      "the same cursor again must not advance");
		wraps += s.wrap == 0 && sent > 65536ull * size / 2;
	}
	CHECK(sent >= target && wraps, "did not wrap");
	tap_case("a cursor through 3 * 65536 laps of a ring of %u bytes", size);
}

static void edges(u32 size)
{
	u64 count, base;
	unsigned int i;

	/* impossible offsets */
	for (i = 0; i < 3; i++) {
		count = 5;
		CHECK(!advance(&count, size, 0,
			       i == 0 ? size : i == 1 ? size + 1 : ~0u,
			       64ull * size) && count == 5, "offset %u", i);
	}
	/* the limit for an element: from n to n + size, not one byte more */
	for (i = 0; i < 100; i++) {
		base = rnd() % (70000ull * size);
		count = base;
		CHECK(advance(&count, size, (base + size) / size & 0xffff,
			      (base + size) % size, size) &&
		      count == base + size, "full");
		count = base;
		CHECK(!advance(&count, size, (base + size + 1) / size & 0xffff,
			       (base + size + 1) % size, size) &&
		      count == base, "overfull");
		/* back by a byte, by an element */
		base += size;
		count = base;
		CHECK(!advance(&count, size, (base - 1) / size & 0xffff,
			       (base - 1) % size, size) && count == base,
		      "back by one byte");
		CHECK(!advance(&count, size, (base - size) / size & 0xffff,
			       (base - size) % size, size) && count == base,
		      "back by a whole ring");
	}
	/* from the last byte of wrap 65535 to the first of wrap 0 */
	base = 65536ull * size - 1;
	count = base;
	CHECK(advance(&count, size, 0, 0, 1) && count == base + 1, "wrap");
	CHECK(!advance(&count, size, 65535, size - 1, 65535ull * size) &&
	      count == base + 1, "back across the wrap");
	/* without a limit no step is too far, except backwards */
	count = 0;
	CHECK(advance(&count, size, 65535, size - 1, 65536ull * size - 1) &&
	      count == 65536ull * size - 1, "farthest");
	tap_case("limits of cursors in rings of %u bytes", size);
}

/* Any two cursors: whether they are accepted or not, the result is possible. */
static void anything(u32 size)
{
	u64 base, count, max, delta;
	struct smc_wire_cursor w, last;
	unsigned int i, good = 0;
	int rc;

	for (i = 0; i < 300000; i++) {
		base = rnd() >> rnd() % 40;
		max = rnd() % (size + 1ull);
		w.wrap = i & 1 ? base / size + rnd() % 3 - 1 : rnd();
		w.count = i & 2 ? rnd() % size : rnd();
		count = base;
		last = cursor_at(base, size);
		rc = smc_cursor_advance(&count, &last, size, &w, max);
		delta = ((u64)w.wrap * size + w.count + 65536ull * size -
			 base % (65536ull * size)) % (65536ull * size);
		CHECK(rc == (w.count < size && delta <= max ? 0 : -EPROTO),
		      "%d", rc);
		if (rc) {
			CHECK(count == base && same(last, cursor_at(base, size)), "changed");
			continue;
		}
		good++;
		CHECK(count >= base && count - base <= max, "too far");
		CHECK(same(last, w) && same(cursor_at(count, size), w), "not at the cursor");
	}
	CHECK(good > 1000, "%u", good);
	tap_case("arbitrary cursors in rings of %u bytes, %u accepted", size, good);
}

static void cursors(u32 size)
{
	walk(size);
	edges(size);
	anything(size);
}

int main(void)
{
	unsigned int i;
	u32 size;

	decode();
	for (i = 0; i < n_golden_cdc; i++)
		encode(&golden_cdc[i]);
	for (i = 0; i < n_golden_cdc; i++)
		damaged(&golden_cdc[i]);
	reserved();
	which();
	sequence();
	for (size = 16 * KIB; size <= 512 * MIB; size *= 2)
		cursors(size);
	/* On an ISM device, control data comes before the ring. */
	cursors(16 * KIB - 32);
	cursors(MIB - 32);
	cursors(512 * MIB - 32);
	return tap_done();
}
