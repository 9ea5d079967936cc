/* SPDX-License-Identifier: MIT */
/* Arithmetic of the comparison's sheets: interpolation, harmonic mean, efficiency, means over samples, noise. */
#include "reports/bounded.h"
#include "reports/compare_figures.h"
#include "reports/compare_parts.h"
#include "reports/load_curve.h"
#include "reports/scale.h"
#include "tests/test.h"

/* ---- interpolation: x is ART (us), y is IOPS ---- */

TEST(a_limit_between_two_points)
{
	const double art[] = { 100, 200, 400, 800 }, iops[] = { 10000, 20000, 30000, 32000 };
	struct cmp_between b = cmp_interpolate(art, iops, 4, 500);

	CHECK_NEAR(b.value, 30500, 1e-12); /* a quarter of the way from 400 to 800 */
	CHECK_INT(b.from, 2);
	CHECK_INT(b.to, 3);
}

TEST(a_limit_at_a_point)
{
	const double art[] = { 100, 200, 400 }, iops[] = { 1, 2, 3 };
	struct cmp_between b = cmp_interpolate(art, iops, 3, 200);

	CHECK_NEAR(b.value, 2, 0);
	CHECK_INT(b.from, 1);
	CHECK_INT(b.to, 1);
}

TEST(nothing_is_extrapolated)
{
	const double art[] = { 100, 200 }, iops[] = { 1, 2 };

	CHECK(isnan(cmp_interpolate(art, iops, 2, 99.9).value));
	CHECK(isnan(cmp_interpolate(art, iops, 2, 200.1).value));
	CHECK(isnan(cmp_interpolate(art, iops, 0, 100).value));
	CHECK(isnan(cmp_interpolate(art, iops, 1, 150).value));
}

TEST(points_without_a_value_are_passed_over)
{
	const double art[] = { 100, NAN, 300, 400 }, iops[] = { 10, 5, 30, NAN };
	struct cmp_between b = cmp_interpolate(art, iops, 4, 200);

	CHECK_NEAR(b.value, 20, 1e-12);
	CHECK_INT(b.from, 0);
	CHECK_INT(b.to, 2);
	CHECK(isnan(cmp_interpolate(art, iops, 4, 350).value));
}

TEST(of_two_crossings_the_faster_one)
{
	const double art[] = { 100, 300, 100, 300 }, iops[] = { 10, 20, 30, 50 };
	struct cmp_between b = cmp_interpolate(art, iops, 4, 200);

	CHECK_NEAR(b.value, 40, 1e-12);
	CHECK_INT(b.from, 2);
	CHECK_INT(b.to, 3);
}

TEST(a_fall_through_the_limit_is_no_crossing)
{
	const double art[] = { 300, 100 }, iops[] = { 10, 20 };

	CHECK(isnan(cmp_interpolate(art, iops, 2, 200).value));
}

/* ---- harmonic mean ---- */

TEST(harmonic_mean_by_hand)
{
	const double v[] = { 100, 50 }, half[] = { 50, 50 }, share[] = { 25, 75 };

	CHECK_NEAR(cmp_harmonic(v, half, 2), 2 / (1 / 100.0 + 1 / 50.0), 1e-12);
	CHECK_NEAR(cmp_harmonic(v, share, 2), 100 / (25 / 100.0 + 75 / 50.0), 1e-12);
	CHECK_NEAR(cmp_harmonic(v, share, 1), 100, 1e-12);
}

TEST(no_harmonic_mean_without_all_values)
{
	const double gap[] = { 100, NAN }, zero[] = { 100, 0 }, v[] = { 100, 50 };
	const double share[] = { 50, 50 }, unknown[] = { 50, NAN };

	CHECK(isnan(cmp_harmonic(gap, share, 2)));
	CHECK(isnan(cmp_harmonic(zero, share, 2)));
	CHECK(isnan(cmp_harmonic(v, unknown, 2)));
	CHECK(isnan(cmp_harmonic(v, share, 0)));
}

/* ---- means over samples ---- */

TEST(a_mean_leaves_out_what_is_no_result)
{
	struct cmp_mean m = { .n = 0 };

	CHECK(isnan(cmp_value(&m)));
	cmp_add(&m, 10, NULL);
	cmp_add(&m, 1000, "not steady");
	cmp_add(&m, 30, NULL);
	cmp_add(&m, NAN, NULL); /* no percentile */
	CHECK_INT(m.n, 2);
	CHECK_NEAR(cmp_value(&m), 20, 1e-12);
	CHECK_STR(m.why, "not steady");
}

TEST(not_steady_says_more_than_not_run)
{
	struct cmp_mean a = { .n = 0 }, b = { .n = 0 };

	cmp_add(&a, NAN, "not steady");
	cmp_add(&a, NAN, "not run");
	CHECK_STR(a.why, "not steady");
	cmp_add(&b, NAN, "not run");
	cmp_add(&b, NAN, "not finished");
	CHECK_STR(b.why, "not finished");
}

/* ---- why a test is no result ---- */

TEST(what_is_a_result)
{
	struct section s[2] = { { .steady = 1 }, { .steady = 0 } };
	struct test t = { .attempt = 1, .finished = true, .verdict = "steady", .steady = 1 };

	CHECK(!why_no_result(&t, NULL));
	t.section = s;
	t.n_sections = 2;
	t.status = STATUS_NOT_VALID;
	CHECK_STR(why_no_result(&t, NULL), "not steady");
	CHECK(!why_no_result(&t, &s[0])); /* a stream that settled beside one that did not */
	CHECK_STR(why_no_result(&t, &s[1]), "not steady");
	t.finished = false;
	CHECK_STR(why_no_result(&t, &s[0]), "not finished");
	t.finished = true;
	t.verdict = "failed";
	CHECK_STR(why_no_result(&t, NULL), "failed");
	t.attempt = 0;
	CHECK_STR(why_no_result(&t, NULL), "not run");
	CHECK_STR(why_no_result(NULL, NULL), "not run");
}

TEST(a_replay_outside_its_limits_is_none)
{
	struct test t = { .attempt = 1, .finished = true, .verdict = "done", .steady = -1 };

	CHECK(!why_no_result(&t, NULL));
	t.status = STATUS_NOT_VALID;
	CHECK_STR(why_no_result(&t, NULL), "not valid");
}

/* ---- scaling ---- */

TEST(efficiency_by_hand)
{
	CHECK_NEAR(scale_efficiency(360, 4, 100), 0.9, 1e-12);
	CHECK_NEAR(scale_efficiency(100, 1, 100), 1, 0);
	CHECK(isnan(scale_efficiency(100, 4, NAN)));
	CHECK(isnan(scale_efficiency(100, 4, 0)));
	CHECK(isnan(scale_efficiency(NAN, 4, 100)));
}

TEST(the_fastest_thread_count)
{
	static const struct measure slow = { .bytes_per_s = 10 }, fast = { .bytes_per_s = 30 };
	struct scale_load l = { .n_tc = 3, .n_drives = 2 };

	l.cell[0][1] = &slow;
	l.cell[2][1] = &fast;
	CHECK(scale_best(&l, 1) == &fast);
	CHECK(!scale_best(&l, 0));
	CHECK(!scale_best(&l, 2));
}

/* ---- load curves ---- */

TEST(shares_and_budgets_of_a_curve)
{
	static const struct measure max = { .iops = 1000 };
	static const struct measure m[] = { { .iops = 500, .rate_iops = 500, .label = "" },
					    { .iops = 900, .rate_iops = 900, .label = "" },
					    { .iops = 990, .rate_iops = 1200, .label = "" } };
	struct rated r[3];
	struct load_curve c = { .maximum = &max, .n = 3 };

	for (unsigned i = 0; i < 3; i++) {
		static const double art[] = { 100e3, 200e3, 5000e3 };
		r[i] = (struct rated){ .m = &m[i], .response = { .art_ns = art[i] } };
		c.step[i] = &r[i];
	}
	CHECK_NEAR(curve_share(&c, &r[2]), 1.2, 1e-12);
	CHECK(curve_at(&c, 0.9) == &r[1]);
	CHECK(!curve_at(&c, 0.8));
	CHECK(curve_under(&c, 150) == &r[0]);
	CHECK(curve_under(&c, 201) == &r[1]);
	CHECK(curve_under(&c, 200) == &r[0]); /* below, not at */
	CHECK(!curve_under(&c, 100));
	CHECK_NEAR(curve_top_us(&c), 300, 1e-12); /* overload leaves through the top */
}

/* ---- bars on a log scale ---- */

TEST(each_bar_has_a_height)
{
	const double v[] = { 100, NAN, 2000 }, w[] = { 250, 3000 };
	struct axis a = { .log = false };

	cmp_axis_bars(&a, v, 3);
	CHECK(a.log);
	CHECK_NEAR(a.min, 10, 1e-12);
	CHECK_NEAR(a.max, 10000, 1e-12);
	cmp_axis_bars(&a, w, 2);
	CHECK_NEAR(a.min, 100, 1e-12);
}

TEST_MAIN
