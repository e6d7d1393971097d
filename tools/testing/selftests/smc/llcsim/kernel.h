/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of the kernel that the LLC engine and its link group need, in user space.  It replaces
 * all their <linux/...>, <net/...> and <rdma/...> headers: the Makefile generates these, and each
 * includes this file.
 *
 * Locks record whether they are held, and lockdep_assert_held() checks that.  When a lock is
 * released, something else may run first, as on a preemptible kernel: sim_preempt().
 */
#ifndef LLCSIM_KERNEL_H
#define LLCSIM_KERNEL_H

#include <netinet/in.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "wire.h"
#include "clock.h"

typedef int32_t s32;

#define IS_ENABLED(option)	0
#define HZ			1000
#define jiffies			sim_now
#define ETH_ALEN		6
#define PAGE_SHIFT		12
#define PAGE_SIZE		(1ul << PAGE_SHIFT)
#define PAGE_MASK		(~(PAGE_SIZE - 1))
#define SZ_4K			0x1000
#define __fls(x)		(63 - __builtin_clzl(x))
#define IFNAMSIZ		16

#define ____cacheline_aligned_in_smp
#define __percpu
#define __ro_after_init
#define __rcu
#define __init

typedef unsigned int gfp_t;
#define GFP_KERNEL		0
#define GFP_KERNEL_ACCOUNT	0
#define SMC_GFP_CHARGED		GFP_KERNEL_ACCOUNT
#define GFP_ATOMIC		1
#define __GFP_NOWARN		0	/* the simulation logs nothing */
#define __GFP_ZERO		2

#define BIT(n)			(1ul << (n))
#define BIT_ULL(n)		(1ull << (n))
#define GENMASK_ULL(h, l)	(((~0ull) << (l)) & (~0ull >> (63 - (h))))
#define DIV_ROUND_UP(a, b)	(((a) + (b) - 1) / (b))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof(*(a)))
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, v)	((x) = (v))
#define smp_store_release(p, v)	(*(p) = (v))
#define smp_load_acquire(p)	(*(p))
#define likely(x)		(x)
#define unlikely(x)		(x)
#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))
#define min_t(type, a, b)	({ type a_ = (a), b_ = (b); a_ < b_ ? a_ : b_; })
#define max_t(type, a, b)	({ type a_ = (a), b_ = (b); a_ > b_ ? a_ : b_; })
#define min(a, b)		min_t(typeof(a), a, b)
#define max(a, b)		max_t(typeof(a), a, b)
#define clamp(v, lo, hi)	min(max(v, lo), hi)
#define min_not_zero(a, b) \
	({ typeof(a) x_ = (a), y_ = (b); !x_ ? y_ : !y_ ? x_ : min(x_, y_); })
#define struct_size(p, member, n) (sizeof(*(p)) + sizeof(*(p)->member) * (n))
#define time_before(a, b)	((long)((a) - (b)) < 0)
#define WARN_ON_ONCE(cond) \
	({ bool c_ = (cond); if (c_) sim_fail("WARN_ON(" #cond ")"); c_; })
#define IS_ERR(p)		((unsigned long)(p) >= (unsigned long)-4095)
#define PTR_ERR(p)		((long)(p))
#define cond_resched()		sim_preempt()
#define pr_warn_ratelimited(...) do { } while (0)
#define pr_warn_once(...)	do { } while (0)

#define DECLARE_BITMAP(name, bits) unsigned long name[((bits) + 63) / 64]
#define __set_bit(n, p)		((p)[(n) / 64] |= BIT((n) % 64))
#define __clear_bit(n, p)	((p)[(n) / 64] &= ~BIT((n) % 64))
#define test_bit(n, p)		(!!((p)[(n) / 64] & BIT((n) % 64)))
#define __test_and_clear_bit(n, p) \
	({ bool was_ = test_bit(n, p); __clear_bit(n, p); was_; })
#define for_each_set_bit(n, p, size) \
	for ((n) = 0; (n) < (size); (n)++) if (*(p) & BIT(n))

/* ---- memory ---- */

static inline void *kmalloc(size_t size, gfp_t gfp)
{
	return gfp & GFP_ATOMIC && sim_alloc_fails() ? NULL : sim_alloc(size);
}

#define kzalloc(size, gfp)	calloc_(size)
#define kfree(p)		sim_free(p)
#define kvfree(p)		sim_free(p)
#define smc_alloc_array(n, size)	sim_alloc((n) * (size))

static inline void *calloc_(size_t size)
{
	return memset(sim_alloc(size), 0, size);
}

/* ---- locks ---- */

typedef struct {
	bool held;
} spinlock_t;

struct mutex {
	bool held;
};

#define lock_(l) \
	do { if ((l)->held) sim_fail("%s: locked twice", #l); (l)->held = true; sim_locks++; } \
	while (0)
#define unlock_(l) \
	do { if (!(l)->held) sim_fail("%s: not locked", #l); (l)->held = false; sim_locks--; \
	     sim_preempt(); } while (0)
#define spin_lock(l)		lock_(l)
#define spin_unlock(l)		unlock_(l)
#define spin_lock_bh(l)		lock_(l)
#define spin_unlock_bh(l)	unlock_(l)
#define mutex_lock(l)		lock_(l)
#define mutex_unlock(l)		unlock_(l)
#define lockdep_assert_held(l) \
	do { if (!(l)->held) sim_fail("%s: not held by the caller", #l); } while (0)
#define down_read(sem)		do { } while (0)
#define up_read(sem)		do { } while (0)
#define rcu_read_lock()		do { } while (0)
#define rcu_read_unlock()	do { } while (0)

/* ---- counts ---- */

typedef struct {
	int n;
} refcount_t, atomic_t;

static inline void refcount_set(refcount_t *r, int n)
{
	r->n = n;
}

static inline void refcount_inc(refcount_t *r)
{
	if (r->n++ <= 0)
		sim_fail("a reference to an object that was freed");
}

static inline bool refcount_dec_and_test(refcount_t *r)
{
	if (r->n <= 0)
		sim_fail("a reference is put twice");
	return !--r->n;
}

static inline void refcount_dec(refcount_t *r)
{
	if (refcount_dec_and_test(r))
		sim_fail("the last reference is put by refcount_dec()");
}

#define atomic_set(a, v)	((a)->n = (v))
#define atomic_read(a)		((a)->n)
#define atomic_inc(a)		((a)->n++)
#define atomic_inc_return(a)	(++(a)->n)
#define atomic_dec_and_test(a)	(!--(a)->n)
#define this_cpu_inc(x)		((x)++)

/* ---- lists ---- */

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next;
};

#define DECLARE_HASHTABLE(name, bits) struct hlist_node *name[1]

/* Nothing looks for a link group here, so none is in a hash table. */
static inline void hash_del(struct hlist_node *node)
{
}

#define LIST_HEAD(name) struct list_head name = { &(name), &(name) }

static inline void INIT_LIST_HEAD(struct list_head *l)
{
	l->next = l;
	l->prev = l;
}

static inline void list_add_tail(struct list_head *new, struct list_head *head)
{
	new->prev = head->prev;
	new->next = head;
	head->prev->next = new;
	head->prev = new;
}

static inline void list_add(struct list_head *new, struct list_head *head)
{
	list_add_tail(new, head->next);
}

static inline void list_del(struct list_head *e)
{
	e->prev->next = e->next;
	e->next->prev = e->prev;
}

static inline void list_del_init(struct list_head *e)
{
	list_del(e);
	INIT_LIST_HEAD(e);
}

static inline void list_move_tail(struct list_head *e, struct list_head *head)
{
	list_del(e);
	list_add_tail(e, head);
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_splice_init(struct list_head *from, struct list_head *to)
{
	while (!list_empty(from)) {
		struct list_head *last = from->prev;

		list_del(last);
		list_add(last, to);
	}
}

#define list_empty_careful(head) list_empty(head)
#define list_entry(p, type, member) container_of(p, type, member)
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_for_each_entry(e, head, member) \
	for ((e) = list_entry((head)->next, typeof(*(e)), member); &(e)->member != (head); \
	     (e) = list_entry((e)->member.next, typeof(*(e)), member))

#define list_for_each_entry_safe(e, n, head, member) \
	for ((e) = list_entry((head)->next, typeof(*(e)), member), \
	     (n) = list_entry((e)->member.next, typeof(*(e)), member); &(e)->member != (head); \
	     (e) = (n), (n) = list_entry((n)->member.next, typeof(*(n)), member))

/* The few connections of an end, by their index. */
struct xarray {
	void *slots[SIM_CONNS];
};

#define xa_for_each(xa, i, p) \
	for ((i) = 0; (i) < SIM_CONNS; (i)++) if (((p) = (xa)->slots[i]))

/* ---- work ---- */

struct work_struct {
	void			(*func)(struct work_struct *work);
	struct sim_event	ev;
	bool			waits;	/* for others, so it must not interrupt them */
};

struct delayed_work {
	struct work_struct	work;
};

struct workqueue_struct;
extern struct workqueue_struct *smc_link_wq, *smc_end_wq;

#define WORK_BUSY_RUNNING	2

void sim_init_work(struct work_struct *work, void (*func)(struct work_struct *work));
bool sim_queue_work(struct work_struct *work, unsigned long delay, bool modify);
bool sim_cancel_work(struct work_struct *work);

#define INIT_WORK(w, fn)	sim_init_work(w, fn)
#define INIT_DELAYED_WORK(w, fn) sim_init_work(&(w)->work, fn)
#define queue_work(wq, w)	sim_queue_work(w, 0, false)
#define mod_delayed_work(wq, w, delay) (!sim_queue_work(&(w)->work, delay, true))
#define cancel_work_sync(w)	sim_cancel_work(w)
#define cancel_delayed_work_sync(w) sim_cancel_work(&(w)->work)
#define delayed_work_pending(w)	sim_event_pending(&(w)->work.ev)
#define work_busy(w)		((w)->ev.running ? WORK_BUSY_RUNNING : 0)
#define wake_up_var(p)		do { } while (0)
#define wait_var_event(p, cond)	do { while (!(cond)) sim_wait_for_device(); } while (0)

/* ---- network ---- */

struct smc_net;

struct net {
	struct smc_net *sn;
};

struct sock;
struct net_device;
typedef struct { int unused; } netdevice_tracker;

/* Two hosts in one process: a device belongs to one of them. */
#define for_each_net(net)	for ((net) = sim_net(); (net); (net) = NULL)
struct net *sim_net(void);

#define get_random_u64()	sim_random()

static inline void ipv6_addr_set_v4mapped(uint32_t addr, struct in6_addr *to)
{
	to->s6_addr32[0] = 0;
	to->s6_addr32[1] = 0;
	to->s6_addr32[2] = htobe32(0xffff);
	to->s6_addr32[3] = addr;
}

static inline bool is_valid_ether_addr(const u8 *mac)
{
	static const u8 zero[ETH_ALEN];

	return !(mac[0] & 1) && memcmp(mac, zero, ETH_ALEN);
}

static inline void ether_addr_copy(u8 *to, const u8 *from)
{
	memcpy(to, from, ETH_ALEN);
}

/* ---- RDMA: the definitions that the module's headers use ---- */

#define IB_DEVICE_NAME_MAX	64
#define IB_ACCESS_LOCAL_WRITE	1
#define IB_ACCESS_REMOTE_WRITE	2
#define IB_MR_TYPE_MEM_REG	0
#define DMA_BIDIRECTIONAL	0

enum { IB_GID_TYPE_ROCE_UDP_ENCAP = 2 };
#define IPV6_ADDR_LINKLOCAL	0x20
#define ipv6_addr_type(addr)	((void)(addr), 0)

union ib_gid {
	u8 raw[16];
	u64 aligned[2];
};

struct ib_device_attr {
	u64 page_size_cap;
	u32 max_fast_reg_page_list_len;
};

struct ib_device {
	const char *name;
	void *dma_device;
	struct ib_device_attr attrs;
};

struct ib_event_handler { int unused; };
struct ib_cqe { int unused; };
struct ib_sge { int unused; };
struct ib_recv_wr { int unused; };
struct irq_work { int unused; };
struct completion { int unused; };
struct ib_cq;

struct ib_qp {
	u32 qp_num;
};

typedef void (*ib_comp_handler)(struct ib_cq *cq, void *context);
typedef struct { int unused; } wait_queue_head_t;

struct ib_pd {
	u64 keys;	/* bitmap of used keys */
};

struct ib_mr {
	struct ib_pd *pd;
	u32 rkey;
	u64 iova;
};

struct page;
struct scatterlist { int unused; };

struct sg_table {
	struct scatterlist *sgl;
	int nents;
};

#define is_vmalloc_addr(p)	false
#define vmalloc_to_page(p)	((struct page *)(p))
#define virt_to_page(p)		((struct page *)(p))
#define ib_uses_virt_dma(dev)	true
#define smc_compat_need_sync(dev, sgt, sg)	false
#define sg_dma_address(sg)	0
#define for_each_sgtable_dma_sg(sgt, sg, i) \
	for ((i) = 0, (sg) = (sgt)->sgl; (i) < (unsigned int)(sgt)->nents; (i)++)
#define ib_dma_map_sgtable_attrs(dev, sgt, dir, attrs) (0)
#define ib_dma_unmap_sgtable_attrs(dev, sgt, dir, attrs) do { } while (0)

static inline int sg_alloc_table_from_pages(struct sg_table *sgt, struct page **pages,
					    unsigned int n, unsigned int offset, size_t size,
					    gfp_t gfp)
{
	sgt->sgl = sim_alloc(sizeof(*sgt->sgl));
	sgt->nents = 1;
	return 0;
}

static inline void sg_free_table(struct sg_table *sgt)
{
	sim_free(sgt->sgl);
}

static inline struct ib_mr *ib_alloc_mr(struct ib_pd *pd, int type, u32 pages)
{
	struct ib_mr *mr = sim_alloc(sizeof(*mr));

	/* Two devices may use the same key, and a key can be reused. */
	do {
		mr->rkey = sim_below(64);
	} while (pd->keys & BIT(mr->rkey));
	pd->keys |= BIT(mr->rkey);
	mr->pd = pd;
	mr->iova = 0;
	return mr;
}

static inline void ib_dereg_mr(struct ib_mr *mr)
{
	mr->pd->keys &= ~BIT(mr->rkey);
	sim_free(mr);
}

#define ib_map_mr_sg(mr, sg, n, offset, size) (n)

#endif
