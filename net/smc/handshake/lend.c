// SPDX-License-Identifier: GPL-2.0
/*
 * A struct socket for a child that has not been accepted, while TCP sends for it.
 *
 * When memory is short, TCP's sendmsg() marks sk_socket and puts itself into the wait queue of
 * sk_wq before it looks whether it may sleep.  Such a child has neither.  So it is lent one,
 * which is the same for all children: they do not sleep, so nobody is woken, and of the marks
 * only SOCK_NOSPACE is ever set, which nothing looks at here.  The socket's lock is held
 * meanwhile, so accept() cannot come in between.
 */
#include "internal.h"

static struct socket_alloc nobody = {
	.socket.wq.wait = __WAIT_QUEUE_HEAD_INITIALIZER(nobody.socket.wq.wait),
};

/**
 * smc_lend_socket() - give a child a socket if it has none
 * @sk: the child, locked
 *
 * Return: whether it needs smc_take_socket_back().
 */
bool smc_lend_socket(struct sock *sk)
{
	if (sk->sk_socket)
		return false;
	/* Not sk_set_socket(): from 6.17 on that makes the child belong to root. */
	WRITE_ONCE(sk->sk_socket, &nobody.socket);
	rcu_assign_pointer(sk->sk_wq, &nobody.socket.wq);
	return true;
}

/**
 * smc_take_socket_back() - undo smc_lend_socket()
 * @sk: the child, locked
 */
void smc_take_socket_back(struct sock *sk)
{
	WRITE_ONCE(sk->sk_socket, NULL);
	RCU_INIT_POINTER(sk->sk_wq, NULL);
}
