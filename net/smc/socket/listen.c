// SPDX-License-Identifier: GPL-2.0
/* Listeners, and the creation of their children. */
#include <net/inet_common.h>
#include <net/sock_reuseport.h>
#include <net/tcp.h>
#include "../handshake/handshake.h"
#include "../handshake/pair.h"
#include "../policy/policy.h"
#include "../tcpopt/tcpopt.h"
#include "ipsec.h"
#include "socket.h"

/* The SYN that TCP is processing; set only if there are IPsec policies or steering rules. */
static DEFINE_PER_CPU(struct sk_buff *, smc_current_syn);

/* Bottom halves are disabled, so no other SYN is processed on this CPU meanwhile. */
static int smc_conn_request(struct sock *sk, struct sk_buff *skb)
{
	const struct inet_connection_sock_af_ops *tcp = smc_family(sk)->tcp_af_ops;
	int rc;

	/*
	 * With TCP_DEFER_ACCEPT the child waits for data, so the client must not wait for the
	 * child. It would wait in vain for a child that pair_with_client() does not pair.
	 */
	if (!inet_csk(sk)->icsk_accept_queue.rskq_defer_accept && !smc_sock_ops_run(sk))
		smc_pair_seen(ntohl(tcp_hdr(skb)->seq));
	if (likely(!smc_ipsec_any(sk)) && !smc_steered(smc_net(sock_net(sk))))
		return smc_tcpopt->conn_request(sk, skb, tcp->conn_request);
	this_cpu_write(smc_current_syn, skb);
	rc = smc_tcpopt->conn_request(sk, skb, tcp->conn_request);
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

/**
 * smc_refuses_syn() - decide about a SYN that carries the option
 * @sk: the listener
 *
 * A listener that answers the option may still decline the Proposal, see smc_server_proposal().
 *
 * Context: bottom half.
 *
 * Return: true if the SYN-ACK must not carry the option.
 */
bool smc_refuses_syn(const struct sock *sk)
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

/*
 * Why the SYN-ACK carried no option: for a reason of our own, because the SYN had none, or because
 * a SYN cookie cannot record whether the SYN had one.
 */
static enum smc_reason why_tcp(const struct sock *listener, struct sock *child, bool cookie)
{
	enum smc_reason reason = smc_eligible(listener);

	if (!reason && smc_ipsec_any(child) && smc_ipsec_dst(__sk_dst_get(child)))
		reason = SMC_REASON_IPSEC;
	if (!reason && filter_excludes_child(child))
		reason = SMC_REASON_FILTERED;
	if (!reason && too_short(listener))
		reason = SMC_REASON_TOO_SHORT;
	if (!reason && cookie)
		reason = SMC_REASON_SYN_COOKIE;
	return reason ?: smc_tcpopt_why_not(sock_net(child));
}

/* @client: the client's handshake, if it is in this kernel and has been claimed; or NULL. */
static bool new_server(struct sock *child, const struct sock *listener,
		       struct smc_handshake *client)
{
	if (!smc_hs_new(child, listener, &smc_hs_server, &smc_hs_socket_ops, GFP_ATOMIC))
		return false;
	if (client)
		smc_pair_by_worker(client, child);
	smc_hs_begin(child, false);
	return true;
}

/*
 * Start the handshake of a child whose client speaks SMC; the bottom half that made the child holds
 * its lock.
 */
static void start_server(struct sock *child, const struct sock *listener)
{
	__smc_set_phase(child, SMC_PHASE_HANDSHAKE, SMC_REASON_NONE);
	smc_hook_callbacks(child);
	smc_defer(child, listener);
	if (!new_server(child, listener, NULL))
		smc_reset_child(child);
}

/*
 * Pair the child with its client, without CLC, if the client is in this kernel; the bottom half
 * holds the child's lock. A BPF program that TCP has yet to call for this child may set options,
 * which CLC is late enough to look at.
 */
static bool pair_with_client(struct sock *child, const struct sock *listener,
			     const struct request_sock *req)
{
	struct smc_handshake *client;
	struct smc_conn *c;
	int rc;

	if (!READ_ONCE(smc_net(sock_net(child))->loopback_pairing) || smc_sock_ops_run(child))
		return false;
	client = smc_pair_claim(tcp_rsk(req)->rcv_isn, tcp_rsk(req)->snt_isn);
	if (likely(!client))
		return false;
	__smc_set_phase(child, SMC_PHASE_HANDSHAKE, SMC_REASON_NONE);
	smc_hook_callbacks(child);
	rc = smc_pair_now(client, child, listener, &c);
	if (!rc) {
		smc_to_up(child, c);
	} else if (rc != -EAGAIN) {
		smc_to_tcp(child, rc, 0);
	} else if (!new_server(child, listener, client)) {
		smc_pair_refuse(client, SMC_REASON_NO_MEMORY);
		smc_to_tcp(child, SMC_REASON_NO_MEMORY, 0);
	}
	return true;
}

/* A client in this kernel can be paired whether or not its SYN carried the option. */
static bool may_have_local_client(enum smc_reason reason)
{
	return !reason || reason == SMC_REASON_PEER_NO_OPTION ||
	       reason == SMC_REASON_NO_TCP_OPTION || reason == SMC_REASON_SYN_COOKIE;
}

/* Decide whether a child starts a handshake; the bottom half that made the child holds its lock. */
static void settle_child(struct sock *child, const struct sock *listener,
			 const struct request_sock *req, bool fastopen, bool cookie)
{
	bool answered = smc_tcpopt->requested(listener, child, req);
	enum smc_reason reason;

	reason = answered ? SMC_REASON_NONE : why_tcp(listener, child, cookie);
	if (answered && smc_sk(child)->raw_clc)
		smc_to_tcp(child, SMC_REASON_NONE, 0);
	else if (!fastopen && may_have_local_client(reason) && !smc_sk(child)->raw_clc &&
		 !smc_has_kernel_user(child) && pair_with_client(child, listener, req))
		return;
	else if (reason)
		smc_to_tcp(child, reason, 0);
	else
		start_server(child, listener);
}

static struct sock *smc_syn_recv_sock(const struct sock *sk, struct sk_buff *skb,
				      struct request_sock *req,
				      struct dst_entry *dst,
				      struct request_sock *req_unhash,
				      bool *own_req SMC_CHILD_INIT_PARAM)
{
	struct smc_family *f = smc_family(sk);
	/* The SYN carried data, so data was received before SMC could be negotiated. */
	bool fastopen = !req_unhash && tcp_hdr(skb)->syn;
	struct sock *child;

	if (!req_unhash)
		smc_tcpopt->ignore(req);
	child = f->tcp_af_ops->syn_recv_sock(sk, skb, req, dst, req_unhash,
					     own_req SMC_CHILD_INIT_ARG);
	/* Without ownership, TCP drops the child at once, while it is still a raw copy. */
	if (!child || !*own_req)
		return child;
	/* The creator of a clone tells which slab its memory came from. */
	if (smc_assert(child->sk_prot_creator == &f->prot)) {
		child->sk_destruct = f->tcp_destruct;
		return child;
	}
	smc_child_born(child, sk);
	if (smc_steered(smc_net(sock_net(sk))))
		smc_autosmc_child(child, sk);
	settle_child(child, sk, req, fastopen, !req_unhash && !fastopen);
	return child;
}

void __init smc_listen_init(struct smc_family *f)
{
	f->af_ops = *f->tcp_af_ops;
	f->af_ops.syn_recv_sock = smc_syn_recv_sock;
	f->af_ops.conn_request = smc_conn_request;
}

/* Set up everything that must be in place before a SYN can find the listener. */
static int become_listener(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	/* TCP's listen() must only be reached through smc_listen(). */
	if (smc_assert(smc->listen_calls))
		return -EINVAL;
	/* Another call has started and ended listening since begin_listen_call(). */
	if (smc->listener_ends != smc->ends_awaited)
		return -EAGAIN;
	if (smc->phase == SMC_PHASE_TCP)
		smc_to_new(sk);
	if (smc_assert(smc->phase == SMC_PHASE_NEW))
		return -EINVAL;
	smc_tcpopt->listen(sk);
	/* An earlier connection over IPv4-mapped addresses leaves a different TCP table behind. */
	WRITE_ONCE(inet_csk(sk)->icsk_af_ops, &smc_family(sk)->af_ops);
	__smc_set_phase(sk, SMC_PHASE_LISTEN, SMC_REASON_NONE);
	return 0;
}

/**
 * smc_hash() - proto.hash: TCP is about to hash the socket
 * @sk: the socket, locked by inet_csk_listen_start()
 *
 * The phase and the TCP state of a listener change under the same hold of the lock.
 *
 * Return: 0 or a negative errno; on an error TCP does not listen.
 */
int smc_hash(struct sock *sk)
{
	bool listens = sk->sk_state == TCP_LISTEN && smc_is_self(sk);
	int rc = listens ? become_listener(sk) : 0;

	if (rc)
		return rc;
	rc = smc_family(sk)->tcp->hash(sk);
	if (rc && listens)
		smc_to_new(sk);
	return rc;
}

/* The socket is locked; TCP stores the new state afterwards. */
static void end_listener(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);

	if (smc->phase == SMC_PHASE_LISTEN)
		smc_to_new(sk);
	smc->listener_ends++;
}

/**
 * smc_unhash() - proto.unhash: the TCP state is about to become TCP_CLOSE
 * @sk: the socket
 *
 * Every end of a listener passes through here, before its children are destroyed.
 *
 * Context: any; a listener is locked.
 */
void smc_unhash(struct sock *sk)
{
	/* sk_state changes only after this call. */
	bool listener = smc_is_self(sk) && sk->sk_state == TCP_LISTEN;

	if (listener)
		end_listener(sk);
	smc_family(sk)->tcp->unhash(sk);
	if (listener && rcu_access_pointer(sk->sk_reuseport_cb)) {
		smc_migrate_children(sk);
		/* So TCP cannot give an SMC child to a listener that is plain TCP. */
		reuseport_detach_sock(sk);
	}
}

/**
 * smc_await_former_children() - wait before a former listener is reused
 * @sk: the socket, locked; the lock may be dropped temporarily
 *
 * A bottom half may still be making a child of the listener that this socket was. It has seen the
 * state TCP_LISTEN, which is gone once the lock has been released, so a grace period that starts
 * after that outlasts any such bottom half.
 *
 * Context: process, may sleep.
 */
void smc_await_former_children(struct sock *sk)
{
	struct smc_sock *smc = smc_sk(sk);
	unsigned int ends;

	while (unlikely(smc->listener_ends != smc->ends_awaited)) {
		ends = smc->listener_ends;
		release_sock(sk);
		synchronize_rcu();
		lock_sock(sk);
		/* If the socket has listened again meanwhile, the loop waits for that end, too. */
		smc->ends_awaited = ends;
	}
}

/* From here to end_listen_call(), sk_prot is ours and stays so; see smc_lend_proto(). */
static int begin_listen_call(struct sock *sk)
{
	int rc;

	lock_sock(sk);
	smc_await_former_children(sk);
	rc = smc_reclaim_proto(sk) ? 0 : -EINVAL;
	write_lock_bh(&sk->sk_callback_lock);
	/* A sockmap may have replaced sk_prot in between. */
	if (!rc && READ_ONCE(sk->sk_prot) != &smc_family(sk)->prot)
		rc = -EINVAL;
	if (!rc)
		smc_sk(sk)->listen_calls++;
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
	return rc;
}

static void end_listen_call(struct sock *sk)
{
	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	smc_sk(sk)->listen_calls--;
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
}

/**
 * smc_listen() - listen()
 * @sock: the socket
 * @backlog: as for TCP; the accept queue is TCP's
 *
 * Return: as for TCP; -EINVAL while a sockmap has replaced the socket's tables.
 */
int smc_listen(struct socket *sock, int backlog)
{
	struct sock *sk = sock->sk;
	int rc;

	do {
		rc = begin_listen_call(sk);
		if (rc)
			return rc;
		rc = inet_listen(sock, backlog);
		end_listen_call(sk);
	} while (rc == -EAGAIN);	/* become_listener() */
	return rc;
}
