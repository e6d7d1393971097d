// SPDX-License-Identifier: GPL-2.0
/* CLC messages travel as data of the TCP connection: send one, receive one. */
#include <linux/uio.h>
#include <net/tcp.h>
#include "../socket/socket.h"
#include "handshake.h"

/* The error belongs to the application: put back what TCP's calls take away. */
static void restore_error(struct sock *sk, int rc)
{
	if (rc != -EAGAIN && rc != -EPIPE && rc != -ENOTCONN && !sk->sk_err)
		WRITE_ONCE(sk->sk_err, -rc);
}

/**
 * smc_clc_send() - send a message
 * @hs: the handshake
 * @buf: the message
 * @len: its length
 *
 * Context: process, the socket is not locked.
 * Return: 0, or a negative errno if TCP did not take the whole message.
 */
int smc_clc_send(struct smc_handshake *hs, const u8 *buf, int len)
{
	struct kvec vec = { .iov_base = (void *)buf, .iov_len = len };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct sock *sk = hs->sk;
	int rc;

	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, &vec, 1, len);
	lock_sock(sk);
	rc = tcp_sendmsg_locked(sk, &msg, len);
	release_sock(sk);
	/* A cork of the application is not meant for the handshake. */
	if (tcp_sk(sk)->nonagle & TCP_NAGLE_CORK) {
		tcp_sock_set_cork(sk, false);
		tcp_sock_set_cork(sk, true);
	}
	if (rc < 0) {
		restore_error(sk, rc);
		return rc;
	}
	return rc == len ? 0 : -ENOBUFS;
}

static int recv_some(struct smc_handshake *hs, unsigned int want)
{
	struct kvec vec = { .iov_base = hs->area->buf + hs->have,
			    .iov_len = want - hs->have };
	struct msghdr msg = {};
	int addr_len = 0, rc;

	iov_iter_kvec(&msg.msg_iter, ITER_DEST, &vec, 1, vec.iov_len);
	rc = smc_family(hs->sk)->tcp->recvmsg(hs->sk, &msg, vec.iov_len,
					      MSG_DONTWAIT, &addr_len);
	if (rc > 0)
		hs->have += rc;
	else if (rc < 0)
		restore_error(hs->sk, rc);
	return rc;
}

/*
 * Nothing is there.  The end of the stream, or an error of TCP, in lieu of a
 * message is for the application to see; inside a message it is a violation.
 */
static int nothing(struct smc_handshake *hs, int rc)
{
	if (rc == -EAGAIN)
		return -EAGAIN;
	return hs->have ? -EPROTO : -ECONNABORTED;
}

/**
 * smc_clc_recv() - receive the next message, not a byte more
 * @hs: the handshake; the message is in hs->area->buf, its header in hs->hdr
 *
 * Context: process, the socket is not locked.
 * Return: 0 with a whole message; -EOPNOTSUPP with a whole message whose header
 * has an unknown value; -EAGAIN if more must arrive; -EPROTO for what is no
 * message; -ECONNABORTED if the stream has ended before it.
 */
int smc_clc_recv(struct smc_handshake *hs)
{
	unsigned int want = SMC_CLC_HDR_LEN;
	int rc, verdict = 0;

	for (;;) {
		if (hs->have >= SMC_CLC_HDR_LEN) {
			verdict = smc_clc_decode_hdr(hs->area->buf, hs->have, &hs->hdr);
			if (verdict == -EPROTO)
				return -EPROTO;
			want = hs->hdr.len;
			if (want < hs->have || want > sizeof(hs->area->buf))
				return -EPROTO;
			if (hs->have == want)
				break;
		}
		rc = recv_some(hs, want);
		if (rc <= 0)
			return nothing(hs, rc);
	}
	hs->have = 0;
	return verdict;
}
