/* SPDX-License-Identifier: GPL-2.0 */
/* What link groups and links know of each other. */
#ifndef SMCSS_LINK_H
#define SMCSS_LINK_H

#include "genl.h"
#include "object.h"

extern const struct field linkgroup_r_fields[];

bool link_fits(const struct link *link, const struct filter *filter);

#endif /* SMCSS_LINK_H */
