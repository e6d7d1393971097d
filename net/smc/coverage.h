/* SPDX-License-Identifier: GPL-2.0 */
/* Code coverage of this module; compiled out without test hooks and CONFIG_KCOV. */
#ifndef SMC_COVERAGE_H
#define SMC_COVERAGE_H

#include <linux/init.h>

#if defined(CONFIG_SMC_TEST) && defined(CONFIG_KCOV)
void __init smc_coverage_init(void);
void smc_coverage_exit(void);
#else
static inline void smc_coverage_init(void) { }
static inline void smc_coverage_exit(void) { }
#endif

#endif
