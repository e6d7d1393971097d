/* SPDX-License-Identifier: GPL-2.0 */
/* Between the two halves of the LLC engine: llc.c and llc_msg.c. */
#ifndef SMC_RDMA_LLC_MSG_H
#define SMC_RDMA_LLC_MSG_H

#include "llc.h"

struct smc_link;

void smc_llc_await(struct smc_lgr *lgr, enum smc_llc_wait wait);
void smc_llc_rkey_answered(struct smc_lgr *lgr, bool yes);

int smc_llc_send_confirm_link(struct smc_lgr *lgr, bool reply);
void smc_llc_take(struct smc_lgr *lgr, struct smc_link *link, const u8 *buf,
		  size_t len);

#endif
