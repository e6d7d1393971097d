/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One case on two machines (smc_sock_test --play): the client machine says
 * which case to run; the server machine runs the server role and reports the
 * result.
 */
#ifndef SMC_TEST_MACHINES_H
#define SMC_TEST_MACHINES_H

#include <stdbool.h>
#include <stddef.h>

struct order {
	char test[48];
	char variant[16];
};

/* The server machine waits for the other one, which may still be booting. */
void machines_meet(bool server);

/* Gets the next case to run and the control channel of its roles. Returns false at the end. */
bool machines_next(struct order *order, int *ctl);
void machines_tell(bool ok, const char *why, const char *log);

/* Starts a case on the other machine. Returns the control channel of its roles. */
int machines_ask(const char *test, const char *variant);
/* Gets the result from the other machine. Returns false, with the reason in @why, on failure. */
bool machines_hear(char *why, size_t why_len, char *log, size_t log_len);

#endif
