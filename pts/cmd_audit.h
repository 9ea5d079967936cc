/* SPDX-License-Identifier: MIT */
/*
 * Inside of pts audit. A run is read from its rows alone (cmd_audit_load.c); every cell is worked out again from its
 * histograms, seconds and streams (cmd_audit_cell.c); the stored plan is gone through once more, cell by cell, with each
 * check, window, end of a loop and operating point (cmd_audit_walk.c, cmd_audit_round.c); then each clause of
 * pts/defs/clauses.txt that applies is judged (cmd_audit_clause.c, cmd_audit_judge*.c).
 */
#ifndef PTS_CMD_AUDIT_H
#define PTS_CMD_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "pts/base/arena.h"
#include "pts/base/buf.h"
#include "pts/base/err.h"
#include "pts/base/hist.h"
#include "pts/base/steady.h"
#include "pts/plan.h"
#include "schema/read.h"

#define AUDIT_FAULTS_SHOWN 40

struct acell { /* a row of cell */
	int64_t id, ordinal;
	const char *test, *phase, *label, *access, *workload, *cursors;
	int attempt, section, round, round_try, step, segment, member, threads, qd, oio,
		threads_seen;
	int64_t block_bytes, mrt_ns, min_ns, p50_ns, p99_ns, p999_ns, p9999_ns, p99999_ns;
	uint64_t start_ns, elapsed_ns, read_ios, write_ios, read_bytes, write_bytes, errors,
		short_ios, written;
	double read_pct, art_ns, sum_ns, rate_iops, inflight_avg, little_pct;
	int members; /* rows of drives of a set that it sums up; 0 none */
	bool partial, void_, no_load; /* no_load: threads and depth are unknown */
	double service_ns; /* sum over its service histograms; NAN none */
};

struct around { /* a row of round */
	int64_t id;
	const char *test, *variable;
	int attempt, section, round, round_try;
	double value;
	bool full; /* has a check */
	struct steady_check check;
	bool seen; /* by the walk */
};

struct asection {
	int64_t id, n; /* n: its place in the chain */
	const char *test, *label, *purge_method, *ended_by;
	int attempt, section, purge_verified, steady, window_first, window_last, rounds;
	bool ended, seen;
	/* of the walk */
	bool looped, worked; /* worked: the loop was gone through to its end */
	unsigned checks; /* steady-state checks worked out again */
	const struct step *loop;
};

struct apoint {
	int64_t id;
	const char *test, *point, *reason;
	int attempt, section, threads, qd;
	double iops, art_ns;
	int64_t p99999_ns;
	bool seen, right; /* right: worked out again, and the same */
};

struct aevent {
	int64_t id, n;
	const char *kind, *test, *detail, *method, *now, *asked, *text;
	int ok, verified; /* -1 unknown */
	bool inside; /* resume: inside the test */
};

struct avoid {
	int64_t id;
	const char *test, *reason;
	int attempt, section, round, round_try;
	bool seen;
};

struct atest {
	const char *name, *title, *clause, *verdict, *write_cache, *detail, *definition, *plan_text;
	int attempt, steady; /* attempt: the last one, 0 none; steady -1: no rule */
	int64_t n; /* place of the attempt in the chain */
	bool formal, finished;
	bool planned; /* the plan was understood */
	bool continued; /* inside: a gap */
	bool walked; /* gone through to its end without a fault */
	const char *stuck; /* why the plan could not be gone through; NULL */
	struct plan plan;
};

struct audit {
	struct reader *rd;
	struct arena arena;
	struct err *err;
	int64_t run;
	const char *uuid, *state, *dut, *dut_path, *vendor, *model, *serial, *firmware, *interface,
		*profile, *spec, *software, *digest, *started_utc;
	int64_t capacity_bytes, definition_set, seed;
	uint32_t lba_bytes;
	bool quick, simulated, sealed, client;
	int64_t rows; /* entries of its chain */
	unsigned members; /* drives of a set; 1 otherwise */
	bool head_given;
	int64_t head_at; /* entry with the hash of --head; 0 none */

	struct acell *cell; /* by ordinal */
	unsigned n_cells, cap_cells;
	struct around *round;
	unsigned n_rounds, cap_rounds;
	struct asection *section;
	unsigned n_sections, cap_sections;
	struct apoint *point;
	unsigned n_points, cap_points;
	struct aevent *event;
	unsigned n_events, cap_events;
	struct avoid *voided;
	unsigned n_voided, cap_voided;
	struct atest *test;
	unsigned n_tests, cap_tests;
	const char **deviation; /* "CLAUSE: text" */
	unsigned n_deviations, cap_deviations;
	const char **missing, **given; /* report items (spec 6) */
	unsigned n_missing, n_given;

	const char *fault[AUDIT_FAULTS_SHOWN];
	unsigned n_faults; /* all, also those not kept */
	struct { /* what was worked out again */
		unsigned cells, histograms, seconds, streams, checks, points, windows;
	} done;

	struct finding *finding;
	unsigned n_findings, cap_findings;
};

/* One more element of an array that doubles; zeroed. */
void *audit_grow(struct audit *a, void *array, unsigned *n, unsigned *cap, size_t size);
#define audit_add(a, field, count, capacity) \
	((a)->field = audit_grow((a), (a)->field, &(a)->count, &(a)->capacity, \
				 sizeof *(a)->field), \
	 &(a)->field[(a)->count - 1])

/* The evidence does not hold: "cell 5 (iops test, round 1): ...". */
void audit_fault(struct audit *a, const char *row, const char *fmt, ...) printf_like(3, 4);
const char *audit_cell_name(struct audit *a, const struct acell *c);
const char *audit_section_name(struct audit *a, const struct asection *s);

/* cmd_audit_load.c */
int audit_load(struct audit *a) must_check;
/* The test's sections, points ... of its last attempt. */
struct asection *audit_section(struct audit *a, const char *test, int attempt, int section);
bool audit_of(const struct atest *t, const struct acell *c); /* sum row of the last attempt */
bool audit_row_of(const struct atest *t, const struct acell *c); /* or of a drive of a set */

/* cmd_audit_cell.c */
int audit_cells(struct audit *a) must_check;

/* cmd_audit_walk.c */
struct walk {
	struct audit *a;
	struct atest *t;
	int attempt;
	const struct plan *p;
	struct acell **cell; /* sum rows of the attempt, in order */
	unsigned n, k; /* k: the next one */
	unsigned pc;
	struct asection *sec;
	int section; /* number */
	struct {
		const struct step *step;
		bool open;
		int round, round_try, valid_from, window_first, window_last;
		bool full; /* window_first to window_last are five rounds */
		unsigned first; /* index of the first cell of the loop */
		unsigned first_of_try; /* of the round at hand */
		double *y; /* value of (track, round) */
		unsigned cap;
		bool steady;
		const char *ended_by;
	} loop;
	struct {
		unsigned step, left;
	} repeat[8];
	unsigned repeats;
	uint64_t written;
	struct {
		const char *name;
		unsigned threads, qd, members;
		double iops;
	} point[64];
	unsigned n_points;
	bool any_loop, all_steady, over, broken; /* over: the attempt's rows end here */
};
void audit_walk(struct audit *a, struct atest *t, int attempt);
void walk_break(struct walk *w, const char *row, const char *fmt, ...) printf_like(3, 4);
/* Leaves the loop. */
void walk_loop_end(struct walk *w, const char *by);

/* cmd_audit_round.c */
void walk_check(struct walk *w);
void walk_pick(struct walk *w);
void walk_section_close(struct walk *w);
bool audit_same(double a, double b); /* within 1e-12, or both unknown */

/* ---- clauses ---- */

enum verdict { AUDIT_MET, AUDIT_DEVIATION, AUDIT_NOT_MET, AUDIT_NOT_MEASURED, AUDIT_VERDICTS };

struct clause {
	const char *id, *spec, *mark, *scope, *judge, *args, *text;
};

struct row_list { /* ids of rows, to be told as ranges */
	int64_t *id;
	unsigned n, cap;
};

struct finding {
	const struct clause *clause;
	const struct atest *test; /* NULL: of the run */
	const struct asection *section; /* NULL: of the whole test */
	enum verdict verdict;
	const char *done; /* what was done */
	struct row_list cells, events, rounds, points;
};

struct judging {
	struct audit *a;
	const struct clause *c;
	struct atest *t;
	struct asection *s;
	struct finding *f;
	struct buf done;
};

/* cmd_audit_clause.c */
int audit_clauses(struct audit *a, const struct clause **ret, unsigned *ret_n) must_check;
int audit_judge(struct audit *a) must_check;
const char *audit_verdict_name(enum verdict v);
/* The worse of the verdict so far and @v. */
void judge_say(struct judging *j, enum verdict v);
/* Other than the clause wants, as the plan has it: the operator's doing, or the definition set's own mistake. */
enum verdict judge_by_plan(const struct judging *j);
void judge_text(struct judging *j, const char *fmt, ...) printf_like(2, 3);
/* The value of "key=" in the clause's arguments; NULL. */
const char *judge_arg(const struct judging *j, const char *key);
uint64_t judge_time(const struct judging *j, const char *key); /* 0 without */
void judge_cell(struct judging *j, const struct acell *c);
void judge_row(struct audit *a, struct row_list *l, int64_t id);
/* A cell of the test's last attempt (and section), whole and not void, of the phase (NULL all). */
bool judge_takes(const struct judging *j, const struct acell *c, const char *phase);
/* The same, also of rows of drives of a set. */
bool judge_takes_row(const struct judging *j, const struct acell *c, const char *phase);
const struct step *judge_step(const struct judging *j, const struct acell *c);
const char *judge_streams(struct audit *a, const struct acell *c); /* "65 R RND 8k + 35 W RND 8k" */

/* cmd_audit_judge.c: of the run and its conditions. cmd_audit_judge_cells.c: cells. cmd_audit_judge_steady.c */
void judge_purge(struct judging *j);
void judge_write_cache(struct judging *j);
void judge_range(struct judging *j);
void judge_fill(struct judging *j);
void judge_built_in(struct judging *j);
void judge_recorded(struct judging *j);
void judge_gapless(struct judging *j);
void judge_formal(struct judging *j);
void judge_drive(struct judging *j);
void judge_deviations(struct judging *j);
void judge_complete(struct judging *j);
void judge_numbers(struct judging *j);
void judge_load(struct judging *j);
void judge_same_load(struct judging *j);
void judge_order(struct judging *j);
void judge_sections(struct judging *j);
void judge_duration(struct judging *j);
void judge_shape(struct judging *j);
void judge_access(struct judging *j);
void judge_zones(struct judging *j);
void judge_mix(struct judging *j);
void judge_sequential(struct judging *j);
void judge_total(struct judging *j);
void judge_states(struct judging *j);
void judge_idle(struct judging *j);
void judge_rounds(struct judging *j);
void judge_tracks(struct judging *j);
void judge_steady(struct judging *j);
void judge_window(struct judging *j);
void judge_marked(struct judging *j);
void judge_void(struct judging *j);
void judge_stop(struct judging *j);
void judge_histogram(struct judging *j);
void judge_ceiling(struct judging *j);
void judge_point(struct judging *j);

#endif
