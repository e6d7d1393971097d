// SPDX-License-Identifier: GPL-2.0
/*
 * Birth and death of a socket.
 *
 * The memory of an SMC socket comes from our slab, but sk_prot_creator says TCP
 * while it lives: a TIME_WAIT entry takes over that pointer, and must neither
 * pin this module nor point into it.  sk_destruct sets it right again just
 * before the memory is freed and the module reference is dropped.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/sock_reuseport.h>
#include <net/tcp.h>
#include "../fabric/fabric.h"
#include "../handshake/handshake.h"
#include "../handshake/pair.h"
#include "../policy/policy.h"
#include "../stats.h"
#include "../tcpopt/tcpopt.h"
#include "socket.h"

static struct kmem_cache *smc_sock_cache;

static void smc_destruct(struct sock *sk)
{
	struct smc_family *f = smc_family(sk);

	smc_assert(sk->sk_prot_creator == (smc_is_self(sk) ? f->tcp : &f->prot));
	if (smc_is_self(sk)) {
		smc_registry_del(smc_sk(sk));
		/* With kernel TLS or in a sockmap it did not come through smc_destroy_sock(). */
		smc_detach_conns(sk);
		if (unlikely(smc_sk(sk)->listener))
			smc_autosmc_child_gone(sk);
		sk->sk_prot_creator = &f->prot;
	}
	f->tcp_destruct(sk);
}

/* Common to a socket from socket() and to a child from a listener. */
static void smc_born(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	smc->self = smc;
	smc_reset_init(smc);
	smc->tcp_data_ready = sk->sk_data_ready;
	smc->tcp_state_change = sk->sk_state_change;
	smc->tcp_error_report = sk->sk_error_report;
	sk->sk_prot_creator = smc_family(sk)->tcp;
	sk->sk_destruct = smc_destruct;
	smc_registry_add(smc);
}

/**
 * smc_is_ours() - is this an SMC socket?
 * @sk: a TCP socket that came out of an accept queue
 *
 * TCP moves children between the listeners of a reuseport group (tcp_migrate_req).
 *
 * Return: true if it is.
 */
bool smc_is_ours(const struct sock *sk)
{
	return sk->sk_destruct == smc_destruct && smc_is_self(sk);
}

/**
 * smc_init_sock() - proto.init: a socket from socket()
 * @sk: the socket
 *
 * Return: 0 or a negative errno.
 */
int smc_init_sock(struct sock *sk)
{
	int rc;

	smc_compat_init_pinfo(sk);
	rc = smc_family(sk)->tcp->init(sk);
	if (rc)
		return rc;
	/* From here on TCP's code must take it for its own. */
	sk->sk_protocol = IPPROTO_TCP;
	inet_csk(sk)->icsk_af_ops = &smc_family(sk)->af_ops;
	smc_born(sk);
	smc_tcpopt->born(sk);
	return 0;
}

/**
 * smc_child_born() - a child has been cloned from a listener
 * @child: locked by the bottom half that made it
 * @listener: its listener
 *
 * The fields behind the TCP socket are copies of the listener's, and are cleared.
 */
void smc_child_born(struct sock *child, const struct sock *listener)
{
	struct smc_sock *smc = smc_sk(child);

	memset((char *)smc + sizeof(smc->tcp6), 0,
	       sizeof(*smc) - sizeof(smc->tcp6));
	/* The file of the listener may be asynchronous; a child has none yet. */
	sock_reset_flag(child, SOCK_FASYNC);
	smc_inherit_callbacks(child, listener);
	smc->raw_clc = smc_sk(listener)->raw_clc;
	smc->server = true;
	smc_born(child);
}

/**
 * smc_detach_conn() - the socket lets go of a connection
 * @sk: the socket
 * @c: the connection, no longer smc_sock.conn, with the socket's reference; no
 *	system call is in it any more
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
	c->fabric->ops->detach(c);
	smc_conn_put(c);
}

/**
 * smc_stop_old_conns() - stop the connections from before a disconnect
 * @sk: the socket, not locked: the lock of a sender comes before the socket's
 *
 * Called after whatever may have disconnected a socket.  The list only grows until
 * the socket ends.
 */
void smc_stop_old_conns(struct sock *sk)
{
	struct smc_conn *c;

	/* Pairs with the release in smc_disconnect(). */
	for (c = smp_load_acquire(&smc_sk(sk)->old_conns); c; c = c->next)
		smc_conn_stop(c);
}

/**
 * smc_detach_conns() - the socket lets go of all its connections
 * @sk: the socket; no system call is in them any more
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

/**
 * smc_destroy_sock() - proto.destroy: the socket ends
 * @sk: the socket
 *
 * Context: any.
 */
void smc_destroy_sock(struct sock *sk)
{
	if (smc_is_self(sk)) {
		smc_hs_detach(sk);
		smc_detach_conns(sk);
	}
	smc_family(sk)->tcp->destroy(sk);
}

/**
 * smc_unhash() - proto.unhash: the state becomes TCP_CLOSE
 * @sk: the socket
 *
 * The one thing that all ends of a listener have in common, and before its
 * children are destroyed.
 *
 * Context: any, the socket locked for a listener.
 */
void smc_unhash(struct sock *sk)
{
	/* The state is stored afterwards. */
	bool listener = smc_is_self(sk) && sk->sk_state == TCP_LISTEN;

	if (listener)
		smc_end_listener(sk);
	smc_family(sk)->tcp->unhash(sk);
	/*
	 * An SMC child cannot move to another listener of the group, which may be one of plain
	 * TCP (tcp_migrate_req).
	 */
	if (listener)
		reuseport_detach_sock(sk);
}

/**
 * smc_release_cb() - proto.release_cb: the owner gives the lock back
 * @sk: the socket
 *
 * Context: the spin lock of lock_sock() is held.
 */
void smc_release_cb(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	smc_family(sk)->tcp->release_cb(sk);
	if (unlikely(smc->hs_on_release)) {
		WRITE_ONCE(smc->hs_on_release, false);
		smc_pair_released(sk);
		smc_reset_child(sk);
	}
}

/**
 * smc_disconnect() - proto.disconnect
 * @sk: the socket, locked
 * @flags: as for TCP
 *
 * A system call may still be in the connection, so it is kept, aborted, until
 * the socket is closed.
 *
 * Return: 0 or a negative errno, as TCP's disconnect.
 */
int smc_disconnect(struct sock *sk, int flags)
{
	struct smc_sock *smc = smc_sk(sk);
	struct smc_conn *c;
	int rc;

	/* A listener's raw copy that TCP gives up, or a child of TCP's that was moved to us. */
	if (!smc_is_ours(sk))
		return smc_family(sk)->tcp->disconnect(sk, flags);
	smc_hs_detach(sk);
	c = smc->conn;
	if (c) {
		smc_conn_abort(c);
		smc_conn_wake_all(c);
		/* TCP wakes the other sleepers; the file may go before the connection. */
		smc_conn_set_wq(c, NULL);
		smc->conn = NULL;
		c->next = smc->old_conns;
		/* Pairs with smc_stop_old_conns(), which walks the list without the lock. */
		smp_store_release(&smc->old_conns, c);
		smc->n_old_conns++;
	}
	rc = smc_family(sk)->tcp->disconnect(sk, flags);
	if (!sock_flag(sk, SOCK_DEAD))
		smc_to_new(sk);
	return rc;
}

int __init smc_proto_init(void)
{
	int i;

	smc_sock_cache = kmem_cache_create("smc_sock", sizeof(struct smc_sock), 0,
					   SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT |
					   SLAB_TYPESAFE_BY_RCU, NULL);
	if (!smc_sock_cache)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(smc_families); i++) {
		struct proto *prot = &smc_families[i].prot;

		prot->slab = smc_sock_cache;
		prot->obj_size = sizeof(struct smc_sock);
	}
	return 0;
}

void smc_proto_exit(void)
{
	kmem_cache_destroy(smc_sock_cache);
}
