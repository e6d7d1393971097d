// SPDX-License-Identifier: GPL-2.0
/* The handshake as an object: its memory, its references, its place in the socket. */
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include "../mem/charge.h"
#include "internal.h"
#include "pair.h"

static unsigned int handshake_timeout_ms = 10000;
module_param(handshake_timeout_ms, uint, 0644);
MODULE_PARM_DESC(handshake_timeout_ms,
		 "Time for the whole SMC handshake in ms, 1 to 600000 (default 10000)");

static struct kmem_cache *smc_hs_cache;

static unsigned long timeout_jiffies(void)
{
	return msecs_to_jiffies(clamp(READ_ONCE(handshake_timeout_ms), 1u, 600000u));
}

/**
 * smc_hs_alloc() - memory for a handshake
 * @payer: the socket whose memory cgroup is charged, now and during the handshake
 * @gfp: how to allocate
 *
 * A reader that still has the pointer of a former handshake may take a reference as soon as
 * smc_handshake.ref is set, so that comes last.
 *
 * Return: the handshake, of which only @memcg is set, or NULL.
 */
struct smc_handshake *smc_hs_alloc(const struct sock *payer, gfp_t gfp)
{
	struct mem_cgroup *memcg = smc_charge_get(payer), *old;
	struct smc_handshake *hs;

	old = set_active_memcg(memcg);
	hs = kmem_cache_alloc(smc_hs_cache, gfp);
	set_active_memcg(old);
	if (hs)
		hs->memcg = memcg;
	else
		smc_charge_put(memcg);
	return hs;
}

static void detach_conn(struct smc_handshake *hs)
{
	struct smc_conn *c = hs->conn;

	hs->conn = NULL;
	if (hs->pair.client)
		smc_pair_refuse(hs->pair.client, SMC_REASON_PEER_CLOSED);
	if (hs->neg.priv)
		hs->neg.fabric->ops->forget(&hs->neg);
	if (!c)
		return;
	smc_conn_set_notify(c, NULL, NULL);
	smc_conn_abort(c);
	c->fabric->ops->detach(c);
	smc_conn_put(c);
}

/**
 * smc_hs_put() - drop a reference; the last one takes the connection along
 * @hs: the handshake
 *
 * Context: any, but no lock of the connection is held.
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
 * smc_hs_put_later() - the same, but the last reference is left to the worker
 * @hs: the handshake
 *
 * Context: any, locks of the connection may be held.
 */
void smc_hs_put_later(struct smc_handshake *hs)
{
	while (!refcount_dec_not_one(&hs->ref))
		if (queue_work(smc_hs_wq, &hs->work))
			return;
}

/**
 * smc_hs_get() - the handshake of a socket
 * @sk: the socket
 *
 * The cache is SLAB_TYPESAFE_BY_RCU: the object may have become another socket's between the
 * look and the reference.
 *
 * Context: any.
 * Return: the handshake with a reference, or NULL.
 */
struct smc_handshake *smc_hs_get(struct sock *sk)
{
	struct smc_handshake *hs;

	rcu_read_lock();
	hs = rcu_dereference(smc_sk(sk)->hs);
	if (hs && !refcount_inc_not_zero(&hs->ref))
		hs = NULL;
	rcu_read_unlock();
	/* The second look must not come before the reference, which implies no order. */
	smp_acquire__after_ctrl_dep();
	if (hs && rcu_access_pointer(smc_sk(sk)->hs) != hs) {
		smc_hs_put_later(hs);
		hs = NULL;
	}
	return hs;
}

/**
 * smc_hs_start() - CLC begins: from now on it must end in time
 * @hs: the handshake
 */
void smc_hs_start(struct smc_handshake *hs)
{
	/*
	 * Each message is answered by another one, which carries the acknowledgment.  So there
	 * is no need for packets of acknowledgments alone.
	 */
	inet_csk_enter_pingpong_mode(hs->sk);
	set_bit(SMC_HS_COUNTED, &hs->flags);
	atomic_inc(&smc_net(sock_net(hs->sk))->n_handshakes);
	refcount_inc(&hs->ref);
	hs->soft_deadline = jiffies + timeout_jiffies() / 2;
	hs->deadline = jiffies + timeout_jiffies();
	clear_bit(SMC_HS_AWAIT, &hs->flags);
	/* The grace of pair.c may not be over, if a child claimed the client. */
	if (mod_timer(&hs->timer, hs->soft_deadline))
		refcount_dec(&hs->ref);
}

/**
 * smc_hs_unlink() - take the handshake off its socket
 * @sk: the socket, locked, or about to be freed
 *
 * Return: the handshake, with the socket's reference, or NULL.
 */
struct smc_handshake *smc_hs_unlink(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	struct smc_handshake *hs = rcu_dereference_protected(smc->hs, 1);

	if (!hs)
		return NULL;
	RCU_INIT_POINTER(smc->hs, NULL);
	smc_pair_withdraw(hs);
	if (test_bit(SMC_HS_COUNTED, &hs->flags))
		atomic_dec(&smc_net(sock_net(sk))->n_handshakes);
	set_bit(SMC_HS_DEAD, &hs->flags);
	if (timer_delete(&hs->timer))
		smc_hs_put(hs);
	return hs;
}

/**
 * smc_hs_detach() - the socket goes away or is disconnected
 * @sk: the socket; the caller holds its lock or is in its destruction
 *
 * Context: any.
 */
void smc_hs_detach(struct sock *sk)
{
	struct smc_handshake *hs = smc_hs_unlink(sk);

	if (hs)
		smc_hs_put(hs);
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
