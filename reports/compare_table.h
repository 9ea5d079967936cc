/* SPDX-License-Identifier: MIT */
/*
 * Tables of metrics by candidate: values, the best of them, what the others are against the baseline, noise. The baseline
 * and three others fit a page's width; more go on in further blocks, each with the baseline again.
 */
#ifndef REPORTS_COMPARE_TABLE_H
#define REPORTS_COMPARE_TABLE_H

#include "reports/compare.h"
#include "reports/page.h"

#define BLOCK_MAX 4 /* candidates of a block */
#define HEAD_PX 42 /* three lines */

/* Where a sheet is filled, and how full its printed page is. */
struct pager {
	struct grid_sheet *s;
	uint32_t row;
	double px;
};
struct pager pager_at(struct grid_sheet *s, uint32_t row, double px_used);
/* A new page unless so much still fits this one; true: it is a new one. */
bool pager_need(struct pager *p, double px);
/* The row is done; its height when it is not the usual one, 0. */
void pager_next(struct pager *p, double px);
/* A section's bar over the whole width. */
void pager_section(struct pager *p, const char *text);
/* A text over columns, as many lines high as it takes. */
void pager_text(struct pager *p, enum look look, unsigned col, const char *text);

struct block {
	unsigned list[BLOCK_MAX], n; /* candidates, the baseline first */
	unsigned unit, better, weight, value, best, delta,
		noise; /* columns; the title is before unit */
};
unsigned block_count(const struct comparison *c);
void block_init(struct block *b, const struct comparison *c, unsigned index, bool weights);
/* Height of a head of one column with so many letters; of a block's heads. */
double head_px(size_t longest);
double block_head_px(const struct comparison *c, const struct block *b);
void block_heads(struct pager *p, const struct comparison *c, const struct block *b);
/* All of a metric's line but its weight. */
void block_line(struct pager *p, const struct comparison *c, const struct block *b,
		const struct metric *m);

#endif
