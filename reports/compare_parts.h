/* SPDX-License-Identifier: MIT */
/*
 * What the sheets of a comparison share: printed pages, the same test of several runs as one group, means over the samples
 * of a candidate, candidates as lines and bars.
 */
#ifndef REPORTS_COMPARE_PARTS_H
#define REPORTS_COMPARE_PARTS_H

#include "pts/base/json.h"
#include "reports/compare.h"
#include "reports/figures.h"
#include "reports/plots.h"

#define CMP_LINES 16 /* candidates of one chart */

/* ---- pages ---- */

struct cmp_page {
	const struct comparison *c;
	struct grid_sheet *s;
	struct arena *a; /* of the grid */
	const char *title; /* of the page */
	uint32_t row; /* the next free one */
	uint32_t next; /* first row of the next printed page */
	unsigned n; /* pages begun */
	unsigned body; /* rows of a page below the title band */
	unsigned head_lines; /* of the heads so far */
	double tall_px; /* what tall rows took of the page beyond whole rows */
};

void cmp_open(struct cmp_page *p, const struct comparison *c, struct grid *g, const char *name,
	      const char *title);
/* Begins a printed page under a title bar. */
void cmp_begin(struct cmp_page *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A part with a title of its own: on this page, where it has @rows left, else on the next one. */
void cmp_part(struct cmp_page *p, unsigned rows, const char *title);
/* Goes on on a further page where fewer than @rows rows are left; returns whether it did. */
bool cmp_room(struct cmp_page *p, unsigned rows);
void cmp_close(struct cmp_page *p);
/* Red, in the place of charts. */
void cmp_no_results(struct cmp_page *p);

/* A note over the width of the page, as many rows as it needs. */
void cmp_note(struct cmp_page *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A title over a table, over the width of the page or of so many columns; heads of its columns, as high as their texts need. */
void cmp_table_title(struct cmp_page *p, enum look look, unsigned cols, const char *text);
void cmp_table(struct cmp_page *p, enum look look, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void cmp_head(struct cmp_page *p, unsigned col, unsigned col2, const char *text);
void cmp_heads_end(struct cmp_page *p);

/* ---- values ---- */

/* Mean over the samples of a candidate. */
struct cmp_mean {
	double sum;
	unsigned n; /* samples in it */
	const char *why; /* of one that was left out; NULL */
};
/* @why NULL: @v counts, unless it is NAN. */
void cmp_add(struct cmp_mean *m, double v, const char *why);
double cmp_value(const struct cmp_mean *m); /* NAN: none */
/* The number; else a red "not steady" or what else it is, else a grey "n/a". */
void cmp_put(struct cmp_page *p, struct area at, unsigned style, const struct cmp_mean *m);
/* The cell of something of which no sample has a value. */
void cmp_put_missing(struct cmp_page *p, struct area at, const char *why);

/* In base units, @by times what the mean is in; "why" beside the values of a candidate. */
void cmp_json_mean(struct json *j, const char *key, const struct cmp_mean *m, double by);
void cmp_json_why(struct json *j, const struct cmp_mean *m);

/* ---- the same test of several runs ---- */

struct cmp_group {
	const char *name; /* of the test */
	const char *sheet; /* as reports call it: "DIRTH" */
	const char *what; /* its access, capture, bound */
	const struct test *test[COMPARE_RUNS]; /* by run; NULL: not run */
	const void *of[COMPARE_RUNS]; /* by run: what the sheet has of it */
};

struct cmp_groups {
	struct cmp_group **v;
	unsigned n, cap;
};

/*
 * Adds what a run has: to the group of that name and @what or, since users name their tests as they like, to one of the same
 * @what under another name, where no candidate of it did both.
 */
void cmp_group_add(struct cmp_groups *g, struct cmp_page *p, unsigned run, const struct test *t,
		   const char *what, const void *of);
/* The keys "test" and "load" of a group; "candidate" and "samples" of one of them. */
void cmp_json_group(struct json *j, const struct cmp_group *g);
/* An array @key of the groups; @put writes the candidates of each. */
void cmp_json_groups(struct json *j, const char *key, const struct cmp_groups *g,
		     void (*put)(void *ctx, struct cmp_group *one, struct json *j), void *ctx);
void cmp_json_candidate(struct json *j, const struct comparison *c, unsigned candidate,
			unsigned used);
/* Calls @add for each test of each run. */
void cmp_each_test(const struct comparison *c,
		   void (*add)(void *ctx, unsigned run, const struct test *t), void *ctx);
/* Candidates that have a run in the group, the baseline first. Returns how many. */
unsigned cmp_present(const struct comparison *c, const struct cmp_group *g, unsigned *ret);
/* In any of the groups. */
unsigned cmp_groups_present(const struct comparison *c, const struct cmp_groups *g, unsigned *ret);
/* " No values of: D2 (not run)." or "": the others. */
const char *cmp_absent(struct cmp_page *p, const struct cmp_group *g);

/* ---- candidates ---- */

/* "B5 (base)"; of several samples "NV7400, mean of 3", "NV7400, 2 of 3 samples" where some are left out: @used of @tried. */
const char *cmp_name(struct cmp_page *p, unsigned candidate, unsigned used, unsigned tried);
/* Runs of the candidate that are in the group. */
unsigned cmp_tried(const struct comparison *c, const struct cmp_group *g, unsigned candidate);
/* Runs of the candidate whose test of the group is a result. */
unsigned cmp_used(const struct comparison *c, const struct cmp_group *g, unsigned candidate);
/* "T4Q32", "T4Q32, T8Q16": each once, where samples differ. */
const char *cmp_join(struct cmp_page *p, const char *list, const char *one);
/* Colour, dash and name of its line; its columns and bars. */
struct series cmp_line(struct cmp_page *p, unsigned candidate);

/* Charts with columns on a log scale: from a power of ten below the lowest, so that each has a height. */
void cmp_axis_bars(struct axis *a, const double *v, unsigned n);
/* From zero, with room for labels above the columns. */
void cmp_axis_zero(struct axis *a, const double *v, unsigned n, double room);
void cmp_chart(struct cmp_page *p, struct chart *c, struct place at, struct series *series,
	       unsigned n);
/* One column for each of these candidates, @v beside it. */
void cmp_bars(struct cmp_page *p, struct chart *c, struct place at, const unsigned *list,
	      const double *v, unsigned n);
/* +0.054 as "+5.4%": green better, amber worse, grey inside @noise, plain where the noise (NAN) is not known. */
void cmp_put_change(struct cmp_page *p, struct area at, double change, double noise,
		    bool lower_is_better);

/* ---- JSON: what single sheets have to say, keys of the document that is open ---- */

void cmp_dirth_json(const struct comparison *c, struct json *j);
void cmp_curve_json(const struct comparison *c, struct json *j);
void cmp_replay_json(const struct comparison *c, struct json *j);
void cmp_scale_json(const struct comparison *c, struct json *j);
void cmp_fabric_json(const struct comparison *c, struct json *j);

/* ---- arithmetic ---- */

struct cmp_between {
	double value; /* NAN: none */
	unsigned from, to; /* points it lies between; the same one: at the point */
};
/*
 * The highest y at which x comes to @limit from below, by straight lines between neighbours. Points with a NAN are passed over.
 */
struct cmp_between cmp_interpolate(const double *x, const double *y, unsigned n, double limit);
/* Harmonic mean weighted by @share; NAN where one of them has no value. */
double cmp_harmonic(const double *v, const double *share, unsigned n);

#endif
