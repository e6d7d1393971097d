/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An SMC-R link: a reliably connected queue pair between two RNICs, the messages
 * that travel over it, and the RDMA writes of its connections (RFC 7609, 2.2).
 *
 * No task waits for room in the send queue.  A connection that has something to send is
 * put on the link's list; the task that holds tx_lock posts what fits, and completions
 * post the rest.  Data that a sender adds in the meantime goes out with the same post.
 *
 * A link knows nothing of link groups and connections.  It calls its owner through
 * struct smc_link_ops.
 */
#ifndef SMC_RDMA_LINK_H
#define SMC_RDMA_LINK_H

#include <linux/etherdevice.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "../../../wire/llc.h"
#include "../ib/dev.h"

struct smc_link;

/* The longest message that fits in a slot of the send queue. */
#define SMC_LINK_MSG_MAX	128
/* Data writes of one post: two, because the sender's ring may wrap. */
#define SMC_LINK_WRITES		2

/* How long a link that ends waits for its last messages to be acknowledged, in jiffies. */
#define SMC_LINK_STOP_TIME	HZ

/* How long a device may take to stop and flush a queue pair, in jiffies. */
#define SMC_LINK_DRAIN_TIME	(2 * HZ)

enum smc_link_state {
	SMC_LINK_UNUSED,
	SMC_LINK_NEW,		/* the queue pair exists */
	SMC_LINK_READY,		/* connected, not confirmed */
	SMC_LINK_ACTIVE,
	SMC_LINK_DOWN,
};

/**
 * struct smc_link_sender - source of data and CDC messages, part of a connection
 * @link:	the link that the sender posts over.  Set before the sender is published; after that
 *		the owner may change it under the tx_lock of the link that the sender leaves
 * @pend:	entry in smc_link.tx_pending; protected, like the members below, by that link's
 *		tx_lock
 * @force_update: bits that force a message even if nothing else has changed; smc_link_ops.fill
 *		clears them
 * @acked:	smc_link_post.seqno of the last post that the peer's device has acknowledged
 *
 * smc_link_lock() locks the sender's link: it takes the link's tx_lock and then checks that the
 * sender has not moved.  It may briefly lock a link that the sender has just left, which is safe
 * because a link is part of its owner, which outlives the senders.
 */
struct smc_link_sender {
	struct smc_link		*link;
	struct list_head	pend;
	u8			force_update;
	u16			acked;
};

/**
 * struct smc_link_reg - a memory region to register with the device
 * @list:	entry in smc_link.regs while it waits for room in the send queue; under tx_lock
 * @mr:		the region, mapped with ib_map_mr_sg()
 * @access:	IB_ACCESS_*
 * @valid:	the device has completed the registration; smc_link_ops.sent is called next
 */
struct smc_link_reg {
	struct list_head	list;
	struct ib_mr		*mr;
	int			access;
	bool			valid;
};

/**
 * struct smc_tx_slot - one post: data writes and a message
 * @cqe:	completion, if one was requested
 * @link:	the link
 * @sender:	the sender that posts, referenced; NULL for LLC and registrations
 * @reg:	the region that is being registered, or NULL
 * @seqno:	smc_link_post.seqno
 * @is_long:	the message is in smc_link.tx_long
 */
struct smc_tx_slot {
	struct ib_cqe		cqe;
	struct smc_link		*link;
	struct smc_link_sender	*sender;
	struct smc_link_reg	*reg;
	u16			seqno;
	bool			is_long;
};

/**
 * struct smc_rx_slot - a posted receive buffer
 * @cqe:	completion
 * @link:	the link
 * @wr:		work request, the same each time the buffer is posted
 * @sge:	the buffer's own memory, then the memory that all buffers share for long messages
 */
struct smc_rx_slot {
	struct ib_cqe		cqe;
	struct smc_link		*link;
	struct ib_recv_wr	wr;
	struct ib_sge		sge[2];
};

/**
 * struct smc_link_marker - the last post of one direction
 * @cqe:	its completion
 * @done:	completed when this post and all earlier ones are complete
 */
struct smc_link_marker {
	struct ib_cqe		cqe;
	struct completion	done;
};

/* How many LLC messages may wait for room in the send queue; a power of two. */
#define SMC_LINK_LLC_MSGS	16

/**
 * struct smc_link_msg - an LLC message that waits for room in the send queue
 * @len:	its length, bytes
 * @b:		the message
 */
struct smc_link_msg {
	u16	len;
	u8	b[SMC_LINK_MSG_MAX];
};

/**
 * struct smc_link - a link
 * @owner:	the owner, for the functions of smc_link_ops
 * @state:	enum smc_link_state
 * @number:	link number that the server assigned, 1 for the first link
 * @uid:	our ID of the link, for display
 * @peer_uid:	the peer's ID of the link
 * @path:	our end; the owner sets and puts it
 * @pd:		protection domain, which lets only this peer access our RMBs
 * @cq:		completion queue of both directions
 * @cq_handler:	the RDMA core's completion handler of @cq
 * @cq_irq:	calls @cq_handler if the device reports completions outside of interrupts
 * @event_work:	takes the link down after an event of the queue pair
 * @stop_work:	stops the queue pair, in a work queue of the device
 * @stopped:	completed when the device has stopped the queue pair, or has failed to
 * @stop_failed: valid then: it has failed to
 * @n_stop:	number of things that have to be done before @release_work is queued: @stop_work,
 *		and the owner's smc_link_queue_release()
 * @release_work: the owner's work item that destroys and releases the link, queued once nothing
 *		waits for it and it waits for nothing
 * @test_irq:	test builds: raises an event of the queue pair
 * @qp:		the queue pair
 * @psn:	our initial packet sequence number
 * @hop:	first hop of our frames
 * @peer_qpn:	number of the peer's queue pair
 * @peer_psn:	the peer's initial packet sequence number
 * @peer_mtu:	the peer's MTU, enum ib_mtu
 * @peer_mac:	the peer's MAC address, as the peer has sent it
 * @peer_gid:	the peer's GID
 * @inline_max:	maximum inline payload, bytes
 * @tx_lock:	protects the send queue, the members below; any context
 * @tx_ready:	posting is possible: the link is connected and not down
 * @tx_pending:	struct smc_link_sender that have something to send
 * @tx_slots:	ring of posts
 * @n_tx:	number of @tx_slots, a power of two
 * @tx_head:	count of posts made
 * @tx_tail:	count of posts known to be complete
 * @tx_unsignaled: number of posts since the last one that requested a completion
 * @tx_msgs:	messages, SMC_LINK_MSG_MAX bytes for each slot
 * @tx_dma:	DMA address of @tx_msgs
 * @tx_long:	one message longer than SMC_LINK_MSG_MAX; NULL without smc_link_attr.long_msgs
 * @tx_long_dma: DMA address of @tx_long
 * @tx_long_busy: the message in @tx_long is not complete yet
 * @tx_wait:	smc_link_stop() waits here until all posts are complete
 * @regs:	struct smc_link_reg that wait for room in the send queue
 * @n_regs:	number of entries in @regs
 * @llc_msgs:	ring of LLC messages that wait for room in the send queue, posted after @regs
 * @llc_head:	count of messages put into @llc_msgs
 * @llc_tail:	count of messages taken from @llc_msgs and posted
 * @rx_slots:	receive buffers
 * @n_rx:	number of @rx_slots
 * @rx_used:	number of receive buffers that must be posted again
 * @rx_stride:	bytes of each receive buffer
 * @rx_max:	longest message that the receive buffers have room for, bytes
 * @rx_msgs:	memory of the receive buffers
 * @rx_dma:	DMA address of @rx_msgs
 * @rx_long:	receives the rest of a long message, shared by all buffers; NULL if
 *		@rx_stride has room for it
 * @rx_long_dma: DMA address of @rx_long
 * @last_rx:	jiffies of the last message received, for the keepalive
 * @lost:	the link is down because a message could not be sent or received
 * @down_reason: SMC_LLC_DEL_* of the first smc_link_down()
 * @confirmed:	the link has been active
 * @peer_knows:	the peer has announced that the link is down, or has never heard of it
 * @drained:	smc_link_drain() is done with the link
 * @flushed:	result of smc_link_drain()
 * @tx_down:	value of @tx_tail when the link went down
 * @tx_marker:	marker in the send queue, for smc_link_drain()
 * @rx_marker:	marker in the receive queue
 */
struct smc_link {
	void			*owner;
	u8			state;
	u8			number;
	u32			uid;
	u32			peer_uid;
	struct smc_rdma_path	path;
	struct ib_pd		*pd;
	struct ib_cq		*cq;
	ib_comp_handler		cq_handler;
	struct irq_work		cq_irq;
	struct work_struct	event_work;
	struct work_struct	stop_work;
	struct completion	stopped;
	bool			stop_failed;
	atomic_t		n_stop;
	struct work_struct	release_work;
#ifdef CONFIG_SMC_TEST
	struct irq_work		test_irq;
#endif
	struct ib_qp		*qp;
	u32			psn;
	struct smc_rdma_hop	hop;
	u32			peer_qpn;
	u32			peer_psn;
	u8			peer_mtu;
	u8			peer_mac[ETH_ALEN];
	union ib_gid		peer_gid;
	u32			inline_max;

	spinlock_t		tx_lock ____cacheline_aligned_in_smp;
	bool			tx_ready;
	struct list_head	tx_pending;
	struct smc_tx_slot	*tx_slots;
	u32			n_tx;
	u32			tx_head;
	u32			tx_tail;
	u32			tx_unsignaled;
	u8			*tx_msgs;
	u64			tx_dma;
	u8			*tx_long;
	u64			tx_long_dma;
	bool			tx_long_busy;
	wait_queue_head_t	tx_wait;
	struct list_head	regs;
	u32			n_regs;
	struct smc_link_msg	*llc_msgs;
	u32			llc_head;
	u32			llc_tail;

	struct smc_rx_slot	*rx_slots ____cacheline_aligned_in_smp;
	u32			n_rx;
	u32			rx_used;
	u32			rx_stride;
	u32			rx_max;
	u8			*rx_msgs;
	u64			rx_dma;
	u8			*rx_long;
	u64			rx_long_dma;
	unsigned long		last_rx;
	bool			lost;
	bool			confirmed;
	bool			peer_knows;
	bool			drained;
	bool			flushed;
	u32			down_reason;
	u32			tx_down;
	struct smc_link_marker	tx_marker;
	struct smc_link_marker	rx_marker;
};

/**
 * struct smc_link_post - a post of a connection
 * @n_writes:	data writes, 0 to SMC_LINK_WRITES
 * @src:	data to write, kernel address
 * @dma:	DMA address of @src
 * @len:	length, bytes
 * @lkey:	local key of @dma
 * @dst:	address at the peer
 * @rkey:	remote key of @dst
 * @msg:	the CDC message
 * @seqno:	becomes smc_link_sender.acked when the peer's device has acknowledged the post
 * @signaled:	request a completion: the connection ends, and no later post would request it
 * @more:	the sender has another post to make immediately
 */
struct smc_link_post {
	unsigned int		n_writes;
	const u8		*src[SMC_LINK_WRITES];
	u64			dma[SMC_LINK_WRITES];
	u32			len[SMC_LINK_WRITES];
	u32			lkey;
	u64			dst[SMC_LINK_WRITES];
	u32			rkey;
	u8			msg[SMC_WR_MSG_LEN];
	u16			seqno;
	bool			signaled;
	bool			more;
};

/**
 * struct smc_link_ops - calls from a link to its owner
 * @get:	take a reference to a sender, for its place in the list or for a post
 * @put:	drop that reference; called without a lock
 * @fill:	fill in the next post of a sender; false if there is none.  Under tx_lock.
 * @rx_cdc:	a CDC message has arrived
 * @rx_llc:	an LLC message has arrived
 * @sent:	posts of a link that is not active yet are complete, or a region is valid
 * @down:	the link has failed, as noticed at code address @caller; called once
 * @hop_changed: call smc_link_next_hop(), which returned -EAGAIN, again; from a work item
 *
 * @get, @put, @fill and @rx_cdc are called for every message.  They are static calls, as cheap as
 * direct calls on architectures that patch them.
 *
 * Context: any but hard interrupts; @rx_cdc, @rx_llc and @sent run in the completion handler of
 * the link, which never runs concurrently with itself.
 */
struct smc_link_ops {
	void (*get)(struct smc_link_sender *sender);
	void (*put)(struct smc_link_sender *sender);
	bool (*fill)(struct smc_link_sender *sender, struct smc_link_post *post);
	void (*rx_cdc)(struct smc_link *link, const u8 *buf, size_t len);
	void (*rx_llc)(struct smc_link *link, const u8 *buf, size_t len);
	void (*sent)(struct smc_link *link);
	void (*down)(struct smc_link *link, void *caller);
	void (*hop_changed)(struct smc_link *link);
};

/**
 * struct smc_link_attr - attributes of a new link
 * @number:	link number that the server assigned, 1 for the first link
 * @max_send_wr: maximum number of outstanding posts; fewer if the device has a lower limit
 * @max_recv_wr: number of receive buffers, limited in the same way
 * @long_msgs:	the long LLC messages of version 2 may be sent and received
 */
struct smc_link_attr {
	u8	number;
	u32	max_send_wr;
	u32	max_recv_wr;
	bool	long_msgs;
};

/* Does this hold a link, live or down?  A link that is down stays until another replaces it. */
static inline bool smc_link_exists(const struct smc_link *link)
{
	return READ_ONCE(link->state) != SMC_LINK_UNUSED;
}

/* Does the link have queues, and is it not down? */
static inline bool smc_link_alive(const struct smc_link *link)
{
	u8 state = READ_ONCE(link->state);

	return state != SMC_LINK_UNUSED && state != SMC_LINK_DOWN;
}

/* Can the link send? */
static inline bool smc_link_works(const struct smc_link *link)
{
	u8 state = READ_ONCE(link->state);

	return state == SMC_LINK_READY || state == SMC_LINK_ACTIVE;
}

/* Do two links use the same RNIC port of ours? */
static inline bool smc_link_same_port(const struct smc_link *a, const struct smc_link *b)
{
	return a->path.dev == b->path.dev && a->path.port == b->path.port;
}

/* Do two links lead to the same RNIC port of the peer? */
static inline bool smc_link_same_peer_port(const struct smc_link *a, const struct smc_link *b)
{
	return !memcmp(&a->peer_gid, &b->peer_gid, sizeof(a->peer_gid));
}

/* Rejects reserved queue pair numbers, and MAC addresses that are zero or multicast. */
static inline bool smc_link_peer_valid(u32 qpn, const u8 *mac)
{
	return qpn >= 2 && qpn != 0xffffff && is_valid_ether_addr(mac);
}

void smc_link_set_ops(const struct smc_link_ops *ops);
void smc_link_init(struct smc_link *link, void *owner);
int smc_link_create(struct smc_link *link, const struct smc_link_attr *attr);
int smc_link_next_hop(struct smc_link *link);
int smc_link_connect(struct smc_link *link);
void smc_link_activate(struct smc_link *link);
void smc_link_stop(struct smc_link *link, unsigned long until);
bool smc_link_drain(struct smc_link *link, unsigned long until);
void smc_link_queue_release(struct smc_link *link);
void smc_link_failed(struct smc_link *link);
void smc_link_destroy(struct smc_link *link);
void smc_link_release(struct smc_link *link);
void smc_link_down(struct smc_link *link, u32 reason);
int smc_link_send(struct smc_link *link, const u8 *buf, u32 len);
int smc_link_send_long(struct smc_link *link, const u8 *buf, u32 len);
u32 smc_link_sent(struct smc_link *link);
int smc_link_register(struct smc_link *link, struct smc_link_reg *reg);

struct smc_link *smc_link_lock(struct smc_link_sender *sender);
void smc_link_unlock(struct smc_link *link);
void smc_link_queue(struct smc_link_sender *sender);
void smc_link_queue_forced(struct smc_link_sender *sender, u8 force_update);

#endif
