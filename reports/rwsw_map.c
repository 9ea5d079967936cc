/* SPDX-License-Identifier: MIT */
/* IO Stream Map (spec 17.1): IOs of each step stacked by stream, above the queue depth over the same time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/panels.h"
#include "reports/rwsw.h"

#define MAP_SHOWN 9 /* areas, and one for all other streams */
#define MAP_POINTS 360
#define COLUMNS_MAX 60 /* as many steps are columns: an area has no width of its own at one */
#define FULL_PX (PAGE_COLS * PAGE_COL_PX)

void rwsw_axis_depth(struct axis *a, const double *v, unsigned n)
{
	axis_from_zero(a, v, n);
	a->unit = fmax(1, ceil(a->unit));
	a->max = fmax(2, ceil(a->max / a->unit - 1e-9)) * a->unit;
	a->fmt = NUM_GROUP;
}

struct map {
	struct page *p;
	const struct workload *w;
	const struct replay_scale *s; /* NULL: the capture */
	struct arena *a;
	unsigned n, bin, points; /* steps; steps of a point */
	double step_ns;
	unsigned shown; /* streams with an area of their own */
	double *ios; /* [shown + 1][points] */
	double *low, *high; /* queue depth: mean and highest, or asked and achieved */
	const char **label;
	double top; /* of the upper axis */
};

static double ios_of(const struct map *m, unsigned step, unsigned k)
{
	if (m->s)
		return (double)m->s->of[step * (m->w->n_streams + 1) + k];
	return m->w->step[step].of[k] / (m->w->shares_only ? m->bin : 1);
}

/* Depth of a step: of the capture its mean and highest, of a replay asked and achieved. NAN: idle or unknown. */
static void depth_of(const struct map *m, unsigned step, double *ret_low, double *ret_high)
{
	if (m->s) {
		const struct measure *x = m->s->step[step];
		*ret_low = x->oio > 0 ? x->oio : NAN;
		*ret_high = x->oio > 0 ? x->inflight_avg : NAN;
		return;
	}
	const struct workload_step *x = &m->w->step[step];
	*ret_low = x->any && x->qd_avg > 0 ? x->qd_avg : NAN;
	*ret_high = x->any && x->qd_max >= 0 ? (double)x->qd_max : NAN;
}

static void sum_point(struct map *m, unsigned at)
{
	unsigned from = at * m->bin, to = from + m->bin, n = 0;
	double low = 0, high = NAN, sum = 0, one, two;

	for (unsigned i = from; i < to && i < m->n; i++) {
		for (unsigned k = 0; k <= m->w->n_streams; k++)
			m->ios[(k < m->shown ? k : m->shown) * m->points + at] += (double)ios_of(
				m, i, k);
		depth_of(m, i, &one, &two);
		if (isnan(one))
			continue;
		n++;
		low += one;
		sum += two;
		high = fmax(high, two);
	}
	m->low[at] = n ? low / n : NAN;
	m->high[at] = m->s ? n ? sum / n : NAN : high;
}

/* A text at each round time, blanks between: programs do not leave out labels that do not fit. */
static void put_labels(struct map *m, const struct time_unit *u)
{
	struct axis x = { 0 };
	double step = m->step_ns * m->bin / u->ns;
	double last = -1;

	axis_time(&x, step * m->points);
	for (unsigned i = 0; i < m->points; i++) {
		double t = step * i, at = floor(t / x.unit + 1e-6);
		bool first = at > last;
		m->label[i] = first ? arena_fmt(m->a, "%.6g", at * x.unit) : "";
		last = first ? at : last;
	}
}

static void stack_chart(struct map *m, struct plots *pl, struct range labels)
{
	bool columns = m->points <= COLUMNS_MAX;
	struct chart c = chart_new(
		columns ? CHART_STACK : CHART_AREA, NULL,
		!m->s && m->w->shares_only
			? "% of the IOs"
			: arena_fmt(m->a, "IOs per %s", rwsw_span(m->a, m->step_ns * m->bin)));
	struct series series[MAP_SHOWN + 1];
	double *top = arena_array(m->a, double, m->points);
	double rest = 0;

	for (unsigned k = 0; k <= m->shown; k++) {
		const double *v = m->ios + k * m->points;
		const struct io_stream *x = k < m->shown ? &m->w->stream[k] : NULL;
		const char *pct = x && !isnan(x->normalized_pct)
					  ? arena_fmt(m->a, " %.1f %%", x->normalized_pct)
					  : "";
		for (unsigned i = 0; i < m->points; i++) {
			top[i] += v[i];
			rest += x ? 0 : v[i];
		}
		series[k] = (struct series){
			.name = x ? arena_fmt(m->a, "%s%s", x->name, pct) : "other",
			.x = labels,
			.y = plots_column(pl, x ? x->name : "other", v, m->points),
			.color = x ? rwsw_color(k) : 0xD0CECE,
		};
	}
	axis_from_zero(&c.y, top, m->points);
	c.y.fmt = axis_fmt(c.y.max);
	m->top = c.y.max;
	c.x.bare = true;
	c.x.on_tick = !columns;
	c.gap = 0;
	c.legend = LEGEND_TOP;
	panel_put(m->p, &c, (struct place){ m->p->row, 0, FULL_PX, 19 * ROW_PX }, series,
		  m->shown + (rest > 0));
}

static void depth_chart(struct map *m, struct plots *pl, struct range labels,
			const struct time_unit *u)
{
	struct chart c = chart_new(CHART_LINE, u->axis, m->s ? "OIO" : "QD");
	struct series series[] = {
		{ .name = m->s	       ? "OIO asked"
			  : m->bin > 1 ? "QD, mean of the busy time (mean of the steps of a point)"
				       : "QD, mean of the busy time",
		  .x = labels,
		  .y = plots_column(pl, m->s ? "OIO asked" : "QD mean", m->low, m->points),
		  .color = 0x000000,
		  .width = 1.75 },
		{ .name = m->s ? "OIO achieved" : "QD, highest moment",
		  .x = labels,
		  .y = plots_column(pl, m->s ? "OIO achieved" : "QD highest", m->high, m->points),
		  .color = 0xED7D31,
		  .width = 1,
		  .dash = m->s ? DASH_DASH : DASH_DOT },
	};
	double *all = arena_array(m->a, double, 2 * m->points);

	memcpy(all, m->low, m->points * sizeof *all);
	memcpy(all + m->points, m->high, m->points * sizeof *all);
	rwsw_axis_depth(&c.y, all, 2 * m->points);
	if (m->top >= 1000)
		c.y.fmt = NUM_PAD;
	c.x.bare = true;
	c.x.on_tick = m->points > COLUMNS_MAX;
	c.legend = LEGEND_TOP;
	for (unsigned i = 0; i < 2; i++) /* a line of one point is not to be seen */
		series[i].markers = m->points <= COLUMNS_MAX;
	panel_put(m->p, &c, (struct place){ m->p->row + 19, 0, FULL_PX, 11 * ROW_PX }, series, 2);
	if (!series[0].y.sheet && !series[1].y.sheet)
		put_text(m->p->s, AREA(m->p->row + 20, 0, m->p->row + 20, 15), LOOK_NA,
			 "the queue depth of the capture is not known: it has no completions");
}

static void fill(struct map *m)
{
	m->a = &m->p->s->grid->arena;
	m->bin = rwsw_bin(m->n, MAP_POINTS);
	m->points = (m->n + m->bin - 1) / m->bin;
	m->shown = rwsw_dominant(m->w, MAP_SHOWN);
	m->ios = arena_array(m->a, double, (m->shown + 1) * m->points + 1);
	m->low = arena_array(m->a, double, m->points + 1);
	m->high = arena_array(m->a, double, m->points + 1);
	m->label = arena_array(m->a, const char *, m->points + 1);
	for (unsigned i = 0; i < m->points; i++)
		sum_point(m, i);
}

/* The replay of the run that stands for a capture without rows: the first at the lowest scale. */
static const struct replay_scale *stand_in(const struct dataset *d, const struct test *t)
{
	const struct replay *r = rwsw_replay(d, t);

	for (unsigned i = 0; (!r || !r->n) && i < d->rwsw->n_replays; i++)
		r = &d->rwsw->replay[i];
	return r && r->n ? &r->scale[0] : NULL;
}

static const char *title_of(const struct map *m)
{
	const char *bins = arena_fmt(m->a, "%u steps of %s%s", m->n, rwsw_span(m->a, m->step_ns),
				     m->bin > 1 ? arena_fmt(m->a, ", %u steps a point", m->bin)
						: "");

	return m->s ? arena_fmt(m->a, "IO Stream Map and OIO of the Replay at %s (%s)", m->s->name,
				bins)
		    : arena_fmt(m->a, "Source Capture: IO Stream Map and Queue Depth (%s)", bins);
}

void rwsw_page_map(struct page *p, const struct replay_scale *s)
{
	const struct workload *w = &p->d->rwsw->cap;
	struct map m = { .p = p, .w = w, .s = s };
	struct plots pl;

	if (!s && !w->n_steps)
		m.s = stand_in(p->d, p->t);
	m.n = m.s ? m.s->n : w->n_steps;
	if (!m.n)
		return;
	m.step_ns = w->step_ns > 0 ? (double)w->step_ns : 1e9;
	if (m.s)
		m.step_ns = (double)(m.s->step[m.n - 1]->start_ns + m.s->step[m.n - 1]->elapsed_ns -
				     m.s->step[0]->start_ns) /
			    m.n;
	fill(&m);
	struct time_unit u = time_unit_of(m.step_ns * m.n);
	put_labels(&m, &u);
	page_begin(p, "Plot", title_of(&m));
	page_banner(p, NULL);
	plots_begin(&pl, p->s->grid,
		    arena_fmt(m.a, "%s: %s; x: %s", p->t->sheet, title_of(&m), u.axis));
	struct range labels = plots_labels(&pl, u.name, m.label, m.points);
	stack_chart(&m, &pl, labels);
	depth_chart(&m, &pl, labels, &u);
}
