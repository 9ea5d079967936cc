/* SPDX-License-Identifier: MIT */
/* What the sheets of a comparison have in common: their heads, and cells of metrics. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/compare.h"
#include "reports/page.h"

struct grid_sheet *compare_page(const struct comparison *c, struct grid *g, const char *name,
				const char *title, uint32_t *ret_row)
{
	struct arena *a = &g->arena;
	const struct candidate *base = &c->candidate[c->baseline];
	struct grid_sheet *s = page_plain(
		g, name, title,
		arena_fmt(a, "%u candidate%s, %u runs   |   baseline: %s%s", c->n_candidates,
			  c->n_candidates == 1 ? "" : "s", c->n_runs, base->name,
			  c->simulated ? "   |   SIMULATED" : ""));
	uint32_t row = 2;

	if (c->doubted) {
		grid_row_height(s, row, 26);
		put_text(s, AREA(row, 0, row, PAGE_COLS - 1), LOOK_BANNER_BAD,
			 "TAMPERED: stored rows of a run were changed after it; these values are"
			 " no evidence (sheet Sources names it)");
		row++;
	}
	if (c->simulated) {
		grid_row_height(s, row, 26);
		put_text(
			s, AREA(row, 0, row, PAGE_COLS - 1), LOOK_SIMULATED,
			"SIMULATED - values of a model are compared; sheet Sources names the runs");
		row++;
	}
	*ret_row = row;
	return s;
}

static bool is_bad(const char *why)
{
	return !strncmp(why, "not ", 4) ? strcmp(why, "not run") != 0 : !strcmp(why, "failed");
}

void put_measured(struct grid_sheet *s, struct area at, const struct metric *m,
		  const struct measured *v)
{
	if (v->reported)
		put_num(s, at, STYLE(LOOK_CELL, compare_fmt(m->unit)),
			compare_shown(m->unit, v->value));
	else
		put_text(s, at, is_bad(v->why) ? LOOK_BAD : LOOK_NA,
			 strcmp(v->why, "not run") ? v->why : "n/a");
}

void put_delta(struct grid_sheet *s, struct area at, const struct comparison *c,
	       const struct metric *m, unsigned candidate)
{
	double delta = metric_delta(c, m, candidate);
	bool better = m->lower_is_better ? delta < 0 : delta > 0;

	if (!isfinite(delta))
		put_text(s, at, LOOK_NA, "-");
	else if (isnan(m->noise))
		put_num(s, at, STYLE(LOOK_CELL, NUM_DELTA), delta);
	else if (fabs(delta) <= m->noise)
		put_num(s, at, STYLE(LOOK_NA, NUM_DELTA), delta);
	else
		put_num(s, at, STYLE(better ? LOOK_GOOD : LOOK_WARN, NUM_DELTA), delta);
}
