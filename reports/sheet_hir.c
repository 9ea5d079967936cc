/* SPDX-License-Identifier: MIT */
/* Host idle recovery (spec 11): preconditioning, its window, IOPS v time of all wait states, what idle time gives back. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/panels.h"
#include "reports/states.h"

static bool applies(const struct dataset *d)
{
	return d->hir != NULL;
}

struct drawn { /* the curves of a wait state */
	struct range time, iops, own_time; /* own: since its start */
	const char *name;
	bool whole; /* not thinned: means may refer to the cells */
};

struct hsheet {
	struct page page;
	const struct hir *h;
	struct time_unit time;
	double length; /* of all wait states, in the unit */
	struct drawn burst[HIR_STATES_MAX], base[HIR_STATES_MAX];
	struct plots pl;
	double top; /* highest IOPS drawn */
};

/* Strong for the wait state, light for its baseline. */
static uint32_t state_color(unsigned i, bool base)
{
	static const uint32_t colors[][2] = { { 0x7030A0, 0xC9A6E4 }, { 0x2E75B6, 0x9DC3E6 },
					      { 0x00897B, 0x80CBC4 }, { 0xBF9000, 0xE8CF7E },
					      { 0xC8553D, 0xEDB3A5 }, { 0x595959, 0xBFBFBF } };

	return colors[i % (sizeof colors / sizeof colors[0])][base];
}

static const char *seconds_text(struct arena *a, double ns)
{
	return isfinite(ns) ? arena_fmt(a, "%.4g", ns / 1e9) : "?";
}

/* "Wait State 5"; a wait without a known length keeps its label. */
static const char *state_name(struct arena *a, const struct hir_state *s)
{
	if (!isfinite(s->number))
		return arena_fmt(a, "Wait State \"%s\"", s->label);
	return arena_fmt(a, "Wait State %.4g", s->number);
}

static const char *number_text(struct arena *a, const struct hir_state *s)
{
	return isfinite(s->number) ? arena_fmt(a, "%.4g", s->number) : s->label;
}

/* ---- the numbers that the charts draw ---- */

struct cells {
	const struct measure *const *m;
	unsigned n;
	const char *name;
};

static struct drawn put_cells(struct hsheet *x, const struct cells *c)
{
	struct arena *a = &x->page.s->grid->arena;
	unsigned *index = arena_array(a, unsigned, SERIES_POINTS), n;
	double *iops = arena_array(a, double, c->n + 1), *time = arena_array(a, double, c->n + 1);
	double *own = arena_array(a, double, c->n + 1);
	struct drawn r = { .name = c->name };

	for (unsigned i = 0; i < c->n; i++) {
		double end = (double)(c->m[i]->start_ns + c->m[i]->elapsed_ns);
		iops[i] = c->m[i]->iops;
		time[i] = (end - x->h->start_ns) / x->time.ns;
		own[i] = (end - (double)c->m[0]->start_ns) / x->time.ns;
		x->top = fmax(x->top, iops[i]);
	}
	n = series_thin(iops, c->n, SERIES_POINTS, index);
	plots_begin(&x->pl, x->page.s->grid, arena_fmt(a, "HIR: %s", c->name));
	r.whole = n == c->n;
	r.time = plots_column(&x->pl, x->time.name, series_pick(a, time, index, n), n);
	r.own_time = plots_column(&x->pl, "own time", series_pick(a, own, index, n), n);
	r.iops = plots_column(&x->pl, "IOPS", series_pick(a, iops, index, n), n);
	return r;
}

static void put_states(struct hsheet *x)
{
	struct arena *a = &x->page.s->grid->arena;

	for (unsigned i = 0; i < x->h->n; i++) {
		const struct hir_state *s = &x->h->state[i];
		const char *burst = seconds_text(a, s->burst_ns), *k = number_text(a, s);
		struct cells waits = { s->burst, s->n_bursts,
				       arena_fmt(a, "Wait State %s (%s/%s)", k, burst,
						 seconds_text(a, s->wait_ns)) };
		struct cells base = { s->base, s->n_base,
				      arena_fmt(a, "Baseline %s (%s/0)", k, burst) };
		x->burst[i] = put_cells(x, &waits);
		x->base[i] = put_cells(x, &base);
	}
}

static struct series level_series(struct hsheet *x, const char *name, double end, double iops)
{
	double t[2] = { 0, end }, v[2] = { iops, iops };

	plots_begin(&x->pl, x->page.s->grid, arena_fmt(&x->page.s->grid->arena, "HIR: %s", name));
	return (struct series){ .name = name,
				.x = plots_column(&x->pl, x->time.name, t, 2),
				.y = plots_column(&x->pl, "IOPS", v, 2),
				.color = 0,
				.width = 1.5,
				.dash = DASH_DASH };
}

/* ---- pages ---- */

static void page_precondition(struct hsheet *x)
{
	struct page *p = &x->page;
	struct arena *a = &p->s->grid->arena;
	const struct section *s = x->h->section;
	const struct combo *c = x->h->combo;
	const char *name = c ? c->title : "";
	struct convergence v = {
		.s = s, .combo = &c, .name = &name, .n = 1, .field = FIELD_IOPS, .y_title = "IOPS"
	};

	page_begin(p, "Plot",
		   arena_fmt(a, "Pre-Writes, IOPS v Round - %s%s",
			     c ? arena_fmt(a, "BS=%sK, ", kib_text(a, c->block_bytes)) : "",
			     c ? tcqd_text(a, c->threads, c->qd) : "no round"));
	panel_banner(p, s);
	if (!c) {
		put_text(p->s, AREA(p->row, 0, p->row, 15), LOOK_NA, "no round was completed");
		return;
	}
	convergence_chart(p, &v, (struct place){ p->row, 0, PAGE_COLS * PAGE_COL_PX, 24 * ROW_PX });
	convergence_table(p, &v, p->row + 25);
}

static const char *ss_name(const struct hsheet *x)
{
	return x->h->section->steady == 1 ? "Steady state (pre-writes)"
					  : "Last pre-writes, NOT STEADY";
}

static void page_all(struct hsheet *x)
{
	struct page *p = &x->page;
	struct chart c = chart_new(CHART_SCATTER, x->time.axis, "IOPS");
	struct series series[2 * HIR_STATES_MAX + 1];
	unsigned n = 0;

	page_begin(p, "Plot", "IOPS v Time - All Wait States");
	panel_banner(p, x->h->section);
	for (unsigned i = 0; i < x->h->n; i++) {
		series[n++] = (struct series){ .name = x->burst[i].name,
					       .x = x->burst[i].time,
					       .y = x->burst[i].iops,
					       .color = state_color(i, false),
					       .width = 1.5 };
		series[n++] = (struct series){ .name = x->base[i].name,
					       .x = x->base[i].time,
					       .y = x->base[i].iops,
					       .color = state_color(i, true),
					       .width = 1.5 };
	}
	if (isfinite(x->h->ss_iops))
		series[n++] = level_series(x, ss_name(x), x->length, x->h->ss_iops);
	axis_time(&c.x, x->length);
	axis_from_zero(&c.y, &x->top, 1);
	c.legend = LEGEND_RIGHT;
	panel_put(p, &c, (struct place){ p->row, 0, PAGE_COLS * PAGE_COL_PX, 28 * ROW_PX }, series,
		  n);
	put_fmt(p->s, AREA(p->row + 29, 0, p->row + 29, 15), LOOK_NOTE,
		"Each point is a burst of writes (wait states) or a step of continuous writing"
		" (baselines). Wait states and baselines together: %.4g %s.",
		x->length, x->time.name);
}

/* All wait states from their own start: what more idle time brings, and how soon. */
static void page_overlay(struct hsheet *x)
{
	struct page *p = &x->page;
	struct chart c = chart_new(
		CHART_SCATTER,
		arena_fmt(&p->s->grid->arena, "%s since the wait state began", x->time.axis),
		"IOPS");
	struct series series[HIR_STATES_MAX + 1];
	double end = 0;
	unsigned n = 0;

	page_begin(p, "Plot", "IOPS v Time of each Wait State - overlaid");
	panel_banner(p, x->h->section);
	for (unsigned i = 0; i < x->h->n; i++) {
		const struct hir_state *s = &x->h->state[i];
		const struct measure *last = s->n_bursts ? s->burst[s->n_bursts - 1] : NULL;
		if (last)
			end = fmax(end, (double)(last->start_ns + last->elapsed_ns) - s->start_ns);
		series[n++] = (struct series){ .name = x->burst[i].name,
					       .x = x->burst[i].own_time,
					       .y = x->burst[i].iops,
					       .color = state_color(i, false),
					       .width = 1.5 };
	}
	end /= x->time.ns;
	if (isfinite(x->h->ss_iops))
		series[n++] = level_series(x, ss_name(x), end, x->h->ss_iops);
	axis_time(&c.x, end);
	axis_from_zero(&c.y, &x->top, 1);
	c.legend = LEGEND_RIGHT;
	panel_put(p, &c, (struct place){ p->row, 0, PAGE_COLS * PAGE_COL_PX, 28 * ROW_PX }, series,
		  n);
}

/* ---- derived metrics ---- */

static enum look hir_look(const struct hsheet *x, enum look good)
{
	return result_look(x->h->section, good);
}

static void put_mean(struct hsheet *x, struct area at, const struct drawn *r, double v)
{
	struct grid *g = x->page.s->grid;

	if (r->whole && r->iops.sheet)
		put_formula(x->page.s, at, STYLE(hir_look(x, LOOK_FORMULA), NUM_GROUP1), v,
			    "=AVERAGE('%s'!%s)", r->iops.sheet, grid_ref(g, r->iops.at, false));
	else
		put_num(x->page.s, at, STYLE(hir_look(x, LOOK_CELL), NUM_GROUP1), v);
}

/* "12.3", or after how long it was not yet there. */
static void put_reach(struct hsheet *x, struct area at, double ns, const struct cells *c)
{
	if (isfinite(ns)) {
		put_num(x->page.s, at, STYLE(hir_look(x, LOOK_CELL), NUM_2), ns / x->time.ns);
	} else if (!c->n || !isfinite(x->h->ss_iops)) {
		put_text(x->page.s, at, LOOK_NA, "n/a");
	} else {
		const struct measure *last = c->m[c->n - 1];
		double whole = (double)(last->start_ns + last->elapsed_ns - c->m[0]->start_ns);
		put_fmt(x->page.s, at, LOOK_CENTER, "not in %.4g", whole / x->time.ns);
	}
}

static void put_ss(struct hsheet *x, uint32_t row)
{
	struct grid_sheet *s = x->page.s;
	struct arena *a = &s->grid->arena;
	const struct combo *c = x->h->combo;

	put_text(s, AREA(row, 0, row, 1), LOOK_ROW_HEAD,
		 x->h->section->steady == 1 ? "Steady state" : "NOT STEADY");
	put_fmt(s, AREA(row, 2, row, 5), LOOK_CENTER, "pre-writes, rounds %s",
		mean_text(a, x->h->section));
	if (c && c->n_window) {
		put_formula(s, AREA(row, 6, row, 7), STYLE(hir_look(x, LOOK_FORMULA), NUM_GROUP1),
			    x->h->ss_iops, "=AVERAGE(%s)",
			    rounds_list(s->grid, c->window, c->n_window, RC_IOPS));
		put_num(s, AT(row, 8), STYLE(hir_look(x, LOOK_CELL), NUM_2), 1);
	} else {
		put_text(s, AREA(row, 6, row, 8), LOOK_NA, "n/a");
	}
	put_text(s, AREA(row, 9, row, 15), LOOK_CENTER, "");
}

static void put_state(struct hsheet *x, unsigned i, uint32_t row, const char *ss)
{
	const struct hir_state *s = &x->h->state[i];
	struct grid_sheet *g = x->page.s;
	struct arena *a = &g->grid->arena;
	struct cells waits = { s->burst, s->n_bursts, "" }, base = { s->base, s->n_base, "" };
	const char *mean = grid_ref(g->grid, AT(row, 6), false);

	put_text(g, AREA(row, 0, row, 1), LOOK_ROW_HEAD, state_name(a, s));
	put_fmt(g, AREA(row, 2, row, 3), LOOK_CENTER, "%s / %s", seconds_text(a, s->burst_ns),
		seconds_text(a, s->wait_ns));
	put_num(g, AT(row, 4), STYLE(LOOK_CELL, NUM_3), s->idle_ns / 1e9);
	put_num(g, AT(row, 5), STYLE(LOOK_CELL, NUM_GROUP), s->n_bursts);
	put_mean(x, AREA(row, 6, row, 7), &x->burst[i], s->mean_iops);
	put_formula(g, AT(row, 8), STYLE(hir_look(x, LOOK_FORMULA), NUM_2),
		    s->mean_iops / x->h->ss_iops, "=%s/%s", mean, ss);
	put_num(g, AREA(row, 9, row, 10), STYLE(hir_look(x, LOOK_CELL), NUM_GROUP1), s->end_iops);
	put_reach(x, AT(row, 11), s->reach_ns, &waits);
	put_mean(x, AREA(row, 12, row, 13), &x->base[i], s->base_iops);
	put_num(g, AT(row, 14), STYLE(hir_look(x, LOOK_CELL), NUM_GROUP1), s->base_end_iops);
	put_reach(x, AT(row, 15), s->back_ns, &base);
}

static uint32_t put_table(struct hsheet *x, uint32_t row)
{
	struct arena *a = &x->page.s->grid->arena;
	const struct table_head heads[] = {
		{ 0, 1, "State" },
		{ 2, 3, "Write / idle (s)" },
		{ 4, 4, "Idle measured (s)" },
		{ 5, 5, "Bursts" },
		{ 6, 7, "Mean IOPS" },
		{ 8, 8, "Ratio to SS" },
		{ 9, 10, "IOPS, last tenth" },
		{ 11, 11, arena_fmt(a, "At SS +10 %% after (%s)", x->time.name) },
		{ 12, 13, "Baseline: mean IOPS" },
		{ 14, 14, "its last tenth" },
		{ 15, 15, arena_fmt(a, "Back within after (%s)", x->time.name) }
	};

	grid_row_height(x->page.s, row, 2 * ROW_PX);
	put_heads(&x->page, row++, heads, sizeof heads / sizeof heads[0]);
	const char *ss = grid_ref(x->page.s->grid, AT(row, 6), false);
	put_ss(x, row++);
	for (unsigned i = 0; i < x->h->n && row + 2 < x->page.next; i++)
		put_state(x, i, row++, ss);
	return row;
}

static void put_bars(struct hsheet *x, struct place at)
{
	struct arena *a = &x->page.s->grid->arena;
	struct chart c = chart_new(CHART_COLUMN, NULL, "Mean IOPS");
	const char *label[HIR_STATES_MAX + 1];
	uint32_t color[HIR_STATES_MAX + 1];
	double v[HIR_STATES_MAX + 1];
	struct series one = { .name = "Mean IOPS", .labels = true, .label_fmt = NUM_GROUP };
	unsigned n = 1;

	label[0] = x->h->section->steady == 1 ? "Steady state" : "NOT STEADY";
	v[0] = x->h->ss_iops;
	color[0] = 0x404040;
	one.hatched = x->h->section->steady == 0;
	for (unsigned i = 0; i < x->h->n; i++, n++) {
		label[n] = arena_fmt(a, "%s (%s/%s s)", state_name(a, &x->h->state[i]),
				     seconds_text(a, x->h->state[i].burst_ns),
				     seconds_text(a, x->h->state[i].wait_ns));
		v[n] = x->h->state[i].mean_iops;
		color[n] = state_color(i, false);
	}
	plots_begin(&x->pl, x->page.s->grid, "HIR: mean IOPS of the wait states");
	one.x = plots_labels(&x->pl, "state", label, n);
	one.y = plots_column(&x->pl, "IOPS", v, n);
	one.point_color = color;
	one.n_points = n;
	c.legend = LEGEND_NONE;
	c.gap = 60;
	double top = 0;
	for (unsigned i = 0; i < n; i++)
		top = fmax(top, isfinite(v[i]) ? v[i] * 1.1 : 0); /* room for the labels */
	axis_from_zero(&c.y, &top, 1);
	panel_put(&x->page, &c, at, &one, 1);
}

static void page_derived(struct hsheet *x)
{
	struct page *p = &x->page;

	page_begin(p, "Table", "Derived Metrics - Steady State, Wait States, Baselines");
	panel_banner(p, x->h->section);
	uint32_t row = put_table(x, p->row);
	put_text(
		p->s, AREA(row + 1, 0, row + 2, 15), LOOK_NOTE,
		"Mean IOPS: of all bursts of the state. \"At SS +10 %\": end of the first burst at "
		"or"
		" above 1.1 x the steady-state IOPS, since the state began. \"Back within\": end of"
		" the first step of the baseline at or below it, since the baseline began.");
	uint32_t left = p->next > row + 8 ? p->next - row - 6 : 10;
	put_bars(x, (struct place){ row + 4, 0, PAGE_COLS * PAGE_COL_PX, left * ROW_PX });
}

/* ---- header ---- */

/* "5, 10, 15, 25, 50 s"; "1, 2, 3, 5, 10" */
static const char *waits_text(struct arena *a, const struct hir *h, bool number)
{
	const char *list = "";

	for (unsigned i = 0; i < h->n; i++)
		list = arena_fmt(a, "%s%s%s", list, i ? ", " : "",
				 number ? number_text(a, &h->state[i])
					: seconds_text(a, h->state[i].wait_ns));
	return *list ? number ? list : arena_fmt(a, "%s s", list) : "-";
}

static void set_header(const struct hir *h, struct header *r, struct arena *a)
{
	const struct combo *c = h->combo;
	const struct hir_state *s = h->n ? &h->state[0] : NULL;
	const char *depth = c ? arena_fmt(a, "TC %d / QD %d", c->threads, c->qd) : "-";

	r->subject = "Host Idle Recovery - Wait States";
	r->setup[3] = (struct pair){ "Pre-condition 1", c ? c->title : "-" };
	r->setup[4] = (struct pair){ "  Rounds run", arena_fmt(a, "%d", h->section->rounds) };
	r->setup[5] = (struct pair){ "  TOIO - TC/QD", depth };
	r->setup[6] = (struct pair){ "Pre-condition 2", "none" };
	r->test[1] = (struct pair){ "Write stimulus",
				    s && s->n_bursts ? measure_title(a, s->burst[0]) : "-" };
	r->test[2] = (struct pair){ "  Durations",
				    s ? arena_fmt(a, "%s s", seconds_text(a, s->burst_ns)) : "-" };
	r->test[3] = (struct pair){ "  TOIO - TC/QD", depth };
	r->test[4] = (struct pair){ "Idle state", "Host idle" };
	r->test[5] = (struct pair){ "  Durations", waits_text(a, h, false) };
	r->test[6] = (struct pair){ "Wait states", waits_text(a, h, true) };
	r->test[7] = (struct pair){ "Tracking variable",
				    h->section->n_tracks ? h->section->track[0].title : "-" };
}

static void build(const struct dataset *d, struct grid *g)
{
	struct hsheet x = { .h = d->hir };
	const struct section *s = x.h->section;
	struct header h;

	header_fill(&h, d, x.h->test, &g->arena);
	set_header(x.h, &h, &g->arena);
	x.time = time_unit_of(x.h->end_ns - x.h->start_ns);
	x.length = (x.h->end_ns - x.h->start_ns) / x.time.ns;
	page_open(&x.page, g, d, x.h->test, &h);
	page_precondition(&x);
	for (unsigned i = 0; i < s->n_tracks; i++)
		window_page(&x.page, s, &s->track[i]);
	if (x.h->n) {
		put_states(&x);
		page_all(&x);
		page_overlay(&x);
		page_derived(&x);
	} else {
		page_begin(&x.page, "Plot", "IOPS v Time - All Wait States");
		panel_banner(&x.page, s);
		put_text(x.page.s, AREA(x.page.row, 0, x.page.row, 15), LOOK_NA,
			 "no wait state was begun");
	}
	page_close(&x.page);
}

const struct sheet sheet_hir = { 140, applies, build };
