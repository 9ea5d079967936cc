/* SPDX-License-Identifier: MIT */
/*
 * Steady state, PTS definition 2.1.24, PTS[GEN-5-RANGE] PTS[GEN-5-SLOPE]: over a measurement window of five rounds (a) max - min <= 20 % of the
 * average, (b) the least-squares line moves by no more than 10 % of the average inside the window.
 * Pure arithmetic on unrounded base units (IOPS, bytes/s, ns); both limits carry a relative tolerance of 1e-9,
 * so that a value exactly on a limit stays steady at any scale.
 */
#ifndef PTS_BASE_STEADY_H
#define PTS_BASE_STEADY_H

#include <stdbool.h>

#define STEADY_WINDOW 5

struct steady_check {
	unsigned first_round; /* round of y[0] */
	double y[STEADY_WINDOW];
	double average, min, max;
	double range, range_allowed;
	double slope, intercept; /* line: slope * round + intercept */
	double slope_excursion, slope_allowed;
	double correlation; /* Pearson r; 0 when the values are all equal */
	bool steady;
};

/* Decides over y[0..4], measured in rounds first_round .. first_round + 4. False verdict on NaN, infinities, average <= 0. */
void steady_check(const double y[STEADY_WINDOW], unsigned first_round, struct steady_check *ret);

#endif
