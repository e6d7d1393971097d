// SPDX-License-Identifier: GPL-2.0
/*
 * The timer of a sender: it ends corks, and looks whether the peer reads (TCP_USER_TIMEOUT).
 *
 * TCP counts from the first probe of a closed window until the window opens, while there is data
 * that it could not send. Here the ring is the window, and such data is what a sender still has.
 * So the time counts after a sender has found no room, and while the peer reads nothing. It ends
 * when there is room again for a sender that waits. Only during that time the timer looks, five
 * times a second.
 */
#include <net/tcp.h>
#include "../smc.h"
#include "conn.h"
#include "ops.h"

/* How long a cork holds data back; TCP uses the same time for a partial segment. */
#define CORK_TIME	(HZ / 5)

/**
 * smc_conn_start_tx_timer() - run smc_conn_tx_timer() in 200 ms, unless it will run sooner
 * @c: the connection
 *
 * Context: process.
 */
void smc_conn_start_tx_timer(struct smc_conn *c)
{
	WRITE_ONCE(c->tx_timed, true);
	smc_conn_get(c);
	/* Otherwise the work has a reference already; the caller has another one. */
	if (!queue_delayed_work(smc_wq, &c->tx_timer, CORK_TIME))
		refcount_dec(&c->ref);
}

/**
 * smc_conn_run_tx_timer() - run smc_conn_tx_timer() now
 * @c: the connection
 *
 * Context: any.
 */
void smc_conn_run_tx_timer(struct smc_conn *c)
{
	WRITE_ONCE(c->tx_timed, true);
	smc_conn_get(c);
	/* As above. */
	if (mod_delayed_work(smc_wq, &c->tx_timer, 0))
		refcount_dec(&c->ref);
}

static u32 user_timeout(const struct sock *sk)
{
	return READ_ONCE(inet_csk(sk)->icsk_user_timeout);
}

/* Nothing has been written since a sender found no room, because there is still too little. */
static bool waits(const struct sock *sk, const struct smc_conn *c)
{
	return user_timeout(sk) &&
	       smc_count_read(&c->tx_refused) == smc_count_read(&c->tx_written) &&
	       smc_conn_room(c) < smc_conn_low_room(c) && !smc_conn_peer_gone(c);
}

/**
 * smc_conn_watch() - begin to check whether the peer reads, because a sender waits for room
 * @sk: the socket
 * @c: its connection; the caller has called smc_conn_ask_for_room()
 *
 * Context: process.
 */
void smc_conn_watch(const struct sock *sk, struct smc_conn *c)
{
	if (likely(!user_timeout(sk)) || READ_ONCE(c->tx_watched))
		return;
	WRITE_ONCE(c->tx_watched, true);
	smc_conn_start_tx_timer(c);
}

/**
 * smc_conn_user_timeout_set() - TCP_USER_TIMEOUT has changed, also for a wait in progress
 * @sk: the socket
 * @c: its connection
 *
 * Context: process.
 */
void smc_conn_user_timeout_set(const struct sock *sk, struct smc_conn *c)
{
	/* Pairs with end_watch(). */
	smp_mb();
	if (waits(sk, c))
		smc_conn_watch(sk, c);
}

/* Returns whether a sender has begun to wait meanwhile, so that the watch goes on. */
static bool end_watch(const struct sock *sk, struct smc_conn *c)
{
	c->tx_stalled = SMC_NO_COUNT;
	WRITE_ONCE(c->tx_watched, false);
	/*
	 * Pairs with the barriers in smc_conn_ask_for_room() and smc_conn_user_timeout_set(), after
	 * which tx_watched is read.
	 */
	smp_mb();
	if (!waits(sk, c))
		return false;
	WRITE_ONCE(c->tx_watched, true);
	return true;
}

/* Has the peer read nothing for the whole time, and the ring not grown? */
static bool stalled(const struct sock *sk, struct smc_conn *c)
{
	u64 progress = smc_count_read(&c->tx_cons) + READ_ONCE(c->tx_size);

	if (c->tx_stalled == progress)
		return time_after_eq(jiffies,
				     c->tx_stalled_at + msecs_to_jiffies(user_timeout(sk)));
	c->tx_stalled = progress;
	c->tx_stalled_at = jiffies;
	return false;
}

static bool look(const struct sock *sk, struct smc_conn *c)
{
	if (stalled(sk, c))
		return !smc_conn_try_time_out(c);
	/* The peer tells only from time to time how far it has read. */
	c->ops->request_update(c);
	return true;
}

/**
 * smc_conn_keep_watch() - look whether the peer reads; end the connection if it has not for too
 *	long
 * @c: the connection
 *
 * Context: process, only in tx_timer.
 * Return: whether to look again later.
 */
bool smc_conn_keep_watch(struct smc_conn *c)
{
	struct sock *sk = smc_conn_hold_sk(c);
	bool again;

	if (!sk)
		return false;
	if (waits(sk, c))
		again = look(sk, c);
	else
		again = end_watch(sk, c);
	sock_put(sk);
	return again;
}
