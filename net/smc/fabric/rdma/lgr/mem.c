// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that RDMA devices read or write.  A buffer is registered once for each link, and its
 * keys told to the peer once, however many connections use its elements.
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
static bool memory_coherent(const struct sg_table *sgt, struct ib_device *ibdev)
{
	struct scatterlist *sg;
	unsigned int i;

	if (ib_uses_virt_dma(ibdev))
		return true;
	for_each_sgtable_dma_sg(sgt, sg, i)
		if (dma_need_sync(ibdev->dma_device, sg_dma_address(sg)))
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

	pages = kvmalloc_array(n, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		pages[i] = is_vmalloc_addr(mem) ?
			   vmalloc_to_page(mem + i * PAGE_SIZE) :
			   virt_to_page(mem + i * PAGE_SIZE);
	rc = sg_alloc_table_from_pages(sgt, pages, n, 0, smc_buf_bytes(buf), GFP_KERNEL);
	kvfree(pages);
	if (rc)
		return rc;
	rc = ib_dma_map_sgtable_attrs(ibdev, sgt, DMA_BIDIRECTIONAL, 0);
	if (rc) {
		sg_free_table(sgt);
	} else if (!memory_coherent(sgt, ibdev)) {
		pr_warn_once("%s: memory is not coherent, connections stay TCP\n",
			     ibdev->name);
		unmap_pages(sgt, ibdev);
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

static int make_mr(struct smc_rmb_on_link *on, struct smc_link *link, size_t bytes, bool remote)
{
	unsigned int pages = DIV_ROUND_UP(bytes, PAGE_SIZE);
	struct ib_mr *mr;
	int n;

	mr = ib_alloc_mr(link->pd, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	n = ib_map_mr_sg(mr, on->sgt.sgl, on->sgt.nents, NULL, PAGE_SIZE);
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
 * smc_mem_register() - make a buffer's regions valid, on each link that is connected
 * @rmb: the buffer
 *
 * Context: process; lgr->setup_lock is held.
 * Return: 0 if there is such a link, else -ENOLINK.
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
 * @link: the message that tells it travels over this link, behind the registration
 *
 * Context: process; lgr->setup_lock is held.
 * Return: false if a device has yet to say that it knows a region on another link;
 * smc_link_ops.sent follows.
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
 * smc_mem_mr() - the memory region of a buffer on a link
 * @rmb: the buffer
 * @link: the link
 *
 * Context: process; lgr->setup_lock is held.
 * Return: the region, or NULL if the link is down or was when the buffer was made.
 */
const struct ib_mr *smc_mem_mr(const struct smc_rmb *rmb, const struct smc_link *link)
{
	lockdep_assert_held(&rmb->lgr->setup_lock);
	return rmb->on_link[smc_lgr_link_index(rmb->lgr, link)].reg.mr;
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
 * smc_mem_unreg() - one device forgets a buffer
 * @on: its registration
 * @link: its link.  The queue pair is gone, or nothing that uses the region is under way
 *
 * Context: process, waits for the device.
 */
void smc_mem_unreg(struct smc_rmb_on_link *on, const struct smc_link *link)
{
	ib_dereg_mr(on->reg.mr);
	unmap_pages(&on->sgt, link->path.dev->ibdev);
}

/**
 * struct on_dead_link - a search for what a dead link has
 * @link:	index of the link
 * @found:	taken out of the buffer that has it
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
		/* The device may take its time. */
		smc_mem_unreg(&dead.found, link);
	}
}

/**
 * smc_mem_drop_link() - the device of a link forgets all buffers
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
 * struct new_link - the arguments for registering each buffer with a new link
 * @link:	the link
 * @remote:	the peer may write there
 * @rc:		0 or a negative errno, which ends it
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

	/* One that was made when the link was there already has a region. */
	if (!on->reg.mr && !rmb->forgotten)
		new->rc = reg_on_link(on, new->link, rmb->buf, new->remote);
	return new->rc;
}

/**
 * smc_mem_add_link() - have all buffers of a group known on a new link
 * @lgr: the link group
 * @link: the link, created; it is not connected yet
 *
 * Context: process, may sleep; lgr->setup_lock is held.
 * Return: 0 or a negative errno; smc_mem_drop_link() in any case.
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
 * smc_mem_register_link() - make the regions of all buffers valid on a new link
 * @lgr: the link group
 * @link: the link, connected
 *
 * Whatever is posted over the link from now on follows the registrations.
 *
 * Context: process, may sleep; lgr->setup_lock is held.
 * Return: 0, or a negative errno: the link is as good as down.
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
 * struct rtoken_list - the regions of our RMBs on two links
 * @known:	index of the link where the peer knows them
 * @added:	index of the new one
 * @skip:	so many come before
 * @n:		how many there are after that
 * @room:	in @rtokens
 * @rtokens:	the first ones
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
 * smc_mem_rtokens() - the RTokens of our RMBs for ADD LINK
 * @lgr: the link group
 * @known: the link that the message travels over
 * @added: the new one
 * @from: how many of them the peer has been told
 * @rtokens: receives the next ones
 * @room: for so many
 *
 * Only RMBs that the peer knows: of others it learns by CONFIRM RKEY, with all keys.  While a link
 * is being added these are the same ones, in the same order: no other exchange is under way.
 *
 * Context: process, may sleep; lgr->setup_lock is held.
 * Return: how many the peer has yet to be told, SMC_LGR_RTOKENS at most.
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

/* Unregister the rest; nothing is left at the end of the group, when all links are released. */
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
	struct smc_rmb *rmb = kzalloc(sizeof(*rmb), GFP_KERNEL_ACCOUNT);
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

/* In fragmented memory a buffer of one element may still be available. */
static unsigned int buf_rmbes(void *owner, u32 size, unsigned int failed)
{
	const struct smc_lgr *lgr = owner;

	if (!failed)
		return smc_mem_rmbes(size);
	return failed > 1 && lgr->buf_type == SMC_MEM_CONTIGUOUS;
}

/* Zeroed: the peer may announce what it has not written. */
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
