/* SPDX-License-Identifier: MIT */
/* What a sealed cell says of the clock, and of latencies beyond the histogram. */
#include "workloads/engine_seal.c"

#include "tests/test.h"

TEST(U26_a_step_back_of_the_clock_is_told_with_the_cell)
{
	struct engine *e = calloc(1, sizeof *e);
	struct result r = { .clock_back = 1 };

	tick_open(&e->clock);
	e->job_start = tick_sample(&e->clock);
	note_clock(e, &r);
	CHECK_STR(r.note, "the clock stepped back: latency of 1 IOs taken as 0");
	r = (struct result){ .clock_back = 0 };
	note_clock(e, &r);
	CHECK_STR(r.note, "");
	free(e);
}

TEST(U20_what_is_longer_than_the_histogram_is_told)
{
	struct hist *h = hist_new();
	struct result r = { .op[IO_WRITE].service = h };

	hist_add_n(h, 94000000000ull, 10);
	note_overflow(&r);
	CHECK_STR(r.note, "");
	hist_add_n(h, 1ull << HIST_MAX_BITS, 2);
	note_overflow(&r);
	CHECK_STR(r.note, "2 IOs longer than the histogram reaches (78 h)");
	free(h);
}

TEST_MAIN
