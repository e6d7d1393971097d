// SPDX-License-Identifier: GPL-2.0
/*
 * Upper layer protocols: kernel TLS on a connection that fell back.
 *
 * Kernel TLS derives the tables of all its sockets, also of foreign ones, from the
 * sk_prot and sock->ops of the socket it finds.  Ours belong to a module that may go,
 * so it must never find them: for the time of the call the operations are TCP's own,
 * and if it takes the socket they are its own from then on.
 */
#include <linux/module.h>
#include <linux/net.h>
#include <net/tcp.h>
#include "socket.h"

/**
 * smc_stays_tcp() - may a socket in phase TCP not become SMC again?
 * @sk: the socket, locked
 *
 * An upper layer protocol or a sockmap remembers TCP's tables and puts them back
 * whenever it likes.
 */
bool smc_stays_tcp(struct sock *sk)
{
	bool stays;

	if (smc_sk(sk)->phase != SMC_PHASE_TCP)
		return false;
	/* A sockmap that lets go of the socket is through with it at the end of this. */
	read_lock_bh(&sk->sk_callback_lock);
	stays = inet_csk(sk)->icsk_ulp_ops || smc_sk(sk)->ulp_calls ||
		READ_ONCE(sk->sk_prot) != smc_family(sk)->tcp;
	read_unlock_bh(&sk->sk_callback_lock);
	return stays;
}

/*
 * Have the protocol loaded, and its tables derived from a socket of TCP's.  What is
 * left to fail on our own is rare then, and in the moment when our operations come back
 * after a failure, another thread's call finds the tables made.
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
	/* That it is not connected was seen after all else. */
	return rc == -ENOTCONN ? 0 : rc;
}

/* From here on sock->ops are TCP's. */
static int begin_call(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_family *f = smc_family(sk);
	int rc = 0;

	lock_sock(sk);
	if (smc_sk(sk)->phase != SMC_PHASE_TCP)
		rc = -EOPNOTSUPP;
	else if (inet_csk(sk)->icsk_ulp_ops)
		rc = -EEXIST;
	else if (sk->sk_state != TCP_ESTABLISHED)
		rc = -ENOTCONN;
	else if (!smc_sk(sk)->ulp_calls++)
		WRITE_ONCE(sock->ops, f->tcp_ops);
	release_sock(sk);
	return rc;
}

/*
 * The last one that leaves looks what has come of it, be it by a thread that found
 * TCP's operations and never came here.  The reference to this module that came with
 * our operations goes with them; the socket has another one.
 */
static void end_call(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_family *f = smc_family(sk);

	lock_sock(sk);
	if (!--smc_sk(sk)->ulp_calls) {
		if (inet_csk(sk)->icsk_ulp_ops) {
			__module_get(f->tcp_ops->owner);
			module_put(THIS_MODULE);
		} else {
			WRITE_ONCE(sock->ops, &f->plain_ops);
		}
	}
	release_sock(sk);
}

/**
 * smc_ulp_set() - TCP_ULP in phase TCP
 * @sock: the socket
 * @val: the name of the protocol
 * @len: its length
 *
 * Context: process, the socket not locked.
 * Return: as TCP would for kernel TLS; there is no other protocol.
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
	rc = begin_call(sock);
	if (rc)
		return rc;
	rc = smc_family(sk)->tcp_ops->setsockopt(sock, SOL_TCP, TCP_ULP,
						 KERNEL_SOCKPTR(name), strlen(name));
	end_call(sock);
	return rc;
}
