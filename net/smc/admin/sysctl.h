/* SPDX-License-Identifier: GPL-2.0 */
/* net.smc.* of a network namespace. */
#ifndef SMC_ADMIN_SYSCTL_H
#define SMC_ADMIN_SYSCTL_H

struct pernet_operations;

extern struct pernet_operations smc_sysctl_net_ops;

#endif
