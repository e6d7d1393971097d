/* SPDX-License-Identifier: GPL-2.0 */
/* How tests begin in a network namespace of their own. */
#ifndef SMC_TEST_LOOPBACK_UP_H
#define SMC_TEST_LOOPBACK_UP_H

#include <net/if.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* The loopback device of this namespace is up; false, and errno, if it cannot be. */
static inline bool loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && !ioctl(fd, SIOCSIFFLAGS, &ifr);

	if (fd >= 0)
		close(fd);
	return ok;
}

#endif
