/* SPDX-License-Identifier: GPL-2.0 */
/* Reproducible pseudo-random numbers from a seed (splitmix64). */
#ifndef SMC_TEST_RANDOM_H
#define SMC_TEST_RANDOM_H

#include <stdint.h>

static inline uint32_t random_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (z ^ (z >> 31)) >> 32;
}

static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
	return (uint64_t)random_next(state) * n >> 32;
}

#endif
