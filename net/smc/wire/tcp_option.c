// SPDX-License-Identifier: GPL-2.0
/* Finding and writing SMC's TCP option. */
#include "tcp_option.h"

enum {
	END		= 0,
	NOP		= 1,
	MD5_SIGNATURE	= 19,	/* RFC 2385 */
	AUTHENTICATION	= 29,	/* TCP-AO, RFC 5925 */
};

static const u8 smc_option[SMC_TCP_OPTION_SPACE] = {
	NOP, NOP, SMC_TCP_OPTION_KIND, SMC_TCP_OPTION_LEN, 0xe2, 0xd4, 0xc3, 0xd9,
};

/* Like TCP, accept a longer option, with anything behind the magic number. */
static bool is_smc(const u8 *option, u8 len)
{
	const u8 *ours = smc_option + SMC_TCP_OPTION_SPACE - SMC_TCP_OPTION_LEN;

	return option[0] == SMC_TCP_OPTION_KIND && len >= SMC_TCP_OPTION_LEN && !(len & 1) &&
	       !memcmp(option + 2, ours + 2, SMC_TCP_OPTION_LEN - 2);
}

enum smc_tcp_options smc_tcp_options_scan(const u8 *options, size_t len)
{
	const u8 *end = options + len;
	bool is_signed = false;
	u8 size;

	while (options < end) {
		if (*options == END)
			return SMC_TCP_OPTIONS_CLOSED;
		if (*options == NOP) {
			options++;
			continue;
		}
		size = end - options < 2 ? 0 : options[1];
		if (size < 2 || size > end - options)
			return SMC_TCP_OPTIONS_CLOSED;
		if (is_smc(options, size))
			return SMC_TCP_OPTIONS_HAVE;
		is_signed |= *options == MD5_SIGNATURE || *options == AUTHENTICATION;
		options += size;
	}
	return is_signed ? SMC_TCP_OPTIONS_CLOSED : SMC_TCP_OPTIONS_LACK;
}

void smc_tcp_option_write(u8 *space)
{
	memcpy(space, smc_option, sizeof(smc_option));
}
