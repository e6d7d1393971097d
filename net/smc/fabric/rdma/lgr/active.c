// SPDX-License-Identifier: GPL-2.0
/* An active link group: from the success of its first contact until nothing uses it. */
#include <net/net_namespace.h>
#include "../../../netns.h"
#include "../../../smc.h"
#include "lgr.h"

/* The group had no connections for a while: end it (RFC 7609, 3.5.4). */
static void lgr_idle_work(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(work, struct smc_lgr, idle_work.work);
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);

	spin_lock_bh(&lgrs->lock);
	if (!lgr->n_conns)
		__smc_lgr_end(lgr, SMC_REASON_NONE);
	spin_unlock_bh(&lgrs->lock);
	smc_lgr_put(lgr);
}

/**
 * __smc_lgr_start_idle() - the last connection has left: end the group after a while
 * @lgr: the link group; smc_lgrs.lock is held
 */
void __smc_lgr_start_idle(struct smc_lgr *lgr)
{
	/* It is the server that should end the group, so the client gives it time to be first. */
	unsigned long time = READ_ONCE(lgr->sn->lgr_idle_time) * HZ +
			     (lgr->server ? 0 : 2 * HZ);

	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	if (lgr->state != SMC_LGR_ACTIVE)
		return;
	smc_lgr_get(lgr);
	if (mod_delayed_work(smc_link_wq, &lgr->idle_work, time))
		refcount_dec(&lgr->ref);
}

/* As long as TCP keeps a connection in FIN_WAIT2, where only the peer has not closed. */
static unsigned long close_time(const struct smc_lgr *lgr)
{
	return READ_ONCE(lgr->sn->net->ipv4.sysctl_tcp_fin_timeout);
}

static void __start_close(struct smc_lgr *lgr, unsigned long time)
{
	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	if (lgr->state != SMC_LGR_ACTIVE)
		return;
	smc_lgr_get(lgr);
	if (!queue_delayed_work(smc_link_wq, &lgr->close_work, time))
		refcount_dec(&lgr->ref);
}

/**
 * smc_lgr_await_close() - limit the time that the peer takes to close a connection
 * @lconn: the connection, with which the socket is done, but the peer is not
 *
 * The peer has the time of FIN_WAIT2 (RFC 7609, 4.8.1 and 4.8.2, 1B).  After that the connection
 * no longer keeps the group from being idle.  Its element is not reused: the peer may still write
 * there until it closes or has no link any more.
 *
 * Context: any but hard interrupts.
 */
void smc_lgr_await_close(struct smc_lgr_conn *lconn)
{
	struct smc_lgrs *lgrs = smc_lgrs_of(lconn->lgr);

	spin_lock_bh(&lgrs->lock);
	lconn->closing = jiffies ?: 1;
	__start_close(lconn->lgr, close_time(lconn->lgr));
	spin_unlock_bh(&lgrs->lock);
}

/* Returns the time until the next connection is overdue, or 0; counts those abandoned in @n. */
static long __abandon_overdue(struct smc_lgr *lgr, unsigned int *n)
{
	unsigned long time = close_time(lgr), token;
	struct smc_lgr_conn *lconn;
	long left, next = 0;

	lockdep_assert_held(&smc_lgrs_of(lgr)->lock);
	/* A connection cannot be freed meanwhile, as it takes this lock when it leaves. */
	xa_for_each(&lgr->conns, token, lconn) {
		if (!lconn->closing || lconn->abandoned)
			continue;
		left = lconn->closing + time - jiffies;
		if (left > 0) {
			next = next ? min(next, left) : left;
			continue;
		}
		WRITE_ONCE(lconn->abandoned, true);
		lgr->n_abandoned++;
		lgr->n_conns--;
		++*n;
	}
	return next;
}

/* The RMB of a connection, or NULL as long as it has none. */
static struct smc_rmb *__rmb_of(const struct smc_lgr_conn *lconn)
{
	lockdep_assert_held(&lconn->lgr->setup_lock);
	return lconn->msg.conn.rmbe ? smc_rmbe_rmb(lconn->msg.conn.rmbe) : NULL;
}

/* Count the connections that use each RMB. */
static void __count_users(struct smc_lgr *lgr)
{
	struct smc_lgr_conn *lconn;
	unsigned long token = 0;
	struct smc_rmb *rmb;

	lockdep_assert_held(&lgr->setup_lock);
	lgr->spare_mark++;
	while ((lconn = smc_lgr_next_conn(lgr, &token))) {
		rmb = __rmb_of(lconn);
		if (rmb && rmb->spare_mark != lgr->spare_mark) {
			rmb->spare_mark = lgr->spare_mark;
			rmb->in_use = 0;
		}
		if (rmb)
			rmb->in_use += READ_ONCE(lconn->abandoned) ? -1 : 1;
		smc_conn_put(&lconn->msg.conn);
	}
}

static bool __is_spared(const struct smc_lgr_conn *lconn)
{
	struct smc_rmb *rmb = __rmb_of(lconn);

	lockdep_assert_held(&lconn->lgr->setup_lock);
	return rmb && rmb->spare_mark == lconn->lgr->spare_mark && rmb->in_use >= 0;
}

/* Returns false if the peer has not been told of the end: it is told now; the next time counts. */
static bool give_up(struct smc_lgr_conn *lconn)
{
	struct smc_msg_conn *m = &lconn->msg;
	bool told = !smp_load_acquire(&m->attached) || smc_msg_end_said(m);

	smc_conn_abort(&m->conn);
	if (!told)
		return false;
	smc_buf_doom(smc_rmbe_buf(m->conn.rmbe));
	lconn->cut_off(lconn);
	return true;
}

/**
 * smc_lgr_give_up() - end the abandoned connections of a group
 * @lgr: the link group
 * @places: the peer can have no further group; otherwise memory is short
 *
 * Not earlier, because the peer's program may have data of ours to read.  The peer may still write
 * to their elements.  So no other connection gets an element of the same RMBs.  An RMB without
 * users is taken back by DELETE RKEY, see retire.c.  An RMB of which at least half the connections
 * are in use is spared, as it has room for new ones, unless the group hoards, or is full and has to
 * make @places.
 *
 * Context: process, under @lgr->setup_lock.
 */
void smc_lgr_give_up(struct smc_lgr *lgr, bool places)
{
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);
	struct smc_lgr_conn *lconn;
	unsigned long token = 0;
	unsigned int n = 0;
	bool all;

	lockdep_assert_held(&lgr->setup_lock);
	spin_lock_bh(&lgrs->lock);
	all = __smc_lgr_hoards(lgr) ||
	      (places && lgr->n_conns + lgr->n_abandoned >= lgr->max_conns);
	spin_unlock_bh(&lgrs->lock);
	__count_users(lgr);
	while ((lconn = smc_lgr_next_conn(lgr, &token))) {
		if (READ_ONCE(lconn->abandoned) && (all || !__is_spared(lconn)))
			n += give_up(lconn);
		smc_conn_put(&lconn->msg.conn);
	}
	if (n)
		smc_lgr_report_given_up(lgr, n);
}

static void lgr_close_work(struct work_struct *work)
{
	struct smc_lgr *lgr = container_of(work, struct smc_lgr, close_work.work);
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);
	unsigned int n = 0;
	long next;

	spin_lock_bh(&lgrs->lock);
	next = __abandon_overdue(lgr, &n);
	if (next)
		__start_close(lgr, next);
	if (n && !lgr->n_conns)
		__smc_lgr_start_idle(lgr);
	spin_unlock_bh(&lgrs->lock);
	/* Find out whether the peer has only forgotten a connection, or is gone. */
	if (n)
		smc_llc_test_now(lgr, false);
	smc_lgr_put(lgr);
}

/**
 * smc_lgr_activate() - complete a successful first contact
 * @lgr: the link group
 */
void smc_lgr_activate(struct smc_lgr *lgr)
{
	struct smc_lgrs *lgrs = smc_lgrs_of(lgr);

	spin_lock_bh(&lgrs->lock);
	if (lgr->state == SMC_LGR_NEW) {
		WRITE_ONCE(lgr->state, SMC_LGR_ACTIVE);
		smc_link_activate(smc_lgr_first_link(lgr));
		__smc_lgr_report_new(lgr);
		if (!lgr->n_conns)
			__smc_lgr_start_idle(lgr);
	}
	spin_unlock_bh(&lgrs->lock);
	smc_lgr_wake_waiters(lgr);
	smc_llc_start_tests(lgr);
}

/**
 * smc_lgr_active_init() - initialise the work items of an active link group
 * @lgr: a new link group
 */
void smc_lgr_active_init(struct smc_lgr *lgr)
{
	INIT_DELAYED_WORK(&lgr->idle_work, lgr_idle_work);
	INIT_DELAYED_WORK(&lgr->close_work, lgr_close_work);
}
