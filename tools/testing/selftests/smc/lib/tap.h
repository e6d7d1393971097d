/* SPDX-License-Identifier: GPL-2.0 */
/* Minimal TAP output for unit tests: the plan comes last, and failures do not end the program. */
#ifndef SMC_UNIT_TAP_H
#define SMC_UNIT_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned int tap_run;
static unsigned int tap_failed;
static unsigned int tap_bad;		/* checks that failed since tap_case() */

/*
 * The next value of a range that takes long on an emulated CPU: from 2048 on, only one of EVERY
 * values is tried.
 */
#ifndef EVERY
#define EVERY	1
#endif
#define next_of(v)	((v) + ((v) < 2048 ? 1 : EVERY))

/* A check within a case. Only the first few failures of a case are explained. */
#define CHECK(cond, ...)						\
	do {								\
		if (!(cond) && tap_bad++ < 5) {				\
			printf("# %s:%d: %s: ", __FILE__, __LINE__, #cond); \
			printf(__VA_ARGS__);				\
			putchar('\n');					\
		}							\
	} while (0)

/* Ends a case: it passes if no check failed since the last one ended. */
__attribute__((format(printf, 1, 2)))
static inline void tap_case(const char *fmt, ...)
{
	va_list args;

	printf("%sok %u ", tap_bad ? "not " : "", ++tap_run);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	tap_failed += tap_bad != 0;
	tap_bad = 0;
}

/* Prints the plan. Returns the exit code of the program. */
static inline int tap_done(void)
{
	printf("1..%u\n", tap_run);
	return tap_failed || !tap_run;
}

#endif /* SMC_UNIT_TAP_H */
