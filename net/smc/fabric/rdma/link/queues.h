/* SPDX-License-Identifier: GPL-2.0 */
/* Queues of a link: send queue, receive buffers and completion queue. */
#ifndef SMC_RDMA_MSG_H
#define SMC_RDMA_MSG_H

#include <linux/jiffies.h>
#include <linux/minmax.h>

struct smc_link;
struct smc_link_ops;

extern const struct smc_link_ops *smc_link_owner_ops;

void smc_msg_set_ops(const struct smc_link_ops *ops);
int smc_msg_alloc(struct smc_link *link, bool long_msgs);
void smc_msg_free(struct smc_link *link);
int smc_msg_post_all(struct smc_link *link);
void smc_msg_ignore_all(struct smc_link *link);
void smc_msg_retire_all(struct smc_link *link);
void smc_msg_unqueue_all(struct smc_link *link);

/* drain.c */
/* Time left until @until, in jiffies. */
static inline unsigned long smc_time_left(unsigned long until)
{
	return max_t(long, until - jiffies, 0);
}

void smc_queues_init(struct smc_link *link);
void smc_queues_stop(struct smc_link *link);
bool smc_queues_drain(struct smc_link *link, unsigned long until);

/* cq.c */
int smc_cq_create(struct smc_link *link, int n);
void smc_cq_destroy(struct smc_link *link);

#endif
