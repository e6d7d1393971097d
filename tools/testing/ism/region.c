// SPDX-License-Identifier: GPL-2.0
/* The rules of a region of ivshmem, see region.h. */
#include <endian.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "region.h"

#define MAGIC		0x314d53492d434d53ull
#define VERSION_AT	8	/* in the header */
#define VERSION		2
#define SLOTS_AT	32

bool region_open(struct region *r, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return false;
	r->bytes = st.st_size;
	r->memory = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return r->memory != MAP_FAILED;
}

uint64_t random_word(void)
{
	uint64_t word = 0;

	while (!word)
		if (getrandom(&word, sizeof(word), 0) != sizeof(word))
			word = 0;
	return word;
}

static uint64_t load(const struct region *r, uint64_t offset)
{
	return le64toh(__atomic_load_n((uint64_t *)(r->memory + offset), __ATOMIC_ACQUIRE));
}

unsigned int region_slots(const struct region *r)
{
	uint64_t slots = load(r, SLOTS_AT);

	if (load(r, 0) != MAGIC || load(r, VERSION_AT) != VERSION || slots > SLOTS_MOST || (1 + slots) * BLOCK > r->bytes)
		return 0;
	return slots;
}

static uint64_t *word_of(const struct region *r, unsigned int slot, unsigned int offset)
{
	return (uint64_t *)(r->memory + (uint64_t)BLOCK * (1 + slot) + offset);
}

uint64_t region_load(const struct region *r, unsigned int slot, unsigned int offset)
{
	return le64toh(__atomic_load_n(word_of(r, slot, offset), __ATOMIC_ACQUIRE));
}

void region_store(const struct region *r, unsigned int slot, unsigned int offset, uint64_t value)
{
	__atomic_store_n(word_of(r, slot, offset), htole64(value), __ATOMIC_RELEASE);
}

bool region_swap(const struct region *r, unsigned int slot, uint64_t from, uint64_t to)
{
	uint64_t there = htole64(from);

	return __atomic_compare_exchange_n(word_of(r, slot, OWNER), &there, htole64(to), false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

uint64_t region_nonce(void)
{
	uint64_t nonce = 0;

	while (!(nonce & TAG))
		nonce = random_word();
	return nonce;
}

int region_claim(const struct region *r, uint32_t peer, uint64_t *owner, bool *used)
{
	unsigned int i, turn, slots = region_slots(r);

	*owner = random_word() << 32 | (peer + 1);
	/* Our own former slot, then one that no peer has */
	for (turn = 0; turn < 2; turn++) {
		for (i = 0; i < slots; i++) {
			uint64_t there = region_load(r, i, OWNER);
			bool fits = turn == 0 ? (uint32_t)there == peer + 1 :
				    !(uint32_t)there || (uint32_t)there > PEERS_MOST;

			if (fits && region_swap(r, i, there, *owner)) {
				*used = region_load(r, i, HEARTBEAT);
				return i;
			}
		}
	}
	return -1;
}

void region_release(const struct region *r, uint32_t peer)
{
	unsigned int i, slots = region_slots(r);

	for (i = 0; i < slots; i++) {
		if ((uint32_t)region_load(r, i, OWNER) != peer + 1)
			continue;
		region_store(r, i, BOOT, 0);
		region_store(r, i, OWNER, 0);
	}
}

void region_begin(const struct region *r, unsigned int slot)
{
	uint64_t heartbeat = region_load(r, slot, HEARTBEAT) + 1;
	unsigned int i;

	region_store(r, slot, BOOT, 0);
	for (i = 0; i < NONCE_WORDS; i++)
		region_store(r, slot, NONCES + 8 * i, 0);
	/* The loans stay: this program lends nothing, and the next owner has to know of them. */
	region_store(r, slot, ARMED, 0);
	region_store(r, slot, SUMMARY, 0);
	for (i = 0; i < DIRTY_WORDS; i++)
		region_store(r, slot, DIRTY + 8 * i, 0);
	region_store(r, slot, GID, random_word());
	region_store(r, slot, GID + 8, random_word());
	region_store(r, slot, HEARTBEAT, heartbeat ? heartbeat : 1);
}
