/* SPDX-License-Identifier: GPL-2.0 */
/* The content of a problem report, or of a page that shows the state of a host. */
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
	char module[192];		/* which module it is, as far as known */
	double seconds;			/* from @before to @now; 0: @before is not set */
	struct exported before;
	struct exported now;
	struct array devices[2];	/* struct device, by enum smc_kind */
	struct records records;		/* sockets with their link groups */
	struct array processes;		/* struct process */
};

/* report.c; everything as text */
void report_init(struct report *report);
void report_free(struct report *report);
void report_print(FILE *out, struct genl *genl, const struct report *report);

/* report_html.c; a page with graphics, and the text at its end */
void report_html(FILE *out, const struct report *report, const char *text);

/* The name of the system, if this is the line of os-release(5) that has it. */
void report_take_system(const char *line, char *name, size_t size);

/*
 * Prints those options of the kernel's command line that matter for SMC: others may have secrets.
 * Cuts the line.
 */
void report_boot_options(FILE *out, char *line);

#endif /* SMC_TOOLS_REPORT_H */
