/* SPDX-License-Identifier: MIT */
/* IOs in flight over time, from starts in order and response times. A completion comes before a start of the same moment. */
#ifndef REPLAY_INFLIGHT_H
#define REPLAY_INFLIGHT_H

#include <stdint.h>

#include "pts/base/err.h"

/* Told of each stretch of time with the depth during it, in order; empty ones too, when the depth rises at one moment. */
typedef void inflight_fn(void *arg, uint64_t from_ns, uint64_t to_ns, unsigned depth);

struct inflight {
	inflight_fn *fn;
	void *arg;
	uint64_t *end; /* heap of completions to come */
	unsigned n, cap;
	uint64_t t_ns; /* told up to here */
};

void inflight_init(struct inflight *f, inflight_fn *fn, void *arg);
void inflight_release(struct inflight *f);
/* -ENOMEM. */
int inflight_add(struct inflight *f, uint64_t start_ns, uint64_t response_ns) must_check;
void inflight_finish(struct inflight *f); /* up to the last completion */

#endif
