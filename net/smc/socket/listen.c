// SPDX-License-Identifier: GPL-2.0
/* Listeners, and the birth of their children. */
#include <net/inet_common.h>
#include <net/tcp.h>
#include "../handshake/handshake.h"
#include "../netns.h"
#include "ipsec.h"
#include "nursery.h"
#include "socket.h"

/* The SYN that TCP works on; only where IPsec policies or rules want it looked at. */
static DEFINE_PER_CPU(struct sk_buff *, smc_current_syn);

/* Bottom halves are off: nobody else comes to this CPU with a SYN. */
static int smc_conn_request(struct sock *sk, struct sk_buff *skb)
{
	const struct inet_connection_sock_af_ops *tcp = smc_family(sk)->tcp_af_ops;
	int rc;

	if (likely(!smc_ipsec_any(sk)) && !smc_steered(smc_net(sock_net(sk))))
		return tcp->conn_request(sk, skb);
	this_cpu_write(smc_current_syn, skb);
	rc = tcp->conn_request(sk, skb);
	this_cpu_write(smc_current_syn, NULL);
	return rc;
}

static bool too_short(const struct sock *listener)
{
	return smc_steered(smc_net(sock_net(listener))) && smc_autosmc_refuses(listener);
}

static bool filter_excludes_syn(const struct sock *sk, const struct sk_buff *syn)
{
	const struct smc_net *sn = smc_net(sock_net(sk));
	struct smc_flow flow;

	if (!smc_steered(sn))
		return false;
	smc_flow_of_syn(syn, &flow);
	return smc_filter_excludes(sn, &flow, true);
}

/* Asked by TCP for each SYN that carries the option. */
static bool refuses_smc(const struct sock *sk)
{
	struct sk_buff *syn = this_cpu_read(smc_current_syn);

	return smc_eligible(sk) || too_short(sk) ||
	       (syn && (smc_ipsec_syn(sk, syn) || filter_excludes_syn(sk, syn)));
}

static bool filter_excludes_child(const struct sock *child)
{
	const struct smc_net *sn = smc_net(sock_net(child));
	struct smc_flow flow;

	if (!smc_steered(sn))
		return false;
	smc_flow_of_sock(child, &flow, true);
	return smc_filter_excludes(sn, &flow, false);
}

/* No option in our SYN-ACK: for our own reasons, or because none had come. */
static enum smc_reason why_tcp(const struct sock *listener, struct sock *child)
{
	enum smc_reason reason = smc_eligible(listener);

	if (!reason && smc_ipsec_any(child) && smc_ipsec_dst(__sk_dst_get(child)))
		reason = SMC_REASON_IPSEC;
	if (!reason && filter_excludes_child(child))
		reason = SMC_REASON_FILTERED;
	if (!reason && too_short(listener))
		reason = SMC_REASON_TOO_SHORT;
	return reason ?: SMC_REASON_PEER_NO_OPTION;
}

/* A child whose client speaks SMC; locked by the bottom half that made it. */
static void start_server(struct sock *child)
{
	struct smc_handshake *hs;

	__smc_set_phase(child, SMC_PHASE_HANDSHAKE, SMC_REASON_NONE);
	hs = smc_hs_new(child, SMC_HS_PROPOSAL, GFP_ATOMIC);
	if (!hs) {
		/* The client has been promised SMC: only a reset is honest. */
		sock_hold(child);
		if (!queue_work(smc_wq, &smc_sk(child)->reset_work))
			sock_put(child);
		return;
	}
	rcu_assign_pointer(smc_sk(child)->hs, hs);
	smc_hook_callbacks(child);
	smc_hs_start(hs);
}

static struct sock *smc_syn_recv_sock(const struct sock *sk, struct sk_buff *skb,
				      struct request_sock *req,
				      struct dst_entry *dst,
				      struct request_sock *req_unhash,
				      bool *own_req SMC_CHILD_INIT_PARAM)
{
	struct smc_family *f = smc_family(sk);
	/* Born of a SYN: its data came in it, before anybody could say SMC. */
	bool fastopen = !req_unhash && tcp_hdr(skb)->syn;
	struct sock *child;

	if (fastopen)
		inet_rsk(req)->smc_ok = 0;
	child = f->tcp_af_ops->syn_recv_sock(sk, skb, req, dst, req_unhash,
					     own_req SMC_CHILD_INIT_ARG);
	/* Without ownership it is put at once, as the raw copy it is. */
	if (!child || !*own_req)
		return child;

	if (inet_csk(child)->icsk_af_ops == &f->af_ops)
		inet_csk(child)->icsk_af_ops = f->tcp_af_ops;
	smc_child_born(child, sk);
	if (smc_steered(smc_net(sock_net(sk))))
		smc_autosmc_child(child, sk);
	if (!tcp_sk(child)->syn_smc)
		smc_to_tcp(child, why_tcp(sk, child), 0);
	else if (smc_sk(child)->raw_clc)
		smc_to_tcp(child, SMC_REASON_NONE, 0);
	else
		start_server(child);
	return child;
}

void __init smc_listen_init(struct smc_family *f)
{
	f->af_ops = *f->tcp_af_ops;
	f->af_ops.syn_recv_sock = smc_syn_recv_sock;
	f->af_ops.conn_request = smc_conn_request;
	smc_connect_init(f);
}

/**
 * smc_listen() - listen()
 * @sock: the socket
 * @backlog: as for TCP; the queue is TCP's
 */
int smc_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	int rc;

	lock_sock(sk);
	rc = smc_nursery_open(sk);
	if (rc) {
		release_sock(sk);
		return rc;
	}
	if (smc_sk(sk)->phase == SMC_PHASE_NEW && sk->sk_state == TCP_CLOSE) {
		tcp_sk(sk)->syn_smc = true;
		tcp_sk(sk)->smc_hs_congested = refuses_smc;
		inet_csk(sk)->icsk_af_ops = &smc_family(sk)->af_ops;
	}
	release_sock(sk);
	rc = inet_listen(sock, backlog);
	lock_sock(sk);
	if (!rc && sk->sk_state == TCP_LISTEN)
		__smc_set_phase(sk, SMC_PHASE_LISTEN, SMC_REASON_NONE);
	else if (rc && sk->sk_state == TCP_CLOSE)
		smc_to_new(sk);
	release_sock(sk);
	return rc;
}

/**
 * smc_plain_listen() - listen() on a socket that was plain TCP once
 * @sock: the socket
 * @backlog: as for TCP
 *
 * Its children must come from our slab, so it becomes new first.
 *
 * Return: as for TCP; -EINVAL if others have their hands on its tables.
 */
int smc_plain_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	int rc = 0;

	lock_sock(sk);
	if (sk->sk_state == TCP_CLOSE && sock->state == SS_UNCONNECTED) {
		if (smc_stays_tcp(sk))
			rc = -EINVAL;
		else
			smc_to_new(sk);
	}
	release_sock(sk);
	return rc ?: smc_listen(sock, backlog);
}
