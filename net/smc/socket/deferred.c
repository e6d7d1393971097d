// SPDX-License-Identifier: GPL-2.0
/*
 * A child that accept() ignores until it has received data: TCP_DEFER_ACCEPT, see defer.c.
 *
 * Until it is accepted, such a child has a struct smc_deferred, which wakes the listener. In phase
 * UP its connection has the wait queue there, so the data path does nothing for this.
 */
#include <linux/slab.h>
#include <net/tcp.h>
#include "socket.h"

/**
 * struct smc_deferred - a child that accept() ignores until it has received data
 * @sock:	has the wait queue of the connection, and no socket
 * @entry:	the only entry in that queue
 * @listener:	the listener, referenced; it may have ended
 * @timer:	wakes the listener at @until
 * @until:	time in jiffies from which on accept() returns the child in any case
 * @rcu:	wakers use the wait queue under RCU
 */
struct smc_deferred {
	struct socket		sock;
	struct wait_queue_entry	entry;
	struct sock		*listener;
	struct timer_list	timer;
	unsigned long		until;
	struct rcu_head		rcu;
};

static void wake_listener(const struct smc_deferred *d)
{
	d->listener->sk_data_ready(d->listener);
}

static int wake_from_conn(struct wait_queue_entry *entry, unsigned int mode, int sync, void *key)
{
	wake_listener(container_of(entry, struct smc_deferred, entry));
	return 0;
}

static void wake_in_time(struct timer_list *t)
{
	struct smc_deferred *d = timer_container_of(d, t, timer);

	wake_listener(d);
}

/*
 * TCP repeats the SYN-ACK this often, the first time after a second, and doubles the time from then
 * on; the answer to the last one creates the child.
 */
static unsigned long time_of(unsigned int repeats)
{
	unsigned long seconds = 0, step = TCP_TIMEOUT_INIT / HZ;

	for (; repeats; repeats--) {
		seconds += step;
		step = min_t(unsigned long, 2 * step, TCP_RTO_MAX / HZ);
	}
	return seconds * HZ;
}

/**
 * smc_defer() - a child begins its handshake: keep it from accept() if its listener asks for it
 * @child: the child, locked by the bottom half that made it
 * @listener: its listener
 *
 * Without memory, the child is not deferred. If the listener is ending, so is the child.
 */
void smc_defer(struct sock *child, const struct sock *listener)
{
	u8 repeats = READ_ONCE(inet_csk(listener)->icsk_accept_queue.rskq_defer_accept);
	struct smc_deferred *d;

	if (likely(!repeats))
		return;
	d = kzalloc(sizeof(*d), GFP_ATOMIC | __GFP_NOWARN);
	if (!d)
		return;
	/* After a SYN cookie TCP has no reference to the listener, which may be ending. */
	d->listener = (struct sock *)listener;
	if (!refcount_inc_not_zero(&d->listener->sk_refcnt)) {
		kfree(d);
		return;
	}
	init_waitqueue_head(&d->sock.wq.wait);
	init_waitqueue_func_entry(&d->entry, wake_from_conn);
	add_wait_queue(&d->sock.wq.wait, &d->entry);
	d->until = jiffies + time_of(repeats);
	timer_setup(&d->timer, wake_in_time, 0);
	mod_timer(&d->timer, d->until);
	/* accept() may look as soon as TCP has put the child into the queue, under a lock. */
	smc_sk(child)->deferred = d;
}

static void free_deferred(struct rcu_head *rcu)
{
	struct smc_deferred *d = container_of(rcu, struct smc_deferred, rcu);

	sock_put(d->listener);
	kfree(d);
}

/* The child is plain TCP: its callbacks, which TCP calls with the child locked. */
static void deferred_data_ready(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	if (smc->deferred)
		wake_listener(smc->deferred);
	smc_tcp_callbacks.data_ready(sk);
}

static void deferred_state_change(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	if (smc->deferred)
		wake_listener(smc->deferred);
	smc_tcp_callbacks.state_change(sk);
}

/**
 * smc_undefer() - the child has been accepted, goes to another listener, or ends
 * @sk: the socket, locked or about to be freed; its connection leaves our wait queue
 *
 * Context: any.
 */
void smc_undefer(struct sock *sk)
{
	struct smc_deferred *d = smc_sk(sk)->deferred;

	if (likely(!d))
		return;
	cmpxchg(&sk->sk_data_ready, deferred_data_ready, smc_tcp_callbacks.data_ready);
	cmpxchg(&sk->sk_state_change, deferred_state_change, smc_tcp_callbacks.state_change);
	if (smc_sk(sk)->conn)
		smc_conn_set_wq(smc_sk(sk)->conn, rcu_dereference_raw(sk->sk_wq));
	smc_sk(sk)->deferred = NULL;
	timer_delete_sync(&d->timer);
	call_rcu(&d->rcu, free_deferred);
}

/**
 * smc_deferred_wq() - the wait queue that a child's connection wakes before accept()
 * @sk: the child, locked
 *
 * Return: the queue, or NULL if the child is not deferred.
 */
struct socket_wq *smc_deferred_wq(const struct sock *sk)
{
	struct smc_deferred *d = smc_sk(sk)->deferred;

	return d ? &d->sock.wq : NULL;
}

/**
 * smc_deferred_ended() - the handshake of a child has ended
 * @sk: the child, locked, in phase UP or TCP
 */
void smc_deferred_ended(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	if (likely(!smc->deferred))
		return;
	if (smc->phase == SMC_PHASE_TCP) {
		cmpxchg(&sk->sk_data_ready, smc_tcp_callbacks.data_ready, deferred_data_ready);
		cmpxchg(&sk->sk_state_change, smc_tcp_callbacks.state_change,
			deferred_state_change);
	}
	/* Data may have arrived before the callbacks were in place. */
	wake_listener(smc->deferred);
}

/**
 * smc_deferred_due() - may accept() return a child?
 * @child: an SMC socket in the queue, whose lock is held, so that the child stays valid
 *
 * Return: true if it may.
 */
bool smc_deferred_due(const struct sock *child)
{
	const struct smc_sock *smc = smc_sk(child);
	const struct smc_deferred *d = READ_ONCE(smc->deferred);
	int state = inet_sk_state_load(child);
	bool ended = state != TCP_ESTABLISHED;
	struct smc_conn *c;

	if (!d || time_after_eq(jiffies, d->until) || state == TCP_CLOSE)
		return true;
	if (smc_negotiating(smc))
		return ended;
	c = smc_get_conn(child);
	if (!c)
		return ended || !skb_queue_empty_lockless(&child->sk_receive_queue);
	return smc_conn_unread(c) || smc_conn_rx_ended(c) || (ended && !c->late_fin);
}
