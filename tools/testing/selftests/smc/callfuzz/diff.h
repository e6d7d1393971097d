/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the parts of smc_diff_test. */
#ifndef SMC_TEST_DIFF_H
#define SMC_TEST_DIFF_H

#include <stdbool.h>
#include <stddef.h>

struct program;

#define AT_ONCE		2	/* as step.thread: the next call follows without a nap */

bool sweep_program(struct program *p, unsigned int n);
void sweep_values(unsigned int n);		/* try only the first n values */
unsigned int sweep_next(unsigned int n);	/* the first program of the next option */
void sweep_name(unsigned int n, char *text, size_t size);

#endif
