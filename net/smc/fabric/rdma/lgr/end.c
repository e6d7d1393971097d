// SPDX-License-Identifier: GPL-2.0
/* The end of a link group, and its causes. */
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include <net/net_namespace.h>
#include "../../../netns.h"
#include "../../../smc.h"
#include "lgr.h"

static void end_conns(struct smc_lgr *lgr)
{
	struct smc_lgr_conn *lconn;
	unsigned long token = 0;

	while ((lconn = smc_lgr_next_conn(lgr, &token))) {
		lconn->cut_off(lconn);
		smc_conn_notify(&lconn->msg.conn);
		smc_conn_put(&lconn->msg.conn);
	}
}

#ifdef CONFIG_SMC_TEST
/* For tests: behave like a device that takes its time to destroy a queue pair. */
static bool hold_release;
module_param(hold_release, bool, 0600);
MODULE_PARM_DESC(hold_release, "keep the devices of ended link groups until this is cleared");

static void test_hold(void)
{
	while (READ_ONCE(hold_release))
		msleep(20);
}
#else
static inline void test_hold(void) { }
#endif

/**
 * smc_lgr_released() - drop one of smc_lgr.n_releases
 * @lgr: the link group
 *
 * The last one closes the pools and drops the reference of the list.
 *
 * Context: process, may sleep.
 */
void smc_lgr_released(struct smc_lgr *lgr)
{
	if (!atomic_dec_and_test(&lgr->n_releases))
		return;
	if (lgr->rmbs)
		smc_pools_close(lgr->rmbs);
	if (lgr->txbufs)
		smc_pools_close(lgr->txbufs);
	smc_lgr_put(lgr);
}

/* Only the removal of the device waits for this. */
static void link_release_work(struct work_struct *work)
{
	struct smc_link *link = container_of(work, struct smc_link, release_work);
	struct smc_lgr *lgr = smc_link_lgr(link);
	struct smc_rdma_path path = link->path;

	test_hold();
	smc_link_destroy(link);
	smc_mem_drop_link(lgr, link);
	smc_lgr_await_forgotten(lgr, link);
	smc_link_release(link);
	spin_lock_bh(&lgr->lock);
	link->path.dev = NULL;
	spin_unlock_bh(&lgr->lock);
	smc_rdma_dev_released(path.dev);
	smc_rdma_path_put(&path);
	/* smc_lgr_forget() may have waited for this link. */
	smc_llc_kick(lgr);
	smc_lgr_released(lgr);
}

/**
 * smc_lgr_release_link() - destroy a link and return its device and slot, in a work item
 * @lgr: the link group
 * @link: the link, drained; no connection uses it
 */
void smc_lgr_release_link(struct smc_lgr *lgr, struct smc_link *link)
{
	atomic_inc(&lgr->n_releases);
	smc_rdma_dev_release(link->path.dev, &link->release_work);
}

/* Is the link in use, and has its release not begun yet? */
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

/* The part of the end that others wait for: applications, handshakes, the end of the namespace. */
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
	smc_lgr_stop_retiring(lgr);
	smc_llc_stop(lgr);
	smc_lgr_stop_failover(lgr);
	mutex_lock(&lgr->setup_lock);
	WRITE_ONCE(lgr->dead, true);
	mutex_unlock(&lgr->setup_lock);
	/* From here on only this work accesses links and memory. */
	end_links(lgr, &ended);
	/* Nothing arrives from the peer or goes to the peer any more. */
	end_conns(lgr);
	smc_lgr_wake_waiters(lgr);
	for_each_set_bit(i, &ended, SMC_LGR_LINKS)
		smc_lgr_release_link(lgr, &lgr->links[i]);
	/* The namespace may go away as soon as its last group gets here. */
	if (atomic_dec_and_test(&lgrs->n))
		wake_up_var(&lgrs->n);
	smc_lgr_released(lgr);
}

/**
 * smc_lgr_end_init() - initialise the work items that end a link group
 * @lgr: a new link group
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
 * __smc_lgrs_changed() - change the sequence number when a link group is added or removed
 * @lgrs: link groups of a namespace, with the lock held
 */
void __smc_lgrs_changed(struct smc_lgrs *lgrs)
{
	lockdep_assert_held(&lgrs->lock);
	lgrs->seq = smc_next_seq(lgrs->seq);
}

/**
 * __smc_lgr_end() - smc_lgr_end() with smc_lgrs.lock held
 * @lgr: the link group
 * @reason: reason for connections whose handshake this ends
 *
 * Context: any but hard interrupts.
 */
void __smc_lgr_end(struct smc_lgr *lgr, enum smc_reason reason)
{
	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	if (lgr->state == SMC_LGR_ENDING)
		return;
	__smc_lgr_report_end(lgr, reason);
	if (!lgr->fail)
		lgr->fail = reason;
	WRITE_ONCE(lgr->state, SMC_LGR_ENDING);
	list_del_init(&lgr->list);
	hash_del(&lgr->peer_node);
	__smc_lgrs_changed(smc_lgrs_of(lgr));
	/* The work takes over the reference of the list. */
	queue_work(smc_end_wq, &lgr->end_work);
}

/**
 * smc_lgr_end() - end a link group and all its connections
 * @lgr: the link group, which takes no new connections from now on
 * @reason: reason for connections whose handshake this ends
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

/* Any group of the namespace that has not begun to end, referenced, or NULL. */
static struct smc_lgr *any_lgr(struct smc_net *sn)
{
	struct smc_lgr *lgr;

	spin_lock_bh(&sn->lgrs->lock);
	lgr = list_first_entry_or_null(&sn->lgrs->list, struct smc_lgr, list);
	if (lgr)
		smc_lgr_get(lgr);
	spin_unlock_bh(&sn->lgrs->lock);
	return lgr;
}

/**
 * smc_lgrs_end_all() - end all link groups of a namespace
 * @sn: the namespace, which is closed for new link groups
 */
void smc_lgrs_end_all(struct smc_net *sn)
{
	struct smc_lgr *lgr;

	while ((lgr = any_lgr(sn))) {
		smc_lgr_end(lgr, SMC_REASON_NO_DEVICE);
		smc_lgr_put(lgr);
	}
}

/* Selects links of a device: all of them, or only those whose path is gone. */
struct link_match {
	struct smc_rdma_dev	*dev;
	bool			all;
};

static bool matches(const struct smc_link *link, const struct link_match *match)
{
	return link->path.dev == match->dev && READ_ONCE(link->state) != SMC_LINK_DOWN &&
	       (match->all || !smc_rdma_path_alive(&link->path));
}

static struct smc_link *matching_link(struct smc_lgr *lgr, const struct link_match *match)
{
	struct smc_link *link, *found = NULL;

	spin_lock(&lgr->lock);
	smc_lgr_for_each_link(lgr, link)
		/* Skip a further link that is being made; the engine checks its path afterwards. */
		if (!found && matches(link, match) &&
		    (smc_link_alive(link) || !smc_lgr_other_link(lgr, link)))
			found = link;
	spin_unlock(&lgr->lock);
	return found;
}

/* The loss of the last link ends the group, which tells the peer while the link still works. */
static void lose_path(struct smc_lgr *lgr, struct smc_link *link)
{
	if (smc_lgr_other_link(lgr, link))
		smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
	else
		smc_lgr_end(lgr, SMC_REASON_NO_DEVICE);
}

static void end_matching(struct smc_net *sn, const struct link_match *match)
{
	struct smc_lgr *lgr, *found;
	struct smc_link *link;

	do {
		found = NULL;
		spin_lock_bh(&sn->lgrs->lock);
		list_for_each_entry(lgr, &sn->lgrs->list, list) {
			link = matching_link(lgr, match);
			if (!link)
				continue;
			smc_lgr_get(lgr);
			found = lgr;
			break;
		}
		spin_unlock_bh(&sn->lgrs->lock);
		if (found) {
			lose_path(found, link);
			smc_lgr_put(found);
		}
	} while (found);
}

static void end_matching_everywhere(const struct link_match *match)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
		end_matching(smc_net(net), match);
	up_read(&net_rwsem);
}

/* A port that is usable now may allow another link. */
static void try_more_links(struct smc_net *sn)
{
	struct smc_lgr *lgr;

	spin_lock_bh(&sn->lgrs->lock);
	list_for_each_entry(lgr, &sn->lgrs->list, list)
		if (lgr->state == SMC_LGR_ACTIVE)
			smc_llc_more_links(lgr);
	spin_unlock_bh(&sn->lgrs->lock);
}

/**
 * smc_lgr_port_changed() - handle a change of a port or of its GIDs
 * @dev: the device
 * @port: its port
 *
 * Context: process.
 */
void smc_lgr_port_changed(struct smc_rdma_dev *dev, u8 port)
{
	struct net *net;

	end_matching_everywhere(&(struct link_match) { .dev = dev });
	if (!smc_rdma_port_usable(dev, port))
		return;
	down_read(&net_rwsem);
	for_each_net(net)
		try_more_links(smc_net(net));
	up_read(&net_rwsem);
}

/**
 * smc_lgr_dev_removed() - end all links of a device that is being removed
 * @dev: the device, marked as gone; dev_remove() waits for the references
 */
void smc_lgr_dev_removed(struct smc_rdma_dev *dev)
{
	end_matching_everywhere(&(struct link_match) { .dev = dev, .all = true });
}
