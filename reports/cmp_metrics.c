/* SPDX-License-Identifier: MIT */
/* Every metric of every run: the union, with what is missing said in words. */
#include <math.h>
#include <string.h>

#include "reports/compare_table.h"

#define RUNS_OF_BLOCK 10

static bool applies(const struct comparison *c)
{
	return true;
}

static void put_block(struct pager *p, const struct comparison *c, unsigned index)
{
	struct block b;

	block_init(&b, c, index, false);
	pager_need(p, HEAD_PX + 4 * ROW_PX);
	block_heads(p, c, &b);
	for (unsigned i = 0; i < c->n_metrics; i++) {
		if (pager_need(p, ROW_PX))
			block_heads(p, c, &b);
		block_line(p, c, &b, &c->metric[i]);
		pager_next(p, 0);
	}
	pager_next(p, 0);
}

/* ---- by run, where several are samples of one candidate ---- */

static void run_heads(struct pager *p, const struct comparison *c, unsigned from, unsigned n)
{
	put_text(p->s, AREA(p->row, 0, p->row, 4), LOOK_HEAD, "Metric");
	put_text(p->s, AT(p->row, 5), LOOK_HEAD, "Unit");
	for (unsigned i = 0; i < n; i++)
		put_fmt(p->s, AT(p->row, 6 + i), LOOK_HEAD, "%s (run %lld)", c->run[from + i].label,
			(long long)c->run[from + i].d.run_id);
	pager_next(p, HEAD_PX);
}

static void run_line(struct pager *p, const struct metric *m, unsigned from, unsigned n)
{
	put_text(p->s, AREA(p->row, 0, p->row, 4), LOOK_VALUE, m->title);
	put_text(p->s, AT(p->row, 5), LOOK_CENTER, compare_unit(m->unit));
	for (unsigned i = 0; i < n; i++)
		put_measured(p->s, AT(p->row, 6 + i), m, &m->run[from + i]);
	pager_next(p, 0);
}

static void put_runs(struct pager *p, const struct comparison *c)
{
	pager_need(p, HEAD_PX + 6 * ROW_PX);
	pager_section(p, "Each run by itself: a candidate's value is the mean of those that are "
			 "results");
	for (unsigned from = 0; from < c->n_runs; from += RUNS_OF_BLOCK) {
		unsigned n = c->n_runs - from;
		n = n > RUNS_OF_BLOCK ? RUNS_OF_BLOCK : n;
		pager_need(p, HEAD_PX + 4 * ROW_PX);
		run_heads(p, c, from, n);
		for (unsigned i = 0; i < c->n_metrics; i++) {
			if (pager_need(p, ROW_PX))
				run_heads(p, c, from, n);
			run_line(p, &c->metric[i], from, n);
		}
		pager_next(p, 0);
	}
}

/* ---- the same as rows, unrounded ---- */

static struct grid_sheet *data_sheet(struct grid *g, const char *name, const char *const *heads)
{
	struct grid_sheet *s = grid_sheet(g, name, ROLE_DATA);
	unsigned n = 0;

	for (; heads[n]; n++)
		put_text(s, AT(0, n), LOOK_HEAD, heads[n]);
	grid_col_width(s, 0, 0, 320);
	grid_col_width(s, 1, n - 1, 90);
	s->freeze_rows = 1;
	s->filter_cols = n;
	return s;
}

static unsigned put_metric_cells(struct grid_sheet *s, uint32_t row, const struct metric *m)
{
	const char *text[] = {
		m->key, m->test, m->access, m->tcqd, m->metric, compare_unit(m->unit)
	};
	unsigned n = sizeof text / sizeof text[0];

	for (unsigned i = 0; i < n; i++)
		put_text(s, AT(row, i), LOOK_CELL, text[i]);
	return n;
}

static void put_value(struct grid_sheet *s, uint32_t row, unsigned col, double v)
{
	put_num(s, AT(row, col), STYLE(LOOK_CELL, NUM_GENERAL), v);
}

static void put_by_candidate(const struct comparison *c, struct grid *g)
{
	static const char *const heads[] = { "key",	  "test",  "access",	      "tcqd",
					     "metric",	  "unit",  "lower_is_better", "weight_pct",
					     "candidate", "value", "samples",	      "cv",
					     "unit_cv",	  "delta", "noise",	      "reported",
					     "why",	  NULL };
	struct grid_sheet *s = data_sheet(g, "D_metrics", heads);
	uint32_t row = 1;

	for (unsigned i = 0; i < c->n_metrics; i++)
		for (unsigned k = 0; k < c->n_candidates; k++, row++) {
			const struct metric *m = &c->metric[i];
			const struct measured *v = &m->of[k];
			unsigned col = put_metric_cells(s, row, m);
			put_int(s, AT(row, col++), LOOK_CELL, m->lower_is_better);
			put_value(s, row, col++, m->weight);
			put_text(s, AT(row, col++), LOOK_CELL, c->candidate[k].label);
			put_value(s, row, col++, compare_shown(m->unit, v->value));
			put_int(s, AT(row, col++), LOOK_CELL, v->n);
			put_value(s, row, col++, v->cv);
			put_value(s, row, col++, v->unit_cv);
			put_value(s, row, col++, metric_delta(c, m, k));
			put_value(s, row, col++, m->noise);
			put_int(s, AT(row, col++), LOOK_CELL, v->reported);
			put_text(s, AT(row, col), LOOK_CELL, v->why);
		}
}

static void put_by_run(const struct comparison *c, struct grid *g)
{
	static const char *const heads[] = { "key",	 "test",   "access", "tcqd",  "metric",
					     "unit",	 "run_id", "run",    "value", "cv",
					     "reported", "why",	   NULL };
	struct grid_sheet *s = data_sheet(g, "D_runs", heads);
	uint32_t row = 1;

	for (unsigned i = 0; i < c->n_metrics; i++)
		for (unsigned k = 0; k < c->n_runs; k++, row++) {
			const struct measured *v = &c->metric[i].run[k];
			unsigned col = put_metric_cells(s, row, &c->metric[i]);
			put_int(s, AT(row, col++), LOOK_CELL, c->run[k].d.run_id);
			put_text(s, AT(row, col++), LOOK_CELL, c->run[k].label);
			put_value(s, row, col++, compare_shown(c->metric[i].unit, v->value));
			put_value(s, row, col++, v->cv);
			put_int(s, AT(row, col++), LOOK_CELL, v->reported);
			put_text(s, AT(row, col), LOOK_CELL, v->why);
		}
}

static void build(const struct comparison *c, struct grid *g)
{
	uint32_t row;
	struct grid_sheet *s = compare_page(c, g, "Metrics", "All Metrics", &row);
	struct pager p = pager_at(s, row, (row - 2) * 26 + 56);

	pager_text(&p, LOOK_NOTE, 0,
		   "Every metric that one of the runs has. n/a: it has no such value, or did not"
		   " run the test. Noise: 2 x the largest CV, of the rounds of a window or"
		   " between samples. A difference inside it is grey; where no noise is known (n/a)"
		   " it is not coloured.");
	pager_next(&p, 0);
	for (unsigned i = 0; i < block_count(c); i++)
		put_block(&p, c, i);
	if (c->n_runs > c->n_candidates)
		put_runs(&p, c);
	put_by_candidate(c, g);
	put_by_run(c, g);
}

const struct compare_sheet cmp_metrics = { .order = 800, .applies = applies, .build = build };
