/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA devices as SMC-R sees them: devices, ports and GIDs that come and go, and
 * the way a TCP connection's addresses lead to one of them.
 */
#ifndef SMC_RDMA_DEV_H
#define SMC_RDMA_DEV_H

#include <linux/completion.h>
#include <linux/if_ether.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>
#include "../../lower_devs.h"

/* More ports than this no device has; RFC 7609's messages have no port at all. */
#define SMC_RDMA_MAX_PORTS	255

/**
 * struct smc_rdma_dev - an RDMA device, from ib_client's add to its remove
 * @id:		number, greater than those of all devices before it
 * @ibdev:	the device; valid as long as a reference is held
 * @max_mtu:	enum ib_mtu, the largest that all its ports can
 * @list:	in the list of devices; RCU
 * @ref:	link groups and paths hold one; remove waits for the last
 * @unused:	the last reference is gone
 * @gone:	remove has begun: nothing new may use the device.  Once set it stays.
 * @event:	the handler for events of the device's ports and GIDs
 * @release_wq:	gives back what link groups that have ended had of the device.  No other work is
 *		behind it, so a device that is stuck holds up nobody
 * @n_releases:	how many of them have yet to do so
 * @port_work:	hands @changed to smc_rdma_dev_events.port_down
 * @changed:	ports that something has happened to, one bit each
 */
struct smc_rdma_dev {
	u32			id;
	struct ib_device	*ibdev;
	u8			max_mtu;
	struct list_head	list;
	refcount_t		ref;
	struct completion	unused;
	bool			gone;
	struct ib_event_handler	event;
	struct workqueue_struct	*release_wq;
	atomic_t		n_releases;
	struct work_struct	port_work;
	DECLARE_BITMAP(changed, SMC_RDMA_MAX_PORTS + 1);
};

/**
 * struct smc_rdma_path - our end of a link: a port and one of its GIDs
 * @dev:	the device, referenced; NULL after smc_rdma_path_put()
 * @dev_id:	smc_rdma_dev.id of the device, for smc_rdma_path_hold()
 * @port:	its port, from 1
 * @sgid_index:	index of @gid in the port's table
 * @gid_type:	enum ib_gid_type
 * @gid:	the GID: RoCEv2 (IPv4-mapped or IPv6) for version 2, RoCEv1 or, if the
 *		debug parameter says so, RoCEv2 link-local for version 1
 * @mac:	MAC address of the netdev of that GID
 * @vlan_id:	its VLAN, 0xffff without one (RFC 7609: 12 bits)
 * @mtu:	enum ib_mtu, from the MTU of the GID's netdev, or that of the TCP
 *		connection's route if it is smaller
 */
struct smc_rdma_path {
	struct smc_rdma_dev	*dev;
	u32			dev_id;
	u8			port;
	u8			sgid_index;
	u8			gid_type;
	union ib_gid		gid;
	u8			mac[ETH_ALEN];
	u16			vlan_id;
	u8			mtu;
};

/**
 * smc_rdma_path_find() - the device that carries a connection
 * @sk: a connected (or connecting) TCP socket; route and addresses are looked at
 * @v2: for SMC-Rv2 rather than SMC-Rv1
 * @path: receives our end; put it with smc_rdma_path_put()
 *
 * Documentation/rdma.md says what is followed from the socket's route to a device
 * and which of its GIDs is taken.
 *
 * Context: process, the socket need not be locked.
 * Return: 0; -ENODEV: no device carries it; -EADDRNOTAVAIL: a device does but has no
 * GID of the wanted kind.
 */
int smc_rdma_path_find(struct sock *sk, bool v2, struct smc_rdma_path *path);
void smc_rdma_path_put(struct smc_rdma_path *path);
int smc_rdma_path_hold(struct smc_rdma_path *path);
void smc_rdma_path_copy(struct smc_rdma_path *to, const struct smc_rdma_path *from);

/**
 * smc_rdma_path_alive() - can what was found then still be used now?
 * @path: our end
 *
 * Context: any but hard interrupt.
 * Return: false if the device is going, the port is not active, its GID table no
 * longer has the GID at this index, or the MAC address is another one.
 */
bool smc_rdma_path_alive(const struct smc_rdma_path *path);

/**
 * struct smc_rdma_hop - where a frame to the peer goes first
 * @list:	among those that are told of changes of the neighbour table
 * @changed:	told of one; in a work item, once for each -EAGAIN of smc_rdma_hop_find()
 * @asked:	the gateway was asked for its MAC address
 * @direct:	to the peer itself, which is in one of our subnets
 * @mac:	if not: the MAC address of the gateway
 */
struct smc_rdma_hop {
	struct list_head	list;
	void			(*changed)(struct smc_rdma_hop *hop);
	bool			asked;
	bool			direct;
	u8			mac[ETH_ALEN];
};

void smc_rdma_hop_init(struct smc_rdma_hop *hop, void (*changed)(struct smc_rdma_hop *hop));
int smc_rdma_hop_find(struct smc_rdma_hop *hop, const struct smc_rdma_path *path,
		      const union ib_gid *peer_gid);
void smc_rdma_hop_forget(struct smc_rdma_hop *hop);

void smc_rdma_dev_release(struct smc_rdma_dev *dev, struct work_struct *work);
void smc_rdma_dev_released(struct smc_rdma_dev *dev);
void smc_rdma_dev_queue(struct smc_rdma_dev *dev, struct work_struct *work);

/* Is there any RDMA device this namespace could use?  Any context, cheap. */
bool smc_rdma_dev_any(struct net *net);

/* Subnets of a netdev that are compared. */
#define SMC_RDMA_SUBNETS	8

/**
 * struct smc_rdma_subnet - a subnet that a netdev has an address in
 * @prefix:	its number; IPv4 mapped into IPv6
 * @len:	bits of @prefix
 */
struct smc_rdma_subnet {
	struct in6_addr	prefix;
	u8		len;
};

/**
 * struct smc_rdma_network - the network that all paths of a link group share
 * @net_cookie:	namespace of the netdevs of their GIDs
 * @v2:		version 2
 * @pnetid:	PNETID, ended by 0, empty without one
 * @vlan_id:	of version 1: the VLAN, SMC_NO_VLAN without one
 * @n_subnets:	of version 1 without a PNETID: how many there are in @subnets
 * @subnets:	and the subnets that the first path's netdev was in
 *
 * It holds no reference: namespace, device and netdev of the first path may go before the
 * link group does.
 */
struct smc_rdma_network {
	u64			net_cookie;
	bool			v2;
	char			pnetid[SMC_PNETID_LEN + 1];
	u16			vlan_id;
	u8			n_subnets;
	struct smc_rdma_subnet	subnets[SMC_RDMA_SUBNETS];
};

int smc_rdma_path_network(const struct smc_rdma_path *path, struct smc_rdma_network *network);
int smc_rdma_path_second(const struct smc_rdma_network *network,
			 const struct smc_rdma_path *first, struct net *net,
			 const union ib_gid *peer_gid,
			 bool (*taken)(const struct smc_rdma_dev *dev, u8 port, void *arg),
			 void *arg, struct smc_rdma_path *path);
unsigned int smc_rdma_path_gids(const struct smc_rdma_path *path, struct net *net,
				u8 (*gids)[16], unsigned int max);

/**
 * smc_rdma_gid_from_wire() - a RoCEv2 GID as the RDMA core wants it
 * @gid: receives it
 * @wire: 16 bytes of a message: an IPv6 address, an IPv4-mapped one, or an IPv4
 *	address behind twelve zeros (SMCv2, notes to CLC Accept)
 */
static inline void smc_rdma_gid_from_wire(union ib_gid *gid, const u8 *wire)
{
	struct in6_addr *addr = (struct in6_addr *)gid;

	memcpy(gid->raw, wire, sizeof(gid->raw));
	if (!addr->s6_addr32[0] && !addr->s6_addr32[1] && !addr->s6_addr32[2])
		ipv6_addr_set_v4mapped(addr->s6_addr32[3], addr);
}

/**
 * struct smc_rdma_dev_events - calls for events of devices; set once before smc_rdma_dev_init()
 * @port_changed: something happened to a port or to its GIDs; whoever has links there
 *	asks smc_rdma_path_alive() for each of them.  Process context.  Not called
 *	any more once @removed has been.
 * @removed: the device goes: everything on it must end, now.  May sleep; when it
 *	returns no new reference is taken, remove waits for those that are left.
 *	smc_rdma_path_find() no longer finds the device when this is called, but
 *	somebody may just have found it: who makes a link known, under the lock
 *	that @removed takes to look for links, asks smc_rdma_dev_gone() there.
 */
struct smc_rdma_dev_events {
	void (*port_changed)(struct smc_rdma_dev *dev, u8 port);
	void (*removed)(struct smc_rdma_dev *dev);
};

/**
 * smc_rdma_dev_init() - begin to watch RDMA devices
 * @events: called from now on until smc_rdma_dev_exit() has returned
 *
 * Context: process; smc_wq exists.
 * Return: 0 or a negative errno.
 */
int smc_rdma_dev_init(const struct smc_rdma_dev_events *events);

/**
 * smc_rdma_dev_exit() - all devices are removed, nothing is called any more
 *
 * Context: process, waits for all references to devices.
 */
void smc_rdma_dev_exit(void);

struct smc_rdma_dev *smc_rdma_dev_get(struct smc_rdma_dev *dev);
void smc_rdma_dev_put(struct smc_rdma_dev *dev);

/**
 * smc_rdma_dev_gone() - has the removal of this device begun?
 * @dev: the device, referenced
 *
 * Return: true if it has; no new link may use the device.
 */
static inline bool smc_rdma_dev_gone(const struct smc_rdma_dev *dev)
{
	return READ_ONCE(dev->gone);
}

/* The MAC for the peer id of this instance: that of an RDMA device, or random */
void smc_rdma_peer_mac(u8 *mac);

/*
 * Between the files of ib/.  The list is read under RCU; a reader that leaves the
 * section with a device takes its reference with smc_rdma_dev_tryget().
 */
extern struct list_head smc_rdma_devs;
bool smc_rdma_dev_tryget(struct smc_rdma_dev *dev);
unsigned int smc_rdma_dev_seq(void);
const char *smc_rdma_dev_pci(const struct smc_rdma_dev *dev);
bool smc_rdma_port_usable(const struct smc_rdma_dev *dev, u32 port);
struct net_device *smc_rdma_path_netdev(const struct smc_rdma_path *path,
					netdevice_tracker *tracker);
unsigned int smc_rdma_hop_mtu(struct net_device *ndev, const union ib_gid *gid,
			      const union ib_gid *peer_gid);
int smc_rdma_next_hop_init(void);
void smc_rdma_next_hop_exit(void);

static inline const struct in6_addr *smc_rdma_gid_addr(const union ib_gid *gid)
{
	return (const struct in6_addr *)gid;
}

static inline bool smc_rdma_gid_link_local(const union ib_gid *gid)
{
	return ipv6_addr_type(smc_rdma_gid_addr(gid)) & IPV6_ADDR_LINKLOCAL;
}

/* GIDs of version 2 are routable ones. */
static inline bool smc_rdma_path_v1(const struct smc_rdma_path *path)
{
	return path->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP || smc_rdma_gid_link_local(&path->gid);
}

#endif
