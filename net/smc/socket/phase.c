// SPDX-License-Identifier: GPL-2.0
/* Phases of a socket: the one setter, and what each change brings with it. */
#include <net/tcp.h>
#include "../handshake/handshake.h"
#include "../stats.h"
#include "../trace.h"
#include "socket.h"

#define TO(phase)	BIT(SMC_PHASE_##phase)

static const u8 smc_phase_next[SMC_NR_PHASES] = {
	[SMC_PHASE_NEW]		= TO(LISTEN) | TO(CONNECTING) | TO(HANDSHAKE) |
				  TO(TCP),
	[SMC_PHASE_LISTEN]	= TO(NEW) | TO(LISTEN),
	[SMC_PHASE_CONNECTING]	= TO(NEW) | TO(HANDSHAKE) | TO(TCP),
	[SMC_PHASE_HANDSHAKE]	= TO(NEW) | TO(UP) | TO(TCP),
	[SMC_PHASE_UP]		= TO(NEW),
	[SMC_PHASE_TCP]		= TO(NEW) | TO(TCP),
};

/**
 * __smc_set_phase() - the one place where the phase of a socket changes
 * @sk: the socket, locked
 * @phase: the new phase
 * @reason: why, for phase TCP
 */
void __smc_set_phase(struct sock *sk, enum smc_phase phase,
		     enum smc_reason reason)
{
	struct smc_sock *smc = smc_sk(sk);

	if (smc->phase == phase)
		return;
	WARN_ON_ONCE(!(smc_phase_next[smc->phase] & BIT(phase)));
	smc_assert(smc_is_self(sk));
	trace_smc_phase(sk, smc->phase, phase, reason);
	smc->reason = reason;
	/* Dumps look without the lock. */
	smp_store_release(&smc->phase, phase);
}

/* While SMC is possible, TCP's news of the connection come to us first. */
static void smc_data_ready(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	if (smc_unsettled(smc))
		smc_hs_event(sk);
	else
		smc->tcp_data_ready(sk);
}

/* TCP's news, which may come without the socket's lock: RCU keeps the connection. */
static void tell_conn(struct smc_sock *smc, bool reset)
{
	struct smc_conn *c;

	rcu_read_lock();
	c = READ_ONCE(smc->conn);
	if (c && reset)
		smc_conn_abort(c);
	if (c)
		smc_conn_wake_all(c);
	rcu_read_unlock();
}

static void smc_state_change(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	int state = inet_sk_state_load(sk);

	switch (READ_ONCE(smc->phase)) {
	case SMC_PHASE_HANDSHAKE:
		if (state != TCP_ESTABLISHED)
			smc_hs_event(sk);
		return;
	case SMC_PHASE_CONNECTING:
		/*
		 * A Proposal that is sent at once acknowledges the SYN.  Not so one that has to
		 * wait for the worker: connections are accepted in the order of their ACKs.
		 */
		if (state == TCP_ESTABLISHED && tcp_sk(sk)->syn_smc && !smc->raw_clc &&
		    smc_hs_driven(sk))
			inet_csk_enter_pingpong_mode(sk);
		smc_hs_event(sk);
		/*
		 * That wakes whoever waits for the handshake.  Who polls is woken once it has
		 * settled: io_uring would take an earlier wake-up for the end of connect().
		 */
		if (state == TCP_ESTABLISHED)
			return;
		break;
	case SMC_PHASE_UP:
		/* Without an error TCP has ended as both sides wanted it. */
		tell_conn(smc, state == TCP_CLOSE && READ_ONCE(sk->sk_err));
		if (READ_ONCE(smc->closing))
			smc_linger_event(sk);
		break;
	}
	smc->tcp_state_change(sk);
}

static void smc_error_report(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	tell_conn(smc, false);
	smc->tcp_error_report(sk);
}

/*
 * KCM would take the socket for TCP, and wait for what never comes into TCP's queue.  It
 * and its like refuse a socket that has a user.
 */
static void set_user(struct sock *sk, bool on)
{
	void *user;

	write_lock_bh(&sk->sk_callback_lock);
	user = __locked_read_sk_user_data_with_flags(sk, 0);
	if (on && !user)
		__rcu_assign_sk_user_data_with_flags(sk, smc_families,
						     SK_USER_DATA_NOCOPY);
	else if (!on && user == smc_families)
		rcu_assign_sk_user_data(sk, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * smc_hook_callbacks() - listen to what happens to the TCP connection
 * @sk: the socket, locked
 */
void smc_hook_callbacks(struct sock *sk)
{
	set_user(sk, true);
	sk->sk_data_ready = smc_data_ready;
	sk->sk_state_change = smc_state_change;
	sk->sk_error_report = smc_error_report;
}

/**
 * smc_to_up() - the handshake has ended well
 * @sk: the socket, locked
 * @c: its connection, with the caller's reference
 */
void smc_to_up(struct sock *sk, struct smc_conn *c)
{
	struct smc_sock *smc = smc_sk(sk);

	smc_conn_established(c);
	smc_conn_set_wq(c, rcu_dereference_protected(sk->sk_wq, 1));
	sk->sk_data_ready = smc->tcp_data_ready;
	/* Whoever sees the connection sees it whole. */
	smp_store_release(&smc->conn, c);
	if (unlikely(sock_flag(sk, SOCK_KEEPOPEN)))
		smc_tell_keepalive(sk, true);
	smc_stats_up(sock_net(sk), c, smc->server);
	__smc_set_phase(sk, SMC_PHASE_UP, SMC_REASON_NONE);
	/* Reset while the handshake was ending: nobody will tell us again. */
	if (inet_sk_state_load(sk) == TCP_CLOSE && READ_ONCE(sk->sk_err))
		smc_conn_abort(c);
}

static void to_tcp(struct sock *sk, enum smc_reason reason, u32 peer_diagnosis)
{
	struct smc_sock *smc = smc_sk(sk);

	smc->peer_diagnosis = peer_diagnosis;
	/* Should TCP alone connect it again, the option is not to be in that SYN. */
	tcp_sk(sk)->syn_smc = false;
	inet_csk_exit_pingpong_mode(sk);
	set_user(sk, false);
	sk->sk_data_ready = smc->tcp_data_ready;
	sk->sk_state_change = smc->tcp_state_change;
	sk->sk_error_report = smc->tcp_error_report;
	__smc_set_phase(sk, SMC_PHASE_TCP, reason);
}

/**
 * smc_to_tcp() - from now on this socket is plain TCP
 * @sk: the socket, locked
 * @reason: why
 * @peer_diagnosis: what the peer's Decline says, or 0
 */
void smc_to_tcp(struct sock *sk, enum smc_reason reason, u32 peer_diagnosis)
{
	smc_stats_fallback(sock_net(sk), smc_sk(sk)->server, reason);
	trace_smc_switch_to_fallback(sk, reason);
	to_tcp(sk, reason, peer_diagnosis);
}

/**
 * smc_to_reset() - what remains of this socket, whose TCP connection was reset, is
 * plain TCP
 * @sk: the socket, locked
 * @reason: why
 */
void smc_to_reset(struct sock *sk, enum smc_reason reason)
{
	smc_stats_error(sock_net(sk), smc_sk(sk)->server);
	to_tcp(sk, reason, 0);
}

/**
 * smc_to_new() - the socket is unconnected again and may become SMC
 * @sk: the socket, locked
 */
void smc_to_new(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	smc->peer_diagnosis = 0;
	smc->server = false;
	set_user(sk, false);
	sk->sk_data_ready = smc->tcp_data_ready;
	sk->sk_state_change = smc->tcp_state_change;
	sk->sk_error_report = smc->tcp_error_report;
	tcp_sk(sk)->syn_smc = false;
	__smc_set_phase(sk, SMC_PHASE_NEW, SMC_REASON_NONE);
}

/**
 * smc_wake_settled() - the socket is SMC or TCP: let everybody look
 * @sk: the socket
 *
 * Context: any.
 */
void smc_wake_settled(struct sock *sk)
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
