/* SPDX-License-Identifier: GPL-2.0 */
/* Scales the time limits of tests on slow machines. */
#ifndef SMC_TEST_SLOW_H
#define SMC_TEST_SLOW_H

#include <stdio.h>
#include <stdlib.h>

/*
 * Multiplies a limit after which a test gives up, in any unit, by the environment variable
 * SMC_SLOW: 1 by default, larger on machines that are slower by this factor. lib/slow.py does the
 * same in Python. Not for pauses that let something happen, nor for minimum times.
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
