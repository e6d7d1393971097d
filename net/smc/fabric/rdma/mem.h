/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that the RDMA device reads or writes: RMBs and send rings. */
#ifndef SMC_RDMA_MEM_H
#define SMC_RDMA_MEM_H

#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include "../../group/buf.h"

struct smc_lgr;
struct smc_link;

/**
 * struct smc_rmb - what the device knows of a buffer
 * @lgr:	the link group
 * @buf:	the buffer
 * @sgt:	its pages
 * @mr:		memory region on the first link
 * @remote:	the peer may write into it: an RMB rather than a send ring
 * @registered:	the region is valid
 * @confirmed:	the peer knows it
 * @refusals:	how often the peer did not want to know it; each new connection asks again
 * @retries:	how often it has put us off since; both under smc_llc.lock
 * @list:	in smc_llc.rkeys while it waits to be confirmed; under its lock
 */
struct smc_rmb {
	struct smc_lgr		*lgr;
	struct smc_buf		*buf;
	struct sg_table		sgt;
	struct ib_mr		*mr;
	bool			remote;
	bool			registered;
	bool			confirmed;
	unsigned int		refusals;
	unsigned int		retries;
	struct list_head	list;
};

extern const struct smc_buf_ops smc_rmb_ops, smc_txbuf_ops;

int smc_mem_register(struct smc_rmb *rmb);

void smc_mem_confirmed(struct smc_rmb *rmb, bool yes);

static inline struct smc_rmb *smc_elem_rmb(const struct smc_elem *elem)
{
	return smc_buf_priv(smc_elem_buf(elem));
}

#endif
