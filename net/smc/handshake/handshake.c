// SPDX-License-Identifier: GPL-2.0
/* The handshake's engine: who runs it, when, and how it ends. */
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <net/tcp.h>
#include "../group/charge.h"
#include "../netns.h"
#include "../socket/nursery.h"
#include "../socket/socket.h"
#include "../trace.h"
#include "handshake.h"

static unsigned int handshake_timeout_ms = 10000;
module_param(handshake_timeout_ms, uint, 0644);
MODULE_PARM_DESC(handshake_timeout_ms,
		 "Time for the whole SMC handshake in ms, 1 to 600000 (default 10000)");

static struct kmem_cache *smc_hs_cache;

static unsigned long timeout_jiffies(void)
{
	return msecs_to_jiffies(clamp(READ_ONCE(handshake_timeout_ms), 1u, 600000u));
}

static void drop_conn(struct smc_handshake *hs)
{
	struct smc_conn *c = hs->conn;

	hs->conn = NULL;
	if (hs->neg.priv)
		hs->neg.fabric->ops->forget(&hs->neg);
	if (!c)
		return;
	smc_conn_set_notify(c, NULL, NULL);
	smc_conn_abort(c);
	c->fabric->ops->detach(c);
	smc_conn_put(c);
}

static void hs_put(struct smc_handshake *hs)
{
	if (!refcount_dec_and_test(&hs->ref))
		return;
	drop_conn(hs);
	smc_charge_put(hs->memcg);
	sock_put(hs->sk);
	kmem_cache_free(smc_hs_cache, hs);
}

/*
 * As hs_put(), for a caller that may hold a lock of the connection: the last reference
 * takes the connection along, and is therefore left to the worker.
 */
static void hs_put_later(struct smc_handshake *hs)
{
	while (!refcount_dec_not_one(&hs->ref))
		if (queue_work(smc_hs_wq, &hs->work))
			return;
}

/*
 * The handshake of a socket, with a reference.  The cache is SLAB_TYPESAFE_BY_RCU:
 * the object may have become another socket's between the look and the reference.
 */
static struct smc_handshake *hs_get(struct sock *sk)
{
	struct smc_handshake *hs;

	rcu_read_lock();
	hs = rcu_dereference(smc_sk(sk)->hs);
	if (hs && !refcount_inc_not_zero(&hs->ref))
		hs = NULL;
	rcu_read_unlock();
	/* The second look must not come before the reference; that one gives no order. */
	smp_acquire__after_ctrl_dep();
	if (hs && rcu_access_pointer(smc_sk(sk)->hs) != hs) {
		hs_put_later(hs);
		hs = NULL;
	}
	return hs;
}

/*
 * A message sent over loopback arrives in the context of its sender, before the
 * send returns.  Handshakes that have something to do because of it are collected
 * here and run by the sender after its own, which saves two switches to the worker
 * for each message.  @task tells whether a bottom half runs on top of the collector,
 * @hurries that it does not wait for the outcome itself.
 */
struct hs_collector {
	struct task_struct	*task;
	bool			hurries;
	struct llist_head	list;
};

static DEFINE_PER_CPU(struct hs_collector, hs_collector);

/*
 * Whoever hurries leaves a child to its acceptor, who has been woken by the same packet; but
 * not for long, as nobody knows whether he comes.
 */
static bool leave_to_acceptor(struct smc_handshake *hs)
{
	if (hs->step != SMC_HS_PROPOSAL || !rcu_access_pointer(smc_sk(hs->sk)->nursery))
		return false;
	set_bit(SMC_HS_LEFT, &hs->flags);
	if (mod_timer_pending(&hs->timer, jiffies + 1))
		return true;
	/* It is firing just now, and may have looked already. */
	clear_bit(SMC_HS_LEFT, &hs->flags);
	return false;
}

static bool collect(struct smc_handshake *hs)
{
	struct hs_collector *col;
	bool mine;

	col = get_cpu_ptr(&hs_collector);
	mine = READ_ONCE(col->task) == current;
	if (mine && !(col->hurries && leave_to_acceptor(hs)) &&
	    !test_and_set_bit(SMC_HS_COLLECTED, &hs->flags)) {
		refcount_inc(&hs->ref);
		llist_add(&hs->pending, &col->list);
	}
	put_cpu_ptr(&hs_collector);
	return mine;
}

/* Somebody has to look: a driver that sleeps, a collector, or else the worker. */
static void hs_kick(struct smc_handshake *hs)
{
	struct socket_wq *wq;

	set_bit(SMC_HS_PENDING, &hs->flags);
	/* Pairs with the barrier of a driver between going away and queueing. */
	smp_mb__after_atomic();
	if (atomic_read(&hs->drivers)) {
		rcu_read_lock();
		wq = rcu_dereference(hs->sk->sk_wq);
		if (skwq_has_sleeper(wq))
			wake_up_interruptible_all(&wq->wait);
		rcu_read_unlock();
		return;
	}
	if (collect(hs))
		return;
	refcount_inc(&hs->ref);
	if (!queue_work(smc_hs_wq, &hs->work))
		hs_put(hs);
}

/**
 * smc_hs_event() - something happened to a handshake's TCP connection, or to its fabric
 * @sk: the socket
 *
 * Context: any, bottom halves included, with smc_conn.state_lock held.
 */
void smc_hs_event(struct sock *sk)
{
	struct smc_handshake *hs = hs_get(sk);

	if (!hs)
		return;
	hs_kick(hs);
	hs_put_later(hs);
}

static void hs_timer(struct timer_list *t)
{
	struct smc_handshake *hs = from_timer(hs, t, timer);
	bool late = !time_before(jiffies, hs->patience);

	if (late)
		set_bit(SMC_HS_LATE, &hs->flags);
	if (time_before(jiffies, hs->deadline)) {
		/* Something was left to an acceptor, or must not wait any longer. */
		if (test_and_clear_bit(SMC_HS_LEFT, &hs->flags) || late)
			hs_kick(hs);
		refcount_inc(&hs->ref);
		mod_timer(t, late ? hs->deadline : hs->patience);
		/* The timer's lock orders this with hs_unlink(): one of us deletes it. */
		if (test_bit(SMC_HS_DEAD, &hs->flags) && timer_delete(t))
			hs_put(hs);
	} else {
		set_bit(SMC_HS_TIMEOUT, &hs->flags);
		hs_kick(hs);
	}
	hs_put(hs);
}

static bool hs_finish_step(struct smc_handshake *hs);

static bool hs_step(struct smc_handshake *hs)
{
	switch (hs->step) {
	case SMC_HS_CONNECT:
		return smc_client_connected(hs) && smc_client_propose(hs);
	case SMC_HS_ACCEPT:
		return smc_client_accept(hs);
	case SMC_HS_PROPOSAL:
		return smc_server_proposal(hs);
	case SMC_HS_PREPARE:
		return hs->neg.server ? smc_server_prepare(hs) :
					smc_client_prepare(hs);
	case SMC_HS_CONFIRM:
		return smc_server_confirm(hs);
	case SMC_HS_FINISH:
		return hs_finish_step(hs);
	}
	return false;
}

/*
 * The peer's clock began to run before ours, so what waits for others, as for their first
 * contact, ends while a Decline still finds it waiting.  Whatever else is not over in time
 * resets the connection (RFC 7609, C.5).
 */
static void end_in_time(struct smc_handshake *hs)
{
	if (hs->step == SMC_HS_PREPARE && test_bit(SMC_HS_LATE, &hs->flags))
		smc_hs_end_decline(hs, SMC_REASON_TIMEOUT);
	else if (test_bit(SMC_HS_TIMEOUT, &hs->flags))
		smc_hs_end_reset(hs, SMC_REASON_TIMEOUT, ETIMEDOUT);
}

/* May the next step take time?  accept() is not to wait for a device. */
static bool may_wait(const struct smc_handshake *hs)
{
	return hs->neg.fabric && hs->neg.fabric->ops->waits;
}

/* Run the machine as far as it goes; its lock is held. */
static void __hs_run(struct smc_handshake *hs)
{
	struct mem_cgroup *old = set_active_memcg(hs->memcg);

	lockdep_assert_held(&hs->lock);
	clear_bit(SMC_HS_PENDING, &hs->flags);
	/* Events from here on are seen by the steps or set the bit again. */
	smp_mb__after_atomic();
	if (!hs->borrowed && test_and_clear_bit(SMC_HS_RESET, &hs->flags))
		smc_hs_end_reset(hs, hs->reset_reason, hs->reset_err);
	while (!test_bit(SMC_HS_DEAD, &hs->flags) && !test_bit(SMC_HS_RESET, &hs->flags)) {
		if (hs->unaccepted && may_wait(hs)) {
			/* The next run borrows the lock. */
			set_bit(SMC_HS_PENDING, &hs->flags);
			break;
		}
		if (hs_step(hs))
			continue;
		if (!test_bit(SMC_HS_DEAD, &hs->flags) && !test_bit(SMC_HS_RESET, &hs->flags))
			end_in_time(hs);
		break;
	}
	set_active_memcg(old);
}

/* What happened meanwhile was left to us by whoever only tried for the lock. */
static void hs_unlock(struct smc_handshake *hs)
{
	mutex_unlock(&hs->lock);
	smp_mb();
	if (test_bit(SMC_HS_PENDING, &hs->flags) && !test_bit(SMC_HS_DEAD, &hs->flags) &&
	    !atomic_read(&hs->drivers))
		hs_kick(hs);
}

static void hs_run_one(struct smc_handshake *hs)
{
	struct smc_nursery *nursery;

	if (!smc_nursery_enter(hs->sk, &nursery))
		return;
	mutex_lock(&hs->lock);
	__hs_run(hs);
	hs_unlock(hs);
	smc_nursery_exit(nursery);
}

/* If the socket has an owner, and with @defer, smc_release_cb() has the worker try again. */
static bool try_lock_sock(struct sock *sk, bool defer)
{
	bool mine;

	spin_lock_bh(&sk->sk_lock.slock);
	mine = !sk->sk_lock.owned;
	if (mine)
		sk->sk_lock.owned = 1;
	else if (defer)
		smc_sk(sk)->hs_deferred = true;
	spin_unlock_bh(&sk->sk_lock.slock);
	if (mine)
		mutex_acquire(&sk->sk_lock.dep_map, 0, 1, _RET_IP_);
	return mine;
}

/**
 * smc_hs_lock_sock() - lock the socket of a handshake
 * @hs: the handshake; its lock is held
 *
 * Return: false, and the socket not locked, if the handshake is not its own any more: it
 * may have been connected anew.
 */
bool smc_hs_lock_sock(struct smc_handshake *hs)
{
	lockdep_assert_held(&hs->lock);
	/* The steps lock the socket themselves, where its lock is not borrowed. */
	if (!hs->borrowed)
		lock_sock(hs->sk);
	if (rcu_access_pointer(smc_sk(hs->sk)->hs) == hs)
		return true;
	smc_hs_release_sock(hs);
	return false;
}

/**
 * smc_hs_release_sock() - undo smc_hs_lock_sock()
 * @hs: the handshake
 */
void smc_hs_release_sock(struct smc_handshake *hs)
{
	if (!hs->borrowed)
		release_sock(hs->sk);
}

/* The lock of the socket goes back to whoever wants it. */
static void hs_give_back(struct smc_handshake *hs)
{
	if (!hs->borrowed)
		return;
	hs->borrowed = false;
	release_sock(hs->sk);
}

/* Keep a child that nobody has accepted so, unless accept() is at it just now. */
static bool hold_unaccepted(struct smc_handshake *hs)
{
	const struct smc_sock *smc = smc_sk(hs->sk);

	if (!rcu_access_pointer(smc->nursery) || may_wait(hs))
		return false;
	/*
	 * The packet that made this child has woken whoever accepts.  Let it run now: the first
	 * lock_sock() of a step would, and it would come back at once to wait for ours.
	 */
	cond_resched();
	if (!mutex_trylock(&hs->child_lock))
		return false;
	if (rcu_access_pointer(smc->nursery))
		return true;
	mutex_unlock(&hs->child_lock);
	return false;
}

/*
 * Run the handshake of a socket that belongs to somebody else.  The owner may hold the lock
 * for as long as it likes, in a call that reads memory which it provides, and so may a
 * driver hold that of the handshake meanwhile: here nobody waits for either.
 *
 * A child that has not been accepted has no owner, and gets none while we have
 * hs->child_lock, so each step can lock it for itself: what arrives in between need not go
 * through the backlog, which costs as much as a message.
 *
 * Return: false if that cannot be done now.
 */
static bool hs_run_borrowed(struct smc_handshake *hs, bool defer)
{
	struct smc_nursery *nursery;
	bool done = false;

	if (!smc_nursery_enter(hs->sk, &nursery))
		return true;
	if (!mutex_trylock(&hs->lock))
		goto out;
	hs->unaccepted = hold_unaccepted(hs);
	hs->borrowed = !hs->unaccepted && try_lock_sock(hs->sk, defer);
	done = hs->unaccepted || hs->borrowed;
	if (done) {
		__hs_run(hs);
		hs_give_back(hs);
		if (hs->unaccepted)
			mutex_unlock(&hs->child_lock);
		hs->unaccepted = false;
		hs_unlock(hs);
	} else {
		mutex_unlock(&hs->lock);
	}
out:
	smc_nursery_exit(nursery);
	return done;
}

/* A reset may have to wait for the socket's owner, see smc_hs_end_reset(). */
static void hs_reset_work(struct work_struct *work)
{
	struct smc_handshake *hs = container_of(work, struct smc_handshake, reset_work);

	hs_run_one(hs);
	hs_put(hs);
}

/* Run what was collected, a few at most: nobody may be kept here for ever. */
static void run_collected(struct hs_collector *col, int *budget)
{
	struct smc_handshake *hs;
	struct llist_node *list;

	while ((list = llist_del_all(&col->list))) {
		while (list) {
			hs = llist_entry(list, struct smc_handshake, pending);
			list = list->next;
			/* From here on it may be collected anew. */
			clear_bit_unlock(SMC_HS_COLLECTED, &hs->flags);
			if (((*budget)-- <= 0 || !hs_run_borrowed(hs, false)) &&
			    queue_work(smc_hs_wq, &hs->work))
				continue;
			hs_put(hs);
		}
	}
}

/*
 * Run a handshake, then those that became runnable through what it sent; not all of them
 * if the caller hurries.  The worker does not wait for locks.
 */
static void hs_run(struct smc_handshake *hs, bool hurries, bool worker)
{
	struct hs_collector *col = get_cpu_ptr(&hs_collector);
	int budget = 8;

	/* After a migration nothing is collected: the task is no longer here. */
	col->hurries = hurries;
	WRITE_ONCE(col->task, current);
	put_cpu_ptr(&hs_collector);

	if (worker)
		hs_run_borrowed(hs, true);
	else
		hs_run_one(hs);
	run_collected(col, &budget);
	/* Another task may collect here by now. */
	cmpxchg(&col->task, current, NULL);
	run_collected(col, &budget);
}

static void hs_work(struct work_struct *work)
{
	struct smc_handshake *hs = container_of(work, struct smc_handshake, work);

	hs_run(hs, false, true);
	hs_put(hs);
}

/**
 * smc_hs_new() - the handshake of a socket that begins to connect, or of a child
 * @sk: the socket
 * @payer: the socket whose memory cgroup is charged: a child's is its listener
 * @step: SMC_HS_CONNECT or SMC_HS_PROPOSAL
 * @gfp: how to allocate
 *
 * Return: the handshake or NULL.
 */
struct smc_handshake *smc_hs_new(struct sock *sk, const struct sock *payer,
				 enum smc_hs_step step, gfp_t gfp)
{
	struct mem_cgroup *memcg = smc_charge_get(payer), *old;
	struct smc_handshake *hs;

	old = set_active_memcg(memcg);
	hs = kmem_cache_alloc(smc_hs_cache, gfp);
	set_active_memcg(old);
	if (!hs) {
		smc_charge_put(memcg);
		return NULL;
	}
	hs->memcg = memcg;
	sock_hold(sk);
	hs->sk = sk;
	mutex_init(&hs->lock);
	mutex_init(&hs->child_lock);
	hs->step = step;
	hs->flags = 0;
	atomic_set(&hs->drivers, 0);
	INIT_WORK(&hs->work, hs_work);
	INIT_WORK(&hs->reset_work, hs_reset_work);
	timer_setup(&hs->timer, hs_timer, 0);
	hs->borrowed = false;
	hs->unaccepted = false;
	hs->conn = NULL;
	memset(&hs->neg, 0, sizeof(hs->neg));
	hs->neg.server = step == SMC_HS_PROPOSAL;
	hs->have = 0;
	/* From here on a reader that still has the former life's pointer may get it. */
	smp_wmb();
	refcount_set(&hs->ref, 1);
	return hs;
}

/**
 * smc_hs_start() - CLC begins: from now on it must end in time
 * @hs: the handshake
 */
void smc_hs_start(struct smc_handshake *hs)
{
	/*
	 * A message is answered by a message, which carries the acknowledgment:
	 * no packets for acknowledgments alone.
	 */
	inet_csk_enter_pingpong_mode(hs->sk);
	set_bit(SMC_HS_COUNTED, &hs->flags);
	atomic_inc(&smc_net(sock_net(hs->sk))->n_handshakes);
	refcount_inc(&hs->ref);
	hs->patience = jiffies + timeout_jiffies() / 2;
	hs->deadline = jiffies + timeout_jiffies();
	hs->timer.expires = hs->patience;
	add_timer(&hs->timer);
}

/*
 * Take the handshake off its socket.  The caller holds the socket's lock, or is
 * the last who sees it.
 */
static struct smc_handshake *hs_unlink(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	struct smc_handshake *hs = rcu_dereference_protected(smc->hs, 1);

	if (!hs)
		return NULL;
	RCU_INIT_POINTER(smc->hs, NULL);
	if (test_bit(SMC_HS_COUNTED, &hs->flags))
		atomic_dec(&smc_net(sock_net(sk))->n_handshakes);
	set_bit(SMC_HS_DEAD, &hs->flags);
	if (timer_delete(&hs->timer))
		hs_put(hs);
	return hs;
}

/**
 * smc_hs_kill() - the socket goes away or begins anew
 * @sk: the socket; the caller holds its lock or is in its destruction
 *
 * Context: any.
 */
void smc_hs_kill(struct sock *sk)
{
	struct smc_handshake *hs = hs_unlink(sk);

	if (hs)
		hs_put(hs);
}

/**
 * smc_hs_begin() - the client's TCP connection is up, CLC begins
 * @hs: the handshake; its lock is held
 *
 * Return: false if the socket has gone meanwhile.
 */
bool smc_hs_begin(struct smc_handshake *hs)
{
	if (!smc_hs_lock_sock(hs))
		return false;
	__smc_set_phase(hs->sk, SMC_PHASE_HANDSHAKE, SMC_REASON_NONE);
	smc_hs_start(hs);
	smc_hs_release_sock(hs);
	return true;
}

static void hs_finish_end(struct smc_handshake *hs)
{
	struct sock *sk = hs->sk;

	bool closing = smc_sk(sk)->closing;

	WARN_ON_ONCE(hs_unlink(sk) != hs);
	smc_sk(sk)->closing = false;
	smc_hs_release_sock(hs);
	smc_wake_settled(sk);
	if (closing) {
		/* Without a file nobody else holds it, and the end locks for itself. */
		hs_give_back(hs);
		smc_close_settled(sk);
	}
	hs_put(hs);
}

/**
 * smc_hs_end_up() - both sides agree: data flows through hs->conn from now on
 * @hs: the handshake
 */
void smc_hs_end_up(struct smc_handshake *hs)
{
	if (!smc_hs_lock_sock(hs))
		return;
	smc_conn_set_notify(hs->conn, NULL, NULL);
	smc_to_up(hs->sk, hs->conn);
	hs->conn = NULL;
	hs_finish_end(hs);
}

/* The stream has ended, and was not reset. */
static bool tcp_ended_well(const struct sock *sk)
{
	return !READ_ONCE(sk->sk_err) && READ_ONCE(sk->sk_state) != TCP_CLOSE;
}

/*
 * A destination that declines, or whose first words are not CLC, is remembered.  Not a
 * Decline because of a link group that only one side has: the next connection makes a new
 * one.  Nor a reset, as that of a server that is being stopped.
 */
static void remember(const struct smc_handshake *hs, enum smc_reason reason, u32 diagnosis)
{
	bool mute = hs->step == SMC_HS_ACCEPT &&
		    (reason == SMC_REASON_PROTOCOL || reason == SMC_REASON_TIMEOUT ||
		     (reason == SMC_REASON_PEER_CLOSED && tcp_ended_well(hs->sk)));
	bool declined = reason == SMC_REASON_PEER_DECLINED && !hs->area.decline.out_of_sync;

	if (!hs->neg.server && (mute || declined))
		smc_autocache_remember(hs->sk, reason, diagnosis);
}

/**
 * smc_hs_end_tcp() - the connection stays TCP
 * @hs: the handshake
 * @reason: why
 * @peer_diagnosis: what the peer's Decline says, or 0
 */
void smc_hs_end_tcp(struct smc_handshake *hs, enum smc_reason reason,
		    u32 peer_diagnosis)
{
	remember(hs, reason, peer_diagnosis);
	if (!smc_hs_lock_sock(hs))
		return;
	smc_to_tcp(hs->sk, reason, peer_diagnosis);
	hs_finish_end(hs);
}

/**
 * smc_hs_end_reset() - there can be no fallback: reset the TCP connection
 * @hs: the handshake
 * @reason: why
 * @err: errno that the application sees, positive
 *
 * RFC 7609, C.5 and C.6.
 */
void smc_hs_end_reset(struct smc_handshake *hs, enum smc_reason reason, int err)
{
	struct sock *sk = hs->sk;

	/* tcp_abort() waits for the lock, which is not to be done in somebody else's context. */
	if (hs->borrowed) {
		hs->reset_reason = reason;
		hs->reset_err = err;
		set_bit(SMC_HS_RESET, &hs->flags);
		refcount_inc(&hs->ref);
		if (!queue_work(smc_close_wq, &hs->reset_work))
			refcount_dec(&hs->ref);
		return;
	}
	/* The connection is to be reset that this handshake is about, no later one. */
	if (!smc_hs_lock_sock(hs))
		return;
	__smc_begin_abort(sk);
	release_sock(sk);
	remember(hs, reason, 0);
	tcp_abort(sk, err);
	lock_sock(sk);
	smc_end_abort(sk);
	if (rcu_access_pointer(smc_sk(sk)->hs) != hs) {
		release_sock(sk);
		return;
	}
	/* What is left of the peer's words is not for the application. */
	__skb_queue_purge(&sk->sk_receive_queue);
	WRITE_ONCE(tcp_sk(sk)->copied_seq, tcp_sk(sk)->rcv_nxt);
	smc_to_reset(sk, reason);
	hs_finish_end(hs);
}

/**
 * smc_hs_end_decline() - send a Decline in lieu of the expected message
 * @hs: the handshake
 * @reason: why
 */
void smc_hs_end_decline(struct smc_handshake *hs, enum smc_reason reason)
{
	struct smc_clc_decline d = {
		.version	= hs->neg.version ?: SMC_CLC_V2,
		.diagnosis	= reason,
		.out_of_sync	= reason == SMC_REASON_OUT_OF_SYNC,
		.os_type	= SMC_CLC_OS_LINUX,
		.has_types	= hs->neg.version != SMC_CLC_V1,
	};
	int len;

	if (hs->neg.server && hs->step <= SMC_HS_PREPARE) {
		const struct smc_clc_proposal *p = &hs->area.proposal;
		const enum smc_reason *why = hs->neg.why;

		d.version = p->version ?: SMC_CLC_V1;
		d.has_types = d.version == SMC_CLC_V2;
		d.rc_dv2 = p->smcd_v2 ? why[SMC_OFFER_DV2] ?: reason : 0;
		d.rc_dv1 = p->smcd_v1 ? why[SMC_OFFER_DV1] ?: reason : 0;
		d.rc_rv2 = p->smcr_v2 ? why[SMC_OFFER_RV2] ?: reason : 0;
		d.rc_rv1 = p->smcr_v1 ? why[SMC_OFFER_RV1] ?: reason : 0;
	}
	smc_hs_peer_id(sock_net(hs->sk), d.peer_id);
	len = smc_clc_encode_decline(&d, hs->area.buf, sizeof(hs->area.buf));
	if (WARN_ON_ONCE(len < 0) || smc_clc_send(hs, hs->area.buf, len))
		smc_hs_end_reset(hs, reason, ECONNRESET);
	else
		smc_hs_end_tcp(hs, reason, 0);
}

/**
 * smc_hs_end_new() - TCP could not connect
 * @hs: the handshake
 */
void smc_hs_end_new(struct smc_handshake *hs)
{
	if (!smc_hs_lock_sock(hs))
		return;
	if (hs->sk->sk_state != TCP_CLOSE) {
		/* It has not even begun to connect. */
		smc_hs_release_sock(hs);
		return;
	}
	smc_to_new(hs->sk);
	hs_finish_end(hs);
}

/* The message that was received is the peer's Decline. */
static void end_declined(struct smc_handshake *hs)
{
	struct smc_clc_decline *d = &hs->area.decline;

	if (smc_clc_decode_decline(hs->area.buf, hs->hdr.len, d)) {
		smc_hs_end_reset(hs, SMC_REASON_PROTOCOL, ECONNRESET);
		return;
	}
	if (d->out_of_sync && hs->conn)
		hs->conn->fabric->ops->desync(hs->conn);
	smc_hs_end_tcp(hs, SMC_REASON_PEER_DECLINED, d->diagnosis);
}

/*
 * The expected message did not come.  A value that we do not know gets a Decline;
 * the end of the stream is for the application to see; whatever else came resets
 * the connection (RFC 7609, C.6).
 */
static void end_bad(struct smc_handshake *hs, int rc)
{
	switch (rc) {
	case -EOPNOTSUPP:
		if (hs->step == SMC_HS_CONFIRM && !smc_hs_late_decline(hs))
			smc_hs_end_reset(hs, SMC_REASON_UNKNOWN_ENUM, ECONNRESET);
		else
			smc_hs_end_decline(hs, SMC_REASON_UNKNOWN_ENUM);
		break;
	case -ECONNABORTED:
		smc_hs_end_tcp(hs, SMC_REASON_PEER_CLOSED, 0);
		break;
	default:
		smc_hs_end_reset(hs, SMC_REASON_PROTOCOL, ECONNRESET);
	}
}

/**
 * smc_hs_expect() - has the next message of the peer arrived?
 * @hs: the handshake
 * @type: SMC_CLC_PROPOSAL, SMC_CLC_ACCEPT or SMC_CLC_CONFIRM
 *
 * Return: true with the message decoded in hs->area; false if it has not come yet,
 * or if something else has come and the handshake is over.
 */
bool smc_hs_expect(struct smc_handshake *hs, enum smc_clc_type type)
{
	struct smc_clc_area *area = &hs->area;
	int rc = smc_clc_recv(hs);

	if (rc == -EAGAIN)
		return false;
	if (!rc && hs->hdr.type == SMC_CLC_DECLINE) {
		end_declined(hs);
		return false;
	}
	if (!rc && hs->hdr.type != type)
		rc = -EPROTO;
	/* The Decline shall not speak of what an earlier message offered. */
	if (rc == -EOPNOTSUPP)
		memset(&area->proposal, 0, sizeof(area->proposal));
	if (!rc && type == SMC_CLC_PROPOSAL)
		rc = smc_clc_decode_proposal(area->buf, hs->hdr.len,
					     &area->proposal);
	else if (!rc)
		rc = smc_clc_decode_accept(area->buf, hs->hdr.len, &area->accept);
	if (rc)
		end_bad(hs, rc);
	return !rc;
}

/**
 * smc_hs_prepared() - has the fabric done what precedes our description of the
 * connection?
 * @hs: the handshake, in step PREPARE
 * @a: the Accept on the client, or NULL
 *
 * Return: true if so; false if it will take time, or if the handshake is over.
 */
bool smc_hs_prepared(struct smc_handshake *hs, const struct smc_clc_accept *a)
{
	int rc = hs->conn->fabric->ops->prepare(hs->conn, &hs->neg, a);

	if (rc && rc != -EAGAIN)
		smc_hs_end_decline(hs, rc);
	return !rc;
}

/*
 * While the fabric confirms that it works, the peer may find that it does not, and
 * decline, if it is not too late; nothing else can come from it before it knows that we
 * are up.  That may be before we know it ourselves: then it may be through with us, and
 * the end of TCP says nothing about the data.
 */
static void watch_for_decline(struct smc_handshake *hs, bool late)
{
	int rc = smc_clc_recv(hs), now;
	bool now_late;

	if (rc == -EAGAIN)
		return;
	now = hs->conn->fabric->ops->finish(hs->conn, &now_late);
	if (!now)
		smc_hs_end_up(hs);
	else if (!rc && hs->hdr.type == SMC_CLC_DECLINE && !late)
		end_declined(hs);
	else if (rc != -ECONNABORTED)
		end_bad(hs, -EPROTO);
	else if (now != -EINPROGRESS || !tcp_ended_well(hs->sk))
		end_bad(hs, rc);
}

/* The Confirm is out or in: what does the fabric say? */
static bool hs_finish_step(struct smc_handshake *hs)
{
	bool late = true;
	int rc = hs->conn->fabric->ops->finish(hs->conn, &late);

	if (!rc)
		smc_hs_end_up(hs);
	else if (rc == -EAGAIN || rc == -EINPROGRESS)
		watch_for_decline(hs, late);
	else if (late)
		smc_hs_end_reset(hs, rc, ECONNRESET);
	else
		smc_hs_end_decline(hs, rc);
	return false;
}

/**
 * smc_hs_drive() - promise to run the handshake: events wake us, not the worker
 * @sk: the socket
 *
 * Return: the handshake, for smc_hs_drive_end(), or NULL once it is over.
 */
struct smc_handshake *smc_hs_drive(struct sock *sk)
{
	struct smc_handshake *hs = hs_get(sk);

	if (hs)
		atomic_inc(&hs->drivers);
	return hs;
}

/**
 * smc_hs_driven() - does somebody run the handshake as soon as there is an event?
 * @sk: the socket
 *
 * Context: any.
 */
bool smc_hs_driven(const struct sock *sk)
{
	struct smc_handshake *hs;
	bool driven;

	rcu_read_lock();
	hs = rcu_dereference(smc_sk(sk)->hs);
	driven = hs && atomic_read(&hs->drivers);
	rcu_read_unlock();
	return driven;
}

/**
 * smc_hs_drive_end() - the promise ends, the worker takes over if need be
 * @hs: the handshake, or NULL
 */
void smc_hs_drive_end(struct smc_handshake *hs)
{
	if (!hs)
		return;
	atomic_dec(&hs->drivers);
	/* Pairs with the barrier in hs_kick(): one of us queues the work. */
	smp_mb__after_atomic();
	if (test_bit(SMC_HS_PENDING, &hs->flags) && !test_bit(SMC_HS_DEAD, &hs->flags) &&
	    !atomic_read(&hs->drivers))
		hs_kick(hs);
	hs_put(hs);
}

/**
 * smc_hs_wait() - wait until the socket is SMC or TCP, driving the handshake
 * @sk: a socket with a file; its lock is not held
 * @timeo: how long, in jiffies; 0 not at all
 *
 * Return: 0 once it is settled, -EAGAIN, or what a signal makes of it.
 */
int smc_hs_wait(struct sock *sk, long timeo)
{
	struct smc_handshake *hs = smc_hs_drive(sk);
	struct smc_wait w;
	int rc = 0, at_once = 4;

	if (!hs) {
		/* A child for whose handshake there was no memory. */
		smc_reset_child(sk);
		return 0;
	}
	smc_wait_begin(&w, EPOLLIN | EPOLLOUT);
	for (;;) {
		hs_run(hs, !timeo, false);
		if (test_bit(SMC_HS_DEAD, &hs->flags))
			break;
		/* A near peer has answered meanwhile; there are not more steps than these. */
		if (test_bit(SMC_HS_PENDING, &hs->flags) && at_once-- > 0)
			continue;
		rc = timeo ? sock_intr_errno(timeo) : -EAGAIN;
		if (!timeo || signal_pending(current))
			break;
		rc = 0;
		smc_wait_arm(&w, sk);
		if (!test_bit(SMC_HS_PENDING, &hs->flags) &&
		    !test_bit(SMC_HS_DEAD, &hs->flags))
			timeo = smc_wait_sleep(timeo);
		__set_current_state(TASK_RUNNING);
	}
	smc_wait_end(&w, sk);
	smc_hs_drive_end(hs);
	return rc;
}

/**
 * smc_hs_lock_child() - wait until nobody takes a child that gets a file for unaccepted
 * @sk: the child, not locked
 *
 * Context: process.
 * Return: its handshake, for smc_hs_unlock_child(), or NULL if it is over.
 */
struct smc_handshake *smc_hs_lock_child(struct sock *sk)
{
	struct smc_handshake *hs = hs_get(sk);

	if (hs)
		mutex_lock(&hs->child_lock);
	return hs;
}

/**
 * smc_hs_unlock_child() - undo smc_hs_lock_child()
 * @hs: the handshake, or NULL
 */
void smc_hs_unlock_child(struct smc_handshake *hs)
{
	if (!hs)
		return;
	mutex_unlock(&hs->child_lock);
	hs_put(hs);
}

/**
 * smc_hs_accepted() - a child has got a file: is there work that was left to its acceptor?
 * @sk: the child
 *
 * Context: process, the socket is not locked.
 */
void smc_hs_accepted(struct sock *sk)
{
	struct smc_handshake *hs = hs_get(sk);

	if (!hs)
		return;
	if (test_and_clear_bit(SMC_HS_LEFT, &hs->flags))
		hs_run(hs, false, false);
	hs_put(hs);
}

int __init smc_hs_init(void)
{
	smc_hs_cache = kmem_cache_create("smc_handshake",
					 sizeof(struct smc_handshake), 0,
					 SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT |
					 SLAB_TYPESAFE_BY_RCU, NULL);
	return smc_hs_cache ? 0 : -ENOMEM;
}

void smc_hs_exit(void)
{
	kmem_cache_destroy(smc_hs_cache);
}
