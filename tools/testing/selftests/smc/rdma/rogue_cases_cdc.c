// SPDX-License-Identifier: GPL-2.0
/* Impossible CDC messages, and RDMA writes to forbidden places. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rogue.h"

/* The expected reaction to a message. */
enum outcome {
	FINE,		/* nothing */
	ABORTED,	/* its connection is reset, the others of the link are not */
	DOWN,		/* the link fails: all its connections are reset */
};

/* Two connections of one link: the one under test, and one that must not be affected. */
struct two {
	struct conn *c, *other;
};

static struct two begin(enum role role)
{
	struct two t;

	t.other = conn_begin(role, V21, AT_UP, NULL);
	t.c = conn_more(t.other, AT_UP, NULL);
	return t;
}

static bool follows(struct two t, enum outcome outcome)
{
	if (outcome == FINE)
		return conn_echo(t.c) && conn_echo(t.other);
	if (!victim_is_told(t.c->s, true))
		return false;
	if (outcome == DOWN)
		return victim_is_told(t.other->s, true);
	return conn_flags(t.c, SMC_CDC_ABORT) && conn_echo(t.other);
}

static void end(struct two t)
{
	conn_end(t.c);
	conn_end(t.other);
}

/* ---- cursors and numbers, after ten bytes in both directions ---- */

typedef void change(struct conn *c, struct smc_cdc_msg *m);

static void token_unknown(struct conn *c, struct smc_cdc_msg *m)
{
	m->alert_token = 0x7fffffff;
}

static void token_0(struct conn *c, struct smc_cdc_msg *m)
{
	m->alert_token = 0;
}

static void token_last(struct conn *c, struct smc_cdc_msg *m)
{
	m->alert_token = UINT32_MAX;
}

static void prod_full(struct conn *c, struct smc_cdc_msg *m)
{
	m->prod = cursor_at(c->prod + c->peer_size, c->peer_size);
	c->prod += c->peer_size;
}

static void prod_beyond(struct conn *c, struct smc_cdc_msg *m)
{
	m->prod = cursor_at(c->prod + c->peer_size + 1, c->peer_size);
}

static void prod_far(struct conn *c, struct smc_cdc_msg *m)
{
	m->prod.wrap += 0x8000;
}

static void prod_wrap_2(struct conn *c, struct smc_cdc_msg *m)
{
	m->prod.wrap += 2;
}

static void prod_wrap_back(struct conn *c, struct smc_cdc_msg *m)
{
	m->prod.wrap--;
}

static void prod_back(struct conn *c, struct smc_cdc_msg *m)
{
	m->prod.count--;
}

static void prod_size(struct conn *c, struct smc_cdc_msg *m)
{
	m->prod.count = c->peer_size;
}

static void prod_huge(struct conn *c, struct smc_cdc_msg *m)
{
	m->prod.count = UINT32_MAX;
}

static void cons_beyond(struct conn *c, struct smc_cdc_msg *m)
{
	m->cons.count++;
}

static void cons_wrap(struct conn *c, struct smc_cdc_msg *m)
{
	m->cons.wrap++;
}

static void cons_wrap_back(struct conn *c, struct smc_cdc_msg *m)
{
	m->cons.wrap--;
}

/* Less than in the previous message. */
static void cons_back(struct conn *c, struct smc_cdc_msg *m)
{
	m->cons.count -= 5;
}

static void cons_size(struct conn *c, struct smc_cdc_msg *m)
{
	m->cons.count = ELEM_SIZE;
}

static void cons_huge(struct conn *c, struct smc_cdc_msg *m)
{
	m->cons.count = 0x80000000;
}

/* An old message must not be processed, whatever it contains. */
static void seqno_again(struct conn *c, struct smc_cdc_msg *m)
{
	m->seqno = --c->seqno;
	prod_beyond(c, m);
}

static void seqno_old(struct conn *c, struct smc_cdc_msg *m)
{
	m->seqno = --c->seqno - 5;
	m->conn_flags = SMC_CDC_ABORT;
}

static void seqno_ahead(struct conn *c, struct smc_cdc_msg *m)
{
	m->seqno = c->seqno += 0x7ff0;
}

static void failover_past(struct conn *c, struct smc_cdc_msg *m)
{
	m->seqno = --c->seqno;
	m->prod_flags = SMC_CDC_FAILOVER;
}

static void failover_lost(struct conn *c, struct smc_cdc_msg *m)
{
	m->prod_flags = SMC_CDC_FAILOVER;
}

static void failover_far(struct conn *c, struct smc_cdc_msg *m)
{
	m->seqno += 1000;
	m->prod_flags = SMC_CDC_FAILOVER;
}

static void abort_now(struct conn *c, struct smc_cdc_msg *m)
{
	m->conn_flags = SMC_CDC_SEND_DONE | SMC_CDC_CLOSED | SMC_CDC_ABORT;
}

static const struct {
	change *change;
	const char *what;
	enum outcome outcome;
} changes[] = {
	{ token_unknown, "an unknown alert token", FINE },
	{ token_0, "alert token 0", FINE },
	{ token_last, "alert token ffffffff", FINE },
	{ prod_beyond, "a producer cursor one byte beyond the window", ABORTED },
	{ prod_far, "a producer cursor far beyond the window", ABORTED },
	{ prod_wrap_2, "a producer cursor two wraps ahead", ABORTED },
	{ prod_wrap_back, "a producer cursor one wrap back", ABORTED },
	{ prod_back, "a producer cursor that goes back", ABORTED },
	{ prod_size, "a producer cursor at the end of the element", ABORTED },
	{ prod_huge, "a producer cursor of ffffffff", ABORTED },
	{ cons_beyond, "a consumer cursor beyond the data sent", ABORTED },
	{ cons_wrap, "a consumer cursor one wrap ahead", ABORTED },
	{ cons_wrap_back, "a consumer cursor one wrap back", ABORTED },
	{ cons_back, "a consumer cursor that goes back", ABORTED },
	{ cons_size, "a consumer cursor at the end of the element", ABORTED },
	{ cons_huge, "a consumer cursor of 80000000", ABORTED },
	{ seqno_again, "a sequence number seen before", FINE },
	{ seqno_old, "an old sequence number, with an abort", FINE },
	{ seqno_ahead, "a sequence number that skips many", FINE },
	{ failover_past, "failover validation of a message that has arrived", FINE },
	{ failover_lost, "failover validation of a message that has not arrived", ABORTED },
	{ failover_far, "failover validation of a number far ahead", ABORTED },
};

static bool ten_bytes(struct conn *c)
{
	char b[10];

	conn_write(c, "ten bytes!", 10);
	return victim_reads(c->s, "ten bytes!") && send(c->s.victim, "0123456789", 10, 0) == 10 &&
	       conn_read(c, b, 10) && conn_echo(c);
}

static void run_change(size_t i, enum role role)
{
	struct two t = begin(role);
	bool ok = ten_bytes(t.c) && ten_bytes(t.other);
	struct smc_cdc_msg m;

	cdc_fill(t.c, &m);
	changes[i].change(t.c, &m);
	cdc_send(t.c, &m);
	ok = ok && follows(t, changes[i].outcome);
	end(t);
	verdict(ok, "cdc, %s: %s", role_name[role], changes[i].what);
}

static bool victim_drains(struct conn *c, size_t left)
{
	char buf[4096];

	while (left) {
		size_t want = left < sizeof(buf) ? left : sizeof(buf);
		ssize_t n = 0;

		if (wait_mask(c->s.victim, POLLIN, WAIT_MS))
			n = recv(c->s.victim, buf, want, MSG_DONTWAIT);
		if (n <= 0)
			return BAD("%zu bytes of the window are missing", left);
		left -= n;
	}
	return true;
}

/* Using the whole window at once is no violation: nothing was unread. */
static void full_window(void)
{
	struct two t = begin(CLIENT);
	bool ok = ten_bytes(t.c);
	struct smc_cdc_msg m;

	cdc_fill(t.c, &m);
	prod_full(t.c, &m);
	cdc_send(t.c, &m);
	ok = ok && victim_drains(t.c, t.c->peer_size) && conn_echo(t.c) && conn_echo(t.other);
	end(t);
	verdict(ok, "cdc: a full window, filled by one write");
}

/* Unread data reduces the window. */
static void unread_window(void)
{
	struct two t = begin(SERVER);
	bool ok = ten_bytes(t.c);
	struct smc_cdc_msg m;

	conn_write(t.c, "unread", 6);
	ok = ok && link_flush(t.c->l, WAIT_MS);
	cdc_fill(t.c, &m);
	m.prod = cursor_at(t.c->prod + t.c->peer_size - 5, t.c->peer_size);
	cdc_send(t.c, &m);
	ok = ok && conn_flags(t.c, SMC_CDC_ABORT) && victim_reads(t.c->s, "unread") &&
	     victim_is_told(t.c->s, true) && conn_echo(t.other);
	end(t);
	verdict(ok, "cdc: a producer cursor one byte beyond a window with unread bytes");
}

/* Five bytes read are not worth a message, unless the peer requests one. */
static void update_requested(void)
{
	struct two t = begin(CLIENT);
	bool ok = ten_bytes(t.c);
	struct smc_cdc_msg m;

	conn_write(t.c, "quiet", 5);
	ok = ok && victim_reads(t.c->s, "quiet");
	cdc_fill(t.c, &m);
	m.prod_flags = SMC_CDC_UPDATE_REQ;
	cdc_send(t.c, &m);
	ok = ok && conn_consumed(t.c, t.c->prod) && conn_echo(t.c) && conn_echo(t.other);
	end(t);
	verdict(ok, "cdc: the victim answers a request for an update");
}

/* With less than half of its window left, the peer gets an update for each tenth, blocked or
 * not.
 */
static void window_grows(void)
{
	struct two t = begin(CLIENT);
	size_t size = t.c->peer_size, len = size / 4 * 3;
	bool ok = ten_bytes(t.c);
	uint8_t *b = calloc(1, len);

	if (!b)
		give_up("no memory");
	conn_write(t.c, b, len);
	ok = ok && victim_drains(t.c, size / 10 + 1) &&
	     conn_consumed(t.c, t.c->prod - len + size / 10) &&
	     victim_drains(t.c, len - size / 10 - 1) && conn_echo(t.c) && conn_echo(t.other);
	free(b);
	end(t);
	verdict(ok, "cdc: the victim sends an update when the window is small");
}

static void says_blocked(void)
{
	static char buf[ELEM_SIZE];
	struct two t = begin(SERVER);
	bool ok = ten_bytes(t.c);
	ssize_t n;

	ok = ok && (!(t.c->peer_prod_flags & SMC_CDC_WRITE_BLOCKED) ||
		    BAD("the victim reports blocked after ten bytes"));
	n = send(t.c->s.victim, buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);
	ok = ok && (n > 0 || BAD("the victim cannot send")) &&
	     conn_prod_flags(t.c, SMC_CDC_WRITE_BLOCKED) && conn_read(t.c, buf, n) &&
	     conn_echo(t.c) && conn_echo(t.other);
	end(t);
	verdict(ok, "cdc: a victim without room reports that it is blocked");
}

/* Data sent while the link is full goes out in one message, but not beyond an urgent byte. */
static void urgent_first(void)
{
	struct two t = begin(SERVER);
	bool ok = ten_bytes(t.c);
	uint64_t at = t.c->peer_prod;
	struct smc_cdc_msg m;
	char b[200] = "";

	link_shut(t.c->l, 0);
	for (unsigned int i = 0; ok && i < sizeof(b); i++)
		ok = send(t.other->s.victim, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
	ok = ok && send(t.c->s.victim, "abc", 3, MSG_OOB | MSG_NOSIGNAL) == 3 &&
	     send(t.c->s.victim, "behind", 6, MSG_NOSIGNAL) == 6;
	link_reopen(t.c->l);
	ok = ok && conn_prod_flags(t.c, SMC_CDC_URG_PRESENT) &&
	     (t.c->peer_urg == at + 3 || BAD("the urgent data end at another position")) &&
	     conn_read(t.c, b, 3);
	cdc_fill(t.c, &m);
	cdc_send(t.c, &m);
	ok = ok && conn_read(t.c, b, 6) && (!memcmp(b, "behind", 6) || BAD("other data")) &&
	     conn_read(t.other, b, sizeof(b)) && conn_echo(t.c) && conn_echo(t.other);
	end(t);
	verdict(ok, "cdc: data behind an urgent byte wait until it is read");
}

static void seqno_wraps(void)
{
	struct two t = begin(CLIENT);
	bool ok = true;

	for (unsigned int i = 0; ok && i < 5; i++) {
		t.c->seqno += 0x7000;
		ok = conn_echo(t.c);
	}
	end(t);
	verdict(ok, "cdc: sequence numbers that wrap");
}

/* ---- bytes ---- */

static void bytes(const char *what, const uint8_t *b, size_t len)
{
	struct two t = begin(len % 2 ? CLIENT : SERVER);
	bool ok;

	link_send(t.c->l, b, len);
	ok = follows(t, DOWN);
	end(t);
	verdict(ok, "cdc: a message %s", what);
}

#define BYTES(what, b, len)	TRY(bytes(what, b, len), what)

static void run_bytes(void)
{
	uint8_t b[64] = { SMC_CDC_TYPE, MSG_LEN };
	char what[64];

	BYTES("one byte too short", b, MSG_LEN - 1);
	BYTES("one byte too long", b, MSG_LEN + 1);
	BYTES("of one byte", b, 1);
	BYTES("of 8 bytes", b, 8);
	b[1] = 0;
	BYTES("with length field 0", b, MSG_LEN);
	b[1] = MSG_LEN - 1;
	BYTES("with length field 43", b, MSG_LEN);
	b[1] = 255;
	BYTES("with length field 255", b, MSG_LEN);
	b[1] = MSG_LEN;
	for (unsigned int type = 0xc0; type < 0x100; type++) {
		if (type == SMC_CDC_TYPE)
			continue;
		b[0] = type;
		snprintf(what, sizeof(what), "of type %02x", type);
		BYTES(what, b, MSG_LEN);
	}
}

/* ---- flags ---- */

static void prod_flags(void)
{
	struct two t = begin(SERVER);
	bool ok = true;

	for (unsigned int flags = 0; ok && flags < 0x100; flags += 8) {
		struct smc_cdc_msg m;

		/* A message with the failover flag has the number of an earlier message. */
		if (flags & SMC_CDC_FAILOVER)
			t.c->seqno--;
		cdc_fill(t.c, &m);
		m.prod_flags = flags;
		cdc_send(t.c, &m);
		ok = conn_echo(t.c) || BAD("no echo after flags %02x", flags);
	}
	ok = ok && conn_echo(t.other);
	end(t);
	verdict(ok, "cdc: all combinations of the producer's flags");
}

static bool told_end(struct conn *c)
{
	char b;

	if (!wait_mask(c->s.victim, POLLIN, WAIT_MS))
		return BAD("the victim is not told of the end");
	return recv(c->s.victim, &b, 1, MSG_DONTWAIT) == 0 || BAD("recv() returns no end of file");
}

static void conn_flags_case(uint8_t flags, uint8_t prod, enum role role)
{
	struct two t = begin(role);
	bool ok = conn_echo(t.c);
	struct smc_cdc_msg m;
	char b[4];

	cdc_fill(t.c, &m);
	m.conn_flags = flags;
	m.prod_flags = prod;
	cdc_send(t.c, &m);
	if (flags & SMC_CDC_ABORT)
		/* The answer to an abort does not wait for a call of the program. */
		ok = ok && conn_flags(t.c, SMC_CDC_ABORT) && victim_is_told(t.c->s, true);
	else if (flags & SMC_CDC_CLOSED)
		ok = ok && told_end(t.c) && !close(t.c->s.victim) &&
		     conn_flags(t.c, SMC_CDC_CLOSED | SMC_CDC_ABORT) &&
		     (t.c->s.victim = dup(t.c->s.raw)) >= 0;
	else
		ok = ok && told_end(t.c) && send(t.c->s.victim, "more", 4, 0) == 4 &&
		     conn_read(t.c, b, 4);
	ok = ok && conn_echo(t.other);
	end(t);
	verdict(ok, "cdc, %s:%s%s%s%s", role_name[role], flags & SMC_CDC_SEND_DONE ? " done" : "",
		flags & SMC_CDC_CLOSED ? " closed" : "", flags & SMC_CDC_ABORT ? " abort" : "",
		prod ? ", with all of the producer's flags" : "");
}

/* Once the connection has ended, further messages about it are ignored. */
static void after_end(uint8_t first, const char *what, bool data)
{
	struct two t = begin(CLIENT);
	bool ok = conn_echo(t.c);
	struct smc_cdc_msg m;
	char b[8];
	ssize_t n;

	conn_say(t.c, first);
	if (data) {
		conn_write(t.c, "late", 4);
	} else {
		cdc_fill(t.c, &m);
		cdc_send(t.c, &m);
		m.seqno = ++t.c->seqno;
		m.conn_flags = SMC_CDC_SEND_DONE | SMC_CDC_CLOSED | SMC_CDC_ABORT;
		cdc_send(t.c, &m);
	}
	ok = ok && link_flush(t.c->l, WAIT_MS) && conn_echo(t.other);
	n = recv(t.c->s.victim, b, sizeof(b), MSG_DONTWAIT);
	ok = ok && (n <= 0 || BAD("the victim reads %zd bytes after the end", n));
	end(t);
	verdict(ok, "cdc: %s", what);
}

/* Reset TCP. Does the application get this error? */
static bool reset_is(struct conn *c, int err)
{
	struct linger now = { .l_onoff = 1 };
	int victim = c->s.victim;

	setsockopt(c->s.raw, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(c->s.raw);
	c->s.raw = dup(victim);
	if (!wait_mask(victim, POLLERR, WAIT_MS))
		return BAD("the reset does not arrive");
	if (send(victim, "x", 1, MSG_NOSIGNAL) >= 0 || errno != err)
		return BAD("send() fails with %s", strerror(errno));
	return true;
}

/* TCP's FIN does not end our stream: the application gets what TCP calls a reset. */
static void reset_after_fin(void)
{
	struct two t = begin(SERVER);
	bool ok = conn_echo(t.c);

	shutdown(t.c->s.raw, SHUT_WR);
	ok = ok && reset_is(t.c, ECONNRESET) && conn_echo(t.other);
	end(t);
	verdict(ok, "cdc: a TCP reset after a FIN of TCP");
}

/*
 * We end our stream, then abort. The victim answers the abort before the TCP reset arrives: its
 * application gets what TCP calls a broken pipe.
 */
static void reset_after_answer(void)
{
	struct two t = begin(SERVER);
	bool ok = conn_echo(t.c);

	conn_say(t.c, SMC_CDC_SEND_DONE);
	ok = ok && told_end(t.c);
	conn_say(t.c, SMC_CDC_SEND_DONE | SMC_CDC_CLOSED | SMC_CDC_ABORT);
	ok = ok && conn_flags(t.c, SMC_CDC_ABORT);
	ok = ok && reset_is(t.c, EPIPE);
	ok = ok && conn_echo(t.other);
	end(t);
	verdict(ok, "cdc: a TCP reset after an abort that was answered");
}

/* As with TCP, shutdown() finds no connection, and leaves the error to the next call. */
static void shutdown_after_answer(void)
{
	struct two t = begin(SERVER);
	int victim = t.c->s.victim;
	bool ok = conn_echo(t.c);

	conn_say(t.c, SMC_CDC_ABORT);
	ok = ok && conn_flags(t.c, SMC_CDC_ABORT);
	if (ok && (!shutdown(victim, SHUT_WR) || errno != ENOTCONN))
		ok = BAD("shutdown() does not fail with ENOTCONN");
	if (ok && (send(victim, "x", 1, MSG_NOSIGNAL) >= 0 || errno != ECONNRESET))
		ok = BAD("send() does not fail with ECONNRESET");
	ok = ok && conn_echo(t.other);
	end(t);
	verdict(ok, "cdc: shutdown() after an abort that was answered");
}

/* A client may write once it has the Accept: the victim gives up before it knows our element. */
static void ended_before_confirm(change *end_it, const char *what)
{
	struct two t = { .other = conn_begin(CLIENT, V21, AT_UP, NULL) };
	struct smc_cdc_msg m;
	bool ok;

	t.c = conn_more(t.other, AT_CLC, NULL);
	cdc_fill(t.c, &m);
	end_it(t.c, &m);
	cdc_send(t.c, &m);
	/* The victim takes the messages of a link in order. */
	ok = conn_echo(t.other);
	clc_confirm(t.c, NULL);
	ok = ok && follows(t, ABORTED);
	end(t);
	verdict(ok, "cdc: the victim answers %s before the Confirm", what);
}

/* The socket is closed and the connection is gone: its token is unknown. */
static void closed_token(void)
{
	struct two t = begin(SERVER);
	bool ok = conn_echo(t.c);
	struct smc_cdc_msg m;

	conn_say(t.c, SMC_CDC_SEND_DONE | SMC_CDC_CLOSED);
	ok = ok && told_end(t.c);
	close(t.c->s.victim);
	ok = ok && conn_flags(t.c, SMC_CDC_CLOSED);
	t.c->s.victim = dup(t.c->s.raw);
	for (unsigned int i = 0; i < 20; i++) {
		cdc_fill(t.c, &m);
		m.prod.count += i * 7;
		m.conn_flags = i * 0x20;
		cdc_send(t.c, &m);
	}
	ok = ok && link_flush(t.c->l, WAIT_MS) && conn_echo(t.other);
	end(t);
	verdict(ok, "cdc: messages with the token of a closed connection");
}

/*
 * @before did not reuse the element of the first connection.  We send our last message on that one,
 * which must disturb nobody. The next connection, which is returned, reuses the element.
 */
static struct conn *reuse_after(struct two t, struct conn *before, uint8_t word, bool *ok)
{
	struct conn *after;

	*ok = *ok &&
	      (before->peer_addr != t.c->peer_addr || BAD("the element is reused too early"));
	conn_say(t.c, word);
	*ok = *ok && link_flush(t.c->l, WAIT_MS) && conn_echo(t.other) && conn_echo(before);
	after = conn_more(t.other, AT_UP, NULL);
	*ok = *ok && (after->peer_addr == t.c->peer_addr || BAD("the element is not reused"));
	return after;
}

/* The victim closes its socket, which has unread data: it aborts the connection. */
static bool close_unread(struct conn *c)
{
	conn_write(c, "unread", 6);
	if (!wait_mask(c->s.victim, POLLIN, WAIT_MS))
		return BAD("the data do not arrive");
	victim_closes(c);
	return conn_flags(c, SMC_CDC_ABORT);
}

/*
 * The victim waits for our answer before it resets TCP, but not if the link group ends. Unless the
 * machine is slow, this waits for less time than the victim (ABORT_TIME in socket/release.c).
 */
static void deleted_after_abort(void)
{
	struct smc_llc_msg all = {
		.type = SMC_LLC_DELETE_LINK,
		.delete_link = { .all = true, .reason = SMC_LLC_DEL_OPERATOR },
	};
	struct two t = begin(SERVER);
	bool ok = conn_echo(t.c) && close_unread(t.c) && conn_echo(t.other);

	llc_put(t.c->l, &all);
	ok = ok && victim_is_told(t.other->s, true);
	ok = ok && (wait_mask(t.c->s.raw, POLLERR, slow(3000)) || BAD("TCP is not reset"));
	end(t);
	verdict(ok, "cdc: the group ends after an abort by the victim");
}

/*
 * TCP's FIN comes before the victim closes, or while it waits for our answer to its "abort". The
 * reset must wait nevertheless, because it would overtake data that we have yet to read.
 */
static void fin_before_answer(bool first)
{
	struct two t = begin(SERVER);
	bool ok = conn_echo(t.c);

	if (first)
		shutdown(t.c->s.raw, SHUT_WR);
	ok = ok && close_unread(t.c);
	if (!first)
		shutdown(t.c->s.raw, SHUT_WR);
	ok = ok && (!wait_mask(t.c->s.raw, POLLERR, 300) || BAD("TCP is reset too early"));
	conn_say(t.c, SMC_CDC_ABORT);
	ok = ok && (wait_mask(t.c->s.raw, POLLERR, slow(3000)) || BAD("TCP is not reset")) &&
	     conn_echo(t.other);
	end(t);
	verdict(ok, "cdc: an abort by the victim %s TCP's FIN", first ? "after" : "before");
}

/* The victim gives up. Its element must not be reused before this peer has answered (C2). */
static void element_after_abort(uint8_t answer)
{
	struct two t = begin(SERVER);
	struct conn *before, *after;
	bool ok = conn_echo(t.c);

	ok = ok && close_unread(t.c) && conn_echo(t.other);
	before = conn_more(t.other, AT_UP, NULL);
	after = reuse_after(t, before, answer, &ok);
	ok = ok && conn_echo(after);
	conn_end(after);
	conn_end(before);
	end(t);
	verdict(ok, "cdc: reuse of an element after an abort by the victim, %s",
		answer & SMC_CDC_ABORT ? "then an abort by us" : "then a close by us");
}

/* The victim refuses our Confirm, but data may already follow it. */
static void element_after_refusal(void)
{
	const struct twist wrong = { .accept = clc_wrong_rkey };
	struct two t = { .other = conn_begin(CLIENT, V21, AT_UP, NULL) };
	struct conn *before, *after;
	struct message reply;
	bool ok;

	t.c = conn_more(t.other, AT_CLC, NULL);
	clc_confirm(t.c, &wrong);
	ok = get_message(t.c->s.raw, &reply, WAIT_MS) == GOT_RESET ||
	     BAD("the Confirm is not refused");
	before = conn_more(t.other, AT_UP, NULL);
	conn_write(t.c, "late", 4);
	ok = ok && conn_echo(before);
	after = reuse_after(t, before, SMC_CDC_ABORT, &ok);
	ok = ok && conn_echo(after);
	conn_end(after);
	conn_end(before);
	end(t);
	verdict(ok, "cdc: reuse of an element after a refused Confirm");
}

/*
 * An element may be reused only after both sides have closed. Its old content and the old positions
 * of its cursors are forgotten.
 */
static void element_after_close(enum role role)
{
	struct two t = begin(role);
	struct conn *before, *after;
	bool ok = ten_bytes(t.c);

	victim_closes(t.c);
	ok = ok && conn_flags(t.c, SMC_CDC_CLOSED);
	before = conn_more(t.other, AT_UP, NULL);
	after = reuse_after(t, before, SMC_CDC_SEND_DONE | SMC_CDC_CLOSED, &ok);
	ok = ok &&
	     (after->peer.alert_token != t.c->peer.alert_token ||
	      BAD("reused with the same token")) &&
	     ten_bytes(after) && conn_echo(before);
	conn_end(after);
	conn_end(before);
	end(t);
	verdict(ok, "cdc, %s: reuse of an element after both have closed", role_name[role]);
}

static void flood(void)
{
	struct two t = begin(CLIENT);
	struct smc_cdc_msg m;
	struct msg *got;
	bool ok;

	for (unsigned int i = 0; i < 2000; i++) {
		cdc_fill(t.c, &m);
		m.prod_flags = SMC_CDC_UPDATE_REQ | SMC_CDC_WRITE_BLOCKED;
		cdc_send(t.c, &m);
		while (t.c->l->in_head != t.c->l->in_tail && (got = link_recv(t.c->l, 0)))
			free(got);
	}
	ok = link_flush(t.c->l, WAIT_MS) && conn_echo(t.c) && conn_echo(t.other);
	end(t);
	verdict(ok, "cdc: 2000 messages that ask for an answer");
}

/* ---- RDMA writes ---- */

static void bad_write(const char *what, int64_t off, uint32_t key_change, size_t len)
{
	struct two t = begin(SERVER);
	static uint8_t b[16384];
	bool ok = conn_echo(t.c);

	link_write(t.c->l, b, len, t.c->peer_addr + off, t.c->peer.rkey ^ key_change);
	ok = ok && (!link_flush(t.c->l, WAIT_MS) || BAD("the write was accepted")) &&
	     follows(t, DOWN);
	end(t);
	verdict(ok, "rdma: a write %s", what);
}

/* The RMB belongs to this peer alone: that harms nobody else. */
static void other_element(void)
{
	struct two t = begin(SERVER);
	bool ok = conn_echo(t.c);

	link_write(t.c->l, "surprise", 8, t.other->peer_addr + 100, t.other->peer.rkey);
	ok = ok && link_flush(t.c->l, WAIT_MS) && follows(t, FINE);
	end(t);
	verdict(ok, "rdma: a write into another element of the same peer");
}

void cases_cdc(void)
{
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		for (enum role r = CLIENT; r <= SERVER; r++)
			TRY(run_change(i, r), changes[i].what);
	TRY(full_window(), "");
	TRY(unread_window(), "");
	TRY(update_requested(), "");
	TRY(window_grows(), "");
	TRY(says_blocked(), "");
	TRY(urgent_first(), "");
	TRY(seqno_wraps(), "");
	TRY(prod_flags(), "");
	for (unsigned int flags = 0x20; flags < 0x100; flags += 0x20) {
		TRY(conn_flags_case(flags, 0, flags & 0x20 ? CLIENT : SERVER), "");
		TRY(conn_flags_case(flags, 0xf0, flags & 0x20 ? SERVER : CLIENT), "");
	}
	TRY(after_end(SMC_CDC_ABORT, "data after an abort", true), "");
	TRY(after_end(SMC_CDC_SEND_DONE | SMC_CDC_CLOSED, "data after a close", true), "");
	TRY(after_end(SMC_CDC_SEND_DONE | SMC_CDC_CLOSED, "a close that is taken back", false), "");
	TRY(after_end(SMC_CDC_ABORT, "an abort that is taken back", false), "");
	TRY(reset_after_answer(), "");
	TRY(reset_after_fin(), "");
	TRY(shutdown_after_answer(), "");
	TRY(ended_before_confirm(abort_now, "an abort"), "");
	TRY(ended_before_confirm(prod_beyond, "an impossible cursor"), "");
	TRY(deleted_after_abort(), "");
	TRY(fin_before_answer(true), "");
	TRY(fin_before_answer(false), "");
	TRY(closed_token(), "");
	TRY(element_after_abort(SMC_CDC_ABORT), "");
	TRY(element_after_abort(SMC_CDC_SEND_DONE | SMC_CDC_CLOSED), "");
	TRY(element_after_refusal(), "");
	for (enum role r = CLIENT; r <= SERVER; r++)
		TRY(element_after_close(r), "");
	TRY(flood(), "");
	TRY(bad_write("with an unknown RKey", 0, 0xff00, 8), "");
	TRY(bad_write("with RKey 0 ^ 1", 0, 1, 8), "");
	TRY(bad_write("before the RMB", -(1 << 20), 0, 8), "");
	TRY(bad_write("beyond the RMB", 1 << 20, 0, 8), "");
	TRY(bad_write("far beyond the RMB", 1ll << 46, 0, 8), "");
	TRY(other_element(), "");
	run_bytes();
}
