/* SPDX-License-Identifier: MIT */
/* The steady-state rule: vectors of PTS 2.1.24, of published reports, and of people who were surprised. */
#include "pts/base/steady.h"
#include "tests/test.h"

struct vector {
	double y[5];
	unsigned first;
	double average, range, slope, intercept, excursion;
	bool steady;
};

static const struct vector vectors[] = {
	{ { 100, 104, 98, 102, 101 }, 1, 101, 6, 0, 101, 0, true },
	{ { 90, 95, 100, 105, 110 }, 3, 100, 20, 5, 75, 20, false }, /* slope */
	{ { 95, 97.5, 100, 102.5, 105 }, 5, 100, 10, 2.5, 82.5, 10, true }, /* slope equal */
	{ { 90, 110, 100, 90, 110 }, 1, 100, 20, 2, 94, 8, true }, /* range equal */
	{ { 89, 111, 100, 100, 100 }, 2, 100, 22, 1.1, 95.6, 4.4, false }, /* range */
	{ { 104.9, 102.4, 100, 97.6, 95.1 }, 7, 100, 9.8, -2.44, 117.08 + 4.88, 9.76, true },
	{ { 100, 104, 108, 112, 116 }, 1, 108, 16, 4, 96, 16, false },
	{ { 100, 110, 95, 105, 100 }, 1, 102, 15, -0.5, 103.5, 2, true },
	{ { 90, 100, 110, 100, 100 }, 1, 100, 20, 2, 94, 8, true }, /* "no more than" */
};

static void near(double got, double want, double size, const char *what)
{
	CHECK_MSG(fabs(got - want) <= 1e-12 * size, "%s is %.17g, not %.17g", what, got, want);
}

static void check_vector(const struct vector *v, double scale)
{
	struct steady_check c;
	double y[5], size = fabs(v->intercept) * scale * 10;

	for (int i = 0; i < 5; i++)
		y[i] = v->y[i] * scale;
	steady_check(y, v->first, &c);
	DO(near(c.average, v->average * scale, size, "average"));
	DO(near(c.range, v->range * scale, size, "range"));
	DO(near(c.range_allowed, 0.2 * v->average * scale, size, "range allowed"));
	DO(near(c.slope, v->slope * scale, size, "slope"));
	DO(near(c.intercept, v->intercept * scale, size, "intercept"));
	DO(near(c.slope_excursion, v->excursion * scale, size, "excursion"));
	DO(near(c.slope_allowed, 0.1 * v->average * scale, size, "slope allowed"));
	CHECK_MSG(c.steady == v->steady, "verdict %d at scale %g of the vector from %g", c.steady,
		  scale, v->y[0]);
	CHECK_INT(c.first_round, v->first);
}

TEST(U13_steady_vectors_at_every_scale)
{
	static const double scales[] = { 1, 0.01, 0.001, 1e9, 1.0 / 3, 1048576 };

	for (unsigned s = 0; s < sizeof scales / sizeof scales[0]; s++)
		for (unsigned i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
			DO(check_vector(&vectors[i], scales[s]));
}

TEST(steady_tolerance_is_a_billionth)
{
	struct steady_check c;

	/* on the limit of the range: max - min = 20, allowed 20 */
	steady_check((double[5]){ 90, 110 * (1 + 1e-11), 100, 90, 110 }, 1, &c);
	CHECK(c.steady);
	steady_check((double[5]){ 90, 110.000001, 100, 90, 110 }, 1, &c);
	CHECK(!c.steady);
	/* on the limit of the slope */
	steady_check((double[5]){ 95, 97.5, 100, 102.5, 105.000001 }, 1, &c);
	CHECK(!c.steady);
}

TEST(steady_window_far_along)
{
	struct steady_check c;

	steady_check((double[5]){ 95, 97.5, 100, 102.5, 105 }, 1000000, &c);
	CHECK(c.steady);
	CHECK_NEAR(c.slope, 2.5, 1e-12);
	CHECK_NEAR(c.intercept, 95 - 2.5 * 1000000, 1e-12);
}

TEST(steady_published_line)
{
	/* the line -6.4 * R + 11746 of a printed report: excursion 25.6, allowed 1172.68 at an average of 11726.8 */
	struct steady_check c;
	double y[5];

	for (int i = 0; i < 5; i++)
		y[i] = -6.4 * (i + 1) + 11746;
	steady_check(y, 1, &c);
	CHECK_NEAR(c.average, 11726.8, 1e-12);
	CHECK_NEAR(c.slope_excursion, 25.6, 1e-9);
	CHECK_NEAR(c.range_allowed, 2345.36, 1e-12);
	CHECK_NEAR(c.slope_allowed, 1172.68, 1e-12);
	CHECK_NEAR(c.intercept, 11746, 1e-9);
	CHECK_NEAR(c.correlation, -1, 1e-9);
	CHECK(c.steady);
}

TEST(steady_correlation)
{
	struct steady_check c;

	steady_check((double[5]){ 100, 100, 100, 100, 100 }, 1, &c);
	CHECK(c.steady);
	CHECK(c.correlation == 0);
	CHECK(c.slope == 0);
	steady_check((double[5]){ 90, 110, 100, 90, 110 }, 1, &c);
	/* Sxy 20, Sxx 10, Syy 400 */
	CHECK_NEAR(c.correlation, 20 / sqrt(4000), 1e-12);
}

TEST(steady_nonsense_is_never_steady)
{
	struct steady_check c;

	steady_check((double[5]){ 100, NAN, 100, 100, 100 }, 1, &c);
	CHECK(!c.steady);
	steady_check((double[5]){ INFINITY, 100, 100, 100, 100 }, 1, &c);
	CHECK(!c.steady);
	steady_check((double[5]){ 0, 0, 0, 0, 0 }, 1, &c);
	CHECK(!c.steady);
	steady_check((double[5]){ -100, -100, -100, -100, -100 }, 1, &c);
	CHECK(!c.steady);
}

TEST_MAIN
