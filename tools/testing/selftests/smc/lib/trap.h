/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A page that only becomes available when the test says so (userfaultfd).  A system call that
 * accesses it sleeps until then, with whatever lock it holds.
 */
#ifndef SMC_TEST_TRAP_H
#define SMC_TEST_TRAP_H

#include <pthread.h>
#include <stdbool.h>

bool trap_set(void);			/* false: this kernel has no userfaultfd */
void *trap_page(void);
void trap_await(int n);			/* waits until n more tasks sleep on the page */
void trap_open(void);			/* provides the page, for all of them */
void trap_again(void);			/* takes the page away again */

/* A system call that owns the socket until trap_open(), and changes nothing. */
void trap_hold(int fd);
/* Starts a thread with a small stack. */
pthread_t trap_thread(void *(*run)(void *arg), void *arg);
/* Starts a thread that calls trap_hold(); join it afterwards. */
pthread_t trap_owner(int *fd);

#endif
