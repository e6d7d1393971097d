// SPDX-License-Identifier: GPL-2.0
/* The interface of IBM's ISM function, as far as its facts are known. */
#include "ism_pci/format.h"
#include "tap.h"

#define AT(type, member, offset)						\
	CHECK(offsetof(struct type, member) == (offset), "%zu", offsetof(struct type, member))

static void layout(void)
{
	AT(ism_head, rc, 4);
	AT(ism_head, len, 6);
	AT(ism_query_gid, vlan_valid, 16);
	AT(ism_query_gid, vlan, 20);
	AT(ism_register_dmb, len, 16);
	AT(ism_register_dmb, index, 20);
	AT(ism_register_dmb, vlan_valid, 24);
	AT(ism_register_dmb, vlan, 28);
	AT(ism_register_dmb, peer, 32);
	AT(ism_signal_event, interrupt, 16);
	AT(ism_signal_event, code, 20);
	AT(ism_signal_event, info, 24);
	tap_case("layout of commands");
	AT(ism_sba, dmbs, 4);
	AT(ism_sba, reserved, 244);
	AT(ism_sba, masks, 256);
	AT(ism_ieq, events, 32);
	AT(ism_event, token, 8);
	AT(ism_event, info, 24);
	CHECK(sizeof(struct ism_event) == 32, "%zu", sizeof(struct ism_event));
	tap_case("layout of state bits and events");
}

static void moves(void)
{
	const u64 token = 0xabcdef0120000000;

	CHECK(ism_move_target(token, 0, 0, false) == token, "only a token");
	CHECK(ism_move_target(token, 0, 0x12345, false) == token + 0x12345, "offset");
	CHECK(ism_move_target(token, 5, ISM_MOVE_MAX_OFFSET, true) == token + 0x5ffffff,
	      "%llx", (unsigned long long)ism_move_target(token, 5, ISM_MOVE_MAX_OFFSET, true));
	CHECK(ism_move_part(token + ISM_MOVE_SIGNAL + 5, true) == token + ISM_MOVE_SIGNAL + 5, "last");
	CHECK(ism_move_part(token + ISM_MOVE_SIGNAL + 5, false) == token + 5, "not the last part");
	CHECK(ism_move_part(token + 5, true) == token + 5, "silent");
	tap_case("the target of a move");
}

/* The answer is in the same half of the word as the question. */
static void tests(void)
{
	static const u64 other[] = { 0, 2, 3, 2ull << 32, 1ull << 32 | 1, ~0ull };
	unsigned int i;

	CHECK(ism_test_answer(1) == 2, "lower half");
	CHECK(ism_test_answer(1ull << 32) == 2ull << 32, "upper half");
	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		CHECK(!ism_test_answer(other[i]), "%llx", (unsigned long long)other[i]);
	tap_case("the answer to a link test");
}

static void names_machine(u32 number, u16 type, const char *want)
{
	u8 seid[ISM_SEID_LEN + 1] = {};

	memset(seid, '?', ISM_SEID_LEN);
	ism_seid(seid, number, type);
	CHECK(!strcmp((char *)seid, want), "%s instead of %s", seid, want);
}

static void seids(void)
{
	names_machine(0, 0, ISM_SEID "00000000");
	names_machine(0xa1b2c3, 0x3906, ISM_SEID "B2C33906");
	names_machine(0xfff00f, 0x8561, ISM_SEID "F00F8561");
	tap_case("the system EID of a machine");
}

#define BLANKS	"\x40\x40\x40\x40\x40\x40\x40\x40\x40\x40\x40\x40\x40\x40\x40\x40"

/* Code page 500: the given characters, then blanks. */
static void pnetid(const char *text, const char *want)
{
	u8 ebcdic[ISM_PNETID_LEN] = BLANKS;
	char id[ISM_PNETID_LEN + 1];
	size_t i;

	memcpy(ebcdic, text, strlen(text));
	memset(id, '?', sizeof(id));
	CHECK(ism_pnetid(id, ebcdic) == !!*want && !strcmp(id, want), "%s instead of %s", id, want);
	/* PNETIDs of users are compared in full length. */
	for (i = strlen(want); *want && i < sizeof(id); i++)
		CHECK(!id[i], "%zu: %02x", i, id[i]);
	if (!*want)
		return;
	memset(ebcdic + strlen(text), 0, ISM_PNETID_LEN - strlen(text));
	CHECK(ism_pnetid(id, ebcdic) && !strcmp(id, want), "%s instead of %s", id, want);
}

static void pnetids(void)
{
	unsigned int code, known = 0;

	pnetid("\xd5\xc5\xe3\xf0\xf9", "NET09");
	pnetid("\x95\x85\xa3\xf1", "NET1");
	pnetid("\xc1\xc2\xc3\xc4\xc5\xc6\xc7\xc8\xc9\xd1\xd2\xd3\xd4\xd5\xd6\xd7", "ABCDEFGHIJKLMNOP");
	pnetid("\xd8\xd9\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xf0\xf1\xf2\xf3\xf4\xf8", "QRSTUVWXYZ012348");
	pnetid("\x81\x89\x91\x99\xa2\xa9", "AIJRSZ");
	tap_case("PNETIDs in EBCDIC are converted");
	pnetid("", "");
	pnetid("\xc1\x40\xc2", "");
	pnetid("\x40\xc1", "");
	pnetid("NET1", "");
	pnetid("\xc1\x6d", "");
	tap_case("invalid PNETIDs are rejected");
	/* Only the letters in both cases and the digits. */
	for (code = 0; code < 256; code++)
		known += !!ism_from_ebcdic(code);
	CHECK(known == 2 * 26 + 10, "%u", known);
	tap_case("only letters and digits are converted from EBCDIC");
}

int main(void)
{
	layout();
	moves();
	tests();
	seids();
	pnetids();
	return tap_done();
}
