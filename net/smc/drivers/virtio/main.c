// SPDX-License-Identifier: GPL-2.0
/* The module smc_ism_virtio: ISM devices over virtio-ism, memory that virtual machines share. */
#include <linux/module.h>
#include "vism.h"

static int __init vism_module_init(void)
{
	int rc;

	rc = vism_init();
	if (rc)
		return rc;
	rc = vism_virtio_init();
	if (rc)
		goto out;
	rc = IS_ENABLED(CONFIG_SMC_UML_MEM) ? vism_uml_init() : 0;
	if (!rc)
		return 0;
	vism_virtio_exit();
out:
	vism_exit();
	return rc;
}

static void __exit vism_module_exit(void)
{
	if (IS_ENABLED(CONFIG_SMC_UML_MEM))
		vism_uml_exit();
	vism_virtio_exit();
	vism_exit();
}

module_init(vism_module_init);
module_exit(vism_module_exit);
MODULE_DESCRIPTION("SMC-D over virtio-ism: memory that virtual machines of a host share");
MODULE_AUTHOR("The AF_SMC authors");
MODULE_VERSION(SMC_VERSION);
MODULE_LICENSE("GPL");
