/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands and answers of a virtio-ism device, and the format of the memory that participants
 * share.  The latter is described in Documentation/ism-virtio.md.
 *
 * Two forms of the device were published.  They differ in their device id, and in the format of
 * commands and answers: see struct vism_request and vism_judge().
 */
#ifndef SMC_VISM_FORMAT_H
#define SMC_VISM_FORMAT_H

#include "../../wire/wire.h"

/* ---- the device ---- */

#define VISM_ID_OFFSET	43	/* a region is named by its offset in the window, and never freed */
#define VISM_ID_TOKEN	44	/* a region is named by its token, and may have several areas */

#define VISM_SHM_MEMORY	1	/* id of the window in which regions appear */

/**
 * struct vism_config - configuration space of the device
 * @gid:	number of the domain, or 0
 * @devid:	number of the device, or 0
 * @region_size: size of a region, a power of two
 * @notify_size: not used here
 */
struct vism_config {
	__le64	gid;
	__le64	devid;
	__le64	region_size;
	__le64	notify_size;
};

/* Class of a command; the command number within the class is 0. */
enum vism_command {
	VISM_ALLOC	= 0,
	VISM_ATTACH	= 1,
	VISM_DETACH	= 2,
};

/**
 * struct vism_request - a command
 * @class:	enum vism_command
 * @command:	0
 * @payload:	ALLOC: size; ATTACH: token; DETACH: offset or token.  Only ATTACH of VISM_ID_TOKEN
 *		has a second word: permissions, which no device checks
 */
struct vism_request {
	u8	class;
	u8	command;
	__le64	payload[2];
} __packed;

#define VISM_HEADER_LEN	2
#define VISM_READ_WRITE	3	/* permissions in ATTACH */

/*
 * The answer: a status byte, 0 on success, followed by
 *
 *	ALLOC	VISM_ID_OFFSET	token, offset
 *		VISM_ID_TOKEN	token, number of areas, {offset, size} of each
 *	ATTACH	VISM_ID_OFFSET	offset
 *		VISM_ID_TOKEN	number of areas, {offset, size} of each
 */
#define VISM_ANSWER_WORDS	4	/* maximum, as we only ask for one area */
#define VISM_ANSWER_MAX		(1 + 8 * VISM_ANSWER_WORDS)

/* ---- regions ---- */

#define VISM_HOME	0x454d4f482d4d5349ull	/* "ISM-HOME" */
#define VISM_DATA	0x415441442d4d5349ull	/* "ISM-DATA" */
#define VISM_VERSION	2

/**
 * struct vism_head - head of a region
 * @magic:	VISM_HOME: the region is the home of a participant; VISM_DATA: DMBs for one peer
 * @version:	VISM_VERSION
 * @nonce:	random and not 0; 0 if the region is not in use.  The nonce of a home is the second
 *		half of its owner's GID
 */
struct vism_head {
	__le64	magic;
	__le64	version;
	__le64	nonce;
};

/* ---- the home: the first region of a participant, attached by all its peers ---- */

#define VISM_PAGE	4096
#define VISM_DMBS	4096
#define VISM_WORDS	(VISM_DMBS / 64)	/* of the dirty bitmap; one summary bit for each */

/* Period of the heartbeat.  A participant whose heartbeat stands still for VISM_DEAD_MS is dead. */
#define VISM_BEAT_MS	1000
#define VISM_DEAD_MS	10000

/**
 * struct vism_entry - description of a DMB by its owner
 * @token:	SMC-D token of the DMB, 0 if there is none
 * @region:	the device's token of the region that contains the DMB
 * @nonce:	nonce of that region
 * @where:	low half: offset in the region; high half: size of the DMB in bytes
 */
struct vism_entry {
	__le64	token;
	__le64	region;
	__le64	nonce;
	__le64	where;
};

/**
 * struct vism_home - the home of a participant
 * @head:	head.nonce is the second half of the owner's GID, or 0 if the owner is gone
 * @beat:	heartbeat, which the owner increments every VISM_BEAT_MS
 * @room:	how many regions of one peer, besides its home, the owner attaches
 * @summary:	one bit for each word of @dirty that is not 0; set by peers, cleared by the owner
 * @dirty:	one bit for each DMB of the owner that was written to; as @summary
 * @dmb:	DMBs of the owner, by number
 * @loan:	who may write to each DMB: 0: nobody; VISM_ON_OFFER: nobody yet; its token: the peer
 * @pad0:	keeps words that peers write often apart from the cache lines that they only read
 * @pad1:	as @pad0
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
	__le64	loan[VISM_DMBS];
};

static_assert(offsetof(struct vism_home, summary) == 128);
static_assert(offsetof(struct vism_home, dirty) == 512);
static_assert(offsetof(struct vism_home, dmb) == VISM_PAGE);
static_assert(offsetof(struct vism_home, loan) == 33 * VISM_PAGE);

/*
 * Regions are divided into 64 granules, or fewer if these would be smaller than the smallest DMB.
 * The first granule holds the head, so a DMB takes at most half of a region.
 */
#define VISM_DMB_MIN_SHIFT	14
#define VISM_DMB_MIN		16384u
#define VISM_GRANULES		64u
#define VISM_REGION_MIN		0x40000u	/* 256 KiB */
#define VISM_REGION_MAX		0x4000000u	/* 64 MiB */

static_assert(sizeof(struct vism_home) <= VISM_REGION_MIN);

/* Not a token: the DMB may be borrowed. */
#define VISM_ON_OFFER	(~0ull)

/* The token of a DMB: its number and a nonce that is neither 0 nor all ones. */
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
