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
 * struct smc_rmb_on_link - a buffer as the device of one link has registered it
 * @sgt:	its pages
 * @reg:	its memory region, NULL while there is no such link, and what the peer may do there
 * @registered:	the region is valid for whatever is posted over this link from now on
 */
struct smc_rmb_on_link {
	struct sg_table		sgt;
	struct smc_link_reg	reg;
	bool			registered;
};

/**
 * struct smc_rmb_forget - have one device forget a buffer
 * @work:	does it
 * @rmb:	the buffer
 * @link:	of that device; it keeps the device meanwhile
 * @on_link:	its registration with the device of each link
 */
struct smc_rmb_forget {
	struct work_struct	work;
	struct smc_rmb		*rmb;
	struct smc_link		*link;
	struct smc_rmb_on_link	on_link;
};

/**
 * struct smc_rmb - a buffer that devices have registered
 * @lgr:	the link group
 * @buf:	the buffer
 * @on_link:	by smc_lgr_link_index(); under @lgr->setup_lock
 * @confirmed:	the peer knows it
 * @unused:	it is in no pool any more: the peer shall forget it; under @lgr->setup_lock
 * @forgotten:	the peer has forgotten it, or has never known it, and the devices shall; the same
 * @refusals:	how often the peer did not want to know it; each new connection asks again
 * @retries:	how often it has put us off since; both under smc_llc.lock
 * @list:	in a list of smc_llc, while the peer shall learn of it, or forget it; under its lock
 * @forget:	for each link, once nobody uses the buffer any more
 * @n_forget:	how many of these have yet to be done
 */
struct smc_rmb {
	struct smc_lgr		*lgr;
	struct smc_buf		*buf;
	struct smc_rmb_on_link	on_link[SMC_LGR_LINKS];
	bool			confirmed;
	bool			unused;
	bool			forgotten;
	unsigned int		refusals;
	unsigned int		retries;
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
