/* SPDX-License-Identifier: GPL-2.0 */
/*
 * News between the two ends of a connection: cursors, flags, urgent data (RFC 7609, 4.3 to 4.5, 4.7
 * and A.4).
 *
 * A fabric that has no memory with both cursors in it embeds a smc_msg_conn.  The engine decides
 * what is worth a message, what may be said, and what may be believed.  The fabric carries it: by
 * CDC messages of SMC-R, or by control data in front of an element of SMC-D.
 */
#ifndef SMC_FABRIC_MSG_H
#define SMC_FABRIC_MSG_H

#include "../../conn/conn.h"
#include "../../wire/cdc.h"

struct smc_msg_conn;

enum smc_msg_bit {
	SMC_MSG_DETACHED,	/* the socket is done with it */
	SMC_MSG_TOLD,		/* server: the Accept names our element, the client may write */
	SMC_MSG_PEER_ENDED,	/* the peer has said that it writes no more, or never will */
	SMC_MSG_CUT_OFF,	/* the peer cannot reach its element any more */
	SMC_MSG_LEFT,		/* it has left the link group */
};

/* A message also if nothing has changed that would be worth one; a fabric may have more bits. */
#define SMC_MSG_FORCE_UPDATE	0x01	/* what has been consumed, or is urgent */
#define SMC_MSG_REQUEST_UPDATE	0x02	/* that we ask for the peer's cursor */

/* smc_msg_conn.peer_waits */
#define SMC_MSG_PEER_BLOCKED	0x01	/* for room */
#define SMC_MSG_PEER_URGENT	0x02	/* for its urgent byte to be consumed */

/**
 * struct smc_msg_ops - how messages travel
 * @say:	something may have changed that is worth a message; with a @force also if it is not,
 *		SMC_MSG_FORCE_UPDATE or SMC_MSG_REQUEST_UPDATE.  No update may be lost: after a
 *		forced one there is a message whose smc_msg_look() comes later than the call.  Any
 *		context but hard interrupts.
 * @arrived:	has the peer everything that will ever be said?  Without a lock.
 * @await_close: the socket is done, and the peer may still write: do not wait for ever
 * @leave:	nothing keeps the connection in its link group any more; once
 */
struct smc_msg_ops {
	void (*say)(struct smc_msg_conn *m, u8 force);
	bool (*arrived)(const struct smc_msg_conn *m);
	void (*await_close)(struct smc_msg_conn *m);
	void (*leave)(struct smc_msg_conn *m);
};

/**
 * struct smc_msg_conn - a connection whose ends talk by messages, embedded by its fabric
 * @conn:	the connection; its peer_size and rx_size are those of the rings, where cursors wrap
 * @ops:	how messages travel
 * @attached:	the peer's part is known; set once, by smp_store_release()
 * @tx_disabled: nothing is said any more; under the say lock: the fabric's, which is held from
 *		smc_msg_look() to smc_msg_said(), as are the fields below that say nothing else
 * @sent_prod:	producer cursor as said
 * @sent_cons:	consumer cursor as said
 * @sent_prod_at: @sent_prod as it travels
 * @sent_cons_at: @sent_cons as it travels
 * @sent_flags:	flags of the connection as said
 * @urg_advertised: count behind the last urgent byte said; nothing follows it until it has been
 *		consumed
 * @urg_coming:	an urgent byte waits for room
 * @peer_waits:	SMC_MSG_PEER_*: updates that the peer waits for; only its messages change it, like
 *		all that follows but @bits.  They are taken one at a time
 * @peer_urg:	count behind its last urgent byte
 * @cons_advertised: @sent_cons, for the receiver's eyes; changed with it
 * @heard_prod:	its producer cursor, as in its last message
 * @heard_cons:	its consumer cursor, the same
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
 * struct smc_msg_news - news for the peer
 * @prod:	the count up to which there are data
 * @cons:	the count up to which they are consumed
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

/* Has it been said that the connection has ended, or that it was aborted? */
static inline bool smc_msg_end_said(const struct smc_msg_conn *m)
{
	return READ_ONCE(m->sent_flags) & (SMC_CDC_CLOSED | SMC_CDC_ABORT);
}

bool smc_msg_look(struct smc_msg_conn *m, u8 force, bool again, struct smc_msg_news *news);
void smc_msg_said(struct smc_msg_conn *m, const struct smc_msg_news *news,
		  struct smc_cdc_msg *msg);
bool smc_msg_heard(struct smc_msg_conn *m, const struct smc_cdc_msg *msg);
void smc_msg_lost(struct smc_msg_conn *m);
void smc_msg_ended_by_peer(struct smc_msg_conn *m);
void smc_msg_cut_off(struct smc_msg_conn *m);
void smc_msg_leave_if_ended(struct smc_msg_conn *m);

/* for smc_fabric_ops */
void smc_msg_commit(struct smc_conn *c);
void smc_msg_consumed(struct smc_conn *c);
void smc_msg_request_update(struct smc_conn *c);
void smc_msg_urgent(struct smc_conn *c, enum smc_urgent_event news);
void smc_msg_signal(struct smc_conn *c, enum smc_conn_flag flag);
void smc_msg_detach(struct smc_conn *c);

#endif
