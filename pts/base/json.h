/* SPDX-License-Identifier: MIT */
/* JSON writer: builds one document in a buffer, commas and escapes kept right, numbers independent of the locale. */
#ifndef PTS_BASE_JSON_H
#define PTS_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

struct buf;

struct json {
	struct buf *out;
	unsigned depth;
	bool comma; /* something stands before at this depth */
};

#define JSON_INIT(b) \
	{ \
		(b), 0, false \
	}

/* @key is NULL inside an array and for the document itself. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end_object(struct json *j);
void json_end_array(struct json *j);
void json_str(struct json *j, const char *key,
	      const char *s); /* NULL writes null; bad UTF-8 becomes U+FFFD */
void json_int(struct json *j, const char *key, int64_t v);
void json_uint(struct json *j, const char *key, uint64_t v);
void json_num(struct json *j, const char *key,
	      double v); /* %.17g cut to the shortest exact form; NaN and infinities write null */
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);
/* What may be unknown: null for an empty text, for a number below 0, for a flag below 0 (else 1 or 0). */
void json_text(struct json *j, const char *key, const char *s);
void json_count(struct json *j, const char *key, int64_t v);
void json_flag(struct json *j, const char *key, int v);
void json_raw(struct json *j, const char *key, const char *json); /* text that is JSON already */

bool text_is_utf8(const char *s); /* well-formed (RFC 3629) */

/* Shortest decimal text that reads back as the same double ("0.1", "1e+300"). Returns @out (n >= 32). */
const char *fmt_double(char *out, unsigned n, double v);

#endif
