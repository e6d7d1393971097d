/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SMC's option among those of a TCP header: kind 254, which RFC 6994 shares out by a magic number
 * (RFC 7609, 3.1).
 */
#ifndef SMC_WIRE_TCP_OPTION_H
#define SMC_WIRE_TCP_OPTION_H

#include "wire.h"

#define SMC_TCP_OPTION_KIND	254
#define SMC_TCP_OPTION_LEN	6
#define SMC_TCP_OPTION_MAGIC	0xe2d4c3d9	/* "SMCR" in EBCDIC */
/* With the padding that keeps the options behind it aligned */
#define SMC_TCP_OPTION_SPACE	8
/* All options of a header, whose length is counted in four bits */
#define SMC_TCP_OPTIONS_MAX	40

/**
 * enum smc_tcp_options - SMC's option among those of a TCP header
 * @SMC_TCP_OPTIONS_LACK: it is not there
 * @SMC_TCP_OPTIONS_HAVE: SMC's is among them
 * @SMC_TCP_OPTIONS_CLOSED: SMC's is not among them and must not be added: they are signed, end
 *	before the header does, or are malformed
 */
enum smc_tcp_options {
	SMC_TCP_OPTIONS_LACK,
	SMC_TCP_OPTIONS_HAVE,
	SMC_TCP_OPTIONS_CLOSED,
};

/**
 * smc_tcp_options_scan() - look for SMC's option as TCP looks for options
 * @options: the bytes behind the fixed part of a TCP header
 * @len: its length
 *
 * Return: enum smc_tcp_options.
 */
enum smc_tcp_options smc_tcp_options_scan(const u8 *options, size_t len);

/**
 * smc_tcp_option_write() - SMC's option, behind its padding
 * @space: receives SMC_TCP_OPTION_SPACE bytes
 */
void smc_tcp_option_write(u8 *space);

#endif /* SMC_WIRE_TCP_OPTION_H */
