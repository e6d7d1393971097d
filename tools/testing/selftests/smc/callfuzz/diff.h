/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the parts of smc_diff_test. */
#ifndef SMC_TEST_DIFF_H
#define SMC_TEST_DIFF_H

#include <stdbool.h>
#include <stddef.h>

struct program;

/* These programs have one thread: step.thread of the first step says how one is played, ... */
enum {
	PROMPT = 1,		/* with short naps, so that data are still held back */
	NEGOTIATE,		/* CLC instead of pairs */
	WAYS_TO_PLAY
};

/* ... and of another step of a sweep, that the next call follows without a nap. */
#define AT_ONCE		2

bool sweep_program(struct program *p, unsigned int n);
void sweep_values(unsigned int n);		/* try only the first n values */
unsigned int sweep_next(unsigned int n);	/* the first program of the next option */
void sweep_name(unsigned int n, char *text, size_t size);

#endif
