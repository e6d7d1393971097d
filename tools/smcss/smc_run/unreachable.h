/* SPDX-License-Identifier: GPL-2.0 */
/* Which programs a preloaded library does not reach. */
#ifndef SMC_TOOLS_UNREACHABLE_H
#define SMC_TOOLS_UNREACHABLE_H

#include <limits.h>

const char *unreachable(const char *name, char path[PATH_MAX]);

#endif
