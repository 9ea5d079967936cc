/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "reports/scale.h"

static void add_rising(int *list, unsigned *n, int v)
{
	unsigned at = 0;

	while (at < *n && list[at] < v)
		at++;
	if (*n == SCALE_SIDE || v < 1 || (at < *n && list[at] == v))
		return;
	memmove(list + at + 1, list + at, (*n - at) * sizeof *list);
	list[at] = v;
	++*n;
}

static unsigned place_of(const int *list, unsigned n, int v)
{
	unsigned i = 0;

	while (i < n && list[i] != v)
		i++;
	return i;
}

bool scale_is_member(const struct measure *m, const struct measure *sum)
{
	return m->member >= 1 && !strcmp(m->test, sum->test) && m->attempt == sum->attempt &&
	       m->step == sum->step && m->round == sum->round && !m->void_;
}

unsigned scale_member_rows(const struct dataset *d, const struct measure *sum)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->n_measures; i++)
		n += scale_is_member(&d->measure[i], sum);
	return n;
}

/* How many drives carried a step: what the plan says, else its members' rows, else the one there is. */
static int drives_of(const struct dataset *d, const struct test *t, const struct measure *m)
{
	unsigned n = asked_members(t, m);

	if (!n)
		n = scale_member_rows(d, m);
	return n ? (int)n : 1;
}

static bool is_cell(const struct test *t, const struct measure *m)
{
	return measure_counts(m, t) && !strcmp(m->phase, "step");
}

static struct scale_load *load_of(struct scale_load *l, unsigned *n, const struct measure *m)
{
	for (unsigned i = 0; i < *n; i++)
		if (!strcmp(l[i].access, m->access))
			return &l[i];
	if (*n == SCALE_LOADS)
		return NULL;
	l += (*n)++;
	*l = (struct scale_load){ .access = m->access,
				  .first = m,
				  .block_bytes = m->block_bytes,
				  .read_pct = m->read_pct };
	return l;
}

unsigned scale_loads(const struct dataset *d, const struct test *t, struct scale_load *ret)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->n_measures; i++) {
		const struct measure *m = &d->measure[i];
		struct scale_load *l = is_cell(t, m) ? load_of(ret, &n, m) : NULL;
		if (!l)
			continue;
		add_rising(l->tc, &l->n_tc, m->threads);
		add_rising(l->drives, &l->n_drives, drives_of(d, t, m));
	}
	for (unsigned i = 0; i < d->n_measures; i++) {
		const struct measure *m = &d->measure[i];
		struct scale_load *l = is_cell(t, m) ? load_of(ret, &n, m) : NULL;
		if (!l)
			continue;
		unsigned a = place_of(l->tc, l->n_tc, m->threads);
		unsigned b = place_of(l->drives, l->n_drives, drives_of(d, t, m));
		if (a == l->n_tc || b == l->n_drives || l->cell[a][b])
			continue;
		l->cell[a][b] = m;
		l->n_cells++;
	}
	return n;
}

double scale_efficiency(double iops, double drives, double one_iops)
{
	return one_iops > 0 && drives > 0 ? iops / drives / one_iops : NAN;
}

const struct measure *scale_best(const struct scale_load *l, unsigned drives)
{
	const struct measure *best = NULL;

	for (unsigned i = 0; i < l->n_tc && drives < l->n_drives; i++) {
		const struct measure *m = l->cell[i][drives];
		if (m && (!best || m->bytes_per_s > best->bytes_per_s))
			best = m;
	}
	return best;
}
