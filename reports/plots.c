/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/plot3d.h"
#include "reports/plots.h"

#define PLOTS_SHEET "D_plots"

void plots_begin(struct plots *p, struct grid *g, const char *title)
{
	p->s = grid_find(g, PLOTS_SHEET);
	if (!p->s) {
		p->s = grid_sheet(g, PLOTS_SHEET, ROLE_DATA);
		p->s->color = 0x7F7F7F;
		grid_col_width(p->s, 0, 25, 90);
		put_text(p->s, AT(0, 0), LOOK_PLAIN, "Numbers behind the plots of this workbook");
	}
	p->row = p->s->n_rows + 1;
	p->col = 0;
	put_text(p->s, AT(p->row, 0), LOOK_PLAIN, title);
	p->row++;
}

static struct range range_of(const struct plots *p, unsigned n)
{
	return (struct range){ p->s->name, AREA(p->row + 1, p->col, p->row + (n ? n : 1), p->col) };
}

struct range plots_column(struct plots *p, const char *head, const double *v, unsigned n)
{
	struct range r = range_of(p, n);

	bool any = false;

	put_text(p->s, AT(p->row, p->col), LOOK_HEAD, head);
	for (unsigned i = 0; i < n; i++) {
		if (!isfinite(v[i]))
			continue;
		put_num(p->s, AT(p->row + 1 + i, p->col), STYLE(LOOK_CELL, NUM_GENERAL), v[i]);
		any = true;
	}
	p->col++;
	if (!any)
		r.sheet = NULL;
	return r;
}

struct range plots_labels(struct plots *p, const char *head, const char *const *text, unsigned n)
{
	struct range r = range_of(p, n);

	put_text(p->s, AT(p->row, p->col), LOOK_HEAD, head);
	for (unsigned i = 0; i < n; i++)
		put_text(p->s, AT(p->row + 1 + i, p->col), LOOK_CENTER, text[i]);
	p->col++;
	return r;
}

struct chart chart_new(enum chart_kind kind, const char *x_title, const char *y_title)
{
	struct axis free_axis = { .min = NAN, .max = NAN, .unit = NAN };
	struct chart c = { .kind = kind, .x = free_axis, .y = free_axis, .gap = 80 };

	c.x.title = x_title;
	c.y.title = y_title;
	c.y.grid = true;
	c.legend = LEGEND_BOTTOM;
	return c;
}

void axis_round(struct axis *a, double low, double high)
{
	if (!(high > low))
		high = low + (low != 0 ? fabs(low) * 0.1 : 1);
	a->unit = nice_step(high - low);
	a->min = floor(low / a->unit + 1e-9) * a->unit;
	a->max = ceil(high / a->unit - 1e-9) * a->unit;
}

void axis_decades(struct axis *a, const double *v, unsigned n)
{
	double low = INFINITY, high = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!isfinite(v[i]) || v[i] <= 0)
			continue;
		low = fmin(low, v[i]);
		high = fmax(high, v[i]);
	}
	a->log = true;
	if (high <= 0)
		low = high = 1;
	a->min = pow(10, floor(log10(low)));
	a->max = pow(10, ceil(log10(high)));
	if (a->max <= a->min)
		a->max = a->min * 10;
}

void chart_place(struct chart *c, struct place at)
{
	c->row = at.row;
	c->col = at.col;
	c->width_px = at.width_px - 2; /* not into the next cell */
	c->height_px = at.height_px - 2;
	c->dx_px = c->dy_px = 0;
}

double measure_value(const struct measure *m, enum measure_field f)
{
	if (!m)
		return NAN;
	switch (f) {
	case FIELD_IOPS:
		return m->iops;
	case FIELD_MBS:
		return m->bytes_per_s / 1e6;
	case FIELD_ART_MS:
		return m->art_ns / 1e6;
	case FIELD_MRT_MS:
		return m->mrt_ns < 0 ? NAN : (double)m->mrt_ns / 1e6;
	}
	return NAN;
}

static enum numfmt field_fmt(enum measure_field f)
{
	return f == FIELD_ART_MS ? NUM_4 : f == FIELD_MRT_MS ? NUM_2 : NUM_GROUP1;
}

/* ---- convergence ---- */

#define ROUNDS_MAX 1024
#define SERIES_MAX 32

static unsigned round_values(const struct convergence *c, unsigned i, double *out)
{
	unsigned n = c->combo[i]->n_rounds;

	n = n > ROUNDS_MAX ? ROUNDS_MAX : n;
	for (unsigned r = 0; r < n; r++)
		out[r] = measure_value(c->combo[i]->round[r], c->field);
	return n;
}

void convergence_chart(struct page *p, const struct convergence *c, struct place at)
{
	struct chart ch = chart_new(CHART_SCATTER, "Round", c->y_title);
	struct series series[SERIES_MAX];
	double v[ROUNDS_MAX], x[ROUNDS_MAX], top = 0;
	unsigned n = 0, all = 0;
	struct plots pl;

	plots_begin(&pl, p->s->grid, "Convergence");
	for (unsigned i = 0; i < ROUNDS_MAX; i++)
		x[i] = i + 1;
	struct range rounds = plots_column(&pl, "Round", x, c->n ? round_values(c, 0, v) : 0);
	for (unsigned i = 0; i < c->n && n < SERIES_MAX; i++) {
		unsigned k = round_values(c, i, v);
		for (unsigned r = 0; r < k; r++)
			top = fmax(top, isfinite(v[r]) ? v[r] : 0);
		all = k > all ? k : all;
		series[n++] = (struct series){ .name = c->name[i],
					       .x = rounds,
					       .y = plots_column(&pl, c->name[i], v, k),
					       .color = series_color(i),
					       .width = 1.75,
					       .markers = true };
	}
	chart_place(&ch, at);
	ch.series = series;
	ch.n_series = n;
	ch.legend = LEGEND_RIGHT;
	ch.x.min = 0;
	ch.x.max = all + 1;
	ch.x.unit = all > 16 ? 5 : 1;
	ch.x.fmt = NUM_INT;
	axis_round(&ch.y, 0, top);
	ch.y.fmt = axis_fmt(ch.y.max);
	if (n)
		grid_chart(p->s, &ch);
}

/* The last nine rounds fit the page; the window is always among them. */
#define TABLE_ROUNDS 9

static void convergence_head(struct page *p, const struct convergence *c, uint32_t row,
			     unsigned first, unsigned n)
{
	struct grid_sheet *s = p->s;

	put_text(s, AREA(row, 0, row, 1), LOOK_HEAD, c->y_title);
	for (unsigned i = 0; i < n; i++) {
		int r = (int)(first + i + 1);
		bool in = r >= c->s->window_first && r <= c->s->window_last;
		put_fmt(s, AT(row, 2 + i), in ? LOOK_HEAD_WINDOW : LOOK_HEAD, "Round %d", r);
	}
	put_text(s, AREA(row, 2 + n, row, 3 + n), LOOK_HEAD, "Window avg");
	put_text(s, AT(row, 4 + n), LOOK_HEAD, "CV");
	put_text(s, AREA(row, 5 + n, row, 6 + n), LOOK_HEAD, "First shown / avg");
}

static void convergence_row(struct page *p, const struct convergence *c, uint32_t row, unsigned i)
{
	struct grid_sheet *s = p->s;
	double v[ROUNDS_MAX], sum = 0, sq = 0;
	unsigned all = round_values(c, i, v), n = all > TABLE_ROUNDS ? TABLE_ROUNDS : all;
	unsigned first = all - n, window = 0;
	uint32_t lo = 0, hi = 0;

	put_text(s, AREA(row, 0, row, 1), LOOK_ROW_HEAD, c->name[i]);
	for (unsigned r = first; r < all; r++) {
		int number = (int)r + 1;
		bool in = number >= c->s->window_first && number <= c->s->window_last;
		put_num(s, AT(row, 2 + r - first),
			STYLE(in ? LOOK_WINDOW : LOOK_CELL, field_fmt(c->field)), v[r]);
		if (!in || !isfinite(v[r]))
			continue;
		lo = window++ ? lo : 2 + r - first;
		hi = 2 + r - first;
		sum += v[r];
	}
	double avg = sum / window;
	for (uint32_t k = lo; window && k <= hi; k++)
		sq += (v[first + k - 2] - avg) * (v[first + k - 2] - avg);
	const char *ref = grid_ref(s->grid, AREA(row, lo, row, hi), false);
	const char *mean = grid_ref(s->grid, AT(row, 2 + n), false);
	const char *one = grid_ref(s->grid, AT(row, 2), false);
	put_formula(s, AREA(row, 2 + n, row, 3 + n),
		    STYLE(result_look(c->s, LOOK_FORMULA), field_fmt(c->field)), window ? avg : NAN,
		    "=AVERAGE(%s)", ref);
	put_formula(s, AT(row, 4 + n), STYLE(LOOK_FORMULA, NUM_PCT2),
		    window > 1 && avg > 0 ? sqrt(sq / (window - 1)) / avg : NAN, "=STDEV(%s)/%s",
		    ref, mean);
	put_formula(s, AREA(row, 5 + n, row, 6 + n), STYLE(LOOK_FORMULA, NUM_2),
		    window && avg > 0 ? v[first] / avg : NAN, "=%s/%s", one, mean);
}

void convergence_table(struct page *p, const struct convergence *c, uint32_t row)
{
	unsigned all = c->n ? c->combo[0]->n_rounds : 0;
	unsigned n = all > TABLE_ROUNDS ? TABLE_ROUNDS : all;

	if (!n) {
		put_text(p->s, AREA(row, 0, row, PAGE_COLS - 1), LOOK_NA, "no complete round");
		return;
	}
	convergence_head(p, c, row, all - n, n);
	for (unsigned i = 0; i < c->n; i++)
		convergence_row(p, c, row + 1 + i, i);
}
