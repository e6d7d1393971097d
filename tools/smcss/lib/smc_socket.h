/* SPDX-License-Identifier: GPL-2.0 */
/* Constants that older C libraries lack, and sizes. */
#ifndef SMC_TOOLS_SMC_SOCKET_H
#define SMC_TOOLS_SMC_SOCKET_H

#include <limits.h>
#include <stdlib.h>

#ifndef AF_SMC
#define AF_SMC 43
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#define SMCPROTO_SMC	0	/* socket(AF_SMC, ...) over IPv4 */
#define SMCPROTO_SMC6	1	/* and over IPv6 */

/* Parses "64k", "1M" or "65536" into bytes; -1 if it is not a size. */
static inline int smc_parse_size(const char *text)
{
	char *end;
	long size;

	if (*text < '0' || *text > '9')
		return -1;
	size = strtol(text, &end, 10);
	if (size > INT_MAX)
		return -1;
	if (*end == 'k' || *end == 'K') {
		size = size > INT_MAX / 1024 ? -1 : size * 1024;
		end++;
	} else if (*end == 'm' || *end == 'M') {
		size = size > INT_MAX / 1048576 ? -1 : size * 1048576;
		end++;
	}
	return *end || size <= 0 ? -1 : (int)size;
}

#endif /* SMC_TOOLS_SMC_SOCKET_H */
