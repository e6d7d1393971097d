/* SPDX-License-Identifier: GPL-2.0 */
/* ISM devices as seen by SMC-D. */
#ifndef SMC_FABRIC_SMCD_DEV_H
#define SMC_FABRIC_SMCD_DEV_H

#include "../../config/pnet.h"
#include "../../wire/clc.h"
#include "ism.h"

/* Number of the loopback device and of its link group; all others have greater numbers. */
#define SMC_LOOPBACK_NUMBER	1

static inline bool smc_ism_is_mapped(const struct smc_ism_ops *ops)
{
	return ops->map;
}

/* Emulated devices, of a hypervisor or driver, have extended GIDs (128 bits). */
static inline bool smcd_dev_emulated(const struct smc_ism_dev *dev)
{
	return smc_clc_chid_emulated(dev->chid);
}

/* An ISM device has a single port. */
static inline struct smc_pnet_port smcd_pnet_port(const struct smc_ism_dev *dev)
{
	return (struct smc_pnet_port) {
		.dev = dev->name, .port = 1, .own = *dev->pnetid ? dev->pnetid : NULL,
	};
}

void smcd_dev_remove(struct smc_ism_dev *dev);
unsigned int smcd_devs_seq(void);
bool smcd_dev_tryget(struct smc_ism_dev *dev);
void smcd_dev_put(struct smc_ism_dev *dev);
struct smc_ism_dev *smcd_dev_next(u32 after);

/* Read under RCU, to see whether there are any devices. */
extern struct list_head smc_ism_devs;

static inline bool smcd_dev_any(void)
{
	return !list_empty(&smc_ism_devs);
}

#endif
