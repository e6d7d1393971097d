/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an administrator has set, and a reboot forgets: settings, EIDs, PNETIDs, filter rules.
 * Read from the kernel or from a file, written to a file, made to be so.
 */
#ifndef SMC_TOOLS_STATE_H
#define SMC_TOOLS_STATE_H

#include <stdbool.h>
#include <stdio.h>

#include "array.h"

struct genl;

#define SETTING_ROOM	64

struct setting {
	char name[SETTING_ROOM];	/* below net.smc */
	char value[SETTING_ROOM];
};

struct state {
	struct array settings;	/* struct setting */
	struct array eids;	/* struct eid */
	bool has_seid;
	bool seid;		/* the system EID is in use */
	struct array pnets;	/* struct pnet */
	struct array rules;	/* struct rule, in order */
};

/* Both families: that of EIDs and rules, that of PNETIDs. */
struct state_genl {
	struct genl *smc;
	struct genl *pnet;
};

void state_init(struct state *state);
void state_free(struct state *state);

/* An exit code; what was wrong has been said. */
int state_read(const struct state_genl *genl, struct state *state);

void state_print(FILE *out, const struct state *state);

/* The same as state_print() wrote, or wrong usage, which ends the program. */
void state_parse(FILE *in, const char *name, struct state *state);

/*
 * Makes it so: all tables, and the settings that are named. After a failure all is as it was,
 * and both that and what failed has been said. An exit code.
 */
int state_apply(const struct state_genl *genl, const struct state *state);

#endif /* SMC_TOOLS_STATE_H */
