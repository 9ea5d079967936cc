/* SPDX-License-Identifier: MIT */
/* The histogram against sorted raw values. */
#include <errno.h>

#include "pts/base/buf.h"
#include "pts/base/hist.h"
#include "pts/base/rng.h"
#include "tests/test.h"

#define MS 1000000ull
#define S 1000000000ull

static uint64_t pct(const struct hist *h, uint32_t ppm)
{
	uint64_t v = 0;

	return hist_percentile(h, ppm, &v) ? v : UINT64_MAX;
}

TEST(hist_buckets_tile_the_line)
{
	CHECK_INT(hist_low(0), 0);
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		uint64_t lo = hist_low(i), hi = hist_high(i);

		CHECK(hi > lo);
		CHECK_INT(hist_index(lo), i);
		CHECK_INT(hist_index(hi - 1), i);
		CHECK_INT(hi, hist_low(i + 1));
		CHECK((hi - lo) * 256 <= (lo > 256 ? lo : 256));
	}
	CHECK_INT(hist_high(HIST_BUCKETS - 1), 1ull << 48);
	CHECK_INT(hist_index(UINT64_MAX), HIST_BUCKETS - 1);
}

TEST(U20_hist_tail_is_not_clipped)
{
	struct hist *h = hist_new();

	hist_add_n(h, 1 * MS, 99990);
	hist_add_n(h, 94 * S, 10);
	CHECK_INT(h->n, 100000);
	CHECK_NEAR((double)pct(h, P9999), 1e6, 0.004);
	CHECK_NEAR((double)pct(h, P99999), 94e9, 0.004);
	CHECK_INT(h->max, 94 * S);
	CHECK_INT(h->min, 1 * MS);
	CHECK_INT(hist_above(h, P9999), 10);
	CHECK_INT(hist_above(h, P99999), 1);
	CHECK_INT(hist_overflow(h), 0);
	hist_add(h, (1ull << HIST_MAX_BITS) - 1); /* the last ns of the range */
	CHECK_INT(hist_overflow(h), 0);
	hist_reset(h);
	hist_add(h, 1 * MS);
	hist_add_n(h, 1ull << HIST_MAX_BITS, 3);
	CHECK_INT(hist_overflow(h), 3);
	free(h);
}

/* The n/a rule keeps the three nines of 200 IOs back, so the vector is taken five times over as well. */
TEST(U21_hist_merge_is_not_an_average)
{
	for (unsigned times = 1; times <= 5; times += 4) {
		struct hist *a = hist_new(), *b = hist_new();
		uint64_t v;

		hist_add_n(a, 1 * MS, 99 * times);
		hist_add_n(a, 100 * MS, 1 * times);
		hist_add_n(b, 10 * MS, 100 * times);
		hist_merge(a, b);
		CHECK_INT(a->n, 200 * times);
		CHECK_INT(b->n, 100 * times);
		CHECK_NEAR((double)pct(a, P99), 10e6, 0.004);
		if (times == 5) {
			CHECK_NEAR((double)pct(a, P999), 100e6, 0.004);
		} else {
			CHECK(!hist_percentile(a, P999, &v));
		}
		CHECK_NEAR(hist_mean(a), (99e6 + 100e6 + 1000e6) / 200, 1e-12);
		free(a);
		free(b);
	}
}

TEST(hist_na_rule)
{
	struct hist *h = hist_new();
	uint64_t v = 7;

	CHECK(!hist_percentile(h, P50, &v));
	CHECK(hist_mean(h) == 0);
	CHECK_INT(hist_above(h, P50), 0);
	hist_add_n(h, 5, 99999);
	CHECK(!hist_percentile(h, P99999, &v));
	CHECK_INT(v, 7);
	CHECK(hist_percentile(h, P9999, &v));
	CHECK_INT(v, 5);
	hist_add(h, 5);
	CHECK(hist_percentile(h, P99999, &v));
	CHECK(!hist_percentile(h, P999999, &v));
	free(h);
}

TEST(hist_ranks_are_exact)
{
	struct hist *h = hist_new();

	/* 1..200 ns have a bucket each: the p-th percentile is the ceil(p*200)-th */
	for (uint64_t i = 1; i <= 200; i++)
		hist_add(h, i);
	CHECK_INT(pct(h, P50), 100);
	CHECK_INT(pct(h, P99), 198);
	CHECK_INT(pct(h, 985000), 197);
	CHECK_INT(pct(h, 985001), 198);
	CHECK_INT(pct(h, 1), 1);
	CHECK_INT(pct(h, 0), 1);
	CHECK_INT(hist_above(h, P99), 2);
	/* ranks beyond what doubles hold */
	hist_reset(h);
	hist_add_n(h, 10, (1ull << 60) - 1);
	hist_add(h, 20);
	CHECK_INT(pct(h, P999999), 10);
	free(h);
}

TEST(hist_limits)
{
	struct hist *h = hist_new();

	hist_add(h, 0);
	hist_add_n(h, 3, 0);
	CHECK_INT(h->n, 1);
	CHECK_INT(h->max, 0);
	hist_reset(h);
	hist_add_n(h, 1ull << 50, 1000);
	CHECK_INT(h->max, 1ull << 50);
	CHECK_INT(h->min, 1ull << 50);
	CHECK_INT(pct(h, P50), 1ull << 50); /* kept within [min, max] */
	CHECK(h->sum == (unsigned __int128)1000 << 50);
	free(h);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return x < y ? -1 : x > y;
}

static void compare(struct rng *r, size_t n, unsigned bits)
{
	static const uint32_t ppm[] = { P50, P99, P999, P9999, P99999 };
	uint64_t *raw = calloc(n, sizeof *raw), got;
	struct hist *h = hist_new();
	double worst = 0;

	for (size_t i = 0; i < n; i++) {
		raw[i] = rng_next(r) >> (64 - 1 - rng_below(r, bits)); /* every octave alike */
		hist_add(h, raw[i]);
	}
	qsort(raw, n, sizeof *raw, by_value);
	for (unsigned i = 0; i < 5; i++) {
		uint64_t rank = ((uint64_t)n * ppm[i] + 999999) / 1000000, want = raw[rank - 1];

		if (!hist_percentile(h, ppm[i], &got))
			continue;
		worst = fmax(worst, fabs((double)got - (double)want) / fmax((double)want, 1));
		if (got < h->min || got > h->max)
			worst = INFINITY;
	}
	if (h->min != raw[0] || h->max != raw[n - 1])
		worst = INFINITY;
	free(raw);
	free(h);
	CHECK_MSG(worst <= 0.004, "percentile off by %g of %zu values", worst, n);
}

TEST(hist_against_sorted_values)
{
	struct rng r;

	rng_init(&r, 20260101);
	for (int i = 0; i < 40; i++)
		DO(compare(&r, 100 + rng_below(&r, 5000), 20 + (unsigned)rng_below(&r, 28)));
	DO(compare(&r, 300000, 40));
}

TEST(hist_text_form)
{
	struct hist *h = hist_new(), *back = hist_new();
	struct buf b = BUF_INIT;

	hist_json(h, &b);
	CHECK_STR(buf_cstr(&b), "[]");
	buf_release(&b);
	hist_add_n(h, 5, 3);
	hist_add(h, 1000);
	hist_json(h, &b);
	CHECK_STR(buf_cstr(&b), "[[5,6,3],[1000,1002,1]]");
	buf_release(&b);
	CHECK_INT(hist_put(back, 5, 3), 0);
	CHECK_INT(hist_put(back, 1000, 1), 0);
	CHECK_INT(hist_put(back, 1001, 1), -EINVAL);
	CHECK_INT(hist_put(back, 1ull << 48, 1), -EINVAL);
	back->min = h->min;
	back->max = h->max;
	back->sum = h->sum;
	CHECK(!memcmp(h, back, sizeof *h));
	free(h);
	free(back);
}

TEST_MAIN
