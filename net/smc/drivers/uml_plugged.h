/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device of a driver under User Mode Linux: the region "ism" of the kernel's command line.  No
 * bus plugs it in or unplugs it, so the module parameter "plugged" does.  Included once by each
 * driver, which provides plug() and unplug().
 */
#ifndef SMC_DRIVERS_UML_PLUGGED_H
#define SMC_DRIVERS_UML_PLUGGED_H

#include <linux/kstrtox.h>
#include <linux/moduleparam.h>
#include <mem_user.h>

/* Returns 0 or a negative errno. */
static int plug(void *mem, unsigned long len);
/* Only called after plug() has succeeded. */
static void unplug(void);

/* Under the lock of the module's parameters, except in the module's init and exit. */
static bool plugged;

static int uml_plug(bool want)
{
	unsigned long len, mem = find_iomem("ism", &len);
	int rc = 0;

	if (!mem || want == plugged)
		return 0;
	if (want)
		rc = plug((void *)mem, len);
	else
		unplug();
	plugged = want && !rc;
	return rc;
}

static int set_plugged(const char *val, const struct kernel_param *kp)
{
	bool want;

	return kstrtobool(val, &want) ?: uml_plug(want);
}

static const struct kernel_param_ops plugged_ops = {
	.set = set_plugged,
	.get = param_get_bool,
};

module_param_cb(plugged, &plugged_ops, &plugged, 0600);
MODULE_PARM_DESC(plugged, "whether the device is plugged in; write it to plug or unplug the device");

#endif
