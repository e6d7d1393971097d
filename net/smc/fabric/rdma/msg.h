/* SPDX-License-Identifier: GPL-2.0 */
/* Messages of a link: its send queue and its receive buffers. */
#ifndef SMC_RDMA_MSG_H
#define SMC_RDMA_MSG_H

struct smc_link;

int smc_msg_alloc(struct smc_link *link, bool rx_long);
void smc_msg_free(struct smc_link *link);
int smc_msg_post_all(struct smc_link *link);
void smc_msg_retire_all(struct smc_link *link);

#endif
