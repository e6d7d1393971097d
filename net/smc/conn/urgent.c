// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent data with TCP's semantics: one byte at a time, removed from the stream unless SO_OOBINLINE
 * is set; a newer urgent byte replaces it; reads stop in front of it.
 *
 * This is the receiving side. The sending side is publish_urgent() in send.c; urgent_limit() in
 * msg.c decides what may not follow an urgent byte over RDMA.
 *
 * The names are TCP's: urg_data is the byte with TCP_URG_*, urg_seq its position in the stream.
 * Once the reader has passed urg_seq, the byte is void, but urg_data is reset to 0 only by the next
 * receiver that comes along, so that the usual read has to check only one word.
 */
#include <linux/sched/signal.h>
#include <linux/uio.h>
#include <net/tcp.h>
#include "conn.h"
#include "ops.h"
#include "ring.h"
#include "urgent.h"

/* urg_seq while the peer has announced urgent data, but not its position. */
#define URG_SOMEWHERE	U64_MAX

static u16 state_of(const struct smc_conn *c)
{
	u16 data = READ_ONCE(c->urg_data);

	return data && smc_count_read(&c->rx_cons) <= smc_count_read(&c->urg_seq) ? data : 0;
}

/*
 * The reader's position; behind the urgent byte if a newer one has replaced that byte in front of
 * the reader.
 */
static u64 base_of(const struct smc_conn *c)
{
	return max(smc_count_read(&c->rx_cons), smc_count_read(&c->urg_hole));
}

static void __send_sigurg(const struct smc_conn *c)
{
	struct sock *sk = __smc_conn_sk(c);

	lockdep_assert_held(&c->state_lock);
	if (sk)
		sk_send_sigurg(sk);
}

/* A newer urgent byte arrives while the reader is right in front of the old one: skip the old. */
static void __overtake(struct smc_conn *c)
{
	const struct sock *sk = __smc_conn_sk(c);
	u16 data = state_of(c);

	lockdep_assert_held(&c->state_lock);
	if (!data || data == TCP_URG_NOTYET || base_of(c) != c->urg_seq)
		return;
	if (c->urg_kept || (sk && !sock_flag(sk, SOCK_URGINLINE)))
		smc_count_set(&c->urg_hole, c->urg_seq + 1);
}

/**
 * smc_conn_urgent() - the peer's data up to @end is urgent
 * @c: the connection
 * @end: the count just after the urgent byte, which is in the element already but not yet announced
 *	by rx_prod
 *
 * Context: any but hard interrupts; the fabric serializes these events.
 */
void smc_conn_urgent(struct smc_conn *c, u64 end)
{
	u64 pos = end - 1;
	u16 byte;

	spin_lock_bh(&c->state_lock);
	/* Already reported. */
	if (end <= c->rx_prod)
		goto out;
	__overtake(c);
	byte = READ_ONCE(c->rx_buf[smc_ring_at(pos, c->rx_size)]);
	c->urg_kept = false;
	smc_count_set(&c->urg_seq, pos);
	WRITE_ONCE(c->urg_data, TCP_URG_VALID | byte);
	if (!c->urg_announced)
		__send_sigurg(c);
	c->urg_announced = false;
out:
	spin_unlock_bh(&c->state_lock);
}

/**
 * smc_conn_urgent_pending() - urgent data was announced, or the announcement is withdrawn
 * @c: the connection
 * @pending: true if urgent data will come
 *
 * Context: as smc_conn_urgent().
 */
void smc_conn_urgent_pending(struct smc_conn *c, bool pending)
{
	spin_lock_bh(&c->state_lock);
	if (pending && !c->urg_announced) {
		if (!state_of(c)) {
			smc_count_set(&c->urg_seq, URG_SOMEWHERE);
			WRITE_ONCE(c->urg_data, TCP_URG_NOTYET);
		}
		__send_sigurg(c);
	} else if (!pending && c->urg_data == TCP_URG_NOTYET) {
		WRITE_ONCE(c->urg_data, 0);
	}
	c->urg_announced = pending;
	spin_unlock_bh(&c->state_lock);
}

/**
 * smc_urgent_step() - advance a reader past or up to an urgent byte
 * @sk: the socket
 * @c: its connection
 * @at: the reader's position and how much it may read; @at->n is reduced to what precedes the mark
 *
 * Return: 0 to read @at->n bytes; 1 if @at->seq has moved past a byte that must not be read; a
 * negative errno to stop, even if data has been read before.
 */
int smc_urgent_step(struct sock *sk, struct smc_conn *c, struct smc_urgent_at *at)
{
	u64 base, ahead;
	int rc = 0;

	spin_lock_bh(&c->state_lock);
	base = base_of(c);
	if (!state_of(c)) {
		WRITE_ONCE(c->urg_data, 0);
		goto out;
	}
	ahead = c->urg_seq - at->seq;
	if (at->seq < base) {
		at->seq = base;
		rc = 1;
	} else if (ahead) {
		at->n = min_t(u64, at->n, ahead);
	} else if (at->copied) {
		rc = -EAGAIN;
	} else if (signal_pending(current)) {
		rc = at->timeo ? sock_intr_errno(at->timeo) : -EAGAIN;
	} else if (c->urg_kept || !sock_flag(sk, SOCK_URGINLINE)) {
		at->seq++;
		rc = 1;
	}
out:
	spin_unlock_bh(&c->state_lock);
	if (rc < 0)
		smc_urgent_keep(sk, c);
	return rc;
}

/**
 * smc_urgent_keep() - let a peer continue that waits until the urgent byte has been read
 * @sk: the socket
 * @c: its connection
 *
 * Once everything before the urgent byte has been read, urg_data has a copy of the byte and its
 * place in the element is no longer needed. A peer that follows RFC 7609 4.7.5 writes nothing until
 * then, while an application may be waiting for the data behind the byte.
 *
 * Context: process.
 */
void smc_urgent_keep(struct sock *sk, struct smc_conn *c)
{
	bool news;

	spin_lock_bh(&c->state_lock);
	news = !c->urg_kept && state_of(c) && base_of(c) == c->urg_seq &&
	       !sock_flag(sk, SOCK_URGINLINE);
	if (news)
		WRITE_ONCE(c->urg_kept, true);
	spin_unlock_bh(&c->state_lock);
	if (news)
		c->ops->urgent(c, SMC_URGENT_TAKEN);
}

/* Take the urgent byte, checking in TCP's order. Returns its TCP_URG_* or a negative errno. */
static int take_byte(struct sock *sk, struct smc_conn *c, int flags)
{
	int data;

	spin_lock_bh(&c->state_lock);
	data = state_of(c);
	if (sock_flag(sk, SOCK_URGINLINE) || !data || data == TCP_URG_READ)
		data = -EINVAL;
	else if (sk->sk_state == TCP_CLOSE && !sock_flag(sk, SOCK_DONE))
		data = -ENOTCONN;
	else if (data & TCP_URG_VALID && !(flags & MSG_PEEK))
		WRITE_ONCE(c->urg_data, TCP_URG_READ);
	spin_unlock_bh(&c->state_lock);
	return data;
}

/**
 * smc_urgent_recv() - recv(MSG_OOB)
 * @sk: the socket
 * @c: its connection
 * @msg: destination
 * @len: number of bytes requested
 * @flags: MSG_PEEK and MSG_TRUNC are honoured; the call never blocks
 *
 * Return: 1 or 0 bytes, or a negative errno as TCP would return it.
 */
int smc_urgent_recv(struct sock *sk, struct smc_conn *c, struct msghdr *msg,
		    size_t len, int flags)
{
	int data = take_byte(sk, c, flags);
	char byte = data;

	if (data < 0)
		return data;
	if (!(data & TCP_URG_VALID))
		return smc_conn_rx_ended(c) || smc_conn_rcv_shutdown(c, sk) ? 0 : -EAGAIN;
	smc_urgent_keep(sk, c);
	msg->msg_flags |= MSG_OOB;
	if (!len) {
		msg->msg_flags |= MSG_TRUNC;
		return 0;
	}
	if (!(flags & MSG_TRUNC) && memcpy_to_msg(msg, &byte, 1))
		return -EFAULT;
	return 1;
}

/**
 * smc_urgent_unread() - number of bytes that can be read, on either side of the mark
 * @sk: the socket
 * @c: its connection
 *
 * This takes no lock. An urgent byte may be announced that has not arrived, and other readers may
 * consume what is counted here.
 *
 * Return: number of bytes.
 */
u64 smc_urgent_unread(const struct sock *sk, const struct smc_conn *c)
{
	u64 prod = smc_count_read_acquire(&c->rx_prod), base = base_of(c);

	if (state_of(c) && smc_count_read(&c->urg_seq) == base &&
	    (READ_ONCE(c->urg_kept) || !sock_flag(sk, SOCK_URGINLINE)))
		base++;
	return prod > base ? prod - base : 0;
}

/**
 * smc_urgent_inq() - SIOCINQ: number of bytes that can be read before the mark
 * @sk: the socket
 * @c: its connection
 *
 * Return: number of bytes.
 */
u64 smc_urgent_inq(const struct sock *sk, const struct smc_conn *c)
{
	u64 prod = smc_count_read_acquire(&c->rx_prod), base = base_of(c);
	u64 end = smc_count_read(&c->urg_seq);

	if (!state_of(c) || sock_flag(sk, SOCK_URGINLINE) || end >= prod)
		end = prod;
	return end > base ? end - base : 0;
}

/**
 * smc_urgent_at_mark() - SIOCATMARK: is the urgent byte the next one?
 * @c: the connection
 *
 * Return: true if it is.
 */
bool smc_urgent_at_mark(const struct smc_conn *c)
{
	return state_of(c) && smc_count_read(&c->urg_seq) == base_of(c);
}

/**
 * smc_urgent_there() - is there an urgent byte that has not been read yet?
 * @c: the connection
 *
 * Return: true if the byte can be read with MSG_OOB.
 */
bool smc_urgent_there(const struct smc_conn *c)
{
	return state_of(c) & TCP_URG_VALID;
}

/**
 * smc_urgent_taken() - up to which count the peer may overwrite the element
 * @c: the connection
 *
 * This reads several fields without a lock, so the result may be lower than an earlier one.
 *
 * Return: a count of bytes, like rx_cons.
 */
u64 smc_urgent_taken(const struct smc_conn *c)
{
	u64 base = base_of(c);

	return base + (READ_ONCE(c->urg_kept) && smc_count_read(&c->urg_seq) == base);
}
