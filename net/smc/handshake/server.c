// SPDX-License-Identifier: GPL-2.0
/* The server's side of the handshake. */
#include <net/tcp.h>
#include "../admin/eid.h"
#include "../netns.h"
#include "../socket/socket.h"
#include "handshake.h"

static int send_accept(struct smc_handshake *hs)
{
	struct smc_clc_accept *a = &hs->area.accept;
	int len;

	smc_hs_describe(hs, a);
	len = smc_clc_encode_accept(a, hs->area.buf, sizeof(hs->area.buf));
	if (WARN_ON_ONCE(len < 0))
		return len;
	return smc_clc_send(hs, hs->area.buf, len);
}

/* Returns true if the Accept is out and the Confirm is awaited. */
static bool take_proposal(struct smc_handshake *hs)
{
	struct smc_net *sn = smc_net(sock_net(hs->sk));
	enum smc_reason reason;

	reason = READ_ONCE(sn->enable) ? SMC_REASON_NONE : SMC_REASON_DISABLED;
	if (!reason)
		reason = smc_fabric_choose(sn, &hs->area.proposal, &hs->neg);
	if (!reason && IS_ERR(smc_hs_conn_new(hs)))
		reason = SMC_REASON_NO_BUFFER;
	if (reason) {
		smc_hs_end_decline(hs, reason);
		return false;
	}
	hs->step = SMC_HS_CONFIRM;
	if (send_accept(hs)) {
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

static void take_confirm(struct smc_handshake *hs)
{
	if (check_confirm(hs)) {
		smc_hs_end_reset(hs, SMC_REASON_BAD_CONFIRM, ECONNRESET);
		return;
	}
	if (hs->neg.fabric->ops->attach(hs->conn, &hs->area.accept)) {
		smc_hs_end_reset(hs, SMC_REASON_BAD_TOKEN, ECONNRESET);
		return;
	}
	hs->conn->peer_os = hs->area.accept.os_type;
	smc_hs_end_up(hs);
}

/**
 * smc_server_confirm() - has the client's Confirm, or its Decline, arrived?
 * @hs: the handshake
 *
 * Return: true if the machine may go on at once.
 */
bool smc_server_confirm(struct smc_handshake *hs)
{
	if (smc_hs_expect(hs, SMC_CLC_CONFIRM))
		take_confirm(hs);
	return false;
}
