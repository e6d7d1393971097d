/* SPDX-License-Identifier: GPL-2.0 */
/* Which of the two modules of the name smc is loaded: ours says its version, the kernel's none. */
#ifndef SMC_TOOLS_WHICH_MODULE_H
#define SMC_TOOLS_WHICH_MODULE_H

#include <stdbool.h>

/* True: smc is loaded, and it is the kernel's own. */
bool module_is_kernels(void);

#endif /* SMC_TOOLS_WHICH_MODULE_H */
