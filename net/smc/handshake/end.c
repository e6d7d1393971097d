// SPDX-License-Identifier: GPL-2.0
/* All ways in which a handshake ends.  The machine's lock is held in each of them. */
#include "../policy/policy.h"
#include "internal.h"

/* The socket has learnt the outcome; it is locked, and the lock is given back. */
static void leave_socket(struct smc_handshake *hs)
{
	struct sock *sk = hs->sk;
	bool closing = smc_sk(sk)->closing;

	WARN_ON_ONCE(smc_hs_unlink(sk) != hs);
	smc_sk(sk)->closing = false;
	smc_hs_release_sock(hs);
	/* Without a file no task owns the socket, and done() locks for itself. */
	if (closing)
		smc_hs_unlock_sock(hs);
	hs->ops->done(sk, closing);
	smc_hs_put(hs);
}

/**
 * smc_hs_end_up() - both sides agree: data flows through hs->conn from now on
 * @hs: the handshake
 */
void smc_hs_end_up(struct smc_handshake *hs)
{
	if (!smc_hs_lock_sock(hs))
		return;
	smc_conn_set_notify(hs->conn, NULL, NULL);
	hs->ops->up(hs->sk, hs->conn);
	hs->conn = NULL;
	leave_socket(hs);
}

/*
 * A destination that declines, or whose first bytes are not CLC, is remembered.  Not a Decline
 * because of a link group that only one side has: the next connection makes a new one.  Nor a
 * reset, as that of a server that is being stopped.
 */
static void remember(const struct smc_handshake *hs, enum smc_reason reason, u32 diagnosis)
{
	bool mute = hs->step == SMC_HS_ACCEPT &&
		    (reason == SMC_REASON_PROTOCOL || reason == SMC_REASON_TIMEOUT ||
		     (reason == SMC_REASON_PEER_CLOSED && smc_hs_tcp_ended_well(hs)));
	bool declined = reason == SMC_REASON_PEER_DECLINED && !hs->area.decline.out_of_sync;

	if (!hs->neg.server && (mute || declined))
		smc_autocache_remember(hs->sk, reason, diagnosis);
}

/**
 * smc_hs_end_tcp() - the connection stays TCP
 * @hs: the handshake
 * @reason: why
 * @peer_diagnosis: what the peer's Decline says, or 0
 */
void smc_hs_end_tcp(struct smc_handshake *hs, enum smc_reason reason,
		    u32 peer_diagnosis)
{
	if (!smc_hs_lock_sock(hs))
		return;
	remember(hs, reason, peer_diagnosis);
	hs->ops->tcp(hs->sk, reason, peer_diagnosis);
	leave_socket(hs);
}

/* A reset waits for the socket's lock, which the current run holds or must not wait for. */
static void reset_later(struct smc_handshake *hs, enum smc_reason reason, int err)
{
	hs->reset_reason = reason;
	hs->reset_err = err;
	set_bit(SMC_HS_RESET, &hs->flags);
	refcount_inc(&hs->ref);
	if (!queue_work(smc_close_wq, &hs->reset_work))
		refcount_dec(&hs->ref);
}

/**
 * smc_hs_end_reset() - there can be no fallback: reset the TCP connection
 * @hs: the handshake
 * @reason: why
 * @err: errno that the application sees, positive
 *
 * RFC 7609, C.5 and C.6.
 */
void smc_hs_end_reset(struct smc_handshake *hs, enum smc_reason reason, int err)
{
	if (hs->sk_locked) {
		reset_later(hs, reason, err);
		return;
	}
	/* Not if the socket has been connected anew. */
	if (!smc_hs_lock_sock(hs))
		return;
	remember(hs, reason, 0);
	smc_hs_release_sock(hs);
	if (hs->ops->reset(hs->sk, hs, reason, err))
		leave_socket(hs);
}

/**
 * smc_hs_end_decline() - send a Decline in lieu of the expected message
 * @hs: the handshake
 * @reason: why
 */
void smc_hs_end_decline(struct smc_handshake *hs, enum smc_reason reason)
{
	struct smc_clc_decline d = {
		.version	= hs->neg.version ?: SMC_CLC_V2,
		.diagnosis	= reason,
		.out_of_sync	= reason == SMC_REASON_OUT_OF_SYNC,
		.os_type	= SMC_CLC_OS_LINUX,
		.has_types	= hs->neg.version != SMC_CLC_V1,
	};
	int len;

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
	smc_hs_peer_id(sock_net(hs->sk), d.peer_id);
	len = smc_clc_encode_decline(&d, hs->area.buf, sizeof(hs->area.buf));
	if (WARN_ON_ONCE(len < 0) || smc_clc_send(hs, hs->area.buf, len))
		smc_hs_end_reset(hs, reason, ECONNRESET);
	else
		smc_hs_end_tcp(hs, reason, 0);
}

/**
 * smc_hs_end_new() - TCP could not connect
 * @hs: the handshake
 */
void smc_hs_end_new(struct smc_handshake *hs)
{
	if (!smc_hs_lock_sock(hs))
		return;
	if (hs->sk->sk_state != TCP_CLOSE) {
		/* It has not even begun to connect. */
		smc_hs_release_sock(hs);
		return;
	}
	hs->ops->renew(hs->sk);
	leave_socket(hs);
}

/**
 * smc_hs_end_declined() - the message that was received is the peer's Decline
 * @hs: the handshake
 */
void smc_hs_end_declined(struct smc_handshake *hs)
{
	struct smc_clc_decline *d = &hs->area.decline;

	if (smc_clc_decode_decline(hs->area.buf, hs->hdr.len, d)) {
		smc_hs_end_reset(hs, SMC_REASON_PROTOCOL, ECONNRESET);
		return;
	}
	if (d->out_of_sync && hs->conn)
		hs->conn->fabric->ops->out_of_sync(hs->conn);
	smc_hs_end_tcp(hs, SMC_REASON_PEER_DECLINED, d->diagnosis);
}

/**
 * smc_hs_end_bad() - the expected message did not come
 * @hs: the handshake
 * @rc: what came: an error of smc_clc_recv() or of a decoder
 *
 * A value that we do not know gets a Decline.  The end of the stream is for the application to
 * see.  Anything else resets the connection (RFC 7609, C.6).
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
		smc_hs_end_tcp(hs, SMC_REASON_PEER_CLOSED, 0);
		break;
	default:
		smc_hs_end_reset(hs, SMC_REASON_PROTOCOL, ECONNRESET);
	}
}
