// SPDX-License-Identifier: GPL-2.0
/* What ends a handshake early, and how the socket is told of the verdict. */
#include "../policy/policy.h"
#include "../test_hold.h"
#include "internal.h"

#ifdef CONFIG_SMC_TEST
/* For tests: the outcome is visible, and the worker does nothing more until this is cleared. */
static bool hold_settled;
module_param(hold_settled, bool, 0600);
MODULE_PARM_DESC(hold_settled, "hold each handshake after its outcome is visible");
#endif

static struct smc_clc_decline decline_of(const struct smc_handshake *hs, enum smc_reason reason)
{
	u8 version = READ_ONCE(hs->neg.version);
	struct smc_clc_decline d = {
		.version	= version ?: SMC_CLC_V2,
		.diagnosis	= reason,
		.out_of_sync	= reason == SMC_REASON_OUT_OF_SYNC,
		.os_type	= SMC_CLC_OS_LINUX,
		.has_types	= version != SMC_CLC_V1,
	};

	smc_hs_peer_id(sock_net(hs->sk), d.peer_id);
	return d;
}

static void send_decline(struct smc_handshake *hs, enum smc_reason reason)
{
	struct smc_clc_decline d = decline_of(hs, reason);

	if (hs->neg.server && hs->step <= SMC_HS_PREPARE) {
		const struct smc_clc_proposal *p = &hs->area.proposal;
		const enum smc_reason *why = hs->neg.why;

		d.version = p->version ?: SMC_CLC_V1;
		d.has_types = d.version == SMC_CLC_V2;
		d.rc_dv2 = p->smcd_v2 ? why[SMC_OFFER_DV2] ?: reason : 0;
		d.rc_dv1 = p->smcd_v1 ? why[SMC_OFFER_DV1] ?: reason : 0;
		d.rc_rv2 = p->smcr_v2 ? why[SMC_OFFER_RV2] ?: reason : 0;
		d.rc_rv1 = p->smcr_v1 ? why[SMC_OFFER_RV1] ?: reason : 0;
	}
	smc_clc_send(hs, smc_clc_encode_decline(&d, hs->area.buf, sizeof(hs->area.buf)));
}

/**
 * smc_hs_withdraw() - end the handshake of a socket that is closed or disconnected
 * @sk: the socket, locked by a system call
 *
 * A client that has the server's Accept declines. Nothing else would ever tell the server that its
 * element is unused. Without the Accept nothing may be said: the server may have declined, and then
 * its program would read the message.
 *
 * Context: process.
 */
void smc_hs_withdraw(struct sock *sk)
{
	struct smc_handshake *hs = rcu_dereference_protected(smc_sk(sk)->hs, 1);
	struct smc_clc_decline d;
	u8 buf[SMC_CLC_DECLINE_MAX];

	if (hs && !hs->neg.server &&
	    (test_and_clear_bit(SMC_HS_ACCEPTED, &hs->flags) || smc_clc_accept_waits(hs))) {
		d = decline_of(hs, SMC_REASON_WITHDRAWN);
		smc_clc_send_last(hs, buf, smc_clc_encode_decline(&d, buf, sizeof(buf)));
	}
	smc_hs_detach(sk);
}

/**
 * smc_hs_end_decline() - send a Decline instead of the expected message
 * @hs: the handshake
 * @reason: reason for the Decline
 */
void smc_hs_end_decline(struct smc_handshake *hs, enum smc_reason reason)
{
	smc_hs_end_tcp(hs, reason, 0);
	send_decline(hs, reason);
}

/**
 * smc_hs_end_declined() - handle a Decline from the peer
 * @hs: the handshake
 */
void smc_hs_end_declined(struct smc_handshake *hs)
{
	struct smc_clc_decline *d = &hs->area.decline;

	if (smc_clc_decode_decline(hs->area.buf, hs->hdr.len, d)) {
		smc_hs_end_reset(hs, SMC_REASON_PROTOCOL, ECONNRESET);
		return;
	}
	if (hs->conn)
		hs->neg.fabric->ops->refused(hs->conn, d->out_of_sync);
	smc_hs_end_tcp(hs, SMC_REASON_PEER_DECLINED, d->diagnosis);
}

/**
 * smc_hs_end_bad() - the expected message could not be received
 * @hs: the handshake
 * @rc: the error of smc_clc_recv() or of a decoder
 *
 * An unknown value is answered with a Decline. The end of the stream is left to the application.
 * Anything else resets the connection (RFC 7609, C.6).
 */
void smc_hs_end_bad(struct smc_handshake *hs, int rc)
{
	switch (rc) {
	case -EOPNOTSUPP:
		if (hs->step == SMC_HS_CONFIRM && !smc_hs_late_decline(hs))
			smc_hs_end_reset(hs, SMC_REASON_UNKNOWN_ENUM, ECONNRESET);
		else
			smc_hs_end_decline(hs, SMC_REASON_UNKNOWN_ENUM);
		break;
	case -ECONNABORTED:
		/*
		 * If the client had sent a Confirm, it would have come before the end of the
		 * stream.
		 */
		if (hs->step == SMC_HS_CONFIRM && smc_hs_tcp_ended_well(hs))
			hs->neg.fabric->ops->refused(hs->conn, false);
		smc_hs_end_tcp(hs, SMC_REASON_PEER_CLOSED, 0);
		break;
	default:
		smc_hs_end_reset(hs, SMC_REASON_PROTOCOL, ECONNRESET);
	}
}

/*
 * Remember a destination that declines, or whose first bytes are not CLC. Do not remember a Decline
 * because of a link group that only one side has, because the next connection makes a new link
 * group; nor a reset, which may come from a server that is being stopped.
 */
static void remember(const struct smc_handshake *hs, enum smc_reason reason, u32 diagnosis)
{
	bool mute = hs->step == SMC_HS_ACCEPT &&
		    (reason == SMC_REASON_PROTOCOL || reason == SMC_REASON_TIMEOUT ||
		     (reason == SMC_REASON_PEER_CLOSED && smc_hs_tcp_ended_well(hs)));
	bool declined = reason == SMC_REASON_PEER_DECLINED && !hs->area.decline.out_of_sync &&
			diagnosis != SMC_REASON_BOTH_CLIENTS;

	if (!hs->neg.server && (mute || declined))
		smc_autocache_remember(hs->sk, reason, diagnosis);
}

/* Let the socket carry out the verdict; the socket is locked. */
static void tell_owner(struct smc_handshake *hs)
{
	struct sock *sk = hs->sk;

	switch (hs->verdict) {
	case SMC_HS_IS_UP:
		smc_conn_set_notify(hs->conn, NULL, NULL);
		hs->ops->up(sk, hs->conn);
		hs->conn = NULL;
		break;
	case SMC_HS_IS_TCP:
		remember(hs, hs->reason, hs->diagnosis);
		hs->ops->tcp(sk, hs->reason, hs->diagnosis);
		break;
	case SMC_HS_IS_RESET:
		remember(hs, hs->reason, 0);
		hs->ops->reset(sk, hs->reason, hs->err);
		break;
	case SMC_HS_OPEN:
		break;
	}
}

/**
 * smc_hs_settle() - tell the socket of the verdict
 * @hs: the handshake, whose verdict is set
 *
 * Context: the handshake's work item.
 */
void smc_hs_settle(struct smc_handshake *hs)
{
	struct sock *sk = hs->sk;
	bool mine, closing = false;

	if (!hs->neg.server)
		smc_autocache_prepare(smc_net(sock_net(sk)));
	mine = smc_hs_lock(hs);
	if (mine) {
		tell_owner(hs);
		smc_hs_unlink(sk);
		hs->ops->done(sk);
		closing = smc_sk(sk)->closing;
		smc_sk(sk)->closing = false;
	}
	smc_hs_unlock(hs);
	if (!mine)
		return;
	smc_test_hold(&hold_settled);
	if (closing)
		hs->ops->close(sk);
	smc_hs_put(hs);
}
