/* SPDX-License-Identifier: GPL-2.0 */
/* The steps of a connection that smc_chk tries: results, and what to do about failures. */
#ifndef SMC_TOOLS_STEPS_H
#define SMC_TOOLS_STEPS_H

#include "sock_record.h"

enum check_step {
	STEP_SOCKET,		/* the module creates SMC sockets */
	STEP_TCP,		/* the TCP connection is established */
	STEP_OPTION,		/* both ends sent the SMC option in the TCP handshake */
	STEP_PROPOSAL,		/* we had something to propose */
	STEP_ACCEPT,		/* the peer accepted it */
	STEP_LINK,		/* device, GIDs and buffers */
	STEP_DATA,		/* data was sent and received */
	STEPS,
};

enum check_result { NOT_TRIED, PASSED, FAILED };

struct check {
	const char *host;
	char address[ADDRESS_ROOM];
	struct {
		enum check_result result;
		char words[200];
	} steps[STEPS];
	const char *mode;		/* "SMCR", "SMCD", "TCP"; NULL: no connection */
	bool has_fallback;
	struct smc_diag_fallback fallback;
	char remedy[300];
};

void check_step(struct check *check, enum check_step step, enum check_result result,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

/* What to do if connect() fails with this errno. */
const char *connect_remedy(int error);

/* Sets the steps from STEP_OPTION to STEP_LINK according to the kernel's record of our socket. */
void check_record(struct check *check, const struct record *r);

void check_print(FILE *out, const struct check *check);
void check_json(FILE *out, const struct check *check);

#endif /* SMC_TOOLS_STEPS_H */
