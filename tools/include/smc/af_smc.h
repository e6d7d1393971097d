/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * SMC sockets for programs: constants that older C libraries lack, and all that the module adds to
 * the kernel's <linux/smc.h> and <linux/smc_diag.h>.  This header replaces those two: including
 * them afterwards has no effect.  smc(7) describes how to use the constants.
 */
#ifndef SMC_AF_SMC_H
#define SMC_AF_SMC_H

#if defined(_LINUX_SMC_H_) || defined(_SMC_DIAG_H_)
#error "include <smc/af_smc.h> before <linux/smc.h> and <linux/smc_diag.h>"
#endif
#define _LINUX_SMC_H_
#define _SMC_DIAG_H_

#include <smc/smc.h>
#include <smc/smc_diag.h>
#include <smc/smc_reason.h>

#ifndef AF_SMC
#define AF_SMC		43
#endif
#ifndef PF_SMC
#define PF_SMC		AF_SMC
#endif
#ifndef SOL_SMC
#define SOL_SMC		286
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif

/* protocols of AF_SMC, which select the version of IP */
#define SMCPROTO_SMC	0
#define SMCPROTO_SMC6	1

#endif /* SMC_AF_SMC_H */
