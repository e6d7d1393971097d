/* SPDX-License-Identifier: GPL-2.0 */
/* The PNET table: which interfaces and devices are on one physical network. */
#ifndef SMC_TOOLS_PNET_TABLE_H
#define SMC_TOOLS_PNET_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "genl.h"

#define PNETID_ROOM	(16 + 1)

struct pnet {
	char id[PNETID_ROOM];
	char interface[64];	/* "" or "n/a": the entry names a device */
	char device[64];
	uint8_t port;
};

/*
 * Converts what a user has entered to capitals, as the kernel stores it. False: not a PNETID, which
 * has 1 to 16 letters and digits.
 */
bool pnetid_parse(const char *text, char id[PNETID_ROOM]);

/* Does this member of an entry name something? Modules use "" or "n/a" if not. */
bool pnet_names(const char *text);

/* Both return 0 or an errno. id NULL: the whole table. */
int pnets_read(struct genl *genl, const char *id, struct array *pnets);
int pnet_change(struct genl *genl, uint8_t command, const struct pnet *pnet);

void pnets_print(FILE *out, const struct array *pnets);
void pnets_json(FILE *out, const struct array *pnets);

#endif /* SMC_TOOLS_PNET_TABLE_H */
