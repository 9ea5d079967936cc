/* SPDX-License-Identifier: MIT */
/* Response time against load: open-loop steps at shares of the found maximum. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/load_curve.h"
#include "reports/plots.h"
#include "reports/sheet.h"

#define STEPS_MAX CURVE_STEPS
#define FULL_PX (PAGE_COLS * PAGE_COL_PX)
#define HALF_PX (FULL_PX / 2)

struct curve {
	struct page page;
	struct arena *a;
	const struct load_curve *l;
};

static double us_of(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns / 1e3;
}

/* ---- response v load ---- */

enum field { F_ART, F_P99, F_P999, F_P99999, F_SERVICE, FIELDS };

static double field_us(const struct rated *r, enum field f)
{
	switch (f) {
	case F_ART:
		return r->response.art_ns / 1e3;
	case F_P99:
		return us_of(r->response.p99_ns);
	case F_P999:
		return us_of(r->response.p999_ns);
	case F_P99999:
		return us_of(r->response.p99999_ns);
	default:
		return r->service.art_ns / 1e3;
	}
}

static void chart_load(struct curve *c, struct place at)
{
	static const struct {
		const char *name;
		uint32_t color;
		enum dash dash;
	} lines[FIELDS] = { { "ART", 0x2E75B6, DASH_SOLID },
			    { "99 %", 0x00A99D, DASH_SOLID },
			    { "99.9 %", 0xED7D31, DASH_SOLID },
			    { "99.999 %", 0xC00000, DASH_SOLID },
			    { "service ART", 0x7F7F7F, DASH_DASH } };
	struct chart ch = chart_new(CHART_LINE, "Load asked, share of the found maximum",
				    "Response time (us, log scale)");
	const char *label[STEPS_MAX];
	struct series series[FIELDS];
	double all[FIELDS * STEPS_MAX];
	struct plots pl;

	plots_begin(&pl, c->page.s->grid, arena_fmt(c->a, "%s: v load", c->l->t->sheet));
	for (unsigned i = 0; i < c->l->n; i++)
		label[i] = curve_load_name(c->l, c->l->step[i], c->a);
	struct range names = plots_labels(&pl, "load", label, c->l->n);
	for (unsigned f = 0; f < FIELDS; f++) {
		double *v = all + f * c->l->n;
		for (unsigned i = 0; i < c->l->n; i++)
			v[i] = field_us(c->l->step[i], (enum field)f);
		series[f] = (struct series){ .name = lines[f].name,
					     .x = names,
					     .y = plots_column(&pl, lines[f].name, v, c->l->n),
					     .color = lines[f].color,
					     .dash = lines[f].dash,
					     .width = 2,
					     .markers = true };
	}
	chart_place(&ch, at);
	axis_decades(&ch.y, all, FIELDS * c->l->n);
	ch.y.fmt = NUM_GROUP;
	ch.legend = LEGEND_RIGHT;
	ch.series = series;
	ch.n_series = FIELDS;
	grid_chart(c->page.s, &ch);
}

static void page_load(struct curve *c)
{
	page_begin(&c->page, "Plot",
		   arena_fmt(c->a, "Response Time against Load - %s, %s", c->l->access,
			     tcqd_text(c->a, c->l->step[0]->m->threads, c->l->step[0]->m->qd)));
	page_banner(&c->page, NULL);
	chart_load(c, (struct place){ c->page.row, 0, FULL_PX, 29 * ROW_PX });
	put_text(c->page.s, AREA(c->page.row + 30, 0, c->page.row + 30, 15), LOOK_NOTE,
		 "Response times count from when an I/O was due, waiting included; service times"
		 " from its submission. Above the maximum the queue grows as long as the step"
		 " lasts.");
}

/* ---- response v IOPS, achieved v asked ---- */

static void chart_iops(struct curve *c, struct place at)
{
	struct chart ch = chart_new(CHART_SCATTER, "IOPS achieved", "Response time (us)");
	double iops[STEPS_MAX], art[STEPS_MAX], p99[STEPS_MAX], high = 0, top = curve_top_us(c->l);
	struct plots pl;

	plots_begin(&pl, c->page.s->grid, arena_fmt(c->a, "%s: response v IOPS", c->l->t->sheet));
	for (unsigned i = 0; i < c->l->n; i++) {
		iops[i] = c->l->step[i]->m->iops;
		art[i] = field_us(c->l->step[i], F_ART);
		p99[i] = field_us(c->l->step[i], F_P99);
		high = fmax(high, iops[i]);
	}
	struct range x = plots_column(&pl, "IOPS", iops, c->l->n);
	struct series series[2] = { { .name = "ART",
				      .x = x,
				      .y = plots_column(&pl, "ART us", art, c->l->n),
				      .color = 0x2E75B6,
				      .width = 2.25,
				      .markers = true },
				    { .name = "99 %",
				      .x = x,
				      .y = plots_column(&pl, "99 % us", p99, c->l->n),
				      .color = 0x00A99D,
				      .width = 1.75,
				      .dash = DASH_DASH,
				      .markers = true } };
	chart_place(&ch, at);
	ch.title = "Response time v IOPS";
	axis_round(&ch.x, 0, high);
	axis_round(&ch.y, 0, top);
	ch.x.fmt = axis_fmt(ch.x.max);
	ch.y.fmt = axis_fmt(ch.y.max);
	ch.x.grid = true;
	ch.series = series;
	ch.n_series = 2;
	grid_chart(c->page.s, &ch);
}

static void chart_rate(struct curve *c, struct place at)
{
	struct chart ch = chart_new(CHART_SCATTER, "IOPS asked", "IOPS achieved");
	double asked[STEPS_MAX], got[STEPS_MAX], high = 0;
	struct plots pl;

	plots_begin(&pl, c->page.s->grid, arena_fmt(c->a, "%s: achieved v asked", c->l->t->sheet));
	for (unsigned i = 0; i < c->l->n; i++) {
		asked[i] = c->l->step[i]->m->rate_iops;
		got[i] = c->l->step[i]->m->iops;
		high = fmax(high, fmax(asked[i], got[i]));
	}
	double ends[2] = { 0, high };
	struct series series[2] = { { .name = "asked = achieved",
				      .x = plots_column(&pl, "IOPS", ends, 2),
				      .y = plots_column(&pl, "same", ends, 2),
				      .color = 0x7F7F7F,
				      .width = 1.25,
				      .dash = DASH_DASH },
				    { .name = "achieved",
				      .x = plots_column(&pl, "asked", asked, c->l->n),
				      .y = plots_column(&pl, "achieved", got, c->l->n),
				      .color = 0x2E75B6,
				      .width = 2.25,
				      .markers = true } };
	chart_place(&ch, at);
	ch.title = "Achieved v asked rate";
	axis_round(&ch.x, 0, high);
	axis_round(&ch.y, 0, high);
	ch.x.fmt = ch.y.fmt = axis_fmt(ch.x.max);
	ch.x.grid = true;
	ch.series = series;
	ch.n_series = 2;
	grid_chart(c->page.s, &ch);
}

static void put_knee(struct curve *c, uint32_t row)
{
	static const double budget[] = { 100, 150, 200, 500, 1000 };
	struct grid_sheet *s = c->page.s;
	const struct rated *at = curve_at(c->l, 0.9);
	double peak = curve_peak_iops(c->l);

	put_text(s, AREA(row, 0, row, 15), LOOK_HEAD_PLATFORM, "Peak and knee");
	put_text(s, AREA(row + 1, 0, row + 1, 1), LOOK_HEAD, "Peak IOPS");
	put_text(s, AREA(row + 1, 2, row + 1, 3), LOOK_HEAD, "ART at peak (us)");
	put_text(s, AREA(row + 1, 4, row + 1, 5), LOOK_HEAD, "ART at 90 % (us)");
	put_num(s, AREA(row + 2, 0, row + 2, 1), STYLE(LOOK_STRONG, NUM_GROUP),
		peak > 0 ? peak : NAN);
	put_num(s, AREA(row + 2, 2, row + 2, 3), STYLE(LOOK_CELL, NUM_GROUP1),
		c->l->maximum ? c->l->maximum->art_ns / 1e3 : NAN);
	put_num(s, AREA(row + 2, 4, row + 2, 5), STYLE(LOOK_CELL, NUM_GROUP1),
		at ? field_us(at, F_ART) : NAN);
	for (unsigned i = 0; i < 5; i++) {
		struct area cell = AREA(row + 2, 6 + 2 * i, row + 2, 7 + 2 * i);
		const struct rated *r = curve_under(c->l, budget[i]);
		put_fmt(s, AREA(row + 1, 6 + 2 * i, row + 1, 7 + 2 * i), LOOK_HEAD,
			"IOPS under %g us", budget[i]);
		if (r)
			put_num(s, cell, STYLE(LOOK_CELL, NUM_GROUP), r->m->iops);
		else
			put_text(s, cell, LOOK_NA, "none");
	}
	put_text(s, AREA(row + 3, 0, row + 3, 15), LOOK_NOTE,
		 "Peak: closed loop, as fast as the drive answers. IOPS under a time: the fastest"
		 " step measured whose mean response time is below it, nothing interpolated.");
}

static void page_knee(struct curve *c)
{
	page_begin(&c->page, "Plot",
		   arena_fmt(c->a, "Load v Latency, Achieved v Asked - %s", c->l->access));
	page_banner(&c->page, NULL);
	chart_iops(c, (struct place){ c->page.row, 0, HALF_PX, 25 * ROW_PX });
	chart_rate(c, (struct place){ c->page.row, 8, HALF_PX, 25 * ROW_PX });
	put_knee(c, c->page.row + 26);
}

/* ---- tables ---- */

static const char *rounds_ref(struct curve *c, const struct measure *m, enum rounds_col col)
{
	return grid_data_ref(c->page.s->grid, ROUNDS_SHEET, m->index + 1, col);
}

static void put_rates(struct curve *c, const struct rated *r, uint32_t row)
{
	struct grid_sheet *s = c->page.s;
	const struct measure *m = r->m;
	double share = m->iops / m->rate_iops;
	enum look look = share < 0.99 ? LOOK_WARN : LOOK_FORMULA;

	put_text(s, AT(row, 0), LOOK_ROW_HEAD, curve_load_name(c->l, r, c->a));
	put_num(s, AREA(row, 1, row, 2), STYLE(LOOK_CELL, NUM_GROUP1), m->rate_iops);
	put_num(s, AREA(row, 3, row, 4), STYLE(LOOK_CELL, NUM_GROUP1), m->iops);
	put_formula(s, AT(row, 5), STYLE(look, NUM_PCT1), share, "=%s/%s",
		    rounds_ref(c, m, RC_IOPS), rounds_ref(c, m, RC_RATE));
	put_num(s, AT(row, 6), STYLE(LOOK_CELL, NUM_GROUP1), m->bytes_per_s / 1e6);
	put_num(s, AT(row, 7), STYLE(LOOK_CELL, NUM_1), m->inflight_avg);
	put_text(s, AT(row, 8), LOOK_CENTER, tcqd_text(c->a, m->threads, m->qd));
	put_num(s, AT(row, 9), STYLE(LOOK_CELL, NUM_1), m->cpu_total_pct);
	put_text(s, AREA(row, 10, row, 15), LOOK_VALUE, *m->note ? m->note : "-");
}

static void put_times(struct curve *c, const struct rated *r, uint32_t row)
{
	struct grid_sheet *s = c->page.s;
	const struct levels *const l[] = { &r->response, &r->service };

	put_text(s, AT(row, 0), LOOK_ROW_HEAD, curve_load_name(c->l, r, c->a));
	for (unsigned i = 0; i < 2; i++) {
		const int64_t ns[] = { l[i]->p50_ns,   l[i]->p99_ns,	l[i]->p999_ns,
				       l[i]->p9999_ns, l[i]->p99999_ns, l[i]->mrt_ns };
		uint32_t col = i ? 9 : 1;
		put_num(s, AT(row, col), STYLE(LOOK_CELL, NUM_GROUP1), l[i]->art_ns / 1e3);
		for (unsigned k = 0; k < 6; k++) {
			bool few = k == 4 && ns[k] >= 0 && l[i]->above < 100;
			put_num(s, AT(row, col + 1 + k),
				STYLE(few ? LOOK_WARN : LOOK_CELL, NUM_GROUP1), us_of(ns[k]));
		}
	}
	put_num(s, AT(row, 8), STYLE(LOOK_CELL, NUM_GROUP1),
		(r->response.art_ns - r->service.art_ns) / 1e3);
}

static void times_head(struct curve *c, uint32_t row)
{
	static const char *const names[] = { "ART",	"50 %",	    "99 %", "99.9 %",
					     "99.99 %", "99.999 %", "MRT" };
	struct grid_sheet *s = c->page.s;

	put_text(s, AREA(row, 0, row + 1, 0), LOOK_HEAD, "Load");
	put_text(s, AREA(row, 1, row, 7), LOOK_HEAD_PLATFORM, "Response time (us): from when due");
	put_text(s, AREA(row, 8, row + 1, 8), LOOK_HEAD, "Waiting");
	put_text(s, AREA(row, 9, row, 15), LOOK_HEAD_DEVICE, "Service time (us): from submission");
	for (unsigned i = 0; i < 7; i++) {
		put_text(s, AT(row + 1, 1 + i), LOOK_HEAD, names[i]);
		put_text(s, AT(row + 1, 9 + i), LOOK_HEAD, names[i]);
	}
}

static void rates_head(struct curve *c, uint32_t row)
{
	static const struct {
		unsigned col, col2;
		const char *head;
	} heads[] = { { 0, 0, "Load" },	    { 1, 2, "IOPS asked" }, { 3, 4, "IOPS achieved" },
		      { 5, 5, "Achieved" }, { 6, 6, "MB/s" },	    { 7, 7, "In flight" },
		      { 8, 8, "TC / QD" },  { 9, 9, "CPU %" },	    { 10, 15, "Note" } };

	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(c->page.s, AREA(row, heads[i].col, row, heads[i].col2), LOOK_HEAD,
			 heads[i].head);
}

#define PER_PAGE 13 /* steps of both tables on a page */

static void page_tables(struct curve *c, unsigned first)
{
	unsigned n = c->l->n - first > PER_PAGE ? PER_PAGE : c->l->n - first;
	uint32_t row;

	page_begin(&c->page, "Table",
		   arena_fmt(c->a, "Rates and Percentiles by Load - %s%s", c->l->access,
			     first ? ", continued" : ""));
	page_banner(&c->page, NULL);
	row = c->page.row;
	rates_head(c, row++);
	for (unsigned i = 0; i < n; i++)
		put_rates(c, c->l->step[first + i], row++);
	row++;
	times_head(c, row);
	row += 2;
	for (unsigned i = 0; i < n; i++)
		put_times(c, c->l->step[first + i], row++);
	put_text(c->page.s, AREA(row, 0, row, 15), LOOK_NOTE,
		 "Amber: less than 99 % of the rate achieved; fewer than 100 I/Os above 99.999 %."
		 " In the database v_cell and D_rounds hold the response times of such a step,"
		 " v_stream and v_second its service times.");
}

static void pages(struct curve *c)
{
	if (c->l->n) {
		page_load(c);
		page_knee(c);
	} else {
		page_begin(&c->page, "Plot", "Response Time against Load");
		page_banner(&c->page, NULL);
		put_text(c->page.s, AREA(c->page.row, 0, c->page.row, 15), LOOK_NA,
			 "No step at a rate was measured: the test did not come that far.");
	}
	for (unsigned i = 0; i < c->l->n; i += PER_PAGE)
		page_tables(c, i);
}

static void make(const struct dataset *d, struct grid *g, const struct test *t)
{
	struct load_curve *all = arena_array(&g->arena, struct load_curve, CURVE_LOADS);
	struct curve *c = arena_new(&g->arena, struct curve);
	unsigned n = load_curves(d, t, all);
	struct header h;

	if (!n)
		all[n++] = (struct load_curve){ .t = t, .access = "nothing measured" };
	c->a = &g->arena;
	c->l = all;
	header_fill(&h, d, t, c->a);
	h.test[5] = (struct pair){ "Found maximum",
				   n > 1 ? "see its pages"
				   : curve_peak_iops(c->l) > 0
					   ? arena_fmt(c->a, "%.0f IOPS", curve_peak_iops(c->l))
					   : "-" };
	h.test[7] = (struct pair){ "Load generation", "open loop, from due time" };
	page_open(&c->page, g, d, t, &h);
	for (unsigned i = 0; i < n; i++) {
		c->l = &all[i];
		pages(c);
	}
	page_close(&c->page);
}

static bool applies(const struct dataset *d)
{
	return sheet_any(d, SHEET_CURVE);
}

static void build(const struct dataset *d, struct grid *g)
{
	sheet_each(d, g, SHEET_CURVE, make);
}

const struct sheet sheet_curve = { 180, applies, build };
