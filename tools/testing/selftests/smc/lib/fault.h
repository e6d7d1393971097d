/* SPDX-License-Identifier: GPL-2.0 */
/* Which allocations the kernel makes fail; /proc/thread-self/fail-nth says when. */
#ifndef SMC_TEST_FAULT_H
#define SMC_TEST_FAULT_H

#include <stdbool.h>

bool fault_available(void);	/* does this kernel know how to? */

/* Of slabs and of pages, silently, in whatever context; false: it cannot be arranged. */
bool fault_open(void);

/* From now on only allocations with a function of the module in their stack fail. */
bool fault_only_ours(void);

/* A setting of both: see Documentation/fault-injection of the kernel. */
void fault_knob(const char *name, const char *value);

#endif
