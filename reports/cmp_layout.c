/* SPDX-License-Identifier: MIT */
/* Layouts side by side (one drive, several as they are, RAID): each figure, efficiency against as many single drives, write penalty. */
#include <math.h>
#include <string.h>

#include "reports/compare_figures.h"
#include "reports/scale.h"

#define CHART_ROWS 14

static const char *const subs[] = { "IOPS", "MB/s", "ART us", "v n drives" };

struct layouts {
	struct cmp_page p;
	struct cmp_groups g;
	unsigned list[COMPARE_RUNS], n; /* candidates, the single drive first */
	int single; /* candidate of one drive; -1 none */
	struct area *one; /* [g.n]: cells of its IOPS, for formulas */
};

static const struct subject *first_of(const struct comparison *c, unsigned candidate)
{
	return &c->run[c->candidate[candidate].run[0]];
}

static bool is_single(const struct comparison *c, unsigned candidate)
{
	const struct subject *s = first_of(c, candidate);

	return s->members <= 1 && !strcmp(s->layout, "one drive");
}

/* One drive to measure the layouts by: the baseline, else the first. */
static int single_of(const struct comparison *c)
{
	if (is_single(c, c->baseline))
		return (int)c->baseline;
	for (unsigned k = 0; k < c->n_candidates; k++)
		if (is_single(c, k))
			return (int)k;
	return -1;
}

static unsigned members(const struct comparison *c, unsigned candidate)
{
	unsigned n = first_of(c, candidate)->members;

	return n ? n : 1;
}

static double single_iops(struct layouts *x, const struct cmp_group *g)
{
	if (x->single < 0)
		return NAN;
	struct cmp_figure f = cmp_figure_of(&x->p, g, (unsigned)x->single);
	return cmp_value(&f.iops);
}

static void put_efficiency(struct layouts *x, const struct cmp_group *g, unsigned row,
			   unsigned candidate, struct area iops)
{
	struct area at = AT(iops.row, iops.col + 3);
	struct cmp_figure f = cmp_figure_of(&x->p, g, candidate);
	unsigned n = members(x->p.c, candidate);
	double v = scale_efficiency(cmp_value(&f.iops), n, single_iops(x, g));
	struct grid *grid = x->p.s->grid;

	if (isfinite(v))
		put_formula(x->p.s, at, STYLE(LOOK_FORMULA, NUM_PCT1), v, "=%s/(%u*%s)",
			    grid_ref(grid, iops, false), n, grid_ref(grid, x->one[row], true));
	else
		put_text(x->p.s, at, LOOK_NA, "n/a");
}

static void put(struct cmp_page *p, const struct cmp_wide *w, unsigned row, unsigned candidate,
		struct area at)
{
	struct cmp_figure f = cmp_figure_of(p, w->row[row], candidate);
	struct layouts *x = w->ctx;

	cmp_put(p, at, STYLE(LOOK_STRONG, NUM_GROUP), &f.iops);
	cmp_put(p, AT(at.row, at.col + 1), STYLE(LOOK_CELL, NUM_GROUP1), &f.mbs);
	cmp_put(p, AT(at.row, at.col + 2), STYLE(LOOK_CELL, NUM_GROUP1), &f.art_us);
	if ((int)candidate == x->single)
		x->one[row] = at;
	put_efficiency(x, w->row[row], row, candidate, at);
}

/* ---- write penalty ---- */

static bool is_write(const struct comparison *c, const struct cmp_group *g)
{
	return cmp_figure_any(c, g)->read_pct <= 0;
}

/* The same number of drives side by side, whose IOPS a layout is measured by where no single drive is there; -1 none. */
static int jbod_of(const struct comparison *c, unsigned candidate)
{
	for (unsigned k = 0; k < c->n_candidates; k++)
		if (k != candidate && members(c, k) == members(c, candidate) &&
		    !strncmp(first_of(c, k)->layout, "set of ", 7))
			return (int)k;
	return -1;
}

static double raw_iops(struct layouts *x, const struct cmp_group *g, unsigned candidate)
{
	double one = single_iops(x, g);
	int jbod = jbod_of(x->p.c, candidate);

	if (isfinite(one))
		return one * members(x->p.c, candidate);
	if (jbod < 0)
		return NAN;
	struct cmp_figure f = cmp_figure_of(&x->p, g, (unsigned)jbod);
	return cmp_value(&f.iops);
}

static void put_penalty(struct cmp_page *p, const struct cmp_wide *w, unsigned row,
			unsigned candidate, struct area at)
{
	struct cmp_figure f = cmp_figure_of(p, w->row[row], candidate);
	double v = raw_iops(w->ctx, w->row[row], candidate) / cmp_value(&f.iops);

	if (isfinite(v))
		put_num(p->s, AREA(at.row, at.col, at.row, at.col + 1), STYLE(LOOK_CELL, NUM_2), v);
	else
		cmp_put_missing(p, AREA(at.row, at.col, at.row, at.col + 1), f.iops.why);
}

static void put_penalties(struct layouts *x)
{
	const struct cmp_group **row = arena_array(x->p.a, const struct cmp_group *, x->g.n + 1);
	struct cmp_page *p = &x->p;
	unsigned n = 0, shown = x->n < 6 ? x->n : 6;
	struct cmp_wide w = { .row = row, .ctx = x };

	for (unsigned i = 0; i < x->g.n; i++)
		if (is_write(p->c, x->g.v[i]))
			row[n++] = x->g.v[i];
	for (unsigned first = 0; n && first < x->n; first += shown) {
		unsigned k = x->n - first < shown ? x->n - first : shown;
		cmp_room(p, n + 3 < 36 ? n + 3 : 8);
		cmp_table_title(
			p, LOOK_HEAD_SETUP, 4 + 2 * k,
			"Write penalty: IOPS of as many single drives / IOPS of the layout");
		cmp_head(p, 0, 3, "Load");
		for (unsigned i = 0; i < k; i++)
			cmp_head(p, 4 + 2 * i, 5 + 2 * i,
				 candidate_head(p->a, &p->c->candidate[x->list[first + i]]));
		cmp_heads_end(p);
		for (unsigned r = 0; r < n; r++, p->row++) {
			cmp_room(p, 1);
			put_text(p->s, AREA(p->row, 0, p->row, 3), LOOK_ROW_HEAD,
				 arena_fmt(p->a, "%s: %s", row[r]->sheet, row[r]->what));
			for (unsigned i = 0; i < k; i++)
				put_penalty(p, &w, r, x->list[first + i], AT(p->row, 4 + 2 * i));
		}
		p->row++;
	}
}

/* ---- the sheet ---- */

static void list_layouts(struct layouts *x)
{
	unsigned list[COMPARE_RUNS], n = cmp_groups_present(x->p.c, &x->g, list);

	if (x->single >= 0)
		x->list[x->n++] = (unsigned)x->single;
	for (unsigned i = 0; i < n; i++)
		if ((int)list[i] != x->single)
			x->list[x->n++] = list[i];
}

static void put_facts(struct layouts *x)
{
	struct cmp_page *p = &x->p;

	cmp_table(p, LOOK_HEAD_DEVICE, "Layouts");
	cmp_head(p, 0, 3, "Candidate");
	cmp_head(p, 4, 8, "Layout");
	cmp_head(p, 9, 9, "Drives");
	cmp_head(p, 10, 15, "Drive");
	cmp_heads_end(p);
	for (unsigned i = 0; i < x->n; i++, p->row++) {
		unsigned k = x->list[i];
		cmp_room(p, 1);
		put_text(p->s, AREA(p->row, 0, p->row, 3), LOOK_ROW_HEAD,
			 candidate_head(p->a, &p->c->candidate[k]));
		put_text(p->s, AREA(p->row, 4, p->row, 8), LOOK_VALUE, first_of(p->c, k)->layout);
		put_num(p->s, AT(p->row, 9), STYLE(LOOK_CENTER, NUM_INT), members(p->c, k));
		put_text(p->s, AREA(p->row, 10, p->row, 15), LOOK_VALUE, p->c->candidate[k].name);
	}
	p->row++;
}

static bool applies(const struct comparison *c)
{
	for (unsigned k = 0; k < c->n_candidates; k++)
		if (members(c, k) > 1 || strcmp(first_of(c, k)->layout, first_of(c, 0)->layout))
			return c->n_candidates > 1;
	return false;
}

static void build(const struct comparison *c, struct grid *g)
{
	struct layouts *x = arena_new(&g->arena, struct layouts);
	struct chart ch = chart_new(CHART_COLUMN, NULL, "IOPS (log scale)");

	cmp_open(&x->p, c, g, "Layouts", "Layouts - one drive, several, RAID");
	cmp_figures(&x->p, &x->g, NULL);
	x->single = single_of(c);
	x->one = arena_array(x->p.a, struct area, x->g.n + 1);
	list_layouts(x);
	struct cmp_wide w = { .look = LOOK_HEAD_PLATFORM,
			      .title = "Each load by layout",
			      .first = "Load",
			      .first_cols = 4,
			      .sub = subs,
			      .n_sub = 4,
			      .tests = true,
			      .row = (const struct cmp_group *const *)x->g.v,
			      .n_rows = x->g.n,
			      .list = x->list,
			      .n = x->n,
			      .put = put,
			      .ctx = x };
	cmp_begin(&x->p, "Layouts side by side");
	put_facts(x);
	ch.title = "IOPS by load and layout (log, higher is better)";
	ch.y.log = true;
	cmp_figure_chart(
		&x->p, &ch,
		(struct place){ x->p.row, 0, PAGE_COLS * PAGE_COL_PX, CHART_ROWS * ROW_PX }, &w,
		cmp_figure_iops);
	x->p.row += CHART_ROWS + 1;
	cmp_wide_put(&x->p, &w);
	put_penalties(x);
	cmp_note(&x->p,
		 "v n drives: IOPS / (drives of the layout x IOPS of one drive%s%s); live formulas."
		 " The write penalty takes a set of as many drives side by side where no single "
		 "drive"
		 " is compared. 1.00: none.",
		 x->single < 0 ? "; none is compared: n/a" : ", ",
		 x->single < 0 ? "" : c->candidate[x->single].label);
	cmp_close(&x->p);
}

const struct compare_sheet cmp_layout = { 260, applies, build };
