/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations on the words of a home, our own or that of a peer.
 *
 * Peers can write to any word of a home at any time.  So the owner reads only those words by which
 * peers communicate with it, reads each of them once, and checks it.  There are no locks in a home.
 *
 * Nothing here depends on the kernel: the same source builds in user space (unit tests, fuzzer).
 */
#ifndef SMC_VISM_HOME_H
#define SMC_VISM_HOME_H

#include "format.h"

/**
 * struct vism_watch - what was last seen of a peer's heartbeat
 * @beat:	last value
 * @moved:	time of its last change in ms, not 0
 */
struct vism_watch {
	u64	beat;
	u64	moved;
};

/**
 * struct vism_place - location of a peer's DMB
 * @region:	the device's token of the region
 * @nonce:	nonce of the region
 * @offset:	offset of the DMB in the region
 */
struct vism_place {
	u64	region;
	u64	nonce;
	u32	offset;
};

/**
 * enum vism_pulse - state of a peer
 * @VISM_ALIVE:	the peer is there
 * @VISM_LEFT:	the peer has ended or its home has changed: it does not write to our DMBs any more
 * @VISM_SILENT: the heartbeat has stopped; if the peer resumes, it may still write to our DMBs
 */
enum vism_pulse {
	VISM_ALIVE,
	VISM_LEFT,
	VISM_SILENT,
};

/**
 * vism_open() - mark a region of ours as in use
 * @head:	its head; the content behind the head must be ready
 * @magic:	VISM_HOME or VISM_DATA
 * @nonce:	nonce of the region, not 0
 */
void vism_open(struct vism_head *head, u64 magic, u64 nonce);

/**
 * vism_close() - mark a region of ours as not in use
 * @head:	its head
 */
void vism_close(struct vism_head *head);

/**
 * vism_is() - is this the region that is expected?
 * @head:	head of the attached region
 * @magic:	expected magic: VISM_HOME or VISM_DATA
 * @nonce:	expected nonce
 *
 * Return: true if it is, and is in use.
 */
bool vism_is(const struct vism_head *head, u64 magic, u64 nonce);

/**
 * vism_home_begin() - initialise a region as our home, without opening it
 * @h:		the region, with any content
 * @room:	how many regions of one peer we attach
 */
void vism_home_begin(struct vism_home *h, u64 room);

/**
 * vism_room() - how many regions of ours a peer can attach
 * @h:		home of the peer
 * @limit:	our own limit
 *
 * Return: the number, at most @limit.
 */
u32 vism_room(const struct vism_home *h, u32 limit);

/**
 * vism_beat() - update the heartbeat
 * @h:		our home
 * @beat:	number of beats so far
 */
void vism_beat(struct vism_home *h, u64 beat);

/**
 * vism_look() - check whether a peer is still there
 * @h:		home of the peer
 * @boot:	second half of its GID
 * @w:		state of the last call, zeroed before the first
 * @now:	current time in ms, not 0
 *
 * Return: state of the peer.
 */
enum vism_pulse vism_look(const struct vism_home *h, u64 boot, struct vism_watch *w, u64 now);

/**
 * vism_set_dmb() - describe a DMB of ours to peers
 * @h:		our home
 * @token:	token of the DMB
 * @p:		location of the DMB
 * @bytes:	size of the DMB
 */
void vism_set_dmb(struct vism_home *h, u64 token, const struct vism_place *p, u32 bytes);

/**
 * vism_clear_dmb() - clear the description and the dirty bit of a DMB of ours
 * @h:		our home
 * @token:	token of the DMB
 */
void vism_clear_dmb(struct vism_home *h, u64 token);

/**
 * vism_find_dmb() - find one of a peer's DMBs
 * @h:		home of the peer
 * @token:	token of the DMB
 * @bytes:	expected size of the DMB
 * @region:	size of a region
 * @p:		receives the location, which is within a region
 *
 * Return: false if there is no such DMB, or if its description is invalid.
 */
bool vism_find_dmb(const struct vism_home *h, u64 token, u32 bytes, u64 region,
		   struct vism_place *p);

/**
 * vism_offer() - let a peer borrow a DMB of ours; nobody else has borrowed it
 * @h:		our home
 * @token:	token of the DMB
 */
void vism_offer(struct vism_home *h, u64 token);

/**
 * vism_borrow() - become the only one that may write to a peer's DMB
 * @h:		home of the peer
 * @token:	token of the DMB
 *
 * Return: false if the peer has taken it back.
 */
bool vism_borrow(struct vism_home *h, u64 token);

/**
 * vism_take_back() - take a DMB of ours back if its borrower cannot write to it any more
 * @h:		our home
 * @token:	token of the DMB
 * @ended:	the borrower has said its last word
 *
 * Return: true if the memory may be used for others.
 */
bool vism_take_back(struct vism_home *h, u64 token, bool ended);

/**
 * vism_mark() - mark a DMB as written to
 * @h:		home of its owner
 * @number:	number of the DMB, below VISM_DMBS
 */
void vism_mark(struct vism_home *h, u32 number);

/**
 * vism_take_summary() - read and clear the summary of our dirty bitmap
 * @h:	our home
 *
 * Return: one bit for each word of the bitmap.
 */
u64 vism_take_summary(struct vism_home *h);

/**
 * vism_take_dirty() - read and clear a word of our dirty bitmap
 * @h:		our home
 * @word:	index of the word, below VISM_WORDS
 *
 * Return: one bit for each DMB that was written to.
 */
u64 vism_take_dirty(struct vism_home *h, u32 word);

#endif /* SMC_VISM_HOME_H */
