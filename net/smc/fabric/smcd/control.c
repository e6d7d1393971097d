// SPDX-License-Identifier: GPL-2.0
/*
 * Messages over an ISM device: the control data at the head of each element (wire/control.h).
 *
 * CLOSED or ABORT is our last word: it is the last that we write into the peer's element, so that
 * the peer may give the element to another connection. Nothing is said after it, and on a mapped
 * device no sender copies into the element any more. A sender holds tx_lock while it copies, for as
 * long as a page fault takes, so nothing here waits for it:
 *
 *	says the last word:		sender:
 *	  set CLOSED or ABORT		  take tx_lock
 *	  full barrier			  full barrier
 *	  is tx_lock free?		  are CLOSED and ABORT clear?
 *	    yes: say it			    yes: copy
 *	    no: set tx_owed, barrier,	  release tx_lock
 *	    look at tx_lock again	  full barrier
 *					  is tx_owed set? then say it
 *
 * If the last word is said because tx_lock was free, later owners of tx_lock see the flag. The peer
 * looks at the word, with an acquire, before it reuses the element. model/reuse.pml proves this.
 */
#include <linux/export.h>
#include <linux/moduleparam.h>
#include <asm/barrier.h>
#include "../../netns.h"
#include "../../smc.h"
#include "../../wire/control.h"
#include "conn.h"
#include "dev.h"

#ifdef CONFIG_SMC_TEST
/* For tests: flip bits in the control data that the peer gets, for example those of a cursor. */
static ulong lie_prod, lie_cons;
module_param(lie_prod, ulong, 0600);
MODULE_PARM_DESC(lie_prod, "SMC-D: flip these bits of the word with the producer cursor");
module_param(lie_cons, ulong, 0600);
MODULE_PARM_DESC(lie_cons, "SMC-D: flip these bits of the word with the consumer cursor");

static void test_lie(u64 *prod, u64 *cons)
{
	*prod ^= READ_ONCE(lie_prod);
	*cons ^= READ_ONCE(lie_cons);
}
#else
static inline void test_lie(u64 *prod, u64 *cons) { }
#endif

/* @msg receives the peer's control data.  Returns false if the peer has written none yet. */
static bool read_control(const struct smc_control *control, struct smc_cdc_msg *msg)
{
	u64 prod, cons;

	if (READ_ONCE(control->type) != SMC_CDC_TYPE)
		return false;
	cons = READ_ONCE(control->cons);
	/* If cons has the end, prod covers all data.  model/control.pml: data after the end */
	virt_rmb();
	prod = READ_ONCE(control->prod);
	/* The data is read after prod.  Another kernel writes it, also if this one is not SMP. */
	virt_rmb();
	smc_control_unpack(prod, cons, msg);
	return true;
}

static void write_control(struct smc_control *control, const struct smc_cdc_msg *msg)
{
	u64 prod, cons;

	smc_control_pack(msg, true, &prod, &cons);
	test_lie(&prod, &cons);
	/*
	 * The data in the peer's ring must be visible before prod, and our own ring must have been
	 * read before cons, so a release comes before both.
	 */
	virt_store_release(&control->type, SMC_CDC_TYPE);
	virt_wmb();
	WRITE_ONCE(control->prod, prod);
	/* cons may announce the end of the stream.  model/control.pml: the end after the data */
	virt_wmb();
	WRITE_ONCE(control->cons, cons);
}

/* Send the next @len bytes, split where either ring wraps. */
static int move_data(struct smcd_conn *dconn, u32 len)
{
	const struct smc_conn *c = &dconn->msg.conn;
	struct smc_ism_dev *dev = dconn->lgr->dev;
	u32 to = dconn->msg.sent_prod_at.count, n;
	int rc = 0;

	for (; len && !rc; len -= n) {
		n = min3(len, c->tx_size - dconn->tx_pos, c->peer_size - to);
		rc = dev->ops->move(dev, dconn->peer_token, SMC_CONTROL_LEN + to,
				    c->tx_buf + dconn->tx_pos, n, false);
		dconn->tx_pos += n;
		if (dconn->tx_pos == c->tx_size)
			dconn->tx_pos = 0;
		to += n;
		if (to == c->peer_size)
			to = 0;
	}
	return rc;
}

static int move_control(struct smcd_conn *dconn, const struct smc_cdc_msg *msg)
{
	struct smc_control control = { .type = SMC_CDC_TYPE };
	struct smc_ism_dev *dev = dconn->lgr->dev;

	smc_control_pack(msg, false, &control.prod, &control.cons);
	test_lie(&control.prod, &control.cons);
	return dev->ops->move(dev, dconn->peer_token, 0, &control, sizeof(control), true);
}

/*
 * May the last word be said, now that its flag is set? If not, the sender says it. The caller may
 * itself be the owner of tx_lock.
 */
static bool no_sender_copies(struct smcd_conn *dconn)
{
	struct smc_conn *c = &dconn->msg.conn;

	/* A copying device moves the data under say_lock. */
	if (!smc_ism_is_mapped(dconn->lgr->dev->ops))
		return true;
	/* The flag is set.  model/reuse.pml: look for a sender */
	smp_mb();
	if (!mutex_is_locked(&c->tx_lock))
		return true;
	smc_conn_owe(&c->tx_owed, SMC_OWED_LAST_WORD);
	return !mutex_is_locked(&c->tx_lock);
}

/*
 * Is the message worth sending without the last word? The end of the stream waits for it, too: an
 * abort is not an orderly end, and before a close the sender may yet announce what it has copied.
 */
static bool leave_last_word(const struct smc_msg_conn *m, struct smc_msg_news *news, u8 force)
{
	news->conn_flags = m->sent_flags;
	return force || news->prod != m->sent_prod;
}

/* Returns 1: signal the peer; 0: nothing to do; negative errno: the peer cannot be reached. */
static int __say(struct smcd_conn *dconn, u8 force)
{
	struct smc_msg_conn *m = &dconn->msg;
	struct smc_cdc_msg msg = {};
	struct smc_msg_news news;
	int rc;

	lockdep_assert_held(&dconn->say_lock);
	if (!smc_msg_look(m, force, false, &news))
		return 0;
	if (news.conn_flags & (SMC_CDC_CLOSED | SMC_CDC_ABORT) && !no_sender_copies(dconn) &&
	    !leave_last_word(m, &news, force))
		return 0;
	if (smc_ism_is_mapped(dconn->lgr->dev->ops)) {
		smc_msg_said(m, &news, &msg);
		write_control(dconn->peer_mem, &msg);
		rc = 1;
	} else {
		rc = move_data(dconn, news.prod - m->sent_prod);
		smc_msg_said(m, &news, &msg);
		rc = rc ?: move_control(dconn, &msg);
	}
	/* Nothing follows the last word, nor data that may be missing. */
	m->tx_disabled = rc < 0 || smc_msg_end_said(m);
	return rc;
}

/*
 * The last word has been said, or was impossible, and no sender copies: this end does not use the
 * peer's element.
 */
static void let_go(struct smcd_conn *dconn)
{
	void *mem = xchg(&dconn->peer_mem, NULL);

	if (mem)
		dconn->lgr->dev->ops->unmap(dconn->lgr->dev, mem);
}

/* smc_msg_ops.say */
static void smcd_say(struct smc_msg_conn *m, u8 force)
{
	struct smcd_conn *dconn = msg_to_smcd(m);
	struct smcd_lgr *lgr = dconn->lgr;
	bool ended;
	int rc;

	/* The peer's element is unknown; smcd_attach() sends what is pending. */
	if (!smp_load_acquire(&m->attached))
		return;
	spin_lock_bh(&dconn->say_lock);
	rc = __say(dconn, force);
	ended = m->tx_disabled;
	spin_unlock_bh(&dconn->say_lock);
	if (rc > 0)
		lgr->dev->ops->signal(lgr->dev, &lgr->peer, dconn->peer_token);
	else if (unlikely(rc < 0))
		smcd_cut_off(dconn);
	if (unlikely(ended)) {
		/* After the removal of the device a sender may still copy.  Then it lets go. */
		if (no_sender_copies(dconn))
			let_go(dconn);
		/* Pairs with the barrier in smc_msg_detach(). */
		smp_mb();
		smc_msg_leave_if_ended(m);
	}
}

/**
 * smcd_last_word() - smc_conn_ops.last_word
 * @c: the connection
 */
void smcd_last_word(struct smc_conn *c)
{
	smcd_say(to_msg_conn(c), 0);
}

/**
 * smcd_hear() - process the control data that the peer has written
 * @dconn: the connection
 *
 * Context: any but hard interrupts.
 */
void smcd_hear(struct smcd_conn *dconn)
{
	struct smc_cdc_msg msg;

	spin_lock_bh(&dconn->hear_lock);
	if (likely(!dconn->dmb_lost) && read_control(dconn->dmb->mem, &msg))
		smc_msg_heard(&dconn->msg, &msg);
	spin_unlock_bh(&dconn->hear_lock);
}

/**
 * smc_ism_has_last_word() - has the peer said that it writes to a DMB no more?
 * @mem: memory of a DMB that was unregistered in doubt
 *
 * Context: any.
 * Return: true if the memory may go to others, as far as an honest peer is concerned.
 */
bool smc_ism_has_last_word(const void *mem)
{
	const struct smc_control *control = mem;
	struct smc_cdc_msg msg;
	u64 cons;

	if (READ_ONCE(control->type) != SMC_CDC_TYPE)
		return false;
	cons = READ_ONCE(control->cons);
	/* The last word follows all that the peer has written. Not an acquire: 32 bits lack it. */
	virt_mb();
	smc_control_unpack(0, cons, &msg);
	return msg.conn_flags & (SMC_CDC_CLOSED | SMC_CDC_ABORT);
}
EXPORT_SYMBOL_GPL(smc_ism_has_last_word);

/**
 * smc_ism_signaled() - a peer has written to one of our DMBs and signals this
 * @dmb: the DMB, registered
 *
 * Context: any but hard interrupts.
 */
void smc_ism_signaled(struct smc_ism_dmb *dmb)
{
	struct smcd_conn *dconn;

	rcu_read_lock();
	dconn = rcu_dereference(dmb->conn);
	if (dconn && !refcount_inc_not_zero(&dconn->msg.conn.ref))
		dconn = NULL;
	rcu_read_unlock();
	if (!dconn)
		return;
	smcd_hear(dconn);
	smc_conn_put(&dconn->msg.conn);
}
EXPORT_SYMBOL_GPL(smc_ism_signaled);

/* smc_msg_ops.arrived: control data is written synchronously, so what was sent has arrived. */
static bool smcd_arrived(const struct smc_msg_conn *m)
{
	return smc_msg_end_said(m);
}

/**
 * smcd_data_arrived() - smc_conn_ops.arrived
 * @c: the connection
 *
 * Return: what has been said. The data of a mapped device was in the peer's memory before, and that
 * of a copying one was moved there before.
 */
u64 smcd_data_arrived(struct smc_conn *c)
{
	return smc_count_read(&to_msg_conn(c)->sent_prod);
}

/* smc_msg_ops.await_close */
static void smcd_await_close(struct smc_msg_conn *m)
{
	struct smcd_conn *dconn = msg_to_smcd(m);
	unsigned long delay = READ_ONCE(dconn->lgr->sn->net->ipv4.sysctl_tcp_fin_timeout);

	smc_conn_get(&m->conn);
	if (!queue_delayed_work(smc_link_wq, &dconn->close_work, delay))
		smc_conn_put(&m->conn);
}

/* smc_msg_ops.leave */
static void smcd_leave(struct smc_msg_conn *m)
{
	struct smcd_conn *dconn = msg_to_smcd(m);

	smcd_lgr_leave(dconn);
	if (cancel_delayed_work(&dconn->close_work))
		smc_conn_put(&m->conn);
}

const struct smc_msg_ops smcd_msg_ops = {
	.say		= smcd_say,
	.arrived	= smcd_arrived,
	.await_close	= smcd_await_close,
	.leave		= smcd_leave,
};
