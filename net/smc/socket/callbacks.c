// SPDX-License-Identifier: GPL-2.0
/* TCP's callbacks: events of the TCP connection while SMC is being negotiated, or is up. */
#include <net/tcp.h>
#include "../handshake/handshake.h"
#include "../handshake/pair.h"
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
	if (state != TCP_ESTABLISHED)
		return false;
	/* A child would decide without knowing this client's options; CLC looks at both. */
	if (!smc_still_eligible(sk) && smc_pair_await(sk))
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

/**
 * smc_hook_callbacks() - install our callbacks for events of the TCP connection
 * @sk: the socket, locked
 */
void smc_hook_callbacks(struct sock *sk)
{
	smc_set_user(sk, true);
	smc_sk(sk)->filter_locked = smc_compat_lock_filter(sk);
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
