// SPDX-License-Identifier: GPL-2.0
/* The LLC engine: its queue, its clock, and what we begin ourselves. */
#include <linux/random.h>
#include <linux/slab.h>
#include "../../../lock_class.h"
#include "../../../netns.h"
#include "../../../smc.h"
#include "../../../trace.h"
#include "lgr.h"
#include "../link/link.h"
#include "llc_msg.h"

/* More messages than this no honest peer has under way. */
#define MAX_QUEUE	64

/* A peer that is in the middle of something else is asked again so often, and then so soon. */
#define RKEY_RETRIES	20
#define RKEY_RETRY_TIME	(HZ / 10)

/* A message on its way from the completion to the engine. */
struct llc_event {
	struct list_head	list;
	struct smc_link		*link;
	u32			len;
	u8			buf[];
};

static void __kick_engine(struct smc_lgr *lgr, unsigned long delay)
{
	lockdep_assert_held(&lgr->llc.lock);
	if (lgr->llc.stopped)
		return;
	smc_lgr_get(lgr);
	if (mod_delayed_work(smc_link_wq, &lgr->llc.work, delay))
		refcount_dec(&lgr->ref);
}

static void kick_engine(struct smc_lgr *lgr)
{
	spin_lock_bh(&lgr->llc.lock);
	__kick_engine(lgr, 0);
	spin_unlock_bh(&lgr->llc.lock);
}

/**
 * smc_llc_send() - send an LLC message
 * @link: the link
 * @m: the message
 *
 * Context: any but hard interrupts.
 * Return: 0, or a negative errno: the link is as good as down.
 */
int smc_llc_send(struct smc_link *link, const struct smc_llc_msg *m)
{
	struct smc_llc_msg msg = *m;
	u8 buf[SMC_LINK_MSG_MAX];
	int rc, len;

	/* Peers differ in how they write some numbers: as they do, so do we. */
	msg.big_endian |= READ_ONCE(smc_link_lgr(link)->big_endian);
	len = smc_llc_encode(&msg, buf, sizeof(buf));
	if (WARN_ON_ONCE(len < 0))
		return len;
	rc = smc_link_send(link, buf, len);
	trace_smc_llc_sent(link, buf, len, rc);
	return rc;
}

static void send_or_down(struct smc_link *link, const struct smc_llc_msg *m)
{
	if (smc_llc_send(link, m))
		smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
}

/* ---- RMBs to be confirmed ---- */

static void wake_rkey_waiters(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_lgr_conn *lconn;

	for (;;) {
		spin_lock_bh(&llc->lock);
		lconn = list_first_entry_or_null(&llc->waiters, struct smc_lgr_conn,
						 rkey_wait);
		if (lconn)
			list_del_init(&lconn->rkey_wait);
		spin_unlock_bh(&llc->lock);
		if (!lconn)
			return;
		smc_conn_notify(&lconn->conn);
		smc_conn_put(&lconn->conn);
	}
}

/**
 * smc_llc_begin_confirm_rkey() - does the peer know this RMB?
 * @lgr: the link group; its setup_lock is held
 * @rmb: the RMB
 * @lconn: who wants to use it, and is notified
 *
 * A peer that has refused it is asked again for the next connection: "the next natural
 * stimulus" (RFC 7609, A.3.5).
 *
 * Return: 0 if so; -EAGAIN if it is being told; -EACCES if it does not want to
 * know; -ENOLINK.
 */
int smc_llc_begin_confirm_rkey(struct smc_lgr *lgr, struct smc_rmb *rmb,
			       struct smc_lgr_conn *lconn)
{
	struct smc_llc *llc = &lgr->llc;
	int err = -EAGAIN;

	spin_lock_bh(&llc->lock);
	if (!lconn->rkey_asked) {
		lconn->rkey_asked = true;
		lconn->refusals = rmb->refusals;
	}
	if (rmb->confirmed) {
		err = 0;
	} else if (llc->stopped) {
		err = -ENOLINK;
	} else if (rmb->refusals != lconn->refusals) {
		err = -EACCES;
	} else {
		if (list_empty(&rmb->list) && llc->rmb != rmb)
			list_add_tail(&rmb->list, &llc->rkeys);
		if (list_empty(&lconn->rkey_wait)) {
			smc_conn_get(&lconn->conn);
			list_add_tail(&lconn->rkey_wait, &llc->waiters);
		}
		__kick_engine(lgr, 0);
	}
	spin_unlock_bh(&llc->lock);
	return err;
}

/**
 * smc_llc_unwait() - a connection gives up waiting for its RMB
 * @lconn: the connection
 */
void smc_llc_unwait(struct smc_lgr_conn *lconn)
{
	struct smc_llc *llc = &lconn->lgr->llc;
	bool waited;

	spin_lock_bh(&llc->lock);
	waited = !list_empty(&lconn->rkey_wait);
	list_del_init(&lconn->rkey_wait);
	spin_unlock_bh(&llc->lock);
	if (waited)
		smc_conn_put(&lconn->conn);
}

/* Its key and address on a link. */
static bool rmb_on_link(struct smc_lgr *lgr, const struct smc_rmb *rmb,
			const struct smc_link *link, struct smc_llc_confirm_rkey *m)
{
	const struct ib_mr *mr;

	mutex_lock(&lgr->setup_lock);
	mr = smc_mem_mr(rmb, link);
	if (mr) {
		m->rkey = mr->rkey;
		m->addr = mr->iova;
	}
	mutex_unlock(&lgr->setup_lock);
	return mr;
}

static void next_rkey(struct smc_lgr *lgr)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_CONFIRM_RKEY,
		.v2 = lgr->version > SMC_CLC_V1,
	};
	struct smc_link *link = smc_lgr_working_link(lgr);
	struct smc_llc *llc = &lgr->llc;

	/* Without a link the group ends, and wakes those who wait. */
	if (!link)
		return;
	spin_lock_bh(&llc->lock);
	llc->rkey_link = link;
	llc->rmb = list_first_entry_or_null(&llc->rkeys, struct smc_rmb, list);
	if (llc->rmb)
		list_del_init(&llc->rmb->list);
	spin_unlock_bh(&llc->lock);
	if (!llc->rmb)
		return;
	/* One that is down has no regions; it is as if there were no answer. */
	if (rmb_on_link(lgr, llc->rmb, link, &m.confirm_rkey))
		send_or_down(link, &m);
	llc->rkey = m.confirm_rkey.rkey;
	smc_llc_await(lgr, SMC_LLC_W_CONFIRM_RKEY_RSP);
}

/* How long the peer has put us off; it does not say, and does not tell us when it is over. */
static unsigned long rkey_delay(struct smc_llc *llc)
{
	unsigned long now = jiffies;

	if (llc->rkey_again && time_before(now, llc->rkey_again))
		return llc->rkey_again - now;
	llc->rkey_again = 0;
	return 0;
}

/**
 * smc_llc_rkey_answered() - the peer has answered our CONFIRM RKEY
 * @lgr: the link group
 * @yes: it accepted
 * @retry: it refused because another change of the group is under way: ask again
 *
 * Context: the engine's work.
 */
void smc_llc_rkey_answered(struct smc_lgr *lgr, bool yes, bool retry)
{
	struct smc_llc *llc = &lgr->llc;
	struct smc_rmb *rmb = llc->rmb;

	spin_lock_bh(&llc->lock);
	llc->rmb = NULL;
	if (!yes && retry && rmb->retries++ < RKEY_RETRIES) {
		list_add(&rmb->list, &llc->rkeys);
		llc->rkey_again = (jiffies + RKEY_RETRY_TIME) | 1;
	} else {
		rmb->retries = 0;
		rmb->refusals += !yes;
		smc_mem_confirmed(rmb, yes);
	}
	spin_unlock_bh(&llc->lock);
	llc->wait = SMC_LLC_IDLE;
	wake_rkey_waiters(lgr);
}

/* ---- first contact ---- */

/**
 * smc_llc_first_contact() - the link is connected and shall be confirmed
 * @lgr: the link group
 *
 * The server sends CONFIRM LINK, the client waits for it.
 */
void smc_llc_first_contact(struct smc_lgr *lgr)
{
	spin_lock_bh(&lgr->llc.lock);
	lgr->llc.begin = true;
	__kick_engine(lgr, 0);
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

/* ---- how far the first contact is ---- */

/* Has the device said that the peer has all posts up to @end?  It may not, any more. */
static bool posts_delivered(const struct smc_link *link, u32 end)
{
	u32 tail = READ_ONCE(link->state) == SMC_LINK_DOWN ?
		   READ_ONCE(link->tx_down) : READ_ONCE(link->tx_tail);

	return (s32)(tail - end) >= 0;
}

/**
 * smc_llc_no_fallback() - is it too late to decline?  (RFC 7609, C.2)
 * @lgr: the link group
 *
 * It is from our CONFIRM LINK on, unless what has ended the link is that this message
 * could not be delivered.
 *
 * Return: true if it is.
 */
bool smc_llc_no_fallback(struct smc_lgr *lgr)
{
	const struct smc_link *link = smc_lgr_first_link(lgr);

	if (!READ_ONCE(lgr->committed))
		return false;
	return !READ_ONCE(link->lost) || posts_delivered(link, lgr->llc.confirm_end);
}

/**
 * smc_llc_no_return() - would a Decline of the peer come too late?  (RFC 7609, C.3)
 * @lgr: the link group
 *
 * It would for a server whose ADD LINK has arrived.
 *
 * Return: true if it would.
 */
bool smc_llc_no_return(struct smc_lgr *lgr)
{
	u32 end = READ_ONCE(lgr->llc.add_end);

	return end && posts_delivered(smc_lgr_first_link(lgr), end);
}

/**
 * smc_llc_up_for_peer() - may the peer think that the first contact is over?
 * @lgr: the link group
 *
 * To a server it is over with the client's reply, of which the client does not know yet
 * that it has arrived; to a client with its own, which our engine may have to look at yet.
 *
 * Return: true if it may.
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
 * smc_llc_sent() - smc_link_ops.sent: what was sent before the link was active has arrived
 * @link: the link
 */
void smc_llc_sent(struct smc_link *link)
{
	kick_engine(smc_link_lgr(link));
}

static void look_at_sent(struct smc_lgr *lgr)
{
	if (lgr->llc.wait == SMC_LLC_W_CONFIRM_SENT &&
	    READ_ONCE(lgr->state) == SMC_LGR_NEW &&
	    posts_delivered(smc_lgr_first_link(lgr), lgr->llc.confirm_end))
		smc_llc_confirmed(lgr);
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
 * smc_llc_keepalive() - smc_fabric_ops.keepalive, by TEST LINK (RFC 7609, 4.5.3)
 * @c: the connection
 * @seconds: of silence, 0 for net.smc.smcr_testlink_time alone
 */
void smc_llc_keepalive(struct smc_conn *c, unsigned int seconds)
{
	struct smc_lgr_conn *lconn = to_lgr_conn(c);

	WRITE_ONCE(lconn->keepalive, seconds);
	if (!seconds)
		return;
	WRITE_ONCE(lconn->lgr->keepalive, true);
	kick_engine(lconn->lgr);
}

/* Silence that is long enough for a test: the shortest that anybody has asked for. */
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

/* Is the peer still there?  Returns when to look again, 0 for never. */
static unsigned long test_link(struct smc_lgr *lgr)
{
	unsigned long time = test_time(lgr), now = jiffies;
	struct smc_link *link = smc_lgr_first_link(lgr);
	unsigned long idle = now - READ_ONCE(link->last_rx);
	struct smc_llc_msg m = {
		.type = SMC_LLC_TEST_LINK,
		.v2 = lgr->version > SMC_CLC_V1,
	};
	struct smc_llc *llc = &lgr->llc;
	unsigned long sent = READ_ONCE(llc->test_sent);
	bool wanted = READ_ONCE(llc->test_now);

	if ((!time && !wanted && !sent) || READ_ONCE(lgr->state) != SMC_LGR_ACTIVE)
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
	llc->test_now = false;
	llc->test_data = get_random_u64();
	llc->test_sent = jiffies | 1;
	memcpy(m.test_link.data, &llc->test_data, sizeof(llc->test_data));
	spin_unlock_bh(&llc->lock);
	send_or_down(link, &m);
	return SMC_LLC_WAIT_TIME;
}

static void llc_work(struct work_struct *work)
{
	struct smc_llc *llc = container_of(work, struct smc_llc, work.work);
	struct smc_lgr *lgr = container_of(llc, struct smc_lgr, llc);
	unsigned long again, left, delay;
	struct llc_event *ev;

	begin_first_contact(lgr);
	look_at_sent(lgr);
	while ((ev = next_event(llc))) {
		smc_llc_dispatch(lgr, ev->link, ev->buf, ev->len);
		kfree(ev);
		cond_resched();
	}
	delay = rkey_delay(llc);
	if (!delay && llc->wait == SMC_LLC_IDLE && READ_ONCE(lgr->state) == SMC_LGR_ACTIVE)
		next_rkey(lgr);
	left = smc_llc_left(lgr);
	again = test_link(lgr);
	again = min_not_zero(min_not_zero(again, left), delay);
	spin_lock_bh(&llc->lock);
	/* Somebody may have asked for less meanwhile. */
	if (again && !delayed_work_pending(&llc->work))
		__kick_engine(lgr, again);
	spin_unlock_bh(&llc->lock);
	smc_lgr_put(lgr);
}

static void answer_test(struct smc_link *link, struct smc_llc_msg *m)
{
	m->reply = true;
	send_or_down(link, m);
}

static void test_answered(struct smc_link *link, const struct smc_llc_msg *m)
{
	u8 sent[sizeof(m->test_link.data)] = {};
	struct smc_lgr *lgr = smc_link_lgr(link);
	struct smc_llc *llc = &lgr->llc;
	bool ok;

	spin_lock_bh(&llc->lock);
	memcpy(sent, &llc->test_data, sizeof(llc->test_data));
	ok = llc->test_sent && !memcmp(m->test_link.data, sent, sizeof(sent));
	llc->test_sent = 0;
	if (llc->test_now)
		__kick_engine(lgr, 0);
	else if (ok)
		WRITE_ONCE(lgr->doubted, false);
	spin_unlock_bh(&llc->lock);
	if (!ok)
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
}

static void queue_event(struct smc_link *link, const u8 *buf, size_t len)
{
	struct smc_lgr *lgr = smc_link_lgr(link);
	struct llc_event *ev = kmalloc(struct_size(ev, buf, len), GFP_ATOMIC);
	bool flood;

	if (!ev)
		return;		/* its sender will miss the answer */
	ev->link = link;
	ev->len = len;
	memcpy(ev->buf, buf, len);
	spin_lock_bh(&lgr->llc.lock);
	flood = lgr->llc.stopped || lgr->llc.n_queue >= MAX_QUEUE;
	if (!flood) {
		list_add_tail(&ev->list, &lgr->llc.queue);
		lgr->llc.n_queue++;
		__kick_engine(lgr, 0);
	}
	spin_unlock_bh(&lgr->llc.lock);
	if (flood) {
		kfree(ev);
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
	}
}

/**
 * smc_llc_rx() - smc_link_ops.rx_llc: an LLC message has arrived
 * @link: over this link
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
	if (rc == -EPROTO || m.v2 != (lgr->version > SMC_CLC_V1)) {
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
 * smc_llc_init() - the engine of a new link group
 * @lgr: the link group
 */
void smc_llc_init(struct smc_lgr *lgr)
{
	struct smc_llc *llc = &lgr->llc;

	smc_spin_lock_init(&llc->lock, SMC_LOCK_LLC);
	INIT_LIST_HEAD(&llc->queue);
	INIT_LIST_HEAD(&llc->rkeys);
	INIT_LIST_HEAD(&llc->waiters);
	INIT_DELAYED_WORK(&llc->work, llc_work);
}

/**
 * smc_llc_start_tests() - the link group is active: watch over its peer
 * @lgr: the link group
 */
void smc_llc_start_tests(struct smc_lgr *lgr)
{
	kick_engine(lgr);
}

/**
 * smc_llc_test_now() - find out whether the peer still has its end of the link
 * @lgr: the link group; without an answer in time it ends
 * @doubted: until the answer has come no connection joins it
 *
 * Context: any but hard interrupts.
 */
void smc_llc_test_now(struct smc_lgr *lgr, bool doubted)
{
	spin_lock_bh(&lgr->llc.lock);
	lgr->llc.test_now = true;
	if (doubted)
		WRITE_ONCE(lgr->doubted, true);
	__kick_engine(lgr, 0);
	spin_unlock_bh(&lgr->llc.lock);
}

/**
 * smc_llc_stop() - the link group ends; say so, if the peer does not know
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
		.v2 = lgr->version > SMC_CLC_V1,
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
	wake_rkey_waiters(lgr);
}
