/* SPDX-License-Identifier: MIT */
/* Response time against load: open-loop steps at shares of the found maximum, a curve for each access of a test. */
#ifndef REPORTS_LOAD_CURVE_H
#define REPORTS_LOAD_CURVE_H

#include "reports/dataset.h"

#define CURVE_STEPS 64
#define CURVE_LOADS 64 /* accesses of a test */

struct load_curve {
	const struct test *t;
	const struct section *s;
	const char *access;
	const struct rated *step[CURVE_STEPS]; /* in the order measured */
	unsigned n;
	const struct measure *maximum; /* the closed-loop run that found the maximum; NULL */
	const struct operating_point *peak; /* NULL */
};

/* At most CURVE_LOADS, in the order measured, into @ret; returns how many. */
unsigned load_curves(const struct dataset *d, const struct test *t, struct load_curve *ret);
/* What the shares are shares of; 0 unknown. */
double curve_peak_iops(const struct load_curve *c);
/* The share of the maximum a step was driven at; NAN unknown. */
double curve_share(const struct load_curve *c, const struct rated *r);
/* "70%", or the rate itself where the step has no such label. */
const char *curve_load_name(const struct load_curve *c, const struct rated *r, struct arena *a);
/* The step at this share, or NULL. */
const struct rated *curve_at(const struct load_curve *c, double share);
/* The fastest step whose mean response is below @us, nothing interpolated; NULL none. */
const struct rated *curve_under(const struct load_curve *c, double us);
/*
 * Top of an axis of response times (us): half above the highest one at or below the maximum, so that overload leaves
 * through the top.
 */
double curve_top_us(const struct load_curve *c);

#endif
