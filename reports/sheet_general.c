/* SPDX-License-Identifier: MIT */
/* Any test without a sheet of its own: sections, steady-state windows, values over time, results, operating points. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/clp.h"
#include "reports/sheet.h"

#define WINDOWS_MAX 16
#define ROWS_PER_PAGE 28
#define LINES_MAX 400
#define CURVE_MAX 2000

bool sheet_is_own(const char *test)
{
	static const char *const own[] = { "iops", "tp", "lat", "wsat", "hir", "xsr" };

	for (unsigned i = 0; i < sizeof own / sizeof own[0]; i++)
		if (!strcmp(test, own[i]))
			return true;
	return false;
}

static bool wanted(const struct test *t)
{
	return t->attempt && sheet_kind(t) == SHEET_GENERAL;
}

static bool applies(const struct dataset *d)
{
	for (unsigned i = 0; i < d->n_tests; i++)
		if (wanted(&d->test[i]))
			return true;
	return false;
}

static const char *purge_text(const struct section *s)
{
	return s->purge_verified == 1 ? "verified" : s->purge_verified == 0 ? "NOT VERIFIED" : "-";
}

static void put_section(struct page *p, const struct section *s, uint32_t row)
{
	struct grid_sheet *g = p->s;
	struct arena *a = &g->grid->arena;
	enum look look = s->steady == 1 ? LOOK_GOOD : s->steady == 0 ? LOOK_BAD : LOOK_NA;

	put_num(g, AT(row, 0), STYLE(LOOK_ROW_HEAD, NUM_INT), s->number);
	put_text(g, AREA(row, 1, row, 3), LOOK_VALUE, *s->label ? s->label : "-");
	put_text(g, AREA(row, 4, row, 6), LOOK_VALUE, *s->purge_method ? s->purge_method : "-");
	put_text(g, AT(row, 7), LOOK_CENTER, purge_text(s));
	put_num(g, AT(row, 8), STYLE(LOOK_CENTER, NUM_INT), s->rounds);
	put_text(g, AREA(row, 9, row, 10), LOOK_CENTER, window_text(a, s));
	put_text(g, AREA(row, 11, row, 13), look, steady_text(a, p->t, s));
	put_text(g, AREA(row, 14, row, 15), LOOK_VALUE, *s->ended_by ? s->ended_by : "-");
}

static void page_sections(struct page *p)
{
	static const struct {
		unsigned col, col2;
		const char *head;
	} heads[] = { { 0, 0, "Section" },	  { 1, 3, "Label" },	 { 4, 6, "Purge" },
		      { 7, 7, "Verified" },	  { 8, 8, "Rounds" },	 { 9, 10, "Window" },
		      { 11, 13, "Steady state" }, { 14, 15, "Ended by" } };

	page_begin(p, "Table", "Sections and Steady State");
	page_banner(p, NULL);
	uint32_t row = p->row;
	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(p->s, AREA(row, heads[i].col, row, heads[i].col2), LOOK_HEAD,
			 heads[i].head);
	row++;
	for (unsigned i = 0; i < p->t->n_sections && row < p->next - 1; i++)
		put_section(p, &p->t->section[i], row++);
	if (!p->t->n_sections)
		put_text(p->s, AREA(row, 0, row, 15), LOOK_NA, "nothing was measured");
}

/* ---- IOPS and throughput over time ---- */

static unsigned time_points(const struct page *p, double *x, double *iops, double *mbs)
{
	const struct dataset *d = p->d;
	unsigned all = 0, n = 0, seen = 0;

	for (unsigned i = 0; i < d->n_measures; i++)
		all += !strcmp(d->measure[i].test, p->t->name);
	for (unsigned i = 0; i < d->n_measures && n < CURVE_MAX; i++) {
		const struct measure *m = &d->measure[i];
		if (strcmp(m->test, p->t->name) || m->attempt != p->t->attempt || m->void_ ||
		    m->partial || m->member >= 0 || !strcmp(m->phase, "wipc") ||
		    !strcmp(m->phase, "idle"))
			continue;
		if (seen++ % (all / CURVE_MAX + 1))
			continue;
		x[n] = (double)(m->start_ns + m->elapsed_ns) / 60e9;
		iops[n] = m->iops;
		mbs[n++] = m->bytes_per_s / 1e6;
	}
	return n;
}

static void time_chart(struct page *p, struct place at, struct series *one, const char *title)
{
	struct chart c = chart_new(CHART_SCATTER, "Time since the start of the test (min)", title);

	one->color = 0x2E75B6;
	one->width = 1.5;
	chart_place(&c, at);
	c.y.min = 0;
	c.y.fmt = NUM_GROUP;
	c.x.grid = true;
	c.legend = LEGEND_NONE;
	c.series = one;
	c.n_series = 1;
	grid_chart(p->s, &c);
}

static void page_time(struct page *p)
{
	struct arena *a = &p->s->grid->arena;
	double *x = arena_array(a, double, CURVE_MAX), *iops = arena_array(a, double, CURVE_MAX);
	double *mbs = arena_array(a, double, CURVE_MAX);
	unsigned n = time_points(p, x, iops, mbs);
	struct plots pl;

	if (n < 2)
		return;
	page_begin(p, "Plot", "IOPS and Throughput v Time - all measured steps");
	page_banner(p, NULL);
	plots_begin(&pl, p->s->grid, arena_fmt(a, "%s: v time", p->t->sheet));
	struct range t = plots_column(&pl, "min", x, n);
	struct series first = { .name = "IOPS", .x = t, .y = plots_column(&pl, "IOPS", iops, n) };
	struct series second = { .name = "MB/s", .x = t, .y = plots_column(&pl, "MB/s", mbs, n) };
	time_chart(p, (struct place){ p->row, 0, PAGE_COLS * PAGE_COL_PX, 15 * ROW_PX }, &first,
		   "IOPS");
	time_chart(p, (struct place){ p->row + 15, 0, PAGE_COLS * PAGE_COL_PX, 15 * ROW_PX },
		   &second, "MB/s");
}

/* ---- results of the loops ---- */

struct lines { /* a table that goes on over pages */
	struct page *p;
	uint32_t row, left;
	unsigned n;
	bool rated; /* a cell had a rate */
	const char *title;
	void (*head)(struct page *p, uint32_t row);
};

static uint32_t lines_next(struct lines *l)
{
	if (!l->left) {
		page_begin(l->p, "Table", l->title);
		page_banner(l->p, NULL);
		l->row = l->p->row;
		l->head(l->p, l->row++);
		l->left = ROWS_PER_PAGE;
	}
	l->left--;
	l->n++;
	return l->row++;
}

static void combo_head(struct page *p, uint32_t row)
{
	static const struct {
		unsigned col, col2;
		const char *head;
	} heads[] = { { 0, 3, "Access" },  { 4, 5, "Label" },	 { 6, 6, "TC/QD" },
		      { 7, 7, "Rounds" },  { 8, 9, "IOPS" },	 { 10, 10, "CV" },
		      { 11, 12, "MB/s" },  { 13, 13, "ART ms" }, { 14, 14, "99.999 % ms" },
		      { 15, 15, "MRT ms" } };

	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(p->s, AREA(row, heads[i].col, row, heads[i].col2), LOOK_HEAD,
			 heads[i].head);
}

static double ms_of(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns / 1e6;
}

/* " at 1000 IO/s" of a cell with a rate, else "". */
static const char *rate_text(struct arena *a, const struct measure *m)
{
	return m && m->rate_iops > 0 ? arena_fmt(a, " at %.6g IO/s", m->rate_iops) : "";
}

static const struct measure *a_round(const struct combo *c)
{
	for (unsigned i = 0; i < c->n_rounds; i++)
		if (c->round[i])
			return c->round[i];
	return NULL;
}

/* Below the last line of a table in which a cell has a rate. */
static void rate_note(struct lines *l)
{
	if (l->rated)
		put_text(l->p->s, AREA(l->row, 0, l->row, 15), LOOK_NOTE,
			 "At a rate (\"at N IO/s\") ART, 99.999 % and MRT are response times: they"
			 " count from when an I/O was due, waiting included.");
}

static void put_combo(struct page *p, const struct section *s, const struct combo *c, uint32_t row)
{
	struct grid_sheet *g = p->s;
	struct arena *a = &g->grid->arena;
	enum look look = result_look(s, LOOK_CELL);

	put_fmt(g, AREA(row, 0, row, 3), LOOK_VALUE, "%s%s", c->title, rate_text(a, a_round(c)));
	put_text(g, AREA(row, 4, row, 5), LOOK_VALUE, *c->label ? c->label : s->label);
	put_text(g, AT(row, 6), LOOK_CENTER, tcqd_text(a, c->threads, c->qd));
	put_text(g, AT(row, 7), LOOK_CENTER, mean_text(a, s));
	put_num(g, AREA(row, 8, row, 9), STYLE(look, NUM_GROUP1), c->iops);
	put_num(g, AT(row, 10), STYLE(look, NUM_PCT2), c->iops_cv);
	put_num(g, AREA(row, 11, row, 12), STYLE(look, NUM_GROUP1), c->bytes_per_s / 1e6);
	put_num(g, AT(row, 13), STYLE(look, ms_fmt(c->art_ns / 1e6)), c->art_ns / 1e6);
	put_num(g, AT(row, 14), STYLE(look, NUM_3), ms_of(c->p99999_ns));
	put_num(g, AT(row, 15), STYLE(look, NUM_2), ms_of(c->mrt_ns));
}

static void pages_combos(struct page *p)
{
	struct lines l = { .p = p,
			   .head = combo_head,
			   .title = "Cells of the Loops - mean of the window rounds" };

	for (unsigned i = 0; i < p->t->n_sections; i++)
		for (unsigned k = 0; k < p->t->section[i].n_combos && l.n < LINES_MAX; k++) {
			const struct combo *c = &p->t->section[i].combo[k];
			l.rated |= *rate_text(&p->s->grid->arena, a_round(c)) != 0;
			put_combo(p, &p->t->section[i], c, lines_next(&l));
		}
	rate_note(&l);
}

/* ---- steps outside loops: stimuli, replay steps, captures ---- */

static void step_head(struct page *p, uint32_t row)
{
	static const struct {
		unsigned col, col2;
		const char *head;
	} heads[] = { { 0, 0, "Cell" },		 { 1, 2, "Phase" },   { 3, 4, "Label" },
		      { 5, 7, "Access" },	 { 8, 8, "TC/QD" },   { 9, 9, "Seconds" },
		      { 10, 11, "IOPS" },	 { 12, 12, "MB/s" },  { 13, 13, "ART ms" },
		      { 14, 14, "99.999 % ms" }, { 15, 15, "MRT ms" } };

	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(p->s, AREA(row, heads[i].col, row, heads[i].col2), LOOK_HEAD,
			 heads[i].head);
}

static void put_step(struct page *p, const struct measure *m, uint32_t row)
{
	struct grid_sheet *g = p->s;

	put_int(g, AT(row, 0), LOOK_CENTER, m->cell_id);
	put_text(g, AREA(row, 1, row, 2), LOOK_VALUE, m->phase);
	put_text(g, AREA(row, 3, row, 4), LOOK_VALUE, *m->label ? m->label : "-");
	put_fmt(g, AREA(row, 5, row, 7), LOOK_VALUE, "%s%s", *m->access ? m->access : "-",
		rate_text(&g->grid->arena, m));
	put_text(g, AT(row, 8), LOOK_CENTER, tcqd_text(&g->grid->arena, m->threads, m->qd));
	put_num(g, AT(row, 9), STYLE(LOOK_CELL, NUM_3), (double)m->elapsed_ns / 1e9);
	put_num(g, AREA(row, 10, row, 11), STYLE(LOOK_CELL, NUM_GROUP1), m->iops);
	put_num(g, AT(row, 12), STYLE(LOOK_CELL, NUM_GROUP1), m->bytes_per_s / 1e6);
	put_num(g, AT(row, 13), STYLE(LOOK_CELL, ms_fmt(m->art_ns / 1e6)), m->art_ns / 1e6);
	put_num(g, AT(row, 14), STYLE(LOOK_CELL, NUM_3), ms_of(m->p99999_ns));
	put_num(g, AT(row, 15), STYLE(LOOK_CELL, NUM_2), ms_of(m->mrt_ns));
}

static void pages_steps(struct page *p)
{
	struct lines l = { .p = p, .head = step_head, .title = "Measured Steps outside the Loops" };
	unsigned more = 0;

	for (unsigned i = 0; i < p->d->n_measures; i++) {
		const struct measure *m = &p->d->measure[i];
		if (!measure_counts(m, p->t) || !measure_is_step(m))
			continue;
		if (l.n == LINES_MAX) {
			more++;
			continue;
		}
		l.rated |= m->rate_iops > 0;
		put_step(p, m, lines_next(&l));
	}
	if (more) {
		put_fmt(p->s, AREA(l.row, 0, l.row, 15), LOOK_NOTE,
			"%u more steps: sheet D_rounds holds all.", more);
		l.row++;
	}
	rate_note(&l);
}

static void point_head(struct page *p, uint32_t row)
{
	static const struct {
		unsigned col, col2;
		const char *head;
	} heads[] = { { 0, 0, "Point" },  { 1, 2, "Section" }, { 3, 3, "TC/QD" },
		      { 4, 4, "IOPS" },	  { 5, 5, "ART ms" },  { 6, 7, "99.999 % ms" },
		      { 8, 15, "Reason" } };

	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(p->s, AREA(row, heads[i].col, row, heads[i].col2), LOOK_HEAD,
			 heads[i].head);
}

static void pages_points(struct page *p)
{
	struct lines l = { .p = p, .head = point_head, .title = "Operating Points" };
	struct grid_sheet *g = p->s;

	for (unsigned i = 0; i < p->d->n_points; i++) {
		const struct operating_point *o = &p->d->point[i];
		if (strcmp(o->test, p->t->name))
			continue;
		const struct section *s = section_at(p->t, o->section);
		uint32_t row = lines_next(&l);
		put_text(g, AT(row, 0), LOOK_ROW_HEAD, o->point);
		put_text(g, AREA(row, 1, row, 2), LOOK_VALUE, s && *s->label ? s->label : "-");
		put_text(g, AT(row, 3), LOOK_CENTER, tcqd_text(&g->grid->arena, o->threads, o->qd));
		put_num(g, AT(row, 4), STYLE(LOOK_CELL, NUM_GROUP1), o->iops);
		put_num(g, AT(row, 5), STYLE(LOOK_CELL, ms_fmt(o->art_ns / 1e6)), o->art_ns / 1e6);
		put_num(g, AREA(row, 6, row, 7), STYLE(LOOK_CELL, NUM_3), ms_of(o->p99999_ns));
		put_text(g, AREA(row, 8, row, 15), LOOK_VALUE, o->reason);
	}
}

static void build_test(const struct dataset *d, struct grid *g, const struct test *t)
{
	struct header h;
	struct page p;
	unsigned windows = 0;

	header_fill(&h, d, t, &g->arena);
	page_open(&p, g, d, t, &h);
	page_sections(&p);
	for (unsigned i = 0; i < t->n_sections; i++)
		for (unsigned k = 0; k < t->section[i].n_tracks && windows++ < WINDOWS_MAX; k++)
			window_page(&p, &t->section[i], &t->section[i].track[k]);
	page_time(&p);
	pages_combos(&p);
	pages_points(&p);
	pages_steps(&p);
	for (unsigned i = 0; i < t->n_sections; i++)
		for (unsigned k = 0; k < t->section[i].n_hists && k < 8; k++)
			clp_pages(&p, &t->section[i], &t->section[i].hist[k]);
	page_close(&p);
}

static void build(const struct dataset *d, struct grid *g)
{
	for (unsigned i = 0; i < d->n_tests; i++)
		if (wanted(&d->test[i]))
			build_test(d, g, &d->test[i]);
}

const struct sheet sheet_general = { 200, applies, build };
