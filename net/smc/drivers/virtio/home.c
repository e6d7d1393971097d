// SPDX-License-Identifier: GPL-2.0
/* Operations on the words of a home, see home.h. */
#include "home.h"
#include "../ivshmem/order.h"

void vism_open(struct vism_head *head, u64 magic, u64 nonce)
{
	ivs_store(&head->magic, magic);
	ivs_store(&head->version, VISM_VERSION);
	/* Last: a peer that sees the nonce also sees the rest. */
	ivs_store(&head->nonce, nonce);
}

void vism_close(struct vism_head *head)
{
	ivs_store(&head->nonce, 0);
}

bool vism_is(const struct vism_head *head, u64 magic, u64 nonce)
{
	return nonce && ivs_load(&head->nonce) == nonce && ivs_load(&head->magic) == magic &&
	       ivs_load(&head->version) == VISM_VERSION;
}

void vism_home_begin(struct vism_home *h, u64 room)
{
	vism_close(&h->head);
	memset(h, 0, sizeof(*h));
	ivs_store(&h->room, room);
}

u32 vism_room(const struct vism_home *h, u32 limit)
{
	u64 room = ivs_load(&h->room);

	return room < limit ? room : limit;
}

void vism_beat(struct vism_home *h, u64 beat)
{
	ivs_store(&h->beat, beat);
}

enum vism_pulse vism_look(const struct vism_home *h, u64 boot, struct vism_watch *w, u64 now)
{
	u64 beat = ivs_load(&h->beat);

	if (!vism_is(&h->head, VISM_HOME, boot))
		return VISM_LEFT;
	if (!w->moved || beat != w->beat) {
		w->beat = beat;
		w->moved = now;
	}
	return now - w->moved >= VISM_DEAD_MS ? VISM_SILENT : VISM_ALIVE;
}

void vism_set_dmb(struct vism_home *h, u64 token, const struct vism_place *p, u32 bytes)
{
	struct vism_entry *e = &h->dmb[vism_token_number(token)];

	ivs_store(&e->region, p->region);
	ivs_store(&e->nonce, p->nonce);
	ivs_store(&e->where, (u64)bytes << 32 | p->offset);
	ivs_store(&e->token, token);
}

void vism_clear_dmb(struct vism_home *h, u64 token)
{
	u32 number = vism_token_number(token);

	ivs_store(&h->dmb[number].token, 0);
	ivs_and(&h->dirty[number / 64], ~(1ull << number % 64));
}

bool vism_find_dmb(const struct vism_home *h, u64 token, u32 bytes, u64 region,
		   struct vism_place *p)
{
	const struct vism_entry *e = &h->dmb[vism_token_number(token)];
	u64 where;

	if (!(token & VISM_NONCE_MASK) || !bytes || ivs_load(&e->token) != token)
		return false;
	p->region = ivs_load(&e->region);
	p->nonce = ivs_load(&e->nonce);
	where = ivs_load(&e->where);
	p->offset = where;
	if (where >> 32 != bytes || p->offset % VISM_DMB_MIN || p->offset < VISM_DMB_MIN ||
	    (u64)p->offset + bytes > region)
		return false;
	/* Check again: the number may belong to another DMB by now. */
	return ivs_load(&e->token) == token;
}

void vism_offer(struct vism_home *h, u64 token)
{
	ivs_store(&h->loan[vism_token_number(token)], VISM_ON_OFFER);
}

bool vism_borrow(struct vism_home *h, u64 token)
{
	u32 number = vism_token_number(token);

	if (ivs_cmpxchg(&h->loan[number], VISM_ON_OFFER, token) != VISM_ON_OFFER)
		return false;
	/* The number may name another DMB by now.  From here on it does not change. */
	if (ivs_load(&h->dmb[number].token) == token)
		return true;
	ivs_cmpxchg(&h->loan[number], token, VISM_ON_OFFER);
	return false;
}

bool vism_take_back(struct vism_home *h, u64 token, bool ended)
{
	__le64 *word = &h->loan[vism_token_number(token)];
	u64 there = ivs_load(word);

	if (there == token && !ended)
		return false;
	/* If the peer borrows the DMB meanwhile, this fails. */
	return ivs_cmpxchg(word, there, 0) == there;
}

void vism_mark(struct vism_home *h, u32 number)
{
	/* The owner that sees the bit also sees all earlier writes. */
	ivs_or(&h->dirty[number / 64], 1ull << number % 64);
	ivs_or(&h->summary, 1ull << number / 64);
}

u64 vism_take_summary(struct vism_home *h)
{
	return ivs_load(&h->summary) ? ivs_xchg(&h->summary, 0) : 0;
}

u64 vism_take_dirty(struct vism_home *h, u32 word)
{
	return ivs_xchg(&h->dirty[word], 0);
}
