/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Format of a memory region that several kernels share.  Documentation/ism-ivshmem.md describes
 * each word.
 *
 *	header (64 KiB)
 *	directory: a struct ivs_slot (64 KiB) for each slot
 *	shares: one for each slot, all of the same size, in units of 16 KiB
 */
#ifndef SMC_IVSHMEM_FORMAT_H
#define SMC_IVSHMEM_FORMAT_H

#include "../../wire/wire.h"

#define IVS_MAGIC	0x314d53492d434d53ull	/* "SMC-ISM1" */
#define IVS_VERSION	2

#define IVS_PAGE	4096
#define IVS_BLOCK	(16 * IVS_PAGE)	/* size of the header, and of each slot of the directory */
#define IVS_UNIT_SHIFT	14
#define IVS_UNIT	16384u

#define IVS_SLOTS_MIN	2
#define IVS_SLOTS_MAX	64
#define IVS_PEERS	65536	/* peer ids are below this */
#define IVS_DMBS	4096
#define IVS_WORDS	(IVS_DMBS / 64)	/* of the dirty bitmap; one summary bit for each */

/* Period of the heartbeat.  An owner whose heartbeat stands still for IVS_DEAD_MS is dead. */
#define IVS_BEAT_MS	1000
#define IVS_DEAD_MS	10000
/*
 * The new owner of a slot that was used before waits for this time before it uses the share.  By
 * then live peers have noticed the new owner, and have said their last words in the old one's DMBs.
 */
#define IVS_REST_MS	3000

/**
 * struct ivs_header - header of the region
 * @magic:	IVS_MAGIC
 * @version:	IVS_VERSION
 * @uuid:	identifies the domain: two random words, neither of them 0
 * @slots:	number of slots
 * @rest:	0
 *
 * Each word is 0 until a participant claims it by writing its value.  It does not change after
 * that.
 */
struct ivs_header {
	__le64	magic;
	__le64	version;
	__le64	uuid[2];
	__le64	slots;
	__le64	rest[IVS_PAGE / 8 - 5];
};

static_assert(sizeof(struct ivs_header) == IVS_PAGE);

/**
 * struct ivs_slot - an entry of the directory
 * @owner:	low half: peer id + 1; high half: random claim; 0: the slot is free
 * @boot:	random nonce, a new one each time the owner starts; 0: the owner is not ready
 * @gid:	GID of the owner
 * @beat:	heartbeat, which the owner increments every IVS_BEAT_MS
 * @armed:	1: the owner sleeps until the doorbell rings; the peer that rings sets it to 0
 * @summary:	one bit for each word of @dirty that is not 0; set by peers, cleared by the owner
 * @dirty:	one bit for each DMB of the owner that was written to; as @summary
 * @nonce:	nonces of the owner's DMBs by number, 24 bits each; 0: there is no such DMB
 * @pad3:	0
 * @loan:	struct ivs_loan by number: the owner's DMBs, and who may write to them
 * @pad0:	keeps words that peers write often apart from the cache lines that they only read
 * @pad1:	as @pad0
 * @pad2:	as @pad0
 * @rest:	0
 */
struct ivs_slot {
	__le64	owner;
	__le64	boot;
	__le64	gid[2];
	__le64	beat;
	__le64	pad0[3];
	__le64	armed;
	__le64	pad1[7];
	__le64	summary;
	__le64	pad2[47];
	__le64	dirty[IVS_WORDS];
	__le64	rest[IVS_PAGE / 8 - 128];
	__le32	nonce[IVS_DMBS];
	__le64	pad3[1536];
	__le64	loan[IVS_DMBS];
};

static_assert(IVS_UNIT == 1 << IVS_UNIT_SHIFT);
static_assert(offsetof(struct ivs_slot, armed) == 64);
static_assert(offsetof(struct ivs_slot, summary) == 128);
static_assert(offsetof(struct ivs_slot, dirty) == 512);
static_assert(offsetof(struct ivs_slot, nonce) == IVS_PAGE);
static_assert(offsetof(struct ivs_slot, loan) == 8 * IVS_PAGE);
static_assert(sizeof(struct ivs_slot) == IVS_BLOCK);

/**
 * struct ivs_token - decoded token of a DMB
 * @slot:	slot of the owner, 8 bits
 * @number:	number of the DMB, 12 bits
 * @unit:	first unit of the DMB in the owner's share, 20 bits
 * @nonce:	24 bits, never 0
 */
struct ivs_token {
	u32	slot;
	u32	number;
	u32	unit;
	u32	nonce;
};

#define IVS_UNITS_MAX	0x100000u
#define IVS_NONCE_MASK	0xffffffu

static inline u64 ivs_token_join(const struct ivs_token *t)
{
	return (u64)t->slot << 56 | (u64)t->number << 44 | (u64)t->unit << 24 | t->nonce;
}

static inline void ivs_token_split(u64 token, struct ivs_token *t)
{
	t->slot = token >> 56;
	t->number = token >> 44 & 0xfff;
	t->unit = token >> 24 & 0xfffff;
	t->nonce = token & IVS_NONCE_MASK;
}

/**
 * struct ivs_loan - decoded loan word of a DMB
 * @unit:	first unit of the DMB, 20 bits
 * @order:	size of the DMB: IVS_UNIT << @order, 4 bits
 * @slot:	slot of the borrower, 6 bits
 * @tag:	low 34 bits of the borrower's boot nonce; 0: nobody has borrowed the DMB
 */
struct ivs_loan {
	u32	unit;
	u32	order;
	u32	slot;
	u64	tag;
};

#define IVS_TAG_MASK	0x3ffffffffull

static inline u64 ivs_loan_join(const struct ivs_loan *l)
{
	return (u64)l->unit << 44 | (u64)l->order << 40 | (u64)l->slot << 34 | l->tag;
}

static inline void ivs_loan_split(u64 word, struct ivs_loan *l)
{
	l->unit = word >> 44;
	l->order = word >> 40 & 15;
	l->slot = word >> 34 & 63;
	l->tag = word & IVS_TAG_MASK;
}

#endif /* SMC_IVSHMEM_FORMAT_H */
