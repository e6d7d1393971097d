// SPDX-License-Identifier: GPL-2.0
/*
 * How long the victim waits: net.smc.smcr_testlink_time, net.smc.lgr_idle_time and the module's
 * handshake_timeout_ms; not less than their values and not much more.  And how often it sends
 * window updates while its reader takes one byte at a time.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "rogue.h"

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000l + ts.tv_nsec / 1000000;
}

/* Jiffies are coarse, and the machine may be busy with other guests. The defaults are far away. */
static bool took(const char *what, long since, long ms)
{
	long time = now() - since;

	return (time >= ms - 20 && time <= ms + slow(ms + 5000)) ||
	       BAD("%s after %ld ms, not %ld", what, time, ms);
}

/* All of these wait at the same time; the results are printed at the end. */
static struct {
	const char *what;
	bool ok;
	char why[sizeof(why)];
} told[16];
static unsigned int n_told;

static void tell(bool ok, const char *what)
{
	told[n_told].what = what;
	told[n_told].ok = ok;
	memcpy(told[n_told++].why, why, sizeof(why));
	why[0] = 0;
}

/* ---- TEST LINK ---- */

/* Messages at a third of the interval replace an answer to TEST LINK. */
static bool untested(struct conn *c, long ms)
{
	struct smc_llc_msg m;

	for (long start = now(); now() - start < 3 * ms / 2;) {
		conn_write(c, "t", 1);
		if (!victim_reads(c->s, "t"))
			return false;
		if (llc_get(c->l, &m, ms / 3))
			return BAD("%s on a link with traffic", smc_llc_type_name(m.type));
	}
	return true;
}

/* Returns when TEST LINK came, or 0 if it was wrong. */
static long tested(struct conn *c, long ms)
{
	struct smc_llc_msg m;
	long since;
	bool ok;

	ok = untested(c, ms);
	tell(ok, "no TEST LINK while the peer sends");
	since = now();
	conn_write(c, "t", 1);
	ok = ok && victim_reads(c->s, "t") && llc_expect(c->l, SMC_LLC_TEST_LINK, false, &m) &&
	     took("TEST LINK", since, ms);
	tell(ok, "TEST LINK after net.smc.smcr_testlink_time");
	return ok ? now() : 0;
}

static void ends_untold(struct conn *c, long since)
{
	tell(since && victim_is_told(c->s, true) && took("the end of the link", since, 5000),
	     "a link whose TEST LINK is not answered ends after five seconds");
}

static void never_tested(struct conn *c)
{
	struct smc_llc_msg m;

	tell(!llc_get(c->l, &m, 10) || BAD("%s", smc_llc_type_name(m.type)),
	     "no TEST LINK with net.smc.smcr_testlink_time 0");
}

/* ---- an idle link group ---- */

/* Both ends of the only connection close; then the link is idle. */
static void idle(enum role role, long seconds, long ms, const char *what)
{
	long old = set_sysctl("lgr_idle_time", seconds), since;
	struct conn *c = conn_begin(role, V21, AT_UP, NULL);
	bool ok = conn_echo(c);
	struct smc_cdc_msg m;

	victim_closes(c);
	ok = ok && conn_flags(c, SMC_CDC_CLOSED);
	cdc_fill(c, &m);
	m.conn_flags = SMC_CDC_SEND_DONE | SMC_CDC_CLOSED;
	since = now();
	cdc_send(c, &m);
	ok = ok && llc_told_of_end(c->l) && took("DELETE LINK", since, ms);
	set_sysctl("lgr_idle_time", old);
	conn_end(c);
	tell(ok, what);
}

/* ---- a handshake ---- */

struct handshake {
	struct conn *c;
	long since;
	const char *what;
};

static struct handshake silent(enum role role, enum stage stage, const char *what)
{
	struct handshake h = { .since = now(), .what = what };

	h.c = conn_begin(role, V21, stage, NULL);
	return h;
}

static void handshakes(void)
{
	long ms = slow(2000), old = set_timeout_ms(ms);
	struct handshake h[] = {
		silent(SERVER, AT_TCP, "without an Accept: reset after handshake_timeout_ms"),
		silent(CLIENT, AT_TCP, "without a Proposal: reset after handshake_timeout_ms"),
		silent(CLIENT, AT_CLC, "without a Confirm: reset after handshake_timeout_ms"),
	};

	set_timeout_ms(old);
	for (unsigned int i = 0; i < 3; i++) {
		tell(judge(h[i].c->s, GOT_RESET, false, NULL) &&
		     took("the reset", h[i].since, ms), h[i].what);
		conn_end(h[i].c);
	}
	tell(old == 10000 || BAD("%ld", old), "handshake_timeout_ms is ten seconds");
}

static void times(void)
{
	/* The rogue has to send messages more often than that. */
	long old = set_sysctl("smcr_testlink_time", slow(2)), since;
	struct conn *c = conn_begin(SERVER, V21, AT_UP, NULL), *never;

	since = tested(c, slow(2000));
	set_sysctl("smcr_testlink_time", 0);
	never = conn_begin(CLIENT, V21, AT_UP, NULL);
	/* The bystander's link may have been tested as well. */
	bystander_turn();
	handshakes();
	idle(CLIENT, 0, 0,
	     "an idle server ends its link group at once if net.smc.lgr_idle_time is 0");
	idle(SERVER, 0, 2000, "an idle client ends its link group two seconds later than a server");
	ends_untold(c, since);
	idle(CLIENT, 1, 1000, "an idle server ends its link group after net.smc.lgr_idle_time");
	never_tested(never);
	set_sysctl("smcr_testlink_time", old);
	conn_end(never);
	conn_end(c);
	for (unsigned int i = 0; i < n_told; i++) {
		memcpy(why, told[i].why, sizeof(why));
		verdict(told[i].ok, "wait: %s", told[i].what);
	}
}

/* ---- a reader that takes a byte at a time ---- */

/* Counts the victim's cursor updates and puts the newest cursor into *@cons. */
static unsigned int updates(struct conn *c, uint64_t *cons, int ms)
{
	struct smc_wire_cursor at = cursor_at(*cons, c->peer_size);
	struct smc_cdc_msg m;
	unsigned int n = 0;
	struct msg *got;

	for (; (got = link_recv(c->l, n ? 0 : ms)); free(got)) {
		if (!smc_is_cdc(got->b[0]))
			continue;
		if (smc_cdc_decode(got->b, got->len, &m) ||
		    smc_cursor_advance(cons, &at, c->peer_size, &m.cons, c->prod - *cons))
			give_up("a consumer cursor beyond what was written");
		n++;
	}
	return n;
}

static bool read_byte(struct conn *c)
{
	char b;

	return (wait_mask(c->s.victim, POLLIN, WAIT_MS) &&
		recv(c->s.victim, &b, 1, MSG_DONTWAIT) == 1) || BAD("the victim has no next byte");
}

/*
 * When a window was full, the victim sends an update as soon as the free room is worth a message:
 * at the latest when half is free, and not for every byte (RFC 7609, 4.5.1).
 */
static void byte_by_byte(uint8_t flags, unsigned int most, const char *what)
{
	long old = set_sysctl("rmem", ELEM_SIZE);
	struct conn *c = conn_begin(CLIENT, V21, AT_UP, NULL);
	static uint8_t data[ELEM_SIZE];
	bool ok = conn_echo(c);
	uint64_t cons = c->prod;
	struct smc_cdc_msg m;
	unsigned int n = 0;

	set_sysctl("rmem", old);
	ok = ok && (c->peer_size == ELEM_SIZE || BAD("an element of %u bytes", c->peer_size));
	conn_put(c, data, ELEM_SIZE);
	cdc_fill(c, &m);
	m.prod_flags = flags;
	cdc_send(c, &m);
	for (unsigned int i = 0; ok && i < ELEM_SIZE; i++) {
		ok = read_byte(c);
		n += i % 32 ? 0 : updates(c, &cons, 0);
		if (i == ELEM_SIZE / 2 && !n)
			ok = (n = updates(c, &cons, slow(2000))) ||
			     BAD("half of the window is free, but no update came");
	}
	/* A blocked sender also gets the update for the last byte. */
	for (unsigned int more = 1; ok && flags && cons != c->prod && more; n += more)
		more = updates(c, &cons, slow(2000));
	n += updates(c, &cons, 0);
	printf("# %u messages for %u bytes read one at a time\n", n, ELEM_SIZE);
	ok = ok && (n <= most || BAD("%u messages", n)) &&
	     (!flags || cons == c->prod ||
	      BAD("the updates lack %lu bytes", (long)(c->prod - cons))) &&
	     conn_echo(c);
	conn_end(c);
	verdict(ok, "wait: a full window read byte by byte, %s", what);
}

void cases_wait(void)
{
	TRY(times(), (n_told = 0, "and all cases that were waiting"));
	TRY(byte_by_byte(SMC_CDC_WRITE_BLOCKED, 64, "when the peer is blocked"), "");
	TRY(byte_by_byte(0, 12, "when the peer is not blocked"), "");
}
