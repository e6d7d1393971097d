/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that the RDMA device reads or writes: RMBs and send rings. */
#ifndef SMC_RDMA_MEM_H
#define SMC_RDMA_MEM_H

#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include "../../../mem/pool.h"
#include "../../../mem/rmbe.h"
#include "../link/link.h"
#include "llc.h"

struct smc_lgr;

/**
 * struct smc_rmb_on_link - registration of a buffer with the device of one link
 * @sgt:	DMA mapping of its pages
 * @reg:	its memory region, NULL while there is no such link, and the peer's access rights
 * @registered:	the registration was posted, so later posts over this link may use the region
 */
struct smc_rmb_on_link {
	struct sg_table		sgt;
	struct smc_link_reg	reg;
	bool			registered;
};

/**
 * struct smc_rmb_forget - deregistration of a buffer with one device
 * @work:	the work item that does it
 * @rmb:	the buffer
 * @link:	the link of that device, which keeps the device meanwhile
 * @on_link:	the registration that ends
 */
struct smc_rmb_forget {
	struct work_struct	work;
	struct smc_rmb		*rmb;
	struct smc_link		*link;
	struct smc_rmb_on_link	on_link;
};

/**
 * struct smc_rmb - a buffer that is registered with devices
 * @lgr:	the link group
 * @buf:	the buffer
 * @on_link:	registration for each link, by smc_lgr_link_index(); under @lgr->setup_lock
 * @confirmed:	the peer knows the RMB
 * @unused:	the RMB is in no pool any more, and the peer must forget it; under @lgr->setup_lock
 * @spare_mark:	smc_lgr.spare_mark if @in_use is about the current smc_lgr_give_up()
 * @in_use:	number of connections with elements of the RMB that are not abandoned, less those
 *		that are; both under @lgr->setup_lock
 * @forgotten:	the peer has forgotten the buffer, or has never known it, and the devices must
 *		deregister it; under @lgr->setup_lock
 * @refusals:	how often the peer has refused the RMB; each new connection asks again
 * @retries:	how often the peer has put us off since then; both under smc_llc.lock
 * @unanswered:	number of requests to accept the RMB that the peer has not answered; written by the
 *		engine. More than the current one if an answer was lost with its link
 * @list:	entry in a list of smc_llc while the peer must learn of the RMB, or forget it; under
 *		smc_llc.lock
 * @forget:	deregistration for each link, once the buffer has no users
 * @n_forget:	number of deregistrations that are not done
 */
struct smc_rmb {
	struct smc_lgr		*lgr;
	struct smc_buf		*buf;
	struct smc_rmb_on_link	on_link[SMC_LGR_LINKS];
	bool			confirmed;
	bool			unused;
	bool			forgotten;
	unsigned int		spare_mark;
	int			in_use;
	unsigned int		refusals;
	unsigned int		retries;
	unsigned int		unanswered;
	struct list_head	list;
	struct smc_rmb_forget	forget[SMC_LGR_LINKS];
	atomic_t		n_forget;
};

extern const struct smc_buf_ops smc_rmb_ops, smc_txbuf_ops;

int smc_mem_register(struct smc_rmb *rmb);
bool smc_mem_valid(const struct smc_rmb *rmb, const struct smc_link *link);
const struct ib_mr *smc_mem_mr(const struct smc_rmb *rmb, const struct smc_link *link);

int smc_mem_add_link(struct smc_lgr *lgr, struct smc_link *link);
int smc_mem_register_link(struct smc_lgr *lgr, struct smc_link *link);
void smc_mem_drop_link(struct smc_lgr *lgr, struct smc_link *link);
unsigned int smc_mem_rtokens(struct smc_lgr *lgr, const struct smc_link *known,
			     const struct smc_link *added, unsigned int from,
			     struct smc_llc_w_rtoken *rtokens, unsigned int room);
void smc_mem_confirmed(struct smc_rmb *rmb, bool yes);
void smc_mem_unreg(struct smc_rmb_on_link *on, const struct smc_link *link);

static inline struct smc_rmb *smc_rmbe_rmb(const struct smc_rmbe *rmbe)
{
	return smc_buf_priv(smc_rmbe_buf(rmbe));
}

#endif
