// SPDX-License-Identifier: GPL-2.0
/*
 * Control messages of recvmsg(), and time stamps: TCP_INQ, SO_TIMESTAMP and SO_TIMESTAMPING.
 *
 * Programs get what they would get over TCP on a device without a clock of its own. There are no
 * packets here, so the times are those of the following events:
 *
 *	received	the peer's cursor has moved: the data can be read
 *	SCHED, SND	the data are about to be handed over to the fabric
 *	ACK		the data are in the peer's memory; over RDMA, the peer's device says so
 *
 * As in TCP, a time belongs to the last byte of what a call has received or sent. Like TCP's
 * packets, which are merged while they wait, arrivals and requests are merged if there are too many
 * of them; then the time of the last one counts.
 *
 * A connection whose program asks for none of this has no struct smc_stamps, and its calls test
 * smc_conn.rx_cmsgs or tx_stamping. Once set, these stay, so they need no lock.
 */
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/netlink.h>
#include <net/tcp.h>
#include "../lock_class.h"
#include "../smc.h"
#include "conn.h"
#include "ops.h"
#include "stamp.h"

#define MAX_ARRIVALS	64u
#define MAX_REQUESTS	64u

/* Times that a sender may ask for, as bits. */
#define TX_SCHED	BIT(SCM_TSTAMP_SCHED)
#define TX_SND		BIT(SCM_TSTAMP_SND)
#define TX_ACK		BIT(SCM_TSTAMP_ACK)

/* Data that arrived at the same time: up to @end, from the end of the previous arrival. */
struct smc_arrival {
	u64	end;
	ktime_t	time;
};

/* A call that has sent the bytes before @end, and asks for the times @types. */
struct smc_stamp_request {
	u64	end;
	u16	seqno;		/* of the post that has carried the last byte, once @posted */
	bool	posted;
	u8	types;
};

/**
 * struct smc_stamps - time stamps of a connection
 * @lock:	protects all but @skb
 * @skb:	carries a time to the function that makes control messages of it; under rx_lock
 * @rx_on:	the times of arrivals are taken
 * @id_on:	the program counts the bytes that it sends, SOF_TIMESTAMPING_OPT_ID
 * @rx_from:	nothing is known of the bytes before this count
 * @rx_first:	number of the first entry in @rx; number n is at n % MAX_ARRIVALS
 * @rx_end:	number after the last entry
 * @tx_first:	as @rx_first, for @tx
 * @tx_end:	as @rx_end, for @tx
 * @id_base:	the count from which the program counts
 * @key:	what __counts_anew() has left in sk_tskey, or 0
 * @rx:		arrivals that have not been read
 * @tx:		requests that have not been answered completely
 */
struct smc_stamps {
	spinlock_t		lock;
	struct sk_buff		*skb;
	bool			rx_on;
	bool			id_on;
	u64			rx_from;
	unsigned int		rx_first;
	unsigned int		rx_end;
	unsigned int		tx_first;
	unsigned int		tx_end;
	u64			id_base;
	u32			key;
	struct smc_arrival	rx[MAX_ARRIVALS];
	struct smc_stamp_request tx[MAX_REQUESTS];
};

/* ---- the options of the socket ---- */

static void stamps_free(struct smc_stamps *s)
{
	kfree_skb(s->skb);
	kfree(s);
}

static struct smc_stamps *stamps_new(gfp_t gfp)
{
	struct smc_stamps *s = kzalloc(sizeof(*s), gfp);

	if (!s)
		return NULL;
	smc_spin_lock_init(&s->lock, SMC_LOCK_STAMPS);
	s->skb = alloc_skb(0, gfp);
	if (s->skb)
		return s;
	stamps_free(s);
	return NULL;
}

/* The cgroup that pays is that of the connection, if a bottom half has made the connection. */
static struct smc_stamps *stamps_charged(const struct smc_conn *c)
{
	struct mem_cgroup *old;
	struct smc_stamps *s;

	if (gfp_any() == GFP_KERNEL)
		return stamps_new(SMC_GFP_CHARGED);
	old = set_active_memcg(c->payer);
	s = stamps_new(GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	set_active_memcg(old);
	return s;
}

/* Returns the connection's stamps, which are there from now on, or NULL without memory. */
static struct smc_stamps *stamps_get(struct smc_conn *c)
{
	struct smc_stamps *s = READ_ONCE(c->stamps), *other;

	if (s)
		return s;
	s = stamps_charged(c);
	if (!s)
		return NULL;
	WRITE_ONCE(c->rx_odd, true);
	other = cmpxchg(&c->stamps, NULL, s);
	if (!other)
		return s;
	stamps_free(s);
	return other;
}

/**
 * smc_stamps_free() - free what smc_stamps_follow() has allocated
 * @c: the connection, which nobody uses any more
 */
void smc_stamps_free(struct smc_conn *c)
{
	if (c->stamps)
		stamps_free(c->stamps);
}

static bool wants_arrivals(const struct sock *sk)
{
	return sock_flag(sk, SOCK_RCVTSTAMP) || sock_flag(sk, SOCK_TIMESTAMPING_RX_SOFTWARE);
}

static void __add_arrival(struct smc_stamps *s, u64 end)
{
	lockdep_assert_held(&s->lock);
	/* Merge it with the last one: that one has not been read, because there is one after it. */
	if (s->rx_end - s->rx_first == MAX_ARRIVALS)
		s->rx_end--;
	s->rx[s->rx_end++ % MAX_ARRIVALS] = (struct smc_arrival) {
		.end = end, .time = ktime_get_real(),
	};
}

/*
 * Begin or cease to take the times of arrivals. If a kernel has not told us that the option was
 * set, the data that have arrived since then may be waiting here. Like the kernel's other
 * protocols in this case, give them the time of now.
 */
static void set_rx(struct smc_stamps *s, const struct smc_conn *c, bool on, bool late)
{
	spin_lock_bh(&s->lock);
	if (s->rx_on != on) {
		s->rx_first = s->rx_end;
		s->rx_from = smc_count_read_acquire(&c->rx_prod);
		if (late) {
			__add_arrival(s, s->rx_from);
			s->rx_from = 0;
		}
		WRITE_ONCE(s->rx_on, on);
	}
	spin_unlock_bh(&s->lock);
}

/*
 * Has the program switched SOF_TIMESTAMPING_OPT_ID off and on again since the last call? On kernels
 * that do not report this, check whether setsockopt() has overwritten the key that we left in
 * sk_tskey: it writes snd_una or 0 there when the option goes on. TCP does not send any more, so it
 * does not need sk_tskey.
 */
static bool __counts_anew(struct sock *sk, struct smc_stamps *s)
{
	u32 key = (tcp_sk(sk)->snd_una ^ BIT(31)) | 1, was;
	bool anew;

	lockdep_assert_held(&s->lock);
	if (!smc_stamps_untold(sk))
		return false;
	was = atomic_xchg(&sk->sk_tskey, key);
	anew = s->key && was != s->key;
	s->key = key;
	return anew;
}

/* The program counts from the byte that it sends next. @sk: the connection is up. */
static void set_id(struct smc_stamps *s, const struct smc_conn *c, bool on, struct sock *sk)
{
	bool anew;

	spin_lock_bh(&s->lock);
	anew = sk && __counts_anew(sk, s);
	if (on && (anew || !s->id_on))
		s->id_base = smc_count_read(&c->tx_written);
	s->id_on = on;
	spin_unlock_bh(&s->lock);
}

/* See smc_stamps_follow(); the socket or the connection has something to do with time stamps. */
int smc_stamps_learn(struct sock *sk, struct smc_conn *c)
{
	u32 tsflags = READ_ONCE(sk->sk_tsflags);
	bool rx = wants_arrivals(sk), id = tsflags & SOF_TIMESTAMPING_OPT_ID;
	bool tx = id || tsflags & SOF_TIMESTAMPING_TX_RECORD_MASK;
	struct smc_stamps *s;

	if (tcp_sk(sk)->recvmsg_inq)
		WRITE_ONCE(c->rx_cmsgs, true);
	if (!rx && !tx && !READ_ONCE(c->stamps))
		return 0;
	s = stamps_get(c);
	if (!s)
		return -ENOMEM;
	set_rx(s, c, rx, false);
	set_id(s, c, id, NULL);
	if (rx)
		WRITE_ONCE(c->rx_cmsgs, true);
	if (tx)
		WRITE_ONCE(c->tx_stamping, true);
	return 0;
}

/* ---- receiving ---- */

/**
 * smc_stamps_arrived() - the peer's data up to a count have arrived
 * @c: the connection, with stamps
 * @prod: the count, which rx_prod has yet to reach
 *
 * Context: any but hard interrupts; the fabric serializes these events.
 */
void smc_stamps_arrived(struct smc_conn *c, u64 prod)
{
	struct smc_stamps *s = c->stamps;

	if (!READ_ONCE(s->rx_on))
		return;
	spin_lock_bh(&s->lock);
	if (prod != c->rx_prod)
		__add_arrival(s, prod);
	spin_unlock_bh(&s->lock);
}

/* Find out when the byte before @seq has arrived, and forget the arrivals that have been read. */
static bool find_arrival(struct smc_conn *c, u64 seq, ktime_t *time)
{
	struct smc_stamps *s = c->stamps;
	bool found = false;
	unsigned int i;

	lockdep_assert_held(&c->rx_lock);
	spin_lock_bh(&s->lock);
	for (i = s->rx_first; i != s->rx_end && !found && seq > s->rx_from; i++) {
		found = s->rx[i % MAX_ARRIVALS].end >= seq;
		*time = s->rx[i % MAX_ARRIVALS].time;
	}
	while (s->rx_first != s->rx_end && s->rx[s->rx_first % MAX_ARRIVALS].end <= c->rx_cons)
		s->rx_first++;
	spin_unlock_bh(&s->lock);
	return found;
}

static void put_time(struct sock *sk, struct smc_conn *c, struct msghdr *msg, u64 seq)
{
	struct sk_buff *skb = c->stamps->skb;
	ktime_t time;

	if (!find_arrival(c, seq, &time))
		return;
	skb->tstamp = time;
	__sock_recv_timestamp(msg, sk, skb);
}

/* Has the end of the stream arrived? */
static bool end_arrived(const struct sock *sk, const struct smc_conn *c)
{
	return smc_conn_end_came_first(READ_ONCE(c->rx_flags)) ||
	       (!c->late_fin && sock_flag(sk, SOCK_DONE));
}

static bool asks_inq(const struct sock *sk, const struct msghdr *msg)
{
	return tcp_sk(sk)->recvmsg_inq || msg->msg_get_inq;
}

/**
 * smc_put_inq() - tell a receiver this number, if it asks
 * @sk: the socket
 * @msg: receives the number; and a control message, with TCP_INQ
 * @inq: how many bytes there are to read; the end of the stream counts as one
 *
 * Context: process.
 */
void smc_put_inq(const struct sock *sk, struct msghdr *msg, int inq)
{
	if (!asks_inq(sk, msg))
		return;
	msg->msg_inq = inq;
	if (tcp_sk(sk)->recvmsg_inq)
		put_cmsg(msg, SOL_TCP, TCP_CM_INQ, sizeof(msg->msg_inq), &msg->msg_inq);
}

/**
 * smc_recv_inq() - tell a receiver how much is left, if it asks
 * @sk: the socket
 * @c: its connection
 * @msg: receives the number; and a control message, with TCP_INQ
 *
 * As in TCP, urgent bytes count, and the end of the stream counts as one byte: it can be read.
 *
 * Context: process.
 */
void smc_recv_inq(struct sock *sk, const struct smc_conn *c, struct msghdr *msg)
{
	u64 cons, prod;

	if (!asks_inq(sk, msg))
		return;
	/* Another receiver may move both. */
	cons = smc_count_read(&c->rx_cons);
	smp_rmb();
	prod = max(smc_count_read_acquire(&c->rx_prod), cons);
	smc_put_inq(sk, msg, min_t(u64, prod - cons + end_arrived(sk, c), INT_MAX));
}

/**
 * smc_recv_cmsgs() - make the control messages of a call that has succeeded
 * @sk: the socket
 * @c: its connection; the caller holds rx_lock
 * @msg: receives the messages
 * @seq: count after the last byte that the call has received
 * @data: the call has received data
 *
 * Context: process.
 */
void smc_recv_cmsgs(struct sock *sk, struct smc_conn *c, struct msghdr *msg, u64 seq, bool data)
{
	if (smc_stamps_untold(sk) && wants_arrivals(sk) && stamps_get(c))
		set_rx(c->stamps, c, true, true);
	if (READ_ONCE(c->stamps) && data)
		put_time(sk, c, msg, seq);
	smc_recv_inq(sk, c, msg);
}

/* ---- sending ---- */

static u8 types_of(u32 tsflags)
{
	return (tsflags & SOF_TIMESTAMPING_TX_SCHED ? TX_SCHED : 0) |
	       (tsflags & SOF_TIMESTAMPING_TX_SOFTWARE ? TX_SND : 0) |
	       (tsflags & SOF_TIMESTAMPING_TX_ACK ? TX_ACK : 0);
}

/*
 * What a call asks for: as the socket says, or a control message.  -EINVAL if that is malformed.
 * For memory of a device, as TCP on a route that does not lead to the device.
 */
static int wanted_flags(struct sock *sk, struct msghdr *msg, u32 *tsflags)
{
	struct sockcm_cookie sockc;

	sockcm_init(&sockc, sk);
	if (msg->msg_controllen && sock_cmsg_send(sk, msg, &sockc))
		return -EINVAL;
#ifdef SMC_HAVE_SOCKC_DMABUF
	if (sockc.dmabuf_id)
		return msg->msg_flags & MSG_ZEROCOPY && sock_flag(sk, SOCK_ZEROCOPY) ? -ENODEV :
										       -EINVAL;
#endif
	*tsflags = sockc.tsflags;
	return 0;
}

/**
 * smc_stamps_prepare() - look at what a sender asks for
 * @sk: the socket
 * @c: its connection
 * @msg: the message; control messages other than SO_TIMESTAMPING are ignored, but malformed ones
 *	fail as in TCP
 *
 * Sets SMC_SEND_STAMPED in @msg if the call may have to do with time stamps.
 *
 * Context: process.
 * Return: 0, -EINVAL, -ENODEV or -ENOBUFS.
 */
int smc_stamps_prepare(struct sock *sk, struct smc_conn *c, struct msghdr *msg)
{
	struct smc_stamps *s = READ_ONCE(c->stamps);
	u32 tsflags;
	int rc;

	rc = wanted_flags(sk, msg, &tsflags);
	if (rc)
		return rc;
	if (types_of(tsflags) || tsflags & SOF_TIMESTAMPING_OPT_ID) {
		s = stamps_get(c);
		if (!s)
			return -ENOBUFS;
		WRITE_ONCE(c->tx_stamping, true);
	}
	if (s)
		set_id(s, c, tsflags & SOF_TIMESTAMPING_OPT_ID, sk);
	if (c->tx_stamping)
		msg->msg_flags |= SMC_SEND_STAMPED;
	return 0;
}

/**
 * smc_stamps_request() - remember what times the call asks for
 * @sk: the socket
 * @c: its connection; the caller holds tx_lock, and has copied all that it sends into the ring
 * @msg: the message, for which smc_stamps_prepare() was called
 */
void smc_stamps_request(struct sock *sk, struct smc_conn *c, struct msghdr *msg)
{
	struct smc_stamps *s = READ_ONCE(c->stamps);
	struct smc_stamp_request *r;
	u32 tsflags;
	u8 types;

	lockdep_assert_held(&c->tx_lock);
	if (!s || wanted_flags(sk, msg, &tsflags))
		return;
	types = types_of(tsflags);
	if (!types)
		return;
	spin_lock_bh(&s->lock);
	r = &s->tx[(s->tx_end - 1) % MAX_REQUESTS];
	/* Merge it with the last one, as TCP does if that has been held back. */
	if (s->tx_end - s->tx_first == MAX_REQUESTS ||
	    (s->tx_end != s->tx_first && r->end > c->tx_prod))
		types |= r->types;
	else
		r = &s->tx[s->tx_end++ % MAX_REQUESTS];
	*r = (struct smc_stamp_request) { .end = c->tx_written, .types = types };
	spin_unlock_bh(&s->lock);
}

/* Forget the requests that have been answered. */
static void __retire_requests(struct smc_stamps *s)
{
	lockdep_assert_held(&s->lock);
	while (s->tx_first != s->tx_end && !s->tx[s->tx_first % MAX_REQUESTS].types)
		s->tx_first++;
}

/* How much of the stream is meant by an event. */
struct reach {
	u64	end;		/* all up to here */
	bool	posted;		/* or all that was posted up to @seqno */
	u16	seqno;
};

static bool is_reached(const struct smc_stamp_request *r, const struct reach *to)
{
	if (to->posted)
		return r->posted && (s16)(to->seqno - r->seqno) >= 0;
	return r->end <= to->end;
}

/* What is reported: the type of the time, and the program's number of the last byte. */
struct report {
	int	type;
	u32	id;
	u64	end;		/* the count after that byte */
};

/* Take the first of the times @types that is asked for and that the event gives. */
static bool take_request(struct smc_stamps *s, u8 types, const struct reach *to,
			 struct report *report)
{
	struct smc_stamp_request *r;
	bool found = false;
	unsigned int i;
	u8 both;

	spin_lock_bh(&s->lock);
	for (i = s->tx_first; i != s->tx_end && !found; i++) {
		r = &s->tx[i % MAX_REQUESTS];
		both = r->types & types;
		if (!both || !is_reached(r, to))
			continue;
		found = true;
		/* SCHED comes before SND. */
		report->type = both & TX_SCHED ? SCM_TSTAMP_SCHED : __ffs(both);
		report->id = s->id_on ? r->end - 1 - s->id_base : 0;
		report->end = r->end;
		r->types &= ~BIT(report->type);
	}
	__retire_requests(s);
	spin_unlock_bh(&s->lock);
	return found;
}

/*
 * SOF_TIMESTAMPING_OPT_STATS: those of TCP's values that are the connection's own. The others would
 * be about the idle TCP connection.
 */
static void put_stats(struct sk_buff *skb, const struct smc_conn *c, u64 end)
{
	/* The bytes of the report count as sent. */
	u64 sent = max(smc_count_read(&c->tx_prod), end), cons = smc_count_read(&c->tx_cons);
	u64 written = max(smc_count_read(&c->tx_written), sent);

	nla_put_u64_64bit(skb, TCP_NLA_BYTES_SENT, sent, TCP_NLA_PAD);
	nla_put_u32(skb, TCP_NLA_SNDQ_SIZE, written - min(cons, written));
	nla_put_u32(skb, TCP_NLA_BYTES_NOTSENT, written - sent);
}

#define STATS_ROOM	(nla_total_size_64bit(sizeof(u64)) + 2 * nla_total_size(sizeof(u32)))

static struct sk_buff *make_report(const struct sock *sk, const struct smc_conn *c,
				   const struct report *r)
{
	bool stats = READ_ONCE(sk->sk_tsflags) & SOF_TIMESTAMPING_OPT_STATS;
	struct sk_buff *skb = alloc_skb(stats ? STATS_ROOM : 0, GFP_ATOMIC | __GFP_NOWARN);
	struct sock_exterr_skb *serr;

	if (!skb)
		return NULL;
	if (stats)
		put_stats(skb, c, r->end);
	__net_timestamp(skb);
	serr = SKB_EXT_ERR(skb);
	memset(serr, 0, sizeof(*serr));
	serr->ee.ee_errno = ENOMSG;
	serr->ee.ee_origin = SO_EE_ORIGIN_TIMESTAMPING;
	serr->ee.ee_info = r->type;
	serr->ee.ee_data = r->id;
	serr->opt_stats = stats;
	return skb;
}

/* Without memory or room in the error queue there is no report, as in TCP. */
static void send_report(struct smc_conn *c, const struct report *r)
{
	struct sk_buff *skb = NULL;
	struct sock *sk;

	spin_lock_bh(&c->state_lock);
	sk = __smc_conn_sk(c);
	if (sk)
		skb = make_report(sk, c, r);
	if (skb && sock_queue_err_skb(sk, skb))
		kfree_skb(skb);
	spin_unlock_bh(&c->state_lock);
}

static void report_all(struct smc_conn *c, u8 types, const struct reach *to)
{
	struct smc_stamps *s = READ_ONCE(c->stamps);
	struct report r;

	while (s && take_request(s, types, to, &r))
		send_report(c, &r);
}

/**
 * smc_stamps_publish() - all that was written is about to be handed over to the fabric
 * @c: the connection; the caller holds tx_lock
 */
void smc_stamps_publish(struct smc_conn *c)
{
	struct reach to = { .end = c->tx_written };

	lockdep_assert_held(&c->tx_lock);
	report_all(c, TX_SCHED | TX_SND, &to);
}

/**
 * smc_stamps_published() - all that is published has been handed over to the fabric
 * @c: the connection; the caller holds tx_lock
 */
void smc_stamps_published(struct smc_conn *c)
{
	struct reach to = { .end = c->tx_prod };

	lockdep_assert_held(&c->tx_lock);
	if (!c->ops->reports_acks)
		report_all(c, TX_ACK, &to);
}

/**
 * smc_stamps_posted() - data up to a count are posted; for a fabric that reports acknowledgments
 * @c: the connection, with stamps
 * @prod: the count
 * @seqno: number of the post
 *
 * Context: any but hard interrupts, with the lock that serializes posts.
 * Return: true if smc_stamps_acked() should be called once the post is acknowledged.
 */
bool smc_stamps_posted(struct smc_conn *c, u64 prod, u16 seqno)
{
	struct smc_stamps *s = c->stamps;
	struct smc_stamp_request *r;
	bool wanted = false;
	unsigned int i;

	spin_lock_bh(&s->lock);
	for (i = s->tx_first; i != s->tx_end; i++) {
		r = &s->tx[i % MAX_REQUESTS];
		if (!(r->types & TX_ACK) || r->end > prod)
			continue;
		/* A post that was lost with its link is made again, with a higher number. */
		if (!r->posted) {
			r->posted = true;
			r->seqno = seqno;
		}
		wanted = true;
	}
	spin_unlock_bh(&s->lock);
	return wanted;
}

/**
 * smc_stamps_acked() - the peer has got all that was posted up to a number
 * @c: the connection, referenced, with stamps
 * @seqno: number of a post
 *
 * Context: any but hard interrupts.
 */
void smc_stamps_acked(struct smc_conn *c, u16 seqno)
{
	struct reach to = { .posted = true, .seqno = seqno };

	report_all(c, TX_ACK, &to);
}
