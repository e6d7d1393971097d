// SPDX-License-Identifier: GPL-2.0
/* Phases of a socket: the only setter, and the side effects of each change. */
#include <net/tcp.h>
#include "../conn/stamp.h"
#include "../events.h"
#include "../stats.h"
#include "../tcpopt/tcpopt.h"
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
 * __smc_set_phase() - the only function that changes the phase of a socket
 * @sk: the socket, locked
 * @phase: the new phase
 * @reason: reason for phase TCP
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
	/* Release: dumps, and calls that look for a connection, read the phase without the lock. */
	smp_store_release(&smc->phase, phase);
}

/**
 * smc_to_up() - the handshake has succeeded
 * @sk: the socket, locked
 * @c: its connection; the caller's reference is taken over
 */
void smc_to_up(struct sock *sk, struct smc_conn *c)
{
	struct smc_sock *smc = smc_sk(sk);

	smc_conn_established(c);
	smc_shut_conn(sk, c);
	c->rx_low_water = sk->sk_rcvlowat > 1;
	smc_conn_set_wq(c, smc_deferred_wq(sk) ?: rcu_dereference_protected(sk->sk_wq, 1));
	/* Without memory there are no time stamps. */
	smc_stamps_follow(sk, c);
	/* Release: a task that sees the connection must see its contents as well. */
	smp_store_release(&smc->conn, c);
	if (unlikely(sock_flag(sk, SOCK_KEEPOPEN)))
		smc_tell_keepalive(sk, true);
	smc_stats_up(sock_net(sk), c, smc->server);
	__smc_set_phase(sk, SMC_PHASE_UP, SMC_REASON_NONE);
	smc_deferred_ended(sk);
	smc_shut_tcp(sk);
	smc_tell_kernel_user(sk);
	/* A reset at the end of the handshake is not reported again, so handle it here. */
	if (inet_sk_state_load(sk) == TCP_CLOSE && READ_ONCE(sk->sk_err))
		smc_conn_abort(c);
}

static void to_tcp(struct sock *sk, enum smc_reason reason, u32 peer_diagnosis)
{
	struct smc_sock *smc = smc_sk(sk);

	smc->peer_diagnosis = peer_diagnosis;
	/* The option must not be in the SYN if the socket is later connected as plain TCP. */
	smc_tcpopt->clear(sk);
	inet_csk_exit_pingpong_mode(sk);
	/* SOF_TIMESTAMPING_OPT_ID: do not count CLC messages, which the program has not sent. */
	if (smc->phase == SMC_PHASE_HANDSHAKE)
		atomic_set(&sk->sk_tskey, tcp_sk(sk)->write_seq);
	smc_unhook_callbacks(sk);
	__smc_set_phase(sk, SMC_PHASE_TCP, reason);
	smc_deferred_ended(sk);
}

/**
 * smc_to_tcp() - turn the socket into plain TCP
 * @sk: the socket, locked
 * @reason: reason for the fallback
 * @peer_diagnosis: the diagnosis in the peer's Decline, or 0
 *
 * Documentation/architecture.md, "Who decides what", describes where the reasons come from.
 */
void smc_to_tcp(struct sock *sk, enum smc_reason reason, u32 peer_diagnosis)
{
	smc_stats_fallback(sock_net(sk), smc_sk(sk)->server, reason);
	trace_smc_switch_to_fallback(sk, reason);
	smc_event_fallback(sk, smc_sk(sk)->server, reason, peer_diagnosis);
	to_tcp(sk, reason, peer_diagnosis);
	smc_shut_tcp(sk);
	smc_tell_kernel_user(sk);
}

/**
 * smc_to_reset() - turn a socket whose TCP connection was reset into plain TCP
 * @sk: the socket, locked
 * @reason: reason for the reset
 */
void smc_to_reset(struct sock *sk, enum smc_reason reason)
{
	smc_stats_error(sock_net(sk), smc_sk(sk)->server);
	to_tcp(sk, reason, 0);
}

/**
 * smc_to_closed() - turn the socket into plain TCP because its file is closed before the handshake
 *	has ended
 * @sk: the socket, locked, without a handshake
 */
void smc_to_closed(struct sock *sk)
{
	to_tcp(sk, SMC_REASON_NONE, 0);
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
	WRITE_ONCE(smc->shut_later, 0);
	smc_unhook_callbacks(sk);
	smc_tcpopt->clear(sk);
	__smc_set_phase(sk, SMC_PHASE_NEW, SMC_REASON_NONE);
}
