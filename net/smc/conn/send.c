// SPDX-License-Identifier: GPL-2.0
/*
 * Sending: reserve room in the ring, copy the user's data straight into it, commit. If the fabric
 * maps the peer's buffer, that buffer is the ring.
 */
#include <linux/sched/signal.h>
#include <linux/uio.h>
#include <net/tcp.h>
#include "../smc.h"
#include "../stats.h"
#include "../trace.h"
#include "conn.h"
#include "ops.h"
#include "ring.h"
#include "stamp.h"

/* Publish; the caller knows that there is new data. */
static void publish_news(struct smc_conn *c)
{
	lockdep_assert_held(&c->tx_lock);
	/* The task that posts for us may read tx_prod without tx_lock. */
	smc_count_set_release(&c->tx_prod, c->tx_written);
	c->ops->commit(c);
}

/*
 * As publish_news(), but the last byte is urgent. The caller has sent @sent bytes. If there are
 * none, what is held back is an earlier call's, and stays so.
 */
static void publish_urgent(struct sock *sk, struct smc_conn *c, size_t sent)
{
	bool news = c->tx_prod != c->tx_written;

	lockdep_assert_held(&c->tx_lock);
	if (unlikely(!sent)) {
		c->ops->urgent(c, SMC_URGENT_NOT_COMING);
		return;
	}
	if (unlikely(c->tx_stamping))
		smc_stamps_publish(c);
	if (news) {
		smc_count_set(&c->tx_urg, c->tx_written);
		smc_count_set_release(&c->tx_prod, c->tx_written);
		smc_stats_add(sock_net(sk), c, urgents, 1);
	}
	c->ops->urgent(c, news ? SMC_URGENT_HERE : SMC_URGENT_NOT_COMING);
	if (unlikely(c->tx_stamping))
		smc_stamps_published(c);
}

static void publish(struct smc_conn *c)
{
	if (unlikely(c->tx_stamping))
		smc_stamps_publish(c);
	if (c->tx_prod != c->tx_written)
		publish_news(c);
	if (unlikely(c->tx_stamping))
		smc_stamps_published(c);
}

/**
 * smc_conn_publish_held() - publish what has been held back
 * @c: the connection
 *
 * Context: process, holds tx_lock.
 * Return: false if there is such data, but the peer has closed in good order: the data is lost.
 */
bool smc_conn_publish_held(struct smc_conn *c)
{
	lockdep_assert_held(&c->tx_lock);
	if (c->stopped || c->tx_prod == c->tx_written)
		return true;
	if (unlikely(smc_conn_peer_gone(c)))
		return false;
	publish(c);
	return true;
}

/*
 * Does TCP_CORK hold this data back? A user in the kernel removes its cork by tcp_sock_set_cork(),
 * a function of TCP, which does not tell us.
 */
static bool held_by_cork(const struct sock *sk, const struct msghdr *msg)
{
	return tcp_sk(sk)->nonagle & TCP_NAGLE_CORK &&
	       (user_backed_iter(&msg->msg_iter) || !smc_has_kernel_user(sk));
}

/*
 * While corked, hold back less than a quarter of the ring, as TCP holds back partial segments.
 * Urgent data must become visible together with its mark.
 */
static bool corked(struct sock *sk, struct smc_conn *c, const struct msghdr *msg)
{
	bool cork = held_by_cork(sk, msg);
	u32 limit;

	if (msg->msg_flags & MSG_OOB)
		return true;
	if (!(msg->msg_flags & MSG_MORE) && !cork)
		return false;
	limit = smc_conn_low_room(c);
	/* TCP_CORK is a command; MSG_MORE is only a hint for one call. */
	if (!cork)
		limit = min_t(u32, limit,
			      READ_ONCE(smc_net(sock_net(sk))->autocorking_size));
	return c->tx_written - c->tx_prod < limit;
}

/*
 * A request for time stamps must be known before the data are published, so the call does not
 * publish them as usual. Not inline, to leave the usual case its registers.
 */
static noinline bool hold_back_unusual(struct sock *sk, struct smc_conn *c, struct msghdr *msg)
{
	if (msg->msg_flags & SMC_SEND_STAMPED && !msg_data_left(msg))
		smc_stamps_request(sk, c, msg);
	if (corked(sk, c, msg))
		return true;
	if (!(msg->msg_flags & SMC_SEND_STAMPED))
		return false;
	publish(c);
	return true;
}

/* Has the copied data to wait, or has it been published already? */
static __always_inline bool hold_back(struct sock *sk, struct smc_conn *c, struct msghdr *msg)
{
	if (likely(!(msg->msg_flags & (MSG_MORE | MSG_OOB | SMC_SEND_STAMPED)) &&
		   !(tcp_sk(sk)->nonagle & TCP_NAGLE_CORK)))
		return false;
	return hold_back_unusual(sk, c, msg);
}

/* Less than the call asked for was sent, so hold_back() has not seen the last byte. */
static void finish_stamped(struct sock *sk, struct smc_conn *c, struct msghdr *msg)
{
	smc_stamps_request(sk, c, msg);
	if (c->tx_prod == c->tx_written)
		publish(c);
}

/* Finish a call that has held data back or has failed, and has sent @sent bytes. */
static void finish_held(struct sock *sk, struct smc_conn *c, struct msghdr *msg, size_t sent)
{
	int flags = msg->msg_flags;

	if (unlikely(flags & SMC_SEND_STAMPED) && sent && msg_data_left(msg))
		finish_stamped(sk, c, msg);
	if (flags & MSG_OOB)
		publish_urgent(sk, c, sent);
	if (c->tx_prod != c->tx_written)
		smc_conn_start_tx_timer(c);
}

/* A sender may hold tx_lock indefinitely. Then it does this when it has released the lock. */
static void publish_corked(struct smc_conn *c)
{
	bool lost;

	if (!smc_conn_trylock(&c->tx_lock, &c->tx_owed, SMC_OWED_CORK))
		return;
	lost = !smc_conn_publish_held(c);
	smc_conn_tx_unlock(c);
	/* TCP would have sent the data now, and the peer would have answered with a reset. */
	if (unlikely(lost) && !smc_conn_try_reset_tcp(c))
		smc_conn_start_tx_timer(c);
}

/* smc_conn_refuse() has aborted the connection. */
static void reset_refused(struct smc_conn *c)
{
	if (READ_ONCE(c->rx_unwanted) && smc_conn_signaled(c, SMC_FLAG_ABORT) && !c->late_fin &&
	    !smc_conn_try_reset_tcp(c) && !READ_ONCE(c->stopped))
		smc_conn_start_tx_timer(c);
}

/**
 * smc_conn_tx_timer() - publish what has been corked, reset TCP, and look whether the peer reads
 * @work: tx_timer of a connection
 */
void smc_conn_tx_timer(struct work_struct *work)
{
	struct smc_conn *c = container_of(work, struct smc_conn, tx_timer.work);

	publish_corked(c);
	reset_refused(c);
	if (READ_ONCE(c->tx_watched) && smc_conn_keep_watch(c))
		smc_conn_start_tx_timer(c);
	smc_conn_put(c);
}

/**
 * smc_conn_settle_tx() - do what others have left to the owner of tx_lock
 * @c: the connection, referenced; the caller has released tx_lock
 *
 * The owner may be in a page fault for as long as a program likes. So no task that needs the lock
 * polls for it, and none gives up because another one holds it. Each step here may find the lock
 * taken again, and is left to its new owner then.
 *
 * Context: process.
 */
void smc_conn_settle_tx(struct smc_conn *c)
{
	if (test_and_clear_bit(SMC_OWED_ROOM, &c->tx_owed))
		smc_conn_wake_senders(c);
	if (test_and_clear_bit(SMC_OWED_CORK, &c->tx_owed))
		publish_corked(c);
	if (test_and_clear_bit(SMC_OWED_PART, &c->tx_owed))
		c->ops->part(c);
	if (test_and_clear_bit(SMC_OWED_LAST_WORD, &c->tx_owed))
		c->ops->last_word(c);
}

/**
 * smc_conn_uncork() - let the peer see everything that was written
 * @c: the connection
 *
 * Context: process, takes tx_lock.
 */
void smc_conn_uncork(struct smc_conn *c)
{
	bool lost;

	mutex_lock(&c->tx_lock);
	lost = !smc_conn_publish_held(c);
	smc_conn_tx_unlock(c);
	/* As with TCP, the call has succeeded before the reset arrives. */
	if (unlikely(lost))
		smc_conn_run_tx_timer(c);
}

/**
 * smc_conn_stop() - stop publishing data, and cancel the timer
 * @c: the connection, which no system call uses any more
 *
 * Context: process, takes tx_lock, waits for a running tx_timer.
 */
void smc_conn_stop(struct smc_conn *c)
{
	mutex_lock(&c->tx_lock);
	c->stopped = true;
	smc_conn_tx_unlock(c);
	/* Most connections never need it. One that starts it now holds a reference for it. */
	if (READ_ONCE(c->tx_timed) && cancel_delayed_work_sync(&c->tx_timer))
		smc_conn_put(c);
}

/* As fill(), for a copy that reaches or crosses the end of the ring, or the first one after it. */
static noinline size_t fill_around(struct smc_conn *c, struct iov_iter *from, size_t len)
{
	size_t first, done;
	u32 pos;

	lockdep_assert_held(&c->tx_lock);
	pos = smc_ring_at(c->tx_written, c->tx_size);
	c->tx_lap = c->tx_written - pos;
	first = min_t(size_t, len, c->tx_size - pos);
	done = _copy_from_iter(c->tx_buf + pos, first, from);
	if (done == first && len > first)
		done += _copy_from_iter(c->tx_buf, len - first, from);
	return done;
}

/*
 * Copy up to @len bytes into the ring at tx_written. Uses the variant without the check of hardened
 * usercopy: the ring is not a slab object, and these functions enforce its bounds. The check would
 * cost 150 instructions per copy.
 */
static size_t fill(struct smc_conn *c, struct iov_iter *from, size_t len)
{
	u64 pos = c->tx_written - c->tx_lap;

	if (likely(pos + len < c->tx_size))
		return _copy_from_iter(c->tx_buf + pos, len, from);
	return fill_around(c, from, len);
}

/*
 * A task that is to say our last word sets a flag, then looks at tx_lock. A sender takes tx_lock,
 * then looks at the flags. So either the sender stops, or the last word is left to it.
 * model/reuse.pml: take the lock.
 */
static void lock_tx(struct smc_conn *c)
{
	mutex_lock(&c->tx_lock);
	smp_mb__after_atomic();
}

/* Our own flags come before SEND_SHUTDOWN, which TCP or shutdown() sets later. */
static bool tx_ended(struct sock *sk, struct smc_conn *c)
{
	/* Plain reads, as in tcp_sendmsg(): the compiler folds them into the comparisons. */
	return sk->sk_err || READ_ONCE(c->tx_flags) || (sk->sk_shutdown & SEND_SHUTDOWN) ||
	       smc_conn_peer_gone(c);
}

/* After an orderly close by the peer this is false: TCP would not know of the close yet. */
static bool tx_failed(struct sock *sk, struct smc_conn *c)
{
	return READ_ONCE(sk->sk_err) || READ_ONCE(c->tx_flags) ||
	       (READ_ONCE(sk->sk_shutdown) & SEND_SHUTDOWN) ||
	       (READ_ONCE(c->rx_flags) & (BIT(SMC_FLAG_ABORT) | BIT(SMC_FLAG_GIVEN_UP)));
}

/* Returns 0 if the caller should look again; tx_lock is held as before. */
static int wait_for_room(struct sock *sk, struct smc_conn *c, int flags, long *timeo)
{
	struct smc_wait w;
	int rc = 0;

	publish(c);
	smc_count_set(&c->tx_refused, c->tx_written);
	if (flags & MSG_OOB && *timeo)
		c->ops->urgent(c, SMC_URGENT_COMING);
	smc_conn_tx_unlock(c);
	smc_wait_begin(&w, EPOLLOUT);
	for (;;) {
		smc_wait_arm(&w, sk);
		if (!*timeo)
			sk_set_bit(SOCKWQ_ASYNC_NOSPACE, sk);
		smc_conn_ask_for_room(c);
		smc_conn_watch(sk, c);
		if (smc_conn_room(c) >= smc_conn_low_room(c) || READ_ONCE(c->tx_may_grow) ||
		    tx_ended(sk, c))
			break;
		rc = *timeo ? sock_intr_errno(*timeo) : -EAGAIN;
		if (!*timeo || signal_pending(current))
			break;
		rc = 0;
		*timeo = smc_wait_sleep(*timeo);
	}
	smc_wait_end(&w, sk);
	lock_tx(c);
	return rc;
}

/*
 * The peer has closed. TCP would accept the data, be answered with a reset, and report the error on
 * the next call; do the same.
 */
static size_t send_to_nobody(struct sock *sk, struct smc_conn *c,
			     struct msghdr *msg)
{
	size_t n = min_t(size_t, msg_data_left(msg), c->tx_size);

	iov_iter_advance(&msg->msg_iter, n);
	smc_conn_reset_tcp(sk, c);
	return n;
}

/* Why nothing more can be sent; only called if no data has been sent so far. */
static int tx_error(struct sock *sk, struct smc_conn *c, struct msghdr *msg)
{
	smc_conn_handle_peer_abort(sk, c, READ_ONCE(c->rx_flags));
	if (READ_ONCE(sk->sk_err))
		smc_tcp_await_reset(sk);
	return sk_stream_error(sk, msg->msg_flags, -EPIPE);
}

/**
 * smc_conn_sendmsg() - send on an established connection
 * @sk: the socket
 * @c: its connection
 * @msg: the data; MSG_DONTWAIT, MSG_MORE, MSG_NOSIGNAL and MSG_OOB are honoured
 * @len: number of bytes
 *
 * Context: process, without lock_sock.
 * Return: number of bytes sent, which is @len if the call may block, or a negative errno as TCP
 * would return it.
 */
int smc_conn_sendmsg(struct sock *sk, struct smc_conn *c, struct msghdr *msg,
		     size_t len)
{
	long timeo = sock_sndtimeo(sk, msg->msg_flags & MSG_DONTWAIT);
	size_t sent = 0, n;
	bool held = false;
	u64 room;
	int rc = 0;

	if (unlikely(msg->msg_controllen || c->tx_stamping || smc_stamps_untold(sk))) {
		rc = smc_stamps_prepare(sk, c, msg);
		if (rc)
			return tx_failed(sk, c) ? tx_error(sk, c, msg) : rc;
	}
	if (unlikely(!len))
		return tx_failed(sk, c) ? tx_error(sk, c, msg) : 0;
	lock_tx(c);
	do {
		if (unlikely(tx_ended(sk, c))) {
			if (sent)
				break;
			if (tx_failed(sk, c))
				rc = tx_error(sk, c, msg);
			else
				sent = send_to_nobody(sk, c, msg);
			break;
		}
		n = len - sent;
		room = smc_conn_room(c);
		if (unlikely(room < n)) {
			if (c->tx_grows && c->ops->grow(c))
				continue;
			if (!room) {
				smc_stats_no_room(sk, c);
				rc = wait_for_room(sk, c, msg->msg_flags, &timeo);
				if (!rc)
					continue;
				held = true;
				break;
			}
			n = room;
		}
		n = fill(c, &msg->msg_iter, smc_conn_piece(c->tx_size, n));
		if (unlikely(!n)) {
			rc = -EFAULT;
			held = true;
			break;
		}
		smc_count_set(&c->tx_written, c->tx_written + n);
		sent += n;
		held = hold_back(sk, c, msg);
		if (likely(!held))
			publish_news(c);
	} while (sent < len);
	if (likely(len <= SMC_CONN_SMALL_CALL))
		c->tx_calls++;
	else
		smc_stats_large_send(sk, c, len);
	if (unlikely(held) && !c->stopped)
		finish_held(sk, c, msg, sent);
	smc_conn_tx_unlock(c);
	trace_smc_tx_sendmsg(sk, c->dev, sent);
	return sent ? sent : rc;
}
