/* SPDX-License-Identifier: MIT */
/*
 * One run as plain structs, read from the public views and worked out once: every sheet and the JSON take their numbers
 * from here, so that a number on the Summary is the number on its page. Base units: bytes, ns, IO/s; NAN and -1 unknown.
 */
#ifndef REPORTS_DATASET_H
#define REPORTS_DATASET_H

#include <stdbool.h>
#include <stdint.h>

#include "pts/base/arena.h"
#include "pts/base/err.h"
#include "pts/base/hist.h"

#define WINDOW_ROUNDS 5

struct pair {
	const char *key, *value;
};

struct pairs {
	struct pair *v;
	unsigned n;
};
/* Its value, or NULL when unknown or empty. */
const char *pairs_get(const struct pairs *p, const char *key);

/* A measured step: one row of v_cell. */
struct measure {
	int64_t cell_id;
	const char *test, *section_label, *phase, *label, *access, *note;
	int attempt, section, round, round_try, step, member, threads, qd, oio, threads_seen;
	double read_pct, scale;
	int64_t block_bytes;
	uint64_t start_ns, elapsed_ns, ios, read_ios, write_ios, bytes, write_bytes, errors,
		host_bytes_written, short_ios;
	double iops, bytes_per_s, art_ns;
	double rate_iops; /* asked; NAN: as fast as the drive answers */
	int64_t mrt_ns, p50_ns, p99_ns, p999_ns, p9999_ns, p99999_ns;
	double inflight_avg, little_pct, cpu_sys_pct, cpu_total_pct, temperature_c;
	bool in_window, partial, void_;
	unsigned index; /* in dataset.measure: its row of the data sheet is index + 1 */
};

/* The rounds of one cell of the loop ("RND 4 KiB 65/35 T4Q32") and their measurement window (spec 7, 9). */
struct combo {
	double read_pct;
	int64_t block_bytes;
	int threads, qd;
	const char *label, *access, *pattern; /* pattern "RND" "SEQ" "MIX" */
	const char *title; /* "RND 4 KiB 65/35" */
	const struct measure **round; /* [n_rounds], by round - 1; NULL where not measured */
	unsigned n_rounds;
	const struct measure *window[WINDOW_ROUNDS]; /* of the rounds of the window */
	unsigned n_window; /* 0: no result */
	double iops, bytes_per_s; /* mean of the rounds of the window */
	double art_ns; /* the rounds of the window weighted by their IOs (spec 14) */
	double art_rounds_ns; /* mean of their ARTs: what LAT reports (spec 9), and no other test */
	double iops_cv, bytes_cv, art_cv; /* sample deviation / mean; NAN below two rounds */
	int64_t mrt_ns; /* highest of the window */
	double mrt_rounds_ns; /* mean of the rounds' (spec 22 #7) */
	double inflight; /* mean over the time of the window's rounds; NAN unknown */
	int64_t p50_ns, p99_ns, p999_ns, p9999_ns; /* as p99999_ns */
	int64_t p99999_ns; /* of the merged histograms of the window; -1 n/a */
	uint64_t ios, above; /* IOs of the merged histograms; ranked above 99.999 % */
};

enum unit { UNIT_IOPS, UNIT_BYTES_PER_S, UNIT_NS };

/* A steady-state check as stored. */
struct check_row {
	int round, first_round;
	double y[WINDOW_ROUNDS], average, range, range_allowed, slope, intercept, slope_excursion,
		slope_allowed, correlation;
	bool steady;
};

struct track {
	const char *variable, *title; /* "iops of rw 0/100 bs 4k"; "RND 4 KiB R/W 0/100" */
	enum unit unit;
	double *value; /* [n], by round - 1; NAN where void or missing */
	unsigned n;
	const struct check_row *check; /* of the measurement window; NULL: fewer than five rounds */
	const struct combo *combo; /* the cell it tracks, when there is one */
};

struct capture_hist { /* a cell of phase "histogram" with all its latencies */
	const struct measure *m;
	struct hist *hist;
};

/* What a histogram says; -1 where it has too few IOs for a percentile. */
struct levels {
	uint64_t n, above; /* IOs; ranked above 99.999 % */
	double art_ns;
	int64_t p50_ns, p99_ns, p999_ns, p9999_ns, p99999_ns, mrt_ns;
};

struct rated { /* a step driven at a rate: times from the submission, and from when each IO was due */
	const struct measure *m;
	struct levels service, response;
};

struct section {
	int number;
	const char *label, *purge_method, *ended_by;
	int purge_verified, steady; /* 1, 0, -1 unknown or without a rule */
	int window_first, window_last; /* of five rounds; -1 none */
	int rounds; /* closed */
	struct combo *combo;
	unsigned n_combos;
	struct track *track;
	unsigned n_tracks;
	struct capture_hist *hist;
	unsigned n_hists;
	struct rated *rated;
	unsigned n_rated;
	const struct measure *fill; /* its preconditioning, NULL none */
	uint64_t fill_bytes;
};

enum test_status { STATUS_VALID, STATUS_WARN, STATUS_NOT_VALID, STATUS_NOT_RUN };

struct test { /* test_is_exact(): an exact replay, which follows no definition */
	const char *name, *title, *clause;
	const char *sheet; /* name of its sheet: "IOPS" */
	bool formal, finished;
	int attempt; /* the last one, 0 none */
	const char *definition_hash, *plan_hash, *plan; /* plan: its text; "" before an attempt */
	struct pairs params;
	const char *purge_method, *write_cache, *verdict, *detail, *started_utc, *ended_utc;
	int purge_verified, steady;
	struct section *section;
	unsigned n_sections;
	enum test_status status;
	const char *reason; /* why it is not valid; "" */
	bool has_rule; /* has a steady-state rule, by its plan or by its rows */
	double temp_min, temp_max;
	unsigned n_warnings;
};

/* A cell the drive cannot do. */
struct na_cell {
	const char *test, *access, *reason;
	int64_t block_bytes;
	double read_pct;
};

struct deviation {
	const char *clause, *text;
};

struct event {
	int64_t id;
	const char *utc, *kind, *detail, *hash;
	/* of its detail, "" or 0 where it has none */
	const char *test, *text, *cell, *first, *now;
	int round;
	unsigned cells;
};

struct operating_point {
	const char *test, *point, *reason;
	int section, threads, qd;
	double iops, art_ns;
	int64_t p99999_ns;
};

enum severity { SEV_FAIL, SEV_WARN, SEV_INFO };
struct warning {
	enum severity severity;
	const char *test, *clause, *what, *effect, *evidence;
};

/* A line of the Summary. Its value is that of the test's page. */
struct result {
	const struct test *test;
	const struct section *section;
	const char *access, *tcqd, *metric, *key; /* key: stable name for JSON */
	enum unit unit;
	double value; /* base unit; NAN n/a */
	double cv;
	bool reported; /* false: the section is not steady, or the test did not end */
	int read_pct; /* for the colour of its bar; -1 */
};

enum verdict { VERDICT_CONFORMANT, VERDICT_DEVIATIONS, VERDICT_NOT_CONFORMANT };

struct dataset {
	struct arena arena;
	struct reader *reader; /* borrowed */
	int64_t run_id, host_id, capacity_bytes;
	uint32_t lba_bytes;
	const char *uuid, *campaign, *dut, *vendor, *model, *serial, *firmware, *interface, *wwid;
	const char *profile, *spec, *software, *seed, *started_utc, *ended_utc, *state, *digest,
		*note;
	int definition_set;
	bool quick, compliant, simulated, sealed;
	struct pairs host, info;
	struct test *test;
	unsigned n_tests;
	struct measure *measure;
	unsigned n_measures;
	struct na_cell *na;
	unsigned n_na;
	struct deviation *deviation;
	unsigned n_deviations;
	struct event *event;
	unsigned n_events;
	struct operating_point *point;
	unsigned n_points;
	struct warning *warning;
	unsigned n_warnings, cap_warnings;
	struct result *result;
	unsigned n_results, cap_results;
	const char *tampered; /* first fault of the run's chain; NULL: none */
	enum verdict verdict;
	unsigned n_valid, n_not_valid;
	const struct wsat *wsat; /* states.h; NULL: not in this run */
	const struct hir *hir;
	const struct xsr *xsr;
	const struct rwsw *rwsw; /* rwsw.h; NULL: the run worked from no capture */
	const struct claims *claims; /* claims.h: held against it; NULL: none were given */
	const struct claim_checks *checks; /* of those of them that are of this drive */
};

struct reader;
/* Release with dataset_release(). */
int dataset_load(struct reader *r, int64_t run, struct dataset *ret, struct err *err) must_check;
void dataset_release(struct dataset *d);

/* Works out windows, results, warnings and the verdict; called by dataset_load(). */
int dataset_calc(struct dataset *d, struct err *err) must_check;
void dataset_results(struct dataset *d);
void dataset_warnings(struct dataset *d);

const struct test *dataset_test(const struct dataset *d, const char *name);
/* Of the last attempt, a sum row, whole and valid: what results are made of. */
bool measure_counts(const struct measure *m, const struct test *t);
/* Sample deviation / mean; NAN below two values. */
double coefficient_of_variation(const double *v, unsigned n, double mean);
/* ART over all their IOs. Of cells that differ, IOPS x ART is what was in flight with this one alone; NAN without IOs. */
double measures_art(const struct measure *const *m, unsigned n);
/* Adds all latencies of a cell: the response times where it was rate-driven, else the service times. */
int measure_hist(struct dataset *d, int64_t cell, struct hist *h, struct err *err) must_check;
/* A result by itself, outside the loops; minutes of preconditioning are none. */
bool measure_is_step(const struct measure *m);
/* All that a histogram allows to say. */
void levels_of(const struct hist *h, struct levels *ret);
/* Of all IOs of a stored cell, reads and writes; @kind "service" or "response". */
int levels_load(struct dataset *d, int64_t cell, const char *kind, struct levels *ret,
		struct err *err) must_check;
/* Steps at a rate, with both their distributions; called by dataset_calc(). */
int dataset_rated(struct dataset *d, const struct test *t, struct section *s,
		  struct err *err) must_check;
/* By its number, or NULL. */
const struct section *section_at(const struct test *t, int number);
/* The combination of a section, or NULL. */
const struct combo *section_combo(const struct section *s, double read_pct, int64_t block_bytes);
/* Why this test has no such cell ("LBA 4096"), or NULL. */
const char *dataset_na(const struct dataset *d, const char *test, double read_pct,
		       int64_t block_bytes);

const char *verdict_name(enum verdict v); /* "NOT CONFORMANT" */
bool test_is_exact(const struct test *t);
const char *status_name(enum test_status s); /* "valid" */
enum test_status result_status(const struct result *r); /* of this line, not of its whole test */
bool governor_slow(const struct dataset *d); /* the host's governor may slow a CPU down */
const char *severity_name(enum severity s); /* "FAIL" */

/* One more warning, of a test or of "all"; its words are for the caller to set. Those of the events are dataset_events.c's. */
struct warning *dataset_warn(struct dataset *d, enum severity severity, const char *test,
			     const char *clause);
void dataset_event_warnings(struct dataset *d);

/* "65/35"; "0.5" KiB; "4 KiB"; "T4Q32". Texts of the arena. */
const char *mix_text(struct arena *a, double read_pct);
const char *kib_text(struct arena *a, int64_t bytes);
const char *tcqd_text(struct arena *a, int threads, int qd);
/* "REACHED 5-9", "NOT REACHED", "n.a.": of a section or (NULL) of the whole test. */
const char *steady_text(struct arena *a, const struct test *t, const struct section *s);
const char *window_text(struct arena *a, const struct section *s); /* "5-9", "25 tried" */
const char *mean_text(struct arena *a, const struct section *s); /* "5-9", "21-25": of its means */

/*
 * What the plan of a test says. AR and segments: "100% / n.a.", "8 GiB in 50% / 2048"; in bytes under --quick. The time
 * asked for a step (it lasts until its last I/O came back, a little longer): "60 s"; as measured where no plan tells.
 */
const char *range_text(struct arena *a, const struct dataset *d, const struct test *t);
uint64_t asked_ns(const struct test *t, const struct measure *m); /* 0 unknown */
unsigned asked_members(const struct test *t, const struct measure *m); /* 0: the plan names none */
const char *asked_text(struct arena *a, const struct test *t, const struct measure *m);
/* A loop of the plan, in this section (0: in any), tracks something that must be steady. */
bool plan_has_rule(const char *plan, int section);

/* Units as printed: IOPS, MB/s (10^6 B/s), ms. */
double unit_shown(enum unit u, double base);
const char *unit_name(enum unit u);

#endif
