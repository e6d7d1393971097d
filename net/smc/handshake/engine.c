// SPDX-License-Identifier: GPL-2.0
/* The state machine: runs the steps of a role as far as possible, in a work item of its own. */
#include <linux/sched/mm.h>
#include "../conn/stamp.h"
#include "../mem/charge.h"
#include "../mem/rmbe.h"
#include "internal.h"

/*
 * The peer's timer started before ours. So waiting for others, such as their first contact, ends
 * early enough that a Decline still finds the peer waiting. Any other step that is not finished in
 * time resets the connection (RFC 7609, C.5).
 */
static void end_in_time(struct smc_handshake *hs)
{
	if (hs->step == SMC_HS_PREPARE && test_bit(SMC_HS_LATE, &hs->flags))
		smc_hs_end_decline(hs, SMC_REASON_TIMEOUT);
	else if (test_bit(SMC_HS_TIMEOUT, &hs->flags))
		smc_hs_end_reset(hs, SMC_REASON_TIMEOUT, ETIMEDOUT);
}

/* Make one step of progress; returns false if nothing more can be done now. */
static bool advance(struct smc_handshake *hs)
{
	if (hs->to_send && !smc_clc_flush(hs)) {
		if (!test_bit(SMC_HS_TIMEOUT, &hs->flags))
			return false;
		smc_hs_end_reset(hs, SMC_REASON_TIMEOUT, ETIMEDOUT);
	}
	if (hs->verdict != SMC_HS_OPEN) {
		smc_hs_settle(hs);
		return false;
	}
	if (hs->role->steps[hs->step](hs) || hs->to_send)
		return true;
	if (hs->verdict == SMC_HS_OPEN)
		end_in_time(hs);
	return hs->to_send || hs->verdict != SMC_HS_OPEN;
}

static void hs_work(struct work_struct *work)
{
	struct smc_handshake *hs = container_of(work, struct smc_handshake, work);
	struct mem_cgroup *old = set_active_memcg(hs->memcg);

	while (!test_bit(SMC_HS_DEAD, &hs->flags) && advance(hs))
		;
	set_active_memcg(old);
	smc_hs_put(hs);
}

/**
 * smc_hs_new() - create the handshake of a socket that begins to connect, or of a child
 * @sk: the socket, locked; the handshake is attached to it
 * @payer: the socket whose memory cgroup is charged; for a child, its listener
 * @role: &smc_hs_client or &smc_hs_server
 * @ops: how to report to the socket
 * @gfp: allocation flags
 *
 * Return: the handshake, or NULL if there is no memory.
 */
struct smc_handshake *smc_hs_new(struct sock *sk, const struct sock *payer,
				 const struct smc_hs_role *role,
				 const struct smc_hs_owner_ops *ops, gfp_t gfp)
{
	struct smc_handshake *hs = smc_hs_alloc(payer, gfp);

	if (!hs)
		return NULL;
	sock_hold(sk);
	hs->sk = sk;
	hs->ops = ops;
	hs->role = role;
	hs->flags = 0;
	INIT_WORK(&hs->work, hs_work);
	hs->step = role->first;
	hs->verdict = SMC_HS_OPEN;
	hs->reason = SMC_REASON_NONE;
	hs->conn = NULL;
	memset(&hs->pair, 0, sizeof(hs->pair));
	memset(&hs->neg, 0, sizeof(hs->neg));
	hs->neg.server = role->server;
	hs->have = 0;
	hs->looks = 0;
	hs->to_send = 0;
	/* From here on, a reader that still has a stale pointer can take a reference. */
	smp_wmb();
	refcount_set(&hs->ref, 1);
	rcu_assign_pointer(smc_sk(sk)->hs, hs);
	return hs;
}

/**
 * smc_hs_send_accept() - send our Accept (as server) or Confirm (as client)
 * @hs: the handshake
 */
void smc_hs_send_accept(struct smc_handshake *hs)
{
	struct smc_clc_accept *a = &hs->area.accept;

	smc_hs_describe(hs, a);
	smc_clc_send(hs, smc_clc_encode_accept(a, hs->area.buf, sizeof(hs->area.buf)));
}

/**
 * smc_hs_conn_new() - create the connection on the negotiated fabric
 * @hs: the handshake
 *
 * Return: SMC_REASON_NONE if hs->conn is the connection, or why there is none.
 */
enum smc_reason smc_hs_conn_new(struct smc_handshake *hs)
{
	struct smc_wanted want;
	struct smc_conn *c;

	/* Not even for the connection itself, which may find an element that is free. */
	if (!smc_charge_fits(PAGE_SIZE))
		return SMC_REASON_NO_MEMORY;
	smc_hs_wanted(hs->sk, &want);
	c = hs->neg.fabric->ops->conn_new(hs->neg.fabric, hs->sk, &hs->neg, &want);
	if (IS_ERR(c))
		return PTR_ERR(c) == -ENOMEM ? smc_rmbe_refusal() : SMC_REASON_NO_DEVICE;
	c->version = hs->neg.version;
	smc_stamps_follow(hs->sk, c);
	smc_conn_set_notify(c, smc_hs_event, hs->sk);
	hs->conn = c;
	return SMC_REASON_NONE;
}

/**
 * smc_hs_expect() - has the peer's next message arrived?
 * @hs: the handshake
 * @type: SMC_CLC_PROPOSAL, SMC_CLC_ACCEPT or SMC_CLC_CONFIRM
 *
 * Return: true if the message has been decoded into hs->area; false if it has not arrived yet, or
 * if something else has arrived and the handshake has ended.
 */
bool smc_hs_expect(struct smc_handshake *hs, enum smc_clc_type type)
{
	struct smc_clc_area *area = &hs->area;
	int rc = smc_clc_recv(hs);

	if (rc == -EAGAIN)
		return false;
	if (!rc && hs->hdr.type == SMC_CLC_DECLINE) {
		smc_hs_end_declined(hs);
		return false;
	}
	if (!rc && hs->hdr.type != type)
		rc = -EPROTO;
	/* The Decline must not mention what an earlier message offered. */
	if (rc == -EOPNOTSUPP)
		memset(&area->proposal, 0, sizeof(area->proposal));
	if (!rc && type == SMC_CLC_PROPOSAL)
		rc = smc_clc_decode_proposal(area->buf, hs->hdr.len,
					     &area->proposal);
	else if (!rc)
		rc = smc_clc_decode_accept(area->buf, hs->hdr.len, &area->accept);
	if (rc)
		smc_hs_end_bad(hs, rc);
	return !rc;
}

/**
 * smc_hs_prepared() - is the fabric ready for us to describe the connection?
 * @hs: the handshake, in step PREPARE
 * @a: the Accept on the client, or NULL
 *
 * Return: true if so; false if this takes more time, or if the handshake has ended.
 */
bool smc_hs_prepared(struct smc_handshake *hs, const struct smc_clc_accept *a)
{
	const struct smc_fabric_ops *ops = hs->neg.fabric->ops;
	int rc = ops->prepare ? ops->prepare(hs->conn, &hs->neg, a) : 0;

	if (rc && rc != -EAGAIN)
		smc_hs_end_decline(hs, rc);
	return !rc;
}

/*
 * While the fabric confirms that it works, the peer may find that it does not, and may still
 * decline until it is too late. Nothing else can come from the peer until it knows that we are up.
 * It may know that before we do, and may have closed already; in this case the end of the TCP
 * stream tells nothing about the data.
 */
static void watch_for_decline(struct smc_handshake *hs, bool late)
{
	int rc = smc_clc_recv(hs), now;
	bool now_late;

	if (rc == -EAGAIN)
		return;
	now = hs->neg.fabric->ops->finish(hs->conn, &now_late);
	if (!now)
		smc_hs_end_up(hs);
	else if (!rc && hs->hdr.type == SMC_CLC_DECLINE && !late)
		smc_hs_end_declined(hs);
	else if (rc != -ECONNABORTED)
		smc_hs_end_bad(hs, -EPROTO);
	else if (now != -EINPROGRESS || !smc_hs_tcp_ended_well(hs))
		smc_hs_end_bad(hs, rc);
}

/**
 * smc_hs_finish() - step FINISH of both roles: the Confirm was sent or received, is the fabric
 *	ready?
 * @hs: the handshake
 *
 * Return: false, because this is the last step.
 */
bool smc_hs_finish(struct smc_handshake *hs)
{
	const struct smc_fabric_ops *ops = hs->neg.fabric->ops;
	bool late = true;
	int rc = ops->finish ? ops->finish(hs->conn, &late) : 0;

	if (!rc)
		smc_hs_end_up(hs);
	else if (rc == -EAGAIN || rc == -EINPROGRESS)
		watch_for_decline(hs, late);
	else if (late)
		smc_hs_end_reset(hs, rc, ECONNRESET);
	else
		smc_hs_end_decline(hs, rc);
	return false;
}
