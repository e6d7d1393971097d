// SPDX-License-Identifier: GPL-2.0
/* Paths that change while queue pairs use them. */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "test.h"

static char *netdev = "veth0";
module_param(netdev, charp, 0400);
MODULE_PARM_DESC(netdev, "name of the network device of the RDMA device");

/* 10.9.9.9 */
static const union ib_gid extra_gid = {
	.raw = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 9, 9 },
};

static int ip_address(char *command)
{
	char *argv[7] = { "/sbin/ip", "addr", command, "10.9.9.9/32", "dev", netdev, NULL };
	char *env[2] = { "PATH=/sbin:/usr/sbin:/bin:/usr/bin", NULL };

	return call_usermodehelper(argv[0], argv, env, UMH_WAIT_PROC);
}

/* Adds or deletes the GID, and waits for that. Returns its index, or -ENOENT. */
static int change_gid(struct test_rig *rig, bool add)
{
	const struct ib_gid_attr *attr;
	int i, index = -ENOENT;
	bool found;

	if (ip_address(add ? "add" : "del"))
		return add ? -ENOENT : 0;
	for (i = 0; i < 100; i++, msleep(10)) {
		attr = rdma_find_gid_by_port(rig->ibdev, &extra_gid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1,
					     NULL);
		found = !IS_ERR(attr);
		index = found ? attr->index : -ENOENT;
		if (found)
			rdma_put_gid_attr(attr);
		if (found == add)
			break;
	}
	return index;
}

/* Connects the queue pairs with the additional GID. */
static const char *connect(struct test_rig *rig)
{
	enum ib_qp_state state;
	int index = change_gid(rig, true);

	if (index < 0)
		return "no additional GID";
	rig->gid = extra_gid;
	rig->gid_index = index;
	for (state = IB_QPS_INIT; state <= IB_QPS_RTS; state++)
		if (test_modify(rig, &rig->a, state) || test_modify(rig, &rig->b, state))
			return "they cannot be connected";
	return test_recv(rig, &rig->b, 1, 1000) ? "the post fails" : NULL;
}

static const char *gid_gone(struct test_rig *rig)
{
	const char *wrong = connect(rig);
	struct ib_wc wc;

	if (change_gid(rig, false) >= 0 || wrong)
		return wrong ?: "the GID is still there";
	if (test_send(rig, &rig->a, 2, 100, 0))
		return "the post fails";
	if (!test_await(&rig->a, 2, IB_WC_RETRY_EXC_ERR))
		return "it was acknowledged";
	return ib_poll_cq(rig->b.cq, 1, &wc) ? "it was received" : NULL;
}

/* It comes back before the sender gives up. */
static const char *gid_back(struct test_rig *rig)
{
	const char *wrong = connect(rig);

	if (change_gid(rig, false) >= 0 || wrong)
		return wrong ?: "the GID is still there";
	if (test_send(rig, &rig->a, 2, 100, IB_SEND_SIGNALED))
		return "the post fails";
	msleep(20);
	if (change_gid(rig, true) < 0 || !test_await(&rig->a, 2, IB_WC_SUCCESS) ||
	    !test_await(&rig->b, 1, IB_WC_SUCCESS))
		wrong = "no message";
	change_gid(rig, false);
	return wrong;
}

static int set_mtu(int mtu)
{
	struct net_device *dev;
	int rc = -ENODEV;

	rtnl_lock();
	dev = __dev_get_by_name(&init_net, netdev);
	if (dev)
		rc = dev_set_mtu(dev, mtu);
	rtnl_unlock();
	return rc;
}

/* Packets that are longer than what the port sends now are lost, and others are not. */
static const char *mtu_shrinks(struct test_rig *rig)
{
	const char *wrong = NULL;

	if (set_mtu(1000))
		return "the MTU cannot be set";
	if (test_recv(rig, &rig->b, 1, 1000) || test_recv(rig, &rig->b, 3, 1000) ||
	    test_send(rig, &rig->a, 1, 400, IB_SEND_SIGNALED) ||
	    test_send(rig, &rig->a, 2, 600, IB_SEND_SIGNALED))
		wrong = "posts fail";
	else if (!test_await(&rig->a, 1, IB_WC_SUCCESS) || !test_await(&rig->b, 1, IB_WC_SUCCESS))
		wrong = "a short packet is lost";
	else if (!test_await(&rig->a, 2, IB_WC_RETRY_EXC_ERR))
		wrong = "a long packet has arrived";
	return set_mtu(1500) ? "the MTU cannot be set" : wrong;
}

/* Devices of other drivers have other numbers, so the end of this one is not theirs. */
static const char *driver(struct test_rig *rig)
{
	return rig->ibdev->ops.driver_id < 100 ? "the number of its driver is another one's" : NULL;
}

const struct test_case test_path_cases[] = {
	{ "gid_gone", gid_gone, NULL, { .unconnected = true } },
	{ "gid_back", gid_back, NULL, { .unconnected = true } },
	{ "mtu_shrinks", mtu_shrinks },
	{ "driver", driver },
	{}
};
