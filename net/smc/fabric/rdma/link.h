/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An SMC-R link: a reliably connected queue pair between two RNICs, the messages
 * that travel over it, and the RDMA writes of its connections (RFC 7609, 2.2).
 *
 * Nobody waits for a place in the send queue.  A connection that has something
 * to say is put into the link's list; whoever has the lock posts what fits, and
 * completions post the rest.  What a sender adds meanwhile goes out with it.
 */
#ifndef SMC_RDMA_LINK_H
#define SMC_RDMA_LINK_H

#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "../../wire/llc.h"
#include "dev.h"

struct rdma_conn;
struct smc_lgr;
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
 * struct smc_tx_slot - one post: data writes and a message
 * @cqe:	completion, if it was asked for
 * @link:	the link
 * @conn:	whose post it is, referenced; NULL for LLC
 */
struct smc_tx_slot {
	struct ib_cqe		cqe;
	struct smc_link		*link;
	struct rdma_conn	*conn;
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

/* LLC messages that may wait for a place in the send queue, a power of two. */
#define SMC_LINK_LLC_MSGS	16

/**
 * struct smc_link_msg - an LLC message that waits
 * @len:	its length
 * @b:		the message
 */
struct smc_link_msg {
	u8	len;
	u8	b[SMC_LINK_MSG_MAX];
};

/**
 * struct smc_link - a link
 * @lgr:	its link group
 * @state:	enum smc_link_state
 * @number:	as the server has named it, 1 for the first
 * @uid:	our name for it, for humans
 * @peer_uid:	the peer's
 * @path:	our end
 * @pd:		protection domain: nobody but this peer reaches our RMBs
 * @cq:		completions of both directions
 * @cq_handler:	what the RDMA core does when @cq has completions
 * @cq_irq:	calls it where completions come from no interrupt
 * @event_work:	takes the link down after an event of the queue pair
 * @qp:		the queue pair
 * @psn:	our initial packet sequence number
 * @direct:	the peer is in one of our subnets
 * @dmac:	where our frames go: to the peer or to the next hop
 * @peer_qpn:	the peer's queue pair
 * @peer_psn:	its initial packet sequence number
 * @peer_mtu:	its MTU code
 * @peer_mac:	its MAC address, as it says
 * @peer_gid:	its GID
 * @inline_max:	so many bytes may be posted inline
 * @tx_lock:	protects what follows; any context
 * @tx_ready:	posting is possible: connected and not down
 * @connected:	the queue pair can send
 * @stopped:	and must not be made to any more
 * @tx_pending:	connections with something to say
 * @tx_slots:	ring of posts
 * @n_tx:	their number, a power of two
 * @tx_head:	count of posts made
 * @tx_tail:	count of posts known to be complete
 * @tx_unasked:	posts since the last one that asked for a completion
 * @tx_msgs:	the messages, SMC_LINK_MSG_MAX bytes for each slot
 * @tx_dma:	their DMA address
 * @tx_wait:	whoever ends the link waits here for @tx_tail
 * @llc_msgs:	LLC messages for which there was no place among the posts, a ring
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
 * @down_reason: why it is down, SMC_LLC_DEL_*
 * @lost:	it is down because something could not be sent or received
 * @tx_down:	@tx_tail when it went down
 */
struct smc_link {
	struct smc_lgr		*lgr;
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
	struct ib_qp		*qp;
	u32			psn;
	bool			direct;
	u8			dmac[ETH_ALEN];
	u32			peer_qpn;
	u32			peer_psn;
	u8			peer_mtu;
	u8			peer_mac[ETH_ALEN];
	union ib_gid		peer_gid;
	u32			inline_max;

	spinlock_t		tx_lock ____cacheline_aligned_in_smp;
	bool			tx_ready;
	bool			connected;
	bool			stopped;
	struct list_head	tx_pending;
	struct smc_tx_slot	*tx_slots;
	u32			n_tx;
	u32			tx_head;
	u32			tx_tail;
	u32			tx_unasked;
	u8			*tx_msgs;
	u64			tx_dma;
	wait_queue_head_t	tx_wait;
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
	u32			down_reason;
	bool			lost;
	u32			tx_down;
};

/**
 * struct smc_link_post - what a connection wants posted
 * @n_writes:	data writes, 0 to SMC_LINK_WRITES
 * @src:	memory to be written
 * @dma:	the same for the device
 * @len:	bytes
 * @lkey:	of @dma
 * @dst:	address at the peer
 * @rkey:	of @dst
 * @msg:	the CDC message
 * @ask:	a completion must come soon: the connection ends
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
	bool			ask;
};

void smc_link_init(struct smc_link *link);
int smc_link_create(struct smc_link *link, struct smc_lgr *lgr, u8 number);
int smc_link_next_hop(struct smc_link *link);
int smc_link_connect(struct smc_link *link);
void smc_link_stop(struct smc_link *link);
void smc_link_drain(struct smc_link *link);
void smc_link_destroy(struct smc_link *link);
void smc_link_release(struct smc_link *link);
void smc_link_down(struct smc_link *link, u32 reason);
int smc_link_send(struct smc_link *link, const struct smc_llc_msg *m);
u32 smc_link_sent(struct smc_link *link);
int smc_link_reg_mr(struct smc_link *link, struct ib_mr *mr, int access);

void smc_link_queue(struct smc_link *link, struct rdma_conn *rc);
void smc_link_queue_anyway(struct smc_link *link, struct rdma_conn *rc, u8 say);

/* cdc.c: called with tx_lock held; false if there is nothing to be said */
bool smc_cdc_fill(struct rdma_conn *rc, struct smc_link_post *post);
/* cdc.c, llc.c: a message has arrived, in the context of the completion */
void smc_cdc_rx(struct smc_link *link, const u8 *buf, size_t len);
void smc_llc_rx(struct smc_link *link, const u8 *buf, size_t len);

#endif
