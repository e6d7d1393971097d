/* SPDX-License-Identifier: GPL-2.0 */
/* Which module named smc is loaded: ours has a version, the kernel's own has none. */
#ifndef SMC_TOOLS_WHICH_MODULE_H
#define SMC_TOOLS_WHICH_MODULE_H

#include <stdbool.h>

/* True if smc is loaded and is the kernel's own module. */
bool module_is_kernels(void);

#endif /* SMC_TOOLS_WHICH_MODULE_H */
