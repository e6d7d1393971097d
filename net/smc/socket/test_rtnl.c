// SPDX-License-Identifier: GPL-2.0
/* Test builds: hold RTNL, as a driver may do for long while it changes the state of its device. */
#include <linux/completion.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>
#include "../test_hold.h"

static bool hold_rtnl;
static DECLARE_COMPLETION(rtnl_is_held);

static void hold_work(struct work_struct *work)
{
	rtnl_lock();
	complete(&rtnl_is_held);
	smc_test_hold(&hold_rtnl);
	rtnl_unlock();
	module_put(THIS_MODULE);
}

static DECLARE_WORK(hold, hold_work);

/* RTNL is held, or is held no more, when this returns. */
static int hold_rtnl_set(const char *val, const struct kernel_param *kp)
{
	bool before = hold_rtnl;
	int rc = param_set_bool(val, kp);

	if (rc || hold_rtnl == before)
		return rc;
	if (!hold_rtnl) {
		flush_work(&hold);
		return 0;
	}
	__module_get(THIS_MODULE);
	queue_work(system_long_wq, &hold);
	wait_for_completion(&rtnl_is_held);
	return 0;
}

static const struct kernel_param_ops hold_rtnl_ops = {
	.set	= hold_rtnl_set,
	.get	= param_get_bool,
};

module_param_cb(hold_rtnl, &hold_rtnl_ops, &hold_rtnl, 0600);
MODULE_PARM_DESC(hold_rtnl, "hold RTNL until this is cleared");
