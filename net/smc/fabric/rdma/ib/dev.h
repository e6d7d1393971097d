/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The RDMA devices that SMC-R uses: hotplug, the state of ports and GIDs, and the
 * choice of a port and a GID for a TCP connection.
 */
#ifndef SMC_RDMA_DEV_H
#define SMC_RDMA_DEV_H

#include <linux/completion.h>
#include <linux/if_ether.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/sizes.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>
#include "../../lower_devs.h"

/* No device has more ports; the messages of RFC 7609 carry no port number. */
#define SMC_RDMA_MAX_PORTS	255

/*
 * The least that a device must be capable of: 16 receive buffers, or four posts of three work
 * requests, with the marker for draining (link/), and a usual buffer in one region (lgr/mem.c).
 */
#define SMC_RDMA_MIN_WR		17
#define SMC_RDMA_MIN_REGION	SZ_512K

/*
 * The size of the pages of a memory region: the kernel's, or the largest one below that the device
 * has; 0: none.
 */
static inline u32 smc_rdma_mr_page(const struct ib_device_attr *attrs)
{
	unsigned long sizes = attrs->page_size_cap & (2 * PAGE_SIZE - SZ_4K);

	return sizes ? BIT(__fls(sizes)) : 0;
}

/* The length of the longest memory region, in bytes. */
static inline u64 smc_rdma_mr_bytes(const struct ib_device_attr *attrs)
{
	return (u64)attrs->max_fast_reg_page_list_len * smc_rdma_mr_page(attrs);
}

/**
 * struct smc_rdma_dev - an RDMA device, from ib_client's add to its remove
 * @id:		number, greater than the numbers of all earlier devices
 * @ibdev:	the device; valid as long as a reference is held
 * @max_mtu:	enum ib_mtu, the largest MTU that all RoCE ports support
 * @list:	entry in smc_rdma_devs, read under RCU
 * @ref:	held by link groups and paths; dev_remove() waits for the last one
 * @unused:	completed when the last reference is dropped
 * @gone:	removal has begun, and nothing new may use the device; never cleared
 * @event:	handler for events of the device's ports and GIDs
 * @release_wq:	releases links and deregisters buffers, which may take long.  Each device has its
 *		own queue because a stuck device must not delay the others
 * @stop_wq:	stops queue pairs.  Others wait for that, for a limited time, so these commands do
 *		not queue behind those of @release_wq
 * @n_releases:	number of links whose release has begun and has not finished
 * @port_work:	calls smc_rdma_dev_events.port_changed for each port in @changed
 * @changed:	ports with events not handled yet, one bit each
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
	struct workqueue_struct	*stop_wq;
	atomic_t		n_releases;
	struct work_struct	port_work;
	DECLARE_BITMAP(changed, SMC_RDMA_MAX_PORTS + 1);
};

/**
 * struct smc_rdma_path - our end of a link: a port and one of the port's GIDs
 * @dev:	the device, referenced; NULL after smc_rdma_path_put()
 * @dev_id:	smc_rdma_dev.id, with which smc_rdma_path_hold() finds the device again
 * @port:	its port, from 1
 * @sgid_index:	index of @gid in the port's table
 * @gid_type:	enum ib_gid_type
 * @gid:	version 2: a RoCEv2 GID, IPv4-mapped or IPv6; version 1: a RoCEv1 GID, or
 *		a link-local RoCEv2 GID if the debug parameter v1_over_rocev2 is set
 * @mac:	MAC address of the GID's netdev
 * @vlan_id:	VLAN ID of that netdev, 0xffff if untagged (RFC 7609: 12 bits)
 * @mtu:	enum ib_mtu, from the MTU of that netdev or the MTU of the TCP connection's
 *		route, whichever is smaller
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
 * smc_rdma_path_find() - find the device, port and GID that carry a connection
 * @sk: connected (or connecting) TCP socket, whose route and addresses decide
 * @v2: true for SMC-Rv2, false for SMC-Rv1
 * @path: receives our end; release it with smc_rdma_path_put()
 *
 * Documentation/rdma.md describes how the socket's route leads to a device and which
 * GID of the device is chosen.
 *
 * Context: process, the socket need not be locked.
 * Return: 0 on success, -ENODEV if no device carries the connection, -EADDRNOTAVAIL
 * if a device does but has no suitable GID.
 */
int smc_rdma_path_find(struct sock *sk, bool v2, struct smc_rdma_path *path);
void smc_rdma_path_put(struct smc_rdma_path *path);
int smc_rdma_path_hold(struct smc_rdma_path *path);
void smc_rdma_path_copy(struct smc_rdma_path *to, const struct smc_rdma_path *from);

/**
 * smc_rdma_path_alive() - can a path that was found earlier still be used?
 * @path: our end
 *
 * Context: any but hard interrupt.
 * Return: false if the device is being removed, the port is not active, the GID is no
 * longer at its index in the port's table, or its netdev has another MAC address.
 */
bool smc_rdma_path_alive(const struct smc_rdma_path *path);

/**
 * struct smc_rdma_hop - first hop of frames to a peer
 * @list:	entry in the list of hops that wait for a neighbour
 * @changed:	called from a work item when the neighbour table has changed, once for each
 *		-EAGAIN of smc_rdma_hop_find()
 * @asked:	resolution of the gateway's MAC address was triggered
 * @direct:	frames go to the peer itself, which is in one of our subnets
 * @mac:	MAC address of the gateway if the hop is not @direct
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

void smc_rdma_dev_releases(struct smc_rdma_dev *dev);
void smc_rdma_dev_released(struct smc_rdma_dev *dev);
void smc_rdma_dev_queue(struct smc_rdma_dev *dev, struct work_struct *work);
void smc_rdma_dev_queue_stop(struct smc_rdma_dev *dev, struct work_struct *work);

/* Can @net use any RDMA device?  Any context, cheap. */
bool smc_rdma_dev_any(struct net *net);

/* At most this many subnets of a netdev are compared. */
#define SMC_RDMA_SUBNETS	8

/**
 * struct smc_rdma_subnet - a subnet that a netdev has an address in
 * @prefix:	its prefix; IPv4 mapped into IPv6
 * @len:	bits of @prefix
 */
struct smc_rdma_subnet {
	struct in6_addr	prefix;
	u8		len;
};

/**
 * struct smc_rdma_network - the network that all paths of a link group share
 * @net_cookie:	namespace of the netdevs of the paths' GIDs
 * @v2:		version 2
 * @pnetid:	PNETID, NUL-terminated; empty if there is none
 * @vlan_id:	version 1: VLAN ID, SMC_NO_VLAN if untagged
 * @n_subnets:	version 1 without a PNETID: number of entries in @subnets
 * @subnets:	the subnets that the first path's netdev was in
 *
 * Holds no reference: namespace, device and netdev of the first path may go away before
 * the link group does.
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
 * smc_rdma_gid_from_wire() - convert a RoCEv2 GID to the form that the RDMA core uses
 * @gid: receives the GID
 * @wire: 16 bytes of a message: an IPv6 address, an IPv4-mapped one, or an IPv4
 *	address behind twelve zero bytes (SMCv2, notes to CLC Accept)
 */
static inline void smc_rdma_gid_from_wire(union ib_gid *gid, const u8 *wire)
{
	struct in6_addr *addr = (struct in6_addr *)gid;

	memcpy(gid->raw, wire, sizeof(gid->raw));
	if (!addr->s6_addr32[0] && !addr->s6_addr32[1] && !addr->s6_addr32[2])
		ipv6_addr_set_v4mapped(addr->s6_addr32[3], addr);
}

/**
 * struct smc_rdma_dev_events - callbacks for device events, set before smc_rdma_dev_init()
 * @port_changed: a port or its GIDs changed; the callee checks each of its links there with
 *	smc_rdma_path_alive().  Process context.  Not called any more once @removed has
 *	been called.
 * @removed: the device is being removed, and everything on it must end now.  May sleep.
 *	After it returns no new reference is taken, and dev_remove() waits for the
 *	remaining ones.  smc_rdma_path_find() no longer finds the device by then, but a
 *	task may have found it earlier.  A task that publishes a link therefore checks
 *	smc_rdma_dev_gone() under the lock that @removed takes to look for links.
 */
struct smc_rdma_dev_events {
	void (*port_changed)(struct smc_rdma_dev *dev, u8 port);
	void (*removed)(struct smc_rdma_dev *dev);
};

/**
 * smc_rdma_dev_init() - start to watch RDMA devices
 * @events: callbacks, called until smc_rdma_dev_exit() has returned
 *
 * Context: process; smc_wq exists.
 * Return: 0 on success, a negative errno otherwise.
 */
int smc_rdma_dev_init(const struct smc_rdma_dev_events *events);

/**
 * smc_rdma_dev_exit() - remove all devices; no callback runs afterwards
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
 * Return: true if removal has begun and no new link may use the device.
 */
static inline bool smc_rdma_dev_gone(const struct smc_rdma_dev *dev)
{
	return READ_ONCE(dev->gone);
}

bool smc_rdma_mac(u8 *mac);

/*
 * Shared by the files of ib/.  The list is read under RCU; a reader that keeps a device
 * beyond the read-side section takes a reference with smc_rdma_dev_tryget().
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

/* Version 2 uses routable GIDs only. */
static inline bool smc_rdma_path_v1(const struct smc_rdma_path *path)
{
	return path->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP || smc_rdma_gid_link_local(&path->gid);
}

#endif
