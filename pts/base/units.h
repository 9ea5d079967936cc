/* SPDX-License-Identifier: MIT */
/*
 * Sizes and times as people write them. Sizes are binary (4k = 4096, 1g = 2^30, 0.5k = 512), times take
 * ns us ms s m h d. Parsing is strict, independent of the locale, and refuses what would not be a whole
 * number of bytes or nanoseconds or would overflow 63 bits.
 */
#ifndef PTS_BASE_UNITS_H
#define PTS_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* "4k", "0.5k", "1g", "512", "30t". 0 or -EINVAL. */
int parse_size(const char *s, uint64_t *ret_bytes) __attribute__((warn_unused_result));
/* "60s", "30m", "6h", "300us", "1.5s". A bare number is refused: a time has a unit. 0 or -EINVAL. */
int parse_time(const char *s, uint64_t *ret_ns) __attribute__((warn_unused_result));
/* A decimal number without unit, exponent, inf or nan: "110", "0.5", "-3". 0 or -EINVAL. */
int parse_number(const char *s, double *ret) __attribute__((warn_unused_result));
/* Bytes that a drive is rated to take: "1200" (TB), "1200 TB", "3.5 PB", "3.5PBW". Above 0. 0 or -EINVAL. */
int parse_rated(const char *s, double *ret_bytes) __attribute__((warn_unused_result));
/* Digits only, within [lo, hi]. 0 or -EINVAL. */
int parse_uint(const char *s, uint64_t lo, uint64_t hi, uint64_t *ret)
	__attribute__((warn_unused_result));

/* "4k", "1024k" (block sizes: KiB, as the PTS prints them), "0.5k". Returns @out. */
const char *fmt_block(char *out, size_t n, uint64_t bytes);
/* "1.92 TB", "512 MB": decimal units, for capacities. Returns @out. */
const char *fmt_capacity(char *out, size_t n, uint64_t bytes);
/* "1m", "30m", "6h", "90s", "100ms": the shortest exact writing. Returns @out. */
const char *fmt_time(char *out, size_t n, uint64_t ns);
/* "3 h 12 min", "45 s": for people. Returns @out. */
const char *fmt_span(char *out, size_t n, uint64_t ns);

/* Monotonic nanoseconds of the host; wall clock as nanoseconds since 1970. */
uint64_t clock_mono_ns(void);
uint64_t clock_wall_ns(void);
/* "2026-11-30T09:41:05.123Z". Returns @out (n >= 25). */
const char *fmt_utc(char *out, size_t n, uint64_t wall_ns);

#endif
