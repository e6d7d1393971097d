// SPDX-License-Identifier: GPL-2.0
/*
 * Something happened to a handshake: which task is to run it?  There is a picture in
 * Documentation/architecture.md, "Who runs a handshake, and when".
 */
#include "internal.h"

DEFINE_PER_CPU(struct smc_hs_deferred, smc_hs_deferred);

/*
 * A sender that must not block leaves a child to accept(), which the same packet has woken.
 * The timer takes over after a jiffy, as the application may never call accept().
 */
static bool leave_to_accept(struct smc_handshake *hs)
{
	if (hs->step != SMC_HS_PROPOSAL || !rcu_access_pointer(smc_sk(hs->sk)->pending_in))
		return false;
	set_bit(SMC_HS_FOR_ACCEPT, &hs->flags);
	if (mod_timer_pending(&hs->timer, jiffies + 1))
		return true;
	/* It is firing just now, and may have looked already. */
	clear_bit(SMC_HS_FOR_ACCEPT, &hs->flags);
	return false;
}

/* Leave it to the task that is running, if that runs a handshake. */
static bool add_to_deferred_list(struct smc_handshake *hs)
{
	struct smc_hs_deferred *d = get_cpu_ptr(&smc_hs_deferred);
	bool mine = READ_ONCE(d->task) == current;

	if (mine && !(d->nonblock && leave_to_accept(hs)) &&
	    !test_and_set_bit(SMC_HS_LISTED, &hs->flags)) {
		refcount_inc(&hs->ref);
		llist_add(&hs->deferred_node, &d->list);
	}
	put_cpu_ptr(&smc_hs_deferred);
	return mine;
}

/**
 * smc_hs_kick() - have the machine run: by a runner that sleeps, by the task whose message
 * made it runnable, or by the worker
 * @hs: the handshake
 *
 * Context: any.
 */
void smc_hs_kick(struct smc_handshake *hs)
{
	struct socket_wq *wq;

	set_bit(SMC_HS_EVENT, &hs->flags);
	/* Pairs with the barrier in smc_hs_runner_put(). */
	smp_mb__after_atomic();
	if (atomic_read(&hs->runners)) {
		rcu_read_lock();
		wq = rcu_dereference(hs->sk->sk_wq);
		if (skwq_has_sleeper(wq))
			wake_up_interruptible_all(&wq->wait);
		rcu_read_unlock();
		return;
	}
	if (add_to_deferred_list(hs))
		return;
	refcount_inc(&hs->ref);
	if (!queue_work(smc_hs_wq, &hs->work))
		smc_hs_put(hs);
}

/**
 * smc_hs_event() - something happened to a handshake's TCP connection, or to its fabric
 * @sk: the socket
 *
 * Context: any, bottom halves included, with smc_conn.state_lock held.
 */
void smc_hs_event(struct sock *sk)
{
	struct smc_handshake *hs = smc_hs_get(sk);

	if (!hs)
		return;
	smc_hs_kick(hs);
	smc_hs_put_later(hs);
}

/**
 * smc_hs_timer() - smc_handshake.timer: half of the time is over, or all of it, or accept()
 * has not come, or no child has claimed a client
 * @t: the timer
 */
void smc_hs_timer(struct timer_list *t)
{
	struct smc_handshake *hs = from_timer(hs, t, timer);
	bool late;

	if (test_and_clear_bit(SMC_HS_AWAIT, &hs->flags)) {
		smc_hs_kick(hs);
		smc_hs_put(hs);
		return;
	}
	late = !time_before(jiffies, hs->soft_deadline);
	if (late)
		set_bit(SMC_HS_LATE, &hs->flags);
	if (time_before(jiffies, hs->deadline)) {
		/* Something was left to an acceptor, or must not wait any longer. */
		if (test_and_clear_bit(SMC_HS_FOR_ACCEPT, &hs->flags) || late)
			smc_hs_kick(hs);
		refcount_inc(&hs->ref);
		if (mod_timer(t, late ? hs->deadline : hs->soft_deadline))
			refcount_dec(&hs->ref);
		/* The timer's lock orders this with smc_hs_unlink(): one of us deletes it. */
		if (test_bit(SMC_HS_DEAD, &hs->flags) && timer_delete(t))
			smc_hs_put(hs);
	} else {
		set_bit(SMC_HS_TIMEOUT, &hs->flags);
		smc_hs_kick(hs);
	}
	smc_hs_put(hs);
}
