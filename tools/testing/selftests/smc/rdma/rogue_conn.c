// SPDX-License-Identifier: GPL-2.0
/* The data, CDC messages and ends of the rogue's connections. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rogue.h"

const char * const role_name[] = { "as client", "as server" };

static struct conn *by_token(struct link *l, uint32_t token)
{
	l = l->first;
	for (unsigned int i = 0; i < l->n_conns; i++)
		if (l->conns[i] && l->conns[i]->token == token)
			return l->conns[i];
	return NULL;
}

/* Checks that the victim's messages are correct, too. */
void cdc_take(struct link *l, const struct msg *m)
{
	struct smc_cdc_msg cdc;
	uint64_t before;
	struct conn *c;

	if (smc_cdc_decode(m->b, m->len, &cdc))
		give_up("the victim sent an invalid CDC message");
	c = by_token(l, cdc.alert_token);
	if (!c)
		return;
	if (cdc.prod_flags & SMC_CDC_FAILOVER) {
		c->n_validated++;
		c->validated = cdc.seqno;
		return;
	}
	if (!smc_cdc_newer(cdc.seqno, c->peer_seqno)) {
		/* Two links are read in turn, so an older message may come last. */
		if (c->over != l) {
			if (smc_cdc_newer(cdc.seqno, c->left_at))
				c->left_at = cdc.seqno;
			return;
		}
		give_up("the victim's message %u arrives after %u", cdc.seqno, c->peer_seqno);
	}
	if (c->over != l)
		c->left_at = c->peer_seqno;
	c->peer_seqno = cdc.seqno;
	c->over = l;
	before = c->peer_prod;
	if (smc_cursor_advance(&c->peer_prod, &c->peer_prod_at, ELEM_SIZE, &cdc.prod,
			       ELEM_SIZE - (c->peer_prod - c->cons)))
		give_up("the victim's producer cursor is beyond our window");
	/* Our cursors are often false, so the victim's consumer cursor is not checked against
	 * them.
	 */
	smc_cursor_advance(&c->peer_cons, &c->peer_cons_at, c->peer_size, &cdc.cons, UINT64_MAX);
	if (cdc.conn_flags & SMC_CDC_CLOSED && c->peer_prod != before)
		c->closed_with_data = true;
	if (cdc.prod_flags & SMC_CDC_URG_PRESENT)
		c->peer_urg = c->peer_prod;
	c->peer_flags |= cdc.conn_flags;
	c->peer_prod_flags |= cdc.prod_flags;
}

struct smc_wire_cursor cursor_at(uint64_t count, uint32_t size)
{
	return (struct smc_wire_cursor) { .wrap = count / size, .count = count % size };
}

void cdc_fill(struct conn *c, struct smc_cdc_msg *m)
{
	memset(m, 0, sizeof(*m));
	m->seqno = ++c->seqno;
	m->alert_token = c->peer.alert_token;
	m->prod = cursor_at(c->prod, c->peer_size);
	m->cons = cursor_at(c->cons, ELEM_SIZE);
}

void cdc_send(struct conn *c, const struct smc_cdc_msg *m)
{
	uint8_t b[MSG_LEN];

	smc_cdc_encode(m, b);
	link_send(c->l, b, sizeof(b));
}

/* The victim's program closes its socket. conn_end() has something to close nevertheless. */
void victim_closes(struct conn *c)
{
	close(c->s.victim);
	c->s.victim = dup(c->s.raw);
}

void conn_say(struct conn *c, uint8_t flags)
{
	struct smc_cdc_msg m;

	cdc_fill(c, &m);
	m.conn_flags = flags;
	cdc_send(c, &m);
}

void conn_put(struct conn *c, const void *from, size_t len)
{
	const uint8_t *b = from;

	while (len) {
		uint32_t pos = c->prod & (c->peer_size - 1);
		size_t n = len < c->peer_size - pos ? len : c->peer_size - pos;

		if (n > 16384)
			n = 16384;
		link_write(c->l, b, n, c->peer_addr + pos, c->peer.rkey);
		c->prod += n;
		b += n;
		len -= n;
	}
}

void conn_write(struct conn *c, const void *b, size_t len)
{
	struct smc_cdc_msg m;

	conn_put(c, b, len);
	cdc_fill(c, &m);
	cdc_send(c, &m);
}

/* Process messages until @done is true. */
static bool wait_for(struct conn *c, bool (*done)(struct conn *c, uint64_t what), uint64_t what)
{
	long until = now_ms() + WAIT_MS;
	struct smc_llc_msg m;

	while (!done(c, what)) {
		struct msg *got;

		if (c->l->group) {
			if (!group_take(c->l, WAIT_MS) || now_ms() > until)
				return BAD("nothing arrives over any link");
			continue;
		}
		got = link_recv(c->l, WAIT_MS);
		if (!got)
			return BAD("nothing arrives over the link");
		if (smc_is_cdc(got->b[0]))
			cdc_take(c->l, got);
		else if (!smc_llc_decode(got->b, got->len, &m) &&
			 m.type == SMC_LLC_TEST_LINK && !m.reply)
			m.reply = true, llc_put(c->l, &m);
		free(got);
	}
	return true;
}

static bool has_data(struct conn *c, uint64_t what)
{
	return c->peer_prod - c->cons >= what;
}

static bool has_flags(struct conn *c, uint64_t what)
{
	return c->peer_flags & what;
}

bool conn_read(struct conn *c, void *b, size_t len)
{
	uint8_t *to = b;

	if (!wait_for(c, has_data, len))
		return false;
	for (size_t i = 0; i < len; i++)
		to[i] = c->l->rmb[(c->idx - 1) * ELEM_SIZE + (c->cons++ & (ELEM_SIZE - 1))];
	return true;
}

bool conn_flags(struct conn *c, uint8_t flags)
{
	return wait_for(c, has_flags, flags);
}

static bool has_been_told(struct conn *c, uint64_t what)
{
	return !smc_cdc_newer(what, c->peer_seqno);
}

bool conn_told(struct conn *c, uint16_t seqno)
{
	return wait_for(c, has_been_told, seqno);
}

static bool has_prod_flags(struct conn *c, uint64_t what)
{
	return c->peer_prod_flags & what;
}

bool conn_prod_flags(struct conn *c, uint8_t flags)
{
	return wait_for(c, has_prod_flags, flags);
}

static bool has_consumed(struct conn *c, uint64_t what)
{
	return c->peer_cons >= what;
}

bool conn_consumed(struct conn *c, uint64_t count)
{
	return wait_for(c, has_consumed, count);
}

bool conn_echo(struct conn *c)
{
	static uint8_t turn;
	char out[2] = { 'a' + turn++ % 26 }, in = 0;

	conn_write(c, out, 1);
	if (!victim_reads(c->s, out))
		return false;
	if (!(wait_mask(c->s.victim, POLLOUT, WAIT_MS) & POLLOUT) ||
	    send(c->s.victim, out, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		return BAD("the victim cannot send");
	return conn_read(c, &in, 1) && (in == out[0] || BAD("another byte comes back"));
}

bool conn_goes_on(struct conn *c, enum stage at)
{
	struct link *l = c->l;

	if (at == AT_LINK && !llc_confirm(l))
		return false;
	if (at < AT_UP && l->max_links > 1 && !llc_add(l))
		return false;
	return conn_echo(c);
}

/* Links whose queue pair is kept until the victim has destroyed its own. */
static struct link *graves[64];
static unsigned int n_graves;

static void say_goodbye(struct link *l)
{
	struct smc_llc_msg m = {
		.type = SMC_LLC_DELETE_LINK,
		.delete_link = { .all = true, .orderly = true, .reason = SMC_LLC_DEL_PROGRAM },
	};

	for (struct link *i = l; i; i = i->next)
		if (i->qp && i->connected && !i->send_error)
			llc_put(i, &m);
	if (n_graves == 64)
		give_up("too many links at the same time");
	graves[n_graves++] = l;
}

void bury_links(void)
{
	while (n_graves)
		link_free(graves[--n_graves]);
}

static struct conn *alive[128];

struct conn *conn_new(struct link *l)
{
	struct conn *c = calloc(1, sizeof(*c));
	unsigned int i;

	if (!c || l->first->n_conns == N_ELEMS)
		give_up("no room for a connection");
	c->l = l;
	l->first->conns[l->first->n_conns++] = c;
	c->idx = l->first->n_conns;
	c->token = 0x10000000 | l->peer_id[0] << 16 | l->peer_id[1] << 8 | c->idx;
	c->s.raw = c->s.victim = -1;
	for (i = 0; alive[i]; i++)
		if (i == 127)
			give_up("too many connections");
	alive[i] = c;
	return c;
}

void conns_end(const struct conn *but)
{
	for (unsigned int i = 0; i < 128; i++)
		if (alive[i] && alive[i] != but)
			conn_end(alive[i]);
}

void conn_close(struct conn *c)
{
	end_scene(c->s);
	c->s = (struct scene) { .raw = -1, .victim = -1 };
}

void conn_end(struct conn *c)
{
	struct link *l = c->l->first;
	bool last = true;

	for (unsigned int i = 0; i < 128; i++)
		if (alive[i] == c)
			alive[i] = NULL;

	end_scene(c->s);
	for (unsigned int i = 0; i < l->n_conns; i++)
		if (l->conns[i] == c)
			l->conns[i] = NULL;
	free(c);
	for (unsigned int i = 0; i < l->n_conns; i++)
		last &= !l->conns[i];
	if (last)
		say_goodbye(l);
}
