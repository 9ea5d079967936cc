/* SPDX-License-Identifier: MIT */
/* Write saturation (spec 10): IOPS v time, v TGBW, v drive fills; states; consistency; window; histogram. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pts/base/units.h"
#include "reports/clp.h"
#include "reports/panels.h"
#include "reports/rwsw.h"
#include "reports/states.h"

static bool applies(const struct dataset *d)
{
	return d->wsat != NULL;
}

/* The x axes of this test. */
enum over { OVER_TIME, OVER_GB, OVER_FILLS, OVERS };

struct xs {
	struct range at[OVERS];
};

struct wsheet {
	struct page page;
	const struct dataset *d;
	const struct wsat *w;
	const char *access, *depth; /* "RND 4 KiB W", "T4Q32" */
	struct time_unit time;
	double end[OVERS]; /* where each axis ends */
	struct plots pl;
	struct xs curve, sample, state[WSAT_PERIODS];
	struct range curve_iops, sample_iops, average[WSAT_PERIODS];
	double *iops; /* of the curve as drawn */
	unsigned n;
	const char *thinned; /* what the curve shows */
	uint32_t fob_row, last_row; /* of the table of states */
};

static double state_ms(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns / 1e6;
}

static bool has_state(const struct wsheet *x, enum wsat_period i)
{
	return x->w->state[i].n > 0;
}

/* ---- the numbers that the charts draw ---- */

static struct xs put_xs(struct wsheet *x, const double *ns, const double *bytes, unsigned n)
{
	struct arena *a = &x->page.s->grid->arena;
	double *time = arena_array(a, double, n + 1), *gb = arena_array(a, double, n + 1);
	double *fills = arena_array(a, double, n + 1);
	struct xs r;

	for (unsigned i = 0; i < n; i++) {
		time[i] = ns[i] / x->time.ns;
		gb[i] = bytes[i] / 1e9;
		fills[i] = bytes[i] / (double)x->d->capacity_bytes;
	}
	r.at[OVER_TIME] = plots_column(&x->pl, x->time.name, time, n);
	r.at[OVER_GB] = plots_column(&x->pl, "written GB", gb, n);
	r.at[OVER_FILLS] = plots_column(&x->pl, "drive fills", fills, n);
	return r;
}

static void put_curve(struct wsheet *x)
{
	const struct curve *c = &x->w->curve;
	struct arena *a = &x->page.s->grid->arena;
	unsigned *index = arena_array(a, unsigned, SERIES_POINTS);
	const char *what = c->n_seconds ? "one-second" : "measured";

	x->n = series_thin(c->iops, c->n, SERIES_POINTS, index);
	x->iops = series_pick(a, c->iops, index, x->n);
	x->thinned = x->n == c->n
			     ? arena_fmt(a, "All %u %s values are drawn.", c->n, what)
			     : arena_fmt(a,
					 "THINNED: of %u %s values %u are drawn - the first, the"
					 " last, the lowest and the highest of each of %u spans.",
					 c->n, what, x->n, SERIES_POINTS / 4);
	plots_begin(&x->pl, x->page.s->grid,
		    arena_fmt(a, "%s: IOPS of the loop. %s", x->w->test->sheet, x->thinned));
	x->curve = put_xs(x, series_pick(a, c->end_ns, index, x->n),
			  series_pick(a, c->written_bytes, index, x->n), x->n);
	x->curve_iops = plots_column(&x->pl, "IOPS", x->iops, x->n);
}

/* The average of each state across it. */
static void put_averages(struct wsheet *x)
{
	for (unsigned i = 0; i < WSAT_PERIODS; i++) {
		const struct wsat_state *s = &x->w->state[i];
		if (!s->n)
			continue;
		x->state[i] = put_xs(x, (double[]){ s->from_ns, s->to_ns },
				     (double[]){ s->from_bytes, s->to_bytes }, 2);
		x->average[i] = plots_column(&x->pl, s->name, (double[]){ s->iops, s->iops }, 2);
	}
}

/* The one-minute samples. */
static void put_samples(struct wsheet *x)
{
	const struct combo *c = x->w->section->n_combos ? &x->w->section->combo[0] : NULL;
	unsigned room = c ? c->n_rounds : 0, n = 0;
	struct arena *a = &x->page.s->grid->arena;
	double *ns = arena_array(a, double, room + 1), *bytes = arena_array(a, double, room + 1);
	double *iops = arena_array(a, double, room + 1);

	for (unsigned i = 0; i < room; i++) {
		const struct measure *m = c->round[i];
		if (!m)
			continue;
		ns[n] = (double)(m->start_ns + m->elapsed_ns - x->w->minute[0]->start_ns);
		bytes[n] = (double)m->host_bytes_written;
		iops[n++] = m->iops;
	}
	plots_begin(&x->pl, x->page.s->grid,
		    arena_fmt(a, "%s: samples of the rounds; averages of the states",
			      x->w->test->sheet));
	x->sample = put_xs(x, ns, bytes, n);
	x->sample_iops = plots_column(&x->pl, "IOPS", iops, n);
	put_averages(x);
}

/* ---- IOPS over one of the axes ---- */

static const char *average_name(const struct wsheet *x, enum wsat_period i)
{
	static const char *const name[] = { "FOB average", "Transition average",
					    "Steady state average" };

	if (i == WSAT_LAST && x->w->section->steady != 1)
		return "Last rounds, NOT STEADY";
	return name[i];
}

static unsigned curve_series(const struct wsheet *x, enum over over, struct series *out)
{
	static const uint32_t color[WSAT_PERIODS] = { 0x548235, 0xBF9000, 0x000000 };
	unsigned n = 1;

	out[0] = (struct series){ .name = x->w->curve.n_seconds ? "IOPS, each second"
								: "IOPS, each step",
				  .x = x->curve.at[over],
				  .y = x->curve_iops,
				  .color = 0x2E75B6,
				  .width = 1 };
	for (unsigned i = 0; i < WSAT_PERIODS; i++) {
		bool unsteady = i == WSAT_LAST && x->w->section->steady != 1;
		if (x->average[i].sheet)
			out[n++] = (struct series){ .name = average_name(x, (enum wsat_period)i),
						    .x = x->state[i].at[over],
						    .y = x->average[i],
						    .color = unsteady ? 0xC00000 : color[i],
						    .width = 1.75,
						    .dash = unsteady ? DASH_DASH : DASH_SOLID };
	}
	if (x->sample_iops.sheet)
		out[n++] = (struct series){ .name = "Sample of each round",
					    .x = x->sample.at[over],
					    .y = x->sample_iops,
					    .color = 0xED7D31,
					    .markers = true };
	return n;
}

static void set_over(const struct wsheet *x, struct chart *c, enum over over)
{
	if (over == OVER_TIME)
		axis_time(&c->x, x->end[over]);
	else if (over == OVER_FILLS)
		axis_fills(&c->x, x->end[over]);
	else
		axis_round(&c->x, 0, x->end[over]);
	if (over == OVER_GB)
		c->x.fmt = axis_fmt(c->x.max);
	c->x.grid = true;
}

static const char *over_title(const struct wsheet *x, enum over over)
{
	return over == OVER_TIME ? x->time.axis
	       : over == OVER_GB ? "TGBW (GB written since the purge)"
				 : "Drive fills (TGBW / user capacity)";
}

struct iops_plot {
	enum over over;
	bool log;
	const char *title;
};

static void iops_chart(struct wsheet *x, const struct iops_plot *o, struct place at)
{
	struct chart c = chart_new(CHART_SCATTER, over_title(x, o->over),
				   o->log ? "IOPS (log scale)" : "IOPS");
	struct series series[2 + WSAT_PERIODS];
	unsigned n = curve_series(x, o->over, series);

	set_over(x, &c, o->over);
	c.title = o->title;
	if (o->log)
		axis_decades(&c.y, x->iops, x->n);
	else
		axis_from_zero(&c.y, x->iops, x->n);
	c.y.fmt = axis_fmt(c.y.max);
	c.legend = o->title ? LEGEND_NONE : LEGEND_TOP;
	panel_put(&x->page, &c, at, series, n);
}

/* ---- first page: both plots, states, consistency ---- */

static void put_rate(struct wsheet *x, const struct wsat_state *s, uint32_t row)
{
	struct grid_sheet *g = x->page.s;
	struct area at = AREA(row, 8, row, 9);
	bool last = s == &x->w->state[WSAT_LAST];
	const struct measure *const *m = last ? x->w->sample : x->w->minute + s->first;
	enum look look = last ? result_look(x->w->section, LOOK_FORMULA) : LOOK_FORMULA;
	const char *ios = last ? NULL : rounds_range(g->grid, m, s->n, RC_IOS);
	const char *seconds = last ? NULL : rounds_range(g->grid, m, s->n, RC_SECONDS);

	if (last)
		put_formula(g, at, STYLE(look, NUM_GROUP1), s->iops, "=AVERAGE(%s)",
			    rounds_list(g->grid, m, x->w->n_samples, RC_IOPS));
	else if (ios && seconds)
		put_formula(g, at, STYLE(look, NUM_GROUP1), s->iops, "=SUM(%s)/SUM(%s)", ios,
			    seconds);
	else
		put_num(g, at, STYLE(LOOK_CELL, NUM_GROUP1), s->iops);
}

static const char *state_name(struct wsheet *x, const struct wsat_state *s)
{
	struct arena *a = &x->page.s->grid->arena;
	const struct wsat *w = x->w;

	if (s != &w->state[WSAT_LAST] || !w->n_samples)
		return s->name;
	return arena_fmt(a, "%s R %d-%d", s->name, w->sample[0]->round,
			 w->sample[w->n_samples - 1]->round);
}

static void put_state(struct wsheet *x, enum wsat_period i, uint32_t row)
{
	static const char *const none[] = { "no whole minute was measured",
					    "none: IOPS did not fall before the window",
					    "no round was completed" };
	const struct wsat_state *s = &x->w->state[i];
	struct grid_sheet *g = x->page.s;
	enum look look = i == WSAT_LAST ? result_look(x->w->section, LOOK_CELL) : LOOK_CELL;
	double capacity = (double)x->d->capacity_bytes;

	put_text(g, AREA(row, 0, row, 1), LOOK_ROW_HEAD, state_name(x, s));
	if (!s->n) {
		put_text(g, AREA(row, 2, row, 15), LOOK_NA,
			 x->w->n_minutes ? none[i] : none[WSAT_FOB]);
		return;
	}
	put_fmt(g, AREA(row, 2, row, 3), LOOK_CENTER, "%.4g - %.4g", s->from_ns / x->time.ns,
		s->to_ns / x->time.ns);
	put_fmt(g, AREA(row, 4, row, 5), LOOK_CENTER,
		capacity > 1e3 * s->to_bytes ? "%.2g - %.2g" : "%.2f - %.2f",
		s->from_bytes / capacity, s->to_bytes / capacity);
	put_num(g, AREA(row, 6, row, 7), STYLE(LOOK_CELL, NUM_GROUP1), s->to_bytes / 1e9);
	put_rate(x, s, row);
	put_num(g, AREA(row, 10, row, 11), STYLE(look, NUM_GROUP1), s->bytes_per_s / 1e6);
	put_num(g, AT(row, 12), STYLE(look, ms_fmt(s->art_ns / 1e6)), s->art_ns / 1e6);
	put_num(g, AREA(row, 13, row, 14),
		STYLE(s->p99999_ns >= 0 && s->above < 100 ? LOOK_WARN : look, NUM_3),
		state_ms(s->p99999_ns));
	put_num(g, AT(row, 15), STYLE(look, NUM_2), state_ms(s->mrt_ns));
}

static uint32_t put_states(struct wsheet *x, uint32_t row)
{
	struct arena *a = &x->page.s->grid->arena;
	const struct table_head heads[] = {
		{ 0, 1, "State" },	 { 2, 3, arena_fmt(a, "From - to (%s)", x->time.name) },
		{ 4, 5, "Drive fills" }, { 6, 7, "TGBW at its end (GB)" },
		{ 8, 9, "IOPS" },	 { 10, 11, "MB/s" },
		{ 12, 12, "ART (ms)" },	 { 13, 14, "99.999 % (ms)" },
		{ 15, 15, "MRT (ms)" }
	};

	put_heads(&x->page, row++, heads, sizeof heads / sizeof heads[0]);
	x->fob_row = row + WSAT_FOB;
	x->last_row = row + WSAT_LAST;
	for (unsigned i = 0; i < WSAT_PERIODS; i++)
		put_state(x, (enum wsat_period)i, row++);
	return row;
}

/* Value cells of the consistency table, two columns each. */
static struct area column_at(uint32_t row, unsigned i)
{
	return AREA(row, 2 * i, row, 2 * i + 1);
}

static void put_excursions(struct wsheet *x, uint32_t row, const char *average)
{
	struct grid *g = x->page.s->grid;
	const struct wsat *w = x->w;
	enum look look = result_look(w->section, LOOK_FORMULA);
	const char *all = rounds_list(g, w->sample, w->n_samples, RC_IOPS), *y[WINDOW_ROUNDS];

	for (unsigned i = 0; i < w->n_samples; i++)
		y[i] = rounds_list(g, w->sample + i, 1, RC_IOPS);
	if (w->n_samples < WINDOW_ROUNDS) {
		put_text(x->page.s, column_at(row, 6), LOOK_NA, "n/a");
		put_text(x->page.s, column_at(row, 7), LOOK_NA, "n/a");
		return;
	}
	put_formula(x->page.s, column_at(row, 6), STYLE(look, NUM_PCT2), w->data_excursion,
		    "=(MAX(%s)-MIN(%s))/%s", all, all, average);
	put_formula(x->page.s, column_at(row, 7), STYLE(look, NUM_PCT2), w->slope_excursion,
		    "=ABS(2*%s+%s-%s-2*%s)/10*4/%s", y[4], y[3], y[1], y[0], average);
}

static void put_ratios(struct wsheet *x, uint32_t row, const char *average)
{
	struct grid_sheet *s = x->page.s;
	const struct wsat *w = x->w;
	enum look look = result_look(w->section, LOOK_FORMULA);
	double mean = w->state[WSAT_LAST].iops;
	const char *worst = grid_ref(s->grid, AT(row, 6), false);
	const char *fob = grid_ref(s->grid, AT(x->fob_row, 8), false);

	put_num(s, column_at(row, 3), STYLE(result_look(w->section, LOOK_CELL), NUM_GROUP1),
		w->worst_iops);
	put_formula(s, column_at(row, 4), STYLE(look, NUM_PCT1), w->worst_iops / mean, "=%s/%s",
		    worst, average);
	put_formula(s, column_at(row, 5), STYLE(look, NUM_2),
		    has_state(x, WSAT_FOB) ? w->state[WSAT_FOB].iops / mean : NAN, "=%s/%s", fob,
		    average);
}

static void put_consistency(struct wsheet *x, uint32_t row)
{
	static const char *const heads[] = { "Average IOPS",
					     "Std deviation",
					     "CV",
					     "Worst 1-s IOPS",
					     "Worst / average",
					     "FOB / steady",
					     "Data excursion (<= 20 %)",
					     "Slope excursion (<= 10 %)" };
	struct grid_sheet *s = x->page.s;
	const struct wsat *w = x->w;
	enum look look = result_look(w->section, LOOK_FORMULA);

	put_fmt(s, AREA(row, 0, row, 15), LOOK_HEAD_SETUP, "Consistency of the samples of the %s%s",
		w->section->steady == 1 ? "measurement window" : "last rounds",
		w->section->steady == 1 ? "" : " - NOT STEADY, for information only");
	for (unsigned i = 0; i < 8; i++)
		put_text(s, column_at(row + 1, i), LOOK_HEAD, heads[i]);
	row += 2;
	if (!w->n_samples) {
		put_text(s, AREA(row, 0, row, 15), LOOK_NA, "no round was completed");
		return;
	}
	const char *all = rounds_list(s->grid, w->sample, w->n_samples, RC_IOPS);
	const char *average = grid_ref(s->grid, AT(row, 0), false);
	double mean = w->state[WSAT_LAST].iops;
	put_formula(s, column_at(row, 0), STYLE(look, NUM_GROUP1), mean, "=%s",
		    grid_ref(s->grid, AT(x->last_row, 8), false));
	put_formula(s, column_at(row, 1), STYLE(look, NUM_GROUP1), w->deviation_iops, "=STDEV(%s)",
		    all);
	put_formula(s, column_at(row, 2), STYLE(look, NUM_PCT2), w->deviation_iops / mean,
		    "=STDEV(%s)/%s", all, average);
	put_ratios(x, row, average);
	put_excursions(x, row, average);
}

static const char *stop_text(struct wsheet *x)
{
	struct arena *a = &x->page.s->grid->arena;
	const struct wsat *w = x->w;

	if (!w->test->finished)
		return "not finished";
	return arena_fmt(a, "%s after %.4g %s, %.2f drive fills, %d rounds", ended_text(w->section),
			 x->end[OVER_TIME], x->time.name, x->end[OVER_FILLS], w->section->rounds);
}

static void page_glance(struct wsheet *x)
{
	struct page *p = &x->page;
	const struct iops_plot time = { OVER_TIME, false, "IOPS v time" };
	const struct iops_plot fills = { OVER_FILLS, false, "IOPS v drive fills" };
	const uint32_t wide = PAGE_COLS / 2 * PAGE_COL_PX, high = 15 * ROW_PX;

	page_begin(p, "Plot",
		   arena_fmt(&p->s->grid->arena,
			     "IOPS v Time and v Drive Fills (TGBW / user capacity) - %s, %s",
			     x->access, x->depth));
	panel_banner(p, x->w->section);
	iops_chart(x, &time, (struct place){ p->row, 0, wide - 4, high });
	iops_chart(x, &fills, (struct place){ p->row, 8, wide, high });
	uint32_t row = put_states(x, p->row + 16) + 1;
	put_consistency(x, row);
	put_text(p->s, AREA(row + 4, 0, row + 4, 1), LOOK_KEY, "Loop ended by");
	put_text(p->s, AREA(row + 4, 2, row + 4, 15), LOOK_VALUE, stop_text(x));
	put_text(p->s, AREA(row + 5, 0, row + 7, 15), LOOK_NOTE,
		 arena_fmt(
			 &p->s->grid->arena,
			 "Plots: blue the loop, flat lines the average of each state, dots the"
			 " sample of each round. FOB (fresh out of box): until two minutes in a "
			 "row are below 90 %% of"
			 " the highest of the first five. Steady state: the 1-min samples of the"
			 " window's five rounds, as the PTS reports it (last rounds where there is"
			 " no window). Transition: between. Worst 1-s: the lowest whole second from"
			 " the first to the last of those samples. %s",
			 x->thinned));
}

/* ---- further pages ---- */

static void page_over(struct wsheet *x, enum over over, const char *title)
{
	struct page *p = &x->page;
	const struct iops_plot linear = { .over = over }, log = { .over = over, .log = true };

	page_begin(p, "Plot",
		   arena_fmt(&p->s->grid->arena, "%s - %s, %s", title, x->access, x->depth));
	panel_banner(p, x->w->section);
	iops_chart(x, &linear, panel_place(p, 0));
	iops_chart(x, &log, panel_place(p, 1));
	put_text(p->s, AREA(p->row + 29, 0, p->row + 29, 15), LOOK_NOTE, x->thinned);
}

/* ART, 99.999 % and maximum of each step, log scale, below the IOPS. */
static void rt_chart(struct wsheet *x, struct place at)
{
	static const char *const name[] = { "ART", "99.999 %", "Maximum" };
	static const uint32_t color[] = { 0x2E75B6, 0xED7D31, 0x7F7F7F };
	struct arena *a = &x->page.s->grid->arena;
	const struct wsat *w = x->w;
	struct chart c = chart_new(CHART_SCATTER, over_title(x, OVER_FILLS),
				   "Response time (ms, log scale)");
	unsigned all = w->n_minutes, *index = arena_array(a, unsigned, SERIES_POINTS), n;
	double *mrt = arena_array(a, double, all + 1), *bytes, *ns, *v;
	struct series series[3];

	for (unsigned i = 0; i < all; i++)
		mrt[i] = state_ms(w->minute[i]->mrt_ns);
	n = series_thin(mrt, all, SERIES_POINTS, index);
	bytes = arena_array(a, double, n + 1);
	ns = arena_array(a, double, n + 1);
	v = arena_array(a, double, 3 * n + 1);
	for (unsigned i = 0; i < n; i++) {
		const struct measure *m = w->minute[index[i]];
		ns[i] = (double)(m->start_ns + m->elapsed_ns - w->minute[0]->start_ns);
		bytes[i] = (double)m->host_bytes_written;
		v[i] = m->art_ns / 1e6;
		v[n + i] = state_ms(m->p99999_ns);
		v[2 * n + i] = state_ms(m->mrt_ns);
	}
	plots_begin(&x->pl, x->page.s->grid,
		    arena_fmt(a, "%s: response times of the steps (ms)", w->test->sheet));
	struct xs xs = put_xs(x, ns, bytes, n);
	for (unsigned i = 0; i < 3; i++)
		series[i] = (struct series){ .name = name[i],
					     .x = xs.at[OVER_FILLS],
					     .y = plots_column(&x->pl, name[i], v + i * n, n),
					     .color = color[i],
					     .width = 1.5 };
	set_over(x, &c, OVER_FILLS);
	axis_decades(&c.y, v, 3 * n);
	c.y.fmt = axis_fmt(c.y.min * 10);
	c.legend = LEGEND_TOP;
	panel_put(&x->page, &c, at, series, 3);
}

static void page_times(struct wsheet *x)
{
	struct page *p = &x->page;
	const struct iops_plot fills = { .over = OVER_FILLS };

	page_begin(p, "Plot",
		   arena_fmt(&p->s->grid->arena, "RTs & IOPS v Drive Fills - %s, %s", x->access,
			     x->depth));
	panel_banner(p, x->w->section);
	iops_chart(x, &fills, panel_place(p, 0));
	rt_chart(x, panel_place(p, 1));
	put_text(
		p->s, AREA(p->row + 29, 0, p->row + 29, 15), LOOK_NOTE,
		"Response times are those of each step (one minute in a formal run); 99.999 % where"
		" a step has 100,000 I/Os or more.");
}

/* ---- header ---- */

static void set_header(struct wsheet *x, struct header *h, struct arena *a)
{
	const struct wsat *w = x->w;
	const struct section *s = w->section;
	const struct measure *m = w->minute[0];
	char size[32];

	h->subject = arena_fmt(a, "Write Saturation - %s", x->access);
	h->setup[3].value = "none (fresh out of box)";
	h->setup[6] = (struct pair){ "Tracking variable", s->n_tracks ? s->track[0].title : "-" };
	h->test[1].value = x->access;
	h->test[2] = (struct pair){ "  TOIO - TC/QD",
				    arena_fmt(a, "TC %d / QD %d", m->threads, m->qd) };
	h->test[3] = (struct pair){ "  Sample",
				    s->n_combos && w->n_samples
					    ? arena_fmt(a, "%s, 1-s log kept",
							asked_text(a, w->test, w->sample[0]))
					    : "-" };
	h->test[4] = (struct pair){ "  Duration",
				    arena_fmt(a, "%.4g %s (%d rounds)", x->end[OVER_TIME],
					      x->time.name, s->rounds) };
	h->test[5] = (struct pair){ "  Written",
				    arena_fmt(a, "%s = %.2f fills",
					      fmt_capacity(size, sizeof size,
							   (uint64_t)(x->end[OVER_GB] * 1e9)),
					      x->end[OVER_FILLS]) };
	h->test[6] = (struct pair){ "Histogram",
				    s->n_hists ? asked_text(a, w->test, s->hist[0].m) : "-" };
	h->test[7] = (struct pair){ "Loop ended by",
				    w->test->finished ? ended_text(s) : "not finished" };
}

static void set_facts(struct wsheet *x, struct arena *a)
{
	const struct wsat *w = x->w;
	const struct measure *first = w->minute[0], *last = w->minute[w->n_minutes - 1];
	double ns = (double)(last->start_ns + last->elapsed_ns - first->start_ns);

	x->access = measure_title(a, first);
	x->depth = tcqd_text(a, first->threads, first->qd);
	x->time = time_unit_of(ns);
	x->end[OVER_TIME] = ns / x->time.ns;
	x->end[OVER_GB] = (double)last->host_bytes_written / 1e9;
	x->end[OVER_FILLS] = (double)last->host_bytes_written / (double)x->d->capacity_bytes;
}

void wsat_sheet(const struct dataset *d, struct grid *g, const struct wsat *w)
{
	struct wsheet x = { .d = d, .w = w };
	const struct section *s = x.w->section;
	struct header h;

	header_fill(&h, d, x.w->test, &g->arena);
	if (x.w->n_minutes) {
		set_facts(&x, &g->arena);
		set_header(&x, &h, &g->arena);
	}
	if (rwsw_is(x.w->test))
		rwsw_header(&h, d, x.w->test, &g->arena);
	page_open(&x.page, g, d, x.w->test, &h);
	if (x.w->n_minutes) {
		put_curve(&x);
		put_samples(&x);
		page_glance(&x);
		page_over(&x, OVER_TIME, "IOPS v Time");
		page_over(&x, OVER_GB, "IOPS v TGBW");
		page_over(&x, OVER_FILLS, "IOPS v Normalized Capacity (drive fills)");
		page_times(&x);
	} else {
		page_begin(&x.page, "Plot", "IOPS v Time");
		panel_banner(&x.page, s);
		put_text(x.page.s, AREA(x.page.row, 0, x.page.row, 15), LOOK_NA,
			 "nothing was measured: no whole step of the loop");
	}
	for (unsigned i = 0; i < s->n_tracks; i++)
		window_page(&x.page, s, &s->track[i]);
	for (unsigned i = 0; i < s->n_hists; i++)
		clp_pages(&x.page, s, &s->hist[i]);
	if (rwsw_is(x.w->test))
		rwsw_pages(&x.page);
	page_close(&x.page);
}

static void build(const struct dataset *d, struct grid *g)
{
	wsat_sheet(d, g, d->wsat);
}

const struct sheet sheet_wsat = { 130, applies, build };
