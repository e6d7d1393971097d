// SPDX-License-Identifier: GPL-2.0
/*
 * A region of ivshmem with lies of a peer in its header and directory, and a token from that peer.
 * A buffer that is handed out must lie within the peer's share, and nothing else may be touched.
 */
#include <stdio.h>
#include <stdlib.h>

#include "order.h"
#include "region.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Exactly the size of the region, so that ASan detects any access beyond it. */
#define LEN	((u64)IVS_BLOCK * 3 + 5 * IVS_UNIT)

/**
 * struct input - input from the fuzzer
 * @header:	words of the header
 * @owner:	words of each slot, up to the heartbeat
 * @armed:	armed word of the first slot
 * @dirty:	words of its bitmap
 * @nonce:	nonce of one of its DMBs
 * @loan:	its loan word
 * @token:	the token to use
 * @offset:	offset in the DMB
 * @bytes:	number of bytes there
 * @honest:	bits for what random data would seldom get right: bit 0: the header, bit 1: the
 *		nonce is the token's, bit 2: the token's slot exists, and its owner is ready
 */
struct input {
	u64	header[5];
	u64	owner[2][5];
	u64	armed;
	u64	dirty[2];
	u32	nonce;
	u32	offset;
	u64	token;
	u64	loan;
	u32	bytes;
	u8	honest;
};

static void fail(const char *complaint)
{
	fprintf(stderr, "%s\n", complaint);
	abort();
}

static void fill(void *mem, const struct input *in)
{
	struct ivs_slot *s = mem + IVS_BLOCK;
	struct ivs_token t;

	memcpy(mem, in->header, sizeof(in->header));
	if (in->honest & 1) {
		((u64 *)mem)[0] = IVS_MAGIC;
		((u64 *)mem)[1] = IVS_VERSION;
		((u64 *)mem)[4] &= 3;
	}
	memcpy(s, in->owner[0], sizeof(in->owner[0]));
	memcpy((void *)s + IVS_BLOCK, in->owner[1], sizeof(in->owner[1]));
	s->armed = in->armed;
	memcpy(s->dirty, in->dirty, sizeof(in->dirty));
	ivs_token_split(in->token, &t);
	if (in->honest & 4) {
		s->owner |= 1;
		s->boot |= 1;
		s->gid[0] |= 1;
	}
	s->nonce[t.number] = in->honest & 2 ? t.nonce : in->nonce;
	s->loan[t.number] = in->loan;
}

static void use(struct ivs_region *r, void *mem, const struct input *in)
{
	struct ivs_watch w[IVS_SLOTS_MAX] = { 0 };
	struct ivs_token t;
	struct ivs_loan l;
	struct ivs_view v;
	u64 owner;
	u32 i;
	u8 *p;
	int slot;

	ivs_token_split(in->token, &t);
	ivs_look(r, t.slot % r->slots, &v);
	p = ivs_judge(r, &v, in->token, in->offset, in->bytes);
	if (p && (p < (u8 *)ivs_share(r, t.slot) ||
		  p + in->bytes > (u8 *)ivs_share(r, t.slot) + (u64)r->units * IVS_UNIT ||
		  p + in->bytes > (u8 *)mem + LEN))
		fail("memory of another peer");
	if (p && ivs_borrow(r, &v, in->token, 1, 7, in->bytes & 1) &&
	    ivs_load(&((struct ivs_slot *)(mem + (u64)IVS_BLOCK * (1 + t.slot)))->loan[t.number]) >> 44 !=
	    t.unit)
		fail("borrowed something else");
	if (p)
		memset(p, 1, in->bytes);
	if (ivs_lent(r, t.slot % r->slots, t.number, &l) && l.unit + (1u << l.order) > r->units)
		fail("a loan beyond the share");
	ivs_take_back(r, t.slot % r->slots, t.number, t.unit, false);
	ivs_mark(r, t.slot % r->slots, t.number);
	for (i = 0; i < r->slots; i++) {
		ivs_peer_of(r, i);
		ivs_observe(r, i, &w[i], 1);
	}
	slot = ivs_claim(r, 3, 1, &owner);
	if (slot < 0)
		return;
	if (!ivs_owns(r, slot, owner))
		fail("not its owner");
	ivs_slot_begin(r, slot, v.gid);
	ivs_mark(r, slot, t.number);
	if (!ivs_arm(r, slot) || ivs_take_summary(r, slot) != 1ull << t.number / 64 ||
	    ivs_take_dirty(r, slot, t.number / 64) != 1ull << t.number % 64)
		fail("a signal was lost");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const u64 uuid[2] = { 1, 2 };
	struct input in = { 0 };
	struct ivs_region r;
	void *mem;

	memcpy(&in, data, size < sizeof(in) ? size : sizeof(in));
	/* In the first slot, within the first units of its share */
	if (in.honest & 4)
		in.token &= 0x00fff00003ffffffull;
	mem = calloc(1, LEN);
	fill(mem, &in);
	if (!ivs_open(&r, mem, LEN, uuid, 2))
		use(&r, mem, &in);
	free(mem);
	return 0;
}
