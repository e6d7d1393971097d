/* SPDX-License-Identifier: GPL-2.0 */
/* Fault injection: which allocations fail; /proc/thread-self/fail-nth says when. */
#ifndef SMC_TEST_FAULT_H
#define SMC_TEST_FAULT_H

#include <stdbool.h>

bool fault_available(void);	/* does this kernel support fault injection? */

/* Enables silent failures of slab and page allocations in any context; false on failure. */
bool fault_open(void);

/* From now on, only allocations with a function of the module in their call stack fail. */
bool fault_only_ours(void);

/* Sets a parameter for both kinds: see Documentation/fault-injection in the kernel. */
void fault_knob(const char *name, const char *value);

#endif
