// SPDX-License-Identifier: GPL-2.0
/* The server's side of the handshake. */
#include <net/tcp.h>
#include "../admin/eid.h"
#include "../netns.h"
#include "../socket/socket.h"
#include "handshake.h"

/* Returns true if there is a connection to be prepared. */
static bool take_proposal(struct smc_handshake *hs)
{
	struct smc_net *sn = smc_net(sock_net(hs->sk));
	enum smc_reason reason;

	reason = READ_ONCE(sn->enable) ? SMC_REASON_NONE : SMC_REASON_DISABLED;
	if (!reason)
		reason = smc_fabric_choose(hs->sk, &hs->area.proposal, &hs->neg);
	if (!reason && IS_ERR(smc_hs_conn_new(hs)))
		reason = SMC_REASON_NO_BUFFER;
	if (reason) {
		smc_hs_end_decline(hs, reason);
		return false;
	}
	smc_hs_set_step(hs, SMC_HS_PREPARE);
	return true;
}

/**
 * smc_server_prepare() - ready to send the Accept?
 * @hs: the handshake, with the Proposal in hs->area
 *
 * Return: true if the machine may go on at once.
 */
bool smc_server_prepare(struct smc_handshake *hs)
{
	if (!smc_hs_prepared(hs, NULL))
		return false;
	smc_hs_set_step(hs, SMC_HS_CONFIRM);
	if (smc_hs_send_accept(hs)) {
		smc_hs_end_reset(hs, SMC_REASON_INTERNAL, ECONNRESET);
		return false;
	}
	return true;
}

/**
 * smc_server_proposal() - has the client's Proposal arrived?
 * @hs: the handshake
 *
 * Return: true if the machine may go on at once.
 */
bool smc_server_proposal(struct smc_handshake *hs)
{
	return smc_hs_expect(hs, SMC_CLC_PROPOSAL) && take_proposal(hs);
}

/* Does the Confirm answer our Accept, field by field? */
static enum smc_reason check_confirm(struct smc_handshake *hs)
{
	const struct smc_clc_accept *a = &hs->area.accept;

	if (a->version != hs->neg.version ||
	    !smc_eid_equal(a->eid, hs->neg.eid))
		return SMC_REASON_BAD_CONFIRM;
	/* Features that we did not announce cannot be common ones. */
	if (a->has_fce && (a->features & ~hs->neg.features))
		return SMC_REASON_BAD_CONFIRM;
	return SMC_REASON_NONE;
}

/*
 * After the Accept only a first contact can be declined, if something is lacking here, or
 * for a reserved value; not if the Confirm is wrong (RFC 7609, C.1, C.2 and C.6).
 */
static bool may_decline(const struct smc_handshake *hs, enum smc_reason reason)
{
	switch (reason) {
	case SMC_REASON_NO_DEVICE:
	case SMC_REASON_NO_MEMORY:
	case SMC_REASON_NO_BUFFER:
	case SMC_REASON_UNKNOWN_ENUM:
		return hs->neg.first_contact;
	default:
		return false;
	}
}

/* Returns true if the fabric has the last word. */
static bool take_confirm(struct smc_handshake *hs)
{
	const struct smc_clc_accept *a = &hs->area.accept;
	enum smc_reason reason;

	if (check_confirm(hs)) {
		smc_hs_end_reset(hs, SMC_REASON_BAD_CONFIRM, ECONNRESET);
		return false;
	}
	reason = hs->conn->fabric->ops->attach(hs->conn, &hs->neg, a);
	if (reason) {
		if (may_decline(hs, reason))
			smc_hs_end_decline(hs, reason);
		else
			smc_hs_end_reset(hs, reason, ECONNRESET);
		return false;
	}
	hs->conn->peer_os = a->os_type;
	smc_hs_set_step(hs, SMC_HS_FINISH);
	return true;
}

/**
 * smc_server_confirm() - has the client's Confirm, or its Decline, arrived?
 * @hs: the handshake
 *
 * Return: true if the machine may go on at once.
 */
bool smc_server_confirm(struct smc_handshake *hs)
{
	return smc_hs_expect(hs, SMC_CLC_CONFIRM) && take_confirm(hs);
}
