/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/clp.h"

#define BINS 100
#define FLOOR_COUNT 0.1 /* foot of the log count axis: a bin of one IO still stands up */

struct clp {
	struct page *p;
	const struct capture_hist *h;
	double top_ms; /* end of the x axis: 1.1 x ... */
	const char *top; /* "99.999 %", "99.9 %", "longest" */
	double count[BINS];
	uint64_t beyond; /* IOs slower than the axis reaches */
	struct plots pl;
};

static bool percentile_ms(const struct hist *h, uint32_t ppm, double *ret)
{
	uint64_t ns;

	if (!hist_percentile(h, ppm, &ns))
		return false;
	*ret = (double)ns / 1e6;
	return true;
}

/* The best percentile that this number of IOs allows. */
static void axis_top(struct clp *c)
{
	static const struct {
		const char *name;
		uint32_t ppm;
	} level[] = {
		{ "99.999 %", P99999 }, { "99.99 %", P9999 }, { "99.9 %", P999 }, { "99 %", P99 }
	};
	const struct hist *h = c->h->hist;
	double ms = h->n ? (double)h->max / 1e6 : 1 / 1.1;

	c->top = "longest";
	for (unsigned i = 0; i < sizeof level / sizeof level[0]; i++) {
		if (!percentile_ms(h, level[i].ppm, &ms))
			continue;
		c->top = level[i].name;
		break;
	}
	c->top_ms = ms * 1.1;
}

static void fill_bins(struct clp *c)
{
	const struct hist *h = c->h->hist;

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		if (!h->count[i])
			continue;
		double ms = ((double)hist_low(i) + (double)hist_high(i)) / 2e6;
		unsigned bin = (unsigned)fmin(ms / c->top_ms * BINS, 1e6);
		if (bin >= BINS)
			c->beyond += h->count[i];
		else
			c->count[bin] += (double)h->count[i];
	}
}

/* Bars of a scatter chart: from the floor up to the count and down again, drawn as one thick line. */
static struct series bars(struct clp *c)
{
	double x[BINS * 3], y[BINS * 3];
	unsigned n = 0;

	for (unsigned i = 0; i < BINS; i++) {
		if (c->count[i] <= 0)
			continue;
		for (unsigned k = 0; k < 3; k++, n++) {
			x[n] = (i + 0.5) * c->top_ms / BINS;
			y[n] = k == 1 ? c->count[i] : FLOOR_COUNT;
		}
	}
	return (struct series){ .name = "I/Os in the bin",
				.x = plots_column(&c->pl, "ms", x, n),
				.y = plots_column(&c->pl, "count", y, n),
				.color = 0x2E75B6,
				.width = 4.5 };
}

/* Vertical lines at ART and three percentiles, their values in the legend. */
static unsigned markers(struct clp *c, double low, double high, struct series *out)
{
	static const struct {
		const char *name;
		uint32_t ppm, color;
	} marks[] = { { "ART", 0, 0x000000 },
		      { "99.9 %", P999, 0x548235 },
		      { "99.99 %", P9999, 0xED7D31 },
		      { "99.999 %", P99999, 0xC00000 } };
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof marks / sizeof marks[0]; i++) {
		double ms = hist_mean(c->h->hist) / 1e6, y[2] = { low, high };
		if (marks[i].ppm && !percentile_ms(c->h->hist, marks[i].ppm, &ms))
			continue;
		double x[2] = { ms, ms };
		const char *name = arena_fmt(&c->p->s->grid->arena, "%s  %.4f ms", marks[i].name,
					     ms);
		out[n++] = (struct series){ .name = name,
					    .x = plots_column(&c->pl, marks[i].name, x, 2),
					    .y = plots_column(&c->pl, "line", y, 2),
					    .color = marks[i].color,
					    .width = 1.75,
					    .dash = i ? DASH_DASH : DASH_SOLID };
	}
	return n;
}

static void common_axis(struct clp *c, struct chart *ch)
{
	ch->x.min = 0;
	ch->x.max = c->top_ms;
	ch->x.fmt = axis_fmt(c->top_ms);
	ch->legend = LEGEND_RIGHT;
}

static void chart_counts(struct clp *c, struct place at)
{
	struct chart ch = chart_new(CHART_SCATTER, "Response time (ms)", "I/O count (log scale)");
	struct series series[8];
	double top = 1;

	for (unsigned i = 0; i < BINS; i++)
		top = fmax(top, c->count[i]);
	top = pow(10, ceil(log10(top * 1.01)));
	series[0] = bars(c);
	ch.n_series = 1 + markers(c, FLOOR_COUNT, top, series + 1);
	ch.series = series;
	chart_place(&ch, at);
	common_axis(c, &ch);
	ch.y.log = true;
	ch.y.min = FLOOR_COUNT;
	ch.y.max = top;
	ch.y.fmt = NUM_GENERAL;
	grid_chart(c->p->s, &ch);
}

static struct series points(struct clp *c)
{
	static const uint32_t ppm[] = { 10000, 50000,  100000, 200000, 300000, 400000,
					P50,   600000, 700000, 800000, 900000, 950000,
					P99,   P999,   P9999,  P99999, P999999 };
	double x[20], y[20];
	unsigned n = 0;

	for (unsigned i = 0; i < sizeof ppm / sizeof ppm[0]; i++) {
		if (!percentile_ms(c->h->hist, ppm[i], &x[n]) || x[n] > c->top_ms)
			continue;
		y[n++] = ppm[i] / 1e4;
	}
	return (struct series){ .name = "Percentiles 1 .. 99.9999 %",
				.x = plots_column(&c->pl, "ms", x, n),
				.y = plots_column(&c->pl, "%", y, n),
				.color = 0x7030A0,
				.markers = true };
}

static void chart_levels(struct clp *c, struct place at)
{
	struct chart ch = chart_new(CHART_SCATTER, "Response time (ms)", "Confidence level (%)");
	double x[BINS + 1] = { 0 }, y[BINS + 1] = { 0 }, sum = 0;
	struct series series[8];

	for (unsigned i = 0; i < BINS; i++) {
		sum += c->count[i];
		x[i + 1] = (i + 1) * c->top_ms / BINS;
		y[i + 1] = 100 * sum / (double)c->h->hist->n;
	}
	series[0] = (struct series){ .name = "Share of I/Os within",
				     .x = plots_column(&c->pl, "ms", x, BINS + 1),
				     .y = plots_column(&c->pl, "cumulative %", y, BINS + 1),
				     .color = 0x7030A0,
				     .width = 2 };
	series[1] = points(c);
	ch.n_series = 2 + markers(c, 0, 100, series + 2);
	ch.series = series;
	chart_place(&ch, at);
	common_axis(c, &ch);
	ch.y.min = 0;
	ch.y.max = 100;
	ch.y.unit = 20;
	ch.y.fmt = NUM_INT;
	grid_chart(c->p->s, &ch);
}

/* ---- exceedance and the table ---- */

#define POINTS_MAX 1500

static void chart_exceedance(struct clp *c, struct place at)
{
	struct chart ch = chart_new(CHART_SCATTER, "Response time (ms, log scale)",
				    "Share of I/Os slower (log scale)");
	double *x = arena_array(&c->p->s->grid->arena, double, POINTS_MAX);
	double *y = arena_array(&c->p->s->grid->arena, double, POINTS_MAX);
	const struct hist *h = c->h->hist;
	uint64_t seen = 0;
	unsigned n = 0, used = 0, step;

	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		used += h->count[i] > 0;
	step = used / POINTS_MAX + 1; /* thinned to every step-th bucket */
	used = 0;
	for (unsigned i = 0; i < HIST_BUCKETS && n < POINTS_MAX; i++) {
		if (!h->count[i])
			continue;
		seen += h->count[i];
		if (used++ % step || seen == h->n)
			continue;
		x[n] = (double)hist_high(i) / 1e6;
		y[n++] = (double)(h->n - seen) / (double)h->n;
	}
	struct series one = { .name = "1 - CDF",
			      .x = plots_column(&c->pl, "ms", x, n),
			      .y = plots_column(&c->pl, "share slower", y, n),
			      .color = 0xC00000,
			      .width = 2.25 };
	chart_place(&ch, at);
	axis_decades(&ch.x, x, n);
	axis_decades(&ch.y, y, n);
	ch.y.max = 1;
	ch.y.fmt = NUM_EXP;
	ch.x.grid = true;
	ch.legend = LEGEND_NONE;
	ch.series = &one;
	ch.n_series = 1;
	if (n)
		grid_chart(c->p->s, &ch);
}

static void put_levels(struct clp *c, uint32_t row)
{
	static const struct {
		const char *name;
		uint32_t ppm;
	} level[] = { { "50 %", P50 },	  { "90 %", 900000 },	{ "99 %", P99 },
		      { "99.9 %", P999 }, { "99.99 %", P9999 }, { "99.999 %", P99999 } };
	struct grid_sheet *s = c->p->s;
	const struct hist *h = c->h->hist;

	put_text(s, AREA(row, 0, row, 1), LOOK_HEAD, "Confidence level");
	put_text(s, AREA(row + 1, 0, row + 1, 1), LOOK_ROW_HEAD, "RT (ms)");
	put_text(s, AREA(row + 2, 0, row + 2, 1), LOOK_ROW_HEAD, "I/Os slower");
	for (unsigned i = 0; i < 7; i++) {
		uint32_t col = 2 + 2 * i;
		double ms = h->n ? (double)h->max / 1e6 : NAN;
		uint64_t above = 0;
		enum look look = LOOK_CELL;
		if (i < 6) {
			ms = NAN;
			percentile_ms(h, level[i].ppm, &ms);
			above = hist_above(h, level[i].ppm);
			look = isfinite(ms) && above < 100 ? LOOK_WARN : LOOK_CELL;
		}
		put_text(s, AREA(row, col, row, col + 1), LOOK_HEAD, i < 6 ? level[i].name : "Max");
		put_num(s, AREA(row + 1, col, row + 1, col + 1),
			STYLE(look, i == 6   ? NUM_2
				    : i == 5 ? NUM_3
					     : NUM_4),
			ms);
		put_num(s, AREA(row + 2, col, row + 2, col + 1), STYLE(look, NUM_GROUP),
			isfinite(ms) ? (double)above : NAN);
	}
}

static void page_counts(struct clp *c, const struct section *s)
{
	const struct measure *m = c->h->m;
	struct page *p = c->p;
	struct arena *a = &p->s->grid->arena;

	page_begin(p, "Plot",
		   arena_fmt(a, "RT Histogram - CLP - %s, %s, IOPS=%.0f, %.1f MB/s, MRT=%.2f ms",
			     m->access, tcqd_text(a, m->threads, m->qd), m->iops,
			     m->bytes_per_s / 1e6, m->mrt_ns < 0 ? NAN : (double)m->mrt_ns / 1e6));
	page_banner(p, s);
	if (!c->h->hist->n) {
		put_text(p->s, AREA(p->row, 0, p->row, 15), LOOK_NA, "n/a: no I/O was recorded");
		return;
	}
	chart_counts(c, (struct place){ p->row, 0, PAGE_COLS * PAGE_COL_PX, 15 * ROW_PX });
	chart_levels(c, (struct place){ p->row + 15, 0, PAGE_COLS * PAGE_COL_PX, 15 * ROW_PX });
	put_fmt(p->s, AREA(p->row + 30, 0, p->row + 30, 15), LOOK_NOTE,
		"Axis to 1.1 x the %s response time in %u bins; %llu I/Os are slower than it"
		" reaches.",
		c->top, BINS, (unsigned long long)c->beyond);
}

/* What the cell lacks, or that it lacks nothing. */
static const char *missing_text(struct arena *a, const struct measure *m)
{
	const char *overdue = strstr(m->note, " IOs due but not sent"), *list = "";

	if (overdue) {
		const char *from = overdue; /* the number before it */
		while (from > m->note && from[-1] >= '0' && from[-1] <= '9')
			from--;
		list = arena_fmt(a, "; %.*s more were due and not sent by the end",
				 (int)(overdue - from), from);
	}
	if (m->errors)
		list = arena_fmt(a, "%s; %llu more ended in an error", list,
				 (unsigned long long)m->errors);
	if (m->short_ios)
		list = arena_fmt(a, "%s; %llu more moved fewer bytes than asked", list,
				 (unsigned long long)m->short_ios);
	if (m->partial)
		list = arena_fmt(a, "%s; the step was cut short", list);
	return *list ? list : ", none dropped";
}

void clp_pages(struct page *p, const struct section *s, const struct capture_hist *h)
{
	struct arena *a = &p->s->grid->arena;
	struct clp c = { .p = p, .h = h };

	axis_top(&c);
	fill_bins(&c);
	plots_begin(&c.pl, p->s->grid, arena_fmt(a, "%s: RT histogram", p->t->sheet));
	page_counts(&c, s);
	page_begin(p, "Plot",
		   arena_fmt(a, "Exceedance and Confidence Levels - %s, %s", h->m->access,
			     asked_text(a, p->t, h->m)));
	page_banner(p, s);
	if (h->hist->n)
		chart_exceedance(&c,
				 (struct place){ p->row, 0, PAGE_COLS * PAGE_COL_PX, 24 * ROW_PX });
	put_levels(&c, p->row + 25);
	put_fmt(p->s, AREA(p->row + 29, 0, p->row + 30, 15), LOOK_NOTE,
		"%llu I/Os%s. %sPercentiles are nearest rank over all I/Os, within 0.2 "
		"%% of"
		" the value (histogram); n/a where fewer than 1/(1-p) I/Os were made, amber where"
		" fewer than 100 lie above. Minimum and maximum are exact.",
		(unsigned long long)h->hist->n, missing_text(a, h->m),
		h->m->rate_iops > 0 ? "Response times count from when an I/O was due. " : "");
}
