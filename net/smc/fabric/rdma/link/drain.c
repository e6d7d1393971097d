// SPDX-License-Identifier: GPL-2.0
/*
 * Drain a queue pair in limited time.
 *
 * ib_drain_qp() waits for the device without a limit, as ib_modify_qp() does, and applications
 * would wait with them.  Here the device gets SMC_LINK_DRAIN_TIME for both.  The command is given
 * in a work item of the device.  Later completions are ignored, and memory that the device may
 * still access is freed only after the queue pair has been destroyed, which does not begin before
 * the command has been carried out.
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

/* For tests: behave like a device whose commands hang. */
static bool hold_command;
module_param(hold_command, bool, 0600);
MODULE_PARM_DESC(hold_command, "keep the devices from stopping queue pairs until this is cleared");

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

static void marker_init(struct smc_link_marker *marker)
{
	marker->cqe.done = marker_done;
	init_completion(&marker->done);
}

/* Stop the queue pair, and post a marker behind everything else in each direction. */
static bool post_markers(struct smc_link *link)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct ib_rdma_wr send = { .wr.opcode = IB_WR_RDMA_WRITE };
	struct ib_recv_wr recv = {};

	send.wr.wr_cqe = &link->tx_marker.cqe;
	recv.wr_cqe = &link->rx_marker.cqe;
	return !ib_modify_qp(link->qp, &attr, IB_QP_STATE) &&
	       !ib_post_send(link->qp, &send.wr, NULL) &&
	       !ib_post_recv(link->qp, &recv, NULL);
}

static void stop_work(struct work_struct *work)
{
	struct smc_link *link = container_of(work, struct smc_link, stop_work);

	smc_test_hold(&hold_command);
	link->stop_failed = !post_markers(link);
	if (link->stop_failed)
		pr_warn_ratelimited("smc: %s: cannot stop a queue pair\n",
				    link->path.dev->ibdev->name);
	complete(&link->stopped);
	smc_link_queue_release(link);
}

/**
 * smc_queues_init() - initialise what stops the queues
 * @link: a new link
 */
void smc_queues_init(struct smc_link *link)
{
	INIT_WORK(&link->stop_work, stop_work);
	atomic_set(&link->n_stop, 1);
}

/**
 * smc_queues_stop() - have the device stop the queue pair, and then complete all posts
 * @link: the link, which posts nothing any more
 *
 * Context: any.
 */
void smc_queues_stop(struct smc_link *link)
{
	marker_init(&link->tx_marker);
	marker_init(&link->rx_marker);
	init_completion(&link->stopped);
	atomic_inc(&link->n_stop);
	smc_rdma_dev_queue_stop(link->path.dev, &link->stop_work);
}

/**
 * smc_link_queue_release() - queue smc_link.release_work, as soon as the queue pair is stopped
 * @link: the link, drained
 *
 * The owner calls this once.  The caller that comes last queues the work: that does not wait.
 *
 * Context: any.
 */
void smc_link_queue_release(struct smc_link *link)
{
	if (!atomic_dec_and_test(&link->n_stop))
		return;
	/* For the next link in this memory. */
	atomic_set(&link->n_stop, 1);
	smc_rdma_dev_queue(link->path.dev, &link->release_work);
}

/* How much of @left remains when the device has flushed, 0 if it does not. */
static unsigned long wait_flushed(struct smc_link *link, unsigned long left)
{
	left = wait_for_completion_timeout(&link->stopped, left);
	if (!left || link->stop_failed)
		return 0;
	left = wait_for_completion_timeout(&link->tx_marker.done, left);
	return left ? wait_for_completion_timeout(&link->rx_marker.done, left) : 0;
}

/**
 * smc_queues_drain() - wait until the device has completed everything that was posted
 * @link: the link, after smc_queues_stop()
 * @until: how long to wait for the device, in jiffies
 *
 * Context: process, sleeps.
 * Return: true on success, false if the device has not flushed in time.
 */
bool smc_queues_drain(struct smc_link *link, unsigned long until)
{
	bool flushed;

	smc_test_hold(&hold_drain);
	flushed = wait_flushed(link, max(smc_time_left(until), LEAST_TIME));
	if (!flushed) {
		pr_warn_ratelimited("smc: %s: a queue pair was not flushed in time\n",
				    link->path.dev->ibdev->name);
		smc_msg_ignore_all(link);
	} else {
		smc_msg_retire_all(link);
	}
	smc_msg_unqueue_all(link);
	return flushed;
}
