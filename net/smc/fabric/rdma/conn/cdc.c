// SPDX-License-Identifier: GPL-2.0
/*
 * CDC messages over a link, which tell each end of a connection what the other one has done (RFC
 * 7609, 4.6 and A.4).  fabric/msg/ handles their content.
 */
#include "../../../stats.h"
#include "../../../trace.h"
#include "../../../wire/cdc.h"
#include "../link/link.h"
#include "rdma_conn.h"

/*
 * Fill in writes of the data from @at to @prod: two of them where the ring wraps.  The ring is not
 * larger than the peer's element, so the element wraps only where the ring does.
 */
static void fill_writes(struct rdma_conn *rconn, struct smc_link_post *post, u64 at, u64 prod)
{
	const struct smc_conn *c = &rconn->base.msg.conn;
	unsigned int n = 0;
	u32 pos, len;

	while (at != prod && !WARN_ON_ONCE(n == SMC_LINK_WRITES)) {
		pos = smc_ring_pos(at, c->tx_size);
		len = min_t(u64, prod - at, c->tx_size - pos);
		post->src[n] = c->tx_buf + pos;
		post->dma[n] = rconn->on_link.dma + pos;
		post->len[n] = len;
		post->dst[n] = rconn->on_link.addr + smc_ring_pos(at, c->peer_size);
		at += len;
		n++;
	}
	post->n_writes = n;
	post->lkey = rconn->on_link.lkey;
	post->rkey = rconn->on_link.rkey;
}

static struct rdma_conn *rdma_of(const struct smc_msg_conn *m)
{
	return container_of(m, struct rdma_conn, base.msg);
}

static bool cdc_arrived(const struct smc_msg_conn *m)
{
	return rdma_conn_all_acked(rdma_of(m));
}

static void cdc_await_close(struct smc_msg_conn *m)
{
	smc_lgr_await_close(&rdma_of(m)->base);
}

static void cdc_leave(struct smc_msg_conn *m)
{
	struct smc_lgr_conn *lconn = &rdma_of(m)->base;

	if (lconn->lgr)
		smc_lgr_leave(lconn);
}

static struct rdma_conn *conn_of(struct smc_link_sender *sender)
{
	return container_of(sender, struct rdma_conn, base.sender);
}

/* smc_link_ops.get */
void smc_cdc_get(struct smc_link_sender *sender)
{
	smc_conn_get(&conn_of(sender)->base.msg.conn);
}

/* smc_link_ops.put; called after a post is complete, for example */
void smc_cdc_put(struct smc_link_sender *sender)
{
	struct rdma_conn *rconn = conn_of(sender);

	if (unlikely(READ_ONCE(rconn->stamps_wait)))
		smc_stamps_acked(&rconn->base.msg.conn, READ_ONCE(sender->acked));
	if (unlikely(smc_msg_end_said(&rconn->base.msg))) {
		/* Pairs with the barrier in smc_msg_detach(). */
		smp_mb();
		smc_msg_leave_if_ended(&rconn->base.msg);
	} else if (unlikely(READ_ONCE(rconn->end_waits)) && rdma_conn_acked(rconn)) {
		/* smc_cdc_fill() clears end_waits, and does not set it again. */
		smc_link_queue(sender);
	}
	smc_conn_put(&rconn->base.msg.conn);
}

/*
 * The connection has moved to another link.  The peer aborts the connection if it does not have the
 * message with this number, because then data that its device has acknowledged are lost.  The rest
 * of the message does not count (4.6.1).
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

/* It has closed or aborted by a word of its own. */
static bool peer_reads_no_more(const struct smc_msg_conn *m)
{
	return READ_ONCE(m->bits) & (BIT(SMC_MSG_PEER_ABORTED) | BIT(SMC_MSG_PEER_ENDED));
}

/*
 * Where the data of a post begin.  After a move, data that were posted over the old link are
 * written again, unless the peer has confirmed that it has consumed them.
 *
 * Nothing is written again once the peer may reuse its element, which takes both ends' CLOSED or
 * ABORT (RFC 7609, 4.4.2).  It is not enough that the peer's has not arrived here yet: it may
 * arrive when the writes are posted, but not done.  So nothing is written again, either, once ours
 * has been posted.  A message that repeats it names all data nevertheless.  So it is posted only
 * after the peer has consumed or acknowledged all of them, see __end_must_wait(): otherwise the
 * peer would read what an earlier connection has left in the element.
 */
static u64 write_from(const struct rdma_conn *rconn)
{
	const struct smc_conn *c = &rconn->base.msg.conn;
	u64 cons;

	if (likely(!(rconn->base.sender.force_update & RDMA_REPLAY)) ||
	    smc_msg_end_said(&rconn->base.msg) || peer_reads_no_more(&rconn->base.msg))
		return rconn->base.msg.sent_prod;
	cons = smc_count_read_acquire(&c->tx_cons);
	this_cpu_add(rconn->base.lgr->sn->stats->bytes_again, rconn->base.msg.sent_prod - cons);
	return cons;
}

/*
 * Must CLOSED wait, and ABORT, which comes with it?  In a group that may have several links they
 * are posted only when the peer has consumed all data, or its device has acknowledged them: after
 * that nothing can be written again, see write_from().
 */
static bool __end_must_wait(const struct rdma_conn *rconn, const struct smc_msg_news *news)
{
	const struct smc_msg_conn *m = &rconn->base.msg;

	lockdep_assert_held(&rconn->base.sender.link->tx_lock);
	if (likely(!(news->conn_flags & SMC_CDC_CLOSED)) || smc_msg_end_said(m))
		return false;
	if (rconn->base.lgr->max_links < 2 || peer_reads_no_more(m))
		return false;
	if (news->prod == smc_count_read_acquire(&m->conn.tx_cons))
		return false;
	return news->prod != m->sent_prod || !rdma_conn_acked(rconn) ||
	       rconn->base.sender.force_update & RDMA_REPLAY;
}

/*
 * Leave CLOSED or ABORT out of a post, and request a completion, after which it follows:
 * smc_cdc_put().  An abort does not end the stream, either.  Returns false if nothing else is to be
 * said, and such a post is under way already.
 */
static bool __post_before_end(struct rdma_conn *rconn, struct smc_msg_news *news, bool under_way)
{
	const struct smc_msg_conn *m = &rconn->base.msg;

	lockdep_assert_held(&rconn->base.sender.link->tx_lock);
	if (news->conn_flags & SMC_CDC_ABORT)
		news->conn_flags = m->sent_flags;
	news->conn_flags &= ~SMC_CDC_CLOSED;
	WRITE_ONCE(rconn->end_waits, true);
	return !under_way || rconn->base.sender.force_update || news->prod != m->sent_prod ||
	       news->conn_flags != m->sent_flags;
}

/* A time stamp may wait for the completion of a post. */
static void __stamp_post(struct rdma_conn *rconn, struct smc_link_post *post, u64 prod)
{
	lockdep_assert_held(&rconn->base.sender.link->tx_lock);
	if (!smc_stamps_posted(&rconn->base.msg.conn, prod, post->seqno))
		return;
	WRITE_ONCE(rconn->stamps_wait, true);
	post->signaled = true;
}

/**
 * smc_cdc_fill() - smc_link_ops.fill: take the next post of a connection
 * @sender: sender of a connection; its link's tx_lock is held
 * @post: receives data writes and message
 *
 * Return: true if there is a post, false if the peer knows everything already.
 */
bool smc_cdc_fill(struct smc_link_sender *sender, struct smc_link_post *post)
{
	struct rdma_conn *rconn = conn_of(sender);
	struct smc_msg_conn *m = &rconn->base.msg;
	struct smc_cdc_msg msg = { .alert_token = rconn->peer_token };
	bool waited = rconn->end_waits;
	struct smc_msg_news news;

	lockdep_assert_held(&sender->link->tx_lock);
	if (unlikely(sender->force_update & RDMA_VALIDATE) && !m->tx_disabled)
		return fill_validation(rconn, post);
	if (unlikely(waited))
		WRITE_ONCE(rconn->end_waits, false);
	if (!smc_msg_look(m, sender->force_update, sender->force_update & RDMA_REPLAY, &news))
		return false;
	if (unlikely(__end_must_wait(rconn, &news)) && !__post_before_end(rconn, &news, waited))
		return false;
	fill_writes(rconn, post, write_from(rconn), news.prod);
	smc_msg_said(m, &news, &msg);
	post->more = false;
	msg.seqno = ++rconn->seqno;
	post->seqno = msg.seqno;
	smc_cdc_encode(&msg, post->msg);
	post->signaled = news.conn_flags & (SMC_CDC_CLOSED | SMC_CDC_ABORT) || rconn->end_waits ||
			 sender->force_update & SMC_MSG_REQUEST_UPDATE;
	if (unlikely(READ_ONCE(m->conn.stamps)))
		__stamp_post(rconn, post, news.prod);
	/* Clear it in the critical section that has read the cursors, see cdc_say(). */
	sender->force_update = 0;	/* model/update.pml: look and clear */
	return true;
}

/*
 * smc_msg_ops.say
 *
 * No update is lost: sender.force_update is set and cleared under tx_lock only, and
 * smc_cdc_fill() reads the cursors and clears force_update in one critical section.  The caller
 * has stored its cursor before it takes the lock.  So a post whose critical section comes after
 * ours either finds force_update set, or another post in between has cleared it and has seen
 * the cursor.  model/update.pml: force.
 */
static void cdc_say(struct smc_msg_conn *m, u8 force)
{
	struct smc_link_sender *sender = &rdma_of(m)->base.sender;

	if (force)
		smc_link_queue_forced(sender, force);
	else
		smc_link_queue(sender);
}

const struct smc_msg_ops smc_cdc_ops = {
	.say		= cdc_say,
	.arrived	= cdc_arrived,
	.await_close	= cdc_await_close,
	.leave		= cdc_leave,
};

/**
 * smc_cdc_data_arrived() - smc_conn_ops.arrived
 * @c: the connection
 *
 * Most posts have no completion of their own, so it is known what has arrived when all posts are
 * acknowledged, or when the peer has consumed it.
 *
 * Return: the count that is known to have arrived.
 */
u64 smc_cdc_data_arrived(struct smc_conn *c)
{
	struct rdma_conn *rconn = to_rdma(c);
	struct smc_link *link = smc_link_lock(&rconn->base.sender);
	u64 arrived, consumed = smc_count_read_acquire(&c->tx_cons);

	/* After a move, data that was posted may have been lost: it is written again. */
	if (rconn->base.sender.force_update & RDMA_REPLAY)
		rconn->arrived = consumed;
	else if (rdma_conn_acked(rconn))
		rconn->arrived = rconn->base.msg.sent_prod;
	arrived = max(consumed, rconn->arrived);
	smc_link_unlock(link);
	return arrived;
}

/**
 * smc_cdc_request_update() - smc_conn_ops.request_update
 * @c: the connection
 *
 * The request has a completion. While it is under way and the last post, a program that polls does
 * not post another one, so all posts are acknowledged eventually.
 */
void smc_cdc_request_update(struct smc_conn *c)
{
	struct rdma_conn *rconn = to_rdma(c);
	struct smc_link *link = smc_link_lock(&rconn->base.sender);
	bool under_way = rconn->asked == rconn->seqno && !rdma_conn_acked(rconn);

	smc_link_unlock(link);
	if (under_way)
		return;
	smc_msg_request_update(c);
	link = smc_link_lock(&rconn->base.sender);
	rconn->asked = rconn->seqno;
	smc_link_unlock(link);
}

/* smc_conn_ops.commit: smc_msg_commit() without the indirect call */
void smc_cdc_commit(struct smc_conn *c)
{
	smc_link_queue(&to_rdma(c)->base.sender);
}

/**
 * smc_cdc_cut_off() - smc_lgr_conn.cut_off
 * @lconn: the connection, referenced, in a link group
 *
 * Context: any but hard interrupts.
 */
void smc_cdc_cut_off(struct smc_lgr_conn *lconn)
{
	struct smc_link *link = smc_link_lock(&lconn->sender);

	/* A concurrent smc_rdma_move() must not undo this. */
	to_rdma_conn(lconn)->severed = true;
	lconn->msg.tx_disabled = true;
	smc_link_unlock(link);
	smc_msg_cut_off(&lconn->msg);
}

static void take_msg(struct rdma_conn *rconn, const struct smc_cdc_msg *msg)
{
	struct smc_msg_conn *m = &rconn->base.msg;

	if (likely(!smc_conn_peer_gone(&m->conn) && smc_cdc_newer(msg->seqno, rconn->peer_seqno))) {
		if (likely(!(msg->prod_flags & SMC_CDC_FAILOVER))) {
			WRITE_ONCE(rconn->peer_seqno, msg->seqno);
			smc_msg_heard(m, msg);
		} else {
			/* The validation names a message that has not arrived: data are lost. */
			smc_msg_lost(m);
		}
		return;
	}
	/* Ignore old messages but for the peer's end; a failover validation must be old (4.6.1). */
	if (msg->conn_flags & (SMC_CDC_CLOSED | SMC_CDC_ABORT))
		smc_msg_ended_by_peer(m, msg);
}

/* ---- the peer uses another link ---- */

/*
 * Returns the link that the peer has left for @link, if it is another one than the link in use.
 *
 * Only messages tell which link is newer.  A validation repeats an old number, so it may as well
 * have been sent before a message that we hold.
 */
static struct smc_link *__hold(struct rdma_conn *rconn, struct smc_link *link,
			       const struct smc_cdc_msg *m)
{
	struct rdma_held *held = &rconn->held;
	struct smc_link *left = NULL;

	lockdep_assert_held(&rconn->base.lgr->lock);
	if (m->prod_flags & SMC_CDC_FAILOVER) {
		/* The peer has moved twice: we hold the message that it names, not taken yet. */
		if (held->has_msg && !smc_cdc_newer(m->seqno, held->msg.seqno))
			return NULL;
		if (!held->validates || smc_cdc_newer(m->seqno, held->validated))
			held->validated = m->seqno;
		held->validates = true;
	} else if (!held->has_msg || smc_cdc_newer(m->seqno, held->msg.seqno)) {
		if (held->link && held->link != link) {
			left = held->link;
			__set_bit(smc_lgr_link_index(rconn->base.lgr, left), &held->left);
		}
		held->earlier |= held->has_msg ? held->msg.conn_flags : 0;
		held->link = link;
		held->msg = *m;
		held->has_msg = true;
	} else {
		held->earlier |= m->conn_flags;
	}
	return left;
}

static void left_by_peer(struct smc_link *link)
{
	if (link && link != SMC_RX_MOVING)
		smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
}

/*
 * Handle a message over a link from which the connection does not take messages.
 * - A message that is not newer than those taken says nothing new.  Either it is late, over a link
 *   that the peer has left, or it is a validation of what has arrived.
 * - If the message is newer and the connection has no link, the connection takes messages from this
 *   link from now on, including this one: returns true.
 * - Otherwise the peer has lost the other link, and we take that link down, too.  What may still
 *   arrive over it is older and has to be taken first, so the new message is held.  If the peer
 *   moves again meanwhile, the same applies to the link that the held message came over.
 */
static bool claim_or_hold(struct rdma_conn *rconn, struct smc_link *link,
			  const struct smc_cdc_msg *m)
{
	struct smc_lgr *lgr = rconn->base.lgr;
	struct smc_link *used, *left = NULL;

	if (!smc_cdc_newer(m->seqno, READ_ONCE(rconn->peer_seqno)))
		return false;
	spin_lock_bh(&lgr->lock);
	used = rconn->base.rx_link;
	if (used == SMC_RX_ANY) {
		smp_store_release(&rconn->base.rx_link, link);
		used = link;
	} else if (used && used != link) {
		left = __hold(rconn, link, m);
	}
	spin_unlock_bh(&lgr->lock);
	if (used == link)
		return true;
	/* NULL until the connection has an element; before that the peer cannot have written. */
	left_by_peer(used);
	left_by_peer(left);
	return false;
}

static void take_held(struct rdma_conn *rconn, const struct rdma_held *held)
{
	struct smc_msg_conn *m = &rconn->base.msg;
	struct smc_cdc_msg earlier = held->msg;

	local_bh_disable();
	/*
	 * The validation names a message that has not arrived: data are lost.  But once we have
	 * aborted, we no longer note what has arrived.
	 */
	if (held->validates && !smc_conn_peer_gone(&m->conn) &&
	    smc_cdc_newer(held->validated, rconn->peer_seqno)) {
		smc_msg_lost(m);
	} else if (held->has_msg) {
		/* A peer that had closed or shut down before it aborted has ended its stream. */
		earlier.conn_flags = held->earlier & ~SMC_CDC_ABORT;
		earlier.seqno--;
		if (earlier.conn_flags)
			take_msg(rconn, &earlier);
		take_msg(rconn, &held->msg);
	}
	local_bh_enable();
}

/* The link whose messages come next: one that must be drained first, or that of the newest one. */
static struct smc_link *__next_rx_link(const struct rdma_conn *rconn)
{
	const struct rdma_held *held = &rconn->held;
	struct smc_lgr *lgr = rconn->base.lgr;

	lockdep_assert_held(&lgr->lock);
	if (held->left)
		return &lgr->links[__ffs(held->left)];
	return held->link ?: SMC_RX_ANY;
}

/* The connection takes the messages that were held for it, and goes on over the link they came. */
static void leave_rx_link(struct rdma_conn *rconn)
{
	struct smc_lgr *lgr = rconn->base.lgr;
	struct rdma_held held;

	spin_lock_bh(&lgr->lock);
	WRITE_ONCE(rconn->base.rx_link, SMC_RX_MOVING);
	while (!rconn->held.left && (rconn->held.validates || rconn->held.has_msg)) {
		held = rconn->held;
		rconn->held.validates = false;
		rconn->held.has_msg = false;
		rconn->held.earlier = 0;
		spin_unlock_bh(&lgr->lock);
		take_held(rconn, &held);
		spin_lock_bh(&lgr->lock);
	}
	/* Pairs with the acquire in smc_cdc_rx(): the next link's handler sees what was taken. */
	smp_store_release(&rconn->base.rx_link, __next_rx_link(rconn));
	if (!rconn->held.left)
		rconn->held.link = NULL;
	spin_unlock_bh(&lgr->lock);
}

/**
 * smc_cdc_link_drained() - nothing arrives over a link any more
 * @rconn: the connection
 * @link: the link, drained; it is not reused before this function has been called for all
 *	connections
 *
 * If the connection takes its messages from this link, it changes to another one.
 *
 * Context: process, under smc_lgr.setup_lock.
 * Return: true if the peer may have written over this link.
 */
bool smc_cdc_link_drained(struct rdma_conn *rconn, const struct smc_link *link)
{
	struct smc_lgr *lgr = rconn->base.lgr;
	struct smc_link *used;
	bool left;

	spin_lock_bh(&lgr->lock);
	left = __test_and_clear_bit(smc_lgr_link_index(lgr, link), &rconn->held.left);
	if (rconn->held.link == link) {
		rconn->held.link = NULL;
		left = true;
	}
	used = rconn->base.rx_link;
	spin_unlock_bh(&lgr->lock);
	if (used == link)
		leave_rx_link(rconn);
	return left || used == link || used == SMC_RX_ANY;
}

/* ---- messages ---- */

/**
 * smc_cdc_rx() - smc_link_ops.rx_cdc: a CDC message has arrived
 * @link: the link that it came over
 * @buf: the message
 * @len: its length
 *
 * A message that cannot be decoded takes the link down.  A message is ignored if it is old, if its
 * connection has ended here, or if the peer has closed.  An impossible cursor, or a failover
 * validation of data that have not arrived, aborts the connection.
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
	/* No connection: it has ended here. */
	lconn = smc_lgr_find_conn(smc_link_lgr(link), m.alert_token);
	if (!lconn)
		return;
	rconn = to_rdma_conn(lconn);
	/* Another CPU may be taking messages of another link at this moment. */
	if (likely(smp_load_acquire(&rconn->base.rx_link) == link) ||
	    claim_or_hold(rconn, link, &m))
		take_msg(rconn, &m);
	smc_conn_put(&rconn->base.msg.conn);
}
