// SPDX-License-Identifier: GPL-2.0
/* What a connection tells its peer, and is told (RFC 7609, 4.3 to 4.5, 4.7 and A.4). */
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include "../../../conn/urgent.h"
#include "../../../stats.h"
#include "../../../trace.h"
#include "../../../wire/cdc.h"
#include "../link/link.h"
#include "rdma_conn.h"

static u8 wire_flags(unsigned long flags)
{
	return (flags & BIT(SMC_FLAG_DONE) ? SMC_CDC_SEND_DONE : 0) |
	       (flags & BIT(SMC_FLAG_CLOSED) ? SMC_CDC_CLOSED : 0) |
	       (flags & BIT(SMC_FLAG_ABORT) ? SMC_CDC_ABORT : 0);
}

#ifdef CONFIG_SMC_TEST
/* For tests: a post takes this long, so that what happens beside it meets it. */
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

/*
 * The data from @at to @prod: two pieces where the ring wraps.  The ring
 * is not larger than the peer's element, so that one wraps only where ours does.
 */
static void fill_writes(struct rdma_conn *rconn, struct smc_link_post *post, u64 at, u64 prod)
{
	const struct smc_conn *c = &rconn->base.conn;
	unsigned int n = 0;
	u32 pos, len;

	while (at != prod && !WARN_ON_ONCE(n == SMC_LINK_WRITES)) {
		pos = smc_ring_pos(at, c->tx_size);
		len = min_t(u64, prod - at, c->tx_size - pos);
		post->src[n] = c->tx_buf + pos;
		post->dma[n] = rconn->on_link.dma + pos;
		post->len[n] = len;
		post->dst[n] = rconn->on_link.addr + smc_ring_pos(at, rconn->peer_size);
		at += len;
		n++;
	}
	post->n_writes = n;
	post->lkey = rconn->on_link.lkey;
	post->rkey = rconn->on_link.rkey;
}

/*
 * How far a post may go: not beyond urgent data, and from there on only when the peer has
 * consumed these (RFC 7609, 4.7.5).  @flags: receives what is to be said of them.
 */
static u64 __limit(struct rdma_conn *rconn, u64 prod, u8 *flags)
{
	const struct smc_conn *c = &rconn->base.conn;
	u64 urg = READ_ONCE(c->tx_urg);

	/* The flags stay on: pending alone has the incumbent forget where the byte is. */
	if (smp_load_acquire(&c->tx_cons) < rconn->urg_advertised) {
		*flags |= SMC_CDC_URG_PENDING | SMC_CDC_URG_PRESENT;
		return rconn->sent_prod;
	}
	if (rconn->urg_coming || urg > rconn->sent_prod)
		*flags |= SMC_CDC_URG_PENDING;
	if (urg <= rconn->sent_prod || urg > prod)
		return prod;
	*flags |= SMC_CDC_URG_PRESENT;
	return urg;
}

/*
 * Only the peer's own word counts, or that it has no way to our element: after an abort of ours,
 * or what we take for one, its writes may still be under way.  A client writes as soon as it has
 * sent its Confirm, whether we have read that or not.
 */
static bool peer_may_write(const struct rdma_conn *rconn)
{
	return (smp_load_acquire(&rconn->attached) ||
		test_bit(RDMA_CONN_TOLD, &rconn->bits)) &&
	       !test_bit(RDMA_CONN_PEER_ENDED, &rconn->bits) &&
	       !test_bit(RDMA_CONN_CUT_OFF, &rconn->bits);
}

/*
 * Should the link go down before, the peer would write again what we have not said to have
 * consumed, or that we do not want.
 */
static bool last_word_arrived(const struct rdma_conn *rconn)
{
	return !smp_load_acquire(&rconn->attached) ||
	       test_bit(RDMA_CONN_CUT_OFF, &rconn->bits) ||
	       rdma_conn_all_acked(rconn);
}

/*
 * The element may be reused once the socket has let go, the peer knows that, and the peer has said
 * that it writes no more, or cannot (RFC 7609, 4.4.2).
 */
static void leave_if_ended(struct rdma_conn *rconn)
{
	if (!test_bit(RDMA_CONN_DETACHED, &rconn->bits) || peer_may_write(rconn) ||
	    !last_word_arrived(rconn) || test_and_set_bit(RDMA_CONN_LEFT, &rconn->bits))
		return;
	if (rconn->base.lgr)
		smc_lgr_leave(&rconn->base);
	smc_conn_put(&rconn->base.conn);
}

static struct rdma_conn *conn_of(struct smc_link_sender *sender)
{
	return container_of(sender, struct rdma_conn, base.sender);
}

/* smc_link_ops.get */
void smc_cdc_get(struct smc_link_sender *sender)
{
	smc_conn_get(&conn_of(sender)->base.conn);
}

/* smc_link_ops.put: a post has arrived, for one thing */
void smc_cdc_put(struct smc_link_sender *sender)
{
	struct rdma_conn *rconn = conn_of(sender);

	if (unlikely(READ_ONCE(rconn->sent_flags) & (SMC_CDC_CLOSED | SMC_CDC_ABORT))) {
		/* Pairs with the one in smc_cdc_detach(). */
		smp_mb();
		leave_if_ended(rconn);
	}
	smc_conn_put(&rconn->base.conn);
}

/*
 * The link is another one than before.  The peer aborts if it does not have the message with this
 * number, as then data are lost that its device has acknowledged.  Of the rest of the message
 * nothing counts (4.6.1).
 */
static bool fill_validation(struct rdma_conn *rconn, struct smc_link_post *post)
{
	struct smc_link_sender *sender = &rconn->base.sender;
	struct smc_cdc_msg m = {
		.alert_token	= rconn->peer_token,
		.seqno		= sender->acked,
		.prod_flags	= SMC_CDC_FAILOVER,
	};

	smc_cdc_encode(&m, post->msg);
	post->seqno = sender->acked;
	post->n_writes = 0;
	post->signaled = false;
	post->more = true;
	sender->force_update &= ~RDMA_VALIDATE;
	return true;
}

/*
 * From where a post writes.  What was posted over a link that is down is written again, as far as
 * the peer has not said to have consumed it.  A peer that has closed wants none of it, and its
 * element may be another connection's.
 */
static u64 write_from(const struct rdma_conn *rconn, u8 flags)
{
	const struct smc_conn *c = &rconn->base.conn;
	u64 cons;

	if (likely(!(rconn->base.sender.force_update & RDMA_REPLAY)) ||
	    flags & SMC_CDC_ABORT || test_bit(RDMA_CONN_PEER_ENDED, &rconn->bits))
		return rconn->sent_prod;
	cons = smp_load_acquire(&c->tx_cons);
	this_cpu_add(rconn->base.lgr->sn->stats->bytes_again, rconn->sent_prod - cons);
	return cons;
}

/**
 * smc_cdc_fill() - smc_link_ops.fill: what is there to be said?
 * @sender: of a connection; its link's tx_lock is held
 * @post: receives data writes and message
 *
 * Return: false if the peer knows everything already.
 */
bool smc_cdc_fill(struct smc_link_sender *sender, struct smc_link_post *post)
{
	struct rdma_conn *rconn = conn_of(sender);
	struct smc_conn *c = &rconn->base.conn;
	/* The flags first: who sets one has published its data before. */
	u8 flags = wire_flags(smp_load_acquire(&c->tx_flags));
	u64 pub = smp_load_acquire(&c->tx_prod), prod = pub;
	/* A peer that keeps to its window cannot have more than a ring consumed meanwhile. */
	u64 cons = clamp(smc_urgent_taken(c), rconn->sent_cons, rconn->sent_cons + c->rx_size);
	struct smc_cdc_msg m = { .alert_token = rconn->peer_token };

	lockdep_assert_held(&sender->link->tx_lock);
	if (unlikely(sender->force_update & RDMA_VALIDATE) && !rconn->tx_disabled)
		return fill_validation(rconn, post);
	test_delay();
	if (flags & SMC_CDC_ABORT || smc_conn_peer_gone(c) ||
	    rconn->sent_flags & SMC_CDC_CLOSED) {
		prod = rconn->sent_prod;
	} else if (unlikely(READ_ONCE(c->tx_urg) || READ_ONCE(rconn->urg_coming))) {
		prod = __limit(rconn, pub, &m.prod_flags);
		/* The end of the stream comes behind what is held back here. */
		if (prod != pub)
			flags = rconn->sent_flags;
	}
	/* After CLOSED only ABORT may follow. */
	if (rconn->tx_disabled || (prod == rconn->sent_prod && flags == rconn->sent_flags &&
				   (!sender->force_update ||
				    (flags & SMC_CDC_CLOSED &&
				     !(sender->force_update & RDMA_REPLAY)))))
		return false;
	fill_writes(rconn, post, write_from(rconn, flags), prod);
	post->more = false;
	m.seqno = ++rconn->seqno;
	post->seqno = m.seqno;
	smc_cursor_step(&rconn->sent_prod_at, rconn->peer_size, prod - rconn->sent_prod);
	smc_cursor_step(&rconn->sent_cons_at, c->rx_size, cons - rconn->sent_cons);
	m.prod = rconn->sent_prod_at;
	m.cons = rconn->sent_cons_at;
	m.conn_flags = flags;
	/* Too little room for who waits for some, see smc_conn_low_room(). */
	if (c->tx_size - (pub - READ_ONCE(c->tx_cons)) < smc_conn_low_room(c))
		m.prod_flags |= SMC_CDC_WRITE_BLOCKED;
	if (unlikely(sender->force_update & RDMA_REQUEST_UPDATE))
		m.prod_flags |= SMC_CDC_UPDATE_REQ;
	smc_cdc_encode(&m, post->msg);
	post->signaled = flags & (SMC_CDC_CLOSED | SMC_CDC_ABORT);
	if (unlikely(m.prod_flags & SMC_CDC_URG_PRESENT))
		WRITE_ONCE(rconn->urg_advertised, prod);
	WRITE_ONCE(rconn->sent_prod, prod);
	rconn->sent_cons = cons;
	WRITE_ONCE(rconn->cons_advertised, cons);
	rconn->sent_flags = flags;
	/* In the critical section in which it looked at the cursors, see force_update(). */
	sender->force_update = 0;	/* model/update.pml: look and clear */
	rconn->tx_disabled = flags & SMC_CDC_ABORT;
	return true;
}

/* Something may have changed that is worth a message. */
static void queue_conn(struct rdma_conn *rconn)
{
	smc_link_queue(&rconn->base.sender);
}

/*
 * A message, also if nothing has changed that would be worth one.
 *
 * No update is lost: sender.force_update is set and cleared under tx_lock only, and
 * smc_cdc_fill() looks at the cursors and clears it in one critical section.  The caller has
 * stored its cursor before it takes the lock.  So either a post whose critical section comes
 * later finds sender.force_update, or the post that clears it does so in a critical section
 * after ours, and has seen the cursor.  model/update.pml: force.
 */
static void force_update(struct rdma_conn *rconn)
{
	smc_link_queue_forced(&rconn->base.sender, RDMA_FORCE_UPDATE);
}

void smc_cdc_commit(struct smc_conn *c)
{
	queue_conn(to_rdma(c));
}

/**
 * smc_cdc_request_update() - smc_fabric_ops.request_update: ask for a cursor (RFC 7609, A.4)
 * @c: the connection
 */
void smc_cdc_request_update(struct smc_conn *c)
{
	struct rdma_conn *rconn = to_rdma(c);

	smc_link_queue_forced(&rconn->base.sender, RDMA_REQUEST_UPDATE);
}

/**
 * smc_cdc_urgent() - smc_fabric_ops.urgent
 * @c: the connection
 * @news: what happened
 */
void smc_cdc_urgent(struct smc_conn *c, enum smc_urgent_event news)
{
	struct rdma_conn *rconn = to_rdma(c);

	if (news != SMC_URGENT_TAKEN)
		WRITE_ONCE(rconn->urg_coming, news == SMC_URGENT_COMING);
	/* The byte itself is news enough. */
	if (news != SMC_URGENT_HERE)
		force_update(rconn);
	else
		queue_conn(rconn);
}

/*
 * A message of its own is worth while when the peer's window is less than half and
 * grows by a tenth (RFC 7609, 4.5.1).  A peer that is blocked, perhaps because its
 * ring is smaller than our element, is told when a quarter of what it waits for has
 * been consumed; the RFC would tell it of every byte.  One that has written urgent data
 * is told of these at once (4.7.5).
 */
static bool worth_telling(const struct rdma_conn *rconn)
{
	const struct smc_conn *c = &rconn->base.conn;
	u64 advertised = READ_ONCE(rconn->cons_advertised);
	u64 pending = READ_ONCE(c->rx_prod) - advertised;
	u64 news = c->rx_cons - advertised;
	u8 waits = READ_ONCE(rconn->peer_waits);
	u64 urg = READ_ONCE(rconn->peer_urg);

	if (unlikely(waits & RDMA_PEER_URGENT) && advertised < urg && c->rx_cons >= urg)
		return true;
	if (unlikely(waits & RDMA_PEER_BLOCKED))
		return news >= pending / 4;
	return pending > c->rx_size / 2 && news >= c->rx_size / 10;
}

void smc_cdc_consumed(struct smc_conn *c)
{
	struct rdma_conn *rconn = to_rdma(c);

	/*
	 * Pairs with the barrier in take_msg(): either we see that the peer waits, or the
	 * message that says so is judged by the cursor just moved.
	 * model/update.pml: look whether the peer waits.
	 */
	smp_mb();
	if (worth_telling(rconn))
		force_update(rconn);
}

void smc_cdc_signal(struct smc_conn *c, enum smc_conn_flag flag)
{
	struct rdma_conn *rconn = to_rdma(c);

	if (smp_load_acquire(&rconn->attached))
		queue_conn(rconn);
}

/**
 * smc_cdc_detach() - the socket is done with the connection
 * @c: the connection
 *
 * Context: any but hard interrupts.
 */
void smc_cdc_detach(struct smc_conn *c)
{
	struct rdma_conn *rconn = to_rdma(c);

	smc_conn_get(c);
	if (peer_may_write(rconn) || !last_word_arrived(rconn))
		smc_lgr_await_close(&rconn->base);
	set_bit(RDMA_CONN_DETACHED, &rconn->bits);
	/* Pairs with the bit operations of those who end it. */
	smp_mb__after_atomic();
	leave_if_ended(rconn);
}

/**
 * smc_cdc_cut_off() - smc_lgr_conn.cut_off
 * @lconn: the connection, referenced, in a link group
 *
 * Context: any but hard interrupts.
 */
void smc_cdc_cut_off(struct smc_lgr_conn *lconn)
{
	struct rdma_conn *rconn = to_rdma_conn(lconn);
	struct smc_link *link = smc_link_lock(&rconn->base.sender);

	rconn->tx_disabled = true;
	smc_link_unlock(link);
	if (!smc_conn_peer_gone(&rconn->base.conn))
		smc_conn_peer_event(&rconn->base.conn, SMC_EV_PEER_ABORT);
	set_bit(RDMA_CONN_CUT_OFF, &rconn->bits);
	smp_mb__after_atomic();
	leave_if_ended(rconn);
}

/* Before the cursor moves: who sees the data knows of the mark in it. */
static void take_urgent(struct rdma_conn *rconn, u64 prod, u8 flags)
{
	struct smc_conn *c = &rconn->base.conn;

	if (!(flags & SMC_CDC_URG_PRESENT)) {
		smc_conn_urgent_pending(c, flags & SMC_CDC_URG_PENDING);
	} else if (prod != c->rx_prod) {
		WRITE_ONCE(rconn->peer_urg, prod);
		smc_conn_urgent(c, prod);
	}
}

/* Move the cursors to where the message says.  -EPROTO: they cannot be there. */
static int take_cursors(struct rdma_conn *rconn, const struct smc_cdc_msg *m)
{
	struct smc_conn *c = &rconn->base.conn;
	u64 prod = c->rx_prod, cons = c->tx_cons;
	/* What it may write again is what we have told it, at least. */
	u64 unread = prod - max(READ_ONCE(c->rx_cons), READ_ONCE(rconn->cons_advertised));
	int err;

	err = smc_cursor_advance(&prod, &rconn->heard_prod, c->rx_size, &m->prod,
				 c->rx_size - unread);
	if (!err && smp_load_acquire(&rconn->attached))
		err = smc_cursor_advance(&cons, &rconn->heard_cons, rconn->peer_size, &m->cons,
					 READ_ONCE(rconn->sent_prod) - cons);
	if (err)
		return err;
	if (cons != c->tx_cons) {
		smp_store_release(&c->tx_cons, cons);
		/*
		 * Pairs with smc_conn_ask_for_room().  model/window.pml: look for a blocked sender.
		 */
		smp_mb();
		if (READ_ONCE(c->tx_blocked))
			smc_conn_writable(c);
		/* What came behind urgent data may go. */
		if (unlikely(READ_ONCE(rconn->urg_advertised)) && cons >= rconn->urg_advertised)
			queue_conn(rconn);
	}
	if (unlikely(m->prod_flags & (SMC_CDC_URG_PENDING | SMC_CDC_URG_PRESENT) ||
		     c->urg_announced))
		take_urgent(rconn, prod, m->prod_flags);
	if (prod == c->rx_prod)
		return 0;
	smp_store_release(&c->rx_prod, prod);
	return 1;
}

/* The flags stay set in all later messages: only what is new is an event. */
static void take_flags(struct rdma_conn *rconn, u8 flags)
{
	struct smc_conn *c = &rconn->base.conn;
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

static void take_msg(struct rdma_conn *rconn, const struct smc_cdc_msg *m)
{
	struct smc_conn *c = &rconn->base.conn;
	bool answer;
	int err;

	if (smc_conn_peer_gone(c))
		return;
	if (unlikely(!smc_cdc_newer(m->seqno, rconn->peer_seqno))) {
		/* Old; for a failover just that is right (4.6.1). */
		return;
	}
	if (unlikely(m->prod_flags & SMC_CDC_FAILOVER)) {
		/* It has written what has not come. */
		err = -EPROTO;
	} else {
		WRITE_ONCE(rconn->peer_seqno, m->seqno);
		err = take_cursors(rconn, m);
	}
	if (unlikely(err < 0)) {
		smc_conn_peer_event(c, SMC_EV_PEER_ABORT);
		smc_conn_abort(c);
		return;
	}
	WRITE_ONCE(rconn->peer_waits,
		   (m->prod_flags & SMC_CDC_WRITE_BLOCKED ? RDMA_PEER_BLOCKED : 0) |
		   (READ_ONCE(rconn->cons_advertised) < rconn->peer_urg ? RDMA_PEER_URGENT : 0));
	/* Pairs with the barrier in smc_cdc_consumed().  model/update.pml: judge the message. */
	smp_mb();
	/* The peer asks, or was blocked when we had consumed all that was there. */
	answer = m->prod_flags & (SMC_CDC_UPDATE_REQ | SMC_CDC_WRITE_BLOCKED) &&
		 READ_ONCE(c->rx_cons) != READ_ONCE(rconn->cons_advertised);
	if (err)
		smc_conn_readable(c);
	if (unlikely(m->conn_flags))
		take_flags(rconn, m->conn_flags);
	if (unlikely(answer) && smp_load_acquire(&rconn->attached))
		force_update(rconn);
}

static void take_msg_and_end(struct rdma_conn *rconn, const struct smc_cdc_msg *m)
{
	take_msg(rconn, m);
	if (likely(!(m->conn_flags & (SMC_CDC_CLOSED | SMC_CDC_ABORT))))
		return;
	set_bit(RDMA_CONN_PEER_ENDED, &rconn->bits);
	/* Pairs with the one in smc_cdc_detach(). */
	smp_mb__after_atomic();
	leave_if_ended(rconn);
}

/* ---- the peer uses another link ---- */

static void __hold(struct rdma_conn *rconn, const struct smc_cdc_msg *m)
{
	struct rdma_held *held = &rconn->held;

	lockdep_assert_held(&rconn->base.lgr->lock);
	if (m->prod_flags & SMC_CDC_FAILOVER) {
		/* The peer has moved twice: what it asks for is here, but not taken yet. */
		if (held->has_msg && !smc_cdc_newer(m->seqno, held->msg.seqno))
			return;
		if (!held->validates || smc_cdc_newer(m->seqno, held->validated))
			held->validated = m->seqno;
		held->validates = true;
	} else if (!held->has_msg || smc_cdc_newer(m->seqno, held->msg.seqno)) {
		held->msg = *m;
		held->has_msg = true;
	}
}

/*
 * A message over a link that the connection does not take messages of.
 * - It is not newer than what has been taken: it says nothing that we do not know.  It comes late,
 *   over a link that the peer has left, or it is a validation of what has arrived.
 * - It is newer, and the connection has no link yet: this is the one from now on, true.
 * - Otherwise the peer has lost the other link, and so have we.  What may still come over that one
 *   is older, and has to be taken first.
 */
static bool claim_or_hold(struct rdma_conn *rconn, struct smc_link *link,
			  const struct smc_cdc_msg *m)
{
	struct smc_lgr *lgr = rconn->base.lgr;
	struct smc_link *used;

	if (!smc_cdc_newer(m->seqno, READ_ONCE(rconn->peer_seqno)))
		return false;
	spin_lock_bh(&lgr->lock);
	used = rconn->base.rx_link;
	if (used == SMC_RX_ANY) {
		smp_store_release(&rconn->base.rx_link, link);
		used = link;
	} else if (used && used != link) {
		__hold(rconn, m);
	}
	spin_unlock_bh(&lgr->lock);
	/* NULL before the connection has an element: nobody can have written there. */
	if (used && used != link && used != SMC_RX_MOVING)
		smc_link_down(used, SMC_LLC_DEL_LOST_PATH);
	return used == link;
}

static void take_held(struct rdma_conn *rconn, const struct rdma_held *held)
{
	struct smc_conn *c = &rconn->base.conn;

	local_bh_disable();
	if (held->validates && smc_cdc_newer(held->validated, rconn->peer_seqno)) {
		/* It has written what has not come. */
		smc_conn_peer_event(c, SMC_EV_PEER_ABORT);
		smc_conn_abort(c);
	} else if (held->has_msg) {
		take_msg_and_end(rconn, &held->msg);
	}
	local_bh_enable();
}

/**
 * smc_cdc_leave_rx_link() - no message comes over the link of a connection any more
 * @rconn: the connection, whose smc_lgr_conn.rx_link is drained
 *
 * It now takes the messages that were held.
 *
 * Context: process.
 */
void smc_cdc_leave_rx_link(struct rdma_conn *rconn)
{
	struct smc_lgr *lgr = rconn->base.lgr;
	struct rdma_held held;

	spin_lock_bh(&lgr->lock);
	WRITE_ONCE(rconn->base.rx_link, SMC_RX_MOVING);
	while (rconn->held.validates || rconn->held.has_msg) {
		held = rconn->held;
		rconn->held.validates = false;
		rconn->held.has_msg = false;
		spin_unlock_bh(&lgr->lock);
		take_held(rconn, &held);
		spin_lock_bh(&lgr->lock);
	}
	smp_store_release(&rconn->base.rx_link, SMC_RX_ANY);
	spin_unlock_bh(&lgr->lock);
}

/* ---- messages ---- */

/**
 * smc_cdc_rx() - smc_link_ops.rx_cdc: a CDC message has arrived
 * @link: over this link
 * @buf: the message
 * @len: its length
 *
 * What is not taken: a message that cannot be decoded brings the link down.  One that is old, for
 * a connection that has ended here, or from a peer that has closed is ignored.  A cursor that
 * cannot be there, and a failover validation of data that have not come, abort the connection.
 *
 * Context: the completion handler of the link, one at a time.
 */
void smc_cdc_rx(struct smc_link *link, const u8 *buf, size_t len)
{
	struct smc_lgr_conn *lconn;
	struct rdma_conn *rconn;
	struct smc_cdc_msg m;

	if (smc_cdc_decode(buf, len, &m)) {
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
		return;
	}
	/* Nobody there: the connection has ended here. */
	lconn = smc_lgr_find_conn(smc_link_lgr(link), m.alert_token);
	if (!lconn)
		return;
	rconn = to_rdma_conn(lconn);
	/* Messages of another link may be taken by another processor just now. */
	if (likely(smp_load_acquire(&rconn->base.rx_link) == link) ||
	    claim_or_hold(rconn, link, &m))
		take_msg_and_end(rconn, &m);
	smc_conn_put(&rconn->base.conn);
}
