// SPDX-License-Identifier: GPL-2.0
/* How a handshake begins and how its outcome affects its socket; how system calls wait for it. */
#include <linux/sched/signal.h>
#include <net/tcp.h>
#include "../handshake/handshake.h"
#include "../tcpopt/tcpopt.h"
#include "socket.h"

/**
 * smc_wake_negotiated() - wake all sleepers after the socket has become SMC or TCP
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
 * @timeo: timeout in jiffies; 0 for not at all
 * @unless_shut: SEND_SHUTDOWN or RCV_SHUTDOWN, if the caller has nothing to wait for after such a
 *	shutdown(); or 0
 *
 * Return: 0 once the socket is SMC or TCP, -ESHUTDOWN after a shutdown() as in @unless_shut,
 * -EAGAIN on timeout, or the error of a call interrupted by a signal.
 */
int smc_wait_negotiated(struct sock *sk, long timeo, u8 unless_shut)
{
	const struct smc_sock *smc = smc_sk(sk);
	struct smc_wait w;
	int rc = 0;

	/* From now on, the handshake looks for what TCP does not report to it any more. */
	if (unlikely(smc_misses_events(sk)))
		smc_hs_event(sk);
	smc_wait_begin(&w, EPOLLIN | EPOLLOUT);
	while (smc_negotiating(smc)) {
		rc = -ESHUTDOWN;
		if (READ_ONCE(smc->shut_later) & unless_shut)
			break;
		rc = timeo ? sock_intr_errno(timeo) : -EAGAIN;
		if (!timeo || signal_pending(current))
			break;
		rc = 0;
		smc_wait_arm(&w, sk);
		if (smc_negotiating(smc) && !(READ_ONCE(smc->shut_later) & unless_shut))
			timeo = smc_wait_sleep(timeo);
		__set_current_state(TASK_RUNNING);
	}
	smc_wait_end(&w, sk);
	return rc;
}

/* A socket that connected to itself gets its own option back, but there is no SMC peer. */
static bool connected_to_self(const struct sock *sk)
{
	if (inet_sk(sk)->inet_sport != sk->sk_dport)
		return false;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		return ipv6_addr_equal(&sk->sk_v6_rcv_saddr, &sk->sk_v6_daddr);
#endif
	return sk->sk_rcv_saddr == sk->sk_daddr;
}

/**
 * smc_crossed_syns() - has a simultaneous open established the connection?
 * @sk: the client, locked, whose connection has just been established
 *
 * Return: true if the peer's SYN was the first to arrive, and not a SYN-ACK. TCP notes the time of
 * a SYN-ACK here, and later that of data. (The time is 0 for one tick in 2^32 even so.)
 */
bool smc_crossed_syns(const struct sock *sk)
{
	return !inet_csk(sk)->icsk_ack.lrcvtime;
}

static void to_tcp(struct sock *sk, enum smc_reason reason)
{
	smc_hs_detach(sk);
	smc_to_tcp(sk, reason, 0);
}

/**
 * smc_negotiate() - TCP is up and no local child decides: start CLC, or stay TCP
 * @sk: the client, locked, in phase CONNECTING
 */
void smc_negotiate(struct sock *sk)
{
	if (connected_to_self(sk)) {
		to_tcp(sk, SMC_REASON_SELF_CONNECTED);
	} else if (!smc_tcpopt->answered(sk)) {
		to_tcp(sk, smc_tcpopt_why_not(sock_net(sk)));
	} else if (smc_sk(sk)->raw_clc) {
		to_tcp(sk, SMC_REASON_NONE);
	} else {
		__smc_set_phase(sk, SMC_PHASE_HANDSHAKE, SMC_REASON_NONE);
		smc_hs_begin(sk, smc_crossed_syns(sk));
	}
}

static void hs_unpaired(struct sock *sk)
{
	smc_negotiate(sk);
	if (!smc_negotiating(smc_sk(sk)))
		smc_wake_negotiated(sk);
}

static void hs_up(struct sock *sk, struct smc_conn *c)
{
	/* A pair skips CLC, so its client is still in phase CONNECTING. */
	__smc_set_phase(sk, SMC_PHASE_HANDSHAKE, SMC_REASON_NONE);
	smc_to_up(sk, c);
}

/* A listener may have been given an option, or to a user in the kernel, after the SYN. */
static enum smc_reason hs_excludes(const struct sock *sk)
{
	enum smc_reason reason = smc_still_eligible(sk);

	return !reason && smc_misses_events(sk) ? SMC_REASON_KERNEL_USER : reason;
}

const struct smc_hs_owner_ops smc_hs_socket_ops = {
	.unpaired	= hs_unpaired,
	.misses_events	= smc_misses_events,
	.excludes	= hs_excludes,
	.up		= hs_up,
	.tcp		= smc_to_tcp,
	.reset		= smc_reset_tcp,
	.done		= smc_wake_negotiated,
	.close		= smc_close_orphan,
};
