/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The configuration that a reboot loses: settings, EIDs, PNETIDs, filter rules. It can be read from
 * the kernel or a file, written to a file, and applied.
 */
#ifndef SMC_TOOLS_STATE_H
#define SMC_TOOLS_STATE_H

#include <stdbool.h>
#include <stdio.h>

#include "array.h"

struct genl;

#define SETTING_ROOM	64

struct setting {
	char name[SETTING_ROOM];	/* without net.smc. */
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

/* The netlink families: one for EIDs and rules, one for PNETIDs. */
struct state_genl {
	struct genl *smc;
	struct genl *pnet;
};

void state_init(struct state *state);
void state_free(struct state *state);

/* Returns an exit code, after printing a message on failure. */
int state_read(const struct state_genl *genl, struct state *state);

void state_print(FILE *out, const struct state *state);

/*
 * Parses the output of state_print(). Ends the program on a usage error. Returns an exit code,
 * after printing a message on failure.
 */
int state_parse(FILE *in, const char *name, struct state *state);

/*
 * Applies a state: all tables, and the settings that it names. After a failure everything is
 * restored; messages report the failure and the restoration. Returns an exit code.
 */
int state_apply(const struct state_genl *genl, const struct state *state);

#endif /* SMC_TOOLS_STATE_H */
