/* SPDX-License-Identifier: MIT */
/*
 * Latency distributions as quantile functions. Between its knots the logarithm of a latency is a
 * monotone cubic of the standard normal quantile (a lognormal is a straight line there), so
 * densities have no kinks. Sums of parts are taken part by part at the same quantile: their means
 * add, and every percentile is known from the parameters.
 */
#include "workloads/dut_sim_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUND 1e-6 /* IOs */

/* Share of the IOs above each knot. The least and greatest stand for one IO in 10^9. */
static const double knot_above[SIM_KNOTS] = { 1 - 1e-9, 0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-9 };
/* Grid steps from a knot to the next: narrow where most IOs are. Their sum is SIM_GRID - 1. */
static const unsigned knot_steps[SIM_KNOTS - 1] = { 128, 64, 48, 48, 48, 48, 64 };

static double normal_above(double z)
{
	return 0.5 * erfc(z / M_SQRT2);
}

static double normal_quantile(double above)
{
	double lo = -8, hi = 8;

	for (unsigned i = 0; i < 80; i++) {
		double mid = (lo + hi) / 2;

		if (normal_above(mid) > above)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

/* Slopes of a monotone cubic through the knots (Fritsch and Butland's harmonic mean). */
static void knot_slopes(const double *z, const double *y, double *slope)
{
	double h[SIM_KNOTS - 1], d[SIM_KNOTS - 1];

	for (unsigned k = 0; k < SIM_KNOTS - 1; k++) {
		h[k] = z[k + 1] - z[k];
		d[k] = (y[k + 1] - y[k]) / h[k];
	}
	slope[0] = d[0];
	slope[SIM_KNOTS - 1] = d[SIM_KNOTS - 2];
	for (unsigned k = 1; k < SIM_KNOTS - 1; k++) {
		double a = 2 * h[k] + h[k - 1], b = h[k] + 2 * h[k - 1];

		slope[k] = d[k - 1] * d[k] > 0 ? (a + b) / (a / d[k - 1] + b / d[k]) : 0;
	}
}

/* x[] = exp of the cubic through (knot_z, ln) at every point of the grid. */
static void curve(const struct sim_grid *g, const double *ln, double *x)
{
	double slope[SIM_KNOTS];

	knot_slopes(g->knot_z, ln, slope);
	for (unsigned k = 0; k < SIM_KNOTS - 1; k++) {
		double h = g->knot_z[k + 1] - g->knot_z[k];

		for (unsigned i = 0; i < knot_steps[k]; i++) {
			double t = (double)i / knot_steps[k], u = 1 - t;

			x[g->knot_at[k] + i] = exp(u * u * (1 + 2 * t) * ln[k] +
						   t * t * (3 - 2 * t) * ln[k + 1] +
						   h * t * u * (u * slope[k] - t * slope[k + 1]));
		}
	}
	x[SIM_GRID - 1] = exp(ln[SIM_KNOTS - 1]);
}

/*
 * Mean of a quantile function: IOs lie evenly between neighbouring points, as sim_hist_fill lays
 * them.
 */
static double grid_mean(const struct sim_grid *g, const double *x)
{
	double sum = (1 - g->above[0]) * x[0] + g->above[SIM_GRID - 1] * x[SIM_GRID - 1];

	for (unsigned i = 1; i < SIM_GRID; i++)
		sum += (g->above[i - 1] - g->above[i]) * (x[i - 1] + x[i]) / 2;
	return sum;
}

void sim_grid_init(struct sim_grid *g, const struct sim_conf *conf)
{
	double ln[SIM_KNOTS], mean;
	unsigned at = 0;

	for (unsigned k = 0; k < SIM_KNOTS; k++) {
		g->knot_z[k] = normal_quantile(knot_above[k]);
		g->knot_at[k] = at;
		at += k < SIM_KNOTS - 1 ? knot_steps[k] : 1;
	}
	BUG_ON(at != SIM_GRID);
	for (unsigned k = 0; k < SIM_KNOTS; k++) {
		unsigned n = k < SIM_KNOTS - 1 ? knot_steps[k] : 1;

		for (unsigned i = 0; i < n; i++) {
			double z = g->knot_z[k];

			if (i)
				z += (g->knot_z[k + 1] - z) * i / n;
			g->above[g->knot_at[k] + i] = i ? normal_above(z) : knot_above[k];
		}
		ln[k] = log(conf->queue_x[k]);
	}
	curve(g, ln, g->queue);
	mean = grid_mean(g, g->queue);
	for (unsigned i = 0; i < SIM_GRID; i++)
		g->queue[i] /= mean;
}

void sim_shape_curve(const struct sim_shape *s, const struct sim_grid *g, double busy,
		     struct sim_curve *ret)
{
	double ln[SIM_KNOTS];

	for (unsigned k = 0; k < SIM_KNOTS; k++)
		ln[k] = s->ln_s[k] + busy * s->ln_busy[k];
	curve(g, ln, ret->x);
	ret->mean = grid_mean(g, ret->x);
}

void sim_shape_init(struct sim_shape *s, const struct sim_grid *g, const struct sim_dir *dir)
{
	struct sim_curve c;

	for (unsigned k = 0; k < SIM_KNOTS; k++) {
		s->ln_s[k] = log(dir->us[k] * 1e-6);
		s->ln_busy[k] = log(dir->busy_x[k]);
	}
	for (unsigned i = 0; i <= SIM_BUSY_STEPS; i++) {
		sim_shape_curve(s, g, (double)i / SIM_BUSY_STEPS, &c);
		s->mean_s[i] = c.mean;
	}
}

double sim_shape_mean(const struct sim_shape *s, double busy)
{
	double at = busy * SIM_BUSY_STEPS;
	unsigned i = at >= SIM_BUSY_STEPS ? SIM_BUSY_STEPS - 1 : (unsigned)at;

	return s->mean_s[i] + (s->mean_s[i + 1] - s->mean_s[i]) * (at - i);
}

double sim_latency_mean(const struct sim_latency *l)
{
	return l->slow * (l->factor * l->base->mean + l->shift_s + l->queue_s) + l->late_s +
	       l->spread_s / 2;
}

/* ---- histograms ---- */

void sim_hist_reset(struct sim_hist *h)
{
	if (!h->h)
		h->h = hist_new();
	else if (h->lo <= h->hi)
		memset(h->h->count + h->lo, 0, (h->hi - h->lo + 1) * sizeof h->h->count[0]);
	h->h->n = h->h->max = 0;
	h->h->min = UINT64_MAX;
	h->h->sum = 0;
	h->lo = HIST_BUCKETS;
	h->hi = 0;
	h->target_ns = 0;
}

static void put(struct sim_hist *h, unsigned bucket, uint64_t n)
{
	h->h->count[bucket] += n;
	h->h->n += n;
	if (bucket < h->lo)
		h->lo = bucket;
	if (bucket > h->hi)
		h->hi = bucket;
}

static void note_extremes(struct hist *h, double least_ns, double greatest_ns)
{
	if ((uint64_t)least_ns < h->min)
		h->min = (uint64_t)least_ns;
	if ((uint64_t)greatest_ns > h->max)
		h->max = (uint64_t)greatest_ns;
}

/* Between two points of the grid: values, and how many IOs (a real number) lie above each. */
struct piece {
	double from, to, above_from, above_to;
};

/* Value of the IO that has @k IOs above it. */
static double value_at(const struct piece *p, double k)
{
	return p->from + (p->to - p->from) * (p->above_from - k) / (p->above_from - p->above_to);
}

/* IOs of the piece below @limit; the first of them has @first IOs above it, the next one fewer. */
static double count_below(const struct piece *p, double limit, double first)
{
	double share = (limit - p->from) / (p->to - p->from);
	double k = p->above_from - share * (p->above_from - p->above_to);

	return first - floor(k);
}

/* Counts the IOs that have @first, first - 1, ... @last IOs above them. */
static void spread(struct sim_hist *h, const struct piece *p, double first, double last)
{
	double least = value_at(p, first), greatest = value_at(p, last);
	unsigned top = hist_index((uint64_t)greatest);
	uint64_t n = (uint64_t)(first - last) + 1, done = 0;

	note_extremes(h->h, least, greatest);
	for (unsigned i = hist_index((uint64_t)least); i < top && done < n; i++) {
		double below = fmax(count_below(p, (double)hist_high(i), first), (double)done);
		uint64_t upto = below < (double)n ? (uint64_t)below : n;

		if (upto > done)
			put(h, i, upto - done);
		done = upto;
	}
	if (done < n)
		put(h, top, n - done);
}

static void put_one_value(struct sim_hist *h, double ns, double n)
{
	if (n < 1)
		return;
	note_extremes(h->h, ns, ns);
	put(h, hist_index((uint64_t)ns), (uint64_t)n);
}

static double value_ns(const struct sim_grid *g, const struct sim_latency *l, unsigned i)
{
	double x = l->factor * l->base->x[i] + l->shift_s + l->queue_s * g->queue[i];

	/* what was configured as whole ns stays so */
	return 1e9 * (l->slow * x + l->late_s + l->spread_s * (1 - g->above[i])) + 1e-3;
}

/* n * share, whole where it is whole but for rounding. */
static double ios_above(const struct sim_grid *g, unsigned i, double n)
{
	double x = n * g->above[i], r = nearbyint(x);

	return fabs(x - r) < ROUND ? r : x;
}

void sim_hist_fill(struct sim_hist *h, const struct sim_grid *g, const struct sim_latency *l,
		   uint64_t n)
{
	struct piece p = { .to = value_ns(g, l, 0), .above_to = ios_above(g, 0, (double)n) };

	if (!n)
		return;
	h->target_ns += 1e9 * sim_latency_mean(l) * (double)n;
	put_one_value(h, p.to, (double)n - ceil(p.above_to));
	for (unsigned i = 1; i < SIM_GRID && p.above_to > 0; i++) {
		p.from = p.to;
		p.above_from = p.above_to;
		p.to = value_ns(g, l, i);
		p.above_to = ios_above(g, i, (double)n);
		/* the slowest IO, with none above it, goes by luck */
		if (p.above_to < l->last && l->last <= p.above_from)
			put_one_value(h, value_at(&p, l->last), 1);
		if (ceil(p.above_from) - 1 >= fmax(ceil(p.above_to), 1))
			spread(h, &p, ceil(p.above_from) - 1, fmax(ceil(p.above_to), 1));
	}
	/* of so many IOs that more than one is the greatest */
	put_one_value(h, p.to, ceil(p.above_to) - (l->last > p.above_to ? 1 : 0));
}

/* Least and greatest sum that @s may have, given its counts, min and max. */
static void sum_limits(const struct sim_hist *s, unsigned __int128 *ret_lo,
		       unsigned __int128 *ret_hi)
{
	const struct hist *h = s->h;
	unsigned __int128 lo = 0, hi = 0;

	for (unsigned i = s->lo; i <= s->hi; i++) {
		uint64_t low = hist_low(i), high = hist_high(i) - 1;

		if (i == s->lo)
			low = h->min;
		if (i == s->hi)
			high = h->max;
		lo += (unsigned __int128)h->count[i] * low;
		hi += (unsigned __int128)h->count[i] * high;
	}
	/* one IO is the greatest, one the least */
	*ret_lo = lo + (h->max - (s->hi > s->lo ? hist_low(s->hi) : h->min));
	*ret_hi = hi - ((s->hi > s->lo ? hist_high(s->lo) - 1 : h->max) - h->min);
}

static uint64_t clamp(uint64_t v, uint64_t lo, uint64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

void sim_hist_seal(struct sim_hist *s)
{
	struct hist *h = s->h;
	unsigned __int128 lo, hi, sum = (unsigned __int128)(s->target_ns + 0.5);

	if (!h->n)
		return;
	h->min = clamp(h->min, hist_low(s->lo), hist_high(s->lo) - 1);
	h->max = clamp(h->max, hist_low(s->hi),
		       s->hi == HIST_BUCKETS - 1 ? UINT64_MAX : hist_high(s->hi) - 1);
	if (h->n == 1)
		h->min = h->max = clamp((uint64_t)sum, hist_low(s->lo), hist_high(s->lo) - 1);
	sum_limits(s, &lo, &hi);
	h->sum = sum < lo ? lo : sum > hi ? hi : sum;
}

void sim_hist_merge(struct sim_hist *into, const struct sim_hist *s)
{
	struct hist *to = into->h;

	if (!s->h->n)
		return;
	for (unsigned i = s->lo; i <= s->hi; i++)
		if (s->h->count[i])
			put(into, i, s->h->count[i]);
	to->sum += s->h->sum;
	if (s->h->min < to->min)
		to->min = s->h->min;
	if (s->h->max > to->max)
		to->max = s->h->max;
}
