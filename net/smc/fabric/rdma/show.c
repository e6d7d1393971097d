// SPDX-License-Identifier: GPL-2.0
/*
 * Pictures of link groups and devices for netlink and sock_diag.
 *
 * A walk keeps no position in a list: it looks for the smallest number greater than that of the
 * object shown last.  It therefore neither skips nor repeats objects that stay, whatever comes and
 * goes meanwhile.
 */
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/rculist.h>
#include <linux/unaligned.h>
#include <net/net_namespace.h>
#include <rdma/ib_cache.h>
#include "../../config/pnet.h"
#include "../../netns.h"
#include "../show.h"
#include "ib/gid.h"
#include "lgr/lgr.h"
#include "show.h"

/*
 * The parts of a link group that are freed when it ends, or whose access would require @setup_lock,
 * which may be held for long.  They are copied under the lock of the list that the group is in.
 */
struct lgr_picture {
	struct smc_rdma_path	path[SMC_LGR_LINKS];
	u8			number[SMC_LGR_LINKS];
	u32			n_conns;
	u64			tx_bytes;
	u64			rx_bytes;
};

static void __take_picture(struct smc_lgr *lgr, struct lgr_picture *pic)
{
	const struct smc_pools *txbufs = READ_ONCE(lgr->txbufs);
	const struct smc_pools *rmbs = READ_ONCE(lgr->rmbs);
	struct smc_link *link;
	unsigned int i;

	lockdep_assert_held(&lgr->sn->lgrs->lock);
	pic->n_conns = lgr->n_conns;
	pic->tx_bytes = txbufs ? smc_pools_bytes(txbufs) : 0;
	pic->rx_bytes = rmbs ? smc_pools_bytes(rmbs) : 0;
	spin_lock(&lgr->lock);
	smc_lgr_for_each_link(lgr, link) {
		i = smc_lgr_link_index(lgr, link);
		smc_rdma_path_copy(&pic->path[i], &link->path);
		pic->number[i] = link->number;
	}
	spin_unlock(&lgr->lock);
}

static void drop_picture(struct lgr_picture *pic)
{
	unsigned int i;

	for (i = 0; i < SMC_LGR_LINKS; i++)
		smc_rdma_path_put(&pic->path[i]);
}

/* The link group with the smallest number after @w->after, referenced, or NULL. */
static struct smc_lgr *next_lgr(struct smc_net *sn, struct smc_walk *w,
				struct lgr_picture *pic)
{
	struct smc_lgr *lgr, *next = NULL;

	spin_lock_bh(&sn->lgrs->lock);
	list_for_each_entry(lgr, &sn->lgrs->list, list)
		if (lgr->id > w->after && (!next || lgr->id < next->id))
			next = lgr;
	if (next) {
		smc_lgr_get(next);
		__take_picture(next, pic);
	}
	w->seq = sn->lgrs->seq;
	spin_unlock_bh(&sn->lgrs->lock);
	return next;
}

static u32 conns_of(struct smc_lgr *lgr, const struct smc_link *link)
{
	struct smc_lgr_conn *lconn;
	unsigned long token;
	u32 n = 0;

	rcu_read_lock();
	xa_for_each(&lgr->conns, token, lconn)
		n += READ_ONCE(lconn->sender.link) == link;
	rcu_read_unlock();
	return n;
}

/* An ifindex means nothing in another namespace. */
static u32 ifindex_in(const struct net *net, const struct net_device *ndev)
{
	return net_eq(dev_net(ndev), net) ? ndev->ifindex : 0;
}

static u32 path_ifindex(const struct smc_rdma_path *path, const struct net *net)
{
	netdevice_tracker tracker;
	struct net_device *ndev = smc_rdma_path_netdev(path, &tracker);
	u32 ifindex;

	if (!ndev)
		return 0;
	ifindex = ifindex_in(net, ndev);
	netdev_put(ndev, &tracker);
	return ifindex;
}

static bool show_pnetid(const struct smc_net *sn, const struct smc_rdma_dev *dev, u8 port,
			char *pnetid)
{
	const struct smc_pnet_port named = smc_rdma_pnet_port(dev, port);

	return smc_pnet_of_port(sn, &named, pnetid);
}

static void show_link(struct smc_lgr *lgr, const struct smc_link *link,
		      const struct smc_rdma_path *path, struct smc_link_info *info)
{
	info->number = link->number;
	info->state = READ_ONCE(link->state);
	strscpy(info->dev, path->dev->ibdev->name, sizeof(info->dev));
	info->port = path->port;
	info->ifindex = path_ifindex(path, lgr->sn->net);
	memcpy(info->gid, path->gid.raw, sizeof(info->gid));
	memcpy(info->peer_gid, link->peer_gid.raw, sizeof(info->peer_gid));
	put_unaligned_be32(link->uid, info->uid);
	put_unaligned_be32(link->peer_uid, info->peer_uid);
	info->n_conns = conns_of(lgr, link);
}

static void show_lgr(struct smc_lgr *lgr, const struct lgr_picture *pic,
		     struct smc_group_info *info)
{
	const struct smc_rdma_path *path;
	struct smc_link *link;
	unsigned int i;

	info->id = lgr->id;
	info->server = lgr->server;
	info->type = smc_lgr_type(lgr);
	info->version = lgr->version;
	info->release = lgr->release;
	info->peer_os = lgr->peer_os;
	memcpy(info->eid, lgr->eid, sizeof(info->eid));
	memcpy(info->peer_host, lgr->hostname, sizeof(info->peer_host));
	info->vlan_id = lgr->vlan_id == SMC_NO_VLAN ? 0 : lgr->vlan_id;
	info->buf_type = lgr->buf_type;
	info->max_conns = lgr->max_conns;
	info->max_links = lgr->max_links;
	info->n_conns = pic->n_conns;
	info->tx_bytes = pic->tx_bytes;
	info->rx_bytes = pic->rx_bytes;
	BUILD_BUG_ON(SMC_LGR_LINKS > SMC_SHOW_LINKS);
	smc_lgr_for_each_link(lgr, link) {
		i = smc_lgr_link_index(lgr, link);
		path = &pic->path[i];
		/* The slot may hold another link by now. */
		if (!smc_link_exists(link) || !path->dev || link->number != pic->number[i])
			continue;
		/* All links of a group are in one network, so the first one has the PNETID. */
		if (!info->n_links)
			show_pnetid(lgr->sn, path->dev, path->port, info->pnetid);
		info->direct |= link->hop.direct;
		show_link(lgr, link, path, &info->links[info->n_links++]);
	}
}

/* Shows the next link group. Returns it with a reference, or NULL if there is none. */
static noinline_for_stack struct smc_lgr *show_next_lgr(struct smc_net *sn,
							struct smc_walk *w,
							struct smc_group_info *info)
{
	struct lgr_picture pic;
	struct smc_lgr *lgr;

	lgr = next_lgr(sn, w, &pic);
	if (!lgr)
		return NULL;
	show_lgr(lgr, &pic, info);
	drop_picture(&pic);
	return lgr;
}

/**
 * smc_rdma_groups() - smc_fabric_ops.groups
 * @f: the fabric
 * @sn: the namespace
 * @w: the walk, whose @w->group gets each link group
 *
 * Return: the value of @w->group that ended the walk, or 0 at the end.
 */
int smc_rdma_groups(struct smc_fabric *f, struct smc_net *sn, struct smc_walk *w)
{
	struct smc_group_info info;
	struct smc_lgr *lgr;
	int rc = 0;

	while (!rc) {
		memset(&info, 0, sizeof(info));
		lgr = show_next_lgr(sn, w, &info);
		if (!lgr)
			break;
		rc = w->group(&info, w);
		if (!rc)
			w->after = lgr->id;
		smc_lgr_put(lgr);
		cond_resched();
	}
	return rc;
}

static u32 links_of(const struct smc_lgr *lgr, const struct smc_rdma_dev *dev, u32 port)
{
	const struct smc_link *link;
	u32 n = 0;

	smc_lgr_for_each_link(lgr, link)
		n += link->path.dev == dev && link->path.port == port && smc_link_exists(link);
	return n;
}

/* Can the group do without the device? */
static bool has_link_elsewhere(const struct smc_lgr *lgr, const struct smc_rdma_dev *dev)
{
	const struct smc_link *link;

	smc_lgr_for_each_link(lgr, link)
		if (READ_ONCE(link->path.dev) != dev && READ_ONCE(link->state) == SMC_LINK_ACTIVE)
			return true;
	return false;
}

static u32 links_in(struct smc_net *sn, const struct smc_rdma_dev *dev, u32 port, bool *critical)
{
	struct smc_lgr *lgr;
	u32 n = 0, here;

	spin_lock_bh(&sn->lgrs->lock);
	list_for_each_entry(lgr, &sn->lgrs->list, list) {
		here = links_of(lgr, dev, port);
		n += here;
		*critical |= here && !has_link_elsewhere(lgr, dev);
	}
	spin_unlock_bh(&sn->lgrs->lock);
	return n;
}

/* The initial namespace sees the links of all namespaces, any other one only its own. */
static u32 links_at(struct smc_net *sn, const struct smc_rdma_dev *dev, u32 port, bool *critical)
{
	struct net *net;
	u32 n = 0;

	if (!net_eq(sn->net, &init_net))
		return links_in(sn, dev, port, critical);
	down_read(&net_rwsem);
	for_each_net(net)
		n += links_in(smc_net(net), dev, port, critical);
	up_read(&net_rwsem);
	return n;
}

static u32 port_ifindex(const struct smc_rdma_dev *dev, u32 port, const struct net *net)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(dev->ibdev, port, 0);
	struct net_device *ndev;
	u32 ifindex = 0;

	if (IS_ERR(attr))
		return 0;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(ndev))
		ifindex = ifindex_in(net, ndev);
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return ifindex;
}

static void show_pci(const struct smc_rdma_dev *dev, struct smc_dev_info *info)
{
	const struct pci_dev *pci;

	if (!smc_rdma_dev_pci(dev))
		return;
	pci = to_pci_dev(dev->ibdev->dev.parent);
	info->is_pci = true;
	info->pci_vendor = pci->vendor;
	info->pci_device = pci->device;
	strscpy(info->pci_id, pci_name(pci), sizeof(info->pci_id));
}

static void show_dev(const struct smc_rdma_dev *dev, struct smc_net *sn,
		     struct smc_dev_info *info)
{
	struct smc_port_info *show;
	u32 port;

	info->number = dev->id;
	strscpy(info->name, dev->ibdev->name, sizeof(info->name));
	show_pci(dev, info);
	rdma_for_each_port(dev->ibdev, port) {
		if (info->n_ports == SMC_SHOW_PORTS)
			break;
		show = &info->ports[info->n_ports++];
		show->ifindex = port_ifindex(dev, port, sn->net);
		show->active = smc_rdma_port_usable(dev, port);
		show->n_links = links_at(sn, dev, port, &info->critical);
		show->by_user = show_pnetid(sn, dev, port, show->pnetid);
		info->n_users += show->n_links;
	}
}

/* Like next_lgr(), for devices. */
static struct smc_rdma_dev *next_dev(struct net *net, u32 after)
{
	struct smc_rdma_dev *dev, *next;
	bool got;

	/* A device whose removal has begun is as good as gone: take the next one. */
	do {
		rcu_read_lock();
		next = NULL;
		list_for_each_entry_rcu(dev, &smc_rdma_devs, list)
			if (dev->id > after && (!next || dev->id < next->id) &&
			    rdma_dev_access_netns(dev->ibdev, net))
				next = dev;
		after = next ? next->id : after;
		got = !next || smc_rdma_dev_tryget(next);
		rcu_read_unlock();
	} while (!got);
	return next;
}

/**
 * smc_rdma_devices() - smc_fabric_ops.devices
 * @f: the fabric
 * @sn: the namespace
 * @w: the walk, whose @w->dev gets each device
 *
 * Return: the value of @w->dev that ended the walk, or 0 at the end.
 */
int smc_rdma_devices(struct smc_fabric *f, struct smc_net *sn, struct smc_walk *w)
{
	struct smc_dev_info info;
	struct smc_rdma_dev *dev;
	int rc = 0;

	while (!rc) {
		w->seq = smc_rdma_dev_seq();
		dev = next_dev(sn->net, w->after);
		if (!dev)
			break;
		memset(&info, 0, sizeof(info));
		show_dev(dev, sn, &info);
		rc = w->dev(&info, w);
		if (!rc)
			w->after = info.number;
		smc_rdma_dev_put(dev);
	}
	return rc;
}
