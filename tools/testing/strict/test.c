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

static char *spare;
module_param(spare, charp, 0400);
MODULE_PARM_DESC(spare, "name of a strict device that may be removed");

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

/* Memory is still mapped for a device that is removed. */
static const char *remove_mapped(struct ib_device *ibdev)
{
	u8 *mem = kmalloc(100, GFP_KERNEL);

	kept = (struct strict_kept) {};
	WRITE_ONCE(strict_kept, &kept);
	ib_dma_map_single(ibdev, mem, 100, DMA_TO_DEVICE);
	ib_unregister_device_and_put(ibdev);
	WRITE_ONCE(strict_kept, NULL);
	kfree(mem);
	return strstr(kept.text, "100 bytes at") ? NULL : "the device did not complain";
}

static void remove_device(void)
{
	struct ib_device *ibdev = ib_device_get_by_name(spare, RDMA_DRIVER_UNKNOWN);
	const char *wrong = ibdev ? remove_mapped(ibdev) : "no device";

	WARN(wrong, "strict_test: not ok remove_mapped: %s\n%s", wrong, kept.text);
	pr_info("strict_test: %s remove_mapped\n", wrong ? "not ok" : "ok");
}

static int __init test_init(void)
{
	struct ib_device *ibdev = ib_device_get_by_name(device, RDMA_DRIVER_UNKNOWN);

	if (!ibdev)
		return -ENODEV;
	run_cases(ibdev, test_queue_cases);
	run_cases(ibdev, test_memory_cases);
	run_cases(ibdev, test_dma_cases);
	run_cases(ibdev, test_attr_cases);
	run_cases(ibdev, test_path_cases);
	run_cases(ibdev, test_limit_cases);
	ib_device_put(ibdev);
	if (spare)
		remove_device();
	return 0;
}
module_init(test_init);

static void __exit test_exit(void)
{
}
module_exit(test_exit);

MODULE_DESCRIPTION("A consumer of the strict RDMA device that breaks the rules");
MODULE_LICENSE("GPL");
