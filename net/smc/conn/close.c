// SPDX-License-Identifier: GPL-2.0
/* Ending a connection: RFC 7609, 4.8. */
#include <net/tcp.h>
#include "../fabric/fabric.h"
#include "../trace.h"
#include "conn.h"

/* What the peer learns of an event of ours, and what need not be told after. */
static const struct {
	enum smc_conn_flag	flag;
	unsigned long		includes;
} smc_event_flag[SMC_NR_EVENTS] = {
	[SMC_EV_DONE]  = { SMC_FLAG_DONE, BIT(SMC_FLAG_DONE) },
	[SMC_EV_CLOSE] = { SMC_FLAG_CLOSED,
			   BIT(SMC_FLAG_DONE) | BIT(SMC_FLAG_CLOSED) },
	[SMC_EV_ABORT] = { SMC_FLAG_ABORT,
			   BIT(SMC_FLAG_DONE) | BIT(SMC_FLAG_CLOSED) |
			   BIT(SMC_FLAG_ABORT) },
};

static bool other_closed(const struct smc_conn *c, enum smc_conn_event event)
{
	unsigned long flags;

	flags = event >= SMC_EV_PEER_DONE ? c->tx_flags : READ_ONCE(c->rx_flags);
	return flags & (BIT(SMC_FLAG_CLOSED) | BIT(SMC_FLAG_ABORT));
}

/**
 * __smc_conn_event() - the one place where the state of a connection changes
 * @c: the connection; the caller holds state_lock
 * @event: what happened
 *
 * Return: 0, or -EPROTO where the state table has no such transition.
 */
int __smc_conn_event(struct smc_conn *c, enum smc_conn_event event)
{
	int next = smc_state_next(c->state, event, other_closed(c, event));

	lockdep_assert_held(&c->state_lock);
	if (next < 0)
		return -EPROTO;
	if (next != c->state)
		trace_smc_conn_state(c, c->state, next, event);
	WRITE_ONCE(c->state, next);
	return 0;
}

/* One of our own events: change state, then tell the peer once. */
static void own_event(struct smc_conn *c, enum smc_conn_event event)
{
	unsigned long flag = BIT(smc_event_flag[event].flag);
	bool tell;

	spin_lock_bh(&c->state_lock);
	WARN_ON_ONCE(__smc_conn_event(c, event) < 0);
	tell = !(c->tx_flags & flag);
	WRITE_ONCE(c->tx_flags, c->tx_flags | smc_event_flag[event].includes);
	if (event == SMC_EV_ABORT)
		WRITE_ONCE(c->rx_flags, c->rx_flags | BIT(SMC_FLAG_GIVEN_UP));
	spin_unlock_bh(&c->state_lock);
	/* Not under the lock: the peer's side takes its own. */
	if (tell)
		c->fabric->ops->signal(c, smc_event_flag[event].flag);
}

/**
 * smc_conn_established() - the handshake has ended well
 * @c: the connection
 */
void smc_conn_established(struct smc_conn *c)
{
	spin_lock_bh(&c->state_lock);
	__smc_conn_event(c, SMC_EV_ESTABLISHED);
	spin_unlock_bh(&c->state_lock);
}

/**
 * smc_conn_done() - shutdown(SHUT_WR): the peer will see the end of the stream
 * @c: the connection
 *
 * Context: process, takes tx_lock.
 */
void smc_conn_done(struct smc_conn *c)
{
	smc_conn_uncork(c);
	own_event(c, SMC_EV_DONE);
}

/**
 * smc_conn_close() - close() or shutdown(SHUT_RDWR) with nothing left unread
 * @c: the connection
 *
 * Context: process, takes tx_lock.
 */
void smc_conn_close(struct smc_conn *c)
{
	smc_conn_uncork(c);
	own_event(c, SMC_EV_CLOSE);
}

/**
 * smc_conn_abort() - reset: the TCP connection was, or will be, reset as well
 * @c: the connection
 *
 * Context: any.
 */
void smc_conn_abort(struct smc_conn *c)
{
	own_event(c, SMC_EV_ABORT);
}

/**
 * smc_conn_reset_tcp() - the peer is gone: let TCP say so, as after a reset
 * @sk: the socket
 * @c: its connection
 *
 * Who has seen the end of the stream is told of a broken pipe.
 *
 * Context: process, the socket is not locked.
 */
void smc_conn_reset_tcp(struct sock *sk, const struct smc_conn *c)
{
	bool end = READ_ONCE(sk->sk_state) == TCP_CLOSE_WAIT;

	if (c->late_fin)
		end = READ_ONCE(c->rx_flags) & (BIT(SMC_FLAG_CLOSED) | BIT(SMC_FLAG_BROKEN));
	tcp_abort(sk, end ? EPIPE : ECONNRESET);
}

/**
 * smc_conn_heed_abort() - a peer that has aborted resets TCP, and may not have come to it
 * @sk: the socket
 * @c: its connection
 * @flags: its rx_flags, as the caller has read them and goes by
 *
 * Whoever sees the abort, and is going to say so, brings the reset about himself: there is
 * an error then that says why.
 *
 * Context: process, the socket is not locked.
 */
void smc_conn_heed_abort(struct sock *sk, const struct smc_conn *c, unsigned long flags)
{
	if (flags & BIT(SMC_FLAG_ABORT) && inet_sk_state_load(sk) != TCP_CLOSE)
		smc_conn_reset_tcp(sk, c);
}
