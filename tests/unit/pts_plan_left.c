/* SPDX-License-Identifier: MIT */
/* What progress says is left: never beyond a loop's time limit, and less as it goes on. */
#include "tests/unit/pts_plan_rig.h"

#define S 1000000000ull

static unsigned index_of(enum opcode op, unsigned n)
{
	return (unsigned)(nth(op, n) - plan.step);
}

static uint64_t most(unsigned step, unsigned round, uint64_t loop_ns)
{
	struct plan_at at = { .step = step, .round = round, .loop_ns = loop_ns };
	uint64_t low, high;

	plan_left(&plan, &at, &low, &high);
	return low <= high ? high : UINT64_MAX;
}

/* wsat --quick: rounds of 1.6 s for at most 20 s, then 2 s. */
TEST(never_beyond_the_time_limit)
{
	unsigned run;

	DO(compile("wsat", false, true, false));
	CHECK_INT(most(0, 0, 0), 22 * S);
	run = index_of(STEP_RUN, 0);
	for (unsigned round = 1; round < 60; round++)
		for (uint64_t at = 0; at <= 21 * S; at += S / 4)
			CHECK_MSG(most(run, round, at) <= (at < 20 * S ? 22 * S - at : 2 * S),
				  "round %u, %.2f s", round, (double)at / S);
	/* rounds that took longer than they should have do not make more of it, nor less than the histogram's time */
	CHECK_INT(most(run, 40, 25 * S), 2 * S);
	CHECK_INT(most(run, 3, 19 * S), 3 * S);
	CHECK_INT(most(index_of(STEP_RUN, 2), 0, 0), 2 * S);
}

/* More rounds fit in the limit than a loop without one is guessed to have. */
TEST(a_long_limit_is_the_most)
{
	CHECK_INT(compile_set("wsat", "hours=24h"), 0);
	CHECK_INT(most(0, 0, 0) / S, (24 * 3600 + 20 * 60));
}

TEST_MAIN
