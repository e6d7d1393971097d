/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by recvmsg() and in-kernel readers. */
#ifndef SMC_CONN_RECV_H
#define SMC_CONN_RECV_H

#include <linux/uio.h>
#include "../stats.h"
#include "conn.h"
#include "ops.h"

size_t smc_recv_copy_around(struct smc_conn *c, u64 seq, struct iov_iter *to, size_t len);

/*
 * Copy @len bytes, starting at @seq, to the user. @seq is rx_cons or, for a peek, ahead of it. As
 * in send.c, this skips the check of hardened usercopy.
 */
static __always_inline size_t smc_recv_copy(struct smc_conn *c, u64 seq, struct iov_iter *to,
					    size_t len)
{
	u64 pos = seq - c->rx_lap;

	if (likely(pos + len < c->rx_size))
		return _copy_to_iter(c->rx_buf + pos, len, to);
	return smc_recv_copy_around(c, seq, to, len);
}

/* Release the bytes before @seq, which is the next byte to be read. */
static __always_inline void smc_recv_consume(struct smc_conn *c, u64 seq)
{
	/* Release: another task may tell the peer at once, and the peer reuses the bytes. */
	smc_count_set_release(&c->rx_cons, seq);
	c->ops->consumed(c);
}

/* Count one call that has received @copied bytes. */
static __always_inline void smc_recv_count(struct sock *sk, struct smc_conn *c, size_t copied)
{
	if (likely(copied - 1 < SMC_CONN_SMALL_CALL))
		c->rx_calls++;
	else if (copied)
		smc_stats_large_recv(sk, c, copied);
}

int smc_recv_mind_urgent(struct sock *sk, struct smc_conn *c, u64 *seq, size_t *n,
			 size_t copied, long timeo, int flags);

#endif
