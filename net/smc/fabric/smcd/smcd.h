/* SPDX-License-Identifier: GPL-2.0 */
/* SMC-D: what its two fabrics, loopback and ISM devices, share, and their entry points. */
#ifndef SMC_FABRIC_SMCD_SMCD_H
#define SMC_FABRIC_SMCD_SMCD_H

#include <linux/types.h>

struct smc_clc_ism_gid;
struct smc_clc_proposal;

int smcd_init(void);
void smcd_exit(void);
bool smcd_offer_gid(struct smc_clc_proposal *p, const struct smc_clc_ism_gid *gid);

/* loopback.c */
int smc_loopback_init(void);
void smc_loopback_exit(void);

#endif
