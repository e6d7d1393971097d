// SPDX-License-Identifier: GPL-2.0
/* The LLC engine: its queue, its work item, the first contact and the link tests. */
#include <linux/random.h>
#include <linux/slab.h>
#include "../../../lock_class.h"
#include "../../../netns.h"
#include "../../../smc.h"
#include "../../../trace.h"
#include "lgr.h"
#include "../link/link.h"
#include "llc_msg.h"

/* An honest peer never has more than this many messages outstanding. */
#define MAX_QUEUE	64

/* A message on its way from the completion to the engine. */
struct llc_event {
	struct list_head	list;
	struct smc_link		*link;
	u32			uid;
	u32			len;
	u8			buf[];
};

/* ---- first contact ---- */

/**
 * smc_llc_first_contact() - start to confirm the first link, which has been connected
 * @lgr: the link group
 *
 * The server sends CONFIRM LINK, the client waits for it.
 */
void smc_llc_first_contact(struct smc_lgr *lgr)
{
	spin_lock_bh(&lgr->llc.lock);
	lgr->llc.begin = true;
	__smc_llc_kick(lgr, 0);
	spin_unlock_bh(&lgr->llc.lock);
}

static void begin_first_contact(struct smc_lgr *lgr)
{
	bool do_begin;

	spin_lock_bh(&lgr->llc.lock);
	do_begin = lgr->llc.begin;
	lgr->llc.begin = false;
	spin_unlock_bh(&lgr->llc.lock);
	if (!do_begin)
		return;
	if (!lgr->server)
		smc_llc_await(lgr, SMC_LLC_W_CONFIRM_REQ);
	else if (smc_llc_send_confirm_link(lgr, smc_lgr_first_link(lgr), false))
		smc_lgr_end(lgr, SMC_REASON_NO_COMMON_DEVICE);
	else
		smc_llc_await(lgr, SMC_LLC_W_CONFIRM_RSP);
}

/* ---- progress of the first contact ---- */

/**
 * smc_llc_no_fallback() - is it too late to decline?  (RFC 7609, C.2)
 * @lgr: the link group
 *
 * It is too late once our CONFIRM LINK was sent, unless the link went down because this message
 * could not be delivered.
 *
 * Return: true if so.
 */
bool smc_llc_no_fallback(struct smc_lgr *lgr)
{
	const struct smc_link *link = smc_lgr_first_link(lgr);

	if (!READ_ONCE(lgr->committed))
		return false;
	return !READ_ONCE(link->lost) || smc_llc_delivered(link, lgr->llc.confirm_end);
}

/**
 * smc_llc_no_return() - would a Decline of the peer come too late?  (RFC 7609, C.3)
 * @lgr: the link group
 *
 * For a server it is too late once its ADD LINK has arrived.
 *
 * Return: true if so.
 */
bool smc_llc_no_return(struct smc_lgr *lgr)
{
	u32 end = READ_ONCE(lgr->llc.add_end);

	return end && smc_llc_delivered(smc_lgr_first_link(lgr), end);
}

/**
 * smc_llc_up_for_peer() - might the peer consider the first contact over?
 * @lgr: the link group
 *
 * For a server the first contact is over when the client's reply arrives, which the client cannot
 * know.  For a client it is over with the client's own reply, which our engine may not have
 * processed yet.
 *
 * Return: true if so.
 */
bool smc_llc_up_for_peer(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	enum smc_llc_wait wait = READ_ONCE(llc->wait);
	bool unread;

	if (wait == SMC_LLC_W_CONFIRM_SENT)
		return true;
	spin_lock_bh(&llc->lock);
	unread = llc->n_queue || work_busy(&llc->work.work) & WORK_BUSY_RUNNING;
	spin_unlock_bh(&llc->lock);
	return wait == SMC_LLC_W_CONFIRM_RSP && unread;
}

/**
 * smc_llc_sent() - smc_link_ops.sent: posts that the engine may wait for are complete
 * @link: the link
 */
void smc_llc_sent(struct smc_link *link)
{
	smc_llc_kick(smc_link_lgr(link));
}

static void look_at_sent(struct smc_lgr *lgr)
{
	if (lgr->llc.wait == SMC_LLC_W_CONFIRM_SENT &&
	    READ_ONCE(lgr->state) == SMC_LGR_NEW &&
	    smc_llc_delivered(smc_lgr_first_link(lgr), lgr->llc.confirm_end))
		smc_llc_confirmed(lgr);
}

/* ---- links that come and go ---- */

/* Continue or give up the exchanges over links that are lost, or about such links. */
static void look_at_links(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;

	if (READ_ONCE(lgr->state) != SMC_LGR_ACTIVE)
		return;
	if (llc->wait == SMC_LLC_W_CONFIRM_RKEY_RSP &&
	    !smc_llc_same_link(llc->rkey_link, llc->rkey_uid))
		smc_llc_rkey_put_off(lgr);
	if (llc->wait == SMC_LLC_W_DELETE_RKEY_RSP &&
	    !smc_llc_same_link(llc->rkey_link, llc->rkey_uid))
		smc_llc_unused_put_off(lgr);
	smc_llc_add_goes_on(lgr);
}

/* ---- the engine ---- */

static struct llc_event *next_event(struct smc_llc *llc)
{
	struct llc_event *ev;

	spin_lock_bh(&llc->lock);
	ev = list_first_entry_or_null(&llc->queue, struct llc_event, list);
	if (ev) {
		list_del(&ev->list);
		llc->n_queue--;
	}
	spin_unlock_bh(&llc->lock);
	return ev;
}

/**
 * smc_llc_keepalive() - smc_conn_ops.keepalive, by TEST LINK (RFC 7609, 4.5.3)
 * @c: the connection
 * @seconds: seconds of silence until a test; 0 to follow net.smc.smcr_testlink_time only
 */
void smc_llc_keepalive(struct smc_conn *c, unsigned int seconds)
{
	struct smc_lgr_conn *lconn = to_lgr_conn(c);

	WRITE_ONCE(lconn->keepalive, seconds);
	if (!seconds)
		return;
	WRITE_ONCE(lconn->lgr->keepalive, true);
	smc_llc_kick(lconn->lgr);
}

/* Silence until a link test, in jiffies: the shortest time that anything has asked for. */
static unsigned long test_time(struct smc_lgr *lgr)
{
	unsigned long time = READ_ONCE(lgr->sn->smcr_testlink_time), token;
	struct smc_lgr_conn *lconn;
	unsigned int wanted;

	if (likely(!READ_ONCE(lgr->keepalive)))
		return time * HZ;
	rcu_read_lock();
	xa_for_each(&lgr->conns, token, lconn) {
		wanted = READ_ONCE(lconn->keepalive);
		if (wanted && (!time || wanted < time))
			time = wanted;
	}
	rcu_read_unlock();
	return time * HZ;
}

/* Check that the peer is still there.  Returns jiffies until the next check, 0 for never. */
static unsigned long test_link(struct smc_lgr *lgr, struct smc_link *link, unsigned long time)
{
	unsigned long now = jiffies, idle = now - READ_ONCE(link->last_rx);
	unsigned int idx = smc_lgr_link_index(lgr, link);
	struct smc_llc_msg m = {
		.type = SMC_LLC_TEST_LINK,
		.v2 = smc_lgr_is_v2(lgr),
	};
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_test *test = &llc->tests[idx];
	unsigned long sent = READ_ONCE(test->sent);
	bool wanted = READ_ONCE(llc->test_now) & BIT(idx);

	if ((!time && !wanted && !sent) || READ_ONCE(link->state) != SMC_LINK_ACTIVE)
		return 0;
	if (sent && !time_before(now, sent + SMC_LLC_WAIT_TIME)) {
		smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
		return 0;
	}
	if (sent)
		return sent + SMC_LLC_WAIT_TIME - now;
	if (idle < time && !wanted)
		return time - idle;
	spin_lock_bh(&llc->lock);
	llc->test_now &= ~BIT(idx);
	test->data = get_random_u64();
	test->sent = jiffies | 1;
	memcpy(m.test_link.data, &test->data, sizeof(test->data));
	spin_unlock_bh(&llc->lock);
	smc_llc_send_or_down(link, &m);
	return SMC_LLC_WAIT_TIME;
}

static unsigned long test_links(struct smc_lgr *lgr)
{
	unsigned long time = test_time(lgr), again = 0;
	struct smc_link *link;

	if (READ_ONCE(lgr->state) != SMC_LGR_ACTIVE)
		return 0;
	smc_lgr_for_each_link(lgr, link)
		again = min_not_zero(again, test_link(lgr, link, time));
	return again;
}

static bool is_idle(const struct smc_lgr *lgr)
{
	return lgr->llc.wait == SMC_LLC_IDLE && READ_ONCE(lgr->state) == SMC_LGR_ACTIVE;
}

static void llc_work(struct work_struct *work)
{
	struct smc_llc *llc = container_of(work, struct smc_llc, work.work);
	struct smc_lgr *lgr = container_of(llc, struct smc_lgr, llc);
	unsigned long again, left, delay, losses;
	struct llc_event *ev;

	begin_first_contact(lgr);
	look_at_sent(lgr);
	while ((ev = next_event(llc))) {
		/* The slot may hold another link by now. */
		if (ev->link->uid == ev->uid)
			smc_llc_dispatch(lgr, ev->link, ev->buf, ev->len);
		kfree(ev);
		cond_resched();
	}
	look_at_links(lgr);
	losses = smc_llc_tell_losses(lgr);
	smc_llc_forget(lgr);
	again = is_idle(lgr) ? smc_llc_add_again(lgr) : 0;
	delay = smc_llc_rkey_delay(llc);
	if (!delay && is_idle(lgr))
		smc_llc_next_rkey(lgr);
	if (is_idle(lgr))
		smc_llc_next_unused(lgr);
	left = smc_llc_left(lgr);
	again = min_not_zero(min_not_zero(again, losses), test_links(lgr));
	again = min_not_zero(min_not_zero(again, left), delay);
	spin_lock_bh(&llc->lock);
	/* An earlier run may have been requested meanwhile. */
	if (again && !delayed_work_pending(&llc->work))
		__smc_llc_kick(lgr, again);
	spin_unlock_bh(&llc->lock);
	smc_lgr_put(lgr);
}

static void answer_test(struct smc_link *link, struct smc_llc_msg *m)
{
	m->reply = true;
	smc_llc_send_or_down(link, m);
}

static void test_answered(struct smc_link *link, const struct smc_llc_msg *m)
{
	u8 sent[sizeof(m->test_link.data)] = {};
	struct smc_lgr *lgr = smc_link_lgr(link);
	unsigned int idx = smc_lgr_link_index(lgr, link);
	struct smc_llc *llc = &lgr->llc;
	struct smc_llc_test *test = &llc->tests[idx];
	bool ok;

	spin_lock_bh(&llc->lock);
	memcpy(sent, &test->data, sizeof(test->data));
	ok = test->sent && !memcmp(m->test_link.data, sent, sizeof(sent));
	test->sent = 0;
	if (llc->test_now & BIT(idx))
		__smc_llc_kick(lgr, 0);
	else if (ok)
		WRITE_ONCE(lgr->doubted, false);
	spin_unlock_bh(&llc->lock);
	if (!ok)
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
}

static void queue_event(struct smc_link *link, const u8 *buf, size_t len)
{
	struct smc_lgr *lgr = smc_link_lgr(link);
	struct llc_event *ev = kmalloc(struct_size(ev, buf, len), GFP_ATOMIC | __GFP_NOWARN);
	bool flood, drop;

	if (!ev)
		return;		/* the sender will miss our answer */
	ev->link = link;
	ev->uid = link->uid;
	ev->len = len;
	memcpy(ev->buf, buf, len);
	spin_lock_bh(&lgr->llc.lock);
	flood = lgr->llc.n_queue >= MAX_QUEUE;
	/*
	 * Nothing empties the queue of a stopped engine.  It must not overflow, which would take
	 * the link down before our DELETE LINK has been sent.
	 */
	drop = flood || lgr->llc.stopped;
	if (!drop) {
		list_add_tail(&ev->list, &lgr->llc.queue);
		lgr->llc.n_queue++;
		__smc_llc_kick(lgr, 0);
	}
	spin_unlock_bh(&lgr->llc.lock);
	if (drop)
		kfree(ev);
	if (flood)
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
}

/**
 * smc_llc_rx() - smc_link_ops.rx_llc: an LLC message has arrived
 * @link: the link that it came over
 * @buf: the message
 * @len: its length
 *
 * Context: the completion handler of the link.
 */
void smc_llc_rx(struct smc_link *link, const u8 *buf, size_t len)
{
	struct smc_lgr *lgr = smc_link_lgr(link);
	struct smc_llc_msg m;
	int rc = smc_llc_decode(buf, len, &m);

	trace_smc_llc_received(link, buf, len, rc);
	if (rc == -ENOMSG)
		return;
	if (rc == -EPROTO || m.v2 != smc_lgr_is_v2(lgr)) {
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
		return;
	}
	if (m.big_endian)
		WRITE_ONCE(lgr->big_endian, true);
	if (m.type != SMC_LLC_TEST_LINK)
		queue_event(link, buf, len);
	else if (m.reply)
		test_answered(link, &m);
	else
		answer_test(link, &m);
}

/**
 * smc_llc_init() - initialise the engine of a new link group
 * @lgr: the link group
 */
void smc_llc_init(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;

	smc_spin_lock_init(&llc->lock, SMC_LOCK_LLC);
	INIT_LIST_HEAD(&llc->queue);
	INIT_LIST_HEAD(&llc->rkeys);
	INIT_LIST_HEAD(&llc->unused);
	INIT_LIST_HEAD(&llc->deleting);
	INIT_LIST_HEAD(&llc->forgotten);
	INIT_LIST_HEAD(&llc->waiters);
	INIT_DELAYED_WORK(&llc->work, llc_work);
}

/**
 * smc_llc_stop() - stop the engine, and tell the peer that the group ends, unless it knows
 * @lgr: the link group
 *
 * RFC 7609, 3.5.4.
 *
 * Context: process, waits for the engine.
 */
void smc_llc_stop(struct smc_lgr *lgr)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_DELETE_LINK,
		.v2 = smc_lgr_is_v2(lgr),
		.delete_link = {
			.all = true,
			.orderly = true,
			.reason = lgr->end_reason ?: SMC_LLC_DEL_PROGRAM,
		},
	};
	struct smc_link *link = smc_lgr_working_link(lgr);
	struct smc_llc *llc = &lgr->llc;
	struct llc_event *ev;

	spin_lock_bh(&llc->lock);
	llc->stopped = true;
	spin_unlock_bh(&llc->lock);
	if (cancel_delayed_work_sync(&llc->work))
		smc_lgr_put(lgr);
	if (link && link->state == SMC_LINK_ACTIVE && !lgr->delete_seen)
		smc_llc_send(link, &m);
	while ((ev = next_event(llc)))
		kfree(ev);
	smc_llc_wake_rkey_waiters(lgr);
}
