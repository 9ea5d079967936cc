/* SPDX-License-Identifier: MIT */
/* The cover of a comparison: may the runs be compared, what they are, the weighted score, the rank. */
#include "reports/decision.h"

static bool applies(const struct comparison *c)
{
	return true;
}

static void put_foot(struct pager *p, const struct comparison *c)
{
	struct arena *a = &p->s->grid->arena;
	bool note = c->prices.note && *c->prices.note;
	bool layouts = false;

	for (unsigned i = 0; i < c->n_runs; i++)
		layouts |= c->run[i].members > 1;
	pager_next(p, 0);
	pager_need(p, 2 * ROW_PX);
	pager_text(p, LOOK_NOTE, 0,
		   arena_fmt(a,
			     "The results relate only to the items tested (sheet Sources).%s%s%s%s",
			     note ? " Prices: " : "", note ? c->prices.note : "", note ? "." : "",
			     layouts ? " The price of a layout is that of all its drives." : ""));
}

static void build(const struct comparison *c, struct grid *g)
{
	struct decision d = { .price_col = 0 };
	uint32_t row;
	struct grid_sheet *s = compare_page(c, g, "Decision", "SSD Comparison", &row);
	struct pager p = pager_at(s, row, (row - 2) * 26 + 56);

	s->color = c->n_differ ? 0xC00000 : 0x70AD47;
	decision_banner(&p, c);
	pager_next(&p, 0);
	decision_differences(&p, c);
	decision_remarks(&p, c);
	decision_candidates(&p, c, &d);
	bool many = c->n_candidates > BLOCK_MAX; /* of many, the whole before the blocks */
	if (many)
		decision_charts(&p, c);
	decision_scores(&p, c, &d);
	if (!many)
		decision_charts(&p, c);
	decision_checks(&p, c);
	put_foot(&p, c);
}

const struct compare_sheet cmp_decision = { .order = 100, .applies = applies, .build = build };
