// SPDX-License-Identifier: GPL-2.0
/* Control data of SMC-D: two words in the byte order of the machine. */
#include <endian.h>

#include "control.h"
#include "tap.h"

/* Returns the word in memory, for either byte order. */
static u64 in_memory(const u8 *bytes)
{
	u64 word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static bool little(void)
{
	return __BYTE_ORDER == __LITTLE_ENDIAN;
}

static bool same(const struct smc_cdc_msg *a, const struct smc_cdc_msg *b)
{
	return a->prod.wrap == b->prod.wrap && a->prod.count == b->prod.count &&
	       a->cons.wrap == b->cons.wrap && a->cons.count == b->cons.count &&
	       a->prod_flags == b->prod_flags && a->conn_flags == b->conn_flags;
}

static const struct smc_cdc_msg sample = {
	.prod = { 0x0102, 0x03040506 }, .cons = { 0x0708, 0x090a0b0c },
	.prod_flags = SMC_CDC_WRITE_BLOCKED | SMC_CDC_URG_PRESENT,
	.conn_flags = SMC_CDC_SEND_DONE | SMC_CDC_CLOSED,
};

/* The layout: offsets 8, 10, 14 in one word; 16, 18, 22, 23 in the other. */
static void golden(void)
{
	static const u8 prod_le[] = { 2, 1, 6, 5, 4, 3, 0, 0 }, prod_be[] = { 1, 2, 3, 4, 5, 6, 0, 0 };
	static const u8 cons_le[] = { 8, 7, 12, 11, 10, 9, 0xa0, 0xc0 },
			cons_be[] = { 7, 8, 9, 10, 11, 12, 0xa0, 0xc0 };
	u64 prod, cons;

	smc_control_pack(&sample, false, &prod, &cons);
	CHECK(prod == in_memory(little() ? prod_le : prod_be), "%llx", (unsigned long long)prod);
	CHECK(cons == in_memory(little() ? cons_le : cons_be), "%llx", (unsigned long long)cons);
	CHECK(offsetof(struct smc_control, prod) == 8 && offsetof(struct smc_control, cons) == 16,
	      "offsets");
	tap_case("control data in the layout of IBM's devices");
}

static void mapped(void)
{
	static const u8 le[] = { 2, 1, 6, 5, 4, 3, 0xa0, 0x80 }, be[] = { 1, 2, 3, 4, 5, 6, 0x80, 0xa0 };
	u64 prod, cons;

	smc_control_pack(&sample, true, &prod, &cons);
	CHECK(prod == in_memory(little() ? le : be), "%llx", (unsigned long long)prod);
	tap_case("mapped: flags in the same word as their cursor");
}

/* The word with the other flags may be older or newer. */
static void which_flags(void)
{
	struct smc_cdc_msg plain = { .prod_flags = SMC_CDC_URG_PENDING }, m;
	u64 prod, cons, unused;

	smc_control_pack(&sample, true, &prod, &unused);
	smc_control_pack(&plain, true, &unused, &cons);
	smc_control_unpack(prod, cons, &m);
	CHECK(m.prod_flags == sample.prod_flags && !m.conn_flags, "%x %x", m.prod_flags,
	      m.conn_flags);
	smc_control_pack(&sample, false, &prod, &unused);
	smc_control_unpack(prod, cons, &m);
	CHECK(m.prod_flags == SMC_CDC_URG_PENDING, "%x", m.prod_flags);
	tap_case("the word from which the flags are taken");
}

static void roundtrip(void)
{
	struct smc_cdc_msg m, out;
	unsigned int i;
	u64 prod, cons;

	for (i = 0; i < 0x10000; i++) {
		m = (struct smc_cdc_msg) {
			.prod = { i, i * 65537u }, .cons = { ~i, ~(i * 257u) },
			.prod_flags = (i << 4) & 0xf0, .conn_flags = (i >> 3) & 0xe0,
		};
		smc_control_pack(&m, i & 1, &prod, &cons);
		smc_control_unpack(prod, cons, &out);
		CHECK(same(&m, &out), "%u", i);
	}
	tap_case("pack and unpack");
}

/* For any words that a peer writes: only known flags, and never a failover. */
static void hostile(void)
{
	struct smc_cdc_msg m;
	unsigned int i;
	u64 word = 0x9e3779b97f4a7c15;

	for (i = 0; i < 100000; i++) {
		word ^= word << 13;
		word ^= word >> 7;
		word ^= word << 17;
		smc_control_unpack(word, ~word << (i & 7), &m);
		CHECK(!(m.prod_flags & 0x0f) && !(m.conn_flags & 0x1f), "%x %x", m.prod_flags,
		      m.conn_flags);
		CHECK(!m.seqno && !m.alert_token, "fields of CDC messages");
	}
	tap_case("unpacking arbitrary words");
}

int main(void)
{
	golden();
	mapped();
	which_flags();
	roundtrip();
	hostile();
	return tap_done();
}
