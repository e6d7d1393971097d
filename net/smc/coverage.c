// SPDX-License-Identifier: GPL-2.0
/*
 * Which blocks of this module have run, in test builds for a kernel with CONFIG_KCOV.
 *
 * The compiler calls __sanitizer_cov_trace_pc() in every block. The kernel's own, which this one
 * hides from our objects, sees what one task does in its system calls. Most of a handshake, of a
 * close and of LLC runs in works, timers and softirqs, so this one looks at all of them.
 */
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/debugfs.h>
#include <linux/kcov.h>
#include "coverage.h"

/*
 * A bit for each 2 bytes of code, as no call is shorter: two blocks have one bit only if they are
 * further apart than this module is long.
 */
#define COVERAGE_BITS	BIT(19)

static DECLARE_BITMAP(seen, COVERAGE_BITS);
static u32 blocks;
static struct debugfs_blob_wrapper seen_blob = { .data = seen, .size = sizeof(seen) };
static struct dentry *dir;

/* Any context, so no locks: processors that race for a bit may count it twice. */
notrace void __sanitizer_cov_trace_pc(void)
{
	unsigned long at = _RET_IP_ - (unsigned long)__sanitizer_cov_trace_pc;

	at = (at >> 1) % COVERAGE_BITS;
	if (!test_bit(at, seen)) {
		__set_bit(at, seen);
		blocks++;
	}
}

/**
 * smc_coverage_init() - show it in debugfs, smc/
 *
 * blocks: how many have run since the module was loaded; map: which, as a bitmap.
 * Context: process context, sleeps.
 */
void __init smc_coverage_init(void)
{
	dir = debugfs_create_dir("smc", NULL);
	debugfs_create_u32("blocks", 0400, dir, &blocks);
	debugfs_create_blob("map", 0400, dir, &seen_blob);
}

/**
 * smc_coverage_exit() - take that away
 *
 * Context: process context, sleeps.
 */
void smc_coverage_exit(void)
{
	debugfs_remove(dir);
}
