/* SPDX-License-Identifier: GPL-2.0 */
/* Which ISM device may carry a connection, and which one reaches the peer. */
#ifndef SMC_FABRIC_SMCD_REACH_H
#define SMC_FABRIC_SMCD_REACH_H

#include "dev.h"

struct sock;

/**
 * struct smcd_way - how to reach a peer
 * @peer:	GID of the peer's device
 * @chid:	SMC-Dv2: the ISM network of the device
 * @vlan:	SMC-Dv2: SMC_ISM_ANY_VLAN; SMC-Dv1: the VLAN or SMC_ISM_NO_VLAN
 */
struct smcd_way {
	struct smc_ism_gid	peer;
	u16			chid;
	u16			vlan;
};

enum smc_pnet_verdict smcd_pnet(struct sock *sk, const struct smc_ism_dev *dev, u16 *vlan);
struct smc_ism_dev *smcd_reach(struct sock *sk, u8 version, struct smcd_way *way);

#endif
