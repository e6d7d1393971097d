// SPDX-License-Identifier: GPL-2.0
/* shutdown(): of a connection, and of a socket whose handshake has not ended. */
#include <net/tcp.h>
#include "socket.h"

/* Set the shutdown bits, which TCP does not get to see yet. The socket is locked. */
static void set_bits(struct sock *sk, u8 bits)
{
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | bits);
}

/* Send no FIN yet: the FIN follows when the connection has ended on both sides. */
static void shutdown_above_tcp(struct sock *sk, struct smc_conn *c, u8 bits)
{
	if (bits & RCV_SHUTDOWN)
		WRITE_ONCE(c->shut_rd, true);
	set_bits(sk, bits);
}

/*
 * The handshake owns the TCP connection until it has ended, and may still have to send. So only
 * remember what to shut down. Calls that wait for the handshake see it at once. Returns false if
 * there is nothing to wait for: TCP has yet to connect, or its connection has failed.
 */
static bool shut_later(struct sock *sk, u8 bits)
{
	struct smc_sock *smc = smc_sk(sk);
	bool later;

	lock_sock(sk);
	later = smc_negotiating(smc) &&
		!(BIT(sk->sk_state) & (TCPF_SYN_SENT | TCPF_SYN_RECV | TCPF_CLOSE));
	if (later) {
		WRITE_ONCE(smc->shut_later, smc->shut_later | bits);
		/* As inet_shutdown(). */
		if (sk->sk_socket->state == SS_CONNECTING)
			sk->sk_socket->state = SS_CONNECTED;
		/* Ours would take this for an event of TCP. */
		smc_tcp_callbacks.state_change(sk);
	}
	release_sock(sk);
	return later;
}

/**
 * smc_shut_conn() - the handshake ends with SMC: do what shutdown() has asked for
 * @sk: the socket, locked
 * @c: its connection, which no system call knows yet, so nothing has been corked
 */
void smc_shut_conn(struct sock *sk, struct smc_conn *c)
{
	u8 bits = smc_sk(sk)->shut_later;

	if (likely(!bits))
		return;
	if (bits & SEND_SHUTDOWN)
		smc_conn_own_event(c, bits & RCV_SHUTDOWN ? SMC_EV_CLOSE : SMC_EV_DONE);
	shutdown_above_tcp(sk, c, bits);
}

/**
 * smc_shut_tcp() - the handshake has ended: do for TCP what shutdown() has asked for
 * @sk: the socket, locked
 *
 * After smc_shut_conn(), TCP's FIN follows the flags of the connection, as in smc_shutdown().
 *
 * Context: any.
 */
void smc_shut_tcp(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	gfp_t gfp = sk->sk_allocation;
	u8 bits = smc->shut_later;

	if (likely(!bits))
		return;
	WRITE_ONCE(smc->shut_later, 0);
	if (smc->conn && smc->conn->late_fin)
		return;
	set_bits(sk, bits);
	/* TCP may allocate the FIN. */
	sk->sk_allocation = GFP_ATOMIC;
	smc_family(sk)->tcp->shutdown(sk, bits);
	sk->sk_allocation = gfp;
}

/*
 * Data that arrive when both directions have been shut down, one after the other, reset the
 * connection. Two calls at once both come here after they have set their bits. If the peer has
 * ended its stream, no data can arrive.
 */
static void close_if_shut(const struct sock *sk, struct smc_conn *c)
{
	if (c && READ_ONCE(sk->sk_shutdown) == SHUTDOWN_MASK && !sock_flag(sk, SOCK_DONE) &&
	    READ_ONCE(sk->sk_state) != TCP_CLOSE)
		smc_conn_close(c);
}

/**
 * smc_proto_shutdown() - proto.shutdown: inet_shutdown() has set the bits
 * @sk: the socket, locked
 * @how: SEND_SHUTDOWN, RCV_SHUTDOWN
 *
 * TCP may have connected, and the handshake may even have ended, since smc_shutdown() looked. A FIN
 * would cut off the handshake, and must not precede the flags of a connection.
 */
void smc_proto_shutdown(struct sock *sk, int how)
{
	struct smc_sock *smc = smc_sk(sk);
	bool negotiating = smc_negotiating(smc);

	if (sk->sk_state == TCP_CLOSE || (!negotiating && !smc->conn)) {
		smc_family(sk)->tcp->shutdown(sk, how);
		return;
	}
	WRITE_ONCE(smc->shut_later, smc->shut_later | how);
	if (!negotiating)
		return;
	/* What the peer's FIN has shut stays so. */
	WRITE_ONCE(sk->sk_shutdown, sock_flag(sk, SOCK_DONE) ? RCV_SHUTDOWN : 0);
	smc_tcp_callbacks.state_change(sk);
}

/* Has smc_proto_shutdown() left this to its caller? */
static bool shut_in_vain(struct sock *sk, u8 bits)
{
	struct smc_sock *smc = smc_sk(sk);
	bool in_vain;

	if (likely(!READ_ONCE(smc->shut_later)))
		return false;
	lock_sock(sk);
	in_vain = smc->conn && smc->shut_later & bits;
	if (in_vain)
		WRITE_ONCE(smc->shut_later, smc->shut_later & ~bits);
	release_sock(sk);
	return in_vain;
}

/*
 * As inet_shutdown(), for a connection that knows already. TCP's FIN follows, unless it has to wait
 * for the end of the connection. Returns -EAGAIN if another task has disconnected the socket.
 */
static int shut_socket(struct socket *sock, struct smc_conn *c, u8 bits)
{
	struct sock *sk = sock->sk;
	bool closed;
	int rc = 0;

	lock_sock(sk);
	closed = sk->sk_state == TCP_CLOSE;
	if (smc_sk(sk)->conn != c) {
		rc = -EAGAIN;
		goto out;
	}
	if (sock->state == SS_CONNECTING)
		sock->state = closed ? SS_DISCONNECTING : SS_CONNECTED;
	if (c->late_fin && !closed) {
		shutdown_above_tcp(sk, c, bits);
	} else {
		set_bits(sk, bits);
		smc_family(sk)->tcp->shutdown(sk, bits);
	}
	/* Wakes the sleepers on this side. */
	sk->sk_state_change(sk);
	if (closed)
		rc = -ENOTCONN;
out:
	release_sock(sk);
	return rc;
}

/**
 * smc_shutdown() - shutdown()
 * @sock: the socket
 * @how: SHUT_RD, SHUT_WR or SHUT_RDWR
 *
 * Like TCP's, never waits for the peer.
 *
 * Return: 0 or a negative errno.
 */
int smc_shutdown(struct socket *sock, int how)
{
	struct sock *sk = sock->sk;
	struct smc_conn *c;
	/* The SHUT_* constants are one less than the *_SHUTDOWN bits. */
	u8 bits = how + 1;
	int rc;

	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	do {
		if (smc_negotiating(smc_sk(sk)) && shut_later(sk, bits))
			return 0;
		c = smc_get_conn(sk);
		if (!c) {
			rc = smc_family(sk)->tcp_ops->shutdown(sock, how);
			continue;
		}
		smc_conn_handle_peer_abort(sk, c, READ_ONCE(c->rx_flags));
		if (sk->sk_state != TCP_CLOSE) {
			if (how == SHUT_RDWR)
				smc_conn_close(c);
			else if (how == SHUT_WR)
				smc_conn_done(c);
		}
		rc = shut_socket(sock, c, bits);
	} while (c ? rc == -EAGAIN : shut_in_vain(sk, bits));
	close_if_shut(sk, c);
	return rc;
}
