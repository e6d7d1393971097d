// SPDX-License-Identifier: GPL-2.0
/* Giving a connection up, and the reset of its TCP connection that goes with it. */
#include <net/tcp.h>
#include "../smc.h"
#include "conn.h"

/**
 * smc_conn_abort() - reset: the TCP connection was, or will be, reset as well
 * @c: the connection
 *
 * Context: any.
 */
void smc_conn_abort(struct smc_conn *c)
{
	smc_conn_own_event(c, SMC_EV_ABORT);
}

/**
 * smc_tcp_reset() - reset a TCP connection, as tcp_abort() does
 * @sk: the socket, locked
 * @err: errno that the application sees, positive
 *
 * tcp_abort() takes the lock itself.  By then it may hit another connection, and it waits for
 * an owner.  TCP calls tcp_disconnect(), of either family, in a bottom half for the children of a
 * listener that ends.  It forgets the addresses, too, which a socket keeps after a reset.
 *
 * Context: any.
 */
void smc_tcp_reset(struct sock *sk, int err)
{
	struct inet_sock *inet = inet_sk(sk);
	u8 userlocks = sk->sk_userlocks;
	__be16 dport = inet->inet_dport;

	if (sk->sk_state == TCP_CLOSE)
		return;
	sk->sk_userlocks |= SOCK_BINDADDR_LOCK;
	if (tcp_prot.disconnect(sk, O_NONBLOCK))
		smc_compat_tcp_done(sk);
	sk->sk_userlocks = userlocks;
	inet->inet_dport = dport;
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	WRITE_ONCE(sk->sk_err, err);
	sk->sk_state_change(sk);
	sk_error_report(sk);
}

/**
 * smc_conn_reset_tcp() - the peer is gone: let TCP say so, as after a reset
 * @sk: the socket
 * @c: its connection
 *
 * After the end of the stream the error is EPIPE.
 *
 * Context: process, the socket is not locked.
 */
void smc_conn_reset_tcp(struct sock *sk, const struct smc_conn *c)
{
	bool end = READ_ONCE(sk->sk_state) == TCP_CLOSE_WAIT;

	if (c->late_fin)
		end = smc_conn_end_came_first(READ_ONCE(c->rx_flags));
	lock_sock(sk);
	/* Not the next one, should the socket have been connected anew. */
	if (smc_sk(sk)->conn == c)
		smc_tcp_reset(sk, end ? EPIPE : ECONNRESET);
	release_sock(sk);
}

/**
 * smc_conn_tcp_was_reset() - TCP was reset by the peer: so is the connection
 * @sk: the socket
 * @c: its connection
 *
 * After the end of the stream TCP reports a reset as EPIPE.  Where a FIN says nothing of the
 * data, TCP does not know of that end.
 *
 * Context: any, the socket's owner or its spinlock held.
 */
void smc_conn_tcp_was_reset(struct sock *sk, struct smc_conn *c)
{
	/* An abort of ours, such as the answer to the peer's, is not the end of our stream. */
	if (c->late_fin && READ_ONCE(sk->sk_err) == ECONNRESET &&
	    smc_conn_end_came_first(READ_ONCE(c->rx_flags)) &&
	    !smc_conn_end_came_first(READ_ONCE(c->tx_flags)))
		WRITE_ONCE(sk->sk_err, EPIPE);
	smc_conn_abort(c);
}

/**
 * smc_conn_handle_peer_abort() - reset TCP for a peer that has aborted, if it has not yet
 * @sk: the socket
 * @c: its connection
 * @flags: its rx_flags, as the caller has read them and goes by
 *
 * A caller that is about to report the abort calls this first, so that sk_err says why.
 *
 * Context: process, the socket is not locked.
 */
void smc_conn_handle_peer_abort(struct sock *sk, const struct smc_conn *c, unsigned long flags)
{
	if (flags & BIT(SMC_FLAG_ABORT) && inet_sk_state_load(sk) != TCP_CLOSE)
		smc_conn_reset_tcp(sk, c);
}
