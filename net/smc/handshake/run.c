// SPDX-License-Identifier: GPL-2.0
/*
 * How the machine of a handshake is run, and when: by a system call that waits for the outcome,
 * by the task whose message made it runnable, by accept(), or by the worker.
 */
#include <linux/sched/signal.h>
#include "../conn/conn.h"
#include "internal.h"
#include "pending.h"

/* A run that only tried for the lock has left its event to us. */
static void hs_unlock_machine(struct smc_handshake *hs)
{
	mutex_unlock(&hs->lock);
	smp_mb();
	if (test_bit(SMC_HS_EVENT, &hs->flags) && !test_bit(SMC_HS_DEAD, &hs->flags) &&
	    !atomic_read(&hs->runners))
		smc_hs_kick(hs);
}

static void hs_run_lock(struct smc_handshake *hs)
{
	struct smc_pending_children *pending;

	if (!smc_pending_enter(hs->sk, &pending))
		return;
	mutex_lock(&hs->lock);
	__smc_hs_run(hs);
	hs_unlock_machine(hs);
	smc_pending_exit(pending);
}

/*
 * Run the handshake of a socket that belongs to another task, which may hold the socket's lock
 * for as long as it likes, and as a runner that of the handshake meanwhile.  So both are only
 * tried for, see lock.c.
 *
 * Return: false if that cannot be done now.
 */
static bool hs_run_trylock(struct smc_handshake *hs, bool defer)
{
	struct smc_pending_children *pending;
	bool done = false;

	if (!smc_pending_enter(hs->sk, &pending))
		return true;
	if (mutex_trylock(&hs->lock)) {
		done = smc_hs_trylock_run(hs, defer);
		if (done) {
			__smc_hs_run(hs);
			smc_hs_unlock_run(hs);
			hs_unlock_machine(hs);
		} else {
			mutex_unlock(&hs->lock);
		}
	}
	smc_pending_exit(pending);
	return done;
}

/* Run what is on the list, a few at most: a stream of handshakes must not keep us here. */
static void run_deferred_list(struct smc_hs_deferred *d, int *budget)
{
	struct smc_handshake *hs;
	struct llist_node *list;

	while ((list = llist_del_all(&d->list))) {
		while (list) {
			hs = llist_entry(list, struct smc_handshake, deferred_node);
			list = list->next;
			/* From here on it may be put on a list again. */
			clear_bit_unlock(SMC_HS_LISTED, &hs->flags);
			if (((*budget)-- <= 0 || !hs_run_trylock(hs, false)) &&
			    queue_work(smc_hs_wq, &hs->work))
				continue;
			smc_hs_put(hs);
		}
	}
}

/*
 * Run a handshake, then those that its messages made runnable; not all of them if the caller
 * does not wait for the outcome (@nonblock).  The worker does not wait for locks.
 */
static void hs_run(struct smc_handshake *hs, bool nonblock, bool worker)
{
	struct smc_hs_deferred *d = get_cpu_ptr(&smc_hs_deferred);
	int budget = 8;

	/* After a migration nothing is added: the task no longer runs on this CPU. */
	d->nonblock = nonblock;
	WRITE_ONCE(d->task, current);
	put_cpu_ptr(&smc_hs_deferred);

	if (worker)
		hs_run_trylock(hs, true);
	else
		hs_run_lock(hs);
	run_deferred_list(d, &budget);
	/* Another task may own the list by now. */
	cmpxchg(&d->task, current, NULL);
	run_deferred_list(d, &budget);
}

static void hs_work(struct work_struct *work)
{
	struct smc_handshake *hs = container_of(work, struct smc_handshake, work);

	hs_run(hs, false, true);
	smc_hs_put(hs);
}

/* A reset may have to wait for the socket's owner, see smc_hs_end_reset(). */
static void hs_reset_work(struct work_struct *work)
{
	struct smc_handshake *hs = container_of(work, struct smc_handshake, reset_work);

	hs_run_lock(hs);
	smc_hs_put(hs);
}

/**
 * smc_hs_new() - the handshake of a socket that begins to connect, or of a child
 * @sk: the socket
 * @payer: the socket whose memory cgroup is charged: a child's is its listener
 * @role: &smc_hs_client or &smc_hs_server
 * @ops: what to tell the socket
 * @gfp: how to allocate
 *
 * Return: the handshake or NULL.
 */
struct smc_handshake *smc_hs_new(struct sock *sk, const struct sock *payer,
				 const struct smc_hs_role *role,
				 const struct smc_hs_ops *ops, gfp_t gfp)
{
	struct smc_handshake *hs = smc_hs_alloc(payer, gfp);

	if (!hs)
		return NULL;
	sock_hold(sk);
	hs->sk = sk;
	hs->ops = ops;
	hs->role = role;
	mutex_init(&hs->lock);
	mutex_init(&hs->child_lock);
	hs->step = role->first;
	hs->flags = 0;
	atomic_set(&hs->runners, 0);
	INIT_WORK(&hs->work, hs_work);
	INIT_WORK(&hs->reset_work, hs_reset_work);
	timer_setup(&hs->timer, smc_hs_timer, 0);
	hs->sk_locked = false;
	hs->child_locked = false;
	hs->conn = NULL;
	memset(&hs->pair, 0, sizeof(hs->pair));
	memset(&hs->neg, 0, sizeof(hs->neg));
	hs->neg.server = role->server;
	hs->have = 0;
	/* From here on a reader that still has a former handshake's pointer may get it. */
	smp_wmb();
	refcount_set(&hs->ref, 1);
	return hs;
}

/**
 * smc_hs_may_pair() - a client's TCP connection may be one within this kernel
 * @hs: its handshake, before TCP begins to connect
 */
void smc_hs_may_pair(struct smc_handshake *hs)
{
	hs->pair.possible = true;
}

/**
 * smc_hs_claims() - a child has claimed its client, and the worker decides for both
 * @hs: the child's handshake
 * @client: the client's, from smc_pair_claim(), whose reference is taken over
 */
void smc_hs_claims(struct smc_handshake *hs, struct smc_handshake *client)
{
	hs->pair.client = client;
	/* It waits for the decision in a step of its own. */
	smc_hs_kick(client);
	smc_hs_kick(hs);
}

/**
 * smc_hs_runner_get() - promise to run the handshake: events wake us, not the worker
 * @sk: the socket
 *
 * Return: the handshake, for smc_hs_runner_put(), or NULL once it is over.
 */
struct smc_handshake *smc_hs_runner_get(struct sock *sk)
{
	struct smc_handshake *hs = smc_hs_get(sk);

	if (hs)
		atomic_inc(&hs->runners);
	return hs;
}

/**
 * smc_hs_has_runner() - will a task run the handshake as soon as there is an event?
 * @sk: the socket
 *
 * Context: any.
 *
 * Return: true if a system call runs it.
 */
bool smc_hs_has_runner(const struct sock *sk)
{
	struct smc_handshake *hs;
	bool running;

	rcu_read_lock();
	hs = rcu_dereference(smc_sk(sk)->hs);
	running = hs && atomic_read(&hs->runners);
	rcu_read_unlock();
	return running;
}

/**
 * smc_hs_runner_put() - the promise ends, the worker takes over if need be
 * @hs: the handshake, or NULL
 */
void smc_hs_runner_put(struct smc_handshake *hs)
{
	if (!hs)
		return;
	atomic_dec(&hs->runners);
	/* Pairs with the barrier in smc_hs_kick(): one of us queues the work. */
	smp_mb__after_atomic();
	if (test_bit(SMC_HS_EVENT, &hs->flags) && !test_bit(SMC_HS_DEAD, &hs->flags) &&
	    !atomic_read(&hs->runners))
		smc_hs_kick(hs);
	smc_hs_put(hs);
}

/**
 * smc_hs_wait() - wait until the handshake is over, and run it meanwhile
 * @hs: the handshake, from smc_hs_runner_get(), of a socket with a file whose lock is not held
 * @timeo: how long, in jiffies; 0 not at all
 *
 * Return: 0 once it is over, -EAGAIN, or the error of a call that a signal interrupts.
 */
int smc_hs_wait(struct smc_handshake *hs, long timeo)
{
	int rc = 0, at_once = 4;
	struct smc_wait w;

	smc_wait_begin(&w, EPOLLIN | EPOLLOUT);
	for (;;) {
		hs_run(hs, !timeo, false);
		if (test_bit(SMC_HS_DEAD, &hs->flags))
			break;
		/* A near peer has answered meanwhile; there are not more steps than these. */
		if (test_bit(SMC_HS_EVENT, &hs->flags) && at_once-- > 0)
			continue;
		rc = timeo ? sock_intr_errno(timeo) : -EAGAIN;
		if (!timeo || signal_pending(current))
			break;
		rc = 0;
		smc_wait_arm(&w, hs->sk);
		if (!test_bit(SMC_HS_EVENT, &hs->flags) &&
		    !test_bit(SMC_HS_DEAD, &hs->flags))
			timeo = smc_wait_sleep(timeo);
		__set_current_state(TASK_RUNNING);
	}
	smc_wait_end(&w, hs->sk);
	return rc;
}

/**
 * smc_hs_accepted() - a child has got a file: is there work that was left to its acceptor?
 * @sk: the child
 *
 * Context: process, the socket is not locked.
 */
void smc_hs_accepted(struct sock *sk)
{
	struct smc_handshake *hs = smc_hs_get(sk);

	if (!hs)
		return;
	if (test_and_clear_bit(SMC_HS_FOR_ACCEPT, &hs->flags))
		hs_run(hs, false, false);
	smc_hs_put(hs);
}
