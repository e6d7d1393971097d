// SPDX-License-Identifier: GPL-2.0
/* CLC messages travel as data of the TCP connection: send one, receive one. */
#include <linux/uio.h>
#include "internal.h"

/* The error belongs to the application: put back what TCP's call takes away.  Locked. */
static void restore_error(struct sock *sk, int rc)
{
	if (rc != -EAGAIN && rc != -EPIPE && !sk->sk_err)
		WRITE_ONCE(sk->sk_err, -rc);
}

/**
 * smc_clc_send() - send a message
 * @hs: the handshake
 * @buf: the message
 * @len: its length
 *
 * Context: process, the socket is not locked, or hs->sk_locked is set.
 * Return: 0, or a negative errno if TCP did not take the whole message; -ECANCELED if the
 * handshake is not the socket's any more.
 */
int smc_clc_send(struct smc_handshake *hs, const u8 *buf, int len)
{
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct sock *sk = hs->sk;
	u8 nonagle;
	bool lent;
	int rc;

	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, len);
	if (!smc_hs_lock_sock(hs))
		return -ECANCELED;
	/* A cork of the application is not meant for the handshake. */
	nonagle = tcp_sk(sk)->nonagle;
	tcp_sk(sk)->nonagle &= ~TCP_NAGLE_CORK;
	lent = smc_lend_socket(sk);
	rc = tcp_sendmsg_locked(sk, &msg, len);
	if (lent)
		smc_take_socket_back(sk);
	tcp_sk(sk)->nonagle = nonagle;
	if (rc < 0)
		restore_error(sk, rc);
	smc_hs_release_sock(hs);
	trace_smc_clc_sent(sk, buf, len, rc < 0 ? rc : 0);
	if (rc < 0)
		return rc;
	return rc == len ? 0 : -ENOBUFS;
}

/* What is still missing of the message, or of its header. */
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
 * Context: process, the socket is not locked, or hs->sk_locked is set.
 * Return: 0 with a whole message; -EOPNOTSUPP with a whole message whose header
 * has an unknown value; -EAGAIN if more must arrive; -EPROTO for anything
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
	/* The machine sees that it is over. */
	if (!smc_hs_lock_sock(hs))
		return -EAGAIN;
	tcp_read_sock(sk, &desc, take_bytes);
	rc = bytes_wanted(hs, &desc.error);
	if (rc > 0)
		rc = incomplete(hs);
	smc_hs_release_sock(hs);
	if (rc < 0) {
		if (rc == -EPROTO)
			trace_smc_clc_received(sk, hs->area.buf, hs->have, rc);
		return rc;
	}
	trace_smc_clc_received(sk, hs->area.buf, hs->have, desc.error);
	hs->have = 0;
	return desc.error;
}
