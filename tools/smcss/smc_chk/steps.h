/* SPDX-License-Identifier: GPL-2.0 */
/* Steps of a connection that smc_chk tried: what was seen, and what to do about it. */
#ifndef SMC_TOOLS_STEPS_H
#define SMC_TOOLS_STEPS_H

#include "sock_record.h"

enum check_step {
	STEP_SOCKET,		/* the module gives out SMC sockets */
	STEP_TCP,		/* somebody answers */
	STEP_OPTION,		/* both ends have the SMC option in the TCP handshake */
	STEP_PROPOSAL,		/* we had something to propose */
	STEP_ACCEPT,		/* the peer took it */
	STEP_LINK,		/* the device, the GIDs, the buffers */
	STEP_DATA,		/* bytes went there and back */
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

/* What the kernel's record of our socket says of the steps from the option to the link. */
void check_record(struct check *check, const struct record *r);

void check_print(FILE *out, const struct check *check);
void check_json(FILE *out, const struct check *check);

#endif /* SMC_TOOLS_STEPS_H */
