// SPDX-License-Identifier: GPL-2.0
/*
 * TCP_DEFER_ACCEPT: accept() and poll() see a child only once its client has sent data.
 *
 * TCP keeps such a child out of the accept queue until data arrives, but for TCP the messages of
 * CLC are data. So the children are in the queue already, and the listener looks past those that
 * have received nothing yet. A child whose time is up, or whose connection has ended, is as good as
 * one with data; so it is with TCP. deferred.c has the part of the child.
 */
#include <linux/sched/signal.h>
#include <net/tcp.h>
#include "socket.h"

/* A TCP child that was moved to us has no business here: TCP has deferred it. */
static bool is_due(const struct sock *child)
{
	return !smc_is_ours(child) || smc_deferred_due(child);
}

/* Is there a child that accept() may return? If so, @first moves it to the head of the queue. */
static bool find_due(struct sock *sk, bool first)
{
	struct request_sock_queue *q = &inet_csk(sk)->icsk_accept_queue;
	struct request_sock *req, *prev = NULL;

	spin_lock_bh(&q->rskq_lock);
	for (req = q->rskq_accept_head; req && !is_due(req->sk); req = req->dl_next)
		prev = req;
	if (first && req && prev) {
		prev->dl_next = req->dl_next;
		if (q->rskq_accept_tail == req)
			q->rskq_accept_tail = prev;
		req->dl_next = q->rskq_accept_head;
		WRITE_ONCE(q->rskq_accept_head, req);
	}
	spin_unlock_bh(&q->rskq_lock);
	return req;
}

/**
 * smc_defers() - does a listener wait for data?
 * @sk: the socket
 *
 * Return: true if so.
 */
bool smc_defers(const struct sock *sk)
{
	return unlikely(READ_ONCE(inet_csk(sk)->icsk_accept_queue.rskq_defer_accept)) &&
	       inet_sk_state_load(sk) == TCP_LISTEN;
}

/**
 * smc_poll_deferring() - poll() on a listener that waits for data
 * @sk: the listener; the caller is in its wait queue
 *
 * Return: the bits that tcp_poll() would return.
 */
__poll_t smc_poll_deferring(struct sock *sk)
{
	return find_due(sk, false) ? EPOLLIN | EPOLLRDNORM : 0;
}

/**
 * smc_await_due() - wait until accept() can return a child
 * @sk: a listener that waits for data, not locked
 * @timeo: timeout in jiffies; receives what is left of it
 *
 * A task that accepts at the same time may take the child that was found here. Then the caller's
 * non-blocking accept() of TCP may return one that has received nothing, as it may after the
 * timeout, or fail with -EAGAIN.
 *
 * Return: 0 if the caller should call TCP's accept(), or a negative errno.
 */
int smc_await_due(struct sock *sk, long *timeo)
{
	DEFINE_WAIT(wait);
	int rc = 0;

	while (smc_defers(sk)) {
		prepare_to_wait_exclusive(sk_sleep(sk), &wait, TASK_INTERRUPTIBLE);
		if (find_due(sk, true))
			break;
		rc = *timeo ? sock_intr_errno(*timeo) : -EAGAIN;
		if (!*timeo || signal_pending(current))
			break;
		rc = 0;
		*timeo = schedule_timeout(*timeo);
	}
	finish_wait(sk_sleep(sk), &wait);
	return rc;
}
