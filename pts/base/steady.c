/* SPDX-License-Identifier: MIT */
/* PTS definition 2.1.24; see steady.h. */
#include "pts/base/steady.h"

#include <math.h>
#include <string.h>

#define N STEADY_WINDOW
#define TOLERANCE 1e-9

/*
 * Sums are taken about the middle of the window and the average: the same line as by the textbook formula, without its
 * cancellation at large round numbers or values.
 */
static void fit(struct steady_check *c)
{
	double sxx = 0, sxy = 0, syy = 0, middle = (N - 1) / 2.0;

	for (unsigned i = 0; i < N; i++) {
		double dx = i - middle, dy = c->y[i] - c->average;

		sxx += dx * dx;
		sxy += dx * dy;
		syy += dy * dy;
	}
	c->slope = sxy / sxx;
	c->intercept = c->average - c->slope * (c->first_round + middle);
	c->correlation = syy > 0 ? sxy / sqrt(sxx * syy) : 0;
}

static bool within(double v, double limit)
{
	return v <= limit * (1 + TOLERANCE);
}

void steady_check(const double y[STEADY_WINDOW], unsigned first_round, struct steady_check *ret)
{
	struct steady_check c = { .first_round = first_round, .min = y[0], .max = y[0] };
	double sum = 0;

	memcpy(c.y, y, sizeof c.y);
	for (unsigned i = 0; i < N; i++) {
		sum += y[i];
		c.min = fmin(c.min, y[i]);
		c.max = fmax(c.max, y[i]);
	}
	c.average = sum / N;
	c.range = c.max - c.min;
	c.range_allowed = 0.20 * c.average;
	fit(&c);
	c.slope_excursion = fabs(c.slope) * (N - 1);
	c.slope_allowed = 0.10 * c.average;
	c.steady = isfinite(c.average) && c.average > 0 && within(c.range, c.range_allowed) &&
		   within(c.slope_excursion, c.slope_allowed);
	*ret = c;
}
