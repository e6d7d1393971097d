// SPDX-License-Identifier: GPL-2.0
/* A region of ivshmem: two peers over one buffer, correct and hostile. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "eid.h"
#include "order.h"
#include "region.h"
#include "tap.h"

#define SLOTS	4
#define LEN	((u64)IVS_BLOCK * (1 + SLOTS) + SLOTS * 8 * IVS_UNIT)
#define DEAD	IVS_DEAD_MS

static const u64 uuid_a[2] = { 0x0123456789abcdef, 0xfedcba9876543210 };
static const u64 uuid_b[2] = { 11, 22 }, uuid_0[2];
static const u64 gid_a[2] = { 0xaaaa, 1 }, gid_b[2] = { 0xbbbb, 2 };

/* Exactly this size, so that ASan detects any access beyond it. */
static void *memory(u64 len)
{
	void *mem = aligned_alloc(IVS_PAGE, (len + IVS_PAGE - 1) / IVS_PAGE * IVS_PAGE);

	memset(mem, 0, len);
	return mem;
}

static struct ivs_slot *slot_at(void *mem, u32 slot)
{
	return mem + (u64)IVS_BLOCK * (1 + slot);
}

static void header(void)
{
	void *mem = memory(LEN);
	struct ivs_region a, b;

	CHECK(!ivs_open(&a, mem, LEN, uuid_a, SLOTS), "first");
	CHECK(!ivs_open(&b, mem, LEN, uuid_b, 9), "second");
	CHECK(a.slots == SLOTS && b.slots == SLOTS, "%u %u", a.slots, b.slots);
	CHECK(!memcmp(a.uuid, uuid_a, 16) && !memcmp(b.uuid, uuid_a, 16), "UUID");
	CHECK(a.units == 8 && b.units == 8, "%u units", a.units);
	CHECK(!memcmp(mem, "SMC-ISM1\2\0\0\0\0\0\0\0\xef\xcd", 18), "bytes");
	tap_case("the first participant initialises the region");

	memset(mem, 0, 24 + 8);
	((__le64 *)mem)[0] = cpu_to_le64(IVS_MAGIC);
	((__le64 *)mem)[2] = cpu_to_le64(7);
	CHECK(!ivs_open(&a, mem, LEN, uuid_b, SLOTS), "half");
	CHECK(a.uuid[0] == 7 && a.uuid[1] == uuid_b[1], "halves of the UUID");
	tap_case("a half-initialised region is completed");
	free(mem);

	mem = memory(LEN);
	CHECK(!ivs_open(&a, mem, LEN, uuid_0, SLOTS), "0");
	CHECK(a.uuid[0] == 1 && a.uuid[1] == 1, "no word stays 0");
	tap_case("no word of the UUID is 0");
	free(mem);
}

static bool refused(unsigned int word, u64 value, u64 len)
{
	void *mem = memory(len);
	struct ivs_region r;
	const char *why;

	if (word)
		((__le64 *)mem)[0] = cpu_to_le64(IVS_MAGIC);
	((__le64 *)mem)[word] = cpu_to_le64(value);
	why = ivs_open(&r, mem, len, uuid_a, SLOTS);
	if (!why)
		CHECK(ivs_share(&r, r.slots - 1) + ((u64)r.units << IVS_UNIT_SHIFT) <= mem + len,
		      "the last share exceeds the region");
	free(mem);
	return why;
}

static void bad_headers(void)
{
	struct ivs_region r;
	void *mem;

	CHECK(refused(0, 1, LEN) && refused(0, IVS_MAGIC + 1, LEN), "magic");
	CHECK(refused(1, 1, LEN) && refused(1, 3, LEN) && refused(1, ~0ull, LEN), "version");
	CHECK(refused(4, 1, LEN) && refused(4, 65, LEN) && refused(4, ~0ull, LEN) &&
	      refused(4, 1ull << 32 | 2, LEN), "slots");
	CHECK(!refused(4, 2, LEN) && !refused(4, 3, LEN), "valid numbers");
	tap_case("a header with unknown values is refused");

	CHECK(refused(4, 64, LEN), "too many slots for the size");
	CHECK(!refused(4, SLOTS, LEN - 7 * SLOTS * IVS_UNIT), "one unit for each slot");
	CHECK(refused(4, SLOTS, LEN - 7 * SLOTS * IVS_UNIT - 1), "one byte less");
	CHECK(refused(4, SLOTS, IVS_PAGE), "a page");
	tap_case("a region that is too small is refused");

	mem = memory(LEN);
	((u8 *)mem)[IVS_PAGE - 1] = 1;
	CHECK(ivs_open(&r, mem, LEN, uuid_a, SLOTS), "used");
	CHECK(!*(u64 *)mem, "written to");
	CHECK(!r.version, "version %llu", (unsigned long long)r.version);
	tap_case("memory that is used otherwise is not touched");
	free(mem);

	mem = memory(LEN);
	((__le64 *)mem)[0] = cpu_to_le64(IVS_MAGIC);
	((__le64 *)mem)[1] = cpu_to_le64(1);
	CHECK(ivs_open(&r, mem, LEN, uuid_a, SLOTS) && r.version == 1, "version %llu",
	      (unsigned long long)r.version);
	tap_case("the version of a refused region is told");
	free(mem);
}

static void names(void)
{
	struct ivs_region r = { .uuid = { uuid_a[0], uuid_a[1] } };
	u8 seid[IVS_SEID_LEN];
	unsigned int i;

	ivs_seid(&r, seid);
	CHECK(smc_eid_valid(seid), "not valid");
	CHECK(!memcmp(seid, "IVSHMEM-0123456789ABCDEF76543210", 32), "%.32s", seid);
	tap_case("the SEID of a domain");

	for (i = 0; i < 100000; i++) {
		r.uuid[0] = i * 0x9e3779b97f4a7c15ull;
		r.uuid[1] = i;
		CHECK(ivs_chid(&r) >= 0xff00 && ivs_chid(&r) <= 0xfffe, "%x", ivs_chid(&r));
	}
	r.uuid[0] = 0xfe;
	r.uuid[1] = 0;
	CHECK(ivs_chid(&r) == 0xfffe, "%x", ivs_chid(&r));
	r.uuid[0] = 0xff;
	CHECK(ivs_chid(&r) == 0xff00, "%x", ivs_chid(&r));
	tap_case("the CHID of a domain");
}

/* Two owners: peer 5 in a slot, peer 9 in another one. */
struct pair {
	void			*mem;
	struct ivs_region	a, b;
	int			sa, sb;
	u64			oa, ob;
};

static void make_pair(struct pair *p)
{
	p->mem = memory(LEN);
	CHECK(!ivs_open(&p->a, p->mem, LEN, uuid_a, SLOTS), "a");
	CHECK(!ivs_open(&p->b, p->mem, LEN, uuid_b, SLOTS), "b");
	p->sa = ivs_claim(&p->a, 5, 100, &p->oa);
	p->sb = ivs_claim(&p->b, 9, 200, &p->ob);
	ivs_slot_begin(&p->a, p->sa, gid_a);
	ivs_slot_begin(&p->b, p->sb, gid_b);
	ivs_slot_ready(&p->a, p->sa, 77);
	ivs_slot_ready(&p->b, p->sb, 88);
}

static void claims(void)
{
	struct ivs_view v, before;
	struct pair p;
	u64 owner;

	make_pair(&p);
	CHECK(p.sa == 0 && p.sb == 1, "%d %d", p.sa, p.sb);
	CHECK(ivs_owns(&p.a, 0, p.oa) && ivs_owns(&p.a, 1, p.ob), "owners");
	CHECK(ivs_peer_of(&p.a, 1) == 9 && ivs_peer_of(&p.b, 0) == 5 &&
	      ivs_peer_of(&p.a, 2) == -ENODEV, "peers");
	CHECK(ivs_used(&p.a, 0) && !ivs_used(&p.a, 2), "used");
	ivs_look(&p.b, 0, &before);
	CHECK(ivs_ready(&before) && before.gid[0] == gid_a[0] && before.boot == 77, "view");
	tap_case("two peers have a slot each");

	CHECK(ivs_claim(&p.a, 5, 101, &owner) == 0 && owner != p.oa, "again");
	ivs_look(&p.b, 0, &v);
	CHECK(!ivs_same(&v, &before), "the claim has changed");
	ivs_slot_begin(&p.a, 0, gid_a);
	ivs_look(&p.b, 0, &v);
	CHECK(!ivs_ready(&v), "too early");
	ivs_slot_ready(&p.a, 0, 78);
	ivs_look(&p.b, 0, &v);
	CHECK(ivs_ready(&v) && !ivs_same(&v, &before), "ready");
	tap_case("an owner gets its slot again after a reboot");

	ivs_slot_leave(&p.a, 0, p.oa);
	CHECK(ivs_owns(&p.a, 0, owner), "an old claim releases nothing");
	ivs_slot_leave(&p.a, 0, owner);
	CHECK(ivs_peer_of(&p.a, 0) == -ENODEV, "free");
	CHECK(ivs_claim(&p.a, 6, 1, &owner) == 0 && ivs_used(&p.a, 0), "another peer");
	tap_case("a released slot is free, and marked as used");
	free(p.mem);
}

static void observe(struct ivs_region *r, struct ivs_watch *w, u64 now)
{
	u32 i;

	for (i = 0; i < r->slots; i++)
		ivs_observe(r, i, &w[i], now);
}

static void theft(void)
{
	struct ivs_watch w[SLOTS] = { 0 };
	struct pair p;
	u64 owner;

	make_pair(&p);
	CHECK(ivs_claim(&p.a, 20, 1, &owner) == 2, "third");
	CHECK(ivs_claim(&p.a, 21, 1, &owner) == 3, "fourth");
	CHECK(ivs_claim(&p.a, 22, 1, &owner) == -EBUSY, "none left");
	observe(&p.a, w, 1000);
	ivs_beat(&p.a, 0);
	ivs_beat(&p.a, 2);
	ivs_beat(&p.a, 3);
	observe(&p.a, w, 2000);
	CHECK(!ivs_dead(&w[0], 1000 + DEAD) && ivs_dead(&w[1], 1000 + DEAD), "dead owners");
	CHECK(ivs_claim(&p.a, 22, 1, &owner) == -EBUSY && ivs_owns(&p.b, 1, p.ob), "paused?");
	tap_case("the slot of a dead owner is not taken: it may be paused");

	CHECK(ivs_claim(&p.b, 9, 201, &p.ob) == 1, "the owner claims it again");
	observe(&p.a, w, 1000 + DEAD);
	CHECK(!ivs_dead(&w[1], 1000 + DEAD + 1), "a new owner's heart beats");
	tap_case("an owner that came back is alive");
	free(p.mem);
}

#define TOKEN(...)	ivs_token_join(&(struct ivs_token){ __VA_ARGS__ })

static void tokens(void)
{
	struct ivs_view a, b;
	struct ivs_token t;
	struct pair p;
	void *mem;
	u64 good;

	make_pair(&p);
	ivs_look(&p.b, p.sa, &a);
	ivs_look(&p.a, p.sb, &b);
	good = TOKEN(0, 4095, 2, 0xabcdef);
	CHECK(good == 0x00fff00002abcdef, "%llx", (unsigned long long)good);
	ivs_token_split(TOKEN(255, 4095, 0xfffff, 0xffffff), &t);
	CHECK(t.slot == 255 && t.number == 4095 && t.unit == 0xfffff && t.nonce == 0xffffff,
	      "all bits");
	ivs_set_nonce(&p.a, 0, 4095, 0xabcdef);
	mem = ivs_judge(&p.b, &a, good, 0, IVS_UNIT);
	CHECK(mem == p.mem + IVS_BLOCK * (1 + SLOTS) + 2 * IVS_UNIT, "where");
	CHECK(mem == ivs_share(&p.a, 0) + 2 * IVS_UNIT, "as its owner computes it");
	CHECK(ivs_judge(&p.b, &a, good, 1, IVS_UNIT) == mem + 1, "offset");
	memset(ivs_judge(&p.b, &a, good, 0, 6 * IVS_UNIT), 1, 6 * IVS_UNIT);
	tap_case("a valid token leads to its memory");

	CHECK(!ivs_judge(&p.b, &a, TOKEN(1, 4095, 2, 0xabcdef), 0, 1), "another slot");
	CHECK(!ivs_judge(&p.b, &a, TOKEN(SLOTS, 4095, 2, 0xabcdef), 0, 1), "no slot");
	CHECK(!ivs_judge(&p.b, &a, TOKEN(255, 4095, 2, 0xabcdef), 0, 1), "far too large a slot");
	CHECK(!ivs_judge(&p.b, &a, TOKEN(0, 4094, 2, 0xabcdef), 0, 1), "another number");
	CHECK(!ivs_judge(&p.b, &a, TOKEN(0, 4095, 8, 0xabcdef), 0, 1), "beyond the share");
	CHECK(!ivs_judge(&p.b, &a, TOKEN(0, 4095, 0xfffff, 0xabcdef), 0, 1), "far beyond it");
	CHECK(!ivs_judge(&p.b, &a, TOKEN(0, 4095, 2, 0xabcdee), 0, 1), "another nonce");
	CHECK(!ivs_judge(&p.b, &a, TOKEN(0, 4094, 2, 0), 0, 1), "no nonce");
	tap_case("each part of a token is checked");

	CHECK(!ivs_judge(&p.b, &a, good, 0, 6 * IVS_UNIT + 1), "too long");
	CHECK(!ivs_judge(&p.b, &a, good, 1, 6 * IVS_UNIT), "too long, from offset 1");
	CHECK(!ivs_judge(&p.b, &a, good, 6 * IVS_UNIT, 1), "offset");
	CHECK(!ivs_judge(&p.b, &a, good, ~0u, ~0u), "overflow");
	CHECK(!ivs_judge(&p.b, &a, good, 0, 0), "nothing");
	tap_case("no access beyond the share");

	CHECK(!ivs_judge(&p.b, &b, good, 0, 1), "the token of another peer");
	ivs_set_nonce(&p.a, 0, 4095, 0xff000000 | 0xabcdef);
	CHECK(!ivs_judge(&p.b, &a, good, 0, 1), "an impossible nonce");
	ivs_set_nonce(&p.a, 0, 4095, 0xabcdef);
	CHECK(ivs_judge(&p.b, &a, good, 0, 1), "valid again");
	ivs_slot_ready(&p.a, 0, 0);
	CHECK(!ivs_judge(&p.b, &a, good, 0, 1), "not ready");
	ivs_slot_ready(&p.a, 0, 79);
	CHECK(!ivs_judge(&p.b, &a, good, 0, 1), "another boot");
	ivs_slot_ready(&p.a, 0, 77);
	slot_at(p.mem, 0)->gid[1] ^= 1;
	CHECK(!ivs_judge(&p.b, &a, good, 0, 1), "another GID");
	slot_at(p.mem, 0)->gid[1] ^= 1;
	slot_at(p.mem, 0)->owner = 0;
	CHECK(!ivs_judge(&p.b, &a, good, 0, 1), "without an owner");
	tap_case("a token is valid only for the same boot and GID of the peer");
	free(p.mem);
}

/* A DMB of a at this unit, and its token. */
static u64 lend(struct pair *p, u32 number, u32 unit, u32 order)
{
	ivs_lend(&p->a, 0, number, unit, order);
	ivs_set_nonce(&p->a, 0, number, 5);
	return TOKEN(0, number, unit, 5);
}

static void loans(void)
{
	struct ivs_loan l;
	struct ivs_view a;
	struct pair p;
	u64 token;

	make_pair(&p);
	ivs_look(&p.b, p.sa, &a);
	ivs_loan_split(~0ull, &l);
	CHECK(l.unit == 0xfffff && l.order == 15 && l.slot == 63 && l.tag == IVS_TAG_MASK &&
	      ivs_loan_join(&l) == ~0ull, "all bits");
	token = lend(&p, 4095, 2, 1);
	CHECK(slot_at(p.mem, 0)->loan[4095] == cpu_to_le64(0x210000000000), "word");
	CHECK(ivs_borrow(&p.b, &a, token, 1, 88, false), "borrow");
	CHECK(slot_at(p.mem, 0)->loan[4095] == cpu_to_le64(0x210400000058), "borrowed");
	CHECK(ivs_borrow(&p.b, &a, token, 1, 88, true) && !ivs_borrow(&p.b, &a, token, 1, 88, false),
	      "again");
	CHECK(!ivs_borrow(&p.b, &a, token, 2, 88, false) && !ivs_borrow(&p.b, &a, token, 1, 89, false),
	      "somebody else");
	CHECK(ivs_lent(&p.a, 0, 4095, &l) && l.unit == 2 && l.order == 1 && l.slot == 1 &&
	      l.tag == 88, "lent");
	tap_case("a DMB has one borrower");

	CHECK(!ivs_take_back(&p.a, 0, 4095, 2, false), "taken from a borrower");
	CHECK(ivs_take_back(&p.a, 0, 4095, 2, true) && !ivs_lent(&p.a, 0, 4095, &l), "last word");
	CHECK(!ivs_borrow(&p.b, &a, token, 1, 88, false), "borrowed too late");
	token = lend(&p, 7, 3, 0);
	CHECK(ivs_take_back(&p.a, 0, 7, 3, false), "nobody has it");
	CHECK(!ivs_borrow(&p.b, &a, token, 1, 88, false), "borrowed after that");
	token = lend(&p, 7, 3, 0);
	ivs_set_nonce(&p.a, 0, 7, 6);
	CHECK(!ivs_borrow(&p.b, &a, token, 1, 88, false), "another DMB");
	CHECK(ivs_borrow(&p.b, &a, TOKEN(0, 7, 3, 6), 1, 88, false), "it is as it was");
	tap_case("a DMB is taken back before it is borrowed, or after the last word");

	ivs_slot_ready(&p.b, 1, 0);
	CHECK(ivs_take_back(&p.a, 0, 7, 3, false), "it has left");
	ivs_slot_ready(&p.b, 1, 88);
	CHECK(ivs_borrow(&p.b, &a, lend(&p, 8, 3, 0), 1, 88, false), "once more");
	ivs_slot_leave(&p.b, 1, p.ob);
	CHECK(ivs_take_back(&p.a, 0, 8, 3, false), "it has ended");
	tap_case("a DMB is taken back from a peer that was reset, has left or ended");

	slot_at(p.mem, 0)->loan[9] = cpu_to_le64(~0ull);
	CHECK(!ivs_lent(&p.a, 0, 9, &l), "beyond the share");
	CHECK(ivs_take_back(&p.a, 0, 9, 3, false), "garbage");
	ivs_lend(&p.a, 0, 9, 7, 1);
	CHECK(!ivs_lent(&p.a, 0, 9, &l), "partly beyond the share");
	ivs_lend(&p.a, 0, 9, 6, 1);
	CHECK(ivs_lent(&p.a, 0, 9, &l), "the last units");
	ivs_slot_begin(&p.a, 0, gid_a);
	CHECK(ivs_lent(&p.a, 0, 9, &l), "a new owner");
	tap_case("loans are checked, and outlive their owner");
	free(p.mem);
}

static void hostile_slots(void)
{
	struct pair p;
	u64 owner;

	make_pair(&p);
	memset(slot_at(p.mem, 2), 0xff, IVS_BLOCK);
	memset(slot_at(p.mem, 3), 0xff, IVS_BLOCK);
	CHECK(ivs_peer_of(&p.a, 2) == -ENODEV, "no such peer id");
	CHECK(!ivs_mark(&p.a, 2, 4095), "an owner whose bell is neither 0 nor 1");
	CHECK(ivs_claim(&p.a, 11, 1, &owner) == 2, "garbage is nobody's id");
	ivs_slot_begin(&p.a, 2, gid_a);
	CHECK(ivs_load(&slot_at(p.mem, 2)->beat) == 1, "a count that overflowed is not 0");
	CHECK(!ivs_take_summary(&p.a, 2) && !ivs_take_dirty(&p.a, 2, 63), "clean");
	CHECK(!slot_at(p.mem, 2)->nonce[4095] && !slot_at(p.mem, 2)->armed, "empty");
	tap_case("slots with garbage");
	free(p.mem);
}

static void marks(void)
{
	struct pair p;

	make_pair(&p);
	CHECK(!ivs_mark(&p.b, 0, 0) && !ivs_mark(&p.b, 0, 4095) && !ivs_mark(&p.b, 0, 64),
	      "not armed");
	CHECK(ivs_take_summary(&p.a, 0) == (1ull << 63 | 3), "summary");
	CHECK(ivs_take_dirty(&p.a, 0, 0) == 1 && ivs_take_dirty(&p.a, 0, 1) == 1 &&
	      ivs_take_dirty(&p.a, 0, 63) == 1ull << 63, "words");
	CHECK(!ivs_take_summary(&p.a, 0) && !ivs_take_dirty(&p.a, 0, 63), "taken");
	tap_case("each mark is found once");

	CHECK(!ivs_arm(&p.a, 0), "nothing to do");
	CHECK(ivs_mark(&p.b, 0, 7), "the bell is rung");
	CHECK(!ivs_mark(&p.b, 0, 8), "the bell is rung only once");
	CHECK(ivs_arm(&p.a, 0), "armed too late");
	ivs_unmark(&p.a, 0, 7);
	CHECK(ivs_take_dirty(&p.a, 0, 0) == 1 << 8, "the remaining mark");
	tap_case("the bell rings once each time it is armed");
	free(p.mem);
}

#define ROUNDS	(200000 / EVERY)
#define PATIENCE	20000000

static struct pair race;
static u32 rung, progress[2];

/* Each signal follows an increment; the last one must not be missed. */
static void *sender(void *arg)
{
	u32 who = (size_t)arg, i;

	for (i = 1; i <= ROUNDS; i++) {
		__atomic_store_n(&progress[who], i, __ATOMIC_RELAXED);
		if (ivs_mark(&race.b, 0, who * 70))
			__atomic_store_n(&rung, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static bool take_all(u32 *seen)
{
	u64 summary = ivs_take_summary(&race.a, 0);
	u32 i;

	for (i = 0; i < 2; i++)
		if (summary & 1ull << i && ivs_take_dirty(&race.a, 0, i))
			seen[i] = __atomic_load_n(&progress[i], __ATOMIC_RELAXED);
	return summary;
}

static void threads(void)
{
	pthread_t thread[2];
	u32 seen[2] = { 0 };
	unsigned int sleeps = 0, i;

	make_pair(&race);
	/* Arm before anyone sends, so that it sleeps at least once, however the threads are
	 * scheduled.
	 */
	CHECK(!ivs_arm(&race.a, 0), "nothing to do");
	for (i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, sender, (void *)(size_t)i);
	/* It sleeps only when armed, and only the bell wakes it. */
	while (seen[0] < ROUNDS || seen[1] < ROUNDS) {
		for (i = 0; i < PATIENCE && !__atomic_exchange_n(&rung, 0, __ATOMIC_SEQ_CST); i++)
			sched_yield();
		CHECK(i < PATIENCE, "bell not rung: %u and %u of %u seen", seen[0], seen[1],
		      ROUNDS);
		sleeps++;
		do {
			while (take_all(seen))
				;
		} while (ivs_arm(&race.a, 0));
	}
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	CHECK(sleeps, "never slept");
	tap_case("no signal is lost between two senders and a sleeper");
	free(race.mem);
}

int main(void)
{
	header();
	bad_headers();
	names();
	claims();
	theft();
	tokens();
	loans();
	hostile_slots();
	marks();
	threads();
	return tap_done();
}
