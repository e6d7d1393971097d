// SPDX-License-Identifier: GPL-2.0
/* The reset of the TCP connection below a connection that is aborted. */
#include <net/tcp.h>
#include "../smc.h"
#include "conn.h"

/**
 * smc_tcp_reset() - reset a TCP connection like tcp_abort()
 * @sk: the socket, locked
 * @err: errno that the application sees, positive
 *
 * tcp_abort() takes the socket's lock itself: by then it might hit another connection, and it waits
 * for the lock's owner. For the children of a listener that ends, TCP calls tcp_disconnect(), for
 * either family, in a bottom half, so this function may do so as well. tcp_disconnect() also clears
 * the addresses, the route, the mark that the peer's FIN has arrived, SO_PEEK_OFF, TCP_SAVED_SYN,
 * TCP_MAXSEG and TCP_WINDOW_CLAMP, all of which a socket keeps after a reset, so they are preserved
 * here. For a moment another thread may see that IP_MTU has no route.
 *
 * Context: any.
 */
void smc_tcp_reset(struct sock *sk, int err)
{
	struct inet_sock *inet = inet_sk(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct saved_syn *syn = tp->saved_syn;
	u16 user_mss = tp->rx_opt.user_mss;
	u32 clamp = tp->window_clamp;
	int peek_off = READ_ONCE(sk->sk_peek_off);
	bool done = sock_flag(sk, SOCK_DONE);
	u8 userlocks = sk->sk_userlocks;
	__be16 dport = inet->inet_dport;
	struct dst_entry *route;

	if (sk->sk_state == TCP_CLOSE)
		return;
	route = sk_dst_get(sk);
	/* Which would be freed. */
	tp->saved_syn = NULL;
	sk->sk_userlocks |= SOCK_BINDADDR_LOCK;
	if (tcp_prot.disconnect(sk, O_NONBLOCK))
		smc_compat_tcp_done(sk);
	sk->sk_userlocks = userlocks;
	inet->inet_dport = dport;
	__sk_dst_set(sk, route);
	tp->saved_syn = syn;
	tp->rx_opt.user_mss = user_mss;
	WRITE_ONCE(tp->window_clamp, clamp);
	sock_valbool_flag(sk, SOCK_DONE, done);
	WRITE_ONCE(sk->sk_peek_off, peek_off);
	WRITE_ONCE(sk->sk_shutdown, SHUTDOWN_MASK);
	WRITE_ONCE(sk->sk_err, err);
	sk->sk_state_change(sk);
	sk_error_report(sk);
}

/**
 * smc_tcp_await_reset() - wait for a task that may be resetting TCP
 * @sk: the socket
 *
 * Within smc_tcp_reset(), tcp_disconnect() shows ECONNRESET and open directions for a moment. So
 * whoever is about to report an error calls this first.
 *
 * Context: process, the socket is not locked.
 */
void smc_tcp_await_reset(struct sock *sk)
{
	lock_sock(sk);
	release_sock(sk);
}

/**
 * __smc_conn_reset_tcp() - the peer is gone: reset TCP on this side as if by the peer
 * @sk: the socket, locked
 * @c: its connection
 *
 * If the stream has ended before, the error is EPIPE.
 *
 * Context: any.
 */
void __smc_conn_reset_tcp(struct sock *sk, const struct smc_conn *c)
{
	bool end = smc_conn_end_came_first(READ_ONCE(c->rx_flags));
	int state = READ_ONCE(sk->sk_state);

	sock_owned_by_me(sk);
	/* The end of the stream is known a moment before TCP's FIN arrives. */
	if (!c->late_fin)
		end = state == TCP_CLOSE_WAIT || (state == TCP_ESTABLISHED && end);
	/* Do not reset a newer connection if the socket has been connected again. */
	if (smc_sk(sk)->conn == c)
		smc_tcp_reset(sk, end ? EPIPE : ECONNRESET);
}

/**
 * smc_conn_reset_tcp() - as __smc_conn_reset_tcp()
 * @sk: the socket
 * @c: its connection
 *
 * Context: process, the socket is not locked.
 */
void smc_conn_reset_tcp(struct sock *sk, const struct smc_conn *c)
{
	lock_sock(sk);
	__smc_conn_reset_tcp(sk, c);
	release_sock(sk);
}

/**
 * smc_conn_hold_sk() - find the socket whose file uses a connection
 * @c: the connection
 *
 * Context: any.
 * Return: the socket with a reference, or NULL if the file is gone.
 */
struct sock *smc_conn_hold_sk(struct smc_conn *c)
{
	struct sock *sk;

	spin_lock_bh(&c->state_lock);
	sk = __smc_conn_sk(c);
	if (sk)
		sock_hold(sk);
	spin_unlock_bh(&c->state_lock);
	return sk;
}

/* As smc_tcp_reset(), when the peer has not read for too long. Its end is told. */
static void time_out(struct sock *sk, const struct smc_conn *c)
{
	if (smc_sk(sk)->conn != c || sk->sk_state == TCP_CLOSE)
		return;
	smc_tcp_reset(sk, ETIMEDOUT);
	NET_INC_STATS(sock_net(sk), LINUX_MIB_TCPABORTONTIMEOUT);
}

static bool try_reset(struct smc_conn *c,
		      void (*reset)(struct sock *sk, const struct smc_conn *c))
{
	struct sock *sk = smc_conn_hold_sk(c);
	bool done;

	if (!sk)
		return true;
	spin_lock_bh(&sk->sk_lock.slock);
	done = !sock_owned_by_user_nocheck(sk);
	if (done)
		reset(sk, c);
	spin_unlock_bh(&sk->sk_lock.slock);
	sock_put(sk);
	return done;
}

/**
 * smc_conn_try_reset_tcp() - as smc_conn_reset_tcp(), for a work item, which must not wait for the
 *	owner of the socket
 * @c: the connection
 *
 * Context: process, no lock is held.
 * Return: false if a system call owns the socket, so that the caller must try again later.
 */
bool smc_conn_try_reset_tcp(struct smc_conn *c)
{
	return try_reset(c, __smc_conn_reset_tcp);
}

/**
 * smc_conn_try_time_out() - end a connection with ETIMEDOUT
 * @c: the connection
 *
 * Context: as for smc_conn_try_reset_tcp().
 * Return: as for smc_conn_try_reset_tcp().
 */
bool smc_conn_try_time_out(struct smc_conn *c)
{
	return try_reset(c, time_out);
}

/**
 * smc_conn_handle_peer_abort() - reset TCP after the peer has aborted, unless done already
 * @sk: the socket
 * @c: its connection
 * @flags: rx_flags as read by the caller, which bases its decision on them
 *
 * A caller that is about to report the abort calls this first, so that sk_err has the error.
 *
 * Context: process, the socket is not locked.
 */
void smc_conn_handle_peer_abort(struct sock *sk, const struct smc_conn *c, unsigned long flags)
{
	if (flags & BIT(SMC_FLAG_ABORT) && inet_sk_state_load(sk) != TCP_CLOSE)
		smc_conn_reset_tcp(sk, c);
}
