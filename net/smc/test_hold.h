/* SPDX-License-Identifier: GPL-2.0 */
/* In test builds a module parameter can hold a step, so that a test does something in between. */
#ifndef SMC_TEST_HOLD_H
#define SMC_TEST_HOLD_H

#ifdef CONFIG_SMC_TEST
#include <linux/delay.h>
#include <linux/moduleparam.h>

/* Wait until the parameter is cleared. Context: process, may sleep. */
static inline void smc_test_hold(const bool *held)
{
	while (READ_ONCE(*held))
		msleep(20);
}
#else
#define smc_test_hold(held)	do { } while (0)
#endif

#endif
