// SPDX-License-Identifier: GPL-2.0
/* Positions in rings of any size. */
#include "../../../../../net/smc/conn/ring.h"
#include "random.h"
#include "tap.h"

#define KIB	1024u
#define MIB	(1024u * KIB)

static u64 state = 1;

static u64 rnd(void)
{
	return (u64)random_next(&state) << 32 | random_next(&state);
}

static const u32 sizes[] = {
	1, 2, 3, 7, 16 * KIB, 16 * KIB - 32, 64 * KIB - 32, 64 * KIB + 1, 512 * MIB, 512 * MIB - 32,
};

/* A count advances, and so does the position, lap after lap. */
static void walk(u32 size)
{
	u64 count = 0, pos = 0, step, laps = 0;
	unsigned int i;

	for (i = 0; i < 200000; i++) {
		step = rnd() % (i % 5 ? size + 1ull : 3ull * size);
		count += step;
		for (pos += step; pos >= size; pos -= size)
			laps++;
		CHECK(smc_ring_at(count, size) == pos, "%llu", (unsigned long long)count);
	}
	CHECK(laps > 1000, "%llu laps", (unsigned long long)laps);
	tap_case("positions in a ring of %u bytes over many laps", size);
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		walk(sizes[i]);
	return tap_done();
}
