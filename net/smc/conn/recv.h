/* SPDX-License-Identifier: GPL-2.0 */
/* What all receivers have in common: recvmsg() and a reader in the kernel. */
#ifndef SMC_CONN_RECV_H
#define SMC_CONN_RECV_H

#include <linux/uio.h>
#include "../fabric/fabric.h"
#include "../stats.h"
#include "../wire/cdc.h"
#include "conn.h"

/*
 * Copy @len bytes from position @seq to the user, around the end of the ring; as
 * in send.c without the check of hardened usercopy.
 */
static __always_inline size_t smc_recv_copy(struct smc_conn *c, u64 seq, struct iov_iter *to,
					    size_t len)
{
	u32 pos = smc_ring_pos(seq, c->rx_size);
	size_t first = min_t(size_t, len, c->rx_size - pos);
	size_t done = _copy_to_iter(c->rx_buf + pos, first, to);

	if (unlikely(done == first && len > first))
		done += _copy_to_iter(c->rx_buf, len - first, to);
	return done;
}

/* What is in front of the next byte is free again. */
static __always_inline void smc_recv_consume(struct smc_conn *c, u64 seq)
{
	WRITE_ONCE(c->rx_cons, seq);
	c->fabric->ops->consumed(c);
}

/* One call has received @copied bytes. */
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
