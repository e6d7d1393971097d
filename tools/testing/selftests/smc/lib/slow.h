/* SPDX-License-Identifier: GPL-2.0 */
/* How the limits of the tests grow on a slow machine. */
#ifndef SMC_TEST_SLOW_H
#define SMC_TEST_SLOW_H

#include <stdio.h>
#include <stdlib.h>

/*
 * A limit after which a test gives up, in any unit, times the environment variable SMC_SLOW: 1
 * without it, more where the machine is that much slower. lib/slow.py is the same for Python.
 * Not for what a test sleeps to let something happen, nor for what has to take at least so long.
 */
static inline long slow(long limit)
{
	static long factor;

	if (!factor) {
		const char *text = getenv("SMC_SLOW");
		char *end = NULL;

		factor = text && *text ? strtol(text, &end, 10) : 1;
		if (factor < 1 || (end && *end)) {
			fprintf(stderr, "SMC_SLOW is not a positive integer: %s\n", text);
			exit(2);
		}
	}
	return limit * factor;
}

#endif
