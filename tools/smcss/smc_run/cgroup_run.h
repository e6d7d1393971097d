/* SPDX-License-Identifier: GPL-2.0 */
/* Runs a program in the cgroup of a conversion, stays with it, and passes signals on. */
#ifndef SMC_TOOLS_CGROUP_RUN_H
#define SMC_TOOLS_CGROUP_RUN_H

#include "cgroup_convert.h"

int cgroup_run(struct conversion *c, int (*start)(struct conversion *c, char **argv), char **argv);

#endif
