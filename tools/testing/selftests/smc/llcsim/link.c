// SPDX-License-Identifier: GPL-2.0
/*
 * The model of link/: reliably connected queue pairs.  A message arrives once and in order, or the
 * sender learns after a while that it cannot be delivered. The sender learns about the arrival
 * later, or never.  There is no order between messages on two queue pairs.
 */
#include "sim.h"

/* Maximum number of pending messages and registrations. */
#define N_POSTS		32
/* After seven retries of 1.07 s the device gives up. */
#define RETRY_TIME	1070
#define RETRIES_TIME	7500
#define FIRST_QPN	16
#define MAX_QPS		2048
/* The longest message that may be sent while another one of that kind is pending. */
#define SHORT		SMC_LINK_MSG_MAX

/**
 * struct sim_post - a message, or a registration
 * @len:	length of the message
 * @buf:	the message, in memory of exactly that length
 * @reg:	the region
 * @at:		when it arrives, if the path works
 */
struct sim_post {
	u32			len;
	u8			*buf;
	struct smc_link_reg	*reg;
	unsigned long		at;
};

/**
 * struct sim_qp - a queue pair
 * @ib:		has its number, which is not reused
 * @peer:	number of the queue pair at the other end
 * @link:	the link, NULL once it has been stopped
 * @port:	our port
 * @end:	our host
 * @connected:	it can send and receive
 * @error:	it no longer can
 * @busy:	its completion handler runs
 * @harmed:	its path was interrupted
 * @posts:	a ring
 * @head:	number of posts made
 * @given:	number of posts that have arrived
 * @acked:	number of posts known to have arrived
 * @failing:	since when the path is interrupted, 0 if it is not
 * @destroyed:	it has been destroyed
 * @last:	messages after this one are lost when it is stopped
 * @deliver:	event: the next post arrives
 * @ack:	event: the sender learns of it
 * @hop:	event: a gateway has answered
 */
struct sim_qp {
	struct ib_qp		ib;
	u32			peer;
	struct smc_link		*link;
	struct sim_port		*port;
	unsigned int		end;
	bool			connected;
	bool			error;
	bool			busy;
	bool			harmed;
	struct sim_post		posts[N_POSTS];
	u32			head;
	u32			given;
	u32			acked;
	bool			destroyed;
	u32			last;
	unsigned long		failing;
	struct sim_event	deliver;
	struct sim_event	ack;
	struct sim_event	hop;
};

static struct sim_qp *qps[MAX_QPS];
static u32 n_qps, next_uid;

static struct sim_qp *qp_of(u32 qp_num)
{
	return qp_num >= FIRST_QPN && qp_num < FIRST_QPN + n_qps ? qps[qp_num - FIRST_QPN] : NULL;
}

static struct sim_qp *qp_of_link(const struct smc_link *link)
{
	return link->qp ? container_of(link->qp, struct sim_qp, ib) : NULL;
}

void sim_links_reset(void)
{
	n_qps = 0;
	next_uid = 100;
}

unsigned int sim_links_made(void)
{
	return n_qps;
}

/* Is a completion handler running on that host? */
bool sim_handler_runs(unsigned int end)
{
	unsigned int i;

	for (i = 0; i < n_qps; i++)
		if (qps[i] && qps[i]->busy && qps[i]->end == end)
			return true;
	return false;
}

unsigned int sim_links_left(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < n_qps; i++)
		n += !!qps[i];
	return n;
}

static void free_posts(struct sim_qp *qp, u32 until)
{
	struct sim_post *post;

	while (qp->acked != until) {
		post = &qp->posts[qp->acked++ % N_POSTS];
		sim_free(post->buf);
		post->buf = NULL;
	}
}

/* Frees the queue pair if it is destroyed and nothing of it is pending. */
static void free_if_done(struct sim_qp *qp)
{
	if (!qp->destroyed || qp->busy || sim_event_pending(&qp->deliver))
		return;
	free_posts(qp, qp->head);
	qps[qp->ib.qp_num - FIRST_QPN] = NULL;
	sim_free_later(qp);
}

static bool port_works(const struct sim_port *port)
{
	return port->up && !port->silent;
}

/* Returns the queue pair at the other end, if our messages reach it. */
static struct sim_qp *reached(const struct sim_qp *qp)
{
	struct sim_qp *peer = qp_of(qp->peer);

	if (!peer || !peer->connected || peer->error || peer->peer != qp->ib.qp_num ||
	    !port_works(qp->port) || !port_works(peer->port))
		return NULL;
	return peer;
}

static void busy_end(struct sim_qp *qp)
{
	qp->busy = false;
	free_if_done(qp);
}

/* Returns true if the device has given up. */
static bool retry(struct sim_qp *qp, struct sim_event *ev)
{
	if (!qp->failing)
		qp->failing = sim_now;
	if (sim_now - qp->failing < RETRIES_TIME) {
		sim_event_at(ev, sim_now + 1 + sim_below(RETRY_TIME));
		return false;
	}
	qp->busy = true;
	if (qp->link)
		smc_link_down(qp->link, SMC_LLC_DEL_LOST_PATH);
	busy_end(qp);
	return true;
}

static void deliver_soon(struct sim_qp *qp)
{
	const struct sim_post *post = &qp->posts[qp->given % N_POSTS];

	if (qp->given != (qp->link ? qp->head : qp->last) && !sim_event_pending(&qp->deliver))
		sim_event_at(&qp->deliver, max(post->at, sim_now));
}

/* Registrations take no time on the wire. */
static void arrived(struct sim_qp *qp)
{
	qp->given++;
	qp->failing = 0;
	if (qp->link && !qp->error && !sim_event_pending(&qp->ack))
		sim_event_at(&qp->ack, sim_now + sim_below(2 * sim.latency + 1));
	deliver_soon(qp);
}

static void deliver(struct sim_event *ev)
{
	struct sim_qp *qp = container_of(ev, struct sim_qp, deliver);
	const struct sim_post *post = &qp->posts[qp->given % N_POSTS];
	struct sim_qp *peer = reached(qp);
	struct sim_post mine = *post;

	if (mine.reg) {
		arrived(qp);
		free_if_done(qp);
		return;
	}
	if (!peer) {
		if (qp->link)
			retry(qp, ev);
		else
			free_if_done(qp);
		return;
	}
	/* A copy in the peer's buffer: ours may be acknowledged before this is read. */
	mine.buf = memcpy(sim_alloc(mine.len), post->buf, mine.len);
	peer->busy = true;
	arrived(qp);
	free_if_done(qp);
	sim_here = peer->end;
	WRITE_ONCE(peer->link->last_rx, jiffies);
	if (mine.len <= 64 || !sim_alloc_fails())
		smc_llc_rx(peer->link, mine.buf, mine.len);
	sim_free(mine.buf);
	busy_end(peer);
}

static bool may_deliver(const struct sim_event *ev)
{
	const struct sim_qp *qp = container_of(ev, const struct sim_qp, deliver);
	const struct sim_qp *peer = reached(qp);

	return !qp->busy && !(peer && peer->busy);
}

static void ack(struct sim_event *ev)
{
	struct sim_qp *qp = container_of(ev, struct sim_qp, ack);
	struct smc_link *link = qp->link;
	bool valid = false;
	u32 until, i;

	/* Only messages require the peer. */
	until = qp->acked;
	while (until != qp->given && (qp->posts[until % N_POSTS].reg || reached(qp)))
		until++;
	if (until == qp->acked) {
		retry(qp, ev);
		return;
	}
	if (until != qp->given)
		sim_event_at(ev, sim_now + 1 + sim_below(RETRY_TIME));
	for (i = qp->acked; i != until; i++) {
		if (!qp->posts[i % N_POSTS].reg)
			continue;
		WRITE_ONCE(qp->posts[i % N_POSTS].reg->valid, true);
		valid = true;
	}
	free_posts(qp, until);
	link->tx_tail = until;
	qp->busy = true;
	if (valid || link->state == SMC_LINK_READY)
		smc_llc_sent(link);
	busy_end(qp);
}

static bool may_ack(const struct sim_event *ev)
{
	return !container_of(ev, const struct sim_qp, ack)->busy;
}

/* ---- link.h ---- */

void smc_link_init(struct smc_link *link, void *owner)
{
	link->owner = owner;
	INIT_LIST_HEAD(&link->tx_pending);
	INIT_LIST_HEAD(&link->regs);
}

static struct sim_port *port_of(const struct smc_link *link)
{
	return container_of(link->path.dev, struct sim_port, dev);
}

static void reset(struct smc_link *link)
{
	link->state = SMC_LINK_UNUSED;
	link->tx_ready = false;
	link->tx_head = 0;
	link->tx_tail = 0;
	link->peer_uid = 0;
	link->confirmed = false;
	link->lost = false;
	link->peer_knows = false;
	link->down_reason = 0;
	link->drained = false;
	link->tx_down = 0;
	link->hop.asked = false;
	link->hop.direct = false;
	link->last_rx = jiffies;
}

static void hop_found(struct sim_event *ev)
{
	smc_lgr_hop_changed(container_of(ev, struct sim_qp, hop)->link);
}

int smc_link_create(struct smc_link *link, const struct smc_link_attr *attr)
{
	struct sim_qp *qp;

	reset(link);
	if (n_qps == MAX_QPS)
		sim_fail("too many links were created");
	qp = sim_alloc(sizeof(*qp));
	memset(qp, 0, sizeof(*qp));
	qp->end = sim_end_nr(link->owner);
	qp->ib.qp_num = FIRST_QPN + n_qps;
	qp->link = link;
	qp->port = port_of(link);
	qp->deliver = (struct sim_event) { .fn = deliver, .may = may_deliver, .end = qp->end };
	qp->ack = (struct sim_event) { .fn = ack, .may = may_ack, .end = qp->end };
	qp->hop = (struct sim_event) { .fn = hop_found, .end = qp->end };
	qps[n_qps++] = qp;
	link->qp = &qp->ib;
	link->pd = &qp->port->pd;
	link->number = attr->number;
	link->uid = next_uid++;
	link->psn = sim_random() & 0xffffff;
	link->state = SMC_LINK_NEW;
	return 0;
}

int smc_link_next_hop(struct smc_link *link)
{
	if (!link->hop.asked && sim_one_in(sim.hop_one_in)) {
		link->hop.asked = true;
		/* One in eight answers too late. */
		sim_event_at(&qp_of_link(link)->hop,
			     sim_now + sim_below(sim_one_in(8) ? 20000 : 1000));
		SIM_LOG("resolving the gateway of link %u takes %lu ms", link->number,
			qp_of_link(link)->hop.at - sim_now);
		return -EAGAIN;
	}
	if (sim_event_pending(&qp_of_link(link)->hop))
		return -EAGAIN;
	link->hop.direct = true;
	return 0;
}

int smc_link_connect(struct smc_link *link)
{
	if (link->state != SMC_LINK_NEW)
		return -ENOLINK;
	link->state = SMC_LINK_READY;
	link->tx_ready = true;
	qp_of_link(link)->peer = link->peer_qpn;
	qp_of_link(link)->connected = true;
	return 0;
}

void smc_link_activate(struct smc_link *link)
{
	if (link->state != SMC_LINK_READY)
		return;
	link->state = SMC_LINK_ACTIVE;
	link->confirmed = true;
	SIM_LOG("link %u is active", link->number);
	sim_judge_active(link);
}

void smc_link_down(struct smc_link *link, u32 reason)
{
	bool first;

	spin_lock_bh(&link->tx_lock);
	first = smc_link_alive(link);
	link->tx_ready = false;
	if (first) {
		SIM_LOG("link %u is down, %x", link->number, reason);
		sim_judge_down(link, reason);
		link->tx_down = link->tx_tail;
		link->lost = reason == SMC_LLC_DEL_LOST_PATH;
		link->down_reason = reason;
		link->state = SMC_LINK_DOWN;
	}
	spin_unlock_bh(&link->tx_lock);
	if (first)
		smc_lgr_link_down(link, NULL);
}

/* What the group has just sent gets a moment to leave; if the link is down, some messages are
 * lost.
 */
void smc_link_stop(struct smc_link *link, unsigned long until)
{
	struct sim_qp *qp = qp_of_link(link);

	if (!qp)
		return;
	qp->last = smc_link_works(link) ? qp->head :
		   qp->given + sim_below(qp->head - qp->given + 1);
	link->tx_ready = false;
	if (smc_link_alive(link)) {
		link->tx_down = link->tx_tail;
		link->state = SMC_LINK_DOWN;
	}
	qp->error = true;
	qp->link = NULL;
	sim_event_cancel(&qp->ack);
	if (qp->last == qp->given)
		sim_event_cancel(&qp->deliver);
}

bool smc_link_drain(struct smc_link *link, unsigned long until)
{
	struct sim_qp *qp = qp_of_link(link);

	link->tx_ready = false;
	link->state = SMC_LINK_DOWN;
	if (qp) {
		if (qp->busy)
			sim_fail("link %u is drained by its completion handler", link->number);
		sim_event_cancel(&qp->hop);
	}
	link->tx_tail = link->tx_head;
	link->flushed = true;
	link->drained = true;
	return true;
}

void smc_link_failed(struct smc_link *link)
{
	link->state = SMC_LINK_DOWN;
}

/* The device takes its time to stop the queue pair. */
void smc_link_queue_release(struct smc_link *link)
{
	sim_queue_work(&link->release_work, sim_below(sim_one_in(4) ? 5000 : 5), false);
}

void smc_link_destroy(struct smc_link *link)
{
	struct sim_qp *qp = qp_of_link(link);

	link->qp = NULL;
	if (!qp)
		return;
	if (qp->link)
		sim_fail("link %u is destroyed without having been stopped", link->number);
	qp->destroyed = true;
	free_if_done(qp);
}

void smc_link_release(struct smc_link *link)
{
	link->pd = NULL;
}

static bool long_under_way(const struct sim_qp *qp)
{
	u32 i;

	for (i = qp->acked; i != qp->head; i++)
		if (qp->posts[i % N_POSTS].len > SHORT)
			return true;
	return false;
}

static int __post(struct smc_link *link, const struct sim_post *post)
{
	struct sim_qp *qp = qp_of_link(link);

	lockdep_assert_held(&link->tx_lock);
	if (!link->tx_ready)
		return -ENOLINK;
	if (qp->head - qp->acked == N_POSTS)
		return -ENOBUFS;
	if (post->len > SHORT && long_under_way(qp))
		return -EBUSY;
	qp->posts[qp->head % N_POSTS] = *post;
	if (post->len)
		qp->posts[qp->head % N_POSTS].buf =
			memcpy(sim_alloc(post->len), post->buf, post->len);
	qp->posts[qp->head % N_POSTS].at = sim_now + sim_below(sim.latency + 1);
	link->tx_head = ++qp->head;
	deliver_soon(qp);
	return 0;
}

int smc_link_send(struct smc_link *link, const u8 *buf, u32 len)
{
	int rc;

	spin_lock_bh(&link->tx_lock);
	rc = __post(link, &(struct sim_post) { .len = len, .buf = (u8 *)buf });
	spin_unlock_bh(&link->tx_lock);
	return rc;
}

int smc_link_send_long(struct smc_link *link, const u8 *buf, u32 len)
{
	return smc_link_send(link, buf, len);
}

u32 smc_link_sent(struct smc_link *link)
{
	return link->tx_head;
}

int smc_link_register(struct smc_link *link, struct smc_link_reg *reg)
{
	int rc;

	spin_lock_bh(&link->tx_lock);
	rc = __post(link, &(struct sim_post) { .reg = reg });
	spin_unlock_bh(&link->tx_lock);
	return rc ? -ENOLINK : 0;
}

/* ---- for the judge ---- */

/* A port is down or silent: problems of its links are not the engine's fault. */
void sim_port_harmed(const struct sim_port *port)
{
	unsigned int i;

	for (i = 0; i < n_qps; i++)
		if (qps[i] && qps[i]->port == port)
			qps[i]->harmed = true;
}

static struct sim_qp *other_qp(const struct smc_link *link)
{
	struct sim_qp *peer = link->qp && qp_of_link(link)->connected ? qp_of(qp_of_link(link)->peer) : NULL;

	return peer && peer->connected && peer->peer == link->qp->qp_num ? peer : NULL;
}

/* Returns the other end of a link, if it has one that is not stopped. */
struct smc_link *sim_other_half(const struct smc_link *link)
{
	struct sim_qp *peer = other_qp(link);

	return peer ? peer->link : NULL;
}

bool sim_link_reachable(const struct smc_link *link)
{
	return link->qp && reached(qp_of_link(link));
}

bool sim_link_whole(const struct smc_link *link)
{
	struct sim_qp *peer = other_qp(link);

	return peer && !qp_of_link(link)->harmed && !peer->harmed;
}
