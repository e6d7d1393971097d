// SPDX-License-Identifier: GPL-2.0
/* Operations on the words of a region, see region.h. */
#include "region.h"
#include "order.h"

static struct ivs_slot *to_slot(const struct ivs_region *r, u32 slot)
{
	return r->mem + (u64)IVS_BLOCK * (1 + slot);
}

/* Set a word of the header to @ours unless it has a value.  Returns the value it has now. */
static u64 settle(__le64 *word, u64 ours)
{
	u64 there = ivs_load(word);

	return there ?: (ivs_cmpxchg(word, 0, ours) ?: ours);
}

/* Memory that is used for something else may also begin with zeros, and must not be written to. */
static bool blank(const struct ivs_header *h)
{
	unsigned int i;

	for (i = 0; i < sizeof(h->rest) / sizeof(*h->rest); i++)
		if (h->rest[i])
			return false;
	return true;
}

const char *ivs_open(struct ivs_region *r, void *mem, u64 len, const u64 uuid[2], u32 slots)
{
	struct ivs_header *h = mem;
	u64 n, units, taken;

	r->version = 0;
	/* Check the minimum size first: nothing may be written beyond the end. */
	if (len < (u64)IVS_BLOCK * (1 + IVS_SLOTS_MIN) + IVS_SLOTS_MIN * IVS_UNIT)
		return "it is too small";
	if (!ivs_load(&h->magic) && !blank(h))
		return "something else uses it: it has no magic word, but is not empty";
	if (settle(&h->magic, IVS_MAGIC) != IVS_MAGIC)
		return "something else uses it: it has another magic word";
	r->version = settle(&h->version, IVS_VERSION);
	if (r->version != IVS_VERSION)
		return "its version is not supported";
	r->mem = mem;
	r->uuid[0] = settle(&h->uuid[0], uuid[0] ?: 1);
	r->uuid[1] = settle(&h->uuid[1], uuid[1] ?: 1);
	n = settle(&h->slots, slots);
	if (n < IVS_SLOTS_MIN || n > IVS_SLOTS_MAX)
		return "its number of slots is invalid";
	r->slots = n;
	taken = (u64)IVS_BLOCK * (1 + r->slots);
	units = len < taken ? 0 : ((len - taken) >> IVS_UNIT_SHIFT) / r->slots;
	if (!units)
		return "it is too small for its number of slots";
	r->units = units < IVS_UNITS_MAX ? units : IVS_UNITS_MAX;
	return NULL;
}

u16 ivs_chid(const struct ivs_region *r)
{
	return 0xff00 + (r->uuid[0] ^ r->uuid[1]) % 0xff;
}

void ivs_seid(const struct ivs_region *r, u8 *seid)
{
	static const char prefix[] = "IVSHMEM-", digits[] = "0123456789ABCDEF";
	u8 *p = seid;
	int shift;

	memcpy(p, prefix, sizeof(prefix) - 1);
	p += sizeof(prefix) - 1;
	for (shift = 60; shift >= 0; shift -= 4)
		*p++ = digits[r->uuid[0] >> shift & 15];
	for (shift = 28; shift >= 0; shift -= 4)
		*p++ = digits[r->uuid[1] >> shift & 15];
}

void ivs_look(const struct ivs_region *r, u32 slot, struct ivs_view *v)
{
	const struct ivs_slot *s = to_slot(r, slot);

	/* The owner stores @boot last: what is read after it is of that boot, or newer. */
	v->owner = ivs_load(&s->owner);
	v->boot = ivs_load(&s->boot);
	v->gid[0] = ivs_load(&s->gid[0]);
	v->gid[1] = ivs_load(&s->gid[1]);
	v->beat = ivs_load(&s->beat);
}

void ivs_observe(const struct ivs_region *r, u32 slot, struct ivs_watch *w, u64 now)
{
	struct ivs_view v;

	ivs_look(r, slot, &v);
	if (!w->moved || v.owner != w->view.owner || v.beat != w->view.beat)
		w->moved = now;
	w->view = v;
}

static bool take(const struct ivs_region *r, u32 slot, u64 from, u64 to)
{
	return ivs_cmpxchg(&to_slot(r, slot)->owner, from, to) == from;
}

/* Is this the owner word of a slot that nobody has? */
static bool is_free(u64 owner)
{
	return !(u32)owner || (u32)owner > IVS_PEERS;
}

int ivs_claim(const struct ivs_region *r, u32 peer, u32 claim, u64 *owner)
{
	u64 there;
	u32 i;

	*owner = (u64)claim << 32 | (peer + 1);
	for (i = 0; i < r->slots; i++) {
		there = ivs_load(&to_slot(r, i)->owner);
		if ((u32)there == peer + 1 && take(r, i, there, *owner))
			return i;
	}
	for (i = 0; i < r->slots; i++) {
		there = ivs_load(&to_slot(r, i)->owner);
		if (is_free(there) && take(r, i, there, *owner))
			return i;
	}
	return -EBUSY;
}

bool ivs_used(const struct ivs_region *r, u32 slot)
{
	/* Every owner leaves its last heartbeat, which is not 0, in the slot. */
	return ivs_load(&to_slot(r, slot)->beat);
}

void ivs_slot_begin(const struct ivs_region *r, u32 slot, const u64 gid[2])
{
	struct ivs_slot *s = to_slot(r, slot);
	u32 i;

	ivs_slot_ready(r, slot, 0);
	for (i = 0; i < IVS_DMBS; i++)
		ivs_store32(&s->nonce[i], 0);
	ivs_store(&s->armed, 0);
	ivs_store(&s->summary, 0);
	for (i = 0; i < IVS_WORDS; i++)
		ivs_store(&s->dirty[i], 0);
	ivs_store(&s->gid[0], gid[0]);
	ivs_store(&s->gid[1], gid[1]);
	ivs_beat(r, slot);
}

void ivs_slot_ready(const struct ivs_region *r, u32 slot, u64 boot)
{
	ivs_store(&to_slot(r, slot)->boot, boot);
}

void ivs_slot_leave(const struct ivs_region *r, u32 slot, u64 owner)
{
	take(r, slot, owner, 0);
}

bool ivs_owns(const struct ivs_region *r, u32 slot, u64 owner)
{
	return ivs_load(&to_slot(r, slot)->owner) == owner;
}

void ivs_beat(const struct ivs_region *r, u32 slot)
{
	struct ivs_slot *s = to_slot(r, slot);
	u64 next = ivs_load(&s->beat) + 1;

	/* Never store 0: it means that the slot was never used. */
	ivs_store(&s->beat, next ?: 1);
}

int ivs_peer_of(const struct ivs_region *r, u32 slot)
{
	u32 id = ivs_load(&to_slot(r, slot)->owner);

	return id && id <= IVS_PEERS ? (int)(id - 1) : -ENODEV;
}

void *ivs_share(const struct ivs_region *r, u32 slot)
{
	return r->mem + (u64)IVS_BLOCK * (1 + r->slots) +
	       ((u64)slot * r->units << IVS_UNIT_SHIFT);
}

void ivs_set_nonce(const struct ivs_region *r, u32 slot, u32 number, u32 nonce)
{
	ivs_store32(&to_slot(r, slot)->nonce[number], nonce);
}

void *ivs_judge(const struct ivs_region *r, const struct ivs_view *peer, u64 token, u32 offset,
		u32 bytes)
{
	struct ivs_token t;
	struct ivs_view v;
	u64 from;

	ivs_token_split(token, &t);
	if (t.slot >= r->slots || t.unit >= r->units || !t.nonce || !bytes)
		return NULL;
	ivs_look(r, t.slot, &v);
	if (!ivs_ready(&v) || !ivs_same(&v, peer))
		return NULL;
	if (ivs_load32(&to_slot(r, t.slot)->nonce[t.number]) != t.nonce)
		return NULL;
	from = ((u64)t.unit << IVS_UNIT_SHIFT) + offset;
	if (from + bytes > (u64)r->units << IVS_UNIT_SHIFT)
		return NULL;
	return ivs_share(r, t.slot) + from;
}

void ivs_lend(const struct ivs_region *r, u32 slot, u32 number, u32 unit, u32 order)
{
	const struct ivs_loan l = { .unit = unit, .order = order };

	ivs_store(&to_slot(r, slot)->loan[number], ivs_loan_join(&l));
}

bool ivs_borrow(const struct ivs_region *r, const struct ivs_view *peer, u64 token, u32 slot,
		u64 boot, bool again)
{
	struct ivs_token t;
	struct ivs_loan l;
	u64 free, ours;
	__le64 *word;

	ivs_token_split(token, &t);
	word = &to_slot(r, t.slot)->loan[t.number];
	free = ivs_load(word);
	ivs_loan_split(free, &l);
	if (l.unit != t.unit)
		return false;
	l.slot = slot;
	if (l.tag) {
		l.tag = boot & IVS_TAG_MASK;
		return again && free == ivs_loan_join(&l);
	}
	l.tag = boot & IVS_TAG_MASK;
	ours = ivs_loan_join(&l);
	if (ivs_cmpxchg(word, free, ours) != free)
		return false;
	/* The number may name another DMB by now.  From here on it does not change. */
	if (ivs_judge(r, peer, token, 0, 1))
		return true;
	ivs_cmpxchg(word, ours, free);
	return false;
}

bool ivs_lent(const struct ivs_region *r, u32 slot, u32 number, struct ivs_loan *l)
{
	u64 word = ivs_load(&to_slot(r, slot)->loan[number]);

	ivs_loan_split(word, l);
	return word && l->unit < r->units && 1u << l->order <= r->units - l->unit;
}

/* Has the participant that borrowed a DMB been reset, has it ended, or left? */
static bool has_gone(const struct ivs_region *r, const struct ivs_loan *l)
{
	struct ivs_view v;

	if (l->slot >= r->slots)
		return true;
	ivs_look(r, l->slot, &v);
	return is_free(v.owner) || (v.boot & IVS_TAG_MASK) != l->tag;
}

bool ivs_take_back(const struct ivs_region *r, u32 slot, u32 number, u32 unit, bool ended)
{
	__le64 *word = &to_slot(r, slot)->loan[number];
	u64 there = ivs_load(word);
	struct ivs_loan l;

	ivs_loan_split(there, &l);
	/* Another unit: what is here was not written by the rules. */
	if (l.tag && l.unit == unit && !ended && !has_gone(r, &l))
		return false;
	/* If somebody borrows the DMB meanwhile, this fails. */
	return ivs_cmpxchg(word, there, 0) == there;
}

bool ivs_mark(const struct ivs_region *r, u32 slot, u32 number)
{
	struct ivs_slot *s = to_slot(r, slot);

	ivs_or(&s->dirty[number / 64], 1ull << number % 64);
	ivs_or(&s->summary, 1ull << number / 64);
	/* Pairs with ivs_arm(): either we see @armed, or the owner sees our bit. */
	ivs_mb();
	return ivs_load(&s->armed) && ivs_xchg(&s->armed, 0) == 1;
}

void ivs_unmark(const struct ivs_region *r, u32 slot, u32 number)
{
	ivs_and(&to_slot(r, slot)->dirty[number / 64], ~(1ull << number % 64));
}

u64 ivs_take_summary(const struct ivs_region *r, u32 slot)
{
	struct ivs_slot *s = to_slot(r, slot);

	return ivs_load(&s->summary) ? ivs_xchg(&s->summary, 0) : 0;
}

u64 ivs_take_dirty(const struct ivs_region *r, u32 slot, u32 word)
{
	return ivs_xchg(&to_slot(r, slot)->dirty[word], 0);
}

bool ivs_arm(const struct ivs_region *r, u32 slot)
{
	struct ivs_slot *s = to_slot(r, slot);

	ivs_store(&s->armed, 1);
	/* Pairs with the barrier in ivs_mark(). */
	ivs_mb();
	return ivs_load(&s->summary);
}
