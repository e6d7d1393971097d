/* SPDX-License-Identifier: GPL-2.0 */
/* Check kernel messages since the last check. */
#ifndef SMC_TEST_KLOG_H
#define SMC_TEST_KLOG_H

#include <stdbool.h>
#include <stddef.h>

/* Starts at the end of the log. Without permission to read it, nothing is checked. */
bool klog_open(void);

/*
 * Reads new messages. Returns the number of lines that report a problem, and the first of them in
 * @first.
 */
int klog_check(char *first, size_t len);

/* As klog_check(), but counts all lines that do not match @expected (an extended regex). */
int klog_said(const char *expected, char *first, size_t len);

#endif
