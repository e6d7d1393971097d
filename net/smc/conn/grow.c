// SPDX-License-Identifier: GPL-2.0
/*
 * A larger ring for a sender that finds it full.
 *
 * Where both ends of a connection are in this kernel, the sender writes into the receiver's
 * element, and nobody else knows it.  So the element can be exchanged for a larger one.  A
 * connection begins with a small one, and most connections never need more.
 *
 * The exchange takes the tx_lock of the sender and the rx_lock of the receiver.  Therefore either
 * lock is enough to use the element, its size and its laps.  The exchange changes no count, and a
 * size only grows, so a reader without a lock never sees a value go backwards.
 *
 * Up to rx_sure, the size that every connection used to have, it grows as soon as a call has more
 * to send than there is room: programs at both ends may write before they read.  Beyond that memory
 * is spent only if the receiver has shown that it reads.
 */
#include <linux/sched/mm.h>
#include "../mem/charge.h"
#include "../mem/rmbe.h"
#include "../stats.h"
#include "conn.h"
#include "ring.h"

/* By how much it grows, once it is sure that the receiver reads. */
#define STEP	4
/* An element takes at most this part of what the receiver's cgroup has left: 1 / CGROUP_PART. */
#define CGROUP_PART	8
/* An element grows after it has been read this often, so little of all data is copied once more. */
#define LAPS	4

/**
 * smc_conn_may_grow() - the receive element may be exchanged for larger ones
 * @c: the connection, before its peer knows it
 * @sure: up to this size whatever happens, bytes
 * @most: up to this size while the receiver keeps up; may be less than @sure, and is ignored then
 */
void smc_conn_may_grow(struct smc_conn *c, u32 sure, u32 most)
{
	c->rx_sure = sure;
	c->rx_most = max(sure, most);
}

/* The size that the element of @rx should have now. */
static u32 next_size(const struct smc_conn *rx)
{
	u32 size = rx->rx_size;

	if (size < rx->rx_sure)
		return rx->rx_sure;
	if (size < rx->rx_most && smc_count_read(&rx->rx_cons) - rx->rx_grown >= (u64)LAPS * size)
		return min(STEP * size, rx->rx_most);
	return size;
}

/* The cgroup of the socket of @c, referenced, or NULL. */
static struct mem_cgroup *charge_of(struct smc_conn *c)
{
	struct mem_cgroup *memcg = NULL;
	struct socket_wq *wq;

	spin_lock_bh(&c->state_lock);
	wq = rcu_dereference_protected(c->wq, lockdep_is_held(&c->state_lock));
	/* The queue is cleared under this lock before the file goes. */
	if (wq && container_of(wq, struct socket, wq)->sk)
		memcg = smc_charge_get(container_of(wq, struct socket, wq)->sk);
	spin_unlock_bh(&c->state_lock);
	return memcg;
}

/*
 * The receiver pays, and the sender until somebody has accepted the receiver.  A sender may be the
 * way by which memory is written to a disk, so this does not wait for disks.
 */
static struct smc_rmbe *charged_rmbe(struct smc_conn *tx, struct smc_conn *rx, u32 size)
{
	struct mem_cgroup *memcg = charge_of(rx) ?: charge_of(tx);
	struct mem_cgroup *old = set_active_memcg(memcg);
	unsigned int noio = memalloc_noio_save();
	struct smc_rmbe *rmbe;

	rmbe = smc_charge_fits((u64)CGROUP_PART * size) ?
	       smc_rmbe_get(smc_rmbe_pools(rx->rmbe), size) : NULL;
	memalloc_noio_restore(noio);
	set_active_memcg(old);
	smc_charge_put(memcg);
	return rmbe;
}

/* One that is larger than what @rx has, or NULL: then there will be no other attempt. */
static struct smc_rmbe *larger_rmbe(struct smc_conn *tx, struct smc_conn *rx, u32 size)
{
	struct smc_rmbe *rmbe = charged_rmbe(tx, rx, size);

	/* When memory is short it may be smaller than what we want. */
	if (rmbe && smc_rmbe_size(rmbe) <= rx->rx_size) {
		smc_rmbe_put(rmbe);
		rmbe = NULL;
	}
	if (!rmbe) {
		WRITE_ONCE(rx->rx_sure, rx->rx_size);
		rx->rx_most = rx->rx_size;
	}
	return rmbe;
}

static void copy_ring(u8 *to, u32 to_size, const u8 *from, u32 from_size, u64 count, u64 end)
{
	while (count != end) {
		u32 src = smc_ring_at(count, from_size), dst = smc_ring_at(count, to_size);
		u32 n = min3(from_size - src, to_size - dst, (u32)(end - count));

		memcpy(to + dst, from + src, n);
		count += n;
	}
}

static void exchange(struct smc_conn *tx, struct smc_conn *rx, struct smc_rmbe *rmbe)
{
	u32 size = smc_rmbe_size(rmbe);
	u8 *buf = smc_rmbe_data(rmbe);

	lockdep_assert_held(&tx->tx_lock);
	lockdep_assert_held(&rx->rx_lock);
	copy_ring(buf, size, rx->rx_buf, rx->rx_size, rx->rx_cons, tx->tx_written);
	/* The counters of what is in use are changed under this lock. */
	spin_lock_bh(&rx->wait_lock);
	rx->rmbe = rmbe;
	spin_unlock_bh(&rx->wait_lock);
	rx->rx_buf = buf;
	rx->rx_lap = rx->rx_cons - smc_ring_at(rx->rx_cons, size);
	rx->rx_grown = rx->rx_cons;
	smc_stats_resized(rx, true, size, smc_rmbe_how(rmbe));
	tx->tx_buf = buf;
	tx->tx_lap = tx->tx_written - smc_ring_at(tx->tx_written, size);
	WRITE_ONCE(tx->peer_size, size);
	smc_stats_resized(tx, false, size, tx->tx_how);
}

/**
 * smc_conn_grow() - smc_fabric_ops.grow for a fabric that knows both ends
 * @tx: the sender's end; the caller holds its tx_lock
 * @rx: the receiver's
 *
 * A receiver that is busy is not waited for, as it may be stopped by its memory for as long as its
 * user likes.
 *
 * Context: process, may sleep for memory.
 * Return: true if there is more room now.
 */
bool smc_conn_grow(struct smc_conn *tx, struct smc_conn *rx)
{
	u32 size = next_size(rx);
	struct smc_rmbe *rmbe, *old;

	lockdep_assert_held(&tx->tx_lock);
	if (size <= rx->rx_size || mutex_is_locked(&rx->rx_lock))
		return false;
	rmbe = larger_rmbe(tx, rx, size);
	if (!rmbe)
		return false;
	if (!mutex_trylock(&rx->rx_lock)) {
		smc_rmbe_put(rmbe);
		return false;
	}
	old = rx->rmbe;
	exchange(tx, rx, rmbe);
	mutex_unlock(&rx->rx_lock);
	smc_rmbe_put(old);
	return true;
}
