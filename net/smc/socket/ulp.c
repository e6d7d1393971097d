// SPDX-License-Identifier: GPL-2.0
/*
 * Upper layer protocols: kernel TLS on a connection that fell back.
 *
 * Kernel TLS derives the tables of all its sockets, including those of other protocols, from the
 * sk_prot and the sock->ops of a socket that it finds. Ours belong to a module that can be
 * unloaded, so kernel TLS must never see them. Therefore, for the duration of the call, under one
 * hold of the socket's lock, sk_prot is TCP's, and sk_socket points to a stand-in socket whose
 * operations are TCP's. On success, sock->ops changes once, to those of kernel TLS, so a lockless
 * reader never sees TCP's.
 */
#include <linux/bpf.h>
#include <linux/module.h>
#include <linux/net.h>
#include <net/tcp.h>
#include "socket.h"

/* The socket that kernel TLS finds. Lockless readers may look at it, so it is never freed. */
static struct socket_alloc stand_in;
static DEFINE_MUTEX(stand_in_lock);

/*
 * Make sure that the protocol is loaded, and derives its tables from a TCP socket, before any lock
 * is taken.
 */
static int make_tables(struct sock *sk, char *name)
{
	struct socket *tcp;
	int rc;

	rc = sock_create_kern(sock_net(sk), sk->sk_family, SOCK_STREAM,
			      IPPROTO_TCP, &tcp);
	if (rc)
		return rc;
	rc = smc_family(sk)->tcp_ops->setsockopt(tcp, SOL_TCP, TCP_ULP,
						 KERNEL_SOCKPTR(name), strlen(name));
	sock_release(tcp);
	/* TCP checks only at the end whether the socket is connected. */
	return rc == -ENOTCONN ? 0 : rc;
}

/*
 * TCP's setsockopt() takes the socket's lock, unless it is called by a BPF program, which holds the
 * lock already. So pretend to be a BPF program.
 */
static int set_locked(struct sock *sk, char *name)
{
	struct bpf_run_ctx ctx = { }, *former;
	int rc;

	if (!IS_ENABLED(CONFIG_BPF_SYSCALL))
		return -ENOENT;
	former = bpf_set_run_ctx(&ctx);
	rc = smc_family(sk)->tcp->setsockopt(sk, SOL_TCP, TCP_ULP, KERNEL_SOCKPTR(name),
					     strlen(name));
	bpf_reset_run_ctx(former);
	return rc;
}

/*
 * A socket in a sockmap keeps the sockmap's proto, as with TCP. The module reference that came with
 * our operations is dropped with them; the socket holds another one.
 */
static int __take_layer(struct socket *sock, char *name)
{
	struct sock *sk = sock->sk;
	struct smc_family *f = smc_family(sk);
	bool ours = READ_ONCE(sk->sk_prot) == &f->prot;
	int rc;

	sock_owned_by_me(sk);
	mutex_lock(&stand_in_lock);
	stand_in.socket.ops = f->tcp_ops;
	stand_in.socket.type = sock->type;
	sk_set_socket(sk, &stand_in.socket);
	if (ours)
		WRITE_ONCE(sk->sk_prot, f->tcp);
	rc = set_locked(sk, name);
	if (rc && ours)
		WRITE_ONCE(sk->sk_prot, &f->prot);
	sk_set_socket(sk, sock);
	if (!rc) {
		/* As TCP has done to the stand-in. */
		clear_bit(SOCK_SUPPORT_ZC, &sock->flags);
		/* Kernel TLS does not know the options of SOL_SOCKET. */
		smc_compat_own_options(sock, false);
		smp_wmb();
		WRITE_ONCE(sock->ops, stand_in.socket.ops);
		__module_get(sock->ops->owner);
		module_put(THIS_MODULE);
	}
	mutex_unlock(&stand_in_lock);
	return rc;
}

static int take_layer(struct socket *sock, char *name)
{
	struct sock *sk = sock->sk;
	int rc;

	lock_sock(sk);
	if (smc_busy(smc_sk(sk)))
		rc = -EOPNOTSUPP;
	else if (inet_csk(sk)->icsk_ulp_ops)
		rc = -EEXIST;
	else if (smc_sk(sk)->phase != SMC_PHASE_TCP || sk->sk_state != TCP_ESTABLISHED)
		rc = -ENOTCONN;
	else
		rc = __take_layer(sock, name);
	release_sock(sk);
	return rc;
}

/**
 * smc_ulp_set() - set TCP_ULP
 * @sock: the socket
 * @val: the name of the protocol
 * @len: its length
 *
 * Context: process, the socket is not locked.
 * Return: as TCP would for kernel TLS, the only supported protocol.
 */
int smc_ulp_set(struct socket *sock, sockptr_t val, unsigned int len)
{
	struct sock *sk = sock->sk;
	char name[TCP_ULP_NAME_MAX];
	int rc;

	if (len < 1)
		return -EINVAL;
	rc = strncpy_from_sockptr(name, val, min_t(long, sizeof(name) - 1, len));
	if (rc < 0)
		return -EFAULT;
	name[rc] = 0;
	if (strcmp(name, "tls"))
		return -ENOENT;
	rc = make_tables(sk, name);
	if (rc)
		return rc;
	return take_layer(sock, name);
}
