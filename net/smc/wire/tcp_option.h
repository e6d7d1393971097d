/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SMC's option in a TCP header: kind 254, which RFC 6994 divides among experiments by a magic
 * number (RFC 7609, 3.1).
 */
#ifndef SMC_WIRE_TCP_OPTION_H
#define SMC_WIRE_TCP_OPTION_H

#include "wire.h"

#define SMC_TCP_OPTION_KIND	254
#define SMC_TCP_OPTION_LEN	6
#define SMC_TCP_OPTION_MAGIC	0xe2d4c3d9	/* "SMCR" in EBCDIC */
/* Length including the padding that keeps the following options aligned. */
#define SMC_TCP_OPTION_SPACE	8
/* Maximum length of all options: the header length field has only four bits. */
#define SMC_TCP_OPTIONS_MAX	40

/**
 * enum smc_tcp_options - the result of looking for SMC's option in a TCP header
 * @SMC_TCP_OPTIONS_LACK: SMC's option is absent and may be added
 * @SMC_TCP_OPTIONS_HAVE: SMC's option is present
 * @SMC_TCP_OPTIONS_CLOSED: SMC's option is absent and must not be added: the options are signed,
 *	end before the header does, or are malformed
 */
enum smc_tcp_options {
	SMC_TCP_OPTIONS_LACK,
	SMC_TCP_OPTIONS_HAVE,
	SMC_TCP_OPTIONS_CLOSED,
};

/**
 * smc_tcp_options_scan() - look for SMC's option in the way TCP looks for options
 * @options: the bytes behind the fixed part of a TCP header
 * @len: length of @options
 *
 * Return: enum smc_tcp_options.
 */
enum smc_tcp_options smc_tcp_options_scan(const u8 *options, size_t len);

/**
 * smc_tcp_option_write() - write SMC's option with its padding in front
 * @space: receives SMC_TCP_OPTION_SPACE bytes
 */
void smc_tcp_option_write(u8 *space);

#endif /* SMC_WIRE_TCP_OPTION_H */
