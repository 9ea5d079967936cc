/* SPDX-License-Identifier: MIT */
/*
 * Several runs side by side: all that the comparison's sheets, its HTML, JSON and CSV say, worked out once. A run is a subject;
 * runs of one kind of drive under one set of conditions are the samples of a candidate, which is a column of the tables.
 * Base units as in dataset.h: bytes, ns, IO/s; NAN unknown.
 */
#ifndef REPORTS_COMPARE_H
#define REPORTS_COMPARE_H

#include "reports/claims.h"
#include "reports/dataset.h"
#include "reports/grid.h"
#include "reports/prices.h"
#include "reports/student.h"

#define COMPARE_RUNS 64

/* A run that is compared. */
struct subject {
	struct dataset d;
	const char *label; /* unique here: "A", or "NV7400 #2"; for heads of columns and legends */
	const char *name; /* "NORTHWIND NV7400 3.84 TB, S/N X12" */
	const char *layout; /* "one drive", "set of 4", "RAID 5 of 4 (md)" */
	const char *transport; /* "pcie" "tcp" "rdma" "fc" "sas" "sata"; "" not recorded */
	unsigned members; /* drives of its layout, 1: one drive */
	unsigned candidate; /* index */
};

/* A column of the tables: samples of one model, or one layout, or one way to it. */
struct candidate {
	const char *label, *name;
	unsigned run[COMPARE_RUNS], n_runs; /* indices of subjects */
	unsigned n_units; /* different drives among them (by serial) */
	uint32_t color; /* of its lines and bars; the baseline is grey */
	bool baseline;
	const struct price *price; /* NULL: none given */
	double cost; /* of all its drives; NAN */
	double score; /* 100: as good as the baseline; NAN: nothing to score by */
	unsigned rank; /* 1 the best; 0 without a score */
	double scored; /* weights that its score rests on, % */
	double cost_per_kiops, iops_per_w; /* by comparison.kiops; NAN */
	double cost_per_tbw; /* of 10^12 bytes of its rated endurance; NAN */
};

/* How a condition of the comparison stands. */
enum gate {
	GATE_SAME,
	GATE_UNKNOWN /* not recorded of some */,
	GATE_NOTE /* differs, and may */,
	GATE_DIFFERS
};

struct condition {
	const char *name; /* "firmware" */
	const char *test; /* of which test it is: "iops"; "" of the run */
	bool subject; /* of what is compared (model, firmware ...), not of how it was measured */
	const char *value[COMPARE_RUNS]; /* by subject; "" not recorded */
	enum gate gate;
	const char *text; /* "firmware: 1.2.0 (A, B), 1.3.1 (C)" where it is not the same */
};

/* What a run, or a candidate (mean of its samples), has of a metric. */
struct measured {
	bool present; /* the run did it */
	bool reported; /* and it is a result: steady, valid, of a run that is whole */
	double value, cv; /* cv: of the rounds of the window, of samples the largest; NAN */
	double unit_cv; /* of a candidate: between its samples; NAN below two */
	unsigned n; /* samples in it */
	const char *why; /* where not reported: "not steady", "n/a", "not run" ... */
};

/* A line that all can be compared by: union over the runs. */
struct metric {
	const char *key; /* "iops/RND 4 KiB R/T4Q32/iops": stable, for JSON and prices' weights */
	const char *test, *access, *tcqd, *metric;
	const char *title; /* "RND 4 KiB R" with what tells it apart: "LAT ART RND 4 KiB R T1Q1" */
	enum unit unit;
	bool lower_is_better;
	double weight; /* of the score, %: suggested, 0: not scored */
	struct measured *run; /* [n_runs] */
	struct measured *of; /* [n_candidates] */
	double noise; /* 2 x largest cv or unit_cv of the candidates, as a part of 1; NAN unknown */
	int best; /* candidate; -1 none */
};

struct comparison {
	struct arena arena;
	struct reader *reader; /* borrowed */
	struct subject *run;
	unsigned n_runs;
	struct candidate *candidate;
	unsigned n_candidates, baseline; /* baseline: candidate */
	struct condition *condition;
	unsigned n_conditions, n_differ, n_unknown;
	struct metric *metric;
	unsigned n_metrics;
	struct claims claims; /* n 0: none given */
	struct prices prices;
	bool prices_idle; /* they are of none of the drives */
	bool doubted; /* a run's evidence has faults, and the user wants it all the same */
	bool simulated; /* a run is of a simulated drive */
	const struct metric *kiops; /* what a price per 1,000 IOPS is of; NULL none */
	const char *
		*remark; /* what a reader must know: what was left out, how sure the ranks are */
	unsigned n_remarks;
};

struct compare_options {
	const int64_t *run;
	unsigned n;
	int64_t baseline; /* run_id; 0: the first one */
	const char *claims, *prices; /* files; NULL none */
	bool doubted; /* --allow-tampered */
};

/*
 * Loads and works all out. A run whose chain has faults: -EBADMSG with the fault, unless doubted. Claims and prices: -EINVAL with
 * FILE:LINE. Release with comparison_release(), also on error.
 */
int comparison_load(struct reader *r, const struct compare_options *o, struct comparison *ret,
		    struct err *err) must_check;
void comparison_release(struct comparison *c);

/* Values as a comparison shows them: IOPS, MB/s (10^6 B/s), us. */
double compare_shown(enum unit u, double base);
const char *compare_unit(enum unit u);
enum numfmt compare_fmt(enum unit u);
/* The cell of a metric: its number, or in words why there is none ("not steady", "n/a"). */
void put_measured(struct grid_sheet *s, struct area at, const struct metric *m,
		  const struct measured *v);
/* A delta as its number, coloured by better or worse, grey inside the noise; "-" where there is none. */
void put_delta(struct grid_sheet *s, struct area at, const struct comparison *c,
	       const struct metric *m, unsigned candidate);
/* "NV7400", "B5 (base)": the head of a candidate's column. */
const char *candidate_head(struct arena *a, const struct candidate *c);
/*
 * A page of the comparison: 16 columns, title band in rows 1-2, below it red where the evidence is doubted and loud where a
 * drive was simulated. Heads of tables may be two lines: COMPARE_HEAD_PX. Returns the sheet; @ret_row: the next free row.
 */
#define COMPARE_HEAD_PX 30
struct grid_sheet *compare_page(const struct comparison *c, struct grid *g, const char *name,
				const char *title, uint32_t *ret_row);

/* @value of a metric relative to the baseline's, +0.05: 5 % more; NAN. */
double metric_delta(const struct comparison *c, const struct metric *m, unsigned candidate);
/* A sheet of the comparison: one file cmp_NAME.c each, found by its name. */
struct compare_sheet {
	int order;
	bool (*applies)(const struct comparison *c);
	void (*build)(const struct comparison *c, struct grid *g);
};

#endif
