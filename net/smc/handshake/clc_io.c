// SPDX-License-Identifier: GPL-2.0
/* CLC messages travel as data of the TCP connection: send one, receive one. */
#include <linux/uio.h>
#include "internal.h"

/*
 * A struct socket for a child that has not been accepted, while TCP sends for it.
 *
 * When memory is short, TCP's sendmsg() marks sk_socket and puts itself into the wait queue of
 * sk_wq before it looks whether it may sleep.  Such a child has neither.  So it is lent one,
 * which is the same for all children: they do not sleep, so nobody is woken, and of the marks
 * only SOCK_NOSPACE is ever set, which nothing looks at here.  The socket is locked meanwhile, so
 * accept() cannot come in between.
 */
static struct socket_alloc nobody = {
	.socket.wq.wait = __WAIT_QUEUE_HEAD_INITIALIZER(nobody.socket.wq.wait),
};

static bool lend_socket(struct sock *sk)
{
	if (sk->sk_socket)
		return false;
	/* Not sk_set_socket(): from 6.17 on that makes the child belong to root. */
	WRITE_ONCE(sk->sk_socket, &nobody.socket);
	rcu_assign_pointer(sk->sk_wq, &nobody.socket.wq);
	return true;
}

static void take_socket_back(struct sock *sk)
{
	WRITE_ONCE(sk->sk_socket, NULL);
	RCU_INIT_POINTER(sk->sk_wq, NULL);
}

/* TCP's sendmsg() under a spin lock: it neither sleeps nor waits. */
static int send_locked(struct sock *sk, const u8 *buf, unsigned int len)
{
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	gfp_t gfp = sk->sk_allocation;
	u8 nonagle = tcp_sk(sk)->nonagle;
	bool lent = lend_socket(sk);
	int rc;

	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, len);
	/* A cork of the application is not meant for the handshake. */
	tcp_sk(sk)->nonagle &= ~TCP_NAGLE_CORK;
	sk->sk_allocation = GFP_ATOMIC;
	rc = tcp_sendmsg_locked(sk, &msg, len);
	sk->sk_allocation = gfp;
	tcp_sk(sk)->nonagle = nonagle;
	if (lent)
		take_socket_back(sk);
	/* The error belongs to the application: put back what TCP's call takes away. */
	if (rc < 0 && rc != -EAGAIN && rc != -EPIPE && !sk->sk_err)
		WRITE_ONCE(sk->sk_err, -rc);
	return rc;
}

/**
 * smc_clc_send() - have a message sent before anything else happens
 * @hs: the handshake; the message is in hs->area.buf
 * @len: its length, or the negative errno of its encoder
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

/**
 * smc_clc_flush() - hand to TCP what is left of a message
 * @hs: the handshake
 *
 * Context: the work.
 * Return: true if the machine may go on: TCP has all of it, or cannot take it any more and the
 * handshake ends.  False: it runs again when somebody gives the socket back, or soon.
 */
bool smc_clc_flush(struct smc_handshake *hs)
{
	struct sock *sk = hs->sk;
	u8 *buf = hs->area.buf;
	bool mine;
	int rc;

	mine = smc_hs_lock(hs);
	rc = mine ? send_locked(sk, buf + hs->sent, hs->to_send) : 0;
	smc_hs_unlock(hs);
	if (!mine)
		return false;
	if (rc > 0) {
		hs->sent += rc;
		hs->to_send -= rc;
	}
	if (rc == -EAGAIN || (rc > 0 && hs->to_send)) {
		/* Memory is short. */
		smc_hs_kick_at(hs, jiffies + 1);
		return false;
	}
	trace_smc_clc_sent(sk, buf, hs->sent + hs->to_send, rc < 0 ? rc : 0);
	hs->to_send = 0;
	if (rc < 0)
		smc_hs_end_reset(hs, hs->reason ?: SMC_REASON_INTERNAL, ECONNRESET);
	return true;
}

/* The bytes that the message, or its header, still lacks. */
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

/* Called by TCP for each piece of its receive queue: take what is ours. */
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
 * The queue is empty and the message is incomplete.  Between messages, the end of the stream or
 * an error of TCP is for the application to see.  Inside a message it is a violation.
 */
static int incomplete(const struct smc_handshake *hs)
{
	const struct sock *sk = hs->sk;

	if (!sk->sk_err && !(sk->sk_shutdown & RCV_SHUTDOWN) &&
	    sk->sk_state != TCP_CLOSE)
		return -EAGAIN;
	return hs->have ? -EPROTO : -ECONNABORTED;
}

/**
 * smc_clc_recv() - receive the next message, not a byte more
 * @hs: the handshake; the message is in hs->area.buf, its header in hs->hdr
 *
 * Context: the work.
 * Return: 0 with a whole message; -EOPNOTSUPP with a whole message whose header
 * has an unknown value; -EAGAIN if it is to be tried once more; -EPROTO for anything
 * else; -ECONNABORTED if the stream has ended before it.
 */
int smc_clc_recv(struct smc_handshake *hs)
{
	read_descriptor_t desc = { .arg.data = hs, .count = 1 };
	struct sock *sk = hs->sk;
	int rc;

	if (skb_queue_empty_lockless(&sk->sk_receive_queue) &&
	    READ_ONCE(sk->sk_state) == TCP_ESTABLISHED)
		return -EAGAIN;
	/* The machine sees it if it is over. */
	rc = -EAGAIN;
	if (smc_hs_lock(hs)) {
		tcp_read_sock(sk, &desc, take_bytes);
		rc = bytes_wanted(hs, &desc.error);
		if (rc > 0)
			rc = incomplete(hs);
	}
	smc_hs_unlock(hs);
	if (rc < 0) {
		if (rc == -EPROTO)
			trace_smc_clc_received(sk, hs->area.buf, hs->have, rc);
		return rc;
	}
	trace_smc_clc_received(sk, hs->area.buf, hs->have, desc.error);
	hs->have = 0;
	return desc.error;
}
