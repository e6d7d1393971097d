// SPDX-License-Identifier: GPL-2.0
/* May a socket offer SMC, whoever its peer is? */
#include <net/tcp.h>
#include "../fabric/fabric.h"
#include "../handshake/handshake.h"
#include "ipsec.h"
#include "socket.h"

/* After the last key has been removed, an empty list may stay. */
static bool has_key_lists(const struct sock *sk)
{
	bool has = false;

#ifdef CONFIG_TCP_MD5SIG
	has = rcu_access_pointer(tcp_sk(sk)->md5sig_info);
#endif
#ifdef CONFIG_TCP_AO
	has |= !!rcu_access_pointer(tcp_sk(sk)->ao_info);
#endif
	return has;
}

/*
 * Does TCP sign or verify segments of this socket? If a listener has any key, all its children stay
 * TCP, because a SYN does not tell which child will get the key.
 */
static bool has_keys(const struct sock *sk)
{
	bool keys = false;
#ifdef CONFIG_TCP_MD5SIG
	const struct tcp_md5sig_info *md5;
#endif
#ifdef CONFIG_TCP_AO
	const struct tcp_ao_info *ao;
#endif

	if (likely(!has_key_lists(sk)))
		return false;
	rcu_read_lock();
#ifdef CONFIG_TCP_MD5SIG
	md5 = rcu_dereference(tcp_sk(sk)->md5sig_info);
	keys = md5 && !hlist_empty(&md5->head);
#endif
#ifdef CONFIG_TCP_AO
	ao = rcu_dereference(tcp_sk(sk)->ao_info);
	keys |= ao && (ao->ao_required || !hlist_empty(&ao->head));
#endif
	rcu_read_unlock();
	return keys;
}

/* Why the socket's data must not bypass TCP: because of its options, or of BPF programs. */
static enum smc_reason why_not_bypass(const struct sock *sk)
{
	if (has_keys(sk))
		return SMC_REASON_SIGNED;
	if (smc_ipsec_own(sk))
		return SMC_REASON_IPSEC;
	return smc_needs_packets(sk);
}

/**
 * smc_eligible() - may this socket offer SMC to any peer?
 * @sk: the socket, before connect() or while it listens
 *
 * This does not consider the peer; ipsec.h does.
 *
 * Return: SMC_REASON_NONE, or why the socket may not offer SMC.
 */
enum smc_reason smc_eligible(const struct sock *sk)
{
	const struct smc_net *sn = smc_net(sock_net(sk));
	enum smc_reason reason;

	if (!READ_ONCE(sn->enable))
		return SMC_REASON_DISABLED;
	/* Kernel TLS requires a connection, and its sockets never get here again (ulp.c). */
	if (smc_assert(!inet_csk(sk)->icsk_ulp_ops))
		return SMC_REASON_INTERNAL;
	/* The option may take effect before the SYN leaves; see set_tcp_only(). */
	if (unlikely(READ_ONCE(smc_sk(sk)->tcp_only_calls)))
		return READ_ONCE(smc_sk(sk)->tcp_only_reason);
	reason = why_not_bypass(sk);
	if (reason)
		return reason;
	if (smc_has_kernel_user(sk))
		return SMC_REASON_KERNEL_USER;
	/* The handshake could not send or receive. */
	if (READ_ONCE(sk->sk_shutdown))
		return SMC_REASON_SHUT_DOWN;
	if (tcp_sk(sk)->repair)
		return SMC_REASON_ALREADY_CONNECTED;
	if (tcp_sk(sk)->fastopen_connect)
		return SMC_REASON_FASTOPEN;
	if (smc_sk(sk)->n_old_conns >= SMC_MAX_OLD_CONNS)
		return SMC_REASON_REUSED;
	if (!smc_fabric_any(sn))
		return SMC_REASON_NO_DEVICE;
	if (smc_hs_congested(sn, READ_ONCE(smc_sk(sk)->limit_hs)))
		return SMC_REASON_CONGESTED;
	return SMC_REASON_NONE;
}

/**
 * smc_still_eligible() - may a handshake that has begun still end in SMC?
 * @sk: the socket; it need not be locked
 *
 * A child has the options that its listener had when the child was created, after the SYN was
 * answered. And a BPF program may have set options while TCP connected; a program cannot be told
 * that this is too late, as setsockopt() tells it.
 *
 * Return: SMC_REASON_NONE, or why the connection must be TCP.
 */
enum smc_reason smc_still_eligible(const struct sock *sk)
{
	enum smc_reason reason = why_not_bypass(sk);

	return !reason && smc_sock_ops_watch(sk) ? SMC_REASON_CGROUP_BPF : reason;
}
