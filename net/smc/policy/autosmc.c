// SPDX-License-Identifier: GPL-2.0
/*
 * A moving average of the connections of each listener: while they are too short for SMC to pay,
 * SMC is not offered.
 *
 * A child takes a reference to the entry of its listener when it is created. When the child ends,
 * its worth is added to the average: from the connection's counters if it was SMC, otherwise from
 * TCP's.
 */
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/rculist.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include "../conn/conn.h"
#include "../lock_class.h"
#include "../smc.h"
#include "policy.h"

struct smc_listener {
	struct hlist_node	node;
	struct rcu_head		rcu;
	refcount_t		ref;
	struct smc_ip		ip;
	u16			port;
	unsigned long		used;	/* jiffies */
	spinlock_t		lock;	/* protects picture */
	struct smc_ewma	picture;
};

void smc_autosmc_init(struct smc_autosmc *a)
{
	smc_spin_lock_init(&a->lock, SMC_LOCK_AUTOSMC);
	a->seq = 1;
}

static u64 now_ms(void)
{
	return jiffies64_to_msecs(get_jiffies_64());
}

static u64 retry_ms(const struct smc_net *sn)
{
	return READ_ONCE(sn->autosmc_retry) * 1000ull;
}

static void listener_put(struct smc_listener *l)
{
	if (refcount_dec_and_test(&l->ref))
		kfree_rcu(l, rcu);
}

/* The address and port that a listener is bound to; the wildcard address is ::. */
static void key_of(const struct sock *sk, struct smc_ip *ip, u16 *port)
{
	*ip = (struct smc_ip){ 0, 0 };
	*port = inet_sk(sk)->inet_num;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		*ip = smc_ip_v6(sk->sk_v6_rcv_saddr.s6_addr);
		return;
	}
#endif
	if (inet_sk(sk)->inet_rcv_saddr)
		*ip = smc_ip_v4(be32_to_cpu(inet_sk(sk)->inet_rcv_saddr));
}

static struct hlist_head *bucket_of(struct smc_autosmc *a, const struct smc_ip *ip, u16 port)
{
	u32 key[] = { ip->hi >> 32, ip->hi, ip->lo >> 32, ip->lo };

	return &a->buckets[jhash2(key, ARRAY_SIZE(key), port) % SMC_AUTOSMC_BUCKETS];
}

/* The caller is in an RCU read-side section or holds a->lock. */
static struct smc_listener *find(struct smc_autosmc *a, const struct smc_ip *ip, u16 port)
{
	struct smc_listener *l;

	hlist_for_each_entry_rcu(l, bucket_of(a, ip, port), node, lockdep_is_held(&a->lock))
		if (l->port == port && smc_ip_equal(&l->ip, ip))
			return l;
	return NULL;
}

static void __forget(struct smc_autosmc *a, struct smc_listener *l)
{
	lockdep_assert_held(&a->lock);
	hlist_del_rcu(&l->node);
	a->n--;
	a->seq = smc_next_seq(a->seq);
	listener_put(l);
}

/* Evict the listener that has been without a connection for the longest time. */
static void __make_room(struct smc_autosmc *a)
{
	struct smc_listener *l, *oldest = NULL;
	unsigned int i;

	lockdep_assert_held(&a->lock);
	for (i = 0; i < SMC_AUTOSMC_BUCKETS; i++)
		hlist_for_each_entry(l, &a->buckets[i], node)
			if (!oldest || time_before(l->used, oldest->used))
				oldest = l;
	if (oldest)
		__forget(a, oldest);
}

/* The entry of a listener with a reference, created if necessary; NULL if there is no memory. */
static struct smc_listener *get(struct smc_autosmc *a, const struct smc_ip *ip, u16 port)
{
	struct smc_listener *l, *made;

	rcu_read_lock();
	l = find(a, ip, port);
	if (l && !refcount_inc_not_zero(&l->ref))
		l = NULL;
	rcu_read_unlock();
	if (l)
		return l;
	made = kzalloc(sizeof(*made), GFP_ATOMIC | __GFP_NOWARN);
	if (!made)
		return NULL;
	made->ip = *ip;
	made->port = port;
	made->used = jiffies;
	smc_spin_lock_init(&made->lock, SMC_LOCK_LISTENER);
	smc_ewma_init(&made->picture);
	/* One reference for the table, one for the caller. */
	refcount_set(&made->ref, 2);
	spin_lock_bh(&a->lock);
	l = find(a, ip, port);
	if (l) {
		refcount_inc(&l->ref);
		kfree(made);
	} else {
		if (a->n >= SMC_AUTOSMC_MAX)
			__make_room(a);
		l = made;
		hlist_add_head_rcu(&l->node, bucket_of(a, ip, port));
		a->n++;
		a->seq = smc_next_seq(a->seq);
	}
	spin_unlock_bh(&a->lock);
	return l;
}

/**
 * smc_autosmc_child() - start to measure a new child of a listener
 * @child: the child, locked by the bottom half that made it
 * @listener: its listener
 */
void smc_autosmc_child(struct sock *child, const struct sock *listener)
{
	struct smc_net *sn = smc_net(sock_net(child));
	struct smc_ip ip;
	u16 port;

	if (!test_bit(SMC_STEER_AUTOSMC, &sn->steer_on))
		return;
	key_of(listener, &ip, &port);
	smc_sk(child)->listener = get(&sn->steer->autosmc, &ip, port);
	smc_sk(child)->born = jiffies;
}

static void ended(struct sock *sk, struct smc_sample *s)
{
	struct smc_listener *l = xchg(&smc_sk(sk)->listener, NULL);

	if (!l)
		return;
	s->ms = jiffies_to_msecs(jiffies - smc_sk(sk)->born);
	spin_lock_bh(&l->lock);
	l->used = jiffies;
	smc_ewma_add(&l->picture, s, now_ms(), retry_ms(smc_net(sock_net(sk))));
	spin_unlock_bh(&l->lock);
	listener_put(l);
}

/**
 * smc_autosmc_conn_gone() - account the end of a connection that was up
 * @sk: its socket
 * @c: the connection; no system call is using it any more
 *
 * Context: any but hard interrupts.
 */
void smc_autosmc_conn_gone(struct sock *sk, const struct smc_conn *c)
{
	struct smc_sample s = {
		.messages = c->tx_calls + c->rx_calls,
		.bytes = c->tx_written + c->rx_cons,
	};

	ended(sk, &s);
}

/**
 * smc_autosmc_child_gone() - account the end of a child that is not accounted yet, such as one that
 *	was TCP
 * @sk: the socket, about to be freed
 *
 * A segment with data counts as a message.
 *
 * Context: any but hard interrupts.
 */
void smc_autosmc_child_gone(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct smc_sample s = {
		.messages = (u64)tp->data_segs_in + tp->data_segs_out,
		.bytes = tp->bytes_received + tp->bytes_acked,
	};

	ended(sk, &s);
}

/**
 * smc_autosmc_refuses() - are the connections of this listener too short for SMC?
 * @listener: the listener
 *
 * Context: any but hard interrupts.
 *
 * Return: true if they are.
 */
bool smc_autosmc_refuses(const struct sock *listener)
{
	struct smc_net *sn = smc_net(sock_net(listener));
	struct smc_listener *l;
	bool offers = true;
	struct smc_ip ip;
	u16 port;

	if (READ_ONCE(sn->autosmc) != SMC_AUTOSMC_ON)
		return false;
	key_of(listener, &ip, &port);
	rcu_read_lock();
	l = find(&sn->steer->autosmc, &ip, port);
	if (l) {
		spin_lock_bh(&l->lock);
		offers = smc_ewma_offers(&l->picture, now_ms());
		spin_unlock_bh(&l->lock);
	}
	rcu_read_unlock();
	return !offers;
}

/**
 * smc_autosmc_flush() - forget all listeners
 * @sn: the namespace
 */
void smc_autosmc_flush(struct smc_net *sn)
{
	struct smc_autosmc *a = &sn->steer->autosmc;
	struct smc_listener *l;
	struct hlist_node *next;
	unsigned int i;

	spin_lock_bh(&a->lock);
	for (i = 0; i < SMC_AUTOSMC_BUCKETS; i++)
		hlist_for_each_entry_safe(l, next, &a->buckets[i], node)
			__forget(a, l);
	spin_unlock_bh(&a->lock);
}

/* The listener at a position, with a reference. */
static struct smc_listener *nth(struct smc_autosmc *a, unsigned int bucket, unsigned int n,
				unsigned int *seq)
{
	struct smc_listener *l;

	spin_lock_bh(&a->lock);
	*seq = a->seq;
	hlist_for_each_entry(l, &a->buckets[bucket], node)
		if (!n--)
			break;
	if (l)
		refcount_inc(&l->ref);
	spin_unlock_bh(&a->lock);
	return l;
}

/**
 * smc_autosmc_nth() - read a listener by its position in the table
 * @sn: the namespace
 * @bucket: bucket, below SMC_AUTOSMC_BUCKETS
 * @n: position in the bucket
 * @e: receives the entry
 * @seq: receives the sequence number of the table
 *
 * Return: false if the bucket has no such position.
 */
bool smc_autosmc_nth(struct smc_net *sn, unsigned int bucket, unsigned int n,
		     struct smc_autosmc_entry *e, unsigned int *seq)
{
	struct smc_listener *l = nth(&sn->steer->autosmc, bucket, n, seq);
	u64 now = now_ms();

	if (!l)
		return false;
	e->ip = l->ip;
	e->any = !l->ip.hi && !l->ip.lo;
	e->port = l->port;
	spin_lock_bh(&l->lock);
	/* Lets an old verdict expire. */
	smc_ewma_offers(&l->picture, now);
	e->picture = l->picture;
	spin_unlock_bh(&l->lock);
	listener_put(l);
	e->retry = e->picture.verdict == SMC_VERDICT_TOO_SHORT ?
		   div_u64(e->picture.until - now + 999, 1000) : 0;
	return true;
}
