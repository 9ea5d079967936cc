/* SPDX-License-Identifier: MIT */
/* Inside of the interpreter: one struct for a test that runs, shared by interp*.c and pick.c. */
#ifndef PTS_INTERP_PRIV_H
#define PTS_INTERP_PRIV_H

#include "pts/base/buf.h"
#include "pts/base/steady.h"
#include "pts/interp.h"
#include "pts/pick_rule.h"

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
	double iops, art_ns; /* iops: of a set, of all drives that did the cell */
	unsigned step, members; /* plan step of its cells; drives that did them */
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
	int window_first, window_last; /* the last rounds closed, up to five; 0: none yet */
	bool full; /* they are five: a window */
	const char *ended_by; /* "steady", "rounds", "written", "time" */
	char state[160]; /* last check in words, for live */
};

/* What the drive said of itself so far, and which cells it touched. */
struct watch {
	uint64_t asked_ns; /* DUT clock of the last question */
	bool asked;
	unsigned answers; /* with a temperature */
	double temperature_c, first_c; /* of the last and of the first answer; NAN unknown */
	bool varied; /* the temperature did */
	bool throttled, critical, stop;
	unsigned touched; /* cells since it throttles */
	char link[32], own_link[32]; /* last seen; the first of the test where the run keeps none */
	bool told_failure, told_odd; /* once a test */
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
	_Atomic uint64_t *
		cursor; /* one for each SEQ stream of the plan; of a set, as many for each member */
	uint64_t started_ns; /* DUT clock at the start of the attempt */
	uint64_t written; /* host bytes since the last purge, to all drives of a set */
	uint64_t *member_written; /* to each */
	char purge_methods[128]; /* of the members of a set */
	bool section_open, section_looped, section_steady;
	const char *cache_state; /* "off" "on" "none" "unknown"; NULL not set yet */
	bool cache_was, cache_known; /* what it was before pts touched it */
	bool any_loop, all_steady;
	struct hist *merged; /* scratch: all IOs of a cell */
	struct watch watch;
	/* continuing inside: how much of the recalled rows has been passed */
	unsigned recalled, sections_seen, sections_ended, rounds_seen, points_seen;
	struct live live;
	uint64_t last_commit_ns;
	bool in_tx; /* cells, and what is stored between them, share a transaction */
};

/* interp_cell.c: runs the step's job, stores its cells. 0; 1 a written/time condition of the loop ended it; -EIO ... */
int cell_run(struct interp *in, unsigned step);
/* Ends the transaction that cells share, if one is open: commits, or undoes it after a failure of the storage. */
int cells_commit(struct interp *in, struct err *err);
/* True while stored cells stand for steps that were done before the interruption. */
bool recalling(const struct interp *in);
double expr_value(const struct interp *in, const struct expr *e);
const struct point *point_find(const struct interp *in, const char *name);

/* interp_drive.c */
int drive_purge(struct interp *in, const struct step *s, struct section_row *ret_row);
int drive_cache(struct interp *in);
/* -ENODEV: another drive, or of another size, than the run began with. */
int drive_same(struct interp *in);
void drive_restore(struct interp *in);
/* A purge: nothing is written since. */
void written_reset(struct interp *in);

/*
 * interp_health.c: asks the drive at the boundaries of cells, at most once in 10 s of its clock, and never between a cell
 * and the idle that follows it. 0, or HEALTH_STOP, or -EIO of the store.
 */
int health_begin(struct interp *in);
/* After cell @segment of plan step @index; @idle_follows: the drive is to be left alone now. */
int health_cell(struct interp *in, unsigned index, unsigned segment, bool idle_follows);
/* Tells of what is still so at the end. */
int health_end(struct interp *in);
/* Temperature for a cell that ends now: that of an answer not older than the interval; NAN. */
double health_temperature(const struct interp *in);
/* Words for the note of a cell that was touched; "" none. */
void health_note(const struct interp *in, struct buf *out);
/* The cell after step @index, in any turn of its blocks, may be an idle one. */
bool health_idle_after(const struct plan *p, unsigned index);

/* pick.c: chooses the step's operating point among the cells so far. */
int pick_run(struct interp *in, const struct step *s);

/* Adds a deviation or an event about this test. */
int note_deviation(struct interp *in, const char *fmt, ...) printf_like(2, 3);

void live_tell(struct interp *in);

#endif
