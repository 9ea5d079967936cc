/* SPDX-License-Identifier: MIT */
/* Drives x threads of each candidate: IOPS, efficiency as live formulas, lines over drives; throughput by workload. */
#include <math.h>
#include <string.h>

#include "reports/compare_parts.h"
#include "reports/scale.h"
#include "reports/sheet.h"
#include "reports/tcqd.h"

#define COLS 15 /* drives of one table */
#define ROWS 12 /* thread counts of one table */
#define CHART_ROWS 13
#define LINES 10 /* thread counts of one chart */

/* The mean of a candidate's samples. */
struct matrix {
	unsigned n_tc, n_drives, used;
	const char *why;
	int tc[SCALE_SIDE], drives[SCALE_SIDE];
	struct cmp_mean iops[SCALE_SIDE][SCALE_SIDE]; /* [tc][drives] */
	uint32_t row[SCALE_SIDE], col; /* of the cells of one drive, for formulas */
};

struct scaling {
	struct cmp_page p;
	struct cmp_groups groups; /* one for each access of each test */
	const struct cmp_group *g;
	unsigned candidate;
	struct matrix *m;
};

static void add_test(void *ctx, unsigned run, const struct test *t)
{
	struct scaling *x = ctx;

	if (sheet_kind(t) != SHEET_SCALE)
		return;
	struct scale_load *l = arena_array(x->p.a, struct scale_load, SCALE_LOADS);
	unsigned n = scale_loads(&x->p.c->run[run].d, t, l);
	for (unsigned i = 0; i < n; i++)
		cmp_group_add(&x->groups, &x->p, run, t, access_title(x->p.a, l[i].first), &l[i]);
}

static unsigned add_rising(int *list, unsigned *n, int v)
{
	unsigned at = 0;

	while (at < *n && list[at] < v)
		at++;
	if (*n == SCALE_SIDE || (at < *n && list[at] == v))
		return at;
	memmove(list + at + 1, list + at, (*n - at) * sizeof *list);
	list[at] = v;
	++*n;
	return at;
}

static unsigned place_of(const int *list, unsigned n, int v)
{
	unsigned i = 0;

	while (i < n && list[i] != v)
		i++;
	return i;
}

static void add_cells(struct matrix *m, const struct scale_load *l, const char *why)
{
	for (unsigned i = 0; i < l->n_tc; i++) {
		for (unsigned k = 0; k < l->n_drives; k++) {
			unsigned a = place_of(m->tc, m->n_tc, l->tc[i]);
			unsigned b = place_of(m->drives, m->n_drives, l->drives[k]);
			if (l->cell[i][k] && a < m->n_tc && b < m->n_drives)
				cmp_add(&m->iops[a][b], l->cell[i][k]->iops, why);
		}
	}
}

static void fill_matrix(struct scaling *x)
{
	const struct candidate *k = &x->p.c->candidate[x->candidate];
	struct matrix *m = x->m;

	memset(m, 0, sizeof *m);
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned s = 0; s < k->n_runs; s++) {
			const struct scale_load *l = x->g->of[k->run[s]];
			const char *why = why_no_result(x->g->test[k->run[s]], NULL);
			for (unsigned i = 0; l && !pass && i < l->n_tc; i++)
				add_rising(m->tc, &m->n_tc, l->tc[i]);
			for (unsigned i = 0; l && !pass && i < l->n_drives; i++)
				add_rising(m->drives, &m->n_drives, l->drives[i]);
			if (!l || !pass)
				continue;
			add_cells(m, l, why);
			m->used += !why;
			m->why = why ? why : m->why;
		}
	}
}

static double iops_at(const struct matrix *m, unsigned tc, unsigned drive)
{
	return cmp_value(&m->iops[tc][drive]);
}

/* Of one drive at the same threads; NAN where it was not measured. */
static double one_iops(const struct matrix *m, unsigned tc)
{
	return m->drives[0] == 1 ? iops_at(m, tc, 0) : NAN;
}

/* ---- tables ---- */

struct part { /* a table over some of the drives and thread counts */
	struct scaling *x;
	unsigned first_tc, first_drive;
	bool efficiency;
	struct tcqd *iops; /* of the efficiencies: the table they refer to */
};

static void put_cell(const struct tcqd *t, unsigned i, unsigned k, struct area at)
{
	const struct part *o = t->ctx;
	struct matrix *m = o->x->m;
	unsigned tc = o->first_tc + i, drive = o->first_drive + k;
	int drives = m->drives[drive];

	if (!o->efficiency) {
		cmp_put(&o->x->p, at, STYLE(LOOK_CELL, NUM_GROUP), &m->iops[tc][drive]);
		if (!drive) {
			m->row[tc] = at.row;
			m->col = at.col;
		}
		return;
	}
	double v = scale_efficiency(iops_at(m, tc, drive), drives, one_iops(m, tc));
	if (!isfinite(v)) {
		put_text(t->s, at, LOOK_NA, "n/a");
		return;
	}
	struct grid *g = t->s->grid;
	put_formula(t->s, at, STYLE(LOOK_FORMULA, NUM_PCT1), v, "=%s/(%d*%s)",
		    grid_ref(g, tcqd_at(o->iops, i, k), false), drives,
		    grid_ref(g, AT(m->row[tc], m->col), true));
}

static struct tcqd table_of(struct part *o)
{
	const struct matrix *m = o->x->m;
	unsigned cols = m->n_drives - o->first_drive, rows = m->n_tc - o->first_tc;

	return (struct tcqd){ .title = o->efficiency ? "Scaling efficiency (100 % = linear)"
						     : "IOPS of all drives",
			      .look = o->efficiency ? LOOK_HEAD_DEVICE : LOOK_HEAD_PLATFORM,
			      .corner = "TC \\ drives",
			      .row_word = "TC",
			      .col_word = "",
			      .row = m->tc + o->first_tc,
			      .col = m->drives + o->first_drive,
			      .n_rows = rows < ROWS ? rows : ROWS,
			      .n_cols = cols < COLS ? cols : COLS,
			      .scale = SCALE_GREEN_RED,
			      .put = put_cell,
			      .ctx = o };
}

/* Both tables, the second beside the first where seven drives or fewer leave room. */
static void put_tables(struct scaling *x, unsigned first_tc, unsigned first_drive)
{
	struct part o[2] = { { x, first_tc, first_drive, false, NULL } };
	struct tcqd iops = table_of(&o[0]), share;
	bool beside = iops.n_cols <= 7, several = x->m->n_drives > 1;

	o[1] = (struct part){ x, first_tc, first_drive, true, &iops };
	share = table_of(&o[1]);
	cmp_room(&x->p, (beside || !several ? 1 : 2) * (iops.n_rows + 3));
	uint32_t below = tcqd_put(&iops, x->p.s, x->p.row, 0);
	if (several)
		below = tcqd_put(&share, x->p.s, beside ? x->p.row : below + 1, beside ? 8 : 0);
	x->p.row = below + 1;
}

/* ---- lines ---- */

static unsigned line_at(unsigned i, unsigned shown, unsigned n)
{
	return shown < 2 ? 0 : i * (n - 1) / (shown - 1);
}

/* Over drives, a line for each thread count; of one drive over threads. */
static void chart(struct scaling *x, bool efficiency, struct place at)
{
	const struct matrix *m = x->m;
	bool drives = m->n_drives > 1;
	unsigned n = drives ? m->n_tc : 1, n_x = drives ? m->n_drives : m->n_tc;
	unsigned shown = n < LINES ? n : LINES;
	struct chart c = chart_new(CHART_LINE, drives ? "Drives" : "Threads per drive",
				   efficiency ? "Efficiency, %" : "IOPS");
	double *all = arena_array(x->p.a, double, LINES *SCALE_SIDE);
	const char *label[SCALE_SIDE];
	struct series series[LINES];
	struct plots pl;

	c.title = arena_fmt(x->p.a, "%s v %s", efficiency ? "Efficiency" : "IOPS",
			    drives ? "number of drives" : "threads");
	plots_begin(&pl, x->p.s->grid, arena_fmt(x->p.a, "%s: %s", x->p.title, c.title));
	for (unsigned k = 0; k < n_x; k++)
		label[k] = arena_fmt(x->p.a, "%d", drives ? m->drives[k] : m->tc[k]);
	struct range names = plots_labels(&pl, c.x.title, label, n_x);
	for (unsigned i = 0; i < shown; i++) {
		unsigned line = line_at(i, shown, n);
		double *v = all + i * n_x;
		for (unsigned k = 0; k < n_x; k++) {
			v[k] = drives ? iops_at(m, line, k) : iops_at(m, k, 0);
			if (efficiency)
				v[k] = 100 *
				       scale_efficiency(v[k], m->drives[k], one_iops(m, line));
		}
		series[i] = (struct series){
			.name = drives ? arena_fmt(x->p.a, "TC %d", m->tc[line]) : "one drive",
			.x = names,
			.color = series_color(i),
			.width = 2,
			.dash = i < 8 ? DASH_SOLID : DASH_DASH,
			.markers = true
		};
		series[i].y = plots_column(&pl, series[i].name, v, n_x);
	}
	cmp_axis_zero(&c.y, all, shown * n_x, 1);
	c.legend = LEGEND_RIGHT;
	cmp_chart(&x->p, &c, at, series, shown);
}

static void page_candidate(struct scaling *x)
{
	const uint32_t half = PAGE_COLS / 2 * PAGE_COL_PX, high = CHART_ROWS * ROW_PX;

	fill_matrix(x);
	cmp_begin(&x->p, "%s - %s - %s", x->g->sheet, x->g->what,
		  cmp_name(&x->p, x->candidate, x->m->used, cmp_tried(x->p.c, x->g, x->candidate)));
	if (!x->m->used) {
		put_fmt(x->p.s, AREA(x->p.row, 0, x->p.row, PAGE_COLS - 1), LOOK_BANNER_BAD,
			"%s: its values are no results", x->m->why);
		return;
	}
	for (unsigned t = 0; t < x->m->n_tc; t += ROWS)
		for (unsigned k = 0; k < x->m->n_drives; k += COLS)
			put_tables(x, t, k);
	cmp_room(&x->p, CHART_ROWS + 1);
	chart(x, false, (struct place){ x->p.row, 0, half - 6, high });
	if (x->m->n_drives > 1)
		chart(x, true, (struct place){ x->p.row, 8, half, high });
	x->p.row += CHART_ROWS;
	cmp_note(&x->p,
		 "Threads are per drive. Efficiency: IOPS / (drives x IOPS of one drive at the same"
		 " threads); live formulas.");
}

/* ---- overview: all drives, fastest thread count ---- */

struct best {
	int drives; /* 0 none */
	const char *threads; /* "10"; "8, 10" where samples differ */
	struct cmp_mean iops, gbs, art, efficiency;
};

static const struct measure *one_drive(const struct scale_load *l, int threads)
{
	for (unsigned i = 0; i < l->n_tc && l->drives[0] == 1; i++)
		if (l->tc[i] == threads)
			return l->cell[i][0];
	return NULL;
}

static void add_best(struct scaling *x, struct best *b, const struct scale_load *l, const char *why)
{
	const struct measure *m = scale_best(l, l->n_drives - 1), *one;
	int drives = l->drives[l->n_drives - 1];

	if (!m)
		return;
	one = one_drive(l, m->threads);
	if (!why)
		b->threads = cmp_join(&x->p, b->threads, arena_fmt(x->p.a, "%d", m->threads));
	b->drives = drives > b->drives ? drives : b->drives;
	cmp_add(&b->iops, m->iops, why);
	cmp_add(&b->gbs, m->bytes_per_s / 1e9, why);
	cmp_add(&b->art, m->ios ? m->art_ns / 1e3 : NAN, why);
	cmp_add(&b->efficiency, one ? scale_efficiency(m->iops, drives, one->iops) : NAN, why);
}

static struct best best_of(struct scaling *x, const struct cmp_group *g, unsigned candidate)
{
	const struct candidate *k = &x->p.c->candidate[candidate];
	struct best b = { .threads = "" };

	for (unsigned s = 0; s < k->n_runs; s++)
		if (g->of[k->run[s]])
			add_best(x, &b, g->of[k->run[s]], why_no_result(g->test[k->run[s]], NULL));
	return b;
}

static void chart_throughput(struct scaling *x, struct place at)
{
	const struct comparison *c = x->p.c;
	struct chart ch = chart_new(CHART_COLUMN, NULL, "GB/s");
	unsigned n = x->groups.n, shown = c->n_candidates < CMP_LINES ? c->n_candidates : CMP_LINES;
	const char **label = arena_array(x->p.a, const char *, n);
	double *all = arena_array(x->p.a, double, (size_t)n *CMP_LINES);
	struct series series[CMP_LINES];
	struct plots pl;

	ch.title = "Throughput by workload: all drives, fastest thread count (higher is better)";
	plots_begin(&pl, x->p.s->grid, arena_fmt(x->p.a, "%s: throughput", x->p.title));
	for (unsigned i = 0; i < n; i++)
		label[i] = x->groups.v[i]->what;
	struct range names = plots_labels(&pl, "workload", label, n);
	for (unsigned k = 0; k < shown; k++) {
		double *v = all + (size_t)k * n;
		for (unsigned i = 0; i < n; i++) {
			struct best b = best_of(x, x->groups.v[i], k);
			v[i] = cmp_value(&b.gbs);
		}
		series[k] = cmp_line(&x->p, k);
		series[k].x = names;
		series[k].y = plots_column(&pl, series[k].name, v, n);
		series[k].labels = n * shown <= 24;
		series[k].label_fmt = NUM_1;
	}
	cmp_axis_zero(&ch.y, all, shown * n, 1.1);
	cmp_chart(&x->p, &ch, at, series, shown);
}

static void overview_heads(struct scaling *x, const struct cmp_group *g)
{
	static const struct {
		unsigned col, col2;
		const char *text;
	} heads[] = { { 0, 3, "Candidate" },	{ 4, 4, "Drives" },	  { 5, 5, "Threads" },
		      { 6, 7, "IOPS" },		{ 8, 9, "GB/s" },	  { 10, 11, "ART (us)" },
		      { 12, 13, "Efficiency" }, { 14, 15, "IOPS v base" } };
	const char *absent = cmp_absent(&x->p, g);

	cmp_table(&x->p, LOOK_HEAD_PLATFORM, "%s - %s%s%s", g->sheet, g->what, *absent ? "." : "",
		  absent);
	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		cmp_head(&x->p, heads[i].col, heads[i].col2, heads[i].text);
	cmp_heads_end(&x->p);
}

static void overview_row(struct scaling *x, const struct cmp_group *g, const struct best *b,
			 unsigned candidate, double base)
{
	struct cmp_page *p = &x->p;
	uint32_t r = p->row++;

	put_text(p->s, AREA(r, 0, r, 3), LOOK_ROW_HEAD,
		 cmp_name(p, candidate, b->iops.n, cmp_tried(p->c, g, candidate)));
	put_num(p->s, AT(r, 4), STYLE(LOOK_CENTER, NUM_INT), b->drives);
	put_text(p->s, AT(r, 5), LOOK_CENTER, *b->threads ? b->threads : "-");
	cmp_put(p, AREA(r, 6, r, 7), STYLE(LOOK_STRONG, NUM_GROUP), &b->iops);
	cmp_put(p, AREA(r, 8, r, 9), STYLE(LOOK_CELL, NUM_1), &b->gbs);
	cmp_put(p, AREA(r, 10, r, 11), STYLE(LOOK_CELL, NUM_GROUP1), &b->art);
	cmp_put(p, AREA(r, 12, r, 13), STYLE(LOOK_CELL, NUM_PCT1), &b->efficiency);
	cmp_put_change(p, AREA(r, 14, r, 15),
		       base > 0 && candidate != p->c->baseline ? cmp_value(&b->iops) / base - 1
							       : NAN,
		       NAN, false);
}

static void page_overview(struct scaling *x)
{
	unsigned list[COMPARE_RUNS];

	cmp_begin(&x->p, "Throughput by workload");
	chart_throughput(x, (struct place){ x->p.row, 0, PAGE_COLS * PAGE_COL_PX, 14 * ROW_PX });
	x->p.row += 15;
	for (unsigned i = 0; i < x->groups.n; i++) {
		const struct cmp_group *g = x->groups.v[i];
		unsigned n = cmp_present(x->p.c, g, list);
		struct best base = best_of(x, g, x->p.c->baseline);
		cmp_room(&x->p, n + 3 < 38 ? n + 3 : 8);
		overview_heads(x, g);
		for (unsigned k = 0; k < n; k++) {
			struct best b = best_of(x, g, list[k]);
			cmp_room(&x->p, 1);
			overview_row(x, g, &b, list[k], cmp_value(&base.iops));
		}
		x->p.row++;
	}
	cmp_note(&x->p,
		 "GB/s = 10^9 B/s. With all its drives, at the thread count with the most MB/s."
		 " Several samples of a candidate: the mean of them.");
}

/* ---- JSON ---- */

static void json_matrix(const struct scaling *x, struct json *j)
{
	const struct matrix *m = x->m;

	json_object(j, NULL);
	cmp_json_candidate(j, x->p.c, x->candidate, m->used);
	json_str(j, "why", m->used ? NULL : m->why);
	json_array(j, "cells");
	for (unsigned t = 0; t < m->n_tc; t++) {
		for (unsigned k = 0; k < m->n_drives; k++) {
			double iops = iops_at(m, t, k);
			json_object(j, NULL);
			json_int(j, "drives", m->drives[k]);
			json_int(j, "threads", m->tc[t]);
			json_num(j, "iops", iops);
			json_num(j, "efficiency",
				 scale_efficiency(iops, m->drives[k], one_iops(m, t)));
			json_end_object(j);
		}
	}
	json_end_array(j);
	json_end_object(j);
}

static void json_matrices(void *ctx, struct cmp_group *g, struct json *j)
{
	struct scaling *x = ctx;
	unsigned list[COMPARE_RUNS], n;

	x->g = g;
	n = cmp_present(x->p.c, g, list);
	for (unsigned k = 0; k < n; k++) {
		x->candidate = list[k];
		fill_matrix(x);
		json_matrix(x, j);
	}
}

void cmp_scale_json(const struct comparison *c, struct json *j)
{
	struct arena a = { 0 };
	struct scaling *x = arena_new(&a, struct scaling);

	x->m = arena_new(&a, struct matrix);
	x->p = (struct cmp_page){ .c = c, .a = &a };
	cmp_each_test(c, add_test, x);
	cmp_json_groups(j, "scaling", &x->groups, json_matrices, x);
	arena_release(&a);
}

/* ---- the sheet ---- */

static bool applies(const struct comparison *c)
{
	for (unsigned r = 0; r < c->n_runs; r++)
		if (sheet_any(&c->run[r].d, SHEET_SCALE))
			return true;
	return false;
}

static void build(const struct comparison *c, struct grid *g)
{
	struct scaling *x = arena_new(&g->arena, struct scaling);
	unsigned list[COMPARE_RUNS];

	x->m = arena_new(&g->arena, struct matrix);
	cmp_open(&x->p, c, g, "Scaling", "Scaling Matrix - drives x threads per drive");
	cmp_each_test(c, add_test, x);
	if (x->groups.n)
		page_overview(x);
	for (unsigned i = 0; i < x->groups.n; i++) {
		x->g = x->groups.v[i];
		unsigned n = cmp_present(c, x->g, list);
		for (unsigned k = 0; k < n; k++) {
			x->candidate = list[k];
			page_candidate(x);
		}
	}
	cmp_close(&x->p);
}

const struct compare_sheet cmp_scale = { 230, applies, build };
