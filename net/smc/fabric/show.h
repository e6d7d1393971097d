/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The view of fabrics for dumps: snapshots of link groups and devices.  A snapshot holds neither
 * locks nor references, and contains no pointers.
 */
#ifndef SMC_FABRIC_SHOW_H
#define SMC_FABRIC_SHOW_H

#include <linux/if.h>
#include <linux/smc.h>
#include <linux/types.h>
#include <rdma/ib_user_verbs.h>
#include "../config/pnet.h"
#include "../wire/clc.h"

/* The maximum of all fabrics. */
#define SMC_SHOW_LINKS		3
#define SMC_SHOW_PORTS		2

/*
 * Which ports the active links of a group connect (RFC 7609, 2.2.1), in the numbers of
 * SMC_NLA_LGR_R_TYPE.
 */
enum smc_group_type {
	SMC_GROUP_NONE,
	SMC_GROUP_SINGLE,
	SMC_GROUP_SYMMETRIC,
	SMC_GROUP_ASYMMETRIC_PEER,	/* both links end at the same port of the peer */
	SMC_GROUP_ASYMMETRIC_LOCAL,	/* both links end at the same port of ours */
};

/**
 * struct smc_link_info - a link of a group
 * @number:	link number, assigned by the server
 * @state:	0 unused, 1 new, 2 connected but not confirmed, 3 active, 4 down
 * @dev:	name of our device
 * @port:	port of that device
 * @ifindex:	our netdev, 0 if it is in another namespace
 * @gid:	our GID
 * @peer_gid:	the peer's GID
 * @uid:	our link user ID, in wire format
 * @peer_uid:	the peer's link user ID, in wire format
 * @n_conns:	connections that send over this link
 */
struct smc_link_info {
	u8	number;
	u8	state;
	char	dev[IB_DEVICE_NAME_MAX];
	u8	port;
	u32	ifindex;
	u8	gid[16];
	u8	peer_gid[16];
	u8	uid[4];
	u8	peer_uid[4];
	u32	n_conns;
};

/**
 * struct smc_group_info - a link group
 * @id:		number of the group
 * @server:	this end is the server
 * @type:	enum smc_group_type
 * @version:	SMC version
 * @release:	release number of version 2
 * @peer_os:	SMC_CLC_OS_*
 * @eid:	version 2: the common EID
 * @peer_host:	version 2: host name of the peer
 * @vlan_id:	VLAN, 0 if there is none
 * @n_conns:	number of connections
 * @max_conns:	negotiated maximum of connections
 * @max_links:	negotiated maximum of links
 * @direct:	the peer is in one of our subnets
 * @buf_type:	see net.smc.smcr_buf_type
 * @pnetid:	PNETID of the device, NUL-terminated
 * @tx_bytes:	memory of our send rings
 * @rx_bytes:	memory of our receive buffers
 * @gid:	SMC-D: GID of our device
 * @gid_ext:	SMC-D: second half of an extended @gid
 * @peer_gid:	SMC-D: GID of the peer's device
 * @peer_gid_ext: SMC-D: second half of an extended @peer_gid
 * @chid:	SMC-D: CHID of the ISM network
 * @n_links:	links in @links
 * @links:	SMC-R: the links
 */
struct smc_group_info {
	u32	id;
	bool	server;
	u8	type;
	u8	version;
	u8	release;
	u8	peer_os;
	u8	eid[SMC_EID_LEN];
	char	peer_host[SMC_CLC_HOSTNAME_LEN + 1];
	u16	vlan_id;
	u32	n_conns;
	u8	max_conns;
	u8	max_links;
	bool	direct;
	u8	buf_type;
	char	pnetid[SMC_PNETID_LEN + 1];
	u64	tx_bytes;
	u64	rx_bytes;
	u64	gid;
	u64	gid_ext;
	u64	peer_gid;
	u64	peer_gid_ext;
	u16	chid;
	unsigned int n_links;
	struct smc_link_info links[SMC_SHOW_LINKS];
};

/**
 * struct smc_port_info - a port of a device
 * @pnetid:	NUL-terminated
 * @by_user:	@pnetid comes from the PNET table
 * @ifindex:	netdev of the port, 0 if it is in another namespace
 * @active:	the port is usable
 * @n_links:	links that end at this port
 */
struct smc_port_info {
	char	pnetid[SMC_PNETID_LEN + 1];
	bool	by_user;
	u32	ifindex;
	bool	active;
	u32	n_links;
};

/**
 * struct smc_dev_info - a device
 * @number:	number of the device, never reused
 * @name:	name of the device
 * @n_users:	link groups on it
 * @critical:	SMC-R: a link group has links on this device only
 * @is_pci:	the following pci_* fields are valid
 * @pci_fid:	PCI function
 * @pci_chid:	channel
 * @pci_vendor:	PCI vendor
 * @pci_device:	PCI device
 * @pci_id:	name on the PCI bus, or the device name if it is on no bus
 * @n_ports:	ports in @ports
 * @ports:	the first @n_ports ports
 */
struct smc_dev_info {
	u32	number;
	char	name[IB_DEVICE_NAME_MAX];
	u32	n_users;
	bool	critical;
	bool	is_pci;
	u32	pci_fid;
	u16	pci_chid;
	u16	pci_vendor;
	u16	pci_device;
	char	pci_id[SMC_PCI_ID_STR_LEN + 1];
	unsigned int n_ports;
	struct smc_port_info ports[SMC_SHOW_PORTS];
};

/**
 * struct smc_walk - a walk over link groups or devices, in the order of their numbers
 * @after:	number of the last object visited; the function that walks advances it
 * @seq:	changes whenever the list that is walked changes; never 0
 * @group:	called for each link group without a lock held; a nonzero return value stops
 *		the walk, which resumes at the same group
 * @dev:	as @group, for walks over devices
 * @arg:	argument for @group or @dev
 */
struct smc_walk {
	u32		after;
	unsigned int	seq;
	int		(*group)(const struct smc_group_info *info, struct smc_walk *w);
	int		(*dev)(const struct smc_dev_info *info, struct smc_walk *w);
	void		*arg;
};

#endif
