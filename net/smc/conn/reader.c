// SPDX-License-Identifier: GPL-2.0
/*
 * An in-kernel reader: a user of proto_ops.read_sock; and the wait queue that it sleeps in.
 *
 * Such a reader expects calls of sk_data_ready, which our data path never makes. So a reader sleeps
 * in the socket's wait queue like any other receiver, and connections without one pay nothing.
 * sk_data_ready is called by a work item that owns the socket, so the reader may read at once.
 */
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include "../smc.h"
#include "../trace.h"
#include "recv.h"

/**
 * struct smc_reader - the in-kernel reader of a connection
 * @entry:	entry in the socket's wait queue, if there is a queue; under state_lock
 * @work:	calls sk_data_ready; holds references to the socket and the connection
 * @sk:		the socket
 * @c:		its connection
 * @caller:	the task that is calling sk_data_ready
 */
struct smc_reader {
	struct wait_queue_entry	entry;
	struct work_struct	work;
	struct sock		*sk;
	struct smc_conn		*c;
	struct task_struct	*caller;
};

static void reader_work(struct work_struct *work)
{
	struct smc_reader *r = container_of(work, struct smc_reader, work);
	struct smc_conn *c = r->c;
	struct sock *sk = r->sk;

	lock_sock(sk);
	if (!sock_flag(sk, SOCK_DEAD)) {
		WRITE_ONCE(r->caller, current);
		sk->sk_data_ready(sk);
		WRITE_ONCE(r->caller, NULL);
	}
	release_sock(sk);
	smc_conn_put(c);
	sock_put(sk);
}

/* Call sk_data_ready soon. The caller holds a reference to the connection; any context. */
static void reader_queue(struct smc_reader *r)
{
	smc_conn_get(r->c);
	sock_hold(r->sk);
	if (queue_work(smc_close_wq, &r->work))
		return;
	smc_conn_put(r->c);
	sock_put(r->sk);
}

/*
 * The reader may itself call TCP's sk_data_ready, which wakes this queue again: ignore such a
 * wake-up, which comes from the calling task.
 */
static int wake_reader(struct wait_queue_entry *entry, unsigned int mode, int sync,
		       void *key)
{
	struct smc_reader *r = container_of(entry, struct smc_reader, entry);
	bool again = in_task() && READ_ONCE(r->caller) == current;

	if (!again && (!key || key_to_poll(key) & (EPOLLIN | EPOLLERR | EPOLLHUP)))
		reader_queue(r);
	return 0;
}

static struct smc_reader *make_reader(struct sock *sk, struct smc_conn *c)
{
	struct smc_reader *r = kzalloc(sizeof(*r), gfp_any() | __GFP_NOWARN);

	if (!r)
		return NULL;
	init_waitqueue_func_entry(&r->entry, wake_reader);
	INIT_LIST_HEAD(&r->entry.entry);
	INIT_WORK(&r->work, reader_work);
	r->sk = sk;
	r->c = c;
	return r;
}

/*
 * Make sure that sk_data_ready is called from now on; the socket is locked. Returns 0, also if
 * there was a reader already, or -ENOMEM.
 */
static int reader_attach(struct sock *sk, struct smc_conn *c)
{
	struct socket_wq *wq;

	if (!c->reader)
		c->reader = make_reader(sk, c);
	if (!c->reader)
		return -ENOMEM;
	spin_lock_bh(&c->state_lock);
	wq = rcu_dereference_protected(c->wq, lockdep_is_held(&c->state_lock));
	if (wq && list_empty(&c->reader->entry.entry)) {
		add_wait_queue(&wq->wait, &c->reader->entry);
		/*
		 * Queue the entry before the caller looks at rx_prod. Neither an unlock nor a
		 * trylock implies a full barrier. model/poll.pml: look for data.
		 */
		smp_mb();
	}
	spin_unlock_bh(&c->state_lock);
	return 0;
}

/* Dequeue the reader before the wait queue is replaced or removed. */
static void __reader_leave(struct smc_conn *c)
{
	struct smc_reader *r = c->reader;
	struct socket_wq *wq;

	lockdep_assert_held(&c->state_lock);
	wq = rcu_dereference_protected(c->wq, lockdep_is_held(&c->state_lock));
	if (!wq || list_empty(&r->entry.entry))
		return;
	remove_wait_queue(&wq->wait, &r->entry);
	INIT_LIST_HEAD(&r->entry.entry);
}

/**
 * smc_conn_set_wq() - set the wait queue where the socket's system calls sleep
 * @c: the connection
 * @wq: a socket's wait queue, which must stay valid for an RCU grace period after it has been
 *	replaced here; NULL when the file is closed: when this function returns, nobody uses the
 *	socket through @wq any more
 */
void smc_conn_set_wq(struct smc_conn *c, struct socket_wq *wq)
{
	spin_lock_bh(&c->state_lock);
	if (unlikely(c->reader))
		__reader_leave(c);
	rcu_assign_pointer(c->wq, wq);
	spin_unlock_bh(&c->state_lock);
}

/**
 * smc_conn_call_reader() - call sk_data_ready: a task that kept the reader from reading is done
 * @c: the connection, which has had an in-kernel reader
 *
 * The caller may be a task of the peer, so the socket may be about to end.
 *
 * Context: any.
 */
void smc_conn_call_reader(struct smc_conn *c)
{
	spin_lock_bh(&c->state_lock);
	if (rcu_access_pointer(c->wq))
		reader_queue(c->reader);
	spin_unlock_bh(&c->state_lock);
}

/* In-kernel readers take packets and may keep them, so the data is copied. */
static struct sk_buff *take_skb(struct sock *sk, struct smc_conn *c, u64 seq, size_t len)
{
	struct sk_buff *skb;
	struct iov_iter to;
	struct kvec vec;

	len = min_t(size_t, len, SKB_MAX_ALLOC);
	skb = alloc_skb(len, sk->sk_allocation);
	if (!skb)
		return NULL;
	vec.iov_base = skb_put(skb, len);
	vec.iov_len = len;
	iov_iter_kvec(&to, ITER_DEST, &vec, 1, len);
	smc_recv_copy(c, seq, &to, len);
	return skb;
}

/* Feed the available data to @actor until it wants no more; the caller holds rx_lock. */
static int feed(struct sock *sk, struct smc_conn *c, read_descriptor_t *desc,
		sk_read_actor_t actor)
{
	u64 seq = c->rx_cons, unread;
	struct sk_buff *skb;
	int copied = 0, used;
	size_t n;

	while ((s64)(unread = smc_count_read_acquire(&c->rx_prod) - seq) > 0) {
		n = unread;
		if (unlikely(READ_ONCE(c->urg_data))) {
			used = smc_recv_mind_urgent(sk, c, &seq, &n, copied, 0, 0);
			if (used < 0)
				break;
			if (used)
				continue;
		}
		skb = take_skb(sk, c, seq, n);
		used = skb ? actor(desc, skb, 0, skb->len) : -ENOMEM;
		consume_skb(skb);
		if (used <= 0)
			return copied ? copied : used;
		seq += used;
		copied += used;
		sk_peek_offset_bwd(sk, used);
		smc_recv_consume(c, seq);
		if (!desc->count)
			break;
	}
	return copied;
}

/**
 * smc_conn_read_sock() - pass received data to an in-kernel reader
 * @sk: the socket, locked
 * @c: its connection
 * @desc: passed to @actor; reading stops when its count is 0
 * @actor: consumes all or part of the packet it is given, or returns an errno
 *
 * From the first call on, sk_data_ready is called when there is something to read, see struct
 * smc_reader. In a context that must not sleep, this function only arranges for sk_data_ready to be
 * called soon; while another task is receiving, to be called when that task is done.
 *
 * Context: the caller owns the socket; reads in process context only.
 * Return: number of bytes consumed, 0 if there are none, or a negative errno: -ENOMEM or that of
 * @actor.
 */
int smc_conn_read_sock(struct sock *sk, struct smc_conn *c, read_descriptor_t *desc,
		       sk_read_actor_t actor)
{
	int rc = reader_attach(sk, c);

	if (rc)
		return rc;
	if (in_interrupt()) {
		reader_queue(c->reader);
		return 0;
	}
	/* rx_lock nests outside the socket's lock, which we hold, so only try it. */
	if (!smc_conn_trylock(&c->rx_lock, &c->rx_owed, SMC_OWED_READ))
		return 0;
	rc = feed(sk, c, desc, actor);
	smc_recv_count(sk, c, max(rc, 0));
	smc_conn_rx_unlock(c);
	trace_smc_rx_recvmsg(sk, c->dev, max(rc, 0));
	return rc;
}
