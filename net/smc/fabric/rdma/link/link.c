// SPDX-License-Identifier: GPL-2.0
/* Creation and end of a link: protection domain, queue pair, completion queue. */
#include <linux/etherdevice.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include "../../../lock_class.h"
#include "../../../smc.h"
#include "link.h"
#include "queues.h"

/* Work requests in addition to the posts, in each direction: the marker for draining. */
#define EXTRA_WR	1

/* RFC 7609 messages have 44 bytes; version 2 adds longer ones, up to 8 KiB. */
#define RX_STRIDE	64
#define RX_LONG		SMC_LLC_V2_MAX_LEN

/* The receive buffers are one allocation, kept to a size that usually succeeds. */
#define RX_MEMORY	((u32)SZ_1M)

static atomic_t smc_link_uid;
const struct smc_link_ops *smc_link_owner_ops __ro_after_init;

#ifdef CONFIG_SMC_TEST
/* For tests: behave like a device that fails to initialise queue pairs. */
static int init_errno;
module_param(init_errno, int, 0600);
MODULE_PARM_DESC(init_errno, "positive errno with which each new queue pair fails; 0 for none");

/* For tests from a seed: soft-RoCE that tries again, because time has jumped, ends the link. */
static unsigned char ack_timeout = 18;
module_param(ack_timeout, byte, 0600);
MODULE_PARM_DESC(ack_timeout, "time for an acknowledgment of a device, 4096 ns << N");
#else
#define init_errno	0
#define ack_timeout	18
#endif

/* Some drivers return -EAGAIN when out of resources; here -EAGAIN makes a connection wait. */
static int device_errno(int rc)
{
	return rc == -EAGAIN ? -EBUSY : rc;
}

static void qp_event_work(struct work_struct *work)
{
	struct smc_link *link = container_of(work, struct smc_link, event_work);

	smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
}

/* Some drivers call this in a hard interrupt. */
static void qp_event(struct ib_event *event, void *context)
{
	struct smc_link *link = context;

	switch (event->event) {
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
	case IB_EVENT_PATH_MIG_ERR:
	case IB_EVENT_DEVICE_FATAL:
		queue_work(smc_link_wq, &link->event_work);
		break;
	default:
		break;
	}
}

#ifdef CONFIG_SMC_TEST
/* For tests, because soft-RoCE has neither such events nor interrupts. */
static bool fatal_event;
module_param(fatal_event, bool, 0600);
MODULE_PARM_DESC(fatal_event, "report a fatal event from an interrupt for each new queue pair");

static void event_irq(struct irq_work *work)
{
	struct smc_link *link = container_of(work, struct smc_link, test_irq);
	struct ib_event event = { .event = IB_EVENT_QP_FATAL };

	qp_event(&event, link);
}

static void test_init(struct smc_link *link)
{
	link->test_irq = IRQ_WORK_INIT_HARD(event_irq);
}

static void test_event(struct smc_link *link)
{
	if (fatal_event)
		irq_work_queue(&link->test_irq);
}

static void test_sync(struct smc_link *link)
{
	irq_work_sync(&link->test_irq);
}
#else
static inline void test_init(struct smc_link *link) { }
static inline void test_event(struct smc_link *link) { }
static inline void test_sync(struct smc_link *link) { }
#endif

static int create_qp(struct smc_link *link)
{
	struct ib_qp_init_attr init = {
		.event_handler	= qp_event,
		.qp_context	= link,
		.send_cq	= link->cq,
		.recv_cq	= link->cq,
		.sq_sig_type	= IB_SIGNAL_REQ_WR,
		.qp_type	= IB_QPT_RC,
		.cap = {
			.max_send_wr	 = link->n_tx * (SMC_LINK_WRITES + 1) +
					   EXTRA_WR,
			.max_recv_wr	 = link->n_rx + 1,
			.max_send_sge	 = 1,
			.max_recv_sge	 = link->rx_long ? 2 : 1,
			.max_inline_data = SMC_WR_MSG_LEN,
		},
	};
	struct ib_qp_attr attr = {
		.qp_state	 = IB_QPS_INIT,
		.port_num	 = link->path.port,
		.qp_access_flags = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
	int rc;

	link->qp = ib_create_qp(link->pd, &init);
	if (IS_ERR(link->qp)) {
		/* Not every device supports inline data. */
		init.cap.max_inline_data = 0;
		link->qp = ib_create_qp(link->pd, &init);
	}
	if (IS_ERR(link->qp)) {
		rc = PTR_ERR(link->qp);
		link->qp = NULL;
		return rc;
	}
	link->inline_max = init.cap.max_inline_data;
	rc = -init_errno ?:
	     ib_modify_qp(link->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			  IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	if (!rc)
		return 0;
	/* A queue pair in this state takes no posts, so smc_link_drain() could not drain it. */
	ib_destroy_qp(link->qp);
	link->qp = NULL;
	return rc;
}

/*
 * Set the number of posts and receive buffers within the limits of administrator and device. A
 * device that allows fewer than SMC_RDMA_MIN_WR work requests is not used.
 */
static void set_sizes(struct smc_link *link, const struct smc_link_attr *attr)
{
	const struct ib_device_attr *attrs = &link->path.dev->ibdev->attrs;
	u32 most = min_t(u32, attrs->max_qp_wr, attrs->max_cqe / 2);
	u32 n_tx;

	n_tx = min(attr->max_send_wr, (most - EXTRA_WR) / (SMC_LINK_WRITES + 1));
	link->n_tx = max(rounddown_pow_of_two(n_tx), 4u);
	link->n_rx = clamp(attr->max_recv_wr, 4u, min(most - 1, RX_MEMORY / link->rx_stride));
}

/**
 * smc_link_next_hop() - find the first hop of our frames
 * @link: with path, peer_gid and peer_mac set.  The MAC address of the peer may be zero: a
 *	Proposal of version 2 may leave it out, and the Confirm then carries it.
 *
 * Context: process, may sleep, but does not wait for the network.
 * Return: 0 on success; -EAGAIN if the MAC address of a gateway is not known yet, in which case
 * smc_link_ops.hop_changed is called when it might be; or another negative errno.
 */
int smc_link_next_hop(struct smc_link *link)
{
	if (!is_zero_ether_addr(link->peer_mac) && !is_valid_ether_addr(link->peer_mac))
		return -EHOSTUNREACH;
	return smc_rdma_hop_find(&link->hop, &link->path, &link->peer_gid);
}

static void hop_changed(struct smc_rdma_hop *hop)
{
	smc_link_owner_ops->hop_changed(container_of(hop, struct smc_link, hop));
}

/**
 * smc_link_set_ops() - set the functions of the owner of all links
 * @ops: the functions; set once, before there is any link
 *
 * Context: process, may sleep.
 */
void __init smc_link_set_ops(const struct smc_link_ops *ops)
{
	smc_link_owner_ops = ops;
	smc_msg_set_ops(ops);
}

/**
 * smc_link_init() - initialise the memory of a link, which several links may use in turn
 * @link: zeroed
 * @owner: becomes smc_link.owner
 *
 * Afterwards the link may be stopped, drained, destroyed and released even if it was never
 * created.
 */
void smc_link_init(struct smc_link *link, void *owner)
{
	link->owner = owner;
	smc_spin_lock_init(&link->tx_lock, SMC_LOCK_LINK_TX);
	INIT_LIST_HEAD(&link->tx_pending);
	INIT_LIST_HEAD(&link->regs);
	smc_rdma_hop_init(&link->hop, hop_changed);
	init_waitqueue_head(&link->tx_wait);
	INIT_WORK(&link->event_work, qp_event_work);
	smc_queues_init(link);
	test_init(link);
}

/* Clear the values that an earlier link in this memory may have left. */
static void reset(struct smc_link *link)
{
	link->state = SMC_LINK_UNUSED;
	link->tx_head = 0;
	link->tx_tail = 0;
	link->tx_unsignaled = 0;
	link->tx_long_busy = false;
	link->llc_head = 0;
	link->llc_tail = 0;
	link->rx_used = 0;
	link->peer_uid = 0;
	link->lost = false;
	link->confirmed = false;
	link->peer_knows = false;
	link->down_reason = 0;
	link->drained = false;
	link->tx_down = 0;
	link->hop.asked = false;
	link->hop.direct = false;
	link->last_rx = jiffies;
}

/**
 * smc_link_create() - make the half of a link that requires no peer
 * @link: initialised, and released if another link has used its memory before
 * @attr: attributes of the link
 *
 * The owner has set path, peer_gid and peer_mac.
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno; the caller must call smc_link_drain(), smc_link_destroy() and
 * smc_link_release() in either case.
 */
int smc_link_create(struct smc_link *link, const struct smc_link_attr *attr)
{
	struct ib_device *ibdev = link->path.dev->ibdev;
	int rc;

	reset(link);
	link->number = attr->number;
	link->uid = atomic_inc_return(&smc_link_uid);
	link->psn = get_random_u32() & 0xffffff;
	link->rx_stride = ibdev->attrs.max_recv_sge < 2 && attr->long_msgs ? RX_LONG : RX_STRIDE;
	set_sizes(link, attr);
	link->pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(link->pd)) {
		rc = PTR_ERR(link->pd);
		link->pd = NULL;
		return device_errno(rc);
	}
	rc = smc_msg_alloc(link, attr->long_msgs);
	if (!rc)
		rc = smc_cq_create(link, link->n_rx + link->n_tx * (SMC_LINK_WRITES + 1) +
				   2 * EXTRA_WR);
	if (!rc)
		rc = create_qp(link);
	if (!rc)
		rc = smc_msg_post_all(link);
	if (!rc)
		link->state = SMC_LINK_NEW;
	return device_errno(rc);
}

static int ready_to_receive(struct smc_link *link)
{
	struct ib_qp_attr attr = {
		.qp_state	    = IB_QPS_RTR,
		.path_mtu	    = min(link->path.mtu, link->peer_mtu),
		.dest_qp_num	    = link->peer_qpn,
		.rq_psn		    = link->peer_psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer	    = 8,	/* 160 us */
	};
	struct rdma_ah_attr *ah = &attr.ah_attr;

	ah->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(ah, link->path.port);
	rdma_ah_set_grh(ah, &link->peer_gid, 0, link->path.sgid_index,
			link->hop.direct ? 1 : 64, 0);
	memcpy(ah->roce.dmac, link->hop.direct ? link->peer_mac : link->hop.mac, ETH_ALEN);
	return ib_modify_qp(link->qp, &attr, IB_QP_STATE | IB_QP_AV |
			    IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			    IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
}

static int ready_to_send(struct smc_link *link)
{
	struct ib_qp_attr attr = {
		.qp_state	= IB_QPS_RTS,
		/*
		 * Seven tries of 4096 ns << 18, 1.07 s.  The peer notices a loss inside a message
		 * at once, so the timeout can be long enough not to mistake a slow machine for a
		 * loss.
		 */
		.timeout	= ack_timeout,
		.retry_cnt	= 6,
		/*
		 * Without limit.  The peer sets the delay between tries, mostly 160 us or less:
		 * six tries, the largest limit there is, would be over before a busy peer has
		 * posted its receive buffers again.  LLC timers decide what takes too long.
		 */
		.rnr_retry	= 7,
		.sq_psn		= link->psn,
		.max_rd_atomic	= 1,
	};

	return ib_modify_qp(link->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT |
			    IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
			    IB_QP_MAX_QP_RD_ATOMIC);
}

/**
 * smc_link_connect() - make the second half of a link, when the peer's half is known
 * @link: with peer_gid, peer_mac, peer_qpn, peer_psn and peer_mtu set, after smc_link_next_hop()
 *	has returned 0
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int smc_link_connect(struct smc_link *link)
{
	int rc = ready_to_receive(link);

	if (!rc)
		rc = ready_to_send(link);
	if (rc)
		return rc;
	spin_lock_bh(&link->tx_lock);
	if (link->state == SMC_LINK_NEW) {
		link->state = SMC_LINK_READY;
		link->tx_ready = true;
	} else {
		rc = -ENOLINK;
	}
	spin_unlock_bh(&link->tx_lock);
	test_event(link);
	return rc;
}

/**
 * smc_link_activate() - mark a link as confirmed
 * @link: the link; if it has gone down meanwhile, it stays down
 *
 * Context: any but hard interrupts.
 */
void smc_link_activate(struct smc_link *link)
{
	spin_lock_bh(&link->tx_lock);
	if (link->state == SMC_LINK_READY) {
		link->state = SMC_LINK_ACTIVE;
		link->confirmed = true;
	}
	spin_unlock_bh(&link->tx_lock);
}

/**
 * smc_link_down() - report that a link no longer works
 * @link: the link
 * @reason: SMC_LLC_DEL_*
 *
 * The first call tells the owner, which decides what follows and whether the link ends:
 * smc_lgr_link_down().
 *
 * Context: any but hard interrupts.
 */
void smc_link_down(struct smc_link *link, u32 reason)
{
	bool first;

	spin_lock_bh(&link->tx_lock);
	first = link->state != SMC_LINK_DOWN && link->state != SMC_LINK_UNUSED;
	link->tx_ready = false;
	if (first) {
		link->tx_down = link->tx_tail;
		link->lost = reason == SMC_LLC_DEL_LOST_PATH;
		link->down_reason = reason;
		link->state = SMC_LINK_DOWN;
	}
	spin_unlock_bh(&link->tx_lock);
	if (first)
		smc_link_owner_ops->down(link, __builtin_return_address(0));
}

/**
 * smc_link_stop() - end a link and flush what was posted
 * @link: the link, in any state; no other task makes or uses it any more
 * @until: how long to wait for outstanding posts to complete, in jiffies: at most
 *	SMC_LINK_STOP_TIME from now. The queue pair then flushes the rest
 *
 * Does not wait for the device, which gets its command in a work item.
 *
 * Context: process, sleeps; call it once only.
 */
void smc_link_stop(struct smc_link *link, unsigned long until)
{
	if (smc_link_works(link))
		wait_event_timeout(link->tx_wait, READ_ONCE(link->tx_tail) ==
				   READ_ONCE(link->tx_head), smc_time_left(until));
	spin_lock_bh(&link->tx_lock);
	link->tx_ready = false;
	if (link->state != SMC_LINK_UNUSED && link->state != SMC_LINK_DOWN) {
		link->tx_down = link->tx_tail;
		link->state = SMC_LINK_DOWN;
	}
	spin_unlock_bh(&link->tx_lock);
	if (link->qp)
		smc_queues_stop(link);
}

/**
 * smc_link_drain() - wait until nothing is sent or received any more
 * @link: the link, stopped
 * @until: how long to wait for the device to stop and flush, in jiffies: at most
 *	SMC_LINK_DRAIN_TIME from now. A tenth of a second is granted in any case
 *
 * Context: process, sleeps.
 * Return: true on success, false if the device has not flushed in time and may still be
 * processing posts, which keep their senders until smc_link_destroy().
 */
bool smc_link_drain(struct smc_link *link, unsigned long until)
{
	bool flushed = true;

	smc_rdma_hop_forget(&link->hop);
	spin_lock_bh(&link->tx_lock);
	link->tx_ready = false;
	link->state = SMC_LINK_DOWN;
	spin_unlock_bh(&link->tx_lock);
	/* It may be calling the owner, who may go when the link has been drained. */
	cancel_work_sync(&link->event_work);
	if (link->qp)
		flushed = smc_queues_drain(link, until);
	link->flushed = flushed;
	link->drained = true;
	return flushed;
}

/**
 * smc_link_failed() - give up a link that was never connected
 * @link: the link, which smc_link_create() may have left without queues; not connected
 *
 * The owner gets no call.  It stops, drains, destroys and releases the link.
 */
void smc_link_failed(struct smc_link *link)
{
	spin_lock_bh(&link->tx_lock);
	link->state = SMC_LINK_DOWN;
	spin_unlock_bh(&link->tx_lock);
}

/**
 * smc_link_destroy() - destroy the queues
 * @link: the link, drained, in @link->release_work
 *
 * Context: process, waits for the device without a limit.  Soft-RoCE waits for every packet that
 * its netdev still holds, which takes forever if the netdev is down.
 */
void smc_link_destroy(struct smc_link *link)
{
	if (link->qp)
		ib_destroy_qp(link->qp);
	link->qp = NULL;
	test_sync(link);
	cancel_work_sync(&link->event_work);
	smc_cq_destroy(link);
	/* Those that were not flushed. */
	smc_msg_retire_all(link);
	smc_msg_free(link);
}

/**
 * smc_link_release() - free the protection domain, when no memory is registered any more
 * @link: the link, destroyed
 *
 * The owner puts the path.
 */
void smc_link_release(struct smc_link *link)
{
	if (link->pd)
		ib_dealloc_pd(link->pd);
	link->pd = NULL;
}
