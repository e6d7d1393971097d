/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SMC_TEST_SOL_SOCKET_H
#define SMC_TEST_SOL_SOCKET_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/utsname.h>

/* Before 6.2 the module does not see options of SOL_SOCKET. */
static inline bool sol_socket_seen(void)
{
	struct utsname name;
	int major, minor;

	return !uname(&name) && sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 2));
}

/* How SO_ATTACH_FILTER fails on an SMC connection */
static inline int late_filter_errno(void)
{
	return sol_socket_seen() ? EOPNOTSUPP : EPERM;
}

#endif
