/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "reports/series.h"
#include "schema/read.h"

#define NS 1e9
#define CELL_SECONDS_MAX \
	4096 /* longer cells of a model keep rows of several seconds: they are one point */

/* ---- thinning ---- */

static unsigned add_index(unsigned *index, unsigned n, unsigned v)
{
	if (n && index[n - 1] == v)
		return n;
	index[n] = v;
	return n + 1;
}

/* First, last and both extremes of [from, to), in order, each once. */
static unsigned thin_bucket(const double *y, unsigned from, unsigned to, unsigned *out)
{
	unsigned low = from, high = from, n = 0;

	for (unsigned i = from; i < to; i++) {
		if (isnan(y[i]))
			continue;
		if (isnan(y[low]) || y[i] < y[low])
			low = i;
		if (isnan(y[high]) || y[i] > y[high])
			high = i;
	}
	n = add_index(out, n, from);
	n = add_index(out, n, low < high ? low : high);
	n = add_index(out, n, low < high ? high : low);
	return add_index(out, n, to - 1);
}

unsigned series_thin(const double *y, unsigned n, unsigned max, unsigned *ret_index)
{
	unsigned buckets = max / 4, k = 0;

	BUG_ON(max < 4);
	if (n <= max) {
		for (; k < n; k++)
			ret_index[k] = k;
		return n;
	}
	for (unsigned b = 0; b < buckets; b++) {
		unsigned from = (unsigned)((uint64_t)n * b / buckets);
		unsigned to = (unsigned)((uint64_t)n * (b + 1) / buckets);
		k += thin_bucket(y, from, to, ret_index + k);
	}
	return k;
}

double *series_pick(struct arena *a, const double *v, const unsigned *index, unsigned n)
{
	double *out = arena_array(a, double, n + 1);

	for (unsigned i = 0; i < n; i++)
		out[i] = v[index[i]];
	return out;
}

/* ---- one-second rows ---- */

static unsigned whole_seconds(const struct measure *m)
{
	return (unsigned)fmin((double)m->elapsed_ns / NS + 1e-9, 1e9);
}

static void add_point(struct curve *c, const struct measure *m, double start_ns, double span_ns,
		      double iops)
{
	c->end_ns[c->n] = start_ns + span_ns;
	c->span_ns[c->n] = span_ns;
	c->iops[c->n] = iops;
	c->cell[c->n] = m;
	c->n++;
}

/* A cell as one point. */
static void add_cell(struct curve *c, const struct measure *m, double start_ns)
{
	add_point(c, m, start_ns, (double)m->elapsed_ns, m->iops);
	c->written_bytes[c->n - 1] = (double)m->host_bytes_written;
}

/*
 * A cell as its seconds; @ios holds those of each, also of seconds without a row: nothing completed in them. What is left
 * at its end counts as a point from half a second on; less than that is noise.
 */
static void add_seconds(struct curve *c, const struct measure *m, double start_ns,
			const uint64_t *ios)
{
	unsigned whole = whole_seconds(m);
	double before = (double)m->host_bytes_written - (double)m->write_bytes, seen = 0;

	for (unsigned i = 0; i <= whole; i++) {
		double span = i < whole ? NS : (double)m->elapsed_ns - whole * NS;
		seen += (double)ios[i];
		if (span < NS / 2)
			continue;
		add_point(c, m, start_ns + i * NS, span, (double)ios[i] * NS / span);
		c->written_bytes[c->n - 1] = before + (m->ios ? seen / (double)m->ios : 0) *
							      (double)m->write_bytes;
		c->n_seconds += span >= NS;
	}
}

struct seconds { /* the query over all cells, read cell by cell */
	struct rows *q;
	bool more;
};

/* Counts of the cell's seconds; false when it has no rows. */
static bool take_seconds(struct seconds *s, const struct measure *m, uint64_t *ios, unsigned n)
{
	bool any = false;

	while (s->more && rows_int(s->q, 0) < m->cell_id)
		s->more = rows_next(s->q) == 1;
	memset(ios, 0, n * sizeof *ios);
	while (s->more && rows_int(s->q, 0) == m->cell_id) {
		int64_t second = rows_int(s->q, 1);
		if (second >= 0 && second < n)
			ios[second] += (uint64_t)rows_int(s->q, 2);
		any = true;
		s->more = rows_next(s->q) == 1;
	}
	return any;
}

static void curve_room(struct dataset *d, const struct measure *const *cell, unsigned n,
		       struct curve *c)
{
	size_t room = 1;

	for (unsigned i = 0; i < n; i++)
		room += whole_seconds(cell[i]) <= CELL_SECONDS_MAX ? whole_seconds(cell[i]) + 1 : 1;
	c->end_ns = arena_array(&d->arena, double, room);
	c->span_ns = arena_array(&d->arena, double, room);
	c->iops = arena_array(&d->arena, double, room);
	c->written_bytes = arena_array(&d->arena, double, room);
	c->cell = arena_array(&d->arena, const struct measure *, room);
}

int curve_load(struct dataset *d, const struct measure *const *cell, unsigned n, struct curve *ret,
	       struct err *err)
{
	struct curve c = { .n = 0 };
	uint64_t *ios = arena_array(&d->arena, uint64_t, CELL_SECONDS_MAX + 1);

	*ret = c;
	if (!n)
		return 0;
	struct seconds s = { .q = read_rows(d->reader, err,
					    "SELECT cell_id, second, ios FROM v_second WHERE run_id"
					    " = ? AND cell_id BETWEEN ? AND ? ORDER BY cell_id",
					    "iii", d->run_id, cell[0]->cell_id,
					    cell[n - 1]->cell_id) };
	if (!s.q)
		return -EIO;
	curve_room(d, cell, n, &c);
	s.more = rows_next(s.q) == 1;
	for (unsigned i = 0; i < n; i++) {
		unsigned whole = whole_seconds(cell[i]);
		double start = (double)(cell[i]->start_ns - cell[0]->start_ns);
		bool fits = whole && whole <= CELL_SECONDS_MAX;
		if (take_seconds(&s, cell[i], ios, CELL_SECONDS_MAX + 1) && fits)
			add_seconds(&c, cell[i], start, ios);
		else
			add_cell(&c, cell[i], start);
	}
	*ret = c;
	return rows_close(s.q, err);
}
