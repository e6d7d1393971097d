/* SPDX-License-Identifier: GPL-2.0 */
/* SIGINT and SIGTERM end a wait, after which the program prints its results. */
#ifndef SMC_TOOLS_INTERRUPT_H
#define SMC_TOOLS_INTERRUPT_H

#include <stdbool.h>

/* From now on these signals are recorded. They also interrupt system calls, which fail. */
void interrupt_catch(void);

/* Has one of the signals arrived? */
bool interrupted(void);

/* Current time of the clock that interrupt_wait() uses, in seconds. */
double interrupt_clock(void);

/*
 * Waits until the given time (INFINITY: a very long time), until there is something to read from fd
 * (-1: none), or until a signal arrives or has arrived. True if there is something to read.
 */
bool interrupt_wait(int fd, double until);

#endif /* SMC_TOOLS_INTERRUPT_H */
