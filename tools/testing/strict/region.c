// SPDX-License-Identifier: GPL-2.0
/* Protection domains, memory regions, and the memory behind them. */
#include <linux/slab.h>
#include "strict.h"

int strict_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	might_sleep();
	return 0;
}

int strict_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct strict_dev *dev = to_dev(pd->device);
	int i;

	might_sleep();
	spin_lock_irq(&dev->lock);
	for (i = 0; i < STRICT_DEAD; i++)
		if (dev->dead[i].pd == pd)
			dev->dead[i] = (struct strict_dead) {};
	spin_unlock_irq(&dev->lock);
	return 0;
}

static void key_lives(struct strict_dev *dev, u32 key)
{
	int i;

	spin_lock_irq(&dev->lock);
	for (i = 0; i < STRICT_DEAD; i++)
		if (dev->dead[i].rkey == key)
			dev->dead[i] = (struct strict_dead) {};
	spin_unlock_irq(&dev->lock);
}

/* A key that was just given back is used again, or any other number. */
static int take_key(struct strict_dev *dev, struct strict_mr *mr, u32 *key)
{
	u32 old, index;
	int rc;

	if (strict_choose(2)) {
		old = READ_ONCE(dev->free_keys[strict_below(STRICT_FREED)]);
		if (old && !xa_insert_bh(&dev->mrs, old >> 8, mr, GFP_KERNEL)) {
			key_lives(dev, old);
			*key = old;
			return 0;
		}
	}
	rc = xa_alloc_cyclic_bh(&dev->mrs, &index, mr, XA_LIMIT(1, 0xfffffe), &dev->next_mr, GFP_KERNEL);
	if (rc >= 0)
		*key = index << 8 | strict_below(256);
	return min(rc, 0);
}

static void free_key(struct strict_dev *dev, u32 key)
{
	if (!key)
		return;
	WRITE_ONCE(dev->free_keys[strict_below(STRICT_FREED)], key);
	xa_erase_bh(&dev->mrs, key >> 8);
}

static void free_mr(struct strict_dev *dev, struct strict_mr *mr)
{
	free_key(dev, mr->lkey);
	free_key(dev, mr->rkey);
	/* Regions are looked up under the lock. */
	spin_lock_irq(&dev->lock);
	spin_unlock_irq(&dev->lock);
	kvfree(mr->pages);
	kfree(mr);
	atomic_dec(&dev->n_mrs);
}

static struct strict_mr *add_mr(struct ib_pd *pd, u32 max_pages)
{
	struct strict_dev *dev = to_dev(pd->device);
	struct strict_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	int rc;

	strict_dawdle();
	if (!mr || !strict_take_one(&dev->n_mrs, dev->limits.max_mr)) {
		kfree(mr);
		return ERR_PTR(-ENOMEM);
	}
	mr->ib.pd = pd;
	mr->max_pages = max_pages;
	mr->pages = kvcalloc(max_pages ?: 1, sizeof(*mr->pages), GFP_KERNEL);
	rc = mr->pages && !strict_fails() ? 0 : -ENOMEM;
	rc = rc ?: take_key(dev, mr, &mr->lkey);
	rc = rc ?: take_key(dev, mr, &mr->rkey);
	if (rc) {
		free_mr(dev, mr);
		return ERR_PTR(rc);
	}
	mr->ib.lkey = mr->lkey;
	mr->ib.rkey = mr->rkey;
	return mr;
}

struct ib_mr *strict_get_dma_mr(struct ib_pd *pd, int access)
{
	struct strict_mr *mr = add_mr(pd, 0);

	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->all = true;
	mr->valid = true;
	mr->access = access;
	return &mr->ib;
}

struct ib_mr *strict_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_sg)
{
	struct strict_dev *dev = to_dev(pd->device);
	struct strict_mr *mr;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (max_sg > dev->ib.attrs.max_fast_reg_page_list_len) {
		strict_complain(dev, "a region of %u pages, of %u at most", max_sg,
				dev->ib.attrs.max_fast_reg_page_list_len);
		return ERR_PTR(-EINVAL);
	}
	mr = add_mr(pd, max_sg);
	return IS_ERR(mr) ? ERR_CAST(mr) : &mr->ib;
}

static int add_page(struct ib_mr *ibmr, u64 addr)
{
	struct strict_mr *mr = to_mr(ibmr);

	if (mr->n_pages == mr->max_pages)
		return -ENOMEM;
	mr->pages[mr->n_pages++] = addr;
	return 0;
}

/* The address that the consumer uses shares only its offset with that of the memory. */
int strict_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int n, unsigned int *sg_offset)
{
	struct strict_dev *dev = to_dev(ibmr->device);
	struct strict_mr *mr = to_mr(ibmr);

	if (mr->valid || mr->posted)
		strict_complain(dev, "pages for key %#x, which is valid", mr->rkey);
	if (!(ibmr->page_size & dev->limits.page_size_cap)) {
		strict_complain(dev, "key %#x: pages of %u bytes", mr->rkey, ibmr->page_size);
		return -EINVAL;
	}
	mr->n_pages = 0;
	n = ib_sg_to_pages(ibmr, sg, n, sg_offset, add_page);
	mr->offset = ibmr->iova & (ibmr->page_size - 1);
	/* The kernel's own SMC tells its peer the address of the memory. */
	if (!strict_lenient())
		ibmr->iova ^= (u64)strict_below(1 << 20) << 40;
	return n;
}

int strict_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct strict_dev *dev = to_dev(ibmr->device);
	struct strict_mr *mr = to_mr(ibmr);
	unsigned int users;

	strict_dawdle();
	spin_lock_irq(&dev->lock);
	users = mr->users;
	strict_key_dies(dev, mr);
	mr->valid = false;
	mr->posted = NULL;
	spin_unlock_irq(&dev->lock);
	if (users)
		strict_complain(dev, "key %#x is deregistered; %u work requests use it", mr->lkey, users);
	free_mr(dev, mr);
	return 0;
}

/* The region of a local key, valid or not, or NULL. */
struct strict_mr *strict_lkey_mr(struct strict_dev *dev, u32 lkey)
{
	struct strict_mr *mr = xa_load(&dev->mrs, lkey >> 8);

	lockdep_assert_held(&dev->lock);
	/* Zero if the device has none. */
	if (lkey && lkey == dev->ib.local_dma_lkey)
		return &dev->dma_mr;
	return mr && mr->lkey == lkey ? mr : NULL;
}

/* The region of a remote key, valid or not, or NULL. */
struct strict_mr *strict_rkey_mr(struct strict_dev *dev, u32 rkey)
{
	struct strict_mr *mr = xa_load(&dev->mrs, rkey >> 8);

	lockdep_assert_held(&dev->lock);
	return mr && mr->rkey == rkey ? mr : NULL;
}

/* Of local_dma_lkey, the queue pairs of all protection domains may use it. */
static bool serves(const struct strict_mr *mr, const struct strict_qp *qp)
{
	return !mr->ib.pd || mr->ib.pd == qp->ib.pd;
}

/*
 * The region that a work request may use, or NULL. It may follow the one that makes the region
 * valid without waiting for its completion, but only on the same queue pair.
 */
struct strict_mr *strict_local_mr(struct strict_dev *dev, const struct strict_qp *qp, u32 lkey)
{
	struct strict_mr *mr = strict_lkey_mr(dev, lkey);

	return mr && (mr->valid || mr->posted == qp) && serves(mr, qp) ? mr : NULL;
}

/* The region that a receive buffer may be in, or NULL: the send queue is not ordered before it. */
struct strict_mr *strict_receive_mr(struct strict_dev *dev, const struct strict_qp *qp, u32 lkey)
{
	struct strict_mr *mr = strict_lkey_mr(dev, lkey);

	return mr && mr->valid && serves(mr, qp) ? mr : NULL;
}

/* The region that the peer may use, or NULL. */
struct strict_mr *strict_remote_mr(struct strict_dev *dev, const struct strict_qp *qp, u32 rkey)
{
	struct strict_mr *mr = strict_rkey_mr(dev, rkey);

	return mr && mr->valid && mr->ib.pd == qp->ib.pd ? mr : NULL;
}

static bool is_connected(const struct strict_qp *qp)
{
	return qp->state == IB_QPS_RTR || qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD;
}

/*
 * Remembers a key that becomes invalid while a peer can write with it. If it does later, the
 * consumer has freed memory too early, or has not waited until the peer knew.
 */
void strict_key_dies(struct strict_dev *dev, const struct strict_mr *mr)
{
	struct strict_qp *qp;

	lockdep_assert_held(&dev->lock);
	if (!mr->valid || !(mr->access & IB_ACCESS_REMOTE_WRITE))
		return;
	list_for_each_entry(qp, &dev->qps, list)
		if (qp->ib.pd == mr->ib.pd && is_connected(qp)) {
			dev->dead[dev->n_dead++ % STRICT_DEAD] =
				(struct strict_dead) { .rkey = mr->rkey, .pd = mr->ib.pd };
			return;
		}
}

bool strict_is_dead(struct strict_dev *dev, const struct strict_qp *qp, u32 rkey)
{
	unsigned int i;

	lockdep_assert_held(&dev->lock);
	for (i = 0; i < STRICT_DEAD; i++)
		if (dev->dead[i].rkey == rkey && dev->dead[i].pd == qp->ib.pd)
			return true;
	return false;
}

bool strict_mr_allows(const struct strict_mr *mr, u64 addr, u64 length, int access)
{
	if ((mr->access & access) != access)
		return false;
	return mr->all || (addr >= mr->iova && length <= mr->length &&
			   addr - mr->iova <= mr->length - length);
}

/*
 * Finds the address at which the device reaches @addr of a region. Returns how many of @length
 * bytes follow there.
 */
static u32 translate(const struct strict_mr *mr, u64 addr, u32 length, u64 *dma)
{
	u64 at = addr - mr->iova + mr->offset;
	u32 in_page = at & (mr->ib.page_size - 1);

	*dma = mr->all ? addr : mr->pages[at >> ilog2(mr->ib.page_size)] + in_page;
	return mr->all ? length : min_t(u32, length, mr->ib.page_size - in_page);
}

/* Has the consumer mapped this part of a region, which the region allows, for the device? */
bool strict_mr_mapped(struct strict_dev *dev, const struct strict_mr *mr, u64 addr, u32 length,
		      bool write)
{
	u64 dma;
	u32 n;

	for (; length; length -= n, addr += n) {
		n = translate(mr, addr, length, &dma);
		if (!strict_dma_allows(dev->dma, dma, n, write))
			return false;
	}
	return true;
}

/* Is any of it at the addresses from @first to @last? */
bool strict_mr_touches(const struct strict_mr *mr, u64 addr, u32 length, u64 first, u64 last)
{
	u64 dma;
	u32 n;

	for (; length; length -= n, addr += n) {
		n = translate(mr, addr, length, &dma);
		if (dma <= last && first <= dma + n - 1)
			return true;
	}
	return false;
}

/* Copies between @data and @addr, which the region allows. Returns false if that is not mapped. */
bool strict_mr_copy(struct strict_dev *dev, const struct strict_mr *mr, u64 addr, void *data,
		    u32 length, bool to_memory)
{
	u64 dma;
	u32 n;

	for (; length; length -= n, addr += n, data += n) {
		n = translate(mr, addr, length, &dma);
		if (!strict_dma_copy(dev->dma, dma, data, n, to_memory))
			return false;
	}
	return true;
}
