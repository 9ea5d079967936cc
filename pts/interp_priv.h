/* SPDX-License-Identifier: MIT */
/* Inside of the interpreter: one struct for a test that runs, shared by interp*.c and pick.c. */
#ifndef PTS_INTERP_PRIV_H
#define PTS_INTERP_PRIV_H

#include "pts/base/steady.h"
#include "pts/interp.h"

#define REPEAT_DEPTH 8

/* What later steps need of a cell: checks, picks. */
struct cell_sum {
	unsigned step, section, loop; /* loop: ordinal of the loop run, 0 outside */
	int round, round_try;
	bool voided;
	uint64_t ios;
	double iops, bytes_per_s, art_ns;
};

struct point {
	const char *name;
	unsigned threads, qd;
	double iops, art_ns;
	char reason[400];
};

/* The loop that runs, or ran last. */
struct loop_run {
	const struct step *step; /* its LOOP step; NULL before the first one */
	unsigned ordinal; /* of loops begun, from 1 */
	bool open;
	int round, round_try;
	uint64_t began_ns;
	unsigned repeats; /* depth of repeat blocks around it */
	int valid_from; /* first round of the unbroken series: 1, or after a void round */
	double *y; /* value of (track, round): y[track * rounds_cap + round - 1] */
	unsigned rounds_cap;
	bool steady;
	int window_first, window_last; /* 0: none yet */
	const char *ended_by; /* "steady", "rounds", "written", "time" */
	char state[160]; /* last check in words, for live */
};

struct interp {
	struct run_ctx *ctx;
	const struct plan *plan;
	struct err *err;
	struct where at;
	unsigned pc;
	struct {
		unsigned step, left;
	} repeat[REPEAT_DEPTH];
	unsigned repeats;
	struct loop_run loop;
	struct cell_sum *cell;
	unsigned n_cells, cells_cap;
	struct point *point;
	unsigned n_points;
	_Atomic uint64_t *cursor; /* one for each SEQ stream of the plan */
	uint64_t started_ns; /* DUT clock at the start of the attempt */
	uint64_t written; /* host bytes since the last purge */
	bool section_open, section_looped, section_steady;
	const char *cache_state; /* "off" "on" "none" "unknown"; NULL not set yet */
	bool cache_was, cache_changed;
	bool any_loop, all_steady;
	struct hist *merged; /* scratch: all IOs of a cell */
	/* continuing inside: how much of the recalled rows has been passed */
	unsigned recalled, sections_seen, sections_ended, rounds_seen, points_seen;
	struct live live;
	uint64_t last_commit_ns;
	bool in_tx;
};

/* interp_cell.c: runs the step's job, stores its cells. 0; 1 a written/time condition of the loop ended it; -EIO ... */
int cell_run(struct interp *in, unsigned step);
/* True while stored cells stand for steps that were done before the interruption. */
bool recalling(const struct interp *in);
double expr_value(const struct interp *in, const struct expr *e);
const struct point *point_find(const struct interp *in, const char *name);

/* interp_drive.c */
int drive_purge(struct interp *in, const struct step *s, struct section_row *ret_row);
int drive_cache(struct interp *in);
void drive_restore(struct interp *in);

/* pick.c: chooses the step's operating point among the cells so far. */
int pick_run(struct interp *in, const struct step *s);
/* True if a cell measured by plan step @cell is chosen by the selector. */
bool selector_matches(const struct selector *sel, const struct step *cell);

/* Adds a deviation or an event about this test. */
int note_deviation(struct interp *in, const char *fmt, ...) printf_like(2, 3);

void live_tell(struct interp *in);

#endif
