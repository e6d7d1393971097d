/* SPDX-License-Identifier: GPL-2.0 */
/* For tests that run in their own network namespace. */
#ifndef SMC_TEST_LOOPBACK_UP_H
#define SMC_TEST_LOOPBACK_UP_H

#include <net/if.h>
#include <stdbool.h>
#include <stdlib.h>
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

/* Lets the loopback device of this namespace drop every packet, or none; false on failure. */
static inline bool loopback_drops(bool all)
{
	return !system(all ? "tc qdisc add dev lo root bfifo limit 1" :
			     "tc qdisc del dev lo root");
}

#endif
