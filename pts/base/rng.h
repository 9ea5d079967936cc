/* SPDX-License-Identifier: MIT */
/* Seedable uniform generators (PTS[GEN-3.1-RNG]: repeatable, output >= 48 bits, uniform at any capacity). */
#ifndef PTS_BASE_RNG_H
#define PTS_BASE_RNG_H

#include <stdint.h>

static inline uint64_t rng_mix(uint64_t x) /* splitmix64 finaliser: a good hash of a counter */
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static inline uint64_t rng_split(uint64_t *state) /* splitmix64 */
{
	return rng_mix(*state += 0x9e3779b97f4a7c15ull);
}

/* A seed of its own for each (base, a, b, c), e.g. run seed, step, round, thread. */
static inline uint64_t rng_seed(uint64_t base, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t s = base;
	uint64_t x = rng_split(&s) ^ a;
	x = rng_split(&x) ^ b;
	x = rng_split(&x) ^ c;
	return rng_split(&x);
}

struct rng {
	uint64_t s[4]; /* xoshiro256** */
};

static inline void rng_init(struct rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = rng_split(&seed);
}

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s, x = s[1] * 5, out = ((x << 7) | (x >> 57)) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = (s[3] << 45) | (s[3] >> 19);
	return out;
}

/* Uniform in [0, n). The bias is below n / 2^64. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)rng_next(r) * n) >> 64);
}

static inline double rng_unit(struct rng *r) /* [0, 1) */
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

#endif
