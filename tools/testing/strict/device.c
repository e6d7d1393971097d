// SPDX-License-Identifier: GPL-2.0
/* Devices: `rdma link add NAME type strict netdev NETDEV`, their ports, GIDs and ends. */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/rdma_netlink.h>
#include "packet.h"

struct workqueue_struct *strict_wq;

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr, struct ib_udata *udata)
{
	*attr = to_dev(ibdev)->limits;
	return 0;
}

bool strict_port_up(const struct strict_dev *dev)
{
	return netif_running(dev->ndev) && netif_carrier_ok(dev->ndev);
}

/* Packets of other RoCE devices have longer headers than ours. */
enum ib_mtu strict_active_mtu(const struct strict_dev *dev)
{
	enum ib_mtu mtu = iboe_get_mtu(max_t(int, READ_ONCE(dev->ndev->mtu), 352)) ?: IB_MTU_256;

	return min(mtu, dev->max_mtu);
}

/* Without RoCE there is one GID, which says nothing about the network. */
static int gid_table(const struct strict_dev *dev)
{
	return dev->protocols & STRICT_ROCE ? 256 : 1;
}

static int query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	ether_addr_copy(gid->raw, to_dev(ibdev)->ndev->dev_addr);
	return 0;
}

static int query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	bool up = strict_port_up(to_dev(ibdev));

	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = to_dev(ibdev)->max_mtu;
	attr->active_mtu = strict_active_mtu(to_dev(ibdev));
	attr->gid_tbl_len = gid_table(to_dev(ibdev));
	attr->pkey_tbl_len = 1;
	attr->ip_gids = true;
	attr->max_msg_sz = STRICT_MESSAGE;
	attr->active_width = IB_WIDTH_1X;
	attr->active_speed = IB_SPEED_SDR;
	return 0;
}

static int query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = 0xffff;
	return 0;
}

static int port_immutable(struct ib_device *ibdev, u32 port, struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = to_dev(ibdev)->protocols;
	immutable->gid_tbl_len = gid_table(to_dev(ibdev));
	immutable->pkey_tbl_len = 1;
	return 0;
}

static enum rdma_link_layer link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int add_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
				 struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static const struct rdma_stat_desc stats[] = { { .name = "sent_pkts" } };

static struct rdma_hw_stats *alloc_stats(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(stats, ARRAY_SIZE(stats), 0);
}

static int get_stats(struct ib_device *ibdev, struct rdma_hw_stats *hw, u32 port, int index)
{
	hw->value[0] = READ_ONCE(to_dev(ibdev)->sent);
	return 1;
}

/* /sys/class/infiniband/NAME/deaf: whether frames that arrive get lost; those of TCP do not. */
static ssize_t deaf_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct strict_dev *dev = rdma_device_to_drv_device(device, struct strict_dev, ib);

	return sysfs_emit(buf, "%d\n", dev->deaf);
}

static ssize_t deaf_store(struct device *device, struct device_attribute *attr, const char *buf,
			  size_t count)
{
	struct strict_dev *dev = rdma_device_to_drv_device(device, struct strict_dev, ib);
	bool deaf;
	int rc = kstrtobool(buf, &deaf);

	if (rc)
		return rc;
	WRITE_ONCE(dev->deaf, deaf);
	return count;
}
static DEVICE_ATTR_RW(deaf);

static struct attribute *attributes[] = { &dev_attr_deaf.attr, NULL };
static const struct attribute_group attribute_group = { .attrs = attributes };

static void dealloc(struct ib_device *ibdev)
{
	struct strict_dev *dev = to_dev(ibdev);

	dev_remove_pack(&dev->packet_type);
	ib_unregister_event_handler(&dev->event_handler);
	cancel_delayed_work_sync(&dev->engine);
	skb_queue_purge(&dev->rx);
	skb_queue_purge(&dev->tx);
	skb_queue_purge(&dev->late);
	WARN_ON(!list_empty(&dev->qps) || !list_empty(&dev->cqs));
	WARN_ON(!xa_empty(&dev->mrs));
	strict_dma_destroy(dev);
	dev_put(dev->ndev);
}

static const struct ib_device_ops strict_ops = {
	.owner		    = THIS_MODULE,
	.driver_id	    = STRICT_DRIVER,
	.query_device	    = query_device,
	.query_port	    = query_port,
	.query_pkey	    = query_pkey,
	.get_port_immutable = port_immutable,
	.get_link_layer	    = link_layer,
	.query_gid	    = query_gid,
	.add_gid	    = add_gid,
	.del_gid	    = del_gid,
	.alloc_pd	    = strict_alloc_pd,
	.dealloc_pd	    = strict_dealloc_pd,
	.create_cq	    = strict_create_cq,
	.destroy_cq	    = strict_destroy_cq,
	.poll_cq	    = strict_poll_cq,
	.req_notify_cq	    = strict_req_notify_cq,
	.create_qp	    = strict_create_qp,
	.modify_qp	    = strict_modify_qp,
	.query_qp	    = strict_query_qp,
	.destroy_qp	    = strict_destroy_qp,
	.post_send	    = strict_post_send,
	.post_recv	    = strict_post_recv,
	.reg_user_mr	    = reg_user_mr,
	.dereg_mr	    = strict_dereg_mr,
	.alloc_hw_port_stats = alloc_stats,
	.get_hw_stats	    = get_stats,
	.dealloc_driver	    = dealloc,
	.device_group	    = &attribute_group,
	INIT_RDMA_OBJ_SIZE(ib_pd, strict_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, strict_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, strict_qp, ib),
};

static const struct ib_device_ops kverbs_ops = { .get_dma_mr = strict_get_dma_mr };

static const struct ib_device_ops frwr_ops = {
	.alloc_mr	    = strict_alloc_mr,
	.map_mr_sg	    = strict_map_mr_sg,
};

static void set_ops(struct strict_dev *dev)
{
	ib_set_device_ops(&dev->ib, &strict_ops);
	if (dev->kverbs)
		ib_set_device_ops(&dev->ib, &kverbs_ops);
	if (dev->limits.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)
		ib_set_device_ops(&dev->ib, &frwr_ops);
}

/* Returns false if a parameter is wrong. */
static bool init(struct strict_dev *dev, struct net_device *ndev)
{
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->qps);
	INIT_LIST_HEAD(&dev->cqs);
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_BH);
	skb_queue_head_init(&dev->rx);
	skb_queue_head_init(&dev->tx);
	skb_queue_head_init(&dev->late);
	INIT_DELAYED_WORK(&dev->engine, strict_engine);
	dev->next_qpn = 16;
	dev->ndev = ndev;
	addrconf_addr_eui48((u8 *)&dev->ib.node_guid, ndev->dev_addr);
	if (!strict_set_limits(dev))
		return false;
	dev->ib.node_type = dev->protocols == RDMA_CORE_CAP_PROT_IWARP ? RDMA_NODE_RNIC :
			    dev->protocols & STRICT_ROCE ? RDMA_NODE_IB_CA : RDMA_NODE_UNSPECIFIED;
	dev->ib.phys_port_cnt = 1;
	set_ops(dev);
	return true;
}

static int newlink(const char *name, struct net_device *ndev)
{
	struct strict_dev *dev = ib_alloc_device(strict_dev, ib);
	int rc;

	if (!dev)
		return -ENOMEM;
	if (!init(dev, ndev)) {
		ib_dealloc_device(&dev->ib);
		return -EINVAL;
	}
	dev_hold(ndev);
	dev->packet_type = (struct packet_type) {
		.type = htons(STRICT_ETHERTYPE),
		.dev  = ndev,
		.func = strict_rx,
	};
	dev_add_pack(&dev->packet_type);
	strict_watch_gids(dev);
	rc = strict_dma_create(dev);
	if (!rc)
		rc = ib_device_set_netdev(&dev->ib, ndev, 1);
	if (!rc)
		rc = ib_register_device(&dev->ib, name, strict_dma_device(dev->dma));
	/* Calls dealloc(). */
	if (rc)
		ib_dealloc_device(&dev->ib);
	return rc;
}

static struct rdma_link_ops link_ops = {
	.type	 = "strict",
	.newlink = newlink,
};

static void port_event(struct ib_device *ibdev, enum ib_event_type type)
{
	struct ib_event event = { .device = ibdev, .element.port_num = 1, .event = type };

	ib_dispatch_event(&event);
}

static int netdev_event(struct notifier_block *nb, unsigned long what, void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct ib_device *ibdev = ib_device_get_by_netdev(ndev, STRICT_DRIVER);

	if (!ibdev)
		return NOTIFY_OK;
	switch (what) {
	case NETDEV_UNREGISTER:
		ib_unregister_device_queued(ibdev);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		port_event(ibdev, strict_port_up(to_dev(ibdev)) ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
		break;
	}
	ib_device_put(ibdev);
	return NOTIFY_OK;
}

static struct notifier_block netdev_notifier = { .notifier_call = netdev_event };

static int __init strict_init(void)
{
	int rc;

	strict_wq = alloc_workqueue("strict", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!strict_wq)
		return -ENOMEM;
	rc = strict_dma_init();
	if (rc)
		goto no_dma;
	rc = register_netdevice_notifier(&netdev_notifier);
	if (rc)
		goto no_notifier;
	rdma_link_register(&link_ops);
	return 0;
no_notifier:
	strict_dma_exit();
no_dma:
	destroy_workqueue(strict_wq);
	return rc;
}
module_init(strict_init);

static void __exit strict_exit(void)
{
	rdma_link_unregister(&link_ops);
	unregister_netdevice_notifier(&netdev_notifier);
	ib_unregister_driver(STRICT_DRIVER);
	strict_dma_exit();
	destroy_workqueue(strict_wq);
}
module_exit(strict_exit);

MODULE_DESCRIPTION("An RDMA device for tests, as free and as strict as the specification");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RDMA_LINK("strict");
