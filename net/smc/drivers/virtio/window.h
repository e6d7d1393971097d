/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The window of a device, into which it puts regions, and what the device says of it.
 *
 * An answer is judged before it is believed: what does not lie in the window, or lies where
 * something is already, is never touched.
 *
 * Nothing here depends on the kernel: the same source builds in user space (unit tests, fuzzer).
 */
#ifndef SMC_VISM_WINDOW_H
#define SMC_VISM_WINDOW_H

#include "format.h"

enum vism_use {
	VISM_FREE,
	VISM_OWN,		/* a region that we have asked for */
	VISM_ATTACHED,		/* one of a peer */
};

/**
 * struct vism_region - a part of the window
 * @token:	the device's token of what is there; there may be several views of one region
 * @boot:	attached: second half of the GID of the peer that it was attached for
 * @refs:	attached: who uses it, atomic; see vism_region_get()
 * @idle:	attached: for how many beats nobody has
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
 * struct vism_window - the window, and what is where
 * @id:		VISM_ID_OFFSET or VISM_ID_TOKEN
 * @size:	of a region
 * @n:		how many regions fit
 * @high:	all from here on are free
 * @count:	of each use
 * @full:	the device has no room: nothing more is asked for
 * @regions:	@n of them
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
 * struct vism_answer - the answer to a command
 * @token:	ALLOC: of the region
 * @offset:	where it is in the window
 */
struct vism_answer {
	u64	token;
	u64	offset;
};

/**
 * vism_window_measure() - how many regions there may be
 * @w:		receives @id, @size and @n
 * @id:		of the device
 * @len:	of its window
 * @size:	of a region, as the device says
 *
 * Return: NULL, or what is wrong.
 */
const char *vism_window_measure(struct vism_window *w, u32 id, u64 len, u64 size);

/**
 * vism_request_len() - how long a command is
 * @id:		of the device
 * @class:	enum vism_command
 *
 * Return: bytes of struct vism_request.
 */
u32 vism_request_len(u32 id, u8 class);

/**
 * vism_answer_len() - how long its answer is
 * @id:		of the device
 * @class:	enum vism_command
 *
 * Return: bytes, of which the first is the status.
 */
u32 vism_answer_len(u32 id, u8 class);

/**
 * vism_judge() - decode and check an answer
 * @w:		the window
 * @class:	of the command
 * @bytes:	the answer, VISM_ANSWER_MAX bytes, a copy that does not change any more
 * @len:	how many of them the device has written, as it says
 * @a:		receives what it has brought
 *
 * Return: 0; -EIO if the command has failed, and that is all; -EPROTO if that cannot be one.
 */
int vism_judge(const struct vism_window *w, u8 class, const u8 *bytes, u32 len,
	       struct vism_answer *a);

/**
 * vism_take() - a region has appeared in the window
 * @w:		the window
 * @use:	VISM_OWN or VISM_ATTACHED
 * @token:	of the region
 * @boot:	of the peer, if it is one's
 * @offset:	where the device says that it is
 *
 * Return: its index; -ENOSPC if that is beyond the window, and there will be no more; -EPROTO if
 * it cannot be there.
 */
int vism_take(struct vism_window *w, enum vism_use use, u64 token, u64 boot, u64 offset);

/**
 * vism_give() - a region is not there any more
 * @w:		the window
 * @index:	of the region
 */
void vism_give(struct vism_window *w, u32 index);

/**
 * vism_find() - a region that is there
 * @w:		the window
 * @use:	VISM_OWN or VISM_ATTACHED
 * @token:	of the region
 * @from:	index from which on to look, as there may be several views of it
 *
 * Return: its index or -ENOENT.
 */
int vism_find(const struct vism_window *w, enum vism_use use, u64 token, u32 from);

/**
 * vism_count_of() - how many regions a peer has made us attach
 * @w:		the window
 * @boot:	second half of the peer's GID
 *
 * Return: the number.
 */
u32 vism_count_of(const struct vism_window *w, u64 boot);

/**
 * vism_share() - how many regions one peer may make us attach, beside its home, or we give it
 * @w:	the window
 *
 * Return: the number.
 */
static inline u32 vism_share(const struct vism_window *w)
{
	return w->n / 4;
}

/**
 * vism_may_ask() - may there be one more
 * @w:		the window
 * @use:	for that
 *
 * Return: false if the window is full, or the half of it for that use is.
 */
static inline bool vism_may_ask(const struct vism_window *w, enum vism_use use)
{
	return !w->full && w->count[use] < w->n / 2;
}

/**
 * vism_region_get() - somebody uses an attached region
 * @r:	the region
 */
static inline void vism_region_get(struct vism_region *r)
{
	__atomic_fetch_add(&r->refs, 1, __ATOMIC_SEQ_CST);
}

/**
 * vism_region_put() - undo vism_region_get()
 * @r:	the region
 */
static inline void vism_region_put(struct vism_region *r)
{
	__atomic_fetch_sub(&r->refs, 1, __ATOMIC_SEQ_CST);
}

/**
 * vism_region_used() - does anybody use an attached region
 * @r:	the region
 *
 * Return: whether it has references.
 */
static inline bool vism_region_used(const struct vism_region *r)
{
	return __atomic_load_n(&r->refs, __ATOMIC_SEQ_CST);
}

/**
 * vism_idle() - a beat has passed
 * @r:	an attached region
 *
 * Return: for how many of them nobody has used it, 0 if somebody does.
 */
u32 vism_idle(struct vism_region *r);

/* ---- granules ---- */

/**
 * vism_granule() - into what a region is divided
 * @size:	of a region
 *
 * Return: bytes of a granule.
 */
static inline u32 vism_granule(u64 size)
{
	u32 granule = size / VISM_GRANULES;

	return granule < VISM_DMB_MIN ? VISM_DMB_MIN : granule;
}

/**
 * vism_fit() - find room in a region
 * @used:	a bit for each granule that is in use, those that do not exist included
 * @n:		how many are wanted in a row, a power of two up to 64
 * @from:	where to look first, below 64
 *
 * Return: the first one, a multiple of @n, or -ENOSPC.
 */
int vism_fit(u64 used, u32 n, u32 from);

/**
 * vism_bits() - granules in a row
 * @at:	the first one
 * @n:	how many, 1 to 64 - @at
 *
 * Return: a bit for each.
 */
static inline u64 vism_bits(u32 at, u32 n)
{
	return (~0ull >> (64 - n)) << at;
}

#endif /* SMC_VISM_WINDOW_H */
