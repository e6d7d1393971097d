// SPDX-License-Identifier: GPL-2.0
/* poll() on a connection. */
#include <linux/poll.h>
#include <net/tcp.h>
#include "conn.h"
#include "napi.h"
#include "ops.h"
#include "urgent.h"

static bool writable(struct smc_conn *c)
{
	return smc_conn_room(c) >= smc_conn_low_room(c);
}

/* A program that polls for room before it writes also gets a larger ring. */
static bool grow(struct smc_conn *c)
{
	bool grown;

	if (!c->tx_grows || !smc_conn_trylock(&c->tx_lock, &c->tx_owed, SMC_OWED_ROOM))
		return false;
	grown = c->ops->grow(c);
	smc_conn_tx_unlock(c);
	return grown && writable(c);
}

/* Sets the same bits in the same order as tcp_poll(). */
static __poll_t poll_slow(struct sock *sk, struct smc_conn *c)
{
	unsigned long flags = smp_load_acquire(&c->rx_flags);
	__poll_t mask = 0;
	u8 shutdown;

	/* Reset TCP first: after EPOLLERR the application reads SO_ERROR. */
	smc_conn_handle_peer_abort(sk, c, flags);
	shutdown = READ_ONCE(sk->sk_shutdown);
	if (flags)
		shutdown |= RCV_SHUTDOWN;
	else if (c->late_fin && !READ_ONCE(c->shut_rd))
		shutdown &= ~RCV_SHUTDOWN;
	if (shutdown == SHUTDOWN_MASK || inet_sk_state_load(sk) == TCP_CLOSE)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (smc_conn_enough(sk, c, smc_urgent_unread(sk, c)))
		mask |= EPOLLIN | EPOLLRDNORM;
	/* If an urgent byte has made the socket readable, report both. */
	smp_rmb();
	if (unlikely(READ_ONCE(c->urg_data))) {
		if (smc_urgent_there(c))
			mask |= EPOLLPRI;
		smc_urgent_keep(sk, c);
	}

	if (shutdown & SEND_SHUTDOWN || smc_conn_peer_gone(c) || writable(c) || grow(c)) {
		mask |= EPOLLOUT | EPOLLWRNORM;
	} else {
		sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
		smc_conn_ask_for_room(c);
		if (writable(c))
			mask |= EPOLLOUT | EPOLLWRNORM;
	}
	if (READ_ONCE(sk->sk_err) || !skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

/* As poll_slow(), but not in the middle of a reset. */
static noinline __poll_t poll_settled(struct sock *sk, struct smc_conn *c)
{
	__poll_t mask = poll_slow(sk, c);

	if (likely(!(mask & (EPOLLERR | EPOLLHUP))))
		return mask;
	smc_tcp_await_reset(sk);
	return poll_slow(sk, c);
}

/*
 * The usual case of an event loop: both directions are open and writable, no data is urgent, and
 * any byte makes the socket readable.  Returns 0 for all other cases.
 */
static __always_inline __poll_t poll_usual(struct sock *sk, struct smc_conn *c)
{
	if (unlikely(smp_load_acquire(&c->rx_flags) | READ_ONCE(c->urg_data) |
		     READ_ONCE(sk->sk_err) | READ_ONCE(sk->sk_shutdown)) ||
	    inet_sk_state_load(sk) != TCP_ESTABLISHED || READ_ONCE(sk->sk_rcvlowat) != 1 ||
	    !skb_queue_empty_lockless(&sk->sk_error_queue) || !writable(c))
		return 0;
	if (smc_count_read_acquire(&c->rx_prod) != smc_count_read(&c->rx_cons))
		return EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM;
	return EPOLLOUT | EPOLLWRNORM;
}

/**
 * smc_conn_poll() - poll() on an established connection
 * @sk: the socket
 * @c: its connection
 *
 * Context: process, may sleep.
 * Return: the bits that tcp_poll() would return.
 */
__poll_t smc_conn_poll(struct sock *sk, struct smc_conn *c)
{
	__poll_t mask;

	smc_napi_mark(sk);
	mask = poll_usual(sk, c);
	return likely(mask) ? mask : poll_settled(sk, c);
}
