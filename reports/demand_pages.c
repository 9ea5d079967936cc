/* SPDX-License-Identifier: MIT */
/* The sheet of a demand variation test: header, order of the pages, plots over rounds and minutes (spec 14, 19). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/clp.h"
#include "reports/demand_priv.h"
#include "reports/rwsw.h"

#define FULL_PX (PAGE_COLS * PAGE_COL_PX)
#define STEPS_MAX 2000

void demand_page(struct demand_build *x, const struct section *s, const char *number,
		 const char *kind, const char *title)
{
	x->page.number = number;
	page_begin(&x->page, kind, title);
	page_banner(&x->page, s && s->steady == 0 ? s : NULL);
}

const char *demand_access(struct arena *a, const struct demand *m)
{
	const struct combo *c = m->dv && m->dv->n_combos ? &m->dv->combo[0] : NULL;

	if (!c)
		return pairs_get(&m->t->params, "access") ? pairs_get(&m->t->params, "access")
							  : "-";
	if (c->block_bytes <= 0 && isfinite(c->read_pct)) {
		const char *rw = strstr(c->access, " rw ");
		size_t len = rw ? (size_t)(rw - c->access) : strlen(c->access);
		return arena_fmt(a, "%.*s R/W %s", (int)len, c->access, mix_text(a, c->read_pct));
	}
	if (c->block_bytes <= 0)
		return c->access;
	return arena_fmt(a, "%s %s KiB R/W %s", c->pattern, kib_text(a, c->block_bytes),
			 mix_text(a, c->read_pct));
}

double ms_or_nan(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns / 1e6;
}

/* ---- the header block ---- */

static const struct measure *first_of(const struct demand_build *x, const struct section *s,
				      const char *phase)
{
	for (unsigned i = 0; s && i < x->d->n_measures; i++) {
		const struct measure *m = &x->d->measure[i];
		if (measure_counts(m, x->m->t) && m->section == s->number &&
		    !strcmp(m->phase, phase))
			return m;
	}
	return NULL;
}

static const char *depth_text(struct arena *a, const struct measure *m)
{
	return m ? arena_fmt(a, "TC %d / QD %d", m->threads, m->qd) : "-";
}

static const char *point_text(struct arena *a, const struct demand *m, const char *key)
{
	for (unsigned i = 0; i < m->n_points; i++)
		if (!strcmp(m->point[i].key, key))
			return tcqd_text(a, m->point[i].op->threads, m->point[i].op->qd);
	return "-";
}

/* "1 - 32, 49 points, high to low TOIO" */
static const char *loop_text(struct arena *a, const struct demand *m)
{
	if (!m->n_cells)
		return "-";
	return arena_fmt(a, "%d-%d, %u points, high to low", m->tc[m->n_tc - 1], m->tc[0],
			 m->n_cells);
}

static void fill_header(struct demand_build *x, struct header *h)
{
	const struct demand *m = x->m;
	const struct measure *pc = first_of(x, m->pre, "sample"), *ir = first_of(x, m->dv, "irpw");
	const struct measure *cell = first_of(x, m->dv, "round");
	struct arena *a = x->a;

	h->subject = arena_fmt(a, "%s - %s", m->t->sheet, demand_access(a, m));
	h->setup[3] = (struct pair){ "Pre-condition 1", pc ? pc->access : "-" };
	h->setup[4] = (struct pair){ "  TOIO - TC/QD", depth_text(a, pc) };
	h->setup[5] = (struct pair){ "  SS rounds", m->pre ? steady_text(a, m->t, m->pre) : "-" };
	h->setup[6] = (struct pair){
		"Inter-round pre-write",
		ir ? arena_fmt(a, "%s, %s", ir->access, asked_text(a, m->t, ir)) : "-"
	};
	h->setup[7] = (struct pair){ "  TOIO - TC/QD", depth_text(a, ir) };
	h->test[1] = (struct pair){ "Test stimulus", cell ? demand_access(a, m) : "-" };
	h->test[2] = (struct pair){ "  TC & QD loops", loop_text(a, m) };
	h->test[3] = (struct pair){ "  Step time", cell ? asked_text(a, m->t, cell) : "-" };
	h->test[4] = (struct pair){ "Tracking variable",
				    m->dv && m->dv->n_tracks ? m->dv->track[0].title : "-" };
	h->test[5] = (struct pair){ "DV SS rounds", m->dv ? steady_text(a, m->t, m->dv) : "-" };
	h->test[6] = (struct pair){ "Min / Mid point",
				    arena_fmt(a, "%s / %s", point_text(a, m, "min"),
					      point_text(a, m, "mid")) };
	h->test[7] = (struct pair){ "Max IOPS point", point_text(a, m, "max") };
}

/* ---- IOPS over minutes: P1, P3, P9, P11, P13 ---- */

struct over_time {
	const char *head; /* of its block of numbers */
	const char *since; /* "Time since the start of the test" */
	const struct measure *const *m;
	unsigned n;
	uint64_t from_ns; /* zero of the axis */
	bool points; /* no line */
};

static double end_ns(const struct over_time *o)
{
	const struct measure *m = o->n ? o->m[o->n - 1] : NULL;

	return m ? (double)(m->start_ns + m->elapsed_ns - o->from_ns) : 0;
}

static void time_chart(struct demand_build *x, const struct over_time *o, struct place at)
{
	struct chart c = chart_new(CHART_SCATTER, NULL, "IOPS");
	double unit_ns = end_ns(o) < 180e9 ? 1e9 : 60e9; /* quick runs take seconds */
	unsigned step = o->n / STEPS_MAX + 1, n = 0;
	double *when = arena_array(x->a, double, STEPS_MAX + 1);
	double *iops = arena_array(x->a, double, STEPS_MAX + 1), top = 0, last = 0;
	struct plots pl;

	for (unsigned i = 0; i < o->n; i += step) {
		const struct measure *m = o->m[i];
		when[n] = (double)(m->start_ns + m->elapsed_ns - o->from_ns) / unit_ns;
		last = fmax(last, when[n]);
		iops[n++] = m->iops;
		top = fmax(top, m->iops);
	}
	const char *unit = unit_ns > 1e9 ? "min" : "s";
	plots_begin(&pl, x->page.s->grid, arena_fmt(x->a, "%s: %s", x->m->t->sheet, o->head));
	struct series one = { .name = "IOPS",
			      .x = plots_column(&pl, unit, when, n),
			      .y = plots_column(&pl, "IOPS", iops, n),
			      .color = 0x2E75B6,
			      .width = o->points ? 0 : 1.75,
			      .markers = o->points || n <= 100 };
	chart_place(&c, at);
	c.x.title = arena_fmt(x->a, "%s (%s)", o->since, unit);
	axis_round(&c.x, 0, last);
	c.x.fmt = axis_fmt(c.x.max);
	c.x.grid = true;
	axis_round(&c.y, 0, top);
	c.y.fmt = axis_fmt(c.y.max);
	c.legend = LEGEND_NONE;
	c.series = &one;
	c.n_series = 1;
	if (n)
		grid_chart(x->page.s, &c);
}

static void put_heads(struct grid_sheet *s, uint32_t row, const char *const *head)
{
	for (unsigned i = 0; head[i]; i++)
		put_text(s, AREA(row, 2 * i, row, 2 * i + 1), LOOK_HEAD, head[i]);
}

/* One line of eight values of steps written between or before the measured ones. */
static void put_write(struct demand_build *x, const struct measure *m, uint32_t row,
		      const char *first, double end_s)
{
	struct grid_sheet *s = x->page.s;

	put_text(s, AREA(row, 0, row, 1), LOOK_ROW_HEAD, first);
	put_num(s, AREA(row, 2, row, 3), STYLE(LOOK_CELL, NUM_GROUP1), end_s);
	put_num(s, AREA(row, 4, row, 5), STYLE(LOOK_CELL, NUM_2), (double)m->elapsed_ns / 1e9);
	put_num(s, AREA(row, 6, row, 7), STYLE(LOOK_CELL, NUM_GROUP1), m->iops);
	put_num(s, AREA(row, 8, row, 9), STYLE(LOOK_CELL, NUM_GROUP1), m->bytes_per_s / 1e6);
	put_num(s, AREA(row, 10, row, 11), STYLE(LOOK_CELL, ms_fmt(m->art_ns / 1e6)),
		m->art_ns / 1e6);
	put_num(s, AREA(row, 12, row, 13), STYLE(LOOK_CELL, NUM_2), ms_or_nan(m->mrt_ns));
	put_num(s, AREA(row, 14, row, 15), STYLE(LOOK_CELL, NUM_3), (double)m->write_bytes / 1e9);
}

/* ---- P1, P2 ---- */

static void page_preconditioning(struct demand_build *x)
{
	const struct section *s = x->m->pre;
	const struct combo *list[1] = { s->n_combos ? &s->combo[0] : NULL };
	const char *name[1] = { list[0] ? tcqd_text(x->a, list[0]->threads, list[0]->qd) : "" };
	struct convergence c = { s, list, name, s->n_combos ? 1 : 0, FIELD_IOPS, false, "IOPS" };
	const struct measure **all = arena_array(x->a, const struct measure *,
						 x->d->n_measures + 1);
	struct over_time o = { .head = "pre conditioning, every step",
			       .since = "Time since the start of the test",
			       .m = all };

	for (unsigned i = 0; i < x->d->n_measures; i++) {
		const struct measure *m = &x->d->measure[i];
		if (measure_counts(m, x->m->t) && m->section == s->number &&
		    (!strcmp(m->phase, "sample") || !strcmp(m->phase, "wdpc")))
			all[o.n++] = m;
	}
	demand_page(x, s, "P1", "Plot",
		    arena_fmt(x->a,
			      "Pre Conditioning IOPS - %s v Round, and every step v time (%s)",
			      name[0], list[0] ? list[0]->access : "nothing measured"));
	convergence_chart(&x->page, &c, (struct place){ x->page.row, 0, FULL_PX, 14 * ROW_PX });
	convergence_table(&x->page, &c, x->page.row + 14);
	time_chart(x, &o, (struct place){ x->page.row + 17, 0, FULL_PX, 14 * ROW_PX });
}

static void pages_window(struct demand_build *x, const struct section *s, const char *number)
{
	x->page.number = number;
	for (unsigned i = 0; s && i < s->n_tracks; i++)
		window_page(&x->page, s, &s->track[i]);
}

/* ---- P3 ---- */

#define LINES 10

static void page_between(struct demand_build *x)
{
	static const char *const heads[] = { "Before round", "End (s)",	   "Seconds",
					     "IOPS",	     "MB/s",	   "ART (ms)",
					     "MRT (ms)",     "GB written", NULL };
	const struct demand *m = x->m;
	uint64_t from = m->irpw[0]->start_ns;
	struct over_time o = { "between round pre-writes",
			       "Time since the start of demand variation",
			       m->irpw,
			       m->n_irpw,
			       from,
			       true };
	unsigned first = m->n_irpw > LINES ? m->n_irpw - LINES : 0;
	uint32_t row;

	demand_page(x, m->dv, "P3", "Plot",
		    arena_fmt(x->a, "Between Round Pre Writes - IOPS v time (%s, %s)",
			      m->irpw[0]->access,
			      tcqd_text(x->a, m->irpw[0]->threads, m->irpw[0]->qd)));
	time_chart(x, &o, (struct place){ x->page.row, 0, FULL_PX, 18 * ROW_PX });
	row = x->page.row + 19;
	put_heads(x->page.s, row, heads);
	for (unsigned i = first; i < m->n_irpw; i++) {
		const struct measure *w = m->irpw[i];
		put_write(x, w, ++row, arena_fmt(x->a, "%d", w->round),
			  (double)(w->start_ns + w->elapsed_ns - from) / 1e9);
	}
	if (first)
		put_fmt(x->page.s, AREA(row + 1, 0, row + 1, 15), LOOK_NOTE,
			"The last %u of %u; sheet D_rounds holds all.", LINES, m->n_irpw);
}

/* ---- P4 ---- */

static void page_rounds(struct demand_build *x)
{
	const struct demand *m = x->m;
	const struct combo *list[DEMAND_MAX];
	const char *name[DEMAND_MAX];
	struct convergence c = {
		.s = m->dv, .combo = list, .name = name, .field = FIELD_IOPS, .y_title = "IOPS"
	};

	for (unsigned k = 0; k < m->n_qd; k++) {
		if (!m->cell[0][k])
			continue;
		list[c.n] = m->cell[0][k];
		name[c.n++] = arena_fmt(x->a, "TC %d QD %d", m->tc[0], m->qd[k]);
	}
	demand_page(x, m->dv, "P4", "Plot",
		    arena_fmt(x->a, "DV IOPS - TC=%d (tracking), all QD v Round (%s)", m->tc[0],
			      demand_access(x->a, m)));
	convergence_chart(&x->page, &c, (struct place){ x->page.row, 0, FULL_PX, 20 * ROW_PX });
	if (c.n <= 9)
		convergence_table(&x->page, &c, x->page.row + 21);
}

/* ---- P9 .. P14 ---- */

static void page_prewrite(struct demand_build *x, const struct demand_point *p, const char *number)
{
	static const char *const heads[] = { "Step",	 "End (s)",  "Seconds",	   "IOPS", "MB/s",
					     "ART (ms)", "MRT (ms)", "GB written", NULL };
	struct over_time o = { arena_fmt(x->a, "%s pre-writes", p->name),
			       "Time since the start of the pre-writes",
			       p->minute,
			       p->n_minutes,
			       0,
			       false };
	uint32_t row;

	demand_page(x, x->m->dv, number, "Plot",
		    arena_fmt(x->a, "%s Pre-Writes - IOPS v time (%s, %s)", p->name,
			      p->n_minutes ? p->minute[0]->access : "not measured",
			      tcqd_text(x->a, p->op->threads, p->op->qd)));
	if (!p->n_minutes) {
		put_text(x->page.s, AREA(x->page.row, 0, x->page.row, 15), LOOK_NA, "not measured");
		return;
	}
	o.from_ns = p->minute[0]->start_ns;
	time_chart(x, &o, (struct place){ x->page.row, 0, FULL_PX, 24 * ROW_PX });
	row = x->page.row + 25;
	put_heads(x->page.s, row, heads);
	for (unsigned i = 0; i < 2; i++) {
		const struct measure *m = p->minute[i ? p->n_minutes - 1 : 0];
		put_write(x, m, row + 1 + i, i ? "last" : "first",
			  (double)(m->start_ns + m->elapsed_ns - o.from_ns) / 1e9);
	}
}

static void page_no_histogram(struct demand_build *x, const struct demand_point *p,
			      const char *number)
{
	demand_page(x, x->m->dv, number, "Plot", arena_fmt(x->a, "%s RT Histogram", p->name));
	put_text(x->page.s, AREA(x->page.row, 0, x->page.row, 15), LOOK_NA,
		 "not measured: the test ended before");
}

static void pages_points(struct demand_build *x)
{
	for (unsigned i = 0; i < x->m->n_points; i++) {
		const struct demand_point *p = &x->m->point[i];
		const char *pre = arena_fmt(x->a, "P%u", 9 + 2 * i);
		const char *hist = arena_fmt(x->a, "P%u", 10 + 2 * i);
		if (i > 2) /* beyond the three of the PTS */
			pre = hist = "";
		page_prewrite(x, p, pre);
		if (!p->hist) {
			page_no_histogram(x, p, hist);
			continue;
		}
		x->page.number = *hist ? arena_fmt(x->a, "%s - %s", hist, p->name) : p->name;
		clp_pages(&x->page, x->m->dv, p->hist);
	}
}

/* ---- the sheet ---- */

static void page_nothing(struct demand_build *x, const char *number, const char *what)
{
	unsigned cells = 0;

	for (unsigned i = 0; x->m->dv && !x->m->n_cells && i < x->d->n_measures; i++)
		cells += measure_counts(&x->d->measure[i], x->m->t) &&
			 !strcmp(x->d->measure[i].phase, "round");
	demand_page(x, NULL, number, "Plot", what);
	if (cells)
		put_fmt(x->page.s, AREA(x->page.row, 0, x->page.row, 15), LOOK_NA,
			"No round of the loop was completed; sheet D_rounds holds the %u cells"
			" that were measured.",
			cells);
	else
		put_text(x->page.s, AREA(x->page.row, 0, x->page.row, 15), LOOK_NA,
			 "Not measured: the test did not come that far.");
}

static void pages_variation(struct demand_build *x)
{
	const struct demand *m = x->m;

	if (m->n_irpw)
		page_between(x);
	if (!m->n_cells) {
		page_nothing(x, m->n_irpw ? "P4-P15" : "P3-P15", "Demand Variation");
		return;
	}
	page_rounds(x);
	pages_window(x, m->dv, "P5 - DV");
	demand_tables(x);
	demand_variation(x);
	demand_intensity(x);
	demand_cpu(x);
	demand_table_load(x);
	pages_points(x);
	if (!m->n_points)
		page_nothing(x, "P9-P14", "Max, Mid and Min IOPS: Pre-Writes and RT Histograms");
	for (unsigned i = 0; i < m->n_points; i++) {
		if (m->point[i].hist && m->point[i].hist->hist->n) {
			demand_compare(x);
			break;
		}
	}
	demand_toio(x);
	demand_table_toio(x);
}

void demand_sheet(const struct dataset *d, struct grid *g, const struct test *t)
{
	struct demand *m = arena_new(&g->arena, struct demand);
	struct demand_build x = { .d = d, .m = m, .a = &g->arena };
	struct header h;

	demand_init(m, d, t, &g->arena);
	header_fill(&h, d, t, &g->arena);
	struct header common = h;
	fill_header(&x, &h);
	if (rwsw_is(t)) { /* the capture takes the place of the set-up; how it was prepared is on P1 and P2 */
		memcpy(h.setup, common.setup, sizeof h.setup);
		rwsw_header(&h, d, t, &g->arena);
	}
	page_open(&x.page, g, d, t, &h);
	if (rwsw_is(t)) {
		x.page.number = "";
		rwsw_pages(&x.page);
	} else {
		demand_access_page(&x);
	}
	if (m->pre) {
		page_preconditioning(&x);
		pages_window(&x, m->pre, "P2 - Pre Conditioning");
	}
	pages_variation(&x);
	page_close(&x.page);
}
