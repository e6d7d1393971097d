/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Entries of RDMA ports' GID tables, for the code that chooses one.
 */
#ifndef SMC_RDMA_GID_H
#define SMC_RDMA_GID_H

#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>
#include "dev.h"

/**
 * struct smc_rdma_gid - entry of a port's GID table
 * @dev:	the device
 * @port:	its port
 * @attr:	attributes of the entry, referenced
 * @ndev:	its netdev
 * @vlan:	VLAN ID of the netdev, SMC_NO_VLAN if untagged
 * @mac:	MAC address of the netdev
 *
 * Valid only inside the RCU read-side section in which it was read.
 */
struct smc_rdma_gid {
	struct smc_rdma_dev		*dev;
	u32				port;
	const struct ib_gid_attr	*attr;
	struct net_device		*ndev;
	u16				vlan;
	u8				mac[ETH_ALEN];
};

/* The highest value of smc_rdma_gid_rank(). */
#define SMC_RDMA_GID_BEST	3

int smc_rdma_gid_count(const struct smc_rdma_dev *dev, u32 port);
bool smc_rdma_gid_get(struct smc_rdma_gid *gid, struct smc_rdma_dev *dev, u32 port, int index);
void smc_rdma_gid_put(const struct smc_rdma_gid *gid);
unsigned int smc_rdma_gid_rank(const struct smc_rdma_gid *gid, bool v2,
			       const struct in6_addr *near);
bool smc_rdma_port_has_v1(const struct smc_rdma_dev *dev, u32 port);
u8 smc_rdma_mtu(const struct smc_rdma_dev *dev, unsigned int mtu);
void smc_rdma_gid_to_path(const struct smc_rdma_gid *gid, struct smc_rdma_path *path);

static inline struct smc_pnet_port smc_rdma_pnet_port(const struct smc_rdma_dev *dev, u8 port)
{
	return (struct smc_pnet_port) {
		.dev = dev->ibdev->name, .pci = smc_rdma_dev_pci(dev), .port = port,
	};
}

#endif
