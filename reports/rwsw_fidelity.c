/* SPDX-License-Identifier: MIT */
/* How true an exact replay was: issued against recorded, lateness, span, depth, conflicts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/panels.h"
#include "reports/rwsw_replay.h"
#include "reports/series.h"

static const char *us_text(struct arena *a, int64_t ns)
{
	return ns < 0 ? "not known" : arena_fmt(a, "%.6g us", (double)ns / 1e3);
}

/* {"flushes":26,"x":1} -> "flushes 26, x 1" */
static const char *plain_text(struct arena *a, const char *json)
{
	char *s = arena_strdup(a, json), *to = s;
	bool quoted = false;

	for (const char *from = s; *from; from++) {
		char c = *from;
		if (c == '"') {
			quoted = !quoted;
			continue;
		}
		if (!quoted && (c == '{' || c == '}'))
			continue;
		*to++ = !quoted && c == ':' ? ' ' : !quoted && c == ',' ? ';' : c;
	}
	*to = 0;
	return *s ? s : "-";
}

static const char *count_text(struct arena *a, int64_t n)
{
	return n < 0 ? "not known" : arena_fmt(a, "%lld", (long long)n);
}

static const char *depth_text(struct arena *a, double avg, int64_t max)
{
	return isnan(avg) ? "not known" : arena_fmt(a, "%.2f, at most %lld", avg, (long long)max);
}

void fidelity_lines(struct replay_build *x, struct header *h)
{
	const struct fidelity *f = x->r->fidelity;

	h->rev = "not a PTS test";
	h->subject = arena_fmt(x->a, "Exact Replay - %s", *x->w->name ? x->w->name : "-");
	h->test[1] = (struct pair){ "Test", "exact replay, IO by IO" };
	h->test[2] = (struct pair){ "  Timing", arena_fmt(x->a, "open loop, speed %s",
							  *f->speed ? f->speed : "-") };
	h->test[3] = (struct pair){ "  Addresses", *f->fit ? f->fit : "-" };
	h->test[4] = (struct pair){ "  IOs in conflict", *f->order ? f->order : "-" };
	h->test[5] = (struct pair){ "  Issued / records",
				    arena_fmt(x->a, "%lld / %lld", (long long)f->issued,
					      (long long)f->records) };
	h->test[6] = (struct pair){ "  Span error",
				    isnan(f->span_error_pct)
					    ? "not known"
					    : arena_fmt(x->a, "%+.4f %%", f->span_error_pct) };
	h->test[7] = (struct pair){ "  Lateness 50 / 99 %",
				    arena_fmt(x->a, "%s / %s", us_text(x->a, f->late_p50_ns),
					      us_text(x->a, f->late_p99_ns)) };
}

/* One line: what, asked, had, a verdict or a remark. */
struct line {
	const char *what, *asked, *had, *remark;
	int good; /* 1, 0; -1: no verdict */
};

static void put_line(struct replay_build *x, const struct line *l, uint32_t row)
{
	struct grid_sheet *s = x->page.s;

	put_text(s, AREA(row, 0, row, 3), LOOK_KEY, l->what);
	put_text(s, AREA(row, 4, row, 6), LOOK_CENTER, l->asked);
	put_text(s, AREA(row, 7, row, 9),
		 l->good == 1	? LOOK_GOOD
		 : l->good == 0 ? LOOK_WARN
				: LOOK_CENTER,
		 l->had);
	put_text(s, AREA(row, 10, row, 15), LOOK_VALUE, l->remark);
}

static int zero_is_good(int64_t n)
{
	return n < 0 ? -1 : n == 0;
}

static uint32_t put_counts(struct replay_build *x, uint32_t row)
{
	const struct fidelity *f = x->r->fidelity;
	struct arena *a = x->a;
	const struct line line[] = {
		{ "IOs issued", count_text(a, f->records), count_text(a, f->issued),
		  "records of the capture, all loops: issued + left out",
		  f->records < 0 ? -1 : f->issued == f->records },
		{ "Records left out", "0", count_text(a, f->dropped), plain_text(a, f->why_dropped),
		  zero_is_good(f->dropped) },
		{ "Addresses moved to fit", "0", count_text(a, f->moved), *f->fit ? f->fit : "-",
		  zero_is_good(f->moved) },
		{ "Rounded to the LBA size", "0", count_text(a, f->rounded),
		  "offsets or lengths that are no multiple of it", zero_is_good(f->rounded) },
		{ "IOs in conflict", "-", count_text(a, f->conflicts),
		  "they overlapped one in flight, a write among the two", -1 },
		{ "Issued out of order", "0", count_text(a, f->reordered), "-",
		  zero_is_good(f->reordered) },
		{ "IOs shorter than asked; errors; hung", "0; 0; 0",
		  arena_fmt(a, "%s; %s; %s", count_text(a, f->short_ios), count_text(a, f->errors),
			    count_text(a, f->hung)),
		  "-", f->errors < 0 ? -1 : f->short_ios <= 0 && f->errors == 0 && f->hung <= 0 },
	};

	for (unsigned i = 0; i < sizeof line / sizeof line[0]; i++)
		put_line(x, &line[i], row++);
	return row;
}

static uint32_t put_times(struct replay_build *x, uint32_t row)
{
	const struct fidelity *f = x->r->fidelity;
	struct arena *a = x->a;
	const char *late = "from when the IO was due until it was handed to the kernel";
	const struct line line[] = {
		{ "Span, first to last issue",
		  f->span_asked_ns < 0 ? "not known"
				       : arena_fmt(a, "%.6f s", (double)f->span_asked_ns / 1e9),
		  f->span_ns < 0 ? "not known" : arena_fmt(a, "%.6f s", (double)f->span_ns / 1e9),
		  isnan(f->span_error_pct) ? "-"
					   : arena_fmt(a, "error %+.5f %%", f->span_error_pct),
		  isnan(f->span_error_pct) ? -1 : fabs(f->span_error_pct) <= 0.1 },
		{ "Lateness, 50 %", "0", us_text(a, f->late_p50_ns), late, -1 },
		{ "Lateness, 99 %", "0", us_text(a, f->late_p99_ns), late, -1 },
		{ "Lateness, 99.9 %", "0", us_text(a, f->late_p999_ns), late, -1 },
		{ "Lateness, highest", "0", us_text(a, f->late_max_ns), late, -1 },
		{ "Depth", depth_text(a, f->depth_asked_avg, f->depth_asked_max),
		  depth_text(a, f->depth_avg, f->depth_max),
		  "IOs in flight, mean and highest; asked: of the capture", -1 },
		{ "Stalls: every slot in flight", "0", count_text(a, f->stalls),
		  f->stall_ns < 0 ? "-" : arena_fmt(a, "%.6g ms in all", (double)f->stall_ns / 1e6),
		  zero_is_good(f->stalls) },
		{ "Starved: the next record was not loaded", "0", count_text(a, f->starved), "-",
		  zero_is_good(f->starved) },
	};

	for (unsigned i = 0; i < sizeof line / sizeof line[0]; i++)
		put_line(x, &line[i], row++);
	return row;
}

static void lateness_chart(struct replay_build *x, uint32_t row)
{
	const struct fidelity *f = x->r->fidelity;
	static const char *const name[] = { "50 %", "99 %", "99.9 %", "highest" };
	const int64_t ns[] = { f->late_p50_ns, f->late_p99_ns, f->late_p999_ns, f->late_max_ns };
	struct chart c = chart_new(CHART_LINE, "IOs not later than that", "us (log scale)");
	double us[4];
	struct plots pl;

	for (unsigned i = 0; i < 4; i++)
		us[i] = ns[i] < 0 ? NAN : fmax((double)ns[i], 1) / 1e3;
	plots_begin(&pl, x->page.s->grid, arena_fmt(x->a, "%s: lateness", x->page.t->sheet));
	struct range names = plots_labels(&pl, "IOs", name, 4);
	struct series one = { .name = "Lateness",
			      .x = names,
			      .y = plots_column(&pl, "us", us, 4),
			      .color = 0x2E75B6,
			      .width = 2,
			      .markers = true };
	c.title = "Lateness of the issue";
	axis_decades(&c.y, us, 4);
	c.legend = LEGEND_NONE;
	panel_put(&x->page, &c,
		  (struct place){ row, 0, PAGE_COLS * PAGE_COL_PX,
				  (x->page.next - row - 1) * ROW_PX },
		  &one, 1);
}

static void page_account(struct replay_build *x)
{
	static const struct table_head heads[] = {
		{ 0, 3, "Fidelity" }, { 4, 6, "Asked" }, { 7, 9, "Had" }, { 10, 15, "Remark" }
	};
	const struct fidelity *f = x->r->fidelity;
	struct page *p = &x->page;

	page_begin(p, "Table",
		   arena_fmt(x->a, "Fidelity of the Exact Replay - speed %s, %lld loop%s",
			     *f->speed ? f->speed : "-", (long long)(f->loops > 0 ? f->loops : 1),
			     f->loops > 1 ? "s" : ""));
	page_banner(p, x->section);
	uint32_t row = p->row;
	put_heads(p, row++, heads, 4);
	row = put_times(x, put_counts(x, row));
	if (*f->devices && strcmp(f->devices, "{}"))
		put_line(x, &(struct line){ "Devices", "-", "-", plain_text(x->a, f->devices), -1 },
			 row++);
	put_text(p->s, AREA(row, 0, row, 3), LOOK_KEY, "The account");
	put_text(p->s, AREA(row, 4, row, 15),
		 f->valid == 1	 ? LOOK_GOOD
		 : f->valid == 0 ? LOOK_BAD
				 : LOOK_NA,
		 f->valid == 1	 ? "within the limits"
		 : f->valid == 0 ? (*f->why_invalid ? f->why_invalid : "NOT within the limits")
				 : "not judged");
	lateness_chart(x, row + 2);
}

/* ---- rates and response times ---- */

static double ms_of(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns / 1e6;
}

static void put_levels(struct replay_build *x, const char *name, const struct levels *l,
		       uint32_t row)
{
	struct grid_sheet *s = x->page.s;
	const int64_t ns[] = { l->p50_ns, l->p99_ns, l->p999_ns, l->p9999_ns, l->p99999_ns };

	put_text(s, AREA(row, 0, row, 3), LOOK_ROW_HEAD, name);
	put_num(s, AREA(row, 4, row, 5), STYLE(LOOK_CELL, NUM_GROUP), (double)l->n);
	put_num(s, AREA(row, 6, row, 7), STYLE(LOOK_STRONG, NUM_4), l->art_ns / 1e6);
	for (unsigned i = 0; i < 5; i++)
		put_num(s, AT(row, 8 + i),
			STYLE(i == 4 && l->above < 100 ? LOOK_WARN : LOOK_CELL, NUM_3),
			ms_of(ns[i]));
	put_num(s, AREA(row, 13, row, 14), STYLE(LOOK_CELL, NUM_3), ms_of(l->mrt_ns));
	put_num(s, AT(row, 15), STYLE(LOOK_CELL, NUM_GROUP), (double)l->above);
}

static uint32_t put_rates(struct replay_build *x, uint32_t row)
{
	static const struct table_head heads[] = {
		{ 0, 3, "Response times" }, { 4, 5, "IOs" },	    { 6, 7, "ART (ms)" },
		{ 8, 8, "50 % (ms)" },	    { 9, 9, "99 %" },	    { 10, 10, "99.9 %" },
		{ 11, 11, "99.99 %" },	    { 12, 12, "99.999 %" }, { 13, 14, "MRT (ms)" },
		{ 15, 15, "IOs above" },
	};
	const struct replay *r = x->r;
	struct grid_sheet *s = x->page.s;

	put_heads(&x->page, row++, heads, sizeof heads / sizeof heads[0]);
	put_levels(x, "From the submission (service)", &r->service, row++);
	if (r->response.n)
		put_levels(x, "From when the IO was due (response)", &r->response, row++);
	put_text(s, AREA(row, 0, row, 3), LOOK_KEY, "IOPS; MB/s; seconds; IOs");
	put_fmt(s, AREA(row, 4, row, 15), LOOK_VALUE, "%.1f; %.2f; %.3f; %llu%s", r->cell->iops,
		r->cell->bytes_per_s / 1e6, (double)r->cell->elapsed_ns / 1e9,
		(unsigned long long)r->cell->ios, r->cell->partial ? " - CUT SHORT" : "");
	return row + 1;
}

/* As captured, on the clock of the replay; NULL series where the clock is not the capture's. */
static struct series captured(struct replay_build *x, double *top)
{
	const struct workload *w = x->w;
	double *t = arena_array(x->a, double, SERIES_POINTS);
	double *v = arena_array(x->a, double, SERIES_POINTS);
	unsigned *index = arena_array(x->a, unsigned, SERIES_POINTS);
	double *all = arena_array(x->a, double, w->n_steps + 1);
	struct series none = { .name = NULL };

	if (strcmp(x->r->fidelity->speed, "native") || !w->n_steps || w->step_ns <= 0)
		return none;
	for (unsigned i = 0; i < w->n_steps; i++)
		all[i] = (double)w->step[i].ios * 1e9 / (double)w->step_ns;
	unsigned n = series_thin(all, w->n_steps, SERIES_POINTS, index);
	for (unsigned i = 0; i < n; i++) {
		t[i] = (w->step[index[i]].start_ns + (double)w->step_ns) / 1e9;
		v[i] = all[index[i]];
		*top = fmax(*top, v[i]);
	}
	struct range time = plots_column(&x->pl, "captured: s", t, n);
	return (struct series){ .name = "captured, first loop",
				.x = time,
				.y = plots_column(&x->pl, "captured IO/s", v, n),
				.color = 0xED7D31,
				.width = 1.25,
				.dash = DASH_DASH };
}

static void rate_chart(struct replay_build *x, struct place at)
{
	const struct replay *r = x->r;
	unsigned *index = arena_array(x->a, unsigned, SERIES_POINTS);
	unsigned n = series_thin(r->ios, r->n_seconds, SERIES_POINTS, index);
	double *v = series_pick(x->a, r->ios, index, n), *t = arena_array(x->a, double, n + 1);
	struct chart c = chart_new(CHART_SCATTER, "Time (seconds)", "IO/s");
	double top = 0;

	for (unsigned i = 0; i < n; i++) {
		t[i] = r->second[index[i]] + 1;
		top = fmax(top, v[i]);
	}
	struct range time = plots_column(&x->pl, "replayed: s", t, n);
	struct series series[2] = { { .name = "replayed, each second",
				      .x = time,
				      .y = plots_column(&x->pl, "replayed IO/s", v, n),
				      .color = 0x2E75B6,
				      .width = 1.75,
				      .markers = n <= 40 } };
	series[1] = captured(x, &top);
	axis_time(&c.x, n ? t[n - 1] : 1);
	axis_from_zero(&c.y, &top, 1);
	c.legend = LEGEND_TOP;
	panel_put(&x->page, &c, at, series, series[1].name ? 2 : 1);
}

static void second_times(struct replay_build *x, struct place at)
{
	const struct replay *r = x->r;
	unsigned *index = arena_array(x->a, unsigned, SERIES_POINTS);
	unsigned n = series_thin(r->mrt_ns, r->n_seconds, SERIES_POINTS, index);
	double *t = arena_array(x->a, double, n + 1), *v = arena_array(x->a, double, 2 * n + 1);
	struct chart c = chart_new(CHART_SCATTER, "Time (seconds)",
				   "Response time (ms, log scale)");

	for (unsigned i = 0; i < n; i++) {
		t[i] = r->second[index[i]] + 1;
		v[i] = r->mrt_ns[index[i]] / 1e6;
		v[n + i] = r->art_ns[index[i]] / 1e6;
	}
	struct range time = plots_column(&x->pl, "s", t, n);
	struct series series[2] = { { .name = "Maximum of each second",
				      .x = time,
				      .y = plots_column(&x->pl, "MRT ms", v, n),
				      .color = 0x7F7F7F,
				      .width = 1.25,
				      .markers = n <= 40 },
				    { .name = "ART of each second",
				      .x = time,
				      .y = plots_column(&x->pl, "ART ms", v + n, n),
				      .color = 0xED7D31,
				      .width = 1.75,
				      .markers = n <= 40 } };
	axis_time(&c.x, n ? t[n - 1] : 1);
	axis_decades(&c.y, v, 2 * n);
	c.legend = LEGEND_TOP;
	panel_put(&x->page, &c, at, series, 2);
}

static void page_rates(struct replay_build *x)
{
	struct page *p = &x->page;

	page_begin(p, "Table and Plots", "Exact Replay: Rate and Response Times");
	page_banner(p, x->section);
	uint32_t row = put_rates(x, p->row) + 1, rows = (p->next - row - 2) / 2;
	plots_begin(&x->pl, p->s->grid, arena_fmt(x->a, "%s: each second", p->t->sheet));
	rate_chart(x, (struct place){ row, 0, PAGE_COLS * PAGE_COL_PX, rows * ROW_PX });
	second_times(x, (struct place){ row + rows, 0, PAGE_COLS * PAGE_COL_PX, rows * ROW_PX });
}

void fidelity_pages(struct replay_build *x)
{
	page_account(x);
	if (x->r->cell)
		page_rates(x);
}
