/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The view of fabrics from outside: pictures of link groups and
 * devices.  A picture holds neither a lock nor a reference; nothing in it points to
 * what could go meanwhile.
 */
#ifndef SMC_FABRIC_SHOW_H
#define SMC_FABRIC_SHOW_H

#include <linux/if.h>
#include <linux/smc.h>
#include <linux/types.h>
#include <rdma/ib_user_verbs.h>
#include "../config/pnet.h"
#include "../wire/clc.h"

/* As many as any fabric has. */
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
	SMC_GROUP_ASYMMETRIC_PEER,	/* the peer has one port for both */
	SMC_GROUP_ASYMMETRIC_LOCAL,	/* we have */
};

/**
 * struct smc_link_info - a link of a group
 * @number:	as the server has named it
 * @state:	0 unused, 1 new, 2 connected but not confirmed, 3 active, 4 down
 * @dev:	name of its device
 * @port:	port of the device
 * @ifindex:	netdev of our end, 0 if it is in another namespace
 * @gid:	our end
 * @peer_gid:	the other end
 * @uid:	our name for it, as it travels
 * @peer_uid:	the peer's
 * @n_conns:	connections that write over it
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
 * @id:		its number
 * @server:	our role
 * @type:	enum smc_group_type
 * @version:	SMC version
 * @release:	of version 2
 * @peer_os:	SMC_CLC_OS_*
 * @eid:	of version 2
 * @peer_host:	name of the peer, version 2
 * @vlan_id:	0 without one
 * @n_conns:	connections
 * @max_conns:	as settled
 * @max_links:	as settled
 * @direct:	the peer is in one of our subnets
 * @buf_type:	as net.smc.smcr_buf_type
 * @pnetid:	of the device, ended by 0
 * @tx_bytes:	memory of our send rings
 * @rx_bytes:	memory of our receive buffers
 * @gid:	SMC-D: our device
 * @gid_ext:	its second half
 * @peer_gid:	SMC-D: the peer's device
 * @peer_gid_ext: its second half
 * @chid:	SMC-D: the fabric
 * @n_links:	links in @links
 * @links:	SMC-R
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
 * @pnetid:	ended by 0
 * @by_user:	the PNET table says so
 * @ifindex:	its netdev, 0 if that is in another namespace
 * @active:	it works
 * @n_links:	links that end here
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
 * @number:	never given twice
 * @name:	its name
 * @n_users:	link groups on it
 * @critical:	SMC-R: one of them has no link anywhere else
 * @is_pci:	the fields below are valid
 * @pci_fid:	PCI function
 * @pci_chid:	channel
 * @pci_vendor:	PCI vendor
 * @pci_device:	PCI device
 * @pci_id:	name on the PCI bus, or what stands for it
 * @n_ports:	ports in @ports
 * @ports:	the first ones of them
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
 * struct smc_walk - somebody visits link groups or devices, in the order of their
 * numbers
 * @after:	those with a greater number are left; moved by the walker
 * @seq:	changes when the list that is walked over changes; never 0
 * @group:	called for each without a lock, for walks over link groups; other
 *		than 0 stops the walk before this one
 * @dev:	the same for walks over devices
 * @arg:	for @group or @dev
 */
struct smc_walk {
	u32		after;
	unsigned int	seq;
	int		(*group)(const struct smc_group_info *info, struct smc_walk *w);
	int		(*dev)(const struct smc_dev_info *info, struct smc_walk *w);
	void		*arg;
};

#endif
