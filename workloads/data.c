/* SPDX-License-Identifier: MIT */
#include "workloads/data.h"

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx512f")))
#endif

#define LINE_WORDS 8u /* 64 bytes */
#define TURN_LINES 16u
#define BIG_BYTES 4096u
#define LARGE_BYTES (64u << 10)
#define TURN_WORDS 16u

void data_fill(void *buf, size_t bytes, uint64_t seed)
{
	uint64_t *p = buf;

	for (size_t i = 0; i < bytes / 8; i++)
		p[i] = rng_split(&seed);
}

/* One word of each of 16 lines, an instruction each. */
static inline void xor_turn(uint64_t *p, uint64_t mask)
{
	_Static_assert(TURN_LINES == 16 && LINE_WORDS == 8, "one statement for each line");
	p[0] ^= mask;
	p[8] ^= mask;
	p[16] ^= mask;
	p[24] ^= mask;
	p[32] ^= mask;
	p[40] ^= mask;
	p[48] ^= mask;
	p[56] ^= mask;
	p[64] ^= mask;
	p[72] ^= mask;
	p[80] ^= mask;
	p[88] ^= mask;
	p[96] ^= mask;
	p[104] ^= mask;
	p[112] ^= mask;
	p[120] ^= mask;
}

/* Every word, a known number of them a turn, so that the compiler uses whatever vector unit there is. */
__attribute__((target_clones("avx2", "default"))) static void renew_all(uint64_t *p, uint32_t bytes,
									uint64_t mask)
{
	size_t n = bytes / 8, whole = n / TURN_WORDS * TURN_WORDS;

	for (size_t i = 0; i < whole; i += TURN_WORDS)
		for (unsigned k = 0; k < TURN_WORDS; k++)
			p[i + k] ^= mask;
	for (size_t i = whole; i < n; i++)
		p[i] ^= mask;
}

static inline uint64_t next_mask(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ull;
	unsigned __int128 m = (unsigned __int128)*state * (*state ^ 0xd6e8feb86659fd93ull);

	return (uint64_t)(m >> 64) ^ (uint64_t)m;
}

static uint64_t renew_lines(uint64_t addr, uint32_t bytes, uint64_t state)
{
	uint64_t *p = (uint64_t *)(uintptr_t)addr, mask = next_mask(&state);

	if (bytes % BIG_BYTES || bytes > LARGE_BYTES) {
		renew_all(p, bytes, mask);
		return state;
	}
	uint64_t *end = p + bytes / 8;
	for (p += mask % LINE_WORDS; p < end; p += TURN_LINES * LINE_WORDS)
		xor_turn(p, mask);
	return state;
}

#ifdef WIDE
/* A line; blocks may begin at any word. */
struct wide {
	uint64_t v __attribute__((vector_size(64)));
} __attribute__((packed, aligned(8), may_alias));

#define TURN_WIDE 16u

WIDE static uint64_t renew_wide(uint64_t addr, uint32_t bytes, uint64_t state)
{
	uint64_t mask = next_mask(&state);
	struct wide *p = (struct wide *)(uintptr_t)addr, *end = p + bytes / sizeof *p;

	for (; end - p >= TURN_WIDE; p += TURN_WIDE)
#pragma GCC unroll 16
		for (unsigned i = 0; i < TURN_WIDE; i++)
			p[i].v ^= mask;
	for (; p < end; p++)
		p->v ^= mask;
	uint64_t *word = (uint64_t *)p;
	for (uint32_t i = 0; i < bytes % sizeof *p / 8; i++)
		word[i] ^= mask;
	return state;
}
#endif

const struct data_way *data_way(unsigned i)
{
	static const struct data_way lines = { "lines", false, renew_lines };
#ifdef WIDE
	static const struct data_way wide = { "all", true, renew_wide };
	bool has = __builtin_cpu_supports("avx512f");

	if (has && !i--)
		return &wide;
#endif
	return i ? NULL : &lines;
}
