// SPDX-License-Identifier: GPL-2.0
/* Life cycle of a connection, and the events that its fabric reports. */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "../lock_class.h"
#include "../mem/charge.h"
#include "../mem/rmbe.h"
#include "conn.h"
#include "ops.h"
#include "stamp.h"

/**
 * smc_conn_set_rmbe() - set the receive element
 * @c: the connection
 * @rmbe: the element; the connection takes ownership
 */
void smc_conn_set_rmbe(struct smc_conn *c, struct smc_rmbe *rmbe)
{
	c->rmbe = rmbe;
	c->rx_size = smc_rmbe_size(rmbe);
	/* A fabric's receive path may already see the connection. */
	smp_store_release(&c->rx_buf, smc_rmbe_data(rmbe));
}

/**
 * smc_conn_init() - initialise a connection
 * @c: the connection, allocated and zeroed by its fabric
 * @ops: operations of the fabric that will carry the connection
 * @rmbe: the receive element, which the connection takes over; NULL if it is set later
 */
void smc_conn_init(struct smc_conn *c, const struct smc_conn_ops *ops,
		   struct smc_rmbe *rmbe)
{
	c->ops = ops;
	refcount_set(&c->ref, 1);
	if (rmbe)
		smc_conn_set_rmbe(c, rmbe);
	smc_mutex_init(&c->rx_lock, SMC_LOCK_CONN_RX);
	smc_mutex_init(&c->tx_lock, SMC_LOCK_CONN_TX);
	smc_spin_lock_init(&c->state_lock, SMC_LOCK_CONN_STATE);
	smc_spin_lock_init(&c->wait_lock, SMC_LOCK_CONN_WAIT);
	c->state = SMC_CONN_INIT;
	c->dev = ops->name;
	c->late_fin = !ops->fin_in_order;
	INIT_DELAYED_WORK(&c->tx_timer, smc_conn_tx_timer);
	c->tx_refused = SMC_NO_COUNT;
	c->tx_stalled = SMC_NO_COUNT;
}

/**
 * smc_conn_destroy() - undo smc_conn_init(); called by the fabric's free operation
 * @c: the connection
 */
void smc_conn_destroy(struct smc_conn *c)
{
	kfree(c->reader);
	smc_stamps_free(c);
	smc_charge_put(c->payer);
	if (c->rmbe)
		smc_rmbe_put(c->rmbe);
}

/**
 * smc_conn_drop_rmbe() - release the receive element of a connection that is not used any more
 * @c: the connection, detached; nobody reads from the element, or writes to it
 *
 * Context: any.
 */
void smc_conn_drop_rmbe(struct smc_conn *c)
{
	struct smc_rmbe *rmbe;

	spin_lock_bh(&c->wait_lock);
	rmbe = c->rmbe;
	c->rmbe = NULL;
	spin_unlock_bh(&c->wait_lock);
	if (rmbe)
		smc_rmbe_put(rmbe);
}

/* Called when the last reference has been dropped. */
void smc_conn_free(struct smc_conn *c)
{
	c->ops->free(c);
}

/**
 * smc_conn_set_notify() - set the function that is called on progress of the fabric or the peer
 * @c: the connection
 * @fn: called with @sk, under state_lock, in any context; NULL for none, in which case no call is
 *	in progress any more when this function returns
 * @sk: a socket that must stay valid until this function is called again
 */
void smc_conn_set_notify(struct smc_conn *c, void (*fn)(struct sock *sk),
			 struct sock *sk)
{
	spin_lock_bh(&c->state_lock);
	c->notify = fn;
	c->notify_sk = sk;
	spin_unlock_bh(&c->state_lock);
}

/**
 * smc_conn_notify() - a fabric's prepare or finish operation can continue
 * @c: the connection
 *
 * Context: any but hard interrupts.
 */
void smc_conn_notify(struct smc_conn *c)
{
	spin_lock_bh(&c->state_lock);
	if (c->notify)
		c->notify(c->notify_sk);
	spin_unlock_bh(&c->state_lock);
}

/**
 * smc_conn_enough() - does poll() report these bytes, or does SO_RCVLOWAT ask for more?
 * @sk: the socket, which may go away meanwhile, but not its memory
 * @c: its connection
 * @unread: number of bytes that can be read
 *
 * A higher SO_RCVLOWAT than three quarters of the element could never be met: senders may stop
 * before it is full, and a sender whose ring is smaller, or that has sent an urgent byte, waits for
 * the reader.
 *
 * Context: any.
 * Return: true if poll() reports them.
 */
bool smc_conn_enough(const struct sock *sk, struct smc_conn *c, u64 unread)
{
	u32 size = max(READ_ONCE(c->rx_size), READ_ONCE(c->rx_sure));
	u64 target = sock_rcvlowat(sk, 0, INT_MAX);

	return unread && (unread >= min_t(u64, target, size - size / 4) ||
			  (c->ops->peer_waits && c->ops->peer_waits(c)));
}

/*
 * Has the program set SO_RCVLOWAT, and is too little there for poll()? RCU protects @wq, which is
 * without a socket while its child waits for data.
 */
static bool below_low_water(struct smc_conn *c, struct socket_wq *wq)
{
	struct sock *sk;

	if (likely(!READ_ONCE(c->rx_low_water)) || smc_conn_rx_ended(c) || READ_ONCE(c->urg_data))
		return false;
	/* It may go away, but under RCU its memory stays that of a socket. */
	sk = READ_ONCE(container_of(wq, struct socket, wq)->sk);
	return sk && !smc_conn_enough(sk, c, smc_conn_unread(c));
}

/*
 * Below SO_RCVLOWAT, wake only receivers that sleep here, which know EPOLLMSG. io_uring would take
 * another key for what poll() says, and would even receive after a wake-up without a key.
 */
static noinline void wake_receivers(struct smc_conn *c, struct socket_wq *wq)
{
	if (below_low_water(c, wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLMSG);
	else
		wake_up_interruptible_sync_poll(&wq->wait, EPOLLIN | EPOLLPRI |
						EPOLLRDNORM | EPOLLRDBAND);
}

/* A program that gets SIGIO does not look, as poll() does. */
static noinline void signal_receiver(struct smc_conn *c, struct socket_wq *wq)
{
	if (!below_low_water(c, wq))
		sock_wake_async(wq, SOCK_WAKE_WAITD, POLL_IN);
}

/**
 * smc_conn_readable() - the peer has moved rx_prod or set a flag
 * @c: the connection
 *
 * The caller must have stored the change before. The barrier pairs with the barrier of a waiter
 * between becoming visible to wakers and checking rx_prod.
 */
void smc_conn_readable(struct smc_conn *c)
{
	struct socket_wq *wq;

	/* model/reader.pml: look for a sleeper; model/poll.pml: look into the queue. */
	smp_mb();
	smc_slot_wake(c);
	rcu_read_lock();
	wq = rcu_dereference(c->wq);
	if (wq && waitqueue_active(&wq->wait))
		wake_receivers(c, wq);
	if (wq && unlikely(READ_ONCE(wq->fasync_list)))
		signal_receiver(c, wq);
	rcu_read_unlock();
}

/**
 * smc_conn_writable() - the peer has moved tx_cons while tx_blocked was set
 * @c: the connection
 *
 * Small progress is not worth a context switch: the sender keeps sleeping until a quarter of the
 * ring is free.
 */
void smc_conn_writable(struct smc_conn *c)
{
	if (smc_conn_room(c) < smc_conn_low_room(c))
		return;
	WRITE_ONCE(c->tx_blocked, false);
	smc_conn_wake_senders(c);
}

/**
 * smc_conn_wake_senders() - senders and poll() must look again whether there is room
 * @c: the connection
 *
 * Context: any.
 */
void smc_conn_wake_senders(struct smc_conn *c)
{
	struct socket_wq *wq;

	rcu_read_lock();
	wq = rcu_dereference(c->wq);
	/*
	 * Its barrier ensures that a sender which enters the queue too late to be seen here sets
	 * tx_blocked after it was cleared. model/window.pml: look for a sleeper.
	 */
	if (skwq_has_sleeper(wq))
		wake_up_interruptible_poll(&wq->wait, EPOLLOUT | EPOLLWRNORM |
					   EPOLLWRBAND);
	if (wq && unlikely(READ_ONCE(wq->fasync_list)))
		sock_wake_async(wq, SOCK_WAKE_SPACE, POLL_OUT);
	rcu_read_unlock();
}

/**
 * smc_conn_wake_all() - the connection or one direction ended: all sleepers must check again
 * @c: the connection
 *
 * Context: any.
 */
void smc_conn_wake_all(struct smc_conn *c)
{
	struct socket_wq *wq;

	/* As in smc_conn_readable(); the barrier also covers the wait queue. */
	smp_mb();
	smc_slot_wake(c);
	rcu_read_lock();
	wq = rcu_dereference(c->wq);
	if (wq && waitqueue_active(&wq->wait))
		wake_up_interruptible_all(&wq->wait);
	if (wq && unlikely(READ_ONCE(wq->fasync_list)))
		sock_wake_async(wq, SOCK_WAKE_WAITD, POLL_IN);
	rcu_read_unlock();
}
