// SPDX-License-Identifier: GPL-2.0
/*
 * Test builds only: a module parameter that finds second paths.  Write a question to
 * second_path, then read the answer from it.
 *
 *	first DEVICE PORT INDEX		set the first path to this GID and record its network
 *	second PEER_GID [DEVICE...]	find a second path to the peer, but not by these devices;
 *					the GID is written as in sysfs, or "-" if not known
 *	gids				list the GIDs for a GID list
 */
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/rculist.h>
#include <linux/string.h>
#include "gid.h"

#define MAX_GIDS	8

/* The lock of the module's parameters serializes access to these. */
static struct smc_rdma_path first;
static struct smc_rdma_network network;
static char answer[PAGE_SIZE / 2];

static bool is_named(const struct smc_rdma_dev *dev, u8 port, void *names)
{
	char *copy = kstrdup(names, GFP_ATOMIC), *rest = copy, *name;
	bool named = false;

	/* If kstrdup() fails, no device is excluded: the answer is wrong, and the test fails. */
	while ((name = strsep(&rest, " ")))
		named |= !strcmp(name, dev->ibdev->name);
	kfree(copy);
	return named;
}

static int find_gid(const char *name, u32 port, int index)
{
	struct smc_rdma_dev *dev;
	struct smc_rdma_gid gid;
	int rc = -ENODEV;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &smc_rdma_devs, list) {
		if (strcmp(dev->ibdev->name, name) || !rdma_is_port_valid(dev->ibdev, port) ||
		    !smc_rdma_gid_get(&gid, dev, port, index))
			continue;
		smc_rdma_gid_to_path(&gid, &first);
		smc_rdma_gid_put(&gid);
		rc = smc_rdma_dev_tryget(dev) ? 0 : -ENODEV;
	}
	rcu_read_unlock();
	return rc;
}

static int set_first(const char *words)
{
	char name[IB_DEVICE_NAME_MAX];
	int index, rc;
	u32 port;

	if (sscanf(words, "%63s %u %d", name, &port, &index) != 3)
		return -EINVAL;
	rc = find_gid(name, port, index);
	if (rc)
		return rc;
	rc = smc_rdma_path_network(&first, &network);
	/* A reference kept here would block the device's removal. */
	smc_rdma_path_put(&first);
	return rc;
}

static int find_second(char *words)
{
	char *names = strchrnul(words, ' ');
	struct smc_rdma_path path;
	union ib_gid peer;
	int rc;

	if (*names)
		*names++ = 0;
	if (strcmp(words, "-") && !in6_pton(words, -1, peer.raw, -1, NULL))
		return -EINVAL;
	rc = smc_rdma_path_second(&network, &first, current->nsproxy->net_ns,
				  strcmp(words, "-") ? &peer : NULL, is_named, names, &path);
	if (rc) {
		sprintf(answer, "%d\n", rc);
		return 0;
	}
	sprintf(answer, "%s %u %pI6 %u\n", path.dev->ibdev->name, path.port, path.gid.raw,
		ib_mtu_enum_to_int(path.mtu));
	smc_rdma_path_put(&path);
	return 0;
}

static int list_gids(void)
{
	u8 gids[MAX_GIDS][16];
	unsigned int i, n;
	char *at = answer;

	if (smc_rdma_path_hold(&first))
		return -ENODEV;
	n = smc_rdma_path_gids(&first, current->nsproxy->net_ns, gids, MAX_GIDS);
	smc_rdma_path_put(&first);
	for (i = 0; i < n; i++)
		at += sprintf(at, "%pI6\n", gids[i]);
	return 0;
}

static int ask(const char *value, const struct kernel_param *kp)
{
	char *copy = kstrdup(value, GFP_KERNEL), *words;
	int rc = -EINVAL;

	if (!copy)
		return -ENOMEM;
	words = strim(copy);
	*answer = 0;
	if (!strncmp(words, "first ", 6))
		rc = set_first(words + 6);
	else if (!strncmp(words, "second ", 7))
		rc = find_second(words + 7);
	else if (!strcmp(words, "gids"))
		rc = list_gids();
	kfree(copy);
	return rc;
}

static int tell(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%s", answer);
}

static const struct kernel_param_ops ops = { .set = ask, .get = tell };
module_param_cb(second_path, &ops, NULL, 0600);
MODULE_PARM_DESC(second_path, "find second paths");
