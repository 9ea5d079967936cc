/* SPDX-License-Identifier: MIT */
/* The same figure of several runs, and tables of figures: loads as rows, candidates as columns with several values each. */
#ifndef REPORTS_COMPARE_FIGURES_H
#define REPORTS_COMPARE_FIGURES_H

#include "reports/compare_parts.h"

/* Groups of figures (struct figure in cmp_group.of) that are @wanted. */
void cmp_figures(struct cmp_page *p, struct cmp_groups *g, bool (*wanted)(const struct figure *f));

/* What a candidate has of one: means over its samples. */
struct cmp_figure {
	const struct figure *f; /* of its first sample; NULL: not run */
	struct cmp_mean iops, mbs, art_us, p99999_us;
	double noise; /* 2 x largest cv, of rounds or of samples, as a part of 1; NAN unknown */
	double sample[COMPARE_RUNS]; /* IOPS of each sample that counts */
	unsigned n;
	const char *tcqd; /* "T4Q32", "T4Q32, T8Q16" */
	bool outside; /* a sample is outside its bound */
};
struct cmp_figure cmp_figure_of(struct cmp_page *p, const struct cmp_group *g, unsigned candidate);
/* Of any run: what all of a group have in common. */
const struct figure *cmp_figure_any(const struct comparison *c, const struct cmp_group *g);

/* A table with @n_sub values for each candidate. */
struct cmp_wide {
	enum look look;
	const char *title, *first; /* of the table; of its first column */
	unsigned first_cols; /* columns of the page that the first one takes */
	const char *const *sub; /* [n_sub]: heads, after the candidate's name */
	unsigned n_sub;
	bool tests; /* rows of several tests: each says which */
	const struct cmp_group *const *row;
	unsigned n_rows;
	const unsigned *list; /* candidates */
	unsigned n;
	/* The values of a candidate, from @at on. */
	void (*put)(struct cmp_page *p, const struct cmp_wide *w, unsigned row, unsigned candidate,
		    struct area at);
	void *ctx;
};
/* As cmp_name(), of the row with the most samples. */
const char *cmp_rows_name(struct cmp_page *p, const struct cmp_group *const *row, unsigned n,
			  unsigned candidate);
/* "RND 4 KiB R"; "LAT: RND 4 KiB R" where rows are of several tests, or another row is called the same. */
const char *cmp_wide_row(struct cmp_page *p, const struct cmp_wide *w, unsigned row);
/* As many candidates beside one another as the page holds, then the next ones below; further pages as needed. */
void cmp_wide_put(struct cmp_page *p, const struct cmp_wide *w);

/* Columns for each load, one for each candidate; @value of a figure, NAN none. */
void cmp_figure_chart(struct cmp_page *p, struct chart *c, struct place at,
		      const struct cmp_wide *w, double (*value)(const struct cmp_figure *f));
double cmp_figure_iops(const struct cmp_figure *f);
double cmp_figure_mbs(const struct cmp_figure *f);

#endif
