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

/* Append @req to the queue of @listener, whose reference it takes. Fails if that has ended. */
static bool queue_child(struct sock *listener, struct request_sock *req)
{
	struct request_sock_queue *q = &inet_csk(listener)->icsk_accept_queue;
	bool listens;

	spin_lock_bh(&q->rskq_lock);
	listens = inet_sk_state_load(listener) == TCP_LISTEN;
	if (listens) {
		WRITE_ONCE(req->rsk_listener, listener);
		req->dl_next = NULL;
		if (q->rskq_accept_head)
			q->rskq_accept_tail->dl_next = req;
		else
			WRITE_ONCE(q->rskq_accept_head, req);
		q->rskq_accept_tail = req;
		sk_acceptq_added(listener);
	}
	spin_unlock_bh(&q->rskq_lock);
	return listens;
}

/* A child that TCP would not have created yet, as its client has sent nothing, is not ready. */
static bool is_ready(struct sock *child)
{
	bool ready = true;

	if (!smc_is_ours(child))
		return true;
	bh_lock_sock(child);
	if (smc_sk(child)->deferred) {
		ready = !sock_owned_by_user(child) && smc_deferred_due(child);
		if (ready)
			smc_undefer(child);
	}
	bh_unlock_sock(child);
	return ready;
}

/* The listener that TCP would choose, referenced; NULL if there is none, or it is not SMC. */
static struct sock *other_listener(struct sock *sk, struct sock *child)
{
	struct sock *other = reuseport_migrate_sock(sk, child, NULL);

	if (!other || (smc_is_ours(other) && READ_ONCE(smc_sk(other)->phase) == SMC_PHASE_LISTEN))
		return other;
	sock_put(other);
	return NULL;
}

/* With TCP Fast Open, the child refers to its request, and the request to the listener. */
static bool migrate(struct sock *sk, struct request_sock *req)
{
	struct sock *other;

	if (tcp_rsk(req)->tfo_listener || !is_ready(req->sk))
		return false;
	other = other_listener(sk, req->sk);
	if (!other)
		return false;
	if (!queue_child(other, req)) {
		sock_put(other);
		return false;
	}
	/* accept() may have put the reference; but a listener is freed after a grace period. */
	other->sk_data_ready(other);
	NET_INC_STATS(sock_net(sk), LINUX_MIB_TCPMIGRATEREQSUCCESS);
	return true;
}

static struct request_sock *take_all(struct sock *sk)
{
	struct request_sock_queue *q = &inet_csk(sk)->icsk_accept_queue;
	struct request_sock *first;

	spin_lock_bh(&q->rskq_lock);
	first = q->rskq_accept_head;
	WRITE_ONCE(q->rskq_accept_head, NULL);
	spin_unlock_bh(&q->rskq_lock);
	return first;
}

/**
 * smc_migrate_children() - give the children of a listener that ends to another listener
 * @sk: the listener, locked, no longer hashed, and still in state TCP_LISTEN and in its group
 *
 * Context: any.
 */
void smc_migrate_children(struct sock *sk)
{
	struct request_sock *req, *next;
	struct former *f;

	if (reqsk_queue_empty(&inet_csk(sk)->icsk_accept_queue))
		return;
	f = kzalloc(sizeof(*f), GFP_ATOMIC | __GFP_NOWARN);
	if (!f)
		return;
	f->listener = sk;
	local_bh_disable();
	for (req = take_all(sk); req; req = next) {
		next = req->dl_next;
		sk_acceptq_removed(sk);
		if (migrate(sk, req))
			f->refs++;
		else
			queue_child(sk, req);
	}
	local_bh_enable();
	call_rcu(&f->rcu, put_former);
}
