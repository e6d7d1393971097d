// SPDX-License-Identifier: GPL-2.0
/*
 * A user in the kernel: one that has replaced callbacks of the socket, or that calls
 * proto_ops.read_sock; and the wait queue that it sleeps in.
 *
 * Such a user expects calls of sk_data_ready and sk_write_space, which our data path never makes.
 * So it sleeps in the socket's wait queue like any other task, and connections without one pay
 * nothing. The callbacks are called by a work item that owns the socket, so the user may call
 * read_sock at once. TCP itself reports the end of the connection, and a reset.
 *
 * Some users read TCP's queue themselves (iscsi_tcp calls tcp_read_sock() from sk_data_ready). So
 * for the duration of sk_data_ready, the data is lent to that queue: to TCP it looks as if it had
 * just arrived. This ends when the user is seen to read by read_sock or recvmsg.
 */
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <net/tcp.h>
#include "../smc.h"
#include "../trace.h"
#include "recv.h"

/* Set when the module is loaded, by socket/callbacks.c. */
struct smc_callbacks smc_tcp_callbacks __ro_after_init;
struct smc_callbacks smc_own_callbacks __ro_after_init;

/**
 * smc_has_kernel_user() - does a user in the kernel have callbacks of its own?
 * @sk: the socket
 *
 * Return: true if so.
 */
bool smc_has_kernel_user(const struct sock *sk)
{
	const struct smc_callbacks *tcp = &smc_tcp_callbacks, *own = &smc_own_callbacks;
	void (*data)(struct sock *sk) = READ_ONCE(sk->sk_data_ready);
	void (*state)(struct sock *sk) = READ_ONCE(sk->sk_state_change);
	void (*error)(struct sock *sk) = READ_ONCE(sk->sk_error_report);

	return (data != tcp->data_ready && data != own->data_ready) ||
	       (state != tcp->state_change && state != own->state_change) ||
	       (error != tcp->error_report && error != own->error_report) ||
	       READ_ONCE(sk->sk_write_space) != tcp->write_space;
}

/* Which callback to call. */
enum {
	READER_IN,		/* sk_data_ready */
	READER_OUT,		/* sk_write_space */
};

/**
 * struct smc_reader - the user in the kernel of a connection
 * @entry:	entry in the socket's wait queue
 * @queued:	@entry is in a queue; written under state_lock
 * @work:	calls the user; holds references to the socket and the connection
 * @sk:		the socket
 * @c:		its connection
 * @events:	READER_*
 * @caller:	the task that is calling the user
 * @data_ready:	sk_data_ready of the user that the following is about
 * @lends:	the user may read TCP's queue; under lock_sock
 * @lent:	@caller has lent data, and holds rx_lock; under lock_sock
 * @seen:	rx_cons at which @lends was last right; under lock_sock
 */
struct smc_reader {
	struct wait_queue_entry	entry;
	bool			queued;
	bool			lends;
	bool			lent;
	struct work_struct	work;
	struct sock		*sk;
	struct smc_conn		*c;
	unsigned long		events;
	struct task_struct	*caller;
	void			(*data_ready)(struct sock *sk);
	u64			seen;
};

/* Enter the wait queue, if there is one. */
static void __reader_join(struct smc_conn *c)
{
	struct smc_reader *r = c->reader;
	struct socket_wq *wq;

	lockdep_assert_held(&c->state_lock);
	wq = rcu_dereference_protected(c->wq, lockdep_is_held(&c->state_lock));
	if (!wq || r->queued)
		return;
	add_wait_queue(&wq->wait, &r->entry);
	WRITE_ONCE(r->queued, true);
	/*
	 * Queue the entry before the caller looks at rx_prod. Neither an unlock nor a trylock
	 * implies a full barrier. model/poll.pml: look for data.
	 */
	smp_mb();
}

/* Leave the wait queue before it is replaced or removed. */
static void __reader_leave(struct smc_conn *c)
{
	struct smc_reader *r = c->reader;
	struct socket_wq *wq;

	lockdep_assert_held(&c->state_lock);
	wq = rcu_dereference_protected(c->wq, lockdep_is_held(&c->state_lock));
	if (!wq || !r->queued)
		return;
	remove_wait_queue(&wq->wait, &r->entry);
	WRITE_ONCE(r->queued, false);
}

static void report_data(struct smc_reader *r);

/*
 * Where the FIN follows only when both ends have closed, TCP does not report that the peer has shut
 * down its stream. The user sees that in sk_shutdown, once it has read everything.
 */
static void report_end(struct sock *sk, struct smc_conn *c)
{
	if (!c->late_fin || !(smp_load_acquire(&c->rx_flags) & BIT(SMC_FLAG_DONE)) ||
	    smc_conn_unread(c) || sk->sk_shutdown & RCV_SHUTDOWN)
		return;
	WRITE_ONCE(sk->sk_shutdown, sk->sk_shutdown | RCV_SHUTDOWN);
	sk->sk_state_change(sk);
}

static void call_user(struct smc_reader *r)
{
	struct smc_conn *c = r->c;
	struct sock *sk = r->sk;
	bool in = test_and_clear_bit(READER_IN, &r->events);
	bool out = test_and_clear_bit(READER_OUT, &r->events);

	WRITE_ONCE(r->caller, current);
	/* The user learns of the peer's abort as of a reset, whichever comes first. */
	if (READ_ONCE(c->rx_flags) & BIT(SMC_FLAG_ABORT) && sk->sk_state != TCP_CLOSE)
		__smc_conn_reset_tcp(sk, c);
	if (in)
		report_data(r);
	report_end(sk, c);
	if (out)
		sk->sk_write_space(sk);
	WRITE_ONCE(r->caller, NULL);
}

static void reader_work(struct work_struct *work)
{
	struct smc_reader *r = container_of(work, struct smc_reader, work);
	struct smc_conn *c = r->c;
	struct sock *sk = r->sk;

	lock_sock(sk);
	/* A user that has left may come back at any time, so the entry stays in the queue. */
	if (smc_sk(sk)->conn == c && !sock_flag(sk, SOCK_DEAD) && smc_has_kernel_user(sk))
		call_user(r);
	release_sock(sk);
	smc_conn_put(c);
	sock_put(sk);
}

/* Call the user soon. The caller holds a reference to the connection; any context. */
static void reader_queue(struct smc_reader *r, bool in, bool out)
{
	if (in)
		set_bit(READER_IN, &r->events);
	if (out)
		set_bit(READER_OUT, &r->events);
	smc_conn_get(r->c);
	sock_hold(r->sk);
	if (queue_work(smc_close_wq, &r->work))
		return;
	smc_conn_put(r->c);
	sock_put(r->sk);
}

/*
 * The user may itself call TCP's own callbacks, which wake this queue again: ignore such a wake-up,
 * which comes from the calling task.
 */
static int wake_reader(struct wait_queue_entry *entry, unsigned int mode, int sync,
		       void *key)
{
	struct smc_reader *r = container_of(entry, struct smc_reader, entry);
	bool again = in_task() && READ_ONCE(r->caller) == current;
	__poll_t mask = key ? key_to_poll(key) : EPOLLIN | EPOLLOUT;
	bool in = mask & (EPOLLIN | EPOLLMSG | EPOLLERR | EPOLLHUP), out = mask & EPOLLOUT;

	if (!again && (in || out))
		reader_queue(r, in, out);
	return 0;
}

static struct smc_reader *make_reader(struct sock *sk, struct smc_conn *c)
{
	/* The user's sk_allocation tells whether it serves the reclaim of memory. */
	gfp_t gfp = in_softirq() ? GFP_ATOMIC : sk->sk_allocation;
	struct smc_reader *r = kzalloc(sizeof(*r), gfp | __GFP_NOWARN);

	if (!r)
		return NULL;
	init_waitqueue_func_entry(&r->entry, wake_reader);
	INIT_WORK(&r->work, reader_work);
	r->sk = sk;
	r->c = c;
	return r;
}

/*
 * Make sure that the user is called from now on. Returns 0, also if that is so already, or -ENOMEM.
 * *@fresh tells whether events may have been missed until now.
 */
static int reader_attach(struct sock *sk, struct smc_conn *c, bool *fresh)
{
	struct smc_reader *r = READ_ONCE(c->reader), *spare = NULL;

	*fresh = !r || !READ_ONCE(r->queued);
	if (!*fresh)
		return 0;
	if (!r) {
		spare = make_reader(sk, c);
		if (!spare)
			return -ENOMEM;
	}
	spin_lock_bh(&c->state_lock);
	if (!c->reader) {
		WRITE_ONCE(c->reader, spare);
		spare = NULL;
	}
	__reader_join(c);
	spin_unlock_bh(&c->state_lock);
	kfree(spare);
	return 0;
}

/**
 * smc_conn_attach_user() - a user in the kernel has callbacks of its own, or is about to set them
 * @sk: the socket
 * @c: its connection
 *
 * From now on sk_data_ready and sk_write_space are called when there is something to read, or room
 * to write; and once in any case, for what came before this call.
 *
 * Context: any.
 * Return: 0, or -ENOMEM.
 */
int smc_conn_attach_user(struct sock *sk, struct smc_conn *c)
{
	bool fresh;
	int rc = reader_attach(sk, c, &fresh);

	if (unlikely(!rc && fresh))
		reader_queue(c->reader, true, true);
	return rc;
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
	if (unlikely(c->reader))
		__reader_join(c);
	spin_unlock_bh(&c->state_lock);
}

/**
 * smc_conn_call_reader() - call sk_data_ready: a task that kept the reader from reading is done
 * @c: the connection, which has had a user in the kernel
 *
 * The caller may be a task of the peer, so the socket may be about to end.
 *
 * Context: any.
 */
void smc_conn_call_reader(struct smc_conn *c)
{
	spin_lock_bh(&c->state_lock);
	if (rcu_access_pointer(c->wq))
		reader_queue(c->reader, true, false);
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
		/* Nothing else would report this data again. */
		if (!skb)
			smc_conn_owe(&c->rx_owed, SMC_OWED_READ);
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

/*
 * An actor for feed(): let the user in the kernel look for a packet in TCP's queue. The packet ends
 * where TCP's own data begins, so for the duration of the call, TCP has read less than before.
 */
static int lend(read_descriptor_t *desc, struct sk_buff *skb, unsigned int offset, size_t len)
{
	struct sock *sk = desc->arg.data;
	struct sk_buff *lent = skb_clone(skb, sk->sk_allocation);
	u32 end = tcp_sk(sk)->copied_seq;
	int left;

	if (!lent) {
		smc_conn_owe(&smc_sk(sk)->conn->rx_owed, SMC_OWED_READ);
		return -ENOMEM;
	}
	memset(TCP_SKB_CB(lent), 0, sizeof(*TCP_SKB_CB(lent)));
	TCP_SKB_CB(lent)->seq = end - len;
	TCP_SKB_CB(lent)->end_seq = end;
	TCP_SKB_CB(lent)->tcp_flags = TCPHDR_ACK;
	WRITE_ONCE(tcp_sk(sk)->copied_seq, end - len);
	__skb_queue_head(&sk->sk_receive_queue, lent);
	desc->written++;
	sk->sk_data_ready(sk);
	left = end - tcp_sk(sk)->copied_seq;
	if (left <= 0)
		return len;
	/* What has been read completely, TCP has freed. */
	__skb_unlink(lent, &sk->sk_receive_queue);
	kfree_skb(lent);
	WRITE_ONCE(tcp_sk(sk)->copied_seq, end);
	return len - left;
}

/* Lend what has arrived. Returns whether sk_data_ready has been called, or will be. */
static bool lend_data(struct smc_reader *r)
{
	read_descriptor_t desc = { .arg.data = r->sk, .count = 1 };
	struct smc_conn *c = r->c;
	int n = 0;

	if (!smc_conn_trylock(&c->rx_lock, &c->rx_owed, SMC_OWED_READ))
		return true;
	if (c->rx_cons != r->seen)
		r->lends = false;
	r->lent = true;
	if (r->lends)
		n = feed(r->sk, c, &desc, lend);
	r->lent = false;
	r->seen = c->rx_cons;
	smc_recv_count(r->sk, c, max(n, 0));
	smc_conn_rx_unlock(c);
	return desc.written || n == -ENOMEM;
}

static void report_data(struct smc_reader *r)
{
	struct sock *sk = r->sk;

	if (r->data_ready != sk->sk_data_ready) {
		r->data_ready = sk->sk_data_ready;
		r->lends = true;
		r->seen = smc_count_read(&r->c->rx_cons);
	}
	if (!r->lends || !lend_data(r))
		sk->sk_data_ready(sk);
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
	struct smc_reader *r;
	bool fresh, nested;
	int rc;

	rc = reader_attach(sk, c, &fresh);
	if (rc)
		return rc;
	r = c->reader;
	r->data_ready = sk->sk_data_ready;
	r->lends = false;
	if (in_interrupt()) {
		reader_queue(r, true, false);
		return 0;
	}
	nested = r->lent && r->caller == current;
	/* rx_lock nests outside the socket's lock, which we hold, so only try it. */
	if (!nested && !smc_conn_trylock(&c->rx_lock, &c->rx_owed, SMC_OWED_READ))
		return 0;
	rc = feed(sk, c, desc, actor);
	smc_recv_count(sk, c, max(rc, 0));
	if (!nested)
		smc_conn_rx_unlock(c);
	trace_smc_rx_recvmsg(sk, c->dev, max(rc, 0));
	return rc;
}
