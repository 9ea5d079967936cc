/* SPDX-License-Identifier: MIT */
/* Fields of a line: numbers at their limits, in both ways to read them; fixed points; rwbs words; quoted tables. */
#include <inttypes.h>

#include "replay/fields.h"
#include "replay/quoted.h"
#include "replay/trace.h"
#include "tests/test.h"

/* Reads @s as a whole field does; "none" where it is no number. */
static const char *digits(const char *s)
{
	static char text[32];
	char line[128] = ""; /* as in a line of input.h: bytes behind the field may be read */
	uint64_t v;

	memcpy(line + 16, s, strlen(s));
	if (!whole_digits(line + 16, strlen(s), &v))
		return "none";
	snprintf(text, sizeof(text), "%" PRIu64, v);
	return text;
}

static const char *u64(const char *s)
{
	static char text[32];
	const char *p = s;
	uint64_t v;

	if (!take_u64(&p, &v))
		return p == s ? "none" : "moved";
	snprintf(text, sizeof(text), "%" PRIu64, v);
	return *p ? "rest" : text;
}

TEST(numbers_of_all_lengths)
{
	char s[24] = "";

	for (int n = 1; n <= 19; n++) {
		s[n - 1] = (char)('0' + n % 10);
		CHECK_STR(digits(s), s);
		CHECK_STR(u64(s), s);
		for (int at = 0; at < n; at++) {
			char was = s[at];

			for (const char *bad = "/:-. \x80x"; *bad; bad++) {
				s[at] = *bad;
				CHECK_MSG(!strcmp(digits(s), "none"), "'%s' is %s", s, digits(s));
			}
			s[at] = was;
		}
	}
}

TEST(numbers_at_their_limits)
{
	CHECK_STR(digits(""), "none");
	CHECK_STR(digits("00000000000000000000000000000007"), "7");
	CHECK_STR(digits("18446744073709551615"), "18446744073709551615");
	CHECK_STR(digits("18446744073709551616"), "none");
	CHECK_STR(digits("99999999999999999999999"), "none");
	CHECK_STR(u64("18446744073709551615"), "18446744073709551615");
	CHECK_STR(u64("18446744073709551616"), "none");
	CHECK_STR(u64("999999999999999999"), "999999999999999999");
	CHECK_STR(u64("-1"), "none");
	CHECK_STR(u64("12x"), "rest");
}

static const char *fixed(const char *s, unsigned digit)
{
	static char text[32];
	const char *p = s;
	int64_t v;

	if (!take_fixed(&p, digit, &v))
		return p == s ? "none" : "moved";
	snprintf(text, sizeof(text), "%" PRId64 "%s", v, *p ? "+" : "");
	return text;
}

TEST(fixed_points)
{
	CHECK_STR(fixed("1.5", 9), "1500000000");
	CHECK_STR(fixed("-1.5", 1), "-15");
	CHECK_STR(fixed("+7", 3), "7000");
	CHECK_STR(fixed("0.0000000019", 9), "1");
	CHECK_STR(fixed("3.", 2), "300");
	CHECK_STR(fixed("3.25x", 1), "32+");
	CHECK_STR(fixed(".5", 3), "none");
	CHECK_STR(fixed("-", 3), "none");
	CHECK_STR(fixed("9223372036854775807", 0), "9223372036854775807");
	CHECK_STR(fixed("9223372036854775808", 0), "none");
	CHECK_STR(fixed("9223372036.854775807", 9), "9223372036854775807");
	CHECK_STR(fixed("9223372036.854775808", 9), "none");
	CHECK_STR(fixed("-9223372036.854775807", 9), "-9223372036854775807");
}

static void hex_is(const char *s, bool good, uint64_t value)
{
	const char *p = s;
	uint64_t v = 0;

	CHECK_MSG(take_hex(&p, &v) == good && (!good || v == value), "%s is %" PRIx64, s, v);
}

TEST(hex)
{
	hex_is("0xffffffffffffffff", true, UINT64_MAX);
	hex_is("0x10000000000000000", false, 0);
	hex_is("0000000000000000000000001f", true, 0x1f);
	hex_is("0x", false, 0);
	hex_is("g", false, 0);
}

static void rwbs_is(const char *s, uint64_t bytes, int op, int flags)
{
	const char *p = s;
	uint8_t o = 99, f = 99;

	CHECK_MSG(take_rwbs(&p, bytes, &o, &f) && o == op && f == flags,
		  "%s of %d bytes: op %d, flags %d", s, (int)bytes, o, f);
}

TEST(rwbs_words)
{
	rwbs_is("R", 4096, TRACE_READ, 0);
	rwbs_is("RA", 4096, TRACE_READ, TRACE_READAHEAD);
	rwbs_is("RAM", 4096, TRACE_READ, TRACE_READAHEAD | TRACE_META);
	rwbs_is("WS", 4096, TRACE_WRITE, TRACE_SYNC);
	rwbs_is("WFS", 4096, TRACE_WRITE, TRACE_FUA | TRACE_SYNC);
	rwbs_is("FWFSM", 4096, TRACE_WRITE, TRACE_FUA | TRACE_SYNC | TRACE_META);
	rwbs_is("FWS", 0, TRACE_FLUSH, TRACE_SYNC);
	rwbs_is("FF", 0, TRACE_FLUSH, 0);
	rwbs_is("FN", 0, TRACE_FLUSH, 0);
	rwbs_is("DS", 8192, TRACE_DISCARD, TRACE_SYNC);
	rwbs_is("DE", 8192, TRACE_DISCARD, 0);
	rwbs_is("N", 0, TRACE_OTHER, 0);
	rwbs_is("R", 0, TRACE_OTHER, 0);
}

TEST(quoted_fields)
{
	char line[] = "a , \"b, \"\"c\"\"\" ,, \"d\"x,\"never closed, e";
	struct quoted q;

	quoted_split(line, ',', &q);
	CHECK_INT(q.n, 5);
	CHECK_STR(q.field[0], "a");
	CHECK_STR(q.field[1], "b, \"c\"");
	CHECK_STR(q.field[2], "");
	CHECK_STR(q.field[3], "d");
	CHECK_STR(q.field[4], "never closed, e");
	CHECK_INT(quoted_find(&q, "b"), 1);
	CHECK_INT(quoted_find(&q, "z"), -1);
}

TEST(quoted_fields_have_an_end)
{
	char line[300];
	struct quoted q;

	memset(line, ';', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	quoted_split(line, ';', &q);
	CHECK_INT(q.n, QUOTED_MAX);
}

TEST_MAIN
