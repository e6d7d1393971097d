// SPDX-License-Identifier: GPL-2.0
/*
 * Creation and destruction of a socket.
 *
 * The memory of an SMC socket comes from our slab, but during its life sk_prot_creator points to
 * TCP's proto: a TIME_WAIT entry inherits that pointer, and must neither pin this module nor point
 * into it. sk_destruct restores our pointer just before the memory is freed and the module
 * reference is dropped.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/tcp.h>
#include "../fabric/fabric.h"
#include "../handshake/handshake.h"
#include "../handshake/pair.h"
#include "../policy/policy.h"
#include "../tcpopt/tcpopt.h"
#include "socket.h"

static struct kmem_cache *smc_sock_cache;

static void smc_destruct(struct sock *sk)
{
	struct smc_family *f = smc_family(sk);

	smc_assert(sk->sk_prot_creator == (smc_is_self(sk) ? f->tcp : &f->prot));
	if (smc_is_self(sk)) {
		smc_registry_del(smc_sk(sk));
		/* With kernel TLS or in a sockmap, smc_destroy_sock() was not called. */
		smc_detach_conns(sk);
		smc_undefer(sk);
		if (unlikely(smc_sk(sk)->listener))
			smc_autosmc_child_gone(sk);
		sk->sk_prot_creator = &f->prot;
	}
	f->tcp_destruct(sk);
}

/* Initialisation shared by sockets from socket() and children of a listener. */
static void smc_born(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	smc->self = smc;
	smc_reset_init(smc);
	sk->sk_prot_creator = smc_family(sk)->tcp;
	sk->sk_destruct = smc_destruct;
	smc_registry_add(smc);
}

/**
 * smc_is_ours() - is this an SMC socket?
 * @sk: a TCP socket taken from an accept queue
 *
 * TCP moves children between the listeners of a reuseport group (tcp_migrate_req).
 *
 * Return: true if it is an SMC socket.
 */
bool smc_is_ours(const struct sock *sk)
{
	return sk->sk_destruct == smc_destruct && smc_is_self(sk);
}

/**
 * smc_init_sock() - proto.init: initialise a socket from socket()
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
	/* From here on, TCP's code must treat the socket as its own. */
	sk->sk_protocol = IPPROTO_TCP;
	inet_csk(sk)->icsk_af_ops = &smc_family(sk)->af_ops;
	/* All options reach smc_sock_setsockopt(), even those of level SOL_SOCKET. */
	smc_compat_own_options(sk->sk_socket, true);
	smc_born(sk);
	smc_tcpopt->born(sk);
	return 0;
}

/**
 * smc_child_born() - initialise a child that was cloned from a listener
 * @child: the child, locked by the bottom half that made it
 * @listener: its listener
 *
 * The fields behind the TCP socket are copies of the listener's, so they are cleared.
 */
void smc_child_born(struct sock *child, const struct sock *listener)
{
	struct smc_sock *smc = smc_sk(child);

	memset((char *)smc + sizeof(smc->tcp6), 0,
	       sizeof(*smc) - sizeof(smc->tcp6));
	/* The listener's file may have O_ASYNC set; the child has no file yet. */
	sock_reset_flag(child, SOCK_FASYNC);
	/* A user in the kernel may have put our callbacks back when it left the listener. */
	smc_unhook_callbacks(child);
	smc->raw_clc = smc_sk(listener)->raw_clc;
	smc->server = true;
	smc_born(child);
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
 * smc_release_cb() - proto.release_cb: the owner releases the lock
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
 * smc_proto_recvmsg() - proto.recvmsg: TCP's
 * @sk: the socket
 * @msg: receives the data
 * @len: space in @msg
 * @flags: MSG_*
 * @addr_len: as for TCP's; recent kernels do not have it
 *
 * The address differs from TCP's: io_uring's RECV_ZC reads TCP's queue of every socket that has
 * TCP's function here. Of ours this queue has CLC messages or nothing. So RECV_ZC fails with
 * EPROTONOSUPPORT, also after a fallback, because sk_prot stays.
 *
 * Context: process, may sleep.
 * Return: as TCP's.
 */
#ifdef SMC_HAVE_RECVMSG_ADDR_LEN
int smc_proto_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags, int *addr_len)
{
	return smc_family(sk)->tcp->recvmsg(sk, msg, len, flags, addr_len);
}
#else
int smc_proto_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags)
{
	return smc_family(sk)->tcp->recvmsg(sk, msg, len, flags);
}
#endif

/**
 * smc_disconnect() - proto.disconnect
 * @sk: the socket, locked
 * @flags: as for TCP
 *
 * A system call may still be using the connection. So the connection is aborted, but kept until the
 * socket is closed.
 *
 * Return: 0 or a negative errno, as from TCP's disconnect.
 */
int smc_disconnect(struct sock *sk, int flags)
{
	struct smc_sock *smc = smc_sk(sk);
	struct smc_conn *c;
	int rc;

	/* A listener's raw copy that TCP discards, or a TCP child that was moved to us. */
	if (!smc_is_ours(sk))
		return smc_family(sk)->tcp->disconnect(sk, flags);
	smc_hs_withdraw(sk);
	c = smc->conn;
	if (c) {
		smc_conn_abort(c);
		smc_conn_wake_all(c);
		/* TCP wakes the other sleepers. The file may go away before the connection does. */
		smc_conn_set_wq(c, NULL);
		smc->conn = NULL;
		c->next = smc->old_conns;
		/* Pairs with smc_stop_old_conns(), which walks the list without the lock. */
		smp_store_release(&smc->old_conns, c);
		smc->n_old_conns++;
	}
	smc_undefer(sk);
	smc->n_disconnects++;
	rc = smc_family(sk)->tcp->disconnect(sk, flags);
	if (!sock_flag(sk, SOCK_DEAD)) {
		smc_to_new(sk);
		/* TCP has woken sleepers too, but they may have looked at the phase before. */
		smc_wake_negotiated(sk);
	}
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
