/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the parts of smc_input_test. */
#ifndef SMC_TEST_INPUT_H
#define SMC_TEST_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "surface.h"

#define ARRAY(list)	(sizeof(list) / sizeof((list)[0]))

/* Marks this case as failed; the first few times it prints the reason. */
void wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
unsigned int wrongs(void);		/* in this case so far */

/* Runs and judges a case; @arg is its subject. */
void play(const char *name, void (*run)(const void *arg), const void *arg);

/* Calls body(arg) in another process; failures there count here. */
void in_child(void (*body)(const void *arg), const void *arg);

/* The identity under which something is tried. */
enum actor {
	NOBODY,			/* without any privilege */
	ALONE,			/* root of a user namespace, in the initial network namespace */
	CONTAINED,		/* the same, in a network namespace of its own */
	ELSEWHERE,		/* root of the host, in another network namespace */
	ACTORS,
};

extern const char * const actor_names[ACTORS];
void become(enum actor actor);		/* for the rest of this process */

const char *error_name(int error);

/* Each runs its cases. */
void input_sysctls(void);
void input_options(void);
void input_netlink(void);
void input_diag(void);

#endif
