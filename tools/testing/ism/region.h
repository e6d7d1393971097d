/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A region of ivshmem as described in Documentation/ism-ivshmem.md.  Written from that page alone;
 * no code is shared with the driver.
 */
#ifndef ISM_REGION_H
#define ISM_REGION_H

#include <stdbool.h>
#include <stdint.h>

#define BLOCK		65536		/* size of the header, and of each slot */
#define SLOTS_MOST	64
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
#define TAG		0x3ffffffffull	/* of a boot nonce, in loans */
#define PEERS_MOST	65536

struct region {
	uint8_t *memory;
	uint64_t bytes;
};

bool region_open(struct region *r, const char *path);
unsigned int region_slots(const struct region *r);	/* 0: not initialised */
uint64_t region_load(const struct region *r, unsigned int slot, unsigned int offset);
void region_store(const struct region *r, unsigned int slot, unsigned int offset, uint64_t value);
bool region_swap(const struct region *r, unsigned int slot, uint64_t from, uint64_t to);

/* Claims a slot for the peer by the rules; returns it, or -1. @used: another peer had it before. */
int region_claim(const struct region *r, uint32_t peer, uint64_t *owner, bool *used);
/* Releases the slots of a machine that has ended, as a server does. */
void region_release(const struct region *r, uint32_t peer);
/* Returns a boot nonce. */
uint64_t region_nonce(void);
/* Initialises a slot for its new owner, before the owner is ready. */
void region_begin(const struct region *r, unsigned int slot);

uint64_t random_word(void);

#endif
