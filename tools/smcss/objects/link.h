/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by link groups and links. */
#ifndef SMC_TOOLS_LINK_H
#define SMC_TOOLS_LINK_H

#include "genl.h"
#include "objects.h"

extern const struct field linkgroup_r_fields[];

/* SERV or CLNT; SINGLE, SYM ... */
const char *linkgroup_role(uint8_t role);
const char *linkgroup_type(uint8_t type, char room[16]);

bool link_fits(const struct link *link, const struct filter *filter);

#endif /* SMC_TOOLS_LINK_H */
