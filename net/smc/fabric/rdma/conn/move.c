// SPDX-License-Identifier: GPL-2.0
/*
 * Move a connection from a link that is down to another one (RFC 7609, 4.6).
 *
 * Sending: the peer has everything that its device has acknowledged, and perhaps more.  We send the
 * number of the last message that was acknowledged, and then write everything again that the peer
 * has not confirmed as consumed: the same bytes to the same place, which does no harm where they
 * were written before.  The producer cursor does not go back.
 *
 * Receiving: messages over another link are held until the old link is drained.  Cursors and flags
 * of the newest message include what all older ones say, so it is enough to hold one message.  The
 * connection goes on over the link that this message came over, so that no link that the peer uses
 * later is taken for the next one while writes over this link may still arrive.
 */
#include <linux/delay.h>
#include <linux/moduleparam.h>
#include "../../../stats.h"
#include "../../../trace.h"
#include "../link/link.h"
#include "rdma_conn.h"

/* Make posts over the next link begin with the data that the peer may lack; returns their bytes. */
static u64 prepare_replay(struct rdma_conn *rconn, const struct rdma_on_link *on_link)
{
	struct smc_link_sender *sender = &rconn->base.sender;
	struct smc_link *from = smc_link_lock(sender);
	u64 again = 0;

	rconn->on_link = *on_link;
	/* An abort that was posted may not have arrived, so allow sending again. */
	rconn->base.msg.tx_disabled = rconn->severed;
	if (!rdma_conn_all_acked(rconn)) {
		sender->force_update |= RDMA_VALIDATE | RDMA_REPLAY;
		again = rconn->base.msg.sent_prod -
			smc_count_read_acquire(&rconn->base.msg.conn.tx_cons);
	}
	smc_link_unlock(from);
	return again;
}

/*
 * @again: number of bytes that the peer has not confirmed as consumed.
 * @reset: the connection has been aborted, and only tells the peer so over the other link.
 */
static void report_move(struct rdma_conn *rconn, struct smc_link_move *move, u64 again, bool reset)
{
	struct smc_lgr *lgr = rconn->base.lgr;

	if (reset) {
		move->n_reset++;
		return;
	}
	move->n_moved++;
	this_cpu_inc(lgr->sn->stats->conns_moved);
	trace_smcr_conn_moved(&rconn->base.msg.conn, lgr, move->from->number, move->to->number,
			      READ_ONCE(rconn->base.sender.acked), again);
}

#ifdef CONFIG_SMC_TEST
/* For tests: the peer gives up its RMB just before a connection writes there over another link. */
static int hold_move;
module_param(hold_move, int, 0600);
MODULE_PARM_DESC(hold_move, "1 keeps connections from moving until this is 0; 2: one has come");

static void test_hold(void)
{
	while (READ_ONCE(hold_move)) {
		cmpxchg(&hold_move, 1, 2);
		msleep(20);
	}
}
#else
static inline void test_hold(void) { }
#endif

/*
 * The device has not flushed the old link.  Could a late write of the peer over that link
 * overwrite what it sends over another one?  @peer_used: see smc_cdc_link_drained().
 */
static bool may_be_overwritten(const struct rdma_conn *rconn, const struct smc_link *from,
			       bool peer_used)
{
	const struct smc_msg_conn *m = &rconn->base.msg;

	/* The peer does not know our element yet. */
	if (!smp_load_acquire(&m->attached) && !test_bit(SMC_MSG_TOLD, &m->bits))
		return false;
	return peer_used || rconn->base.sender.link == from;
}

static void move_sender(struct rdma_conn *rconn, struct smc_link_move *move, bool reset)
{
	struct rdma_on_link on_link;

	if (!smp_load_acquire(&rconn->base.msg.attached)) {
		report_move(rconn, move, 0, reset);
		smc_lgr_set_link(&rconn->base, move->to);
	} else if (!smc_rdma_on_link(rconn, move->to, &on_link)) {
		test_hold();
		/* The old link posts no more, so nothing reads on_link until the link is set. */
		report_move(rconn, move, prepare_replay(rconn, &on_link), reset);
		smc_lgr_set_link(&rconn->base, move->to);
		smc_link_queue(&rconn->base.sender);
	} else {
		/* The peer has sent no key for that link. */
		move->n_reset++;
		smc_cdc_cut_off(&rconn->base);
		smc_conn_notify(&rconn->base.msg.conn);
	}
}

/**
 * smc_rdma_move() - smc_lgr_conn.move
 * @lconn: the connection, referenced
 * @move: the two links
 *
 * Context: process, under smc_lgr.setup_lock.
 */
void smc_rdma_move(struct smc_lgr_conn *lconn, struct smc_link_move *move)
{
	struct rdma_conn *rconn = to_rdma_conn(lconn);
	bool reset, peer_used;

	lockdep_assert_held(&lconn->lgr->setup_lock);
	/* Take messages that have arrived first: the peer may have consumed everything. */
	peer_used = smc_cdc_link_drained(rconn, move->from);
	/* A connection that has ended cannot be reset; it may have to tell the peer again. */
	reset = !move->flushed && may_be_overwritten(rconn, move->from, peer_used) &&
		!smc_conn_peer_gone(&lconn->msg.conn);
	if (reset)
		smc_msg_lost(&lconn->msg);
	/* Without @to, @from had no connections; a connection that came later checks for itself. */
	if (lconn->sender.link == move->from && move->to)
		move_sender(rconn, move, reset);
	else
		move->n_reset += reset;
}
