// SPDX-License-Identifier: GPL-2.0
/* The module smc_ism_ivshmem: ISM devices over memory that virtual machines of a host share. */
#include <linux/module.h>
#include "shm.h"

static int __init ivs_module_init(void)
{
	int rc;

	rc = ivs_init();
	if (rc)
		return rc;
	rc = IS_ENABLED(CONFIG_PCI) ? ivs_pci_init() : 0;
	if (rc)
		goto out;
	rc = IS_ENABLED(CONFIG_SMC_UML_MEM) ? ivs_uml_init() : 0;
	if (!rc)
		return 0;
	if (IS_ENABLED(CONFIG_PCI))
		ivs_pci_exit();
out:
	ivs_exit();
	return rc;
}

static void __exit ivs_module_exit(void)
{
	if (IS_ENABLED(CONFIG_SMC_UML_MEM))
		ivs_uml_exit();
	if (IS_ENABLED(CONFIG_PCI))
		ivs_pci_exit();
	ivs_exit();
}

module_init(ivs_module_init);
module_exit(ivs_module_exit);
MODULE_DESCRIPTION("SMC-D over ivshmem: memory that virtual machines of a host share");
MODULE_AUTHOR("The AF_SMC authors");
MODULE_VERSION(SMC_VERSION);
MODULE_LICENSE("GPL");
