/* SPDX-License-Identifier: GPL-2.0 */
/* SIGINT and SIGTERM end a wait, after which the program says what it has found. */
#ifndef SMC_TOOLS_INTERRUPT_H
#define SMC_TOOLS_INTERRUPT_H

#include <stdbool.h>

/* From now on these signals are noted; a system call that one of them interrupts fails. */
void interrupt_catch(void);

/* Has one of them come? */
bool interrupted(void);

/* The time by the clock of interrupt_wait(), in seconds. */
double interrupt_clock(void);

/*
 * Waits until this time (INFINITY: for very long), at most until there is something to read from fd
 * (-1: from nowhere) or a signal comes, even if it came before. True if there is something to read.
 */
bool interrupt_wait(int fd, double until);

#endif /* SMC_TOOLS_INTERRUPT_H */
