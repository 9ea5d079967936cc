/* SPDX-License-Identifier: MIT */
/*
 * Log-linear histogram of nanoseconds. Values below 256 have a bucket each; above, every octave has 256
 * buckets, so a bucket is at most 1/256 of its value wide and its middle is within 0.2 % of every value in it.
 * Covers up to 2^48 ns (78 h); what is longer is counted in the last bucket, its exact size kept in max.
 * min, max and sum are exact. Percentiles are nearest rank: the value of the ceil(p*N)-th smallest IO
 * (PTS[GEN-9-PCT]), taken as the middle of its bucket and kept within [min, max].
 */
#ifndef PTS_BASE_HIST_H
#define PTS_BASE_HIST_H

#include <stdbool.h>
#include <stdint.h>

#define HIST_SUB_BITS 8
#define HIST_SUB (1u << HIST_SUB_BITS)
#define HIST_MAX_BITS 48
#define HIST_BUCKETS (HIST_SUB * (HIST_MAX_BITS - HIST_SUB_BITS + 1))

struct hist {
	uint64_t n; /* IOs counted; always equals the sum of count[] */
	uint64_t min, max; /* exact ns; min is UINT64_MAX while empty */
	unsigned __int128 sum; /* exact ns */
	uint64_t count[HIST_BUCKETS];
};

/* Bucket of a value. For v < 256 the value itself; above, 256 buckets an octave. */
static inline unsigned hist_index(uint64_t v)
{
	if (v < HIST_SUB)
		return (unsigned)v;
	if (v >> HIST_MAX_BITS)
		return HIST_BUCKETS - 1;
	unsigned shift = 63u - (unsigned)__builtin_clzll(v) - HIST_SUB_BITS;
	return (shift << HIST_SUB_BITS) + (unsigned)(v >> shift);
}

void hist_reset(struct hist *h);
struct hist *hist_new(void); /* malloc'ed and empty; free() it; aborts when memory is gone */
void hist_add(struct hist *h, uint64_t ns);
void hist_add_n(struct hist *h, uint64_t ns, uint64_t times);
void hist_merge(struct hist *into, const struct hist *h);
/* Smallest value of a bucket, and the first value above it (low of the next one). */
uint64_t hist_low(unsigned index);
uint64_t hist_high(unsigned index);

/* Percentiles are named by parts per million, so that ranks are exact: 990000 = 99 %, 999990 = five nines. */
#define P50 500000u
#define P99 990000u
#define P999 999000u
#define P9999 999900u
#define P99999 999990u
#define P999999 999999u
/* False (n/a) when fewer than 1/(1-p) IOs were counted, or none. */
bool hist_percentile(const struct hist *h, uint32_t ppm, uint64_t *ret_ns);
/* IOs ranked above the percentile: N - ceil(p*N). */
uint64_t hist_above(const struct hist *h, uint32_t ppm);
/* IOs in the last bucket when there are some beyond the range; 0 otherwise: then nothing is clipped. */
uint64_t hist_overflow(const struct hist *h);
double hist_mean(const struct hist *h); /* exact sum / n; 0 when empty */

/*
 * Text form kept in the database: a JSON array of [low_ns, high_ns, count] of the buckets that are not empty,
 * in rising order. hist_put rebuilds one such bucket; min, max and sum travel beside it.
 */
struct buf;
void hist_json(const struct hist *h, struct buf *out);
/* Counts @count IOs into the bucket that starts at @low_ns. -EINVAL when no bucket starts there. */
int hist_put(struct hist *h, uint64_t low_ns, uint64_t count) __attribute__((warn_unused_result));

#endif
