/* SPDX-License-Identifier: MIT */
/* Response time against load of all candidates over one another, and the best IOPS inside a response time. */
#include <math.h>
#include <string.h>

#include "reports/bounded.h"
#include "reports/compare_parts.h"
#include "reports/load_curve.h"
#include "reports/sheet.h"

#define CHART_ROWS 19
#define BUDGETS 5
#define TOP 10 /* of the axis: times the response time of the first step */
static const double budget_us[BUDGETS] = { 100, 150, 200, 500, 1000 };

/* One load of a candidate: the mean of its samples. */
struct step {
	int key; /* share of the maximum in 1/1000, or the rate where the maximum is not known */
	struct cmp_mean iops, art;
};

struct line {
	unsigned candidate, used;
	const char *why;
	struct step step[CURVE_STEPS];
	unsigned n;
	struct cmp_mean peak, peak_mbs, peak_art, art_90;
	struct cmp_mean under[BUDGETS]; /* of the samples that have such a step */
	double top_us;
};

struct curves {
	struct cmp_page p;
	struct cmp_groups curves, bounds;
	const struct cmp_group *g;
	struct line *line;
	unsigned n;
};

/* ---- loading ---- */

static void add_curves(struct curves *x, unsigned run, const struct test *t)
{
	struct load_curve *c = arena_array(x->p.a, struct load_curve, CURVE_LOADS);
	unsigned n = load_curves(&x->p.c->run[run].d, t, c);

	for (unsigned i = 0; i < n; i++) {
		const struct measure *m = c[i].maximum ? c[i].maximum : c[i].step[0]->m;
		cmp_group_add(&x->curves, &x->p, run, t, access_title(x->p.a, m), &c[i]);
	}
}

static void add_bounds(struct curves *x, unsigned run, const struct test *t)
{
	struct bounded *b = arena_array(x->p.a, struct bounded, BOUNDED_LOADS);
	unsigned n = bounded_loads(&x->p.c->run[run].d, t, b);

	for (unsigned i = 0; i < n; i++)
		cmp_group_add(&x->bounds, &x->p, run, t,
			      arena_fmt(x->p.a, "%s, ART below %s",
					access_title(x->p.a, b[i].first),
					bounded_limit(&b[i], x->p.a)),
			      &b[i]);
}

static void add_test(void *ctx, unsigned run, const struct test *t)
{
	if (sheet_kind(t) == SHEET_CURVE)
		add_curves(ctx, run, t);
	else if (sheet_kind(t) == SHEET_BOUNDED)
		add_bounds(ctx, run, t);
}

static struct step *step_of(struct line *l, const struct load_curve *c, const struct rated *r)
{
	double share = curve_share(c, r);
	int key = (int)lround(isnan(share) ? r->m->rate_iops : 1000 * share);

	for (unsigned i = 0; i < l->n; i++)
		if (l->step[i].key == key)
			return &l->step[i];
	if (l->n == CURVE_STEPS)
		return NULL;
	l->step[l->n] = (struct step){ .key = key };
	return &l->step[l->n++];
}

static void add_sample(struct line *l, const struct load_curve *c, const char *why)
{
	const struct measure *m = c->maximum;
	const struct rated *r = curve_at(c, 0.9);
	double peak = curve_peak_iops(c);

	for (unsigned i = 0; !why && i < c->n; i++) {
		struct step *s = step_of(l, c, c->step[i]);
		if (!s)
			continue;
		cmp_add(&s->iops, c->step[i]->m->iops, NULL);
		cmp_add(&s->art, c->step[i]->response.art_ns / 1e3, NULL);
	}
	cmp_add(&l->peak, peak > 0 ? peak : NAN, why);
	cmp_add(&l->peak_mbs, m ? m->bytes_per_s / 1e6 : NAN, why);
	cmp_add(&l->peak_art, m ? m->art_ns / 1e3 : NAN, why);
	cmp_add(&l->art_90, r ? r->response.art_ns / 1e3 : NAN, why);
	for (unsigned i = 0; i < BUDGETS; i++) {
		r = curve_under(c, budget_us[i]);
		cmp_add(&l->under[i], r ? r->m->iops : NAN, why);
	}
	l->used += !why;
	if (!why &&
	    c->n) /* overload leaves through the top, also where a drive slowed down since its maximum */
		l->top_us = fmax(l->top_us,
				 fmin(curve_top_us(c), TOP * c->step[0]->response.art_ns / 1e3));
	l->why = why ? why : l->why;
}

static void fill_lines(struct curves *x)
{
	const struct comparison *c = x->p.c;
	unsigned list[COMPARE_RUNS];

	x->n = cmp_present(c, x->g, list);
	x->line = arena_array(x->p.a, struct line, x->n);
	for (unsigned i = 0; i < x->n; i++) {
		const struct candidate *k = &c->candidate[list[i]];
		x->line[i] = (struct line){ .candidate = list[i] };
		for (unsigned s = 0; s < k->n_runs; s++) {
			const struct load_curve *one = x->g->of[k->run[s]];
			if (one)
				add_sample(&x->line[i], one, why_no_result(one->t, one->s));
		}
	}
}

/* ---- the chart of a load ---- */

static void chart(struct curves *x, struct place at)
{
	struct chart c = chart_new(CHART_SCATTER, "IOPS achieved", "Average response time (us)");
	unsigned shown = x->n < CMP_LINES ? x->n : CMP_LINES;
	double iops[CURVE_STEPS], art[CURVE_STEPS], high = 0, top = 0;
	struct series series[CMP_LINES];
	struct plots pl;

	c.title = arena_fmt(x->p.a, "%s - %s", x->g->sheet, x->g->what);
	plots_begin(&pl, x->p.s->grid, arena_fmt(x->p.a, "%s: response v IOPS", c.title));
	for (unsigned i = 0; i < shown; i++) {
		const struct line *l = &x->line[i];
		const char *name = x->p.c->candidate[l->candidate].label;
		for (unsigned k = 0; k < l->n; k++) {
			iops[k] = cmp_value(&l->step[k].iops);
			art[k] = cmp_value(&l->step[k].art);
			high = fmax(high, iops[k]);
		}
		top = fmax(top, l->top_us);
		series[i] = cmp_line(&x->p, l->candidate);
		series[i].x = plots_column(&pl, arena_fmt(x->p.a, "%s IOPS", name), iops, l->n);
		series[i].y = plots_column(&pl, arena_fmt(x->p.a, "%s ART us", name), art, l->n);
	}
	axis_round(&c.x, 0, high);
	axis_round(&c.y, 0, top);
	c.x.fmt = axis_fmt(c.x.max);
	c.y.fmt = axis_fmt(c.y.max);
	c.x.grid = true;
	cmp_chart(&x->p, &c, at, series, shown);
}

/* ---- peak and knee ---- */

static void knee_heads(struct curves *x)
{
	struct cmp_page *p = &x->p;

	cmp_table(p, LOOK_HEAD_PLATFORM, "Peak and knee - %s", x->g->what);
	cmp_head(p, 0, 2, "Candidate");
	cmp_head(p, 3, 4, "Peak IOPS");
	cmp_head(p, 5, 6, "Peak MB/s");
	cmp_head(p, 7, 8, "ART at peak (us)");
	cmp_head(p, 9, 10, "ART at 90 % load (us)");
	for (unsigned i = 0; i < BUDGETS; i++)
		cmp_head(p, 11 + i, 11 + i, arena_fmt(p->a, "IOPS under %g us", budget_us[i]));
	cmp_heads_end(p);
}

static void knee_row(struct curves *x, const struct line *l)
{
	struct cmp_page *p = &x->p;
	const struct {
		const struct cmp_mean *m;
		enum numfmt fmt;
	} cell[] = { { &l->peak, NUM_GROUP },
		     { &l->peak_mbs, NUM_GROUP1 },
		     { &l->peak_art, NUM_GROUP1 },
		     { &l->art_90, NUM_GROUP1 } };

	put_text(p->s, AREA(p->row, 0, p->row, 2), LOOK_ROW_HEAD,
		 cmp_name(p, l->candidate, l->used, cmp_tried(p->c, x->g, l->candidate)));
	for (unsigned i = 0; i < 4; i++)
		cmp_put(p, AREA(p->row, 3 + 2 * i, p->row, 4 + 2 * i),
			STYLE(i ? LOOK_CELL : LOOK_STRONG, cell[i].fmt), cell[i].m);
	for (unsigned i = 0; i < BUDGETS; i++) {
		struct area at = AT(p->row, 11 + i);
		if (l->used && !l->under[i].n)
			put_text(p->s, at, LOOK_NA, "none");
		else if (l->under[i].n < l->used)
			put_fmt(p->s, at, LOOK_WARN, "%u of %u", l->under[i].n, l->used);
		else
			cmp_put(p, at, STYLE(LOOK_CELL, NUM_GROUP), &l->under[i]);
	}
	p->row++;
}

static void put_knee(struct curves *x)
{
	cmp_room(&x->p, x->n + 3 < 38 ? x->n + 3 : 8);
	knee_heads(x);
	for (unsigned i = 0; i < x->n; i++) {
		if (cmp_room(&x->p, 1))
			knee_heads(x);
		knee_row(x, &x->line[i]);
	}
	x->p.row++;
}

/* Two loads a page: their charts beside one another, their tables below. */
static void pages_curves(struct curves *x)
{
	const uint32_t wide = PAGE_COLS / 2 * PAGE_COL_PX;

	for (unsigned i = 0; i < x->curves.n; i += 2) {
		unsigned n = x->curves.n - i < 2 ? 1 : 2;
		cmp_begin(&x->p, "Load v Latency - %s%s%s", x->curves.v[i]->what, n < 2 ? "" : ", ",
			  n < 2 ? "" : x->curves.v[i + 1]->what);
		for (unsigned k = 0; k < n; k++) {
			x->g = x->curves.v[i + k];
			fill_lines(x);
			chart(x, (struct place){ x->p.row, k * PAGE_COLS / 2,
						 n < 2 ? 2 * wide : wide - 6 * !k,
						 CHART_ROWS * ROW_PX });
		}
		x->p.row += CHART_ROWS + 1;
		const char *absent = "";
		for (unsigned k = 0; k < n; k++) {
			x->g = x->curves.v[i + k];
			fill_lines(x);
			put_knee(x);
			const char *now = cmp_absent(&x->p, x->g);
			if (!strstr(absent, now))
				absent = arena_fmt(x->p.a, "%s%s", absent, now);
		}
		cmp_note(&x->p,
			 "Open loop: each step is a share of that run's own maximum, response"
			 " times count from when an I/O was due; a line that is over-driven leaves"
			 " through the top. IOPS under a time: the fastest step measured whose mean"
			 " is below it, nothing interpolated; \"1 of 2\": no more samples have one,"
			 " and a mean of those alone would flatter.%s",
			 absent);
	}
}

/* ---- the best inside a bound ---- */

struct best {
	unsigned candidate, used, n_inside, n_cells;
	bool outside; /* a sample has no cell inside */
	const char *points; /* "T4Q16", "T4Q16, T8Q8" */
	struct cmp_mean iops, mbs, art, p99, p99999;
};

static void add_best(struct curves *x, struct best *to, const struct bounded *b, const char *why)
{
	const struct measure *m = bounded_best(b);

	if (!m || why) {
		cmp_add(&to->iops, NAN, why);
		to->mbs.why = to->art.why = to->p99.why = to->p99999.why = to->iops.why;
		return;
	}
	to->points = cmp_join(&x->p, to->points, tcqd_text(x->p.a, m->threads, m->qd));
	to->outside |= !bounded_inside(b, m);
	to->n_inside += b->n_inside;
	to->n_cells += b->n_cells;
	to->used++;
	cmp_add(&to->iops, m->iops, NULL);
	cmp_add(&to->mbs, m->bytes_per_s / 1e6, NULL);
	cmp_add(&to->art, m->art_ns / 1e3, NULL);
	cmp_add(&to->p99, m->p99_ns < 0 ? NAN : (double)m->p99_ns / 1e3, NULL);
	cmp_add(&to->p99999, m->p99999_ns < 0 ? NAN : (double)m->p99999_ns / 1e3, NULL);
}

static struct best best_of(struct curves *x, unsigned candidate)
{
	const struct candidate *k = &x->p.c->candidate[candidate];
	struct best to = { .candidate = candidate, .points = "" };

	for (unsigned s = 0; s < k->n_runs; s++) {
		const struct bounded *b = x->g->of[k->run[s]];
		if (b)
			add_best(x, &to, b, why_no_result(b->t, b->s));
	}
	return to;
}

static void best_row(struct curves *x, const struct best *b)
{
	struct cmp_page *p = &x->p;
	const struct cmp_mean *cell[] = { &b->iops, &b->mbs, &b->art, &b->p99, &b->p99999 };
	static const unsigned col[] = { 5, 7, 8, 9, 10 };

	put_text(p->s, AREA(p->row, 0, p->row, 2), LOOK_ROW_HEAD,
		 cmp_name(p, b->candidate, b->used, cmp_tried(p->c, x->g, b->candidate)));
	put_text(p->s, AREA(p->row, 3, p->row, 4), *b->points ? LOOK_CENTER : LOOK_NA,
		 *b->points ? b->points : "-");
	for (unsigned i = 0; i < 5; i++)
		cmp_put(p, i ? AT(p->row, col[i]) : AREA(p->row, 5, p->row, 6),
			STYLE(i ? LOOK_CELL : LOOK_STRONG, i ? NUM_GROUP1 : NUM_GROUP), cell[i]);
	if (!b->used)
		put_text(p->s, AREA(p->row, 11, p->row, 15), LOOK_NA, "-");
	else
		put_fmt(p->s, AREA(p->row, 11, p->row, 15), b->outside ? LOOK_WARN : LOOK_GOOD,
			"%s: %u of %u cells inside", b->outside ? "OUTSIDE" : "inside", b->n_inside,
			b->n_cells);
	p->row++;
}

static void bounds_heads(struct curves *x)
{
	struct cmp_page *p = &x->p;
	const char *absent = cmp_absent(p, x->g);

	cmp_table(p, LOOK_HEAD_SETUP, "%s - %s%s%s", x->g->sheet, x->g->what, *absent ? "." : "",
		  absent);
	cmp_head(p, 0, 2, "Candidate");
	cmp_head(p, 3, 4, "TC / QD");
	cmp_head(p, 5, 6, "Best IOPS");
	cmp_head(p, 7, 7, "MB/s");
	cmp_head(p, 8, 8, "ART (us)");
	cmp_head(p, 9, 9, "99 % (us)");
	cmp_head(p, 10, 10, "99.999 % (us)");
	cmp_head(p, 11, 15, "Bound");
	cmp_heads_end(p);
}

static void put_bounds(struct curves *x)
{
	unsigned list[COMPARE_RUNS], n = cmp_present(x->p.c, x->g, list);

	cmp_room(&x->p, n + 3 < 38 ? n + 3 : 8);
	bounds_heads(x);
	for (unsigned i = 0; i < n; i++) {
		struct best b = best_of(x, list[i]);
		if (cmp_room(&x->p, 1))
			bounds_heads(x);
		best_row(x, &b);
	}
	x->p.row++;
}

static void pages_bounds(struct curves *x)
{
	if (!x->bounds.n)
		return;
	cmp_part(&x->p, 10, "Best IOPS inside a response time, over TC x QD");
	for (unsigned i = 0; i < x->bounds.n; i++) {
		x->g = x->bounds.v[i];
		put_bounds(x);
	}
	cmp_note(&x->p,
		 "The cell that each run picked: highest IOPS with the mean response time below the"
		 " bound. OUTSIDE (amber): none was, the cell with the lowest response time stands"
		 " instead. Several samples of a candidate: the mean of them, each at its own "
		 "point.");
}

/* ---- JSON ---- */

static void json_line(const struct curves *x, const struct line *l, struct json *j)
{
	json_object(j, NULL);
	cmp_json_candidate(j, x->p.c, l->candidate, l->used);
	cmp_json_mean(j, "peak_iops", &l->peak, 1);
	cmp_json_mean(j, "peak_bytes_per_s", &l->peak_mbs, 1e6);
	cmp_json_mean(j, "peak_art_ns", &l->peak_art, 1e3);
	cmp_json_mean(j, "art_at_90_pct_ns", &l->art_90, 1e3);
	cmp_json_why(j, &l->peak);
	json_array(j, "under");
	for (unsigned i = 0; i < BUDGETS; i++) {
		json_object(j, NULL);
		json_num(j, "art_ns", budget_us[i] * 1e3);
		json_num(j, "iops", l->under[i].n == l->used ? cmp_value(&l->under[i]) : NAN);
		json_uint(j, "samples", l->under[i].n);
		json_end_object(j);
	}
	json_end_array(j);
	json_array(j, "steps");
	for (unsigned i = 0; i < l->n; i++) {
		json_object(j, NULL);
		cmp_json_mean(j, "iops", &l->step[i].iops, 1);
		cmp_json_mean(j, "art_ns", &l->step[i].art, 1e3);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static void json_lines(void *ctx, struct cmp_group *g, struct json *j)
{
	struct curves *x = ctx;

	x->g = g;
	fill_lines(x);
	for (unsigned k = 0; k < x->n; k++)
		json_line(x, &x->line[k], j);
}

void cmp_curve_json(const struct comparison *c, struct json *j)
{
	struct arena a = { 0 };
	struct curves *x = arena_new(&a, struct curves);

	x->p = (struct cmp_page){ .c = c, .a = &a };
	cmp_each_test(c, add_test, x);
	cmp_json_groups(j, "load_latency", &x->curves, json_lines, x);
	arena_release(&a);
}

/* ---- the sheet ---- */

static bool applies(const struct comparison *c)
{
	for (unsigned r = 0; r < c->n_runs; r++)
		if (sheet_any(&c->run[r].d, SHEET_CURVE) || sheet_any(&c->run[r].d, SHEET_BOUNDED))
			return true;
	return false;
}

static void build(const struct comparison *c, struct grid *g)
{
	struct curves *x = arena_new(&g->arena, struct curves);

	cmp_open(&x->p, c, g, "Load-latency", "Load v Latency - response time against load");
	cmp_each_test(c, add_test, x);
	pages_curves(x);
	pages_bounds(x);
	cmp_close(&x->p);
}

const struct compare_sheet cmp_curve = { 210, applies, build };
