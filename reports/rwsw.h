/* SPDX-License-Identifier: MIT */
/*
 * Captured workloads (RWSW PTS; spec 16, 17): what the capture of a run consists of, and what its replays came to. Worked
 * out once, for the sheets and for JSON.
 */
#ifndef REPORTS_RWSW_H
#define REPORTS_RWSW_H

#include "reports/dataset.h"

struct wsat;

#define RWSW_REV "RWSW-PTS 1.0.7"
#define RWSW_STREAMS 32 /* told one by one; all others of a capture are one sum */

struct io_stream {
	const char *op, *access; /* "W", "SEQ" */
	int64_t block_bytes;
	const char *name; /* "SEQ 4K W" */
	uint64_t ios; /* in the capture; 0: not known */
	double share_pct; /* of all IOs of the capture; NAN: not known */
	double normalized_pct; /* of those of the streams used; NAN: not used */
	bool used; /* the tests replay it */
};

struct workload_step { /* of the capture */
	double start_ns;
	uint64_t ios, bytes;
	double qd_avg; /* over its busy time; NAN unknown */
	int64_t qd_max; /* -1 unknown */
	double art_ns;
	double *of; /* IOs, of a map of shares %: [n_streams], then those of all other streams */
	bool any; /* it has IO */
};

/* A capture; of a run without rows of it, what its cells tell: the streams used and their normalised shares. */
struct workload {
	const char *name;
	bool stored; /* it has a row; else the following are unknown */
	const char *format, *sha256, *devices, *level, *began, *seq_rule, *event;
	int64_t records, reads, writes, bytes_read, bytes_written, duration_ns, lost, step_ns;
	int64_t ios; /* reads and writes; 0: a map that has shares only */
	bool shares_only;
	const char *list; /* its largest streams as stored: JSON */
	struct io_stream
		*stream; /* those used in the order of their shares, then the largest others */
	unsigned n_streams, n_used;
	unsigned n_all; /* streams of the capture; 0 unknown */
	double used_pct; /* of all IOs; NAN unknown */
	struct workload_step *step;
	unsigned n_steps, n_idle;
	int qd_low,
		qd_high; /* queue depths asked at x1: max(1, round(qd)) of its steps; 0 unknown */
};

/* One replay of all steps at one scale of the queue depth (spec 17.2). */
struct replay_scale {
	double scale;
	const char *name; /* "x4" */
	const struct measure **step;
	unsigned n, n_idle; /* steps; those that asked for no IO */
	int oio_low, oio_high; /* asked, of the steps with IO; 0 none */
	double oio_avg, inflight_avg; /* over the active time; NAN unknown */
	uint64_t ios, bytes;
	double active_ns; /* of the steps with IO: what the rates are of (spec 17.1) */
	double iops, bytes_per_s, art_ns; /* art: weighted by IOs */
	struct levels levels; /* of all IOs of the replay: merged histograms */
	int64_t mrt_ns; /* highest of the steps */
	double art_step_ns; /* highest ART of a step */
	double iops_cv; /* of the steps with IO */
	uint64_t *of; /* IOs replayed: [n * (n_streams + 1)], as workload_step.of */
	uint64_t *of_sum; /* [n_streams + 1], over the steps */
	double *asked; /* [n_streams]: share asked for, weighted by the IOs of the steps */
	double mix_error; /* largest |share replayed - share asked|, in % of the IOs; NAN unknown */
};

/* How true an exact replay was; -1 and NAN unknown. */
struct fidelity {
	const char *test;
	int attempt;
	const char *speed, *fit, *order, *devices, *why_dropped, *why_invalid;
	int64_t records, issued, dropped, reordered, moved, rounded, loops;
	int64_t late_p50_ns, late_p99_ns, late_p999_ns, late_max_ns;
	double span_error_pct;
	int64_t span_asked_ns, span_ns, stalls, stall_ns, starved, conflicts;
	double depth_asked_avg, depth_avg;
	int64_t depth_asked_max, depth_max, short_ios, errors, hung;
	int valid;
};

struct replay {
	const struct test *test;
	struct replay_scale *scale; /* in the order they ran */
	unsigned n;
	const struct fidelity *fidelity; /* exact replay; NULL: by steps */
	const struct measure *cell; /* of an exact replay, whole or cut short; NULL none */
	struct levels service,
		response; /* of it; response: from when each IO was due, n 0 at asap */
	double *second, *ios, *art_ns, *mrt_ns; /* [n_seconds] */
	unsigned n_seconds;
};

/* A stream run alone to its steady state (spec 17.3). */
struct stream_alone {
	const struct section *section;
	const struct combo *combo; /* NULL: no round was measured */
	unsigned stream; /* of the workload; n_streams: none of it */
	const char *name;
};

struct rwsw {
	struct workload cap;
	struct replay *replay;
	unsigned n_replays;
	const struct wsat **multi; /* the composite in one loop (spec 17.4) */
	unsigned n_multi;
};

/* Fills d->rwsw where the run has captures or tests of them; called by dataset_calc(). */
int dataset_rwsw(struct dataset *d, struct err *err) must_check;

/* Parts of the above. */
int rwsw_workload(struct dataset *d, struct workload *w, struct err *err) must_check;
int rwsw_replays(struct dataset *d, struct rwsw *x, struct err *err) must_check;
int rwsw_fidelity(struct dataset *d, const struct test *t, const struct fidelity **ret,
		  struct err *err) must_check;

/* A test that works from a capture, as the RWSW PTS wants it or a user made it like that. */
bool rwsw_is(const struct test *t);
bool rwsw_has_replay(const struct test *t); /* its plan replays steps, or all IOs exactly */
const struct replay *rwsw_replay(const struct dataset *d, const struct test *t);

/* The WSAT numbers of a test of one loop, or NULL. */
const struct wsat *rwsw_multi(const struct dataset *d, const struct test *t);
/* The streams of a test that runs them one by one, in the order of their shares. @ret has room for its sections. */
unsigned rwsw_alone(const struct dataset *d, const struct test *t, struct arena *a,
		    struct stream_alone *ret);

/* Their harmonic mean, weighted by the normalised shares; NAN where one of them has no value. */
double rwsw_alone_mean(const struct workload *w, const struct stream_alone *s, unsigned n);

/* "SEQ 4K W", "RND 0.5K R". */
const char *rwsw_stream_name(struct arena *a, const char *op, const char *access,
			     int64_t block_bytes);
/* Index of the stream, n_streams when it is none of the table's. */
unsigned rwsw_stream_find(const struct workload *w, const char *op, const char *access,
			  int64_t block_bytes);

/* How many streams have a line or an area of their own: those used or, where none is, the largest; at most @max. */
unsigned rwsw_dominant(const struct workload *w, unsigned max);
/* How many steps make a point of a chart that shows at most @max: 1, 2, 5, 10, 15, 30, 60 ... of @n. */
unsigned rwsw_bin(unsigned n, unsigned max);

/* ---- pages that several sheets have ---- */

struct page;
struct header;
/* Rev, capture, level, duration, streams, native QD (spec 19) in the set-up block; keeps what else it needs. */
void rwsw_header(struct header *h, const struct dataset *d, const struct test *t, struct arena *a);
/* Streams distribution; streams by quantity; stream map. */
void rwsw_pages(struct page *p);
void rwsw_page_map(struct page *p,
		   const struct replay_scale *s); /* of the capture; @s: as replayed */
void rwsw_page_streams(struct page *p);
void rwsw_page_quantity(struct page *p);
/* "1 - 14", "1" */
const char *rwsw_range(struct arena *a, int low, int high);
/* "10 s", "30 min" */
const char *rwsw_span(struct arena *a, double ns);
uint32_t rwsw_color(unsigned i);
/* From 0 to above the highest depth, in whole numbers. */
struct axis;
void rwsw_axis_depth(struct axis *a, const double *v, unsigned n);
/* WSAT pages of any loop of samples. */
struct grid;
void wsat_sheet(const struct dataset *d, struct grid *g, const struct wsat *w);

#endif
