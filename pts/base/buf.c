/* SPDX-License-Identifier: MIT */
#include "pts/base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pts/base/err.h"

/* Room for @more bytes and the NUL behind them. */
static void reserve(struct buf *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 64;

	if (more > SIZE_MAX / 4 - b->len)
		BUG("string too long");
	while (cap < b->len + more + 1)
		cap *= 2;
	if (cap == b->cap)
		return;
	b->s = realloc(b->s, cap);
	if (!b->s)
		BUG("out of memory");
	b->cap = cap;
}

void buf_add(struct buf *b, const char *data, size_t len)
{
	reserve(b, len);
	if (len)
		memcpy(b->s + b->len, data, len);
	b->len += len;
	b->s[b->len] = '\0';
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	reserve(b, 40); /* most are short: formatted once, straight into place */
	size_t room = b->cap - b->len;
	va_start(ap, fmt);
	n = vsnprintf(b->s + b->len, room, fmt, ap);
	va_end(ap);
	BUG_ON(n < 0);
	if ((size_t)n >= room) {
		reserve(b, (size_t)n);
		va_start(ap, fmt);
		vsnprintf(b->s + b->len, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	b->len += (size_t)n;
}

const char *buf_cstr(const struct buf *b)
{
	return b->s ? b->s : "";
}

char *buf_take(struct buf *b)
{
	char *s;

	reserve(b, 0);
	b->s[b->len] = '\0';
	s = b->s;
	*b = (struct buf)BUF_INIT;
	return s;
}

void buf_release(struct buf *b)
{
	free(b->s);
	*b = (struct buf)BUF_INIT;
}

static int read_all(struct buf *b, int fd, size_t max_bytes)
{
	size_t start = b->len;

	for (;;) {
		ssize_t n;

		reserve(b, 65536);
		n = read(fd, b->s + b->len, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		b->len += (size_t)n;
		b->s[b->len] = '\0';
		if (n == 0)
			return 0;
		if (b->len - start > max_bytes)
			return -EFBIG;
	}
}

int buf_read_file(struct buf *b, const char *path, size_t max_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = read_all(b, fd, max_bytes);
	close(fd);
	return rc;
}
