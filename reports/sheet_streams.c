/* SPDX-License-Identifier: MIT */
/* Individual Streams-WSAT (spec 17.3): each stream of a capture alone, to its steady state. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/panels.h"
#include "reports/rwsw.h"

#define FULL_PX (PAGE_COLS * PAGE_COL_PX)
#define LISTED 14 /* streams of the table */
#define SMALL 9 /* small charts of a page */
#define SMALL_POINTS 500

struct streams_build {
	struct page page;
	const struct workload *w;
	struct stream_alone *s;
	unsigned n;
	struct arena *a;
};

static bool applies(const struct dataset *d)
{
	return d->rwsw && sheet_any(d, SHEET_STREAMS);
}

static double ms_of(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns / 1e6;
}

static const struct io_stream *stream_of(const struct streams_build *x, unsigned i)
{
	return x->s[i].stream < x->w->n_streams ? &x->w->stream[x->s[i].stream] : NULL;
}

static bool unsteady(const struct stream_alone *s)
{
	return s->section->steady == 0;
}

/* ---- the table ---- */

static const struct table_head heads[] = {
	{ 0, 1, "IO stream" },	    { 2, 2, "% of all IOs" }, { 3, 3, "Normalised" },
	{ 4, 4, "TC/QD" },	    { 5, 6, "IOPS alone" },   { 7, 7, "CV" },
	{ 8, 8, "MB/s alone" },	    { 9, 9, "ART (ms)" },     { 10, 10, "99.9 % (ms)" },
	{ 11, 11, "99.999 %" },	    { 12, 12, "MRT (ms)" },   { 13, 13, "SS rounds" },
	{ 14, 15, "Steady state" },
};

static void put_times(struct streams_build *x, const struct combo *c, enum look look, uint32_t row)
{
	struct grid_sheet *g = x->page.s;
	bool few = c->p99999_ns >= 0 && c->above < 100;

	put_num(g, AT(row, 9), STYLE(look, ms_fmt(c->art_ns / 1e6)), c->art_ns / 1e6);
	put_num(g, AT(row, 10), STYLE(look, NUM_3), ms_of(c->p999_ns));
	put_num(g, AT(row, 11), STYLE(few ? LOOK_WARN : look, NUM_3), ms_of(c->p99999_ns));
	put_num(g, AT(row, 12), STYLE(look, NUM_2), ms_of(c->mrt_ns));
}

static void put_rate(struct streams_build *x, const struct stream_alone *s, uint32_t row)
{
	const struct combo *c = s->combo;
	unsigned style = STYLE(result_look(s->section, LOOK_STRONG), NUM_GROUP1);

	if (c->n_window)
		put_formula(x->page.s, AREA(row, 5, row, 6), style, c->iops, "=AVERAGE(%s)",
			    rounds_list(x->page.s->grid, c->window, c->n_window, RC_IOPS));
	else
		put_text(x->page.s, AREA(row, 5, row, 6), LOOK_NA, "n/a");
}

static void put_stream(struct streams_build *x, unsigned i, uint32_t row)
{
	const struct stream_alone *s = &x->s[i];
	const struct io_stream *of = stream_of(x, i);
	struct grid_sheet *g = x->page.s;
	enum look look = result_look(s->section, LOOK_CELL);
	const char *steady = steady_text(x->a, x->page.t, s->section);

	put_text(g, AREA(row, 0, row, 1), LOOK_ROW_HEAD, s->name);
	put_num(g, AT(row, 2), STYLE(LOOK_CELL, NUM_2), of ? of->share_pct : NAN);
	put_num(g, AT(row, 3), STYLE(LOOK_CELL, NUM_2), of ? of->normalized_pct : NAN);
	put_text(g, AREA(row, 14, row, 15),
		 *steady == 'n' ? LOOK_NA
		 : unsteady(s)	? LOOK_BAD
				: LOOK_GOOD,
		 steady);
	put_text(g, AT(row, 13), LOOK_CENTER, window_text(x->a, s->section));
	if (!s->combo) {
		put_text(g, AREA(row, 4, row, 12), LOOK_NA, "no complete round");
		return;
	}
	put_text(g, AT(row, 4), LOOK_CENTER, tcqd_text(x->a, s->combo->threads, s->combo->qd));
	put_rate(x, s, row);
	put_num(g, AT(row, 7), STYLE(look, NUM_PCT2), s->combo->iops_cv);
	put_num(g, AT(row, 8), STYLE(look, NUM_GROUP1), s->combo->bytes_per_s / 1e6);
	put_times(x, s->combo, look, row);
}

/* IOPS if the streams took turns in their shares: what the drive's weak streams cost. */
static void put_mean(struct streams_build *x, uint32_t row, uint32_t first)
{
	struct grid *g = x->page.s->grid;
	bool settled = true;

	for (unsigned i = 0; i < x->n; i++)
		settled &= !unsteady(&x->s[i]);
	put_text(x->page.s, AREA(row, 0, row, 4), LOOK_KEY,
		 "Harmonic mean, weighted by the normalised shares");
	double mean = rwsw_alone_mean(x->w, x->s, x->n);
	if (isnan(mean)) {
		put_text(x->page.s, AREA(row, 5, row, 6), LOOK_NA, "n/a");
		return;
	}
	const char *shares = grid_ref(g, AREA(first, 3, row - 1, 3), false);
	put_formula(x->page.s, AREA(row, 5, row, 6),
		    STYLE(settled ? LOOK_FORMULA : LOOK_UNSTEADY, NUM_GROUP1), mean,
		    "=SUM(%s)/SUMPRODUCT(%s/%s)", shares, shares,
		    grid_ref(g, AREA(first, 5, row - 1, 5), false));
}

static void bars(struct streams_build *x, bool art, struct range names, struct plots *pl,
		 struct place at)
{
	struct chart c = chart_new(CHART_BAR, art ? "ART (us)" : "IOPS", NULL);
	unsigned n = x->n < LISTED ? x->n : LISTED;
	double v[LISTED], top = 0;
	uint64_t hatched = 0;

	for (unsigned i = 0; i < n; i++) { /* the first one at the top */
		const struct stream_alone *s = &x->s[n - 1 - i];
		v[i] = !s->combo ? NAN : art ? s->combo->art_ns / 1e3 : s->combo->iops;
		top = fmax(top, isnan(v[i]) ? 0 : v[i]);
		hatched |= (uint64_t)unsteady(s) << i;
	}
	struct series one = { .name = art ? "ART" : "IOPS",
			      .x = names,
			      .y = plots_column(pl, art ? "ART us" : "IOPS", v, n),
			      .color = art ? 0xED7D31 : 0x7030A0,
			      .labels = true,
			      .label_fmt = art && top < 1000 ? NUM_GROUP1 : NUM_GROUP,
			      .hatched = hatched,
			      .n_points = n };
	c.title = art ? "ART of each stream alone (lower is better)"
		      : "IOPS of each stream alone (higher is better)";
	axis_round(&c.x, 0, top * 1.2); /* room for the labels */
	c.x.fmt = axis_fmt(c.x.max);
	c.x.grid = true;
	c.y.grid = false;
	c.legend = LEGEND_NONE;
	c.gap = 35;
	panel_put(&x->page, &c, at, &one, 1);
}

static void page_table(struct streams_build *x)
{
	struct page *p = &x->page;
	unsigned n = x->n < LISTED ? x->n : LISTED;
	const char *name[LISTED];
	struct plots pl;

	page_begin(p, "Table and Plots", "Individual Streams, each run alone to steady state");
	page_banner(p, NULL);
	uint32_t row = p->row, first = row + 1;
	put_heads(p, row++, heads, sizeof heads / sizeof heads[0]);
	for (unsigned i = 0; i < n; i++)
		put_stream(x, i, row++);
	if (!n)
		put_text(p->s, AREA(row++, 0, p->row + 1, 15), LOOK_NA,
			 "no stream was run before the test ended");
	if (x->n > LISTED)
		put_fmt(p->s, AREA(row, 0, row, 15), LOOK_NOTE,
			"%u more streams: their windows follow.", x->n - LISTED);
	else if (n)
		put_mean(x, row, first);
	row += 2;
	plots_begin(&pl, p->s->grid, arena_fmt(x->a, "%s: streams alone", p->t->sheet));
	for (unsigned i = 0; i < n; i++)
		name[i] = x->s[n - 1 - i].name;
	struct range names = plots_labels(&pl, "stream", name, n);
	const uint32_t high = (p->next - row - 2) * ROW_PX;
	bars(x, false, names, &pl, (struct place){ row, 0, FULL_PX / 2 - 4, high });
	bars(x, true, names, &pl, (struct place){ row, 8, FULL_PX / 2, high });
	put_text(p->s, AREA(p->next - 2, 0, p->next - 2, 15), LOOK_NOTE,
		 "Streams in the order of their shares; means of the rounds of the window. Hatched:"
		 " no steady state, not a PTS result. Harmonic mean: the IOPS of the streams one"
		 " after the other in their shares.");
}

/* ---- IOPS v time, a small chart each ---- */

static unsigned time_points(const struct streams_build *x, const struct section *s, double *t,
			    double *iops)
{
	const struct dataset *d = x->page.d;
	const struct measure *first = NULL;
	unsigned all = 0, n = 0, seen = 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < d->n_measures; i++) {
			const struct measure *m = &d->measure[i];
			if (!measure_counts(m, x->page.t) || m->section != s->number ||
			    (strcmp(m->phase, "wdpc") && strcmp(m->phase, "sample")))
				continue;
			first = first ? first : m;
			all += !pass;
			if (!pass || seen++ % (all / SMALL_POINTS + 1) || n == SMALL_POINTS)
				continue;
			t[n] = (double)(m->start_ns + m->elapsed_ns - first->start_ns);
			iops[n++] = m->iops;
		}
	return n;
}

static void small_chart(struct streams_build *x, unsigned i, struct place at)
{
	double *t = arena_array(x->a, double, SMALL_POINTS);
	double *iops = arena_array(x->a, double, SMALL_POINTS);
	const struct section *s = x->s[i].section;
	unsigned n = time_points(x, s, t, iops);
	struct time_unit u = time_unit_of(n ? t[n - 1] : 0);
	struct chart c = chart_new(CHART_SCATTER, NULL, "IOPS");
	struct plots pl;

	for (unsigned k = 0; k < n; k++)
		t[k] /= u.ns;
	plots_begin(&pl, x->page.s->grid,
		    arena_fmt(x->a, "%s: %s v time", x->page.t->sheet, x->s[i].name));
	struct range time = plots_column(&pl, u.name, t, n);
	struct series one = { .name = "IOPS",
			      .x = time,
			      .y = plots_column(&pl, "IOPS", iops, n),
			      .color = unsteady(&x->s[i]) ? 0xC00000 : 0x2E75B6,
			      .width = 1.5,
			      .markers = n < 40 };
	c.x.title = u.axis;
	c.title = arena_fmt(x->a, "%s - %s", x->s[i].name, steady_text(x->a, x->page.t, s));
	axis_time(&c.x, n ? t[n - 1] : 1);
	axis_from_zero(&c.y, iops, n);
	c.legend = LEGEND_NONE;
	panel_put(&x->page, &c, at, &one, 1);
}

static void pages_time(struct streams_build *x)
{
	const uint32_t cols = PAGE_COLS / 3, rows = 10;

	for (unsigned i = 0; i < x->n; i++) {
		unsigned k = i % SMALL;
		if (!k) {
			page_begin(&x->page, "Plot", "IOPS v time of each stream, from its purge");
			page_banner(&x->page, NULL);
		}
		small_chart(x, i,
			    (struct place){ x->page.row + k / 3 * rows, k % 3 * cols,
					    cols * PAGE_COL_PX + (k % 3 == 2 ? PAGE_COL_PX : -4),
					    rows * ROW_PX });
	}
}

/* ---- the sheet ---- */

static void test_lines(struct streams_build *x, struct header *h)
{
	unsigned settled = 0;

	for (unsigned i = 0; i < x->n; i++)
		settled += x->s[i].section->steady == 1;
	h->test[1] = (struct pair){ "Test", arena_fmt(x->a, "%u streams, one by one", x->n) };
	h->test[2] = (struct pair){ "  Purge before each",
				    x->n && *x->s[x->n - 1].section->purge_method ? "yes" : "no" };
	h->test[3] = (struct pair){ "  Steady streams",
				    arena_fmt(x->a, "%u of %u", settled, x->n) };
	h->setup[8] = (struct pair){ "Notes", x->page.d->quick ? "QUICK values, not the PTS's"
							       : "SS rounds: see the table" };
	h->test[5] = (struct pair){ "Tracking variable", "IOPS of the 1-min samples" };
}

static void build_one(const struct dataset *d, struct grid *g, const struct test *t)
{
	struct streams_build x = { .w = &d->rwsw->cap, .a = &g->arena };
	struct header h;

	x.s = arena_array(x.a, struct stream_alone, t->n_sections + 1);
	x.n = rwsw_alone(d, t, x.a, x.s);
	header_fill(&h, d, t, x.a);
	rwsw_header(&h, d, t, x.a);
	x.page.d = d;
	test_lines(&x, &h);
	page_open(&x.page, g, d, t, &h);
	x.page.letter = 'R';
	page_table(&x);
	pages_time(&x);
	rwsw_pages(&x.page);
	for (unsigned i = 0; i < t->n_sections; i++)
		for (unsigned k = 0; k < t->section[i].n_tracks; k++)
			window_page(&x.page, &t->section[i], &t->section[i].track[k]);
	page_close(&x.page);
}

static void build(const struct dataset *d, struct grid *g)
{
	sheet_each(d, g, SHEET_STREAMS, build_one);
}

const struct sheet sheet_streams = { 182, applies, build };
