// SPDX-License-Identifier: GPL-2.0
/*
 * Data over two links: the victim moves its connections when a link is lost, and the rogue moves
 * its own, with all kinds of failover validations (RFC 7609, 4.6).
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rogue.h"

static const char * const nth[] = { "second", "first" };

/* The connection under test uses one link; on each link there is another one, which must not be
 * affected.
 */
struct scenery {
	struct duo d;
	struct conn *c, *on_first, *on_second, *more;
	struct link *from, *to;
};

static struct scenery begin(enum role role, bool first)
{
	struct scenery s = { .d = two_links(role) };

	s.on_first = s.d.c;
	s.on_second = conn_over(s.d.second);
	s.from = first ? s.d.first : s.d.second;
	s.to = first ? s.d.second : s.d.first;
	/* A server chooses the link; our victim chooses the one with fewer connections. */
	s.c = role == SERVER ? conn_over(s.from) : conn_more(s.d.c, AT_UP, NULL);
	if (s.c->l != s.from) {
		s.more = s.c;
		s.c = conn_over(s.from);
	}
	return s;
}

static void end(struct scenery *s)
{
	conn_end(s->c);
	if (s->more)
		conn_end(s->more);
	conn_end(s->on_second);
	conn_end(s->on_first);
}

static bool others_echo(struct scenery *s)
{
	conn_move(s->on_first, s->to);
	conn_move(s->on_second, s->to);
	return conn_echo(s->on_first) && conn_echo(s->on_second);
}

/* ---- bytes ---- */

static uint8_t pattern(uint64_t at)
{
	return at * 7 + (at >> 8) * 31 + 5;
}

/* The victim's application sends @len bytes; the first is number @at of the stream. */
static bool victim_sends(struct conn *c, uint64_t at, size_t len)
{
	static uint8_t b[65536];

	for (size_t i = 0; i < len; i++)
		b[i] = pattern(at + i);
	return send(c->s.victim, b, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len ||
	       BAD("the victim cannot send");
}

static bool we_read(struct conn *c, uint64_t at, size_t len)
{
	static uint8_t b[65536];

	if (!conn_read(c, b, len))
		return false;
	for (size_t i = 0; i < len; i++)
		if (b[i] != pattern(at + i))
			return BAD("byte %zu of %zu received is wrong", i, len);
	return true;
}

static void fill(uint8_t *b, uint64_t at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		b[i] = pattern(at + i);
}

static void we_put(struct conn *c, uint64_t at, size_t len)
{
	static uint8_t b[65536];

	fill(b, at, len);
	conn_put(c, b, len);
}

static void we_tell(struct conn *c)
{
	struct smc_cdc_msg m;

	cdc_fill(c, &m);
	cdc_send(c, &m);
}

static bool victim_gets(struct conn *c, uint64_t at, size_t len)
{
	static uint8_t b[65536];
	size_t n = 0;

	while (n < len) {
		ssize_t k;

		if (!wait_mask(c->s.victim, POLLIN, WAIT_MS))
			return BAD("the victim has %zu of %zu bytes", n, len);
		k = recv(c->s.victim, b, len - n, MSG_DONTWAIT);
		if (k <= 0)
			return BAD("the victim's connection has ended");
		for (ssize_t i = 0; i < k; i++)
			if (b[i] != pattern(at + n + i))
				return BAD("the victim reads a wrong byte at %zu", n + i);
		n += k;
	}
	return true;
}

/* ---- the victim moves ---- */

enum loss { FAILED, GONE, SAID, LEFT };

static const char * const loss_name[] = {
	"fails", "is gone", "is deleted", "is abandoned",
};

enum traffic { IDLE, FROM_VICTIM, FROM_US, BOTH_WAYS };

static const char * const traffic_name[] = {
	"no data in flight", "data from the victim in flight", "data to the victim in flight",
	"data in both directions in flight",
};

/* The victim must write over the new link, after a validation with the number that we should
 * have.
 */
static bool moved(const struct conn *c, const struct link *to)
{
	if (c->over != to)
		return BAD("the victim continues over the old link");
	if (!c->n_validated)
		return BAD("no failover validation");
	if (smc_cdc_newer(c->validated, c->left_at))
		return BAD("the victim validates message %u, and has sent %u", c->validated,
			   c->left_at);
	return true;
}

static void lose(struct scenery *s, enum loss loss)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_DELETE_LINK,
		.delete_link = { .link = s->from->number, .reason = SMC_LLC_DEL_LOST_PATH },
	};

	if (loss == FAILED)
		link_fail(s->from);
	else if (loss == GONE)
		link_break(s->from);
	else if (loss == SAID)
		llc_put(s->to, &m);
}

/* What the victim sends about a loss of which we have not told it. */
static bool told_of_loss(struct scenery *s, enum loss loss)
{
	struct smc_llc_msg m;

	if (loss == SAID && s->to->server)
		return group_expect(s->to, SMC_LLC_DELETE_LINK, true, &m);
	return group_deletes(s->to, s->from->number);
}

/*
 * 1000 bytes each way over the old link, which then is lost. 3000 more each way may be posted
 * before the loss is noticed; 500 more follow later.
 */
static void lost(enum role role, bool first, enum loss loss, enum traffic traffic)
{
	bool out = traffic == FROM_VICTIM || traffic == BOTH_WAYS;
	bool in = traffic == FROM_US || traffic == BOTH_WAYS;
	struct scenery s = begin(role, first);
	struct conn *c = s.c;
	uint16_t had;
	bool ok;

	we_put(c, 0, 1000);
	we_tell(c);
	ok = victim_gets(c, 0, 1000) && victim_sends(c, 0, 1000) && we_read(c, 0, 1000) &&
	     link_flush(s.from, WAIT_MS);
	had = c->seqno;
	lose(&s, loss);
	if (out)
		ok = ok && victim_sends(c, 1000, 3000);
	if (loss == SAID)
		ok = ok && told_of_loss(&s, loss);
	conn_move(c, s.to);
	if (in || loss == LEFT) {
		cdc_validate(c, had);
		we_put(c, 1000, 3000);
		we_tell(c);
		ok = ok && victim_gets(c, 1000, 3000);
	}
	if (out)
		ok = ok && we_read(c, 1000, 3000);
	ok = ok && conn_echo(c) && (loss == SAID || told_of_loss(&s, loss));
	ok = ok && victim_sends(c, 4000, 500) && we_read(c, 4000, 500) && moved(c, s.to) &&
	     others_echo(&s) && group_silent(s.to);
	end(&s);
	verdict(ok, "failover, %s: the %s link %s, %s", role_name[role], nth[first],
		loss_name[loss], traffic_name[traffic]);
}

/* Until our element is full, and also the victim's ring, which keeps the data that we have not
 * read.
 */
static size_t victim_fills(struct conn *c)
{
	static uint8_t b[1000];
	size_t n = 0;
	ssize_t k;

	for (int i = 0; i < 100; i++) {
		fill(b, n, sizeof(b));
		k = send(c->s.victim, b, sizeof(b), MSG_NOSIGNAL | MSG_DONTWAIT);
		if (k > 0)
			n += k;
		if (k <= 0 && c->peer_prod == ELEM_SIZE)
			return n;
		if (k <= 0)
			group_take(c->l, 100);
	}
	give_up("our element does not fill up");
}

/* The link is lost while our element is full; the rest arrives after we have read. */
static void lost_when_full(enum role role)
{
	struct scenery s = begin(role, true);
	struct conn *c = s.c;
	bool ok = true;
	size_t n;

	n = victim_fills(c);
	link_break(s.from);
	conn_move(c, s.to);
	cdc_validate(c, c->seqno);
	/* The victim gets the window update over the new link. */
	ok = ok && we_read(c, 0, n);
	we_tell(c);
	ok = ok && (wait_mask(c->s.victim, POLLOUT, WAIT_MS) & POLLOUT) &&
	     victim_sends(c, n, 3000) && we_read(c, n, 3000) && moved(c, s.to) &&
	     group_deletes(s.to, s.from->number);
	end(&s);
	verdict(ok, "failover, %s: the link is lost when our element is full", role_name[role]);
}

/* The victim closes before or after the link is lost. */
static void lost_when_closed(enum role role, bool before)
{
	struct scenery s = begin(role, true);
	struct conn *c = s.c;
	bool ok = conn_echo(c);

	if (!before)
		lose(&s, GONE);
	ok = ok && victim_sends(c, 0, 2000);
	shutdown(c->s.victim, SHUT_WR);
	if (before) {
		ok = ok && conn_flags(c, SMC_CDC_SEND_DONE);
		lose(&s, SAID);
	}
	ok = ok && we_read(c, 0, 2000);
	conn_move(c, s.to);
	if (!before)
		ok = ok && conn_flags(c, SMC_CDC_SEND_DONE) && c->over == s.to;
	ok = ok && told_of_loss(&s, before ? SAID : GONE);
	cdc_validate(c, c->seqno);
	we_put(c, 0, 700);
	we_tell(c);
	ok = ok && victim_gets(c, 0, 700) && others_echo(&s);
	end(&s);
	verdict(ok, "failover, %s: the victim shuts down %s the link is lost", role_name[role],
		before ? "before" : "after");
}

/* Both links are lost, one after the other: no link is left to move to. */
static void lost_both(enum role role)
{
	struct scenery s = begin(role, true);
	bool ok = conn_echo(s.c);

	link_break(s.from);
	ok = ok && victim_sends(s.c, 0, 1000) && we_read(s.c, 0, 1000) &&
	     group_deletes(s.to, s.from->number);
	link_break(s.to);
	ok = ok && victim_sends(s.c, 1000, 1000) && victim_is_told(s.c->s, true) &&
	     victim_is_told(s.on_first->s, true) && victim_is_told(s.on_second->s, true);
	end(&s);
	verdict(ok, "failover, %s: both links are lost, one after the other", role_name[role]);
}

/*
 * A device that is added again restarts its QP numbers: the new link has the same numbers as the
 * lost one, which the victim still remembers.  A handshake with these numbers must select the new
 * link.
 */
static void same_numbers(enum role role)
{
	struct scenery s = begin(role, true);
	struct conn *more;
	bool ok = conn_echo(s.c);

	group_wants_adds(s.to, true);
	lose(&s, SAID);
	ok = ok && told_of_loss(&s, SAID);
	conn_move(s.c, s.to);
	ok = ok && conn_echo(s.c) && others_echo(&s);
	link_renew(s.from);
	s.from->number = s.to->number + 1;
	ok = ok && (role == SERVER ? link_add(s.from, s.to) : link_accept(s.from, s.to));
	if (ok) {
		more = conn_over(s.from);
		ok = conn_echo(more) && conn_echo(s.c) && group_settled(s.to);
		conn_end(more);
	}
	end(&s);
	verdict(ok, "failover, %s: a new link has the numbers of the lost one", role_name[role]);
}

static struct smc_clc_accept named_link;

static void names_lost_link(struct smc_clc_accept *a)
{
	a->qpn = named_link.qpn;
	a->rkey = named_link.rkey;
	memcpy(a->roce_gid, named_link.roce_gid, sizeof(a->roce_gid));
	memcpy(a->mac, named_link.mac, sizeof(a->mac));
}

static void names(const struct link *l, uint32_t rkey)
{
	named_link.qpn = l->qp->qp_num;
	named_link.rkey = rkey;
	memcpy(named_link.roce_gid, l->dev->gid, sizeof(named_link.roce_gid));
	memcpy(named_link.mac, l->dev->mac, sizeof(named_link.mac));
}

/* Begin handshakes until one names the link to lose.  Their Confirms are missing. */
static struct conn *late_conn(const struct scenery *s, struct conn **other)
{
	struct conn *late = conn_more(s->d.c, AT_CLC, NULL);

	*other = NULL;
	if (late->l != s->from) {
		*other = late;
		late = conn_more(s->d.c, AT_CLC, NULL);
	}
	if (late->l != s->from)
		give_up("the victim does not name the link");
	return late;
}

static bool late_echo(struct conn *late, struct conn *other)
{
	bool ok = conn_echo(late);

	if (other) {
		clc_confirm(other, NULL);
		ok = ok && conn_echo(other);
		conn_end(other);
	}
	conn_end(late);
	return ok;
}

static bool confirm_late(struct scenery *s, struct conn *late, struct conn *other)
{
	const struct twist twist = { .accept = names_lost_link };

	conn_move(late, s->to);
	clc_confirm(late, &twist);
	return late_echo(late, other);
}

/*
 * The Confirm names a link that has been lost since the Accept, and another link has been added
 * meanwhile.  It is too late for a Decline.
 */
static void confirmed_late(bool first)
{
	struct scenery s = begin(CLIENT, first);
	struct conn *other, *late = late_conn(&s, &other);
	struct link *again;
	bool ok = conn_echo(s.c);

	names(s.from, s.from->rmb_mr->rkey);
	lose(&s, SAID);
	ok = ok && told_of_loss(&s, SAID);
	conn_move(s.c, s.to);
	ok = ok && conn_echo(s.c) && others_echo(&s);
	/* The victim's first ADD LINK is refused. When it tries again, the lost link is gone. */
	ok = ok && group_settled(s.to);
	group_wants_adds(s.to, true);
	again = half_new(s.d.first, s.from->dev);
	ok = ok && link_accept(again, s.to) && group_settled(s.to);
	ok = confirm_late(&s, late, other) && ok;
	end(&s);
	verdict(ok, "failover, client: a Confirm names the %s link, which another has replaced",
		nth[first]);
}

/* Another key of the link's memory, as if it were another RMB. */
static struct ibv_mr *another_key(const struct link *l)
{
	struct ibv_mr *mr = ibv_reg_mr(l->dev->pd, l->rmb, N_ELEMS * ELEM_SIZE,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	if (!mr)
		give_up("no memory region");
	return mr;
}

/*
 * We do not know yet that a link is lost: CONFIRM RKEY has a key for it, and the Confirm names the
 * link and that key.
 */
static void key_of_lost(bool first)
{
	struct scenery s = begin(CLIENT, first);
	struct conn *other, *late = late_conn(&s, &other);
	struct ibv_mr *to = another_key(s.to), *from = another_key(s.from);
	struct smc_llc_msg m = {
		.type = SMC_LLC_CONFIRM_RKEY,
		.confirm_rkey = { .rkey = to->rkey, .addr = (uintptr_t)s.to->rmb, .n_total = 1,
				  .others = { { .link = s.from->number, .rkey = from->rkey,
						.addr = (uintptr_t)s.from->rmb } } },
	};
	bool ok = conn_echo(s.c);

	names(s.from, from->rkey);
	lose(&s, SAID);
	ok = ok && told_of_loss(&s, SAID);
	conn_move(s.c, s.to);
	ok = ok && conn_echo(s.c) && others_echo(&s);
	ok = ok && group_settled(s.to);
	llc_put(s.to, &m);
	ok = ok && group_expect(s.to, SMC_LLC_CONFIRM_RKEY, true, &m) &&
	     (!m.negative || BAD("a refusal"));
	ok = confirm_late(&s, late, other) && ok;
	end(&s);
	ibv_dereg_mr(to);
	ibv_dereg_mr(from);
	verdict(ok, "failover, client: CONFIRM RKEY and Confirm name the %s link, which is lost",
		nth[first]);
}

/*
 * Posted writes may still be in flight: the connection is reset instead of moved, and its element
 * is not reused before the device has destroyed the queue pair.
 */
static void not_drained(enum role role, bool sends)
{
	struct scenery s = begin(role, true);
	struct conn *before, *after;
	struct census both;
	bool ok;

	we_put(s.c, 0, 10);
	we_tell(s.c);
	/* Without posts only the victim's element is in use. */
	ok = victim_gets(s.c, 0, 10) && (!sends || conn_echo(s.c));
	census_take(&both);
	set_parameter("never_drained", 1);
	set_parameter("hold_release", 1);
	lose(&s, SAID);
	ok = ok && victim_is_told(s.c->s, true) && told_of_loss(&s, SAID);
	set_parameter("never_drained", 0);
	victim_closes(s.c);
	ok = ok && conn_flags(s.c, SMC_CDC_ABORT) &&
	     (s.c->over == s.to || BAD("the victim aborts over the old link"));
	conn_move(s.c, s.to);
	conn_say(s.c, SMC_CDC_ABORT);
	ok = ok && link_flush(s.to, WAIT_MS) && group_settled(s.to);
	before = conn_over(s.to);
	ok = ok && conn_echo(before) &&
	     (before->peer_addr != s.c->peer_addr || BAD("the element is reused too early"));
	set_parameter("hold_release", 0);
	ok = ok && census_qps(both.qp - 1);
	after = conn_over(s.to);
	ok = ok && conn_echo(after) &&
	     (after->peer_addr == s.c->peer_addr || BAD("the element is not reused"));
	conn_end(after);
	conn_end(before);
	conn_move(s.on_second, s.d.second);
	ok = ok && (s.to != s.d.second || conn_echo(s.on_second)) && group_settled(s.to);
	end(&s);
	verdict(ok, "failover, %s: a device that does not flush the old link, with%s posts",
		role_name[role], sends ? "" : "out");
}

#define FAR_IDX		15	/* an element that no connection uses, of ELEM_SIZE */

static void names_larger_element(struct smc_clc_accept *a)
{
	names_lost_link(a);
	a->rmbe_size = smc_clc_size_from_bytes(2 * ELEM_SIZE);
	a->rmbe_idx = (FAR_IDX + 1) / 2;
}

/*
 * The Confirm arrives between the loss and the failover, which waits for the device.  The peer's
 * element is so large that the victim gets memory for a new send ring, which has no key on the lost
 * link.
 */
static void new_ring(bool first)
{
	const struct twist twist = { .accept = names_larger_element };
	struct scenery s = begin(CLIENT, first);
	struct conn *other, *late = late_conn(&s, &other);
	bool ok = conn_echo(s.c);

	names(s.from, s.from->rmb_mr->rkey);
	set_parameter("hold_drain", 1);
	lose(&s, SAID);
	ok = ok && group_settled(s.to);
	late->idx = FAR_IDX;
	conn_move(late, s.to);
	clc_confirm(late, &twist);
	/* The victim writes at once, but takes our data only after the failover. */
	ok = ok && (wait_mask(late->s.victim, POLLOUT, WAIT_MS) || BAD("no connection")) &&
	     victim_sends(late, 0, 100) && we_read(late, 0, 100);
	set_parameter("hold_drain", 0);
	ok = late_echo(late, other) && ok;
	conn_move(s.c, s.to);
	ok = ok && told_of_loss(&s, SAID) && conn_echo(s.c);
	end(&s);
	verdict(ok, "failover, client: a Confirm arrives before the failover of the %s link",
		nth[first]);
}

/* ---- we move, and validate what the victim has received ---- */

static const struct {
	int ahead;		/* relative to what the victim has */
	bool fine;
	const char *what;
} numbers[] = {
	{ 0, true, "the last number" }, { -1, true, "the number before the last" },
	{ -3, true, "a number three lower" }, { -0x7fff, true, "a number far lower" },
	{ -0x8000, true, "the lowest number possible" }, { 1, false, "the next number" },
	{ 2, false, "a number two higher" }, { 0x100, false, "a number 256 higher" },
	{ 0x7fff, false, "a number far higher" },
};

enum then { NOTHING, DATA, AGAIN };

/* Does the victim reset this connection, and no other? */
static bool only_this_ends(struct scenery *s, struct link *over)
{
	s->c->l = over;
	return victim_is_told(s->c->s, true) && conn_flags(s->c, SMC_CDC_ABORT) && others_echo(s);
}

static void validate(enum role role, size_t i, bool behind, bool over_old)
{
	struct scenery s = begin(role, true);
	struct link *over = over_old ? s.from : s.to;
	struct conn *c = s.c;
	uint16_t had;
	bool ok = true;

	for (int k = 0; k < 3; k++) {
		we_put(c, 100 * k, 100);
		we_tell(c);
	}
	ok = victim_gets(c, 0, 300) && link_flush(s.from, WAIT_MS);
	had = c->seqno;
	if (!over_old)
		conn_move(c, s.to);
	cdc_validate(c, had + numbers[i].ahead);
	if (behind) {
		we_put(c, 300, 200);
		we_tell(c);
	}
	if (!numbers[i].fine) {
		if (over_old)
			s.to = s.from;
		ok = ok && (over_old ? victim_is_told(c->s, true) &&
				       conn_flags(c, SMC_CDC_ABORT) && conn_echo(s.on_first) &&
				       conn_echo(s.on_second) :
				       only_this_ends(&s, over));
	} else {
		if (!behind) {
			we_put(c, 300, 200);
			we_tell(c);
		}
		ok = ok && victim_gets(c, 300, 200) && conn_echo(c) &&
		     (over_old ? conn_echo(s.on_first) && conn_echo(s.on_second) :
				 others_echo(&s));
	}
	end(&s);
	verdict(ok, "failover, %s: validation of %s over the %s link%s", role_name[role],
		numbers[i].what, over_old ? "same" : "new", behind ? ", followed by data" : "");
}

/* A token of no connection: nothing happens, and the link does not fail either. */
static void validate_nobody(enum role role, uint32_t token)
{
	struct scenery s = begin(role, true);
	struct smc_cdc_msg m = {
		.alert_token = token, .seqno = 7, .prod_flags = SMC_CDC_FAILOVER,
	};
	uint8_t b[MSG_LEN];
	bool ok;

	smc_cdc_encode(&m, b);
	link_send(s.to, b, sizeof(b));
	ok = conn_echo(s.c) && conn_echo(s.on_first) && conn_echo(s.on_second) &&
	     group_silent(s.to);
	end(&s);
	verdict(ok, "failover, %s: validation for token %x", role_name[role], token);
}

/* Only number, length and token count: the other fields of a validation are ignored. */
static void validate_rubbish(enum role role)
{
	struct scenery s = begin(role, true);
	struct smc_cdc_msg m = {
		.alert_token = s.c->peer.alert_token, .seqno = s.c->seqno,
		.prod_flags = SMC_CDC_FAILOVER,
	};
	uint8_t b[MSG_LEN];
	bool ok = conn_echo(s.c);

	m.seqno = s.c->seqno;
	smc_cdc_encode(&m, b);
	memset(b + 12, 0xff, 16);	/* cursors */
	link_send(s.to, b, sizeof(b));
	conn_move(s.c, s.to);
	ok = ok && conn_echo(s.c) && others_echo(&s);
	end(&s);
	verdict(ok, "failover, %s: validation with impossible cursors", role_name[role]);
}

static void validate_twice(enum role role)
{
	struct scenery s = begin(role, true);
	bool ok = conn_echo(s.c);
	uint16_t had = s.c->seqno;

	conn_move(s.c, s.to);
	cdc_validate(s.c, had);
	ok = ok && conn_echo(s.c);
	cdc_validate(s.c, had);
	ok = ok && conn_echo(s.c);
	cdc_validate(s.c, s.c->seqno);
	ok = ok && conn_echo(s.c) && others_echo(&s);
	end(&s);
	verdict(ok, "failover, %s: validation is repeated", role_name[role]);
}

/* ---- and go on ---- */

/* 4.6.2: lost messages are sent again unchanged, or combined in one message with a higher
 * number.
 */
static void resume(enum role role, int skip)
{
	struct scenery s = begin(role, true);
	struct conn *c = s.c;
	bool ok;

	for (int k = 0; k < 4; k++) {
		we_put(c, 100 * k, 100);
		we_tell(c);
	}
	ok = victim_gets(c, 0, 400) && link_flush(s.from, WAIT_MS);
	conn_move(c, s.to);
	/* As far as we know, two of the four messages were acknowledged. */
	cdc_validate(c, c->seqno - 2);
	if (skip) {
		c->prod -= 200;
		we_put(c, 200, 400);
		c->seqno += skip;
		we_tell(c);
	} else {
		c->seqno -= 2;
		c->prod -= 200;
		for (int k = 2; k < 6; k++) {
			we_put(c, 100 * k, 100);
			we_tell(c);
		}
	}
	ok = ok && victim_gets(c, 400, 200) && conn_echo(c) && others_echo(&s);
	end(&s);
	verdict(ok, "failover, %s: %s", role_name[role],
		!skip ? "messages are repeated unchanged" :
		skip == 1 ? "messages are combined" :
		"messages are combined, and numbers are skipped");
}

/* A message with an old number is ignored, whatever it contains. */
static void repeated(enum role role)
{
	struct scenery s = begin(role, true);
	struct conn *c = s.c;
	bool ok;

	we_put(c, 0, 100);
	we_tell(c);
	ok = victim_gets(c, 0, 100) && link_flush(s.from, WAIT_MS);
	conn_move(c, s.to);
	cdc_validate(c, c->seqno);
	c->seqno--;
	c->prod += 5000;
	we_tell(c);
	c->prod -= 5000;
	ok = ok && group_settled(s.to) && !wait_mask(c->s.victim, POLLIN, 200);
	we_put(c, 100, 100);
	we_tell(c);
	ok = ok && victim_gets(c, 100, 100) && conn_echo(c) && others_echo(&s);
	end(&s);
	verdict(ok, "failover, %s: a message with an old number", role_name[role]);
}

/* A late write over the old link must not overwrite what came over the new one. */
static void late_write(enum role role)
{
	static uint8_t wrong[3000];
	struct scenery s = begin(role, true);
	struct conn *c = s.c;
	uint64_t old_addr = c->peer_addr;
	uint32_t old_rkey = c->peer.rkey;
	bool ok, refused;

	memset(wrong, 0xee, sizeof(wrong));
	we_put(c, 0, 1000);
	we_tell(c);
	ok = victim_gets(c, 0, 1000) && link_flush(s.from, WAIT_MS);
	conn_move(c, s.to);
	cdc_validate(c, c->seqno);
	we_put(c, 1000, 3000);
	we_tell(c);
	/* Once DELETE LINK has come, the old link has been drained. */
	ok = ok && group_deletes(s.to, s.from->number);
	link_write(s.from, wrong, sizeof(wrong), old_addr + 1000, old_rkey);
	/*
	 * Longer than the retries of the queue pair. Not a limit for slow(): meanwhile the victim
	 * waits for answers over the other link.
	 */
	refused = !link_flush(s.from, 6000);
	ok = ok && victim_gets(c, 1000, 3000) &&
	     (refused || BAD("the victim takes a write over the old link: %s",
			     link_state(s.from))) &&
	     conn_echo(c) && others_echo(&s);
	end(&s);
	verdict(ok, "failover, %s: a late write over the old link", role_name[role]);
}

/* A peer that uses both links in turn: what it sends over the link that the victim has shut down is
 * lost.
 */
static void alternate(enum role role)
{
	struct scenery s = begin(role, true);
	struct conn *c = s.c;
	bool ok = true;

	for (int k = 0; k < 6; k++) {
		conn_move(c, k % 2 ? s.to : s.from);
		we_put(c, 100 * k, 100);
		we_tell(c);
	}
	/* Send all of it again over the working link. */
	conn_move(c, s.to);
	c->prod = 0;
	we_put(c, 0, 800);
	we_tell(c);
	/*
	 * There is no order between two links: a message over one link may announce bytes that are
	 * still in transit over the other. So the victim's application reads after all of them have
	 * arrived.
	 */
	ok = link_flush(s.to, WAIT_MS) && victim_gets(c, 0, 800) && conn_echo(c) && others_echo(&s);
	end(&s);
	verdict(ok, "failover, %s: messages over both links in turn", role_name[role]);
}

static void end_after_move(enum role role, uint8_t flags)
{
	struct scenery s = begin(role, true);
	bool ok = conn_echo(s.c);

	conn_move(s.c, s.to);
	cdc_validate(s.c, s.c->seqno);
	if (!(flags & SMC_CDC_ABORT))
		we_put(s.c, 0, 300);
	conn_say(s.c, flags);
	if (flags & SMC_CDC_ABORT)
		ok = ok && victim_is_told(s.c->s, true);
	else
		ok = ok && victim_gets(s.c, 0, 300) && victim_is_told(s.c->s, false);
	ok = ok && others_echo(&s);
	end(&s);
	verdict(ok, "failover, %s: we %s right after the move", role_name[role],
		flags & SMC_CDC_ABORT ? "abort" : flags & SMC_CDC_CLOSED ? "close" : "shut down");
}

void cases_failover(void)
{
	for (enum role r = CLIENT; r <= SERVER; r++) {
		for (int first = 0; first < 2; first++)
			for (enum loss l = FAILED; l <= LEFT; l++)
				for (enum traffic t = IDLE; t <= BOTH_WAYS; t++)
					TRY(lost(r, first, l, t), loss_name[l]);
		TRY(lost_when_full(r), "");
		TRY(lost_when_closed(r, true), "");
		TRY(lost_when_closed(r, false), "");
		TRY(lost_both(r), "");
		TRY(same_numbers(r), "");
		for (int first = 0; r == CLIENT && first < 2; first++) {
			TRY(confirmed_late(first), "");
			TRY(key_of_lost(first), "");
			TRY(new_ring(first), "");
		}
		TRY(not_drained(r, true), "posts");
		TRY(not_drained(r, false), "no posts");
		set_parameter("hold_release", 0);
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			for (int k = 0; k < 4; k++)
				TRY(validate(r, i, k & 1, k & 2), numbers[i].what);
		TRY(validate_nobody(r, 0), "");
		TRY(validate_nobody(r, 0x7fffffff), "");
		TRY(validate_rubbish(r), "");
		TRY(validate_twice(r), "");
		TRY(resume(r, 0), "");
		TRY(resume(r, 1), "");
		TRY(resume(r, 1000), "");
		TRY(repeated(r), "");
		TRY(late_write(r), "");
		TRY(alternate(r), "");
		TRY(end_after_move(r, SMC_CDC_SEND_DONE), "");
		TRY(end_after_move(r, SMC_CDC_SEND_DONE | SMC_CDC_CLOSED), "");
		TRY(end_after_move(r, SMC_CDC_ABORT), "");
	}
}
