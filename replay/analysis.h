/* SPDX-License-Identifier: MIT */
/*
 * What a capture consists of: IO streams (RND or SEQ, exact size, R or W) with their shares, and steps of equal length with
 * mix, queue depth and response times (RWSW PTS; spec 16). Flushes and discards are no streams and are left out throughout.
 */
#ifndef REPLAY_ANALYSIS_H
#define REPLAY_ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/trace.h"

#define SEQ_WINDOW_DEFAULT 32u
#define SEQ_WINDOW_MAX 1024u

/*
 * When an IO is SEQ (spec 16.2). Window: it starts where one of the last N IOs of its device and direction ended, which is
 * then used up. Strict: where the IO just before it on the device ended, whatever its direction. A capture that says it
 * itself is believed. The first IO is RND.
 */
struct seq_rule {
	bool strict;
	unsigned window; /* N; 0 = SEQ_WINDOW_DEFAULT */
};

struct response_sum {
	uint64_t n, max_ns; /* n: IOs whose completion is known */
	double sum_ns;
};

struct stream_stat {
	uint8_t op, order; /* enum io_op, enum io_order */
	uint64_t bytes; /* of each IO */
	uint64_t ios;
	struct response_sum response;
	double share_pct; /* of all R and W IOs of the capture */
	double normalized_pct; /* of those of the dominant streams; 0: not one of them */
};

struct step_stream {
	uint32_t stream; /* index into analysis.stream */
	uint32_t ios;
};

struct step_stat {
	uint64_t start_ns; /* from the first IO */
	uint64_t ios, reads, writes, bytes, read_bytes,
		write_bytes; /* of the IOs that start in it */
	struct response_sum response; /* of the same */
	double qd_area_ns; /* IOs in flight, over the time of the step */
	uint64_t busy_ns; /* of it, with at least one in flight */
	unsigned qd_max;
	uint32_t first, n_streams; /* step_stream [first, first + n_streams) */
};

struct analysis {
	struct seq_rule rule;
	uint64_t step_ns;
	uint64_t ios, seq_ios;
	uint64_t span_ns; /* first start to last start */
	uint64_t end_ns; /* first start to last completion, where completions are known */
	struct stream_stat *stream; /* by falling share */
	unsigned n_streams, n_dominant;
	double coverage_pct; /* of the dominant ones */
	struct step_stat *step; /* without gaps: a step without IO is a row */
	unsigned n_steps;
	struct step_stream *step_stream;
	uint64_t n_step_streams;
	bool qd_known; /* completions exist */
	double qd_area_ns; /* of the whole capture, and the like */
	uint64_t busy_ns;
	unsigned qd_max;
};

/* Reads the whole capture. @step_ns 0 = 1 s. -E2BIG: more steps than can be kept; -EINVAL: no R or W IO. */
int analysis_run(struct trace *t, const struct seq_rule *rule, uint64_t step_ns,
		 struct analysis *ret, struct err *err) must_check;
void analysis_release(struct analysis *a);

/*
 * Chooses the dominant streams and renormalises their shares (spec 16.1): the @top first ones, and more until they cover
 * @cover_pct. 0, 0 = the default: 9, or as many as cover 80 %, whichever is more (spec 22, row 32).
 */
void analysis_dominate(struct analysis *a, unsigned top, double cover_pct);

/* Puts the streams into the order of their shares, and fills those in. For who builds an analysis of his own. -ENOMEM. */
int analysis_rank(struct analysis *a) must_check;

/* Mean IOs in flight over the busy time: the native queue depth (spec 17.1); 0 = unknown or idle. */
double step_qd_avg(const struct step_stat *s);

#endif
