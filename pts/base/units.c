/* SPDX-License-Identifier: MIT */
#include "pts/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_S ((uint64_t)1000000000)

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit time_units[] = {
	{ "d", 86400 * NS_S }, { "h", 3600 * NS_S }, { "m", 60 * NS_S }, { "s", NS_S },
	{ "ms", 1000000 },     { "us", 1000 },	     { "ns", 1 },	 { NULL, 0 },
};

static const struct unit size_units[] = {
	{ "", 1 },	     { "k", 1ull << 10 }, { "K", 1ull << 10 }, { "m", 1ull << 20 },
	{ "M", 1ull << 20 }, { "g", 1ull << 30 }, { "G", 1ull << 30 }, { "t", 1ull << 40 },
	{ "T", 1ull << 40 }, { NULL, 0 },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads digits into *v; false on none or on overflow of 64 bits. */
static bool digits(const char **s, uint64_t *v, uint64_t *scale)
{
	const char *start = *s;

	for (; is_digit(**s); (*s)++) {
		if (__builtin_mul_overflow(*v, 10, v) ||
		    __builtin_add_overflow(*v, (uint64_t)(**s - '0'), v))
			return false;
		if (scale && __builtin_mul_overflow(*scale, 10, scale))
			return false;
	}
	return *s != start;
}

/* "1.5k": the number is v / scale exactly; what is left must be a unit, and the product a whole number below 2^63. */
static int parse_with_unit(const char *s, const struct unit *units, uint64_t *ret)
{
	uint64_t v = 0, scale = 1;
	unsigned __int128 total;

	if (!digits(&s, &v, NULL))
		return -EINVAL;
	if (*s == '.') {
		s++;
		if (!digits(&s, &v, &scale))
			return -EINVAL;
	}
	for (; units->name; units++)
		if (!strcmp(units->name, s))
			break;
	total = (unsigned __int128)v * units->factor;
	if (!units->name || total % scale || total / scale > INT64_MAX)
		return -EINVAL;
	*ret = (uint64_t)(total / scale);
	return 0;
}

int parse_size(const char *s, uint64_t *ret_bytes)
{
	return parse_with_unit(s, size_units, ret_bytes);
}

int parse_time(const char *s, uint64_t *ret_ns)
{
	return parse_with_unit(s, time_units, ret_ns);
}

int parse_number(const char *s, double *ret)
{
	const char *p = s + (*s == '-');

	if (!is_digit(*p))
		return -EINVAL;
	while (is_digit(*p))
		p++;
	if (*p == '.') {
		if (!is_digit(*++p))
			return -EINVAL;
		while (is_digit(*p))
			p++;
	}
	/* 300 digits always fit in a double */
	if (*p || p - s > 300)
		return -EINVAL;
	*ret = strtod(s, NULL);
	return 0;
}

int parse_rated(const char *s, double *ret_bytes)
{
	char num[32] = "";
	size_t n = strcspn(s, " \tTPtp");
	const char *unit = s + n + strspn(s + n, " \t");
	bool peta = !strcmp(unit, "PB") || !strcmp(unit, "PBW");
	double v;

	if (n >= sizeof num || (!peta && *unit && strcmp(unit, "TB") && strcmp(unit, "TBW")))
		return -EINVAL;
	memcpy(num, s, n);
	if (parse_number(num, &v) || !(v > 0 && v < 1e12))
		return -EINVAL;
	*ret_bytes = v * (peta ? 1e15 : 1e12);
	return 0;
}

int parse_uint(const char *s, uint64_t lo, uint64_t hi, uint64_t *ret)
{
	uint64_t v = 0;

	if (!digits(&s, &v, NULL) || *s || v < lo || v > hi)
		return -EINVAL;
	*ret = v;
	return 0;
}

const char *fmt_block(char *out, size_t n, uint64_t bytes)
{
	if (bytes == 0 || bytes % 512)
		snprintf(out, n, "%" PRIu64, bytes);
	else
		snprintf(out, n, "%" PRIu64 "%sk", bytes / 1024, bytes % 1024 ? ".5" : "");
	return out;
}

const char *fmt_capacity(char *out, size_t n, uint64_t bytes)
{
	static const char *const unit[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	double v = (double)bytes;
	unsigned i = 0;
	char text[32];

	while (v >= 999.5 && i < 6) {
		v /= 1000;
		i++;
	}
	snprintf(text, sizeof text, "%.*f", v < 99.995 ? 2 : 0, v);
	if (strchr(text, '.')) { /* 1.50 -> 1.5, 4.00 -> 4 */
		size_t len = strlen(text);

		while (text[len - 1] == '0')
			len--;
		if (text[len - 1] == '.')
			len--;
		text[len] = '\0';
	}
	snprintf(out, n, "%s %s", text, unit[i]);
	return out;
}

const char *fmt_time(char *out, size_t n, uint64_t ns)
{
	const struct unit *u = time_units;

	if (ns == 0) {
		snprintf(out, n, "0s");
		return out;
	}
	while (ns % u->factor)
		u++;
	snprintf(out, n, "%" PRIu64 "%s", ns / u->factor, u->name);
	return out;
}

const char *fmt_span(char *out, size_t n, uint64_t ns)
{
	static const struct {
		const char *big, *small;
		uint64_t big_ns, small_ns;
	} step[] = {
		{ "d", "h", 86400 * NS_S, 3600 * NS_S },
		{ "h", "min", 3600 * NS_S, 60 * NS_S },
		{ "min", "s", 60 * NS_S, NS_S },
	};

	if (ns < NS_S - 500000) {
		snprintf(out, n, "%" PRIu64 " ms", (ns + 500000) / 1000000);
		return out;
	}
	for (unsigned i = 0; i < sizeof step / sizeof step[0]; i++) {
		uint64_t small = (ns + step[i].small_ns / 2) / step[i].small_ns;
		uint64_t per = step[i].big_ns / step[i].small_ns;

		if (ns + NS_S / 2 < step[i].big_ns)
			continue;
		if (small % per)
			snprintf(out, n, "%" PRIu64 " %s %" PRIu64 " %s", small / per, step[i].big,
				 small % per, step[i].small);
		else
			snprintf(out, n, "%" PRIu64 " %s", small / per, step[i].big);
		return out;
	}
	snprintf(out, n, "%" PRIu64 " s", (ns + NS_S / 2) / NS_S);
	return out;
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_S + (uint64_t)ts.tv_nsec;
}

uint64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t clock_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

const char *fmt_utc(char *out, size_t n, uint64_t wall_ns)
{
	time_t t = (time_t)(wall_ns / NS_S);
	char text[32];
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out, n, "%s.%03uZ", text, (unsigned)(wall_ns / 1000000 % 1000));
	return out;
}
