// SPDX-License-Identifier: GPL-2.0
/*
 * A listener ends, and children that nobody has accepted go to another listener of its reuseport
 * group, if net.ipv4.tcp_migrate_req or a BPF program (BPF_SK_REUSEPORT_SELECT_OR_MIGRATE) says so.
 *
 * TCP does this after proto.unhash, and gives a child to whatever listener it finds. A plain TCP
 * listener cannot take an SMC child. So this file gives children to listeners that are SMC, and
 * then our listener leaves the group. A request whose TCP handshake is not complete stays with the
 * listener, and ends with it.
 */
#include <net/sock_reuseport.h>
#include <net/tcp.h>
#include "socket.h"

/*
 * References of children to their former listener. A bottom half that has found the request of a
 * child may be about to take a reference of its own, so they are given up after a grace period.
 */
struct former {
	struct rcu_head rcu;
	struct sock *listener;
	unsigned int refs;
};

static void put_former(struct rcu_head *rcu)
{
	struct former *f = container_of(rcu, struct former, rcu);

	while (f->refs--)
		sock_put(f->listener);
	kfree(f);
}

static void append(struct sock *listener, struct request_sock *req)
{
	struct request_sock_queue *q = &inet_csk(listener)->icsk_accept_queue;

	lockdep_assert_held(&q->rskq_lock);
	req->dl_next = NULL;
	if (q->rskq_accept_head)
		q->rskq_accept_tail->dl_next = req;
	else
		WRITE_ONCE(q->rskq_accept_head, req);
	q->rskq_accept_tail = req;
	sk_acceptq_added(listener);
}

/*
 * The request takes over the caller's reference to @to. After a SYN cookie it has had none to its
 * former listener. Fails if @to has ended.
 */
static bool queue_child(struct former *f, struct sock *to, struct request_sock *req)
{
	struct request_sock_queue *q = &inet_csk(to)->icsk_accept_queue;
	bool listens;

	spin_lock_bh(&q->rskq_lock);
	listens = inet_sk_state_load(to) == TCP_LISTEN;
	if (listens) {
		if (req->rsk_listener)
			f->refs++;
		WRITE_ONCE(req->rsk_listener, to);
		append(to, req);
	}
	spin_unlock_bh(&q->rskq_lock);
	return listens;
}

static void put_back(struct sock *sk, struct request_sock *req)
{
	struct request_sock_queue *q = &inet_csk(sk)->icsk_accept_queue;

	spin_lock_bh(&q->rskq_lock);
	append(sk, req);
	spin_unlock_bh(&q->rskq_lock);
}

/* A child that TCP would not have created yet, as its client has sent nothing, is not ready. */
static bool is_ready(struct sock *child)
{
	bool ready = true;

	if (!smc_is_ours(child))
		return true;
	local_bh_disable();
	bh_lock_sock(child);
	if (smc_sk(child)->deferred) {
		ready = !sock_owned_by_user(child) && smc_deferred_due(child);
		if (ready)
			smc_undefer(child);
	}
	bh_unlock_sock(child);
	local_bh_enable();
	return ready;
}

static bool takes_children(const struct sock *sk)
{
	return smc_is_ours(sk) && READ_ONCE(smc_sk(sk)->phase) == SMC_PHASE_LISTEN;
}

/* The first listener of the group that is SMC, referenced, or NULL. */
static struct sock *first_smc(const struct sock *sk)
{
	struct sock_reuseport *group = rcu_dereference(sk->sk_reuseport_cb);
	int n = group ? READ_ONCE(group->num_socks) : 0;

	/* Pairs with the barrier in __reuseport_add_sock(). */
	smp_rmb();
	for (int i = 0; i < n; i++) {
		struct sock *other = READ_ONCE(group->socks[i]);

		if (takes_children(other) && refcount_inc_not_zero(&other->sk_refcnt))
			return other;
	}
	return NULL;
}

/* The listener that TCP would choose, referenced, or another one if that is not SMC, or NULL. */
static struct sock *other_listener(struct sock *sk, struct sock *child)
{
	struct sock *other = reuseport_migrate_sock(sk, child, NULL);

	if (!other || takes_children(other))
		return other;
	sock_put(other);
	return first_smc(sk);
}

/* With TCP Fast Open, the child refers to its request, and the request to the listener. */
static bool migrate(struct former *f, struct request_sock *req)
{
	struct sock *other;
	bool moved = false;

	if (tcp_rsk(req)->tfo_listener || !is_ready(req->sk))
		return false;
	/* As TCP, for the BPF program of the group. */
	local_bh_disable();
	/* Once the child has been accepted, its reference is gone; RCU keeps the listener. */
	rcu_read_lock();
	other = other_listener(f->listener, req->sk);
	if (other)
		moved = queue_child(f, other, req);
	if (moved)
		other->sk_data_ready(other);
	else if (other)
		sock_put(other);
	rcu_read_unlock();
	local_bh_enable();
	if (moved)
		NET_INC_STATS(sock_net(f->listener), LINUX_MIB_TCPMIGRATEREQSUCCESS);
	return moved;
}

/**
 * smc_migrate_children() - give the children of a listener that ends to another listener
 * @sk: the listener, locked, no longer hashed, and still in state TCP_LISTEN and in its group
 *
 * Bottom halves may still add children.
 *
 * Context: any.
 */
void smc_migrate_children(struct sock *sk)
{
	unsigned int n = READ_ONCE(sk->sk_ack_backlog);
	struct request_sock *req;
	struct former *f;

	if (!n)
		return;
	f = kzalloc(sizeof(*f), GFP_ATOMIC | __GFP_NOWARN);
	if (!f)
		return;
	f->listener = sk;
	/* Children that stay go to the end of the queue, so each one is looked at once. */
	while (n-- && (req = reqsk_queue_remove(&inet_csk(sk)->icsk_accept_queue, sk)))
		if (!migrate(f, req))
			put_back(sk, req);
	call_rcu(&f->rcu, put_former);
}
