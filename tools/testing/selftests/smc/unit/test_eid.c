// SPDX-License-Identifier: GPL-2.0
/* Rules for EIDs, and the compressed sizes. */
#include <stdlib.h>

#include "clc.h"
#include "eid.h"
#include "tap.h"

static bool valid(const char *str)
{
	u8 eid[SMC_EID_LEN];
	u8 *copy;
	int rc;

	/* exact size, so that ASan detects a read beyond it */
	copy = malloc(strlen(str) + !*str);
	memcpy(copy, str, strlen(str));
	memset(eid, 0x77, sizeof(eid));
	rc = smc_eid_from_string((char *)copy, strlen(str), eid);
	free(copy);
	if (!rc)
		CHECK(smc_eid_valid(eid), "'%s' accepted, but not valid", str);
	else
		CHECK(eid[0] == 0x77, "output written despite an error");
	return !rc;
}

static void strings(void)
{
	static const char * const good[] = {
		"A", "0", "Z9", "SYSPLEX-1", "A-", "A--B", "A.B", "A.B.C.", "9.",
		"A.-.B", "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345",
		"0123456789-.6789.123456789.12345",
	};
	static const char * const bad[] = {
		"", " ", " A", "-A", ".A", "A..B", "A..", "a", "Ab", "A B", "A_B",
		"A\tB", "A\x80", "A/B", "A:", "A@", "A[",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456",
	};
	unsigned int i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		CHECK(valid(good[i]), "'%s'", good[i]);
	tap_case("legal EIDs are accepted");
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(!valid(bad[i]), "'%s'", bad[i]);
	tap_case("illegal EIDs are refused");
	CHECK(valid("A  "), "trailing blanks");
	tap_case("an EID may be padded with blanks");
}

/* Every character at every position of an otherwise legal EID */
static void characters(void)
{
	u8 eid[SMC_EID_LEN];
	unsigned int i, c;
	bool want, alnum;

	for (i = 0; i < SMC_EID_LEN; i++) {
		for (c = 0; c < 256; c++) {
			memset(eid, 'A', sizeof(eid));
			eid[i] = c;
			alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
			want = alnum || (i && (c == '-' || c == '.')) ||
			       (i == SMC_EID_LEN - 1 && c == ' ');
			CHECK(smc_eid_valid(eid) == want, "%02x at %u", c, i);
		}
	}
	tap_case("each character at each position of an EID");
}

static void common(void)
{
	static const u8 offered[3][SMC_EID_LEN] = { "ONE", "TWO", "THREE" };
	static const u8 own[3][SMC_EID_LEN] = { "THREE", "TWO", "FOUR" };
	static const u8 near[1][SMC_EID_LEN] = { "TWO\0\0\0" "x" };

	CHECK(smc_eid_first_common(offered, 3, own, 3) == 1, "order of the offer");
	CHECK(smc_eid_first_common(own, 3, offered, 3) == 0, "order of the offer");
	CHECK(smc_eid_first_common(offered, 1, own, 3) == -1, "none");
	CHECK(smc_eid_first_common(offered, 0, own, 3) == -1, "none offered");
	CHECK(smc_eid_first_common(offered, 3, own, 0) == -1, "none configured");
	CHECK(smc_eid_first_common(offered, 3, near, 1) == -1, "compares all 32 bytes");
	tap_case("the first common EID in the client's order");
}

static void sizes(void)
{
	unsigned int code;
	u32 bytes;

	for (code = 0; code <= SMC_CLC_SIZE_CODE_MAX; code++) {
		bytes = smc_clc_size_to_bytes(code);
		CHECK(bytes == 1024u << (code + 4), "code %u", code);
		CHECK(smc_clc_size_from_bytes(bytes) == code, "code %u", code);
		CHECK(smc_clc_size_from_bytes(bytes - 1) == code, "%u", code);
		if (code)
			CHECK(smc_clc_size_from_bytes(bytes / 2 + 1) == code,
			      "code %u", code);
	}
	CHECK(smc_clc_size_from_bytes(0) == 0, "0");
	CHECK(smc_clc_size_from_bytes(1) == 0, "1");
	CHECK(smc_clc_size_from_bytes(~0ull) == 15, "huge");
	CHECK(smc_clc_size_to_bytes(5) == 512 * 1024, "RFC: 5 is 512 KiB");
	tap_case("compressed buffer sizes");

	for (code = 0; code < 256; code++)
		CHECK(smc_clc_mtu_valid(code) == (code >= 1 && code <= 5),
		      "%u", code);
	CHECK(!smc_clc_chid_emulated(0) && !smc_clc_chid_emulated(0xfeff) &&
	      smc_clc_chid_emulated(0xff00) && smc_clc_chid_emulated(0xffff),
	      "CHID");
	tap_case("MTU codes and emulated CHIDs");
}

int main(void)
{
	strings();
	characters();
	common();
	sizes();
	return tap_done();
}
