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
	might_sleep();
	return 0;
}

static struct strict_mr *add_mr(struct strict_dev *dev, u32 max_pages)
{
	struct strict_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	u32 index;
	int rc;

	might_sleep();
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->max_pages = max_pages;
	mr->pages = kvcalloc(max_pages ?: 1, sizeof(*mr->pages), GFP_KERNEL);
	rc = mr->pages ? xa_alloc_cyclic_bh(&dev->mrs, &index, mr, XA_LIMIT(1, 0xfffffe),
					    &dev->next_mr, GFP_KERNEL) : -ENOMEM;
	if (rc < 0) {
		kvfree(mr->pages);
		kfree(mr);
		return ERR_PTR(rc);
	}
	/* A device may use any number as a key. */
	mr->ib.lkey = index << 8 | strict_below(256);
	mr->ib.rkey = mr->ib.lkey;
	return mr;
}

struct ib_mr *strict_get_dma_mr(struct ib_pd *pd, int access)
{
	struct strict_mr *mr = add_mr(to_dev(pd->device), 0);

	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->all = true;
	mr->valid = true;
	mr->access = access;
	mr->ib.pd = pd;
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
	mr = add_mr(dev, max_sg);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->ib.pd = pd;
	return &mr->ib;
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
	struct strict_mr *mr = to_mr(ibmr);

	if (mr->valid)
		strict_complain(to_dev(ibmr->device), "pages for key %#x, which is valid", ibmr->rkey);
	mr->n_pages = 0;
	n = ib_sg_to_pages(ibmr, sg, n, sg_offset, add_page);
	mr->offset = ibmr->iova & (ibmr->page_size - 1);
	ibmr->iova ^= (u64)strict_below(1 << 20) << 40;
	return n;
}

int strict_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct strict_dev *dev = to_dev(ibmr->device);
	struct strict_mr *mr = to_mr(ibmr);
	unsigned int users;

	might_sleep();
	spin_lock_irq(&dev->lock);
	users = mr->users;
	mr->valid = false;
	mr->posted = false;
	spin_unlock_irq(&dev->lock);
	xa_erase_bh(&dev->mrs, ibmr->lkey >> 8);
	/* Regions are looked up under the lock. */
	spin_lock_irq(&dev->lock);
	spin_unlock_irq(&dev->lock);
	if (users)
		strict_complain(dev, "key %#x is deregistered; %u work requests use it", ibmr->lkey, users);
	kvfree(mr->pages);
	kfree(mr);
	return 0;
}

/* The region of a key, valid or not, or NULL. */
struct strict_mr *strict_any_mr(struct strict_dev *dev, u32 key)
{
	struct strict_mr *mr = xa_load(&dev->mrs, key >> 8);

	lockdep_assert_held(&dev->lock);
	return mr && mr->ib.lkey == key ? mr : NULL;
}

/*
 * The region of a key that is valid, or NULL. Local work requests may follow the one that makes it
 * valid without waiting for its completion.
 */
struct strict_mr *strict_find_mr(struct strict_dev *dev, struct ib_pd *pd, u32 key, bool local)
{
	struct strict_mr *mr = strict_any_mr(dev, key);

	return mr && (mr->valid || (local && mr->posted)) && mr->ib.pd == pd ? mr : NULL;
}

bool strict_mr_allows(const struct strict_mr *mr, u64 addr, u64 length, int access)
{
	if ((mr->access & access) != access)
		return false;
	return mr->all || (addr >= mr->ib.iova && length <= mr->ib.length &&
			   addr - mr->ib.iova <= mr->ib.length - length);
}

/* Copies between @data and memory at @addr, which the region allows. */
void strict_mr_copy(const struct strict_mr *mr, u64 addr, void *data, u32 length, bool to_memory)
{
	while (length) {
		u64 at = addr - mr->ib.iova + mr->offset;
		u32 in_page = mr->all ? 0 : at & (mr->ib.page_size - 1);
		u32 n = mr->all ? length : min_t(u32, length, mr->ib.page_size - in_page);
		void *memory = ib_virt_dma_to_ptr(mr->all ? addr :
						  mr->pages[at / mr->ib.page_size] + in_page);

		if (to_memory)
			memcpy(memory, data, n);
		else
			memcpy(data, memory, n);
		data += n;
		addr += n;
		length -= n;
	}
}
