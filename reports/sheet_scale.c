/* SPDX-License-Identifier: MIT */
/* Drives x threads: IOPS and efficiency for each mix and size, and throughput by workload. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/plots.h"
#include "reports/scale.h"
#include "reports/sheet.h"
#include "reports/tcqd.h"

#define COLS 15 /* drives of one table */
#define ROWS 12 /* thread counts of one page */
#define PLOT_ROWS 14 /* at least */
#define FULL_PX (PAGE_COLS * PAGE_COL_PX)
#define HALF_PX (FULL_PX / 2)

struct scale {
	struct page page;
	struct arena *a;
	const struct dataset *d;
	const struct test *t;
	struct scale_load load[SCALE_LOADS];
	unsigned n;
	bool members_begun; /* their table */
};

/* ---- tables ---- */

struct part { /* a table over some of the drives and thread counts */
	struct scale *x;
	const struct scale_load *l;
	unsigned first_drive, first_tc;
	bool efficiency;
};

static const struct measure *cell_at(const struct part *p, unsigned i, unsigned k)
{
	return p->l->cell[p->first_tc + i][p->first_drive + k];
}

/* Of one drive at the same threads; NULL when it was not measured. */
static const struct measure *one_drive(const struct part *p, unsigned i)
{
	return p->l->drives[0] == 1 ? p->l->cell[p->first_tc + i][0] : NULL;
}

static const char *iops_ref(struct grid *g, const struct measure *m)
{
	return grid_data_ref(g, ROUNDS_SHEET, m->index + 1, RC_IOPS);
}

static void put_cell(const struct tcqd *t, unsigned i, unsigned k, struct area at)
{
	const struct part *p = t->ctx;
	const struct measure *m = cell_at(p, i, k), *one = one_drive(p, i);
	int drives = p->l->drives[p->first_drive + k];

	if (!m || (p->efficiency && (!one || !(one->iops > 0))))
		put_text(t->s, at, LOOK_NA, "n/a");
	else if (p->efficiency)
		put_formula(t->s, at, STYLE(LOOK_FORMULA, NUM_PCT1),
			    scale_efficiency(m->iops, drives, one->iops), "=%s/(%d*%s)",
			    iops_ref(t->s->grid, m), drives, iops_ref(t->s->grid, one));
	else
		put_num(t->s, at, STYLE(LOOK_CELL, NUM_GROUP), m->iops);
}

static uint32_t put_table(const struct part *of, uint32_t row, uint32_t col)
{
	const struct scale_load *l = of->l;
	struct part *p = arena_memdup(of->x->a, of, sizeof *of);
	unsigned cols = l->n_drives - p->first_drive, rows = l->n_tc - p->first_tc;
	struct tcqd t = { .title = p->efficiency ? "Scaling efficiency" : "IOPS of all drives",
			  .look = p->efficiency ? LOOK_HEAD_DEVICE : LOOK_HEAD_PLATFORM,
			  .corner = "TC \\ drives",
			  .row_word = "TC",
			  .col_word = "",
			  .row = l->tc + p->first_tc,
			  .col = l->drives + p->first_drive,
			  .n_rows = rows > ROWS ? ROWS : rows,
			  .n_cols = cols > COLS ? COLS : cols,
			  .scale = p->efficiency ? SCALE_NONE : SCALE_GREEN_RED,
			  .put = put_cell,
			  .ctx = p };

	if (p->efficiency && l->n_drives > 1)
		t.scale = SCALE_GREEN_RED;
	return tcqd_put(&t, p->x->page.s, row, col);
}

/* Both tables, the second beside the first where seven drives or fewer leave room; returns the row below. */
static uint32_t put_tables(struct scale *x, const struct scale_load *l, unsigned first_tc,
			   unsigned first_drive)
{
	struct part p = { x, l, first_drive, first_tc, false };
	bool beside = l->n_drives <= 7;
	uint32_t row = x->page.row, below = put_table(&p, row, 0);

	p.efficiency = true;
	return put_table(&p, beside ? row : below + 1, beside ? 8 : 0);
}

/* One drive: nothing to scale over but threads, so all its values. */
static uint32_t put_threads(struct scale *x, const struct scale_load *l, unsigned first_tc)
{
	static const char *const heads[] = {
		"Threads",   "IOPS",	      "MB/s",	  "ART (us)",
		"99 % (us)", "99.999 % (us)", "MRT (us)", "In flight"
	};
	struct grid_sheet *s = x->page.s;
	uint32_t row = x->page.row;

	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(s, AREA(row, 2 * i, row, 2 * i + 1), LOOK_HEAD, heads[i]);
	for (unsigned i = first_tc; i < l->n_tc && i < first_tc + ROWS; i++) {
		const struct measure *m = l->cell[i][0];
		row++;
		put_num(s, AREA(row, 0, row, 1), STYLE(LOOK_ROW_HEAD, NUM_INT), l->tc[i]);
		if (!m) {
			put_text(s, AREA(row, 2, row, 15), LOOK_NA, "not measured");
			continue;
		}
		const double v[] = { m->iops,
				     m->bytes_per_s / 1e6,
				     m->art_ns / 1e3,
				     m->p99_ns < 0 ? NAN : (double)m->p99_ns / 1e3,
				     m->p99999_ns < 0 ? NAN : (double)m->p99999_ns / 1e3,
				     m->mrt_ns < 0 ? NAN : (double)m->mrt_ns / 1e3,
				     m->inflight_avg };
		for (unsigned k = 0; k < 7; k++)
			put_num(s, AREA(row, 2 + 2 * k, row, 3 + 2 * k),
				STYLE(LOOK_CELL, NUM_GROUP1), v[k]);
	}
	return row + 1;
}

/* ---- plots ---- */

struct lines { /* one line for each of @n_line, over @n_x */
	unsigned n_line, n_x;
	const int *line, *x;
	bool by_drives; /* the axis counts drives */
	bool art;
};

static double value_of(const struct scale_load *l, const struct lines *o, unsigned line, unsigned x)
{
	const struct measure *m = o->by_drives ? l->cell[line][x] : l->cell[x][line];

	if (!m || !m->ios)
		return NAN;
	return o->art ? m->art_ns / 1e3 : m->iops;
}

/* At most ten lines, the first and the last among them. */
#define LINES_MAX 10
static unsigned line_at(const struct lines *o, unsigned i, unsigned shown)
{
	return shown < 2 ? 0 : i * (o->n_line - 1) / (shown - 1);
}

static void chart_lines(struct scale *x, const struct scale_load *l, const struct lines *o,
			struct place at)
{
	struct chart c = chart_new(CHART_LINE, o->by_drives ? "Drives" : "Threads per drive",
				   o->art ? "ART (us)" : "IOPS");
	unsigned shown = o->n_line > LINES_MAX ? LINES_MAX : o->n_line;
	struct series series[LINES_MAX];
	const char *label[SCALE_SIDE];
	double v[SCALE_SIDE], top = 0;
	struct plots pl;

	plots_begin(
		&pl, x->page.s->grid,
		arena_fmt(x->a, "%s: %s, %s v %s", x->t->sheet, l->access, c.y.title, c.x.title));
	for (unsigned k = 0; k < o->n_x; k++)
		label[k] = arena_fmt(x->a, "%d", o->x[k]);
	struct range names = plots_labels(&pl, c.x.title, label, o->n_x);
	for (unsigned i = 0; i < shown; i++) {
		unsigned line = line_at(o, i, shown);
		int n = o->line[line];
		const char *name = o->by_drives
					   ? arena_fmt(x->a, "%d thread%s", n, n > 1 ? "s" : "")
					   : arena_fmt(x->a, "%d drive%s", n, n > 1 ? "s" : "");
		for (unsigned k = 0; k < o->n_x; k++) {
			v[k] = value_of(l, o, line, k);
			top = fmax(top, isfinite(v[k]) ? v[k] : 0);
		}
		series[i] = (struct series){ .name = name,
					     .x = names,
					     .y = plots_column(&pl, name, v, o->n_x),
					     .color = series_color(i),
					     .width = 2,
					     .dash = i >= 8 ? DASH_DASH : DASH_SOLID,
					     .markers = true };
	}
	chart_place(&c, at);
	axis_round(&c.y, 0, top);
	c.y.fmt = axis_fmt(c.y.max);
	c.title = arena_fmt(x->a, "%s v %s", o->art ? "Response time" : "IOPS",
			    o->by_drives ? "drives" : "threads per drive");
	c.series = series;
	c.n_series = shown;
	grid_chart(x->page.s, &c);
}

static void put_plots(struct scale *x, const struct scale_load *l, uint32_t row)
{
	struct lines drives = { l->n_tc, l->n_drives, l->tc, l->drives, true, false };
	struct lines threads = { l->n_drives, l->n_tc, l->drives, l->tc, false, false };
	uint32_t height = (x->page.next - 2 - row) * ROW_PX;
	struct place left = { row, 0, HALF_PX, height }, right = { row, 8, HALF_PX, height };

	chart_lines(x, l, l->n_drives > 1 ? &drives : &threads, left);
	threads.art = true;
	chart_lines(x, l, &threads, right);
}

static void begin(struct scale *x, const struct scale_load *l, const char *kind, const char *what)
{
	page_begin(&x->page, kind, arena_fmt(x->a, "%s (%s)", what, l->access));
	page_banner(&x->page, NULL);
}

/* Tables; the plots below them where they fit, else on a page of their own. */
static void pages_load(struct scale *x, const struct scale_load *l)
{
	uint32_t row = 0;

	for (unsigned r = 0; r < l->n_tc; r += ROWS) {
		for (unsigned k = 0; k < l->n_drives; k += COLS) {
			begin(x, l, "Table",
			      l->n_drives > 1 ? "Scaling Matrix - drives x threads per drive"
					      : "Scaling over Threads - one drive");
			row = l->n_drives > 1 ? put_tables(x, l, r, k) : put_threads(x, l, r);
		}
	}
	if (l->n_tc > ROWS || l->n_drives > COLS || row + 1 + PLOT_ROWS > x->page.next - 2) {
		begin(x, l, "Plot", "Scaling - IOPS and Response Time");
		row = x->page.row - 1;
	}
	put_plots(x, l, row + 1);
	put_text(x->page.s, AREA(x->page.next - 2, 0, x->page.next - 2, 15), LOOK_NOTE,
		 l->n_drives > 1
			 ? "Efficiency: IOPS / (drives x IOPS of one drive at the same threads)."
			   " Threads are per drive."
			 : "Threads are per drive.");
}

/* The fastest cell with all drives. */
static const struct measure *best_of(const struct scale_load *l)
{
	return scale_best(l, l->n_drives - 1);
}

/* One drive at these threads, or NULL. */
static const struct measure *one_at(const struct scale_load *l, int threads)
{
	for (unsigned i = 0; i < l->n_tc && l->drives[0] == 1; i++)
		if (l->tc[i] == threads)
			return l->cell[i][0];
	return NULL;
}

static void put_best(struct scale *x, const struct scale_load *l, uint32_t row)
{
	struct grid_sheet *s = x->page.s;
	const struct measure *m = best_of(l), *one;

	put_text(s, AREA(row, 0, row, 2), LOOK_ROW_HEAD, l->access);
	if (!m) {
		put_text(s, AREA(row, 3, row, 15), LOOK_NA, "not measured with all drives");
		return;
	}
	one = one_at(l, m->threads);
	put_num(s, AT(row, 3), STYLE(LOOK_CENTER, NUM_INT), l->drives[l->n_drives - 1]);
	put_num(s, AT(row, 4), STYLE(LOOK_CENTER, NUM_INT), m->threads);
	put_num(s, AREA(row, 5, row, 6), STYLE(LOOK_CELL, NUM_GROUP1), m->iops);
	put_num(s, AREA(row, 7, row, 8), STYLE(LOOK_CELL, NUM_2), m->bytes_per_s / 1e9);
	put_num(s, AREA(row, 9, row, 10), STYLE(LOOK_CELL, NUM_GROUP1), m->art_ns / 1e3);
	put_num(s, AREA(row, 11, row, 12), STYLE(LOOK_CELL, NUM_GROUP1),
		m->p99999_ns < 0 ? NAN : (double)m->p99999_ns / 1e3);
	if (one && one->iops > 0)
		put_formula(s, AREA(row, 13, row, 15), STYLE(LOOK_FORMULA, NUM_PCT1),
			    m->iops / l->drives[l->n_drives - 1] / one->iops, "=%s/(%d*%s)",
			    iops_ref(s->grid, m), l->drives[l->n_drives - 1],
			    iops_ref(s->grid, one));
	else
		put_text(s, AREA(row, 13, row, 15), LOOK_NA, "n/a");
}

static void page_throughput(struct scale *x)
{
	static const struct {
		unsigned col, col2;
		const char *head;
	} heads[] = { { 0, 2, "Workload" },
		      { 3, 3, "Drives" },
		      { 4, 4, "Threads" },
		      { 5, 6, "IOPS" },
		      { 7, 8, "GB/s" },
		      { 9, 10, "ART (us)" },
		      { 11, 12, "99.999 % (us)" },
		      { 13, 15, "Efficiency v one drive" } };
	struct chart c = chart_new(CHART_COLUMN, NULL, "GB/s");
	const char *label[SCALE_LOADS];
	double v[SCALE_LOADS], top = 0;
	struct plots pl;

	for (unsigned i = 0; i < x->n; i++) {
		const struct measure *m = best_of(&x->load[i]);
		label[i] = x->load[i].access;
		v[i] = m ? m->bytes_per_s / 1e9 : NAN;
		top = fmax(top, m ? v[i] : 0);
	}
	plots_begin(&pl, x->page.s->grid, arena_fmt(x->a, "%s: throughput", x->t->sheet));
	struct range names = plots_labels(&pl, "workload", label, x->n);
	struct series one = { .name = "GB/s",
			      .x = names,
			      .y = plots_column(&pl, "GB/s", v, x->n),
			      .color = 0x70AD47,
			      .labels = true,
			      .label_fmt = NUM_1 };
	page_begin(&x->page, "Plot", "Throughput by Workload - all drives, fastest thread count");
	page_banner(&x->page, NULL);
	chart_place(&c, (struct place){ x->page.row, 0, FULL_PX, 12 * ROW_PX });
	axis_round(&c.y, 0, top * 1.1);
	c.y.fmt = axis_fmt(c.y.max);
	c.legend = LEGEND_NONE;
	c.series = &one;
	c.n_series = 1;
	grid_chart(x->page.s, &c);
	uint32_t row = x->page.row + 13;
	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(x->page.s, AREA(row, heads[i].col, row, heads[i].col2), LOOK_HEAD,
			 heads[i].head);
	for (unsigned i = 0; i < x->n && row + 2 < x->page.next; i++)
		put_best(x, &x->load[i], ++row);
}

/* ---- members ---- */

static void members_page(struct scale *x)
{
	static const struct {
		unsigned col, col2;
		const char *head;
	} heads[] = { { 0, 2, "Workload" },  { 3, 3, "Member" },
		      { 4, 4, "TC/QD" },     { 5, 6, "IOPS" },
		      { 7, 8, "GB/s" },	     { 9, 10, "ART (us)" },
		      { 11, 12, "Seconds" }, { 13, 15, "Share of the sum" } };

	page_begin(&x->page, "Table", "Members - all drives, fastest thread count");
	page_banner(&x->page, NULL);
	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(x->page.s, AREA(x->page.row, heads[i].col, x->page.row, heads[i].col2),
			 LOOK_HEAD, heads[i].head);
	x->page.row++;
}

static void put_member(struct scale *x, const struct measure *m, const struct measure *sum)
{
	struct grid_sheet *s = x->page.s;

	if (!x->members_begun || x->page.row + 2 > x->page.next)
		members_page(x);
	x->members_begun = true;
	uint32_t row = x->page.row++;
	put_text(s, AREA(row, 0, row, 2), LOOK_ROW_HEAD, m->access);
	put_num(s, AT(row, 3), STYLE(LOOK_CENTER, NUM_INT), m->member);
	put_text(s, AT(row, 4), LOOK_CENTER, tcqd_text(x->a, m->threads, m->qd));
	put_num(s, AREA(row, 5, row, 6), STYLE(LOOK_CELL, NUM_GROUP1), m->iops);
	put_num(s, AREA(row, 7, row, 8), STYLE(LOOK_CELL, NUM_2), m->bytes_per_s / 1e9);
	put_num(s, AREA(row, 9, row, 10), STYLE(LOOK_CELL, NUM_GROUP1), m->art_ns / 1e3);
	put_num(s, AREA(row, 11, row, 12), STYLE(LOOK_CELL, NUM_3), (double)m->elapsed_ns / 1e9);
	put_formula(s, AREA(row, 13, row, 15), STYLE(LOOK_FORMULA, NUM_PCT1), m->iops / sum->iops,
		    "=%s/%s", iops_ref(s->grid, m), iops_ref(s->grid, sum));
}

/* The members of the widest, fastest cell of a load, when there are several. */
static void put_members(struct scale *x, const struct scale_load *l)
{
	const struct measure *sum = best_of(l);

	if (!sum || !(sum->iops > 0) || scale_member_rows(x->d, sum) < 2)
		return;
	for (unsigned i = 0; i < x->d->n_measures; i++)
		if (scale_is_member(&x->d->measure[i], sum))
			put_member(x, &x->d->measure[i], sum);
}

static void make(const struct dataset *d, struct grid *g, const struct test *t)
{
	struct scale *x = arena_new(&g->arena, struct scale);
	struct header h;

	x->a = &g->arena;
	x->d = d;
	x->t = t;
	x->n = scale_loads(d, t, x->load);
	header_fill(&h, d, t, x->a);
	if (x->n)
		h.test[5] = (struct pair){ "Drives",
					   arena_fmt(x->a, "1 to %d",
						     x->load[0].drives[x->load[0].n_drives - 1]) };
	page_open(&x->page, g, d, t, &h);
	for (unsigned i = 0; i < x->n; i++)
		pages_load(x, &x->load[i]);
	if (x->n)
		page_throughput(x);
	for (unsigned i = 0; i < x->n; i++)
		put_members(x, &x->load[i]);
	if (!x->page.n) {
		page_begin(&x->page, "Table", "Scaling Matrix");
		page_banner(&x->page, NULL);
		put_text(x->page.s, AREA(x->page.row, 0, x->page.row, 15), LOOK_NA,
			 "No step was measured: the test did not come that far.");
	}
	page_close(&x->page);
}

static bool applies(const struct dataset *d)
{
	return sheet_any(d, SHEET_SCALE);
}

static void build(const struct dataset *d, struct grid *g)
{
	sheet_each(d, g, SHEET_SCALE, make);
}

const struct sheet sheet_scale = { 190, applies, build };
