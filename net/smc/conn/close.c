// SPDX-License-Identifier: GPL-2.0
/* Ending a connection: done, close, abort; RFC 7609, 4.8. */
#include "../trace.h"
#include "conn.h"
#include "ops.h"

/* The flag that tells the peer of our event, and the flags that this flag implies. */
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
 * __smc_conn_event() - the only function that changes the state of a connection
 * @c: the connection; the caller holds state_lock
 * @event: the event
 *
 * Return: 0, or -EPROTO if the state table does not allow this transition.
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

/**
 * smc_conn_own_event() - change state for an event of our own, and tell the peer once
 * @c: the connection
 * @event: SMC_EV_DONE, SMC_EV_CLOSE or SMC_EV_ABORT
 *
 * Context: any but hard interrupts.
 */
void smc_conn_own_event(struct smc_conn *c, enum smc_conn_event event)
{
	unsigned long flag = BIT(smc_event_flag[event].flag);
	unsigned long news = smc_event_flag[event].includes;
	bool tell;

	spin_lock_bh(&c->state_lock);
	WARN_ON_ONCE(__smc_conn_event(c, event) < 0);
	tell = !(c->tx_flags & flag);
	if (event == SMC_EV_CLOSE) {
		WRITE_ONCE(c->rx_unwanted, true);
		WRITE_ONCE(c->rx_odd, true);
	}
	if (event == SMC_EV_ABORT && smc_conn_end_came_first(c->tx_flags))
		news |= BIT(SMC_FLAG_BROKEN);
	/* First: the answer to the abort may name data that the peer has not written. */
	if (event == SMC_EV_ABORT)
		WRITE_ONCE(c->rx_flags, c->rx_flags | BIT(SMC_FLAG_GIVEN_UP));
	/* Release: the preceding data comes first, because smc_msg_look() reads the flags first. */
	smp_store_release(&c->tx_flags, c->tx_flags | news);
	spin_unlock_bh(&c->state_lock);
	/* Not under the lock, because the peer's side takes its own state_lock. */
	if (tell)
		c->ops->signal(c, smc_event_flag[event].flag);
}

/**
 * smc_conn_established() - the handshake has succeeded
 * @c: the connection
 */
void smc_conn_established(struct smc_conn *c)
{
	spin_lock_bh(&c->state_lock);
	__smc_conn_event(c, SMC_EV_ESTABLISHED);
	spin_unlock_bh(&c->state_lock);
}

/*
 * Tell the peer that nothing follows what was written. As in TCP, the data of a send() that has
 * begun precede the end, and a later send() fails: senders look at our flags under tx_lock.
 */
static void end_stream(struct smc_conn *c, enum smc_conn_event event)
{
	bool lost;

	mutex_lock(&c->tx_lock);
	lost = !smc_conn_publish_held(c);
	smc_conn_own_event(c, event);
	smc_conn_tx_unlock(c);
	/* As with TCP, the call has succeeded before the reset arrives. */
	if (unlikely(lost))
		smc_conn_run_tx_timer(c);
}

/**
 * smc_conn_done() - shutdown(SHUT_WR): the peer will see the end of the stream
 * @c: the connection
 *
 * Context: process, takes tx_lock.
 */
void smc_conn_done(struct smc_conn *c)
{
	end_stream(c, SMC_EV_DONE);
}

/**
 * smc_conn_close() - close() or shutdown(SHUT_RDWR) with no data left unread
 * @c: the connection
 *
 * Context: process, takes tx_lock.
 */
void smc_conn_close(struct smc_conn *c)
{
	end_stream(c, SMC_EV_CLOSE);
}

/**
 * smc_conn_abort() - abort a connection whose TCP connection was or will be reset
 * @c: the connection
 *
 * Context: any.
 */
void smc_conn_abort(struct smc_conn *c)
{
	smc_conn_own_event(c, SMC_EV_ABORT);
}

/**
 * smc_conn_refuse() - data has arrived although we have closed: reset the connection, as TCP does
 * @c: the connection, whose rx_unwanted is set
 *
 * The caller checks rx_unwanted before it moves rx_prod, so the data cannot be read. Data that this
 * end has sent before must still arrive. So with late_fin only "abort" tells the peer, which then
 * resets TCP: a reset of ours would overtake the data.
 *
 * Context: any but hard interrupts.
 */
void smc_conn_refuse(struct smc_conn *c)
{
	smc_conn_abort(c);
	if (!c->late_fin && !READ_ONCE(c->stopped))
		smc_conn_run_tx_timer(c);
}

/**
 * smc_conn_tcp_was_reset() - abort the connection after the peer has reset TCP
 * @sk: the socket
 * @c: its connection
 *
 * After the end of the peer's stream, TCP reports a reset as EPIPE. But TCP does not know when the
 * stream has ended: its FIN comes later, or is not in order with the data. The error is corrected
 * here.
 *
 * Context: any; the caller owns the socket or holds its spinlock.
 */
void smc_conn_tcp_was_reset(struct sock *sk, struct smc_conn *c)
{
	/* Our own abort, such as the answer to the peer's, does not end our stream. */
	bool end = smc_conn_end_came_first(READ_ONCE(c->rx_flags)) &&
		   !smc_conn_end_came_first(READ_ONCE(c->tx_flags));

	/* A system call may have taken the error already. */
	if (end)
		cmpxchg(&sk->sk_err, ECONNRESET, EPIPE);
	else if (c->late_fin)
		cmpxchg(&sk->sk_err, EPIPE, ECONNRESET);
	smc_conn_abort(c);
}

/**
 * smc_conn_peer_event() - the peer is done, has closed or has aborted
 * @c: the connection
 * @event: SMC_EV_PEER_DONE, SMC_EV_PEER_CLOSE or SMC_EV_PEER_ABORT
 *
 * A violation of the state table counts as an abort. SMC_EV_PEER_CLOSE and SMC_EV_PEER_ABORT imply
 * SMC_EV_PEER_DONE, so a later SMC_EV_PEER_DONE is ignored.
 */
void smc_conn_peer_event(struct smc_conn *c, enum smc_conn_event event)
{
	static const unsigned long flags[SMC_NR_EVENTS] = {
		[SMC_EV_PEER_DONE]  = BIT(SMC_FLAG_DONE),
		[SMC_EV_PEER_CLOSE] = BIT(SMC_FLAG_DONE) | BIT(SMC_FLAG_CLOSED),
		[SMC_EV_PEER_ABORT] = BIT(SMC_FLAG_DONE) | BIT(SMC_FLAG_ABORT),
	};
	unsigned long news = flags[event];

	spin_lock_bh(&c->state_lock);
	/* Two threads of the peer may report events in the reverse order: ignore a late DONE. */
	if (event == SMC_EV_PEER_DONE && c->rx_flags & news) {
		spin_unlock_bh(&c->state_lock);
		return;
	}
	/* Two threads may report an abort. */
	if (event == SMC_EV_PEER_ABORT && smc_conn_end_came_first(c->rx_flags))
		news |= BIT(SMC_FLAG_BROKEN);
	/* Release: the preceding data comes first, because readers check the flags first. */
	smp_store_release(&c->rx_flags, c->rx_flags | news);
	if (__smc_conn_event(c, event) < 0)
		smp_store_release(&c->rx_flags,
				  c->rx_flags | flags[SMC_EV_PEER_ABORT]);
	if (unlikely(c->notify))
		c->notify(c->notify_sk);
	spin_unlock_bh(&c->state_lock);
	smc_conn_wake_all(c);
}

/**
 * smc_conn_lose_unread() - the memory of the receive element goes away with what is unread
 * @c: the connection, which has been aborted; the caller keeps others from moving rx_prod
 *
 * This does not wait for receivers. One that is in the middle of a copy finishes that; after it,
 * there is nothing to read. If something is lost, the stream ends with ECONNRESET, even if the peer
 * had ended it in good order.
 *
 * Context: any but hard interrupts.
 */
void smc_conn_lose_unread(struct smc_conn *c)
{
	u64 cons = smc_count_read(&c->rx_cons);

	if (smc_count_read(&c->rx_prod) <= cons)
		return;
	spin_lock_bh(&c->state_lock);
	WRITE_ONCE(c->rx_lost, true);
	WRITE_ONCE(c->rx_flags, (c->rx_flags & ~BIT(SMC_FLAG_BROKEN)) | BIT(SMC_FLAG_DONE) |
				BIT(SMC_FLAG_ABORT));
	spin_unlock_bh(&c->state_lock);
	/* Release: a receiver that finds nothing to read sees why. */
	smc_count_set_release(&c->rx_prod, cons);
	smc_conn_wake_all(c);
}
