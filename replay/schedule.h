/* SPDX-License-Identifier: MIT */
/* What the plan needs to know of a captured workload: its dominant streams and its steps. No per-IO data. */
#ifndef REPLAY_SCHEDULE_H
#define REPLAY_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "workloads/access.h"

struct capture_stream {
	uint8_t op, order; /* enum io_op, enum io_order */
	uint32_t bytes;
	double share_pct; /* of all IOs of the capture */
};

struct capture_step {
	uint64_t duration_ns;
	double qd_avg, qd_max; /* over the busy time; 0 = unknown or no IO */
	double busy_pct; /* of the step's time with at least one IO in flight */
	const double
		*share_pct; /* per capture stream, of the step's IOs; all 0 = no IO in the step */
};

struct capture_facts {
	char name[80];
	unsigned n_streams;
	const struct capture_stream *stream; /* by falling share */
	unsigned n_steps;
	const struct capture_step *step;
	double qd_avg; /* of the whole capture; 0 unknown */
	bool is_map; /* a stream map: what is missing is for a person to fill in */
};

/* Spec 17.2: total OIO to threads: the smallest power of two with ceil(oio/threads) <= 32, at most 32, whatever the host. */
unsigned replay_threads(unsigned oio);
/* Depth of thread @i of @threads: the sum over all is exactly @oio. */
unsigned replay_thread_depth(unsigned oio, unsigned threads, unsigned i);
/* Spec 17.1: scale * max(1, round(qd)). */
unsigned replay_oio(double qd, double scale);

#endif
