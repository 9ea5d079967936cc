/* SPDX-License-Identifier: MIT */
/* Long series: one-second rows of cells as one curve, and the thinning that makes a chart of them. */
#ifndef REPORTS_SERIES_H
#define REPORTS_SERIES_H

#include "reports/dataset.h"

#define SERIES_POINTS 2000 /* drawn of a series; spreadsheets and eyes take no more */

/*
 * Which of @n values a chart of at most @max points (4 or more) draws: all of them or, of each of max/4 buckets of equal
 * width, the first, the last, the lowest and the highest, in order. NAN is neither lowest nor highest. Returns how many
 * indices stand in @ret_index, which has room for @max.
 */
unsigned series_thin(const double *y, unsigned n, unsigned max, unsigned *ret_index);
/* The values of these indices. Of the arena. */
double *series_pick(struct arena *a, const double *v, const unsigned *index, unsigned n);

/* What a loop wrote over time, from its one-second rows. Cells without such rows (shorter than a second) are one point. */
struct curve {
	double *end_ns; /* [n], since the start of the first cell */
	double *span_ns; /* that the point stands for; 1e9: a whole second */
	double *iops;
	double *written_bytes; /* since the purge, at the end of the point */
	const struct measure **cell;
	unsigned n, n_seconds; /* n_seconds: points of a whole second */
};

/* Of @n cells in the order of time. */
int curve_load(struct dataset *d, const struct measure *const *cell, unsigned n, struct curve *ret,
	       struct err *err) must_check;

#endif
