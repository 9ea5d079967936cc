/* SPDX-License-Identifier: MIT */
/* Tables of demand variation: matrices over TC and QD, operating points, groups of one total OIO. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/demand_priv.h"
#include "reports/sheet.h"

enum value { V_IOPS, V_ART, V_P99999, V_MRT, V_SYS, V_CPU, V_INFLIGHT, V_THREADS };

static const struct {
	const char *title;
	enum look look;
	enum scale_kind scale;
} values[] = { [V_IOPS] = { "IOPS", LOOK_HEAD_PLATFORM, SCALE_GREEN_RED },
	       [V_ART] = { "ART (ms)", LOOK_HEAD_DEVICE, SCALE_LOW_GREEN },
	       [V_P99999] = { "99.999 % RT (ms)", LOOK_HEAD_SETUP, SCALE_LOW_GREEN },
	       [V_MRT] = { "MRT (ms), highest of the window", LOOK_HEAD_TEST, SCALE_LOW_GREEN },
	       [V_SYS] = { "CPU system %", LOOK_HEAD_PLATFORM, SCALE_LOW_GREEN },
	       [V_CPU] = { "CPU total %", LOOK_HEAD_DEVICE, SCALE_LOW_GREEN },
	       [V_INFLIGHT] = { "In flight, achieved (asked: TC x QD)", LOOK_HEAD_SETUP,
				SCALE_NONE },
	       [V_THREADS] = { "Threads, achieved (asked: TC)", LOOK_HEAD_TEST, SCALE_NONE } };

/* One matrix: which value, of which build. */
struct matrix_of {
	struct demand_build *x;
	enum value v;
};

static const char *round_ref(struct grid *g, const struct measure *m, enum rounds_col col)
{
	return grid_data_ref(g, ROUNDS_SHEET, m->index + 1, col);
}

/* "'D_rounds'!S7,'D_rounds'!S56": the rounds behind a value. */
static const char *round_list(struct grid *g, const struct combo *c, enum rounds_col col)
{
	const char *list = "";

	for (unsigned i = 0; i < c->n_window; i++)
		list = arena_fmt(&g->arena, "%s%s%s", list, i ? "," : "",
				 round_ref(g, c->window[i], col));
	return list;
}

/* The rounds' values of one column weighted by another. */
static const char *weighted(struct grid *g, const struct combo *c, enum rounds_col col,
			    enum rounds_col by)
{
	const char *sum = "";

	for (unsigned i = 0; i < c->n_window; i++)
		sum = arena_fmt(&g->arena, "%s%s%s*%s", sum, i ? "+" : "",
				round_ref(g, c->window[i], col), round_ref(g, c->window[i], by));
	return arena_fmt(&g->arena, "=(%s)/SUM(%s)", sum, round_list(g, c, by));
}

/* In ms; the data sheet holds us. */
static const char *art_formula(struct grid *g, const struct combo *c)
{
	return arena_fmt(&g->arena, "%s/1000", weighted(g, c, RC_ART, RC_IOS));
}

static bool all_known(const struct combo *c, double (*of)(const struct measure *m))
{
	for (unsigned i = 0; i < c->n_window; i++)
		if (!isfinite(of(c->window[i])))
			return false;
	return c->n_window > 0;
}

static double art_of(const struct measure *m)
{
	return m->ios ? m->art_ns : NAN;
}

static double mrt_of(const struct measure *m)
{
	return m->mrt_ns < 0 ? NAN : (double)m->mrt_ns;
}

static double sys_of(const struct measure *m)
{
	return m->cpu_sys_pct;
}

static double cpu_of(const struct measure *m)
{
	return m->cpu_total_pct;
}

static double inflight_of(const struct measure *m)
{
	return m->inflight_avg;
}

/* A mean over the rounds as a live formula; a plain number where a round lacks it. */
static void put_mean(struct grid_sheet *s, struct area at, unsigned style, double v,
		     const char *formula, bool live)
{
	if (live)
		put_formula(s, at, style, v, "%s", formula);
	else
		put_num(s, at, style, v);
}

static enum numfmt pct_fmt(double v)
{
	return v < 10 ? NUM_2 : NUM_1;
}

static void put_response(const struct matrix_of *o, const struct combo *c, struct area at)
{
	struct grid_sheet *s = o->x->page.s;
	enum look look = result_look(o->x->m->dv, LOOK_FORMULA);
	double ms;

	if (o->v == V_ART) {
		ms = c->art_ns / 1e6;
		put_mean(s, at, STYLE(look, ms_fmt(ms)), ms, art_formula(s->grid, c),
			 all_known(c, art_of));
	} else if (o->v == V_P99999) {
		look = result_look(o->x->m->dv, LOOK_CELL);
		if (c->p99999_ns >= 0 && c->above < 100 && look == LOOK_CELL)
			look = LOOK_WARN;
		put_num(s, at, STYLE(look, NUM_3), ms_or_nan(c->p99999_ns));
	} else {
		put_mean(s, at, STYLE(look, NUM_2), ms_or_nan(c->mrt_ns),
			 arena_fmt(o->x->a, "=MAX(%s)/1000", round_list(s->grid, c, RC_MRT)),
			 all_known(c, mrt_of));
	}
}

static void put_load(const struct matrix_of *o, const struct combo *c, struct area at)
{
	struct grid_sheet *s = o->x->page.s;
	bool sys = o->v == V_SYS;
	double v = sys ? combo_cpu_sys(c) : combo_cpu_total(c);

	if (o->v == V_THREADS) {
		v = combo_threads_seen(c);
		put_num(s, at, STYLE(v < c->threads ? LOOK_WARN : LOOK_CELL, NUM_GENERAL), v);
	} else if (o->v == V_INFLIGHT) {
		v = combo_inflight(c);
		bool low = v < 0.95 * c->threads * c->qd;
		put_mean(s, at, STYLE(low ? LOOK_WARN : LOOK_FORMULA, NUM_1), v,
			 weighted(s->grid, c, RC_INFLIGHT, RC_SECONDS), all_known(c, inflight_of));
	} else {
		put_mean(s, at, STYLE(LOOK_FORMULA, pct_fmt(v)), v,
			 arena_fmt(o->x->a, "=AVERAGE(%s)",
				   round_list(s->grid, c, sys ? RC_CPU_SYS : RC_CPU)),
			 all_known(c, sys ? sys_of : cpu_of));
	}
}

static void put_value(const struct tcqd *t, unsigned i, unsigned k, struct area at)
{
	const struct matrix_of *o = t->ctx;
	const struct combo *c = o->x->m->cell[i][k];
	struct grid_sheet *s = o->x->page.s;

	if (!c || !c->n_window)
		put_text(s, at, LOOK_NA, "n/a");
	else if (o->v == V_IOPS)
		put_formula(s, at, STYLE(result_look(o->x->m->dv, LOOK_FORMULA), NUM_GROUP),
			    c->iops, "=AVERAGE(%s)", round_list(s->grid, c, RC_IOPS));
	else if (o->v <= V_MRT)
		put_response(o, c, at);
	else
		put_load(o, c, at);
}

static void matrix_init_of(struct tcqd *t, struct matrix_of *o)
{
	const struct demand *m = o->x->m;
	bool heat = m->dv && m->dv->steady != 0;

	*t = (struct tcqd){ .title = values[o->v].title,
			    .look = values[o->v].look,
			    .corner = "TC \\ QD",
			    .row_word = "TC",
			    .col_word = "QD",
			    .row = m->tc,
			    .col = m->qd,
			    .n_rows = m->n_tc,
			    .n_cols = m->n_qd,
			    .scale = heat ? values[o->v].scale : SCALE_NONE,
			    .put = put_value,
			    .ctx = o };
}

/* Up to seven depths stand in pairs beside one another. Goes to a further page where there is no room. */
static uint32_t put_matrices(struct demand_build *x, const enum value *list, unsigned n,
			     uint32_t row)
{
	bool beside = x->m->n_qd <= 7;
	uint32_t below = row;

	for (unsigned i = 0; i < n; i++) {
		struct matrix_of *o = arena_new(x->a, struct matrix_of);
		struct tcqd t;
		*o = (struct matrix_of){ x, list[i] };
		matrix_init_of(&t, o);
		if ((!beside || i % 2 == 0) && i)
			row = below + 1;
		if (row + tcqd_rows(&t) > x->page.next) {
			demand_page(x, x->m->dv, "", "Table", "Demand Variation - continued");
			row = x->page.row;
		}
		below = tcqd_put(&t, x->page.s, row, beside && i % 2 ? 8 : 0);
		if (list[i] == V_IOPS)
			x->iops = t;
	}
	return below;
}

/* ---- operating points ---- */

struct point_row {
	const char *from;
	double iops, bytes_per_s, art_ns;
	struct levels l;
	enum look look;
};

static void put_point_times(struct grid_sheet *s, uint32_t row, const struct point_row *r)
{
	const int64_t ns[] = { r->l.p99_ns, r->l.p999_ns, r->l.p9999_ns, r->l.p99999_ns };

	put_num(s, AT(row, 6), STYLE(r->look, ms_fmt(r->art_ns / 1e6)), r->art_ns / 1e6);
	for (unsigned i = 0; i < 4; i++) {
		bool few = i == 3 && ns[i] >= 0 && r->l.above < 100 && r->look != LOOK_UNSTEADY;
		put_num(s, AT(row, 7 + i), STYLE(few ? LOOK_WARN : r->look, NUM_3),
			ms_or_nan(ns[i]));
	}
	put_num(s, AT(row, 11), STYLE(r->look, NUM_2), ms_or_nan(r->l.mrt_ns));
}

static void put_point_row(struct grid_sheet *s, uint32_t row, const struct point_row *r)
{
	put_text(s, AT(row, 3), LOOK_CENTER, r->from);
	put_num(s, AT(row, 4), STYLE(r->look, NUM_GROUP), r->iops);
	put_num(s, AT(row, 5), STYLE(r->look, NUM_GROUP1), r->bytes_per_s / 1e6);
	put_point_times(s, row, r);
}

static struct point_row row_of_cell(const struct combo *c, enum look look)
{
	return (struct point_row){ .from = "window",
				   .iops = c->iops,
				   .bytes_per_s = c->bytes_per_s,
				   .art_ns = c->art_ns,
				   .l = { .n = c->ios,
					  .above = c->above,
					  .p99_ns = c->p99_ns,
					  .p999_ns = c->p999_ns,
					  .p9999_ns = c->p9999_ns,
					  .p99999_ns = c->p99999_ns,
					  .mrt_ns = c->mrt_ns },
				   .look = look };
}

static struct point_row row_of_hist(const struct capture_hist *h, enum look look)
{
	struct point_row r = { .from = "histogram",
			       .iops = h->m->iops,
			       .bytes_per_s = h->m->bytes_per_s,
			       .look = look };

	levels_of(h->hist, &r.l);
	r.art_ns = r.l.art_ns;
	return r;
}

static void put_point(struct demand_build *x, const struct demand_point *p, uint32_t row)
{
	struct grid_sheet *s = x->page.s;
	enum look look = result_look(x->m->dv, LOOK_CELL);
	const struct operating_point *op = p->op;

	put_text(s, AREA(row, 0, row + 1, 0), LOOK_ROW_HEAD, p->name);
	put_text(s, AREA(row, 1, row + 1, 1), LOOK_CENTER, tcqd_text(x->a, op->threads, op->qd));
	put_num(s, AREA(row, 2, row + 1, 2), STYLE(LOOK_CENTER, NUM_INT), op->threads * op->qd);
	put_text(s, AREA(row, 12, row + 1, 15), LOOK_WRAP, op->reason);
	if (p->cell && p->cell->n_window) {
		struct point_row r = row_of_cell(p->cell, look);
		put_point_row(s, row, &r);
	} else {
		put_text(s, AREA(row, 3, row, 11), LOOK_NA, "no mean over the window");
	}
	if (p->hist) {
		struct point_row r = row_of_hist(p->hist, look);
		put_point_row(s, row + 1, &r);
	} else {
		put_text(s, AREA(row + 1, 3, row + 1, 11), LOOK_NA, "histogram not measured");
	}
}

static uint32_t put_points(struct demand_build *x, uint32_t row)
{
	static const char *const heads[] = { "Point",  "TC / QD", "TOIO",     "From",
					     "IOPS",   "MB/s",	  "ART (ms)", "99 %",
					     "99.9 %", "99.99 %", "99.999 %", "MRT (ms)" };
	struct grid_sheet *s = x->page.s;

	if (row + 2 + 2 * x->m->n_points > x->page.next) {
		demand_page(x, x->m->dv, "", "Table", "Operating Points");
		row = x->page.row;
	}
	put_text(s, AREA(row, 0, row, 15), LOOK_HEAD_SETUP,
		 "Operating points of the response-time histograms (percentiles in ms)");
	row++;
	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(s, AT(row, i), LOOK_HEAD, heads[i]);
	put_text(s, AREA(row, 12, row, 15), LOOK_HEAD, "Rule");
	row++;
	for (unsigned i = 0; i < x->m->n_points; i++, row += 2)
		put_point(x, &x->m->point[i], row);
	if (x->m->n_points)
		return row;
	put_text(s, AREA(row, 0, row, 15), LOOK_NA, "none was picked: the loop did not end");
	return row + 1;
}

static void put_little(struct demand_build *x, uint32_t row)
{
	const struct demand *m = x->m;

	if (!isfinite(m->little_worst_pct))
		return;
	put_fmt(x->page.s, AREA(row, 0, row, 15), m->little_worst_pct <= 2 ? LOOK_NOTE : LOOK_WARN,
		"Little's law check over the window: I/Os a second x service time = I/Os in flight"
		" %s at all %u cells (largest difference %.2f %%, at %s).",
		m->little_worst_pct <= 2 ? "within 2 %" : "NOT within 2 %", m->n_results,
		m->little_worst_pct, tcqd_text(x->a, m->little_cell->threads, m->little_cell->qd));
}

void demand_tables(struct demand_build *x)
{
	static const enum value list[] = { V_IOPS, V_ART, V_P99999, V_MRT };

	demand_page(x, x->m->dv, "P6/P7", "Table",
		    arena_fmt(x->a, "Demand Variation - mean of rounds %s%s (%s)",
			      mean_text(x->a, x->m->dv),
			      x->m->dv->steady == 0 ? ", NOT ACHIEVED" : "",
			      demand_access(x->a, x->m)));
	uint32_t row = put_matrices(x, list, 4, x->page.row);
	row = put_points(x, row + (row + 4 + 2 * x->m->n_points < x->page.next));
	put_little(x, row);
	if (row + 1 < x->page.next)
		put_text(x->page.s, AREA(row + 1, 0, row + 1, 15), LOOK_NOTE,
			 "IOPS: mean of the window rounds. ART: the rounds weighted by their I/Os."
			 " 99.999 %: merged histograms, n/a below 100,000 I/Os, amber where fewer"
			 " than 100 lie above.");
}

void demand_table_load(struct demand_build *x)
{
	static const enum value list[] = { V_SYS, V_CPU, V_INFLIGHT, V_THREADS };

	demand_page(x, x->m->dv, "P8", "Table",
		    "System CPU Utilization, achieved threads and depth - mean of the window"
		    " rounds");
	uint32_t row = put_matrices(x, list, 4, x->page.row);
	if (row + 1 < x->page.next)
		put_text(x->page.s, AREA(row + 1, 0, row + 1, 15), LOOK_NOTE,
			 "CPU: of the whole system, all CPUs = 100 %. Amber: fewer threads seen"
			 " than asked, or less than 95 % of the depth asked in flight.");
}

/* ---- groups of one total OIO ---- */

/* "T32Q1, T16Q2": at most six. */
static const char *pairs_text(struct arena *a, const struct demand_toio *g)
{
	const char *list = "";

	for (unsigned i = 0; i < g->pairs; i++)
		list = arena_fmt(a, "%s%s%s", list, i ? ", " : "",
				 tcqd_text(a, g->cell[i]->threads, g->cell[i]->qd));
	return list;
}

/* Cells of the IOPS matrix with this total: "C20,D19". */
static const char *iops_cells(struct demand_build *x, const struct demand_toio *g)
{
	const char *list = "";

	for (unsigned i = 0; i < x->m->n_tc; i++)
		for (unsigned k = 0; k < x->m->n_qd; k++)
			if (x->m->tc[i] * x->m->qd[k] == g->toio && x->m->cell[i][k])
				list = arena_fmt(
					x->a, "%s%s%s", list, *list ? "," : "",
					grid_ref(x->page.s->grid, tcqd_at(&x->iops, i, k), false));
	return list;
}

static void put_toio(struct demand_build *x, const struct demand_toio *g, uint32_t row)
{
	struct grid_sheet *s = x->page.s;
	enum look look = result_look(x->m->dv, LOOK_CELL);
	double low = INFINITY, high = -INFINITY;

	for (unsigned i = 0; i < g->pairs; i++) {
		low = g->cell[i]->n_window ? fmin(low, g->cell[i]->iops) : low;
		high = g->cell[i]->n_window ? fmax(high, g->cell[i]->iops) : high;
	}
	put_num(s, AT(row, 0), STYLE(LOOK_ROW_HEAD, NUM_INT), g->toio);
	put_num(s, AT(row, 1), STYLE(LOOK_CENTER, NUM_INT), g->pairs);
	put_text(s, AREA(row, 2, row, 6), LOOK_VALUE, pairs_text(x->a, g));
	if (g->n)
		put_formula(s, AT(row, 7), STYLE(result_look(x->m->dv, LOOK_FORMULA), NUM_GROUP),
			    g->iops, "=AVERAGE(%s)", iops_cells(x, g));
	else
		put_text(s, AT(row, 7), LOOK_NA, "n/a");
	put_num(s, AT(row, 8), STYLE(look, NUM_GROUP), low);
	put_num(s, AT(row, 9), STYLE(look, NUM_GROUP), high);
	put_num(s, AT(row, 10), STYLE(look, NUM_GROUP1), g->bytes_per_s / 1e6);
	put_num(s, AREA(row, 11, row, 12), STYLE(look, ms_fmt(g->art_ns / 1e6)), g->art_ns / 1e6);
	put_num(s, AREA(row, 13, row, 14), STYLE(look, NUM_3), g->p99999_ns / 1e6);
	put_num(s, AT(row, 15), STYLE(look, NUM_2), g->cpu_total_pct);
}

void demand_table_toio(struct demand_build *x)
{
	static const struct {
		unsigned col, col2;
		const char *head;
	} heads[] = { { 0, 0, "Total OIO" }, { 1, 1, "Pairs" },	     { 2, 6, "TC / QD" },
		      { 7, 7, "IOPS" },	     { 8, 8, "Lowest" },     { 9, 9, "Highest" },
		      { 10, 10, "MB/s" },    { 11, 12, "ART (ms)" }, { 13, 14, "99.999 % (ms)" },
		      { 15, 15, "CPU %" } };
	uint32_t row = 0;

	for (unsigned i = 0; i < x->m->n_toio; i++, row++) {
		if (!i || row + 3 > x->page.next) {
			demand_page(x, x->m->dv, "P15", "Table",
				    "IOPS & ART v Total OIO - mean over all TC/QD of one total");
			row = x->page.row;
			for (unsigned h = 0; h < sizeof heads / sizeof heads[0]; h++)
				put_text(x->page.s, AREA(row, heads[h].col, row, heads[h].col2),
					 LOOK_HEAD, heads[h].head);
			row++;
		}
		put_toio(x, &x->m->toio[i], row);
	}
	put_text(x->page.s, AREA(row + 1, 0, row + 1, 15), LOOK_NOTE,
		 "IOPS: mean over the pairs; lowest and highest of them beside. ART: over all"
		 " I/Os of the pairs. IOPS x ART is the total OIO where the rounds of the pairs are"
		 " alike. 99.999 %: mean of the pairs that have one.");
}
