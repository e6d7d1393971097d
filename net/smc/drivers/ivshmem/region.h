/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations on the words of a region, over a pointer to it.
 *
 * Nobody locks anything in there, as whoever holds a lock may die.  Everything in it may be a
 * peer's lie, at any moment: each word is read once and judged, and the number of slots and what
 * follows from it are copies of our own.
 *
 * Nothing here depends on the kernel: the same source builds in user space (unit tests, fuzzer).
 */
#ifndef SMC_IVSHMEM_REGION_H
#define SMC_IVSHMEM_REGION_H

#include "format.h"

#define IVS_SEID_LEN	32

/**
 * struct ivs_region - a region that was found to be a good one
 * @mem:	where it is
 * @slots:	how many it has
 * @units:	of each share
 * @uuid:	of the domain
 */
struct ivs_region {
	void	*mem;
	u32	slots;
	u32	units;
	u64	uuid[2];
};

/**
 * struct ivs_view - the words of a slot at one moment
 * @owner:	struct ivs_slot.owner, and so the rest
 * @boot:	see there
 * @gid:	see there
 * @beat:	see there
 */
struct ivs_view {
	u64	owner;
	u64	boot;
	u64	gid[2];
	u64	beat;
};

/**
 * struct ivs_watch - a slot that is looked at again and again
 * @view:	the last view
 * @moved:	when owner or heartbeat were last seen to change, in ms
 */
struct ivs_watch {
	struct ivs_view	view;
	u64		moved;
};

/**
 * ivs_open() - use a region, and initialise what of it nobody has yet
 * @r:		set up
 * @mem:	the region, aligned to 8 bytes
 * @len:	its bytes
 * @uuid:	two random words, should it have no UUID yet
 * @slots:	IVS_SLOTS_MIN to IVS_SLOTS_MAX, should it have no number of them yet
 *
 * Return: NULL, or what is wrong with it.
 */
const char *ivs_open(struct ivs_region *r, void *mem, u64 len, const u64 uuid[2], u32 slots);

/**
 * ivs_chid() - the CHID of a domain
 * @r:	the region
 *
 * Return: 0xff00 to 0xfffe.
 */
u16 ivs_chid(const struct ivs_region *r);

/**
 * ivs_seid() - the system EID of a domain
 * @r:		the region
 * @seid:	IVS_SEID_LEN bytes, a valid EID
 */
void ivs_seid(const struct ivs_region *r, u8 *seid);

/**
 * ivs_look() - read a slot
 * @r:		the region
 * @slot:	below @r->slots
 * @v:		receives the view
 */
void ivs_look(const struct ivs_region *r, u32 slot, struct ivs_view *v);

/**
 * ivs_ready() - is there somebody to talk to
 * @v:	the view of a slot
 *
 * Return: whether it has an owner who is ready.
 */
static inline bool ivs_ready(const struct ivs_view *v)
{
	return v->owner && v->boot && (v->gid[0] || v->gid[1]);
}

/**
 * ivs_same() - is it still the same one
 * @a:	a view of a slot
 * @b:	another view of it
 *
 * Return: whether that was the same owner, since the same boot.
 */
static inline bool ivs_same(const struct ivs_view *a, const struct ivs_view *b)
{
	return a->owner == b->owner && a->boot == b->boot && a->gid[0] == b->gid[0] &&
	       a->gid[1] == b->gid[1];
}

/**
 * ivs_observe() - look at a slot once more
 * @r:		the region
 * @slot:	below @r->slots
 * @w:		the view of the last call, zeroed the first time
 * @now:	in ms, not 0
 */
void ivs_observe(const struct ivs_region *r, u32 slot, struct ivs_watch *w, u64 now);

/**
 * ivs_dead() - has its heart stopped
 * @w:		of ivs_observe()
 * @now:	in ms
 *
 * Return: whether the slot has an owner whose heartbeat has stood still for IVS_DEAD_MS while it
 * was observed.
 */
static inline bool ivs_dead(const struct ivs_watch *w, u64 now)
{
	return w->view.owner && w->moved && now - w->moved >= IVS_DEAD_MS;
}

/**
 * ivs_claim() - get a slot
 * @r:		the region
 * @peer:	our peer id
 * @claim:	random
 * @w:		of ivs_observe(), one for each slot
 * @now:	in ms
 * @owner:	set to what we wrote into the slot's owner word
 *
 * The one that we had before a reboot, else a free one, else that of a dead owner.
 *
 * Return: the slot, or -EBUSY.
 */
int ivs_claim(const struct ivs_region *r, u32 peer, u32 claim, const struct ivs_watch *w, u64 now,
	      u64 *owner);

/**
 * ivs_used() - had a slot another owner, or boot, before
 * @r:		the region
 * @slot:	ours, before ivs_slot_begin()
 *
 * Return: whether peers may still know it.
 */
bool ivs_used(const struct ivs_region *r, u32 slot);

/**
 * ivs_slot_begin() - make a slot ours that was claimed
 * @r:		the region
 * @slot:	ours
 * @gid:	our GID
 *
 * No DMB, nothing dirty, not ready yet.
 */
void ivs_slot_begin(const struct ivs_region *r, u32 slot, const u64 gid[2]);

/**
 * ivs_slot_ready() - tell all that we are there, or, with 0, that we are not
 * @r:		the region
 * @slot:	ours
 * @boot:	random, or 0
 */
void ivs_slot_ready(const struct ivs_region *r, u32 slot, u64 boot);

/**
 * ivs_slot_leave() - give a slot back, if it is still ours
 * @r:		the region
 * @slot:	that one
 * @owner:	of ivs_claim()
 */
void ivs_slot_leave(const struct ivs_region *r, u32 slot, u64 owner);

/**
 * ivs_owns() - is a slot still ours
 * @r:		the region
 * @slot:	that one
 * @owner:	of ivs_claim()
 *
 * Return: false if somebody has taken it, as we were silent for too long.
 */
bool ivs_owns(const struct ivs_region *r, u32 slot, u64 owner);

/**
 * ivs_beat() - count our heartbeat up
 * @r:		the region
 * @slot:	ours
 */
void ivs_beat(const struct ivs_region *r, u32 slot);

/**
 * ivs_peer_of() - who is the owner of a slot
 * @r:		the region
 * @slot:	below @r->slots
 *
 * Return: its peer id, or -ENODEV.
 */
int ivs_peer_of(const struct ivs_region *r, u32 slot);

/**
 * ivs_share() - where a slot's share begins
 * @r:		the region
 * @slot:	below @r->slots
 *
 * Return: its memory, @r->units times IVS_UNIT bytes.
 */
void *ivs_share(const struct ivs_region *r, u32 slot);

/**
 * ivs_set_nonce() - make a DMB of ours known, or unknown
 * @r:		the region
 * @slot:	ours
 * @number:	of the DMB, below IVS_DMBS
 * @nonce:	of its token, or 0
 */
void ivs_set_nonce(const struct ivs_region *r, u32 slot, u32 number, u32 nonce);

/**
 * ivs_judge() - find what a token of a peer names
 * @r:		the region
 * @peer:	the view of the peer's slot when the peer became known
 * @token:	the peer's
 * @offset:	into the DMB
 * @bytes:	there, not 0
 *
 * Return: the memory, or NULL if the slot is not that peer's any more, there is no such DMB, or it
 * would not lie in the peer's share.
 */
void *ivs_judge(const struct ivs_region *r, const struct ivs_view *peer, u64 token, u32 offset,
		u32 bytes);

/**
 * ivs_mark() - say that a DMB has been written to
 * @r:		the region
 * @slot:	of its owner, below @r->slots
 * @number:	of the DMB, below IVS_DMBS
 *
 * Return: whether the owner waits for the doorbell.
 */
bool ivs_mark(const struct ivs_region *r, u32 slot, u32 number);

/**
 * ivs_unmark() - forget what was said of a DMB
 * @r:		the region
 * @slot:	ours
 * @number:	of the DMB
 */
void ivs_unmark(const struct ivs_region *r, u32 slot, u32 number);

/**
 * ivs_take_summary() - which words of our dirty bitmap have bits
 * @r:		the region
 * @slot:	ours
 *
 * Return: a bit for each word.
 */
u64 ivs_take_summary(const struct ivs_region *r, u32 slot);

/**
 * ivs_take_dirty() - which DMBs of a word have been written to
 * @r:		the region
 * @slot:	ours
 * @word:	below IVS_WORDS
 *
 * Return: a bit for each.
 */
u64 ivs_take_dirty(const struct ivs_region *r, u32 slot, u32 word);

/**
 * ivs_arm() - ask for the doorbell
 * @r:		the region
 * @slot:	ours
 *
 * Return: whether there is something to do at once.
 */
bool ivs_arm(const struct ivs_region *r, u32 slot);

#endif /* SMC_IVSHMEM_REGION_H */
