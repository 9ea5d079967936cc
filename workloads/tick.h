/* SPDX-License-Identifier: MIT */
/*
 * The clock of the engine: the time stamp counter where the kernel trusts it too (constant, nonstop, clocksource tsc),
 * calibrated against CLOCK_MONOTONIC_RAW; else clock_gettime.
 */
#ifndef WORKLOADS_TICK_H
#define WORKLOADS_TICK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

struct tick_pair {
	uint64_t tick, raw_ns;
};

struct tick {
	bool tsc;
	uint64_t mult; /* ns = ticks * mult / 2^32 */
	struct tick_pair first; /* when the clock was opened */
};

/* Takes about 10 ms for the first calibration. */
void tick_open(struct tick *c);
/* Both clocks at (nearly) the same moment. */
struct tick_pair tick_sample(const struct tick *c);
/* Better by the longer base since tick_open(). */
void tick_refine(struct tick *c);
/* How far the counter ran off its calibration since @from, in parts per million; 0 when too little time went by to tell. */
double tick_drift_ppm(const struct tick *c, struct tick_pair from, struct tick_pair to);
/* From now on clock_gettime. Only while nothing is timed. */
void tick_distrust(struct tick *c);

static inline uint64_t tick_gettime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t tick_now(bool tsc)
{
#if defined(__x86_64__)
	if (tsc)
		return __rdtsc();
#endif
	return tick_gettime_ns();
}

static inline uint64_t tick_to_ns(uint64_t ticks, uint64_t mult)
{
	return (uint64_t)(((unsigned __int128)ticks * mult) >> 32);
}

/* Rounded up, so that tick_to_ns() of it is no less. Saturates. */
uint64_t tick_from_ns(const struct tick *c, uint64_t ns);

#endif
