// SPDX-License-Identifier: GPL-2.0
/* The connections of a socket: the current one, and those from before it was disconnected. */
#include "../conn/ops.h"
#include "../policy/policy.h"
#include "../stats.h"
#include "socket.h"

/**
 * smc_detach_conn() - release a connection of the socket
 * @sk: the socket
 * @c: the connection, no longer smc_sock.conn, with the socket's reference; no system call may be
 *	using it any more
 *
 * Context: any.
 */
void smc_detach_conn(struct sock *sk, struct smc_conn *c)
{
	smc_conn_set_wq(c, NULL);
	smc_stats_gone(sock_net(sk), c);
	if (unlikely(smc_sk(sk)->listener))
		smc_autosmc_conn_gone(sk, c);
	if (!smc_conn_signaled(c, SMC_FLAG_CLOSED))
		smc_conn_abort(c);
	c->ops->detach(c);
	smc_conn_put(c);
}

/**
 * smc_stop_old_conns() - stop the connections from before a disconnect
 * @sk: the socket, not locked, because a sender's tx_lock nests outside lock_sock
 *
 * Called after anything that may have disconnected the socket. The list only grows until the socket
 * ends.
 */
void smc_stop_old_conns(struct sock *sk)
{
	struct smc_conn *c;

	/* Pairs with the release in smc_disconnect(). */
	for (c = smp_load_acquire(&smc_sk(sk)->old_conns); c; c = c->next)
		smc_conn_stop(c);
}

/**
 * smc_detach_conns() - release all connections of the socket
 * @sk: the socket; no system call may be using its connections any more
 *
 * Context: any.
 */
void smc_detach_conns(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	struct smc_conn *c = smc->conn;

	smc->conn = NULL;
	if (c)
		smc_detach_conn(sk, c);
	while ((c = smc->old_conns)) {
		smc->old_conns = c->next;
		smc_detach_conn(sk, c);
	}
}
