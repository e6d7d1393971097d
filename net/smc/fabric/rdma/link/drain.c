// SPDX-License-Identifier: GPL-2.0
/*
 * Drain a queue pair in limited time.
 *
 * ib_drain_qp() waits for the device without a limit, and applications would wait with it.  Here
 * the device gets SMC_LINK_DRAIN_TIME.  Later completions are ignored, and memory that the device
 * may still access is freed only after the queue pair has been destroyed.
 */
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include "../../../test_hold.h"
#include "link.h"
#include "queues.h"

/* A device that has just flushed another link slowly, or not at all, still gets this much time. */
#define LEAST_TIME	(HZ / 10)

#ifdef CONFIG_SMC_TEST
/* For tests: behave as if the device never flushed. */
static bool never_drained;
module_param(never_drained, bool, 0600);
MODULE_PARM_DESC(never_drained, "treat queue pairs as if the device never flushed them");

/* For tests: behave like a device that takes its time to flush. */
static bool hold_drain;
module_param(hold_drain, bool, 0600);
MODULE_PARM_DESC(hold_drain, "keep queue pairs from being flushed until this is cleared");
#else
#define never_drained	false
#endif

static void marker_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smc_link_marker *marker = container_of(wc->wr_cqe, struct smc_link_marker, cqe);

	if (!never_drained)
		complete(&marker->done);
}

static struct ib_cqe *marker_init(struct smc_link_marker *marker)
{
	marker->cqe.done = marker_done;
	init_completion(&marker->done);
	return &marker->cqe;
}

/* Post a marker behind everything else in each direction.  Returns false if the device refuses. */
static bool post_markers(struct smc_link *link)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct ib_rdma_wr send = { .wr.opcode = IB_WR_RDMA_WRITE };
	struct ib_recv_wr recv = {};

	send.wr.wr_cqe = marker_init(&link->tx_marker);
	recv.wr_cqe = marker_init(&link->rx_marker);
	return !ib_modify_qp(link->qp, &attr, IB_QP_STATE) &&
	       !ib_post_send(link->qp, &send.wr, NULL) &&
	       !ib_post_recv(link->qp, &recv, NULL);
}

/**
 * smc_queues_drain() - have the device complete everything that was posted
 * @link: the link, which posts nothing any more
 * @until: how long to wait for the device, in jiffies
 *
 * Context: process, sleeps.
 * Return: true on success, false if the device has not flushed in time.
 */
bool smc_queues_drain(struct smc_link *link, unsigned long until)
{
	unsigned long left = 0;

	smc_test_hold(&hold_drain);
	if (post_markers(link))
		left = wait_for_completion_timeout(&link->tx_marker.done,
						   max(smc_time_left(until), LEAST_TIME));
	if (left)
		left = wait_for_completion_timeout(&link->rx_marker.done, left);
	if (!left) {
		pr_warn_ratelimited("smc: %s: a queue pair was not flushed in time\n",
				    link->path.dev->ibdev->name);
		smc_msg_ignore_all(link);
	} else {
		smc_msg_retire_all(link);
	}
	smc_msg_unqueue_all(link);
	return left;
}
