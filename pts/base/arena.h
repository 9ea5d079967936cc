/* SPDX-License-Identifier: MIT */
/* Memory that lives as long as a run: allocate freely, free once. Zeroed. Never fails (aborts when memory is gone). */
#ifndef PTS_BASE_ARENA_H
#define PTS_BASE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *head;
};

#define ARENA_INIT \
	{ \
		NULL \
	}

void *arena_alloc(struct arena *a, size_t bytes);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_fmt(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void *arena_memdup(struct arena *a, const void *p, size_t bytes);
void arena_release(struct arena *a);

#define arena_new(a, type) ((type *)arena_alloc(a, sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_alloc(a, sizeof(type) * (n)))

#endif
