/* SPDX-License-Identifier: MIT */
#include "tests/test.h"
#include "workloads/tick.h"

TEST(ticks_and_ns)
{
	struct tick c = { .tsc = true, .mult = (uint64_t)((1ull << 32) / 2.1) };

	for (uint64_t ns = 1; ns < 1ull << 60; ns = ns * 3 + 1) {
		uint64_t t = tick_from_ns(&c, ns);
		CHECK(tick_to_ns(t, c.mult) >= ns && tick_to_ns(t, c.mult) <= ns + 1);
		CHECK(tick_to_ns(t - 1, c.mult) <= ns);
	}
	CHECK(tick_from_ns(&c, UINT64_MAX) == UINT64_MAX >> 1);
}

TEST(drift_is_seen)
{
	struct tick c = { .tsc = true, .mult = 1ull << 31 }; /* 2 GHz */
	struct tick_pair from = { 1000, 500 };

	CHECK(tick_drift_ppm(&c, from, (struct tick_pair){ 1000 + 2000000000, 500 + 1000000000 }) <
	      1);
	double ppm = tick_drift_ppm(&c, from,
				    (struct tick_pair){ 1000 + 2000200000, 500 + 1000000000 });
	CHECK_NEAR(ppm, 100, 0.01);
	ppm = tick_drift_ppm(&c, from, (struct tick_pair){ 1000 + 1999800000, 500 + 1000000000 });
	CHECK_NEAR(ppm, 100, 0.01);
	CHECK(tick_drift_ppm(&c, from, (struct tick_pair){ 999, 2000000000 }) >
	      50); /* ran backwards */
	CHECK(tick_drift_ppm(&c, from, (struct tick_pair){ 1000 + 4000, 500 + 1000 }) <=
	      0); /* too short */
	c.tsc = false;
	CHECK(tick_drift_ppm(&c, from, (struct tick_pair){ 999, 2000000000 }) <= 0);
}

/* Whatever clock this host gives, it runs with CLOCK_MONOTONIC_RAW. */
TEST(calibrated)
{
	struct tick c;

	tick_open(&c);
	struct tick_pair a = tick_sample(&c);
	struct timespec ts = { 0, 60000000 };
	nanosleep(&ts, NULL);
	struct tick_pair b = tick_sample(&c);
	double ns = (double)tick_to_ns(b.tick - a.tick, c.mult);
	CHECK_NEAR(ns, (double)(b.raw_ns - a.raw_ns), 1e-3);
	tick_distrust(&c);
	CHECK(!c.tsc && c.mult == 1ull << 32);
	CHECK(tick_now(c.tsc) <= tick_gettime_ns());
}

TEST_MAIN
