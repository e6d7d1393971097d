/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a virtio-ism device is told and answers, and what the memory of a participant says to its
 * peers.  Documentation/ism-virtio.md has the latter for people.
 *
 * Two forms of the device were published.  They differ in their number, and in what commands and
 * answers look like; see struct vism_request and vism_judge().
 */
#ifndef SMC_VISM_FORMAT_H
#define SMC_VISM_FORMAT_H

#include "../../wire/wire.h"

/* ---- the device ---- */

#define VISM_ID_OFFSET	43	/* names a region by its offset in the window; frees none */
#define VISM_ID_TOKEN	44	/* names it by its token; a region may have several areas */

#define VISM_SHM_MEMORY	1	/* the window in which regions appear */

/**
 * struct vism_config - the device's configuration space
 * @gid:	of the domain, or 0
 * @devid:	of the device, or 0
 * @region_size: of a region, a power of two
 * @notify_size: not used here
 */
struct vism_config {
	__le64	gid;
	__le64	devid;
	__le64	region_size;
	__le64	notify_size;
};

/* Class of a command; the command within the class is 0. */
enum vism_command {
	VISM_ALLOC	= 0,
	VISM_ATTACH	= 1,
	VISM_DETACH	= 2,
};

/**
 * struct vism_request - a command
 * @class:	enum vism_command
 * @command:	0
 * @payload:	ALLOC: size; ATTACH: token; DETACH: offset, or token.  The second word is there in
 *		ATTACH of VISM_ID_TOKEN only: permissions, which no device looks at.
 */
struct vism_request {
	u8	class;
	u8	command;
	__le64	payload[2];
} __packed;

#define VISM_HEADER_LEN	2
#define VISM_READ_WRITE	3	/* rights in ATTACH */

/*
 * The answer: a byte of status, 0 for success; then
 *
 *	ALLOC	VISM_ID_OFFSET	token, offset
 *		VISM_ID_TOKEN	token, number of areas, {offset, size} of each
 *	ATTACH	VISM_ID_OFFSET	offset
 *		VISM_ID_TOKEN	number of areas, {offset, size} of each
 */
#define VISM_ANSWER_WORDS	4	/* the longest that is asked for: one area */
#define VISM_ANSWER_MAX		(1 + 8 * VISM_ANSWER_WORDS)

/* ---- regions ---- */

#define VISM_HOME	0x454d4f482d4d5349ull	/* "ISM-HOME" */
#define VISM_DATA	0x415441442d4d5349ull	/* "ISM-DATA" */
#define VISM_VERSION	1

/**
 * struct vism_head - how each region begins
 * @magic:	VISM_HOME: what a participant says to all; VISM_DATA: its DMBs for one peer
 * @version:	VISM_VERSION
 * @nonce:	random, of this region, not 0; 0: it is not in use.  That of a home is the second
 *		half of its owner's GID.
 */
struct vism_head {
	__le64	magic;
	__le64	version;
	__le64	nonce;
};

/* ---- the home: the first region of a participant, which all its peers attach ---- */

#define VISM_PAGE	4096
#define VISM_DMBS	4096
#define VISM_WORDS	(VISM_DMBS / 64)	/* of the dirty bitmap, a bit of the summary each */

/* A heartbeat counts up every so often; one that stands still for so long is that of the dead. */
#define VISM_BEAT_MS	1000
#define VISM_DEAD_MS	10000

/**
 * struct vism_entry - a DMB, as its owner describes it
 * @token:	of SMC-D, 0: there is none
 * @region:	the device's token of the region that it lies in
 * @nonce:	of that region
 * @where:	offset in the region in the low half, bytes of the DMB in the high one
 */
struct vism_entry {
	__le64	token;
	__le64	region;
	__le64	nonce;
	__le64	where;
};

/**
 * struct vism_home - the words of a participant, and those of its peers to it
 * @head:	its nonce is the second half of the owner's GID; 0: the owner is not there
 * @beat:	the owner counts it up every VISM_BEAT_MS
 * @room:	how many regions of one peer, beside its home, the owner attaches
 * @summary:	a bit for each word of @dirty that is not 0
 * @dirty:	a bit for each DMB of the owner that a peer has written to
 * @dmb:	of the owner, by number
 * @pad0:	keeps what peers write often off the lines of what they only read
 * @pad1:	the same
 * @rest:	0
 */
struct vism_home {
	struct vism_head head;
	__le64	beat;
	__le64	room;
	__le64	pad0[11];
	__le64	summary;
	__le64	pad1[47];
	__le64	dirty[VISM_WORDS];
	__le64	rest[VISM_PAGE / 8 - 128];
	struct vism_entry dmb[VISM_DMBS];
};

static_assert(offsetof(struct vism_home, summary) == 128);
static_assert(offsetof(struct vism_home, dirty) == 512);
static_assert(offsetof(struct vism_home, dmb) == VISM_PAGE);

/*
 * Regions are divided into 64 granules, fewer where these would be smaller than the smallest DMB.
 * The first one holds the head, so a DMB has half of a region at most.
 */
#define VISM_DMB_MIN_SHIFT	14
#define VISM_DMB_MIN		16384u
#define VISM_GRANULES		64u
#define VISM_REGION_MIN		0x40000u	/* 256 KiB */
#define VISM_REGION_MAX		0x4000000u	/* 64 MiB */

static_assert(sizeof(struct vism_home) <= VISM_REGION_MIN);

/* The token of a DMB: its number, and a nonce that is not 0. */
#define VISM_NONCE_BITS	52
#define VISM_NONCE_MASK	((1ull << VISM_NONCE_BITS) - 1)

static inline u64 vism_token_join(u32 number, u64 nonce)
{
	return (u64)number << VISM_NONCE_BITS | nonce;
}

static inline u32 vism_token_number(u64 token)
{
	return token >> VISM_NONCE_BITS;
}

static_assert(1ull << (64 - VISM_NONCE_BITS) == VISM_DMBS);

#endif /* SMC_VISM_FORMAT_H */
