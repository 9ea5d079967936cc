/* SPDX-License-Identifier: MIT */
/* A source file as a stream of bytes or lines: plain, gzip, xz, zstd (bz2 is refused by name), unpacked as it is read. */
#ifndef REPLAY_INPUT_H
#define REPLAY_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "pts/base/err.h"

#define INPUT_HEAD 65536 /* bytes that detection may look at */
#define INPUT_LINE_MAX \
	65536 /* a longer line is an error: no text format has one, a packed bomb does */

#define INPUT_SLACK 64 /* bytes behind a line that may be read, whatever they are */

struct input;

/* "-" is standard input. A directory, an unreadable or empty file: -EINVAL with the reason. */
int input_open(const char *path, struct input **ret_input, struct err *err) must_check;
void input_close(struct input *in);
const char *input_path(const struct input *in);

/* The first bytes (unpacked), without consuming them; fewer than INPUT_HEAD only at the end of the file. */
int input_head(struct input *in, const char **ret_head, size_t *ret_n, struct err *err) must_check;

/* Next line without its newline (and without a CR before it), NUL-terminated, valid until the next call; NULs inside the
 * line stay: @ret_n tells its length. 1 got, 0 end, <0 error. */
int input_line(struct input *in, char **ret_line, size_t *ret_n, struct err *err) must_check;

/*
 * For those who read millions of lines: as many whole lines as are ready, from @ret_text, @ret_n bytes with their newlines (the last
 * line of the file may have none); a NUL follows them. Whoever takes them counts each, before he uses what it says:
 * input_count_line() with its length, newline included. 1 got, 0 end, <0 error.
 */
int input_lines(struct input *in, const char **ret_text, size_t *ret_n, struct err *err) must_check;
struct input_place {
	uint64_t lineno, offset;
};
struct input_place *input_place(struct input *in);
static inline void input_count_line(struct input_place *p, size_t n)
{
	p->lineno++;
	p->offset += n;
}

/* Exactly @n bytes, contiguous, valid until the next call. 1 got, 0 clean end, 2 cut: fewer were left (@ret_n of them). */
int input_bytes(struct input *in, size_t n, const void **ret_bytes, size_t *ret_n,
		struct err *err) must_check;

/* At least @want bytes (up to INPUT_PEEK_MAX) without consuming them, or all that are left: @ret_n. Valid until the next call. */
#define INPUT_PEEK_MAX ((size_t)192 << 10)
int input_peek(struct input *in, size_t want, const char **ret_bytes, size_t *ret_n,
	       struct err *err) must_check;
void input_skip(struct input *in,
		size_t n); /* consumes bytes that were peeked at; those behind stay valid */

uint64_t input_lineno(const struct input *in); /* of the line last given, from 1 */
uint64_t input_offset(const struct input *in); /* unpacked bytes consumed */

#endif
