// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile peer, in both roles. Genuine CLC messages are recorded from the
 * module itself. Every truncated, mangled, oversized, reordered, repeated and
 * replayed form of them is sent to a victim, and the reaction is checked:
 *
 *   malformed	the connection is reset, the victim's application gets an error
 *   unknown	an enumeration we do not know: Decline, the victim works as TCP
 *   reserved	ignored
 *   silence	reset after the timeout
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest.h"
#include "scene.h"
#include "klog.h"
#include "role.h"

void result(bool ok, const char *name)
{
	char bug[512];
	int n = klog_check(bug, sizeof(bug));

	if (n) {
		ksft_print_msg("kernel log: %d bad lines, first: %s\n", n, bug);
		ok = false;
	}
	if (!ok && why[0])
		ksft_print_msg("%s: %s\n", name, why);
	why[0] = 0;
	ksft_test_result(ok, "%s\n", name);
	fflush(stdout);
}

/* ---- one mangled message ---- */

enum place { CLIENT, SERVER, CONFIRMING };

static const char * const place_name[] = {
	"as client", "as server", "as client that confirms",
};

static struct scene stage(enum place at)
{
	struct message other;

	if (at == CLIENT)
		return as_client();
	return at == SERVER ? as_server(&other) : as_client_accepted(&other);
}

static const struct message *template(enum place at)
{
	return at == CLIENT ? &proposal : at == SERVER ? &accept_ : &confirm;
}

#define MALFORMED	GOT_RESET

/* Send the message and check the reaction. */
static bool attack(enum place at, const struct message *m, unsigned int allowed,
		   bool eof, unsigned int *got)
{
	/* This Confirm is of a connection that has ended, and so it would be refused anyhow. */
	if (at == CONFIRMING && allowed == MALFORMED && !eof && !got)
		return answer_because(stage(at), m, allowed, SMC_REASON_PROTOCOL);
	return answer(stage(at), m, allowed, eof, got);
}

/* ---- the list: changes at particular offsets ---- */

struct change {
	enum place at;
	unsigned int allowed;
	int off;		/* negative: from the end */
	int n;
	const char *bytes;
	const char *what;
};

#define UNKNOWN		GOT_DECLINE
#define FINE		(GOT_ACCEPT | GOT_CONFIRM)

static const struct change changes[] = {
	{ CLIENT, FINE, 0, 0, "", "genuine" },
	{ CLIENT, MALFORMED, 0, 1, "\x00", "wrong eye catcher" },
	{ CLIENT, MALFORMED, 3, 1, "\xc4", "SMCD eye catcher at the start only" },
	{ CLIENT, MALFORMED, -1, 1, "\xc4", "SMCD eye catcher at the end only" },
	{ CLIENT, MALFORMED, -4, 4, "\0\0\0\0", "no eye catcher at the end" },
	{ CLIENT, MALFORMED, 4, 1, "\x00", "type 0" },
	{ CLIENT, MALFORMED, 4, 1, "\x02", "an Accept instead of a Proposal" },
	{ CLIENT, MALFORMED, 4, 1, "\x03", "a Confirm instead of a Proposal" },
	{ CLIENT, MALFORMED, 4, 3, "\x04\x00\x14", "a Decline that is too short" },
	{ CLIENT, MALFORMED, 4, 1, "\x05", "type 5" },
	{ CLIENT, MALFORMED, 4, 1, "\xff", "type 255" },
	{ CLIENT, MALFORMED, 5, 2, "\x00\x00", "length 0" },
	{ CLIENT, MALFORMED, 5, 2, "\x00\x07", "length 7" },
	{ CLIENT, MALFORMED, 5, 2, "\x00\x0c", "length 12" },
	{ CLIENT, MALFORMED, 5, 2, "\x00\x33", "length 51" },
	{ CLIENT, MALFORMED, 5, 2, "\x7f\xff", "length 32767" },
	{ CLIENT, MALFORMED, 5, 2, "\xff\xff", "length 65535" },
	/* version 1 is not offered: the IP area need not be checked */
	{ CLIENT, FINE | MALFORMED, 38, 2, "\xff\xff", "offset of the IP area 65535" },
	{ CLIENT, FINE | MALFORMED, 38, 2, "\x01\x00", "offset of the IP area 256" },
	{ CLIENT, FINE | MALFORMED, 38, 2, "\x80\x00", "offset of the IP area 32768" },
	/* version 1 is offered */
	{ CLIENT, MALFORMED, 7, 1, "\x24", "version 1 offered, no IP area" },
	{ CLIENT, MALFORMED, 50, 2, "\xff\xff", "offset of the v2 extension 65535" },
	{ CLIENT, MALFORMED, 50, 2, "\x02\x00", "offset of the v2 extension 512" },
	{ CLIENT, FINE | MALFORMED, 16, 22, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
	  "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "GID and MAC that are not used" },
	{ CLIENT, FINE, 60, 20, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
	  "\xff\xff\xff\xff\xff\xff\xff", "reserved bytes of the base" },
	{ CLIENT, FINE, 8, 8, "\1\2\3\4\5\6\7\10", "another peer id" },

	{ SERVER, MALFORMED, 0, 1, "\x00", "wrong eye catcher" },
	{ SERVER, MALFORMED, -4, 4, "\0\0\0\0", "no eye catcher at the end" },
	{ SERVER, MALFORMED, 3, 1, "\xd9", "SMCR eye catcher at the start only" },
	{ SERVER, MALFORMED, 4, 1, "\x00", "type 0" },
	{ SERVER, MALFORMED, 4, 1, "\x01", "a Proposal instead of an Accept" },
	{ SERVER, MALFORMED, 4, 1, "\x03", "a Confirm instead of an Accept" },
	{ SERVER, MALFORMED, 4, 3, "\x04\x00\x14", "a Decline that is too short" },
	{ SERVER, MALFORMED, 4, 1, "\x09", "type 9" },
	{ SERVER, MALFORMED, 5, 2, "\x00\x00", "length 0" },
	{ SERVER, MALFORMED, 5, 2, "\x00\x0b", "length 11" },
	{ SERVER, MALFORMED, 5, 2, "\xff\xff", "length 65535" },
	{ SERVER, UNKNOWN | MALFORMED, 8, 8, "\1\1\1\1\1\1\1\1", "a GID that does not exist" },
	{ SERVER, UNKNOWN | MALFORMED, 16, 8, "\0\0\0\0\0\0\0\0", "token 0" },
	{ SERVER, UNKNOWN | MALFORMED, 16, 8, "\1\2\3\4\5\6\7\10", "an invented token" },
	{ SERVER, UNKNOWN | MALFORMED, 24, 1, "\x01", "element 1" },
	{ SERVER, UNKNOWN | MALFORMED, 24, 1, "\xff", "element 255" },
	{ SERVER, UNKNOWN | MALFORMED, 25, 1, "\xf0", "element of 512 MiB" },
	{ SERVER, UNKNOWN | MALFORMED, 32, 2, "\x12\x34", "a CHID that was not offered" },
	{ SERVER, UNKNOWN | MALFORMED, 32, 2, "\x00\x00", "CHID 0" },
	{ SERVER, UNKNOWN | MALFORMED, 34, 4, "\xff\xff\xff\xff", "an EID that was not offered" },
	{ SERVER, UNKNOWN | MALFORMED, 66, 8, "\1\1\1\1\1\1\1\1", "half of another GID" },

	{ CONFIRMING, MALFORMED, 0, 1, "\x00", "wrong eye catcher" },
	{ CONFIRMING, MALFORMED, -4, 4, "\0\0\0\0", "no eye catcher at the end" },
	{ CONFIRMING, MALFORMED, 4, 1, "\x01", "a Proposal instead of a Confirm" },
	{ CONFIRMING, MALFORMED, 4, 1, "\x02", "an Accept instead of a Confirm" },
	{ CONFIRMING, MALFORMED, 4, 3, "\x04\x00\x14", "a Decline that is too short" },
	{ CONFIRMING, MALFORMED, 4, 1, "\x63", "type 99" },
	{ CONFIRMING, MALFORMED, 5, 2, "\x00\x00", "length 0" },
	{ CONFIRMING, MALFORMED, 5, 2, "\xff\xff", "length 65535" },
	{ CONFIRMING, UNKNOWN | MALFORMED, 8, 8, "\1\1\1\1\1\1\1\1", "a GID that does not exist" },
	{ CONFIRMING, UNKNOWN | MALFORMED, 16, 8, "\0\0\0\0\0\0\0\0", "token 0" },
	{ CONFIRMING, UNKNOWN | MALFORMED, 16, 8, "\1\2\3\4\5\6\7\10", "an invented token" },
	{ CONFIRMING, UNKNOWN | MALFORMED, 24, 1, "\xff", "element 255" },
	{ CONFIRMING, UNKNOWN | MALFORMED, 32, 2, "\x12\x34", "another CHID" },
	{ CONFIRMING, UNKNOWN | MALFORMED, 34, 4, "\xff\xff\xff\xff", "another EID" },
	{ CONFIRMING, UNKNOWN | MALFORMED, 0, 0, "", "replayed after its connection has ended" },
};

static void apply(struct message *m, const struct change *c)
{
	int off = c->off < 0 ? (int)m->len + c->off : c->off;

	memcpy(m->b + off, c->bytes, c->n);
}

static void run_changes(void)
{
	char name[160];

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		const struct change *c = &changes[i];
		struct message m = *template(c->at);
		unsigned int len, allowed = c->allowed;

		apply(&m, c);
		/* a length that is larger than the message: send that many bytes */
		len = m.b[5] << 8 | m.b[6];
		if (len > m.len && len <= sizeof(m.b))
			m.len = len;
		snprintf(name, sizeof(name), "%s: %s", place_name[c->at], c->what);
		result(attack(c->at, &m, allowed, false, NULL), name);
	}
}

/* ---- the list: all changes of one kind ---- */

/* The end of the stream instead of a message is no violation: the application sees it. */
static bool ends_at_once(enum place at)
{
	struct scene s = stage(at);
	bool ok;

	shutdown(s.raw, SHUT_WR);
	ok = victim_is_told(s, false);
	end_scene(s);
	return ok;
}

/* Cut after every byte, followed by the end of the stream. */
static void truncations(enum place at)
{
	const struct message *t = template(at);
	char name[160];
	bool ok = true;

	for (size_t n = 0; ok && n < t->len; n++) {
		struct message m = *t;

		m.len = n;
		if (n)
			ok = attack(at, &m, GOT_RESET, true, NULL);
		else
			ok = ends_at_once(at);
		if (!ok)
			ksft_print_msg("truncated to %zu of %zu bytes\n", n, t->len);
	}
	snprintf(name, sizeof(name), "%s: truncated after every byte", place_name[at]);
	result(ok, name);
}

/* Every byte inverted: any reaction that the specifications describe is allowed. */
static void flips(enum place at, uint8_t mask)
{
	const unsigned int any = GOT_RESET | GOT_DECLINE | GOT_ACCEPT | GOT_CONFIRM |
				 (at == CONFIRMING ? GOT_END : 0);
	const struct message *t = template(at);
	unsigned int got = 0;
	char name[160];
	bool ok = true;

	for (size_t i = 0; ok && i < t->len; i++) {
		struct message m = *t;

		m.b[i] ^= mask;
		/* a larger length: the rest will never come */
		ok = attack(at, &m, any, i == 5 || i == 6 || at == CONFIRMING, &got);
		if (!ok)
			ksft_print_msg("byte %zu of %zu xor %02x\n", i, t->len, mask);
	}
	snprintf(name, sizeof(name), "%s: every byte xor %02x", place_name[at], mask);
	result(ok, name);
	ksft_print_msg("reactions: %s\n", reaction_names(got));
}

/* The length exceeds the victim's buffer, and that many bytes come. */
static void oversized(enum place at)
{
	const struct message *t = template(at);
	static const unsigned int sizes[] = { 800, 1000, 1024, 2000, 2048 };
	char name[160];
	bool ok = true;

	for (int i = 0; ok && i < 5; i++) {
		struct message m = *t;

		memset(m.b + m.len, 0xe2, sizeof(m.b) - m.len);
		m.len = sizes[i];
		m.b[5] = m.len >> 8;
		m.b[6] = m.len;
		memcpy(m.b + m.len - 4, t->b, 4);
		/* 800 bytes may be a longer message of a later release */
		ok = attack(at, &m, GOT_RESET | (i ? 0 : FINE | GOT_DECLINE), false, NULL);
		if (!ok)
			ksft_print_msg("length %u\n", sizes[i]);
	}
	snprintf(name, sizeof(name), "%s: oversized", place_name[at]);
	result(ok, name);
}

/* A Decline cannot replace a Confirm: the client of SMC-D is already up (E5). */
static void unknown_version(void)
{
	struct message m = accept_, a;

	m.b[7] = (m.b[7] & 0x0f) | 0x50;
	result(answer_because(as_server(&a), &m, GOT_DECLINE, SMC_REASON_UNKNOWN_ENUM),
	       "as server: an Accept of version 5");
	m = confirm;
	m.b[7] = (m.b[7] & 0x0f) | 0x50;
	result(answer_because(as_client_accepted(&a), &m, GOT_RESET, SMC_REASON_UNKNOWN_ENUM),
	       "as client: a Confirm of version 5");
}

/* Later versions and releases are not an error. */
static void later_versions(void)
{
	unsigned int got = 0;
	bool ok = true;

	for (int v = 0; ok && v < 16; v++) {
		struct message m = proposal;

		m.b[7] = (m.b[7] & 0x0f) | v << 4;
		ok = attack(CLIENT, &m, v >= 2 ? GOT_ACCEPT :
			    GOT_DECLINE | GOT_RESET | GOT_ACCEPT, false, &got);
		if (!ok)
			ksft_print_msg("version %d\n", v);
	}
	result(ok, "as client: version 0 to 15");
	ok = true;
	for (int v = 0; ok && v < 16; v++) {
		struct message m = accept_;

		if (v == m.b[7] >> 4)
			continue;
		m.b[7] = (m.b[7] & 0x0f) | v << 4;
		ok = attack(SERVER, &m, GOT_DECLINE | GOT_RESET, false, &got);
		if (!ok)
			ksft_print_msg("version %d\n", v);
	}
	result(ok, "as server: a version that was not offered");
	unknown_version();
	ksft_print_msg("reactions: %s\n", reaction_names(got));
}

/* ---- order, repetition, silence, data ---- */

static void repeated(void)
{
	struct message twice = proposal, a;
	struct scene s;
	bool ok;

	memcpy(twice.b + twice.len, proposal.b, proposal.len);
	twice.len *= 2;
	s = as_client();
	put_bytes(s.raw, twice.b, twice.len);
	ok = get_message(s.raw, &a, WAIT_MS) == GOT_ACCEPT || BAD("the victim sent no Accept");
	result(ok && judge(s, GOT_RESET, false, NULL), "as client: the Proposal twice");
	end_scene(s);

	twice = accept_;
	memcpy(twice.b + twice.len, accept_.b, accept_.len);
	twice.len *= 2;
	s = as_server(&a);
	put_bytes(s.raw, twice.b, twice.len);
	result(judge(s, GOT_DECLINE | GOT_RESET | GOT_CONFIRM, false, NULL) ||
	       /* after a Decline the second Accept is application data */
	       strstr(why, "reads other data"), "as server: the Accept twice");
	end_scene(s);

	result(answer(as_client(), &confirm, GOT_RESET, false, NULL),
	       "as client: the Confirm first");
	result(answer(as_client(), &accept_, GOT_RESET, false, NULL),
	       "as client: an Accept first");
	result(answer(as_client_accepted(&a), &a, GOT_RESET, false, NULL),
	       "as client: the victim's own Accept");
	result(answer(as_client_accepted(&a), &old_confirm, GOT_RESET | GOT_DECLINE, false, NULL),
	       "as client: the Confirm of another connection");

	/* a Confirm that repeats the victim's own Accept */
	s = as_client_accepted(&a);
	a.b[4] = CLC_CONFIRM;
	put_bytes(s.raw, a.b, a.len);
	result(judge(s, GOT_RESET | GOT_DECLINE, false, NULL),
	       "as client: the victim's own buffer as ours");
	end_scene(s);
}

static void garbage(void)
{
	static const char http[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
	struct message m;
	struct scene s;
	unsigned int seed = 1;
	bool ok = true;

	s = as_client();
	put_bytes(s.raw, http, sizeof(http) - 1);
	result(judge(s, GOT_RESET, false, NULL) && victim_says(s, SMC_REASON_PROTOCOL),
	       "as client: no CLC at all");
	end_scene(s);
	s = as_server(&m);
	put_bytes(s.raw, http, sizeof(http) - 1);
	result(judge(s, GOT_RESET, false, NULL) && victim_says(s, SMC_REASON_PROTOCOL),
	       "as server: no CLC at all");
	end_scene(s);
	s = as_client();
	put_bytes(s.raw, proposal.b, 20);
	shutdown(s.raw, SHUT_WR);
	result(victim_is_told(s, true) && victim_says(s, SMC_REASON_PROTOCOL),
	       "as client: the end of the stream inside the Proposal is an error");
	end_scene(s);
	for (int i = 0; ok && i < 50; i++) {
		m.len = 9 + rand_r(&seed) % 1500;
		for (size_t k = 0; k < m.len; k++)
			m.b[k] = rand_r(&seed);
		memcpy(m.b, proposal.b, 4);
		ok = attack(CLIENT, &m, GOT_RESET | GOT_DECLINE, true, NULL);
	}
	result(ok, "as client: random bytes behind an eye catcher");
}

static void silence(void)
{
	static const struct message nothing;
	/* What comes before the silence must also be complete within this time. */
	long old = set_timeout_ms(slow(300));
	struct message m, begun, cut;
	struct scene s;
	bool ok;

	begun = proposal;
	begun.len = 20;
	cut = accept_;
	cut.len--;
	result(answer_because(as_client(), &nothing, GOT_RESET, SMC_REASON_TIMEOUT),
	       "as client: silence");
	result(answer_because(as_client(), &begun, GOT_RESET, SMC_REASON_TIMEOUT),
	       "as client: silence inside the Proposal");
	result(answer_because(as_server(&m), &nothing, GOT_RESET, SMC_REASON_TIMEOUT),
	       "as server: silence");
	result(answer_because(as_server(&m), &cut, GOT_RESET, SMC_REASON_TIMEOUT),
	       "as server: silence inside the Accept");
	result(answer_because(as_client_accepted(&m), &nothing, GOT_RESET, SMC_REASON_TIMEOUT),
	       "as client: silence after the Accept");
	set_timeout_ms(old);

	/* a slow peer is not silent */
	s = as_client();
	for (size_t i = 0; i < proposal.len; i++)
		put_bytes(s.raw, proposal.b + i, 1);
	ok = get_message(s.raw, &m, WAIT_MS) == GOT_ACCEPT || BAD("the victim sent no Accept");
	result(ok, "as client: the Proposal byte by byte");
	end_scene(s);
}

/* The victim can read the diagnosis of the peer's Decline. */
static bool knows_diagnosis(struct scene s, uint32_t diagnosis)
{
	struct smc_sock_info_u info = { 0 };
	socklen_t len = sizeof(info);

	return !getsockopt(s.victim, SOL_SMC, SMC_SOCK_INFO, &info, &len) &&
	       info.peer_diagnosis == diagnosis;
}

static void data_behind(void)
{
	struct message m = decline_v1, p;
	struct scene s;
	bool ok;

	memcpy(m.b + m.len, "data behind", 11);
	m.len += 11;

	s = as_client();
	put_bytes(s.raw, m.b, m.len);
	result(victim_reads(s, "data behind") && talks_tcp(s) && knows_diagnosis(s, 0x03010000),
	       "as client: a Decline and data in one segment");
	end_scene(s);

	s = as_server(&p);
	put_bytes(s.raw, m.b, m.len);
	result(victim_reads(s, "data behind") && talks_tcp(s),
	       "as server: a Decline and data in one segment");
	end_scene(s);

	s = as_client_accepted(&p);
	put_bytes(s.raw, m.b, m.len);
	result(victim_reads(s, "data behind") && talks_tcp(s),
	       "as client: a Decline instead of the Confirm, and data");
	end_scene(s);

	/* byte by byte, then the connection ends */
	s = as_server(&p);
	for (size_t i = 0; i < m.len; i++)
		put_bytes(s.raw, m.b + i, 1);
	shutdown(s.raw, SHUT_WR);
	ok = victim_reads(s, "data behind");
	result(ok && victim_is_told(s, false),
	       "as server: a Decline and data byte by byte, then end of file");
	end_scene(s);

	/* the victim declines, and data follows at once */
	p = proposal;
	p.b[7] = (p.b[7] & 0xf0) | 2 << 2 | 2;	/* offers nothing at all */
	memcpy(p.b + p.len, "impatient", 9);
	p.len += 9;
	s = as_client();
	put_bytes(s.raw, p.b, p.len);
	ok = get_message(s.raw, &m, WAIT_MS) & (GOT_DECLINE | GOT_RESET);
	if (ok && m.len && m.b[4] == CLC_DECLINE)
		ok = victim_reads(s, "impatient") && talks_tcp(s);
	result(ok, "as client: data behind a Proposal that is declined");
	end_scene(s);
}

/* Resets and ends at every point of the handshake. */
static void leaving(void)
{
	struct linger l = { 1, 0 };
	struct message m;
	struct scene s;
	bool ok = true;

	for (int how = 0; ok && how < 6; how++) {
		s = how < 2 ? as_client() : how < 4 ? as_server(&m) :
					   as_client_accepted(&m);

		if (how & 1)
			setsockopt(s.raw, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
		close(s.raw);
		ok = victim_is_told(s, how & 1);
		close(s.victim);
	}
	result(ok, "the peer closes or resets in every step");

	for (int i = 0; i < 60; i++) {
		s = i % 3 == 0 ? as_client() : i % 3 == 1 ?
				 as_server(&m) : as_client_accepted(&m);

		/* the application closes first, then the message arrives */
		close(s.victim);
		put_bytes(s.raw, template(i % 3)->b, template(i % 3)->len);
		close(s.raw);
	}
	/* None of these may prevent the next handshake of the victim. */
	s = as_client_accepted(&m);
	ok = m.len >= accept_.len / 2 ||
	     BAD("an Accept of %zu bytes arrived after the close", m.len);
	end_scene(s);
	result(ok, "the victim's application closes in every step");
}

/* The peer ID that a client in this namespace uses, for each of two connections. */
static void peer_ids(uint8_t id[2][8])
{
	struct message p;
	int port, l = raw_listen(&port);

	for (int i = 0; i < 2; i++) {
		int victim = victim_connect(port), raw = accept_in_time(l);

		if (get_message(raw, &p, WAIT_MS) != GOT_PROPOSAL)
			give_up("the victim sent no Proposal");
		memcpy(id[i], p.b + 8, 8);
		close(raw);
		close(victim);
	}
	close(l);
}

/* E1: each namespace has its own link groups and its own peer ID. */
static void namespaces(void)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	uint8_t here[2][8], there[2][8];
	bool stays, differs;

	peer_ids(here);
	if (home < 0 || unshare(CLONE_NEWNET) || system("ip link set lo up"))
		give_up("cannot create another namespace");
	peer_ids(there);
	if (setns(home, CLONE_NEWNET))
		give_up("cannot return to the first namespace");
	close(home);
	stays = !memcmp(here[0], here[1], 8) && !memcmp(there[0], there[1], 8);
	differs = memcmp(here[0], there[0], 8);
	result(stays || BAD("another connection has another peer ID"),
	       "the peer ID of a namespace does not change");
	result(differs || BAD("two namespaces have the same peer ID"),
	       "E1: each namespace has its own peer ID");
}

int main(void)
{
	long old;

	ksft_print_header();
	if (!raw_available())
		ksft_exit_skip("no test build of smc.ko is loaded\n");
	ksft_set_plan(sizeof(changes) / sizeof(changes[0]) + 3 * 4 + 2 + 8 + 4 + 7 + 5 + 2 + 2 +
		      forms_plan() + crossed_plan());
	klog_open();
	hostile_open();
	/* Everything must end without the handshake timer, within WAIT_MS. */
	old = set_timeout_ms(600000);
	ksft_print_msg("recorded: a Proposal of %zu bytes, an Accept of %zu, a Confirm of %zu\n",
		       proposal.len, accept_.len, confirm.len);
	run_changes();
	for (int at = CLIENT; at <= CONFIRMING; at++) {
		truncations(at);
		flips(at, 0xff);
		flips(at, 0x01);
		oversized(at);
	}
	later_versions();
	repeated();
	garbage();
	silence();
	data_behind();
	leaving();
	namespaces();
	forms();
	crossed();
	set_timeout_ms(old);
	ksft_finished();
}
