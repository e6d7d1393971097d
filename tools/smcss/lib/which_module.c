// SPDX-License-Identifier: GPL-2.0
#include <unistd.h>

#include "which_module.h"

bool module_is_kernels(void)
{
	return access("/sys/module/smc", F_OK) == 0 && access("/sys/module/smc/version", F_OK) != 0;
}
