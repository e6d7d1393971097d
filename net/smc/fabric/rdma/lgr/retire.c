// SPDX-License-Identifier: GPL-2.0
/*
 * RMBs and send rings without users are freed before their group ends (RFC 7609, 3.5.5.2.2).
 *
 *	the last connection leaves a buffer
 *	...  KEEP_TIME, in which another connection may take it
 *	out of its pool: no connection finds it any more	retire_work()
 *	an RMB: DELETE RKEY, and the peer's answer		llc_unused.c
 *	wait until no device is registering or flushing it	smc_llc_forget()
 *	each device deregisters it, in the device's own queue	forget_work()
 *	the memory is freed
 *
 * One buffer of each size stays, for the next connection.
 */
#include <linux/moduleparam.h>
#include "../../../smc.h"
#include "lgr.h"

/* New connections are faster if there is a buffer that the peer knows already. */
#define KEEP_TIME	(30 * HZ)

#ifdef CONFIG_SMC_TEST
/* For tests: replaces KEEP_TIME. */
static unsigned int buffer_keep_ms;
module_param(buffer_keep_ms, uint, 0600);
MODULE_PARM_DESC(buffer_keep_ms, "how long link groups keep unused buffers, in ms; 0 for the default");

static unsigned long keep_time(void)
{
	unsigned int ms = READ_ONCE(buffer_keep_ms);

	return ms ? msecs_to_jiffies(ms) : KEEP_TIME;
}
#else
static unsigned long keep_time(void)
{
	return KEEP_TIME;
}
#endif

/* ---- deregistration with each device ---- */

static void forget_work(struct work_struct *work)
{
	struct smc_rmb_forget *forget = container_of(work, struct smc_rmb_forget, work);
	struct smc_link *link = forget->link;
	struct smc_lgr *lgr = smc_link_lgr(link);
	atomic_t *n_forget = &lgr->n_forget[smc_lgr_link_index(lgr, link)];
	struct smc_rmb *rmb = forget->rmb;

	smc_mem_unreg(&forget->on_link, link);
	/* The link may return its device now. */
	if (atomic_dec_and_test(n_forget))
		wake_up_var(n_forget);
	if (atomic_dec_and_test(&rmb->n_forget))
		smc_buf_retired(rmb->buf);
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
	atomic_inc(&lgr->n_forget[i]);
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

/**
 * smc_lgr_await_forgotten() - wait until the device of a link has deregistered retired buffers
 * @lgr: the link group
 * @link: the link, down, whose smc_mem_drop_link() has returned
 *
 * Context: process, waits for the device.
 */
void smc_lgr_await_forgotten(struct smc_lgr *lgr, const struct smc_link *link)
{
	atomic_t *n_forget = &lgr->n_forget[smc_lgr_link_index(lgr, link)];

	wait_var_event(n_forget, !atomic_read(n_forget));
}

/* ---- removal from the pool ---- */

/* An RMB that the peer has not accepted stays, as the peer may still be asked about it. */
static bool rmb_may_go(const void *priv)
{
	const struct smc_rmb *rmb = priv;

	return rmb->confirmed;
}

static void retire_work(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(work, struct smc_lgr, retire_work.work);
	struct smc_rmb *rmb;

	mutex_lock(&lgr->setup_lock);
	while (!lgr->dead && (rmb = smc_pools_retire(lgr->txbufs, NULL))) {
		rmb->forgotten = true;
		smc_llc_forget_soon(rmb);
	}
	while (!lgr->dead && (rmb = smc_pools_retire(lgr->rmbs, rmb_may_go))) {
		rmb->unused = true;
		smc_llc_delete_rkey(rmb);
	}
	mutex_unlock(&lgr->setup_lock);
	smc_lgr_put(lgr);
}

/**
 * __smc_lgr_retire() - schedule the search for buffers without users
 * @lgr: the link group; its smc_lgrs.lock is held
 * @now: true if an allocation was refused; false if a connection has left, as another connection
 *	may still take its buffers
 */
void __smc_lgr_retire(struct smc_lgr *lgr, bool now)
{
	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	if (lgr->state != SMC_LGR_ACTIVE || (!now && delayed_work_pending(&lgr->retire_work)))
		return;
	smc_lgr_get(lgr);
	if (mod_delayed_work(smc_link_wq, &lgr->retire_work, now ? 0 : keep_time()))
		refcount_dec(&lgr->ref);
}

/**
 * smc_lgr_stop_retiring() - stop the search for buffers when the group ends
 * @lgr: the link group, marked as ending
 *
 * Context: process, may sleep.
 */
void smc_lgr_stop_retiring(struct smc_lgr *lgr)
{
	if (cancel_delayed_work_sync(&lgr->retire_work))
		smc_lgr_put(lgr);
}

/**
 * smc_lgr_retire_init() - initialise the search for buffers without users
 * @lgr: a new link group
 */
void smc_lgr_retire_init(struct smc_lgr *lgr)
{
	INIT_DELAYED_WORK(&lgr->retire_work, retire_work);
}
