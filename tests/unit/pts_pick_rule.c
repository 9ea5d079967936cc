/* SPDX-License-Identifier: MIT */
/* The choice of operating points alone: the selection vector of spec 14, ceilings, ties. PTS[DIRTH-4.1] to PTS[DIRTH-4.5] */
#include <errno.h>

#include "pts/pick_rule.h"
#include "tests/test.h"

static const struct pick_cell vector[] = {
	{ 1, 1, 1, 10000, 10000, 100000, 10 },	    { 2, 4, 1, 60000, 60000, 130000, 11 },
	{ 4, 8, 1, 105000, 105000, 300000, 12 },    { 8, 16, 1, 199000, 199000, 640000, 13 },
	{ 16, 16, 1, 200000, 200000, 1280000, 14 }, { 32, 32, 1, 201000, 201000, 5090000, 15 },
};

#define N (sizeof vector / sizeof *vector)

static const struct step max_rule = { .rule = PICK_HIGHEST_IOPS,
				      .art_below_ns = 5e6,
				      .tie_pct = 1,
				      .tie_lowest_oio = true,
				      .tie_lowest_tc = true,
				      .else_lowest_art = true };

static int choose(struct step rule, struct pick_choice *ret)
{
	struct pick_cell c[N];
	unsigned at[2] = { (unsigned)rule.threads.k, (unsigned)rule.qd.k };

	memcpy(c, vector, sizeof c);
	return pick_choose(&rule, at, c, N, ret);
}

/* PTS[DIRTH-4.2] */
TEST(max_is_the_lowest_oio_within_one_percent)
{
	struct step strict = max_rule;
	struct pick_choice ch;

	CHECK(!choose(max_rule, &ch));
	CHECK(ch.threads == 8 && ch.qd == 16 && !ch.fallback && ch.step == 13);
	CHECK_STR(ch.reason,
		  "highest IOPS 200000, within 1 % of it the lowest total OIO; of 6 cells, 5 with "
		  "ART < 5 ms");
	strict.tie_pct = 0;
	CHECK(!choose(strict, &ch));
	CHECK(ch.threads == 16 && ch.qd == 16);
}

/* PTS[DIRTH-4.1]: below the ceiling, not at it. */
TEST(the_ceiling_is_below)
{
	struct step rule = max_rule;
	struct pick_choice ch;

	rule.art_below_ns = 5090000;
	CHECK(!choose(rule, &ch));
	CHECK(ch.iops == 199000);
	rule.art_below_ns = 5090001;
	rule.tie_pct = 0;
	CHECK(!choose(rule, &ch));
	CHECK(ch.iops == 201000);
}

/* PTS[DIRTH-4.3] */
TEST(min_is_always_where_it_is_said_to_be)
{
	struct step rule = { .rule = PICK_AT,
			     .threads = { 1, REF_NONE, NULL },
			     .qd = { 1, REF_NONE, NULL } };
	struct pick_choice ch;

	CHECK(!choose(rule, &ch));
	CHECK(ch.iops == 10000);
	CHECK_STR(ch.reason, "always T1Q1");
	rule.qd.k = 3;
	CHECK(choose(rule, &ch) == -ENOENT);
}

/* PTS[DIRTH-4.4] */
TEST(mid_is_nearest_to_the_middle_of_highest_and_lowest)
{
	struct step rule = max_rule;
	struct pick_choice ch;

	rule.rule = PICK_NEAREST_IOPS_MID;
	rule.tie_pct = 0;
	CHECK(!choose(rule, &ch));
	CHECK(ch.threads == 4 && ch.qd == 8);
	CHECK_STR(ch.reason,
		  "IOPS nearest to (200000 + 10000) / 2 = 105000; of 6 cells, 5 with ART < 5 ms");
}

/* PTS[DIRTH-4.5] */
TEST(with_no_cell_below_the_ceiling_the_lowest_art)
{
	struct step rule = max_rule;
	struct pick_choice ch;

	rule.art_below_ns = 1000;
	CHECK(!choose(rule, &ch));
	CHECK(ch.fallback && ch.threads == 1 && ch.qd == 1);
	rule.else_lowest_art = false;
	CHECK(choose(rule, &ch) == -ERANGE);
}

/* 0 fill; 1 loop: 2 pre-write, 3 cell, 4 until; 5 cell; 6 pre-write; 7 maximum; 8 pick */
static struct step steps[] = {
	{ .op = STEP_FILL, .section = 1, .phase = "step" },
	{ .op = STEP_LOOP, .section = 1, .end = 4 },
	{ .op = STEP_RUN, .section = 1, .phase = "irpw" },
	{ .op = STEP_RUN, .section = 1, .phase = "round" },
	{ .op = STEP_UNTIL, .section = 1 },
	{ .op = STEP_RUN, .section = 1, .phase = "step" },
	{ .op = STEP_RUN, .section = 1, .phase = "prewrite" },
	{ .op = STEP_RUN, .section = 1, .phase = "maximum" },
	{ .op = STEP_PICK, .section = 1 },
};

#define N_STEPS (sizeof steps / sizeof *steps)

/* The steps that a pick in @section takes cells of, as bits; in round 5 where they are of the loop. */
static unsigned taken(const char *phase, unsigned section, bool loop, int round)
{
	struct plan plan = { .step = steps, .n = N_STEPS };
	struct step pick = steps[N_STEPS - 1];
	struct pick_scope scope = { .plan = &plan,
				    .pick = &pick,
				    .section = section,
				    .loop = loop ? &steps[1] : NULL,
				    .window_first = 3,
				    .window_last = 7 };
	unsigned bits = 0;

	pick.pick_phase = phase;
	for (unsigned i = 0; i < N_STEPS; i++)
		bits |= (unsigned)pick_takes(&scope, i, 1, i > 1 && i < 4 ? round : -1) << i;
	return bits;
}

TEST(candidates_are_measured_cells_only)
{
	CHECK_INT(taken(NULL, 1, true, 5), 1 << 3); /* the window's rounds */
	CHECK_INT(taken(NULL, 1, true, 2), 0);
	CHECK_INT(taken(NULL, 1, true, 8), 0);
	CHECK_INT(taken(NULL, 1, false, 5), 1 << 5); /* without a loop the steps, never a fill */
	CHECK_INT(taken("maximum", 1, true, 5), 1 << 7);
	CHECK_INT(taken("step", 1, true, 5), 1 << 5);
	CHECK_INT(taken(NULL, 2, true, 5), 0); /* of its own section */
	CHECK_INT(taken("maximum", 2, true, 5), 0);
}

TEST(means_weigh_response_times_by_ios)
{
	struct pick_cell c[3] = { { 0 } };

	pick_add(&c[0], 100, 50, 10);
	pick_add(&c[0], 300, 150, 30);
	pick_add(&c[2], 1, 7, 9);
	CHECK_INT(pick_means(c, 3), 2);
	CHECK(c[0].iops == 100 && c[0].art_ns == 25 && c[0].ios == 400 && c[0].rounds == 2);
	CHECK(c[1].iops == 7 && c[1].art_ns == 9);
}

TEST_MAIN
