/* SPDX-License-Identifier: MIT */
/*
 * A plan: a definition compiled with the facts of a drive to flat steps. The interpreter runs it, `pts plan` prints it,
 * the database keeps its text. foreach is expanded; loop and repeat stay, as jumps; values that only a measurement can
 * give (the operating points) stay as expressions.
 */
#ifndef PTS_PLAN_H
#define PTS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "pts/base/arena.h"
#include "pts/base/buf.h"
#include "pts/base/err.h"
#include "pts/def.h"
#include "replay/schedule.h"
#include "workloads/access.h"

enum profile { PROFILE_ENTERPRISE, PROFILE_CLIENT };

struct plan_env {
	uint64_t capacity_bytes; /* user capacity */
	uint32_t lba_bytes;
	unsigned members; /* drives of a set; 1 otherwise */
	enum profile profile;
	bool quick;
	const char *const *set; /* "name=value" of --set, n_set of them */
	unsigned n_set;
	const struct capture_facts *capture; /* NULL without --capture */
	const char *scales; /* of --scale, blanks between; NULL */
	uint64_t seed; /* of the run */
};

enum opcode {
	STEP_PURGE,
	STEP_FILL,
	STEP_RUN,
	STEP_REPLAY,
	STEP_IDLE,
	STEP_LOOP,
	STEP_CHECK,
	STEP_UNTIL,
	STEP_REPEAT,
	STEP_AGAIN,
	STEP_PICK,
	STEP_END
};

/* A number that may hang on a measured point: k, or k * point.iops, .threads, .qd. */
enum ref_field { REF_NONE, REF_IOPS, REF_THREADS, REF_QD };
struct expr {
	double k;
	enum ref_field field;
	const char *point; /* NULL for a constant */
};

enum variable { VAR_IOPS, VAR_BYTES_PER_S, VAR_ART };

/* Chooses cells of a loop or section. Unset fields (phase NULL, read_pct < 0, 0) match all. */
struct selector {
	const char *phase;
	double read_pct;
	uint32_t block_bytes;
	unsigned threads, qd;
	const char *label;
};

struct track {
	enum variable var;
	struct selector sel;
	const char *text; /* "iops of rw 0/100 bs 4k" */
};

enum cond_kind { COND_STEADY, COND_WRITTEN, COND_TIME };
struct cond {
	enum cond_kind kind;
	uint64_t value; /* bytes since the last purge, ns since the loop began */
};

enum loop_then { THEN_GO_ON, THEN_STOP, THEN_ABORT };
enum pick_rule { PICK_AT, PICK_HIGHEST_IOPS, PICK_NEAREST_IOPS_MID };

struct step {
	enum opcode op;
	unsigned line; /* of the definition */
	unsigned section; /* from 1 */
	const char *section_label; /* "1024k", "" */
	bool opens_section;
	/* RUN FILL REPLAY IDLE */
	const char *phase; /* "round", "step", "wipc", "sample" ... */
	const char *label; /* "" none */
	const char *na; /* not NULL: this drive cannot do the cell; the reason */
	const struct access *access; /* NULL for IDLE and REPLAY */
	double read_pct; /* asked; NAN mixed by the streams themselves is computed */
	uint32_t block_bytes; /* 0 when sizes are mixed */
	struct expr threads, qd; /* constants or of a point */
	struct expr rate; /* k == 0: closed loop */
	const char *at; /* point, or NULL */
	unsigned member_first, member_last; /* 0: all */
	uint64_t time_ns, every_ns; /* RUN IDLE; every 0: one cell */
	uint64_t bytes; /* FILL */
	double scale; /* REPLAY */
	/* REPLAY: its segments, n_replay: one a step of the capture; with idle_honor its idle share is a second one */
	const struct capture_step *replay;
	const struct access *const *replay_access; /* NULL: idle */
	const unsigned *replay_no; /* step of the capture, from 1 */
	unsigned n_replay;
	bool qd_max, idle_honor;
	unsigned qd_fixed; /* 0: as the capture says */
	/* PURGE */
	bool optional;
	/* LOOP: end = index of its UNTIL. UNTIL, AGAIN: head = index of LOOP, REPEAT. CHECK: head = its LOOP */
	unsigned head, end;
	unsigned rounds; /* LOOP: 0 = no limit. REPEAT: times */
	enum loop_then then;
	bool own_check; /* LOOP: has a check statement of its own, UNTIL does not check */
	const struct cond *cond;
	unsigned n_conds;
	const struct track *track;
	unsigned n_tracks;
	/* PICK */
	const char *point;
	enum pick_rule rule;
	const char *
		pick_phase; /* NULL: phase round of the last closed loop, else all cells of the section */
	double art_below_ns; /* 0: no condition */
	double tie_pct;
	bool tie_lowest_oio, tie_lowest_tc, else_lowest_art;
};

struct plan_deviation {
	const char *clause, *text;
};

struct plan {
	struct arena arena;
	const struct def *def;
	const char *name, *title, *clause;
	struct step *step;
	unsigned n;
	unsigned n_cursors, n_sections;
	unsigned members; /* drives of a set; 1 otherwise */
	struct active_range range; /* for cells; align by largest block */
	struct active_range fill_range; /* for FILL: every LBA of the range */
	bool write_cache; /* the profile wants it on */
	const char *params; /* JSON object of the values used */
	bool formal; /* of the definition set, unchanged */
	unsigned n_dominant; /* streams taken of the capture; 0: none */
	double coverage_pct; /* of its IOs, by these */
	const struct plan_deviation *deviation;
	unsigned n_deviations;
};

/*
 * Compiles one test. -EINVAL with FILE:LINE for what the definition or --set says wrongly, or what this drive cannot do at
 * all (smaller than the largest block). Nothing is opened. Release with plan_release().
 */
int plan_compile(const struct def_lib *lib, const struct def *test, const struct plan_env *env,
		 struct plan *ret, struct err *err) must_check;
void plan_release(struct plan *p);

/*
 * What the command line says about several tests, before a drive is known: every --set names a param of one of them,
 * --scale and --capture have a use, and what needs --capture has it. -EINVAL with the nearest name.
 */
int plan_check_sets(const struct def *const *test, unsigned n, const struct plan_env *env,
		    struct err *err) must_check;
bool plan_uses_capture(const struct def *test);
/* The capture that the test itself names ("param capture = gps-drive0"), used without --capture; NULL none. */
const char *plan_own_capture(const struct def *test);

/* Label of a cell: the step's; of a replay "step 5", and "step 5 idle" for the idle share at its end. */
void cell_label(const struct step *s, unsigned segment, char *out, size_t n);
/* Depth that segment @segment of a replay asks for in all: scale * max(1, round(qd)); 0 idle. */
unsigned replay_step_oio(const struct step *s, unsigned segment);

/* Drives that a step works on: those of its range of members, else all of the set; 1 where there is no set. */
unsigned step_members(const struct plan *p, const struct step *s);

/* What a drive is taken to do at the most, and at which speed a FILL is taken to last at the longest. 0 unknown. */
struct plan_speed {
	double slow_fill_bytes_per_s; /* for times only */
	double write_bytes_per_s, write_iops, read_iops; /* read_iops 0: as write_iops */
	char basis[80]; /* in words: "PCIe 16.0 GT/s x4" */
};
struct dut_info;
/* Of a simulated drive its model's; else what its interface allows: PCIe by its link, SATA 550 MB/s, any other 500 MB/s. */
void plan_speed_of(const struct dut_info *d, struct plan_speed *ret);

/* Expected cost of a plan, bytes over all drives of a set. Only those of FILL steps are exact: the rest hangs on the speed. */
struct plan_cost {
	uint64_t min_ns, max_ns; /* steady at the first chance; at the last */
	uint64_t fill_bytes; /* exact */
	uint64_t min_bytes,
		max_bytes; /* these, plus an estimate for RUN (0 when no rates are known) */
	unsigned cells_min, cells_max;
};
void plan_cost(const struct plan *p, const struct plan_speed *speed, struct plan_cost *ret);

struct plan_at { /* where a test is */
	unsigned step;
	unsigned round; /* of the loop that holds the step; 0: in none */
	uint64_t loop_ns; /* since that loop began */
	double fill_bytes_per_s; /* of each drive; 0 unknown (then 500 MB/s) */
};

/* What is left from there on, the step itself counted whole, repeats too; a loop never beyond its time limit. */
void plan_left(const struct plan *p, const struct plan_at *at, uint64_t *ret_min_ns,
	       uint64_t *ret_max_ns);

/* The plan as text, one step a line, indented by loops; stored with a run and printed by `pts plan`. Deterministic. */
void plan_text(const struct plan *p, struct buf *out);
/* One step in words: "RUN rnd 4k 0/100 T4Q32 1m as round". */
void step_text(const struct plan *p, unsigned i, struct buf *out);

#endif
