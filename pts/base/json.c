/* SPDX-License-Identifier: MIT */
#include "pts/base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/buf.h"
#include "pts/base/err.h"

const char *fmt_double(char *out, unsigned n, double v)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, n, "%.*g", digits, v);
		if (isnan(v) || strtod(out, NULL) == v)
			break;
	}
	return out;
}

/*
 * Length of the well-formed UTF-8 sequence at @s (RFC 3629), 0 when it is not one. Stops at the NUL by itself: no byte
 * after a lead byte may be 0.
 */
static size_t utf8_len(const unsigned char *s)
{
	unsigned char lo = 0x80, hi = 0xbf;
	size_t n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		lo = 0xa0; /* overlong */
	if (s[0] == 0xed)
		hi = 0x9f; /* surrogates */
	if (s[0] == 0xf0)
		lo = 0x90; /* overlong */
	if (s[0] == 0xf4)
		hi = 0x8f; /* above U+10FFFF */
	if (s[1] < lo || s[1] > hi)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

bool text_is_utf8(const char *s)
{
	size_t n;

	for (; *s; s += n) {
		n = utf8_len((const unsigned char *)s);
		if (!n)
			return false;
	}
	return true;
}

static void put_ascii(struct buf *b, unsigned char c)
{
	static const char named[] = "\bb\tt\nn\ff\rr\"\"\\\\";
	const char *p = NULL;

	for (const char *q = named; *q; q += 2)
		if ((unsigned char)*q == c)
			p = q;
	if (p)
		buf_fmt(b, "\\%c", p[1]);
	else if (c < 0x20 || c == 0x7f)
		buf_fmt(b, "\\u%04x", c);
	else
		buf_add(b, (const char *)&c, 1);
}

static void put_string(struct buf *b, const char *s)
{
	buf_str(b, "\"");
	while (*s) {
		size_t n = utf8_len((const unsigned char *)s);

		if (n == 0) {
			buf_str(b, "\xef\xbf\xbd"); /* U+FFFD */
			n = 1;
		} else if (n == 1) {
			put_ascii(b, (unsigned char)*s);
		} else {
			buf_add(b, s, n);
		}
		s += n;
	}
	buf_str(b, "\"");
}

/* What stands before a value: the comma and the key. */
static void lead(struct json *j, const char *key)
{
	if (j->comma)
		buf_str(j->out, ",");
	j->comma = true;
	if (!key)
		return;
	put_string(j->out, key);
	buf_str(j->out, ":");
}

static void open_level(struct json *j, const char *key, const char *bracket)
{
	lead(j, key);
	buf_str(j->out, bracket);
	j->depth++;
	j->comma = false;
}

static void close_level(struct json *j, const char *bracket)
{
	BUG_ON(j->depth == 0);
	buf_str(j->out, bracket);
	j->depth--;
	j->comma = true;
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, "{");
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, "[");
}

void json_end_object(struct json *j)
{
	close_level(j, "}");
}

void json_end_array(struct json *j)
{
	close_level(j, "]");
}

void json_str(struct json *j, const char *key, const char *s)
{
	if (!s) {
		json_null(j, key);
		return;
	}
	lead(j, key);
	put_string(j->out, s);
}

void json_int(struct json *j, const char *key, int64_t v)
{
	lead(j, key);
	buf_fmt(j->out, "%" PRId64, v);
}

void json_uint(struct json *j, const char *key, uint64_t v)
{
	lead(j, key);
	buf_fmt(j->out, "%" PRIu64, v);
}

void json_num(struct json *j, const char *key, double v)
{
	char text[32];

	json_raw(j, key, isfinite(v) ? fmt_double(text, sizeof text, v) : "null");
}

void json_bool(struct json *j, const char *key, bool v)
{
	json_raw(j, key, v ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	json_raw(j, key, "null");
}

void json_raw(struct json *j, const char *key, const char *json)
{
	lead(j, key);
	buf_str(j->out, json);
}

void json_text(struct json *j, const char *key, const char *s)
{
	json_str(j, key, s && *s ? s : NULL);
}

void json_count(struct json *j, const char *key, int64_t v)
{
	if (v < 0)
		json_null(j, key);
	else
		json_int(j, key, v);
}

void json_flag(struct json *j, const char *key, int v)
{
	if (v < 0)
		json_null(j, key);
	else
		json_bool(j, key, v != 0);
}
