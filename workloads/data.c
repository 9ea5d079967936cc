/* SPDX-License-Identifier: MIT */
#include "workloads/data.h"

#define TURN_WORDS 16u

void data_fill(void *buf, size_t bytes, uint64_t seed)
{
	uint64_t *p = buf;

	for (size_t i = 0; i < bytes / 8; i++)
		p[i] = rng_split(&seed);
}

/* A known number of words a turn, so that the compiler uses whatever vector unit there is. */
__attribute__((target_clones("avx2", "default"))) static void xor_turns(uint64_t *p, size_t turns,
									uint64_t mask)
{
	for (size_t i = 0; i < turns; i++, p += TURN_WORDS)
		for (unsigned k = 0; k < TURN_WORDS; k++)
			p[k] ^= mask;
}

uint64_t data_renew(uint64_t addr, uint32_t bytes, uint64_t state)
{
	uint64_t *p = (uint64_t *)(uintptr_t)addr, mask = rng_split(&state);
	size_t turns = bytes / (8 * TURN_WORDS);

	xor_turns(p, turns, mask);
	for (size_t i = turns * TURN_WORDS; i < bytes / 8; i++)
		p[i] ^= mask;
	return state;
}
