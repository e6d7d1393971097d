/* SPDX-License-Identifier: GPL-2.0 */
/* Busy polling of one epoll instance. */
#ifndef SMC_TEST_EPOLL_BUSY_POLL_H
#define SMC_TEST_EPOLL_BUSY_POLL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>

/* EPIOCSPARAMS, since Linux 6.9: poll for @usecs before sleeping; false with errno on failure. */
static inline bool epoll_busy_poll(int ep, uint32_t usecs)
{
	struct {
		uint32_t usecs;
		uint16_t budget;
		uint8_t prefer, pad;
	} params = { .usecs = usecs, .budget = 8 };

	return !ioctl(ep, _IOW(0x8A, 0x01, params), &params);
}

#endif
