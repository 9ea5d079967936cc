/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "pts/base/units.h"
#include "reports/bounded.h"

static void add_rising(int *list, unsigned *n, int v)
{
	unsigned at = 0;

	while (at < *n && list[at] < v)
		at++;
	if (*n == BOUNDED_SIDE || v < 1 || (at < *n && list[at] == v))
		return;
	memmove(list + at + 1, list + at, (*n - at) * sizeof *list);
	list[at] = v;
	++*n;
}

static const struct measure **cell_of(struct bounded *b, const struct measure *m)
{
	for (unsigned i = 0; i < b->n_tc; i++)
		for (unsigned k = 0; k < b->n_qd; k++)
			if (b->tc[i] == m->threads && b->qd[k] == m->qd)
				return &b->cell[i][k];
	return NULL;
}

bool bounded_inside(const struct bounded *b, const struct measure *m)
{
	return isfinite(b->limit_ns) && m->ios && m->art_ns < b->limit_ns;
}

static bool is_cell(const struct bounded *b, const struct measure *m)
{
	return b->s == section_at(b->t, m->section) && !strcmp(b->access, m->access);
}

static struct bounded *load_of(struct bounded *list, unsigned *n, const struct test *t,
			       const struct measure *m)
{
	const char *limit = pairs_get(&t->params, "limit");
	uint64_t ns;

	for (unsigned i = 0; i < *n; i++)
		if (is_cell(&list[i], m))
			return &list[i];
	if (*n == BOUNDED_LOADS)
		return NULL;
	list += (*n)++;
	*list = (struct bounded){
		.t = t, .s = section_at(t, m->section), .access = m->access, .first = m
	};
	list->limit_ns = limit && !parse_time(limit, &ns) ? (double)ns : NAN;
	return list;
}

static void put_cell(struct bounded *b, const struct measure *m)
{
	const struct measure **at = cell_of(b, m);

	if (!at || *at)
		return;
	*at = m;
	b->n_cells++;
	b->n_inside += bounded_inside(b, m);
}

static bool is_point_of(const struct bounded *b, const struct operating_point *p)
{
	return !strcmp(p->test, b->t->name) && (!b->s || p->section == b->s->number);
}

/* The last point of its section; where the section has several accesses, the one picked for a cell of this one. */
static void find_best(struct bounded *b, const struct dataset *d, bool alone)
{
	for (unsigned i = 0; i < d->n_points; i++) {
		const struct operating_point *last = b->best, *p = &d->point[i];
		if (!is_point_of(b, p))
			continue;
		b->best = p;
		const struct measure *m = bounded_best(b);
		if (!alone && !(m && fabs(m->iops - p->iops) <= 1e-9 * p->iops))
			b->best = last;
	}
}

static bool is_alone(const struct bounded *list, unsigned n, unsigned i)
{
	for (unsigned k = 0; k < n; k++)
		if (k != i && list[k].s == list[i].s)
			return false;
	return true;
}

unsigned bounded_loads(const struct dataset *d, const struct test *t, struct bounded *ret)
{
	unsigned n = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < d->n_measures; i++) {
			const struct measure *m = &d->measure[i];
			if (!measure_counts(m, t) || strcmp(m->phase, "step"))
				continue;
			struct bounded *b = load_of(ret, &n, t, m);
			if (b && pass) {
				put_cell(b, m);
			} else if (b) {
				add_rising(b->tc, &b->n_tc, m->threads);
				add_rising(b->qd, &b->n_qd, m->qd);
			}
		}
	}
	for (unsigned i = 0; i < n; i++)
		find_best(&ret[i], d, is_alone(ret, n, i));
	return n;
}

const struct measure *bounded_best(const struct bounded *b)
{
	for (unsigned i = 0; b->best && i < b->n_tc; i++)
		for (unsigned k = 0; k < b->n_qd; k++)
			if (b->tc[i] == b->best->threads && b->qd[k] == b->best->qd)
				return b->cell[i][k];
	return NULL;
}

const char *bounded_limit(const struct bounded *b, struct arena *a)
{
	return isfinite(b->limit_ns) ? arena_fmt(a, "%.6g ms", b->limit_ns / 1e6) : "unknown";
}
