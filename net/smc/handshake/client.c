// SPDX-License-Identifier: GPL-2.0
/* The client's side of the handshake. */
#include "../config/eid.h"
#include "../tcpopt/tcpopt.h"
#include "internal.h"
#include "pair.h"

static void send_proposal(struct smc_handshake *hs)
{
	struct smc_clc_proposal *p = &hs->area.proposal;
	struct smc_eids eids;

	memset(p, 0, sizeof(*p));
	p->version = SMC_CLC_V2;
	p->release = SMC_CLC_RELEASE;
	smc_hs_peer_id(sock_net(hs->sk), p->peer_id);
	smc_eids_copy(&eids);
	p->eid_count = eids.n;
	memcpy(p->eids, eids.ueid, sizeof(p->eids));
	smc_fabric_offer(hs->sk, p);
	smc_clc_send(hs, smc_clc_encode_proposal(p, hs->area.buf, sizeof(hs->area.buf)));
}

/* A child in this kernel has decided for this client. */
static void take_decision(struct smc_handshake *hs)
{
	/* Pairs with the barrier in decide().  model/pair.pml: take the decision. */
	smp_rmb();
	if (hs->conn) {
		smc_hs_end_up(hs);
	} else if (hs->pair.client_fails) {
		smc_hs_end_tcp(hs, hs->pair.reason, 0);
	/* disconnect(), which clears the option's state, detaches the handshake first. */
	} else if (smc_tcpopt->answered(hs->sk)) {
		hs->area.decline.out_of_sync = false;
		smc_hs_end_tcp(hs, SMC_REASON_PEER_DECLINED, hs->pair.reason);
	} else {
		smc_hs_end_tcp(hs, smc_tcpopt_why_not(sock_net(hs->sk)), 0);
	}
}

/* No child in this kernel has claimed the client: the socket decides whether CLC begins. */
static void give_up_pairing(struct smc_handshake *hs)
{
	/* Withdraw first, then check for a claim. model/pair.pml: give up. */
	if (smc_hs_lock(hs) && !smc_pair_withdraw(hs))
		hs->ops->unpaired(hs->sk);
	smc_hs_unlock(hs);
}

/* Step CONNECT: until CLC begins, TCP connects, or a child in this kernel may decide. */
static bool smc_client_connect(struct smc_handshake *hs)
{
	if (test_bit(SMC_HS_DECIDED, &hs->flags)) {
		take_decision(hs);
		return false;
	}
	if (BIT(inet_sk_state_load(hs->sk)) & (TCPF_SYN_SENT | TCPF_SYN_RECV) ||
	    test_bit(SMC_HS_AWAIT, &hs->flags))
		return false;
	if (!test_bit(SMC_HS_BEGUN, &hs->flags)) {
		/* If CLC begins now, the work is queued again. */
		give_up_pairing(hs);
		return false;
	}
	if (test_bit(SMC_HS_CROSSED_SYNS, &hs->flags)) {
		smc_hs_set_step(hs, SMC_HS_CROSSED);
		return true;
	}
	smc_hs_set_step(hs, SMC_HS_ACCEPT);
	send_proposal(hs);
	return true;
}

/* Returns true if there is a connection to prepare. */
static bool take_accept(struct smc_handshake *hs)
{
	const struct smc_clc_accept *a = &hs->area.accept;
	enum smc_reason reason;

	reason = hs->ops->excludes(hs->sk);
	if (!reason)
		reason = smc_fabric_accepts(hs->sk, a, &hs->neg);
	if (!reason) {
		/* Our Confirm repeats the server's first contact flag and the common features. */
		hs->neg.first_contact = a->first_contact;
		if (a->has_fce)
			hs->neg.features &= a->features;
		reason = smc_hs_conn_new(hs);
	}
	if (reason) {
		smc_hs_end_decline(hs, reason);
		return false;
	}
	smc_hs_set_step(hs, SMC_HS_PREPARE);
	return true;
}

/* Step PREPARE: is the fabric ready for the Confirm? The Accept is in hs->area. */
static bool smc_client_prepare(struct smc_handshake *hs)
{
	const struct smc_clc_accept *a = &hs->area.accept;
	enum smc_reason reason;

	if (!smc_hs_prepared(hs, a))
		return false;
	/* Either the socket's owner declines, see smc_hs_withdraw(), or we attach and confirm. */
	if (!test_and_clear_bit(SMC_HS_ACCEPTED, &hs->flags))
		return false;
	reason = hs->neg.fabric->ops->attach(hs->conn, &hs->neg, a);
	if (reason) {
		smc_hs_end_decline(hs, reason);
		return false;
	}
	smc_hs_set_step(hs, SMC_HS_FINISH);
	smc_hs_send_accept(hs);
	return true;
}

/* Step ACCEPT: has the server's Accept, or its Decline, arrived? */
static bool smc_client_accept(struct smc_handshake *hs)
{
	return smc_hs_expect(hs, SMC_CLC_ACCEPT) && take_accept(hs);
}

/*
 * Step CROSSED, after a simultaneous open: does the peer's stream begin with a CLC message?
 *
 * Nobody can say which end is the server. The peer may be TCP, although its SYN had the option, or
 * do as this end does; so this end sends nothing first. But the peer is an ordinary client if its
 * first SYN was lost: it has accepted a SYN-ACK of ours, and sends a Proposal at once.
 */
static bool smc_client_crossed(struct smc_handshake *hs)
{
	/* What arrives in time must be seen, so look at the time first. */
	bool late = READ_ONCE(hs->flags) & (BIT(SMC_HS_LATE) | BIT(SMC_HS_TIMEOUT));
	int rc = smc_clc_ahead(hs);

	if (!rc)
		rc = smc_clc_recv(hs);
	else if (rc == -EAGAIN && late)
		rc = -ENOMSG;
	if (rc == -EAGAIN || rc == -EBUSY)
		return false;
	if (rc == -ENOMSG || (!rc && hs->hdr.type == SMC_CLC_DECLINE))
		smc_hs_end_tcp(hs, SMC_REASON_BOTH_CLIENTS, 0);
	else if (!rc || rc == -EOPNOTSUPP)
		smc_hs_end_decline(hs, SMC_REASON_BOTH_CLIENTS);
	else
		smc_hs_end_bad(hs, rc);
	return false;
}

const struct smc_hs_role smc_hs_client = {
	.first	= SMC_HS_CONNECT,
	.server	= false,
	.steps	= {
		[SMC_HS_CONNECT]	= smc_client_connect,
		[SMC_HS_ACCEPT]		= smc_client_accept,
		[SMC_HS_PREPARE]	= smc_client_prepare,
		[SMC_HS_FINISH]		= smc_hs_finish,
		[SMC_HS_CROSSED]	= smc_client_crossed,
	},
};
