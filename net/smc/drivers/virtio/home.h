/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations on the words of a home, ours and those of peers.
 *
 * Every peer can write to all of it, at any moment.  So the owner reads nothing there but what
 * peers have to tell it, and each word is read once and judged.  Nobody locks anything.
 *
 * Nothing here depends on the kernel: the same source builds in user space (unit tests, fuzzer).
 */
#ifndef SMC_VISM_HOME_H
#define SMC_VISM_HOME_H

#include "format.h"

/**
 * struct vism_watch - a peer's heart
 * @beat:	the last count
 * @moved:	when it was last seen to change, in ms, not 0
 */
struct vism_watch {
	u64	beat;
	u64	moved;
};

/**
 * struct vism_place - where a peer's DMB lies
 * @region:	the device's token of a region
 * @nonce:	of that region
 * @offset:	there
 */
struct vism_place {
	u64	region;
	u64	nonce;
	u32	offset;
};

/**
 * enum vism_pulse - the result of a look at a peer
 * @VISM_ALIVE:	it is there
 * @VISM_LEFT:	it, or its memory, is not what it was: nothing writes to our DMBs any more
 * @VISM_SILENT: its heart has stopped; should it go on, it may write to them
 */
enum vism_pulse {
	VISM_ALIVE,
	VISM_LEFT,
	VISM_SILENT,
};

/**
 * vism_open() - let peers use a region
 * @head:	ours; what follows is ready
 * @magic:	VISM_HOME or VISM_DATA
 * @nonce:	of the region, not 0
 */
void vism_open(struct vism_head *head, u64 magic, u64 nonce);

/**
 * vism_close() - peers are to use a region no more
 * @head:	ours
 */
void vism_close(struct vism_head *head);

/**
 * vism_is() - is it this region
 * @head:	of the region that was attached
 * @magic:	VISM_HOME or VISM_DATA
 * @nonce:	that it has to have
 *
 * Return: whether it is, and is in use.
 */
bool vism_is(const struct vism_head *head, u64 magic, u64 nonce);

/**
 * vism_home_begin() - make a region a home, which is not open yet
 * @h:		ours, whatever is in there
 * @room:	how many regions of one peer we attach
 */
void vism_home_begin(struct vism_home *h, u64 room);

/**
 * vism_room() - how many regions of ours a peer attaches
 * @h:		its home
 * @limit:	of our own
 *
 * Return: the number, at most @limit.
 */
u32 vism_room(const struct vism_home *h, u32 limit);

/**
 * vism_beat() - the heart beats
 * @h:		ours
 * @beat:	how often it has, counted by the caller
 */
void vism_beat(struct vism_home *h, u64 beat);

/**
 * vism_look() - look at a peer that was there
 * @h:		its home
 * @boot:	second half of its GID
 * @w:		the view of the last call, zeroed the first time
 * @now:	in ms, not 0
 *
 * Return: how it is.
 */
enum vism_pulse vism_look(const struct vism_home *h, u64 boot, struct vism_watch *w, u64 now);

/**
 * vism_set_dmb() - make a DMB of ours known
 * @h:		ours
 * @token:	its token
 * @p:		where it lies
 * @bytes:	its size
 */
void vism_set_dmb(struct vism_home *h, u64 token, const struct vism_place *p, u32 bytes);

/**
 * vism_clear_dmb() - a DMB of ours is not known any more, nor what was said of it
 * @h:		ours
 * @token:	its token
 */
void vism_clear_dmb(struct vism_home *h, u64 token);

/**
 * vism_find_dmb() - find one of a peer's DMBs
 * @h:		its home
 * @token:	the DMB's
 * @bytes:	size that it is said to have
 * @region:	size of a region
 * @p:		receives where it lies, within a region
 *
 * Return: false if there is no such DMB, or none that could be.
 */
bool vism_find_dmb(const struct vism_home *h, u64 token, u32 bytes, u64 region,
		   struct vism_place *p);

/**
 * vism_mark() - say that a DMB has been written to
 * @h:		home of its owner
 * @number:	of the DMB, below VISM_DMBS
 */
void vism_mark(struct vism_home *h, u32 number);

/**
 * vism_take_summary() - which words of our dirty bitmap have bits
 * @h:	ours
 *
 * Return: a bit for each word.
 */
u64 vism_take_summary(struct vism_home *h);

/**
 * vism_take_dirty() - which DMBs of a word have been written to
 * @h:		ours
 * @word:	below VISM_WORDS
 *
 * Return: a bit for each.
 */
u64 vism_take_dirty(struct vism_home *h, u32 word);

#endif /* SMC_VISM_HOME_H */
