// SPDX-License-Identifier: GPL-2.0
/* Runs all cases on the RDMA device `device`, when the module is loaded; a failure warns. */
#include <linux/module.h>
#include <linux/slab.h>
#include "strict.h"
#include "test.h"

static char *device = "rxe0";
module_param(device, charp, 0400);
MODULE_PARM_DESC(device, "name of the strict device");

static char *only;
module_param(only, charp, 0400);
MODULE_PARM_DESC(only, "name of the only case to run");

static int rounds = 10;
module_param(rounds, int, 0400);
MODULE_PARM_DESC(rounds, "how often to run each case: the device does something else each time");

static struct strict_kept kept;

static const char *judge(const struct test_case *test, const char *wrong)
{
	if (!wrong && test->complaint && !strstr(kept.text, test->complaint))
		return "the device did not complain";
	if (!wrong && !test->complaint && kept.length)
		return "the device complained";
	return wrong;
}

static bool run_once(struct ib_device *ibdev, const struct test_case *test)
{
	struct test_rig *rig = kzalloc(sizeof(*rig), GFP_KERNEL);
	const char *wrong;

	if (!rig)
		return false;
	kept = (struct strict_kept) {};
	WRITE_ONCE(strict_kept, &kept);
	wrong = test_begin(rig, ibdev, &test->options) ? "no queue pairs" : test->run(rig);
	test_end(rig);
	wrong = judge(test, wrong);
	WRITE_ONCE(strict_kept, NULL);
	WARN(wrong, "strict_test: not ok %s: %s\n%s", test->name, wrong, kept.text);
	kfree(rig);
	return !wrong;
}

static void run_cases(struct ib_device *ibdev, const struct test_case *test)
{
	int i;

	for (; test->name; test++) {
		if (only && strcmp(only, test->name))
			continue;
		for (i = 0; i < rounds && run_once(ibdev, test); i++)
			;
		pr_info("strict_test: %s %s\n", i == rounds ? "ok" : "not ok", test->name);
	}
}

static int __init test_init(void)
{
	struct ib_device *ibdev = ib_device_get_by_name(device, RDMA_DRIVER_UNKNOWN);

	if (!ibdev)
		return -ENODEV;
	run_cases(ibdev, test_queue_cases);
	run_cases(ibdev, test_memory_cases);
	run_cases(ibdev, test_attr_cases);
	ib_device_put(ibdev);
	return 0;
}
module_init(test_init);

static void __exit test_exit(void)
{
}
module_exit(test_exit);

MODULE_DESCRIPTION("A consumer of the strict RDMA device that breaks the rules");
MODULE_LICENSE("GPL");
