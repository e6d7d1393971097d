// SPDX-License-Identifier: GPL-2.0
/* Events for administrators: the per-namespace queue. */
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/inet_sock.h>
#include "events.h"
#include "netns.h"
#include "smc.h"

/**
 * struct smc_events - events of a namespace that have not been published yet
 * @net:	the namespace
 * @queue:	newest first
 * @n:		number of events in the queue
 * @lost:	bit 0: events were dropped, and the loss has not been reported yet
 * @work:	publishes them
 */
struct smc_events {
	struct net		*net;
	struct llist_head	queue;
	atomic_t		n;
	unsigned long		lost;
	struct work_struct	work;
};

/* Set before the first event; cleared before the work items of all namespaces are flushed. */
static const struct smc_event_publisher __rcu *the_publisher;

static void publish_all(struct work_struct *work)
{
	struct smc_events *events = container_of(work, struct smc_events, work);
	/* The publisher stays valid until this work has run, see smc_events_set_publisher(). */
	const struct smc_event_publisher *publisher = rcu_access_pointer(the_publisher);
	struct smc_event *e, *next;
	struct llist_node *all;

	all = llist_reverse_order(llist_del_all(&events->queue));
	llist_for_each_entry_safe(e, next, all, node) {
		if (publisher)
			publisher->publish(events->net, e);
		kfree(e);
		atomic_dec(&events->n);
	}
	/* Report the loss after the events that preceded it. */
	if (test_and_clear_bit(0, &events->lost) && publisher)
		publisher->lost(events->net);
}

/**
 * smc_events_set_publisher() - set or remove the publisher of events
 * @publisher: the publisher, or NULL to remove it after all earlier events have been published
 *
 * Context: process, may sleep.
 */
void smc_events_set_publisher(const struct smc_event_publisher *publisher)
{
	rcu_assign_pointer(the_publisher, publisher);
	if (publisher)
		return;
	synchronize_rcu();
	flush_workqueue(smc_wq);
}

static bool wanted(struct net *net)
{
	const struct smc_event_publisher *publisher;
	bool result;

	rcu_read_lock();
	publisher = rcu_dereference(the_publisher);
	result = publisher && publisher->wanted(net);
	rcu_read_unlock();
	return result;
}

static void lose(struct smc_events *events)
{
	if (!test_and_set_bit(0, &events->lost))
		queue_work(smc_wq, &events->work);
}

/**
 * smc_event_new() - begin an event
 * @net: the namespace
 * @type: SMC_EVENT_*
 *
 * Context: any but hard interrupts.
 * Return: the event, for smc_event_post(), or NULL if there are no listeners or the queue is full.
 */
struct smc_event *smc_event_new(struct net *net, u8 type)
{
	struct smc_events *events = smc_net(net)->events;
	struct smc_event *e;

	if (likely(!wanted(net)))
		return NULL;
	if (atomic_inc_return(&events->n) > SMC_EVENTS_MAX)
		goto no_room;
	e = kzalloc(sizeof(*e), GFP_ATOMIC | __GFP_NOWARN);
	if (!e)
		goto no_room;
	e->type = type;
	e->when = ktime_get_real_ns();
	return e;

no_room:
	atomic_dec(&events->n);
	lose(events);
	return NULL;
}

/**
 * smc_event_post() - queue a complete event
 * @net: the namespace
 * @e: the event, from smc_event_new()
 *
 * Context: any but hard interrupts.
 */
void smc_event_post(struct net *net, struct smc_event *e)
{
	struct smc_events *events = smc_net(net)->events;

	if (llist_add(&e->node, &events->queue))
		queue_work(smc_wq, &events->work);
}

static void take_ends(struct smc_event *e, const struct sock *sk)
{
	e->family = sk->sk_family;
	e->local_port = sk->sk_num;
	e->remote_port = ntohs(sk->sk_dport);
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6) {
		memcpy(e->local, &sk->sk_v6_rcv_saddr, sizeof(e->local));
		memcpy(e->remote, &sk->sk_v6_daddr, sizeof(e->remote));
		return;
	}
#endif
	memcpy(e->local, &sk->sk_rcv_saddr, sizeof(sk->sk_rcv_saddr));
	memcpy(e->remote, &sk->sk_daddr, sizeof(sk->sk_daddr));
}

/**
 * smc_event_fallback() - report that a socket has fallen back to TCP
 * @sk: the socket, locked
 * @server: the socket is a child of a listener
 * @reason: reason for the fallback, enum smc_reason
 * @diagnosis: the diagnosis in the peer's Decline, or 0
 *
 * Context: any but hard interrupts.
 */
void smc_event_fallback(const struct sock *sk, bool server, u32 reason, u32 diagnosis)
{
	struct smc_event *e = reason ? smc_event_new(sock_net(sk), SMC_EVENT_FALLBACK) : NULL;

	if (!e)
		return;
	e->server = server;
	e->reason = reason;
	e->diagnosis = diagnosis;
	take_ends(e, sk);
	smc_event_post(sock_net(sk), e);
}

static int __net_init smc_events_net_init(struct net *net)
{
	struct smc_events *events = kzalloc(sizeof(*events), SMC_GFP_CHARGED);

	if (!events)
		return -ENOMEM;
	events->net = net;
	init_llist_head(&events->queue);
	INIT_WORK(&events->work, publish_all);
	smc_net(net)->events = events;
	return 0;
}

/* The namespace has no sockets left, so no further event or listener can appear. */
static void __net_exit smc_events_net_exit(struct net *net)
{
	struct smc_events *events = smc_net(net)->events;

	flush_work(&events->work);
	WARN_ON_ONCE(!llist_empty(&events->queue));
	kfree(events);
}

struct pernet_operations smc_events_net_ops = {
	.init	= smc_events_net_init,
	.exit	= smc_events_net_exit,
};
