// SPDX-License-Identifier: GPL-2.0
/*
 * Test builds: users in the kernel of a program's socket, of any protocol. Each echoes what it
 * receives. Write to the parameter test_user, FD being a descriptor of the writing program:
 *
 *	recv FD		as sunrpc: replaces callbacks and calls those it has found, reads by recvmsg
 *			and writes by sendmsg with a cork, both without waiting, in a work item
 *	queue FD	as iscsi_tcp: sends a byte of its own first, then reads TCP's queue from
 *			sk_data_ready
 *	listen FD	as nfsd: accepts without waiting, in a work item, puts the callbacks back
 *			that its children have inherited, and serves them like "recv"
 *	drop FD		puts the callbacks back
 *
 * The parameter reads as the number of users that wait for room, and of users that have ended.
 */
#include <linux/file.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "socket.h"

#define USER_SIZE	(8 << 10)

enum user_kind { USER_RECV, USER_QUEUE, USER_LISTEN };

/**
 * struct test_user - a user of one socket
 * @node:	in users, for one that got its socket from a program
 * @work:	echoes, or accepts
 * @kind:	what the user does
 * @sock:	the socket
 * @child:	the socket came from kernel_accept(), so it is ours to release
 * @data_ready:	the callback that was there before; the next two as well
 * @state_change:	as @data_ready
 * @write_space:	as @data_ready
 * @data:	what was there in sk_user_data
 * @over:	the stream has ended
 * @stuck:	waits for room
 * @left:	the callbacks have been put back
 * @dropped:	a program waits for the end, if not NULL
 * @queue:	what the kind USER_QUEUE has read
 * @have:	number of bytes in @buf
 * @sent:	how many of them have been sent
 * @buf:	bytes to send
 */
struct test_user {
	struct list_head	node;
	struct work_struct	work;
	enum user_kind		kind;
	struct socket		*sock;
	bool			child;
	void			(*data_ready)(struct sock *sk);
	void			(*state_change)(struct sock *sk);
	void			(*write_space)(struct sock *sk);
	void			*data;
	bool			over;
	bool			stuck;
	bool			left;
	struct completion	*dropped;
	struct sk_buff_head	queue;
	size_t			have;
	size_t			sent;
	u8			buf[USER_SIZE];
};

/* The kernel sets one parameter of a module at a time. */
static LIST_HEAD(users);
static atomic_t n_stuck, n_ended;

static int user_take(read_descriptor_t *desc, struct sk_buff *skb, unsigned int offset, size_t len)
{
	struct test_user *u = desc->arg.data;
	struct sk_buff *mine = alloc_skb(len, GFP_ATOMIC);

	if (!mine)
		return -ENOMEM;
	if (skb_copy_bits(skb, offset, skb_put(mine, len), len)) {
		kfree_skb(mine);
		return -EFAULT;
	}
	skb_queue_tail(&u->queue, mine);
	return len;
}

static void user_queue_ready(struct sock *sk)
{
	read_descriptor_t desc = { .count = 1 };
	struct test_user *u;

	read_lock_bh(&sk->sk_callback_lock);
	u = sk->sk_user_data;
	if (u) {
		desc.arg.data = u;
		tcp_read_sock(sk, &desc, user_take);
		queue_work(smc_wq, &u->work);
	}
	read_unlock_bh(&sk->sk_callback_lock);
}

static void user_data_ready(struct sock *sk)
{
	struct test_user *u;

	read_lock_bh(&sk->sk_callback_lock);
	u = sk->sk_user_data;
	if (u) {
		u->data_ready(sk);
		queue_work(smc_wq, &u->work);
	}
	read_unlock_bh(&sk->sk_callback_lock);
}

/* A child inherits this, with the listener's sk_user_data, and may get data before accept(). */
static void user_listen_ready(struct sock *sk)
{
	if (sk->sk_state == TCP_LISTEN)
		user_data_ready(sk);
}

static void user_state_change(struct sock *sk)
{
	struct test_user *u;

	read_lock_bh(&sk->sk_callback_lock);
	u = sk->sk_user_data;
	if (u) {
		u->state_change(sk);
		queue_work(smc_wq, &u->work);
	}
	read_unlock_bh(&sk->sk_callback_lock);
}

static void user_write_space(struct sock *sk)
{
	struct test_user *u;

	read_lock_bh(&sk->sk_callback_lock);
	u = sk->sk_user_data;
	if (u) {
		u->write_space(sk);
		queue_work(smc_wq, &u->work);
	}
	read_unlock_bh(&sk->sk_callback_lock);
}

static void user_attach(struct test_user *u)
{
	struct sock *sk = u->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	u->data = sk->sk_user_data;
	u->data_ready = sk->sk_data_ready;
	u->state_change = sk->sk_state_change;
	u->write_space = sk->sk_write_space;
	sk->sk_user_data = u;
	if (u->kind == USER_LISTEN) {
		sk->sk_data_ready = user_listen_ready;
	} else {
		sk->sk_data_ready = u->kind == USER_QUEUE ? user_queue_ready : user_data_ready;
		sk->sk_state_change = user_state_change;
		sk->sk_write_space = user_write_space;
	}
	write_unlock_bh(&sk->sk_callback_lock);
}

/* After this, nobody queues the work any more. */
static void user_leave(struct test_user *u)
{
	struct sock *sk = u->sock->sk;

	u->left = true;
	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = u->data;
	sk->sk_data_ready = u->data_ready;
	sk->sk_state_change = u->state_change;
	sk->sk_write_space = u->write_space;
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
}

static void set_stuck(struct test_user *u, bool stuck)
{
	if (u->stuck != stuck)
		atomic_add(stuck ? 1 : -1, &n_stuck);
	u->stuck = stuck;
}

/* Returns how much there is to send, or as kernel_recvmsg(). */
static int user_read(struct test_user *u)
{
	struct kvec vec = { .iov_base = u->buf, .iov_len = sizeof(u->buf) };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT };
	struct sk_buff *skb;

	if (u->kind == USER_RECV)
		return kernel_recvmsg(u->sock, &msg, &vec, 1, sizeof(u->buf), MSG_DONTWAIT);
	skb = skb_peek(&u->queue);
	if (!skb)
		return u->sock->sk->sk_shutdown & RCV_SHUTDOWN ? 0 : -EAGAIN;
	vec.iov_len = min_t(size_t, skb->len, sizeof(u->buf));
	skb_copy_bits(skb, 0, u->buf, vec.iov_len);
	if (vec.iov_len == skb->len)
		kfree_skb(skb_dequeue(&u->queue));
	else
		skb_pull(skb, vec.iov_len);
	return vec.iov_len;
}

static int user_write(struct test_user *u)
{
	struct kvec vec = { .iov_base = u->buf + u->sent, .iov_len = u->have - u->sent };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	int rc;

	if (u->kind == USER_RECV)
		tcp_sock_set_cork(u->sock->sk, true);
	rc = kernel_sendmsg(u->sock, &msg, &vec, 1, vec.iov_len);
	if (u->kind == USER_RECV)
		tcp_sock_set_cork(u->sock->sk, false);
	return rc;
}

/* Echoes until there is nothing to read, or no room to write. */
static void user_echo(struct test_user *u)
{
	int rc;

	while (!u->over) {
		rc = u->have == u->sent ? user_read(u) : user_write(u);
		if (rc == -EAGAIN) {
			set_stuck(u, u->have != u->sent);
			return;
		}
		if (rc <= 0) {
			u->over = true;
			atomic_inc(&n_ended);
			kernel_sock_shutdown(u->sock, SHUT_WR);
		} else if (u->have == u->sent) {
			u->have = rc;
			u->sent = 0;
		} else {
			u->sent += rc;
		}
	}
}

static void user_work(struct work_struct *work);

static struct test_user *new_user(struct socket *sock, enum user_kind kind)
{
	struct test_user *u = kzalloc(sizeof(*u), GFP_KERNEL);

	if (!u)
		return NULL;
	INIT_LIST_HEAD(&u->node);
	INIT_WORK(&u->work, user_work);
	skb_queue_head_init(&u->queue);
	u->sock = sock;
	u->kind = kind;
	__module_get(THIS_MODULE);
	return u;
}

/* As sunrpc: first undo what the child has inherited, then take over the child. */
static void user_accept(struct test_user *u)
{
	struct test_user *child;
	struct socket *sock;

	while (!kernel_accept(u->sock, &sock, O_NONBLOCK)) {
		/* This releases the socket if it fails. */
		if (IS_ERR(sock_alloc_file(sock, O_NONBLOCK, NULL)))
			return;
		child = new_user(sock, USER_RECV);
		if (!child) {
			sockfd_put(sock);
			return;
		}
		sock->sk->sk_state_change = u->state_change;
		sock->sk->sk_data_ready = u->data_ready;
		sock->sk->sk_write_space = u->write_space;
		sock->sk->sk_user_data = NULL;
		child->child = true;
		user_attach(child);
		queue_work(smc_wq, &child->work);
	}
}

static void free_user(struct test_user *u)
{
	set_stuck(u, false);
	skb_queue_purge(&u->queue);
	sockfd_put(u->sock);
	if (u->dropped)
		complete(u->dropped);
	kfree(u);
	module_put(THIS_MODULE);
}

static void user_work(struct work_struct *work)
{
	struct test_user *u = container_of(work, struct test_user, work);
	bool dropped = READ_ONCE(u->dropped);

	if (u->left)
		;
	else if (dropped)
		user_leave(u);
	else if (u->kind == USER_LISTEN)
		user_accept(u);
	else
		user_echo(u);
	if (!u->left && u->child && u->over)
		user_leave(u);
	if (u->left && !work_pending(&u->work))
		free_user(u);
}

static int user_begin(struct socket *sock, enum user_kind kind)
{
	struct test_user *u = new_user(sock, kind);

	if (!u)
		return -ENOMEM;
	if (kind == USER_QUEUE)
		u->have = 1;
	user_attach(u);
	list_add(&u->node, &users);
	/* Look for what came before; a read would end the user if there is no connection yet. */
	if (sock->sk->sk_state != TCP_CLOSE)
		queue_work(smc_wq, &u->work);
	/* The connections that are there have been taken over when this returns. */
	if (kind == USER_LISTEN)
		flush_work(&u->work);
	return 0;
}

static int user_drop(const struct socket *sock)
{
	DECLARE_COMPLETION_ONSTACK(dropped);
	struct test_user *u;
	bool found = false;

	list_for_each_entry(u, &users, node) {
		found = u->sock == sock;
		if (found)
			break;
	}
	if (found) {
		list_del(&u->node);
		WRITE_ONCE(u->dropped, &dropped);
		queue_work(smc_wq, &u->work);
	}
	if (!found)
		return -ENOENT;
	wait_for_completion(&dropped);
	return 0;
}

static int test_user_set(const char *val, const struct kernel_param *kp)
{
	static const char * const kinds[] = { "recv", "queue", "listen" };
	struct socket *sock;
	char word[8];
	int fd, rc, i = ARRAY_SIZE(kinds) - 1;

	if (sscanf(val, "%7s %d", word, &fd) != 2)
		return -EINVAL;
	sock = sockfd_lookup(fd, &rc);
	if (!sock)
		return rc;
	while (i >= 0 && strcmp(word, kinds[i]))
		i--;
	rc = -EPROTONOSUPPORT;
	if (i >= 0 && sk_is_tcp(sock->sk))
		rc = user_begin(sock, i);
	else if (!strcmp(word, "drop"))
		rc = user_drop(sock);
	/* A user keeps the file. */
	if (rc || i < 0)
		sockfd_put(sock);
	return rc;
}

static int test_user_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d %d\n", atomic_read(&n_stuck), atomic_read(&n_ended));
}

static const struct kernel_param_ops test_user_ops = {
	.set	= test_user_set,
	.get	= test_user_get,
};

module_param_cb(test_user, &test_user_ops, NULL, 0600);
MODULE_PARM_DESC(test_user, "let a user in the kernel take over a socket");
