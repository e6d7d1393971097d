/* SPDX-License-Identifier: GPL-2.0 */
/* Judge what the kernel logged since the last look. */
#ifndef SMC_TEST_KLOG_H
#define SMC_TEST_KLOG_H

#include <stdbool.h>
#include <stddef.h>

/* Start listening at the end of the log; without permission nothing is judged. */
bool klog_open(void);

/*
 * Read what came since. Returns the number of lines that tell of trouble, and
 * the first of them in @first.
 */
int klog_check(char *first, size_t len);

/* The same, but every line is one too many, except those of @expected (an extended regex). */
int klog_said(const char *expected, char *first, size_t len);

#endif
