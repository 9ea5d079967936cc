/* SPDX-License-Identifier: MIT */
/* Parts of the cover of a comparison. */
#ifndef REPORTS_DECISION_H
#define REPORTS_DECISION_H

#include "reports/compare_table.h"

void decision_banner(struct pager *p, const struct comparison *c);
void decision_differences(struct pager *p, const struct comparison *c);
void decision_remarks(struct pager *p, const struct comparison *c);
/* Every check with its verdict, those of several tests in one line. */
void decision_checks(struct pager *p, const struct comparison *c);

/* Where the inputs of the score stand: what formulas refer to. */
struct decision {
	uint32_t *price_row; /* [n_candidates], of the candidates' table */
	unsigned price_col;
	uint32_t *weight_row; /* [n_metrics]; of those scored, in the first block */
	unsigned weight_col;
	struct area *value; /* [n_metrics * n_candidates]: cells of the values */
};
void decision_candidates(struct pager *p, const struct comparison *c, struct decision *d);
void decision_scores(struct pager *p, const struct comparison *c, struct decision *d);
void decision_charts(struct pager *p, const struct comparison *c);

#endif
