/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "reports/load_curve.h"

static struct load_curve *curve_of(struct load_curve *list, unsigned *n, const struct test *t,
				   const struct measure *m)
{
	const struct section *s = section_at(t, m->section);

	for (unsigned i = 0; i < *n; i++)
		if (list[i].s == s && !strcmp(list[i].access, m->access))
			return &list[i];
	if (*n == CURVE_LOADS)
		return NULL;
	list += (*n)++;
	*list = (struct load_curve){ .t = t, .s = s, .access = m->access };
	return list;
}

static bool is_point_of(const struct load_curve *c, const struct operating_point *p)
{
	return !strcmp(p->test, c->t->name) && (!c->s || p->section == c->s->number);
}

/* The last point of its section; where the section has several accesses, the one picked for the maximum of this one. */
static void find_peak(struct load_curve *c, const struct dataset *d, bool alone)
{
	for (unsigned i = 0; i < d->n_points; i++) {
		const struct operating_point *p = &d->point[i];
		if (!is_point_of(c, p))
			continue;
		if (alone || (c->maximum && fabs(c->maximum->iops - p->iops) <= 1e-9 * p->iops))
			c->peak = p;
	}
}

static bool is_alone(const struct load_curve *list, unsigned n, unsigned i)
{
	for (unsigned k = 0; k < n; k++)
		if (k != i && list[k].s == list[i].s)
			return false;
	return true;
}

unsigned load_curves(const struct dataset *d, const struct test *t, struct load_curve *ret)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->n_measures; i++) {
		const struct measure *m = &d->measure[i];
		if (!measure_counts(m, t) || strcmp(m->phase, "maximum"))
			continue;
		struct load_curve *c = curve_of(ret, &n, t, m);
		if (c)
			c->maximum = m;
	}
	for (unsigned i = 0; i < t->n_sections; i++) {
		for (unsigned k = 0; k < t->section[i].n_rated; k++) {
			const struct rated *r = &t->section[i].rated[k];
			struct load_curve *c = curve_of(ret, &n, t, r->m);
			if (c && c->n < CURVE_STEPS)
				c->step[c->n++] = r;
		}
	}
	for (unsigned i = 0; i < n; i++)
		find_peak(&ret[i], d, is_alone(ret, n, i));
	return n;
}

double curve_peak_iops(const struct load_curve *c)
{
	return c->peak ? c->peak->iops : c->maximum ? c->maximum->iops : 0;
}

double curve_share(const struct load_curve *c, const struct rated *r)
{
	double peak = curve_peak_iops(c);

	return peak > 0 ? r->m->rate_iops / peak : NAN;
}

const char *curve_load_name(const struct load_curve *c, const struct rated *r, struct arena *a)
{
	double share = curve_share(c, r);

	if (*r->m->label)
		return r->m->label;
	return isnan(share) ? arena_fmt(a, "%.6g/s", r->m->rate_iops)
			    : arena_fmt(a, "%.3g%%", 100 * share);
}

const struct rated *curve_at(const struct load_curve *c, double share)
{
	for (unsigned i = 0; i < c->n; i++)
		if (fabs(curve_share(c, c->step[i]) - share) < 0.002)
			return c->step[i];
	return NULL;
}

const struct rated *curve_under(const struct load_curve *c, double us)
{
	const struct rated *best = NULL;

	for (unsigned i = 0; i < c->n; i++) {
		const struct rated *r = c->step[i];
		if (r->response.art_ns / 1e3 < us && (!best || r->m->iops > best->m->iops))
			best = r;
	}
	return best;
}

double curve_top_us(const struct load_curve *c)
{
	double first = NAN, top = 0, below = 0;

	for (unsigned i = 0; i < c->n; i++) {
		double v = c->step[i]->response.art_ns / 1e3;
		if (!isfinite(v))
			continue;
		first = isfinite(first) ? first : v;
		top = fmax(top, v);
		if (curve_share(c, c->step[i]) <= 1.001)
			below = fmax(below, v);
	}
	if (below <= 0)
		below = first;
	return isfinite(below) ? fmin(top, below * 1.5) : 1;
}
