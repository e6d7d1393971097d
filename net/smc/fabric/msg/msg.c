// SPDX-License-Identifier: GPL-2.0
/* Cursors, flags and urgent data of a connection: what to send and what to believe. */
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include "msg.h"

#ifdef CONFIG_SMC_TEST
/* For tests: delays each message, to widen races with concurrent events. */
static unsigned int cdc_delay_us;
module_param(cdc_delay_us, uint, 0600);
MODULE_PARM_DESC(cdc_delay_us, "delay between reading the cursors and posting, in us, at most 500000");

static void test_delay(void)
{
	unsigned int us = min(READ_ONCE(cdc_delay_us), 500000u);

	mdelay(us / 1000);
	udelay(us % 1000);
}
#else
static inline void test_delay(void) { }
#endif

/* ---- sending ---- */

static u8 wire_flags(unsigned long flags)
{
	return (flags & BIT(SMC_FLAG_DONE) ? SMC_CDC_SEND_DONE : 0) |
	       (flags & BIT(SMC_FLAG_CLOSED) ? SMC_CDC_CLOSED : 0) |
	       (flags & BIT(SMC_FLAG_ABORT) ? SMC_CDC_ABORT : 0);
}

/*
 * How far the producer cursor of the next message may go: no further than the end of urgent data,
 * and beyond that only once the peer has consumed it (RFC 7609, 4.7.5).  @flags receives the
 * urgent flags for the message.
 */
static u64 urgent_limit(struct smc_msg_conn *m, u64 prod, u8 *flags)
{
	const struct smc_conn *c = &m->conn;
	u64 urg = smc_count_read(&c->tx_urg);

	/* Repeat both flags: with PENDING alone, the incumbent forgets where the byte is. */
	if (smc_count_read_acquire(&c->tx_cons) < m->urg_advertised) {
		*flags |= SMC_CDC_URG_PENDING | SMC_CDC_URG_PRESENT;
		return m->sent_prod;
	}
	if (m->urg_coming || urg > m->sent_prod)
		*flags |= SMC_CDC_URG_PENDING;
	if (urg <= m->sent_prod || urg > prod)
		return prod;
	*flags |= SMC_CDC_URG_PRESENT;
	return urg;
}

/**
 * smc_msg_look() - is there anything to tell the peer?
 * @m: the connection; the caller holds its say lock
 * @force: SMC_MSG_FORCE_UPDATE, SMC_MSG_REQUEST_UPDATE or bits of the fabric: send a message even
 *	if nothing has changed
 * @again: with @force: repeat the last message even after CLOSED was sent
 * @news: receives what to tell
 *
 * Return: false if the peer knows everything already.
 */
bool smc_msg_look(struct smc_msg_conn *m, u8 force, bool again, struct smc_msg_news *news)
{
	struct smc_conn *c = &m->conn;
	u8 flags, prod_flags = 0;
	u64 pub, prod;

	/* Read our flags before the count: a sender publishes its data before it sets a flag. */
	flags = wire_flags(smp_load_acquire(&c->tx_flags));
	if (unlikely(test_bit(SMC_MSG_PEER_QUIT, &m->bits)))
		flags |= SMC_CDC_SEND_DONE | SMC_CDC_CLOSED;
	pub = smc_count_read_acquire(&c->tx_prod);
	prod = pub;
	/* A peer that respects its window cannot let us consume more than one ring in between. */
	news->cons = clamp(smc_urgent_taken(c), m->sent_cons, m->sent_cons + c->rx_size);
	test_delay();
	if (READ_ONCE(c->rx_flags) & BIT(SMC_FLAG_ABORT) || smc_msg_end_said(m)) {
		prod = m->sent_prod;
	} else if (unlikely(smc_count_read(&c->tx_urg) || READ_ONCE(m->urg_coming)) &&
		   !(READ_ONCE(c->rx_flags) & BIT(SMC_FLAG_CLOSED))) {
		/*
		 * A peer that has closed is excepted: it reads no urgent byte any more, and refuses
		 * data that send() has accepted before, so it must get them.
		 */
		prod = urgent_limit(m, pub, &prod_flags);
		/* The end of the stream must follow what is held back here; an abort does not. */
		if (prod != pub && !(flags & SMC_CDC_ABORT))
			flags = m->sent_flags;
	}
	/* Only ABORT may follow CLOSED; over SMC-D nothing may, and @tx_disabled is set. */
	if (m->tx_disabled || (prod == m->sent_prod && flags == m->sent_flags &&
			       (!force || (flags & SMC_CDC_CLOSED && !again))))
		return false;
	/* Less room than a waiting sender needs, see smc_conn_low_room(). */
	if (c->tx_size - (pub - smc_count_read(&c->tx_cons)) < smc_conn_low_room(c))
		prod_flags |= SMC_CDC_WRITE_BLOCKED;
	if (unlikely(force & SMC_MSG_REQUEST_UPDATE))
		prod_flags |= SMC_CDC_UPDATE_REQ;
	news->prod = prod;
	news->prod_flags = prod_flags;
	news->conn_flags = flags;
	return true;
}

/**
 * smc_msg_said() - fill the message that is about to be sent, and remember what it says
 * @m: the connection; the caller has held its say lock since smc_msg_look()
 * @news: the result of smc_msg_look()
 * @msg: receives cursors and flags
 */
void smc_msg_said(struct smc_msg_conn *m, const struct smc_msg_news *news,
		  struct smc_cdc_msg *msg)
{
	u64 prod = news->prod, cons = news->cons;
	const struct smc_conn *c = &m->conn;

	smc_cursor_step(&m->sent_prod_at, c->peer_size, prod - m->sent_prod);
	smc_cursor_step(&m->sent_cons_at, c->rx_size, cons - m->sent_cons);
	msg->prod = m->sent_prod_at;
	msg->cons = m->sent_cons_at;
	msg->prod_flags = news->prod_flags;
	msg->conn_flags = news->conn_flags;
	if (unlikely(news->prod_flags & SMC_CDC_URG_PRESENT))
		smc_count_set(&m->urg_advertised, prod);
	smc_count_set_release(&m->sent_prod, prod);
	m->sent_cons = cons;
	smc_count_set(&m->cons_advertised, cons);
	m->sent_flags = news->conn_flags;
	m->tx_disabled = news->conn_flags & SMC_CDC_ABORT ||
			 (news->conn_flags & SMC_CDC_CLOSED &&
			  test_bit(SMC_MSG_PEER_QUIT, &m->bits));
}

static void say(struct smc_msg_conn *m)
{
	m->ops->say(m, 0);
}

static void force_update(struct smc_msg_conn *m)
{
	m->ops->say(m, SMC_MSG_FORCE_UPDATE);
}

/**
 * smc_msg_commit() - smc_conn_ops.commit
 * @c: the connection
 */
void smc_msg_commit(struct smc_conn *c)
{
	say(to_msg_conn(c));
}

/**
 * smc_msg_request_update() - smc_conn_ops.request_update: ask for a cursor (RFC 7609, A.4)
 * @c: the connection
 */
void smc_msg_request_update(struct smc_conn *c)
{
	struct smc_msg_conn *m = to_msg_conn(c);

	m->ops->say(m, SMC_MSG_REQUEST_UPDATE);
}

/**
 * smc_msg_peer_waits() - smc_conn_ops.peer_waits
 * @c: the connection
 *
 * Return: true if the peer is blocked, or has sent an urgent byte that has yet to be read.
 */
bool smc_msg_peer_waits(struct smc_conn *c)
{
	return READ_ONCE(to_msg_conn(c)->peer_waits);
}

/**
 * smc_msg_urgent() - smc_conn_ops.urgent
 * @c: the connection
 * @news: the event
 */
void smc_msg_urgent(struct smc_conn *c, enum smc_urgent_event news)
{
	struct smc_msg_conn *m = to_msg_conn(c);

	if (news != SMC_URGENT_TAKEN)
		WRITE_ONCE(m->urg_coming, news == SMC_URGENT_COMING);
	/* An urgent byte moves the producer cursor, so it needs no forced update. */
	if (news != SMC_URGENT_HERE)
		force_update(m);
	else
		say(m);
}

/*
 * RFC 7609, 4.5.1: send a separate cursor update when the peer's window is below one half of the
 * ring and the update adds at least a tenth.  A blocked peer, whose ring may be smaller than our
 * element, gets an update when a quarter of the data it waits for has been consumed; the RFC
 * would send one for every byte.  A peer that has sent urgent data gets an update as soon as that
 * is consumed (4.7.5).
 */
static bool worth_telling(const struct smc_msg_conn *m)
{
	const struct smc_conn *c = &m->conn;
	u64 advertised = smc_count_read(&m->cons_advertised);
	u64 pending = smc_count_read(&c->rx_prod) - advertised;
	u64 news = c->rx_cons - advertised;
	u8 waits = READ_ONCE(m->peer_waits);
	u64 urg = smc_count_read(&m->peer_urg);

	if (unlikely(waits & SMC_MSG_PEER_URGENT) && advertised < urg && c->rx_cons >= urg)
		return true;
	if (unlikely(waits & SMC_MSG_PEER_BLOCKED))
		return news >= pending / 4;
	return pending > c->rx_size / 2 && news >= c->rx_size / 10;
}

/**
 * smc_msg_consumed() - smc_conn_ops.consumed
 * @c: the connection
 */
void smc_msg_consumed(struct smc_conn *c)
{
	struct smc_msg_conn *m = to_msg_conn(c);

	/*
	 * Pairs with the barrier in take_msg(): either we see here that the peer waits, or
	 * take_msg() sees the new rx_cons.
	 * model/update.pml: look whether the peer waits.
	 */
	smp_mb();
	if (worth_telling(m))
		force_update(m);
}

/**
 * smc_msg_signal() - smc_conn_ops.signal
 * @c: the connection
 * @flag: the new flag; the message carries all of tx_flags
 */
void smc_msg_signal(struct smc_conn *c, enum smc_conn_flag flag)
{
	struct smc_msg_conn *m = to_msg_conn(c);

	/* Pairs with the barriers in smcd_attach() and smc_rdma_attach(), which send the rest. */
	smp_mb();
	if (smp_load_acquire(&m->attached))
		say(m);
}

/* ---- the end ---- */

/*
 * The peer stops writing only if it says so or cannot reach our element any more.  After we have
 * sent an abort, or concluded that the peer aborted, its writes may still be in flight.  A client
 * writes as soon as it has sent its Confirm, even before we have read the Confirm.
 */
static bool peer_may_write(const struct smc_msg_conn *m)
{
	return smc_msg_peer_open(m) && !test_bit(SMC_MSG_CUT_OFF, &m->bits);
}

/*
 * Until our last message has arrived, the peer may write data again after a failover: data that we
 * have not acknowledged, or do not want any more.
 */
static bool last_word_arrived(const struct smc_msg_conn *m)
{
	return !smp_load_acquire(&m->attached) ||
	       test_bit(SMC_MSG_CUT_OFF, &m->bits) || m->ops->arrived(m);
}

/**
 * smc_msg_leave_if_ended() - leave the link group if both sides are done with the connection
 * @m: the connection, referenced
 *
 * The element may be reused once the socket is detached, the peer knows that, and the peer has
 * said that it writes no more, or cannot write any more (RFC 7609, 4.4.2).  Callers record one of
 * these events, then need a full barrier before this call.
 *
 * Context: any but hard interrupts.
 */
void smc_msg_leave_if_ended(struct smc_msg_conn *m)
{
	if (!test_bit(SMC_MSG_DETACHED, &m->bits) || peer_may_write(m) ||
	    !last_word_arrived(m) || test_and_set_bit(SMC_MSG_LEFT, &m->bits))
		return;
	m->ops->leave(m);
	smc_conn_put(&m->conn);
}

/**
 * smc_msg_detach() - smc_fabric_ops.detach: the socket does not use the connection any more
 * @c: the connection
 *
 * Context: any but hard interrupts.
 */
void smc_msg_detach(struct smc_conn *c)
{
	struct smc_msg_conn *m = to_msg_conn(c);

	smc_conn_get(c);
	if (peer_may_write(m) || !last_word_arrived(m))
		m->ops->await_close(m);
	set_bit(SMC_MSG_DETACHED, &m->bits);
	/* Pairs with the barriers before the other calls of smc_msg_leave_if_ended(). */
	smp_mb__after_atomic();
	smc_msg_leave_if_ended(m);
}

/**
 * smc_msg_cut_off() - neither end can reach the other's element any more
 * @m: the connection, referenced, in a link group; the caller has seen to it that nothing is said
 *	after this, or nothing but a last word that is left to a sender
 *
 * Context: any but hard interrupts.
 */
void smc_msg_cut_off(struct smc_msg_conn *m)
{
	if (!smc_conn_peer_ended(&m->conn))
		smc_conn_peer_event(&m->conn, SMC_EV_PEER_ABORT);
	set_bit(SMC_MSG_CUT_OFF, &m->bits);
	smp_mb__after_atomic();
	smc_msg_leave_if_ended(m);
}

/**
 * smc_msg_lost() - abort: the peer sent an impossible cursor, or its data was lost
 * @m: the connection
 *
 * Context: any but hard interrupts.
 */
void smc_msg_lost(struct smc_msg_conn *m)
{
	smc_conn_peer_event(&m->conn, SMC_EV_PEER_ABORT);
	smc_conn_abort(&m->conn);
}

/* Move @cons to the consumer cursor of a message; returns -EPROTO if that is impossible. */
static int advance_cons(struct smc_msg_conn *m, const struct smc_cdc_msg *msg, u64 *cons)
{
	return smc_cursor_advance(cons, &m->heard_cons, m->conn.peer_size, &msg->cons,
				  smc_count_read(&m->sent_prod) - *cons);
}

/*
 * The peer has closed, and aborts now. Either it refuses data, or it has read all that we have sent
 * and its time in FIN_WAIT2 is over. As that of TCP, its program is not told: there may be data to
 * read. Only its kernel is, which waits for our last word to reuse the element. It may have read on
 * after it closed, so the cursor of its last message counts.
 */
static void abort_after_close(struct smc_msg_conn *m, const struct smc_cdc_msg *msg)
{
	struct smc_conn *c = &m->conn;
	u64 cons = c->tx_cons;
	bool copying;

	if (smp_load_acquire(&m->attached) && !advance_cons(m, msg, &cons))
		smc_count_set_release(&c->tx_cons, cons);
	/* A sender may still be in a copy that began before the peer closed. */
	copying = mutex_is_locked(&c->tx_lock);
	/* After the lock, what its last owner has written. */
	smp_rmb();
	if (copying || smc_count_read(&c->tx_written) != smc_count_read(&c->tx_cons)) {
		smc_msg_lost(m);
		return;
	}
	set_bit(SMC_MSG_PEER_QUIT, &m->bits);
	/* Pairs with the barriers in smcd_attach() and smc_rdma_attach(), which say it then. */
	smp_mb__after_atomic();
	if (smp_load_acquire(&m->attached))
		say(m);
}

/**
 * smc_msg_ended_by_peer() - the peer has said that it writes no more
 * @m: the connection, referenced
 * @msg: a message that says so, with SMC_CDC_CLOSED, SMC_CDC_ABORT or both
 *
 * smc_msg_heard() calls this.  Fabrics call it for closing messages that they do not pass to
 * smc_msg_heard().
 *
 * Context: any but hard interrupts.
 */
void smc_msg_ended_by_peer(struct smc_msg_conn *m, const struct smc_cdc_msg *msg)
{
	unsigned long known = READ_ONCE(m->conn.rx_flags);

	if (!(known & BIT(SMC_FLAG_ABORT))) {
		/* It answers our abort. */
		if (known & BIT(SMC_FLAG_GIVEN_UP))
			smc_msg_lost(m);
		else if (known & BIT(SMC_FLAG_CLOSED) && msg->conn_flags & SMC_CDC_ABORT)
			abort_after_close(m, msg);
	}
	set_bit(SMC_MSG_PEER_ENDED, &m->bits);
	/* Pairs with the barrier in smc_msg_detach(). */
	smp_mb__after_atomic();
	smc_msg_leave_if_ended(m);
}

/* ---- receiving ---- */

/* Called before rx_prod moves, so a reader that sees the data also sees the urgent mark. */
static void take_urgent(struct smc_msg_conn *m, u64 prod, u8 flags)
{
	struct smc_conn *c = &m->conn;

	if (!(flags & SMC_CDC_URG_PRESENT)) {
		smc_conn_urgent_pending(c, flags & SMC_CDC_URG_PENDING);
	} else if (prod != c->rx_prod) {
		smc_count_set(&m->peer_urg, prod);
		smc_conn_urgent(c, prod);
	}
}

/*
 * Data has arrived after we have closed. Over SMC-D nothing may follow our "closed", and the data
 * go nowhere. Returns true if the peer is told.
 */
static bool refuse(struct smc_msg_conn *m)
{
	if (m->tx_disabled)
		return false;
	smc_conn_refuse(&m->conn);
	return true;
}

/* Returns true if the data must not be read. */
static noinline bool refuse_or_stamp(struct smc_msg_conn *m, u64 prod)
{
	struct smc_conn *c = &m->conn;

	if (READ_ONCE(c->rx_unwanted) && refuse(m))
		return true;
	if (READ_ONCE(c->stamps))
		smc_stamps_arrived(c, prod);
	return false;
}

/* Returns 1 if there is new data, 0 if not, -EPROTO if a cursor of @msg is impossible. */
static int take_cursors(struct smc_msg_conn *m, const struct smc_cdc_msg *msg)
{
	struct smc_conn *c = &m->conn;
	u64 prod = c->rx_prod, cons = c->tx_cons;
	/* The peer may reuse all that we have advertised as free, which can exceed rx_cons. */
	u64 unread = prod - max(smc_count_read(&c->rx_cons), smc_count_read(&m->cons_advertised));
	int err;

	err = smc_cursor_advance(&prod, &m->heard_prod, c->rx_size, &msg->prod,
				 c->rx_size - unread);
	if (!err && smp_load_acquire(&m->attached))
		err = advance_cons(m, msg, &cons);
	if (err)
		return err;
	if (cons != c->tx_cons) {
		smc_count_set_release(&c->tx_cons, cons);
		/*
		 * Pairs with smc_conn_ask_for_room().  model/window.pml: look for a blocked sender.
		 */
		smp_mb();
		if (READ_ONCE(c->tx_blocked))
			smc_conn_writable(c);
		/* Data behind the urgent byte may go out now. */
		if (unlikely(smc_count_read(&m->urg_advertised)) && cons >= m->urg_advertised)
			say(m);
	}
	if (unlikely(msg->prod_flags & (SMC_CDC_URG_PENDING | SMC_CDC_URG_PRESENT) ||
		     c->urg_announced))
		take_urgent(m, prod, msg->prod_flags);
	if (prod == c->rx_prod)
		return 0;
	if (unlikely(READ_ONCE(c->rx_odd)) && refuse_or_stamp(m, prod))
		return 0;
	smc_count_set_release(&c->rx_prod, prod);
	return 1;
}

/* Flags stay set in all later messages: only a newly set flag is an event. */
static void take_flags(struct smc_msg_conn *m, u8 flags)
{
	struct smc_conn *c = &m->conn;
	unsigned long known = READ_ONCE(c->rx_flags);

	if (flags & SMC_CDC_ABORT && !(known & BIT(SMC_FLAG_ABORT))) {
		set_bit(SMC_MSG_PEER_ABORTED, &m->bits);
		smc_conn_peer_event(c, SMC_EV_PEER_ABORT);
		/* The peer waits for our answer before it reuses its element. */
		smc_conn_abort(c);
	} else if (flags & SMC_CDC_CLOSED && !(known & BIT(SMC_FLAG_CLOSED))) {
		smc_conn_peer_event(c, SMC_EV_PEER_CLOSE);
		/*
		 * Data behind an urgent byte, and our own end, no longer wait for it.  Another task
		 * may just be holding them back: the say lock tells who comes first.
		 */
		if (smp_load_acquire(&m->attached))
			say(m);
	} else if (flags & SMC_CDC_SEND_DONE && !(known & BIT(SMC_FLAG_DONE))) {
		smc_conn_peer_event(c, SMC_EV_PEER_DONE);
	}
}

static bool take_msg(struct smc_msg_conn *m, const struct smc_cdc_msg *msg)
{
	struct smc_conn *c = &m->conn;
	int news = take_cursors(m, msg);
	bool answer;

	if (unlikely(news < 0)) {
		smc_msg_lost(m);
		return false;
	}
	WRITE_ONCE(m->peer_waits,
		   (msg->prod_flags & SMC_CDC_WRITE_BLOCKED ? SMC_MSG_PEER_BLOCKED : 0) |
		   (smc_count_read(&m->cons_advertised) < m->peer_urg ? SMC_MSG_PEER_URGENT : 0));
	/* Pairs with the barrier in smc_msg_consumed().  model/update.pml: judge the message. */
	smp_mb();
	/* The peer requests an update, or is blocked: answer if it does not know rx_cons yet. */
	answer = msg->prod_flags & (SMC_CDC_UPDATE_REQ | SMC_CDC_WRITE_BLOCKED) &&
		 smc_count_read(&c->rx_cons) != smc_count_read(&m->cons_advertised);
	/* A reader that waits for more data than a waiting peer can send has to read now. */
	if (news || unlikely(READ_ONCE(m->peer_waits)))
		smc_conn_readable(c);
	/* Pairs with close_in_order(), which looks for unread data. */
	if (news && unlikely(READ_ONCE(c->rx_unwanted)))
		refuse(m);
	if (unlikely(msg->conn_flags))
		take_flags(m, msg->conn_flags);
	if (unlikely(answer) && smp_load_acquire(&m->attached))
		force_update(m);
	return true;
}

/**
 * smc_msg_heard() - process a message of the peer
 * @m: the connection, referenced, with an element
 * @msg: private copy of the message; only its cursors and flags are used
 *
 * The peer is not trusted: an impossible cursor aborts the connection.  If the peer is already
 * known to have ended, only its CLOSED and ABORT flags are looked at.
 *
 * Context: any but hard interrupts, with bottom halves off; one call at a time for a connection.
 * Return: false if the connection was aborted.
 */
bool smc_msg_heard(struct smc_msg_conn *m, const struct smc_cdc_msg *msg)
{
	bool ok = smc_conn_peer_gone(&m->conn) || take_msg(m, msg);

	if (unlikely(msg->conn_flags & (SMC_CDC_CLOSED | SMC_CDC_ABORT)))
		smc_msg_ended_by_peer(m, msg);
	return ok;
}

/**
 * smc_msg_end_arrived() - smc_conn_ops.end_arrived
 * @c: the connection
 *
 * Return: true if the peer's kernel has our last message, which says that we have closed.
 */
bool smc_msg_end_arrived(struct smc_conn *c)
{
	const struct smc_msg_conn *m = to_msg_conn(c);

	return m->ops->arrived(m);
}
