/* SPDX-License-Identifier: MIT */
/* Replays of a capture: by steps at native and scaled queue depth (spec 17.1, 17.2), and exactly, IO by IO. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/panels.h"
#include "reports/rwsw.h"
#include "reports/rwsw_replay.h"

#define FULL_PX (PAGE_COLS * PAGE_COL_PX)
#define SCALES_SHOWN 10 /* lines of the table; pages of series */

static bool applies(const struct dataset *d)
{
	return d->rwsw && sheet_any(d, SHEET_REPLAY);
}

static double ms_of(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns / 1e6;
}

static enum look value_look(const struct replay_build *x, enum look good)
{
	return x->section && x->section->steady == 0 ? LOOK_UNSTEADY : good;
}

/* ---- table of the scales ---- */

/* A rate over all active steps: live where their rows follow one another and none is idle. */
static void put_rate(struct replay_build *x, const struct replay_scale *s, struct area at)
{
	struct grid *g = x->page.s->grid;
	const char *ios = s->n_idle ? NULL : rounds_range(g, s->step, s->n, RC_IOS);
	const char *seconds = s->n_idle ? NULL : rounds_range(g, s->step, s->n, RC_SECONDS);
	unsigned style = STYLE(value_look(x, LOOK_STRONG), NUM_GROUP);

	if (ios && seconds)
		put_formula(x->page.s, at, style, s->iops, "=SUM(%s)/SUM(%s)", ios, seconds);
	else
		put_num(x->page.s, at, style, s->iops);
}

static void put_art(struct replay_build *x, const struct replay_scale *s, struct area at)
{
	struct grid *g = x->page.s->grid;
	const char *ios = s->n_idle ? NULL : rounds_range(g, s->step, s->n, RC_IOS);
	const char *art = s->n_idle ? NULL : rounds_range(g, s->step, s->n, RC_ART);
	unsigned style = STYLE(value_look(x, LOOK_CELL), ms_fmt(s->art_ns / 1e6));

	if (ios && art)
		put_formula(x->page.s, at, style, s->art_ns / 1e6,
			    "=SUMPRODUCT(%s,%s)/SUM(%s)/1000", ios, art, ios);
	else
		put_num(x->page.s, at, style, s->art_ns / 1e6);
}

static void put_five_nines(struct replay_build *x, const struct replay_scale *s, struct area at)
{
	bool few = s->levels.p99999_ns >= 0 && s->levels.above < 100;

	put_num(x->page.s, at, STYLE(few ? LOOK_WARN : value_look(x, LOOK_CELL), NUM_3),
		ms_of(s->levels.p99999_ns));
}

/* Steps with a result, of those the capture has. */
static const char *steps_text(struct replay_build *x, const struct replay_scale *s)
{
	unsigned all = x->w->n_steps ? x->w->n_steps : x->r->scale[0].n;

	return s->n < all ? arena_fmt(x->a, "%u of %u", s->n, all) : arena_fmt(x->a, "%u", s->n);
}

static void put_scale(struct replay_build *x, const struct replay_scale *s, uint32_t row,
		      uint32_t first)
{
	struct grid_sheet *g = x->page.s;
	enum look look = value_look(x, LOOK_CELL);
	unsigned all = x->w->n_steps ? x->w->n_steps : x->r->scale[0].n;
	double change = s->iops / x->r->scale[0].iops - 1;

	put_fmt(g, AT(row, 0), LOOK_ROW_HEAD, "%s%s", s->name, s->scale == 1 ? " (native)" : "");
	put_text(g, AT(row, 1), LOOK_CENTER,
		 s->oio_high ? rwsw_range(x->a, s->oio_low, s->oio_high) : "-");
	put_num(g, AT(row, 2), STYLE(LOOK_CELL, NUM_2), s->oio_avg);
	put_num(g, AT(row, 3), STYLE(LOOK_CELL, NUM_2), s->inflight_avg);
	put_text(g, AT(row, 4), s->n < all ? LOOK_WARN : LOOK_CENTER, steps_text(x, s));
	put_rate(x, s, AREA(row, 5, row, 6));
	put_num(g, AT(row, 7), STYLE(look, NUM_GROUP1), s->bytes_per_s / 1e6);
	put_art(x, s, AT(row, 8));
	put_num(g, AT(row, 9), STYLE(look, NUM_3), ms_of(s->levels.p99_ns));
	put_num(g, AT(row, 10), STYLE(look, NUM_3), ms_of(s->levels.p999_ns));
	put_five_nines(x, s, AT(row, 11));
	put_num(g, AT(row, 12), STYLE(look, NUM_2), ms_of(s->mrt_ns));
	if (row == first)
		put_text(g, AT(row, 13), LOOK_NA, "-");
	else
		put_formula(g, AT(row, 13), STYLE(LOOK_FORMULA, NUM_PCT1), change, "=%s/%s-1",
			    grid_ref(g->grid, AT(row, 5), false),
			    grid_ref(g->grid, AT(first, 5), false));
	put_num(g, AT(row, 14), STYLE(look, NUM_3), s->art_step_ns / 1e6);
	put_num(g, AT(row, 15), STYLE(look, NUM_PCT1), s->iops_cv);
}

static const struct table_head scale_heads[] = {
	{ 0, 0, "QD scale" },	    { 1, 1, "QD range" },      { 2, 2, "OIO asked" },
	{ 3, 3, "OIO had" },	    { 4, 4, "Steps" },	       { 5, 6, "IOPS" },
	{ 7, 7, "MB/s" },	    { 8, 8, "ART (ms)" },      { 9, 9, "99 % (ms)" },
	{ 10, 10, "99.9 %" },	    { 11, 11, "99.999 %" },    { 12, 12, "MRT (ms)" },
	{ 14, 14, "Max ART step" }, { 15, 15, "CV of steps" },
};

static uint32_t put_scales(struct replay_build *x, uint32_t row)
{
	const struct replay *r = x->r;

	put_heads(&x->page, row, scale_heads, sizeof scale_heads / sizeof scale_heads[0]);
	put_fmt(x->page.s, AT(row, 13), LOOK_HEAD, "IOPS v %s", r->scale[0].name);
	row++;
	for (unsigned i = 0; i < r->n && i < SCALES_SHOWN; i++)
		put_scale(x, &r->scale[i], row + i, row);
	return row + (r->n < SCALES_SHOWN ? r->n : SCALES_SHOWN);
}

static void put_note(struct replay_build *x, uint32_t row)
{
	const struct replay *r = x->r;
	const struct replay_scale *best = &r->scale[0];
	uint64_t above = best->levels.above;

	for (unsigned i = 0; i < r->n; i++) {
		if (r->scale[i].iops > best->iops)
			best = &r->scale[i];
		if (r->scale[i].levels.above < above)
			above = r->scale[i].levels.above;
	}
	const char *peak = r->n > 1 ? arena_fmt(x->a, "Highest IOPS at %s. ", best->name) : "";
	put_fmt(x->page.s, AREA(row, 0, row + 1, 15), LOOK_NOTE,
		"%sIOPS: all I/Os / seconds of the steps with I/O (idle steps are left out). ART:"
		" weighted by I/Os. Percentiles: of all I/Os of the replay (merged histograms;"
		" fewest above 99.999 %%: %llu I/Os, amber under 100). MRT: the highest of the"
		" steps. OIO had: I/Os in flight, mean over the time of the steps.",
		peak, (unsigned long long)above);
}

/* ---- bars and lines against the scale ---- */

struct versus {
	const char *name[SCALES_SHOWN];
	double iops[SCALES_SHOWN], us[3][SCALES_SHOWN];
	unsigned n;
};

static void versus_fill(const struct replay *r, struct versus *v)
{
	v->n = r->n < SCALES_SHOWN ? r->n : SCALES_SHOWN;
	for (unsigned i = 0; i < v->n; i++) {
		const struct replay_scale *s = &r->scale[i];
		v->name[i] = s->name;
		v->iops[i] = s->iops;
		v->us[0][i] = s->art_ns / 1e3;
		v->us[1][i] = s->levels.p99999_ns < 0 ? NAN : (double)s->levels.p99999_ns / 1e3;
		v->us[2][i] = s->mrt_ns < 0 ? NAN : (double)s->mrt_ns / 1e3;
	}
}

static void iops_bars(struct replay_build *x, const struct versus *v, struct range names,
		      struct place at)
{
	struct chart c = chart_new(CHART_COLUMN, "QD scale", NULL);
	struct plots *pl = &x->pl;
	double top = 0;

	for (unsigned i = 0; i < v->n; i++)
		top = fmax(top, v->iops[i]);
	struct series one = { .name = "IOPS",
			      .x = names,
			      .y = plots_column(pl, "IOPS", v->iops, v->n),
			      .color = 0x7030A0,
			      .labels = true,
			      .label_fmt = NUM_GROUP };
	c.title = "IOPS (higher is better)";
	axis_round(&c.y, 0, top * 1.1);
	c.y.fmt = NUM_GROUP;
	c.legend = LEGEND_NONE;
	c.gap = 35;
	panel_put(&x->page, &c, at, &one, 1);
}

static void time_lines(struct replay_build *x, const struct versus *v, struct range names,
		       struct place at)
{
	static const char *const name[] = { "ART", "99.999 %", "Maximum (MRT)" };
	static const uint32_t color[] = { 0xED7D31, 0xC00000, 0x7F7F7F };
	static const enum dash dash[] = { DASH_SOLID, DASH_DASH, DASH_DOT };
	struct chart c = chart_new(CHART_LINE, "QD scale", "us");
	struct series series[3];

	for (unsigned k = 0; k < 3; k++)
		series[k] = (struct series){ .name = name[k],
					     .x = names,
					     .y = plots_column(&x->pl, name[k], v->us[k], v->n),
					     .color = color[k],
					     .width = 2,
					     .dash = dash[k],
					     .markers = true };
	c.title = "Response time (log scale, lower is better)";
	axis_decades(&c.y, v->us[0], 3 * SCALES_SHOWN);
	c.y.fmt = axis_fmt(c.y.max);
	c.legend = LEGEND_BOTTOM;
	panel_put(&x->page, &c, at, series, 3);
}

static void page_scales(struct replay_build *x)
{
	struct page *p = &x->page;
	struct versus *v = arena_new(x->a, struct versus);
	const struct replay *r = x->r;

	for (unsigned k = 0; k < 3; k++)
		for (unsigned i = 0; i < SCALES_SHOWN; i++)
			v->us[k][i] = NAN;
	versus_fill(r, v);
	page_begin(p, r->n > 1 ? "Table and Plots" : "Table",
		   r->n > 1 ? arena_fmt(x->a, "Replay Scaled: native QD multiplied by %s to %s",
					r->scale[0].name, r->scale[r->n - 1].name)
			    : arena_fmt(x->a, "Replay at %s: all steps", r->scale[0].name));
	page_banner(p, x->section);
	uint32_t row = put_scales(x, p->row);
	put_note(x, row);
	row += 3;
	const uint32_t wide = FULL_PX / 2, high = (p->next - row - 1) * ROW_PX;
	plots_begin(&x->pl, p->s->grid, arena_fmt(x->a, "%s: v QD scale", p->t->sheet));
	struct range names = plots_labels(&x->pl, "QD scale", v->name, v->n);
	if (r->n == 1) { /* nothing to compare: the steps themselves */
		replay_panels(x, &r->scale[0], (struct place){ row, 0, FULL_PX, high });
		return;
	}
	iops_bars(x, v, names, (struct place){ row, 0, wide - 4, high });
	time_lines(x, v, names, (struct place){ row, 8, wide, high });
}

/* ---- IOs of each stream ---- */

#define MIX_SCALES 6
#define MIX_STREAMS 24

static void put_mix_heads(struct replay_build *x, uint32_t row)
{
	static const struct table_head heads[] = { { 0, 1, "IO stream" }, { 2, 3, "Asked %" } };

	put_heads(&x->page, row, heads, 2);
	for (unsigned i = 0; i < x->r->n && i < MIX_SCALES; i++)
		put_fmt(x->page.s, AREA(row, 4 + 2 * i, row, 5 + 2 * i), LOOK_HEAD, "%s: IOs, %%",
			x->r->scale[i].name);
}

static double stream_pct(const struct replay_build *x, const struct replay_scale *s, unsigned k)
{
	uint64_t all = 0;

	for (unsigned i = 0; i <= x->w->n_streams; i++)
		all += s->of_sum[i];
	return all ? 100.0 * (double)s->of_sum[k] / (double)all : NAN;
}

static void put_mix(struct replay_build *x, unsigned k, uint32_t row)
{
	struct grid_sheet *g = x->page.s;

	put_text(g, AREA(row, 0, row, 1), LOOK_ROW_HEAD,
		 k < x->w->n_streams ? x->w->stream[k].name : "other");
	put_num(g, AREA(row, 2, row, 3), STYLE(LOOK_CELL, NUM_3),
		k < x->w->n_streams ? x->r->scale[0].asked[k] : NAN);
	for (unsigned i = 0; i < x->r->n && i < MIX_SCALES; i++) {
		const struct replay_scale *s = &x->r->scale[i];
		put_num(g, AT(row, 4 + 2 * i), STYLE(LOOK_CELL, NUM_GROUP), (double)s->of_sum[k]);
		put_num(g, AT(row, 5 + 2 * i), STYLE(LOOK_CELL, NUM_3), stream_pct(x, s, k));
	}
}

static void put_mix_foot(struct replay_build *x, uint32_t row, uint32_t first)
{
	struct grid_sheet *g = x->page.s;

	put_text(g, AREA(row, 0, row, 3), LOOK_KEY, "All IOs of the streams");
	put_text(g, AREA(row + 1, 0, row + 1, 3), LOOK_KEY, "IOs of the steps");
	put_text(g, AREA(row + 2, 0, row + 2, 3), LOOK_KEY, "Largest error of a share (points)");
	for (unsigned i = 0; i < x->r->n && i < MIX_SCALES; i++) {
		const struct replay_scale *s = &x->r->scale[i];
		uint32_t col = 4 + 2 * i;
		double sum = 0;
		for (unsigned k = 0; k <= x->w->n_streams; k++)
			sum += (double)s->of_sum[k];
		put_formula(g, AREA(row, col, row, col + 1), STYLE(LOOK_FORMULA, NUM_GROUP), sum,
			    "=SUM(%s)", grid_ref(g->grid, AREA(first, col, row - 1, col), false));
		put_num(g, AREA(row + 1, col, row + 1, col + 1), STYLE(LOOK_CELL, NUM_GROUP),
			(double)s->ios);
		put_num(g, AREA(row + 2, col, row + 2, col + 1),
			STYLE(s->mix_error > 1 ? LOOK_WARN : LOOK_CELL, NUM_3), s->mix_error);
	}
}

static void page_mix(struct replay_build *x)
{
	struct page *p = &x->page;
	unsigned n = x->w->n_streams, listed = 0;

	page_begin(p, "Table", "IOs of each Stream, replayed against asked");
	page_banner(p, x->section);
	uint32_t row = p->row;
	put_mix_heads(x, row++);
	for (unsigned k = 0; k <= n && listed < MIX_STREAMS; k++) {
		bool any = false;
		for (unsigned i = 0; i < x->r->n; i++)
			any |= x->r->scale[i].of_sum[k] > 0 ||
			       (k < n && x->r->scale[i].asked[k] > 0);
		if (any)
			put_mix(x, k, row + listed++);
	}
	if (listed)
		put_mix_foot(x, row + listed, row);
	else
		put_text(p->s, AREA(row, 0, row, 15), LOOK_NA,
			 "the replay kept no counts of its streams");
	row += listed + 4;
	put_text(p->s, AREA(row, 0, row, 15), LOOK_NOTE,
		 "Asked: the share of the stream in the mix of each step, weighted by the I/Os that"
		 " the step made at the first scale. The counts of each step: sheet D_streams.");
}

/* ---- the sheet ---- */

static const char *inflight_text(struct replay_build *x)
{
	const struct replay *r = x->r;
	double worst = 0;

	for (unsigned i = 0; i < r->n; i++)
		if (r->scale[i].oio_avg > 0 && isfinite(r->scale[i].inflight_avg))
			worst = fmax(worst,
				     fabs(r->scale[i].inflight_avg / r->scale[i].oio_avg - 1));
	return r->n ? arena_fmt(x->a, "within %.2f %% of asked", 100 * worst) : "-";
}

static void test_lines(struct replay_build *x, struct header *h)
{
	const struct replay *r = x->r;
	double mix = NAN;
	unsigned idle = 0, steps = 0;
	int most = 0;

	for (unsigned i = 0; i < r->n; i++) {
		mix = fmax(mix, r->scale[i].mix_error);
		idle += r->scale[i].n_idle;
		steps += r->scale[i].n;
		most = r->scale[i].oio_high > most ? r->scale[i].oio_high : most;
	}
	h->test[1] = (struct pair){ "Test",
				    arena_fmt(x->a, "%u replay%s of %u steps", r->n,
					      r->n == 1 ? "" : "s", r->n ? r->scale[0].n : 0) };
	h->test[2] = (struct pair){ "  Timing", "closed loop, OIO per step" };
	h->test[3] = (struct pair){ "  Max OIO asked", most ? arena_fmt(x->a, "%d", most) : "-" };
	h->test[4] = (struct pair){ "  OIO had", inflight_text(x) };
	h->test[5] = (struct pair){ "  Stream mix error",
				    isnan(mix) ? "not recorded"
					       : arena_fmt(x->a, "max %.2f points", mix) };
	h->test[6] = (struct pair){ "  Idle steps", arena_fmt(x->a, "%u of %u", idle, steps) };
	h->test[7] = (struct pair){ "SS of the pre-condition",
				    x->section ? steady_text(x->a, x->page.t, x->section) : "-" };
}

static void pages_replay(struct replay_build *x)
{
	const struct replay *r = x->r;

	page_scales(x);
	for (unsigned i = 0; r->n > 1 && i < r->n && i < SCALES_SHOWN; i++)
		replay_page_series(x, &r->scale[i]);
	if (r->n > 1)
		replay_page_overlay(x);
	page_mix(x);
	if (x->w->n_steps)
		rwsw_page_map(&x->page, &r->scale[0]);
	replay_data(x);
}

static void build_one(const struct dataset *d, struct grid *g, const struct test *t)
{
	struct replay_build x = { .d = d,
				  .w = &d->rwsw->cap,
				  .r = rwsw_replay(d, t),
				  .a = &g->arena,
				  .section = t->n_sections ? &t->section[0] : NULL };
	static const struct replay none;
	struct header h;

	x.r = x.r ? x.r : &none;
	header_fill(&h, d, t, &g->arena);
	rwsw_header(&h, d, t, &g->arena);
	x.page.t = t;
	if (x.r->fidelity)
		fidelity_lines(&x, &h);
	else
		test_lines(&x, &h);
	page_open(&x.page, g, d, t, &h);
	x.page.letter = 'R';
	if (x.r->fidelity)
		fidelity_pages(&x);
	rwsw_pages(&x.page);
	if (x.r->n && !x.r->fidelity) {
		pages_replay(&x);
	} else if (!x.r->n && !x.r->cell) {
		page_begin(&x.page, "Table", "Replay");
		page_banner(&x.page, x.section);
		put_text(x.page.s, AREA(x.page.row, 0, x.page.row, 15), LOOK_NA,
			 "Nothing was replayed to its end: the test ended before.");
	}
	for (unsigned i = 0; x.section && i < x.section->n_tracks; i++)
		window_page(&x.page, x.section, &x.section->track[i]);
	page_close(&x.page);
}

static void build(const struct dataset *d, struct grid *g)
{
	sheet_each(d, g, SHEET_REPLAY, build_one);
}

const struct sheet sheet_replay = { 180, applies, build };
