// SPDX-License-Identifier: GPL-2.0
/*
 * Arrival, events and removal of RDMA devices.
 *
 * Lifetime of a smc_rdma_dev: dev_add() puts it on the list with one reference.
 * dev_remove() marks it gone, takes it off the list, stops its event work, waits for
 * RCU readers of the list, tells the link groups, drops that reference and waits for
 * the last one.  Only then does the RDMA core get its device back.  The wait ends
 * because a path is held either by a function that does not block, or by a link,
 * which removed() or the end of its namespace has ended.
 */
#include <linux/etherdevice.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <rdma/ib_cache.h>
#include "../../../smc.h"
#include "dev.h"

LIST_HEAD(smc_rdma_devs);
static DEFINE_SPINLOCK(devs_lock);	/* writes to the list, the next two and dev->gone */
static u32 last_id;
static unsigned int devs_seq = 1;
static const struct smc_rdma_dev_events *dev_events;

bool smc_rdma_dev_tryget(struct smc_rdma_dev *dev)
{
	return !smc_rdma_dev_gone(dev) && refcount_inc_not_zero(&dev->ref);
}

struct smc_rdma_dev *smc_rdma_dev_get(struct smc_rdma_dev *dev)
{
	refcount_inc(&dev->ref);
	return dev;
}

void smc_rdma_dev_put(struct smc_rdma_dev *dev)
{
	/* dev_remove() may free @dev as soon as complete() has been called. */
	if (refcount_dec_and_test(&dev->ref))
		complete(&dev->unused);
}

/**
 * smc_rdma_dev_releases() - count a link that gives up the device
 * @dev: the device; smc_rdma_dev_released() is called before the link puts it
 *
 * Context: any.
 */
void smc_rdma_dev_releases(struct smc_rdma_dev *dev)
{
	atomic_inc(&dev->n_releases);
}

/**
 * smc_rdma_dev_queue() - queue a work item whose call into the device might take long
 * @dev: the device, held by the work item or by something that ends after it
 * @work: the work item, which waits for no other work item of the device
 *
 * Context: any.
 */
void smc_rdma_dev_queue(struct smc_rdma_dev *dev, struct work_struct *work)
{
	queue_work(dev->release_wq, work);
}

/**
 * smc_rdma_dev_queue_stop() - queue a work item that stops a queue pair
 * @dev: the device, held by something that ends after the work item
 * @work: the work item, which waits for nothing but the device
 *
 * Context: any.
 */
void smc_rdma_dev_queue_stop(struct smc_rdma_dev *dev, struct work_struct *work)
{
	queue_work(dev->stop_wq, work);
}

void smc_rdma_dev_released(struct smc_rdma_dev *dev)
{
	atomic_dec(&dev->n_releases);
}

/* Sequence number that changes whenever a device is added or removed; never 0. */
unsigned int smc_rdma_dev_seq(void)
{
	return READ_ONCE(devs_seq);
}

static void __devs_changed(void)
{
	lockdep_assert_held(&devs_lock);
	WRITE_ONCE(devs_seq, smc_next_seq(devs_seq));
}

/**
 * smc_rdma_dev_pci() - the PCI name of a device
 * @dev: the device, referenced or under RCU
 *
 * Return: the name, or NULL if it is not a PCI device.
 */
const char *smc_rdma_dev_pci(const struct smc_rdma_dev *dev)
{
	const struct device *parent = dev->ibdev->dev.parent;

	return parent && dev_is_pci(parent) ? dev_name(parent) : NULL;
}

bool smc_rdma_dev_any(struct net *net)
{
	struct smc_rdma_dev *dev;
	bool any = false;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &smc_rdma_devs, list) {
		any = rdma_dev_access_netns(dev->ibdev, net);
		if (any)
			break;
	}
	rcu_read_unlock();
	return any;
}

/**
 * smc_rdma_port_usable() - can a link use this port?
 * @dev: the device, referenced or under RCU
 * @port: port number
 *
 * Context: any.
 *
 * Return: true if it is an active RoCE port.
 */
bool smc_rdma_port_usable(const struct smc_rdma_dev *dev, u32 port)
{
	enum ib_port_state state;

	return port <= SMC_RDMA_MAX_PORTS &&
	       rdma_protocol_roce(dev->ibdev, port) &&
	       !ib_get_cached_port_state(dev->ibdev, port, &state) &&
	       state == IB_PORT_ACTIVE;
}

/* MAC address of the netdev that a port's first GID belongs to; under RCU. */
static bool port_mac(const struct smc_rdma_dev *dev, u32 port, u8 *mac)
{
	const struct ib_gid_attr *attr;
	bool found;

	attr = rdma_get_gid_attr(dev->ibdev, port, 0);
	if (IS_ERR(attr))
		return false;
	found = !rdma_read_gid_l2_fields(attr, NULL, mac) &&
		is_valid_ether_addr(mac);
	rdma_put_gid_attr(attr);
	return found;
}

/**
 * smc_rdma_mac() - smc_fabric_ops.mac
 * @mac: receives the address of an RDMA device
 *
 * Context: any but hard interrupt.
 * Return: true, or false if there is no such device.
 */
bool smc_rdma_mac(u8 *mac)
{
	struct smc_rdma_dev *dev;
	bool found = true;
	u32 port;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &smc_rdma_devs, list)
		rdma_for_each_port(dev->ibdev, port)
			if (rdma_protocol_roce(dev->ibdev, port) &&
			    port_mac(dev, port, mac))
				goto out;
	found = false;
out:
	rcu_read_unlock();
	return found;
}

/* ---- events --------------------------------------------------------------- */

static void port_work(struct work_struct *work)
{
	struct smc_rdma_dev *dev = container_of(work, struct smc_rdma_dev,
						port_work);
	unsigned int port;

	for_each_set_bit(port, dev->changed, SMC_RDMA_MAX_PORTS + 1)
		if (test_and_clear_bit(port, dev->changed))
			dev_events->port_changed(dev, port);
}

static void all_ports_changed(struct smc_rdma_dev *dev)
{
	u32 port;

	rdma_for_each_port(dev->ibdev, port)
		if (port <= SMC_RDMA_MAX_PORTS)
			set_bit(port, dev->changed);
	queue_work(smc_link_wq, &dev->port_work);
}

/*
 * Called by the RDMA core with its lock for event handlers held.  Links end in a work
 * item instead, where they may call into the device.
 */
static void dev_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct smc_rdma_dev *dev = container_of(handler, struct smc_rdma_dev,
						event);
	u32 port;

	switch (event->event) {
	case IB_EVENT_PORT_ERR:
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_GID_CHANGE:
		port = event->element.port_num;
		if (port > SMC_RDMA_MAX_PORTS)
			return;
		set_bit(port, dev->changed);
		queue_work(smc_link_wq, &dev->port_work);
		break;
	case IB_EVENT_DEVICE_FATAL:
		all_ports_changed(dev);
		break;
	default:
		break;
	}
}

/* ---- the RDMA core's client ----------------------------------------------- */

static struct ib_client smc_rdma_client;

static bool any_roce_port(struct ib_device *ibdev)
{
	u32 port;

	rdma_for_each_port(ibdev, port)
		if (rdma_protocol_roce(ibdev, port))
			return true;
	return false;
}

/* The largest enum ib_mtu that all RoCE ports support. */
static u8 max_mtu(struct ib_device *ibdev)
{
	struct ib_port_attr attr;
	u8 mtu = IB_MTU_4096;
	u32 port;

	rdma_for_each_port(ibdev, port)
		if (rdma_protocol_roce(ibdev, port) &&
		    !ib_query_port(ibdev, port, &attr))
			mtu = clamp_t(u8, attr.max_mtu, IB_MTU_256, mtu);
	return mtu;
}

static void free_queues(struct smc_rdma_dev *dev)
{
	if (dev->stop_wq)
		destroy_workqueue(dev->stop_wq);
	if (dev->release_wq)
		destroy_workqueue(dev->release_wq);
}

#ifdef CONFIG_SMC_TEST
/* For tests: WQ_MAX_ACTIVE takes hundreds of link groups. */
static int release_active = WQ_MAX_ACTIVE;
module_param(release_active, int, 0400);
MODULE_PARM_DESC(release_active, "how many link groups and buffers a device releases at once");
#else
#define release_active	WQ_MAX_ACTIVE
#endif

static bool make_queues(struct smc_rdma_dev *dev, const char *name)
{
	dev->release_wq = alloc_workqueue("smc_%s", WQ_UNBOUND, release_active, name);
	dev->stop_wq = alloc_workqueue("smc_stop_%s", WQ_UNBOUND, WQ_MAX_ACTIVE, name);
	if (dev->release_wq && dev->stop_wq)
		return true;
	free_queues(dev);
	return false;
}

/* What a device lacks without which no link can be made, or NULL. */
static const char *lacks(const struct ib_device_attr *attrs)
{
	if (!(attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return "registration of memory by work requests";
	if (attrs->max_qp_wr < SMC_RDMA_MIN_WR)
		return "queue pairs of sufficient length";
	if (attrs->max_cqe < 2 * SMC_RDMA_MIN_WR)
		return "completion queues of sufficient length";
	if (!smc_rdma_mr_page(attrs))
		return "memory regions of pages of this size";
	if (smc_rdma_mr_bytes(attrs) < SMC_RDMA_MIN_REGION)
		return "memory regions of sufficient length";
	return NULL;
}

/* Asking for more than the attributes of the device promise would at best be refused, each time. */
static bool suitable(struct ib_device *ibdev)
{
	const char *what;

	if (!any_roce_port(ibdev))
		return false;
	what = lacks(&ibdev->attrs);
	if (what)
		pr_info("smc: %s: not used, because the device lacks %s\n", ibdev->name, what);
	return !what;
}

static int dev_add(struct ib_device *ibdev)
{
	struct smc_rdma_dev *dev;

	if (!suitable(ibdev))
		return -EOPNOTSUPP;
	dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	if (!make_queues(dev, ibdev->name)) {
		kfree(dev);
		return -ENOMEM;
	}
	dev->ibdev = ibdev;
	dev->max_mtu = max_mtu(ibdev);
	refcount_set(&dev->ref, 1);
	init_completion(&dev->unused);
	INIT_WORK(&dev->port_work, port_work);
	ib_set_client_data(ibdev, &smc_rdma_client, dev);
	INIT_IB_EVENT_HANDLER(&dev->event, ibdev, dev_event);
	ib_register_event_handler(&dev->event);

	spin_lock(&devs_lock);
	dev->id = ++last_id;
	list_add_tail_rcu(&dev->list, &smc_rdma_devs);
	__devs_changed();
	spin_unlock(&devs_lock);
	/* No event reports ports and GIDs that the RDMA core made active before this. */
	all_ports_changed(dev);
	return 0;
}

static void dev_remove(struct ib_device *ibdev, void *client_data)
{
	struct smc_rdma_dev *dev = client_data;

	spin_lock(&devs_lock);
	WRITE_ONCE(dev->gone, true);
	list_del_rcu(&dev->list);
	__devs_changed();
	spin_unlock(&devs_lock);

	/* Stop events from queueing the work, then wait for the work itself. */
	ib_unregister_event_handler(&dev->event);
	cancel_work_sync(&dev->port_work);
	/* From here on no reader can take a reference; tasks that hold one see @gone. */
	synchronize_rcu();
	dev_events->removed(dev);
	smc_rdma_dev_put(dev);
	wait_for_completion(&dev->unused);
	/* The work item that dropped the last reference may still be running. */
	free_queues(dev);
	kfree(dev);
}

static struct ib_client smc_rdma_client = {
	.name	= "smc",
	.add	= dev_add,
	.remove	= dev_remove,
};

int smc_rdma_dev_init(const struct smc_rdma_dev_events *events)
{
	int rc;

	dev_events = events;
	rc = smc_rdma_next_hop_init();
	if (rc)
		return rc;
	rc = ib_register_client(&smc_rdma_client);
	if (rc)
		smc_rdma_next_hop_exit();
	return rc;
}

void smc_rdma_dev_exit(void)
{
	ib_unregister_client(&smc_rdma_client);
	smc_rdma_next_hop_exit();
}
