// SPDX-License-Identifier: GPL-2.0
/* TCP's callbacks: what happens to the TCP connection while SMC is possible, or up. */
#include <net/tcp.h>
#include "../handshake/handshake.h"
#include "../handshake/pair.h"
#include "socket.h"

/* While SMC is possible, what arrives is the handshake's. */
static void smc_data_ready(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	if (smc_negotiating(smc))
		smc_hs_event(sk);
	else
		smc->tcp_data_ready(sk);
}

/* TCP may call without the socket's lock, so RCU keeps the connection. */
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
		/* A child of this kernel may be about to decide: nobody has to be woken yet. */
		if (state == TCP_ESTABLISHED && smc_pair_await(sk))
			return;
		/*
		 * A Proposal that is sent at once acknowledges the SYN.  Not so one that has to
		 * wait for the worker: connections are accepted in the order of their ACKs.
		 */
		if (state == TCP_ESTABLISHED && tcp_sk(sk)->syn_smc && !smc->raw_clc &&
		    smc_hs_has_runner(sk))
			inet_csk_enter_pingpong_mode(sk);
		smc_hs_event(sk);
		/*
		 * That wakes the tasks which wait for the handshake.  Pollers are woken once it
		 * has ended: io_uring would take an earlier wake-up for the end of connect().
		 */
		if (state == TCP_ESTABLISHED)
			return;
		break;
	case SMC_PHASE_UP:
		/* Without an error, both sides have closed TCP in good order. */
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
 * KCM would take the socket for TCP, and wait for data that never come into TCP's queue.  It
 * refuses a socket that has a user.
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
