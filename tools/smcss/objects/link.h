/* SPDX-License-Identifier: GPL-2.0 */
/* What link groups and links know of each other. */
#ifndef SMC_TOOLS_LINK_H
#define SMC_TOOLS_LINK_H

#include "genl.h"
#include "objects.h"

extern const struct field linkgroup_r_fields[];

bool link_fits(const struct link *link, const struct filter *filter);

#endif /* SMC_TOOLS_LINK_H */
