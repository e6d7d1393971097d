/* SPDX-License-Identifier: GPL-2.0 */
/* The ways that this kernel has to exchange the option, and what they share. */
#ifndef SMC_TCPOPT_WAYS_H
#define SMC_TCPOPT_WAYS_H

#include "tcpopt.h"

#ifdef SMC_HAVE_TCP_HOOKS
extern const struct smc_tcpopt smc_tcpopt_hooks;	/* hooks.c */
#endif

#endif
