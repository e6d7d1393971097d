/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One case on two machines (smc_sock_test --play): that of the clients says
 * what is played, that of the servers plays its role and tells what came of it.
 */
#ifndef SMC_TEST_MACHINES_H
#define SMC_TEST_MACHINES_H

#include <stdbool.h>
#include <stddef.h>

struct order {
	char test[48];
	char variant[16];
};

/* The machine of the servers awaits the other one, which may still be booting. */
void machines_meet(bool server);

/* What to play next, with the control channel of its roles; false: nothing more. */
bool machines_next(struct order *order, int *ctl);
void machines_tell(bool ok, const char *why, const char *log);

/* Begins a case over there. Returns the control channel of its roles. */
int machines_ask(const char *test, const char *variant);
/* How it went there; false, with the reason in @why, when it failed. */
bool machines_hear(char *why, size_t why_len, char *log, size_t log_len);

#endif
