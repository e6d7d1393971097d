// SPDX-License-Identifier: GPL-2.0
/* The client's side of the handshake. */
#include "../config/eid.h"
#include "internal.h"
#include "pair.h"

static int send_proposal(struct smc_handshake *hs)
{
	struct smc_clc_proposal *p = &hs->area.proposal;
	struct smc_eids eids;
	int len;

	memset(p, 0, sizeof(*p));
	p->version = SMC_CLC_V2;
	p->release = SMC_CLC_RELEASE;
	smc_hs_peer_id(sock_net(hs->sk), p->peer_id);
	smc_eids_copy(&eids);
	p->eid_count = eids.n;
	memcpy(p->eids, eids.ueid, sizeof(p->eids));
	smc_fabric_offer(hs->sk, p);
	len = smc_clc_encode_proposal(p, hs->area.buf, sizeof(hs->area.buf));
	if (WARN_ON_ONCE(len < 0))
		return len;
	return smc_clc_send(hs, hs->area.buf, len);
}

/* A socket that connected to itself gets its own option back, and has no peer. */
static bool connected_to_self(const struct sock *sk)
{
	if (inet_sk(sk)->inet_sport != sk->sk_dport)
		return false;
#if IS_ENABLED(CONFIG_IPV6)
	if (sk->sk_family == AF_INET6)
		return ipv6_addr_equal(&sk->sk_v6_rcv_saddr, &sk->sk_v6_daddr);
#endif
	return sk->sk_rcv_saddr == sk->sk_daddr;
}

/* Is TCP up?  If not, it still connects, or it is over. */
static bool tcp_is_up(struct smc_handshake *hs)
{
	int state = inet_sk_state_load(hs->sk);

	if (state == TCP_SYN_SENT || state == TCP_SYN_RECV)
		return false;
	if (state == TCP_CLOSE) {
		smc_hs_end_new(hs);
		return false;
	}
	return true;
}

/* Did the peer answer the option?  If not, it is over. */
static bool smc_client_answered(struct smc_handshake *hs)
{
	struct sock *sk = hs->sk;

	/*
	 * A disconnect() at this moment clears it, but has taken the handshake away before: then
	 * the ending finds another one, or none, under the socket's lock and does nothing.
	 */
	if (!data_race(tcp_sk(sk)->syn_smc)) {
		smc_hs_end_tcp(hs, SMC_REASON_PEER_NO_OPTION, 0);
		return false;
	}
	if (smc_sk(sk)->raw_clc || connected_to_self(sk)) {
		smc_hs_end_tcp(hs, SMC_REASON_NONE, 0);
		return false;
	}
	return true;
}

static bool begin(struct smc_handshake *hs, enum smc_hs_step step)
{
	if (!smc_hs_lock_sock(hs))
		return false;
	hs->ops->begin(hs->sk);
	smc_hs_start(hs);
	smc_hs_release_sock(hs);
	smc_hs_set_step(hs, step);
	return true;
}

/* Step CONNECT: once TCP is up, begin with CLC, unless a child of this kernel decides. */
static bool smc_client_propose(struct smc_handshake *hs)
{
	if (!tcp_is_up(hs))
		return false;
	if (test_bit(SMC_HS_AWAIT, &hs->flags) && !test_bit(SMC_HS_CLAIMED, &hs->flags))
		return false;
	if (smc_pair_withdraw(hs))
		return begin(hs, SMC_HS_PAIR);
	if (!smc_client_answered(hs) || !begin(hs, SMC_HS_ACCEPT))
		return false;
	if (send_proposal(hs)) {
		smc_hs_end_reset(hs, SMC_REASON_INTERNAL, ECONNRESET);
		return false;
	}
	return true;
}

/* Returns true if there is a connection to prepare. */
static bool take_accept(struct smc_handshake *hs)
{
	const struct smc_clc_accept *a = &hs->area.accept;
	enum smc_reason reason;

	reason = smc_fabric_accepts(hs->sk, a, &hs->neg);
	if (!reason) {
		/* Our Confirm repeats the server's flag and common features. */
		hs->neg.first_contact = a->first_contact;
		if (a->has_fce)
			hs->neg.features &= a->features;
		if (IS_ERR(smc_hs_conn_new(hs)))
			reason = SMC_REASON_NO_BUFFER;
	}
	if (reason) {
		smc_hs_end_decline(hs, reason);
		return false;
	}
	smc_hs_set_step(hs, SMC_HS_PREPARE);
	return true;
}

/* Step PREPARE: ready to send the Confirm?  The Accept is in hs->area. */
static bool smc_client_prepare(struct smc_handshake *hs)
{
	const struct smc_clc_accept *a = &hs->area.accept;
	enum smc_reason reason;

	if (!smc_hs_prepared(hs, a))
		return false;
	reason = hs->conn->fabric->ops->attach(hs->conn, &hs->neg, a);
	if (reason) {
		smc_hs_end_decline(hs, reason);
		return false;
	}
	smc_hs_set_step(hs, SMC_HS_FINISH);
	if (smc_hs_send_accept(hs)) {
		smc_hs_end_reset(hs, SMC_REASON_INTERNAL, ECONNRESET);
		return false;
	}
	return true;
}

/* Step ACCEPT: has the server's Accept, or its Decline, arrived? */
static bool smc_client_accept(struct smc_handshake *hs)
{
	return smc_hs_expect(hs, SMC_CLC_ACCEPT) && take_accept(hs);
}

/* Step PAIR: has the child that claimed this client decided? */
static bool smc_client_paired(struct smc_handshake *hs)
{
	if (!test_bit(SMC_HS_DECIDED, &hs->flags)) {
		/* The child went before it could. */
		if (inet_sk_state_load(hs->sk) == TCP_CLOSE)
			smc_hs_end_tcp(hs, SMC_REASON_PEER_CLOSED, 0);
		return false;
	}
	/* Pairs with the barrier in decide(). */
	smp_rmb();
	if (hs->conn) {
		smc_hs_end_up(hs);
	/* A disconnect() that clears it has taken the handshake away before. */
	} else if (data_race(tcp_sk(hs->sk)->syn_smc)) {
		hs->area.decline.out_of_sync = false;
		smc_hs_end_tcp(hs, SMC_REASON_PEER_DECLINED, hs->pair.reason);
	} else {
		smc_hs_end_tcp(hs, SMC_REASON_PEER_NO_OPTION, 0);
	}
	return false;
}

const struct smc_hs_role smc_hs_client = {
	.first	= SMC_HS_CONNECT,
	.server	= false,
	.steps	= {
		[SMC_HS_CONNECT]	= smc_client_propose,
		[SMC_HS_ACCEPT]		= smc_client_accept,
		[SMC_HS_PREPARE]	= smc_client_prepare,
		[SMC_HS_FINISH]		= smc_hs_finish,
		[SMC_HS_PAIR]		= smc_client_paired,
	},
};
