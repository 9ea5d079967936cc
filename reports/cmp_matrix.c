/* SPDX-License-Identifier: MIT */
/* Workloads as rows: over the number of drives, and the best inside a response time; IOPS with MB/s and latency beside each. */
#include <math.h>
#include <string.h>

#include "reports/compare_figures.h"
#include "reports/scale.h"
#include "reports/sheet.h"

#define ABREAST 4 /* numbers of drives beside one another */
#define CHART_ROWS 14

static const char *const best_subs[] = { "IOPS", "MB/s", "ART us", "TC/QD" };

struct workloads {
	struct cmp_page p;
	struct cmp_groups scale; /* struct scale_load */
	struct cmp_groups best; /* struct figure */
	unsigned candidate;
	int drives[SCALE_SIDE]; /* of the candidate, rising */
	unsigned n_drives;
};

/* ---- over the number of drives ---- */

static void add_test(void *ctx, unsigned run, const struct test *t)
{
	struct workloads *x = ctx;

	if (sheet_kind(t) != SHEET_SCALE)
		return;
	struct scale_load *l = arena_array(x->p.a, struct scale_load, SCALE_LOADS);
	unsigned n = scale_loads(&x->p.c->run[run].d, t, l);
	for (unsigned i = 0; i < n; i++)
		cmp_group_add(&x->scale, &x->p, run, t, access_title(x->p.a, l[i].first), &l[i]);
}

static void add_drives(struct workloads *x, const struct scale_load *l)
{
	for (unsigned i = 0; i < l->n_drives; i++) {
		unsigned at = 0;
		while (at < x->n_drives && x->drives[at] < l->drives[i])
			at++;
		if (x->n_drives == SCALE_SIDE ||
		    (at < x->n_drives && x->drives[at] == l->drives[i]))
			continue;
		memmove(x->drives + at + 1, x->drives + at, (x->n_drives - at) * sizeof(int));
		x->drives[at] = l->drives[i];
		x->n_drives++;
	}
}

/* Loads of the candidate, and their numbers of drives. */
static unsigned list_loads(struct workloads *x, const struct cmp_group **ret)
{
	const struct candidate *k = &x->p.c->candidate[x->candidate];
	unsigned n = 0;

	x->n_drives = 0;
	for (unsigned i = 0; i < x->scale.n; i++) {
		bool any = false;
		for (unsigned s = 0; s < k->n_runs; s++) {
			const struct scale_load *l = x->scale.v[i]->of[k->run[s]];
			if (!l)
				continue;
			any = true;
			add_drives(x, l);
		}
		if (any)
			ret[n++] = x->scale.v[i];
	}
	return n;
}

struct at_drives {
	struct cmp_mean iops, mbs, art;
};

static struct at_drives cell_of(struct workloads *x, const struct cmp_group *g, int drives)
{
	const struct candidate *k = &x->p.c->candidate[x->candidate];
	struct at_drives c = { .iops = { .n = 0 } };

	for (unsigned s = 0; s < k->n_runs; s++) {
		const struct scale_load *l = g->of[k->run[s]];
		const char *why = why_no_result(g->test[k->run[s]], NULL);
		for (unsigned i = 0; l && i < l->n_drives; i++) {
			const struct measure *m = l->drives[i] == drives ? scale_best(l, i) : NULL;
			if (!m)
				continue;
			cmp_add(&c.iops, m->iops, why);
			cmp_add(&c.mbs, m->bytes_per_s / 1e6, why);
			cmp_add(&c.art, m->ios ? m->art_ns / 1e3 : NAN, why);
		}
	}
	return c;
}

static void drive_heads(struct workloads *x, unsigned first, unsigned n)
{
	struct cmp_page *p = &x->p;

	cmp_table(p, LOOK_HEAD_PLATFORM, "%s: workloads by number of drives%s",
		  candidate_head(p->a, &p->c->candidate[x->candidate]), first ? ", continued" : "");
	cmp_head(p, 0, 3, "Workload");
	for (unsigned i = 0; i < n; i++) {
		int drives = x->drives[first + i];
		cmp_head(p, 4 + 3 * i, 4 + 3 * i,
			 arena_fmt(p->a, "%d drive%s: IOPS", drives, drives > 1 ? "s" : ""));
		cmp_head(p, 5 + 3 * i, 5 + 3 * i, "MB/s");
		cmp_head(p, 6 + 3 * i, 6 + 3 * i, "ART us");
	}
	cmp_heads_end(p);
}

static void drive_row(struct workloads *x, const struct cmp_group *g, unsigned first, unsigned n)
{
	struct cmp_page *p = &x->p;

	put_text(p->s, AREA(p->row, 0, p->row, 3), LOOK_ROW_HEAD, g->what);
	for (unsigned i = 0; i < n; i++) {
		struct at_drives c = cell_of(x, g, x->drives[first + i]);
		cmp_put(p, AT(p->row, 4 + 3 * i), STYLE(LOOK_STRONG, NUM_GROUP), &c.iops);
		cmp_put(p, AT(p->row, 5 + 3 * i), STYLE(LOOK_CELL, NUM_GROUP1), &c.mbs);
		cmp_put(p, AT(p->row, 6 + 3 * i), STYLE(LOOK_CELL, NUM_GROUP1), &c.art);
	}
	p->row++;
}

static void put_drives(struct workloads *x)
{
	const struct cmp_group **row = arena_array(x->p.a, const struct cmp_group *,
						   x->scale.n + 1);
	unsigned n_rows = list_loads(x, row);

	for (unsigned first = 0; n_rows && first < x->n_drives; first += ABREAST) {
		unsigned n = x->n_drives - first < ABREAST ? x->n_drives - first : ABREAST;
		cmp_room(&x->p, n_rows + 3 < 36 ? n_rows + 3 : 8);
		drive_heads(x, first, n);
		for (unsigned r = 0; r < n_rows; r++) {
			if (cmp_room(&x->p, 1))
				drive_heads(x, first, n);
			drive_row(x, row[r], first, n);
		}
		x->p.row++;
	}
}

static void pages_drives(struct workloads *x)
{
	unsigned list[COMPARE_RUNS], n = cmp_groups_present(x->p.c, &x->scale, list);

	if (x->scale.n < 2)
		return;
	cmp_begin(&x->p, "Workloads by number of drives");
	for (unsigned k = 0; k < n; k++) {
		x->candidate = list[k];
		put_drives(x);
	}
	cmp_note(
		&x->p,
		"At the thread count with the most MB/s for each number of drives. MB/s = 10^6 B/s."
		" Several samples of a candidate: the mean of them.");
}

/* ---- the best inside a response time ---- */

static bool is_best(const struct figure *f)
{
	return f->kind == FIGURE_BEST;
}

static void put_best(struct cmp_page *p, const struct cmp_wide *w, unsigned row, unsigned candidate,
		     struct area at)
{
	struct cmp_figure f = cmp_figure_of(p, w->row[row], candidate);
	enum look look = f.outside ? LOOK_WARN : LOOK_STRONG;

	cmp_put(p, at, STYLE(look, NUM_GROUP), &f.iops);
	cmp_put(p, AT(at.row, at.col + 1), STYLE(LOOK_CELL, NUM_GROUP1), &f.mbs);
	cmp_put(p, AT(at.row, at.col + 2), STYLE(LOOK_CELL, NUM_GROUP1), &f.art_us);
	put_fmt(p->s, AT(at.row, at.col + 3), *f.tcqd ? LOOK_CENTER : LOOK_NA, "%s%s",
		*f.tcqd ? f.tcqd : "-", f.outside ? " OUTSIDE" : "");
}

static void pages_best(struct workloads *x)
{
	struct chart c = chart_new(CHART_COLUMN, NULL, "IOPS (log scale)");
	unsigned list[COMPARE_RUNS];
	struct cmp_wide w = { .look = LOOK_HEAD_SETUP,
			      .title = "Best IOPS inside a response time, over TC x QD",
			      .first = "Workload",
			      .first_cols = 4,
			      .sub = best_subs,
			      .n_sub = 4,
			      .row = (const struct cmp_group *const *)x->best.v,
			      .n_rows = x->best.n,
			      .list = list,
			      .put = put_best };

	if (x->best.n < 2)
		return;
	w.n = cmp_groups_present(x->p.c, &x->best, list);
	cmp_begin(&x->p, "Best inside a response time");
	c.title = "Best IOPS inside the bound (log, higher is better)";
	c.y.log = true;
	cmp_figure_chart(
		&x->p, &c,
		(struct place){ x->p.row, 0, PAGE_COLS * PAGE_COL_PX, CHART_ROWS * ROW_PX }, &w,
		cmp_figure_iops);
	x->p.row += CHART_ROWS + 1;
	cmp_wide_put(&x->p, &w);
	cmp_note(&x->p,
		 "The cell each run picked. Amber, OUTSIDE: no cell was inside the bound; that "
		 "with the"
		 " lowest response time stands instead.");
}

static bool applies(const struct comparison *c)
{
	for (unsigned r = 0; r < c->n_runs; r++) {
		const struct dataset *d = &c->run[r].d;
		struct arena a = { 0 };
		struct figure *f;
		unsigned scale = 0, best = 0, n = figures_load(d, &a, &f);
		for (unsigned i = 0; i < n; i++) {
			scale += f[i].kind == FIGURE_SCALE;
			best += f[i].kind == FIGURE_BEST;
		}
		arena_release(&a);
		if (scale > 1 || best > 1)
			return true;
	}
	return false;
}

static void build(const struct comparison *c, struct grid *g)
{
	struct workloads *x = arena_new(&g->arena, struct workloads);

	cmp_open(&x->p, c, g, "Matrix", "Workload Matrix - IOPS, MB/s and latency");
	cmp_each_test(c, add_test, x);
	cmp_figures(&x->p, &x->best, is_best);
	pages_drives(x);
	pages_best(x);
	cmp_close(&x->p);
}

const struct compare_sheet cmp_matrix = { 245, applies, build };
