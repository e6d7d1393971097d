/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A page that comes when the test says so (userfaultfd).  A system call that reads it sleeps
 * meanwhile, with whatever lock it holds.
 */
#ifndef SMC_TEST_TRAP_H
#define SMC_TEST_TRAP_H

#include <pthread.h>
#include <stdbool.h>

bool trap_set(void);			/* false: this kernel has none */
void *trap_page(void);
void trap_await(int n);			/* so many more are in it now */
void trap_open(void);			/* it comes, for all of them */
void trap_again(void);			/* it is away again */

/* A thread of its own, with a small stack. */
pthread_t trap_thread(void *(*run)(void *arg), void *arg);
/* A system call owns the socket until trap_open(); to be joined then. */
pthread_t trap_owner(int *fd);

#endif
