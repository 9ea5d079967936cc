/* SPDX-License-Identifier: MIT */
/* Parts of `pts replay`. */
#ifndef PTS_CMD_REPLAY_H
#define PTS_CMD_REPLAY_H

#include "pts/cmd.h"
#include "pts/cmd_info.h"
#include "pts/cmd_progress.h"
#include "pts/cmd_targets.h"
#include "replay/exact.h"
#include "schema/store.h"
#include "workloads/dut_target.h"
#include "workloads/timed.h"

#define REPLAY_LATE_P99_NS 1000000 /* a replay that is later, or ... */
#define REPLAY_SPAN_ERROR_PCT 0.1 /* ... whose span differs by more, is not valid */

/* How true the replay was. */
struct replay_truth {
	uint64_t records, planned, dropped; /* all loops */
	int64_t late_p50_ns, late_p99_ns, late_p999_ns, late_max_ns; /* -1 n/a */
	double span_error_pct; /* NAN n/a */
	double depth_avg;
	bool valid;
	char why[256]; /* not valid */
};

struct replay {
	const struct opts *o;
	struct exact_conf conf;
	struct trace *trace;
	char sha256[65];
	/* targets; of a dry replay without one: 1, and no DUT */
	struct buf dut; /* as dut_open() takes it: one, or set:A,B of several */
	struct targets targets;
	struct dut *d;
	struct exact_map *map;
	struct exact_target target[TIMED_TARGETS_MAX];
	struct engine_target io[TIMED_TARGETS_MAX];
	unsigned n_targets;
	struct exact *exact;
	struct timed *timed;
	struct replay_truth truth;
	uint64_t seed;
	/* the run */
	struct info info;
	struct store *store;
	int64_t run;
	struct where at;
	char uuid[37];
	struct progress_out progress;
	uint64_t span_ns;
};

const char *replay_speed(const struct replay *r, char *out, size_t n); /* "native" "asap" "4" */
const char *replay_fit(const struct replay *r);
const char *replay_order(const struct replay *r);
/* {"DEVICE": "DUT@OFFSET", ...}; {"reason": records, ...} of all loops */
void replay_devices(const struct replay *r, struct buf *out);
void replay_drops(const struct replay *r, struct buf *out);

/* cmd_replay_truth.c; @rc: how the run ended. */
void replay_judge(struct replay *r, int rc);
void replay_print(const struct replay *r, const char *state, struct buf *out);

/* cmd_replay_rows.c: the run with its capture, before the replay; what it did, after it. */
int replay_register(struct replay *r, struct err *err) must_check;
int replay_store(struct replay *r, int rc, struct err *err) must_check;

#endif
