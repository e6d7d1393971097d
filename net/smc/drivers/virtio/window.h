/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The window of a device, in which regions appear, and the device's answers.
 *
 * Answers are checked before they are used: memory outside the window, or of another region, is
 * never touched.
 *
 * Nothing here depends on the kernel: the same source builds in user space (unit tests, fuzzer).
 */
#ifndef SMC_VISM_WINDOW_H
#define SMC_VISM_WINDOW_H

#include "format.h"

enum vism_use {
	VISM_FREE,
	VISM_OWN,		/* a region that we have allocated */
	VISM_ATTACHED,		/* a region of a peer */
};

/**
 * struct vism_region - a place for a region in the window
 * @token:	the device's token of the region; several places may have the same token
 * @boot:	VISM_ATTACHED: second half of the GID of the peer that it was attached for
 * @refs:	VISM_ATTACHED: reference count, atomic; see vism_region_get()
 * @idle:	VISM_ATTACHED: number of beats without a reference
 * @use:	enum vism_use
 */
struct vism_region {
	u64	token;
	u64	boot;
	u32	refs;
	u16	idle;
	u8	use;
};

/**
 * struct vism_window - the window and its regions
 * @id:		VISM_ID_OFFSET or VISM_ID_TOKEN
 * @size:	size of a region
 * @n:		number of places for regions
 * @high:	all places from this index on are free
 * @count:	number of places by enum vism_use
 * @full:	the device has no more room: do not ask for regions any more
 * @regions:	array of @n places
 */
struct vism_window {
	u32	id;
	u64	size;
	u32	n;
	u32	high;
	u32	count[VISM_ATTACHED + 1];
	bool	full;
	struct vism_region *regions;
};

/**
 * struct vism_answer - decoded answer to a command
 * @token:	ALLOC: token of the region
 * @offset:	offset of the region in the window
 */
struct vism_answer {
	u64	token;
	u64	offset;
};

/**
 * vism_window_measure() - initialise a window
 * @w:		the window; all except @regions is set
 * @id:		VISM_ID_*
 * @len:	size of the window in bytes
 * @size:	size of a region, as the device says
 *
 * Return: NULL, or a message that says what is wrong.
 */
const char *vism_window_measure(struct vism_window *w, u32 id, u64 len, u64 size);

/**
 * vism_request_len() - length of a command
 * @id:		VISM_ID_*
 * @class:	enum vism_command
 *
 * Return: number of bytes of struct vism_request to send.
 */
u32 vism_request_len(u32 id, u8 class);

/**
 * vism_answer_len() - length of the answer to a command
 * @id:		VISM_ID_*
 * @class:	enum vism_command
 *
 * Return: number of bytes, including the status byte.
 */
u32 vism_answer_len(u32 id, u8 class);

/**
 * vism_judge() - decode and check an answer
 * @w:		the window
 * @class:	enum vism_command
 * @bytes:	private copy of the answer, VISM_ANSWER_MAX bytes
 * @len:	length that the device claims to have written
 * @a:		receives the decoded answer
 *
 * Return: 0; -EIO if the device says that the command failed; -EPROTO if the answer is malformed.
 */
int vism_judge(const struct vism_window *w, u8 class, const u8 *bytes, u32 len,
	       struct vism_answer *a);

/**
 * vism_take() - record a region that has appeared in the window
 * @w:		the window
 * @use:	VISM_OWN or VISM_ATTACHED
 * @token:	token of the region
 * @boot:	VISM_ATTACHED: second half of the peer's GID
 * @offset:	offset of the region, as the device says
 *
 * Return: its index; -ENOSPC if it is beyond the window, which means that the window is full;
 * -EPROTO if no region can be there.
 */
int vism_take(struct vism_window *w, enum vism_use use, u64 token, u64 boot, u64 offset);

/**
 * vism_give() - mark the place of a detached region as free
 * @w:		the window
 * @index:	index of the region
 */
void vism_give(struct vism_window *w, u32 index);

/**
 * vism_find() - find a region by its token
 * @w:		the window
 * @use:	VISM_OWN or VISM_ATTACHED
 * @token:	token of the region
 * @from:	index to start at, as several places may have the same token
 *
 * Return: its index or -ENOENT.
 */
int vism_find(const struct vism_window *w, enum vism_use use, u64 token, u32 from);

/**
 * vism_count_of() - count the regions that are attached for a peer
 * @w:		the window
 * @boot:	second half of the peer's GID
 *
 * Return: number of regions.
 */
u32 vism_count_of(const struct vism_window *w, u64 boot);

/**
 * vism_share() - maximum of data regions that we attach for one peer, or assign to one peer
 * @w:	the window
 *
 * Return: number of regions.
 */
static inline u32 vism_share(const struct vism_window *w)
{
	return w->n / 4;
}

/**
 * vism_may_ask() - may we ask the device for another region?
 * @w:		the window
 * @use:	VISM_OWN or VISM_ATTACHED
 *
 * Return: false if the window, or the half of it for @use, is full.
 */
static inline bool vism_may_ask(const struct vism_window *w, enum vism_use use)
{
	return !w->full && w->count[use] < w->n / 2;
}

/**
 * vism_region_get() - get a reference to an attached region
 * @r:	the region
 */
static inline void vism_region_get(struct vism_region *r)
{
	__atomic_fetch_add(&r->refs, 1, __ATOMIC_SEQ_CST);
}

/**
 * vism_region_put() - drop a reference
 * @r:	the region
 */
static inline void vism_region_put(struct vism_region *r)
{
	__atomic_fetch_sub(&r->refs, 1, __ATOMIC_SEQ_CST);
}

/**
 * vism_region_used() - is an attached region in use?
 * @r:	the region
 *
 * Return: true if it has references.
 */
static inline bool vism_region_used(const struct vism_region *r)
{
	return __atomic_load_n(&r->refs, __ATOMIC_SEQ_CST);
}

/**
 * vism_idle() - count the time without use; called once per beat
 * @r:	an attached region
 *
 * Return: number of beats without a reference, 0 if there is one.
 */
u32 vism_idle(struct vism_region *r);

/* ---- granules ---- */

/**
 * vism_granule() - size of a granule
 * @size:	size of a region
 *
 * Return: size in bytes.
 */
static inline u32 vism_granule(u64 size)
{
	u32 granule = size / VISM_GRANULES;

	return granule < VISM_DMB_MIN ? VISM_DMB_MIN : granule;
}

/**
 * vism_fit() - find free granules in a region
 * @used:	bitmap of granules in use; bits of granules that do not exist are set
 * @n:		number of contiguous granules, a power of two up to 64
 * @from:	granule to start the search at, below 64
 *
 * Return: the first granule, a multiple of @n, or -ENOSPC.
 */
int vism_fit(u64 used, u32 n, u32 from);

/**
 * vism_bits() - bitmap of contiguous granules
 * @at:	the first granule
 * @n:	number of granules, 1 to 64 - @at
 *
 * Return: the bitmap.
 */
static inline u64 vism_bits(u32 at, u32 n)
{
	return (~0ull >> (64 - n)) << at;
}

#endif /* SMC_VISM_WINDOW_H */
