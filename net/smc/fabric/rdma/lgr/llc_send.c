// SPDX-License-Identifier: GPL-2.0
/* The LLC engine: what schedules it, and what sends messages for it. */
#include <linux/slab.h>
#include "../../../smc.h"
#include "../../../trace.h"
#include "lgr.h"
#include "../link/link.h"
#include "llc_msg.h"

/**
 * __smc_llc_kick() - schedule the engine
 * @lgr: the link group; its llc.lock is held
 * @delay: jiffies from now
 */
void __smc_llc_kick(struct smc_lgr *lgr, unsigned long delay)
{
	lockdep_assert_held(&lgr->llc.lock);
	if (lgr->llc.stopped)
		return;
	smc_lgr_get(lgr);
	if (mod_delayed_work(smc_link_wq, &lgr->llc.work, delay))
		refcount_dec(&lgr->ref);
}

/**
 * smc_llc_kick() - run the engine soon
 * @lgr: the link group
 *
 * Context: any but hard interrupts.
 */
void smc_llc_kick(struct smc_lgr *lgr)
{
	spin_lock_bh(&lgr->llc.lock);
	__smc_llc_kick(lgr, 0);
	spin_unlock_bh(&lgr->llc.lock);
}

/**
 * smc_llc_more_links() - try to add a link, as there may be a port for it now
 * @lgr: the link group
 *
 * Context: any but hard interrupts.
 */
void smc_llc_more_links(struct smc_lgr *lgr)
{
	spin_lock_bh(&lgr->llc.lock);
	lgr->llc.add_wanted = true;
	lgr->llc.port_came = true;
	__smc_llc_kick(lgr, 0);
	spin_unlock_bh(&lgr->llc.lock);
}

/**
 * smc_llc_start_tests() - start to test the links of a group that is active now
 * @lgr: the link group
 */
void smc_llc_start_tests(struct smc_lgr *lgr)
{
	smc_llc_kick(lgr);
}

/**
 * smc_llc_test_now() - test whether the peer still has its end of each link
 * @lgr: the link group; links without an answer in time go down
 * @doubted: no connection may join the group until the answer has come
 *
 * Context: any but hard interrupts.
 */
void smc_llc_test_now(struct smc_lgr *lgr, bool doubted)
{
	spin_lock_bh(&lgr->llc.lock);
	lgr->llc.test_now = ~0;
	if (doubted)
		WRITE_ONCE(lgr->doubted, true);
	__smc_llc_kick(lgr, 0);
	spin_unlock_bh(&lgr->llc.lock);
}

/**
 * smc_llc_send() - send an LLC message
 * @link: the link
 * @m: the message
 *
 * Context: any but hard interrupts.
 * Return: 0, or a negative errno, after which the link must be considered down.
 */
int smc_llc_send(struct smc_link *link, const struct smc_llc_msg *m)
{
	struct smc_llc_msg msg = *m;
	u8 buf[SMC_LINK_MSG_MAX];
	int rc, len;

	/* Peers differ in the byte order of some numbers; use the peer's. */
	msg.big_endian |= READ_ONCE(smc_link_lgr(link)->big_endian);
	len = smc_llc_encode(&msg, buf, sizeof(buf));
	if (WARN_ON_ONCE(len < 0))
		return len;
	rc = smc_link_send(link, buf, len);
	trace_smc_llc_sent(link, buf, len, rc);
	return rc;
}

/**
 * smc_llc_send_long() - send an LLC message that may be long
 * @link: the link
 * @m: the message
 *
 * Context: the engine's work, may sleep.
 * Return: 0, or a negative errno, after which the link must be considered down.
 */
int smc_llc_send_long(struct smc_link *link, const struct smc_llc_msg *m)
{
	u8 *buf = kmalloc(SMC_LLC_V2_MAX_LEN, SMC_GFP_CHARGED);
	struct smc_llc_msg msg = *m;
	int rc, len;

	if (!buf)
		return -ENOMEM;
	msg.big_endian |= READ_ONCE(smc_link_lgr(link)->big_endian);
	len = smc_llc_encode(&msg, buf, SMC_LLC_V2_MAX_LEN);
	rc = WARN_ON_ONCE(len < 0) ? len : smc_link_send_long(link, buf, len);
	trace_smc_llc_sent(link, buf, max(len, 0), rc);
	kfree(buf);
	return rc;
}

/**
 * smc_llc_send_or_down() - send an LLC message, or take the link down if that fails
 * @link: the link
 * @m: the message
 *
 * Context: any but hard interrupts.
 */
void smc_llc_send_or_down(struct smc_link *link, const struct smc_llc_msg *m)
{
	if (smc_llc_send(link, m))
		smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
}

/**
 * smc_llc_delivered() - has the peer's device acknowledged all posts up to a given one?
 * @link: the link; once it is down, later completions no longer count
 * @end: what smc_link_sent() returned after that post
 *
 * Return: true if so.
 */
bool smc_llc_delivered(const struct smc_link *link, u32 end)
{
	u32 tail = READ_ONCE(link->state) == SMC_LINK_DOWN ?
		   READ_ONCE(link->tx_down) : READ_ONCE(link->tx_tail);

	return (s32)(tail - end) >= 0;
}

/* Is the link in this slot still the one with this uid, and not down? */
bool smc_llc_same_link(const struct smc_link *link, u32 uid)
{
	return smc_link_alive(link) && link->uid == uid;
}

/**
 * smc_llc_await() - start to wait for a message
 * @lgr: the link group
 * @wait: the message; llc_rules.c says for how long, and what happens then
 *
 * Context: the engine's work.
 */
void smc_llc_await(struct smc_lgr *lgr, enum smc_llc_wait wait)
{
	lgr->llc.wait = wait;
	lgr->llc.since = jiffies;
}
