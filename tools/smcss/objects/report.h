/* SPDX-License-Identifier: GPL-2.0 */
/* Everything that a report of a fault, or a look at a host, needs. */
#ifndef SMC_TOOLS_REPORT_H
#define SMC_TOOLS_REPORT_H

#include <stdio.h>
#include <time.h>

#include "prometheus.h"
#include "sock_record.h"

struct report {
	time_t time;
	char host[HOST_ROOM];
	char kernel[128];
	char system[128];		/* name of the distribution, or "" */
	char module[192];		/* whose it is, as far as is known */
	double seconds;			/* between the two below; 0: @before is not there */
	struct exported before;
	struct exported now;
	struct array devices[2];	/* struct device, by enum smc_kind */
	struct records records;		/* sockets, with their link group */
	struct array processes;		/* struct process */
};

/* report.c; all of it as text, for a report of a fault */
void report_init(struct report *report);
void report_free(struct report *report);
void report_print(FILE *out, struct genl *genl, const struct report *report);

/* report_html.c; a page with pictures, and the text at its end */
void report_html(FILE *out, const struct report *report, const char *text);

#endif /* SMC_TOOLS_REPORT_H */
