// SPDX-License-Identifier: GPL-2.0
/*
 * ism-peers FILE
 *
 * Adds participants to a region of ivshmem without further machines.  Each has a slot and a
 * heartbeat as in Documentation/ism-ivshmem.md, but no connections.  Each command is a line, and is
 * answered with a line:
 *
 *	join ID			claims a slot for the peer of that id: "slot N", or "none"
 *	leave ID		returns the slot in order: "left", or "lost" if another peer has it
 *	die ID			stops the heartbeat without notice: "dead"
 *	bury ID			releases the slot of a dead peer, as the server does when a machine
 *				has ended: "buried"
 *	look			"N slots, M taken, R ready"
 *	beats N			answers "beats" after N seconds
 *	scribble WHERE ID N	for N seconds writes random words, then "scribbled W words".  WHERE:
 *		own		all words of that peer's slot except the owner word
 *		marks		signals without a cause for all other slots: bits of summary and
 *				dirty bitmap are set, and armed.  Clearing bits would keep others
 *				from communicating, as the page says
 *		directory	all words of all other slots
 *		all		everything behind the header except that slot
 */
#include <endian.h>
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "region.h"

#define IDS	64
#define BATCH	256	/* words written at a time */

struct peer {
	uint64_t owner;		/* 0: does not take part */
	unsigned int slot, ready_at;
	bool beats, ready;
};

static struct region region;
static struct peer peers[IDS];
static unsigned int second = 1;	/* 0 means never */
static uint64_t state = 88172645463325252ull;

/* A random generator with a fixed seed */
static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static bool owns(const struct peer *p)
{
	return p->owner && region_load(&region, p->slot, OWNER) == p->owner;
}

static void tick(void)
{
	struct peer *p;

	second++;
	for (p = peers; p < peers + IDS; p++) {
		if (!p->beats || !owns(p))
			continue;
		region_store(&region, p->slot, HEARTBEAT,
			     region_load(&region, p->slot, HEARTBEAT) + 1);
		if (!p->ready && second >= p->ready_at) {
			region_store(&region, p->slot, BOOT, region_nonce());
			p->ready = true;
		}
	}
}

static void join(unsigned int id)
{
	struct peer *p = &peers[id];
	bool used;
	int slot = region_claim(&region, id, &p->owner, &used);

	if (slot < 0) {
		p->owner = 0;
		puts("none");
		return;
	}
	p->slot = slot;
	p->beats = true;
	/* Whole seconds are counted, and the current one may be nearly over. */
	p->ready_at = second + (used ? REST_SECONDS + 1 : 0);
	p->ready = !used;
	region_begin(&region, slot);
	if (p->ready)
		region_store(&region, slot, BOOT, region_nonce());
	printf("slot %d\n", slot);
}

static void leave(struct peer *p)
{
	bool mine = owns(p);

	if (mine) {
		region_store(&region, p->slot, BOOT, 0);
		region_swap(&region, p->slot, p->owner, 0);
	}
	memset(p, 0, sizeof(*p));
	puts(mine ? "left" : "lost");
}

static void show(void)
{
	unsigned int i, taken = 0, ready = 0, slots = region_slots(&region);

	for (i = 0; i < slots; i++) {
		taken += region_load(&region, i, OWNER) != 0;
		ready += region_load(&region, i, OWNER) && region_load(&region, i, BOOT);
	}
	printf("%u slots, %u taken, %u ready\n", slots, taken, ready);
}

/* ---- forbidden behaviour ---- */

static void scribble_word(uint64_t offset)
{
	uint64_t *word = (uint64_t *)(region.memory + offset);

	/* Random words, and special values */
	__atomic_store_n(word, draw() % 4 ? draw() : draw() % 2 ? ~0ull : 0, __ATOMIC_RELAXED);
}

/* Returns the offset of another slot. */
static uint64_t other_slot(unsigned int slot)
{
	unsigned int slots = region_slots(&region);
	unsigned int other = (slot + 1 + draw() % (slots - 1)) % slots;

	return (uint64_t)BLOCK * (1 + other);
}

static void mark(uint64_t slot)
{
	static const unsigned int words[] = { ARMED, SUMMARY };
	unsigned int n = draw() % (2 + DIRTY_WORDS);
	unsigned int offset = n < 2 ? words[n] : DIRTY + 8 * (n - 2);
	uint64_t *word = (uint64_t *)(region.memory + slot + offset);

	if (offset == ARMED)
		__atomic_store_n(word, htole64(1), __ATOMIC_RELAXED);
	else
		__atomic_fetch_or(word, draw(), __ATOMIC_RELAXED);
}

static void scribble(const char *what, unsigned int slot)
{
	uint64_t shares = (uint64_t)BLOCK * (1 + region_slots(&region));

	if (!strcmp(what, "own"))
		scribble_word((uint64_t)BLOCK * (1 + slot) + 8 + draw() % (BLOCK / 8 - 1) * 8);
	else if (!strcmp(what, "marks"))
		mark(other_slot(slot));
	else if (!strcmp(what, "all") && draw() % 2)
		scribble_word(shares + draw() % ((region.bytes - shares) / 8) * 8);
	else
		scribble_word(other_slot(slot) + draw() % (BLOCK / 8) * 8);
}

/* ---- commands, and the clock ---- */

static long left_ms(const struct timespec *until)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (until->tv_sec - now.tv_sec) * 1000 + (until->tv_nsec - now.tv_nsec) / 1000000;
}

static struct timespec next;

/* Waits for input, if @listens, or for the next second. */
static void wait_a_while(bool listens, long most)
{
	struct pollfd fd = { .fd = listens ? STDIN_FILENO : -1, .events = POLLIN };
	long left = left_ms(&next);

	if (left > 0)
		poll(&fd, 1, left < most ? left : most);
	if (left_ms(&next) > 0)
		return;
	next.tv_sec++;
	tick();
}

static void pass(unsigned int beats)
{
	unsigned int end = second + beats;

	while (second < end)
		wait_a_while(false, 1000);
	puts("beats");
}

static void scribble_for(const char *what, unsigned int id, unsigned int beats)
{
	unsigned int end = second + beats, i;
	uint64_t words = 0;

	while (second < end) {
		for (i = 0; i < BATCH; i++)
			scribble(what, peers[id].slot);
		words += BATCH;
		wait_a_while(false, 1);
	}
	printf("scribbled %llu words\n", (unsigned long long)words);
}

static void obey(const char *line)
{
	unsigned int id = 0, n = 0;
	char what[16];

	if (!region_slots(&region))
		puts("the region is not initialised");
	else if (sscanf(line, "scribble %15s %u %u", what, &id, &n) == 3 && id < IDS &&
		 peers[id].owner)
		scribble_for(what, id, n);
	else if (sscanf(line, "join %u", &id) == 1 && id < IDS && !peers[id].owner)
		join(id);
	else if (sscanf(line, "leave %u", &id) == 1 && id < IDS)
		leave(&peers[id]);
	else if (sscanf(line, "bury %u", &id) == 1 && id < IDS && puts("buried") >= 0)
		region_release(&region, id);
	else if (sscanf(line, "beats %u", &n) == 1)
		pass(n);
	else if (!strcmp(line, "look"))
		show();
	else if (sscanf(line, "die %u", &id) == 1 && id < IDS && puts("dead") >= 0)
		peers[id].beats = false;
	else
		printf("unknown command: %s\n", line);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static char line[256];
	size_t used = 0;
	char c;

	if (argc != 2 || !region_open(&region, argv[1]))
		err(1, "ism-peers: %s", argc == 2 ? argv[1] : "usage: ism-peers FILE");
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };

		wait_a_while(true, 1000);
		while (poll(&fd, 1, 0) == 1) {
			if (read(STDIN_FILENO, &c, 1) != 1)
				return 0;
			if (c == '\n') {
				line[used] = 0;
				used = 0;
				obey(line);
			} else if (used < sizeof(line) - 1) {
				line[used++] = c;
			}
		}
	}
}
