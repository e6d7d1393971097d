// SPDX-License-Identifier: GPL-2.0
/*
 * Records which basic blocks of this module have run, in test builds on a kernel with CONFIG_KCOV.
 *
 * The compiler calls __sanitizer_cov_trace_pc() in every basic block. The kernel's own version
 * records only what one task does in its system calls. But most of a handshake, of a close and of
 * LLC runs in work items, timers and softirqs, so this version, which hides the kernel's from our
 * objects, records every context.
 */
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/debugfs.h>
#include <linux/kcov.h>
#include "coverage.h"
/* In a kernel whose run follows from a number, something may happen at each block. */
#ifdef SMC_HAVE_SEED
#include <asm/seed.h>
#else
static inline void seed_point(unsigned long ip) { }
#endif

/*
 * One bit for every 2 bytes of code. No call instruction is that short, so two blocks share a bit
 * only if they are further apart than this module is long.
 */
#define COVERAGE_BITS	BIT(19)

static DECLARE_BITMAP(seen, COVERAGE_BITS);
static u32 blocks;
static struct debugfs_blob_wrapper seen_blob = { .data = seen, .size = sizeof(seen) };
static struct dentry *dir;

/* Runs in any context and takes no locks: CPUs that race for a bit may count the block twice. */
notrace void __sanitizer_cov_trace_pc(void)
{
	unsigned long at = _RET_IP_ - (unsigned long)__sanitizer_cov_trace_pc;

	at = (at >> 1) % COVERAGE_BITS;
	if (!test_bit(at, seen)) {
		__set_bit(at, seen);
		blocks++;
	}
	seed_point(_RET_IP_);
}

/**
 * smc_coverage_init() - show the coverage in debugfs, smc/
 *
 * blocks: number of blocks that have run since the module was loaded; map: bitmap of these blocks.
 * Context: process context, sleeps.
 */
void __init smc_coverage_init(void)
{
	dir = debugfs_create_dir("smc", NULL);
	debugfs_create_u32("blocks", 0400, dir, &blocks);
	debugfs_create_blob("map", 0400, dir, &seen_blob);
}

/**
 * smc_coverage_exit() - remove the debugfs files
 *
 * Context: process context, sleeps.
 */
void smc_coverage_exit(void)
{
	debugfs_remove(dir);
}
