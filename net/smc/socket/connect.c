// SPDX-License-Identifier: GPL-2.0
/* connect(). */
#include <net/inet_common.h>
#include <net/tcp.h>
#include "../fabric/fabric.h"
#include "../handshake/handshake.h"
#include "../handshake/pair.h"
#include "../policy/policy.h"
#include "../tcpopt/tcpopt.h"
#include "ipsec.h"
#include "socket.h"

static enum smc_reason filter_at_syn(const struct sock *sk)
{
	const struct smc_net *sn = smc_net(sock_net(sk));
	struct smc_flow flow;

	if (!smc_steered(sn))
		return SMC_REASON_NONE;
	smc_flow_of_sock(sk, &flow, false);
	return smc_filter_excludes(sn, &flow, true) ? SMC_REASON_FILTERED : SMC_REASON_NONE;
}

/*
 * TCP calls this to check the route after it has chosen addresses and ports, but before it builds
 * the first SYN. This is the moment to check for an IPsec policy or a filter rule, and to register
 * with the listeners of this kernel.
 */
static int smc_rebuild_header(struct sock *sk)
{
	int rc = smc_family(sk)->tcp_af_ops->rebuild_header(sk);
	enum smc_reason reason;

	/* TCP calls this again for each retransmitted SYN, and after the SYN-ACK has arrived. */
	if (rc || smc_sk(sk)->phase != SMC_PHASE_CONNECTING ||
	    sk->sk_state != TCP_SYN_SENT || !tcp_rtx_queue_empty(sk))
		return rc;
	reason = smc_ipsec_dst(__sk_dst_get(sk)) ? SMC_REASON_IPSEC : filter_at_syn(sk);
	if (reason) {
		smc_hs_detach(sk);
		smc_to_tcp(sk, reason, 0);
	} else {
		smc_pair_register(sk);
	}
	return 0;
}

/*
 * Will TCP call smc_rebuild_header() once it knows both ends? Not for a socket that was IPv4-mapped
 * before it was disconnected. A socket whose IPv4-mapped connect() failed has TCP's own table
 * again; install ours.
 */
static bool ask_at_syn(struct sock *sk)
{
	struct smc_family *f = smc_family(sk);

	if (inet_csk(sk)->icsk_af_ops == f->tcp_af_ops)
		WRITE_ONCE(inet_csk(sk)->icsk_af_ops, &f->af_ops);
	return inet_csk(sk)->icsk_af_ops == &f->af_ops;
}

/* Policies exist: check the route before the SYN if TCP will call us then, otherwise check now. */
static bool ipsec_covers(struct sock *sk, const struct sockaddr_unsized *addr, int len)
{
	return smc_ipsec_to_mapped(sk, addr, len) || !ask_at_syn(sk);
}

/* The verdict of filter and autocache, based on what is known of the destination so far. */
static enum smc_reason steered(struct sock *sk, const struct sockaddr_unsized *addr, int len)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	struct smc_flow flow;
	struct smc_ip ip;
	u16 port;

	if (test_bit(SMC_STEER_AUTOCACHE, &sn->steer_on) &&
	    smc_flow_destination(sk, addr, len, &ip, &port) &&
	    smc_autocache_knows(sn, &ip, port))
		return SMC_REASON_AUTOCACHE;
	if (!test_bit(SMC_STEER_FILTER, &sn->steer_on))
		return SMC_REASON_NONE;
	if (smc_flow_to_mapped(sk, addr, len, &flow))
		return smc_filter_excludes(sn, &flow, true) ? SMC_REASON_FILTERED :
							      SMC_REASON_NONE;
	return ask_at_syn(sk) ? SMC_REASON_NONE : SMC_REASON_FILTERED;
}

static enum smc_reason excluded(struct sock *sk, const struct sockaddr_unsized *addr, int len)
{
	if (smc_ipsec_any(sk) && ipsec_covers(sk, addr, len))
		return SMC_REASON_IPSEC;
	return smc_steered(smc_net(sock_net(sk))) ? steered(sk, addr, len) : SMC_REASON_NONE;
}

void __init smc_connect_init(struct smc_family *f)
{
	f->af_ops.rebuild_header = smc_rebuild_header;
}

/*
 * Pairing requires that TCP has yet to choose the initial sequence number; TCP_REPAIR, for example,
 * sets it beforehand.
 */
static bool may_pair(const struct sock *sk)
{
	const struct smc_net *sn = smc_net(sock_net(sk));

	return !tcp_sk(sk)->write_seq && !smc_sk(sk)->raw_clc && READ_ONCE(sn->loopback_pairing) &&
	       smc_fabric_pairs(sn);
}

/* Prepare a socket that begins to connect. The socket is locked. */
static enum smc_reason offer_smc(struct sock *sk)
{
	enum smc_reason reason = smc_eligible(sk);

	if (reason)
		return reason;
	if (!smc_hs_new(sk, sk, &smc_hs_client, &smc_hs_socket_ops, SMC_GFP_CHARGED))
		return SMC_REASON_NO_MEMORY;
	if (may_pair(sk))
		smc_pair_allow(sk);
	smc_tcpopt->offer(sk);
	__smc_set_phase(sk, SMC_PHASE_CONNECTING, SMC_REASON_NONE);
	smc_hook_callbacks(sk);
	return SMC_REASON_NONE;
}

/* How often a socket has been disconnected: at all, and by connect(). */
struct disconnects {
	unsigned int all;
	int tcp;
};

static struct disconnects disconnects_of(const struct sock *sk)
{
	return (struct disconnects){ smc_sk(sk)->n_disconnects, smc_compat_disconnects(sk) };
}

/*
 * First call of connect(): start TCP's connect; the socket is locked. If SMC is possible, TCP's
 * part does not block, because the caller has to wait for the handshake, too. Returns true if there
 * is nothing to wait for; *rc is then the result of the call.
 */
static bool start_connect(struct socket *sock, struct sockaddr_unsized *addr, int len, int flags,
			  int *rc)
{
	struct sock *sk = sock->sk;
	enum smc_reason reason = offer_smc(sk);

	if (reason)
		smc_to_tcp(sk, reason, 0);
	*rc = __inet_stream_connect(sock, addr, len, reason ? flags : flags | O_NONBLOCK, 0);
	/* connect() failed at once: the next attempt may offer SMC again. */
	if (*rc && sk->sk_state == TCP_CLOSE && sock->state == SS_UNCONNECTED) {
		smc_hs_detach(sk);
		smc_to_new(sk);
		smc_wake_negotiated(sk);
	}
	return reason || flags & O_NONBLOCK || (*rc && *rc != -EINPROGRESS);
}

/*
 * Is the connection up? If the peer closed during the handshake, connect() succeeds, because TCP
 * had connected; the next call sees the end of the stream. The socket is locked.
 */
static bool is_connected(struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct smc_sock *smc = smc_sk(sk);

	return sock->state == SS_CONNECTING &&
	       ((smc->phase == SMC_PHASE_UP && sk->sk_state != TCP_CLOSE) ||
		(smc->phase == SMC_PHASE_TCP && smc->reason == SMC_REASON_PEER_CLOSED));
}

/*
 * The end of a call that has @waited, or that had nothing to wait for; the socket is locked. If
 * another task has disconnected the socket meanwhile, TCP would begin a new connection, so return
 * what TCP returns to a task that was waiting in connect().
 */
static int end_connect(struct socket *sock, struct sockaddr_unsized *addr, int len, int flags,
		       const struct disconnects *before, bool waited)
{
	struct sock *sk = sock->sk;

	if (smc_sk(sk)->n_disconnects != before->all) {
		if (smc_compat_disconnects(sk) != before->tcp)
			return -EPIPE;
		return sock_error(sk) ?: -ECONNABORTED;
	}
	/* Another task has seen the connection first; TCP only looks whether there is one. */
	if (waited && sock->state == SS_CONNECTED)
		sock->state = SS_CONNECTING;
	if (is_connected(sock)) {
		sock->state = SS_CONNECTED;
		return 0;
	}
	/*
	 * To TCP a reset behind the peer's FIN is EPIPE. But TCP would have returned before it, and
	 * the program has not sent anything.
	 */
	if (waited && sock->state == SS_CONNECTING)
		cmpxchg(&sk->sk_err, EPIPE, ECONNRESET);
	return __inet_stream_connect(sock, addr, len, flags, 0);
}

/**
 * smc_proto_connect() - proto.connect: start TCP's connect
 * @sk: the socket, locked
 * @addr: address of the peer
 * @len: length of @addr
 *
 * A socket that is still in phase NEW here did not come through smc_connect(): sendto() with
 * MSG_FASTOPEN sends its data in the SYN.
 *
 * Before this call, a BPF program of the cgroup may have replaced the address.
 *
 * Return: as TCP's connect.
 */
int smc_proto_connect(struct sock *sk, struct sockaddr_unsized *addr, int len)
{
	bool fastopen = smc_sk(sk)->phase == SMC_PHASE_NEW;
	enum smc_reason reason;
	int rc;

	if (fastopen)
		smc_to_tcp(sk, SMC_REASON_FASTOPEN, 0);
	reason = smc_sk(sk)->phase == SMC_PHASE_CONNECTING ? excluded(sk, addr, len) :
							     SMC_REASON_NONE;
	if (reason) {
		smc_hs_detach(sk);
		smc_to_tcp(sk, reason, 0);
	}
	rc = smc_family(sk)->tcp->connect(sk, addr, len);
	if (!rc)
		smc_tcpopt->connecting(sk);
	else if (fastopen)
		smc_to_new(sk);
	return rc;
}

/*
 * Let an unconnected plain TCP socket become SMC again. It stays TCP while a sockmap has replaced
 * its tables. The socket is locked.
 */
static void renew(struct socket *sock)
{
	struct sock *sk = sock->sk;

	if (smc_sk(sk)->phase == SMC_PHASE_TCP && sock->state == SS_UNCONNECTED &&
	    sk->sk_state == TCP_CLOSE && smc_reclaim_proto(sk))
		smc_to_new(sk);
}

/**
 * smc_connect() - connect()
 * @sock: the socket
 * @addr: address of the peer, or AF_UNSPEC
 * @len: length of @addr
 * @flags: O_NONBLOCK
 *
 * Return: as TCP's connect(); 0 only after the socket has become SMC or TCP.
 */
int smc_connect(struct socket *sock, struct sockaddr_unsized *addr, int len, int flags)
{
	struct sock *sk = sock->sk;
	bool disconnect = len >= (int)sizeof(addr->sa_family) &&
			  addr->sa_family == AF_UNSPEC;
	struct disconnects before;
	bool fresh, connecting, waited, done = false;
	int rc = 0;

	lock_sock(sk);
	smc_await_former_children(sk);
	renew(sock);
	before = disconnects_of(sk);
	fresh = smc_sk(sk)->phase == SMC_PHASE_NEW &&
		sock->state == SS_UNCONNECTED && sk->sk_state == TCP_CLOSE &&
		len >= (int)sizeof(addr->sa_family) && !disconnect;
	if (fresh)
		done = start_connect(sock, addr, len, flags, &rc);
	/* Otherwise, as for a child whose handshake runs, TCP's error comes at once. */
	connecting = sock->state == SS_CONNECTING;
	release_sock(sk);
	if (done)
		return rc;
	waited = !disconnect && connecting && smc_negotiating(smc_sk(sk));
	if (waited) {
		rc = smc_wait_negotiated(sk, sock_sndtimeo(sk, flags & O_NONBLOCK), 0);
		if (rc)
			return rc != -EAGAIN ? rc : fresh ? -EINPROGRESS : -EALREADY;
	}
	lock_sock(sk);
	/* TCP disconnects even after an error. */
	if (disconnect)
		rc = __inet_stream_connect(sock, addr, len, flags, 0);
	else
		rc = end_connect(sock, addr, len, flags, &before, waited || fresh);
	/* For TCP it was the second call, which times out with another error. */
	if (fresh && rc == -EALREADY)
		rc = -EINPROGRESS;
	release_sock(sk);
	smc_stop_old_conns(sk);
	return rc;
}
