/* SPDX-License-Identifier: GPL-2.0 */
/* For tests that run in their own network namespace. */
#ifndef SMC_TEST_LOOPBACK_UP_H
#define SMC_TEST_LOOPBACK_UP_H

#include <net/if.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Brings up the loopback device of this namespace; false with errno on failure. */
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
