// SPDX-License-Identifier: GPL-2.0
/*
 * What a device can do, and how much of it.
 *
 * A parameter of the module sets a limit for all devices made from now on. With limits=random the
 * kernel's random numbers choose the others anew for each device, so the two ends of a link differ.
 * The file profiles.table has the values of devices that one can buy.
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/random.h>
#include "strict.h"

#define LIMIT(name, text) \
	static unsigned int name; \
	module_param(name, uint, 0600); \
	MODULE_PARM_DESC(name, text "; 0: as usual")

LIMIT(max_qp, "number of queue pairs");
LIMIT(max_qp_wr, "work requests in a queue");
LIMIT(max_send_sge, "elements of what is sent, 4 at most");
LIMIT(max_recv_sge, "elements of a receive buffer, 4 at most");
LIMIT(max_cqe, "completions in a queue");
LIMIT(max_mr, "number of memory regions");
LIMIT(max_pages, "pages of a region, max_fast_reg_page_list_len");
LIMIT(page_sizes, "page sizes of regions, a bit for each");
LIMIT(vectors, "completion vectors");
LIMIT(mtu, "the largest path MTU, 256 to 4096");

/* Here 0 means that there is none. */
static int max_inline = -1;
module_param(max_inline, int, 0600);
MODULE_PARM_DESC(max_inline, "bytes of inline data, 64 at most; -1: as usual");

static int dma_lkey = -1;
module_param(dma_lkey, int, 0600);
MODULE_PARM_DESC(dma_lkey, "0 or 1: has a key for all memory, IBK_LOCAL_DMA_LKEY; -1: as usual");

static int frwr = -1;
module_param(frwr, int, 0600);
MODULE_PARM_DESC(frwr, "0 or 1: registers memory by work requests, IB_DEVICE_MEM_MGT_EXTENSIONS");

static bool kverbs = true;
module_param(kverbs, bool, 0600);
MODULE_PARM_DESC(kverbs, "has what users in the kernel need");

static char *transport = "rocev2";
module_param(transport, charp, 0400);
MODULE_PARM_DESC(transport, "rocev1, rocev2, roce (both), iwarp, other");

static char *limits = "fixed";
module_param(limits, charp, 0400);
MODULE_PARM_DESC(limits, "random: choose what no parameter sets");

static bool is_random(void)
{
	return !strcmp(limits, "random");
}

/*
 * The value of a parameter, or a random one, small ones as often as large ones. Consumers that need
 * more than the least are to work with most devices, though, as a device has many limits.
 */
static u32 limit(unsigned int set, u32 least, u32 usual)
{
	u32 at;

	if (set || !is_random())
		return set ?: usual;
	at = least << get_random_u32_below(ilog2(usual / least) + 1);
	return min(at + get_random_u32_below(at), usual);
}

/* Without a parameter, random devices have a feature but one in @but_one_of. */
static bool has(int set, bool usual, unsigned int but_one_of)
{
	if (set >= 0 || !is_random())
		return set < 0 ? usual : set;
	return get_random_u32_below(but_one_of);
}

static u32 inline_limit(void)
{
	u32 n = STRICT_INLINE;

	if (max_inline >= 0)
		n = max_inline;
	else if (is_random() && get_random_u32_below(2))
		n = get_random_u32_below(STRICT_INLINE);
	return min_t(u32, n, STRICT_INLINE);
}

static u32 sge_limit(unsigned int set)
{
	return min_t(u32, limit(set, 1, STRICT_MAX_SGE), STRICT_MAX_SGE);
}

/* As the core names a protocol, or several. */
static u32 protocols(void)
{
	static const struct {
		const char	*name;
		u32		flags;
	} known[] = {
		{ "rocev1", RDMA_CORE_CAP_PROT_ROCE },
		{ "rocev2", RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP },
		{ "roce", RDMA_CORE_CAP_PROT_ROCE | RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP },
		{ "iwarp", RDMA_CORE_CAP_PROT_IWARP },
		{ "other", RDMA_CORE_CAP_PROT_USNIC },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(transport, known[i].name))
			return known[i].flags;
	return 0;
}

static enum ib_mtu to_mtu(u32 bytes)
{
	enum ib_mtu max = IB_MTU_4096;

	while (max > IB_MTU_256 && ib_mtu_enum_to_int(max) > bytes)
		max--;
	return max;
}

static void set_attrs(struct strict_dev *dev)
{
	dev->limits = (struct ib_device_attr) {
		.max_mr_size		    = SZ_2G,
		.page_size_cap		    = page_sizes ?: PAGE_SIZE | SZ_64K | SZ_1M,
		.max_qp			    = limit(max_qp, 4, 4096),
		.max_qp_wr		    = limit(max_qp_wr, 16, 4096),
		/* `rdma link delete` */
		.kernel_cap_flags	    = IBK_ALLOW_USER_UNREG,
		.max_send_sge		    = sge_limit(max_send_sge),
		.max_recv_sge		    = sge_limit(max_recv_sge),
		.max_qp_rd_atom		    = 1,
		.max_qp_init_rd_atom	    = 1,
		.max_cq			    = 4096,
		/* The kernel's own SMC takes 32766, whatever the limit is. */
		.max_cqe		    = limit(max_cqe, 32, strict_lenient() ? 32768 : 16384),
		.max_mr			    = limit(max_mr, 8, 65536),
		.max_pd			    = 4096,
		.max_fast_reg_page_list_len = limit(max_pages, 100, 512),
		.max_pkeys		    = 1,
	};
	if (has(frwr, true, 16))
		dev->limits.device_cap_flags |= IB_DEVICE_MEM_MGT_EXTENSIONS;
	if (has(dma_lkey, false, 2)) {
		dev->limits.kernel_cap_flags |= IBK_LOCAL_DMA_LKEY;
		/* Behind those of regions. */
		dev->ib.local_dma_lkey = 0xffffff00 | get_random_u32_below(256);
		dev->dma_mr = (struct strict_mr) {
			.lkey	= dev->ib.local_dma_lkey,
			.access = IB_ACCESS_LOCAL_WRITE,
			.valid	= true,
			.all	= true,
		};
	}
}

/* Returns false if a parameter is wrong. */
bool strict_set_limits(struct strict_dev *dev)
{
	const struct ib_device_attr *attr = &dev->limits;

	dev->protocols = protocols();
	if (!dev->protocols || (strcmp(limits, "fixed") && !is_random()))
		return false;
	set_attrs(dev);
	dev->max_inline = inline_limit();
	dev->max_mtu = to_mtu(limit(mtu, 256, 4096));
	dev->ib.num_comp_vectors = limit(vectors, 1, is_random() ? 64 : num_possible_cpus());
	/* A device for no user in the kernel lacks functions that such users need. */
	dev->kverbs = kverbs;
	if (is_random())
		netdev_info(dev->ndev,
			    "strict: qp %d wr %d sge %d %d inline %u cqe %d vectors %d mr %d pages %u mtu %d frwr %d lkey %d\n",
			    attr->max_qp, attr->max_qp_wr, attr->max_send_sge, attr->max_recv_sge,
			    dev->max_inline, attr->max_cqe, dev->ib.num_comp_vectors, attr->max_mr,
			    attr->max_fast_reg_page_list_len, ib_mtu_enum_to_int(dev->max_mtu),
			    !!attr->device_cap_flags,
			    !!(attr->kernel_cap_flags & IBK_LOCAL_DMA_LKEY));
	return true;
}

/* Counts an object of which the device has @most. Returns false if there are as many. */
bool strict_take_one(atomic_t *n, int most)
{
	return atomic_add_unless(n, 1, most);
}
