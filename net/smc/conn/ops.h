/* SPDX-License-Identifier: GPL-2.0 */
/* What a connection asks of the fabric that carries it. */
#ifndef SMC_CONN_OPS_H
#define SMC_CONN_OPS_H

#include <linux/types.h>
#include "conn.h"

struct smc_sock_info;

/**
 * struct smc_conn_ops - how a fabric carries an established connection
 *
 * Every function except @peer_waits, and @grow to @last_word, is mandatory.  fabric.h has the
 * functions that set up a connection.
 *
 * @name:	name for display
 * @diag_mode:	SMC_DIAG_MODE_* of its connections
 * @fin_in_order: a FIN on the TCP connection never overtakes flags of the SMC connection that
 *		were sent before it.  Otherwise a FIN means nothing, and the TCP connection is
 *		kept until the SMC connection has ended
 * @late_abort:	an abort may follow our close, and the peer's kernel answers it. Its program is not
 *		told, unless data were refused
 * @reports_acks: the fabric calls smc_stamps_posted() and smc_stamps_acked(). Otherwise the data
 *		are in the peer's memory when @commit has returned
 * @commit:	make tx_prod visible to the peer and wake its reader if it sleeps.  The
 *		caller holds tx_lock.
 * @consumed:	rx_cons has moved: make it visible to the peer, and wake the peer's writer if
 *		it is blocked.  A fabric that needs a message for this may wait until one is
 *		worth it, but a blocked peer must get one eventually.  The caller holds
 *		rx_lock.
 * @grow:	a call has more to send than @c has room for: enlarge the peer's element if
 *		that is due.  Only called if @c->tx_grows; the caller holds tx_lock.  Returns
 *		true if there is more room.  Process context, may sleep for memory.
 * @may_grow:	@c->rx_lock, which has kept the element of @c from growing, is free: let the
 *		peer's senders try again.  Process context.
 * @part:	a lock of @c has kept the peer, which has ended, from parting from @c, and is free.
 *		Process context.
 * @last_word:	a sender has kept @c from telling the peer that it writes no more, and has released
 *		tx_lock. Process context.
 * @arrived:	the count of bytes that are known to be in the peer's memory, at least tx_cons.  Any
 *		context but hard interrupts.
 * @end_arrived: does the peer's kernel know our close? Any context but hard interrupts. NULL with
 *		@fin_in_order
 * @request_update: learn soon what has arrived, and the peer's rx_cons, even if that is not worth a
 *		message.  Any context but hard interrupts.
 * @peer_waits:	does the peer wait until data has been read? NULL if it never does before the
 *		element is full; otherwise smc_conn_readable() follows when it begins to wait.
 *		Any context.
 * @urgent:	tell the peer of urgent data.  The caller holds tx_lock, unless the event is
 *		SMC_URGENT_TAKEN.
 * @signal:	send a flag to the peer, if the peer is known yet.  Any context but hard
 *		interrupts.
 * @keepalive:	probe the peer's host if it has been silent for @seconds; 0: @c no longer
 *		needs keepalive.  Any context but hard interrupts.
 * @detach:	the socket no longer uses @c: release what refers to the peer.  Called once,
 *		when no system call can be in @c any more.  Any context but hard interrupts.
 * @free:	the last reference is gone.  Any context but hard interrupts.
 * @show:	add what this fabric knows about the connection to @info; the socket is locked
 */
struct smc_conn_ops {
	const char *name;
	u8 diag_mode;
	bool fin_in_order;
	bool late_abort;
	bool reports_acks;
	void (*commit)(struct smc_conn *c);
	void (*consumed)(struct smc_conn *c);
	bool (*grow)(struct smc_conn *c);
	void (*may_grow)(struct smc_conn *c);
	void (*part)(struct smc_conn *c);
	void (*last_word)(struct smc_conn *c);
	u64 (*arrived)(struct smc_conn *c);
	bool (*end_arrived)(struct smc_conn *c);
	void (*request_update)(struct smc_conn *c);
	bool (*peer_waits)(struct smc_conn *c);
	void (*urgent)(struct smc_conn *c, enum smc_urgent_event news);
	void (*signal)(struct smc_conn *c, enum smc_conn_flag flag);
	void (*keepalive)(struct smc_conn *c, unsigned int seconds);
	void (*detach)(struct smc_conn *c);
	void (*free)(struct smc_conn *c);
	void (*show)(struct smc_conn *c, struct smc_sock_info *info);
};

/* The number of bytes that have not arrived in the peer's memory, which TCP counts as not acked. */
static inline u64 smc_conn_outq(struct smc_conn *c)
{
	/* Read this first, as both only grow. Pairs with the release of tx_prod or sent_prod. */
	u64 arrived = c->ops->arrived(c);

	smp_rmb();
	return smc_count_read(&c->tx_written) - arrived;
}

#endif
