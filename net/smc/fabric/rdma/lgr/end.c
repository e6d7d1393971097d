// SPDX-License-Identifier: GPL-2.0
/* The end of a link group, and who brings it about. */
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include <net/net_namespace.h>
#include "../../../netns.h"
#include "../../../smc.h"
#include "../../../stats.h"
#include "../../../trace.h"
#include "lgr.h"

static void end_conns(struct smc_lgr *lgr)
{
	struct smc_lgr_conn *lconn;
	unsigned long token = 0;

	for (;;) {
		rcu_read_lock();
		lconn = xa_find(&lgr->conns, &token, U32_MAX, XA_PRESENT);
		if (lconn && !refcount_inc_not_zero(&lconn->conn.ref)) {
			rcu_read_unlock();
			token++;
			continue;
		}
		rcu_read_unlock();
		if (!lconn)
			return;
		lconn->cut_off(lconn);
		smc_conn_notify(&lconn->conn);
		smc_conn_put(&lconn->conn);
		token++;
	}
}

#ifdef CONFIG_SMC_TEST
/* For tests: as on a device that takes its time to destroy a queue pair. */
static bool hold_release;
module_param(hold_release, bool, 0600);
MODULE_PARM_DESC(hold_release, "do not give link groups' devices back for now");

static void test_hold(void)
{
	while (READ_ONCE(hold_release))
		msleep(20);
}
#else
static inline void test_hold(void) { }
#endif

/* The last link takes the memory with it, and the reference of the list. */
static void link_released(struct smc_lgr *lgr)
{
	if (!atomic_dec_and_test(&lgr->n_releases))
		return;
	if (lgr->rmbs)
		smc_pools_close(lgr->rmbs);
	if (lgr->txbufs)
		smc_pools_close(lgr->txbufs);
	smc_lgr_put(lgr);
}

/* Nobody but the removal of the device waits for this. */
static void link_release_work(struct work_struct *work)
{
	struct smc_link *link = container_of(work, struct smc_link, release_work);
	struct smc_lgr *lgr = smc_link_lgr(link);
	struct smc_rdma_path path = link->path;

	test_hold();
	smc_link_destroy(link);
	smc_mem_drop_link(lgr, link);
	smc_link_release(link);
	spin_lock_bh(&lgr->lock);
	link->path.dev = NULL;
	spin_unlock_bh(&lgr->lock);
	smc_rdma_dev_released(path.dev);
	smc_rdma_path_put(&path);
	link_released(lgr);
}

static void release_link(struct smc_lgr *lgr, struct smc_link *link)
{
	atomic_inc(&lgr->n_releases);
	smc_rdma_dev_release(link->path.dev, &link->release_work);
}

/* Is it used, and has its release not begun yet? */
static bool ends_with_lgr(const struct smc_link *link)
{
	return !link->drained && link->path.dev;
}

static void end_links(struct smc_lgr *lgr, unsigned long *ended)
{
	struct smc_link *link;

	smc_lgr_for_each_link(lgr, link) {
		if (!ends_with_lgr(link))
			continue;
		__set_bit(smc_lgr_link_index(lgr, link), ended);
		smc_link_stop(link);
	}
	smc_lgr_for_each_link(lgr, link)
		if (test_bit(smc_lgr_link_index(lgr, link), ended))
			smc_link_drain(link);
}

/* All that others wait for: applications, handshakes, the end of the namespace. */
static void lgr_end_work(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(work, struct smc_lgr, end_work);
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);
	unsigned long ended = 0;
	unsigned int i;

	if (cancel_delayed_work_sync(&lgr->idle_work))
		smc_lgr_put(lgr);
	if (cancel_delayed_work_sync(&lgr->close_work))
		smc_lgr_put(lgr);
	smc_llc_stop(lgr);
	mutex_lock(&lgr->setup_lock);
	WRITE_ONCE(lgr->dead, true);
	mutex_unlock(&lgr->setup_lock);
	/* From here on links and memory are this work's alone. */
	end_links(lgr, &ended);
	/* Nothing comes from the peer any more, nothing goes to it. */
	end_conns(lgr);
	smc_lgr_wake_waiters(lgr);
	for_each_set_bit(i, &ended, SMC_LGR_LINKS)
		release_link(lgr, &lgr->links[i]);
	/* The namespace may go as soon as this is the last one. */
	if (atomic_dec_and_test(&lgrs->n))
		wake_up_var(&lgrs->n);
	link_released(lgr);
}

/**
 * smc_lgr_end_init() - a link group that may end
 * @lgr: new
 */
void smc_lgr_end_init(struct smc_lgr *lgr)
{
	struct smc_link *link;

	INIT_WORK(&lgr->end_work, lgr_end_work);
	smc_lgr_for_each_link(lgr, link)
		INIT_WORK(&link->release_work, link_release_work);
	atomic_set(&lgr->n_releases, 1);
}

/**
 * __smc_lgrs_changed() - a link group has come or gone
 * @lgrs: of a namespace; its lock is held
 */
void __smc_lgrs_changed(struct smc_lgrs *lgrs)
{
	lockdep_assert_held(&lgrs->lock);
	lgrs->seq = smc_next_seq(lgrs->seq);
}

/**
 * __smc_lgr_end() - smc_lgr_end() under the lock of the namespace's list
 * @lgr: the link group
 * @reason: why, for connections whose handshake it ends
 *
 * Context: any but hard interrupts.
 */
void __smc_lgr_end(struct smc_lgr *lgr, enum smc_reason reason)
{
	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	if (lgr->state == SMC_LGR_ENDING)
		return;
	if (!lgr->fail)
		lgr->fail = reason;
	WRITE_ONCE(lgr->state, SMC_LGR_ENDING);
	list_del_init(&lgr->list);
	__smc_lgrs_changed(smc_lgrs_of(lgr));
	/* With the reference of the list */
	queue_work(smc_end_wq, &lgr->end_work);
}

/**
 * smc_lgr_end() - no new connections, and the end of all that there are
 * @lgr: the link group
 * @reason: why, for connections whose handshake it ends
 *
 * Context: any but hard interrupts.
 */
void smc_lgr_end(struct smc_lgr *lgr, enum smc_reason reason)
{
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);

	spin_lock_bh(&lgrs->lock);
	__smc_lgr_end(lgr, reason);
	spin_unlock_bh(&lgrs->lock);
}

/**
 * smc_lgr_link_down() - smc_link_ops.down
 * @link: the link
 * @caller: who has noticed
 *
 * There is no failover: the connections of a link end with it, and so does the group.
 */
void smc_lgr_link_down(struct smc_link *link, void *caller)
{
	struct smc_lgr *lgr = smc_link_lgr(link);

	this_cpu_inc(lgr->sn->stats->links_down);
	trace_smcr_link_down(lgr, link, lgr->sn->net, SMC_LINK_DOWN, lgr->dev_name, caller);
	smc_lgr_end(lgr, SMC_REASON_INTERNAL);
}

/* Which groups are to end: those with such a link. */
struct lgr_match {
	struct smc_rdma_dev	*dev;
	bool			(*chosen)(const struct smc_link *link,
					  const struct lgr_match *match);
};

static bool any_link(const struct smc_link *link, const struct lgr_match *match)
{
	return true;
}

static bool on_device(const struct smc_link *link, const struct lgr_match *match)
{
	return link->path.dev == match->dev;
}

static bool lost_path(const struct smc_link *link, const struct lgr_match *match)
{
	return on_device(link, match) && !smc_rdma_path_alive(&link->path);
}

/* One link is enough, as there is no failover. */
static bool matches(struct smc_lgr *lgr, const struct lgr_match *match)
{
	struct smc_link *link;

	spin_lock(&lgr->lock);
	smc_lgr_for_each_link(lgr, link)
		if (link->path.dev && match->chosen(link, match))
			break;
	spin_unlock(&lgr->lock);
	return link != lgr->links + SMC_LGR_LINKS;
}

static void end_matching(struct smc_net *sn, const struct lgr_match *match)
{
	struct smc_lgr *lgr, *found;

	do {
		found = NULL;
		spin_lock_bh(&sn->lgrs->lock);
		list_for_each_entry(lgr, &sn->lgrs->list, list) {
			if (!matches(lgr, match))
				continue;
			smc_lgr_get(lgr);
			found = lgr;
			break;
		}
		spin_unlock_bh(&sn->lgrs->lock);
		if (found) {
			smc_lgr_end(found, SMC_REASON_NO_DEVICE);
			smc_lgr_put(found);
		}
	} while (found);
}

/**
 * smc_lgrs_end_all() - the namespace goes
 * @sn: the namespace, in which no link group is made any more
 */
void smc_lgrs_end_all(struct smc_net *sn)
{
	end_matching(sn, &(struct lgr_match) { .chosen = any_link });
}

static void end_matching_everywhere(const struct lgr_match *match)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
		end_matching(smc_net(net), match);
	up_read(&net_rwsem);
}

/**
 * smc_lgr_port_down() - something happened to a port or to its GIDs
 * @dev: the device
 * @port: its port
 */
void smc_lgr_port_down(struct smc_rdma_dev *dev, u8 port)
{
	end_matching_everywhere(&(struct lgr_match) { .dev = dev, .chosen = lost_path });
}

/**
 * smc_lgr_dev_removed() - a device goes
 * @dev: the device, marked as gone; its remove waits for the references
 */
void smc_lgr_dev_removed(struct smc_rdma_dev *dev)
{
	end_matching_everywhere(&(struct lgr_match) { .dev = dev, .chosen = on_device });
}
