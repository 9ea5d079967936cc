/* SPDX-License-Identifier: MIT */
/* Four corners and applications: the peak of each load that was measured as fast as the drive answers. */
#include <math.h>
#include <string.h>

#include "reports/compare_figures.h"

#define CHART_ROWS 13

static const char *const subs[] = { "IOPS", "MB/s", "ART us" };

/* Peaks of curves, and steps of tests without a sheet of their own. */
static bool is_peak(const struct figure *f)
{
	return f->kind == FIGURE_PEAK || f->kind == FIGURE_STEP;
}

/* One pattern, one size, one direction, and called by no more than that. */
static bool is_corner(const struct figure *f)
{
	return f->block_bytes > 0 && (f->read_pct >= 100 || f->read_pct <= 0) &&
	       (!strncmp(f->access, "RND ", 4) || !strncmp(f->access, "SEQ ", 4));
}

static void put(struct cmp_page *p, const struct cmp_wide *w, unsigned row, unsigned candidate,
		struct area at)
{
	struct cmp_figure f = cmp_figure_of(p, w->row[row], candidate);

	cmp_put(p, at, STYLE(LOOK_STRONG, NUM_GROUP), &f.iops);
	cmp_put(p, AT(at.row, at.col + 1), STYLE(LOOK_CELL, NUM_GROUP1), &f.mbs);
	cmp_put(p, AT(at.row, at.col + 2), STYLE(LOOK_CELL, NUM_GROUP1), &f.art_us);
}

struct corners {
	struct cmp_page p;
	struct cmp_groups g;
	unsigned list[COMPARE_RUNS], n; /* candidates that have any of them */
};

/* Corners: random before sequential, small before large, reads before writes. Others stay in their order. */
static bool comes_before(const struct figure *a, const struct figure *b)
{
	int by = strncmp(a->access, b->access, 3);

	if (by)
		return by < 0;
	if (a->block_bytes != b->block_bytes)
		return a->block_bytes < b->block_bytes;
	return a->read_pct > b->read_pct;
}

static unsigned pick(struct corners *x, bool corners, const struct cmp_group **ret)
{
	unsigned n = 0;

	for (unsigned i = 0; i < x->g.n; i++) {
		const struct figure *f = cmp_figure_any(x->p.c, x->g.v[i]);
		unsigned at = n;
		if (is_corner(f) != corners)
			continue;
		while (corners && at && comes_before(f, cmp_figure_any(x->p.c, ret[at - 1])))
			at--;
		memmove(ret + at + 1, ret + at, (n - at) * sizeof(*ret));
		ret[at] = x->g.v[i];
		n++;
	}
	return n;
}

/* Loads of one pattern of the table, for a chart of their own. */
static struct cmp_wide part_of(struct corners *x, const struct cmp_wide *w, const char *pattern)
{
	const struct cmp_group **row = arena_array(x->p.a, const struct cmp_group *, w->n_rows);
	struct cmp_wide part = *w;

	part.n_rows = 0;
	part.row = row;
	for (unsigned i = 0; i < w->n_rows; i++)
		if (!strncmp(cmp_figure_any(x->p.c, w->row[i])->access, pattern, 3))
			row[part.n_rows++] = w->row[i];
	return part;
}

static void charts_corners(struct corners *x, const struct cmp_wide *w)
{
	struct cmp_wide rnd = part_of(x, w, "RND"), seq = part_of(x, w, "SEQ");
	struct chart iops = chart_new(CHART_COLUMN, NULL, "IOPS");
	struct chart mbs = chart_new(CHART_COLUMN, NULL, "MB/s");
	const uint32_t wide = PAGE_COLS * PAGE_COL_PX, high = CHART_ROWS * ROW_PX;
	bool both = rnd.n_rows && seq.n_rows;

	iops.title = "Random: IOPS (higher is better)";
	mbs.title = "Sequential: MB/s (higher is better)";
	if (rnd.n_rows)
		cmp_figure_chart(&x->p, &iops,
				 (struct place){ x->p.row, 0, both ? wide / 2 - 6 : wide, high },
				 &rnd, cmp_figure_iops);
	if (seq.n_rows)
		cmp_figure_chart(&x->p, &mbs,
				 (struct place){ x->p.row, both ? PAGE_COLS / 2 : 0,
						 both ? wide / 2 : wide, high },
				 &seq, cmp_figure_mbs);
	x->p.row += CHART_ROWS + 1;
}

static void page(struct corners *x, bool corners)
{
	const struct cmp_group **row = arena_array(x->p.a, const struct cmp_group *, x->g.n);
	struct cmp_wide w = { .look = corners ? LOOK_HEAD_PLATFORM : LOOK_HEAD_DEVICE,
			      .title = corners ? "Corners - one size, one direction"
					       : "Applications and mixes",
			      .first = "Load",
			      .first_cols = 4,
			      .sub = subs,
			      .n_sub = 3,
			      .row = row,
			      .list = x->list,
			      .n = x->n,
			      .put = put };
	struct chart c = chart_new(CHART_COLUMN, NULL, "IOPS");

	w.n_rows = pick(x, corners, row);
	if (!w.n_rows)
		return;
	cmp_part(&x->p, CHART_ROWS + w.n_rows + 6, w.title);
	if (corners) {
		charts_corners(x, &w);
	} else {
		c.title = "Peak IOPS (higher is better)";
		cmp_figure_chart(
			&x->p, &c,
			(struct place){ x->p.row, 0, PAGE_COLS * PAGE_COL_PX, CHART_ROWS * ROW_PX },
			&w, cmp_figure_iops);
		x->p.row += CHART_ROWS + 1;
	}
	cmp_wide_put(&x->p, &w);
	cmp_note(
		&x->p,
		"As fast as the drive answers (closed loop), at the thread count and depth of the"
		" test: the found maximum of a curve, or the fastest step. Charts show the first 12"
		" loads. Several samples of a candidate: the mean of them; those not finished are"
		" left out.");
}

static bool applies(const struct comparison *c)
{
	struct arena a = { 0 };
	unsigned n = 0;

	for (unsigned r = 0; r < c->n_runs; r++) {
		struct figure *f;
		unsigned n_f = figures_load(&c->run[r].d, &a, &f), peaks = 0;
		for (unsigned i = 0; i < n_f; i++)
			peaks += is_peak(&f[i]);
		n = peaks > n ? peaks : n;
	}
	arena_release(&a);
	return n > 1;
}

static void build(const struct comparison *c, struct grid *g)
{
	struct corners *x = arena_new(&g->arena, struct corners);

	cmp_open(&x->p, c, g, "Workloads", "Corners and Applications - peaks of each load");
	cmp_figures(&x->p, &x->g, is_peak);
	x->n = cmp_groups_present(c, &x->g, x->list);
	page(x, true);
	page(x, false);
	cmp_close(&x->p);
}

const struct compare_sheet cmp_corners = { 240, applies, build };
