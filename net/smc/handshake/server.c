// SPDX-License-Identifier: GPL-2.0
/* The server's side of the handshake. */
#include "../config/eid.h"
#include "internal.h"
#include "pair.h"

/* Returns true if there is a connection to prepare. */
static bool take_proposal(struct smc_handshake *hs)
{
	struct smc_net *sn = smc_net(sock_net(hs->sk));
	enum smc_reason reason;

	reason = READ_ONCE(sn->enable) ? hs->ops->excludes(hs->sk) : SMC_REASON_DISABLED;
	if (!reason)
		reason = smc_fabric_choose(hs->sk, &hs->area.proposal, &hs->neg);
	if (!reason)
		reason = smc_hs_conn_new(hs);
	if (reason) {
		smc_hs_end_decline(hs, reason);
		return false;
	}
	smc_hs_set_step(hs, SMC_HS_PREPARE);
	return true;
}

/* Step PREPARE: is the fabric ready for the Accept? The Proposal is in hs->area. */
static bool smc_server_prepare(struct smc_handshake *hs)
{
	if (!smc_hs_prepared(hs, NULL))
		return false;
	smc_hs_set_step(hs, SMC_HS_CONFIRM);
	smc_hs_send_accept(hs);
	return true;
}

/* The client is in this kernel and waits for our decision. */
static void decide_for_both(struct smc_handshake *hs)
{
	struct smc_handshake *client = hs->pair.client;
	int rc;

	hs->pair.client = NULL;
	rc = smc_pair_later(client, hs);
	if (rc && hs->pair.client_fails) {
		hs->area.decline.out_of_sync = false;
		smc_hs_end_tcp(hs, SMC_REASON_PEER_DECLINED, rc);
	} else if (rc) {
		smc_hs_end_tcp(hs, rc, 0);
	} else {
		smc_hs_end_up(hs);
	}
}

/* Step PROPOSAL: has the client's Proposal arrived? */
static bool smc_server_proposal(struct smc_handshake *hs)
{
	if (hs->pair.client) {
		decide_for_both(hs);
		return false;
	}
	return smc_hs_expect(hs, SMC_CLC_PROPOSAL) && take_proposal(hs);
}

/* Does the Confirm match our Accept, field by field? */
static bool confirms(const struct smc_negotiated *neg, const struct smc_clc_accept *a)
{
	if (a->version != neg->version || !smc_eid_equal(a->eid, neg->eid))
		return false;
	/*
	 * The Confirm of version 1 has no first contact flag; in version 2, the flag comes with the
	 * extension.
	 */
	return a->version == SMC_CLC_V1 || a->first_contact == neg->first_contact;
}

/* Do the values of version 2.1 match, which a first contact negotiates? */
static bool confirms_v21(const struct smc_negotiated *neg, const struct smc_clc_accept *a)
{
	if (!a->has_fce)
		return true;
	/* Our Accept has no vendor options, and only common features are allowed. */
	return a->release == neg->release && !(a->features & ~neg->features) &&
	       !memchr_inv(a->vendor, 0, sizeof(a->vendor)) &&
	       (a->smcd || (a->max_conns == neg->max_conns && a->max_links == neg->max_links));
}

/*
 * After the Accept, only a first contact can be declined, and only for a lack of resources or a
 * reserved value. A wrong Confirm is a protocol violation (RFC 7609, C.1, C.2 and C.6).
 */
static bool may_decline(const struct smc_handshake *hs, enum smc_reason reason)
{
	switch (reason) {
	case SMC_REASON_NO_DEVICE:
	case SMC_REASON_NO_MEMORY:
	case SMC_REASON_NO_BUFFER:
	case SMC_REASON_UNKNOWN_ENUM:
		return smc_hs_late_decline(hs);
	default:
		return false;
	}
}

/* Returns true if only the fabric has yet to confirm the connection. */
static bool take_confirm(struct smc_handshake *hs)
{
	const struct smc_clc_accept *a = &hs->area.accept;
	enum smc_reason reason;

	if (!confirms(&hs->neg, a)) {
		smc_hs_end_reset(hs, SMC_REASON_BAD_CONFIRM, ECONNRESET);
		return false;
	}
	/* The paper requires a late Decline for wrong 2.1 values (v2.1 negotiation, 5). */
	if (!confirms_v21(&hs->neg, a)) {
		if (smc_hs_late_decline(hs))
			smc_hs_end_decline(hs, SMC_REASON_BAD_CONFIRM);
		else
			smc_hs_end_reset(hs, SMC_REASON_BAD_CONFIRM, ECONNRESET);
		return false;
	}
	reason = hs->neg.fabric->ops->attach(hs->conn, &hs->neg, a);
	if (reason) {
		if (may_decline(hs, reason))
			smc_hs_end_decline(hs, reason);
		else
			smc_hs_end_reset(hs, reason, ECONNRESET);
		return false;
	}
	smc_hs_set_step(hs, SMC_HS_FINISH);
	return true;
}

/* Step CONFIRM: has the client's Confirm, or its Decline, arrived? */
static bool smc_server_confirm(struct smc_handshake *hs)
{
	return smc_hs_expect(hs, SMC_CLC_CONFIRM) && take_confirm(hs);
}

const struct smc_hs_role smc_hs_server = {
	.first	= SMC_HS_PROPOSAL,
	.server	= true,
	.steps	= {
		[SMC_HS_PROPOSAL]	= smc_server_proposal,
		[SMC_HS_PREPARE]	= smc_server_prepare,
		[SMC_HS_CONFIRM]	= smc_server_confirm,
		[SMC_HS_FINISH]		= smc_hs_finish,
	},
};
