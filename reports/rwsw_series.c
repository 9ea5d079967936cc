/* SPDX-License-Identifier: MIT */
/* Steps of replays over time: IOPS, MB/s, response times, queue depth; the numbers of each step by stream. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/panels.h"
#include "reports/rwsw_replay.h"
#include "reports/series.h"

#define FULL_PX (PAGE_COLS * PAGE_COL_PX)
#define STREAMS_SHEET "D_streams"
#define OVERLAY_POINTS 600 /* of each scale */

static double ms_of(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns / 1e6;
}

enum field { F_IOPS, F_MBS, F_ART, F_P999, F_P99999, F_MRT, F_ASKED, F_HAD };

/* Of a step; an idle one has rates of 0 and nothing else. */
static double value_of(const struct measure *m, enum field f)
{
	bool idle = !m->ios && m->oio <= 0;

	switch (f) {
	case F_IOPS:
		return idle ? 0 : m->iops;
	case F_MBS:
		return idle ? 0 : m->bytes_per_s / 1e6;
	case F_ART:
		return m->ios ? m->art_ns / 1e6 : NAN;
	case F_P999:
		return ms_of(m->p999_ns);
	case F_P99999:
		return ms_of(m->p99999_ns);
	case F_MRT:
		return m->ios ? ms_of(m->mrt_ns) : NAN;
	case F_ASKED:
		return idle ? 0 : m->oio;
	case F_HAD:
		return idle ? 0 : m->inflight_avg;
	}
	return NAN;
}

/* Values of some fields of the steps, thinned by the first of them. */
struct lines {
	unsigned n, points;
	double *x, *y[4];
};

static struct lines take(struct arena *a, const struct replay_scale *s, const enum field *f,
			 unsigned n, unsigned max)
{
	struct lines l = { .n = n };
	double *all = arena_array(a, double, s->n + 1);
	unsigned *index = arena_array(a, unsigned, max);

	for (unsigned i = 0; i < s->n; i++)
		all[i] = value_of(s->step[i], f[0]);
	l.points = series_thin(all, s->n, max, index);
	l.x = arena_array(a, double, l.points + 1);
	for (unsigned i = 0; i < l.points; i++) {
		const struct measure *m = s->step[index[i]];
		l.x[i] = (double)(m->start_ns + m->elapsed_ns - s->step[0]->start_ns);
	}
	for (unsigned k = 0; k < n; k++) {
		l.y[k] = arena_array(a, double, l.points + 1);
		for (unsigned i = 0; i < l.points; i++)
			l.y[k][i] = value_of(s->step[index[i]], f[k]);
	}
	return l;
}

static double whole_ns(const struct replay_scale *s)
{
	const struct measure *last = s->n ? s->step[s->n - 1] : NULL;

	return last ? (double)(last->start_ns + last->elapsed_ns - s->step[0]->start_ns) : 0;
}

static struct range time_column(struct replay_build *x, const struct lines *l,
				const struct time_unit *u)
{
	double *t = arena_array(x->a, double, l->points + 1);

	for (unsigned i = 0; i < l->points; i++)
		t[i] = l->x[i] / u->ns;
	return plots_column(&x->pl, u->name, t, l->points);
}

/* One quarter. */
struct panel {
	const char *title;
	bool log;
	unsigned n;
	enum field field[4];
	const char *name[4];
	uint32_t color[4];
};

static const struct panel panels[] = {
	{ "IOPS", false, 1, { F_IOPS }, { "IOPS" }, { 0x2E75B6 } },
	{ "Response time (ms, log scale)",
	  true,
	  4,
	  { F_MRT, F_P99999, F_P999, F_ART },
	  { "Maximum", "99.999 %", "99.9 %", "ART" },
	  { 0x7F7F7F, 0xC00000, 0xED7D31, 0x2E75B6 } },
	{ "MB/s", false, 1, { F_MBS }, { "MB/s" }, { 0x548235 } },
	{ "OIO", false, 2, { F_HAD, F_ASKED }, { "achieved", "asked" }, { 0xED7D31, 0x000000 } },
};

static void put_panel(struct replay_build *x, const struct replay_scale *s, const struct panel *k,
		      struct place at)
{
	struct time_unit u = time_unit_of(whole_ns(s));
	struct lines l = take(x->a, s, k->field, k->n, SERIES_POINTS);
	struct chart c = chart_new(CHART_SCATTER, u.axis, NULL);
	struct range t = time_column(x, &l, &u);
	struct series series[4];
	double *all = arena_array(x->a, double, 4 * l.points + 1);

	for (unsigned i = 0; i < k->n; i++) {
		memcpy(all + i * l.points, l.y[i], l.points * sizeof *all);
		series[i] = (struct series){ .name = k->name[i],
					     .x = t,
					     .y = plots_column(&x->pl, k->name[i], l.y[i],
							       l.points),
					     .color = k->color[i],
					     .width = k->field[0] != F_HAD ? 1.5
						      : i		   ? 0.75
									   : 2.5,
					     .markers = l.points <= 40 };
	}
	c.title = k->title;
	axis_time(&c.x, whole_ns(s) / u.ns);
	if (k->log)
		axis_decades(&c.y, all, k->n * l.points);
	else if (k->field[0] == F_HAD)
		rwsw_axis_depth(&c.y, all, k->n * l.points);
	else
		axis_from_zero(&c.y, all, k->n * l.points);
	if (k->log)
		c.y.fmt = NUM_GENERAL;
	c.legend = k->n > 1 ? LEGEND_TOP : LEGEND_NONE;
	panel_put(&x->page, &c, at, series, k->n);
}

void replay_panels(struct replay_build *x, const struct replay_scale *s, struct place at)
{
	uint32_t wide = at.width_px / 2, rows = at.height_px / ROW_PX / 2;

	plots_begin(&x->pl, x->page.s->grid,
		    arena_fmt(x->a, "%s: steps of the replay at %s%s", x->page.t->sheet, s->name,
			      s->n > SERIES_POINTS ? " (THINNED: first, last, lowest and highest of"
						     " each span)"
						   : ""));
	for (unsigned i = 0; i < 4; i++)
		put_panel(x, s, &panels[i],
			  (struct place){ at.row + i / 2 * rows, at.col + i % 2 * PAGE_COLS / 2,
					  i % 2 ? wide : wide - 4, rows * ROW_PX });
}

void replay_page_series(struct replay_build *x, const struct replay_scale *s)
{
	struct page *p = &x->page;

	page_begin(p, "Plot",
		   arena_fmt(x->a,
			     "Replay at %s: IOPS, MB/s, Response Times and OIO v time (%u steps)",
			     s->name, s->n));
	page_banner(p, x->section);
	replay_panels(x, s, (struct place){ p->row, 0, FULL_PX, 30 * ROW_PX });
}

/* ---- all scales over one another ---- */

static void overlay_chart(struct replay_build *x, enum field f, struct place at)
{
	const struct replay *r = x->r;
	unsigned n = r->n < 10 ? r->n : 10;
	struct time_unit u = time_unit_of(whole_ns(&r->scale[0]));
	struct chart c = chart_new(CHART_SCATTER, u.axis,
				   f == F_IOPS ? "IOPS" : "ART (ms, log scale)");
	struct series series[10];
	double *all = arena_array(x->a, double, (size_t)n *OVERLAY_POINTS + 1), end = 0;
	unsigned points = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct replay_scale *s = &r->scale[i];
		struct lines l = take(x->a, s, &f, 1, OVERLAY_POINTS);
		struct range t = time_column(x, &l, &u);
		memcpy(all + points, l.y[0], l.points * sizeof *all);
		points += l.points;
		end = fmax(end, whole_ns(s) / u.ns);
		series[i] = (struct series){ .name = s->name,
					     .x = t,
					     .y = plots_column(&x->pl, s->name, l.y[0], l.points),
					     .color = series_color(i),
					     .width = 1.5,
					     .markers = l.points <= 40 };
	}
	axis_time(&c.x, end);
	if (f == F_IOPS)
		axis_from_zero(&c.y, all, points);
	else
		axis_decades(&c.y, all, points);
	c.y.fmt = f == F_IOPS ? axis_fmt(c.y.max) : NUM_GENERAL;
	c.legend = LEGEND_TOP;
	panel_put(&x->page, &c, at, series, n);
}

void replay_page_overlay(struct replay_build *x)
{
	struct page *p = &x->page;

	page_begin(p, "Plot",
		   "IOPS and ART v time, all scales (time since the start of each replay)");
	page_banner(p, x->section);
	plots_begin(&x->pl, p->s->grid,
		    arena_fmt(x->a, "%s: all scales over one another, at most %d points each",
			      p->t->sheet, OVERLAY_POINTS));
	overlay_chart(x, F_IOPS, (struct place){ p->row, 0, FULL_PX, 15 * ROW_PX });
	overlay_chart(x, F_ART, (struct place){ p->row + 15, 0, FULL_PX, 15 * ROW_PX });
}

/* ---- the numbers ---- */

static const char *const step_heads[] = { "cell_id", "test",	  "scale",     "step", "start s",
					  "seconds", "OIO asked", "in flight", "I/Os" };
#define STEP_COLS (sizeof step_heads / sizeof step_heads[0])

static struct grid_sheet *data_sheet(struct replay_build *x)
{
	struct grid *g = x->page.s->grid;
	struct grid_sheet *s = grid_find(g, STREAMS_SHEET);

	if (s)
		return s;
	s = grid_sheet(g, STREAMS_SHEET, ROLE_DATA);
	s->color = 0x7F7F7F;
	s->freeze_rows = 1;
	s->repeat_rows = 1;
	s->filter_cols = (uint32_t)STEP_COLS + x->w->n_streams + 1;
	grid_col_width(s, 0, s->filter_cols - 1, 76);
	for (uint32_t i = 0; i < STEP_COLS; i++)
		put_text(s, AT(0, i), LOOK_HEAD, step_heads[i]);
	for (uint32_t k = 0; k <= x->w->n_streams; k++)
		put_fmt(s, AT(0, STEP_COLS + k), LOOK_HEAD, "%s",
			k < x->w->n_streams ? x->w->stream[k].name : "other");
	return s;
}

static void put_row(struct replay_build *x, struct grid_sheet *g, const struct replay_scale *s,
		    unsigned i)
{
	const struct measure *m = s->step[i];
	uint32_t row = g->n_rows;
	const uint64_t *of = s->of + i * (x->w->n_streams + 1);

	put_int(g, AT(row, 0), LOOK_CELL, m->cell_id);
	put_text(g, AT(row, 1), LOOK_CENTER, m->test);
	put_num(g, AT(row, 2), STYLE(LOOK_CELL, NUM_GENERAL), s->scale);
	put_int(g, AT(row, 3), LOOK_CELL, i + 1);
	put_num(g, AT(row, 4), STYLE(LOOK_CELL, NUM_3),
		(double)(m->start_ns - s->step[0]->start_ns) / 1e9);
	put_num(g, AT(row, 5), STYLE(LOOK_CELL, NUM_3), (double)m->elapsed_ns / 1e9);
	put_int(g, AT(row, 6), LOOK_CELL, m->oio > 0 ? m->oio : 0);
	put_num(g, AT(row, 7), STYLE(LOOK_CELL, NUM_2), m->inflight_avg);
	put_int(g, AT(row, 8), LOOK_CELL, (int64_t)m->ios);
	for (uint32_t k = 0; k <= x->w->n_streams; k++)
		put_int(g, AT(row, STEP_COLS + k), LOOK_CELL, (int64_t)of[k]);
}

void replay_data(struct replay_build *x)
{
	struct grid_sheet *g = data_sheet(x);

	for (unsigned i = 0; i < x->r->n; i++)
		for (unsigned k = 0; k < x->r->scale[i].n; k++)
			put_row(x, g, &x->r->scale[i], k);
}
