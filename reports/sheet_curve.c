/* SPDX-License-Identifier: MIT */
/* Response time against load: open-loop steps at shares of the found maximum. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/plots.h"
#include "reports/sheet.h"

#define STEPS_MAX 64
#define FULL_PX (PAGE_COLS * PAGE_COL_PX)
#define HALF_PX (FULL_PX / 2)

struct curve {
	struct page page;
	struct arena *a;
	const struct dataset *d;
	const struct test *t;
	const struct rated *step[STEPS_MAX]; /* in the order measured */
	unsigned n;
	const struct measure *maximum; /* the closed-loop run that found the maximum; NULL */
	const struct operating_point *peak; /* NULL */
};

static void load(struct curve *c)
{
	for (unsigned i = 0; i < c->t->n_sections; i++)
		for (unsigned k = 0; k < c->t->section[i].n_rated && c->n < STEPS_MAX; k++)
			c->step[c->n++] = &c->t->section[i].rated[k];
	for (unsigned i = 0; i < c->d->n_measures; i++)
		if (measure_counts(&c->d->measure[i], c->t) &&
		    !strcmp(c->d->measure[i].phase, "maximum"))
			c->maximum = &c->d->measure[i];
	for (unsigned i = 0; i < c->d->n_points; i++)
		if (!strcmp(c->d->point[i].test, c->t->name))
			c->peak = &c->d->point[i];
}

/* What the shares are shares of; 0 unknown. */
static double peak_iops(const struct curve *c)
{
	return c->peak ? c->peak->iops : c->maximum ? c->maximum->iops : 0;
}

/* "70%", or the rate itself where the step has no such label. */
static const char *load_text(const struct curve *c, const struct rated *r)
{
	if (*r->m->label)
		return r->m->label;
	return peak_iops(c) > 0 ? arena_fmt(c->a, "%.3g%%", 100 * r->m->rate_iops / peak_iops(c))
				: arena_fmt(c->a, "%.6g/s", r->m->rate_iops);
}

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

	plots_begin(&pl, c->page.s->grid, arena_fmt(c->a, "%s: v load", c->t->sheet));
	for (unsigned i = 0; i < c->n; i++)
		label[i] = load_text(c, c->step[i]);
	struct range names = plots_labels(&pl, "load", label, c->n);
	for (unsigned f = 0; f < FIELDS; f++) {
		double *v = all + f * c->n;
		for (unsigned i = 0; i < c->n; i++)
			v[i] = field_us(c->step[i], (enum field)f);
		series[f] = (struct series){ .name = lines[f].name,
					     .x = names,
					     .y = plots_column(&pl, lines[f].name, v, c->n),
					     .color = lines[f].color,
					     .dash = lines[f].dash,
					     .width = 2,
					     .markers = true };
	}
	chart_place(&ch, at);
	axis_decades(&ch.y, all, FIELDS * c->n);
	ch.y.fmt = NUM_GROUP;
	ch.legend = LEGEND_RIGHT;
	ch.series = series;
	ch.n_series = FIELDS;
	grid_chart(c->page.s, &ch);
}

static const char *access_name(const struct curve *c)
{
	return c->n ? c->step[0]->m->access : c->maximum ? c->maximum->access : "nothing measured";
}

static void page_load(struct curve *c)
{
	page_begin(&c->page, "Plot",
		   arena_fmt(c->a, "Response Time against Load - %s, %s", access_name(c),
			     tcqd_text(c->a, c->step[0]->m->threads, c->step[0]->m->qd)));
	page_banner(&c->page, NULL);
	chart_load(c, (struct place){ c->page.row, 0, FULL_PX, 29 * ROW_PX });
	put_text(c->page.s, AREA(c->page.row + 30, 0, c->page.row + 30, 15), LOOK_NOTE,
		 "Response times count from when an I/O was due, waiting included; service times"
		 " from its submission. Above the maximum the queue grows as long as the step"
		 " lasts.");
}

/* ---- response v IOPS, achieved v asked ---- */

/* Up to ten times the response time at 90 % of the maximum: the line leaves through the top, as overload does. */
static double top_us(const struct curve *c)
{
	double first = NAN, top = 0, below = 0;

	for (unsigned i = 0; i < c->n; i++) {
		double v = field_us(c->step[i], F_ART);
		if (!isfinite(v))
			continue;
		first = isfinite(first) ? first : v;
		top = fmax(top, v);
		if (peak_iops(c) > 0 && c->step[i]->m->rate_iops <= peak_iops(c) * 1.001)
			below = fmax(below, v);
	}
	if (below <= 0)
		below = first;
	return isfinite(below) ? fmin(top, below * 1.5) : 1;
}

static void chart_iops(struct curve *c, struct place at)
{
	struct chart ch = chart_new(CHART_SCATTER, "IOPS achieved", "Response time (us)");
	double iops[STEPS_MAX], art[STEPS_MAX], p99[STEPS_MAX], high = 0, top = top_us(c);
	struct plots pl;

	plots_begin(&pl, c->page.s->grid, arena_fmt(c->a, "%s: response v IOPS", c->t->sheet));
	for (unsigned i = 0; i < c->n; i++) {
		iops[i] = c->step[i]->m->iops;
		art[i] = field_us(c->step[i], F_ART);
		p99[i] = field_us(c->step[i], F_P99);
		high = fmax(high, iops[i]);
	}
	struct range x = plots_column(&pl, "IOPS", iops, c->n);
	struct series series[2] = { { .name = "ART",
				      .x = x,
				      .y = plots_column(&pl, "ART us", art, c->n),
				      .color = 0x2E75B6,
				      .width = 2.25,
				      .markers = true },
				    { .name = "99 %",
				      .x = x,
				      .y = plots_column(&pl, "99 % us", p99, c->n),
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

	plots_begin(&pl, c->page.s->grid, arena_fmt(c->a, "%s: achieved v asked", c->t->sheet));
	for (unsigned i = 0; i < c->n; i++) {
		asked[i] = c->step[i]->m->rate_iops;
		got[i] = c->step[i]->m->iops;
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
				      .x = plots_column(&pl, "asked", asked, c->n),
				      .y = plots_column(&pl, "achieved", got, c->n),
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

/* The fastest step whose mean response is below @us; 0 none. */
static double iops_under(const struct curve *c, double us)
{
	double best = 0;

	for (unsigned i = 0; i < c->n; i++)
		if (field_us(c->step[i], F_ART) < us)
			best = fmax(best, c->step[i]->m->iops);
	return best;
}

static double response_at(const struct curve *c, double share)
{
	for (unsigned i = 0; i < c->n; i++)
		if (peak_iops(c) > 0 &&
		    fabs(c->step[i]->m->rate_iops / peak_iops(c) - share) < 0.002)
			return field_us(c->step[i], F_ART);
	return NAN;
}

static void put_knee(struct curve *c, uint32_t row)
{
	static const double budget[] = { 100, 150, 200, 500, 1000 };
	struct grid_sheet *s = c->page.s;
	double peak = peak_iops(c);

	put_text(s, AREA(row, 0, row, 15), LOOK_HEAD_PLATFORM, "Peak and knee");
	put_text(s, AREA(row + 1, 0, row + 1, 1), LOOK_HEAD, "Peak IOPS");
	put_text(s, AREA(row + 1, 2, row + 1, 3), LOOK_HEAD, "ART at peak (us)");
	put_text(s, AREA(row + 1, 4, row + 1, 5), LOOK_HEAD, "ART at 90 % (us)");
	put_num(s, AREA(row + 2, 0, row + 2, 1), STYLE(LOOK_STRONG, NUM_GROUP),
		peak > 0 ? peak : NAN);
	put_num(s, AREA(row + 2, 2, row + 2, 3), STYLE(LOOK_CELL, NUM_GROUP1),
		c->maximum ? c->maximum->art_ns / 1e3 : NAN);
	put_num(s, AREA(row + 2, 4, row + 2, 5), STYLE(LOOK_CELL, NUM_GROUP1), response_at(c, 0.9));
	for (unsigned i = 0; i < 5; i++) {
		struct area at = AREA(row + 2, 6 + 2 * i, row + 2, 7 + 2 * i);
		double v = iops_under(c, budget[i]);
		put_fmt(s, AREA(row + 1, 6 + 2 * i, row + 1, 7 + 2 * i), LOOK_HEAD,
			"IOPS under %g us", budget[i]);
		if (v > 0)
			put_num(s, at, STYLE(LOOK_CELL, NUM_GROUP), v);
		else
			put_text(s, at, LOOK_NA, "none");
	}
	put_text(s, AREA(row + 3, 0, row + 3, 15), LOOK_NOTE,
		 "Peak: closed loop, as fast as the drive answers. IOPS under a time: the fastest"
		 " step measured whose mean response time is below it, nothing interpolated.");
}

static void page_knee(struct curve *c)
{
	page_begin(&c->page, "Plot",
		   arena_fmt(c->a, "Load v Latency, Achieved v Asked - %s", access_name(c)));
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

	put_text(s, AT(row, 0), LOOK_ROW_HEAD, load_text(c, r));
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

	put_text(s, AT(row, 0), LOOK_ROW_HEAD, load_text(c, r));
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
	unsigned n = c->n - first > PER_PAGE ? PER_PAGE : c->n - first;
	uint32_t row;

	page_begin(&c->page, "Table",
		   arena_fmt(c->a, "Rates and Percentiles by Load - %s%s", access_name(c),
			     first ? ", continued" : ""));
	page_banner(&c->page, NULL);
	row = c->page.row;
	rates_head(c, row++);
	for (unsigned i = 0; i < n; i++)
		put_rates(c, c->step[first + i], row++);
	row++;
	times_head(c, row);
	row += 2;
	for (unsigned i = 0; i < n; i++)
		put_times(c, c->step[first + i], row++);
	put_text(c->page.s, AREA(row, 0, row, 15), LOOK_NOTE,
		 "Amber: less than 99 % of the rate achieved; fewer than 100 I/Os above 99.999 %."
		 " In the database v_cell and D_rounds hold the response times of such a step,"
		 " v_stream and v_second its service times.");
}

static void make(const struct dataset *d, struct grid *g, const struct test *t)
{
	struct curve *c = arena_new(&g->arena, struct curve);
	struct header h;

	c->a = &g->arena;
	c->d = d;
	c->t = t;
	load(c);
	header_fill(&h, d, t, c->a);
	h.test[5] = (struct pair){ "Found maximum",
				   peak_iops(c) > 0 ? arena_fmt(c->a, "%.0f IOPS", peak_iops(c))
						    : "-" };
	h.test[7] = (struct pair){ "Load generation", "open loop, from due time" };
	page_open(&c->page, g, d, t, &h);
	if (c->n) {
		page_load(c);
		page_knee(c);
	} else {
		page_begin(&c->page, "Plot", "Response Time against Load");
		page_banner(&c->page, NULL);
		put_text(c->page.s, AREA(c->page.row, 0, c->page.row, 15), LOOK_NA,
			 "No step at a rate was measured: the test did not come that far.");
	}
	for (unsigned i = 0; i < c->n; i += PER_PAGE)
		page_tables(c, i);
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
