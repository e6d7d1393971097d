/* SPDX-License-Identifier: GPL-2.0 */
/* Counters in the text format of Prometheus, for the textfile collector. */
#ifndef SMC_TOOLS_PROMETHEUS_H
#define SMC_TOOLS_PROMETHEUS_H

#include "stats.h"

struct exported {
	struct stats of[2];		/* by enum smc_kind; never reset */
	struct sysinfo info;
	struct array groups[2];		/* struct linkgroup */
	struct array links;		/* struct link */
};

int exported_read(struct genl *genl, struct exported *e);	/* 0 or an errno */
void exported_free(struct exported *e);
void exported_print(FILE *out, const struct exported *e);

#endif /* SMC_TOOLS_PROMETHEUS_H */
