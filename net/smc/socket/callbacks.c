// SPDX-License-Identifier: GPL-2.0
/* TCP's callbacks: events of the TCP connection while SMC is being negotiated, or is up. */
#include <net/tcp.h>
#include "../handshake/handshake.h"
#include "../handshake/pair.h"
#include "../tcpopt/tcpopt.h"
#include "socket.h"

/* During the negotiation, arriving data belongs to the handshake. */
static void smc_data_ready(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	if (smc_negotiating(smc))
		smc_hs_event(sk);
	else
		smc->tcp_data_ready(sk);
}

/* TCP may call this without the socket's lock, so RCU keeps the connection alive. */
static void wake_conn(struct sock *sk, bool reset)
{
	struct smc_sock *smc = smc_sk(sk);
	struct smc_conn *c;

	rcu_read_lock();
	c = READ_ONCE(smc->conn);
	if (c && reset)
		smc_conn_tcp_was_reset(sk, c);
	if (c)
		smc_conn_wake_all(c);
	rcu_read_unlock();
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
	if (!smc_tcpopt->answered(sk)) {
		to_tcp(sk, smc_tcpopt_why_not(sock_net(sk)));
	} else if (smc_sk(sk)->raw_clc || connected_to_self(sk)) {
		to_tcp(sk, SMC_REASON_NONE);
	} else {
		__smc_set_phase(sk, SMC_PHASE_HANDSHAKE, SMC_REASON_NONE);
		smc_hs_begin(sk);
	}
}

/*
 * Returns whether to wake the tasks that wait for TCP. They are woken only after it has been
 * decided whether the socket becomes SMC or TCP: io_uring would take an earlier wake-up for the end
 * of connect().
 */
static bool connecting_changed(struct sock *sk, int state)
{
	if (smc_pair_claimed(sk))
		return false;
	if (state == TCP_CLOSE) {
		/* connect() failed; the application may try again. */
		smc_hs_detach(sk);
		smc_to_new(sk);
		return true;
	}
	if (state != TCP_ESTABLISHED || smc_pair_await(sk))
		return false;
	smc_negotiate(sk);
	return !smc_negotiating(smc_sk(sk));
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
		if (!connecting_changed(sk, state))
			return;
		break;
	case SMC_PHASE_UP:
		/* If there is no error, both sides have closed TCP in good order. */
		wake_conn(sk, state == TCP_CLOSE && READ_ONCE(sk->sk_err));
		if (READ_ONCE(smc->closing))
			smc_linger_event(sk);
		break;
	}
	smc->tcp_state_change(sk);
}

static void smc_error_report(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	wake_conn(sk, false);
	smc->tcp_error_report(sk);
}

/*
 * Mark the socket as having a user. KCM refuses such a socket; otherwise it would take the socket
 * for TCP and wait for data that never arrives in TCP's queue.
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
 * smc_hook_callbacks() - install our callbacks for events of the TCP connection
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
 * smc_inherit_callbacks() - give a child the callbacks that it would get from a TCP listener
 * @child: a clone of the listener, locked
 * @listener: the listener; a system call may be using it for something else by now
 *
 * Never install our own callbacks here, because they would call themselves.
 */
void smc_inherit_callbacks(struct sock *child, const struct sock *listener)
{
	const struct smc_sock *smc = smc_sk(listener);

	if (likely(!smc_assert(child->sk_state_change != smc_state_change)))
		return;
	child->sk_data_ready = smc->tcp_data_ready;
	child->sk_state_change = smc->tcp_state_change;
	child->sk_error_report = smc->tcp_error_report;
}

/**
 * smc_unhook_callbacks() - undo smc_hook_callbacks()
 * @sk: the socket, locked
 */
void smc_unhook_callbacks(struct sock *sk)
{
	const struct smc_sock *smc = smc_sk(sk);

	set_user(sk, false);
	sk->sk_data_ready = smc->tcp_data_ready;
	sk->sk_state_change = smc->tcp_state_change;
	sk->sk_error_report = smc->tcp_error_report;
}
