// SPDX-License-Identifier: GPL-2.0
/* The socket and its handshake: what the outcome does to it, and how a system call waits. */
#include <net/tcp.h>
#include "../handshake/handshake.h"
#include "socket.h"

/**
 * smc_wake_negotiated() - the socket is SMC or TCP: let everybody look
 * @sk: the socket
 *
 * Context: any.
 */
void smc_wake_negotiated(struct sock *sk)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(sk->sk_wq);
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_all(&wq->wait);
	rcu_read_unlock();
	sk_wake_async(sk, SOCK_WAKE_IO, POLL_OUT);
	if (!skb_queue_empty_lockless(&sk->sk_receive_queue))
		sk_wake_async(sk, SOCK_WAKE_WAITD, POLL_IN);
}

/**
 * smc_wait_negotiated() - wait until the socket is SMC or TCP
 * @sk: a socket with a file; its lock is not held
 * @timeo: how long, in jiffies; 0 not at all
 *
 * Return: 0 once it is negotiated, -EAGAIN, or the error of a call that a signal interrupts.
 */
int smc_wait_negotiated(struct sock *sk, long timeo)
{
	struct smc_handshake *hs = smc_hs_runner_get(sk);
	int rc;

	if (!hs) {
		/* It is over, or there was no memory for the handshake of a child. */
		smc_reset_child(sk);
		return 0;
	}
	rc = smc_hs_wait(hs, timeo);
	smc_hs_runner_put(hs);
	return rc;
}

static void hs_begin(struct sock *sk)
{
	__smc_set_phase(sk, SMC_PHASE_HANDSHAKE, SMC_REASON_NONE);
}

static void hs_done(struct sock *sk, bool closing)
{
	smc_wake_negotiated(sk);
	if (closing)
		smc_close_orphan(sk);
}

const struct smc_hs_ops smc_socket_hs_ops = {
	.begin	= hs_begin,
	.up	= smc_to_up,
	.tcp	= smc_to_tcp,
	.renew	= smc_to_new,
	.reset	= smc_reset_tcp,
	.done	= hs_done,
};
