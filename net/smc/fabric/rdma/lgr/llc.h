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

#include <linux/bitmap.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct smc_lgr_conn;
struct smc_lgr;
struct smc_link;
struct smc_rmb;

/*
 * There is room for so many links in a group: two, and a third while it takes the place of an
 * asymmetric one (RFC 7609, 2.2.1), or while one that is down has yet to give its device back.
 */
#define SMC_LGR_LINKS		3

/* An answer takes no longer than this; the RFC leaves it to us. */
#define SMC_LLC_WAIT_TIME	(5 * HZ)

/* Messages that the engine waits for; llc_rules.c has the action if one does not come. */
enum smc_llc_wait {
	SMC_LLC_NEW,			/* the link is not connected yet */
	SMC_LLC_IDLE,
	SMC_LLC_W_CONFIRM_REQ,		/* client: CONFIRM LINK of the server */
	SMC_LLC_W_CONFIRM_SENT,		/* client: its own reply has arrived */
	SMC_LLC_W_CONFIRM_RSP,		/* server: the client's reply */
	SMC_LLC_W_ADD_LINK_REQ,		/* client: ADD LINK of the first contact */
	SMC_LLC_W_ADD_LINK_RSP,		/* server: its reply */
	SMC_LLC_W_ADD_CONT_REQ,		/* client: ADD LINK CONTINUATION, in version 1 */
	SMC_LLC_W_ADD_CONT_RSP,		/* server: its reply */
	SMC_LLC_W_ADD_LINK_HOP,		/* the gateway's MAC address, for the new link */
	SMC_LLC_W_CONFIRM2_REQ,		/* client: CONFIRM LINK over the new link */
	SMC_LLC_W_CONFIRM2_RSP,		/* server: the client's reply to that */
	SMC_LLC_W_DELETE_LINK_RSP,	/* server: the second link is not wanted */
	SMC_LLC_W_CONFIRM_RKEY_RSP,	/* the peer knows our new RMB */
	SMC_LLC_W_DELETE_RKEY_RSP,	/* the peer has forgotten RMBs of ours */
	SMC_LLC_NR_WAITS
};

/**
 * struct smc_llc_test - whether the peer is still there, at the end of one link
 * @sent:	when the TEST LINK that is unanswered was sent; 0 without one
 * @data:	user data that the answer must repeat
 */
struct smc_llc_test {
	unsigned long	sent;
	u64		data;
};

/* Losses that the peer has yet to answer, at most. */
#define SMC_LLC_LOSSES		8

/**
 * struct smc_llc_loss - a link of which the peer must be told that it is down
 * @number:	of the link; 0: there is none
 * @reason:	SMC_LLC_DEL_*
 * @over:	smc_link.uid of the link over which it was told, 0 if it was not; only the work
 *		looks at it
 * @deadline:	until when it has to answer, in jiffies; the same
 * @unanswered:	how often it has not; the same
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
 * @n_queue:	their number; a peer that floods us is cut off
 * @rkeys:	RMBs to be confirmed
 * @unused:	RMBs that the peer shall forget
 * @deleting:	those that it was asked to forget
 * @forgotten:	buffers that it has forgotten, or has never known, and a device has yet to know
 * @waiters:	connections that wait for theirs
 * @stopped:	nothing is begun any more
 * @begin:	the first contact is to begin
 * @wait:	the message that is awaited; only the work looks at it
 * @deadline:	until when, in jiffies; the same
 * @confirm_end: the posts of the link up to our CONFIRM LINK, in smc_link.tx_head's count
 * @add_end:	those up to our ADD LINK; 0 without one
 * @rkeys_left:	RTokens that the peer's CONFIRM RKEY CONTINUATION has yet to tell
 * @rmb:	the one that is being confirmed; the same
 * @rkey_link:	over which link the peer was asked to confirm it, or to forget others; the same
 * @rkey_uid:	smc_link.uid of that; the same
 * @rkey:	its RKey there; the same
 * @rkey_again:	the peer has put us off until then, in jiffies; 0 if it has not
 * @rkeys_late:	answers that may still come over each link, to questions that are asked again;
 *		the same
 * @add_over:	over which link another one is being added; the same
 * @add_over_uid: smc_link.uid of that; the same
 * @add_link:	the new link, NULL if none is being added; the same.  Until it is active, or given
 *		up, nobody else drains it
 * @add_uid:	smc_link.uid of that; the same
 * @adds_late:	numbers of links that were given up before the peer has said what it was to say of
 *		them next, as bits; only the work looks at it
 * @rtokens_told: version 1: so many RTokens of the new link the peer has been told; the same
 * @rtokens_more: there are more of them; the same
 * @rtokens_left: so many the peer has yet to tell us, -1 if it has not begun; the same
 * @wish_uid:	client: the link over which it asked for another one last, and
 * @wish_end:	posts of that link up to then
 * @add_asked:	there was a REQUEST ADD LINK, which the server may still refuse; the same
 * @add_wanted:	another link may be possible now
 * @port_came:	the same, and since another link is being added
 * @add_at:	when it is tried again, in jiffies; 0 for not at all; only the work looks at it
 * @add_delay:	how long it was waited for that, in jiffies; the same
 * @losses:	links that the peer must learn of, or has been told of and not answered yet
 * @deletes:	numbers of links of which the peer was told by DELETE LINK, and may reply, as bits;
 *		only the work looks at it
 * @tests:	for each link
 * @test_now:	a TEST LINK is wanted on these links, however short the silence was, as bits
 * @work:	the engine; each pending work holds the group
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
	unsigned long		deadline;
	u32			confirm_end;
	u32			add_end;
	u8			rkeys_left;
	struct smc_rmb		*rmb;
	struct smc_link		*rkey_link;
	u32			rkey_uid;
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
