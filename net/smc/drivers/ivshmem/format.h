/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A region of memory that several kernels share, as all of them see it.
 * Documentation/ism-ivshmem.md says what each word means.
 *
 *	header (32 KiB)
 *	directory: a struct ivs_slot (32 KiB) for each slot
 *	shares: one for each slot, all of the same size, in units of 16 KiB
 */
#ifndef SMC_IVSHMEM_FORMAT_H
#define SMC_IVSHMEM_FORMAT_H

#include "../../wire/wire.h"

#define IVS_MAGIC	0x314d53492d434d53ull	/* "SMC-ISM1" */
#define IVS_VERSION	1

#define IVS_PAGE	4096
#define IVS_BLOCK	(8 * IVS_PAGE)	/* of the header, and of each slot of the directory */
#define IVS_UNIT_SHIFT	14
#define IVS_UNIT	16384u

#define IVS_SLOTS_MIN	2
#define IVS_SLOTS_MAX	64
#define IVS_PEERS	65536	/* ids of peers are below this */
#define IVS_DMBS	4096
#define IVS_WORDS	(IVS_DMBS / 64)	/* of the dirty bitmap, each with a bit in the summary */

/* A heartbeat counts up every so often; one that stands still for so long is that of the dead. */
#define IVS_BEAT_MS	1000
#define IVS_DEAD_MS	10000
/*
 * A new owner of a slot that somebody had before waits for so long before it uses the share: by
 * then every peer has seen that the owner is another one, and writes there no more.
 */
#define IVS_REST_MS	3000

/**
 * struct ivs_header - at the beginning of the region
 * @magic:	IVS_MAGIC
 * @version:	IVS_VERSION
 * @uuid:	of the domain, two random words, neither of them 0
 * @slots:	how many
 * @rest:	0
 *
 * Each word is 0 until somebody claims it with a value of its own, and does not change any more.
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
 * @owner:	peer id + 1 in the low half, a random claim in the high one; 0: nobody
 * @boot:	random, another one whenever the owner begins anew; 0: it is not ready
 * @gid:	its GID
 * @beat:	the owner counts it up every IVS_BEAT_MS
 * @armed:	1: the owner sleeps until the doorbell rings; a peer that rings sets it to 0
 * @summary:	a bit for each word of @dirty that is not 0
 * @dirty:	a bit for each DMB of the owner that a peer has written to
 * @nonce:	of each DMB of the owner, 24 bits; 0: there is no such DMB
 * @pad0:	keeps what peers write often off the lines of what they only read
 * @pad1:	the same
 * @pad2:	the same
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
};

static_assert(IVS_UNIT == 1 << IVS_UNIT_SHIFT);
static_assert(offsetof(struct ivs_slot, armed) == 64);
static_assert(offsetof(struct ivs_slot, summary) == 128);
static_assert(offsetof(struct ivs_slot, dirty) == 512);
static_assert(offsetof(struct ivs_slot, nonce) == IVS_PAGE);
static_assert(sizeof(struct ivs_slot) <= IVS_BLOCK);

/**
 * struct ivs_token - the four parts of the token of a DMB
 * @slot:	of its owner, 8 bits
 * @number:	of the DMB, 12 bits
 * @unit:	where it begins in the owner's share, 20 bits
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

#endif /* SMC_IVSHMEM_FORMAT_H */
