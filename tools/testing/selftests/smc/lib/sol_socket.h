/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SMC_TEST_SOL_SOCKET_H
#define SMC_TEST_SOL_SOCKET_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
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

/* The module locks the filter of a connection whose options of SOL_SOCKET it does not see. */
static inline bool is_locked_filter(int level, int opt)
{
	return !sol_socket_seen() && level == SOL_SOCKET &&
	       (opt == SO_ATTACH_FILTER || opt == SO_DETACH_FILTER || opt == SO_LOCK_FILTER ||
		opt == SO_ATTACH_BPF || opt == SO_ATTACH_REUSEPORT_CBPF ||
		opt == SO_ATTACH_REUSEPORT_EBPF);
}

#endif
