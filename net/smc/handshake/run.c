// SPDX-License-Identifier: GPL-2.0
/* The handshake as an object: its memory, references, timer, verdict and socket. */
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include "../mem/charge.h"
#include "internal.h"
#include "pair.h"

static unsigned int handshake_timeout_ms = 10000;

static int set_timeout(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 1, 600000);
}

static const struct kernel_param_ops timeout_ops = {
	.set	= set_timeout,
	.get	= param_get_uint,
};

module_param_cb(handshake_timeout_ms, &timeout_ops, &handshake_timeout_ms, 0644);
__MODULE_PARM_TYPE(handshake_timeout_ms, "uint");
MODULE_PARM_DESC(handshake_timeout_ms,
		 "Time for the whole SMC handshake in ms, 1 to 600000 (default 10000)");

static struct kmem_cache *smc_hs_cache;

static unsigned long timeout_jiffies(void)
{
	return msecs_to_jiffies(READ_ONCE(handshake_timeout_ms));
}

static void detach_conn(struct smc_handshake *hs)
{
	struct smc_conn *c = hs->conn;

	if (hs->pair.client)
		smc_pair_refuse(hs->pair.client, SMC_REASON_PEER_CLOSED);
	if (hs->neg.priv)
		hs->neg.fabric->ops->forget(&hs->neg);
	if (!c)
		return;
	smc_hs_forget_unsent(hs);
	smc_conn_set_notify(c, NULL, NULL);
	smc_conn_abort(c);
	hs->conn = NULL;
	c->ops->detach(c);
	smc_conn_put(c);
}

/**
 * smc_hs_put() - drop a reference; the last one also detaches the connection
 * @hs: the handshake
 *
 * Context: any, but the caller must not hold a lock of the connection.
 */
void smc_hs_put(struct smc_handshake *hs)
{
	if (!refcount_dec_and_test(&hs->ref))
		return;
	detach_conn(hs);
	smc_charge_put(hs->memcg);
	sock_put(hs->sk);
	kmem_cache_free(smc_hs_cache, hs);
}

/**
 * smc_hs_put_later() - as smc_hs_put(), but leaves the last reference to the work item
 * @hs: the handshake
 *
 * Context: any; locks of the connection may be held.
 */
void smc_hs_put_later(struct smc_handshake *hs)
{
	while (!refcount_dec_not_one(&hs->ref))
		if (queue_work(smc_hs_wq, &hs->work))
			return;
}

/*
 * The handshake of a socket with a reference, or NULL. The cache is SLAB_TYPESAFE_BY_RCU, so
 * between loading the pointer and taking the reference, the object may have become the handshake of
 * another socket.
 */
static struct smc_handshake *hs_get(struct sock *sk)
{
	struct smc_handshake *hs;

	rcu_read_lock();
	hs = rcu_dereference(smc_sk(sk)->hs);
	if (hs && !refcount_inc_not_zero(&hs->ref))
		hs = NULL;
	rcu_read_unlock();
	/* Re-read the pointer after taking the reference, which implies no order by itself. */
	smp_acquire__after_ctrl_dep();
	if (hs && rcu_access_pointer(smc_sk(sk)->hs) != hs) {
		smc_hs_put_later(hs);
		hs = NULL;
	}
	return hs;
}

/**
 * smc_hs_kick() - queue the work item
 * @hs: the handshake
 *
 * Context: any.
 */
void smc_hs_kick(struct smc_handshake *hs)
{
	refcount_inc(&hs->ref);
	/* Cannot drop the last reference, because the caller holds one. */
	if (!queue_work(smc_hs_wq, &hs->work))
		refcount_dec(&hs->ref);
}

/**
 * smc_hs_event() - handle an event of the TCP connection or of the fabric during a handshake
 * @sk: the socket
 *
 * Context: any, including bottom halves, and with smc_conn.state_lock held.
 */
void smc_hs_event(struct sock *sk)
{
	struct smc_handshake *hs = hs_get(sk);

	if (!hs)
		return;
	smc_hs_kick(hs);
	smc_hs_put_later(hs);
}

/*
 * How long an end waits for the first bytes of its peer after a simultaneous open: a Proposal that
 * was lost has been sent again by then, in most networks more than once.
 */
#define CROSSED_TIME	HZ

/* Let the timer expire at @when, or earlier if it does so already: hs_timer() arms it again. */
static void arm_timer(struct smc_handshake *hs, unsigned long when)
{
	refcount_inc(&hs->ref);
	if (timer_reduce(&hs->timer, when))
		refcount_dec(&hs->ref);
	/* The timer's lock orders this with smc_hs_unlink(): one of the two deletes the timer. */
	if (test_bit(SMC_HS_DEAD, &hs->flags) && timer_delete(&hs->timer))
		smc_hs_put_later(hs);
}

/**
 * smc_hs_kick_at() - run the state machine again at a given time
 * @hs: the handshake
 * @when: time in jiffies
 *
 * Context: any.
 */
void smc_hs_kick_at(struct smc_handshake *hs, unsigned long when)
{
	set_bit(SMC_HS_AGAIN, &hs->flags);
	arm_timer(hs, when);
}

/* Half of the time or all of it is over, or a step must be retried. */
static void hs_timer(struct timer_list *t)
{
	struct smc_handshake *hs = timer_container_of(hs, t, timer);
	bool again = test_and_clear_bit(SMC_HS_AGAIN, &hs->flags);
	bool begun = test_bit(SMC_HS_BEGUN, &hs->flags);

	/* No child has come for the client in time. */
	clear_bit(SMC_HS_AWAIT, &hs->flags);
	if (begun && !time_before(jiffies, hs->deadline)) {
		set_bit(SMC_HS_TIMEOUT, &hs->flags);
		again = true;
	} else if (begun && !time_before(jiffies, hs->soft_deadline)) {
		set_bit(SMC_HS_LATE, &hs->flags);
		again = true;
		arm_timer(hs, hs->deadline);
	} else if (begun) {
		arm_timer(hs, hs->soft_deadline);
	}
	if (again)
		smc_hs_kick(hs);
	smc_hs_put(hs);
}

/**
 * smc_hs_alloc() - allocate a handshake, with its timer
 * @payer: the socket whose memory cgroup is charged
 * @gfp: allocation flags
 *
 * Return: the handshake, not initialised otherwise, or NULL if there is no memory.
 */
struct smc_handshake *smc_hs_alloc(const struct sock *payer, gfp_t gfp)
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
	timer_setup(&hs->timer, hs_timer, 0);
	return hs;
}

/**
 * smc_hs_begin() - start CLC and its timeout
 * @sk: the socket, locked, with a handshake
 * @crossed: a client of a simultaneous open
 */
void smc_hs_begin(struct sock *sk, bool crossed)
{
	struct smc_handshake *hs = rcu_dereference_protected(smc_sk(sk)->hs, 1);
	unsigned long timeout = timeout_jiffies();

	/*
	 * Each message is answered by another message, which also carries the TCP acknowledgment.
	 * So pure ACKs are not needed.
	 */
	inet_csk_enter_pingpong_mode(sk);
	atomic_inc(&smc_net(sock_net(sk))->n_handshakes);
	hs->soft_deadline = jiffies + timeout / 2;
	hs->deadline = jiffies + timeout;
	if (crossed) {
		hs->soft_deadline = jiffies + min_t(unsigned long, timeout / 2, CROSSED_TIME);
		set_bit(SMC_HS_CROSSED_SYNS, &hs->flags);
	}
	/* Pairs with the test in hs_timer(). */
	smp_mb__before_atomic();
	set_bit(SMC_HS_BEGUN, &hs->flags);
	arm_timer(hs, hs->soft_deadline);
	/*
	 * TCP tells a server that the Proposal has arrived, unless SO_RCVLOWAT forbids that. No
	 * Proposal comes from a client of this kernel.
	 */
	if ((!hs->role->server || hs->pair.client || sk->sk_rcvlowat > 1) &&
	    !smc_left_to_owner(sk))
		smc_hs_kick(hs);
}

/**
 * smc_hs_unlink() - detach the handshake from its socket
 * @sk: the socket, which has a handshake; locked, or about to be freed
 *
 * The caller takes over the socket's reference to the handshake.
 */
void smc_hs_unlink(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	struct smc_handshake *hs = rcu_dereference_protected(smc->hs, 1);

	RCU_INIT_POINTER(smc->hs, NULL);
	smc_pair_withdraw(hs);
	if (test_bit(SMC_HS_BEGUN, &hs->flags))
		atomic_dec(&smc_net(sock_net(sk))->n_handshakes);
	set_bit(SMC_HS_DEAD, &hs->flags);
	if (timer_delete(&hs->timer))
		smc_hs_put(hs);
}

/**
 * smc_hs_detach() - detach the handshake because the socket goes away or is disconnected
 * @sk: the socket; the caller holds its lock or is destroying it
 *
 * Context: any.
 */
void smc_hs_detach(struct sock *sk)
{
	struct smc_handshake *hs = rcu_dereference_protected(smc_sk(sk)->hs, 1);

	if (!hs)
		return;
	smc_hs_unlink(sk);
	smc_hs_put(hs);
}

/**
 * smc_hs_end_up() - both sides agree: data will flow through hs->conn
 * @hs: the handshake
 */
void smc_hs_end_up(struct smc_handshake *hs)
{
	hs->verdict = SMC_HS_IS_UP;
}

/**
 * smc_hs_end_tcp() - the connection stays TCP
 * @hs: the handshake
 * @reason: reason for the fallback
 * @peer_diagnosis: the diagnosis in the peer's Decline, or 0
 */
void smc_hs_end_tcp(struct smc_handshake *hs, enum smc_reason reason,
		    u32 peer_diagnosis)
{
	hs->verdict = SMC_HS_IS_TCP;
	hs->reason = reason;
	hs->diagnosis = peer_diagnosis;
}

/**
 * smc_hs_end_reset() - reset the TCP connection, because it is too late for a fallback
 * @hs: the handshake
 * @reason: reason for the reset
 * @err: errno that the application sees, positive
 *
 * RFC 7609, C.5 and C.6.
 */
void smc_hs_end_reset(struct smc_handshake *hs, enum smc_reason reason, int err)
{
	smc_hs_forget_unsent(hs);
	hs->verdict = SMC_HS_IS_RESET;
	hs->reason = reason;
	hs->err = err;
	hs->diagnosis = 0;
	hs->to_send = 0;
}

/**
 * smc_hs_lock() - lock the socket of a handshake for a step
 * @hs: the handshake
 *
 * Takes the socket's spin lock in any case, so smc_hs_unlock() must follow. No program can stall
 * this: if a system call owns the socket, the state machine runs again when the call releases the
 * lock (proto.release_cb).
 *
 * Context: the handshake's work item.
 * Return: true if nobody owns the socket. False if a system call owns it, or if the handshake no
 * longer belongs to the socket, which may have been connected again; the caller must then leave the
 * socket alone.
 */
bool smc_hs_lock(struct smc_handshake *hs)
	__acquires(&hs->sk->sk_lock.slock)
{
	struct sock *sk = hs->sk;

	spin_lock_bh(&sk->sk_lock.slock);
	return rcu_access_pointer(smc_sk(sk)->hs) == hs && !smc_left_to_owner(sk);
}

/**
 * smc_hs_unlock() - undo smc_hs_lock()
 * @hs: the handshake
 */
void smc_hs_unlock(struct smc_handshake *hs)
	__releases(&hs->sk->sk_lock.slock)
{
	spin_unlock_bh(&hs->sk->sk_lock.slock);
}

int __init smc_hs_init(void)
{
	smc_pair_init();
	smc_hs_cache = kmem_cache_create("smc_handshake", sizeof(struct smc_handshake), 0,
					 SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT |
					 SLAB_TYPESAFE_BY_RCU, NULL);
	return smc_hs_cache ? 0 : -ENOMEM;
}

void smc_hs_exit(void)
{
	kmem_cache_destroy(smc_hs_cache);
}
