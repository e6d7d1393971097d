/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests whose sockets have to negotiate: two sockets of one kernel become a pair without CLC
 * and without a worker, unless net.smc.loopback_pairing is 0. It is 1 in each new namespace.
 */
#ifndef SMC_TEST_PAIRING_H
#define SMC_TEST_PAIRING_H

#include "put_file.h"

static inline bool set_pairing(bool on)
{
	return put_file("/proc/sys/net/smc/loopback_pairing", on ? "1" : "0");
}

#endif
