/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The LLC engine of a link group (RFC 7609, 3.5.5 and C.7).
 *
 * Completion handlers queue the messages that arrive, and one work item processes them, so two
 * exchanges of a group never run at once.  Only TEST LINK is answered immediately.  We start one
 * exchange at a time.
 */
#ifndef SMC_RDMA_LLC_H
#define SMC_RDMA_LLC_H

#include <linux/bitmap.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct smc_lgr_conn;
struct smc_lgr;
struct smc_link;
struct smc_rmb;

/*
 * Slots for links in a group: two, and a third one for a link that replaces an asymmetric one (RFC
 * 7609, 2.2.1), or while a link that is down has not returned its device.
 */
#define SMC_LGR_LINKS		3

/* How long we wait for an answer; the RFC leaves this to us. */
#define SMC_LLC_WAIT_TIME	(5 * HZ)

/* Messages that the engine waits for; llc_rules.c has the action if one does not arrive. */
enum smc_llc_wait {
	SMC_LLC_NEW,			/* the link is not connected yet */
	SMC_LLC_IDLE,
	SMC_LLC_W_CONFIRM_REQ,		/* client: CONFIRM LINK of the server */
	SMC_LLC_W_CONFIRM_SENT,		/* client: delivery of its own reply */
	SMC_LLC_W_CONFIRM_RSP,		/* server: the client's reply */
	SMC_LLC_W_ADD_LINK_REQ,		/* client: ADD LINK of the first contact */
	SMC_LLC_W_ADD_LINK_RSP,		/* server: the client's reply */
	SMC_LLC_W_ADD_CONT_REQ,		/* client: ADD LINK CONTINUATION, in version 1 */
	SMC_LLC_W_ADD_CONT_RSP,		/* server: the client's reply */
	SMC_LLC_W_ADD_LINK_HOP,		/* the gateway's MAC address, for the new link */
	SMC_LLC_W_CONFIRM2_REQ,		/* client: CONFIRM LINK over the new link */
	SMC_LLC_W_CONFIRM2_RSP,		/* server: the client's reply over the new link */
	SMC_LLC_W_DELETE_LINK_RSP,	/* server: reply to DELETE LINK of an offered second link */
	SMC_LLC_W_CONFIRM_RKEY_RSP,	/* the peer's reply about our new RMB */
	SMC_LLC_W_DELETE_RKEY_RSP,	/* the peer's reply about RMBs that it must forget */
	SMC_LLC_NR_WAITS
};

/**
 * struct smc_llc_test - keepalive of one link
 * @sent:	time in jiffies of the unanswered TEST LINK; 0 if there is none
 * @data:	user data that the answer must repeat
 */
struct smc_llc_test {
	unsigned long	sent;
	u64		data;
};

/* At most this many losses may be unanswered by the peer. */
#define SMC_LLC_LOSSES		8

/**
 * struct smc_llc_loss - a lost link that the peer must be told of
 * @number:	number of the link; 0 if the entry is free
 * @reason:	SMC_LLC_DEL_*
 * @over:	smc_link.uid of the link over which the peer was told, 0 if it was not told; only
 *		the engine's work uses this and the following members
 * @deadline:	jiffies until which the peer must answer
 * @unanswered:	how often the peer has not answered
 */
struct smc_llc_loss {
	u8		number;
	u32		reason;
	u32		over;
	unsigned long	deadline;
	unsigned int	unanswered;
};

/**
 * struct smc_llc - LLC engine
 * @lock:	protects @queue, @n_queue, @rkeys, @unused, @deleting, @forgotten, @waiters,
 *		@stopped, @tests, @test_now, @losses, @add_wanted, @port_came and smc_lgr.doubted;
 *		any context
 * @queue:	messages received
 * @n_queue:	number of messages in @queue; limited, as a peer might flood us
 * @rkeys:	RMBs to be confirmed
 * @unused:	RMBs that the peer must be asked to forget
 * @deleting:	RMBs that the peer has been asked to forget
 * @forgotten:	buffers that the peer has forgotten or never known, and that the devices must
 *		deregister
 * @waiters:	connections that wait for an RMB to be confirmed
 * @stopped:	the engine does not start anything any more
 * @begin:	the first contact must begin
 * @wait:	the message that the engine waits for [work]
 * @since:	time in jiffies when the engine began to wait for it [work]
 * @confirm_end: number of posts on the link up to our CONFIRM LINK, counted as smc_link.tx_head
 * @add_end:	number of posts up to our ADD LINK; 0 without one
 * @rkeys_left:	number of RTokens that the peer's CONFIRM RKEY CONTINUATION must still carry
 * @rmb:	the RMB that is being confirmed [work]
 * @rkey_link:	link over which the peer was asked to confirm @rmb, or to forget RMBs [work]
 * @rkey_uid:	smc_link.uid of @rkey_link [work]
 * @rkey_doubt:	an answer that was taken for a late one may have been the one that is awaited [work]
 * @rkey:	RKey of @rmb on @rkey_link [work]
 * @rkey_again:	jiffies until which the peer has put us off; 0 if it has not
 * @rkeys_late:	for each link, number of answers that may still arrive to requests that are
 *		repeated [work]
 * @add_over:	link over which another link is being added [work]
 * @add_over_uid: smc_link.uid of @add_over [work]
 * @add_link:	the new link, NULL if none is being added [work].  Only the engine drains it, until
 *		it is active or given up
 * @add_uid:	smc_link.uid of @add_link [work]
 * @adds_late:	bitmap of the numbers of links that were given up before the peer had sent its next
 *		message about them [work]
 * @rtokens_told: version 1: how many RTokens of the new link the peer has been told [work]
 * @rtokens_more: version 1: there are more of them [work]
 * @rtokens_left: version 1: how many RTokens the peer has still to tell, -1 if it has not begun
 *		[work]
 * @wish_uid:	client: smc_link.uid of the link over which it last asked for another link, and
 * @wish_end:	number of posts on that link up to this request
 * @add_asked:	we have sent REQUEST ADD LINK, which the server may still refuse [work]
 * @add_wanted:	another link may be possible now
 * @port_came:	a port may have come since the current attempt to add a link began
 * @add_at:	jiffies when the engine tries to add a link again, 0 for never [work]
 * @add_delay:	how long it waits before that, in jiffies [work]
 * @losses:	lost links that the peer must be told of, or has not answered yet
 * @deletes:	bitmap of the numbers of links in our DELETE LINKs, to which the peer may reply
 *		[work]
 * @tests:	keepalive of each link
 * @test_now:	bitmap of links to be tested immediately, even without silence
 * @work:	the engine; each pending work holds the group
 *
 * Members marked [work] are changed by the engine's work only.
 */
struct smc_llc {
	spinlock_t		lock;
	struct list_head	queue;
	unsigned int		n_queue;
	struct list_head	rkeys;
	struct list_head	unused;
	struct list_head	deleting;
	struct list_head	forgotten;
	struct list_head	waiters;
	bool			stopped;
	bool			begin;
	enum smc_llc_wait	wait;
	unsigned long		since;
	u32			confirm_end;
	u32			add_end;
	u8			rkeys_left;
	struct smc_rmb		*rmb;
	struct smc_link		*rkey_link;
	u32			rkey_uid;
	bool			rkey_doubt;
	u32			rkey;
	unsigned long		rkey_again;
	unsigned int		rkeys_late[SMC_LGR_LINKS];
	struct smc_link		*add_over;
	u32			add_over_uid;
	struct smc_link		*add_link;
	u32			add_uid;
	DECLARE_BITMAP(adds_late, 256);
	u8			rtokens_told;
	int			rtokens_left;
	bool			rtokens_more;
	u32			wish_uid;
	u32			wish_end;
	bool			add_asked;
	bool			add_wanted;
	bool			port_came;
	unsigned long		add_at;
	unsigned long		add_delay;
	struct smc_llc_loss	losses[SMC_LLC_LOSSES];
	DECLARE_BITMAP(deletes, 256);
	struct smc_llc_test	tests[SMC_LGR_LINKS];
	u8			test_now;
	struct delayed_work	work;
};

void smc_llc_init(struct smc_lgr *lgr);
void smc_llc_first_contact(struct smc_lgr *lgr);
int smc_llc_begin_confirm_rkey(struct smc_lgr *lgr, struct smc_rmb *rmb,
			       struct smc_lgr_conn *lconn);
bool smc_llc_rkey_settled(const struct smc_rmb *rmb);
void smc_llc_unwait(struct smc_lgr_conn *lconn);
void smc_llc_delete_rkey(struct smc_rmb *rmb);
void smc_llc_forget_soon(struct smc_rmb *rmb);
void smc_llc_start_tests(struct smc_lgr *lgr);
void smc_llc_test_now(struct smc_lgr *lgr, bool doubted);
void smc_llc_rx(struct smc_link *link, const u8 *buf, size_t len);
void smc_llc_sent(struct smc_link *link);
void smc_llc_kick(struct smc_lgr *lgr);
void smc_llc_link_lost(struct smc_lgr *lgr, struct smc_link *link);
void smc_llc_more_links(struct smc_lgr *lgr);
void smc_llc_keepalive(struct smc_conn *c, unsigned int seconds);
bool smc_llc_delivered(const struct smc_link *link, u32 end);
bool smc_llc_no_fallback(struct smc_lgr *lgr);
bool smc_llc_no_return(struct smc_lgr *lgr);
bool smc_llc_up_for_peer(struct smc_lgr *lgr);
void smc_llc_stop(struct smc_lgr *lgr);

#endif
