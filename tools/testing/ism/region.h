/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A region of ivshmem as described in Documentation/ism-ivshmem.md.  Written from that page alone;
 * no code is shared with the driver.
 */
#ifndef ISM_REGION_H
#define ISM_REGION_H

#include <stdbool.h>
#include <stdint.h>

#define BLOCK		32768		/* size of the header, and of each slot */
#define SLOTS_MOST	64
#define DEAD_SECONDS	10
#define REST_SECONDS	3

/* Offsets within a slot */
#define OWNER		0
#define BOOT		8
#define GID		16		/* two words */
#define HEARTBEAT	32
#define ARMED		64
#define SUMMARY		128
#define DIRTY		512
#define DIRTY_WORDS	64
#define NONCES		4096
#define NONCE_WORDS	2048		/* two nonces each */

struct region {
	uint8_t *memory;
	uint64_t bytes;
};

/* The last observed state of a slot, and when its heartbeat was last seen to move */
struct watched {
	uint64_t owner, heartbeat;
	unsigned int moved;
};

bool region_open(struct region *r, const char *path);
unsigned int region_slots(const struct region *r);	/* 0: not initialised */
uint64_t region_load(const struct region *r, unsigned int slot, unsigned int offset);
void region_store(const struct region *r, unsigned int slot, unsigned int offset, uint64_t value);
bool region_swap(const struct region *r, unsigned int slot, uint64_t from, uint64_t to);
void region_watch(const struct region *r, struct watched *w, unsigned int second);

/* Claims a slot for the peer by the rules; returns it, or -1. @used: another peer had it before. */
int region_claim(const struct region *r, const struct watched *w, unsigned int second,
		 uint32_t peer, uint64_t *owner, bool *used);
/* Initialises a slot for its new owner, before the owner is ready. */
void region_begin(const struct region *r, unsigned int slot);

uint64_t random_word(void);

#endif
