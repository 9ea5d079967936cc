/* SPDX-License-Identifier: MIT */
/* Best IOPS inside a response time: the TC x QD cells, those outside the bound grey, the best one green. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/bounded.h"
#include "reports/plots.h"
#include "reports/sheet.h"
#include "reports/tcqd.h"

#define FULL_PX (PAGE_COLS * PAGE_COL_PX)

struct build {
	struct page page;
	struct arena *a;
	struct bounded m;
};

enum value { V_IOPS, V_ART, V_P99999, V_INFLIGHT };

/* ---- tables ---- */

struct matrix_of {
	struct build *b;
	enum value v;
};

static enum look look_of(const struct build *b, const struct measure *m)
{
	if (b->m.best && b->m.best->threads == m->threads && b->m.best->qd == m->qd)
		return bounded_inside(&b->m, m) ? LOOK_GOOD : LOOK_WARN;
	return bounded_inside(&b->m, m) ? LOOK_STRONG : LOOK_NA;
}

static void put_cell(const struct tcqd *t, unsigned i, unsigned k, struct area at)
{
	const struct matrix_of *o = t->ctx;
	const struct measure *m = o->b->m.cell[i][k];
	double v;

	if (!m) {
		put_text(t->s, at, LOOK_NA, "n/a");
		return;
	}
	enum look look = look_of(o->b, m);
	switch (o->v) {
	case V_IOPS:
		put_num(t->s, at, STYLE(look, NUM_GROUP), m->iops);
		break;
	case V_ART:
		v = m->ios ? m->art_ns / 1e6 : NAN;
		put_num(t->s, at, STYLE(look, ms_fmt(v)), v);
		break;
	case V_P99999:
		v = m->p99999_ns < 0 ? NAN : (double)m->p99999_ns / 1e6;
		put_num(t->s, at, STYLE(look, NUM_3), v);
		break;
	default:
		put_num(t->s, at, STYLE(look, NUM_1), m->inflight_avg);
	}
}

static const char *limit_text(const struct build *b)
{
	return bounded_limit(&b->m, b->a);
}

static void put_best(struct build *b, uint32_t row)
{
	static const char *const heads[] = { "Best",	"TC / QD",  "TOIO",	"IOPS",
					     "MB/s",	"ART (ms)", "99 %",	"99.9 %",
					     "99.99 %", "99.999 %", "MRT (ms)", NULL };
	struct grid_sheet *s = b->page.s;
	const struct measure *m = bounded_best(&b->m);

	put_fmt(s, AREA(row, 0, row, 15), LOOK_HEAD_SETUP,
		"Best IOPS with ART below %s (percentiles in ms)", limit_text(b));
	for (unsigned i = 0; heads[i]; i++)
		put_text(s, AT(row + 1, i), LOOK_HEAD, heads[i]);
	put_text(s, AREA(row + 1, 11, row + 1, 15), LOOK_HEAD, "Rule");
	row += 2;
	if (!m) {
		put_text(s, AREA(row, 0, row, 15), LOOK_NA, "none was picked");
		return;
	}
	const int64_t ns[] = { m->p99_ns, m->p999_ns, m->p9999_ns, m->p99999_ns, m->mrt_ns };
	bool ok = bounded_inside(&b->m, m);
	put_text(s, AREA(row, 0, row + 1, 0), ok ? LOOK_GOOD : LOOK_WARN,
		 ok ? "inside" : "OUTSIDE");
	put_text(s, AREA(row, 1, row + 1, 1), LOOK_CENTER, tcqd_text(b->a, m->threads, m->qd));
	put_num(s, AREA(row, 2, row + 1, 2), STYLE(LOOK_CENTER, NUM_INT), m->threads * m->qd);
	put_num(s, AREA(row, 3, row + 1, 3), STYLE(LOOK_STRONG, NUM_GROUP1), m->iops);
	put_num(s, AREA(row, 4, row + 1, 4), STYLE(LOOK_CELL, NUM_GROUP1), m->bytes_per_s / 1e6);
	put_num(s, AREA(row, 5, row + 1, 5), STYLE(LOOK_CELL, ms_fmt(m->art_ns / 1e6)),
		m->art_ns / 1e6);
	for (unsigned i = 0; i < 5; i++)
		put_num(s, AREA(row, 6 + i, row + 1, 6 + i),
			STYLE(LOOK_CELL, i == 4 ? NUM_2 : NUM_3),
			ns[i] < 0 ? NAN : (double)ns[i] / 1e6);
	put_text(s, AREA(row, 11, row + 1, 15), LOOK_WRAP, b->m.best->reason);
}

static void page_tables(struct build *b)
{
	static const struct {
		const char *title;
		enum look look;
	} kinds[] = { { "IOPS", LOOK_HEAD_PLATFORM },
		      { "ART (ms)", LOOK_HEAD_DEVICE },
		      { "99.999 % RT (ms)", LOOK_HEAD_SETUP },
		      { "In flight, achieved", LOOK_HEAD_TEST } };
	bool beside = b->m.n_qd <= 7;
	uint32_t row, below;

	page_begin(&b->page, "Table",
		   arena_fmt(b->a, "IOPS and Response Time by TC and QD - bound: ART below %s (%s)",
			     limit_text(b), b->m.access));
	page_banner(&b->page, NULL);
	row = below = b->page.row;
	for (unsigned i = 0; i < 4; i++) {
		struct matrix_of *o = arena_new(b->a, struct matrix_of);
		*o = (struct matrix_of){ b, (enum value)i };
		struct tcqd t = { .title = kinds[i].title,
				  .look = kinds[i].look,
				  .corner = "TC \\ QD",
				  .row_word = "TC",
				  .col_word = "QD",
				  .row = b->m.tc,
				  .col = b->m.qd,
				  .n_rows = b->m.n_tc,
				  .n_cols = b->m.n_qd,
				  .scale = SCALE_NONE,
				  .put = put_cell,
				  .ctx = o };
		row = i && !(beside && i % 2) ? below + 1 : row;
		if (row + tcqd_rows(&t) > b->page.next) {
			page_begin(&b->page, "Table", "IOPS and Response Time - continued");
			page_banner(&b->page, NULL);
			row = b->page.row;
		}
		below = tcqd_put(&t, b->page.s, row, beside && i % 2 ? 8 : 0);
	}
	row = below + 1;
	if (row + 6 > b->page.next) {
		page_begin(&b->page, "Table", "Best Cell inside the Bound");
		page_banner(&b->page, NULL);
		row = b->page.row;
	}
	put_best(b, row);
	put_fmt(b->page.s, AREA(row + 5, 0, row + 5, 15), LOOK_NOTE,
		"%u of %u cells are inside the bound (bold); grey ones are outside; green is the"
		" best one.",
		b->m.n_inside, b->m.n_cells);
}

/* ---- plot ---- */

static unsigned draw_lines(struct build *b, struct plots *pl, struct series *out, double *all)
{
	double iops[BOUNDED_SIDE], us[BOUNDED_SIDE];

	for (unsigned i = 0; i < b->m.n_tc; i++) {
		for (unsigned k = 0; k < b->m.n_qd; k++) {
			const struct measure *m = b->m.cell[i][k];
			iops[k] = m ? m->iops : NAN;
			all[i * b->m.n_qd + k] = us[k] = m && m->ios ? m->art_ns / 1e3 : NAN;
		}
		const char *name = arena_fmt(b->a, "TC %d", b->m.tc[i]);
		out[i] = (struct series){ .name = name,
					  .x = plots_column(pl, "IOPS", iops, b->m.n_qd),
					  .y = plots_column(pl, name, us, b->m.n_qd),
					  .color = series_color(i),
					  .width = 2,
					  .markers = true };
	}
	return b->m.n_tc;
}

static unsigned draw_bound(struct build *b, struct plots *pl, struct series *out, double top)
{
	double x[2] = { 0, top }, y[2] = { b->m.limit_ns / 1e3, b->m.limit_ns / 1e3 };
	unsigned n = 0;

	if (isfinite(b->m.limit_ns))
		out[n++] = (struct series){ .name = arena_fmt(b->a, "bound %s", limit_text(b)),
					    .x = plots_column(pl, "IOPS", x, 2),
					    .y = plots_column(pl, "bound", y, 2),
					    .color = 0xC00000,
					    .width = 1.75,
					    .dash = DASH_DASH };
	if (!b->m.best)
		return n;
	double iops = b->m.best->iops, us = b->m.best->art_ns / 1e3;
	out[n++] = (struct series){ .name = arena_fmt(
					    b->a, "best: %s",
					    tcqd_text(b->a, b->m.best->threads, b->m.best->qd)),
				    .x = plots_column(pl, "IOPS", &iops, 1),
				    .y = plots_column(pl, "best", &us, 1),
				    .color = 0x000000,
				    .markers = true,
				    .named = true };
	return n;
}

static void page_plot(struct build *b)
{
	struct chart c = chart_new(CHART_SCATTER, "IOPS", "Average response time (us, log scale)");
	struct series series[BOUNDED_SIDE + 2];
	double all[BOUNDED_SIDE * BOUNDED_SIDE + 1], top = 0;
	struct plots pl;

	plots_begin(&pl, b->page.s->grid, arena_fmt(b->a, "%s: ART v IOPS", b->m.t->sheet));
	for (unsigned i = 0; i < b->m.n_tc; i++)
		for (unsigned k = 0; k < b->m.n_qd; k++)
			top = fmax(top, b->m.cell[i][k] ? b->m.cell[i][k]->iops : 0);
	axis_round(&c.x, 0, top);
	c.n_series = draw_lines(b, &pl, series, all);
	all[b->m.n_tc * b->m.n_qd] = b->m.limit_ns / 1e3;
	axis_decades(&c.y, all, b->m.n_tc * b->m.n_qd + 1);
	c.n_series += draw_bound(b, &pl, series + c.n_series, c.x.max);
	page_begin(&b->page, "Plot",
		   arena_fmt(b->a, "ART v IOPS, one line per thread count, QD rising (%s)",
			     b->m.access));
	page_banner(&b->page, NULL);
	chart_place(&c, (struct place){ b->page.row, 0, FULL_PX, 29 * ROW_PX });
	c.x.fmt = axis_fmt(c.x.max);
	c.x.grid = true;
	c.y.fmt = NUM_GROUP;
	c.legend = LEGEND_RIGHT;
	c.series = series;
	grid_chart(b->page.s, &c);
}

static void make(const struct dataset *d, struct grid *g, const struct test *t)
{
	struct bounded *all = arena_array(&g->arena, struct bounded, BOUNDED_LOADS);
	struct build *b = arena_new(&g->arena, struct build);
	unsigned n = bounded_loads(d, t, all);
	struct header h;

	if (!n) { /* the test did not come that far */
		const char *access = pairs_get(&t->params, "access");
		all[n++] = (struct bounded){ .t = t,
					     .access = access ? access : "-",
					     .limit_ns = NAN };
	}
	b->a = &g->arena;
	b->m = all[0];
	header_fill(&h, d, t, b->a);
	h.test[5] = (struct pair){ "Bound", arena_fmt(b->a, "ART below %s", limit_text(b)) };
	h.test[7] = (struct pair){ "Best",
				   n > 1       ? "see its pages"
				   : b->m.best ? tcqd_text(b->a, b->m.best->threads, b->m.best->qd)
					       : "-" };
	page_open(&b->page, g, d, t, &h);
	for (unsigned i = 0; i < n; i++) {
		b->m = all[i];
		page_tables(b);
		if (b->m.n_cells)
			page_plot(b);
	}
	page_close(&b->page);
}

static bool applies(const struct dataset *d)
{
	return sheet_any(d, SHEET_BOUNDED);
}

static void build(const struct dataset *d, struct grid *g)
{
	sheet_each(d, g, SHEET_BOUNDED, make);
}

const struct sheet sheet_bounded = { 185, applies, build };
