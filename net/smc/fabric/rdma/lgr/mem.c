// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that RDMA devices read or write.  A buffer is registered once for each link, and the peer
 * is told its keys once, however many connections use its elements.
 */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "../../../smc.h"
#include "lgr.h"
#include "mem.h"

/*
 * Do the CPU and the device see each other's writes without explicit syncs?  They do not behind a
 * bounce buffer, or where caches are not coherent.  There, each look at a cursor would have to
 * sync the peer's write first, and TCP is as fast.
 */
static bool memory_coherent(const struct sg_table *sgt, struct ib_device *ibdev)
{
	struct scatterlist *sg;
	unsigned int i;

	if (ib_uses_virt_dma(ibdev))
		return true;
	for_each_sgtable_dma_sg(sgt, sg, i)
		if (smc_compat_need_sync(ibdev->dma_device, sgt, sg))
			return false;
	return true;
}

static void unmap_pages(struct sg_table *sgt, struct ib_device *ibdev)
{
	ib_dma_unmap_sgtable_attrs(ibdev, sgt, DMA_BIDIRECTIONAL, 0);
	sg_free_table(sgt);
}

static int map_pages(struct sg_table *sgt, struct ib_device *ibdev, const struct smc_buf *buf)
{
	unsigned int n = DIV_ROUND_UP(smc_buf_bytes(buf), PAGE_SIZE), i;
	u8 *mem = smc_buf_mem(buf);
	struct page **pages;
	int rc;

	pages = smc_alloc_array(n, sizeof(*pages));
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		pages[i] = is_vmalloc_addr(mem) ?
			   vmalloc_to_page(mem + i * PAGE_SIZE) :
			   virt_to_page(mem + i * PAGE_SIZE);
	rc = sg_alloc_table_from_pages(sgt, pages, n, 0, smc_buf_bytes(buf),
				       SMC_GFP_CHARGED);
	kvfree(pages);
	if (rc)
		return rc;
	rc = ib_dma_map_sgtable_attrs(ibdev, sgt, DMA_BIDIRECTIONAL, 0);
	if (rc) {
		sg_free_table(sgt);
	} else if (!memory_coherent(sgt, ibdev)) {
		pr_warn_once("smc: %s: memory is not coherent, connections stay TCP\n",
			     ibdev->name);
		unmap_pages(sgt, ibdev);
		rc = -EOPNOTSUPP;
	}
	return rc;
}

/*
 * The peer sees this address, and so does anybody who reads our Accept.  ib_map_mr_sg() has set it
 * to the bus address, which for a software device is an address of the kernel, so replace it.  Only
 * the offset in the page must stay.  The result is never zero, which a peer might take for no
 * address, and never so high that an element would wrap.
 */
static u64 random_iova(u64 mapped)
{
	return BIT_ULL(46) | (get_random_u64() & GENMASK_ULL(45, PAGE_SHIFT)) |
	       (mapped & ~PAGE_MASK);
}

static int make_mr(struct smc_rmb_on_link *on, struct smc_link *link, size_t bytes, bool remote)
{
	const struct ib_device_attr *attrs = &link->path.dev->ibdev->attrs;
	u32 page = smc_rdma_mr_page(attrs);
	struct ib_mr *mr;
	int n;

	/* It was made for links over other devices. */
	if (bytes > smc_rdma_mr_bytes(attrs))
		return -EINVAL;
	mr = ib_alloc_mr(link->pd, IB_MR_TYPE_MEM_REG, DIV_ROUND_UP(bytes, page));
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	n = ib_map_mr_sg(mr, on->sgt.sgl, on->sgt.nents, NULL, page);
	if (n != on->sgt.nents) {
		ib_dereg_mr(mr);
		return n < 0 ? n : -EINVAL;
	}
	mr->iova = random_iova(mr->iova);
	on->reg.mr = mr;
	on->reg.access = IB_ACCESS_LOCAL_WRITE | (remote ? IB_ACCESS_REMOTE_WRITE : 0);
	return 0;
}

static int __register_on(struct smc_rmb *rmb, struct smc_link *link)
{
	struct smc_rmb_on_link *on = &rmb->on_link[smc_lgr_link_index(rmb->lgr, link)];
	int rc;

	lockdep_assert_held(&rmb->lgr->setup_lock);
	if (on->registered)
		return 0;
	if (!on->reg.mr || !smc_link_works(link))
		return -ENOLINK;
	rc = smc_link_register(link, &on->reg);
	on->registered = !rc;
	return rc;
}

/**
 * smc_mem_register() - register a buffer's regions on each connected link
 * @rmb: the buffer
 *
 * Context: process; lgr->setup_lock is held.
 * Return: 0 if the buffer is registered on at least one link, -ENOLINK otherwise.
 */
int smc_mem_register(struct smc_rmb *rmb)
{
	struct smc_link *link;
	int rc = -ENOLINK;

	lockdep_assert_held(&rmb->lgr->setup_lock);
	smc_lgr_for_each_link(rmb->lgr, link)
		if (!__register_on(rmb, link))
			rc = 0;
	return rc;
}

/**
 * smc_mem_valid() - may the peer be told of a buffer's regions?
 * @rmb: the buffer
 * @link: the link that the message will travel over, behind the registration
 *
 * Context: process; lgr->setup_lock is held.
 * Return: true if so, false if the device of another link has not completed the registration yet;
 * smc_link_ops.sent is called when it has.
 */
bool smc_mem_valid(const struct smc_rmb *rmb, const struct smc_link *link)
{
	const struct smc_rmb_on_link *on;
	const struct smc_link *other;

	lockdep_assert_held(&rmb->lgr->setup_lock);
	smc_lgr_for_each_link(rmb->lgr, other) {
		on = &rmb->on_link[smc_lgr_link_index(rmb->lgr, other)];
		if (other != link && on->registered && smc_link_works(other) &&
		    !READ_ONCE(on->reg.valid))
			return false;
	}
	return true;
}

/**
 * smc_mem_mr() - get the memory region of a buffer on a link
 * @rmb: the buffer
 * @link: the link
 *
 * Context: process; lgr->setup_lock is held.
 * Return: the region, or NULL if the link is down, or was down when the buffer was created.
 */
const struct ib_mr *smc_mem_mr(const struct smc_rmb *rmb, const struct smc_link *link)
{
	lockdep_assert_held(&rmb->lgr->setup_lock);
	return rmb->on_link[smc_lgr_link_index(rmb->lgr, link)].reg.mr;
}

/**
 * smc_mem_confirmed() - record whether the peer knows an RMB
 * @rmb: the RMB
 * @yes: true if the peer knows the RMB, false if not, or not yet
 *
 * Elements of RMBs that the peer knows are taken first.
 */
void smc_mem_confirmed(struct smc_rmb *rmb, bool yes)
{
	rmb->confirmed = yes;
	smc_buf_last(rmb->buf, !yes);
}

static int reg_on_link(struct smc_rmb_on_link *on, struct smc_link *link,
		       const struct smc_buf *buf, bool remote)
{
	struct ib_device *ibdev = link->path.dev->ibdev;
	int rc;

	rc = map_pages(&on->sgt, ibdev, buf);
	if (rc)
		return rc;
	rc = make_mr(on, link, smc_buf_bytes(buf), remote);
	if (rc)
		unmap_pages(&on->sgt, ibdev);
	return rc;
}

/**
 * smc_mem_unreg() - deregister a buffer with one device
 * @on: its registration
 * @link: the link of the device; its queue pair is gone, or no post that uses the region is
 *	in progress
 *
 * Context: process, waits for the device.
 */
void smc_mem_unreg(struct smc_rmb_on_link *on, const struct smc_link *link)
{
	ib_dereg_mr(on->reg.mr);
	unmap_pages(&on->sgt, link->path.dev->ibdev);
}

/**
 * struct on_dead_link - search for registrations with the device of a dead link
 * @link:	index of the link
 * @found:	a registration, taken out of its buffer
 */
struct on_dead_link {
	unsigned int		link;
	struct smc_rmb_on_link	found;
};

static bool take_off_link(void *priv, void *arg)
{
	struct on_dead_link *dead = arg;
	struct smc_rmb *rmb = priv;
	struct smc_rmb_on_link *on = &rmb->on_link[dead->link];

	lockdep_assert_held(&rmb->lgr->setup_lock);
	if (!on->reg.mr)
		return false;
	dead->found = *on;
	*on = (struct smc_rmb_on_link) {};
	return true;
}

static void drop_pools(struct smc_lgr *lgr, struct smc_pools *pools, struct smc_link *link)
{
	struct on_dead_link dead = { .link = smc_lgr_link_index(lgr, link) };
	bool found;

	if (!pools)
		return;
	for (;;) {
		mutex_lock(&lgr->setup_lock);
		found = smc_pools_any(pools, take_off_link, &dead);
		mutex_unlock(&lgr->setup_lock);
		if (!found)
			return;
		/* Called without the lock, because the device may take its time. */
		smc_mem_unreg(&dead.found, link);
	}
}

/**
 * smc_mem_drop_link() - deregister all buffers with the device of a link
 * @lgr: the link group
 * @link: the link, down and destroyed
 *
 * Context: process, waits for the device.
 */
void smc_mem_drop_link(struct smc_lgr *lgr, struct smc_link *link)
{
	drop_pools(lgr, lgr->rmbs, link);
	drop_pools(lgr, lgr->txbufs, link);
}

/**
 * struct new_link - arguments for registering each buffer with a new link
 * @link:	the link
 * @remote:	the peer may write to the buffers
 * @rc:		0, or the negative errno that has ended the loop
 */
struct new_link {
	struct smc_link	*link;
	bool		remote;
	int		rc;
};

static bool add_to_link(void *priv, void *arg)
{
	struct new_link *new = arg;
	struct smc_rmb *rmb = priv;
	struct smc_rmb_on_link *on = &rmb->on_link[smc_lgr_link_index(rmb->lgr, new->link)];

	/* A buffer that was created when the link existed already has a region. */
	if (!on->reg.mr && !rmb->forgotten)
		new->rc = reg_on_link(on, new->link, rmb->buf, new->remote);
	return new->rc;
}

/**
 * smc_mem_add_link() - create regions for all buffers of a group on a new link
 * @lgr: the link group
 * @link: the link, created; it is not connected yet
 *
 * Context: process, may sleep; lgr->setup_lock is held.
 * Return: 0 or a negative errno; the caller must call smc_mem_drop_link() in either case.
 */
int smc_mem_add_link(struct smc_lgr *lgr, struct smc_link *link)
{
	struct new_link new = { .link = link };

	lockdep_assert_held(&lgr->setup_lock);
	if (!smc_pools_any(lgr->txbufs, add_to_link, &new)) {
		new.remote = true;
		smc_pools_any(lgr->rmbs, add_to_link, &new);
	}
	return new.rc;
}

static bool register_on_link(void *priv, void *arg)
{
	const struct smc_rmb *rmb = priv;
	struct new_link *new = arg;

	if (!rmb->forgotten)
		new->rc = __register_on(priv, new->link);
	return new->rc;
}

/**
 * smc_mem_register_link() - register the regions of all buffers on a new link
 * @lgr: the link group
 * @link: the link, connected
 *
 * Posts that are made over the link from now on follow the registrations.
 *
 * Context: process, may sleep; lgr->setup_lock is held.
 * Return: 0, or a negative errno, after which the link must be considered down.
 */
int smc_mem_register_link(struct smc_lgr *lgr, struct smc_link *link)
{
	struct new_link new = { .link = link };

	lockdep_assert_held(&lgr->setup_lock);
	if (!smc_pools_any(lgr->txbufs, register_on_link, &new))
		smc_pools_any(lgr->rmbs, register_on_link, &new);
	return new.rc;
}

/**
 * struct rtoken_list - list of our RMBs' regions on two links
 * @known:	index of the link on which the peer knows the RMBs
 * @added:	index of the new link
 * @skip:	number of RMBs that are still to be skipped
 * @n:		number of RMBs found after those
 * @room:	number of entries in @rtokens
 * @rtokens:	receives the first of them
 */
struct rtoken_list {
	unsigned int		known;
	unsigned int		added;
	unsigned int		skip;
	unsigned int		n;
	unsigned int		room;
	struct smc_llc_w_rtoken	*rtokens;
};

static bool list_rtoken(void *priv, void *arg)
{
	struct rtoken_list *list = arg;
	const struct smc_rmb *rmb = priv;
	const struct ib_mr *known = rmb->on_link[list->known].reg.mr;
	const struct ib_mr *added = rmb->on_link[list->added].reg.mr;

	if (!rmb->confirmed || rmb->forgotten || !known || !added)
		return false;
	if (list->skip) {
		list->skip--;
		return false;
	}
	if (list->n < list->room)
		smc_llc_set_rtoken(&list->rtokens[list->n], &(struct smc_llc_rtoken) {
			.ref_rkey = known->rkey,
			.rkey	  = added->rkey,
			.addr	  = added->iova,
		});
	return ++list->n == SMC_LGR_RTOKENS;
}

/**
 * smc_mem_rtokens() - list the RTokens of our RMBs for ADD LINK
 * @lgr: the link group
 * @known: the link that the message travels over
 * @added: the new link
 * @from: number of RTokens that the peer has been told already
 * @rtokens: receives the next ones
 * @room: number of entries in @rtokens
 *
 * Only RMBs that the peer knows are listed; it learns of others by CONFIRM RKEY, with all keys.
 * The list and its order do not change while a link is being added, because no other exchange is in
 * progress.
 *
 * Context: process, may sleep; lgr->setup_lock is held.
 * Return: number of RTokens that the peer has not been told, SMC_LGR_RTOKENS at most.
 */
unsigned int smc_mem_rtokens(struct smc_lgr *lgr, const struct smc_link *known,
			     const struct smc_link *added, unsigned int from,
			     struct smc_llc_w_rtoken *rtokens, unsigned int room)
{
	struct rtoken_list list = {
		.known	 = smc_lgr_link_index(lgr, known),
		.added	 = smc_lgr_link_index(lgr, added),
		.skip	 = from,
		.room	 = room,
		.rtokens = rtokens,
	};

	lockdep_assert_held(&lgr->setup_lock);
	smc_pools_any(lgr->rmbs, list_rtoken, &list);
	return list.n;
}

/* Ends what registrations are left: none after the end of the group, which releases all links. */
static void mem_unreg(void *owner, void *priv)
{
	struct smc_lgr *lgr = owner;
	struct smc_rmb *rmb = priv;
	struct smc_rmb_on_link *on;
	struct smc_link *link;

	smc_lgr_for_each_link(lgr, link) {
		on = &rmb->on_link[smc_lgr_link_index(lgr, link)];
		if (on->reg.mr)
			smc_mem_unreg(on, link);
	}
	kfree(rmb);
}

static void *mem_reg(struct smc_lgr *lgr, struct smc_buf *buf, bool remote)
{
	struct smc_rmb *rmb = kzalloc(sizeof(*rmb), SMC_GFP_CHARGED);
	struct smc_link *link;

	if (!rmb)
		return NULL;
	rmb->lgr = lgr;
	rmb->buf = buf;
	INIT_LIST_HEAD(&rmb->list);
	smc_lgr_for_each_link(lgr, link) {
		if (!smc_link_alive(link))
			continue;
		if (reg_on_link(&rmb->on_link[smc_lgr_link_index(lgr, link)], link, buf, remote)) {
			mem_unreg(lgr, rmb);
			return NULL;
		}
	}
	return rmb;
}

static void *rmb_reg(void *owner, struct smc_buf *buf)
{
	return mem_reg(owner, buf, true);
}

static void *txbuf_reg(void *owner, struct smc_buf *buf)
{
	return mem_reg(owner, buf, false);
}

/* Can the devices of all links register a buffer of a single element? */
static bool fits_regions(struct smc_lgr *lgr, u32 size)
{
	const struct smc_link *link;

	lockdep_assert_held(&lgr->setup_lock);
	smc_lgr_for_each_link(lgr, link)
		if (link->pd && size > smc_rdma_mr_bytes(&link->path.dev->ibdev->attrs))
			return false;
	return true;
}

/*
 * If memory is too fragmented for the usual buffer, try one of a single element. The pool of the
 * next size serves a connection if no buffer of this size can be registered.
 */
static unsigned int buf_rmbes(void *owner, u32 size, unsigned int failed)
{
	struct smc_lgr *lgr = owner;

	if (!fits_regions(lgr, size))
		return 0;
	if (!failed)
		return smc_mem_rmbes(size);
	return failed > 1 && lgr->buf_type == SMC_MEM_CONTIGUOUS;
}

/* Zeroed, because the peer may announce bytes that it has not written. */
static void *buf_alloc(void *owner, size_t bytes, gfp_t gfp, void **priv)
{
	const struct smc_lgr *lgr = owner;

	return smc_mem_alloc(lgr->buf_type, bytes, gfp | __GFP_ZERO);
}

const struct smc_buf_ops smc_rmb_ops = {
	.max_bufs	= SMC_LGR_RTOKENS,
	.max_code	= SMC_SIZE_CODE_LIMIT,
	.rmbes		= buf_rmbes,
	.alloc		= buf_alloc,
	.free		= smc_mem_free,
	.reg		= rmb_reg,
	.unreg		= mem_unreg,
};

const struct smc_buf_ops smc_txbuf_ops = {
	.max_bufs	= SMC_LGR_RTOKENS,
	.max_code	= SMC_SIZE_CODE_LIMIT,
	.rmbes		= buf_rmbes,
	.alloc		= buf_alloc,
	.free		= smc_mem_free,
	.reg		= txbuf_reg,
	.unreg		= mem_unreg,
};
