/* SPDX-License-Identifier: MIT */
#include "reports/compare_table.h"

#include <math.h>
#include <string.h>

#define PAGE_PX 880.0 /* what a printed page holds at the usual scale */
#define CHAR_PX 6.0 /* of text of 9 points, with room */

struct pager pager_at(struct grid_sheet *s, uint32_t row, double px_used)
{
	return (struct pager){ .s = s, .row = row, .px = px_used };
}

bool pager_need(struct pager *p, double px)
{
	if (p->px + px <= PAGE_PX || !(p->px > 0))
		return false;
	grid_page_break(p->s, p->row);
	p->px = 0;
	return true;
}

void pager_next(struct pager *p, double px)
{
	if (px > 0)
		grid_row_height(p->s, p->row, px);
	p->px += px > 0 ? px : ROW_PX;
	p->row++;
}

void pager_section(struct pager *p, const char *text)
{
	put_text(p->s, AREA(p->row, 0, p->row, PAGE_COLS - 1), LOOK_SECTION, text);
	pager_next(p, 0);
}

void pager_text(struct pager *p, enum look look, unsigned col, const char *text)
{
	double width = (PAGE_COLS - col) * PAGE_COL_PX - 12;
	double lines = ceil((double)strlen(text) * CHAR_PX / width);

	put_text(p->s, AREA(p->row, col, p->row, PAGE_COLS - 1), look, text);
	pager_next(p, lines > 1 ? 4 + lines * 14 : 0);
}

/* ---- blocks ---- */

unsigned block_count(const struct comparison *c)
{
	unsigned others = c->n_candidates - 1;

	return others ? (others + BLOCK_MAX - 2) / (BLOCK_MAX - 1) : 1;
}

void block_init(struct block *b, const struct comparison *c, unsigned index, bool weights)
{
	unsigned other = 0;

	*b = (struct block){ .n = 1, .list = { c->baseline } };
	for (unsigned i = 0; i < c->n_candidates; i++) {
		if (i == c->baseline)
			continue;
		if (other / (BLOCK_MAX - 1) == index)
			b->list[b->n++] = i;
		other++;
	}
	b->noise = PAGE_COLS - 1;
	b->delta = b->noise - (b->n - 1);
	b->best = b->delta - 1;
	b->value = b->best - b->n;
	b->weight = weights ? b->value - 1 : b->value;
	b->better = b->weight - 1;
	b->unit = b->better - 1;
}

/* Lines of 11 letters: those of the longest label with what stands behind it. */
double head_px(size_t longest)
{
	return longest <= 11 ? ROW_PX : longest <= 22 ? COMPARE_HEAD_PX : HEAD_PX;
}

double block_head_px(const struct comparison *c, const struct block *b)
{
	size_t longest = 0;

	for (unsigned i = 0; i < b->n; i++) {
		size_t len = strlen(c->candidate[b->list[i]].label) + 7;
		longest = len > longest ? len : longest;
	}
	return head_px(longest);
}

void block_heads(struct pager *p, const struct comparison *c, const struct block *b)
{
	struct grid_sheet *s = p->s;
	struct arena *a = &s->grid->arena;
	uint32_t r = p->row;

	put_text(s, AREA(r, 0, r, b->unit - 1), LOOK_HEAD, "Metric");
	put_text(s, AT(r, b->unit), LOOK_HEAD, "Unit");
	put_text(s, AT(r, b->better), LOOK_HEAD, "Better");
	if (b->weight < b->value)
		put_text(s, AT(r, b->weight), LOOK_HEAD, "Weight");
	for (unsigned i = 0; i < b->n; i++)
		put_text(s, AT(r, b->value + i), LOOK_HEAD,
			 candidate_head(a, &c->candidate[b->list[i]]));
	put_text(s, AT(r, b->best), LOOK_HEAD, c->n_candidates > b->n ? "Best of all" : "Best");
	for (unsigned i = 1; i < b->n; i++)
		put_fmt(s, AT(r, b->delta + i - 1), LOOK_HEAD, "%s v base",
			c->candidate[b->list[i]].label);
	put_text(s, AT(r, b->noise), LOOK_HEAD, "Noise");
	pager_next(p, block_head_px(c, b));
}

void block_line(struct pager *p, const struct comparison *c, const struct block *b,
		const struct metric *m)
{
	struct grid_sheet *s = p->s;
	uint32_t r = p->row;

	put_text(s, AREA(r, 0, r, b->unit - 1), LOOK_VALUE, m->title);
	put_text(s, AT(r, b->unit), LOOK_CENTER, compare_unit(m->unit));
	put_text(s, AT(r, b->better), LOOK_CENTER, m->lower_is_better ? "lower" : "higher");
	for (unsigned i = 0; i < b->n; i++)
		put_measured(s, AT(r, b->value + i), m, &m->of[b->list[i]]);
	put_text(s, AT(r, b->best), m->best < 0 ? LOOK_NA : LOOK_ROW_HEAD,
		 m->best < 0 ? "-" : c->candidate[m->best].label);
	for (unsigned i = 1; i < b->n; i++)
		put_delta(s, AT(r, b->delta + i - 1), c, m, b->list[i]);
	put_num(s, AT(r, b->noise), STYLE(LOOK_CELL, NUM_PCT1), m->noise);
}
