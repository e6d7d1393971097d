// SPDX-License-Identifier: GPL-2.0
/*
 * Sockmaps of plain TCP sockets.
 *
 * A sockmap replaces sk_prot by its own table. For IPv6, it derives that table, for the whole host,
 * from the sk_prot that it finds in the socket. So it must find TCP's proto instead of ours, and it
 * finally restores TCP's. smc_reclaim_proto() puts ours back before the socket listens or connects
 * again.
 */
#include <linux/skmsg.h>
#include <net/tcp.h>
#include "socket.h"

#ifdef CONFIG_BPF_SYSCALL
/*
 * Refused during a listen() call: sk_prot stays ours until that call returns. Both sides hold
 * sk_callback_lock.
 */
static int smc_lend_proto(struct sock *sk, struct sk_psock *psock)
{
	const struct smc_sock *smc = smc_sk(sk);
	struct smc_family *f = smc_family(sk);
	int rc = -EOPNOTSUPP;

	write_lock_bh(&sk->sk_callback_lock);
	if (smc_is_self(sk) && smc->phase == SMC_PHASE_TCP && !smc->listen_calls &&
	    sk->sk_state != TCP_LISTEN) {
		psock->sk_proto = f->tcp;
		psock->saved_unhash = f->tcp->unhash;
		psock->saved_destroy = f->tcp->destroy;
		rc = f->tcp->psock_update_sk_prot(sk, psock, false);
	}
	write_unlock_bh(&sk->sk_callback_lock);
	return rc;
}

static int smc_update_psock(struct sock *sk, struct sk_psock *psock, bool restore)
{
	if (!restore)
		return smc_lend_proto(sk, psock);
	/* The sockmap failed to take the socket, which therefore still has our proto. */
	if (READ_ONCE(sk->sk_prot) == &smc_family(sk)->prot)
		return 0;
	return smc_family(sk)->tcp->psock_update_sk_prot(sk, psock, true);
}

static bool in_sockmap(const struct sock *sk)
{
	bool found;

	rcu_read_lock();
	found = sk_psock(sk);
	rcu_read_unlock();
	return found;
}
#else
static bool in_sockmap(const struct sock *sk)
{
	return false;
}
#endif

/**
 * smc_reclaim_proto() - restore our proto if a sockmap has left TCP's
 * @sk: a socket in TCP's state CLOSE or LISTEN, locked
 *
 * Return: true if the socket has our proto; false while a sockmap holds the socket, and with kernel
 * TLS.
 */
bool smc_reclaim_proto(struct sock *sk)
{
	struct smc_family *f = smc_family(sk);

	/* A sockmap attaches its psock under this lock before it looks at sk_prot. */
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_prot == f->tcp && !inet_csk(sk)->icsk_ulp_ops && !in_sockmap(sk))
		WRITE_ONCE(sk->sk_prot, &f->prot);
	write_unlock_bh(&sk->sk_callback_lock);
	return READ_ONCE(sk->sk_prot) == &f->prot;
}

/**
 * smc_sockmap_init() - install our hook for sockmaps
 * @prot: our proto
 */
void __init smc_sockmap_init(struct proto *prot)
{
#ifdef CONFIG_BPF_SYSCALL
	prot->psock_update_sk_prot = smc_update_psock;
#endif
}
