/* SPDX-License-Identifier: MIT */
/* A growing string. Out of memory aborts: nothing that uses it is on a measured path. */
#ifndef PTS_BASE_BUF_H
#define PTS_BASE_BUF_H

#include <stddef.h>

struct buf {
	char *s; /* always NUL-terminated once something was added; NULL when empty */
	size_t len, cap;
};

#define BUF_INIT \
	{ \
		NULL, 0, 0 \
	}

void buf_add(struct buf *b, const char *data, size_t len);
void buf_str(struct buf *b, const char *s);
void buf_fmt(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The text so far, "" when empty; owned by the buffer. */
const char *buf_cstr(const struct buf *b);
/* Hands the malloc'ed string to the caller (never NULL) and leaves the buffer empty. */
char *buf_take(struct buf *b);
void buf_release(struct buf *b);

/* Reads a whole file into @b. 0 or -errno (a directory is -EISDIR). Stops with -EFBIG past @max_bytes. */
int buf_read_file(struct buf *b, const char *path, size_t max_bytes)
	__attribute__((warn_unused_result));

#endif
