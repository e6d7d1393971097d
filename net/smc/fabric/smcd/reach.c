// SPDX-License-Identifier: GPL-2.0
/*
 * Which ISM device may carry a connection, and which one reaches the peer.
 *
 * SMC-Dv1 is restricted to a LAN: the device must be on the physical network, and in the VLAN, that
 * the packets of the connection pass through.  SMC-Dv2 requires neither.  However, if both the
 * device and the netdev have a PNETID and these differ, the administrator does not want the device
 * to serve the connection.
 */
#include <net/dst.h>
#include "../lower_devs.h"
#include "../route.h"
#include "reach.h"
#include "vlan.h"

/* VLANs of smc_lower_devs are passed to ISM devices as they are. */
static_assert(SMC_ISM_NO_VLAN == SMC_NO_VLAN);

/**
 * smcd_pnet() - is a device on the physical network of a connection?
 * @sk: the connection
 * @dev: the device
 * @vlan: receives the VLAN of the connection's packets there, or SMC_ISM_NO_VLAN
 *
 * Context: process or bottom half.
 * Return: the verdict.
 */
enum smc_pnet_verdict smcd_pnet(struct sock *sk, const struct smc_ism_dev *dev, u16 *vlan)
{
	const struct smc_pnet_port port = smcd_pnet_port(dev);
	struct dst_entry *dst = smc_route_get(sk);
	enum smc_pnet_verdict verdict;
	struct smc_lower_devs lower;

	*vlan = SMC_ISM_NO_VLAN;
	if (!dst)
		return SMC_PNET_UNKNOWN;
	rcu_read_lock();
	smc_lower_devs_follow(&lower, dst_dev_rcu(dst));
	verdict = smc_lower_devs_pnet(&lower, &port, vlan);
	rcu_read_unlock();
	dst_release(dst);
	return verdict;
}

static bool reaches_v2(struct sock *sk, struct smc_ism_dev *dev, struct smcd_way *way)
{
	u16 vlan;

	return !dev->no_v2 && dev->chid == way->chid &&
	       smcd_pnet(sk, dev, &vlan) != SMC_PNET_OTHER &&
	       !dev->ops->query_gid(dev, &way->peer, SMC_ISM_ANY_VLAN);
}

static bool reaches_v1(struct sock *sk, struct smc_ism_dev *dev, struct smcd_way *way)
{
	return dev->v1 && smcd_pnet(sk, dev, &way->vlan) == SMC_PNET_SAME &&
	       !smcd_vlan_join(dev, way->vlan) &&
	       !dev->ops->query_gid(dev, &way->peer, way->vlan);
}

/**
 * smcd_reach() - find a device that reaches a peer
 * @sk: the connection
 * @version: SMC_CLC_V1 or SMC_CLC_V2
 * @way: the peer and, for version 2, its CHID; receives the VLAN
 *
 * Context: process, may sleep.
 * Return: the device, referenced, or NULL.
 */
struct smc_ism_dev *smcd_reach(struct sock *sk, u8 version, struct smcd_way *way)
{
	struct smc_ism_dev *dev;
	u32 last = 0;

	way->vlan = SMC_ISM_ANY_VLAN;
	while ((dev = smcd_dev_next(last))) {
		if ((dev->self || !smc_ism_gid_equal(&dev->gid, &way->peer)) &&
		    (version == SMC_CLC_V1 ? reaches_v1(sk, dev, way) : reaches_v2(sk, dev, way)))
			return dev;
		last = dev->number;
		smcd_dev_put(dev);
	}
	return NULL;
}
