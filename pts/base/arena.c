/* SPDX-License-Identifier: MIT */
#include "pts/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pts/base/err.h"

#define BLOCK_BYTES 65536
#define ALIGN _Alignof(max_align_t)

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	max_align_t data[];
};

static struct arena_block *block_new(size_t bytes)
{
	struct arena_block *b = calloc(1, sizeof *b + bytes);

	if (!b)
		BUG("out of memory");
	b->size = bytes;
	return b;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	struct arena_block *b = a->head;
	void *p;

	if (bytes > SIZE_MAX / 4)
		BUG("allocation of %zu bytes", bytes);
	bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
	if (!b || b->size - b->used < bytes) {
		b = block_new(bytes > BLOCK_BYTES / 4 ? bytes : BLOCK_BYTES);
		if (a->head && b->size == bytes) { /* a big one: go on filling the current block */
			b->next = a->head->next;
			a->head->next = b;
		} else {
			b->next = a->head;
			a->head = b;
		}
	}
	p = (char *)b->data + b->used;
	b->used += bytes;
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = arena_alloc(a, len + 1);

	memcpy(p, s, len);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_fmt(struct arena *a, const char *fmt, ...)
{
	char shortly[256];
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(shortly, sizeof shortly, fmt, ap);
	va_end(ap);
	BUG_ON(n < 0);
	p = arena_alloc(a, (size_t)n + 1);
	if ((size_t)n < sizeof shortly)
		return memcpy(p, shortly, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return p;
}

void *arena_memdup(struct arena *a, const void *p, size_t bytes)
{
	void *copy = arena_alloc(a, bytes);

	if (bytes)
		memcpy(copy, p, bytes);
	return copy;
}

void arena_release(struct arena *a)
{
	while (a->head) {
		struct arena_block *b = a->head;

		a->head = b->next;
		free(b);
	}
}
