// SPDX-License-Identifier: GPL-2.0
/*
 * A connection goes from a link that is down to another one (RFC 7609, 4.6).
 *
 * Sending: the peer has all that its device has acknowledged, and perhaps more.  So it is told the
 * number of the last message that was acknowledged, and then gets everything again that it has not
 * said to have consumed: the same bytes to the same place, which does no harm where they have been
 * written before.  What was announced stays announced.
 *
 * Receiving: messages over another link are held until the old one is drained.  Cursors and flags
 * of the newest message say all that older ones have said, so one place to hold it is enough.
 */
#include "../../../stats.h"
#include "../../../trace.h"
#include "../link/link.h"
#include "rdma_conn.h"

/* Posts over the next link begin with the data that the peer may lack; returns their bytes. */
static u64 prepare_replay(struct rdma_conn *rconn, const struct rdma_on_link *on_link)
{
	struct smc_link_sender *sender = &rconn->base.sender;
	struct smc_link *from = smc_link_lock(sender);
	u64 again = 0;

	rconn->on_link = *on_link;
	/* An abort that was posted may not have arrived. */
	if (!test_bit(SMC_MSG_CUT_OFF, &rconn->base.msg.bits))
		rconn->base.msg.tx_disabled = false;
	if (!rdma_conn_all_acked(rconn)) {
		sender->force_update |= RDMA_VALIDATE | RDMA_REPLAY;
		again = rconn->base.msg.sent_prod -
			smc_count_read_acquire(&rconn->base.msg.conn.tx_cons);
	}
	smc_link_unlock(from);
	return again;
}

/* @again: bytes that the peer has not said to have consumed. */
static void report_move(struct rdma_conn *rconn, struct smc_link_move *move, u64 again)
{
	struct smc_lgr *lgr = rconn->base.lgr;

	move->n_moved++;
	this_cpu_inc(lgr->sn->stats->conns_moved);
	trace_smcr_conn_moved(&rconn->base.msg.conn, lgr, move->from->number, move->to->number,
			      READ_ONCE(rconn->base.sender.acked), again);
}

static void move_sender(struct rdma_conn *rconn, struct smc_link_move *move)
{
	struct rdma_on_link on_link;

	if (!smp_load_acquire(&rconn->base.msg.attached)) {
		report_move(rconn, move, 0);
		smc_lgr_set_link(&rconn->base, move->to);
	} else if (move->flushed && !smc_rdma_on_link(rconn, move->to, &on_link)) {
		/* The old link posts no more: nobody looks at this before the link is set. */
		report_move(rconn, move, prepare_replay(rconn, &on_link));
		smc_lgr_set_link(&rconn->base, move->to);
		smc_link_queue(&rconn->base.sender);
	} else {
		/* The peer has told no key for that link, or writes may still be under way. */
		move->n_reset++;
		smc_cdc_cut_off(&rconn->base);
		smc_conn_notify(&rconn->base.msg.conn);
	}
}

/**
 * smc_rdma_move() - smc_lgr_conn.move
 * @lconn: the connection, referenced
 * @move: from where to where
 *
 * Context: process, under smc_lgr.setup_lock.
 */
void smc_rdma_move(struct smc_lgr_conn *lconn, struct smc_link_move *move)
{
	struct rdma_conn *rconn = to_rdma_conn(lconn);

	lockdep_assert_held(&lconn->lgr->setup_lock);
	/* Messages that have arrived come first: they may say that the peer has consumed all. */
	if (READ_ONCE(lconn->rx_link) == move->from)
		smc_cdc_leave_rx_link(rconn);
	/* Without another link there was no connection; one that has come since looks itself. */
	if (lconn->sender.link == move->from && move->to)
		move_sender(rconn, move);
}
