// SPDX-License-Identifier: GPL-2.0
/* The table of all SMC sockets, for dumps and counters. */
#include <linux/hash.h>
#include <linux/rculist_nulls.h>
#include "../admin/walk.h"
#include "../fabric/fabric.h"
#include "../stats.h"
#include "socket.h"

#define REG_BITS	8

static struct reg_bucket {
	spinlock_t		lock;	/* protects the list */
	struct hlist_head	list;
} reg_table[1 << REG_BITS];

static struct reg_bucket *reg_bucket(const struct smc_sock *smc)
{
	return &reg_table[hash_ptr(smc, REG_BITS)];
}

void __init smc_registry_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(reg_table); i++) {
		spin_lock_init(&reg_table[i].lock);
		INIT_HLIST_HEAD(&reg_table[i].list);
	}
}

/**
 * smc_registry_add() - a socket is born
 * @smc: the socket
 *
 * Context: any.
 */
void smc_registry_add(struct smc_sock *smc)
{
	struct reg_bucket *b = reg_bucket(smc);

	spin_lock_bh(&b->lock);
	hlist_add_head(&smc->node, &b->list);
	spin_unlock_bh(&b->lock);
}

/**
 * smc_registry_del() - its memory is about to be freed
 * @smc: the socket
 *
 * Context: any.
 */
void smc_registry_del(struct smc_sock *smc)
{
	struct reg_bucket *b = reg_bucket(smc);

	spin_lock_bh(&b->lock);
	hlist_del(&smc->node);
	spin_unlock_bh(&b->lock);
}

/* The socket at place @skip of a bucket, with a reference, or NULL. */
static struct sock *reg_get(struct reg_bucket *b, const struct net *net,
			    int skip, int *next)
{
	struct sock *found = NULL;
	struct smc_sock *smc;
	int n = 0;

	spin_lock_bh(&b->lock);
	hlist_for_each_entry(smc, &b->list, node) {
		struct sock *sk = smc_to_sk(smc);

		if (n++ < skip || !net_eq(sock_net(sk), net))
			continue;
		if (!refcount_inc_not_zero(&sk->sk_refcnt))
			continue;
		found = sk;
		break;
	}
	spin_unlock_bh(&b->lock);
	*next = n;
	return found;
}

static void fill_conn(struct smc_sock_info *info, struct smc_conn *c)
{
	info->state = READ_ONCE(c->state);
	info->sndbuf_size = c->tx_size;
	info->rmbe_size = c->rx_size;
	info->rx_prod = READ_ONCE(c->rx_prod);
	info->rx_cons = READ_ONCE(c->rx_cons);
	info->tx_prod = READ_ONCE(c->tx_written);
	info->tx_cons = READ_ONCE(c->tx_cons);
	info->mode = c->fabric->ops->diag_mode;
	c->fabric->ops->show(c, info);
}

static u8 tcp_shows(const struct sock *sk)
{
	switch (inet_sk_state_load(sk)) {
	case TCP_LISTEN:
		return SMC_DIAG_STATE_LISTEN;
	case TCP_CLOSE:
		return SMC_CONN_CLOSED;
	case TCP_SYN_SENT:
	case TCP_SYN_RECV:
		return SMC_CONN_INIT;
	default:
		return SMC_CONN_ACTIVE;
	}
}

/* The connection of a socket, with a reference, or NULL. */
static struct smc_conn *conn_get(const struct smc_sock *smc)
{
	struct smc_conn *c;

	rcu_read_lock();
	c = smp_load_acquire(&smc->conn);
	if (c && !refcount_inc_not_zero(&c->ref))
		c = NULL;
	rcu_read_unlock();
	return c;
}

/*
 * Without the socket's lock: its owner may hold it for as long as it likes, in a call that
 * reads memory which it provides itself.  What ends meanwhile may be shown half way there.
 * False: its connection has been closed, and what remains is TCP's.
 */
static bool fill_info(struct smc_sock_info *info, struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	struct smc_conn *c = NULL;

	memset(info, 0, sizeof(*info));
	info->sk = sk;
	/* What belongs to a phase is stored before it, and shown in no other one. */
	info->phase = smp_load_acquire(&smc->phase);
	if (info->phase == SMC_PHASE_UP) {
		c = conn_get(smc);
		if (!c)
			return false;
	}
	info->reason = READ_ONCE(smc->reason);
	info->peer_diagnosis = READ_ONCE(smc->peer_diagnosis);
	info->mode = info->phase == SMC_PHASE_TCP ? SMC_DIAG_MODE_FALLBACK_TCP :
						    SMC_DIAG_MODE_SMCD;
	info->state = tcp_shows(sk);
	if (c) {
		fill_conn(info, c);
		smc_conn_put(c);
	} else if (info->phase == SMC_PHASE_CONNECTING || info->phase == SMC_PHASE_HANDSHAKE) {
		info->state = SMC_CONN_INIT;
	}
	return true;
}

/**
 * smc_sock_walk() - visit the SMC sockets of a namespace
 * @net: the namespace
 * @pos: two words, zero at the start; where a walk that was stopped goes on
 * @fn: called for each socket without locks; a value other than 0 stops the
 *	walk before this socket
 * @arg: for @fn
 *
 * Sockets that come or go meanwhile may be missed.  No lock is taken that a program can
 * hold, so no program can stall a walk.
 *
 * Context: process, may sleep.
 * Return: what @fn returned, or 0 at the end.
 */
int smc_sock_walk(struct net *net, int pos[2],
		  int (*fn)(const struct smc_sock_info *info, void *arg),
		  void *arg)
{
	struct smc_sock_info info;
	struct sock *sk;
	int next, rc;

	for (; pos[0] < ARRAY_SIZE(reg_table); pos[0]++, pos[1] = 0) {
		for (;;) {
			sk = reg_get(&reg_table[pos[0]], net, pos[1], &next);
			if (!sk)
				break;
			rc = fill_info(&info, sk) ? fn(&info, arg) : 0;
			sock_put(sk);
			if (rc)
				return rc;
			pos[1] = next;
			cond_resched();
		}
	}
	return 0;
}
EXPORT_SYMBOL_GPL(smc_sock_walk);

static void __flush(struct smc_sock *smc, struct net *net)
{
	struct smc_conn *c;

	if (!net_eq(sock_net(smc_to_sk(smc)), net))
		return;
	rcu_read_lock();
	c = READ_ONCE(smc->conn);
	if (c)
		smc_stats_flush(net, c);
	rcu_read_unlock();
}

/**
 * smc_registry_flush() - have all connections of a namespace counted as they are now
 * @net: the namespace
 *
 * Context: process, may sleep.
 */
void smc_registry_flush(struct net *net)
{
	struct smc_sock *smc;
	int i;

	for (i = 0; i < ARRAY_SIZE(reg_table); i++) {
		spin_lock_bh(&reg_table[i].lock);
		hlist_for_each_entry(smc, &reg_table[i].list, node)
			__flush(smc, net);
		spin_unlock_bh(&reg_table[i].lock);
		cond_resched();
	}
}
