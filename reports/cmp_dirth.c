/* SPDX-License-Identifier: MIT */
/* Demand intensity of all candidates over one another: ART v IOPS, the Max IOPS points, IOPS inside a response time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/compare_parts.h"
#include "reports/demand_priv.h"
#include "reports/sheet.h"

#define TOIOS (DEMAND_MAX * DEMAND_MAX)
#define ABREAST 4 /* candidates beside one another */
#define CHART_ROWS 20
#define BUDGETS 3
#define SINGLE 1 /* the budget of the single figure */
static const double budget_us[BUDGETS] = { 200, 500, 1000 };

/* What a run has of such a test. */
struct taken {
	const char *why; /* it is no result; NULL: it is */
	unsigned n;
	struct {
		int toio;
		double iops, art_us;
	} v[TOIOS];
	double iops, art_us, p99999_us; /* at the Max IOPS point; NAN none */
};

/* Means of one candidate. */
struct line {
	unsigned candidate, used;
	const char *why;
	struct cmp_mean iops[TOIOS], art[TOIOS]; /* by total OIO */
	struct cmp_mean max_iops, max_art, max_p99999;
	double x[TOIOS], y[TOIOS]; /* art, iops as numbers */
};

struct overlay {
	struct cmp_page p;
	struct cmp_groups groups;
	struct demand *m; /* of the test at hand */
	const struct cmp_group *g;
	int toio[TOIOS];
	unsigned n_toio;
	struct line *line;
	unsigned n;
};

static bool is_one(const struct test *t)
{
	enum sheet_kind kind = sheet_kind(t);

	return kind == SHEET_DIRTH || kind == SHEET_CBW;
}

/* ---- loading ---- */

static void take_point(struct taken *k, const struct demand *m)
{
	k->iops = k->art_us = k->p99999_us = NAN;
	for (unsigned i = 0; i < m->n_points; i++) {
		const struct operating_point *op = m->point[i].op;
		if (strcmp(op->point, "max"))
			continue;
		k->iops = op->iops;
		k->art_us = op->art_ns / 1e3;
		k->p99999_us = op->p99999_ns < 0 ? NAN : (double)op->p99999_ns / 1e3;
	}
}

static void add_test(void *ctx, unsigned run, const struct test *t)
{
	struct overlay *x = ctx;
	struct taken *k;

	if (!is_one(t))
		return;
	demand_init(x->m, &x->p.c->run[run].d, t, x->p.a);
	k = arena_new(x->p.a, struct taken);
	k->why = why_no_result(t, NULL);
	for (unsigned i = 0; i < x->m->n_toio; i++) {
		const struct demand_toio *g = &x->m->toio[i];
		if (!g->n)
			continue;
		k->v[k->n].toio = g->toio;
		k->v[k->n].iops = g->iops;
		k->v[k->n++].art_us = g->art_ns / 1e3;
	}
	take_point(k, x->m);
	cmp_group_add(&x->groups, &x->p, run, t, demand_access(x->p.a, x->m), k);
}

static unsigned toio_at(const struct overlay *x, int toio)
{
	unsigned i = 0;

	while (i < x->n_toio && x->toio[i] < toio)
		i++;
	return i;
}

static void list_toios(struct overlay *x)
{
	x->n_toio = 0;
	for (unsigned r = 0; r < x->p.c->n_runs; r++) {
		const struct taken *k = x->g->of[r];
		for (unsigned i = 0; k && i < k->n; i++) {
			unsigned at = toio_at(x, k->v[i].toio);
			if ((at < x->n_toio && x->toio[at] == k->v[i].toio) || x->n_toio == TOIOS)
				continue;
			memmove(x->toio + at + 1, x->toio + at, (x->n_toio - at) * sizeof(int));
			x->toio[at] = k->v[i].toio;
			x->n_toio++;
		}
	}
}

static void add_sample(const struct overlay *x, struct line *l, const struct taken *k)
{
	for (unsigned i = 0; i < k->n; i++) {
		unsigned at = toio_at(x, k->v[i].toio);
		if (at == x->n_toio || x->toio[at] != k->v[i].toio)
			continue;
		cmp_add(&l->iops[at], k->v[i].iops, k->why);
		cmp_add(&l->art[at], k->v[i].art_us, k->why);
	}
	cmp_add(&l->max_iops, k->iops, k->why);
	cmp_add(&l->max_art, k->art_us, k->why);
	cmp_add(&l->max_p99999, k->p99999_us, k->why);
	l->used += !k->why;
	l->why = k->why ? k->why : l->why;
}

static void fill_lines(struct overlay *x)
{
	const struct comparison *c = x->p.c;
	unsigned list[COMPARE_RUNS];

	list_toios(x);
	x->n = cmp_present(c, x->g, list);
	x->line = arena_array(x->p.a, struct line, x->n);
	for (unsigned i = 0; i < x->n; i++) {
		struct line *l = &x->line[i];
		const struct candidate *k = &c->candidate[list[i]];
		*l = (struct line){ .candidate = list[i] };
		for (unsigned s = 0; s < k->n_runs; s++)
			if (x->g->of[k->run[s]])
				add_sample(x, l, x->g->of[k->run[s]]);
		for (unsigned t = 0; t < x->n_toio; t++) {
			l->x[t] = cmp_value(&l->art[t]);
			l->y[t] = cmp_value(&l->iops[t]);
		}
	}
}

/* ---- charts ---- */

static void chart_intensity(struct overlay *x, struct place at)
{
	struct chart c = chart_new(CHART_SCATTER, "IOPS", "Average response time (us, log scale)");
	unsigned shown = x->n < CMP_LINES ? x->n : CMP_LINES, n_max = 0, n = 0;
	double *art = arena_array(x->p.a, double, (size_t)shown * x->n_toio + 1);
	double max_x[CMP_LINES], max_y[CMP_LINES], top = 1;
	struct series series[CMP_LINES + 1];
	struct plots pl;

	c.title = "ART v IOPS";
	plots_begin(&pl, x->p.s->grid, arena_fmt(x->p.a, "%s: ART v IOPS", x->p.title));
	for (unsigned i = 0; i < shown; i++) {
		const struct line *l = &x->line[i];
		const char *name = x->p.c->candidate[l->candidate].label;
		series[n] = cmp_line(&x->p, l->candidate);
		series[n].x = plots_column(&pl, arena_fmt(x->p.a, "%s IOPS", name), l->y,
					   x->n_toio);
		series[n++].y = plots_column(&pl, arena_fmt(x->p.a, "%s ART us", name), l->x,
					     x->n_toio);
		for (unsigned t = 0; t < x->n_toio; t++) {
			art[i * x->n_toio + t] = l->x[t];
			top = fmax(top, isfinite(l->y[t]) ? l->y[t] : 0);
		}
		if (!l->max_iops.n || !l->max_art.n)
			continue;
		max_x[n_max] = cmp_value(&l->max_iops);
		max_y[n_max++] = cmp_value(&l->max_art);
	}
	if (n_max) {
		series[n] =
			(struct series){ .name = "Max IOPS point", .color = 0, .markers = true };
		series[n].x = plots_column(&pl, "Max IOPS", max_x, n_max);
		series[n++].y = plots_column(&pl, "Max ART us", max_y, n_max);
	}
	axis_round(&c.x, 0, top);
	c.x.fmt = axis_fmt(c.x.max);
	c.x.grid = true;
	axis_decades(&c.y, art, shown * x->n_toio);
	c.y.fmt = NUM_GROUP;
	cmp_chart(&x->p, &c, at, series, n);
}

static void chart_times(struct overlay *x, const unsigned *list, struct place at)
{
	struct chart c = chart_new(CHART_COLUMN, NULL, "us");
	const char *label[COMPARE_RUNS];
	double v[2 * COMPARE_RUNS], *p = v + x->n;
	struct plots pl;

	for (unsigned i = 0; i < x->n; i++) {
		label[i] = candidate_head(x->p.a, &x->p.c->candidate[list[i]]);
		v[i] = cmp_value(&x->line[i].max_art);
		p[i] = cmp_value(&x->line[i].max_p99999);
	}
	c.title = "At the Max IOPS point: ART and 99.999 % (log, lower is better)";
	plots_begin(&pl, x->p.s->grid, arena_fmt(x->p.a, "%s: times at Max", x->p.title));
	struct range names = plots_labels(&pl, "candidate", label, x->n);
	struct series two[2] = { { .name = "ART",
				   .x = names,
				   .y = plots_column(&pl, "ART us", v, x->n),
				   .color = 0xED7D31 },
				 { .name = "99.999 %",
				   .x = names,
				   .y = plots_column(&pl, "99.999 % us", p, x->n),
				   .color = 0xC00000 } };
	for (unsigned i = 0; i < 2; i++) {
		two[i].labels = x->n <= 5;
		two[i].label_fmt = NUM_GROUP;
	}
	cmp_axis_bars(&c.y, v, 2 * x->n);
	c.legend = LEGEND_RIGHT;
	cmp_chart(&x->p, &c, at, two, 2);
}

static void charts(struct overlay *x)
{
	struct chart c = chart_new(CHART_COLUMN, NULL, "IOPS");
	const uint32_t half = CHART_ROWS / 2, right = 7 * PAGE_COL_PX;
	unsigned list[COMPARE_RUNS];
	double v[COMPARE_RUNS];
	bool used = false, points = false;

	for (unsigned i = 0; i < x->n; i++) {
		list[i] = x->line[i].candidate;
		v[i] = cmp_value(&x->line[i].max_iops);
		used |= x->line[i].used > 0;
		points |= x->line[i].max_iops.n > 0;
	}
	if (!used) {
		cmp_no_results(&x->p);
		return;
	}
	const uint32_t wide = points ? 9 * PAGE_COL_PX - 6 : PAGE_COLS * PAGE_COL_PX;
	chart_intensity(x, (struct place){ x->p.row, 0, wide, CHART_ROWS * ROW_PX });
	c.title = "At the Max IOPS point: IOPS (higher is better)";
	cmp_bars(&x->p, &c, (struct place){ x->p.row, 9, right, half * ROW_PX - 6 }, list, v, x->n);
	chart_times(x, list, (struct place){ x->p.row + half, 9, right, half * ROW_PX });
	x->p.row += CHART_ROWS + 1;
}

/* ---- tables ---- */

static int fastest_at(const struct overlay *x, unsigned t)
{
	int best = -1;

	for (unsigned i = 0; i < x->n; i++)
		if (isfinite(x->line[i].y[t]) && (best < 0 || x->line[i].y[t] > x->line[best].y[t]))
			best = (int)i;
	return best;
}

static void toio_heads(struct overlay *x, unsigned first, unsigned n)
{
	struct cmp_page *p = &x->p;

	cmp_table(p, LOOK_HEAD_PLATFORM,
		  "IOPS and average response time (us) by total outstanding I/O (TOIO = TC x QD)%s",
		  first ? ", continued" : "");
	cmp_head(p, 0, 1, "TOIO");
	for (unsigned i = 0; i < n; i++) {
		const struct line *l = &x->line[first + i];
		cmp_head(p, 2 + 3 * i, 3 + 3 * i,
			 arena_fmt(p->a, "%s: IOPS",
				   cmp_name(p, l->candidate, l->used,
					    cmp_tried(p->c, x->g, l->candidate))));
		cmp_head(p, 4 + 3 * i, 4 + 3 * i, "ART us");
	}
	cmp_head(p, 2 + 3 * n, 3 + 3 * n, "Fastest");
	cmp_heads_end(p);
}

static void toio_row(struct overlay *x, unsigned t, unsigned first, unsigned n)
{
	struct cmp_page *p = &x->p;
	int best = fastest_at(x, t);

	put_num(p->s, AREA(p->row, 0, p->row, 1), STYLE(LOOK_ROW_HEAD, NUM_INT), x->toio[t]);
	for (unsigned i = 0; i < n; i++) {
		const struct line *l = &x->line[first + i];
		bool wins = best == (int)(first + i);
		struct cmp_mean iops = l->iops[t], art = l->art[t];
		iops.why = iops.why ? iops.why : l->why;
		art.why = art.why ? art.why : l->why;
		cmp_put(p, AREA(p->row, 2 + 3 * i, p->row, 3 + 3 * i),
			STYLE(wins ? LOOK_STRONG : LOOK_CELL, NUM_GROUP), &iops);
		cmp_put(p, AT(p->row, 4 + 3 * i), STYLE(LOOK_CELL, NUM_GROUP1), &art);
	}
	put_text(p->s, AREA(p->row, 2 + 3 * n, p->row, 3 + 3 * n), best < 0 ? LOOK_NA : LOOK_CENTER,
		 best < 0 ? "-" : p->c->candidate[x->line[best].candidate].label);
	p->row++;
}

static void put_toios(struct overlay *x)
{
	for (unsigned first = 0; first < x->n; first += ABREAST) {
		unsigned n = x->n - first < ABREAST ? x->n - first : ABREAST;
		cmp_room(&x->p, x->n_toio + 3 < 38 ? x->n_toio + 3 : 8);
		toio_heads(x, first, n);
		for (unsigned t = 0; t < x->n_toio; t++) {
			if (cmp_room(&x->p, 1))
				toio_heads(x, first, n);
			toio_row(x, t, first, n);
		}
		x->p.row++;
	}
}

/* Between which points a figure lies, or why there is none. */
static const char *between_text(struct overlay *x, const struct line *l, struct cmp_between b,
				double limit)
{
	double low = INFINITY, high = 0;

	if (isfinite(b.value) && b.from == b.to)
		return arena_fmt(x->p.a, "at TOIO %d", x->toio[b.to]);
	if (isfinite(b.value))
		return arena_fmt(x->p.a, "TOIO %d - %d", x->toio[b.from], x->toio[b.to]);
	for (unsigned t = 0; t < x->n_toio; t++) {
		if (!isfinite(l->x[t]))
			continue;
		low = fmin(low, l->x[t]);
		high = fmax(high, l->x[t]);
	}
	if (high > 0 && high < limit)
		return arena_fmt(x->p.a, "slowest: %.4g us", high);
	return isfinite(low) ? arena_fmt(x->p.a, "fastest: %.4g us", low) : "-";
}

static void budget_row(struct overlay *x, const struct line *l)
{
	struct cmp_page *p = &x->p;

	put_text(p->s, AREA(p->row, 0, p->row, 3), LOOK_ROW_HEAD,
		 cmp_name(p, l->candidate, l->used, cmp_tried(p->c, x->g, l->candidate)));
	for (unsigned i = 0; i < BUDGETS; i++) {
		struct cmp_between b = cmp_interpolate(l->x, l->y, x->n_toio, budget_us[i]);
		struct area at = AREA(p->row, 4 + 4 * i, p->row, 5 + 4 * i);
		if (isfinite(b.value))
			put_num(p->s, at, STYLE(i == SINGLE ? LOOK_STRONG : LOOK_CELL, NUM_GROUP),
				b.value);
		else
			cmp_put_missing(p, at, l->used ? NULL : l->why);
		put_text(p->s, AREA(p->row, 6 + 4 * i, p->row, 7 + 4 * i), LOOK_CENTER,
			 between_text(x, l, b, budget_us[i]));
	}
	p->row++;
}

static void put_budgets(struct overlay *x)
{
	struct cmp_page *p = &x->p;

	cmp_room(p, x->n + 6 < 38 ? x->n + 6 : 8);
	cmp_table(p, LOOK_HEAD_SETUP, "IOPS inside a response-time budget, interpolated");
	cmp_head(p, 0, 3, "Candidate");
	for (unsigned i = 0; i < BUDGETS; i++) {
		cmp_head(p, 4 + 4 * i, 5 + 4 * i,
			 arena_fmt(p->a, "IOPS at %g us ART", budget_us[i]));
		cmp_head(p, 6 + 4 * i, 7 + 4 * i, "lies between");
	}
	cmp_heads_end(p);
	for (unsigned i = 0; i < x->n; i++) {
		cmp_room(p, 1);
		budget_row(x, &x->line[i]);
	}
	cmp_note(
		p,
		"TOIO: means over all TC/QD of one total. Max IOPS point: as picked in each run. A"
		" budget's IOPS lie on the straight line between the two totals named; n/a where "
		"all"
		" totals answer within it (the slowest is named) or none does. Several samples of a"
		" candidate: the mean of them; those not steady or not finished are left out.%s%s",
		x->n > CMP_LINES ? " The chart shows the first 16 candidates." : "",
		cmp_absent(p, x->g));
}

/* ---- JSON ---- */

static void json_line(const struct overlay *x, const struct line *l, struct json *j)
{
	json_object(j, NULL);
	cmp_json_candidate(j, x->p.c, l->candidate, l->used);
	json_str(j, "why", l->used ? NULL : l->why);
	json_array(j, "toio");
	for (unsigned t = 0; t < x->n_toio; t++) {
		json_object(j, NULL);
		json_int(j, "toio", x->toio[t]);
		cmp_json_mean(j, "iops", &l->iops[t], 1);
		cmp_json_mean(j, "art_ns", &l->art[t], 1e3);
		json_end_object(j);
	}
	json_end_array(j);
	json_object(j, "max");
	cmp_json_mean(j, "iops", &l->max_iops, 1);
	cmp_json_mean(j, "art_ns", &l->max_art, 1e3);
	cmp_json_mean(j, "lat_p99999_ns", &l->max_p99999, 1e3);
	json_end_object(j);
	json_array(j, "budgets");
	for (unsigned i = 0; i < BUDGETS; i++) {
		struct cmp_between b = cmp_interpolate(l->x, l->y, x->n_toio, budget_us[i]);
		json_object(j, NULL);
		json_num(j, "art_ns", budget_us[i] * 1e3);
		json_num(j, "iops", b.value);
		json_num(j, "from_toio", isnan(b.value) ? NAN : x->toio[b.from]);
		json_num(j, "to_toio", isnan(b.value) ? NAN : x->toio[b.to]);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static void json_lines(void *ctx, struct cmp_group *g, struct json *j)
{
	struct overlay *x = ctx;

	x->g = g;
	fill_lines(x);
	for (unsigned k = 0; k < x->n; k++)
		json_line(x, &x->line[k], j);
}

void cmp_dirth_json(const struct comparison *c, struct json *j)
{
	struct arena a = { 0 };
	struct overlay *x = arena_new(&a, struct overlay);

	x->m = arena_new(&a, struct demand);
	x->p = (struct cmp_page){ .c = c, .a = &a };
	cmp_each_test(c, add_test, x);
	cmp_json_groups(j, "demand_intensity", &x->groups, json_lines, x);
	arena_release(&a);
}

/* ---- the sheet ---- */

static bool applies(const struct comparison *c)
{
	for (unsigned r = 0; r < c->n_runs; r++)
		for (unsigned i = 0; i < c->run[r].d.n_tests; i++)
			if (is_one(&c->run[r].d.test[i]))
				return true;
	return false;
}

static void build(const struct comparison *c, struct grid *g)
{
	struct overlay *x = arena_new(&g->arena, struct overlay);

	x->m = arena_new(&g->arena, struct demand);
	cmp_open(&x->p, c, g, "DIRTH", "Demand Intensity - response time against IOPS");
	cmp_each_test(c, add_test, x);
	for (unsigned i = 0; i < x->groups.n; i++) {
		x->g = x->groups.v[i];
		cmp_begin(&x->p, "%s - %s", x->g->sheet, x->g->what);
		fill_lines(x);
		charts(x);
		put_budgets(x);
		put_toios(x);
	}
	cmp_close(&x->p);
}

const struct compare_sheet cmp_dirth = { 200, applies, build };
