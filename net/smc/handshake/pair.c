// SPDX-License-Identifier: GPL-2.0
/* Pairs of sockets in this kernel; see pair.h. */
#include <linux/hash.h>
#include "../conn/stamp.h"
#include "../lock_class.h"
#include "../mem/charge.h"
#include "../stats.h"
#include "internal.h"
#include "pair.h"

#define PAIR_BITS	10

/*
 * How long a client waits for a child after a listener in this kernel has seen its SYN. The child
 * may be late because the accept queue is full, or because the last packet of TCP's handshake was
 * lost.
 */
#define PAIR_GRACE	(HZ / 100 + 1)

static struct pair_bucket {
	spinlock_t		lock;	/* protects the list, and who decides for its clients */
	struct hlist_head	clients;
} pair_table[1 << PAIR_BITS];

static struct pair_bucket *pair_bucket(u32 client_isn)
{
	return &pair_table[hash_32(client_isn, PAIR_BITS)];
}

void __init smc_pair_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(pair_table); i++) {
		smc_spin_lock_init(&pair_table[i].lock, SMC_LOCK_PAIR_BUCKET);
		INIT_HLIST_HEAD(&pair_table[i].clients);
	}
}

static struct smc_handshake *__pair_find(struct pair_bucket *b, u32 client_isn)
{
	struct smc_handshake *hs;

	lockdep_assert_held(&b->lock);
	hlist_for_each_entry(hs, &b->clients, pair.node)
		if (hs->pair.client_isn == client_isn)
			return hs;
	return NULL;
}

/**
 * smc_pair_register() - a client is about to send its first SYN
 * @sk: the client, locked; TCP has chosen its initial sequence number
 *
 * If two clients have the same number, neither is paired.
 *
 * Context: any.
 */
void smc_pair_register(struct sock *sk)
{
	struct smc_handshake *hs = rcu_dereference_protected(smc_sk(sk)->hs, 1), *other;
	u32 isn = tcp_sk(sk)->write_seq;
	struct pair_bucket *b = pair_bucket(isn);

	if (!hs || !hs->pair.possible)
		return;
	spin_lock_bh(&b->lock);
	hs->pair.client_isn = isn;
	hs->pair.registered = true;
	other = __pair_find(b, isn);
	if (other)
		hlist_del_init(&other->pair.node);
	else
		hlist_add_head(&hs->pair.node, &b->clients);
	spin_unlock_bh(&b->lock);
}

/**
 * smc_pair_seen() - a listener has received a SYN: its client, if in this kernel, should wait for
 * a child
 * @client_isn: the sequence number of the SYN
 *
 * Context: bottom half.
 */
void smc_pair_seen(u32 client_isn)
{
	struct pair_bucket *b = pair_bucket(client_isn);
	struct smc_handshake *hs;

	/* Most SYNs come from elsewhere. */
	if (likely(hlist_empty(&b->clients)))
		return;
	spin_lock(&b->lock);
	hs = __pair_find(b, client_isn);
	if (hs)
		set_bit(SMC_HS_NEAR, &hs->flags);
	spin_unlock(&b->lock);
}

/* TCP is up: is it worth waiting for a child? */
static bool __await(struct pair_bucket *b, struct smc_handshake *hs, u32 server_isn)
{
	lockdep_assert_held(&b->lock);
	/* Not registered before its SYN: an IPv4-mapped address, see ask_at_syn(). */
	if (!hs->pair.registered) {
		if (__pair_find(b, hs->pair.client_isn))
			return false;
		hs->pair.registered = true;
		hlist_add_head(&hs->pair.node, &b->clients);
	} else if (hlist_unhashed(&hs->pair.node)) {
		return false;
	} else if (!test_bit(SMC_HS_NEAR, &hs->flags)) {
		hlist_del_init(&hs->pair.node);
		return false;
	}
	hs->pair.server_isn = server_isn;
	set_bit(SMC_HS_AWAIT, &hs->flags);
	return true;
}

/**
 * smc_pair_await() - the SYN-ACK has arrived, the ACK has not been sent: may a child in this kernel
 * decide?
 * @sk: the client, locked
 *
 * Context: bottom half, or the backlog of a system call.
 * Return: true if so; the handshake then runs again after PAIR_GRACE at the latest.
 */
bool smc_pair_await(struct sock *sk)
{
	struct smc_handshake *hs = rcu_dereference_protected(smc_sk(sk)->hs, 1);
	struct tcp_sock *tp = tcp_sk(sk);
	struct pair_bucket *b;
	bool await;

	/* With TCP_DEFER_ACCEPT, TCP keeps back the ACK that makes the child. */
	if (!hs || !hs->pair.possible ||
	    READ_ONCE(inet_csk(sk)->icsk_accept_queue.rskq_defer_accept))
		return false;
	if (!hs->pair.registered)
		hs->pair.client_isn = tp->snd_una - 1;
	b = pair_bucket(hs->pair.client_isn);
	spin_lock_bh(&b->lock);
	await = __await(b, hs, tp->rcv_nxt - 1);
	spin_unlock_bh(&b->lock);
	if (!await)
		return false;
	/* With TCP_QUICKACK of 0, TCP would keep it back as well, for data that never come. */
	inet_csk_exit_pingpong_mode(sk);
	/* If a system call owns the socket, the child usually exists before the call ends. */
	if (!smc_left_to_owner(sk))
		smc_hs_kick_at(hs, jiffies + PAIR_GRACE);
	return true;
}

/**
 * smc_pair_claim() - look for the client of a new child in this kernel
 * @client_isn: initial sequence number of the client
 * @server_isn: initial sequence number of the child
 *
 * Context: bottom half.
 * Return: the client's handshake, with a reference. The caller must now decide for its socket with
 * smc_pair_now(), smc_pair_later() or smc_pair_refuse(). NULL if there is no such client.
 */
struct smc_handshake *smc_pair_claim(u32 client_isn, u32 server_isn)
{
	struct pair_bucket *b = pair_bucket(client_isn);
	struct smc_handshake *hs;

	if (hlist_empty(&b->clients))
		return NULL;
	/* Races with smc_pair_withdraw(): one of the two decides. model/pair.pml: claim. */
	spin_lock(&b->lock);
	hs = __pair_find(b, client_isn);
	if (hs && (hs->pair.server_isn != server_isn || !test_bit(SMC_HS_AWAIT, &hs->flags)))
		hs = NULL;
	if (hs) {
		refcount_inc(&hs->ref);
		hlist_del_init(&hs->pair.node);
		set_bit(SMC_HS_CLAIMED, &hs->flags);
	}
	spin_unlock(&b->lock);
	return hs;
}

/**
 * smc_pair_withdraw() - stop waiting for a child
 * @hs: handshake of the client
 *
 * Context: any.
 * Return: true if a child has already claimed the client and will decide.
 */
bool smc_pair_withdraw(struct smc_handshake *hs)
{
	struct pair_bucket *b;

	if (!hs->pair.registered)
		return false;
	b = pair_bucket(hs->pair.client_isn);
	/* Races with smc_pair_claim(). model/pair.pml: withdraw. */
	spin_lock_bh(&b->lock);
	if (!hlist_unhashed(&hs->pair.node))
		hlist_del_init(&hs->pair.node);
	spin_unlock_bh(&b->lock);
	return test_bit(SMC_HS_CLAIMED, &hs->flags);
}

/**
 * smc_pair_claimed() - will a child decide for this client?
 * @sk: the client, locked
 *
 * Return: true if so.
 */
bool smc_pair_claimed(struct sock *sk)
{
	struct smc_handshake *hs = rcu_dereference_protected(smc_sk(sk)->hs, 1);

	return hs && test_bit(SMC_HS_CLAIMED, &hs->flags);
}

/**
 * smc_pair_take() - let a client act on the decision that was made for it
 * @sk: the client; the caller owns it, or holds its spin lock while nobody owns it
 *
 * Any outcome other than SMC is left to the handshake's work item.
 *
 * Context: any.
 */
void smc_pair_take(struct sock *sk)
{
	struct smc_handshake *hs = rcu_dereference_protected(smc_sk(sk)->hs, 1);
	struct smc_conn *c;

	if (!hs || !test_bit(SMC_HS_DECIDED, &hs->flags))
		return;
	/* Pairs with the barrier in decide().  model/pair.pml: take the decision. */
	smp_rmb();
	c = hs->conn;
	if (!c || smc_sk(sk)->closing) {
		smc_hs_kick(hs);
		return;
	}
	hs->conn = NULL;
	hs->ops->up(sk, c);
	smc_hs_unlink(sk);
	hs->ops->done(sk);
	smc_hs_put(hs);
}

/**
 * smc_pair_released() - the owner of a client releases the lock
 * @sk: the client; its spin lock is held
 *
 * Context: proto.release_cb, if smc_left_to_owner() has requested the call.
 */
void smc_pair_released(struct sock *sk)
{
	struct smc_handshake *hs = rcu_dereference_protected(smc_sk(sk)->hs, 1);

	if (!hs)
		return;
	if (test_bit(SMC_HS_DECIDED, &hs->flags))
		smc_pair_take(sk);
	else if (test_bit(SMC_HS_AWAIT, &hs->flags))
		smc_hs_kick_at(hs, jiffies + PAIR_GRACE);
	else
		smc_hs_kick(hs);
}

/* Returns true if the client has acted on the decision, or its owner will. */
static bool tell_client(struct sock *sk)
{
	if (!spin_trylock_bh(&sk->sk_lock.slock))
		return false;
	if (!smc_left_to_owner(sk))
		smc_pair_take(sk);
	spin_unlock_bh(&sk->sk_lock.slock);
	return true;
}

/*
 * Decide for the client: SMC with connection @c, or TCP with @reason. Takes over the reference to
 * the handshake.
 */
static void decide(struct smc_handshake *client, struct smc_conn *c, enum smc_reason reason)
{
	client->conn = c;
	client->pair.reason = reason;
	/* Pairs with the barriers of the readers of the flag. model/pair.pml: decide. */
	smp_wmb();
	set_bit(SMC_HS_DECIDED, &client->flags);
	if (!tell_client(client->sk))
		smc_hs_kick(client);
	smc_hs_put_later(client);
}

/**
 * smc_pair_by_worker() - let the work item of a child's handshake decide for both
 * @client: handshake of the client, from smc_pair_claim(); takes over its reference
 * @child: the child, locked, with a handshake that smc_hs_begin() has yet to start
 *
 * Context: any.
 */
void smc_pair_by_worker(struct smc_handshake *client, struct sock *child)
{
	struct smc_handshake *hs = rcu_dereference_protected(smc_sk(child)->hs, 1);

	hs->pair.client = client;
}

/**
 * smc_pair_allow() - allow a client to be paired
 * @sk: the client, locked, with a handshake, before TCP begins to connect
 */
void smc_pair_allow(struct sock *sk)
{
	struct smc_handshake *hs = rcu_dereference_protected(smc_sk(sk)->hs, 1);

	hs->pair.possible = true;
}

/**
 * smc_pair_refuse() - decide that a claimed client stays TCP
 * @client: handshake of the client, from smc_pair_claim(); takes over its reference
 * @reason: why the child's side refuses
 *
 * Context: any.
 */
void smc_pair_refuse(struct smc_handshake *client, enum smc_reason reason)
{
	decide(client, NULL, reason);
}

static int make_pair(struct smc_handshake *client, struct sock *child, struct mem_cgroup *memcg,
		     bool atomic, struct smc_conn **conn)
{
	struct smc_pair_end c = { .sk = client->sk, .memcg = client->memcg };
	struct smc_pair_end s = { .sk = child, .memcg = memcg };
	struct smc_net *sn = smc_net(sock_net(child));
	int rc;

	/* From an attempt that could not wait for memory */
	client->pair.client_fails = false;
	/* The client has looked at its own options before it began to wait. */
	rc = READ_ONCE(sn->enable) ? client->ops->excludes(child) : SMC_REASON_DISABLED;
	if (rc)
		return rc;
	smc_hs_wanted(c.sk, &c.want);
	smc_hs_wanted(s.sk, &s.want);
	rc = smc_fabric_pair(&c, &s, atomic);
	client->pair.client_fails = c.fails;
	if (rc)
		return rc;
	/* The first data may arrive before the other socket is up. */
	smc_stamps_follow(c.sk, c.conn);
	smc_stamps_follow(s.sk, s.conn);
	smc_stats_paired(sock_net(c.sk), false);
	smc_stats_paired(sock_net(s.sk), true);
	*conn = s.conn;
	decide(client, c.conn, SMC_REASON_NONE);
	return 0;
}

/**
 * smc_pair_now() - connect a child that is being created with its client
 * @client: handshake of the client, from smc_pair_claim(); takes over its reference unless this
 *	returns -EAGAIN
 * @child: the child, locked
 * @listener: its listener, whose memory cgroup is charged
 * @conn: receives the child's end, ready for use
 *
 * Context: bottom half.
 * Return: 0; -EAGAIN if memory cannot be allocated without sleeping, so that smc_pair_later() must
 * follow; or an enum smc_reason if both ends become TCP.
 */
int smc_pair_now(struct smc_handshake *client, struct sock *child, const struct sock *listener,
		 struct smc_conn **conn)
{
	struct mem_cgroup *memcg = smc_charge_get(listener);
	int rc = make_pair(client, child, memcg, true, conn);

	smc_charge_put(memcg);
	if (rc > 0)
		smc_pair_refuse(client, rc);
	return rc;
}

/**
 * smc_pair_later() - as smc_pair_now(), but in the work item of the child's handshake
 * @client: handshake of the client; takes over its reference
 * @server: handshake of the child; receives the child's end, or whether the client's end has failed
 *
 * Context: process, may sleep.
 * Return: 0, or an enum smc_reason if both ends become TCP.
 */
int smc_pair_later(struct smc_handshake *client, struct smc_handshake *server)
{
	int rc = make_pair(client, server->sk, server->memcg, false, &server->conn);

	if (rc) {
		server->pair.client_fails = client->pair.client_fails;
		smc_pair_refuse(client, rc);
	}
	return rc;
}
