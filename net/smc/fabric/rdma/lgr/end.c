// SPDX-License-Identifier: GPL-2.0
/* The end of a link group, and its causes. */
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

/* Is the link in use, and has its release not begun yet? */
static bool ends_with_lgr(const struct smc_link *link)
{
	return !link->drained && link->path.dev;
}

/* All links share the time that one may take. */
static void end_links(struct smc_lgr *lgr, unsigned long *ended)
{
	unsigned long until = jiffies + SMC_LINK_STOP_TIME;
	struct smc_link *link;

	smc_lgr_for_each_link(lgr, link) {
		if (!ends_with_lgr(link))
			continue;
		__set_bit(smc_lgr_link_index(lgr, link), ended);
		smc_link_stop(link, until);
	}
	until = jiffies + SMC_LINK_DRAIN_TIME;
	smc_lgr_for_each_link(lgr, link)
		if (test_bit(smc_lgr_link_index(lgr, link), ended))
			smc_link_drain(link, until);
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
 * smc_lgr_end_init() - initialise the work item that ends a link group
 * @lgr: a new link group
 */
void smc_lgr_end_init(struct smc_lgr *lgr)
{
	INIT_WORK(&lgr->end_work, lgr_end_work);
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
