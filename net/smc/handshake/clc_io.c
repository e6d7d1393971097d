// SPDX-License-Identifier: GPL-2.0
/* CLC messages travel as data of the TCP connection: functions to send and receive one. */
#include <linux/uio.h>
#include "internal.h"

/*
 * A struct socket that is lent to a child before accept() while TCP sends for the child.
 *
 * When memory is short, TCP's sendmsg() sets flags in sk_socket and adds itself to the wait queue
 * of sk_wq before it checks whether it may sleep. A child that has not been accepted has neither
 * sk_socket nor sk_wq, so both are lent to it. All children share the same ones: they never sleep
 * here, so nobody is woken, and the only flag ever set is SOCK_NOSPACE, which nothing reads here.
 * accept() cannot interfere, because the socket is locked meanwhile.
 */
static struct socket_alloc nobody = {
	.socket.wq.wait = __WAIT_QUEUE_HEAD_INITIALIZER(nobody.socket.wq.wait),
};

static bool lend_socket(struct sock *sk)
{
	if (sk->sk_socket)
		return false;
	/* Not sk_set_socket(), because from 6.17 on it would make root the owner of the child. */
	WRITE_ONCE(sk->sk_socket, &nobody.socket);
	rcu_assign_pointer(sk->sk_wq, &nobody.socket.wq);
	return true;
}

static void take_socket_back(struct sock *sk)
{
	WRITE_ONCE(sk->sk_socket, NULL);
	RCU_INIT_POINTER(sk->sk_wq, NULL);
}

/* TCP's sendmsg() under a spin lock: it must not sleep. */
static int send_locked(struct sock *sk, const u8 *buf, unsigned int len)
{
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	gfp_t gfp = sk->sk_allocation;
	typeof(sk->sk_tsflags) tsflags = sk->sk_tsflags;
	u8 nonagle = tcp_sk(sk)->nonagle;
	int err = READ_ONCE(sk->sk_err);
	bool lent = lend_socket(sk);
	int rc;

	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, len);
	/* The application's TCP_CORK must not delay the handshake. */
	tcp_sk(sk)->nonagle &= ~TCP_NAGLE_CORK;
	/* Nor may the application get the times at which CLC messages are sent. */
	WRITE_ONCE(sk->sk_tsflags, 0);
	sk->sk_allocation = GFP_ATOMIC;
	rc = tcp_sendmsg_locked(sk, &msg, len);
	sk->sk_allocation = gfp;
	WRITE_ONCE(sk->sk_tsflags, tsflags);
	tcp_sk(sk)->nonagle = nonagle;
	if (lent)
		take_socket_back(sk);
	/* The error is the application's: restore sk_err, which TCP's sendmsg() has cleared. */
	if (rc < 0 && rc != -EAGAIN && (rc != -EPIPE || err) && !sk->sk_err)
		WRITE_ONCE(sk->sk_err, -rc);
	return rc;
}

/**
 * smc_clc_send() - queue a message, to be sent before anything else happens
 * @hs: the handshake; the message is in hs->area.buf
 * @len: length of the message, or the negative errno of its encoder
 */
void smc_clc_send(struct smc_handshake *hs, int len)
{
	if (WARN_ON_ONCE(len < 0)) {
		smc_hs_end_reset(hs, SMC_REASON_INTERNAL, ECONNRESET);
		return;
	}
	hs->sent = 0;
	hs->to_send = len;
}

/*
 * TCP does not take the message. If TCP has ended, the next step finds out why: the peer may have
 * sent a Decline before. But nothing is read after a Confirm.
 */
static void not_sent(struct smc_handshake *hs, bool over)
{
	if (!over)
		smc_hs_end_reset(hs, hs->reason ?: SMC_REASON_INTERNAL, ECONNRESET);
	else if (hs->step == SMC_HS_FINISH && hs->verdict == SMC_HS_OPEN)
		smc_hs_end_reset(hs, SMC_REASON_PEER_CLOSED, ECONNRESET);
	else
		smc_hs_forget_unsent(hs);
}

/**
 * smc_clc_flush() - pass the rest of a message to TCP
 * @hs: the handshake
 *
 * Context: the handshake's work item.
 * Return: true if the state machine may go on, because TCP has taken the whole message, or can take
 * no more and the handshake ends. False if the state machine runs again later: when the owner
 * releases the socket, or soon.
 */
bool smc_clc_flush(struct smc_handshake *hs)
{
	struct sock *sk = hs->sk;
	u8 *buf = hs->area.buf;
	bool mine, over;
	int rc;

	mine = smc_hs_lock(hs);
	rc = mine ? send_locked(sk, buf + hs->sent, hs->to_send) : 0;
	over = sk->sk_state == TCP_CLOSE;
	if (rc > 0)
		clear_bit(SMC_HS_ACCEPTED, &hs->flags);
	if (rc > 0 && hs->step == SMC_HS_ACCEPT && hs->verdict == SMC_HS_OPEN)
		set_bit(SMC_HS_PROPOSED, &hs->flags);
	smc_hs_unlock(hs);
	if (!mine)
		return false;
	if (rc > 0) {
		hs->sent += rc;
		hs->to_send -= rc;
	}
	if (rc == -EAGAIN || (rc > 0 && hs->to_send)) {
		/* Memory is short: retry soon. */
		smc_hs_kick_at(hs, jiffies + 1);
		return false;
	}
	trace_smc_clc_sent(sk, buf, hs->sent + hs->to_send, rc < 0 ? rc : 0);
	if (rc < 0)
		not_sent(hs, over);
	hs->to_send = 0;
	return true;
}

/**
 * smc_clc_send_last() - send a message in front of the end of the TCP connection
 * @hs: the handshake, which is in no message
 * @buf: the message
 * @len: its length, or the negative errno of its encoder
 *
 * Context: any; the caller holds the socket's lock.
 */
void smc_clc_send_last(struct smc_handshake *hs, const u8 *buf, int len)
{
	struct tcp_sock *tp = tcp_sk(hs->sk);
	u8 nonagle = tp->nonagle;
	int rc;

	if (WARN_ON_ONCE(len < 0))
		return;
	/* What Nagle's algorithm holds back, a reset discards. */
	tp->nonagle |= TCP_NAGLE_OFF;
	rc = send_locked(hs->sk, buf, len);
	tp->nonagle = nonagle;
	trace_smc_clc_sent(hs->sk, buf, len, min(rc, 0));
}

/* How many bytes the message, or its header, still lacks. */
static int bytes_wanted(struct smc_handshake *hs, int *verdict)
{
	unsigned int want = SMC_CLC_HDR_LEN;

	*verdict = 0;
	if (hs->have >= SMC_CLC_HDR_LEN) {
		*verdict = smc_clc_decode_hdr(hs->area.buf, hs->have, &hs->hdr);
		want = hs->hdr.len;
		if (*verdict == -EPROTO || want > sizeof(hs->area.buf) ||
		    want < hs->have)
			return -EPROTO;
	}
	return want - hs->have;
}

/* Called by TCP for each piece of its receive queue: copy what belongs to the message. */
static int take_bytes(read_descriptor_t *desc, struct sk_buff *skb,
		      unsigned int offset, size_t len)
{
	struct smc_handshake *hs = desc->arg.data;
	int used = 0, want, n;

	while (used < len) {
		want = bytes_wanted(hs, &desc->error);
		if (want < 0)
			desc->error = want;
		if (want <= 0) {
			desc->count = 0;
			break;
		}
		n = min_t(int, want, len - used);
		if (skb_copy_bits(skb, offset + used, hs->area.buf + hs->have, n))
			break;
		hs->have += n;
		used += n;
	}
	return used;
}

/*
 * The queue is empty and the message is incomplete. Between messages, the application should see
 * the end of the stream or TCP's error. Within a message, either violates the protocol.
 */
static int incomplete(const struct smc_handshake *hs)
{
	const struct sock *sk = hs->sk;

	if (!sk->sk_err && !(sk->sk_shutdown & RCV_SHUTDOWN) &&
	    sk->sk_state != TCP_CLOSE)
		return -EAGAIN;
	return hs->have ? -EPROTO : -ECONNABORTED;
}

/*
 * How long until a handshake looks for data that TCP does not report. The time doubles with each
 * look, this often.
 */
#define LOWAT_TIME	(1 + HZ / 100)
#define LOWAT_DOUBLES	5

/*
 * TCP reports data only once SO_RCVLOWAT bytes have arrived, and a message may be shorter; and to a
 * user in the kernel that has replaced our callback, it does not report to us at all.
 */
static int await_bytes(struct smc_handshake *hs)
{
	if (unlikely(READ_ONCE(hs->sk->sk_rcvlowat) > 1 || hs->ops->misses_events(hs->sk))) {
		smc_hs_kick_at(hs, jiffies + (LOWAT_TIME << hs->looks));
		hs->looks = min(hs->looks + 1, LOWAT_DOUBLES);
	}
	return -EAGAIN;
}

/* Copies the first bytes of TCP's receive queue, up to @len; returns how many there are. */
static unsigned int peek(const struct sock *sk, u8 *to, unsigned int len)
{
	unsigned int have = 0;
	struct sk_buff *skb;

	lockdep_assert(lockdep_sock_is_held(sk));
	skb_queue_walk(&sk->sk_receive_queue, skb) {
		u32 offset = tcp_sk(sk)->copied_seq + have - TCP_SKB_CB(skb)->seq;
		unsigned int n;

		if (offset >= skb->len)
			continue;
		n = min(skb->len - offset, len - have);
		if (skb_copy_bits(skb, offset, to + have, n))
			break;
		have += n;
		if (have == len)
			break;
	}
	return have;
}

/**
 * smc_clc_ahead() - does the stream go on with a Proposal or a Decline?
 * @hs: the handshake
 *
 * Takes nothing out of the stream.
 *
 * Context: the handshake's work item.
 * Return: 0 if so; -ENOMSG if not; -EAGAIN if too little has arrived; -EBUSY if a system call owns
 * the socket, after which the state machine runs again.
 */
int smc_clc_ahead(struct smc_handshake *hs)
{
	u8 first[SMC_CLC_HDR_LEN];
	struct smc_clc_hdr hdr;
	unsigned int n = 0;
	int rc = -EBUSY;

	if (hs->have)
		return 0;
	if (smc_hs_lock(hs)) {
		n = peek(hs->sk, first, sizeof(first));
		rc = incomplete(hs) == -EAGAIN ? -EAGAIN : -ENOMSG;
	}
	smc_hs_unlock(hs);
	if (n < sizeof(first))
		return rc == -EAGAIN ? await_bytes(hs) : rc;
	if (smc_clc_decode_hdr(first, n, &hdr) == -EPROTO)
		return -ENOMSG;
	return hdr.type == SMC_CLC_PROPOSAL || hdr.type == SMC_CLC_DECLINE ? 0 : -ENOMSG;
}

/**
 * smc_clc_accept_waits() - is an Accept the next message, which the handshake has not taken yet?
 * @hs: the handshake
 *
 * Context: any; the caller holds the socket's lock.
 * Return: true if so; false also if a part of a message has been taken, and for data of a program
 * that only looks like an Accept.
 */
bool smc_clc_accept_waits(const struct smc_handshake *hs)
{
	u8 first[SMC_CLC_HDR_LEN];
	struct smc_clc_hdr hdr;

	return test_bit(SMC_HS_PROPOSED, &hs->flags) && !hs->have &&
	       peek(hs->sk, first, sizeof(first)) == sizeof(first) &&
	       !smc_clc_decode_hdr(first, sizeof(first), &hdr) && hdr.type == SMC_CLC_ACCEPT;
}

/**
 * smc_clc_recv() - receive the next message and not a byte beyond it
 * @hs: the handshake; the message is in hs->area.buf, its header in hs->hdr
 *
 * Context: the handshake's work item.
 * Return: 0 if a complete message was received; -EOPNOTSUPP if the header of a complete message has
 * an unknown value; -EAGAIN if the message is still incomplete; -ECONNABORTED if the stream ended
 * before the message; -EPROTO for any other error.
 */
int smc_clc_recv(struct smc_handshake *hs)
{
	read_descriptor_t desc = { .arg.data = hs, .count = 1 };
	struct sock *sk = hs->sk;
	int rc;

	if (skb_queue_empty_lockless(&sk->sk_receive_queue) &&
	    READ_ONCE(sk->sk_state) == TCP_ESTABLISHED)
		return await_bytes(hs);
	/* If the handshake has ended meanwhile, the state machine notices. */
	rc = -EAGAIN;
	if (smc_hs_lock(hs)) {
		tcp_read_sock(sk, &desc, take_bytes);
		rc = bytes_wanted(hs, &desc.error);
		if (rc > 0)
			rc = incomplete(hs);
		else if (!rc && test_and_clear_bit(SMC_HS_PROPOSED, &hs->flags) &&
			 hs->hdr.type == SMC_CLC_ACCEPT)
			set_bit(SMC_HS_ACCEPTED, &hs->flags);
	}
	smc_hs_unlock(hs);
	if (rc == -EAGAIN)
		return await_bytes(hs);
	if (rc < 0) {
		if (rc == -EPROTO)
			trace_smc_clc_received(sk, hs->area.buf, hs->have, rc);
		return rc;
	}
	trace_smc_clc_received(sk, hs->area.buf, hs->have, desc.error);
	hs->have = 0;
	hs->looks = 0;
	return desc.error;
}
