// SPDX-License-Identifier: GPL-2.0
/*
 * What a link group returns to its devices: registrations of buffers, and links.  The last return
 * after the end of the group frees the group's memory.
 */
#include "../../../test_hold.h"
#include "lgr.h"

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

/* ---- buffers ---- */

/*
 * Return a link's device and slot, when nothing of the group is registered with it any more.  The
 * last work item that has used the device calls this, so no work item waits for another one: there
 * may be more of them than the device's work queue runs at once.
 */
static void return_link(struct smc_lgr *lgr, struct smc_link *link)
{
	atomic_t *n_uses = &lgr->n_uses[smc_lgr_link_index(lgr, link)];
	struct smc_rdma_path path = link->path;

	if (!atomic_dec_and_test(n_uses))
		return;
	smc_link_release(link);
	/* For the next link in this slot. */
	atomic_set(n_uses, 1);
	spin_lock_bh(&lgr->lock);
	link->path.dev = NULL;
	spin_unlock_bh(&lgr->lock);
	smc_rdma_dev_released(path.dev);
	smc_rdma_path_put(&path);
	/* smc_lgr_forget() may have waited for this link. */
	smc_llc_kick(lgr);
	smc_lgr_released(lgr);
}

static void forget_work(struct work_struct *work)
{
	struct smc_rmb_forget *forget = container_of(work, struct smc_rmb_forget, work);
	struct smc_link *link = forget->link;
	struct smc_lgr *lgr = smc_link_lgr(link);
	struct smc_rmb *rmb = forget->rmb;

	smc_mem_unreg(&forget->on_link, link);
	/* This may free @forget. */
	if (atomic_dec_and_test(&rmb->n_forget))
		smc_buf_retired(rmb->buf);
	return_link(lgr, link);
	smc_lgr_released(lgr);
}

static void __forget_on(struct smc_rmb *rmb, struct smc_link *link)
{
	struct smc_lgr *lgr = rmb->lgr;
	unsigned int i = smc_lgr_link_index(lgr, link);
	struct smc_rmb_forget *forget = &rmb->forget[i];

	lockdep_assert_held(&lgr->setup_lock);
	if (!rmb->on_link[i].reg.mr)
		return;
	INIT_WORK(&forget->work, forget_work);
	forget->rmb = rmb;
	forget->link = link;
	forget->on_link = rmb->on_link[i];
	rmb->on_link[i] = (struct smc_rmb_on_link) {};
	atomic_inc(&rmb->n_forget);
	atomic_inc(&lgr->n_uses[i]);
	atomic_inc(&lgr->n_releases);
	smc_rdma_dev_queue(link->path.dev, &forget->work);
}

/*
 * Is the device neither registering the region nor using it for posts?  A link that was not flushed
 * keeps its regions until its queue pair is gone.
 */
static bool is_at_rest(const struct smc_rmb_on_link *on, const struct smc_link *link)
{
	if (link->drained)
		return link->flushed;
	return READ_ONCE(link->state) != SMC_LINK_DOWN &&
	       (!on->registered || READ_ONCE(on->reg.valid));
}

static bool is_settled(const struct smc_rmb *rmb)
{
	const struct smc_rmb_on_link *on;
	const struct smc_link *link;

	smc_lgr_for_each_link(rmb->lgr, link) {
		on = &rmb->on_link[smc_lgr_link_index(rmb->lgr, link)];
		if (on->reg.mr && !is_at_rest(on, link))
			return false;
	}
	return true;
}

/**
 * smc_lgr_forget() - have the devices deregister a buffer, and free it
 * @rmb: the buffer, with smc_rmb.forgotten set
 *
 * Context: process; lgr->setup_lock is held, and the group is not dead.
 * Return: true on success; false if a device is still registering the buffer or releasing a link,
 * after which the engine runs again.
 */
bool smc_lgr_forget(struct smc_rmb *rmb)
{
	struct smc_lgr *lgr = rmb->lgr;
	struct smc_link *link;

	lockdep_assert_held(&lgr->setup_lock);
	if (!is_settled(rmb))
		return false;
	atomic_set(&rmb->n_forget, 1);
	smc_lgr_for_each_link(lgr, link)
		__forget_on(rmb, link);
	if (atomic_dec_and_test(&rmb->n_forget))
		smc_buf_retired(rmb->buf);
	return true;
}

/* ---- links ---- */

#ifdef CONFIG_SMC_TEST
/* For tests: behave like a device that takes its time to destroy a queue pair. */
static bool hold_release;
module_param(hold_release, bool, 0600);
MODULE_PARM_DESC(hold_release, "keep the devices of ended link groups until this is cleared");
#endif

/**
 * smc_lgr_keep_conn() - keep the memory of a connection until a link is destroyed
 * @lconn: the connection, referenced
 * @link: the link, which was not flushed: until its queue pair is gone, the device may write to the
 *	element of any connection
 *
 * Context: process; lgr->setup_lock is held.
 */
void smc_lgr_keep_conn(struct smc_lgr_conn *lconn, const struct smc_link *link)
{
	struct smc_lgr *lgr = lconn->lgr;

	lockdep_assert_held(&lgr->setup_lock);
	__set_bit(smc_lgr_link_index(lgr, link), &lgr->unflushed);
	if (!list_empty(&lconn->kept))
		return;
	smc_conn_get(&lconn->msg.conn);
	list_add(&lconn->kept, &lgr->kept);
}

/* retire_work() finds what becomes free now. */
static void drop_kept(struct smc_lgr *lgr, const struct smc_link *link)
{
	struct smc_lgr_conn *lconn, *next;

	mutex_lock(&lgr->setup_lock);
	__clear_bit(smc_lgr_link_index(lgr, link), &lgr->unflushed);
	if (!lgr->unflushed) {
		list_for_each_entry_safe(lconn, next, &lgr->kept, kept) {
			list_del_init(&lconn->kept);
			smc_conn_put(&lconn->msg.conn);
		}
	}
	mutex_unlock(&lgr->setup_lock);
}

/* Only the removal of the device waits for this. */
static void link_release_work(struct work_struct *work)
{
	struct smc_link *link = container_of(work, struct smc_link, release_work);
	struct smc_lgr *lgr = smc_link_lgr(link);

	smc_test_hold(&hold_release);
	smc_link_destroy(link);
	drop_kept(lgr, link);
	smc_mem_drop_link(lgr, link);
	return_link(lgr, link);
}

/**
 * smc_lgr_release_link() - destroy a link and return its device and slot, in a work item
 * @lgr: the link group
 * @link: the link, drained; no connection uses it
 */
void smc_lgr_release_link(struct smc_lgr *lgr, struct smc_link *link)
{
	atomic_inc(&lgr->n_releases);
	smc_rdma_dev_releases(link->path.dev);
	smc_link_queue_release(link);
}

/**
 * smc_lgr_release_init() - initialise the release of links
 * @lgr: a new link group
 */
void smc_lgr_release_init(struct smc_lgr *lgr)
{
	struct smc_link *link;

	smc_lgr_for_each_link(lgr, link) {
		INIT_WORK(&link->release_work, link_release_work);
		atomic_set(&lgr->n_uses[smc_lgr_link_index(lgr, link)], 1);
	}
	atomic_set(&lgr->n_releases, 1);
	INIT_LIST_HEAD(&lgr->kept);
}
