// SPDX-License-Identifier: GPL-2.0
/*
 * An in-kernel echo, in test builds only: like NVMe over TCP, it takes over a socket from a
 * program, reads it with read_sock and sends everything back. It holds the file until the stream
 * has ended.
 */
#include <linux/file.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include <net/tcp_states.h>
#include "socket.h"
#include "sockopt.h"

#define ECHO_SIZE	(8 << 10)

struct smc_test_echo {
	struct work_struct	work;
	struct file		*file;
	struct socket		*sock;
	void			(*data_ready)(struct sock *sk);
	void			(*state_change)(struct sock *sk);
	void			*user;
	bool			ended;
	size_t			have;
	u8			buf[ECHO_SIZE];
};

static void echo_event(struct sock *sk)
{
	struct smc_test_echo *e;

	read_lock_bh(&sk->sk_callback_lock);
	e = sk->sk_user_data;
	queue_work(smc_wq, &e->work);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void echo_state_change(struct sock *sk)
{
	struct smc_test_echo *e = sk->sk_user_data;

	e->state_change(sk);
	echo_event(sk);
}

static int echo_take(read_descriptor_t *desc, struct sk_buff *skb, unsigned int offset,
		     size_t len)
{
	struct smc_test_echo *e = desc->arg.data;

	len = min(len, ECHO_SIZE - e->have);
	if (skb_copy_bits(skb, offset, e->buf + e->have, len))
		return -EFAULT;
	e->have += len;
	desc->count = e->have < ECHO_SIZE;
	return len;
}

/* Returns the number of bytes echoed, or a negative errno if not all of them could be sent. */
static int echo_some(struct smc_test_echo *e)
{
	read_descriptor_t desc = { .arg.data = e, .count = 1 };
	struct sock *sk = e->sock->sk;
	struct msghdr msg = { };
	struct kvec vec = { .iov_base = e->buf };
	int rc;

	e->have = 0;
	lock_sock(sk);
	READ_ONCE(e->sock->ops)->read_sock(sk, &desc, echo_take);
	release_sock(sk);
	vec.iov_len = e->have;
	if (!e->have)
		return 0;
	rc = kernel_sendmsg(e->sock, &msg, &vec, 1, e->have);
	return rc >= 0 && rc < e->have ? -EPIPE : rc;
}

/*
 * Echoes everything that has arrived. Returns whether anything was, or a negative errno: bytes were
 * lost then, and the unread ones may fill the buffer, so that no event would ever come.
 */
static int echo_all(struct smc_test_echo *e)
{
	int n, any = 0;

	while ((n = echo_some(e)) > 0)
		any = 1;
	return n ?: any;
}

/* After this, nobody queues the work any more. */
static void echo_end(struct smc_test_echo *e)
{
	struct sock *sk = e->sock->sk;

	e->ended = true;
	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_data_ready = e->data_ready;
	sk->sk_state_change = e->state_change;
	sk->sk_user_data = e->user;
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
	kernel_sock_shutdown(e->sock, SHUT_WR);
	fput(e->file);
}

/* Echoes what has arrived. Returns whether the echo must end. */
static bool echo_until_end(struct smc_test_echo *e)
{
	__poll_t events;
	int rc;

	/* SMC reports no event before the first read_sock: read first, then look for the end. */
	if (echo_all(e) < 0)
		return true;
	events = READ_ONCE(e->sock->ops)->poll(e->file, e->sock, NULL);
	/* Echo the data that arrived before the end. */
	rc = echo_all(e);
	if (rc < 0 || (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
		return true;
	/*
	 * TCP's read_sock never passes an urgent byte, so there may be data that it cannot read.
	 * SMC's reads nothing while another task receives, but reports the data later.
	 */
	return !rc && (events & EPOLLIN) && !smc_get_conn(e->sock->sk);
}

static void echo_work(struct work_struct *work)
{
	struct smc_test_echo *e = container_of(work, struct smc_test_echo, work);

	if (!e->ended && echo_until_end(e))
		echo_end(e);
	if (e->ended && !work_pending(&e->work))
		kfree(e);
}

/**
 * smc_test_echo() - start to echo
 * @sk: the socket, locked, with a file
 *
 * Return: 0 or a negative errno: -ENOTCONN without a connection; -EBUSY while the socket is still
 * negotiating, because the handshake owns the callbacks until then, or if there is an echo already.
 */
int smc_test_echo(struct sock *sk)
{
	struct smc_test_echo *e;

	/*
	 * The echo holds the file until the stream ends, so it requires a stream. One echo per
	 * socket.
	 */
	if (!((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)))
		return -ENOTCONN;
	if (smc_negotiating(smc_sk(sk)) || sk->sk_state_change == echo_state_change)
		return -EBUSY;
	e = kzalloc(sizeof(*e), GFP_KERNEL);
	if (!e)
		return -ENOMEM;
	INIT_WORK(&e->work, echo_work);
	e->sock = sk->sk_socket;
	e->file = get_file(e->sock->file);
	write_lock_bh(&sk->sk_callback_lock);
	e->user = sk->sk_user_data;
	e->data_ready = sk->sk_data_ready;
	e->state_change = sk->sk_state_change;
	sk->sk_user_data = e;
	sk->sk_data_ready = echo_event;
	sk->sk_state_change = echo_state_change;
	write_unlock_bh(&sk->sk_callback_lock);
	/* Echo the data that arrived before. */
	queue_work(smc_wq, &e->work);
	return 0;
}
