// SPDX-License-Identifier: GPL-2.0
/* Messages of a link: its send queue and its receive buffers. */
#include <linux/slab.h>
#include <linux/static_call.h>
#include "../../../smc.h"
#include "../../../test_hold.h"
#include "../../../wire/cdc.h"
#include "link.h"
#include "queues.h"

/* Room for the rest of the longest message. */
#define RX_LONG_ROOM	SMC_LLC_V2_MAX_LEN
/* Slots reserved for LLC, which data must not shut out. */
#define TX_RESERVED	2
/* How many used receive buffers are posted again at a time. */
#define RX_BATCH	16
/* How many senders are put at a time. */
#define GONE_BATCH	16

static void tx_done(struct ib_cq *cq, struct ib_wc *wc);
static void rx_done(struct ib_cq *cq, struct ib_wc *wc);

/* Functions of the owner that are called for every message. */
#define OWNER_CALL(op) \
	DEFINE_STATIC_CALL_NULL(smc_link_##op, *(((struct smc_link_ops *)NULL)->op))
OWNER_CALL(get);
OWNER_CALL(put);
OWNER_CALL(fill);
OWNER_CALL(rx_cdc);

void __init smc_msg_set_ops(const struct smc_link_ops *ops)
{
	static_call_update(smc_link_get, ops->get);
	static_call_update(smc_link_put, ops->put);
	static_call_update(smc_link_fill, ops->fill);
	static_call_update(smc_link_rx_cdc, ops->rx_cdc);
}

static struct ib_device *ibdev_of(const struct smc_link *link)
{
	return link->path.dev->ibdev;
}

static void *map_new(struct smc_link *link, size_t size,
		     enum dma_data_direction dir, u64 *dma)
{
	/* The device needs one block of memory.  Without it, the caller gives up the link. */
	void *p = kzalloc(size, SMC_GFP_CHARGED);

	if (!p)
		return NULL;
	*dma = ib_dma_map_single(ibdev_of(link), p, size, dir);
	if (ib_dma_mapping_error(ibdev_of(link), *dma)) {
		kfree(p);
		return NULL;
	}
	return p;
}

static void unmap_free(struct smc_link *link, void *p, size_t size,
		       enum dma_data_direction dir, u64 dma)
{
	if (p)
		ib_dma_unmap_single(ibdev_of(link), dma, size, dir);
	kfree(p);
}

/**
 * smc_msg_alloc() - allocate the memory for messages
 * @link: with n_tx, n_rx and rx_stride set
 * @long_msgs: allocate room for long messages, too
 *
 * Return: 0 or -ENOMEM; the caller must call smc_msg_free() in either case.
 */
int smc_msg_alloc(struct smc_link *link, bool long_msgs)
{
	bool rx_long = long_msgs && link->rx_stride < SMC_LLC_V2_MAX_LEN;
	u32 i;

	link->tx_slots = smc_alloc_array(link->n_tx, sizeof(*link->tx_slots));
	link->rx_slots = smc_alloc_array(link->n_rx, sizeof(*link->rx_slots));
	link->llc_msgs = smc_alloc_array(SMC_LINK_LLC_MSGS, sizeof(*link->llc_msgs));
	link->tx_msgs = map_new(link, link->n_tx * SMC_LINK_MSG_MAX, DMA_TO_DEVICE,
				&link->tx_dma);
	link->rx_msgs = map_new(link, link->n_rx * link->rx_stride,
				DMA_FROM_DEVICE, &link->rx_dma);
	if (rx_long)
		link->rx_long = map_new(link, RX_LONG_ROOM, DMA_FROM_DEVICE,
					&link->rx_long_dma);
	link->rx_max = link->rx_long ? SMC_LLC_V2_MAX_LEN : link->rx_stride;
	if (long_msgs)
		link->tx_long = map_new(link, SMC_LLC_V2_MAX_LEN, DMA_TO_DEVICE,
					&link->tx_long_dma);
	if (!link->tx_slots || !link->rx_slots || !link->tx_msgs ||
	    !link->rx_msgs || !link->llc_msgs || (rx_long && !link->rx_long) ||
	    (long_msgs && !link->tx_long))
		return -ENOMEM;
	for (i = 0; i < link->n_tx; i++) {
		link->tx_slots[i].cqe.done = tx_done;
		link->tx_slots[i].link = link;
	}
	for (i = 0; i < link->n_rx; i++) {
		link->rx_slots[i].cqe.done = rx_done;
		link->rx_slots[i].link = link;
	}
	return 0;
}

void smc_msg_free(struct smc_link *link)
{
	unmap_free(link, link->tx_msgs, link->n_tx * SMC_LINK_MSG_MAX,
		   DMA_TO_DEVICE, link->tx_dma);
	unmap_free(link, link->rx_msgs, link->n_rx * link->rx_stride,
		   DMA_FROM_DEVICE, link->rx_dma);
	unmap_free(link, link->rx_long, RX_LONG_ROOM, DMA_FROM_DEVICE,
		   link->rx_long_dma);
	unmap_free(link, link->tx_long, SMC_LLC_V2_MAX_LEN, DMA_TO_DEVICE, link->tx_long_dma);
	kvfree(link->tx_slots);
	kvfree(link->rx_slots);
	kvfree(link->llc_msgs);
	link->llc_msgs = NULL;
	link->tx_msgs = NULL;
	link->rx_msgs = NULL;
	link->rx_long = NULL;
	link->tx_long = NULL;
	link->tx_slots = NULL;
	link->rx_slots = NULL;
}

/* ---- sending ---- */

static bool __has_room(const struct smc_link *link, u32 reserved)
{
	lockdep_assert_held(&link->tx_lock);
	return link->n_tx - (link->tx_head - link->tx_tail) > reserved;
}

/* At least one post in each quarter of the send queue requests a completion. */
static bool __must_signal(const struct smc_link *link)
{
	lockdep_assert_held(&link->tx_lock);
	return link->tx_unsignaled >= link->n_tx / 4 - 1;
}

/* Post a message in the next slot, behind @n data writes. */
static int __post_msg(struct smc_link *link, struct ib_rdma_wr *writes, unsigned int n,
		      u32 len, struct smc_link_sender *sender, bool signaled)
{
	u32 idx = link->tx_head & (link->n_tx - 1);
	struct smc_tx_slot *slot = &link->tx_slots[idx];
	bool is_long = len > SMC_LINK_MSG_MAX;
	u8 *buf = is_long ? link->tx_long : link->tx_msgs + idx * SMC_LINK_MSG_MAX;
	u64 dma = is_long ? link->tx_long_dma : link->tx_dma + idx * SMC_LINK_MSG_MAX;
	struct ib_sge sge = { .addr = dma, .length = len, .lkey =
			      link->pd->local_dma_lkey };
	struct ib_send_wr send = {
		.opcode	    = IB_WR_SEND,
		/* The peer may have armed its completion queue for solicited events only. */
		.send_flags = IB_SEND_SOLICITED,
		.wr_cqe	    = &slot->cqe,
		.sg_list    = &sge,
		.num_sge    = 1,
	};
	unsigned int i;
	int err;

	lockdep_assert_held(&link->tx_lock);
	if (len <= link->inline_max) {
		send.send_flags |= IB_SEND_INLINE;
		sge.addr = (uintptr_t)buf;
	} else {
		ib_dma_sync_single_for_device(ibdev_of(link), dma, len,
					      DMA_TO_DEVICE);
	}
	signaled |= __must_signal(link);
	if (signaled)
		send.send_flags |= IB_SEND_SIGNALED;
	for (i = 0; i < n; i++)
		writes[i].wr.next = i + 1 < n ? &writes[i + 1].wr : &send;
	err = ib_post_send(link->qp, n ? &writes[0].wr : &send, NULL);
	if (err)
		return err;
	slot->sender = sender;
	slot->is_long = is_long;
	link->tx_head++;
	link->tx_unsignaled = signaled ? 0 : link->tx_unsignaled + 1;
	return 0;
}

static int __post_sender(struct smc_link *link, struct smc_link_sender *sender,
			 const struct smc_link_post *post)
{
	struct ib_rdma_wr writes[SMC_LINK_WRITES];
	struct ib_sge sges[SMC_LINK_WRITES];
	u32 idx = link->tx_head & (link->n_tx - 1);
	unsigned int i;

	lockdep_assert_held(&link->tx_lock);
	link->tx_slots[idx].seqno = post->seqno;
	for (i = 0; i < post->n_writes; i++) {
		bool in_line = post->len[i] <= link->inline_max;

		sges[i] = (struct ib_sge) {
			.addr	= in_line ? (uintptr_t)post->src[i] : post->dma[i],
			.length	= post->len[i],
			.lkey	= post->lkey,
		};
		writes[i] = (struct ib_rdma_wr) {
			.wr.opcode	= IB_WR_RDMA_WRITE,
			.wr.send_flags	= in_line ? IB_SEND_INLINE : 0,
			.wr.sg_list	= &sges[i],
			.wr.num_sge	= 1,
			.remote_addr	= post->dst[i],
			.rkey		= post->rkey,
		};
	}
	memcpy(link->tx_msgs + idx * SMC_LINK_MSG_MAX, post->msg, SMC_WR_MSG_LEN);
	return __post_msg(link, writes, post->n_writes, SMC_WR_MSG_LEN, sender, post->signaled);
}

/* References to drop once the lock is released. */
struct gone {
	unsigned int		n;
	struct smc_link_sender	*sender[GONE_BATCH];
};

static void put_gone(struct gone *gone)
{
	unsigned int i;

	for (i = 0; i < gone->n; i++)
		static_call(smc_link_put)(gone->sender[i]);
}

/*
 * Make as many posts for the pending senders as fit.  Each pending sender carries a
 * reference, which moves to its slot or to @gone.  Returns false if the device refused
 * a post.
 */
static bool __post_pending(struct smc_link *link, struct gone *gone)
{
	struct smc_link_sender *sender;
	struct smc_link_post post;

	lockdep_assert_held(&link->tx_lock);
	while (link->tx_ready && !list_empty(&link->tx_pending) &&
	       __has_room(link, TX_RESERVED) && gone->n < GONE_BATCH) {
		sender = list_first_entry(&link->tx_pending, struct smc_link_sender, pend);
		if (!static_call(smc_link_fill)(sender, &post)) {
			list_del_init(&sender->pend);
			gone->sender[gone->n++] = sender;
			continue;
		}
		if (unlikely(__post_sender(link, sender, &post)))
			return false;
		if (unlikely(post.more))
			static_call(smc_link_get)(sender);
		else
			list_del_init(&sender->pend);
	}
	return true;
}

static __always_inline struct smc_link *lock_link(struct smc_link_sender *sender)
	__acquires(&sender->link->tx_lock)
{
	struct smc_link *link;

	for (;;) {
		link = READ_ONCE(sender->link);
		spin_lock_bh(&link->tx_lock);
		if (likely(link == READ_ONCE(sender->link)))
			return link;
		spin_unlock_bh(&link->tx_lock);
	}
}

/**
 * smc_link_lock() - keep a sender on its link
 * @sender: the sender; the caller has a reference
 *
 * Context: any but hard interrupts.
 * Return: the link that the sender posts over until smc_link_unlock().
 */
struct smc_link *smc_link_lock(struct smc_link_sender *sender)
	__acquires(&sender->link->tx_lock)
{
	return lock_link(sender);
}

/**
 * smc_link_unlock() - undo smc_link_lock()
 * @link: what smc_link_lock() returned
 */
void smc_link_unlock(struct smc_link *link)
	__releases(&link->tx_lock)
{
	spin_unlock_bh(&link->tx_lock);
}

/* Post for the pending senders, and release tx_lock. */
static __always_inline void post_and_unlock(struct smc_link *link)
	__releases(&link->tx_lock)
{
	struct gone gone;
	bool ok;

	for (;;) {
		gone.n = 0;
		ok = __post_pending(link, &gone);
		spin_unlock_bh(&link->tx_lock);
		put_gone(&gone);
		if (likely(gone.n < GONE_BATCH))
			break;
		spin_lock_bh(&link->tx_lock);
	}
	if (unlikely(!ok))
		smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
}

/*
 * A link that is not ready queues nothing.  If it was ready and has failed, its senders move to
 * another link, and the task that moves them queues them there, after we release the lock.
 */
static __always_inline void queue_sender(struct smc_link_sender *sender, u8 force_update)
{
	struct smc_link *link = lock_link(sender);

	if (force_update)
		sender->force_update |= force_update;
	if (link->tx_ready && list_empty(&sender->pend)) {
		static_call(smc_link_get)(sender);
		list_add_tail(&sender->pend, &link->tx_pending);
	}
	post_and_unlock(link);
}

static int __post_reg(struct smc_link *link, struct smc_link_reg *reg)
{
	struct smc_tx_slot *slot = &link->tx_slots[link->tx_head & (link->n_tx - 1)];
	struct ib_reg_wr wr = {
		.wr.opcode	= IB_WR_REG_MR,
		.wr.send_flags	= IB_SEND_SIGNALED,
		.wr.wr_cqe	= &slot->cqe,
		.mr		= reg->mr,
		.key		= reg->mr->rkey,
		.access		= reg->access,
	};
	int err;

	lockdep_assert_held(&link->tx_lock);
	err = ib_post_send(link->qp, &wr.wr, NULL);
	if (err)
		return err;
	slot->sender = NULL;
	slot->reg = reg;
	slot->is_long = false;
	link->tx_head++;
	link->tx_unsignaled = 0;
	return 0;
}

static int __post_llc(struct smc_link *link, const u8 *buf, u32 len)
{
	u32 idx = link->tx_head & (link->n_tx - 1);

	lockdep_assert_held(&link->tx_lock);
	/* A long message is in tx_long already. */
	if (len <= SMC_LINK_MSG_MAX)
		memcpy(link->tx_msgs + idx * SMC_LINK_MSG_MAX, buf, len);
	return __post_msg(link, NULL, 0, len, NULL, true);
}

/*
 * LLC messages and registrations that did not fit are posted when earlier posts complete, before
 * any data: as long as one of them waits, the queue is full and has no room for data.
 */
static bool __something_kept(const struct smc_link *link)
{
	lockdep_assert_held(&link->tx_lock);
	return link->n_regs || link->llc_head != link->llc_tail;
}

/* Can another LLC message or registration be posted now, with nothing waiting before it? */
static bool __goes_at_once(const struct smc_link *link)
{
	lockdep_assert_held(&link->tx_lock);
	return !__something_kept(link) && __has_room(link, 0);
}

static int __keep_llc(struct smc_link *link, const u8 *buf, u32 len)
{
	struct smc_link_msg *msg;

	lockdep_assert_held(&link->tx_lock);
	if (link->llc_head - link->llc_tail == SMC_LINK_LLC_MSGS)
		return -ENOBUFS;
	msg = &link->llc_msgs[link->llc_head++ & (SMC_LINK_LLC_MSGS - 1)];
	if (len <= SMC_LINK_MSG_MAX)
		memcpy(msg->b, buf, len);
	msg->len = len;
	return 0;
}

/* Post registrations first, because an LLC message may name a region that they make valid. */
static int __post_kept(struct smc_link *link)
{
	struct smc_link_reg *reg;
	struct smc_link_msg *msg;
	int rc = 0;

	lockdep_assert_held(&link->tx_lock);
	while (!rc && link->tx_ready && link->n_regs && __has_room(link, 0)) {
		reg = list_first_entry(&link->regs, struct smc_link_reg, list);
		list_del_init(&reg->list);
		link->n_regs--;
		rc = __post_reg(link, reg);
	}
	while (!rc && link->tx_ready && link->llc_head != link->llc_tail && __has_room(link, 0)) {
		msg = &link->llc_msgs[link->llc_tail++ & (SMC_LINK_LLC_MSGS - 1)];
		rc = __post_llc(link, msg->b, msg->len);
	}
	return rc;
}

/**
 * smc_link_sent() - number of posts up to the last LLC message that was sent
 * @link: the link
 *
 * Return: the value that smc_link.tx_tail reaches when that message is complete.
 */
u32 smc_link_sent(struct smc_link *link)
{
	u32 sent;

	spin_lock_bh(&link->tx_lock);
	sent = link->tx_head + link->n_regs + link->llc_head - link->llc_tail;
	spin_unlock_bh(&link->tx_lock);
	return sent;
}

/**
 * smc_link_queue() - queue a sender that has something to post
 * @sender: the sender; the caller has a reference
 *
 * Context: any but hard interrupts.
 */
void smc_link_queue(struct smc_link_sender *sender)
{
	queue_sender(sender, 0);
}

/**
 * smc_link_queue_forced() - queue a sender even if neither its data nor its flags have changed
 * @sender: the sender; the caller has a reference
 * @force_update: bits for smc_link_sender.force_update
 */
void smc_link_queue_forced(struct smc_link_sender *sender, u8 force_update)
{
	queue_sender(sender, force_update);
}

static int __send_llc(struct smc_link *link, const u8 *buf, u32 len)
{
	lockdep_assert_held(&link->tx_lock);
	if (!link->tx_ready)
		return -ENOLINK;
	return __goes_at_once(link) ? __post_llc(link, buf, len) : __keep_llc(link, buf, len);
}

/**
 * smc_link_send() - send an LLC message
 * @link: the link
 * @buf: the message
 * @len: its length, at most SMC_LINK_MSG_MAX
 *
 * If the send queue is full, the message waits for room.  If too many messages wait already, the
 * peer no longer accepts any, and this one fails.
 *
 * Context: any but hard interrupts.
 * Return: 0, or a negative errno, after which the link must be considered down.
 */
int smc_link_send(struct smc_link *link, const u8 *buf, u32 len)
{
	int rc;

	spin_lock_bh(&link->tx_lock);
	rc = __send_llc(link, buf, len);
	spin_unlock_bh(&link->tx_lock);
	return rc;
}

#ifdef CONFIG_SMC_TEST
/* For tests: leave time to lose and release the link before a long message is sent. */
static bool hold_long_msg;
module_param(hold_long_msg, bool, 0600);
MODULE_PARM_DESC(hold_long_msg, "keep long LLC messages until this is cleared");
#endif

static int __send_long(struct smc_link *link, const u8 *buf, u32 len)
{
	int rc;

	lockdep_assert_held(&link->tx_lock);
	/* A link that is not ready may have been released, with its memory and its device. */
	if (!link->tx_ready)
		return -ENOLINK;
	if (link->tx_long_busy)
		return -EBUSY;
	memcpy(link->tx_long, buf, len);
	rc = __send_llc(link, buf, len);
	link->tx_long_busy = !rc;
	return rc;
}

/**
 * smc_link_send_long() - send an LLC message of any length
 * @link: the link, created with smc_link_attr.long_msgs
 * @buf: the message
 * @len: its length, at most SMC_LLC_V2_MAX_LEN
 *
 * At most one message longer than SMC_LINK_MSG_MAX is outstanding: long messages are parts of
 * exchanges in which the peer answers one before we send the next.
 *
 * Context: process, may sleep in test builds.
 * Return: 0; -EBUSY if the previous long message is not complete yet; or another negative errno,
 * after which the link must be considered down.
 */
int smc_link_send_long(struct smc_link *link, const u8 *buf, u32 len)
{
	int rc;

	if (len <= SMC_LINK_MSG_MAX)
		return smc_link_send(link, buf, len);
	smc_test_hold(&hold_long_msg);
	spin_lock_bh(&link->tx_lock);
	rc = __send_long(link, buf, len);
	spin_unlock_bh(&link->tx_lock);
	return rc;
}

/**
 * smc_link_register() - register a memory region with the device of a link
 * @link: connected
 * @reg: the region; must not be changed or freed until the link is drained
 *
 * Does not wait for the device.  The device processes posts in order, so later posts may use the
 * region, and the peer cannot learn of it over this link before it is valid.  If the device
 * refuses the region, the link goes down.
 *
 * Context: any but hard interrupts.
 * Return: 0 or -ENOLINK.
 */
int smc_link_register(struct smc_link *link, struct smc_link_reg *reg)
{
	int rc = -ENOLINK;

	spin_lock_bh(&link->tx_lock);
	if (link->tx_ready && __goes_at_once(link)) {
		rc = __post_reg(link, reg);
	} else if (link->tx_ready) {
		list_add_tail(&reg->list, &link->regs);
		link->n_regs++;
		rc = 0;
	}
	spin_unlock_bh(&link->tx_lock);
	return rc ? -ENOLINK : 0;
}

/* Retire a post without a sender; @acked by the peer's device.  True if a region is valid now. */
static bool __retire_other(struct smc_link *link, struct smc_tx_slot *slot, bool acked)
{
	struct smc_link_reg *reg = slot->reg;

	lockdep_assert_held(&link->tx_lock);
	if (slot->is_long)
		link->tx_long_busy = false;
	slot->reg = NULL;
	if (!reg || !acked)
		return false;
	WRITE_ONCE(reg->valid, true);
	return true;
}

/*
 * Retire all posts before @end, which are complete (@acked: the peer's device has acknowledged
 * them), and post what there is room for now.  Returns true if a region has become valid.
 */
static bool retire_posts(struct smc_link *link, u32 end, bool acked)
{
	bool more, valid = false;
	struct smc_tx_slot *slot;
	struct gone gone;
	int rc = 0;

	do {
		gone.n = 0;
		spin_lock_bh(&link->tx_lock);
		while (link->tx_tail != end && gone.n < GONE_BATCH) {
			slot = &link->tx_slots[link->tx_tail++ & (link->n_tx - 1)];
			if (unlikely(!slot->sender)) {
				valid |= __retire_other(link, slot, acked);
				continue;
			}
			if (likely(acked))
				slot->sender->acked = slot->seqno;
			gone.sender[gone.n++] = slot->sender;
			slot->sender = NULL;
		}
		more = link->tx_tail != end;
		if (unlikely(__something_kept(link)))
			rc = __post_kept(link);
		spin_unlock_bh(&link->tx_lock);
		put_gone(&gone);
	} while (more);
	if (unlikely(rc))
		smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
	if (!list_empty(&link->tx_pending)) {
		spin_lock_bh(&link->tx_lock);
		post_and_unlock(link);
	} else if (unlikely(wq_has_sleeper(&link->tx_wait))) {
		wake_up(&link->tx_wait);
	}
	return valid;
}

static void tx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smc_tx_slot *slot = container_of(wc->wr_cqe, struct smc_tx_slot, cqe);
	struct smc_link *link = slot->link;
	u32 idx = slot - link->tx_slots;
	u32 ahead;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		/*
		 * The other posts are retired when the queue has been drained.  A flushed post
		 * may be the only sign of a queue pair that has failed.
		 */
		smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
		return;
	}
	/* How far is the slot ahead of the tail?  Nothing else moves the tail meanwhile. */
	ahead = (idx - link->tx_tail) & (link->n_tx - 1);
	/* Before the link is active, only LLC messages and registrations are posted. */
	if (unlikely(retire_posts(link, link->tx_tail + ahead + 1, true) ||
		     READ_ONCE(link->state) == SMC_LINK_READY))
		smc_link_owner_ops->sent(link);
}

static void ignore_done(struct ib_cq *cq, struct ib_wc *wc)
{
}

/**
 * smc_msg_ignore_all() - ignore late completions, as the device has not flushed in time
 * @link: the link, which posts no more
 *
 * Context: process, may sleep.  Afterwards no completion function of a slot runs any more.
 */
void smc_msg_ignore_all(struct smc_link *link)
{
	u32 i;

	for (i = 0; i < link->n_tx; i++)
		WRITE_ONCE(link->tx_slots[i].cqe.done, ignore_done);
	for (i = 0; i < link->n_rx; i++)
		WRITE_ONCE(link->rx_slots[i].cqe.done, ignore_done);
	/* The completion functions run in softirqs, which are RCU read-side sections. */
	synchronize_rcu();
}

/**
 * smc_msg_retire_all() - retire all posts when the device is done with them
 * @link: the link, which posts no more; flushed or without a queue pair
 *
 * Until then each post keeps its sender, and with it the memory that the post reads.
 */
void smc_msg_retire_all(struct smc_link *link)
{
	retire_posts(link, link->tx_head, false);
}

/**
 * smc_msg_unqueue_all() - forget what waits for room in the send queue
 * @link: the link, which posts no more
 */
void smc_msg_unqueue_all(struct smc_link *link)
{
	struct smc_link_sender *sender;
	struct gone gone;

	/* The regions are freed next. */
	spin_lock_bh(&link->tx_lock);
	INIT_LIST_HEAD(&link->regs);
	link->n_regs = 0;
	spin_unlock_bh(&link->tx_lock);
	do {
		gone.n = 0;
		spin_lock_bh(&link->tx_lock);
		while (!list_empty(&link->tx_pending) && gone.n < GONE_BATCH) {
			sender = list_first_entry(&link->tx_pending, struct smc_link_sender,
						  pend);
			list_del_init(&sender->pend);
			gone.sender[gone.n++] = sender;
		}
		spin_unlock_bh(&link->tx_lock);
		put_gone(&gone);
	} while (gone.n);
}

/* ---- receiving ---- */

static void describe_rx(struct smc_link *link, u32 idx)
{
	struct smc_rx_slot *slot = &link->rx_slots[idx];
	u32 lkey = link->pd->local_dma_lkey;

	slot->sge[0] = (struct ib_sge) {
		.addr	= link->rx_dma + idx * link->rx_stride,
		.length	= link->rx_stride,
		.lkey	= lkey,
	};
	slot->sge[1] = (struct ib_sge) {
		.addr	= link->rx_long_dma,
		.length	= RX_LONG_ROOM,
		.lkey	= lkey,
	};
	slot->wr = (struct ib_recv_wr) {
		.wr_cqe	 = &slot->cqe,
		.sg_list = slot->sge,
		.num_sge = link->rx_long ? 2 : 1,
	};
}

/* Post @n receive buffers, from @first on, in one list. */
static int post_rx(struct smc_link *link, u32 first, u32 n)
{
	struct ib_recv_wr *wr, *next = NULL;
	u32 i;

	for (i = n; i--; next = wr) {
		wr = &link->rx_slots[(first + i) % link->n_rx].wr;
		wr->next = next;
	}
	return ib_post_recv(link->qp, next, NULL);
}

/**
 * smc_msg_post_all() - post all receive buffers
 * @link: with a new queue pair
 *
 * Return: 0 or a negative errno.
 */
int smc_msg_post_all(struct smc_link *link)
{
	u32 i;

	for (i = 0; i < link->n_rx; i++)
		describe_rx(link, i);
	return post_rx(link, 0, link->n_rx);
}

/* A message that continues in the memory that all buffers share; only LLC has such messages. */
static void rx_long_msg(struct smc_link *link, const u8 *head, u32 len)
{
	u8 *buf;

	/* Copy the message once before parsing it: the peer may write there again. */
	buf = kmalloc(len, GFP_ATOMIC | __GFP_NOWARN);
	if (!buf)
		return;		/* the sender will miss our answer */
	ib_dma_sync_single_for_cpu(ibdev_of(link), link->rx_long_dma,
				   RX_LONG_ROOM, DMA_FROM_DEVICE);
	memcpy(buf, head, link->rx_stride);
	memcpy(buf + link->rx_stride, link->rx_long, len - link->rx_stride);
	smc_link_owner_ops->rx_llc(link, buf, len);
	kfree(buf);
}

/*
 * Does a successful completion mean that the peer has sent a message?  LLC and CDC messages are
 * sends (RoCE SendMsg, RFC 7609, A.3 and A.4).  Immediate data beside them are ignored: the RFC
 * gives them no meaning, and does not forbid them.
 */
static bool is_message(const struct ib_wc *wc)
{
	return wc->opcode == IB_WC_RECV && !(wc->wc_flags & IB_WC_WITH_INVALIDATE);
}

/*
 * The peer has used up a receive buffer without sending a message.  The content of the buffer is
 * old, or not meant for us, and is never looked at.
 *
 * An RDMA write with immediate data is allowed: the RFC says that the alert token is added to
 * writes as immediate data (A.2.3, A.2.4), although its data flows do without (4.7).  Such a write
 * has no cursors, and a CDC message that has them must follow (A.4), so there is nothing to do yet.
 * As in a CDC message, an unknown token is not an error: the connection may have ended here.
 *
 * Everything else takes the link down.  A send with invalidate revokes a key of ours; in SMC-R that
 * is done by DELETE RKEY, and only the owner of the key does it.
 */
static void rx_other(struct smc_link *link, const struct ib_wc *wc)
{
	if (wc->opcode != IB_WC_RECV_RDMA_WITH_IMM)
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
}

/* The length is checked against what was posted: without rx_long, no message is long. */
static void rx_msg(struct smc_link *link, const u8 *buf, u32 len)
{
	if (likely(len == SMC_WR_MSG_LEN && smc_is_cdc(buf[0])))
		static_call(smc_link_rx_cdc)(link, buf, len);
	else if (len > link->rx_max)
		smc_link_down(link, SMC_LLC_DEL_PROTOCOL);
	else if (len > link->rx_stride)
		rx_long_msg(link, buf, len);
	else
		smc_link_owner_ops->rx_llc(link, buf, len);
}

/* Completions of receive buffers come in the order in which they were posted. */
static void rx_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smc_rx_slot *slot = container_of(wc->wr_cqe, struct smc_rx_slot, cqe);
	struct smc_link *link = slot->link;
	u32 idx = slot - link->rx_slots;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
		return;
	}
	WRITE_ONCE(link->last_rx, jiffies);
	if (likely(is_message(wc))) {
		ib_dma_sync_single_for_cpu(ibdev_of(link), link->rx_dma +
					   idx * link->rx_stride, link->rx_stride,
					   DMA_FROM_DEVICE);
		rx_msg(link, link->rx_msgs + idx * link->rx_stride, wc->byte_len);
	} else {
		rx_other(link, wc);
	}
	if (++link->rx_used < min_t(u32, RX_BATCH, link->n_rx / 4))
		return;
	if (post_rx(link, idx + link->n_rx + 1 - link->rx_used, link->rx_used))
		smc_link_down(link, SMC_LLC_DEL_LOST_PATH);
	link->rx_used = 0;
}
