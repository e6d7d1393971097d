// SPDX-License-Identifier: GPL-2.0
/* Receiving: copy out of the ring, tell the peer what is free again; poll. */
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/uio.h>
#include <net/busy_poll.h>
#include <net/tcp.h>
#include "../fabric/fabric.h"
#include "../stats.h"
#include "../trace.h"
#include "conn.h"
#include "reader.h"
#include "urgent.h"

/*
 * Copy @len bytes from position @seq to the user, around the end of the ring; as
 * in send.c without the check of hardened usercopy.
 */
static __always_inline size_t drain(struct smc_conn *c, u64 seq, struct iov_iter *to, size_t len)
{
	u32 pos = seq & (c->rx_size - 1);
	size_t first = min_t(size_t, len, c->rx_size - pos);
	size_t done = _copy_to_iter(c->rx_buf + pos, first, to);

	if (unlikely(done == first && len > first))
		done += _copy_to_iter(c->rx_buf, len - first, to);
	return done;
}

/* Would a receiver that finds no data return at once? */
static bool rx_ended(struct sock *sk, struct smc_conn *c)
{
	return smc_conn_rx_ended(c) || READ_ONCE(sk->sk_err) ||
	       smc_conn_rcv_shutdown(c, sk) || READ_ONCE(sk->sk_state) == TCP_CLOSE;
}

static __always_inline bool nothing_at(struct sock *sk, struct smc_conn *c, u64 seq)
{
	return (s64)(smp_load_acquire(&c->rx_prod) - seq) <= 0 && !rx_ended(sk, c);
}

/*
 * SO_BUSY_POLL: look at the peer's cursor for so long before going to sleep.  Each time in a
 * row that nothing comes halves the time, down to a sixteenth, and data give it back.
 */
static noinline bool poll_for_data(struct sock *sk, struct smc_conn *c, u64 seq)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	unsigned long usecs = READ_ONCE(sk->sk_ll_usec) >> c->rx_idle;
	unsigned long end = busy_loop_current_time() + usecs;

	do {
		if (!nothing_at(sk, c, seq)) {
			WRITE_ONCE(c->rx_idle, 0);
			return true;
		}
		/* Who else wants the processor, or this thread, is not kept waiting. */
		if (need_resched() || signal_pending(current))
			return false;
		cpu_relax();
	} while (time_before(busy_loop_current_time(), end));
	if (c->rx_idle < SMC_CONN_MAX_IDLE)
		WRITE_ONCE(c->rx_idle, c->rx_idle + 1);
#endif
	return false;
}

#ifdef CONFIG_SMC_TEST
/* For tests: wakes every other receiver that is about to sleep, without any news for it. */
static bool idle_wakes;
module_param(idle_wakes, bool, 0600);
MODULE_PARM_DESC(idle_wakes, "wake receivers that are about to sleep");

static void test_idle_wake(struct smc_conn *c)
{
	static atomic_t turn;

	if (READ_ONCE(idle_wakes) && atomic_inc_return(&turn) & 1)
		smc_conn_wake_all(c);
}
#else
static inline void test_idle_wake(struct smc_conn *c) { }
#endif

/* Sleep until there may be something at @seq. */
static void sleep_for_data(struct sock *sk, struct smc_conn *c, u64 seq,
			   long *timeo)
{
	/* Told not to be cleared first: this is on the way that decides about latency. */
	struct smc_wait w __uninitialized;
	bool slot;

	if (unlikely(sk_can_busy_loop(sk)) && poll_for_data(sk, c, seq))
		return;
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	smc_wait_begin(&w, EPOLLIN);
	__set_current_state(TASK_INTERRUPTIBLE);
	slot = smc_slot_take(c, &w);
	test_idle_wake(c);
	if (unlikely(!slot))
		smc_wait_arm(&w, sk);
	if (nothing_at(sk, c, seq))
		*timeo = smc_wait_sleep(*timeo);
	if (likely(slot)) {
		__set_current_state(TASK_RUNNING);
		smc_slot_leave(c, &w);
	} else {
		smc_wait_end(&w, sk);
	}
	sk_clear_bit(SOCKWQ_ASYNC_WAITDATA, sk);
}

static void wait_for_data(struct sock *sk, struct smc_conn *c, u64 seq,
			  long *timeo)
{
	mutex_unlock(&c->rx_lock);
	sleep_for_data(sk, c, seq, timeo);
	mutex_lock(&c->rx_lock);
}

/*
 * Nothing was received and nothing more will come.  Returns 0 for the end of the stream,
 * a negative errno, in the order in which TCP looks, or 1 if it was not the end after all.
 */
static int rx_end(struct sock *sk, struct smc_conn *c)
{
	unsigned long flags = READ_ONCE(c->rx_flags);

	smc_conn_heed_abort(sk, c, flags);
	if (c->late_fin ? flags & BIT(SMC_FLAG_BROKEN) : sock_flag(sk, SOCK_DONE))
		return 0;
	if (sk->sk_err)
		return sock_error(sk);
	if (smc_conn_rx_ended(c) || smc_conn_rcv_shutdown(c, sk))
		return 0;
	if (sk->sk_state == TCP_CLOSE)
		return -ENOTCONN;
	return 1;
}

/*
 * There is nothing at *@seq.  Returns 1 when it is worth to look again, perhaps
 * at another place; otherwise what to return if nothing has been received.
 */
static int no_data(struct sock *sk, struct smc_conn *c, u64 *seq, long *timeo,
		   int flags, size_t copied)
{
	if (unlikely(rx_ended(sk, c))) {
		/*
		 * What ended the stream came after the last data: look once more, and
		 * only now.  An end that comes later than this look may have data with it.
		 */
		smp_rmb();
		if ((s64)(smp_load_acquire(&c->rx_prod) - *seq) > 0)
			return 1;
		return copied ? 0 : rx_end(sk, c);
	}
	if (!*timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(*timeo);
	wait_for_data(sk, c, *seq, timeo);
	/* Someone else may have taken the data meanwhile. */
	if (!(flags & MSG_PEEK) || (s64)(c->rx_cons - *seq) > 0)
		*seq = c->rx_cons;
	return 1;
}

/* A large copy is done in parts, so that the sender can go on meanwhile. */
static size_t take(struct smc_conn *c, struct msghdr *msg, u64 seq, size_t len,
		   int flags)
{
	len = smc_conn_piece(c->rx_size, len);
	if (unlikely(flags & MSG_TRUNC))
		return len;
	return drain(c, seq, &msg->msg_iter, len);
}

/* What is in front of the next byte is free again. */
static __always_inline void consume(struct smc_conn *c, u64 seq)
{
	WRITE_ONCE(c->rx_cons, seq);
	c->fabric->ops->consumed(c);
}

/*
 * There is, or was, urgent data.  Returns 0 and how much may be read in *@n; 1 to look
 * again, at another place; or why to stop.
 */
static int mind_urgent(struct sock *sk, struct smc_conn *c, u64 *seq, size_t *n,
		       size_t copied, long timeo, int flags)
{
	struct smc_urgent_at at = {
		.seq = *seq, .n = *n, .copied = copied, .timeo = timeo,
	};
	int rc = smc_urgent_step(sk, c, &at);

	*seq = at.seq;
	*n = at.n;
	if (rc > 0 && !(flags & MSG_PEEK))
		consume(c, at.seq);
	return rc;
}

static __always_inline void count_call(struct sock *sk, struct smc_conn *c, size_t copied)
{
	if (likely(copied - 1 < SMC_CONN_SMALL_CALL))
		c->rx_calls++;
	else if (copied)
		smc_stats_large_recv(sk, c, copied);
}

/**
 * smc_conn_recvmsg() - receive on an established connection
 * @sk: the socket
 * @c: its connection
 * @msg: where to
 * @len: bytes wanted
 * @flags: MSG_DONTWAIT, MSG_PEEK, MSG_WAITALL, MSG_TRUNC are honoured
 *
 * Context: process, without lock_sock.
 * Return: bytes received, 0 at the end of the stream, or a negative errno as
 * TCP would give it.
 */
int smc_conn_recvmsg(struct sock *sk, struct smc_conn *c, struct msghdr *msg,
		     size_t len, int flags)
{
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	size_t target = sock_rcvlowat(sk, flags & MSG_WAITALL, len);
	size_t copied = 0, n;
	u64 seq, unread;
	int rc = 0;

	/* The usual sleep, before the lock is taken; who else reads finds out below. */
	seq = READ_ONCE(c->rx_cons);
	if (timeo && nothing_at(sk, c, seq) && !signal_pending(current))
		sleep_for_data(sk, c, seq, &timeo);
	mutex_lock(&c->rx_lock);
	seq = c->rx_cons;
	if (unlikely(flags & MSG_PEEK))
		seq += max(sk_peek_offset(sk, flags), 0);
	do {
		unread = smp_load_acquire(&c->rx_prod) - seq;
		if (unlikely((s64)unread <= 0)) {
			if (copied >= target)
				break;
			rc = no_data(sk, c, &seq, &timeo, flags, copied);
			if (rc <= 0)
				break;
			continue;
		}
		n = min_t(u64, unread, len - copied);
		if (unlikely(READ_ONCE(c->urg_data))) {
			rc = mind_urgent(sk, c, &seq, &n, copied, timeo, flags);
			if (rc < 0)
				break;
			if (rc)
				continue;
		}
		n = take(c, msg, seq, n, flags);
		if (unlikely(!n && len)) {
			rc = -EFAULT;
			break;
		}
		seq += n;
		copied += n;
		if (unlikely(flags & MSG_PEEK)) {
			sk_peek_offset_fwd(sk, n);
			continue;
		}
		if (unlikely(unread > n))
			smc_stats_left_unread(sk, c, unread, copied == len);
		sk_peek_offset_bwd(sk, n);
		consume(c, seq);
	} while (copied < len);
	count_call(sk, c, copied);
	mutex_unlock(&c->rx_lock);
	trace_smc_rx_recvmsg(sk, c->dev, copied);
	return copied ? copied : rc;
}

/* Readers in the kernel take packets, and may keep them: a copy. */
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
	drain(c, seq, &to, len);
	return skb;
}

/* Give @actor what there is until it wants no more; the caller holds rx_lock. */
static int feed(struct sock *sk, struct smc_conn *c, read_descriptor_t *desc,
		sk_read_actor_t actor)
{
	u64 seq = c->rx_cons, unread;
	struct sk_buff *skb;
	int copied = 0, used;
	size_t n;

	while ((s64)(unread = smp_load_acquire(&c->rx_prod) - seq) > 0) {
		n = unread;
		if (unlikely(READ_ONCE(c->urg_data))) {
			used = mind_urgent(sk, c, &seq, &n, copied, 0, 0);
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
		consume(c, seq);
		if (!desc->count)
			break;
	}
	return copied;
}

/**
 * smc_conn_read_sock() - hand what has arrived to a reader in the kernel
 * @sk: the socket, locked
 * @c: its connection
 * @desc: for @actor; reading stops when its count is 0
 * @actor: takes all or some of the packet it is given, or says why not
 *
 * From the first call on sk_data_ready is called when there is something to read, see
 * struct smc_reader.  Does nothing but bring this about where it may not sleep, and while
 * somebody else receives.
 *
 * Context: that of a socket's owner; reads in process context only.
 * Return: bytes taken, 0 if there are none, or a negative errno, -ENOMEM or @actor's.
 */
int smc_conn_read_sock(struct sock *sk, struct smc_conn *c, read_descriptor_t *desc,
		       sk_read_actor_t actor)
{
	int rc = smc_reader_attach(sk, c);

	if (rc)
		return rc;
	/* This lock comes before the socket's, so it cannot be waited for. */
	if (in_interrupt() || !mutex_trylock(&c->rx_lock)) {
		smc_reader_queue(c->reader);
		return 0;
	}
	rc = feed(sk, c, desc, actor);
	count_call(sk, c, max(rc, 0));
	mutex_unlock(&c->rx_lock);
	trace_smc_rx_recvmsg(sk, c->dev, max(rc, 0));
	return rc;
}

static bool readable(struct sock *sk, struct smc_conn *c)
{
	u64 unread = smc_conn_unread(c) - smc_urgent_hidden(sk, c);
	u64 target = sock_rcvlowat(sk, 0, INT_MAX);

	/* More than nearly full it will never be. */
	return unread && unread >= min_t(u64, target, c->rx_size - c->rx_size / 4);
}

static bool writable(struct smc_conn *c)
{
	return smc_conn_room(c) >= smc_conn_low_room(c);
}

/* The bits and their order are those of tcp_poll(). */
static noinline __poll_t poll_slow(struct sock *sk, struct smc_conn *c)
{
	unsigned long flags = smp_load_acquire(&c->rx_flags);
	__poll_t mask = 0;
	u8 shutdown;

	/* Who is told of an error asks which (SO_ERROR). */
	smc_conn_heed_abort(sk, c, flags);
	shutdown = READ_ONCE(sk->sk_shutdown);
	if (flags)
		shutdown |= RCV_SHUTDOWN;
	else if (c->late_fin && !READ_ONCE(c->shut_rd))
		shutdown &= ~RCV_SHUTDOWN;
	if (shutdown == SHUTDOWN_MASK || inet_sk_state_load(sk) == TCP_CLOSE)
		mask |= EPOLLHUP;
	if (shutdown & RCV_SHUTDOWN)
		mask |= EPOLLIN | EPOLLRDNORM | EPOLLRDHUP;
	if (unlikely(READ_ONCE(c->urg_data))) {
		if (smc_urgent_there(c))
			mask |= EPOLLPRI;
		smc_urgent_keep(sk, c);
	}
	if (readable(sk, c))
		mask |= EPOLLIN | EPOLLRDNORM;

	if (shutdown & SEND_SHUTDOWN || smc_conn_peer_gone(c) || writable(c)) {
		mask |= EPOLLOUT | EPOLLWRNORM;
	} else {
		sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
		WRITE_ONCE(c->tx_blocked, true);
		/* Pairs with the barrier between tx_cons and tx_blocked. */
		smp_mb();
		if (writable(c))
			mask |= EPOLLOUT | EPOLLWRNORM;
	}
	if (READ_ONCE(sk->sk_err) || !skb_queue_empty_lockless(&sk->sk_error_queue))
		mask |= EPOLLERR;
	return mask;
}

/*
 * What an event loop asks again and again: both directions are open, nothing is urgent,
 * any byte will do.  Returns 0 for everything else: who may write is in the mask.
 */
static __always_inline __poll_t poll_usual(struct sock *sk, struct smc_conn *c)
{
	if (unlikely(smp_load_acquire(&c->rx_flags) | READ_ONCE(c->urg_data) |
		     READ_ONCE(sk->sk_err) | READ_ONCE(sk->sk_shutdown)) ||
	    inet_sk_state_load(sk) != TCP_ESTABLISHED || READ_ONCE(sk->sk_rcvlowat) != 1 ||
	    !skb_queue_empty_lockless(&sk->sk_error_queue) || !writable(c))
		return 0;
	if (smc_conn_unread(c))
		return EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM;
	return EPOLLOUT | EPOLLWRNORM;
}

/**
 * smc_conn_poll() - what poll() says of an established connection
 * @sk: the socket
 * @c: its connection
 *
 * Context: process, may sleep.
 * Return: the bits of tcp_poll().
 */
__poll_t smc_conn_poll(struct sock *sk, struct smc_conn *c)
{
	__poll_t mask = poll_usual(sk, c);

	return likely(mask) ? mask : poll_slow(sk, c);
}
