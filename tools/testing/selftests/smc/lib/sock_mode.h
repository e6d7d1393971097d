/* SPDX-License-Identifier: GPL-2.0 */
/* What a socket has become: getsockopt(SMC_SOCK_INFO). */
#ifndef SMC_TEST_SOCK_MODE_H
#define SMC_TEST_SOCK_MODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#ifndef SOL_SMC
#define SOL_SMC		286
#endif
#define SMC_SOCK_INFO	0x100

struct smc_sock_info_u {
	uint32_t mode;
	uint32_t reason;
	uint32_t peer_diagnosis;
	uint32_t state;
};

enum { MODE_UNDECIDED, MODE_SMCR, MODE_TCP, MODE_SMCD };

/* A socket that is not of this family is TCP. */
static inline int mode_of(int fd)
{
	struct smc_sock_info_u info;
	socklen_t len = sizeof(info);

	if (getsockopt(fd, SOL_SMC, SMC_SOCK_INFO, &info, &len) < 0)
		return MODE_TCP;
	return info.mode;
}

/* The reason for TCP (linux/smc_reason.h), or 0 */
static inline uint32_t reason_of(int fd)
{
	struct smc_sock_info_u info;
	socklen_t len = sizeof(info);

	return getsockopt(fd, SOL_SMC, SMC_SOCK_INFO, &info, &len) < 0 ? 0 : info.reason;
}

static inline bool mode_is_smc(int fd)
{
	int mode = mode_of(fd);

	return mode == MODE_SMCR || mode == MODE_SMCD;
}

#endif
