// SPDX-License-Identifier: GPL-2.0
/* Resets of the TCP connection from outside a system call. */
#include <net/tcp.h>
#include "socket.h"

/* A connect() waits here until a reset that is under way has hit, or missed. */
static DECLARE_WAIT_QUEUE_HEAD(smc_aborted);

/* Is this still the handshake of the socket?  NULL: it is a child that should have one. */
static bool has_handshake(const struct sock *sk, const struct smc_handshake *hs)
{
	const struct smc_sock *smc = smc_sk(sk);

	return rcu_access_pointer(smc->hs) == hs && (hs || smc->phase == SMC_PHASE_HANDSHAKE);
}

/*
 * tcp_abort() is about to be called, which takes the lock itself.  Should the socket be
 * disconnected in between, it is not connected anew before end_abort().
 */
static bool begin_abort(struct sock *sk, const struct smc_handshake *hs)
{
	bool mine;

	lock_sock(sk);
	mine = has_handshake(sk, hs);
	if (mine)
		smc_sk(sk)->aborting++;
	release_sock(sk);
	return mine;
}

static void __end_abort(struct sock *sk)
{
	lockdep_assert_held(&sk->sk_lock);
	WRITE_ONCE(smc_sk(sk)->aborting, smc_sk(sk)->aborting - 1);
	wake_up_all(&smc_aborted);
}

/**
 * smc_reset_tcp() - reset the TCP connection of a socket whose handshake failed
 * @sk: the socket, not locked
 * @hs: its handshake, or NULL for a child that has none although it should
 * @reason: why
 * @err: errno that the application sees, positive
 *
 * Context: process.
 * Return: true, and the socket locked and plain TCP; false if it has been disconnected.
 */
bool smc_reset_tcp(struct sock *sk, const struct smc_handshake *hs, enum smc_reason reason,
		   int err)
{
	if (!begin_abort(sk, hs))
		return false;
	tcp_abort(sk, err);
	lock_sock(sk);
	__end_abort(sk);
	if (!has_handshake(sk, hs)) {
		release_sock(sk);
		return false;
	}
	/* What the peer sent last is not for the application. */
	__skb_queue_purge(&sk->sk_receive_queue);
	WRITE_ONCE(tcp_sk(sk)->copied_seq, tcp_sk(sk)->rcv_nxt);
	smc_to_reset(sk, reason);
	return true;
}

/**
 * smc_reset_child() - reset a child for whose handshake there was no memory
 * @sk: the child
 *
 * The client has been promised SMC, so only a reset is honest.  Done by a work item, or by
 * the first system call that finds the child so.
 *
 * Context: process, the socket is not locked.
 */
void smc_reset_child(struct sock *sk)
{
	if (!smc_reset_tcp(sk, NULL, SMC_REASON_NO_MEMORY, ENOMEM))
		return;
	release_sock(sk);
	smc_wake_negotiated(sk);
}

/**
 * smc_await_abort() - before the socket is connected anew
 * @sk: the socket, locked; the lock may be dropped meanwhile
 */
void smc_await_abort(struct sock *sk)
{
	while (unlikely(smc_sk(sk)->aborting)) {
		release_sock(sk);
		wait_event(smc_aborted, !READ_ONCE(smc_sk(sk)->aborting));
		lock_sock(sk);
	}
}
