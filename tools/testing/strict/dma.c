// SPDX-License-Identifier: GPL-2.0
/*
 * The DMA device of an RDMA device, behind an IOMMU of its own.
 *
 * Kernels for User Mode Linux have no dma_map_ops that a module could set: the DMA API always maps
 * memory directly. But it translates addresses with dev.dma_range_map, and its tracepoints tell of
 * every call. So the map is a window that moves with each call, and the tracepoints keep the table
 * of what is mapped. The entries of a scatterlist get their addresses from the tracepoint. The
 * kernel does not look at an address that is unmapped, because nothing is ever synced.
 */
#include <linux/dma-direct.h>
#include <linux/dma-mapping.h>
#include <linux/interval_tree.h>
#include <linux/mempool.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include "strict.h"

/* In which mappings do not meet by chance: physical memory is smaller. */
#define WINDOW		SZ_4G
/* So many mappings need no memory. */
#define RESERVE		1024

struct strict_dma {
	struct device			dev;
	struct device_dma_parameters	parms;
	u64				mask;
	struct strict_dev		*owner;
	struct bus_dma_region		*window;	/* where the next mapping will be */
	struct rb_root_cached		mappings;	/* under strict_dev.lock */
	mempool_t			*pool;
	u64				next;
	u64				free_bases[STRICT_FREED];
};

struct mapping {
	struct interval_tree_node	node;		/* addresses of the device */
	phys_addr_t			phys;
	enum dma_data_direction		dir;
	bool				list;		/* by dma_map_sg() */
	unsigned int			n_list;		/* of the first one: how many entries */
};

static void release(struct device *dev)
{
	struct strict_dma *dma = container_of(dev, struct strict_dma, dev);

	mempool_destroy(dma->pool);
	kfree(dma);
}

/* The mappings of other devices are not ours. */
static struct strict_dma *to_dma(struct device *dev)
{
	return dev && dev->release == release ? container_of(dev, struct strict_dma, dev) : NULL;
}

struct device *strict_dma_device(struct strict_dma *dma)
{
	return &dma->dev;
}

/* ---- addresses ------------------------------------------------------------------------- */

static bool is_mapped(struct strict_dma *dma, u64 start, u64 length)
{
	return interval_tree_iter_first(&dma->mappings, start, start + length - 1);
}

/*
 * Where something was mapped a moment ago, or anywhere, but not side by side with something else.
 * Without freedom in order.
 */
static u64 new_base(struct strict_dma *dma, u64 length)
{
	u64 base = strict_choose(2) ? dma->free_bases[strict_below(STRICT_FREED)] : 0;
	int i;

	length = PAGE_ALIGN(length) + 2 * PAGE_SIZE;
	for (i = 0; i < 16 && (!base || is_mapped(dma, base - PAGE_SIZE, length)); i++) {
		dma->next += length + ((u64)strict_below(U32_MAX) << PAGE_SHIFT);
		base = BIT_ULL(46) + (dma->next & (BIT_ULL(46) - 1));
	}
	return base;
}

static void move_window(struct strict_dma *dma)
{
	WRITE_ONCE(dma->window->dma_start, new_base(dma, WINDOW));
}

/* ---- the table ------------------------------------------------------------------------- */

static struct mapping *to_mapping(struct interval_tree_node *node)
{
	return container_of(node, struct mapping, node);
}

static void add(struct strict_dma *dma, u64 addr, phys_addr_t phys, size_t size,
		const struct mapping *like)
{
	struct mapping *mapping = mempool_alloc(dma->pool, GFP_ATOMIC | __GFP_NOWARN);

	if (WARN_ON(!mapping))
		return;
	*mapping = *like;
	mapping->phys = phys;
	mapping->node.start = addr;
	mapping->node.last = addr + size - 1;
	interval_tree_insert(&mapping->node, &dma->mappings);
}

/* The mapping at @addr, of the right length and direction if there is one; or NULL. */
static struct mapping *find(struct strict_dma *dma, u64 addr, size_t size,
			    enum dma_data_direction dir, bool list)
{
	struct interval_tree_node *node;
	struct mapping *found = NULL;

	for (node = interval_tree_iter_first(&dma->mappings, addr, addr); node;
	     node = interval_tree_iter_next(node, addr, addr)) {
		if (node->start != addr || to_mapping(node)->list != list)
			continue;
		found = to_mapping(node);
		if (found->dir == dir && node->last - node->start + 1 == size)
			break;
	}
	return found;
}

static void drop(struct strict_dma *dma, struct mapping *mapping)
{
	/* The window is where the page was, and for a list where the address was. */
	u64 base = mapping->list ? mapping->node.start & PAGE_MASK :
		   mapping->node.start - mapping->phys;

	dma->free_bases[strict_below(STRICT_FREED)] = base;
	interval_tree_remove(&mapping->node, &dma->mappings);
	mempool_free(mapping, dma->pool);
}

static void unmap_one(struct strict_dma *dma, u64 addr, size_t size, enum dma_data_direction dir,
		      bool list)
{
	struct mapping *mapping = find(dma, addr, size, dir, list);
	size_t mapped;

	if (!mapping) {
		strict_complain(dma->owner, "%zu bytes at %#llx are unmapped, but not mapped so", size,
				addr);
		return;
	}
	mapped = mapping->node.last - mapping->node.start + 1;
	if (mapped != size || mapping->dir != dir)
		strict_complain(dma->owner,
				"%#llx is unmapped with %zu bytes, direction %d; it was mapped with %zu, %d",
				addr, size, dir, mapped, mapping->dir);
	if (strict_in_use(dma->owner, addr, addr + mapped - 1))
		strict_complain(dma->owner, "%#llx is unmapped; a work request uses it", addr);
	drop(dma, mapping);
}

/* ---- what the DMA API tells ------------------------------------------------------------ */

static void mapped(void *data, struct device *dev, phys_addr_t phys, dma_addr_t addr, size_t size,
		   enum dma_data_direction dir, unsigned long attrs)
{
	struct strict_dma *dma = to_dma(dev);
	unsigned long flags;

	if (!dma || addr == DMA_MAPPING_ERROR)
		return;
	spin_lock_irqsave(&dma->owner->lock, flags);
	add(dma, addr, phys, size, &(struct mapping) { .dir = dir });
	move_window(dma);
	spin_unlock_irqrestore(&dma->owner->lock, flags);
}

static void unmapped(void *data, struct device *dev, dma_addr_t addr, size_t size,
		     enum dma_data_direction dir, unsigned long attrs)
{
	struct strict_dma *dma = to_dma(dev);
	unsigned long flags;

	if (!dma)
		return;
	spin_lock_irqsave(&dma->owner->lock, flags);
	unmap_one(dma, addr, size, dir, false);
	move_window(dma);
	spin_unlock_irqrestore(&dma->owner->lock, flags);
}

static void mapped_list(void *data, struct device *dev, struct scatterlist *sgl, int nents,
			int ents, enum dma_data_direction dir, unsigned long attrs)
{
	struct mapping like = { .dir = dir, .list = true, .n_list = nents };
	struct strict_dma *dma = to_dma(dev);
	struct scatterlist *sg;
	unsigned long flags;
	int i;

	if (!dma)
		return;
	spin_lock_irqsave(&dma->owner->lock, flags);
	for_each_sg(sgl, sg, ents, i) {
		sg_dma_address(sg) = new_base(dma, sg->offset + sg->length) + offset_in_page(sg->offset);
		add(dma, sg_dma_address(sg), sg_phys(sg), sg_dma_len(sg), &like);
		like.n_list = 0;
	}
	spin_unlock_irqrestore(&dma->owner->lock, flags);
}

static void unmapped_list(void *data, struct device *dev, struct scatterlist *sgl, int nents,
			  enum dma_data_direction dir, unsigned long attrs)
{
	struct strict_dma *dma = to_dma(dev);
	struct mapping *first;
	struct scatterlist *sg;
	unsigned long flags;
	int i;

	if (!dma)
		return;
	spin_lock_irqsave(&dma->owner->lock, flags);
	first = find(dma, sg_dma_address(sgl), sg_dma_len(sgl), dir, true);
	if (first && first->n_list != nents)
		strict_complain(dma->owner, "%d entries of a list of %u are unmapped", nents,
				first->n_list);
	for_each_sg(sgl, sg, nents, i)
		unmap_one(dma, sg_dma_address(sg), sg_dma_len(sg), dir, true);
	spin_unlock_irqrestore(&dma->owner->lock, flags);
}

static struct probe {
	const char		*name;
	void			*call;
	struct tracepoint	*tp;
} probes[] = {
	{ "dma_map_page", mapped },		/* until 6.17 */
	{ "dma_map_phys", mapped },
	{ "dma_unmap_page", unmapped },
	{ "dma_unmap_phys", unmapped },
	{ "dma_map_sg", mapped_list },
	{ "dma_unmap_sg", unmapped_list },
};

static void find_probe(struct tracepoint *tp, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tp->name, probes[i].name))
			probes[i].tp = tp;
}

int strict_dma_init(void)
{
	int i, n = 0;

	for_each_kernel_tracepoint(find_probe, NULL);
	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probes[i].tp && !tracepoint_probe_register(probes[i].tp, probes[i].call, NULL))
			n++;
		else
			probes[i].tp = NULL;
	if (n == 4)
		return 0;
	strict_dma_exit();
	pr_err("strict: the kernel has no tracepoints of the DMA API\n");
	return -EOPNOTSUPP;
}

void strict_dma_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probes[i].tp)
			tracepoint_probe_unregister(probes[i].tp, probes[i].call, NULL);
	tracepoint_synchronize_unregister();
}

/* ---- the device ------------------------------------------------------------------------ */

int strict_dma_create(struct strict_dev *dev)
{
	struct strict_dma *dma = kzalloc(sizeof(*dma), GFP_KERNEL);

	if (!dma)
		return -ENOMEM;
	device_initialize(&dma->dev);
	dma->dev.release = release;
	dma->owner = dev;
	dma->mappings = RB_ROOT_CACHED;
	dma->pool = mempool_create_kmalloc_pool(RESERVE, sizeof(struct mapping));
	/* The device frees it; a region of no bytes is the end. */
	dma->window = kcalloc(2, sizeof(*dma->window), GFP_KERNEL);
	dma->dev.dma_range_map = dma->window;
	if (!dma->pool || !dma->window || dev_set_name(&dma->dev, "strict")) {
		put_device(&dma->dev);
		return -ENOMEM;
	}
	dma->window->size = BIT_ULL(40);
	move_window(dma);
	/* Coherent memory is not offered. */
	dma->mask = DMA_BIT_MASK(64);
	dma->dev.dma_mask = &dma->mask;
	dma->dev.dma_parms = &dma->parms;
	dma_set_max_seg_size(&dma->dev, UINT_MAX);
	dev->dma = dma;
	return 0;
}

/* The consumers have gone. */
void strict_dma_destroy(struct strict_dev *dev)
{
	struct interval_tree_node *node;
	struct strict_dma *dma = dev->dma;
	unsigned long n = 0;

	if (!dma)
		return;
	while ((node = interval_tree_iter_first(&dma->mappings, 0, ULONG_MAX))) {
		if (!n++)
			strict_complain(dev, "%lu bytes at %#lx are still mapped",
					node->last - node->start + 1, node->start);
		drop(dma, to_mapping(node));
	}
	if (n > 1)
		strict_complain(dev, "and %lu other mappings", n - 1);
	put_device(&dma->dev);
}

/* The mapping that covers all of it, or NULL. */
static struct mapping *covering(struct strict_dma *dma, u64 addr, u32 length, bool write)
{
	enum dma_data_direction dir = write ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
	struct interval_tree_node *node;

	for (node = interval_tree_iter_first(&dma->mappings, addr, addr); node;
	     node = interval_tree_iter_next(node, addr, addr))
		if (node->last - addr >= length - 1 &&
		    (to_mapping(node)->dir == dir || to_mapping(node)->dir == DMA_BIDIRECTIONAL))
			return to_mapping(node);
	return NULL;
}

/* May the device read or write there? @length is not zero. */
bool strict_dma_allows(struct strict_dma *dma, u64 addr, u32 length, bool write)
{
	lockdep_assert_held(&dma->owner->lock);
	return covering(dma, addr, length, write);
}

/* Copies between @data and memory. Returns false if that is not mapped. */
bool strict_dma_copy(struct strict_dma *dma, u64 addr, void *data, u32 length, bool to_memory)
{
	struct mapping *mapping = covering(dma, addr, length, to_memory);
	void *memory;

	lockdep_assert_held(&dma->owner->lock);
	if (!mapping)
		return false;
	memory = phys_to_virt(mapping->phys + (addr - mapping->node.start));
	if (to_memory)
		memcpy(memory, data, length);
	else
		memcpy(data, memory, length);
	return true;
}
