/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The LLC engine of a link group (RFC 7609, 3.5.5 and C.7).
 *
 * Messages are queued by the completion that brings them and judged by one work
 * item, so that no two exchanges of a group run at once; only TEST LINK is answered
 * at once.  Of our own exchanges one is under way at most.
 */
#ifndef SMC_RDMA_LLC_H
#define SMC_RDMA_LLC_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct smc_lgr_conn;
struct smc_lgr;
struct smc_link;
struct smc_rmb;

/* An answer takes no longer than this; the RFC leaves it to us. */
#define SMC_LLC_WAIT_TIME	(5 * HZ)

/* What the engine waits for; llc_rules.c says what happens when it does not come. */
enum smc_llc_wait {
	SMC_LLC_NEW,			/* the link is not connected yet */
	SMC_LLC_IDLE,
	SMC_LLC_W_CONFIRM_REQ,		/* client: CONFIRM LINK of the server */
	SMC_LLC_W_CONFIRM_SENT,		/* client: its own reply has arrived */
	SMC_LLC_W_CONFIRM_RSP,		/* server: the client's reply */
	SMC_LLC_W_ADD_LINK_REQ,		/* client: ADD LINK of the first contact */
	SMC_LLC_W_ADD_LINK_RSP,		/* server: its reply */
	SMC_LLC_W_DELETE_LINK_RSP,	/* server: the second link is not wanted */
	SMC_LLC_W_CONFIRM_RKEY_RSP,	/* the peer knows our new RMB */
	SMC_LLC_NR_WAITS
};

/**
 * struct smc_llc - LLC engine
 * @lock:	protects @queue, @n_queue, @rkeys, @waiters, @stopped, @test_data, @test_now
 *		and smc_lgr.doubted; any context
 * @queue:	messages received
 * @n_queue:	their number; a peer that floods us is cut off
 * @rkeys:	RMBs to be confirmed
 * @waiters:	connections that wait for theirs
 * @stopped:	nothing is begun any more
 * @begin:	the first contact is to begin
 * @wait:	what is awaited; only the work looks at it
 * @deadline:	until when, in jiffies; the same
 * @confirm_end: the posts of the link up to our CONFIRM LINK, in smc_link.tx_head's count
 * @add_end:	those up to our ADD LINK; 0 without one
 * @rkeys_left:	RTokens that the peer's CONFIRM RKEY CONTINUATION has yet to tell
 * @rmb:	the one that is being confirmed; the same
 * @rkey_link:	over which link the peer was asked to confirm it; the same
 * @rkey:	its RKey there; the same
 * @rkey_again:	the peer has put us off until then, in jiffies; 0 if it has not
 * @test_sent:	when the TEST LINK that is unanswered was sent; 0 without one
 * @test_data:	what its answer must repeat
 * @test_now:	a TEST LINK is wanted, however short the silence was
 * @work:	the engine; each pending work holds the group
 */
struct smc_llc {
	spinlock_t		lock;
	struct list_head	queue;
	unsigned int		n_queue;
	struct list_head	rkeys;
	struct list_head	waiters;
	bool			stopped;
	bool			begin;
	enum smc_llc_wait	wait;
	unsigned long		deadline;
	u32			confirm_end;
	u32			add_end;
	u8			rkeys_left;
	struct smc_rmb		*rmb;
	struct smc_link		*rkey_link;
	u32			rkey;
	unsigned long		rkey_again;
	unsigned long		test_sent;
	u64			test_data;
	bool			test_now;
	struct delayed_work	work;
};

void smc_llc_init(struct smc_lgr *lgr);
void smc_llc_first_contact(struct smc_lgr *lgr);
int smc_llc_begin_confirm_rkey(struct smc_lgr *lgr, struct smc_rmb *rmb,
			       struct smc_lgr_conn *lconn);
void smc_llc_unwait(struct smc_lgr_conn *lconn);
void smc_llc_start_tests(struct smc_lgr *lgr);
void smc_llc_test_now(struct smc_lgr *lgr, bool doubted);
void smc_llc_rx(struct smc_link *link, const u8 *buf, size_t len);
void smc_llc_sent(struct smc_link *link);
void smc_llc_keepalive(struct smc_conn *c, unsigned int seconds);
bool smc_llc_no_fallback(struct smc_lgr *lgr);
bool smc_llc_no_return(struct smc_lgr *lgr);
bool smc_llc_up_for_peer(struct smc_lgr *lgr);
void smc_llc_stop(struct smc_lgr *lgr);

#endif
