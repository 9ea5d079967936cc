/* SPDX-License-Identifier: MIT */
/* Cross stimulus recovery (spec 12): throughput and response times over all access groups, recovery, zooms. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/panels.h"
#include "reports/states.h"

#define ZOOM_NS 7200e9

static bool applies(const struct dataset *d)
{
	return d->xsr != NULL;
}

struct xsheet {
	struct page page;
	const struct xsr *x;
	struct time_unit time;
	double end_ns;
	struct plots pl;
	uint32_t mean_row; /* of the table of groups */
	unsigned wide; /* columns of a group there */
};

static uint32_t group_color(unsigned i)
{
	static const uint32_t colors[] = { 0x2E75B6, 0xC8553D, 0x00897B, 0x7030A0,
					   0xBF9000, 0x595959, 0xED7D31, 0x70AD47 };

	return colors[i % XSR_GROUPS_MAX];
}

/* "AG1 - SEQ 1024 KiB W" */
static const char *group_name(struct arena *a, const struct xsr_group *g)
{
	char *label = arena_strdup(a, g->label);

	for (char *p = label; *p; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	return *label ? arena_fmt(a, "%s - %s", label, g->title) : g->title;
}

/* "8h", "5s" */
static const char *length_text(struct arena *a, const struct xsr_group *g)
{
	double s = g->step_ns * g->n / 1e9;

	return s >= 3600  ? arena_fmt(a, "%.4g h", s / 3600)
	       : s >= 120 ? arena_fmt(a, "%.4g min", s / 60)
			  : arena_fmt(a, "%.4g s", s);
}

/* ---- curves ---- */

enum what { WHAT_TP, WHAT_ART, WHAT_MRT };

static double step_value(const struct measure *m, enum what what)
{
	static const enum measure_field field[] = { FIELD_MBS, FIELD_ART_MS, FIELD_MRT_MS };

	return measure_value(m, field[what]);
}

struct piece { /* steps of a group to draw, @from_ns: where x is 0 */
	const struct xsr_group *g;
	unsigned first, n;
	enum what what;
	double from_ns;
};

/* @ret_top is raised to the highest value drawn; may be NULL. */
static struct series put_piece(struct xsheet *x, const struct piece *p, double *ret_top)
{
	struct arena *a = &x->page.s->grid->arena;
	unsigned *index = arena_array(a, unsigned, SERIES_POINTS), n;
	double *v = arena_array(a, double, p->n + 1), *time = arena_array(a, double, p->n + 1);
	const struct measure *const *m = p->g->step + p->first;
	double start = (double)x->x->group[0].step[0]->start_ns + p->from_ns;

	for (unsigned i = 0; i < p->n; i++) {
		v[i] = step_value(m[i], p->what);
		time[i] = ((double)(m[i]->start_ns + m[i]->elapsed_ns) - start) / x->time.ns;
		if (ret_top && isfinite(v[i]))
			*ret_top = fmax(*ret_top, v[i]);
	}
	n = series_thin(v, p->n, SERIES_POINTS, index);
	plots_begin(&x->pl, x->page.s->grid, arena_fmt(a, "XSR: %s", group_name(a, p->g)));
	return (struct series){ .name = group_name(a, p->g),
				.x = plots_column(&x->pl, x->time.name,
						  series_pick(a, time, index, n), n),
				.y = plots_column(&x->pl,
						  p->what == WHAT_TP	? "MB/s"
						  : p->what == WHAT_ART ? "ART ms"
									: "MRT ms",
						  series_pick(a, v, index, n), n),
				.color = group_color((unsigned)(p->g - x->x->group)),
				.width = 1.5 };
}

static void tp_chart(struct xsheet *x, struct place at)
{
	struct chart c = chart_new(CHART_SCATTER, x->time.axis, "Throughput (MB/s)");
	struct series series[XSR_GROUPS_MAX];
	double top = 0;

	for (unsigned i = 0; i < x->x->n; i++) {
		struct piece p = { &x->x->group[i], 0, x->x->group[i].n, WHAT_TP, 0 };
		series[i] = put_piece(x, &p, &top);
	}
	axis_time(&c.x, x->end_ns / x->time.ns);
	axis_from_zero(&c.y, &top, 1);
	c.legend = LEGEND_TOP;
	panel_put(&x->page, &c, at, series, x->x->n);
}

static void page_tp(struct xsheet *x)
{
	struct page *p = &x->page;

	page_begin(p, "Plot", "TP v Time - All Access Groups");
	panel_banner(p, x->x->section);
	tp_chart(x, (struct place){ p->row, 0, PAGE_COLS * PAGE_COL_PX, 29 * ROW_PX });
}

static void rt_chart(struct xsheet *x, struct place at)
{
	struct chart c = chart_new(CHART_SCATTER, x->time.axis, "Response time (ms, log scale)");
	struct arena *a = &x->page.s->grid->arena;
	struct series series[2 * XSR_GROUPS_MAX];
	double all[2 * XSR_GROUPS_MAX * 2];
	unsigned n = 0, k = 0;

	for (unsigned i = 0; i < x->x->n; i++) {
		const struct xsr_group *g = &x->x->group[i];
		for (enum what w = WHAT_ART; w <= WHAT_MRT; w++) {
			struct piece p = { g, 0, g->n, w, 0 };
			double low = INFINITY, high = 0;
			for (unsigned s = 0; s < g->n; s++) {
				double v = step_value(g->step[s], w);
				low = fmin(low, isfinite(v) && v > 0 ? v : INFINITY);
				high = fmax(high, isfinite(v) ? v : 0);
			}
			all[k++] = low;
			all[k++] = high;
			series[n] = put_piece(x, &p, NULL);
			series[n].name = arena_fmt(a, "%s, %s", w == WHAT_ART ? "ART" : "MRT",
						   series[n].name);
			series[n].width = w == WHAT_ART ? 2.25 : 1;
			series[n].dash = w == WHAT_ART ? DASH_SOLID : DASH_DOT;
			n++;
		}
	}
	axis_time(&c.x, x->end_ns / x->time.ns);
	axis_decades(&c.y, all, k);
	c.y.fmt = axis_fmt(c.y.min * 10);
	c.legend = LEGEND_TOP;
	panel_put(&x->page, &c, at, series, n);
}

static void page_all(struct xsheet *x)
{
	struct page *p = &x->page;

	page_begin(p, "Plot", "Throughput, ART & MRT v Time");
	panel_banner(p, x->x->section);
	tp_chart(x, panel_place(p, 0));
	rt_chart(x, panel_place(p, 1));
	put_text(p->s, AREA(p->row + 29, 0, p->row + 29, 15), LOOK_NOTE,
		 "Two panels with one time axis. ART: mean of each step, heavy lines; MRT: highest "
		 "of"
		 " each step, dotted.");
}

/* ---- table ---- */

enum group_row { ROW_ACCESS, ROW_TIME, ROW_END, ROW_MEAN, ROW_ART, ROW_MRT, ROWS };

static struct area group_at(const struct xsheet *x, uint32_t row, unsigned i)
{
	uint32_t col = 4 + i * x->wide;

	return AREA(row, col, row, col + x->wide - 1);
}

/* A live formula over the rows behind it where they follow one another, else the number alone. */
static void put_over(struct xsheet *x, struct area at, enum numfmt fmt, double v,
		     const char *formula)
{
	if (formula && isfinite(v))
		put_formula(x->page.s, at, STYLE(LOOK_FORMULA, fmt), v, "%s", formula);
	else
		put_num(x->page.s, at, STYLE(LOOK_CELL, fmt), v);
}

static const char *over(struct xsheet *x, const struct xsr_group *g, const char *fmt,
			enum rounds_col col)
{
	struct grid *grid = x->page.s->grid;
	const char *range = rounds_range(grid, g->step, g->n, col);

	return range ? arena_fmt(&grid->arena, "=%s(%s)%s", fmt, range,
				 col == RC_MBS ? "" : "/1000")
		     : NULL;
}

static void put_group(struct xsheet *x, unsigned i, uint32_t row)
{
	const struct xsr_group *g = &x->x->group[i];
	struct grid_sheet *s = x->page.s;
	struct arena *a = &s->grid->arena;
	double art = g->art_peak_ns / 1e6;

	put_fmt(s, group_at(x, row + ROW_ACCESS, i), LOOK_HEAD, "%s - %s", length_text(a, g),
		group_name(a, g));
	put_fmt(s, group_at(x, row + ROW_TIME, i), LOOK_CENTER,
		"%.5g - %.5g %s, %u steps of %.4g s", g->start_ns / x->time.ns,
		g->end_ns / x->time.ns, x->time.name, g->n, g->step_ns / 1e9);
	put_formula(s, group_at(x, row + ROW_END, i), STYLE(LOOK_FORMULA, NUM_GROUP1),
		    g->end_bps / 1e6, "=%s",
		    grid_data_ref(s->grid, ROUNDS_SHEET, g->step[g->n - 1]->index + 1, RC_MBS));
	put_over(x, group_at(x, row + ROW_MEAN, i), NUM_GROUP1, g->mean_bps / 1e6,
		 over(x, g, "AVERAGE", RC_MBS));
	put_over(x, group_at(x, row + ROW_ART, i), ms_fmt(art), art, over(x, g, "MAX", RC_ART));
	put_over(x, group_at(x, row + ROW_MRT, i), NUM_2,
		 g->mrt_peak_ns < 0 ? NAN : (double)g->mrt_peak_ns / 1e6,
		 over(x, g, "MAX", RC_MRT));
}

static uint32_t put_groups(struct xsheet *x, uint32_t row)
{
	static const char *const keys[ROWS] = {
		"Access group",	  "From - to",	   "TP at end of segment (MB/s)",
		"Mean TP (MB/s)", "ART peak (ms)", "MRT peak (ms)"
	};

	x->wide = 12 / x->x->n;
	x->mean_row = row + ROW_MEAN;
	for (uint32_t i = 0; i < ROWS; i++)
		put_text(x->page.s, AREA(row + i, 0, row + i, 3), i ? LOOK_KEY : LOOK_HEAD,
			 keys[i]);
	for (unsigned i = 0; i < x->x->n; i++)
		put_group(x, i, row);
	return row + ROWS;
}

/* First row of the last group at the level, as minutes; evaluated as an array without an array formula. */
static const char *recovery_formula(struct xsheet *x, const char *level)
{
	struct grid *g = x->page.s->grid;
	const struct xsr_group *last = &x->x->group[x->x->n - 1];
	const char *r = rounds_range(g, last->step, last->n, RC_MBS);

	if (!r)
		return NULL;
	return arena_fmt(&g->arena,
			 "=IF(SUMPRODUCT(--(%s>=%s*(1-1E-9)))=0,\"not yet\",(SUMPRODUCT(MIN(ROW(%s)"
			 "+1E9*(%s<%s*(1-1E-9))))-ROW(%s)+1)*%.15g)",
			 r, level, r, r, level,
			 grid_data_ref(g, ROUNDS_SHEET, last->step[0]->index + 1, RC_MBS),
			 last->step_ns / 60e9);
}

struct recovery {
	const char *rule;
	double level_bps;
	int steps;
	const char *level_formula; /* NULL: none */
};

static void put_recovery(struct xsheet *x, const struct recovery *r, uint32_t row)
{
	struct grid_sheet *s = x->page.s;
	struct area at = AREA(row, 12, row, 15);
	const char *formula = recovery_formula(x, grid_ref(s->grid, AT(row, 10), false));
	double min = xsr_recovery_min(x->x, r->steps);

	put_text(s, AREA(row, 0, row, 9), LOOK_KEY, r->rule);
	put_over(x, AREA(row, 10, row, 11), NUM_GROUP1, r->level_bps / 1e6, r->level_formula);
	if (r->steps < 0)
		put_text(s, at, LOOK_NA, "n/a: no third access group");
	else if (!r->steps && formula)
		put_formula_text(s, at, LOOK_WARN, "not yet", formula);
	else if (!r->steps)
		put_text(s, at, LOOK_WARN, "not yet");
	else
		put_over(x, at, min >= 1 ? NUM_GROUP1 : NUM_4, min, formula);
}

static uint32_t put_recoveries(struct xsheet *x, uint32_t row)
{
	static const struct table_head heads[] = { { 0, 9, "Rule" },
						   { 10, 11, "Level (MB/s)" },
						   { 12, 15, "Recovery (minutes)" } };
	struct arena *a = &x->page.s->grid->arena;
	const struct xsr_group *first = &x->x->group[0];
	const struct xsr *r = x->x;
	const char *range = rounds_range(x->page.s->grid,
					 first->step + (first->n - r->last_hour_steps),
					 r->last_hour_steps, RC_MBS);
	double hour = r->last_hour_steps * first->step_ns;
	const struct recovery rules[] = {
		{ "First minute of the last group at or above the mean TP of the first group",
		  first->mean_bps, r->recovery,
		  arena_fmt(a, "=%s", grid_ref(x->page.s->grid, AT(x->mean_row, 4), false)) },
		{ arena_fmt(a,
			    "First minute at or above 0.9 x the mean of the first group's last %s",
			    hour >= 3590e9 && hour <= 3610e9
				    ? "hour"
				    : arena_fmt(a, "%u steps", r->last_hour_steps)),
		  0.9 * r->last_hour_bps, r->recovery_hour,
		  range ? arena_fmt(a, "=0.9*AVERAGE(%s)", range) : NULL }
	};

	put_heads(&x->page, row++, heads, sizeof heads / sizeof heads[0]);
	for (unsigned i = 0; i < 2; i++)
		put_recovery(x, &rules[i], row++);
	return row;
}

static struct series level_series(struct xsheet *x, const char *name, double mbs, double end)
{
	double t[2] = { 0, end }, v[2] = { mbs, mbs };

	plots_begin(&x->pl, x->page.s->grid, arena_fmt(&x->page.s->grid->arena, "XSR: %s", name));
	return (struct series){ .name = name,
				.x = plots_column(&x->pl, x->time.name, t, 2),
				.y = plots_column(&x->pl, "MB/s", v, 2),
				.color = group_color(0),
				.width = 1.5,
				.dash = DASH_DASH };
}

/* The last group against the levels of the first. */
static void recovery_chart(struct xsheet *x, struct place at)
{
	const struct xsr_group *first = &x->x->group[0], *last = &x->x->group[x->x->n - 1];
	struct arena *a = &x->page.s->grid->arena;
	struct piece p = { last, 0, last->n, WHAT_TP, last->start_ns };
	double end = (last->end_ns - last->start_ns) / x->time.ns, top = first->mean_bps / 1e6;
	struct series series[3];
	struct chart c = chart_new(CHART_SCATTER,
				   arena_fmt(a, "%s since the last group began", x->time.axis),
				   "Throughput (MB/s)");

	series[0] = put_piece(x, &p, &top);
	series[1] = level_series(x, "Mean of the first group", first->mean_bps / 1e6, end);
	series[2] = level_series(x, "0.9 x its last hour", 0.9 * x->x->last_hour_bps / 1e6, end);
	series[2].dash = DASH_DOT;
	axis_time(&c.x, end);
	axis_from_zero(&c.y, &top, 1);
	c.legend = LEGEND_TOP;
	panel_put(&x->page, &c, at, series, 3);
}

static void page_table(struct xsheet *x)
{
	struct page *p = &x->page;

	page_begin(p, "Table", "Throughput, ART, MRT of the Access Groups - Recovery");
	panel_banner(p, x->x->section);
	uint32_t row = put_groups(x, p->row) + 1;
	row = put_recoveries(x, row) + 1;
	if (x->x->n >= 3)
		recovery_chart(x, (struct place){ row, 0, PAGE_COLS * PAGE_COL_PX, 15 * ROW_PX });
	put_text(
		p->s, AREA(row + 16, 0, row + 17, 15), LOOK_NOTE,
		"There is no steady-state criterion. Recovery counts from the beginning of the last"
		" group to the end of the step named by the rule; \"not yet\" where none came so"
		" high. Peaks: highest step mean (ART), highest I/O (MRT).");
}

/* ---- zooms ---- */

/* Steps of two hours, of a quarter of the group when it is shorter. */
static unsigned zoom_steps(const struct xsr_group *g)
{
	double n = ZOOM_NS / g->step_ns + 0.5;

	return n <= g->n ? (unsigned)n : (g->n + 3) / 4;
}

static void zoom_chart(struct xsheet *x, unsigned i, struct place at)
{
	const struct xsr_group *before = &x->x->group[i], *after = before + 1;
	struct arena *a = &x->page.s->grid->arena;
	unsigned n = zoom_steps(before), k = zoom_steps(after);
	struct piece left = { before, before->n - n, n, WHAT_TP, after->start_ns };
	struct piece right = { after, 0, k, WHAT_TP, after->start_ns };
	struct series series[2];
	double top = 0, from = n * before->step_ns / x->time.ns,
	       to = k * after->step_ns / x->time.ns;
	struct chart c = chart_new(CHART_SCATTER,
				   arena_fmt(a, "%s before and after the change", x->time.axis),
				   "Throughput (MB/s)");

	series[0] = put_piece(x, &left, &top);
	series[1] = put_piece(x, &right, &top);
	series[0].markers = series[1].markers = n + k <= 60;
	axis_time(&c.x, fmax(from, to));
	c.x.min = -c.x.max;
	axis_from_zero(&c.y, &top, 1);
	c.legend = LEGEND_TOP;
	panel_put(&x->page, &c, at, series, 2);
}

static void pages_zoom(struct xsheet *x)
{
	for (unsigned i = 0; i + 1 < x->x->n; i++) {
		struct page *p = &x->page;
		if (i % 2 == 0) {
			page_begin(p, "Plot",
				   x->x->n > 2
					   ? arena_fmt(&p->s->grid->arena,
						       "TP v Time - Zoom Groups %u & %u, %u & %u",
						       i + 1, i + 2, i + 2, i + 3)
					   : "TP v Time - Zoom Groups 1 & 2");
			panel_banner(p, x->x->section);
		}
		zoom_chart(x, i, panel_place(p, i % 2));
	}
}

/* ---- header ---- */

static void set_header(const struct xsr *x, struct header *h, struct arena *a)
{
	unsigned steps = 0;

	h->subject = "Cross Stimulus Recovery";
	h->setup[3].value = "none";
	h->test[0].value = "RND";
	for (unsigned i = 0; i < 3; i++) {
		const struct xsr_group *g = i < x->n ? &x->group[i] : NULL;
		h->test[1 + 2 * i] = (struct pair){
			arena_fmt(a, "Stimulus %u", i + 1),
			g ? arena_fmt(a, "%s, %s", g->title, length_text(a, g)) : "not run"
		};
		h->test[2 + 2 * i] = (struct pair){
			"  TOIO - TC/QD",
			g ? arena_fmt(a, "TC %d / QD %d", g->step[0]->threads, g->step[0]->qd) : "-"
		};
	}
	for (unsigned i = 0; i < x->n; i++)
		steps += x->group[i].n;
	h->test[7] = (struct pair){
		"Steps", x->n ? arena_fmt(a, "%u of %.4g s", steps, x->group[0].step_ns / 1e9) : "0"
	};
}

static void build(const struct dataset *d, struct grid *g)
{
	struct xsheet x = { .x = d->xsr };
	struct header h;

	header_fill(&h, d, x.x->test, &g->arena);
	set_header(x.x, &h, &g->arena);
	page_open(&x.page, g, d, x.x->test, &h);
	if (x.x->n) {
		x.end_ns = x.x->group[x.x->n - 1].end_ns;
		x.time = time_unit_of(x.end_ns);
		page_tp(&x);
		page_all(&x);
		page_table(&x);
		pages_zoom(&x);
	} else {
		page_begin(&x.page, "Plot", "TP v Time - All Access Groups");
		panel_banner(&x.page, x.x->section);
		put_text(x.page.s, AREA(x.page.row, 0, x.page.row, 15), LOOK_NA,
			 "nothing was measured: no whole step of a stimulus");
	}
	page_close(&x.page);
}

const struct sheet sheet_xsr = { 150, applies, build };
