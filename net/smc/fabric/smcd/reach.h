/* SPDX-License-Identifier: GPL-2.0 */
/* Which ISM device may carry a connection, and which one reaches its peer. */
#ifndef SMC_FABRIC_SMCD_REACH_H
#define SMC_FABRIC_SMCD_REACH_H

#include "dev.h"

struct sock;

enum smc_pnet_verdict smcd_pnet(struct sock *sk, const struct smc_ism_dev *dev, u16 *vlan);
struct smc_ism_dev *smcd_reach_v2(struct sock *sk, u16 chid, const struct smc_ism_gid *peer);
struct smc_ism_dev *smcd_reach_v1(struct sock *sk, const struct smc_ism_gid *peer, u16 *vlan);

#endif
