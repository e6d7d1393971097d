// SPDX-License-Identifier: GPL-2.0
/* What may still arrive over a link that a connection has left, and what must not (4.4.2, 4.6). */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rogue.h"

/*
 * We move a connection twice.  A group has three links while one of them replaces an asymmetric
 * one, which the server then deletes (2.2.1).  This server takes its time.
 */

/* Between the victim's ports and ours: 0 and 1, 2 and 1, 2 and 3. */
struct three {
	struct conn *c;
	struct link *l[3];
};

static struct three begin(void)
{
	struct conn *c = conn_one_link(SERVER);
	struct three t = { .c = c, .l = { c->l } };

	t.l[1] = half_new(c->l, &dev);
	if (!link_add(t.l[1], c->l))
		give_up("the second link: %s", why);
	t.l[2] = half_new(c->l, &dev2);
	if (!link_add(t.l[2], c->l))
		give_up("the third link: %s", why);
	return t;
}

/* One byte behind a validation of all that came before. */
static void write_over(struct conn *c, struct link *l, const char *byte)
{
	uint16_t had = c->seqno;

	conn_move(c, l);
	cdc_validate(c, had);
	conn_write(c, byte, 1);
}

/*
 * The victim may take what comes over the third link only when nothing can arrive over the second
 * one any more, as over the first one before.  @at_once: when we move to the third link, the victim
 * still waits for the device of the first one.
 */
static void moves_twice(bool at_once)
{
	struct three t = begin();
	uint32_t rkey = link_rmb(t.l[1], t.c->name)->rkey;
	bool ok = conn_echo(t.c) && link_flush(t.l[0], WAIT_MS);
	uint64_t addr;

	if (at_once)
		set_parameter("hold_drain", 1);
	write_over(t.c, t.l[1], "1");
	addr = t.c->peer_addr;
	if (!at_once)
		ok = ok && victim_reads(t.c->s, "1") && group_deletes(t.l[2], t.l[0]->number);
	ok = ok && link_flush(t.l[1], WAIT_MS) && group_settled(t.l[2]);
	write_over(t.c, t.l[2], "2");
	ok = ok && link_flush(t.l[2], WAIT_MS) && group_settled(t.l[2]);
	set_parameter("hold_drain", 0);
	ok = ok && victim_reads(t.c->s, at_once ? "12" : "2");
	/* Too late, and on what is there by now. */
	link_write(t.l[1], "3", 1, addr + 1, rkey);
	ok = ok && (!link_flush(t.l[1], 6000) || BAD("a write over the second link arrives")) &&
	     (!at_once || group_deletes(t.l[2], t.l[0]->number)) &&
	     group_deletes(t.l[2], t.l[1]->number) && conn_echo(t.c);
	conn_end(t.c);
	verdict(ok, "three links: we move to the second, then to the third%s",
		at_once ? ", before the first has been drained" : "");
}

/* The link that we have moved to fails while the victim waits for the device of the first one. */
static void next_one_fails(void)
{
	struct three t = begin();
	bool ok = conn_echo(t.c) && link_flush(t.l[0], WAIT_MS);

	set_parameter("hold_drain", 1);
	write_over(t.c, t.l[1], "1");
	ok = ok && link_flush(t.l[1], WAIT_MS) && group_settled(t.l[2]);
	link_fail(t.l[1]);
	set_parameter("hold_drain", 0);
	ok = ok && victim_reads(t.c->s, "1");
	write_over(t.c, t.l[2], "2");
	ok = ok && victim_reads(t.c->s, "2") && conn_echo(t.c) &&
	     group_deletes(t.l[2], t.l[0]->number);
	conn_end(t.c);
	verdict(ok, "three links: we move to the second, which fails at once");
}

/*
 * We end the stream and then abort, as after FIN_WAIT2, while the victim waits for the device of
 * the first link.  Its program sees the end of the stream, no reset.
 */
static void ends_meanwhile(enum role role, uint8_t flags)
{
	struct duo d = two_links(role);
	struct conn *c = d.c;
	bool ok = conn_echo(c) && link_flush(d.first, WAIT_MS);
	uint16_t had = c->seqno;
	char byte;

	set_parameter("hold_drain", 1);
	conn_move(c, d.second);
	cdc_validate(c, had);
	conn_write(c, "1", 1);
	conn_say(c, flags);
	conn_say(c, SMC_CDC_SEND_DONE | SMC_CDC_CLOSED | SMC_CDC_ABORT);
	ok = ok && link_flush(d.second, WAIT_MS) && group_settled(d.second);
	set_parameter("hold_drain", 0);
	ok = ok && victim_reads(c->s, "1") &&
	     (wait_mask(c->s.victim, POLLRDHUP, WAIT_MS) || BAD("the victim is not told")) &&
	     (!recv(c->s.victim, &byte, 1, MSG_DONTWAIT) || BAD("no end of file: %m")) &&
	     (flags & SMC_CDC_CLOSED || wait_mask(c->s.victim, POLLHUP, WAIT_MS) ||
	      BAD("no word of the abort"));
	conn_end(c);
	verdict(ok, "failover, %s: we %s and abort while the first link is drained",
		role_name[role], flags & SMC_CDC_CLOSED ? "close" : "shut down");
}

/*
 * The victim has closed, and refuses what we send.  Then we move, and validate messages that it
 * has, but does not note any more.  What it sent before still arrives, and no reset overtakes it.
 */
static void validates_after_abort(enum role role)
{
	struct duo d = two_links(role);
	struct conn *c = d.c;
	bool ok = conn_echo(c) && link_flush(d.first, WAIT_MS);
	char got[5] = "";
	uint16_t had;

	link_shut(d.first, 0);
	ok = ok && (send(c->s.victim, "hello", 5, MSG_NOSIGNAL) == 5 || BAD("send"));
	victim_closes(c);
	conn_write(c, "x", 1);
	conn_say(c, 0);
	ok = ok && link_flush(d.first, WAIT_MS);
	had = c->seqno;
	set_parameter("hold_drain", 1);
	conn_move(c, d.second);
	cdc_validate(c, had);
	ok = ok && link_flush(d.second, WAIT_MS) && group_settled(d.second);
	set_parameter("hold_drain", 0);
	ok = ok && conn_read(c, got, 5) && (!memcmp(got, "hello", 5) || BAD("other bytes")) &&
	     conn_flags(c, SMC_CDC_ABORT) &&
	     (!wait_mask(c->s.raw, POLLERR, 0) || BAD("TCP has been reset before"));
	conn_end(c);
	verdict(ok, "failover, %s: we validate what the victim has not noted after its abort",
		role_name[role]);
}

/* ---- the victim closes, and then moves ---- */

#define LEN	2000

static void lose_first(struct duo d)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_DELETE_LINK,
		.delete_link = { .link = d.first->number, .reason = SMC_LLC_DEL_LOST_PATH },
	};

	llc_put(d.second, &m);
}

static bool answers_loss(struct duo d)
{
	struct smc_llc_msg m;

	if (d.first->server)
		return group_expect(d.second, SMC_LLC_DELETE_LINK, true, &m);
	return group_deletes(d.second, d.first->number);
}

/*
 * We answer CLOSED when we have it, and then give the element to another connection.  So the victim
 * must not write there any more: its data come first, and are acknowledged, and so they are when
 * they come a second time.  @left: how many messages reach us over the first link.
 */
static void ends(enum role role, unsigned int left)
{
	struct duo d = two_links(role);
	struct conn *c = d.c, *more = conn_over(d.second);
	uint8_t b[LEN], *elem = c->l->first->rmb + (c->idx - 1) * ELEM_SIZE;
	bool ok = conn_echo(c) && conn_echo(more) && link_flush(d.first, WAIT_MS);
	uint16_t last = c->peer_seqno + left;
	bool closed;

	link_shut(d.first, left);
	memset(b, 'x', LEN);
	ok = ok && (send(c->s.victim, b, LEN, MSG_NOSIGNAL | MSG_DONTWAIT) == LEN || BAD("send"));
	victim_closes(c);
	if (left)
		ok = ok && conn_read(c, b, LEN) && conn_told(c, last);
	/* The second message may precede CLOSED, which waits for the data's acknowledgment. */
	closed = c->peer_flags & SMC_CDC_CLOSED;
	if (left)
		memset(elem, 0xee, ELEM_SIZE);
	lose_first(d);
	ok = ok && answers_loss(d);
	conn_move(c, d.second);
	if (!left)
		ok = ok && conn_read(c, b, LEN);
	ok = ok && conn_flags(c, SMC_CDC_CLOSED) &&
	     (!c->closed_with_data || BAD("CLOSED comes with data"));
	for (unsigned int i = 0; ok && closed && i < ELEM_SIZE; i++)
		ok = elem[i] == 0xee || BAD("the element is written again behind CLOSED");
	ok = ok && conn_echo(more);
	conn_end(more);
	conn_end(c);
	verdict(ok, "failover, %s: the victim closes, %u messages arrive, the link is lost",
		role_name[role], left);
}

/*
 * The device of the first link hangs when it is told to stop the queue pair: the connection cannot
 * move, but it does not wait for the device either.
 */
static void hangs(enum role role)
{
	struct duo d = two_links(role);
	struct conn *more = conn_over(d.second);
	bool ok = conn_echo(d.c) && conn_echo(more);
	long since = now_ms();

	set_parameter("hold_command", 1);
	lose_first(d);
	ok = ok && victim_is_told(d.c->s, true) &&
	     (now_ms() - since < slow(4000) || BAD("only after %ld ms", now_ms() - since)) &&
	     answers_loss(d) && conn_echo(more);
	set_parameter("hold_command", 0);
	ok = ok && conn_echo(more);
	conn_end(more);
	conn_end(d.c);
	verdict(ok, "failover, %s: the device does not stop the first link", role_name[role]);
}

void cases_late(void)
{
	TRY(moves_twice(false), "one after the other");
	TRY(moves_twice(true), "at once");
	set_parameter("hold_drain", 0);
	TRY(next_one_fails(), "");
	set_parameter("hold_drain", 0);
	for (enum role r = CLIENT; r <= SERVER; r++) {
		TRY(ends_meanwhile(r, SMC_CDC_SEND_DONE | SMC_CDC_CLOSED), role_name[r]);
		set_parameter("hold_drain", 0);
		TRY(ends_meanwhile(r, SMC_CDC_SEND_DONE), role_name[r]);
		set_parameter("hold_drain", 0);
		TRY(validates_after_abort(r), role_name[r]);
		set_parameter("hold_drain", 0);
	}
	for (enum role r = CLIENT; r <= SERVER; r++)
		for (unsigned int left = 0; left < 3; left++)
			TRY(ends(r, left), "");
	for (enum role r = CLIENT; r <= SERVER; r++) {
		TRY(hangs(r), role_name[r]);
		set_parameter("hold_command", 0);
	}
}
