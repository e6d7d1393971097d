/* SPDX-License-Identifier: GPL-2.0 */
/* The VLANs that ISM devices have joined. */
#ifndef SMC_FABRIC_SMCD_VLAN_H
#define SMC_FABRIC_SMCD_VLAN_H

#include "ism.h"

int smcd_vlan_join(struct smc_ism_dev *dev, u16 vlan);
int smcd_vlan_hold(struct smc_ism_dev *dev, u16 vlan);
void smcd_vlan_release(struct smc_ism_dev *dev, u16 vlan);
void smcd_vlans_leave(struct smc_ism_dev *dev);

#endif
