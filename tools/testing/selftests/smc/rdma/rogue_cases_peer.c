// SPDX-License-Identifier: GPL-2.0
/*
 * Another TCP address that claims the identity of a peer; first contacts that are never completed,
 * too many of them, and connections that never end (B4 to B7 of the audit).
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../../../../include/uapi/linux/smc_reason.h"
#include "put_file.h"
#include "rogue.h"

#define OTHER	0x0a010003		/* 10.1.0.3, one more address of ours */

static uint8_t stolen_id[8];

static void p_stolen(struct smc_clc_proposal *p)
{
	memcpy(p->peer_id, stolen_id, sizeof(stolen_id));
}

/* A first contact up to the Accept, from any address, with the identity of @real. */
static struct conn *forged(const struct conn *real, in_addr_t from)
{
	const struct twist twist = { .proposal = p_stolen };
	struct conn *c;

	memcpy(stolen_id, real->l->peer_id, sizeof(stolen_id));
	raw_hosts(from, VICTIM);
	c = conn_begin(CLIENT, V21, AT_CLC, &twist);
	raw_hosts(ROGUE, VICTIM);
	return c;
}

static bool own_group(const struct conn *c, const struct conn *first)
{
	if (!c->peer.first_contact || c->peer.qpn == first->peer.qpn)
		return BAD("it gets into the link group of another peer");
	return c->peer.rkey != first->peer.rkey || BAD("it learns the RKey of another connection");
}

static void third_party(void)
{
	struct conn *first = conn_begin(CLIENT, V21, AT_UP, NULL), *c;
	bool ok = conn_echo(first);

	c = forged(first, OTHER);
	ok = ok && own_group(c, first);
	clc_out_of_sync(c);
	ok = ok && talks_tcp(c->s) && conn_echo(first);
	conn_end(c);
	conn_end(first);
	verdict(ok, "B4: a peer at another address can neither join nor end a link group");
}

/* C.4, from the same address: the victim tests the link itself. */
static void out_of_sync(bool answered)
{
	struct conn *first = conn_begin(CLIENT, V21, AT_UP, NULL), *c, *other;
	struct smc_llc_msg m;
	bool ok = conn_echo(first);

	c = conn_more(first, AT_CLC, NULL);
	clc_out_of_sync(c);
	ok = ok && talks_tcp(c->s) && llc_expect(first->l, SMC_LLC_TEST_LINK, false, &m);
	/* Until TEST LINK is answered, only the victim may still have the group, so it is not
	 * used.
	 */
	other = forged(first, ROGUE);
	ok = ok && own_group(other, first);
	conn_end(other);
	if (!ok || !answered) {
		ok = ok && victim_is_told(first->s, true);
	} else {
		m.reply = true;
		llc_put(first->l, &m);
		ok = conn_echo(first);
		other = conn_more(first, AT_CLC, NULL);
		ok = ok && (!other->peer.first_contact || BAD("the group is not used again"));
		conn_end(other);
	}
	conn_end(c);
	conn_end(first);
	verdict(ok, "B4: an out-of-sync Decline while the link %s",
		answered ? "works" : "does not answer");
}

/* Sends a Proposal with this identity; the reaction does not matter. */
static struct conn *proposed(struct conn *squatter)
{
	struct conn *c = conn_more(squatter, AT_TCP, NULL);

	clc_propose(c, NULL);
	return c;
}

static bool declined_for(const struct conn *c, uint32_t reason)
{
	struct smc_clc_decline d;
	struct message m;
	enum reaction r = get_message(c->s.raw, &m, WAIT_MS);

	if (r != GOT_DECLINE || smc_clc_decode_decline(m.b, m.len, &d))
		return BAD("%s instead of a Decline", reaction_names(r));
	if (d.diagnosis != reason)
		return BAD("the Decline has diagnosis %08x", d.diagnosis);
	return talks_tcp(c->s);
}

/* A first contact that is not completed must not delay a peer at another address. */
static void squatter_elsewhere(void)
{
	long old = set_timeout_ms(slow(120000));
	struct conn *squatter = conn_begin(CLIENT, V21, AT_CLC, NULL), *c;
	bool ok;

	c = forged(squatter, OTHER);
	ok = own_group(c, squatter);
	conn_end(c);
	conn_end(squatter);
	set_timeout_ms(old);
	verdict(ok, "B5: a stalled first contact does not delay a peer at another address");
}

/* ... and peers at the same address are declined before they time out. */
static void squatter_here(void)
{
	/* When little of this time is left, the victim declines the Proposals that wait. */
	long old = set_timeout_ms(slow(6000));
	struct conn *squatter, *c;
	bool ok;

	squatter = conn_begin(CLIENT, V21, AT_CLC, NULL);
	c = proposed(squatter);
	ok = declined_for(c, SMC_REASON_TIMEOUT);
	conn_end(c);
	conn_end(squatter);
	set_timeout_ms(old);
	verdict(ok, "B5: a handshake that waits for a stalled first contact is declined");
}

/* A first contact whose Proposal is declined. */
static bool one_too_many(in_addr_t from)
{
	struct conn *c;
	bool ok;

	raw_hosts(from, VICTIM);
	c = conn_begin(CLIENT, V21, AT_TCP, NULL);
	raw_hosts(ROGUE, VICTIM);
	clc_propose(c, NULL);
	ok = declined_for(c, SMC_REASON_MAX_CONNS);
	conn_end(c);
	return ok;
}

/* Another peer can still use what one peer has used up. */
static bool another_gets_in(struct conn *a)
{
	struct conn *c = forged(a, OTHER);
	bool ok = own_group(c, a);

	conn_end(c);
	return ok;
}

/* In each of these cases the bystander's group counts. */
static void too_many_begun(void)
{
	long old = set_sysctl("smcr_max_lgrs_per_peer", 8);
	struct conn *a = conn_begin(CLIENT, V21, AT_CLC, NULL);
	struct conn *b = conn_begin(CLIENT, V21, AT_CLC, NULL);
	bool ok = one_too_many(ROGUE);

	ok = ok && another_gets_in(a);
	conn_end(b);
	conn_end(a);
	set_sysctl("smcr_max_lgrs_per_peer", old);
	verdict(ok, "B6: over a quarter of a peer's link groups are in first contact");
}

static void too_many_of_peer(void)
{
	long old = set_sysctl("smcr_max_lgrs_per_peer", 2);
	struct conn *a = conn_begin(CLIENT, V21, AT_UP, NULL), *more;
	bool ok = conn_echo(a) && one_too_many(ROGUE);

	/* The existing group can still be used. */
	more = conn_more(a, AT_UP, NULL);
	ok = ok && conn_echo(more);
	ok = ok && another_gets_in(a);
	conn_end(more);
	conn_end(a);
	set_sysctl("smcr_max_lgrs_per_peer", old);
	verdict(ok, "B6: more link groups than a peer may have");
}

static void too_many(void)
{
	long old = set_sysctl("smcr_max_lgrs", 1);
	bool ok = one_too_many(ROGUE) && one_too_many(OTHER);

	set_sysctl("smcr_max_lgrs", old);
	verdict(ok, "B6: more link groups than the namespace may have");
}

/* ---- a peer that does not close ---- */

static void close_victim(struct conn *c)
{
	close(c->s.victim);
	c->s.victim = -1;
}

static bool same_element(const struct conn *a, const struct conn *b)
{
	return a->peer.rkey == b->peer.rkey && a->peer.rmbe_idx == b->peer.rmbe_idx;
}

static bool other_element(const struct conn *c, const struct conn *first)
{
	return !same_element(c, first) ||
	       BAD("the element is reused while the peer may write there");
}

/* The victim abandons a connection, and tests the link. @fin: tcp_fin_timeout to restore */
static void await_abandoned(struct link *l, long fin)
{
	struct smc_llc_msg m;
	bool ok = llc_expect(l, SMC_LLC_TEST_LINK, false, &m);

	set_sysctl("../ipv4/tcp_fin_timeout", fin);
	if (!ok)
		give_up("no TEST LINK: %s", why);
	m.reply = true;
	llc_put(l, &m);
}

/* A client that has the Accept resets TCP. */
static bool goes_behind_accept(struct conn *c)
{
	const struct linger at_once = { .l_onoff = 1 };
	bool ok;

	setsockopt(c->s.raw, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(c->s.raw);
	c->s.raw = -1;
	ok = wait_mask(c->s.victim, POLLHUP, WAIT_MS) || BAD("not reset");
	close_victim(c);
	return ok;
}

/*
 * The TCP connection ends, but no CDC message says so: after a while the victim tests the link and
 * no longer counts the connection.
 */
static void never_closes(enum role role)
{
	long fin = set_sysctl("../ipv4/tcp_fin_timeout", 1), idle;
	struct conn *first = conn_begin(role, V21, AT_UP, NULL), *more;
	bool ok = conn_echo(first);

	shutdown(first->s.raw, SHUT_WR);
	close_victim(first);
	await_abandoned(first->l, fin);
	more = conn_more(first, AT_UP, NULL);
	ok = ok && conn_echo(more) && other_element(more, first);
	idle = set_sysctl("lgr_idle_time", 1);
	close_victim(more);
	conn_say(more, SMC_CDC_SEND_DONE | SMC_CDC_CLOSED);
	ok = ok && llc_told_of_end(first->l);
	set_sysctl("lgr_idle_time", idle);
	conn_end(more);
	conn_end(first);
	verdict(ok, "B7, %s: a connection that its peer never closes",
		role == CLIENT ? "as client" : "as server");
}

/* The victim has closed these connections; their peer never does, but answers TEST LINK. */
static void abandon(struct conn *const c[], unsigned int n)
{
	long fin = set_sysctl("../ipv4/tcp_fin_timeout", 1);

	for (unsigned int i = 0; i < n; i++) {
		shutdown(c[i]->s.raw, SHUT_WR);
		close_victim(c[i]);
	}
	await_abandoned(c[0]->l, fin);
}

/* The host has no memory left for the moment, and @c has yet to propose. */
static bool declined_at_cap(struct conn *c)
{
	long old = set_sysctl("mem_max", 4096);
	bool ok;

	clc_propose(c, NULL);
	ok = declined_for(c, SMC_REASON_NO_BUFFER);
	conn_end(c);
	set_sysctl("mem_max", old);
	return ok;
}

static bool declined_for_memory(void)
{
	return declined_at_cap(conn_begin(CLIENT, V21, AT_TCP, NULL));
}

/* Must the peer forget the RMBs of these connections, and no others? */
static bool rmbs_taken_back(struct link *l, struct conn *const c[], unsigned int n)
{
	struct smc_llc_msg m;
	unsigned int found = 0;

	if (!llc_expect(l, SMC_LLC_DELETE_RKEY, false, &m))
		return false;
	for (unsigned int i = 0; i < m.delete_rkey.count; i++)
		for (unsigned int j = 0; j < n; j++)
			found += smc_llc_get_rkey(&m.delete_rkey.rkeys[i]) == c[j]->peer.rkey;
	m.reply = true;
	llc_put(l, &m);
	return (found == n && m.delete_rkey.count == n) ||
	       BAD("DELETE RKEY of %u RMBs, %u of them expected", m.delete_rkey.count, found);
}

/*
 * A quarter of the connections that the group may have: it takes no new ones. When memory is short,
 * it gives them up, and their memory is free once the peer has forgotten their RMB.
 */
static void abandons_many(void)
{
	long old = set_sysctl("smcr_max_conns_per_lgr", 16);
	struct conn *first = conn_begin(CLIENT, V21, AT_UP, NULL), *c[4], *more;
	bool ok = conn_echo(first);
	long rmem;

	/* The first two have an RMB of their own. */
	rmem = set_sysctl("rmem", 524288);
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			set_sysctl("rmem", rmem);
		c[i] = conn_more(first, AT_UP, NULL);
	}
	abandon(c, 3);
	more = conn_more(first, AT_UP, NULL);
	ok = ok && (!more->peer.first_contact || BAD("three elements of 16 are too many")) &&
	     conn_echo(more);
	abandon(c + 3, 1);
	conn_end(more);
	more = forged(first, ROGUE);
	ok = ok && own_group(more, first) && conn_echo(first);
	conn_end(more);
	ok = ok && declined_for_memory() && rmbs_taken_back(first->l, c, 2) && conn_echo(first);
	/* The peer may still write to elements of the RMB that @first uses. */
	more = conn_more(first, AT_UP, NULL);
	ok = ok && (more->peer.rkey != first->peer.rkey || BAD("an element of the same RMB")) &&
	     conn_echo(more);
	close_victim(first);
	conn_say(first, SMC_CDC_SEND_DONE | SMC_CDC_CLOSED);
	ok = ok && conn_echo(more) && declined_for_memory() &&
	     rmbs_taken_back(more->l, &first, 1) && conn_echo(more);
	conn_end(more);
	for (int i = 0; i < 4; i++)
		conn_end(c[i]);
	conn_end(first);
	set_sysctl("smcr_max_conns_per_lgr", old);
	verdict(ok, "R5: a quarter of a group's connections are never closed by the peer");
}

/* One connection is enough: when memory is short, its own memory is freed. */
static void abandons_one(void)
{
	long rmem = set_sysctl("rmem", 524288);
	struct conn *first = conn_begin(CLIENT, V21, AT_UP, NULL), *c = conn_more(first, AT_UP, NULL);
	bool ok = conn_echo(first);

	abandon(&c, 1);
	ok = ok && declined_for_memory() && rmbs_taken_back(first->l, &c, 1) && conn_echo(first);
	conn_end(c);
	conn_end(first);
	set_sysctl("rmem", rmem);
	verdict(ok, "R5: a single connection is never closed by the peer");
}

/* A client goes when it has the Accept. */
static void abandons_accept(void)
{
	long rmem = set_sysctl("rmem", 524288), fin = set_sysctl("../ipv4/tcp_fin_timeout", 1);
	struct conn *first = conn_begin(CLIENT, V21, AT_UP, NULL);
	struct conn *c = conn_more(first, AT_CLC, NULL);
	bool ok = conn_echo(first) && goes_behind_accept(c);

	await_abandoned(first->l, fin);
	ok = ok && declined_for_memory() && rmbs_taken_back(first->l, &c, 1) && conn_echo(first);
	conn_end(c);
	conn_end(first);
	set_sysctl("rmem", rmem);
	verdict(ok, "R5: an element that the peer has been told of, and never uses");
}

/* Makes a further connection while memory is too short for another RMB. */
static struct conn *more_at_cap(struct conn *first)
{
	long old = set_sysctl("mem_max", 4096);
	struct conn *c = conn_more(first, AT_UP, NULL);

	set_sysctl("mem_max", old);
	return c;
}

/*
 * An RMB that others use is spared, as it has room for new connections even if memory is short.
 * When the others have gone, it is taken back.
 */
static void abandons_beside_others(void)
{
	long rmem = set_sysctl("rmem", 16384), wmem = set_sysctl("wmem", 16384);
	struct conn *first = conn_begin(CLIENT, V21, AT_UP, NULL), *c = conn_more(first, AT_UP, NULL);
	struct smc_llc_msg test = { .type = SMC_LLC_TEST_LINK };
	struct conn *more;
	bool ok = conn_echo(first) && (c->peer.rkey == first->peer.rkey || BAD("another RMB"));

	abandon(&c, 1);
	ok = ok && declined_for_memory() && conn_echo(first);
	more = more_at_cap(first);
	ok = ok && (more->peer.rkey == first->peer.rkey || BAD("the RMB has been given up")) &&
	     conn_echo(more);
	for (int i = 0; i < 2; i++) {
		close_victim(i ? more : first);
		conn_say(i ? more : first, SMC_CDC_SEND_DONE | SMC_CDC_CLOSED);
	}
	/* The answer comes when the victim has heard that. */
	llc_put(first->l, &test);
	ok = ok && llc_expect(first->l, SMC_LLC_TEST_LINK, true, &test) && declined_for_memory() &&
	     rmbs_taken_back(first->l, &c, 1);
	conn_end(more);
	conn_end(c);
	conn_end(first);
	set_sysctl("wmem", wmem);
	set_sysctl("rmem", rmem);
	verdict(ok, "R5: an RMB with an element that the peer never lets go is spared for others");
}

/*
 * So it is if the group is full at that time: when a connection ends, the next one takes its place.
 */
static void abandons_in_full_group(void)
{
	long rmem = set_sysctl("rmem", 16384), wmem = set_sysctl("wmem", 16384);
	long conns = set_sysctl("smcr_max_conns_per_lgr", 16);
	struct conn *first = conn_begin(CLIENT, V21, AT_UP, NULL), *c[15], *more;
	bool ok = conn_echo(first);

	for (int i = 0; i < 15; i++) {
		c[i] = conn_more(first, AT_UP, NULL);
		ok = ok && (c[i]->peer.rkey == first->peer.rkey || BAD("another RMB"));
	}
	abandon(c, 1);
	ok = ok && declined_for_memory() && conn_echo(first);
	close_victim(c[14]);
	conn_say(c[14], SMC_CDC_SEND_DONE | SMC_CDC_CLOSED);
	ok = ok && conn_echo(first);
	conn_end(c[14]);
	more = more_at_cap(first);
	ok = ok && (more->peer.rkey == first->peer.rkey || BAD("the RMB has been given up")) &&
	     conn_echo(more);
	conn_end(more);
	for (int i = 0; i < 14; i++)
		conn_end(c[i]);
	conn_end(first);
	set_sysctl("smcr_max_conns_per_lgr", conns);
	set_sysctl("wmem", wmem);
	set_sysctl("rmem", rmem);
	verdict(ok, "R5: a full group with an element that the peer never lets go spares its RMB");
}

/* The memory that a peer pins by its group is not worth that of another peer's idle RMBs. */
static void group_refused(void)
{
	long rmem = set_sysctl("rmem", 524288), max;
	struct conn *first = conn_begin(CLIENT, V21, AT_UP, NULL), *c = conn_more(first, AT_UP, NULL);
	struct conn *d = conn_more(first, AT_UP, NULL);
	struct smc_llc_msg m;
	bool ok = conn_echo(first);

	for (int i = 0; i < 2; i++) {
		close_victim(i ? c : d);
		conn_say(i ? c : d, SMC_CDC_SEND_DONE | SMC_CDC_CLOSED);
	}
	ok = ok && conn_echo(first);
	max = set_sysctl("smcr_max_lgrs", 1);
	ok = ok && one_too_many(OTHER);
	raw_hosts(ROGUE, VICTIM);
	set_sysctl("smcr_max_lgrs", max);
	ok = ok && (!llc_get(first->l, &m, 2000) || BAD("message of type %d", m.type)) &&
	     conn_echo(first);
	conn_end(d);
	conn_end(c);
	conn_end(first);
	set_sysctl("rmem", rmem);
	verdict(ok, "B6: a link group is refused, and other peers keep their unused RMBs");
}

static void large_element(struct smc_clc_accept *a)
{
	a->rmbe_size = smc_clc_size_from_bytes(524288);
}

/* There is an element for the client, but no send ring: the victim says so while it still can. */
static void lacks_ring(void)
{
	const struct twist twist = { .accept = large_element };
	long wmem = set_sysctl("wmem", 524288);
	/* This connection's ring fills its buffer. */
	struct conn *first = conn_begin(CLIENT, V21, AT_LINK, &twist);
	struct smc_llc_msg m;
	bool ok;

	if (!llc_expect(first->l, SMC_LLC_CONFIRM_LINK, false, &m) || !llc_confirm(first->l))
		give_up("CONFIRM LINK: %s", why);
	ok = conn_echo(first) && declined_at_cap(conn_more(first, AT_TCP, NULL)) && conn_echo(first);
	conn_end(first);
	set_sysctl("wmem", wmem);
	verdict(ok, "mem_max leaves room for an element, but not for a send ring");
}

/* Bytes in buffers of the victim, also those that are idle. */
static long victim_memory(void)
{
	FILE *f = popen("$SMC_ROOT/build/tools/smcr -j info | sed -n 's/.*\"memory_used\": *//p'", "r");
	long bytes = -1;

	if (!f || fscanf(f, "%ld", &bytes) != 1)
		give_up("smcr info");
	pclose(f);
	return bytes;
}

/* Does the victim get rid of all but so much memory? */
static bool memory_falls_to(long bytes)
{
	for (int i = 0; i < 500; i++) {
		if (victim_memory() <= bytes)
			return true;
		usleep(10000);
	}
	return BAD("%ld bytes are in use, which should be %ld", victim_memory(), bytes);
}

/* Clients go when they have the Accept: their elements are kept, but no rings for them. */
static void leaves_ring(void)
{
	long rmem = set_sysctl("rmem", 16384), wmem = set_sysctl("wmem", 524288), before;
	struct conn *first = conn_begin(CLIENT, V21, AT_UP, NULL), *c[8];
	bool ok = conn_echo(first);

	before = victim_memory();
	for (int i = 0; i < 8; i++) {
		c[i] = conn_more(first, AT_CLC, NULL);
		ok = goes_behind_accept(c[i]) && ok;
	}
	ok = ok && declined_for_memory() && conn_echo(first);
	/* One unused ring may stay. */
	ok = ok && memory_falls_to(before + 524288);
	for (int i = 0; i < 8; i++)
		conn_end(c[i]);
	conn_end(first);
	set_sysctl("wmem", wmem);
	set_sysctl("rmem", rmem);
	verdict(ok, "clients that go behind the Accept leave no send rings behind");
}

/* The cgroup in which rogue_guest runs us */
#define CGROUP	"/sys/fs/cgroup/rogue/"

/* The victim's sockets belong to a cgroup that has room for a megabyte, but not for an RMB. */
static bool declined_for_cgroup(void)
{
	struct conn *c = conn_begin(CLIENT, V21, AT_TCP, NULL);
	char max[24];
	long now = 0;
	FILE *f;
	bool ok;

	/* Page cache would make room. The write fails if there is less of it. */
	put_file(CGROUP "memory.reclaim", "64M");
	f = fopen(CGROUP "memory.current", "r");
	if (!f || fscanf(f, "%ld", &now) != 1)
		give_up("cannot read memory.current");
	fclose(f);
	snprintf(max, sizeof(max), "%ld", now + (1 << 20));
	ok = put_file(CGROUP "memory.max", max) || BAD("memory.max");
	clc_propose(c, NULL);
	ok = ok && declined_for(c, SMC_REASON_NO_MEMORY);
	put_file(CGROUP "memory.max", "max");
	conn_end(c);
	return ok;
}

/* It is the memory cgroup that refuses. */
static void abandons_in_cgroup(void)
{
	long old = set_sysctl("smcr_max_conns_per_lgr", 16), rmem;
	struct conn *first, *c[4];
	bool ok;

	first = conn_begin(CLIENT, V21, AT_UP, NULL);
	ok = conn_echo(first);
	rmem = set_sysctl("rmem", 524288);
	for (int i = 0; i < 4; i++)
		c[i] = conn_more(first, AT_UP, NULL);
	set_sysctl("rmem", rmem);
	/* The next connection needs a group of its own. */
	abandon(c, 4);
	ok = ok && declined_for_cgroup() && rmbs_taken_back(first->l, c, 4) && conn_echo(first);
	for (int i = 0; i < 4; i++)
		conn_end(c[i]);
	conn_end(first);
	set_sysctl("smcr_max_conns_per_lgr", old);
	verdict(ok, "R5: memory.max refuses, and connections are never closed by the peer");
}

/*
 * The victim has said its end and waits for ours. We give up our RMB instead, as a host does that
 * has forgotten the connection: nothing of ours can write to the victim's element any more.
 */
static void gives_up_rmb(bool abort)
{
	struct conn *first = conn_begin(CLIENT, V21, AT_UP, NULL), *more;
	struct smc_llc_w_rkey rkey;
	struct smc_llc_msg m = {
		.type = SMC_LLC_DELETE_RKEY, .delete_rkey = { .count = 1, .rkeys = &rkey },
	};
	bool ok = conn_echo(first);

	if (abort)
		conn_write(first, "unread", 6);
	ok = ok && (!abort || wait_mask(first->s.victim, POLLIN, WAIT_MS) & POLLIN || BAD("no data"));
	close_victim(first);
	ok = ok && conn_flags(first, abort ? SMC_CDC_ABORT : SMC_CDC_CLOSED);
	smc_llc_set_rkey(&rkey, first->l->rmb_mr->rkey);
	llc_put(first->l, &m);
	ok = ok && llc_expect(first->l, SMC_LLC_DELETE_RKEY, true, &m) &&
	     (!m.negative || BAD("a negative reply"));
	m = (struct smc_llc_msg) {
		.type = SMC_LLC_CONFIRM_RKEY,
		.confirm_rkey = { .rkey = first->l->rmb_mr->rkey,
				  .addr = (uintptr_t)first->l->rmb },
	};
	llc_put(first->l, &m);
	ok = ok && llc_expect(first->l, SMC_LLC_CONFIRM_RKEY, true, &m);
	more = conn_more(first, AT_UP, NULL);
	ok = ok && conn_echo(more) &&
	     (same_element(more, first) || BAD("the victim keeps the element of the connection"));
	conn_end(more);
	conn_end(first);
	verdict(ok, "the peer gives up its RMB after our %s", abort ? "abort" : "close");
}

/* The peer's program does not close: the victim does not wait for longer than TCP would. */
static void keeps_open(void)
{
	long fin = set_sysctl("../ipv4/tcp_fin_timeout", 2);
	struct conn *c = conn_begin(CLIENT, V21, AT_UP, NULL);
	bool ok = conn_echo(c);

	close_victim(c);
	ok = ok && conn_flags(c, SMC_CDC_CLOSED) && conn_flags(c, SMC_CDC_ABORT);
	conn_say(c, SMC_CDC_ABORT);
	set_sysctl("../ipv4/tcp_fin_timeout", fin);
	conn_end(c);
	verdict(ok, "a connection that the peer's program keeps open");
}

/*
 * The victim gives up after its Accept.  As far as it knows, the client may be up, so the element
 * stays allocated until the client says that it is done.
 */
static void killed_handshake(bool confirmed)
{
	struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
	struct conn *first = conn_begin(CLIENT, V21, AT_UP, NULL), *c, *more;
	bool ok = conn_echo(first);

	c = conn_more(first, AT_CLC, NULL);
	if (confirmed) {
		ok = ok && (!connect(c->s.victim, &nowhere, sizeof(nowhere)) || BAD("disconnect"));
		clc_confirm(c, NULL);
	} else {
		clc_decline(c);
		ok = ok && talks_tcp(c->s);
	}
	more = conn_more(first, AT_UP, NULL);
	ok = ok && conn_echo(more);
	if (confirmed) {
		ok = ok && other_element(more, c);
		conn_say(c, SMC_CDC_ABORT);
		/* Once a later message has been processed, so has the abort. */
		ok = ok && conn_echo(first);
		conn_end(more);
		more = conn_more(first, AT_UP, NULL);
		ok = ok && conn_echo(more);
	}
	ok = ok && (same_element(more, c) || BAD("the element is not reused"));
	conn_end(more);
	conn_end(c);
	conn_end(first);
	verdict(ok, confirmed ? "R8: a handshake that ends between Accept and Confirm" :
		    "R8: an element is reused after its peer has declined");
}

void cases_peer(void)
{
	TRY(third_party(), "");
	TRY(out_of_sync(true), "");
	TRY(out_of_sync(false), "");
	TRY(squatter_elsewhere(), "");
	TRY(squatter_here(), "");
	TRY(too_many_begun(), "");
	TRY(too_many_of_peer(), "");
	TRY(too_many(), "");
	TRY(never_closes(CLIENT), "");
	TRY(never_closes(SERVER), "");
	TRY(abandons_many(), "");
	TRY(abandons_one(), "");
	TRY(abandons_accept(), "");
	TRY(abandons_beside_others(), "");
	TRY(abandons_in_full_group(), "");
	TRY(group_refused(), "");
	TRY(lacks_ring(), "");
	TRY(leaves_ring(), "");
	TRY(abandons_in_cgroup(), "");
	TRY(gives_up_rmb(false), "");
	TRY(gives_up_rmb(true), "");
	TRY(keeps_open(), "");
	TRY(killed_handshake(true), "");
	TRY(killed_handshake(false), "");
}
