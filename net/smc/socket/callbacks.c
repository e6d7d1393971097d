// SPDX-License-Identifier: GPL-2.0
/*
 * TCP's callbacks: events of the TCP connection while SMC is being negotiated, or is up.
 *
 * A user in the kernel, such as the NFS server, replaces callbacks of a socket whenever it likes,
 * keeps the ones that it has found, calls them or not, and some day puts them back. So
 *
 *  - ours only ever replace TCP's own, and only ours are ever replaced by TCP's own;
 *  - ours are right in every phase: they pass on what does not concern SMC;
 *  - a socket that has a user in the kernel before its connection begins is TCP (smc_eligible()),
 *    and so are the children of such a listener;
 *  - during the handshake, a server that misses our callback declines, and both sides look for data
 *    by a timer (await_bytes());
 *  - once SMC is up, the user is called as TCP would call it (conn/reader.c).
 */
#include <net/tcp.h>
#include "../handshake/handshake.h"
#include "../handshake/pair.h"
#include "socket.h"

static const struct smc_callbacks *const tcp = &smc_tcp_callbacks;

/* During the negotiation, arriving data belongs to the handshake. */
static void smc_data_ready(struct sock *sk)
{
	if (smc_negotiating(smc_sk(sk)))
		smc_hs_event(sk);
	else
		tcp->data_ready(sk);
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
	if (!smc_crossed_syns(sk) && !smc_still_eligible(sk) && smc_pair_await(sk))
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
	tcp->state_change(sk);
}

static void smc_error_report(struct sock *sk)
{
	wake_conn(sk, false);
	tcp->error_report(sk);
}

/**
 * smc_learn_callbacks() - remember TCP's own callbacks, not all of which are exported
 * @sk: a new TCP socket
 */
void __init smc_learn_callbacks(const struct sock *sk)
{
	smc_tcp_callbacks.data_ready = sk->sk_data_ready;
	smc_tcp_callbacks.state_change = sk->sk_state_change;
	smc_tcp_callbacks.write_space = sk->sk_write_space;
	smc_tcp_callbacks.error_report = sk->sk_error_report;
	smc_own_callbacks.data_ready = smc_data_ready;
	smc_own_callbacks.state_change = smc_state_change;
	smc_own_callbacks.write_space = sk->sk_write_space;
	smc_own_callbacks.error_report = smc_error_report;
}

/*
 * KCM, and others that look whether sk_user_data is taken, refuse a socket with this mark. Clones
 * do not inherit it.
 */
static void *user_mark(void)
{
	return (void *)((uintptr_t)smc_families | SK_USER_DATA_NOCOPY);
}

/**
 * smc_hook_callbacks() - install our callbacks for events of the TCP connection
 * @sk: the socket, locked
 *
 * A user in the kernel changes callbacks under sk_callback_lock, or under no lock. Some hold that
 * lock while they call what they have replaced, so it must not be taken here.
 */
void smc_hook_callbacks(struct sock *sk)
{
	cmpxchg(&sk->sk_user_data, NULL, user_mark());
	cmpxchg(&sk->sk_data_ready, tcp->data_ready, smc_data_ready);
	cmpxchg(&sk->sk_state_change, tcp->state_change, smc_state_change);
	cmpxchg(&sk->sk_error_report, tcp->error_report, smc_error_report);
	if (smc_compat_lock_filter(sk))
		smc_sk(sk)->filter_locked = true;
}

/**
 * smc_unhook_callbacks() - undo smc_hook_callbacks(), and leave callbacks that are not ours alone
 * @sk: the socket, locked
 */
void smc_unhook_callbacks(struct sock *sk)
{
	if (smc_sk(sk)->filter_locked)
		sock_reset_flag(sk, SOCK_FILTER_LOCKED);
	smc_sk(sk)->filter_locked = false;
	cmpxchg(&sk->sk_user_data, user_mark(), NULL);
	cmpxchg(&sk->sk_data_ready, smc_data_ready, tcp->data_ready);
	cmpxchg(&sk->sk_state_change, smc_state_change, tcp->state_change);
	cmpxchg(&sk->sk_error_report, smc_error_report, tcp->error_report);
}

/**
 * smc_misses_events() - during a handshake: has a user in the kernel replaced our sk_data_ready?
 * @sk: the socket
 *
 * The user may call ours as well, but need not.
 *
 * Return: true if so.
 */
bool smc_misses_events(const struct sock *sk)
{
	return READ_ONCE(sk->sk_data_ready) != smc_data_ready;
}

/**
 * smc_tell_kernel_user() - the handshake has ended: call a user in the kernel that came before that
 * @sk: the socket, locked
 *
 * What the user tried during the handshake failed with EAGAIN, and TCP will not report again what
 * it has reported before.
 */
void smc_tell_kernel_user(struct sock *sk)
{
	struct smc_conn *c = smc_sk(sk)->conn;

	if (likely(!smc_has_kernel_user(sk)) || !sk->sk_socket ||
	    !((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)))
		return;
	if (c) {
		/* Nobody would ever call the user. */
		if (smc_conn_attach_user(sk, c))
			smc_conn_abort(c);
		return;
	}
	if (!skb_queue_empty(&sk->sk_receive_queue))
		sk->sk_data_ready(sk);
	sk->sk_write_space(sk);
}
