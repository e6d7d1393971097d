// SPDX-License-Identifier: GPL-2.0
/* SMC's option among the options of a TCP header. */
#include <stdlib.h>

#include "tap.h"
#include "tcp_option.h"

#define SMC	254, 6, 0xe2, 0xd4, 0xc3, 0xd9
#define MSS	2, 4, 5, 0xb4
#define SACK	4, 2
#define STAMP	8, 10, 0, 0, 0, 1, 0, 0, 0, 0
#define SCALE	3, 3, 7
#define MD5	19, 18, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define AO	29, 16, 1, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
#define SIGNED_MEMBER	254, 4, 0xf9, 0x89

static enum smc_tcp_options scan(const u8 *options, size_t len)
{
	/* exact size, so that ASan detects a read beyond it */
	u8 *copy = malloc(len + !len);
	enum smc_tcp_options found;

	memcpy(copy, options, len);
	found = smc_tcp_options_scan(copy, len);
	free(copy);
	return found;
}

#define SCAN(...) ({						\
	static const u8 options_[] = { __VA_ARGS__ };		\
	scan(options_, sizeof(options_));			\
})
#define LACK(...) CHECK(SCAN(__VA_ARGS__) == SMC_TCP_OPTIONS_LACK, "%s", #__VA_ARGS__)
#define HAVE(...) CHECK(SCAN(__VA_ARGS__) == SMC_TCP_OPTIONS_HAVE, "%s", #__VA_ARGS__)
#define CLOSED(...) CHECK(SCAN(__VA_ARGS__) == SMC_TCP_OPTIONS_CLOSED, "%s", #__VA_ARGS__)

static void found(void)
{
	HAVE(SMC);
	HAVE(1, 1, SMC);
	HAVE(MSS, SACK, STAMP, 1, SCALE, 1, 1, SMC);
	HAVE(SMC, 0);
	HAVE(SMC, 0, 0);
	HAVE(SMC, MSS);
	HAVE(MD5, 1, 1, SMC);
	HAVE(SIGNED_MEMBER, SMC);
	HAVE(254, 8, 0xe2, 0xd4, 0xc3, 0xd9, 0, 0);
	tap_case("the SMC option is found at any position");
}

static void lacking(void)
{
	CHECK(scan((const u8 *)"", 0) == SMC_TCP_OPTIONS_LACK, "no options");
	LACK(1, 1, 1, 1);
	LACK(MSS);
	LACK(MSS, SACK, STAMP, 1, SCALE);
	LACK(SIGNED_MEMBER);
	LACK(254, 2);
	LACK(254, 5, 0xe2, 0xd4, 0xc3);
	LACK(254, 7, 0xe2, 0xd4, 0xc3, 0xd9, 0);
	LACK(254, 6, 0xe2, 0xd4, 0xc3, 0xd8);
	LACK(254, 6, 0xe3, 0xd4, 0xc3, 0xd9);
	LACK(253, 6, 0xe2, 0xd4, 0xc3, 0xd9);
	/* inside another option */
	LACK(99, 8, SMC);
	tap_case("similar options are not taken for the SMC option");
}

static void closed(void)
{
	CLOSED(0);
	CLOSED(0, 1, SMC);
	CLOSED(MSS, 0, SMC);
	CLOSED(2);
	CLOSED(MSS, 254);
	CLOSED(MSS, 254, 6);
	CLOSED(254, 6, 0xe2, 0xd4, 0xc3);
	CLOSED(2, 0, SMC);
	CLOSED(2, 1, SMC);
	CLOSED(2, 255, SMC);
	CLOSED(99, 9, SMC);
	tap_case("the scan stops at the end and at malformed options");
	CLOSED(MD5);
	CLOSED(MSS, SACK, MD5, 1, 1);
	CLOSED(AO);
	CLOSED(AO, MSS);
	tap_case("signed options must not be changed");
}

static void written(void)
{
	static const u8 want[] = { 1, 1, SMC };
	u8 space[SMC_TCP_OPTION_SPACE + 1];

	space[SMC_TCP_OPTION_SPACE] = 0x77;
	smc_tcp_option_write(space);
	CHECK(!memcmp(space, want, sizeof(want)), "the option's bytes");
	CHECK(space[SMC_TCP_OPTION_SPACE] == 0x77, "written beyond the option");
	CHECK(scan(space, SMC_TCP_OPTION_SPACE) == SMC_TCP_OPTIONS_HAVE, "found again");
	tap_case("an option that was written is found");
}

/* Whatever a peer sends, no read goes out of bounds: each pair of bytes at each place of a
 * header.
 */
static void hostile(void)
{
	u8 options[SMC_TCP_OPTIONS_MAX];
	unsigned int kind, len, at;

	for (at = 0; at < sizeof(options); at++) {
		for (kind = 0; kind < 256; kind++) {
			for (len = 0; len < 256; len += len < 44 ? 1 : 37) {
				memset(options, 1, sizeof(options));
				options[at] = kind;
				if (at + 1 < sizeof(options))
					options[at + 1] = len;
				CHECK(scan(options, sizeof(options)) != SMC_TCP_OPTIONS_HAVE,
				      "%u %u at %u", kind, len, at);
			}
		}
	}
	tap_case("each kind and length at each position");
}

int main(void)
{
	found();
	lacking();
	closed();
	written();
	hostile();
	return tap_done();
}
