// SPDX-License-Identifier: GPL-2.0
/* The module: registration of everything, in order, and its undoing. */
#include <linux/init.h>
#include <linux/module.h>

static int __init smc_init(void)
{
	return 0;
}

static void __exit smc_exit(void)
{
}

module_init(smc_init);
module_exit(smc_exit);

MODULE_DESCRIPTION("Shared Memory Communications sockets (AF_SMC)");
MODULE_LICENSE("GPL");
