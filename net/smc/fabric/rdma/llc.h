/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The LLC engine of a link group (RFC 7609, 3.5.5 and C.7).
 *
 * Messages are queued by the completion that brings them and judged by one work
 * item, so that no two exchanges of a group run at once; only TEST LINK is answered
 * at once.  Of the exchanges that change the group we have one under way at most.
 */
#ifndef SMC_RDMA_LLC_H
#define SMC_RDMA_LLC_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

struct rdma_conn;
struct smc_lgr;
struct smc_rmb;

/* What the engine waits for. */
enum smc_llc_wait {
	SMC_LLC_IDLE,
	SMC_LLC_W_CONFIRM_REQ,		/* client: CONFIRM LINK of the server */
	SMC_LLC_W_CONFIRM_RSP,		/* server: the client's reply */
	SMC_LLC_W_ADD_LINK_REQ,		/* client: ADD LINK of the first contact */
	SMC_LLC_W_ADD_LINK_RSP,		/* server: its reply */
	SMC_LLC_W_DELETE_LINK_RSP,	/* server: the second link is not wanted */
	SMC_LLC_W_CONFIRM_RKEY_RSP,	/* the peer knows our new RMB */
	SMC_LLC_NR_WAITS
};

/**
 * struct smc_llc - LLC engine
 * @lock:	protects @queue, @rkeys, @waiters; any context
 * @queue:	messages received
 * @n_queue:	their number; a peer that floods us is cut off
 * @rkeys:	RMBs to be confirmed
 * @waiters:	connections that wait for theirs
 * @wait:	what is awaited, enum smc_llc_wait; by the work alone
 * @deadline:	until when, jiffies
 * @rmb:	the one being confirmed
 * @kick:	a link has something to begin with; atomic bits
 * @work:	the engine
 * @testing:	a TEST LINK is unanswered; its number
 */
struct smc_llc {
	spinlock_t		lock;
	struct list_head	queue;
	unsigned int		n_queue;
	struct list_head	rkeys;
	struct list_head	waiters;
	u8			wait;
	unsigned long		deadline;
	struct smc_rmb		*rmb;
	unsigned long		kick;
	struct delayed_work	work;
	u64			test_nonce;
	unsigned long		test_sent;
};

void smc_llc_init(struct smc_lgr *lgr);
void smc_llc_first_contact(struct smc_lgr *lgr);
int smc_llc_confirm_rkey(struct smc_lgr *lgr, struct smc_rmb *rmb,
			 struct rdma_conn *rc);
void smc_llc_unwait(struct smc_lgr *lgr, struct rdma_conn *rc);
void smc_llc_stop(struct smc_lgr *lgr);
void smc_llc_goodbye(struct smc_lgr *lgr);

#endif
