/* SPDX-License-Identifier: GPL-2.0 */
/* Options of level SOL_SMC that exist only in test builds; the others are in <linux/smc.h>. */
#ifndef SMC_SOCKOPT_H
#define SMC_SOCKOPT_H

#include <linux/types.h>

#ifndef SOL_SMC
#define SOL_SMC			286
#endif

#define SMC_TEST_RAW_CLC	0x200	/* set, test builds: int, the program speaks CLC itself */
#define SMC_TEST_ECHO		0x201	/* set, test builds: int, echo in the kernel */
#define SMC_TEST_PEEK_LEN	0x202	/* get, test builds: int, proto_ops.peek_len */
#define SMC_TEST_REGISTRY	0x203	/* get, test builds: struct smc_test_registry */

struct sock;
int smc_test_echo(struct sock *sk);

/**
 * struct smc_test_registry - cost of all walks over SMC sockets since the module was loaded
 * @looked:	number of entries visited
 * @most:	most entries visited during one hold of a lock
 * @longest:	longest hold of a lock, nanoseconds
 * @holds:	number of holds
 * @long_holds:	number of holds of more than 100 microseconds
 */
struct smc_test_registry {
	__u64	looked;
	__u64	most;
	__u64	longest;
	__u64	holds;
	__u64	long_holds;
};

void smc_test_registry(struct smc_test_registry *cost);

#endif
