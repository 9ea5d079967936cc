/* SPDX-License-Identifier: MIT */
/* The steady-state measurement window: plot and determination table (spec 5, 20). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/plots.h"

#define ROUNDS_MAX 1024

static double scaled(const struct track *t, double base)
{
	return unit_shown(t->unit, base);
}

static const char *y_title(const struct track *t)
{
	return t->unit == UNIT_NS ? "ART (ms)" : unit_name(t->unit);
}

/* Range of what is drawn: the +-10 % lines and the rounds shown. */
static void window_axes(struct chart *c, const struct track *t, const double *v, unsigned first,
			unsigned n, bool zoom)
{
	double low = INFINITY, high = 0;

	for (unsigned i = first; i < n; i++) {
		if (!isfinite(v[i]))
			continue;
		low = fmin(low, v[i]);
		high = fmax(high, v[i]);
	}
	if (t->check) {
		low = fmin(low, 0.9 * scaled(t, t->check->average));
		high = fmax(high, 1.1 * scaled(t, t->check->average));
	}
	if (!isfinite(low))
		low = 0;
	double pad = (high - low) * 0.08;
	if (zoom)
		axis_round(&c->y, fmax(low - pad, 0), high + pad);
	else
		axis_round(&c->y, 0, high);
	c->y.fmt = axis_fmt(c->y.max);
	c->x.min = first;
	c->x.max = n + 1;
	c->x.unit = n - first > 16 ? 5 : 1;
	c->x.fmt = NUM_INT;
	c->x.grid = true;
}

static struct series flat(struct plots *pl, const char *name, struct range x, double a, double b)
{
	double v[2] = { a, b };

	return (struct series){
		.name = name, .x = x, .y = plots_column(pl, name, v, 2), .color = 0, .width = 1.5
	};
}

static unsigned window_lines(struct plots *pl, const struct track *t, struct series *out)
{
	const struct check_row *c = t->check;
	double ends[2] = { c->first_round, c->first_round + WINDOW_ROUNDS - 1 };
	struct range x = plots_column(pl, "Window", ends, 2);
	double avg = scaled(t, c->average);
	double m = scaled(t, c->slope), b = scaled(t, c->intercept);

	out[0] = flat(pl, "Average", x, avg, avg);
	out[1] = flat(pl, "110 % of average", x, 1.1 * avg, 1.1 * avg);
	out[2] = flat(pl, "90 % of average", x, 0.9 * avg, 0.9 * avg);
	out[3] = flat(pl, "Least-squares fit", x, m * ends[0] + b, m * ends[1] + b);
	out[1].dash = out[2].dash = DASH_DASH;
	out[1].color = out[2].color = 0x7F7F7F;
	out[3].dash = DASH_LONG;
	out[3].color = 0xC00000;
	out[3].width = 2;
	return 4;
}

void window_chart(struct page *p, const struct section *s, const struct track *t, struct place at,
		  bool zoom)
{
	struct chart c = chart_new(CHART_SCATTER, "Round", y_title(t));
	unsigned n = t->n > ROUNDS_MAX ? ROUNDS_MAX : t->n, first = 0, k = 1;
	double v[ROUNDS_MAX], x[ROUNDS_MAX];
	struct series series[5];
	struct plots pl;

	for (unsigned i = 0; i < n; i++) {
		v[i] = scaled(t, t->value[i]);
		x[i] = i + 1;
	}
	if (zoom && n > WINDOW_ROUNDS + 1)
		first = n - WINDOW_ROUNDS - 1;
	plots_begin(&pl, p->s->grid,
		    arena_fmt(&p->s->grid->arena, "%s: %s, %s", p->t->sheet, t->title,
			      unit_name(t->unit)));
	struct range rounds = plots_column(&pl, "Round", x + first, n - first);
	series[0] = (struct series){ .name = "Tracking variable",
				     .x = rounds,
				     .y = plots_column(&pl, t->title, v + first, n - first),
				     .color = 0x2E75B6,
				     .width = 2,
				     .markers = true };
	if (t->check)
		k += window_lines(&pl, t, series + 1);
	window_axes(&c, t, v, first, n, zoom);
	chart_place(&c, at);
	c.series = series;
	c.n_series = k;
	if (n)
		grid_chart(p->s, &c);
}

/* ---- the determination table ---- */

struct det { /* one table being written */
	struct page *p;
	const struct track *t;
	uint32_t row, col;
	const char *x, *y; /* ranges of rounds and values */
};

static struct area det_key(const struct det *d)
{
	return AREA(d->row, d->col, d->row, d->col + 1);
}

static struct area det_value(const struct det *d)
{
	return AREA(d->row, d->col + 2, d->row, d->col + 3);
}

/* A line with a live formula; returns the reference of its value. */
static const char *det_line(struct det *d, const char *key, double v, const char *formula)
{
	enum numfmt fmt = d->t->unit == UNIT_NS ? NUM_6 : NUM_GROUP1;

	put_text(d->p->s, det_key(d), LOOK_KEY, key);
	put_formula(d->p->s, det_value(d), STYLE(LOOK_FORMULA, fmt), v, "%s", formula);
	return grid_ref(d->p->s->grid, AT(d->row++, d->col + 2), false);
}

static void det_rounds(struct det *d, const struct check_row *c)
{
	struct grid *g = d->p->s->grid;
	enum numfmt fmt = d->t->unit == UNIT_NS ? NUM_6 : NUM_GROUP1;

	d->x = grid_ref(g, AREA(d->row, d->col, d->row + WINDOW_ROUNDS - 1, d->col), false);
	d->y = grid_ref(g, AREA(d->row, d->col + 2, d->row + WINDOW_ROUNDS - 1, d->col + 2), false);
	for (int i = 0; i < WINDOW_ROUNDS; i++, d->row++) {
		put_num(d->p->s, det_key(d), STYLE(LOOK_CENTER, NUM_INT), c->first_round + i);
		put_num(d->p->s, det_value(d), STYLE(LOOK_CELL, fmt), scaled(d->t, c->y[i]));
	}
}

static void det_verdict(struct det *d, bool steady, const char *formula)
{
	put_text(d->p->s, det_key(d), LOOK_KEY, "Verdict");
	put_formula_text(d->p->s, det_value(d), steady ? LOOK_GOOD : LOOK_BAD,
			 steady ? "STEADY" : "NOT STEADY", formula);
	d->row++;
}

/* Five equal values have none; it is stored as 0. */
static void det_correlation(struct det *d, const struct check_row *c, const char *formula,
			    bool constant)
{
	put_text(d->p->s, det_key(d), LOOK_KEY, "Correlation r");
	if (constant)
		put_formula_text(d->p->s, det_value(d), LOOK_FORMULA, "n/a", formula);
	else
		put_formula(d->p->s, det_value(d), STYLE(LOOK_FORMULA, NUM_3), c->correlation, "%s",
			    formula);
	d->row++;
}

static void det_formulas(struct det *d, const struct check_row *c)
{
	struct arena *a = &d->p->s->grid->arena;
	double low = INFINITY, high = -INFINITY, k = scaled(d->t, 1);

	for (int i = 0; i < WINDOW_ROUNDS; i++) {
		low = fmin(low, c->y[i]);
		high = fmax(high, c->y[i]);
	}
	const char *avg = det_line(d, "Average", c->average * k,
				   arena_fmt(a, "=AVERAGE(%s)", d->y));
	const char *max = det_line(d, "Maximum", high * k, arena_fmt(a, "=MAX(%s)", d->y));
	const char *min = det_line(d, "Minimum", low * k, arena_fmt(a, "=MIN(%s)", d->y));
	const char *exc = det_line(d, "Measured data excursion", (high - low) * k,
				   arena_fmt(a, "=%s-%s", max, min));
	const char *lim = det_line(d, "Allowed (20 % of average)", c->average * k * 0.2,
				   arena_fmt(a, "=0.2*%s", avg));
	const char *m = det_line(d, "Slope m of the fit", c->slope * k,
				 arena_fmt(a, "=SLOPE(%s,%s)", d->y, d->x));
	const char *b = det_line(d, "Intercept b", c->intercept * k,
				 arena_fmt(a, "=INTERCEPT(%s,%s)", d->y, d->x));
	const char *se = det_line(d, "Measured slope excursion", c->slope_excursion * k,
				  arena_fmt(a, "=ABS(%s)*(MAX(%s)-MIN(%s))", m, d->x, d->x));
	const char *sl = det_line(d, "Allowed (10 % of average)", c->average * k * 0.1,
				  arena_fmt(a, "=0.1*%s", avg));
	put_text(d->p->s, det_key(d), LOOK_KEY, "Least-squares fit");
	put_fmt(d->p->s, det_value(d), LOOK_VALUE, "%.6g * R + %.6g", c->slope * k,
		c->intercept * k);
	d->row++;
	det_correlation(d, c,
			arena_fmt(a, "=IF(%s=%s,\"n/a\",CORREL(%s,%s))", max, min, d->x, d->y),
			low == high);
	(void)b;
	det_verdict(d, c->steady,
		    arena_fmt(a,
			      "=IF(AND(%s<=%s*(1+1E-9),%s<=%s*(1+1E-9)),\"STEADY\",\"NOT STEADY\")",
			      exc, lim, se, sl));
}

void window_table(struct page *p, const struct section *s, const struct track *t, uint32_t row,
		  uint32_t col)
{
	struct det d = { p, t, row, col, "", "" };

	put_text(p->s, AREA(row, col, row, col + 3), LOOK_HEAD_SETUP,
		 "STEADY STATE DETERMINATION (live formulas)");
	d.row++;
	put_text(p->s, det_key(&d), LOOK_HEAD, "Round");
	put_text(p->s, det_value(&d), LOOK_HEAD, y_title(t));
	d.row++;
	if (t->check) {
		det_rounds(&d, t->check);
		det_formulas(&d, t->check);
		return;
	}
	for (unsigned i = 0; i < t->n && i < WINDOW_ROUNDS; i++, d.row++) {
		put_num(p->s, det_key(&d), STYLE(LOOK_CENTER, NUM_INT), i + 1);
		put_num(p->s, det_value(&d), STYLE(LOOK_CELL, unit_fmt(t->unit)),
			scaled(t, t->value[i]));
	}
	put_fmt(p->s, AREA(d.row, col, d.row, col + 3), LOOK_BAD,
		"no window of five rounds: %d measured", s->rounds);
}

void window_page(struct page *p, const struct section *s, const struct track *t)
{
	struct arena *a = &p->s->grid->arena;
	/* A number of the page's own says which part it is: "P5 - DV". */
	const char *part = *s->label && !(p->number && *p->number) ? arena_fmt(a, " (%s)", s->label)
								   : "";

	page_begin(p, "Plot",
		   arena_fmt(a, "Steady State Measurement Window - %s%s, %s", t->title, part,
			     s->window_first > 0
				     ? arena_fmt(a, "rounds %d-%d", s->window_first, s->window_last)
				     : "no window of five"));
	page_banner(p, s);
	window_chart(p, s, t,
		     (struct place){ p->row, 0, 11 * PAGE_COL_PX + PAGE_COL_PX / 2, 26 * ROW_PX },
		     true);
	window_table(p, s, t, p->row, 12);
	put_text(p->s, AREA(p->row + 27, 0, p->row + 28, PAGE_COLS - 1), LOOK_NOTE,
		 "Blue cells are formulas over the rounds above them. Steady state (PTS 2.1.24): "
		 "over"
		 " five rounds, max - min within 20 % of the average, and the rise of the"
		 " least-squares line over the window within 10 % of the average; all tracking"
		 " variables of a test at once.");
}
