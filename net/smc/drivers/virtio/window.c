// SPDX-License-Identifier: GPL-2.0
/* The window of a device, and the answers of the device, see window.h. */
#include "window.h"
#ifdef __KERNEL__
#include <linux/unaligned.h>
#else
static u64 get_unaligned_le64(const u8 *p)
{
	u64 value;

	memcpy(&value, p, sizeof(value));
	return le64toh(value);
}
#endif

const char *vism_window_measure(struct vism_window *w, u32 id, u64 len, u64 size)
{
	u64 n;

	if (id != VISM_ID_OFFSET && id != VISM_ID_TOKEN)
		return "its form is not supported";
	if (size < VISM_REGION_MIN || size > VISM_REGION_MAX || size & (size - 1))
		return "the size of its regions is not supported";
	n = len / size;
	/* Minimum: a home and a data region of ours, and the same of one peer. */
	if (n < 4)
		return "its window is too small";
	memset(w, 0, sizeof(*w));
	w->id = id;
	w->size = size;
	w->n = n < 65536 ? n : 65536;
	w->count[VISM_FREE] = w->n;
	return NULL;
}

u32 vism_request_len(u32 id, u8 class)
{
	return VISM_HEADER_LEN + (id == VISM_ID_TOKEN && class == VISM_ATTACH ? 16 : 8);
}

u32 vism_answer_len(u32 id, u8 class)
{
	bool areas = id == VISM_ID_TOKEN;

	switch (class) {
	case VISM_ALLOC:
		return 1 + (areas ? 32 : 16);
	case VISM_ATTACH:
		return 1 + (areas ? 24 : 8);
	}
	return 1;
}

int vism_judge(const struct vism_window *w, u8 class, const u8 *bytes, u32 len,
	       struct vism_answer *a)
{
	const u8 *p = bytes + 1;

	a->token = 0;
	a->offset = 0;
	if (!len)
		return -EPROTO;
	if (bytes[0])
		return -EIO;
	if (len < vism_answer_len(w->id, class))
		return -EPROTO;
	if (class != VISM_ALLOC && class != VISM_ATTACH)
		return 0;
	if (class == VISM_ALLOC) {
		a->token = get_unaligned_le64(p);
		p += 8;
		if (!a->token)
			return -EPROTO;
	}
	if (w->id == VISM_ID_OFFSET) {
		a->offset = get_unaligned_le64(p);
		return 0;
	}
	a->offset = get_unaligned_le64(p + 8);
	/* We asked for a single area with the size of a region. */
	return get_unaligned_le64(p) == 1 && get_unaligned_le64(p + 16) == w->size ? 0 : -EPROTO;
}

int vism_take(struct vism_window *w, enum vism_use use, u64 token, u64 boot, u64 offset)
{
	u64 index = offset / w->size;
	struct vism_region *r;

	if (offset % w->size)
		return -EPROTO;
	if (index >= w->n) {
		/* VISM_ID_OFFSET counts offsets up forever, even beyond the window. */
		w->full = true;
		return w->id == VISM_ID_OFFSET ? -ENOSPC : -EPROTO;
	}
	r = &w->regions[index];
	if (r->use != VISM_FREE)
		return -EPROTO;
	r->token = token;
	r->boot = boot;
	r->refs = 0;
	r->idle = 0;
	r->use = use;
	w->count[VISM_FREE]--;
	w->count[use]++;
	if (index >= w->high)
		w->high = index + 1;
	return index;
}

void vism_give(struct vism_window *w, u32 index)
{
	struct vism_region *r = &w->regions[index];

	w->count[r->use]--;
	w->count[VISM_FREE]++;
	r->use = VISM_FREE;
	while (w->high && w->regions[w->high - 1].use == VISM_FREE)
		w->high--;
}

int vism_find(const struct vism_window *w, enum vism_use use, u64 token, u32 from)
{
	u32 i;

	for (i = from; i < w->high; i++)
		if (w->regions[i].use == use && w->regions[i].token == token)
			return i;
	return -ENOENT;
}

u32 vism_count_of(const struct vism_window *w, u64 boot)
{
	u32 i, n = 0;

	for (i = 0; i < w->high; i++)
		n += w->regions[i].use == VISM_ATTACHED && w->regions[i].boot == boot;
	return n;
}

u32 vism_idle(struct vism_region *r)
{
	if (vism_region_used(r))
		r->idle = 0;
	else if (r->idle < 0xffff)
		r->idle++;
	return r->idle;
}

int vism_fit(u64 used, u32 n, u32 from)
{
	u32 i, at;

	/* Try each place once, in order, starting with the first one at or behind @from. */
	for (i = 0; i < VISM_GRANULES; i += n) {
		at = ((from + n - 1) / n * n + i) % VISM_GRANULES;
		if (!(used & vism_bits(at, n)))
			return at;
	}
	return -ENOSPC;
}
