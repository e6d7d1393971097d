// SPDX-License-Identifier: GPL-2.0
/*
 * virtio-ism: a device with arbitrary answers, and a peer with an arbitrary home.  What is accepted
 * must lie within the window and within a region, no two regions may overlap, and nothing else may
 * be touched.
 */
#include <stdio.h>
#include <stdlib.h>

#include "home.h"
#include "window.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REGION	VISM_REGION_MIN
#define N	8
#define COMMANDS 12

/**
 * struct command - a request, and the device's answer to it
 * @class:	class of the command
 * @len:	length that the device reports
 * @index:	bit 7: a correct answer, with this place in the low bits
 * @answer:	otherwise: the bytes of the answer
 */
struct command {
	u8	class;
	u8	len;
	u8	index;
	u8	answer[VISM_ANSWER_MAX];
};

/**
 * struct input - input from the fuzzer
 * @form:	bit 0: form of the device
 * @honest:	what is correct: bit 0: head, bit 1: token of the entry, bit 2: its size
 * @head:	head of the home
 * @beat:	heartbeat, twice
 * @room:	room of the home
 * @entry:	directory entry of the DMB
 * @token:	the token to look up
 * @bytes:	size of the DMB
 * @summary:	summary of our own home
 * @dirty:	one word of our own dirty bitmap
 * @commands:	executed one after the other
 */
struct input {
	u8		form;
	u8		honest;
	struct vism_head head;
	u64		beat[2];
	u64		room;
	struct vism_entry entry;
	u64		token;
	u32		bytes;
	u64		summary;
	u64		dirty;
	struct command	commands[COMMANDS];
};

static void fail(const char *complaint)
{
	fprintf(stderr, "%s\n", complaint);
	abort();
}

static void put64(u8 *p, u64 value)
{
	value = htole64(value);
	memcpy(p, &value, sizeof(value));
}

/* The answer of a correct device. */
static void good(struct command *c, u32 id)
{
	u8 *p = c->answer;

	*p++ = 0;
	if (c->class == VISM_ALLOC) {
		put64(p, c->index);
		p += 8;
	}
	if (id == VISM_ID_TOKEN) {
		put64(p, 1);
		put64(p + 16, REGION);
		p += 8;
	}
	put64(p, (c->index & 15) * (u64)REGION);
	c->len = vism_answer_len(id, c->class);
}

static u32 count_used(const struct vism_window *w)
{
	u32 i, n = 0;

	for (i = 0; i < w->n; i++) {
		n += w->regions[i].use != VISM_FREE;
		if (w->regions[i].use != VISM_FREE && i >= w->high)
			fail("a region beyond the last one");
	}
	return n;
}

static void play(struct vism_window *w, struct command *c)
{
	u32 before = count_used(w);
	struct vism_answer a;
	int rc;

	c->class %= 3;
	if (c->index & 128)
		good(c, w->id);
	rc = vism_judge(w, c->class, c->answer, c->len, &a);
	if (rc)
		return;
	if (c->len < vism_answer_len(w->id, c->class) || c->answer[0])
		fail("accepted although it is not an answer");
	if (c->class == VISM_DETACH) {
		if (w->regions[c->index % N].use != VISM_FREE)
			vism_give(w, c->index % N);
		return;
	}
	rc = vism_take(w, c->class == VISM_ALLOC ? VISM_OWN : VISM_ATTACHED, a.token, c->index,
		       a.offset);
	if (rc >= (int)N || (rc >= 0 && (u64)rc * REGION != a.offset))
		fail("a region outside of the window");
	if (count_used(w) != before + (rc >= 0))
		fail("two regions in one place");
	if (rc >= 0 && vism_find(w, w->regions[rc].use, a.token, 0) < 0)
		fail("a region in use is not found");
}

static void device(struct input *in)
{
	struct vism_window w;
	u32 i;

	if (vism_window_measure(&w, in->form & 1 ? VISM_ID_TOKEN : VISM_ID_OFFSET, (u64)N * REGION,
				REGION))
		fail("a valid window is refused");
	/* Exactly this size, so that ASan detects any access beyond it. */
	w.regions = calloc(N, sizeof(*w.regions));
	for (i = 0; i < COMMANDS; i++)
		play(&w, &in->commands[i]);
	free(w.regions);
}

static void home(struct input *in)
{
	static struct vism_home room, *h = &room;
	struct vism_watch watch = { 0 };
	struct vism_place p;
	u64 summary;

	/* Only the page before the directory and one entry are ever written, so clear only
	 * these.
	 */
	memset(h, 0, VISM_PAGE);
	h->head = in->head;
	if (in->honest & 1)
		vism_open(&h->head, VISM_HOME, 42);
	h->beat = in->beat[0];
	h->room = in->room;
	if (in->honest & 2)
		in->entry.token = in->token;
	if (in->honest & 4)
		in->entry.where = htole64((le64toh(in->entry.where) & 0xffffffff) |
					  (u64)in->bytes << 32);
	h->dmb[vism_token_number(in->token)] = in->entry;
	if (vism_look(h, 42, &watch, 1) == VISM_ALIVE && !vism_is(&h->head, VISM_HOME, 42))
		fail("an unknown peer is alive");
	h->beat = in->beat[1];
	vism_look(h, 42, &watch, 1 + VISM_DEAD_MS);
	if (vism_room(h, 5) > 5)
		fail("more room than exists");
	if (vism_find_dmb(h, in->token, in->bytes, REGION, &p) &&
	    (!in->bytes || p.offset < VISM_DMB_MIN || (u64)p.offset + in->bytes > REGION))
		fail("memory outside of a DMB");
	/* The peer writes into our own home, too. */
	h->summary = in->summary;
	h->dirty[VISM_WORDS - 1] = in->dirty;
	vism_mark(h, VISM_DMBS - 1);
	for (summary = vism_take_summary(h); summary; summary &= summary - 1)
		vism_take_dirty(h, __builtin_ctzll(summary));
	if (h->dirty[VISM_WORDS - 1])
		fail("a signal was lost");
	memset(&h->dmb[vism_token_number(in->token)], 0, sizeof(*h->dmb));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { 0 };
	u64 used;
	int at;

	memcpy(&in, data, size < sizeof(in) ? size : sizeof(in));
	used = in.dirty;
	at = vism_fit(used, 1 << in.form % 6, in.honest % VISM_GRANULES);
	if (at >= 0 && (used & vism_bits(at, 1 << in.form % 6)))
		fail("granules in use given out again");
	device(&in);
	home(&in);
	return 0;
}
