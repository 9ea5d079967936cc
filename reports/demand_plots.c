/* SPDX-License-Identifier: MIT */
/* Plots of demand variation over all cells: P6, P7, P8, P15, and the operating points over one another. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/demand_priv.h"
#include "reports/plot3d.h"

#define FULL_PX (PAGE_COLS * PAGE_COL_PX)

/* Violet to red from few threads to many, whatever their number. */
static uint32_t tc_color(const struct demand *m, unsigned i)
{
	unsigned up = m->n_tc - 1 - i;

	return series_color(m->n_tc <= 7 ? up + 7 - m->n_tc : up);
}

static double cell_iops(const struct combo *c)
{
	return c && c->n_window ? c->iops : NAN;
}

static double cell_ms(const struct combo *c)
{
	return c && c->n_window ? c->art_ns / 1e6 : NAN;
}

/* ---- P6 ---- */

void demand_variation(struct demand_build *x)
{
	const struct demand *m = x->m;
	struct chart c = chart_new(CHART_LINE, "Queue depth per thread (QD)", "IOPS");
	struct series series[DEMAND_MAX];
	const char *label[DEMAND_MAX];
	double v[DEMAND_MAX], top = 0;
	struct plots pl;

	plots_begin(&pl, x->page.s->grid, arena_fmt(x->a, "%s: demand variation", m->t->sheet));
	for (unsigned k = 0; k < m->n_qd; k++)
		label[k] = arena_fmt(x->a, "%d", m->qd[m->n_qd - 1 - k]);
	struct range names = plots_labels(&pl, "QD", label, m->n_qd);
	for (unsigned i = 0; i < m->n_tc; i++) {
		const char *name = arena_fmt(x->a, "TC %d", m->tc[i]);
		for (unsigned k = 0; k < m->n_qd; k++) {
			v[k] = cell_iops(m->cell[i][m->n_qd - 1 - k]);
			top = fmax(top, isfinite(v[k]) ? v[k] : 0);
		}
		series[i] = (struct series){ .name = name,
					     .x = names,
					     .y = plots_column(&pl, name, v, m->n_qd),
					     .color = tc_color(m, i),
					     .width = 2,
					     .markers = true };
	}
	demand_page(x, m->dv, "P6", "Plot",
		    arena_fmt(x->a, "Demand Variation - IOPS v QD, one line per thread count (%s)",
			      demand_access(x->a, m)));
	chart_place(&c, (struct place){ x->page.row, 0, FULL_PX, 29 * ROW_PX });
	axis_round(&c.y, 0, top);
	c.y.fmt = axis_fmt(c.y.max);
	c.legend = LEGEND_RIGHT;
	c.series = series;
	c.n_series = m->n_tc;
	grid_chart(x->page.s, &c);
}

/* ---- P7 ---- */

static unsigned intensity_lines(struct demand_build *x, struct plots *pl, struct series *out,
				double *all)
{
	const struct demand *m = x->m;
	double iops[DEMAND_MAX], ms[DEMAND_MAX];

	for (unsigned i = 0; i < m->n_tc; i++) {
		for (unsigned k = 0; k < m->n_qd; k++) { /* QD 1 first along the line */
			const struct combo *c = m->cell[i][m->n_qd - 1 - k];
			iops[k] = cell_iops(c);
			all[i * m->n_qd + k] = ms[k] = cell_ms(c);
		}
		const char *name = arena_fmt(x->a, "TC %d", m->tc[i]);
		out[i] = (struct series){ .name = name,
					  .x = plots_column(pl, "IOPS", iops, m->n_qd),
					  .y = plots_column(pl, name, ms, m->n_qd),
					  .color = tc_color(m, i),
					  .width = 2,
					  .markers = true };
	}
	return m->n_tc;
}

/* The operating points on top, each named where it stands. */
static unsigned intensity_points(struct demand_build *x, struct plots *pl, struct series *out)
{
	const struct demand *m = x->m;
	unsigned n = 0;

	for (unsigned i = 0; i < m->n_points; i++) {
		const struct demand_point *p = &m->point[i];
		if (!p->cell || !p->cell->n_window)
			continue;
		double iops = cell_iops(p->cell), ms = cell_ms(p->cell);
		out[n++] = (struct series){ .name = arena_fmt(
						    x->a, "%s %s", p->name,
						    tcqd_text(x->a, p->op->threads, p->op->qd)),
					    .x = plots_column(pl, "IOPS", &iops, 1),
					    .y = plots_column(pl, p->name, &ms, 1),
					    .color = 0x000000,
					    .markers = true,
					    .named = true };
	}
	return n;
}

void demand_intensity(struct demand_build *x)
{
	const struct demand *m = x->m;
	struct chart c = chart_new(CHART_SCATTER, "IOPS", "Average response time (ms, log scale)");
	struct series series[DEMAND_MAX + DEMAND_POINTS];
	double all[DEMAND_MAX * DEMAND_MAX], top = 0;
	struct plots pl;

	plots_begin(&pl, x->page.s->grid, arena_fmt(x->a, "%s: demand intensity", m->t->sheet));
	c.n_series = intensity_lines(x, &pl, series, all);
	c.n_series += intensity_points(x, &pl, series + c.n_series);
	for (unsigned i = 0; i < m->n_toio; i++)
		for (unsigned k = 0; k < m->toio[i].pairs; k++)
			top = fmax(top,
				   m->toio[i].cell[k]->n_window ? m->toio[i].cell[k]->iops : 0);
	demand_page(x, m->dv, "P7", "Plot",
		    arena_fmt(x->a,
			      "Demand Intensity - ART v IOPS, one line per thread count, QD rising"
			      " along each (%s)",
			      demand_access(x->a, m)));
	chart_place(&c, (struct place){ x->page.row, 0, FULL_PX, 29 * ROW_PX });
	axis_round(&c.x, 0, top);
	c.x.fmt = axis_fmt(c.x.max);
	c.x.grid = true;
	axis_decades(&c.y, all, m->n_tc * m->n_qd);
	c.y.fmt = NUM_GENERAL;
	c.legend = LEGEND_RIGHT;
	c.series = series;
	grid_chart(x->page.s, &c);
}

/* ---- P8 ---- */

static bool has_cpu(const struct demand *m)
{
	for (unsigned i = 0; i < m->n_toio; i++)
		if (isfinite(m->toio[i].cpu_total_pct))
			return true;
	return false;
}

void demand_cpu(struct demand_build *x)
{
	const struct demand *m = x->m;
	struct plot3d *q = arena_new(x->a, struct plot3d);

	demand_page(x, m->dv, "P8", "Plot",
		    "System CPU Utilization - TC, QD - 3-D Columns (total %, mean of the window"
		    " rounds)");
	if (!has_cpu(m)) {
		put_text(x->page.s, AREA(x->page.row, 0, x->page.row, 15), LOOK_NA,
			 "n/a: the use of the CPU was not recorded");
		return;
	}
	q->n_x = m->n_qd;
	q->n_z = m->n_tc;
	q->x_title = "Queue depth per thread (QD)";
	q->y_title = "CPU total %";
	q->z_title = "Threads (TC)";
	q->width = 2080;
	q->height = 2 * 29 * ROW_PX;
	for (unsigned k = 0; k < m->n_qd; k++)
		q->x_label[k] = arena_fmt(x->a, "%d", m->qd[m->n_qd - 1 - k]);
	for (unsigned i = 0; i < m->n_tc; i++) { /* few threads, low columns, in front */
		unsigned row = m->n_tc - 1 - i;
		q->z_label[i] = arena_fmt(x->a, "%d", m->tc[row]);
		q->z_color[i] = tc_color(m, row);
		for (unsigned k = 0; k < m->n_qd; k++) {
			const struct combo *c = m->cell[row][m->n_qd - 1 - k];
			q->value[k][i] = c ? combo_cpu_total(c) : NAN;
		}
	}
	struct picture pic = { .row = x->page.row,
			       .col = 1,
			       .dx_px = 26,
			       .dy_px = 6,
			       .plot = q,
			       .alt = "CPU utilization by TC and QD as columns" };
	grid_picture(x->page.s, &pic);
	put_text(x->page.s, AREA(x->page.row + 30, 0, x->page.row + 30, 15), LOOK_NOTE,
		 "Of the whole system, all CPUs = 100 %. The matrices on the next page hold the"
		 " values.");
}

/* ---- P15 ---- */

static void toio_bars(struct demand_build *x, struct plots *pl, struct range names, const double *v)
{
	const struct demand *m = x->m;
	struct chart c = chart_new(CHART_COLUMN, NULL, "IOPS");
	struct series one = { .name = "IOPS",
			      .x = names,
			      .y = plots_column(pl, "IOPS", v, m->n_toio),
			      .color = 0x2E75B6,
			      .labels = true,
			      .label_fmt = NUM_GROUP };
	double top = 0;

	for (unsigned i = 0; i < m->n_toio; i++)
		top = fmax(top, isfinite(v[i]) ? v[i] : 0);
	chart_place(&c, (struct place){ x->page.row, 0, FULL_PX, 15 * ROW_PX });
	axis_round(&c.y, 0, top * 1.05);
	c.y.fmt = axis_fmt(c.y.max);
	c.title = "IOPS";
	c.gap = 40;
	c.legend = LEGEND_NONE;
	c.series = &one;
	c.n_series = 1;
	grid_chart(x->page.s, &c);
}

static void toio_lines(struct demand_build *x, struct plots *pl, struct range names,
		       const double *art_p)
{
	const struct demand *m = x->m;
	struct chart c = chart_new(CHART_LINE, "Total outstanding I/O (TC x QD)", "us (log scale)");
	struct series series[2];

	for (unsigned i = 0; i < 2; i++)
		series[i] = (struct series){ .name = i ? "99.999 %" : "ART",
					     .x = names,
					     .y = plots_column(pl, i ? "99.999 % us" : "ART us",
							       art_p + i * m->n_toio, m->n_toio),
					     .color = i ? 0xC00000 : 0xED7D31,
					     .width = 2,
					     .dash = i ? DASH_DASH : DASH_SOLID,
					     .markers = true };
	chart_place(&c, (struct place){ x->page.row + 15, 0, FULL_PX, 15 * ROW_PX });
	axis_decades(&c.y, art_p, 2 * m->n_toio);
	c.y.fmt = NUM_GROUP;
	c.title = "Response time";
	c.legend = LEGEND_TOP;
	c.series = series;
	c.n_series = 2;
	grid_chart(x->page.s, &c);
}

void demand_toio(struct demand_build *x)
{
	const struct demand *m = x->m;
	unsigned n = m->n_toio;
	double *iops = arena_array(x->a, double, n + 1);
	double *times = arena_array(x->a, double, 2 * n + 1);
	const char **label = arena_array(x->a, const char *, n + 1);
	struct plots pl;

	for (unsigned i = 0; i < n; i++) {
		label[i] = arena_fmt(x->a, "%d", m->toio[i].toio);
		iops[i] = m->toio[i].iops;
		times[i] = m->toio[i].art_ns / 1e3;
		times[n + i] = m->toio[i].p99999_ns / 1e3;
	}
	plots_begin(&pl, x->page.s->grid, arena_fmt(x->a, "%s: v total OIO", m->t->sheet));
	struct range names = plots_labels(&pl, "TOIO", label, n);
	demand_page(x, m->dv, "P15", "Plot",
		    arena_fmt(x->a, "IOPS & ART v Total OIO - average of all TC/QD (%s)",
			      demand_access(x->a, m)));
	toio_bars(x, &pl, names, iops);
	toio_lines(x, &pl, names, times);
	put_text(x->page.s, AREA(x->page.row + 30, 0, x->page.row + 30, 15), LOOK_NOTE,
		 "Two panels over one axis instead of a second y axis; the values and the pairs"
		 " behind each stand on the next page.");
}

/* ---- the points over one another ---- */

#define COMPARE_MAX 400
#define BINS_PER_DECADE 20

/* Share of the IOs in each twentieth of a decade, in %. */
static void shares(struct demand_build *x, struct plots *pl, const struct demand_point *p,
		   struct series *ret)
{
	double share[10 * BINS_PER_DECADE] = { 0 }, ms[10 * BINS_PER_DECADE];
	double y[10 * BINS_PER_DECADE];
	const struct hist *h = p->hist->hist;
	unsigned n = 0;

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (!h->count[i])
			continue;
		double ns = ((double)hist_low(i) + (double)hist_high(i)) / 2;
		double bin = fmax(
			0, fmin(log10(fmax(ns, 1)) * BINS_PER_DECADE, 10 * BINS_PER_DECADE - 1));
		share[(unsigned)bin] += 100.0 * (double)h->count[i] / (double)h->n;
	}
	for (unsigned i = 0; i < 10 * BINS_PER_DECADE; i++) {
		if (share[i] <= 0)
			continue;
		ms[n] = pow(10, (i + 0.5) / BINS_PER_DECADE) / 1e6;
		y[n++] = share[i];
	}
	*ret = (struct series){ .name = p->name,
				.x = plots_column(pl, "ms", ms, n),
				.y = plots_column(pl, arena_fmt(x->a, "%s, share %%", p->name), y,
						  n) };
}

/* Share of the IOs slower than x, in %. */
static void slower(struct demand_build *x, struct plots *pl, const struct demand_point *p,
		   struct series *ret)
{
	const struct hist *h = p->hist->hist;
	double ms[COMPARE_MAX], y[COMPARE_MAX];
	uint64_t seen = 0;
	unsigned n = 0, used = 0, step;

	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		used += h->count[i] > 0;
	step = used / COMPARE_MAX + 1;
	used = 0;
	for (unsigned i = 0; i < HIST_BUCKETS && n < COMPARE_MAX; i++) {
		seen += h->count[i];
		if (!h->count[i] || seen == h->n || used++ % step)
			continue;
		ms[n] = (double)hist_high(i) / 1e6;
		y[n++] = 100.0 * (double)(h->n - seen) / (double)h->n;
	}
	*ret = (struct series){ .name = p->name,
				.x = plots_column(pl, "ms", ms, n),
				.y = plots_column(pl, arena_fmt(x->a, "%s, slower %%", p->name), y,
						  n) };
}

typedef void (*series_fn)(struct demand_build *x, struct plots *pl, const struct demand_point *p,
			  struct series *ret);

static void compare_chart(struct demand_build *x, struct plots *pl, series_fn make,
			  const char *y_title, struct place at)
{
	static const uint32_t colors[] = { 0xC00000, 0xED7D31, 0x2E75B6 };
	struct chart c = chart_new(CHART_SCATTER, "Response time (ms, log scale)", y_title);
	struct series series[DEMAND_POINTS];
	double ends[2 * DEMAND_POINTS], least = 1;
	unsigned n = 0, n_ends = 0;

	for (unsigned i = 0; i < x->m->n_points; i++) {
		const struct demand_point *p = &x->m->point[i];
		if (!p->hist || !p->hist->hist->n)
			continue;
		make(x, pl, p, &series[n]);
		series[n].color = i < 3 ? colors[i] : series_color(i);
		series[n++].width = 2.25;
		least = fmin(least, 100 / (double)p->hist->hist->n);
		ends[n_ends++] = (double)p->hist->hist->min / 1e6;
		ends[n_ends++] = (double)p->hist->hist->max / 1e6;
	}
	chart_place(&c, at);
	axis_decades(&c.x, ends, n_ends);
	c.x.grid = true;
	c.x.fmt = c.y.fmt = NUM_GENERAL;
	c.y.log = true;
	c.y.min = fmax(1e-7, pow(10, floor(log10(least))));
	c.y.max = 100;
	c.legend = LEGEND_RIGHT;
	c.series = series;
	c.n_series = n;
	if (n)
		grid_chart(x->page.s, &c);
}

static void compare_row(struct demand_build *x, const struct demand_point *p, uint32_t row)
{
	struct grid_sheet *s = x->page.s;
	struct levels l;

	levels_of(p->hist->hist, &l);
	const int64_t ns[] = { l.p50_ns, l.p99_ns, l.p999_ns, l.p9999_ns, l.p99999_ns, l.mrt_ns };
	put_text(s, AREA(row, 0, row, 1), LOOK_ROW_HEAD, p->name);
	put_text(s, AT(row, 2), LOOK_CENTER, tcqd_text(x->a, p->hist->m->threads, p->hist->m->qd));
	put_num(s, AREA(row, 3, row, 4), STYLE(LOOK_CELL, NUM_GROUP), (double)l.n);
	put_num(s, AREA(row, 5, row, 6), STYLE(LOOK_CELL, NUM_GROUP1), p->hist->m->iops);
	put_num(s, AREA(row, 7, row, 8), STYLE(LOOK_CELL, ms_fmt(l.art_ns / 1e6)), l.art_ns / 1e6);
	for (unsigned i = 0; i < 6; i++)
		put_num(s, AT(row, 9 + i), STYLE(LOOK_CELL, i == 5 ? NUM_2 : NUM_3),
			ms_or_nan(ns[i]));
	put_num(s, AT(row, 15), STYLE(LOOK_CELL, NUM_GROUP),
		l.p99999_ns < 0 ? NAN : (double)l.above);
}

void demand_compare(struct demand_build *x)
{
	static const struct {
		unsigned col, col2;
		const char *head;
	} heads[] = { { 0, 1, "Point" },      { 2, 2, "TC / QD" },    { 3, 4, "I/Os" },
		      { 5, 6, "IOPS" },	      { 7, 8, "ART (ms)" },   { 9, 9, "50 %" },
		      { 10, 10, "99 %" },     { 11, 11, "99.9 %" },   { 12, 12, "99.99 %" },
		      { 13, 13, "99.999 %" }, { 14, 14, "MRT (ms)" }, { 15, 15, "I/Os above" } };
	struct plots pl;
	uint32_t row;

	demand_page(x, x->m->dv, "P10/P12/P14", "Plot",
		    "Response Time Distributions of the operating points compared");
	plots_begin(&pl, x->page.s->grid, arena_fmt(x->a, "%s: points compared", x->m->t->sheet));
	compare_chart(x, &pl, shares, "Share of I/Os (%, log scale)",
		      (struct place){ x->page.row, 0, FULL_PX, 13 * ROW_PX });
	compare_chart(x, &pl, slower, "I/Os slower (%, log scale)",
		      (struct place){ x->page.row + 13, 0, FULL_PX, 12 * ROW_PX });
	row = x->page.row + 25;
	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(x->page.s, AREA(row, heads[i].col, row, heads[i].col2), LOOK_HEAD,
			 heads[i].head);
	for (unsigned i = 0; i < x->m->n_points; i++)
		if (x->m->point[i].hist && row + 2 < x->page.next)
			compare_row(x, &x->m->point[i], ++row);
}
