/* SPDX-License-Identifier: MIT */
/* Each condition of the measurements by run: what is the same, what is not, and what is not known. */
#include <string.h>

#include "reports/compare_table.h"

#define COLUMNS_OF_RUNS 4 /* as many runs have a column each; of more, each value names its runs */

static bool applies(const struct comparison *c)
{
	return true;
}

static const char *gate_text(enum gate gate)
{
	static const char *const text[] = { "same", "not recorded", "note", "DIFFERS" };

	return text[gate];
}

static void put_verdict(struct pager *p, unsigned col, enum gate gate)
{
	static const enum look looks[] = { LOOK_GOOD, LOOK_WARN, LOOK_NA, LOOK_BAD };

	put_text(p->s, AREA(p->row, col, p->row, col + 1), looks[gate], gate_text(gate));
}

/* ---- a column a run ---- */

/* All as wide as one another; what is left of ten columns goes to the names. */
static unsigned run_width(const struct comparison *c)
{
	return 10 / c->n_runs;
}

static unsigned run_col(const struct comparison *c, unsigned i)
{
	return PAGE_COLS - (c->n_runs - i) * run_width(c);
}

static void heads_by_run(struct pager *p, const struct comparison *c)
{
	unsigned first = run_col(c, 0);

	put_text(p->s, AT(p->row, 0), LOOK_HEAD, "Test");
	put_text(p->s, AREA(p->row, 1, p->row, first - 3), LOOK_HEAD, "Condition");
	put_text(p->s, AREA(p->row, first - 2, p->row, first - 1), LOOK_HEAD, "Verdict");
	for (unsigned i = 0; i < c->n_runs; i++)
		put_fmt(p->s, AREA(p->row, run_col(c, i), p->row, run_col(c, i + 1) - 1), LOOK_HEAD,
			"%s (run %lld)", c->run[i].label, (long long)c->run[i].d.run_id);
	pager_next(p, COMPARE_HEAD_PX);
}

static enum look value_look(const struct condition *one, const char *value)
{
	return !*value ? LOOK_NA : one->gate == GATE_DIFFERS ? LOOK_DIFFERS : LOOK_WRAP;
}

/* As high as the longest of the values needs. */
static double height_of(const struct comparison *c, const struct condition *one, unsigned cols)
{
	size_t longest = 0;

	for (unsigned i = 0; i < c->n_runs; i++)
		if (strlen(one->value[i]) > longest)
			longest = strlen(one->value[i]);
	size_t per_line = cols * PAGE_COL_PX / 7, lines = (longest + per_line - 1) / per_line;
	return lines > 1 ? 4 + 14.0 * (double)lines : ROW_PX;
}

static void line_by_run(struct pager *p, const struct comparison *c, const struct condition *one)
{
	unsigned first = run_col(c, 0);

	put_text(p->s, AT(p->row, 0), LOOK_ROW_HEAD, *one->test ? one->test : "run");
	put_text(p->s, AREA(p->row, 1, p->row, first - 3), LOOK_KEY, one->name);
	put_verdict(p, first - 2, one->gate);
	for (unsigned i = 0; i < c->n_runs; i++)
		put_text(p->s, AREA(p->row, run_col(c, i), p->row, run_col(c, i + 1) - 1),
			 value_look(one, one->value[i]),
			 *one->value[i] ? one->value[i] : "not recorded");
	pager_next(p, height_of(c, one, run_width(c)));
}

/* ---- a row a value, with its runs ---- */

static void heads_by_value(struct pager *p, const struct comparison *c)
{
	put_text(p->s, AT(p->row, 0), LOOK_HEAD, "Test");
	put_text(p->s, AREA(p->row, 1, p->row, 3), LOOK_HEAD, "Condition");
	put_text(p->s, AREA(p->row, 4, p->row, 5), LOOK_HEAD, "Verdict");
	put_text(p->s, AREA(p->row, 6, p->row, 10), LOOK_HEAD, "Value");
	put_text(p->s, AREA(p->row, 11, p->row, 15), LOOK_HEAD, "Of runs");
	pager_next(p, 0);
}

static bool told_before(const struct condition *one, unsigned run)
{
	for (unsigned i = 0; i < run; i++)
		if (!strcmp(one->value[i], one->value[run]))
			return true;
	return false;
}

static const char *runs_with(struct arena *a, const struct comparison *c,
			     const struct condition *one, unsigned first)
{
	const char *list = "";
	unsigned n = 0;

	for (unsigned i = first; i < c->n_runs; i++) {
		if (strcmp(one->value[i], one->value[first]))
			continue;
		list = arena_fmt(a, "%s%s%lld", list, n++ ? ", " : "",
				 (long long)c->run[i].d.run_id);
	}
	return n == c->n_runs ? "all" : list;
}

static void lines_by_value(struct pager *p, const struct comparison *c, const struct condition *one)
{
	struct arena *a = &p->s->grid->arena;

	for (unsigned i = 0; i < c->n_runs; i++) {
		if (told_before(one, i))
			continue;
		if (i && pager_need(p, ROW_PX))
			heads_by_value(p, c);
		put_text(p->s, AT(p->row, 0), LOOK_ROW_HEAD, *one->test ? one->test : "run");
		put_text(p->s, AREA(p->row, 1, p->row, 3), LOOK_KEY, one->name);
		put_verdict(p, 4, one->gate);
		put_text(p->s, AREA(p->row, 6, p->row, 10), value_look(one, one->value[i]),
			 *one->value[i] ? one->value[i] : "not recorded");
		const char *runs = runs_with(a, c, one, i);
		size_t longest = strlen(runs) > strlen(one->value[i]) ? strlen(runs)
								      : strlen(one->value[i]);
		put_text(p->s, AREA(p->row, 11, p->row, 15), LOOK_WRAP, runs);
		pager_next(p, longest > 55 ? 4 + 14.0 * (double)((longest + 54) / 55) : 0);
	}
}

/* ---- the same as rows ---- */

static void put_data(const struct comparison *c, struct grid *g)
{
	static const char *const heads[] = { "test",   "condition", "verdict",
					     "run_id", "run",	    "value" };
	struct grid_sheet *s = grid_sheet(g, "D_conditions", ROLE_DATA);
	uint32_t row = 1;

	for (unsigned i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(s, AT(0, i), LOOK_HEAD, heads[i]);
	grid_col_width(s, 0, 4, 130);
	grid_col_width(s, 5, 5, 420);
	s->freeze_rows = 1;
	s->filter_cols = sizeof heads / sizeof heads[0];
	for (unsigned i = 0; i < c->n_conditions; i++)
		for (unsigned k = 0; k < c->n_runs; k++, row++) {
			const struct condition *one = &c->condition[i];
			put_text(s, AT(row, 0), LOOK_CELL, one->test);
			put_text(s, AT(row, 1), LOOK_CELL, one->name);
			put_text(s, AT(row, 2), LOOK_CELL, gate_text(one->gate));
			put_int(s, AT(row, 3), LOOK_CELL, c->run[k].d.run_id);
			put_text(s, AT(row, 4), LOOK_CELL, c->run[k].label);
			put_text(s, AT(row, 5), LOOK_CELL, one->value[k]);
		}
}

static void build(const struct comparison *c, struct grid *g)
{
	bool columns = c->n_runs <= COLUMNS_OF_RUNS;
	uint32_t row;
	struct grid_sheet *s = compare_page(c, g, "Comparability", "Comparability Gate", &row);
	struct pager p = pager_at(s, row, (row - 2) * 26 + 56);

	pager_text(&p, LOOK_NOTE, 0,
		   "DIFFERS: a reason not to compare. not recorded: of a run or more it is not"
		   " known. note: it differs, and may.");
	pager_next(&p, 0);
	for (unsigned i = 0; i < c->n_conditions; i++) {
		bool fresh = pager_need(&p, columns ? height_of(c, &c->condition[i], run_width(c))
						    : ROW_PX) ||
			     !i;
		if (fresh)
			(columns ? heads_by_run : heads_by_value)(&p, c);
		(columns ? line_by_run : lines_by_value)(&p, c, &c->condition[i]);
	}
	put_data(c, g);
}

const struct compare_sheet cmp_gate = { .order = 700, .applies = applies, .build = build };
