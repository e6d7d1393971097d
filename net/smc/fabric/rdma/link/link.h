/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An SMC-R link: a reliably connected queue pair between two RNICs, the messages
 * that travel over it, and the RDMA writes of its connections (RFC 7609, 2.2).
 *
 * Nobody waits for a place in the send queue.  A connection that has something
 * to say is put into the link's list; whoever has the lock posts what fits, and
 * completions post the rest.  What a sender adds meanwhile goes out with it.
 *
 * A link knows nothing of link groups and connections.  It has an owner, whose
 * functions it calls (struct smc_link_ops).
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

/* The longest message that fits a slot of the send queue. */
#define SMC_LINK_MSG_MAX	128
/* Data writes of one post: the ring of the sender may wrap. */
#define SMC_LINK_WRITES		2

enum smc_link_state {
	SMC_LINK_UNUSED,
	SMC_LINK_NEW,		/* the queue pair exists */
	SMC_LINK_READY,		/* connected, not confirmed */
	SMC_LINK_ACTIVE,
	SMC_LINK_DOWN,
};

/**
 * struct smc_link_sender - somebody with data or CDC messages to post, part of a connection
 * @link:	the link that it posts over.  Set before anybody else knows the sender; after that
 *		the owner may change it under the tx_lock of the link that the sender leaves
 * @pend:	in smc_link.tx_pending; with what follows under that link's tx_lock
 * @force_update: why a message is worth while though nothing else has changed; smc_link_ops.fill
 *		clears it
 * @acked:	smc_link_post.seqno of the last post that the peer's device has acknowledged
 *
 * smc_link_lock() is how to get at the link: it takes the tx_lock of the one that is the sender's
 * while the lock is held.  A link is memory of its owner, which outlives the senders.  So it does
 * no harm that somebody may try the lock of a link that the sender has just left.
 */
struct smc_link_sender {
	struct smc_link		*link;
	struct list_head	pend;
	u8			force_update;
	u16			acked;
};

/**
 * struct smc_link_reg - a memory region that the device shall know
 * @list:	in smc_link.regs while it waits for a place in the send queue; under tx_lock
 * @mr:		the region, mapped with ib_map_mr_sg()
 * @access:	IB_ACCESS_*
 * @valid:	the device has said that it knows the region; smc_link_ops.sent follows
 */
struct smc_link_reg {
	struct list_head	list;
	struct ib_mr		*mr;
	int			access;
	bool			valid;
};

/**
 * struct smc_tx_slot - one post: data writes and a message
 * @cqe:	completion, if it was asked for
 * @link:	the link
 * @sender:	whose post it is, referenced; NULL for LLC and registrations
 * @reg:	the region that it registers
 * @seqno:	smc_link_post.seqno
 * @is_long:	its message is smc_link.tx_long
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
 * @wr:		its work request, the same each time it is posted
 * @sge:	where to: its own memory, then what all of them share for long messages
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
 * @done:	it is complete, and so is all that was posted before
 */
struct smc_link_marker {
	struct ib_cqe		cqe;
	struct completion	done;
};

/* LLC messages that may wait for a place in the send queue, a power of two. */
#define SMC_LINK_LLC_MSGS	16

/**
 * struct smc_link_msg - an LLC message that waits
 * @len:	its length
 * @b:		the message
 */
struct smc_link_msg {
	u16	len;
	u8	b[SMC_LINK_MSG_MAX];
};

/**
 * struct smc_link - a link
 * @owner:	argument of the calls in smc_link_ops
 * @state:	enum smc_link_state
 * @number:	as the server has named it, 1 for the first
 * @uid:	our name for it, for humans
 * @peer_uid:	the peer's
 * @path:	our end, the owner's to set and to put
 * @pd:		protection domain: nobody but this peer reaches our RMBs
 * @cq:		completions of both directions
 * @cq_handler:	the RDMA core's handler for completions in @cq
 * @cq_irq:	calls it where completions come from no interrupt
 * @event_work:	takes the link down after an event of the queue pair
 * @release_work: the owner's, in which it destroys and releases the link
 * @test_irq:	test builds: brings such an event about
 * @qp:		the queue pair
 * @psn:	our initial packet sequence number
 * @hop:	where our frames go
 * @peer_qpn:	the peer's queue pair
 * @peer_psn:	its initial packet sequence number
 * @peer_mtu:	its MTU code
 * @peer_mac:	its MAC address, as it says
 * @peer_gid:	its GID
 * @inline_max:	maximum inline payload, bytes
 * @tx_lock:	protects what follows; any context
 * @tx_ready:	posting is possible: connected and not down
 * @connected:	the queue pair can send
 * @tx_pending:	struct smc_link_sender of those with something to say
 * @tx_slots:	ring of posts
 * @n_tx:	their number, a power of two
 * @tx_head:	count of posts made
 * @tx_tail:	count of posts known to be complete
 * @tx_unsignaled: posts since the last one that asked for a completion
 * @tx_msgs:	the messages, SMC_LINK_MSG_MAX bytes for each slot
 * @tx_dma:	their DMA address
 * @tx_long:	a message that is longer than that, one at a time; NULL before the first
 * @tx_long_dma: its DMA address
 * @tx_long_busy: the message has yet to arrive
 * @tx_wait:	the end of the link waits here for @tx_tail
 * @regs:	struct smc_link_reg for which there was no place among the posts
 * @n_regs:	their number
 * @llc_msgs:	LLC messages for which there was no place either, a ring; they follow @regs
 * @llc_head:	count of those put there
 * @llc_tail:	count of those posted since
 * @rx_slots:	receive buffers
 * @n_rx:	their number
 * @rx_used:	receive buffers to be posted again
 * @rx_stride:	bytes of each of them
 * @rx_msgs:	their memory
 * @rx_dma:	its DMA address
 * @rx_long:	where the rest of a long message goes, for all buffers; NULL if
 *		@rx_stride has room for it
 * @rx_long_dma: its DMA address
 * @last_rx:	jiffies of the last message, for the keepalive
 * @lost:	it is down because something could not be sent or received
 * @down_reason: SMC_LLC_DEL_* of the first smc_link_down()
 * @confirmed:	it has been active
 * @peer_knows:	the peer has said that it is down
 * @drained:	smc_link_drain() has returned
 * @flushed:	its result
 * @tx_down:	@tx_tail when it went down
 * @tx_marker:	for smc_link_drain(), like
 * @rx_marker:	this one
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
	bool			connected;
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
 * @src:	memory to be written
 * @dma:	the same for the device
 * @len:	bytes
 * @lkey:	of @dma
 * @dst:	address at the peer
 * @rkey:	of @dst
 * @msg:	the CDC message
 * @seqno:	becomes smc_link_sender.acked once the peer has the post
 * @signaled:	a completion must come soon: the connection ends
 * @more:	the sender has another post to make at once
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
 * @get:	take a reference to a sender: it is in the list, or has a post under way
 * @put:	put it; without a lock
 * @fill:	take the next post of this sender.  False if there is none.  Under tx_lock.
 * @rx_cdc:	a CDC message has arrived
 * @rx_llc:	an LLC message has arrived
 * @sent:	posts of a link that is not active yet have arrived, or a region is valid
 * @down:	the link does not work any more, which @caller has noticed; called once
 * @hop_changed: smc_link_next_hop(), which said -EAGAIN, is to be called again; in a work item
 *
 * @get, @put, @fill and @rx_cdc are called for every message.  They are static calls, which cost
 * what a call by name costs where the architecture can patch them.
 *
 * Context: any but hard interrupts; @rx_cdc, @rx_llc and @sent in the completion handler of the
 * link, which runs one at a time.
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
 * @number:	as the server has named it, 1 for the first
 * @max_send_wr: posts that may be under way, if the device can have so many
 * @max_recv_wr: receive buffers, the same
 * @long_msgs:	the peer may send the long LLC messages of version 2
 */
struct smc_link_attr {
	u8	number;
	u32	max_send_wr;
	u32	max_recv_wr;
	bool	long_msgs;
};

/* It has queues, or had them: one that is down is remembered until the next one in its place. */
static inline bool smc_link_exists(const struct smc_link *link)
{
	return READ_ONCE(link->state) != SMC_LINK_UNUSED;
}

/* Has it queues, and is not down? */
static inline bool smc_link_alive(const struct smc_link *link)
{
	u8 state = READ_ONCE(link->state);

	return state != SMC_LINK_UNUSED && state != SMC_LINK_DOWN;
}

/* Can it send? */
static inline bool smc_link_works(const struct smc_link *link)
{
	u8 state = READ_ONCE(link->state);

	return state == SMC_LINK_READY || state == SMC_LINK_ACTIVE;
}

/* The RNIC port of ours that two links use. */
static inline bool smc_link_same_port(const struct smc_link *a, const struct smc_link *b)
{
	return a->path.dev == b->path.dev && a->path.port == b->path.port;
}

/* That of the peer's. */
static inline bool smc_link_same_peer_port(const struct smc_link *a, const struct smc_link *b)
{
	return !memcmp(&a->peer_gid, &b->peer_gid, sizeof(a->peer_gid));
}

/* No queue pair has a number that is reserved, no RNIC a group's address. */
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
void smc_link_stop(struct smc_link *link);
bool smc_link_drain(struct smc_link *link);
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
