// SPDX-License-Identifier: GPL-2.0
/* The interface of IBM's ISM function, as the facts about it have it. */
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
	tap_case("commands");
	AT(ism_sba, dmbs, 4);
	AT(ism_sba, reserved, 244);
	AT(ism_sba, masks, 256);
	AT(ism_ieq, events, 32);
	AT(ism_event, token, 8);
	AT(ism_event, info, 24);
	CHECK(sizeof(struct ism_event) == 32, "%zu", sizeof(struct ism_event));
	tap_case("state bits and events");
}

static void moves(void)
{
	const u64 token = 0xabcdef0120000000;

	CHECK(ism_move_target(token, 0, 0, false) == token, "nothing but a token");
	CHECK(ism_move_target(token, 0, 0x12345, false) == token + 0x12345, "offset");
	CHECK(ism_move_target(token, 5, ISM_MOVE_MAX_OFFSET, true) == token + 0x5ffffff,
	      "%llx", (unsigned long long)ism_move_target(token, 5, ISM_MOVE_MAX_OFFSET, true));
	tap_case("where a move goes");
}

/* The answer stands in the half of the word where the question did. */
static void tests(void)
{
	static const u64 other[] = { 0, 2, 3, 2ull << 32, 1ull << 32 | 1, ~0ull };
	unsigned int i;

	CHECK(ism_test_answer(1) == 2, "lower half");
	CHECK(ism_test_answer(1ull << 32) == 2ull << 32, "upper half");
	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		CHECK(!ism_test_answer(other[i]), "%llx", (unsigned long long)other[i]);
	tap_case("tests of the link");
}

int main(void)
{
	layout();
	moves();
	tests();
	return tap_done();
}
