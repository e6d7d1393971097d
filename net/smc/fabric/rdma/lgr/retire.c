// SPDX-License-Identifier: GPL-2.0
/*
 * RMBs and send rings without users are freed before their group ends (RFC 7609, 3.5.5.2.2).
 *
 *	the last connection leaves a buffer
 *	...  KEEP_TIME, in which another connection may take it
 *	out of its pool: no connection finds it any more	retire_work()
 *	an RMB: DELETE RKEY, and the peer's answer		llc_unused.c
 *	wait until no device is registering or flushing it	smc_llc_forget()
 *	each device deregisters it, in the device's own queue	release.c
 *	the memory is freed
 *
 * One buffer of each size stays, for the next connection of the same account (mem/account.c), as
 * long as the account has connections. If no account has any, the last one that had keeps one.
 */
#include <linux/moduleparam.h>
#include "../../../smc.h"
#include "lgr.h"

/* New connections are faster if there is a buffer that the peer knows already. */
#define KEEP_TIME	(30 * HZ)
/* How long a device takes to post the last message of a connection, unless the link is lost. */
#define POST_TIME	(HZ / 10)

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

static bool rmb_may_go(const void *priv)
{
	return smc_llc_rkey_settled(priv);
}

/* Nobody will use this buffer any more. */
static void retire(struct smc_rmb *rmb)
{
	lockdep_assert_held(&rmb->lgr->setup_lock);
	if (rmb->confirmed) {
		rmb->unused = true;
		smc_llc_delete_rkey(rmb);
	} else {
		/* Send rings, or an RMB that the peer has refused. */
		rmb->forgotten = true;
		smc_llc_forget_soon(rmb);
	}
}

static void retire_unused(struct smc_lgr *lgr, unsigned long keep, bool *again)
{
	struct smc_rmb *rmb;

	lockdep_assert_held(&lgr->setup_lock);
	while ((rmb = smc_pools_retire(lgr->txbufs, NULL, keep, again)))
		retire(rmb);
	while ((rmb = smc_pools_retire(lgr->rmbs, rmb_may_go, keep, again)))
		retire(rmb);
}

/*
 * Connections that are kept for the sake of a device have left the group, or will, before their
 * memory is free, and nothing reports that.  So search again while there are any, and once more, as
 * the last reference frees the memory after a grace period.
 */
static bool __must_search_again(struct smc_lgr *lgr)
{
	bool again = lgr->unflushed || lgr->retire_again;

	lockdep_assert_held(&lgr->setup_lock);
	lgr->retire_again = lgr->unflushed;
	return again && !lgr->dead;
}

static void __search_in(struct smc_lgr *lgr, unsigned long time)
{
	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	smc_lgr_get(lgr);
	if (mod_delayed_work(smc_link_wq, &lgr->retire_work, time))
		refcount_dec(&lgr->ref);
}

static void search_again(struct smc_lgr *lgr, bool soon)
{
	/* The end of the group waits for retire_work(), and the end of the namespace for that. */
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);

	spin_lock_bh(&lgrs->lock);
	if (soon && lgr->state == SMC_LGR_ACTIVE) {
		lgr->retire_now = true;
		__search_in(lgr, POST_TIME);
	} else {
		__smc_lgr_retire(lgr, false);
	}
	spin_unlock_bh(&lgrs->lock);
}

static void retire_work(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(work, struct smc_lgr, retire_work.work);
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);
	bool now, give_up, places, again = false;

	spin_lock_bh(&lgrs->lock);
	now = lgr->retire_now;
	give_up = lgr->give_up;
	places = lgr->places;
	lgr->retire_now = false;
	lgr->give_up = false;
	lgr->places = false;
	spin_unlock_bh(&lgrs->lock);
	mutex_lock(&lgr->setup_lock);
	if (!lgr->dead && give_up)
		smc_lgr_give_up(lgr, places);
	if (!lgr->dead)
		retire_unused(lgr, now ? 0 : keep_time(), &again);
	again |= __must_search_again(lgr);
	mutex_unlock(&lgr->setup_lock);
	/* Connections that were given up have yet to say so to the peer. */
	if (again || give_up)
		search_again(lgr, give_up);
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
	lgr->retire_now |= now;
	__search_in(lgr, now ? 0 : keep_time());
}

/**
 * smc_lgr_retire() - a buffer may have lost its last user: free it after a while
 * @lgr: the link group
 *
 * Context: any but hard interrupts.
 */
void smc_lgr_retire(struct smc_lgr *lgr)
{
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);

	spin_lock_bh(&lgrs->lock);
	__smc_lgr_retire(lgr, false);
	spin_unlock_bh(&lgrs->lock);
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
