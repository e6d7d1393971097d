// SPDX-License-Identifier: GPL-2.0
/*
 * Give a sender that finds its ring full a larger one.
 *
 * If both ends of a connection are in this kernel, the sender writes into the receiver's element,
 * and no device knows the element. So the element can be replaced by a larger one. A connection
 * begins with a small element, and most connections never need a larger one.
 *
 * The replacement takes the sender's tx_lock and the receiver's rx_lock, so holding either lock is
 * enough to use the element, its size and its laps. The replacement changes no count, and a size
 * only grows, so a lockless reader never sees a value go backwards.
 *
 * Up to rx_sure, the element grows as soon as a call has more to send than there is room, because
 * programs at both ends may write before they read. Beyond rx_sure, memory is spent only if the
 * receiver has shown that it reads.
 */
#include <linux/sched/mm.h>
#include "../mem/charge.h"
#include "../mem/rmbe.h"
#include "../stats.h"
#include "conn.h"
#include "ring.h"

/* Growth factor, once the receiver is known to read. */
#define STEP	4
/* An element may take at most 1 / CGROUP_PART of the memory that the receiver's cgroup has left. */
#define CGROUP_PART	8
/*
 * An element grows only after this many laps have been read, so that copying its contents stays
 * cheap compared to all the data transferred.
 */
#define LAPS	4

/**
 * smc_conn_may_grow() - the receive element may be replaced by larger ones
 * @c: the connection, not yet known to its peer
 * @sure: size up to which the element grows unconditionally, in bytes
 * @most: size up to which the element grows while the receiver keeps up; ignored if less than @sure
 */
void smc_conn_may_grow(struct smc_conn *c, u32 sure, u32 most)
{
	c->rx_sure = sure;
	c->rx_most = max(sure, most);
}

/* The size that the receive element of @rx should have now. */
static u32 next_size(const struct smc_conn *rx)
{
	u32 size = rx->rx_size;

	if (size < rx->rx_sure)
		return rx->rx_sure;
	if (size < rx->rx_most && smc_count_read(&rx->rx_cons) - rx->rx_grown >= (u64)LAPS * size)
		return min(STEP * size, rx->rx_most);
	return size;
}

/* The cgroup of the socket of @c, with a reference, or NULL. */
static struct mem_cgroup *charge_of(struct smc_conn *c)
{
	struct mem_cgroup *memcg = NULL;
	struct sock *sk;

	spin_lock_bh(&c->state_lock);
	sk = __smc_conn_sk(c);
	if (sk)
		memcg = smc_charge_get(sk);
	spin_unlock_bh(&c->state_lock);
	return memcg;
}

/*
 * Charges the receiver or, as long as no program has its socket, the cgroup of its handshake: never
 * the sender, which may end long before the receiver does. The sender may be part of writeback to a
 * disk, so the allocation must not wait for I/O.
 */
static struct smc_rmbe *charged_rmbe(struct smc_conn *rx, u32 size)
{
	struct mem_cgroup *memcg = charge_of(rx);
	struct mem_cgroup *old = set_active_memcg(memcg ?: rx->payer);
	unsigned int noio = memalloc_noio_save();
	struct smc_rmbe *rmbe;

	rmbe = smc_charge_fits((u64)CGROUP_PART * size) ?
	       smc_rmbe_get(smc_rmbe_pools(rx->rmbe), size) : NULL;
	memalloc_noio_restore(noio);
	set_active_memcg(old);
	smc_charge_put(memcg);
	return rmbe;
}

/* Returns an element larger than the current one of @rx, or NULL, which disables further growth. */
static struct smc_rmbe *larger_rmbe(struct smc_conn *rx, u32 size)
{
	struct smc_rmbe *rmbe = charged_rmbe(rx, size);

	/* When memory is short, the element may be smaller than requested. */
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
	/* wait_lock protects the accounting of buffer usage. */
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
	/* Pairs with smc_conn_ask_for_room(): other threads may wait for room, too. */
	smp_mb();
	if (READ_ONCE(tx->tx_blocked))
		smc_conn_writable(tx);
}

/* Does another task use the element? Then that task wakes the sender when it is done. */
static bool busy(struct smc_conn *rx)
{
	if (!mutex_is_locked(&rx->rx_lock))
		return false;
	smc_conn_owe(&rx->rx_owed, SMC_OWED_GROW);
	return mutex_is_locked(&rx->rx_lock);
}

/**
 * smc_conn_grow() - smc_conn_ops.grow for a fabric that knows both ends of a connection
 * @tx: the sender's end; the caller holds its tx_lock
 * @rx: the receiver's end
 *
 * Does not wait for a busy receiver, which may be blocked on a fault in user memory for as long as
 * the program likes. When the receiver is done, it calls smc_conn_retry_grow().
 *
 * Context: process, may sleep in an allocation.
 * Return: true if there is more room now.
 */
bool smc_conn_grow(struct smc_conn *tx, struct smc_conn *rx)
{
	u32 size = next_size(rx);
	struct smc_rmbe *rmbe, *old;

	lockdep_assert_held(&tx->tx_lock);
	WRITE_ONCE(tx->tx_may_grow, false);
	if (size <= rx->rx_size || busy(rx))
		return false;
	rmbe = larger_rmbe(rx, size);
	if (!rmbe) {
		/*
		 * The sender has to wait until the receiver has read, but the receiver may sleep in
		 * poll(), because SO_RCVLOWAT is more than the element will ever hold.
		 */
		smc_conn_wake_all(rx);
		return false;
	}
	if (!smc_conn_trylock(&rx->rx_lock, &rx->rx_owed, SMC_OWED_GROW)) {
		smc_rmbe_put(rmbe);
		return false;
	}
	old = rx->rmbe;
	exchange(tx, rx, rmbe);
	smc_conn_rx_unlock(rx);
	smc_rmbe_put(old);
	return true;
}

/**
 * smc_conn_retry_grow() - the receiver is not busy any more: wake senders that could not grow
 * @tx: the sender's end
 *
 * Context: any.
 */
void smc_conn_retry_grow(struct smc_conn *tx)
{
	WRITE_ONCE(tx->tx_may_grow, true);
	/* Pairs with the barrier in smc_wait_arm() and in poll(): they see the flag, or sleep. */
	smp_mb();
	smc_conn_wake_senders(tx);
}
