/* SPDX-License-Identifier: GPL-2.0 */
/* Reports the result of a test case; for files that use kselftest.h, whose counters are static. */
#ifndef SMC_TEST_KLOG_RESULT_H
#define SMC_TEST_KLOG_RESULT_H

#include <stdio.h>

#include "kselftest.h"
#include "klog.h"

/* A case passes only if the kernel has not reported a problem, either. */
static inline void klog_result(bool ok, const char *name)
{
	char bug[512];
	int n = klog_check(bug, sizeof(bug));

	if (n) {
		ksft_print_msg("kernel log: %d bad lines, first: %s\n", n, bug);
		ok = false;
	}
	ksft_test_result(ok, "%s\n", name);
	fflush(stdout);
}

#endif
