/* SPDX-License-Identifier: MIT */
/* Steady-state audit: every tracked variable with its five values; all columns to the right are live formulas. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/page.h"
#include "reports/sheet.h"

static bool applies(const struct dataset *d)
{
	for (unsigned i = 0; i < d->n_tests; i++)
		if (d->test[i].has_rule)
			return true;
	return false;
}

struct audit {
	struct grid_sheet *s;
	uint32_t row;
};

static void put_formulas(struct audit *x, const struct track *t, const struct check_row *c)
{
	struct grid *g = x->s->grid;
	uint32_t r = x->row;
	unsigned style = STYLE(LOOK_FORMULA, t->unit == UNIT_NS ? NUM_6 : NUM_GROUP1);
	double k = unit_shown(t->unit, 1);
	const char *y = grid_ref(g, AREA(r, 4, r, 8), false);
	const char *avg = grid_ref(g, AT(r, 9), false);
	const char *range = grid_ref(g, AT(r, 10), false), *lim = grid_ref(g, AT(r, 11), false);
	const char *slope = grid_ref(g, AT(r, 12), false), *exc = grid_ref(g, AT(r, 13), false);
	const char *allowed = grid_ref(g, AT(r, 14), false);

	put_formula(x->s, AT(r, 9), style, c->average * k, "=AVERAGE(%s)", y);
	put_formula(x->s, AT(r, 10), style, c->range * k, "=MAX(%s)-MIN(%s)", y, y);
	put_formula(x->s, AT(r, 11), style, c->average * k * 0.2, "=0.2*%s", avg);
	/* x - mean(x) is -2..2 whatever the first round is: the slope without an array constant */
	put_formula(x->s, AT(r, 12), style, c->slope * k, "=(2*%s+%s-%s-2*%s)/10",
		    grid_ref(g, AT(r, 8), false), grid_ref(g, AT(r, 7), false),
		    grid_ref(g, AT(r, 5), false), grid_ref(g, AT(r, 4), false));
	put_formula(x->s, AT(r, 13), style, c->slope_excursion * k, "=ABS(%s)*4", slope);
	put_formula(x->s, AT(r, 14), style, c->average * k * 0.1, "=0.1*%s", avg);
	put_formula_text(
		x->s, AT(r, 15), c->steady ? LOOK_GOOD : LOOK_BAD, c->steady ? "PASS" : "FAIL",
		arena_fmt(&g->arena, "=IF(AND(%s<=%s*(1+1E-9),%s<=%s*(1+1E-9)),\"PASS\",\"FAIL\")",
			  range, lim, exc, allowed));
}

static void put_track(struct audit *x, const struct test *t, const struct section *s,
		      const struct track *k)
{
	struct arena *a = &x->s->grid->arena;
	enum numfmt fmt = k->unit == UNIT_NS ? NUM_6 : NUM_GROUP1;

	put_text(x->s, AT(x->row, 0), LOOK_ROW_HEAD, t->sheet);
	put_text(x->s, AREA(x->row, 1, x->row, 2), LOOK_VALUE,
		 arena_fmt(a, "%s%s%s %s", k->title, *s->label ? " " : "", s->label,
			   k->unit == UNIT_NS ? "ART ms" : unit_name(k->unit)));
	if (!k->check) {
		put_fmt(x->s, AREA(x->row, 3, x->row, 14), LOOK_NA,
			"no window of five rounds: %d measured", s->rounds);
		put_text(x->s, AT(x->row, 15), LOOK_BAD, "FAIL");
		x->row++;
		return;
	}
	put_num(x->s, AT(x->row, 3), STYLE(LOOK_CENTER, NUM_INT), k->check->first_round);
	for (uint32_t i = 0; i < WINDOW_ROUNDS; i++)
		put_num(x->s, AT(x->row, 4 + i), STYLE(LOOK_CELL, fmt),
			unit_shown(k->unit, k->check->y[i]));
	put_formulas(x, k, k->check);
	x->row++;
}

static void build(const struct dataset *d, struct grid *g)
{
	static const char *const heads[] = { "First round", "Y1",    "Y2",	   "Y3",
					     "Y4",	    "Y5",    "Average",	   "Range",
					     "20 % limit",  "Slope", "Slope exc.", "10 % limit",
					     "Verdict" };
	struct audit x = { page_plain(g, "SS audit", "Steady-State Audit",
				      "Every tracking variable with the five values of its window;"
				      " the columns to the right of them are live formulas."),
			   4 };

	put_text(x.s, AT(3, 0), LOOK_HEAD, "Test");
	put_text(x.s, AREA(3, 1, 3, 2), LOOK_HEAD, "Tracking variable");
	for (uint32_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
		put_text(x.s, AT(3, 3 + i), LOOK_HEAD, heads[i]);
	for (unsigned i = 0; i < d->n_tests; i++)
		for (unsigned k = 0; k < d->test[i].n_sections; k++)
			for (unsigned v = 0; v < d->test[i].section[k].n_tracks; v++)
				put_track(&x, &d->test[i], &d->test[i].section[k],
					  &d->test[i].section[k].track[v]);
}

const struct sheet sheet_audit = { 500, applies, build };
