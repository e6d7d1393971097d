// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_USER_TIMEOUT: how long a sender waits for a peer that does not read.
 *
 * TCP counts from the first probe of a closed window until the window opens. Here the ring is the
 * window: the time counts while a sender or poll() waits for room and the peer's consumer cursor
 * does not move. The timer of the connection looks at it five times a second, only during such a
 * wait.
 */
#include <net/tcp.h>
#include "conn.h"

static u32 user_timeout(const struct sock *sk)
{
	return READ_ONCE(inet_csk(sk)->icsk_user_timeout);
}

static bool waits(const struct sock *sk, const struct smc_conn *c)
{
	return user_timeout(sk) && READ_ONCE(c->tx_blocked) &&
	       smc_conn_room(c) < smc_conn_low_room(c);
}

/**
 * smc_conn_watch() - there is no room: look from now on whether the peer reads
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
	if (READ_ONCE(c->tx_blocked))
		smc_conn_watch(sk, c);
}

/* Returns whether a sender has begun to wait meanwhile, so that the watch goes on. */
static bool end_watch(const struct sock *sk, struct smc_conn *c)
{
	c->tx_stalled = SMC_NOT_STALLED;
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

/* Has the peer read nothing for the whole time? */
static bool stalled(const struct sock *sk, struct smc_conn *c)
{
	u64 cons = smc_count_read(&c->tx_cons);

	if (c->tx_stalled == cons)
		return time_after_eq(jiffies,
				     c->tx_stalled_at + msecs_to_jiffies(user_timeout(sk)));
	c->tx_stalled = cons;
	c->tx_stalled_at = jiffies;
	return false;
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
		again = !stalled(sk, c) || !smc_conn_try_time_out(c);
	else
		again = end_watch(sk, c);
	sock_put(sk);
	return again;
}
