// SPDX-License-Identifier: GPL-2.0
/*
 * A connection that moves twice, in a group of three links.
 *
 * A group has three links while one of them replaces an asymmetric one, which the server then
 * deletes (RFC 7609, 2.2.1).  This server takes its time.
 */
#include <stdio.h>

#include "rogue.h"

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

void cases_three(void)
{
	TRY(moves_twice(false), "one after the other");
	TRY(moves_twice(true), "at once");
	set_parameter("hold_drain", 0);
	TRY(next_one_fails(), "");
	set_parameter("hold_drain", 0);
}
