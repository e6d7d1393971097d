// SPDX-License-Identifier: GPL-2.0
/* Receiving: copy out of the ring, and tell the peer how much room is free again. */
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <net/busy_poll.h>
#include <net/tcp.h>
#include "../trace.h"
#include "conn.h"
#include "recv.h"
#include "ring.h"
#include "stamp.h"
#include "urgent.h"

/**
 * smc_conn_settle_rx() - do what others have left to the owner of rx_lock
 * @c: the connection, referenced; the caller has released rx_lock
 *
 * As smc_conn_settle_tx().
 *
 * Context: process.
 */
void smc_conn_settle_rx(struct smc_conn *c)
{
	if (test_and_clear_bit(SMC_OWED_GROW, &c->rx_owed))
		c->ops->may_grow(c);
	if (test_and_clear_bit(SMC_OWED_READ, &c->rx_owed))
		smc_conn_call_reader(c);
	if (test_and_clear_bit(SMC_OWED_PART, &c->rx_owed))
		c->ops->part(c);
}

/* Should a receiver that finds no data return at once? */
static bool rx_ended(struct sock *sk, struct smc_conn *c)
{
	return smc_conn_rx_ended(c) || READ_ONCE(sk->sk_err) ||
	       smc_conn_rcv_shutdown(c, sk) || READ_ONCE(sk->sk_state) == TCP_CLOSE;
}

static __always_inline bool nothing_at(struct sock *sk, struct smc_conn *c, u64 seq)
{
	return (s64)(smc_count_read_acquire(&c->rx_prod) - seq) <= 0 && !rx_ended(sk, c);
}

/* After this many polls in a row that found nothing, only one of this many receives polls. */
#define VAIN_POLLS	16

/* Decide whether to poll, by the number of receives since a poll last found data. */
static bool may_poll(struct smc_conn *c)
{
	u8 n = READ_ONCE(c->rx_idle);

	WRITE_ONCE(c->rx_idle, n < 2 * VAIN_POLLS - 1 ? n + 1 : VAIN_POLLS);
	return n <= VAIN_POLLS;
}

/*
 * SO_BUSY_POLL: check the peer's cursor for the configured time before sleeping.
 *
 * Each poll takes the full time.  Two ends that poll for less after a single failure never meet
 * again: the wake-up of one end takes longer than the other end polls.
 */
static noinline bool poll_for_data(struct sock *sk, struct smc_conn *c, u64 seq)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	unsigned long end;

	if (!may_poll(c))
		return false;
	end = busy_loop_current_time() + READ_ONCE(sk->sk_ll_usec);
	do {
		if (!nothing_at(sk, c, seq)) {
			WRITE_ONCE(c->rx_idle, 0);
			return true;
		}
		/* Stop polling if another task needs the processor or a signal is pending. */
		if (need_resched() || signal_pending(current))
			return false;
		cpu_relax();
	} while (time_before(busy_loop_current_time(), end));
#endif
	return false;
}

#ifdef CONFIG_SMC_TEST
/* For tests: wakes every other receiver that is about to sleep, although nothing has happened. */
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

/* Sleep until there may be data at @seq. */
static void sleep_for_data(struct sock *sk, struct smc_conn *c, u64 seq,
			   long *timeo)
{
	/* Not initialized, because clearing it costs time on this latency-critical path. */
	struct smc_wait w __uninitialized;
	bool slot;

	if (unlikely(sk_can_busy_loop(sk)) && poll_for_data(sk, c, seq))
		return;
	sk_set_bit(SOCKWQ_ASYNC_WAITDATA, sk);
	smc_wait_begin(&w, EPOLLIN | EPOLLMSG);
	/* Set the state before a waker can find us. model/reader.pml: be asleep. */
	__set_current_state(TASK_INTERRUPTIBLE);
	slot = smc_slot_take(c, &w);
	test_idle_wake(c);
	if (unlikely(!slot))
		smc_wait_arm(&w, sk);
	/* Both paths above imply a full barrier. model/reader.pml: look for data. */
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
	smc_conn_rx_unlock(c);
	sleep_for_data(sk, c, seq, timeo);
	mutex_lock(&c->rx_lock);
}

/*
 * Has TCP received the peer's FIN? After an error, ask under the lock: the task that resets TCP
 * clears the flag for a moment, and the FIN may be in the backlog.
 */
static bool fin_received(struct sock *sk)
{
	bool done = sock_flag(sk, SOCK_DONE);

	if (!done && READ_ONCE(sk->sk_err)) {
		smc_tcp_await_reset(sk);
		done = sock_flag(sk, SOCK_DONE);
	}
	return done;
}

/**
 * smc_conn_rx_end() - how does the stream end, if no more data can be received?
 * @sk: the socket
 * @c: its connection
 *
 * Context: process, the socket is not locked.
 * Return: 0 for the end of the stream, a negative errno, in the order in which TCP checks, or 1 if
 * it has not ended.
 */
int smc_conn_rx_end(struct sock *sk, struct smc_conn *c)
{
	unsigned long flags = READ_ONCE(c->rx_flags);
	int err = 0;

	smc_conn_handle_peer_abort(sk, c, flags);
	if (smc_conn_end_came_first(flags) || (!c->late_fin && fin_received(sk)))
		return 0;
	if (READ_ONCE(sk->sk_err)) {
		smc_tcp_await_reset(sk);
		err = sock_error(sk);
	}
	/*
	 * The error has been taken, or TCP had ended in good order before; or so had the stream,
	 * when its reset became an EPIPE for senders.
	 */
	if (READ_ONCE(c->rx_lost) && (!err || err == -EPIPE))
		err = -ECONNRESET;
	if (err) {
		WRITE_ONCE(c->rx_lost, false);
		return err;
	}
	if (smc_conn_rx_ended(c) || smc_conn_rcv_shutdown(c, sk))
		return 0;
	if (sk->sk_state == TCP_CLOSE)
		return -ENOTCONN;
	return 1;
}

/*
 * There is no data at *@seq. Returns 1 if the caller should look again, possibly at another
 * position; otherwise the result to return if nothing has been received.
 */
static int no_data(struct sock *sk, struct smc_conn *c, u64 *seq, long *timeo,
		   int flags, size_t copied)
{
	if (unlikely(rx_ended(sk, c))) {
		/*
		 * The event that ended the stream came after the last data, so check once more for
		 * data that arrived before it. An end that comes after this check may be
		 * accompanied by data.
		 */
		smp_rmb();
		if ((s64)(smc_count_read_acquire(&c->rx_prod) - *seq) > 0)
			return 1;
		return copied ? 0 : smc_conn_rx_end(sk, c);
	}
	if (!*timeo)
		return -EAGAIN;
	if (signal_pending(current))
		return sock_intr_errno(*timeo);
	wait_for_data(sk, c, *seq, timeo);
	/* Another task may have read the data meanwhile. */
	if (!(flags & MSG_PEEK) || (s64)(c->rx_cons - *seq) > 0)
		*seq = c->rx_cons;
	return 1;
}

/**
 * smc_recv_copy_around() - smc_recv_copy() for a copy that reaches or crosses the end of the ring
 * @c: the connection; the caller holds rx_lock
 * @seq: count of the first byte to copy
 * @to: destination
 * @len: number of bytes
 *
 * Return: number of bytes copied.
 */
noinline size_t smc_recv_copy_around(struct smc_conn *c, u64 seq, struct iov_iter *to, size_t len)
{
	u32 pos = smc_ring_at(seq, c->rx_size);
	size_t first = min_t(size_t, len, c->rx_size - pos), done;

	lockdep_assert_held(&c->rx_lock);
	/* Not the lap of @seq: a read starts at rx_cons, and positions must not be negative. */
	c->rx_lap = c->rx_cons - smc_ring_at(c->rx_cons, c->rx_size);
	done = _copy_to_iter(c->rx_buf + pos, first, to);
	if (done == first && len > first)
		done += _copy_to_iter(c->rx_buf, len - first, to);
	return done;
}

/* A large copy is done in parts, so that the sender can continue meanwhile. */
static size_t take(struct smc_conn *c, struct msghdr *msg, u64 seq, size_t len,
		   int flags)
{
	len = smc_conn_piece(c->rx_size, len);
	if (unlikely(flags & MSG_TRUNC))
		return len;
	return smc_recv_copy(c, seq, &msg->msg_iter, len);
}

/**
 * smc_recv_mind_urgent() - handle an urgent byte at or after the reader's position
 * @sk: the socket
 * @c: its connection; the caller holds rx_lock
 * @seq: count of the next byte to read; advanced past bytes that must not be read
 * @n: number of bytes that may be read; reduced to what precedes the mark
 * @copied: number of bytes that the call has read already
 * @timeo: how long the call may wait
 * @flags: MSG_PEEK is honoured
 *
 * Return: 0 to read, 1 to look again at another position, or a negative errno to stop.
 */
int smc_recv_mind_urgent(struct sock *sk, struct smc_conn *c, u64 *seq, size_t *n,
			 size_t copied, long timeo, int flags)
{
	struct smc_urgent_at at = {
		.seq = *seq, .n = *n, .copied = copied, .timeo = timeo,
	};
	int rc = smc_urgent_step(sk, c, &at);

	*seq = at.seq;
	*n = at.n;
	if (rc > 0 && !(flags & MSG_PEEK))
		smc_recv_consume(c, at.seq);
	return rc;
}

/**
 * smc_conn_recvmsg() - receive on an established connection
 * @sk: the socket
 * @c: its connection
 * @msg: destination
 * @len: number of bytes requested
 * @flags: MSG_DONTWAIT, MSG_PEEK, MSG_WAITALL and MSG_TRUNC are honoured
 *
 * Context: process, without lock_sock.
 * Return: number of bytes received, 0 at the end of the stream, or a negative errno as TCP would
 * return it.
 */
int smc_conn_recvmsg(struct sock *sk, struct smc_conn *c, struct msghdr *msg,
		     size_t len, int flags)
{
	long timeo = sock_rcvtimeo(sk, flags & MSG_DONTWAIT);
	size_t target = sock_rcvlowat(sk, flags & MSG_WAITALL, len);
	size_t copied = 0, n;
	u64 seq, unread;
	int rc = 0;

	/* The usual sleep, without the lock; the code below detects concurrent readers. */
	seq = smc_count_read(&c->rx_cons);
	if (timeo && nothing_at(sk, c, seq) && !signal_pending(current)) {
		sleep_for_data(sk, c, seq, &timeo);
		/* As TCP: a call for no bytes does not look why it was woken. */
		if (unlikely(!len)) {
			smc_recv_inq(sk, c, msg);
			return 0;
		}
	}
	mutex_lock(&c->rx_lock);
	seq = c->rx_cons;
	if (unlikely(flags & MSG_PEEK))
		seq += max(sk_peek_offset(sk, flags), 0);
	do {
look:
		unread = smc_count_read_acquire(&c->rx_prod) - seq;
		if (unlikely((s64)unread <= 0)) {
			if (copied >= target)
				break;
			rc = no_data(sk, c, &seq, &timeo, flags, copied);
			if (rc > 0 && len)
				goto look;
			break;
		}
		n = min_t(u64, unread, len - copied);
		if (unlikely(READ_ONCE(c->urg_data)) && len) {
			rc = smc_recv_mind_urgent(sk, c, &seq, &n, copied, timeo, flags);
			if (rc < 0)
				break;
			if (rc)
				goto look;
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
		smc_recv_consume(c, seq);
	} while (copied < len);
	smc_recv_count(sk, c, copied);
	if (unlikely(c->rx_cmsgs || msg->msg_get_inq || smc_stamps_untold(sk)) &&
	    (copied || rc >= 0))
		smc_recv_cmsgs(sk, c, msg, seq, copied);
	smc_conn_rx_unlock(c);
	trace_smc_rx_recvmsg(sk, c->dev, copied);
	return copied ? copied : min(rc, 0);
}
