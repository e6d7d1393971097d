/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An RDMA device that does everything that a device may do, and complains about everything that a
 * consumer may not do.
 *
 * Everything of a device is under one spinlock, strict_dev.lock. Its engine, a work item, does what
 * hardware would do: it runs the send queues, places what has arrived, and completes. The packets
 * are frames on the network device, with a header of our own (packet.h).
 */
#ifndef STRICT_H
#define STRICT_H

#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include "dma.h"

#define STRICT_MAX_SGE	4
#define STRICT_INLINE	64
#define STRICT_FREED	4
#define STRICT_DEAD	64
#define STRICT_DRIVER	((enum rdma_driver_id)0x73747274)
#define STRICT_MESSAGE	SZ_1G
#define STRICT_ROCE	(RDMA_CORE_CAP_PROT_ROCE | RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP)

struct strict_pd {
	struct ib_pd	ib;
};

struct strict_qp;

struct strict_cqe {
	struct ib_wc		wc;
	bool			solicited;
	bool			send;
	struct strict_qp	*qp;		/* NULL when it is gone */
	unsigned int		slots;		/* of its queue that are free when this is polled */
};

/* Entries from head to shown can be polled, those from there to tail are not published yet. */
struct strict_cq {
	struct ib_cq		ib;
	struct strict_cqe	*ring;
	unsigned int		head, shown, tail;
	bool			armed;
	bool			armed_solicited;
	bool			event;		/* for the engine: call the handler */
	bool			overflow;	/* completions were lost; no more come */
	bool			error_event;	/* for the engine: report that */
	bool			gone;
	struct list_head	list;		/* strict_dev.cqs */
	struct irq_work		irq;
	struct tasklet_struct	tasklet;
};

struct strict_mr {
	struct ib_mr		ib;
	u32			lkey, rkey;	/* those of ib may be changed */
	u64			*pages;		/* their addresses */
	unsigned int		n_pages, max_pages;
	u64			offset;		/* of iova in the first page */
	int			access;
	struct strict_qp	*posted;	/* a work request there will make it valid */
	u64			iova, length;	/* when it was registered */
	bool			valid;
	bool			revoked;	/* by the peer, which makes it invalid */
	bool			all;		/* get_dma_mr(): all memory */
	unsigned int		users;		/* work requests that name it */
};

enum strict_wqe_state { STRICT_POSTED, STRICT_SENT, STRICT_DONE };

struct strict_swqe {
	struct list_head	list;		/* strict_qp.sq */
	u64			wr_id;
	enum ib_wr_opcode	opcode;
	int			flags;
	union {
		__be32		imm;
		u32		inv_key;
	} ex;
	u64			remote_addr;
	u32			rkey;
	u32			reg_key;	/* of the region that it makes valid, or 0 */
	enum strict_wqe_state	state;
	u32			first_psn, n_packets;
	u32			length;
	u32			*sums;		/* of each packet's data when they were posted */
	int			n_sge;
	struct ib_sge		sge[STRICT_MAX_SGE];
	u8			inline_data[STRICT_INLINE];
};

struct strict_rwqe {
	struct list_head	list;		/* strict_qp.rq */
	u64			wr_id;
	int			n_sge;
	struct ib_sge		sge[STRICT_MAX_SGE];
};

struct strict_qp {
	struct ib_qp		ib;
	struct list_head	list;		/* strict_dev.qps */
	enum ib_qp_state	state;
	struct ib_qp_attr	attr;
	struct ib_qp_init_attr	init;
	union ib_gid		gid;		/* from which it sends */
	bool			no_gid;		/* the port has it no longer */

	/* Requester */
	struct list_head	sq;
	unsigned int		sq_left;	/* on the list */
	unsigned int		sq_used;	/* not known to the consumer as free */
	unsigned int		sq_silent;	/* done, and no completion has followed yet */
	u32			next_psn;	/* of the next work request */
	u32			send_psn;	/* of the next packet; goes back to send again */
	u32			acked_psn;	/* all before it were acknowledged */
	unsigned int		retries, rnr_retries;
	unsigned long		deadline;	/* jiffies, of the oldest packet; 0: none */
	unsigned long		rnr_until;

	/* Responder */
	struct list_head	rq;
	unsigned int		rq_left;	/* not complete */
	unsigned int		rq_used;	/* not known to the consumer as free */
	u32			expected_psn;
	u32			answered;	/* the peer was told: all before it have arrived */
	struct sk_buff_head	arrived;	/* in order, not placed yet */
	struct strict_rwqe	*receiving;
	u32			received;	/* bytes of the message in progress */
	enum ib_wc_status	wrong;		/* it cannot be received, and this is why; or 0 */
	bool			ack_due, nak_sent, established;
	unsigned long		events;		/* to report: a bit for each enum ib_event_type */
};

/* A key with which the peer could write when it was deregistered. */
struct strict_dead {
	u32			rkey;
	struct ib_pd		*pd;
};

struct strict_dev {
	struct ib_device	ib;
	struct net_device	*ndev;
	struct strict_dma	*dma;
	struct ib_device_attr	limits;
	u32			protocols;	/* RDMA_CORE_CAP_PROT_* */
	u32			max_inline;
	enum ib_mtu		max_mtu;
	bool			kverbs;
	atomic_t		n_qps, n_mrs;
	struct strict_mr	dma_mr;		/* of local_dma_lkey, if the device has it */
	spinlock_t		lock;		/* everything of the device */
	struct list_head	qps, cqs;
	struct xarray		mrs;		/* by lkey >> 8 and by rkey >> 8 */
	struct sk_buff_head	rx, tx, late;
	struct delayed_work	engine;
	struct packet_type	packet_type;
	struct ib_event_handler	event_handler;
	bool			gids_changed;	/* for the engine: look at those of queue pairs */
	bool			deaf;		/* loses what arrives */
	u32			next_qpn, next_mr;
	struct strict_dead	dead[STRICT_DEAD];
	unsigned int		n_dead;
	u32			free_qpns[STRICT_FREED], free_keys[STRICT_FREED];
	u64			sent;		/* packets */
};

#define to_dev(ptr)	container_of(ptr, struct strict_dev, ib)
#define to_pd(ptr)	container_of(ptr, struct strict_pd, ib)
#define to_cq(ptr)	container_of(ptr, struct strict_cq, ib)
#define to_mr(ptr)	container_of(ptr, struct strict_mr, ib)
#define to_qp(ptr)	container_of(ptr, struct strict_qp, ib)

extern struct workqueue_struct *strict_wq;

/* attr.c */
bool strict_attr_valid(struct strict_dev *dev, const struct ib_qp_attr *attr, int mask);

/* device.c */
bool strict_port_up(const struct strict_dev *dev);
enum ib_mtu strict_active_mtu(const struct strict_dev *dev);

/* path.c */
void strict_gids_changed(struct strict_dev *dev);
void strict_watch_gids(struct strict_dev *dev);
void strict_check_gids(struct strict_dev *dev);
bool strict_has_path(const struct strict_dev *dev, const struct strict_qp *qp, u32 length);

/* limits.c */
bool strict_set_limits(struct strict_dev *dev);
bool strict_take_one(atomic_t *n, int most);

/* choice.c */
bool strict_choose(unsigned int one_of);
u32 strict_below(u32 limit);
bool strict_fatal(void);
bool strict_port_event(void);
bool strict_fails(void);
bool strict_lenient(void);
void strict_dawdle(void);
void strict_garbage(void *p, size_t n);

/* complaint.c */
struct strict_kept {
	unsigned int	length;
	char		text[1024];
};

extern struct strict_kept *strict_kept;
__printf(2, 3) void strict_complain(struct strict_dev *dev, const char *format, ...);

/* completion.c */
int strict_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs);
int strict_destroy_cq(struct ib_cq *cq, struct ib_udata *udata);
int strict_poll_cq(struct ib_cq *cq, int n, struct ib_wc *wc);
int strict_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags);
void strict_complete_send(struct strict_dev *dev, struct strict_qp *qp, const struct ib_wc *wc);
void strict_complete_recv(struct strict_dev *dev, struct strict_qp *qp, const struct ib_wc *wc,
			  bool solicited);
void strict_drop_completions(struct strict_dev *dev, struct strict_qp *qp);
void strict_forget_completions(struct strict_dev *dev, struct strict_qp *qp);
void strict_report_cqs(struct strict_dev *dev);
bool strict_publish(struct strict_dev *dev);

/* region.c */
int strict_alloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int strict_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata);
struct ib_mr *strict_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *strict_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_sg);
int strict_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int n, unsigned int *offset);
int strict_dereg_mr(struct ib_mr *mr, struct ib_udata *udata);
struct strict_mr *strict_lkey_mr(struct strict_dev *dev, u32 lkey);
struct strict_mr *strict_rkey_mr(struct strict_dev *dev, u32 rkey);
struct strict_mr *strict_local_mr(struct strict_dev *dev, const struct strict_qp *qp, u32 lkey);
struct strict_mr *strict_receive_mr(struct strict_dev *dev, const struct strict_qp *qp, u32 lkey);
struct strict_mr *strict_remote_mr(struct strict_dev *dev, const struct strict_qp *qp, u32 rkey);
void strict_key_dies(struct strict_dev *dev, const struct strict_mr *mr);
bool strict_is_dead(struct strict_dev *dev, const struct strict_qp *qp, u32 rkey);
bool strict_mr_allows(const struct strict_mr *mr, u64 addr, u64 length, int access);
bool strict_mr_mapped(struct strict_dev *dev, const struct strict_mr *mr, u64 addr, u32 length,
		      bool write);
bool strict_mr_touches(const struct strict_mr *mr, u64 addr, u32 length, u64 first, u64 last);
bool strict_mr_copy(struct strict_dev *dev, const struct strict_mr *mr, u64 addr, void *data,
		    u32 length, bool to_memory);

/* work.c */
int strict_post_send(struct ib_qp *qp, const struct ib_send_wr *wr, const struct ib_send_wr **bad);
int strict_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);
bool strict_gather(struct strict_dev *dev, struct strict_qp *qp, const struct strict_swqe *wqe,
		   u32 offset, void *to, u32 length);
bool strict_revoked(struct strict_dev *dev, const struct strict_swqe *wqe);
bool strict_in_use(struct strict_dev *dev, u64 first, u64 last);
u32 strict_sum(const void *data, u32 length);
void strict_free_swqe(struct strict_dev *dev, struct strict_qp *qp, struct strict_swqe *wqe);
void strict_free_rwqe(struct strict_dev *dev, struct strict_qp *qp, struct strict_rwqe *wqe);

/* queue_pair.c */
int strict_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int strict_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int strict_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init);
int strict_destroy_qp(struct ib_qp *qp, struct ib_udata *udata);
void strict_event(struct strict_qp *qp, enum ib_event_type event);
void strict_qp_error(struct strict_dev *dev, struct strict_qp *qp);

/* requester.c */
bool strict_run_requester(struct strict_dev *dev, struct strict_qp *qp, unsigned long *next);
void strict_acked(struct strict_dev *dev, struct strict_qp *qp, u32 psn);
void strict_refused(struct strict_dev *dev, struct strict_qp *qp, u32 psn, u8 why);
bool strict_draining(struct strict_qp *qp);

/* responder.c */
void strict_responder_rx(struct strict_dev *dev, struct strict_qp *qp, struct sk_buff *skb);
bool strict_run_responder(struct strict_dev *dev, struct strict_qp *qp);
void strict_forget_arrived(struct strict_dev *dev, struct strict_qp *qp);

/* engine.c */
void strict_engine(struct work_struct *work);
struct strict_qp *strict_find_qp(struct strict_dev *dev, u32 qpn);
void strict_wake(struct strict_dev *dev);
int strict_rx(struct sk_buff *skb, struct net_device *ndev, struct packet_type *type,
	      struct net_device *orig);

#endif /* STRICT_H */
