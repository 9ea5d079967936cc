/* SPDX-License-Identifier: MIT */
/* Where requests come from, synthetic and replay alike. */
#ifndef WORKLOADS_SOURCE_H
#define WORKLOADS_SOURCE_H

#include "workloads/io.h"

struct source {
	/* 1 a request in @ret, 0 the end, < 0 -errno. Never blocks, never allocates. */
	int (*next)(struct source *s, struct io *ret);
};

static inline int source_next(struct source *s, struct io *ret)
{
	return s->next(s, ret);
}

#endif
