/* SPDX-License-Identifier: GPL-2.0 */
/* Urgent data: interfaces for receivers, poll() and ioctl(). */
#ifndef SMC_CONN_URGENT_H
#define SMC_CONN_URGENT_H

#include "conn.h"

/**
 * struct smc_urgent_at - position of a reader, see smc_urgent_step()
 * @seq:	count of the next byte to read
 * @n:		number of bytes that may be read at @seq
 * @copied:	number of bytes that the call has read already
 * @timeo:	how long the call may wait
 */
struct smc_urgent_at {
	u64		seq;
	size_t		n;
	size_t		copied;
	long		timeo;
};

int smc_urgent_step(struct sock *sk, struct smc_conn *c, struct smc_urgent_at *at);
void smc_urgent_keep(struct sock *sk, struct smc_conn *c);
int smc_urgent_recv(struct sock *sk, struct smc_conn *c, struct msghdr *msg,
		    size_t len, int flags);
u64 smc_urgent_unread(const struct sock *sk, const struct smc_conn *c);
u64 smc_urgent_inq(const struct sock *sk, const struct smc_conn *c);
bool smc_urgent_at_mark(const struct smc_conn *c);
bool smc_urgent_there(const struct smc_conn *c);

#endif
