// SPDX-License-Identifier: GPL-2.0
/* What a connection tells its peer, and is told (RFC 7609, 4.3 to 4.5, 4.7 and A.4). */
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include "../../conn/urgent.h"
#include "../../trace.h"
#include "../../wire/cdc.h"
#include "lgr.h"
#include "link.h"

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
 * The data from the last post to @prod: two pieces where the ring wraps.  The ring
 * is not larger than the peer's element, so that one wraps only where ours does.
 */
static void fill_writes(struct rdma_conn *rc, struct smc_link_post *post, u64 prod)
{
	const struct smc_conn *c = &rc->conn;
	u64 at = rc->sent_prod;
	unsigned int n = 0;
	u32 pos, len;

	while (at != prod && !WARN_ON_ONCE(n == SMC_LINK_WRITES)) {
		pos = at & (c->tx_size - 1);
		len = min_t(u64, prod - at, c->tx_size - pos);
		post->src[n] = c->tx_buf + pos;
		post->dma[n] = rc->tx_dma + pos;
		post->len[n] = len;
		post->dst[n] = rc->peer_addr + (at & (rc->peer_size - 1));
		at += len;
		n++;
	}
	post->n_writes = n;
	post->lkey = rc->tx_lkey;
	post->rkey = rc->peer_rkey;
}

/*
 * How far a post may go: not beyond urgent data, and from there on only when the peer has
 * consumed these (RFC 7609, 4.7.5).  @flags: receives what is to be said of them.
 */
static u64 __limit(struct rdma_conn *rc, u64 prod, u8 *flags)
{
	const struct smc_conn *c = &rc->conn;
	u64 urg = READ_ONCE(c->tx_urg);

	/* The flags stay on: pending alone has the incumbent forget where the byte is. */
	if (smp_load_acquire(&c->tx_cons) < rc->urg_told) {
		*flags |= SMC_CDC_URG_PENDING | SMC_CDC_URG_PRESENT;
		return rc->sent_prod;
	}
	if (rc->urg_coming || urg > rc->sent_prod)
		*flags |= SMC_CDC_URG_PENDING;
	if (urg <= rc->sent_prod || urg > prod)
		return prod;
	*flags |= SMC_CDC_URG_PRESENT;
	return urg;
}

/**
 * smc_cdc_fill() - what is there to be said?
 * @rc: the connection; its link's tx_lock is held
 * @post: receives data writes and message
 *
 * Return: false if the peer knows everything already.
 */
bool smc_cdc_fill(struct rdma_conn *rc, struct smc_link_post *post)
{
	struct smc_conn *c = &rc->conn;
	/* The flags first: who sets one has published its data before. */
	u8 flags = wire_flags(smp_load_acquire(&c->tx_flags));
	u64 pub = smp_load_acquire(&c->tx_pub), prod = pub;
	u64 cons = max(smc_urgent_taken(c), rc->sent_cons);
	struct smc_cdc_msg m = { .alert_token = rc->peer_token };

	lockdep_assert_held(&rc->link->tx_lock);
	test_delay();
	if (flags & SMC_CDC_ABORT || smc_conn_peer_gone(c) ||
	    rc->sent_flags & SMC_CDC_CLOSED) {
		prod = rc->sent_prod;
	} else if (unlikely(READ_ONCE(c->tx_urg) || READ_ONCE(rc->urg_coming))) {
		prod = __limit(rc, pub, &m.prod_flags);
		/* The end of the stream comes behind what is held back here. */
		if (prod != pub)
			flags = rc->sent_flags;
	}
	/* Who has closed says nothing any more, but that it gives up. */
	if (rc->mute || (prod == rc->sent_prod && flags == rc->sent_flags &&
			 (!rc->say || flags & SMC_CDC_CLOSED)))
		return false;
	fill_writes(rc, post, prod);
	m.seqno = ++rc->seqno;
	m.prod = smc_cursor_to_wire(prod, rc->peer_size);
	m.cons = smc_cursor_to_wire(cons, c->rx_size);
	m.conn_flags = flags;
	/* Too little room for who waits for some, see smc_conn_low_room(). */
	if (c->tx_size - (pub - READ_ONCE(c->tx_cons)) < smc_conn_low_room(c))
		m.prod_flags |= SMC_CDC_WRITE_BLOCKED;
	if (unlikely(rc->say & RDMA_SAY_ASK))
		m.prod_flags |= SMC_CDC_UPDATE_REQ;
	smc_cdc_encode(&m, post->msg);
	post->ask = flags & (SMC_CDC_CLOSED | SMC_CDC_ABORT);
	if (unlikely(m.prod_flags & SMC_CDC_URG_PRESENT))
		WRITE_ONCE(rc->urg_told, prod);
	WRITE_ONCE(rc->sent_prod, prod);
	rc->sent_cons = cons;
	WRITE_ONCE(rc->cons_told, cons);
	rc->sent_flags = flags;
	rc->say = 0;
	rc->mute = flags & SMC_CDC_ABORT;
	return true;
}

/*
 * A message, also if nothing has changed that would be worth one.
 *
 * No news are lost: rc->say is set and cleared under tx_lock only, and smc_cdc_fill() looks at
 * the cursors and clears it in one critical section.  The caller has stored its news before it
 * takes the lock.  So either a post whose critical section comes later finds rc->say, or the
 * post that clears it does so in a critical section after ours, and has seen the news.
 */
static void say_anyway(struct rdma_conn *rc)
{
	smc_link_queue_anyway(rc->link, rc, RDMA_SAY_CURSOR);
}

void smc_cdc_commit(struct smc_conn *c)
{
	struct rdma_conn *rc = to_rdma(c);

	smc_link_queue(rc->link, rc);
}

/**
 * smc_cdc_ask() - smc_fabric_ops.ask: "cursor update requested" (RFC 7609, A.4)
 * @c: the connection
 */
void smc_cdc_ask(struct smc_conn *c)
{
	struct rdma_conn *rc = to_rdma(c);

	smc_link_queue_anyway(rc->link, rc, RDMA_SAY_ASK);
}

/**
 * smc_cdc_urgent() - smc_fabric_ops.urgent
 * @c: the connection
 * @news: what happened
 */
void smc_cdc_urgent(struct smc_conn *c, enum smc_urgent_news news)
{
	struct rdma_conn *rc = to_rdma(c);

	if (news != SMC_URGENT_TAKEN)
		WRITE_ONCE(rc->urg_coming, news == SMC_URGENT_COMING);
	/* The byte itself is news enough. */
	if (news != SMC_URGENT_HERE)
		say_anyway(rc);
	else
		smc_link_queue(rc->link, rc);
}

/*
 * A message of its own is worth while when the peer's window is less than half and
 * grows by a tenth (RFC 7609, 4.5.1).  A peer that is blocked, perhaps because its
 * ring is smaller than our element, is told when a quarter of what it waits for has
 * been consumed; the RFC would tell it of every byte.  One that has written urgent data
 * is told of these at once (4.7.5).
 */
static bool worth_telling(const struct rdma_conn *rc)
{
	const struct smc_conn *c = &rc->conn;
	u64 told = READ_ONCE(rc->cons_told);
	u64 pending = READ_ONCE(c->rx_prod) - told;
	u64 news = c->rx_cons - told;
	u8 waits = READ_ONCE(rc->peer_waits);
	u64 urg = READ_ONCE(rc->peer_urg);

	if (unlikely(waits & RDMA_PEER_URGENT) && told < urg && c->rx_cons >= urg)
		return true;
	if (unlikely(waits & RDMA_PEER_BLOCKED))
		return news >= pending / 4;
	return pending > c->rx_size / 2 && news >= c->rx_size / 10;
}

void smc_cdc_consumed(struct smc_conn *c)
{
	struct rdma_conn *rc = to_rdma(c);

	/*
	 * Pairs with the barrier in take_msg(): either we see that the peer waits, or the
	 * message that says so is judged by the cursor just moved.
	 */
	smp_mb();
	if (worth_telling(rc))
		say_anyway(rc);
}

void smc_cdc_signal(struct smc_conn *c, enum smc_conn_flag flag)
{
	struct rdma_conn *rc = to_rdma(c);

	if (smp_load_acquire(&rc->attached))
		smc_link_queue(rc->link, rc);
}

/*
 * Only the peer's own word counts, or that it has no way to our element: after an abort of ours,
 * or what we take for one, its writes may still be under way.  A client writes as soon as it has
 * sent its Confirm, even if we can make nothing of that.
 */
static bool peer_may_write(const struct rdma_conn *rc)
{
	return (smp_load_acquire(&rc->attached) || test_bit(RDMA_CONN_CONFIRMED, &rc->bits)) &&
	       !test_bit(RDMA_CONN_PEER_ENDED, &rc->bits) &&
	       !test_bit(RDMA_CONN_CUT_OFF, &rc->bits);
}

/*
 * The element may be reused once the socket has let go and the peer has said that
 * it writes no more, or cannot (RFC 7609, 4.4.2).
 */
static void leave_if_over(struct rdma_conn *rc)
{
	if (!test_bit(RDMA_CONN_DETACHED, &rc->bits) || peer_may_write(rc) ||
	    test_and_set_bit(RDMA_CONN_LEFT, &rc->bits))
		return;
	if (rc->lgr)
		smc_lgr_leave(rc);
	smc_conn_put(&rc->conn);
}

/**
 * smc_cdc_detach() - the socket is done with the connection
 * @c: the connection
 *
 * Context: any but hard interrupts.
 */
void smc_cdc_detach(struct smc_conn *c)
{
	struct rdma_conn *rc = to_rdma(c);

	smc_conn_get(c);
	if (peer_may_write(rc))
		smc_lgr_await_close(rc);
	set_bit(RDMA_CONN_DETACHED, &rc->bits);
	/* Pairs with the bit operations of those who end it. */
	smp_mb__after_atomic();
	leave_if_over(rc);
}

/**
 * smc_cdc_cut_off() - the connection has no link any more, or no element at the peer
 * @rc: the connection, referenced
 *
 * Context: any but hard interrupts.
 */
void smc_cdc_cut_off(struct rdma_conn *rc)
{
	if (rc->link) {
		spin_lock_bh(&rc->link->tx_lock);
		rc->mute = true;
		spin_unlock_bh(&rc->link->tx_lock);
	}
	if (!smc_conn_peer_gone(&rc->conn))
		smc_conn_peer_event(&rc->conn, SMC_EV_PEER_ABORT);
	set_bit(RDMA_CONN_CUT_OFF, &rc->bits);
	smp_mb__after_atomic();
	leave_if_over(rc);
}

/* Before the cursor moves: who sees the data knows of the mark in it. */
static void take_urgent(struct rdma_conn *rc, u64 prod, u8 flags)
{
	struct smc_conn *c = &rc->conn;

	if (!(flags & SMC_CDC_URG_PRESENT)) {
		smc_conn_urgent_pending(c, flags & SMC_CDC_URG_PENDING);
	} else if (prod != c->rx_prod) {
		WRITE_ONCE(rc->peer_urg, prod);
		smc_conn_urgent(c, prod);
	}
}

/* Move the cursors to where the message says.  -EPROTO: they cannot be there. */
static int take_cursors(struct rdma_conn *rc, const struct smc_cdc_msg *m)
{
	struct smc_conn *c = &rc->conn;
	u64 prod = c->rx_prod, cons = c->tx_cons;
	/* What it may write again is what we have told it, at least. */
	u64 unread = prod - max(READ_ONCE(c->rx_cons), READ_ONCE(rc->cons_told));
	int err;

	err = smc_cursor_advance(&prod, c->rx_size, &m->prod, c->rx_size - unread);
	if (!err && smp_load_acquire(&rc->attached))
		err = smc_cursor_advance(&cons, rc->peer_size, &m->cons,
					 READ_ONCE(rc->sent_prod) - cons);
	if (err)
		return err;
	if (cons != c->tx_cons) {
		smp_store_release(&c->tx_cons, cons);
		/* Pairs with the barrier after setting tx_blocked. */
		smp_mb();
		if (READ_ONCE(c->tx_blocked))
			smc_conn_writable(c);
		/* What came behind urgent data may go. */
		if (unlikely(READ_ONCE(rc->urg_told)) && cons >= rc->urg_told)
			smc_link_queue(rc->link, rc);
	}
	if (unlikely(m->prod_flags & (SMC_CDC_URG_PENDING | SMC_CDC_URG_PRESENT) ||
		     c->urg_announced))
		take_urgent(rc, prod, m->prod_flags);
	if (prod == c->rx_prod)
		return 0;
	smp_store_release(&c->rx_prod, prod);
	return 1;
}

/* The flags stay set in all later messages: only what is new is an event. */
static void take_flags(struct rdma_conn *rc, u8 flags)
{
	struct smc_conn *c = &rc->conn;
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

static void take_msg(struct rdma_conn *rc, const struct smc_cdc_msg *m)
{
	struct smc_conn *c = &rc->conn;
	bool answer;
	int rc_cursors;

	/* Before the connection has an element nobody can have written there. */
	if (!smp_load_acquire(&c->rx_buf) || smc_conn_peer_gone(c))
		return;
	if (unlikely(!smc_cdc_newer(m->seqno, rc->peer_seqno))) {
		/* Old; for a failover just that is right (4.6.1). */
		return;
	}
	if (unlikely(m->prod_flags & SMC_CDC_FAILOVER)) {
		/* It has written what has not come. */
		rc_cursors = -EPROTO;
	} else {
		rc->peer_seqno = m->seqno;
		rc_cursors = take_cursors(rc, m);
	}
	if (unlikely(rc_cursors < 0)) {
		smc_conn_peer_event(c, SMC_EV_PEER_ABORT);
		smc_conn_abort(c);
		return;
	}
	WRITE_ONCE(rc->peer_waits,
		   (m->prod_flags & SMC_CDC_WRITE_BLOCKED ? RDMA_PEER_BLOCKED : 0) |
		   (READ_ONCE(rc->cons_told) < rc->peer_urg ? RDMA_PEER_URGENT : 0));
	/* Pairs with the barrier in smc_cdc_consumed(). */
	smp_mb();
	/* The peer asks, or was blocked when we had consumed all that was there. */
	answer = m->prod_flags & (SMC_CDC_UPDATE_REQ | SMC_CDC_WRITE_BLOCKED) &&
		 READ_ONCE(c->rx_cons) != READ_ONCE(rc->cons_told);
	if (rc_cursors)
		smc_conn_readable(c);
	if (unlikely(m->conn_flags))
		take_flags(rc, m->conn_flags);
	if (unlikely(answer) && smp_load_acquire(&rc->attached))
		say_anyway(rc);
}

/**
 * smc_cdc_rx() - a CDC message has arrived
 * @link: over this link
 * @buf: the message
 * @len: its length
 *
 * Context: the completion handler of the link, one at a time.
 */
void smc_cdc_rx(struct smc_link *link, const u8 *buf, size_t len)
{
	struct smc_cdc_msg m;
	struct rdma_conn *rc;

	if (smc_cdc_decode(buf, len, &m)) {
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
		return;
	}
	/* Nobody there: the connection has ended here. */
	rc = smc_lgr_find_conn(link->lgr, m.alert_token);
	if (!rc)
		return;
	take_msg(rc, &m);
	if (unlikely(m.conn_flags & (SMC_CDC_CLOSED | SMC_CDC_ABORT))) {
		set_bit(RDMA_CONN_PEER_ENDED, &rc->bits);
		/* Pairs with the one in smc_cdc_detach(). */
		smp_mb__after_atomic();
		leave_if_over(rc);
	}
	smc_conn_put(&rc->conn);
}
