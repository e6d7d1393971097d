/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations on the words of a region.
 *
 * There are no locks in a region, as the holder of a lock might die.  Any word may be false or
 * change at any time, because peers can write to all of it.  So each word is read once and checked;
 * the number of slots, and what is derived from it, are private copies.
 *
 * Nothing here depends on the kernel: the same source builds in user space (unit tests, fuzzer).
 */
#ifndef SMC_IVSHMEM_REGION_H
#define SMC_IVSHMEM_REGION_H

#include "format.h"

#define IVS_SEID_LEN	32

/**
 * struct ivs_region - a region that passed the checks of ivs_open()
 * @mem:	address of the region
 * @version:	version of its format; 0 if ivs_open() refused the region before it knew that
 * @slots:	number of slots
 * @units:	number of units in each share
 * @uuid:	identifies the domain
 */
struct ivs_region {
	void	*mem;
	u64	version;
	u32	slots;
	u32	units;
	u64	uuid[2];
};

/**
 * struct ivs_view - snapshot of a slot
 * @owner:	struct ivs_slot.owner
 * @boot:	struct ivs_slot.boot
 * @gid:	struct ivs_slot.gid
 * @beat:	struct ivs_slot.beat
 */
struct ivs_view {
	u64	owner;
	u64	boot;
	u64	gid[2];
	u64	beat;
};

/**
 * struct ivs_watch - state of a slot that is observed regularly
 * @view:	last snapshot
 * @moved:	time of the last change of owner or heartbeat in ms
 */
struct ivs_watch {
	struct ivs_view	view;
	u64		moved;
};

/**
 * ivs_open() - start using a region, and initialise what is not initialised yet
 * @r:		receives the description of the region
 * @mem:	the region, aligned to 8 bytes
 * @len:	size of the region in bytes
 * @uuid:	two random words, used if the region has no UUID yet
 * @slots:	IVS_SLOTS_MIN to IVS_SLOTS_MAX, used if the region has no number of slots yet
 *
 * Return: NULL, or a message that says what is wrong with the region.
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
 * @seid:	receives a valid EID of IVS_SEID_LEN bytes
 */
void ivs_seid(const struct ivs_region *r, u8 *seid);

/**
 * ivs_look() - take a snapshot of a slot
 * @r:		the region
 * @slot:	below @r->slots
 * @v:		receives the snapshot
 */
void ivs_look(const struct ivs_region *r, u32 slot, struct ivs_view *v);

/**
 * ivs_ready() - is there an owner to communicate with?
 * @v:	snapshot of a slot
 *
 * Return: true if the slot has an owner that is ready.
 */
static inline bool ivs_ready(const struct ivs_view *v)
{
	return v->owner && v->boot && (v->gid[0] || v->gid[1]);
}

/**
 * ivs_same() - is the owner of a slot still the same?
 * @a:	snapshot of the slot
 * @b:	another snapshot of the slot
 *
 * Return: true if the owner is the same and has not restarted.
 */
static inline bool ivs_same(const struct ivs_view *a, const struct ivs_view *b)
{
	return a->owner == b->owner && a->boot == b->boot && a->gid[0] == b->gid[0] &&
	       a->gid[1] == b->gid[1];
}

/**
 * ivs_observe() - look at a slot again, to see whether its heartbeat goes on
 * @r:		the region
 * @slot:	below @r->slots
 * @w:		state of the last call, zeroed before the first
 * @now:	current time in ms, not 0
 */
void ivs_observe(const struct ivs_region *r, u32 slot, struct ivs_watch *w, u64 now);

/**
 * ivs_dead() - is the owner of a slot dead?
 * @w:		state of ivs_observe()
 * @now:	current time in ms
 *
 * Return: true if the slot has an owner whose heartbeat has stood still for IVS_DEAD_MS while it
 * was observed.
 */
static inline bool ivs_dead(const struct ivs_watch *w, u64 now)
{
	return w->view.owner && w->moved && now - w->moved >= IVS_DEAD_MS;
}

/**
 * ivs_claim() - claim a slot
 * @r:		the region
 * @peer:	our peer id
 * @claim:	random number
 * @owner:	receives the value that was written to the owner word
 *
 * Prefers the slot that we had before a reboot.  The slot of a dead owner is not free, because the
 * owner may be paused.
 *
 * Return: the slot, or -EBUSY.
 */
int ivs_claim(const struct ivs_region *r, u32 peer, u32 claim, u64 *owner);

/**
 * ivs_used() - was a slot used before, by another owner or boot?
 * @r:		the region
 * @slot:	our slot, before ivs_slot_begin()
 *
 * Return: true if it was, and peers may still write to its share.
 */
bool ivs_used(const struct ivs_region *r, u32 slot);

/**
 * ivs_slot_begin() - initialise a slot after claiming it
 * @r:		the region
 * @slot:	our slot
 * @gid:	our GID
 *
 * Afterwards the slot has no DMBs and no dirty bits, and is not ready.  What a former owner has
 * lent stays on loan.
 */
void ivs_slot_begin(const struct ivs_region *r, u32 slot, const u64 gid[2]);

/**
 * ivs_slot_ready() - announce that we are ready, or no longer ready
 * @r:		the region
 * @slot:	our slot
 * @boot:	random nonce whose low IVS_TAG_MASK is not 0; 0: not ready
 */
void ivs_slot_ready(const struct ivs_region *r, u32 slot, u64 boot);

/**
 * ivs_slot_leave() - give a slot back, if it is still ours
 * @r:		the region
 * @slot:	the slot
 * @owner:	the value from ivs_claim()
 */
void ivs_slot_leave(const struct ivs_region *r, u32 slot, u64 owner);

/**
 * ivs_owns() - is a slot still ours?
 * @r:		the region
 * @slot:	the slot
 * @owner:	the value from ivs_claim()
 *
 * Return: false if another participant has taken it, because we were silent for too long.
 */
bool ivs_owns(const struct ivs_region *r, u32 slot, u64 owner);

/**
 * ivs_beat() - increment our heartbeat
 * @r:		the region
 * @slot:	our slot
 */
void ivs_beat(const struct ivs_region *r, u32 slot);

/**
 * ivs_peer_of() - get the peer id of a slot's owner
 * @r:		the region
 * @slot:	below @r->slots
 *
 * Return: the peer id, or -ENODEV.
 */
int ivs_peer_of(const struct ivs_region *r, u32 slot);

/**
 * ivs_share() - get the memory of a slot's share
 * @r:		the region
 * @slot:	below @r->slots
 *
 * Return: address of @r->units times IVS_UNIT bytes.
 */
void *ivs_share(const struct ivs_region *r, u32 slot);

/**
 * ivs_set_nonce() - announce or withdraw a DMB of ours
 * @r:		the region
 * @slot:	our slot
 * @number:	number of the DMB, below IVS_DMBS
 * @nonce:	nonce of its token; 0: withdraw the DMB
 */
void ivs_set_nonce(const struct ivs_region *r, u32 slot, u32 number, u32 nonce);

/**
 * ivs_judge() - check a peer's token and find the memory that it names
 * @r:		the region
 * @peer:	snapshot of the peer's slot from the time when the peer became known
 * @token:	token of the peer's DMB
 * @offset:	offset in the DMB
 * @bytes:	number of bytes to access there, not 0
 *
 * Return: the memory, or NULL if the slot does not belong to that peer any more, if there is no
 * such DMB, or if the memory is not within the peer's share.
 */
void *ivs_judge(const struct ivs_region *r, const struct ivs_view *peer, u64 token, u32 offset,
		u32 bytes);

/**
 * ivs_lend() - enter a DMB of ours into the table of loans, before its nonce is set
 * @r:		the region
 * @slot:	our slot
 * @number:	number of the DMB
 * @unit:	its first unit
 * @order:	its size: IVS_UNIT << @order
 */
void ivs_lend(const struct ivs_region *r, u32 slot, u32 number, u32 unit, u32 order);

/**
 * ivs_borrow() - become the only one that may write to a peer's DMB
 * @r:		the region
 * @peer:	snapshot of the peer's slot from the time when the peer became known
 * @token:	token of the peer's DMB, which ivs_judge() has found valid
 * @slot:	our slot
 * @boot:	our boot nonce
 * @again:	we may have borrowed it before: a device that copies asks for each copy
 *
 * Return: false if the DMB is borrowed already, or if the peer has taken it back.
 */
bool ivs_borrow(const struct ivs_region *r, const struct ivs_view *peer, u64 token, u32 slot,
		u64 boot, bool again);

/**
 * ivs_lent() - what is on loan under a number?
 * @r:		the region
 * @slot:	our slot
 * @number:	number of the DMB
 * @l:		receives the loan
 *
 * Return: false if nothing is, or if the entry is invalid.
 */
bool ivs_lent(const struct ivs_region *r, u32 slot, u32 number, struct ivs_loan *l);

/**
 * ivs_take_back() - take a DMB of ours back if its borrower cannot write to it any more
 * @r:		the region
 * @slot:	our slot
 * @number:	number of the DMB
 * @unit:	its first unit
 * @ended:	the borrower has said its last word
 *
 * Return: true if the DMB is not on loan any more, and its memory may be used for others.
 */
bool ivs_take_back(const struct ivs_region *r, u32 slot, u32 number, u32 unit, bool ended);

/**
 * ivs_mark() - mark a DMB as written to
 * @r:		the region
 * @slot:	slot of its owner, below @r->slots
 * @number:	number of the DMB, below IVS_DMBS
 *
 * Return: true if the caller must ring the doorbell of the owner.
 */
bool ivs_mark(const struct ivs_region *r, u32 slot, u32 number);

/**
 * ivs_unmark() - clear the dirty bit of a DMB
 * @r:		the region
 * @slot:	our slot
 * @number:	number of the DMB
 */
void ivs_unmark(const struct ivs_region *r, u32 slot, u32 number);

/**
 * ivs_take_summary() - read and clear the summary of our dirty bitmap
 * @r:		the region
 * @slot:	our slot
 *
 * Return: one bit for each word of the bitmap.
 */
u64 ivs_take_summary(const struct ivs_region *r, u32 slot);

/**
 * ivs_take_dirty() - read and clear a word of our dirty bitmap
 * @r:		the region
 * @slot:	our slot
 * @word:	index of the word, below IVS_WORDS
 *
 * Return: one bit for each DMB that was written to.
 */
u64 ivs_take_dirty(const struct ivs_region *r, u32 slot, u32 word);

/**
 * ivs_arm() - ask peers to ring the doorbell
 * @r:		the region
 * @slot:	our slot
 *
 * Return: true if there is already something to do.
 */
bool ivs_arm(const struct ivs_region *r, u32 slot);

#endif /* SMC_IVSHMEM_REGION_H */
