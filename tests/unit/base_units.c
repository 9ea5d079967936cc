/* SPDX-License-Identifier: MIT */
/* Sizes, times and numbers as people write them. */
#include <errno.h>

#include "pts/base/rng.h"
#include "pts/base/units.h"
#include "tests/test.h"

#define BAD UINT64_MAX

static const struct {
	const char *text;
	uint64_t want;
} sizes[] = {
	{ "0", 0 },
	{ "512", 512 },
	{ "0.5k", 512 },
	{ "4k", 4096 },
	{ "4K", 4096 },
	{ "1m", 1048576 },
	{ "1g", 1073741824 },
	{ "1.5G", 1610612736 },
	{ "30t", 32985348833280 },
	{ "1.0", 1 },
	{ "9223372036854775807", INT64_MAX },
	{ "9223372036854775808", BAD },
	{ "0.3k", BAD },
	{ "0.5", BAD },
	{ "8388608t", BAD },
	{ "8388607t", 9223370937343148032 },
	{ "99999999999999999999999", BAD },
	{ "0.00000000000000000000001t", BAD },
	{ "", BAD },
	{ "k", BAD },
	{ ".5k", BAD },
	{ "5.k", BAD },
	{ "-4k", BAD },
	{ "+4k", BAD },
	{ " 4k", BAD },
	{ "4k ", BAD },
	{ "4kb", BAD },
	{ "4kib", BAD },
	{ "4x", BAD },
	{ "0x10", BAD },
	{ "1e3", BAD },
	{ "1,5k", BAD },
};

static const struct {
	const char *text;
	uint64_t want;
} times[] = {
	{ "0s", 0 },
	{ "60s", 60000000000 },
	{ "30m", 1800000000000 },
	{ "6h", 21600000000000 },
	{ "2d", 172800000000000 },
	{ "1.5s", 1500000000 },
	{ "300us", 300000 },
	{ "100ms", 100000000 },
	{ "7ns", 7 },
	{ "0.5ns", BAD },
	{ "0.0000000001s", BAD },
	{ "60", BAD },
	{ "s", BAD },
	{ "1S", BAD },
	{ "1min", BAD },
	{ "1m30s", BAD },
	{ "106752d", BAD },
	{ "106751d", 9223286400000000000 },
	{ "nan", BAD },
};

TEST(parse_sizes)
{
	for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		uint64_t v = BAD;
		int rc = parse_size(sizes[i].text, &v);

		CHECK_MSG(v == sizes[i].want, "\"%s\" is %llu", sizes[i].text,
			  (unsigned long long)v);
		CHECK_INT(rc, v == BAD ? -EINVAL : 0);
	}
}

TEST(parse_times)
{
	for (unsigned i = 0; i < sizeof times / sizeof times[0]; i++) {
		uint64_t v = BAD;
		int rc = parse_time(times[i].text, &v);

		CHECK_MSG(v == times[i].want, "\"%s\" is %llu", times[i].text,
			  (unsigned long long)v);
		CHECK_INT(rc, v == BAD ? -EINVAL : 0);
	}
}

TEST(parse_numbers)
{
	static const char *const bad[] = { "",	  "-",	".5", "5.",  "1e3", "inf",  "nan",
					   "0x1", "+1", "1 ", "1,5", "--1", "1.2.3" };
	double v = 7;

	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_MSG(parse_number(bad[i], &v) == -EINVAL && v == 7, "\"%s\" passed", bad[i]);
	CHECK_INT(parse_number("110", &v), 0);
	CHECK(v == 110);
	CHECK_INT(parse_number("0.5", &v), 0);
	CHECK(v == 0.5);
	CHECK_INT(parse_number("-3", &v), 0);
	CHECK(v == -3);
	CHECK_INT(parse_number("11726.8", &v), 0);
	CHECK(v == 11726.8);
}

TEST(parse_uints)
{
	uint64_t v = 9;

	CHECK_INT(parse_uint("0", 0, 5, &v), 0);
	CHECK_INT(v, 0);
	CHECK_INT(parse_uint("18446744073709551615", 0, UINT64_MAX, &v), 0);
	CHECK(v == UINT64_MAX);
	v = 9;
	CHECK_INT(parse_uint("18446744073709551616", 0, UINT64_MAX, &v), -EINVAL);
	CHECK_INT(parse_uint("6", 0, 5, &v), -EINVAL);
	CHECK_INT(parse_uint("0", 1, 5, &v), -EINVAL);
	CHECK_INT(parse_uint("", 0, 5, &v), -EINVAL);
	CHECK_INT(parse_uint("-1", 0, 5, &v), -EINVAL);
	CHECK_INT(parse_uint("1 ", 0, 5, &v), -EINVAL);
	CHECK_INT(v, 9);
}

TEST(format_blocks)
{
	char s[32];

	CHECK_STR(fmt_block(s, sizeof s, 4096), "4k");
	CHECK_STR(fmt_block(s, sizeof s, 512), "0.5k");
	CHECK_STR(fmt_block(s, sizeof s, 1536), "1.5k");
	CHECK_STR(fmt_block(s, sizeof s, 1048576), "1024k");
	CHECK_STR(fmt_block(s, sizeof s, 520), "520");
	CHECK_STR(fmt_block(s, sizeof s, 0), "0");
}

TEST(format_capacities)
{
	char s[32];

	CHECK_STR(fmt_capacity(s, sizeof s, 0), "0 B");
	CHECK_STR(fmt_capacity(s, sizeof s, 512), "512 B");
	CHECK_STR(fmt_capacity(s, sizeof s, 512000000), "512 MB");
	CHECK_STR(fmt_capacity(s, sizeof s, 512110190592), "512 GB");
	CHECK_STR(fmt_capacity(s, sizeof s, 1920383410176), "1.92 TB");
	CHECK_STR(fmt_capacity(s, sizeof s, 15362991415296), "15.36 TB");
	CHECK_STR(fmt_capacity(s, sizeof s, 999999999999), "1 TB");
	CHECK_STR(fmt_capacity(s, sizeof s, 1500), "1.5 kB");
	CHECK_STR(fmt_capacity(s, sizeof s, 100000000000), "100 GB");
	CHECK_STR(fmt_capacity(s, sizeof s, UINT64_MAX), "18.45 EB");
}

TEST(format_times)
{
	static const uint64_t ns[] = { 60000000000,
				       1800000000000,
				       21600000000000,
				       90000000000,
				       100000000,
				       1500000,
				       86400000000000,
				       7,
				       0 };
	static const char *const want[] = { "1m",     "30m", "6h",  "90s", "100ms",
					    "1500us", "1d",  "7ns", "0s" };
	char s[32];

	for (unsigned i = 0; i < sizeof ns / sizeof ns[0]; i++)
		CHECK_STR(fmt_time(s, sizeof s, ns[i]), want[i]);
}

TEST(times_read_back)
{
	struct rng r;
	char s[32];

	rng_init(&r, 3);
	for (int i = 0; i < 20000; i++) {
		uint64_t ns = rng_next(&r) >> (1 + rng_below(&r, 62)), v = 0;

		if (i % 2)
			ns = ns / 1000000000 * 1000000000;
		CHECK_INT(parse_time(fmt_time(s, sizeof s, ns), &v), 0);
		CHECK(v == ns);
	}
}

TEST(format_spans)
{
	static const double seconds[] = {
		0, 0.35, 45, 59.6, 60, 75, 3599, 3600, 11520, 11549, 86400 * 2 + 3600 * 4, 86399
	};
	static const char *const want[] = { "0 ms",	  "350 ms",	"45 s",	       "1 min",
					    "1 min",	  "1 min 15 s", "59 min 59 s", "1 h",
					    "3 h 12 min", "3 h 12 min", "2 d 4 h",     "24 h" };
	char s[32];

	for (unsigned i = 0; i < sizeof seconds / sizeof seconds[0]; i++)
		CHECK_STR(fmt_span(s, sizeof s, (uint64_t)(seconds[i] * 1e9)), want[i]);
}

TEST(clocks_and_dates)
{
	uint64_t a = clock_mono_ns(), b = clock_mono_ns();
	char s[32];

	CHECK(b >= a);
	CHECK(clock_wall_ns() > 1700000000000000000);
	CHECK_STR(fmt_utc(s, sizeof s, 0), "1970-01-01T00:00:00.000Z");
	CHECK_STR(fmt_utc(s, sizeof s, 1796031665123999999), "2026-11-30T09:41:05.123Z");
}

TEST_MAIN
