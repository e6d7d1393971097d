/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the two ends of a connection tell each other: cursors, flags, urgent data (RFC 7609, 4.3 to
 * 4.5, 4.7 and A.4).
 *
 * A fabric whose ends do not share the cursors in memory embeds a struct smc_msg_conn.  This code
 * decides when a message is worth sending, what it may say, and what to believe.  The fabric
 * transports the messages: as CDC messages (SMC-R), or as control data in front of an element
 * (SMC-D).
 */
#ifndef SMC_FABRIC_MSG_H
#define SMC_FABRIC_MSG_H

#include "../../conn/conn.h"
#include "../../wire/cdc.h"

struct smc_msg_conn;

enum smc_msg_bit {
	SMC_MSG_DETACHED,	/* the socket does not use the connection any more */
	SMC_MSG_TOLD,		/* server: the Accept names our element, the client may write */
	SMC_MSG_PEER_QUIT,	/* after its close the peer waits no longer for ours */
	SMC_MSG_PEER_ABORTED,	/* the peer has said ABORT */
	SMC_MSG_PEER_ENDED,	/* the peer has said that it writes no more, or never will */
	SMC_MSG_CUT_OFF,	/* the peer cannot reach our element any more */
	SMC_MSG_LEFT,		/* the connection has left its link group */
};

/* Reasons to send a message even if nothing has changed; a fabric may define more bits. */
#define SMC_MSG_FORCE_UPDATE	0x01	/* report the consumer cursor or the urgent state */
#define SMC_MSG_REQUEST_UPDATE	0x02	/* request the peer's consumer cursor */

/* smc_msg_conn.peer_waits: the peer waits... */
#define SMC_MSG_PEER_BLOCKED	0x01	/* for room */
#define SMC_MSG_PEER_URGENT	0x02	/* for its urgent byte to be consumed */

/**
 * struct smc_msg_ops - how a fabric transports messages
 * @say:	send a message if something has changed that is worth one.  With a @force of
 *		SMC_MSG_FORCE_UPDATE or SMC_MSG_REQUEST_UPDATE, send one in any case.  No forced
 *		update may get lost: after the call there must be a message whose smc_msg_look()
 *		comes later than the call.  Any context but hard interrupts.
 * @arrived:	has the peer received our last message?  Called without a lock.
 * @await_close: the socket is detached while the peer may still write: limit the wait for its
 *		close
 * @leave:	leave the link group, in which nothing holds the connection any more; called once
 */
struct smc_msg_ops {
	void (*say)(struct smc_msg_conn *m, u8 force);
	bool (*arrived)(const struct smc_msg_conn *m);
	void (*await_close)(struct smc_msg_conn *m);
	void (*leave)(struct smc_msg_conn *m);
};

/**
 * struct smc_msg_conn - a connection whose ends exchange messages, embedded by its fabric
 * @conn:	the connection; cursors wrap at its peer_size and rx_size, the sizes of the rings
 * @ops:	how messages are transported
 * @attached:	the peer's element is known; set once, with smp_store_release()
 * @tx_disabled: send no more messages; protected by the say lock, like the sent_*, urg_advertised
 *		and cons_advertised fields.  The say lock belongs to the fabric, which holds it from
 *		smc_msg_look() to smc_msg_said()
 * @sent_prod:	producer cursor in the last message sent
 * @sent_cons:	consumer cursor in the last message sent
 * @sent_prod_at: @sent_prod in wire format
 * @sent_cons_at: @sent_cons in wire format
 * @sent_flags:	connection flags in the last message sent
 * @urg_advertised: count behind the last urgent byte announced; no data may follow it until the
 *		peer has consumed it
 * @urg_coming:	an urgent byte waits for room
 * @peer_waits:	SMC_MSG_PEER_*: updates that the peer waits for.  Only messages of the peer, which
 *		are processed one at a time, change this and the following peer_* and heard_* fields
 * @peer_urg:	count behind the peer's last urgent byte
 * @cons_advertised: copy of @sent_cons for the receiver, which does not hold the say lock
 * @heard_prod:	the peer's producer cursor in its last message, in wire format
 * @heard_cons:	the peer's consumer cursor in its last message, in wire format
 * @bits:	enum smc_msg_bit
 */
struct smc_msg_conn {
	struct smc_conn		conn;
	const struct smc_msg_ops *ops;
	bool			attached;
	bool			tx_disabled;

	aligned_u64		sent_prod;
	u64			sent_cons;
	struct smc_wire_cursor	sent_prod_at;
	struct smc_wire_cursor	sent_cons_at;
	u8			sent_flags;
	aligned_u64		urg_advertised;
	bool			urg_coming;
	u8			peer_waits;
	aligned_u64		peer_urg;
	aligned_u64		cons_advertised;
	struct smc_wire_cursor	heard_prod;
	struct smc_wire_cursor	heard_cons;
	unsigned long		bits;
};

/**
 * struct smc_msg_news - what the next message tells the peer
 * @prod:	producer cursor, as a count of bytes
 * @cons:	consumer cursor, as a count of bytes
 * @prod_flags:	SMC_CDC_WRITE_BLOCKED to SMC_CDC_UPDATE_REQ
 * @conn_flags:	SMC_CDC_SEND_DONE to SMC_CDC_ABORT
 */
struct smc_msg_news {
	u64	prod;
	u64	cons;
	u8	prod_flags;
	u8	conn_flags;
};

static inline struct smc_msg_conn *to_msg_conn(struct smc_conn *c)
{
	return container_of(c, struct smc_msg_conn, conn);
}

/* Have we sent CLOSED or ABORT? */
static inline bool smc_msg_end_said(const struct smc_msg_conn *m)
{
	return READ_ONCE(m->sent_flags) & (SMC_CDC_CLOSED | SMC_CDC_ABORT);
}

/* The peer knows our element, and has not said that it writes no more. */
static inline bool smc_msg_peer_open(const struct smc_msg_conn *m)
{
	return (smp_load_acquire(&m->attached) || test_bit(SMC_MSG_TOLD, &m->bits)) &&
	       !test_bit(SMC_MSG_PEER_ENDED, &m->bits);
}

bool smc_msg_look(struct smc_msg_conn *m, u8 force, bool again, struct smc_msg_news *news);
void smc_msg_said(struct smc_msg_conn *m, const struct smc_msg_news *news,
		  struct smc_cdc_msg *msg);
bool smc_msg_heard(struct smc_msg_conn *m, const struct smc_cdc_msg *msg);
void smc_msg_lost(struct smc_msg_conn *m);
void smc_msg_ended_by_peer(struct smc_msg_conn *m, const struct smc_cdc_msg *msg);
void smc_msg_cut_off(struct smc_msg_conn *m);
void smc_msg_leave_if_ended(struct smc_msg_conn *m);

/* implementations of smc_fabric_ops */
void smc_msg_commit(struct smc_conn *c);
void smc_msg_consumed(struct smc_conn *c);
void smc_msg_request_update(struct smc_conn *c);
bool smc_msg_peer_waits(struct smc_conn *c);
void smc_msg_urgent(struct smc_conn *c, enum smc_urgent_event news);
void smc_msg_signal(struct smc_conn *c, enum smc_conn_flag flag);
void smc_msg_detach(struct smc_conn *c);
bool smc_msg_end_arrived(struct smc_conn *c);

#endif
