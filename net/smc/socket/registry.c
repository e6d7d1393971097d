// SPDX-License-Identifier: GPL-2.0
/*
 * The SMC sockets of each namespace, for dumps and counters.
 *
 * A namespace has one list per CPU, which contains the sockets that were created on that CPU. So
 * creation and destruction of a socket cost a few instructions under a mostly uncontended lock,
 * allocate nothing, and cannot fail. A walk leaves a cursor in the list to mark its position, so it
 * looks at each entry once, however often it is interrupted, and at no entry of another namespace.
 * Sockets are added at the head, behind every cursor. A walk therefore terminates, and visits every
 * socket that exists throughout the walk exactly once.
 */
#include <linux/timekeeping.h>
#include "../fabric/fabric.h"
#include "../lock_class.h"
#include "../sock_info.h"
#include "../stats.h"
#include "../tcpopt/tcpopt.h"
#include "socket.h"
#include "sockopt.h"
#include "walk.h"

/* Number of entries that a walk looks at before it releases the lock. */
#define REG_STRETCH	32

/**
 * struct smc_registry - the SMC sockets of a namespace that were created on one CPU
 * @lock:	protects @list and its entries' membership
 * @list:	struct smc_registry_entry of sockets and cursors, the newest socket first
 */
struct smc_registry {
	spinlock_t		lock;
	struct hlist_head	list;
};

/**
 * smc_registry_add() - add a new socket
 * @smc: the socket
 *
 * Context: any.
 */
void smc_registry_add(struct smc_sock *smc)
{
	struct smc_registry *reg = raw_cpu_ptr(smc_net(sock_net(smc_to_sk(smc)))->registry);

	smc->registered.registry = reg;
	spin_lock_bh(&reg->lock);
	hlist_add_head(&smc->registered.node, &reg->list);
	spin_unlock_bh(&reg->lock);
}

static bool __reg_begins_with_socket(const struct smc_registry *reg)
{
	const struct hlist_node *first = reg->list.first;

	lockdep_assert_held(&reg->lock);
	return first && hlist_entry(first, struct smc_registry_entry, node)->registry;
}

/**
 * smc_registry_del() - remove a socket whose memory is about to be freed
 * @smc: the socket
 *
 * Context: any.
 */
void smc_registry_del(struct smc_sock *smc)
{
	struct smc_registry *reg = smc->registered.registry;
	bool last;

	spin_lock_bh(&reg->lock);
	hlist_del(&smc->registered.node);
	/* Sockets may follow a cursor; smc_registry_in_use() checks for them. */
	last = !__reg_begins_with_socket(reg);
	spin_unlock_bh(&reg->lock);
	if (last)
		smc_tcpopt->idle(sock_net(smc_to_sk(smc)));
}

/**
 * smc_registry_in_use() - does this namespace have SMC sockets?
 * @net: the namespace
 *
 * Context: process.
 * Return: true if it does.
 */
bool smc_registry_in_use(struct net *net)
{
	struct smc_registry_entry *entry;
	struct smc_registry *reg;
	bool found = false;
	int cpu;

	for_each_possible_cpu(cpu) {
		reg = per_cpu_ptr(smc_net(net)->registry, cpu);
		spin_lock_bh(&reg->lock);
		hlist_for_each_entry(entry, &reg->list, node) {
			found = entry->registry;
			if (found)
				break;
		}
		spin_unlock_bh(&reg->lock);
		if (found)
			return true;
	}
	return false;
}

#ifdef CONFIG_SMC_TEST
/* Statistics about the cost of walks, for tests. */
static atomic64_t reg_looked, reg_most, reg_longest, reg_holds, reg_long_holds;

static void reg_raise(atomic64_t *most, u64 value)
{
	s64 old = atomic64_read(most);

	while (old < value && !atomic64_try_cmpxchg(most, &old, value))
		;
}

static u64 reg_clock(void)
{
	return ktime_get_ns();
}

static void reg_count(unsigned int looked, u64 began)
{
	u64 took = ktime_get_ns() - began;

	atomic64_add(looked, &reg_looked);
	atomic64_inc(&reg_holds);
	if (took > 100 * NSEC_PER_USEC)
		atomic64_inc(&reg_long_holds);
	reg_raise(&reg_most, looked);
	reg_raise(&reg_longest, took);
}

/**
 * smc_test_registry() - report the cost of walks over sockets, in all namespaces
 * @cost: receives the statistics
 */
void smc_test_registry(struct smc_test_registry *cost)
{
	cost->looked = atomic64_read(&reg_looked);
	cost->most = atomic64_read(&reg_most);
	cost->longest = atomic64_read(&reg_longest);
	cost->holds = atomic64_read(&reg_holds);
	cost->long_holds = atomic64_read(&reg_long_holds);
}
#else
static u64 reg_clock(void)
{
	return 0;
}

static void reg_count(unsigned int looked, u64 began)
{
}
#endif

/* The socket of an entry, with a reference; NULL for a cursor or for a dying socket. */
static struct sock *reg_hold(struct smc_registry_entry *entry)
{
	struct sock *sk;

	if (!entry->registry)
		return NULL;
	sk = smc_to_sk(container_of(entry, struct smc_sock, registered));
	return refcount_inc_not_zero(&sk->sk_refcnt) ? sk : NULL;
}

/*
 * Advance the cursor past the next socket of a list, but past no more than REG_STRETCH entries. At
 * the end of the list, the cursor is removed from it.
 */
static struct sock *__reg_advance(struct smc_sock_cursor *cursor, struct smc_registry *reg)
{
	struct hlist_node *place = &cursor->place.node, *at = NULL, *next;
	struct sock *sk = NULL;
	unsigned int looked = 0;
	u64 began = reg_clock();

	lockdep_assert_held(&reg->lock);
	next = hlist_unhashed(place) ? reg->list.first : place->next;
	hlist_del_init(place);
	while (next && !sk && looked < REG_STRETCH) {
		at = next;
		next = at->next;
		looked++;
		sk = reg_hold(hlist_entry(at, struct smc_registry_entry, node));
	}
	if (sk || next)
		hlist_add_behind(place, at);
	reg_count(looked, began);
	return sk;
}

/* The next socket of a list, with a reference, or NULL at the end of the list. */
static struct sock *reg_next_of(struct smc_sock_cursor *cursor, struct smc_registry *reg)
{
	struct sock *sk;
	bool more;

	cursor->registry = reg;
	do {
		spin_lock_bh(&reg->lock);
		sk = __reg_advance(cursor, reg);
		more = !hlist_unhashed(&cursor->place.node);
		spin_unlock_bh(&reg->lock);
		cond_resched();
	} while (!sk && more);
	return sk;
}

/* The next socket of a namespace, with a reference, or NULL. May sleep. */
static struct sock *reg_next(struct net *net, struct smc_sock_cursor *cursor)
{
	struct smc_registry __percpu *all = smc_net(net)->registry;
	struct sock *sk;

	for (; cursor->cpu < nr_cpu_ids;
	     cursor->cpu = cpumask_next(cursor->cpu, cpu_possible_mask)) {
		sk = reg_next_of(cursor, per_cpu_ptr(all, cursor->cpu));
		if (sk)
			return sk;
	}
	return NULL;
}

/* The walk stops before the socket that reg_next() has returned; @sk is still referenced. */
static void reg_step_back(struct smc_sock_cursor *cursor, struct sock *sk)
{
	spin_lock_bh(&cursor->registry->lock);
	hlist_del_init(&cursor->place.node);
	hlist_add_before(&cursor->place.node, &smc_sk(sk)->registered.node);
	spin_unlock_bh(&cursor->registry->lock);
}

static void fill_conn(struct smc_sock_info *info, struct smc_conn *c)
{
	info->state = READ_ONCE(c->state);
	info->sndbuf_size = READ_ONCE(c->tx_size);
	info->rmbe_size = READ_ONCE(c->rx_size);
	info->rx_prod = smc_count_read(&c->rx_prod);
	info->rx_cons = smc_count_read(&c->rx_cons);
	info->tx_written = smc_count_read(&c->tx_written);
	info->tx_prod = smc_count_read(&c->tx_prod);
	info->tx_cons = smc_count_read(&c->tx_cons);
	info->mode = c->ops->diag_mode;
	c->ops->show(c, info);
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
 * Runs without the socket's lock: the owner may hold it indefinitely in a call that accesses user
 * memory. A socket that is ending may be shown in an intermediate state. Returns false if the
 * connection has been closed and only the TCP socket is left.
 */
static bool fill_info(struct smc_sock_info *info, struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	struct smc_conn *c = NULL;

	memset(info, 0, sizeof(*info));
	info->sk = sk;
	/* The fields of a phase are stored before the phase, and are shown only in that phase. */
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
 * smc_sock_walk_begin() - begin a walk over the sockets of a namespace
 * @cursor: cursor of the walk; must not be moved in memory until smc_sock_walk_end()
 */
void smc_sock_walk_begin(struct smc_sock_cursor *cursor)
{
	INIT_HLIST_NODE(&cursor->place.node);
	cursor->place.registry = NULL;
	cursor->registry = NULL;
	cursor->cpu = cpumask_first(cpu_possible_mask);
}
EXPORT_SYMBOL_GPL(smc_sock_walk_begin);

/**
 * smc_sock_walk_end() - end a walk at any point
 * @cursor: cursor of the walk
 *
 * Context: any. The namespace must still exist.
 */
void smc_sock_walk_end(struct smc_sock_cursor *cursor)
{
	/* Only the walk itself inserts or removes its cursor. */
	if (hlist_unhashed_lockless(&cursor->place.node))
		return;
	spin_lock_bh(&cursor->registry->lock);
	hlist_del_init(&cursor->place.node);
	spin_unlock_bh(&cursor->registry->lock);
}
EXPORT_SYMBOL_GPL(smc_sock_walk_end);

/**
 * smc_sock_walk() - visit the SMC sockets of a namespace
 * @net: the namespace
 * @cursor: begun before; a walk that was stopped continues from here
 * @fn: called for each socket without locks; a nonzero return value stops the walk before this
 *	socket
 * @arg: argument of @fn
 *
 * Every socket that exists throughout the walk is visited exactly once; a socket that is created or
 * destroyed meanwhile may or may not be visited. The walk takes no lock that a program can hold, so
 * no program can stall it.
 *
 * Context: process, may sleep.
 * Return: the nonzero value of @fn that stopped the walk, or 0 at the end.
 */
int smc_sock_walk(struct net *net, struct smc_sock_cursor *cursor,
		  int (*fn)(const struct smc_sock_info *info, void *arg),
		  void *arg)
{
	struct smc_sock_info info;
	struct sock *sk;
	int rc;

	while ((sk = reg_next(net, cursor))) {
		rc = fill_info(&info, sk) ? fn(&info, arg) : 0;
		if (rc)
			reg_step_back(cursor, sk);
		sock_put(sk);
		if (rc)
			return rc;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(smc_sock_walk);

/**
 * smc_registry_flush() - flush the counts of all connections of a namespace
 * @net: the namespace
 *
 * Context: process, may sleep.
 */
void smc_registry_flush(struct net *net)
{
	struct smc_sock_cursor cursor;
	struct smc_conn *c;
	struct sock *sk;

	smc_sock_walk_begin(&cursor);
	while ((sk = reg_next(net, &cursor))) {
		rcu_read_lock();
		c = READ_ONCE(smc_sk(sk)->conn);
		if (c)
			smc_stats_flush(net, c);
		rcu_read_unlock();
		sock_put(sk);
	}
	smc_sock_walk_end(&cursor);
}

static int __net_init smc_registry_net_init(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	struct smc_registry *reg;
	int cpu;

	sn->registry = alloc_percpu_gfp(struct smc_registry, SMC_GFP_CHARGED);
	if (!sn->registry)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		reg = per_cpu_ptr(sn->registry, cpu);
		smc_spin_lock_init(&reg->lock, SMC_LOCK_REGISTRY);
		INIT_HLIST_HEAD(&reg->list);
	}
	return 0;
}

/* A socket holds its namespace until it has left the list. */
static void __net_exit smc_registry_net_exit(struct net *net)
{
	struct smc_net *sn = smc_net(net);
	int cpu;

	for_each_possible_cpu(cpu)
		smc_assert(hlist_empty(&per_cpu_ptr(sn->registry, cpu)->list));
	free_percpu(sn->registry);
}

struct pernet_operations smc_registry_net_ops = {
	.init	= smc_registry_net_init,
	.exit	= smc_registry_net_exit,
};
