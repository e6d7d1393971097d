// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that the RDMA device reads or writes.  A buffer is registered once, and
 * its key told to the peer once, however many connections use its elements.
 */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "lgr.h"
#include "mem.h"

/*
 * Does the device see what we write, and the other way round, with nothing to be
 * done between?  Not behind a bounce buffer, nor where caches are not coherent:
 * there a peer's write would have to be fetched by hand before every look at a
 * cursor, and TCP does as well.
 */
static bool coherent(const struct smc_rmb *rmb, struct ib_device *ibdev)
{
	struct scatterlist *sg;
	unsigned int i;

	if (ib_uses_virt_dma(ibdev))
		return true;
	for_each_sgtable_dma_sg(&rmb->sgt, sg, i)
		if (dma_need_sync(ibdev->dma_device, sg_dma_address(sg)))
			return false;
	return true;
}

static void unmap_pages(struct smc_rmb *rmb, struct ib_device *ibdev)
{
	ib_dma_unmap_sgtable_attrs(ibdev, &rmb->sgt, DMA_BIDIRECTIONAL, 0);
	sg_free_table(&rmb->sgt);
}

static int map_pages(struct smc_rmb *rmb, struct ib_device *ibdev,
		     const struct smc_buf *buf)
{
	unsigned int n = DIV_ROUND_UP(smc_buf_bytes(buf), PAGE_SIZE), i;
	u8 *mem = smc_buf_mem(buf);
	struct page **pages;
	int rc;

	pages = kvmalloc_array(n, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		pages[i] = is_vmalloc_addr(mem) ?
			   vmalloc_to_page(mem + i * PAGE_SIZE) :
			   virt_to_page(mem + i * PAGE_SIZE);
	rc = sg_alloc_table_from_pages(&rmb->sgt, pages, n, 0, smc_buf_bytes(buf),
				       GFP_KERNEL);
	kvfree(pages);
	if (rc)
		return rc;
	rc = ib_dma_map_sgtable_attrs(ibdev, &rmb->sgt, DMA_BIDIRECTIONAL, 0);
	if (rc) {
		sg_free_table(&rmb->sgt);
	} else if (!coherent(rmb, ibdev)) {
		pr_warn_once("%s: memory is not coherent, connections stay TCP\n",
			     ibdev->name);
		unmap_pages(rmb, ibdev);
		rc = -EOPNOTSUPP;
	}
	return rc;
}

/*
 * The peer sees this address, and so does whoever reads our Accept.  What ib_map_mr_sg() has
 * put there is the address on the bus, which for a device in software is one of the kernel's.
 * Only the place in the page must stay.  Not zero, which a peer might take for none; never so
 * high that an element would wrap.
 */
static u64 random_iova(u64 mapped)
{
	return BIT_ULL(46) | (get_random_u64() & GENMASK_ULL(45, PAGE_SHIFT)) |
	       (mapped & ~PAGE_MASK);
}

static int make_mr(struct smc_rmb *rmb, struct smc_link *link, size_t bytes)
{
	unsigned int pages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	struct ib_mr *mr;
	int n;

	mr = ib_alloc_mr(link->pd, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	n = ib_map_mr_sg(mr, rmb->sgt.sgl, rmb->sgt.nents, NULL, PAGE_SIZE);
	if (n != rmb->sgt.nents) {
		ib_dereg_mr(mr);
		return n < 0 ? n : -EINVAL;
	}
	mr->iova = random_iova(mr->iova);
	rmb->mr = mr;
	return 0;
}

/**
 * smc_mem_register() - the device may use the buffer
 * @rmb: the buffer
 *
 * It needs a connected link, and therefore comes later than the key, which is known
 * at once.
 *
 * Context: process, may sleep; lgr->life is held.
 * Return: 0 or a negative errno.
 */
int smc_mem_register(struct smc_rmb *rmb)
{
	int access = IB_ACCESS_LOCAL_WRITE |
		     (rmb->remote ? IB_ACCESS_REMOTE_WRITE : 0);
	struct smc_lgr *lgr = rmb->lgr;
	int rc;

	lockdep_assert_held(&lgr->life);
	if (rmb->registered)
		return 0;
	rc = smc_link_reg_mr(&lgr->links[0], rmb->mr, access);
	if (!rc)
		rmb->registered = true;
	return rc;
}

/**
 * smc_mem_confirmed() - does the peer know the RMB?
 * @rmb: the RMB
 * @yes: or, for now, not
 *
 * Elements of those that it knows are taken first.
 */
void smc_mem_confirmed(struct smc_rmb *rmb, bool yes)
{
	rmb->confirmed = yes;
	smc_buf_last(rmb->buf, !yes);
}

static void *mem_reg(struct smc_lgr *lgr, struct smc_buf *buf, bool remote)
{
	struct smc_link *link = &lgr->links[0];
	struct ib_device *ibdev = link->path.dev->ibdev;
	struct smc_rmb *rmb = kzalloc(sizeof(*rmb), GFP_KERNEL_ACCOUNT);

	if (!rmb)
		return NULL;
	rmb->lgr = lgr;
	rmb->buf = buf;
	rmb->remote = remote;
	INIT_LIST_HEAD(&rmb->list);
	if (map_pages(rmb, ibdev, buf))
		goto err_free;
	if (make_mr(rmb, link, smc_buf_bytes(buf)))
		goto err_unmap;
	return rmb;

err_unmap:
	unmap_pages(rmb, ibdev);
err_free:
	kfree(rmb);
	return NULL;
}

static void *rmb_reg(void *owner, struct smc_buf *buf)
{
	return mem_reg(owner, buf, true);
}

static void *txbuf_reg(void *owner, struct smc_buf *buf)
{
	return mem_reg(owner, buf, false);
}

/* The queue pair is gone: the device does not use the memory any more. */
static void mem_unreg(void *owner, void *priv)
{
	struct smc_lgr *lgr = owner;
	struct smc_rmb *rmb = priv;

	ib_dereg_mr(rmb->mr);
	unmap_pages(rmb, lgr->links[0].path.dev->ibdev);
	kfree(rmb);
}

const struct smc_buf_ops smc_rmb_ops = {
	.max_bufs	= SMC_LGR_RTOKENS,
	.reg		= rmb_reg,
	.unreg		= mem_unreg,
};

const struct smc_buf_ops smc_txbuf_ops = {
	.max_bufs	= SMC_LGR_RTOKENS,
	.reg		= txbuf_reg,
	.unreg		= mem_unreg,
};
