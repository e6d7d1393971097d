// SPDX-License-Identifier: GPL-2.0
/* May a socket offer SMC, whoever its peer is? */
#include <net/tcp.h>
#include "../fabric/fabric.h"
#include "../handshake/handshake.h"
#include "socket.h"

/**
 * smc_has_keys() - does TCP sign or verify segments of this socket?
 * @sk: the socket
 *
 * Data of such a socket must not bypass TCP. If a listener has any key, all its children stay TCP,
 * because a SYN does not tell which child will get the key.
 *
 * Return: true if so.
 */
bool smc_has_keys(const struct sock *sk)
{
	bool keys = false;
#ifdef CONFIG_TCP_MD5SIG
	const struct tcp_md5sig_info *md5;
#endif
#ifdef CONFIG_TCP_AO
	const struct tcp_ao_info *ao;
#endif

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

	if (!READ_ONCE(sn->enable))
		return SMC_REASON_DISABLED;
	/* Kernel TLS requires a connection, and its sockets never get here again (ulp.c). */
	if (smc_assert(!inet_csk(sk)->icsk_ulp_ops))
		return SMC_REASON_INTERNAL;
	/* The key or option may take effect before the SYN leaves; see set_tcp_only(). */
	if (unlikely(READ_ONCE(smc_sk(sk)->tcp_only_calls)))
		return READ_ONCE(smc_sk(sk)->tcp_only_keys) ? SMC_REASON_SIGNED :
							      SMC_REASON_ALREADY_CONNECTED;
	if (smc_has_keys(sk))
		return SMC_REASON_SIGNED;
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
