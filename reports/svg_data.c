/* SPDX-License-Identifier: MIT */
/* The numbers and names behind a chart, from the cells that it refers to; axes over them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/plot3d.h"
#include "reports/svg.h"

bool plot_named(const struct chart *c)
{
	return c->kind != CHART_SCATTER;
}

const char *plot_num(char *out, size_t n, enum numfmt fmt, double v)
{
	if (fmt != NUM_GENERAL)
		return html_num(out, n, fmt, v);
	snprintf(out, n, "%.6g", v);
	if (fabs(v) >= 1e4 && fabs(v) < 1e15 && v == floor(v))
		html_num(out, n, NUM_GROUP, v);
	return out;
}

static unsigned range_count(const struct range *r)
{
	if (!r->sheet)
		return 0;
	return (r->at.row2 - r->at.row + 1) * (r->at.col2 - r->at.col + 1);
}

/* The cell of place @i, down a column or along a row. */
static const struct cell *range_cell(const struct range *r, unsigned i, const struct grid_index *ix)
{
	uint32_t cols = r->at.col2 - r->at.col + 1;

	return grid_index_cell(ix, r->sheet, r->at.row + i / cols, r->at.col + i % cols);
}

static double *range_values(struct arena *a, const struct range *r, unsigned n,
			    const struct grid_index *ix)
{
	double *v = arena_array(a, double, n + 1);

	for (unsigned i = 0; i < n; i++) {
		const struct cell *c = i < range_count(r) ? range_cell(r, i, ix) : NULL;
		v[i] = c && (c->kind == CELL_NUMBER || c->kind == CELL_FORMULA) ? c->value : NAN;
	}
	return v;
}

static void take_categories(struct plot *p, const struct range *r, unsigned n,
			    const struct grid_index *ix)
{
	char tmp[80];

	p->n_categories = n;
	p->category = arena_array(&p->arena, const char *, n + 1);
	for (unsigned i = 0; i < n; i++) {
		const struct cell *c = i < range_count(r) ? range_cell(r, i, ix) : NULL;
		if (!r->sheet)
			p->category[i] = arena_fmt(&p->arena, "%u", i + 1);
		else if (!c)
			p->category[i] = "";
		else if (c->kind == CELL_NUMBER || c->kind == CELL_FORMULA)
			p->category[i] = arena_strdup(
				&p->arena,
				plot_num(tmp, sizeof tmp, STYLE_FMT(c->style), c->value));
		else
			p->category[i] = c->text;
	}
}

void plot_init(struct plot *p, const struct chart *c, const struct grid_index *ix)
{
	unsigned longest = 0;
	const struct range *names = &c->series[0].x;

	*p = (struct plot){ .c = c, .n_lines = c->n_series };
	p->line = arena_array(&p->arena, struct plot_line, c->n_series + 1);
	for (unsigned i = 0; i < c->n_series; i++) {
		struct plot_line *l = &p->line[i];
		l->s = &c->series[i];
		l->n = range_count(&l->s->y);
		l->y = range_values(&p->arena, &l->s->y, l->n, ix);
		l->x = range_values(&p->arena, &l->s->x, l->n, ix);
		for (unsigned k = 0; k < l->n && (!l->s->x.sheet || plot_named(c)); k++)
			l->x[k] = k + 1;
		longest = l->n > longest ? l->n : longest;
		names = names->sheet ? names : &l->s->x;
	}
	if (plot_named(c))
		take_categories(p, names, longest, ix);
}

void plot_release(struct plot *p)
{
	arena_release(&p->arena);
}

/* ---- axes ---- */

static void scale_log(struct scale *s, double low, double high)
{
	low = low > 0 ? low : 1;
	high = high > low ? high : low * 10;
	if (!(s->min > 0))
		s->min = pow(10, floor(log10(low) + 1e-9));
	if (!(s->max > s->min))
		s->max = fmax(pow(10, ceil(log10(high) - 1e-9)), s->min * 10);
	/* over one or two decades their ends alone say little */
	static const double between[] = { 1, 2, 5 };
	unsigned step = s->max / s->min > 101 ? 3 : 1;
	for (int e = (int)floor(log10(s->min) + 1e-9); e <= log10(s->max) + 1e-9; e++) {
		for (unsigned i = 0; i < 3; i += step) {
			double v = between[i] * pow(10, e);
			if (v >= s->min * (1 - 1e-9) && v <= s->max * (1 + 1e-9) &&
			    s->n_ticks < TICKS_MAX)
				s->tick[s->n_ticks++] = v;
		}
	}
}

static void scale_linear(struct scale *s, double unit, double low, double high)
{
	double bottom = isfinite(s->min) ? s->min : low, top = isfinite(s->max) ? s->max : high;

	if (!(top > bottom))
		top = bottom + (bottom != 0 ? fabs(bottom) * 0.1 : 1);
	if (!isfinite(unit) || unit <= 0 || (top - bottom) / unit > 400)
		unit = nice_step(top - bottom);
	while ((top - bottom) / unit > TICKS_MAX - 2)
		unit *= 2;
	if (!isfinite(s->min))
		s->min = floor(bottom / unit + 1e-9) * unit;
	if (!isfinite(s->max) || s->max <= s->min)
		s->max = ceil(top / unit - 1e-9) * unit;
	double first = ceil(s->min / unit - 1e-9) * unit;
	for (unsigned i = 0; i < TICKS_MAX && first + i * unit <= s->max + unit * 1e-6; i++) {
		double v = first + i * unit;
		s->tick[s->n_ticks++] = fabs(v) < unit * 1e-9 ? 0 : v;
	}
}

void scale_init(struct scale *s, const struct axis *a, double low, double high, bool zero)
{
	*s = (struct scale){ .min = a->min, .max = a->max, .log = a->log };
	if (!(low <= high))
		low = 0, high = 1;
	if (!a->log && low > 0 && (zero || low < high * 5 / 6))
		low = 0;
	if (!a->log && zero && high < 0)
		high = 0;
	if (a->log)
		scale_log(s, low, high);
	else
		scale_linear(s, a->unit, low, high);
}

double scale_at(const struct scale *s, double v)
{
	double k = s->log ? log(v / s->min) / log(s->max / s->min)
			  : (v - s->min) / (s->max - s->min);

	return s->from + (s->to - s->from) * k;
}

void scale_thin(struct scale *s, unsigned n)
{
	while (s->n_ticks > (n < 2 ? 2 : n)) {
		unsigned kept = 0;
		for (unsigned i = 0; i < s->n_ticks; i += 2)
			s->tick[kept++] = s->tick[i];
		s->n_ticks = kept;
	}
}
