// SPDX-License-Identifier: GPL-2.0
/* News between the two ends of a connection, as far as they do not depend on how they travel. */
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include "../../conn/urgent.h"
#include "msg.h"

#ifdef CONFIG_SMC_TEST
/* For tests: a message takes this long, so that what happens beside it meets it. */
static unsigned int cdc_delay_us;
module_param(cdc_delay_us, uint, 0600);
MODULE_PARM_DESC(cdc_delay_us, "delay between looking at the cursors and posting, at most 500000");

static void test_delay(void)
{
	unsigned int us = min(READ_ONCE(cdc_delay_us), 500000u);

	mdelay(us / 1000);
	udelay(us % 1000);
}
#else
static inline void test_delay(void) { }
#endif

/* ---- saying ---- */

static u8 wire_flags(unsigned long flags)
{
	return (flags & BIT(SMC_FLAG_DONE) ? SMC_CDC_SEND_DONE : 0) |
	       (flags & BIT(SMC_FLAG_CLOSED) ? SMC_CDC_CLOSED : 0) |
	       (flags & BIT(SMC_FLAG_ABORT) ? SMC_CDC_ABORT : 0);
}

/*
 * How far a message may go: not beyond urgent data, and from there on only when the peer has
 * consumed these (RFC 7609, 4.7.5).  @flags: receives what is to be said of them.
 */
static u64 __limit(struct smc_msg_conn *m, u64 prod, u8 *flags)
{
	const struct smc_conn *c = &m->conn;
	u64 urg = smc_count_read(&c->tx_urg);

	/* The flags stay on: pending alone has the incumbent forget where the byte is. */
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
 * smc_msg_look() - are there news for the peer?
 * @m: the connection; its say lock is held
 * @force: SMC_MSG_FORCE_*, or bits of the fabric's own: also if it would not be worth a message
 * @again: repeat the last news, also after CLOSED
 * @news: receives it
 *
 * Return: false if the peer knows everything already.
 */
bool smc_msg_look(struct smc_msg_conn *m, u8 force, bool again, struct smc_msg_news *news)
{
	struct smc_conn *c = &m->conn;
	/* The flags first: a sender publishes its data before it sets one. */
	u8 flags = wire_flags(smp_load_acquire(&c->tx_flags)), prod_flags = 0;
	u64 pub = smc_count_read_acquire(&c->tx_prod), prod = pub;

	/* A peer that keeps to its window cannot have more than a ring consumed meanwhile. */
	news->cons = clamp(smc_urgent_taken(c), m->sent_cons, m->sent_cons + c->rx_size);
	test_delay();
	if (flags & SMC_CDC_ABORT || smc_conn_peer_gone(c) || m->sent_flags & SMC_CDC_CLOSED) {
		prod = m->sent_prod;
	} else if (unlikely(smc_count_read(&c->tx_urg) || READ_ONCE(m->urg_coming))) {
		prod = __limit(m, pub, &prod_flags);
		/* The end of the stream comes behind what is held back here. */
		if (prod != pub)
			flags = m->sent_flags;
	}
	/* After CLOSED only ABORT may follow. */
	if (m->tx_disabled || (prod == m->sent_prod && flags == m->sent_flags &&
			       (!force || (flags & SMC_CDC_CLOSED && !again))))
		return false;
	/* Too little room for a sender that waits, see smc_conn_low_room(). */
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
 * smc_msg_said() - it is going to be said
 * @m: the connection; its say lock has been held since smc_msg_look()
 * @news: the news that it has found
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
	smc_count_set(&m->sent_prod, prod);
	m->sent_cons = cons;
	smc_count_set(&m->cons_advertised, cons);
	m->sent_flags = news->conn_flags;
	m->tx_disabled = news->conn_flags & SMC_CDC_ABORT;
}

static void say(struct smc_msg_conn *m)
{
	m->ops->say(m, 0);
}

/* A message, also if nothing has changed that would be worth one. */
static void force_update(struct smc_msg_conn *m)
{
	m->ops->say(m, SMC_MSG_FORCE_UPDATE);
}

/**
 * smc_msg_commit() - smc_fabric_ops.commit
 * @c: the connection
 */
void smc_msg_commit(struct smc_conn *c)
{
	say(to_msg_conn(c));
}

/**
 * smc_msg_request_update() - smc_fabric_ops.request_update: ask for a cursor (RFC 7609, A.4)
 * @c: the connection
 */
void smc_msg_request_update(struct smc_conn *c)
{
	struct smc_msg_conn *m = to_msg_conn(c);

	m->ops->say(m, SMC_MSG_REQUEST_UPDATE);
}

/**
 * smc_msg_urgent() - smc_fabric_ops.urgent
 * @c: the connection
 * @news: the event
 */
void smc_msg_urgent(struct smc_conn *c, enum smc_urgent_event news)
{
	struct smc_msg_conn *m = to_msg_conn(c);

	if (news != SMC_URGENT_TAKEN)
		WRITE_ONCE(m->urg_coming, news == SMC_URGENT_COMING);
	/* The byte itself is news enough. */
	if (news != SMC_URGENT_HERE)
		force_update(m);
	else
		say(m);
}

/*
 * A message of its own is worth while when the peer's window is less than half and
 * grows by a tenth (RFC 7609, 4.5.1).  A peer that is blocked, perhaps because its
 * ring is smaller than our element, is told when a quarter of what it waits for has
 * been consumed; the RFC would tell it of every byte.  One that has written urgent data
 * is told of these at once (4.7.5).
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
 * smc_msg_consumed() - smc_fabric_ops.consumed
 * @c: the connection
 */
void smc_msg_consumed(struct smc_conn *c)
{
	struct smc_msg_conn *m = to_msg_conn(c);

	/*
	 * Pairs with the barrier in take_msg(): either we see that the peer waits, or the
	 * message that says so is judged by the cursor just moved.
	 * model/update.pml: look whether the peer waits.
	 */
	smp_mb();
	if (worth_telling(m))
		force_update(m);
}

/**
 * smc_msg_signal() - smc_fabric_ops.signal
 * @c: the connection
 * @flag: the flag that is new; all of tx_flags are sent
 */
void smc_msg_signal(struct smc_conn *c, enum smc_conn_flag flag)
{
	struct smc_msg_conn *m = to_msg_conn(c);

	/* Pairs with the one in smcd_attach(), which says what this does not. */
	smp_mb();
	if (smp_load_acquire(&m->attached))
		say(m);
}

/* ---- the end ---- */

/*
 * Only the peer's own word counts, or that it has no way to our element: after an abort of ours,
 * or what we take for one, its writes may still be under way.  A client writes as soon as it has
 * sent its Confirm, whether we have read that or not.
 */
static bool peer_may_write(const struct smc_msg_conn *m)
{
	return (smp_load_acquire(&m->attached) ||
		test_bit(SMC_MSG_TOLD, &m->bits)) &&
	       !test_bit(SMC_MSG_PEER_ENDED, &m->bits) &&
	       !test_bit(SMC_MSG_CUT_OFF, &m->bits);
}

/*
 * Should the link go down before, the peer would write again what we have not said to have
 * consumed, or that we do not want.
 */
static bool last_word_arrived(const struct smc_msg_conn *m)
{
	return !smp_load_acquire(&m->attached) ||
	       test_bit(SMC_MSG_CUT_OFF, &m->bits) || m->ops->arrived(m);
}

/**
 * smc_msg_leave_if_ended() - something has come that a connection waits for before it leaves
 * @m: the connection, referenced; a full barrier lies between that and this call
 *
 * The element may be reused once the socket has let go, the peer knows that, and the peer has said
 * that it writes no more, or cannot (RFC 7609, 4.4.2).
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
 * smc_msg_detach() - the socket is done with the connection
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
	/* Pairs with the bit operations of the two ends of its life. */
	smp_mb__after_atomic();
	smc_msg_leave_if_ended(m);
}

/**
 * smc_msg_cut_off() - the peer cannot reach the element any more, nor we that of the peer
 * @m: the connection, referenced, in a link group; @tx_disabled is set already
 *
 * Context: any but hard interrupts.
 */
void smc_msg_cut_off(struct smc_msg_conn *m)
{
	if (!smc_conn_peer_gone(&m->conn))
		smc_conn_peer_event(&m->conn, SMC_EV_PEER_ABORT);
	set_bit(SMC_MSG_CUT_OFF, &m->bits);
	smp_mb__after_atomic();
	smc_msg_leave_if_ended(m);
}

/**
 * smc_msg_ended_by_peer() - the peer has said that it writes no more
 * @m: the connection, referenced
 *
 * smc_msg_heard() calls it.  For messages that say so and are not taken.
 *
 * Context: any but hard interrupts.
 */
void smc_msg_ended_by_peer(struct smc_msg_conn *m)
{
	set_bit(SMC_MSG_PEER_ENDED, &m->bits);
	/* Pairs with the one in smc_msg_detach(). */
	smp_mb__after_atomic();
	smc_msg_leave_if_ended(m);
}

/**
 * smc_msg_lost() - the peer says what cannot be, or has written what has not come
 * @m: the connection
 *
 * Context: any but hard interrupts.
 */
void smc_msg_lost(struct smc_msg_conn *m)
{
	smc_conn_peer_event(&m->conn, SMC_EV_PEER_ABORT);
	smc_conn_abort(&m->conn);
}

/* ---- hearing ---- */

/* Before the cursor moves: a reader that sees the data knows of the mark in it. */
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

/* Move the cursors to where the message says.  -EPROTO: they cannot be there. */
static int take_cursors(struct smc_msg_conn *m, const struct smc_cdc_msg *msg)
{
	struct smc_conn *c = &m->conn;
	u64 prod = c->rx_prod, cons = c->tx_cons;
	/* The peer may write again at least the part that we have announced as free. */
	u64 unread = prod - max(smc_count_read(&c->rx_cons), smc_count_read(&m->cons_advertised));
	int err;

	err = smc_cursor_advance(&prod, &m->heard_prod, c->rx_size, &msg->prod,
				 c->rx_size - unread);
	if (!err && smp_load_acquire(&m->attached))
		err = smc_cursor_advance(&cons, &m->heard_cons, c->peer_size, &msg->cons,
					 smc_count_read(&m->sent_prod) - cons);
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
		/* Data behind urgent data may go now. */
		if (unlikely(smc_count_read(&m->urg_advertised)) && cons >= m->urg_advertised)
			say(m);
	}
	if (unlikely(msg->prod_flags & (SMC_CDC_URG_PENDING | SMC_CDC_URG_PRESENT) ||
		     c->urg_announced))
		take_urgent(m, prod, msg->prod_flags);
	if (prod == c->rx_prod)
		return 0;
	smc_count_set_release(&c->rx_prod, prod);
	return 1;
}

/* The flags stay set in all later messages: only what is new is an event. */
static void take_flags(struct smc_msg_conn *m, u8 flags)
{
	struct smc_conn *c = &m->conn;
	unsigned long known = READ_ONCE(c->rx_flags);

	if (flags & SMC_CDC_ABORT && !(known & BIT(SMC_FLAG_ABORT))) {
		smc_conn_peer_event(c, SMC_EV_PEER_ABORT);
		/* The peer waits for our word before it reuses the element. */
		smc_conn_abort(c);
	} else if (flags & SMC_CDC_CLOSED && !(known & BIT(SMC_FLAG_CLOSED))) {
		smc_conn_peer_event(c, SMC_EV_PEER_CLOSE);
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
	/* The peer asks, or was blocked when we had consumed all that was there. */
	answer = msg->prod_flags & (SMC_CDC_UPDATE_REQ | SMC_CDC_WRITE_BLOCKED) &&
		 smc_count_read(&c->rx_cons) != smc_count_read(&m->cons_advertised);
	if (news)
		smc_conn_readable(c);
	if (unlikely(msg->conn_flags))
		take_flags(m, msg->conn_flags);
	if (unlikely(answer) && smp_load_acquire(&m->attached))
		force_update(m);
	return true;
}

/**
 * smc_msg_heard() - a message of the peer
 * @m: the connection, referenced, with an element
 * @msg: the message, which nobody else changes any more; of its numbers cursors and flags count
 *
 * Nothing is believed: a cursor that cannot be there aborts the connection.  From a peer that has
 * ended only that it has is taken.
 *
 * Context: any but hard interrupts, with bottom halves off; one call at a time for a connection.
 * Return: false if the connection was aborted.
 */
bool smc_msg_heard(struct smc_msg_conn *m, const struct smc_cdc_msg *msg)
{
	bool ok = smc_conn_peer_gone(&m->conn) || take_msg(m, msg);

	if (unlikely(msg->conn_flags & (SMC_CDC_CLOSED | SMC_CDC_ABORT)))
		smc_msg_ended_by_peer(m);
	return ok;
}
