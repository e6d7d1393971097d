// SPDX-License-Identifier: GPL-2.0
/*
 * Find our end of a link for a TCP connection: the RDMA port that carries the
 * connection's packets, and a GID of that port.  Documentation/rdma.md has the rules.
 *
 * Netdevs are read under RCU and leave the read-side section only with a reference.
 */
#include <linux/etherdevice.h>
#include <linux/rculist.h>
#include <rdma/ib_cache.h>
#include "../../lower_devs.h"
#include "../../route.h"
#include "gid.h"

/* ---- choice of a GID ------------------------------------------------------- */

/**
 * struct gid_query - requirements on the GID
 * @v2: version 2
 * @local: the connection's local address, IPv4 mapped into IPv6
 * @net: namespace of the socket
 * @lower_devs: netdevs that the connection's packets go through
 * @by_pnet: the PNET table, not @lower_devs, selects the port being examined
 * @device_seen: a port carries the connection, whether or not it has a suitable GID
 * @rank: rank of the best GID so far, 0 if there is none
 */
struct gid_query {
	bool			v2;
	struct in6_addr		local;
	struct net		*net;
	struct smc_lower_devs	lower_devs;
	bool			by_pnet;
	bool			device_seen;
	unsigned int		rank;
};

#define RANK(fits, distance)	((fits) * 2 * SMC_MAX_LOWER_DEVS - (distance))
#define BEST			RANK(SMC_RDMA_GID_BEST, 0)

/* Store this GID in @path if it is better than the one there; under RCU. */
static void consider_gid(struct gid_query *w, struct smc_rdma_path *path,
			 const struct smc_rdma_gid *gid)
{
	unsigned int rank, distance = SMC_MAX_LOWER_DEVS;
	int found = smc_lower_devs_find(&w->lower_devs, gid->ndev);

	if (found >= 0) {
		distance = found;
		/* Packets that TCP sends with a VLAN tag must carry the tag over RDMA too. */
		if (w->lower_devs.at[found].vlan != SMC_NO_VLAN &&
		    w->lower_devs.at[found].vlan != gid->vlan)
			return;
	} else if (!w->by_pnet) {
		return;
	}
	rank = smc_rdma_gid_rank(gid, w->v2, &w->local);
	if (!rank)
		return;
	/* Among equally suitable GIDs prefer the one whose netdev is nearest. */
	rank = RANK(rank, distance);
	if (rank <= w->rank)
		return;
	w->rank = rank;
	smc_rdma_gid_to_path(gid, path);
}

/*
 * Does this port carry the connection?  Only the port's first GID tells: it is made from
 * the MAC address of the port's netdev, or of the bond above.  The RDMA core also adds
 * GIDs for whatever else is above that netdev, tunnels included.
 */
static bool port_carries(struct gid_query *w, const struct smc_rdma_dev *dev, u32 port)
{
	const struct smc_pnet_port named = smc_rdma_pnet_port(dev, port);
	const struct ib_gid_attr *attr;
	struct net_device *ndev;
	bool carries;

	switch (smc_lower_devs_pnet(&w->lower_devs, &named, NULL)) {
	case SMC_PNET_SAME:
		w->by_pnet = true;
		return true;
	case SMC_PNET_OTHER:
		return false;
	case SMC_PNET_UNKNOWN:
		break;
	}
	w->by_pnet = false;
	attr = rdma_get_gid_attr(dev->ibdev, port, 0);
	if (IS_ERR(attr))
		return false;
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	carries = !IS_ERR(ndev) && smc_lower_devs_find(&w->lower_devs, ndev) >= 0;
	rdma_put_gid_attr(attr);
	return carries;
}

static void consider_port(struct gid_query *w, struct smc_rdma_path *path,
			  struct smc_rdma_dev *dev, u32 port)
{
	struct smc_rdma_gid gid;
	int i;

	if (!smc_rdma_port_usable(dev, port) || !port_carries(w, dev, port))
		return;
	w->device_seen = true;
	if (!w->v2 && !smc_rdma_port_has_v1(dev, port))
		return;
	for (i = 0; i < smc_rdma_gid_count(dev, port) && w->rank < BEST; i++) {
		if (!smc_rdma_gid_get(&gid, dev, port, i))
			continue;
		consider_gid(w, path, &gid);
		smc_rdma_gid_put(&gid);
	}
}

/* Choose the best GID of all devices and take a reference to its device; under RCU. */
static int choose_gid(struct gid_query *w, struct smc_rdma_path *path)
{
	struct smc_rdma_dev *dev;
	u32 port;

	list_for_each_entry_rcu(dev, &smc_rdma_devs, list) {
		if (!rdma_dev_access_netns(dev->ibdev, w->net))
			continue;
		rdma_for_each_port(dev->ibdev, port)
			consider_port(w, path, dev, port);
	}
	if (!w->rank)
		return w->device_seen ? -EADDRNOTAVAIL : -ENODEV;
	if (!smc_rdma_dev_tryget(path->dev)) {
		path->dev = NULL;
		return -ENODEV;
	}
	return 0;
}

/* ---- find, hold and check a path --------------------------------------------- */

int smc_rdma_path_find(struct sock *sk, bool v2, struct smc_rdma_path *path)
{
	struct gid_query w = { .v2 = v2, .net = sock_net(sk) };
	struct dst_entry *dst;
	int rc;

	memset(path, 0, sizeof(*path));
	smc_route_local(sk, &w.local);
	dst = smc_route_get(sk);
	if (!dst)
		return -ENODEV;
	/* RDMA would bypass `ip route ... encap`: a tunnel or a BPF program. */
	if (dst->lwtstate) {
		dst_release(dst);
		return -ENODEV;
	}
	rcu_read_lock();
	smc_lower_devs_follow(&w.lower_devs, dst_dev_rcu(dst));
	rc = choose_gid(&w, path);
	rcu_read_unlock();
	/* The route may include a link whose MTU is smaller than that of our netdev. */
	if (!rc)
		path->mtu = min(path->mtu, smc_rdma_mtu(path->dev, dst_mtu(dst)));
	dst_release(dst);
	return rc;
}

void smc_rdma_path_put(struct smc_rdma_path *path)
{
	if (path->dev)
		smc_rdma_dev_put(path->dev);
	path->dev = NULL;
}

/**
 * smc_rdma_path_hold() - take the reference to the device again
 * @path: our end, after smc_rdma_path_put()
 *
 * Device removal waits for all references.  A task that waits for a peer or for a program
 * therefore puts its path first and takes the reference again afterwards.
 *
 * Context: any but hard interrupts.
 * Return: 0 on success, -ENODEV if the device is gone.
 */
int smc_rdma_path_hold(struct smc_rdma_path *path)
{
	struct smc_rdma_dev *dev;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &smc_rdma_devs, list)
		if (dev->id == path->dev_id && smc_rdma_dev_tryget(dev))
			path->dev = dev;
	rcu_read_unlock();
	return path->dev ? 0 : -ENODEV;
}

void smc_rdma_path_copy(struct smc_rdma_path *to, const struct smc_rdma_path *from)
{
	*to = *from;
	if (to->dev)
		smc_rdma_dev_get(to->dev);
}

/* The attributes of @path's GID, referenced, or an ERR_PTR if the GID is not at its index. */
static const struct ib_gid_attr *path_gid_attr(const struct smc_rdma_path *path)
{
	const struct ib_gid_attr *attr;

	attr = rdma_get_gid_attr(path->dev->ibdev, path->port, path->sgid_index);
	if (IS_ERR(attr))
		return attr;
	if (attr->gid_type == path->gid_type &&
	    !memcmp(&attr->gid, &path->gid, sizeof(path->gid)))
		return attr;
	rdma_put_gid_attr(attr);
	return ERR_PTR(-ENODEV);
}

bool smc_rdma_path_alive(const struct smc_rdma_path *path)
{
	const struct ib_gid_attr *attr;
	u8 mac[ETH_ALEN];
	bool alive;

	if (smc_rdma_dev_gone(path->dev) ||
	    !smc_rdma_port_usable(path->dev, path->port))
		return false;
	attr = path_gid_attr(path);
	if (IS_ERR(attr))
		return false;
	alive = !rdma_read_gid_l2_fields(attr, NULL, mac) &&
		ether_addr_equal(mac, path->mac);
	rdma_put_gid_attr(attr);
	return alive;
}

/* The netdev of our GID, referenced, or NULL if the GID is gone. */
struct net_device *smc_rdma_path_netdev(const struct smc_rdma_path *path,
					netdevice_tracker *tracker)
{
	const struct ib_gid_attr *attr = path_gid_attr(path);
	struct net_device *ndev;

	if (IS_ERR(attr))
		return NULL;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (IS_ERR(ndev))
		ndev = NULL;
	netdev_hold(ndev, tracker, GFP_ATOMIC);
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return ndev;
}
